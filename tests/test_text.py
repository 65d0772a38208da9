"""Raw strings to counts: equal to scikit-learn, whatever the strings."""

import functools
import itertools
import pickle
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import topicprism.vectorizer.counting as counting
from topicprism.vectorizer import FastCountVectorizer, stop_words
from topicprism.vectorizer.counting import encode, fold_table, names_of
from topicprism.vectorizer.counting import given as given_terms
from topicprism.vectorizer.kernels import Rows, count, relabel, spell, split
from topicprism.vectorizer.lexicon import empty, hash_of, insert, mix, take
from topicprism.vectorizer.stop_lists import COUNTED_STOP_WORDS

IMDB = Path(__file__).parents[2] / "shared" / "data" / "imdb.parquet"

# Characters that have broken somebody's tokeniser: sigmas with and without a final form, letters
# whose lower case is longer or ASCII, marks, digits and letters of other scripts and planes, a
# lone surrogate, NUL, and every kind of separator.
HARD = "aAbz09_ΣσςİıIKÅßẞﬁ\u0301\u0345\u0307٣۴५ªº²½Ⅷ漢あ𝔸𝟙𐐀😀\ud800\udfff\0\n\t \u00a0"
HARD += "\u2028'-.\x1c\x7f·"
TEXT = st.text(st.one_of(st.sampled_from(HARD), st.characters(codec=None)), max_size=30)
CORPUS = st.lists(TEXT, max_size=8)
TALES = [
    "The cat sat on the mat; the mat was flat.",
    "A dog and a cat: the dog sat, the cat ran.",
    "",
    "Flat cats, fat rats, and a very very fat mat",
    "ran sat mat rat ran",
]


def same(texts, **parameters):
    """Does everything agree with scikit-learn, its refusals included?"""
    theirs, ours = CountVectorizer(**parameters), FastCountVectorizer(**parameters)
    try:
        X = theirs.fit_transform(texts)
    except ValueError:
        with pytest.raises(ValueError, match="expected"):
            ours.fit(texts)
        return
    Y = ours.fit_transform(texts)
    assert ours.vocabulary_ == theirs.vocabulary_
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    assert Y.dtype == X.dtype
    assert Y.indices.dtype == X.indices.dtype
    np.testing.assert_array_equal(Y.toarray(), X.toarray())
    np.testing.assert_array_equal(ours.fit(texts).transform(texts).toarray(), X.toarray())
    assert np.all(np.diff(Y.indices)[np.setdiff1d(np.arange(Y.nnz - 1), Y.indptr - 1)] > 0)


@settings(deadline=None, max_examples=150)
@given(CORPUS, st.booleans())
def test_arbitrary_unicode_is_counted_as_scikit_learn_counts_it(texts, lowercase):
    same(texts, lowercase=lowercase)


@settings(deadline=None, max_examples=100)
@given(
    st.lists(
        st.lists(st.sampled_from(["ab", "cd", "ef", "gh", "İx", "ΑΣ", "x"]), max_size=9), max_size=6
    ),
    st.sampled_from([(1, 1), (1, 2), (2, 2), (2, 4), (3, 3)]),
    st.sampled_from([1, 2, 0.0, 0.3, 0.5]),
    st.sampled_from([1.0, 0.5, 0.75, 1, 2, 4]),
    st.one_of(st.none(), st.integers(1, 12)),
    st.sampled_from([None, ["cd"], ["ας", "x", "no such word"], {"ab", "ef"}]),
)
def test_pruning_ngrams_and_stop_words_are_those_of_scikit_learn(
    words, ngram_range, min_df, max_df, max_features, stop_words
):
    stop_words = sorted(stop_words) if stop_words else None
    same(
        [" ".join(w) for w in words], ngram_range=ngram_range, min_df=min_df, max_df=max_df,
        max_features=max_features, stop_words=stop_words,
    )  # fmt: skip


def test_every_code_point_is_a_word_character_when_re_says_so():
    every = [chr(c) for c in range(0x110000)]
    expected = [bool(re.match(r"\w", c)) for c in every]
    assert fold_table(False).astype(bool).tolist() == expected
    rare = every[::97]  # a\u0301 and the like, each in a document of its own
    same([c + c + " a" + c for c in rare], lowercase=True)


