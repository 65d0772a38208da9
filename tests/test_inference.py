import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import enumerated, exact_posterior_mean, likeliest, two_topics
from scipy.sparse import csr_array, vstack
from scipy.special import betaln
from sklearn.exceptions import ConvergenceWarning

from topicprism import EPInference, GibbsInference, Model, SpectralSLDA, infer
from topicprism.datasets import draw_corpus, draw_model, make_slda
from topicprism.documents.corpus import take_rows
from topicprism.evaluation import pr2
from topicprism.inference import BURST_WORDS, posterior, predict, weighed


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


def peaked(rng, k, V, alpha0, concentration=0.3):
    mu = rng.dirichlet(np.full(V, concentration), k).T + 1e-9
    alpha = alpha0 * rng.dirichlet(np.full(k, 5.0))
    return Model(alpha, mu / mu.sum(axis=0), np.arange(k, dtype=float), 0.1)


def drawn(rng, model, kind, n):
    """Counts of n words: of a mixture from the prior, of an even one, of one topic; one word."""
    k = model.n_topics
    h = [model.alpha + 1e-3, np.ones(k)][kind] if kind < 2 else 1e6 * np.eye(k)[0] + 1e-9
    p = model.mu @ rng.dirichlet(h)
    return rng.multinomial(n, p / p.sum()) if kind < 3 else n * (np.arange(len(p)) == p.argmax())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("length", [2000, 5000, 10_000])
def test_long_documents_from_the_prior_find_their_topics(seed, length):
    """Prior and topics as learnt from documents of 40 words: none may be taken for another's."""
    rng = np.random.default_rng(seed)
    model = peaked(rng, 4, 200, 0.1, 8.0)
    H = rng.dirichlet(model.alpha, 60)
    X = csr_array(np.stack([rng.multinomial(length, p / p.sum()) for p in H @ model.mu.T]))
    assert np.abs(infer(model, X) - H).sum(axis=1).max() < 0.4  # 2,000 words tell no more


@pytest.mark.parametrize("copies", [200, 2000, 20_000, 10**9])
def test_a_topic_as_a_document_is_that_topic(copies):
    model = peaked(np.random.default_rng(0), 4, 200, 0.1, 8.0)
    h = infer(model, csr_array(np.rint(copies * model.mu.T).astype(int)))
    assert (h.diagonal() > 0.9).all()


@pytest.mark.parametrize("alpha0", [0.03, 0.3, 1.0, 3.0, 30.0])
def test_two_topics_against_quadrature(alpha0):
    """3 to 10^9 words, topics from next to disjoint to nearly the same.

    With a small alpha0 and topics nearly the same, all of a document may be of the one or all
    of the other: a Dirichlet fits that badly, and 0.16 was seen at a standard deviation of 0.38.
    """
    rng = np.random.default_rng(0)
    errors, ratios = [], []
    for n in (3, 10, 30, 100, 300, 1000, 3000, 10**4, 10**5, 10**6, 10**9):
        for concentration in (0.05, 0.5, 50.0):
            for kind in range(4):
                model = peaked(rng, 2, 15, alpha0, concentration)
                counts = drawn(rng, model, kind, n)
                mean, std = two_topics(model.alpha, model.mu, counts)
                known = posterior(model, csr_array(counts[None]))
                errors.append(abs(known.h[0, 0] - mean))
                if std > 1e-6:
                    ratios.append(np.sqrt(known.variance(np.array([1.0, 0.0]))[0]) / std)
    assert max(errors) < (0.2 if alpha0 < 1 else 0.05)
    assert np.mean(errors) < 0.01
    assert 0.9 < np.median(ratios) < 1.1


@pytest.mark.parametrize("alpha0", [0.03, 1.0, 30.0])
@pytest.mark.parametrize("k", [3, 10, 50])
def test_long_documents_against_the_maximum(k, alpha0):
    rng = np.random.default_rng(0)
    for concentration in (0.05, 0.3):
        model = peaked(rng, k, 300, alpha0, concentration)
        X = np.stack(
            [drawn(rng, model, kind, n) for n in (3000, 10**5, 10**6) for kind in range(4)]
        )
        best = [likeliest(model.alpha, model.mu, n) for n in X]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            known = posterior(model, csr_array(X))
        assert np.abs(known.h - best).sum(axis=1).max() < 0.2
        assert known.converged.all() or (alpha0 < 0.1 and known.converged.mean() > 0.9)


@pytest.mark.parametrize("seed", range(3))
def test_steps_that_cannot_be_made_are_no_convergence(seed):
    """A sparse prior, few words: where sweeps stop short of an answer, the filter's is taken."""
    rng = np.random.default_rng(seed)
    model = peaked(rng, 5, 30, 0.1)
    words = [rng.choice(30, 4, p=model.mu @ h) for h in rng.dirichlet(model.alpha, 60)]
    X = vstack([counts_of(w, 30) for w in words]).tocsr()
    exact = np.stack([exact_posterior_mean(model, w) for w in words])
    away = np.abs(infer(model, X) - exact).sum(axis=1)
    left = np.abs(infer(model, X, EPInference(must_converge=False)) - exact).sum(axis=1)
    assert away.mean() < 0.15
    assert away.mean() < left.mean()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("k", "alpha0"), [(5, 0.03), (5, 0.3), (20, 0.1), (20, 1.0)])
