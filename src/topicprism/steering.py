"""Topics steered by the response: words change topics where that would predict better.

A sampler sees words and response together, and a document has many words and one response:
topics drift to what explains words alone.  Raising the response's weight holds them, but
documents then follow their own response, which new documents do not have.  So look at
what counts: h(words), the proportions that words alone give, and the error it leaves ::

    sum over documents of (y - eta . h(words))^2

Its slope along each log mu[w, i] is known (:mod:`topicprism.backends.steering`), with the
standard error of that slope over documents.  A round takes off what may be chance and
moves words a little::

    slope = sign(slope) max(|slope| - SURE * error, 0)
    mu[w, i] *= 1 + STRENGTH * slope / (variance left * (times topic i says w + FAINT))

Whoever asks for the next round owns the loop, and knows when the topics are good enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from topicprism._typing import Array, Doc, DocTopic, Topic, WordTopic
from topicprism.backends import steering
from topicprism.calibration import Products, regress
from topicprism.corpus import Corpus, Documents, take_rows
from topicprism.inference import weighed
from topicprism.model import Model
from topicprism.moments import Additive

SWEEPS = 5  # over a document
SURE = 1.5  # standard errors
STRENGTH, FAINT = 10.0, 20.0
LEAST, MOST = 0.5, 2.0  # what a round may multiply a probability by


@dataclass(frozen=True)
class Pulls(Additive):
    """Sums over documents along each log mu[w, i], and of squared errors."""

    said: WordTopic
    pull: WordTopic
    squares: WordTopic
    n: int
    error: float


def steer(docs: Documents, model: Model) -> Iterator[Model]:
    """The model, and what it is after each further round, for as long as somebody asks."""
    while True:
        yield model
        eta = regress(docs.total(settled, model)).eta
        model = replace(model, mu=moved(model.mu, docs.total(pulls, model, eta)))


def settled(c: Corpus, model: Model) -> Products:
    _, y, h = _proportions(c, model)
    return Products.of(h, y)


def pulls(c: Corpus, model: Model, eta: Topic) -> Pulls:
    X, y, h = _proportions(c, model)
    sums = np.zeros((3, *model.mu.shape))
    steering.pulls(*X, model.alpha, y, eta, h, sums)
    said, pull, squares = sums
    return Pulls(said, pull, squares, len(y), float(((y - h @ eta) ** 2).sum()))


def _proportions(c: Corpus, model: Model) -> tuple[tuple[Array, ...], Doc, DocTopic]:
    """Words and topics as kernels take them; responses; proportions."""
    rows = c.long()
    X = weighed(take_rows(rows.counts, 0, len(rows)), model.burstiness)
    words = (X.indptr, X.indices, X.data, np.ascontiguousarray(model.mu))
    h = np.empty((len(rows), model.n_topics))
    steering.settle(*words, model.alpha, SWEEPS, h)
    return words, np.ascontiguousarray(rows.y, dtype=float), h


def moved(mu: WordTopic, found: Pulls) -> WordTopic:
    """Topics a round further on."""
    slope = np.abs(found.pull) - SURE * np.sqrt(found.squares)
    slope = np.copysign(np.maximum(slope, 0), found.pull)
    variance = max(found.error / max(found.n, 1), 1e-9)
    step = STRENGTH * slope / (variance * (found.said + FAINT))
    new: WordTopic = mu * np.clip(1 + step, LEAST, MOST)
    new /= new.sum(axis=0)
    return new
