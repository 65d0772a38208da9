"""scikit-learn estimators: topics by anchor words, with and without a response."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs

from topicprism._typing import Counts, Doc, Ints
from topicprism.defaults import unless_auto
from topicprism.estimators.base import (
    HeldOutWords,
    Regression,
    Topics,
    check_running,
    lengths_of,
    warn_of_fewer,
    warn_of_many,
)
from topicprism.estimators.halves import keep_deviations
from topicprism.estimators.parameters import Anchored, parameters
from topicprism.estimators.responses import with_words
from topicprism.estimators.sampled import of_model, refitted
from topicprism.kernels.blas import one_blas_thread
from topicprism.limits import fits
from topicprism.model import Model
from topicprism.relatives.anchors import anchor_words, moments, recover, sums
from topicprism.samplers.state import standardise
from topicprism.validation import (
    check_choice,
    check_prior,
    check_rank,
    check_real,
    check_whole,
    generator,
)


class _AnchoredTopics(Anchored, Topics):
    """What both do alike: sums of the documents, anchors, and the model they give."""

    def _learn(self, counts: Counts, y: Doc, weight: float) -> Model:
        k, n_words = int(self.n_topics), counts.shape[1]
        check_rank(k, n_words)
        if not fits(24.0 * n_words**2):  # Q, its rows, and their projection
            raise ValueError(
                f"{n_words} word types with each other take {24 * n_words**2 / 2**30:.3g} GiB, "
                "which is more than the memory of this machine; keep fewer words (max_features)"
            )
        if not (lengths_of(counts) >= 2).any():
            raise ValueError(
                "no document has 2 words, but pairs of them were expected to learn from; check "
                "the vocabulary, or add documents"
            )
        warn_of_many(k, counts.shape[0])
        with one_blas_thread:
            s = sums(counts, y)
            m = moments(s)
            rows, rng = m.rows(weight), generator(self.random_state)
            found = anchor_words(
                rows, self._candidates(s.documents, s.n), k, self.n_dimensions, rng
            )
        alpha0 = unless_auto(self.alpha0)
        model = recover(m, rows, found, alpha0, effective_n_jobs(self.n_jobs))
        warn_of_fewer(model.n_topics, k)
        self.anchors_ = found
        return model

    def _candidates(self, documents: Doc, n: int) -> Ints:
        """Words that are in enough documents for their row to be known."""
        least = self.min_df if isinstance(self.min_df, (int, np.integer)) else self.min_df * n
        found = np.flatnonzero((documents >= least) & (documents > 0))
        if len(found) < self.n_topics:
            raise ValueError(
                f"{len(found)} words are in {least:g} documents or more (min_df={self.min_df}), "
                f"but {self.n_topics} anchors were asked for; use a smaller min_df, or fewer topics"
            )
        return found

    def _check(self) -> None:
        check_running(self.n_jobs, self.random_state)
        alpha0 = unless_auto(self.alpha0)
        check_prior(self.n_topics, 1.0 if alpha0 is None else alpha0)
        if isinstance(self.min_df, (int, np.integer)) and not isinstance(self.min_df, bool):
            check_whole("min_df", self.min_df, "try 0.02")
        else:
            check_real("min_df", self.min_df, 0, "a share or a number of documents", high=1)
        check_whole("n_dimensions", self.n_dimensions, "try 1000")

    def _keep(self, model: Model, order: Ints) -> Self:
        for name, value in of_model(model.reordered(order)).items():
            setattr(self, name, value)
        self.anchors_ = self.anchors_[order]
        return self


class AnchorLDA(HeldOutWords, _AnchoredTopics):
    """Topics by anchor words, with no response (Arora et al. 2013).

    Exact for the moments of documents in which every topic has a word that no other has.

    Parameters
    ----------
    n_topics : int, default=10
        Number of topics.
    alpha0 : float or "auto", default="auto"
        Sum of the Dirichlet parameters; "auto" takes it from pairs of words, or 1 where these do
        not determine it.
    min_df : int or float, default=0.02
        Documents that a word must be in to be an anchor: a number, or a share of all.
    n_dimensions : int, default=1000
        Of the random projection in which anchors are sought; none if words are no more.
    n_jobs : int or None, default=None
        Threads: None is one, -1 is all cores.  The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the projection.

    Attributes
    ----------
    components_ : ndarray of shape (n_topics, n_features_in_)
        Word probabilities of each topic; rows sum to 1, the most common topic first.
    anchors_ : ndarray of shape (n_topics,)
        The column of each topic's anchor.
    alpha_, model_, n_features_in_
        As in :class:`SpectralLDA`.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn topics from word counts; ``y`` is ignored."""
        self._check()
        counts = self._counts(X, reset=True)
        model = self._learn(counts, np.zeros(counts.shape[0]), weight=0.0)
        return self._keep(model, np.argsort(-model.alpha, kind="stable"))


@parameters
class AnchorSLDA(Regression, _AnchoredTopics):
    """Topics by anchor words that take part of the response (Nguyen et al. 2015).

    The response expected beside each word is one more coordinate of it, so that words of another
    tone become anchors.  The coefficients have no standard errors.

    Parameters
    ----------
    n_topics, alpha0, min_df, n_dimensions, n_jobs, random_state
        As in :class:`AnchorLDA`.
    weight : float, default=1.0
        Of the response among the coordinates of a word; at 1 it is as much as all words, at 0
        topics are those of :class:`AnchorLDA`.
    refit : bool, default=True
        Whether the coefficients are those of a ridge regression on the proportions inferred from
        the training words, which is one more pass over them.  If False, they follow from the
        response beside the anchors, which is exact where topics have anchors.
    calibrate
        As in :class:`VariationalSLDA`.

    Attributes
    ----------
    components_, alpha_, noise_variance_, model_, n_features_in_
        As in :class:`SpectralSLDA`.
    coef_ : ndarray of shape (n_topics,)
        The response expected of a document of one topic only, in increasing order.
    predictive_variance_
        As in :class:`VariationalSLDA`.
    anchors_
        As in :class:`AnchorLDA`.
    """

    weight: float = 1.0
    refit: bool = True
    calibrate: bool = True

    def fit(self, X: Any, y: Any) -> Self:
        """Learn topics and coefficients from word counts and one number per document."""
        self._check()
        counts = self._counts(X, reset=True)
        counts, y = with_words(counts, y, type(self).__name__)
        t, scale = standardise(y)
        model = self._learn(counts, t, float(self.weight))
        if self.refit:
            eta, noise = refitted(model, counts, t[:, None], effective_n_jobs(self.n_jobs))
            model = replace(model, eta=eta[:, 0], sigma=float(np.sqrt(noise)))
        model = model.in_units(scale)
        self._keep(model, np.argsort(model.eta, kind="stable"))
        self.coef_ = self.model_.eta
        self.noise_variance_ = self.model_.sigma**2
        keep_deviations(self, counts, t, scale)
        return self

    def _check(self) -> None:
        super()._check()
        check_choice("refit", self.refit, (True, False))
        check_choice("calibrate", self.calibrate, (True, False))
        check_real("weight", self.weight, 0, "try 1.0", high=1e6)
