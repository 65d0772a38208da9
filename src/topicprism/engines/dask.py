"""Documents in the memory of Dask's workers.

A shard is made by tasks and stays where it was made; functions go to the shards and sums come
back.  If a worker dies, Dask makes its shards anew, and the sums are the same to the last bit:
they are added up in the order of the shards, eight at a time, however many workers there are.
What all shards need in a pass is the result of a task as well, which workers hand on to each
other, so that its loss is mended, too.  Small partitions are joined with their neighbours, by what
they hold and not by who is there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

from topicprism.documents.corpus import Corpus, alike, as_csr, joined
from topicprism.engines.tasks import (
    RETRIES,
    WorkerLostError,
    added,
    called,
    check_workers,
    current_client,
    gather,
    hold,
    pieces,
    places,
    submit,
)
from topicprism.kernels.blas import one_blas_thread
from topicprism.validation import check_counts, check_response

S = TypeVar("S")
LEAST_SHARDS = 64  # that partitions which are small are joined to
MOST_BYTES = 2**25  # of counts in partitions that are joined


@dataclass(frozen=True)
class OnDask:
    """Shards of documents, kept by the workers of the current client."""

    shards: tuple[Any, ...]  # futures of a Corpus each
    n_words: int
    n_threads: int = 1  # of this process, for what is done in memory

    @classmethod
    def of(cls, corpora: Any, n_threads: int = 1) -> OnDask:
        """From Delayed or futures of a :class:`Corpus` each; or from a Bag, whose partitions hold
        corpora."""
        client = current_client()
        check_workers(client)
        found = client.compute(pieces(corpora), retries=RETRIES)
        shards = [
            submit(client, _shard, one, i, name=f"partition-{i}") for i, one in enumerate(found)
        ]
        sizes = gather(client, [submit(client, _size, shard) for shard in shards])
        words, n_bytes = zip(*sizes, strict=True)
        if len(set(words)) > 1:
            other = next(i for i, size in enumerate(words) if size != words[0])
            raise ValueError(
                f"partition 0 is over {words[0]} words and partition {other} over {words[other]}, "
                "but all must share one vocabulary; vectorise them together"
            )
        joint = [
            shards[start] if stop == start + 1 else
            submit(client, _joint, *shards[start:stop], name=f"partitions-{start}-to-{stop - 1}")
            for start, stop in runs(n_bytes)
        ]  # fmt: skip
        return cls(tuple(joint), words[0], n_threads)

    def total(self, part: Callable[..., S], *shared: Any) -> S:
        """By the workers that have the shards; if one of them ends, by any."""
        client = current_client()
        try:
            return self._total(client, part, shared, places(client, self.shards))
        except WorkerLostError:
            return self._total(client, part, shared, {})

    def _total(
        self, client: Any, part: Callable[..., S], shared: Any, where: Mapping[Any, str]
    ) -> S:
        known = submit(client, hold, shared, name="shared")
        sums = [
            submit(client, _sum, shard, name, part, known, name=f"sum-of-{name}",
                   workers=where.get(shard.key))
            for shard in self.shards
            for name in [called(shard.key)]
        ]  # fmt: skip
        found: S = added(client, sums, known, bound_to=set(where.values()))
        return found


def runs(n_bytes: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbours to be one shard, as (start, stop): by their bytes alone, so that sums have the
    same bits for any number of workers."""
    most = min(sum(n_bytes) / LEAST_SHARDS, MOST_BYTES)
    edges, held = [0], 0
    for i, size in enumerate(n_bytes):
        if i > edges[-1] and held + size > most:
            edges.append(i)
            held = 0
        held += size
    return list(pairwise([*edges, len(n_bytes)]))


def _joint(*corpora: Corpus) -> Corpus:
    return joined(corpora)


def _shard(corpus: Any, number: int) -> Corpus:
    if isinstance(corpus, list) and len(corpus) == 1:  # a partition of a Bag
        (corpus,) = corpus
    if not isinstance(corpus, Corpus):
        raise ValueError(
            f"partition {number} is a {type(corpus).__name__}, but a Corpus was expected; make one "
            "of counts and responses: Corpus(X, y)"
        )
    return alike(_checked(corpus, number) if len(corpus) else corpus)


def _checked(corpus: Corpus, number: int) -> Corpus:
    """Refuse what is no count, as ``fit`` does; a word that is there twice is counted once."""
    try:
        return Corpus(check_counts(as_csr(corpus.counts)), check_response(corpus.y, len(corpus)))
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from None


def _size(corpus: Corpus) -> tuple[int, int]:
    return corpus.n_words, sys.getsizeof(corpus)


def _sum(corpus: Corpus, name: str, part: Callable[..., S], shared: Sequence[Any]) -> S:
    try:
        with one_blas_thread:
            return part(corpus, *shared)
    except ValueError as error:
        raise ValueError(f"{name.replace('-', ' ')}: {error}") from None
