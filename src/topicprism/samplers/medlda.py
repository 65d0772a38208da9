"""MedLDA's responses: losses with a margin, sampled by data augmentation.

Zhu, Chen, Perkins, Zhang (*Gibbs max-margin topic models with data augmentation*)::

    exp(-2 C max(0, x)) = integral of Normal(-C x; lambda, lambda) over lambda > 0
    1 / lambda | x ~ InverseGaussian(1 / (C |x|), 1)

Given lambda, -(lambda + C x)^2 / (2 lambda) is Gaussian in the fit s, on which x
depends linearly.  So a loss becomes a target and a precision for each document,
and the sweep of ``gibbs`` does the rest:

==================  ===========================  =================  ==================
loss                x                            target             precision
==================  ===========================  =================  ==================
hinge, y = -1, 1    cost - y s                   y (cost + l / C)   C^2 / l
above the tube      y - s - epsilon              y - epsilon + l/C  C^2 / l
below the tube      s - y - epsilon              y + epsilon - l/C  C^2 / l
==================  ===========================  =================  ==================

with l for lambda.  The two sides of the tube add up: precisions add, targets are
averaged by them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from topicprism._typing import Array
from topicprism.samplers.state import DocResponse

MAX_INVERSE_LAMBDA = 1e3  # means of 1 / lambda are cut here: beyond, the draws hardly change
LAMBDA_RANGE = 1e-8, 1e8  # of draws: beyond, sums of precisions lose all digits


def draw_lambda(x: Array, C: float, rng: np.random.Generator) -> Array:
    """lambda given x.  Cut off where 1 / lambda would lose all digits."""
    mean = 1 / np.maximum(C * np.abs(x), 1 / MAX_INVERSE_LAMBDA)
    return 1 / np.clip(rng.wald(mean, 1.0), *LAMBDA_RANGE)


@dataclass(frozen=True)
class _Margin(ABC):
    """What both losses share: no noise of their own, no effect when C is 0."""

    C: float = 1.0

    def augment(
        self, Y: DocResponse, fit: DocResponse, noise: float, rng: np.random.Generator
    ) -> tuple[DocResponse, DocResponse]:
        if self.C == 0:
            return Y, np.zeros_like(Y)
        return self.targets_and_precisions(Y, fit, rng)

    @abstractmethod
    def targets_and_precisions(
        self, Y: DocResponse, fit: DocResponse, rng: np.random.Generator
    ) -> tuple[DocResponse, DocResponse]:
        """Target and precision of each response, given a draw of lambda."""

    @abstractmethod
    def loss(self, Y: DocResponse, fit: DocResponse) -> DocResponse:
        """The loss that C multiplies."""

    def draw_noise(self, Y: DocResponse, fit: DocResponse, rng: np.random.Generator) -> float:
        """Not drawn: the variance around the fit."""
        return float(((Y - fit) ** 2).mean())

    def log_likelihood(self, Y: DocResponse, fit: DocResponse, noise: float) -> float:
        return -2 * self.C * float(self.loss(Y, fit).sum())


@dataclass(frozen=True)
class Tube(_Margin):
    """Epsilon-insensitive regression: ``max(0, |y - s| - epsilon)``."""

    epsilon: float = 0.1

    def targets_and_precisions(
        self, Y: DocResponse, fit: DocResponse, rng: np.random.Generator
    ) -> tuple[DocResponse, DocResponse]:
        above = draw_lambda(Y - fit - self.epsilon, self.C, rng)
        below = draw_lambda(fit - Y - self.epsilon, self.C, rng)
        a, b = self.C**2 / above, self.C**2 / below
        weighted = a * (Y - self.epsilon + above / self.C) + b * (Y + self.epsilon - below / self.C)
        return weighted / (a + b), a + b

    def loss(self, Y: DocResponse, fit: DocResponse) -> DocResponse:
        return np.maximum(0, np.abs(Y - fit) - self.epsilon)


@dataclass(frozen=True)
class Hinge(_Margin):
    """Hinge loss of two classes: ``max(0, cost - y s)`` for y = -1 or 1."""

    cost: float = 1.0

    def targets_and_precisions(
        self, Y: DocResponse, fit: DocResponse, rng: np.random.Generator
    ) -> tuple[DocResponse, DocResponse]:
        lam = draw_lambda(self.cost - Y * fit, self.C, rng)
        return Y * (self.cost + lam / self.C), self.C**2 / lam

    def loss(self, Y: DocResponse, fit: DocResponse) -> DocResponse:
        return np.maximum(0, self.cost - Y * fit)
