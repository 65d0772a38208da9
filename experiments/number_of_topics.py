"""What halves of the documents say of numbers of topics of the default on text.

    python experiments/number_of_topics.py                     # an hour on two cores
    python experiments/number_of_topics.py --only imdb         # one corpus
    python experiments/number_of_topics.py --documents 5000    # one size
    python experiments/number_of_topics.py --quick             # seconds, for the test suite

Documents are hotel reviews that no table uses, or the training part of the first fold of another
corpus.  Each number of topics is learnt from both halves, whatever the others led to, and judged as
``topicprism.fit`` does (``learn/judging.py``): R2 and log-likelihood per word of the other half,
NPMI and exclusivity of the ten most probable words, how many topics the halves have in common, and
how many hold 1 % of the words and are unlike the others.  Marked is the number that would be taken.
"""

import argparse
from dataclasses import replace
from unittest.mock import patch

import numpy as np
from chains import UNUSED_HOTEL_ROWS
from comparison.corpora import CORPORA, fold, toy, vectorizer

from topicprism.documents import Threaded
from topicprism.documents.corpus import Corpus
from topicprism.documents.subsets import KeyCounts
from topicprism.kernels.blas import one_blas_thread
from topicprism.learn import FitRequest, Trial, sampled_text
from topicprism.learn.defaults import SAMPLED, TEXT
from topicprism.learn.judging import more_topics
from topicprism.learn.response_topics import text_sketch
from topicprism.learn.result import FitContext

SIZES = (5_000, 20_000)
SEED = 1


def documents(corpus):
    if corpus != "hotel_reviews":
        known = fold(corpus, 0)
        return known.X, known.y
    import pandas as pd

    table = pd.read_parquet(CORPORA[corpus].path)[UNUSED_HOTEL_ROWS]
    counts = vectorizer(CORPORA[corpus]).fit_transform(list(table["text"]))
    return counts, table["rating"].to_numpy(float)


def tried(X, y, k) -> Trial:
    docs = Threaded(Corpus(X, (y - y.mean()) / y.std()).in_key_order(), 2)
    rng = np.random.default_rng(SEED)
    with one_blas_thread:
        sketch, keys = text_sketch(docs, k, rng), KeyCounts.of(docs.corpus)
        context = FitContext(docs, sketch, keys, FitRequest(), rng)
        return sampled_text._judged(sampled_text._attempt(context, k, [SEED, SEED + 1]))


def show(corpus, X, y, ks):
    trials = {k: tried(X, y, k) for k in ks}
    taken, _ = more_topics((trials[ks[0]], ks[0]), lambda k: (trials[k], k), len(y))
    for k, t in trials.items():
        print(
            f"{corpus:16s} {len(y):6,d} {'*' if k == taken else ' '} {k:3d} {t.pr2:7.3f} "
            f"{t.log_likelihood:8.4f} {t.coherence:7.3f} {t.exclusivity:7.3f} {t.n_in_common:7d} "
            f"{t.n_large:6d}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    corpora = ["hotel_reviews", "imdb", "amazon_products"]
    parser.add_argument("--only", choices=corpora)
    parser.add_argument("--documents", type=int)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    print(f"{'corpus':16s}   docs     k      R2  log-lik    NPMI   excl. common  large")
    if args.quick:
        s, few = toy(), replace(SAMPLED, half_sweeps=(2, 2))
        with patch.object(sampled_text, "SAMPLED", few):
            show("toy reviews", s.X[:300], s.y[:300], [4])
        return
    for corpus in [args.only] if args.only else corpora:
        if not CORPORA[corpus].path.exists():
            continue
        X, y = documents(corpus)
        for n in [args.documents] if args.documents else SIZES:
            show(corpus, X[:n], y[:n], [SAMPLED.n_topics, *TEXT.more_topics])


if __name__ == "__main__":
    main()
