"""VariationalSLDA, AnchorLDA and DiscLDA against their definitions, and seen from outside."""

import math
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from planted import planted
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import digamma, gammaln, softmax
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import topicprism
from topicprism import (
    AnchorLDA,
    AnchorSLDA,
    DiscLDA,
    FewerTopicsWarning,
    SpectralSLDA,
    VariationalSLDA,
    VariationalSLDAClassifier,
)
from topicprism.datasets import draw_corpus, make_slda
from topicprism.evaluation import recovery_errors
from topicprism.kernels import variational as kernels
from topicprism.kernels.simplex import on_simplex
from topicprism.model import Model
from topicprism.relatives import anchors, disclda, variational
from topicprism.samplers.state import observe

FEW = {"n_iterations": 3}
CHECKED = [
    VariationalSLDA(2, **FEW),
    VariationalSLDAClassifier(2, **FEW),
    AnchorLDA(1),
    AnchorSLDA(1),
    AnchorSLDA(1, refit=False, alpha0=1.0),
    DiscLDA(10, **FEW),
]


def fractions(estimator):
    """A check that predicts from fractions, which are refused as counts."""
    why = "predicts from numbers that are no counts"
    return {"check_decision_proba_consistency": why} if hasattr(estimator, "predict_proba") else {}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(CHECKED, expected_failed_checks=fractions)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def corpus():
    return make_slda(1500, n_words=80, n_topics=3, doc_length=(30, 60), random_state=0)


# --- variational: the bound -----------------------------------------------------------


def tiny(rng, n_topics=3, n_words=5):
    """Four documents of one to four words, and q of each at random."""
    X = csr_array(np.array([[1, 0, 0, 0, 0], [0, 2, 1, 0, 0], [1, 0, 0, 1, 1], [0, 0, 3, 0, 1]]))
    tokens = variational.Tokens(observe(X, np.empty((0, 0)), "assignments").X)
    phi = rng.dirichlet(np.ones(n_topics), size=tokens.X.nnz)
    alpha = rng.uniform(0.3, 1.0, n_topics)
    mu = rng.dirichlet(np.ones(n_words), size=n_topics).T
    return tokens, phi, alpha, mu


def gamma_of(tokens, phi, alpha):
    return alpha + np.add.reduceat(phi, tokens.X.indptr[:-1], axis=0)


def words_bound(words, phi, gamma, alpha, mu):
    """E_q[log p(h) + log p(z | h) + log p(words | z) - log q(h) - log q(z)], term by term."""
    log_h = digamma(gamma) - digamma(gamma.sum())

    def log_density(a):  # E_q of that of a Dirichlet(a)
        return gammaln(a.sum()) - gammaln(a).sum() + (a - 1) @ log_h

    each = phi * (log_h + np.log(mu[words]) - np.log(phi))
    return log_density(alpha) - log_density(gamma) + each.sum()


def expected(phi, value):
    """E_q[value(zbar)] by enumeration of the topics of all words."""
    n, k = phi.shape
    total = 0.0
    for z in product(range(k), repeat=n):
        p = math.prod(phi[j, i] for j, i in enumerate(z))
        total += p * value(np.bincount(z, minlength=k) / n)
    return total


def rows_of(tokens):
    return [slice(*edge) for edge in zip(tokens.X.indptr[:-1], tokens.X.indptr[1:], strict=True)]


def in_one(part):
    return [part(slice(0, 4))]


