"""What the paper's figures on real reviews share: documents, methods, rows, claims.

Documents are counted over their V most frequent words that are not English stop words, responses
have mean 0 and variance 1, and each fold is a block of rows to test on, the others to learn from.
Every row is one method on one fold.  Rows are written as they come, and a run leaves out those that
are there: it can be stopped and started again.

Chains run for a fixed number of sweeps, and besides as the paper stops them: as soon as the
log-likelihood has changed by less than 1e-3 of itself on average over ten sweeps.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config
from scipy.sparse import csr_array
from writing import HERE, parsed, parser

from topicprism import GibbsSLDA, HybridSLDA, MedLDA, SpectralSLDA
from topicprism.datasets import make_reviews
from topicprism.evaluation import pr2, word_log_likelihood
from topicprism.inference import predict
from topicprism.model import TooManyTopics
from topicprism.vectorizer import FastCountVectorizer

sys.path.insert(0, str(HERE.parent))
from comparison import records
from comparison.folder import DATA

STOP = {"burn_in": 1_000, "n_kept": 10, "tolerance": 1e-3}  # the paper's
PAPER = {"regime": "paper", "inference": "gibbs"}  # prediction is by Gibbs sampling, too
SMALL_C, C = "joint, C = 10", 10.0  # what a word counts for beside the response; 100 in the paper
TOY = "toy reviews"
N_FOLDS = 5
COMPARABLE = 0.03  # of pR2: methods this close are called comparable, or as good as each other
MUCH = 0.1  # of pR2: "much worse"


@dataclass(frozen=True)
class Documents:
    """Counts and standardised responses; ``n_test`` rows are a fold."""

    X: csr_array
    y: np.ndarray
    n_test: int
    words: np.ndarray

    def fold(self, i: int) -> tuple[csr_array, np.ndarray, csr_array, np.ndarray]:
        test = np.arange(len(self.y)) // self.n_test == i
        return self.X[~test], self.y[~test], self.X[test], self.y[test]


def documents(name: str, V: int, rows: slice, n_parts: int) -> Documents | None:
    """Some rows of a corpus, of which one of ``n_parts`` is a fold; None where it is absent."""
    if name == TOY:
        texts, y, _ = make_reviews(600, random_state=0)
    elif (DATA / f"{name}.parquet").exists():
        import pandas as pd

        table = pd.read_parquet(DATA / f"{name}.parquet", columns=["text", "rating"])[rows]
        texts, y = list(table["text"]), table["rating"].to_numpy()
    else:
        return None
    count = FastCountVectorizer(max_features=V, stop_words="english", n_jobs=os.cpu_count())
    X, y = count.fit_transform(texts), np.asarray(y, float)
    return Documents(X, (y - y.mean()) / y.std(), len(y) // n_parts, count.get_feature_names_out())


@dataclass(frozen=True)
class Cell:
    """What one row is about."""

    corpus: str
    n: int  # documents
    V: int
    mean_alpha: float
    k: int  # 0 where the method chooses it
    fold: int
    method: str


@dataclass(frozen=True)
class Row:
    corpus: str
    n: int
    V: int
    mean_alpha: float
    k: int
    fold: int
    method: str
    pr2: float  # nan where it was refused
    log_likelihood: float  # per word of the test documents, by proportions from the same words
    seconds: float  # to fit
    sweeps: int  # of its chain; 0 where it has none
    note: str

    @property
    def cell(self) -> Cell:
        return Cell(*astuple(self)[: len(fields(Cell))])


Method = Callable[[int, float], Any]  # an estimator of k topics and a mean alpha


def methods(sweeps: int, kept: int, **paper: Any) -> dict[str, Method]:
    """The paper's five, chains of so many sweeps and as it stops them; and ours."""
    chains: dict[str, Callable[..., Any]] = {
        "hybrid": lambda k, a, **chain: HybridSLDA(k, alpha0=a * k, **PAPER | paper | chain),
        "Gibbs": lambda k, a, **chain: GibbsSLDA(k, alpha0=a * k, cross_fit=False, **chain),
        "MedLDA": lambda k, a, **chain: MedLDA(k, alpha0=a * k, cross_fit=False, **chain),
    }
    long = {"burn_in": sweeps - kept, "n_kept": kept}
    return {
        "two-stage": lambda k, a: SpectralSLDA(
            k, method="two-stage", alpha0=a * k, **PAPER | paper
        ),
        "joint": lambda k, a: SpectralSLDA(k, alpha0=a * k, **PAPER | paper),
        **{name: (lambda k, a, make=make: make(k, a, **long)) for name, make in chains.items()},
        **{stopped(name): (lambda k, a, m=m: m(k, a, **STOP)) for name, m in chains.items()},
        "SpectralSLDA()": lambda k, a: SpectralSLDA(),
    }


def with_small_c(**paper: Any) -> Method:
    """Algorithm 2 with a smaller C than the paper's."""
    return methods(0, 0, word_scale=C, **paper)["joint"]


def stopped(name: str) -> str:
    return f"{name}, the paper's stop"


