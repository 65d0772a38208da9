"""The chain of the default on text, with other settings: prediction, words, agreement.

    python experiments/chains.py                        # hours on two cores
    python experiments/chains.py --only imdb            # one corpus
    python experiments/chains.py --variant "k=30"       # one variant
    python experiments/chains.py --jobs 16              # as many at once, one thread each
    python experiments/chains.py --quick                # seconds, for the test suite

Two samples of at most 10,000 documents that have none in common, and others to test on, all of
them hotel reviews that no table uses or the training part of the first fold of another corpus.
Each sample has a chain of 20 topics; effects, which do not change the topics, are left out.
Printed and written to docs/results/chains.csv: pR2, log-likelihood per word of one half of each
test document given the other, NPMI of the ten most probable words and of the ten that are shown
(by relevance), effective topics, means of the two samples; and the share of the ten most probable
words that matched topics of the two samples have in common.  That share differs by 0.03 from seed
to seed.  Rows that are there are left out.
"""

import argparse
import multiprocessing
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import numpy as np
from agreement import matched, words_in_common
from comparison import records
from comparison.corpora import CORPORA, Split, fold, toy, vectorizer
from comparison.folder import ROOT
from comparison.scores import N_TOP, coherence, effective_topics, word_likelihood
from scipy.sparse import csr_array

from topicprism import Model
from topicprism.documents import Threaded
from topicprism.documents.corpus import Corpus
from topicprism.documents.subsets import KeyCounts
from topicprism.evaluation import npmi, pr2
from topicprism.inference import infer
from topicprism.learn import FitRequest, sampled_text
from topicprism.learn.defaults import SAMPLED
from topicprism.learn.response_topics import text_sketch
from topicprism.learn.result import FitContext
from topicprism.show.words import top_ids

RESULTS = ROOT / "docs" / "results" / "chains.csv"
N_DOCUMENTS, N_TEST, K, SEED = 10_000, 2_000, 20, 1
UNUSED_HOTEL_ROWS = slice(40_000, 64_000)


@dataclass(frozen=True)
class Variant:
    k: int = K
    settings: dict[str, Any] = field(default_factory=dict)  # of SAMPLED


VARIANTS = {
    "default": Variant(),
    "400 sweeps": Variant(settings={"sweeps": (100, 300)}),
    "160 sweeps": Variant(settings={"sweeps": (60, 100)}),
    "response on proportions": Variant(settings={"response": "mixture"}),
    "repeated words count": Variant(settings={"chain_burstiness": 0.0}),
    "no round after the chain": Variant(settings={"rounds": 0}),
    "response on proportions, 400 sweeps, alpha0 1": Variant(
        settings={"response": "mixture", "sweeps": (100, 300), "alpha0": 1.0}
    ),
    "alpha0 1": Variant(settings={"alpha0": 1.0}),
    "alpha0 3": Variant(settings={"alpha0": 3.0}),
    "learnt prior": Variant(settings={"learn_alpha": True}),
    "learnt prior, word prior 0.1": Variant(settings={"learn_alpha": True, "word_prior": 0.1}),
    "word prior 0.1": Variant(settings={"word_prior": 0.1}),
    "strength 2": Variant(settings={"steer_strength": 2.0}),
    "no steering": Variant(settings={"steer_strength": 0.0}),
    "k=30": Variant(30),
    "k=50": Variant(50),
}


@dataclass(frozen=True)
class Row:
    corpus: str
    variant: str
    k: int
    pr2: float
    log_likelihood: float
    npmi: float
    npmi_shown: float
    effective_topics: float
    words_in_common: float


