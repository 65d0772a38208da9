"""From shards of counts to a pipeline, and how well it predicts documents held out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import vstack
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from topicprism.cli.progress import Progress
from topicprism.cli.reading import Counted, Kept
from topicprism.corpus import Documents
from topicprism.engines.disk import read
from topicprism.estimators import SpectralSLDA
from topicprism.evaluation import pr2
from topicprism.settings import Settings
from topicprism.sketching import Sketch
from topicprism.spectral import decompose

S = TypeVar("S")
OURS, BASELINE, MEAN = "topicprism", "TF-IDF + ridge", "the mean"


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
        self.progress.at(None, f"pass {self.passes} over the counts")
        return self.docs.total(part, *shared)


def learn(topics: SpectralSLDA, counted: Counted, progress: Progress) -> SpectralSLDA:
    progress.stage("learning")
    if hasattr(topics, "fit_documents"):
        fitted: SpectralSLDA = topics.fit_documents(Watched(counted.docs, progress))
        return fitted
    # SHIM, to be deleted with the imports it needs once fit_documents is there
    shards: list[Any] = [read(path) for path in counted.docs.shards]
    X = vstack([shard.counts for shard in shards], format="csr")
    return topics.fit(X, np.concatenate([shard.y for shard in shards]))


def learn_sketch(topics: SpectralSLDA, sketch: Sketch) -> SpectralSLDA:
    """The topics in a sketch."""
    if hasattr(topics, "fit_sketch"):
        fitted: SpectralSLDA = topics.fit_sketch(sketch)
        return fitted
    # SHIM, to be deleted with the imports it needs once fit_sketch is there
    settings = Settings(method=topics.method, whitening=topics.whitening)
    rng = np.random.default_rng(topics.random_state)
    solution = decompose(sketch, topics.n_topics, topics.alpha0, settings, rng=rng)
    topics.model_, topics.n_short_ = solution.model, 0
    topics.components_, topics.alpha_ = solution.model.mu.T, solution.model.alpha
    topics.coef_, topics.noise_variance_ = solution.model.eta, solution.model.sigma**2
    topics.n_features_in_ = solution.model.n_words
    return topics


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
