"""Documents drawn from the model: are k, alpha0 and the noise variance found with no argument?

    python experiments/automatic.py            # ten minutes
    python experiments/automatic.py --first 40 # seeds 40 to 44, on which nothing was chosen
    python experiments/automatic.py --seeds 2  # fewer
    python experiments/automatic.py --quick    # seconds, for the test suite

20,000 documents of 250 words over 500, uniform or by Zipf's law; five seeds.  Printed are
the numbers of topics found, the mean and the extremes of alpha0 and of the noise variance
over the truth, and errors of topics and coefficients beside those with everything known.
"""

import argparse
import warnings

import numpy as np

from topicprism import SpectralSLDA
from topicprism.datasets import draw_corpus, draw_model
from topicprism.evaluation import recovery_errors


def trial(k: int, alpha0: float, noise: float, words: str, n: int, seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    truth = draw_model(500, k, rng, alpha=alpha0 / k, noise=noise, words=words)
    X, y, _ = draw_corpus(truth, n, 250, rng)
    auto = SpectralSLDA(random_state=0, n_jobs=2).fit(X, y)
    known = SpectralSLDA(k, alpha0=alpha0, noise_variance=noise**2, random_state=0, n_jobs=2)
    known.fit(X, y)
    found = [auto.selection_.n_topics, auto.selection_.alpha0 / alpha0]
    found.append(auto.noise_variance_ / noise**2)
    same = auto.model_.n_topics == k == known.model_.n_topics
    errors = [recovery_errors(m.model_, truth) if same else None for m in (auto, known)]
    return found + [getattr(e, name) if e else np.nan for name in ("mu", "eta") for e in errors]


def main(first: int, seeds: int, quick: bool) -> None:
    print(
        "words    k  alpha0  noise   found          alpha0 ratio          noise ratio       ",
        end="",
    )
    print("   mu error (known)   eta error (known)")
    ks, alphas, noises = ((3,), (1.0,), (0.5,)) if quick else ((5, 10, 20), (0.5, 1, 3), (0.1, 0.5))
    for words in ("uniform",) if quick else ("uniform", "zipf"):
        for k in ks:
            for alpha0 in alphas:
                for noise in noises:
                    n = 3_000 if quick else 20_000
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", UserWarning)
                        rows = np.array(
                            [
                                trial(k, alpha0, noise, words, n, seed)
                                for seed in range(first, first + (1 if quick else seeds))
                            ]
                        )
                    found = ",".join(f"{int(v)}" for v in rows[:, 0])
                    low, middle, high = rows.min(axis=0), rows.mean(axis=0), rows.max(axis=0)
                    print(
                        f"{words:8s}{k:2d}  {alpha0:4.1f}   {noise:4.1f}   {found:15s}"
                        f"{middle[1]:5.2f} ({low[1]:.2f}-{high[1]:.2f})   "
                        f"{middle[2]:6.2f} ({low[2]:.2f}-{high[2]:.2f})   "
                        f"{middle[3]:8.3f} ({middle[4]:.3f})   {middle[5]:8.3f} ({middle[6]:.3f})",
                        flush=True,
                    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--seeds", type=int, default=5, metavar="N")
    parser.add_argument("--quick", action="store_true")
    main(**vars(parser.parse_args()))
