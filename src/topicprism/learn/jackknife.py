"""The jackknife: how far an estimate moves when a part of the documents is left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from topicprism._typing import Array


def jackknife_std(without_one: Any, axis: int = 0) -> Array:
    """The standard error of an estimate, from its values without each of n equal parts::

    sqrt((n - 1) / n * sum of squared deviations of these values from their mean)
    """
    values = np.asarray(without_one)
    std: Array = np.sqrt(values.shape[axis] - 1) * np.std(values, axis=axis)
    return std


def jackknife_value(whole: Array, without_one: Array, axis: int = 0) -> Array:
    """The estimate less its bias of order 1 / n."""
    n = without_one.shape[axis]
    value: Array = n * whole - (n - 1) * without_one.mean(axis=axis)
    return value


def without_each(sums: Sequence[Any]) -> Iterator[Any]:
    """The sum without the first, without the second, and so on."""
    return (reduce(add, [*sums[:i], *sums[i + 1 :]]) for i in range(len(sums)))
