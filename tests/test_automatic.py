"""What is chosen from the data, and the regime "text", of documents that is not from the model."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import population_basis, population_sketch, unequal_model
from scipy.sparse import csr_array, vstack
from scipy.special import digamma
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV

from topicprism import (
    AutoSLDA,
    Corpus,
    NothingPredictedWarning,
    SpectralLDA,
    SpectralSLDA,
    infer,
    sketch,
)
from topicprism.datasets import draw_corpus, draw_model, make_slda
from topicprism.documents import OnDisk
from topicprism.documents.subsets import ALL, KeyCounts
from topicprism.evaluation import bhattacharyya, match, pr2, recovery_errors
from topicprism.inference import posterior
from topicprism.kernels import fold_in
from topicprism.learn import FitRequest, learn, model_check
from topicprism.learn.defaults import TEXT
from topicprism.learn.refine import refine
from topicprism.learn.response_topics import (
    _apart,
    _without_chance,
    across_mean,
    agreement,
    n_response_topics,
    sizes_by_fold,
    topics_of,
)
from topicprism.learn.ridge import Products, calibrate, products, regress
from topicprism.learn.sketch_regime import Moments, drawn
from topicprism.learn.spectrum import (
    alpha0_of,
    n_from_spectrum,
    n_significant,
    spectrum_ends_at,
    spectrum_is_complete,
    without_noise,
)
from topicprism.model import Model
from topicprism.spectral.basis import trace_of_A
from topicprism.spectral.decompose import decompose
from topicprism.spectral.moments import word_sums
from topicprism.spectral.recovery import noise_variance, noise_variance_std
from topicprism.spectral.settings import Settings
from topicprism.spectral.sketch import sketch_over


@pytest.fixture(scope="module")
def fitted(text):
    X, y = text
    return SpectralSLDA(random_state=0).fit(X[:3000], y[:3000])


# --- model data: the truth is found ---------------------------------------------------


@pytest.mark.parametrize("seed", [0, 6, 9])
def test_a_topic_at_the_edge_of_noise_is_told_by_the_gap_after_it(seed):
    """The last of twenty eigenvalues is above the edge, if not clearly, and chance is far below."""
    rng = np.random.default_rng(seed)
    truth = draw_model(500, 20, rng, alpha=3 / 20, noise=0.5, words="zipf")
    X, y, _ = draw_corpus(truth, 20_000, 250, rng)
    fitted = SpectralSLDA(random_state=0, n_jobs=2).fit(X, y)
    chosen = fitted.selection_
    assert chosen.spectrum[19] < chosen.threshold
    assert chosen.n_topics == 20
    assert chosen.trials == ()
    assert_allclose(chosen.alpha0, 3, rtol=0.25)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("k", [5, 10, 20])
def test_k_alpha0_and_noise_of_model_data(k, seed):
    """The targets: k within one, alpha0 within 25 %, the noise variance within 15 %."""
    rng = np.random.default_rng(seed)
    alpha0 = (0.5, 1.0, 3.0)[seed % 3]
    truth = draw_model(500, k, rng, alpha=alpha0 / k, noise=0.5)
    X, y, _ = draw_corpus(truth, 20_000, 250, rng)
    fitted = SpectralSLDA(random_state=0, n_jobs=2).fit(X, y)
    assert abs(fitted.model_.n_topics - k) <= 1
    assert_allclose(fitted.selection_.alpha0, alpha0, rtol=0.25)
    assert_allclose(fitted.noise_variance_, 0.25, rtol=0.15)
    assert "above sampling noise" in fitted.selection_.reasons["n_topics"]
    assert fitted.selection_.trials == ()


@pytest.mark.parametrize("seed", range(5))
def test_words_in_bursts_are_not_the_models(seed):
    """The spectrum ends at three either way, but words said again are more than topics explain."""
    rng = np.random.default_rng(seed)
    truth = draw_model(300, 3, rng, words="zipf")
    plain, y, h = draw_corpus(truth, 3000, 60, rng)
    said = np.array([rng.dirichlet(2000 * p) for p in h @ truth.mu.T + 1e-9])
    bursts = csr_array(rng.multinomial(60, said))
    for X, from_the_model in ((plain, True), (bursts, False)):
        docs = Corpus(X, y)
        made = sketch(docs, 12, np.random.default_rng(0))
        assert spectrum_ends_at(made, 3)
        assert spectrum_is_complete(made, 3, trace_of_A(word_sums(docs))) == from_the_model
        learnt = learn(docs, FitRequest(3), np.random.default_rng(0))
        assert (learnt.solution is not None) == from_the_model


def tilted(n_documents, seed):
    """Eight words of three topics, each made likelier or rarer by the response: not sLDA."""
    rng = np.random.default_rng(seed)
    mu, sign = rng.dirichlet(np.full(200, 0.3), 3), rng.choice([-1.0, 1.0], 200)
    y = rng.standard_normal(n_documents)
    p = rng.dirichlet(np.full(3, 0.3), n_documents) @ mu * np.exp(0.3 * np.outer(y, sign))
    return csr_array(rng.multinomial(8, p / p.sum(axis=1, keepdims=True))), y


@pytest.mark.parametrize("seed", range(3))
def test_a_spectrum_that_noise_cuts_short_is_not_the_models(seed):
    """It was taken for that of three topics: pR2 of 0.02, -0.96 and -0.02 in place of 0.3."""
    X, y = tilted(2000, seed)
    short = SpectralSLDA(random_state=0).fit(X[:1000], y[:1000])
    assert not hasattr(short, "eigenvalues_")
    assert "seems to end at 3" in short.selection_.reasons["n_topics"]
    assert short.score(X[1000:], y[1000:]) > 0.2


def test_a_topic_that_half_of_the_documents_has_not_is_no_crash(monkeypatch):
    """Its prior was 5e-7 in a half of 1,000 sentences, and inference divided by zero."""
    X, y = tilted(1000, 0)
    mu = np.random.default_rng(0).dirichlet(np.full(200, 0.3), 3).T
    gone = Model(np.array([5e-7, 0.02, 0.03]), mu, np.zeros(3), 1.0)
    monkeypatch.setattr(model_check, "_HalfModel", lambda *_: lambda _: gone)
    fitted = SpectralSLDA(random_state=0).fit(X, y)
    assert "halves of the documents do not have as many" in fitted.selection_.reasons["n_topics"]


@pytest.mark.parametrize(("n", "doc_length", "k"), [(1000, 15, 3), (3000, 10, 3), (500, 20, 3)])
def test_short_documents_from_the_model_stay_the_models(n, doc_length, k):
    X, y, _ = make_slda(n, n_words=100, n_topics=k, doc_length=doc_length, random_state=1)
    fitted = SpectralSLDA(random_state=0).fit(X, y)
    assert hasattr(fitted, "eigenvalues_")
    assert fitted.model_.n_topics == k


@pytest.mark.parametrize("seed", range(3))
def test_a_few_hundred_short_documents_are_predicted(seed):
    """Halves of 500 documents of six words show no direction of the response: pR2 was 0."""
    rng = np.random.default_rng(seed)
    mu = rng.dirichlet(np.full(300, 0.1), 40).T
    truth = Model(np.full(40, 0.05), mu, rng.standard_normal(40), 0.3)
    X, y, _ = draw_corpus(truth, 1500, 6, rng)
    fitted = SpectralSLDA(random_state=0).fit(X[:500], y[:500])
    score = fitted.score(X[500:], y[500:])
    assert score > 0.04
    assert abs(fitted.cross_fitted_r2_ - score) < 0.1  # three standard errors of 500 documents


def test_rare_words_of_the_response_are_taken_for_chance(rng):
    """A word of m occurrences keeps m / (m + TEXT.occurrences) of its share in a topic, and has the
    rest of its frequency in all documents, up to one factor for each topic."""
    V = 30
    X = rng.poisson(1 / np.arange(1, V + 1) ** 1.5, (400, V))
    X = X[X.sum(axis=1) >= 3]
    docs = Corpus(csr_array(X), rng.normal(size=len(X)))
    made, sums = sketch(docs, V, rng), word_sums(docs)
    p, mu = sums.frequencies, rng.dirichlet(np.ones(V), 2).T
    m = p / sums.share_of_a_word
    kept = (m / (m + TEXT.occurrences))[:, None]
    assert m.min() < TEXT.occurrences < 50 < m.max()  # rare and common ones
    expected = kept * mu + (1 - kept) * p[:, None]
    assert_allclose(_without_chance(made, mu), expected / expected.sum(axis=0), rtol=1e-6)


def test_topics_of_the_response_are_moved_apart_within_their_span(rng):
    common, tilt = rng.dirichlet(np.full(200, 5.0)), 0.3 * rng.choice([-1.0, 1.0], 200)
    mu = np.column_stack([common * (1 + tilt), common * (1 - tilt)])
    mu /= mu.sum(axis=0)
    moved = _apart(mu)
    assert bhattacharyya(mu, mu)[0, 1] > 0.9
    assert bhattacharyya(moved, moved)[0, 1] <= TEXT.response_alike
    assert_allclose(moved.sum(axis=0), 1)
    assert_allclose(moved, mu @ np.linalg.lstsq(mu, moved, rcond=None)[0], atol=1e-9)
    assert_array_equal(_apart(mu[:, :1]), mu[:, :1])


def test_exact_moments_give_alpha0_and_k(rng):
    truth = unequal_model(rng)
    exact = population_sketch(truth, population_basis(truth, rng))
    assert (exact.spectrum[5:] < 1e-12 * exact.spectrum[0]).all()  # rounding, beyond five
    told = replace(exact, n=10**6, c2=(1e-9 * exact.weight) ** 2)  # noise above rounding
    assert n_significant(told) == n_from_spectrum(told) == 5
    assert [k for k in range(1, 6) if spectrum_ends_at(told, k)] == [5]
    found = alpha0_of(exact, 5, Settings(), rng)
    assert_allclose(found, truth.alpha.sum(), rtol=1e-3)


def test_the_noise_edge_is_where_noise_ends(rng):
    """Words drawn with no topics at all: the largest eigenvalue but one is the edge."""
    p = rng.dirichlet(np.full(300, 5.0))
    X = csr_array(rng.multinomial(80, p, size=8000))
    made = sketch(Corpus(X, rng.standard_normal(8000)), 12, rng)
    assert_allclose(made.spectrum[1], made.noise_edge, rtol=0.1)
    assert n_significant(made) == 1
    assert spectrum_ends_at(made, 1)
    assert without_noise(made).spectrum[1] < 0.8 * made.spectrum[1]


def test_the_error_of_the_noise_variance_is_known(rng):
    """Twelve corpora: off by one standard error, give or take, and by no more than three."""
    z = []
    for _ in range(12):
        truth = draw_model(80, 6, rng, alpha=0.3, noise=0.2)
        X, y, _ = draw_corpus(truth, 3000, 60, rng)
        made = sketch(Corpus(X, y), 12, rng)
        apart = noise_variance(made, 6) - 0.04 / made.basis.scale**2
        z.append(apart / noise_variance_std(made, 6))
    assert np.abs(z).max() < 3.5
    assert 0.5 < np.sqrt(np.mean(np.square(z))) < 1.6  # chance alone: 0.6 to 1.4


def test_paper_or_not(text):
    X, y, truth = make_slda(6000, n_words=100, n_topics=4, doc_length=100, random_state=0)
    paper = SpectralSLDA(4, random_state=0).fit(X, y)
    assert hasattr(paper, "eigenvalues_")
    assert paper.coef_std_.shape == (4,)
    assert paper.model_.burstiness == 0
    assert recovery_errors(paper.model_, truth).mu < 0.15
    robust = SpectralSLDA(4, random_state=0).fit(*text)
    assert not hasattr(robust, "eigenvalues_")
    assert robust.coef_std_.shape == (4,)
    again = paper.fit(*text)  # nothing of the earlier fit is left
    assert not hasattr(again, "eigenvalues_")


# --- text that is not from the model --------------------------------------------------


def ridge_score(X, y):
    """A regression on all words, the penalty being the best in hindsight."""
    rows = X / X.sum(axis=1, keepdims=True)
    scaled = rows / np.sqrt(rows.mean(axis=0))
    fits = [Ridge(a).fit(scaled[:3000], y[:3000]) for a in (1, 10, 100, 1000)]
    return max(pr2(y[3000:], f.predict(scaled[3000:])) for f in fits)


def test_nothing_to_tune(text, fitted):
    X, y = text
    assert fitted.score(X[3000:], y[3000:]) > 0.9 * ridge_score(X.toarray(), y)
    assert fitted.model_.burstiness > 0
    tried = [t.n_topics for t in fitted.selection_.trials]
    assert tried == [3, 5, 10, 20, 30, 50][: max(len(tried), 4)]
    assert fitted.selection_.n_tried in tried
    assert fitted.selection_.n_topics == len(fitted.coef_)
    assert set(fitted.selection_.reasons) == {"method", "n_topics", "alpha0", "noise_variance"}


def test_trials_are_of_documents_held_out(text, fitted):
    """What the table says of a number of topics is what new documents confirm."""
    X, y = text
    for trial in fitted.selection_.trials:
        model = SpectralSLDA(trial.n_topics, random_state=0).fit(X[:3000], y[:3000])
        assert abs(model.score(X[3000:], y[3000:]) - trial.pr2) < 0.08


@pytest.mark.filterwarnings("ignore::topicprism.NothingPredictedWarning")  # by one topic
@pytest.mark.parametrize("method", ["joint", "two-stage"])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 7, 20, 50])
def test_any_number_of_topics_gives_a_sane_model(text, fitted, k, method):
    X, y = text
    model = SpectralSLDA(k, method=method, random_state=0).fit(X[:3000], y[:3000])
    assert len(model.coef_) == k
    score = model.score(X[3000:], y[3000:])
    assert score > -0.02
    if method == "joint" and k > 2:
        assert score > fitted.score(X[3000:], y[3000:]) - 0.08


def test_what_was_asked_for_is_kept(text):
    model = SpectralSLDA(5, alpha0=2.0, noise_variance=0.3, random_state=0).fit(*text)
    assert_allclose(model.alpha_.sum(), 2.0)
    assert_allclose(model.noise_variance_, 0.3)
    reasons = model.selection_.reasons
    assert {reasons[name] for name in reasons if name != "method"} == {"as asked"}


def test_standard_deviations_are_right_on_average(text, fitted):
    """Of new responses, standardised: mean square one, 95 % within two, to three sigma."""
    X, y = text
    y_hat, std = fitted.predict(X[3000:], return_std=True)
    assert_allclose(y_hat, fitted.predict(X[3000:]))
    z = (y[3000:] - y_hat) / std
    assert abs((z**2).mean() - 1) < 0.25
    assert abs((np.abs(z) < 1.96).mean() - 0.95) < 0.03


def test_standard_deviations_on_model_data():
    X, y, _ = make_slda(8000, n_words=100, n_topics=3, doc_length=30, noise=0.3, random_state=1)
    fitted = SpectralSLDA(random_state=0).fit(X[:7000], y[:7000])
    y_hat, std = fitted.predict(X[7000:], return_std=True)
    z = (y[7000:] - y_hat) / std
    assert abs((z**2).mean() - 1) < 0.2
    assert np.ptp(std) > 0.1  # some documents tell more than others


def test_a_response_that_words_do_not_tell_is_not_explained(text):
    X, _ = text
    noise = np.random.default_rng(5).standard_normal(X.shape[0])
    for k in (5, 20, "auto"):
        with pytest.warns(NothingPredictedWarning, match="do not predict y"):
            model = SpectralSLDA(k, random_state=0).fit(X[:3000], noise[:3000])
        assert abs(model.score(X[3000:], noise[3000:])) < 0.02
        assert np.isnan(model.coef_std_).all()


@pytest.mark.parametrize("seed", range(6))
def test_one_topic_has_the_mean_response(seed):
    """The noise of the response was once taken for its direction: pR2 of -43 and below."""
    rng = np.random.default_rng(seed)
    X = rng.multinomial(12, rng.dirichlet(np.ones(20)), size=300)
    y = 5 + 2 * rng.standard_normal(300)
    for method in ("joint", "two-stage"):
        model = SpectralSLDA(method=method, random_state=0).fit(X, y)
        assert model.model_.n_topics == 1
        assert_allclose(model.coef_, y.mean())


@pytest.mark.parametrize("k", [3, "auto"])
def test_a_response_that_has_nothing_to_do_with_model_data(k):
    """Two sigma of R^2 for 1,000 new documents and what three coefficients cost on 500."""
    X, y, _ = make_slda(1500, n_words=200, n_topics=5, doc_length=60, random_state=0)
    y = np.random.default_rng(0).permutation(y)
    with pytest.warns(NothingPredictedWarning):
        model = SpectralSLDA(k, random_state=0).fit(X[:500], y[:500])
    assert model.score(X[500:], y[500:]) > -0.02


def test_topics_without_a_response(text):
    X, _ = text
    lda = SpectralLDA(10, random_state=0).fit(X)
    assert lda.components_.shape == (10, 400)
    assert (np.diff(lda.alpha_) <= 0).all()
    plain = Model(np.ones(1), np.asarray(X.sum(axis=0), float)[:, None] / X.sum(), np.zeros(1), 0)
    better = lda.score(X[:500])
    lda.model_ = plain
    assert better > lda.score(X[:500]) + 0.02


def test_where_documents_are_kept_changes_nothing(text, tmp_path):
    X, y = text
    inside = SpectralSLDA(5, random_state=0).fit_documents(Corpus(X, y))
    docs = OnDisk.write(tmp_path, [Corpus(X, y)])
    outside = SpectralSLDA(5, random_state=0).fit_documents(docs)
    assert_array_equal(inside.components_, outside.components_)
    assert_array_equal(inside.coef_, outside.coef_)
    both = OnDisk.write(tmp_path / "two", [Corpus(X[:1500], y[:1500]), Corpus(X[1500:], y[1500:])])
    several = SpectralSLDA(5, random_state=0).fit_documents(both)
    assert_allclose(several.predict(X[:50]), inside.predict(X[:50]), atol=1e-6)


def test_a_sketch_and_a_grid(text):
    """One sketch, many settings; and scikit-learn's own search."""
    X, y, _ = make_slda(4000, n_words=60, n_topics=3, doc_length=60, random_state=0)
    made = sketch(Corpus(X, y), 16, np.random.default_rng(0))
    auto = SpectralSLDA(random_state=0).fit_sketch(made)
    assert auto.model_.n_topics == 3
    direct = SpectralSLDA(random_state=0).fit(X, y)
    assert_allclose(auto.coef_, direct.coef_, atol=0.05)
    for alpha0 in (0.5, 1.0, 2.0):
        assert SpectralSLDA(3, alpha0=alpha0).fit_sketch(made).score(X[:300], y[:300]) > 0.6
    varied = sketch(Corpus(*text), 16, np.random.default_rng(0))
    assert SpectralSLDA(random_state=0).fit_sketch(varied).model_.n_topics == 3
    search = GridSearchCV(SpectralSLDA(random_state=0), {"n_topics": [2, 3, "auto"]}, cv=2)
    assert search.fit(X[:1000], y[:1000]).best_params_["n_topics"] in (3, "auto")


