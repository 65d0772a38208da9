"""``topicprism predict``: a number, or topics, for each row of a table."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topicprism.cli.cluster import cluster, map_pieces
from topicprism.cli.facts import has_response
from topicprism.cli.reading import numbered
from topicprism.cli.session import Session, load_model, note_absent
from topicprism.documents.sums import Sized
from topicprism.evaluation import RunningPR2
from topicprism.io.atomic import part_of
from topicprism.io.files import with_threads
from topicprism.io.tables import (
    Chunk,
    Piece,
    Table,
    TableError,
    as_kind,
    kinds,
    kinds_seen,
    number,
    output_format,
    pieces,
    rounded,
    rows_to,
    widest,
)
from topicprism.io.tables.formats import DAMAGED
from topicprism.pipeline import TopicPipeline
from topicprism.pipeline.fitted import unscaled
from topicprism.pipeline.provenance import Fingerprint
from topicprism.scales import Scale, fitted, has_scale
from topicprism.vectorizer import PrecomputedCounts

FORMULA = tuple("=+-@\t\r\n")  # what a spreadsheet takes for the start of one


def predict(session: Session) -> None:
    args = session.args
    path = session.output(args.output) if args.output else None
    kind = output_format(path, args.output_format)
    pipeline = with_threads(load_model(args.model), args.jobs)
    _refuse(session, pipeline, kind)
    table = session.table()
    text = _text_column(session, pipeline, table)
    target: Any = pipeline.info.get("target")
    scored = target in table.columns and target != text and _has_number(pipeline)
    wanted = [text, *args.keep, *([target] if scored else [])]
    several = len(table.readers) > 1
    results = _columns(session, pipeline, several)
    table.check(text, *args.keep)
    with cluster(args.dask) if args.dask else nullcontext() as client:
        kept = _kept(session, table, kind, client)
        rows = Rows(pipeline, kept, kind, several, args.std, args.proportions,
                    args.escape_formulas, scored)  # fmt: skip
        names = results | kept
        if args.escape_formulas:
            names = {escape(name): of for name, of in names.items()}
        session.progress.stage("predicting")
        found = Found.nothing(pipeline)
        with rows_to(path, kind, names, session.out) as write:
            for some in _found(rows, table, wanted, client):
                write(some.values)
                found += replace(some, values=[])
                part = part_of(path) if path else None
                where = f"in {part}" if part else "written"
                session.kept[:] = [f"the first {found.n:,} rows are {where}"]
                session.progress.at(some.done, f"{found.n:,} rows")
        session.out.flush()  # what cannot be written is known before it is said to be
    _conclude(session, found, pipeline.info)


def _found(rows: Rows, table: Table, wanted: list[str], client: Any) -> Iterator[Found]:
    """Of each chunk, here or where workers are, in the order of the table."""
    if client is None:
        yield from map(rows.of, table.chunks(*wanted))
        return
    asked = Asked(wanted, replace(rows, pipeline=with_threads(rows.pipeline, None)))
    every = pieces(table)
    for i, found in enumerate(map_pieces(client, results_of, asked, every), 1):
        for some in found:
            yield replace(some, done=i / len(every))


def _refuse(session: Session, pipeline: TopicPipeline, kind: str) -> None:
    """Options that the model or the format has no use for."""
    args, name = session.args, type(pipeline.topics).__name__
    if isinstance(pipeline.steps[0][1], PrecomputedCounts):
        raise TableError(
            f"{args.model} was learnt from word counts, but a table has texts; use it from Python, "
            "or fit a model to texts"
        )
    if not has_response(pipeline) and not args.proportions:
        raise TableError(
            f"{args.model} holds a {name}, which was learnt without a response and predicts none; "
            "ask for the topics of each text with --proportions"
        )
    if args.std and not _has_std(pipeline):
        raise TableError(f"{args.model} holds a {name}, which has no deviations; drop --std")
    if args.escape_formulas and kind not in ("csv", "tsv"):
        raise TableError(
            f"--escape-formulas is for CSV and TSV, which spreadsheets open, but {kind} is to be "
            "written; drop it"
        )


def _has_number(pipeline: TopicPipeline) -> bool:
    """Whether what it predicts is a number, rather than a class or nothing."""
    return has_response(pipeline) and not hasattr(pipeline.topics, "classes_")


def _has_std(pipeline: TopicPipeline) -> bool:
    predict = getattr(pipeline.topics, "predict", None)
    return predict is not None and "return_std" in inspect.signature(predict).parameters


def escape(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula, with an apostrophe before it."""
    risky = isinstance(value, str) and value[:1] in FORMULA and number(value) is None
    return f"'{value}" if risky else value


