"""All eigenpairs of T = sum_i lambda_i w_i w_i w_i from its slices T(I, I, theta), which the same
orthonormal V makes diagonal.

``two_svd``       the eigenvectors of one random slice: the second of the two singular value
                  decompositions of Anandkumar et al. (2012, excess correlation analysis), the
                  whitening being the first.  Where two eigenvalues of the slice are close, noise
                  mixes their eigenvectors, and with many topics some always are.
``simultaneous``  V that makes all k slices as diagonal as they can be, by Jacobi rotations
                  (Cardoso and Souloumiac 1996).
``stgd``          the same V by stochastic gradient descent, one random slice in a step, from a
                  random start: the objective of Ge et al. (2015) for orthogonal tensors::

                      sum over i != j of |T(v_i, v_j, I)|^2

                  A step costs k^3 and needs T(I, I, theta) only.

One signature, ``(T, rng) -> Eigenpairs``, as of :func:`~topicprism.spectral.tensor.all_at_once`.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from topicprism._typing import Cube, Square
from topicprism.spectral.tensor import Eigenpairs, ordered_pairs

MAX_SWEEPS = 30  # over all pairs of columns; three to eight are usual
SMALL_ANGLE = 1e-10  # rotations by less are not made, and a sweep without any is the last
STEP = 0.25  # of the gradient, in units of its mean curvature; 0.5 does not always settle
STEPS, STEPS_PER_TOPIC = 400, 4  # with that step; then as many that become shorter


def two_svd(T: Cube, rng: np.random.Generator) -> Eigenpairs:
    """The eigenvectors of T(I, I, theta), theta random."""
    return ordered_pairs(T, _eigenvectors_of_a_slice(T, rng))


def simultaneous(T: Cube, rng: np.random.Generator) -> Eigenpairs:
    """The V for which the off-diagonal entries of all V' T_l V have the least sum of squares.

    A[i, j] has the entries (i, j) of all slices.  Rotating columns p and q by the angle t changes
    the diagonal by what depends on G = h'h alone, h = (A[p, p] - A[q, q], 2 A[p, q])::

        tan 4t = 2 G_12 / (G_11 - G_22)
    """
    k, V = len(T), _eigenvectors_of_a_slice(T, rng)
    A = np.ascontiguousarray(np.moveaxis(V.T @ T @ V, 0, 2))
    for _ in range(MAX_SWEEPS):
        rotated = False
        for p, q in combinations(range(k), 2):
            on, off = A[p, p] - A[q, q], 2 * A[p, q]
            t = np.arctan2(2 * (on @ off), on @ on - off @ off) / 4
            if abs(t) > SMALL_ANGLE:
                rotated = True
                c, s = np.cos(t), np.sin(t)
                A[p], A[q] = c * A[p] + s * A[q], c * A[q] - s * A[p]
                A[:, p], A[:, q] = c * A[:, p] + s * A[:, q], c * A[:, q] - s * A[:, p]
                V[:, p], V[:, q] = c * V[:, p] + s * V[:, q], c * V[:, q] - s * V[:, p]
        if not rotated:
            break
    return ordered_pairs(T, V)


def stgd(T: Cube, rng: np.random.Generator) -> Eigenpairs:
    """Steps along the gradient of one slice's off-diagonal entries, V kept orthonormal.

    With G = V' T(I, I, theta) V and O its off-diagonal part, V moves by -V (G O - O G) times a
    step.  At the eigenvectors every slice has O = 0: without noise a step of one length converges.
    """
    k = len(T)
    V = np.linalg.qr(rng.standard_normal((k, k)))[0]
    n = STEPS + STEPS_PER_TOPIC * k
    for i in range(2 * n):
        G = V.T @ (T @ rng.standard_normal(k)) @ V
        O = G - np.diag(np.diag(G))
        turn = G @ O
        step = STEP * min(1.0, n / (i + 1)) ** 2 * k / np.sum(G**2)
        V = np.linalg.qr(V - step * (V @ (turn - turn.T)))[0]
    return ordered_pairs(T, V)


def _eigenvectors_of_a_slice(T: Cube, rng: np.random.Generator) -> Square:
    vectors: Square = np.linalg.eigh(T @ rng.standard_normal(len(T)))[1]
    return vectors
