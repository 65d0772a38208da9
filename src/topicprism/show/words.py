"""Which words speak for a topic.

==========  ====================================================  ===========
code        meaning                                               shape
==========  ====================================================  ===========
mu          word probabilities of each topic                      (V, k)
p           word probabilities of the corpus                      (V,)
share       of each topic in the corpus                           (k,)
weight      1: the most frequent words; 0: the most specific
==========  ====================================================  ===========

Two ways to weigh the two: ``relevance`` adds up logarithms (Sievert and Shirley,
2014, as in pyLDAvis), ``frex`` takes the harmonic mean of two ranks (Bischof and
Airoldi, 2012).

In a topic that is a quarter of the corpus no word has a lift above 4, so that relevance would rank
it by frequency alone: "the it to and" where stop words are counted.  Frequency therefore counts
up to ``common / share`` only, where ``common`` is what makes a word common in the corpus: of common
words the more specific come first.  Small topics have hardly any, and keep their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from topicprism._typing import Ints, Topic, Word, WordTopic
from topicprism.defaults import ORDERS
from topicprism.evaluation import own_shares
from topicprism.model import Model

Words = NDArray[np.object_]
WEIGHT = 0.3  # Sievert and Shirley's readers liked 0.6; topics of a response share more words
COMMON = 0.6  # of 0.25, 0.5, 0.6 and 0.75: least that shows content words where "the" is counted
DECIMALS = 9  # of relevance: words that differ by rounding only tie


def relevance(
    mu: WordTopic, p: Word, weight: float = WEIGHT, share: Topic | None = None
) -> WordTopic:
    """weight log(min(mu, common / share)) + (1 - weight) log(mu / p), to some decimals.

    ``common`` is ``common_probability(p)``; without shares mu has no bound, which is the relevance
    of Sievert and Shirley.  It is -inf for a word of probability 0 in the topic; also, unless
    ``weight`` is 1, for one that the corpus never has, since its lift is not defined.
    """
    _check_weight(weight)
    never, absent = mu <= 0, p <= 0
    log_mu = np.log(np.where(never, 1.0, mu))
    lift = log_mu - np.log(np.where(absent, 1.0, p))[:, None]
    with np.errstate(divide="ignore"):
        bound = np.inf if share is None else np.log(common_probability(p)) - np.log(share)
    often = np.minimum(log_mu, bound)
    value: WordTopic = np.round(weight * often + (1 - weight) * lift, DECIMALS)
    value[never] = -np.inf
    if weight < 1:
        value[absent] = -np.inf
    return value


def common_probability(p: Word) -> float:
    """Words that are as probable or more make up a share COMMON of the corpus."""
    most_first = np.sort(p)[::-1]
    total = np.cumsum(most_first)
    return float(most_first[np.searchsorted(total, COMMON * total[-1])]) or 1.0  # 1: no word at all


def frex(mu: WordTopic, weight: float = WEIGHT) -> WordTopic:
    """Harmonic mean of two ranks, as shares of V: by probability, and by exclusivity.

    The exclusivity of a word to a topic is mu over its sum over topics.
    """
    _check_weight(weight)
    often, only = (rankdata(x, "max", axis=0) / len(mu) for x in (mu, own_shares(mu)))
    value: WordTopic = 1 / (weight / often + (1 - weight) / only)
    return value


def word_probabilities(model: Model) -> Word:
    """Probability of each word in the average document: mu E[h]."""
    p: Word = model.mu @ (model.alpha / model.alpha.sum())
    return p


def top_ids(
    model: Model,
    n: int = 10,
    by: str = "relevance",
    weight: float = WEIGHT,
    p: Word | None = None,
    share: Topic | None = None,
) -> list[Ints]:
    """Columns of the top ``n`` words of each topic; fewer if the topic has fewer.

    Of words that tie, the more probable come first, then the earlier columns.
    """
    if n < 1:
        raise ValueError(f"n={n!r}, but expected a whole number from 1 up; try 10")
    value = _value(model, by, weight, p, share)
    ids = []
    for mu, score in zip(model.mu.T, value.T, strict=True):
        order = np.lexsort((-mu, -score))
        ids.append(order[mu[order] > 0][:n])
    return ids


def top_words(
    model: Model,
    words: Sequence[str] | Words | None,
    n: int = 10,
    by: str = "relevance",
    weight: float = WEIGHT,
    p: Word | None = None,
    share: Topic | None = None,
) -> list[list[str]]:
    """The words that speak for each topic, best first.

    Parameters
    ----------
    model : Model
    words : sequence of str or None
        The vocabulary in the order of the columns; None calls them "word 0" and so on.
    n : int, default=10
        How many words; a topic that has fewer gets fewer.
    by : {"relevance", "probability", "frex"}, default="relevance"
        What is best.
    weight : float from 0 to 1, default=0.3
        For "relevance" and "frex": 1 ranks by frequency in the topic, 0 by specificity.
    p : ndarray of shape (n_words,) or None, default=None
        For "relevance": word probabilities of the corpus; by default the model's.
    share : ndarray of shape (n_topics,) or None, default=None
        For "relevance": how much of the corpus each topic is; by default as in the prior.
    """
    names = vocabulary(words, model.n_words)
    return [[str(names[i]) for i in ids] for ids in top_ids(model, n, by, weight, p, share)]


def vocabulary(words: Sequence[str] | Words | None, n_words: int) -> Words:
    """The words as an array; numbers if they are not known."""
    if words is None:
        return np.array([f"word {i}" for i in range(n_words)], dtype=object)
    names = np.array(words, dtype=object)
    if names.shape != (n_words,):
        raise ValueError(
            f"got words of shape {names.shape}, but the model was learnt on {n_words} words; "
            "pass the vocabulary used in training"
        )
    return names


def _value(model: Model, by: str, weight: float, p: Any, share: Any) -> WordTopic:
    if by == "probability":
        return model.mu
    if by == "frex":
        return frex(model.mu, weight)
    if by != "relevance":
        listed = ", ".join(map(repr, ORDERS))
        raise ValueError(f"by={by!r}, but expected one of {listed}; choose one of these")
    given = word_probabilities(model) if p is None else np.asarray(p, float)
    if given.shape != (model.n_words,) or not (given >= 0).all():
        raise ValueError(
            f"got p of shape {given.shape}, but expected {model.n_words} probabilities, one for "
            "each word and from 0 up; pass the word counts of the corpus over their sum"
        )
    prior = model.alpha / model.alpha.sum()
    return relevance(model.mu, given, weight, prior if share is None else np.asarray(share, float))


def _check_weight(weight: float) -> None:
    if not 0 <= weight <= 1:
        raise ValueError(f"weight={weight!r}, but expected a number from 0 to 1; try {WEIGHT}")
