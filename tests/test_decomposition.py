"""Whitening, the tensor power method and the projection, each by itself."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.testing import assert_allclose
from oracles import sym3
from scipy.optimize import minimize
from scipy.sparse.linalg import aslinearoperator

from topicprism import Corpus, decompose, sketch
from topicprism.datasets import make_slda
from topicprism.model import TooManyTopics
from topicprism.spectral import tensor
from topicprism.spectral.recovery import to_simplex
from topicprism.spectral.settings import Settings
from topicprism.spectral.tensor import _iterate, all_at_once, apply, power_method
from topicprism.spectral.whitening import whiten

METHODS = ["exact", "matrix-free", "randomised", "nystrom", "auto"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("wrap", [np.asarray, aslinearoperator])
def test_whitening_makes_the_identity(rng, method, wrap):
    A = rng.standard_normal((80, 4))
    M = A @ A.T
    space = whiten(wrap(M), 4, rng, method)
    assert_allclose(space.W.T @ M @ space.W, np.eye(4), atol=1e-8)
    assert_allclose(space.W.T @ space.U, np.eye(4), atol=1e-8)
    assert_allclose(space.U @ space.U.T, M, atol=1e-8)
    assert_allclose(np.sort(space.values), np.linalg.eigvalsh(M)[-4:], rtol=1e-6)


@pytest.mark.parametrize("method", ["exact", "matrix-free"])
def test_whitening_takes_the_top_of_a_noisy_matrix_in_algebraic_order(rng, method):
    A, E = rng.standard_normal((60, 3)), rng.standard_normal((60, 60))
    M = A @ A.T - 100 * np.eye(60)[:, :1] @ np.eye(60)[:1] + 0.01 * (E + E.T)
    space = whiten(M, 3, rng, method)
    assert_allclose(space.W.T @ M @ space.W, np.eye(3), atol=1e-8)
    assert_allclose(space.values, np.linalg.eigvalsh(M)[:-4:-1])


def test_nystrom_is_close_on_a_noisy_matrix(rng):
    """Its error is that of the noise, not more: the same subspace to 1 %."""
    A, E = rng.standard_normal((200, 3)), rng.standard_normal((200, 200))
    M = A @ A.T + 0.01 * (E + E.T)
    near, top = whiten(M, 3, rng, "nystrom"), whiten(M, 3, rng, "exact")
    Q, P = np.linalg.qr(near.W)[0], np.linalg.qr(top.W)[0]
    assert np.linalg.svd(Q.T @ P, compute_uv=False).min() > 0.99


def test_randomised_whitening_whitens_what_is_of_no_low_rank(rng):
    """A long tail of eigenvalues, as in text: W'MW = I, and the leading ones nearly."""
    Q, _ = np.linalg.qr(rng.standard_normal((400, 400)))
    values = np.maximum(1 / np.arange(1, 401), 0.1)
    M = (Q * values) @ Q.T
    space = whiten(M, 5, rng, "randomised")
    assert_allclose(space.W.T @ M @ space.W, np.eye(5), atol=1e-10)
    assert_allclose(space.W.T @ space.U, np.eye(5), atol=1e-10)
    assert_allclose(space.values, values[:5], rtol=0.06)  # the fifth is nearest the tail
    with pytest.raises(ValueError, match="far from one of rank k"):
        whiten(M, 5, rng, "nystrom")


