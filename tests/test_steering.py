"""Topics steered by the response."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import unequal_model
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from topicprism import Corpus, HybridSLDA, InterruptedWarning, SpectralSLDA
from topicprism.backends.steering import pulls as kernel
from topicprism.backends.steering import settle
from topicprism.calibration import Units, products, regress
from topicprism.datasets import make_slda
from topicprism.engines import Threaded
from topicprism.evaluation import completion_log_likelihood, pr2
from topicprism.inference import infer
from topicprism.model import Model
from topicprism.refinement import Part
from topicprism.steering import FAINT, LEAST, MOST, SURE, Pulls, moved, pulls, settled, steer

AS_IT_IS = Units(0.0, 1.0)


def proportions(counts, mu, alpha, n_sweeps=3000):
    X = csr_array(counts)
    h = np.empty((X.shape[0], len(alpha)))
    settle(X.indptr, X.indices, X.data, np.ascontiguousarray(mu), alpha, n_sweeps, h)
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


def test_pulls_are_slopes_of_the_error(documents):
    """Against differences of half the squared error along each log mu[w, i], all settled anew."""
    model, counts, y = documents
    mu, alpha, eta = np.ascontiguousarray(model.mu), model.alpha, model.eta

    def half_errors(mu):
        return (y - proportions(counts, mu, alpha) @ eta) ** 2 / 2

    X, h = csr_array(counts), proportions(counts, mu, alpha)
    said, pull, squares = sums = np.zeros((3, 6, 3))
    kernel(X.indptr, X.indices, X.data, mu, alpha, y, eta, h, sums)
    for w in range(6):
        for i in range(3):
            up, down = mu.copy(), mu.copy()
            up[w, i] *= np.exp(1e-5)
            down[w, i] *= np.exp(-1e-5)
            slopes = (half_errors(down) - half_errors(up)) / 2e-5
            assert_allclose(pull[w, i], slopes.sum(), rtol=1e-4, atol=1e-8)
            assert_allclose(squares[w, i], (slopes**2).sum(), rtol=1e-4, atol=1e-8)
    r = mu * h[:, None] / (mu @ h.T).T[..., None]
    assert_allclose(said, np.einsum("dw,dwi->wi", counts, r))


def test_a_word_that_no_topic_says_pulls_nothing(documents):
    model, counts, y = documents
    mu = model.mu.copy()
    mu[2] = 0
    found = pulls(Corpus(csr_array(counts), y), replace(model, mu=mu), model.eta)
    assert np.all(found.pull[2] == 0)
    assert np.isfinite(found.pull).all()


def test_what_may_be_chance_moves_nothing():
    mu = np.full((4, 2), 0.25)
    error = np.array([[1.0, 1], [1, 1], [1e-3, 1e-3], [1e-3, 1e-3]])
    pull = np.array([[1.0, -1], [0, 0], [0.1, -0.1], [9e9, -9e9]])
    new = moved(mu, Pulls(np.full((4, 2), 80.0), pull, error**2, 10, 5.0))
    ratio = new / new[1]
    assert_allclose(ratio[0], 1)  # not sure
    step = 10 * (0.1 - SURE * 1e-3) / (0.5 * (80 + FAINT))
    assert_allclose(ratio[2], [1 + step, 1 - step])
    assert_allclose(ratio[3], [MOST, LEAST])
    assert_allclose(new.sum(axis=0), 1)


def test_sums_do_not_depend_on_threads_and_leave_short_documents_out():
    X, y, truth = make_slda(12_000, n_words=30, n_topics=3, doc_length=(1, 20), random_state=0)
    one, two = (Threaded(Corpus(X, y), n).total(pulls, truth, truth.eta) for n in (1, 2))
    assert_array_equal(one.pull, two.pull)
    assert one.n == Corpus(X, y).long().y.size < 12_000
    assert Corpus(X, y).total(settled, truth).n == one.n


def test_each_round_explains_more(text):
    X, y = text
    docs = Corpus(X[:1000], y[:1000] - 3)
    model = SpectralSLDA(5, method="two-stage", random_state=0).fit(X[:1000], y[:1000]).model_
    fits = []
    for steered in islice(steer(docs, model), 8):
        sums = docs.total(products, steered, AS_IT_IS, Part())
        fits.append(sums.pr2(regress(sums).eta))
    assert np.all(np.diff(fits) > 0)
    assert next(steer(docs, model)) is model


def test_steered_topics_predict_new_documents(text, rng):
    """From topics that are nearly alike and tell next to nothing."""
    X, y = text
    t = y - y[:3000].mean()
    docs = Corpus(X[:3000], t[:3000])
    p = np.asarray(X.sum(axis=0), dtype=float) * np.exp(0.05 * rng.standard_normal((3, 400)))
    start = Model(np.ones(3), (p / p.sum(axis=1, keepdims=True)).T, np.zeros(3), 1.0)

    def fit(model, new=slice(0, 3000)):
        eta = regress(docs.total(products, model, AS_IT_IS, Part())).eta
        return pr2(t[new], infer(model, X[new]) @ eta)

    *_, steered = islice(steer(docs, start), 40)
    new = slice(3000, 4000)
    assert fit(start, new) < 0.05
    assert fit(steered, new) > 0.35


# --- in the hybrid --------------------------------------------------------------------


def test_the_hybrid_keeps_what_the_spectral_answer_predicts(text):
    """Its target: not worse than joint, neither in the response nor in the words."""
    X, y = text
    joint = SpectralSLDA(10, random_state=0).fit(X[:3000], y[:3000])
    hybrid = HybridSLDA(10, random_state=0, burn_in=30, n_kept=30).fit(X[:3000], y[:3000])
    assert hybrid.score(X[3000:], y[3000:]) > joint.score(X[3000:], y[3000:]) - 0.03
    words = [
        completion_log_likelihood(m.model_, X[3000:], np.random.default_rng(0))
        for m in (joint, hybrid)
    ]
    assert words[1] > words[0]


def test_few_documents_keep_the_topics_of_the_response(text):
    """All but the thousandth of uniform words that a chain starts with."""
    X, y = text
    hybrid = HybridSLDA(5, random_state=0, burn_in=5, n_kept=5).fit(X[:1500], y[:1500])
    learnt = hybrid._spectral
    apart = cdist(learnt.model.mu.T, hybrid.components_, "cityblock").min(axis=1)
    assert len(learnt.held) == 3
    assert apart[list(learnt.held)].max() < 0.003 < np.delete(apart, learnt.held).min()


def test_the_hybrid_chooses_the_number_of_topics():
    X, y, _ = make_slda(3000, n_words=60, n_topics=3, doc_length=60, random_state=0)
    hybrid = HybridSLDA(random_state=0, burn_in=5, n_kept=5).fit(X, y)
    assert hybrid.components_.shape == (3, 60)
    hybrid.set_params(warm_start=True).fit(X, y)
    assert hybrid.n_sweeps_ == 20
    with pytest.raises(ValueError, match="n_topics='many', but expected a whole number"):
        HybridSLDA("many").fit(X, y)


def test_ctrl_c_while_steering_keeps_the_topics_so_far(text, monkeypatch):
    def stopped(docs, model):
        yield model
        raise KeyboardInterrupt

    monkeypatch.setattr("topicprism.estimators.gibbs.steer", stopped)
    X, y = text
    hybrid = HybridSLDA(5, random_state=0, burn_in=3, n_kept=3)
    with pytest.warns(InterruptedWarning, match="steered towards an R2 of .*; those so far are"):
        hybrid.fit(X[:2500], y[:2500])
    assert hybrid.predict(X[2500:]).shape == (1500,)
