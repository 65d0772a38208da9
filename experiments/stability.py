"""Topics found again in halves of the documents: what is similar, and how effects vary.

    python experiments/stability.py FOLDER     # of parquet files: text, rating; four minutes
    python experiments/stability.py            # simulated documents only; one minute
    python experiments/stability.py --quick    # seconds, for the test suite

First table: the Bhattacharyya coefficient of different topics of one fit, and of topics and their
counterparts in halves of the documents; and shares of topics found again: at a similarity of 0.7,
if the counterpart is also closest to it, and by both halves of a split.  Second table: the share of
ten top words that topics and counterparts have in common, by their similarity, and by whether the
counterpart is closer to another topic of the fit.  Third table: the standard deviation of effects
over halves, beside that of the estimates over corpora drawn anew from the same model.  Fourth
table: documents of words drawn independently, in which there is no topic.
"""

import argparse
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np

from topicprism import SpectralLDA, SpectralSLDA, stability
from topicprism.datasets import draw_corpus, draw_model, make_reviews
from topicprism.evaluation import bhattacharyya, matched_topics

CORPORA = ("hotel_reviews", "amazon_devices", "movie_scale")
N_DOCUMENTS = 5_000
EDGES = (0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01)
SIMULATED = [
    (3, 2_000, 60, 0.5),
    (5, 3_000, 100, 0.5),
]  # topics, documents, words in each, noise


def corpora(folder: Path | None, quick: bool):
    if folder is None:
        texts, stars, _ = make_reviews(300 if quick else 2_000, random_state=0)
        yield "simulated reviews", texts, stars
        return
    import pyarrow.parquet as pq

    for name in CORPORA:
        table = pq.read_table(folder / f"{name}.parquet").slice(0, N_DOCUMENTS)
        yield name, table["text"].to_pylist(), np.array(table["rating"].to_pylist(), float)


def similarities(folder: Path | None, quick: bool) -> None:
    print("corpus             estimator      k   different topics   counterparts     found again")
    print(f"{'median   95 %      median   5 %     at 0.7  closest  both':>95}")
    pairs = []
    for name, texts, y in corpora(folder, quick):
        for estimator in (SpectralSLDA, SpectralLDA):
            for k in (5,) if quick else (5, 10, 20):
                found = stability(texts, y, estimator=estimator, n_topics=k, runs=2 if quick else 6)
                mu = found.reference.model.mu
                different = bhattacharyya(mu, mu)[np.triu_indices(mu.shape[1], 1)]
                same = np.concatenate([run.similarity for run in found.runs])
                again = np.concatenate([run.found for run in found.runs])
                words = np.concatenate([run.common_words for run in found.runs])
                pairs.append((same, words, again))
                print(
                    f"{name:18} {estimator.__name__:12} {k:3d} {np.median(different):9.2f}"
                    f" {np.quantile(different, 0.95):7.2f} {np.median(same):10.2f}"
                    f" {np.quantile(same, 0.05):6.2f} {np.mean(same >= 0.7):10.2f}"
                    f" {np.mean(again):8.2f} {found.replicated.mean():5.2f}",
                    flush=True,
                )
    _by_similarity(*(np.concatenate(column) for column in zip(*pairs, strict=True)))


def _by_similarity(same: np.ndarray, words: np.ndarray, again: np.ndarray) -> None:
    print("\nsimilarity    pairs  top words in common   of those found   of the others at >= 0.7")
    for low, high in pairwise(EDGES):
        here = (same >= low) & (same < high)
        sides = [words[here], words[here & again], words[here & ~again & (same >= 0.7)]]
        shown = [f"{side.mean():.2f} ({len(side)})" if len(side) else "-" for side in sides]
        first, *others = shown
        band = f"{low:.1f} to {min(high, 1):.1f}"
        print(f"{band} {here.sum():8d} {first:>20} {others[0]:>16} {others[1]:>16}")


def deviations(quick: bool) -> None:
    print("\n k  documents  words   std over halves      standard deviation over corpora")
    for k, n, length, noise in SIMULATED[:1] if quick else SIMULATED:
        truth = draw_model(500, k, np.random.default_rng(0), noise=noise)
        estimates, std = [], []
        for seed in range(2 if quick else 20):
            X, y, _ = draw_corpus(truth, n, length, np.random.default_rng(seed + 1))
            runs = 4 if quick else 10
            found = stability(X, y, n_topics=k, alpha0=float(truth.alpha.sum()), runs=runs)
            order, _ = matched_topics(truth.mu, found.reference.model.mu)
            estimates.append(found.effect[order])
            std.append(found.effect_std[order])
        root = np.sqrt(np.nanmean(np.square(std)))
        actual = np.sqrt(np.mean(np.var(estimates, axis=0, ddof=1)))
        print(f"{k:2d} {n:10,d} {length:6d} {root:20.3f} {actual:33.3f}", flush=True)


def noise(quick: bool) -> None:
    print("\nno topics: estimator   k   found again   both halves   top words in common")
    for estimator in (SpectralSLDA, SpectralLDA):
        for k in (4,) if quick else (4, 8):
            rows = []
            for seed in range(1 if quick else 10):
                rng = np.random.default_rng(seed)
                p = rng.dirichlet(np.ones(300))
                X, y = rng.multinomial(60, p, size=400), rng.standard_normal(400)
                found = stability(X, y, estimator=estimator, n_topics=k, runs=4 if quick else 10)
                again, both = found.found_again.mean(), found.replicated.mean()
                rows.append((again, both, found.halves_common_words))
            again, both, words = np.mean(rows, axis=0)
            print(f"{estimator.__name__:>20} {k:5d} {again:13.2f} {both:13.2f} {words:21.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    similarities(args.folder, args.quick)
    deviations(args.quick)
    noise(args.quick)
