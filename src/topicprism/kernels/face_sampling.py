"""Numba kernels for the posterior mean of h under a sparse prior: importance sampling by faces.

What :mod:`topicprism.kernels.faces` fits to the faces is drawn from, all of it together::

    weight(x) = p(x) / sum over S of share_S q_S(x)        E[h] = sum(weight h) / sum(weight)

The points are multiples of irrational numbers modulo 1, the same for every document: nothing
is random, and the answer depends on the document alone.
"""

from __future__ import annotations

import numpy as np

from topicprism.kernels.compiling import inlined, jit
from topicprism.kernels.faces import FACES, fit, pairs_of, proportions, solve_back, total_of


@inlined
def apply(length, alpha):  # type: ignore[no-untyped-def]
    """Whether faces are few and the prior is sparse; of one word the posterior is known anyway."""
    few = 1 < len(alpha) <= FACES.max_topics and 1.0 < length <= FACES.max_words
    return few and alpha.sum() <= FACES.max_alpha0


@jit
def check(words, n, mu, alpha, max_sweeps, tolerance, converged, g):  # type: ignore[no-untyped-def]
    """Whether g is right: as it is where the integrals agree with it, or as they have it.

    Topics are put in the order of g, so that their names do not matter to the answer.
    """
    order = np.argsort(-g, kind="mergesort")
    own, ordered, found = np.empty((len(words), len(g))), np.empty(len(g)), np.empty(len(g))
    known = g[order] / g.sum() if converged else np.full(len(g), np.nan)
    for i in range(len(g)):
        for t in range(len(words)):
            own[t, i] = mu[words[t], order[i]]
    limits = max_sweeps, tolerance
    error = integrate(np.arange(len(words)), n, own, alpha[order], limits, known, ordered)
    found[order] = ordered
    if not np.isfinite(error):
        return converged
    apart = np.abs(g / g.sum() - found / found.sum()).sum()
    if not converged or not apart < FACES.max_apart or error >= FACES.max_error:
        g[:] = found
    return error < FACES.max_error


