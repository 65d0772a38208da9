"""What does a second look at documents tell of the noise variance, and what does it cost?

    python experiments/second_look.py            # five minutes
    python experiments/second_look.py --first 40 # seeds 40 to 49, on which nothing was chosen
    python experiments/second_look.py --few      # two minutes: 3,000 documents, ten topics
    python experiments/second_look.py --quick    # seconds, for the test suite

Twenty topics and noise 0.1 as in automatic.py, ten seeds.  Printed are the mean, the extremes
and the root mean square error of the noise variance over the truth: by moments alone, from a
sketch, and by a fit that sees documents; then the time of that fit, one that is told the noise
variance being 1.
"""

import argparse
from time import perf_counter

import numpy as np

from topicprism import Corpus, SpectralSLDA, sketch
from topicprism.datasets import draw_corpus, draw_model


def trial(words: str, k: int, alpha0: float, n: int, seed: int) -> tuple[float, float, float]:
    rng = np.random.default_rng(seed)
    truth = draw_model(500, k, rng, alpha=alpha0 / k, noise=0.1, words=words)
    X, y, _ = draw_corpus(truth, n, 250, rng)
    made = sketch(Corpus(X, y), 32, np.random.default_rng(0))
    moments = SpectralSLDA(random_state=0).fit_sketch(made).noise_variance_
    times = []
    for told in (0.01, "auto"):
        model = SpectralSLDA(noise_variance=told, random_state=0, n_jobs=2)
        start = perf_counter()
        model.fit(X, y)
        times.append(perf_counter() - start)
    return moments / 0.01, model.noise_variance_ / 0.01, times[1] / times[0]


def summary(r: np.ndarray) -> str:
    error = np.sqrt(np.mean((r - 1) ** 2))
    return f"{r.mean():.2f} ({r.min():.2f} to {r.max():.2f})  {error:.2f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    k, n, many = (10, 3_000, 10) if args.few else (20, 20_000, 10)
    if args.quick:
        k, n, many = 6, 1_000, 1
    seeds = range(args.first, args.first + many)
    print(
        "words    k  alpha0   moments, error              documents, error            times a fit"
    )
    for words in ("uniform", "zipf"):
        for alpha0 in (1.0,) if args.quick else (0.5, 1.0, 3.0):
            rows = np.transpose([trial(words, k, alpha0, n, seed) for seed in seeds])
            each = [summary(r) for r in rows[:2]]
            setting = f"{words:8s}{k:2d}  {alpha0:5.1f}"
            print(f"{setting}   {each[0]:27s} {each[1]:27s} {rows[2].mean():.1f}", flush=True)