def test_the_bound_of_a_number_is_its_definition(rng):
    tokens, phi, alpha, mu = tiny(rng)
    y, eta, noise = rng.normal(size=4), rng.normal(size=3), 0.3
    gamma = gamma_of(tokens, phi, alpha)
    p = variational.Parameters(mu, eta, noise)
    z = (gamma - alpha) / tokens.lengths[:, None]
    bound, found = 0.0, np.empty(4)
    for d, rows in enumerate(rows_of(tokens)):
        bound += expected(
            phi[rows], lambda z, t=y[d]: -((t - eta @ z) ** 2) / (2 * noise)
        ) - 0.5 * np.log(2 * np.pi * noise)
    assert_allclose(variational.Number(y).bound(tokens, z, phi, p, in_one), bound)
    kernels.gaussian(  # no sweep: what words contribute, as q is
        tokens.X.indptr, tokens.X.indices, np.log(mu), alpha, y, eta, noise, 0, 0.0, phi, gamma,
        found,
    )  # fmt: skip
    each = zip(rows_of(tokens), gamma, strict=True)
    words = [words_bound(tokens.X.indices[r], phi[r], g, alpha, mu) for r, g in each]
    assert_allclose(found, words)


def test_the_bound_of_a_class_is_its_definition_and_below_the_expected_logarithm(rng):
    tokens, phi, alpha, mu = tiny(rng)
    label, eta = np.array([0, 1, 2, 1]), 3 * rng.normal(size=(3, 3))
    z = (gamma_of(tokens, phi, alpha) - alpha) / tokens.lengths[:, None]
    bound = exact = 0.0
    for c, rows in zip(label, rows_of(tokens), strict=True):
        some = phi[rows]
        own = expected(some, lambda z, c=c: eta[c] @ z)
        bound += own - np.log(expected(some, lambda z: np.exp(eta @ z).sum()))
        exact += own - expected(some, lambda z: np.log(np.exp(eta @ z).sum()))
    p = variational.Parameters(mu, eta)
    found = variational.Label(label, 3).bound(tokens, z, phi, p, in_one)
    assert_allclose(found, bound)
    assert found < exact
    gradient = np.zeros((3, 3))
    kernels.class_bound(tokens.X.indptr, label, phi, eta, gradient)
    step = 1e-6
    for c, i in product(range(3), repeat=2):
        sides = []
        for sign in (1, -1):
            moved = eta.copy()
            moved[c, i] += sign * step
            sides.append(variational.Label(label, 3).bound(
                tokens, z, phi, replace(p, eta=moved), in_one
            ))  # fmt: skip
        assert_allclose(gradient[c, i], (sides[0] - sides[1]) / (2 * step), atol=1e-7)


def test_a_sweep_ends_where_no_optimiser_finds_more(rng):
    """One document, phi and gamma free: the stationary point of coordinate ascent is one of the
    bound itself, written in softmax coordinates."""
    tokens, phi, alpha, mu = tiny(rng)
    d, y, eta, noise = 3, np.array([0.7]), rng.normal(size=3), 0.05
    rows = rows_of(tokens)[d]
    words, q = tokens.X.indices[rows], phi[rows].copy()
    gamma, found = (alpha + q.sum(axis=0))[None], np.empty(1)
    kernels.gaussian(
        np.array([0, 4]), words, np.log(mu), alpha, y, eta, noise, 10_000, 1e-12, q, gamma, found
    )

    def value(flat):
        phi = softmax(flat[:12].reshape(4, 3), axis=1)
        gamma = np.exp(flat[12:])
        squares = expected(phi, lambda z: (y[0] - eta @ z) ** 2)
        return -words_bound(words, phi, gamma, alpha, mu) + squares / (2 * noise)

    here = np.concatenate([np.log(q).ravel(), np.log(gamma[0])])
    best = minimize(value, here, method="BFGS")
    assert_allclose(value(here), best.fun, atol=1e-8)
    assert_allclose(softmax(best.x[:12].reshape(4, 3), axis=1), q, atol=1e-4)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_never_falls(n_classes, seed):
    X, y, _ = make_slda(200, n_words=30, n_topics=3, doc_length=(1, 20), random_state=seed)
    kind, target = VariationalSLDA, y
    if n_classes:
        kind = VariationalSLDAClassifier
        target = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    model = kind(4, random_state=seed, tolerance=0.0, n_iterations=40).fit(X, target)
    assert len(model.bound_) > 10
    rise = np.diff(model.bound_)
    assert rise.min() > -1e-9 * abs(model.bound_[-1])  # rounding of a sum of thousands
    assert rise[0] > 1