def test_three_words_of_topics_that_are_much_alike(k, alpha0, seed):
    """They leave open which topic a sparse document is of; sweeps settle far away (0.1 to 0.3)."""
    rng = np.random.default_rng(seed)
    model = peaked(rng, k, 60, alpha0, 2.0)
    words = rng.choice(60, (10, 3), p=model.mu.mean(axis=1))
    X = vstack([counts_of(w, 60) for w in words]).tocsr()
    known = posterior(model, X)
    exact = [enumerated(model.alpha, model.mu, model.eta, w) for w in words]
    away = np.abs(known.h - [mean for mean, _ in exact]).sum(axis=1)
    assert away.mean() < 0.03
    ratios = np.sqrt(known.variance(model.eta)) / [std for _, std in exact]
    assert_allclose(ratios, 1, atol=0.1)


def test_without_words_the_posterior_is_the_prior_and_its_variance(rng):
    model = tiny_model(rng)
    known = posterior(model, csr_array((1, 6), dtype=np.int64))
    assert_allclose(known.total, model.alpha.sum())


def test_what_does_not_settle_is_said(rng):
    model = peaked(rng, 6, 50, 1.0)
    X = csr_array(
        np.stack([drawn(rng, model, kind, n) for kind, n in ((1, 20), (1, 5000), (0, 9))])
    )
    sentence = (
        r"the topic proportions of 1 of 3 documents \(the first has 5,000 words\) did not converge"
    )
    with pytest.warns(ConvergenceWarning, match=sentence):
        known = posterior(model, X, EPInference(max_sweeps=2, tolerance=1e-9))
    assert known.converged.tolist() == [True, False, True]
    assert posterior(model, X, EPInference(2, 1e-9, must_converge=False)).converged.all()
    assert posterior(model, X).converged.all()


@pytest.mark.parametrize("huge", [1e9, 1e15, 1e300])
def test_huge_counts_are_counted(rng, huge):
    model = peaked(rng, 3, 6, 0.5)
    X = np.vstack([np.diag([huge] * 6), huge * np.ones(6)])
    known = posterior(model, csr_array(X))
    assert_allclose(known.h.sum(axis=1), 1)
    assert np.isfinite(known.total).all()
    assert_array_equal(known.h[:6].argmax(axis=1), model.mu.argmax(axis=1))


def test_counts_may_be_fractions(rng):
    """As they are once repetitions weigh less: the answer moves little with a count."""
    for alpha0, n in ((0.1, 5), (0.1, 4000), (5.0, 100)):
        model = peaked(rng, 4, 40, alpha0)
        counts = drawn(rng, model, 0, n).astype(float)
        h = infer(model, csr_array(np.stack([counts, counts + 1e-7 * (counts > 0)])))
        assert_allclose(h[1], h[0], atol=1e-4)


def test_long_documents_under_the_prior_that_a_fit_finds(rng):
    """Its alpha0 is 0.5; that of a fit which found 0.1 had proportions off by up to 2, and
    ``np.rint(components_[0] * 2000)`` was said to be of another topic."""
    X, y, _ = make_slda(2000, n_words=200, n_topics=4, doc_length=40, random_state=0)
    fitted = SpectralSLDA(4, random_state=0).fit(X, y)
    one = csr_array(np.rint(fitted.components_ * 2000).astype(int))
    for alpha0 in (None, 0.1, 0.03):
        model = fitted.model_ if alpha0 is None else fitted.model_.with_alpha0(alpha0)
        for length in (1000, 2000, 5000, 10_000):
            h = rng.dirichlet(model.alpha, 100)
            words = csr_array(rng.multinomial(length, h @ (model.mu / model.mu.sum(axis=0)).T))
            assert np.abs(infer(model, words) - h).sum(axis=1).max() < 0.5
        assert_array_equal(infer(model, one).argmax(axis=1), np.arange(4))
        assert infer(model, one).max(axis=1).min() > 0.95


def test_short_and_long_documents_do_not_touch_each_other(rng):
    model = peaked(rng, 5, 60, 0.2)
    X = csr_array(
        np.stack([drawn(rng, model, i % 4, n) for i, n in enumerate([3, 10, 90, 4000] * 8)])
    )
    together = infer(model, X, n_threads=3)
    for i in range(X.shape[0]):
        assert_array_equal(infer(model, X[[i]])[0], together[i])


