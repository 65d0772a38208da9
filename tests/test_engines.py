"""Wherever the documents are and whoever sums them, the model is the same."""

import os
from itertools import islice

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from varied_texts import varied_texts

from topicprism import Corpus, SpectralSLDA, sketch
from topicprism.datasets import make_slda
from topicprism.documents import OnDisk, Threaded, disk
from topicprism.documents.corpus import Documents
from topicprism.documents.disk import read, write
from topicprism.documents.occurring import over_words
from topicprism.documents.subsets import MAX_ORDERED, in_key_order
from topicprism.spectral.decompose import learn
from topicprism.vectorizer import FastCountVectorizer


@pytest.fixture
def corpus():
    X, y, _ = make_slda(2000, n_words=80, n_topics=4, doc_length=(1, 60), random_state=0)
    return Corpus(X, y)


@pytest.mark.parametrize("n_threads", [1, 2, 3, 40])
@pytest.mark.parametrize("n_shards", [1, 7])
def test_every_engine_learns_the_same_model(corpus, tmp_path, n_threads, n_shards):
    plain = learn(corpus, 4, rng=np.random.default_rng(0))
    engines = [
        Threaded(corpus, n_threads),
        OnDisk.write(tmp_path, corpus.shards(n_shards), n_threads),
    ]
    for docs in engines:
        assert isinstance(docs, Documents)
        same = learn(docs, 4, rng=np.random.default_rng(0))
        assert_allclose(same.model.mu, plain.model.mu, atol=1e-10)
        assert_allclose(same.model.eta, plain.model.eta, atol=1e-10)
        assert (same.n_documents, same.n_short) == (plain.n_documents, plain.n_short)
        again = learn(docs, 4, rng=np.random.default_rng(0))
        assert_array_equal(again.model.mu, same.model.mu)


def test_many_documents_are_many_shards_of_which_few_wait(monkeypatch):
    """A thread each on many cores; memory goes by the threads, not by the shards."""
    monkeypatch.setattr("topicprism.documents.threads.MIN_SHARD_DOCUMENTS", 10)
    X, y, _ = make_slda(1000, n_words=20, n_topics=2, doc_length=10, random_state=0)
    docs, begun, ahead = Threaded(Corpus(X, y), 3), [], []

    class Sum(list):
        def __add__(self, other):
            ahead.append(len(begun) - len(self))
            return Sum([*self, *other])

    def part(shard):
        begun.append(None)
        return Sum([float(shard.y[0])])

    found = docs.total(part)
    assert len(docs.shards) > 90
    assert found == [float(shard.y[0]) for shard in docs.shards]
    assert max(ahead) <= 3 * 2 + 1


def test_a_shard_comes_back_as_it_was_in_the_smallest_type(corpus, tmp_path):
    write(tmp_path / "a.shard", corpus)
    back = read(tmp_path / "a.shard")
    assert_array_equal(back.counts.toarray(), corpus.counts.toarray())
    assert_array_equal(back.y, corpus.y)
    assert back.counts.dtype == np.uint8
    assert [p.name for p in tmp_path.iterdir()] == ["a.shard"]


def test_counts_above_a_byte_take_two(tmp_path):
    big = Corpus(csr_array([[300, 1]]), np.ones(1))
    write(tmp_path / "a.shard", big)
    assert read(tmp_path / "a.shard").counts.dtype == np.uint16


def test_a_cut_off_shard_says_so(corpus, tmp_path):
    OnDisk.write(tmp_path, corpus.shards(2))
    path = tmp_path / "000001.shard"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"bytes, but .* expected: it is not a whole shard; write"):
        OnDisk.open(tmp_path)
    with pytest.raises(
        ValueError, match=r"000001.shard is not a whole shard .* write the folder again"
    ):
        read(path)


