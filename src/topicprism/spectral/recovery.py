"""From eigenpairs back to the parameters of the model.

With (lambda_i, w_i) the eigenpairs of the whitened third moment and a = alpha0::

    alpha_i = 4 a (a+1) / ((a+2)^2 lambda_i^2)
    v_i     = (a+2)/2 lambda_i (W^+)' w_i
    eta_i   = last entry of v_i                        joint
            = (a+2)/2 w_i' My(W, W) w_i                two-stage
    sigma^2 = E[y^2] - eta' E[h h'] eta
              E[h h'] = (alpha alpha' + diag alpha) / (a (a+1))
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from topicprism._typing import Array, Square, Topic
from topicprism.spectral.sketch import Sketch
from topicprism.spectral.tensor import Eigenpairs
from topicprism.spectral.whitening import Whitening

# Of an eigenvalue, when noise is taken off: at the edge of noise the formula takes off all of it
MIN_EIGENVALUE_SHARE = 0.5


def alphas(pairs: Eigenpairs, alpha0: float) -> Topic:
    return alpha0 * (alpha0 + 1) / ((alpha0 + 2) / 2 * pairs.values) ** 2


def directions(pairs: Eigenpairs, space: Whitening, alpha0: float) -> Array:
    """v_i as columns, in the coordinates that were whitened."""
    v: Array = (alpha0 + 2) / 2 * pairs.values * (space.U @ pairs.vectors)
    return v


def power_update(pairs: Eigenpairs, space: Whitening, My: Square, alpha0: float) -> Topic:
    """eta of the two-stage method: no eigenvectors of My, so equal entries do no harm."""
    w = space.W @ pairs.vectors
    eta: Topic = (alpha0 + 2) / 2 * np.einsum("ik,ij,jk->k", w, My, w)
    return eta


def eta_by_diagonalisation(
    pairs: Eigenpairs, space: Whitening, My: Square, alpha0: float
) -> tuple[Topic, Square]:
    """eta as eigenvalues of My(W, W), each for the topic whose w_i is nearest to its eigenvector;
    and these eigenvectors.

    What the paper advises against: where entries of eta are equal, or closer than noise, the
    eigenvectors are any basis of their space, and are not those of topics.
    """
    values, vectors = np.linalg.eigh(space.W.T @ My @ space.W)
    near = (vectors.T @ pairs.vectors) ** 2
    found = linear_sum_assignment(-near.T)[1]
    eta: Topic = (alpha0 + 2) / 2 * values[found]
    return eta, vectors[:, found]


def unexplained(mean_square: float, alpha: Topic, eta: Topic) -> float:
    """sigma^2 = E[y^2] - eta' E[h h'] eta, as the paper has it; 0 where samples leave less."""
    a = alpha.sum()
    explained = ((alpha @ eta) ** 2 + alpha @ eta**2) / (a * (a + 1))
    return float(np.clip(mean_square - explained, 0, mean_square))


def noise_variance(sketch: Sketch, n_topics: int) -> float:
    """sigma^2 = E[y^2] - eta' E[h h'] eta, in the units of the sketch.

    What the topics explain, eta' E[h h'] eta, is b' E[x x]^+ b with b = E[y x], over
    the top k directions: no alpha0 and no tensor is needed to know it.  In a sample noise
    of radius e in the other directions raises an eigenvalue l to l + e^2 / (4 l) and
    tilts its direction by an angle of squared cosine 1 - e^2 / (4 l^2); E[x x] along the
    tilted one is l times that, or sqrt(found^2 - e^2).  In real text the response also has
    a direction of its own, r, the part of b outside these and not due to their tilt.
    It explains (|r|^2 - noise)^2 / r' E[x x] r more.  The sampling noise of b is
    c1 / weight^2 in each of V coordinates.  What is left is known up to w' N w, w being
    E[x x]^+ b and N the noise of E[x x], whose entries have variance c2 / weight^2; less
    than the standard deviation of that is not believed.
    """
    zz = sketch.second / sketch.weight
    xx, b = zz[:-1, :-1], zz[-1, :-1]
    found, top = _leading(sketch, n_topics)
    radius = sketch.noise_radius(sketch.n_seen - n_topics)
    true = np.sqrt(np.maximum(found**2 - radius**2, (MIN_EIGENVALUE_SHARE * found) ** 2))

    noise, along = sketch.c1 / sketch.weight**2, (b @ top) ** 2
    explained = ((along - noise) / true).sum()
    r = b - top @ (top.T @ b)
    tilted = (along * (found / true - 1) / 2).sum()
    signal, variance = r @ r - sketch.n_seen * noise - tilted, r @ xx @ r
    if signal > 1e-12 * (b @ b) and variance > 0:
        explained += signal**2 / variance
    most, least = zz[-1, -1], min(_unsure(sketch, (b @ top) / found), zz[-1, -1])
    return float(np.clip(most - explained, least, most))


def noise_variance_std(sketch: Sketch, n_topics: int) -> float:
    """How far that is off by chance: as above, and by the finite number of responses."""
    found, top = _leading(sketch, n_topics)
    w = sketch.second[-1, :-1] / sketch.weight @ top / found
    drawn = noise_variance(sketch, n_topics) * float(np.sqrt(2 / max(sketch.n, 1)))
    return _unsure(sketch, w) + drawn


def _leading(sketch: Sketch, n_topics: int) -> tuple[Array, Array]:
    """The k largest eigenvalues of E[x x] that are above noise, and their directions."""
    values, vectors = sketch.eigenpairs
    seen = np.flatnonzero(values > max(1e-12 * values[-1], sketch.noise_edge))[-n_topics:]
    return values[seen], vectors[:, seen]


def _unsure(sketch: Sketch, w: Array) -> float:
    return float((w @ w) * np.sqrt(2 * sketch.c2) / sketch.weight)


def to_simplex(M: Array) -> Array:
    """Nearest probability vector to each column, in Euclidean distance."""
    ordered = -np.sort(-M, axis=0)
    ranks = np.arange(1, len(M) + 1)[:, None]
    excess = (np.cumsum(ordered, axis=0) - 1) / ranks
    last = (ordered > excess).sum(axis=0) - 1
    on_simplex: Array = np.maximum(M - np.take_along_axis(excess, last[None], axis=0), 0)
    return on_simplex
