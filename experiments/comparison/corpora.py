"""Seven corpora of real text with a number attached: documents to learn from and to test on.

They are read from the folder of ``comparison/folder.py``.  Documents are counted over the V most
frequent words of the training documents that are not English stop words.

``load`` gives one split: ``imdb`` has its own; of others the first 80 % of the rows, which are in
random order, are to learn from (``poliblog`` is shuffled first).  ``fold`` gives every fifth
document to test on, the others to learn from; of ``hotel_reviews`` it takes the 20,000 rows after
those of ``load``, which had no part in any choice of a default.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from comparison.folder import DATA
from topicprism.datasets import make_reviews
from topicprism.vectorizer import FastCountVectorizer

THREADS = "TOPICPRISM_THREADS"  # of each fit, a variable of the environment
N_FOLDS, N_JOBS = 5, int(os.environ.get(THREADS, "2"))


@dataclass(frozen=True)
class Source:
    file: str
    n_rows: int | None = None  # at most
    stop_words: str | None = "english"
    n_words: int = 5_000  # at most; of bags, which have no texts, all

    @property
    def path(self) -> Path:
        return DATA / self.file

    @property
    def has_texts(self) -> bool:
        return self.path.suffix == ".parquet"


CORPORA = {
    "movie_scale": Source("movie_scale.parquet", stop_words=None),  # which it has none of
    "hotel_reviews": Source("hotel_reviews.parquet", 20_000),
    "imdb": Source("imdb.parquet"),
    "amazon_products": Source("amazon_products.parquet"),
    "amazon_devices": Source("amazon_devices.parquet"),
    "we8there": Source("we8there.npz"),
    "poliblog": Source("poliblog.npz"),
}


@dataclass(frozen=True)
class Texts:
    """What was counted, for those who count otherwise."""

    train: list[str]
    test: list[str]
    stop_words: str | None


@dataclass(frozen=True)
class Split:
    X: csr_array
    y: np.ndarray
    X_test: csr_array
    y_test: np.ndarray
    texts: Texts | None = None


def load(name: str) -> Split | None:
    """One split; None where the file is not there."""
    source = CORPORA[name]
    if not source.path.exists():
        return None
    if not source.has_texts:
        X, y = _bags(source.path)
        return _cut(X, y, np.arange(len(y)) < int(0.8 * len(y)))
    table = _table(source.path)[: source.n_rows]
    train = np.arange(len(table)) < int(0.8 * len(table))
    if "split" in table:
        train = (table["split"] == "train").to_numpy()
    return _counted(table["text"].to_numpy(), table["rating"].to_numpy(), train, source)


def fold(name: str, i: int) -> Split:
    """The i-th of five."""
    source = CORPORA[name]
    if not source.has_texts:
        X, y = _bags(source.path)
        return _cut(X, y, np.arange(len(y)) % N_FOLDS != i)
    texts, y = unseen(name)
    return _counted(texts, y, np.arange(len(y)) % N_FOLDS != i, source)


def unseen(name: str) -> tuple[np.ndarray, np.ndarray]:
    """All texts of a corpus and their responses; of hotel reviews the rows after ``load``'s."""
    source = CORPORA[name]
    table = _table(source.path)
    if source.n_rows:
        table = table[source.n_rows : 2 * source.n_rows]
    return table["text"].to_numpy(), table["rating"].to_numpy()


def random_parts(X, y, n: int, n_parts: int, n_test: int) -> Iterator[Split]:
    """Some documents to train on and others to test on, drawn anew each time."""
    for seed in range(n_parts):
        order = np.random.default_rng(seed).permutation(len(y))
        a, b = order[:n], order[n : n + n_test]
        yield Split(X[a], y[a], X[b], y[b])


def toy(n: int = 800, n_train: int = 600) -> Split:
    """Simulated reviews, for the quick form of a script."""
    texts, y, _ = make_reviews(n, random_state=0)
    source = Source("", n_words=300)
    return _counted(np.array(texts, object), y, np.arange(n) < n_train, source)


def vectorizer(source: Source) -> FastCountVectorizer:
    return FastCountVectorizer(
        max_features=source.n_words, stop_words=source.stop_words, n_jobs=N_JOBS
    )


def _table(path: Path):
    import pandas as pd

    return pd.read_parquet(path)


def _cut(X, y, train) -> Split:
    return Split(X[train], y[train], X[~train], y[~train])


def _counted(texts, y, train, source: Source) -> Split:
    known, new = list(texts[train]), list(texts[~train])
    words = vectorizer(source)
    X = words.fit_transform(known)
    kept = Texts(known, new, source.stop_words)
    return Split(X, y[train], words.transform(new), y[~train], kept)


def _bags(path: Path) -> tuple[csr_array, np.ndarray]:
    z = np.load(path, allow_pickle=False)
    X = csr_array((z["data"], z["indices"], z["indptr"]), shape=tuple(z["shape"]))
    order = np.random.default_rng(0).permutation(X.shape[0])
    return X[order], z["ratings"].astype(float)[order]
