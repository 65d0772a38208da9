"""Rows of documents in the memory of a GPU, which also come to the host if they are asked for.

A :class:`Store` has the entries document by document and, in blocks of documents, word by word: the
sums of a word then go over what is read in order, and the coordinates of a block's documents stay
in the cache.  Rows are a run of a store's documents.  Whoever asks them for ``indptr``, ``indices``
or ``data`` gets numpy arrays, fetched once: what has no function on the GPU is right anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

import cupy
import numpy as np

from topicprism.backends.launch import LAYOUT, per_thread, per_warp

BLOCK = 65_536  # documents of a block: their coordinates, 8 MB of 32, stay in the cache
CHUNK = 256  # entries of a word that one warp adds up


@dataclass(frozen=True)
class ByWord:
    """The entries of a block of documents in the order of words, cut into chunks of one word."""

    first: int  # document of the block
    n: int
    docs: Any  # which of the block's
    counts: Any
    begin: Any  # of each chunk
    end: Any
    word_of: Any
    chunks: Any  # the first of each word
    n_chunks: int


class Store:
    """Documents on the GPU, by document and by word."""

    def __init__(self, indptr: Any, words: Any, counts: Any, n_words: int) -> None:
        self.indptr, self.words, self.counts, self.n_words = indptr, words, counts, n_words
        self.n = len(indptr) - 1
        self.lengths, falls = cupy.empty(self.n), cupy.zeros(1, cupy.uint32)
        per_warp(LAYOUT("lengths"), self.n, indptr, words, counts, self.n, self.lengths, falls)
        self.is_in_order = int(falls[0]) == 0
        self._by_word: dict[int, ByWord] = {}

    @cached_property
    def edges(self) -> Any:
        """Where the entries of each block begin, on the host."""
        return np.append(cupy.asnumpy(self.indptr[:-1:BLOCK]), int(self.indptr[-1]))

    @cached_property
    def keys(self) -> Any:
        keys = cupy.empty(self.n, cupy.uint64)
        per_warp(
            LAYOUT("document_keys"), self.n, self.indptr, self.words, self.counts, self.n, keys
        )
        return keys

    def by_word(self, block: int) -> ByWord:
        if block not in self._by_word:
            self._by_word[block] = self._sorted(block)
        return self._by_word[block]

    def _sorted(self, block: int) -> ByWord:
        """By a stable sort: the documents of a word keep their order."""
        first, V = block * BLOCK, self.n_words
        n, (start, stop) = min(BLOCK, self.n - first), self.edges[block : block + 2].tolist()
        words, owners = self.words[start:stop], cupy.empty(stop - start, cupy.uint16)
        per_warp(LAYOUT("owners"), n, self.indptr, first, n, owners)
        order = cupy.argsort(words.astype(cupy.uint16) if V <= 65_536 else words)
        docs, counts = owners[order], self.counts[start:stop][order].astype(cupy.float32)
        entries, chunks = cupy.zeros((2, V + 1), cupy.int64)
        sizes = cupy.bincount(words, minlength=V)
        entries[1:], chunks[1:] = cupy.cumsum(sizes), cupy.cumsum((sizes + CHUNK - 1) // CHUNK)
        n_chunks = int(chunks[-1])
        begin, end = cupy.empty((2, n_chunks), cupy.int64)
        word_of = cupy.empty(n_chunks, cupy.int32)
        per_thread(LAYOUT("pieces"), V, entries, chunks, V, CHUNK, begin, end, word_of)
        return ByWord(first, n, docs, counts, begin, end, word_of, chunks, n_chunks)

    def over(self, words: Any) -> Store:
        """The same documents over these of the words, rising, which are all that occur."""
        at = cupy.zeros(self.n_words, cupy.int32)
        at[cupy.asarray(words)] = cupy.arange(len(words), dtype=cupy.int32)
        return Store(self.indptr, at[self.words], self.counts, len(words))

    def taken(self, which: Any) -> Store:
        """Some documents, in this order, in a copy."""
        which = cupy.asarray(which, cupy.int64)
        starts = cupy.zeros(len(which) + 1, cupy.int64)
        starts[1:] = cupy.cumsum(self.indptr[which + 1] - self.indptr[which])
        nnz = int(starts[-1])
        words, counts = cupy.empty(nnz, cupy.int32), cupy.empty(nnz, cupy.uint32)
        own = (self.indptr, self.words, self.counts)
        per_warp(LAYOUT("take"), len(which), *own, which, starts, len(which), words, counts)
        return Store(starts, words, counts, self.n_words)


class PlacedRows:
    """A run of a store's documents, with what :class:`topicprism.documents.corpus.Rows` has."""

    backend: ModuleType  # set by backends.gpu

    def __init__(self, n_words: int, n: int, make: Callable[[], Store], host: Any = None) -> None:
        """``make`` brings the documents to the GPU, as soon as these are asked for."""
        self.shape, self.start, self._make, self._host = (n, n_words), 0, make, host
        self.burstiness, self.burst_words = 0.0, 1.0
        self._as_evidence: Callable[[Any], Any] | None = None

    @classmethod
    def of(cls, store: Store) -> PlacedRows:
        return cls(store.n_words, store.n, lambda: store)

    @cached_property
    def store(self) -> Store:
        return self._make()

    @property
    def stop(self) -> int:
        return self.start + self.shape[0]

    @property
    def blocks(self) -> list[int]:
        """The blocks of the store that these documents are in."""
        first, last = self.start // BLOCK, -(-self.stop // BLOCK)
        return list(range(first, last)) if self.shape[0] else []

    def between(self, start: int, stop: int) -> PlacedRows:
        """Consecutive rows; nothing is copied, nor brought to the GPU before it is needed."""
        if self._host is not None and "store" not in self.__dict__:
            host = self._host[0][start : stop + 1], *self._host[1:]
            some = PlacedRows(self.shape[1], stop - start, lambda: self.backend.stored(host), host)
        else:
            store = self.store
            some = PlacedRows(self.shape[1], stop - start, lambda: store)
            some.start = self.start + start
        return self._same_evidence(some)

    def taken(self, which: Any) -> PlacedRows:
        """Some rows, in this order, in a copy."""
        at = cupy.asarray(which, cupy.int64) + self.start
        return self._same_evidence(PlacedRows.of(self.store.taken(at)))

    def weighed(self, burstiness: float, burst_words: float, on_host: Any) -> PlacedRows:
        """The same rows with counts as evidence, which kernels reckon as they go."""
        some = self.between(0, self.shape[0])
        some.burstiness, some.burst_words, some._as_evidence = burstiness, burst_words, on_host
        return some

    def _same_evidence(self, some: PlacedRows) -> PlacedRows:
        some.burstiness, some.burst_words = self.burstiness, self.burst_words
        some._as_evidence = self._as_evidence
        return some

    @cached_property
    def on_host(self) -> Any:
        """The rows as numpy has them."""
        rows = self.backend.fetched(self)
        return rows if self._as_evidence is None else self._as_evidence(rows)

    @cached_property
    def indptr(self) -> Any:
        if "on_host" in self.__dict__:
            return self.on_host.indptr
        edges = cupy.asnumpy(self.store.indptr[self.start : self.stop + 1])
        return edges - edges[0]

    @property
    def indices(self) -> Any:
        return self.on_host.indices

    @property
    def data(self) -> Any:
        return self.on_host.data

    @property
    def nnz(self) -> int:
        if "on_host" in self.__dict__:
            return int(self.on_host.nnz)
        return int(self.store.indptr[self.stop] - self.store.indptr[self.start])

    def to_csr(self) -> Any:
        rows = self.on_host
        return rows.to_csr() if hasattr(rows, "to_csr") else rows
