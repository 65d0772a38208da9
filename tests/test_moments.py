"""Sums over documents against their definitions, on documents small enough to enumerate."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import ordered_tuples
from scipy.sparse import csr_array

from topicprism import SpectralLDA
from topicprism.datasets import make_slda
from topicprism.documents import Threaded
from topicprism.documents.corpus import Corpus
from topicprism.documents.sums import RunningMoments
from topicprism.evaluation import recovery_errors
from topicprism.spectral.basis import BASIS, Basis, find_basis, scales, trace_of_A
from topicprism.spectral.decompose import learn
from topicprism.spectral.moments import (
    add_mixed_triples,
    fill_cube,
    in_three_orders,
    pair_products,
    word_sums,
)
from topicprism.spectral.sketch import sketch, sketch_over


@pytest.fixture
def tiny(rng):
    """Nine documents over five words; two of them too short to have a third moment."""
    counts = rng.integers(0, 3, size=(9, 5)) + np.array([1, 1, 1, 0, 0])
    counts[3] = [1, 0, 1, 0, 0]
    counts[7] = 0
    return Corpus(csr_array(counts), rng.normal(3, 2, 9))


def usable(corpus):
    """Counts, response and weight of each document that has a third moment."""
    rows = corpus.counts.toarray()
    long = [(n, y) for n, y in zip(rows, corpus.y, strict=True) if n.sum() >= 3]
    return [(n, y, n.sum() / (n.sum() + 30)) for n, y in long]


def average(B, counts, order):
    tuples = ordered_tuples(counts, order)
    letters = "ijl"[:order]
    spec = ",".join(letters) + "->" + letters
    return sum(np.einsum(spec, *(B[w] for w in t)) for t in tuples) / len(tuples)


def test_the_sketch_averages_over_ordered_tuples_of_positions(rng, tiny):
    B = rng.standard_normal((5, 3))
    s = sketch_over(tiny, Basis(B, B, centre=1.5, scale=2.0))
    first, second, third = np.zeros(4), np.zeros((4, 4)), np.zeros((4, 4, 4))
    for n, y, w in usable(tiny):
        t = (y - 1.5) / 2.0
        x, xx, xxx = (w * average(B, n, order) for order in (1, 2, 3))
        first += [*x, w * t]
        second[:3, :3] += xx
        second[3] += [*(t * x), 0]
        second[:3, 3] += t * x
        second[3, 3] += w * t**2
        third[:3, :3, :3] += xxx
        for place in ((3,), (slice(3), 3), (slice(3), slice(3), 3)):
            index = [slice(3)] * 3
            index[len(place) - 1] = 3
            third[tuple(index)] += t * xx
        third[3, 3, :3] += t**2 * x
        third[3, :3, 3] += t**2 * x
        third[:3, 3, 3] += t**2 * x
        third[3, 3, 3] += w * t**3
    m, w = np.array([(n.sum(), w) for n, _, w in usable(tiny)]).T
    assert s.n == 7
    assert_allclose([s.weight, s.c1, s.c2], [w.sum(), w**2 @ (1 / m), w**2 @ (1 / (m * (m - 1)))])
    assert_allclose(s.first, first)
    assert_allclose(s.second, second)
    assert_allclose(s.third, third, atol=1e-14)


def test_word_sums_leave_short_documents_out_and_count_them(tiny):
    sums = word_sums(tiny)
    assert (sums.n, sums.n_short) == (7, 2)
    assert_allclose(sums.x, sum(w * n / n.sum() for n, _, w in usable(tiny)))
    _, y, w = (np.array(part) for part in zip(*usable(tiny), strict=True))
    mean = np.average(y, weights=w)
    covariance = sum(w * (y - mean) * n / n.sum() for n, y, w in usable(tiny)) / w.sum()
    assert_allclose(sums.covariance, covariance)
    parts = word_sums(tiny.rows(0, 2)) + word_sums(tiny.rows(2, 8)) + word_sums(tiny.rows(8, 9))
    assert_allclose(parts.covariance, covariance)
    assert_allclose(sums.y.mean, mean)
    assert_allclose(sums.y.sd, np.sqrt(np.average((y - mean) ** 2, weights=w)))


def test_pair_sums_apply_the_second_moment(rng, tiny):
    S = rng.standard_normal((5, 4))
    E2 = sum(w * average(np.eye(5), n, 2) for n, _, w in usable(tiny))
    sums = word_sums(tiny)
    assert_allclose(pair_products(tiny, S) - sums.x2[:, None] * S, E2 @ S)
    assert_allclose(sums.again, np.diag(E2))
    root, inverse = scales(sums)
    assert_allclose(root * inverse, 1)
    A = inverse[:, None] * E2 * inverse / sums.y.weight
    assert_allclose(trace_of_A(sums), np.linalg.eigvalsh(A).sum())


@pytest.mark.parametrize("seed", range(3))
def test_float32_directions_do_not_move_the_error(seed, monkeypatch):
    """Directions are searched for in float32; the topics they lead to have the same error."""
    X, y, truth = make_slda(4000, n_words=200, n_topics=5, doc_length=60, random_state=seed)
    errors = []
    for dtype in (np.float32, np.float64):
        monkeypatch.setattr("topicprism.spectral.basis.SEARCH", dtype)
        model = learn(Corpus(X, y), 5, rng=np.random.default_rng(0)).model
        errors.append(recovery_errors(model, truth).mu)
    assert_allclose(*errors, rtol=1e-5)


def test_the_basis_spans_mean_response_and_leading_directions(rng):
    counts = rng.poisson(rng.gamma(1, 1, size=(300, 1)) * rng.random((1, 12)) * 4, (300, 12)) + 1
    corpus = Corpus(csr_array(counts), rng.standard_normal(300))
    basis = find_basis(corpus, word_sums(corpus), 6, rng)
    sums = word_sums(corpus)
    p = sums.frequencies
    assert_allclose(basis.B.T @ basis.lift, np.eye(6), atol=1e-12)
    for inside in (p, sums.covariance):
        assert_allclose(basis.lift @ (basis.B.T @ inside), inside, atol=1e-12)
    lengths = counts.sum(axis=1)
    w = lengths / (lengths + 30)
    assert_allclose(sums.share_of_a_word, w @ (1 / (lengths - 1)) / (300 * w.sum()))
    scaled = basis.lift / np.sqrt(p + BASIS.rare_occurrences * sums.share_of_a_word)[:, None]
    assert_allclose(scaled.T @ scaled, np.eye(6), atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_basis_holds_the_top_eigenvectors(seed):
    """Against a dense eigendecomposition: five directions stand out, and are inside but for the
    last gain that the search forgoes."""
    X, y, _ = make_slda(6000, n_words=60, n_topics=5, doc_length=80, random_state=seed)
    corpus = Corpus(X, y)
    sums = word_sums(corpus)
    p = sums.frequencies
    E2 = (pair_products(corpus, np.eye(60)) - np.diag(sums.x2)) / sums.y.weight
    _, vectors = np.linalg.eigh(E2 / np.sqrt(np.outer(p, p)))
    basis = find_basis(corpus, sums, 12, np.random.default_rng(seed))
    Q = basis.lift / np.sqrt(p)[:, None]
    assert_allclose(np.linalg.norm(Q.T @ vectors[:, -5:], axis=0), 1, atol=5e-3)


@pytest.mark.parametrize("seed", range(4))
def test_documents_that_share_no_words_are_told_apart(seed):
    """Three languages: E[x1 x2] then has its largest eigenvalue three times."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((600, 60), int)
    for d in range(600):
        counts[d, 20 * (d % 3) : 20 * (d % 3 + 1)] = rng.multinomial(50, np.full(20, 0.05))
    lda = SpectralLDA(3, alpha0=0.01, random_state=seed).fit(counts)
    purity = lda.components_.reshape(3, 3, 20).sum(axis=2).max(axis=1)
    assert_allclose(purity, 1, atol=0.01)


