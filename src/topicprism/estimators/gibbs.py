"""scikit-learn estimators: supervised LDA by sampling, from nothing or from the spectral answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs

from topicprism._typing import DocTopic
from topicprism.automatic import GRID, LEARN_ON, TRY_ON, Learnt, Wishes, learn_from
from topicprism.backends import one_blas_thread
from topicprism.calibration import (
    Calibrated,
    Units,
    best_alpha0,
    calibrate,
    likeliest_alpha0,
    products,
    regress,
)
from topicprism.corpus import Corpus
from topicprism.engines import Threaded
from topicprism.estimators.base import generator
from topicprism.estimators.sampled import (
    Callback,
    SampledRegression,
    Task,
    check_chain,
    with_callbacks,
)
from topicprism.inference import infer
from topicprism.model import Model
from topicprism.refinement import Part
from topicprism.samplers import Gaussian, Plan
from topicprism.samplers.state import RESPONSES
from topicprism.settings import check_choice, check_real

AS_IT_IS = Units(0.0, 1.0)
PRIORS = (1.0, 2.0, 3.0, 5.0, 10.0)  # sums of them, for topics that were sampled
FEW = 10_000  # documents; topics of fewer follow chance in the response
TOLERATED = 0.03  # of R^2 on the training documents, that sampling may cost


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

    Where the response has topics of its own and sampling would cost too much of the fit to
    it, or there are fewer than 10,000 documents, these are held and the others sampled.

    Parameters
    ----------
    n_topics, alpha0, learn_alpha, beta, burn_in, n_kept, tolerance
        As in :class:`GibbsSLDA`; by default ``learn_alpha`` is True, ``burn_in`` is 100 and
        ``n_kept`` 100.
    response_weight : float, default=3.0
        Power of the response's likelihood; 1 is the paper's, more keeps the sampler from
        turning to words alone (``docs/samplers.md`` has the figures).  Where topics are held, n
        documents being fewer than 10,000, it is n / 10,000 of this, lest the others follow
        chance in few responses.
    refit : bool, default=True
        Whether the coefficients are those of a ridge regression on the proportions inferred
        from the training words alone, as they will be at prediction.  ``coef_draws_`` are
        the chain's in either case.
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
        n_topics: int = 10,
        *,
        response_weight: float = 3.0,
        refit: bool = True,
        alpha0: float = 1.0,
        learn_alpha: bool = True,
        beta: float = 0.1,
        burn_in: int = 100,
        n_kept: int = 100,
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
        check_real("response_weight", self.response_weight, 1e-6, "try 3.0")
        check_chain(self)
        weight = float(self.response_weight)
        plan = Plan("mixture", Gaussian(weight), float(self.beta), learn_alpha=self.learn_alpha)
        task = self._task(X, y, plan)
        going_on = self.warm_start and hasattr(self, "state_")
        if not going_on:
            self._spectral = self._learnt(task)
        held, share = self._spectral.held, task.counts.shape[0] / FEW
        careful = replace(plan, held=held, family=Gaussian(weight * min(1, share)))
        if not (self.refit and held and share < 1):
            self._sample(task)
            if not (self.refit and held and not going_on and self._lost() > TOLERATED):
                return self
        self._sample(replace(task, plan=careful))
        return self

    def _learnt(self, task: Task) -> Learnt:
        """The spectral answer, for a response of mean 0 and variance 1."""
        docs = Threaded(Corpus(task.counts, task.Y[:, 0]), effective_n_jobs(self.n_jobs))
        seed = int(generator(self.random_state).integers(2**62))
        return learn_from(docs, Wishes(self.n_topics), np.random.default_rng(seed))

    def _start(self, task: Task, seed: int, n_threads: int) -> tuple[Model, DocTopic | None]:
        docs = Threaded(Corpus(task.counts, task.Y[:, 0]), n_threads)
        learnt = self._spectral.model
        with one_blas_thread:
            self._r2 = _r2(docs, learnt)
            model = replace(learnt.with_alpha0(float(self.alpha0)), burstiness=0.0)
            found = regress(docs.total(products, model, AS_IT_IS, Part()))
        sigma = min(max(float(np.sqrt(found.variance)), 0.1), 1.0)  # y has variance 1
        model = replace(model, eta=found.eta, sigma=sigma)
        return model, infer(model, task.counts, n_threads=n_threads)

    def _calibrated(self, model: Model, task: Task) -> Calibrated | None:
        if not self.refit:
            return None
        y = task.units.centre + task.units.scale * task.Y[:, 0]
        docs = Threaded(Corpus(task.counts, y), effective_n_jobs(self.n_jobs))
        units, few = Units(task.units.centre, task.units.scale), Part.of(len(y), TRY_ON)
        with one_blas_thread:
            if task.plan.held:
                model = replace(model, burstiness=self._spectral.model.burstiness)
                model = model.with_alpha0(best_alpha0(docs, model, units, few, GRID))
            elif self._spectral.held:
                model = model.with_alpha0(likeliest_alpha0(docs, model, few, PRIORS))
            found = calibrate(docs, model, units, Part.of(len(y), LEARN_ON))
        self._r2_sampled = found.r2
        return found

    def _lost(self) -> float:
        """What sampling cost of the R^2 on the training documents."""
        return self._r2 - self._r2_sampled


def _r2(docs: Threaded, model: Model) -> float:
    sums = docs.total(products, model, AS_IT_IS, Part.of(len(docs.corpus), LEARN_ON))
    return sums.pr2(regress(sums).eta)
