"""The kernels over time: one line per run in kernels.jsonl beside this file, each with its error.

    python benchmarks/kernels.py             # prints the last two runs beside each other
    python benchmarks/kernels.py --quick     # small and unrecorded, for the test suite

Times are in units of one scipy product ``X @ S`` with 20 columns, measured in the
same run; the error is against the numpy lines of the kernel's docstring.
"""

import argparse
import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

import numpy as np

from topicprism import Corpus, __version__, infer
from topicprism.datasets import draw_corpus, draw_model
from topicprism.kernels import cpu
from topicprism.kernels.blas import one_blas_thread
from topicprism.spectral.moments import fill_cube, sketch_sums

LOG = Path(__file__).with_name("kernels.jsonl")


def measure(n_documents: int) -> dict[str, tuple[float, float]]:
    """Time and error of each kernel."""
    rng = np.random.default_rng(0)
    model = draw_model(500, 10, rng)
    X, y, h = draw_corpus(model, n_documents, 100, rng)
    rows, dense = (X.indptr, X.indices, X.data), X.astype(float)
    S20, B = rng.standard_normal((500, 20)), rng.standard_normal((500, 16))
    m = dense.sum(axis=1)
    c1 = 1 / (m + cpu.HALF_WEIGHT_WORDS)
    c2, c3 = c1 / (m - 1), c1 / ((m - 1) * (m - 2))
    unit = best(lambda: dense @ S20)

    weights, sums = np.empty(n_documents), np.zeros((500, 4))
    out, small = np.zeros((500, 16)), B.astype(np.float32)
    P, C = np.empty((n_documents, 16)), np.empty((n_documents, 4))
    Q, corrections, corpus = np.zeros((500, 16)), np.zeros((500, 4)), Corpus(X, y)
    runs = {
        "word_sums": lambda: cpu.word_sums(*rows, y, cpu.HALF_WEIGHT_WORDS, weights, zero(sums)),
        "pair_products": lambda: cpu.pair_products(*rows, small, cpu.HALF_WEIGHT_WORDS, zero(out)),
        "project": lambda: cpu.project(
            *rows, y, B, cpu.HALF_WEIGHT_WORDS, P, C, zero(Q), zero(corrections)
        ),
        "sketch_sums": lambda: sketch_sums(corpus, B, 0.0, 1.0),
        "propagate": lambda: infer(model, X),
    }
    with one_blas_thread:
        times = {name: best(run) / unit for name, run in runs.items()}
        third = fill_cube(sketch_sums(corpus, B, 0.0, 1.0).ppp)
    PB = dense @ B
    expected = {
        "word_sums": (sums[:, 1], dense.T @ (c1 * y)),
        "pair_products": (out, dense.T @ (c2[:, None] * (dense @ small.astype(float)))),
        "project": (Q, dense.T @ (c3[:, None] * PB)),
        "sketch_sums": (third[3], (PB.T * (c3 * PB[:, 3])) @ PB),
    }
    errors = {n: float(np.abs(a - b).max() / np.abs(b).max()) for n, (a, b) in expected.items()}
    errors["propagate"] = float(np.abs(infer(model, X) - h).mean())  # posterior mean against truth
    return {name: (times[name], errors[name]) for name in runs}


def zero(a):
    a[:] = 0
    return a


def best(run, repeats: int = 5) -> float:
    run()
    found = []
    for _ in range(repeats):
        start = perf_counter()
        run()
        found.append(perf_counter() - start)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    now = measure(500 if quick else 40_000)
    before = {}
    if not quick:
        if LOG.exists():
            before = json.loads(LOG.read_text().splitlines()[-1])["kernels"]
        commit = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True
        )
        entry = {"when": datetime.now(UTC).isoformat(timespec="seconds"), "version": __version__}
        entry |= {"commit": commit.stdout.strip(), "kernels": now}
        with LOG.open("a") as log:
            log.write(json.dumps(entry) + "\n")
    print(f"{'kernel':16}{'X @ S = 1':>10}{'last time':>11}{'error':>11}")
    for name, (time, error) in now.items():
        last = f"{before[name][0]:.2f}" if name in before else "-"
        print(f"{name:16}{time:10.2f}{last:>11}{error:11.1e}")


if __name__ == "__main__":
    main()
