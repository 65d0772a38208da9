"""All words and pairs of neighbours, no stop list: what is predicted, what is shown, what it costs.

    python experiments/any_words.py            # two corpora; half an hour on two cores
    python experiments/any_words.py --quick    # seconds, for the test suite

``words`` are the 5,000 most frequent that are not on the default stop list; ``any words`` are the
50,000 most frequent words and pairs with ``stop_words=None``.  Columns: columns of counts and their
non-zeros; pR2 of documents held out, beside ridge on sublinear TF-IDF of the same columns;
processor seconds of the fit after the counting; of the ten words that each topic is shown by, the
share that are on scikit-learn's list of stop words, or pairs of two such words; and these words of
the largest topic.
"""

import argparse
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from comparison.corpora import CORPORA, N_JOBS, Split, load, toy
from comparison.rivals import N_BIGRAMS, default, ridge
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from topicprism.evaluation import pr2
from topicprism.show.words import top_words
from topicprism.vectorizer import FastCountVectorizer

NAMES = ("hotel_reviews", "amazon_products")
WORDS: dict[str, dict[str, Any]] = {
    "words": {"max_features": 5_000, "stop_words": "english-neutral"},
    "any words": {"max_features": N_BIGRAMS, "stop_words": None, "ngram_range": (1, 2)},
}
N_SHOWN = 10


def counted(s: Split, params: dict[str, Any]) -> tuple[Split, np.ndarray]:
    assert s.texts is not None
    terms = FastCountVectorizer(n_jobs=N_JOBS, **params)
    X = terms.fit_transform(s.texts.train)
    return replace(s, X=X, X_test=terms.transform(s.texts.test)), terms.get_feature_names_out()


def is_common(term: str) -> bool:
    return all(word in ENGLISH_STOP_WORDS for word in term.split())


def show(corpus: str, way: str, s: Split) -> None:
    s, names = counted(s, WORDS[way])
    found, line = default()(s), ridge(s)
    shown = top_words(found.model, names, N_SHOWN)
    common = np.mean([is_common(word) for topic in shown for word in topic])
    largest = shown[int(np.argmax(found.model.alpha))]
    print(
        f"{corpus:16s} {way:10s}{s.X.shape[1]:8d}{s.X.nnz:10d}{pr2(s.y_test, found.y_hat):8.3f}"
        f"{pr2(s.y_test, line.y_hat):8.3f}{found.seconds:9.1f}{common:8.0%}  {', '.join(largest)}",
        flush=True,
    )


def main(quick: bool) -> None:
    print(
        f"{'corpus':16s} {'':10s}{'columns':>8s}{'non-zero':>10s}{'pR2':>8s}{'ridge':>8s}"
        f"{'seconds':>9s}{'common':>8s}  the largest topic"
    )
    for name in ["toy reviews"] if quick else NAMES:
        if not quick and not CORPORA[name].path.exists():
            print(f"{name:16s} is not there: left out")
            continue
        split = toy() if quick else load(name)
        for way in WORDS:
            show(name, way, split)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    warnings.simplefilter("ignore", UserWarning)  # of short documents
    main(parser.parse_args().quick)
