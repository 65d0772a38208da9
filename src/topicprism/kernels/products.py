"""Products of up to three coordinates of documents, summed over a shard in one call.

Documents are taken ``BLOCK`` at a time.  Their coordinates are turned round, one row for each
coordinate, so that every product is a row times a row, and rows of products are multiplied by
rows of coordinates by BLAS.  All of it lets go of the interpreter, and what a block needs is
allocated once: threads that come back to the interpreter for each small product wait for each
other, and on 16 cores did half of what they could.

====  =======================================================  ===============
code  meaning                                                   shape
====  =======================================================  ===============
P     documents of a block in the coordinates of B              (n, K)
C     their w, c1, c2, c3 (:mod:`topicprism.kernels.cpu`)       (n, 4)
R     P'                                                        (K, n)
A     rows of products                                          (rows, n)
====  =======================================================  ===============
"""

from __future__ import annotations

import numpy as np

from topicprism.kernels import aligned
from topicprism.kernels.compiling import inlined, jit
from topicprism.kernels.cpu import project

BLOCK = 256  # documents: 64 rows of products take 130 kB, within a core's own cache
ROWS = 64  # of products multiplied at once, about


@jit
def sketch_sums(indptr, words, counts, y, B, half, scalars, first, second, third, Q, sums):  # type: ignore[no-untyped-def]
    """With P, w, c1, c2, c3, Q and ``sums`` as in :func:`topicprism.kernels.cpu.project`::

    scalars += [(w > 0).sum(), w.sum(), w @ c1, w @ c2, w @ y, w @ y**2, w @ y**3]
    first   += [c1 @ P, (c1 * y) @ P, (c1 * y**2) @ P]
    second  += [(c2 * P.T) @ P, (c2 * y * P.T) @ P]
    third   += np.einsum("d,di,dj,dl->ijl", c3, P, P, P)            where i <= j <= l
    """
    K, n_documents = B.shape[1], len(indptr) - 1
    n = min(BLOCK, n_documents)
    P, C, R = aligned.empty(n * K).reshape(n, K), np.empty((n, 4)), aligned.empty(K * n)
    A = aligned.empty(max(2 * K, ROWS + K) * n)
    product = aligned.empty(max(2 * K, ROWS + K) * K)
    for start in range(0, n_documents, BLOCK):
        n = min(BLOCK, n_documents - start)
        t, P, C = y[start : start + n], P[:n], C[:n]
        project(indptr[start : start + n + 1], words, counts, t, B, half, P, C, Q, sums)
        rows = R[: K * n].reshape(K, n)
        for d in range(n):
            for i in range(K):
                rows[i, d] = P[d, i]
        _add_scalars(C, t, scalars)
        _add_first(C, t, rows, A, product, first)
        _add_second(C, t, rows, A, product, second)
        add_triples(rows, C[:, 3], A, product, third)


@inlined
def _add_scalars(C, y, scalars):  # type: ignore[no-untyped-def]
    for d in range(len(y)):
        w, t = C[d, 0], y[d]
        scalars[0] += w > 0
        scalars[1] += w
        scalars[2] += w * C[d, 1]
        scalars[3] += w * C[d, 2]
        scalars[4] += w * t
        scalars[5] += w * t * t
        scalars[6] += w * t * t * t


@inlined
def _add_first(C, y, rows, A, product, first):  # type: ignore[no-untyped-def]
    K, n = rows.shape
    left, found = A[: 3 * n].reshape(3, n), product[: 3 * K].reshape(3, K)
    for d in range(n):
        left[0, d] = C[d, 1]
        left[1, d] = C[d, 1] * y[d]
        left[2, d] = C[d, 1] * y[d] * y[d]
    first += np.dot(left, rows.T, found)


@inlined
def _add_second(C, y, rows, A, product, second):  # type: ignore[no-untyped-def]
    K, n = rows.shape
    left, found = A[: 2 * K * n].reshape(2 * K, n), product[: 2 * K * K].reshape(2 * K, K)
    for i in range(K):
        for d in range(n):
            left[i, d] = C[d, 2] * rows[i, d]
            left[K + i, d] = left[i, d] * y[d]
    second += np.dot(left, rows.T, found).reshape(2, K, K)


@jit
def add_triples(rows, w, A, product, T):  # type: ignore[no-untyped-def]
    """``T += np.einsum("d,id,jd,ld->ijl", w, rows, rows, rows)`` where i <= j <= l.

    The rows i of some j are multiplied by all l from the first of these j on: few products are
    taken in vain, and none is too small for BLAS.  ``A`` and ``product`` are space to work in.
    """
    K, n = rows.shape
    first, last = 0, 0
    while first < K:
        n_rows = 0
        while last < K and (last == first or n_rows + last + 1 <= ROWS):
            n_rows, last = n_rows + last + 1, last + 1
        left, width = A[: n_rows * n].reshape(n_rows, n), K - first
        r = 0
        for j in range(first, last):
            for i in range(j + 1):
                for d in range(n):
                    left[r, d] = rows[i, d] * (rows[j, d] * w[d])
                r += 1
        found = np.dot(left, rows[first:].T, product[: n_rows * width].reshape(n_rows, width))
        r = 0
        for j in range(first, last):
            for i in range(j + 1):
                for l in range(j, K):
                    T[i, j, l] += found[r, l - first]
                r += 1
        first = last
