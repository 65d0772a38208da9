"""The noise variance from documents: half of each one's words against the other half.

sigma^2 is what is left of y when eta . h is taken off, but h is not seen.  So the words of a
document are split into halves.  One gives h, its posterior mean, and with q near mu h the other
gives g, which is right on average whatever q is::

    g = A^-1 mu' diag(1/q) x         x the frequencies of its words, A = mu' diag(1/q) mu

The errors of g are independent of h, so what is left with the one and with the other has
sigma^2 in common and nothing else.  With weights w that depend on the first half only::

    sum w h (y - g . eta) = 0        eta, for what is left with g
    sum w g (y - h . zeta) = 0       zeta, for what is left with h: errors of eta cancel
    sigma^2 = sum w (y - g . eta)(y - h . zeta) / sum w

which is a Schur complement of sum w (h, y)(g, y)'.  Topics that a document has none of cost g
nothing: that is what second moments, which know no document from another, cannot have.

Topics learnt from a document and its response have some of its noise in them, and leave less
of it.  So the estimate is cross-fitted: each fold uses topics learnt from the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
from scipy.sparse import csr_array

from topicprism._typing import Array, Doc, DocTopic
from topicprism.documents.corpus import Corpus, Documents
from topicprism.documents.subsets import Subset
from topicprism.documents.sums import Additive
from topicprism.evaluation import split_words
from topicprism.inference import EPInference, Posterior, posterior
from topicprism.kernels import lanes
from topicprism.kernels.propagation import PROPAGATION
from topicprism.learn.defaults import MODEL
from topicprism.learn.jackknife import jackknife_std, jackknife_value
from topicprism.model import Model

BLOCK = 256  # documents at once


@dataclass(frozen=True)
class Estimate:
    """A number, and how far it is off by chance."""

    value: float
    std: float

    @property
    def is_uncertain(self) -> bool:
        return not self.is_within(MODEL.noise_tolerance)

    def is_within(self, share: float) -> bool:
        """Whether its standard error is this share of it at most."""
        return self.std <= share * self.value

    @property
    def precision(self) -> str:
        """In words, and in no units."""
        share = self.std / self.value if self.value > 0 else np.inf
        return (
            f"with a standard error of {share:.0%} of it"
            if share < 1
            else "with a standard error larger than it"
        )


@dataclass(frozen=True)
class CrossProducts(Additive):
    """Sums of w (h, y - h . eta)(g, y - g . eta)' and of w, over parts of documents."""

    products: Array  # (models, parts, k + 1, k + 1)
    weights: Array  # (models, parts)


CrossFitted = Sequence[tuple[Sequence[Subset], Model]]  # a fold in tenths, and a model of others


def noise_by_split_half(docs: Documents, folds: CrossFitted) -> Estimate:
    """sigma^2 with the topics of the models; their other parameters need only be near."""
    sums = docs.total(cross_products, folds, 0)
    for split in range(1, MODEL.noise_splits):
        if estimate(sums).is_within(MODEL.noise_deal_tolerance):
            break
        sums += docs.total(cross_products, folds, split)
    return estimate(sums)


def estimate(sums: CrossProducts) -> Estimate:
    """What is left on average, less its bias, and how far that is off: by the jackknife."""
    products, weights = sums.products.sum(axis=1), sums.weights.sum(axis=1)
    rest = _left(products[:, None] - sums.products, weights[:, None] - sums.weights)
    value = jackknife_value(_left(products, weights), rest, axis=1)
    share, std = weights / weights.sum(), jackknife_std(rest, axis=1)
    return Estimate(float(share @ value), float(np.sqrt(share**2 @ std**2)))


def _left(products: Array, weights: Array) -> Array:
    G, a = products[..., :-1, :-1], products[..., :-1, -1:]
    b, s = products[..., -1:, :-1], products[..., -1, -1]
    left: Array = (s - (b @ np.linalg.solve(G, a))[..., 0, 0]) / weights
    return left


def cross_products(c: Corpus, folds: CrossFitted, seed: int) -> CrossProducts:
    each = [_fold_products(c, tenths, model, seed) for tenths, model in folds]
    return CrossProducts(np.stack([e.products for e in each]), np.stack([e.weights for e in each]))


