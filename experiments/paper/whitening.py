"""Whitening of the V x V moment: exact, matrix-free, randomised, and Algorithm 3 as printed.

    python experiments/paper/whitening.py            # minutes
    python experiments/paper/whitening.py --draw     # verdict from the CSV
    python experiments/paper/whitening.py --quick    # seconds, for the test suite

Documents are simulated, of Zipf's words and K topics, or hotel reviews (``TOPICPRISM_DATA`` names
the folder of the corpora; left out where they are absent).  M2 is an operator: each product is
a pass over the documents.  k~ = 10 k.  Written are the seconds, the largest relative error of the k
eigenvalues, the sine of the largest angle between the spaces of W and of the exact one, and
|W'M2W - I|.  "exact" is a dense factorisation; where V is 10,000 it is left out and errors are
against "matrix-free" (Lanczos iterations to all digits).
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow.parquet as pq
from trials import Row, chosen, run, said
from writing import known

from topicprism.datasets import draw_corpus, draw_model
from topicprism.documents import Threaded
from topicprism.documents.corpus import Corpus
from topicprism.spectral import whitening
from topicprism.spectral.moments import word_sums
from topicprism.spectral.printed import EQUAL_WEIGHT_WORDS, SecondMoment
from topicprism.vectorizer import FastCountVectorizer

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from comparison import corpora

SIZES = 5_000, 10_000
DOCUMENTS, K, ALPHA0, LENGTH = 10_000, 10, 1.0, 100
MAX_EXACT = 5_000
ACCURATE = 0.1  # of |W'M2W - I|, and of the sine
PRINTED = "nystrom as printed"
METHODS = {
    "exact": whitening.exact,
    "matrix-free": whitening.matrix_free,
    "randomised": whitening.randomised,
    PRINTED: whitening.nystrom_unchecked,
}


def moment(docs: Threaded) -> SecondMoment:
    return SecondMoment(docs, docs.total(word_sums, EQUAL_WEIGHT_WORDS), ALPHA0)


def simulated(V: int, n: int) -> Threaded:
    rng = np.random.default_rng(0)
    truth = draw_model(V, K, rng, words="zipf")
    X, y, _ = draw_corpus(truth, n, LENGTH, rng)
    return Threaded(Corpus(X, y), 2)


def reviews(V: int, n: int) -> Threaded | None:
    source = corpora.CORPORA["hotel_reviews"].path
    if not source.exists():
        return None
    table = pq.read_table(source).slice(0, n)
    count = FastCountVectorizer(max_features=V, stop_words="english")
    X = count.fit_transform(table["text"].to_pylist())
    return Threaded(Corpus(X, table["rating"].to_numpy()), 2)


def sine(W: np.ndarray, best: np.ndarray) -> float:
    """Of the largest angle between the spaces of two sets of columns."""
    Q, P = np.linalg.qr(W)[0], np.linalg.qr(best)[0]
    return float(np.linalg.norm(Q - P @ (P.T @ Q), 2))


def rows(asked: argparse.Namespace) -> Iterator[Row]:
    n, largest = (800, 150) if asked.quick else (DOCUMENTS, MAX_EXACT)
    done = known(asked.path, "V", "corpus")
    for V in (120, 200) if asked.quick else SIZES:
        for corpus, make in (("simulated", simulated), ("hotel reviews", reviews)):
            if done(V, corpus) or (asked.quick and corpus != "simulated"):
                continue
            docs = make(V, n)
            if docs is None:
                continue
            M, reference = moment(docs), None
            for name, method in METHODS.items():
                if name == "exact" and largest < V:
                    continue
                start = perf_counter()
                space = method(M, K, np.random.default_rng(0))
                seconds = perf_counter() - start
                reference = reference or space
                yield {
                    "V": V, "corpus": corpus, "whitening": name, "seconds": seconds,
                    "eigenvalues": float(np.abs(space.values / reference.values - 1).max()),
                    "sine": sine(space.W, reference.W),
                    "off": float(np.linalg.norm(space.W.T @ (M @ space.W) - np.eye(K), 2)),
                }  # fmt: skip


def verdict(found: list[Row]) -> list[str]:
    off, lines = {name: [] for name in METHODS}, []
    for V, corpus in dict.fromkeys((row["V"], row["corpus"]) for row in found):
        of = {row["whitening"]: row for row in chosen(found, V=V, corpus=corpus)}
        for name, row in of.items():
            off[name].append(max(row["off"], row["sine"]))
        printed = of.pop(PRINTED)
        saved = (f"{1 - printed['seconds'] / r['seconds']:.0%} of {x}" for x, r in of.items())
        lines.append(
            f"{printed['off']:.2g} and {printed['sine']:.2f} (V = {V:,}, {corpus}; saved of the "
            f"time {', '.join(saved)})"
        )
    accurate = max(off[PRINTED]) < ACCURATE
    return said(
        "Whitening by a random projection to 10 k directions is sufficiently accurate.",
        "reproduced" if accurate else "as printed it does not whiten sampled moments",
        f"|W'M2W - I| and the sine of Algorithm 3 {'; '.join(lines)}.  Both are at most "
        f"{max(off['randomised']):.2g} for the randomised whitening of ours",
    )


if __name__ == "__main__":
    run(__doc__, "whitening", rows, verdict)