def chain(X: csr_array, y: np.ndarray, variant: Variant) -> Model:
    """The topics of the default, with the settings of the variant."""
    docs = Threaded(Corpus(X, (y - y.mean()) / y.std()).in_key_order(), 1)
    rng = np.random.default_rng(SEED)
    sketch, keys = text_sketch(docs, variant.k, rng), KeyCounts.of(docs.corpus)
    context = FitContext(docs, sketch, keys, FitRequest(n_topics=variant.k), rng)
    with patch.object(sampled_text, "SAMPLED", replace(SAMPLED, **variant.settings)):
        start = sampled_text._start(context, variant.k)
        steered = sampled_text.SteeredChain(None, sampled_text.SAMPLED.sweeps)
        return steered.topics(docs, start, SEED).model


def scores(model: Model, s: Split) -> tuple[float, ...]:
    h = infer(model, s.X_test)
    y_hat = s.y.mean() + s.y.std() * (h @ model.eta)
    fit, words = pr2(s.y_test, y_hat), word_likelihood(model, s)
    shown = float(np.nanmean(npmi(top_ids(model, N_TOP), s.X)))
    return fit, words, coherence(model, s), shown, effective_topics(h)


def compare(corpus: str, name: str, samples: list[Split]) -> Row:
    variant = VARIANTS[name]
    both = [chain(s.X, s.y, variant) for s in samples]
    means = np.mean([scores(m, s) for m, s in zip(both, samples, strict=True)], axis=0)
    a, b, _ = matched(*both)
    return Row(corpus, name, variant.k, *means.tolist(), words_in_common(*both, a, b))


def samples(corpus: str) -> list[Split]:
    """Two, and test documents that both share, over one vocabulary."""
    source = CORPORA[corpus]
    if corpus == "hotel_reviews":
        import pandas as pd

        table = pd.read_parquet(source.path)[UNUSED_HOTEL_ROWS]
        X, y = vectorizer(source).fit_transform(list(table["text"])), table["rating"].to_numpy()
    else:
        known = fold(corpus, 0)
        X, y = known.X, known.y
    return _two(X, y, N_DOCUMENTS, min(N_TEST, len(y) // 5))


def _two(X: csr_array, y: np.ndarray, n: int, n_test: int) -> list[Split]:
    n, test = min(n, (len(y) - n_test) // 2), slice(len(y) - n_test, None)
    return [Split(X[at], y[at], X[test], y[test]) for at in (slice(n), slice(n, 2 * n))]


def show(r: Row) -> None:
    print(
        f"{r.corpus:16s} {r.variant:46s} {r.k:3d} {r.pr2:6.3f} {r.log_likelihood:8.4f} "
        f"{r.npmi:6.3f} {r.npmi_shown:6.3f} {r.effective_topics:7.1f} {r.words_in_common:9.3f}",
        flush=True,
    )


def measure(job: tuple[str, str]) -> Row:
    corpus, name = job
    return compare(corpus, name, samples(corpus))


def run(corpora: list[str], variants: list[str], n_jobs: int) -> None:
    there = [c for c in corpora if CORPORA[c].path.exists()]
    done = {(r.corpus, r.variant) for r in records.read(Row, RESULTS)}
    jobs = [(c, v) for v in variants for c in there if (c, v) not in done]
    with multiprocessing.get_context("spawn").Pool(n_jobs) as pool:
        for row in pool.imap_unordered(measure, jobs):
            show(row)
            records.keep(row, RESULTS)


def quick() -> None:
    s = toy()
    for name in ("default", "response on proportions", "k=30"):
        settings = VARIANTS[name].settings | {"sweeps": (2, 2)}
        VARIANTS[name] = replace(VARIANTS[name], k=3, settings=settings)
        show(compare("toy reviews", name, _two(s.X, s.y, 200, 100)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    corpora = ["imdb", "hotel_reviews", "amazon_products", "movie_scale"]
    parser.add_argument("--only", choices=corpora)
    parser.add_argument("--variant", choices=VARIANTS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    print(f"{'corpus':16s} {'variant':46s}   k    pR2  log-lik   NPMI  shown  eff. k  in common")
    if args.quick:
        quick()
    else:
        wanted = [args.variant] if args.variant else list(VARIANTS)
        run([args.only] if args.only else corpora, wanted, args.jobs)


if __name__ == "__main__":
    main()
