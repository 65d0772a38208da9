"""Errors of moments and parameters of the two-stage method beside the bounds of Theorem 1.

    python experiments/paper/bounds.py            # a minute
    python experiments/paper/bounds.py --quick    # seconds, for the test suite

The truth is known, so that E_P, E_y, E_T and the errors of the whitened moments can be measured:
norms are spectral for matrices and Frobenius for tensors, which is more.  Bounds are those of the
corrected proof (docs/errata.md) with probability 0.95.  Of alpha, mu and eta the bound is the one
at the measured errors of the whitened moments: at the bounds of these it is infinite for every
number of documents here.  Written are medians over TRIALS corpora; ``bounds.png`` shows them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from writing import options, write

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
from topicprism.spectral.theory import bounds, parameter_bounds
from topicprism.spectral.whitening import whiten

V, K, LENGTH, TRIALS = 30, 3, 50, 5
SIZES = tuple(2**p for p in range(8, 18))
MEASURED = "E_P", "E_y", "E_T", "epsilon_y", "epsilon_t", "alpha", "mu", "eta"


def truth() -> Model:
    """Topics that share a tenth of their words, and effects of 0, 1 and 2."""
    own = np.repeat(np.eye(K), V // K, axis=0) * K / V
    return Model(np.full(K, 1 / K), 0.9 * own + 0.1 / V, np.arange(float(K)), 0.3)


def exact(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M2, My and M3 as sums over topics."""
    a, mu, a0 = model.alpha, model.mu, model.alpha.sum()
    c2, c3 = 1 / (a0 * (a0 + 1)), 2 / (a0 * (a0 + 1) * (a0 + 2))
    return (
        c2 * np.einsum("k,ik,jk->ij", a, mu, mu),
        c3 * np.einsum("k,ik,jk->ij", a * model.eta, mu, mu),
        c3 * np.einsum("k,ik,jk,lk->ijl", a, mu, mu, mu),
    )


def estimated(docs: Corpus, a0: float) -> Centred:
    basis = Basis(np.eye(V), np.eye(V), 0.0, 1.0)
    return centre(
        without_repeats(docs.total(sketch_sums, basis.B, 0.0, 1.0, EQUAL_WEIGHT_WORDS), basis), a0
    )


def measured(model: Model, n: int, rng: np.random.Generator) -> dict[str, float]:
    X, y, _ = draw_corpus(model, n, LENGTH, rng)
    docs, a0 = Corpus(X, y), float(model.alpha.sum())
    m, (M2, My, M3) = estimated(docs, a0), exact(model)
    W_hat = whiten(words_only(m).second, K, rng).W
    values, B = np.linalg.eigh(W_hat.T @ M2 @ W_hat)
    W = W_hat @ (B / np.sqrt(values)) @ B.T  # the W of the proof, which is nearest
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


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    model = truth()
    for n in SIZES[:3] if quick else SIZES:
        each = [measured(model, n, np.random.default_rng(i)) for i in range(2 if quick else TRIALS)]
        middle = {name: float(np.median([e[name] for e in each])) for name in MEASURED}
        bound = bounds(model, n)
        epsilon = max(middle["epsilon_y"], middle["epsilon_t"])
        of = dict(zip(("alpha", "mu", "eta"), parameter_bounds(model, epsilon), strict=True))
        for name in MEASURED:
            limit = of.get(name, getattr(bound, name))
            yield {"n": n, "quantity": name, "measured": middle[name], "bound": limit,
                   "ratio": limit / middle[name]}  # fmt: skip


def plot(found: list[dict[str, Any]], path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 4, figsize=(12, 5.5), sharex=True)
    for name, ax in zip(MEASURED, axes.flat, strict=True):
        of = [row for row in found if row["quantity"] == name]
        n = [row["n"] for row in of]
        ax.loglog(n, [row["bound"] for row in of], "--", color="0.5", label="bound")
        ax.loglog(n, [row["measured"] for row in of], "o-", color="C0", ms=3, label="measured")
        ax.set_title(name)
    axes[0, 0].legend(frameon=False)
    figure.supxlabel("documents")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    asked = options(__doc__)
    found = list(rows(asked.quick))
    write(asked.out / "bounds.csv", found)
    plot(found, asked.out / "bounds.png")
