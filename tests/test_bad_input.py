"""Bad input gets one sentence: what was received, what was expected, what to do."""

import warnings
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy import sparse as sp
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import topicprism
from topicprism import (
    AnchorLDA,
    AnchorSLDA,
    AutoSLDA,
    Corpus,
    DiscLDA,
    EPInference,
    FewerTopicsWarning,
    GibbsInference,
    GibbsSLDA,
    HybridSLDA,
    ManyTopicsWarning,
    MedLDA,
    MedLDAClassifier,
    Settings,
    SpectralLDA,
    SpectralSLDA,
    VariationalSLDA,
    VariationalSLDAClassifier,
    decompose,
    sketch,
)
from topicprism.datasets import make_reviews, make_slda
from topicprism.documents import Threaded
from topicprism.spectral.decompose import learn


@pytest.fixture
def corpus():
    X, y, _ = make_slda(200, n_words=30, n_topics=3, doc_length=30, random_state=0)
    return X, y


def spoiled(X, value):
    X = X.toarray().astype(float)
    X[4, 7] = value
    return X


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-2, r"Negative values in data \(-2 at document 4, word 7\), but counts .* pass word"),
        (np.nan, r"NaN or inf \(nan at document 4, word 7\), but whole numbers .* replace"),
        (np.inf, r"NaN or inf \(inf at document 4, word 7\), but whole numbers .* replace"),
        (0.5, r"fractions \(0.5 at document 4, word 7\), but whole numbers .* not TF-IDF"),
    ],
)
def test_entries_that_are_not_counts(corpus, value, message, as_sparse):
    X, y = corpus
    bad = csr_array(spoiled(X, value)) if as_sparse else spoiled(X, value)
    for model in (SpectralSLDA(3), SpectralLDA(3)):
        with pytest.raises(ValueError, match=message):
            model.fit(bad, y)
    fitted = SpectralSLDA(3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=message):
        fitted.predict(bad)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y: y[:-1], r"y has shape \(199,\), but there are 200 documents; expected one"),
        (lambda y: y * 0 + 3, "y is 3 for all 200 documents, but it must vary .* SpectralLDA"),
        (
            lambda y: np.where(y == y[5], np.nan, y),
            r"y contains NaN, inf .* \(nan for document 5;.* drop the",
        ),
        (
            lambda y: np.where(y == y[5], np.inf, y),
            r"y contains NaN, inf .* \(inf for document 5;.* or rescale",
        ),
        (
            lambda y: ["good"] * len(y),
            r"y has dtype <U4, which is not numeric \(document 0 has 'good'\); .* encode labels",
        ),
        (lambda y: np.array(["1.5"] * len(y), object), "y has dtype object, which is not numeric"),
        (lambda y: [date(2020, 1, 1)] * len(y), "y has dtype object, which is not numeric"),
        (lambda y: np.arange(len(y)).astype("M8[D]"), "y has dtype datetime64.* not numeric"),
        (lambda y: y + 1j, "^y has dtype complex128, which is complex, expected [^\n\\[]*$"),
        (lambda y: y * 1e200, r"y contains .* a number beyond 1e\+100 .* rescale it"),
        (
            lambda y: y * 1e-200,
            r"y is from .*e-2\d+ to .*e-2\d+, a range too small .* units",
        ),
        (lambda y: None, "requires y to be passed, but the target y is None; .* SpectralLDA"),
    ],
)
def test_responses_that_cannot_be_explained(corpus, change, message):
    X, y = corpus
    with pytest.raises(ValueError, match=message):
        SpectralSLDA(3).fit(X, change(y))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_topics": 0}, "n_topics=0, but expected a whole number from 1 up; try 10"),
        ({"n_topics": 2.5}, "n_topics=2.5, but expected a whole number"),
        ({"n_topics": True}, "n_topics=True, but expected a whole number"),
        ({"n_topics": 31}, "n_topics=31, but there are only 30 directions .* n_topics <= 30"),
        ({"alpha0": 0}, "alpha0=0, but expected a number from 1e-06 to 10000; .* try 1.0"),
        ({"alpha0": 1e9}, "alpha0=1000000000.0, but expected a number from 1e-06 to 10000"),
        ({"noise_variance": True}, "noise_variance=True, but expected a number from 0"),
        ({"alpha0": -1.0}, "alpha0=-1.0, but expected a number from 1e-06"),
        ({"alpha0": np.nan}, "alpha0=nan, but expected a number from 1e-06"),
        ({"method": "both"}, "method='both', but expected one of 'joint', 'two-stage'"),
        ({"whitening": "svd"}, "whitening='svd', but expected one of 'auto', 'exact'"),
        (
            {"noise_variance": -1},
            "noise_variance=-1, but expected a number from 0 up; a variance, or leave",
        ),
        ({"noise_variance": 1e300}, r"noise_variance=1e\+300, but .* number from 0 to 1e\+100; a"),
        ({"noise_variance": 10**400}, r"noise_variance=10+, but expected a number from 0 to 1e\+"),
        ({"n_restarts": 0}, "n_restarts=0, but expected a whole number from 1 up"),
        ({"n_iterations": "many"}, "n_iterations='many', but expected a whole number"),
    ],
)
def test_parameters(corpus, params, message):
    with pytest.raises(ValueError, match=message):
        SpectralSLDA(**params).fit(*corpus)


