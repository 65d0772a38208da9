"""How many words a sweep of the samplers draws in a second, beside tomotopy's.

    pip install tomotopy
    python benchmarks/token_rate.py

Documents drawn from the model: D=16,000, V=5,000 with Zipf's frequencies, 170 words
each.  Everything is measured in one run, round after round, and the best round
counts; figures mean something next to each other only.  A sweep is the whole of it:
words, proportions, coefficients, noise and topics.  Where the machine is busy with
other work, two threads show no gain in time; the last column then says what they
cost, the processor time of two threads over that of one: 1 is a perfect split.
"""

import argparse
import platform
import time

import numba
import numpy as np
from threadpoolctl import threadpool_limits

import topicprism
from topicprism.datasets import make_slda
from topicprism.samplers import Plan, Tube, flat, init, observe, sweep

try:
    import tomotopy
except ImportError:
    tomotopy = None

PLANS = {
    "GibbsSLDA, mixture": Plan("mixture"),
    "GibbsSLDA, assignments": Plan("assignments"),
    "MedLDA": Plan("assignments", Tube(30.0, 0.1)),
}


def ours(X, y, k, plan, n_threads):
    """A function that makes sweeps."""
    data = observe(X, y[:, None], plan.response)
    state = init(data, flat(X.shape[1], np.full(k, 1 / k)), plan, 0)

    def run(n):
        nonlocal state
        for _ in range(n):
            state = sweep(data, state, plan, n_threads)

    return run


def theirs(X, y, k, kind, n_threads):
    model = tomotopy.LDAModel(k=k, seed=0) if kind == "LDA" else tomotopy.SLDAModel(
        k=k, vars=["l"], seed=0
    )  # fmt: skip
    words = np.repeat(X.indices, X.data).astype(str)
    ends = np.cumsum(X.sum(axis=1))
    for d, doc in enumerate(np.split(words, ends[:-1])):
        model.add_doc(doc.tolist(), **({} if kind == "LDA" else {"y": [float(y[d])]}))
    return lambda n: model.train(n, workers=n_threads)


def main(quick: bool, n_documents: int) -> None:
    n_documents, rounds, sweeps = (300, 1, 2) if quick else (n_documents, 6, 2)
    version = tomotopy.__version__ + f" ({tomotopy.isa})" if tomotopy else "not installed"
    print(f"topicprism {topicprism.__version__}, tomotopy {version}, numpy {np.__version__}, "
          f"numba {numba.__version__}, python {platform.python_version()}")  # fmt: skip
    print(f"{'million words a second':28s}    k  1 thread  2 threads  ratio  processor")
    for k in (10, 50):
        X, y, _ = make_slda(n_documents, 5000, k, 170, words="zipf", random_state=0)
        y = (y - y.mean()) / y.std()
        runs = {(n, t): ours(X, y, k, p, t) for n, p in PLANS.items() for t in (1, 2)}
        if tomotopy:
            runs |= {
                (f"tomotopy {kind}", t): theirs(X, y, k, kind, t)
                for kind in ("SLDA", "LDA")
                for t in (1, 2)
            }
        for run in runs.values():
            run(30 if not quick else 2)  # compile, and leave the noise of the start
        best, cost = dict.fromkeys(runs, np.inf), dict.fromkeys(runs, np.inf)
        for _ in range(rounds):
            for name, run in runs.items():
                start, used = time.perf_counter(), time.process_time()
                run(sweeps)
                best[name] = min(best[name], time.perf_counter() - start)
                cost[name] = min(cost[name], time.process_time() - used)
        n_words = X.sum() * sweeps / 1e6
        for name in dict.fromkeys(name for name, _ in runs):
            one, two = (n_words / best[name, t] for t in (1, 2))
            more = cost[name, 2] / cost[name, 1]
            print(f"{name:28s}  {k:3d}  {one:8.1f}  {two:9.1f}  {two / one:5.2f}  {more:9.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=16_000)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    with threadpool_limits(1, "blas"):  # as the estimators do
        main(args.quick, args.documents)
