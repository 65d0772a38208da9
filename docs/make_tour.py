"""The numbers of docs/tour.md: one of 20,000 hotel reviews on its way through a fit of them.

python docs/make_tour.py     # a minute; needs the hotel reviews (docs/real-text.md)
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))
from comparison.corpora import DATA

import topicprism
from topicprism.documents import Corpus
from topicprism.documents.subsets import KeyCounts
from topicprism.evaluation import SAME_TOPIC
from topicprism.inference import posterior
from topicprism.learn.defaults import TEXT
from topicprism.show.words import top_words

N, ROW = 20_000, 2847  # of the review, counted from 0


def main() -> None:
    path = DATA / "hotel_reviews.parquet"
    if not path.exists():
        print(f"{path.name} is not there")
        return
    from pyarrow.parquet import read_table

    table = read_table(path).slice(0, N)
    texts, stars = table["text"].to_pylist(), table["rating"].to_pylist()
    print(f"row {ROW}, {stars[ROW]:g} stars: {texts[ROW]}")
    fitted = topicprism.fit(texts, stars)
    X = fitted[:-1].transform(texts)
    corpus = Corpus(X, np.array(stars))
    ours = corpus.rows(ROW, ROW + 1)
    row = X[[ROW]]
    from_mean = (stars[ROW] - np.mean(stars)) / np.std(stars)
    print(f"{from_mean:.1f} standard deviations from the mean")
    words = [f"{fitted.words[w]} {n}" for w, n in zip(row.indices, row.data, strict=True)]
    print(f"counts: {', '.join(words)}")
    m = int(row.data.sum())
    print(f"{m} words of a vocabulary of {X.shape[1]:,}; weight {m} / ({m} + 30)")
    keys = KeyCounts.of(corpus)
    print(f"key {int(ours.keys[0]):016x}")
    folds = keys.cut(TEXT.ranking_folds)
    print(f"fold {1 + next(i for i, f in enumerate(folds) if len(f.rows(ours)))} of {len(folds)}")
    sampled = keys.at_most(TEXT.learn_documents)
    print(f"among the documents that are sampled: {bool(len(sampled.rows(ours)))}")
    halves = keys.cut(2, sampled)
    print(f"in half {[1 + i for i, half in enumerate(halves) if len(half.rows(ours))]}")
    topics, model = fitted.topics, fitted.model
    print(f"k: {topics.selection_.n_topics}: {topics.selection_.reasons['n_topics']}")
    again = int((topics.replication_ >= SAME_TOPIC).sum())
    print(
        f"found again: {again} of {model.n_topics}, R2 {topics.cross_fitted_r2_:.3f} cross-fitted"
    )
    print(f"alpha0 {topics.selection_.alpha0:g}")
    known = posterior(model, row)
    for i in np.argsort(-known.h[0])[:4]:
        top = " ".join(top_words(model, fitted.words, 6)[i])
        effect = f"effect {topics.coef_[i]:.2f}, standard error {topics.coef_std_[i]:.2f}"
        print(f"  {known.h[0, i]:.2f} of topic {i + 1} ({model.eta[i]:.2f} stars; {effect}): {top}")
    y_hat, std = fitted.predict([texts[ROW]], return_std=True)
    print(f"prediction {y_hat[0]:.2f}, standard deviation {std[0]:.2f}, it has {stars[ROW]:g}")


if __name__ == "__main__":
    main()