def test_ties_at_max_features_fall_as_in_scikit_learn(rng):
    words = [f"w{i:03}" for i in range(300)]
    texts = [" ".join(rng.choice(words, 40)) for _ in range(60)]
    for limit in (1, 17, 100, 250, 299, 1000):
        same(texts, max_features=limit, ngram_range=(1, 2), min_df=2)


def test_english_stop_words_go_before_ngrams_are_formed():
    same(TALES, stop_words="english", ngram_range=(1, 3))


def test_long_words_and_long_ngrams_need_more_than_one_cell():
    words = ["x" * n for n in (2, 6, 7, 8, 9, 15, 16, 17, 300)] + ["é" * 4, "漢" * 3, "𝔸" * 2]
    same([" ".join(words), " ".join(words[::-1]), " ".join(words[::2])], ngram_range=(1, 5))
    same(["ab cd ef"], ngram_range=(1, 10**9))


def test_a_given_vocabulary_keeps_its_order_and_its_impossible_terms():
    impossible = ("the cat", "a", "", "x y", "sat.", "cat\n")
    for terms in (["sat", "cat"], {"sat", "cat"}, {"sat": 1, "cat": 0}, impossible):
        theirs = CountVectorizer(vocabulary=terms, ngram_range=(1, 2))
        ours = FastCountVectorizer(vocabulary=terms, ngram_range=(1, 2))
        X = theirs.transform(TALES).toarray()
        np.testing.assert_array_equal(ours.transform(TALES).toarray(), X)
        np.testing.assert_array_equal(ours.fit_transform(TALES).toarray(), X)
        np.testing.assert_array_equal(ours.partial_fit(TALES).transform(TALES).toarray(), X)
        assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
        assert ours.vocabulary_ == {t: i for i, t in enumerate(theirs.get_feature_names_out())}


@settings(deadline=None, max_examples=30)
@given(st.lists(CORPUS, min_size=1, max_size=4))
def test_batches_one_after_the_other_equal_fit_on_everything(batches):
    texts = [text for batch in batches for text in batch] + ["some words", "some words more"]
    parameters = {"min_df": 2, "max_features": 5, "ngram_range": (1, 2)}
    whole = FastCountVectorizer(**parameters).fit(texts)
    parts = FastCountVectorizer(**parameters).fit(texts[-2:])
    for batch in batches:
        parts.partial_fit(batch)
    assert parts.vocabulary_ == whole.vocabulary_
    X = [parts.transform(batch).toarray() for batch in [*batches, texts[-2:]]]
    np.testing.assert_array_equal(np.vstack(X), whole.transform(texts).toarray())


def test_rare_words_are_kept_where_hardly_a_word_would_be_left(rng):
    """``min_df="auto"``: short documents, long ones, and very few."""
    names = np.array([f"w{i}" for i in range(400)])
    short, long = (
        [" ".join(rng.choice(names, n, p=1 / np.arange(1, 401) / (1 / np.arange(1, 401)).sum()))
         for _ in range(200)]
        for n in (6, 60)
    )  # fmt: skip
    for texts, as_if in ((short, 1), (long, 5), (short[:49], 5)):
        found = FastCountVectorizer(min_df="auto").fit(texts).get_feature_names_out()
        same = FastCountVectorizer(min_df=as_if).fit(texts).get_feature_names_out()
        assert list(found) == list(same)
    batches = FastCountVectorizer(min_df="auto").partial_fit(short[:100]).partial_fit(short[100:])
    expected = FastCountVectorizer(min_df=1).fit(short).get_feature_names_out()
    assert list(batches.get_feature_names_out()) == list(expected)


def test_fit_forgets_and_partial_fit_remembers():
    v = FastCountVectorizer(min_df=2).partial_fit(["ab"]).partial_fit(["ab cd"])
    assert v.vocabulary_ == {"ab": 0}
    assert v.partial_fit(["cd"]).vocabulary_ == {"ab": 0, "cd": 1}
    assert v.fit(["ef", "ef"]).vocabulary_ == {"ef": 0}


def test_threads_and_blocks_do_not_change_the_result(rng, monkeypatch):
    words = np.array([chr(97 + i % 26) * (2 + i % 11) + str(i) for i in range(5000)])
    texts = [" ".join(rng.choice(words, 30)) for _ in range(500)]
    one = FastCountVectorizer(ngram_range=(1, 2), min_df=2, max_features=900)
    X = one.fit_transform(texts)
    monkeypatch.setattr(counting, "BLOCK", 1000)
    for n_jobs in (1, 2, 5, -1):
        other = clone(one).set_params(n_jobs=n_jobs)
        Y = other.fit_transform(texts)
        Z = other.transform(iter(texts))
        assert list(other.vocabulary_.items()) == list(one.vocabulary_.items())
        for field in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(Y, field), getattr(X, field))
            np.testing.assert_array_equal(getattr(Z, field), getattr(X, field))


