"""On the moments of infinitely many documents, the truth comes back to rounding."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import (
    dirichlet_moments,
    population_basis,
    population_sketch,
    raw_moments,
    sym3,
    unequal_model,
)

from topicprism import Settings, decompose
from topicprism.evaluation import match
from topicprism.spectral.basis import Basis
from topicprism.spectral.centred import centre, response_slice, words_only
from topicprism.spectral.decompose import eigenpairs
from topicprism.spectral.recovery import (
    directions,
    eta_by_diagonalisation,
    noise_variance,
    noise_variance_std,
    power_update,
)
from topicprism.spectral.settings import DECOMPOSITIONS
from topicprism.spectral.sketch import Sketch
from topicprism.spectral.tensor import in_space, power_method
from topicprism.spectral.whitening import whiten

TOL = 1e-8


def assert_recovered(model, truth):
    same = model.reordered(match(model, truth))
    assert_allclose(same.mu, truth.mu, atol=TOL)
    assert_allclose(same.alpha, truth.alpha, atol=TOL)
    assert_allclose(same.eta, truth.eta, atol=TOL)
    assert_allclose(same.sigma, truth.sigma, atol=TOL)


@pytest.mark.parametrize("method", ["joint", "two-stage"])
@pytest.mark.parametrize("whitening", ["exact", "matrix-free", "nystrom"])
@pytest.mark.parametrize("seed", range(5))
def test_both_algorithms_recover_the_truth(method, whitening, seed):
    rng = np.random.default_rng(seed)
    truth = unequal_model(rng)
    basis = population_basis(truth, rng, centre=0.7, scale=2.5)
    solution = decompose(
        population_sketch(truth, basis),
        truth.n_topics,
        truth.alpha.sum(),
        Settings(method=method, whitening=whitening),
        rng=rng,
    )
    assert_recovered(solution.model, truth)
    assert solution.residual < TOL


@pytest.mark.parametrize("decomposition", DECOMPOSITIONS)
@pytest.mark.parametrize("method", ["joint", "two-stage"])
def test_many_topics_are_recovered(rng, method, decomposition):
    truth = unequal_model(rng, n_words=120, n_topics=40)
    sketch = population_sketch(truth, population_basis(truth, rng))
    settings = Settings(method, decomposition=decomposition)
    assert_recovered(decompose(sketch, 40, truth.alpha.sum(), settings, rng=rng).model, truth)


@pytest.mark.parametrize("C", [1e-2, 1.0, 100.0, None])
def test_no_scale_of_the_words_changes_the_joint_answer(rng, C):
    truth = unequal_model(rng)
    sketch = population_sketch(truth, population_basis(truth, rng))
    settings = Settings(word_scale=C, noise_variance=truth.sigma**2)
    solution = decompose(sketch, truth.n_topics, truth.alpha.sum(), settings, rng=rng)
    assert_recovered(solution.model, truth)


def test_centred_moments_are_sums_over_topics(rng):
    truth = unequal_model(rng)
    a, a0 = truth.alpha, truth.alpha.sum()
    basis = population_basis(truth, rng)
    m = centre(population_sketch(truth, basis), a0, truth.sigma**2)
    v = np.vstack([basis.B.T @ truth.mu, truth.eta])
    c2, c3 = 1 / (a0 * (a0 + 1)), 2 / (a0 * (a0 + 1) * (a0 + 2))
    assert_allclose(m.second, c2 * np.einsum("k,ik,jk->ij", a, v, v), atol=1e-14)
    assert_allclose(m.third, c3 * np.einsum("k,ik,jk,lk->ijl", a, v, v, v), atol=1e-14)

    mu = basis.B.T @ truth.mu
    assert_allclose(words_only(m).third, c3 * np.einsum("k,ik,jk,lk->ijl", a, mu, mu, mu), atol=TOL)
    assert_allclose(response_slice(m), c3 * np.einsum("k,ik,jk->ij", a * truth.eta, mu, mu))


def test_the_printed_definition_of_n3_misses_its_target(rng):
    """Definition 2 of the paper, as printed, on the moments it is meant for."""
    truth = unequal_model(rng, n_words=6, n_topics=3)
    a, s2 = truth.alpha.sum(), truth.sigma**2
    v = np.vstack([truth.mu, truth.eta])
    z, zz, zzz = raw_moments(v, truth.alpha, s2)
    e = np.zeros(7)
    e[-1] = 1
    ee, eee = np.outer(e, e), np.einsum("i,j,l->ijl", e, e, e)
    c = 2 * a**2 / ((a + 1) * (a + 2))
    z3 = np.einsum("i,j,l->ijl", z, z, z)
    target = np.einsum("k,ik,jk,lk->ijl", truth.alpha, v, v, v) * 2 / (a * (a + 1) * (a + 2))

    printed = (
        zzz - a / (a + 1) * sym3(zz, z) + c * z3 + 3 * s2 * z[-1] * eee + s2 / (a + 1) * sym3(ee, z)
    )
    ours = zzz - a / (a + 2) * sym3(zz, z) + c * z3 - 2 * s2 / (a + 2) * sym3(ee, z)
    assert_allclose(ours, target, atol=1e-14)
    assert np.linalg.norm(printed - target) > 0.1 * np.linalg.norm(target)


def test_noise_variance_is_what_the_topics_leave_of_the_mean_square(rng):
    truth = unequal_model(rng)
    sketch = population_sketch(truth, population_basis(truth, rng))
    _, hh, _ = dirichlet_moments(truth.alpha)
    mean_square = sketch.second[-1, -1] / sketch.weight
    expected = mean_square - truth.eta @ hh @ truth.eta
    assert_allclose(noise_variance(sketch, truth.n_topics), expected)
    assert_allclose(expected, truth.sigma**2)


def test_noise_variance_counts_a_direction_that_only_the_response_has(rng):
    """Twelve coordinates of equal variance, the last of which alone moves y: sigma^2 = 0.36."""
    basis = Basis(np.eye(12), np.eye(12), 0.0, 1.0)
    first = np.array([*np.ones(12), 0.0])  # each word counts for one
    second = np.diag([*np.linspace(2, 1, 12), 1.0])
    second[-1, -2] = second[-2, -1] = 0.8
    sketch = Sketch(basis, 1, first, second, np.zeros((13, 13, 13)))
    assert_allclose(noise_variance(sketch, 3), 1 - 0.64)
    # were it all sampling noise, it would explain nothing
    noisy = Sketch(basis, 1, first, second, np.zeros((13, 13, 13)), c1=0.64 / 12)
    assert_allclose(noise_variance(noisy, 3), 1)


def test_a_noise_variance_below_its_own_error_is_not_believed():
    """All of y is explained by one direction of variance 2; w = 1 / sqrt(2) times that."""
    basis = Basis(np.eye(12), np.eye(12), 0.0, 1.0)
    first = np.array([*np.ones(12), 0.0])
    second = np.diag([*np.linspace(2, 1, 12), 1.0])
    second[-1, 0] = second[0, -1] = np.sqrt(2)
    exact = Sketch(basis, 1, first, second, np.zeros((13, 13, 13)), 10**6)
    assert_allclose(noise_variance(exact, 3), 0, atol=1e-12)
    noisy = Sketch(basis, 1, first, second, np.zeros((13, 13, 13)), 10**6, c2=1e-6)
    assert_allclose(noise_variance(noisy, 3), 0.5 * np.sqrt(2e-6))
    error = 0.5 * np.sqrt(2e-6)
    assert_allclose(noise_variance_std(noisy, 3), error * (1 + np.sqrt(2e-6)))


def test_the_mean_response_divides_by_alpha0(rng):
    """The paper has E[y] = eta . alpha."""
    truth = unequal_model(rng)
    sketch = population_sketch(truth, population_basis(truth, rng))
    assert_allclose(sketch.first[-1] / sketch.weight, truth.eta @ truth.alpha / truth.alpha.sum())


def test_one_sketch_serves_many_fits(rng):
    """Smaller k and other alpha0 need no document: only the sketch is passed.

    The truth comes back at its own k and alpha0 alone, and fewer topics are some mixture of it:
    no farther from the topics than these are from each other.
    """
    truth = unequal_model(rng)
    sketch = population_sketch(truth, population_basis(truth, rng))
    right = truth.alpha.sum()
    apart = max(np.abs(truth.mu[:, [i]] - truth.mu).sum(axis=0).max() for i in range(5))
    for k in range(1, 6):
        for alpha0 in (0.5, right, 4.0):
            model = decompose(sketch, k, alpha0, rng=rng).model
            far = np.abs(model.mu[:, :, None] - truth.mu[:, None]).sum(axis=0).min(axis=1)
            assert model.mu.shape == (40, k)
            assert (far < apart).all()
            exact = k == 5 and alpha0 == right
            assert (far.max() < 1e-6) == exact
            assert (np.abs(np.sort(model.alpha) - np.sort(truth.alpha)[-k:]).max() < 1e-6) == exact


def test_more_topics_than_the_second_moment_carries_says_how_many(rng):
    truth = unequal_model(rng)
    sketch = population_sketch(truth, population_basis(truth, rng))
    message = r"n_topics=7, but the second moment has only 5 positive .* works here is 5"
    with pytest.raises(ValueError, match=message):
        decompose(sketch, 7, truth.alpha.sum(), Settings("two-stage"), rng=rng)


def test_eta_by_diagonalisation_needs_entries_that_differ(rng):
    """As the paper says of My: its eigenvectors are topics only where no two effects are equal."""
    for equal in (False, True):
        truth = unequal_model(rng)  # whose first two effects are equal
        truth = truth if equal else replace(truth, eta=np.arange(5.0))
        basis, a0 = population_basis(truth, rng), truth.alpha.sum()
        m = centre(population_sketch(truth, basis), a0, truth.sigma**2)
        space = whiten(words_only(m).second, 5, rng)
        pairs = power_method(in_space(words_only(m).third, space.W), rng)
        eta, vectors = eta_by_diagonalisation(pairs, space, response_slice(m), a0)
        assert_allclose(eta, power_update(pairs, space, response_slice(m), a0), atol=TOL)
        mu = basis.lift @ directions(replace(pairs, vectors=vectors), space, a0)
        mu = mu / mu.sum(axis=0)
        right = basis.lift @ directions(pairs, space, a0)
        error = np.abs(mu - right).sum(axis=0).max()
        assert error > 0.1 if equal else error < 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_noise_costs_one_slice_more_than_all_of_them(seed):
    """T = sum of w w w + noise: the errors of the four decompositions, the largest over w."""
    rng, k = np.random.default_rng(seed), 30
    Q = np.linalg.qr(rng.standard_normal((k, k)))[0]
    E = rng.standard_normal((k, k, k))
    E = sum(E.transpose(order) for order in permutations(range(3))) / 6
    T = np.einsum("ir,jr,lr->ijl", Q, Q, Q, optimize=True) + 0.003 * E
    error = {}
    for name in DECOMPOSITIONS:
        V = eigenpairs(T, Settings(decomposition=name), rng).vectors
        assert_allclose(V.T @ V, np.eye(k), atol=0.1)
        error[name] = 1 - np.abs(V.T @ Q).max(axis=0).min()
    for name in ("power", "all at once", "simultaneous", "stgd"):
        assert error[name] < 0.01
    assert error["two-svd"] > 5 * error["simultaneous"]
