"""From documents to a model, without settings to tune.

One sketch of the documents, wide enough for the largest number of topics, decides the regime.
Documents that follow sLDA get the estimator of the paper (:mod:`topicprism.learn.model_regime`);
text with more structure than k topics the other (:mod:`topicprism.learn.text_regime`).  Documents
are summed in the order of their keys and their responses are standardised, so that neither the
order of rows nor the units of the response make a difference to the last digit; nor does its sign,
since the word that goes with the response most is made to go with high ones.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from topicprism import backends
from topicprism._typing import Word
from topicprism.documents.corpus import MIN_WORDS, Corpus, Documents
from topicprism.documents.occurring import over_words
from topicprism.documents.standardised import StandardisedDocuments
from topicprism.documents.subsets import (
    MAX_ORDERED,
    KeyCounts,
    also_gathered,
    are_in_memory,
    in_key_order,
    in_memory,
)
from topicprism.documents.sums import Additive, Extent, RunningMoments
from topicprism.documents.threads import Threaded
from topicprism.kernels.blas import one_blas_thread
from topicprism.learn import (
    as_printed,
    model_check,
    model_regime,
    sampled_text,
    sketch_regime,
    text_regime,
)
from topicprism.learn.defaults import MODEL, SAMPLED, SKETCH, TEXT
from topicprism.learn.result import AS_ASKED, FitContext, FitRequest, FitResult
from topicprism.learn.spectrum import Spectrum, describe_spectrum, determines_alpha0, read_spectrum
from topicprism.model import ResponseScale
from topicprism.spectral.basis import points_down
from topicprism.spectral.decompose import width_for
from topicprism.spectral.moments import WordSums, word_sums
from topicprism.spectral.sketch import Sketch, sketch_of
from topicprism.validation import (
    check_response,
    check_varies,
    refuse_no_counts,
    refuse_repeated_words,
)


def learn(docs: Documents, request: FitRequest, rng: np.random.Generator) -> FitResult:
    """The best model of documents, wherever they are kept."""
    request.check(docs.n_words)
    with one_blas_thread:  # what is not in the passes is small
        all_ = docs.total(survey)
        all_.check(request.supervised)
        if 1 < len(words := np.flatnonzero(all_.words)) < docs.n_words:  # no column is zero
            return learn(over_words(docs, words), request, rng).over(words, docs.n_words)
        standardised, all_, request = _standardised(docs, all_, request)
        if request.as_printed:
            return as_printed.from_documents(standardised, request, rng).in_units(all_.scale)
        scale, context, spectrum = _summed(standardised, all_, request, rng)
        found, why_not = _of_model(context, spectrum)
        if found is None or why_not:
            found = _of_text(context, all_.n_tokens, why_not)
    found = found.saying_its_method(request.settings.method, request.supervised)
    return replace(found.in_units(scale), n_short=all_.n_short)


def _is_ordered(all_: Survey, request: FitRequest) -> bool:
    """Whether sums are in the order of keys: for many topics since their sketch is made once."""
    return all_.n_documents <= MAX_ORDERED or (request.n_topics or 0) > MODEL.max_topics


def _standardised(
    docs: Documents, all_: Survey, request: FitRequest
) -> tuple[StandardisedDocuments, Survey, FitRequest]:
    """Documents with standardised responses, in the order of their keys if they are few."""
    if _is_ordered(all_, request):
        docs, given = in_key_order(docs, all_.n_documents), docs
        all_ = all_ if docs is given else docs.total(survey)
    return StandardisedDocuments(docs, all_.scale), all_, request.standardised(all_.scale)


def _summed(
    docs: StandardisedDocuments, all_: Survey, request: FitRequest, rng: np.random.Generator
) -> tuple[ResponseScale, FitContext, Spectrum]:
    """The sketch of the documents and its spectrum; the scale of their responses."""
    sums, some = _words_and_sample(docs, all_, request)
    if points_down(sums):  # so that -y has the same topics
        docs, sums, some = docs.mirrored, sums.mirrored, some and some.mirrored
    start = None if _is_ordered(all_, request) else deepcopy(rng)
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


def _words_and_sample(
    docs: Documents, all_: Survey, request: FitRequest
) -> tuple[WordSums, Threaded | None]:
    """Sums of words; and, of many elsewhere, documents to look at again and again, in memory.

    They come along with the sums, so that no pass is spent on them.
    """
    if all_.n_documents <= MAX_ORDERED or are_in_memory(docs):
        return docs.total(word_sums), None
    needed = [TEXT.learn_documents, MODEL.noise_documents]
    most = max([*needed, SAMPLED.max_documents] if request.sampled else needed)
    found = docs.total(also_gathered, all_.keys.at_most(most), word_sums)
    return found.sums, in_memory(docs, found.some)


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
    if request.as_printed:
        raise ValueError(
            "regime='paper' was asked of a sketch, but the paper's algorithms whiten the moments "
            "of all words; fit documents, or use regime='auto'"
        )
    found = model_regime.from_sketch(sketch, read_spectrum(sketch, request), request, rng)
    asked = request.alpha0 is not None or request.n_topics is not None
    if found is not None and (
        asked or found.model.n_topics == 1 or determines_alpha0(found.selection.alpha0)
    ):
        return found.saying_its_method(request.settings.method, request.supervised)
    k = request.n_topics or min(SKETCH.n_topics, sketch.basis.width)
    why = f"{describe_spectrum(sketch)}; {k} is the default without documents to compare numbers on"
    why = AS_ASKED if request.n_topics else why
    with one_blas_thread:
        return sketch_regime.from_sketch(sketch, k, why, request, rng)


@dataclass(frozen=True)
class Survey(Additive):
    """Documents long enough for the moments, by response and key; how many there are in all."""

    y: RunningMoments
    keys: KeyCounts
    n_documents: int
    words: Word  # how often each occurs
    extent: Extent  # of all responses

    @property
    def n_tokens(self) -> float:
        return float(self.words.sum())

    def check(self, supervised: bool) -> None:
        """Refuse what nothing can be learnt from, as the estimators do that are given counts."""
        if self.n_documents == 0:
            raise ValueError(
                "got no documents, but at least 2 were expected; check that any shard has some"
            )
        low, high = self.extent.low, self.extent.high
        if supervised:
            check_varies(low, high, high - low, self.n_documents)

    @property
    def scale(self) -> ResponseScale:
        return ResponseScale(self.y.mean, self.y.sd or 1.0)

    @property
    def n_short(self) -> int:
        return self.n_documents - round(self.y.weight)


def survey(c: Corpus) -> Survey:
    """Counts and responses are checked here, wherever they come from."""
    on, lengths = backends.of(c.counts), c.lengths
    if on is backends.cpu:  # elsewhere, counts were looked at on their way there
        refuse_no_counts(c.counts)
        refuse_repeated_words(c.counts)
    check_response(c.y, len(c))
    long = lengths >= MIN_WORDS
    y = RunningMoments.of(c.y, long.astype(float))
    return Survey(y, KeyCounts.of(c, long), len(c), on.occurrences(c.counts), Extent.of(c.y))
