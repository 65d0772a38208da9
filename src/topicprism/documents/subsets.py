"""Some of the documents, wherever these are kept: folds, samples, documents held out.

A document goes by its key, 64 bits of its words and counts (:attr:`Corpus.keys`), and a subset
is an interval of keys.  So neither the order of documents nor the shards that hold them matter,
and documents with the same words are always on the same side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import add
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from topicprism._typing import Ints
from topicprism.documents.corpus import Corpus, Documents, joined
from topicprism.documents.sums import Additive, Sized
from topicprism.documents.threads import Threaded

S = TypeVar("S")
KEYS = 2**64
BUCKETS = 2**16  # of keys, to count documents in
MAX_ORDERED = 20_000  # documents that are always summed in the order of their keys: such a copy
# takes little memory and time
MEAN_BUCKET_DOCUMENTS = 16  # on average: with fewer, edges of buckets are fine enough to cut at


@dataclass(frozen=True)
class Subset:
    """The documents whose keys are from ``start`` up to but not including ``stop``."""

    start: int = 0
    stop: int = KEYS

    @property
    def rest(self) -> Subset:
        """The documents after these."""
        return Subset(self.stop, KEYS)

    def rows(self, c: Corpus) -> Corpus:
        if (self.start, self.stop) == (0, KEYS):
            return c
        if not c.by_key:
            return c.take(self.has(c.keys))
        edges = [min(edge, KEYS - 1) for edge in (self.start, max(self.start, self.stop))]
        first, last = np.searchsorted(c.keys, np.array(edges, np.uint64)).tolist()
        return c.rows(first, len(c) if self.stop == KEYS else last)

    def has(self, keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
        if self.start >= self.stop:
            return np.zeros(len(keys), bool)
        return (keys >= np.uint64(self.start)) & (keys <= np.uint64(self.stop - 1))


ALL = Subset()


@dataclass(frozen=True)
class KeyCounts(Sized):
    """How many documents have a key in each of equal intervals: what subsets are cut by."""

    n: Ints

    @classmethod
    def of(cls, c: Corpus, these: NDArray[np.bool_] | None = None) -> KeyCounts:
        keys = c.keys if these is None else c.keys[these]
        buckets = (keys // np.uint64(KEYS // BUCKETS)).astype(np.intp)
        return cls(np.bincount(buckets, minlength=BUCKETS))

    def __add__(self, other: KeyCounts) -> KeyCounts:
        return KeyCounts(self.n + other.n)

    def size(self, within: Subset = ALL) -> int:
        """Documents in a subset."""
        below = self._below
        return round(below(within.stop) - below(within.start))

    def cut(self, n: int, within: Subset = ALL) -> list[Subset]:
        """The same documents in ``n`` subsets, as equal in size as documents alike allow."""
        edges = [self._at(i / n, within) for i in range(n + 1)]
        return [Subset(*edge) for edge in pairwise(edges)]

    def share(self, start: float, stop: float, within: Subset = ALL) -> Subset:
        """From one share of the documents to another, in the order of their keys."""
        return Subset(self._at(start, within), self._at(stop, within))

    def at_most(self, n: int, within: Subset = ALL) -> Subset:
        """About ``n`` of the documents, or all of them if there are no more."""
        size = self.size(within)
        return within if size <= n else self.share(0, n / size, within)

    def _at(self, share: float, within: Subset) -> int:
        """The key below which this share of the documents lies, on the edge of a bucket if few."""
        if share in (0, 1):
            return within.stop if share else within.start
        low, high = self._below(within.start), self._below(within.stop)
        wanted, width = low + share * (high - low), KEYS // BUCKETS
        known = np.concatenate([[0], np.cumsum(self.n)])
        if known[-1] > MEAN_BUCKET_DOCUMENTS * BUCKETS:
            edge = int(np.interp(wanted, known, np.arange(BUCKETS + 1.0)) * width)
        else:
            edge = int(np.abs(known - wanted).argmin()) * width
        return min(max(edge, within.start), within.stop)

    def _below(self, key: int) -> float:
        """Documents whose key is below this one."""
        width = KEYS // BUCKETS
        whole, part = divmod(key, width)
        return float(self.n[:whole].sum()) + (part / width * float(self.n[whole]) if part else 0.0)


class OfDocuments:
    """What documents that are made of others have from them."""

    docs: Documents

    @property
    def n_words(self) -> int:
        return self.docs.n_words

    @property
    def n_threads(self) -> int:
        return int(getattr(self.docs, "n_threads", 1))


@dataclass(frozen=True)
class SubsetDocuments(OfDocuments):
    """Some of other documents, as documents."""

    docs: Documents
    subset: Subset

    def total(self, part: Callable[..., S], *shared: Any) -> S:
        found: S = self.docs.total(of_subset, self.subset, part, *shared)
        return found


def in_key_order(docs: Documents, n_documents: int) -> Documents:
    """The documents in the order of their keys: in memory, if few; else if the engine can do it.

    Sums over documents depend on their order in the last digit, and where text is not from the
    model a last digit may decide between two topics that explain it as well.
    """
    if (ordered := getattr(docs, "in_key_order", None)) is not None:
        found: Documents = ordered(n_documents)
        return found
    return (
        docs if n_documents > MAX_ORDERED else in_memory(docs, docs.total(selected_documents, ALL))
    )


@dataclass(frozen=True)
class SelectedDocuments(Sized):
    """Documents brought together, wherever they were kept; to be few."""

    corpora: tuple[Corpus, ...]

    def __add__(self, other: SelectedDocuments) -> SelectedDocuments:
        return SelectedDocuments(self.corpora + other.corpora)

    @property
    def corpus(self) -> Corpus:
        """In the order of their keys."""
        return joined(self.corpora).in_key_order()


def selected_documents(c: Corpus, subset: Subset) -> SelectedDocuments:
    return SelectedDocuments((subset.rows(c),))


@dataclass(frozen=True)
class SumsAndDocuments(Additive, Generic[S]):
    """A sum over all documents, and some of those that are not too short."""

    sums: S
    some: SelectedDocuments


def sums_and_documents(
    c: Corpus, subset: Subset, part: Callable[..., S], *shared: Any
) -> SumsAndDocuments[S]:
    """Short documents, by which no subset is cut, stay: those without a word have one key."""
    return SumsAndDocuments(part(c, *shared), SelectedDocuments((subset.rows(c).long(),)))


def are_in_memory(docs: Any) -> bool:
    """Whether documents, of others perhaps, are here: then none need be gathered."""
    while hasattr(docs, "docs"):
        docs = docs.docs
    return isinstance(docs, (Corpus, Threaded))


def in_memory(docs: Any, found: SelectedDocuments) -> Any:
    """Documents that were gathered from others, for as many threads; on a GPU, if those are."""
    while hasattr(docs, "docs"):
        docs = docs.docs
    if (kept := getattr(docs, "kept", None)) is not None:
        return kept(found.corpus)
    return Threaded(found.corpus, int(getattr(docs, "n_threads", 1)))


def of_subset(c: Corpus, subset: Subset, part: Callable[..., S], *shared: Any) -> S:
    return part(subset.rows(c), *shared)


def map_subsets(
    docs: Documents, subsets: Sequence[Subset], part: Callable[..., S], *shared: Any
) -> tuple[S, ...]:
    """A sum over each of these subsets of the documents, in one pass."""
    found: tuple[S, ...] = docs.total(of_subsets, subsets, part, *shared).sums
    return found


def of_subsets(
    c: Corpus, subsets: Sequence[Subset], part: Callable[..., S], *shared: Any
) -> Sums[S]:
    return Sums(tuple(part(subset.rows(c), *shared) for subset in subsets))


@dataclass(frozen=True)
class Sums(Sized, Generic[S]):
    """A sum over each of several subsets."""

    sums: tuple[S, ...]

    def __add__(self, other: Sums[S]) -> Sums[S]:
        return Sums(tuple(map(add, self.sums, other.sums)))
