"""The bounds of the paper's theorems, corrected (docs/errata.md)."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import dirichlet_moments, raw_moments, sym3
from scipy.stats import norm

from topicprism.datasets import draw_corpus, draw_model
from topicprism.documents.corpus import Corpus
from topicprism.model import Model, TooManyTopics
from topicprism.spectral.basis import Basis
from topicprism.spectral.centred import centre, response_slice, words_only
from topicprism.spectral.moments import sketch_sums
from topicprism.spectral.printed import EQUAL_WEIGHT_WORDS
from topicprism.spectral.sketch import without_repeats
from topicprism.spectral.theory import (
    Tails,
    bounds,
    diagnose,
    joint_bounds,
    joint_parameter_bounds,
    parameter_bounds,
)
from topicprism.spectral.whitening import whiten


@pytest.fixture
def model(rng):
    return draw_model(12, 3, rng, alpha=np.array([0.2, 0.5, 0.9]), noise=0.4)


def test_a_response_is_below_R_in_all_documents_as_often_as_it_says(rng, model):
    """One document's bound, delta / 60 as the theorem prints it, does not hold for 1,000."""
    n, delta, trials = 1_000, 0.5, 400
    tails = Tails(float(np.linalg.norm(model.eta)), model.sigma, delta, n)
    h = rng.dirichlet(model.alpha, (trials, n))
    y = h @ model.eta + model.sigma * rng.standard_normal((trials, n))
    largest = np.abs(y).max(axis=1)
    assert (largest < tails.R(1, 4)).mean() >= 1 - delta / 2
    for i in (2, 3):
        assert (largest**i < tails.R(i, 4)).mean() >= 1 - delta / 2
    worst = replace(model, eta=np.array([0.0, 0.0, 3.0]))  # |y| comes to |eta| itself
    y = 3.0 + worst.sigma * rng.standard_normal((trials, n))
    printed = 3.0 - worst.sigma * norm.ppf(delta / 60)
    assert (np.abs(y).max(axis=1) < printed).mean() < 0.01
    with_plus = 3.0 + norm.ppf(delta / (60 * worst.sigma * n))  # Appendix A.4
    assert (np.abs(y).max(axis=1) < with_plus).mean() < 0.01
    right = Tails(3.0, worst.sigma, delta, n).R(1, 4)
    assert (np.abs(y).max(axis=1) < right).mean() >= 1 - delta / 2


def test_the_smallest_eigenvalue_of_m2_is_that_of_the_topics(model):
    """Not alpha_min / (alpha0 (alpha0 + 1)), as the proof has it."""
    a, a0 = model.alpha, model.alpha.sum()
    M2 = np.einsum("k,ik,jk->ij", a, model.mu, model.mu) / (a0 * (a0 + 1))
    smallest = np.sort(np.linalg.eigvalsh(M2))[-3]
    assert_allclose(smallest, diagnose(model, 100).sigma_k ** 2)
    assert smallest < 0.1 * a.min() / (a0 * (a0 + 1))


def test_eigenvalues_times_half_of_a_plus_two_are_not_alpha(model):
    """rho of the proofs: sqrt(a (a+1) / alpha_i), neither below alpha_max nor below a + 1."""
    a0 = model.alpha.sum()
    lam = 2 / (a0 + 2) * np.sqrt(a0 * (a0 + 1) / model.alpha)
    rho = (a0 + 2) / 2 * lam
    assert_allclose(rho, np.sqrt(a0 * (a0 + 1) / model.alpha))
    assert rho.max() > model.alpha.max()
    assert rho.max() > a0 + 1


@pytest.mark.parametrize("epsilon", [0.001, 0.01, 0.03])
def test_the_bound_of_alpha_is_attained_and_the_printed_ones_are_not_bounds(epsilon):
    """At lambda^ = lambda - 5 epsilon, which the tensor power method may return."""
    model = Model(np.full(4, 0.25), np.eye(4), np.zeros(4), 0.0)
    lam = 2 / 3 * np.sqrt(2 / 0.25)
    error = 4 * 2 / 9 * (1 / (lam - 5 * epsilon) ** 2 - 1 / lam**2)
    assert_allclose(parameter_bounds(model, epsilon)[0], error)
    common = 8 / 9 / (lam**2 * (lam - 5 * epsilon) ** 2) * 5 * epsilon
    assert (lam + 5 * epsilon) * common < error  # Theorem 1
    assert common < error  # Theorem 2
    assert_allclose(error, 10 * 0.25 * epsilon / lam, rtol=0.15)  # the simplified form