def test_a_wider_basis_holds_what_it_was_widened_by(rng):
    counts = rng.integers(0, 3, size=(30, 12))
    counts[:, 7] = 0
    corpus = Corpus(csr_array(counts), rng.normal(3, 2, 30))
    sums = word_sums(corpus)
    basis = find_basis(corpus, sums, 4, rng)
    assert_allclose(basis.root, scales(sums)[0])
    V = rng.normal(size=(corpus.n_words, 2)) * (basis.root > 0)[:, None]
    wider = basis.extend(np.hstack([V, V[:, :1], basis.lift]))
    assert wider.width == basis.width + 2
    assert_allclose(wider.B.T @ wider.lift, np.eye(wider.width), atol=1e-12)
    assert_allclose(wider.lift @ (wider.B.T @ V), V, atol=1e-12)
    assert_allclose(wider.root, basis.root)


def test_sketches_over_one_basis_add_up(rng, tiny):
    whole = sketch(tiny, 4, rng)
    parts = [sketch_over(tiny.rows(0, 4), whole.basis), sketch_over(tiny.rows(4, 9), whole.basis)]
    both = parts[0] + parts[1]
    assert both.n == whole.n
    assert_allclose(both.first, whole.first, atol=1e-12)
    assert_allclose(both.second, whole.second, atol=1e-12)
    assert_allclose(both.third, whole.third, atol=1e-12)


