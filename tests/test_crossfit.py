"""Effects by cross-fitting, topics that are found again, and the sampled default."""

import warnings
from dataclasses import replace
from functools import partial
from unittest.mock import patch

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer
from varied_texts import varied_texts

from topicprism import (
    AutoSLDA,
    CopiesWarning,
    Corpus,
    MedLDA,
    Model,
    NothingPredictedWarning,
    SpectralSLDA,
)
from topicprism.datasets import make_slda
from topicprism.documents import Threaded
from topicprism.documents.copies import once_each
from topicprism.documents.corpus import take_rows
from topicprism.documents.subsets import ALL, KeyCounts
from topicprism.learn import auto, crossfit, prior_choice, sampled_text
from topicprism.learn.crossfit import combine, cross_fit, fit_halves, predictions_of
from topicprism.learn.defaults import EFFECTS
from topicprism.learn.judging import supported
from topicprism.learn.prior_choice import PriorChoice, probabilities
from topicprism.learn.proportions import inferred
from topicprism.learn.ridge import (
    Products,
    first_good_enough,
    likelihoods,
    regress,
    regress_robustly,
)
from topicprism.learn.sampled_text import without_floods
from topicprism.show.effects import effects
from topicprism.vectorizer import FastCountVectorizer

BOTH = np.ones((2, 3), bool)


@pytest.fixture(scope="module")
def text():
    texts, y = varied_texts(1500)
    return FastCountVectorizer(min_df=5, max_df=0.5).fit_transform(texts), np.array(y)


# --- two halves make one effect ---------------------------------------------------------


def test_robust_variances_are_the_sandwich(rng):
    """Of HC3, written out document by document; the penalty is negligible here."""
    h = rng.dirichlet(np.ones(3), 400)
    y = h @ [1.0, -1, 0.5] + h[:, 0] * rng.standard_normal(400)
    keys = np.arange(400, dtype=np.uint64)
    eta, variance = regress_robustly(h, y, keys)
    inverse = np.linalg.inv(h.T @ h)
    errors = (y - h @ eta) / (1 - np.array([row @ inverse @ row for row in h]))
    meat = sum(e**2 * np.outer(row, row) for e, row in zip(errors, h, strict=True))
    assert_allclose(variance, np.diag(inverse @ meat @ inverse), rtol=0.02)
    thrice = regress_robustly(np.tile(h, (3, 1)), np.tile(y, 3), np.tile(keys, 3))
    assert_allclose(thrice[0], eta, rtol=1e-2)
    assert_allclose(thrice[1], variance, rtol=0.05)  # copies are no evidence


@pytest.mark.filterwarnings("ignore::topicprism.NothingPredictedWarning")
def test_effects_are_those_of_the_prior_that_was_chosen(text):
    """Halves would choose another alpha0 for themselves, with which coefficients mean another."""
    X, y = text
    chosen = SpectralSLDA(5, random_state=0).fit(X[:700], y[:700])
    alpha0 = chosen.selection_.alpha0
    told = SpectralSLDA(5, alpha0=alpha0, random_state=0).fit(X[:700], y[:700])
    other = SpectralSLDA(5, alpha0=30.0, random_state=0).fit(X[:700], y[:700])
    assert_allclose(told.coef_, chosen.coef_, rtol=1e-9)
    assert np.ptp(other.coef_) > 1.1 * np.ptp(chosen.coef_)


def test_intervals_reach_the_coefficients_of_all_documents(text):
    """Topics of halves are not quite those that are shown."""
    fitted = SpectralSLDA(5, random_state=0).fit(text[0][:700], text[1][:700])
    shown = np.isfinite(fitted.coef_std_)
    gap = np.abs(fitted.coef_ - fitted.model_.eta)
    assert shown.any()
    assert (gap <= 1.96 * fitted.coef_std_ + 1e-9)[shown].all()


