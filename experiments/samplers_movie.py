"""Samplers and spectral methods on the movie ratings of Pang and Lee (scale dataset v1.0).

    python experiments/samplers_movie.py            # about ten minutes
    python experiments/samplers_movie.py --quick    # seconds, for the test suite
    python experiments/samplers_movie.py --data movie_scale.parquet

The 5,000 most frequent words, the first 4,000 documents to train and the rest to
test, k = 5, 10, 20; three seeds, means and standard deviations.  pR2 on the test
documents; log-likelihood per word of them, proportions inferred from the same words.
"""

import argparse
from pathlib import Path

import numpy as np
from comparison.folder import DATA as FOLDER
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline

from topicprism import GibbsSLDA, MedLDA, SpectralSLDA
from topicprism.evaluation import word_log_likelihood

DATA = FOLDER / "movie_scale.parquet"
TRAIN = 4000

WAYS = {
    "two-stage": lambda k, n: SpectralSLDA(k, method="two-stage"),
    "joint": lambda k, n: SpectralSLDA(k),
    "Gibbs, the paper's stop": lambda k, n: GibbsSLDA(k, burn_in=1000, n_kept=10, tolerance=1e-3),
    "Gibbs": lambda k, n: GibbsSLDA(k, burn_in=n, n_kept=n // 2),
    "Gibbs on assignments": lambda k, n: GibbsSLDA(
        k, response="assignments", burn_in=n, n_kept=n // 2
    ),
    "MedLDA, C 0: LDA + ridge": lambda k, n: MedLDA(k, C=0, burn_in=n, n_kept=n // 2),
    "MedLDA, C 10": lambda k, n: MedLDA(k, C=10, burn_in=n, n_kept=n // 2),
    "MedLDA (C 30)": lambda k, n: MedLDA(k, burn_in=n, n_kept=n // 2),
    "MedLDA (C 30), refit": lambda k, n: MedLDA(k, refit=True, burn_in=n, n_kept=n // 2),
}  # fmt: skip


def main(quick: bool, data: Path) -> None:
    print("movie_scale: the 5,000 most frequent words, the first 4,000 documents to train on")
    if not data.exists():
        print(f"{data} is not there; pass the file with --data")
        return
    import pandas as pd

    table = pd.read_parquet(data)
    words = CountVectorizer(
        tokenizer=str.split, token_pattern=None, lowercase=False, max_features=5000
    )
    X, y = words.fit_transform(table["text"]), table["rating"].to_numpy()
    n = 500 if quick else TRAIN
    train, new = (X[:n], y[:n]), (X[TRAIN:], y[TRAIN:])
    ridge = make_pipeline(TfidfTransformer(sublinear_tf=True), RidgeCV(np.logspace(-2, 2, 9)))
    print(f"TF-IDF and ridge, for comparison: pR2 {ridge.fit(*train).score(*new):.3f}")
    print(" k  way                           pR2              log-likelihood per word")
    for k in [3] if quick else [5, 10, 20]:
        for name, way in WAYS.items():
            scores = []
            for seed in [0] if quick else [0, 1, 2]:
                model = way(k, 4 if quick else 80).set_params(random_state=seed, n_jobs=2)
                if hasattr(model, "cross_fit"):
                    model.set_params(cross_fit=False)  # predictions do not depend on effects
                model.fit(*train)
                fit = word_log_likelihood(model.model_, new[0], model.transform(new[0]))
                scores.append((model.score(*new), fit))
            (score, fit), (sd, spread) = np.mean(scores, axis=0), np.std(scores, axis=0)
            print(f"{k:2d}  {name:27s}  {score:6.3f} ± {sd:.3f}  {fit:8.3f} ± {spread:.3f}",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data", type=Path, default=DATA)
    args = parser.parse_args()
    main(args.quick, args.data)
