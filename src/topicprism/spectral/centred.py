"""From raw to centred moments: alpha0 and sigma enter here, and only here.

With z = (B'x, y), a = alpha0, c = 2 a^2 / ((a+1) (a+2)) and e the response's unit
vector::

    N1 = E[z]
    N2 = E[z z]   - a/(a+1) N1 N1                                   - sigma^2 e e
    N3 = E[z z z] - a/(a+2) [E[z z] N1, in three orders] + c N1 N1 N1
                                       - 2 sigma^2/(a+2) [e e N1, in three orders]

These are 1/(a(a+1)) sum alpha_i v_i v_i and 2/(a(a+1)(a+2)) sum alpha_i v_i v_i v_i,
v_i = (B'mu_i, eta_i).  Their word blocks are M2 and M3 of the paper, and the
slice of N3 that has the response once is its My: noise shows only where the
response meets itself.  (Definition 2 of the paper has a/(a+1) in N3 and other
terms in sigma^2; it does not hold, see ``tests/test_exact.py``.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from topicprism._typing import Coord, Cube, Square
from topicprism.spectral.moments import in_three_orders
from topicprism.spectral.sketch import Sketch


@dataclass(frozen=True)
class Centred:
    """Centred moments in sketch coordinates; the last coordinate is the response."""

    first: Coord
    second: Square
    third: Cube


def centre(sketch: Sketch, alpha0: float, sigma2: float = 0.0) -> Centred:
    """N1, N2 and N3; ``sigma2`` in the units of the sketch."""
    a, R = alpha0, len(sketch.first)
    z, zz, zzz = (m / sketch.weight for m in (sketch.first, sketch.second, sketch.third))
    ee = np.zeros((R, R))
    ee[-1, -1] = sigma2
    c = 2 * a**2 / ((a + 1) * (a + 2))
    outer = np.multiply.outer
    N2 = zz - a / (a + 1) * outer(z, z) - ee
    N3 = zzz - in_three_orders(outer(a * zz + 2 * ee, z)) / (a + 2) + c * outer(outer(z, z), z)
    return Centred(z, N2, N3)


def words_only(m: Centred) -> Centred:
    """M1, M2 and M3: what is left when the response is not looked at."""
    return Centred(m.first[:-1], m.second[:-1, :-1], m.third[:-1, :-1, :-1])


def response_slice(m: Centred) -> Square:
    """My = 2/(a(a+1)(a+2)) sum alpha_i eta_i mu_i mu_i."""
    return m.third[:-1, :-1, -1]


def scaled(m: Centred, scale: Coord) -> Centred:
    """The moments of ``scale * z``."""
    s2 = np.outer(scale, scale)
    return replace(
        m,
        first=m.first * scale,
        second=m.second * s2,
        third=m.third * np.multiply.outer(s2, scale),
    )
