"""How the time of a fit grows with the number of topics, and how well each predicts.

    python benchmarks/many_topics.py ../shared/data/hotel_reviews.parquet [text target]
    python benchmarks/many_topics.py ... --rounds 3 --rival    # best of three; beside tomotopy
    python benchmarks/many_topics.py --quick

Counts of 20,000 texts, 10,000 words; two threads.  Times are relative to those of 20 topics in the
same run: time on the clock, and time of the processor, which tells more where the machine is busy
with other work.  Held out are the next 5,000 texts: R2 of the response, and the log-likelihood per
word of half of each text given the other half.
"""

import argparse
import platform
import sys
import warnings
from time import perf_counter, process_time

import numba
import numpy as np
import scipy
import sklearn

import topicprism
from topicprism import SpectralLDA, SpectralSLDA
from topicprism.datasets import make_reviews
from topicprism.evaluation import completion_log_likelihood
from topicprism.vectorizer import FastCountVectorizer

N_TRAIN, N_TEST, N_SWEEPS = 20_000, 5_000, 100
VECTORIZER = {"max_features": 10_000, "min_df": 5, "max_df": 0.5, "stop_words": "english"}
METHODS = {
    "SpectralSLDA": SpectralSLDA,
    "SpectralSLDA, two-stage": lambda k, **how: SpectralSLDA(k, method="two-stage", **how),
    "SpectralLDA": SpectralLDA,
}


def load(path, text, target):
    import pyarrow.parquet as pq

    table = pq.read_table(path, columns=[text, target]).slice(0, N_TRAIN + N_TEST)
    return table[text].to_pylist(), np.asarray(table[target], float)


def timed(run):
    start, used = perf_counter(), process_time()
    found = run()
    return found, np.array([perf_counter() - start, process_time() - used])


def fitted(make, k, X, y):
    """A fit, and its seconds on the clock and of the processor."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # documents that are too short
        return timed(lambda: make(k, random_state=0, n_jobs=2).fit(X, y))


def tomotopy_lda(X):
    """The same counts to tomotopy's LDA; a function of k that trains one."""
    import tomotopy

    texts = np.split(np.repeat(X.indices, X.data).astype(str), np.cumsum(X.sum(axis=1))[:-1])

    def train(k):
        model = tomotopy.LDAModel(k=k, seed=0)
        for words in texts:
            if len(words):
                model.add_doc(words.tolist())
        return timed(lambda: model.train(N_SWEEPS, workers=2))[1]

    return train


def print_times(name, ks, times):
    for k in ks:
        clock, processor = times[k] / times[ks[0]]
        print(f"{name:34s}{k:5d}{clock:8.2f}{processor:11.2f}", end="")
        yield k


def main(texts, y, ks, rounds, rival):
    n = len(texts) * N_TRAIN // (N_TRAIN + N_TEST)
    vectorizer = FastCountVectorizer(**VECTORIZER)
    X, X_test = vectorizer.fit_transform(texts[:n]), vectorizer.transform(texts[n:])
    modules = (topicprism, np, scipy, sklearn, numba)
    versions = ", ".join(f"{m.__name__} {m.__version__}" for m in modules)
    print(f"Python {platform.python_version()}, {versions}")
    print(f"{n:,} texts, {X.shape[1]:,} words; k={ks[0]} is 1")
    print(f"{'':34s}{'k':>5s}{'clock':>8s}{'processor':>11s}{'R2':>8s}{'likelihood':>12s}")
    for name, make in METHODS.items():
        for k in (3, 40):  # compiled before it is timed
            fitted(make, k, X[:1000], y[:1000])
        found, times = {}, dict.fromkeys(ks, np.array([np.inf, np.inf]))
        for _ in range(rounds):
            for k in ks:
                found[k], now = fitted(make, k, X, y[:n])
                times[k] = np.minimum(times[k], now)
        for k in print_times(name, ks, times):
            rng, model = np.random.default_rng(0), found[k].model_
            words = completion_log_likelihood(model, X_test, rng, n_threads=2)
            r2 = found[k].score(X_test, y[n:]) if hasattr(found[k], "coef_") else None
            print(f"{'-' if r2 is None else f'{r2:.4f}':>8s}{words:12.4f}")
    if rival:
        train = tomotopy_lda(X)
        times = {k: np.min([train(k) for _ in range(rounds)], axis=0) for k in ks}
        for _ in print_times(f"tomotopy LDA, {N_SWEEPS} sweeps", ks, times):
            print()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", nargs="*", help="a parquet file, its column of texts, its target")
    parser.add_argument("--topics", type=int, nargs="+", default=[20, 50, 100, 200])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--rival", action="store_true", help="tomotopy, if it is installed")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    if args.quick:
        texts, stars, _ = make_reviews(1_500, random_state=0)
        main(texts, np.asarray(stars, float), [5, 40], 1, False)
    elif args.table:
        path, *columns = args.table
        text, target = columns or ("text", "rating")
        main(*load(path, text, target), args.topics, args.rounds, args.rival)
    else:
        sys.exit(__doc__)
