"""How good the default is to be on real text, beside ridge regression and other topic models."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .tables import DEFAULT, RIDGE, Results

SHARES = {"hotel_reviews": 1.0, "imdb": 0.97}  # of the pR2 of ridge, at least
SHARE_OF_OTHERS = 0.95  # on average
LIKELIHOOD_LOSS = 0.01  # per word, beside GibbsSLDA with as many topics
NPMI_GAIN = 0.02  # over tomotopy's better one
USED_TOPICS = 0.55  # of k
GIBBS = ("GibbsSLDA", "GibbsSLDA, k of default")
TOMOTOPY = ("tomotopy SLDA", "tomotopy LDA")


@dataclass(frozen=True)
class Verdict:
    target: str
    corpus: str
    value: float  # nan where nothing is measured yet
    bound: float

    @property
    def known(self) -> bool:
        return not (np.isnan(self.value) or np.isnan(self.bound))

    def __str__(self) -> str:
        told = ("pass" if self.value >= self.bound else "FAIL") if self.known else "not measured"
        values = f"{self.value:8.3f}  at least {self.bound:7.3f}" if self.known else ""
        return f"{told:12s}  {self.target:34s}  {self.corpus:18s} {values}".rstrip()

    @property
    def cell(self) -> str:
        """For a page: the value, and whether it is too small."""
        missed = " (missed)" if self.value < self.bound else ""
        return f"{self.value:.3f}{missed}" if self.known else ""


def target_table(results: Results, corpora: list[str]) -> list[str]:
    """A row for each corpus, a column for each target."""
    found = list(verdicts(results, corpora))
    names = list(dict.fromkeys(v.target for v in found))
    bounds = [sorted({v.bound for v in found if v.target == name}, reverse=True) for name in names]
    least = [", ".join(f"{b:g}" for b in bound) for bound in bounds]
    lines = ["| | " + " | ".join(names) + " |", "| --- " + "| --: " * len(names) + "|"]
    rows = list(dict.fromkeys(v.corpus for v in found))
    for corpus in sorted(rows, key=lambda c: corpora.index(c) if c in corpora else len(corpora)):
        cells = {v.target: v.cell for v in found if v.corpus == corpus}
        lines.append(f"| {corpus} | " + " | ".join(cells.get(name, "") for name in names) + " |")
    return [*lines, "| at least | " + " | ".join(least) + " |"]


def verdicts(results: Results, corpora: list[str]) -> Iterator[Verdict]:
    """Means over the folds that are there."""
    shares = {corpus: _mean(results.share(corpus, DEFAULT)) for corpus in corpora}
    for corpus, bound in SHARES.items():
        yield Verdict(f"share of the pR2 of {RIDGE}", corpus, shares[corpus], bound)
    others = [share for corpus, share in shares.items() if corpus not in SHARES]
    yield Verdict(
        f"share of the pR2 of {RIDGE}", "mean of the others", _mean(others), SHARE_OF_OTHERS
    )
    for corpus in corpora:
        yield _likelihood(results, corpus)
    for corpus in corpora:
        yield _coherence(results, corpus)
    for corpus in corpora:
        rows = results.of(corpus, DEFAULT).values()
        used = _mean([r.effective_topics / r.k for r in rows])
        yield Verdict("effective topics, of k", corpus, used, USED_TOPICS)


def _likelihood(results: Results, corpus: str) -> Verdict:
    """Folds where there is a chain with as many topics."""
    pairs = [
        (mine, theirs)
        for method in GIBBS
        for mine, theirs in results.pairs(corpus, DEFAULT, method)
        if mine.k == theirs.k
    ]
    gain = _mean([mine.log_likelihood - theirs.log_likelihood for mine, theirs in pairs])
    return Verdict("log-likelihood less GibbsSLDA's", corpus, gain, -LIKELIHOOD_LOSS)


def _coherence(results: Results, corpus: str) -> Verdict:
    """Where one of the two is measured and is not beaten, the other cannot change that."""
    pairs = [results.pairs(corpus, DEFAULT, method) for method in TOMOTOPY]
    gains = [_mean([mine.npmi - theirs.npmi for mine, theirs in found]) for found in pairs if found]
    least = min(gains, default=np.nan)
    told = len(gains) == len(TOMOTOPY) or least < NPMI_GAIN
    return Verdict("NPMI less tomotopy's better one", corpus, least if told else np.nan, NPMI_GAIN)


def _mean(values) -> float:
    return float(np.mean(values)) if len(values) else np.nan
