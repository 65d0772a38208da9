"""Responses that have nothing to do with the words: how many topics seem to have an effect?

    python experiments/permuted.py                          # half an hour on two cores
    python experiments/permuted.py --estimator HybridSLDA   # beside another estimator than usual
    python experiments/permuted.py --only poliblog --permutations 5
    python experiments/permuted.py --quick                  # seconds, for the test suite

The responses of a corpus are permuted, so that no topic has an effect: the expected response of a
document of one topic only, which is what a coefficient is, is the mean response.  A topic seems
to have one if its coefficient is more than 1.96 standard errors from that mean; one in twenty
should.  For the estimator of ``topicprism.fit`` and for one that is named, with 20 topics and, if
they choose a number, with as many as they choose.  Topics without a standard error (where an
estimator finds nothing to predict) have no interval shown and are counted apart.  Each fit is a row
of docs/results/permuted.csv; rows that are there are left out.
"""

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from comparison import records
from comparison.corpora import CORPORA, N_JOBS, Split, load, toy
from comparison.folder import ROOT
from scipy.sparse import csr_array, vstack

import topicprism
from topicprism.pipeline.fitted import topics_step

RESULTS = ROOT / "docs" / "results" / "permuted.csv"
SIZES = {"poliblog": None, "movie_scale": 800, "hotel_reviews": 2_000}  # documents, None for all
N_PERMUTATIONS, K = 20, 20
NORMAL_95 = 1.96
DEFAULT, CHOSEN = "default", "chosen"
ESTIMATORS = ("SpectralSLDA", "HybridSLDA", "GibbsSLDA", "MedLDA")


@dataclass(frozen=True)
class Row:
    corpus: str
    method: str
    asked: str  # for how many topics
    permutation: int
    k: int
    n_beyond: int  # topics that seem to have an effect
    n_without_interval: int
    largest_z: float  # nan if no topic has an interval
    warned: str  # the kinds of warning


def maker(method: str, asked: str) -> Callable[[], Any]:
    options = {} if asked == CHOSEN else {"n_topics": int(asked)}
    kind = None if method == DEFAULT else getattr(topicprism, method)
    return lambda: topics_step(kind, N_JOBS, 0, options)


def numbers(method: str) -> tuple[str, ...]:
    """Of topics that are asked for."""
    chooses = method == DEFAULT or getattr(topicprism, method)().n_topics == "auto"
    return (str(K), CHOSEN) if chooses else (str(K),)


def z_scores(fitted: Any, mean: float) -> np.ndarray:
    """Of each topic's coefficient from the mean response; nan where it has no standard error."""
    std = getattr(fitted, "coef_std_", None)
    if std is None:
        return np.full(len(fitted.coef_), np.nan)
    shown = np.isfinite(std) & (std > 0)
    return np.where(shown, np.abs(fitted.coef_ - mean) / np.where(shown, std, 1.0), np.nan)


def measure(corpus: str, X: csr_array, y: np.ndarray, method: str, asked: str, i: int) -> Row:
    permuted = np.random.default_rng(i).permutation(y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = maker(method, asked)().fit(X, permuted)
    z = z_scores(fitted, y.mean())
    known = z[~np.isnan(z)]
    kinds = sorted({w.category.__name__ for w in caught})
    return Row(
        corpus,
        method,
        asked,
        i,
        len(z),
        int((known > NORMAL_95).sum()),
        int(np.isnan(z).sum()),
        float(known.max()) if len(known) else np.nan,
        " ".join(kinds),
    )


def documents(corpus: str) -> tuple[csr_array, np.ndarray]:
    """The first, which are in random order."""
    s: Split = load(corpus)
    X, y = vstack([s.X, s.X_test], "csr"), np.concatenate([s.y, s.y_test])
    return X[: SIZES[corpus]], y[: SIZES[corpus]]


def summary(rows: list[Row]) -> str:
    """Of all permutations together."""
    n = sum(r.k for r in rows)
    apart = sum(r.n_without_interval for r in rows)
    beyond = sum(r.n_beyond for r in rows)
    share = f"{100 * beyond / (n - apart):5.1f} %" if n > apart else "none shown"
    largest = [r.largest_z for r in rows if not np.isnan(r.largest_z)]
    z = f"{max(largest):8.1f}" if largest else ""
    first = rows[0]
    return (
        f"{first.corpus:16s} {first.method:14s} {first.asked:>6s} {len(rows):13d} {n:7d} "
        f"{apart:17d}  {share} {z}"
    )


def run(corpora: list[str], methods: tuple[str, ...], n_permutations: int) -> None:
    for corpus in corpora:
        if not CORPORA[corpus].path.exists():
            print(f"{corpus} is not there: left out")
            continue
        X, y = documents(corpus)
        for method in methods:
            for asked in numbers(method):
                key = (corpus, method, asked)
                known = records.read(Row, RESULTS)
                mine = [r for r in known if (r.corpus, r.method, r.asked) == key]
                done = {r.permutation for r in mine}
                for i in [i for i in range(n_permutations) if i not in done]:
                    mine.append(measure(corpus, X, y, method, asked, i))
                    records.keep(mine[-1], RESULTS)
                print(summary(mine), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(SIZES))
    parser.add_argument("--estimator", choices=ESTIMATORS, default=ESTIMATORS[0])
    parser.add_argument("--permutations", type=int, default=N_PERMUTATIONS)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    print(
        f"{'corpus':16s} {'method':14s} topics  permutations  topics  without interval   beyond  "
        "largest"
    )
    methods = (DEFAULT, args.estimator)
    if args.quick:
        s = toy()
        for method in methods:
            rows = [measure("toy reviews", s.X, s.y, method, "3", i) for i in range(3)]
            print(summary(rows))
    else:
        run([args.only] if args.only else list(SIZES), methods, args.permutations)


if __name__ == "__main__":
    main()
