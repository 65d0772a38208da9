"""What halves of the documents say of a result: effects, and which topics documents carry."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from topicprism._typing import Ints, Topic
from topicprism.documents.corpus import Documents
from topicprism.documents.subsets import Subset
from topicprism.evaluation import SAME_TOPIC, bhattacharyya
from topicprism.learn.crossfit import CrossFit, Halves, Predictions, cross_fit, mean_shares
from topicprism.learn.defaults import EFFECTS
from topicprism.learn.result import FitContext, FitResult
from topicprism.learn.ridge import calibrate, products, regress
from topicprism.model import Model


def with_cross_fit(
    found: FitResult,
    docs: Documents,
    halves: Halves,
    context: FitContext,
    by_folds: Predictions | None = None,
) -> FitResult:
    """The result with what halves of the documents say of it: effects, and topics they carry.

    How well it predicts is what ``by_folds`` says, where there are such predictions.
    """
    if not halves:
        return replace(found, coef=None, coef_std=None)
    known = cross_fit(docs, found.model, halves, context.scale)
    if context.request.n_topics is None:
        fewer = _carried(found, docs, known, halves, context)
        if fewer is not found:
            found, known = fewer, cross_fit(docs, fewer.model, halves, context.scale)
    told = by_folds or known
    predicts = told.predicts or found.model.n_topics == 1  # one topic has nothing to predict by
    eta = told.shrunk(found.model.eta, context.scale.centre)
    coef = np.where(np.isnan(known.coef), eta, known.coef)
    order = np.lexsort((-found.model.alpha, coef))
    back = {int(i): at for at, i in enumerate(order)}
    return replace(
        found,
        model=replace(found.model, eta=eta).reordered(order),
        coef=coef[order],
        coef_std=known.std[order] if predicts else np.full(len(order), np.nan),
        replication=known.replication[order],
        cross_fitted_r2=told.shrunk_r2,
        predicts=predicts,
        frozen_topics=tuple(sorted(back[i] for i in found.frozen_topics)),
    )


def _carried(
    found: FitResult, docs: Documents, known: CrossFit, halves: Halves, context: FitContext
) -> FitResult:
    """The result with the topics that documents carry only, unless that costs too much R2."""
    model, subset = found.model, _union(halves)
    shares = docs.total(mean_shares, model, subset).mean
    p = docs.total(products, model, context.scale, subset)
    wanted = p.pr2(regress(p).eta) - EFFECTS.r2_tolerance
    for replication in (known.replication, np.ones(model.n_topics)):
        keep, dropped = carried(model, replication, shares)
        if not dropped:
            return found
        fewer = model.reordered(keep).with_alpha0(found.selection.alpha0)
        p = docs.total(products, fewer, context.scale, subset)
        if p.pr2(regress(p).eta) >= wanted:
            return _restricted(found, docs, keep, dropped, subset, context)
    return found


def _restricted(
    found: FitResult, docs: Documents, keep: Ints, dropped: str, subset: Subset, context: FitContext
) -> FitResult:
    """The result with some of its topics only, and coefficients anew."""
    model = found.model.reordered(keep).with_alpha0(found.selection.alpha0)
    again = calibrate(docs, model, context.scale, subset)
    reason = found.selection.reasons["n_topics"]
    why = f"{reason}; of {found.model.n_topics}, {dropped} were dropped"
    variance, asked = float(again.model.sigma**2), context.request.settings.noise_variance
    if asked is not None:
        again, variance = replace(again, model=replace(again.model, sigma=found.model.sigma)), asked
    reasons = found.selection.reasons | {"n_topics": why}
    return replace(
        found,
        model=again.model,
        selection=replace(
            found.selection, n_topics=len(keep), noise_variance=variance, reasons=reasons
        ),
        predictive_variance=again.predictive_variance,
        frozen_topics=tuple(i for i, j in enumerate(keep.tolist()) if j in found.frozen_topics),
        dropped=True,
    )


def _union(halves: Halves) -> Subset:
    """Both halves, which are next to each other."""
    return Subset(min(h.start for h, _ in halves), max(h.stop for h, _ in halves))


def carried(model: Model, replication: Topic, shares: Topic) -> tuple[Ints, str]:
    """Topics to keep, and what was dropped, in words.

    Dropped are topics that the halves do not have in common, that are like a larger one, or that
    hold too small a share.  Two are kept at least.
    """
    alike = bhattacharyya(model.mu, model.mu) > EFFECTS.alike
    lost = "not found again in halves of the documents"
    like, small = "like another", f"with under {EFFECTS.min_share:.0%} of the words"
    keep: list[int] = []
    dropped = []
    for i in np.argsort(-shares, kind="stable").tolist():
        if any(alike[i, j] for j in keep):
            dropped.append(like)
        elif shares[i] < EFFECTS.min_share:
            dropped.append(small)
        elif replication[i] < SAME_TOPIC:
            dropped.append(lost)
        else:
            keep.append(i)
    if len(keep) < 2:
        return np.sort(np.argsort(-replication, kind="stable")[:2]), f"{model.n_topics - 2} {lost}"
    said = [f"{n} {why}" for why in (lost, like, small) if (n := dropped.count(why))]
    return np.sort(keep), " and ".join(said)
