"""GibbsSLDA, HybridSLDA, MedLDA and MedLDAClassifier, seen from outside."""

import os
import pickle
import signal
import sys
import threading
import types

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from planted import planted
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import RidgeCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from topicprism import (
    GibbsSLDA,
    HybridSLDA,
    InterruptedWarning,
    MedLDA,
    MedLDAClassifier,
    SpectralSLDA,
)
from topicprism.datasets import draw_corpus, draw_model, make_reviews, make_slda
from topicprism.evaluation import (
    completion_log_likelihood,
    recovery_errors,
    word_log_likelihood,
)
from topicprism.learn.hybrid import as_wide_as
from topicprism.model import Model
from topicprism.samplers import Progress
from topicprism.vectorizer import FastCountVectorizer

SHORT = {"burn_in": 3, "n_kept": 2}
ALONE = SHORT | {"cross_fit": False}
PAIR = np.array([1.0, 2.0])

# scikit-learn's checks fit on a handful of short rows of random integers, in which the
# spectral start of the hybrid finds one topic.
CHECKED = [
    GibbsSLDA(2, **SHORT),
    GibbsSLDA(2, response="assignments", learn_alpha=True, **SHORT),
    HybridSLDA(1, **SHORT),
    MedLDA(2, **SHORT),
    MedLDAClassifier(2, **SHORT),
]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(CHECKED)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def corpus():
    return make_slda(1500, n_words=80, n_topics=3, doc_length=(30, 60), random_state=0)


REGRESSIONS = [
    GibbsSLDA(3, random_state=0, burn_in=300, n_kept=50),
    GibbsSLDA(3, response="assignments", random_state=0, burn_in=150, n_kept=50),
    HybridSLDA(3, random_state=0, burn_in=20, n_kept=20),
    MedLDA(3, C=3.0, random_state=0, burn_in=150, n_kept=50),
]
NAMES = ["gibbs", "gibbs-assignments", "hybrid", "medlda"]
QUICK = [clone(e).set_params(burn_in=10, n_kept=5, cross_fit=False) for e in REGRESSIONS]


@pytest.mark.parametrize("estimator", REGRESSIONS, ids=NAMES)
def test_it_learns_the_truth(corpus, estimator):
    """Three standard errors of a coefficient are about 0.1; MedLDA's loss pulls harder."""
    X, y, truth = corpus
    fitted = clone(estimator).fit(X[:1000], y[:1000])
    medlda = isinstance(estimator, MedLDA)
    assert_allclose(fitted.coef_, np.sort(truth.eta), atol=0.5 if medlda else 0.15)
    exact = SpectralSLDA(3, random_state=0).fit(X[:1000], y[:1000])
    exact.model_ = truth
    assert fitted.score(X[1000:], y[1000:]) > exact.score(X[1000:], y[1000:]) - 0.04
    assert fitted.components_.shape == (3, 80)
    assert_allclose(fitted.components_.sum(axis=1), 1)
    n = fitted.n_kept
    assert fitted.coef_draws_.shape == (n, 3)
    assert fitted.noise_variance_draws_.shape == (n,)
    assert len(fitted.log_likelihood_) == len(fitted.acceptance_) == fitted.n_sweeps_
    assert fitted.log_likelihood_[-20:].mean() > fitted.log_likelihood_[0] - 0.01
    assert (fitted.acceptance_ > 0).all()
    assert (fitted.acceptance_ <= 1).all()
    if fitted.features_ == "mixture":
        assert_allclose(fitted.predict(X), fitted.transform(X) @ fitted.model_.eta)


def test_the_posterior_covers_the_coefficients_at_its_nominal_rate():
    """90 % intervals of 40 corpora with two coefficients: 72 of 80 expected, sd 2.7."""
    covered = 0
    for seed in range(40):
        X, y, truth = make_slda(
            100, n_words=15, n_topics=2, doc_length=40, alpha=0.5, noise=0.5, random_state=seed
        )
        model = GibbsSLDA(2, random_state=seed, burn_in=200, n_kept=200, cross_fit=False).fit(X, y)
        draws, true = np.sort(model.coef_draws_, axis=1), np.sort(truth.eta)
        low, high = np.quantile(draws, [0.05, 0.95], axis=0)
        covered += ((low < true) & (true < high)).sum()
    assert 64 <= covered <= 80


