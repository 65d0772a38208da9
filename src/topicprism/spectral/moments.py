"""Sums over documents: all that is ever computed from the data.

Let x1, x2, x3 be words of one document drawn without replacement, each a unit
vector of length V, and y its response.  With n the counts of a document of m
words, the averages over its ordered pairs and triples are::

    x1        n / m
    x1 x2     (n n - diag n) / (m (m-1))
    x1 x2 x3  (n n n - [diag(n) n, in three orders] + 2 diag3(n)) / (m (m-1) (m-2))

They are unbiased; ``n n n`` alone is not.  A sum below weighs each document by
w = m / (m + half), which keeps it so: longer documents weigh more.  With half = 0 all
weigh the same, as in the paper.

=============  ==========  ==================================================
code           paper       meaning
=============  ==========  ==================================================
x, yx          M_1, --     sums of x1 and y x1                           (V,)
pair_products  --          (sum of x1 x2) S, still to be corrected     (V, b)
B              --          a word seen in K coordinates                (V, K)
P              --          documents in those coordinates              (D, K)
Q              --          the company a word keeps, for corrections   (V, K)
=============  ==========  ==================================================

Each function below takes one shard of documents and returns numbers that add
up, so the documents may be anywhere (:class:`topicprism.documents.corpus.Documents`).
V x V and V x V x V are never formed.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from topicprism import backends
from topicprism._typing import Array, Cube, Square, Word, WordCoord
from topicprism.documents.corpus import Corpus
from topicprism.documents.sums import Additive, RunningMoments, Sized
from topicprism.kernels.cpu import HALF_WEIGHT_WORDS

BLOCK = 2048  # documents whose coordinates are held at once: 0.5 MB of 32, within a cache


@dataclass(frozen=True)
class WordSums(Sized):
    """Pass one."""

    n: int  # documents with three words or more
    n_short: int  # the others
    y: RunningMoments
    about: float  # yx is the sum of (y - about) x1: far from zero, y x1 would lose digits of y
    x: Word
    yx: Word
    x2: Word  # sum of x1 x1: what pair_products must be corrected by
    again: Word  # sum of x1 x2 where both are the same word: the diagonal of E[x1 x2]

    @property
    def mirrored(self) -> WordSums:
        """The same of -y."""
        y = RunningMoments(self.y.weight, -self.y.mean, self.y.squares)
        return replace(self, y=y, about=-self.about, yx=-self.yx)

    def __add__(self, other: WordSums) -> WordSums:
        return WordSums(
            self.n + other.n,
            self.n_short + other.n_short,
            self.y + other.y,
            self.about,
            self.x + other.x,
            self.yx + other.yx_about(self.about),
            self.x2 + other.x2,
            self.again + other.again,
        )

    @property
    def n_all(self) -> int:
        return self.n + self.n_short

    @property
    def frequencies(self) -> Word:
        """E[x1]."""
        return self.x / self.y.weight

    @property
    def share_of_a_word(self) -> float:
        """What one occurrence adds to a frequency: 1 / (n (m - 1)), documents being of m words."""
        return float(self.x2.sum()) / (self.n * self.y.weight)

    @property
    def covariance(self) -> Word:
        """E[(y - E[y]) x1]."""
        return self.yx_about(self.y.mean) / self.y.weight

    def yx_about(self, centre: float) -> Word:
        """Sum of (y - centre) x1."""
        centred: Word = self.yx + (self.about - centre) * self.x
        return centred


@dataclass(frozen=True)
class SketchSums(Additive):
    """Pass two: products of coordinates, still with the repeated positions in them."""

    n: int
    weight: float
    c1: float  # sum of w^2 / m
    c2: float  # sum of w^2 / (m (m-1))
    y: Array  # y, y^2, y^3                             (3,)
    p: Array  # p, y p, y^2 p                         (3, K)
    pp: Square
    ypp: Square
    ppp: Cube  # its entries i <= j <= l
    Q: WordCoord
    x2: Word
    yx2: Word
    x3: Word


def word_sums(c: Corpus, half: float = HALF_WEIGHT_WORDS) -> WordSums:
    about, y = float(c.y[:1].sum()), c.y_there
    w, sums = backends.of(c.counts).word_sums(c.counts, y - about, half)
    n = int((w > 0).sum())
    return WordSums(n, len(c) - n, RunningMoments.of(y, w), about, *sums.T)


def pair_products(c: Corpus, S: Array, half: float = HALF_WEIGHT_WORDS) -> Array:
    """Sum of w n (n . S) / (m (m-1)); less ``x2 * S`` it is (sum of x1 x2) S."""
    out: Array = backends.of(c.counts).pair_products(c.counts, S, half)
    return out


def sketch_sums(
    c: Corpus, B: WordCoord, centre: float, scale: float, half: float = HALF_WEIGHT_WORDS
) -> SketchSums:
    """Moments of (B'x, (y - centre) / scale) to order three."""
    on, t = backends.of(c.counts), (c.y_there - centre) / scale
    sums = (on.numpy(one) for one in on.sketch_sums(c.counts, t, B, half))
    scalars, first, (pp, ypp), third, Q, of_words = sums
    (n, weight, noise1, noise2), y = scalars[:4].tolist(), scalars[4:]
    return SketchSums(int(n), weight, noise1, noise2, y, first, pp, ypp, third, Q, *of_words.T[:3])


def add_mixed_triples(T: Cube, P: Array, Q: Array, n_threads: int = 1) -> None:
    """``T += in_three_orders(np.einsum("di,dj,dl->ijl", P, P, Q))`` for i <= j <= l.

    Threads share the planes T[:, j], so their number changes no bit.
    """

    def add_plane(j: int) -> None:
        once, twice = p[: j + 1] * q[j] + q[: j + 1] * p[j], p[: j + 1] * p[j]
        T[: j + 1, j, j:] += once @ p[j:].T + twice @ q[j:].T

    with ThreadPoolExecutor(n_threads) as pool:
        for start in range(0, len(P), BLOCK):
            p, q = (np.ascontiguousarray(X[start : start + BLOCK].T) for X in (P, Q))
            deque(pool.map(add_plane, range(len(p))), 0)


def fill_cube(T: Cube) -> Cube:
    """The symmetric cube whose entries i <= j <= l are those of T."""
    full: Cube = np.empty_like(T)
    for i in range(len(T)):
        upper = np.triu(T[i, i:, i:])
        square = upper + np.triu(upper, 1).T
        full[i, i:, i:] = full[i:, i, i:] = full[i:, i:, i] = square
    return full


def in_three_orders(T: Cube) -> Cube:
    """Sum over the places of the last axis, for T symmetric in the first two."""
    orders: Cube = T + T.transpose(0, 2, 1) + T.transpose(2, 1, 0)
    return orders
