"""First topics of text that has more structure than k topics.

Where the spectrum of E[x x] does not end at k, the model does not hold: the k leading
directions are some of many, and what goes with the response need not be among them.
Then the response is given topics of its own.  With b = E[y x], three directions ::

    E[x],  b,  E[x x] b

are those of partial least squares, which predict nearly as well as all words
together.  The tensor within them gives three topics; the tensor within E[x] and
the leading directions of the words gives the others.  Both come from one sketch.
With few or short documents the third direction is often noise: where two halves of the
documents do not agree on it, the response has two topics.

A direction may be large because two documents are nearly the same.  So directions are
ranked by the median of v'E[x x]v over ten folds of the documents: near-duplicate documents
do not create topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations
from operator import add

import numpy as np

from topicprism._typing import Array, Coord, Square, Word, WordCoord, WordTopic
from topicprism.documents.corpus import Corpus, Documents
from topicprism.documents.subsets import Subset, map_subsets
from topicprism.documents.sums import Additive
from topicprism.evaluation import bhattacharyya
from topicprism.learn.defaults import MODEL, TEXT
from topicprism.learn.result import FitContext
from topicprism.model import Model, TooManyTopics
from topicprism.spectral.basis import BASIS, orthonormal, scales
from topicprism.spectral.decompose import decompose, own_stream, width_for
from topicprism.spectral.moments import pair_products, word_sums
from topicprism.spectral.settings import Settings
from topicprism.spectral.sketch import Sketch, sketch_of
from topicprism.spectral.whitening import fixed_signs


@dataclass(frozen=True)
class FirstTopics:
    """Initial topics: one pass over the documents serves any number of them."""

    context: FitContext

    def of(self, k: int) -> tuple[Model, int]:
        """``k`` topics, those of the response first, and how many those are."""
        c = self.context
        return topics_of(c.sketch, k, self._n_response, c.rng, self._by_fold)

    @cached_property
    def _n_response(self) -> int:
        c = self.context
        joint = c.request.supervised and c.request.settings.method == "joint"
        return n_response_topics(c.docs, c.folds(TEXT.agreement_folds)) if joint else 0

    @cached_property
    def _by_fold(self) -> tuple[Coord, ...]:
        c, folds = self.context, self.context.folds(TEXT.ranking_folds)
        return c.docs.total(sizes_by_fold, c.sketch.basis.B @ across_mean(c.sketch), folds).sizes


def text_sketch(docs: Documents, n_topics: int, rng: np.random.Generator) -> Sketch:
    """A sketch wide enough for so many topics."""
    return sketch_of(docs, docs.total(word_sums), width_for(n_topics), rng)


def topics_of(
    sketch: Sketch,
    n_topics: int,
    n_response: int,
    rng: np.random.Generator,
    by_fold: tuple[Coord, ...] = (),
) -> tuple[Model, int]:
    """A model of at most ``n_topics``, those of the response first, and how many those are.

    Of the response there are ``n_response``, unless the words do not predict it.
    ``by_fold`` are sizes of the directions ``across_mean`` in folds of the documents, to recognise
    near-duplicates by.
    """
    rng, zz = own_stream(rng), sketch.second / sketch.weight
    mean, xx, b = sketch.first[:-1] / sketch.weight, zz[:-1, :-1], zz[-1, :-1]
    wanted = min(n_response, n_topics) if n_topics > 1 and response_has_signal(sketch) else 0
    response = _within(sketch, fixed_signs(orthonormal(mean, b, xx @ b)), wanted, rng)
    response = _apart(_without_chance(sketch, response))
    content = _within(sketch, _leading(sketch, by_fold), n_topics - response.shape[1], rng)
    n, m = response.shape[1], content.shape[1]
    share = TEXT.response_share if n and m else float(n > 0)
    alpha = TEXT.prior_sum * np.repeat([share / max(n, 1), (1 - share) / max(m, 1)], [n, m])
    frequencies = sketch.basis.lift @ mean
    mu = (1 - TEXT.smoothing) * np.hstack([response, content])
    mu += TEXT.smoothing * frequencies[:, None]
    return Model(alpha, mu / mu.sum(axis=0), np.zeros(n + m), 0.0, TEXT.burstiness), n


def _without_chance(sketch: Sketch, mu: WordTopic) -> WordTopic:
    """Topics nearer to the words' frequencies, p + (mu - p) p / (p + a), by words that are rare.

    The association of a word is the mean of as many responses as it has occurrences: of few
    it is chance, and in short documents no other words make up for it.  a is what
    ``TEXT.occurrences`` of them are.
    """
    p = np.maximum(sketch.basis.lift @ sketch.first[:-1] / sketch.weight, 0)
    rare = np.maximum(sketch.basis.root**2 - p, 0) * TEXT.occurrences / BASIS.rare_occurrences
    kept = np.divide(p, p + rare, out=np.zeros_like(p), where=p > 0)[:, None]
    nearer = (1 - kept) * (p / p.sum())[:, None] + kept * mu
    shrunk: WordTopic = nearer / nearer.sum(axis=0)
    return shrunk


def _apart(mu: WordTopic) -> WordTopic:
    """Topics moved away from their mean until no two are alike.

    In long documents that differ little, topics of the response do, too.  How far its directions
    reach is not determined by prediction, for coefficients make up for it.
    """
    if mu.shape[1] < 2:
        return mu
    mean, others = mu.mean(axis=1, keepdims=True), ~np.eye(mu.shape[1], dtype=bool)
    moved = mu
    for step in TEXT.steps_apart:
        moved = np.maximum(mean + step * (mu - mean), 0)
        moved = moved / moved.sum(axis=0)
        if bhattacharyya(moved, moved)[others].max() <= TEXT.response_alike:
            break
    return moved


def across_mean(sketch: Sketch) -> Square:
    """Orthonormal directions, as columns: across E[x] the principal axes of E[x x]."""
    mean, xx = sketch.first[:-1] / sketch.weight, sketch.second[:-1, :-1] / sketch.weight
    across = np.eye(len(mean)) - np.outer(mean, mean) / (mean @ mean)
    vectors: Square = fixed_signs(np.linalg.eigh(across @ xx @ across)[1])
    return vectors


def _leading(sketch: Sketch, by_fold: tuple[Coord, ...]) -> Array:
    """E[x], and then the directions across it along which words vary most, in every fold."""
    mean, vectors = sketch.first[:-1] / sketch.weight, across_mean(sketch)
    if not by_fold:
        xx = sketch.second[:-1, :-1] / sketch.weight
        by_fold = (np.einsum("ij,ik,kj->j", vectors, xx, vectors, optimize=True),)
    order = np.argsort(-np.median(by_fold, axis=0))
    return orthonormal(mean, *vectors.T[order])


@dataclass(frozen=True)
class FoldSizes(Additive):
    """Weights, and sums of v'x1 x2'v along some directions v, of each fold of the documents."""

    weights: Array
    sums: Array

    @property
    def sizes(self) -> tuple[Coord, ...]:
        """v'E[x x]v in each fold that has documents."""
        return tuple(s / w for s, w in zip(self.sums, self.weights, strict=True) if w > 0)


