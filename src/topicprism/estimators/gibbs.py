"""scikit-learn estimators: supervised LDA by sampling, from nothing or from the spectral answer."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import islice
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs

from topicprism._typing import Doc, DocTopic
from topicprism.automatic import GRID, LEARN_ON, TRY_ON, Learnt, Wishes, learn_from
from topicprism.backends import one_blas_thread
from topicprism.calibration import Calibrated, Units, best_alpha0, calibrate, products, regress
from topicprism.corpus import Corpus
from topicprism.engines import Threaded
from topicprism.estimators.base import generator
from topicprism.estimators.sampled import (
    AUTO,
    Callback,
    InterruptedWarning,
    SampledRegression,
    Task,
    check_chain,
    with_callbacks,
)
from topicprism.inference import infer, predict
from topicprism.model import Model
from topicprism.refinement import Part
from topicprism.samplers import Gaussian, Plan
from topicprism.samplers.state import RESPONSES
from topicprism.settings import check_choice, check_real
from topicprism.steering import steer

AS_IT_IS = Units(0.0, 1.0)
PRIOR, BURSTINESS = 3.0, 0.25  # sum of it, and by how much repetition says less, to steer by
HINT = 0.5  # of what topics are steered by is what the spectral answer predicts: less noise
SHORT = 0.02  # of R^2, that steered topics may fall short of the spectral answer
FEW = 2_000  # documents; with fewer, the topics of the response are better held than found again
ROUNDS = 40  # of steering, at most
SPENT = 500  # parameters that steering spends: R^2 is adjusted for them


class GibbsSLDA(SampledRegression):
    """Supervised LDA by Gibbs sampling.

    Parameters
    ----------
    n_topics : int, default=10
        Number of topics, k in the paper.
    response : {"mixture", "assignments"}, default="mixture"
        What the response depends on: the topic mixture h of the document (the paper's), or the
        mean topic assignment of its words (the usual sLDA, h integrated out; mixes faster).
    alpha0 : float, default=1.0
        Sum of the Dirichlet parameters, equal for all topics to begin with.
    learn_alpha : bool, default=False
        Whether the Dirichlet parameters are sampled too.
    beta : float, default=0.1
        Dirichlet parameter of the topics' word probabilities.
    burn_in : int, default=200
        Sweeps before any is kept.
    n_kept : int, default=100
        Sweeps after that, over which the model is averaged.
    tolerance : float, default=0.0
        The burn-in ends as soon as the log-likelihood has changed by less than this share on
        average over ten sweeps; 1e-3 in the paper, 0 for the whole burn-in.
    warm_start : bool, default=False
        Whether to go on from the state of the last fit; the documents must be the same.
    callback : callable or None, default=None
        Called after each sweep with a ``Progress``.
    n_jobs : int or None, default=None
        Threads: None is one, -1 is all cores.  The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the chain.

    Attributes
    ----------
    components_, coef_, alpha_, noise_variance_, model_, n_features_in_
        As in :class:`SpectralSLDA`: posterior means.
    coef_draws_ : ndarray of shape (n_kept, n_topics)
        Kept draws of the coefficients, for intervals.
    noise_variance_draws_ : ndarray of shape (n_kept,)
        Kept draws of the noise variance.
    log_likelihood_ : ndarray of shape (n_sweeps_,)
        Log-likelihood of training words and responses, per word, after each sweep.
    acceptance_ : ndarray of shape (n_sweeps_,)
        Share of Metropolis steps accepted in each sweep.
    n_sweeps_ : int
        Sweeps since the chain began.
    features_ : {"mixture", "assignments"}
        What ``coef_`` multiplies in ``predict``.
    state_ : State
        Where the chain stands.

    Examples
    --------
    >>> from topicprism import GibbsSLDA
    >>> from topicprism.datasets import make_slda
    >>> X, y, truth = make_slda(600, n_words=50, n_topics=3, doc_length=80, random_state=0)
    >>> model = GibbsSLDA(3, burn_in=150, n_kept=50, random_state=0).fit(X, y)
    >>> model.coef_draws_.shape
    (50, 3)
    >>> bool(model.score(X, y) > 0.7)
    True
    """

    def __init__(
        self,
        n_topics: int = 10,
        *,
        response: str = "mixture",
        alpha0: float = 1.0,
        learn_alpha: bool = False,
        beta: float = 0.1,
        burn_in: int = 200,
        n_kept: int = 100,
        tolerance: float = 0.0,
        warm_start: bool = False,
        callback: Callback | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_topics = n_topics
        self.response = response
        self.alpha0 = alpha0
        self.learn_alpha = learn_alpha
        self.beta = beta
        self.burn_in = burn_in
        self.n_kept = n_kept
        self.tolerance = tolerance
        self.warm_start = warm_start
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any) -> Self:
        """Sample topics and coefficients given word counts and one number per document."""
        check_choice("response", self.response, RESPONSES)
        return self._fit(X, y, self.response, Gaussian(), self.learn_alpha)


class HybridSLDA(SampledRegression):
    """Gibbs sampling that starts at the joint spectral answer.

    Where the model holds, that is all.  On text, sampled topics turn to what explains words
    alone; they are steered back until they explain the response about as well as those of
    the spectral answer (:mod:`topicprism.steering`).  With fewer than 2,000 documents the
    topics that the spectral answer has for the response keep their words instead.

    Parameters
    ----------
    n_topics : int or "auto", default="auto"
        Number of topics; chosen as by :class:`SpectralSLDA`.
    alpha0, learn_alpha, beta, burn_in, n_kept, tolerance
        As in :class:`GibbsSLDA`; by default ``learn_alpha`` is True, ``beta`` 0.3, ``burn_in``
        100 and ``n_kept`` 200.
    response_weight : float, default=1.0
        Power of the response's likelihood in the chain; 1 is the model's.
    refit : bool, default=True
        Whether topics are steered and the coefficients are those of a ridge regression on the
        proportions inferred from the training words alone, as they will be at prediction.
        ``coef_draws_`` are the chain's in either case.  Steered topics have a prior of sum 3.
    warm_start, callback, n_jobs, random_state
        As in :class:`GibbsSLDA`.

    Attributes
    ----------
    components_, coef_, alpha_, noise_variance_, model_, n_features_in_
        As in :class:`SpectralSLDA`.
    coef_draws_, noise_variance_draws_, log_likelihood_, acceptance_, n_sweeps_, state_
        As in :class:`GibbsSLDA`.
    """

    def __init__(
        self,
        n_topics: int | str = "auto",
        *,
        response_weight: float = 1.0,
        refit: bool = True,
        alpha0: float = 1.0,
        learn_alpha: bool = True,
        beta: float = 0.3,
        burn_in: int = 100,
        n_kept: int = 200,
        tolerance: float = 0.0,
        warm_start: bool = False,
        callback: Callback | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_topics = n_topics
        self.response_weight = response_weight
        self.refit = refit
        self.alpha0 = alpha0
        self.learn_alpha = learn_alpha
        self.beta = beta
        self.burn_in = burn_in
        self.n_kept = n_kept
        self.tolerance = tolerance
        self.warm_start = warm_start
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any) -> Self:
        """Learn by the joint spectral method, then sample from there."""
        check_real("response_weight", self.response_weight, 1e-6, "try 1.0")
        check_chain(self, may_choose=True)
        family = Gaussian(float(self.response_weight))
        plan = Plan("mixture", family, float(self.beta), learn_alpha=self.learn_alpha)
        task = self._task(X, y, plan)
        if not (self.warm_start and hasattr(self, "state_")):
            self._spectral = self._learnt(task)
        if self.refit and len(task.Y) < FEW:
            plan = replace(plan, held=self._spectral.held)
        self._sample(replace(task, plan=plan))
        return self

    def _learnt(self, task: Task) -> Learnt:
        """The spectral answer, for a response of mean 0 and variance 1."""
        seed = int(generator(self.random_state).integers(2**62))
        wishes = Wishes(None if self.n_topics == AUTO else self.n_topics)
        return learn_from(self._docs(task), wishes, np.random.default_rng(seed))

    def _docs(self, task: Task, y: Doc | None = None) -> Threaded:
        corpus = Corpus(task.counts, task.Y[:, 0] if y is None else y)
        return Threaded(corpus, effective_n_jobs(self.n_jobs))

    def _start(self, task: Task, seed: int, n_threads: int) -> tuple[Model, DocTopic | None]:
        with one_blas_thread:
            model = self._spectral.model.with_alpha0(float(self.alpha0))
            model = replace(model, burstiness=0.0)
            found = regress(self._docs(task).total(products, model, AS_IT_IS, Part()))
        sigma = min(max(float(np.sqrt(found.variance)), 0.1), 1.0)  # y has variance 1
        model = replace(model, eta=found.eta, sigma=sigma)
        return model, infer(model, task.counts, n_threads=n_threads)

    def _calibrated(self, model: Model, task: Task) -> Calibrated | None:
        if not self.refit:
            return None
        units, y = Units(task.units.centre, task.units.scale), task.Y[:, 0]
        docs = self._docs(task, units.centre + units.scale * y)
        with one_blas_thread:
            if task.plan.held:
                model = replace(model, burstiness=self._spectral.model.burstiness)
                model = model.with_alpha0(best_alpha0(docs, model, units, Part(), GRID))
            elif self._spectral.held:
                model = self._steered(model, task)
            return calibrate(docs, model, units, Part.of(len(y), LEARN_ON))

    def _steered(self, model: Model, task: Task) -> Model:
        """Topics that explain the response as well as those of the spectral answer."""
        docs, learnt, y = self._docs(task), self._spectral.model, task.Y[:, 0]
        part = Part.of(len(y), TRY_ON)

        def fit(tried: Model) -> float:
            sums = docs.total(products, tried, AS_IT_IS, part)
            return sums.pr2(regress(sums).eta)

        known = fit(learnt)
        goal = known - SHORT + SPENT * (1 - known) / len(y)
        h = infer(learnt, task.counts, n_threads=effective_n_jobs(self.n_jobs))
        guide = self._docs(task, (1 - HINT) * y + HINT * predict(learnt, h))
        steered = start = replace(model.with_alpha0(PRIOR), burstiness=BURSTINESS)
        try:
            for steered in islice(steer(guide, start), ROUNDS + 1):
                if fit(steered) >= goal:
                    break
        except KeyboardInterrupt:
            warnings.warn(
                f"interrupted while topics were steered towards an R2 of {goal:.2f}; those so far "
                "are kept",
                InterruptedWarning,
                stacklevel=5,
            )
        return steered
