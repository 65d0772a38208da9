"""scikit-learn estimators: supervised LDA by sampling, from a random or the spectral start."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Self, cast

from joblib import effective_n_jobs

from topicprism._typing import DocTopic
from topicprism.defaults import AUTO, is_auto, unless_auto
from topicprism.documents import Threaded
from topicprism.estimators.base import warn_of_fewer, warn_of_many
from topicprism.estimators.parameters import Chosen, GivenChain, parameters
from topicprism.estimators.sampled import (
    Task,
    check_chain,
    with_callbacks,
)
from topicprism.estimators.sampled_regression import SampledRegression
from topicprism.inference import PROPAGATION, infer
from topicprism.learn import FitRequest
from topicprism.learn.hybrid import Hybrid, HybridRequest
from topicprism.learn.ridge import Calibrated
from topicprism.model import Model
from topicprism.samplers import Gaussian, Plan
from topicprism.samplers.state import RESPONSES
from topicprism.validation import check_choice, check_real, generator


@parameters
class GibbsSLDA(GivenChain, SampledRegression):
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
    cross_fit : bool, default=True
        Whether effects are cross-fitted: each half of the documents has a chain of its own, as
        long as that of all, and the responses of the other half are regressed on its topics.
        Takes more than twice as long.  False if the documents are from the model or predictions
        are all that is wanted: the effects are then the posterior's, conditional on the model.
    warm_start : bool, default=False
        Whether to go on from the state of the last fit; the documents must be the same, their order
        need not.
    callback : callable or None, default=None
        Called after each sweep with a ``Progress``.
    n_jobs : int or None, default=None
        Threads: None is one, -1 is all cores.  The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the chain, in which documents are in the order of their keys, not of rows.

    Attributes
    ----------
    components_, alpha_, noise_variance_, model_, n_features_in_
        As in :class:`SpectralSLDA`: posterior means.  ``predict`` uses ``model_.eta``, the mean of
        the draws.
    coef_ : ndarray of shape (n_topics,)
        Effects: the response expected of a document of one topic only, in increasing order.
        Cross-fitted, or the mean of the draws if ``cross_fit`` is False, or if there are fewer
        than 40 documents, or after Ctrl-C.
    coef_std_ : ndarray of shape (n_topics,)
        Standard errors of the cross-fitted effects, the variation of the topics included: NaN for
        a topic that was found in neither half, and for all where one half does not predict the
        other.  If ``cross_fit`` is False, standard deviations of 20 draws or more.
    replication_, cross_fitted_r2_
        As in :class:`SpectralSLDA`, where effects were cross-fitted.
    coef_draws_ : ndarray of shape (n_kept, n_topics)
        Kept draws of the coefficients.
    noise_variance_draws_ : ndarray of shape (n_kept,)
        Kept draws of the noise variance.
    log_likelihood_ : ndarray of shape (n_sweeps_,)
        Log-likelihood of training words and responses, per word, after each sweep.
    acceptance_ : ndarray of shape (n_sweeps_,)
        Share of Metropolis steps accepted in each sweep.
    n_sweeps_ : int
        Sweeps since the chain began.
    features_ : {"mixture", "assignments"}
        What ``model_.eta`` multiplies in ``predict``.
    state_ : State
        Where the chain stands; its documents are in the order of the rows.

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

    response: str = "mixture"
    learn_alpha: bool = False
    cross_fit: bool = True

    @with_callbacks
    def fit(self, X: Any, y: Any) -> Self:
        """Sample topics and coefficients given word counts and one number per document."""
        self._check()
        return self._fit(X, y, self.response, Gaussian(), self.learn_alpha)

    def _check(self) -> None:
        check_choice("response", self.response, RESPONSES)
        check_choice("learn_alpha", self.learn_alpha, (True, False))
        super()._check()


@parameters
class HybridSLDA(Chosen, SampledRegression):
    """Gibbs sampling that starts at the joint spectral estimate.

    In the regime "model" (see :class:`SpectralSLDA`) the chain is that of the model.  In the
    regime "text" sampled topics drift towards what explains words alone, so they are steered
    towards better predictions from words (:mod:`topicprism.learn.refine`).  With fewer than
    2,000 documents, or fewer than 100,000 words in all of them, the spectral estimate is a prior
    worth as many words as the documents have, and its topics of the response are fixed.
    ``regime="paper"`` is the paper's hybrid on any documents: a chain of the model that starts at
    Algorithm 2, with neither steering nor a regression.

    Parameters
    ----------
    n_topics : int or "auto", default="auto"
        Number of topics; chosen as by :class:`SpectralSLDA`.
    regime : {"auto", "paper"}, default="auto"
        As in :class:`SpectralSLDA`.  With "paper", ``n_topics`` must be given; "auto" is 0.1 for
        each topic in ``alpha0``, from which Algorithm 2 estimates a prior that is fixed, 0.1 in
        ``beta``, and False in ``cross_fit``.
    alpha0, learn_alpha, beta : "auto" or as in :class:`GibbsSLDA`, default="auto"
        In the regime "model", "auto" is the spectral estimate's prior of the proportions, which
        is fixed, and a prior of topics around the words' frequencies, as wide as its topics
        are.  In the regime "text" ``beta`` is 0.3 and, unless documents are so few, the prior of
        the proportions starts at 1 and is learnt.
    burn_in, n_kept, tolerance
        As in :class:`GibbsSLDA`; by default ``burn_in`` is 100 and ``n_kept`` 300.
    response_weight : float or "auto", default="auto"
        Power of the response's likelihood in the chain; 1 is the model's.  "auto" is 1, or 0.1
        where topics are steered, since new documents have no response to follow.
    refit : bool, default=True
        Whether, in the regime "text", topics are steered and the coefficients are those of a
        ridge regression on the proportions inferred from the training words alone, as at
        prediction.  ``coef_draws_`` are the chain's in either case.  Steered topics have a
        prior of sum ``alpha0`` in the end; of 3, if that is "auto".
    cross_fit : bool or "auto", default="auto"
        As in :class:`GibbsSLDA`; "auto" is True in the regime "text".  If False there, and
        ``refit`` is True, there are no standard errors.
    inference
        As in :class:`SpectralSLDA`.
    warm_start, callback, n_jobs, random_state
        As in :class:`GibbsSLDA`.

    Attributes
    ----------
    components_, alpha_, noise_variance_, model_, n_features_in_
        As in :class:`SpectralSLDA`.
    coef_, coef_std_, replication_, cross_fitted_r2_
        As in :class:`GibbsSLDA`.
    selection_ : Selection
        How the number of topics was chosen, from which spectrum and trials, as in
        :class:`SpectralSLDA`; and where prior and noise variance come from.
    coef_draws_, noise_variance_draws_, log_likelihood_, acceptance_, n_sweeps_, state_
        As in :class:`GibbsSLDA`.
    """

    regime: str = AUTO
    response_weight: float | str = AUTO
    refit: bool = True
    learn_alpha: bool | str = AUTO
    beta: float | str = AUTO
    burn_in: int = 100
    n_kept: int = 300
    cross_fit: bool | str = AUTO
    inference: str = PROPAGATION

    # whether documents are few, where that does not go by their number; an annotation would make
    # it a parameter
    _few = cast("bool | None", None)

    @with_callbacks
    def fit(self, X: Any, y: Any) -> Self:
        """Learn by the joint spectral method, then sample from there."""
        self._check()
        task = self._task(X, y, Plan())
        docs, rng = self._docs(task), partial(generator, self.random_state)
        if not (self.warm_start and hasattr(self, "state_")):
            asked, counted = unless_auto(self.n_topics), partial(warn_of_many, self.n_topics)
            self._hybrid = Hybrid.of(docs, asked, self._request, rng(), counted)
            self._asked = self.n_topics
            warn_of_fewer(self._hybrid.spectral.model.n_topics, self.n_topics)
        self._hybrid = self._hybrid.ready(docs, self._request, rng())
        plan = self._hybrid.plan(docs, task.plan, self._request)
        self._sample(replace(task, plan=plan))
        square = task.scale.scale**2
        self.selection_ = self._hybrid.selection(docs, plan, self._request, self.model_, square)
        return self

    def _check(self) -> None:
        if not is_auto(self.response_weight):
            check_real("response_weight", self.response_weight, 1e-6, 'try "auto"')
        check_choice("learn_alpha", self.learn_alpha, (True, False, AUTO))
        check_choice("cross_fit", self.cross_fit, (True, False, AUTO))
        check_choice("refit", self.refit, (True, False))
        check_chain(self, may_choose=True)
        FitRequest(unless_auto(self.n_topics), regime=self.regime).check()
        self._how()  # refuses what is no inference

    def _docs(self, task: Task) -> Threaded:
        return Threaded(task.corpus, effective_n_jobs(self.n_jobs))

    @property
    def _request(self) -> HybridRequest:
        return HybridRequest(
            unless_auto(self.alpha0),
            unless_auto(self.learn_alpha),
            unless_auto(self.beta),
            unless_auto(self.response_weight),
            self.refit,
            self._few,
            self.regime,
        )

    def _cross_fits(self) -> bool:
        return not self._hybrid.follows_model if is_auto(self.cross_fit) else bool(self.cross_fit)

    def _half_chain(self, task: Task, before: Self | None, seed: int) -> Self:
        chain = super()._half_chain(task, before, seed)
        chain._few = self._hybrid.few(self._docs(task), self._request)
        return chain

    def _counted(self, n_documents: int) -> None:
        """It was said before the start was learnt."""

    def _n_expected(self) -> int:
        """The data may support fewer than were asked for."""
        same = self.n_topics in (AUTO, self._asked)
        return len(self.state_.alpha) if same else int(self.n_topics)

    def _start(self, task: Task, seed: int, n_threads: int) -> tuple[Model, DocTopic | None]:
        model = self._hybrid.start(self._docs(task), task.plan, self._request)
        return model, infer(model, task.counts, n_threads=n_threads)

    def _calibrated(self, model: Model, task: Task) -> Calibrated | None:
        docs = self._docs(task)
        return self._hybrid.calibrated(docs, model, task.plan, self._request, task.scale)