@pytest.mark.parametrize("seed", range(3))
def test_joined_documents_predict_about_as_their_parts(seed):
    """Each word occurs in bursts; of 400 documents together all occur, and that tells nothing."""
    rng = np.random.default_rng(seed)
    topics = draw_model(400, 4, rng, words="zipf")
    model = Model(np.full(4, 0.75), topics.mu, np.array([1.0, 2.0, 4.0, 5.0]), 0.1, 0.75)
    p = np.maximum(model.mu[:, 0], 0)
    parts = np.stack(
        [rng.multinomial(60, rng.dirichlet(100 * p / p.sum() + 1e-9)) for _ in range(400)]
    )
    expected = predict(model, infer(model, csr_array(parts))).mean()
    joined = np.stack([parts[:n].sum(axis=0) for n in (40, 400)])
    few, many = predict(model, infer(model, csr_array(joined)))
    assert abs(many - expected) < 1  # of 4; one document alone says less
    assert abs(many - few) < 0.3  # it stays where it is as documents are added


def test_repetitions_in_an_ordinary_document_weigh_as_before(rng):
    X = csr_array(rng.multinomial(BURST_WORDS, np.full(30, 1 / 30), size=5))
    rows = take_rows(X, 0, 5)
    assert_array_equal(weighed(rows, 0.75).data, X.data / (1 + 0.75 * (X.data - 1)))
    assert weighed(rows, 0.0) is rows


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


def exact_mean_of_two(mu, n, alpha):
    """E[h_1 | words] by the polynomial in h_1 that the likelihood is."""
    logs = np.zeros(1)
    for w in np.flatnonzero(n):
        for _ in range(n[w]):
            first, second = np.append(logs, -np.inf), np.append(-np.inf, logs)
            logs = np.logaddexp(first + np.log(mu[w, 1]), second + np.log(mu[w, 0]))
    j = np.arange(len(logs))
    weights = logs + betaln(alpha[0] + j, alpha[1] + n.sum() - j)
    p = np.exp(weights - weights.max())
    return p @ (alpha[0] + j) / p.sum() / (alpha.sum() + n.sum())


@pytest.mark.parametrize("alpha0", [0.03, 0.1, 0.3])
def test_two_topics_that_are_half_alike_and_a_sparse_prior(alpha0):
    """Where the posterior has two modes a Dirichlet would be off by up to 0.35."""
    errors = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        alpha = alpha0 * np.array([0.3, 0.7])
        mu = rng.dirichlet(np.full(300, 0.1), 2).T + 1e-9
        mu[:, 1] = (mu[:, 0] + mu[:, 1]) / 2
        mu /= mu.sum(axis=0)
        model = Model(alpha, mu, np.arange(2.0), 1.0)
        for length in (10, 40, 200):
            X = np.array([rng.multinomial(length, mu @ h) for h in rng.dirichlet(alpha, 6)])
            exact = [exact_mean_of_two(mu, n, alpha) for n in X]
            errors.extend(2 * np.abs(infer(model, csr_array(X))[:, 0] - exact))
    assert np.max(errors) < 0.05
    assert np.mean(errors) < 0.01


@pytest.mark.parametrize("k", [2, 3, 5, 40])
@pytest.mark.parametrize("alpha0", [1e-5, 5e-7, 1e-30, 1e-100])
def test_the_sparsest_priors_give_proportions(k, alpha0, rng):
    """There one topic has all of a document, and no variance is left to divide by."""
    mu = rng.dirichlet(np.full(60, 0.2), k).T
    model = Model(np.full(k, alpha0 / k), mu, np.arange(k), 1.0)
    for length in (3, 20, 300, 3000):
        X = csr_array(rng.multinomial(length, mu[:, 0], size=6))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            known = posterior(model, X)
        assert_allclose(known.h.sum(axis=1), 1)
        assert (known.h >= 0).all()
        assert np.isfinite(known.variance(model.eta)).all()
        if length >= 300:
            assert_allclose(known.h[:, 0], 1, atol=0.05)  # as of other priors


def test_a_document_is_sampled_alike_in_any_row():
    X, y, _ = make_slda(300, n_words=60, n_topics=3, doc_length=30, random_state=3)
    model = SpectralSLDA(3, random_state=0).fit(X, y).model_
    how = GibbsInference(5, 5)
    together = infer(model, csr_array(X[:20]), how)
    alone = [infer(model, csr_array(X[i : i + 1]), how)[0] for i in range(20)]
    assert_array_equal(together, alone)


@pytest.mark.parametrize("k", [4, 6, 10])
def test_a_prior_that_sums_to_one_is_the_same_prior_however_it_is_added_up(k):
    """Ten times 0.1 is 1 - 1e-16: no answer hangs on that."""
    rng = np.random.default_rng(k)
    own = np.repeat(np.eye(k), 8, axis=0) + 0.3 * np.roll(np.repeat(np.eye(k), 8, axis=0), 1, 1)
    mu = own / own.sum(axis=0)
    X = np.array([rng.multinomial(12, mu @ rng.dirichlet(np.full(k, 1 / k))) for _ in range(40)])
    below, above = (
        infer(Model(np.full(k, total / k), mu, np.zeros(k), 1.0), csr_array(X))
        for total in (1 - 1e-15, 1 + 1e-15)
    )
    assert_allclose(below, above, atol=1e-9)
