"""Numba kernels for the topic proportions of documents, the topics held fixed.

Every document is treated by itself, from scratch and in the order of its
entries: the answer depends neither on its neighbours nor on the threads.
"""

from __future__ import annotations

import numpy as np

from topicprism.kernels.compiling import inlined, jit
from topicprism.kernels.random import GOLDEN, scramble

DAMPING = 0.7  # of a full step; undamped, some documents go round in circles
PATIENCE = 20  # sweeps before steps are shortened further


@jit
def propagate(  # type: ignore[no-untyped-def]
    indptr, words, counts, mu, alpha, max_sweeps, tolerance, h, totals
):
    """Expectation propagation: a Dirichlet(g) close to the posterior, mean h[d], sum totals[d].

    The likelihood of a word, mu[w] . h, is stood in for by prod_i h_i^site_i, so
    that g = alpha + sum of counts * site.  To visit a word::

        c    = g - site                              # the document without one such word
        r    = mu[w] * c / sum(mu[w] * c)            # p(topic of the word | the rest)
        mean = (c + r) / (c0 + 1)                    # E[h], E[h^2] once the word is back
        sq   = (c + 1) * (c + 2 r) / ((c0 + 1) (c0 + 2))
        site = mean * sum(mean - sq) / sum(sq - mean^2) - c

    The last line is the Dirichlet with that mean and total second moment.  A step
    is damped, and shortened where it would take an entry of g to zero.
    """
    k = len(alpha)
    longest = 0
    for d in range(len(h)):
        longest = max(longest, indptr[d + 1] - indptr[d])
    sites = np.empty((longest, k))
    g, c, r = np.empty(k), np.empty(k), np.empty(k)
    for d in range(len(h)):
        sites[: indptr[d + 1] - indptr[d]] = 0.0
        g[:] = alpha
        for sweep in range(max_sweeps):
            share = DAMPING if sweep < PATIENCE else DAMPING * PATIENCE / sweep
            moved = 0.0
            for j in range(indptr[d], indptr[d + 1]):
                site = sites[j - indptr[d]]
                moved = max(moved, _visit(mu[words[j]], counts[j], share, site, g, c, r))
            if moved < tolerance:
                break
        total = g.sum()
        totals[d] = total
        for i in range(k):
            h[d, i] = g[i] / total


@jit
def assign(indptr, words, counts, mu, alpha, n_sweeps, said, shares):  # type: ignore[no-untyped-def]
    """Who said what: expected counts of words by topic, and of topics by document, added up.

    Variational Bayes, each document by itself, from c = alpha, ``n_sweeps`` times::

        r[w] = mu[w] * c / sum(mu[w] * c)          # topics of each word
        z    = sum of counts[w] * r[w]             # and of the document
        c    = exp(digamma(alpha + z))             # next to nothing for a topic of few words

    Then ``said[w] += counts[w] * r[w]`` and ``shares += (alpha + z) / sum(alpha + z)``.
    """
    k = len(alpha)
    c, z, r = np.empty(k), np.empty(k), np.empty(k)
    for d in range(len(indptr) - 1):
        z[:] = 0.0
        for sweep in range(n_sweeps):
            for i in range(k):
                c[i] = alpha[i] if sweep == 0 else _exp_digamma(alpha[i] + z[i])
                z[i] = 0.0
            for j in range(indptr[d], indptr[d + 1]):
                mu_w, norm = mu[words[j]], 0.0
                for i in range(k):
                    r[i] = mu_w[i] * c[i]
                    norm += r[i]
                if norm <= 0.0:
                    continue  # no topic has it
                scale = counts[j] / norm
                for i in range(k):
                    z[i] += scale * r[i]
                if sweep == n_sweeps - 1:
                    s = said[words[j]]
                    for i in range(k):
                        s[i] += scale * r[i]
        total = 0.0
        for i in range(k):
            total += alpha[i] + z[i]
        for i in range(k):
            shares[i] += (alpha[i] + z[i]) / total


@inlined
def _exp_digamma(x):  # type: ignore[no-untyped-def]
    """``exp(scipy.special.digamma(x))``: up by the recurrence, then its asymptotic series."""
    below = 0.0
    while x < 6.0:
        below += 1.0 / x
        x += 1.0
    f = 1.0 / (x * x)
    series = f * (1.0 / 12 - f * (1.0 / 120 - f * (1.0 / 252 - f * (1.0 / 240 - f / 132))))
    return x * np.exp(-0.5 / x - series - below)


@inlined
def _visit(mu_w, n, share, site, g, c, r):  # type: ignore[no-untyped-def]
    """One update of one word's site; returns how far it moved g, relative to its total.

    With f = total / (c0 + 1), the new site less the old is f (c + r) - g.
    """
    k = len(g)
    c0, norm, least = 0.0, 0.0, 0.0
    for i in range(k):
        c[i] = g[i] - site[i]
        r[i] = mu_w[i] * c[i]
        c0 += c[i]
        norm += r[i]
        least = min(least, c[i])
    if least < 0.0 or norm <= 0.0 or n <= 0:
        return 0.0  # without it no distribution is left; or no topic has it; or it is not there
    scale, squares, means = 1.0 / norm, 0.0, 0.0
    for i in range(k):
        r[i] = c[i] + r[i] * scale
        squares += (c[i] + 1.0) * (2.0 * r[i] - c[i])
        means += r[i] * r[i]
    squares /= (c0 + 1.0) * (c0 + 2.0)
    excess = squares - means / ((c0 + 1.0) * (c0 + 1.0))
    if excess <= 0.0:
        return 0.0
    f, share = (1.0 - squares) / (excess * (c0 + 1.0)), share * n
    for i in range(k):
        c[i] = f * r[i] - g[i]
        if share * c[i] < -0.8 * g[i]:
            share = -0.8 * g[i] / c[i]
    moved, part = 0.0, share / n
    for i in range(k):
        site[i] += part * c[i]
        g[i] += share * c[i]
        moved = max(moved, abs(share * c[i]))
    return moved / (c0 + 1.0)


@jit
def gibbs(  # type: ignore[no-untyped-def]
    indptr, words, counts, mu, alpha, burn_in, n_sweeps, seed, first, h
):
    """Collapsed Gibbs sampling of the topics z of a document's words; h averages over sweeps.

    The topic of a word is drawn from p(z = i | the others) ~ mu[w, i] (alpha_i + n_i),
    and it is these probabilities, not the draws, that are averaged::

        h[d] ~ alpha + mean over kept sweeps of sum of p

    Document d draws from its own stream, started at (seed, first + d).
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
        state = scramble(np.uint64(seed) + GOLDEN * np.uint64(first + d))
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
