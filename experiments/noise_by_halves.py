"""What would another look at the documents tell of the noise variance?

    python experiments/noise_by_halves.py            # four minutes
    python experiments/noise_by_halves.py --quick    # seconds, for the test suite

The words of each document are dealt into halves.  One gives h, the posterior mean, and with
q = mu h the other gives g, an estimate of the proportions without bias whatever h is::

    g = (mu' diag(1/q) mu)^-1 mu' diag(1/q) x        x the frequencies of its words

The topics that h has none of cost g nothing, and its error is independent of h.  So h is an
instrument: eta from sum h (y - g . eta) = 0, and sigma^2 is the mean of (y - g . eta)(y - h . eta),
averaged over both ways to use the halves.  Printed is that over the truth, for 20 topics and
noise 0.1 as in automatic.py, five seeds, beside what the sketch alone tells; and the time it
takes as it is written here, a fit being 1.
"""

import argparse
from time import perf_counter

import numpy as np
from scipy.sparse import csr_array

from topicprism import Model, SpectralSLDA, infer
from topicprism.datasets import draw_corpus, draw_model


def by_halves(model: Model, X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> float:
    one = rng.binomial(X, 0.5)
    return float(np.mean([_given(model, *pair, y) for pair in ((one, X - one), (X - one, one))]))


def _given(model: Model, seen: np.ndarray, other: np.ndarray, y: np.ndarray) -> float:
    h = infer(model, csr_array(seen), n_threads=2)
    g = np.empty_like(h)
    for d, (n, q) in enumerate(zip(other, h @ model.mu.T, strict=True)):
        scaled = model.mu / q[:, None]
        g[d] = np.linalg.solve(model.mu.T @ scaled, scaled.T @ n) / max(n.sum(), 1)
    eta = np.linalg.solve(h.T @ g, h.T @ y)
    return float(np.mean((y - g @ eta) * (y - h @ eta)))


def trial(words: str, k: int, alpha0: float, n: int, seed: int) -> tuple[float, float, float]:
    rng = np.random.default_rng(seed)
    truth = draw_model(500, k, rng, alpha=alpha0 / k, noise=0.1, words=words)
    X, y, _ = draw_corpus(truth, n, 250, rng)
    start = perf_counter()
    fitted = SpectralSLDA(random_state=0, n_jobs=2).fit(X, y)
    middle = perf_counter()
    found = by_halves(fitted.model_, X.toarray(), y, rng)
    times = (perf_counter() - middle) / (middle - start)
    return fitted.noise_variance_ / 0.01, found / 0.01, times


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    k, n, seeds = (3, 1_000, 1) if quick else (20, 20_000, 5)
    print("words    k  alpha0   sketch               halves               times a fit")
    for words in ("uniform", "zipf"):
        for alpha0 in (1.0,) if quick else (0.5, 1.0, 3.0):
            rows = np.transpose([trial(words, k, alpha0, n, seed) for seed in range(seeds)])
            ratios = [f"{r.mean():.2f} ({r.min():.2f}-{r.max():.2f})" for r in rows[:2]]
            setting = f"{words:8s}{k:2d}  {alpha0:5.1f}"
            print(f"{setting}   {ratios[0]:20s} {ratios[1]:20s} {rows[2].mean():.0f}", flush=True)