def many_topics(n_documents, seed):
    """Documents of 40 topics: more than a sketch shows, so the regime is text."""
    rng = np.random.default_rng(seed)
    mu = rng.dirichlet(np.full(300, 0.1), 40).T
    model = Model(np.full(40, 0.05), mu, rng.standard_normal(40), 0.3)
    return draw_corpus(model, n_documents, 60, rng)[:2]


@pytest.mark.parametrize("seed", [0, 1])
def test_a_sketch_of_text_predicts_nearly_as_well_as_its_documents(seed):
    """It did not: coefficients of a tensor mean little where the model does not hold."""
    X, y = many_topics(5000, seed)
    made = sketch(Corpus(X[:4000], y[:4000]), 32, np.random.default_rng(0))
    for options in ({}, {"n_topics": 5}):
        documents = SpectralSLDA(**options, random_state=0).fit(X[:4000], y[:4000])
        alone = SpectralSLDA(**options, random_state=0).fit_sketch(made)
        assert not hasattr(alone, "eigenvalues_")  # the regime is text
        assert alone.score(X[4000:], y[4000:]) > 0.8 * documents.score(X[4000:], y[4000:])
        expected, std = alone.predict(X[4000:], return_std=True)
        assert 0.7 < np.mean((y[4000:] - expected) ** 2 / std**2) < 1.4
    moved = sketch(Corpus(X[:4000], 7 + 10 * y[:4000]), 32, np.random.default_rng(0))
    same = SpectralSLDA(random_state=0).fit_sketch(made).predict(X[:50])
    other = SpectralSLDA(random_state=0).fit_sketch(moved).predict(X[:50])
    assert_allclose(other, 7 + 10 * same, atol=1e-5)


