import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_info

from topicprism import ShortDocumentsWarning, SpectralLDA, SpectralSLDA
from topicprism.datasets import make_slda
from topicprism.evaluation import pr2

# scikit-learn's checks fit on a handful of short rows of random integers, in
# which one topic is all there is to find.
CHECKED = [
    SpectralSLDA(n_topics=1),
    SpectralSLDA(n_topics=1, method="two-stage"),
    SpectralLDA(n_topics=1),
]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(CHECKED)
def test_scikit_learn(estimator, check):
    check(estimator)


SOME = 300  # documents that are predicted: each takes milliseconds where topics overlap


@pytest.fixture(scope="module")
def corpus():
    return make_slda(3000, n_words=120, n_topics=4, doc_length=(20, 80), random_state=0)


@pytest.fixture(scope="module")
def fitted(corpus):
    X, y, _ = corpus
    return SpectralSLDA(n_topics=4, random_state=0).fit(X, y)


def test_fitted_attributes(fitted):
    assert fitted.components_.shape == (4, 120)
    assert_allclose(fitted.components_.sum(axis=1), 1)
    assert (fitted.components_ >= 0).all()
    assert (np.diff(fitted.coef_) >= 0).all()
    for name in ("alpha_", "coef_", "eigenvalues_"):
        assert getattr(fitted, name).shape == (4,)
    assert (np.diff(fitted.spectrum_) <= 0).all()
    assert fitted.n_features_in_ == 120
    assert fitted.noise_variance_ >= 0
    assert 0 <= fitted.residual_ < 1
    assert list(fitted.get_feature_names_out()) == [f"spectralslda{i}" for i in range(4)]


def test_it_learns_the_truth(corpus, fitted):
    """0.1 and 0.3 are twice the errors of coefficients seen at 3,000 short documents."""
    X, y, truth = corpus
    known = SpectralSLDA(n_topics=4, alpha0=1.0, random_state=0).fit(X, y)
    assert_allclose(known.coef_, np.sort(truth.eta), atol=0.1)
    assert_allclose(fitted.coef_, np.sort(truth.eta), atol=0.3)
    X, y = X[:SOME], y[:SOME]
    predicted = fitted.predict(X)
    assert pr2(y, predicted) > 0.7
    assert_allclose(fitted.score(X, y), pr2(y, predicted))
    assert_allclose(predicted, fitted.transform(X) @ fitted.coef_)


@pytest.mark.parametrize("method", ["joint", "two-stage"])
@pytest.mark.parametrize(("a", "b"), [(1000.0, 0.0), (1.0, 1e4), (-3.0, 7.0), (1e-6, 1.0)])
def test_units_of_the_response_change_nothing_but_the_units(corpus, method, a, b):
    X, y, _ = corpus
    plain, moved = (
        SpectralSLDA(n_topics=4, method=method, random_state=0).fit(X, t) for t in (y, a * y + b)
    )
    # a*y + b is itself rounded to |b| * 1e-16, which is |b/a| * 1e-16 in units of y
    atol = 1e-9 + 1e-12 * abs(b / a)
    X = X[:SOME]
    assert_allclose((moved.predict(X) - b) / a, plain.predict(X), atol=atol)
    assert_allclose(moved.noise_variance_ / a**2, plain.noise_variance_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    "convert",
    [
        lambda X: X.toarray(),
        sparse.csr_matrix,
        sparse.csc_array,
        sparse.coo_array,
        lambda X: X.astype(np.float32),
        lambda X: X.toarray().tolist(),
    ],
)
def test_every_form_of_input_gives_one_answer(corpus, fitted, convert):
    X, y, _ = corpus
    other = SpectralSLDA(n_topics=4, random_state=0).fit(convert(X), y)
    assert_allclose(other.components_, fitted.components_, atol=1e-12)
    X = X[:SOME]
    assert_allclose(other.predict(convert(X)), fitted.predict(X), atol=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2, 3, -1])
