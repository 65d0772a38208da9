"""Figure 3 of the paper and more: samplers and spectral methods where the truth is known.

    python experiments/samplers_synthetic.py            # about ten minutes
    python experiments/samplers_synthetic.py --quick    # seconds, for the test suite

V=500, k=20, 500 words, noise 0.1, alpha 1/20 each, as in the paper; 1,000 documents
to test on, three models, means and standard deviations over them.  The likelihood is
the paper's, per word, with proportions inferred from the same words.
"""

import argparse

import numpy as np

from topicprism import GibbsSLDA, HybridSLDA, SpectralSLDA, infer
from topicprism.datasets import draw_corpus, draw_model
from topicprism.evaluation import word_log_likelihood
from topicprism.inference import predict

WAYS = {
    "Gibbs, the paper's stop": lambda k, n: GibbsSLDA(k, burn_in=1000, n_kept=10, tolerance=1e-3),
    "Gibbs, 300 sweeps": lambda k, n: GibbsSLDA(k, burn_in=n - n // 6, n_kept=n // 6),
    "Gibbs on assignments": lambda k, n: GibbsSLDA(
        k, response="assignments", burn_in=n - n // 6, n_kept=n // 6
    ),
    "two-stage": lambda k, n: SpectralSLDA(k, method="two-stage"),
    "joint": lambda k, n: SpectralSLDA(k),
    "hybrid, the paper's": lambda k, n: HybridSLDA(
        k, learn_alpha=False, refit=False, beta=0.1, burn_in=n // 6, n_kept=n // 6
    ),
    "hybrid": lambda k, n: HybridSLDA(k, burn_in=n // 3, n_kept=n),
}


def trial(n_documents, V, k, length, n_sweeps, n_test, seed, ways):
    """MSE and log-likelihood of each way on new documents of one model."""
    rng = np.random.default_rng(seed)
    truth = draw_model(V, k, rng)
    X, y, _ = draw_corpus(truth, n_documents, length, rng)
    new, y_new, _ = draw_corpus(truth, n_test, length, rng)
    h = infer(truth, new, n_threads=2)
    true = np.mean((y_new - predict(truth, h)) ** 2), word_log_likelihood(truth, new, h)
    scores = {}
    for name, way in ways.items():
        model = way(k, n_sweeps).set_params(random_state=seed, n_jobs=2)
        if hasattr(model, "cross_fit"):
            model.set_params(cross_fit=False)  # predictions do not depend on effects
        model.fit(X, y)
        likelihood = word_log_likelihood(model.model_, new, model.transform(new))
        scores[name] = np.mean((y_new - model.predict(new)) ** 2), likelihood
    scores["the true model"] = true
    return scores


def main(quick: bool, only: list[str]) -> None:
    ways = {name: way for name, way in WAYS.items() if not only or name in only}
    documents, sizes, seeds = (
        ([300], (60, 3, 60, 18, 100), [0])
        if quick
        else ([1000, 10_000], (500, 20, 500, 300, 1000), [0, 1, 2])
    )
    print("documents  way                        MSE                 log-likelihood per word")
    for n in documents:
        trials = [trial(n, *sizes, seed, ways) for seed in seeds]
        for name in trials[0]:
            each = np.array([t[name] for t in trials])
            (mse, fit), (sd, spread) = each.mean(axis=0), each.std(axis=0)
            print(f"{n:9,}  {name:24s}  {mse:7.4f} ± {sd:.4f}  {fit:10.4f} ± {spread:.4f}",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", choices=list(WAYS), default=[])
    args = parser.parse_args()
    main(args.quick, args.only)
