"""How well can the noise variance be known at all?

    python experiments/noise_limit.py            # half a minute
    python experiments/noise_limit.py --quick    # seconds, for the test suite

Who knows alpha, mu and eta sees y - E[eta . h | words], of variance r = sigma^2 + the part of
eta . h that words leave open.  Were it Gaussian, the variance of n of them would be known up
to a standard deviation of r sqrt(2 / n), and so would sigma^2.  Printed is that over sigma^2,
for the settings of automatic.py with noise 0.1 and n = 20,000; r is of 4,000 documents.
"""

import argparse

import numpy as np

from topicprism import infer
from topicprism.datasets import draw_corpus, draw_model

N, NOISE = 20_000, 0.1


def limit(words: str, k: int, alpha0: float, n: int) -> float:
    rng = np.random.default_rng(0)
    truth = draw_model(500, k, rng, alpha=alpha0 / k, noise=NOISE, words=words)
    X, y, _ = draw_corpus(truth, n, 250, rng)
    left = y - infer(truth, X, n_threads=2) @ truth.eta
    return float(np.mean(left**2) * np.sqrt(2 / N) / NOISE**2)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    print("words     k  alpha0  standard deviation of sigma^2 / sigma^2")
    for words in ("uniform", "zipf"):
        for k in (5,) if quick else (5, 10, 20):
            for alpha0 in (0.5, 1.0, 3.0):
                found = limit(words, k, alpha0, 200 if quick else 4_000)
                print(f"{words:8s}{k:3d}  {alpha0:5.1f}  {found:6.3f}", flush=True)
