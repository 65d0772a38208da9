"""Topics by tensor decomposition, with and without a response."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from topicprism.corpus import MIN_WORDS, Corpus
from topicprism.engines import Threaded
from topicprism.estimators.base import Regression, Topics, generator, varied
from topicprism.evaluation import completion_log_likelihood
from topicprism.settings import Settings
from topicprism.spectral import learn


class ShortDocumentsWarning(UserWarning):
    """Some documents are too short for the moments."""


class _SpectralTopics(Topics):
    """What spectral topic models do alike, with or without a response."""

    whitening: str
    n_restarts: int
    n_iterations: int

    def _learn(self, docs: Corpus, settings: Settings) -> Self:
        solution = learn(
            Threaded(docs, effective_n_jobs(self.n_jobs)),
            self.n_topics,
            self.alpha0,
            settings,
            rng=generator(self.random_state),
        )
        self.n_short_ = solution.n_short
        _warn_of_short(solution.n_short, len(docs))
        self.model_ = solution.model
        self.components_ = solution.model.mu.T
        self.alpha_ = solution.model.alpha
        self.eigenvalues_ = solution.eigenvalues
        self.spectrum_ = solution.spectrum
        self.residual_ = solution.residual
        return self


class SpectralSLDA(Regression, _SpectralTopics):
    """Supervised topics by tensor decomposition: topics, and what each does to a response.

    Parameters
    ----------
    n_topics : int, default=10
        Number of topics, k in the paper.
    method : {"joint", "two-stage"}, default="joint"
        Whether the response helps to find the topics, or is explained by them afterwards.
    alpha0 : float, default=1.0
        Sum of the Dirichlet parameters: small for documents of one topic, large for
        documents that mix many.
    noise_variance : float or "auto", default="auto"
        Variance of the response around what the topics say, in its own units.
    whitening : {"auto", "exact", "matrix-free", "nystrom"}, default="auto"
        How the second moment is factored; "nystrom" is Algorithm 3 of the paper.
    n_restarts, n_iterations : int, default=100
        Starts of the tensor power method for each topic, and its iterations at most.
    n_jobs : int or None, default=None
        Threads: None is one, -1 is all cores.  The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random directions and restarts.

    Attributes
    ----------
    components_ : ndarray of shape (n_topics, n_features_in_)
        Word probabilities of each topic; rows sum to 1 and are sorted by coefficient.
    coef_ : ndarray of shape (n_topics,)
        Response expected of a document that is all of one topic, in increasing order.
    alpha_ : ndarray of shape (n_topics,)
        Dirichlet parameters.
    noise_variance_ : float
        Variance of the response around what a document's true proportions would predict.
    eigenvalues_ : ndarray of shape (n_topics,)
        Eigenvalues of the whitened third moment.
    spectrum_ : ndarray of shape (n_topics,)
        Leading eigenvalues of the second moment.
    residual_ : float
        Share of the third moment that the topics leave unexplained.
    n_short_ : int
        Training documents too short for the moments.
    model_ : Model
        ``alpha``, ``mu``, ``eta`` and ``sigma`` together.
    n_features_in_ : int
        Words of the vocabulary.

    Examples
    --------
    >>> from topicprism import SpectralSLDA
    >>> from topicprism.datasets import make_slda
    >>> X, y, truth = make_slda(4000, n_words=100, n_topics=3, doc_length=80, random_state=0)
    >>> model = SpectralSLDA(n_topics=3, random_state=0).fit(X[:3000], y[:3000])
    >>> model.components_.shape
    (3, 100)
    >>> bool(model.score(X[3000:], y[3000:]) > 0.7)
    True
    """

    def __init__(
        self,
        n_topics: int = 10,
        *,
        method: str = "joint",
        alpha0: float = 1.0,
        noise_variance: float | str = "auto",
        whitening: str = "auto",
        n_restarts: int = 100,
        n_iterations: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_topics = n_topics
        self.method = method
        self.alpha0 = alpha0
        self.noise_variance = noise_variance
        self.whitening = whitening
        self.n_restarts = n_restarts
        self.n_iterations = n_iterations
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Learn topics and coefficients from word counts and one number per document.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Word counts: whole numbers.
        y : array-like of shape (n_documents,)
            The response.

        Returns
        -------
        self
        """
        settings = Settings(
            method=self.method,
            noise_variance=_unless_auto(self.noise_variance),
            whitening=self.whitening,
            n_restarts=self.n_restarts,
            n_iterations=self.n_iterations,
        )
        counts = self._counts(X, reset=True)
        name = type(self).__name__
        self._learn(Corpus(counts, varied(y, counts.shape[0], name)), settings)
        self.coef_ = self.model_.eta
        self.noise_variance_ = self.model_.sigma**2
        return self


class SpectralLDA(_SpectralTopics):
    """Topics by tensor decomposition, with no response.

    Parameters
    ----------
    n_topics, alpha0, whitening, n_restarts, n_iterations, n_jobs, random_state
        As in :class:`SpectralSLDA`.

    Attributes
    ----------
    components_ : ndarray of shape (n_topics, n_features_in_)
        Word probabilities of each topic; rows sum to 1, the most common topic first.
    alpha_, eigenvalues_, spectrum_, residual_, n_short_, model_, n_features_in_
        As in :class:`SpectralSLDA`; the model's ``eta`` and ``sigma`` are 0.
    """

    def __init__(
        self,
        n_topics: int = 10,
        *,
        alpha0: float = 1.0,
        whitening: str = "auto",
        n_restarts: int = 100,
        n_iterations: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_topics = n_topics
        self.alpha0 = alpha0
        self.whitening = whitening
        self.n_restarts = n_restarts
        self.n_iterations = n_iterations
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn topics from word counts; ``y`` is not looked at."""
        counts = self._counts(X, reset=True)
        return self._learn(
            Corpus(counts, np.zeros(counts.shape[0])),
            Settings(
                method="two-stage",
                whitening=self.whitening,
                n_restarts=self.n_restarts,
                n_iterations=self.n_iterations,
            ),
        )

    def score(self, X: Any, y: Any = None) -> float:
        """Held-out log-likelihood per word: half of each document is scored by the other half."""
        check_is_fitted(self)
        return completion_log_likelihood(
            self.model_,
            self._counts(X),
            np.random.default_rng(0),
            n_threads=effective_n_jobs(self.n_jobs),
        )


def _warn_of_short(n_short: int, n_documents: int) -> None:
    if n_short:
        warnings.warn(
            f"{n_short} of {n_documents} documents have fewer than {MIN_WORDS} words: they are "
            "left out of the moments and still get predictions",
            ShortDocumentsWarning,
            stacklevel=4,
        )


def _unless_auto(value: Any) -> Any:
    return None if isinstance(value, str) and value == "auto" else value
