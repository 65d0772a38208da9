"""Text by steered sampling that starts at spectral topics, with effects by cross-fitting.

1. Topics of the words alone come from the tensor (method "two-stage") and a few rounds of
   refinement: balanced, where topics fitted to the response hold most of all words.
2. A Gibbs chain goes on from there.  It is steered towards better predictions from words
   (:mod:`topicprism.learn.steering`): prediction-constrained learning (Hughes et al. 2018; Chen
   et al. 2015) from a spectral start.
3. The same is done on each half of the documents.  The halves predict each other's responses:
   half of the target that steers the chain of all documents.  They also give effects, their
   standard errors, and whether topics are found again (:mod:`topicprism.learn.crossfit`).
4. Unless their number was asked for, topics that the documents do not carry are dropped.

At most TEXT.learn_documents documents are sampled, in the order of their keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from topicprism._typing import Counts, Doc, WordTopic
from topicprism.documents import Threaded
from topicprism.documents.corpus import Corpus, Rows, joined
from topicprism.documents.subsets import ALL, KeyCounts, Subset
from topicprism.inference import infer
from topicprism.learn.crossfit import Halves, fit_halves
from topicprism.learn.defaults import SAMPLED, STEERING, TEXT
from topicprism.learn.refine import refine
from topicprism.learn.replication import with_cross_fit
from topicprism.learn.response_topics import FirstTopics
from topicprism.learn.result import AS_ASKED, FitContext, FitResult, selection_of
from topicprism.learn.ridge import calibrate, products, regress
from topicprism.learn.spectrum import describe_crowd
from topicprism.learn.steering import prior_shift
from topicprism.learn.text_road import text_sketch
from topicprism.model import Model, ResponseScale
from topicprism.samplers import (
    Gaussian,
    Plan,
    Schedule,
    State,
    chain,
    init,
    keep,
    observe,
    to_model,
)

STANDARD = ResponseScale(0.0, 1.0)


@dataclass(frozen=True)
class Gathered:
    """Documents brought together in memory."""

    corpora: tuple[Corpus, ...]

    def __add__(self, other: Gathered) -> Gathered:
        return Gathered(self.corpora + other.corpora)


def gathered(c: Corpus, subset: Subset) -> Gathered:
    return Gathered((subset.rows(c),))


def from_documents(context: FitContext) -> FitResult:
    """The best model of text, from at most ``TEXT.learn_documents`` of its documents."""
    sample = _sample(context)
    k = context.request.n_topics or SAMPLED.n_topics
    start = _start(context, k)
    seeds = context.rng.integers(2**62, size=3).tolist()
    learn = _HalfLearner(replace(context, docs=sample), k, tuple(seeds[1:]))
    keys = KeyCounts.of(sample.corpus)
    halves = fit_halves(keys, ALL, learn)
    guide = _guide(sample.corpus, halves, context.scale)
    schedule = Schedule(SAMPLED.burn_in, SAMPLED.n_kept)
    model = sample_topics(sample, start, context.scale, schedule, seeds[0], guide, _prior(context))
    found = calibrate(sample, model, context.scale, ALL)
    reasons = _reasons(context, k)
    model, asked = found.model, context.request.settings.noise_variance
    if asked is not None:
        model = replace(model, sigma=float(np.sqrt(asked)))
        reasons["noise_variance"] = AS_ASKED
    selection = selection_of(context.sketch, model, float(model.alpha.sum()), (), reasons)
    result = FitResult(model, selection, found.predictive_variance)
    return with_cross_fit(result, sample, halves, context)


def sample_topics(
    docs: Threaded,
    start: Model,
    scale: ResponseScale,
    schedule: Schedule,
    seed: int,
    guide: Doc | None = None,
    prior: float = STEERING.prior_sum,
) -> Model:
    """The mean of a steered chain; ``guide`` is what steers, the response if it is None."""
    t = scale.standardised(docs.corpus.y)
    target = _with_response(docs, t if guide is None else guide)

    def shift(state: State) -> WordTopic:
        model = Model(state.alpha, state.mu, state.eta[:, 0], 1.0, STEERING.burstiness)
        model = model.with_alpha0(prior)
        return prior_shift(target, model, state.prior_shift, SAMPLED.steer_strength)

    plan = Plan(
        family=Gaussian(STEERING.response_weight),
        beta=SAMPLED.word_prior,
        learn_alpha=SAMPLED.learn_alpha,
        prior_shift=shift,
        shift_every=SAMPLED.steer_every,
    )
    k = start.n_topics
    begin = Model(np.full(k, SAMPLED.alpha0 / k), start.mu, np.zeros(k), 1.0)
    first = regress(_with_response(docs, t).total(products, begin, STANDARD, ALL))
    sigma = min(max(float(np.sqrt(first.variance)), 0.1), 1.0)
    begin = replace(begin, eta=first.eta, sigma=sigma)
    X = _csr(docs.corpus)
    data = observe(X, t[:, None], plan.response)
    state = init(data, begin, plan, seed, infer(begin, X, n_threads=docs.n_threads))
    states = chain(data, state, plan, schedule, docs.n_threads)
    kept = [keep(state) for state, kept in states if kept]
    mean = to_model(sum(kept[1:], kept[0]))
    return replace(mean.with_alpha0(prior), burstiness=STEERING.burstiness)


@dataclass
class _HalfLearner:
    """A model of some of the documents, with coefficients, from those documents alone."""

    context: FitContext
    n_topics: int
    seeds: Sequence[int]
    n_calls: int = 0

    def __call__(self, subset: Subset) -> Model:
        c, seed = self.context, self.seeds[self.n_calls]
        self.n_calls += 1
        assert isinstance(c.docs, Threaded)
        half = Threaded(subset.rows(c.docs.corpus), c.docs.n_threads)
        rng = np.random.default_rng(seed)
        sketch = text_sketch(half, self.n_topics, rng)
        own = replace(c, docs=half, sketch=sketch, keys=KeyCounts.of(half.corpus), rng=rng)
        start = _start(own, self.n_topics)
        schedule = Schedule(SAMPLED.half_burn_in, SAMPLED.half_n_kept)
        model = sample_topics(half, start, c.scale, schedule, seed, None, _prior(c))
        return calibrate(half, model, c.scale, ALL).model


def _start(context: FitContext, k: int) -> Model:
    """Topics of the words alone."""
    settings = replace(context.request.settings, method="two-stage")
    alone = replace(context, request=replace(context.request, settings=settings))
    first, _ = FirstTopics(alone).of(k)
    return refine(context.docs, first, TEXT.rounds, 0, context.at_most(TEXT.learn_documents))


def _sample(context: FitContext) -> Threaded:
    """The documents that are sampled, in memory and in the order of their keys."""
    found = context.docs.total(gathered, context.at_most(TEXT.learn_documents))
    corpus = joined(found.corpora).in_key_order()
    return Threaded(corpus, getattr(context.docs, "n_threads", 1))


def _guide(corpus: Corpus, halves: Halves, scale: ResponseScale) -> Doc:
    """The standardised response, half of it replaced by what the other half predicts."""
    guide = scale.standardised(corpus.y)
    for half, other in halves:
        there = half.has(corpus.keys)
        predicted = infer(other, corpus.take(there).counts) @ other.eta
        share = SAMPLED.cross_fitted_share
        guide[there] = (1 - share) * guide[there] + share * scale.standardised(predicted)
    return guide


def _prior(context: FitContext) -> float:
    return STEERING.prior_sum if context.request.alpha0 is None else context.request.alpha0


def _reasons(context: FitContext, k: int) -> dict[str, str]:
    why = (
        AS_ASKED if context.request.n_topics else f"{describe_crowd(context.sketch)}; {k} to begin"
    )
    return {
        "n_topics": why,
        "alpha0": "the prior that topics are steered with"
        if context.request.alpha0 is None
        else AS_ASKED,
        "noise_variance": "the residual variance of the regression less the uncertainty of the "
        "proportions",
    }


def _with_response(docs: Threaded, y: Doc) -> Threaded:
    return Threaded(replace(docs.corpus, y=y), docs.n_threads)


def _csr(corpus: Corpus) -> Counts:
    return corpus.counts.to_csr() if isinstance(corpus.counts, Rows) else corpus.counts