def test_a_large_matrix_has_the_same_whitening(rng, monkeypatch):
    A = rng.standard_normal((50, 50))
    whole = whiten(A + A.T, 4, rng, "exact")
    monkeypatch.setattr("topicprism.spectral.whitening.MAX_FULL_ROWS", 10)
    assert_allclose(whiten(A + A.T, 4, rng, "exact").W, whole.W, atol=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_whitening_counts_the_positive_eigenvalues(rng, method):
    A = rng.standard_normal((30, 3))
    with pytest.raises(TooManyTopics, match="second moment has only 3 positive") as caught:
        whiten(A @ A.T - 1e-3 * np.eye(30), 5, rng, method)
    assert caught.value.found == 3


def test_nystrom_refuses_a_moment_it_cannot_whiten(rng):
    M = np.diag([3.0, 2.0, 1.0, -50.0] + [0.0] * 56)
    with pytest.raises(ValueError, match=r"'nystrom' gave W'MW from .* use whitening='rand"):
        whiten(M, 3, rng, "nystrom")


def test_a_moment_of_zeros_has_no_topics(rng):
    for method in ("exact", "matrix-free"):
        with pytest.raises(TooManyTopics, match="only 0 positive eigenvalues; no n_topics works"):
            whiten(np.zeros((20, 20)), 3, rng, method)


def orthogonal_tensor(rng, values):
    V, _ = np.linalg.qr(rng.standard_normal((len(values), len(values))))
    return np.einsum("r,ir,jr,lr->ijl", values, V, V, V), V


@pytest.mark.parametrize("values", [[3.0], [3.0, 2.0, 1.0], [1.0] * 12, [100.0, 1.0, 0.01]])
def test_power_method_finds_every_eigenpair(rng, values):
    T, V = orthogonal_tensor(rng, values)
    pairs = power_method(T, rng)
    assert_allclose(sorted(pairs.values), sorted(values), rtol=1e-8)
    overlap = np.abs(V.T @ pairs.vectors).max(axis=1)
    assert_allclose(overlap, 1, atol=1e-8)
    assert pairs.residual < 1e-8


def test_residual_is_the_share_that_is_left(rng):
    T, _ = orthogonal_tensor(rng, [3.0, 2.0, 1.0])
    noise = rng.standard_normal((3, 3, 3))
    noise = sum(noise.transpose(p) for p in [(0, 1, 2), (0, 2, 1), (1, 0, 2)]) + sum(
        noise.transpose(p) for p in [(1, 2, 0), (2, 0, 1), (2, 1, 0)]
    )
    T = T + 0.01 * noise
    pairs = power_method(T, rng)
    rebuilt = np.einsum("r,ir,jr,lr->ijl", pairs.values, *3 * [pairs.vectors])
    assert_allclose(pairs.residual, np.linalg.norm(T - rebuilt) / np.linalg.norm(T))
    assert 0 < pairs.residual < 0.1


def test_power_method_counts_the_positive_eigenvalues(rng):
    T, _ = orthogonal_tensor(rng, [3.0, 2.0, 0.0, 0.0])
    with pytest.raises(TooManyTopics, match="third moment has only 2 positive") as caught:
        power_method(T, rng)
    assert caught.value.found == 2


@pytest.mark.parametrize("seed", range(5))
def test_few_restarts_and_iterations_still_answer(seed):
    """An orthogonal tensor has no bad start: one suffices, whatever pair it finds first."""
    rng = np.random.default_rng(seed)
    T, Q = orthogonal_tensor(rng, [3.0, 2.0, 1.0])
    pairs = power_method(T, rng, n_restarts=1, n_iterations=3)
    order = np.argsort(-pairs.values)
    assert_allclose(pairs.values[order], [3, 2, 1], atol=1e-6)
    assert_allclose(pairs.vectors[:, order], Q, atol=1e-6)
    assert pairs.residual < 1e-6


@pytest.mark.parametrize("values", [[3.0, 2.0, 1.0], [1.0] * 40, [9.0] * 10 + [0.5] * 20])
def test_all_pairs_at_once_are_those_of_an_orthogonal_tensor(rng, values):
    T, V = orthogonal_tensor(rng, values)
    pairs = all_at_once(T, rng)
    assert_allclose(pairs.values, values, rtol=1e-8)
    assert_allclose(np.abs(V.T @ pairs.vectors).max(axis=1), 1, atol=1e-8)
    assert pairs.residual < 1e-6  # a square root of what cancels


def noisy_tensor(rng, k):
    """Eigenvalues from 1 to 2, and symmetric noise that moves eigenvectors by a tenth or so."""
    T, V = orthogonal_tensor(rng, np.linspace(2, 1, k))
    noise = rng.standard_normal((k, k, k))
    noise = sum(noise.transpose(p) for p in permutations(range(3))) / np.sqrt(6)
    return T + 0.1 / np.sqrt(k) * noise, V


@pytest.mark.parametrize(("k", "seed"), [(10, 0), (10, 1), (30, 0), (30, 1), (30, 2), (60, 0)])
def test_all_pairs_at_once_are_as_near_the_truth_as_the_power_methods(k, seed):
    """Mean squared sines of the angles: deflation passes the error of a pair on to the next."""
    rng = np.random.default_rng(seed)
    T, V = noisy_tensor(rng, k)
    ours, theirs = all_at_once(T, rng), power_method(T, rng, n_restarts=10)
    error, other = (1 - (V.T @ p.vectors).max(axis=1) ** 2 for p in (ours, theirs))
    assert 1e-4 < error.mean() < 0.05
    assert error.mean() <= 1.02 * other.mean()
    assert_allclose(ours.vectors.T @ ours.vectors, np.eye(k), atol=1e-12)
    rebuilt = np.einsum("r,ir,jr,lr->ijl", ours.values, *3 * [ours.vectors], optimize=True)
    assert_allclose(ours.residual, np.linalg.norm(T - rebuilt) / np.linalg.norm(T))


def test_all_pairs_at_once_count_the_eigenvalues(rng):
    T, _ = orthogonal_tensor(rng, [3.0, 2.0, 0.0, 0.0])
    with pytest.raises(TooManyTopics, match="third moment has only 2 positive") as caught:
        all_at_once(T, rng)
    assert caught.value.found == 2
    with pytest.raises(TooManyTopics):
        all_at_once(np.zeros((3, 3, 3)), rng)


def test_apply_is_its_docstring(rng):
    T, V = rng.standard_normal((4, 4, 4)), rng.standard_normal((4, 7))
    assert_allclose(apply(T, V), np.einsum("ijl,jr,lr->ir", T, V, V))


@given(npst.arrays(float, (6, 2), elements=st.floats(-10, 10)))
def test_projection_is_on_the_simplex_and_no_point_of_it_is_nearer(M):
    P = to_simplex(M)
    assert_allclose(P.sum(axis=0), 1)
    assert (P >= 0).all()
    # optimality: the gap P - M is smallest, and the same, where P is positive
    for p, m in zip(P.T, M.T, strict=True):
        gap = (p - m)[p > 1e-9]
        assert np.ptp(gap) < 1e-9
        assert ((p - m)[p <= 1e-9] >= gap.min() - 1e-9).all()


def test_projection_agrees_with_a_general_optimiser(rng):
    m = rng.standard_normal(5)
    best = minimize(
        lambda p: ((p - m) ** 2).sum(),
        np.full(5, 0.2),
        bounds=[(0, 1)] * 5,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        tol=1e-12,
    )
    assert_allclose(to_simplex(m[:, None])[:, 0], best.x, atol=1e-6)


@pytest.mark.parametrize("shift", [0.0, 0.7])
def test_the_kernel_iterates_as_numpy_does(rng, monkeypatch, shift):
    A = rng.standard_normal((6, 6))
    noise = sym3(A + A.T, rng.standard_normal(6))
    T = 3 * np.einsum("ri,rj,rl->ijl", *[np.eye(6)] * 3) + 0.1 * noise
    V = rng.standard_normal((6, 9))
    V /= np.linalg.norm(V, axis=0)
    found = []
    for small in (0, 10**9):
        monkeypatch.setattr(tensor, "TENSOR", replace(tensor.TENSOR, max_kernel_products=small))
        found.append([_iterate(T, V, n, shift) for n in (1, 4, 200)])
    for plain, kernel in zip(*found, strict=True):  # which of several at one place stands first
        assert_allclose(kernel, plain, atol=1e-5)  # is up to rounding, and ends it for all
    best = [V[:, np.argmax(np.linalg.norm(apply(T, V), axis=0))] for _, _, V in found]
    assert_allclose(*best, atol=1e-9)
    assert_allclose(found[0][0], found[1][0], atol=1e-14)


@pytest.mark.parametrize("n_restarts", [1, 7, 30])
def test_a_decomposition_takes_one_number_of_the_stream_it_is_given(n_restarts):
    """However many it draws: what comes after it must not depend on its last digits."""
    X, y, _ = make_slda(300, n_words=40, n_topics=3, random_state=0)
    made = sketch(Corpus(X, y), 16, np.random.default_rng(0))
    rng, other = np.random.default_rng(1), np.random.default_rng(1)
    decompose(made, 3, settings=Settings(n_restarts=n_restarts), rng=rng)
    other.integers(2**62)
    assert rng.random() == other.random()
