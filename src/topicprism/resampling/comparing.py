"""Topics of one fit beside those of another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topicprism._typing import Ints, Topic, WordTopic
from topicprism.evaluation import bhattacharyya, matched_topics
from topicprism.show.effects import Effects

# Least similarity of a topic found again.  On three corpora of reviews (experiments/stability.py)
# TODO
SAME_TOPIC = 0.7
N_TOP_WORDS = 10


@dataclass(frozen=True)
class FittedTopics:
    """What is compared of a fit."""

    mu: WordTopic
    top_words: tuple[Ints, ...]  # columns, best first
    effects: Topic | None

    @classmethod
    def of(cls, shown: Effects) -> FittedTopics:
        return cls(shown.model.mu, tuple(shown.top_ids(N_TOP_WORDS)), shown.coef)

    @classmethod
    def none(cls, n_words: int) -> FittedTopics:
        """Of documents in which no topic could be found."""
        return cls(np.empty((n_words, 0)), (), None)


@dataclass(frozen=True)
class Comparison:
    """For each topic of one fit, its counterpart in another."""

    similarity: Topic  # Bhattacharyya coefficient of the word distributions; 0 without one
    common_words: Topic  # share of its top words that its counterpart has, too; 0 without one
    effects: Topic  # of the counterpart; nan without one
    found: NDArray[np.bool_]  # whether the counterpart is the same topic

    @classmethod
    def between(cls, a: FittedTopics, b: FittedTopics) -> Comparison:
        """Topics are the same if they are similar, and the counterpart is not closer to another.

        Topics of a response share most of their words, so that similarity alone says little.
        """
        order, similarity = matched_topics(a.mu, b.mu)
        closest = bhattacharyya(a.mu, b.mu).argmax(axis=0)
        common, eta, found = (
            np.zeros(len(order)),
            np.full(len(order), np.nan),
            np.zeros(len(order), bool),
        )
        for i, j in enumerate(order.tolist()):
            if j >= 0:
                top = a.top_words[i]
                common[i] = np.isin(top, b.top_words[j]).mean() if len(top) else 0.0
                eta[i] = np.nan if b.effects is None else b.effects[j]
                found[i] = similarity[i] >= SAME_TOPIC and closest[j] == i
        return cls(similarity, common, eta, found)
