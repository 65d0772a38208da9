"""Defaults of a fit and what else may be asked for, shared by Python and the command.

Nothing is imported here that takes time: ``topicprism --help`` shows these numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

STOP_LISTS = ("english-neutral", "english")  # by name: topicprism.vectorizer.stop_lists
AUTO = "auto"  # of a parameter: chosen from the documents


def is_auto(value: Any) -> bool:
    """Also of what no parameter should be, such as an array."""
    return isinstance(value, str) and value == AUTO


def unless_auto(value: Any) -> Any:
    return None if is_auto(value) else value


# What may be asked for by name, of the estimators and of the command.
REGIMES = (AUTO, "paper")
METHODS = ("joint", "two-stage")
WHITENINGS = (AUTO, "exact", "matrix-free", "randomised", "nystrom")
INFERENCES = ("propagation", "gibbs")
ORDERS = ("relevance", "probability", "frex")  # of words


@dataclass(frozen=True)
class RareTerms:
    """What ``min_df="auto"`` is."""

    min_df: int = 5  # documents that a term is in: rarer words make no topic
    min_df_of_short: int = 1  # at 5, 4 to 6 of 10 sentences have less than three words left, at 2
    # 1 to 3, and predictions lose 0.06 to 0.12 of the R2 of ridge (docs/notebook.md)
    short_document: float = 6.0  # terms of a document that 5 would leave, on average: sentences
    # of ten words have 2 to 4, the shortest reviews of the seven corpora 10 and more
    documents: int = 50  # with fewer it is 5: a document of so few is no evidence of a word


@dataclass(frozen=True)
class CountingDefaults:
    """Which words are counted.

    Of the settings tried on hotel, film and product reviews (docs/real-text.md), these were
    never far from the best for any number of topics.
    """

    max_features: int = 10_000  # words, the most frequent
    min_df: str = AUTO  # documents that a word is in, at least: 5, or 1 if hardly a word is left
    max_df: float = 0.5  # share of documents that a word is in, at most
    stop_words: str = STOP_LISTS[0]  # words that change what a sentence says are counted
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True


@dataclass(frozen=True)
class FittingDefaults:
    """How topics are learnt and scored, apart from the estimator's own parameters."""

    n_jobs: int = -1  # all cores: the result does not depend on it
    random_state: int = 0  # the same documents give the same answer
    held_out: float = 0.1  # share of documents that the command scores on
    max_held_out: int = 5_000  # documents: the standard error of an R2 of 0.5 is then 0.01
    min_documents: int = 100  # with fewer, none are held out: the score would be too noisy
    max_baseline: int = 30_000  # documents that the ridge regression is learnt from, in memory
    runs: int = 10  # halves of the documents that stability fits: five random splits


COUNTING, RARE_TERMS, FITTING = CountingDefaults(), RareTerms(), FittingDefaults()