@pytest.mark.parametrize("estimator", QUICK, ids=NAMES)
@pytest.mark.parametrize(("a", "b"), [(1000.0, 0.0), (1.0, 100.0), (-3.0, 7.0)])
def test_units_of_the_response_change_nothing_but_the_units(corpus, estimator, a, b):
    """The same draws, but for the rounding of y: 1e-13 of its standard deviation."""
    X, y, _ = corpus
    plain, moved = (clone(estimator).fit(X, t) for t in (y, a * y + b))
    assert_allclose((moved.predict(X) - b) / a, plain.predict(X), atol=1e-6)
    assert_allclose(moved.noise_variance_ / a**2, plain.noise_variance_, rtol=1e-6)
    order = slice(None, None, -1 if a < 0 else 1)
    assert_allclose(moved.components_[order], plain.components_, atol=1e-8)


@pytest.mark.parametrize("estimator", QUICK, ids=NAMES)
def test_the_number_of_jobs_changes_no_bit(corpus, estimator):
    X, y, _ = corpus
    one, two = (clone(estimator).set_params(n_jobs=n).fit(X, y) for n in (1, 2))
    assert_array_equal(one.components_, two.components_)
    assert_array_equal(one.coef_draws_, two.coef_draws_)
    assert_array_equal(one.log_likelihood_, two.log_likelihood_)


def test_the_response_changes_the_topics_and_without_weight_it_does_not(corpus):
    X, y, _ = corpus
    other = np.random.default_rng(0).permutation(y)
    for estimator in QUICK:
        longer = clone(estimator).set_params(burn_in=40)  # topics begin all alike
        with_y, without = (clone(longer).fit(X, t) for t in (y, other))
        assert np.abs(with_y.components_ - without.components_).max() > 1e-3
    lda = [MedLDA(3, C=0, random_state=0, **ALONE).fit(X, t) for t in (y, other)]
    assert_array_equal(np.sort(lda[0].components_, axis=0), np.sort(lda[1].components_, axis=0))


def test_the_response_finds_topics_that_words_alone_do_not():
    """Two words of ten follow y, eight follow something else: two topics must choose."""
    rng = np.random.default_rng(0)
    mood, theme = rng.random((2, 800))
    p = np.column_stack(
        [0.05 + 0.1 * mood, 0.15 - 0.1 * mood]
        + [0.8 * (0.25 * (theme if i % 2 else 1 - theme)) for i in range(8)]
    )
    p /= p.sum(axis=1, keepdims=True)
    X = csr_array(rng.multinomial(60, p))
    kwargs = {"random_state": 0, "burn_in": 100, "n_kept": 50, "cross_fit": False}
    lda = MedLDA(2, C=0, **kwargs).fit(X[:600], mood[:600])
    slda = MedLDA(2, C=30, **kwargs).fit(X[:600], mood[:600])
    assert lda.score(X[600:], mood[600:]) < 0.1
    assert slda.score(X[600:], mood[600:]) > 0.3


def test_medlda_without_weight_is_lda_and_regression(corpus):
    X, y, _ = corpus
    model = MedLDA(3, C=0, random_state=0, burn_in=20, n_kept=5, cross_fit=False).fit(X, y)
    ridge = RidgeCV(np.logspace(-3, 3, 13), fit_intercept=False)
    ridge.fit(model.transform(X), (y - y.mean()) / y.std())
    assert_allclose(model.coef_, y.mean() + y.std() * ridge.coef_, rtol=0.02)  # another penalty
    assert_allclose(model.noise_variance_, np.mean((y - model.predict(X)) ** 2))
    assert (model.acceptance_ == 1).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_classifier_separates_planted_classes(rng, n_classes):
    X, label = planted(n_classes, rng)
    model = MedLDAClassifier(n_classes + 1, random_state=0, burn_in=100, n_kept=30)
    model.fit(X[:400], label[:400])
    assert model.score(X[400:], label[400:]) > 0.95
    side = model.decision_function(X)
    assert side.shape == ((600,) if n_classes == 2 else (600, 3))
    best = model.classes_[(side > 0).astype(int) if n_classes == 2 else side.argmax(axis=1)]
    assert_array_equal(model.predict(X), best)
    assert list(model.classes_) == ["ash", "birch", "cedar"][:n_classes]


