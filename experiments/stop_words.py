"""Which stop words: what the default predicts with and without words that tell something.

    python experiments/stop_words.py                 # twenty minutes on two cores
    python experiments/stop_words.py --only imdb     # one corpus
    python experiments/stop_words.py --quick         # seconds, for the test suite

Kinds of words are taken off scikit-learn's list one after the other, until it is
``"english-neutral"``, then pronouns; the last row of lists has none, so that only ``max_df=0.5``
leaves words out.
pR2 of the training part is of three folds of it, by which lists are chosen; pR2 of the test
part is of documents that had no part in that.  Beside them, ridge on sublinear TF-IDF of all
words.  Sentences are the last of five to fifteen words of a review, with its rating.
"""

import argparse
import re
import warnings

import numpy as np
import pandas as pd
from comparison.corpora import N_JOBS
from comparison.folder import DATA
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
from sklearn.linear_model import Ridge

import topicprism
from topicprism.datasets import make_reviews
from topicprism.evaluation import pr2
from topicprism.vectorizer import stop_words
from topicprism.vectorizer.stop_lists import COUNTED_STOP_WORDS

CORPORA = {  # name: file, documents to train on, whether cut to sentences
    "hotel_reviews": ("hotel_reviews.parquet", 4_000, False),
    "amazon_products": ("amazon_products.parquet", 4_000, False),
    "imdb": ("imdb.parquet", 4_000, False),
    "hotel sentences": ("hotel_reviews.parquet", 4_000, True),
    "devices sentences": ("amazon_devices.parquet", 4_000, True),
}
N_TEST, N_FOLDS, N_WORDS = 2_000, 3, (5, 15)
PENALTIES = np.logspace(-1, 2, 13)
PRONOUNS = (
    "anyone anything he her hers herself him himself his it its itself me my myself our ours "
    "ourselves she someone something their them themselves they us we you your yours yourself "
    "yourselves"
)


def lists() -> dict[str, frozenset[str] | None]:
    """By name, each but the first and the last less a kind of words than the one before."""
    found, left = {"english": ENGLISH_STOP_WORDS}, ENGLISH_STOP_WORDS
    for kind, words in (COUNTED_STOP_WORDS | {"pronouns": PRONOUNS}).items():
        left = left - set(words.split())
        found["english-neutral" if left == stop_words("english-neutral") else f"less {kind}"] = left
    return found | {"none": None}


def last_sentence(text: str) -> str | None:
    low, high = N_WORDS
    fit = [s for s in re.split(r"(?<=[.!?])\s+", text) if low <= len(s.split()) <= high]
    return fit[-1] if fit else None


def load(name: str):
    file, n, cut = CORPORA[name]
    path = DATA / file
    if not path.exists():
        return None
    table = pd.read_parquet(path)
    texts, y = table["text"].tolist(), table["rating"].to_numpy()
    if cut:
        ends = [last_sentence(text) for text in texts]
        y = np.array([r for r, end in zip(y, ends, strict=True) if end])
        texts = [end for end in ends if end]
    return texts[: n + N_TEST], y[: n + N_TEST], n


def predicted(texts, y, new, stop) -> np.ndarray:
    if stop == "ridge":
        return ridge(texts, y, new)
    listed = None if stop is None else sorted(stop)
    fitted = topicprism.fit(texts, y, stop_words=listed, n_jobs=N_JOBS)
    return fitted.predict(new)


def ridge(texts, y, new) -> np.ndarray:
    """The penalty is that of the best of the last 15 % of the training documents."""
    A = TfidfVectorizer(sublinear_tf=True, token_pattern=r"(?u)\b\w+\b", min_df=2).fit(texts)
    X, rest, cut = A.transform(texts), A.transform(new), int(0.85 * len(y))
    tried = [ridge_on(X[:cut], y[:cut], X[cut:], a) for a in PENALTIES]
    best = PENALTIES[np.argmax([pr2(y[cut:], y_hat) for y_hat in tried])]
    return ridge_on(X, y, rest, best)


def ridge_on(X, y, new, penalty: float) -> np.ndarray:
    return Ridge(penalty, solver="sparse_cg").fit(X, y).predict(new)


def scores(texts, y, n: int, stop) -> tuple[float, float]:
    """pR2 over folds of the first n documents; and of the others, learnt from these."""
    fold, y_hat = np.arange(n) % N_FOLDS, np.empty(n)
    for i in range(N_FOLDS):
        train, test = np.flatnonzero(fold != i), np.flatnonzero(fold == i)
        y_hat[test] = predicted([texts[d] for d in train], y[train], [texts[d] for d in test], stop)
    return pr2(y[:n], y_hat), pr2(y[n:], predicted(texts[:n], y[:n], texts[n:], stop))


def main(only: str | None, quick: bool) -> None:
    print(f"{'corpus':20s}{'stop words':36s}{'training part':>14s}{'test part':>11s}")
    for name in ["toy reviews"] if quick else [only] if only else CORPORA:
        data = (*make_reviews(500, random_state=0)[:2], 400) if quick else load(name)
        if data is None:
            print(f"{name:20s}not there")
            continue
        ways = lists()
        for way in ["english", "english-neutral", "none"] if quick else ways:
            show(name, way, scores(*data, ways[way]))
        show(name, "ridge on all words", scores(*data, "ridge"))


def show(corpus: str, way: str, found: tuple[float, float]) -> None:
    print(f"{corpus:20s}{way:36s}{found[0]:14.3f}{found[1]:11.3f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=CORPORA)
    warnings.simplefilter("ignore", UserWarning)  # of short documents
    main(**vars(parser.parse_args()))
