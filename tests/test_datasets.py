import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from topicprism.datasets import draw_corpus, draw_model, make_slda


def test_shapes_and_defaults():
    X, y, truth = make_slda(30, random_state=0)
    assert X.shape == (30, 500)
    assert y.shape == (30,)
    assert truth.mu.shape == (500, 20)
    assert_allclose(truth.alpha, 1 / 20)
    assert truth.sigma == 0.1
    assert_array_equal(X.sum(axis=1), 250)
    assert X.dtype.kind == "i"
    assert X.has_canonical_format


def test_lengths_cover_a_range():
    X, _, _ = make_slda(500, doc_length=(3, 6), random_state=0)
    assert set(np.asarray(X.sum(axis=1)).ravel()) == {3, 4, 5, 6}


def test_one_seed_one_corpus():
    a, b, c = (make_slda(50, random_state=s) for s in (1, 1, 2))
    assert (a[0] != b[0]).nnz == 0
    assert_array_equal(a[1], b[1])
    assert (a[0] != c[0]).nnz > 0


def test_zipf_words_have_zipf_frequencies():
    _, _, truth = make_slda(1, words="zipf", random_state=0)
    p = truth.mu.mean(axis=1)
    slope = np.polyfit(np.log(np.arange(1, 501)), np.log(p), 1)[0]
    assert -1.2 < slope < -0.8


def test_alpha_may_be_a_number_or_one_per_topic():
    assert_allclose(make_slda(1, n_topics=3, alpha=0.4)[2].alpha, 0.4)
    assert_allclose(make_slda(1, n_topics=2, alpha=np.array([1.0, 2.0]))[2].alpha, [1, 2])


def test_words_and_responses_follow_the_model(rng):
    """Mean word frequencies and responses given h, to five standard errors."""
    model = draw_model(20, 3, rng, noise=0.5)
    X, y, h = draw_corpus(model, 25_000, 40, rng)
    gap = np.asarray(X.mean(axis=0)) / 40 - model.mu @ h.mean(axis=0)
    assert np.abs(gap).max() < 5 * np.sqrt(0.1 / (25_000 * 40))
    residual = y - h @ model.eta
    assert abs(residual.mean()) < 5 * 0.5 / np.sqrt(25_000)
    assert abs(residual.std() - 0.5) < 0.02


def test_unknown_words_list_the_known():
    with pytest.raises(ValueError, match="words='pareto', but expected 'uniform' or 'zipf'"):
        make_slda(1, words="pareto")


def test_no_documents_or_negative_lengths_are_refused():
    for bad in ({"n_documents": 0}, {"n_documents": 5, "doc_length": -1},
                {"n_documents": 5, "doc_length": (9, 3)}):  # fmt: skip
        with pytest.raises(ValueError, match=r"(n_documents=0|doc_length=.*), but expected a who"):
            make_slda(**bad)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((10, 5, 0, 3), "n_topics=0, but expected a whole number from 1 up; try 20"),
        ((10, 0, 2, 3), "n_words=0, but expected a whole number from 1 up; try 500"),
        ((1.5, 5, 2, 3), "n_documents=1.5, but expected a whole number from 1 up; try 1000"),
        ((10, 5, 2, 3.5), r"doc_length=3.5, but expected a whole number of words .*; try 250"),
        ((10, 5, 2, (1, 2, 3)), r"doc_length=\(1, 2, 3\), but .* or a range \(low, high\) of"),
    ],
)
def test_sizes_are_whole_numbers(sizes, message):
    with pytest.raises(ValueError, match=message):
        make_slda(*sizes)


def test_lengths_may_be_integers_of_numpy():
    X, _, _ = make_slda(5, doc_length=np.int64(3), random_state=0)
    assert_array_equal(X.sum(axis=1), 3)


def test_impossible_parameters_are_refused():
    for bad in ({"alpha": -1.0}, {"alpha": np.ones(3)}, {"noise": -0.1}):
        with pytest.raises(ValueError, match=r"alpha=.* and noise=.*, but expected one positive"):
            make_slda(5, **bad)
