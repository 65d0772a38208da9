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
LONG = 1000.0  # words; where a document has more, the first steps from the prior overshoot
FIRST = 50  # sweeps before another way is tried
CLIMBS = 30  # steps of expectation-maximisation to that start
STEADY = 0.05  # of the variance: a sweep may change it by that much at the end
BLOCKED = 0.3  # of a document's words: so many may have no step at the end (docs/inference.md)
SPARSE = 2.0  # a sum of alpha: below it filtering is nearer than another start (docs/inference.md)
MOST = 2.0**53  # copies of one word; documents with more are scaled down


@jit
def propagate(  # type: ignore[no-untyped-def]
    indptr, words, counts, mu, alpha, max_sweeps, tolerance, must_settle, h, totals, settled
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

    Where an entry of c is negative there is no such step: a document with many such words has
    not settled, however little the others move.  If it ``must_settle``, it is tried in other
    ways.  A document of more than LONG words starts where it is likeliest.
    """
    k, longest = len(alpha), 0
    for d in range(len(h)):
        longest = max(longest, indptr[d + 1] - indptr[d])
    sites, n = np.empty((longest, k)), np.empty(longest)
    g, c, r, last = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    for d in range(len(h)):
        w, m = words[indptr[d] : indptr[d + 1]], indptr[d + 1] - indptr[d]
        length = _copies(counts[indptr[d] : indptr[d + 1]], n)
        s = sites[:m]
        if length > LONG:
            _climb(w, n, mu, alpha, s, g, r)
            settled[d] = _settle(w, n, mu, length, max_sweeps, tolerance, s, g, c, r, last)
        else:
            s[:] = 0.0
            g[:] = alpha
            sweeps = min(max_sweeps, FIRST)
            settled[d] = _sweep_all(w, n, mu, length, sweeps, tolerance, s, g, c, r)
            if must_settle and not settled[d]:
                _try_again(w, n, mu, alpha, length, max_sweeps, tolerance, s, g, c, r, last)
                settled[d] = True
        totals[d] = g.sum()
        for i in range(k):
            h[d, i] = g[i] / totals[d]


@inlined
def _copies(counts, n):  # type: ignore[no-untyped-def]
    """Counts as numbers that can be squared; returns their sum."""
    most, length = 1.0, 0.0
    for j in range(len(counts)):
        most = max(most, counts[j] / MOST)
    for j in range(len(counts)):
        n[j] = counts[j] / most
        length += n[j]
    return length


@jit
def _sweep_all(words, n, mu, length, max_sweeps, tolerance, sites, g, c, r):  # type: ignore[no-untyped-def]
    """Visit all words until none would move g by ``tolerance`` of its sum: could most be made?"""
    for sweep in range(max_sweeps):
        share = DAMPING if sweep < PATIENCE else DAMPING * PATIENCE / sweep
        moved, blocked = 0.0, 0.0
        for j in range(len(words)):
            far = _visit(mu[words[j]], n[j], share, sites[j], g, c, r)
            if far == np.inf:
                blocked += n[j]
            else:
                moved = max(moved, far)
        few = blocked <= BLOCKED * length
        if moved < tolerance or (not few and sweep >= 2 * PATIENCE):
            return few
    return False


@jit
def _try_again(  # type: ignore[no-untyped-def]
    words, n, mu, alpha, length, max_sweeps, tolerance, sites, g, c, r, last
):
    """Sweeps from another start, unless proportions are sparse; or else one visit of each word."""
    if alpha.sum() > SPARSE:
        _climb(words, n, mu, alpha, sites, g, r)
        if _settle(words, n, mu, length, max_sweeps, tolerance, sites, g, c, r, last):
            return
    _filter(words, n, mu, alpha, g, r)


@jit
def _climb(words, n, mu, alpha, sites, g, r):  # type: ignore[no-untyped-def]
    """Sites and g by expectation-maximisation: site = r = mu[w] * g / sum, as of a sure document.

    What it climbs, ``sum of n log(mu[w] . h) + alpha . log h``, has one summit.
    """
    g[:] = alpha
    for _ in range(CLIMBS):
        r[:] = g
        g[:] = alpha
        for j in range(len(words)):
            mu_w, norm = mu[words[j]], 0.0
            for i in range(len(g)):
                sites[j, i] = mu_w[i] * r[i]
                norm += sites[j, i]
            scale = 1.0 / norm if norm > 0.0 else 0.0
            for i in range(len(g)):
                sites[j, i] *= scale
                g[i] += n[j] * sites[j, i]


@jit
def _settle(  # type: ignore[no-untyped-def]
    words, n, mu, length, max_sweeps, tolerance, sites, g, c, r, last
):
    """Visit all words until mean and variance of the Dirichlet(g) stand still: do they?

    Long documents come nearer by a little in each sweep: what all sweeps to come would add is
    reckoned by the ratio of the last two.
    """
    before, spread, share = np.inf, _spread(g), DAMPING
    for sweep in range(max_sweeps):
        total, blocked, moved = g.sum(), 0.0, 0.0
        for i in range(len(g)):
            last[i] = g[i] / total
        for j in range(len(words)):
            if _visit(mu[words[j]], n[j], share, sites[j], g, c, r) == np.inf:
                blocked += n[j]
        total, now = g.sum(), _spread(g)
        for i in range(len(g)):
            moved = max(moved, abs(g[i] / total - last[i]))
        whole = DAMPING / share
        moved *= whole
        ahead = moved * before / (before - moved) if moved < before < np.inf else np.inf
        near = 40.0 * moved < tolerance or (2.0 * moved < tolerance and ahead < 5.0 * tolerance)
        calm = whole * abs(now - spread) <= STEADY * now
        if near and calm and blocked <= BLOCKED * length:
            return True
        if moved >= before and sweep >= PATIENCE:
            share *= DAMPING
        before, spread = moved, now
    return False


@inlined
def _spread(g):  # type: ignore[no-untyped-def]
    """Half the summed variances of the entries of a Dirichlet(g)."""
    total, pairs = 0.0, 0.0
    for i in range(len(g)):
        pairs += g[i] * total
        total += g[i]
    return pairs / (total * total * (total + 1.0))


@jit
def _filter(words, n, mu, alpha, g, r):  # type: ignore[no-untyped-def]
    """Assumed-density filtering: a Dirichlet(g) for the words so far, one copy of each a round."""
    g[:] = alpha
    copy, left = 0.0, True
    while left:
        left = False
        for j in range(len(words)):
            part = min(n[j] - copy, 1.0)
            if part <= 0.0:
                continue
            left = True
            mu_w, norm = mu[words[j]], 0.0
            for i in range(len(g)):
                r[i] = mu_w[i] * g[i]
                norm += r[i]
            if norm > 0.0:
                less = _loss(norm, g, r)
                for i in range(len(g)):
                    g[i] += part * (r[i] - less * (g[i] + r[i]))
        copy += 1.0


@jit
def assign(indptr, words, counts, mu, alpha, n_sweeps, expected, shares):  # type: ignore[no-untyped-def]
    """Expected counts of words by topic, and of topics by document, added up.

    Variational Bayes, each document by itself, from c = alpha, ``n_sweeps`` times::

        r[w] = mu[w] * c / sum(mu[w] * c)          # topics of each word
        z    = sum of counts[w] * r[w]             # and of the document
        c    = exp(digamma(alpha + z))             # next to nothing for a topic of few words

    Then ``expected[w] += counts[w] * r[w]`` and ``shares += (alpha + z) / sum(alpha + z)``.
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
                    s = expected[words[j]]
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
def _loss(norm, c, r):  # type: ignore[no-untyped-def]
    """Takes r = mu[w] * c to r / norm; returns what share of c + r is lost to spread.

    The new site is r - share (c + r).  With u = c + r all terms of the share are positive, so
    that nothing cancels::

        share = 1 - sum(mean - sq) / sum(sq - mean^2) / (c0 + 1)
              = (c0 + 2) Q / (P + (c0 + 1) Q)     P, Q: sums of u_i u_j, r_i r_j over pairs i < j
    """
    scale, u0, r0, P, Q = 1.0 / norm, 0.0, 0.0, 0.0, 0.0
    for i in range(len(c)):
        r[i] *= scale
        u = c[i] + r[i]
        P += u * u0
        Q += r[i] * r0
        u0 += u
        r0 += r[i]
    return (u0 + 1.0) * Q / (P + u0 * Q) if Q > 0.0 else 0.0


@inlined
def _visit(mu_w, n, share, site, g, c, r):  # type: ignore[no-untyped-def]
    """One update of one word's site; returns how far g would go by it, relative to its sum.

    Infinitely far if it cannot be made: without the word no distribution is left.
    """
    k, c0, norm, least = len(g), 1.0, 0.0, 0.0
    for i in range(k):
        c[i] = g[i] - site[i]
        r[i] = mu_w[i] * c[i]
        c0 += c[i]
        norm += r[i]
        least = min(least, c[i])
    if n <= 0.0:
        return 0.0
    if least < 0.0:
        return np.inf
    if norm <= 0.0:
        return 0.0  # no topic has it
    less, step, far = _loss(norm, c, r), share * n, 0.0
    for i in range(k):
        c[i] = r[i] - less * (c[i] + r[i]) - site[i]
        far = max(far, abs(c[i]))
        if step * c[i] < -0.8 * g[i]:
            step = -0.8 * g[i] / c[i]
    part = step / n
    for i in range(k):
        site[i] += part * c[i]
        g[i] += step * c[i]
    return DAMPING * n * far / c0


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
