"""How well do ways to infer h predict, given the true parameters?

    python experiments/inference.py            # about two minutes
    python experiments/inference.py --quick    # seconds, for the test suite

V=500, k=10, 100 words a document, noise 0.1, 2,000 documents, three models.  The
mean-field and collapsed variational rivals are written out below; the seconds are
for one thread and mean something only next to each other.  Then: how far off are documents on
which sweeps do not settle, and how many long documents do not settle at all?
"""

import argparse
import time
import warnings

import numba as nb
import numpy as np
from scipy.sparse import csr_array

from topicprism import EPInference, GibbsInference, Model, infer
from topicprism.datasets import draw_corpus, draw_model
from topicprism.evaluation import pr2
from topicprism.inference import posterior, predict


@nb.njit(cache=True)
def digamma(x):
    total = 0.0
    while x < 6.0:
        total -= 1.0 / x
        x += 1.0
    f = 1.0 / (x * x)
    return total + np.log(x) - 0.5 / x - f * (1 / 12 - f * (1 / 120 - f / 252))


@nb.njit(cache=True)
def mean_field(indptr, words, counts, mu, alpha, n_sweeps, h):
    """phi ~ mu[w] exp(digamma(gamma)); gamma = alpha + counts @ phi."""
    for d in range(len(h)):
        gamma = alpha + counts[indptr[d] : indptr[d + 1]].sum() / len(alpha)
        for _ in range(n_sweeps):
            weight = np.array([np.exp(digamma(g)) for g in gamma])
            gamma = alpha.copy()
            for j in range(indptr[d], indptr[d + 1]):
                phi = mu[words[j]] * weight
                gamma += counts[j] / phi.sum() * phi
        h[d] = gamma / gamma.sum()


@nb.njit(cache=True)
def cvb0(indptr, words, counts, mu, alpha, n_sweeps, h):
    """phi ~ mu[w] (alpha + expected counts of the other words)."""
    for d in range(len(h)):
        a, b = indptr[d], indptr[d + 1]
        phi = np.zeros((b - a, len(alpha)))
        g = alpha.copy()
        for sweep in range(n_sweeps + 1):
            for j in range(b - a):
                if sweep:
                    g -= phi[j]
                new = mu[words[a + j]] * g
                g += (phi[j] if sweep else 0 * new) - counts[a + j] * phi[j]
                phi[j] = new / new.sum()
                g += counts[a + j] * phi[j]
        h[d] = g / g.sum()


def variational(kernel, n_sweeps):
    def run(model, X):
        h = np.empty((X.shape[0], model.n_topics))
        kernel(X.indptr, X.indices, X.data, model.mu, model.alpha, n_sweeps, h)
        return h

    return run


def ours(how):
    return lambda model, X: infer(model, X, how)


WAYS = {
    "mean-field variational, 20 sweeps": variational(mean_field, 20),
    "mean-field variational, 200 sweeps": variational(mean_field, 200),
    "collapsed variational (CVB0), 50 sweeps": variational(cvb0, 50),
    "Gibbs, 50 + 50 sweeps": ours(GibbsInference(50, 50)),
    "Gibbs, 100 + 400 sweeps": ours(GibbsInference(100, 400)),
    "Gibbs, 100 + 900 sweeps (our Gibbs mode)": ours(GibbsInference()),
    "expectation propagation (our default)": ours(EPInference()),
    "Gibbs, 500 + 4,000 sweeps": ours(GibbsInference(500, 4000)),
}


def main(quick: bool) -> None:
    n_documents, seeds = (200, [0]) if quick else (2000, [0, 1, 2])
    ways = {n: w for n, w in WAYS.items() if not quick or "Gibbs" not in n}
    scores, seconds = {n: [] for n in ways}, {n: [] for n in ways}
    for seed in seeds:
        rng = np.random.default_rng(seed)
        truth = draw_model(500, 10, rng)
        X, y, _ = draw_corpus(truth, n_documents, 100, rng)
        for name, way in ways.items():
            way(truth, X[:2])  # compile
            start = time.perf_counter()
            scores[name].append(pr2(y, predict(truth, way(truth, X))))
            seconds[name].append(time.perf_counter() - start)
    base = np.mean(seconds["expectation propagation (our default)"])
    print(f"{'way':42s} {'pR2':>6s}  {'time, EP = 1':>12s}   pR2 of each model")
    for name in ways:
        each = " ".join(f"{s:.4f}" for s in scores[name])
        ratio = np.mean(seconds[name]) / base
        print(f"{name:42s} {np.mean(scores[name]):6.4f}  {ratio:12.1f}   {each}")


def not_settling(n_documents: int, chain: GibbsInference) -> None:
    """100 words from 50 topics, alpha0 = 1: documents that are filtered, against a long chain."""
    rng = np.random.default_rng(0)
    truth = draw_model(2000, 50, rng)
    X, _, _ = draw_corpus(truth, n_documents, 100, rng)
    stopped, ours = (infer(truth, X, EPInference(50, must_settle=s)) for s in (False, True))
    other = np.abs(stopped - ours).max(axis=1) > 0
    exact = infer(truth, X[other], chain)
    away = [np.abs(h[other] - exact).sum(axis=1).mean() for h in (stopped, ours)]
    print(
        f"{other.sum()} of {n_documents} documents are filtered: L1 to {chain} is {away[1]:.2f}, "
    )
    print(f"and {away[0]:.2f} where the sweeps stop")


def long_documents(seeds: list[int]) -> None:
    """1,500 to 10^9 words, alpha0 0.03 to 30, 2 to 50 topics: how many do not settle."""
    unsettled, n = 0, 0
    for seed in seeds:
        for k in (2, 3, 10, 50):
            for alpha0 in (0.03, 0.1, 1.0, 30.0):
                for concentration in (0.05, 0.3, 1.0):
                    rng = np.random.default_rng(seed)
                    mu = rng.dirichlet(np.full(300, concentration), k).T + 1e-9
                    model = Model(np.full(k, alpha0 / k), mu / mu.sum(axis=0), np.zeros(k), 0.1)
                    H = [rng.dirichlet(model.alpha + 1e-3), rng.dirichlet(np.ones(k)), np.eye(k)[0]]
                    P = [model.mu @ h / (model.mu @ h).sum() for h in H]
                    sizes = (1500, 3000, 10**4, 10**5, 10**6, 10**9)
                    X = csr_array(np.stack([rng.multinomial(m, p) for m in sizes for p in P]))
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        unsettled += int((~posterior(model, X).settled).sum())
                    n += X.shape[0]
    print(f"{unsettled} of {n} long documents do not settle")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    main(quick)
    not_settling(
        20 if quick else 400, GibbsInference(50, 100) if quick else GibbsInference(500, 3000)
    )
    long_documents([0] if quick else [0, 1, 2])
