"""The noise variance by a second look at documents."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import unequal_model
from scipy.sparse import csr_array

from topicprism import Corpus, SpectralSLDA
from topicprism.datasets import draw_corpus, draw_model
from topicprism.documents import OnDisk, Threaded
from topicprism.documents.subsets import KeyCounts, Subset
from topicprism.learn import model_regime, noise
from topicprism.learn.defaults import MODEL
from topicprism.learn.noise import (
    CrossProducts,
    cross_products,
    estimate,
    noise_by_split_half,
    proportions,
)
from topicprism.model import Model
from topicprism.spectral.decompose import decompose


def all_of_them(docs, model):
    """All documents to be looked at with one model."""
    return [(docs.total(KeyCounts.of).cut(MODEL.jackknife_folds), model)]


def in_two(docs, share, one, other):
    """Some documents to be looked at with one model, the rest with another."""
    keys = KeyCounts.of(docs)
    first = keys.share(0, share)
    return [
        (keys.cut(MODEL.jackknife_folds, part), m)
        for part, m in ((first, one), (first.rest, other))
    ]


def by_definition(model, seen, other):
    """g of each document from its own weighted regression on the topics."""
    h, _, _ = proportions(model, seen, other)
    p = model.mu @ model.alpha / model.alpha.sum()
    g = []
    for n, at in zip(other.toarray(), h, strict=True):
        root = 1 / np.sqrt(0.05 * p + 0.95 * model.mu @ at)
        x = n / n.sum()
        g.append(np.linalg.lstsq(root[:, None] * model.mu, root * x, rcond=None)[0])
    return np.array(g)


def test_g_is_a_weighted_regression_on_the_topics(rng):
    truth = unequal_model(rng)
    X, _, _ = draw_corpus(truth, 30, 40, rng)
    seen, other = csr_array(X[:15]), csr_array(X[15:])
    assert_allclose(proportions(truth, seen, other)[1], by_definition(truth, seen, other))


def test_g_is_right_on_average_whatever_the_other_half_is(rng):
    """Frequencies that are just as expected give the proportions, and h is of other documents."""
    truth = unequal_model(rng)
    X, _, _ = draw_corpus(truth, 50, 40, rng)
    true = rng.dirichlet(truth.alpha, size=50)
    _, g, _ = proportions(truth, X, csr_array(40 * true @ truth.mu.T))
    assert_allclose(g, true, atol=1e-9)


def test_rare_words_may_be_left_out(rng, monkeypatch):
    truth = unequal_model(rng)
    fewer = replace(noise.MODEL, noise_word_types=truth.n_words // 2)
    monkeypatch.setattr(noise, "MODEL", fewer)
    X, _, _ = draw_corpus(truth, 50, 40, rng)
    true = rng.dirichlet(truth.alpha, size=50)
    _, g, _ = proportions(truth, X, csr_array(40 * true @ truth.mu.T))
    assert_allclose(g, true, atol=1e-9)


def test_half_a_document_without_words_counts_for_nothing(rng):
    truth = unequal_model(rng)
    X, _, _ = draw_corpus(truth, 3, 40, rng)
    empty = csr_array(X.multiply(np.array([[1], [0], [1]])))
    h, g, w = proportions(truth, X, empty)
    assert (w > 0).tolist() == [True, False, True]
    assert np.isfinite(np.concatenate([h, g])).all()


def test_what_is_left_is_that_of_two_instrumental_regressions(rng):
    """The Schur complement is sum w (y - g . eta)(y - h . zeta) / sum w of the module's page."""
    n, k = 400, 3
    h, w = rng.dirichlet(np.ones(k), size=n), rng.random(n)
    g, y = h + rng.normal(size=(n, k)), rng.normal(size=n)
    start = rng.normal(size=k)
    left = np.column_stack([h, y - h @ start]) * w[:, None]
    right = np.column_stack([g, y - g @ start])
    eta = np.linalg.solve((h * w[:, None]).T @ g, h.T @ (w * y))
    zeta = np.linalg.solve((g * w[:, None]).T @ h, g.T @ (w * y))
    expected = (w * (y - g @ eta) * (y - h @ zeta)).sum() / w.sum()
    assert_allclose(noise._left((left.T @ right)[None], w.sum()), expected)