def test_the_hybrid_stays_as_likely_as_its_start(corpus):
    """Per word, 0.0006 less to 0.00004 more with six seeds; a chain from nothing is not there."""
    X, y, _ = corpus
    sweeps = {"burn_in": 30, "n_kept": 20}
    start = SpectralSLDA(3, random_state=0)
    chains = [HybridSLDA(3, random_state=seed, **sweeps) for seed in range(2)]
    before, *after, nothing = (
        word_log_likelihood(m.model_, X, m.transform(X))
        for m in (m.fit(X, y) for m in (start, *chains, clone(QUICK[0])))
    )
    assert min(after) > before - 0.001
    assert nothing < before - 0.002


@pytest.mark.parametrize("seed", range(3))
def test_the_hybrid_is_closer_to_the_truth_than_its_start(seed):
    """Where the model holds: the same prior, better topics, and predictions as good."""
    truth = draw_model(100, 5, rng := np.random.default_rng(seed), noise=0.3)
    X, y, _ = draw_corpus(truth, 4000, 100, rng)
    start = SpectralSLDA(random_state=0).fit(X[:3000], y[:3000])
    hybrid = HybridSLDA(random_state=0, burn_in=60, n_kept=60).fit(X[:3000], y[:3000])
    assert_allclose(hybrid.alpha_.sum(), start.alpha_.sum(), rtol=0.05)  # two random starts
    before, after = (recovery_errors(m.model_, truth) for m in (start, hybrid))
    assert after.mu < before.mu
    assert hybrid.score(X[3000:], y[3000:]) > start.score(X[3000:], y[3000:]) - 0.005
    assert_allclose(hybrid.noise_variance_, 0.09, rtol=0.15)
    assert_allclose(hybrid.coef_std_, hybrid.coef_draws_.std(axis=0, ddof=1))


def test_the_prior_of_topics_is_as_wide_as_they_are(rng):
    """Topics of Dirichlet(300 p) give 300 back, within four standard errors."""
    p = rng.dirichlet(np.ones(400))
    p[7] = 0
    p /= p.sum()
    mu = rng.dirichlet(np.maximum(300 * p, 1e-9), size=40).T
    prior = as_wide_as(Model(np.ones(40), mu, np.zeros(40), 1.0), p)
    assert prior.shape == (400, 40)
    assert_allclose(prior / prior.sum(axis=0), p[:, None] * np.ones(40))
    assert_allclose(prior.sum(axis=0), 300, rtol=0.15)
    alike = as_wide_as(Model(np.ones(1), p[:, None], np.zeros(1), 1.0), p)
    assert np.isfinite(alike).all()


def test_sparse_topics_stay_likely():
    """A prior of topics that is too wide would cost likelihood where words are few."""
    texts, y, _ = make_reviews(700, random_state=0)
    X = FastCountVectorizer(max_features=300).fit_transform(texts)
    fitted = [m(random_state=0).fit(X[:400], y[:400]) for m in (SpectralSLDA, HybridSLDA)]
    joint, hybrid = (
        completion_log_likelihood(m.model_, X[400:], np.random.default_rng(0)) for m in fitted
    )
    assert hybrid > joint
    assert fitted[1].score(X[400:], y[400:]) > fitted[0].score(X[400:], y[400:]) - 0.01


def test_a_later_fit_leaves_nothing_of_an_earlier_one(corpus):
    X, y, _ = corpus
    hybrid = HybridSLDA(3, random_state=0, **ALONE)
    hybrid.coef_std_ = np.ones(3)
    assert not hasattr(hybrid.fit(X, y), "coef_std_")


def test_weight_pulls_the_fit_to_the_response(corpus):
    X, y, _ = corpus
    light, heavy = (
        HybridSLDA(3, response_weight=w, random_state=0, burn_in=30, n_kept=10).fit(X, y)
        for w in (0.1, 10.0)
    )
    assert heavy.noise_variance_ < light.noise_variance_


# --- running, stopping, going on ------------------------------------------------------


def stop_at(n):
    def callback(progress):
        if progress.sweep == n:
            raise KeyboardInterrupt

    return callback


@pytest.mark.parametrize("estimator", QUICK, ids=NAMES)
def test_ctrl_c_in_the_middle_keeps_the_model_so_far(corpus, estimator):
    X, y, _ = corpus
    model = clone(estimator).set_params(burn_in=1000, callback=stop_at(7))
    with pytest.warns(InterruptedWarning, match="after 7 sweeps, 0 of them kept; .* warm_start"):
        model.fit(X, y)
    assert model.n_sweeps_ == len(model.log_likelihood_) == 7
    assert np.isfinite(model.predict(X)).all()
    assert model.coef_draws_.shape == (1, 3)
    model.set_params(warm_start=True, callback=None, burn_in=3, n_kept=4).fit(X, y)
    assert model.n_sweeps_ == len(model.log_likelihood_) == 14
    straight = clone(estimator).set_params(burn_in=10, n_kept=4).fit(X, y)
    assert_array_equal(model.state_.mu, straight.state_.mu)
    assert_array_equal(model.coef_draws_, straight.coef_draws_)


