"""Whether two versions of the package give the same answers on real text.

    python benchmarks/same_answers.py --save answers.npz      # with the one version; 3 minutes
    python benchmarks/same_answers.py --compare answers.npz   # with the other: largest differences
    python benchmarks/same_answers.py --quick                 # seconds, for the test suite

For each corpus at hand and each estimator: predictions for test documents, coefficients and
their standard errors (topics and proportions where there is no response), relative to the
largest of them.  At most 5,000 training documents of each corpus.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))
from comparison import corpora

from topicprism import GibbsSLDA, HybridSLDA, MedLDA, SpectralLDA, SpectralSLDA, __version__
from topicprism.datasets import make_slda

N_TRAIN, N_TEST = 5_000, 500
CORPORA = list(corpora.CORPORA)
CHAIN = {"burn_in": 15, "n_kept": 5}
METHODS = {
    "SpectralSLDA": lambda: SpectralSLDA(random_state=0, n_jobs=2),
    "two-stage, k=10": lambda: SpectralSLDA(10, method="two-stage", random_state=0, n_jobs=2),
    "SpectralLDA": lambda: SpectralLDA(random_state=0, n_jobs=2),
    "HybridSLDA": lambda: HybridSLDA(10, random_state=0, n_jobs=2, **CHAIN),
    "GibbsSLDA": lambda: GibbsSLDA(10, random_state=0, n_jobs=2, **CHAIN),
    "MedLDA": lambda: MedLDA(10, random_state=0, n_jobs=2, **CHAIN),
}


def splits(quick: bool):
    X, y, _ = make_slda(3500, n_words=200, n_topics=4, doc_length=60, random_state=0)
    yield "simulated", corpora.Split(X[:3000], y[:3000], X[3000:], y[3000:])
    for name in [] if quick else CORPORA:
        split = corpora.load(name)
        if split is None:
            print(f"{name} is not there", file=sys.stderr)
        else:
            yield name, split


def answers(quick: bool) -> dict[str, np.ndarray]:
    found = {}
    for name, s in splits(quick):
        for method, make in METHODS.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = make().fit(s.X[:N_TRAIN], s.y[:N_TRAIN])
            new = s.X_test[:N_TEST]
            if hasattr(fitted, "predict"):
                values = {"predictions": fitted.predict(new), "coefficients": fitted.coef_}
                values["standard errors"] = getattr(fitted, "coef_std_", np.zeros(1))
            else:
                values = {"proportions": fitted.transform(new), "topics": fitted.components_}
            found |= {f"{name}/{method}/{what}": value for what, value in values.items()}
    return found


def compare(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> float:
    worst = 0.0
    for name in sorted(other):
        a, b = one[name], other[name]
        scale = max(float(np.abs(a).max()), 1e-300)
        apart = np.inf if a.shape != b.shape else float(np.abs(a - b).max()) / scale
        worst = max(worst, apart)
        print(f"{name:50s} {apart:.1e}")
    print(f"largest relative difference of {len(other)} answers: {worst:.1e}")
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--save", type=Path)
    parser.add_argument("--compare", type=Path)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    found = answers(args.quick)
    print(f"topicprism {__version__}: {len(found)} answers")
    if args.save:
        np.savez_compressed(args.save, **found)
    before = dict(np.load(args.compare)) if args.compare else answers(True) if args.quick else None
    if before is not None:
        sys.exit(compare(before, found) > 1e-10)


if __name__ == "__main__":
    main()
