"""Numba kernel of :mod:`topicprism.relatives.anchors`: least squares on the simplex."""

from __future__ import annotations

import numpy as np

from topicprism.kernels.compiling import jit

TOLERANCE = 1e-13  # of the largest square: a gradient that rounding alone makes


@jit
def on_simplex(G, B, C):  # type: ignore[no-untyped-def]
    """C[i] = the c >= 0 of sum 1 where ``c' G c / 2 - B[i] . c`` is least: S' C[i] is nearest to x,
    for G = S S', B[i] = S x.

    By active sets: c is the minimum over the coordinates in ``used``, without the constraint
    c >= 0; a coordinate that would fall below zero leaves, one whose gradient promises most joins.
    """
    k, scale = len(G), TOLERANCE * np.abs(G).max()
    used, c = np.zeros(k, np.bool_), np.zeros(k)
    for i in range(len(B)):
        used[:], c[:] = False, 0.0
        best = np.argmax(B[i] - 0.5 * np.diag(G))
        used[best], c[best] = True, 1.0
        for _ in range(10 * k):
            g = B[i] - G @ c
            level = g[used].mean()
            promise = np.where(used, -np.inf, g - level)
            joins = np.argmax(promise)
            if promise[joins] <= scale:
                break
            used[joins] = True
            while True:
                x = _minimum(G, B[i], used)
                if x[used].min() > 0:
                    c[:] = x
                    break
                step, leaves = 1.0, -1
                for j in range(k):
                    if used[j] and x[j] <= 0 and c[j] / (c[j] - x[j] + 1e-300) <= step:
                        step, leaves = c[j] / (c[j] - x[j] + 1e-300), j
                c += step * (x - c)
                used[leaves], c[leaves] = False, 0.0
                if leaves == joins and step == 0.0:  # a promise that rounding made
                    break
            if not used[joins]:
                break
        C[i] = c


@jit
def _minimum(G, b, used):  # type: ignore[no-untyped-def]
    """The minimum over coordinates in use whose sum is 1, of any sign: a linear system."""
    at = np.flatnonzero(used)
    m = len(at)
    A, right = np.zeros((m + 1, m + 1)), np.ones(m + 1)
    size = np.abs(G).max()
    for r in range(m):
        for s in range(m):
            A[r, s] = G[at[r], at[s]] / size
        A[r, m] = A[m, r] = 1.0
        right[r] = b[at[r]] / size
    x = np.zeros(len(G))
    x[at] = np.linalg.solve(A, right)[:m]
    return x