def test_a_folder_whose_writer_was_stopped_does_not_open(corpus, tmp_path):
    def stopped():
        yield from islice(corpus.shards(6), 3)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        OnDisk.write(tmp_path, stopped())
    with pytest.raises(ValueError, match=r"has 3 .shard files but no manifest.json.* not finished"):
        OnDisk.open(tmp_path)


@pytest.mark.parametrize("lost", ["000002.shard", "000005.shard"])
def test_a_folder_that_lacks_a_shard_does_not_open(corpus, tmp_path, lost):
    OnDisk.write(tmp_path, corpus.shards(6))
    (tmp_path / lost).unlink()
    with pytest.raises(ValueError, match=r"has 5 .shard files, but its manifest.json lists 6"):
        OnDisk.open(tmp_path)


def test_no_bit_flips_unseen(tmp_path, rng):
    X, y, _ = make_slda(30, n_words=40, n_topics=2, doc_length=20, random_state=0)
    OnDisk.write(tmp_path, Corpus(X, y).shards(2))
    files = sorted(tmp_path.iterdir())
    assert [f.name for f in files] == ["000000.shard", "000001.shard", "manifest.json"]
    assert OnDisk.open(tmp_path).total(len) == 30
    for _ in range(300):
        path = files[rng.integers(len(files))]
        good = path.read_bytes()
        bad = bytearray(good)
        bad[rng.integers(len(bad))] ^= 1 << int(rng.integers(8))
        path.write_bytes(bad)
        with pytest.raises(ValueError, match=r"OnDisk.write|one vocabulary"):
            OnDisk.open(tmp_path).total(len)
        path.write_bytes(good)
    assert OnDisk.open(tmp_path).total(len) == 30


@pytest.mark.parametrize("in_place", [False, True])
def test_a_shard_that_is_replaced_after_the_first_pass_is_refused(corpus, tmp_path, in_place):
    """By one of the same length, whose own folder has its checksum."""
    docs = OnDisk.write(tmp_path / "a", corpus.shards(2))
    OnDisk.write(tmp_path / "b", Corpus(corpus.counts, corpus.y + 1).shards(2))
    old, new = (tmp_path / folder / "000001.shard" for folder in "ab")
    assert docs.total(len) == len(corpus)
    assert old.stat().st_size == new.stat().st_size
    if in_place:
        old.write_bytes(new.read_bytes())
    else:
        new.replace(old)
    os.utime(old, ns=(0, 10**18))  # whatever a tick of the clock is
    with pytest.raises(ValueError, match=r"000001.shard is damaged: its checksum .* write the fo"):
        docs.total(len)


def test_a_shard_is_checked_again_only_if_its_file_was_changed(corpus, tmp_path, monkeypatch):
    docs = OnDisk.write(tmp_path, corpus.shards(2))
    looked = []
    checksum = disk._checksum
    monkeypatch.setattr(disk, "_checksum", lambda path: looked.append(path.name) or checksum(path))
    for expected in (["000000.shard", "000001.shard"], [], ["000001.shard"]):
        assert docs.total(len) == len(corpus)
        assert looked == expected
        looked.clear()
        if not expected:
            os.utime(tmp_path / "000001.shard", ns=(0, 10**18))  # contents stay as they were


@pytest.mark.parametrize("n_threads", [1, 3])
def test_shards_that_will_be_wanted_are_asked_for(corpus, tmp_path, monkeypatch, n_threads):
    """As many shards ahead as there are threads, so that each is asked for once, but the first."""
    docs = OnDisk.write(tmp_path / "docs", corpus.shards(9), n_threads)
    plain, asked = disk._begin_to_read, []
    monkeypatch.setattr(disk, "_begin_to_read", lambda path: (asked.append(path), plain(path)))
    for _ in range(2):
        asked.clear()
        assert docs.total(len) == len(corpus)
        assert sorted(asked) == list(docs.shards[n_threads:])


def test_a_folder_that_has_shards_is_not_written_over(corpus, tmp_path):
    OnDisk.write(tmp_path, [corpus])
    with pytest.raises(ValueError, match=r"has .shard files already, but an empty folder"):
        OnDisk.write(tmp_path, [corpus])


