"""``topicprism fit``: from a table or a sketch to a model file, a page and what to know of it."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path
from typing import Any

from topicprism import estimators
from topicprism.cli.arguments import MODEL_OPTIONS, OPTIONS, SPECTRAL_OPTIONS
from topicprism.cli.facts import fit_facts, has_response
from topicprism.cli.options import MODELS
from topicprism.cli.reading import TableSource
from topicprism.cli.session import MODEL, NO_FILE, SKETCH, Session, load_sketch
from topicprism.cli.showing import fit_lines
from topicprism.defaults import FITTING
from topicprism.estimators.sampled import InterruptedWarning, interruption
from topicprism.io.atomic import is_special
from topicprism.io.files import TextSketch, save
from topicprism.io.tables import TableError
from topicprism.pipeline import TopicPipeline, assemble
from topicprism.pipeline.fitted import counts_step, topics_step
from topicprism.pipeline.provenance import TOO_SHORT, facts_about
from topicprism.pipeline.scoring import score, shares
from topicprism.pipeline.streaming import Counted, fit_chunks
from topicprism.show.report import summarise, write_page
from topicprism.vectorizer import FastCountVectorizer

AUTO, SPECTRAL = "auto", "spectral"
MAX_STOP_WORD_CHARACTERS = 1 << 24  # characters
A_MODEL = (
    "a model, but tables to learn from were expected; give these, or look at the model with "
    "topicprism topics"
)


def fit(session: Session) -> None:
    args, start = session.args, time.perf_counter()
    refuse(args.files, MODEL, A_MODEL)
    model = session.output(args.output or _model_name(args.files[0]), MODEL)
    page = session.output(args.report) if args.report else None
    pipeline, counted = learnt(session)
    stopped = next((w for w in session.warned if isinstance(w, InterruptedWarning)), None)
    if stopped is not None or not is_special(model):  # a pipe is written once
        save(pipeline, model)
        session.kept.append(f"{model} holds the model")
    if stopped is not None:
        session.kept[-1] += f" after {pipeline.topics.n_sweeps_:,} sweeps, without scores"
        raise interruption(stopped)
    if counted is not None and len(counted.held_out):
        session.progress.stage("scoring")
        kept, scale = (counted.held_out, counted.baseline), pipeline.info["log"]
        pipeline.info["scores"] = score(pipeline.topics, *kept, scale)
        pipeline.info["shares"] = shares(pipeline.topics, counted.held_out)
    pipeline.info["seconds"] = round(time.perf_counter() - start, 2)
    save(pipeline, model)
    if page is not None:
        session.progress.stage("writing the page")
        _write_page(pipeline, counted, page)
    facts = fit_facts(pipeline) | {"model": str(model), "report": args.report}
    following = _next_steps(session, model, supervised=has_response(pipeline))
    session.show(facts, [*fit_lines(facts), "", *following])


def refuse(files: list[str], suffix: str, what: str) -> None:
    """Files of this kind, which are not to be read here."""
    for name in files:
        if Path(name).suffix == suffix:
            raise TableError(f"{name} is the name of {what}")


def learnt(session: Session) -> tuple[TopicPipeline, Counted | None]:
    """A pipeline from tables and the counts it was learnt from, or from a sketch."""
    args = session.args
    if any(Path(name).suffix == SKETCH for name in args.files):
        return _from_sketch(session), None
    topics = estimator(args)
    source = table_source(session, supervised=hasattr(topics, "predict"))
    held_out = getattr(args, "held_out", 0.0) if source.target else 0.0
    counts = vectorizer(args)
    if getattr(args, "dask", None):
        from topicprism.cli.cluster import fit_by_workers

        info, counted = fit_by_workers(session, source, counts, topics, held_out)
    else:
        info, counted = fit_chunks(
            source,
            counts,
            topics,
            held_out=held_out,
            log=args.log,
            seed=args.seed,
            folder=session.folder / "shards",
            progress=session.progress,
        )
    info |= {"files": source.files, "text": source.text, "target": source.target}
    return assemble(counts, topics, info), counted


def table_source(session: Session, supervised: bool = True) -> TableSource:
    """The table of a command, with its columns as named or guessed."""
    args, table = session.args, session.table()
    if supervised:
        return TableSource(table, *table.choose(args.text, args.target))
    held_out = getattr(args, "held_out", 0)
    asked = {
        f"--target {args.target!r}": args.target is not None,
        "--log": getattr(args, "log", False),
        f"--held-out {held_out:g}": held_out not in (0, FITTING.held_out),
    }
    if given := next((option for option, there in asked.items() if there), ""):
        raise TableError(
            f"{given} has no use with --model {args.model}, which learns from "
            "texts alone; drop it, or choose another model"
        )
    return TableSource(table, table.choose_text(args.text), None)


def _from_sketch(session: Session) -> TopicPipeline:
    args = session.args
    if len(args.files) > 1:
        raise TableError(
            f"got {len(args.files)} files, but one sketch was expected; add sketches up with "
            "topicprism merge first"
        )
    if args.log:
        raise TableError(
            f"--log needs the responses, but {args.files[0]} is a sketch, which has sums of them "
            "only; give tables, or drop --log"
        )
    sketch = load_sketch(args.files[0])
    session.progress.stage("learning")
    args.model = args.model or SPECTRAL  # what a sketch is made for
    topics = estimator(args)
    if not hasattr(topics, "fit_sketch"):
        raise TableError(
            f"--model {args.model} learns from documents, but {args.files[0]} is a sketch, which "
            "has none; give tables, or use --model spectral"
        )
    topics.fit_sketch(sketch)
    assert sketch.counts is not None  # load_sketch has looked
    return assemble(sketch.counts, topics, facts_about(topics) | _about_sketch(sketch))


def _about_sketch(sketch: TextSketch) -> dict[str, Any]:
    """The facts of its parts together."""
    parts = sketch.info.get("merged", [sketch.info])
    left_out = sum((Counter(part.get("n_left_out", {})) for part in parts), Counter[str]())
    left_out[TOO_SHORT] = sum(part.get("n_documents", 0) for part in parts) - sketch.n
    return {name: parts[0].get(name) for name in ("text", "target")} | {
        "n_rows": sum(part.get("n_rows", 0) for part in parts),
        "n_documents": sketch.n,
        "n_left_out": {why: n for why, n in left_out.items() if n > 0},
        "scores": {},
        **_range_of(parts),
    }


def _range_of(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The range and mean of all responses, where every part has them."""
    known: list[Any] = [part.get("response") for part in parts]
    if not all(isinstance(r, dict) and {"mean", "min", "max"} <= set(r) for r in known):
        return {}
    n = [part["n_documents"] for part in parts]
    mean = sum(m * r["mean"] for m, r in zip(n, known, strict=True)) / max(sum(n), 1)
    low, high = min(r["min"] for r in known), max(r["max"] for r in known)
    return {"response": {"mean": mean, "min": low, "max": high}}


