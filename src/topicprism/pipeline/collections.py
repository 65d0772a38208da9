"""The same fit by Dask's workers: texts are read, split and counted where they are.

Each partition, or file, becomes counts in terms of its own; the terms of all are added up and the
vocabulary is chosen from them; then the counts get its columns and are a shard of documents.  To
this process come the terms, sums over documents, the documents that are held out, and those that
learning looks at again and again.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_array
from sklearn.base import clone

from topicprism._typing import Doc
from topicprism.defaults import FITTING
from topicprism.documents.corpus import Corpus
from topicprism.documents.sums import Sized
from topicprism.engines.dask import OnDask
from topicprism.engines.tasks import (
    added,
    check_workers,
    current_client,
    hold,
    of_partitions,
    submit,
)
from topicprism.pipeline.drawing import Drawing, Drawn, Keys, text_keys
from topicprism.pipeline.inputs import as_documents, as_list, kept, warn_of_missing
from topicprism.pipeline.lazily import lazily as lazily
from topicprism.pipeline.lazily import score as score
from topicprism.pipeline.provenance import Ledger
from topicprism.pipeline.scoring import Kept
from topicprism.pipeline.streaming import Counted, Source, Texts
from topicprism.pipeline.watching import Progress, Silent, Watched
from topicprism.scales import Scale, fitted
from topicprism.validation import check_response
from topicprism.vectorizer import FastCountVectorizer, PrecomputedCounts, Tally
from topicprism.vectorizer import columns as vectorizer_columns
from topicprism.vectorizer.counting import CountedTexts
from topicprism.vectorizer.scripts import UnspacedWarning, unspaced

Counts = FastCountVectorizer | PrecomputedCounts


def are_counts(X: Any) -> bool:
    return getattr(X, "ndim", 1) == 2


def fit_collection(texts: Any, y: Any, counts: Counts, topics: Any, log: bool) -> dict[str, Any]:
    """As ``topicprism.fit`` of the same documents in memory: both steps are fitted."""
    start, client = time.perf_counter(), current_client()
    check_estimator(topics)
    check_workers(client)
    parts = of_partitions(client, read, "partition", texts, y, on_workers(counts))
    found, _ = fit_parts(client, parts, Fit(counts, topics, log))
    return found | {"seconds": round(time.perf_counter() - start, 3)}


def fit_sources(
    sources: Sequence[Source], names: Sequence[str], client: Any, fit: Fit
) -> tuple[dict[str, Any], Counted]:
    """As ``fit_chunks`` of the same rows: each source is read by a worker."""
    check_estimator(fit.topics)
    check_workers(client)
    own = on_workers(fit.counts)
    parts = [
        submit(client, read_source, source, own, fit.seed, name=name)
        for source, name in zip(sources, names, strict=True)
    ]
    return fit_parts(client, parts, fit)


def texts_held_out(
    client: Any, sources: Sequence[Source], names: Sequence[str], drawn: Drawn
) -> list[str]:
    """Read once more, for a page to show."""
    found: Texts = added(
        client,
        [
            submit(client, chosen_texts, source, drawn, name=name)
            for source, name in zip(sources, names, strict=True)
        ],
    )
    return found.texts


def check_estimator(topics: Any) -> None:
    if not hasattr(topics, "fit_documents"):
        raise ValueError(
            f"got documents on Dask for {type(topics).__name__}, which needs all of them in "
            "memory; pass them from there, compute() of a collection, or use AutoSLDA or "
            "SpectralSLDA"
        )


def on_workers(counts: Counts) -> Counts:
    """With one thread: a task has no more."""
    copy: Counts = clone(counts)
    return copy.set_params(n_jobs=None) if isinstance(copy, FastCountVectorizer) else copy


# --- the fit ----------------------------------------------------------------------------------


def look_at_rows(ledger: Ledger) -> None:
    if ledger.n_documents == 0:
        raise ValueError(
            f"none of {ledger.n_rows} documents has a text, and a response where these are given, "
            "but some were expected; check the collection"
        )
    warn_of_missing(ledger.left_out, ledger.n_rows)


@dataclass(frozen=True)
class Fit:
    """What is to be fitted, and how."""

    counts: Counts
    topics: Any
    log: bool | None = False
    held_out: float = 0.0
    seed: int = FITTING.random_state
    check: Callable[[Ledger], object] = look_at_rows
    watch: Progress = field(default_factory=Silent)


def fit_parts(client: Any, parts: list[Any], fit: Fit) -> tuple[dict[str, Any], Counted]:
    """Of futures of :class:`Read`, which is emptied so that workers may forget them."""
    counts, topics, every = fit.counts, fit.topics, list(parts)
    try:
        fit.watch.stage("pass one: words")
        found: Summary = added(
            client, [submit(client, summary, part) for part in parts], note=fit.watch.at
        )
        if found.unspaced is not None:
            warnings.warn(found.unspaced, UnspacedWarning, stacklevel=4)
        fit.check(found.ledger)
        scale, drawn = found.ledger.scale(topics, fit.log), found.drawing.draw(fit.held_out)
        known = submit(client, hold, None if found.tally is None else _learnt(counts, found.tally))
        fit.watch.stage("pass two: counts")
        both = [submit(client, separated, part, known, drawn, scale) for part in parts]
        every += [known, *both]
        docs = OnDask.of(
            [submit(client, rest, one) for one in both], effective_n_jobs(topics.n_jobs)
        )
        every += docs.shards
        aside: Aside = added(client, [submit(client, set_aside, one) for one in both])
        parts.clear()
        both.clear()
        del every[: -len(docs.shards)]
        fit.watch.stage("learning")
        if isinstance(counts, PrecomputedCounts):
            counts.fit(csr_array((1, docs.n_words)))
        topics.fit_documents(Watched(docs, fit.watch))
    except BaseException:
        client.cancel(every, force=True)
        raise
    held, base = aside.held_out, aside.baseline
    info = found.ledger.info(counts, topics, len(held), len(base)) | {"log": scale}
    return info, Counted(docs, held, base, drawn)


def _learnt(counts: Any, tally: Tally) -> FastCountVectorizer:
    """The vocabulary is chosen; what workers need of it is returned."""
    counts.learn(tally)
    words = counts.get_feature_names_out().tolist()
    return FastCountVectorizer.from_vocabulary(words, **counts.get_params() | {"n_jobs": None})


# --- tasks --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Read(Sized):
    """The documents of a partition that can be used."""

    docs: CountedTexts | csr_array
    y: Doc
    ledger: Ledger
    keys: Keys | None = None  # of texts, some of which are to be held out
    drawing: Drawing = field(default_factory=lambda: Drawing(0))
    unspaced: str | None = None  # what is to be said of such texts


@dataclass(frozen=True)
class Summary(Sized):
    """What is known of documents before their words have columns."""

    ledger: Ledger
    tally: Tally | None  # of texts
    drawing: Drawing
    unspaced: str | None

    def __add__(self, other: Summary) -> Summary:
        both = None if self.tally is None or other.tally is None else self.tally + other.tally
        ledger, drawing = self.ledger + other.ledger, self.drawing + other.drawing
        return Summary(ledger, both, drawing, self.unspaced or other.unspaced)


@dataclass(frozen=True)
class Aside(Sized):
    """Documents that are not learnt from, and those that the baseline is, too."""

    held_out: Kept
    baseline: Kept

    def __add__(self, other: Aside) -> Aside:
        return Aside(self.held_out + other.held_out, self.baseline + other.baseline)


def read(docs: Any, y: Any, number: int, counts: Any) -> Read:
    """Texts are counted in terms of their own, counts stay as they are."""
    try:
        batch = kept(as_documents(docs), None if y is None else as_list(y))
        numbers = np.zeros(len(batch))
        if batch.y is not None:
            numbers = check_response(batch.y, len(batch), batch.rows)
        if vectorizer_columns.are_counts(batch.docs):
            return Read(batch.docs, numbers, Ledger().add(batch))
        found = counts.count(batch.docs)  # refuses what is no text
        return Read(found, numbers, Ledger().add(batch), unspaced=unspaced(batch.docs))
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from None


def read_source(source: Source, counts: Any, seed: int) -> Read:
    """The same of rows of a file."""
    ledger, texts, y = Ledger(), list[str](), list[float]()
    for batch in source.batches():
        ledger.add(batch)
        texts += batch.docs
        y += [0.0] * len(batch) if batch.y is None else batch.y
    keys = text_keys(texts, seed)
    drawing = Drawing(seed) + Drawing(seed, len(keys), keys)
    numbers = np.array(y, dtype=float)
    return Read(counts.count(texts), numbers, ledger, keys, drawing, unspaced(texts))


def chosen_texts(source: Source, drawn: Drawn) -> Texts:
    """Those of a file that are held out."""
    found = Texts([])
    for batch in source.batches():
        found += Texts([batch.docs[i] for i in drawn.of(batch.docs)[0]])
    return found


def summary(part: Read) -> Summary:
    docs = part.docs
    tally = FastCountVectorizer.tally_of(docs) if isinstance(docs, CountedTexts) else None
    return Summary(part.ledger, tally, part.drawing, part.unspaced)


def separated(
    part: Read, counts: FastCountVectorizer | None, drawn: Drawn, scale: Scale
) -> tuple[Corpus, Aside]:
    """The counts of a partition in the columns of all: to learn from, and aside."""
    X: Any = part.docs if counts is None else counts.transform(part.docs)
    nothing = Kept(X[:0], part.y[:0], [])
    if part.keys is None or drawn.baseline == 0:
        return Corpus(X, fitted(scale, part.y)), Aside(nothing, nothing)
    held, base = drawn.of_keys(part.keys)
    learnt = np.delete(np.arange(X.shape[0]), held)
    aside = Aside(Kept(X[held], part.y[held], []), Kept(X[base], part.y[base], []))
    return Corpus(X[learnt], fitted(scale, part.y[learnt])), aside


def rest(both: tuple[Corpus, Aside]) -> Corpus:
    return both[0]


def set_aside(both: tuple[Corpus, Aside]) -> Aside:
    return both[1]
