"""From a table to shards of word counts on disk, in two passes over its rows.

Pass one learns the vocabulary, pass two counts.  Some documents are held out to score on,
some of the others are kept at hand for the baseline; how many does not grow with the table.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from topicprism._typing import Doc, Ints
from topicprism.cli.progress import Progress
from topicprism.corpus import Corpus
from topicprism.engines import OnDisk
from topicprism.limits import SMALLEST
from topicprism.moments import Spread
from topicprism.provenance import Fingerprint
from topicprism.tables import Table, TableError, Usable, usable
from topicprism.text import FastCountVectorizer
from topicprism.text.scripts import UnspacedWarning, unspaced

FEWEST = 100  # documents, for some to be held out
MOST_HELD_OUT = 5_000
MOST_BASELINE = 30_000
KEPT_TEXT = 1 << 26  # characters of documents held out, at most


@dataclass
class Seen:
    """What pass one has met so far."""

    n_rows: int = 0
    n_documents: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    example: str = ""  # a response that is not a number
    spread: Spread = field(default_factory=lambda: Spread(0, 0.0, 0.0))
    low: float = np.inf
    high: float = -np.inf
    fingerprint: Fingerprint = field(default_factory=Fingerprint)

    def add(self, part: Usable, n_rows: int) -> None:
        self.n_rows += n_rows
        self.n_documents += len(part.texts)
        self.left_out += part.left_out
        self.example = self.example or part.example
        if part.y:
            y = np.array(part.y)
            self.spread += Spread.of(y, np.ones(len(y)))
            self.low, self.high = min(self.low, y.min()), max(self.high, y.max())
            self.fingerprint.update(part.texts, y)

    @property
    def response(self) -> dict[str, float]:
        s = self.spread
        return {"mean": s.mean, "std": s.sd, "min": float(self.low), "max": float(self.high)}


@dataclass(frozen=True)
class Kept:
    """Documents at hand."""

    counts: csr_array
    y: Doc
    texts: list[str]

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class Counted:
    """What pass two leaves behind."""

    docs: OnDisk
    n_documents: int  # in docs
    held_out: Kept
    baseline: Kept


@dataclass(frozen=True)
class Reading:
    """A table on its way to counts."""

    table: Table
    columns: tuple[str, str]  # of texts and of responses
    vectorizer: FastCountVectorizer
    progress: Progress
    known: bool = False  # the vocabulary is there already

    def learn_words(self) -> Seen:
        """Pass one; rows are looked at also when the vocabulary is known."""
        seen = Seen()
        self.progress.stage("pass one: words")
        for chunk in self.table.chunks(*self.columns):
            part = usable(chunk)
            seen.add(part, len(chunk))
            if seen.n_rows == len(chunk) and (what := unspaced(part.texts)) is not None:
                warnings.warn(what, UnspacedWarning, stacklevel=2)
            if part.texts and not self.known:
                self.vectorizer.partial_fit(part.texts)
            self.progress.at(chunk.done, f"{seen.n_rows:,} rows")
        _check(seen, self.table.called, self.columns)
        return seen

    def count(self, seen: Seen, drawn: tuple[Ints, Ints], folder: Path, n_threads: int) -> Counted:
        """Pass two."""
        n_words = len(self.vectorizer.vocabulary_)
        held, base = _Keeping(drawn[0], n_words, KEPT_TEXT), _Keeping(drawn[1], n_words, 0)
        n = 0
        self.progress.stage("pass two: counts")

        def corpora() -> Iterator[Corpus]:
            nonlocal n
            for chunk in self.table.chunks(*self.columns):
                part = usable(chunk)
                if not part.texts:
                    continue
                X = self.vectorizer.transform(part.texts)
                base.take(n, X, part)
                rest = np.delete(np.arange(X.shape[0]), held.take(n, X, part))
                n += X.shape[0]
                self.progress.at(chunk.done, f"{n:,} documents")
                if len(rest):
                    yield Corpus(X[rest], np.array(part.y)[rest])

        docs = OnDisk.write(folder, corpora(), n_threads)
        if n != seen.n_documents:
            raise TableError(
                f"{self.table.called} had {seen.n_documents} documents when it was first read and "
                f"{n} the second time; wait until it is written, or give a copy"
            )
        return Counted(docs, n - len(drawn[0]), held.kept(), base.kept())


def _check(seen: Seen, name: str, columns: tuple[str, str]) -> None:
    text, target = columns
    reasons = "; ".join(f"{n} with {why}" for why, n in seen.left_out.items())
    if seen.n_documents == 0:
        example = f" (one is {seen.example})" if seen.example else ""
        raise TableError(
            f"{name}: none of {seen.n_rows} rows has a text in {text!r} and a number in "
            f"{target!r}{example}, expected both: {reasons}; name other columns"
        )
    if seen.n_documents == 1:
        raise TableError(
            f"{name}: only 1 document has a text and a number, expected many; add rows"
            + (f" or mend those left out ({reasons})" if reasons else "")
        )
    if seen.low < seen.high <= seen.low + SMALLEST:
        raise TableError(
            f"{name}: {target!r} is from {seen.low:g} to {seen.high:g}, which is too close to be "
            "told apart; write it in other units"
        )
    if seen.low == seen.high:
        raise TableError(
            f"{name}: {target!r} is {seen.low:g} in all {seen.n_documents} documents"
            + (f" that are not left out ({reasons})" if reasons else "")
            + ", but it must vary to be explained; name another column with --target"
        )


def draw(n_documents: int, share: float, seed: int) -> tuple[Ints, Ints]:
    """Which documents are held out and which serve the baseline, both in order."""
    n_held = min(round(share * n_documents), MOST_HELD_OUT) if n_documents >= FEWEST else 0
    n_base = min(n_documents - n_held, MOST_BASELINE) if n_held else 0
    rng = np.random.default_rng(seed)
    drawn = rng.choice(n_documents, n_held + n_base, replace=False)
    return np.sort(drawn[:n_held]), np.sort(drawn[n_held:])


class _Keeping:
    """Collects the documents of some numbers as they pass."""

    def __init__(self, numbers: Ints, n_words: int, room: int) -> None:
        self.numbers, self.room = numbers, room  # characters
        self.counts: list[Any] = [csr_array((0, n_words), dtype=np.int32)]
        self.y: list[float] = []
        self.texts: list[str] = []

    def take(self, first: int, X: csr_array, part: Usable) -> Ints:
        lo, hi = np.searchsorted(self.numbers, [first, first + X.shape[0]])
        here = self.numbers[lo:hi] - first
        self.counts.append(X[here])
        self.y += [part.y[i] for i in here]
        for text in (part.texts[i] for i in here):
            self.room -= len(text)
            if self.room > 0:
                self.texts.append(text)
        return here

    def kept(self) -> Kept:
        counts = vstack(self.counts, format="csr")
        return Kept(counts, np.array(self.y, dtype=float), self.texts)