@jit
def integrate(words, n, mu, alpha, limits, known, g):  # type: ignore[no-untyped-def]
    """A Dirichlet(g) with the posterior's mean and total second moment.

    ``known`` is what the mean may be, or NaN: sampling ends as soon as that is confirmed.
    Returns the standard error of the mean, summed over topics; not finite if there is no answer.
    """
    k, (max_sweeps, tolerance) = len(alpha), limits
    q, log_z = fit(words, n, mu, alpha)
    best = log_z.max()
    if best == -np.inf:
        return np.inf
    kept = np.flatnonzero(log_z > best - FACES.max_log_ratio)
    q = (q[0][kept], q[1][kept], q[2][kept], q[3][kept])
    share = np.exp(log_z[kept] - best)
    each = np.ceil(FACES.points * (0.5 / len(kept) + 0.5 * share / share.sum()))
    n_batches = max(FACES.min_batches, min(max_sweeps // FACES.sweeps_per_batch, FACES.max_batches))
    sums, mean = np.zeros((n_batches, k + 2)), np.empty(k)
    error = _sample(words, n, mu, alpha, q, each, best, tolerance, known, sums, mean)
    pairs = sums[:, k + 1].sum() / sums[:, k].sum()
    g[:] = mean * total_of(pairs, mean, alpha.sum() + n[: len(words)].sum())
    return error


@jit
def _sample(words, n, mu, alpha, q, each, log, tolerance, known, sums, mean):  # type: ignore[no-untyped-def]
    """E[h] in ``mean``; returns its standard error, summed over topics.

    A row of ``sums`` is a batch: the sums of weight * h, weights and weight * pairs of h.  Batches
    go on until the error, as found from their differences, is small enough.
    """
    k, done, error = len(alpha), 0, np.inf
    enough, all_topics = FACES.errors_per_tolerance * tolerance, np.ones(k, np.bool_)
    steps, x, h = _steps(k), np.empty(k), np.empty(k)
    while done < len(sums) and error > enough:
        for f in range(len(each)):
            for point in range(int(each[f])):
                _draw(f, q, alpha, done * each[f] + point + 1.0, steps, x)
                size = proportions(all_topics, x, h)
                value = _log_likelihood(words, n, mu, h) - log - _log_mixture(q, alpha, each, x)
                for i in range(k):
                    value += alpha[i] * (x[i] - size)
                weight = np.exp(value)
                for i in range(k):
                    sums[done, i] += weight * h[i]
                sums[done, k] += weight
                sums[done, k + 1] += weight * pairs_of(h)[1]
        done += 1
        if done >= FACES.min_batches:
            error = _mean_and_error(sums[:done], mean)
            apart = np.abs(mean - known).sum()
            if apart + 2 * error < FACES.max_apart and error < FACES.max_error:  # it is confirmed
                break
    return error


@inlined
def _log_likelihood(words, n, mu, h):  # type: ignore[no-untyped-def]
    """``n @ np.log(mu[words] @ h)`` without words that no topic has."""
    log = 0.0
    for t in range(len(words)):
        norm = 0.0
        for i in range(len(h)):
            norm += mu[words[t], i] * h[i]
        if norm > 0.0:
            log += n[t] * np.log(norm)
    return log


@jit
def _steps(k):  # type: ignore[no-untyped-def]
    """Square roots of the first primes: multiples of these, modulo 1, fill a cube evenly."""
    steps, prime = np.empty(k), 2
    for i in range(k):
        steps[i] = np.sqrt(prime)
        prime += 1
        while not _is_prime(prime):
            prime += 1
    return steps


@inlined
def _is_prime(n):  # type: ignore[no-untyped-def]
    divisor = 2
    while n % divisor:
        divisor += 1
    return divisor == n


@jit
def _draw(f, q, alpha, point, steps, x):  # type: ignore[no-untyped-def]
    """Log ratios x of the face's distribution, at one point of the unit cube."""
    inside, ref, centre, factor = q
    at = 0
    for i in range(len(x)):
        x[i] = 0.0
        if i != ref[f]:
            u = min(max((0.5 + point * steps[at]) % 1.0, 1e-12), 1.0 - 1e-12)
            at += 1
            if inside[f, i]:
                x[i] = FACES.scale * np.log(u / (1.0 - u))
            else:
                fall = -np.log(u) / alpha[i]
                x[i] = -fall - np.log(-np.expm1(-fall))
    solve_back(factor[f], x)
    for i in range(len(x)):
        x[i] += centre[f, i]


@jit
def _log_mixture(q, alpha, each, x):  # type: ignore[no-untyped-def]
    """The log of ``sum of each * q_S(x)`` over faces, with ``each`` divided by its sum."""
    inside, ref, centre, factor = q
    k, top = len(alpha), -np.inf
    logs = np.empty(len(each))
    for f in range(len(each)):
        log, r = np.log(each[f]), ref[f]
        for i in range(k):
            if i == r:
                continue
            if inside[f, i]:
                z = 0.0
                for l in range(i, k):
                    if inside[f, l] and l != r:
                        z += factor[f, l, i] * (x[l] - x[r] - centre[f, l])
                z = abs(z) / FACES.scale
                log += np.log(factor[f, i, i] / FACES.scale) - z - 2.0 * np.log1p(np.exp(-z))
            else:
                y = x[i] - x[r] - centre[f, i]
                log += np.log(alpha[i]) - (y if y > 0.0 else -alpha[i] * y)
                log -= (alpha[i] + 1.0) * np.log1p(np.exp(-abs(y)))
        logs[f] = log
        top = max(top, log)
    return top + np.log(np.exp(logs - top).sum() / each.sum())


@jit
def _mean_and_error(sums, mean):  # type: ignore[no-untyped-def]
    """The ratio of sums over batches, and the standard errors of its entries, summed."""
    n, k = len(sums), len(mean)
    weight, error = sums[:, k].sum(), 0.0
    for i in range(k):
        mean[i] = sums[:, i].sum() / weight
        square = 0.0
        for b in range(n):
            square += (sums[b, i] - mean[i] * sums[b, k]) ** 2
        error += np.sqrt(square * n / (n - 1.0)) / weight
    return error
