"""Numba kernels for a sparse prior: a distribution on each face of the simplex, to draw from.

With a small alpha the topics of a document are few, and words of overlapping topics leave open
which: the posterior is a mixture over sets S of topics, the faces of the simplex.  In log ratios
``x_i = log(h_i / h_r)`` to the largest topic r of the face its density is ::

    p(x) = prod_i h_i^alpha_i  prod_w (mu[w] . h)^n_w

and near the face about as ::

    q_S(x) = |L| prod of logistic densities of L^T (x_S - centre_S)    # topics of the face but r
             prod_i alpha_i e^-y (1 + e^-y)^(-alpha_i - 1)             # others: y = x_i - centre_i

For a topic beside the face it falls off as h_i^alpha_i, as the posterior does, so that p / q_S
stays bounded there; its centre is where the likelihood begins to fall.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topicprism.kernels.compiling import inlined, jit


class FaceSettings(NamedTuple):  # numba reads the fields of a named tuple, not of a dataclass
    """Of the integrals over faces; ``experiments/overlap.py`` prints the errors they lead to."""

    max_topics: int = 4  # 15 faces, 1 ms a document; with 5 it is 31 and up to 5 ms
    max_alpha0: float = 2.0  # a prior with a larger sum is not sparse; text is given 3 and more
    max_words: float = 1e9  # with more, logs of likelihoods lose the digits that count
    max_log_ratio: float = 8.0  # a face exp(8) times less likely than the best is left out
    scoring_steps: int = 40  # to the mode on a face, which takes about eight
    scoring_tolerance: float = 1e-3  # of log p: proposals need not be exact
    max_move: float = 3.0  # of a log ratio in one step: further the curvature is another
    scale: float = 0.66  # of the logistic: 1.2 times the one of variance 1, for heavier tails
    points: int = 64  # of a batch, at least
    min_batches: int = 6  # before their differences are believed
    sweeps_per_batch: int = 5  # of ``EPInference.max_sweeps``: 100 batches, unless it says other
    max_batches: int = 10_000  # whatever it says: their sums are kept
    errors_per_tolerance: float = 5.0  # the standard error that is enough, over ``tolerance``: 0.01
    max_error: float = 0.03  # a larger standard error is reported
    max_apart: float = 0.04  # L1 to the answer of sweeps, which is kept: 0.05, less that error
    min_variance: float = 1e-14  # of its largest: what rounding leaves


FACES = FaceSettings()


@jit
def fit(words, n, mu, alpha):  # type: ignore[no-untyped-def]
    """For each face: which topics it has, the largest of these, centre, factor; and log masses."""
    k = len(alpha)
    n_faces = 2**k - 1  # face f has the topics that are bits of f + 1
    inside, largest = np.empty((n_faces, k), np.bool_), np.zeros(n_faces, np.int64)
    centre, factor = np.zeros((n_faces, k)), np.zeros((n_faces, k, k))
    log_z, pull = np.full(n_faces, -np.inf), np.full((n_faces, k), np.nan)
    for f in range(n_faces):
        for i in range(k):
            inside[f, i] = ((f + 1) >> i) & 1
        if _has_its_own_mode(f + 1, pull):
            largest[f], log_z[f] = _fit_one(
                words, n, mu, alpha, inside[f], centre[f], factor[f], pull[f]
            )
    return (inside, largest, centre, factor), log_z


@jit
def _has_its_own_mode(face, pull):  # type: ignore[no-untyped-def]
    """Whether the likelihood rises from the face without a topic towards each of its topics.

    It is concave: where it does not rise, it is largest on the face without that topic.
    """
    if face & (face - 1) == 0:
        return True
    some = False
    for i in range(pull.shape[1]):
        if (face >> i) & 1:
            rest = (face ^ (1 << i)) - 1
            some |= not np.isnan(pull[rest, i])
            if pull[rest, i] <= 0.0:
                return False
    return some


@jit
def _fit_one(words, n, mu, alpha, inside, centre, factor, pull):  # type: ignore[no-untyped-def]
    """The parameters of q_S; returns the topic r, and about log of the posterior's mass near S.

    On the face the centre is the mode of p with exponents alpha_i + 1, as if each topic of the face
    had one word of its own.  It is found by scoring, with H of ``_slopes``.
    """
    k = len(alpha)
    x, trial, move, h = np.zeros(k), np.zeros(k), np.zeros(k), np.empty(k)
    slope, H = np.empty(k), np.empty((k, k))
    value = _slopes(words, n, mu, alpha, inside, x, h, slope, H)
    if value == -np.inf:
        pull[:] = np.inf
        return 0, value
    share = 1.0
    ref, gain = _ascent(inside, h, slope, H, factor, move)
    for _ in range(FACES.scoring_steps):
        if gain < FACES.scoring_tolerance:
            break
        trial[:] = x + share * move
        new = _slopes(words, n, mu, alpha, inside, trial, h, slope, H)
        if new >= value:
            x[:] = trial
            value, share = new, 1.0
            ref, gain = _ascent(inside, h, slope, H, factor, move)
        else:
            share *= 0.3
    _slopes(words, n, mu, alpha, inside, x, h, slope, H)
    log = _scales(words, n, mu, alpha, inside, ref, h, centre, pull)
    for i in range(k):
        if inside[i]:
            centre[i] = x[i] - x[ref]
            log += alpha[i] * np.log(h[i])
            if i != ref:
                log -= np.log(factor[i, i] / (4.0 * FACES.scale))
    return ref, log


@jit
def _slopes(words, n, mu, alpha, inside, x, h, slope, H):  # type: ignore[no-untyped-def]
    """log p on a face at h ~ exp(x), exponents a = alpha + 1; its slope, and about its curvature::

        H = sum of n (r - h)(r - h)^T + (sum of a) (diag(h) - h h^T)    r: p(topic | word)

    with the slope of the prior added where that is positive.
    """
    k, a0, value = len(alpha), 0.0, 0.0
    proportions(inside, x, h)
    for i in range(k):
        if inside[i]:
            a0 += alpha[i] + 1.0
            value += (alpha[i] + 1.0) * np.log(h[i])
    for i in range(k):
        slope[i] = alpha[i] + 1.0 - a0 * h[i] if inside[i] else 0.0
        for j in range(k):
            H[i, j] = -a0 * h[i] * h[j]
        H[i, i] += a0 * h[i] + max(slope[i], 0.0)
    r = np.empty(k)
    for t in range(len(words)):
        norm, some = 0.0, 0.0
        for i in range(k):
            r[i] = mu[words[t], i] * h[i]
            norm += r[i]
            some += mu[words[t], i]
        if norm <= 0.0 and some * n[t] > 0.0:
            return -np.inf
        if norm > 0.0:
            value += n[t] * np.log(norm)
            for i in range(k):
                r[i] = r[i] / norm - h[i]
                slope[i] += n[t] * r[i]
                for j in range(i + 1):
                    H[i, j] += n[t] * r[i] * r[j]
    return value


@jit
def _ascent(inside, h, slope, H, factor, move):  # type: ignore[no-untyped-def]
    """The step ``H^-1 slope`` among log ratios to the largest h, and what it would gain, doubled.

    ``factor`` is the Cholesky factor of H, with rows of the identity for topics that stay.
    """
    k, ref = len(h), 0
    for i in range(k):
        if h[i] > h[ref]:
            ref = i
    gain = 0.0
    for i in range(k):
        stays = not inside[i] or i == ref
        for j in range(i + 1):
            free = not stays and inside[j] and j != ref
            value = H[i, j] if free else (1.0 if i == j else 0.0)
            for l in range(j):
                value -= factor[i, l] * factor[j, l]
            if i == j:
                factor[i, i] = np.sqrt(max(value, 1e-12))
            else:
                factor[i, j] = value / factor[j, j]
        value = 0.0 if stays else slope[i]
        for l in range(i):
            value -= factor[i, l] * move[l]
        move[i] = value / factor[i, i]
        gain += move[i] ** 2
    solve_back(factor, move)
    far = 0.0
    for i in range(k):
        far = max(far, abs(move[i]))
    if far > FACES.max_move:
        for i in range(k):
            move[i] *= FACES.max_move / far
    return ref, gain


@jit
def _scales(words, n, mu, alpha, inside, ref, h, centre, pull):  # type: ignore[no-untyped-def]
    """For topics beside the face, the log of h_i / h_r where the likelihood begins to fall.

    From its derivatives in h_i, of which the first is ``pull``.  Returns the log-likelihood at h
    and the logs of the integrals of h_i^(alpha_i - 1) up to there.
    """
    k, log = len(alpha), 0.0
    second = np.zeros(k)
    pull[:] = 0.0
    for t in range(len(words)):
        norm = 0.0
        for i in range(k):
            norm += mu[words[t], i] * h[i]
        if norm > 0.0:
            log += n[t] * np.log(norm)
            for i in range(k):
                u = mu[words[t], i] / norm - 1.0
                pull[i] += n[t] * u
                second[i] += n[t] * u * u
    for i in range(k):
        if not inside[i]:
            reach = -np.log(max(abs(pull[i]), np.sqrt(second[i]), 1.0))
            centre[i] = reach - np.log(h[ref])
            log += alpha[i] * reach - np.log(alpha[i])
    return log


@inlined
def pairs_of(h):  # type: ignore[no-untyped-def]
    """The sum of h, and of its products h_i h_j over pairs i < j."""
    total, pairs = 0.0, 0.0
    for i in range(len(h)):
        pairs += h[i] * total
        total += h[i]
    return total, pairs


@inlined
def total_of(pairs, mean, most):  # type: ignore[no-untyped-def]
    """The sum of g of a Dirichlet(g) with this mean, and E[h_i h_j] added up to ``pairs``.

    Those of the mean are more by half the summed variances.  Where a prior is so sparse that one
    topic has all, there is no variance to go by: then it is ``most``.
    """
    _, own = pairs_of(mean)
    if own <= FACES.min_variance or pairs <= 0.0:
        return most
    return pairs / max(own - pairs, FACES.min_variance * own)


@inlined
def proportions(inside, x, h):  # type: ignore[no-untyped-def]
    """``h = exp(x) / sum(exp(x))`` over the topics of a face, 0 beside it; returns the log sum."""
    top, total = -np.inf, 0.0
    for i in range(len(x)):
        if inside[i]:
            top = max(top, x[i])
    for i in range(len(x)):
        h[i] = np.exp(x[i] - top) if inside[i] else 0.0
        total += h[i]
    for i in range(len(x)):
        h[i] /= total
    return top + np.log(total)


@inlined
def solve_back(factor, x):  # type: ignore[no-untyped-def]
    """``x = inv(factor.T) @ x``."""
    k = len(x)
    for i in range(k - 1, -1, -1):
        for l in range(i + 1, k):
            x[i] -= factor[l, i] * x[l]
        x[i] /= factor[i, i]
