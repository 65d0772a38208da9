"""Topics of text that has more structure than k topics.

Where the spectrum of E[x x] does not end at k, the model does not hold: the k leading
directions are some of many, and what moves the response need not be among them.
Then the response is given topics of its own.  With b = E[y x], three directions ::

    E[x],  b,  E[x x] b

are those of partial least squares, which predict nearly as well as all words
together.  The tensor within them gives three topics; the tensor within E[x] and
the leading directions of the words gives the others.  Both come from one sketch.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import block_diag

from topicprism._typing import Array, WordTopic
from topicprism.model import Model, TooManyTopics
from topicprism.settings import Settings
from topicprism.sketching import Basis, Sketch
from topicprism.spectral import decompose, in_space

ALPHA0 = 1.0  # while topics are sought: documents of few topics
OF_RESPONSE = 3
SHARE = 0.5  # of the prior, for the topics of the response
BURSTINESS = 0.75
PLAIN = Settings(method="two-stage", n_restarts=30)


def topics(
    sketch: Sketch, n_topics: int, supervised: bool, rng: np.random.Generator
) -> tuple[Model, int]:
    """A model of at most ``n_topics``, those of the response first, and how many those are."""
    zz = sketch.second / sketch.weight
    mean, xx, b = sketch.first[:-1] / sketch.weight, zz[:-1, :-1], zz[-1, :-1]
    wanted = supervised and n_topics > 1 and told(sketch)
    n_response = min(OF_RESPONSE, n_topics) if wanted else 0
    response = _within(sketch, _orthonormal(mean, b, xx @ b), n_response, rng)
    _, vectors = np.linalg.eigh(xx - np.outer(xx @ mean, mean) / (mean @ mean))
    leading = _orthonormal(mean, *vectors.T[::-1])
    content = _within(sketch, leading, n_topics - response.shape[1], rng)
    mu, n = np.hstack([response, content]), response.shape[1]
    share = SHARE if n and content.shape[1] else float(n > 0)
    parts = [np.full(part.shape[1], 1 / max(part.shape[1], 1)) for part in (response, content)]
    alpha = ALPHA0 * np.concatenate([share * parts[0], (1 - share) * parts[1]])
    none = np.zeros(len(alpha))
    return Model(alpha, mu, none, 0.0, BURSTINESS), n


def told(sketch: Sketch) -> bool:
    """Whether E[y x] is more than the chance of V words: else the response has no direction."""
    mean, b = sketch.first[:-1] / sketch.weight, sketch.second[-1, :-1] / sketch.weight
    own = b - mean * (mean @ b) / (mean @ mean)
    V, noise = sketch.basis.n_seen, sketch.c1 / sketch.weight**2
    return bool(own @ own > V * noise * (1 + 4 * np.sqrt(2 / V)))


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


def _orthonormal(*columns: Array) -> Array:
    """Orthonormal columns that span the first, the first two, ... of these, without repeats."""
    known = np.empty((len(columns[0]), 0))
    for column in columns:
        size = np.linalg.norm(column)
        rest = column - known @ (known.T @ column)
        rest -= known @ (known.T @ rest)
        if np.linalg.norm(rest) > 1e-9 * size:
            known = np.column_stack([known, rest / np.linalg.norm(rest)])
    return known
