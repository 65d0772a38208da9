"""``topicprism demo``: the other commands, one after the other, on reviews with a known truth."""

from __future__ import annotations

import csv
import io
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

import numpy as np
from scipy.spatial.distance import cdist

from topicprism._typing import Doc, Ints, WordTopic
from topicprism.cli.session import Session, load_model
from topicprism.datasets import ASPECTS, REVIEW_WORDS, make_reviews
from topicprism.io.atomic import check_target, write_bytes
from topicprism.io.failures import INTERRUPTED
from topicprism.io.tables import TableError
from topicprism.model import Model
from topicprism.pipeline import TopicPipeline

N_NEW_REVIEWS = 5  # reviews to predict


def demo(session: Session) -> None:
    args = session.args
    folder = Path(args.folder)
    folder.mkdir(parents=True, exist_ok=True)
    texts, stars, truth = make_reviews(args.documents + N_NEW_REVIEWS, random_state=args.seed)
    known, new = folder / "reviews.csv", folder / "new.csv"
    model, page = folder / "reviews.tprism", folder / "reviews.html"
    tables = {
        known: _csv(texts[:-N_NEW_REVIEWS], stars[:-N_NEW_REVIEWS]),
        new: _csv(texts[-N_NEW_REVIEWS:], stars[-N_NEW_REVIEWS:]),
    }
    _refuse_others(tables, [model, page])
    for path, content in tables.items():
        write_bytes(path, content)
        session.kept[:] = [f"{folder} holds what was made so far"]
    session.out.write(f"{args.documents:,} simulated hotel reviews, such as\n\n")
    session.out.write(f'  "{texts[0][:58]}..."  {stars[0]} stars\n\n')
    _run(session, "fit", known, "-o", model, "--report", page)
    session.out.write("\n")
    _run(session, "predict", model, new, "--keep", "stars")
    session.out.write("\n")
    for line in _beside_truth(load_model(str(model)), truth):
        session.out.write(line + "\n")
    session.out.write(f"\nthe page: {page.resolve()}\n")


def _csv(texts: list[str], stars: Doc) -> bytes:
    file = io.StringIO(newline="")
    rows = csv.writer(file)
    rows.writerow(["review", "stars"])
    rows.writerows(zip(texts, stars.tolist(), strict=True))
    return file.getvalue().encode()


def _refuse_others(tables: dict[Path, bytes], results: list[Path]) -> None:
    """What is there must be of an earlier demo: the same tables, and perhaps their results."""
    same = {path: path.is_file() and path.read_bytes() == tables[path] for path in tables}
    for path in (*tables, *results):
        if os.path.lexists(path) and not same.get(path, all(same.values())):
            raise TableError(
                f"{path} exists and is not from this demo, which would write over it; name "
                "another --folder"
            )
    for path in (*tables, *results):
        check_target(path)


def _run(session: Session, *words: str | Path) -> None:
    """One command, shown as it would be typed."""
    typed = [*map(str, words), *(["--quiet"] if session.args.quiet else [])]
    lines = wrap(shlex.join(["topicprism", *typed]), 74, break_on_hyphens=False)
    session.out.write("$ " + " \\\n    ".join(lines) + "\n")
    session.out.flush()
    status = session.run(typed)
    if status >= INTERRUPTED:
        raise KeyboardInterrupt(status)
    if status != 0:
        raise TableError("the demo stopped because one of its commands failed; see above")


def _beside_truth(pipeline: TopicPipeline, truth: Model) -> Iterator[str]:
    """Each topic learnt, and the aspect whose words are nearest to its own."""
    aspect = nearest(pipeline, truth)
    yield "coefficients beside the true ones: stars of a review of one aspect only"
    yield "   learnt    truth  aspect"
    for eta, i in zip(pipeline.model.eta, aspect, strict=True):
        yield f"{eta:9.2f} {truth.eta[i]:8.2f}  {ASPECTS[i]}"
    missed = sorted(set(range(len(ASPECTS))) - set(aspect.tolist()))
    if missed:
        yield "not found: " + ", ".join(ASPECTS[i] for i in missed)


def nearest(pipeline: TopicPipeline, truth: Model) -> Ints:
    """The topic of the truth with the least L1 distance to each, over the words of both."""
    row = {word: i for i, word in enumerate(REVIEW_WORDS)}
    rows = [row[word] for word in pipeline.words]
    mine, theirs = pipeline.model.mu, truth.mu[rows]
    return np.asarray(cdist(_shares(mine).T, _shares(theirs).T, "cityblock").argmin(axis=1))


def _shares(mu: WordTopic) -> WordTopic:
    return np.asarray(mu / mu.sum(axis=0))