def test_the_bounds_of_mu_and_eta_hold_for_the_worst_directions(rng):
    """Estimates as far off as they may be: lambda by 5 epsilon, v by 8 epsilon / lambda_min."""
    model = draw_model(12, 3, rng, alpha=np.array([0.2, 0.5, 0.9]), noise=0.4)
    a0, eps = model.alpha.sum(), 0.005
    tilde = np.sqrt(model.alpha / (a0 * (a0 + 1))) * model.mu
    U, d, Vt = np.linalg.svd(tilde, full_matrices=False)
    pinv = U * d  # (W^+)' for W = U / d
    lam, v = 2 / (a0 + 2) * np.sqrt(a0 * (a0 + 1) / model.alpha), Vt
    assert_allclose((a0 + 2) / 2 * lam * (pinv @ v), model.mu, atol=1e-12)
    My = 2 / (a0 + 2) * (v * model.eta) @ v.T
    _, mu_bound, eta_bound = parameter_bounds(model, eps)
    worst = np.zeros(2)
    for _ in range(200):
        for i in range(3):
            step = rng.standard_normal(3)
            step -= (step @ v[:, i]) * v[:, i]
            angle = 2 * np.arcsin(4 * eps / lam.min())
            near = np.cos(angle) * v[:, i] + np.sin(angle) * step / np.linalg.norm(step)
            assert_allclose(np.linalg.norm(near - v[:, i]), 8 * eps / lam.min())
            E = rng.standard_normal((3, 3))
            E = (E + E.T) / np.linalg.norm(E + E.T, 2) * eps
            mu = (a0 + 2) / 2 * (lam[i] + 5 * eps) * pinv @ near
            eta = (a0 + 2) / 2 * near @ (My + E) @ near
            found = np.linalg.norm(mu - model.mu[:, i]), abs(eta - model.eta[i])
            worst = np.maximum(worst, found)
    assert worst[0] < mu_bound
    assert worst[1] < eta_bound
    size = np.linalg.norm(model.eta)
    printed = (size / lam.min() + a0 + 2) * eps
    assert eta_bound > printed


def test_the_bound_of_the_joint_method_holds_for_the_worst_directions(rng):
    """Also for a W^+ that is off by sigma_1 epsilon."""
    model = draw_model(12, 6, rng, noise=0.4)
    a0, eps, k = model.alpha.sum(), 0.005, 6
    both = np.vstack([model.mu, model.eta])
    U, d, w = np.linalg.svd(np.sqrt(model.alpha / (a0 * (a0 + 1))) * both, full_matrices=False)
    pinv, lam = U * d, 2 / (a0 + 2) * np.sqrt(a0 * (a0 + 1) / model.alpha)
    alpha, bound = joint_parameter_bounds(model, eps)
    assert alpha == parameter_bounds(model, eps)[0]
    worst, angle = 0.0, 2 * np.arcsin(4 * eps / lam.min())
    for i in np.tile(np.arange(k), 100):
        step = rng.standard_normal(k)
        step -= (step @ w[:, i]) * w[:, i]
        near = np.cos(angle) * w[:, i] + np.sin(angle) * step / np.linalg.norm(step)
        off = np.outer(rng.standard_normal(13), near)
        off *= d[0] * eps / np.linalg.norm(off, 2)
        found = (a0 + 2) / 2 * (lam[i] + 5 * eps) * (pinv + off) @ near
        worst = max(worst, np.linalg.norm(found - both[:, i]))
    assert bound / 20 < worst < bound
    assert_allclose(bound, (a0 + 2) / 2 * d[0] * (lam[0] + 39) * eps)  # alpha is equal


@pytest.mark.parametrize("alpha0", [0.6, 30.0])
def test_moments_are_off_by_no_more_than_the_bounds(rng, alpha0):
    model = draw_model(12, 3, rng, alpha=alpha0 / 3, noise=0.4)
    n, V = 500, 12
    z, zz, zzz = raw_moments(np.vstack([model.mu, model.eta]), model.alpha, model.sigma**2)
    a0 = model.alpha.sum()
    c = 2 * a0**2 / ((a0 + 1) * (a0 + 2))
    third = zzz - a0 / (a0 + 2) * sym3(zz, z) + c * np.einsum("i,j,l->ijl", z, z, z)
    known = bounds(model, n, delta=0.1)
    for _ in range(20):
        X, y, _ = draw_corpus(model, n, 5, rng)
        basis = Basis(np.eye(V), np.eye(V), 0.0, 1.0)
        sums = sketch_sums(Corpus(X, y), basis.B, 0.0, 1.0, EQUAL_WEIGHT_WORDS)
        m = centre(without_repeats(sums, basis), a0, model.sigma**2)
        M2 = (zz - a0 / (a0 + 1) * np.outer(z, z))[:V, :V]
        assert np.linalg.norm(words_only(m).second - M2) < known.E_P
        assert np.linalg.norm(words_only(m).third - third[:V, :V, :V]) < known.E_T
        assert np.linalg.norm(response_slice(m) - third[:V, :V, V]) < known.E_y


