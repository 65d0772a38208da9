"""Topics made truer to their words, by a few rounds of variational Bayes.

A spectral answer needs no start and has no local optima, but where text is not
from the model its topics are rough.  A round asks each document who said what
(:func:`topicprism.backends.fold_in.assign`) and lets each topic say what it was
found to say::

    mu_i  ~  beta + expected counts of each word in topic i

Topics that are held keep their words.  Some documents are enough: ``Part`` says which.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from topicprism._typing import Topic, WordTopic
from topicprism.backends import fold_in
from topicprism.corpus import Corpus, Documents, Rows, take_rows
from topicprism.inference import weighed
from topicprism.model import Model
from topicprism.moments import Additive

S = TypeVar("S")
BETA = 0.05  # added to the count of every word in every topic
SWEEPS = 5  # over a document, in a round
GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class Part:
    """A share of the documents of each shard: of those dealt a number from start to stop.

    Numbers are dealt from 0 to 1 in steps of the golden ratio, so any part is spread evenly
    over the shard, and parts are alike even where documents are sorted.
    """

    start: float = 0.0
    stop: float = 1.0

    @classmethod
    def of(cls, n_documents: int, at_most: int) -> Part:
        return cls(0.0, min(1.0, at_most / max(n_documents, 1)))

    @classmethod
    def equal(cls, n: int) -> list[Part]:
        """All documents, in n parts."""
        return [cls(i / n, (i + 1) / n) for i in range(n)]

    def rows(self, c: Corpus) -> Corpus:
        dealt = np.arange(len(c)) * GOLDEN % 1
        return c.take((self.start <= dealt) & (dealt < self.stop))


@dataclass(frozen=True)
class Some:
    """A part of other documents, as documents."""

    docs: Documents
    part: Part

    @property
    def n_words(self) -> int:
        return self.docs.n_words

    def total(self, part: Callable[..., S], *shared: Any) -> S:
        found: S = self.docs.total(_of_part, self.part, part, *shared)
        return found


def _of_part(c: Corpus, which: Part, part: Callable[..., S], *shared: Any) -> S:
    return part(which.rows(c), *shared)


def gathered(c: Corpus, which: Part) -> Gathered:
    return Gathered((which.rows(c),))


@dataclass(frozen=True)
class Gathered:
    """Some documents of each shard, to be had together."""

    pieces: tuple[Corpus, ...]

    def __add__(self, other: Gathered) -> Gathered:
        return Gathered(self.pieces + other.pieces)

    @property
    def corpus(self) -> Corpus:
        found = [take_rows(piece.counts, 0, len(piece)) for piece in self.pieces]
        starts = np.cumsum([0, *(x.nnz for x in found)])
        indptr = [x.indptr[1:] + start for x, start in zip(found, starts[:-1], strict=True)]
        rows = Rows(
            np.concatenate([[0], *indptr]),
            np.concatenate([x.indices for x in found]),
            np.concatenate([x.data for x in found]),
            (sum(x.shape[0] for x in found), found[0].shape[1]),
        )
        return Corpus(rows, np.concatenate([piece.y for piece in self.pieces]))


@dataclass(frozen=True)
class Said(Additive):
    """Expected counts of words by topic, and the proportions of documents added up."""

    words: WordTopic
    shares: Topic


def said(c: Corpus, model: Model, part: Part) -> Said:
    rows = part.rows(c).counts
    X = weighed(take_rows(rows, 0, rows.shape[0]), model.burstiness)
    found = Said(np.zeros(model.mu.shape), np.zeros(model.n_topics))
    mu = np.ascontiguousarray(model.mu)
    fold_in.assign(X.indptr, X.indices, X.data, mu, model.alpha, SWEEPS, found.words, found.shares)
    return found


def refine(
    docs: Documents, model: Model, n_rounds: int, n_held: int = 0, part: Part | None = None
) -> Model:
    """The model after some rounds; the first ``n_held`` topics keep their words.

    The prior stays as it is on the way, and then follows the proportions that were found.
    """
    alpha = model.alpha
    for _ in range(n_rounds):
        found = docs.total(said, model, part or Part())
        mu = found.words + BETA
        mu /= mu.sum(axis=0)
        mu[:, :n_held] = model.mu[:, :n_held]
        model = replace(model, mu=mu)
        alpha = np.maximum(found.shares / found.shares.sum(), 1e-6) * model.alpha.sum()
    return replace(model, alpha=alpha)