ESTIMATORS = [
    *[AnchorLDA, AnchorSLDA, AutoSLDA, DiscLDA, GibbsSLDA, HybridSLDA, MedLDA, MedLDAClassifier],
    *[SpectralLDA, SpectralSLDA, VariationalSLDA, VariationalSLDAClassifier],
]
SEED = "but expected a whole number from 0 up, a RandomState, a Generator or None; use 0"
JOBS = "but expected None or a whole number other than 0 of threads; use None for one, -1 for all"
RUNNING = [
    *[({"random_state": seed}, f"random_state={seed!r}, {SEED}") for seed in ("a", 1.5, -1, True)],
    *[({"n_jobs": n}, f"n_jobs={n!r}, {JOBS}") for n in ("a", 0, 1.5, True)],
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(("params", "message"), RUNNING)
def test_seeds_and_threads(corpus, estimator, params, message):
    X, y = corpus
    with pytest.raises(ValueError, match=message):
        estimator(2, **params).fit(X, y > 0)


@pytest.mark.parametrize(("params", "message"), RUNNING)
def test_seeds_and_threads_at_the_other_doors(corpus, params, message):
    docs = Corpus(*corpus)
    doors = [
        lambda: SpectralSLDA(2, **params).fit_documents(docs),
        lambda: SpectralSLDA(2, **params).fit_sketch(sketch(docs, 8, np.random.default_rng(0))),
        lambda: topicprism.fit(*corpus, **params),
        lambda: topicprism.fit(["a room", "a bed"] * 20, range(40), max_df=1.0, **params),
        lambda: topicprism.stability(*corpus, **params),
    ]
    for door in doors:
        with pytest.raises(ValueError, match=message):
            door()


@pytest.mark.parametrize(("params", "message"), RUNNING[:4])
def test_seeds_of_what_is_drawn(params, message):
    for drawn in (make_slda, make_reviews):
        with pytest.raises(ValueError, match=message):
            drawn(10, **params)


@pytest.mark.parametrize("params", [{"n_topics": 0}, {"n_jobs": 0}, {"random_state": "a"}])
def test_what_cannot_be_fitted_is_refused_before_texts_are_read(params):
    with pytest.raises(ValueError, match=f"{next(iter(params))}="):
        topicprism.fit(object(), object(), **params)


def test_threads_that_were_changed_after_the_fit(corpus):
    X, y = corpus
    for topics in (SpectralSLDA(2, random_state=0), SpectralLDA(2, random_state=0)):
        topics.fit(X, y).set_params(n_jobs=0)
        for use in (topics.transform, getattr(topics, "predict", topics.score)):
            with pytest.raises(ValueError, match=f"n_jobs=0, {JOBS}"):
                use(X)


@pytest.mark.parametrize("seed", [np.int64(3), np.random, np.random.RandomState(0), None])
@pytest.mark.parametrize("n_jobs", [None, -1, -2, np.int32(1)])
def test_seeds_and_threads_that_scikit_learn_takes(seed, n_jobs):
    GibbsSLDA(2, random_state=seed, n_jobs=n_jobs)._check()


UNORDERED = (set, frozenset, dict.fromkeys, lambda v: dict.fromkeys(v).keys(),
             lambda v: dict(enumerate(v)).values())  # fmt: skip


@pytest.mark.parametrize("unordered", UNORDERED)
def test_documents_and_responses_have_an_order(unordered):
    """Those of a set would be paired at random."""
    texts, stars, _ = topicprism.datasets.make_reviews(60, random_state=0)
    stars = stars.tolist()
    pipeline = topicprism.fit(texts, stars, estimator=SpectralSLDA, n_topics=2, random_state=0)
    topics = pipeline.topics
    counts = pipeline[:-1].transform(texts)
    doors = [
        lambda: topicprism.fit(unordered(texts), stars),
        lambda: topicprism.fit(texts, unordered(stars)),
        lambda: topicprism.fit(counts, unordered(stars)),
        lambda: topicprism.stability(texts, unordered(stars)),
        lambda: pipeline.predict(unordered(texts)),
        lambda: pipeline.transform(unordered(texts)),
        lambda: pipeline.score(unordered(texts), stars),
        lambda: pipeline.score(texts, unordered(stars)),
        lambda: pipeline.fit(texts, unordered(stars)),
        lambda: topics.fit(counts, unordered(stars)),
        lambda: topics.score(counts, unordered(stars)),
        lambda: DiscLDA(2).fit(counts, unordered(stars)),
    ]
    for door in doors:
        with pytest.raises(ValueError, match=r"got a \w+ of \d+ values, .* in the order .* a list"):
            door()


@pytest.mark.filterwarnings("ignore::topicprism.NothingPredictedWarning")
@pytest.mark.parametrize("method", ["joint", "two-stage"])
def test_more_topics_than_the_data_carry_are_left_out_and_said(method):
    X, y, _ = make_slda(60, n_words=40, n_topics=3, doc_length=5, random_state=0)
    message = r"n_topics=38, but the data support (\d+): the others are not identifiable .* use"
    with pytest.warns(FewerTopicsWarning, match=message):
        fitted = SpectralSLDA(38, method=method, random_state=0).fit(X, y)
    assert 1 <= len(fitted.components_) < 38
    assert fitted.predict(X).shape == (60,)
    assert "not identifiable" in fitted.selection_.reasons["n_topics"] or (
        f"support only {len(fitted.components_)}" in fitted.selection_.reasons["n_topics"]
    )


SHORT = {"burn_in": 2, "n_kept": 1, "cross_fit": False}


@pytest.mark.filterwarnings("ignore::topicprism.NothingPredictedWarning")
@pytest.mark.filterwarnings("ignore::topicprism.FewerTopicsWarning")
@pytest.mark.parametrize(
    "estimator",
    [
        SpectralSLDA(33, random_state=0),
        AutoSLDA(33, random_state=0),
        GibbsSLDA(33, **SHORT, random_state=0),
        HybridSLDA(33, **SHORT, random_state=0),
        VariationalSLDA(33, n_iterations=1, random_state=0),
        AnchorSLDA(33, random_state=0),
    ],
    ids=lambda e: type(e).__name__,
)
def test_more_topics_than_documents_are_warned_of_once(estimator):
    X, y, _ = make_slda(30, n_words=40, n_topics=3, doc_length=30, random_state=0)
    message = "n_topics=33 is more than the 30 documents to learn from: .* ask for fewer"
    fits = [lambda: estimator.fit(X, y)]
    if hasattr(estimator, "fit_documents"):
        fits.append(lambda: estimator.fit_documents(Threaded(Corpus(X, y), 1)))
    for fit in fits:
        with pytest.warns(ManyTopicsWarning, match=message) as told:
            fit()
        assert [w.category for w in told].count(ManyTopicsWarning) == 1


@pytest.mark.parametrize("method", ["joint", "two-stage"])
def test_more_topics_than_a_sketch_carries_names_a_number_that_works(method):
    X, y, _ = make_slda(60, n_words=40, n_topics=3, doc_length=5, random_state=0)
    message = (
        r"n_topics=38, but the (second|third) moment has only \d+ positive eigenvalues; the "
        r"largest n_topics that works here is (\d+): use that, or more documents"
    )
    made, how = sketch(Corpus(X, y), 40, np.random.default_rng(0)), Settings(method=method)
    with pytest.raises(ValueError, match=message) as caught:
        decompose(made, 38, settings=how, rng=np.random.default_rng(0))
    largest = int(str(caught.value).split("works here is ")[1].split(":")[0])
    assert 1 <= largest < 38
    decompose(made, largest, settings=how, rng=np.random.default_rng(0))


def set_last(value):
    def change(array):
        array = array.copy()
        array.flat[-1] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("weight", lambda w: 0.0, "a sketch of no documents, or of short ones only, .* sketch oth"),
        ("weight", lambda w: 1e-99, r"moments of up to .*e\+1\d\d, but numbers below 1e\+40 wer"),
        ("first", set_last(-1e60), r"moments of up to .*e\+5\d, but numbers .*; sketch the docum"),
        ("second", set_last(-1e100), r"moments of up to .*e\+9\d, but numbers below 1e\+40 were"),
        ("third", set_last(1e60), r"moments of up to .*e\+5\d, but numbers below 1e\+40 were"),
        ("first", lambda first: -first, r"leads to no model \(.*\), but moments of documents were"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of division by what sums to zero
def test_a_sketch_of_no_documents_or_of_none_that_can_be(corpus, name, change, message):
    """As of a file that was changed and has the checksum that belongs to it."""
    made = sketch(Corpus(*corpus), 8, np.random.default_rng(0))
    bad = replace(made, **{name: change(getattr(made, name))})
    for topics in (SpectralSLDA(2, alpha0=1.0, random_state=0), SpectralSLDA(random_state=0)):
        with pytest.raises(ValueError, match=message):
            topics.fit_sketch(bad)


def test_no_documents(corpus):
    X, y = corpus
    with pytest.raises(ValueError, match=r"got counts of shape \(0, 30\), but .* at least one"):
        SpectralSLDA(3).fit(X[:0], y[:0])
    with pytest.raises(ValueError, match=r"got no documents, but at least one .* learn words from"):
        topicprism.fit([], [])


def test_one_word(corpus):
    X, y = corpus
    with pytest.raises(ValueError, match=r"1 feature\(s\) .* minimum of 2 .*; count two words or"):
        SpectralSLDA(3).fit(X[:, :1], y)


@pytest.mark.filterwarnings("ignore::topicprism.ShortDocumentsWarning")
@pytest.mark.parametrize("estimator", [AutoSLDA, SpectralSLDA])
def test_responses_of_documents_that_are_too_short_are_no_evidence(corpus, estimator):
    """Those that are learnt from have one response: coefficients had standard errors of 0."""
    X = sp.vstack([corpus[0][:100], csr_array((200, corpus[0].shape[1]), dtype=int)], format="csr")
    y = np.concatenate([np.full(100, 2.0), np.linspace(0, 5, 200)])
    with pytest.warns(topicprism.NothingPredictedWarning):
        fitted = estimator(random_state=0).fit(X, y)
    assert not hasattr(fitted, "coef_std_")


@pytest.mark.parametrize(
    "estimator",
    [
        AnchorSLDA(3, random_state=0),
        VariationalSLDA(3, n_iterations=3, random_state=0),
    ],
)
def test_documents_without_a_word_teach_nothing(corpus, estimator):
    X, y = corpus
    more = sp.vstack([csr_array((50, X.shape[1]), dtype=int), X], format="csr")
    known, other = (
        clone(estimator).fit(X, y),
        clone(estimator).fit(more, np.append(np.arange(50), y)),
    )
    np.testing.assert_array_equal(other.components_, known.components_)
    np.testing.assert_array_equal(other.coef_, known.coef_)
    assert other.noise_variance_ == known.noise_variance_


def test_one_document(corpus):
    X, y = corpus
    with pytest.raises(ValueError, match=r"got 1 sample \(document\), but at least 2 .* add"):
        SpectralSLDA(3).fit(X[:1], y[:1])


def test_all_documents_too_short():
    X = csr_array(np.eye(10, dtype=int)[:, :5])
    with pytest.raises(ValueError, match=r"all 10 documents have fewer than 3 words.*check that"):
        SpectralSLDA(2).fit(X, np.arange(10.0))
    with pytest.raises(ValueError, match="all 10 documents have fewer than 3 words"):
        learn(Corpus(X, np.arange(10.0)), 2, rng=np.random.default_rng(0))


def test_another_width_at_prediction(corpus):
    X, y = corpus
    fitted = SpectralSLDA(3, random_state=0).fit(X, y)
    with pytest.raises(
        ValueError, match=r"X has 20 features, but .* expecting 30 .*; vectorise with the"
    ):
        fitted.predict(X[:, :20])


def test_text_instead_of_counts(corpus):
    _, y = corpus
    for X in (np.array([["a", "b"]] * len(y)), [["a", "b"]] * len(y)):
        with pytest.raises(ValueError, match=r"X holds text, but word counts .* vectoriser"):
            SpectralSLDA(3).fit(X, y)


def test_a_wrong_length_at_scoring(corpus):
    X, y = corpus
    fitted = SpectralSLDA(3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"y has shape \(199,\), but there are 200 documents"):
        fitted.score(X, y[:-1])


def test_a_damaged_matrix(corpus):
    X, y = corpus
    X = X.copy()
    X.indices[5] = 30_000_000
    with pytest.raises(
        ValueError, match=r"word ids from 0 to 30000000, but 30 columns; .* damaged"
    ):
        SpectralSLDA(3).fit(X, y)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d, r: learn(d, 0, rng=r), "n_topics=0, but expected a whole number"),
        (lambda d, r: learn(d, 2, -0.5, rng=r), "alpha0=-0.5, but expected a number"),
        (lambda d, r: Settings("both"), "method='both', but expected one of"),
        (lambda d, r: Settings(word_scale=0.0), "word_scale=0.0, but expected a number"),
        (lambda d, r: Corpus(d.counts, d.y[:-1]), r"y has shape \(199,\), but there are 200"),
        (lambda d, r: Corpus(d.counts, {1, 2}), "y is a set, but expected an array with one"),
        (lambda d, r: Corpus(d.counts, list(d.y)), "y is a list, but expected an array with one"),
        (
            lambda d, r: GibbsInference(5, 0),
            r"n_sweeps=0.*but expected .* n_sweeps from 1 up",
        ),
        (lambda d, r: EPInference(0), r"EPInference\(.*but expected at least one sweep"),
    ],
)
def test_the_inner_doors_refuse_as_well(corpus, call, message):
    with pytest.raises(ValueError, match=message):
        call(Corpus(*corpus), np.random.default_rng(0))