def test_bounds_shrink_with_the_documents_and_are_infinite_with_few():
    mu = np.eye(5)
    model = Model(np.ones(5), mu, np.arange(5.0), 0.1)
    few, many = bounds(model, 1_000), bounds(model, 10**13)
    assert few.mu == few.alpha == few.eta == np.inf
    assert 0 < many.mu < np.inf
    assert_allclose(bounds(model, 4 * 10**13).E_P, many.E_P / 2)


# --- other errors of the paper, one by one ------------------------------------------------


def test_the_printed_moments_of_a_dirichlet_are_none(rng):
    """Appendix C.1: E[h_i^2] = a_i^2 / (a0 (a0+1)) and so on; E[h h'] must sum to one."""
    alpha = np.array([0.2, 0.5, 0.9])
    a0 = alpha.sum()
    printed = np.outer(alpha, alpha) / a0**2
    np.fill_diagonal(printed, alpha**2 / (a0 * (a0 + 1)))
    right = (np.outer(alpha, alpha) + np.diag(alpha)) / (a0 * (a0 + 1))
    assert_allclose(right, dirichlet_moments(alpha)[1])
    assert_allclose(right.sum(), 1)
    assert printed.sum() < 0.9
    h = rng.dirichlet(alpha, 200_000)
    assert_allclose(h.T @ h / len(h), right, atol=0.005)  # five standard errors are 0.004


def test_the_correction_for_a_word_drawn_twice_is_whitened_in_all_three_modes(rng):
    """Appendix C.2 has (W'AW) n for Delta(W, W, W), with a mode of length V."""
    n, W = np.array([3.0, 1.0, 0.0, 2.0]), rng.standard_normal((4, 2))
    Delta = np.einsum("ij,l->ijl", np.diag(n), n)
    whitened = np.einsum("ijl,ia,jb,lc->abc", Delta, W, W, W)
    A = W.T @ np.diag(n) @ W
    assert_allclose(whitened, np.multiply.outer(A, W.T @ n))
    assert np.multiply.outer(A, n).shape != whitened.shape


def test_the_response_belongs_to_the_third_factor(rng):
    """Appendix C.1 has h_i h_j h_k eta_k mu_j mu_k for E[y x x | h]."""
    h, eta, mu = rng.dirichlet(np.ones(3)), rng.standard_normal(3), rng.random((5, 3))
    right = (eta @ h) * np.outer(mu @ h, mu @ h)
    assert_allclose(np.einsum("i,j,k,k,ai,bj->ab", h, h, h, eta, mu, mu), right)
    printed = np.einsum("i,j,k,k,aj,bk->ab", h, h, h, eta, mu, mu)
    assert not np.allclose(printed, right)


def test_the_mean_constant_of_third_moments_is_13_and_not_10():
    """1 + 6 a/(a+2) + 6 a^2/((a+1)(a+2)), at most 10 where alpha0 is at most 7.77."""

    def constant(a0):
        model = Model(np.full(2, a0 / 2), np.eye(2), np.zeros(2), 0.0)
        known = bounds(model, 10_000)
        return known.E_T * 100 / (2 + np.sqrt(2 * np.log(9 / 0.05)))

    assert_allclose(constant((7 + np.sqrt(73)) / 2), 10)
    assert constant(7.7) < 10 < constant(7.8)
    assert 12.9 < constant(1e4) < 13


def test_three_factors_make_56_and_not_54():
    """2 / ((a+1)(a+2)) x 4 E_P / s^3 x (1 + 2 + 4) / s^2, the lemma of whitened third moments."""
    model = Model(np.ones(3), np.eye(3), np.zeros(3), 0.0)
    known = bounds(model, 10_000)
    s = diagnose(model, 10_000).sigma_k
    rest = known.epsilon_t - 8 * known.E_T / s**3
    assert_allclose(rest * 20 * s**5 / known.E_P, 2 * 4 * (1 + 2 + 4))


