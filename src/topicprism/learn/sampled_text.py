"""Text by steered sampling that starts at spectral topics, with effects by cross-fitting.

1. Topics of the words alone come from the tensor (method "two-stage") and a few rounds of
   refinement: balanced, where topics fitted to the response hold most of all words.
2. A Gibbs chain goes on from there.  It is steered towards better predictions from words
   (:mod:`topicprism.learn.refine`): prediction-constrained learning (Hughes et al. 2018; Chen
   et al. 2015) from a spectral start.
3. The same is done on each half of the documents, which gives effects, their standard errors, and
   whether topics are found again (:mod:`topicprism.learn.crossfit`).
4. Where sampled topics predict much less than topics fitted to the response, the result is that
   of :mod:`topicprism.learn.text_regime`: few words are associated with the response.
5. Unless their number was asked for, more topics are tried where the halves have nearly all in
   common (:mod:`topicprism.learn.judging`).  If documents do not support some of the topics,
   these are dropped, and as many as are left are learnt once more.

At most SAMPLED.max_documents documents are sampled, in the order of their keys.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add

import numpy as np

from topicprism._typing import Counts, Topic, WordTopic
from topicprism.documents import Threaded
from topicprism.documents.corpus import Corpus, take_rows
from topicprism.documents.subsets import ALL, KeyCounts, Subset, selected_documents
from topicprism.inference import weighed
from topicprism.learn import text_regime
from topicprism.learn.crossfit import fit_halves, held_out, with_cross_fit
from topicprism.learn.defaults import SAMPLED, STEERING, TEXT
from topicprism.learn.judging import describe, judged, mean_shares, more_topics, with_common
from topicprism.learn.prior_choice import PriorChoice
from topicprism.learn.refine import gradients, map_products, refine, shifted
from topicprism.learn.response_topics import FirstTopics, text_sketch
from topicprism.learn.result import (
    AS_ASKED,
    METHOD,
    STEERED,
    FitContext,
    FitResult,
    Halves,
    Trial,
    listed,
    method_of_text,
    selection_of,
)
from topicprism.learn.ridge import (
    Calibrated,
    best_prior,
    calibrate,
    products,
    regress,
    starting_sigma,
)
from topicprism.model import Model
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


def from_documents(context: FitContext) -> FitResult:
    """The best model of text, from at most ``SAMPLED.max_documents`` of its documents."""
    k = context.request.n_topics or SAMPLED.n_topics
    sample, own = _sample(context, k)
    start = _start(own, k)
    seeds = context.rng.integers(2**62, size=3).tolist()
    first = _attempt(own, k, seeds[1:])
    best, why, trials = first, AS_ASKED, list[Trial]()
    if context.request.n_topics is None:
        best, trials = _number_of_topics(first, seeds[1:])
        why = f"{context.spectrum_reason}; {describe(trials, best.trial.n_topics)}"
    r2 = best.trial.pr2, held_out(sample, first.spectral).r2
    if r2[0] < SAMPLED.min_r2_share * r2[1]:
        return _of_the_response(context, *r2)
    if best is not first:
        start = _start(best.context, best.trial.n_topics)
    trials_and_reasons = tuple(trials), _reasons(context, why)
    steered = SteeredChain(context.request.alpha0, SAMPLED.sweeps)
    made = _result(context, steered.topics(sample, start, seeds[0]), *trials_and_reasons)
    choice = steered.prior_choice(sample)
    result = with_cross_fit(made, sample, best.halves, context, choice)
    if not result.dropped:
        return result
    # Their words are still to be explained: as many topics as are left are learnt from the start.
    found = steered.topics(sample, _start(best.context, result.model.n_topics), seeds[0])
    learnt_again = replace(
        result,
        model=found.model,
        selection=replace(result.selection, alpha0=float(found.model.alpha.sum())),
        predictive_variance=found.predictive_variance,
    )
    as_kept = replace(context.request, n_topics=result.model.n_topics)
    known = replace(context, request=as_kept)
    return with_cross_fit(learnt_again, sample, best.halves, known, choice)


def _result(
    context: FitContext, found: Calibrated, trials: tuple[Trial, ...], reasons: dict[str, str]
) -> FitResult:
    model, asked = found.model, context.request.settings.noise_variance
    if asked is not None:
        model = replace(model, sigma=float(np.sqrt(asked)))
        reasons = reasons | {"noise_variance": AS_ASKED}
    alpha0 = float(model.alpha.sum())
    selection = selection_of(context.sketch, model, alpha0, trials, reasons)
    return FitResult(model, selection, found.predictive_variance)


@dataclass(frozen=True)
class _Attempt:
    """Some number of topics, learnt from each half of the documents."""

    context: FitContext
    halves: Halves
    spectral: Halves  # the response's own topics alone
    trial: Trial


def _attempt(context: FitContext, k: int, seeds: list[int]) -> _Attempt:
    learner = _HalfLearner(context, k, [*seeds])
    halves = fit_halves(context.keys, ALL, learner)
    spectral = [(half, m) for (half, _), m in zip(halves, learner.spectral, strict=True)]
    scored, models = held_out(context.docs, halves), [m for _, m in halves]
    alpha0 = float(np.median([m.alpha.sum() for m in models])) if models else 0.0
    variance = float(np.mean([m.sigma**2 for m in models])) if models else 0.0
    return _Attempt(context, halves, spectral, Trial(k, alpha0, variance, scored.r2, scored.r2_std))


def _number_of_topics(first: _Attempt, seeds: list[int]) -> tuple[_Attempt, list[Trial]]:
    context = first.context

    def learn(k: int) -> tuple[Trial, _Attempt]:
        wide = replace(context, sketch=text_sketch(context.docs, k, context.rng))
        found = _attempt(wide, k, seeds)
        return _judged(found), found

    return more_topics((_judged(first), first), learn, context.n_documents)


def _judged(found: _Attempt) -> Trial:
    c = found.context
    if not found.halves:
        return found.trial
    trial = with_common(found.trial, c.docs, found.halves, c.keys)
    return judged(trial, c.docs, found.halves, c.keys, ALL)


@dataclass(frozen=True)
class SteeredChain:
    """A chain that is steered towards better predictions."""

    asked: float | None  # sum of the Dirichlet parameters, when proportions are inferred from words
    sweeps: tuple[int, int]  # at first, and those that are averaged

    @property
    def prior(self) -> float:
        return STEERING.prior_sum if self.asked is None else self.asked

    def topics(self, docs: Threaded, start: Model, seed: int) -> Calibrated:
        """The mean of the last states, with the coefficients of a regression.

        In the chain a repeated word counts less; a last round of refinement counts all words.
        """
        X = _with_fewer_repeats(docs.corpus)
        few = Threaded(Corpus(X, docs.corpus.y), docs.n_threads)
        plan = Plan(
            response=SAMPLED.response,
            family=Gaussian(STEERING.response_weight),
            beta=SAMPLED.word_prior,
            learn_alpha=SAMPLED.learn_alpha,
            prior_shift=_Steering(few, self.prior),
        )
        begin = self._begin(few, start)
        data = observe(X, docs.corpus.y[:, None], plan.response)
        state = init(data, begin, plan, seed)
        states = chain(data, state, plan, Schedule(*self.sweeps), docs.n_threads)
        mean = to_model(reduce(add, (keep(now) for now, keeping in states if keeping)))
        mean = refine(docs, mean.with_alpha0(self.prior), SAMPLED.rounds)
        return calibrate(docs, self._with_prior(docs, mean), ALL)

    def _with_prior(self, docs: Threaded, model: Model) -> Model:
        """The prior and the weight of repeated words by which proportions predict best.

        The Dirichlet parameters are as the mean proportions of the documents.
        """
        model = replace(model.with_alpha0(self.prior), burstiness=STEERING.burstiness)
        model = replace(model, alpha=self.prior * docs.total(mean_shares, model, ALL).mean)
        choice = self.prior_choice(docs)
        return best_prior(docs, choice.of(model), choice.subset, choice.tolerance)

    def prior_choice(self, docs: Threaded) -> PriorChoice:
        return PriorChoice(
            SAMPLED.alpha0_grid if self.asked is None else (self.asked,),
            SAMPLED.burstiness_grid,
            SAMPLED.prior_tolerance,
            KeyCounts.of(docs.corpus).at_most(TEXT.trial_documents),
        )

    def _begin(self, docs: Threaded, start: Model) -> Model:
        """The start with equal Dirichlet parameters and the coefficients of a regression."""
        k = start.n_topics
        model = Model(np.full(k, SAMPLED.alpha0 / k), start.mu, np.zeros(k), 1.0)
        first = regress(docs.total(products, model, ALL))
        sigma = starting_sigma(float(np.sqrt(first.variance)))
        return replace(model, eta=first.eta, sigma=sigma)


@dataclass
class _Steering:
    """Shifts of the topics' prior towards better predictions of the response."""

    docs: Threaded
    prior: float
    eta: Topic | None = None  # of the last time: topics change little, and a pass is saved

    def __call__(self, state: State) -> WordTopic:
        model = Model(state.alpha, state.mu, state.eta[:, 0], 1.0, STEERING.burstiness)
        model = model.with_alpha0(self.prior)
        if self.eta is None:
            self.eta = regress(self.docs.total(map_products, model)).eta
        found = self.docs.total(gradients, model, self.eta)
        self.eta = regress(found.products).eta
        return shifted(state.prior_shift, found, SAMPLED.steer_strength)


