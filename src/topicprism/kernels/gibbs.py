"""Numba kernels of the samplers.  Documents and words draw from streams of their own.

Stream d of a sweep starts at ``scramble(key + GOLDEN * d)``, where the key comes
from the seed and the number of the sweep.  Shards of documents fill tables of
their own, which are added as whole numbers: the number of threads changes no bit.

Topics are weighed in blocks of eight, so that the products run on vector units
and a draw looks at few of them.  ``mu`` therefore comes with its columns padded
by zeros to a multiple of eight.  ``reassoc`` lets the sums of a block be taken
in any order, the same in every run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicprism.kernels.compiling import compiled
from topicprism.kernels.compiling import jit as plain
from topicprism.kernels.random import GOLDEN, dirichlet, gamma, scramble, uniform

jit: Any = compiled(fastmath={"reassoc", "contract", "nsz"})

BLOCK = 8  # topics weighed at once: two or four vector registers of float64
MIN_COUNT_SHARE = 0.3  # left of a word's count that steering shifts down: no word is lost at once
MIN_PRODUCT = 1e-200  # of probabilities: its log is taken before the product is too small a number


@jit
def weigh(row, g, p, sums):  # type: ignore[no-untyped-def]
    """``p[:] = row * g; sums[:] = p.reshape(-1, BLOCK).sum(axis=1)``; returns ``p.sum()``."""
    total = 0.0
    for b in range(len(sums)):
        s = 0.0
        for i in range(b * BLOCK, b * BLOCK + BLOCK):
            p[i] = row[i] * g[i]
            s += p[i]
        sums[b] = s
        total += s
    return total


@plain
def pick(p, sums, x, k):  # type: ignore[no-untyped-def]
    """``min(np.searchsorted(np.cumsum(p), x, side="right"), k - 1)``, block by block."""
    b, last = 0, len(sums) - 1
    while b < last and sums[b] <= x:
        x -= sums[b]
        b += 1
    i = b * BLOCK
    end = i + BLOCK - 1
    while i < end and p[i] <= x:
        x -= p[i]
        i += 1
    return min(i, k - 1)


@plain
def gain(residual, step, precision):  # type: ignore[no-untyped-def]
    """What a step of the fitted response adds to its log-likelihood::

    (precision * (residual**2 - (residual - step)**2) / 2).sum()
    """
    total = 0.0
    for l in range(len(step)):
        total += precision[l] * step[l] * (residual[l] - 0.5 * step[l])
    return total


@plain
def mixture(  # type: ignore[no-untyped-def]
    indptr, words, counts, mu, alpha, eta, target, precision, h, key, first,
    table, new_h, log_p, accepted,
):  # fmt: skip
    """One sweep over documents whose response depends on h.  For document d::

        p = mu[w] * h[d]                     # each word w of it
        n += rng.multinomial(counts, p / p.sum())
        log_p[d] = counts @ np.log(p.sum())
        new = rng.dirichlet(alpha + n)       # kept if the response likes it:
        accepted[d] = np.log(u) < gain(target - h @ eta, new @ eta - h @ eta, precision)

    ``table`` counts the topics of each word, ``new_h`` is new or the old h.
    """
    k, K = len(alpha), mu.shape[1]
    p, sums, g = np.empty(K), np.empty(K // BLOCK), np.zeros(K)
    shape, residual, step = np.empty(k), np.empty(eta.shape[1]), np.empty(eta.shape[1])
    for d in range(len(h)):
        state = scramble(key + GOLDEN * np.uint64(first + d))
        g[:k] = h[d]
        shape[:] = alpha
        fit = 0.0
        for j in range(indptr[d], indptr[d + 1]):
            w = words[j]
            total = weigh(mu[w], g, p, sums)
            if total <= 0.0:  # no topic at hand has the word: it tells nothing
                total = weigh(np.ones(K), g, p, sums)
            else:
                fit += counts[j] * np.log(total)
            for _ in range(counts[j]):
                state, u = uniform(state)
                i = pick(p, sums, u * total, k)
                shape[i] += 1.0
                table[w, i] += 1
        log_p[d] = fit
        new = new_h[d]
        state = dirichlet(state, shape, new)
        residual[:] = target[d]
        step[:] = 0.0
        for i in range(k):
            for l in range(len(step)):
                residual[l] -= h[d, i] * eta[i, l]
                step[l] += (new[i] - h[d, i]) * eta[i, l]
        state, u = uniform(state)
        accepted[d] = np.log(u) < gain(residual, step, precision[d])
        if not accepted[d]:
            new[:] = h[d]


@plain
def tally(z, alpha, eta, target, g, residual):  # type: ignore[no-untyped-def]
    """A document's topics counted, and how far they are from the target::

    n = np.bincount(z[z >= 0], minlength=k)
    g[:k] = alpha + n;  residual[:] = target - n @ eta / len(z)
    """
    g[: len(alpha)] = alpha
    residual[:] = target
    for t in range(len(z)):
        if z[t] >= 0:
            g[z[t]] += 1.0
            for l in range(len(residual)):
                residual[l] -= eta[z[t], l] / len(z)


@plain
def assignments(  # type: ignore[no-untyped-def]
    indptr, words, mu, alpha, eta, target, precision, z, key, first,
    table, shares, log_p, accepted,
):  # fmt: skip
    """One sweep over documents whose response depends on the mean assignment, h integrated out.

    For each word of document d, n being the topics of the others::

        p = mu[w] * (alpha + n)
        new = rng.choice(k, p=p / p.sum())   # kept if the response likes it:
        np.log(u) < gain(target - s, (eta[new] - eta[old]) / m, precision)

    where s = n @ eta / m before the step.  ``shares[d] = n / m`` at the end, the prior's for a
    document without words; ``log_p[d]`` sums ``np.log(p.sum() / (alpha0 + m - 1))`` and
    ``accepted[d]`` is the share of words that took the new topic.  A word whose z is -1 has no
    topic yet and takes whatever is drawn.
    """
    k, K = len(alpha), mu.shape[1]
    p, sums, g = np.empty(K), np.empty(K // BLOCK), np.zeros(K)
    residual, step = np.empty(eta.shape[1]), np.empty(eta.shape[1])
    alpha0 = alpha.sum()
    for d in range(len(shares)):
        state = scramble(key + GOLDEN * np.uint64(first + d))
        m = indptr[d + 1] - indptr[d]
        tally(z[indptr[d] : indptr[d + 1]], alpha, eta, target[d], g, residual)
        fit, product, taken = 0.0, 1.0, 0
        for t in range(indptr[d], indptr[d + 1]):
            w, old = words[t], z[t]
            if old >= 0:
                g[old] -= 1.0
            total = weigh(mu[w], g, p, sums)
            if total <= 0.0:
                total = weigh(np.ones(K), g, p, sums)
            product *= total
            if product < MIN_PRODUCT or product > 1 / MIN_PRODUCT:
                fit += np.log(product)
                product = 1.0
            state, u = uniform(state)
            new = drawn = pick(p, sums, u * total, k)
            if new != old:
                for l in range(len(step)):
                    step[l] = (eta[new, l] - (eta[old, l] if old >= 0 else 0.0)) / m
                wish = gain(residual, step, precision[d]) if old >= 0 else 0.0
                state, u = uniform(state)
                if wish < 0.0 and np.log(u) >= wish:
                    new = old
                else:
                    for l in range(len(step)):
                        residual[l] -= step[l]
            taken += new == drawn
            g[new] += 1.0
            z[t] = new
            table[w, new] += 1
        for i in range(k):
            shares[d, i] = (g[i] - alpha[i]) / m if m else alpha[i] / alpha0
        log_p[d] = fit + np.log(product) - m * np.log(max(alpha0 + m - 1, 1e-300))
        accepted[d] = taken / m if m else 1.0


@plain
def topics(tables, beta, shift, key, first, mu):  # type: ignore[no-untyped-def]
    """``mu[:] = rng.standard_gamma(beta + n + shift)``, n summed over tables; word v has stream v.

    A word whose count is shifted down keeps MIN_COUNT_SHARE of its ``beta + n`` all the same.
    """
    k = mu.shape[1]
    for v in range(len(mu)):
        state = scramble(key + GOLDEN * np.uint64(first + v))
        for i in range(k):
            n = 0
            for t in range(len(tables)):
                n += tables[t, v, i]
            state, g, boost = gamma(
                state, max(beta + n + shift[v, i], MIN_COUNT_SHARE * (beta + n))
            )
            mu[v, i] = g * np.exp(boost)


@plain
def log_proportions(shape, key, first, log_h):  # type: ignore[no-untyped-def]
    """``log_h[d] = np.log(rng.dirichlet(shape[d]))``, without underflow."""
    k = shape.shape[1]
    for d in range(len(shape)):
        state = scramble(key + GOLDEN * np.uint64(first + d))
        top = -np.inf
        for i in range(k):
            state, g, boost = gamma(state, shape[d, i])
            log_h[d, i] = np.log(g) + boost
            top = max(top, log_h[d, i])
        total = 0.0
        for i in range(k):
            total += np.exp(log_h[d, i] - top)
        for i in range(k):
            log_h[d, i] -= top + np.log(total)
