"""Documents as word counts, with one response each.

=========  =======  =================================================
code       paper    meaning
=========  =======  =================================================
counts     --       times word v occurs in document d          (D, V)
y          y        response of document d                       (D,)
MIN_WORDS  --       words a document needs to have a third moment
=========  =======  =================================================

A document of fewer than three words keeps its row: the sums over documents
pass it by, predictions do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicprism import backends
from topicprism._typing import Counts, Doc
from topicprism.kernels.cpu import MIN_WORDS as MIN_WORDS
from topicprism.validation import wrong_length

S = TypeVar("S")


@runtime_checkable
class Documents(Protocol):
    """Documents that can be summed over, wherever they are kept.

    This is all the learning algorithm asks of them.  :class:`Corpus` keeps
    them in memory; ``Threaded`` and ``OnDisk`` elsewhere.
    """

    @property
    def n_words(self) -> int: ...

    def total(self, part: Callable[..., S], *shared: Any) -> S:
        """``sum(part(shard, *shared) for shard in self)``; ``part`` is pure."""
        ...


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of a CSR matrix, as views: scipy's own would copy 64-bit indices to 32."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[Any]
    shape: tuple[int, int]

    @property
    def nnz(self) -> int:
        return len(self.data)

    def __sizeof__(self) -> int:
        return size_of(self)

    def to_csr(self) -> Counts:
        parts = (self.data, self.indices, self.indptr)
        return cast(Counts, csr_array(parts, shape=self.shape))


def as_csr(counts: Counts | Rows) -> Counts:
    return counts.to_csr() if isinstance(counts, Rows) else counts


@dataclass(frozen=True)
class Corpus:
    """Documents in memory."""

    counts: Counts | Rows
    y: Doc
    by_key: bool = False  # whether its documents are in the order of their keys

    def __post_init__(self) -> None:
        if (shape := getattr(self.y, "shape", None)) is None:
            raise ValueError(
                f"y is a {type(self.y).__name__}, but expected an array with one number per "
                "document, in their order; pass np.array(y, float) of a list"
            )
        if shape != (self.counts.shape[0],):
            raise ValueError(wrong_length(shape, self.counts.shape[0]))

    @property
    def n_words(self) -> int:
        return int(self.counts.shape[1])

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def __sizeof__(self) -> int:
        """Bytes of its arrays: by these, schedulers decide whether to move it."""
        keys = self.__dict__.get("keys", self.y[:0])
        return size_of(self.counts) + int(self.y.nbytes + keys.nbytes)

    def total(self, part: Callable[..., S], *shared: Any) -> S:
        return part(self, *shared)

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """64 bits of each document's words and counts, by which it goes into folds and samples."""
        return document_keys(self.counts)

    @cached_property
    def y_there(self) -> Doc:
        """The responses, where the counts are."""
        found: Doc = backends.of(self.counts).array(self.y)
        return found

    @property
    def lengths(self) -> Doc:
        """Words of each document."""
        n_words: Doc = backends.of(self.counts).lengths(self.counts)
        return n_words

    def rows(self, start: int, stop: int) -> Corpus:
        """Consecutive documents, as views: nothing is copied but the row pointers."""
        some = Corpus(take_rows(self.counts, start, stop), self.y[start:stop], self.by_key)
        if "y_there" in self.__dict__:
            some.__dict__["y_there"] = self.y_there[start:stop]
        return some._with_keys(self, slice(start, stop))

    def long(self) -> Corpus:
        """The documents with three words or more; itself if they all are."""
        return self.take(self.lengths >= MIN_WORDS)

    def take(self, these: NDArray[np.bool_]) -> Corpus:
        """Some documents, in a copy; itself if these are all."""
        return self if these.all() else self._taken(np.flatnonzero(these), self.by_key)

    def with_counts(self, counts: Counts | Rows) -> Corpus:
        """Other counts of the same documents, which keep their keys."""
        keyed = Corpus(counts, self.y, self.by_key)
        keyed.__dict__["keys"] = self.keys
        return keyed

    def with_response(self, y: Doc) -> Corpus:
        """The same documents with another response."""
        return Corpus(self.counts, y, self.by_key)._with_keys(self, slice(None))

    def in_key_order(self, n_documents: int = 0) -> Corpus:
        """The same documents, in a copy whose order does not depend on theirs."""
        return self._taken(np.lexsort((self.y, self.keys)), by_key=True)

    def _taken(self, which: NDArray[np.intp], by_key: bool) -> Corpus:
        return Corpus(taken(self.counts, which), self.y[which], by_key)._with_keys(self, which)

    def _with_keys(self, of: Corpus, which: Any) -> Corpus:
        """The keys of ``of``'s documents ``which``, if it has looked at them."""
        if "keys" in of.__dict__:
            self.__dict__["keys"] = of.keys[which]
        return self

    def shards(self, n: int) -> Iterator[Corpus]:
        for start, stop in cut(self.counts, n):
            yield self.rows(start, stop)


