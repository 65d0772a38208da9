"""Raw strings to counts: scikit-learn's CountVectorizer against ours, on a parquet column.

    python benchmarks/text_to_counts.py ../shared/data/imdb.parquet [column] [repeats]

Each repeat runs all contestants in turn, so that other work on the machine hits all of them; the
ratio is of times in the same repeat, and the table gives its median and range.
"""

from __future__ import annotations

import os
import platform
import sys
from statistics import median
from time import perf_counter

import numba
import numpy as np
import pyarrow.parquet as pq
import scipy
import sklearn
from sklearn.feature_extraction.text import CountVectorizer

from topicprism.vectorizer import FastCountVectorizer

CONTESTANTS = {
    "CountVectorizer": CountVectorizer(),
    "FastCountVectorizer(n_jobs=1)": FastCountVectorizer(n_jobs=1),
    "FastCountVectorizer(n_jobs=2)": FastCountVectorizer(n_jobs=2),
}


def run(texts, repeats):
    """Seconds of each contestant in each repeat, and whether it agrees with the first."""
    seconds = {name: [] for name in CONTESTANTS}
    for _ in range(repeats):
        equal, reference = {}, None
        for name, vectorizer in CONTESTANTS.items():
            start = perf_counter()
            X = vectorizer.fit_transform(texts)
            seconds[name].append(perf_counter() - start)
            reference = X if reference is None else reference
            same_words = vectorizer.vocabulary_ == CONTESTANTS["CountVectorizer"].vocabulary_
            equal[name] = same_words, X.shape == reference.shape and (reference != X).nnz == 0
    return seconds, equal


def table(seconds, equal):
    yield f"{'':31}{'seconds':>8}{'ratio':>7}{'(range)':>15}  vocabulary, matrix"
    base = seconds["CountVectorizer"]
    for name, times in seconds.items():
        ratios = [a / b for a, b in zip(base, times, strict=True)]
        spread = f"({min(ratios):.1f} to {max(ratios):.1f})"
        words, matrix = ("equal" if same else "DIFFERENT" for same in equal[name])
        yield f"{name:31}{median(times):8.2f}{median(ratios):7.1f}{spread:>15}  {words}, {matrix}"


def main(path, column="text", repeats="5"):
    texts = pq.read_table(path, columns=[column])[column].to_pylist()
    FastCountVectorizer(n_jobs=2).fit_transform(texts[:100])  # compile
    versions = {m.__name__: m.__version__ for m in (np, scipy, sklearn, numba)}
    versions = ", ".join(f"{name} {v}" for name, v in versions.items())
    print(f"Python {platform.python_version()}, {versions}; {os.cpu_count()} cores")
    print(f"{path}: {len(texts)} documents, {sum(map(len, texts))} characters\n")
    print(*table(*run(texts, int(repeats))), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
