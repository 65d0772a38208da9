"""Whitening of the V x V moment: exact, matrix-free, randomised, and Algorithm 3 as printed.

    python experiments/paper/whitening.py            # minutes
    python experiments/paper/whitening.py --quick    # seconds, for the test suite

Documents are simulated, of Zipf's words and K topics, or hotel reviews (``TOPICPRISM_DATA`` names
the folder of the corpora; left out where they are absent).  M2 is an operator: each product is
a pass over the documents.  k~ = 10 k.  Written are the seconds, the largest relative error of the k
eigenvalues, the sine of the largest angle between the spaces of W and of the exact one, and
|W'M2W - I|.  "exact" is a dense factorisation; where V is 10,000 it is left out and errors are
against "matrix-free" (Lanczos iterations to all digits).
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from writing import options, write

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
METHODS = {
    "exact": whitening.exact,
    "matrix-free": whitening.matrix_free,
    "randomised": whitening.randomised,
    "nystrom as printed": whitening.nystrom_unchecked,
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


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    n, largest = (800, 150) if quick else (DOCUMENTS, MAX_EXACT)
    for V in (120, 200) if quick else SIZES:
        for corpus, make in (("simulated", simulated), ("hotel reviews", reviews)):
            docs = make(V, n)
            if docs is None or (quick and corpus != "simulated"):
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


if __name__ == "__main__":
    asked = options(__doc__)
    write(asked.out / "whitening.csv", rows(asked.quick))
