"""Documents in memory: numba's kernels, and numpy for what is made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicprism._typing import Array, Cube, Doc, Topic, WordCoord, WordTopic
from topicprism.kernels import cpu as kernels
from topicprism.kernels import fold_in, keys, propagation

xp = np
BLOCK = 2048  # documents whose coordinates are held at once: 0.5 MB of 32, within a cache


def array(values: Array) -> Array:
    """The same numbers where the documents are."""
    return values


def numpy(values: Array) -> Array:
    """The same numbers as numpy has them."""
    return values


def pieces(X: Any, n_threads: int) -> int:
    """Into how many parts rows are cut that are treated one by one."""
    return 4 * n_threads


def blocks(X: Any) -> list[tuple[int, int]]:
    """Runs of rows, as (start, stop), for which :func:`project` is called."""
    n = X.shape[0]
    return [(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK)]


def word_sums(X: Any, y: Doc, half: float) -> tuple[Doc, Array]:
    """Weights of documents, and sums over their words; see the kernel."""
    weights, sums = np.empty(X.shape[0]), np.zeros((X.shape[1], 4))
    kernels.word_sums(X.indptr, X.indices, X.data, y, half, weights, sums)
    return weights, sums


def pair_products(X: Any, S: Array, half: float) -> Array:
    """``X.T @ (c2[:, None] * (X @ S))``"""
    out = np.zeros(S.shape)
    kernels.pair_products(X.indptr, X.indices, X.data, S, half, out)
    return out


def project(
    X: Any, rows: tuple[int, int], t: Doc, B: WordCoord, half: float, Q: WordCoord, sums: Array
) -> tuple[Array, Array]:
    """Some of the rows in the coordinates of B, P, and C; adds to Q and sums: see the kernel."""
    n, K = len(t), B.shape[1]
    P, C = np.empty((n, K)), np.empty((n, 4))
    indptr = X.indptr[rows[0] : rows[1] + 1]
    kernels.project(indptr, X.indices, X.data, t, B, half, P, C, Q, sums)
    return P, C


def product(A: Array, P: Array) -> Array:
    """``A @ P``, the sum being over documents."""
    return A @ P


def add_triples(T: Cube, P: Array, w: Array) -> None:
    """``T[i, j, l] += sum(w * P[:, i] * P[:, j] * P[:, l])`` for i <= j <= l, by BLAS.

    One way for all sizes: a numba loop with the same symmetry was no faster on
    narrow sketches and much slower on wide ones.
    """
    for j in range(P.shape[1]):
        T[: j + 1, j, j:] += (P[:, : j + 1].T * (w * P[:, j])) @ P[:, j:]


def propagate(
    X: Any, mu: WordTopic, alpha: Topic, limits: tuple[int, float, bool], h: Array, totals: Doc,
    converged: Any,
) -> None:  # fmt: skip
    """Expectation propagation into h, totals and converged; ``limits`` are the kernel's."""
    words = (X.indptr, X.indices, X.data)
    propagation.propagate(*words, mu, alpha, *limits, h, totals, converged)


def assign(
    X: Any, mu: WordTopic, alpha: Topic, n_sweeps: int, expected: WordTopic, shares: Topic
) -> None:
    """Expected counts of words by topic, and of topics, added up: see the kernel."""
    fold_in.assign(X.indptr, X.indices, X.data, mu, alpha, n_sweeps, expected, shares)


def lengths(X: Any) -> Doc:
    """``X.sum(axis=1)``"""
    found = np.empty(X.shape[0])
    keys.lengths(X.indptr, X.data, found)
    return found


def occurrences(X: Any) -> Array:
    """``X.sum(axis=0)``"""
    return np.bincount(X.indices, X.data, X.shape[1]).astype(float)


def document_keys(X: Any) -> Any:
    """64 bits of each row's words and counts."""
    found = np.empty(X.shape[0], np.uint64)
    keys.document_keys(X.indptr, X.indices, X.data, found)
    return found
