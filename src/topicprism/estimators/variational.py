"""scikit-learn estimators: supervised LDA by variational EM, for a number and for classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from scipy.special import expit, softmax

from topicprism._typing import Array, Counts, Doc
from topicprism.estimators.base import (
    Classification,
    Regression,
    Topics,
    check_running,
    labelled,
    lengths_of,
    varied,
    warn_of_many,
)
from topicprism.estimators.halves import keep_deviations
from topicprism.estimators.parameters import EM, parameters
from topicprism.estimators.responses import vary
from topicprism.estimators.sampled import of_model
from topicprism.limits import fits
from topicprism.model import Model
from topicprism.relatives.variational import (
    Fitted,
    Label,
    Number,
    Response,
    Tokens,
    learn,
    start_topics,
)
from topicprism.samplers.state import check_room, observe, standardise
from topicprism.validation import check_choice, check_prior, check_real, check_whole, generator

NO_WORDS = (
    "all documents are empty, but some words were expected to learn from; check the vocabulary"
)


def check_em(asked: EM) -> None:
    check_running(asked.n_jobs, asked.random_state)
    check_prior(asked.n_topics, asked.alpha0)
    check_real("beta", asked.beta, 1e-6, "try 0.01")
    check_whole("n_iterations", asked.n_iterations, f"try {type(asked).n_iterations}")
    check_real("tolerance", asked.tolerance, 0, "try 1e-4")


class _VariationalTopics(EM, Topics):
    """What both do alike: check, and run EM on documents that are not empty."""

    def _check(self) -> None:
        check_em(self)

    def _checked(self, X: Any) -> tuple[Counts, Any]:
        """Counts of documents with words, and which those are."""
        self._check()
        counts = self._counts(X, reset=True)
        check_room(counts, self.n_topics, "assignments")
        n_words = float(counts.data.sum(dtype=float))
        need = 16.0 * self.n_topics * n_words  # phi, and as much again while sums are made
        if not fits(need):
            raise ValueError(
                f"n_topics={self.n_topics} with {n_words:g} words takes {need / 2**30:.3g} GiB, "
                "which is more than the memory of this machine; try 10, or fewer documents"
            )
        full = lengths_of(counts) > 0
        if not full.any():
            raise ValueError(NO_WORDS)
        return counts[full], full

    def _learn(self, counts: Counts, response: Response) -> Fitted:
        rng, k = generator(self.random_state), int(self.n_topics)
        warn_of_many(k, counts.shape[0])
        alpha = np.full(k, self.alpha0 / k)
        tokens = Tokens(observe(counts, np.empty((0, 0)), "assignments").X)
        found = learn(
            tokens, response, start_topics(counts, k, rng), alpha, float(self.beta),
            self.n_iterations, float(self.tolerance), effective_n_jobs(self.n_jobs),
        )  # fmt: skip
        self.bound_ = found.trace
        return found

    def _keep(self, model: Model, coef: Array) -> Self:
        for name, value in (of_model(model) | {"coef_": coef}).items():
            setattr(self, name, value)
        self.features_ = "assignments"
        return self


@parameters
class VariationalSLDA(Regression, _VariationalTopics):
    """Supervised LDA by variational EM, as Blei and McAuliffe (2007) have it.

    The response depends on the mean topic assignment of the words.  Predictions are by this
    package's inference from words, not by mean field.  The coefficients have no standard errors.

    Parameters
    ----------
    n_topics : int, default=10
        Number of topics.
    alpha0 : float, default=1.0
        Sum of the Dirichlet parameters, equal for all topics.
    beta : float, default=0.01
        What is added to the count of each word in each topic.
    noise_start : float, default=1.0
        Noise variance to begin with, as a share of that of the response.  EM ends near where it
        starts: the smaller, the more topics follow the response rather than the words.
    calibrate : bool, default=True
        Whether deviations of predictions come from a fit to one half of the documents, tried on
        the other, which takes half as long again.  If False they are those of the model, which are
        too small where topics follow the response.
    n_iterations : int, default=100
        Iterations of EM at most.
    tolerance : float, default=1e-4
        EM ends as soon as the bound rises by less than this share of itself.
    n_jobs : int or None, default=None
        Threads: None is one, -1 is all cores.  The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the topics to begin with.

    Attributes
    ----------
    components_, alpha_, noise_variance_, model_, n_features_in_
        As in :class:`SpectralSLDA`.
    coef_ : ndarray of shape (n_topics,)
        The response expected of a document all of whose words are of one topic, in increasing
        order.
    predictive_variance_ : ndarray of shape (2,)
        As in :class:`SpectralSLDA`, where ``calibrate`` is True and there are 40 documents or more.
    bound_ : ndarray of shape (n_iterations_made,)
        The variational bound, the logarithm of the prior included, of the standardised response.
    """

    noise_start: float = 1.0
    calibrate: bool = True

    def fit(self, X: Any, y: Any) -> Self:
        """Learn topics and coefficients from word counts and one number per document."""
        counts, full = self._checked(X)
        y = varied(y, len(full), type(self).__name__)
        _, scale = standardise(y[full] if vary(y[full]) else y)
        t = scale.standardised(y[full])
        p = self._learn(counts, Number(t, float(self.noise_start))).parameters
        alpha = np.full(len(p.eta), self.alpha0 / len(p.eta))
        model = Model(alpha, p.mu, p.eta, float(np.sqrt(p.noise))).in_units(scale)
        model = model.reordered(np.argsort(model.eta, kind="stable"))
        self.noise_variance_ = model.sigma**2
        keep_deviations(self, counts, t, scale)
        return self._keep(model, model.eta)

    def _check(self) -> None:
        super()._check()
        check_choice("calibrate", self.calibrate, (True, False))
        check_real("noise_start", self.noise_start, 1e-6, "try 1.0", high=1.0)


class VariationalSLDAClassifier(Classification, _VariationalTopics):
    """Classification by mean topic assignments: multiclass sLDA (Wang, Blei and Fei-Fei 2009).

    Parameters
    ----------
    n_topics, alpha0, beta, n_iterations, tolerance, n_jobs, random_state
        As in :class:`VariationalSLDA`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    coef_ : ndarray of shape (n_topics,) or (n_classes, n_topics)
        What each topic adds to the logarithm of the odds of ``classes_[1]``, or to that of the
        probability of each of more than two classes.  They have no standard errors.
    components_, alpha_, model_, n_features_in_
        As in :class:`SpectralSLDA`; the model's ``eta`` is that of the first row of ``coef_``.
    bound_
        As in :class:`VariationalSLDA`.
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Learn topics and coefficients from word counts and one label per document."""
        counts, full = self._checked(X)
        self.classes_, which = labelled(y, len(full), type(self).__name__)
        n = len(self.classes_)
        p = self._learn(counts, Label(which[full].astype(np.intp), n)).parameters
        eta = p.eta[1:] - p.eta[:1] if n == 2 else p.eta
        alpha = np.full(eta.shape[1], self.alpha0 / eta.shape[1])
        order = np.argsort(eta[0], kind="stable")
        model = Model(alpha, p.mu, eta[0], 1.0).reordered(order)
        return self._keep(model, eta[0, order] if n == 2 else eta[:, order])

    def predict_proba(self, X: Any) -> Doc:
        """The probability of each class, a column each, at the expected mean assignment."""
        side = self.decision_function(X)
        if side.ndim == 2:
            return np.asarray(softmax(side, axis=1))
        return np.column_stack([expit(-side), expit(side)])
