"""How to learn, apart from the data; and what of it makes no sense."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from topicprism.sketching import check_rank
from topicprism.whitening import METHODS as WHITENINGS

METHODS = ("joint", "two-stage")
VAST = 1e100


@dataclass(frozen=True)
class Settings:
    """How to learn, apart from the data."""

    method: str = "joint"
    noise_variance: float | None = None  # in the units of y; None: from the data
    word_scale: float | None = None  # C of the joint method; None: from the data
    whitening: str = "auto"
    n_restarts: int = 100
    n_iterations: int = 100

    def __post_init__(self) -> None:
        check_choice("method", self.method, METHODS)
        check_choice("whitening", self.whitening, WHITENINGS)
        check_whole("n_restarts", self.n_restarts, "try 100")
        check_whole("n_iterations", self.n_iterations, "try 100")
        if self.noise_variance is not None:
            check_real("noise_variance", self.noise_variance, 0, "a variance, or leave it out")
        if self.word_scale is not None:
            check_real("word_scale", self.word_scale, 1e-12, "try 1.0, or leave it out")


def check_problem(n_topics: int, alpha0: float, available: int) -> None:
    """Refuse a number of topics or an alpha0 that cannot be."""
    check_prior(n_topics, alpha0)
    check_rank(n_topics, available)


def check_prior(n_topics: int, alpha0: float) -> None:
    check_whole("n_topics", n_topics, "try 10")
    check_real("alpha0", alpha0, 1e-6, "the sum of the Dirichlet parameters; try 1.0", high=1e4)


def check_choice(name: str, value: Any, choices: Iterable[Any]) -> None:
    if np.ndim(value) or value not in list(choices):
        listed = ", ".join(map(repr, choices))
        raise ValueError(f"{name}={value!r}, but expected one of {listed}; choose one of these")


def check_whole(name: str, value: Any, remedy: str, low: int = 1) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < low:
        raise ValueError(f"{name}={value!r}, but expected a whole number from {low} up; {remedy}")


def check_real(name: str, value: Any, low: float, remedy: str, high: float = VAST) -> None:
    if not isinstance(value, Real) or isinstance(value, bool) or not low <= float(value) <= high:
        to = f"to {high:g}" if high < VAST else "up"
        raise ValueError(f"{name}={value!r}, but expected a number from {low:g} {to}; {remedy}")
