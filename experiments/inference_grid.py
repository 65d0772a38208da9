"""What the topic proportions of documents are: an oracle over length, sparsity and topics.

    python experiments/inference_grid.py --write    # makes tests/golden/inference_grid.npz
    python experiments/inference_grid.py --quick    # seconds: the oracles against each other

Documents are drawn from the prior of their own model.  A cell of the grid is a length, a sum of
alpha, a number of topics and their shape, with a seed made of these four.  Its oracle is

* three words: the sum over all topic assignments;
* two topics: quadrature (``tests/oracles.py``);
* up to 1,000 words: four chains of collapsed Gibbs sampling from different starts, where besides
  the topic of a word all words of two topics are exchanged, since with a sparse prior single
  words do not lead from one topic to the other;
* more: three chains that draw h and then the words of each type by topic.

None of it shares code with the package.  How far the chains are apart is kept beside their mean.
"""

# ruff: noqa: NPY002 - these streams numba can compile, or numpy has promised to keep

import argparse
import itertools
import math
import sys
import zlib
from multiprocessing import Pool
from pathlib import Path
from typing import NamedTuple

import numba as nb
import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
from oracles import dirichlet_eta, enumerated, two_topics  # noqa: E402

STORED = HERE.parent / "tests" / "golden" / "inference_grid.npz"
LENGTHS = (3, 10, 30, 100, 300, 1000, 10**4, 10**6)
ALPHA0 = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
TOPICS = (2, 5, 20, 50)
SHAPES = {"peaked": 0.05, "flat": 2.0}  # of the Dirichlet that topics are drawn from
N_WORDS, N_DOCUMENTS = 120, 6


class Cell(NamedTuple):
    length: int
    alpha0: float
    k: int
    shape: str

    @property
    def name(self):
        return f"{self.length}-{self.alpha0:g}-{self.k}-{self.shape}"


class Drawn(NamedTuple):
    alpha: np.ndarray
    mu: np.ndarray
    eta: np.ndarray
    counts: np.ndarray


class Answer(NamedTuple):
    mean: np.ndarray  # E[h | words] of each document
    std: np.ndarray  # of eta . h
    apart: np.ndarray  # L1 from the mean of all chains to that of one, on average


CELLS = tuple(itertools.starmap(Cell, itertools.product(LENGTHS, ALPHA0, TOPICS, SHAPES)))


def draw(cell: Cell, n_documents: int = N_DOCUMENTS) -> Drawn:
    """By RandomState, whose streams are the same in every version of numpy."""
    rng = np.random.RandomState(zlib.crc32(cell.name.encode()))
    mu = rng.dirichlet(np.full(N_WORDS, SHAPES[cell.shape]), cell.k).T + 1e-6
    mu /= mu.sum(axis=0)
    alpha = cell.alpha0 * rng.dirichlet(np.full(cell.k, 5.0))
    counts = np.empty((n_documents, N_WORDS), np.int64)
    for d in range(n_documents):
        log_h = np.log(rng.gamma(alpha + 1)) + np.log(rng.uniform(size=cell.k)) / alpha
        h = np.exp(log_h - log_h.max())
        counts[d] = rng.multinomial(cell.length, mu @ (h / h.sum()))
    return Drawn(alpha, mu, np.linspace(-1, 1, cell.k), counts)


# ---- oracles ----


@nb.njit
def collapsed(words, mu, alpha, eta, z, burn_in, n_sweeps, seed, h):
    """The mean of E[h | z] in h; returns first and second moment of eta . h."""
    np.random.seed(seed)
    k, m = len(alpha), len(words)
    n = np.zeros(k)
    for t in range(m):
        n[z[t]] += 1
    p, total = np.empty(k), alpha.sum() + m
    first, second = 0.0, 0.0
    h[:] = 0.0
    for sweep in range(burn_in + n_sweeps):
        for t in range(m):
            n[z[t]] -= 1
            norm = 0.0
            for i in range(k):
                norm += mu[words[t], i] * (alpha[i] + n[i])
                p[i] = norm
            u = np.random.random() * norm
            new = 0
            while new < k - 1 and p[new] <= u:
                new += 1
            z[t] = new
            n[new] += 1
        for _ in range(2):
            exchange(words, mu, alpha, z, n)
        if sweep >= burn_in:
            a, b = 0.0, 0.0
            for i in range(k):
                q = (alpha[i] + n[i]) / total
                h[i] += q / n_sweeps
                a += q * eta[i]
                b += q * eta[i] ** 2
            first += a / n_sweeps
            second += (a * a + (b - a * a) / (total + 1)) / n_sweeps
    return first, second


@nb.njit
def exchange(words, mu, alpha, z, n):
    """Metropolis: the topic of some word and another change places for all their words.

    The pair is picked with probability (n_a + n_b) / (words * k), which is the same afterwards.
    """
    a, b = z[np.random.randint(len(words))], np.random.randint(len(alpha))
    if a == b:
        return
    log = math.lgamma(alpha[b] + n[a]) + math.lgamma(alpha[a] + n[b])
    log -= math.lgamma(alpha[a] + n[a]) + math.lgamma(alpha[b] + n[b])
    for t in range(len(words)):
        if z[t] == a:
            log += math.log(mu[words[t], b] / mu[words[t], a])
        elif z[t] == b:
            log += math.log(mu[words[t], a] / mu[words[t], b])
    if math.log(1.0 - np.random.random()) < log:
        for t in range(len(words)):
            if z[t] == a:
                z[t] = b
            elif z[t] == b:
                z[t] = a
        n[a], n[b] = n[b], n[a]


