"""The parameters of a supervised topic model, however they were learnt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topicprism._typing import Array, Doc, Ints, Topic, WordTopic


class TooManyTopics(ValueError):
    """A moment has fewer positive eigenvalues than topics were asked for."""

    def __init__(self, n_topics: int, moment: str, found: int, largest: int) -> None:
        remedy = (
            f"the largest n_topics that works here is {largest}: use that, or more documents"
            if largest > 0
            else "no n_topics works here: use more or longer documents"
        )
        super().__init__(
            f"n_topics={n_topics}, but the {moment} moment has only {found} positive eigenvalues; "
            + remedy
        )
        self.n_topics, self.moment, self.found, self.largest = n_topics, moment, found, largest

    def __reduce__(self) -> tuple[Any, ...]:  # so that it travels between processes
        return type(self), (self.n_topics, self.moment, self.found, self.largest)


@dataclass(frozen=True)
class ResponseScale:
    """Responses as (y - centre) / scale; a negative scale turns them round."""

    centre: float
    scale: float

    def standardised(self, y: Doc) -> Doc:
        return (y - self.centre) / self.scale

    def unstandardised(self, t: Array) -> Array:
        """Responses that were standardised, in their own units."""
        y: Array = self.centre + self.scale * t
        return y


@dataclass(frozen=True)
class Model:
    """h ~ Dirichlet(alpha); each word ~ mu h; y ~ Normal(eta . h, sigma^2)."""

    alpha: Topic
    mu: WordTopic  # column i is the word distribution of topic i
    eta: Topic  # what each topic adds to the response
    sigma: float  # standard deviation of the response around eta . h
    burstiness: float = 0.0  # n repetitions weigh n / (1 + burstiness (n - 1)); 0: n

    @property
    def n_topics(self) -> int:
        return len(self.alpha)

    @property
    def n_words(self) -> int:
        return len(self.mu)

    def __repr__(self) -> str:
        """Its size; the numbers are in its fields, and a fitted estimator shows them as a table."""
        return (
            f"Model({self.n_topics} topics over {self.n_words:,} words, "
            f"alpha0={self.alpha.sum():.4g}, noise variance {self.sigma**2:.4g})"
        )

    def reordered(self, order: Ints) -> Model:
        """The same model, its topics in another order."""
        return replace(self, alpha=self.alpha[order], mu=self.mu[:, order], eta=self.eta[order])

    def over(self, words: Ints, n_words: int) -> Model:
        """The same over more words, its own at these places; others have probability 0."""
        mu = np.zeros((n_words, self.n_topics))
        mu[words] = self.mu
        return replace(self, mu=mu)

    def with_alpha0(self, alpha0: float) -> Model:
        """The same model, the Dirichlet parameters scaled to this sum."""
        return replace(self, alpha=self.alpha * (alpha0 / self.alpha.sum()))

    def in_units(self, scale: ResponseScale) -> Model:
        """The model of a standardised response, in the units of the response itself."""
        return replace(
            self, eta=scale.unstandardised(self.eta), sigma=abs(scale.scale) * self.sigma
        )
