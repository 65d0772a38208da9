"""Documents in memory: numba's kernels, and numpy for what is made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicprism._typing import Array, Doc, Topic, WordCoord, WordTopic
from topicprism.kernels import aligned, fold_in, keys, products, propagation
from topicprism.kernels import cpu as kernels

xp = np
ENTRIES = 2**17  # of counts that are copied at once: 2 MB


def array(values: Array) -> Array:
    """The same numbers where the documents are."""
    return values


def numpy(values: Array) -> Array:
    """The same numbers as numpy has them."""
    return values


def pieces(X: Any, n_threads: int) -> int:
    """Into how many parts rows are cut that are treated one by one."""
    return 4 * n_threads


def word_sums(X: Any, y: Doc, half: float) -> tuple[Doc, Array]:
    """Weights of documents, and sums over their words; see the kernel."""
    weights, sums = np.empty(X.shape[0]), aligned.zeros(X.shape[1], 4)
    kernels.word_sums(X.indptr, X.indices, X.data, y, half, weights, sums)
    return weights, sums


def pair_products(X: Any, S: Array, half: float) -> Array:
    """``X.T @ (c2[:, None] * (X @ S))``"""
    out = aligned.zeros(*S.shape)
    kernels.pair_products(X.indptr, X.indices, X.data, S, half, out)
    return out


def sketch_sums(X: Any, t: Doc, B: WordCoord, half: float) -> tuple[Array, ...]:
    """Products of up to three coordinates, and of t: see the kernel."""
    V, K = B.shape
    scalars, first, second = np.zeros(7), np.zeros((3, K)), np.zeros((2, K, K))
    third, Q, sums = np.zeros((K, K, K)), aligned.zeros(V, K), aligned.zeros(V, 4)
    found = (scalars, first, second, third, Q, sums)
    products.sketch_sums(X.indptr, X.indices, X.data, t, B, half, *found)
    return found


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
    """``X.sum(axis=0)``, some entries at a time: ``bincount`` copies what it is given."""
    found, n = np.zeros(X.shape[1]), len(X.data)
    for start in range(0, n, ENTRIES):
        some = slice(start, start + ENTRIES)
        found += np.bincount(X.indices[some], X.data[some], X.shape[1])
    return found


def document_keys(X: Any) -> Any:
    """64 bits of each row's words and counts."""
    found = np.empty(X.shape[0], np.uint64)
    keys.document_keys(X.indptr, X.indices, X.data, found)
    return found