# --- variational: the estimators ------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_variational_slda_learns_the_truth(corpus, seed):
    """Three standard errors of a coefficient are about 0.1."""
    X, y, truth = corpus
    model = VariationalSLDA(3, random_state=seed, tolerance=1e-6).fit(X[:1000], y[:1000])
    assert_allclose(model.coef_, np.sort(truth.eta), atol=0.15)
    best = SpectralSLDA(3, random_state=0).fit(X[:1000], y[:1000])
    best.model_ = truth
    assert model.score(X[1000:], y[1000:]) > best.score(X[1000:], y[1000:]) - 0.04
    assert not hasattr(model, "coef_std_")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", [VariationalSLDAClassifier, DiscLDA])
def test_classifiers_separate_planted_classes(rng, kind, n_classes):
    X, label = planted(n_classes, rng)
    model = kind(n_classes + 1, random_state=0).fit(X[:400], label[:400])
    assert model.score(X[400:], label[400:]) > 0.95
    side, p = model.decision_function(X), model.predict_proba(X)
    assert side.shape == ((600,) if n_classes == 2 else (600, 3))
    assert_allclose(p.sum(axis=1), 1)
    assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])
    odds = np.log(p[:, 1] / p[:, 0]) if n_classes == 2 else np.log(p[:, 2] / p[:, 0])
    sides = side if n_classes == 2 else side[:, 2] - side[:, 0]
    assert_allclose(odds, sides, atol=1e-6, rtol=1e-6)


ALL = [
    VariationalSLDA(3, n_iterations=5, random_state=0),
    AnchorSLDA(3, random_state=0),
    AnchorSLDA(3, refit=False, random_state=0),
]


@pytest.mark.parametrize("estimator", ALL, ids=["variational", "anchors", "anchors-one-pass"])
@pytest.mark.parametrize(("a", "b"), [(1000.0, 0.0), (1.0, 100.0), (-3.0, 7.0)])
def test_units_of_the_response_change_nothing_but_the_units(corpus, estimator, a, b):
    X, y, _ = corpus
    plain, moved = (clone(estimator).fit(X, t) for t in (y, a * y + b))
    assert_allclose((moved.predict(X) - b) / a, plain.predict(X), atol=1e-6)
    assert_allclose(moved.noise_variance_ / a**2, plain.noise_variance_, rtol=1e-6)
    order = slice(None, None, -1 if a < 0 else 1)
    assert_allclose(moved.components_[order], plain.components_, atol=1e-8)


@pytest.mark.parametrize(
    "estimator", [*ALL, VariationalSLDAClassifier(3), DiscLDA(3), AnchorLDA(3)]
)
def test_the_number_of_jobs_changes_no_bit(corpus, estimator):
    X, y = corpus[0][:300], corpus[1][:300]
    target = y > np.median(y) if hasattr(estimator, "predict_proba") else y
    some = {"n_iterations": 4} if hasattr(estimator, "n_iterations") else {}
    one, two = (
        clone(estimator).set_params(n_jobs=n, random_state=0, **some).fit(X, target) for n in (1, 2)
    )
    assert_array_equal(one.components_, two.components_)
    assert_array_equal(one.transform(X), two.transform(X))


def test_empty_documents_take_no_part(corpus):
    X, y = corpus[0][:200].toarray(), corpus[1][:200]
    more = np.concatenate([X, np.zeros((2, 80), int)])
    some = {"n_iterations": 5, "random_state": 0}
    plain = VariationalSLDA(3, **some).fit(X, y - y.mean())
    also = VariationalSLDA(3, **some).fit(more, np.concatenate([y - y.mean(), [0.0, 0.0]]))
    assert_allclose(also.components_, plain.components_, atol=0.02)  # y of another variance
    label = np.concatenate([y > np.median(y), [True, False]])
    for kind in (VariationalSLDAClassifier, DiscLDA):
        assert kind(3, **some).fit(more, label).predict(more).shape == (202,)
    assert AnchorLDA(3).fit(more).transform(more).shape == (202, 3)


