"""Topics made better by documents: rounds of variational Bayes, and steering of a sampler.

**Rounds.**  A spectral estimate needs no start and has no local optima, but where text does not
follow the model its topics are inaccurate.  A round assigns the words of each document to topics
(:func:`topicprism.kernels.fold_in.assign`) and estimates each topic anew::

    mu_i  ~  beta + expected counts of each word in topic i

Frozen topics keep their words.  A part of the documents is enough.

**Steering.**  Sampled topics are shifted along the gradient of the prediction error.  A sampler
sees words and response together, and a document has many words and one response: topics drift to
what explains words alone.  Raising the response's weight prevents that, but documents then follow
their own response, which new documents do not have.  So steering goes by h(words), the proportions
that words alone give, and the error it leaves ::

    sum over documents of (y - eta . h(words))^2

Its gradient along each log mu[w, i] is known (:mod:`topicprism.kernels.gradient`), with the
standard error of that gradient over documents.  What may be chance is taken off::

    gradient = sign(gradient) max(|gradient| - c * standard error, 0)

and the rest is added to the prior of a sampler's topics: from time to time, the count of each
word in each topic is shifted by ::

    prior_shift[w, i] = decay * prior_shift[w, i] + strength * gradient / residual variance

At a fixed point the words' likelihood falls as fast as the response's, given words alone, rises,
the latter weighing strength / (1 - decay) times what it weighs in the model.  This is
prediction-constrained learning (Hughes et al., 2018) inside a sampler.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from topicprism import backends
from topicprism._typing import Array, Doc, DocTopic, Topic, WordTopic
from topicprism.documents.corpus import Corpus, Documents, take_rows
from topicprism.documents.subsets import ALL, Subset
from topicprism.documents.sums import Additive
from topicprism.inference import weighed
from topicprism.kernels import gradient as kernels
from topicprism.learn.defaults import STEERING, TEXT
from topicprism.learn.ridge import Products, regress
from topicprism.model import Model

# --- rounds ---------------------------------------------------------------------------


@dataclass(frozen=True)
class ExpectedCounts(Additive):
    """Of words by topic, and the proportions of documents added up."""

    words: WordTopic
    shares: Topic


def expected_counts(c: Corpus, model: Model, subset: Subset) -> ExpectedCounts:
    rows = subset.rows(c).long().counts
    X = weighed(take_rows(rows, 0, rows.shape[0]), model.burstiness)
    found = ExpectedCounts(np.zeros(model.mu.shape), np.zeros(model.n_topics))
    mu = np.ascontiguousarray(model.mu)
    on = backends.of(X)
    on.assign(X, mu, model.alpha, TEXT.sweeps, found.words, found.shares)
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


# --- steering -------------------------------------------------------------------------


@dataclass(frozen=True)
class Gradients(Additive):
    """Sums over documents along each log mu[w, i], of their squares, and of squared errors."""

    gradient: WordTopic
    squares: WordTopic
    error: float
    products: Products

    def significant(self) -> WordTopic:
        """What is beyond chance, in words."""
        chance = STEERING.standard_errors * np.sqrt(self.squares)
        size = np.maximum(np.abs(self.gradient) - chance, 0)
        variance = max(self.error / max(self.products.n, 1), 1e-9)
        words: WordTopic = np.copysign(size, self.gradient) / variance
        return words


def prior_shift(docs: Documents, model: Model, before: WordTopic | None) -> WordTopic:
    """By how many words the prior of each topic is to be shifted, having been by ``before``."""
    eta = regress(docs.total(map_products, model)).eta
    found = docs.total(gradients, model, eta)
    return shifted(before, found, STEERING.strength)


def shifted(before: WordTopic | None, found: Gradients, strength: float) -> WordTopic:
    asked = strength * found.significant()
    return asked if before is None else STEERING.decay * before + asked


def map_products(c: Corpus, model: Model) -> Products:
    _, y, h = _proportions(c, model)
    return Products.of(h, y)


def gradients(c: Corpus, model: Model, eta: Topic) -> Gradients:
    X, y, h = _proportions(c, model)
    gradient, squares = sums = np.zeros((2, *model.mu.shape))
    kernels.gradients(*X, model.alpha, y, eta, h, sums)
    error = float(((y - h @ eta) ** 2).sum())
    return Gradients(gradient, squares, error, Products.of(h, y))


def _proportions(c: Corpus, model: Model) -> tuple[tuple[Array, ...], Doc, DocTopic]:
    """Words and topics as kernels take them; responses; proportions."""
    rows = c.long()
    X = weighed(take_rows(rows.counts, 0, len(rows)), model.burstiness)
    words = (X.indptr, X.indices, X.data, np.ascontiguousarray(model.mu))
    h = np.empty((len(rows), model.n_topics))
    kernels.map_proportions(*words, model.alpha, STEERING.sweeps, h)
    return words, np.ascontiguousarray(rows.y, dtype=float), h
