"""Topics by anchor words (Arora et al. 2013), with columns for the response (Nguyen et al. 2015).

An anchor is a word that one topic alone has.  If every topic has one, all of this is exact for the
moments of the model:

==========  ==============================================================================
Q           probability that two words of a document are v and w                     (V, V)
p           that of one word: row sums of Q                                          (V,)
r           E[y | a word of the document is w]                                       (V,)
rows        Q / p, and r: those of all words are in the hull of those of the anchors
C           p(topic | word): weights of the anchors' rows in that of a word          (V, k)
mu          p(word | topic) ~ p C
R           p(topics of two words): (alpha alpha' + diag(alpha)) / (alpha0 (alpha0 + 1))
eta         (alpha0 + 1) E[y | topic] - alpha0 E[y]
==========  ==============================================================================

E[y | topic] is r of its anchor; eta follows from E[h | a word is of topic i] =
(alpha + e_i) / (alpha0 + 1).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from topicprism._typing import Array, Counts, Doc, Ints, Topic, Word, WordTopic
from topicprism.documents.sums import Additive
from topicprism.inference import dirichlet_variance
from topicprism.kernels.blas import one_blas_thread
from topicprism.kernels.simplex import on_simplex
from topicprism.model import Model

BLOCK = 500  # words whose rows are made, or explained, at once
MIN_RESIDUAL = 1e-8  # share of a row's length that no anchor explains, for it to be another
ALPHA0_RANGE = 1e-2, 1e2  # outside of which pairs of words do not determine it
DEFAULT_ALPHA0 = 1.0  # alpha0 where they do not


@dataclass(frozen=True)
class Sums(Additive):
    """Sums over documents of two words or more: all that is asked of them, in one pass."""

    n: int
    Q: Array
    r: Word  # of y times shares of words
    y: float
    yy: float
    documents: Word  # that have the word


def sums(counts: Counts, y: Doc) -> Sums:
    """Pairs of different words of a document, all documents weighing the same."""
    n = np.asarray(counts.sum(axis=1), float).ravel()
    X, y, n = counts[n >= 2].astype(float), y[n >= 2], n[n >= 2]
    share, pairs = (
        X.multiply(1 / n[:, None]).tocsr(),
        X.multiply(1 / (n * (n - 1))[:, None]).tocsc(),
    )
    Q = np.empty((X.shape[1], X.shape[1]))
    for at in range(0, len(Q), BLOCK):
        Q[at : at + BLOCK] = (pairs[:, at : at + BLOCK].T @ X).toarray()
    np.fill_diagonal(Q, Q.diagonal() - np.asarray(pairs.sum(axis=0)).ravel())
    seen = np.bincount(X.indices, (X.data > 0).astype(float), X.shape[1]).astype(float)
    return Sums(len(y), Q, share.T @ y, float(y.sum()), float(y @ y), seen)


@dataclass(frozen=True)
class Moments:
    """Means over documents, or those of a model."""

    Q: Array
    r: Word  # E[y | word]
    y: float
    variance: float  # of y

    @property
    def p(self) -> Word:
        total: Word = self.Q.sum(axis=1)
        return total

    def rows(self, weight: float) -> Array:
        """Of each word: what stands beside it and, if ``weight`` is not 0, what response.

        At a weight of 1 the response adds as much as all words to the mean square by which rows
        differ.  A word that never occurs has a row of zeros.
        """
        p = self.p
        rows = self.Q / np.where(p > 0, p, 1)[:, None]
        if weight == 0:
            return rows
        r = np.where(p > 0, self.r - self.y, 0.0)
        of_words, of_response = p @ ((rows - p) ** 2).sum(axis=1), p @ (r - p @ r) ** 2
        scale = np.sqrt(weight * of_words / of_response) if of_response > 0 else 0.0
        return np.column_stack([rows, scale * r])


def moments(s: Sums) -> Moments:
    n = max(s.n, 1)
    Q, mean = s.Q / n, s.y / n
    p = Q.sum(axis=1)
    return Moments(Q, s.r / n / np.where(p > 0, p, 1), mean, max(s.yy / n - mean**2, 0.0))


def anchor_words(
    rows: Array, candidates: Ints, n_topics: int, n_dimensions: int, rng: np.random.Generator
) -> Ints:
    """Candidates whose rows are furthest from the span of those chosen, one after another.

    Then each is chosen again, given the others.  In a random projection, if rows are longer; fewer
    than asked for if the rows have no more directions.
    """
    points = rows[candidates]
    if rows.shape[1] > n_dimensions:
        signs = rng.choice([-1.0, 1.0], size=(rows.shape[1], n_dimensions))
        points = points @ signs / np.sqrt(n_dimensions)
    longest = float(np.linalg.norm(points, axis=1).max())
    chosen: list[int] = []
    for _ in range(n_topics):
        left = _apart(points, chosen)
        best = int(np.argmax(left))
        if not left[best] > MIN_RESIDUAL * longest:
            break
        chosen.append(best)
    for i in range(len(chosen)):
        chosen[i] = int(np.argmax(_apart(points, chosen[:i] + chosen[i + 1 :])))
    return candidates[chosen]


def _apart(points: Array, chosen: list[int]) -> Array:
    """How far each is from the span of some: Gram-Schmidt."""
    if not chosen:
        return np.asarray(np.linalg.norm(points, axis=1))
    basis, _ = np.linalg.qr(points[chosen].T)
    return np.asarray(np.linalg.norm(points - (points @ basis) @ basis.T, axis=1))


def recover(m: Moments, rows: Array, anchors: Ints, alpha0: float | None, n_threads: int) -> Model:
    """RecoverL2: the weights of anchors by least squares, and from them the model."""
    C = weights(rows, anchors, n_threads)
    joint = m.p[:, None] * C
    share = joint.sum(axis=0)
    mu: WordTopic = joint / share
    if alpha0 is None:
        inverse = np.linalg.pinv(mu)
        alpha0 = concentration(inverse @ m.Q @ inverse.T, share)
    many = len(anchors) > 1  # the mean response is all that one topic has
    eta = (alpha0 + 1) * (m.r[anchors] - m.y) * many + m.y
    of_topics = float(dirichlet_variance(share, alpha0, eta))
    return Model(alpha0 * share, mu, eta, float(np.sqrt(max(m.variance - of_topics, 0.0))))


def weights(rows: Array, anchors: Ints, n_threads: int = 1) -> WordTopic:
    """Of each word's row in terms of the anchors': on the simplex, and nearest."""
    S = rows[anchors]
    C = np.empty((len(rows), len(anchors)))
    with one_blas_thread, ThreadPoolExecutor(n_threads) as pool:
        G, B = S @ S.T, rows @ S.T
        parts = [slice(at, at + BLOCK) for at in range(0, len(rows), BLOCK)]
        list(pool.map(lambda some: on_simplex(G, B[some], C[some]), parts))
    return C


def concentration(R: Array, share: Topic) -> float:
    """alpha0 by least squares: R - diag(p) = alpha0 / (alpha0 + 1) (p p' - diag(p))."""
    towards = np.outer(share, share) - np.diag(share)
    size = float((towards**2).sum())
    ratio = float(((R - np.diag(share)) * towards).sum()) / size if size > 0 else 0.5
    found, (low, high) = ratio / (1 - ratio) if ratio < 1 else np.inf, ALPHA0_RANGE
    return float(found) if low < found < high else DEFAULT_ALPHA0
