"""scikit-learn estimators that sample: Gibbs sLDA, the hybrid, MedLDA."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from topicprism._typing import Array, Doc, DocTopic
from topicprism.corpus import Corpus
from topicprism.engines import Threaded
from topicprism.estimators import _check_choice, _check_number, _Regression, _varied
from topicprism.inference import infer
from topicprism.model import Model
from topicprism.sampled import SampledTopics, Task, check_chain, check_from_0, with_callbacks
from topicprism.samplers import Gaussian, Hinge, Plan, Progress, Tube
from topicprism.samplers.state import RESPONSES, Family, standardise
from topicprism.spectral import learn

Callback = Callable[[Progress], object]


class _SampledRegression(_Regression, SampledTopics):
    """Chains whose response is one number per document."""

    def predict(self, X: Any) -> Doc:
        """Expected response of each document."""
        return self._decide(X)

    def _fit(self, X: Any, y: Any, response: str, family: Family, learn_alpha: bool) -> Self:
        check_chain(self)
        counts = self._counts(X, reset=True)
        t, units = standardise(_varied(y, counts.shape[0], type(self).__name__))
        plan = Plan(response, family, float(self.beta), learn_alpha=learn_alpha)
        self._sample(Task(counts, t[:, None], plan, units))
        return self


class GibbsSLDA(_SampledRegression):
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
        _check_choice("response", self.response, RESPONSES)
        return self._fit(X, y, self.response, Gaussian(), self.learn_alpha)


class HybridSLDA(_SampledRegression):
    """Gibbs sampling that starts at the joint spectral answer.

    Parameters
    ----------
    n_topics, alpha0, learn_alpha, beta, burn_in, n_kept, tolerance
        As in :class:`GibbsSLDA`; ``burn_in`` is 50 and ``n_kept`` 50 by default.
    response_weight : float, default=1.0
        Power of the response's likelihood; 1 is the paper's, more keeps the sampler from
        turning to words alone.
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
        response_weight: float = 1.0,
        refit: bool = True,
        alpha0: float = 1.0,
        learn_alpha: bool = False,
        beta: float = 0.1,
        burn_in: int = 50,
        n_kept: int = 50,
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
        _check_number("response_weight", self.response_weight, Real, "a number above 0; try 1.0")
        return self._fit(X, y, "mixture", Gaussian(float(self.response_weight)), self.learn_alpha)

    def _start(self, task: Task, n_threads: int) -> tuple[Model, DocTopic | None]:
        docs = Threaded(Corpus(task.counts, task.Y[:, 0]), n_threads)
        rng = np.random.default_rng(0)
        model = learn(docs, self.n_topics, float(self.alpha0), rng=rng).model
        sigma = min(max(model.sigma, 0.1), 1.0)  # y has variance 1
        return Model(model.alpha, model.mu, model.eta, sigma), infer(
            model, task.counts, n_threads=n_threads
        )

    def _refits(self) -> bool:
        return self.refit


