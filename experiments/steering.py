"""What steering buys, and what it costs: predictive R2 against likelihood, round by round.

    python experiments/steering.py                     # some minutes
    python experiments/steering.py --only imdb
    python experiments/steering.py --quick             # seconds, for the test suite

Twenty topics sampled from the joint answer, with the response weighing 1 (the model's) and
3 times, then steered for 0, 2, 4, ... rounds, whatever they explain.  Only training
documents of real_text.py are used: every seventh to test on, the others to learn from.
``joint`` is where the chain started, ``Gibbs`` is a chain of 300 sweeps from nothing.
"""

import argparse
from dataclasses import replace

import numpy as np
import real_text

from topicprism import Corpus, GibbsSLDA, HybridSLDA, Model, SpectralSLDA
from topicprism.calibration import Units, calibrate
from topicprism.engines import Threaded
from topicprism.estimators.gibbs import BURSTINESS, HINT, PRIOR
from topicprism.evaluation import completion_log_likelihood, pr2
from topicprism.inference import infer
from topicprism.refinement import Part
from topicprism.steering import steer

ROUNDS = 12


def show(name: str, s: real_text.Split, model: Model, y_hat: np.ndarray) -> None:
    words = completion_log_likelihood(model, s.X_test, np.random.default_rng(0), n_threads=2)
    print(f"{name:24s} {pr2(s.y_test, y_hat):6.3f} {words:8.4f}", flush=True)


def main(corpus: str, s: real_text.Split, k: int, chain: dict[str, int]) -> None:
    print(f"{corpus:24s}    pR2  log-lik")
    joint = SpectralSLDA(k, random_state=0, n_jobs=2).fit(s.X, s.y)
    show("joint", s, joint.model_, joint.predict(s.X_test))
    gibbs = GibbsSLDA(k, response="assignments", random_state=0, n_jobs=2, **chain).fit(s.X, s.y)
    show("Gibbs", s, gibbs.model_, gibbs.predict(s.X_test))
    unit = Units(s.y.mean(), s.y.std())
    guide = ((1 - HINT) * s.y + HINT * joint.predict(s.X) - unit.centre) / unit.scale
    for weight in (1.0, 3.0):
        hybrid = HybridSLDA(k, response_weight=weight, refit=False, random_state=0, n_jobs=2)
        model = hybrid.set_params(**chain).fit(s.X, s.y).model_
        model = replace(model.with_alpha0(PRIOR), burstiness=BURSTINESS)
        steps = steer(Threaded(Corpus(s.X, guide), 2), model)
        for n, steered in zip(range(ROUNDS + 1), steps, strict=False):
            if n % 2 == 0:
                ready = calibrate(Threaded(Corpus(s.X, s.y), 2), steered, unit, Part()).model
                name = f"weight {weight:g}, {n} rounds"
                show(name, s, ready, infer(ready, s.X_test, n_threads=2) @ ready.eta)


def part(corpus: str) -> real_text.Split | None:
    s = real_text.load(corpus)
    if s is None:
        print(f"{corpus} is not there: left out")
        return None
    learn = np.arange(len(s.y)) % 7 != 0
    return real_text.Split(s.X[learn], s.y[learn], s.X[~learn], s.y[~learn])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=list(real_text.CORPORA))
    args = parser.parse_args()
    if args.quick:
        main("toy reviews", real_text.toy(), 5, {"burn_in": 5, "n_kept": 5})
    else:
        for corpus in [args.only] if args.only else ["imdb", "hotel_reviews"]:
            split = part(corpus)
            if split is not None:
                main(corpus, split, 20, {"burn_in": 100, "n_kept": 200})
