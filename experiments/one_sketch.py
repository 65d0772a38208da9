"""One sketch, then fifty models over k and alpha0 with no further look at the documents.

    python experiments/one_sketch.py             # seconds
    python experiments/one_sketch.py --quick     # for the test suite

A fit from the sketch is timed beside the two passes it spares, in one run.
"""

import argparse
from time import perf_counter

import numpy as np

from topicprism import Corpus, decompose, sketch
from topicprism.datasets import make_slda
from topicprism.documents import Threaded
from topicprism.evaluation import recovery_errors


class Counted(Threaded):
    """Documents that know how often they were looked at."""

    looks = 0

    def total(self, part, *shared):
        Counted.looks += 1
        return super().total(part, *shared)


def main(quick: bool) -> None:
    X, y, truth = make_slda(2_000 if quick else 20_000, 500, 10, 100, random_state=0)
    docs = Counted(Corpus(X, y), 2)
    sketch(docs, 16, np.random.default_rng(0))  # kernels from the cache
    Counted.looks, start = 0, perf_counter()
    found = sketch(docs, 32, np.random.default_rng(0))
    passes, spared = Counted.looks, perf_counter() - start

    grid = [(k, a) for k in range(2, 12) for a in (0.25, 0.5, 1.0, 2.0, 4.0)]
    times, errors = [], {}
    for k, alpha0 in grid:
        start = perf_counter()
        model = decompose(found, k, alpha0, rng=np.random.default_rng(0)).model
        times.append(perf_counter() - start)
        if k == 10:
            errors[alpha0] = recovery_errors(model, truth).mu
    print(f"{X.shape[0]:,} documents; the sketch looked at them {passes} times")
    print(f"{len(grid)} fits after it looked {Counted.looks - passes} times")
    share = spared / np.median(times)
    print(f"a fit: {1e3 * np.median(times):.1f} ms, at most {1e3 * max(times):.1f}: ", end="")
    print(f"1/{share:.0f} of the sketch")
    print("topic error at k=10:", ", ".join(f"alpha0={a:g}: {e:.3f}" for a, e in errors.items()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    main(parser.parse_args().quick)
