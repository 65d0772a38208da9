"""Topics of text that has more structure than k topics.

Where the spectrum of E[x x] does not end at k, the model does not hold: the k leading
directions are some of many, and what moves the response need not be among them.
Then the response is given topics of its own.  With b = E[y x], three directions ::

    E[x],  b,  E[x x] b

are those of partial least squares, which predict nearly as well as all words
together.  The tensor within them gives three topics; the tensor within E[x] and
the leading directions of the words gives the others.  Both come from one sketch.
With few or short documents the third direction is mostly noise: where two halves of the
documents do not agree on it, the response has two topics.

A direction may be large for the sake of two documents that are nearly the same.
So directions are ranked by v'E[x x]v in the middle one of ten parts of the documents:
what is in one part only is an accident.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations
from operator import add

import numpy as np
from scipy.linalg import block_diag

from topicprism._typing import Array, Coord, Cube, Square, Word, WordCoord, WordTopic
from topicprism.corpus import Corpus, Documents
from topicprism.model import Model, TooManyTopics
from topicprism.moments import Additive, pair_products, word_sums
from topicprism.settings import Settings
from topicprism.sketching import Basis, Sketch, scales
from topicprism.spectral import decompose, in_space
from topicprism.subsets import Subset, map_subsets

ALPHA0 = 0.5  # while the tensor is taken apart: documents of few topics
AGREED, SIXTHS = 0.3, 6  # cosine between two halves of the documents; parts they are made of
PRIOR, SHARE = 3.0, 0.85  # sum of it, and how much of it is for the topics of the response
BURSTINESS = 0.75
PARTS = 10  # of the documents
UNSAID = 0.01  # of a topic, for all words: none is impossible
PLAIN = Settings(method="two-stage", n_restarts=30)


def topics(
    sketch: Sketch,
    n_topics: int,
    n_response: int,
    rng: np.random.Generator,
    parts: tuple[Square, ...] = (),
) -> tuple[Model, int]:
    """A model of at most ``n_topics``, those of the response first, and how many those are.

    Of the response there are ``n_response``, unless nothing is told of it.

    ``parts`` are the second moments of parts of the documents, to tell accidents by.
    """
    zz = sketch.second / sketch.weight
    mean, xx, b = sketch.first[:-1] / sketch.weight, zz[:-1, :-1], zz[-1, :-1]
    wanted = min(n_response, n_topics) if n_topics > 1 and told(sketch) else 0
    response = _within(sketch, orthonormal(mean, b, xx @ b), wanted, rng)
    content = _within(sketch, _leading(mean, xx, parts), n_topics - response.shape[1], rng)
    n, m = response.shape[1], content.shape[1]
    share = SHARE if n and m else float(n > 0)
    alpha = PRIOR * np.repeat([share / max(n, 1), (1 - share) / max(m, 1)], [n, m])
    said = sketch.basis.lift @ mean
    mu = (1 - UNSAID) * np.hstack([response, content]) + UNSAID * said[:, None]
    return Model(alpha, mu / mu.sum(axis=0), np.zeros(n + m), 0.0, BURSTINESS), n


def _leading(mean: Coord, xx: Square, parts: tuple[Square, ...]) -> Array:
    """E[x], and then the directions across it along which words vary most, without fail."""
    across = np.eye(len(mean)) - np.outer(mean, mean) / (mean @ mean)
    _, vectors = np.linalg.eigh(across @ xx @ across)
    sizes = [np.einsum("ij,ik,kj->j", vectors, part, vectors) for part in parts or (xx,)]
    order = np.argsort(-np.median(sizes, axis=0))
    return orthonormal(mean, *vectors.T[order])


@dataclass(frozen=True)
class Parted(Additive):
    """Weights and sums of x1 x2, in coordinates, of each of ten parts of the documents."""

    weights: Array
    sums: Cube

    @property
    def moments(self) -> tuple[Square, ...]:
        return tuple(s / w for s, w in zip(self.sums, self.weights, strict=True) if w > 0)


def parted(c: Corpus, B: WordCoord, tenths: Sequence[Subset]) -> Parted:
    K = B.shape[1]
    found = Parted(np.zeros(len(tenths)), np.zeros((len(tenths), K, K)))
    for i, tenth in enumerate(tenths):
        rows = tenth.rows(c)
        words = word_sums(rows)
        found.weights[i] = words.y.weight
        found.sums[i] = B.T @ (pair_products(rows, B) - words.x2[:, None] * B)
    return found


def told(sketch: Sketch) -> bool:
    """Whether E[y x] is more than the chance of V words: else the response has no direction."""
    mean, b = sketch.first[:-1] / sketch.weight, sketch.second[-1, :-1] / sketch.weight
    own = b - mean * (mean @ b) / (mean @ mean)
    V, noise = sketch.n_seen, sketch.c1 / sketch.weight**2
    return bool(own @ own > V * noise * (1 + 4 * np.sqrt(2 / V)))


def n_of_response(docs: Documents, sixths: Sequence[Subset]) -> int:
    """Three topics for the response, or two if documents do not agree on E[x x] b."""
    return 3 if agreement(docs, sixths) >= AGREED else 2


def agreement(docs: Documents, sixths: Sequence[Subset]) -> float:
    """Cosine between the third directions of two halves of the documents.

    Halves are made of sixths, three and three, in all ten ways, and the mean is told.  With
    A and b as sums, those of a half are sums over its sixths.
    """
    sums = map_subsets(docs, sixths, word_sums)
    if min(s.n for s in sums) == 0:
        return 0.0
    whole = reduce(add, sums)
    _, inverse = scales(whole)
    mean = np.column_stack([inverse * s.x for s in sums])
    b = np.column_stack([inverse * s.yx_about(whole.y.mean) for s in sums])
    scaled = inverse[:, None] * b
    pairs = map_subsets(docs, sixths, pair_products, scaled)
    A_b = np.stack([p - s.x2[:, None] * scaled for p, s in zip(pairs, sums, strict=True)])
    A_b *= inverse[:, None]

    def third(half: list[int]) -> Word:
        image = A_b[half][:, :, half].sum(axis=(0, 2))
        known = orthonormal(mean[:, half].sum(axis=1), b[:, half].sum(axis=1), image)
        return known[:, 2] if known.shape[1] > 2 else np.zeros(len(known))

    ways = [list(half) for half in combinations(range(SIXTHS), SIXTHS // 2)]
    n = len(ways) // 2  # in this order, each of the first half is what one of the second leaves
    return float(np.mean([third(ways[i]) @ third(ways[-1 - i]) for i in range(n)]))


def _within(sketch: Sketch, R: Array, n_topics: int, rng: np.random.Generator) -> WordTopic:
    """Topics from the tensor in the first directions of R; fewer where these carry no more."""
    n = min(n_topics, R.shape[1])
    while n > 0:
        try:
            return decompose(restricted(sketch, R[:, :n]), n, ALPHA0, PLAIN, rng=rng).model.mu
        except TooManyTopics as refused:
            n = min(refused.largest, n - 1)
    return np.empty((len(sketch.basis.B), 0))


def restricted(sketch: Sketch, R: Array) -> Sketch:
    """The sketch in fewer coordinates: R's columns, orthonormal, in those it has."""
    b, S = sketch.basis, block_diag(R, np.ones((1, 1)))
    return replace(
        sketch,
        basis=Basis(b.B @ R, b.lift @ R, b.centre, b.scale),
        first=sketch.first @ S,
        second=S.T @ sketch.second @ S,
        third=in_space(sketch.third, S),
    )


def orthonormal(*columns: Array) -> Array:
    """Orthonormal columns that span the first, the first two, ... of these, without repeats."""
    known = np.empty((len(columns[0]), 0))
    for column in columns:
        size = np.linalg.norm(column)
        rest = column - known @ (known.T @ column)
        rest -= known @ (known.T @ rest)
        if np.linalg.norm(rest) > 1e-9 * size:
            known = np.column_stack([known, rest / np.linalg.norm(rest)])
    return known