def test_the_probability_of_a_prior_is_how_often_samples_choose_it(rng):
    """Against priors chosen from documents drawn again and again."""
    n, keys = 300, np.arange(300, dtype=np.uint64)
    y = rng.standard_normal(n)
    squares = (y - rng.normal([[0.1], [0.1], [0.12]], 0.3, (3, n)) * y) ** 2
    total = ((y - y.mean()) ** 2).sum()
    chosen = []
    for _ in range(4_000):
        draw = rng.integers(n, size=n)
        chosen.append(first_good_enough(1 - squares[:, draw].sum(axis=1) / total, 0.01))
    often = np.bincount(chosen, minlength=3) / 4_000
    with patch.object(prior_choice, "EFFECTS", replace(EFFECTS, prior_uncertainty=1.0)):
        found = probabilities(squares, y, keys, 0.01)
        assert_allclose(found, often, atol=0.04)
        twice = probabilities(np.tile(squares, 2), np.tile(y, 2), np.tile(keys, 2), 0.01)
    assert_allclose(twice, found, atol=0.02)  # copies are no evidence
    assert_array_equal(probabilities(np.tile(squares[0], (3, 1)), y, keys, 0.01), [1, 0, 0])


def test_intervals_contain_what_another_prior_would_change(text):
    X, y = text
    docs = Threaded(Corpus(X, y - y.mean()), 1)
    model = SpectralSLDA(5, alpha0=3.0, random_state=0).fit(X, y).model_
    choice = PriorChoice((3.0, 10.0), (model.burstiness,), 0.01, ALL)
    assert_array_equal(replace(choice, alpha0=(3.0,)).spread(docs, model), 0)
    known = [inferred(docs.corpus, model.with_alpha0(a), ALL) for a in (3.0, 10.0)]
    eta = np.array([regress(Products.of(k.h, k.y)).eta for k in known])
    squares = np.array([(k.y - k.h @ e) ** 2 for k, e in zip(known, eta, strict=True)])
    p = probabilities(squares, known[0].y, known[0].keys, 0.01)
    assert_allclose(choice.spread(docs, model), np.sqrt(p[1]) * abs(eta[1] - eta[0]), atol=1e-9)
    found = {a: SpectralSLDA(5, alpha0=a, random_state=0).fit(X, y) for a in (3.0, 10.0)}
    chosen = SpectralSLDA(5, random_state=0).fit(X, y)
    same = found[chosen.selection_.alpha0]
    assert_allclose(chosen.coef_, same.coef_)
    shown = np.isfinite(same.coef_std_)
    assert (chosen.coef_std_ >= same.coef_std_)[shown].all()  # that it was chosen is in them


def test_halves_that_agree_have_the_errors_of_the_responses():
    theta = np.array([[1.0, 2, 3], [1.0, 2, 3]])
    coef, std = combine(theta, np.full((2, 3), 0.04), BOTH, np.full(3, 0.1))
    assert_allclose(coef, [1, 2, 3])
    assert_allclose(std, np.sqrt(0.08) / 2)


def test_topics_that_differ_between_halves_have_wider_intervals():
    theta = np.array([[1.0, 2, 3], [1.0, 2, 5]])
    _, std = combine(theta, np.full((2, 3), 0.01), BOTH, np.array([0.0, 0.1, 0.3]))
    assert std[0] < std[1] < std[2]
    assert_allclose(std[0], np.sqrt(0.02) / 2)  # alike in both halves: nothing is added


def test_a_topic_of_one_half_has_that_half_s_effect_and_one_of_none_has_no_error():
    found = np.array([[True, True, False], [True, False, False]])
    theta = np.array([[1.0, 2, 3], [2.0, 9, 9]])
    coef, std = combine(theta, np.full((2, 3), 0.01), found, np.full(3, 0.1))
    assert_allclose(coef[:2], [1.5, 2])
    assert std[1] > std[0] / 2 > 0
    assert np.isnan([coef[2], std[2]]).all()


def test_standard_errors_cover_what_halves_vary_by(rng):
    """Drawn: effects of two halves with errors of known size, topics that differ by c d."""
    z = []
    for _ in range(300):
        d, truth = rng.uniform(0.02, 0.3, 12), rng.standard_normal(12)
        v = np.full((2, 12), 0.01)
        theta = truth + np.sqrt(v + 0.5 * d / 2) * rng.standard_normal((2, 12))
        coef, std = combine(theta, v, np.ones((2, 12), bool), d)
        z.append((coef - truth) / std)
    z = np.concatenate(z)
    assert 0.9 < np.mean(np.abs(z) < 1.96) < 0.985


