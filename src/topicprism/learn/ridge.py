"""A ridge regression on inferred proportions: coefficients, their errors, predictive variance.

Training sees the response and prediction does not.  So the final eta is that of a
ridge regression of y on h inferred *without* y, as it will be at prediction::

    eta = (H'H + penalty)^-1 H'y           penalty by generalised cross-validation

It is made of sums over documents, so they may be anywhere.  Responses are standardised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from topicprism._typing import Array, Doc, DocTopic, Square, Topic
from topicprism.documents.corpus import Corpus, Documents
from topicprism.documents.subsets import Subset
from topicprism.documents.sums import Additive
from topicprism.evaluation import split_words, word_log_likelihood
from topicprism.inference import Posterior, infer, posterior
from topicprism.learn.defaults import EFFECTS, STEERING, TEXT
from topicprism.model import Model, ResponseScale


def starting_sigma(sigma: float) -> float:
    """That of a standardised response, within the bounds in which a chain begins."""
    low, high = STEERING.start_sigma
    return min(max(sigma, low), high)


@dataclass(frozen=True)
class Products(Additive):
    """Sums over documents of products of proportions and response."""

    n: int
    hh: Square
    hy: Topic
    y: float
    yy: float

    @classmethod
    def of(cls, h: DocTopic, y: Doc) -> Products:
        return cls(len(y), h.T @ h, h.T @ y, float(y.sum()), float(y @ y))

    def error(self, eta: Topic) -> float:
        """Sum of (y - eta . h)^2."""
        return max(float(self.yy - 2 * eta @ self.hy + eta @ self.hh @ eta), 0.0)

    def pr2(self, eta: Topic) -> float:
        """Predictive R^2 of eta . h on these documents."""
        total = self.yy - self.y**2 / max(self.n, 1)
        return 1 - self.error(eta) / total if total > 0 else 0.0


@dataclass(frozen=True)
class ResidualSums(Additive):
    """Sums of products of r^2, a document's squared residual, and v = Var[eta . h | words]."""

    vv: Square  # of (1, v)
    vr: Array


@dataclass(frozen=True)
class Regression:
    """Coefficients in the units of the regression, with standard errors."""

    eta: Topic
    std: Topic
    variance: float  # left over
    penalty: float


@dataclass(frozen=True)
class Calibrated:
    """A model whose coefficients are those of the regression."""

    model: Model
    coef_std: Topic
    predictive_variance: Array  # (a, b): Var[y | words] is about a + b Var[eta . h | words]

    def in_units(self, scale: ResponseScale) -> Calibrated:
        """The same of the response itself."""
        size = abs(scale.scale)
        variance = self.predictive_variance * (size**2, 1.0)
        return Calibrated(self.model.in_units(scale), size * self.coef_std, variance)


def products(c: Corpus, model: Model, subset: Subset) -> Products:
    rows, known = _known(c, model, subset)
    return Products.of(known.h, rows.y)


def residual_sums(c: Corpus, model: Model, subset: Subset) -> ResidualSums:
    rows, known = _known(c, model, subset)
    V = np.column_stack([np.ones(len(rows)), known.variance(model.eta)])
    return ResidualSums(V.T @ V, V.T @ (rows.y - known.h @ model.eta) ** 2)


def _known(c: Corpus, model: Model, subset: Subset) -> tuple[Corpus, Posterior]:
    """Documents that are not too short, and the posterior given their words."""
    rows = subset.rows(c).long()
    return rows, posterior(model, rows.counts)


def regress(p: Products) -> Regression:
    """Ridge regression from sums alone."""
    values, vectors = np.linalg.eigh(p.hh)
    values, b = np.maximum(values, 0), vectors.T @ p.hy
    best, found = np.inf, (b * 0, 1.0, 0.0)
    for penalty in np.logspace(*TEXT.penalties) * p.n:
        eta, used = b / (values + penalty), float((values / (values + penalty)).sum())
        left = p.error(vectors @ eta)
        score = left / max(p.n - used, 1e-9) ** 2
        if score < best:
            best, found = score, (eta, penalty, left / max(p.n - used, 1.0))
    eta, penalty, variance = found
    inner = values / (values + penalty) ** 2
    std = np.sqrt(variance * ((vectors**2) @ inner))
    return Regression(vectors @ eta, std, variance, float(penalty))


