"""Tensor decompositions for many topics, in time and error.

    python experiments/paper/decompositions.py            # the power method takes most of the time
    python experiments/paper/decompositions.py --quick    # seconds, for the test suite

The paper uses the robust tensor power method with L = T = 100, and names stochastic tensor gradient
descent for large k, simultaneous diagonalisation and the method of two singular value
decompositions.  T is that of k topics with alpha0 = 1, of equal alpha, plus symmetric Gaussian
noise whose entries have a standard deviation of NOISE times lambda over sqrt(k).  Written are the
seconds, the mean and the largest distance of an eigenvector from its own, and the share of
eigenvectors at a distance under 0.5, means over TRIALS
tensors.  Last, eta of the two-stage method
by the power update and by diagonalising (M2, My), where the effects are 0.1 apart and where two are
equal: the largest error of eta, and of the topics that the eigenvectors of My stand for.
"""

from collections.abc import Iterator
from itertools import permutations
from time import perf_counter
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from writing import options, write

from topicprism import Settings
from topicprism.kernels.blas import one_blas_thread
from topicprism.spectral.decompose import eigenpairs
from topicprism.spectral.recovery import eta_by_diagonalisation, power_update
from topicprism.spectral.settings import DECOMPOSITIONS
from topicprism.spectral.whitening import Whitening

TOPICS = 10, 20, 50, 100, 200
NOISE = 0.0, 0.05, 0.2
TRIALS = 3  # of a tensor of fewer than 100 topics; of more, one
MAX_POWER_TOPICS = 100  # beyond, the power method takes minutes for each tensor


def tensor(k: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """T and its w_i; lambda = 2/3 sqrt(2 k) for alpha_i = 1/k."""
    w = np.linalg.qr(rng.standard_normal((k, k)))[0]
    E = rng.standard_normal((k, k, k))
    E = sum(E.transpose(order) for order in permutations(range(3))) / 6
    T = np.einsum("ir,jr,lr->ijl", w, w, w, optimize=True) + noise / np.sqrt(k) * E
    return 2 / 3 * np.sqrt(2 * k) * T, w


def distances(V: np.ndarray, w: np.ndarray) -> np.ndarray:
    near = V.T @ w
    i, j = linear_sum_assignment(-near)
    return np.sqrt(np.maximum(2 - 2 * near[i, j], 0))


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    for k in (4, 12) if quick else TOPICS:
        for noise in NOISE:
            for name in DECOMPOSITIONS:
                if name == "power" and k > MAX_POWER_TOPICS:
                    continue
                found = []
                for trial in range(1 if quick or k >= 100 else TRIALS):
                    T, w = tensor(k, noise, np.random.default_rng(trial))
                    rng, start = np.random.default_rng(trial), perf_counter()
                    V = eigenpairs(T, Settings(decomposition=name), rng).vectors
                    d = distances(V, w)
                    found.append((perf_counter() - start, d.mean(), d.max(), (d < 0.5).mean()))
                seconds, mean, worst, share = np.mean(found, axis=0).tolist()
                yield {"k": k, "noise": noise, "decomposition": name, "seconds": seconds,
                       "mean": mean, "worst": worst, "found": share}  # fmt: skip


def eta_rows(quick: bool) -> Iterator[dict[str, Any]]:
    k, noise, a0, eye = 6, 0.005, 1.0, np.eye(6)
    for effects in ("apart", "equal"):
        eta = np.arange(k) / 10
        eta[1] = eta[1] if effects == "apart" else eta[0]
        errors = []
        for trial in range(2 if quick else 50):
            rng = np.random.default_rng(trial)
            T, w = tensor(k, 0.0, rng)
            E = rng.standard_normal((k, k))
            My = 2 / (a0 + 2) * (w * eta) @ w.T + noise * (E + E.T) / 2
            pairs = eigenpairs(T, Settings(), rng)
            order = (pairs.vectors.T @ w).argmax(axis=1)
            space = Whitening(eye, eye, np.ones(k))
            by_power = power_update(pairs, space, My, a0)
            matched, vectors = eta_by_diagonalisation(pairs, space, My, a0)
            apart = np.abs(np.sum(vectors * pairs.vectors, axis=0))
            errors.append(
                [
                    np.abs(by_power - eta[order]).max(),
                    np.abs(matched - eta[order]).max(),
                    np.sqrt(2 - 2 * apart.min()),
                ]
            )
        power, matched_error, vector = np.mean(errors, axis=0).tolist()
        yield {"effects": effects, "power update": power, "diagonalisation": matched_error,
               "eigenvectors of My": vector}  # fmt: skip


if __name__ == "__main__":
    asked = options(__doc__)
    with one_blas_thread:
        write(asked.out / "decompositions.csv", rows(asked.quick))
        write(asked.out / "eta_by_diagonalisation.csv", eta_rows(asked.quick))
