"""Errors of moments and parameters of both methods beside the bounds of Theorems 1 and 2.

    python experiments/paper/bounds.py            # a minute
    python experiments/paper/bounds.py --draw     # verdict and figure from the CSV
    python experiments/paper/bounds.py --quick    # seconds, for the test suite

The truth is known, so that E_P, E_y, E_T and the errors of the whitened moments can be measured:
norms are spectral for matrices and Frobenius for tensors, which is more.  Bounds are those of the
corrected proofs (docs/errata.md) with probability 0.95; "joint" is of N2, N3 and Theorem 2, with
C = 1.  Of alpha, mu, eta and v = (mu, eta) the bound is the one at the measured errors of the
moments, whitened and, for v, of N2: at the bounds of these it is infinite for every number of
documents here.  Written are medians over TRIALS corpora; ``bounds.png`` shows them.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from trials import Row, chosen, run, said
from writing import known

from topicprism import Model
from topicprism.datasets import draw_corpus
from topicprism.documents.corpus import Corpus
from topicprism.evaluation import match
from topicprism.spectral.basis import Basis
from topicprism.spectral.centred import Centred, centre, response_slice, words_only
from topicprism.spectral.moments import sketch_sums
from topicprism.spectral.printed import EQUAL_WEIGHT_WORDS, learn_as_printed
from topicprism.spectral.settings import Settings
from topicprism.spectral.sketch import without_repeats
from topicprism.spectral.tensor import in_space
from topicprism.spectral.theory import (
    bounds,
    joint_bounds,
    joint_parameter_bounds,
    parameter_bounds,
)
from topicprism.spectral.whitening import whiten

V, K, LENGTH, TRIALS = 30, 3, 50, 5
SIZES = tuple(2**p for p in range(8, 18))
TWO_STAGE = "E_P", "E_y", "E_T", "epsilon_y", "epsilon_t", "alpha", "mu", "eta"
JOINT = "joint E_P", "joint E_T", "joint epsilon_t", "joint alpha", "joint v"


def truth() -> Model:
    """Topics that share a tenth of their words, and effects of 0, 1 and 2."""
    own = np.repeat(np.eye(K), V // K, axis=0) * K / V
    return Model(np.full(K, 1 / K), 0.9 * own + 0.1 / V, np.arange(float(K)), 0.3)


def exact(v: np.ndarray, model: Model) -> tuple[np.ndarray, np.ndarray]:
    """M2 and M3 as sums over topics, which are the columns of v; N2 and N3 with the effects."""
    a, a0 = model.alpha, model.alpha.sum()
    c2, c3 = 1 / (a0 * (a0 + 1)), 2 / (a0 * (a0 + 1) * (a0 + 2))
    return (
        c2 * np.einsum("k,ik,jk->ij", a, v, v),
        c3 * np.einsum("k,ik,jk,lk->ijl", a, v, v, v),
    )


def estimated(docs: Corpus, a0: float, sigma2: float = 0.0) -> Centred:
    basis = Basis(np.eye(V), np.eye(V), 0.0, 1.0)
    sums = docs.total(sketch_sums, basis.B, 0.0, 1.0, EQUAL_WEIGHT_WORDS)
    return centre(without_repeats(sums, basis), a0, sigma2)


def whitenings(
    estimate: np.ndarray, moment: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """That of the estimate, and the one of the moment itself that is nearest, as in the proof."""
    W_hat = whiten(estimate, K, rng).W
    values, B = np.linalg.eigh(W_hat.T @ moment @ W_hat)
    return W_hat, W_hat @ (B / np.sqrt(values)) @ B.T


def two_stage(model: Model, docs: Corpus, rng: np.random.Generator) -> dict[str, float]:
    a0 = float(model.alpha.sum())
    m, (N2, N3) = estimated(docs, a0), exact(np.vstack([model.mu, model.eta]), model)
    M2, M3, My = N2[:V, :V], N3[:V, :V, :V], N3[:V, :V, V]
    W_hat, W = whitenings(words_only(m).second, M2, rng)
    found = learn_as_printed(docs, K, a0, Settings("two-stage"), rng=rng).model
    found = found.reordered(match(found, model))
    return {
        "E_P": np.linalg.norm(words_only(m).second - M2, 2),
        "E_y": np.linalg.norm(response_slice(m) - My, 2),
        "E_T": np.linalg.norm(words_only(m).third - M3),
        "epsilon_y": np.linalg.norm(W_hat.T @ response_slice(m) @ W_hat - W.T @ My @ W, 2),
        "epsilon_t": np.linalg.norm(in_space(words_only(m).third, W_hat) - in_space(M3, W)),
        "alpha": np.abs(found.alpha - model.alpha).max(),
        "mu": np.linalg.norm(found.mu - model.mu, axis=0).max(),
        "eta": np.abs(found.eta - model.eta).max(),
    }


def joint(model: Model, docs: Corpus, rng: np.random.Generator) -> dict[str, float]:
    a0, sigma2 = float(model.alpha.sum()), model.sigma**2
    m, (N2, N3) = estimated(docs, a0, sigma2), exact(np.vstack([model.mu, model.eta]), model)
    W_hat, W = whitenings(m.second, N2, rng)
    how = Settings("joint", noise_variance=sigma2, word_scale=1.0)
    found = learn_as_printed(docs, K, a0, how, rng=rng).model
    found = found.reordered(match(found, model))
    off = np.vstack([found.mu - model.mu, found.eta - model.eta])
    return {
        "joint E_P": np.linalg.norm(m.second - N2, 2),
        "joint E_T": np.linalg.norm(m.third - N3),
        "joint epsilon_t": np.linalg.norm(in_space(m.third, W_hat) - in_space(N3, W)),
        "joint alpha": np.abs(found.alpha - model.alpha).max(),
        "joint v": np.linalg.norm(off, axis=0).max(),
    }


def limits(model: Model, n: int, of: dict[str, float]) -> dict[str, float]:
    """The bounds of what was measured; of parameters at the measured errors of moments."""
    if "mu" in of:
        at = parameter_bounds(model, max(of["epsilon_y"], of["epsilon_t"]))
        return vars(bounds(model, n)) | dict(zip(("alpha", "mu", "eta"), at, strict=True))
    both = np.vstack([model.mu, model.eta]) * np.sqrt(model.alpha / 2)
    sigma_k = np.linalg.svd(both, compute_uv=False)[-1]
    tensor, second = of["joint epsilon_t"], 6 * of["joint E_P"] / sigma_k**2
    alpha, _ = joint_parameter_bounds(model, tensor)
    _, v = joint_parameter_bounds(model, max(tensor, second))
    known_of = vars(joint_bounds(model, n)) | {"alpha": alpha, "v": v}
    return {f"joint {name}": value for name, value in known_of.items()}


def rows(asked: argparse.Namespace) -> Iterator[Row]:
    model, done = truth(), known(asked.path, "n", "quantity")
    for n in SIZES[:3] if asked.quick else SIZES:
        for measure, names in ((two_stage, TWO_STAGE), (joint, JOINT)):
            if done(n, names[0]):
                continue
            each = []
            for trial in range(2 if asked.quick else TRIALS):
                rng = np.random.default_rng(trial)
                X, y, _ = draw_corpus(model, n, LENGTH, rng)
                each.append(measure(model, Corpus(X, y), rng))
            middle = {name: float(np.median([e[name] for e in each])) for name in names}
            limit = limits(model, n, middle)
            for name in names:
                yield {"n": n, "quantity": name, "measured": middle[name], "bound": limit[name],
                       "ratio": limit[name] / middle[name]}  # fmt: skip


def verdict(found: list[Row]) -> list[str]:
    lines, slopes = [], {}
    for name in (*TWO_STAGE, *JOINT):
        of = chosen(found, quantity=name)
        n, error, ratio = (np.array([row[x] for row in of]) for x in ("n", "measured", "ratio"))
        slopes[name] = np.polyfit(np.log(n), np.log(error), 1)[0]
        lines.append(f"{name} {ratio.min():,.3g} to {ratio.max():,.3g}")
    least = min(row["ratio"] for row in found)
    return [*said(
        "The errors are below the bounds of Theorems 1 and 2 (here: corrected).",
        "reproduced" if least > 1 else "not reproduced",
        f"bounds over errors are, least to largest over n: {'; '.join(lines)}",
    ), "NOTE     slopes of log error on log n: "
       + "; ".join(f"{name} {slope:.2f}" for name, slope in slopes.items())]  # fmt: skip


def draw(found: list[Row], path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(3, 5, figsize=(14, 8), sharex=True)
    for name, ax in zip((*TWO_STAGE, *JOINT), axes.flat, strict=False):
        of = chosen(found, quantity=name)
        n = [row["n"] for row in of]
        ax.loglog(n, [row["bound"] for row in of], "--", color="0.5", label="bound")
        ax.loglog(n, [row["measured"] for row in of], "o-", color="C0", ms=3, label="measured")
        ax.set_title(name)
    for ax in axes.flat[len(TWO_STAGE) + len(JOINT) :]:
        ax.axis("off")
    for ax in axes[1, -2:]:
        ax.tick_params(labelbottom=True)
    axes.flat[-1].legend(*axes.flat[0].get_legend_handles_labels(), frameon=False, loc="center")
    figure.supxlabel("documents")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    run(__doc__, "bounds", rows, verdict, draw)