def test_the_number_of_jobs_changes_no_bit(corpus, fitted, n_jobs):
    X, y, _ = corpus
    same = SpectralSLDA(n_topics=4, random_state=0, n_jobs=n_jobs).fit(X, y)
    assert_array_equal(same.components_, fitted.components_)
    assert_array_equal(same.coef_, fitted.coef_)


def test_the_number_of_jobs_changes_no_bit_where_topics_are_hard_to_find(monkeypatch):
    """Zipf's frequencies, a far offset, many shards: where rounding has its best chance."""
    monkeypatch.setattr("topicprism.documents.threads.MIN_SHARD_DOCUMENTS", 100)
    X, y, _ = make_slda(1500, n_words=2000, n_topics=8, doc_length=60, words="zipf", random_state=1)
    one, two, five = (SpectralSLDA(8, random_state=0, n_jobs=n).fit(X, y + 1e4) for n in (1, 2, 5))
    for other in (two, five):
        assert_array_equal(other.components_, one.components_)
        assert_array_equal(other.coef_, one.coef_)


def spoiled(X, how):
    X = X.copy()
    match how:
        case "shuffled":
            for start, stop in pairwise(X.indptr):
                X.indices[start:stop] = X.indices[start:stop][::-1]
                X.data[start:stop] = X.data[start:stop][::-1]
            X.has_sorted_indices = X.has_canonical_format = False
        case "doubled":
            twice = np.repeat(X.indices, 2)
            data = np.column_stack([np.ones_like(X.data), X.data - 1]).ravel()
            X = sparse.csr_array((data, twice, 2 * X.indptr), shape=X.shape)
        case "zeros":
            X = X + sparse.csr_array((np.zeros(5, int), (range(5), range(5))), shape=X.shape)
        case "read-only":
            for a in (X.data, X.indices, X.indptr):
                a.flags.writeable = False
        case "big-endian":
            X = sparse.csr_array((X.data.astype(">f8"), X.indices, X.indptr), shape=X.shape)
    return X


@pytest.mark.parametrize("how", ["shuffled", "doubled", "zeros", "read-only", "big-endian"])
def test_unusual_sparse_matrices_give_the_same_answer(corpus, fitted, how):
    X, y, _ = corpus
    other = SpectralSLDA(n_topics=4, random_state=0).fit(spoiled(X, how), y)
    assert_allclose(other.components_, fitted.components_, atol=1e-12)
    X = X[:SOME]
    assert_allclose(other.predict(spoiled(X, how)), fitted.predict(X), atol=1e-12)


def test_fits_in_several_threads_leave_blas_as_it_was(corpus):
    X, y, _ = corpus

    def blas():
        return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]

    before = blas()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda s: SpectralSLDA(2, random_state=s).fit(X, y), range(8)))
    assert blas() == before


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_fitting_copies_nothing_of_the_size_of_the_corpus(index):
    X, y, _ = make_slda(40_000, n_words=100, n_topics=3, doc_length=60, random_state=0)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    SpectralSLDA(3, random_state=0).fit(X, y)
    tracemalloc.start()
    SpectralSLDA(3, random_state=0).fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # a twentieth of the documents at a time, their keys and responses
    assert peak < 0.45 * (X.data.nbytes + X.indices.nbytes)


def test_another_seed_finds_the_same_model(corpus, fitted):
    """There are no local optima: the seed picks starts and directions, whose error after three
    passes is a small part of the sampling error (0.1 in L1 here)."""
    X, y, _ = corpus
    other = SpectralSLDA(n_topics=4, random_state=99).fit(X, y)
    assert_allclose(other.components_, fitted.components_, atol=1e-3)
    assert_allclose(other.coef_, fitted.coef_, atol=1e-2)


def test_random_state_may_be_of_any_kind(corpus):
    X, y, _ = corpus
    plain = SpectralSLDA(n_topics=2, random_state=0).fit(X, y).coef_
    for state in (None, np.random, np.random.RandomState(0), np.random.default_rng(0)):
        # two topics of four truths: other directions, nearly the same answer
        found = SpectralSLDA(n_topics=2, random_state=state).fit(X, y).coef_
        assert_allclose(found, plain, atol=0.01)


