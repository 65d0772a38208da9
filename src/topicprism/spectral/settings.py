"""How to learn, apart from the data."""

from __future__ import annotations

from dataclasses import dataclass

from topicprism.defaults import METHODS, WHITENINGS
from topicprism.validation import check_choice, check_real, check_whole

DECOMPOSITIONS = ("power", "all at once", "simultaneous", "two-svd", "stgd")


@dataclass(frozen=True)
class Settings:
    """How to learn, apart from the data."""

    method: str = "joint"
    noise_variance: float | None = None  # in the units of y; None: from the data
    word_scale: float | None = None  # C of the joint method; None: from the data
    whitening: str = "auto"
    n_restarts: int = 100
    n_iterations: int = 100
    decomposition: str = "power"  # of the tensor; restarts and iterations are the power method's

    def __post_init__(self) -> None:
        check_choice("method", self.method, METHODS)
        check_choice("decomposition", self.decomposition, DECOMPOSITIONS)
        check_choice("whitening", self.whitening, WHITENINGS)
        check_whole("n_restarts", self.n_restarts, "try 100")
        check_whole("n_iterations", self.n_iterations, "try 100")
        if self.noise_variance is not None:
            check_real("noise_variance", self.noise_variance, 0, "a variance, or leave it out")
        if self.word_scale is not None:
            check_real("word_scale", self.word_scale, 1e-12, "try 1.0, or leave it out")
