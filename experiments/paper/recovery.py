"""Figures 3 and 4: L1 errors of alpha, eta and mu against the number of documents.

    python experiments/paper/recovery.py --jobs 16    # minutes; 25 on two cores (--jobs 2)
    python experiments/paper/recovery.py --draw       # verdict and figure from the CSV
    python experiments/paper/recovery.py --quick      # seconds, for the test suite

V = 500, k = 20, alpha 1/20 each, eta standard normal, as in the paper, which states no noise: 0.1
and 1.  Methods are told alpha0 and the noise variance.  "Algorithm 1" (two-stage) and "Algorithm 2"
(joint) are those of the paper as printed, with corrected formulas; "default" is ``SpectralSLDA``,
which takes another road where the moments of few documents do not show twenty topics (``road``).
Errors are means over topics that are matched to the truth: of mu the L1 distance, at most 2.  Error
bars are standard deviations over trials, each with a truth of its own, the same for all n; slopes
are those of log error on log n, fitted to each trial.  Trials in the CSV are not run again.
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from trials import Row, chosen, in_processes, mean_and_error, over_trials, run, said, slopes
from writing import known

from topicprism import SpectralSLDA
from topicprism.datasets import draw_corpus, draw_model
from topicprism.evaluation import recovery_errors
from topicprism.model import TooManyTopics

V, K, ALPHA0 = 500, 20, 1.0
SIZES = tuple(2**p for p in range(8, 16))
LENGTHS = 250, 500
NOISES = 0.1, 1.0
TRIALS = 3  # as the paper has
WAYS = {
    "Algorithm 1": {"regime": "paper", "method": "two-stage"},
    "Algorithm 2": {"regime": "paper", "method": "joint"},
    "default (two-stage)": {"method": "two-stage"},
    "default (joint)": {"method": "joint"},
}
PARAMETERS = "alpha", "eta", "mu"
FASTER = 0.1  # a rate that is "much higher": n^-0.6 for n^-0.5


def trial(task: tuple[int, int, int, float, int]) -> list[Row]:
    """Errors of each way on the documents of one truth."""
    k, n, length, noise, seed = task
    truth = draw_model(V, k, np.random.default_rng(seed), noise=noise)
    X, y, _ = draw_corpus(truth, n, length, np.random.default_rng([seed, n, length]))
    found = []
    for way, how in WAYS.items():
        model = SpectralSLDA(k, alpha0=ALPHA0, noise_variance=noise**2, random_state=seed, **how)
        row = {"words": length, "noise": noise, "n": n, "trial": seed, "way": way, "road": "none"}
        errors = dict.fromkeys(PARAMETERS, float("nan"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.fit(X, y)
            except TooManyTopics:
                found.append(row | errors)
                continue
        row["road"] = _road(model)
        if model.model_.n_topics == k:
            errors = vars(recovery_errors(model.model_, truth))
        found.append(row | {name: errors[name] for name in PARAMETERS})
    return found


def _road(model: Any) -> str:
    if model.regime == "paper":
        return "paper"
    return "text" if model.selection_.reasons["method"].startswith("not one") else "model"


def rows(asked: argparse.Namespace) -> Iterator[Row]:
    k, sizes, lengths, noises, n_trials = K, SIZES, LENGTHS, NOISES, asked.trials
    if asked.quick:
        k, sizes, lengths, noises, n_trials = 3, (512, 2048), (60, 120), (0.1,), 2
    done = known(asked.path, "words", "noise", "n", "trial")
    tasks = [
        (k, n, length, noise, seed)
        for noise in noises for length in lengths for n in sizes for seed in range(n_trials)
        if not done(length, noise, n, seed)
    ]  # fmt: skip
    return in_processes(trial, tasks, asked.jobs, cost=lambda task: task[1] * task[2])


def settings(found: list[Row]) -> list[tuple[int, float]]:
    return sorted({(row["words"], row["noise"]) for row in found}, key=lambda s: (s[1], s[0]))


def difference(found: list[Row], quantity: str) -> tuple[float, float, float, float]:
    """Slopes of Algorithms 1 and 2, and by how much the second is steeper, with its error."""
    one, two = (slopes(chosen(found, way=f"Algorithm {i}"), quantity, "n") for i in (1, 2))
    both = sorted(one.keys() & two.keys())
    steeper, error = mean_and_error(one[t] - two[t] for t in both)
    return mean_and_error(one.values())[0], mean_and_error(two.values())[0], steeper, error


def verdict(found: list[Row]) -> list[str]:
    printed = [row for row in found if row["road"] in ("paper", "none")]
    return [
        *consistent(printed), *same_rates(printed), *faster(printed), *longer(printed),
        *default(found),
    ]  # fmt: skip


def consistent(found: list[Row]) -> list[str]:
    rising, last = [], []
    for length, noise in settings(found):
        for way in sorted({row["way"] for row in found}):
            some = chosen(found, words=length, noise=noise, way=way)
            for name in PARAMETERS:
                n, mean, _ = over_trials(some, name, "n")
                rises = [str(at) for at, r in zip(n[1:], np.diff(mean), strict=True) if r > 0]
                rising += [f"{name} of {way} at {at} ({length} words, noise {noise:g})"
                           for at in rises]  # fmt: skip
                last.append(mean[-1] / mean[0])
    share = f"at the largest n errors are {min(last):.3f} to {max(last):.3f} of those at the first"
    return said(
        "All errors decrease consistently with n in both methods.",
        "reproduced" if not rising else "reproduced but for single steps",
        share + (f"; the mean rises to {', '.join(rising)}" if rising else ", and no mean rises"),
    )


def same_rates(found: list[Row]) -> list[str]:
    lines, apart = [], []
    for length, noise in settings(found):
        for name in ("alpha", "mu"):
            one, two, steeper, _ = difference(chosen(found, words=length, noise=noise), name)
            lines.append(f"{name} {one:.2f} and {two:.2f} ({length} words, noise {noise:g})")
            apart.append(abs(steeper))
    return said(
        "The rates of alpha and mu are almost the same for the two methods.",
        "reproduced" if max(apart) < FASTER else "not reproduced",
        "slopes of Algorithms 1 and 2: " + "; ".join(lines),
    )


def faster(found: list[Row]) -> list[str]:
    lines, holds = [], []
    for length, noise in settings(found):
        some = chosen(found, words=length, noise=noise)
        one, two, steeper, error = difference(some, "eta")
        ratio = [
            over_trials(chosen(some, way="Algorithm 2"), "eta", "n")[1][i]
            / over_trials(chosen(some, way="Algorithm 1"), "eta", "n")[1][i]
            for i in (0, -1)
        ]
        lines.append(
            f"slopes {one:.2f} (two-stage) and {two:.2f}, steeper by {steeper:.3f} ± {error:.3f}, "
            f"and the joint method's error {ratio[0]:.2f} of the other's at the smallest n, "
            f"{ratio[1]:.2f} at the largest ({length} words, noise {noise:g})"
        )
        holds.append(steeper > FASTER and steeper > 2 * error)
    how = {len(holds): "reproduced", 0: "not reproduced"}.get(sum(holds), "differs")
    return said(
        "eta converges at a much higher rate in the joint method than in the two-stage method.",
        how,
        "; ".join(lines),
    )


def longer(found: list[Row]) -> list[str]:
    short, long = min(s[0] for s in settings(found)), max(s[0] for s in settings(found))
    lines, holds = [], []
    for noise in sorted({row["noise"] for row in found}):
        for name in PARAMETERS:
            _, few, _ = over_trials(chosen(found, noise=noise, words=short), name, "n")
            _, many, _ = over_trials(chosen(found, noise=noise, words=long), name, "n")
            ratio = many / few
            lines.append(f"{name} {span(ratio)} (noise {noise:g})")
            holds.append(ratio.max() < 0.9)
    return said(
        f"Errors are significantly smaller with {long} words in a document than with {short}.",
        "reproduced" if all(holds) else "reproduced in part" if any(holds) else "not reproduced",
        "ratio of errors, both methods together, least to largest over n: " + "; ".join(lines),
    )


def default(found: list[Row]) -> list[str]:
    """No claim of the paper: what the default does beside its algorithms."""
    lines = []
    for length, noise in settings(found):
        some = chosen(found, words=length, noise=noise)
        for way, printed in (("default (two-stage)", 1), ("default (joint)", 2)):
            if not chosen(some, way=way):
                continue
            text = {row["n"] for row in chosen(some, way=way, road="text")}
            sizes = np.array(sorted({row["n"] for row in some}))
            as_text = sizes <= max(text, default=0)
            for there, road in ((as_text, "text"), (~as_text, "model")):
                if not there.any():
                    continue
                of = ", ".join(
                    f"{name} " + span(
                        over_trials(chosen(some, way=way), name, "n")[1][there]
                        / over_trials(chosen(some, way=f"Algorithm {printed}"), name, "n")[1][there]
                    )
                    for name in PARAMETERS
                )  # fmt: skip
                lines.append(
                    f"{way}, {road}, n = {sizes[there][0]} to {sizes[there][-1]}: {of} "
                    f"({length} words, noise {noise:g})"
                )
    if not lines:
        return []
    what = "errors of the default over those of the algorithm as printed, least to largest over n"
    return [f"NOTE     {what}, by the regime it finds: {'; '.join(lines)}"]


def span(ratio: np.ndarray) -> str:
    return f"{ratio.min():.2f} to {ratio.max():.2f}"


def draw(found: list[Row], path: Path) -> None:
    import matplotlib.pyplot as plt

    sets, ways = settings(found), list(dict.fromkeys(row["way"] for row in found))
    figure, axes = plt.subplots(len(sets), 3, figsize=(10, 2.7 * len(sets)), squeeze=False)
    for (length, noise), line in zip(sets, axes, strict=True):
        for name, ax in zip(PARAMETERS, line, strict=True):
            for i, way in enumerate(ways):
                some = chosen(found, words=length, noise=noise, way=way)
                if not any(np.isfinite(row[name]) for row in some):
                    continue
                n, mean, sd = over_trials(some, name, "n")
                style = "o-" if way.startswith("Algorithm") else "x:"
                ax.errorbar(n, mean, np.minimum(sd, 0.9 * mean), fmt=style, color=f"C{i}",
                            ms=3, lw=1, capsize=2, label=way)  # fmt: skip
            ax.set_xscale("log", base=2)
            ax.set_yscale("log")
            ax.set_title(f"{name}: {length} words, noise {noise:g}", fontsize=9)
    axes[0, 0].legend(frameon=False, fontsize=7)
    figure.supxlabel("documents")
    figure.supylabel("mean L1 error")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    run(__doc__, "recovery", rows, verdict, draw, trials=TRIALS)
