"""Discriminative LDA (Lacoste-Julien, Sha and Jordan 2008): a transformation for each class.

========  ==================================================================================
h         proportions, ~ Dirichlet(alpha)                                                 (m,)
T[c]      of class c: columns on the simplex; a document of the class mixes topics T[c] h  (k, m)
mu        word probabilities of each topic                                                (V, k)
B         mu T[c]: a document of class c is one of LDA with these topics                  (V, m)
p(c)      shares of the classes
========  ==================================================================================

Log p(words | c) is replaced by its mean-field bound, and so is p(c | words) ~ p(c) p(words | c).
First topics are learnt from labelled documents by variational EM, class c having some topics of its
own and sharing the others with all classes: T[c] is 0 and 1.  Then T[c], mixed with uniform
columns, is moved so that the sum of log p(c | words) rises, mu staying as it is: by exponentiated
gradients, each step halved until it does rise.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from topicprism._typing import Array, Counts, DocTopic, Ints, Topic, WordTopic
from topicprism.documents.corpus import cut, take_rows
from topicprism.kernels import evidence as kernels
from topicprism.relatives import N_PARTS

N_SWEEPS, SWEEP_TOLERANCE = 100, 1e-5  # over the words of a document, at most and until
UNIFORM_SHARE = 0.05  # of uniform columns into T, before it is moved
MAX_HALVINGS = 12


@dataclass(frozen=True)
class Transformed:
    """The model."""

    mu: WordTopic
    T: Array  # (classes, k, m)
    alpha: Topic  # (m,)
    prior: Array  # (classes,)

    @property
    def n_classes(self) -> int:
        return len(self.T)


@dataclass(frozen=True)
class Inferred:
    """Of each document, as if it were of each class: the Dirichlet of h, and the bound."""

    gamma: Array  # (classes, D, m)
    bound: Array  # (D, classes)

    def log_posterior(self, prior: Array) -> Array:
        """log p(c | words)."""
        return np.asarray(log_softmax(self.bound + np.log(prior), axis=1))


def infer(model: Transformed, X: Counts, n_threads: int = 1) -> Inferred:
    D, m = X.shape[0], len(model.alpha)
    gamma, bound = np.empty((model.n_classes, D, m)), np.empty((D, model.n_classes))
    for c, T in enumerate(model.T):
        found = np.empty(D)
        _evidence(X, model.mu @ T, model.alpha, gamma[c], found, n_threads)
        bound[:, c] = found
    return Inferred(gamma, bound)


def proportions(model: Transformed, found: Inferred) -> DocTopic:
    """E[T h | words]: over classes by their probabilities."""
    p = np.exp(found.log_posterior(model.prior))
    h = found.gamma / found.gamma.sum(axis=2, keepdims=True)
    mixed: DocTopic = np.einsum("dc,ckm,cdm->dk", p, model.T, h, optimize=True)
    return mixed


def blocks(n_classes: int, n_own: int, n_topics: int) -> Array:
    """T of 0 and 1: each class has ``n_own`` topics, the last ones are all classes'."""
    own, shared = n_classes * n_own, n_topics - n_classes * n_own
    T = np.zeros((n_classes, n_topics, n_own + shared))
    for c in range(n_classes):
        at = [*range(c * n_own, (c + 1) * n_own), *range(own, n_topics)]
        T[c, at, range(n_own + shared)] = 1
    return T


def generative(
    model: Transformed, X: Counts, label: NDArray[np.intp], beta: float, n_iterations: int,
    tolerance: float, n_threads: int,
) -> tuple[Transformed, Array]:  # fmt: skip
    """Topics by EM from labelled words, T as it is; and sums of log p(words | c), and prior."""
    trace: list[float] = []
    of_class = [X[label == c] for c in range(model.n_classes)]
    for _ in range(n_iterations):
        total, expected = beta * float(np.log(model.mu).sum()), np.full(model.mu.shape, beta)
        for rows, T in zip(of_class, model.T, strict=True):
            B, D = model.mu @ T, rows.shape[0]
            gamma, bound = np.empty((D, len(model.alpha))), np.empty(D)
            _evidence(rows, B, model.alpha, gamma, bound, n_threads)
            total += float(bound.sum())
            expected += model.mu * (_gradient(rows, B, gamma, np.ones(D), n_threads) @ T.T)
        trace.append(total)
        if len(trace) > 1 and total - trace[-2] < tolerance * abs(total):
            break
        model = replace(model, mu=expected / expected.sum(axis=0))
    return model, np.array(trace)


def discriminative(
    model: Transformed, X: Counts, label: Ints, n_iterations: int, tolerance: float, n_threads: int
) -> tuple[Transformed, Array]:
    """T from which mean log p(c | words) rises no more, and that mean after each step."""
    k = model.mu.shape[1]
    model = replace(model, T=(1 - UNIFORM_SHARE) * model.T + UNIFORM_SHARE / k)
    value, slope = _conditional(model, X, label, n_threads)
    trace, step = [value], 1.0
    for _ in range(n_iterations):
        for _ in range(MAX_HALVINGS):
            T = model.T * np.exp(step * (slope - slope.max(axis=1, keepdims=True)))
            moved = replace(model, T=T / T.sum(axis=1, keepdims=True))
            value, new_slope = _conditional(moved, X, label, n_threads)
            if value > trace[-1]:
                break
            step /= 2
        else:
            break
        model, slope, step = moved, new_slope, 1.5 * step
        trace.append(value)
        if trace[-1] - trace[-2] < tolerance * abs(trace[-1]):
            break
    return model, np.array(trace)


def _conditional(model: Transformed, X: Counts, label: Ints, n_threads: int) -> tuple[float, Array]:
    """Mean log p(c | words), and its gradient along T."""
    D, found = X.shape[0], infer(model, X, n_threads)
    log_p = found.log_posterior(model.prior)
    weight = (label[:, None] == np.arange(model.n_classes)) - np.exp(log_p)
    slope = np.empty(model.T.shape)
    for c, T in enumerate(model.T):
        of_B = _gradient(X, model.mu @ T, found.gamma[c], weight[:, c].copy(), n_threads)
        slope[c] = model.mu.T @ of_B / D
    return float(log_p[np.arange(D), label].mean()), slope


# --- by threads -----------------------------------------------------------------------


def _evidence(
    X: Counts, B: Array, alpha: Topic, gamma: Array, bound: Array, n_threads: int
) -> None:
    def part(start: int, stop: int) -> None:
        rows = take_rows(X, start, stop)
        kernels.evidence(
            rows.indptr, rows.indices, rows.data, B, alpha,
            N_SWEEPS, SWEEP_TOLERANCE, gamma[start:stop], bound[start:stop],
        )  # fmt: skip

    _run(part, X, n_threads)


def _gradient(X: Counts, B: Array, gamma: Array, weight: Array, n_threads: int) -> WordTopic:
    def part(start: int, stop: int) -> Array:
        rows, sums = take_rows(X, start, stop), np.zeros(B.shape)
        kernels.add_gradient(
            rows.indptr, rows.indices, rows.data, B, gamma[start:stop], weight[start:stop], sums
        )
        return sums

    total: WordTopic = np.sum(_run(part, X, n_threads), axis=0)
    return total


def _run(part: Callable[[int, int], Any], X: Counts, n_threads: int) -> list[Any]:
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(lambda edges: part(*edges), cut(X, N_PARTS)))
