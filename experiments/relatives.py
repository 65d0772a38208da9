"""The paper's relatives on the movie ratings of Pang and Lee, beside the published figure.

    python experiments/relatives.py            # about half an hour on two cores
    python experiments/relatives.py --quick    # seconds, for the test suite
    python experiments/relatives.py --data movie_scale.parquet
    python experiments/relatives.py --topics 50

Blei and McAuliffe (2007) report a predictive R2 of 0.500 on these reviews, five folds, the best
number of topics, 5,000 words chosen by TF-IDF.  Here: the 5,000 most frequent words, the first
4,000 documents to train and the rest to test; one seed.  Of numbers pR2 on test documents and the
share of them within 1.96 deviations of their prediction; of classes (above the median rating or
not) the accuracy.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from comparison.corpora import DATA as FOLDER
from sklearn.feature_extraction.text import CountVectorizer

from topicprism import (
    AnchorSLDA,
    DiscLDA,
    FewerTopicsWarning,
    MedLDAClassifier,
    VariationalSLDA,
    VariationalSLDAClassifier,
)

DATA = FOLDER / "movie_scale.parquet"
TRAIN = 4000

REGRESSIONS = {
    "VariationalSLDA": lambda k: VariationalSLDA(k),
    "VariationalSLDA, noise from 0.1": lambda k: VariationalSLDA(k, noise_start=0.1),
    "VariationalSLDA, noise from 0.01": lambda k: VariationalSLDA(k, noise_start=0.01),
    "AnchorSLDA, weight 0": lambda k: AnchorSLDA(k, weight=0),
    "AnchorSLDA": lambda k: AnchorSLDA(k),
    "AnchorSLDA, weight 10": lambda k: AnchorSLDA(k, weight=10),
    "AnchorSLDA, one pass": lambda k: AnchorSLDA(k, refit=False),
}
CLASSIFIERS = {
    "VariationalSLDAClassifier": lambda k: VariationalSLDAClassifier(k),
    "DiscLDA": lambda k: DiscLDA(k),
    "DiscLDA, half of the topics": lambda k: DiscLDA(k, n_class_topics=k // 4 or 1),
    "MedLDAClassifier": lambda k: MedLDAClassifier(k, burn_in=80, n_kept=40),
}


def main(quick: bool, data: Path, topics: list[int], method: str) -> None:
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
    print(" k  method                            pR2 or accuracy   within 1.96 deviations")
    for k in [4] if quick else topics:
        for name, make in {**REGRESSIONS, **CLASSIFIERS}.items():
            if not name.startswith(method):
                continue
            model = make(k).set_params(random_state=0, n_jobs=2)
            if quick and "n_iterations" in model.get_params():
                model.set_params(n_iterations=5)
            target = y if name in REGRESSIONS else y > np.median(y[:n])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FewerTopicsWarning)
                model.fit(X[:n], target[:n])
            inside = ""
            if name in REGRESSIONS:
                y_hat, std = model.predict(X[TRAIN:], return_std=True)
                inside = f"{np.mean(np.abs(y[TRAIN:] - y_hat) < 1.96 * std):.3f}"
            score = model.score(X[TRAIN:], target[TRAIN:])
            print(f"{k:2d}  {name:32s}  {score:15.3f}   {inside}".rstrip(), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--topics", type=int, nargs="+", default=[10, 20])
    parser.add_argument("--method", default="", help="only those whose names begin so")
    args = parser.parse_args()
    main(args.quick, args.data, args.topics, args.method)
