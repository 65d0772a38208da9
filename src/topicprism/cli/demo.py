"""``topicprism demo``: the other commands, one after the other, on reviews with a known truth."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

import numpy as np
from scipy.spatial.distance import cdist

from topicprism._typing import Doc, Ints, WordTopic
from topicprism.cli.session import Session, load_model
from topicprism.datasets import ASPECTS, REVIEW_WORDS, make_reviews
from topicprism.model import Model
from topicprism.pipeline import TopicPipeline
from topicprism.tables import TableError, replacing

NEW = 5  # reviews to predict


def demo(session: Session) -> None:
    args = session.args
    folder = Path(args.folder)
    folder.mkdir(parents=True, exist_ok=True)
    texts, stars, truth = make_reviews(args.documents + NEW, random_state=args.seed)
    known, new = folder / "reviews.csv", folder / "new.csv"
    _write(known, texts[:-NEW], stars[:-NEW])
    _write(new, texts[-NEW:], stars[-NEW:])
    model, page = folder / "reviews.tprism", folder / "reviews.html"
    session.out.write(f"{args.documents:,} hotel reviews drawn from a known truth, such as\n\n")
    session.out.write(f'  "{texts[0][:58]}..."  {stars[0]} stars\n\n')
    _run(session, "fit", known, "-o", model, "--report", page)
    session.out.write("\n")
    _run(session, "predict", model, new, "--keep", "stars")
    session.out.write("\n")
    for line in _beside_truth(load_model(str(model)), truth):
        session.out.write(line + "\n")
    session.out.write(f"\nthe page: {page.resolve()}\n")


def _write(path: Path, texts: list[str], stars: Doc) -> None:
    with (
        replacing(path) as unfinished,
        unfinished.open("w", encoding="utf-8", newline="") as file,
    ):
        rows = csv.writer(file)
        rows.writerow(["review", "stars"])
        rows.writerows(zip(texts, stars.tolist(), strict=True))


def _run(session: Session, *words: str | Path) -> None:
    """One command, shown as it would be typed."""
    from topicprism.cli import main  # which imports this module

    typed = [*map(str, words), *(["--quiet"] if session.args.quiet else [])]
    lines = wrap(shlex.join(["topicprism", *typed]), 74, break_on_hyphens=False)
    session.out.write("$ " + " \\\n    ".join(lines) + "\n")
    session.out.flush()
    if main(typed) != 0:
        raise TableError("the demo stopped because a command of it failed; see above")


def _beside_truth(pipeline: TopicPipeline, truth: Model) -> Iterator[str]:
    """Each topic learnt, and the aspect whose words are nearest to its own."""
    aspect = nearest(pipeline, truth)
    yield "beside the truth: stars of a review about nothing else"
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
