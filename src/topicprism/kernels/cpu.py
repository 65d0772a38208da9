"""Numba kernels over the rows of a CSR matrix.

A document of m words has weight w = m / (m + half) among documents, half being 30 by
default: in a short one a third moment is mostly noise, and without weights single short
documents pass for topics.  Its counts enter the moments of order one, two and three by c1 = w/m,
c2 = w/(m(m-1)) and c3 = w/(m(m-1)(m-2)), and not at all when it has fewer than
three words.  Below, ``X`` is the matrix and ``w``, ``c1``, ``c2``, ``c3`` are those
numbers as vectors.  ``indptr`` may be a slice of the matrix's own: the entries
of other rows are not looked at.  Kernels add into the arrays they are given,
allocate next to nothing, hold no state and let go of the interpreter, so that
threads can run several at once.

The inner loops run over contiguous rows of ``LANES`` numbers or a multiple of
that, which is what the compiler turns into vector instructions without a rest.
A document is read four entries at a time: one at a time, each addition would
wait for the one before it to reach memory and come back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicprism.kernels import aligned
from topicprism.kernels.compiling import compiled, jit

LANES = 16
MIN_WORDS = 3  # a document needs as many to have a third moment
HALF_WEIGHT_WORDS = 30.0  # words of a document that has half the weight of an endless one

inline: Any = compiled(kept=False, inline="always")


@jit
def first_not_a_count(data):  # type: ignore[no-untyped-def]
    """The first place where ``not (n >= 0 and n == np.floor(n) and n < np.inf)``, or -1."""
    for i in range(len(data)):
        n = np.float64(data[i])
        if not (n >= 0.0 and n == np.floor(n) and n < np.inf):
            return i
    return -1


@jit
def word_sums(indptr, words, counts, y, half, weights, sums):  # type: ignore[no-untyped-def]
    """What documents weigh, and the sums over their words::

    weights[:] = w
    sums += np.column_stack([X.T @ c1, X.T @ (c1 * y), X.T @ c2, (X * (X - 1)).T @ c2])
    """
    for d in range(len(indptr) - 1):
        m = 0.0
        for j in range(indptr[d], indptr[d + 1]):
            m += counts[j]
        weights[d] = m / (m + half) if m >= MIN_WORDS else 0.0
        if m < MIN_WORDS:
            continue
        c1 = 1 / (m + half)
        c1y, c2 = c1 * y[d], c1 / (m - 1)
        for j in range(indptr[d], indptr[d + 1]):
            s, n = sums[words[j]], np.float64(counts[j])
            s[0] += c1 * n
            s[1] += c1y * n
            s[2] += c2 * n
            s[3] += c2 * n * (n - 1)


@jit
def pair_products(indptr, words, counts, S, half, out):  # type: ignore[no-untyped-def]
    """``out += X.T @ (c2[:, None] * (X @ S))``, one read of each document."""
    p = aligned.empty(S.shape[1])
    for d in range(len(indptr) - 1):
        m = _project(indptr[d], indptr[d + 1], words, counts, S, p)
        if m >= MIN_WORDS:
            c2 = 1 / ((m + half) * (m - 1))
            _scatter(indptr[d], indptr[d + 1], words, counts, c2, p, out)


@jit
def project(indptr, words, counts, y, B, half, P, C, Q, sums):  # type: ignore[no-untyped-def]
    """Documents in the coordinates of B, and what their words must be corrected by::

    P[:] = X @ B;  C[:] = np.column_stack([w, c1, c2, c3])
    Q += X.T @ (c3[:, None] * P)
    sums[:, :3] += np.column_stack([X.T @ c2, X.T @ (c2 * y), X.T @ c3])
    """
    for d in range(len(indptr) - 1):
        start, stop = indptr[d], indptr[d + 1]
        m = _project(start, stop, words, counts, B, P[d])
        C[d] = 0.0
        if m < MIN_WORDS:
            continue
        c1 = 1 / (m + half)
        c2 = c1 / (m - 1)
        c3 = c2 / (m - 2)
        c2y = c2 * y[d]
        C[d, 0], C[d, 1], C[d, 2], C[d, 3] = c1 * m, c1, c2, c3
        _scatter(start, stop, words, counts, c3, P[d], Q)
        for j in range(start, stop):
            s, n = sums[words[j]], np.float64(counts[j])
            s[0] += c2 * n
            s[1] += c2y * n
            s[2] += c3 * n


@inline
def _project(start, stop, words, counts, S, p):  # type: ignore[no-untyped-def]
    """``p[:] = n @ S[w]`` for the entries (w, n) of one document; returns its length."""
    p[:] = 0.0
    m = 0.0
    j = start
    while j + 4 <= stop:
        s0, s1, s2, s3 = S[words[j]], S[words[j + 1]], S[words[j + 2]], S[words[j + 3]]
        n0, n1 = np.float64(counts[j]), np.float64(counts[j + 1])
        n2, n3 = np.float64(counts[j + 2]), np.float64(counts[j + 3])
        m += (n0 + n1) + (n2 + n3)
        for i in range(len(p)):
            p[i] += (n0 * s0[i] + n1 * s1[i]) + (n2 * s2[i] + n3 * s3[i])
        j += 4
    while j < stop:
        s, n = S[words[j]], np.float64(counts[j])
        m += n
        for i in range(len(p)):
            p[i] += n * s[i]
        j += 1
    return m


@inline
def _scatter(start, stop, words, counts, weight, p, out):  # type: ignore[no-untyped-def]
    """``out[w] += weight * n * p`` for the entries (w, n) of one document."""
    for j in range(start, stop):
        o, n = out[words[j]], weight * counts[j]
        for i in range(len(p)):
            o[i] += n * p[i]


@jit
def iterate(T, V, n_iterations, shift, tolerance):  # type: ignore[no-untyped-def]
    """Power iterations on every row v of V, in place, until the one of largest image stands still::

        image = np.einsum("ijl,j,l->i", T, v, v)
        v     = (image + shift * v) / norm

    A row whose squared step is at most ``tolerance`` is left alone.  For small T: no BLAS.
    """
    r, k = V.shape
    moving, sizes, image = np.ones(r, np.bool_), np.zeros(r), np.empty(k)
    for _ in range(n_iterations):
        for c in range(r):
            if not moving[c]:
                continue
            v, size, length, moved = V[c], 0.0, 0.0, 0.0
            for i in range(k):
                total = 0.0
                for j in range(k):
                    inner = 0.0
                    for l in range(k):
                        inner += T[i, j, l] * v[l]
                    total += inner * v[j]
                image[i] = total + shift * v[i]
                size += total * total
                length += image[i] * image[i]
            sizes[c] = size
            length = np.sqrt(length) if length > 0.0 else 1.0
            for i in range(k):
                step = image[i] / length - v[i]
                moved += step * step
                v[i] += step
            moving[c] = moved > tolerance
        if not moving[np.argmax(sizes)]:
            break
