"""Reviews in readable words, drawn from a known truth."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from topicprism import SpectralSLDA
from topicprism.datasets import ASPECTS, REVIEW_WORDS, draw_corpus, make_reviews
from topicprism.datasets.reviews import LENGTHS, LEXICON, _written
from topicprism.evaluation import recovery_errors
from topicprism.vectorizer import FastCountVectorizer


def test_the_truth_is_a_model_over_the_words_that_a_vectoriser_finds():
    texts, y, truth = make_reviews(2_000, random_state=0)
    assert len(texts) == len(y) == 2_000
    assert_array_equal(FastCountVectorizer().fit(texts).get_feature_names_out(), REVIEW_WORDS)
    assert truth.mu.shape == (len(REVIEW_WORDS), len(ASPECTS))
    assert_allclose(truth.mu.sum(axis=0), 1)
    assert (np.diff(truth.eta) > 0).all()


def test_the_order_of_the_words_changes_no_count(rng):
    _, _, truth = make_reviews(1, random_state=0)
    X, _, _ = draw_corpus(truth, 300, (1, 40), rng)  # short ones may have no noun at all
    counted = FastCountVectorizer(vocabulary=REVIEW_WORDS).transform(_written(X, rng))
    assert (counted != X).nnz == 0


def test_no_word_of_an_aspect_is_a_stop_word():
    own = {w for w, owner in zip(LEXICON.words, LEXICON.owner, strict=True) if owner < len(ASPECTS)}
    assert not own & ENGLISH_STOP_WORDS


def test_reviews_read_like_sentences():
    texts, _, _ = make_reviews(200, random_state=0)
    for text in texts:
        assert text[0].isupper()
        assert text.endswith(".")
        assert not re.search(r"\.\s[a-z]|[,.]{2}|\s\s", text)
        assert LENGTHS[0] <= len(text.split()) <= LENGTHS[1]
    assert any(re.search(r"the (room|bed|bathroom) (was|is|felt) \w+ \w+", t) for t in texts)


def test_stars_are_tenths_from_1_to_5():
    _, y, _ = make_reviews(3_000, random_state=1)
    assert y.min() >= 1
    assert y.max() <= 5
    assert_allclose(10 * y, np.rint(10 * y))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_truth_is_recovered(seed):
    """Tolerances: twice the worst of ten seeds (0.070, 0.049); the least score was 0.82."""
    texts, y, truth = make_reviews(5_000, random_state=seed)
    X = FastCountVectorizer(vocabulary=REVIEW_WORDS).transform(texts)
    learnt = SpectralSLDA(len(ASPECTS), alpha0=1.6, random_state=0).fit(X[:4_000], y[:4_000])
    errors = recovery_errors(learnt.model_, truth)
    assert errors.mu < 0.15
    assert errors.eta < 0.10
    assert learnt.score(X[4_000:], y[4_000:]) > 0.78


def test_one_seed_one_corpus():
    a, b, c = (make_reviews(20, random_state=s) for s in (1, 1, 2))
    assert a[0] == b[0] != c[0]
    assert_array_equal(a[1], b[1])