@pytest.mark.parametrize(("words", "wrong"), [([3, 3, 5], 3), ([3, 7, 5], 5)])
def test_documents_have_each_word_once_and_in_order(corpus, words, wrong):
    X, y = corpus
    rows = np.split(X.indices, X.indptr[1:-1])
    rows[4] = np.array(words)
    n = [len(row) for row in rows]
    damaged = csr_array((np.ones(sum(n)), np.concatenate(rows), np.cumsum([0, *n])), X.shape)
    with pytest.raises(ValueError, match=f"document 4 has word {wrong} twice or out of order"):
        SpectralSLDA(2).fit_documents(Corpus(damaged, y))
    in_order = damaged.copy()
    in_order.sum_duplicates()
    SpectralSLDA(2, random_state=0).fit_documents(Corpus(in_order, y))


def masked(values, n):
    """The first n values are not known."""
    mask = np.zeros(np.shape(values), bool)
    mask.flat[:n] = True
    return np.ma.array(values, mask=mask)


def test_masks_are_not_ignored(corpus):
    X, y = corpus
    fitted = SpectralSLDA(3, random_state=0).fit(X, y)
    two_masked = masked(X.toarray(), 2)
    for call in (
        lambda: SpectralSLDA(3).fit(two_masked, y),
        lambda: SpectralLDA(3).fit(two_masked),
        lambda: GibbsSLDA(3).fit(two_masked, y),
        lambda: fitted.predict(two_masked),
        lambda: fitted.transform(two_masked),
        lambda: topicprism.fit(two_masked, y, n_topics=3),
    ):
        with pytest.raises(ValueError, match=r"counts X have 2 masked values, but .* filled\(\)"):
            call()
    for call in (
        lambda: SpectralSLDA(3).fit(X, masked(y, 5)),
        lambda: SpectralSLDA(3).fit(X, masked(y, 5)[:, None]),
        lambda: MedLDA(3).fit(X, masked(y, 5)),
        lambda: MedLDAClassifier(3).fit(X, masked(y > 0, 5)),
        lambda: VariationalSLDA(3).fit(X, masked(y, 5)),
        lambda: AnchorSLDA(3).fit(X, masked(y, 5)),
        lambda: DiscLDA(3).fit(X, masked(y > 0, 5)),
        lambda: fitted.score(X, masked(y, 5)),
    ):
        with pytest.raises(ValueError, match=r"y have 5 masked values, but a number was expected"):
            call()
    same = SpectralSLDA(3, random_state=0).fit(masked(X.toarray(), 0), masked(y, 0))
    np.testing.assert_array_equal(same.coef_, fitted.coef_)


