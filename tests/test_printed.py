"""The paper's algorithms as they are printed."""

from html import unescape

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import ordered_tuples, sym3
from scipy.sparse import csr_array
from sklearn.base import clone
from varied_texts import varied_texts

import topicprism
from topicprism import HybridSLDA, Settings, SpectralLDA, SpectralSLDA
from topicprism.datasets import make_slda
from topicprism.datasets.slda import draw_corpus, draw_model
from topicprism.documents.corpus import Corpus
from topicprism.evaluation import match
from topicprism.inference import GibbsInference, infer
from topicprism.model import TooManyTopics
from topicprism.samplers import Plan
from topicprism.show.report import render, summarise
from topicprism.spectral.moments import word_sums
from topicprism.spectral.printed import EQUAL_WEIGHT_WORDS, SecondMoment, learn_as_printed
from topicprism.spectral.recovery import to_simplex
from topicprism.spectral.sketch import sketch
from topicprism.spectral.tensor import power_method


@pytest.fixture
def tiny(rng):
    """A few short documents with a response, few enough to list their triples of words."""
    X = rng.multinomial(6, rng.dirichlet(np.ones(7) / 2, 9))
    return Corpus(csr_array(X), rng.standard_normal(9))


def moments_by_enumeration(corpus, a, sigma2):
    """N2 and N3 of (x, y) from lists of ordered pairs and triples of words; O(m^3)."""
    counts, V = corpus.counts.toarray(), corpus.n_words
    z, zz, zzz = np.zeros(V + 1), np.zeros((V + 1,) * 2), np.zeros((V + 1,) * 3)
    for n, y in zip(counts, corpus.y, strict=True):
        x1, x2, x3 = n / n.sum(), np.zeros((V, V)), np.zeros((V, V, V))
        pairs, triples = ordered_tuples(n, 2), ordered_tuples(n, 3)
        for pair in pairs:
            x2[pair] += 1 / len(pairs)
        for triple in triples:
            x3[triple] += 1 / len(triples)
        z += [*x1, y]
        zz[:V, :V] += x2
        zz[V, :V] += y * x1
        zz[:V, V] += y * x1
        zz[V, V] += y**2
        zzz[:V, :V, :V] += x3
        for axis in range(3):
            np.moveaxis(zzz, axis, 2)[:V, :V, V] += y * x2
            np.moveaxis(zzz, axis, 0)[:V, V, V] += y**2 * x1
        zzz[V, V, V] += y**3
    z, zz, zzz = (m / len(corpus) for m in (z, zz, zzz))
    ee = np.zeros((V + 1, V + 1))
    ee[V, V] = sigma2
    c = 2 * a**2 / ((a + 1) * (a + 2))
    N2 = zz - a / (a + 1) * np.outer(z, z) - ee
    N3 = zzz - a / (a + 2) * sym3(zz, z) + c * np.einsum("i,j,l->ijl", z, z, z)
    return N2, N3 - 2 / (a + 2) * sym3(ee, z)


def test_products_with_the_second_moment_are_those_of_its_definition(rng, tiny):
    a, sigma2, C, V = 0.7, 0.3, 5.0, tiny.n_words
    N2, _ = moments_by_enumeration(tiny, a, sigma2)
    scale = np.r_[np.full(V, C), 1.0]
    sums, S = word_sums(tiny, EQUAL_WEIGHT_WORDS), rng.standard_normal((V + 1, 300))
    joint = SecondMoment(tiny, sums, a, C, sigma2)
    assert_allclose(joint @ S, scale[:, None] * (N2 @ (scale[:, None] * S)), atol=1e-12)
    assert_allclose(joint @ S[:, 0], (joint @ S)[:, 0], atol=1e-12)
    words = SecondMoment(tiny, sums, a)
    assert_allclose(words @ S[:V], N2[:V, :V] @ S[:V], atol=1e-12)