def test_topics_of_unequal_size_break_a_remark_but_not_its_end(rng):
    """sqrt(alpha_max / (a (a+1))) sigma_1(O) need not be below 1 / sqrt(a+1); sigma_1(O~) is."""
    model = Model(np.array([5.0, *np.full(9, 0.1)]), np.full((4, 10), 0.25), np.zeros(10), 0.0)
    model = replace(model, mu=np.repeat(np.eye(4)[:, :1], 10, axis=1))
    a0 = model.alpha.sum()
    middle = np.sqrt(5.0 / (a0 * (a0 + 1))) * np.linalg.norm(model.mu, 2)
    assert middle > 1 / np.sqrt(a0 + 1)
    assert diagnose(model, 100).sigma_1 <= 1 / np.sqrt(a0 + 1) + 1e-12


@pytest.mark.parametrize("k", [5, 40])
def test_with_equal_alphas_many_topics_need_k_and_not_its_cube(k):
    """max(1/epsilon^2, k^2/lambda_min^2) of n_3: lambda_min^2 is 8k/9 where alpha_i = 1/k."""
    model = Model(np.full(k, 1 / k), np.eye(k), np.zeros(k), 0.0)
    known = diagnose(model, 100, epsilon=1e3, delta=0.05)
    assert_allclose(known.lambda_min**2, 8 * k / 9)
    rest = known.two_stage[2] * known.sigma_k**10 / (1 + np.sqrt(np.log(9 / 0.05))) ** 2
    assert_allclose(rest, 9 * k / 8)
    factor = 2 + np.sqrt(2 * np.log(18 / 0.05))
    assert_allclose(known.joint[2] * known.joint_sigma_k**10 / factor**2, 9 * k / 8)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_joint_method_is_not_promised_to_need_fewer_documents(seed):
    """Its sigma_k is larger, but n_3' has C_3 squared, which no sigma_k makes up for here."""
    model = draw_model(500, 20, np.random.default_rng(seed), noise=0.1)
    known = diagnose(model, 2**15)
    assert known.sigma_k <= known.joint_sigma_k
    assert known.joint[2] > known.two_stage[2]


def test_norms_of_the_whitening_and_of_the_whitened_moment_of_the_response(rng, model):
    """|W^+| is sigma_1, not only below 3 sigma_1; |My(W, W)| has max |eta_i|, not |eta|."""
    a, a0 = model.alpha, model.alpha.sum()
    M2 = np.einsum("k,ik,jk->ij", a, model.mu, model.mu) / (a0 * (a0 + 1))
    My = 2 * np.einsum("k,ik,jk->ij", a * model.eta, model.mu, model.mu)
    My /= a0 * (a0 + 1) * (a0 + 2)
    W = whiten(M2, 3, rng).W
    assert_allclose(np.linalg.norm(np.linalg.pinv(W), 2), diagnose(model, 100).sigma_1)
    sampled = M2 + 0.01 * np.diag(rng.random(12))
    whitened = [V.T @ M @ V for M in (M2, sampled) for V in [whiten(M, 3, rng).W]]
    assert_allclose(whitened, [np.eye(3)] * 2, atol=1e-12)  # so that they do not differ
    with pytest.raises(ValueError, match="mismatch"):
        W @ M2  # W M2 W' has no meaning
    norm_of = np.linalg.norm(W.T @ My @ W, 2)
    assert_allclose(norm_of, 2 / (a0 + 2) * np.abs(model.eta).max())
    signed = replace(model, eta=np.array([-1.0, 0.5, 2.0]))
    My = 2 * np.einsum("k,ik,jk->ij", a * signed.eta, model.mu, model.mu) / (a0 * (a0 + 1))
    found = np.linalg.eigvalsh(W.T @ My @ W)  # times a + 2; no singular values
    assert_allclose(found, 2 * signed.eta)
    assert norm_of < 0.95 * 2 / (a0 + 2) * np.linalg.norm(model.eta)


def test_topics_come_back_by_transposes(rng, model):
    """W is V x k: W'mu_i are k numbers, and (W^+)' leads back from them."""
    a, a0, mu = model.alpha, model.alpha.sum(), model.mu
    W = whiten(np.einsum("k,ik,jk->ij", a, mu, mu) / (a0 * (a0 + 1)), 3, rng).W
    assert W.shape == mu.shape == (12, 3)
    w, lam = np.sqrt(a / (a0 * (a0 + 1))) * (W.T @ mu), 2 / (a0 + 2) * np.sqrt(a0 * (a0 + 1) / a)
    assert_allclose(w.T @ w, np.eye(3), atol=1e-12)
    assert_allclose((a0 + 2) / 2 * lam * (np.linalg.pinv(W).T @ w), mu, atol=1e-12)
    third = 2 * np.einsum("k,ik,jk,lk->ijl", a, *[W.T @ mu] * 3) / (a0 * (a0 + 1) * (a0 + 2))
    assert_allclose(np.einsum("ijl,jk,lk->ik", third, w, w), lam * w, atol=1e-12)


