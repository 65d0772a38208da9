"""Figure 5: errors and likelihoods of new documents against the number of training documents.

    python experiments/paper/training_size.py --jobs 16    # under ten minutes
    python experiments/paper/training_size.py --jobs 2     # an hour
    python experiments/paper/training_size.py --draw       # verdict and figure from the CSV
    python experiments/paper/training_size.py --quick      # seconds, for the test suite

V = 500, 500 words, alpha 1/k each, eta standard normal, as in the paper; noise 0.1, which it does
not state; 1,000 new documents of the same truth, one truth for each trial.  All are told k and
alpha0, the spectral methods the noise variance too, and "alpha0 doubled" a wrong alpha0.  Chains
have a random start but for the hybrids, which Figure 5 does not have.  "The paper's stop" ends a
chain when the likelihood changes by less than 1e-3.  Proportions of new documents are inferred by
expectation propagation for all, and for some by Gibbs sampling too, which is the paper's.  The
likelihood is the paper's, per word, of the words that the proportions are inferred from.
There is one trial, and of VARIED numbers of topics and documents three; ``--trials`` gives more.
Rows that are in the CSV are not measured again.
"""

import argparse
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from trials import Row, chosen, in_processes, over_trials, run, said
from writing import known

from topicprism import GibbsSLDA, HybridSLDA, Model, SpectralSLDA, infer
from topicprism.datasets import draw_corpus, draw_model
from topicprism.evaluation import word_log_likelihood
from topicprism.inference import GibbsInference, predict
from topicprism.model import TooManyTopics

V, LENGTH, ALPHA0, NOISE = 500, 500, 1.0, 0.1
TOPICS = 20, 50
SIZES = 1_000, 2_000, 4_000, 6_000, 8_000, 10_000
TESTED, TRIALS, SWEEPS = 1_000, 1, 300
VARIED = {(20, 1_000): 3, (20, 2_000): 3}  # trials at least, for the deviations between them
HYBRIDS = {(20, 1_000), (20, 10_000)}
TRUTH = "the true model"
BY_GIBBS = "Algorithm 1", "Algorithm 2", "Gibbs, fixed sweeps", TRUTH
GIBBS = GibbsInference(burn_in=100, n_sweeps=300)
NEAR, COMPARABLE, STILL_GOOD = 1.1, 1.1, 1.25  # ratios of mean squared errors


def spectral(k: int, method: str, alpha0: float = ALPHA0, **how: Any) -> SpectralSLDA:
    return SpectralSLDA(k, method=method, alpha0=alpha0, noise_variance=NOISE**2, **how)


def sampled(k: int, sweeps: int, response: str) -> GibbsSLDA:
    kept = sweeps // 6
    return GibbsSLDA(
        k, response=response, alpha0=ALPHA0, burn_in=sweeps - kept, n_kept=kept, cross_fit=False
    )


