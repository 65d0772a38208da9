"""scikit-learn estimator: LDA whose topics are transformed by class."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from topicprism._typing import Array, Counts, DocTopic
from topicprism.estimators.base import (
    Classification,
    Topics,
    labelled,
    threads_for,
    warn_of_many,
)
from topicprism.estimators.parameters import EM, parameters
from topicprism.estimators.sampled import of_model
from topicprism.estimators.variational import NO_WORDS, check_em
from topicprism.kernels.blas import one_blas_thread
from topicprism.model import Model
from topicprism.relatives.disclda import (
    Transformed,
    blocks,
    discriminative,
    generative,
    infer,
    proportions,
)
from topicprism.relatives.variational import start_topics
from topicprism.samplers.state import check_room
from topicprism.validation import check_whole, generator


@parameters
class DiscLDA(Classification, EM, Topics):
    """Classification by topics that are transformed by class (Lacoste-Julien et al. 2008).

    Each class has some topics of its own and shares the others.  Topics are learnt from labelled
    documents, then the transformations so that classes given words are most likely.  Inference is
    by mean field, where the paper samples; topics do not follow the transformations.

    Parameters
    ----------
    n_topics : int, default=10
        Number of topics, of the classes and shared together.
    n_class_topics : int, default=1
        Topics that each class has for itself.
    alpha0 : float, default=1.0
        Sum of the Dirichlet parameters of a document's proportions.
    beta : float, default=0.01
        What is added to the count of each word in each topic.
    n_iterations : int, default=50
        Iterations at most, for topics and again for transformations.
    tolerance : float, default=1e-4
        Both end as soon as their objective rises by less than this share of itself.
    n_jobs, random_state
        As in :class:`VariationalSLDA`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    transformations_ : ndarray of shape (n_classes, n_topics, n_proportions)
        Of each class: what its documents make of their proportions.
    class_prior_ : ndarray of shape (n_classes,)
        Shares of the classes.
    conditional_ : ndarray
        Mean log p(class | words) of training documents, at first and after each step.
    components_, model_, n_features_in_
        As in :class:`SpectralSLDA`; the model has no coefficients.
    alpha_ : ndarray of shape (n_topics,)
        ``alpha0`` times the mean proportions of training documents.
    """

    n_class_topics: int = 1
    n_iterations: int = 50

    def fit(self, X: Any, y: Any) -> Self:
        """Learn topics and transformations from word counts and one label per document."""
        self._check()
        counts = self._counts(X, reset=True)
        check_room(counts, self.n_topics, "mixture")
        self.classes_, which = labelled(y, counts.shape[0], type(self).__name__)
        if not counts.data.any():
            raise ValueError(NO_WORDS)
        start = self._start(counts, which)
        warn_of_many(self.n_topics, counts.shape[0])
        end = (self.n_iterations, float(self.tolerance), effective_n_jobs(self.n_jobs))
        with one_blas_thread:
            made, _ = generative(start, counts, which, float(self.beta), *end)
            made, self.conditional_ = discriminative(made, counts, which, *end)
            h = proportions(made, infer(made, counts, end[2]))
        self.transformations_, self.class_prior_ = made.T, made.prior
        share = np.maximum(h.mean(axis=0), 1e-9)
        alpha = self.alpha0 * share / share.sum()
        for name, value in of_model(Model(alpha, made.mu, np.zeros(len(alpha)), 0.0)).items():
            setattr(self, name, value)
        return self

    def _check(self) -> None:
        check_em(self)
        check_whole("n_class_topics", self.n_class_topics, "try 1")

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of the probability of each class, a column each."""
        check_is_fitted(self)
        counts = self._counts(X)
        with one_blas_thread:
            found = infer(self._transformed(), counts, threads_for(counts, self.n_jobs))
        return found.log_posterior(self.class_prior_)

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, a column each."""
        return np.exp(self.predict_log_proba(X))

    def decision_function(self, X: Any) -> Array:
        """The logarithm of the odds of ``classes_[1]``, or of the probability of each class."""
        log_p = self.predict_log_proba(X)
        return log_p[:, 1] - log_p[:, 0] if log_p.shape[1] == 2 else log_p

    def _proportions(self, counts: Counts) -> DocTopic:
        """E[T h | words], the class unknown."""
        made = self._transformed()
        with one_blas_thread:
            return proportions(made, infer(made, counts, threads_for(counts, self.n_jobs)))

    def _transformed(self) -> Transformed:
        m = self.transformations_.shape[2]
        alpha = np.full(m, self.model_.alpha.sum() / m)
        return Transformed(self.model_.mu, self.transformations_, alpha, self.class_prior_)

    def _start(self, counts: Counts, which: Any) -> Transformed:
        k, own, n = int(self.n_topics), int(self.n_class_topics), len(self.classes_)
        if n * own > k:
            raise ValueError(
                f"n_topics={k}, but {n} classes with n_class_topics={own} have {n * own} topics of "
                f"their own; use n_topics from {n * own} up"
            )
        T = blocks(n, own, k)
        mu = start_topics(counts, k, generator(self.random_state))
        prior = np.bincount(which, minlength=n) / len(which)
        return Transformed(mu, T, np.full(T.shape[2], self.alpha0 / T.shape[2]), prior)
