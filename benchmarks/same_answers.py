"""Whether two versions of the package give the same answers on real text.

    python benchmarks/same_answers.py --against HEAD~5       # this tree beside that commit
    python benchmarks/same_answers.py --save answers.npz     # with the one version
    python benchmarks/same_answers.py --compare answers.npz  # with the other
    python benchmarks/same_answers.py --scores --against HEAD~5  # accuracy, where answers differ
    python benchmarks/same_answers.py --quick                # seconds, for the test suite

Prints for each corpus at hand and each estimator the largest difference of predictions for test
documents, coefficients and their standard errors (topics and proportions where there is no
response), relative to the largest of them; status 1 if one is above 1e-10.  That is what a change
of the code that is to change no answer must keep.  It says nothing of whether answers are right,
and versions whose random streams differ cannot agree: CHANGELOG.md lists these and the defects that
were mended.  At most 5,000 training documents of each corpus; ``--corpora`` names some.

``--scores`` prints instead the predictive R2 of SpectralSLDA on the first fold of each corpus (the
folds are those of docs/real-text.md) of both versions; status 1 if one is lower by more than 0.005.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "experiments"))
from comparison import corpora  # noqa: E402

import topicprism  # noqa: E402
from topicprism import (  # noqa: E402
    AutoSLDA,
    GibbsSLDA,
    HybridSLDA,
    MedLDA,
    SpectralLDA,
    SpectralSLDA,
)
from topicprism.datasets import make_slda  # noqa: E402
from topicprism.evaluation import pr2  # noqa: E402

N_TRAIN, N_TEST = 5_000, 500
CORPORA = list(corpora.CORPORA)
CHAIN = {"burn_in": 15, "n_kept": 5}
TOLERANCE, LOSS = 1e-10, 0.005
METHODS = {
    "AutoSLDA": lambda: AutoSLDA(random_state=0, n_jobs=2),
    "SpectralSLDA": lambda: SpectralSLDA(random_state=0, n_jobs=2),
    "two-stage, k=10": lambda: SpectralSLDA(10, method="two-stage", random_state=0, n_jobs=2),
    "SpectralLDA": lambda: SpectralLDA(random_state=0, n_jobs=2),
    "HybridSLDA": lambda: HybridSLDA(10, random_state=0, n_jobs=2, **CHAIN),
    "GibbsSLDA": lambda: GibbsSLDA(10, random_state=0, n_jobs=2, **CHAIN),
    "MedLDA": lambda: MedLDA(10, random_state=0, n_jobs=2, **CHAIN),
}


def splits(names: list[str]):
    X, y, _ = make_slda(2200, n_words=200, n_topics=4, doc_length=60, random_state=0)
    yield "simulated", corpora.Split(X[:2000], y[:2000], X[2000:], y[2000:])
    for name in names:
        split = corpora.load(name)
        if split is None:
            print(f"{name} is not there", file=sys.stderr)
        else:
            yield name, split


def answers(names: list[str]) -> dict[str, np.ndarray]:
    found = {}
    for name, s in splits(names):
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


def scores(names: list[str]) -> dict[str, np.ndarray]:
    """Predictive R2 on documents held out, everything chosen from the others."""
    found = {}
    for name in names or ["toy reviews"]:
        s = corpora.fold(name, 0) if names else corpora.toy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = SpectralSLDA(random_state=0, n_jobs=2).fit(s.X, s.y)
        found[name] = np.array(pr2(s.y_test, fitted.predict(s.X_test)))
        print(f"{name:50s} {found[name]:z.4f}", flush=True)
    return found


def compare_scores(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    """Whether the other, of this version, is lower by more than is allowed."""
    gains = {name: float(other[name] - one[name]) for name in one}
    for name, gain in gains.items():
        print(f"{name:50s} {one[name]:.4f} before, {other[name]:.4f} now: {gain:+.4f}")
    print(f"largest loss in predictive R2: {max(0.0, -min(gains.values())):.4f}")
    return min(gains.values()) < -LOSS


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference, relative to the largest entry; NaN must be where the other has it."""
    if a.shape != b.shape or (np.isnan(a) != np.isnan(b)).any():
        return np.inf
    scale = max(float(np.abs(np.nan_to_num(a)).max()), 1e-300)
    return float(np.abs(np.nan_to_num(a - b)).max()) / scale


def compare(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    """Whether answers differ by more than rounding."""
    worst = 0.0
    for name in sorted(one.keys() | other.keys()):
        both = name in one and name in other
        apart = distance(one[name], other[name]) if both else np.inf
        worst = max(worst, apart)
        print(f"{name:50s} {apart:.1e}{'' if both else ' (only of one version)'}")
    print(f"largest relative difference of {len(other)} answers: {worst:.1e}")
    return worst > TOLERANCE


def answers_of(commit: str, names: list[str], what: list[str]) -> dict[str, np.ndarray]:
    """Those of the package as it was, by this script in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        git = ["git", "-C", str(ROOT), "archive", commit, "src"]
        packed = subprocess.run(git, check=True, stdout=subprocess.PIPE).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=packed, check=True)
        found = Path(folder) / "answers.npz"
        subprocess.run(
            [sys.executable, __file__, *what, "--save", found, "--corpora", *names],
            env=os.environ | {"PYTHONPATH": str(Path(folder) / "src")},
            check=True,
        )
        with np.load(found) as file:
            return dict(file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", metavar="COMMIT")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--compare", type=Path)
    parser.add_argument("--corpora", nargs="*", default=CORPORA, choices=CORPORA)
    parser.add_argument("--scores", action="store_true")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    names = [] if args.quick else args.corpora
    ask, beside = (scores, compare_scores) if args.scores else (answers, compare)
    found = ask(names)
    print(f"{len(found)} answers of {Path(topicprism.__file__).parent}", flush=True)
    if args.save:
        np.savez_compressed(args.save, **found)
    if args.against:
        before = answers_of(args.against, names, ["--scores"] * args.scores)
    elif args.compare:
        before = dict(np.load(args.compare))
    else:
        before = ask(names) if args.quick else None
    if before is not None:
        sys.exit(beside(before, found))


if __name__ == "__main__":
    main()
