"""Passes over documents, with what each is for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from topicprism.calibration import products, spreads
from topicprism.corpus import Documents
from topicprism.moments import pair_products, sketch_sums, word_sums
from topicprism.noise import crossed
from topicprism.parts import each, gathered, of_part
from topicprism.refinement import said
from topicprism.robust import parted

S = TypeVar("S")
PURPOSES: dict[Callable[..., Any], str] = {  # of a pass, by the function whose sum is taken
    word_sums: "counting words",
    pair_products: "finding directions",
    sketch_sums: "computing moments",
    crossed: "estimating the noise variance",
    gathered: "estimating standard errors",
    parted: "comparing directions between folds",
    each: "computing moments by fold",
    said: "refining topics",
    products: "regressing the response on topics",
    spreads: "estimating predictive variance",
}


class Progress(Protocol):
    """Who wants to know how far a fit is."""

    def stage(self, now: str) -> None: ...
    def at(self, share: float | None, note: str = "") -> None: ...


class Silent:
    """Nobody does."""

    def stage(self, now: str) -> None:
        pass

    def at(self, share: float | None, note: str = "") -> None:
        pass


@dataclass
class Watched:
    """Documents whose passes can be watched."""

    docs: Documents
    progress: Progress
    passes: int = 0

    @property
    def n_words(self) -> int:
        return self.docs.n_words

    def total(self, part: Callable[..., S], *shared: Any) -> S:
        self.passes += 1
        self.progress.at(None, f"pass {self.passes}: {_purpose(part, *shared)}")
        return self.docs.total(part, *shared)


def _purpose(part: Callable[..., Any], *shared: Any) -> str:
    """What a pass is for, over all documents or a part: to try numbers of topics, say."""
    functions = [f for f in (part, *shared) if callable(f)]
    what = next((PURPOSES[f] for f in functions if f in PURPOSES), "adding up")
    return f"{what}, of a part" if part is of_part else what