def test_a_sketch_of_text_predicts_the_mean_if_words_tell_nothing():
    X, y = many_topics(2000, 0)
    y = np.random.default_rng(0).permutation(y)
    alone = SpectralSLDA(random_state=0).fit_sketch(
        sketch(Corpus(X, y), 32, np.random.default_rng(0))
    )
    assert_allclose(alone.coef_, np.mean(y), atol=0.05 * y.std())
    assert alone.noise_variance_ == pytest.approx(y.var(), rel=0.05)


def test_documents_drawn_from_moments_have_these_moments():
    """In few coordinates that hold a topic model of two topics, whose words stay positive."""
    X, y, _ = make_slda(20_000, 40, 2, 100, alpha=20.0, noise=0.1, random_state=0)
    made = sketch(Corpus(X, y), 8, np.random.default_rng(0))
    about = Moments.of(made, 2)
    counts, expected = drawn(about, 20_000, made.typical_length, np.random.default_rng(1))
    assert made.typical_length == 100
    assert_allclose(counts.sum(axis=1), 100)
    again = sketch_over(Corpus(counts, made.basis.centre + made.basis.scale * expected), made.basis)
    theirs, ours = Moments.of(again, 2), about
    assert_allclose(theirs.mean, ours.mean, atol=0.01 * np.linalg.norm(ours.mean))
    assert_allclose(theirs.C, ours.C, atol=0.1 * np.linalg.norm(ours.C))
    assert_allclose(theirs.c, ours.c, atol=0.15 * np.linalg.norm(ours.c))


