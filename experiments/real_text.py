"""Real text with a number attached: how well topics predict it, fit the words, and read.

    python experiments/real_text.py                   # five folds of all; hours on two cores
    python experiments/real_text.py --only imdb       # one corpus
    python experiments/real_text.py --method MedLDA   # one method, or several
    python experiments/real_text.py --folds 1         # the first of five folds
    python experiments/real_text.py --jobs 16         # so many fits at once, each with one thread
    python experiments/real_text.py --page            # tables of docs and README from what there is
    python experiments/real_text.py --check           # which targets are met, from what there is
    python experiments/real_text.py --quick           # seconds, for the test suite

Each row is written to docs/results/text_folds.csv when it is there, and a run leaves out rows that
are there already: it can be stopped and started again.  ``default`` is what ``topicprism.fit``
learns topics with, ``ridge`` a regression on sublinear TF-IDF of the same words.  Columns: pR2 on
test documents, of a method's own predictions and of a regression that is the same for all topic
models; log-likelihood per word of one half of each test document given the other; NPMI of each
topic's ten most probable words, in the training documents; exp of the entropy of the test
documents' mean proportions; processor seconds to fit.  Every setting is chosen on training
documents.
"""

import argparse
import os
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from comparison import records
from comparison.corpora import CORPORA, N_FOLDS, THREADS, Split, fold, toy
from comparison.folder import ROOT
from comparison.rivals import QUICK, Effort, Rival, gibbs, rivals
from comparison.scores import MEASURES
from comparison.tables import DEFAULT, Results, Row, between, differences, fold_tables, overview
from comparison.targets import target_table, verdicts

from topicprism.evaluation import pr2

RESULTS = ROOT / "docs" / "results" / "text_folds.csv"
PAGE, README = ROOT / "docs" / "real-text.md", ROOT / "README.md"
BIGRAMS, SAME_K = "ridge, bigrams", "GibbsSLDA, k of default"
EFFORT = Effort()


def measure(corpus: str, i: int, s: Split, name: str, rival: Rival) -> Row:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of short documents
        answer = rival(s)
        own = np.nan if answer.y_hat is None else pr2(s.y_test, answer.y_hat)
        if answer.model is None:
            values, k = dict.fromkeys(MEASURES, np.nan), 0
        else:
            values = {key: measured(answer.model, s) for key, measured in MEASURES.items()}
            k = answer.model.n_topics
    return Row(corpus, i, name, k, own, **values, seconds=answer.seconds, settings=answer.settings)


def show(r: Row) -> None:
    print(
        f"{r.corpus:16s} {r.fold:4d} {r.method:24s} {r.k:3d} {r.pr2:7.3f} {r.pr2_same:7.3f} "
        f"{r.log_likelihood:8.3f} {r.npmi:7.3f} {r.effective_topics:7.2f} {r.seconds:7.1f}  "
        f"{r.settings}".rstrip(),
        flush=True,
    )


def head() -> None:
    print(
        f"{'corpus':16s} fold {'method':24s}   k     pR2    same  log-lik    NPMI  eff. k "
        "seconds  settings"
    )


@dataclass(frozen=True)
class Cell:
    """One row that is asked for."""

    corpus: str
    fold: int
    method: str
    k: int = EFFORT.k

    def measured(self) -> Row:
        rival = gibbs(self.k, EFFORT) if self.method == SAME_K else rivals(EFFORT)[self.method]
        return measure(self.corpus, self.fold, _fold(self.corpus, self.fold), self.method, rival)


@lru_cache(1)
def _fold(corpus: str, i: int) -> Split:
    return fold(corpus, i)


def missing(corpora: list[str], methods: list[str], n_folds: int, path: Path) -> list[Cell]:
    """Rows that are not there yet, fold by fold."""
    known, cells = _results(path), []
    for corpus, i, method in product(corpora, range(n_folds), methods):
        cell = Cell(corpus, i, method)
        if method == SAME_K:
            default = known.of(corpus, DEFAULT).get(i)
            cell = replace(cell, k=default.k if default else EFFORT.k)
            wanted = cell.k != EFFORT.k
        else:
            wanted = method != BIGRAMS or CORPORA[corpus].has_texts
        if wanted and i not in known.of(corpus, method):
            cells.append(cell)
    return cells


def compile_kernels() -> None:
    """Before anything is timed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for name in ("default", "HybridSLDA()", "GibbsSLDA", "MedLDA"):
            rivals(QUICK)[name](toy())


def run(
    corpora: list[str], methods: list[str], n_folds: int, jobs: int = 1, path: Path = RESULTS
) -> None:
    """Rows that are not there; those with the default's number of topics after the default's."""
    if "tomotopy LDA" not in rivals(EFFORT):
        print("tomotopy is not installed: left out")
    for corpus in corpora:
        if not CORPORA[corpus].path.exists():
            print(f"{corpus} is not there: left out")
    there = [corpus for corpus in corpora if CORPORA[corpus].path.exists()]
    for some in ([m for m in methods if m != SAME_K], [m for m in methods if m == SAME_K]):
        for row in rows(missing(there, some, n_folds, path), jobs):
            show(row)
            records.keep(row, path)


def rows(cells: list[Cell], jobs: int) -> Iterator[Row]:
    """As they come; with several jobs each is a process that has one thread.

    Large corpora are first, so that at the end no process is left alone with one.
    """
    if jobs == 1:
        yield from (cell.measured() for cell in cells)
        return
    os.environ |= dict.fromkeys((THREADS, "OPENBLAS_NUM_THREADS"), "1")
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        cells = sorted(cells, key=lambda cell: -CORPORA[cell.corpus].path.stat().st_size)
        for done in as_completed([pool.submit(Cell.measured, cell) for cell in cells]):
            yield done.result()


def _results(path: Path = RESULTS) -> Results:
    return Results(records.read(Row, path))


def pages() -> None:
    """Put the tables between the marks of the page, and a short one into the README."""
    results = _results()
    tables = fold_tables(results, [*rivals(), SAME_K]) + differences(results)
    page = between(PAGE.read_text(), "folds", tables)
    PAGE.write_text(between(page, "targets", target_table(results, list(CORPORA))))
    README.write_text(between(README.read_text(), "folds", overview(results)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(CORPORA))
    parser.add_argument("--method", choices=[*rivals(), SAME_K], nargs="+")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--folds", type=int, choices=range(1, N_FOLDS + 1), default=N_FOLDS)
    for action in ("--page", "--check", "--quick"):
        parser.add_argument(action, action="store_true")
    args = parser.parse_args()
    if args.page:
        pages()
    elif args.check:
        print(*verdicts(_results(), list(CORPORA)), sep="\n")
    elif args.quick:
        head()
        for name, rival in rivals(QUICK).items():
            show(measure("toy reviews", 0, toy(), name, rival))
    else:
        compile_kernels()
        head()
        methods = args.method or [*rivals(), SAME_K]
        run([args.only] if args.only else list(CORPORA), methods, args.folds, args.jobs)


if __name__ == "__main__":
    main()
