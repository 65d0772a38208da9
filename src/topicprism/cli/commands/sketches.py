"""``topicprism sketch`` and ``topicprism merge``: moments travel, documents stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from functools import reduce
from hashlib import blake2b
from operator import add
from typing import Any

import numpy as np

from topicprism.cli.commands.fit import table_source, vectorizer
from topicprism.cli.session import SKETCH, Session, load_sketch
from topicprism.io.files import TextSketch, save
from topicprism.io.tables import TableError
from topicprism.pipeline.drawing import Drawn
from topicprism.pipeline.provenance import TOO_SHORT
from topicprism.pipeline.streaming import Stream
from topicprism.pipeline.watching import Watched
from topicprism.spectral.sketch import Sketch, sketch_over  # fmt: skip
from topicprism.spectral.sketch import sketch as sketched


def sketch(session: Session) -> None:
    args = session.args
    path = session.output(args.output, SKETCH)
    basis = load_sketch(args.basis) if args.basis else None
    source = table_source(session)
    counts = vectorizer(args) if basis is None else basis.counts
    assert counts is not None  # load_sketch has looked
    stream = Stream(source, counts, session.progress, known=basis is not None)
    ledger = stream.learn_words()
    counted = stream.count(ledger, Drawn(), session.folder / "shards", args.jobs)
    session.progress.stage("computing moments")
    docs = Watched(counted.docs, session.progress)
    if basis is None:
        rank = min(args.coordinates, docs.n_words)
        found = sketched(docs, rank, np.random.default_rng(args.seed))
    else:
        found = sketch_over(docs, basis.basis)
    info = {"text": source.text, "target": source.target} | ledger.facts()
    whole = TextSketch(**{f.name: getattr(found, f.name) for f in fields(Sketch)}, counts=counts,
                       info=info)  # fmt: skip
    save(whole, path)
    facts = {"sketch": str(path), **_size(whole), **info}
    short = Counter({TOO_SHORT: ledger.n_documents - whole.n})
    session.show(facts, _lines(facts, ledger.left_out + short))


def _size(s: TextSketch) -> dict[str, Any]:
    n_words, width = s.basis.B.shape
    return {"n_used": s.n, "n_words": int(n_words), "n_coordinates": int(width)}


def _lines(facts: dict[str, Any], left_out: dict[str, int]) -> Iterator[str]:
    yield (
        f"{facts['sketch']}: moments of {facts['n_used']:,} documents over {facts['n_words']:,} "
        f"words in {facts['n_coordinates']} coordinates"
    )
    for why, n in left_out.items():
        yield f"  left out: {n:,} {why}"
    yield f"next: topicprism fit {facts['sketch']}, or merge it with others over its basis"


def merge(session: Session) -> None:
    args = session.args
    path = session.output(args.output, SKETCH)
    if len(args.sketches) < 2:
        raise TableError("got 1 sketch, but two or more were expected; name the others too")
    session.progress.stage("merging")
    sketches = [load_sketch(name) for name in args.sketches]
    _refuse_twice(args.sketches, sketches)
    merged = reduce(add, sketches)
    save(merged, path)
    facts = {"sketch": str(path), **_size(merged), "merged": len(args.sketches)}
    session.show(facts, _lines(facts, {}))


def _refuse_twice(names: list[str], sketches: list[TextSketch]) -> None:
    """Documents that are in two of the sketches would be counted twice."""
    seen: dict[str, str] = {}
    for name, sketch in zip(names, sketches, strict=True):
        for part in _documents(sketch):
            if part in seen:
                raise TableError(
                    f"{seen[part]} and {name} hold the same documents, which would be counted "
                    "twice; name each sketch once, and merge no sketch with a sum that contains it"
                )
            seen[part] = name


def _documents(sketch: TextSketch) -> list[str]:
    """A fingerprint of each table that it is of, or of its moments where none is kept."""
    parts = [part.get("fingerprint") for part in sketch.info.get("merged", [sketch.info])]
    return [part or blake2b(sketch.third.tobytes()).hexdigest() for part in parts]
