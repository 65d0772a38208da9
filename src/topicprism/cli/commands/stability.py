"""``topicprism stability``: which topics are found again in halves of the documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from topicprism.cli.commands.fit import A_MODEL, estimator, refuse, table_source, vectorizer
from topicprism.cli.session import MODEL, SKETCH, Session
from topicprism.cli.showing import documents
from topicprism.io.tables import output_format, rounded, rows_to
from topicprism.pipeline.drawing import Drawn
from topicprism.pipeline.streaming import Stream
from topicprism.resampling import Resampling, Stability
from topicprism.show.terminal import stability_lines

A_SKETCH = "a sketch, which has no documents to split into halves; give tables"
TYPES: dict[str, type] = {"number": int, "words": str}  # of columns; the others are numbers


def stability(session: Session) -> None:
    args = session.args
    refuse(args.files, MODEL, A_MODEL)
    refuse(args.files, SKETCH, A_SKETCH)
    path = session.output(args.output) if args.output else None
    kind = output_format(path, args.output_format)
    table, target = _counted(session)
    found, stop = table.measure(args.runs, args.seed, session.progress)
    if path is not None:
        _write(session, found, path, kind)
    info = found.reference.info
    facts = {"n_rows": info["n_rows"], "n_left_out": info["n_left_out"]} | found.facts()
    facts |= {"n_runs_asked": args.runs, "target": target, "output": args.output}
    lines = [*documents(info), "", *stability_lines(facts, target or "effect")]
    session.show(facts, lines)
    if stop is not None:
        session.kept.append(f"the result is that of {len(found.runs)} of {args.runs} runs")
        raise stop


def _counted(session: Session) -> tuple[Resampling, str | None]:
    """The table as counts in memory, and the name of its response."""
    args = session.args
    topics, counts = estimator(args), vectorizer(args)
    source = table_source(session, supervised=hasattr(topics, "predict"))
    stream = Stream(source, counts, session.progress)
    ledger = stream.learn_words()
    docs: Any = stream.count(ledger, Drawn(), None, topics.n_jobs).docs  # a Corpus: no folder
    return Resampling(docs, counts, topics, ledger), source.target


def _write(session: Session, found: Stability, path: Path, kind: str) -> None:
    rows = found.rows()
    columns = {name: TYPES.get(name, float) for name in rows[0]}
    values = [[row[name] for row in rows] for name in columns]
    if kind != "parquet":
        values = [[rounded(value) for value in column] for column in values]
    with rows_to(path, kind, columns, session.out) as write:
        write(values)
