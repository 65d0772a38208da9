"""From documents to a model, without settings to tune.

One sketch of the documents, wide enough for the largest number of topics, decides the regime.
Documents that follow sLDA get the estimator of the paper (:mod:`topicprism.learn.model_road`);
text with more structure than k topics the other (:mod:`topicprism.learn.text_road`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from topicprism.documents.corpus import Corpus, Documents
from topicprism.documents.subsets import KeyCounts, in_key_order
from topicprism.documents.sums import Additive
from topicprism.kernels.blas import one_blas_thread
from topicprism.learn import model_check, model_road, sampled_text, sketch_road, text_road
from topicprism.learn.defaults import MODEL, SAMPLED, SKETCH
from topicprism.learn.result import AS_ASKED, FitContext, FitRequest, FitResult
from topicprism.learn.spectrum import describe_crowd, determines_alpha0, read_spectrum
from topicprism.spectral.basis import find_basis, trace_of_A
from topicprism.spectral.decompose import width_for
from topicprism.spectral.moments import WordSums, word_sums
from topicprism.spectral.sketch import Sketch, sketch_over


def learn(docs: Documents, request: FitRequest, rng: np.random.Generator) -> FitResult:
    """The best model of documents, wherever they are kept."""
    request.check(docs.n_words)
    with one_blas_thread:  # what is not in the passes is small
        first = docs.total(first_pass)
        many = (request.n_topics or 0) > MODEL.max_topics
        if many:  # a wide sketch takes long: one, in the order that text is given below
            docs = in_key_order(docs, first.words.n_all)
            first = docs.total(first_pass)
        width = width_for(request.n_topics or MODEL.max_topics)
        sketch = sketch_over(docs, find_basis(docs, first.words, width, rng))
        spectrum = read_spectrum(sketch, request, trace_of_A(first.words))
        context = FitContext(docs, sketch, first.keys, request, rng)
        found = model_road.from_sketch(sketch, spectrum, request, rng)
        why_not = model_check.doubt(found, context) if found is not None else ""
        if found is not None and not why_not:
            found = model_road.with_documents(found, context)
        else:
            road = sampled_text if _sampled(context, first.n_tokens) else text_road
            found = road.from_documents(context if many else _in_key_order(context))
            found = found.with_reason(why_not) if why_not else found
    return replace(found, n_short=first.words.n_short)


def _sampled(context: FitContext, n_tokens: float) -> bool:
    """Whether topics are sampled: with fewer documents or words gradients are too uncertain."""
    return (
        context.request.sampled
        and context.n_documents >= SAMPLED.min_documents
        and n_tokens >= SAMPLED.min_words
    )


def learn_sketch(sketch: Sketch, request: FitRequest, rng: np.random.Generator) -> FitResult:
    """The model in a sketch alone: numbers of topics cannot be compared without documents.

    A sketch does not know how often words are repeated.  So the spectrum of a little text may seem
    to end; but then no alpha0 agrees with its moments, and the number of topics is not believed.
    """
    request.check(sketch.basis.width)
    found = model_road.from_sketch(sketch, read_spectrum(sketch, request), request, rng)
    asked = request.alpha0 is not None or request.n_topics is not None
    if found is not None and (
        asked or found.model.n_topics == 1 or determines_alpha0(found.selection.alpha0)
    ):
        return found
    k = request.n_topics or min(SKETCH.n_topics, sketch.basis.width)
    why = f"{describe_crowd(sketch)}; {k} is the default without documents to compare numbers on"
    why = AS_ASKED if request.n_topics else why
    with one_blas_thread:
        return sketch_road.from_sketch(sketch, k, why, request, rng)


@dataclass(frozen=True)
class FirstPass(Additive):
    """Sums over words, where the keys of documents are, and how many words these have."""

    words: WordSums
    keys: KeyCounts
    n_tokens: float


def first_pass(c: Corpus) -> FirstPass:
    return FirstPass(word_sums(c), KeyCounts.of(c), float(c.counts.data.sum(dtype=float)))


def _in_key_order(context: FitContext) -> FitContext:
    """On text a last digit may decide between topics: so sums do not depend on the rows' order."""
    docs = in_key_order(context.docs, context.n_documents)
    if docs is context.docs:
        return context
    n_topics = context.request.n_topics or MODEL.max_topics
    return replace(context, docs=docs, sketch=text_road.text_sketch(docs, n_topics, context.rng))
