"""Each pass over the documents against the number of threads.

    python benchmarks/threads.py                              # a million documents; 3 GB
    python benchmarks/threads.py --documents 100000 --topics 10 --threads 1 2
    python benchmarks/threads.py --quick                      # seconds, for the test suite

V=500, 100 words a document.  Of each pass the seconds with one thread, and for more threads how
many times as fast it is, best of three; and what it costs then: seconds of all processors, of
user and system, over those of one thread: 1 is a perfect split.  "whole" are all passes of a fit,
the default's.  "adding" is a kernel that adds up numbers it makes itself, without memory,
interpreter or BLAS.
"""

import argparse
import resource
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from topicprism.datasets import draw_corpus, draw_model
from topicprism.documents import Threaded
from topicprism.documents.corpus import Corpus
from topicprism.kernels.blas import one_blas_thread
from topicprism.kernels.compiling import compiled
from topicprism.spectral.basis import SEARCH
from topicprism.spectral.decompose import learn, width_for
from topicprism.spectral.moments import pair_products, sketch_sums, word_sums

REPEATS = 3
PIECES = 256  # of the yardstick


@compiled(kept=False)
def add_up(n):
    """``sum(x**2)`` of numbers that follow from each other."""
    x = 0.5
    total = 0.0
    for _ in range(n):
        x = 3.7 * x * (1 - x)
        total += x * x
    return total


class Passes:
    """Documents that keep what was asked of them and how long it took."""

    def __init__(self, docs):
        self.docs, self.n_words, self.n_threads = docs, docs.n_words, docs.n_threads
        self.spent = np.zeros(3)

    def total(self, part, *shared):
        found = []
        self.spent += measured(lambda: found.append(self.docs.total(part, *shared)))
        return found[0]


def measured(run) -> np.ndarray:
    """Seconds on the clock, of user and of system."""
    before = clocks()
    run()
    return clocks() - before


def clocks() -> np.ndarray:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return np.array([time.perf_counter(), used.ru_utime, used.ru_stime])


def best(run) -> np.ndarray:
    return min((measured(run) for _ in range(REPEATS)), key=lambda spent: spent[0])


def yardstick(n_threads: int) -> None:
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(add_up, [1_000_000] * PIECES))


def fit(docs, k):
    looks = Passes(docs)
    learn(looks, k, rng=np.random.default_rng(0))
    return looks.spent


def runs(docs, k):
    """Each pass, as a fit makes it."""
    V, width = docs.n_words, width_for(k)
    rng = np.random.default_rng(0)
    S = rng.standard_normal((V, width))
    small = np.ascontiguousarray(S, SEARCH)
    yield "adding", lambda: best(lambda: yardstick(docs.n_threads))
    yield "word_sums", lambda: best(lambda: docs.total(word_sums))
    yield "pair_products", lambda: best(lambda: docs.total(pair_products, small))
    yield "sketch_sums", lambda: best(lambda: docs.total(sketch_sums, S, 0.0, 1.0))
    yield "whole", lambda: min((fit(docs, k) for _ in range(REPEATS)), key=lambda s: s[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--topics", type=int, nargs="+", default=(10, 50))
    parser.add_argument("--threads", type=int, nargs="+", default=(1, 2, 4, 8, 16))
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    if args.quick:
        args.documents, args.topics, args.threads = 12_000, (3,), (1, 2)
    for k in args.topics:
        rng = np.random.default_rng(k)
        truth = draw_model(500, k, rng)
        X, y, _ = draw_corpus(truth, args.documents, 100, rng)
        corpus = Corpus(X, y)
        fit(Threaded(corpus.rows(0, 1000), 1), k)  # kernels are compiled by now
        print(f"\n{args.documents:,} documents, k = {k}, {width_for(k)} coordinates")
        print(f"{'':14}{'threads':>8}{'seconds':>9}{'gain':>7}{'user':>7}{'system':>8}")
        one = {}
        for threads in args.threads:
            with one_blas_thread:
                for name, run in runs(Threaded(corpus, threads), k):
                    clock, user, system = run()
                    one.setdefault(name, (clock, user + system))
                    gain, cost = one[name][0] / clock, one[name][1] or 1.0
                    print(
                        f"{name:14}{threads:8}{clock:9.3f}{gain:7.1f}{user / cost:7.2f}"
                        f"{system / cost:8.2f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
