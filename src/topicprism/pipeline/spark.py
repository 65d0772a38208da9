"""The same fit from a Spark DataFrame: texts are read, split and counted by its executors.

Some rows at a time become counts in terms of their own, which are persisted; the terms of all are
added up and the vocabulary is chosen from them; then the counts get its columns and go to shards by
the keys of documents.  To this process come the terms, sums over documents, and the documents that
learning looks at again and again.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import groupby, islice
from operator import add, itemgetter
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone

from topicprism._typing import Doc
from topicprism.documents.corpus import Corpus
from topicprism.engines.spark import OnSpark
from topicprism.engines.stages import (
    RecordBatch,
    added,
    are_texts,
    batch_of,
    collected,
    mapped,
    rows,
)
from topicprism.pipeline.inputs import kept, warn_of_missing
from topicprism.pipeline.provenance import Ledger
from topicprism.scales import Scale, fitted
from topicprism.vectorizer import FastCountVectorizer, Tally
from topicprism.vectorizer.counting import CountedTexts
from topicprism.vectorizer.scripts import UnspacedWarning, unspaced

BATCHES = 8  # of 10,000 rows, as Spark cuts them, that are counted together
NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "boolean")


def fit_collection(
    frame: Any, y: None, counts: FastCountVectorizer, topics: Any, log: bool
) -> dict[str, Any]:
    """As ``topicprism.fit`` of the same documents in memory: of columns of texts and responses,
    or of texts alone.

    Both steps are fitted, and the facts of the fit returned.
    """
    start, frame = time.perf_counter(), checked(frame, topics)
    own = clone(counts).set_params(n_jobs=None)
    parts = mapped(frame, read, own).persist()
    try:
        found = summary_of(parts)
        if found.unspaced is not None:
            warnings.warn(found.unspaced, UnspacedWarning, stacklevel=3)
        warn_of_missing(found.ledger.left_out, found.ledger.n_rows)
        scale = found.ledger.scale(topics, log)
        counts.learn(found.tally)
        words = counts.get_feature_names_out().tolist()
        known = FastCountVectorizer.from_vocabulary(words, **own.get_params())
        corpora = mapped(parts, over_vocabulary, known, scale)
        n_threads = effective_n_jobs(topics.n_jobs)
        docs = OnSpark.cut(corpora, len(words), found.tally.n_entries, n_threads)
    finally:
        parts.unpersist()
    try:
        topics.fit_documents(docs)
    finally:
        docs.unpersist()
    info = found.ledger.info(counts, topics) | {"log": scale}
    return info | {"seconds": round(time.perf_counter() - start, 3)}


def are_counts(frame: Any) -> bool:
    return False


def lazily(pipeline: Any, method: str, frame: Any, **options: Any) -> Any:
    raise ValueError(
        f"got a Spark DataFrame for {method}, but expected texts or counts in memory, or a "
        "collection of Dask; use topicprism.engines.spark.OnSpark.predict(pipeline, frame, "
        "text=...), which adds columns"
    )


def score(pipeline: Any, frame: Any, y: Any = None, sample_weight: Any = None) -> float:
    return float(lazily(pipeline, "score", frame))


def checked(frame: Any, topics: Any) -> Any:
    """The columns ``text`` and, of numbers, ``y`` if there are responses."""
    if not hasattr(topics, "fit_documents"):
        raise ValueError(
            f"got a Spark DataFrame for {type(topics).__name__}, which needs all documents in "
            "memory; pass columns of frame.toPandas(), or use AutoSLDA or SpectralSLDA"
        )
    (text, kind), *response = frame.dtypes
    if not are_texts(kind):
        raise ValueError(
            f"column {text!r} is of type {kind}, but one of texts was expected; name another, or "
            "cast it to string"
        )
    if not response:
        return frame.toDF("text")
    (target, kind), frame = response[0], frame.toDF("text", "y")
    if not kind.startswith(NUMBERS):
        some = collected(frame.selectExpr("y").where("y is not null").limit(1))
        example = f" (such as {some[0]['y']!r:.40})" if some else ""
        raise ValueError(
            f"column {target!r} is of type {kind}{example}, but numbers were expected; encode "
            "labels or dates as numbers, or cast it to double"
        )
    return frame.selectExpr("text", "cast(y as double) as y")


@dataclass(frozen=True)
class Read:
    """Documents that can be used, in terms of their own."""

    docs: CountedTexts
    y: Doc
    ledger: Ledger
    unspaced: str | None  # what is to be said of such texts


@dataclass(frozen=True)
class Summary:
    """What is known of documents before their words have columns."""

    ledger: Ledger
    tally: Tally
    unspaced: str | None

    def __add__(self, other: Summary) -> Summary:
        unspaced = self.unspaced or other.unspaced
        return Summary(self.ledger + other.ledger, self.tally + other.tally, unspaced)


def summary_of(parts: Any) -> Summary:
    """Of all parts, which are made and persisted now."""
    (last,) = collected(parts.selectExpr("max(id) as id"))
    if last["id"] is None:
        raise ValueError(
            "got a Spark DataFrame without rows, but expected one for each document; check how it "
            "was made"
        )
    found: Summary = added(mapped(parts, summaries), last["id"] + 1)
    return found


# --- on the workers -----------------------------------------------------------------------------


def read(batches: Iterator[RecordBatch], counts: FastCountVectorizer) -> Iterator[RecordBatch]:
    """Rows (number of the partition, some of its documents)."""
    from pyspark import TaskContext

    task = TaskContext.get()
    number = 0 if task is None else task.partitionId()
    while some := list(islice(batches, BATCHES)):
        columns = zip(*(batch.columns for batch in some), strict=True)
        texts, *y = ([v for part in column for v in part.to_pylist()] for column in columns)
        batch = kept(texts, y[0] if y else None)
        ledger = Ledger().add(batch)
        numbers = np.zeros(len(batch)) if batch.y is None else np.asarray(batch.y, dtype=float)
        part = Read(counts.count(batch.docs), numbers, ledger, unspaced(batch.docs))
        yield batch_of([(number, part)])


def summaries(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    """One for each partition."""
    for number, parts in groupby(rows(batches), itemgetter(0)):
        yield batch_of([(number, reduce(add, (summary(part) for _, part in parts)))])


def summary(part: Read) -> Summary:
    return Summary(part.ledger, FastCountVectorizer.tally_of(part.docs), part.unspaced)


def over_vocabulary(
    batches: Iterator[RecordBatch], counts: FastCountVectorizer, scale: Scale
) -> Iterator[RecordBatch]:
    """The counts of each part in the columns of all."""
    for number, part in rows(batches):
        yield batch_of([(number, Corpus(counts.transform(part.docs), fitted(scale, part.y)))])
