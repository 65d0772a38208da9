"""Fitted pipelines, estimators and sketches in files that hold no code.

    container   bytes of a file, checked from end to end        arrays and JSON
    values      arrays and JSON                                 plain values
    facts       what info may contain
    rules       the condition that each value must meet
    counts      plain values, checked one by one                vectorisers
    fitted      the same                                        estimators
    sketches    the same                                        TextSketch

``docs/files.md`` describes the contents of a file and the guarantees.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeVar, overload

import numpy as np
from sklearn.pipeline import Pipeline

from topicprism.io.files.container import Contents, FileError, pack, read, unpack, write, wrong
from topicprism.io.files.counts import (
    describe_counts,
    describe_given,
    restore_counts,
    restore_given,
)
from topicprism.io.files.facts import check_facts
from topicprism.io.files.fitted import describe, restore
from topicprism.io.files.sketches import TextSketch, describe_sketch, restore_sketch
from topicprism.io.files.values import Reader, Writer
from topicprism.spectral.sketch import Sketch
from topicprism.vectorizer import FastCountVectorizer, PrecomputedCounts

__all__ = ["FileError", "TextSketch", "load", "save"]

MODEL, SKETCH = ".tprism", ".tpsketch"
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
Assemble = Callable[[Any, Any, dict[str, Any]], Any]  # of counts, topics and info, a pipeline
_assemble: list[Assemble] = []


def assembles(function: F) -> F:
    """A decorator: how a pipeline is made of its parts.  Pipelines know files, not vice versa."""
    _assemble[:] = [function]
    return function


def save(thing: Any, path: str | PathLike[str]) -> None:
    """Write a fitted pipeline or estimator (``.tprism``) or a sketch (``.tpsketch``).

    The file appears under its name when it is whole, and what was there before is gone only
    then.  Callbacks, random generators and the state of a chain are not kept.
    """
    file = Path(fspath(path))
    suffix = SKETCH if isinstance(thing, Sketch) else MODEL
    if file.suffix != suffix:
        raise FileError(
            f"got the name {file.name!r} for a {type(thing).__name__}, but it should end in "
            f"{suffix}; try {file.stem + suffix!r}"
        )
    write(file, to_bytes(thing))


@overload
def load(path: str | PathLike[str], *, n_jobs: int | None = None) -> Any: ...
@overload
def load(path: str | PathLike[str], kind: type[T], *, n_jobs: int | None = None) -> T: ...


def load(path: str | PathLike[str], kind: type[Any] = object, *, n_jobs: int | None = None) -> Any:
    """What ``save`` wrote: a TopicPipeline, an estimator or a TextSketch, which is a Sketch.

    Anything else gets a :class:`FileError`, and nothing in the file is run.  With ``kind``,
    such as ``TopicPipeline``, so does all that is not one, and type checkers know what comes.

    ``n_jobs`` are the threads to predict with: None is one, -1 all cores.  Those of the fit are
    not kept: where many requests are answered at once, each does best with a thread of its own.
    """
    file = Path(fspath(path))
    try:
        thing = _build(read(file))
    except FileError as error:
        raise FileError(f"{file} cannot be read: {error}") from None
    except MemoryError:
        raise FileError(
            f"{file} cannot be read: it needs more memory than there is, for its size is "
            f"{file.stat().st_size} bytes; read it on a larger machine"
        ) from None
    if not isinstance(thing, kind):
        raise FileError(
            f"{file} holds a {type(thing).__name__}, but a {kind.__name__} was expected; load it "
            "without a kind, or give another file"
        )
    return with_threads(thing, n_jobs)


def with_threads(thing: T, n_jobs: int | None) -> T:
    """The same pipeline, estimator or sketch, which from now on uses so many threads."""
    steps: list[Any] = [step for _, step in thing.steps] if isinstance(thing, Pipeline) else [thing]
    for step in (*steps, getattr(thing, "counts", None)):  # the latter of a sketch
        if hasattr(step, "n_jobs"):
            step.set_params(n_jobs=n_jobs)
    return thing


def to_bytes(thing: Any) -> bytes:
    """The file of a thing, after a look whether it would be read back."""
    from topicprism import __version__

    writer = Writer()
    if isinstance(thing, Sketch):
        body = {"kind": "sketch", **describe_sketch(thing, writer)}
    elif isinstance(thing, Pipeline):
        counts, topics = _steps(thing)
        described = (
            describe_given(counts, writer)
            if isinstance(counts, PrecomputedCounts)
            else describe_counts(counts, writer)
        )
        body = {"kind": "pipeline", "counts": described, "topics": describe(topics, writer)}
    else:
        body = {"kind": "estimator", "topics": describe(thing, writer)}
    body["info"] = plain(getattr(thing, "info", {}))
    data = pack(Contents(body, writer.arrays, __version__))
    try:
        from_bytes(data)
    except FileError as error:
        raise FileError(f"this {type(thing).__name__} cannot be written: {error}") from None
    return data


def from_bytes(data: bytes) -> Any:
    return _build(unpack(data))


def plain(facts: Any) -> Any:
    """Facts as JSON holds them: tuples are lists, numbers that are not finite are None."""
    value = facts.item() if isinstance(facts, np.generic) else facts
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if np.isfinite(value) else None
        case list() | tuple():
            return [plain(v) for v in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {k: plain(v) for k, v in value.items()}
    raise FileError(
        f"info has {value!r:.40} of type {type(value).__name__}, but a file holds what JSON does: "
        "numbers, strings, lists and dicts; convert it or leave it out"
    )


def _steps(pipeline: Pipeline) -> tuple[FastCountVectorizer | PrecomputedCounts, Any]:
    steps = [step for _, step in pipeline.steps]
    if len(steps) != 2 or type(steps[0]) not in (FastCountVectorizer, PrecomputedCounts):
        listed = ", ".join(type(step).__name__ for step in steps)
        raise FileError(
            f"got a pipeline of {listed}, but a file holds a FastCountVectorizer or "
            "PrecomputedCounts and one estimator of topicprism; save the estimator alone, or use "
            "joblib"
        )
    return steps[0], steps[1]


def _counts(plain: Any, n_words: int) -> FastCountVectorizer | PrecomputedCounts:
    match plain:
        case {"given": words, **rest} if not rest:
            return restore_given(words, n_words)
    return restore_counts(plain, n_words)


def _build(contents: Contents) -> Any:
    """The thing, from contents that are refused unless they make one."""
    body = contents.body
    if not isinstance(body, dict) or not isinstance(body.get("info"), dict):
        raise wrong("it has no info")
    info, reader = body["info"], Reader(contents.arrays)
    check_facts(info)
    rest = reader.decode({key: value for key, value in body.items() if key != "info"})
    reader.finish()
    match rest.pop("kind", None), rest:
        case "sketch", _:
            return restore_sketch(rest, info)
        case "estimator", {"topics": topics} if len(rest) == 1 and not info:
            return restore(topics)
        case "pipeline", {"counts": counts, "topics": topics} if len(rest) == 2 and _assemble:
            estimator = restore(topics)
            (assemble,) = _assemble
            return assemble(_counts(counts, estimator.model_.n_words), estimator, info)
    raise wrong("it holds neither a pipeline nor an estimator nor a sketch")
