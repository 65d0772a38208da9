"""Effects by cross-fitting: topics from one half of the documents, coefficients from the other.

Where the response helps to find topics, a regression on the same documents overstates what they
explain.  So documents are cut into two halves by their keys.  Each half has a model that was
learnt from the other half alone; its topics are matched to those of the model of all documents
(:func:`topicprism.evaluation.matched_topics`), and the responses of the half are regressed on
them.  The coefficient of a topic is the mean over the halves ::

    theta = (theta_1 + theta_2) / 2

Its standard error has two sources: the responses (robust to unequal variances, HC3), and the
topics, which differ from half to half.  With v_i the first and d_i = 1 - the similarity of the two
halves' versions of topic i, differences between halves have variance ::

    Var[theta_1i - theta_2i] = v_1i + v_2i + c d_i

where c is fitted to the differences of all topics.  A topic's own squared difference, which is one
number, is added to this as one of DIFFERENCE_PRIOR + 1 (as in a moderated t statistic, Smyth 2004).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from topicprism._typing import Doc, DocTopic, Ints, Topic, WordTopic
from topicprism.documents.corpus import Corpus, Documents
from topicprism.documents.subsets import KeyCounts, Subset
from topicprism.documents.sums import Additive
from topicprism.evaluation import SAME_TOPIC, bhattacharyya, matched_topics
from topicprism.inference import infer
from topicprism.learn.defaults import EFFECTS
from topicprism.learn.ridge import Products, regress
from topicprism.model import Model, ResponseScale

Halves = Sequence[tuple[Subset, Model]]  # documents, and a model of all others


@dataclass(frozen=True)
class Predictions:
    """How well responses were predicted by models of other documents."""

    n: int
    r2: float
    slope: float  # of responses on predictions
    correlation: float

    @property
    def r2_std(self) -> float:
        return float(2 * np.sqrt(max(self.r2, 0.05)) * (1 - self.r2) / np.sqrt(max(self.n, 1)))

    @property
    def predicts(self) -> bool:
        """Whether predictions and responses are correlated beyond chance."""
        return bool(self.correlation * np.sqrt(self.n) > EFFECTS.prediction_z)

    @property
    def shrunk_r2(self) -> float:
        """R2 of predictions that are shrunk like these, above 0 if they predict beyond chance."""
        r2 = self.r2 if self.slope >= 1 else float(self.correlation) ** 2
        return float(r2) if self.predicts else min(self.r2, 0.0)

    def shrunk(self, eta: Topic, centre: float) -> Topic:
        """Coefficients for prediction, nearer to the mean if these predictions went too far."""
        return centre + min(max(self.slope, 0.0), 1.0) * (eta - centre)


@dataclass(frozen=True)
class CrossFit(Predictions):
    """What halves of the documents say of a model of all of them."""

    coef: Topic  # NaN where a topic was found in neither half
    std: Topic
    replication: Topic  # similarity of the two halves' versions of each topic


@dataclass(frozen=True)
class Inferred:
    """Proportions and responses of some documents; ``a + b`` are those of both."""

    h: DocTopic
    y: Doc

    def __add__(self, other: Self) -> Inferred:
        return Inferred(np.vstack([self.h, other.h]), np.concatenate([self.y, other.y]))


def inferred(c: Corpus, model: Model, subset: Subset) -> Inferred:
    rows = subset.rows(c).long()
    return Inferred(infer(model, rows.counts), rows.y)


@dataclass(frozen=True)
class Shares(Additive):
    """Proportions of documents added up, each by its number of words."""

    words: Topic

    @property
    def mean(self) -> Topic:
        mean: Topic = self.words / self.words.sum()
        return mean


def mean_shares(c: Corpus, model: Model, subset: Subset) -> Shares:
    rows = subset.rows(c).long()
    X = rows.counts
    ends = np.concatenate([[0.0], np.cumsum(X.data, dtype=float)])[X.indptr]
    return Shares(np.diff(ends) @ infer(model, X))


def fit_halves(keys: KeyCounts, within: Subset, learn: Callable[[Subset], Model]) -> Halves:
    """Each half of the documents, with what ``learn`` makes of the other."""
    first, second = keys.cut(2, within)
    if min(keys.size(first), keys.size(second)) < EFFECTS.min_half_documents:
        return ()
    return (second, learn(first)), (first, learn(second))


def cross_fit(docs: Documents, model: Model, halves: Halves, scale: ResponseScale) -> CrossFit:
    """Effects of the model's topics, from halves that were learnt with :func:`fit_halves`."""
    known = [docs.total(inferred, other, half) for half, other in halves]
    matches = [matched_topics(model.mu, other.mu) for _, other in halves]
    fits = [_robust(k.h, scale.standardised(k.y)) for k in known]
    orders = [order for order, _ in matches]
    theta, v = (
        np.array([_at(f[i], order) for f, order in zip(fits, orders, strict=True)]) for i in (0, 1)
    )
    found = np.array([s >= SAME_TOPIC for _, s in matches])
    apart = _dissimilarity([other.mu for _, other in halves], orders)
    coef, std = combine(theta, v, found, apart)
    predicted = np.concatenate([k.h @ o.eta for k, (_, o) in zip(known, halves, strict=True)])
    y = np.concatenate([k.y for k in known])
    size = abs(scale.scale)
    coef = scale.centre + scale.scale * coef
    return CrossFit(len(y), *_agreement(y, predicted), coef, size * std, 1 - apart)


