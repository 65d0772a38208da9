"""Numba kernels for the topics of words, the topics held fixed: variational Bayes and sampling.

Every document is treated by itself, from scratch and in the order of its
entries: the answer depends neither on its neighbours nor on the threads.
"""

from __future__ import annotations

import numpy as np

from topicprism.kernels import many
from topicprism.kernels.compiling import inlined, jit
from topicprism.kernels.random import GOLDEN, scramble


@jit
def assign(indptr, words, counts, mu, alpha, n_sweeps, expected, shares):  # type: ignore[no-untyped-def]
    """Expected counts of words by topic, and of topics by document, added up.

    Variational Bayes, each document by itself, from c = alpha, ``n_sweeps`` times::

        r[w] = mu[w] * c / sum(mu[w] * c)          # topics of each word
        z    = sum of counts[w] * r[w]             # and of the document
        c    = exp(digamma(alpha + z))             # next to nothing for a topic of few words

    Then ``expected[w] += counts[w] * r[w]`` and ``shares += (alpha + z) / sum(alpha + z)``.  The
    rows of mu that a document needs are fetched once: of a large vocabulary they lie far apart.
    """
    k = len(alpha)
    c, z, r = np.empty(k), np.empty(k), np.empty(k)
    rows = np.empty((longest(indptr), k))
    for d in range(len(indptr) - 1):
        start, m = indptr[d], indptr[d + 1] - indptr[d]
        if k >= many.MIN_TOPICS:
            w, n = words[start : start + m], counts[start : start + m]
            many.assign(w, n, mu, alpha, n_sweeps, expected, shares, c, z, r)
            continue
        for j in range(m):
            for i in range(k):
                rows[j, i] = mu[words[start + j], i]
        z[:] = 0.0
        for sweep in range(n_sweeps):
            for i in range(k):
                c[i] = alpha[i] if sweep == 0 else exp_digamma(alpha[i] + z[i])
                z[i] = 0.0
            for j in range(m):
                norm = _product(rows[j], c)
                if norm <= 0.0:
                    continue  # no topic has it
                scale = counts[start + j] / norm
                for i in range(k):
                    z[i] += scale * (rows[j, i] * c[i])
                if sweep == n_sweeps - 1:
                    w = words[start + j]
                    for i in range(k):
                        expected[w, i] += scale * (rows[j, i] * c[i])
        total = 0.0
        for i in range(k):
            total += alpha[i] + z[i]
        for i in range(k):
            shares[i] += (alpha[i] + z[i]) / total


@inlined
def longest(indptr):  # type: ignore[no-untyped-def]
    """Entries of the document that has most."""
    most = 0
    for d in range(len(indptr) - 1):
        most = max(most, indptr[d + 1] - indptr[d])
    return most


@inlined
def _product(a, b):  # type: ignore[no-untyped-def]
    """``a @ b`` by four sums, which need not wait for each other."""
    n = len(b) - len(b) % 4
    s0 = s1 = s2 = s3 = 0.0
    for i in range(0, n, 4):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
    for i in range(n, len(b)):
        s0 += a[i] * b[i]
    return (s0 + s1) + (s2 + s3)


@inlined
def exp_digamma(x):  # type: ignore[no-untyped-def]
    """``exp(scipy.special.digamma(x))``: up by the recurrence, then its asymptotic series."""
    below = 0.0
    while x < 6.0:
        below += 1.0 / x
        x += 1.0
    f = 1.0 / (x * x)
    series = f * (1.0 / 12 - f * (1.0 / 120 - f * (1.0 / 252 - f * (1.0 / 240 - f / 132))))
    return x * np.exp(-0.5 / x - series - below)


@jit
def gibbs(  # type: ignore[no-untyped-def]
    indptr, words, counts, mu, alpha, burn_in, n_sweeps, seed, keys, h
):
    """Collapsed Gibbs sampling of the topics z of a document's words; h averages over sweeps.

    The topic of a word is drawn from p(z = i | the others) ~ mu[w, i] (alpha_i + n_i),
    and it is these probabilities, not the draws, that are averaged::

        h[d] ~ alpha + mean over kept sweeps of sum of p

    Document d draws from its own stream, started at (seed, keys[d]).
    """
    longest = 0
    for d in range(len(h)):
        m = 0
        for j in range(indptr[d], indptr[d + 1]):
            m += int(counts[j])
        longest = max(longest, m)
    w, z = np.empty(longest, np.int64), np.empty(longest, np.int64)
    p, g = np.empty(len(alpha)), np.empty(len(alpha))
    for d in range(len(h)):
        m = 0
        for j in range(indptr[d], indptr[d + 1]):
            for _ in range(int(counts[j])):
                w[m], z[m] = words[j], -1
                m += 1
        state = scramble(np.uint64(seed) + GOLDEN * keys[d])
        g[:] = alpha
        h[d] = 0.0
        for sweep in range(burn_in + n_sweeps):
            state = _sweep(w, z, m, mu, g, p, state, sweep >= burn_in, h[d])
        h[d] = alpha + h[d] / n_sweeps
        h[d] /= h[d].sum()


@inlined
def _sweep(w, z, m, mu, g, p, state, keep, sums):  # type: ignore[no-untyped-def]
    """Draw the topic of each of m words once; ``sums += p`` for each if they are kept."""
    k = len(g)
    for t in range(m):
        if z[t] >= 0:
            g[z[t]] -= 1.0
        total = 0.0
        for i in range(k):
            total += mu[w[t], i] * g[i]
            p[i] = total
        state += GOLDEN
        u = (scramble(state) >> np.uint64(11)) * 2.0**-53 * total
        new = 0
        while new < k - 1 and p[new] <= u:
            new += 1
        z[t] = new if total > 0.0 else -1  # a word no topic can say has none
        if total <= 0.0:
            continue
        g[new] += 1.0
        if keep:
            sums[0] += p[0] / total
            for i in range(1, k):
                sums[i] += (p[i] - p[i - 1]) / total
    return state
