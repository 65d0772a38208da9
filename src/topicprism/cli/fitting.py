"""``topicprism fit``: from a table or a sketch to a model file, a page and what to know of it."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from topicprism.cli.facts import fit_facts
from topicprism.cli.learning import learn, score, shares
from topicprism.cli.reading import Counted, Reading, Seen, draw
from topicprism.cli.session import MODEL, SKETCH, Session, load_sketch
from topicprism.cli.showing import fit_lines
from topicprism.corpus import MIN_WORDS
from topicprism.estimators import SpectralSLDA
from topicprism.files import TextSketch, save
from topicprism.io.atomic import is_special
from topicprism.provenance import facts_about
from topicprism.show.report import summarise, write_page
from topicprism.tables import TableError
from topicprism.text import FastCountVectorizer
from topicprism.texts import TopicPipeline, assemble

MOST_STOP_WORDS = 1 << 24  # characters
TOO_SHORT = f"with fewer than {MIN_WORDS} known words"


def fit(session: Session) -> None:
    args, start = session.args, time.perf_counter()
    _refuse_models(args.files)
    model = session.output(args.output or _model_name(args.files[0]), MODEL)
    page = session.output(args.report) if args.report else None
    pipeline, counted = learnt(session)
    if not is_special(model):  # a pipe is written once
        save(pipeline, model)
        session.kept.append(f"{model} holds the model")
    if counted is not None and len(counted.held_out):
        pipeline.info["scores"] = score(pipeline.topics, counted, session.progress)
        pipeline.info["shares"] = shares(pipeline.topics, counted.held_out)
    pipeline.info["seconds"] = round(time.perf_counter() - start, 2)
    save(pipeline, model)
    if page is not None:
        session.progress.stage("writing the page")
        _write_page(pipeline, counted, page)
    facts = fit_facts(pipeline) | {"model": str(model), "report": args.report}
    session.show(facts, [*fit_lines(facts), "", *_next_steps(session, model)])


def _refuse_models(files: list[str]) -> None:
    for name in files:
        if Path(name).suffix == MODEL:
            raise TableError(
                f"{name} is the name of a model, but tables to learn from were expected; give "
                "these, or look at the model with topicprism topics"
            )


def learnt(session: Session) -> tuple[TopicPipeline, Counted | None]:
    """A pipeline from tables and the counts it was learnt from, or from a sketch."""
    args = session.args
    if any(Path(name).suffix == SKETCH for name in args.files):
        return _from_sketch(session), None
    table = session.table()
    text, target = table.choose(args.text, args.target)
    reading = Reading(table, (text, target), vectorizer(args), session.progress)
    seen = reading.learn_words()
    drawn = draw(seen.n_documents, getattr(args, "held_out", 0.0), args.seed)
    threads = effective_n_jobs(args.jobs)
    counted = reading.count(seen, drawn, session.folder / "shards", threads)
    topics = learn(estimator(args), counted, session.progress)
    info = _info(topics, seen, counted) | {
        "files": [Path(reader.source.name).name for reader in table.readers],
        "text": text,
        "target": target,
        "too_common": reading.vectorizer.too_common(),
    }
    return assemble(reading.vectorizer, topics, info), counted


def _info(topics: SpectralSLDA, seen: Seen, counted: Counted) -> dict[str, Any]:
    short = int(topics.n_short_)
    left_out = dict(seen.left_out) | ({TOO_SHORT: short} if short else {})
    return facts_about(topics, counted.n_documents - short) | {
        "n_rows": seen.n_rows,
        "n_held_out": len(counted.held_out),
        "n_baseline": len(counted.baseline),
        "n_left_out": left_out,
        "response": seen.response,
        "fingerprint": seen.fingerprint.hexdigest(),
        "scores": {},
    }


def _from_sketch(session: Session) -> TopicPipeline:
    args = session.args
    if len(args.files) > 1:
        raise TableError(
            f"got {len(args.files)} files, but one sketch was expected; add sketches up with "
            "topicprism merge first"
        )
    sketch = load_sketch(args.files[0])
    session.progress.stage("learning")
    topics = estimator(args).fit_sketch(sketch)
    assert sketch.counts is not None  # load_sketch has looked
    return assemble(sketch.counts, topics, facts_about(topics, sketch.n) | _about_sketch(sketch))


def _about_sketch(sketch: TextSketch) -> dict[str, Any]:
    """What its parts tell together."""
    parts = sketch.info.get("merged", [sketch.info])
    left_out = sum((Counter(part.get("n_left_out", {})) for part in parts), Counter[str]())
    left_out[TOO_SHORT] = sum(part.get("n_documents", 0) for part in parts) - sketch.n
    return {name: parts[0].get(name) for name in ("text", "target")} | {
        "n_rows": sum(part.get("n_rows", 0) for part in parts),
        "n_left_out": {why: n for why, n in left_out.items() if n > 0},
        "scores": {},
    }


def vectorizer(args: argparse.Namespace) -> FastCountVectorizer:
    return FastCountVectorizer(
        lowercase=not args.keep_case,
        stop_words=_stop_words(args.stop_words),
        ngram_range=(1, args.ngrams),
        max_df=args.max_df,
        min_df=args.min_df,
        max_features=args.max_words,
        dtype=np.int32,
        n_jobs=args.jobs,
    )


def _stop_words(which: str) -> str | list[str] | None:
    if which in ("english", "none"):
        return "english" if which == "english" else None
    try:
        with open(which, encoding="utf-8") as file:
            words = file.read(MOST_STOP_WORDS)  # of what may never end
        if len(words) == MOST_STOP_WORDS:
            raise ValueError("too long")
        return sorted(set(words.split()))
    except (OSError, ValueError):
        raise TableError(
            f"--stop-words {which!r} is neither english nor none nor a file of words in UTF-8; "
            "give one of these"
        ) from None


def estimator(args: argparse.Namespace) -> SpectralSLDA:
    """With what was asked for; the estimator's own defaults for the rest."""
    asked = {
        "n_topics": args.n_topics,
        "alpha0": args.alpha0,
        "noise_variance": args.noise_variance,
        "method": args.method,
        "whitening": args.whitening,
        "n_restarts": args.restarts,
        "n_iterations": args.iterations,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    return SpectralSLDA(**given, n_jobs=args.jobs, random_state=args.seed)


def _write_page(pipeline: TopicPipeline, counted: Counted | None, page: Path) -> None:
    response = pipeline.info.get("target") or "response"
    if counted is None or not counted.held_out.texts:
        write_page(summarise(pipeline, response=response), page)
        return
    held = counted.held_out
    y = held.y[: len(held.texts)]
    write_page(summarise(pipeline, held.texts, y, response=response, held_out=True), page)


def _model_name(first: str) -> str:
    """The name of the first file without its endings, in this folder."""
    stem = Path(first).name.split(".")[0]
    return f"{stem if stem.strip('-*?[]') else 'model'}{MODEL}"


def _next_steps(session: Session, model: Path) -> list[str]:
    args = session.args
    steps = [
        (f"topicprism topics {model}", "more words of each topic"),
        (f"topicprism predict {model} NEW.csv", "numbers for new texts"),
    ]
    if args.report:
        steps.append((f"open {args.report}", "the page about it"))
    else:
        steps.append((f"topicprism report {model} -o PAGE.html", "a page to show"))
    width = max(len(command) for command, _ in steps)
    fits = width <= 50
    tails = [f"{c:{width}}  {what}" if fits else c for c, what in steps]
    return [f"{model} holds the model; next:", *(f"  {line}" for line in tails)]
