"""Numba kernels over the rows of a CSR matrix.

A document of m words weighs c1 = 1/m, c2 = 1/(m(m-1)), c3 = 1/(m(m-1)(m-2)) in
the moments of order one, two and three, and nothing when it has fewer than
three words.  Below, ``X`` is ``csr_array((counts, words, indptr))`` and ``c1``,
``c2``, ``c3`` are those weights as vectors.  Kernels add into the arrays they
are given, allocate next to nothing and hold no state.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np

jit: Any = nb.njit(nogil=True, cache=True)


@jit
def first_not_a_count(data):  # type: ignore[no-untyped-def]
    """The first place where ``not (n >= 0 and n == np.floor(n) and n < np.inf)``, or -1."""
    for i in range(len(data)):
        n = np.float64(data[i])
        if not (n >= 0.0 and n == np.floor(n) and n < np.inf):
            return i
    return -1


@jit
def word_sums(indptr, words, counts, y, used, x, yx, x2):  # type: ignore[no-untyped-def]
    """Which documents have three words, and the sums over their words::

    used[:] = X.sum(axis=1) >= 3
    x += X.T @ c1;  yx += X.T @ (c1 * y);  x2 += X.T @ c2
    """
    for d in range(len(indptr) - 1):
        m = 0.0
        for j in range(indptr[d], indptr[d + 1]):
            m += counts[j]
        used[d] = m >= 3
        if not used[d]:
            continue
        c1 = 1 / m
        c1y, c2 = c1 * y[d], c1 / (m - 1)
        for j in range(indptr[d], indptr[d + 1]):
            v, n = words[j], counts[j]
            x[v] += c1 * n
            yx[v] += c1y * n
            x2[v] += c2 * n


@jit
def pair_sums(indptr, words, counts, S, out):  # type: ignore[no-untyped-def]
    """``out += X.T @ (c2[:, None] * (X @ S))``, one read of each document."""
    p = np.empty(S.shape[1])
    for d in range(len(indptr) - 1):
        p[:] = 0.0
        m = 0.0
        for j in range(indptr[d], indptr[d + 1]):
            v, n = words[j], np.float64(counts[j])
            m += n
            for i in range(len(p)):
                p[i] += n * S[v, i]
        if m < 3:
            continue
        c2 = 1 / (m * (m - 1))
        for j in range(indptr[d], indptr[d + 1]):
            v, n = words[j], c2 * counts[j]
            for i in range(len(p)):
                out[v, i] += n * p[i]


@jit
def project(indptr, words, counts, y, B, P, C, Q, x2, yx2, x3):  # type: ignore[no-untyped-def]
    """Documents in the coordinates of B, and what their words must be corrected by::

    P[:] = X @ B;  C[:] = np.column_stack([c1, c2, c3])
    Q += X.T @ (c3[:, None] * P)
    x2 += X.T @ c2;  yx2 += X.T @ (c2 * y);  x3 += X.T @ c3
    """
    K = B.shape[1]
    for d in range(len(indptr) - 1):
        p, c = P[d], C[d]
        p[:] = 0.0
        c[:] = 0.0
        m = 0.0
        for j in range(indptr[d], indptr[d + 1]):
            v, n = words[j], np.float64(counts[j])
            m += n
            for i in range(K):
                p[i] += n * B[v, i]
        if m < 3:
            continue
        c[0] = 1 / m
        c[1] = c[0] / (m - 1)
        c[2] = c[1] / (m - 2)
        for j in range(indptr[d], indptr[d + 1]):
            v, n = words[j], np.float64(counts[j])
            x2[v] += c[1] * n
            yx2[v] += c[1] * y[d] * n
            x3[v] += c[2] * n
            for i in range(K):
                Q[v, i] += c[2] * n * p[i]