def test_a_real_ctrl_c_stops_a_long_chain(corpus):
    """SIGINT a third of a second after the first sweep; 20,000 sweeps would take a minute."""
    X, y, _ = corpus

    def callback(progress):
        if progress.sweep == 1:
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()

    model = GibbsSLDA(3, burn_in=20_000, callback=callback, random_state=0)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored
    try:
        with pytest.warns(InterruptedWarning, match="the model so far is kept"):
            model.fit(X, y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert 1 <= model.n_sweeps_ < 20_000
    assert np.isfinite(model.predict(X)).all()


def test_ctrl_c_before_the_first_sweep_is_not_caught(corpus, monkeypatch):
    X, y, _ = corpus

    def interrupted(*args):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr("topicprism.estimators.sampled.chain", interrupted)
    with pytest.raises(KeyboardInterrupt):
        GibbsSLDA(3, **ALONE).fit(X, y)


def test_the_callback_sees_every_sweep(corpus):
    X, y, _ = corpus
    seen = []
    model = GibbsSLDA(3, callback=seen.append, random_state=0, **ALONE).fit(X, y)
    assert all(isinstance(p, Progress) for p in seen)
    assert [p.sweep for p in seen] == [1, 2, 3, 4, 5]
    assert [p.kept for p in seen] == [0, 0, 0, 1, 2]
    assert_array_equal([p.log_likelihood for p in seen], model.log_likelihood_)


@pytest.mark.skipif(not hasattr(sklearn, "callback") and sklearn.__version__ < "1.9",
                    reason="scikit-learn has callbacks from 1.9 on")  # fmt: skip
def test_scikit_learns_own_callbacks(corpus):
    X, y, _ = corpus

    class Follow:
        ends, scores, stop_after = 0, [], 3

        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            self.ends += 1
            self.scores.append(fitted_estimator.score(X, y))
            return self.ends == self.stop_after

    follow = Follow()
    model = GibbsSLDA(3, random_state=0, **ALONE)
    if not hasattr(model, "set_callbacks"):
        pytest.skip("scikit-learn has callbacks from 1.9 on")
    model.set_callbacks(follow).fit(X, y)
    assert model.n_sweeps_ == 3  # stopped when told to
    assert follow.ends == 4  # three sweeps and the fit
    assert_allclose(follow.scores[-1], model.score(X, y))


def test_the_papers_rule_ends_the_burn_in(corpus):
    X, y, _ = corpus
    model = GibbsSLDA(3, burn_in=500, n_kept=2, tolerance=1e-2, random_state=0).fit(X, y)
    assert 11 <= model.n_sweeps_ - 2 < 100
    last = model.log_likelihood_[-13:-2]
    assert np.abs(np.diff(last) / last[:-1]).mean() < 1e-2


def test_alpha_is_learnt_when_asked(rng):
    """True alpha 0.1 each, started at 1: the sum comes within a quarter of 0.3."""
    X, y, _ = make_slda(800, 60, 3, 80, alpha=0.1, random_state=0)
    for response in ("mixture", "assignments"):
        model = GibbsSLDA(3, alpha0=3.0, learn_alpha=True, response=response, random_state=0)
        model.set_params(burn_in=300, n_kept=50).fit(X, y)
        assert_allclose(model.alpha_.sum(), 0.3, atol=0.075)


def test_clones_and_pickles(corpus):
    X, y, _ = corpus
    fitted = MedLDA(3, random_state=0, **ALONE).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.predict(X), fitted.predict(X))
    assert not hasattr(clone(fitted), "coef_")


def test_arviz_gets_the_draws(corpus, monkeypatch):
    X, y, _ = corpus
    model = GibbsSLDA(3, random_state=0, **ALONE).fit(X, y)
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r"not installed; pip install 'topicprism\[arviz\]'"):
        model.to_arviz()
    for version in ("0.22.0", "1.0.0"):
        stand_in = types.SimpleNamespace(
            __version__=version, from_dict=lambda groups=None, **kw: groups or kw
        )
        monkeypatch.setitem(sys.modules, "arviz", stand_in)
        groups = model.to_arviz()
        assert groups["posterior"]["coef"].shape == (1, 2, 3)
        assert groups["posterior"]["noise_variance"].shape == (1, 2)
        assert_array_equal(groups["sample_stats"]["lp"][0], model.log_likelihood_[-2:])


