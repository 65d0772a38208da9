"""Numba kernels for expectation propagation: proportions of documents, the topics held fixed.

Every document is treated by itself, from scratch and in the order of its
entries: the answer depends neither on its neighbours nor on the threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topicprism.kernels import face_sampling, faces, many
from topicprism.kernels.compiling import inlined, jit


class PropagationSettings(NamedTuple):  # numba reads the fields of a named tuple
    """Of expectation propagation and of the filter that stands in for it."""

    damping: float = 0.7  # of a full step; undamped, some documents go round in circles
    full_step_sweeps: int = 20  # sweeps before steps are shortened further
    long_document_words: float = 1000.0  # in longer ones first steps from the prior overshoot
    first_sweeps: int = 50  # sweeps of a shorter one, which takes about ten; then it is filtered
    em_steps: int = 30  # steps of expectation-maximisation to the start of a long one
    variance_tolerance: float = 0.05  # of the variance: a sweep may change it so much at the end
    # A long document stands still if its mean moves by less than tolerance / still_factor; or by
    # less than tolerance / slow_factor, and by ahead_factor * tolerance in all sweeps to come
    still_factor: float = 40.0
    slow_factor: float = 2.0
    ahead_factor: float = 5.0
    # The next two: experiments/inference.py --constants
    max_blocked_share: float = 0.3  # of words may have no step at the end; 0.1 or 0.5 do as well
    min_known_words: float = 2.0  # of known topic: with less it is filtered; more costs time
    min_known_words_sparse: float = 8.0  # where alpha is sparse (tests/test_inference.py)
    max_sparse_alpha0: float = 1.0 + 1e-9  # its sum: at most 1, however that was added up
    negligible_log_ratio: float = 12.0  # parts exp(12) times less likely move h by less than 1e-5
    max_copies: float = 2.0**53  # of one word; documents with more are scaled down


PROPAGATION = PropagationSettings()


@jit
def propagate(  # type: ignore[no-untyped-def]
    indptr, words, counts, mu, alpha, max_sweeps, tolerance, must_converge, h, totals, converged
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
    not converged, however little the others move.  If it ``must_converge``, it is filtered by
    parts of its prior, and so is one that has converged but whose words determine next to nothing,
    where sweeps lead astray.  A long document starts where it is likeliest, and may not converge.
    Under a sparse prior of few topics the answer is checked by importance sampling.
    """
    k, longest = len(alpha), 0
    sparse = alpha.sum() <= PROPAGATION.max_sparse_alpha0
    sure = PROPAGATION.min_known_words_sparse if sparse else PROPAGATION.min_known_words
    sure += alpha.sum()
    for d in range(len(h)):
        longest = max(longest, indptr[d + 1] - indptr[d])
    sites, n = np.empty((longest, k)), np.empty(longest)
    g, c, r, last = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    for d in range(len(h)):
        w, m = words[indptr[d] : indptr[d + 1]], indptr[d + 1] - indptr[d]
        length = _copies(counts[indptr[d] : indptr[d + 1]], n)
        s = sites[:m]
        if length > PROPAGATION.long_document_words:
            _climb(w, n, mu, alpha, s, g, r)
            converged[d] = _settle(w, n, mu, length, max_sweeps, tolerance, s, g, c, r, last)
        else:
            s[:] = 0.0
            g[:] = alpha
            sweeps = min(max_sweeps, PROPAGATION.first_sweeps)
            converged[d] = _sweep_all(w, n, mu, length, sweeps, tolerance, s, g, c, r)
            if must_converge and k > 1 and (not converged[d] or g.sum() < sure):
                _filter_parts(w, n, mu, alpha, g, r, last)
                converged[d] = True
        if must_converge and face_sampling.apply(length, alpha):
            converged[d] = face_sampling.check(
                w, n, mu, alpha, max_sweeps, tolerance, converged[d], g
            )
        totals[d] = g.sum()
        for i in range(k):
            h[d, i] = g[i] / totals[d]


@inlined
def _copies(counts, n):  # type: ignore[no-untyped-def]
    """Counts as numbers that can be squared; returns their sum."""
    most, length = 1.0, 0.0
    for j in range(len(counts)):
        most = max(most, counts[j] / PROPAGATION.max_copies)
    for j in range(len(counts)):
        n[j] = counts[j] / most
        length += n[j]
    return length


@jit
def _sweep_all(words, n, mu, length, max_sweeps, tolerance, sites, g, c, r):  # type: ignore[no-untyped-def]
    """Visit all words until none would move g by ``tolerance`` of its sum: could most be made?"""
    bits = many.bits_of(c, r)
    for sweep in range(max_sweeps):
        share = PROPAGATION.damping
        if sweep >= PROPAGATION.full_step_sweeps:
            share = share * PROPAGATION.full_step_sweeps / sweep
        moved, blocked = 0.0, 0.0
        for j in range(len(words)):
            if len(g) >= many.MIN_TOPICS:
                far = many.visit(mu[words[j]], n[j], share, sites[j], g, c, r, bits)
                far *= PROPAGATION.damping
            else:
                far = _visit(mu[words[j]], n[j], share, sites[j], g, c, r)
            if far == np.inf:
                blocked += n[j]
            else:
                moved = max(moved, far)
        few = blocked <= PROPAGATION.max_blocked_share * length
        if moved < tolerance or (not few and sweep >= 2 * PROPAGATION.full_step_sweeps):
            return few
    return False