WAYS = {
    "Gibbs, the paper's stop": lambda k, n: GibbsSLDA(
        k, alpha0=ALPHA0, burn_in=1_000, n_kept=10, tolerance=1e-3, cross_fit=False
    ),
    "Gibbs, fixed sweeps": lambda k, n: sampled(k, n, "mixture"),
    "Gibbs on assignments": lambda k, n: sampled(k, n, "assignments"),
    "Algorithm 1": lambda k, n: spectral(k, "two-stage", regime="paper"),
    "Algorithm 2": lambda k, n: spectral(k, "joint", regime="paper"),
    "Algorithm 1, alpha0 doubled": lambda k, n: spectral(
        k, "two-stage", 2 * ALPHA0, regime="paper"
    ),
    "Algorithm 2, alpha0 doubled": lambda k, n: spectral(k, "joint", 2 * ALPHA0, regime="paper"),
    "default (two-stage)": lambda k, n: spectral(k, "two-stage"),
    "default (joint)": lambda k, n: spectral(k, "joint"),
    "hybrid, the paper's": lambda k, n: HybridSLDA(
        k, regime="paper", alpha0=ALPHA0, burn_in=n // 6, n_kept=n // 6
    ),
    "hybrid": lambda k, n: HybridSLDA(k, burn_in=n // 3, n_kept=n),
}


def trial(task: tuple[int, int, int, str, int, int]) -> list[Row]:
    """Scores of one way on new documents of one truth."""
    k, n, seed, way, sweeps, n_tested = task
    rng = np.random.default_rng(seed)
    truth = draw_model(V, k, rng, noise=NOISE)
    X, y, _ = draw_corpus(truth, n, LENGTH, rng)
    new, y_new, _ = draw_corpus(truth, n_tested, LENGTH, rng)
    row = {"k": k, "n": n, "trial": seed, "way": way}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if way == TRUTH:
            model, y_hat, h = truth, None, infer(truth, new)
        else:
            found = WAYS[way](k, sweeps).set_params(random_state=seed)
            try:
                found.fit(X, y)
            except TooManyTopics:
                nothing = {"mse": float("nan"), "likelihood": float("nan")}
                return [row | {"inference": "propagation"} | nothing]
            model, y_hat, h = found.model_, found.predict(new), found.transform(new)
        scored = [("propagation", h, y_hat)]
        if way in BY_GIBBS:
            scored.append(("gibbs", infer(model, new, GIBBS), None))
    return [
        row | {"inference": how} | scores(model, new, y_new, h, y_hat) for how, h, y_hat in scored
    ]


def scores(model: Model, new: Any, y: np.ndarray, h: np.ndarray, y_hat: Any) -> Row:
    y_hat = predict(model, h) if y_hat is None else y_hat
    mse, likelihood = np.mean((y - y_hat) ** 2), word_log_likelihood(model, new, h)
    return {"mse": float(mse), "likelihood": f"{likelihood:.5f}"}  # its fourth decimal counts


def rows(asked: argparse.Namespace) -> Iterator[Row]:
    topics, sizes, n_trials = asked.topics, asked.sizes, asked.trials
    sweeps, n_tested, hybrids = SWEEPS, TESTED, HYBRIDS
    if asked.quick:
        topics, sizes, n_trials, sweeps, n_tested, hybrids = (3,), (200, 400), 2, 24, 60, {(3, 200)}
    done = known(asked.path, "k", "n", "trial", "way")
    tasks = [
        (k, n, seed, way, sweeps, n_tested)
        for k in topics for n in sizes for seed in range(max(n_trials, VARIED.get((k, n), 0)))
        for way in (*WAYS, TRUTH)
        if (not way.startswith("hybrid") or (k, n) in hybrids) and not done(k, n, seed, way)
    ]  # fmt: skip
    return in_processes(trial, tasks, asked.jobs, cost)


def cost(task: tuple[int, int, int, str, int, int]) -> float:
    k, n, _, way, _, _ = task
    chain = {"Gibbs, fixed sweeps": 1.0, "Gibbs on assignments": 1.4, "hybrid": 1.5}
    return n * (20 + k) * chain.get(way, 0.1)


def verdict(found: list[Row]) -> list[str]:
    whole = complete(found)
    ours = chosen(whole, inference="propagation")
    return [
        *table(found), *outperform(ours), *vary_less(chosen(found, inference="propagation")),
        *near_the_truth(whole), *comparable(ours), *monotone(ours), *insensitive(ours),
        *by_either(whole),
    ]  # fmt: skip


def complete(found: list[Row]) -> list[Row]:
    """Trials that have every n: others would mix truths along n."""
    sizes = {k: {row["n"] for row in chosen(found, k=k)} for k in topics_of(found)}
    have: dict[tuple[int, int], set[int]] = {}
    for row in found:
        have.setdefault((row["k"], row["trial"]), set()).add(row["n"])
    return [row for row in found if have[row["k"], row["trial"]] == sizes[row["k"]]]


def table(found: list[Row]) -> list[str]:
    lines = ["", f"{'k':>3} {'n':>6}  {'way':28} {'inference':12} {'MSE':>17} {'likelihood':>18}"]
    keys = dict.fromkeys(_key(row) for row in found)
    for k, n, way, how in sorted(keys, key=lambda key: key[:2]):
        some = chosen(found, k=k, n=n, way=way, inference=how)
        (mse, sd), (words, spread) = (
            (np.mean(v), np.std(v)) for v in ([r[q] for r in some] for q in ("mse", "likelihood"))
        )
        lines.append(f"{k:3} {n:6,}  {way:28} {how:12} {mse:8.4f} ± {sd:.4f} "
                     f"{words:9.4f} ± {spread:.4f}")  # fmt: skip
    return [*lines, ""]


def _key(row: Row) -> tuple[int, int, str, str]:
    return row["k"], row["n"], row["way"], row["inference"]


def curve(found: list[Row], k: int, way: str, quantity: str = "mse") -> np.ndarray:
    """Means over trials, along n."""
    return over_trials(chosen(found, k=k, way=way), quantity, "n")[1]


def over_truth(found: list[Row], k: int, way: str, inference: str) -> np.ndarray:
    some = chosen(found, inference=inference)
    return curve(some, k, way) / curve(some, k, TRUTH)


def excess(found: list[Row], k: int, way: str) -> list[list[float]]:
    """MSE less that of the truth: the trials of each n that has several."""
    of = [{(r["n"], r["trial"]): r["mse"] for r in chosen(found, k=k, way=w)} for w in (way, TRUTH)]
    by_n: dict[int, list[float]] = {}
    for n, trial in sorted(of[1]):
        by_n.setdefault(n, []).append(of[0][n, trial] - of[1][n, trial])
    return [values for values in by_n.values() if len(values) > 1]


def topics_of(found: list[Row]) -> list[int]:
    return sorted({row["k"] for row in found})


CHAINS = "Gibbs, the paper's stop", "Gibbs, fixed sweeps", "Gibbs on assignments"
ALGORITHMS = "Algorithm 1", "Algorithm 2"


def outperform(found: list[Row]) -> list[str]:
    lines, holds = [], []
    for k in topics_of(found):
        for chain in CHAINS:
            worse = sum(
                int(np.sum(~(curve(found, k, way) < curve(found, k, chain))))
                + int(np.sum(~(curve(found, k, way, "likelihood")
                               > curve(found, k, chain, "likelihood"))))
                for way in ALGORITHMS
            )  # fmt: skip
            ratio = curve(found, k, chain) / curve(found, k, "Algorithm 2")
            lines.append(f"{chain} has {_range(ratio)} times the "
                         f"MSE of Algorithm 2, and is not worse in {worse} of "
                         f"{4 * len(ratio)} comparisons (k = {k})")  # fmt: skip
            holds.append((chain, worse == 0))
    own = all(ok for chain, ok in holds if chain != "Gibbs on assignments")
    how = "reproduced" if all(ok for _, ok in holds) else "reproduced for the paper's sampler"
    return said(
        "Both spectral methods consistently outperform Gibbs-sLDA, in MSE and in likelihood.",
        how if own else "differs",
        "; ".join(lines),
    )


def vary_less(found: list[Row]) -> list[str]:
    claim = "The spectral methods vary less than Gibbs-sLDA."
    lines, holds = [], []
    for k in topics_of(found):
        several = excess(found, k, ALGORITHMS[0])
        if not several:
            lines.append(f"there is one trial (k = {k})")
            continue
        sd = {
            way: np.nanmean([np.nanstd(values) for values in excess(found, k, way)])
            for way in (*ALGORITHMS, *CHAINS[1:])
        }
        lines.append(", ".join(f"{way} {s:.4f}" for way, s in sd.items())
                     + f" (k = {k}, {len(several)} sizes)")  # fmt: skip
        holds.append(max(sd[a] for a in ALGORITHMS) < min(sd[c] for c in CHAINS[1:]))
    how = "reproduced" if all(holds) else "differs"
    return said(
        claim,
        how if holds else "not measured",
        "standard deviation over trials of the MSE above the truth's, mean over n: "
        + "; ".join(lines),
    )


def near_the_truth(found: list[Row]) -> list[str]:
    lines, holds = [], []
    for k, way, how in product(topics_of(found), ALGORITHMS, ("propagation", "gibbs")):
        ratio = over_truth(found, k, way, how)
        lines.append(f"{way} {ratio[0]:.2f} at the smallest n and {ratio[-1]:.3f} at the "
                     f"largest (k = {k}, by {how})")  # fmt: skip
        holds.append(ratio[-1] < NEAR)
    return said(
        "With many training documents the spectral methods are very close to the true model.",
        "reproduced" if all(holds) else "reproduced in part" if any(holds) else "not reproduced",
        "MSE over that of the truth: " + "; ".join(lines),
    )


def _range(ratio: np.ndarray) -> str:
    return f"{np.nanmin(ratio):.2f} to {np.nanmax(ratio):.2f}"


def comparable(found: list[Row]) -> list[str]:
    ratios = {k: curve(found, k, "Algorithm 2") / curve(found, k, "Algorithm 1")
              for k in topics_of(found)}  # fmt: skip
    worst = max(max(np.nanmax(r), 1 / np.nanmin(r)) for r in ratios.values())
    return said(
        "The two-stage method and the joint one predict about equally well.",
        "reproduced" if worst < COMPARABLE else "differs",
        "MSE of Algorithm 2 over that of Algorithm 1: "
        + "; ".join(
            f"{np.nanmin(r):.2f} to {np.nanmax(r):.2f} (k = {k})" for k, r in ratios.items()
        ),
    )


def monotone(found: list[Row]) -> list[str]:
    lines, holds = [], []
    for k in topics_of(found):
        for chain in CHAINS:
            mse = curve(found, k, chain)
            rises = int(np.sum(np.diff(mse) > 0))
            lines.append(f"{chain} rises in {rises} of {len(mse) - 1} steps, from {mse[0]:.3f} to "
                         f"{mse[-1]:.3f} (k = {k})")  # fmt: skip
            holds.append(rises > 0)
    return said(
        "The error of Gibbs-sLDA does not fall monotonously, for it is caught in local minima.",
        "reproduced in part" if any(holds) else "not reproduced",
        "; ".join(lines) + ".  Whether by local minima or by too few sweeps was not tested",
    )


def insensitive(found: list[Row]) -> list[str]:
    lines, ratios = [], []
    for k in topics_of(found):
        for way in ALGORITHMS:
            ratio = curve(found, k, f"{way}, alpha0 doubled") / curve(found, k, way)
            ratios.append(ratio[-1])
            lines.append(f"{way} {_range(ratio)}, "
                         f"{ratio[-1]:.2f} at the largest n (k = {k})")  # fmt: skip
    return said(
        "Accuracy is still high with alpha0 twice as large as the truth.",
        "reproduced" if max(ratios) < STILL_GOOD else "differs",
        "MSE with alpha0 doubled over that with the true alpha0: " + "; ".join(lines),
    )


def by_either(found: list[Row]) -> list[str]:
    """No claim of the paper: what its inference changes beside ours."""
    ratios = []
    for k in topics_of(found):
        both = [chosen(found, inference=how) for how in ("gibbs", "propagation")]
        for way in BY_GIBBS:
            one, other = (curve(some, k, way) for some in both)
            ratios.append(f"{way} {np.nanmean(one / other):.3f} (k = {k})")
    what = "MSE with proportions by Gibbs sampling over that by propagation, mean over n"
    return [f"NOTE     {what}: {'; '.join(ratios)}"]


def draw(found: list[Row], path: Path) -> None:
    import matplotlib.pyplot as plt

    found = chosen(complete(found), inference="propagation")
    topics = topics_of(found)
    figure, axes = plt.subplots(
        2, len(topics), figsize=(5 * len(topics) + 2.5, 7), squeeze=False, layout="constrained"
    )
    shown = (*CHAINS, *ALGORITHMS, "Algorithm 2, alpha0 doubled", "default (joint)", TRUTH)
    for k, column in zip(topics, axes.T, strict=True):
        for quantity, ax in zip(("mse", "likelihood"), column, strict=True):
            for i, way in enumerate(shown):
                n, mean, sd = over_trials(chosen(found, k=k, way=way), quantity, "n")
                sign = -1 if quantity == "likelihood" else 1
                line = {"color": "k"} if way == TRUTH else {"color": f"C{i}"}
                ax.errorbar(
                    n, sign * mean, sd, lw=1, marker="o", ms=3, capsize=2, label=way, **line
                )
            ax.set_title(f"{'MSE' if quantity == 'mse' else '-log p per word'}, k = {k}")
        column[0].set_yscale("log")
    lines = axes[0, 0].get_legend_handles_labels()
    figure.legend(*lines, frameon=False, fontsize=9, loc="outside right center")
    figure.supxlabel("training documents")
    figure.savefig(path, dpi=110)


def more(reader: argparse.ArgumentParser) -> None:
    reader.add_argument("--topics", type=int, nargs="+", default=TOPICS, help="numbers of topics")
    reader.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="training documents")


if __name__ == "__main__":
    run(__doc__, "training_size", rows, verdict, draw, trials=TRIALS, more=more)
