"""Chains with a number as response, and their effects by cross-fitting.

The response takes part in finding sampled topics, and so a regression on topics of the same
documents overstates what they explain, and draws of one chain leave out that other documents would
give other topics.  So each half of the documents has a chain of its own, and the responses of the
other half are regressed on its topics (:mod:`topicprism.learn.crossfit`).
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs

from topicprism._typing import Array
from topicprism.documents import Threaded
from topicprism.documents.subsets import ALL, KeyCounts, Subset
from topicprism.estimators.base import Regression, varied, warn_of_nothing
from topicprism.estimators.sampled import (
    InterruptedWarning,
    Record,
    SampledTopics,
    Task,
    check_chain,
    fitted_to,
    interruption,
    of_model,
)
from topicprism.kernels.blas import one_blas_thread
from topicprism.learn.crossfit import CrossFit, cross_fit, fit_halves, held_out_variance
from topicprism.model import Model
from topicprism.samplers import Gaussian, Plan
from topicprism.samplers.state import Family, KeyOrder, standardise
from topicprism.validation import check_choice, generator

MIN_DRAWS = 20  # of a chain, for a standard deviation
MAX_SEED = 2**31


class SampledRegression(Regression, SampledTopics):
    """Chains whose response is one number per document."""

    cross_fit: Any
    _halves: dict[bytes, Any]  # fitted to half of the documents, by their keys

    def _fit(self, X: Any, y: Any, response: str, family: Family, learn_alpha: bool) -> Self:
        plan = Plan(response, family, float(self.beta), learn_alpha=learn_alpha)
        self._sample(self._task(X, y, plan))
        return self

    def _check(self) -> None:
        check_chain(self)
        check_choice("cross_fit", self.cross_fit, (True, False))

    def _task(self, X: Any, y: Any, plan: Plan) -> Task:
        counts = self._counts(X, reset=True)
        y = varied(y, counts.shape[0], type(self).__name__)
        _, scale = standardise(y[KeyOrder.of(counts, y[:, None]).rows])
        return Task.of(counts, scale.standardised(y)[:, None], plan, scale)

    # --- effects ------------------------------------------------------------------------

    def _cross_fits(self) -> bool:
        return bool(self.cross_fit)

    def _effects(self, record: Record, task: Task) -> dict[str, Any]:
        """By cross-fitting, or the draws' where they are from the posterior of the model."""
        if not self._cross_fits():
            return self._posterior_std(task)
        if record.stopped:
            return {}
        found = self._cross_fit(task)
        if found is None:
            return {}
        known, variance = found[0].in_units(task.scale), found[1] * (task.scale.scale**2, 1.0)
        return self._cross_fitted(known) | {"predictive_variance_": variance}

    def _posterior_std(self, task: Task) -> dict[str, Any]:
        """Of draws whose mean the coefficients are, and not of a loss or of a weighed response."""
        draws = self.coef_draws_
        drawn = len(draws) >= MIN_DRAWS and np.allclose(draws.mean(axis=0), self.coef_)
        honest = drawn and task.plan.family == Gaussian()
        return {"coef_std_": draws.std(axis=0, ddof=1)} if honest else {}

    def _cross_fitted(self, known: CrossFit) -> dict[str, Any]:
        """Topics in the order of their effects."""
        predicts = known.predicts or len(self.model_.eta) == 1
        coef, std = known.effects(self.model_.eta, predicts)
        if not predicts:
            warn_of_nothing(known.shrunk_r2, stacklevel=6)
        order = np.lexsort((-self.alpha_, coef))
        return of_model(self.model_.reordered(order)) | {
            "coef_": coef[order],
            "coef_std_": std[order],
            "coef_draws_": self.coef_draws_[:, order],
            "replication_": known.replication[order],
            "cross_fitted_r2_": known.shrunk_r2,
        }

    def _cross_fit(self, task: Task) -> tuple[CrossFit, Array] | None:
        """Effects of the model by chains of halves, and its errors, for the chain's response.

        None if documents are too few, a half has one response only, or Ctrl-C stopped a chain.
        """
        if not (self.warm_start and hasattr(self, "_halves")):
            self._halves = {}
        corpus, rng = task.corpus, generator(self.random_state)
        long = corpus.long()
        keys = KeyCounts.of(long)
        if any(len(np.unique(half.rows(long).y)) < 2 for half in keys.cut(2)):
            return None
        docs = Threaded(corpus, effective_n_jobs(self.n_jobs))
        try:
            halves = fit_halves(keys, ALL, lambda half: self._half_model(task, docs, half, rng))
            with one_blas_thread:
                if not halves:
                    return None
                known = cross_fit(docs, self.model_, halves)
                return known, held_out_variance(docs, known.halves)
        except (KeyboardInterrupt, InterruptedWarning) as stop:
            message = (
                "interrupted while effects were cross-fitted; the coefficients are those of the "
                "chain, without standard errors, and warm_start=True goes on from it"
            )
            warnings.warn(InterruptedWarning(message, interruption(stop)), stacklevel=6)
        return None

    def _half_model(
        self, task: Task, docs: Threaded, half: Subset, rng: np.random.Generator
    ) -> Model:
        """Topics of a chain on these documents alone, and coefficients from their words."""
        rows = half.rows(docs.corpus)
        at = rows.keys.tobytes()
        chain = self._half_chain(task, self._halves.get(at), int(rng.integers(MAX_SEED)))
        model = fitted_to(chain, rows, docs.n_threads)
        self._halves[at] = chain
        return model

    def _half_chain(self, task: Task, before: Self | None, seed: int) -> Self:
        """An estimator of half of the documents, to make as many sweeps as that of all has made."""
        chain = type(self)() if before is None else before
        made = getattr(chain, "n_sweeps_", 0)
        own = {
            "n_topics": len(self.coef_),
            "cross_fit": False,
            "burn_in": max(self.n_sweeps_ - self.n_kept - made, 0),
            "warm_start": before is not None,
            "callback": None,
            "random_state": seed,
        }
        chain.set_params(**self.get_params(deep=False) | own)
        return chain