def test_known_topics_give_the_effects_that_were_drawn(rng):
    """Both halves have the truth: the effects are the regression's, within three of its errors."""
    mu = rng.dirichlet(np.full(60, 0.1), 3).T
    h = rng.dirichlet(np.ones(3), 2000)
    counts = np.array([rng.multinomial(80, mu @ row) for row in h])
    eta = np.array([1.0, 3.0, 4.0])
    y = h @ eta + 0.5 * rng.standard_normal(2000)
    docs = Threaded(Corpus(csr_array(counts), y), 1)
    model = Model(np.ones(3), mu, eta, 0.5)
    halves = fit_halves(KeyCounts.of(docs.corpus), ALL, lambda subset: model)
    known = cross_fit(docs, model, halves)
    assert (np.abs(known.coef - eta) < 3 * known.std).all()
    assert_allclose(known.replication, 1)
    assert known.predicts
    assert 0.4 < known.r2 < 1


def test_too_few_documents_have_no_halves():
    few = Corpus(csr_array(np.eye(2 * EFFECTS.min_half_documents - 1, dtype=int)), np.zeros(39))
    assert fit_halves(KeyCounts.of(few), ALL, lambda subset: 1 / 0) == ()


# --- topics that documents support ---------------------------------------------------------


def test_topics_that_are_lost_alike_or_small_are_dropped():
    mu = np.eye(6)[:, [0, 1, 2, 3, 0, 4]] * 0.99 + 0.01 / 6
    model = Model(np.ones(6), mu / mu.sum(axis=0), np.zeros(6), 1.0)
    shares = np.array([0.4, 0.2, 0.2, 0.005, 0.1, 0.095])
    keep, dropped = supported(model, np.array([0.9, 0.9, 0.5, 0.9, 0.9, 0.9]), shares)
    assert keep.tolist() == [0, 1, 5]
    assert dropped == (
        "1 not found again in halves of the documents and 1 like another and 1 with under 1% of "
        "the words"
    )


def test_two_topics_are_kept_at_least():
    model = Model(np.ones(3), np.eye(3), np.zeros(3), 1.0)
    keep, _ = supported(model, np.array([0.1, 0.3, 0.2]), np.full(3, 1 / 3))
    assert keep.tolist() == [1, 2]


def test_topics_of_a_small_table_are_found_again_and_none_are_alike(text):
    X, y = text[0][:500], text[1][:500]
    model = AutoSLDA(random_state=0).fit(X, y)
    assert (model.replication_ >= 0.7).all()
    root = np.sqrt(model.components_)
    assert (root @ root.T)[~np.eye(len(root), dtype=bool)].max() < 0.9
    assert model.transform(X).mean(axis=0).min() > 0.01
    assert model.score(text[0][500:], text[1][500:]) > 0.5


# --- permuted responses -------------------------------------------------------------------


@pytest.mark.parametrize("method", ["joint", "two-stage"])
def test_permuted_responses_have_no_effects(text, method):
    """The response finds topics in joint fits: errors conditional on them would be too small."""
    X, y = text
    z = []
    for seed in range(8):
        other = np.random.default_rng(seed).permutation(y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NothingPredictedWarning)
            model = SpectralSLDA(10, method=method, random_state=0).fit(X, other)
        z.append((model.coef_ - y.mean()) / model.coef_std_)
    z = np.nan_to_num(np.concatenate(z))  # mostly nothing is predicted, and nothing is shown
    assert np.mean(np.abs(z) > 1.96) < 0.1
    assert np.abs(z).max() < 4.5
    assert np.mean(z == 0) > 0.3


def test_where_nothing_is_predicted_no_interval_is_shown(text):
    X, y = text
    other = np.random.default_rng(0).permutation(y)
    with pytest.warns(NothingPredictedWarning, match="read no effect into the coefficients"):
        model = SpectralSLDA(5, random_state=0).fit(X[:1000], other[:1000])
    shown = effects(model)
    assert shown.interval is None
    assert not shown.predicts
    assert model.score(X[1000:], other[1000:]) > -0.02


# --- the default on text --------------------------------------------------------------------


FEW = replace(
    sampled_text.SAMPLED,
    **{"min_documents": 100, "min_words": 100, "sweeps": (5, 10, 5), "half_sweeps": (5, 5, 5)},
)


@pytest.fixture
def sampling(monkeypatch):
    """Documents are sampled although they are few, with few sweeps, as the function is told."""

    def told(**settings):
        for module in (auto, sampled_text):
            monkeypatch.setattr(module, "SAMPLED", replace(FEW, **settings))

    return told


