"""Sums over documents that can be added up, wherever the documents are."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from topicprism._typing import Array


class Sized:
    """Whose size is that of what it holds: by sizes, schedulers decide what to move and to keep."""

    def __sizeof__(self) -> int:
        return bytes_in(vars(self))


def bytes_in(value: Any) -> int:
    """Of the arrays and texts that something holds, however deep."""
    if (n_bytes := getattr(value, "nbytes", None)) is not None:
        return int(n_bytes)
    held = getattr(value, "__dict__", value)
    if isinstance(held, tuple | list | dict):
        return sum(map(bytes_in, held.values() if isinstance(held, dict) else held))
    return sys.getsizeof(value)


class Additive(Sized):
    """Sums over documents: ``a + b`` is the sum over the documents of both."""

    def __add__(self, other: Self) -> Self:
        names = [f.name for f in fields(self)]  # type: ignore[arg-type]
        return type(self)(*(getattr(self, n) + getattr(other, n) for n in names))


@dataclass(frozen=True)
class Extent:
    """The least and the greatest of numbers; of none, infinite."""

    low: float = np.inf
    high: float = -np.inf

    @classmethod
    def of(cls, y: Array) -> Extent:
        return cls(float(y.min(initial=np.inf)), float(y.max(initial=-np.inf)))

    def __add__(self, other: Extent) -> Extent:
        return Extent(min(self.low, other.low), max(self.high, other.high))


@dataclass(frozen=True)
class RunningMoments:
    """Weight, mean and squared deviations of numbers; stable under ``+`` far from zero."""

    weight: float
    mean: float
    squares: float  # sum of w (y - mean)^2

    @classmethod
    def of(cls, y: Array, w: Array) -> RunningMoments:
        weight = float(w.sum())
        mean = float(w @ y) / weight if weight else 0.0
        return cls(weight, mean, float(w @ (y - mean) ** 2))

    def __add__(self, other: RunningMoments) -> RunningMoments:
        weight = self.weight + other.weight
        gap, share = other.mean - self.mean, other.weight / weight if weight else 0.0
        between = gap**2 * self.weight * share
        return RunningMoments(
            weight, self.mean + gap * share, self.squares + other.squares + between
        )

    @property
    def sd(self) -> float:
        return float(np.sqrt(self.squares / self.weight)) if self.weight else 0.0
