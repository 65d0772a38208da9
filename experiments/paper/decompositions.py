"""Tensor decompositions for many topics, in time and error.

    python experiments/paper/decompositions.py            # the power method takes most of the time
    python experiments/paper/decompositions.py --draw     # verdicts from the CSVs
    python experiments/paper/decompositions.py --quick    # seconds, for the test suite

The paper uses the robust tensor power method with L = T = 100, and names stochastic tensor gradient
descent for large k, simultaneous diagonalisation and the method of two singular value
decompositions.  T is that of k topics with alpha0 = 1, of equal alpha, plus symmetric Gaussian
noise whose entries have a standard deviation of NOISE times lambda over sqrt(k).  Written are the
seconds, the mean and the largest distance of an eigenvector from its own, and the share of
eigenvectors at a distance under 0.5, means over TRIALS
tensors.  Last, eta of the two-stage method
by the power update and by diagonalising (M2, My), where the effects are 0.1 apart and where two are
equal: the largest error of eta, and of the topics that the eigenvectors of My stand for; and for
GAPS between effects and NOISES of My, the share of topics that get the eigenvalue of another one.
"""

import argparse
from collections.abc import Iterator
from itertools import permutations, product
from time import perf_counter

import numpy as np
from scipy.optimize import linear_sum_assignment
from trials import Row, chosen, run, said
from writing import known

from topicprism import Settings
from topicprism.kernels.blas import one_blas_thread
from topicprism.spectral.decompose import eigenpairs
from topicprism.spectral.recovery import eta_by_diagonalisation, power_update
from topicprism.spectral.settings import DECOMPOSITIONS
from topicprism.spectral.whitening import Whitening

TOPICS = 10, 20, 50, 100, 200
NOISE = 0.0, 0.05, 0.2
TRIALS = 3  # of a tensor of fewer than 100 topics; of more, one
SHOWN = 0.05  # the noise of what is said
FASTER = 3.0  # times: "significantly"
K_EFFECTS = 6
GAPS, NOISES = (0.1, 0.01, 0.001), (0.0005, 0.005, 0.05)  # of eta; of the entries of My(W, W)
MATCHED, MISSED = 0.01, 0.25  # shares of topics matched wrongly: "easily", "difficult"
MIXED = 2.0  # times the error that eigenvectors have where effects are apart


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


def rows(asked: argparse.Namespace) -> Iterator[Row]:
    done = known(asked.path, "k", "noise", "decomposition")
    for k, noise, name in product((4, 12) if asked.quick else TOPICS, NOISE, DECOMPOSITIONS):
        if done(k, noise, name):
            continue
        found = []
        for trial in range(1 if asked.quick or k >= 100 else TRIALS):
            T, w = tensor(k, noise, np.random.default_rng(trial))
            rng, start = np.random.default_rng(trial), perf_counter()
            V = eigenpairs(T, Settings(decomposition=name), rng).vectors
            d = distances(V, w)
            found.append((perf_counter() - start, d.mean(), d.max(), (d < 0.5).mean()))
        seconds, mean, worst, share = np.mean(found, axis=0).tolist()
        yield {"k": k, "noise": noise, "decomposition": name, "seconds": seconds,
               "mean": mean, "worst": worst, "found": share}  # fmt: skip


def verdict(found: list[Row]) -> list[str]:
    of = {(row["k"], row["decomposition"]): row for row in chosen(found, noise=SHOWN)}
    topics = sorted({k for k, _ in of})
    lines = ["", f"noise {SHOWN:g}: mean distance of an eigenvector from its own, and seconds"]
    for k in topics:
        shown = ((name, of[k, name]) for name in DECOMPOSITIONS if (k, name) in of)
        each = (f"{name} {r['mean']:.3f} in {r['seconds']:.2g} s" for name, r in shown)
        lines.append(f"k = {k:3}  {'; '.join(each)}")
    last = max(k for k, name in of if name == "power")
    seconds = {name: of[last, name]["seconds"] for name in DECOMPOSITIONS}
    saved = {name: seconds[name] / seconds["stgd"] for name in ("power", "all at once")}
    faster = [times > FASTER for times in saved.values()]
    times = " and ".join(f"{x:.2g} times those of {name}" for name, x in (
        (name, 1 / x) for name, x in saved.items()))  # fmt: skip
    return [*lines, "", *said(
        "With many topics, stochastic gradient descent takes significantly less time.",
        "reproduced" if all(faster) else "reproduced in part" if any(faster) else "not reproduced",
        f"with {last} topics its seconds are {times}; its mean distance is "
        f"{of[last, 'stgd']['mean'] / of[last, 'power']['mean']:.1f} and "
        f"{of[last, 'stgd']['mean'] / of[last, 'all at once']['mean']:.1f} times theirs",
    ), *growth(of, topics)]  # fmt: skip