@pytest.mark.filterwarnings("ignore::topicprism.NothingPredictedWarning")
def test_neither_rows_nor_threads_matter_to_sampled_topics(text, sampling):
    sampling(min_r2_share=-1e9)
    X, y = text[0][:800], text[1][:800]
    order = np.random.default_rng(1).permutation(800)
    one = AutoSLDA(8, random_state=0).fit(X, y)
    two = AutoSLDA(8, random_state=0, n_jobs=2).fit(X[order], y[order])
    assert "of 1, 3 and 10" in one.selection_.reasons["alpha0"]
    assert_allclose(two.predict(X), one.predict(X), atol=1e-9)
    assert_allclose(two.coef_, one.coef_, atol=1e-9)


def test_sampled_topics_that_miss_the_response_give_way(text, sampling):
    """A third of the words tells of the response, beside more subjects than there are topics."""
    sampling()
    X, y = text
    made = AutoSLDA(8, random_state=0).fit(X[:1200], y[:1200])
    assert (
        "not sampled, since sampled topics predict held-out" in made.selection_.reasons["n_topics"]
    )
    assert made.score(X[1200:], y[1200:]) > 0.5


@pytest.mark.filterwarnings("ignore::topicprism.NothingPredictedWarning")
def test_permuted_responses_have_no_effects_in_sampled_fits(text, sampling, monkeypatch):
    """Of intervals that are all shown, which they would not be: nothing is predicted."""
    sampling(min_r2_share=np.nan)  # topics of the response never take over
    monkeypatch.setattr(crossfit.CrossFit, "predicts", True)
    X, y = text
    z = []
    for seed in range(6):
        other = np.random.default_rng(seed).permutation(y)
        model = AutoSLDA(8, random_state=0).fit(X, other)
        assert "a Gibbs chain" in model.selection_.reasons["method"]
        z.append((model.coef_ - y.mean()) / model.coef_std_)
    z = np.concatenate(z)
    assert np.isfinite(z).sum() > 12
    z = z[np.isfinite(z)]
    assert np.mean(np.abs(z) > 1.96) < 0.1
    assert np.abs(z).max() < 4.5


def test_where_topics_are_dropped_as_many_as_are_left_are_learnt_again(text, sampling, monkeypatch):
    """What the dropped ones explained is explained by others: they fit new words better."""
    sampling(min_r2_share=-1e9)
    seen, once = [], sampled_text.with_cross_fit

    def noted(*args):
        seen.append(once(*args))
        return seen[-1]

    monkeypatch.setattr(sampled_text, "with_cross_fit", noted)
    X, y = text
    made = AutoSLDA(random_state=0).fit(X[:1000], y[:1000])
    less, again = seen
    assert len(made.coef_) == less.model.n_topics == again.model.n_topics
    assert len(made.coef_) < made.selection_.n_begun
    assert "were dropped" in made.selection_.reasons["n_topics"]
    assert made.selection_.alpha0 == pytest.approx(made.alpha_.sum())
    docs, used = Threaded(Corpus(X[1000:], y[1000:]), 1), np.flatnonzero(X[:1000].sum(axis=0))
    before, after = (
        max(likelihoods(docs, r.model.over(used, X.shape[1]), ALL, (1.0, 3.0, 10.0))) for r in seen
    )
    assert after > before + 0.01


def test_what_was_asked_for_is_kept_by_a_chain(text, sampling):
    sampling(min_r2_share=-1e9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingPredictedWarning)
        made = AutoSLDA(6, alpha0=2.0, noise_variance=0.3, random_state=0).fit(*text)
    assert len(made.coef_) == 6
    assert_allclose([made.alpha_.sum(), made.noise_variance_], [2.0, 0.3])
    reasons = made.selection_.reasons
    assert {reasons[name] for name in reasons if name != "method"} == {"as asked"}


def test_documents_anywhere_give_the_same_model(text, sampling):
    sampling(min_r2_share=-1e9)
    X, y = text[0][:600], text[1][:600]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingPredictedWarning)
        here = AutoSLDA(4, random_state=0).fit(X, y)
        there = AutoSLDA(4, random_state=0).fit_documents(Threaded(Corpus(X, y), 2))
    assert_allclose(there.predict(X), here.predict(X), atol=1e-9)


