"""Effects of the samplers: cross-fitted, or the posterior's where that was asked for."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from varied_texts import varied_texts

from topicprism import (
    GibbsSLDA,
    HybridSLDA,
    InterruptedWarning,
    MedLDA,
    NothingPredictedWarning,
    load,
    save,
)
from topicprism.datasets import make_slda
from topicprism.show.effects import effects
from topicprism.vectorizer import FastCountVectorizer

CHAIN = {"burn_in": 40, "n_kept": 20, "random_state": 0}
SAMPLERS = {
    "gibbs": GibbsSLDA(5, **CHAIN),
    "assignments": GibbsSLDA(5, response="assignments", **CHAIN),
    "hybrid": HybridSLDA(5, **CHAIN),
    "hybrid, not refit": HybridSLDA(5, refit=False, **CHAIN),
    "medlda": MedLDA(5, **CHAIN),
    "medlda, refit": MedLDA(5, refit=True, **CHAIN),
}
CROSS_FITTED = ("coef_", "coef_std_", "replication_", "cross_fitted_r2_")


@pytest.fixture(scope="module")
def text():
    texts, y = varied_texts(400)
    return FastCountVectorizer(min_df=5, max_df=0.5).fit_transform(texts), np.array(y)


@pytest.fixture(scope="module")
def clear():
    """Topics that halves of the documents have in common, and predict by."""
    X, y, _ = make_slda(400, n_words=60, n_topics=3, doc_length=60, random_state=0)
    return X, y


@pytest.mark.parametrize("name", SAMPLERS)
def test_permuted_responses_have_no_effects(text, name):
    """Draws of MedLDA were up to a hundred of their standard deviations from the mean."""
    X, y = text
    z = []
    for seed in range(4):
        other = np.random.default_rng(seed).permutation(y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NothingPredictedWarning)
            model = clone(SAMPLERS[name]).fit(X, other)
        z.append((model.coef_ - y.mean()) / model.coef_std_)
    z = np.nan_to_num(np.concatenate(z))  # mostly nothing is predicted, and nothing is shown
    assert np.mean(np.abs(z) > 1.96) <= 0.1
    assert np.abs(z).max() < 4.5


def test_where_nothing_is_predicted_no_interval_is_shown(text):
    X, y = text
    other = np.random.default_rng(0).permutation(y)
    with pytest.warns(NothingPredictedWarning, match="read no effect into the coefficients"):
        model = MedLDA(5, **CHAIN).fit(X, other)
    shown = effects(model)
    assert shown.interval is None
    assert not shown.predicts


@pytest.mark.parametrize("name", SAMPLERS)
def test_effects_are_seen_and_kept_in_a_file(clear, name, tmp_path):
    X, y = clear
    model = clone(SAMPLERS[name]).set_params(n_topics=3, cross_fit=True)
    if name == "gibbs":  # it begins with topics that are all alike, and mixes slowest
        model.set_params(burn_in=150)
    model.fit(X, y)
    assert model.cross_fitted_r2_ > 0.3
    z = np.abs(model.coef_ - y.mean()) / model.coef_std_
    assert np.nanmax(z) > 5
    assert_array_equal(model.coef_, np.sort(model.coef_))
    save(model, tmp_path / "m.tprism")
    again = load(tmp_path / "m.tprism")
    for attribute in (*CROSS_FITTED, "coef_draws_"):
        assert_array_equal(getattr(again, attribute), getattr(model, attribute))
    assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.filterwarnings("ignore::topicprism.NothingPredictedWarning")
def test_draws_predictions_and_topics_are_those_of_the_chain_alone(text):
    """In another order, which is that of the effects."""
    X, y = text
    model = GibbsSLDA(5, **CHAIN).fit(X, y)
    alone = GibbsSLDA(5, cross_fit=False, **CHAIN).fit(X, y)
    assert_allclose(model.predict(X), alone.predict(X))
    assert_array_equal(np.sort(model.coef_draws_), np.sort(alone.coef_draws_))
    assert_allclose(model.coef_draws_.mean(axis=0), model.model_.eta)
    order = [
        int(np.abs(alone.components_ - topic).sum(axis=1).argmin()) for topic in model.components_
    ]
    assert_array_equal(model.coef_draws_, alone.coef_draws_[:, order])
    assert_allclose(alone.coef_std_, alone.coef_draws_.std(axis=0, ddof=1))
    assert not hasattr(alone, "replication_")


@pytest.mark.parametrize("slope", [1000.0, -3.0])
def test_effects_are_in_the_units_of_the_response(clear, slope):
    X, y = clear
    short = CHAIN | {"burn_in": 10, "n_kept": 5}  # longer chains differ by the rounding of y
    plain, moved = (MedLDA(3, **short).fit(X, t) for t in (y, slope * y + 7))
    back = slice(None, None, -1 if slope < 0 else 1)
    assert_allclose((moved.coef_[back] - 7) / slope, plain.coef_, rtol=1e-6)
    assert_allclose(moved.coef_std_[back] / abs(slope), plain.coef_std_, rtol=1e-6)
    assert_allclose(moved.cross_fitted_r2_, plain.cross_fitted_r2_, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::topicprism.NothingPredictedWarning")
def test_neither_the_number_of_jobs_nor_a_pause_matters(clear):
    X, y = clear
    one = GibbsSLDA(3, **CHAIN).fit(X, y)
    two = GibbsSLDA(3, n_jobs=2, **CHAIN).fit(X, y)
    parts = GibbsSLDA(3, **CHAIN | {"burn_in": 10, "n_kept": 5}).fit(X, y)
    parts.set_params(warm_start=True, burn_in=25, n_kept=20).fit(X, y)
    for attribute in CROSS_FITTED:
        assert_array_equal(getattr(two, attribute), getattr(one, attribute))
        assert_allclose(getattr(parts, attribute), getattr(one, attribute))


def test_ctrl_c_while_halves_are_sampled_keeps_the_chain(text, monkeypatch):
    X, y = text
    model = GibbsSLDA(3, **CHAIN)

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("topicprism.estimators.sampled_regression.fit_halves", interrupted)
    with pytest.warns(InterruptedWarning, match="while effects were cross-fitted"):
        model.fit(X, y)
    assert_allclose(model.coef_, model.coef_draws_.mean(axis=0))
    assert effects(model).interval is None


@pytest.mark.parametrize("rare", [False, True], ids=["few documents", "one response in a half"])
def test_without_halves_there_are_no_intervals(text, rare):
    X, y = (text[0], np.eye(400)[0]) if rare else (text[0][:30], text[1][:30])
    model = GibbsSLDA(2, **CHAIN).fit(X, y)
    assert_allclose(model.coef_, model.coef_draws_.mean(axis=0))
    assert effects(model).interval is None


def test_documents_from_the_model_have_the_posterior_of_the_hybrid():
    X, y, _ = make_slda(1500, n_words=60, n_topics=3, doc_length=60, random_state=0)
    drawn = HybridSLDA(3, **CHAIN).fit(X, y)
    assert_allclose(drawn.coef_std_, drawn.coef_draws_.std(axis=0, ddof=1))
    halved = HybridSLDA(3, cross_fit=True, **CHAIN).fit(X, y)
    assert_allclose(halved.coef_, drawn.coef_, atol=0.2)
    assert (halved.replication_ > 0.9).all()
    weighed = HybridSLDA(3, response_weight=0.5, **CHAIN).fit(X, y)
    assert not hasattr(weighed, "coef_std_")
