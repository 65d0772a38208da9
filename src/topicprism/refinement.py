"""Topics made truer to their words, by a few rounds of variational Bayes.

A spectral answer needs no start and has no local optima, but where text is not
from the model its topics are rough.  A round asks each document who said what
(:func:`topicprism.backends.fold_in.assign`) and lets each topic say what it was
found to say::

    mu_i  ~  beta + expected counts of each word in topic i

Topics that are held keep their words.  A part of the documents is enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from topicprism._typing import Topic, WordTopic
from topicprism.backends import fold_in
from topicprism.corpus import Corpus, Documents, take_rows
from topicprism.inference import weighed
from topicprism.model import Model
from topicprism.moments import Additive
from topicprism.subsets import ALL, Subset

BETA = 0.05  # added to the count of every word in every topic
SWEEPS = 5  # over a document, in a round


@dataclass(frozen=True)
class Said(Additive):
    """Expected counts of words by topic, and the proportions of documents added up."""

    words: WordTopic
    shares: Topic


def said(c: Corpus, model: Model, subset: Subset) -> Said:
    rows = subset.rows(c).counts
    X = weighed(take_rows(rows, 0, rows.shape[0]), model.burstiness)
    found = Said(np.zeros(model.mu.shape), np.zeros(model.n_topics))
    mu = np.ascontiguousarray(model.mu)
    fold_in.assign(X.indptr, X.indices, X.data, mu, model.alpha, SWEEPS, found.words, found.shares)
    return found


def refine(
    docs: Documents, model: Model, n_rounds: int, n_held: int = 0, subset: Subset = ALL
) -> Model:
    """The model after some rounds; the first ``n_held`` topics keep their words.

    The prior stays as it is on the way, and then follows the proportions that were found.
    """
    alpha = model.alpha
    for _ in range(n_rounds):
        found = docs.total(said, model, subset)
        mu = found.words + BETA
        mu /= mu.sum(axis=0)
        mu[:, :n_held] = model.mu[:, :n_held]
        model = replace(model, mu=mu)
        alpha = np.maximum(found.shares / found.shares.sum(), 1e-6) * model.alpha.sum()
    return replace(model, alpha=alpha)