def _text_column(session: Session, pipeline: TopicPipeline, table: Table) -> str:
    """As named, else as in the fit, else guessed."""
    learnt_from = pipeline.info.get("text")
    named = session.args.text or (learnt_from if learnt_from in table.columns else None)
    found = table.choose_text(named)
    if named is None:
        note_absent(session, table, learnt_from, found, "--text")
    return found


def _columns(session: Session, pipeline: TopicPipeline, several: bool) -> dict[str, type]:
    args = session.args
    own: dict[str, type] = {"row": int} | ({"file": str} if several else {})
    if has_response(pipeline):
        classes = getattr(pipeline.topics, "classes_", None)
        of = float if classes is None or classes.dtype.kind in "biuf" else str
        own |= {"prediction": of} | ({"std": float} if args.std else {})
    if args.proportions:
        own |= {f"topic_{i + 1}": float for i in range(pipeline.model.n_topics)}
    twice = [name for name in args.keep if name in own or args.keep.count(name) > 1]
    if twice:
        raise TableError(
            f"--keep {twice[0]!r} would give two columns of that name; rename it in the input"
        )
    return own


def _kept(session: Session, table: Table, kind: str, client: Any) -> dict[str, type]:
    """The columns to copy, and what they hold; only CSV does not care."""
    keep = session.args.keep
    if not keep or kind in ("csv", "tsv"):
        return dict.fromkeys(keep, str)
    session.progress.stage("looking at columns")
    if client is None:
        found = kinds(table.chunks(*keep), len(keep))
    else:
        found = widest(list(map_pieces(client, _kinds_of, keep, pieces(table))))
    return dict(zip(keep, found, strict=True))


def _kinds_of(keep: list[str], piece: Piece) -> list[set[type]]:
    return kinds_seen(piece.chunks(*keep), len(keep))


# --- rows to results ----------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """What becomes of rows of a table, here or in another process."""

    pipeline: TopicPipeline
    kept: dict[str, type]  # columns to copy
    kind: str  # of the output
    several: bool  # files
    std: bool
    proportions: bool
    escape: bool
    scored: bool  # whether the responses are there, too

    def of(self, chunk: Chunk) -> Found:
        n, texts = len(chunk), chunk.values[0]
        good = [i for i, text in enumerate(texts) if isinstance(text, str) and text.strip()]
        X = self.pipeline[:-1].transform([texts[i] for i in good]) if good else None
        results = self._results(X)
        columns: list[list[Any]] = [[None] * n for _ in results]
        for column, values in zip(columns, results, strict=True):
            for i, value in zip(good, values, strict=True):
                column[i] = value
        agreement = Agreement(self.pipeline.info.get("log"))
        if self.scored:
            agreement.add(chunk, columns[0])
        known = 0 if X is None else np.count_nonzero(X @ self.pipeline.model.mu.sum(axis=1))
        n_unknown = len(good) - int(known)
        values = self._written(chunk, columns)
        return Found(values, n, n - len(good), n_unknown, agreement, chunk.done)

    def _results(self, X: Any) -> list[list[Any]]:
        """Predictions, their deviations and proportions, as columns; empty ones of no text."""
        topics, supervised = self.pipeline.topics, has_response(self.pipeline)
        if X is None:
            n_proportions = self.proportions * self.pipeline.model.n_topics
            return [[]] * (supervised + self.std + n_proportions)
        results: list[Any] = []
        if supervised:
            options = {"return_std": True} if self.std else {}
            found = unscaled(self.pipeline.info.get("log"), topics.predict(X, **options))
            results += found if self.std else [found]
        if self.proportions:
            results += list(topics.transform(X).T)
        return [values.tolist() for values in results]

    def _written(self, chunk: Chunk, columns: list[list[Any]]) -> list[list[Any]]:
        """Columns as the format has them."""
        rows: list[list[Any]] = [list(range(chunk.first, chunk.first + len(chunk)))]
        name = [[chunk.source.name] * len(chunk)] if self.several else []
        values = [*rows, *name, *columns]
        if self.kind != "parquet":
            values = [[rounded(v) for v in column] for column in values]
        values += self._copied(chunk)
        return [[escape(v) for v in column] for column in values] if self.escape else values

    def _copied(self, chunk: Chunk) -> Iterator[list[Any]]:
        """Their values: as they are in CSV, numbers elsewhere where all of a column are."""
        for values, of in zip(chunk.values[1:], self.kept.values(), strict=False):
            if self.kind in ("csv", "tsv") or of is str:
                yield [None if v is DAMAGED else v for v in values]
            else:
                yield [as_kind(v, of) for v in values]