@dataclass
class _HalfLearner:
    """A model of some of the documents, with coefficients, from those documents alone."""

    context: FitContext  # of documents in memory
    n_topics: int
    seeds: list[int]
    spectral: list[Model] = field(default_factory=list)  # the response's own topics alone

    def __call__(self, subset: Subset) -> Model:
        c, seed = self.context, self.seeds.pop()
        assert isinstance(c.docs, Threaded)
        half = Threaded(subset.rows(c.docs.corpus), c.docs.n_threads)
        rng = np.random.default_rng(seed)
        sketch = text_sketch(half, self.n_topics, rng)
        own = replace(c, docs=half, sketch=sketch, keys=KeyCounts.of(half.corpus), rng=rng)
        steered = SteeredChain(c.request.alpha0, SAMPLED.half_sweeps)
        found = steered.topics(half, _start(own, self.n_topics), seed)
        few, _ = FirstTopics(own).of(min(TEXT.n_topics_of_few, self.n_topics))
        self.spectral.append(calibrate(half, few, ALL).model)
        return found.model


def _of_the_response(context: FitContext, sampled: float, spectral: float) -> FitResult:
    """Where few words are associated with the response, the chain does not find them."""
    found = text_regime.from_documents(context)
    why = (
        f"{found.selection.reasons['n_topics']}; not sampled, since sampled topics predict "
        f"held-out documents with R2 {sampled:.3f}, those fitted to the response {spectral:.3f}"
    )
    reasons = found.selection.reasons | {"n_topics": why}
    return replace(found, selection=replace(found.selection, reasons=reasons))