class MedLDA(_SampledRegression):
    """Topics whose mean assignments predict a number to within a margin.

    Parameters
    ----------
    n_topics, alpha0, beta, burn_in, n_kept, tolerance
        As in :class:`GibbsSLDA`.
    C : float, default=10.0
        Weight of the loss; at 0 the topics are LDA's and the coefficients a regression's.
    epsilon : float, default=0.1
        Deviations below this cost nothing, in standard deviations of y.
    refit : bool, default=False
        As in :class:`HybridSLDA`; always done when ``C`` is 0.
    warm_start, callback, n_jobs, random_state
        As in :class:`GibbsSLDA`.

    Attributes
    ----------
    components_, coef_, alpha_, noise_variance_, model_, n_features_in_
        As in :class:`SpectralSLDA`.
    coef_draws_, noise_variance_draws_, log_likelihood_, acceptance_, n_sweeps_, state_
        As in :class:`GibbsSLDA`; the response counts -2 C times its loss.
    """

    def __init__(
        self,
        n_topics: int = 10,
        *,
        C: float = 10.0,
        epsilon: float = 0.1,
        refit: bool = False,
        alpha0: float = 1.0,
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
        self.C = C
        self.epsilon = epsilon
        self.refit = refit
        self.alpha0 = alpha0
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
        check_from_0("C", self.C, Real, "a number from 0 up; try 10.0")
        check_from_0("epsilon", self.epsilon, Real, "a number from 0 up; try 0.1")
        family = Tube(float(self.C), float(self.epsilon))
        return self._fit(X, y, "assignments", family, learn_alpha=False)

    def _refits(self) -> bool:
        return self.refit or self.C == 0


class MedLDAClassifier(ClassifierMixin, SampledTopics):
    """Topics whose mean assignments tell classes apart by a margin, one against the rest.

    Parameters
    ----------
    n_topics, alpha0, beta, burn_in, n_kept, tolerance
        As in :class:`GibbsSLDA`.
    C : float, default=1.0
        Weight of the loss; at 0 the topics are LDA's and the coefficients a regression's.
    cost : float, default=1.0
        The margin asked of each document.
    refit : bool, default=False
        As in :class:`HybridSLDA`, on -1 and 1; always done when ``C`` is 0.
    warm_start, callback, n_jobs, random_state
        As in :class:`GibbsSLDA`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    coef_ : ndarray of shape (n_topics,) or (n_classes, n_topics)
        What each topic says for ``classes_[1]``, or for each of more than two classes.
    components_, alpha_, model_, n_features_in_
        As in :class:`SpectralSLDA`; the model's ``eta`` is the first class's.
    coef_draws_, log_likelihood_, acceptance_, n_sweeps_, state_
        As in :class:`MedLDA`.
    """

    def __init__(
        self,
        n_topics: int = 10,
        *,
        C: float = 1.0,
        cost: float = 1.0,
        refit: bool = False,
        alpha0: float = 1.0,
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
        self.C = C
        self.cost = cost
        self.refit = refit
        self.alpha0 = alpha0
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
        """Sample topics and coefficients given word counts and one label per document."""
        check_chain(self)
        check_from_0("C", self.C, Real, "a number from 0 up; try 1.0")
        _check_number("cost", self.cost, Real, "a number above 0; try 1.0")
        counts = self._counts(X, reset=True)
        self.classes_, Y = _signs(y, counts.shape[0])
        plan = Plan("assignments", Hinge(float(self.C), float(self.cost)), float(self.beta))
        self._sample(Task(counts, Y, plan))
        return self

    def decision_function(self, X: Any) -> Array:
        """How far each document is on the side of ``classes_[1]``, or of each class."""
        return self._decide(X)

    def predict(self, X: Any) -> Any:
        """The label of each document."""
        side = self.decision_function(X)
        best = (side > 0).astype(int) if side.ndim == 1 else side.argmax(axis=1)
        return self.classes_[best]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on the checks' data, which are not documents
        return tags

    def _refits(self) -> bool:
        return self.refit or self.C == 0


def _signs(y: Any, n_documents: int) -> tuple[Any, Array]:
    """The labels, and one column of -1 and 1 for two of them, one for each of more."""
    if y is None:
        raise ValueError(
            "MedLDAClassifier requires y to be passed, but the target y is None; pass one label "
            "per document, or use SpectralLDA for topics alone"
        )
    labels = column_or_1d(y, warn=True)
    check_classification_targets(labels)
    if len(labels) != n_documents:
        raise ValueError(
            f"y has {len(labels)} labels, but there are {n_documents} documents; expected one "
            "label per document, in the same order"
        )
    classes, which = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y has one class, {classes[0]!r}, for all {n_documents} documents, but at least two "
            "were expected; check the column, or use SpectralLDA for topics alone"
        )
    ones = np.where(which[:, None] == np.arange(len(classes)), 1.0, -1.0)
    return classes, ones[:, 1:] if len(classes) == 2 else ones