def test_the_error_is_known(rng):
    """Twelve corpora: off by one standard error, give or take, and unbiased."""
    found = []
    for _ in range(12):
        truth = draw_model(80, 6, rng, alpha=0.3, noise=0.2)
        X, y, _ = draw_corpus(truth, 3000, 60, rng)
        docs = Corpus(X, y)
        found.append(noise_by_split_half(docs, all_of_them(docs, truth)))
    z = np.array([(e.value - 0.04) / e.std for e in found])
    assert np.abs(z).max() < 4.5  # Student's t with nine degrees of freedom
    assert 0.5 < np.sqrt(np.mean(z**2)) < 1.9
    assert abs(np.mean(z)) < 1.1  # four standard errors


def test_the_same_by_every_engine(rng, tmp_path):
    truth = draw_model(80, 4, rng)
    X, y, _ = draw_corpus(truth, 600, 60, rng)
    docs = Corpus(X, y)
    unseen = in_two(docs, 0.5, truth, draw_model(80, 4, rng))
    shards = OnDisk.write(tmp_path / "docs", docs.shards(7))
    engines = [docs, Threaded(docs, 1), Threaded(docs, 2), shards, replace(shards, n_threads=2)]
    one, *others = [noise_by_split_half(engine, unseen) for engine in engines]
    for other in others:
        assert_allclose([other.value, other.std], [one.value, one.std], rtol=1e-9)


def test_units_of_the_response_change_nothing_but_the_units(rng):
    truth = draw_model(80, 4, rng)
    X, y, _ = draw_corpus(truth, 600, 60, rng)
    docs = Corpus(X, y)
    plain = noise_by_split_half(docs, all_of_them(docs, truth))
    for a, b in ((1000.0, 0.0), (1.0, 1e4), (-3.0, 7.0)):
        other = replace(truth, eta=a * truth.eta + b, sigma=abs(a) * truth.sigma)
        moved = noise_by_split_half(Corpus(X, a * y + b), all_of_them(docs, other))
        found = [moved.value / a**2, moved.std / a**2]
        assert_allclose(found, [plain.value, plain.std], rtol=1e-6)


def test_words_are_dealt_again_only_if_that_left_it_unsure(rng):
    truth = draw_model(80, 4, rng, noise=0.5)
    X, y, _ = draw_corpus(truth, 2000, 60, rng)
    for docs, deals in ((Corpus(X, y), 1), (Corpus(X[:60], y[:60]), 2)):
        first, again = (cross_products(docs, all_of_them(docs, truth), seed) for seed in (0, 1))
        expected = estimate(first if deals == 1 else first + again)
        assert estimate(first).is_within(MODEL.noise_deal_tolerance) == (deals == 1)
        assert noise_by_split_half(docs, all_of_them(docs, truth)) == expected


def test_short_documents_and_a_part_of_them(rng):
    truth = draw_model(80, 4, rng)
    X, y, _ = draw_corpus(truth, 600, 60, rng)
    short = csr_array(X.multiply(np.repeat([1, 0], [500, 100])[:, None]))
    all_known = all_of_them(Corpus(X[:500], y[:500]), truth)
    found = cross_products(Corpus(short, y), all_known, 0)
    expected = cross_products(Corpus(X[:500], y[:500]), all_known, 0)
    assert_allclose(found.products, expected.products)
    some = cross_products(Corpus(X, y), in_two(Corpus(X, y), 0.5, truth, truth)[:1], 0)
    assert some.weights.sum() < expected.weights.sum()


