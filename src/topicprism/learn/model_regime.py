"""Where documents are from the model: the paper's answer, its noise variance and its errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from topicprism.documents.subsets import Subset, SubsetDocuments, map_subsets
from topicprism.evaluation import match
from topicprism.learn.coefficients import Coefficients, coefficients
from topicprism.learn.defaults import MODEL
from topicprism.learn.jackknife import without_each
from topicprism.learn.noise import Estimate, noise_by_split_half
from topicprism.learn.result import (
    AS_ASKED,
    FitContext,
    FitRequest,
    FitResult,
    Regime,
    selection_of,
)
from topicprism.learn.spectrum import Spectrum, alpha0_of, describe_alpha0
from topicprism.model import Model, TooManyTopics
from topicprism.spectral.cross_fitted import cross_fitted_sketches
from topicprism.spectral.decompose import SPARE_COORDINATES, by_effect, decompose
from topicprism.spectral.moments import word_sums
from topicprism.spectral.recovery import noise_variance_std
from topicprism.spectral.sketch import Sketch, moments_of_subsets, sketch_over


def from_sketch(
    sketch: Sketch, spectrum: Spectrum, request: FitRequest, rng: np.random.Generator
) -> FitResult | None:
    """The paper's answer; None if the model does not hold, or a topic has too few documents."""
    if spectrum.regime is not Regime.MODEL:
        return None
    k, why = spectrum.n_topics, spectrum.why
    try:
        found = decomposed(sketch, k, why, request, rng)
    except TooManyTopics as refused:
        if request.n_topics is None or refused.largest < 1:
            return None
        why = f"{k} were asked for, but the moments identify no more"
        found = decomposed(sketch, refused.largest, why, request, rng)
    n_documents = found.model.alpha.min() / found.model.alpha.sum() * sketch.n
    return found if n_documents >= MODEL.min_documents_per_topic or sketch.n == 0 else None


def decomposed(
    sketch: Sketch, k: int, why: str, request: FitRequest, rng: np.random.Generator
) -> FitResult:
    """The model in a sketch, with alpha0 from the same sketch unless it was given."""
    alpha0, settings = request.alpha0, request.settings
    reason = AS_ASKED
    if alpha0 is None:
        alpha0 = alpha0_of(sketch, k, settings, rng)
        reason = describe_alpha0(alpha0)
    found = decompose(sketch, k, alpha0, settings, rng=rng)
    left = _by_moments(sketch, found.model)
    variance = f"from second moments, {left.precision}"
    reasons = {
        "n_topics": why,
        "alpha0": reason,
        "noise_variance": variance if settings.noise_variance is None else AS_ASKED,
    }
    selection = selection_of(sketch, found.model, alpha0, (), reasons)
    if request.alpha0 is None:
        found = replace(found, model=found.model.with_alpha0(alpha0))
    return FitResult(found.model, selection, np.array([left.value, 1.0]), solution=found)


def with_documents(found: FitResult, context: FitContext) -> FitResult:
    """What a sketch alone does not give: alpha0 and coefficients without bias, with standard
    errors, and a small noise variance."""
    return _with_noise(_with_coefficients(found, context), context)


def _with_coefficients(found: FitResult, context: FitContext) -> FitResult:
    """alpha0 unless it was given, coefficients and their standard errors, cross-fitted."""
    request, k = context.request, found.model.n_topics
    chosen = request.alpha0 is None and k > 1
    if not (request.supervised or chosen):
        return found
    folds = context.folds(MODEL.coefficient_folds)
    parts = cross_fitted_sketches(context.docs, folds, context.sketch, k)
    known = coefficients(parts, found.model, request, context.rng)
    if known is None:
        return found
    return _at_alpha0(found, known, context) if chosen else _with_eta(found, known)


def _at_alpha0(found: FitResult, known: Coefficients, context: FitContext) -> FitResult:
    """The decomposition at another alpha0, with coefficients that belong to it."""
    settings, k = context.request.settings, found.model.n_topics
    try:
        solution = decompose(context.sketch, k, known.alpha0, settings, rng=context.rng)
    except TooManyTopics:
        return found
    solution = solution.reordered(match(solution.model, found.model))
    reasons = found.selection.reasons | {"alpha0": describe_alpha0(known.alpha0, known.interval)}
    selection = replace(found.selection, alpha0=known.alpha0, reasons=reasons)
    model = solution.model.with_alpha0(known.alpha0)
    found = replace(found, model=model, selection=selection, solution=solution)
    return _with_eta(found, known) if context.request.supervised else found


def _with_eta(found: FitResult, known: Coefficients) -> FitResult:
    """With these coefficients and standard errors, the topics in their order."""
    order = by_effect(found.model.alpha, known.eta)
    model = replace(found.model, eta=known.eta).reordered(order)
    solution = found.solution.reordered(order) if found.solution else None
    return replace(found, model=model, coef_std=known.std[order], solution=solution)


def _by_moments(sketch: Sketch, model: Model) -> Estimate:
    """The noise variance, as the sketch has it."""
    std = sketch.basis.scale**2 * noise_variance_std(sketch, model.n_topics)
    return Estimate(model.sigma**2, std)


def _with_noise(found: FitResult, context: FitContext) -> FitResult:
    """The noise variance from halves of documents, where second moments estimate it poorly."""
    request = context.request
    if not request.supervised or request.settings.noise_variance is not None:
        return found
    first = _by_moments(context.sketch, found.model)
    share = min(1.0, MODEL.noise_documents / max(context.n_documents, 1))
    if not replace(first, std=first.std * share**0.5).is_uncertain:
        return found  # a part of the documents would be less precise than all moments
    try:
        folds = _cross_fitted_models(found, context)
        if not folds:
            return found
        second = noise_by_split_half(context.sample(MODEL.noise_documents).docs, folds)
    except (TooManyTopics, np.linalg.LinAlgError):  # too few documents, or topics that are alike
        return found
    if not second.std < first.std:
        return found
    variance = max(second.value, second.std)  # at least its standard error
    reason = f"from halves of each document's words, {second.precision}"
    return found.with_noise_variance(variance, reason)


def _cross_fitted_models(found: FitResult, context: FitContext) -> list[tuple[list[Subset], Model]]:
    """Folds of the documents, each in tenths and with a model of all others, responses too.

    Their coordinates for words may be the same, if the responses of each fold have their own.
    """
    some, k = context.sample(MODEL.noise_documents), found.model.n_topics
    tested = some.folds(MODEL.noise_folds)
    basis = context.sketch.leading(k + SPARE_COORDINATES).basis
    sums = map_subsets(some.docs, tested, word_sums)
    if min(s.n for s in sums) == 0:
        return []  # too few documents that differ
    basis = basis.extend(np.column_stack([s.yx_about(basis.centre) for s in sums]))
    others = SubsetDocuments(context.docs, some.within.rest)  # whose E[y x] is in the basis with
    moments = moments_of_subsets(some.docs, tested, basis)  # that of all and those of the folds
    rests = without_each([*moments, sketch_over(others, basis)])
    variance = found.model.sigma**2
    settings = context.request.settings
    restarts = min(settings.n_restarts, MODEL.noise_restarts)
    known = replace(settings, whitening="auto", noise_variance=variance, n_restarts=restarts)
    folds = []
    for fold, rest in zip(tested, rests, strict=False):
        model = decompose(rest, k, found.selection.alpha0, known, rng=context.rng).model
        folds.append((context.keys.cut(MODEL.jackknife_folds, fold), model))
    return folds