@pytest.mark.parametrize(
    "estimator", [VariationalSLDA(3, noise_start=0.01), AnchorSLDA(3), AnchorSLDA(3, refit=False)]
)
@pytest.mark.parametrize("seed", range(2))
def test_deviations_hold_new_responses_at_their_nominal_rate(estimator, seed):
    """95 % of 1,000 lie within 1.96 of them, give or take 1.4 %, and half of the documents know
    less than all: 92 to 98 %.  Those of the model alone may be far too small."""
    X, y, _ = make_slda(2000, n_words=80, n_topics=3, doc_length=30, noise=0.3, random_state=seed)
    model = clone(estimator).set_params(random_state=0).fit(X[:1000], y[:1000])
    y_hat, std = model.predict(X[1000:], return_std=True)
    assert 0.92 < (np.abs(y[1000:] - y_hat) < 1.96 * std).mean() < 0.98
    alone = clone(estimator).set_params(random_state=0, calibrate=False).fit(X[:1000], y[:1000])
    assert_array_equal(alone.predict(X), model.predict(X))
    assert not hasattr(alone, "predictive_variance_")
    assert not hasattr(model.set_params(calibrate=False).fit(X, y), "predictive_variance_")


# --- anchors --------------------------------------------------------------------------


def separable(rng, k=4, n_words=60):
    """A model whose topics have an anchor each, and its moments."""
    mu = rng.random((n_words, k))
    mu[:k] = 0.3 * n_words / 20 * np.eye(k)
    alpha = rng.uniform(0.1, 0.6, k)
    truth = Model(alpha, mu / mu.sum(axis=0), rng.normal(size=k), 0.1)
    a0 = alpha.sum()
    share = alpha / a0
    R = (np.outer(alpha, alpha) + np.diag(alpha)) / (a0 * (a0 + 1))
    beside = (alpha + np.eye(k)) @ truth.eta / (a0 + 1)  # E[y | a word is of topic i]
    joint = truth.mu * share
    variance = (share @ truth.eta**2 - (share @ truth.eta) ** 2) / (a0 + 1) + 0.1**2
    r = joint @ beside / joint.sum(axis=1)
    return truth, anchors.Moments(truth.mu @ R @ truth.mu.T, r, share @ truth.eta, variance)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weight", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("n_dimensions", [1000, 20])
def test_anchors_are_exact_where_topics_are_separable(seed, weight, n_dimensions):
    rng = np.random.default_rng(seed)
    truth, moments = separable(rng)
    rows = moments.rows(weight)
    found = anchors.anchor_words(rows, np.arange(60), 4, n_dimensions, rng)
    assert set(found) == {0, 1, 2, 3}
    model = anchors.recover(moments, rows, found, None, 1).reordered(np.argsort(found))
    assert_allclose(model.mu, truth.mu, atol=1e-6)
    assert_allclose(model.alpha, truth.alpha, atol=1e-6)
    assert_allclose(model.eta, truth.eta, atol=1e-6)
    assert_allclose(model.sigma, 0.1, atol=1e-6)


@pytest.mark.parametrize("alpha0", [0.05, 1.3, 40.0])
def test_the_prior_is_told_by_pairs_or_taken_as_1(alpha0):
    share = np.array([0.2, 0.3, 0.5])
    alpha = alpha0 * share
    R = (np.outer(alpha, alpha) + np.diag(alpha)) / (alpha0 * (alpha0 + 1))
    assert_allclose(anchors.concentration(R, share), alpha0)
    assert anchors.concentration(np.diag(share), share) == 1  # as if documents had one topic
    assert anchors.concentration(np.outer(share, share), share) == 1  # as if all were alike


def test_more_topics_than_directions_are_not_found(rng):
    _, moments = separable(rng)
    assert len(anchors.anchor_words(moments.rows(1.0), np.arange(60), 9, 1000, rng)) == 4


