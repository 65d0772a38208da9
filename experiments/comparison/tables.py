"""Rows of five folds, and their means as a page shows them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

RIDGE, DEFAULT = "ridge", "default"
HEAD = "method | k | pR² | same regression | of ridge | log-lik. | NPMI | effective topics | s"
BESIDE = ("SpectralSLDA()", "HybridSLDA()", "GibbsSLDA", "MedLDA", "tomotopy SLDA")


@dataclass(frozen=True)
class Row:
    """One method on one fold of one corpus; nan where it has no such thing."""

    corpus: str
    fold: int
    method: str
    k: int  # 0 where there are no topics
    pr2: float  # its own predictions
    pr2_same: float  # of the regression on its topics that is the same for all
    log_likelihood: float
    npmi: float
    effective_topics: float
    seconds: float
    settings: str

    @property
    def score(self) -> float:
        """Its own pR2; where it does not predict, that of the regression on its topics."""
        return self.pr2_same if np.isnan(self.pr2) else self.pr2


@dataclass(frozen=True)
class Results:
    rows: list[Row]

    @property
    def corpora(self) -> list[str]:
        return list(dict.fromkeys(r.corpus for r in self.rows))

    def of(self, corpus: str, method: str) -> dict[int, Row]:
        """By fold."""
        mine = (r for r in self.rows if (r.corpus, r.method) == (corpus, method))
        return {r.fold: r for r in mine}

    def pairs(self, corpus: str, one: str, other: str) -> list[tuple[Row, Row]]:
        """Two methods on the folds that both have."""
        a, b = self.of(corpus, one), self.of(corpus, other)
        return [(a[i], b[i]) for i in sorted(a.keys() & b.keys())]

    def share(self, corpus: str, method: str) -> np.ndarray:
        """Of the pR2 of ridge, fold by fold."""
        pairs = self.pairs(corpus, method, RIDGE)
        return np.array([mine.score / ridge.score for mine, ridge in pairs])


def fold_tables(results: Results, order: list[str]) -> list[str]:
    """For each corpus a table of means, with standard deviations over the folds."""
    lines = []
    for corpus in results.corpora:
        lines += ["", f"#### {corpus}", "", f"| {HEAD} |", "| --- " + "| --: " * 8 + "|"]
        found = {r.method for r in results.rows if r.corpus == corpus}
        for method in sorted(found, key=lambda name: _place(name, order)):
            lines.append("| " + " | ".join(_cells(results, corpus, method)) + " |")
    return lines


def differences(results: Results) -> list[str]:
    """pR2 of the default less that of others, fold by fold: means and standard errors."""
    others = [RIDGE, *BESIDE]
    lines = ["", "| pR² of `default` less that of | " + " | ".join(others) + " |"]
    lines += ["| --- " + "| --: " * len(others) + "|"]
    for corpus in results.corpora:
        cells = [_gain(results.pairs(corpus, DEFAULT, other)) for other in others]
        lines.append("| " + " | ".join([corpus, *cells]) + " |")
    return lines


def between(text: str, mark: str, lines: list[str]) -> str:
    """A page with these lines between two marks of it."""
    before, start, rest = text.partition(f"<!-- {mark} -->\n")
    _, end, after = rest.partition(f"<!-- end of {mark} -->")
    return before + start + "\n".join(lines) + "\n\n" + end + after


def _cells(results: Results, corpus: str, method: str) -> list[str]:
    rows = list(results.of(corpus, method).values())
    ks = ", ".join(str(k) for k in sorted({r.k for r in rows}) if k)
    return [
        method,
        ks,
        _mean_and_std([r.pr2 for r in rows]),
        _mean_and_std([r.pr2_same for r in rows]),
        _mean_and_std(results.share(corpus, method), 2),
        *(_mean(rows, lambda r: r.log_likelihood), _mean(rows, lambda r: r.npmi)),
        *(_mean(rows, lambda r: r.effective_topics, 1), _mean(rows, lambda r: r.seconds, 1)),
    ]


def _mean(rows: list[Row], value: Callable[[Row], float], places: int = 3) -> str:
    mean = np.mean([value(r) for r in rows])
    return "" if np.isnan(mean) else f"{mean:.{places}f}"


def _mean_and_std(values, places: int = 3) -> str:
    if len(values) == 0 or np.isnan(values).any():
        return ""
    return f"{np.mean(values):.{places}f} ± {np.std(values):.{places}f}"


def _gain(pairs: list[tuple[Row, Row]]) -> str:
    if len(pairs) < 2:
        return ""
    gain = np.array([mine.score - other.score for mine, other in pairs])
    return f"{gain.mean():+.3f} ± {gain.std(ddof=1) / np.sqrt(len(gain)):.3f}"


def _place(method: str, order: list[str]) -> tuple[int, str]:
    return (order.index(method) if method in order else len(order)), method