def _start(context: FitContext, k: int) -> Model:
    """Topics of the words alone."""
    settings = replace(context.request.settings, method="two-stage")
    alone = replace(context, request=replace(context.request, settings=settings))
    first, _ = FirstTopics(alone).of(k)
    return refine(context.docs, first, TEXT.rounds, 0, context.at_most(TEXT.learn_documents))


def _sample(context: FitContext, n_topics: int) -> tuple[Threaded, FitContext]:
    """The documents that are sampled, in memory and in the order of their keys; their context."""
    some = context.sample(SAMPLED.max_documents)
    corpus = without_floods(some.docs.total(selected_documents, ALL).corpus.long())
    docs = Threaded(corpus, getattr(context.docs, "n_threads", 1))
    own = replace(some, docs=docs, keys=KeyCounts.of(corpus), within=ALL)
    if not context.ordered:
        own = replace(own, sketch=text_sketch(docs, n_topics, context.rng))
    return docs, own


def _reasons(context: FitContext, why: str) -> dict[str, str]:
    return {
        METHOD: method_of_text(STEERED),
        "n_topics": why,
        "alpha0": f"the smallest of {listed(SAMPLED.alpha0_grid)} within "
        f"{SAMPLED.prior_tolerance:g} R2 of the best"
        if context.request.alpha0 is None
        else AS_ASKED,
        "noise_variance": "the residual variance of the regression less the uncertainty of the "
        "proportions",
    }


def without_floods(c: Corpus) -> Corpus:
    """A word counts at most as often as all others of its document together, or max_repeats times.

    Else one document that repeats a word without end would be most of the words there are.
    """
    X = take_rows(c.counts, 0, len(c))
    document = np.repeat(np.arange(len(c)), np.diff(X.indptr))
    most = np.maximum(c.lengths[document] - X.data, SAMPLED.max_repeats)
    if (X.data <= most).all():
        return c
    return c.with_counts(replace(X, data=np.minimum(X.data, most).astype(X.data.dtype)))


def _with_fewer_repeats(c: Corpus) -> Counts:
    """Each count as whole words of evidence: a word repeated often is of one document's subject."""
    rows = weighed(take_rows(c.counts, 0, len(c)), SAMPLED.chain_burstiness)
    return replace(rows, data=np.rint(rows.data)).to_csr()