def test_sums_are_their_definition_and_add_up(rng):
    """Of every ordered pair of different words of a document."""
    X, y = rng.integers(0, 3, size=(12, 6)), rng.normal(size=12)
    X[0], X[1] = 0, [1, 0, 0, 0, 0, 0]  # too short to have pairs
    s = anchors.sums(csr_array(X), y)
    Q, r = np.zeros((6, 6)), np.zeros(6)
    for row, t in zip(X[2:], y[2:], strict=True):
        words = np.repeat(np.arange(6), row)
        n = len(words)
        for a, b in product(range(n), repeat=2):
            if a != b:
                Q[words[a], words[b]] += 1 / (n * (n - 1))
        np.add.at(r, words, t / n)
    assert s.n == 10
    assert_allclose(s.Q, Q, atol=1e-12)
    assert_allclose(s.r, r, atol=1e-12)
    assert_array_equal(s.documents, (X[2:] > 0).sum(axis=0))
    both = anchors.sums(csr_array(X[:5]), y[:5]) + anchors.sums(csr_array(X[5:]), y[5:])
    for name, value in vars(s).items():
        assert_allclose(getattr(both, name), value, atol=1e-12)
    m = anchors.moments(s)
    assert_allclose(m.p, anchors.moments(s).Q.sum(axis=0))
    assert_allclose(m.variance, y[2:].var())


def test_least_squares_on_the_simplex_meet_their_conditions(rng):
    """Where it is least no direction in the simplex leads down, and SLSQP finds no less."""
    S, points = rng.normal(size=(6, 9)), 0.7 * rng.normal(size=(40, 9))
    C = np.empty((40, 6))
    on_simplex(S @ S.T, points @ S.T, C)
    assert_allclose(C.sum(axis=1), 1)
    assert C.min() >= 0
    down = (points - C @ S) @ S.T
    most = down.max(axis=1, keepdims=True)
    assert_allclose(np.where(C > 0, down, most), np.broadcast_to(most, C.shape), atol=1e-9)
    assert 1 < (C > 1e-9).sum(axis=1).mean() < 5
    for c, x in zip(C[:5], points[:5], strict=True):
        found = minimize(
            lambda w, x=x: ((x - w @ S) ** 2).sum(), np.full(6, 1 / 6), method="SLSQP",
            bounds=[(0, 1)] * 6, constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        )  # fmt: skip
        assert ((x - c @ S) ** 2).sum() <= found.fun + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_anchor_slda_learns_separable_topics_from_documents(seed):
    rng = np.random.default_rng(seed)
    truth, _ = separable(rng, k=3)
    X, y, _ = draw_corpus(truth, 8000, 60, rng)
    model = AnchorSLDA(3, refit=False, random_state=0).fit(X[:7000], y[:7000])
    errors = recovery_errors(model.model_, truth)  # noise of moments: 0.01 to 0.07
    assert max(errors.alpha, errors.mu, errors.eta) < 0.15
    assert set(model.anchors_) == {0, 1, 2}
    best = SpectralSLDA(3, random_state=0).fit(X[:500], y[:500])
    best.model_ = truth
    for made in (model, AnchorSLDA(3, random_state=0).fit(X[:7000], y[:7000])):
        assert made.score(X[7000:], y[7000:]) > best.score(X[7000:], y[7000:]) - 0.02
        assert not hasattr(made, "coef_std_")


def test_the_response_chooses_anchors_that_words_alone_do_not():
    """Two words of ten follow y, eight follow something else: two topics must choose."""
    rng = np.random.default_rng(0)
    mood, theme = rng.random((2, 800))
    p = np.column_stack(
        [0.05 + 0.1 * mood, 0.15 - 0.1 * mood]
        + [0.8 * (0.25 * (theme if i % 2 else 1 - theme)) for i in range(8)]
    )
    X = csr_array(rng.multinomial(60, p / p.sum(axis=1, keepdims=True)))
    without, with_y = (AnchorSLDA(2, weight=w).fit(X[:600], mood[:600]) for w in (0, 10))
    assert without.score(X[600:], mood[600:]) < 0.1
    assert with_y.score(X[600:], mood[600:]) > 0.3
    assert set(with_y.anchors_) == {0, 1}


