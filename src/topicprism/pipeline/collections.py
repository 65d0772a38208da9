"""The same fit from a Dask collection: texts are read, split and counted where they are.

Each partition becomes counts in terms of its own; the terms of all are added up and the vocabulary
is chosen from them; then the counts get its columns and are a shard of documents.  To this process
come the terms, sums over documents, and the documents that learning looks at again and again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_array

from topicprism._typing import Doc
from topicprism.documents.corpus import Corpus
from topicprism.engines.dask import OnDask
from topicprism.engines.tasks import added, check_workers, current_client, hold, pieces, submit
from topicprism.pipeline.inputs import as_documents, as_list, kept, warn_of_missing
from topicprism.pipeline.provenance import Ledger
from topicprism.scales import Scale, fitted
from topicprism.validation import check_response
from topicprism.vectorizer import FastCountVectorizer, PrecomputedCounts, Tally
from topicprism.vectorizer.columns import are_counts
from topicprism.vectorizer.counting import CountedTexts

Counts = FastCountVectorizer | PrecomputedCounts


def fit_collection(texts: Any, y: Any, counts: Counts, topics: Any, log: bool) -> dict[str, Any]:
    """Both steps fitted as ``topicprism.fit`` does for the same documents in memory; and facts."""
    start, client = time.perf_counter(), current_client()
    if not hasattr(topics, "fit_documents"):
        raise ValueError(
            f"got a Dask collection for {type(topics).__name__}, which needs all documents in "
            "memory; pass texts.compute(), or use AutoSLDA or SpectralSLDA"
        )
    check_workers(client)
    parts = [
        submit(client, read, some, its, i, counts, name=f"partition-{i}")
        for i, (some, its) in enumerate(_pairs(client, texts, y))
    ]
    found: Summary = added(client, [submit(client, summary, part) for part in parts])
    warn_of_missing(found.ledger.left_out, found.ledger.n_rows)
    scale = found.ledger.scale(topics, log)
    known = submit(client, hold, None if found.tally is None else _learnt(counts, found.tally))
    shards = [submit(client, shard, part, known, scale) for part in parts]
    docs = OnDask.of(shards, effective_n_jobs(topics.n_jobs))
    del parts, shards  # so that workers may forget what the shards were made of
    if isinstance(counts, PrecomputedCounts):
        counts.fit(csr_array((1, docs.n_words)))
    topics.fit_documents(docs)
    info = found.ledger.info(counts, topics) | {"log": scale}
    return info | {"seconds": round(time.perf_counter() - start, 3)}


@dataclass(frozen=True)
class Read:
    """The documents of a partition that can be used."""

    docs: CountedTexts | csr_array
    y: Doc
    ledger: Ledger


@dataclass(frozen=True)
class Summary:
    """What is known of documents before their words have columns."""

    ledger: Ledger
    tally: Tally | None  # of texts

    def __add__(self, other: Summary) -> Summary:
        both = None if self.tally is None or other.tally is None else self.tally + other.tally
        return Summary(self.ledger + other.ledger, both)


def read(docs: Any, y: Any, number: int, counts: Any) -> Read:
    """A task: texts are counted in terms of their own, counts stay as they are."""
    try:
        batch = kept(as_documents(docs), None if y is None else as_list(y))
        numbers = np.zeros(len(batch)) if batch.y is None else check_response(batch.y, len(batch))
        found = batch.docs if are_counts(batch.docs) else counts.count(batch.docs)
        return Read(found, numbers, Ledger().add(batch))
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from None


def summary(part: Read) -> Summary:
    if isinstance(part.docs, CountedTexts):
        return Summary(part.ledger, FastCountVectorizer.tally_of(part.docs))
    return Summary(part.ledger, None)


def shard(part: Read, counts: FastCountVectorizer | None, scale: Scale) -> Corpus:
    """A task: the counts of a partition in the columns of all."""
    X: Any = part.docs if counts is None else counts.transform(part.docs)
    return Corpus(X, fitted(scale, part.y))


def _pairs(client: Any, texts: Any, y: Any) -> list[tuple[Any, Any]]:
    """Partitions of documents, each with that of its responses."""
    of_texts = client.compute(pieces(texts))
    of_y = [None] * len(of_texts) if y is None else client.compute(pieces(y))
    if len(of_y) != len(of_texts):
        raise ValueError(
            f"got texts in {len(of_texts)} partitions and responses in {len(of_y)}, but expected "
            "them to be cut alike; take both from one collection, or repartition one of them"
        )
    return list(zip(of_texts, of_y, strict=True))


def _learnt(counts: Any, tally: Tally) -> FastCountVectorizer:
    """The vocabulary is chosen; what workers need of it is returned."""
    counts.learn(tally)
    words = counts.get_feature_names_out().tolist()
    return FastCountVectorizer.from_vocabulary(words, **counts.get_params() | {"n_jobs": None})


# --- predictions ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lazily:
    """Predictions or proportions of a Dask collection, as one that is computed when asked for.

    Of a Series they are a Series, or a frame of several columns, with its index; of a Bag, a Bag;
    of an Array of counts, an Array.
    """

    method: Any  # of a pipeline
    width: int | None  # columns of proportions
    options: dict[str, Any]

    def of(self, X: Any) -> Any:
        if hasattr(X, "map_blocks"):
            if self.options.get("return_std"):
                raise ValueError(
                    "return_std=True was asked of a Dask array, which has one number per row; ask "
                    "it of a Dask Series or Bag of texts, or of counts in memory"
                )
            if self.width is None:
                return X.map_blocks(self.array, dtype=float, drop_axis=list(range(1, X.ndim)))
            return X.map_blocks(self.array, dtype=float, chunks=(X.chunks[0], (self.width,)))
        if hasattr(X, "index"):
            return X.map_partitions(self.table, meta=self.table(X._meta_nonempty.iloc[:1]).iloc[:0])
        return X.map_partitions(self.items)

    def array(self, counts: Any) -> Any:
        if counts.shape[0] == 0:
            return np.empty((0,) if self.width is None else (0, self.width))
        return self.method(counts, **self.options)

    def items(self, texts: Any) -> list[Any]:
        found = self._of_texts(list(texts))
        return list(zip(*found, strict=True) if isinstance(found, tuple) else found)

    def table(self, texts: Any) -> Any:
        """Of a Series of pandas'."""
        found = self._of_texts(texts.tolist())
        if not isinstance(found, tuple) and found.ndim == 1:
            return type(texts)(found, index=texts.index, name="prediction")
        names = ["prediction", "std"]
        if isinstance(found, tuple):
            found = np.column_stack(found)
        else:
            names = [f"topic{i}" for i in range(found.shape[1])]
        return type(texts.to_frame())(found, index=texts.index, columns=names)

    def _of_texts(self, texts: list[Any]) -> Any:
        if texts:
            return self.method(texts, **self.options)
        if self.options.get("return_std"):
            return np.empty(0), np.empty(0)
        return np.empty(0) if self.width is None else np.empty((0, self.width))
