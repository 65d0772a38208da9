"""Documents on one GPU, or streamed through it block by block.

If its memory has room, documents are brought there once, put into the order of their keys, and
stay; otherwise each pass streams them, a block being copied while sums over another are computed.
Sums come back, the same to the bit in every run on one kind of GPU; all else is on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any, TypeVar, cast

import numpy as np

from topicprism import backends
from topicprism._typing import Doc, Ints
from topicprism.documents.corpus import Corpus, Rows, take_rows
from topicprism.documents.occurring import of_occurring
from topicprism.documents.standardised import of_standardised, standardised
from topicprism.documents.subsets import MAX_ORDERED
from topicprism.model import ResponseScale
from topicprism.validation import refuse_no_counts, refuse_repeated_words

S = TypeVar("S")
BYTES_PER_ENTRY = 28  # of counts: by document, by word, and a copy while they are put in order
BYTES_PER_DOCUMENT = 100
MEMORY_SHARE = 0.8  # of the free memory, at most
LEAST_BYTES = 2**26  # of the GPU's memory, with which blocks are hardly worth the way


@dataclass(frozen=True)
class OnGPU:
    """Documents for one GPU: one corpus that lies there, or several to be streamed."""

    corpora: tuple[Corpus, ...]
    is_resident: bool
    n_threads: int = 1  # of this process, for what is done in memory
    _standardised: dict[ResponseScale, tuple[Corpus, ...]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @classmethod
    def of(cls, corpus: Corpus, n_threads: int = 1, max_bytes: float | None = None) -> OnGPU:
        """With at most ``max_bytes`` of the GPU's memory, or what is free there."""
        backends.require_gpu()
        from topicprism.backends.memory import free_bytes

        X = take_rows(corpus.counts, 0, len(corpus))
        room = min(MEMORY_SHARE * free_bytes(), np.inf if max_bytes is None else max_bytes)
        needed = BYTES_PER_ENTRY * X.nnz + BYTES_PER_DOCUMENT * len(corpus)
        if needed <= room:
            return cls((_resident(X, corpus.y),), True, n_threads)
        if room < LEAST_BYTES:
            raise MemoryError(
                f"{room / 2**10:,.0f} KB of the GPU's memory are free, but documents need "
                f"{needed / 2**10:,.0f}, or {LEAST_BYTES / 2**10:,.0f} at least to be streamed; "
                "end what else runs there, or use device='cpu'"
            )
        refuse_no_counts(X)
        refuse_repeated_words(X)
        return cls(tuple(corpus.shards(int(-(-2 * needed // room)))), False, n_threads)

    @property
    def n_words(self) -> int:
        return self.corpora[0].n_words

    def total(self, part: Callable[..., S], *shared: Any) -> S:
        corpora = self.corpora
        if part is of_standardised:  # once, so that responses are brought to the GPU once
            scale, part, *shared_by_all = shared
            corpora, shared = self._in_scale(scale), tuple(shared_by_all)
        if self.is_resident:
            return part(corpora[0], *shared)
        return reduce(add, (part(shard, *shared) for shard in _streamed(corpora)))

    def _in_scale(self, scale: ResponseScale) -> tuple[Corpus, ...]:
        known = self._standardised
        if scale not in known:
            known[scale] = tuple(c.with_response(standardised(c.y, scale)) for c in self.corpora)
        return known[scale]

    def in_key_order(self, n_documents: int) -> OnGPU:
        """As documents on the GPU always are; streamed ones if they are few."""
        if self.is_resident or n_documents > MAX_ORDERED:
            return self
        ordered = tuple(c.in_key_order() for c in self.corpora) if len(self.corpora) == 1 else ()
        return OnGPU(ordered or self.corpora, False, self.n_threads)

    @property
    def mirrored(self) -> OnGPU:
        """The same documents with the responses turned round."""
        mirrored = tuple(c.with_response(-c.y) for c in self.corpora)
        return OnGPU(mirrored, self.is_resident, self.n_threads)

    def kept(self, corpus: Corpus) -> OnGPU:
        """Documents that were brought together from these."""
        return OnGPU.of(corpus, self.n_threads)

    def over(self, words: Ints) -> OnGPU:
        """The documents over these of their columns, which are all that occur."""
        if not self.is_resident:
            fewer = tuple(of_occurring(c, words, lambda c: c) for c in self.corpora)
            return OnGPU(fewer, False, self.n_threads)
        (corpus,) = self.corpora
        fewer = (_in_key_order(cast(Any, corpus.counts).store.over(words), corpus.y),)
        return OnGPU(fewer, True, self.n_threads)


def _resident(X: Rows, y: Doc) -> Corpus:
    """Documents that are checked, on the GPU, and in the order of their keys."""
    from topicprism.backends import gpu

    try:
        store = gpu.stored((X.indptr, X.indices, X.data, X.shape[1]))
    except ValueError:
        refuse_no_counts(X)  # which says where it is
        raise
    if not store.is_in_order:
        refuse_repeated_words(X)
    return _in_key_order(store, y)


def _in_key_order(store: Any, y: Doc) -> Corpus:
    from topicprism.backends import gpu

    order, keys = gpu.key_order(store, y)
    rows = gpu.rows_of(store.taken(order))
    corpus = Corpus(cast(Any, rows), np.ascontiguousarray(y[order], dtype=float), by_key=True)
    corpus.__dict__["keys"] = keys
    return corpus


def _streamed(corpora: tuple[Corpus, ...]) -> Iterator[Corpus]:
    """Corpora on the GPU, one after the other, the next on its way."""
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(_brought, corpora[0])
        for following in corpora[1:]:
            shard, waiting = waiting.result(), pool.submit(_brought, following)
            yield shard
        yield waiting.result()


def _brought(c: Corpus) -> Corpus:
    there = backends.placed(take_rows(c.counts, 0, len(c)), "gpu")
    _ = there.store
    return c.with_counts(there).with_response(np.ascontiguousarray(c.y, dtype=float))
