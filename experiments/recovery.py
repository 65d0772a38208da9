"""Figures 1 and 2 of the paper: errors of alpha, mu and eta fall with the square root of n.

    python experiments/recovery.py             # a few minutes; writes results/recovery.csv
    python experiments/recovery.py --quick     # seconds, for the test suite

V=500, k=20, noise 0.1, alpha 1/20 each, three corpora per point, as in the paper.
"""

import argparse
import csv
from pathlib import Path

import numpy as np

from topicprism import Corpus, Settings
from topicprism.datasets import make_slda
from topicprism.documents import Threaded
from topicprism.evaluation import recovery_errors
from topicprism.spectral.decompose import learn

LENGTHS = [250, 500]
DOCUMENTS = [2**e for e in range(10, 16)]
SEEDS = range(3)
OUT = Path(__file__).resolve().parents[1] / "results" / "recovery.csv"


def run(n_documents: int, doc_length: int, seed: int) -> list[dict]:
    X, y, truth = make_slda(n_documents, doc_length=doc_length, random_state=seed)
    docs = Threaded(Corpus(X, y), 2)
    rows = []
    for method in ("joint", "two-stage"):
        rng = np.random.default_rng(0)
        errors = recovery_errors(learn(docs, 20, 1.0, Settings(method), rng=rng).model, truth)
        rows.append(
            {
                "words": doc_length,
                "documents": n_documents,
                "seed": seed,
                "method": method,
                "alpha": errors.alpha,
                "mu": errors.mu,
                "eta": errors.eta,
            }
        )
    return rows


def main(quick: bool) -> None:
    lengths, documents = ([100], [2**11]) if quick else (LENGTHS, DOCUMENTS)
    rows = []
    print("words  documents  method       alpha      mu             eta")
    for length in lengths:
        for n in documents:
            points = [row for seed in SEEDS for row in run(n, length, seed)]
            rows += points
            for method in ("joint", "two-stage"):
                errors = np.array(
                    [[p["alpha"], p["mu"], p["eta"]] for p in points if p["method"] == method]
                )
                (a, m, e), (_, sm, se) = errors.mean(axis=0), errors.std(axis=0)
                print(
                    f"{length:5d}  {n:9,}  {method:9s}  {a:8.4f}  {m:.4f} ± {sm:.4f}  "
                    f"{e:.4f} ± {se:.4f}"
                )
    if not quick:
        OUT.parent.mkdir(exist_ok=True)
        with OUT.open("w", newline="") as f:
            table = csv.DictWriter(f, list(rows[0]))
            table.writeheader()
            table.writerows(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    main(parser.parse_args().quick)
