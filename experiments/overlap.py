"""Topic proportions where topics overlap and the prior is sparse, against an exact oracle.

    python experiments/overlap.py                # the whole grid; some minutes
    python experiments/overlap.py --quick        # seconds, for the test suite

Topics share a part of their words' probabilities: mu_i = c common + (1 - c) own_i.  Documents are
drawn from the model itself.  The oracle is quadrature (``tests/oracles.py``): on one stick for two
topics, on two sticks for three; four are two and two without a word in common.  With more topics
answers are not checked, and may be wrong.
"""

import argparse
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
from oracles import three_topics, two_topics  # noqa: E402

from topicprism import Model  # noqa: E402
from topicprism.inference import posterior  # noqa: E402

OVERLAPS = (0.5, 0.8, 0.9, 0.95)
ALPHA0 = (0.03, 0.1, 0.3, 1.0)
LENGTHS = (10, 100, 1000, 5000)
GROUPS = {2: (2,), 3: (3,), 4: (2, 2)}  # topics of each group
N_WORDS = 60  # of a group


class Cell(NamedTuple):
    k: int
    overlap: float
    alpha0: float
    length: int


class Drawn(NamedTuple):
    model: Model
    counts: np.ndarray


def draw(cell: Cell, n_documents: int, seed: int) -> Drawn:
    """Documents of the model itself."""
    key = [seed, cell.k, round(100 * cell.overlap), round(100 * cell.alpha0), cell.length]
    rng = np.random.default_rng(key)
    groups = GROUPS[cell.k]
    mu, at = np.zeros((N_WORDS * len(groups), cell.k)), 0
    for g, size in enumerate(groups):
        common, *own = rng.dirichlet(np.full(N_WORDS, 0.3), 1 + size) + 1e-6
        for topic in own:
            p = cell.overlap * common + (1 - cell.overlap) * topic
            mu[g * N_WORDS : (g + 1) * N_WORDS, at] = p / p.sum()
            at += 1
    alpha = cell.alpha0 * rng.dirichlet(np.full(cell.k, 5.0))
    h = np.stack([_from_prior(alpha, rng) for _ in range(n_documents)])
    counts = np.stack([rng.multinomial(cell.length, p / p.sum()) for p in h @ mu.T])
    return Drawn(Model(alpha, mu, np.arange(cell.k, dtype=float), 0.1), counts)


def _from_prior(alpha, rng):
    """A draw of a Dirichlet that does not underflow."""
    log = np.log(rng.gamma(alpha + 1)) + np.log(rng.uniform(size=len(alpha))) / alpha
    h = np.exp(log - log.max())
    return h / h.sum()


def exact(model: Model, counts: np.ndarray) -> np.ndarray:
    """E[h | words]: the share of a group is Dirichlet, whatever is within it."""
    h, at = np.empty(model.n_topics), 0
    for g, size in enumerate(GROUPS[model.n_topics]):
        topics, words = slice(at, at + size), slice(g * N_WORDS, (g + 1) * N_WORDS)
        alpha, mu, n = model.alpha[topics], model.mu[words, topics], counts[words]
        if size == 2:
            mean, _ = two_topics(alpha, mu, n)
            within = np.array([mean, 1 - mean])
        else:
            within = three_topics(alpha, mu, n)
        h[topics] = within * (alpha.sum() + n.sum()) / (model.alpha.sum() + counts.sum())
        at += size
    return h


def errors(cell: Cell, n_documents: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """L1 from the exact mean of each document, and whether its answer counts as converged."""
    drawn = draw(cell, n_documents, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = posterior(drawn.model, csr_array(drawn.counts))
    h = np.stack([exact(drawn.model, n) for n in drawn.counts])
    return np.abs(known.h - h).sum(axis=1), known.converged


def table(k: int, grid: list[Cell], n_documents: int, seeds: int) -> None:
    """One line for each number of topics: errors of all, and of those that count as converged."""
    found = [errors(cell, n_documents, seed) for cell in grid for seed in range(seeds)]
    away, converged = (np.concatenate(x) for x in zip(*found, strict=True))
    silent = away[converged]
    print(
        f"{k:6d} {len(away):9,d} {away.mean():9.4f} {np.percentile(away, 99):11.3f} "
        f"{away.max():8.3f} {100 * (away > 0.05).mean():9.2f} {100 * (silent > 0.05).mean():8.2f} "
        f"{(silent > 0.15).sum():7d} {100 * (~converged).mean():8.2f}",
        flush=True,
    )


def main(quick: bool) -> None:
    print(
        f"{'topics':>6s} {'documents':>9s} {'mean L1':>9s} {'99 percent':>11s} {'largest':>8s} "
        f"{'> 0.05, %':>9s} {'silent, %':>8s} {'> 0.15':>7s} {'warned, %':>8s}"
    )
    lengths = LENGTHS[:-1] if quick else LENGTHS
    for k in GROUPS:
        cells = [Cell(k, c, a, n) for c in OVERLAPS for a in ALPHA0 for n in lengths]
        table(k, cells[::7] if quick else cells, 3 if quick else 10, 1 if quick else 3)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    main(parser.parse_args().quick)