@pytest.mark.parametrize("method", ["joint", "two-stage"])
def test_the_answer_is_that_of_the_page_written_out(rng, tiny, method):
    """Steps 1 to 6 of Algorithms 1 and 2 in numpy, with V x V x V tensors."""
    a, sigma2, C, V, k = 0.7, 0.05, 3.0, tiny.n_words, 2
    N2, N3 = moments_by_enumeration(tiny, a, sigma2)
    scale = np.r_[np.full(V, C), 1.0]
    if method == "joint":
        M2, M3 = N2 * np.outer(scale, scale), N3 * np.einsum("i,j,l->ijl", *[scale] * 3)
    else:
        M2, M3 = N2[:V, :V], N3[:V, :V, :V]
    values, vectors = np.linalg.eigh(M2)
    W = vectors[:, -k:] / np.sqrt(values[-k:])
    pairs = power_method(np.einsum("ijl,ia,jb,lc->abc", M3, W, W, W), rng)
    lam, w = pairs.values, pairs.vectors
    v = (a + 2) / 2 * lam * (np.linalg.pinv(W).T @ w)
    alpha = 4 * a * (a + 1) / ((a + 2) ** 2 * lam**2)
    if method == "joint":
        mu, eta, sigma = v[:V] / C, v[V], np.sqrt(sigma2)
    else:
        My = W.T @ N3[:V, :V, V] @ W
        mu, eta = v, (a + 2) / 2 * np.einsum("ai,ab,bi->i", w, My, w)
        hh = (np.outer(alpha, alpha) + np.diag(alpha)) / (alpha.sum() * (alpha.sum() + 1))
        sigma = np.sqrt(np.clip((tiny.y**2).mean() - eta @ hh @ eta, 0, None))
    known = sigma2 if method == "joint" else None
    settings = Settings(method, noise_variance=known, word_scale=C)
    found = learn_as_printed(tiny, k, a, settings, rng=rng).model
    order = np.argsort(eta)
    assert_allclose(found.eta, eta[order], atol=1e-9)
    assert_allclose(found.alpha, alpha[order], atol=1e-9)
    assert_allclose(found.mu, to_simplex(mu[:, order]), atol=1e-9)
    assert_allclose(found.sigma, sigma, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", ["joint", "two-stage"])
def test_documents_of_the_model_give_its_parameters(method, seed):
    """Errors fall as they should: a quarter of them, about, with sixteen times the documents."""
    rng = np.random.default_rng(seed)
    truth = draw_model(50, 4, rng, noise=0.3)  # alpha0 = 1
    errors = []
    for n in (2_000, 32_000):
        X, y, _ = draw_corpus(truth, n, 100, rng)
        known = truth.sigma**2 if method == "joint" else None
        settings = Settings(method, noise_variance=known)
        found = learn_as_printed(Corpus(X, y), 4, 1.0, settings, rng=rng).model
        same = found.reordered(match(found, truth))
        errors.append(
            [np.abs(getattr(same, p) - getattr(truth, p)).max() for p in ("mu", "alpha", "eta")]
        )
    assert (np.array(errors[1]) < 0.6 * np.array(errors[0])).all()
    assert (errors[1] < np.array([0.002, 0.02, 0.05])).all()


def test_more_topics_than_can_be_whitened_are_refused_with_a_number_that_works(rng):
    truth = draw_model(30, 3, rng)
    X, y, _ = draw_corpus(truth, 400, 40, rng)
    with pytest.raises(TooManyTopics, match="largest n_topics that works here is") as refused:
        learn_as_printed(Corpus(X, y), 30, 1.0, Settings("two-stage"), rng=rng)
    learn_as_printed(Corpus(X, y), refused.value.largest, 1.0, Settings("two-stage"), rng=rng)


# --- estimators -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpus():
    return make_slda(4_000, n_words=80, n_topics=4, doc_length=60, random_state=0)


@pytest.mark.parametrize("method", ["joint", "two-stage"])
@pytest.mark.parametrize("whitening", ["auto", "exact"])
def test_the_estimator_gives_what_the_page_gives(corpus, method, whitening):
    """In the units of the response, whatever these are."""
    X, y, _ = corpus
    options = {"regime": "paper", "method": method, "whitening": whitening, "random_state": 0}
    model = SpectralSLDA(4, alpha0=1.0, **options).fit(X, 100 + 7 * y)
    t = (y - y.mean()) / y.std()
    settings = Settings(method, noise_variance=model.noise_variance_ / (7 * y.std()) ** 2)
    page = learn_as_printed(Corpus(X, t), 4, 1.0, settings, rng=np.random.default_rng(1)).model
    assert_allclose(model.coef_, 100 + 7 * (y.mean() + y.std() * page.eta), atol=1e-4)
    assert_allclose(model.components_, page.mu.T, atol=1e-6)
    assert_allclose(model.alpha_, page.alpha, rtol=1e-4)
    assert model.selection_.reasons["method"].startswith("Algorithm")
    assert not hasattr(model, "coef_std_")
    assert model.score(X, 100 + 7 * y) > 0.5


def test_alpha_is_a_tenth_for_each_topic_unless_given(corpus):
    X, y, _ = corpus
    assumed = SpectralSLDA(4, regime="paper", random_state=0).fit(X, y)
    given = SpectralSLDA(4, regime="paper", alpha0=0.4, random_state=0).fit(X, y)
    assert assumed.selection_.alpha0 == 0.4
    assert_allclose(assumed.coef_, given.coef_)


def test_words_alone(corpus):
    X, _, truth = corpus
    model = SpectralLDA(4, regime="paper", alpha0=1.0, random_state=0).fit(X)
    order = match(model.model_, truth)
    assert np.abs(model.components_[order] - truth.mu.T).sum(axis=1).max() < 0.2
    assert "words alone" in model.selection_.reasons["method"]


def test_gibbs_inference_is_the_papers(corpus):
    X, y, _ = corpus
    model = SpectralSLDA(4, regime="paper", inference="gibbs", random_state=0).fit(X, y)
    some = X[:50]
    h = infer(model.model_, some, GibbsInference())
    assert_allclose(model.transform(some), h)
    y_hat, std = model.predict(some, return_std=True)
    assert_allclose(y_hat, h @ model.model_.eta)
    plain = clone(model).set_params(inference="propagation").fit(X, y)
    expected, same = plain.predict(some, return_std=True)
    assert_allclose(std, same)
    assert 0 < np.abs(y_hat - expected).mean() < 0.05  # two ways to one posterior mean


def test_a_chain_from_the_paper_is_not_steered(corpus):
    X, y, truth = corpus
    chain = {"burn_in": 10, "n_kept": 10, "random_state": 0}
    model = HybridSLDA(4, regime="paper", alpha0=1.0, **chain).fit(X, y)
    plan = model._hybrid.plan(None, Plan(), model._request)
    assert plan == Plan()  # the model's own chain
    start = SpectralSLDA(4, regime="paper", alpha0=1.0, random_state=0).fit(X, y)
    assert_allclose(np.sort(model.alpha_), np.sort(start.alpha_))  # fixed, as Algorithm 2 has it
    assert "Gibbs chain of the model, started at Algorithm 2" in model.selection_.reasons["method"]
    order = match(model.model_, truth)
    assert np.abs(model.coef_[order] - truth.eta).max() < 0.1


def test_text_says_that_it_is_no_algorithm_of_the_paper_and_so_does_its_page():
    texts, y = varied_texts(400)
    for options, method in (
        ({"n_topics": 3}, "not one of the paper's algorithms: spectral topics, refined"),
        ({"n_topics": 3, "regime": "paper"}, "Algorithm 2 (joint) of Ren, Wang and Zhu"),
    ):
        made = topicprism.fit(texts, y, estimator=SpectralSLDA, max_df=1.0, **options)
        assert made.topics.selection_.reasons["method"].startswith(method)
        assert f"Method of this fit: {method}" in unescape(render(summarise(made)))


def test_what_cannot_be_is_refused(corpus):
    X, y, _ = corpus
    with pytest.raises(ValueError, match=r"n_topics='auto' with regime='paper'.* pass one"):
        SpectralSLDA(regime="paper").fit(X, y)
    with pytest.raises(ValueError, match="regime='printed', but expected one of 'auto', 'paper'"):
        SpectralSLDA(4, regime="printed").fit(X, y)
    with pytest.raises(ValueError, match="inference='sampling', but expected one of 'propagation'"):
        SpectralSLDA(4, inference="sampling").fit(X, y)
    made = sketch(Corpus(X, y), 10, np.random.default_rng(0))
    with pytest.raises(ValueError, match="regime='paper' was asked of a sketch"):
        SpectralSLDA(4, regime="paper").fit_sketch(made)


def test_a_file_keeps_the_method(corpus, tmp_path):
    X, y, _ = corpus
    model = SpectralSLDA(4, regime="paper", random_state=0).fit(X, y)
    topicprism.save(model, tmp_path / "m.tprism")
    again = topicprism.load(tmp_path / "m.tprism")
    assert again.selection_.reasons == model.selection_.reasons
    assert again.regime == "paper"