def test_texts_may_be_arrays_series_arrow_or_a_generator():
    X = CountVectorizer().fit_transform(TALES).toarray()
    kinds = [np.array(TALES, dtype=object), np.array(TALES), tuple(TALES), (t for t in TALES)]
    try:
        import pandas
        import pyarrow

        kinds += [pandas.Series(TALES, index=list("zyxwv")), pyarrow.array(TALES)]
        kinds += [pyarrow.chunked_array([TALES[:2], TALES[2:]]), pyarrow.array(TALES * 600)[:5]]
    except ImportError:
        pass
    for texts in kinds:
        np.testing.assert_array_equal(FastCountVectorizer().fit_transform(texts).toarray(), X)


def test_it_is_an_estimator():
    v = FastCountVectorizer(min_df=2, dtype=np.float32, n_jobs=2)
    assert clone(v).get_params() == v.get_params()
    model = make_pipeline(v, LogisticRegression()).fit(TALES, [0, 1, 0, 1, 1])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(TALES), model.predict(TALES))
    assert v.transform(TALES).dtype == np.float32
    assert pickle.loads(pickle.dumps(v)).partial_fit(["owl", "owl"]).vocabulary_["owl"] > 0
    assert FastCountVectorizer(vocabulary=["cat"]).transform([]).shape == (0, 1)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("a text", r"texts is one str that begins 'a text', expected an iterable.*pass \[text\]"),
        (b"a text", r"texts is one bytes that begins b'a text', expected an iterable"),
        (["ab", None], r"document 1 is None of type NoneType, expected str; drop such documents"),
        (["ab", "cd", float("nan")], r"document 2 is nan of type float, expected str; drop such"),
        ([b"ab"], r"document 0 is b'ab' of type bytes, expected str; decode it, .*'utf-8'"),
        ([["ab"]], r"document 0 is \['ab'\] of type list, expected str"),
        (np.array([["ab"]]), r"texts is a ndarray of 2 dimensions, expected .*one column"),
        (3, r"texts is a int, expected an iterable of strings; pass a list"),
        ([], r"got no documents, but at least one was expected to learn words from; give some"),
        (["a", "!"], r"no term in 2 documents, expected words .* fewer stop_words or a smaller"),
    ],
)
def test_what_is_not_texts_is_refused(texts, message):
    with pytest.raises(ValueError, match=message):
        FastCountVectorizer().fit(texts)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_df": 3, "max_df": 2}, r"min_df=3 .* 3 documents or more and max_df=2 of 2 or fewer"),
        (
            {"min_df": 4, "max_df": 0.5},
            r"^5 documents are too few for min_df=4 and max_df=0.5: .*"
            r" in 4 or more of them and in 2.5 or fewer; add docum",
        ),
        ({"min_df": 0.9, "max_df": 0.5}, r"min_df=0.9 .* 4.5 documents or more .* lower min_df"),
        ({"min_df": 5}, r"none of \d+ terms is in 5 to 5 of 5 documents, .* lower min_df or raise"),
        ({"min_df": 0}, r"min_df=0, expected an integer >= 1 or a float in \[0, 1\]; an integer"),
        ({"max_df": 1.5}, r"max_df=1.5, expected an integer >= 1 or a float in \[0, 1\]"),
        ({"max_features": 0}, r"max_features=0, expected an integer >= 1 or None; None keeps all"),
        ({"ngram_range": (2, 1)}, r"ngram_range=\(2, 1\), expected integers .* use \(1, 1\)"),
        ({"ngram_range": (0, 1)}, r"ngram_range=\(0, 1\), expected integers"),
        ({"ngram_range": 2}, r"ngram_range=2, expected integers"),
        (
            {"stop_words": "french"},
            r"stop_words='french', expected 'english-neutral', 'english', a collection of",
        ),
        ({"stop_words": iter(["a"])}, r"stop_words=<list_iterator .*pass a list of the words"),
        ({"stop_words": ["a", 3]}, r"stop_words=\['a', 3\], expected 'english-neutral', "),
        ({"vocabulary": {"ab": 0, "cd": 2}}, r"vocabulary maps 2 .* \[0, 2\], expected 0 to 1"),
        ({"vocabulary": ["ab", "ab"]}, r"vocabulary has 'ab' twice, expected each term once"),
        ({"vocabulary": []}, r"vocabulary has no terms, expected one at least; pass None to learn"),
        ({"vocabulary": "ab"}, r"vocabulary='ab', expected a collection of strings or"),
        ({"dtype": np.int8}, r"a term occurs 200 times .* int8 holds at most 127; choose a wider"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        FastCountVectorizer(**parameters).fit_transform([*TALES[:4], "ab " * 200])


def test_transform_before_fit_says_what_to_call():
    v = FastCountVectorizer()
    for call in (lambda: v.transform(TALES), v.get_feature_names_out, lambda: v.vocabulary_):
        with pytest.raises(NotFittedError, match=r"has no vocabulary.*call fit or partial_fit"):
            call()


def test_a_refused_batch_leaves_no_trace():
    v = FastCountVectorizer().partial_fit(["ab"])
    with pytest.raises(ValueError, match="document 1 is None"):
        v.partial_fit(["cd", None])
    assert v.vocabulary_ == {"ab": 0}
    with pytest.raises(ValueError, match="no term in 1 documents"):
        v.fit([""])
    assert v.vocabulary_ == {"ab": 0}


# The kernels, against the lines in their docstrings.


def tokens_of(documents, stop=()):
    return split(*encode(documents, False), fold_table(False), given_terms(sorted(stop)).lexicon)


def read(cells, cuts):
    return str(spell(cells, cuts), "utf-8", "surrogatepass").split("\n")[:-1]


@settings(deadline=None, max_examples=100)
@given(CORPUS.filter(bool))
def test_split_finds_what_re_finds_except_stop_words(documents):
    stop = {"aa", "AbA", "ΣΣ"}
    cells, cuts, first = tokens_of(documents, stop)
    w = read(cells, cuts)
    for d, document in enumerate(documents):
        expected = [w for w in re.findall(r"(?u)\b\w\w+\b", document) if w not in stop]
        assert w[first[d] : first[d + 1]] == expected


@pytest.mark.parametrize(("lo", "hi"), [(1, 1), (1, 3), (2, 2), (3, 5)])
def test_count_is_a_counter_of_runs_of_tokens(lo, hi, rng):
    alphabet = np.array(["ab", "cd", "efghijkl", "mnopqrst", "uvwxyz0"])
    documents = [" ".join(rng.choice(alphabet, n)) for n in (0, 1, 2, 5, 300)]
    lexicon, rows = count(empty(2), *tokens_of(documents), lo, hi, True)
    names = names_of(lexicon, np.arange(lexicon.size[0]))
    total, in_documents = Counter(), Counter()
    for d, document in enumerate(documents):
        w = document.split()
        expected = Counter(
            tuple(w[i : i + n]) for n in range(lo, hi + 1) for i in range(len(w) - n + 1)
        )
        entries = slice(rows.indptr[d], rows.indptr[d + 1])
        found = zip(rows.indices[entries], rows.counts[entries], strict=True)
        assert {tuple(names[t].split()): n for t, n in found} == expected
        total.update(expected)
        in_documents.update(expected.keys())
    terms = lexicon.terms[: lexicon.size[0]]
    keys = [tuple(name.split()) for name in names]
    assert terms["tf"].tolist() == [total[key] for key in keys]
    assert terms["df"].tolist() == [in_documents[key] for key in keys]


def test_insert_is_setdefault_and_take_gives_the_terms_back(rng):
    terms = [f"{i % 700}x" * (1 + i % 5) for i in rng.integers(0, 5000, size=4000)]
    cells, cuts, _ = tokens_of([" ".join(terms)])
    lexicon = {}
    expected = [lexicon.setdefault(term, len(lexicon)) for term in terms]
    ones = np.ones(len(terms), int)
    compiled, numbers = insert(empty(2), cells, cuts, ones, 2 * ones)
    assert numbers.tolist() == expected
    assert compiled.terms["tf"][: len(lexicon)].tolist() == np.bincount(expected).tolist()
    assert compiled.terms["df"][: len(lexicon)].tolist() == (2 * np.bincount(expected)).tolist()
    assert read(*take(compiled, numbers)) == terms


def test_equal_hashes_do_not_make_equal_terms():
    """Two terms of one cell each whose hashes share the slot and the high half cannot be found by
    trial, so two slots are forged: the lexicon must still tell the terms apart."""
    cells, cuts, _ = tokens_of(["ab cd"])
    one = np.ones(1, int)
    lexicon, _ = insert(empty(2), cells[:1], cuts[:2], one, one)
    h = hash_of(cells, 1, 2)
    lexicon.slots[:] = 0
    lexicon.slots[h & len(lexicon.slots) - 1] = h & ~0xFFFFFFFF | 1  # "cd" leads to "ab"
    lexicon, numbers = insert(lexicon, cells[1:], np.array([0, 1]), one, one)
    assert numbers.tolist() == [1]


def test_hash_of_is_a_fold_of_mix():
    cells = np.array([1, -5, 2**62])
    assert hash_of(cells, 0, 3) == functools.reduce(mix, cells, np.int64(0))


def test_spell_writes_a_line_for_each_term():
    terms = ["ab", "sevenxx", "eightxxx", "ninexxxxx", "é" * 5, "𝔸𝔸"]
    cells, cuts, _ = tokens_of(terms)
    assert spell(cells, cuts).tobytes() == "".join(term + "\n" for term in terms).encode()


def test_relabel_sorts_rows_under_their_new_columns(rng):
    columns = rng.permutation(12) - 2
    columns[columns < 0] = -1
    rows = [rng.permutation(12)[:n] for n in (0, 3, 12, 7)]
    indptr = np.cumsum([0, *map(len, rows)])
    counts = rng.integers(1, 9, size=indptr[-1]).astype(np.int32)
    indices = np.concatenate(rows).astype(np.int32)
    parts = [(indices[a:b].copy(), counts[a:b].copy()) for a, b in itertools.pairwise(indptr)]
    new = relabel(Rows(indptr, indices, counts), columns, 10)
    for d, (indices, counts) in enumerate(parts):
        entries = slice(new.indptr[d], new.indptr[d + 1])
        found = list(zip(new.indices[entries], new.counts[entries], strict=True))
        expected = sorted(
            (columns[t], n) for t, n in zip(indices, counts, strict=True) if columns[t] >= 0
        )
        assert found == expected


@pytest.mark.skipif(not IMDB.exists(), reason="imdb.parquet is not here")
def test_reviews_are_counted_as_scikit_learn_counts_them():
    parquet = pytest.importorskip("pyarrow.parquet")
    column = parquet.read_table(IMDB, columns=["text"])["text"]
    theirs = CountVectorizer().fit(column.to_pylist())
    ours = FastCountVectorizer(n_jobs=2)
    X = ours.fit_transform(column)
    assert ours.vocabulary_ == theirs.vocabulary_
    sample = slice(None, None, 10)
    assert (X[sample] != theirs.transform(column.to_pylist()[sample])).nnz == 0


def test_terms_too_common_to_count_are_known():
    texts = ["big room", "big bed", "big room half\ud83d", "Big view", "room"]
    counts = FastCountVectorizer(max_df=2).fit(texts)
    assert counts.too_common() == ["big", "room"]
    assert counts.too_common(1) == ["big"]
    assert not set(counts.vocabulary_) & {"big", "room"}
    assert FastCountVectorizer(max_df=0.6).fit(texts).too_common() == ["big"]
    assert FastCountVectorizer().fit(texts).too_common() == []
    batches = FastCountVectorizer(max_df=2).partial_fit(texts[:2]).partial_fit(texts[2:])
    assert batches.too_common() == ["big", "room"]
    assert FastCountVectorizer(vocabulary=["room"]).fit(texts).too_common() == []


def test_the_neutral_list_is_scikit_learns_less_words_that_tell_something():
    every = " ".join(COUNTED_STOP_WORDS.values()).split()
    assert len(set(every)) == len(every)  # of one kind each
    assert set(every) < ENGLISH_STOP_WORDS
    neutral = stop_words("english-neutral")
    assert neutral == ENGLISH_STOP_WORDS - set(every)
    assert neutral.isdisjoint({"not", "no", "never", "nor", "cannot", "without", "very", "but"})
    assert {"the", "it", "to", "and", "of", "was"} <= neutral
    assert stop_words("english") == ENGLISH_STOP_WORDS
    counted = FastCountVectorizer(stop_words="english-neutral").fit(["The room was not clean"])
    assert counted.get_feature_names_out().tolist() == ["clean", "not", "room"]
