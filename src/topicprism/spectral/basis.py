"""A few well-chosen coordinates for words, found by passes over the documents.

Words are first scaled by D^-1, D = diag(p + a little)^1/2 with p their frequency, which
makes the sampling noise of the second moment about the same in every direction; the
little, what ``BASIS.rare_occurrences`` are, keeps words that hardly occur from mattering
more than others.  Then::

    A = D^-1 E[x1 x2] D^-1                never formed; A S is one pass
    Q = orthonormal, spans D^-1 p, r = D^-1 E[y x1], A r and the top eigenvectors of A
    B = D^-1 Q        words -> coordinates
    L = D Q           coordinates -> words            B'L = I

=======  ==========================================================  =======
code     meaning                                                       shape
=======  ==========================================================  =======
B        a word as coordinates, one row per word                      (V, K)
lift     L above, the way back                                        (V, K)
=======  ==========================================================  =======
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from topicprism._typing import Array, Word, WordCoord
from topicprism.documents.corpus import MIN_WORDS, Documents
from topicprism.kernels.aligned import aligned
from topicprism.spectral.moments import WordSums, pair_products
from topicprism.spectral.whitening import fixed_signs

SEARCH = np.float32  # directions on their way: half the memory; sums and moments are float64


@dataclass(frozen=True)
class BasisSettings:
    """Of the search for directions."""

    rare_occurrences: int = 20  # of a word that count for half of its scale: with p alone, words
    # that hardly occur would have the largest scales and the noisiest moments
    max_passes: int = 12  # over the documents; simulated and review corpora stop after 3 to 8
    max_blocks: int = 4  # of directions in memory at once, each V x rank
    min_gain: float = 0.01  # of the log sum of squared eigenvalues, expected of one more pass
    same_direction: float = 1e-9  # of its length: what is left of a vector that is no direction
    same_span: float = 1e-10  # the same of a block, whose columns are made orthonormal at once


BASIS = BasisSettings()


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
        scaled = aligned(inverse[:, None] * S, SEARCH)
        pairs = docs.total(pair_products, scaled) - sums.x2[:, None] * scaled
        return inverse[:, None] * pairs / sums.y.weight

    own = _new_directions(response[:, None], mean)
    start = root[:, None] * rng.standard_normal((len(root), rank))
    leading, next_to_it = _leading(times_A, start, mean, own)
    front = np.column_stack([mean, own])
    next_to_it = next_to_it if rank > 3 else own[:, :0]
    front = np.column_stack([front, _new_directions(next_to_it, front)])
    Q = np.ascontiguousarray(np.hstack([front, _new_directions(leading, front)])[:, :rank])
    return Basis(aligned(inverse[:, None] * Q), root[:, None] * Q, sums.y.mean, sums.y.sd or 1.0)


def scales(sums: WordSums) -> tuple[Word, Word]:
    """D and D^-1; a word that never occurs has 0 in both."""
    p = sums.frequencies
    root = np.where(p > 0, np.sqrt(p + BASIS.rare_occurrences * sums.share_of_a_word), 0)
    return root, np.divide(1, root, out=np.zeros_like(root), where=root > 0)


def points_down(sums: WordSums) -> bool:
    """Whether the word that goes with the response most goes with low responses: not so of -y."""
    if sums.y.weight == 0:  # which is refused, but not here
        return False
    response = scales(sums)[1] * sums.covariance
    return bool(response[np.abs(response).argmax()] < 0)


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
    products = np.empty((0, 0))  # known.T @ images, of which eigh reads what is below the diagonal
    S = np.hstack([own, S[:, own.shape[1] :]])
    for _ in range(BASIS.max_passes):
        S = _new_directions(S, np.hstack([mean, known]))
        if S.shape[1] == 0:
            break
        known, images = np.hstack([known, S]), np.hstack([images, times_A(S)])  # 1
        if len(sizes) == 1:
            image_of_own = images @ (known.T @ own)  # which is in the span of the first block
        old, products = products, np.zeros((known.shape[1],) * 2)
        products[: len(old), : len(old)], products[len(old) :] = old, S.T @ images
        S = images[:, -S.shape[1] :]
        values, vectors = np.linalg.eigh(products)  # 2
        top = slice(-1, -n - 1, -1)
        sizes.append(float(np.log(np.sum(values[top].clip(1e-150) ** 2))))
        if len(sizes) > 3:
            before, last = np.diff(sizes[-3:])
            if last**2 < BASIS.min_gain * before:
                break
        if known.shape[1] >= BASIS.max_blocks * n:
            S = found = images @ vectors[:, top]  # 3
            known, images, products = known[:, :0], images[:, :0], products[:0, :0]
    if images.shape[1]:
        found = images @ vectors[:, top]
    return found, image_of_own


def orthonormal(*columns: Array) -> Array:
    """Orthonormal columns that span the first, the first two, ... of these, without repeats."""
    known = np.empty((len(columns[0]), 0))
    for column in columns:
        size = np.linalg.norm(column)
        rest = column - known @ (known.T @ column)
        rest -= known @ (known.T @ rest)
        if np.linalg.norm(rest) > BASIS.same_direction * size:
            known = np.column_stack([known, rest / np.linalg.norm(rest)])
    return known


def _new_directions(S: Array, known: Array) -> Array:
    """Orthonormal columns for what S adds to the span of ``known``, the largest first."""
    size = np.linalg.norm(S, axis=0).max(initial=0)
    S = S - known @ (known.T @ S)
    Q, T, _ = qr(S, mode="economic", pivoting=True)
    Q = Q[:, np.abs(np.diag(T)) > BASIS.same_span * size]
    Q -= known @ (known.T @ Q)  # what rounding left
    new: Array = Q / np.linalg.norm(Q, axis=0)
    return fixed_signs(new)