def test_what_is_not_a_count_is_not_written(tmp_path):
    bad = Corpus(csr_array([[1.0, 0.5]]), np.ones(1))
    with pytest.raises(ValueError, match=r"fractions \(0.5 at document 0, word 1\)"):
        write(tmp_path / "a.shard", bad)
    assert list(tmp_path.iterdir()) == []


def test_a_shard_with_ids_out_of_range_is_refused(corpus, tmp_path):
    path = tmp_path / "a.shard"
    write(path, corpus)
    arrays = []
    with path.open("rb") as file:
        arrays = [np.load(file) for _ in range(5)]
    arrays[2][3] = 10**6
    with path.open("wb") as file:
        for array in arrays:
            np.save(file, array)
    with pytest.raises(ValueError, match=r"a.shard is not a whole shard \(.*\); write the folder"):
        read(path)


DAMAGE = {
    "a header that is no Python": lambda arrays: [arrays[0], b"(', (", *arrays[1:]],
    "responses for other documents": lambda arrays: [*arrays[:4], arrays[4][:-1]],
    "a response that is no number": lambda arrays: [*arrays[:4], arrays[4] * np.nan],
    "counts that are no counts": lambda arrays: [*arrays[:3], arrays[3] * 0.5, arrays[4]],
    "no list of rows": lambda arrays: [arrays[0], np.array(3), *arrays[2:]],
    "no number of words": lambda arrays: [arrays[0][:0], *arrays[1:]],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_shard_that_was_made_wrong_is_a_sentence(corpus, tmp_path, damage):
    """Whoever makes one may write the manifest that belongs to it."""
    path = tmp_path / "a.shard"
    write(path, corpus)
    with path.open("rb") as file:
        arrays = [np.load(file) for _ in range(5)]
    with path.open("wb") as file:
        for array in DAMAGE[damage](arrays):
            if isinstance(array, bytes):
                file.write(b"\x93NUMPY\x01\x00" + len(array).to_bytes(2, "little") + array)
            else:
                np.save(file, array)
    with pytest.raises(ValueError, match=r"a.shard is not a whole shard \(.*\); write th") as said:
        read(path)
    assert "\n" not in str(said.value)


def test_a_folder_without_shards_says_so(tmp_path):
    with pytest.raises(ValueError, match=r"has no .shard files, but at least one was expected"):
        OnDisk.open(tmp_path)


def test_shards_over_two_vocabularies_are_refused(corpus, tmp_path):
    other, y, _ = make_slda(10, n_words=30, n_topics=2, random_state=0)
    docs = OnDisk.write(tmp_path, [corpus, Corpus(other, y)])
    with pytest.raises(ValueError, match=r"over 30 words and the first shard over 80"):
        learn(docs, 4, rng=np.random.default_rng(0))


def test_passes_are_as_many_as_the_docs_say(monkeypatch):
    """README.md: five to ten for a sketch, here seven at most; and two more for standard errors."""
    monkeypatch.setattr("topicprism.learn.survey.MAX_ORDERED", 100)
    monkeypatch.setattr("topicprism.documents.subsets.MAX_ORDERED", 100)
    X, y, _ = make_slda(2000, n_words=80, n_topics=4, doc_length=60, random_state=0)
    docs = Counting(Corpus(X, y))
    sketch(docs, 8, np.random.default_rng(0))
    assert 5 <= docs.passes <= 7
    docs = Counting(Corpus(X, y))
    told = SpectralSLDA(4, alpha0=1.0, noise_variance=0.01, random_state=0)
    fitted = told.fit_documents(docs)
    assert 6 <= docs.passes <= 8
    assert fitted.coef_std_.shape == (4,)


class Counting:
    """Documents that count how often they are looked at."""

    def __init__(self, docs):
        self.docs, self.passes, self.n_words = docs, 0, docs.n_words

    def total(self, part, *shared):
        self.passes += 1
        return self.docs.total(part, *shared)


def test_the_cut_of_many_documents_on_disk_changes_last_digits_only(tmp_path, monkeypatch):
    """Documents that are too many to be put in the order of their keys, in 2, 5 and 11 shards."""
    for module in ("documents.subsets", "learn.survey"):
        monkeypatch.setattr(f"topicprism.{module}.MAX_ORDERED", 100)
    texts, y = varied_texts(900)
    X, y = FastCountVectorizer().fit_transform(texts), np.array(y)
    fitted = []
    for n in (2, 5, 11):
        shards = Corpus(X, y).shards(n)
        docs = OnDisk.write(tmp_path / str(n), shards)
        fitted.append(SpectralSLDA(5, random_state=0).fit_documents(docs))
    for name in ("coef_", "coef_std_", "components_", "predictive_variance_", "replication_"):
        first, *others = (getattr(m, name) for m in fitted)
        for other in others:
            assert_allclose(other, first, rtol=1e-7, atol=1e-7, err_msg=name)


def with_empty_columns(X):
    """The same counts with a column of zeros before every third word; and where the words are."""
    words = np.arange(X.shape[1]) + np.arange(X.shape[1]) // 3 + 1
    entries = X.tocoo()
    shape = (X.shape[0], int(words[-1]) + 5)
    return csr_array((entries.data, (entries.row, words[entries.col])), shape=shape), words


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize(
    ("documents", "options"),
    [
        ("model", {}),
        ("model", {"n_topics": 4, "regime": "paper"}),
        ("text", {}),
        ("text", {"n_topics": 4, "method": "two-stage"}),
    ],
)
def test_words_that_never_occur_change_nothing(documents, options, on_disk, tmp_path):
    """Nor do they have a probability, so that nothing is learnt from one in a new document."""
    if documents == "model":
        X, y, _ = make_slda(1500, n_words=60, n_topics=4, doc_length=40, random_state=0)
    else:
        texts, y = varied_texts(300)
        X = FastCountVectorizer(min_df=2).fit_transform(texts)
    X = csr_array(X)[:, np.asarray(X.sum(axis=0)).ravel() > 0]
    wide, words = with_empty_columns(X)
    one, other = (SpectralSLDA(**options, random_state=0) for _ in range(2))
    one.fit(X, y)
    if on_disk:
        other.fit_documents(OnDisk.write(tmp_path, Corpus(wide, np.asarray(y, float)).shards(3)))
    else:
        other.fit(wide, y)
    assert (documents == "model") == hasattr(one, "eigenvalues_")
    assert_allclose(other.components_[:, words], one.components_, rtol=0, atol=1e-10)
    assert_allclose(other.components_[:, words].sum(axis=1), 1)
    for name in ("coef_", "alpha_", "noise_variance_", "predictive_variance_"):
        assert_allclose(getattr(other, name), getattr(one, name), rtol=1e-10, atol=1e-10)
    assert_allclose(other.predict(wide[:50]), one.predict(X[:50]), atol=1e-10)
    unseen = wide[:50].tolil()
    unseen[:, 0] = 3
    assert_allclose(other.predict(csr_array(unseen)), one.predict(X[:50]), atol=1e-10)
    assert other.n_features_in_ == wide.shape[1]


def test_many_documents_over_some_words_stay_where_they_are(corpus, tmp_path):
    """Few are put in the order of the keys that they have over these words."""
    wide, words = with_empty_columns(csr_array(corpus.counts))
    disk = OnDisk.write(tmp_path, Corpus(wide, corpus.y).shards(3))
    narrow = over_words(disk, words)
    assert in_key_order(narrow, MAX_ORDERED + 1) is narrow
    ordered = in_key_order(narrow, len(corpus)).corpus
    assert_array_equal(ordered.keys, np.sort(corpus.keys))
    assert_array_equal(
        ordered.counts.to_csr().toarray(), corpus.in_key_order().counts.to_csr().toarray()
    )