def test_a_shard_may_have_no_document_of_a_part(rng):
    truth = draw_model(80, 4, rng)
    X, y, _ = draw_corpus(truth, 1, 60, rng)
    others, _, _ = draw_corpus(truth, 300, 60, rng)
    keys = KeyCounts.of(Corpus(others, np.zeros(300)))
    sums = cross_products(
        Corpus(X, y), [(keys.cut(MODEL.jackknife_folds, fifth), truth) for fifth in keys.cut(5)], 0
    )
    assert sorted((sums.weights > 0).sum(axis=1)) == [0, 0, 0, 0, 1]


def test_parts_count_by_their_weight(rng):
    """Two parts, each with its own model: the mean of what they leave, one with the other."""
    truth = draw_model(80, 4, rng)
    X, y, _ = draw_corpus(truth, 3000, 60, rng)
    unseen = in_two(Corpus(X, y), 0.3, truth, draw_model(80, 4, rng))
    sums = [cross_products(Corpus(X, y), [one], 0) for one in unseen]
    w = np.array([s.weights.sum() for s in sums])
    each = [estimate(s) for s in sums]
    both = estimate(cross_products(Corpus(X, y), unseen, 0))
    assert_allclose(both.value, np.average([e.value for e in each], weights=w))
    assert_allclose(both.std, np.hypot(*(w * [e.std for e in each])) / w.sum())


def test_the_mean_has_no_bias_of_few_documents(rng):
    """What two regressions leave of 40 documents is k / 40 too little; the jackknife knows."""
    k, n, found = 4, 40, []
    for _ in range(500):
        h, e = rng.normal(size=(2, n, k))
        y = h.sum(axis=1) + rng.normal(size=n)
        left, right = np.column_stack([h, y]), np.column_stack([h + 0.1 * e, y])
        parts = [
            left[i :: MODEL.jackknife_folds].T @ right[i :: MODEL.jackknife_folds]
            for i in range(MODEL.jackknife_folds)
        ]
        sums = CrossProducts(
            np.stack([parts]), np.full((1, MODEL.jackknife_folds), n / MODEL.jackknife_folds)
        )
        plain = noise._left(sums.products.sum(axis=1), sums.weights.sum(axis=1))[0]
        found.append([plain, estimate(sums).value])
    plain, value = np.mean(found, axis=0)  # each with a standard error of 0.01
    assert_allclose(plain, 1 - k / n, atol=0.04)
    assert_allclose(value, 1, atol=0.04)


# --- in a fit -------------------------------------------------------------------------


def hard(seed, n=20_000):
    """Twenty topics and little noise: what second moments tell of it is off by a quarter."""
    rng = np.random.default_rng(seed)
    words, alpha0 = (("uniform", 0.5), ("zipf", 1.0), ("uniform", 3.0))[seed % 3]
    truth = draw_model(500, 20, rng, alpha=alpha0 / 20, noise=0.1, words=words)
    X, y, _ = draw_corpus(truth, n, 250, rng)
    return X, y


def test_little_noise_among_many_topics_is_found():
    """Over five seeds within 15 %; one trial has a standard deviation of 3 to 15 %."""
    found = []
    for seed in range(5):
        fitted = SpectralSLDA(random_state=0, n_jobs=2).fit(*hard(seed))
        assert "halves of each document" in fitted.selection_.reasons["noise_variance"]
        assert fitted.selection_.noise_variance == pytest.approx(fitted.noise_variance_)
        found.append(fitted.noise_variance_ / 0.1**2)
    assert_allclose(np.mean(found), 1, atol=0.15)
    assert_allclose(found, 1, atol=0.5)


def looked_at(monkeypatch, X, y, **asked):
    """How often a fit looks at its documents for the noise variance."""
    calls = []

    def count(docs, unseen):
        calls.append(unseen)
        return noise_by_split_half(docs, unseen)

    monkeypatch.setattr(model_regime, "noise_by_split_half", count)
    SpectralSLDA(random_state=0, **asked).fit(X, y)
    return len(calls)


