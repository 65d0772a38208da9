"""Inner loops over many topics: what :mod:`propagation` and :mod:`fold_in` do, in vector lanes.

A sum in the order in which it is written keeps a processor waiting for each addition.  Here
sums may be added up in another order, several terms at once: for few topics that gains little,
and results would change in their last digits.  Compilers do not do the same to the least or
largest of numbers, but they do to bits: the sign of a float64 is its first bit, and without it
the bits of a larger number are larger.
"""

from __future__ import annotations

import numpy as np

from topicprism.kernels.compiling import inlined, reordered

MIN_TOPICS = 32  # from which on these loops are used: with fewer they gain little
MAX_DECREASE = 0.8  # of an entry of g in one step, which is shortened to leave it positive
SMALLEST = 1.0 / 700  # exp(digamma(x)) of less is next to nothing, and of much less no float64
MIN_Q = 1e-13  # of ``loss``: what rounding may leave of a sum of squares of some hundred topics
LOG2_E = 1.4426950408889634  # for exp in powers of two, as are the next two
LOG_2_HIGH, LOG_2_LOW = 0.693145751953125, 1.4286068203094172e-06  # their sum is log 2
WITHOUT_SIGN = np.int64(0x7FFFFFFFFFFFFFFF)  # a mask for the bits of a float64


@reordered
def visit(mu_w, n, share, site, g, c, r, bits):  # type: ignore[no-untyped-def]
    """``propagation._visit`` but for a factor of its result: a word's site, updated."""
    k, c0, norm = len(g), 1.0, 0.0
    for i in range(k):
        x = g[i] - site[i]
        y = mu_w[i] * x
        c[i] = x
        r[i] = y
        c0 += x
        norm += y
    if n <= 0.0:
        return 0.0
    if _any_negative(bits[0]):
        return np.inf
    if norm <= 0.0:
        return 0.0
    less, step = loss(c0, norm, c, r), share * n
    for i in range(k):
        x = r[i] - less * (c[i] + r[i]) - site[i]
        c[i] = x
        r[i] = step * x + MAX_DECREASE * g[i]
    if _any_negative(bits[1]):
        for i in range(k):
            if step * c[i] < -MAX_DECREASE * g[i]:
                step = -MAX_DECREASE * g[i] / c[i]
    part = step / n
    for i in range(k):
        site[i] += part * c[i]
        g[i] += step * c[i]
    return n * _largest(bits[0], bits[2]) / c0


@reordered
def add_word(mu_w, part, g, r):  # type: ignore[no-untyped-def]
    """The step of ``propagation._filter``: g, the word being seen; and how likely it was."""
    norm, total = 0.0, 0.0
    for i in range(len(g)):
        y = mu_w[i] * g[i]
        r[i] = y
        norm += y
        total += g[i]
    if norm > 0.0:
        less = loss(total + 1.0, norm, g, r)
        for i in range(len(g)):
            g[i] += part * (r[i] - less * (g[i] + r[i]))
    return norm / total


@reordered
def loss(u0, norm, c, r):  # type: ignore[no-untyped-def]
    """``propagation._loss``, u0 being the sum of c + r, from sums of squares: P = u0^2 - sum u^2.

    Digits that cancel matter where one topic has next to all of a document: P is u0 Q at least, and
    a Q that is less than rounding leaves is 0.
    """
    scale, uu, rr = 1.0 / norm, 0.0, 0.0
    for i in range(len(c)):
        y = scale * r[i]
        u = c[i] + y
        r[i] = y
        uu += u * u
        rr += y * y
    Q = 1.0 - rr
    return (u0 + 1.0) * Q / (max(u0 * u0 - uu, u0 * Q) + u0 * Q) if Q > MIN_Q else 0.0


@reordered
def assign(words, counts, mu, alpha, n_sweeps, expected, shares, c, z, r):  # type: ignore[no-untyped-def]
    """One document of ``fold_in.assign``."""
    k, room = len(alpha), r.view(np.int64)
    for sweep in range(n_sweeps):
        if sweep == 0:
            c[:] = alpha
        else:
            _exp_digamma(alpha, z, room, r, c)
        z[:] = 0.0
        for j in range(len(words)):
            mu_w, norm = mu[words[j]], 0.0
            for i in range(k):
                norm += mu_w[i] * c[i]
            if norm <= 0.0:
                continue
            scale = counts[j] / norm
            for i in range(k):
                z[i] += scale * mu_w[i] * c[i]
            if sweep == n_sweeps - 1:
                s = expected[words[j]]
                for i in range(k):
                    s[i] += scale * mu_w[i] * c[i]
    total = 0.0
    for i in range(k):
        total += alpha[i] + z[i]
    for i in range(k):
        shares[i] += (alpha[i] + z[i]) / total


@reordered
def _exp_digamma(alpha, z, bits, scale, c):  # type: ignore[no-untyped-def]
    """``c[:] = exp(scipy.special.digamma(alpha + z))``; ``bits`` are those of ``scale``.

    Up by six, where 1/x + ... + 1/(x+5) is one fraction in t = x (x+5), and there by the
    asymptotic series; exp(y) = 2^m exp(y - m log 2), the latter by its Taylor series.
    """
    for i in range(len(c)):
        x = alpha[i] + z[i]
        x = x if x > SMALLEST else SMALLEST
        t = x * (x + 5.0)
        up, pairs = t * (t + 4.0) * (t + 6.0), (t + 4.0) * (t + 6.0) + t * (2.0 * t + 10.0)
        f = 1.0 / ((x + 6.0) * (x + 6.0))
        series = f * (1.0 / 12 - f * (1.0 / 120 - f * (1.0 / 252 - f * (1.0 / 240 - f / 132))))
        y = -0.5 / (x + 6.0) - series - (2.0 * x + 5.0) * pairs / up
        exponent = np.int64(y * LOG2_E - 0.5)  # y is negative
        m = np.float64(exponent)
        y = (y - m * LOG_2_HIGH) - m * LOG_2_LOW
        p = 1.0 / 5040 + y * (1.0 / 40320 + y * (1.0 / 362880 + y * (1.0 / 3628800 + y / 39916800)))
        p = 1.0 / 6 + y * (1.0 / 24 + y * (1.0 / 120 + y * (1.0 / 720 + y * p)))
        c[i] = (x + 6.0) * (1.0 + y * (1.0 + y * (0.5 + y * p)))
        bits[i] = (exponent + 1023) << 52
    for i in range(len(c)):
        c[i] *= scale[i]


@inlined
def bits_of(c, r):  # type: ignore[no-untyped-def]
    """The bits of two vectors, and room for those of one number."""
    return c.view(np.int64), r.view(np.int64), np.zeros(1, np.int64)


@reordered
def _any_negative(bits):  # type: ignore[no-untyped-def]
    seen = np.int64(0)
    for i in range(len(bits)):
        seen |= bits[i]
    return seen < 0


@reordered
def _largest(bits, room):  # type: ignore[no-untyped-def]
    """``abs(x).max()`` of the numbers with these bits."""
    most = np.int64(0)
    for i in range(len(bits)):
        most = max(most, bits[i] & WITHOUT_SIGN)
    room[0] = most
    return room.view(np.float64)[0]
