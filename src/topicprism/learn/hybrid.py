"""A sampler from the spectral answer: where it starts, and what keeps its topics predictive.

Where documents are from the model, a chain that starts at the spectral answer is all, and so it is
in the regime "paper", on any documents.  On text,
sampled topics drift to what explains words alone, so they are steered all along by what
predicts from words alone (:mod:`topicprism.learn.refine`).  With few documents the spectral
topics are a prior that counts for as many words again, and those of the response are frozen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topicprism._typing import Doc, Word, WordTopic
from topicprism.documents import Threaded
from topicprism.documents.subsets import ALL, KeyCounts
from topicprism.inference import infer, predict
from topicprism.kernels.blas import one_blas_thread
from topicprism.learn.auto import learn
from topicprism.learn.defaults import STEERING, TEXT
from topicprism.learn.refine import prior_shift
from topicprism.learn.result import (
    AS_ASKED,
    METHOD,
    FitRequest,
    FitResult,
    Regime,
    Selection,
    method_of_chain,
)
from topicprism.learn.ridge import (
    Calibrated,
    best_alpha0,
    calibrate,
    products,
    regress,
    starting_sigma,
)
from topicprism.model import Model, ResponseScale
from topicprism.samplers import Gaussian, Plan, State

FROM_DRAWS = "the mean of the kept draws"


@dataclass(frozen=True)
class HybridRequest:
    """The settings of the sampler; None is chosen by the regime."""

    alpha0: float | None
    learn_alpha: bool | None
    beta: float | None
    response_weight: float | None
    refit: bool
    few: bool | None = None  # whether documents are few; None goes by their number
    regime: str = "auto"


@dataclass(frozen=True)
class Hybrid:
    """The spectral answer to documents with a standardised response, and what follows from it."""

    spectral: FitResult
    cross_fitted: Doc | None = None  # each response as other documents predict it

    @classmethod
    def of(
        cls,
        docs: Threaded,
        n_topics: int | None,
        asked: HybridRequest,
        rng: np.random.Generator,
        counted: Callable[[int], object] = lambda n: None,
    ) -> Hybrid:
        request = FitRequest(n_topics, cross_fitted=False, regime=asked.regime)
        if request.as_printed:
            request = replace(request, alpha0=asked.alpha0)
        return cls(learn(docs, request, rng, counted))

    @property
    def follows_model(self) -> bool:
        """Whether the chain is that of the model: documents follow it, or the paper's is asked."""
        return self.spectral.regime is not Regime.TEXT

    def few(self, docs: Threaded, asked: HybridRequest) -> bool:
        """Whether the spectral topics are to be a prior."""
        few = asked.few
        if few is None:
            n, words = len(docs.corpus), docs.corpus.counts.data.sum()
            few = bool(n < STEERING.few_documents or words < STEERING.few_words)
        return self._has_own(asked) and few

    def steered(self, docs: Threaded, asked: HybridRequest) -> bool:
        return self._has_own(asked) and not self.few(docs, asked)

    def _has_own(self, asked: HybridRequest) -> bool:
        """Whether the response has topics of its own, and coefficients are to be refitted."""
        return asked.refit and bool(self.spectral.frozen_topics)

    def ready(self, docs: Threaded, asked: HybridRequest, rng: np.random.Generator) -> Hybrid:
        """With the cross-fitted predictions that steering needs."""
        if self.cross_fitted is not None or not self.steered(docs, asked):
            return self
        corpus, n_topics = docs.corpus, self.spectral.model.n_topics
        predicted = np.zeros(len(corpus))
        for fold in KeyCounts.of(corpus.long()).cut(STEERING.cross_fitted_folds):
            there = fold.has(corpus.keys)
            if there.all() or not there.any():  # too few documents that differ
                continue
            rest = Threaded(corpus.take(~there), docs.n_threads)
            model = learn(rest, FitRequest(n_topics, cross_fitted=False), rng).model
            h = infer(model, corpus.take(there).counts, n_threads=docs.n_threads)
            predicted[there] = predict(model, h)
        return replace(self, cross_fitted=predicted)

    def plan(self, docs: Threaded, plan: Plan, asked: HybridRequest) -> Plan:
        """What to sample, and the prior of the topics on the way."""
        if self.spectral.as_printed:
            return replace(
                plan,
                family=Gaussian(_given(asked.response_weight, 1.0)),
                beta=_given(asked.beta, plan.beta),
                learn_alpha=bool(_given(asked.learn_alpha, False)),
            )
        steered, few = self.steered(docs, asked), self.few(docs, asked)
        weight = STEERING.response_weight if steered else 1.0
        beta = STEERING.word_prior_beside_another if self.follows_model else STEERING.word_prior
        plan = replace(
            plan,
            family=Gaussian(_given(asked.response_weight, weight)),
            beta=_given(asked.beta, beta),
            learn_alpha=bool(_given(asked.learn_alpha, not (self.follows_model or few))),
            n_fixed_eta_sweeps=STEERING.n_fixed_eta_sweeps if self.follows_model else 0,
        )
        if steered:
            return replace(plan, prior_shift=self._steering(docs, asked))
        X = docs.corpus.counts
        words = np.bincount(X.indices, X.data, docs.n_words)
        if few:
            prior = self.spectral.model.mu * (words.sum() / self.spectral.model.n_topics)
            return replace(plan, frozen=self.spectral.frozen_topics, prior_shift=lambda _: prior)
        if self.follows_model and asked.beta is None:
            prior = as_wide_as(self.spectral.model, words / words.sum())
            return replace(plan, prior_shift=lambda _: prior)
        return plan

    def _steering(self, docs: Threaded, asked: HybridRequest) -> Callable[[State], WordTopic]:
        """By the response, half of it replaced by what other documents predict: less noise."""
        assert self.cross_fitted is not None  # ready has seen to it
        share, y = STEERING.cross_fitted_share, docs.corpus.y
        guide = docs.with_response((1 - share) * y + share * self.cross_fitted)
        prior = _given(asked.alpha0, STEERING.prior_sum)

        def shift(state: State) -> WordTopic:
            model = Model(state.alpha, state.mu, state.eta[:, 0], 1.0, STEERING.burstiness)
            return prior_shift(guide, model.with_alpha0(prior), state.prior_shift)

        return shift

    def start(self, docs: Threaded, plan: Plan, asked: HybridRequest) -> Model:
        """The model a chain starts from."""
        model = replace(self.spectral.model, burstiness=0.0)
        given = asked.alpha0 is not None and not self.spectral.as_printed  # Algorithm 2 has used it
        if plan.learn_alpha or given:
            model = model.with_alpha0(_given(asked.alpha0, 1.0))
        if not self.follows_model:
            with one_blas_thread:
                found = regress(docs.total(products, model, ALL))
            model = replace(model, eta=found.eta, sigma=float(np.sqrt(found.variance)))
        return replace(model, sigma=starting_sigma(model.sigma))

    def calibrated(
        self, docs: Threaded, model: Model, plan: Plan, asked: HybridRequest, scale: ResponseScale
    ) -> Calibrated | None:
        """The sampled model with the coefficients of a regression; None where the chain's are."""
        if self.follows_model or not asked.refit:
            return None
        with one_blas_thread:
            if plan.frozen:
                model = replace(model, burstiness=self.spectral.model.burstiness)
                grid = TEXT.alpha0_grid if asked.alpha0 is None else (asked.alpha0,)
                model = model.with_alpha0(best_alpha0(docs, model, ALL, grid))
            elif plan.prior_shift:
                prior = _given(asked.alpha0, STEERING.prior_sum)
                model = replace(model.with_alpha0(prior), burstiness=STEERING.burstiness)
            subset = KeyCounts.of(docs.corpus.long()).at_most(TEXT.learn_documents)
            return calibrate(docs, model, subset).in_units(scale)

    def selection(
        self, docs: Threaded, plan: Plan, asked: HybridRequest, model: Model, square: float
    ) -> Selection:
        """The spectral answer's in the units of the response, and what the chain made of it."""
        found = self.spectral.selection
        start = found.reasons[METHOD]
        reasons = found.reasons | {METHOD: method_of_chain(self.spectral.regime, start)}
        if self.follows_model or not asked.refit:
            reasons["noise_variance"] = FROM_DRAWS
        if plan.learn_alpha and not self.steered(docs, asked):
            reasons["alpha0"] = FROM_DRAWS
        elif self.spectral.as_printed:
            reasons["alpha0"] = f"as Algorithm 2 has it, which took it to be {found.alpha0:g}"
        elif asked.alpha0 is not None:
            reasons["alpha0"] = AS_ASKED
        elif self.steered(docs, asked):
            reasons["alpha0"] = "the prior that topics are steered with"
        trials = tuple(replace(t, noise_variance=square * t.noise_variance) for t in found.trials)
        alpha0, variance = float(model.alpha.sum()), float(model.sigma**2)
        return replace(
            found, alpha0=alpha0, noise_variance=variance, trials=trials, reasons=reasons
        )


def as_wide_as(model: Model, p: Word) -> WordTopic:
    """c p for each topic, so that topics from Dirichlet(c p) are as far from p as the model's::

    E[sum_w (mu_w - p_w)^2 / p_w] = (V - 1) / (c + 1)
    """
    seen = p > 0
    mu, q = model.mu[seen], p[seen, None]
    apart = ((mu - q) ** 2 / q).sum(axis=0) @ model.alpha / model.alpha.sum()
    c = max((seen.sum() - 1) / max(apart, 1e-6) - 1, 1.0)
    return np.repeat(c * p[:, None], model.n_topics, axis=1)


def _given(value: Any, otherwise: float) -> float:
    return otherwise if value is None else float(value)
