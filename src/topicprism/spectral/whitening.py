"""From a second moment to the k-dimensional topic space: W with W' M W = I.

=======  ============  =======================================
code     paper         meaning
=======  ============  =======================================
M        M_2, N_2      second moment, symmetric           (r, r)
W        W             whitening matrix                   (r, k)
U        (W^+)^T       back from topic space              (r, k)
values   sigma(M_2)    the k largest eigenvalues            (k,)
=======  ============  =======================================

Four methods, one signature ``(M, k, rng) -> Whitening``.  M is an array or
anything with ``shape`` and ``@``, such as a scipy ``LinearOperator``.  Nothing
here knows of words or responses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from topicprism._typing import Array
from topicprism.defaults import WHITENINGS
from topicprism.model import TooManyTopics

OVERSAMPLING = 10  # k~ / k in Algorithm 3, as in the paper's Section 6.3
POWERS = 3  # of M, applied to random directions
MAX_FULL_ROWS = 1000  # rows of a matrix of which not all eigenvectors are computed


@dataclass(frozen=True)
class Whitening:
    W: Array
    U: Array
    values: Array


def exact(M: Any, k: int, rng: np.random.Generator) -> Whitening:
    """By a dense factorisation; r^3.  Of a large matrix only the top k eigenpairs are computed."""
    r = M.shape[0]
    dense = M if isinstance(M, np.ndarray) else M @ np.eye(r)
    dense = (dense + dense.T) / 2
    if r <= MAX_FULL_ROWS or k >= r:
        values, vectors = np.linalg.eigh(dense)
    else:
        values, vectors = eigh(dense, subset_by_index=[r - k, r - 1])
    return _from_eigenpairs(values, vectors, k)


def matrix_free(M: Any, k: int, rng: np.random.Generator) -> Whitening:
    """The top k eigenpairs by Lanczos iterations; only products with M are asked for."""
    r = M.shape[0]
    if k >= r - 1:
        return exact(M, k, rng)
    product = LinearOperator((r, r), matvec=lambda v: M @ v, dtype=np.float64)
    try:
        values, vectors = eigsh(product, k, which="LA", v0=rng.standard_normal(r))
    except ArpackError:  # a moment of all zeros, say
        return exact(M, k, rng)
    return _from_eigenpairs(values, vectors, k)


def randomised(M: Any, k: int, rng: np.random.Generator, k_tilde: int | None = None) -> Whitening:
    """The top k of the eigenpairs that M has in a random space which M was applied to.

    ::

        S = orthonormal, spans M^3 G with G random, r x k~      k~ = 10 k, at most r
        W = S D(:, 1:k) Sigma(1:k)^-1/2                         S'MS = D Sigma D'

    W'MW = I whatever M is; in Algorithm 3 that takes an M of rank k.
    """
    r = M.shape[0]
    S = rng.standard_normal((r, min(k_tilde or OVERSAMPLING * k, r)))
    for _ in range(POWERS):
        S = np.linalg.qr(M @ S)[0]
    Omega = S.T @ (M @ S)
    values, vectors = _top(*np.linalg.eigh((Omega + Omega.T) / 2), k)
    return _from_eigenpairs(values, fixed_signs(S @ vectors), k)


def nystrom(M: Any, k: int, rng: np.random.Generator, k_tilde: int | None = None) -> Whitening:
    """Algorithm 3 of the paper, refused where it does not whiten."""
    space = nystrom_unchecked(M, k, rng, k_tilde)
    ones = np.einsum("ij,ij->j", space.W, M @ space.W)
    if not np.allclose(ones, 1, atol=0.5):
        raise ValueError(
            f"whitening='nystrom' gave W'MW from {ones.min():.2g} to {ones.max():.2g} on the "
            "diagonal, but ones were expected: the second moment is far from one of rank k; use "
            "whitening='randomised', or 'exact'"
        )
    return space


def nystrom_unchecked(
    M: Any, k: int, rng: np.random.Generator, k_tilde: int | None = None
) -> Whitening:
    """Algorithm 3 of the paper, with D_Omega(:, 1:k) where it prints D_Omega(1:k, 1:k).

    1. S random, r x k~ with k~ = 10 k by default, at most r;
    2. C = M S, Omega = S' C;
    3. C = U_C Sigma_C D_C', Omega = D_Omega Sigma_Omega D_Omega';
    4. keep k of each;
    5. W = U_C Sigma_C^-1 D_C' D_Omega Sigma_Omega^1/2.
    """
    r = M.shape[0]
    S = rng.standard_normal((r, min(k_tilde or OVERSAMPLING * k, r)))  # 1
    C = M @ S  # 2
    Omega = S.T @ C
    U_C, Sigma_C, D_Ct = np.linalg.svd(C, full_matrices=False)  # 3
    Sigma_Omega, D_Omega = _top(*np.linalg.eigh((Omega + Omega.T) / 2), k)  # 3, 4
    U_C, Sigma_C, D_Ct = U_C[:, :k], Sigma_C[:k], D_Ct[:k]  # 4
    W = (U_C / Sigma_C) @ (D_Ct @ D_Omega * np.sqrt(Sigma_Omega))  # 5
    U = np.linalg.pinv(W).T
    return Whitening(W, U, np.linalg.svd(U, compute_uv=False) ** 2)


# The first is "auto": a sketch is small, nothing is gained by being clever.
HOW: tuple[Callable[[Any, int, np.random.Generator], Whitening], ...]
HOW = (exact, exact, matrix_free, randomised, nystrom)


def whiten(M: Any, k: int, rng: np.random.Generator, method: str = WHITENINGS[0]) -> Whitening:
    """W with W' M W = I from the top k eigenpairs of M, in algebraic order."""
    return HOW[WHITENINGS.index(method)](M, k, rng)


def _from_eigenpairs(values: Array, vectors: Array, k: int) -> Whitening:
    values, vectors = _top(values, vectors, k)
    return Whitening(vectors / np.sqrt(values), vectors * np.sqrt(values), values)


def _top(values: Array, vectors: Array, k: int) -> tuple[Array, Array]:
    """The k largest eigenvalues with their vectors, refused unless all are positive."""
    order = np.argsort(-values)
    floor = 1e-12 * abs(values[order[0]])  # below it, rounding decides the sign
    found = int((values > floor).sum())
    if found < k:
        raise TooManyTopics(k, "second", found, largest=found)
    return values[order[:k]], fixed_signs(vectors[:, order[:k]])


def fixed_signs(vectors: Array) -> Array:
    """Each column with its largest entry positive: rounding must not decide which way it points."""
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    fixed: Array = vectors * np.where(largest < 0, -1, 1)
    return fixed
