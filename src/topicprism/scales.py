"""The scale that a response is fitted on: its own, or a logarithm of it.

==========  =================================  ===================================================
scale       fitted                             unscaled
==========  =================================  ===================================================
None        y                                  y
"log"       z = log y, of positive y           exp(z), a geometric mean
"log1p"     z = log(1 + y), where zeros occur  exp(z) - 1, or 0 where z < 0
==========  =================================  ===================================================

``fitted`` and ``unscaled`` lead from one column to the other.  The expected logarithm on the
response's own scale is its geometric mean, which is its median where the logarithm is symmetric;
the mean is larger.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

LOG, LOG1P = "log", "log1p"
SCALES = (LOG, LOG1P)
Scale = str | None  # one of these, or the response's own
Numbers = NDArray[np.float64]

MAX_LOG = math.log(1e240)  # of a response: a file may hold no larger number
MIN_SKEWNESS = 2.0  # of a heavy-tailed response
MAX_SKEWNESS_LEFT = 0.5  # of its logarithm, as a share of its own, both without sign
MIN_LARGEST = 10.0  # of the largest over the median, both plus one where zeros occur


def scale_of(lowest: float) -> Scale:
    """The logarithm that responses from here on have."""
    if lowest < 0:
        raise ValueError(
            f"the responses have a logarithm only if none is negative, but the lowest is "
            f"{lowest:g}; fit them as they are, or add a number to all of them"
        )
    return LOG1P if lowest == 0 else LOG


def has_scale(scale: Scale, y: Numbers) -> NDArray[np.bool_]:
    """Which responses have that logarithm."""
    if scale is None:
        return np.ones(y.shape, bool)
    return y > 0 if scale == LOG else y >= 0


def fitted(scale: Scale, y: Any) -> Numbers:
    """From a response to what is fitted."""
    values: Numbers = np.asarray(y, dtype=float)
    if scale is None or not values.size:
        return values
    if not has_scale(scale, values[np.isfinite(values)]).all():
        known = "positive" if scale == LOG else "not negative"
        raise ValueError(
            f"the model was fitted to the logarithm of responses that are {known}, but got one "
            f"of {np.nanmin(values):g}; leave such documents out, or fit again with them"
        )
    z: Numbers = np.log(values) if scale == LOG else np.log1p(values)
    return z


def unscaled(scale: Scale, z: Any) -> Any:
    """From what was fitted, or predicted on its scale, to the response's own scale."""
    if scale is None:
        return z
    z = np.clip(np.asarray(z, dtype=float), -MAX_LOG, MAX_LOG)
    return np.exp(z) if scale == LOG else np.expm1(np.maximum(z, 0.0))


def unscaled_std(scale: Scale, z: Any, std: Any) -> Any:
    """The standard deviation of a response whose logarithm is normal, with this mean and s.d.

    Var[y] = (exp(s^2) - 1) exp(2 z + s^2)
    """
    if scale is None:
        return std
    variance = np.minimum(np.asarray(std, dtype=float) ** 2, MAX_LOG / 2)
    size = np.clip(np.asarray(z, dtype=float) + variance / 2, -MAX_LOG, MAX_LOG / 2)
    return np.exp(size) * np.sqrt(np.expm1(variance))


def is_heavy_tailed(y: Any) -> bool:
    """Whether a few large responses outweigh the rest, and a logarithm would mend that."""
    values = np.asarray(y, dtype=float)
    if len(values) < 2 or float(values.min()) < 0:
        return False
    z = fitted(scale_of(float(values.min())), values)
    skewed = skewness(values)
    return (
        skewed > MIN_SKEWNESS
        and abs(skewness(z)) <= MAX_SKEWNESS_LEFT * skewed
        and float(z.max() - np.median(z)) > math.log(MIN_LARGEST)
    )


def skewness(values: Numbers) -> float:
    """The mean cube of the standardised values; 0 where they do not vary."""
    std = float(values.std())
    if not std > 0:
        return 0.0
    return float((((values - values.mean()) / std) ** 3).mean())