def held_out(docs: Documents, halves: Halves) -> Predictions:
    """Of the responses of each half, predicted by the model of the other; none without halves."""
    if not halves:
        return Predictions(0, 0.0, 0.0, 0.0)
    known = [docs.total(inferred, other, half) for half, other in halves]
    predicted = np.concatenate([k.h @ o.eta for k, (_, o) in zip(known, halves, strict=True)])
    return predictions_of(np.concatenate([k.y for k in known]), predicted)


def held_out_r2(docs: Documents, halves: Halves) -> float:
    return held_out(docs, halves).r2


def predictions_of(y: Doc, predicted: Doc) -> Predictions:
    return Predictions(len(y), *_agreement(y, predicted))


def combine(theta: DocTopic, v: DocTopic, found: DocTopic, apart: Topic) -> tuple[Topic, Topic]:
    """Coefficients and standard errors from two halves (rows), each topic where it was found."""
    both, any_ = found.all(axis=0), found.any(axis=0)
    square, due = (theta[0] - theta[1]) ** 2, v.sum(axis=0)
    d = apart[both]
    c = max(float(d @ (square - due)[both]) / max(float(d @ d), 1e-12), 0.0) if both.any() else 0.0
    between = due + c * apart
    prior = EFFECTS.difference_prior
    own = np.maximum((prior * between + square) / (prior + 1), due)
    one = np.where(found[0], v[0], v[1]) + c * apart / 2
    variance = np.where(both, own / 4, one)
    coef = np.where(both, theta.mean(axis=0), np.where(found[0], theta[0], theta[1]))
    unknown = np.where(any_, 1.0, np.nan)
    return coef * unknown, np.sqrt(variance) * unknown


def _robust(h: DocTopic, y: Doc) -> tuple[Topic, Topic]:
    """Ridge coefficients, and their variances whatever the variance of each response (HC3)."""
    p = Products.of(h, y)
    found = regress(p)
    inverse = np.linalg.inv(p.hh + found.penalty * np.eye(h.shape[1]))
    leverage = np.einsum("dk,kl,dl->d", h, inverse, h)
    error = (y - h @ found.eta) / np.maximum(1 - leverage, 0.1)
    spread = inverse @ (h * error[:, None]).T
    return found.eta, np.einsum("kd,kd->k", spread, spread)


def _at(values: Topic, order: Ints) -> Topic:
    """Values of matched topics; 0 where there is none, which is not found again."""
    return np.where(order >= 0, values[order], 0.0)


def _dissimilarity(topics: Sequence[WordTopic], orders: Sequence[Ints]) -> Topic:
    """Of the two halves' versions of each topic."""
    similar = bhattacharyya(*topics)
    return np.where((orders[0] >= 0) & (orders[1] >= 0), 1 - similar[orders[0], orders[1]], 1.0)


def _agreement(y: Doc, predicted: Doc) -> tuple[float, float, float]:
    """R2 of predictions, slope of responses on them, and their correlation."""
    a, b = predicted - predicted.mean(), y - y.mean()
    total, size = float(b @ b), float(a @ a)
    r2 = 1 - float(((y - predicted) ** 2).sum()) / total if total > 0 else 0.0
    if not (size > 0 and total > 0):
        return r2, 0.0, 0.0
    return r2, float(a @ b) / size, float(a @ b) / np.sqrt(size * total)
