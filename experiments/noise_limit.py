"""How well can the noise variance be known at all?

    python experiments/noise_limit.py            # a minute
    python experiments/noise_limit.py --quick    # seconds, for the test suite

Who knows alpha, mu and eta sees y - E[eta . h | words], of variance r = sigma^2 + the part of
eta . h that words leave open.  Were it Gaussian, the variance of n of them would be known up
to a standard deviation of r sqrt(2 / n), and so would sigma^2.  Printed is that over sigma^2,
for the settings of automatic.py with noise 0.1 and n = 20,000, over three models; r is of 4,000
documents.
Beside it the same for who has second moments only: r is then sigma^2 + w' diag(p) w / m, w the
least words' weights with mu' w = eta, m the words of a document.
"""

import argparse

import numpy as np

from topicprism import infer
from topicprism.datasets import draw_corpus, draw_model

N, NOISE, LENGTH = 20_000, 0.1, 250


def limits(words: str, k: int, alpha0: float, n: int, seed: int) -> tuple[float, float]:
    rng = np.random.default_rng(seed)
    truth = draw_model(500, k, rng, alpha=alpha0 / k, noise=NOISE, words=words)
    X, y, _ = draw_corpus(truth, n, LENGTH, rng)
    left = y - infer(truth, X, n_threads=2) @ truth.eta
    p = truth.mu @ truth.alpha / truth.alpha.sum()
    known = truth.mu.T @ (truth.mu / p[:, None])
    r = NOISE**2 + truth.eta @ np.linalg.solve(known, truth.eta) / LENGTH
    unit = np.sqrt(2 / N) / NOISE**2
    return float(np.mean(left**2) * unit), float(r * unit)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    print("words     k  alpha0  standard deviation / sigma^2: all words, second moments")
    for words in ("uniform", "zipf"):
        for k in (5,) if quick else (5, 10, 20):
            for alpha0 in (0.5, 1.0, 3.0):
                each = [limits(words, k, alpha0, 200 if quick else 4_000, i) for i in range(3)]
                found = [f"{min(x):.3f} to {max(x):.3f}" for x in zip(*each, strict=True)]
                print(
                    f"{words:8s}{k:3d}  {alpha0:5.1f}  {found[0]:>20s}  {found[1]:>16s}", flush=True
                )
