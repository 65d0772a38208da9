"""One corpus, several threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any, TypeVar

from topicprism._typing import Doc
from topicprism.documents.corpus import Corpus
from topicprism.kernels.blas import one_blas_thread

S = TypeVar("S")
MIN_SHARD_DOCUMENTS = 5_000  # with fewer, starting a thread takes longer than it saves
MAX_SHARDS = 16  # each has sums of its own in memory while they are added up


@dataclass(frozen=True)
class Threaded:
    """A corpus in shards that threads share.

    How it is cut depends on the corpus alone and shards are added up in their order,
    so the sums are the same to the last bit for any number of threads.
    """

    corpus: Corpus
    n_threads: int

    @property
    def n_words(self) -> int:
        return self.corpus.n_words

    @cached_property
    def shards(self) -> tuple[Corpus, ...]:
        """Made once, so that the keys of documents are."""
        return tuple(
            self.corpus.shards(min(max(len(self.corpus) // MIN_SHARD_DOCUMENTS, 1), MAX_SHARDS))
        )

    def total(self, part: Callable[..., S], *shared: Any) -> S:
        with one_blas_thread, ThreadPoolExecutor(self.n_threads) as pool:
            return reduce(add, pool.map(lambda shard: part(shard, *shared), self.shards))

    def with_response(self, y: Doc) -> Threaded:
        return Threaded(self.corpus.with_response(y), self.n_threads)

    @property
    def mirrored(self) -> Threaded:
        """The same documents with the responses turned round."""
        return self.with_response(-self.corpus.y)

    def in_key_order(self, n_documents: int) -> Threaded:
        return Threaded(self.corpus.in_key_order(), self.n_threads)
