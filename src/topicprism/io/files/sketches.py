"""A sketch with the vocabulary it is over, as plain values and back."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from topicprism.io.files.container import wrong
from topicprism.io.files.counts import describe_counts, restore_counts
from topicprism.io.files.rules import MAX_COEFFICIENT, number, numbers, whole
from topicprism.io.files.values import Writer
from topicprism.spectral.basis import Basis
from topicprism.spectral.sketch import Sketch
from topicprism.vectorizer import FastCountVectorizer


@dataclass(frozen=True, eq=False)
class TextSketch(Sketch):
    """A sketch that knows the words of its basis, and what was sketched."""

    counts: FastCountVectorizer | None = None  # fitted
    info: dict[str, Any] = field(default_factory=dict)

    def __add__(self, other: Sketch) -> TextSketch:
        """The sketch of both; ``info["merged"]`` keeps what is known of the parts."""
        theirs = other if isinstance(other, TextSketch) else TextSketch(**vars(other))
        counts = _one_of(self.counts, theirs.counts)
        parts = [part for s in (self, theirs) for part in s.info.get("merged", [s.info])]
        return TextSketch(**vars(super().__add__(other)), counts=counts, info={"merged": parts})


def describe_sketch(sketch: Sketch, writer: Writer) -> dict[str, Any]:
    own = [f.name for f in fields(Sketch) if f.name != "basis"]
    counts = getattr(sketch, "counts", None)
    return {
        "counts": None if counts is None else describe_counts(counts, writer),
        "basis": {f.name: writer.encode(getattr(sketch.basis, f.name)) for f in fields(Basis)},
        "moments": {name: writer.encode(getattr(sketch, name)) for name in own},
    }


def restore_sketch(plain: dict[str, Any], info: dict[str, Any]) -> TextSketch:
    """A sketch from values that are refused unless they make one."""
    match plain:
        case {"counts": counts, "basis": dict(basis), "moments": dict(moments), **rest} if not rest:
            sizes = _check(basis, moments)
        case _:
            raise wrong("it has no sketch where one should be")
    known = None if counts is None else restore_counts(counts, sizes["V"])
    return TextSketch(basis=Basis(**basis), **moments, counts=known, info=info)


def _check(basis: dict[str, Any], moments: dict[str, Any]) -> dict[str, int]:
    if [list(basis), list(moments)] != [
        ["B", "lift", "centre", "scale"],
        ["weight", "first", "second", "third", "n", "c1", "c2"],
    ]:
        raise wrong(f"its sketch has {[*basis, *moments]!r:.60}")
    V, K = basis["B"].shape if np.ndim(basis["B"]) == 2 else (0, 0)
    sizes = {"V": V, "K": K, "R": K + 1}
    centre, scale = basis["centre"], basis["scale"]
    good = (
        numbers("VK", below=MAX_COEFFICIENT)(basis["B"], sizes)
        and numbers("VK", below=MAX_COEFFICIENT)(basis["lift"], sizes)
        and type(centre) in (int, float)
        and abs(centre) < MAX_COEFFICIENT
        and number(scale, sizes)
        and 1 / MAX_COEFFICIENT < scale < MAX_COEFFICIENT
        and whole(moments["n"], sizes)
        and all(_sum(moments[name]) for name in ("weight", "c1", "c2"))
        and all(numbers(s, below=MAX_COEFFICIENT)(moments[m], sizes) for m, s in SHAPES.items())
    )
    if not good or V == 0 or K == 0:
        raise wrong("its sketch has the wrong shape or numbers that are not finite or too large")
    return sizes


def _sum(value: Any) -> bool:
    """Of numbers from 1e-100 to 1 over documents."""
    return number(value, {}) and (value == 0 or 1e-100 < value < 2**63)


SHAPES = {"first": "R", "second": "RR", "third": "RRR"}


def _one_of(
    mine: FastCountVectorizer | None, theirs: FastCountVectorizer | None
) -> FastCountVectorizer | None:
    if mine is None or theirs is None:
        return mine or theirs
    if mine.vocabulary_ != theirs.vocabulary_:
        raise ValueError(
            f"got sketches over two vocabularies (of {len(mine.vocabulary_)} and "
            f"{len(theirs.vocabulary_)} words), but only sketches over one basis add up; sketch "
            "both corpora with the same basis"
        )
    return mine