@pytest.mark.filterwarnings("ignore::topicprism.NothingPredictedWarning")
@pytest.mark.parametrize("permuted", [False, True])
@pytest.mark.parametrize("kind", [SpectralSLDA, partial(MedLDA, 5, burn_in=20, n_kept=10)])
def test_predictions_of_few_documents_are_as_uncertain_as_they_say(kind, permuted):
    """Residuals of documents that topics were fitted to would make them two to four times surer."""
    inside = []
    for seed in range(4):
        texts, y = varied_texts(500, seed=seed)
        y = np.random.default_rng(seed).permutation(y) if permuted else np.array(y)
        X = CountVectorizer().fit_transform(texts)
        fitted = kind(random_state=0).fit(X[:100], y[:100])
        y_hat, std = fitted.predict(X[100:], return_std=True)
        inside.append(np.mean(np.abs(y[100:] - y_hat) < 1.96 * std))
    assert np.mean(inside) > 0.9


def test_a_model_that_predicts_worse_than_the_mean_is_not_taken():
    """Moments of mixed documents may show too few topics, with coefficients beyond any response."""
    X, y, _ = make_slda(4000, 200, 4, 60, alpha=10 / 4, noise=0.3, random_state=102)
    fitted = SpectralSLDA(random_state=0).fit(X[:3000], y[:3000])
    assert fitted.score(X[3000:], y[3000:]) > 0
    assert "predicted worse than by their mean" in fitted.selection_.reasons["n_topics"]


@pytest.mark.parametrize("n", [150, 400])
def test_a_response_turned_round_turns_effects_round_and_changes_no_topic(n):
    texts, y = varied_texts(n)
    X = FastCountVectorizer().fit_transform(texts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingPredictedWarning)
        up, down = (AutoSLDA(random_state=0).fit(X, sign * np.array(y)) for sign in (1, -1))
    assert_allclose(down.components_, up.components_[::-1], rtol=1e-12)
    assert_allclose(down.coef_, -up.coef_[::-1], rtol=1e-12)
    for name in ("coef_std_", "replication_", "alpha_"):
        assert_allclose(getattr(down, name), getattr(up, name)[::-1], rtol=1e-12)
    assert_allclose(down.predict(X), -up.predict(X), rtol=1e-12)
    assert down.selection_.reasons == up.selection_.reasons


def test_copies_are_one_observation_in_what_is_predicted():
    rng = np.random.default_rng(0)
    y, predicted, keys = rng.random(50), rng.random(50), np.arange(50, dtype=np.uint64)
    once = predictions_of(y, predicted, keys)
    six = predictions_of(np.tile(y, 6), np.tile(predicted, 6), np.tile(keys, 6))
    assert once.n == six.n == 50
    assert_allclose(six.r2_std, once.r2_std)


@pytest.mark.parametrize("copies", [5, 50])
def test_copies_of_a_document_are_no_topic_and_change_nothing(copies):
    X, y, _ = make_slda(2_000, 300, 3, 80, alpha=0.5, noise=0.2, random_state=0)
    X = csr_array(X)
    alone = SpectralSLDA(random_state=0).fit(X, y)
    again = np.r_[np.arange(2_000), [7] * copies]
    with pytest.warns(CopiesWarning, match=f"^{copies} of {2_000 + copies} documents are copies"):
        found = SpectralSLDA(random_state=0).fit(X[again], y[again])
    for name in ("coef_", "coef_std_", "components_", "noise_variance_"):
        assert_array_equal(getattr(found, name), getattr(alone, name))


def test_copies_have_the_mean_of_their_responses(text):
    X, _ = text
    rows = Corpus(X[[0, 1, 1, 2]], np.array([1.0, 2, 4, 5])).in_key_order()
    once = once_each(rows)
    assert sorted(once.y) == [1, 3, 5]
    assert len(once_each(Corpus(X[[0, 0]][:, :3], np.zeros(2)).in_key_order())) == 2  # few words


def test_a_word_without_end_in_one_document_is_not_most_words():
    counts = csr_array(np.array([[3, 2, 0], [10**6, 1, 1], [400, 300, 200]]))
    capped = without_floods(Corpus(counts, np.zeros(3)))
    assert_array_equal(take_rows(capped.counts, 0, 3).data, [3, 2, 100, 1, 1, 400, 300, 200])
    assert_array_equal(capped.keys, Corpus(counts, np.zeros(3)).keys)
