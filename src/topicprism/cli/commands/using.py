"""What can be seen of a model file: ``topics`` and ``report``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from topicprism.cli.facts import choices_of, has_response, method_of, topics_of
from topicprism.cli.reading import TableSource
from topicprism.cli.session import Session, load_model, note_absent
from topicprism.cli.showing import chosen, learnt_by, notes, topic_table
from topicprism.defaults import FITTING
from topicprism.io.files import with_threads
from topicprism.io.tables import (
    TableError,
)
from topicprism.pipeline import TopicPipeline
from topicprism.pipeline.provenance import Ledger
from topicprism.show.effects import effects
from topicprism.show.report import summarise, write_page

MAX_PAGE_DOCUMENTS = 20_000  # documents that a page looks at


def topics(session: Session) -> None:
    args = session.args
    pipeline = load_model(args.model)
    shown = effects(pipeline)
    facts = {
        "model": args.model,
        "learnt_by": method_of(pipeline),
        "chosen": choices_of(pipeline),
        "topics": topics_of(pipeline, args.words, args.by),
        "predicts": shown.predicts,
        "info": pipeline.info,
    }
    response = pipeline.info.get("target") or "response"
    table = topic_table(facts["topics"], response, lines=None)
    known = facts | {"log": pipeline.info.get("log"), "range_left": shown.left}
    lines = [*learnt_by(facts), *chosen(facts["chosen"]), "", *table, *notes(known)]
    session.show(facts, lines)


# --- report -----------------------------------------------------------------------------


def report(session: Session) -> None:
    args = session.args
    page = session.output(args.output)
    pipeline = with_threads(load_model(args.model), FITTING.n_jobs)
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
    if n == MAX_PAGE_DOCUMENTS:
        yield f"  it uses {n:,} documents drawn at random from the table"


def _documents(
    session: Session, pipeline: TopicPipeline
) -> tuple[list[str], list[float] | None, bool]:
    """Some documents of a table, drawn evenly, and whether the model was learnt from it."""
    source = _source(session, pipeline)
    rng, ledger = np.random.default_rng(0), Ledger()
    drawn: list[tuple[str, Any]] = []
    seen = 0
    for batch in source.batches():
        ledger.add(batch)
        responses = [None] * len(batch) if batch.y is None else batch.y
        for document in zip(batch.docs, responses, strict=True):
            seen += 1
            if len(drawn) < MAX_PAGE_DOCUMENTS:
                drawn.append(document)
            elif (place := int(rng.integers(seen))) < MAX_PAGE_DOCUMENTS:
                drawn[place] = document
        session.progress.at(batch.done, f"{seen:,} documents")
    if not drawn:
        raise TableError(
            f"{source.called}: no row has {source.wanted}; name other columns, or leave the table "
            "out"
        )
    texts, y = map(list, zip(*drawn, strict=True))
    same = ledger.fingerprint.hexdigest() == pipeline.info.get("fingerprint")
    return texts, None if source.target is None else y, same


def _source(session: Session, pipeline: TopicPipeline) -> TableSource:
    """The columns as named, else as in the fit, else guessed."""
    args, table, info = session.args, session.table(), pipeline.info
    text, target = (
        given or (name if name in table.columns else None)
        for name, given in ((info.get("text"), args.text), (info.get("target"), args.target))
    )
    if has_response(pipeline):
        source = TableSource(table, *table.choose(text, target))
    else:
        source = TableSource(table, table.choose_text(text), None)
    if text is None:
        note_absent(session, table, info.get("text"), source.text, "--text")
    if target is None:
        note_absent(session, table, info.get("target"), source.target, "--target")
    return source