def by_type(counts, mu, alpha, eta, h, burn_in, n_sweeps, rng):
    """As ``collapsed``, for any number of words: h given the counts of topics, these given h."""
    mu, counts = mu[counts > 0], counts[counts > 0]
    sums, first, second = np.zeros(len(alpha)), 0.0, 0.0
    for sweep in range(burn_in + n_sweeps):
        p = mu * h
        p /= p.sum(axis=1, keepdims=True)
        p[:, -1] = np.maximum(1 - p[:, :-1].sum(axis=1), 0)
        g = alpha + rng.multinomial(counts, p).sum(axis=0)
        gammas = rng.standard_gamma(g)
        h = gammas / gammas.sum()
        if sweep >= burn_in:
            (a,), (v,) = dirichlet_eta(g[None], eta)
            sums += g / g.sum() / n_sweeps
            first += a / n_sweeps
            second += (a * a + v) / n_sweeps
    return sums, first, second


def starts(alpha, mu, words, n, rng):
    """Topics of the words to begin with: at random, all of one topic, each its likeliest one."""
    one = np.log(mu[words]).sum(axis=0) + np.log(alpha)
    other = rng.integers(len(alpha), size=len(words))
    each = [other, np.full(len(words), one.argmax()), mu[words].argmax(axis=1)]
    return [each[i % 3].astype(np.int64) for i in range(n)]


def chains(alpha, mu, eta, counts, sweeps, seed):
    """Means of chains, their first and second moments of eta . h."""
    rng = np.random.default_rng(seed)
    words = np.repeat(np.arange(len(counts)), counts)
    found = []
    if len(words) <= 1000:
        for i, z in enumerate(starts(alpha, mu, words, 4, rng)):
            h = np.empty(len(alpha))
            moments = collapsed(words, mu, alpha, eta, z, sweeps // 4, sweeps, seed + i, h)
            found.append((h, *moments))
    else:
        k = len(alpha)
        for h in (np.full(k, 1 / k), rng.dirichlet(np.ones(k)), alpha / alpha.sum()):
            found.append(by_type(counts, mu, alpha, eta, h, sweeps // 4, sweeps, rng))
    return found


def answer(alpha, mu, eta, counts, sweeps, seed):
    """Mean of h, standard deviation of eta . h, and how far chains are apart."""
    if counts.sum() == 3:
        return *enumerated(alpha, mu, eta, np.repeat(np.arange(len(counts)), counts)), 0.0
    if len(alpha) == 2:
        mean, std = two_topics(alpha, mu, counts)
        return np.array([mean, 1 - mean]), std * abs(eta[1] - eta[0]), 0.0
    return pooled(chains(alpha, mu, eta, counts, sweeps, seed))


def pooled(found):
    """One answer of several chains."""
    mean = np.mean([h for h, _, _ in found], axis=0)
    first, second = (np.mean([f[i] for f in found]) for i in (1, 2))
    apart = np.mean([np.abs(h - mean).sum() for h, _, _ in found])
    return mean, math.sqrt(max(second - first**2, 0.0)), apart


SWEEPS = {10: 4000, 30: 4000, 100: 3000, 300: 2000, 1000: 1200, 10**4: 500, 10**6: 500}


def oracle(cell: Cell, sweeps: int | None = None, n_documents: int = N_DOCUMENTS) -> Answer:
    drawn = draw(cell, n_documents)
    sweeps = (
        SWEEPS.get(cell.length, 0) // (1 + (cell.shape == "peaked")) if sweeps is None else sweeps
    )
    found = [
        answer(drawn.alpha, drawn.mu, drawn.eta, counts, sweeps, 1000 * d)
        for d, counts in enumerate(drawn.counts)
    ]
    return Answer(*(np.array(x) for x in zip(*found, strict=True)))


# ---- kept numbers ----


def stored() -> dict[Cell, Answer]:
    """The oracle's numbers of the whole grid."""
    with np.load(STORED) as file:
        return {
            cell: Answer(*(file[f"{name}_{cell.k}"][at] for name in Answer._fields))
            for k in TOPICS
            for at, cell in enumerate(c for c in CELLS if c.k == k)
        }


def write() -> None:
    with Pool(2) as pool:
        found = dict(zip(CELLS, pool.imap(oracle, CELLS), strict=True))
    arrays = {
        f"{name}_{k}": np.float32([getattr(found[c], name) for c in CELLS if c.k == k])
        for k in TOPICS
        for name in Answer._fields
    }
    np.savez_compressed(STORED, made_by="experiments/inference_grid.py --write", **arrays)
    print(f"{len(CELLS)} cells of {N_DOCUMENTS} documents written to {STORED.name}")
    print(f"{STORED.stat().st_size:,} bytes")


def quick() -> None:
    """Chains against sums and quadrature, which are exact."""
    print(f"{'cell':20s} {'L1':>6s} {'std ratio':>9s}   of chains to the exact answer")
    for cell in (Cell(3, 0.3, 5, "peaked"), Cell(3, 3.0, 5, "flat"), Cell(100, 1.0, 2, "flat")):
        drawn, exact = draw(cell, 4), oracle(cell, 0, 4)
        found = [
            pooled(chains(*drawn[:3], counts, 2000, 1000 * d))
            for d, counts in enumerate(drawn.counts)
        ]
        away = np.mean([np.abs(f[0] - m).sum() for f, m in zip(found, exact.mean, strict=True)])
        ratio = np.median([f[1] for f in found] / exact.std)
        print(f"{cell.name:20s} {away:6.3f} {ratio:9.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--quick", action="store_true")
    write() if parser.parse_args().write else quick()
