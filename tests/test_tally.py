"""Terms of texts that are in several places: their vocabulary is that of all texts."""

import pickle
from collections import Counter
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from topicprism.vectorizer import FastCountVectorizer
from topicprism.vectorizer.tally import joined

WORDS = [f"w{i:02}" for i in range(40)]
TEXTS = st.lists(
    st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=4, max_size=25
)


def brute_force(texts):
    """(tf, df) of each word."""
    tf, df = Counter(), Counter()
    for text in texts:
        tf.update(text.split())
        df.update(set(text.split()))
    return {word: (tf[word], df[word]) for word in sorted(tf)}


def shards(texts, n):
    return [texts[i::n] for i in range(n)]


@settings(deadline=None, max_examples=60)
@given(TEXTS, st.integers(1, 5))
def test_tallies_add_up(texts, n):
    v = FastCountVectorizer()
    found = reduce(add, [v.tally(some) for some in shards(texts, n)])
    assert found.to_dict() == brute_force(texts)
    assert found.n_docs == len(texts)
    assert len(found) == len(brute_force(texts))
    back = pickle.loads(pickle.dumps(found))
    assert (back.to_dict(), back.n_docs) == (found.to_dict(), len(texts))


@settings(deadline=None, max_examples=60)
@given(TEXTS, st.integers(1, 4), st.sampled_from([1, 2, 0.1]), st.sampled_from([1.0, 0.8]))
def test_the_vocabulary_is_that_of_all_texts(texts, n, min_df, max_df):
    for limit in (None, 1, 5, 17):
        options = {"min_df": min_df, "max_df": max_df, "max_features": limit, "ngram_range": (1, 2)}
        assert told(learnt, texts, n, options) == told(FastCountVectorizer(**options).fit, texts)


def told(fit, *args):
    """The vocabulary, or why there is none."""
    try:
        return fit(*args).vocabulary_
    except ValueError as error:
        return str(error)


def learnt(texts, n, options):
    v = FastCountVectorizer(**options)
    return v.learn(reduce(add, [v.tally(some) for some in shards(texts, n)]))


def test_ties_are_those_of_all_texts(rng):
    """With more terms than a sort of numpy's leaves in order."""
    texts = [" ".join(f"w{i:03}" for i in rng.choice(300, 40)) for _ in range(60)]
    for limit in (1, 17, 100, 250, 299):
        options = {"max_features": limit, "min_df": 2}
        whole = FastCountVectorizer(**options).fit(texts)
        assert learnt(texts, 7, options).vocabulary_ == whole.vocabulary_


@settings(deadline=None, max_examples=60)
@given(TEXTS, st.integers(1, 4), st.integers(1, 6), st.integers(1, 20))
def test_no_machine_needs_all_terms(texts, n, n_buckets, limit):
    """Of equally frequent words at the limit, the first in the alphabet are kept."""
    v = FastCountVectorizer(min_df=2, max_df=0.9, max_features=limit)
    split = [v.tally(some).split(n_buckets) for some in shards(texts, n)]
    buckets = [reduce(add, same) for same in zip(*split, strict=True)]
    assert sum(map(len, buckets)) == len(brute_force(texts))
    known = {
        word: tf for word, (tf, df) in brute_force(texts).items() if 2 <= df <= 0.9 * len(texts)
    }
    kept = sorted(sorted(known, key=lambda word: (-known[word], word))[:limit])
    some = joined(bucket.frequent(2, 0.9, limit) for bucket in buckets)
    assert some.n_docs == len(texts)
    if kept:
        assert sorted(v.learn(some).vocabulary_) == kept


def test_buckets_share_no_term_and_are_about_equal(rng):
    tally = FastCountVectorizer(ngram_range=(1, 2)).tally(
        [" ".join(f"word{i}" for i in rng.choice(3000, 200)) for _ in range(40)]
    )
    buckets = tally.split(8)
    names = [set(bucket.to_dict()) for bucket in buckets]
    assert set.union(*names) == set(tally.to_dict())
    assert sum(map(len, names)) == len(tally)
    assert max(map(len, names)) < 1.2 * len(tally) / 8
    again = FastCountVectorizer().tally(["word1 word2 word3"]).split(8)
    for bucket, there in zip(again, names, strict=True):
        assert set(bucket.to_dict()) - {"word1", "word2", "word3"} == set()
        assert set(bucket.to_dict()) <= there | set(bucket.to_dict()) - set(tally.to_dict())


