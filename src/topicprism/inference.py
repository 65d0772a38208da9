"""Topic proportions of new documents, the model held fixed; and their predictions.

The best prediction of y is eta . E[h | words], so what counts is the posterior
*mean* of h.  Two ways to it:

``EPInference``    expectation propagation: deterministic, about ten visits of each
                 word; the default.
``GibbsInference`` the paper's: sampling with averaging; hundreds of visits.

On 2,000 documents of 100 words (V=500, k=10, true parameters) propagation comes
within 0.01 of the R^2 of a very long chain and is nearer to it than mean-field
and collapsed variational inference or short chains are; ``docs/inference.md``
has the figures and ``experiments/inference.py`` prints them.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from topicprism import backends
from topicprism._typing import Array, Counts, Doc, DocTopic, Topic
from topicprism.defaults import INFERENCES
from topicprism.documents.corpus import Rows, cut, document_keys, take_rows
from topicprism.kernels import fold_in
from topicprism.model import Model
from topicprism.validation import check_choice

Flags = NDArray[np.bool_]  # one per document
MAX_SAMPLED_WORDS = 10**8  # of a document: 1,000 draws of each take hours, and 1.5 GiB
BURST_WORDS = 1000  # in longer documents repetitions are expected, not bursts (docs/inference.md)


@dataclass(frozen=True)
class EPInference:
    """Stop a document when no word moves its Dirichlet by ``tolerance`` of its total.

    One that does not settle is filtered if it is short and reported if it is long, and one of
    few words that determine little is filtered too; under a sparse prior of few topics answers are
    checked by importance sampling (``docs/inference.md``).  Unless ``must_converge`` is False,
    which takes documents as the sweeps leave them.
    """

    max_sweeps: int = 500
    tolerance: float = 2e-3
    must_converge: bool = True

    def __post_init__(self) -> None:
        if self.max_sweeps < 1 or not self.tolerance >= 0:
            raise ValueError(f"{self}, but expected at least one sweep and a tolerance from 0 up")

    def fill(
        self,
        X: Rows,
        mu: Array,
        alpha: Array,
        h: DocTopic,
        totals: Doc,
        converged: Flags,
    ) -> None:
        limits = (self.max_sweeps, self.tolerance, self.must_converge)
        backends.of(X).propagate(X, mu, alpha, limits, h, totals, converged)
        converged |= not self.must_converge


@dataclass(frozen=True)
class GibbsInference:
    """``burn_in`` sweeps, then the mean over ``n_sweeps``; a document's key starts its stream.

    The chain has a fixed length and whether it was long enough is not checked: ``converged`` is
    True of every document.
    """

    burn_in: int = 100
    n_sweeps: int = 900
    seed: int = 0

    def __post_init__(self) -> None:
        if self.burn_in < 0 or self.n_sweeps < 1:
            raise ValueError(f"{self}, but expected burn_in from 0 and n_sweeps from 1 up")

    def fill(
        self,
        X: Rows,
        mu: Array,
        alpha: Array,
        h: DocTopic,
        totals: Doc,
        converged: Flags,
    ) -> None:
        _refuse_long(X)
        converged[:] = True
        totals[:] = np.nan  # what it keeps of its sweeps does not give a variance
        fold_in.gibbs(
            X.indptr, X.indices, X.data, mu, alpha,
            self.burn_in, self.n_sweeps, self.seed, document_keys(X), h,
        )  # fmt: skip


def _refuse_long(X: Rows) -> None:
    lengths = np.diff(np.append(0.0, np.cumsum(X.data, dtype=float))[X.indptr])
    if lengths.max(initial=0) > MAX_SAMPLED_WORDS:
        raise ValueError(
            f"a document has {lengths.max():g} words, but Gibbs sampling draws a topic for each "
            f"and at most {MAX_SAMPLED_WORDS:g} were expected; check the counts, or use "
            "EPInference, which is inference='propagation' of an estimator"
        )


PROPAGATION = INFERENCES[0]


def inference_of(name: str) -> EPInference | GibbsInference:
    """By its name, with the settings that estimators use."""
    check_choice("inference", name, INFERENCES)
    return EPInference() if name == PROPAGATION else GibbsInference()


def dirichlet_variance(mean: Array, total: Any, eta: Topic) -> Any:
    """Var[eta . h] of h ~ Dirichlet(total * mean), one or one of each row."""
    return (mean @ eta**2 - (mean @ eta) ** 2) / (total + 1)


@dataclass(frozen=True)
class Posterior:
    """Of each document's proportions given its words: about a Dirichlet(total * h)."""

    h: DocTopic
    total: Doc
    converged: Flags  # where not, h and total may be wrong

    def variance(self, eta: Topic) -> Doc:
        """Var[eta . h | words]."""
        variance: Doc = np.maximum(dirichlet_variance(self.h, self.total, eta), 0)
        return variance


