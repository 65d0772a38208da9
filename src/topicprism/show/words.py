"""Which words speak for a topic.

==========  ====================================================  ===========
code        meaning                                               shape
==========  ====================================================  ===========
mu          word probabilities of each topic                      (V, k)
p           word probabilities of the corpus                      (V,)
weight      1: the most frequent words; 0: the most specific
==========  ====================================================  ===========

Two ways to weigh the two: ``relevance`` adds up logarithms (Sievert and Shirley,
2014, as in pyLDAvis), ``frex`` takes the harmonic mean of two ranks (Bischof and
Airoldi, 2012).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from topicprism._typing import Ints, Word, WordTopic
from topicprism.model import Model

Words = NDArray[np.object_]
ORDERS = ("relevance", "probability", "frex")
WEIGHT = 0.3  # Sievert and Shirley's readers liked 0.6; topics of a response share more words


def relevance(mu: WordTopic, p: Word, weight: float = WEIGHT) -> WordTopic:
    """weight log(mu) + (1 - weight) log(mu / p).

    It is -inf for a word of probability 0 in the topic; also, unless ``weight`` is 1, for one
    that the corpus never has, since its lift is not defined.
    """
    _check_weight(weight)
    absent = p <= 0
    with np.errstate(divide="ignore"):
        log_mu = np.log(mu)
    value: WordTopic = log_mu - (1 - weight) * np.log(np.where(absent, 1.0, p))[:, None]
    if weight < 1:
        value[absent] = -np.inf
    return value


def frex(mu: WordTopic, weight: float = WEIGHT) -> WordTopic:
    """Harmonic mean of two ranks, as shares of V: by probability, and by exclusivity.

    The exclusivity of a word to a topic is mu over its sum over topics.
    """
    _check_weight(weight)
    total = mu.sum(axis=1, keepdims=True)
    exclusive = np.divide(mu, total, out=np.zeros_like(mu), where=total > 0)
    often, only = (rankdata(x, "max", axis=0) / len(mu) for x in (mu, exclusive))
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
) -> list[Ints]:
    """Columns of the top ``n`` words of each topic; fewer if the topic has fewer.

    Of words that tie, the more probable come first, then the earlier columns.
    """
    if n < 1:
        raise ValueError(f"n={n!r}, but expected a whole number from 1 up; try 10")
    value = _value(model, by, weight, p)
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
    """
    names = vocabulary(words, model.n_words)
    return [[str(names[i]) for i in ids] for ids in top_ids(model, n, by, weight, p)]


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


def _value(model: Model, by: str, weight: float, p: Any) -> WordTopic:
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
    return relevance(model.mu, given, weight)


def _check_weight(weight: float) -> None:
    if not 0 <= weight <= 1:
        raise ValueError(f"weight={weight!r}, but expected a number from 0 to 1; try {WEIGHT}")
