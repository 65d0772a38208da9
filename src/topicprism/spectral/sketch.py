"""The data, made small: moments of every document in the coordinates of a basis.

With z = (B'x, y) the sketch is E[z], E[z z] and E[z z z], as sums over documents.

=======  ==========================================================  =======
code     meaning                                                       shape
=======  ==========================================================  =======
first    sum of z; its last entry belongs to the response               (R,)
second   sum of z z                                                   (R, R)
third    sum of z z z                                              (R, R, R)
=======  ==========================================================  =======

The response is kept as (y - centre) / scale.  No alpha0, sigma, k or method is
in a sketch: one sketch serves them all.  Sketches over one basis can be summed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import block_diag

from topicprism._typing import Array, Coord, Cube, Square, WordCoord
from topicprism.documents.corpus import MIN_WORDS, Documents
from topicprism.documents.subsets import Subset, map_subsets
from topicprism.kernels.cpu import HALF_WEIGHT_WORDS
from topicprism.spectral.basis import Basis, find_basis, orthonormal
from topicprism.spectral.moments import (
    SketchSums,
    WordSums,
    add_mixed_triples,
    fill_cube,
    in_three_orders,
    sketch_sums,
    word_sums,
)
from topicprism.spectral.tensor import in_space
from topicprism.spectral.whitening import fixed_signs
from topicprism.validation import check_rank

MAX_DENSE_WIDTH = 32  # coordinates up to which products are taken in all orders, by BLAS; beyond
# it each is taken once, a sixth of them
NOISE_EDGE_FACTOR = 1.15  # times the edge of noise, which is that of infinitely many words: the
# largest eigenvalue of finitely many varies around it, by up to a tenth in tests/test_automatic.py


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
        return values, fixed_signs(vectors)

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
        return max(float((p[root > 0] / root[root > 0] ** 2).sum()), 1e-6)  # of any numbers

    @property
    def typical_length(self) -> int:
        """Words of a document that has the mean weight of them all, m / (m + 30)."""
        share = min(self.weight / max(self.n, 1), 1 - 1e-3)
        return max(round(HALF_WEIGHT_WORDS * share / (1 - share)), MIN_WORDS)

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
    return sketch_of(docs, docs.total(word_sums), rank, rng)


def sketch_of(docs: Documents, sums: WordSums, rank: int, rng: np.random.Generator) -> Sketch:
    """The sketch of documents whose ``sums`` are known, in at most ``rank`` coordinates."""
    return sketch_over(docs, find_basis(docs, sums, rank, rng))


def sketch_over(docs: Documents, basis: Basis) -> Sketch:
    """The sketch of documents over a basis that may come from others."""
    sums = docs.total(sketch_sums, basis.B, basis.centre, basis.scale)
    return without_repeats(sums, basis, getattr(docs, "n_threads", 1))


def moments_of_subsets(docs: Documents, subsets: Sequence[Subset], basis: Basis) -> list[Sketch]:
    """A sketch of each of these subsets of the documents, in one pass."""
    sums = map_subsets(docs, subsets, sketch_sums, basis.B, basis.centre, basis.scale)
    return [without_repeats(s, basis) for s in sums]


def without_repeats(s: SketchSums, basis: Basis, n_threads: int = 1) -> Sketch:
    """Take out of the products the pairs and triples that use a position twice or thrice."""
    B, K = basis.B, basis.width
    first, second, third = np.empty(K + 1), np.empty((K + 1, K + 1)), np.empty((K + 1,) * 3)
    first[:K], first[K] = s.p[0], s.y[0]

    second[:K, :K] = s.pp - (B.T * s.x2) @ B
    second[K, :K] = second[:K, K] = s.p[1]
    second[K, K] = s.y[1]

    third[:K, :K, :K] = _different_words(s, B, n_threads)
    yxx = s.ypp - (B.T * s.yx2) @ B
    third[K, :K, :K] = third[:K, K, :K] = third[:K, :K, K] = yxx
    third[K, K, :K] = third[K, :K, K] = third[:K, K, K] = s.p[2]
    third[K, K, K] = s.y[2]
    return Sketch(basis, s.weight, first, second, third, s.n, s.c1, s.c2)


def _different_words(s: SketchSums, B: WordCoord, n_threads: int) -> Cube:
    """The sum of products over triples of different words.

    ::

        ppp - [sum_w B_w B_w Q_w, in three orders] + 2 sum_w x3_w B_w B_w B_w
    """
    K = B.shape[1]
    if K > MAX_DENSE_WIDTH:
        repeats = np.zeros((K, K, K))
        add_mixed_triples(repeats, B, s.Q - 2 / 3 * s.x3[:, None] * B, n_threads)
        return fill_cube(s.ppp - repeats)
    twice = np.stack([(B.T * B[:, i]) @ s.Q for i in range(K)])
    thrice = np.stack([(B.T * (B[:, i] * s.x3)) @ B for i in range(K)])
    return fill_cube(s.ppp) - in_three_orders(twice) + 2 * thrice
