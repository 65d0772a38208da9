"""Topics steered by the response."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import unequal_model
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from topicprism import Corpus, FewerTopicsWarning, HybridSLDA, SpectralSLDA
from topicprism.datasets import make_slda
from topicprism.documents import Threaded
from topicprism.documents.subsets import ALL
from topicprism.evaluation import completion_log_likelihood, pr2
from topicprism.inference import infer
from topicprism.kernels.gibbs import MIN_COUNT_SHARE
from topicprism.kernels.gibbs import topics as draw_topics
from topicprism.kernels.gradient import gradients as kernel
from topicprism.kernels.gradient import map_proportions
from topicprism.learn.defaults import STEERING
from topicprism.learn.hybrid import Hybrid, HybridRequest
from topicprism.learn.refine import Gradients, gradients, map_products, prior_shift
from topicprism.learn.ridge import Products, products, regress
from topicprism.samplers import Gaussian, Plan, Schedule, chain, flat, init, observe

ALONE = {"random_state": 0, "cross_fit": False}


def proportions(counts, mu, alpha, n_sweeps=3000):
    X = csr_array(counts)
    h = np.empty((X.shape[0], len(alpha)))
    map_proportions(X.indptr, X.indices, X.data, np.ascontiguousarray(mu), alpha, n_sweeps, h)
    return h


@pytest.fixture
def documents(rng):
    model = unequal_model(rng, n_words=6, n_topics=3)
    return model, rng.integers(0, 4, (5, 6)), rng.standard_normal(5)


def test_proportions_settle_at_the_maximum(documents):
    """On the simplex the slopes of sum n log(mu . h) + alpha . log h are all alike there."""
    model, counts, _ = documents
    for n, h in zip(counts, proportions(counts, model.mu, model.alpha), strict=True):
        slopes = model.mu.T @ (n / (model.mu @ h)) + model.alpha / h
        assert_allclose(slopes, slopes.mean())
        assert_allclose(h.sum(), 1)


def test_gradients_are_slopes_of_the_error(documents):
    """Against differences of half the squared error along each log mu[w, i]."""
    model, counts, y = documents
    mu, alpha, eta = np.ascontiguousarray(model.mu), model.alpha, model.eta

    def half_errors(mu):
        return (y - proportions(counts, mu, alpha) @ eta) ** 2 / 2

    X, h = csr_array(counts), proportions(counts, mu, alpha)
    pull, squares = sums = np.zeros((2, 6, 3))
    kernel(X.indptr, X.indices, X.data, mu, alpha, y, eta, h, sums)
    for w in range(6):
        for i in range(3):
            up, down = mu.copy(), mu.copy()
            up[w, i] *= np.exp(1e-5)
            down[w, i] *= np.exp(-1e-5)
            slopes = (half_errors(down) - half_errors(up)) / 2e-5
            assert_allclose(pull[w, i], slopes.sum(), rtol=1e-4, atol=1e-8)
            assert_allclose(squares[w, i], (slopes**2).sum(), rtol=1e-4, atol=1e-8)


def test_a_word_of_no_topic_has_no_gradient(documents):
    model, counts, y = documents
    mu = model.mu.copy()
    mu[2] = 0
    found = gradients(Corpus(csr_array(counts), y), replace(model, mu=mu), model.eta)
    assert np.all(found.gradient[2] == 0)
    assert np.isfinite(found.gradient).all()


def test_what_may_be_chance_is_not_asked_for():
    error = np.array([[1.0, 1], [1, 1], [1e-3, 1e-3]])
    pull = np.array([[1.0, -1], [0, 0], [0.1, -0.1]])
    seen = Products(10, np.eye(2), np.ones(2), 0.0, 10.0)
    asked = Gradients(pull, error**2, 5.0, seen).significant()
    assert_array_equal(asked[:2], 0)
    assert_allclose(asked[2], np.array([1, -1]) * (0.1 - STEERING.standard_errors * 1e-3) / 0.5)


def test_what_was_asked_for_fades(documents):
    model, counts, y = documents
    docs = Corpus(csr_array(50 * counts), y)
    once = prior_shift(docs, model, None)
    assert_allclose(prior_shift(docs, model, np.ones_like(once)), once + STEERING.decay)


def test_sums_do_not_depend_on_threads_and_leave_short_documents_out():
    X, y, truth = make_slda(12_000, n_words=30, n_topics=3, doc_length=(1, 20), random_state=0)
    one, two = (Threaded(Corpus(X, y), n).total(gradients, truth, truth.eta) for n in (1, 2))
    assert_array_equal(one.gradient, two.gradient)
    n = one.products.n
    assert n == Corpus(X, y).long().y.size < 12_000
    assert Corpus(X, y).total(map_products, truth).n == n


def steered_by(docs, n_sweeps, strength=1):
    """The mean of topics sampled for as many sweeps and as many more, from nothing."""
    model = flat(docs.counts.shape[1], np.ones(3))

    def steer(state):
        return strength * prior_shift(
            docs, replace(model, alpha=state.alpha, mu=state.mu), state.prior_shift
        )

    plan = Plan(family=Gaussian(1e-6), beta=0.3, prior_shift=steer)
    data = observe(docs.counts, docs.y[:, None], plan.response)
    states = chain(data, init(data, model, plan, 0), plan, Schedule(n_sweeps, n_sweeps))
    kept = [state for state, keeping in states if keeping]
    return replace(model, mu=sum(state.mu for state in kept) / n_sweeps), kept[-1]


def test_topics_lean_to_what_predicts_new_documents(rng):
    """Topics sampled from nothing turn to content, which tells nothing, unless they are steered."""
    mood = rng.standard_normal(4000)
    content, _, _ = make_slda(4000, n_words=60, n_topics=5, doc_length=60, random_state=0)
    told = rng.poisson(0.4 * np.exp(0.8 * np.outer(mood, np.repeat([-1, 1], 5))))
    X, new = csr_array(np.hstack([content.toarray(), told])), slice(3000, 4000)
    docs, fits = Corpus(X[:3000], mood[:3000]), []
    for strength in (0, 1):
        model, last = steered_by(docs, 60, strength)
        eta = regress(docs.total(products, model, ALL)).eta
        fits.append(pr2(mood[new], infer(model, X[new]) @ eta))
        assert np.any(last.prior_shift) == bool(strength)
    assert fits[1] > fits[0] + 0.1


def test_a_topic_keeps_some_of_a_word_it_leans_away_from(rng):
    tables = np.full((1, 20_000, 2), 40, np.int32)
    mu = np.empty((20_000, 2))
    draw_topics(tables, 1.0, np.tile([-39.0, 9.0], (20_000, 1)), np.uint64(3), 0, mu)
    assert_allclose(mu.mean(axis=0), [MIN_COUNT_SHARE * 41, 50], rtol=0.01)  # five standard errors


# --- in the hybrid --------------------------------------------------------------------


def test_the_hybrid_keeps_what_the_spectral_answer_predicts(text):
    """Its target: not worse than joint, neither in the response nor in the words."""
    X, y = text
    joint = SpectralSLDA(10, random_state=0).fit(X[:3000], y[:3000])
    hybrid = HybridSLDA(10, **ALONE, burn_in=100, n_kept=100).fit(X[:3000], y[:3000])
    assert hybrid.score(X[3000:], y[3000:]) > joint.score(X[3000:], y[3000:]) - 0.03
    words = [
        completion_log_likelihood(m.model_, X[3000:], np.random.default_rng(0))
        for m in (joint, hybrid)
    ]
    assert words[1] > words[0]


def test_few_documents_stay_close_to_the_spectral_answer(text):
    """Its topics of the response keep their words, all but the thousandth a chain starts with."""
    X, y = text
    joint = SpectralSLDA(5, random_state=0).fit(X[:1500], y[:1500])
    hybrid = HybridSLDA(5, **ALONE, burn_in=5, n_kept=5).fit(X[:1500], y[:1500])
    free = HybridSLDA(5, refit=False, **ALONE, burn_in=5, n_kept=5).fit(X[:1500], y[:1500])
    learnt = hybrid._hybrid.spectral
    assert_allclose(learnt.model.mu, joint.model_.mu)  # with the same seed the same start
    shares = (joint.model_.alpha / joint.model_.alpha.sum(), hybrid.alpha_ / hybrid.alpha_.sum())
    assert_allclose(*map(np.sort, shares))
    apart, further = (
        cdist(joint.components_, m.components_, "cityblock").min(axis=1) for m in (hybrid, free)
    )
    assert len(learnt.frozen_topics) == 3
    others = np.delete(apart, learnt.frozen_topics)
    assert apart[list(learnt.frozen_topics)].max() < 0.003 < others.min()
    assert (others < 0.7 * np.delete(further, learnt.frozen_topics)).all()


@pytest.mark.parametrize(("enough", "n_held"), [(2.0, 3), (0.5, 0)])
def test_with_few_words_topics_stay_close_as_well(text, monkeypatch, enough, n_held):
    """``enough`` times the words of these documents would be enough."""
    X, y = text
    few = replace(STEERING, few_words=enough * X[:2500].sum())
    monkeypatch.setattr("topicprism.learn.hybrid.STEERING", few)
    hybrid = HybridSLDA(5, **ALONE, burn_in=2, n_kept=2).fit(X[:2500], y[:2500])
    close = (
        cdist(hybrid._hybrid.spectral.model.mu.T, hybrid.components_, "cityblock").min(axis=1)
        < 0.003
    )
    assert close.sum() == n_held


def test_the_hybrid_chooses_the_number_of_topics():
    X, y, _ = make_slda(3000, n_words=60, n_topics=3, doc_length=60, random_state=0)
    hybrid = HybridSLDA(random_state=0, burn_in=5, n_kept=5).fit(X, y)
    assert hybrid.components_.shape == (3, 60)
    hybrid.set_params(warm_start=True).fit(X, y)
    assert hybrid.n_sweeps_ == 20
    with pytest.raises(ValueError, match="n_topics='many', but expected a whole number"):
        HybridSLDA("many").fit(X, y)


@pytest.mark.parametrize(
    ("n", "params", "said"),
    [
        (1500, {}, "the smallest of 3 and 10 within 0.01 R2"),
        (1500, {"refit": False}, "the mean of the kept draws"),
        (2500, {}, "topics are steered with"),
        (2500, {"alpha0": 2.0}, "as asked"),
    ],
)
def test_the_hybrid_says_how_it_chose(text, n, params, said):
    X, y = text[0][:n], 10 * text[1][:n]
    hybrid = HybridSLDA(5, **ALONE, burn_in=1, n_kept=1, **params).fit(X, y)
    chosen = hybrid.selection_
    assert chosen.n_topics == 5
    assert said in chosen.reasons["alpha0"]
    assert_allclose(chosen.alpha0, hybrid.alpha_.sum())
    assert chosen.noise_variance == hybrid.noise_variance_
    drawn = chosen.reasons["noise_variance"] == "the mean of the kept draws"
    assert drawn == (not hybrid.refit)


def test_the_trials_of_the_hybrid_are_in_the_units_of_the_response(text):
    X, y = text[0][:1500], 10 * text[1][:1500]
    hybrid = HybridSLDA(**ALONE, burn_in=1, n_kept=1).fit(X, y)
    shares = [t.noise_variance / y.var() for t in hybrid.selection_.trials]
    assert len(shares) == 4
    assert 0.05 < min(shares) <= max(shares) < 1


def test_the_hybrid_warns_of_topics_that_are_not_there():
    X, y, _ = make_slda(60, n_words=40, n_topics=3, doc_length=5, random_state=0)
    with pytest.warns(FewerTopicsWarning, match="n_topics=38, but the data support"):
        hybrid = HybridSLDA(38, **ALONE, burn_in=1, n_kept=1).fit(X, y)
    assert hybrid.selection_.n_topics == len(hybrid.components_) < 38
    assert hybrid.set_params(warm_start=True).fit(X, y).n_sweeps_ == 4
    with pytest.raises(ValueError, match="37 topics and 1 responses, but the chain so far"):
        hybrid.set_params(n_topics=37).fit(X, y)


def test_cross_fitted_predictions_of_chance_are_chance(text):
    """Three standard errors of a correlation: other documents tell nothing of such a response."""
    X, _ = text
    y = np.random.default_rng(0).standard_normal(2500)
    docs = Threaded(Corpus(X[:2500], y), 1)
    asked = HybridRequest(None, None, None, None, refit=True)
    found = Hybrid.of(Threaded(Corpus(X, text[1]), 1), 3, asked, np.random.default_rng(0))
    predicted = found.ready(docs, asked, np.random.default_rng(0)).cross_fitted
    assert predicted.std() > 0
    assert np.corrcoef(predicted, y)[0, 1] < 0.06


def test_a_steered_chain_goes_on_where_it_stood(text):
    X, y = text[0][:2500], text[1][:2500]
    whole = HybridSLDA(5, **ALONE, burn_in=12, n_kept=8).fit(X, y)
    parts = HybridSLDA(5, **ALONE, burn_in=12, n_kept=1).fit(X, y)
    assert parts.state_.prior_shift.any()
    parts.set_params(warm_start=True, burn_in=0, n_kept=7).fit(X, y)
    assert_array_equal(parts.state_.mu, whole.state_.mu)
    assert parts.set_params(refit=False).fit(X, y).state_.prior_shift is None


@pytest.mark.parametrize("n", [1500, 2500])
def test_a_prior_that_is_told_is_kept(text, n):
    X, y = text
    hybrid = HybridSLDA(5, alpha0=2.0, **ALONE, burn_in=1, n_kept=1).fit(X[:n], y[:n])
    assert_allclose(hybrid.alpha_.sum(), 2)


def test_the_response_weighs_little_where_it_steers(text):
    X, y = text
    hybrid = HybridSLDA(5, **ALONE, burn_in=1, n_kept=1)
    hybrid.fit(X[:2500], y[:2500])
    weights = []
    for params in ({}, {"refit": False}, {"response_weight": 3}):
        hybrid.set_params(**params)
        task = hybrid._task(X[:2500], y[:2500], Plan())
        plan = hybrid._hybrid.plan(hybrid._docs(task), task.plan, hybrid._request)
        weights.append(plan.family.weight)
    assert weights == [STEERING.response_weight, 1, 3]
