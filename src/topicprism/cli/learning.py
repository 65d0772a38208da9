"""From shards of counts to a pipeline, and how well it predicts documents held out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from topicprism.cli.progress import Progress
from topicprism.cli.reading import Counted, Kept
from topicprism.corpus import Documents
from topicprism.estimators import SpectralSLDA
from topicprism.evaluation import pr2
from topicprism.subsets import of_subset

S = TypeVar("S")
OURS, BASELINE, MEAN = "topicprism", "TF-IDF + ridge", "the mean"


PURPOSES = {  # of a pass, by what is added up in it
    "of": "counting words",
    "word_sums": "counting words",
    "pair_products": "looking for directions",
    "sketch_sums": "taking moments",
    "cross_products": "asking how much is noise",
    "second_moments_by_fold": "telling directions from accidents",
    "of_subsets": "asking what documents agree on",
    "expected_counts": "hearing which topic says what",
    "products": "explaining the numbers",
    "residual_sums": "asking how sure that is",
}


@dataclass
class Watched:
    """Documents whose passes can be watched."""

    docs: Documents
    progress: Progress
    passes: int = 0

    @property
    def n_words(self) -> int:
        return self.docs.n_words

    def total(self, part: Callable[..., S], *shared: Any) -> S:
        self.passes += 1
        self.progress.at(None, f"pass {self.passes}: {_purpose(part, *shared)}")
        return self.docs.total(part, *shared)


def _purpose(part: Callable[..., Any], *shared: Any) -> str:
    """What a pass is for, over all documents or a part: to try numbers of topics, say."""
    names = [f.__name__ for f in (part, *shared) if callable(f)]
    what = next((PURPOSES[name] for name in names if name in PURPOSES), "adding up")
    return f"{what}, of a part" if part is of_subset else what


def learn(topics: SpectralSLDA, counted: Counted, progress: Progress) -> SpectralSLDA:
    progress.stage("learning")
    return topics.fit_documents(Watched(counted.docs, progress))


def score(topics: SpectralSLDA, counted: Counted, progress: Progress) -> dict[str, float]:
    """pR2 on the documents held out, beside a regression on the same words and the mean."""
    held, base = counted.held_out, counted.baseline
    if len(held) < 2 or np.ptp(held.y) == 0:
        return {}
    progress.stage("scoring")
    return {
        OURS: pr2(held.y, topics.predict(held.counts)),
        BASELINE: pr2(held.y, _baseline(base, held)),
        MEAN: pr2(held.y, np.full(len(held), base.y.mean())),
    }


def shares(topics: SpectralSLDA, kept: Kept) -> list[float]:
    """How much of the words of some documents each topic wrote."""
    written = kept.counts.sum(axis=1) @ topics.transform(kept.counts)
    return [float(share) for share in written / written.sum()]


def _baseline(train: Kept, test: Kept) -> Any:
    model = make_pipeline(TfidfTransformer(sublinear_tf=True), Ridge(alpha=1.0))
    return model.fit(train.counts, train.y).predict(test.counts)