def test_an_error_as_large_as_the_smallest_eigenvalue_leaves_nothing_to_whiten(rng, model):
    """E_P <= sigma_k(M2), which Appendix A.4 asks for; its lemma asks for half of that."""
    a, a0 = model.alpha, model.alpha.sum()
    values, vectors = np.linalg.eigh(
        np.einsum("k,ik,jk->ij", a, model.mu, model.mu) / (a0 * (a0 + 1))
    )
    values[-3] = 0.0
    with pytest.raises(TooManyTopics):
        whiten(vectors * values @ vectors.T, 3, rng)


@pytest.mark.parametrize(("a0", "follows"), [(1.0, True), (77.0, True), (1000.0, False)])
def test_a_condition_of_the_joint_proof_follows_for_a_moderate_alpha0(a0, follows):
    """6 E_P / sigma_k^2 <= epsilon, from 54 E_P / ((a+1)(a+2) sigma_k^5) <= epsilon."""
    known = diagnose(Model(np.full(2, a0 / 2), np.eye(2), np.array([0.0, 5.0]), 0.1), 100)
    s = known.joint_sigma_k
    assert s**2 <= known.sigma_1**2 <= 1 / (a0 + 1) + 1e-12
    E_P = (a0 + 1) * (a0 + 2) * s**5 / 54  # the largest for epsilon = 1
    assert (6 * E_P / s**2 <= 1) == ((a0 + 1) * (a0 + 2) * s**3 <= 9) == follows


def test_one_word_with_itself_is_diagonal(rng, model):
    """Section 5.1 has E[y x2 x2] for the moment of the response, which is of two words."""
    X, y, _ = draw_corpus(model, 200, 1, rng)
    moment = np.einsum("d,di,dj->ij", y, X.toarray(), X.toarray())
    assert_allclose(moment, np.diag(np.diag(moment)))


def test_the_third_joint_moment_is_larger_than_that_of_words_may_be(model):
    """Its proof takes over |M3| <= 2/((a+1)(a+2)); with v_i for mu_i, |v_i|^3 is to be added."""
    large = replace(model, eta=np.array([2.0, 2.5, 3.0]))
    a, a0 = large.alpha, large.alpha.sum()
    v = np.vstack([large.mu, large.eta])
    N3 = 2 * np.einsum("k,ik,jk,lk->ijl", a, v, v, v) / (a0 * (a0 + 1) * (a0 + 2))
    printed = 2 / ((a0 + 1) * (a0 + 2))
    assert N3[-1, -1, -1] > 8 * printed  # the operator norm is no less
    assert np.linalg.norm(N3) <= printed * np.linalg.norm(v, axis=0).max() ** 3


@pytest.mark.parametrize("alpha0", [0.6, 30.0])
def test_joint_moments_are_off_by_no_more_than_the_bounds(rng, alpha0):
    model = draw_model(12, 3, rng, alpha=alpha0 / 3, noise=0.4)
    n, V, a0, sigma2 = 500, 12, model.alpha.sum(), model.sigma**2
    v = np.vstack([model.mu, model.eta])
    N2 = np.einsum("k,ik,jk->ij", model.alpha, v, v) / (a0 * (a0 + 1))
    N3 = 2 * np.einsum("k,ik,jk,lk->ijl", model.alpha, v, v, v) / (a0 * (a0 + 1) * (a0 + 2))
    known = joint_bounds(model, n, delta=0.1)
    for _ in range(20):
        X, y, _ = draw_corpus(model, n, 5, rng)
        basis = Basis(np.eye(V), np.eye(V), 0.0, 1.0)
        sums = sketch_sums(Corpus(X, y), basis.B, 0.0, 1.0, EQUAL_WEIGHT_WORDS)
        m = centre(without_repeats(sums, basis), a0, sigma2)
        assert np.linalg.norm(m.second - N2) < known.E_P
        assert np.linalg.norm(m.third - N3) < known.E_T
    many = joint_bounds(Model(np.ones(5), np.eye(5), np.arange(5.0) / 5, 0.1), 10**18)
    assert known.alpha == known.v == np.inf
    assert 0 < many.v < np.inf
