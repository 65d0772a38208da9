"""Eigenpairs of a symmetric tensor, T = sum_i lambda_i w_i w_i w_i with orthonormal w_i.

``power_method``  the robust tensor power method (Anandkumar et al. 2014, algorithm 1): one pair
                  after the other, to all digits.
``all_at_once``   all pairs together, V with V'V = I that maximises sum_i T(v_i, v_i, v_i)^2.  Where
                  T is no such sum, as in text, it is much faster for many pairs, and not greedy.

=======  ===========  ==============================================
code     paper        meaning
=======  ===========  ==============================================
T        M_3(W,W,W)   whitened third moment                 (k, k, k)
values   lambda       eigenvalues, in the order they were found  (k,)
vectors  v, omega     w_i is column i                          (k, k)
=======  ===========  ==============================================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topicprism._typing import Array, Cube, Square, Topic
from topicprism.kernels import cpu
from topicprism.model import TooManyTopics


@dataclass(frozen=True)
class TensorSettings:
    """Of both methods."""

    squared_step: float = 1e-24  # a restart has converged when its step is below: a few roundings
    final_iteration_factor: int = 100  # times the iterations for the one column that is kept
    max_kernel_products: int = 150_000  # in an iteration; with more BLAS is faster than a kernel
    stale_cosine: float = 0.5  # squared, of a restart that went to an eigenvector already found
    n_starts: int = 5  # of all pairs at once, the best of which is kept
    max_rounds: int = 10  # from there; on text 5, 30 and 200 lead to topics that are as likely
    min_gain: float = 1e-12  # of the sum of squares: a round that gains less is the last
    eigenvalue_floor: float = 1e-10  # of the largest: an eigenvalue below is zero but for rounding


TENSOR = TensorSettings()


@dataclass(frozen=True)
class Eigenpairs:
    values: Topic
    vectors: Square
    residual: float  # |T - sum_i lambda_i w_i w_i w_i| / |T|


def power_method(
    T: Cube, rng: np.random.Generator, n_restarts: int = 100, n_iterations: int = 100
) -> Eigenpairs:
    """Find one eigenpair after the other, each from ``n_restarts`` starts at once.

    1. start from random unit vectors, the columns of V;
    2. V <- T(I, V, V), normalised, until the best column stands still;
    3. keep the column with the largest T(v, v, v), and iterate it on until it stands;
    4. take lambda v v v away from T, draw anew the columns that went to v,
       and go on from where the others stand: they are at eigenvectors to come.
    """
    k, size = len(T), np.linalg.norm(T)
    found: list[tuple[float, Array]] = []
    V = _unit(rng.standard_normal((k, n_restarts)))  # 1
    for i in range(k):
        V = _iterate(T, V, n_iterations)  # 2
        values = np.sum(V * apply(T, V), axis=0)
        best = int(np.argmax(values))  # 3
        V[:, [best]] = _iterate(
            T, V[:, [best]], TENSOR.final_iteration_factor * n_iterations, shift=float(values[best])
        )
        v = V[:, best].copy()
        lam = float(v @ apply(T, v[:, None])[:, 0])
        if not lam > TENSOR.eigenvalue_floor * max([float(size), *(value for value, _ in found)]):
            raise TooManyTopics(k, "third", i, largest=i)
        found.append((lam, v))
        T = T - lam * np.einsum("i,j,l->ijl", v, v, v)  # 4
        stale = (v @ V) ** 2 > TENSOR.stale_cosine
        V[:, stale] = _unit(rng.standard_normal((k, int(stale.sum()))))
    values, vectors = (np.array(x) for x in zip(*found, strict=True))
    return Eigenpairs(values, vectors.T, float(np.linalg.norm(T) / size))


def all_at_once(T: Cube, rng: np.random.Generator) -> Eigenpairs:
    """Find all eigenpairs together; a round costs k^4 in one product of matrices.

    1. start from the eigenvectors of T(I, I, w), w random: those of T itself if it is the sum;
    2. V <- the orthonormal matrix nearest to T(I, V, V) diag(lambda), which is the gradient;
    3. the largest eigenvalue first, as in the power method.
    """
    k = len(T)
    starts = (np.linalg.eigh(T @ rng.standard_normal(k))[1] for _ in range(TENSOR.n_starts))
    best = max((_images(T, V) for V in starts), key=lambda found: float(found[2] @ found[2]))  # 1
    V, image, values = best
    for _ in range(TENSOR.max_rounds):
        U, _, W = np.linalg.svd(image * values)  # 2
        before = float(values @ values)
        V, image, values = _images(T, U @ W)
        if float(values @ values) <= (1 + TENSOR.min_gain) * before:
            break
    return ordered_pairs(T, V)  # 3


def ordered_pairs(T: Cube, V: Square) -> Eigenpairs:
    """T(v, v, v) and v for the columns of an orthonormal V, the largest eigenvalue first."""
    k, size = len(T), float(np.linalg.norm(T))
    V, _, values = _images(T, V)
    V, values = V * np.sign(values), np.abs(values)
    order = np.argsort(-values)
    n = int((values > TENSOR.eigenvalue_floor * max(size, float(values.max()))).sum())
    if n < k:
        raise TooManyTopics(k, "third", n, largest=n)
    left = max(size**2 - float(values @ values), 0.0)  # V being orthonormal
    return Eigenpairs(values[order], V[:, order], float(np.sqrt(left)) / size)


def _images(T: Cube, V: Square) -> tuple[Square, Square, Topic]:
    """V, T(I, V, V) and T(V, V, V)."""
    k = len(V)
    image: Square = np.einsum("ijr,jr->ir", (T.reshape(k * k, k) @ V).reshape(k, k, k), V)
    return V, image, np.sum(V * image, axis=0)


def apply(T: Cube, V: Array) -> Array:
    """Equivalent to ``np.einsum("ijl,jr,lr->ir", T, V, V)``."""
    k, r = V.shape
    applied: Array = ((T.reshape(k * k, k) @ V).reshape(k, k, r) * V).sum(axis=1)
    return applied


def _iterate(T: Cube, V: Array, n_iterations: int, shift: float = 0.0) -> Array:
    """Power iterations on every column, until the one of largest eigenvalue stands still.

    Columns that stand still are left alone; those on their way will go on next time.
    A shift makes steps shorter and sure: without one, where noise is strong, columns
    may go round in circles.
    """
    if T.size * V.shape[1] <= TENSOR.max_kernel_products:
        rows = np.ascontiguousarray(V.T)
        cpu.iterate(np.ascontiguousarray(T), rows, n_iterations, shift, TENSOR.squared_step)
        return rows.T
    V, moving, sizes = V.copy(), np.arange(V.shape[1]), np.zeros(V.shape[1])
    for _ in range(n_iterations):
        before = V[:, moving]
        image = apply(T, before)
        sizes[moving] = np.linalg.norm(image, axis=0)
        after = _unit(image + shift * before)
        V[:, moving] = after
        moving = moving[((after - before) ** 2).sum(axis=0) > TENSOR.squared_step]
        if np.argmax(sizes) not in moving:
            break
    return V


def _unit(V: Array) -> Array:
    length = np.linalg.norm(V, axis=0)
    unit: Array = V / np.where(length > 0, length, 1)
    return unit


def in_space(T: Cube, W: Array) -> Cube:
    """T(W, W, W)."""
    r, k = W.shape
    cube: Cube = (W.T @ T.reshape(r, r * r)).reshape(k, r, r)
    return W.T @ cube @ W