# --- the parts ------------------------------------------------------------------------


def test_restricted_sketches_are_sketches_of_fewer_coordinates(rng):
    X, y, _ = make_slda(500, n_words=30, n_topics=3, doc_length=20, random_state=0)
    made = sketch(Corpus(X, y), 8, rng)
    R, _ = np.linalg.qr(rng.standard_normal((8, 3)))
    small = made.project(R)
    assert_allclose(small.first[:3], R.T @ made.first[:8])
    assert_allclose(small.second[:3, :3], R.T @ made.second[:8, :8] @ R)
    assert_allclose(
        small.third[:3, :3, 3], R.T @ made.third[:8, :8, 8] @ R, atol=1e-9 * made.weight
    )
    assert_allclose(small.basis.B.T @ small.basis.lift, np.eye(3), atol=1e-12)


def test_topics_of_the_response_hold_its_directions(text):
    """E[x], b = E[y x] and E[x x] b are in the span of the first three topics."""
    X, y = text
    made = sketch(Corpus(X, y), 32, np.random.default_rng(0))
    model, n = topics_of(made, 10, 3, np.random.default_rng(0))
    assert (n, model.n_topics) == (3, 10)
    assert_allclose(model.mu.sum(axis=0), 1)
    assert_allclose(model.alpha[:n].sum(), TEXT.response_share * TEXT.prior_sum)
    rows = X.toarray() / X.toarray().sum(axis=1, keepdims=True)
    b = rows.T @ (y - y.mean()) / len(y)
    inside = model.mu[:, :3] @ np.linalg.lstsq(model.mu[:, :3], b, rcond=None)[0]
    assert np.corrcoef(inside, b)[0, 1] > 0.95  # the simplex costs a little