def test_topics_take_the_noise_of_responses_they_were_learnt_from(rng, monkeypatch):
    """So documents are looked at with topics learnt from others."""
    seen = []

    def look(docs, unseen):
        seen.append(noise_by_split_half(docs, unseen))
        return seen[-1]

    monkeypatch.setattr(model_regime, "noise_by_split_half", look)
    monkeypatch.setattr(noise, "MODEL", replace(MODEL, noise_tolerance=0.0))
    own, variances = [], []
    for _ in range(8):
        truth = draw_model(300, 5, rng, alpha=0.2, noise=0.5)
        X, y, _ = draw_corpus(truth, 1500, 60, rng)
        fitted = SpectralSLDA(5, alpha0=1.0, random_state=0).fit(X, y)
        docs = Corpus(X, y)
        own.append(noise_by_split_half(docs, all_of_them(docs, fitted.model_)).value / 0.25)
        variances.append(y.var())  # of responses that are standardised when the model is learnt
    unseen = [v * e.value / 0.25 for v, e in zip(variances, seen, strict=True)]
    own, unseen = np.mean(own), np.mean(unseen)  # each with a standard error of 0.02
    assert own < 0.95
    assert_allclose(unseen, 1, atol=0.07)


def test_few_documents_of_many_are_looked_at_with_models_of_all_others(rng, monkeypatch):
    """Parts have 300 documents of 3000 between them, and each model has seen 2940."""
    parts, sizes = [], []

    def look(docs, unseen):
        parts.extend(Subset(tenths[0].start, tenths[-1].stop) for tenths, _ in unseen)
        raise np.linalg.LinAlgError

    def watched(sketch, *args, **kwargs):
        sizes.append(sketch.n)
        return decompose(sketch, *args, **kwargs)

    monkeypatch.setattr(model_regime, "MODEL", replace(MODEL, noise_documents=300))
    monkeypatch.setattr(model_regime, "decompose", watched)
    monkeypatch.setattr(model_regime, "noise_by_split_half", look)
    monkeypatch.setattr(noise, "MODEL", replace(MODEL, noise_tolerance=0.0))
    truth = draw_model(80, 3, rng, noise=0.5)
    X, y, _ = draw_corpus(truth, 3000, 60, rng)
    SpectralSLDA(3, alpha0=1.0, random_state=0).fit(X, y)
    assert_allclose([len(part.rows(Corpus(X, y))) for part in parts], 60, atol=4)
    assert_allclose(sizes[:6], [3000] + 5 * [2940], atol=3)


def test_documents_are_not_split_where_moments_tell(rng, monkeypatch):
    truth = draw_model(80, 3, rng, noise=0.5)
    X, y, _ = draw_corpus(truth, 5000, 100, rng)
    assert looked_at(monkeypatch, X, y) == 0
    truth = draw_model(80, 6, rng, alpha=0.3, noise=0.1)
    X, y, _ = draw_corpus(truth, 3000, 60, rng)
    assert looked_at(monkeypatch, X, y, noise_variance=0.01) == 0
    assert looked_at(monkeypatch, X, y) == 1
    monkeypatch.setattr(
        model_regime, "MODEL", replace(MODEL, noise_documents=10)
    )  # too few to tell more than all the moments
    assert looked_at(monkeypatch, X, y) == 0


def test_topics_that_are_alike_leave_it_to_the_moments(rng, monkeypatch):
    truth = draw_model(80, 6, rng, alpha=0.3, noise=0.1)
    X, y, _ = draw_corpus(truth, 3000, 60, rng)

    def unlucky(docs, unseen):
        model = unseen[0][1]
        alike = Model(model.alpha, model.mu[:, [0, 0, 2, 3, 4, 5]], model.eta, model.sigma)
        return noise_by_split_half(docs, all_of_them(docs, alike))

    found = []
    for name, instead in (
        ("noise_by_split_half", unlucky),
        ("_with_noise", lambda found, context: found),
    ):
        with monkeypatch.context() as m:
            m.setattr(model_regime, name, instead)
            found.append(SpectralSLDA(6, random_state=0).fit(X, y).noise_variance_)
    assert found[0] == found[1]
