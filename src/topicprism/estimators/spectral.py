"""Topics by tensor decomposition, with and without a response."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs

from topicprism.backends import DEVICES
from topicprism.defaults import AUTO, unless_auto
from topicprism.documents import Threaded
from topicprism.documents.corpus import MIN_WORDS, Corpus, Documents
from topicprism.documents.standardised import without_response
from topicprism.engines.gpu import OnGPU
from topicprism.estimators.base import (
    CROSS_FITTED,
    HeldOutWords,
    Regression,
    Topics,
    check_running,
    varied,
    warn_of_fewer,
    warn_of_many,
    warn_of_nothing,
)
from topicprism.estimators.parameters import CPU, Tensor, parameters
from topicprism.learn import FitRequest, FitResult, learn, learn_sketch
from topicprism.spectral.settings import Settings
from topicprism.spectral.sketch import Sketch
from topicprism.validation import check_choice, generator

SHORT = (
    f"have fewer than {MIN_WORDS} words: they are left out of the moments; they can still be "
    "predicted"
)
COPIES = (
    "are copies of others, with the same words equally often: each document counts once, with the "
    "mean of its copies' responses"
)


class ShortDocumentsWarning(UserWarning):
    """Some documents are too short for the moments."""


class CopiesWarning(UserWarning):
    """Some documents are copies of others, which count once."""


class _SpectralTopics(Topics):
    """What spectral topic models share, with or without a response."""

    device: str

    @abstractmethod
    def _request(self) -> FitRequest:
        """What the parameters ask for."""

    def _check(self) -> None:
        check_running(self.n_jobs, self.random_state)
        check_choice("device", self.device, DEVICES)
        self._request().check()

    def fit_documents(self, docs: Documents) -> Self:
        """Learn from documents with their responses, wherever they are kept.

        Parameters
        ----------
        docs : Documents
            Such as ``documents.OnDisk``, whose memory does not grow with the corpus.

        Returns
        -------
        self
        """
        self._check()
        self.n_features_in_ = docs.n_words
        result = learn(docs, self._request(), generator(self.random_state), self._counted)
        return self._keep(result, 0)

    def _learn(self, docs: Corpus, request: FitRequest) -> Self:
        n_threads = effective_n_jobs(self.n_jobs)
        kept = Threaded(docs, n_threads) if self.device == CPU else OnGPU.of(docs, n_threads)
        result = learn(kept, request, generator(self.random_state), self._counted)
        return self._keep(result, len(docs))

    def _counted(self, n_documents: int) -> None:
        warn_of_many(self.n_topics, n_documents)

    def _keep(self, result: FitResult, n_documents: int) -> Self:
        _warn_of(result.n_short, n_documents, SHORT, ShortDocumentsWarning)
        _warn_of(result.n_copies, n_documents, COPIES, CopiesWarning)
        warn_of_fewer(result.model.n_topics, self.n_topics)
        self.n_short_ = result.n_short
        self.model_ = result.model
        self.components_ = result.model.mu.T
        self.alpha_ = result.model.alpha
        self.selection_ = result.selection
        self.spectrum_ = result.selection.spectrum
        for name in (*CROSS_FITTED, "eigenvalues_", "residual_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if result.solution is not None:
            self.eigenvalues_ = result.solution.eigenvalues
            self.residual_ = result.solution.residual
        return self


class _SupervisedTopics(Regression, _SpectralTopics):
    """What topic models of a response that start from moments share."""

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
        self._check()
        request = self._request()
        counts = self._counts(X, reset=True)
        name = type(self).__name__
        return self._learn(Corpus(counts, varied(y, counts.shape[0], name)), request)

    def _keep(self, result: FitResult, n_documents: int) -> Self:
        super()._keep(result, n_documents)
        self.coef_ = result.model.eta if result.coef is None else result.coef
        self.noise_variance_ = result.model.sigma**2
        self.predictive_variance_ = result.predictive_variance
        errs = result.coef_std is None or bool(np.any(result.coef_std))  # not: one response only
        if result.coef_std is not None and errs:
            self.coef_std_ = result.coef_std
        if result.replication is not None:
            self.replication_ = result.replication
            self.cross_fitted_r2_ = result.cross_fitted_r2
        if not (result.predicts and errs):
            warn_of_nothing(result.cross_fitted_r2 or 0.0)
        return self


@parameters
class SpectralSLDA(Tensor, _SupervisedTopics):
    """Supervised LDA by tensor decomposition.

    Without arguments, the number of topics, the prior and the noise variance are chosen from the
    data; ``selection_`` holds the reasons.  If the spectrum of the words shows a clear number of
    topics (the regime "model"), the estimator is that of the paper.  Otherwise, as for most
    text, some topics are fitted to the response, the others are refined by variational Bayes,
    and coefficients are those of a regression on inferred proportions.  ``regime="paper"`` is
    the paper's algorithm on any documents, and nothing else.  Which it was is in
    ``selection_.reasons["method"]``.  Coefficients are associations, not causal effects.

    Parameters
    ----------
    n_topics : int or "auto", default="auto"
        Number of topics, k in the paper.
    regime : {"auto", "paper"}, default="auto"
        "auto" goes by the documents.  "paper" runs Algorithm 2 (``method="joint"``) or 1 of the
        paper as printed, with corrected formulas: moments of all words, all documents weighing
        the same, whitening, tensor power method, recovery.  ``n_topics`` must be given; "auto" is
        0.1 for each topic in ``alpha0``, 100 in ``word_scale``, and in ``noise_variance`` what
        moments leave of the response.  There are no standard errors.
    method : {"joint", "two-stage"}, default="joint"
        "joint" uses the response to find the topics; "two-stage" regresses it on topics of the
        words alone.
    alpha0 : float or "auto", default="auto"
        Sum of the Dirichlet parameters: small for documents of one topic, large for
        documents that mix many.
    noise_variance : float or "auto", default="auto"
        Variance of the response given the topic proportions, in its own units.
    word_scale : float or "auto", default="auto"
        What a word counts for in the moments of the joint method, C in the paper, beside a response
        of variance 1.  "auto" balances the two in the regime "model".  On the text of the regime
        "text" it has no part.
    whitening : {"auto", "exact", "matrix-free", "randomised", "nystrom"}, default="auto"
        How the second moment is factored; "nystrom" is Algorithm 3 of the paper, which is refused
        where the moment is far from one of rank k, and "randomised" does without.  In the regime
        "paper" the moment is that of all words, and "auto" is "matrix-free"; otherwise it is that
        of a sketch, and "auto" is "exact".  The regime "text" does not use it.
    n_restarts, n_iterations : int, default=100
        Starts of the tensor power method for each topic, and its iterations at most: L and T in the
        paper, which also has 100.
    inference : {"propagation", "gibbs"}, default="propagation"
        How proportions of a document are inferred: expectation propagation, or Gibbs sampling as
        in the paper.  Standard deviations of predictions are by propagation in either case.
    device : {"cpu", "gpu"}, default="cpu"
        Where sums over documents are computed and proportions are inferred: "gpu" is one NVIDIA
        GPU, by CuPy.  ``fit_documents`` takes documents as they are kept (``engines.gpu.OnGPU``).
    n_jobs : int or None, default=None
        Threads: None is one, -1 is all cores.  The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random directions and restarts.

    Attributes
    ----------
    components_ : ndarray of shape (n_topics, n_features_in_)
        Word probabilities of each topic; rows sum to 1 and are sorted by coefficient.
    coef_ : ndarray of shape (n_topics,)
        Effects: the response expected of a document of one topic only, in increasing order.  In
        the regime "text" they are cross-fitted: topics from one half of the documents,
        coefficients from the other.  ``predict`` uses ``model_.eta``, the coefficients of all
        documents, which predict a little better.
    coef_std_ : ndarray of shape (n_topics,)
        Standard errors of the coefficients: by the jackknife in the regime "model", with the
        uncertainty of alpha0 unless it was given; otherwise from the halves, the variation of the
        topics included, and NaN for a topic that was found in neither half.  Fits from a
        sketch, or of fewer than 40 documents, have none.
    replication_ : ndarray of shape (n_topics,)
        Similarity (Bhattacharyya coefficient) of this topic and those that two halves of the
        documents have for it, the least of the three; below 0.7 it was not found again.  In the
        regime "text" only.
    cross_fitted_r2_ : float
        R2 of responses predicted by topics and coefficients of the other half; regime "text".  With
        fewer than 2,000 documents or 100,000 words, of each fifth predicted by the other four, with
        as many topics as there were before some were dropped.
    alpha_ : ndarray of shape (n_topics,)
        Dirichlet parameters.
    noise_variance_ : float
        Variance of the response given the true proportions of its document.
    predictive_variance_ : ndarray of shape (2,)
        (a, b): the variance of a response given its words is a + b Var[model_.eta . h | words].
    selection_ : Selection
        The chosen settings, the scores of other numbers of topics, and the reasons.
    spectrum_ : ndarray
        Leading eigenvalues of the second moment.
    eigenvalues_ : ndarray of shape (n_topics,)
        Eigenvalues of the whitened third moment; in the regime "model" only.
    residual_ : float
        Share of the third moment not explained by the topics; in the regime "model" only.
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
    >>> model = SpectralSLDA(random_state=0).fit(X[:3000], y[:3000])
    >>> model.components_.shape
    (3, 100)
    >>> bool(model.score(X[3000:], y[3000:]) > 0.7)
    True
    """

    method: str = "joint"
    noise_variance: float | str = AUTO
    word_scale: float | str = AUTO

    def fit_sketch(self, sketch: Sketch) -> Self:
        """Learn from a sketch: in milliseconds in the regime "model", in about a second on text.

        On text the number of topics is 3 unless given, and coefficients are those of a
        regression on documents drawn from the moments.  There are no standard errors, and
        accuracy cannot be checked without documents; where they are at hand, ``fit`` predicts
        better on most corpora (``docs/real-text.md``).

        Parameters
        ----------
        sketch : Sketch
            Moments of documents, which themselves are not needed.

        Returns
        -------
        self
        """
        self._check()
        self.n_features_in_ = len(sketch.basis.B)
        result = learn_sketch(sketch, self._request(), generator(self.random_state))
        return self._keep(result, 0)

    def _request(self) -> FitRequest:
        settings = Settings(
            method=self.method,
            noise_variance=unless_auto(self.noise_variance),
            word_scale=unless_auto(self.word_scale),
            whitening=self.whitening,
            n_restarts=self.n_restarts,
            n_iterations=self.n_iterations,
        )
        self._how()  # refuses what is no inference
        n_topics, alpha0 = unless_auto(self.n_topics), unless_auto(self.alpha0)
        return FitRequest(n_topics, alpha0, settings, regime=self.regime)


class SpectralLDA(Tensor, HeldOutWords, _SpectralTopics):
    """Topics by tensor decomposition, with no response.

    Parameters
    ----------
    n_topics, alpha0, whitening, n_restarts, n_iterations, inference, device, n_jobs, random_state
        As in :class:`SpectralSLDA`.
    regime : {"auto", "paper"}, default="auto"
        As in :class:`SpectralSLDA`; "paper" is Algorithm 1 without its response.

    Attributes
    ----------
    components_ : ndarray of shape (n_topics, n_features_in_)
        Word probabilities of each topic; rows sum to 1, the most common topic first.
    alpha_, selection_, spectrum_, eigenvalues_, residual_, n_short_, model_, n_features_in_
        As in :class:`SpectralSLDA`; the model's ``eta`` and ``sigma`` are 0.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn topics from word counts; ``y`` is ignored."""
        self._check()
        request = self._request()
        counts = self._counts(X, reset=True)
        return self._learn(Corpus(counts, np.zeros(counts.shape[0])), request)

    def fit_documents(self, docs: Documents) -> Self:
        """Learn from documents, wherever they are kept; their responses are ignored."""
        return super().fit_documents(without_response(docs))

    def _request(self) -> FitRequest:
        settings = Settings(
            method="two-stage",
            whitening=self.whitening,
            n_restarts=self.n_restarts,
            n_iterations=self.n_iterations,
        )
        self._how()  # refuses what is no inference
        n_topics, alpha0 = unless_auto(self.n_topics), unless_auto(self.alpha0)
        return FitRequest(n_topics, alpha0, settings, supervised=False, regime=self.regime)


def _warn_of(n: int, n_documents: int, rest: str, category: type[UserWarning]) -> None:
    if n:
        of = f" of {n_documents}" if n_documents else ""
        warnings.warn(f"{n}{of} documents {rest}", category, stacklevel=5)
