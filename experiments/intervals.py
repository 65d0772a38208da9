"""Documents drawn from the model: how often do 95 % intervals of the coefficients hold the truth?

    python experiments/intervals.py            # ten minutes on one core
    python experiments/intervals.py --quick    # seconds, for the test suite

Each corpus is fitted twice: with the number of topics and alpha0 given, and with neither.
Rows are sorted by their response.  Forty seeds of each setting.  Fits that find another number of
topics, or give no standard errors, are counted and left out of the other columns.
"""

import argparse

import numpy as np

from topicprism import SpectralSLDA
from topicprism.datasets import draw_corpus, draw_model
from topicprism.evaluation import match
from topicprism.model import Model

SETTINGS = [  # topics, alpha0, documents, words in each, noise
    (3, 1.0, 2_000, 60, 0.5),
    (3, 1.0, 4_000, 60, 0.5),
    (4, 0.3, 4_000, 60, 0.5),
    (4, 3.0, 4_000, 60, 0.5),
    (5, 1.0, 3_000, 100, 0.5),
    (5, 5.0, 10_000, 150, 0.2),
    (10, 1.0, 20_000, 100, 0.5),
    (10, 1.0, 20_000, 250, 0.1),
    (20, 1.0, 20_000, 250, 0.5),
]
HEAD = (
    " k  alpha0  documents  words  noise | both given: inside   rms | none: inside   rms  left out"
)


def errors(fitted: SpectralSLDA, truth: Model) -> np.ndarray | None:
    """(estimate - truth) / standard error, of each coefficient."""
    if fitted.model_.n_topics != truth.n_topics or not hasattr(fitted, "coef_std_"):
        return None
    order = match(fitted.model_, truth)
    return (fitted.coef_[order] - truth.eta) / fitted.coef_std_[order]


def fits(k: int, alpha0: float, n: int, length: int, noise: float, seed: int) -> list:
    """These errors, with k and alpha0 given and with neither."""
    rng = np.random.default_rng(seed)
    truth = draw_model(500, k, rng, alpha=alpha0 / k, noise=noise)
    X, y, _ = draw_corpus(truth, n, length, rng)
    order = np.argsort(y)
    told, untold = SpectralSLDA(k, alpha0=alpha0, random_state=0), SpectralSLDA(random_state=0)
    return [errors(s.fit(X[order], y[order]), truth) for s in (told, untold)]


def summary(found: list) -> tuple[float, float, int]:
    """The share inside 1.96 errors, the root mean square, and the fits that are left out."""
    kept = [z for z in found if z is not None]
    z = np.concatenate(kept) if kept else np.full(1, np.nan)
    return float(np.mean(np.abs(z) < 1.96)), float(np.sqrt(np.mean(z**2))), len(found) - len(kept)


def main(quick: bool) -> None:
    print(HEAD)
    everything: list[list] = [[], []]
    for k, alpha0, n, length, noise in SETTINGS[:1] if quick else SETTINGS:
        found = [fits(k, alpha0, n, length, noise, seed) for seed in range(2 if quick else 40)]
        told, untold = (list(column) for column in zip(*found, strict=True))
        everything[0] += told
        everything[1] += untold
        show(f"{k:2d} {alpha0:7.1f} {n:10,d} {length:6d} {noise:6.1f}", told, untold)
    show(f"{'all':35s}", *everything)


def show(what: str, told: list, untold: list) -> None:
    (inside, size, _), (inside2, size2, left_out) = summary(told), summary(untold)
    print(
        f"{what} | {inside:12.1%} {size:5.2f} | {inside2:20.1%} {size2:5.2f} {left_out:9d}",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    main(parser.parse_args().quick)
