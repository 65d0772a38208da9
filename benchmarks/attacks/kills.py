"""Processes that are killed while they write: what was there, or what is new, is there whole."""

from __future__ import annotations

import os
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Callable

from attacks import FINE, QUICK_FIT, REFUSED, STARS, TEXTS, Home, Tally, in_child, run, whole
from topicprism import Corpus, load, save
from topicprism.documents import OnDisk
from topicprism.io.files import to_bytes
from topicprism.show.report import page, summarise, write_page
from topicprism.vectorizer import FastCountVectorizer


def killed(work: Callable[[], object], after: float) -> None:
    """Do it again and again in a process that is killed."""

    def forever() -> None:
        while True:
            work()

    pid = in_child(forever)
    time.sleep(after)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def attack(seed: int, n: int, home: Home) -> Tally:
    """``n`` kills, over models, pages, tables, whole fits and folders of shards."""
    rng, tally = random.Random(seed), Tally()
    scratch = home.folder / "tmp"
    scratch.mkdir()
    before, tempfile.tempdir = tempfile.tempdir, str(scratch)
    try:
        for i in range(n):
            WAYS[i % len(WAYS)](rng, home, tally)
            home.restore()
        done = run(["predict", "m.tprism", "a.csv", "-o", "old.csv"])  # which sweeps
        left = [p for p in [*home.folder.iterdir(), *scratch.iterdir()]
                if p.name.startswith((".", "topicprism-"))]  # fmt: skip
        tally.add("lost" if left or done.status else FINE, "swept afterwards", (left, done))
        home.restore()
    finally:
        tempfile.tempdir = before
        shutil.rmtree(scratch)
    return tally


def _check(home: Home, tally: Tally, about: str, known: dict[str, set[bytes]]) -> None:
    """All that was there is there: as it was, or new and whole; what is hidden does not count."""
    now = home.contents()
    for name, was in home.before.items():
        data = now.get(name)
        good = {was} | known.get(name, set())
        new = name in ("old.tprism", "old.html", "old.csv") and not known and whole(name, data)
        if data not in good and not new:
            tally.add("lost", about, name)
            return
    strange = [name for name in now.keys() - home.before.keys() if not name.startswith(".")]
    tally.add("lost" if strange else FINE, about, strange)


def _save(rng: random.Random, home: Home, tally: Tally) -> None:
    models = [load(home.folder / name) for name in ("m.tprism", "gibbs.tprism", "lda.tprism")]
    path = home.folder / "old.tprism"
    killed(lambda: [save(model, path) for model in models], rng.uniform(0, 0.05))
    _check(home, tally, "saving", {path.name: {to_bytes(model) for model in models}})


def _page(rng: random.Random, home: Home, tally: Tally) -> None:
    pages = [summarise(load(home.folder / name)) for name in ("m.tprism", "gibbs.tprism")]
    path = home.folder / "old.html"
    killed(lambda: [write_page(one, path) for one in pages], rng.uniform(0, 0.05))
    _check(home, tally, "a page", {path.name: {page.render(one).encode() for one in pages}})


def _predict(rng: random.Random, home: Home, tally: Tally) -> None:
    argv = ["predict", "m.tprism", "a.csv", "-o", "old.csv"]
    run(argv)
    known = {"old.csv": {(home.folder / "old.csv").read_bytes()}}
    killed(lambda: run(argv), rng.uniform(0, 0.1))
    _check(home, tally, "predicting", known)


def _fit(rng: random.Random, home: Home, tally: Tally) -> None:
    argv = ["fit", "a.csv", "-o", "old.tprism", "--report", "old.html", *QUICK_FIT]
    killed(lambda: run(argv), rng.uniform(0, 0.3))
    _check(home, tally, "fitting", {})


def _stability(rng: random.Random, home: Home, tally: Tally) -> None:
    argv = ["stability", "a.csv", "--runs", "2", "-o", "old.csv", *QUICK_FIT]
    run(argv)
    known = {"old.csv": {(home.folder / "old.csv").read_bytes()}}
    killed(lambda: run(argv), rng.uniform(0, 0.3))
    _check(home, tally, "stability", known)


def _shards(rng: random.Random, home: Home, tally: Tally) -> None:
    X = FastCountVectorizer().fit_transform(TEXTS)
    folder = home.folder / "shards"
    folder.mkdir()
    made = iter(range(10**9))
    parts = [Corpus(X[i : i + 10], STARS[i : i + 10]) for i in range(0, 80, 10)]
    killed(lambda: OnDisk.write(folder / f"{next(made):06d}", parts), rng.uniform(0, 0.05))
    for one in sorted(folder.iterdir()):
        try:
            total = OnDisk.open(one).total(lambda part: int(part.counts.data.sum()))
        except ValueError:
            tally.add(REFUSED if one == max(folder.iterdir()) else "lost", "shards", one)
        else:
            tally.add(FINE if total == X.sum() else "wrong", "shards", total)
    shutil.rmtree(folder)


WAYS = (_save, _page, _shards, _predict, _fit, _stability)
