"""Expectation propagation roughly, of many documents side by side: one in each vector lane.

:mod:`topicprism.kernels.propagation` treats a document by itself, until it has converged.  Where a
few sweeps over each document will do, as many documents as ``BATCH`` are treated at once: their
first words, then their second words, and so on.  Each step is then the same operation on many
numbers, which takes a small part of the time of as many sums over a few topics.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicprism.kernels.compiling import compiled, jit
from topicprism.kernels.many import MAX_DECREASE, MIN_Q
from topicprism.kernels.propagation import PROPAGATION

BATCH = 32  # documents, of like length: their sites and topics of words fit a core's cache
SMALLEST_PIVOT = 1e-13  # of the entry it is made from: with less two topics are alike

OPTIONS: Any = {  # sums in any order, and no check of what is divided by
    "error_model": "numpy",
    "fastmath": {"reassoc", "nsz", "nnan", "contract"},
}
fast: Any = compiled(**OPTIONS)
inline: Any = compiled(kept=False, inline="always", **OPTIONS)  # a third faster than ``reordered``


@fast
def propagate(indptr, words, counts, mu, alpha, n_sweeps, order, h, totals):  # type: ignore[no-untyped-def]
    """``h`` and ``totals`` of ``propagation.propagate`` of short documents after so many sweeps.

    ``order`` has documents of like length next to each other; the answer does not depend on it.
    """
    k, longest = len(alpha), 0
    for d in range(len(h)):
        longest = max(longest, indptr[d + 1] - indptr[d])
    topics, sites = np.empty((longest, k, BATCH)), np.empty((longest, k, BATCH))
    n, g, state = np.empty((longest, BATCH)), np.empty((k, BATCH)), np.empty((2 * k + 6, BATCH))
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        m = _laid_out(indptr, words, counts, mu, batch, topics, n)
        sites[:m] = 0.0
        for i in range(k):
            g[i] = alpha[i]
        for _ in range(n_sweeps):
            for j in range(m):
                _visit(topics[j], n[j], sites[j], g, state[:k], state[k : 2 * k], state[2 * k :])
        for lane in range(len(batch)):
            d = batch[lane]
            totals[d] = g[:, lane].sum()
            for i in range(k):
                h[d, i] = g[i, lane] / totals[d]


@inline
def _laid_out(indptr, words, counts, mu, batch, topics, n):  # type: ignore[no-untyped-def]
    """Fills in ``mu`` of each document's words and their counts; 0 where there is no word.

    Returns how many words the longest document has.
    """
    most = 0
    for lane in range(len(batch)):
        most = max(most, indptr[batch[lane] + 1] - indptr[batch[lane]])
    n[:most] = 0.0
    topics[:most] = 0.0
    for lane in range(len(batch)):
        d = batch[lane]
        for j in range(indptr[d + 1] - indptr[d]):
            mu_w = mu[words[indptr[d] + j]]
            n[j, lane] = counts[indptr[d] + j]
            for i in range(len(mu_w)):
                topics[j, i, lane] = mu_w[i]
    return most


@inline
def _without(topics, site, g, c, r, rest):  # type: ignore[no-untyped-def]
    """c, a document without one copy of its word; r = mu[w] * c; their sums."""
    c0, norm, least, uu, rr = rest[0], rest[1], rest[2], rest[3], rest[4]
    for d in range(BATCH):
        c0[d], norm[d], least[d], uu[d], rr[d] = 1.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(g)):
        for d in range(BATCH):
            x = g[i, d] - site[i, d]
            y = topics[i, d] * x
            c[i, d] = x
            r[i, d] = y
            c0[d] += x
            norm[d] += y
            least[d] = x if x < least[d] else least[d]


@inline
def _visit(topics, n, site, g, c, r, rest):  # type: ignore[no-untyped-def]
    """``many.visit`` in each lane; what cannot be made is left as it is."""
    c0, norm, least, uu, rr, step = rest[0], rest[1], rest[2], rest[3], rest[4], rest[5]
    _without(topics, site, g, c, r, rest)
    for d in range(BATCH):
        possible = norm[d] > 0.0 and least[d] >= 0.0
        step[d] = PROPAGATION.damping * n[d] if possible else 0.0
        norm[d] = 1.0 / norm[d] if possible else 0.0
    for i in range(len(g)):
        for d in range(BATCH):
            y = norm[d] * r[i, d]
            u = c[i, d] + y
            r[i, d] = y
            uu[d] += u * u
            rr[d] += y * y
    for d in range(BATCH):  # ``less`` of many.visit, in place of norm
        q = 1.0 - rr[d]
        pairs, at_least = c0[d] * c0[d] - uu[d], c0[d] * q
        pairs = pairs if pairs > at_least else at_least
        norm[d] = (c0[d] + 1.0) * q / (pairs + c0[d] * q) if q > MIN_Q else 0.0
    for i in range(len(g)):
        for d in range(BATCH):
            x = r[i, d] - norm[d] * (c[i, d] + r[i, d]) - site[i, d]
            c[i, d] = x
            y = step[d] * x + MAX_DECREASE * g[i, d]
            least[d] = y if y < least[d] else least[d]
    for d in range(BATCH):
        if least[d] < 0.0 and step[d] > 0.0:
            for i in range(len(g)):
                if step[d] * c[i, d] < -MAX_DECREASE * g[i, d]:
                    step[d] = -MAX_DECREASE * g[i, d] / c[i, d]
    for d in range(BATCH):  # for one of the n copies
        norm[d] = step[d] / n[d] if n[d] > 0.0 else 0.0
    for i in range(len(g)):
        for d in range(BATCH):
            g[i, d] += step[d] * c[i, d]
            site[i, d] += norm[d] * c[i, d]


@jit
def weighted_words(indptr, words, counts, place, weights, mu, out):  # type: ignore[no-untyped-def]
    """``out += X[:, place >= 0].multiply(weights) @ mu``, the columns in the order of ``place``."""
    for d in range(len(out)):
        for j in range(indptr[d], indptr[d + 1]):
            at = place[words[j]]
            if at >= 0:
                share = counts[j] * weights[d, at]
                for i in range(mu.shape[1]):
                    out[d, i] += share * mu[at, i]


@jit
def solve(packed, b, eta, found, pull):  # type: ignore[no-untyped-def]
    """Whether each A is positive definite; with rows of ``packed`` the lower triangles of A::

    found[:] = np.linalg.solve(A, b[..., None])[..., 0]
    pull[:] = [eta @ np.linalg.inv(a) @ eta for a in A]
    """
    k, fine = len(eta), True
    L, x = np.empty((k, k)), np.empty(k)
    for d in range(len(b)):
        at = 0
        for i in range(k):
            for j in range(i + 1):
                left = packed[d, at]
                for m in range(j):
                    left -= L[i, m] * L[j, m]
                if j < i:
                    L[i, j] = left * L[j, j]
                else:
                    fine &= left > SMALLEST_PIVOT * packed[d, at]
                    L[i, i] = 1.0 / np.sqrt(left) if fine else 0.0
                at += 1
        pull[d] = 0.0
        for i in range(k):  # L of its diagonal has one over it
            left, own = b[d, i], eta[i]
            for m in range(i):
                left -= L[i, m] * found[d, m]
                own -= L[i, m] * x[m]
            found[d, i] = left * L[i, i]
            x[i] = own * L[i, i]
            pull[d] += x[i] * x[i]
        for i in range(k - 1, -1, -1):
            left = found[d, i]
            for m in range(i + 1, k):
                left -= L[m, i] * found[d, m]
            found[d, i] = left * L[i, i]
    return fine
