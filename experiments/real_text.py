"""Real text with a number attached: how well topics predict it, fit the words, and read.

    python experiments/real_text.py                   # five folds of all; hours on two cores
    python experiments/real_text.py --only imdb       # one corpus
    python experiments/real_text.py --method MedLDA   # one method
    python experiments/real_text.py --folds 1         # the first of five folds
    python experiments/real_text.py --page            # tables of docs and README from what there is
    python experiments/real_text.py --check           # which targets are met, from what there is
    python experiments/real_text.py --quick           # seconds, for the test suite

Each row is written to docs/results/text_folds.csv when it is there, and a run leaves out rows that
are there already: it can be stopped and started again.  ``default`` is what ``topicprism.fit``
learns topics with, ``ridge`` a regression on sublinear TF-IDF of the same words.  Columns: pR2 on
test documents, of a method's own predictions and of a regression that is the same for all topic
models; log-likelihood per word of one half of each test document given the other; NPMI of each
topic's ten most probable words, in the training documents; exp of the entropy of the test
documents' mean proportions; seconds to fit.  Every setting is chosen on training documents.
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from comparison import records
from comparison.corpora import CORPORA, N_FOLDS, ROOT, Split, fold, toy
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


def missing(corpus: str, i: int, only: str | None, path: Path) -> Iterator[tuple[str, Rival]]:
    """Methods that this fold has no row of, of which the default's must come before the last."""
    found = rivals(EFFORT)
    if not CORPORA[corpus].has_texts:
        del found[BIGRAMS]
    for name, rival in found.items():
        if only in (None, name) and i not in _results(path).of(corpus, name):
            yield name, rival
    known = _results(path)
    first = known.of(corpus, DEFAULT).get(i)
    differs = first is not None and first.k != EFFORT.k
    if only in (None, SAME_K) and differs and i not in known.of(corpus, SAME_K):
        yield SAME_K, gibbs(first.k, EFFORT)


def compile_kernels() -> None:
    """Before anything is timed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for name in ("default", "HybridSLDA()", "GibbsSLDA", "MedLDA"):
            rivals(QUICK)[name](toy())


def run(corpora: list[str], method: str | None, n_folds: int, path: Path = RESULTS) -> None:
    if "tomotopy LDA" not in rivals(EFFORT):
        print("tomotopy is not installed: left out")
    for corpus in corpora:
        if not CORPORA[corpus].path.exists():
            print(f"{corpus} is not there: left out")
            continue
        for i in range(n_folds):
            s = None
            for name, rival in missing(corpus, i, method, path):
                s = s or fold(corpus, i)
                row = measure(corpus, i, s, name, rival)
                show(row)
                records.keep(row, path)


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
    parser.add_argument("--method", choices=[*rivals(), SAME_K])
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
        run([args.only] if args.only else list(CORPORA), args.method, args.folds)


if __name__ == "__main__":
    main()
