"""The parameters of a supervised topic model, however they were learnt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topicprism._typing import Ints, Square, Topic, WordTopic


class TooManyTopics(ValueError):
    """A moment has fewer positive eigenvalues than topics were asked for."""

    def __init__(self, n_topics: int, moment: str, found: int, largest: int) -> None:
        super().__init__(
            f"n_topics={n_topics}, but the {moment} moment has only {found} positive eigenvalues; "
            f"the largest n_topics that works here is {largest}: use that, or more documents"
        )
        self.n_topics, self.moment, self.found, self.largest = n_topics, moment, found, largest


@dataclass(frozen=True)
class Model:
    """h ~ Dirichlet(alpha); each word ~ mu h; y ~ Normal(eta . h, sigma^2)."""

    alpha: Topic
    mu: WordTopic  # column i is the word distribution of topic i
    eta: Topic  # what each topic adds to the response
    sigma: float  # standard deviation of the response around eta . h

    @property
    def n_topics(self) -> int:
        return len(self.alpha)

    @property
    def n_words(self) -> int:
        return len(self.mu)

    def reordered(self, order: Ints) -> Model:
        """The same model, its topics in another order."""
        return Model(self.alpha[order], self.mu[:, order], self.eta[order], self.sigma)


def dirichlet_second(alpha: Topic) -> Square:
    """E[h h'] = (alpha alpha' + diag alpha) / (a0 (a0 + 1))."""
    a0 = float(alpha.sum())
    return (np.outer(alpha, alpha) + np.diag(alpha)) / (a0 * (a0 + 1))
