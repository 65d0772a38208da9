"""Numba kernels of :mod:`topicprism.learn.refine`: MAP proportions and gradients through them."""

from __future__ import annotations

import numpy as np

from topicprism.kernels.compiling import inlined, jit


@jit
def map_proportions(indptr, words, counts, mu, alpha, n_sweeps, h):  # type: ignore[no-untyped-def]
    """h[d] where ``sum of counts[w] log(mu[w] . h) + alpha . log h`` is largest on the simplex.

    From h ~ alpha, ``n_sweeps`` times::

        r[w] = mu[w] * h / sum(mu[w] * h)          # topics of each word
        h    = (alpha + sum of counts[w] r[w]) / sum of these
    """
    r, z = np.empty(len(alpha)), np.empty(len(alpha))
    for d in range(len(h)):
        h[d] = alpha / alpha.sum()
        for _ in range(n_sweeps):
            z[:] = alpha
            for j in range(indptr[d], indptr[d + 1]):
                if _topics_of(mu[words[j]], h[d], r):
                    for i in range(len(alpha)):
                        z[i] += counts[j] * r[i]
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
    r, A, b = np.empty(k), np.empty((k, k)), np.empty((k, 2))
    for d in range(len(h)):
        entries = range(indptr[d], indptr[d + 1])
        A[:] = np.diag(alpha)
        for j in entries:
            if _topics_of(mu[words[j]], h[d], r):
                for i in range(k):
                    for l in range(k):
                        A[i, l] += counts[j] * r[i] * r[l]
        b[:, 0], b[:, 1] = (y[d] - h[d] @ eta) * h[d] * eta, h[d]
        found = np.linalg.solve(A, b)
        both = h[d] @ found
        u = found[:, 0] - both[0] / both[1] * found[:, 1]
        for j in entries:
            if _topics_of(mu[words[j]], h[d], r):
                mean = r @ u
                for i in range(k):
                    by = counts[j] * r[i] * (u[i] - mean)
                    gradient[words[j], i] += by
                    squares[words[j], i] += by * by


@inlined
def _topics_of(mu_w, h, r):  # type: ignore[no-untyped-def]
    """r = mu_w * h / sum; whether any topic has the word."""
    norm = 0.0
    for i in range(len(h)):
        r[i] = mu_w[i] * h[i]
        norm += r[i]
    if norm <= 0.0:
        return False
    for i in range(len(h)):
        r[i] /= norm
    return True