def regress_robustly(h: DocTopic, y: Doc, keys: NDArray[np.uint64]) -> tuple[Topic, Topic]:
    """Ridge coefficients, and their variances whatever the variance of each response (HC3).

    Copies of a document, which have one key, are one observation (a cluster).
    """
    p = Products.of(h, y)
    found = regress(p)
    inverse = np.linalg.inv(p.hh + found.penalty * np.eye(h.shape[1]))
    leverage = np.einsum("dk,kl,dl->d", h, inverse, h)
    error = (y - h @ found.eta) / np.maximum(1 - leverage, EFFECTS.min_unexplained)
    _, cluster = np.unique(keys, return_inverse=True)
    scores = np.zeros((cluster.max(initial=0) + 1, h.shape[1]))
    np.add.at(scores, cluster, h * error[:, None])
    moved = scores @ inverse
    return found.eta, np.einsum("dk,dk->k", moved, moved)


def calibrate(docs: Documents, model: Model, subset: Subset) -> Calibrated:
    """The model with coefficients, noise and predictive variance from its own inference."""
    found = regress(docs.total(products, model, subset))
    ready = replace(model, eta=found.eta)
    variance = predictive_variance(docs.total(residual_sums, ready, subset))
    return Calibrated(replace(ready, sigma=float(np.sqrt(variance[0]))), found.std, variance)


def predictive_variance(s: ResidualSums) -> Array:
    """(a, b) by least squares, some of the mean square being noise at least."""
    a, b = _non_negative(s.vv, s.vr)
    n, v, square = s.vv[0, 0], s.vv[0, 1], s.vr[0]
    if b > TEXT.max_slope:
        b = TEXT.max_slope
        a = max((square - b * v) / n, 0.0)
    if a < TEXT.noise_floor * square / n:
        a = TEXT.noise_floor * square / n
        b = (square - n * a) / v if v > 0 else 0.0
    return np.array([a, b])


def _non_negative(A: Square, b: Array) -> Array:
    """Least squares from its normal equations, no coefficient below zero."""
    size = np.sqrt(np.diag(A)).clip(1e-150)
    root = np.linalg.cholesky(A / np.outer(size, size) + 1e-12 * np.eye(len(A)))
    scale = max(float(np.abs(b / size).max()), 1e-150)
    x, _ = nnls(root.T, np.linalg.solve(root, b / size / scale))
    solution: Array = x * scale / size
    return solution


def best_alpha0(docs: Documents, model: Model, subset: Subset, grid: tuple[float, ...]) -> float:
    """The smallest of these by which proportions explain the response about as well as by any.

    The larger it is, the less proportions differ, and the further coefficients must reach.
    """
    tried = [model.with_alpha0(a) for a in grid]
    return float(best_prior(docs, tried, subset, TEXT.alpha0_tolerance).alpha.sum())


def best_prior(docs: Documents, models: Sequence[Model], subset: Subset, tolerance: float) -> Model:
    """The first of these whose proportions explain the response about as well as any's do."""
    sums = [docs.total(products, model, subset) for model in models]
    return models[first_good_enough([p.pr2(regress(p).eta) for p in sums], tolerance)]


def first_good_enough(fits: Sequence[float] | Array, tolerance: float) -> int:
    """Where the first of these is that is about as good as the best."""
    return int(np.argmax(np.asarray(fits) >= max(fits) - tolerance))


def likeliest_alpha0(
    docs: Documents, model: Model, subset: Subset, grid: tuple[float, ...]
) -> float:
    """The one with the highest likelihood of half of a document's words given the others."""
    return grid[int(np.argmax(likelihoods(docs, model, subset, grid)))]


def likelihoods(
    docs: Documents, model: Model, subset: Subset, grid: tuple[float, ...]
) -> list[float]:
    """Per word of one half of each document given the other, for each strength of the prior."""
    sums = [docs.total(completion, model.with_alpha0(alpha0), subset) for alpha0 in grid]
    return [s.logs / max(s.words, 1.0) for s in sums]


@dataclass(frozen=True)
class Completion(Additive):
    """Log-likelihood of one half of each document's words given the other; how many they are."""

    logs: float
    words: float


def completion(c: Corpus, model: Model, subset: Subset) -> Completion:
    rows = subset.rows(c).long()
    seen, second_half = split_words(rows.counts, rows.keys, 0)
    words = float(second_half.data.sum())
    per_word = word_log_likelihood(model, second_half, infer(model, seen)) if words else 0.0
    return Completion(words * per_word, words)
