"""Deviations of predictions, from documents that had no part in finding topics.

Residuals of the documents that topics were learnt from are too small.  So the same is learnt from
one half of the documents, cut by their keys, and tried on the other.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone

from topicprism._typing import Array, Counts, Doc
from topicprism.documents import Threaded
from topicprism.documents.corpus import Corpus
from topicprism.documents.subsets import KeyCounts
from topicprism.estimators.base import by_assignments
from topicprism.estimators.sampled import fitted_to
from topicprism.kernels.blas import one_blas_thread
from topicprism.learn.crossfit import held_out_variance
from topicprism.learn.defaults import EFFECTS
from topicprism.model import ResponseScale


def keep_deviations(estimator: Any, counts: Counts, t: Doc, scale: ResponseScale) -> None:
    """Its ``predictive_variance_``, if it is to have one, in the units of the response."""
    estimator.__dict__.pop("predictive_variance_", None)  # of an earlier fit
    if estimator.calibrate:
        found = half_variance(estimator, counts, t, effective_n_jobs(estimator.n_jobs))
        if found is not None:
            estimator.predictive_variance_ = found * (scale.scale**2, 1.0)


def half_variance(estimator: Any, counts: Counts, t: Doc, n_threads: int) -> Array | None:
    """``predictive_variance_`` of the response t; None of fewer than 40 documents, or where a half
    cannot be learnt from."""
    corpus = Corpus(counts, t)
    long = corpus.long()
    keys = KeyCounts.of(long)
    first, second = keys.cut(2)
    some = first.rows(long)
    few = min(keys.size(first), keys.size(second)) < EFFECTS.min_half_documents
    if few or len(np.unique(some.y)) < 2:
        return None
    half = clone(estimator).set_params(calibrate=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = fitted_to(half, some, n_threads, refit=by_assignments(half))
        except ValueError:  # it may have too few words for anchors
            return None
        with one_blas_thread:
            return held_out_variance(Threaded(corpus, n_threads), [(second, model)])
