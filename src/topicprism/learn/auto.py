"""From documents to a model, without settings to tune.

One sketch of the documents, wide enough for the largest number of topics, decides the regime.
Documents that follow sLDA get the estimator of the paper (:mod:`topicprism.learn.model_regime`);
text with more structure than k topics the other (:mod:`topicprism.learn.text_regime`).  Documents
are summed in the order of their keys and their responses are standardised, so that neither the
order of rows nor the units of the response make a difference to the last digit; nor does its sign,
since the word that goes with the response most is made to go with high ones.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

import numpy as np

from topicprism.documents.corpus import Documents
from topicprism.documents.occurring import over_words
from topicprism.documents.standardised import StandardisedDocuments
from topicprism.kernels.blas import one_blas_thread
from topicprism.learn import (
    as_printed,
    model_check,
    model_regime,
    sampled_text,
    text_regime,
)
from topicprism.learn.defaults import MODEL, SAMPLED
from topicprism.learn.result import FitContext, FitRequest, FitResult
from topicprism.learn.spectrum import Spectrum, read_spectrum
from topicprism.learn.survey import Survey, is_ordered, standardised, survey, words_and_sample
from topicprism.model import ResponseScale
from topicprism.spectral.basis import points_down
from topicprism.spectral.decompose import width_for
from topicprism.spectral.sketch import sketch_of


def learn(
    docs: Documents,
    request: FitRequest,
    rng: np.random.Generator,
    counted: Callable[[int], object] = lambda n: None,
) -> FitResult:
    """The best model of documents, wherever they are kept; ``counted`` is told how many."""
    request.check(docs.n_words)
    with one_blas_thread:  # what is not in the passes is small
        all_ = docs.total(survey)
        all_.check(request.supervised, counted)
        if 1 < len(words := np.flatnonzero(all_.words)) < docs.n_words:  # no column is zero
            return learn(over_words(docs, words), request, rng).over(words, docs.n_words)
        docs, all_, request = standardised(docs, all_, request)
        if request.as_printed:
            return as_printed.from_documents(docs, request, rng).in_units(all_.scale)
        scale, context, spectrum = _summed(docs, all_, request, rng)
        found, why_not = _of_model(context, spectrum)
        if found is None or why_not:
            found = _of_text(context, all_.n_tokens, why_not)
    found = found.saying_its_method(request.settings.method, request.supervised)
    return replace(found.in_units(scale), n_short=all_.n_short, n_copies=all_.n_copies)


def _summed(
    docs: StandardisedDocuments, all_: Survey, request: FitRequest, rng: np.random.Generator
) -> tuple[ResponseScale, FitContext, Spectrum]:
    """The sketch of the documents and its spectrum; the scale of their responses."""
    sums, some = words_and_sample(docs, all_, request)
    if points_down(sums):  # so that -y has the same topics
        docs, sums, some = docs.mirrored, sums.mirrored, some and some.mirrored
    start = None if is_ordered(all_, request) else deepcopy(rng)
    sketch = sketch_of(docs, sums, width_for(request.n_topics or MODEL.max_topics), rng)
    spectrum = read_spectrum(sketch, request, sums)
    context = FitContext(docs, sketch, all_.keys, request, rng, spectrum.why, some, start)
    return docs.scale, context, spectrum


def _of_model(context: FitContext, spectrum: Spectrum) -> tuple[FitResult | None, str]:
    """The paper's answer, if the spectrum ends, and why documents speak against it, if they do."""
    found = model_regime.from_sketch(context.sketch, spectrum, context.request, context.rng)
    if found is None:
        return None, ""
    if why_not := model_check.doubt(found, context):
        return found, why_not
    found = model_regime.with_documents(found, context)
    return found, model_check.predicts_worse_than_the_mean(found, context)


def _of_text(context: FitContext, n_tokens: float, why: str) -> FitResult:
    sampled = _sampled(context, n_tokens)
    found: FitResult = (sampled_text if sampled else text_regime).from_documents(context)
    return found.with_reason(why) if why else found


def _sampled(context: FitContext, n_tokens: float) -> bool:
    """Whether topics are sampled: with fewer documents or words gradients are too uncertain."""
    return (
        context.request.sampled
        and context.n_documents >= SAMPLED.min_documents
        and n_tokens >= SAMPLED.min_words
    )