@jit
def _climb(words, n, mu, alpha, sites, g, r):  # type: ignore[no-untyped-def]
    """Sites and g by expectation-maximisation: site = r = mu[w] * g / sum, as of a sure document.

    What it climbs, ``sum of n log(mu[w] . h) + alpha . log h``, has one summit.
    """
    g[:] = alpha
    for _ in range(PROPAGATION.em_steps):
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
    before, variance, share = np.inf, _half_variance(g), PROPAGATION.damping
    for sweep in range(max_sweeps):
        total, blocked, moved = g.sum(), 0.0, 0.0
        for i in range(len(g)):
            last[i] = g[i] / total
        for j in range(len(words)):
            if _visit(mu[words[j]], n[j], share, sites[j], g, c, r) == np.inf:
                blocked += n[j]
        total, now = g.sum(), _half_variance(g)
        for i in range(len(g)):
            moved = max(moved, abs(g[i] / total - last[i]))
        whole = PROPAGATION.damping / share
        moved *= whole
        ahead = moved * before / (before - moved) if moved < before < np.inf else np.inf
        slow = PROPAGATION.slow_factor * moved < tolerance
        near = slow and ahead < PROPAGATION.ahead_factor * tolerance
        near |= PROPAGATION.still_factor * moved < tolerance
        calm = whole * abs(now - variance) <= PROPAGATION.variance_tolerance * now
        if near and calm and blocked <= PROPAGATION.max_blocked_share * length:
            return True
        if moved >= before and sweep >= PROPAGATION.full_step_sweeps:
            share *= PROPAGATION.damping
        before, variance = moved, now
    return False


@inlined
def _half_variance(g):  # type: ignore[no-untyped-def]
    """Half the summed variances of the entries of a Dirichlet(g)."""
    total, pairs = faces.pairs_of(g)
    return pairs / (total * total * (total + 1.0))


@jit
def _filter_parts(words, n, mu, alpha, g, r, mean):  # type: ignore[no-untyped-def]
    """A Dirichlet(g) with the mean and total second moment of a mixture of k filtered ones.

    A sparse prior has as many modes as topics.  One by one they are easy to follow, since ::

        Dirichlet(alpha) = sum_i alpha_i / alpha_0 Dirichlet(alpha + e_i)

    holds exactly; part i then weighs alpha_i * p(words | part i).  Costs k passes over the words,
    most of them short where the likely parts come first: of many topics, those that g has.
    """
    k, best, weights, pairs = len(alpha), -np.inf, 0.0, 0.0
    mean[:] = 0.0
    for part in np.argsort(-g) if k >= many.MIN_TOPICS else np.arange(k):
        g[:] = alpha
        g[part] += 1.0
        log = np.log(alpha[part])
        log += _filter(words, n, mu, best - log - PROPAGATION.negligible_log_ratio, g, r)
        if log == -np.inf:
            continue
        if log > best:
            scale, best = np.exp(best - log), log
            mean *= scale
            weights *= scale
            pairs *= scale
        weight = np.exp(log - best)
        total, own = faces.pairs_of(g)
        weights += weight
        pairs += weight * own / (total * (total + 1.0))
        for i in range(k):
            mean[i] += weight * g[i] / total
    mean /= weights
    pairs /= weights  # E[sum of h_i h_j]; those of the mean are more by half its variance
    g[:] = mean * faces.total_of(pairs, mean, alpha.sum() + n[: len(words)].sum())


@jit
def _filter(words, n, mu, least, g, r):  # type: ignore[no-untyped-def]
    """Assumed-density filtering: a Dirichlet(g) for the words so far, one copy of each a round.

    Returns log p(words) as it finds it; it falls from word to word, and below ``least`` is -inf.
    """
    copy, left, log = 0.0, True, 0.0
    while left:
        left = False
        for j in range(len(words)):
            part = min(n[j] - copy, 1.0)
            if part <= 0.0:
                continue
            left = True
            if len(g) >= many.MIN_TOPICS:
                seen = many.add_word(mu[words[j]], part, g, r)
                log += part * np.log(seen) if seen > 0.0 else 0.0
                if log < least:
                    return -np.inf
                continue
            mu_w, norm, total = mu[words[j]], 0.0, 0.0
            for i in range(len(g)):
                r[i] = mu_w[i] * g[i]
                norm += r[i]
                total += g[i]
            if norm > 0.0:
                log += part * np.log(norm / total)
                if log < least:
                    return -np.inf
                less = _loss(norm, g, r)
                for i in range(len(g)):
                    g[i] += part * (r[i] - less * (g[i] + r[i]))
        copy += 1.0
    return log


@inlined
def _loss(norm, c, r):  # type: ignore[no-untyped-def]
    """Takes r = mu[w] * c to r / norm; returns what share of c + r is lost to variance.

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
        if step * c[i] < -many.MAX_DECREASE * g[i]:
            step = -many.MAX_DECREASE * g[i] / c[i]
    part = step / n
    for i in range(k):
        site[i] += part * c[i]
        g[i] += step * c[i]
    return PROPAGATION.damping * n * far / c0