def test_a_tally_that_is_added_twice_stays_as_it_was():
    v = FastCountVectorizer()
    one, other = v.tally(["a cat", "the cat"]), v.tally(["the dog"])
    before = pickle.dumps((one, other))
    for _ in range(2):
        assert (one + other).to_dict() == {"cat": (2, 2), "dog": (1, 1), "the": (2, 2)}
    v.learn(one).partial_fit(["more cats"])
    assert pickle.dumps((one, other)) == before


def test_texts_pass_once(rng):
    """Their counts wait in terms of their own, and can be asked for again."""
    texts = [" ".join(rng.choice(WORDS, 15)) for _ in range(200)]
    v = FastCountVectorizer(min_df=3, max_features=25, ngram_range=(1, 2), n_jobs=2)
    counted = [v.count(some) for some in shards(texts, 3)]
    v.learn(reduce(add, map(v.tally_of, counted)))
    for some, known in zip(shards(texts, 3), counted, strict=True):
        expected = v.transform(some)
        for _ in range(2):
            found = v.transform(pickle.loads(pickle.dumps(known)))
            assert_array_equal(found.toarray(), expected.toarray())
            assert_array_equal(v.transform(known).toarray(), expected.toarray())
        assert found.dtype == expected.dtype


def test_what_only_all_terms_can_tell_is_refused():
    v = FastCountVectorizer(min_df="auto")
    tally = v.tally(["the cat", "the dog"])
    with pytest.raises(ValueError, match=r"min_df='auto' with some of the terms, but it is chosen"):
        tally.frequent("auto", 1.0, 5)
    with pytest.raises(ValueError, match=r"min_df='auto' with some of the terms, but it is chosen"):
        v.learn(tally.frequent(1, 1.0, 5))
    assert v.learn(v.tally(["the cat"] * 6 + ["the dog"] * 2)).vocabulary_ == {"cat": 0, "the": 1}


def test_a_given_vocabulary_is_not_learnt():
    v = FastCountVectorizer(vocabulary=["dog", "cat"])
    assert v.learn(v.tally(["the mouse"])).vocabulary_ == {"dog": 0, "cat": 1}
    assert_array_equal(v.transform(v.count(["cat dog dog"])).toarray(), np.array([[2, 1]]))


LIMITS = [{}, {"min_df": 1}, {"max_df": 1.0}, {"max_features": 3}, {"max_features": 7},
          {"max_features": None}, {"min_df": 3}, {"max_df": 0.5}]  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(TEXTS, st.integers(1, 3), st.sampled_from(LIMITS))
def test_terms_that_were_left_out_are_never_missed(texts, n_buckets, other):
    """Learnt with other limits than it was kept by, a tally gives the exact vocabulary or none."""
    own = {"min_df": 2, "max_df": 0.9, "max_features": 5}
    whole = FastCountVectorizer().tally(texts)
    some = joined(b.frequent(2, 0.9, 5) for b in whole.split(n_buckets))
    v = FastCountVectorizer(**own | other)
    found = told(v.learn, some)
    if isinstance(found, dict):
        assert ranked(found, whole) == ranked(told(v.learn, whole), whole)
    elif "ask for" not in found:
        assert isinstance(told(v.learn, whole), str)


def ranked(vocabulary, tally):
    """How often its terms occur: which of equals are kept may differ."""
    return sorted(tally.to_dict()[term][0] for term in vocabulary)


def test_looser_limits_than_a_tally_was_kept_by_are_refused():
    texts = ["a cat and a dog", "the dog and the cat", "one cat", "two dogs and one cat"]
    some = joined(b.frequent(2, 0.8, 1) for b in FastCountVectorizer().tally(texts).split(2))
    for options in ({"min_df": 1}, {"max_df": 1.0}, {"max_features": 2}, {"max_features": None}):
        v = FastCountVectorizer(**{"min_df": 2, "max_df": 0.8, "max_features": 1} | options)
        with pytest.raises(ValueError, match="the limits of the vectorizer"):
            v.learn(some)


def test_pruned_tallies_are_not_added_and_buckets_are_of_one_kind():
    v = FastCountVectorizer()
    one, other = (v.tally(texts) for texts in (["a cat", "the cat"], ["the dog"]))
    with pytest.raises(ValueError, match="may not be rare in both together"):
        one.frequent(1, 1.0, 1) + other
    with pytest.raises(ValueError, match="only 3 different ones"):
        joined([one, v.tally(["a dog", "the dog"])])
    with pytest.raises(ValueError, match="different documents or were kept by different"):
        joined([one.split(2)[0].frequent(1, 1.0, 9), one.split(2)[1].frequent(2, 1.0, 9)])
    with pytest.raises(ValueError, match="at least one"):
        joined([])
