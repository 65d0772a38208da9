"""One corpus, several threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any, TypeVar

from topicprism._typing import Doc
from topicprism.documents.corpus import Corpus
from topicprism.kernels.blas import one_blas_thread

S = TypeVar("S")
MIN_SHARD_DOCUMENTS = 5_000  # with fewer, starting a thread takes longer than it saves
MAX_SHARDS = 256  # with more, adding up their sums, which one thread does, takes long
AHEAD = 2  # shards for each thread whose sums may be waiting in memory for those before them


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
        with one_blas_thread:
            return reduce(add, self._parts(part, shared))

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        """Kept from pass to pass: with many threads, starting them takes a tenth of a pass."""
        return ThreadPoolExecutor(self.n_threads)

    def _parts(self, part: Callable[..., S], shared: tuple[Any, ...]) -> Iterator[S]:
        """``part`` of each shard, in their order, a few of them under way."""
        waiting: deque[Future[S]] = deque()
        try:
            for shard in self.shards:
                if len(waiting) == AHEAD * self.n_threads:
                    yield waiting.popleft().result()
                waiting.append(self._pool.submit(part, shard, *shared))
            while waiting:
                yield waiting.popleft().result()
        finally:
            for one in waiting:
                one.cancel()

    def __getstate__(self) -> dict[str, Any]:
        """Without the threads."""
        return {"corpus": self.corpus, "n_threads": self.n_threads}

    def with_response(self, y: Doc) -> Threaded:
        return Threaded(self.corpus.with_response(y), self.n_threads)

    @property
    def mirrored(self) -> Threaded:
        """The same documents with the responses turned round."""
        return self.with_response(-self.corpus.y)

    def in_key_order(self, n_documents: int) -> Threaded:
        return Threaded(self.corpus.in_key_order(), self.n_threads)