def _fold_products(c: Corpus, tenths: Sequence[Subset], model: Model, seed: int) -> CrossProducts:
    """Responses are taken from what is expected of a document, since g need not add up to 1."""
    expected = model.eta @ (model.alpha / model.alpha.sum())
    model, k = replace(model, eta=model.eta - expected), model.n_topics
    products, weights = np.zeros((len(tenths), k + 1, k + 1)), np.zeros(len(tenths))
    rows = Subset(tenths[0].start, tenths[-1].stop).rows(c).long()
    if len(rows) == 0:
        return CrossProducts(products, weights)
    y, parts = rows.y - expected, [np.flatnonzero(tenth.has(rows.keys)) for tenth in tenths]
    for one, other in permutations(split_words(rows.counts, rows.keys, seed)):
        h, g, w = proportions(model, one, other)
        left = np.column_stack([h, y - h @ model.eta]) * w[:, None]
        right = np.column_stack([g, y - g @ model.eta])
        for i, some in enumerate(parts):
            products[i] += left[some].T @ right[some]
            weights[i] += w[some].sum()
    return CrossProducts(products, weights)


def proportions(model: Model, seen: csr_array, other: csr_array) -> tuple[DocTopic, DocTopic, Doc]:
    """h, g and w of documents in two halves; w is one over the variances of both residuals.

    A document whose other half is empty has no g, and no weight.
    """
    known = _roughly(model, seen)
    g, pull = np.empty_like(known.h), np.empty(len(known.h))
    n = other.sum(axis=1)
    for rows, A, b in _blocks(model, known.h, other):
        if not lanes.solve(A, b, model.eta, g[rows], pull[rows]):
            raise np.linalg.LinAlgError("two topics are alike")
    words = np.maximum(n, 1)
    g /= words[:, None]
    variance = pull - (known.h @ model.eta) ** 2
    of_h, of_g = known.variance(model.eta), np.maximum(variance, 0) / words
    return known.h, g, (n > 0) / ((model.sigma**2 + of_h) * (model.sigma**2 + of_g))


def _roughly(model: Model, seen: csr_array) -> Posterior:
    """Proportions by a few sweeps.  Documents of many words need more, and a start of their own."""
    n = seen.sum(axis=1)
    h, totals = np.empty((len(n), model.n_topics)), np.empty(len(n))
    order = np.argsort(np.diff(seen.indptr), kind="stable")
    words = (seen.indptr, seen.indices, seen.data)
    mu, alpha = np.ascontiguousarray(model.mu), np.ascontiguousarray(model.alpha)
    lanes.propagate(*words, mu, alpha, MODEL.noise_sweeps, order, h, totals)
    if len(long := np.flatnonzero(n > PROPAGATION.long_document_words)):
        limits = EPInference(MODEL.noise_long_sweeps, MODEL.noise_inference_tolerance, False)
        known = posterior(model, csr_array(seen[long]), limits)
        h[long], totals[long] = known.h, known.total
    return Posterior(h, totals, np.ones(len(n), bool))


def _blocks(model: Model, h: DocTopic, X: csr_array) -> Iterator[tuple[slice, Array, DocTopic]]:
    """The lower triangle of A, and mu' diag(1/q) n, n the counts, of some documents at a time."""
    p = model.mu @ (model.alpha / model.alpha.sum())
    kept = np.argsort(-p, kind="stable")[: min(MODEL.noise_word_types, int((p > 0).sum()))]
    place = np.full(len(p), -1)
    place[kept] = np.arange(len(kept))
    mu = np.ascontiguousarray(model.mu[kept])
    k, share = model.n_topics, MODEL.noise_corpus_share
    expected = share * model.alpha / model.alpha.sum() + (1 - share) * h
    rows, columns = np.tril_indices(k)
    pairs = mu[:, rows] * mu[:, columns]
    for start in range(0, len(h), BLOCK):
        some = slice(start, min(start + BLOCK, len(h)))
        weights = np.reciprocal(expected[some] @ mu.T)
        b = np.zeros((len(weights), k))
        lanes.weighted_words(X.indptr[start:], X.indices, X.data, place, weights, mu, b)
        yield some, weights @ pairs, b