def vectorizer(args: argparse.Namespace) -> FastCountVectorizer:
    counting = {
        "lowercase": not args.keep_case,
        "stop_words": _stop_words(args.stop_words),
        "ngram_range": (1, args.ngrams),
        "max_df": args.max_df,
        "min_df": args.min_df,
        "max_features": args.max_words,
    }
    made = counts_step(counting, n_jobs=args.jobs)
    assert isinstance(made, FastCountVectorizer)  # a table has no counts
    return made


def _stop_words(which: str) -> str | list[str] | None:
    if which in NO_FILE:
        return None if which == "none" else which
    try:
        with open(which, encoding="utf-8") as file:
            words = file.read(MAX_STOP_WORD_CHARACTERS)  # of what may never end
        if len(words) == MAX_STOP_WORD_CHARACTERS:
            raise ValueError("too long")
        return sorted(set(words.split()))
    except (OSError, ValueError):
        raise TableError(
            f"--stop-words {which!r} is neither {', '.join(NO_FILE)} nor a file of words in "
            "UTF-8; give one of these"
        ) from None


def estimator(args: argparse.Namespace) -> Any:
    """With what was asked for; the estimator's own defaults for the rest."""
    typed = {name: option[2:].replace("-", "_") for name, option in MODEL_OPTIONS.items()}
    given = {name: getattr(args, at) for name, at in typed.items() if getattr(args, at) is not None}
    if args.model is None:
        args.model = SPECTRAL if given.keys() & SPECTRAL_OPTIONS else AUTO
    kind = getattr(estimators, MODELS[args.model])
    known = kind().get_params(deep=False)
    for name, value in given.items():
        if name not in known:
            theirs = ", ".join(OPTIONS[other] for other in typed if other in known)
            raise TableError(
                f"{OPTIONS[name]} {value} has no use with --model {args.model}, which takes "
                f"{theirs}; drop it, or choose another model"
            )
        if value == "auto" and known[name] != "auto":
            raise TableError(
                f"{OPTIONS[name]} auto has no use with --model {args.model}, which does not choose "
                f"it from the data; give a number (default: {known[name]:g})"
            )
    return topics_step(kind, args.jobs, args.seed, given)


def _write_page(pipeline: TopicPipeline, counted: Counted | None, page: Path) -> None:
    response = pipeline.info.get("target") or "response"
    if counted is None or not counted.held_out.texts:
        write_page(summarise(pipeline, response=response), page)
        return
    held_out = counted.held_out
    y = held_out.y[: len(held_out.texts)]
    write_page(summarise(pipeline, held_out.texts, y, response=response, held_out=True), page)


def _model_name(first: str) -> str:
    """The name of the first file without its endings, in this folder."""
    stem = Path(first).name.split(".")[0]
    return f"{stem if stem.strip('-*?[]') else 'model'}{MODEL}"


def _next_steps(session: Session, model: Path, supervised: bool) -> list[str]:
    args = session.args
    predict = f"topicprism predict {model} NEW.csv"
    steps = [
        (f"topicprism topics {model}", "more words of each topic"),
        (predict, "numbers for new texts")
        if supervised
        else (f"{predict} --proportions", "topics of new texts"),
    ]
    if args.report:
        steps.append((f"open {args.report}", "the page about it"))
    else:
        steps.append((f"topicprism report {model} -o PAGE.html", "a page to show"))
    width = max(len(command) for command, _ in steps)
    fits = width <= 50
    tails = [f"{c:{width}}  {what}" if fits else c for c, what in steps]
    return [f"model written to {model}; next:", *(f"  {line}" for line in tails)]