def test_fewer_anchors_than_topics_is_said():
    """Every ordered pair of three words: whatever one is, the other is as likely any of them."""
    pairs = [np.eye(3, dtype=int)[list(pair)].sum(axis=0) for pair in product(range(3), repeat=2)]
    with pytest.warns(FewerTopicsWarning, match="n_topics=3, but the data support 1"):
        model = AnchorLDA(3).fit(np.array(pairs))
    assert_allclose(model.components_, np.full((1, 3), 1 / 3))


# --- DiscLDA --------------------------------------------------------------------------


def transformed(rng, k=4, m=3, n_words=5, each=1.0):
    """Topics and transformations at random, the more different the smaller ``each``."""
    return disclda.Transformed(
        mu=rng.dirichlet(np.full(n_words, each), size=k).T,
        T=np.moveaxis(rng.dirichlet(np.full(k, each), size=(2, m)), 2, 1),
        alpha=rng.uniform(0.3, 1.5, m),
        prior=np.array([0.4, 0.6]),
    )


def log_evidence(words, B, alpha):
    """log p(words) by enumeration of which coordinate of h each word is from."""
    total = 0.0
    for z in product(range(len(alpha)), repeat=len(words)):
        n = np.bincount(z, minlength=len(alpha))
        log_p = gammaln(alpha.sum()) - gammaln(alpha.sum() + n.sum())
        log_p += (gammaln(alpha + n) - gammaln(alpha)).sum()
        total += np.exp(log_p) * math.prod(B[w, i] for w, i in zip(words, z, strict=True))
    return np.log(total)


def test_the_posterior_of_classes_is_near_enumeration():
    """The bound is its definition and below the evidence, by about as much for each class."""
    told, true = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        model = transformed(rng, each=0.4)
        X = csr_array(rng.multinomial(6, np.full(5, 0.2), size=8))
        found, exact = disclda.infer(model, X), np.empty((8, 2))
        for (d, row), (c, T) in product(enumerate(X.toarray()), enumerate(model.T)):
            words, B, gamma = np.repeat(np.arange(5), row), model.mu @ T, found.gamma[c, d]
            phi = B[words] * np.exp(digamma(gamma))
            phi /= phi.sum(axis=1, keepdims=True)
            bound = words_bound(words, phi, gamma, model.alpha, B)
            assert_allclose(found.bound[d, c], bound, atol=1e-3)  # gamma is to 1e-5 of a word
            exact[d, c] = log_evidence(words, B, model.alpha)
        assert (found.bound < exact).all()
        told.extend(np.exp(found.log_posterior(model.prior))[:, 0])
        true.extend(softmax(exact + np.log(model.prior), axis=1)[:, 0])
    assert_allclose(told, true, atol=0.12)  # mean field's error, up to 0.1 here
    assert np.corrcoef(told, true)[0, 1] > 0.97
    assert np.ptp(true) > 0.8


def test_transformed_proportions_are_their_definition(rng):
    """One word: E[T h | w, c] by enumeration, over classes by their probability."""
    model = transformed(rng)
    X = csr_array(np.eye(5, dtype=int))
    found = disclda.infer(model, X)
    h = disclda.proportions(model, found)
    assert_allclose(h.sum(axis=1), 1)
    p, a0 = np.exp(found.log_posterior(model.prior)), model.alpha.sum()
    for w in range(5):
        exact = np.zeros(4)
        for c, T in enumerate(model.T):
            which = model.alpha * (model.mu @ T)[w]
            which /= which.sum()
            exact += p[w, c] * T @ (model.alpha + which) / (a0 + 1)
        assert_allclose(h[w], exact, atol=0.06)  # mean field sharpens which


