"""What can be done with a model file: ``predict``, ``topics`` and ``report``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from topicprism.cli.facts import choices_of, topics_of
from topicprism.cli.session import Session, load_model
from topicprism.cli.showing import beyond, chosen, topic_table
from topicprism.io.atomic import part_of
from topicprism.provenance import Fingerprint
from topicprism.show.effects import effects
from topicprism.show.report import summarise, write_page
from topicprism.tables import (
    Chunk,
    Table,
    TableError,
    as_kind,
    kinds,
    number,
    output_format,
    rounded,
    rows_to,
    usable,
)
from topicprism.tables.formats import DAMAGED
from topicprism.texts import TopicPipeline

MOST_SHOWN = 20_000  # documents that a page looks at


def topics(session: Session) -> None:
    args = session.args
    pipeline = load_model(args.model)
    facts = {
        "model": args.model,
        "chosen": choices_of(pipeline),
        "topics": topics_of(pipeline, args.words, args.by),
        "info": pipeline.info,
    }
    response = pipeline.info.get("target") or "response"
    table = topic_table(facts["topics"], response, lines=None)
    notes = beyond(effects(pipeline).left)
    lines = [*chosen(facts["chosen"]), "", *table, *notes]
    session.show(facts, lines)


# --- predict ----------------------------------------------------------------------------


def predict(session: Session) -> None:
    args = session.args
    path = session.output(args.output) if args.output else None
    kind = output_format(path, args.to)
    pipeline = load_model(args.model)
    if args.std and "return_std" not in inspect.signature(pipeline.topics.predict).parameters:
        name = type(pipeline.topics).__name__
        raise TableError(f"{args.model} holds a {name}, which tells no deviation; drop --std")
    table = session.table()
    text = _text_column(session, pipeline, table)
    target = pipeline.info.get("target")
    scored = [target] if target in table.columns and target != text else []
    several = len(table.readers) > 1
    results = _columns(session, pipeline, several)
    table.check(text, *args.keep)
    kept = _kept(session, table, kind)
    agreement = Agreement()
    n = empty = unknown = 0
    part = part_of(path) if path else None
    session.progress.stage("predicting")
    with rows_to(path, kind, results | kept, session.out) as write:
        for chunk in table.chunks(text, *args.keep, *scored):
            values, predicted, strange = _predicted(session, pipeline, chunk, several)
            if kind != "parquet":
                values = [[rounded(v) for v in column] for column in values]
            write([*values, *_copied(chunk, kept, kind)])
            if scored:
                agreement.add(chunk.values[-1], predicted)
            n, empty = n + len(chunk), empty + sum(p is None for p in predicted)
            unknown += strange
            where = f"in {part}" if part else "written"
            session.kept[:] = [f"the first {n:,} rows are {where}"]
            session.progress.at(chunk.done, f"{n:,} rows")
    _conclude(session, (n, empty, unknown), agreement, target)


def _text_column(session: Session, pipeline: TopicPipeline, table: Table) -> str:
    """As named, else as in the fit, else guessed."""
    learnt_from = pipeline.info.get("text")
    named = session.args.text or (learnt_from if learnt_from in table.columns else None)
    return table.choose_text(named)


def _columns(session: Session, pipeline: TopicPipeline, several: bool) -> dict[str, type]:
    args = session.args
    own: dict[str, type] = {"row": int} | ({"file": str} if several else {})
    own |= {"prediction": float} | ({"std": float} if args.std else {})
    if args.proportions:
        own |= {f"topic_{i + 1}": float for i in range(pipeline.model.n_topics)}
    twice = [name for name in args.keep if name in own or args.keep.count(name) > 1]
    if twice:
        raise TableError(
            f"--keep {twice[0]!r} would give two columns of that name; rename it in the input"
        )
    return own


def _kept(session: Session, table: Table, kind: str) -> dict[str, type]:
    """The columns to copy, and what they hold; only CSV does not care."""
    keep = session.args.keep
    if not keep or kind in ("csv", "tsv"):
        return dict.fromkeys(keep, str)
    session.progress.stage("looking at columns")
    return dict(zip(keep, kinds(table.chunks(*keep), len(keep)), strict=True))


def _copied(chunk: Chunk, kept: dict[str, type], kind: str) -> Iterator[list[Any]]:
    """Their values: as they are in CSV, numbers elsewhere where all of a column are."""
    for values, of in zip(chunk.values[1:], kept.values(), strict=False):
        if kind in ("csv", "tsv") or of is str:
            yield [None if v is DAMAGED else v for v in values]
        else:
            yield [as_kind(v, of) for v in values]


def _predicted(
    session: Session, pipeline: TopicPipeline, chunk: Chunk, several: bool
) -> tuple[list[list[Any]], list[float | None], int]:
    """The results of a chunk as columns, the predictions among them, texts of no known word."""
    args, n = session.args, len(chunk)
    texts = chunk.values[0]
    good = [i for i, text in enumerate(texts) if isinstance(text, str) and text.strip()]
    results, unknown = _results(session, pipeline, [texts[i] for i in good]) if good else ([], 0)
    width = 1 + args.std + args.proportions * pipeline.model.n_topics
    columns: list[list[Any]] = [[None] * n for _ in range(width)]
    for column, values in zip(columns, results, strict=False):
        for i, value in zip(good, values.tolist(), strict=True):
            column[i] = value
    rows: list[list[Any]] = [list(range(chunk.first, chunk.first + n))]
    name = [[chunk.source.name] * n] if several else []
    return [*rows, *name, *columns], columns[0], unknown


def _results(session: Session, pipeline: TopicPipeline, texts: list[str]) -> tuple[list[Any], int]:
    """Predictions, their deviations and proportions, as columns; and texts of no known word."""
    X = pipeline[:-1].transform(texts)
    fitted = pipeline.topics
    told = fitted.predict(X, return_std=True) if session.args.std else (fitted.predict(X),)
    results = [*told, *(fitted.transform(X).T if session.args.proportions else ())]
    return results, int(np.count_nonzero(X @ pipeline.model.mu.sum(axis=1) == 0))


class Agreement:
    """Predictions beside responses that are known, as sums."""

    def __init__(self) -> None:
        self.n, self.mean, self.squares, self.errors = 0, 0.0, 0.0, 0.0

    def add(self, responses: list[Any], predicted: list[float | None]) -> None:
        known = ((number(y), p) for y, p in zip(responses, predicted, strict=True))
        for y, p in known:
            if y is not None and p is not None:
                self.n += 1
                step = y - self.mean
                self.mean += step / self.n
                self.squares += step * (y - self.mean)
                self.errors += (y - p) ** 2

    @property
    def pr2(self) -> float | None:
        return 1 - self.errors / self.squares if self.squares > 0 else None


def _conclude(
    session: Session, rows: tuple[int, int, int], agreement: Agreement, target: str | None
) -> None:
    """How many rows, and how many of them without a text or a word that the model knows."""
    n, empty, unknown = rows
    said = [f"{n:,} rows to {session.args.output or 'standard output'}"]
    said += [f"{empty:,} of them without a text"] if empty else []
    said += [f"{unknown:,} without a known word, which get what any text would"] if unknown else []
    session.say(", ".join(said))
    if agreement.pr2 is not None:
        session.say(
            f"predictive R2 is {agreement.pr2:z.3f} on the {agreement.n:,} rows with a number in "
            f"{target!r}"
        )


# --- report -----------------------------------------------------------------------------


def report(session: Session) -> None:
    args = session.args
    page = session.output(args.output)
    pipeline = load_model(args.model)
    response = args.target or pipeline.info.get("target") or "response"
    texts, y, same = _documents(session, pipeline) if args.files else (None, None, None)
    session.progress.stage("writing the page")
    held_out = False if same else None
    summary = summarise(pipeline, texts, y, title=args.title, response=response, held_out=held_out)
    write_page(summary, page)
    n = 0 if texts is None else len(texts)
    facts = {"page": str(page), "model": args.model, "n_documents_shown": n}
    session.show(facts, _about_page(page, n))


def _about_page(page: Path, n: int) -> Iterator[str]:
    yield f"{page}: open it in a browser, it needs no network"
    if n == MOST_SHOWN:
        yield f"  it looks at {n:,} documents drawn at random from the table"


def _documents(session: Session, pipeline: TopicPipeline) -> tuple[list[str], list[float], bool]:
    """Some documents of a table, drawn evenly, and whether the model was learnt from it."""
    args, info = session.args, pipeline.info
    table = session.table()
    names = [
        given or (info.get(role) if info.get(role) in table.columns else None)
        for role, given in (("text", args.text), ("target", args.target))
    ]
    columns = table.choose(*names)
    rng, fingerprint = np.random.default_rng(0), Fingerprint()
    texts: list[str] = []
    y: list[float] = []
    seen = 0
    for chunk in table.chunks(*columns):
        part = usable(chunk)
        fingerprint.update(part.texts, np.array(part.y))
        for text, response in zip(part.texts, part.y, strict=True):
            seen += 1
            if len(texts) < MOST_SHOWN:
                texts.append(text)
                y.append(response)
            elif (place := int(rng.integers(seen))) < MOST_SHOWN:
                texts[place], y[place] = text, response
        session.progress.at(chunk.done, f"{seen:,} documents")
    if not texts:
        raise TableError(
            f"{table.called}: no row has a text in {columns[0]!r} and a number in {columns[1]!r}; "
            "name other columns, or leave the table out"
        )
    return texts, y, fingerprint.hexdigest() == info.get("fingerprint")
