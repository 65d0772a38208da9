"""Rows of five folds, and their means as a page shows them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

RIDGE, DEFAULT = "ridge", "default"
COLUMNS = ("folds", "k", "pR²", "same regression", "of ridge", "log-lik.", "NPMI")
COLUMNS += ("effective topics", "s")
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

    @property
    def best(self) -> float:
        """The better of its own predictions and the regression on its topics."""
        return float(np.fmax(self.pr2, self.pr2_same))


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
    """For each corpus a table of means, with standard deviations over the folds if several."""
    lines = []
    for corpus in results.corpora:
        lines += ["", f"#### {corpus}", "", *_head("method", *COLUMNS)]
        found = {r.method for r in results.rows if r.corpus == corpus}
        for method in sorted(found, key=lambda name: _place(name, order)):
            lines.append(_line(*_cells(results, corpus, method)))
    return lines


def overview(results: Results) -> list[str]:
    """The default on each corpus beside ridge and the best other topic model, on the same folds."""
    names = ("corpus", "folds", "`topicprism.fit`", "ridge", "of ridge", "best other topic model")
    lines = _head(*names)
    for corpus in results.corpora:
        ours = results.of(corpus, DEFAULT)
        if not ours:
            continue
        mine, ridge, share = (
            _average(values)
            for values in (
                [r.score for r in ours.values()],
                [r.score for r in results.of(corpus, RIDGE).values() if r.fold in ours],
                results.share(corpus, DEFAULT),
            )
        )
        other = _best_other(results, corpus)
        lines.append(
            _line(corpus, f"{len(ours)}", f"{mine:.3f}", f"{ridge:.3f}", f"{share:.2f}", other)
        )
    return lines


def _best_other(results: Results, corpus: str) -> str:
    """The other topic model that predicts best, by either way, beside the default on its folds."""
    gains = {}
    for method in {r.method for r in results.rows if r.corpus == corpus and r.k} - {DEFAULT}:
        if pairs := results.pairs(corpus, DEFAULT, method):
            gains[method] = (
                _average([theirs.best - mine.score for mine, theirs in pairs]),
                len(pairs),
            )
    if not gains:
        return ""
    best = max(sorted(gains), key=lambda name: gains[name][0])
    gain, n = gains[best]
    return f"{gain:+.3f} ({best}, {n} fold{'s' * (n > 1)})"


def differences(results: Results) -> list[str]:
    """pR2 of the default less that of others, fold by fold: means and standard errors."""
    others = [RIDGE, *BESIDE]
    lines = ["", *_head("pR² of `default` less that of", *others)]
    for corpus in results.corpora:
        cells = [_gain(results.pairs(corpus, DEFAULT, other)) for other in others]
        lines.append(_line(corpus, *cells))
    return lines


def between(text: str, mark: str, lines: list[str]) -> str:
    """A page with these lines between two marks of it."""
    before, start, rest = text.partition(f"<!-- {mark} -->\n")
    _, end, after = rest.partition(f"<!-- end of {mark} -->")
    if not end:
        raise SystemExit(f"the page has no marks {mark!r}; put the tables' place back")
    return before + start + "\n".join(lines) + "\n\n" + end + after


def _head(*names: str) -> list[str]:
    return [_line(*names), "| --- " + "| --: " * (len(names) - 1) + "|"]


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(results: Results, corpus: str, method: str) -> list[str]:
    rows = list(results.of(corpus, method).values())
    ks = ", ".join(str(k) for k in sorted({r.k for r in rows}) if k)
    return [
        method,
        str(len(rows)),
        ks,
        _mean_and_std([r.pr2 for r in rows]),
        _mean_and_std([r.pr2_same for r in rows]),
        _mean_and_std(results.share(corpus, method), 2),
        *(_mean(rows, lambda r: r.log_likelihood), _mean(rows, lambda r: r.npmi)),
        *(_mean(rows, lambda r: r.effective_topics, 1), _mean(rows, lambda r: r.seconds, 1)),
    ]


def _mean(rows: list[Row], value: Callable[[Row], float], places: int = 3) -> str:
    mean = _average([value(r) for r in rows])
    return "" if np.isnan(mean) else f"{mean:.{places}f}"


def _average(values) -> float:
    return float(np.mean(values)) if len(values) else np.nan


def _mean_and_std(values, places: int = 3) -> str:
    if len(values) == 0 or np.isnan(values).any():
        return ""
    mean = f"{np.mean(values):.{places}f}"
    return mean if len(values) == 1 else f"{mean} ± {np.std(values):.{places}f}"


def _gain(pairs: list[tuple[Row, Row]]) -> str:
    gain = np.array([mine.score - other.score for mine, other in pairs])
    if len(gain) < 2:
        return "".join(f"{g:+.3f}" for g in gain)
    return f"{gain.mean():+.3f} ± {gain.std(ddof=1) / np.sqrt(len(gain)):.3f}"


def _place(method: str, order: list[str]) -> tuple[int, str]:
    return (order.index(method) if method in order else len(order)), method
