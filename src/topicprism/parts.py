"""Parts of documents, wherever these are kept: some to learn on, others to try it on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import add
from typing import Any, Generic, TypeVar

import numpy as np

from topicprism.corpus import Corpus, Documents, Rows, take_rows

S = TypeVar("S")
GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class Part:
    """A share of the documents of each shard: of those dealt a number from start to stop.

    Numbers are dealt from 0 to 1 in steps of the golden ratio, so any part is spread evenly
    over the shard, and parts are alike even where documents are sorted.  After 1 comes 0.
    """

    start: float = 0.0
    stop: float = 1.0

    @classmethod
    def of(cls, n_documents: int, at_most: int) -> Part:
        return cls(0.0, min(1.0, at_most / max(n_documents, 1)))

    @property
    def rest(self) -> Part:
        """All other documents."""
        return Part(self.stop, 1 + self.start)

    def cut(self, n: int) -> list[Part]:
        """The same documents, in n parts."""
        size = self.stop - self.start
        return [Part(self.start + size * i / n, self.start + size * (i + 1) / n) for i in range(n)]

    def rows(self, c: Corpus) -> Corpus:
        dealt = np.arange(len(c)) * GOLDEN % 1
        return c.take((self.start <= dealt) & (dealt < self.stop) | (dealt + 1 < self.stop))


@dataclass(frozen=True)
class Some:
    """A part of other documents, as documents."""

    docs: Documents
    part: Part

    @property
    def n_words(self) -> int:
        return self.docs.n_words

    def total(self, part: Callable[..., S], *shared: Any) -> S:
        found: S = self.docs.total(of_part, self.part, part, *shared)
        return found


def of_part(c: Corpus, which: Part, part: Callable[..., S], *shared: Any) -> S:
    return part(which.rows(c), *shared)


def in_parts(
    docs: Documents, parts: Sequence[Part], part: Callable[..., S], *shared: Any
) -> tuple[S, ...]:
    """A sum over each of these parts of the documents, in one pass."""
    found: tuple[S, ...] = docs.total(each, parts, part, *shared).found
    return found


def each(c: Corpus, parts: Sequence[Part], part: Callable[..., S], *shared: Any) -> Each[S]:
    return Each(tuple(part(which.rows(c), *shared) for which in parts))


@dataclass(frozen=True)
class Each(Generic[S]):
    """What was found in each part of the documents."""

    found: tuple[S, ...]

    def __add__(self, other: Each[S]) -> Each[S]:
        return Each(tuple(map(add, self.found, other.found)))


def gathered(c: Corpus, which: Part) -> Gathered:
    return Gathered((which.rows(c),))


@dataclass(frozen=True)
class Gathered:
    """Some documents of each shard, to be had together."""

    pieces: tuple[Corpus, ...]

    def __add__(self, other: Gathered) -> Gathered:
        return Gathered(self.pieces + other.pieces)

    @property
    def corpus(self) -> Corpus:
        found = [take_rows(piece.counts, 0, len(piece)) for piece in self.pieces]
        starts = np.cumsum([0, *(x.nnz for x in found)])
        indptr = [x.indptr[1:] + start for x, start in zip(found, starts[:-1], strict=True)]
        rows = Rows(
            np.concatenate([[0], *indptr]),
            np.concatenate([x.indices for x in found]),
            np.concatenate([x.data for x in found]),
            (sum(x.shape[0] for x in found), found[0].shape[1]),
        )
        return Corpus(rows, np.concatenate([piece.y for piece in self.pieces]))