# --- bad input ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (GibbsSLDA(0), "n_topics=0, but expected a whole number from 1 up; try 10"),
        (GibbsSLDA(alpha0=0), "alpha0=0, but expected a number from 1e-06 to 10000; .* try 1.0"),
        (GibbsSLDA(beta=-1), "beta=-1, but expected a number from 1e-06 up; try 0.1"),
        (GibbsSLDA(response="h"), "response='h', but expected one of 'mixture', 'assignments'"),
        (GibbsSLDA(burn_in=-1), "burn_in=-1, but expected a whole number from 0 up; try 200"),
        (GibbsSLDA(burn_in=2.5), "burn_in=2.5, but expected a whole number from 0 up"),
        (GibbsSLDA(n_kept=0), "n_kept=0, but expected a whole number from 1 up; try 100"),
        (GibbsSLDA(tolerance=-1e-3), "tolerance=-0.001, but expected a number from 0 up; the"),
        (GibbsSLDA(callback=3), "callback=3, but expected None or a function of one argument"),
        (HybridSLDA(learn_alpha="no"), "learn_alpha='no', but expected one of True, False, 'auto'"),
        (HybridSLDA(learn_alpha=PAIR), "learn_alpha=.*, but expected one of True, False, 'auto'"),
        (HybridSLDA(alpha0=PAIR), "alpha0=.*, but expected a number from 1e-06 to 10000"),
        (HybridSLDA(beta=PAIR), "beta=.*, but expected a number from 1e-06 up"),
        (HybridSLDA(response_weight=PAIR), "response_weight=.*, but expected a number"),
        (HybridSLDA(PAIR), "n_topics=.*, but expected a whole number from 1 up"),
        (HybridSLDA(beta="wide"), "beta='wide', but expected a number from 1e-06 up"),
        (HybridSLDA(response_weight=0), "response_weight=0, but expected a number from 1e-06 up"),
        (HybridSLDA(response_weight="big"), "response_weight='big', but .* up; try \"auto\""),
        (GibbsSLDA(cross_fit="no"), "cross_fit='no', but expected one of True, False"),
        (HybridSLDA(cross_fit=2), "cross_fit=2, but expected one of True, False, 'auto'"),
        (MedLDA(C=-1), "C=-1, but expected a number from 0 up; try"),
        (MedLDA(epsilon=np.nan), "epsilon=nan, but expected a number from 0 up; try 0.1"),
        (MedLDAClassifier(C="1"), "C='1', but expected a number from 0 up; try"),
        (MedLDAClassifier(cost=0), "cost=0, but expected a number from 1e-06 up; try 1.0"),
    ],
    ids=repr,
)
def test_parameters(corpus, estimator, message):
    X, y, _ = corpus
    labels = (y > 0).astype(int)
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, labels)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "MedLDAClassifier requires y to be passed, but .* None; pass one label"),
        (["a"] * 1500, "y has one class, .*'a'.*, for all 1500 documents, but at least two"),
        (["a", "b"], "y has 2 labels, but there are 1500 documents; expected one label per"),
    ],
    ids=["none", "one class", "too few"],
)
def test_labels(corpus, y, message):
    with pytest.raises(ValueError, match=message):
        MedLDAClassifier(3, **SHORT).fit(corpus[0], y)


def test_responses(corpus):
    X, y, _ = corpus
    with pytest.raises(ValueError, match=r"GibbsSLDA requires y .* None; pass one number"):
        GibbsSLDA(3, **ALONE).fit(X, None)
    with pytest.raises(ValueError, match="y is 2 for all 1500 documents, but it must vary"):
        MedLDA(3, **ALONE).fit(X, 0 * y + 2)


def test_going_on_with_other_documents_is_refused(corpus):
    X, y, _ = corpus
    for model in (GibbsSLDA(3, warm_start=True, **ALONE), MedLDA(3, warm_start=True, **ALONE)):
        model.fit(X, y)
        with pytest.raises(ValueError, match=r"with 900 documents .* has 1500 .* the same doc"):
            model.fit(X[:900], y[:900])
