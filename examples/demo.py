"""Learn 20,000 documents with a known truth by both methods; print and draw what came out.

python examples/demo.py
"""

import time
from pathlib import Path

import matplotlib
import numpy as np

from topicprism import SpectralSLDA, infer
from topicprism.datasets import draw_corpus, draw_model
from topicprism.evaluation import match, pr2, recovery_errors
from topicprism.inference import predict

DOCUMENTS, HELD_OUT, WORDS, TOPICS, LENGTH = 20_000, 2_000, 500, 10, 100
PICTURE = Path(__file__).resolve().parents[1] / "results" / "demo.png"


def main() -> None:
    rng = np.random.default_rng(0)
    truth = draw_model(WORDS, TOPICS, rng)
    X, y, _ = draw_corpus(truth, DOCUMENTS, LENGTH, rng)
    X_new, y_new, _ = draw_corpus(truth, HELD_OUT, LENGTH, rng)
    print(f"{DOCUMENTS:,} documents of {LENGTH} words, {WORDS} words, {TOPICS} topics\n")

    fitted, seconds = {}, {}
    for method in ("joint", "two-stage"):
        start = time.perf_counter()
        estimator = SpectralSLDA(TOPICS, method=method, n_jobs=-1, random_state=0)
        fitted[method] = estimator.fit(X, y)
        seconds[method] = time.perf_counter() - start
    aligned = {m: e.model_.reordered(match(e.model_, truth)) for m, e in fitted.items()}

    print("what each topic does to the response")
    print("  topic     truth     joint  two-stage")
    for i in np.argsort(truth.eta):
        row = (truth.eta[i], aligned["joint"].eta[i], aligned["two-stage"].eta[i])
        print(f"  {i:5d}" + "".join(f"{eta:10.3f}" for eta in row))

    oracle = pr2(y_new, predict(truth, infer(truth, X_new, n_threads=2)))
    print("\n                 pR2 on new documents   topic error (L1)   seconds")
    print(f"  true parameters           {oracle:10.3f}               0.000")
    for method, estimator in fitted.items():
        error = recovery_errors(estimator.model_, truth).mu
        score = estimator.score(X_new, y_new)
        print(
            f"  {method:15s}           {score:10.3f}          {error:10.3f}{seconds[method]:10.1f}"
        )
    draw(truth, aligned)
    print(f"\npicture: {PICTURE.parent.name}/{PICTURE.name}")


def draw(truth, aligned) -> None:
    """Recovered against true: coefficients on the left, word probabilities on the right."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    looks = {"joint": ("o", "#0b6e99"), "two-stage": ("x", "#d9730d")}
    for method, model in aligned.items():
        marker, colour = looks[method]
        left.plot(truth.eta, model.eta, marker, color=colour, label=method, ms=7, alpha=0.8)
        right.plot(truth.mu, model.mu, ".", color=colour, ms=2, mew=0, alpha=0.4)
    left.set(title="effect of each topic on the response", xlabel="truth", ylabel="recovered")
    right.set(title="probability of each word in each topic", xlabel="truth", ylabel="recovered")
    for axes in (left, right):
        axes.axline((0, 0), slope=1, color="0.6", lw=1, zorder=0)
        axes.spines[["top", "right"]].set_visible(False)
    left.legend(frameon=False)
    PICTURE.parent.mkdir(exist_ok=True)
    fig.savefig(PICTURE, dpi=150)
    plt.close(fig)


if __name__ == "__main__":
    main()
