"""What steering buys, and what it costs: predictive R2 against likelihood, by its strength.

    python experiments/steering.py                     # some minutes
    python experiments/steering.py --only imdb
    python experiments/steering.py --quick             # seconds, for the test suite

``HybridSLDA`` with twenty topics, steered not at all (0), as by default (2) or otherwise, the
response weighing 0.1 in the chain, as by default, or 1, as in the model.  Only training
documents of ``corpora.load`` are used: every seventh to test on, the others to learn from.
``joint`` is where the chain started, ``Gibbs`` is a chain of 400 sweeps from nothing.
"""

import argparse
from dataclasses import replace

import numpy as np
from comparison import corpora

from topicprism import GibbsSLDA, HybridSLDA, Model, SpectralSLDA
from topicprism.evaluation import completion_log_likelihood, pr2
from topicprism.learn import refine as steering
from topicprism.learn.defaults import STEERING

STRENGTHS = {0.1: (0.0, 1.0, 2.0, 4.0), 1.0: (0.0, 2.0)}  # by weight


def show(name: str, s: corpora.Split, model: Model, y_hat: np.ndarray) -> None:
    words = completion_log_likelihood(model, s.X_test, np.random.default_rng(0), n_threads=2)
    print(f"{name:24s} {pr2(s.y_test, y_hat):6.3f} {words:8.4f}", flush=True)


def main(corpus: str, s: corpora.Split, k: int, chain: dict[str, int]) -> None:
    print(f"{corpus:24s}    pR2  log-lik")
    joint = SpectralSLDA(k, random_state=0, n_jobs=2).fit(s.X, s.y)
    show("joint", s, joint.model_, joint.predict(s.X_test))
    chain = {**chain, "random_state": 0, "n_jobs": 2, "cross_fit": False}
    gibbs = GibbsSLDA(k, response="assignments", **chain).fit(s.X, s.y)
    show("Gibbs", s, gibbs.model_, gibbs.predict(s.X_test))
    for weight, strengths in STRENGTHS.items():
        for strength in strengths:
            steering.STEERING = replace(STEERING, strength=strength)
            hybrid = HybridSLDA(k, response_weight=weight, **chain).fit(s.X, s.y)
            name = f"weight {weight:g}, strength {strength:g}"
            show(name, s, hybrid.model_, hybrid.predict(s.X_test))


def part(corpus: str) -> corpora.Split | None:
    s = corpora.load(corpus)
    if s is None:
        print(f"{corpus} is not there: left out")
        return None
    learn = np.arange(len(s.y)) % 7 != 0
    return corpora.Split(s.X[learn], s.y[learn], s.X[~learn], s.y[~learn])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=list(corpora.CORPORA))
    args = parser.parse_args()
    if args.quick:
        main("toy reviews", corpora.toy(), 5, {"burn_in": 5, "n_kept": 5})
    else:
        for corpus in [args.only] if args.only else ["imdb", "hotel_reviews"]:
            split = part(corpus)
            if split is not None:
                main(corpus, split, 20, {"burn_in": 100, "n_kept": 300})
