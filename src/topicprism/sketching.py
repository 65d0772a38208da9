"""The data, made small: moments of every document in a few well-chosen coordinates.

Words are first scaled by D^-1, D = diag(p + a little)^1/2 with p their frequency, which
makes the sampling noise of the second moment about the same in every direction; the
little, what ``RARE`` occurrences are, keeps words that hardly occur from mattering
more than others.  Then::

    A = D^-1 E[x1 x2] D^-1                never formed; A S is one pass
    Q = orthonormal, spans D^-1 p, r = D^-1 E[y x1], A r and the top eigenvectors of A
    B = D^-1 Q        words -> coordinates
    L = D Q           coordinates -> words            B'L = I

    z = (B'x, y)      E[z], E[z z], E[z z z]          the sketch

=======  ==========================================================  =======
code     meaning                                                       shape
=======  ==========================================================  =======
B        a word as coordinates, one row per word                      (V, K)
lift     L above, the way back                                        (V, K)
first    sum of z; its last entry belongs to the response               (R,)
second   sum of z z                                                   (R, R)
third    sum of z z z                                              (R, R, R)
=======  ==========================================================  =======

The response is kept as (y - centre) / scale.  No alpha0, sigma, k or method is
in a sketch: one sketch serves them all.  Sketches over one basis add up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import block_diag, qr

from topicprism._typing import Array, Coord, Cube, Square, Word, WordCoord
from topicprism.corpus import MIN_WORDS, Documents
from topicprism.moments import (
    SketchSums,
    WordSums,
    in_three_orders,
    pair_products,
    sketch_sums,
    word_sums,
)
from topicprism.subsets import Subset, map_subsets
from topicprism.tensor import in_space
from topicprism.whitening import fixed_signs

MAX_PASSES = 12  # block power iterations
MAX_BLOCKS = 4  # kept at once
SEARCH = np.float32  # type of the directions on their way; sums and moments are float64
SIGNIFICANT = 1.15  # times the edge of noise: an eigenvalue above it is no chance
RARE = 20  # occurrences of a word that count for half of its scale
ENOUGH = 0.01  # stop them when the next is expected to gain less than this, in log sum of squares


@dataclass(frozen=True, eq=False)
class Basis:
    """Coordinates for words and a unit for the response."""

    B: WordCoord
    lift: WordCoord
    centre: float
    scale: float

    @property
    def width(self) -> int:
        return int(self.B.shape[1])

    @property
    def root(self) -> Word:
        """D; a word that never occurs has 0."""
        size = np.linalg.norm(self.B, axis=1)
        lifted = np.linalg.norm(self.lift, axis=1)
        root: Word = np.sqrt(np.divide(lifted, size, out=np.zeros_like(size), where=size > 0))
        return root

    def extend(self, V: WordCoord) -> Basis:
        """Coordinates that hold these sums over words, too."""
        root = self.root[:, None]
        inverse = np.divide(1, root, out=np.zeros_like(root), where=root > 0)
        new = _new_directions(inverse * V, inverse * self.lift)
        B, lift = np.hstack([self.B, inverse * new]), np.hstack([self.lift, root * new])
        return Basis(B, lift, self.centre, self.scale)

    def same_as(self, other: Basis) -> bool:
        return self is other or (
            (self.centre, self.scale) == (other.centre, other.scale)
            and np.array_equal(self.B, other.B)
        )


@dataclass(frozen=True, eq=False)
class Sketch:
    """Raw moments of z = (B'x, y), as weighted sums over ``n`` documents."""

    basis: Basis
    weight: float
    first: Coord
    second: Square
    third: Cube
    n: int = 0
    c1: float = 0.0  # sum of w^2 / m: how noisy E[y x] is
    c2: float = 0.0  # sum of w^2 / (m (m-1)): how noisy E[x x] is

    @cached_property
    def eigenpairs(self) -> tuple[Array, Array]:
        """Eigenvalues of E[x x] in the coordinates of the sketch, the least first, and vectors."""
        values, vectors = np.linalg.eigh(self.second[:-1, :-1] / self.weight)
        return values, vectors

    @property
    def spectrum(self) -> Array:
        """These eigenvalues, the largest first."""
        return np.asarray(np.linalg.eigvalsh(self.second[:-1, :-1] / self.weight)[::-1], float)

    def project(self, R: Array) -> Sketch:
        """The sketch in fewer coordinates: R's columns, orthonormal, in those it has."""
        b, S = self.basis, block_diag(R, np.ones((1, 1)))
        return replace(
            self,
            basis=Basis(b.B @ R, b.lift @ R, b.centre, b.scale),
            first=self.first @ S,
            second=S.T @ self.second @ S,
            third=in_space(self.third, S),
        )

    def leading(self, width: int) -> Sketch:
        """In at most ``width`` coordinates: E[x], E[y x] and the leading directions of words."""
        response = (self.second / self.weight)[-1, :-1]
        R = orthonormal(self.first[:-1], response, *self.eigenpairs[1].T[::-1])
        return self.project(R[:, :width])

    @property
    def n_seen(self) -> float:
        """Words that occur, a rare one for less than one: the sum of p / D^2."""
        p, root = self.basis.lift @ self.first[:-1] / self.weight, self.basis.root
        return float((p[root > 0] / root[root > 0] ** 2).sum())

    @property
    def noise_edge(self) -> float:
        """The largest eigenvalue that chance alone gives.

        Words being scaled by p^-1/2, each entry of the V x V moment has sampling variance
        c2 / weight^2, and less if a word is rare: the semicircle law.  With few documents
        for V words the distribution leans to the right, as that of a Wishart matrix does.
        """
        V = self.n_seen
        return self.noise_radius(V) * (1 + float(np.sqrt(V / max(self.n, 1))) / 2)

    def noise_radius(self, n_directions: float) -> float:
        """Half the width of that semicircle, of noise in so many directions."""
        return float(2 * np.sqrt(max(n_directions, 0.0) * self.c2) / self.weight)

    def __add__(self, other: Sketch) -> Sketch:
        if not self.basis.same_as(other.basis):
            raise ValueError(
                f"got sketches over two bases (of {self.basis.B.shape} and {other.basis.B.shape}), "
                "but only sketches over one basis add up; sketch both corpora with the same basis"
            )
        return Sketch(
            self.basis,
            self.weight + other.weight,
            self.first + other.first,
            self.second + other.second,
            self.third + other.third,
            self.n + other.n,
            self.c1 + other.c1,
            self.c2 + other.c2,
        )


def sketch(docs: Documents, rank: int, rng: np.random.Generator) -> Sketch:
    """The sketch of documents in ``rank`` word coordinates: for that many topics or fewer."""
    check_rank(rank, docs.n_words)
    return sketch_over(docs, find_basis(docs, docs.total(word_sums), rank, rng))


def sketch_over(docs: Documents, basis: Basis) -> Sketch:
    """The sketch of documents over a basis that may come from others."""
    return _without_repeats(docs.total(sketch_sums, basis.B, basis.centre, basis.scale), basis)


def moments_of_subsets(docs: Documents, subsets: Sequence[Subset], basis: Basis) -> list[Sketch]:
    """A sketch of each of these subsets of the documents, in one pass."""
    sums = map_subsets(docs, subsets, sketch_sums, basis.B, basis.centre, basis.scale)
    return [_without_repeats(s, basis) for s in sums]


def check_rank(n_topics: int, available: int) -> None:
    """Refuse more topics than there are directions to tell them apart."""
    if n_topics > available:
        raise ValueError(
            f"n_topics={n_topics}, but there are only {available} directions (words of the "
            f"vocabulary, or coordinates of the sketch); use n_topics <= {available}, a larger "
            "vocabulary or a wider sketch"
        )


def check_sums(sums: WordSums) -> None:
    """Refuse a corpus that has no third moment."""
    if sums.n == 0:
        raise ValueError(
            f"all {sums.n_short} documents have fewer than {MIN_WORDS} words, but third moments "
            f"need documents of at least {MIN_WORDS}; check that rows are documents and columns "
            "are words"
        )


def find_basis(docs: Documents, sums: WordSums, rank: int, rng: np.random.Generator) -> Basis:
    """Coordinates that hold D^-1 p, r = D^-1 E[y x1], A r and the leading directions of A."""
    check_sums(sums)
    rank = min(rank, docs.n_words)
    root, inverse = scales(sums)
    response, mean = inverse * sums.covariance, (inverse * sums.frequencies)[:, None]
    mean /= np.linalg.norm(mean)

    def times_A(S: Array) -> Array:
        scaled = np.ascontiguousarray(inverse[:, None] * S, dtype=SEARCH)
        pairs = docs.total(pair_products, scaled) - sums.x2[:, None] * scaled
        return inverse[:, None] * pairs / sums.y.weight

    own = _new_directions(response[:, None], mean)
    start = root[:, None] * rng.standard_normal((len(root), rank))
    leading, next_to_it = _leading(times_A, start, mean, own)
    front = np.column_stack([mean, own])
    next_to_it = next_to_it if rank > 3 else own[:, :0]
    front = np.column_stack([front, _new_directions(next_to_it, front)])
    Q = np.ascontiguousarray(np.hstack([front, _new_directions(leading, front)])[:, :rank])
    return Basis(inverse[:, None] * Q, root[:, None] * Q, sums.y.mean, sums.y.sd or 1.0)


def scales(sums: WordSums) -> tuple[Word, Word]:
    """D and D^-1; a word that never occurs has 0 in both."""
    p = sums.frequencies
    root = np.where(p > 0, np.sqrt(p + RARE * sums.share_of_a_word), 0)
    return root, np.divide(1, root, out=np.zeros_like(root), where=root > 0)


def trace_of_A(sums: WordSums) -> float:
    """The sum of all eigenvalues of A."""
    _, inverse = scales(sums)
    return float(inverse**2 @ sums.again) / sums.y.weight


def _leading(
    times_A: Callable[[Array], Array], S: Array, mean: Array, own: Array
) -> tuple[Array, Array]:
    """Block power iterations for the leading directions of A, as many as S has; and A own.

    1. multiply by A, one pass over the documents; make what is new orthonormal to
       what came before and go on from there;
    2. of the space so spanned find the directions of largest v'Av; stop when the sum
       of their squares, going by its last two gains, would hardly gain more;
    3. multiply them by A once more, which costs nothing: their images are known.
       After some blocks start again from there, so that memory stays bounded.

    The mean, D^-1 p, is nearly an eigenvector of A, of eigenvalue 1: keeping the rest
    orthogonal to it spares the iterations the one direction they need not find.
    """
    n, sizes, image_of_own = S.shape[1], [0.0], own[:, :0]
    known = images = found = np.empty((len(S), 0))
    S = np.hstack([own, S[:, own.shape[1] :]])
    for _ in range(MAX_PASSES):
        S = _new_directions(S, np.hstack([mean, known]))
        if S.shape[1] == 0:
            break
        known, images = np.hstack([known, S]), np.hstack([images, times_A(S)])  # 1
        if len(sizes) == 1:
            image_of_own = images @ (known.T @ own)  # which is in the span of the first block
        S = images[:, -S.shape[1] :]
        values, vectors = np.linalg.eigh(known.T @ images)  # 2
        top = slice(-1, -n - 1, -1)
        found = images @ vectors[:, top]  # 3
        sizes.append(float(np.log(np.sum(values[top].clip(1e-150) ** 2))))
        if len(sizes) > 3:
            before, last = np.diff(sizes[-3:])
            if last**2 < ENOUGH * before:
                break
        if known.shape[1] >= MAX_BLOCKS * n:
            S, known, images = found, known[:, :0], images[:, :0]
    return found, image_of_own


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


def _new_directions(S: Array, known: Array) -> Array:
    """Orthonormal columns for what S adds to the span of ``known``, the largest first."""
    size = np.linalg.norm(S, axis=0).max(initial=0)
    S = S - known @ (known.T @ S)
    Q, T, _ = qr(S, mode="economic", pivoting=True)
    Q = Q[:, np.abs(np.diag(T)) > 1e-10 * size]
    Q -= known @ (known.T @ Q)  # what rounding left
    new: Array = Q / np.linalg.norm(Q, axis=0)
    return fixed_signs(new)


def _without_repeats(s: SketchSums, basis: Basis) -> Sketch:
    """Take out of the products the pairs and triples that use a position twice or thrice."""
    B, K = basis.B, basis.width
    first, second, third = np.empty(K + 1), np.empty((K + 1, K + 1)), np.empty((K + 1,) * 3)
    first[:K], first[K] = s.p[0], s.y[0]

    second[:K, :K] = s.pp - (B.T * s.x2) @ B
    second[K, :K] = second[:K, K] = s.p[1]
    second[K, K] = s.y[1]

    twice = np.stack([(B.T * B[:, i]) @ s.Q for i in range(K)])
    thrice = np.stack([(B.T * (B[:, i] * s.x3)) @ B for i in range(K)])
    third[:K, :K, :K] = s.ppp - in_three_orders(twice) + 2 * thrice
    yxx = s.ypp - (B.T * s.yx2) @ B
    third[K, :K, :K] = third[:K, K, :K] = third[:K, :K, K] = yxx
    third[K, K, :K] = third[K, :K, K] = third[:K, K, K] = s.p[2]
    third[K, K, K] = s.y[2]
    return Sketch(basis, s.weight, first, second, third, s.n, s.c1, s.c2)
