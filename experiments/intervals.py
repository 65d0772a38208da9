"""Documents drawn from the model: how often do 95 % intervals of the coefficients hold the truth?

    python experiments/intervals.py            # a minute
    python experiments/intervals.py --quick    # seconds, for the test suite

Standard errors are those of the jackknife in ``automatic``.  Twenty seeds of each setting.
"""

import argparse

import numpy as np

from topicprism import SpectralSLDA
from topicprism.datasets import draw_corpus, draw_model
from topicprism.evaluation import match

SETTINGS = [  # topics, documents, words in each, noise
    (3, 2_000, 60, 0.5),
    (5, 3_000, 100, 0.5),
    (10, 20_000, 100, 0.5),
    (10, 20_000, 250, 0.1),
    (20, 20_000, 250, 0.5),
]


def errors(k: int, n: int, length: int, noise: float, seed: int) -> np.ndarray:
    """(estimate - truth) / standard error, of each coefficient."""
    rng = np.random.default_rng(seed)
    truth = draw_model(500, k, rng, noise=noise)
    X, y, _ = draw_corpus(truth, n, length, rng)
    fitted = SpectralSLDA(k, alpha0=truth.alpha.sum(), random_state=0, n_jobs=2).fit(X, y)
    if fitted.model_.n_topics != k:
        return np.empty(0)
    order = match(fitted.model_, truth)
    return (fitted.coef_[order] - truth.eta) / fitted.coef_std_[order]


def main(quick: bool) -> None:
    print(" k  documents  words  noise   within 1.96 errors   root mean square error")
    for k, n, length, noise in SETTINGS[:1] if quick else SETTINGS:
        found = [errors(k, n, length, noise, seed) for seed in range(2 if quick else 20)]
        z = np.concatenate(found)
        inside, size = np.mean(np.abs(z) < 1.96), np.sqrt(np.mean(z**2))
        print(f"{k:2d} {n:10,d} {length:6d} {noise:6.1f} {inside:20.0%} {size:24.2f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    main(parser.parse_args().quick)
