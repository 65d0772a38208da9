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
Topics of a half are not quite those of all documents.  So the interval of theta also reaches
eta, the coefficient of all documents: the squared difference is added to its squared length.
So is what another choice of the prior would change (:mod:`topicprism.learn.prior_choice`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from topicprism._typing import Array, Doc, DocTopic, Ints, Topic, WordTopic
from topicprism.documents.corpus import Documents
from topicprism.documents.subsets import KeyCounts, Subset
from topicprism.evaluation import SAME_TOPIC, Z95, bhattacharyya, matched_topics, r2_std
from topicprism.learn.defaults import EFFECTS, TEXT
from topicprism.learn.judging import only_supported
from topicprism.learn.prior_choice import PriorChoice
from topicprism.learn.proportions import Inferred, inferred
from topicprism.learn.result import FitContext, FitResult, Halves
from topicprism.learn.ridge import (
    predictive_variance,
    products,
    regress,
    regress_robustly,
    residual_sums,
)
from topicprism.model import Model, ResponseScale

HELD_OUT = (
    "the residual variance of predictions by the other half of the documents, less the uncertainty "
    "of the proportions"
)


@dataclass(frozen=True)
class Predictions:
    """How well responses were predicted by models of other documents."""

    n: int
    r2: float
    slope: float  # of responses on predictions
    correlation: float

    @property
    def r2_std(self) -> float:
        return r2_std(self.r2, self.n)

    @property
    def predicts(self) -> bool:
        """Whether predictions and responses are correlated beyond chance."""
        return bool(self.correlation * np.sqrt(self.n) > EFFECTS.prediction_z)

    @property
    def shrunk_r2(self) -> float:
        """R2 of predictions that are shrunk like these, above 0 if they predict beyond chance."""
        r2 = self.r2 if self.slope >= 1 else float(self.correlation) ** 2
        return float(r2) if self.predicts else min(self.r2, 0.0)

    def shrunk(self, eta: Topic) -> Topic:
        """Coefficients for prediction, nearer to the mean if these predictions went too far."""
        return min(max(self.slope, 0.0), 1.0) * eta


@dataclass(frozen=True)
class CrossFit(Predictions):
    """A model of all documents beside those of their halves."""

    coef: Topic  # NaN where a topic was found in neither half
    std: Topic
    replication: Topic  # the least similarity of two of: a topic, and the halves' versions of it
    halves: Halves = ()  # their models with the prior of that of all documents

    def in_units(self, scale: ResponseScale) -> CrossFit:
        """The same of responses in their own units, having been of standardised ones."""
        return replace(self, coef=scale.unstandardised(self.coef), std=abs(scale.scale) * self.std)

    def effects(self, eta: Topic, shown: bool) -> tuple[Topic, Topic]:
        """Coefficients, those of ``eta`` for topics that neither half has, and standard errors.

        ``eta`` are coefficients of all documents, which intervals reach, too.  All errors are NaN
        if they are not to be shown: where nothing is predicted.
        """
        coef = np.where(np.isnan(self.coef), eta, self.coef)
        std = np.hypot(self.std, (coef - eta) / Z95)
        return coef, std if shown else np.full(len(eta), np.nan)


def fit_halves(keys: KeyCounts, within: Subset, learn: Callable[[Subset], Model]) -> Halves:
    """Each half of the documents, with what ``learn`` makes of the other."""
    first, second = keys.cut(2, within)
    if min(keys.size(first), keys.size(second)) < EFFECTS.min_half_documents:
        return ()
    return (second, learn(first)), (first, learn(second))


def cross_fit(docs: Documents, model: Model, halves: Halves) -> CrossFit:
    """Effects of the model's topics, from halves that were learnt with :func:`fit_halves`."""
    halves = _with_prior_of(model, docs, halves)
    known, scored = _tried(docs, halves)
    matches = [matched_topics(model.mu, other.mu) for _, other in halves]
    fits = [regress_robustly(k.h, k.y, k.keys) for k in known]
    orders = [order for order, _ in matches]
    theta, v = (
        np.array([_at(f[i], order) for f, order in zip(fits, orders, strict=True)]) for i in (0, 1)
    )
    found = np.array([s >= SAME_TOPIC for _, s in matches])
    apart = _dissimilarity([other.mu for _, other in halves], orders)
    coef, std = combine(theta, v, found, apart)
    alike = np.minimum(1 - apart, np.min([s for _, s in matches], axis=0))
    return CrossFit(**vars(scored), coef=coef, std=std, replication=alike, halves=halves)


def _with_prior_of(model: Model, docs: Documents, halves: Halves) -> Halves:
    """The models of halves with the prior of the whole: effects depend on it."""
    found = []
    for (half, other), (learnt_from, _) in zip(halves, reversed(halves), strict=True):
        same = replace(other.with_alpha0(float(model.alpha.sum())), burstiness=model.burstiness)
        eta = regress(docs.total(products, same, learnt_from)).eta
        found.append((half, replace(same, eta=eta)))
    return found


def held_out(docs: Documents, halves: Halves) -> Predictions:
    """Of the responses of each half, predicted by the model of the other; none without halves."""
    return _tried(docs, halves)[1] if halves else Predictions(0, 0.0, 0.0, 0.0)


def _tried(docs: Documents, halves: Halves) -> tuple[list[Inferred], Predictions]:
    """Each half by the topics of the other's model, and how well that model predicts it."""
    known = [docs.total(inferred, other, half) for half, other in halves]
    predicted = np.concatenate([k.h @ o.eta for k, (_, o) in zip(known, halves, strict=True)])
    y, keys = (np.concatenate([getattr(k, name) for k in known]) for name in ("y", "keys"))
    return known, predictions_of(y, predicted, keys)  # halves may have other numbers of topics


def predictions_of(y: Doc, predicted: Doc, keys: NDArray[np.uint64]) -> Predictions:
    """Copies of a document, which have one key, are one observation."""
    return Predictions(len(np.unique(keys)), *_agreement(y, predicted))


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


# --- a result with what halves show -------------------------------------------------------


def with_cross_fit(
    found: FitResult,
    docs: Documents,
    halves: Halves,
    context: FitContext,
    choice: PriorChoice,
    by_folds: Predictions | None = None,
) -> FitResult:
    """The result with effects by halves of the documents, and the topics that they support.

    How well it predicts is that of ``by_folds``, where there are such predictions.  ``choice`` is
    that of the model's prior.
    """
    if not halves:
        return replace(found, coef=None, coef_std=None)
    known = cross_fit(docs, found.model, halves)
    if context.request.n_topics is None:
        few = known.n < TEXT.few_documents
        tolerance = EFFECTS.r2_tolerance_of_few if few else EFFECTS.r2_tolerance
        fewer = only_supported(found, docs, _union(halves), known.replication, tolerance)
        if fewer is not found:
            found, known = fewer, cross_fit(docs, fewer.model, halves)
    scored = by_folds or known
    predicts = scored.predicts or found.model.n_topics == 1  # one topic has nothing to predict by
    eta = scored.shrunk(found.model.eta)
    coef, std = known.effects(eta, predicts)
    std = np.hypot(std, choice.spread(docs, found.model))
    variance = held_out_variance(docs, known.halves, scored)
    asked = context.request.settings.noise_variance
    sigma = float(np.sqrt(variance[0] if asked is None else asked))
    reasons = found.selection.reasons | ({} if asked is not None else {"noise_variance": HELD_OUT})
    return replace(
        found,
        model=replace(found.model, eta=eta, sigma=sigma),
        selection=replace(found.selection, noise_variance=sigma**2, reasons=reasons),
        predictive_variance=variance,
        coef=coef,
        coef_std=std,
        replication=known.replication,
        cross_fitted_r2=scored.shrunk_r2,
        predicts=predicts,
    ).in_order


def held_out_variance(docs: Documents, halves: Halves, scored: Predictions | None = None) -> Array:
    """(a, b) of the variance of a response given its words, from predictions of the other half.

    Residuals of documents that topics were learnt from are too small.  Predictions are shrunk by
    what is known of them.
    """
    models = [replace(m, eta=scored.shrunk(m.eta)) if scored else m for _, m in halves]
    sums = [docs.total(residual_sums, m, half) for m, (half, _) in zip(models, halves, strict=True)]
    return predictive_variance(reduce(add, sums))


def _union(halves: Halves) -> Subset:
    """Both halves, which are next to each other."""
    return Subset(min(h.start for h, _ in halves), max(h.stop for h, _ in halves))