def joined(corpora: Iterable[Corpus]) -> Corpus:
    """The documents of several corpora over one vocabulary, in a copy."""
    pieces = list(corpora)
    found = [take_rows(piece.counts, 0, len(piece)) for piece in pieces]
    starts = np.cumsum([0, *(x.nnz for x in found)])
    indptr = [x.indptr[1:] + start for x, start in zip(found, starts[:-1], strict=True)]
    index = np.int32 if starts[-1] <= np.iinfo(np.int32).max else np.int64
    rows = Rows(
        np.concatenate([[0], *indptr], dtype=index, casting="same_kind"),
        np.concatenate([x.indices for x in found]),
        np.concatenate([x.data for x in found]),
        (sum(map(len, pieces)), pieces[0].n_words),
    )
    return Corpus(rows, np.concatenate([piece.y for piece in pieces]))


def alike(c: Corpus) -> Corpus:
    """With the types that all shards have, so that each kernel is compiled once for them."""
    X = c.counts
    count = np.uint32 if X.data.max(initial=0) <= np.iinfo(np.uint32).max else np.uint64
    index = np.int32 if X.nnz <= np.iinfo(np.int32).max else np.int64
    ids = X.indices.astype(np.int32, copy=False)
    rows = Rows(X.indptr.astype(index, copy=False), ids, X.data.astype(count), X.shape)
    return Corpus(rows, np.ascontiguousarray(c.y, dtype=float), c.by_key)._with_keys(c, slice(None))


def size_of(X: Counts | Rows) -> int:
    return int(X.indptr.nbytes + X.indices.nbytes + X.data.nbytes)


def document_keys(X: Counts | Rows) -> NDArray[np.uint64]:
    """64 bits of each row's words and counts."""
    found: NDArray[np.uint64] = backends.of(X).document_keys(X)
    return found


def cut(X: Counts | Rows, n: int) -> list[tuple[int, int]]:
    """At most ``n`` runs of rows with about as many non-zeros each, as (start, stop)."""
    if n == 1:
        return [(0, X.shape[0])] if X.shape[0] else []
    inner = np.searchsorted(X.indptr, np.arange(1, n) / n * X.nnz)
    edges = np.unique([0, *inner, X.shape[0]]).tolist()
    return list(pairwise(edges))


def take_rows(X: Counts | Rows, start: int, stop: int) -> Rows:
    """``X[start:stop]`` without a copy of its entries."""
    if (elsewhere := getattr(X, "between", None)) is not None:
        return cast(Rows, elsewhere(start, stop))
    lo, hi = X.indptr[start], X.indptr[stop]
    indptr = X.indptr[start : stop + 1] - lo
    return Rows(indptr, X.indices[lo:hi], X.data[lo:hi], (stop - start, int(X.shape[1])))


def taken(X: Counts | Rows, which: NDArray[np.intp]) -> Rows:
    """``X[which]``, a copy."""
    if (elsewhere := getattr(X, "taken", None)) is not None:
        return cast(Rows, elsewhere(which))
    starts, stops = X.indptr[which], X.indptr[which + 1]
    indptr = np.concatenate([[0], np.cumsum(stops - starts)]).astype(X.indptr.dtype)
    at = np.repeat(starts - indptr[:-1], stops - starts) + np.arange(indptr[-1])
    return Rows(indptr, X.indices[at], X.data[at], (len(which), int(X.shape[1])))
