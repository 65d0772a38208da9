"""C, what a word counts for beside the response in Algorithm 2: what it changes.

    python experiments/paper/word_scale.py            # minutes
    python experiments/paper/word_scale.py --draw     # verdict from the CSV
    python experiments/paper/word_scale.py --quick    # seconds, for the test suite

The paper sets C = 100 and says that fixing it "makes no effect on the recovery accuracy".  On
exact moments that is so (tests/test_exact.py).  Written are the pR2 of held-out documents and,
where the truth is known, the largest error of eta, of ``SpectralSLDA(regime="paper")`` on
simulated documents (five topics, 500 Zipf words, 5,000 to learn from) and on the corpora that are
there (``TOPICPRISM_DATA``).
"""

import argparse
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from trials import Row, chosen, run, said
from writing import known

from topicprism import SpectralSLDA
from topicprism.datasets import make_slda
from topicprism.evaluation import match
from topicprism.model import TooManyTopics

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from comparison import corpora

SCALES = 0.1, 1.0, 10.0, 30.0, 100.0, 300.0, 1_000.0, 10_000.0
K, DOCUMENTS = 5, 6_000
CORPORA = "movie_scale", "hotel_reviews"
SAME = 0.03  # of pR2: "no effect"


def rows(asked: argparse.Namespace) -> Iterator[Row]:
    n, done = 600 if asked.quick else DOCUMENTS, known(asked.path, "corpus", "C")
    X, y, truth = make_slda(n, 500, K, 100, words="zipf", noise=0.3, random_state=0)
    cut = n * 5 // 6
    sets = [("simulated", truth.alpha.sum(), X[:cut], y[:cut], X[cut:], y[cut:])]
    for name in () if asked.quick else CORPORA:
        split = corpora.load(name)
        if split is not None:
            sets.append((name, "auto", split.X, split.y, split.X_test, split.y_test))
    for name, alpha0, X, y, X_test, y_test in sets:
        for C in [C for C in SCALES if not done(name, C)]:
            model = SpectralSLDA(
                K, regime="paper", alpha0=alpha0, word_scale=C, random_state=0, n_jobs=2
            )
            row = {"corpus": name, "C": C, "pR2": float("nan"), "error of eta": float("nan")}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    row["pR2"] = model.fit(X, y).score(X_test, y_test)
                except TooManyTopics:
                    yield row
                    continue
            if name == "simulated":
                found = model.model_.reordered(match(model.model_, truth))
                row["error of eta"] = float(np.abs(found.eta - truth.eta).max())
            yield row


def verdict(found: list[Row]) -> list[str]:
    lines, apart = [], []
    for corpus in dict.fromkeys(row["corpus"] for row in found):
        pr2 = {row["C"]: row["pR2"] for row in chosen(found, corpus=corpus)}
        of = {C: value for C, value in pr2.items() if np.isfinite(value)}
        best, worst = (pick(of, key=of.__getitem__) for pick in (max, min))
        apart.append(of[best] - of[worst])
        lines.append(f"{of[worst]:.3f} (C = {worst:g}) to {of[best]:.3f} (C = {best:g}), {corpus}")
    return said(
        "The value of C makes no effect on the accuracy.",
        "reproduced" if max(apart) < SAME else "not reproduced on samples",
        "pR2 of held-out documents goes from " + "; ".join(lines),
    )


if __name__ == "__main__":
    run(__doc__, "word_scale", rows, verdict)
