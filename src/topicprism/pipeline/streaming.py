"""The same fit from documents that do not fit in memory, in two passes over them.

Pass one learns the vocabulary, pass two counts.  Some documents are held out to score on,
some of the others are kept at hand for the baseline; how many does not grow with the source.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_array, vstack

from topicprism._typing import Ints
from topicprism.defaults import FITTING
from topicprism.documents import OnDisk
from topicprism.documents.corpus import Corpus, Documents
from topicprism.documents.sums import Sized
from topicprism.io.tables import TableError
from topicprism.pipeline.drawing import Drawing, Drawn
from topicprism.pipeline.inputs import Batch, warn_of_unspaced
from topicprism.pipeline.provenance import Ledger
from topicprism.pipeline.scoring import Kept
from topicprism.pipeline.watching import Progress, Silent, Watched
from topicprism.scales import Scale, fitted
from topicprism.vectorizer import FastCountVectorizer

MAX_HELD_OUT_CHARACTERS = 1 << 26  # characters of documents held out, at most


class Source(Protocol):
    """Documents that can be read twice, some at a time."""

    @property
    def called(self) -> str: ...

    def batches(self) -> Iterator[Batch]: ...

    def check(self, ledger: Ledger) -> None:
        """Refuse documents that nothing can be learnt from, in words of where they are."""
        ...


@dataclass(frozen=True)
class Counted:
    """What pass two leaves behind."""

    docs: Documents
    held_out: Kept
    baseline: Kept
    drawn: Drawn


def fit_chunks(
    source: Source,
    counts: FastCountVectorizer,
    topics: Any,
    *,
    held_out: float = 0.0,
    log: bool | None = False,
    seed: int = FITTING.random_state,
    folder: Path,
    progress: Progress | None = None,
) -> tuple[dict[str, Any], Counted]:
    """As ``topicprism.fit`` of the same documents: ``counts`` and ``topics`` are fitted.

    The facts of the fit are returned, and the counts it was learnt from.
    Counts are kept in ``folder``; an estimator that has no ``fit_documents`` needs them in
    memory and gets them there.  A share of ``held_out`` is not learnt from.  With ``log`` the
    logarithm of the response is fitted; documents held out keep the response itself.
    """
    watch = progress or Silent()
    stream = Stream(source, counts, watch)
    drawing = Drawing(seed)
    ledger = stream.learn_words(drawing if held_out else None)
    scale = ledger.scale(topics, log)
    drawn = drawing.draw(held_out)
    on_disk = hasattr(topics, "fit_documents")
    counted = stream.count(ledger, drawn, folder if on_disk else None, topics.n_jobs, scale)
    watch.stage("learning")
    if on_disk:
        topics.fit_documents(Watched(counted.docs, watch))
    else:
        topics.fit(counted.docs.counts, counted.docs.y)  # type: ignore[attr-defined]  # a Corpus
    info = ledger.info(counts, topics, len(counted.held_out), len(counted.baseline))
    return info | {"log": scale}, counted


@dataclass(frozen=True)
class Stream:
    """Documents on their way to counts."""

    source: Source
    counts: FastCountVectorizer
    progress: Progress
    known: bool = False  # whether the vocabulary is

    def learn_words(self, drawing: Drawing | None = None) -> Ledger:
        """Pass one."""
        ledger = Ledger()
        self.progress.stage("pass one: words")
        for batch in self.source.batches():
            if ledger.n_rows == 0:
                warn_of_unspaced(batch.docs)
            ledger.add(batch)
            if drawing is not None:
                drawing.add(batch.docs)
            if batch.docs and not self.known:
                self.counts.partial_fit(batch.docs)
            self.progress.at(batch.done, f"{ledger.n_rows:,} rows")
        self.source.check(ledger)
        return ledger

    def count(
        self,
        ledger: Ledger,
        drawn: Drawn,
        folder: Path | None,
        n_jobs: int | None,
        scale: Scale = None,
    ) -> Counted:
        """Pass two, to shards in ``folder`` or into memory."""
        n_words = len(self.counts.vocabulary_)
        held, base = _Keeping(n_words, MAX_HELD_OUT_CHARACTERS), _Keeping(n_words, 0)
        n = 0
        self.progress.stage("pass two: counts")

        def corpora() -> Iterator[Corpus]:
            nonlocal n
            for batch in self.source.batches():
                if not batch.docs:
                    continue
                X = self.counts.transform(batch.docs)
                y = np.zeros(X.shape[0]) if batch.y is None else np.array(batch.y, dtype=float)
                of_held, of_base = drawn.of(batch.docs)
                held.take(of_held, X, y, batch.docs)
                base.take(of_base, X, y, batch.docs)
                rest = np.delete(np.arange(X.shape[0]), of_held)
                n += X.shape[0]
                self.progress.at(batch.done, f"{n:,} documents")
                if len(rest):
                    yield Corpus(X[rest], fitted(scale, y[rest]))

        docs: Documents
        if folder is None:
            docs = _in_memory(list(corpora()))
        else:
            docs = OnDisk.write(folder, corpora(), effective_n_jobs(n_jobs))
        if n != ledger.n_documents:
            raise TableError(
                f"{self.source.called} had {ledger.n_documents} documents when it was first read "
                f"and {n} the second time; wait until it is written, or give a copy"
            )
        return Counted(docs, held.kept(), base.kept(), drawn)


def _in_memory(corpora: list[Corpus]) -> Corpus:
    counts: list[Any] = [c.counts for c in corpora]
    return Corpus(vstack(counts, format="csr"), np.concatenate([c.y for c in corpora]))


@dataclass(frozen=True)
class Texts(Sized):
    """Texts one after the other, as many as there is room for."""

    texts: list[str]
    room: int = MAX_HELD_OUT_CHARACTERS  # characters left; none once a text did not fit

    def __add__(self, other: Texts) -> Texts:
        """Those of the other follow, while there is room for them here."""
        texts, room = list(self.texts), self.room
        for text in other.texts:
            room -= len(text)
            if room > 0:
                texts.append(text)
        return Texts(texts, room if other.room > 0 else min(room, 0))


class _Keeping:
    """Collects some documents as they pass."""

    def __init__(self, n_words: int, room: int) -> None:
        self.room = room  # characters
        self.counts: list[Any] = [csr_array((0, n_words), dtype=np.int32)]
        self.y: list[float] = []
        self.texts: list[str] = []

    def take(self, which: Ints, X: csr_array, y: Any, texts: list[str]) -> None:
        self.counts.append(X[which])
        self.y += y[which].tolist()
        some = Texts([], self.room) + Texts([texts[i] for i in which])
        self.texts, self.room = self.texts + some.texts, some.room

    def kept(self) -> Kept:
        counts = vstack(self.counts, format="csr")
        return Kept(counts, np.array(self.y, dtype=float), self.texts)
