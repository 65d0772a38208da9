import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import exact_posterior_mean
from scipy.sparse import csr_array

from topicprism import EPInference, GibbsInference, Model, infer
from topicprism.datasets import draw_corpus, draw_model
from topicprism.evaluation import pr2
from topicprism.inference import predict


def tiny_model(rng, k=3, V=6):
    mu = rng.dirichlet(np.full(V, 0.3), size=k).T
    return Model(rng.uniform(0.2, 1.5, k), mu, rng.standard_normal(k), 0.1)


def counts_of(words, V):
    return csr_array(np.bincount(words, minlength=V)[None])


@pytest.mark.parametrize("seed", range(8))
def test_propagation_is_close_to_enumeration(seed):
    """Seven words of peaked topics are where a Dirichlet fits worst: 0.032 was seen, not noise."""
    rng = np.random.default_rng(seed)
    model = tiny_model(rng)
    words = rng.choice(6, size=7, p=model.mu.mean(axis=1))
    h = infer(model, counts_of(words, 6))[0]
    assert_allclose(h, exact_posterior_mean(model, words), atol=0.04)


@pytest.mark.parametrize("seed", range(4))
def test_gibbs_converges_to_enumeration(seed):
    """40,000 sweeps: the Monte-Carlo error of a mean in [0, 1] is under 0.01."""
    rng = np.random.default_rng(seed)
    model = tiny_model(rng)
    words = rng.choice(6, size=7, p=model.mu.mean(axis=1))
    h = infer(model, counts_of(words, 6), GibbsInference(100, 40_000, seed=seed))[0]
    assert_allclose(h, exact_posterior_mean(model, words), atol=0.01)


def test_one_word_is_exact(rng):
    """The posterior given one word is a mixture of Dirichlets with a mean in closed form."""
    model = tiny_model(rng)
    a = model.alpha
    for w in range(6):
        r = model.mu[w] * a / (model.mu[w] @ a)
        expected = (a + r) / (a.sum() + 1)
        h = infer(model, counts_of([w], 6), EPInference(tolerance=1e-12))[0]
        assert_allclose(h, expected, rtol=1e-8)


@pytest.mark.parametrize("how", [EPInference(), GibbsInference(20, 50, seed=3)])
def test_any_number_of_threads_gives_the_same_bits(rng, how):
    model = draw_model(50, 4, rng)
    X, _, _ = draw_corpus(model, 101, 30, rng)
    one = infer(model, X, how, n_threads=1)
    for n_threads in (2, 5):
        assert_array_equal(infer(model, X, how, n_threads=n_threads), one)


def test_gibbs_depends_on_its_seed(rng):
    model = draw_model(50, 4, rng)
    X, _, _ = draw_corpus(model, 20, 30, rng)
    first, second = (infer(model, X, GibbsInference(5, 5, seed=s)) for s in (0, 1))
    assert np.abs(first - second).max() > 0.01


@pytest.mark.parametrize("seed", range(3))
def test_predictions_with_the_true_model_reach_a_long_chain(seed):
    """V=500, k=10, 100 words, noise 0.1: both modes within 0.01 of 500 + 4,000 sweeps."""
    rng = np.random.default_rng(seed)
    truth = draw_model(500, 10, rng)
    X, y, _ = draw_corpus(truth, 2000, 100, rng)
    fast, usual = (
        pr2(y, predict(truth, infer(truth, X, how, 2))) for how in (EPInference(), GibbsInference())
    )
    long = LONG_CHAIN[seed]
    assert fast > long - 0.01
    assert usual > long - 0.01


# pR2 of GibbsInference(500, 4000); run this file to print them again
LONG_CHAIN = [0.8418, 0.8207, 0.8161]


@pytest.mark.parametrize("how", [EPInference(), GibbsInference(5, 20)])
def test_documents_without_words_get_the_prior(rng, how):
    model = tiny_model(rng)
    h = infer(model, csr_array((2, 6), dtype=np.int64), how)
    assert_allclose(h, np.tile(model.alpha / model.alpha.sum(), (2, 1)))


@pytest.mark.parametrize("how", [EPInference(), GibbsInference(5, 20)])
def test_a_word_no_topic_has_tells_nothing(rng, how):
    model = tiny_model(rng)
    mu = model.mu.copy()
    mu[2] = 0
    model = Model(model.alpha, mu / mu.sum(axis=0), model.eta, model.sigma)
    words = [0, 1, 1, 4]
    with_it = csr_array(np.array([[1, 2, 9, 0, 1, 0]]))
    if isinstance(how, EPInference):
        assert_allclose(infer(model, with_it, how), infer(model, counts_of(words, 6), how))
    h = infer(model, with_it, how)
    assert_allclose(h.sum(axis=1), 1)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 3000), min_size=6, max_size=6), st.integers(0, 10), st.data())
def test_propagation_stays_on_the_simplex_whatever_the_counts(counts, seed, data):
    rng = np.random.default_rng(seed)
    model = tiny_model(rng)
    scale = data.draw(st.sampled_from([1e-3, 1.0, 1e3]))
    zeros = data.draw(st.booleans())
    mu = np.where(model.mu < 0.05, 0, model.mu) if zeros else model.mu
    h = infer(Model(model.alpha * scale, mu, model.eta, 0.1), csr_array(np.array([counts])))
    assert np.isfinite(h).all()
    assert (h >= 0).all()
    assert_allclose(h.sum(), 1)


def test_many_copies_of_a_document_find_its_mixture(rng):
    """With 20,000 words the posterior sits at the maximum of the likelihood."""
    model = tiny_model(rng)
    h = np.array([0.6, 0.3, 0.1])
    X = csr_array(np.rint(20_000 * model.mu @ h).astype(int)[None])
    assert_allclose(infer(model, X, EPInference(tolerance=1e-6))[0], h, atol=0.005)
    assert_allclose(infer(model, X)[0], h, atol=0.03)  # it stops ten times sooner


def test_another_width_names_both(rng):
    model = draw_model(30, 3, rng)
    with pytest.raises(ValueError, match=r"counts have 7 columns, but .* 30 words; vectorise with"):
        infer(model, csr_array(np.ones((2, 7))))


if __name__ == "__main__":
    for seed in range(3):
        rng = np.random.default_rng(seed)
        truth = draw_model(500, 10, rng)
        X, y, _ = draw_corpus(truth, 2000, 100, rng)
        print(seed, round(pr2(y, predict(truth, infer(truth, X, GibbsInference(500, 4000), 2))), 4))  # noqa: T201
