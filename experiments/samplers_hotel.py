"""The samplers' defaults, chosen on movie ratings, tried on hotel reviews.

    python experiments/samplers_hotel.py            # about a minute
    python experiments/samplers_hotel.py --quick    # seconds, for the test suite
    python experiments/samplers_hotel.py --data hotel_reviews.parquet

The 3,000 most frequent words without stop words, the first 5,000 documents to train and
the next 1,500 to test, k = 10, one seed, 60 sweeps and 30 kept.
"""

import argparse
from pathlib import Path

from comparison.folder import DATA as FOLDER
from sklearn.feature_extraction.text import CountVectorizer

from topicprism import GibbsSLDA, MedLDA, MedLDAClassifier, SpectralSLDA

DATA = FOLDER / "hotel_reviews.parquet"

REGRESSIONS = {
    "joint": SpectralSLDA(),
    "Gibbs": GibbsSLDA(),
    "Gibbs on assignments": GibbsSLDA(response="assignments"),
    **{f"MedLDA, C {C}": MedLDA(C=C) for C in (0, 10, 30, 100)},
    "MedLDA, C 30, refit": MedLDA(refit=True),
}
CLASSIFIERS = {f"MedLDAClassifier, C {C}": MedLDAClassifier(C=C) for C in (1, 5, 20, 60)}


def main(quick: bool, data: Path) -> None:
    print("hotel reviews, k=10: pR2 of regressions, accuracy of classifiers (5 stars or not)")
    if not data.exists():
        print(f"{data} is not there; pass the file with --data")
        return
    import pandas as pd

    n, n_test, sweeps = (300, 100, 3) if quick else (5000, 1500, 60)
    table = pd.read_parquet(data).iloc[: n + n_test]
    words = CountVectorizer(stop_words="english", max_features=3000)
    X, y = words.fit_transform(table["text"]), table["rating"].to_numpy()
    for name, model in {**REGRESSIONS, **CLASSIFIERS}.items():
        chain = {"burn_in": sweeps, "n_kept": max(sweeps // 2, 1)} if name != "joint" else {}
        model.set_params(n_topics=3 if quick else 10, random_state=0, n_jobs=2, **chain)
        if hasattr(model, "cross_fit"):
            model.set_params(cross_fit=False)  # predictions do not depend on effects
        target = y >= 5 if name in CLASSIFIERS else y
        score = model.fit(X[:n], target[:n]).score(X[n:], target[n:])
        print(f"{name:28s}  {score:.3f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data", type=Path, default=DATA)
    args = parser.parse_args()
    main(args.quick, args.data)
