"""Text known by a sketch alone: predictive R2 beside that of a fit on the same documents.

    python experiments/sketches_of_text.py             # a quarter of an hour on two cores
    python experiments/sketches_of_text.py --quick     # 40 simulated topics, for the test suite

Documents are the last rows of each corpus: four fifths to learn from, the rest to test on.  No
constant was chosen on those of hotel_reviews, amazon_products and amazon_devices.  ``documents``
are fitted by SpectralSLDA, ``default`` is AutoSLDA on the same, without noise only; ``two sites``
is a sketch of one half and one of the other over the basis of the first, summed.  ``noise`` is
the standard deviation of what was added to the response, over its own: with much of it no
prediction should be worse than the mean.  ``error`` is the mean squared error over the variance
that the model states.
"""

import argparse
import warnings

import numpy as np
from comparison.folder import DATA

from topicprism import AutoSLDA, Corpus, Model, SpectralSLDA, sketch
from topicprism.datasets import draw_corpus
from topicprism.documents import Threaded
from topicprism.spectral.sketch import Sketch, sketch_over
from topicprism.vectorizer import FastCountVectorizer

CORPORA = ("movie_scale", "hotel_reviews", "imdb", "amazon_products", "amazon_devices")
SIZES = (4_000, 10_000)


def corpora(quick: bool):
    if quick or not DATA.is_dir():
        rng = np.random.default_rng(0)
        mu = rng.dirichlet(np.full(300, 0.1), 40).T
        model = Model(np.full(40, 0.05), mu, rng.standard_normal(40), 0.3)
        X, y, _ = draw_corpus(model, 1500, 60, rng)
        yield "40 topics", X[:1200], X[1200:], y
        return
    import pyarrow.parquet as pq

    for name in CORPORA:
        if not (DATA / f"{name}.parquet").exists():
            continue
        table = pq.read_table(DATA / f"{name}.parquet", columns=["text", "rating"])
        for n in SIZES:
            last = table.slice(max(table.num_rows - n, 0))
            texts, y = last["text"].to_pylist(), last["rating"].to_numpy().astype(float)
            train = 4 * len(y) // 5
            counter = FastCountVectorizer(stop_words="english", max_features=5_000)
            yield name, counter.fit_transform(texts[:train]), counter.transform(texts[train:]), y


def at_two_sites(X, y) -> Sketch:
    half = X.shape[0] // 2
    first = sketch(Threaded(Corpus(X[:half], y[:half]), 2), 32, np.random.default_rng(0))
    return first + sketch_over(Threaded(Corpus(X[half:], y[half:]), 2), first.basis)


def main(quick: bool) -> None:
    warnings.simplefilter("ignore")
    print("corpus               documents  noise  documents  default  sketch  two sites  error")
    for name, X, X_test, y in corpora(quick):
        n = X.shape[0]
        for noise in (0, 3):
            rng = np.random.default_rng(0)
            z = y + noise * y.std() * rng.standard_normal(len(y))
            made = sketch(Threaded(Corpus(X, z[:n]), 2), 32, np.random.default_rng(0))
            fitted = SpectralSLDA(random_state=0, n_jobs=2).fit(X, z[:n])
            alone = SpectralSLDA(random_state=0).fit_sketch(made)
            merged = SpectralSLDA(random_state=0).fit_sketch(at_two_sites(X, z[:n]))
            models = [fitted, alone, merged]
            if not noise:
                models.append(AutoSLDA(random_state=0, n_jobs=2).fit(X, z[:n]))
            r2 = [model.score(X_test, z[n:]) for model in models]
            default = f"{r2[3]:7.3f}" if not noise else "       "
            expected, std = alone.predict(X_test, return_std=True)
            error = np.mean((z[n:] - expected) ** 2 / std**2)
            scores = f"{r2[0]:9.3f}  {default}  {r2[1]:6.3f}  {r2[2]:9.3f}"
            print(f"{name:20} {n:9,}  {noise:5}  {scores}  {error:5.2f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    main(parser.parse_args().quick)