def growth(of: dict[tuple[int, str], Row], topics: list[int]) -> list[str]:
    """No claim: how the power method's time grows with L = T = 100 for every k."""
    k = [k for k in topics[-3:] if (k, "power") in of]
    slope = np.polyfit(np.log(k), np.log([of[x, "power"]["seconds"] for x in k]), 1)[0]
    return [f"NOTE     seconds of the power method, L and T fixed, grow as k^{slope:.1f} from "
            f"k = {k[0]} to {k[-1]}"]  # fmt: skip


def eta_rows(asked: argparse.Namespace) -> Iterator[Row]:
    done = known(asked.path, "effects")
    for effects in ("apart", "equal"):
        if done(effects):
            continue
        eta = np.arange(K_EFFECTS) / 10
        eta[1] = eta[1] if effects == "apart" else eta[0]
        power, matched, vector, _ = eta_errors(eta, 0.005, 2 if asked.quick else 50)
        yield {"effects": effects, "power update": power, "diagonalisation": matched,
               "eigenvectors of My": vector}  # fmt: skip


def eta_errors(eta: np.ndarray, noise: float, trials: int) -> list[float]:
    """Largest errors of the update, of diagonalising and of its eigenvectors; share not matched.

    eta rises, so that the j-th eigenvalue is that of the j-th topic.  The w_i are exact.
    """
    k, a0, errors = len(eta), 1.0, []
    for trial in range(trials):
        rng = np.random.default_rng(trial)
        T, w = tensor(k, 0.0, rng)
        E = rng.standard_normal((k, k))
        My = 2 / (a0 + 2) * (w * eta) @ w.T + noise * (E + E.T) / 2
        pairs = eigenpairs(T, Settings(), rng)
        order = (pairs.vectors.T @ w).argmax(axis=1)
        space = Whitening(np.eye(k), np.eye(k), np.ones(k))
        by_power = power_update(pairs, space, My, a0)
        matched, vectors = eta_by_diagonalisation(pairs, space, My, a0)
        apart = np.abs(np.sum(vectors * pairs.vectors, axis=0))
        errors.append(
            [
                np.abs(by_power - eta[order]).max(),
                np.abs(matched - eta[order]).max(),
                np.sqrt(2 - 2 * apart.min()),
                (matched.argsort().argsort() != order).mean(),
            ]
        )
    means: list[float] = np.mean(errors, axis=0).tolist()
    return means


def gap_rows(asked: argparse.Namespace) -> Iterator[Row]:
    done = known(asked.path, "gap", "noise")
    for gap, noise in product(GAPS, NOISES):
        if not done(gap, noise):
            eta = gap * np.arange(K_EFFECTS)
            power, matched, vector, wrong = eta_errors(eta, noise, 5 if asked.quick else 200)
            yield {"gap": gap, "noise": noise, "matched wrongly": wrong, "power update": power,
                   "diagonalisation": matched, "eigenvectors of My": vector}  # fmt: skip


def eta_verdict(found: list[Row]) -> list[str]:
    ((apart,), (equal,)) = (chosen(found, effects=name) for name in ("apart", "equal"))
    wrong = "eigenvectors of My"
    return said(
        "Diagonalising (M2, My) does not give eta with its topics where effects are equal; the "
        "power update does.",
        "reproduced"
        if equal[wrong] > MIXED * apart[wrong]
        and equal["power update"] < MIXED * apart["power update"]
        else "not reproduced",
        f"with equal effects the {wrong} are {equal[wrong]:.2f} off, else {apart[wrong]:.2f}; "
        f"eta by them {equal['diagonalisation']:.4f}, by the power update "
        f"{equal['power update']:.4f}",
    )


def gap_verdict(found: list[Row]) -> list[str]:
    wrong = {(row["gap"], row["noise"]): row["matched wrongly"] for row in found}
    ratio = [row["diagonalisation"] / row["power update"] for row in found]
    lines = ["", "share of topics matched wrongly, by the gap between effects and the noise of My"]
    for gap in GAPS:
        shares = (f"noise {noise:g}: {wrong[gap, noise]:.2f}" for noise in NOISES)
        lines.append(f"gap {gap:<6g} {'; '.join(shares)}")
    easy, hard = wrong[GAPS[0], NOISES[0]], wrong[GAPS[-1], NOISES[-1]]
    return [*lines, "", *said(
        "Matching eta to topics is easily done with true moments, and difficult with estimates.",
        "reproduced" if easy < MATCHED and hard > MISSED else "not reproduced",
        f"{easy:.2f} of topics are matched wrongly where effects are 200 times the noise apart, "
        f"{hard:.2f} where they are a fiftieth of it apart; errors of eta are {min(ratio):.2f} to "
        f"{max(ratio):.2f} times those of the power update",
    )]  # fmt: skip


if __name__ == "__main__":
    with one_blas_thread:
        run(__doc__, "decompositions", rows, verdict)
        run(__doc__, "eta_by_diagonalisation", eta_rows, eta_verdict)
        run(__doc__, "eta_by_gap", gap_rows, gap_verdict)
