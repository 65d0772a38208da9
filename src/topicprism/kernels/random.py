"""Numba kernels that draw: from a stream of splitmix64 to uniform, gamma and Dirichlet numbers.

A stream is its state, a 64-bit counter: each draw takes one and gives the next one back.
"""

from __future__ import annotations

import numpy as np

from topicprism.kernels.compiling import jit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # steps of splitmix64's counter

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


@jit
def scramble(x):  # type: ignore[no-untyped-def]
    """The output function of splitmix64: 64 well-mixed bits from a counter."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@jit
def uniform(state):  # type: ignore[no-untyped-def]
    """The next state of a stream, and a number in (0, 1) that no rounding takes to an end."""
    state += GOLDEN
    return state, (np.float64(scramble(state) >> np.uint64(12)) + 0.5) * 2.0**-52


@jit
def ratio(x, above, below):  # type: ignore[no-untyped-def]
    """``np.polyval(above, x) / np.polyval(below, x)``."""
    a, b = above[0], below[0]
    for i in range(1, len(above)):
        a = a * x + above[i]
        b = b * x + below[i]
    return a / b


@jit
def normal_quantile(u):  # type: ignore[no-untyped-def]
    """``scipy.special.ndtri(u)`` to 1e-15 (Wichura, AS 241): a normal draw from a uniform one."""
    q = u - 0.5
    if abs(q) <= 0.425:
        return q * ratio(0.180625 - q * q, CENTRE[0], CENTRE[1])
    r = np.sqrt(-np.log(min(u, 1.0 - u)))
    x = ratio(r - 1.6, SIDES[0], SIDES[1]) if r <= 5.0 else ratio(r - 5.0, ENDS[0], ENDS[1])
    return x if q > 0 else -x


@jit
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


@jit
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