def infer(
    model: Model,
    counts: Counts | Rows,
    how: EPInference | GibbsInference = EPInference(),
    n_threads: int = 1,
) -> DocTopic:
    """E[h | words] of each document; the same for any number of threads."""
    return posterior(model, counts, how, n_threads).h


def posterior(
    model: Model,
    counts: Counts | Rows,
    how: EPInference | GibbsInference = EPInference(),
    n_threads: int = 1,
) -> Posterior:
    """E[h | words] of each document and, by propagation, how sure it is.

    Raises a ``ConvergenceWarning`` that says how many documents have not converged, if any.
    """
    if counts.shape[1] != model.n_words:
        raise ValueError(
            f"counts have {counts.shape[1]} columns, but the model was learnt on {model.n_words} "
            "words; vectorise with the vocabulary used in training"
        )
    if model.burstiness and isinstance(how, GibbsInference):
        raise ValueError(
            f"the model has burstiness={model.burstiness:g}, but Gibbs sampling counts whole "
            "words; use EPInference, which is inference='propagation' of an estimator"
        )
    mu, alpha = np.ascontiguousarray(model.mu), np.ascontiguousarray(model.alpha)
    h, totals = np.empty((counts.shape[0], model.n_topics)), np.empty(counts.shape[0])
    converged = np.empty(counts.shape[0], bool)

    def fill(rows: tuple[int, int]) -> None:
        start, stop = rows
        X = weighed(take_rows(counts, start, stop), model.burstiness)
        how.fill(X, mu, alpha, h[start:stop], totals[start:stop], converged[start:stop])

    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(fill, cut(counts, backends.of(counts).pieces(counts, n_threads))))
    if not converged.all():
        _warn(converged, counts)
    return Posterior(h, totals, converged)


def _warn(converged: Flags, counts: Counts | Rows) -> None:
    """Names a document by its length: documents that are learnt from are in another order."""
    away = np.flatnonzero(~converged)
    first = take_rows(counts, away[0], away[0] + 1)
    warnings.warn(
        f"the topic proportions of {len(away)} of {len(converged)} documents (the first has "
        f"{float(first.data.sum()):,.0f} words) did not converge and may be wrong; leave these "
        "out, or infer them by infer(model, counts, EPInference(max_sweeps=5000))",
        ConvergenceWarning,
        stacklevel=4,
    )


def weighed(X: Rows, burstiness: float) -> Rows:
    """Counts as evidence: the n-th repetition of a word weighs less than the first.

    n words that agree as bursts of them do are worth n / (1 + burstiness (n - 1)).  A document
    of more than BURST_WORDS words is as many of them, joined, as it is times longer: n is the count
    in each.  Else all its words would come to weigh the same.
    """
    if burstiness == 0:
        return X
    if (elsewhere := getattr(X, "weighed", None)) is not None:
        on_host = partial(_weighed_on_host, burstiness)
        return cast(Rows, elsewhere(burstiness, BURST_WORDS, on_host))
    n = X.data.astype(float)
    document = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    joined = np.maximum(np.bincount(document, n, X.shape[0]) / BURST_WORDS, 1)[document]
    return replace(X, data=n / (1 + burstiness * np.maximum(n / joined - 1, 0)))


def _weighed_on_host(burstiness: float, X: Counts) -> Rows:
    return weighed(take_rows(X, 0, X.shape[0]), burstiness)


def predict(model: Model, h: DocTopic) -> Doc:
    """E[y | h]."""
    return h @ model.eta
