"""Topics that lean to what predicts: words drawn into topics where that would predict better.

A sampler sees words and response together, and a document has many words and one response:
topics drift to what explains words alone.  Raising the response's weight holds them, but
documents then follow their own response, which new documents do not have.  So look at
what counts: h(words), the proportions that words alone give, and the error it leaves ::

    sum over documents of (y - eta . h(words))^2

Its slope along each log mu[w, i] is known (:mod:`topicprism.backends.steering`), with the
standard error of that slope over documents.  What may be chance is taken off::

    slope = sign(slope) max(|slope| - SURE * error, 0)

and the rest is asked for in the currency of a sampler: from time to time, each topic is told to
take itself to have said each word so many times more, or fewer ::

    lean[w, i] = FADE * lean[w, i] + STRENGTH * slope / variance left

Where that comes to rest the words' likelihood falls as fast as the response's, from words
alone, rises, the latter weighing STRENGTH / (1 - FADE) times what it weighs in the model.
"""

from __future__ import annotations

from dataclasses import dataclass

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
STRENGTH, FADE = 2.0, 0.9


@dataclass(frozen=True)
class Pulls(Additive):
    """Sums over documents along each log mu[w, i], and of squared errors."""

    pull: WordTopic
    squares: WordTopic
    n: int
    error: float

    def sure(self) -> WordTopic:
        """What is beyond chance, in words."""
        slope = np.maximum(np.abs(self.pull) - SURE * np.sqrt(self.squares), 0)
        variance = max(self.error / max(self.n, 1), 1e-9)
        words: WordTopic = np.copysign(slope, self.pull) / variance
        return words


def leaned(docs: Documents, model: Model, lean: WordTopic | None) -> WordTopic:
    """What topics are to lean to, having leaned to ``lean``."""
    eta = regress(docs.total(settled, model)).eta
    asked = STRENGTH * docs.total(pulls, model, eta).sure()
    return asked if lean is None else FADE * lean + asked


def settled(c: Corpus, model: Model) -> Products:
    _, y, h = _proportions(c, model)
    return Products.of(h, y)


def pulls(c: Corpus, model: Model, eta: Topic) -> Pulls:
    X, y, h = _proportions(c, model)
    pull, squares = sums = np.zeros((2, *model.mu.shape))
    steering.pulls(*X, model.alpha, y, eta, h, sums)
    return Pulls(pull, squares, len(y), float(((y - h @ eta) ** 2).sum()))


def _proportions(c: Corpus, model: Model) -> tuple[tuple[Array, ...], Doc, DocTopic]:
    """Words and topics as kernels take them; responses; proportions."""
    rows = c.long()
    X = weighed(take_rows(rows.counts, 0, len(rows)), model.burstiness)
    words = (X.indptr, X.indices, X.data, np.ascontiguousarray(model.mu))
    h = np.empty((len(rows), model.n_topics))
    steering.settle(*words, model.alpha, SWEEPS, h)
    return words, np.ascontiguousarray(rows.y, dtype=float), h