@pytest.mark.parametrize("k", [2, 3, 4, 9, 40])
def test_who_said_what(rng, k):
    """One document by the lines of the docstring; another, longer one changes nothing in it."""
    model = unequal_model(rng, n_words=8, n_topics=k)
    n, other = np.array([2, 0, 1, 3, 1, 0, 0, 1]), np.ones(8)
    X = csr_array(np.array([n, other, n]))

    def assigned(X):
        words, shares = np.zeros((8, k)), np.zeros(k)
        fold_in.assign(X.indptr, X.indices, X.data, model.mu, model.alpha, 4, words, shares)
        return words, shares

    words, shares = assigned(X[[0]])
    for all_three, longer, once in zip(assigned(X), assigned(X[[1]]), (words, shares), strict=True):
        assert_allclose(all_three, 2 * once + longer)
    c = model.alpha
    for _ in range(4):
        r = model.mu * c / (model.mu @ c)[:, None]
        z = n @ r
        c = np.exp(digamma(model.alpha + z))
    assert_allclose(words, n[:, None] * r)
    assert_allclose(shares, (model.alpha + z) / (model.alpha.sum() + n.sum()))


def test_a_round_of_refinement(rng):
    X, y, truth = make_slda(300, n_words=20, n_topics=3, doc_length=30, random_state=0)
    docs = Corpus(X, y)
    words, shares = np.zeros((20, 3)), np.zeros(3)
    fold_in.assign(
        X.indptr, X.indices, X.data, np.ascontiguousarray(truth.mu), truth.alpha, TEXT.sweeps,
        words, shares,
    )  # fmt: skip
    mu = (words + TEXT.word_prior) / (words + TEXT.word_prior).sum(axis=0)
    free = refine(docs, truth, 1)
    assert_allclose(free.mu, mu)
    assert_allclose(free.alpha, truth.alpha.sum() * shares / shares.sum())
    held = refine(docs, truth, 1, n_frozen=2)
    assert_array_equal(held.mu[:, :2], truth.mu[:, :2])
    assert_allclose(held.mu[:, 2], mu[:, 2])
    assert_allclose(held.alpha, free.alpha)
    half = KeyCounts.of(docs).cut(2)[0]
    assert_allclose(refine(docs, truth, 1, subset=half).mu, refine(half.rows(docs), truth, 1).mu)


