"""Folds and samples go by what is in a document: no order and no cut into shards matters."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, vstack

from topicprism import Corpus, SpectralLDA, SpectralSLDA
from topicprism.datasets import make_slda
from topicprism.documents import OnDisk, Threaded
from topicprism.documents.subsets import (
    ALL,
    BUCKETS,
    KEYS,
    KeyCounts,
    Subset,
    SubsetDocuments,
    map_subsets,
)
from topicprism.evaluation import halves, split_words
from topicprism.learn.hybrid import Hybrid, HybridRequest


@pytest.fixture(scope="module")
def docs():
    X, y, _ = make_slda(11_000, n_words=60, n_topics=3, doc_length=30, random_state=0)
    return Corpus(X, y)


def all_words(c):
    return np.array([len(c), c.counts.data.sum(), c.y.sum()])


# --- keys -------------------------------------------------------------------------------


def test_a_key_is_of_the_words_and_their_counts(rng):
    X = csr_array(rng.poisson(0.5, size=(300, 12)))
    y = np.zeros(300)
    keys = Corpus(X, y).keys
    rows = [tuple(row) for row in X.toarray()]
    for row in set(rows):
        assert len({keys[i] for i, other in enumerate(rows) if other == row}) == 1
    assert len(set(keys.tolist())) == len(set(rows))
    for dtype in (np.int8, np.uint16, np.int64, np.float32, np.float64):
        assert_array_equal(Corpus(X.astype(dtype), y).keys, keys)
    with_zeros = X.copy()
    with_zeros.data[::3] = 0
    without = with_zeros.copy()
    without.eliminate_zeros()
    assert_array_equal(Corpus(with_zeros, y).keys, Corpus(without, y).keys)
    shuffled = csr_array((X.data[::-1], X.indices[::-1], X.nnz - X.indptr[::-1]), X.shape)
    assert_array_equal(Corpus(shuffled, y).keys, keys[::-1])


def test_keys_are_spread_evenly(docs):
    counts = np.bincount((docs.keys >> np.uint64(60)).astype(int), minlength=16)
    assert np.abs(counts - len(docs) / 16).max() < 5 * np.sqrt(len(docs) / 16)
    ones = Corpus(csr_array(np.eye(4096)), np.zeros(4096))  # documents of one word each
    counts = np.bincount((ones.keys >> np.uint64(60)).astype(int), minlength=16)
    assert np.abs(counts - 256).max() < 5 * 16


def test_some_documents_keep_their_keys(docs):
    looked_at = Corpus(docs.counts, docs.y)
    keys, these = looked_at.keys, docs.y > np.median(docs.y)
    assert_array_equal(looked_at.take(these).keys, keys[these])
    assert_array_equal(looked_at.rows(10, 50).keys, keys[10:50])
    assert_array_equal(Corpus(docs.counts, docs.y).take(these).keys, keys[these])


# --- subsets ----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 7, 10])
@pytest.mark.parametrize("within", [(0, 1), (0, 0.35), (0.6, 0.9)])
def test_subsets_are_of_equal_size_and_leave_none_out(docs, n, within):
    keys = KeyCounts.of(docs)
    whole = keys.share(*within)
    pieces = keys.cut(n, whole)
    sizes = [len(piece.rows(docs)) for piece in pieces]
    assert max(sizes) - min(sizes) <= 12  # documents that share a bucket of keys
    assert sum(sizes) == len(whole.rows(docs)) == keys.size(whole)
    assert abs(sum(sizes) - (within[1] - within[0]) * len(docs)) <= 12


def test_subsets_are_the_same_in_any_order_and_any_shards(docs, tmp_path, rng):
    order = rng.permutation(len(docs))
    other = Corpus(csr_array(docs.counts)[order], docs.y[order])
    keys = KeyCounts.of(docs)
    assert_array_equal(KeyCounts.of(other).n, keys.n)
    folds = keys.cut(5)
    expected = map_subsets(docs, folds, all_words)
    by_key = docs.in_key_order()
    shards = OnDisk.write(
        tmp_path / "docs", [other.rows(0, 3), other.rows(3, 9000), other.rows(9000, 11_000)]
    )
    for engine in (other, by_key, Threaded(other, 2), Threaded(by_key, 2), shards):
        assert_array_equal(engine.total(KeyCounts.of).n, keys.n)
        assert_allclose(map_subsets(engine, folds, all_words), expected)


def test_documents_in_the_order_of_their_keys(docs, rng):
    order = rng.permutation(len(docs))
    one = docs.in_key_order()
    other = Corpus(csr_array(docs.counts)[order], docs.y[order]).in_key_order()
    for a, b in ((one.counts.indptr, other.counts.indptr), (one.counts.data, other.counts.data)):
        assert_array_equal(a, b)
    assert_array_equal(one.y, other.y)
    keys = KeyCounts.of(docs)
    for subset in (*keys.cut(3), Subset(5, 5), Subset(9, 3), Subset(KEYS // 2, KEYS), ALL):
        taken = subset.rows(docs)
        assert_allclose(all_words(subset.rows(one)), all_words(taken))
        assert_array_equal(np.sort(subset.rows(one).keys), np.sort(taken.keys))


def test_documents_with_the_same_words_stay_together(docs):
    X = csr_array(docs.counts)[:200]
    twice = Corpus(csr_array(vstack([X, X, X])), np.arange(600.0))
    for fold in KeyCounts.of(twice).cut(10):
        numbers = fold.rows(twice).y % 200
        assert (np.bincount(numbers.astype(int)) % 3 == 0).all()


def test_at_most_so_many(docs):
    keys = KeyCounts.of(docs)
    assert keys.at_most(11_000) == keys.at_most(10**6) == ALL
    some = keys.at_most(1100)
    assert abs(len(some.rows(docs)) - 1100) <= 6
    assert len(some.rows(docs)) + len(some.rest.rows(docs)) == len(docs)
    fewer = keys.at_most(100, some)
    assert set(fewer.rows(docs).keys) <= set(some.rows(docs).keys)
    assert SubsetDocuments(docs, some).total(len) == len(some.rows(docs))


def test_a_part_of_a_part_is_what_both_have(docs):
    keys = KeyCounts.of(docs)
    first, last = keys.share(0, 0.6), keys.share(0.4, 1)
    both = SubsetDocuments(SubsetDocuments(docs, first), last)
    expected = all_words(docs.take(first.has(docs.keys) & last.has(docs.keys)))
    assert 2000 < expected[0] < 2400
    assert_allclose(both.total(all_words), expected)


def test_many_documents_are_cut_within_a_bucket():
    """As many documents as no table of a test has: only their counts are made up."""
    keys = KeyCounts(np.full(BUCKETS, 1000))
    some = keys.at_most(1500)
    assert_allclose(some.stop / KEYS, 1.5 / BUCKETS)
    assert keys.size(some) == 1500
    assert [keys.size(part) for part in keys.cut(3, some)] == [500, 500, 500]


def test_a_few_documents_that_are_all_alike():
    alike = Corpus(csr_array(np.ones((40, 3))), np.arange(40.0))
    folds = KeyCounts.of(alike).cut(5)
    assert sorted(len(fold.rows(alike)) for fold in folds) == [0, 0, 0, 0, 40]
    assert len(KeyCounts.of(alike).share(0, 0.75).rows(alike)) == 40


# --- halves of a document's words ---------------------------------------------------------


def test_halves_go_by_the_document(docs, rng):
    X, order = csr_array(docs.counts), rng.permutation(len(docs))
    one, other = split_words(X, docs.keys, 3)
    assert_array_equal(
        split_words(X[order], docs.keys[order], 3)[0].toarray(), one[order].toarray()
    )
    assert (split_words(X, docs.keys, 4)[0] != one).nnz > 0
    assert_array_equal((one + other).toarray(), X.toarray())
    assert set((one.sum(axis=1) - other.sum(axis=1)).tolist()) <= {0, 1}


def test_every_half_is_as_likely(rng):
    """Five words, three of them the same: the first hand has three of five at random."""
    n = 20_000
    X = csr_array(np.hstack([np.tile([3, 1, 1], (n, 1)), np.eye(n, dtype=int)[:, :0]]))
    first, _ = split_words(X, rng.integers(2**63, size=n).astype(np.uint64), 0)
    shares = np.bincount(first.toarray()[:, 0], minlength=4) / n
    assert_allclose(shares, [0, 0.3, 0.6, 0.1], atol=0.02)  # hypergeometric
    assert_allclose(first.toarray()[:, 1].mean(), 0.6, atol=0.02)


def test_a_huge_count_is_not_written_out_word_by_word(rng):
    X = csr_array(np.array([[10**9, 3, 0], [2**40, 2**40, 1]]))
    one, other = halves(X, rng)
    assert_array_equal((one + other).toarray(), X.toarray())
    assert_array_equal(one.sum(axis=1) - other.sum(axis=1), [1, 1])
    assert abs(one.toarray()[0, 0] - 5e8) < 6 * np.sqrt(1e9) / 2


def test_a_score_of_words_with_a_huge_count():
    X, _, _ = make_slda(300, n_words=30, n_topics=3, doc_length=40, random_state=0)
    model = SpectralLDA(3, random_state=0).fit(X)
    one = X[:1].copy()
    one.data[0] = 10**9
    assert np.isfinite(model.score(one))


# --- what follows for a fit ----------------------------------------------------------------


def orders(y, rng):
    return {"shuffled": rng.permutation(len(y)), "sorted": np.argsort(y, kind="stable")}


def assert_same_fit(one, other, X, atol):
    for name in ("coef_", "coef_std_", "components_", "noise_variance_"):
        assert_allclose(getattr(other, name), getattr(one, name), rtol=atol, atol=atol)
    assert_allclose(other.predict(X), one.predict(X), rtol=atol, atol=atol)


@pytest.mark.parametrize("how", ["shuffled", "sorted"])
def test_the_order_of_rows_does_not_matter_where_the_model_holds(how, rng):
    X, y, _ = make_slda(3000, n_words=150, n_topics=4, doc_length=60, random_state=1)
    order = orders(y, rng)[how]
    one, other = (SpectralSLDA(random_state=0).fit(X[p], y[p]) for p in (slice(None), order))
    assert hasattr(one, "eigenvalues_")
    assert_same_fit(one, other, X[:300], 1e-9)


@pytest.mark.parametrize("method", ["joint", "two-stage"])
def test_the_order_of_rows_does_not_matter_on_text(text, method, rng):
    """To the last bit: documents in memory are summed in the order of their keys."""
    X, y = text[0][:2400], text[1][:2400]
    one = SpectralSLDA(method=method, random_state=0).fit(X, y)
    assert not hasattr(one, "eigenvalues_")
    for order in orders(y, rng).values():
        assert_same_fit(
            one, SpectralSLDA(method=method, random_state=0).fit(X[order], y[order]), X[:500], 0
        )


def test_cross_fitted_predictions_of_a_hybrid_do_not_depend_on_the_order_of_rows(text, rng):
    X, y = text
    z = (y - y.mean()) / y.std()
    asked = HybridRequest(None, None, None, None, refit=True)
    found = {}
    for name, order in {"as it is": np.arange(len(y)), **orders(y, rng)}.items():
        docs = Threaded(Corpus(X[order], z[order]), 1)
        hybrid = Hybrid.of(docs, 5, asked, np.random.default_rng(0))
        assert hybrid.steered(docs, asked)
        there = hybrid.ready(docs, asked, np.random.default_rng(0)).cross_fitted
        found[name] = np.empty(len(y))
        found[name][order] = there
    assert np.corrcoef(found["as it is"], z)[0, 1] > 0.3
    for other in found.values():
        assert_allclose(other, found["as it is"], rtol=1e-9, atol=1e-9)


def test_standard_errors_of_a_sorted_table_are_right():
    """As large as the errors are over eight samples, the prior being given."""
    etas, stds = [], []
    for seed in range(8):
        X, y, truth = make_slda(4000, n_words=100, n_topics=3, doc_length=60, random_state=seed)
        order = np.argsort(y)
        fit = SpectralSLDA(3, alpha0=1.0, random_state=0).fit(X[order], y[order])
        stds.append(fit.coef_std_)
        etas.append(np.abs(fit.coef_ - np.sort(truth.eta)))
    ratio = np.sqrt(np.mean(np.square(etas))) / np.sqrt(np.mean(np.square(stds)))
    assert 0.5 < ratio < 2.0
