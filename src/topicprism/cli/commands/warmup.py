"""``topicprism warmup``: every kernel compiled and kept, for the types that are used.

The types are those that the library itself uses: they are compiled by a small task of every
kind, on simulated texts.
"""

from __future__ import annotations

import csv
import os
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import replace
from importlib import import_module
from io import StringIO
from typing import Any

import numpy as np

from topicprism.cli.session import Session
from topicprism.datasets import make_reviews
from topicprism.documents.corpus import Corpus
from topicprism.estimators import (
    AnchorLDA,
    AnchorSLDA,
    DiscLDA,
    GibbsSLDA,
    HybridSLDA,
    MedLDA,
    MedLDAClassifier,
    SpectralLDA,
    SpectralSLDA,
    VariationalSLDA,
    VariationalSLDAClassifier,
)
from topicprism.inference import GibbsInference, infer
from topicprism.io.files import FileError
from topicprism.kernels import compiling
from topicprism.learn.refine import prior_shift
from topicprism.pipeline import fit
from topicprism.validation import check_counts
from topicprism.vectorizer import FastCountVectorizer

DOCUMENTS = 400
CHAIN: dict[str, Any] = {"burn_in": 1, "n_kept": 1, "random_state": 0}


def warmup(session: Session) -> None:
    start = time.perf_counter()
    if not all(isinstance(made._cache, compiling.KernelCache) for made in kernels().values()):
        raise FileError(compiling.sentence(compiling.NO_FOLDER))
    texts, stars, _ = make_reviews(DOCUMENTS, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so little data deserves many
        warnings.simplefilter("error", compiling.UncachedWarning)
        try:
            for what, work in WORK.items():
                session.progress.stage(f"compiling for {what}")
                work(texts, stars, session)
        except compiling.UncachedWarning as found:
            raise FileError(str(found)) from None
    facts = kept() | {"seconds": round(time.perf_counter() - start, 1)}
    session.show(facts, _lines(facts))


def kernels() -> dict[str, Any]:
    """All kernels whose code is kept, by name."""
    modules = {name: import_module(name) for name in compiling.MODULES}
    return {
        f"{name}.{kernel}": made
        for name, module in modules.items()
        for kernel, made in vars(module).items()
        if isinstance(getattr(made, "_cache", None), compiling.KernelCache | compiling.Nowhere)
        and made.py_func.__module__ == module.__name__
    }


def kept() -> dict[str, Any]:
    made = kernels()
    return {
        "kernels": len(made),
        "compiled": sum(k._cache.n_kept() for k in made.values()),
        "folders": sorted({str(k.stats.cache_path) for k in made.values()}),
        "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR"),
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    return [
        f"{facts['kernels']} kernels, compiled for {facts['compiled']} combinations of types in "
        f"{facts['seconds']:.0f} s, are kept in",
        *(f"  {folder}" for folder in facts["folders"]),
        *(
            [f"set NUMBA_CACHE_DIR={facts['NUMBA_CACHE_DIR']} where they are to be used"]
            if facts["NUMBA_CACHE_DIR"]
            else []
        ),
    ]


# --- a little of everything -----------------------------------------------------------


def _commands(texts: list[str], stars: Any, session: Session) -> None:
    folder = session.folder
    table, model = folder / "reviews.csv", folder / "reviews.tprism"
    with table.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "stars"), *zip(texts, stars.tolist(), strict=True)])
    typed = (
        ["fit", table, "-o", model, "--report", folder / "page.html"],
        ["predict", model, table, "--std", "-o", folder / "predictions.csv"],
        ["sketch", table, "-o", folder / "reviews.tpsketch"],
    )
    for words in typed:
        with redirect_stdout(StringIO()):
            status = session.run([*map(str, words), "--quiet"])
        if status != 0:
            raise FileError("a command failed while it was warmed up; see above")


def _python(texts: list[str], stars: Any, session: Session) -> None:
    made = fit(texts, stars, stop_words="english", ngram_range=(1, 2))
    made.predict(texts[:9], return_std=True)
    FastCountVectorizer().partial_fit(texts[:9]).partial_fit(texts[9:]).transform(texts[:9])


def _counts(texts: list[str], stars: Any, session: Session) -> None:
    X = FastCountVectorizer().fit_transform(texts)
    for dtype in (np.int64, np.float64):  # of scikit-learn's vectorisers, and of tables
        check_counts(X.astype(dtype))
        made = SpectralSLDA(3, random_state=0).fit(X.astype(dtype), stars)
        made.predict(X.astype(dtype), return_std=True)
    SpectralSLDA(3, method="two-stage", random_state=0).fit(X, stars)
    topics = SpectralLDA(3, random_state=0).fit(X)
    topics.transform(X)
    infer(replace(topics.model_, burstiness=0.0), X, GibbsInference(1, 1))


def _chains(texts: list[str], stars: Any, session: Session) -> None:
    X = FastCountVectorizer().fit_transform(texts)
    for chain in (
        GibbsSLDA(3, **CHAIN),
        GibbsSLDA(3, response="assignments", learn_alpha=True, **CHAIN),
        HybridSLDA(3, **CHAIN),
        HybridSLDA(**CHAIN),
        MedLDA(3, **CHAIN),
        MedLDAClassifier(3, **CHAIN),
    ):
        y = np.digitize(stars, [2, 4]) if isinstance(chain, MedLDAClassifier) else stars
        model = chain.fit(X, y).model_
        chain.predict(X)
    prior_shift(Corpus(X, stars), replace(model, burstiness=0.25), None)  # which takes much text


def _relatives(texts: list[str], stars: Any, session: Session) -> None:
    X, label = FastCountVectorizer().fit_transform(texts), np.digitize(stars, [2, 4])
    AnchorLDA(3, random_state=0).fit(X).transform(X)
    AnchorSLDA(3, random_state=0).fit(X, stars).predict(X)
    VariationalSLDA(3, n_iterations=2, random_state=0).fit(X, stars).predict(X)
    VariationalSLDAClassifier(3, n_iterations=2, random_state=0).fit(X, label).predict(X)
    DiscLDA(4, n_iterations=2, random_state=0).fit(X, label).predict(X)


WORK: dict[str, Callable[[list[str], Any, Session], None]] = {
    "texts": _python,
    "the commands": _commands,
    "counts": _counts,
    "samplers": _chains,
    "other methods": _relatives,
}