def test_masked_responses_of_texts_are_missing(corpus):
    X, y = corpus
    with pytest.warns(topicprism.MissingValuesWarning, match="5 with no response"):
        found = topicprism.fit(X, masked(y, 5), n_topics=3)
    assert found.info["n_left_out"] == {"no response": 5}


def test_counts_that_no_sum_can_hold(corpus):
    X, y = corpus
    fitted = SpectralSLDA(3, random_state=0).fit(X, y)
    for factor in (1e14, 1e300):
        many = X.astype(float) * factor
        for call in (lambda X: SpectralSLDA(3).fit(X, y), SpectralLDA(3).fit, fitted.transform):
            with pytest.raises(ValueError, match=r"counts add up to .* words .* pass raw word"):
                call(many)
    with warnings.catch_warnings():  # documents of 10^13 words may not settle, and it says so
        warnings.simplefilter("ignore", ConvergenceWarning)
        h = fitted.transform(X.astype(float) * 2.0**40)
    np.testing.assert_allclose(h.sum(axis=1), 1)


SAMPLERS = [GibbsSLDA, MedLDA, MedLDAClassifier]
CLASSIFIERS = (MedLDAClassifier, VariationalSLDAClassifier, DiscLDA)
RELATIVES = [VariationalSLDA, VariationalSLDAClassifier, AnchorLDA, AnchorSLDA, DiscLDA]


