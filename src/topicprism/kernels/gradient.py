"""Numba kernels of :mod:`topicprism.learn.refine`: MAP proportions and gradients through them."""

from __future__ import annotations

import numpy as np

from topicprism.kernels.compiling import jit, reordered
from topicprism.kernels.fold_in import longest

SMALLEST = 1e-14  # share of a pivot that rounding may take for all of it


@jit
def map_proportions(indptr, words, counts, mu, alpha, n_sweeps, h):  # type: ignore[no-untyped-def]
    """h[d] where ``sum of counts[w] log(mu[w] . h) + alpha . log h`` is largest on the simplex.

    From h ~ alpha, ``n_sweeps`` times::

        r[w] = mu[w] * h / sum(mu[w] * h)          # topics of each word
        h    = (alpha + sum of counts[w] r[w]) / sum of these
    """
    z = np.empty(len(alpha))
    for d in range(len(h)):
        h[d] = alpha / alpha.sum()
        for _ in range(n_sweeps):
            z[:] = 0.0
            for j in range(indptr[d], indptr[d + 1]):
                norm = _product(mu[words[j]], h[d])
                if norm > 0.0:  # else no topic has the word
                    _add(counts[j] / norm, mu[words[j]], z)
            for i in range(len(alpha)):
                z[i] = alpha[i] + h[d, i] * z[i]
            h[d] = z / z.sum()


@jit
def gradients(  # type: ignore[no-untyped-def]
    indptr, words, counts, mu, alpha, y, eta, h, sums
):
    """Gradients of the squared error along each log mu[w, i], h being that of ``map_proportions``.

    By the chain rule through that maximum, (y - eta . h)^2 / 2 falls along log mu[w, i] by
    ``counts[w] r[w, i] (u_i - r[w] . u)``, where ::

        (diag(alpha) + sum of counts[w] r[w] r[w]') u = h * ((y - eta . h) eta - c)

    and c is such that h . u = 0.  Added up in ``sums`` are these and their squares.
    """
    k, (gradient, squares) = len(alpha), sums
    A, b = np.empty((k, k)), np.empty((2, k))
    r = np.empty((longest(indptr), k))  # of each word of a document
    for d in range(len(h)):
        first, m = indptr[d], indptr[d + 1] - indptr[d]
        A[:] = 0.0
        for t in range(m):
            _topics_of(mu[words[first + t]], h[d], r[t])
            for i in range(k):  # what is above the diagonal is the same
                _add(counts[first + t] * r[t, i], r[t, : i + 1], A[i])
        error = y[d] - _product(h[d], eta)
        for i in range(k):
            A[i, i] += alpha[i]
            b[0, i], b[1, i] = error * h[d, i] * eta[i], h[d, i]
        _solve(A, b)
        u = b[0]
        _add(-_product(h[d], u) / _product(h[d], b[1]), b[1], u)
        for t in range(m):
            n, w = counts[first + t], words[first + t]
            _add_gradient(n, r[t], u, _product(r[t], u), gradient[w], squares[w])


@reordered
def _solve(A, b):  # type: ignore[no-untyped-def]
    """``b[:] = np.linalg.solve(A, b.T).T`` by the Cholesky factor L of A, which it replaces.

    A is positive definite, and nothing above its diagonal is read; that has 1 / L[i, i].  What
    rounding leaves of a pivot is at least SMALLEST of it.
    """
    for i in range(len(A)):
        for l in range(i):
            A[i, l] = (A[i, l] - _product(A[i], A[l, :l])) * A[l, l]
        pivot = max(A[i, i] - _product(A[i], A[i, :i]), SMALLEST * A[i, i])
        A[i, i] = 1.0 / np.sqrt(pivot)
    for x in b:
        for i in range(len(A)):
            x[i] = (x[i] - _product(A[i], x[:i])) * A[i, i]
        for i in range(len(A) - 1, -1, -1):
            x[i] *= A[i, i]
            _add(-x[i], A[i, :i], x)


@reordered
def _product(a, b):  # type: ignore[no-untyped-def]
    """``a[: len(b)] @ b``"""
    total = 0.0
    for i in range(len(b)):
        total += a[i] * b[i]
    return total


@reordered
def _add(c, a, sums):  # type: ignore[no-untyped-def]
    """``sums[: len(a)] += c * a``"""
    for i in range(len(a)):
        sums[i] += c * a[i]


@reordered
def _add_gradient(n, r, u, mean, gradient, squares):  # type: ignore[no-untyped-def]
    """What a word adds to the sums of its row."""
    for i in range(len(r)):
        by = n * r[i] * (u[i] - mean)
        gradient[i] += by
        squares[i] += by * by


@reordered
def _topics_of(mu_w, h, r):  # type: ignore[no-untyped-def]
    """r = mu_w * h / sum; nothing if no topic has the word."""
    norm = _product(mu_w, h)
    scale = 1.0 / norm if norm > 0.0 else 0.0
    for i in range(len(h)):
        r[i] = scale * mu_w[i] * h[i]
