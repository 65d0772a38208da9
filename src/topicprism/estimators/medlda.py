"""scikit-learn estimators: topics that predict a number or a class by a margin."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from topicprism._typing import Array, Ints
from topicprism.estimators.base import Classification, labelled
from topicprism.estimators.parameters import GivenChain, parameters
from topicprism.estimators.sampled import (
    SampledTopics,
    Task,
    check_chain,
    with_callbacks,
)
from topicprism.estimators.sampled_regression import SampledRegression
from topicprism.samplers import Hinge, Plan, Tube
from topicprism.validation import check_choice, check_real


@parameters
class MedLDA(GivenChain, SampledRegression):
    """Regression on the mean topic assignments with an epsilon-insensitive (margin) loss.

    Parameters
    ----------
    n_topics, alpha0, beta, burn_in, n_kept, tolerance
        As in :class:`GibbsSLDA`.
    C : float, default=30.0
        Weight of the loss; at 0 the topics are LDA's and the coefficients a regression's.
    epsilon : float, default=0.1
        Deviations below this cost nothing, in standard deviations of y.
    refit : bool, default=False
        Whether the coefficients of predictions are those of a ridge regression on the proportions
        inferred from the training words alone; always done when ``C`` is 0.
    cross_fit : bool, default=True
        As in :class:`GibbsSLDA`; if False, there are no standard errors, since the draws follow a
        loss rather than the distribution of the response.
    warm_start, callback, n_jobs, random_state
        As in :class:`GibbsSLDA`.

    Attributes
    ----------
    components_, alpha_, noise_variance_, model_, n_features_in_
        As in :class:`SpectralSLDA`.
    coef_, coef_std_, replication_, cross_fitted_r2_
        As in :class:`GibbsSLDA`.
    coef_draws_, noise_variance_draws_, log_likelihood_, acceptance_, n_sweeps_, state_
        As in :class:`GibbsSLDA`; the response counts -2 C times its loss.
    """

    C: float = 30.0
    epsilon: float = 0.1
    refit: bool = False
    cross_fit: bool = True

    @with_callbacks
    def fit(self, X: Any, y: Any) -> Self:
        """Sample topics and coefficients given word counts and one number per document."""
        self._check()
        family = Tube(float(self.C), float(self.epsilon))
        return self._fit(X, y, "assignments", family, learn_alpha=False)

    def _check(self) -> None:
        super()._check()
        check_real("C", self.C, 0, "try 30.0")
        check_real("epsilon", self.epsilon, 0, "try 0.1")
        check_choice("refit", self.refit, (True, False))

    def _refits(self) -> bool:
        return self.refit or self.C == 0


@parameters
class MedLDAClassifier(Classification, GivenChain, SampledTopics):
    """Classification by mean topic assignments with a margin loss, one against the rest.

    Parameters
    ----------
    n_topics, alpha0, beta, burn_in, n_kept, tolerance
        As in :class:`GibbsSLDA`.
    C : float, default=20.0
        Weight of the loss; at 0 the topics are LDA's and the coefficients a regression's.
    cost : float, default=1.0
        The margin required of each document.
    refit : bool, default=False
        As in :class:`MedLDA`, on -1 and 1; always done when ``C`` is 0.
    warm_start, callback, n_jobs, random_state
        As in :class:`GibbsSLDA`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    coef_ : ndarray of shape (n_topics,) or (n_classes, n_topics)
        Coefficients for ``classes_[1]``, or for each of more than two classes.  They have no
        standard errors.
    components_, alpha_, model_, n_features_in_
        As in :class:`SpectralSLDA`; the model's ``eta`` is the first class's.
    coef_draws_, log_likelihood_, acceptance_, n_sweeps_, state_
        As in :class:`MedLDA`.
    """

    C: float = 20.0
    cost: float = 1.0
    refit: bool = False

    @with_callbacks
    def fit(self, X: Any, y: Any) -> Self:
        """Sample topics and coefficients given word counts and one label per document."""
        self._check()
        counts = self._counts(X, reset=True)
        self.classes_, which = labelled(y, counts.shape[0], type(self).__name__)
        Y = _signs(which, len(self.classes_))
        plan = Plan("assignments", Hinge(float(self.C), float(self.cost)), float(self.beta))
        self._sample(Task.of(counts, Y, plan))
        return self

    def _check(self) -> None:
        check_chain(self)
        check_real("C", self.C, 0, "try 20.0")
        check_real("cost", self.cost, 1e-6, "try 1.0")
        check_choice("refit", self.refit, (True, False))

    def _refits(self) -> bool:
        return self.refit or self.C == 0


def _signs(which: Ints, n_classes: int) -> Array:
    """One column of -1 and 1 for two classes, one for each of more."""
    ones = np.where(which[:, None] == np.arange(n_classes), 1.0, -1.0)
    return ones[:, 1:] if n_classes == 2 else ones