@pytest.mark.parametrize("whitening", ["exact", "matrix-free", "nystrom"])
def test_whitenings_agree_on_documents(corpus, fitted, whitening):
    """Nystrom is an approximation: its topics are within 0.2 in L1 of the exact ones."""
    X, y, _ = corpus
    other = SpectralSLDA(n_topics=4, whitening=whitening, random_state=0).fit(X, y)
    gap = np.abs(other.components_ - fitted.components_).sum(axis=1).max()
    assert gap < (0.2 if whitening == "nystrom" else 1e-7)


def test_a_given_noise_variance_is_kept(corpus):
    X, y, truth = corpus
    model = SpectralSLDA(4, alpha0=1.0, noise_variance=0.01, random_state=0).fit(X, y)
    assert_allclose(model.noise_variance_, 0.01)
    assert_allclose(model.coef_, np.sort(truth.eta), atol=0.1)


def test_short_documents_are_left_out_counted_said_once_and_predicted(corpus):
    X, y, _ = corpus
    short = sparse.csr_array(([1, 2], ([0, 1], [3, 5])), shape=(2, 120))
    with pytest.warns(ShortDocumentsWarning, match="2 of 3002 documents have fewer than 3") as said:
        model = SpectralSLDA(n_topics=4, random_state=0).fit(
            sparse.vstack([short, X]), np.concatenate([[1e6, -1e6], y])
        )
    assert len(said) == 1
    assert model.n_short_ == 2
    without = SpectralSLDA(n_topics=4, random_state=0).fit(X, y)
    assert_allclose(model.components_, without.components_, atol=1e-9)
    assert_allclose(model.coef_, without.coef_, atol=1e-9)
    assert np.isfinite(model.predict(short)).all()


def test_lda_finds_the_topics_without_a_response(corpus, fitted):
    X, _, truth = corpus
    lda = SpectralLDA(n_topics=4, random_state=0).fit(X)
    cost = np.abs(lda.components_[:, None] - truth.mu.T[None]).sum(axis=2)
    assert cost.min(axis=0).max() < 0.35
    assert (np.diff(lda.alpha_) <= 0).all()
    assert (lda.model_.eta == 0).all()
    some = X[:SOME]
    assert lda.score(some) > SpectralLDA(n_topics=1).fit(X).score(some)
    assert_allclose(lda.transform(some).sum(axis=1), 1)
    huge = X[:1].tolil()
    huge[0, 0] = 10**9
    tracemalloc.start()
    assert np.isfinite(lda.score(huge.tocsr()))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1e6  # no list of words


def test_it_works_where_scikit_learn_works():
    rng = np.random.default_rng(0)
    good = ["clean", "friendly", "lovely", "quiet", "view"]
    bad = ["dirty", "rude", "awful", "noisy", "smell"]
    share = rng.random(400)
    texts = [" ".join(rng.choice(good, n)) + " " + " ".join(rng.choice(bad, 20 - n))
             for n in (20 * share).astype(int)]  # fmt: skip
    stars = 1 + 4 * share
    pipe = make_pipeline(CountVectorizer(), SpectralSLDA(n_topics=2, random_state=0))
    assert cross_val_score(pipe, texts, stars, cv=3).min() > 0.8
    search = GridSearchCV(pipe, {"spectralslda__alpha0": [0.5, 2.0]}, cv=2).fit(texts, stars)
    assert search.best_score_ > 0.8
    pipe.fit(texts, stars)
    pipe[-1].set_output(transform="pandas")
    words = pipe[0].get_feature_names_out()
    best = set(words[np.argsort(-pipe[-1].components_[-1])[:5]])
    assert best == set(good)
    assert list(pipe.transform(texts).columns) == ["spectralslda0", "spectralslda1"]


def test_clones_and_pickles(corpus, fitted):
    X = corpus[0][:SOME]
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.predict(X), fitted.predict(X))
    assert not hasattr(clone(fitted), "coef_")