def measure(cell: Cell, docs: Documents, method: Method) -> Row:
    X, y, X_test, y_test = docs.fold(cell.fold)
    model = method(cell.k, cell.mean_alpha).set_params(random_state=0, n_jobs=1)
    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of short documents, in every row alike
        try:
            model.fit(X, y)
        except ValueError as refused:
            if not isinstance(refused, TooManyTopics) and "nystrom" not in str(refused):
                raise
            return Row(*astuple(cell), np.nan, np.nan, perf_counter() - start, 0, str(refused))
        seconds = perf_counter() - start
        h = model.transform(X_test)
        mixture = getattr(model, "features_", "mixture") == "mixture"
        y_hat = predict(model.model_, h) if mixture else model.predict(X_test)
    note = "" if cell.k else f"k={model.model_.n_topics}"
    likelihood = word_log_likelihood(model.model_, X_test, h)
    sweeps = getattr(model, "n_sweeps_", 0)
    return Row(*astuple(cell), pr2(y_test, y_hat), likelihood, seconds, sweeps, note)


def run(
    path: Path,
    cells: Iterable[Cell],
    docs: dict[tuple[str, int], Documents],
    method: Callable[[Cell], Method],
    jobs: int,
) -> list[Row]:
    """All rows of the file, once those of the cells are there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    known = {row.cell for row in records.read(Row, path)}
    todo = [cell for cell in cells if cell not in known]
    print(f"{path.name}: {len(known)} rows are there, {len(todo)} to come", flush=True)
    with parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
        found = Parallel(return_as="generator_unordered", batch_size=1)(
            delayed(measure)(cell, docs[cell.corpus, cell.V], method(cell)) for cell in todo
        )
        for row in found:
            records.keep(row, path)
            print(*astuple(row), sep=",", flush=True)
    return records.read(Row, path)


# --- what rows say --------------------------------------------------------------------


@dataclass(frozen=True)
class Curves:
    """Rows of one corpus, V and mean alpha: means over folds by number of topics."""

    rows: list[Row]

    def of(self, method: str, value: str = "pr2") -> dict[int, tuple[float, float]]:
        """Mean and standard deviation by k; a number of topics that a fold refuses is left out."""
        by_k: dict[int, list[float]] = {}
        for row in self.rows:
            if row.method == method:
                by_k.setdefault(row.k, []).append(getattr(row, value))
        mean = {k: (float(np.mean(v)), float(np.std(v))) for k, v in sorted(by_k.items())}
        return {k: (m, s) for k, (m, s) in mean.items() if np.isfinite(m)}

    def best(self, method: str, value: str = "pr2") -> float:
        """At the number of topics where the mean is largest; nan where there is none."""
        return max((m for m, _ in self.of(method, value).values()), default=np.nan)

    def told(self, *names: str, value: str = "pr2") -> str:
        return ", ".join(f"{name.split(',')[0]} {self.best(name, value):.3f}" for name in names)


@dataclass(frozen=True)
class Claim:
    """One thing that the paper says: that one figure is more than another."""

    said: str
    more: float
    less: float
    figures: str

    @property
    def holds(self) -> bool | None:
        """None where a figure is not there."""
        return None if np.isnan(self.more + self.less) else self.more > self.less

    def __str__(self) -> str:
        told = {True: "yes", False: "no", None: "?"}[self.holds]
        return f"  {told:3s}  {self.said} ({self.figures})"


def verdict(claims: list[Claim]) -> str:
    """In the words of docs/paper.md."""
    known = [claim for claim in claims if claim.holds is not None]
    if len(known) < len(claims) or not claims:
        return f"not measured: {len(claims) - len(known)} of {len(claims)} statements"
    wrong = [claim for claim in known if not claim.holds]
    if len(wrong) == len(known):
        return "not reproduced"
    if not wrong:
        return "reproduced"
    return f"differs: {len(wrong)} of {len(known)} statements do not hold, marked no above"


# --- options and pictures -------------------------------------------------------------


def options(
    description: str | None, more: Callable[[argparse.ArgumentParser], Any] = lambda _: None
) -> argparse.Namespace:
    reader = parser(description)
    reader.add_argument("--jobs", type=int, default=1, help="processes (default: %(default)s)")
    reader.add_argument("--folds", type=int, choices=range(1, N_FOLDS + 1), default=N_FOLDS)
    more(reader)
    return parsed(reader)


STYLES = {
    "two-stage": "C0o-", "joint": "C3s-", SMALL_C: "C3s:",
    "hybrid": "C1^-", "Gibbs": "C2v-", "MedLDA": "C4D-",
    stopped("hybrid"): "C1^:", stopped("Gibbs"): "C2v:", stopped("MedLDA"): "C4D:",
}  # fmt: skip


def panel(ax: Any, curves: Curves, value: str, sign: int = 1) -> None:
    """Means over folds against the number of topics, standard deviations as bars."""
    for name, style in STYLES.items():
        found = curves.of(name, value)
        if not found or (value == "log_likelihood" and name.startswith("MedLDA")):
            continue  # the paper compares MedLDA on predictions alone
        mean, std = (np.array(v) for v in zip(*found.values(), strict=True))
        ax.errorbar(list(found), sign * mean, std, fmt=style, ms=4, lw=1, capsize=2, label=name)
    ours = curves.of("SpectralSLDA()", value)
    if ours:
        ax.axhline(sign * ours[0][0], color="0.4", ls="--", lw=1, label="SpectralSLDA() of ours")
    ax.set_xlabel("topics")


def pyplot() -> Any:
    """None, with a sentence, where matplotlib is not installed."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("matplotlib is not installed, so no figure: pip install matplotlib")
        return None
    return plt