@dataclass(frozen=True)
class Found(Sized):
    """The results of some rows, as columns, and what is to be said of them."""

    values: list[list[Any]]
    n: int
    n_empty: int  # rows without a text
    n_unknown: int  # texts of no known word
    agreement: Agreement
    done: float | None = None

    @classmethod
    def nothing(cls, pipeline: TopicPipeline) -> Found:
        return cls([], 0, 0, 0, Agreement(pipeline.info.get("log")))

    def __add__(self, other: Found) -> Found:
        """Of both; their values are written, not added up."""
        n, n_empty = self.n + other.n, self.n_empty + other.n_empty
        agreement = self.agreement + other.agreement
        return Found([], n, n_empty, self.n_unknown + other.n_unknown, agreement)


@dataclass(frozen=True)
class Asked:
    """What a worker is to find out of the columns it is to read."""

    wanted: list[str]
    rows: Rows


def results_of(asked: Asked, piece: Piece) -> list[Found]:
    return [asked.rows.of(chunk) for chunk in piece.chunks(*asked.wanted)]


class Agreement:
    """Predictions beside responses that are known; and whether these were learnt from."""

    def __init__(self, scale: Scale) -> None:
        self.scale = scale
        self.pr2, self.fingerprint = RunningPR2(), Fingerprint()

    def __add__(self, other: Agreement) -> Agreement:
        """Of the documents of both."""
        both = Agreement(self.scale)
        both.pr2 = self.pr2 + other.pr2
        both.fingerprint = self.fingerprint + other.fingerprint
        return both

    def add(self, chunk: Chunk, predicted: list[Any]) -> None:
        """``chunk`` has the texts in its first column and the responses in its last."""
        both = replace(chunk, values=[chunk.values[0], chunk.values[-1]])
        batch, rows = numbered(both)
        self.fingerprint.update(batch.docs, np.array(batch.y))
        y, y_hat = np.array(batch.y), np.array([predicted[row - chunk.first] for row in rows])
        known = has_scale(self.scale, y)
        self.pr2.add(*(fitted(self.scale, of[known]) for of in (y, y_hat)))


def _conclude(session: Session, found: Found, info: dict[str, Any]) -> None:
    """How many rows, and how many of them without a text or a word that the model knows."""
    n, empty, unknown, agreement = found.n, found.n_empty, found.n_unknown, found.agreement
    parts = [f"{n:,} rows to {session.args.output or 'standard output'}"]
    parts += [f"{empty:,} of them without a text"] if empty else []
    parts += [f"{unknown:,} without a known word: predicted from the prior"] if unknown else []
    session.say(", ".join(parts))
    pr2, target = agreement.pr2, info.get("target")
    of = "" if agreement.scale is None else " of logarithms"
    if pr2.value is None:
        return
    if agreement.fingerprint.hexdigest() != info.get("fingerprint"):
        session.say(
            f"predictive R2{of} is {pr2.value:z.3f} on the {pr2.n:,} rows with a number in "
            f"{target!r}"
        )
        return
    n_held_out = info.get("n_held_out") or 0
    among = f", {n_held_out:,} of which the fit held out" if n_held_out else ""
    session.say(
        f"R2{of} is {pr2.value:z.3f} on the {pr2.n:,} documents of the training table{among}: "
        "this is the fit, not the accuracy on new texts"
    )
