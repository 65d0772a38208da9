"""How well do ways to infer h predict, given the true parameters?

    python experiments/inference.py            # about two minutes
    python experiments/inference.py --quick    # seconds, for the test suite
    python experiments/inference.py --grid     # errors against an oracle, cell by cell; seconds
    python experiments/inference.py --constants    # the grid's short documents, other constants

V=500, k=10, 100 words a document, noise 0.1, 2,000 documents, three models.  The
mean-field and collapsed variational rivals are written out below; the seconds are
for one thread and mean something only next to each other.  Then: how far off are documents on
which sweeps do not settle, how many long documents do not settle at all, and what do one-star
hotel reviews predict once they are joined?  The oracle is ``inference_grid.py``'s.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numba as nb
import numpy as np
from comparison.folder import DATA
from inference_grid import ALPHA0, LENGTHS, SHAPES, TOPICS, Cell, draw, stored
from scipy.sparse import csr_array

import topicprism
from topicprism import EPInference, GibbsInference, Model, infer, inference
from topicprism.datasets import draw_corpus, draw_model
from topicprism.evaluation import pr2
from topicprism.inference import posterior, predict
from topicprism.kernels import propagation

REVIEWS = DATA / "hotel_reviews.parquet"
CHAINS_AGREE = 0.05  # L1 from the mean of all to that of one, at most
OTHERWISE = {
    "max_blocked_share": (0.0, 0.1, 0.3, 0.5),
    "min_known_words": (0.0, 1.0, 2.0, 3.0, 5.0),
}


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
    stopped, ours = (infer(truth, X, EPInference(50, must_converge=s)) for s in (False, True))
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
                        unsettled += int((~posterior(model, X).converged).sum())
                    n += X.shape[0]
    print(f"{unsettled} of {n} long documents do not settle")


def errors(cell: Cell, oracle) -> tuple[np.ndarray, np.ndarray]:
    """L1 from the oracle's mean and ratio to its standard deviation, of each document."""
    drawn = draw(cell)
    known = posterior(Model(drawn.alpha, drawn.mu, drawn.eta, 0.1), csr_array(drawn.counts))
    std = np.sqrt(known.variance(drawn.eta))
    return np.abs(known.h - oracle.mean).sum(axis=1), std / oracle.std


def grid() -> None:
    """For each length and alpha0: mean and 95th percentile of L1; 5th to 95th of std ratios."""
    oracles = stored()
    all_found = {c: errors(c, oracle) for c, oracle in oracles.items()}
    for shape in SHAPES:
        for k in TOPICS:
            print(
                f"\n{k} {shape} topics; columns: alpha0.  L1: mean, 95th percentile; oracle's own"
            )
            print(f"{'words':>8s} " + " ".join(f"{a:^16g}" for a in ALPHA0))
            lines = []
            for length in LENGTHS:
                cells = [Cell(length, a, k, shape) for a in ALPHA0]
                found = [all_found[c] for c in cells]
                own = [oracles[c].apart.mean() / 2 for c in cells]
                row = (
                    f"{f[0].mean():.3f} {np.percentile(f[0], 95):.3f} {o:.3f}"
                    for f, o in zip(found, own, strict=True)
                )
                print(f"{length:8d} " + "  ".join(row))
                ratios = (np.percentile(f[1], (5, 50, 95)) for f in found)
                lines.append(
                    f"{length:8d} "
                    + "  ".join("{:4.2f} {:4.2f} {:4.2f} ".format(*r) for r in ratios)
                )
            print("ratio of standard deviations: 5th, 50th, 95th percentile", *lines, sep="\n")
    _worst(all_found, oracles)
    _deviations(all_found, oracles)


def _worst(found, oracles) -> None:
    """L1 of the cell with the worst alpha0, less half of what one chain is off their mean."""
    away = {c: max(f[0].mean() - oracles[c].apart.mean() / 2, 0) for c, f in found.items()}
    print("\nL1, the worst alpha0, less the oracle's own; columns: words")
    print(f"{'topics':12s}" + "".join(f"{n:>8d}" for n in LENGTHS))
    for shape in SHAPES:
        for k in TOPICS:
            row = (max(away[Cell(n, a, k, shape)] for a in ALPHA0) for n in LENGTHS)
            print(f"{k:<3d}{shape:9s}" + "".join(f"{x:8.2f}" for x in row))
    every = np.concatenate([f[0] for f in found.values()])
    print(f"all documents: mean {every.mean():.3f}, 95th percentile {np.percentile(every, 95):.2f}")