def sizes_by_fold(c: Corpus, U: WordCoord, folds: Sequence[Subset]) -> FoldSizes:
    """Along the columns of U, each a direction as weights of words."""
    found = FoldSizes(np.zeros(len(folds)), np.zeros((len(folds), U.shape[1])))
    for i, fold in enumerate(folds):
        rows = fold.rows(c)
        words = word_sums(rows)
        found.weights[i] = words.y.weight
        found.sums[i] = np.einsum("vj,vj->j", U, pair_products(rows, U))
        found.sums[i] -= np.einsum("v,vj,vj->j", words.x2, U, U)
    return found


def response_has_signal(sketch: Sketch) -> bool:
    """Whether E[y x] is more than the chance of V words: else the response has no direction."""
    z = TEXT.signal_z_of_few if are_few(sketch.n, sketch) else TEXT.signal_z
    return bool(chance_of_response(sketch) * (1 + z * (2 / sketch.n_seen) ** 0.5) < 1)


def are_few(n_documents: int, sketch: Sketch) -> bool:
    """Whether documents, or words, are so few that folds of them are compared."""
    n_words = n_documents * sketch.typical_length
    return n_documents < TEXT.few_documents or n_words < TEXT.few_words


def chance_of_response(sketch: Sketch) -> float:
    """The share of E[y x], squared and across E[x], that V words have by chance."""
    mean, b = sketch.first[:-1] / sketch.weight, sketch.second[-1, :-1] / sketch.weight
    own = b - mean * (mean @ b) / (mean @ mean)
    chance, found = sketch.n_seen * sketch.c1 / sketch.weight**2, float(own @ own)
    return chance / found if found > 0 else np.inf


def n_response_topics(docs: Documents, folds: Sequence[Subset]) -> int:
    """Three topics for the response, or two if documents do not agree on E[x x] b."""
    return 3 if agreement(docs, folds) >= TEXT.agreement else 2


def agreement(docs: Documents, folds: Sequence[Subset]) -> float:
    """Cosine between the third directions of two halves of the documents.

    Halves are made of an even number of folds, in all ways, and the mean is returned.  With
    A and b as sums, those of a half are sums over its folds.
    """
    sums = map_subsets(docs, folds, word_sums)
    if min(s.n for s in sums) == 0:
        return 0.0
    whole = reduce(add, sums)
    _, inverse = scales(whole)
    mean = np.column_stack([inverse * s.x for s in sums])
    b = np.column_stack([inverse * s.yx_about(whole.y.mean) for s in sums])
    scaled = inverse[:, None] * b
    pairs = map_subsets(docs, folds, pair_products, scaled)
    A_b = np.stack([p - s.x2[:, None] * scaled for p, s in zip(pairs, sums, strict=True)])
    A_b *= inverse[:, None]

    def third(half: list[int]) -> Word:
        image = A_b[half][:, :, half].sum(axis=(0, 2))
        known = orthonormal(mean[:, half].sum(axis=1), b[:, half].sum(axis=1), image)
        return known[:, 2] if known.shape[1] > 2 else np.zeros(len(known))

    ways = [list(half) for half in combinations(range(len(folds)), len(folds) // 2)]
    n = len(ways) // 2  # in this order, each of the first half is what one of the second leaves
    return float(np.mean([third(ways[i]) @ third(ways[-1 - i]) for i in range(n)]))


def _within(sketch: Sketch, R: Array, n_topics: int, rng: np.random.Generator) -> WordTopic:
    """Topics from the tensor in the first directions of R; fewer where these support no more."""
    n = min(n_topics, R.shape[1])
    settings = Settings(
        "two-stage",
        n_restarts=TEXT.tensor_restarts,
        decomposition="power" if n <= MODEL.max_topics else "all at once",
    )
    while n > 0:
        try:
            found = decompose(sketch.project(R[:, :n]), n, TEXT.tensor_alpha0, settings, rng=rng)
            return found.model.mu
        except TooManyTopics as refused:
            n = min(refused.largest, n - 1)
    return np.empty((len(sketch.basis.B), 0))