def test_the_gradient_of_the_conditional_likelihood_is_its_derivative(rng):
    model = transformed(rng)
    X, label = csr_array(rng.multinomial(15, np.full(5, 0.2), size=20)), rng.integers(2, size=20)
    value, slope = disclda._conditional(model, X, label, 1)
    log_p = disclda.infer(model, X).log_posterior(model.prior)
    assert_allclose(value, log_p[np.arange(20), label].mean())
    step = 1e-5
    for c, i, j in product(range(2), range(4), range(3)):
        sides = []
        for sign in (1, -1):
            T = model.T.copy()
            T[c, i, j] += sign * step
            sides.append(disclda._conditional(replace(model, T=T), X, label, 1)[0])
        # sweeps end a tolerance of 1e-5 before the maximum, to the first order of which it errs
        assert_allclose(slope[c, i, j], (sides[0] - sides[1]) / (2 * step), atol=2e-3, rtol=2e-3)


@pytest.mark.parametrize("seed", range(3))
def test_training_raises_the_conditional_likelihood(seed):
    X, y, _ = make_slda(400, n_words=40, n_topics=4, doc_length=30, random_state=seed)
    label = y > np.median(y)
    model = DiscLDA(6, random_state=seed, n_iterations=20).fit(X, label)
    assert (np.diff(model.conditional_) > 0).all()
    assert model.conditional_[-1] > model.conditional_[0] + 0.02
    at = model.predict_log_proba(X)[np.arange(400), label.astype(int)].mean()
    assert_allclose(at, model.conditional_[-1], atol=1e-9)
    assert_allclose(model.transformations_.sum(axis=1), 1)
    assert_allclose(model.transform(X).sum(axis=1), 1)


def test_each_class_begins_with_topics_of_its_own():
    T = disclda.blocks(2, 2, 5)
    assert_array_equal(T[0] @ [1, 2, 3], [1, 2, 0, 0, 3])
    assert_array_equal(T[1] @ [1, 2, 3], [0, 0, 1, 2, 3])


# --- refusals -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "sentence"),
    [
        (VariationalSLDA(0), "n_topics=0, but expected a whole number from 1 up; try 10"),
        (VariationalSLDA(noise_start=2), "noise_start=2, but expected a number from 1e-06 to 1"),
        (VariationalSLDA(calibrate="no"), "calibrate='no', but expected one of True, False"),
        (VariationalSLDA(beta=0), "beta=0, but expected a number from 1e-06 up; try 0.01"),
        (VariationalSLDA(n_iterations=0), "n_iterations=0, but expected a whole number from 1 up"),
        (VariationalSLDA(tolerance=-1), "tolerance=-1, but expected a number from 0 up; try 1e-4"),
        (AnchorSLDA(weight=-1), "weight=-1, but expected a number from 0 to 1e.06; try 1.0"),
        (AnchorSLDA(min_df=2.5), "min_df=2.5, but expected a number from 0 to 1; a share or"),
        (AnchorSLDA(min_df=0), "min_df=0, but expected a whole number from 1 up; try 0.02"),
        (AnchorSLDA(min_df=1500), "0 words are in 1500 documents or more .* use a smaller min_df"),
        (AnchorSLDA(n_dimensions=0), "n_dimensions=0, but expected a whole number from 1 up"),
        (AnchorSLDA(alpha0=0), "alpha0=0, but expected a number from 1e-06 to 10000"),
        (AnchorSLDA(81), "n_topics=81, but there are only 80 directions .* use n_topics <= 80"),
        (DiscLDA(n_class_topics=0), "n_class_topics=0, but expected a whole number from 1 up"),
        (DiscLDA(3, n_class_topics=2), "n_topics=3, but 2 classes with n_class_topics=2 have 4"),
    ],
)
def test_parameters_that_cannot_be(corpus, estimator, sentence):
    X, y, _ = corpus
    target = y > np.median(y) if isinstance(estimator, DiscLDA) else y
    with pytest.raises(ValueError, match=sentence):
        estimator.fit(X[:1000], target[:1000])