def test_sizes_of_directions_in_folds_are_those_of_the_moments(text):
    """v'E[x x]v, from the sketch of each fold; their sums are those of the whole."""
    corpus = Corpus(*text)
    made = sketch(corpus, 16, np.random.default_rng(0))
    tenths, V = KeyCounts.of(corpus).cut(10), across_mean(made)
    assert_allclose(V.T @ V, np.eye(16), atol=1e-12)

    def along(second):
        return np.diag(V.T @ second[:-1, :-1] @ V)

    parts = sizes_by_fold(corpus, made.basis.B @ V, tenths)
    assert_allclose(parts.weights.sum(), made.weight)
    assert_allclose(parts.sums.sum(axis=0), along(made.second), atol=1e-9 * made.weight)
    tenth = sketch_over(tenths[1].rows(corpus), made.basis)
    assert_allclose(parts.sizes[1], along(tenth.second / tenth.weight), atol=1e-9)
    few = corpus.rows(0, 4)
    parts = sizes_by_fold(few, made.basis.B @ V, KeyCounts.of(few).cut(10))
    assert len(parts.sizes) == 4  # of ten parts, those that have a document


def test_documents_that_are_nearly_the_same_are_no_topic(text):
    """Thirty words that three long documents of 4,003 share, and hardly any other."""
    X, y = text
    rng = np.random.default_rng(1)
    rare = rng.multinomial(1, np.full(30, 1 / 30), 4003) * (rng.random((4003, 1)) < 0.06)
    rare[1000:1003] = 8
    X = csr_array(np.hstack([vstack([X[:1000], X[:3], X[1000:]]).toarray(), rare]))
    corpus = Corpus(X, np.insert(y, 1000, y[:3]))
    made = sketch(corpus, 32, np.random.default_rng(0))
    directions = made.basis.B @ across_mean(made)
    parts = sizes_by_fold(corpus, directions, KeyCounts.of(corpus).cut(10)).sizes

    def said(*with_parts):
        model, _ = topics_of(made, 10, 0, np.random.default_rng(0), *with_parts)
        return model.mu[400:].sum(axis=0).max()

    assert said() > 0.5
    assert said(parts) < 0.1


