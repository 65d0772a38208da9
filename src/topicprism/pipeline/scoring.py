"""How well topics predict documents held out, beside a regression on the same words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from topicprism._typing import Doc
from topicprism.documents.sums import Sized
from topicprism.evaluation import pr2
from topicprism.scales import Scale, fitted, unscaled

OURS, BASELINE, MEAN = "topicprism", "TF-IDF + ridge", "the mean"


@dataclass(frozen=True)
class Kept(Sized):
    """Documents at hand."""

    counts: csr_array
    y: Doc
    texts: list[str]

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def __add__(self, other: Kept) -> Kept:
        counts = vstack([self.counts, other.counts], format="csr")
        return Kept(counts, np.concatenate([self.y, other.y]), self.texts + other.texts)


def score(topics: Any, held_out: Kept, baseline: Kept, scale: Scale = None) -> dict[str, float]:
    """Predictive R2 on documents held out, of the model, of a ridge regression and of the mean.

    All three on the scale that was fitted.
    """
    if len(held_out) < 2 or np.ptp(held_out.y) == 0:
        return {}
    y, known = fitted(scale, held_out.y), fitted(scale, baseline.y)
    ridge = _ridge(baseline.counts, known).predict(held_out.counts)

    def agreement(z: Doc) -> float:
        return pr2(y, fitted(scale, unscaled(scale, z)))

    return {
        OURS: agreement(topics.predict(held_out.counts)),
        BASELINE: agreement(ridge),
        MEAN: agreement(np.full(len(held_out), known.mean())),
    }


def shares(topics: Any, kept: Kept) -> list[float]:
    """The share of each topic in the words of some documents."""
    written = kept.counts.sum(axis=1) @ topics.transform(kept.counts)
    return [float(share) for share in written / written.sum()]


def _ridge(counts: csr_array, y: Doc) -> Any:
    model = make_pipeline(TfidfTransformer(sublinear_tf=True), Ridge(alpha=1.0))
    return model.fit(counts, y)
