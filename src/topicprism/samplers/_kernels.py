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

import numba as nb
import numpy as np

from topicprism.backends.fold_in import _scramble as scramble

jit: Any = nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"})
plain: Any = nb.njit(nogil=True, cache=True)

BLOCK = 8
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
TINY = 1e-200  # a product of probabilities is put into a log before it comes here

# Wichura's rational approximations of the normal quantile, highest power first
CENTRE = (
    (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
     4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
     1.3314166789178437745e2, 3.3871328727963666080e0),
    (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4,
     2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2,
     4.2313330701600911252e1, 1.0),
)  # fmt: skip
SIDES = (
    (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
     1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0,
     4.63033784615654529590e0, 1.42343711074968357734e0),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
     1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e0,
     2.05319162663775882187e0, 1.0),
)  # fmt: skip
ENDS = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
     2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0,
     5.46378491116411436990e0, 6.65790464350110377720e0),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
     7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
     5.99832206555887937690e-1, 1.0),
)  # fmt: skip


@plain
def uniform(state):  # type: ignore[no-untyped-def]
    """The next state of a stream, and a number in (0, 1) that no rounding takes to an end."""
    state += GOLDEN
    return state, (np.float64(scramble(state) >> np.uint64(12)) + 0.5) * 2.0**-52


@plain
def ratio(x, above, below):  # type: ignore[no-untyped-def]
    """``np.polyval(above, x) / np.polyval(below, x)``."""
    a, b = above[0], below[0]
    for i in range(1, len(above)):
        a = a * x + above[i]
        b = b * x + below[i]
    return a / b


@plain
def normal_quantile(u):  # type: ignore[no-untyped-def]
    """``scipy.special.ndtri(u)`` to 1e-15 (Wichura, AS 241): a normal draw from a uniform one."""
    q = u - 0.5
    if abs(q) <= 0.425:
        return q * ratio(0.180625 - q * q, CENTRE[0], CENTRE[1])
    r = np.sqrt(-np.log(min(u, 1.0 - u)))
    x = ratio(r - 1.6, SIDES[0], SIDES[1]) if r <= 5.0 else ratio(r - 5.0, ENDS[0], ENDS[1])
    return x if q > 0 else -x


@plain
def gamma(state, shape):  # type: ignore[no-untyped-def]
    """The logs of two factors of a Gamma(shape, 1) draw (Marsaglia and Tsang), the first as it is.

    A shape a under 1 is drawn as ``gamma(a + 1) * u ** (1 / a)``; what may underflow is given
    back as its log, the second number: the draw is ``first * np.exp(second)``.
    """
    boost = 0.0
    if shape < 1.0:
        state, u = uniform(state)
        boost = np.log(u) / shape
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)
    while True:
        state, u = uniform(state)
        x = normal_quantile(u)
        v = (1.0 + c * x) ** 3
        if v <= 0.0:
            continue
        state, u = uniform(state)
        if u < 1.0 - 0.0331 * x**4 or np.log(u) < 0.5 * x * x + d * (1.0 - v + np.log(v)):
            return state, d * v, boost


@plain
def dirichlet(state, shape, out):  # type: ignore[no-untyped-def]
    """``out[:] = g / g.sum()``, g from Gamma(shape); scaled alike before if all underflow."""
    k = len(out)
    before = state
    total, top = 0.0, -np.inf
    for i in range(k):
        state, g, boost = gamma(state, shape[i])
        out[i] = g * np.exp(boost)
        total += out[i]
        top = max(top, boost)
    if total < 1e-280:
        state, total = before, 0.0
        for i in range(k):
            state, g, boost = gamma(state, shape[i])
            out[i] = g * np.exp(boost - top)
            total += out[i]
    for i in range(k):
        out[i] /= total
    return state


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
        g[:k] = alpha
        residual[:] = target[d]
        for t in range(indptr[d], indptr[d + 1]):
            if z[t] >= 0:
                g[z[t]] += 1.0
                for l in range(len(step)):
                    residual[l] -= eta[z[t], l] / m
        fit, product, taken = 0.0, 1.0, 0
        for t in range(indptr[d], indptr[d + 1]):
            w, old = words[t], z[t]
            if old >= 0:
                g[old] -= 1.0
            total = weigh(mu[w], g, p, sums)
            if total <= 0.0:
                total = weigh(np.ones(K), g, p, sums)
            product *= total
            if product < TINY or product > 1 / TINY:
                fit += np.log(product)
                product = 1.0
            state, u = uniform(state)
            new = pick(p, sums, u * total, k)
            if new != old:
                for l in range(len(step)):
                    step[l] = (eta[new, l] - (eta[old, l] if old >= 0 else 0.0)) / m
                wish = gain(residual, step, precision[d]) if old >= 0 else 0.0
                state, u = uniform(state)
                if wish >= 0.0 or np.log(u) < wish:
                    for l in range(len(step)):
                        residual[l] -= step[l]
                    taken += 1
                else:
                    new = old
            else:
                taken += 1
            g[new] += 1.0
            z[t] = new
            table[w, new] += 1
        for i in range(k):
            shares[d, i] = (g[i] - alpha[i]) / m if m else alpha[i] / alpha0
        fit += np.log(product)
        log_p[d] = fit - m * np.log(max(alpha0 + m - 1, 1e-300))
        accepted[d] = taken / m if m else 1.0


@plain
def topics(tables, beta, key, first, mu):  # type: ignore[no-untyped-def]
    """``mu[:] = rng.standard_gamma(beta + tables.sum(axis=0))``; word v draws from stream v."""
    k = mu.shape[1]
    for v in range(len(mu)):
        state = scramble(key + GOLDEN * np.uint64(first + v))
        for i in range(k):
            n = 0
            for t in range(len(tables)):
                n += tables[t, v, i]
            state, g, boost = gamma(state, beta + n)
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