def test_agreement_is_the_cosine_of_halves(text):
    """By its definition, with every pair of words of every document written out."""
    X, y = text
    corpus = Corpus(X[:60, :40], y[:60]).long()
    counts, y = csr_array(X[:60, :40]).toarray()[X[:60, :40].sum(axis=1) >= 3], corpus.y
    n = counts.sum(axis=1)
    weights, pairs = n / (n + 30), n / (n + 30) / (n * (n - 1))
    p = (weights / n) @ counts / weights.sum()
    a_word = pairs @ counts.sum(axis=1) / (len(n) * weights.sum())
    scale = 1 / np.sqrt(p + 20 * a_word)
    centred = y - weights @ y / weights.sum()
    sixths = KeyCounts.of(corpus).cut(6)
    sixth = np.select([part.has(corpus.keys) for part in sixths], range(6))

    def third(own):
        some = np.isin(sixth, own)
        x, w, m, v = counts[some] * scale, weights[some], n[some], pairs[some]
        mean, b = (w / m) @ x, (w * centred[some] / m) @ x
        A = (x.T * v) @ x - np.diag(v @ (x * scale))
        Q, _ = np.linalg.qr(np.column_stack([mean, b]))
        c = A @ b - Q @ (Q.T @ (A @ b))
        return c / np.linalg.norm(c)

    ways = [{0, i, j} for i in range(1, 6) for j in range(i + 1, 6)]
    cosines = [third(list(one)) @ third(list(set(range(6)) - one)) for one in ways]
    assert len(cosines) == 10
    assert_allclose(agreement(corpus, sixths), np.mean(cosines))


def test_the_response_has_a_third_topic_if_the_documents_agree_on_it(text):
    X, y = text
    many, few = Corpus(X, y), Corpus(X[:150], y[:150])

    def by_sixths(f, docs):
        return f(docs, KeyCounts.of(docs).cut(6))

    assert by_sixths(agreement, few) < by_sixths(agreement, many)
    assert [by_sixths(n_response_topics, docs) for docs in (few, many)] == [2, 3]
    silent = Corpus(X, np.random.default_rng(0).permutation(y))
    without_a_sixth = Corpus(X[:4], y[:4])
    for docs in (silent, without_a_sixth, Corpus(X, np.ones_like(y))):
        assert by_sixths(n_response_topics, docs) == 2
    for docs, n in ((few, 2), (many, 3)):
        learnt = learn(docs, FitRequest(5), np.random.default_rng(0))
        assert (len(learnt.frozen_topics), learnt.model.n_topics) == (n, 5)


def test_regression_from_sums(rng):
    H = rng.dirichlet(np.ones(4), 2000)
    y = H @ [1.0, -2.0, 0.5, 3.0] + 0.3 * rng.standard_normal(2000)
    p = Products(2000, H.T @ H, H.T @ y, float(y.sum()), float(y @ y))
    found = regress(p)
    plain = LinearRegression(fit_intercept=False).fit(H, y)
    assert_allclose(found.eta, plain.coef_, atol=0.02)  # a little is taken off
    assert_allclose(found.variance, 0.09, rtol=0.1)
    cov = 0.09 * np.linalg.inv(H.T @ H)
    assert_allclose(found.std, np.sqrt(np.diag(cov)), rtol=0.1)
    assert_allclose(p.error(found.eta), ((y - H @ found.eta) ** 2).sum())
    assert_allclose(p.pr2(found.eta), pr2(y, H @ found.eta))


def test_calibration_leaves_short_documents_out_and_finds_the_noise(rng):
    X, y, truth = make_slda(2000, n_words=80, n_topics=3, doc_length=100, noise=0.4, random_state=2)
    X = csr_array(np.vstack([X.toarray(), np.eye(1, 80, dtype=int)]))
    y = np.append(y, 1e6)
    found = calibrate(Corpus(X, y), truth, ALL)
    assert_allclose(found.model.eta, truth.eta, atol=0.1)
    assert_allclose(found.model.sigma**2, 0.16, rtol=0.15)
    assert_allclose(found.predictive_variance[1], 1, atol=0.4)
    assert products(Corpus(X, y), truth, ALL).n == 2000


