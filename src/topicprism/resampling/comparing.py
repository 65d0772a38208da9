"""Topics of one fit beside those of another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topicprism._typing import Ints, Topic, WordTopic
from topicprism.evaluation import N_TOP_WORDS, bhattacharyya, matched_topics
from topicprism.evaluation import SAME_TOPIC as SAME_TOPIC
from topicprism.show.effects import Effects


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

    order: Ints  # which topic of the other it is; -1 for none
    similarity: Topic  # Bhattacharyya coefficient of the word distributions; 0 without one
    common_words: Topic  # share of its top words that its counterpart has, too; 0 without one
    effects: Topic  # of the counterpart; nan without one
    found: NDArray[np.bool_]  # whether the counterpart is the same topic

    @classmethod
    def between(cls, a: FittedTopics, b: FittedTopics) -> Comparison:
        """A topic is found if its counterpart is similar, and closer to no other topic.

        Few topics, or topics of a response, share most of their words: similarity alone says
        little there.
        """
        order, similarity = matched_topics(a.mu, b.mu)
        n = len(order)
        closest = bhattacharyya(a.mu, b.mu).argmax(axis=0) if n else order
        common, eta, found = np.zeros(n), np.full(n, np.nan), np.zeros(n, bool)
        for i, j in enumerate(order.tolist()):
            if j >= 0:
                top = a.top_words[i]
                common[i] = np.isin(top, b.top_words[j]).mean() if len(top) else 0.0
                eta[i] = np.nan if b.effects is None else b.effects[j]
                found[i] = similarity[i] >= SAME_TOPIC and closest[j] == i
        return cls(order, similarity, common, eta, found)


def replicated(first: Comparison, second: Comparison, halves: Comparison) -> NDArray[np.bool_]:
    """Topics that both halves have, where the counterparts are also each other's.

    The reference has the documents of both halves, and whatever is accidental in one half is
    accidental in the reference, too; the halves have no document in common.
    """
    met = first.found & second.found
    here, there = first.order[met], second.order[met]
    met[met] = halves.found[here] & (halves.order[here] == there)
    return met
