"""The same measures of every topic model, whoever learnt it.

Only a model's word probabilities and the proportions of its prior are used; how strong the prior
is (``alpha0``) and how much a repeated word counts (``burstiness``) are chosen anew for each
measure, on training documents and from the same values for every model.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array
from sklearn.linear_model import RidgeCV

from topicprism import Model
from topicprism.evaluation import completion_log_likelihood, npmi, pr2
from topicprism.inference import infer
from topicprism.show.words import top_ids

from .corpora import N_JOBS, Split

REGRESSION_ALPHA0 = (1.0, 3.0, 10.0)
WORDS_ALPHA0 = (1.0, 3.0, 10.0, 30.0)
BURSTINESS = (0.0, 0.25, 0.75)
RIDGE_PENALTIES = np.logspace(-3, 3, 13)
CHOICE_DOCUMENTS = 2_000  # of those to learn from: the first, in random order
N_TOP = 10


def same_regression(model: Model, s: Split) -> float:
    """pR2 of a ridge regression on proportions that are inferred from words alone.

    Settings are those with the least leave-one-out error among training documents.
    """
    X, y = s.X[:CHOICE_DOCUMENTS], s.y[:CHOICE_DOCUMENTS]

    def error(m: Model) -> float:
        return -_ridge().fit(_proportions(m, X), y).best_score_

    chosen = min(variants(model, REGRESSION_ALPHA0), key=error)
    ridge = _ridge().fit(_proportions(chosen, s.X), s.y)
    return pr2(s.y_test, ridge.predict(_proportions(chosen, s.X_test)))


def word_likelihood(model: Model, s: Split) -> float:
    """Per word of one half of each test document given the other, settings as for training."""

    def of(m: Model, X: csr_array) -> float:
        return completion_log_likelihood(m, X, np.random.default_rng(0), n_threads=N_JOBS)

    known = s.X[:CHOICE_DOCUMENTS]
    chosen = max(variants(model, WORDS_ALPHA0), key=lambda m: of(m, known))
    return of(chosen, s.X_test)


def coherence(model: Model, s: Split) -> float:
    """Mean NPMI of the ten most probable words of each topic, in the training documents."""
    return float(np.nanmean(npmi(top_ids(model, N_TOP, by="probability"), s.X)))


def effective_topics(h: np.ndarray) -> float:
    """exp of the entropy of the mean proportions: k if all topics are as large, 1 if one is all."""
    share = h.mean(axis=0)
    return float(np.exp(-(share[share > 0] * np.log(share[share > 0])).sum()))


def used_topics(model: Model, s: Split) -> float:
    """``effective_topics`` of the test documents, by the model as it is."""
    return effective_topics(_proportions(model, s.X_test))


def variants(model: Model, strengths: tuple[float, ...]) -> Iterator[Model]:
    for alpha0 in strengths:
        for burstiness in BURSTINESS:
            yield replace(model.with_alpha0(alpha0), burstiness=burstiness)


MEASURES: dict[str, Callable[[Model, Split], float]] = {
    "pr2_same": same_regression,
    "log_likelihood": word_likelihood,
    "npmi": coherence,
    "effective_topics": used_topics,
}


def _proportions(model: Model, X: csr_array) -> np.ndarray:
    return infer(model, X, n_threads=N_JOBS)


def _ridge() -> RidgeCV:
    return RidgeCV(RIDGE_PENALTIES)