def test_sketches_over_two_bases_do_not(rng, tiny):
    a, b = sketch(tiny, 4, rng), sketch(tiny, 3, rng)
    with pytest.raises(ValueError, match=r"two bases .* same basis"):
        a + b


@pytest.mark.parametrize("n_threads", [1, 2, 3, 50])
def test_threads_change_nothing(rng, tiny, n_threads):
    one = sketch(tiny, 4, np.random.default_rng(1))
    many = sketch(Threaded(tiny, n_threads), 4, np.random.default_rng(1))
    assert_allclose(many.third, one.third, atol=1e-12)
    assert_allclose(many.basis.B, one.basis.B, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_types_of_counts_and_indices_change_nothing(rng, tiny, dtype, index):
    X = tiny.counts.astype(dtype)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    same = sketch(Corpus(X, tiny.y), 4, np.random.default_rng(1))
    assert_allclose(same.third, sketch(tiny, 4, np.random.default_rng(1)).third, atol=1e-14)


def test_mixed_triples_are_their_docstring(rng):
    P, Q, T = rng.standard_normal((17, 4)), rng.standard_normal((17, 4)), np.zeros((4, 4, 4))
    add_mixed_triples(T, P, Q)
    assert_allclose(fill_cube(T), in_three_orders(np.einsum("di,dj,dl->ijl", P, P, Q)), atol=1e-12)


def test_a_wide_sketch_is_what_a_narrow_one_would_be(tiny, monkeypatch):
    narrow = sketch(tiny, 4, np.random.default_rng(1))
    monkeypatch.setattr("topicprism.spectral.sketch.MAX_DENSE_WIDTH", 0)
    wide = sketch(tiny, 4, np.random.default_rng(1))
    assert_allclose(wide.third, narrow.third, atol=1e-12 * np.abs(narrow.third).max())


def test_three_orders(rng):
    A, b = rng.standard_normal((3, 3)), rng.standard_normal(3)
    A = A + A.T
    expected = sum(np.einsum(f"ij,l->{order}", A, b) for order in ("ijl", "ilj", "lij"))
    assert_allclose(in_three_orders(np.multiply.outer(A, b)), expected)


numbers = st.lists(st.floats(-1e6, 1e6), max_size=20)


@given(numbers, numbers, st.sampled_from([0.0, 1e9]))
def test_running_moments_are_stable_far_from_zero(a, b, far):
    both = np.array(a + b) + far
    w = np.linspace(0.5, 1, len(both))
    first, second = np.split(w, [len(a)])
    moments = RunningMoments.of(np.array(a) + far, first) + RunningMoments.of(
        np.array(b) + far, second
    )
    assert_allclose(moments.weight, w.sum())
    if len(both):
        # the numbers themselves are rounded to far * 1e-16
        mean = np.average(both, weights=w)
        assert_allclose(moments.mean, mean, rtol=1e-12, atol=1e-9)
        sd = np.sqrt(np.average((both - mean) ** 2, weights=w))
        assert_allclose(moments.sd, sd, rtol=1e-6, atol=1e-6)


def test_a_crafted_sketch_has_some_words(rng):
    """A file may hold a sketch whose mean is negative; what is computed from it stays real."""
    X = csr_array(rng.poisson(0.3, (200, 30)))
    made = sketch(Corpus(X, rng.standard_normal(200)), 8, rng)
    assert 1 < made.n_seen <= 30
    assert 0 < replace(made, first=-made.first).n_seen < 1
