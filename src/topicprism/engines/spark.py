"""Documents in the memory of Spark's executors.

A shard is a row of a persisted DataFrame, an id and a corpus as bytes; functions go to the shards
and sums come back.  Shards are intervals of keys, and a document goes to its own wherever it was
read: so neither the order of rows in the source nor the partitions it comes in make a difference,
not even if rows are read again because an executor was lost, and sums, which are added up in the
order of shards, have the same bits for any number of executors and cores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import isqrt
from operator import itemgetter
from typing import Any, TypeVar

from topicprism.documents.corpus import Corpus, alike, as_csr, joined
from topicprism.documents.subsets import KEYS, Subset
from topicprism.engines.predictions import with_predictions
from topicprism.engines.stages import (
    RecordBatch,
    added,
    batch_of,
    collected,
    mapped,
    placed,
    rows,
)
from topicprism.kernels.blas import one_blas_thread
from topicprism.validation import check_counts, check_response

S = TypeVar("S")
ENTRIES = 10_000  # of counts for each shard, times the number of shards: so both grow alike
SIZES = "n_words long, n_documents long, n_entries long"


@dataclass(frozen=True)
class OnSpark:
    """Shards of documents, kept by the executors of a Spark session until ``unpersist``."""

    shards: Any  # a persisted DataFrame (id, a Corpus as bytes)
    n_shards: int
    n_words: int
    n_threads: int = 1  # of this process, for what is done in memory

    @classmethod
    def of(cls, corpora: Any, n_threads: int = 1) -> OnSpark:
        """From a DataFrame with a column ``value`` of bytes: a pickled :class:`Corpus` in each."""
        if dict(corpora.dtypes).get("value") != "binary":
            raise ValueError(
                f"got a DataFrame of {', '.join(map(' '.join, corpora.dtypes))}, but expected a "
                "column value of type binary; put pickle.dumps(Corpus(X, y)) into it"
            )
        given = corpora.selectExpr("0L as id", "value").persist()
        try:
            sizes = mapped(given, measured, schema=SIZES).selectExpr(
                "min(n_words) as low", "max(n_words) as high", "sum(n_entries) as n_entries"
            )
            (found,) = collected(sizes)
            if found["low"] is None:
                raise ValueError("got no documents, but some were expected; check the DataFrame")
            if found["low"] != found["high"]:
                raise ValueError(
                    f"documents are over {found['low']} words and over {found['high']}, but all "
                    "must share one vocabulary; vectorise them together"
                )
            return cls.cut(given, found["high"], found["n_entries"], n_threads)
        finally:
            given.unpersist()

    @classmethod
    def cut(cls, corpora: Any, n_words: int, n_entries: int, n_threads: int = 1) -> OnSpark:
        """From rows (id, corpus), of which it is known how many entries they have."""
        n = max(1, isqrt(n_entries // ENTRIES))
        pieces = mapped(corpora, cut_by_key, n)
        shards = mapped(placed(pieces, n), put_together).persist()
        collected(shards.selectExpr("count(*)"))  # now, while what they are made of is there
        return cls(shards, n, n_words, n_threads)

    def total(self, part: Callable[..., S], *shared: Any) -> S:
        found: S = added(mapped(self.shards, summed, part, shared), self.n_shards)
        return found

    def unpersist(self) -> None:
        self.shards.unpersist()

    predict = staticmethod(with_predictions)


# --- on the workers -----------------------------------------------------------------------------


def measured(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    for _, c in rows(batches):
        if not isinstance(c, Corpus):
            raise ValueError(
                f"a row has a {type(c).__name__}, but a Corpus was expected; make one of counts "
                "and responses: Corpus(X, y)"
            )
        sizes = {"n_words": [c.n_words], "n_documents": [len(c)], "n_entries": [c.counts.nnz]}
        yield RecordBatch.from_pydict(sizes)


def cut_by_key(batches: Iterator[RecordBatch], n: int) -> Iterator[RecordBatch]:
    for _, corpus in rows(batches):
        if not len(corpus):
            continue
        X, y = check_counts(as_csr(corpus.counts)), check_response(corpus.y, len(corpus))
        ordered = alike(Corpus(X, y)).in_key_order()
        edges = [i * KEYS // n for i in range(n + 1)]
        pieces = [Subset(*edge).rows(ordered) for edge in pairwise(edges)]
        yield batch_of((i, piece) for i, piece in enumerate(pieces) if len(piece))


def put_together(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    for number, pieces in groupby(rows(batches), itemgetter(0)):
        yield batch_of([(number, joined(c for _, c in pieces).in_key_order())])


def summed(
    batches: Iterator[RecordBatch], part: Callable[..., S], shared: tuple[Any, ...]
) -> Iterator[RecordBatch]:
    for number, corpus in rows(batches):
        with one_blas_thread:
            yield batch_of([(number, part(corpus, *shared))])
