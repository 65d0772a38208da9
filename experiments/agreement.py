"""Whether two samples of one corpus give the same topics, and the same effects of them.

    python experiments/agreement.py                      # an hour on two cores
    python experiments/agreement.py --only imdb          # one corpus
    python experiments/agreement.py --method GibbsSLDA   # one method
    python experiments/agreement.py --quick              # seconds, for the test suite

Two samples of 10,000 documents that have none in common, counted over one vocabulary, 20 topics
each.  Topics are matched so that the sum of their similarities, Bhattacharyya coefficients
(1 if two topics are the same, 0 if they share no word), is largest.  Printed and written to
docs/results/agreement.csv, one row for each corpus and method: the mean similarity of matched
topics; the share of their ten most probable words that they have in common; and of
matched topics of similarity 0.7 or more, whose effects both have a standard error, the share whose
effects differ by more than 1.96 standard errors of the difference (one in twenty by chance, if
the topics were the same) and the largest difference in these.  Rows that are there are left out.
"""

import argparse
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from comparison import records
from comparison.corpora import CORPORA, Source, Split, unseen, vectorizer
from comparison.folder import ROOT
from comparison.rivals import QUICK, Answer, Effort, Rival, default, gibbs, ours, rivals
from scipy.optimize import linear_sum_assignment

from topicprism import HybridSLDA, Model, SpectralSLDA
from topicprism.datasets import make_reviews
from topicprism.show.words import top_ids

RESULTS = ROOT / "docs" / "results" / "agreement.csv"
N_DOCUMENTS, N_TOP = 10_000, 10
SIMILAR, NORMAL_95 = 0.7, 1.96
NAMES = ("default", "SpectralSLDA", "HybridSLDA", "GibbsSLDA", "tomotopy SLDA", "tomotopy LDA")


@dataclass(frozen=True)
class Row:
    corpus: str
    method: str
    k: int  # of the smaller model
    similarity: float
    words_in_common: float
    n_similar: int
    n_without_interval: int  # of these
    differ: float  # share of those with one
    largest_z: float


def methods(effort: Effort) -> dict[str, Rival]:
    """The number of topics given, so that there are as many in both samples."""
    fixed = {
        "default": default(n_topics=effort.k),
        "SpectralSLDA": ours(SpectralSLDA, effort.k),
        "HybridSLDA": ours(HybridSLDA, effort.k, **effort.chain),
        "GibbsSLDA": gibbs(effort.k, effort, cross_fit=True),
    }
    known = rivals(effort) | fixed
    return {name: known[name] for name in NAMES if name in known}


def matched(one: Model, other: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Topics of the one, of the other, and how similar each pair is."""
    similarity = np.sqrt(one.mu).T @ np.sqrt(other.mu)
    a, b = linear_sum_assignment(similarity, maximize=True)
    return a, b, similarity[a, b]


def words_in_common(one: Model, other: Model, a: np.ndarray, b: np.ndarray) -> float:
    """Mean share of the ten most probable words, over pairs of topics."""
    first, second = (top_ids(m, N_TOP, by="probability") for m in (one, other))
    shares = [len(np.intersect1d(first[i], second[j])) / N_TOP for i, j in zip(a, b, strict=True)]
    return float(np.mean(shares))


def z_scores(one: Any, other: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Differences of effects in their standard errors; nan where either has no interval."""
    errors = [getattr(fitted, "coef_std_", None) for fitted in (one, other)]
    if any(e is None for e in errors):
        return np.full(len(a), np.nan)
    std = np.hypot(errors[0][a], errors[1][b])
    shown = np.isfinite(std) & (std > 0)
    gap = one.coef_[a] - other.coef_[b]
    return np.where(shown, gap / np.where(shown, std, 1.0), np.nan)


def compare(corpus: str, name: str, one: Answer, other: Answer) -> Row:
    a, b, similarity = matched(one.model, other.model)
    similar = similarity >= SIMILAR
    z = np.abs(z_scores(one.estimator, other.estimator, a[similar], b[similar]))
    known = z[~np.isnan(z)]
    return Row(
        corpus,
        name,
        len(a),
        float(similarity.mean()),
        words_in_common(one.model, other.model, a, b),
        int(similar.sum()),
        int(np.isnan(z).sum()),
        float((known > NORMAL_95).mean()) if len(known) else np.nan,
        float(known.max()) if len(known) else np.nan,
    )


def samples(texts: np.ndarray, y: np.ndarray, source: Source, n: int) -> list[Split]:
    """Two, over one vocabulary; a few documents of each are to test on, which is not used."""
    order = np.random.default_rng(0).permutation(len(y))[: 2 * n]
    X, y = vectorizer(source).fit_transform(list(texts[order])), y[order]
    return [Split(X[at], y[at], X[at][:5], y[at][:5]) for at in (slice(n), slice(n, None))]


def measure(corpus: str, name: str, rival: Rival, both: list[Split]) -> Row:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of short documents
        return compare(corpus, name, *(rival(s) for s in both))


def show(r: Row) -> None:
    said = "none shown" if np.isnan(r.differ) else f"{r.differ:6.2f} {r.largest_z:7.1f}"
    print(
        f"{r.corpus:16s} {r.method:16s} {r.k:3d} {r.similarity:11.3f} {r.words_in_common:9.3f} "
        f"{r.n_similar:8d} {r.n_without_interval:17d}   {said}",
        flush=True,
    )


def run(corpora: list[str], method: str | None) -> None:
    for corpus in corpora:
        if not CORPORA[corpus].path.exists():
            print(f"{corpus} is not there: left out")
            continue
        done = {r.method for r in records.read(Row, RESULTS) if r.corpus == corpus}
        wanted = {m: rival for m, rival in methods(Effort()).items() if method in (None, m)}
        if not wanted.keys() - done:
            continue
        both = samples(*unseen(corpus), CORPORA[corpus], N_DOCUMENTS)
        for name in [m for m in wanted if m not in done]:
            row = measure(corpus, name, wanted[name], both)
            show(row)
            records.keep(row, RESULTS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["hotel_reviews", "imdb"])
    parser.add_argument("--method", choices=NAMES)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    print(
        f"{'corpus':16s} {'method':16s}   k  similarity  in common  similar  without interval   "
        "differ largest"
    )
    if args.quick:
        texts, y, _ = make_reviews(1200, random_state=0)
        both = samples(np.array(texts, object), y, Source("", n_words=300), 600)
        for name, rival in methods(QUICK).items():
            show(measure("toy reviews", name, rival, both))
    else:
        run([args.only] if args.only else ["hotel_reviews", "imdb"], args.method)


if __name__ == "__main__":
    main()