def _deviations(found, oracles) -> None:
    """Of eta . h: medians of cells over the oracle's, and how far off where its chains agree."""
    print("\nstandard deviation of eta . h: medians of cells over the oracle's; largest difference")
    for name, lengths in {"up to 100": LENGTHS[:4], "300": (300,), "1,000": (1000,)}.items():
        _deviation(f"{name} words", [c for c in found if c.length in lengths], found, oracles)
    longest = {n: [c for c in found if c.length == n] for n in LENGTHS[-2:]}
    for n, cells in longest.items():
        _deviation(f"{n:,} words", cells, found, oracles)


def _deviation(name: str, cells, found, oracles) -> None:
    """By whether topics are many and alike, where chains are too far apart to tell."""
    for few in (True, False):
        mine = [c for c in cells if few == (c.k <= 5 or c.shape == "peaked")]
        medians = [np.median(found[c][1]) for c in mine]
        off = [
            np.abs(found[c][1] - 1) * oracles[c].std * (oracles[c].apart < CHAINS_AGREE)
            for c in mine
        ]
        which = "peaked, or few" if few else "20 and 50 alike"
        print(
            f"{name:16s} {which:16s} {min(medians):5.2f} to {max(medians):5.2f} {np.max(off):8.3f}"
        )


def mean_error() -> float:
    """Over all cells of up to 300 words."""
    return float(np.mean([errors(c, o)[0].mean() for c, o in stored().items() if c.length <= 300]))


def constants() -> None:
    """Each value in a process of its own, since constants are compiled in."""
    for name, values in OTHERWISE.items():
        for value in values:
            code = (
                "from topicprism.kernels import propagation as p; "
                f"p.PROPAGATION = p.PROPAGATION._replace({name}={value}); "
                "import inference; print(inference.mean_error())"
            )
            with tempfile.TemporaryDirectory() as cache:
                environment = os.environ | {"NUMBA_CACHE_DIR": cache}
                run = [sys.executable, "-c", code]
                here = Path(__file__).parent
                done = subprocess.run(
                    run, cwd=here, env=environment, capture_output=True, check=True
                )
            usual = " (ours)" if value == getattr(propagation.PROPAGATION, name) else ""
            print(f"{name} {value:g}: mean L1 {float(done.stdout):.4f}{usual}", flush=True)


def joined_reviews(quick: bool) -> None:
    """One-star hotel reviews, not seen in training: one by one, and joined to long documents."""
    print("one-star hotel reviews, joined")
    if not REVIEWS.exists():
        print(f"{REVIEWS.name} is not there")
        return
    import pandas as pd

    n, sizes = (400, (5, 20)) if quick else (5000, (40, 200, 480))
    table = pd.read_parquet(REVIEWS)
    text, stars = table["text"].to_numpy(), table["rating"].to_numpy()
    fitted = topicprism.fit(
        text[:n].tolist(), stars[:n], n_topics=3 if quick else 10, random_state=0
    )
    bad = text[n:][stars[n:] == 1][: max(sizes)].tolist()
    print(f"one by one: {fitted.predict(bad).mean():.2f} on average")
    bursts = inference.BURST_WORDS
    for size in sizes:
        joined = " ".join(bad[:size])
        length = fitted["counts"].transform([joined]).sum()
        now = fitted.predict([joined])[0]
        inference.BURST_WORDS = np.inf  # as if it were one document of bursts
        one = fitted.predict([joined])[0]
        inference.BURST_WORDS = bursts
        print(f"{size} joined, {length:,} words: {now:.2f}; taken for one document {one:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for option in ("--quick", "--grid", "--constants"):
        parser.add_argument(option, action="store_true")
    args = parser.parse_args()
    if args.grid:
        grid()
    elif args.constants:
        constants()
    else:
        main(args.quick)
        chain = GibbsInference(50, 100) if args.quick else GibbsInference(500, 3000)
        not_settling(20 if args.quick else 400, chain)
        long_documents([0] if args.quick else [0, 1, 2])
        joined_reviews(args.quick)
