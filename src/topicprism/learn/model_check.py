"""Whether the model predicts as it should, where few words cannot show that it does not hold.

Of text the eigenvalues of E[x x] go on and on, but with few or short documents noise hides most of
them, and the spectrum seems to end.  Where noise is that large, documents decide: halves of them
predict each other's responses, by the model and by topics fitted to the response
(:mod:`topicprism.learn.text_regime`), which may shrink to the mean.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from topicprism.documents.subsets import ALL, Subset, SubsetDocuments
from topicprism.learn import text_regime
from topicprism.learn.crossfit import Predictions, fit_halves, held_out
from topicprism.learn.defaults import MODEL, TEXT
from topicprism.learn.few import Folds
from topicprism.learn.response_topics import text_sketch
from topicprism.learn.result import FitContext, FitResult
from topicprism.learn.ridge import products
from topicprism.model import Model, TooManyTopics
from topicprism.spectral.decompose import decompose


def doubt(found: FitResult, context: FitContext) -> str:
    """Why the documents are not taken for the model's; empty if they may be."""
    edge, request = context.sketch.noise_edge, context.request
    if edge <= MODEL.doubtful_noise_edge or not request.supervised:
        return ""
    folds, some = text_regime.few_folds(context), context.sample(TEXT.learn_documents)
    theirs = max(_predictions_of_text(some, folds).shrunk_r2, 0.0)
    ours = _r2_of_model(found, some)
    if ours >= MODEL.min_r2_share * theirs - MODEL.r2_tolerance:
        return ""
    seems = (
        f"the spectrum seems to end at {found.model.n_topics}, but noise hides eigenvalues up to"
    )
    if not np.isfinite(ours):
        return f"{seems} {edge:.2g}, and halves of the documents do not have as many topics"
    return (
        f"{seems} {edge:.2g}, and by these topics halves of the documents predict each other with "
        f"R2 {ours:.3f}, by topics fitted to the response with {theirs:.3f}"
    )


def predicts_worse_than_the_mean(found: FitResult, context: FitContext) -> str:
    """Why the model's answer is not taken, though documents may be from it; empty if it is."""
    request, model = context.request, found.model
    if not request.supervised or request.alpha0 is not None or model.n_topics == 1:
        return ""
    for n, enough in ((MODEL.check_documents, MODEL.check_r2), (TEXT.trial_documents, 0.0)):
        p = context.sample(n).docs.total(products, model, ALL)
        if p.pr2(model.eta) >= enough:
            return ""
    return (
        f"the moments of these documents show {model.n_topics} topics, but by these the documents "
        f"themselves are predicted worse than by their mean (R2 {p.pr2(model.eta):.3f})"
    )


def _predictions_of_text(context: FitContext, folds: Folds | None) -> Predictions:
    k = context.request.n_topics or TEXT.n_topics_of_few
    if folds:
        return folds.of(k)[0]
    halves = fit_halves(context.keys, context.within, text_regime.HalfLearner(context, k))
    return held_out(context.docs, halves)


def _r2_of_model(found: FitResult, context: FitContext) -> float:
    if found.model.n_topics == 1:
        return 0.0  # it predicts the mean
    try:
        models = fit_halves(context.keys, context.within, _HalfModel(context, found))
    except (TooManyTopics, np.linalg.LinAlgError):  # half of the documents do not have as many
        return -np.inf
    shares = [m.alpha.min() / m.alpha.sum() for _, m in models]
    if any(s * context.n_documents < MODEL.min_documents_per_topic for s in shares):
        return -np.inf  # no topic in a half, and inference divides by such a prior
    return held_out(context.docs, models).r2


@dataclass(frozen=True)
class _HalfModel:
    """The paper's answer for some of the documents, from those documents alone."""

    context: FitContext
    found: FitResult

    def __call__(self, subset: Subset) -> Model:
        c, k = self.context, self.found.model.n_topics
        half = text_sketch(SubsetDocuments(c.docs, subset), k, c.rng)
        variance = self.found.model.sigma**2
        known = replace(c.request.settings, whitening="auto", noise_variance=variance)
        return decompose(half, k, self.found.selection.alpha0, known, rng=c.rng).model
