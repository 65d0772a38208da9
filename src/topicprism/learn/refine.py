"""Refinement of topics by a few rounds of variational Bayes.

A spectral estimate needs no start and has no local optima, but where text does not follow
the model its topics are inaccurate.  A round assigns the words of each document to
topics (:func:`topicprism.kernels.fold_in.assign`) and estimates each topic anew::

    mu_i  ~  beta + expected counts of each word in topic i

Frozen topics keep their words.  A part of the documents is enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from topicprism._typing import Topic, WordTopic
from topicprism.documents.corpus import Corpus, Documents, take_rows
from topicprism.documents.subsets import ALL, Subset
from topicprism.documents.sums import Additive
from topicprism.inference import weighed
from topicprism.kernels import fold_in
from topicprism.learn.defaults import TEXT
from topicprism.model import Model


@dataclass(frozen=True)
class ExpectedCounts(Additive):
    """Of words by topic, and the proportions of documents added up."""

    words: WordTopic
    shares: Topic


def expected_counts(c: Corpus, model: Model, subset: Subset) -> ExpectedCounts:
    rows = subset.rows(c).counts
    X = weighed(take_rows(rows, 0, rows.shape[0]), model.burstiness)
    found = ExpectedCounts(np.zeros(model.mu.shape), np.zeros(model.n_topics))
    mu = np.ascontiguousarray(model.mu)
    words = (X.indptr, X.indices, X.data)
    fold_in.assign(*words, mu, model.alpha, TEXT.sweeps, found.words, found.shares)
    return found


def refine(
    docs: Documents, model: Model, n_rounds: int, n_frozen: int = 0, subset: Subset = ALL
) -> Model:
    """The model after some rounds; the first ``n_frozen`` topics keep their words.

    The prior stays as it is on the way, and then follows the proportions that were found.
    """
    alpha = model.alpha
    for _ in range(n_rounds):
        found = docs.total(expected_counts, model, subset)
        mu = found.words + TEXT.word_prior
        mu /= mu.sum(axis=0)
        mu[:, :n_frozen] = model.mu[:, :n_frozen]
        model = replace(model, mu=mu)
        alpha = np.maximum(found.shares / found.shares.sum(), 1e-6) * model.alpha.sum()
    return replace(model, alpha=alpha)