@pytest.mark.parametrize("kind", [VariationalSLDAClassifier, DiscLDA])
def test_labels_that_cannot_be(corpus, kind):
    X = corpus[0]
    for y, sentence in (
        (None, f"{kind.__name__} requires y to be passed, but .* pass one label per document"),
        (["a"] * 1500, "y has one class, .*'a'.*, for all 1500 documents, but at least two"),
        (["a", "b"], "y has 2 labels, but there are 1500 documents; expected one label per"),
    ):
        with pytest.raises(ValueError, match=sentence):
            kind(4).fit(X, y)


def test_documents_without_words(corpus):
    nothing, y = csr_array((20, 5), dtype=int), corpus[1][:20]
    with pytest.raises(ValueError, match="all documents are empty, but some words were expected"):
        VariationalSLDA(2).fit(nothing, y)
    with pytest.raises(ValueError, match="no document has 2 words, but pairs of them were"):
        AnchorSLDA(2).fit(nothing, y)
    with pytest.raises(ValueError, match="all documents are empty, but some words were expected"):
        DiscLDA(4).fit(nothing, y > np.median(y))


def test_a_word_that_no_topic_has_is_no_error(rng):
    """As a file may have it."""
    X, label = planted(2, rng, n=100)
    model = DiscLDA(3, n_iterations=2, random_state=0).fit(X, label)
    mu = model.model_.mu.copy()
    mu[0] = 0
    model.model_ = replace(model.model_, mu=mu / mu.sum(axis=0))
    assert np.isfinite(model.predict_log_proba(X)).all()
    assert_allclose(model.transform(X).sum(axis=1), 1)


def test_one_topic_of_anchors_predicts_the_mean():
    X, y, _ = make_slda(400, n_words=60, n_topics=3, doc_length=40, random_state=0)
    fitted = AnchorSLDA(1, refit=False, random_state=0).fit(X, y)
    assert_allclose(fitted.predict(X), y.mean(), atol=0.05 * y.std())


def test_one_odd_document_does_not_widen_all_deviations():
    X, y, _ = make_slda(300, n_words=60, n_topics=3, doc_length=40, random_state=0)
    odd = np.array(X.toarray() if hasattr(X, "toarray") else X)
    odd[0, 3] = 10**5
    _, std = VariationalSLDA(3, random_state=0).fit(odd, y).predict(odd, return_std=True)
    assert np.median(std) < 3 * y.std()


@pytest.mark.parametrize("missing", [None, float("nan")])
@pytest.mark.parametrize("kind", [DiscLDA, VariationalSLDAClassifier])
def test_a_label_that_is_missing_is_named(kind, missing):
    labels = np.array(["a", "b", missing, "a"], object)
    with pytest.raises(ValueError, match=r"no label for 1 of 4 documents, the first in row 2"):
        kind(2).fit(np.eye(4, 6, dtype=int) + 1, labels)


def test_refit_is_true_or_false():
    with pytest.raises(ValueError, match="refit='no'"):
        AnchorSLDA(2, refit="no").fit(np.eye(4, 6, dtype=int) + 1, np.arange(4.0))


def test_their_page_says_how_long_they_are():
    root = Path(topicprism.__file__).parent
    page = " ".join((root.parents[1] / "docs" / "relatives.md").read_text().split())
    folders = {
        "relatives": ("variational", "anchors", "disclda"),
        "estimators": ("variational", "anchors", "disclda"),
        "kernels": ("variational", "simplex", "evidence"),
    }
    lines = {
        folder: [len((root / folder / f"{name}.py").read_text().splitlines()) for name in names]
        for folder, names in folders.items()
    }
    assert max(lines["relatives"]) <= 230  # about 200
    a, b, c = lines["relatives"]
    assert f"{a} of variational EM, {b} of anchors, {c} of DiscLDA" in page
    for some in (lines["estimators"], lines["kernels"]):
        assert "{}, {} and {}".format(*some) in page