def test_bursts_count_less(rng):
    """A word said n times weighs as n / (1 + b (n - 1)) words."""
    model = Model(np.full(2, 0.5), np.array([[0.9, 0.1], [0.1, 0.9]]), np.zeros(2), 0.0)
    shown = csr_array([[4, 0], [1, 0], [2, 2]])
    once = infer(Model(model.alpha, model.mu, model.eta, 0.0, 1.0), shown)
    assert_allclose(once, infer(model, csr_array([[1, 0], [1, 0], [1, 1]])))
    half = posterior(Model(model.alpha, model.mu, model.eta, 0.0, 0.5), shown)
    assert once[0, 0] < half.h[0, 0] < infer(model, shown)[0, 0]
    assert_allclose(half.h, infer(model, csr_array([[1.6, 0], [1, 0], [4 / 3, 4 / 3]])))


def test_variance_of_a_posterior(rng):
    """Against draws from the Dirichlet it stands for."""
    model = unequal_model(rng, n_words=10, n_topics=3)
    known = posterior(model, csr_array([[2, 0, 1, 0, 3, 0, 0, 0, 0, 1]]))
    draws = rng.dirichlet(known.total[0] * known.h[0], 200_000) @ model.eta
    assert_allclose(known.variance(model.eta), draws.var(), rtol=0.02)


def test_decompositions_of_sketches_ignore_what_is_not_in_them(rng):
    truth = unequal_model(rng)
    exact = population_sketch(truth, population_basis(truth, rng))
    assert exact.noise_edge == 0
    assert_allclose(without_noise(exact).second, exact.second, atol=1e-9)
    assert decompose(exact, 5, truth.alpha.sum(), rng=rng).model.n_topics == 5


def test_intervals_hold_the_truth_where_the_model_does():
    """Of fifty 95 % intervals, 80 % at least: nine in ten do, and the standard deviation of that
    share is 4 %."""
    errors = []
    for seed in range(10):
        X, y, truth = make_slda(4000, n_words=100, n_topics=5, noise=0.5, random_state=seed)
        fitted = SpectralSLDA(5, alpha0=truth.alpha.sum(), random_state=0).fit(X, y)
        order = match(fitted.model_, truth)
        errors += list((fitted.coef_[order] - truth.eta) / fitted.coef_std_[order])
    assert np.mean(np.abs(errors) < 1.96) > 0.8
    assert np.std(errors) > 0.6  # and they are not simply wide


@pytest.mark.parametrize(("alpha0", "k"), [pytest.param(1.0, 3, marks=pytest.mark.slow), (3.0, 4)])
def test_intervals_hold_the_truth_with_nothing_told(alpha0, k):
    """Errors of alpha0 are in those of the coefficients: with alpha0 held fixed, as it was, a half
    and a fifth of these intervals held the truth.  Rows are in the order of the response."""
    errors, chosen = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        truth = draw_model(500, k, rng, alpha=alpha0 / k, noise=0.5)
        X, y, _ = draw_corpus(truth, 4000, 60, rng)
        rows = np.argsort(y)
        fitted = SpectralSLDA(random_state=0).fit(X[rows], y[rows])
        assert fitted.model_.n_topics == k
        order = match(fitted.model_, truth)
        errors += list((fitted.coef_[order] - truth.eta) / fitted.coef_std_[order])
        chosen.append(fitted.selection_.alpha0)
    assert np.mean(np.abs(errors) < 1.96) > 0.85
    assert np.std(errors) > 0.6  # and they are not simply wide
    assert_allclose(np.median(chosen), alpha0, rtol=0.3)
    same = AutoSLDA(random_state=0).fit(X, y)
    assert_allclose(same.coef_, fitted.coef_, rtol=1e-6)
    assert_allclose(same.coef_std_, fitted.coef_std_, rtol=1e-6)


def test_an_automatic_prior_adds_up_to_what_it_says():
    X, y, _ = make_slda(3000, n_words=100, n_topics=3, random_state=0)
    fitted = SpectralSLDA(random_state=0).fit(X, y)
    assert_allclose(fitted.alpha_.sum(), fitted.selection_.alpha0)


@pytest.mark.parametrize(
    ("doc_length", "said"), [(20, "do not determine it"), (400, "agrees with itself")]
)
def test_an_alpha0_at_the_end_of_its_range_is_said_to_be_there(doc_length, said):
    X, y, _ = make_slda(2000, n_words=200, n_topics=4, doc_length=doc_length, random_state=3)
    chosen = SpectralSLDA(4, random_state=0).fit(X, y).selection_
    assert said in chosen.reasons["alpha0"]
    assert "95 % interval 0." in chosen.reasons["alpha0"]
    assert (chosen.alpha0 <= 0.1001) == (doc_length == 20)