@pytest.mark.parametrize("n_topics", [10**6, 10**9, 10**30])
@pytest.mark.parametrize("kind", [*SAMPLERS, *RELATIVES, HybridSLDA, SpectralSLDA, SpectralLDA])
def test_more_topics_than_memory_holds(corpus, kind, n_topics):
    X, y = corpus
    sentence = (
        rf"n_topics={n_topics}\D.*(more than the memory of this machine; try|use n_topics <=)"
    )
    with pytest.raises(ValueError, match=sentence):
        kind(n_topics).fit(X, y > 0 if kind in CLASSIFIERS else y)


@pytest.mark.parametrize("count", [1e9, 3e9])
@pytest.mark.parametrize("kind", [*SAMPLERS, HybridSLDA])
def test_words_repeated_without_end_are_not_sampled(corpus, kind, count):
    X, y = corpus
    sentence = r"a word is counted [13]e\+09 times in one document, but a sampler .* check the"
    with pytest.raises(ValueError, match=sentence):
        kind(2, burn_in=1, n_kept=1).fit(
            spoiled(X, count), y > 0 if kind is MedLDAClassifier else y
        )


@pytest.mark.parametrize("count", [1e12, 2e8])
def test_words_without_end_are_not_inferred_by_sampling(corpus, count):
    """1e12 of them was a MemoryError; propagation does not expand them."""
    X, y = corpus
    fitted = SpectralSLDA(3, regime="paper", inference="gibbs", random_state=0).fit(X, y)
    long = spoiled(X, count)
    for answer in (fitted.predict, fitted.transform):
        with pytest.raises(
            ValueError, match=r"a document has \de\+\d+ words, but Gibbs .* use EPI"
        ):
            answer(long)
    assert np.isfinite(fitted.set_params(inference="propagation").predict(long)).all()


anything = npst.arrays(
    st.sampled_from([np.float64, np.int64]),
    npst.array_shapes(min_dims=2, max_dims=2, max_side=8),
    elements=st.sampled_from([0, 0, 1, 2, 3, 7, 1000]),
)


@pytest.mark.filterwarnings("ignore:.*documents have fewer", "ignore:.*but the data support")
@pytest.mark.filterwarnings("ignore::topicprism.CopiesWarning")
@pytest.mark.filterwarnings("ignore::topicprism.ManyTopicsWarning")
@settings(deadline=None, max_examples=100)
@given(
    X=anything,
    k=st.sampled_from([1, 2, 3, 4, "auto"]),
    method=st.sampled_from(["joint", "two-stage"]),
)
def test_any_counts_give_a_model_or_a_sentence(X, k, method):
    y = np.arange(len(X)) % 3
    try:
        fitted = SpectralSLDA(k, method=method, random_state=0).fit(X, y)
    except ValueError as error:
        sentence = str(error)
        assert len(sentence) > 20
        assert "\n" not in sentence
    else:
        assert np.isfinite(fitted.predict(X)).all()
        assert np.isfinite(fitted.components_).all()
        np.testing.assert_allclose(fitted.components_.sum(axis=1), 1)
