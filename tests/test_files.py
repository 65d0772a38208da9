"""Files hold what they should, come back bit for bit, and are refused if anything is off.

``python tests/test_files.py`` writes the golden files of the present format anew.
"""

import json
import os
import pickle
import tracemalloc
import warnings
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from accidents import accident, inner_accident, sealed, with_header
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from small_texts import small_texts
from varied_texts import varied_texts

import topicprism
from topicprism import (
    AnchorLDA,
    AnchorSLDA,
    AutoSLDA,
    Corpus,
    DiscLDA,
    FileError,
    GibbsSLDA,
    HybridSLDA,
    MedLDA,
    MedLDAClassifier,
    NothingPredictedWarning,
    SpectralLDA,
    SpectralSLDA,
    TopicPipeline,
    VariationalSLDA,
    VariationalSLDAClassifier,
    decompose,
    load,
    save,
    sketch,
)
from topicprism.io.files import TextSketch, from_bytes, to_bytes
from topicprism.io.files.container import (
    DIGEST,
    MAGIC,
    START,
    Contents,
    pack,
    unpack,
)
from topicprism.io.files.fitted import ATTRIBUTES, CLASSES, DERIVED
from topicprism.io.files.rules import RULES
from topicprism.learn import Trial
from topicprism.model import Model
from topicprism.show.report import summarise
from topicprism.spectral.basis import Basis
from topicprism.spectral.sketch import Sketch
from topicprism.vectorizer import FastCountVectorizer, PrecomputedCounts

GOLDEN = Path(__file__).parent / "golden"
TEXTS, STARS = small_texts(120)
LABELS = np.array(["bad", "middling", "good"])[np.digitize(STARS, [2, 4])]
VARIED, PRAISE = varied_texts(300)
NEW = ["a friendly smile at breakfast", "the carpet: dirty, with mould", "", "bus bus bus walk"]
SHORT = {"burn_in": 4, "n_kept": 3, "random_state": 0}
ESTIMATORS = {
    "AutoSLDA": AutoSLDA(3, alpha0=1.0, random_state=0),
    "SpectralSLDA": SpectralSLDA(3, alpha0=1.0, random_state=0),
    "two-stage": SpectralSLDA(2, method="two-stage", alpha0=0.5, random_state=1),
    "SpectralLDA": SpectralLDA(3, alpha0=1.0, random_state=0),
    "GibbsSLDA": GibbsSLDA(3, **SHORT),
    "assignments": GibbsSLDA(2, response="assignments", **SHORT),
    "HybridSLDA": HybridSLDA(3, **SHORT),
    "MedLDA": MedLDA(3, **SHORT),
    "MedLDAClassifier": MedLDAClassifier(3, **SHORT),
    "two classes": MedLDAClassifier(2, **SHORT),
    "VariationalSLDA": VariationalSLDA(3, n_iterations=3, random_state=0),
    "VariationalSLDAClassifier": VariationalSLDAClassifier(3, n_iterations=3, random_state=0),
    "softmax of two classes": VariationalSLDAClassifier(2, n_iterations=3, random_state=0),
    "AnchorLDA": AnchorLDA(3, random_state=0),
    "AnchorSLDA": AnchorSLDA(3, random_state=0),
    "DiscLDA": DiscLDA(4, n_iterations=3, random_state=0),
    "DiscLDA of two classes": DiscLDA(4, n_iterations=3, random_state=0),
}


def fit(name):
    y = STARS
    if is_classifier(ESTIMATORS[name]):
        y = LABELS == "good" if name.endswith("two classes") else LABELS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingPredictedWarning)  # by chains as short as these
        return topicprism.fit(TEXTS, y, estimator=ESTIMATORS[name], max_df=1.0, min_df=1)


@pytest.fixture(scope="module")
def fitted():
    return {name: fit(name) for name in ESTIMATORS}


def fit_varied():
    """With burstiness, standard errors and trials, as most text has them."""
    return topicprism.fit(VARIED, PRAISE, n_jobs=1)


@pytest.fixture(scope="module")
def varied():
    return fit_varied()


def text_sketch(texts=TEXTS, y=STARS):
    counts = FastCountVectorizer(stop_words=["bus"], ngram_range=(1, 2), max_features=30)
    corpus = Corpus(counts.fit_transform(texts), y)
    made = sketch(corpus, 4, np.random.default_rng(0))
    return TextSketch(**vars(made), counts=counts, info={"n_documents": len(texts)})


def answers(thing, X):
    """Everything that a fitted pipeline or estimator says of documents."""
    names = ("transform", "predict", "decision_function")
    return {name: getattr(thing, name)(X) for name in names if hasattr(thing, name)}


def same(a, b):
    """Equal to the last bit, type and layout."""
    if isinstance(a, np.ndarray):
        equal = a.dtype.kind == b.dtype.kind and a.shape == b.shape and a.tolist() == b.tolist()
        both_nan = a.dtype.kind == "f" and np.array_equal(a, b, equal_nan=True)
        alike = a.ndim < 2 or a.flags.f_contiguous == b.flags.f_contiguous
        return (equal or both_nan) and alike
    if is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return type(a) is type(b) and a == b


# --- round trips ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_pipeline_comes_back_bit_for_bit(name, fitted, tmp_path):
    before = fitted[name]
    before.save(tmp_path / "model.tprism")
    after = load(tmp_path / "model.tprism")
    assert type(after) is TopicPipeline
    assert_array_equal(after.words, before.words)
    assert after.info == before.info
    for what, answer in answers(before, NEW).items():
        assert same(answers(after, NEW)[what], answer), what


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_comes_back_with_parameters_and_attributes(name, fitted, tmp_path):
    before = fitted[name].topics
    save(before, tmp_path / "model.tprism")
    after = load(str(tmp_path / "model.tprism"))
    assert type(after) is type(before)
    assert after.get_params() == before.get_params()
    kept = {a for a in vars(before) if a.endswith("_") and not a.startswith("_")} - {"state_"}
    known = {ATTRIBUTES.get(stored, stored) for stored in RULES}
    assert kept <= {*known, *DERIVED}, "an attribute that no rule of topicprism.io.files knows"
    for attribute in kept:
        assert same(getattr(before, attribute), getattr(after, attribute)), attribute
    assert after.n_features_in_ == 18
    assert not hasattr(after, "state_")
    clone(after)


def test_every_estimator_has_a_file(fitted):
    public = {n for n in topicprism.__all__ if hasattr(getattr(topicprism, n), "get_params")}
    assert public - {"TopicPipeline"} == set(CLASSES)


def test_what_comes_back_can_learn_again_and_be_saved_again(fitted, tmp_path):
    save(fitted["SpectralSLDA"], tmp_path / "a.tprism")
    after = load(tmp_path / "a.tprism")
    save(after, tmp_path / "b.tprism")
    assert (tmp_path / "a.tprism").read_bytes() == (tmp_path / "b.tprism").read_bytes()
    again = clone(after).fit(TEXTS, STARS)
    assert_array_equal(again.predict(NEW), after.predict(NEW))
    assert again.info["fingerprint"] == after.info["fingerprint"]
    assert_array_equal(pickle.loads(pickle.dumps(after)).predict(NEW), after.predict(NEW))
    with pytest.raises(ValueError, match="vocabulary without word counts, as it comes from a file"):
        after[0].partial_fit(NEW)


def test_an_ordinary_pipeline_comes_back_as_ours(tmp_path):
    ordinary = make_pipeline(FastCountVectorizer(), SpectralSLDA(3, alpha0=1.0, random_state=0))
    save(ordinary.fit(TEXTS, STARS), tmp_path / "a.tprism")
    assert_array_equal(load(tmp_path / "a.tprism").predict(NEW), ordinary.predict(NEW))


@pytest.mark.parametrize(
    "settings",
    [
        {"stop_words": {"bus", "walk"}, "ngram_range": (1, 2), "lowercase": False},
        {"stop_words": "english-neutral"},
        {"stop_words": "english", "min_df": 0.1, "max_df": 0.9, "dtype": np.float32},
        {"vocabulary": ["smile", "Bus", "no such-word", "", "dirty", "\ud800", "x\0"]},
        {"vocabulary": {"smile": 1, "bus": 0, "dirty": 2}, "dtype": "int16"},
        {"max_features": np.int64(7), "n_jobs": 2},
    ],
)
@pytest.mark.filterwarnings("ignore::topicprism.ShortDocumentsWarning")
def test_text_settings_come_back(settings):
    counts = FastCountVectorizer(**settings)
    before = TopicPipeline(
        [("counts", counts), ("topics", SpectralLDA(2, alpha0=3.0, random_state=0))]
    )
    before.fit(TEXTS)
    after = from_bytes(to_bytes(before))
    new = [*NEW, "Bus smile BUS \ud800 walk dirty smile"]
    X, Z = before[0].transform(new), after[0].transform(new)
    assert X.dtype == Z.dtype
    assert_array_equal(X.toarray(), Z.toarray())
    assert list(before.words) == list(after.words)
    for name, value in after[0].get_params().items():
        if name not in ("stop_words", "vocabulary", "dtype", "n_jobs"):
            assert value == settings.get(name, value)
    assert (after[0].vocabulary is None) == ("vocabulary" not in settings)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 1, 2], np.int8),
        np.array([0.0, 1.0, -1.0]),
        np.array(["a", "bé", "c"], dtype=object),
        np.array(["a", "longer", "\u4e2d"]),
        np.array([True, False]),
    ],
)
def test_labels_of_any_type_come_back(labels):
    y = labels[np.arange(120) % len(labels)]
    before = topicprism.fit(TEXTS, y, estimator=ESTIMATORS["MedLDAClassifier"], max_df=1.0)
    after = from_bytes(to_bytes(before))
    assert after.topics.classes_.dtype == before.topics.classes_.dtype
    assert_array_equal(after.predict(NEW), before.predict(NEW))


def test_column_names_of_counts_come_back():
    pd = pytest.importorskip("pandas")
    counts = FastCountVectorizer()
    X = pd.DataFrame(counts.fit_transform(TEXTS).toarray(), columns=counts.get_feature_names_out())
    before = SpectralSLDA(3, alpha0=1.0, random_state=0).fit(X, STARS)
    after = from_bytes(to_bytes(before))
    assert_array_equal(after.feature_names_in_, before.feature_names_in_)
    assert_array_equal(after.predict(X), before.predict(X))


def test_what_json_cannot_hold_is_none():
    before = GibbsSLDA(2, burn_in=1, n_kept=1, callback=lambda p: None, alpha0=np.float32(0.5))
    before.set_params(random_state=np.random.default_rng(0))
    after = from_bytes(to_bytes(before.fit(FastCountVectorizer().fit_transform(TEXTS), STARS)))
    assert after.callback is None
    assert after.random_state is None
    assert after.alpha0 == 0.5


def test_info_is_kept_as_json_holds_it(fitted):
    pipeline = fitted["SpectralSLDA"]
    before = pipeline.info_
    facts = {"a": (1, np.float64(2.5)), "nan": np.nan, "$": [None, True, "\ud800"], "n": np.int8(3)}
    pipeline.info_ = facts
    try:
        after = from_bytes(to_bytes(pipeline)).info
        pipeline.info_ = {"a": {1, 2}}
        with pytest.raises(
            FileError, match=r"info has \{1, 2\} of type set, but a file holds what"
        ):
            to_bytes(pipeline)
        pipeline.info_ = json.loads("[" * 70 + "]" * 70)
        with pytest.raises(FileError, match=r"cannot be written: its header .* 64 levels deep"):
            to_bytes(pipeline)
    finally:
        pipeline.info_ = before
    assert after == {"a": [1, 2.5], "nan": None, "$": [None, True, "\ud800"], "n": 3}


def with_selection(pipeline, **changes):
    topics = pickle.loads(pickle.dumps(pipeline.topics))
    topics.selection_ = replace(topics.selection_, **changes)
    return topics


def test_how_the_topics_were_chosen_comes_back(varied):
    before = varied.topics
    after = from_bytes(to_bytes(before))
    assert [t.n_topics for t in before.selection_.trials] == [3, 5, 10]
    assert same(after.selection_, before.selection_)
    assert same(after.coef_std_, before.coef_std_)
    assert same(after.predictive_variance_, before.predictive_variance_)
    assert after.model_.burstiness == 0.75
    one, two = (t.predict(varied[0].transform(VARIED), return_std=True) for t in (before, after))
    assert_array_equal(one, two)


@pytest.mark.parametrize(
    "change",
    [
        {"spectrum": np.array([np.nan])},
        {"trials": [Trial(3, 1.0, 0.1, 0.5, 0.1)]},
        {"trials": (1,)},
        {"trials": (Trial("3", 1.0, 0.1, 0.5, 0.1),)},
        {"trials": (Trial(3, 1.0, 0.1, float("nan"), 0.1),)},
        {"trials": (Trial(3, 1.0, 0.1, 0.5, -0.1),)},
        {"reasons": {"n_topics": 1}},
        {"reasons": {"__class__": "so"}},
        {"reasons": []},
        {"threshold": "low"},
        {"alpha0": None},
        {"n_topics": 2.5},
    ],
)
def test_a_choice_that_cannot_be_is_refused(varied, change):
    with pytest.raises(FileError, match="its AutoSLDA has 'selection_'"):
        to_bytes(with_selection(varied, **change))


# --- sketches -------------------------------------------------------------------------


def test_a_sketch_comes_back_bit_for_bit(tmp_path):
    before = text_sketch()
    save(before, tmp_path / "s.tpsketch")
    after = load(tmp_path / "s.tpsketch")
    assert isinstance(after, Sketch)
    for f in fields(Basis):
        assert same(getattr(before.basis, f.name), getattr(after.basis, f.name)), f.name
    for f in fields(Sketch)[1:]:
        assert same(getattr(before, f.name), getattr(after, f.name)), f.name
    assert_array_equal(
        after.counts.transform(NEW).toarray(), before.counts.transform(NEW).toarray()
    )
    assert after.info == before.info
    rng = np.random.default_rng
    one, two = (decompose(s, 3, 1.0, rng=rng(0)).model for s in (before, after))
    assert same(one, two)


def test_a_sketch_without_words_comes_back():
    before = Sketch(**{f.name: getattr(text_sketch(), f.name) for f in fields(Sketch)})
    after = from_bytes(to_bytes(before))
    assert after.counts is None
    assert after.info == {}
    assert same(after.third, before.third)


def test_sketches_from_files_add_up():
    whole = text_sketch()
    part = from_bytes(to_bytes(whole))
    twice = whole + part + part
    assert twice.n == 3 * whole.n
    assert_allclose(twice.third, 3 * whole.third)
    assert twice.info == {"merged": [{"n_documents": 120}] * 3}
    assert twice.counts is whole.counts
    again = from_bytes(to_bytes(twice))
    assert_array_equal(again.third, twice.third)
    bare = Sketch(**{f.name: getattr(whole, f.name) for f in fields(Sketch)})
    assert (whole + bare).info == {"merged": [{"n_documents": 120}, {}]}


def test_sketches_over_other_words_do_not_add_up():
    one, two = text_sketch(), text_sketch()
    two.counts.set_params(stop_words=["map"]).fit(TEXTS)
    with pytest.raises(ValueError, match=r"two vocabularies .of 30 and 30 words"):
        one + two


# --- writing --------------------------------------------------------------------------


def test_a_file_appears_whole_or_not_at_all(fitted, tmp_path, monkeypatch):
    path = tmp_path / "a.tprism"
    save(fitted["SpectralSLDA"], path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no space left"):
        save(fitted["two-stage"], path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("thing", "path", "message"),
    [
        ("SpectralSLDA", "reviews.parquet", "got the name 'reviews.parquet' for a TopicPipe"),
        ("SpectralSLDA", "a.tpsketch", "should end in .tprism; try 'a.tprism'"),
        ("sketch", "a.tprism", "for a TextSketch, but it should end in .tpsketch"),
        (Ridge(), "a.tprism", "got a Ridge, but a file holds one of AnchorLDA"),
        (None, "a.tprism", "got a NoneType, but a file holds one of"),
    ],
)  # fmt: skip
def test_what_has_no_file_gets_a_sentence(thing, path, message, fitted, tmp_path):
    if isinstance(thing, str):
        thing = text_sketch() if thing == "sketch" else fitted[thing]
    with pytest.raises(FileError, match=message):
        save(thing, tmp_path / path)
    assert not list(tmp_path.iterdir())


def test_other_pipelines_and_unfitted_ones_get_a_sentence(fitted, tmp_path):
    other = make_pipeline(CountVectorizer(), SpectralSLDA(3, alpha0=1.0)).fit(TEXTS, STARS)
    with pytest.raises(FileError, match="got a pipeline of CountVectorizer, SpectralSLDA, but"):
        save(other, tmp_path / "a.tprism")
    for unfitted in (clone(fitted["SpectralSLDA"]), SpectralSLDA()):
        with pytest.raises(NotFittedError):
            save(unfitted, tmp_path / "a.tprism")

    class Mine(SpectralSLDA):
        pass

    mine = Mine(3, alpha0=1.0).fit(FastCountVectorizer().fit_transform(TEXTS), STARS)
    with pytest.raises(FileError, match="got a Mine, but a file holds"):
        save(mine, tmp_path / "a.tprism")


def test_numbers_that_cannot_be_are_not_written(fitted):
    topics = pickle.loads(pickle.dumps(fitted["SpectralSLDA"].topics))
    topics.coef_ = topics.coef_ * np.nan
    with pytest.raises(
        FileError, match="this SpectralSLDA cannot be written: its SpectralSLDA has"
    ):
        to_bytes(topics)


IMPOSSIBLE = [
    ("AutoSLDA", {"n_topics": "many"}),
    ("SpectralSLDA", {"regime": "model"}),
    ("SpectralSLDA", {"n_topics": "auto", "regime": "paper"}),
    ("SpectralSLDA", {"inference": "guess"}),
    ("SpectralLDA", {"whitening": "fast"}),
    ("GibbsSLDA", {"learn_alpha": "x"}),
    ("HybridSLDA", {"refit": "x"}),
    ("HybridSLDA", {"regime": "text"}),
    ("MedLDA", {"refit": "x"}),
    ("MedLDA", {"warm_start": 2}),
    ("MedLDAClassifier", {"cost": -1.0}),
    ("VariationalSLDA", {"calibrate": "x"}),
    ("VariationalSLDAClassifier", {"beta": 0.0}),
    ("AnchorLDA", {"min_df": 2.5}),
    ("AnchorSLDA", {"refit": "x"}),
    ("DiscLDA", {"n_class_topics": 0}),
    ("MedLDA", {"random_state": "x"}),
]


@pytest.mark.parametrize(("name", "params"), IMPOSSIBLE)
def test_parameters_that_no_fit_takes_are_neither_written_nor_read(name, params, fitted):
    topics = pickle.loads(pickle.dumps(fitted[name].topics))
    changed, value = next(iter(params.items()))
    from_bytes(to_bytes(topics))  # as it is, it has a file
    file = edited(to_bytes(topics), lambda body, arrays: body["topics"]["params"].update(params))
    refused(file, f"its {name} has (a parameter ')?{changed}")
    topics.set_params(**params)
    with pytest.raises(FileError, match=f"this {name} cannot be written: .*{changed}.*{value}"):
        to_bytes(topics)


# --- reading what is damaged, foreign or hostile --------------------------------------


def edited(data, change):
    """The file with its header changed by a function, everything else consistent."""
    contents = unpack(data)
    body = json.loads(json.dumps(contents.body))
    arrays = [a.copy(order="A") for a in contents.arrays]
    new = change(body, arrays)
    return pack(Contents(body if new is None else new, arrays, contents.library))


def refused(data, message, tmp_path=None):
    with pytest.raises(FileError, match=message) as caught:
        from_bytes(data)
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def good(fitted):
    return to_bytes(fitted["SpectralSLDA"])


def test_damage_gets_a_sentence_that_names_the_file(good, tmp_path):
    path = tmp_path / "m.tprism"
    for data, message in [
        (b"", r"m.tprism cannot be read: it begins with b'', but a topicprism file was expected"),
        (b"PK\3\4 a zip file", r"begins with b'PK.*', but a topicprism file"),
        (pickle.dumps(fit), "a topicprism file was expected"),
        (good[:10], "it has 10 bytes, but more were expected: it is cut off"),
        (good[:-1], f"it has {len(good) - 1} bytes, but {len(good)} were expected: it is cut off"),
        (good + b"\0", "checksum is not that of its contents: it is damaged"),
        (good[:500] + b"\1" + good[501:], "checksum is not that of its contents: it is damaged"),
    ]:
        path.write_bytes(data)
        with pytest.raises(FileError, match=message):
            load(path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.tprism")


def test_a_newer_format_says_so(good):
    newer = sealed(good[:8] + (2).to_bytes(4, "little") + good[12:])
    refused(newer, "it is of format 2, but this version of topicprism reads format 1; update")


def declare(*arrays):
    return {"library": "0.1.0", "arrays": list(arrays), "body": {}}


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"", "not sound JSON"),
        (b"{", "not sound JSON"),
        (b"\xff\xfe", "not sound JSON"),
        (b"[" * 100_000 + b"]" * 100_000, "not sound JSON"),
        (b"[" * 200 + b"]" * 200, "not sound JSON .more than 64 levels deep"),
        (b'{"library":"0","arrays":[],"body":1e999}', "not sound JSON"),
        (b'{"library":"0","arrays":[],"body":NaN}', "not sound JSON"),
        (b'{"library":"0","arrays":[],"body":' + b"9" * 5000 + b"}", "not sound JSON"),
        (b'{"library":"0","arrays":[],"body":{},"body":{}}', "spelt in another way"),
        (b'{"library": "0","arrays":[],"body":{}}', "spelt in another way"),
        ('{"library":"0","arrays":[],"body":{}}'.encode("utf-16"), "spelt in another way"),
        ({"library": "0", "body": {}}, "other fields than expected"),
        ({**declare(), "more": 1}, "other fields than expected"),
        (declare(), "it has no info"),
        (declare(["<f8", "C", 2**39, 2**39]), "array 0 is not where it should be"),
        (declare(["<f8", "C", 10]), "array 0 is not where it should be"),
        (declare(["<f8", "C", 2**70]), "it declares an array as"),
        (declare(["<f8", "C", -1]), "it declares an array as"),
        (declare(["<f8", "C", 1.0]), "it declares an array as"),
        (declare(["<f8", "C", True]), "it declares an array as"),
        (declare(["<f8", "C", *[1] * 40]), "it declares an array as"),
        (declare(["<f8", "K", 1]), "it declares an array as"),
        (declare(["|O", "C", 1]), "it declares an array as"),
        (declare([">f8", "C", 1]), "it declares an array as"),
        (declare(["<V8", "C", 1]), "it declares an array as"),
        (declare("../../etc/passwd"), "it declares an array as"),
        (declare({"type": "<f8"}), "it declares an array as"),
    ],
)
def test_hostile_headers_get_a_sentence(good, header, message):
    refused(with_header(good, header), message)


def test_arrays_must_fill_the_file_exactly(good):
    refused(with_header(good, declare(["|u1", "C", 3]), b"1234"), r"arrays end at byte \d+ of")
    refused(
        with_header(good, declare(["|b1", "C", 3]), b"\0\1\2"), "a truth value is neither 0 nor 1"
    )
    refused(with_header(good, declare(["<f8", "F", 1]), bytes(8)), r"shape \(1,\) is in order F")
    header = json.dumps(declare(["|u1", "C", 1]), separators=(",", ":")).encode()
    data = bytearray(with_header(good, header, b"1"))
    data[START + len(header)] = 7
    refused(sealed(data), "array 0 is not where it should be")
    long = bytearray(good)
    long[12:16] = (2**32 - 1).to_bytes(4, "little")
    refused(sealed(long), "its header has 4294967295 bytes")


# --- memory ---------------------------------------------------------------------------


def peak_of(call):
    """Bytes of memory that a call takes at most, beyond what there was."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_reading_takes_memory_near_the_size_of_the_file(tmp_path):
    V, k, path = 20_000, 100, tmp_path / "m.tprism"
    model = Model(np.ones(k), np.full((V, k), 1 / V), np.zeros(k), 1.0)
    estimator = SpectralSLDA(k)
    for name, value in {"model_": model, "coef_": model.eta, "n_features_in_": V}.items():
        setattr(estimator, name, value)
    save(estimator, path)
    size = path.stat().st_size
    assert size > 8 * V * k
    assert peak_of(lambda: load(path)) < 1.2 * size
    assert peak_of(lambda: save(estimator, path)) < 2.2 * size  # its bytes, and a look at them


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b"[" + b"[]," * (1 << 21) + b"0]", "its header has more than 1048576 values"),
        (b"[" + b"{}," * (1 << 21) + b"0]", "its header has more than 1048576 values"),
        (b"[" + b"0," * (1 << 21) + b"0]", "its header has more than 1048576 values"),
        (b'"' + b"x" * (1 << 25) + b'"', r"its header has \d+ bytes"),
    ],
)
def test_a_header_takes_no_more_memory_than_a_header_needs(good, value, message):
    header = b'{"library":"0","arrays":[],"body":{"info":' + value + b"}}"
    data = with_header(good, header)
    assert peak_of(lambda: refused(data, message)) < 3 * len(header)


def test_a_file_larger_than_memory_gets_a_sentence(good, tmp_path):
    """At once: nothing of it needs to be read."""
    path, size = tmp_path / "m.tprism", 1 << 43
    header = json.dumps(declare(["<f8", "C", size // 8]), separators=(",", ":")).encode()
    start = good[:12] + len(header).to_bytes(4, "little") + size.to_bytes(8, "little")
    with path.open("wb") as file:
        file.write(start + header)
        try:
            file.truncate(size)
        except OSError:
            pytest.skip("this disk has no files of 8 TiB, not even empty ones")
    with pytest.raises(FileError, match=r"it has 8796093022208 bytes, which is more than the mem"):
        load(path)


def test_memory_that_runs_out_gets_a_sentence(good, tmp_path, monkeypatch):
    (tmp_path / "m.tprism").write_bytes(good)

    def full(*_):
        raise MemoryError

    monkeypatch.setattr("topicprism.io.files.container._array", full)
    with pytest.raises(
        FileError, match=r"m.tprism cannot be read: it needs more memory than there"
    ):
        load(tmp_path / "m.tprism")


def test_more_strings_than_words_are_not_made(fitted):
    n = 1 << 17
    many = np.full(n, 97, np.uint8), np.arange(1, n + 1)
    data = edited(to_bytes(fitted["SpectralSLDA"]), vocabulary_of(lambda b, e: many))
    refused(data, "it has 131072 strings")


def put(*path_and_value):
    """A change of a header: ``body[path] = value``."""
    *path, last, value = path_and_value

    def change(body, arrays):
        for step in path:
            body = body[step]
        body[last] = value

    return change


def change_array(find, change):
    """A change of the array that ``find`` leads to."""

    def edit(body, arrays):
        i = find(body)["$array"]
        arrays[i] = change(arrays[i])

    return edit


def mu(body):
    return body["topics"]["model"]["$record"][2]


def alpha(body):
    return body["topics"]["model"]["$record"][1]


def eta(body):
    return body["topics"]["model"]["$record"][3]


def coef(body):
    return body["topics"]["fitted"]["coef_"]


def set_first(value):
    def change(array):
        array.flat[0] = value
        return array

    return change


TOPICS = ("topics", "fitted")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_array(mu, set_first(np.nan)), "wrong shape or numbers that are not finite"),
        (change_array(mu, set_first(-1e-9)), "probabilities below zero"),
        (change_array(mu, set_first(0.9)), "word probabilities do not sum to one"),
        (change_array(mu, lambda a: a[:, :2].copy()), "wrong shape"),
        (change_array(mu, lambda a: a.astype("f4")), "wrong shape"),
        (change_array(mu, lambda a: a.ravel()), "wrong shape"),
        (change_array(mu, lambda a: a[:0]), "wrong shape"),
        (change_array(alpha, set_first(0.0)), "probabilities below zero"),
        (change_array(alpha, set_first(np.inf)), "not finite"),
        (change_array(coef, set_first(np.nan)), "its SpectralSLDA has 'coef_'"),
        (change_array(coef, lambda a: a[None]), "coefficients for another number of classes"),
        (change_array(coef, lambda a: a.astype("i8")), "its SpectralSLDA has 'coef_'"),
        (change_array(alpha, set_first(1e200)), "not finite or too large"),
        (change_array(alpha, set_first(1e100)), "not finite or too large"),
        (change_array(alpha, set_first(1e-320)), "probabilities below zero"),
        (change_array(coef, set_first(1e200)), "its SpectralSLDA has 'coef_'"),
        (change_array(eta, set_first(-1e200)), "not finite or too large"),
        (put("topics", "model", "$record", 4, 1e199), "not finite or too large"),
        (put("topics", "model", "$record", 5, -0.1), "wrong shape or numbers"),
        (put("topics", "model", "$record", 5, 1.5), "wrong shape or numbers"),
        (put("topics", "model", "$record", 5, {"$float": "nan"}), "wrong shape or numbers"),
        (change_array(lambda b: b["topics"]["fitted"]["spread_"], lambda a: -a), "'spread_'"),
        (change_array(lambda b: b["topics"]["fitted"]["spread_"], lambda a: a[:1]), "'spread_'"),
        (put("topics", "class", "Popen"), "it has an estimator 'Popen'"),
        (put("topics", "class", "SpectralLDA"), "SpectralLDA has a parameter 'method'"),
        (put("topics", "class", "GibbsSLDA"), "its GibbsSLDA has no features_"),
        (put("topics", "more", 1), "it has an estimator"),
        (put("topics", []), r"it uses 2 of its \d+ arrays"),
        (put("topics", "model", None), r"it uses array \d+ after"),
        (put("topics", "params", "__class__", 1), "has a parameter '__class__'"),
        (put("topics", "params", "n_topics", [3]), "has a parameter 'n_topics'"),
        (put("topics", "params", "n_jobs", 10**9), "it asks for n_jobs=1000000000"),
        (put("topics", "params", "n_jobs", 0), "it asks for n_jobs=0"),
        (put("topics", "params", "n_jobs", "all"), "it asks for n_jobs='all'"),
        (put(*TOPICS, "predict", 1), "its SpectralSLDA has 'predict'"),
        (put(*TOPICS, "model_", 1), "its SpectralSLDA has 'model_'"),
        (put(*TOPICS, "classes_", 1), "its SpectralSLDA has 'classes_'"),
        (put(*TOPICS, "n_short_", -1), "its SpectralSLDA has 'n_short_'"),
        (put(*TOPICS, "n_short_", True), "its SpectralSLDA has 'n_short_'"),
        (put(*TOPICS, "n_short_", 2**64), "its SpectralSLDA has 'n_short_'"),
        (put(*TOPICS, "residual_", {"$float": "nan"}), "its SpectralSLDA has 'residual_'"),
        (put(*TOPICS, "residual_", 10**400), "its SpectralSLDA has 'residual_'"),
        (put(*TOPICS, "residual_", {"$float": "0.5"}), r"it has \{'.float': '0.5'\}"),
        (put(*TOPICS, "residual_", {"$array": 0}), "it uses array 0 after"),
        (put(*TOPICS, "residual_", {"$array": True}), r"it uses array True|it has \{"),
        (put(*TOPICS, "residual_", {"$record": ["Popen", "ls"]}), r"it has \{'.record'"),
        (put(*TOPICS, "residual_", {"$record": ["Model", 1]}), "a Model of 1 fields"),
        (put(*TOPICS, "residual_", {"$tuple": [], "x": 1}), r"it has \{'.tuple'"),
        (put(*TOPICS, "features_", "mean"), "its SpectralSLDA has 'features_'"),
        (put("counts", "lowercase", "yes"), "its text settings are"),
        (put("counts", "stop_words", "french"), "its text settings are"),
        (put("counts", "stop_words", [1]), "its text settings are"),
        (put("counts", "stop_words", ["b", "a"]), "its text settings are"),
        (put("counts", "stop_words", ["a", "a"]), "its text settings are"),
        (put("counts", "ngram_range", [2, 1]), "text settings cannot be .ngram_range="),
        (put("counts", "ngram_range", [1, 2, 3]), "text settings cannot be .ngram_range="),
        (put("counts", "ngram_range", "12"), "its text settings are"),
        (put("counts", "min_df", -1), "text settings cannot be .min_df=-1"),
        (put("counts", "max_features", 0), "text settings cannot be .max_features=0"),
        (put("counts", "dtype", "object"), "its text settings are"),
        (put("counts", "dtype", []), "its text settings are"),
        (put("counts", "n_jobs", 1e9), "it asks for n_jobs"),
        (put("counts", "tokenizer", "os.system"), "its text settings are"),
        (put("counts", None), "it uses array 2 after 0"),
        (put("kind", "pickle"), "it holds neither a pipeline nor"),
        (put("kind", "sketch"), "it has no sketch where one should be"),
        (put("kind", "estimator"), "it holds neither a pipeline nor"),
        (put("info", []), "it has no info"),
        (put("more", 1), "it holds neither a pipeline nor"),
        (lambda body, arrays: arrays.append(np.zeros(3)), r"it uses \d+ of its \d+ arrays"),
        (lambda body, arrays: [1], "it has no info"),
    ],
)  # fmt: skip
def test_hostile_contents_get_a_sentence(good, change, message):
    refused(edited(good, change), message)


@pytest.mark.parametrize(
    ("fact", "value"),
    [
        ("n_documents", "many"),
        ("n_documents", -1),
        ("n_words", 1.5),
        ("n_topics", [3]),
        ("n_left_out", {"no_text": "some"}),
        ("n_left_out", [1]),
        ("scores", {"held_out_pr2": "high"}),
        ("scores", 0.5),
        ("target", ["stars"]),
        ("target", {"a": 1}),
        ("text", 3),
        ("fingerprint", 3),
        ("too_common", [1]),
        ("files", "reviews.csv"),
        ("shares", ["a"]),
        ("shares", 0.3),
        ("response", {"mean": "x"}),
        ("response", {"mean": 1.0, "mode": 1.0}),
        ("response", {"classes": 3}),
        ("response", 3),
        ("seconds", 10**400),
        ("merged", []),
        ("merged", [3]),
        ("merged", [{"n_rows": None}]),
    ],
)
def test_facts_of_another_type_get_a_sentence(good, fact, value):
    name = "n_rows" if value == [{"n_rows": None}] else fact
    refused(edited(good, put("info", fact, value)), f"its info has '{name}' = ")


def test_a_score_of_many_digits_is_a_number(varied):
    """One that numpy has no integers for."""
    read = from_bytes(edited(to_bytes(varied), put("info", "scores", {"held_out_pr2": 10**30})))
    assert summarise(read).scores


def test_facts_of_other_names_are_kept(good):
    more = {"weather": [1, {"a": None}], "target": None, "response": {"mean": None}}
    assert from_bytes(edited(good, put("info", more))).info == more


def test_arrays_of_several_lines_are_refused_in_one(fitted):
    def draws(body):
        return body["topics"]["fitted"]["coef_draws_"]

    change = change_array(draws, lambda array: array * np.nan)
    refused(edited(to_bytes(fitted["GibbsSLDA"]), change), "'coef_draws_' = array")


def vocabulary_of(change, name="words"):
    """The words of the file changed: their bytes and ends."""

    def edit(body, arrays):
        i, j, _ = body["counts"][name]["$strings"]
        arrays[i], arrays[j] = change(arrays[i], arrays[j])

    return edit


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda b, e: (b, e[:-1]), "strings do not end where they should"),
        (lambda b, e: (b[:-1], e), "strings do not end where they should"),
        (lambda b, e: (b, e[::-1].copy()), "strings do not end where they should"),
        (lambda b, e: (b, np.append(e[:-2], [-(2**63), e[-1]])), "do not end where they should"),
        (lambda b, e: (b, e.astype("f8")), "strings do not end where they should"),
        (lambda b, e: (b, e[:0]), "strings do not end where they should"),
        (lambda b, e: (b + np.uint8(128), e), "strings are not UTF-8"),
        (lambda b, e: (b, np.append(e[:-2], e[-1:])), "its vocabulary is not of 18 words"),
        (lambda b, e: (b[:0], e * 0), "its vocabulary is not of 18 words"),
    ],
)
def test_hostile_vocabularies_get_a_sentence(good, change, message):
    refused(edited(good, vocabulary_of(change)), message)


def fit_counts():
    counts = FastCountVectorizer().fit(TEXTS)
    return topicprism.fit(
        counts.transform(TEXTS), STARS, vocabulary=counts.vocabulary_, n_topics=3, alpha0=1.0
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("counts", "given", "words"), "its vocabulary is not of 18 words"),
        (put("counts", "given", ["a"] * 18), "its vocabulary is not of 18 words"),
        (put("counts", "lowercase", True), "its text settings are"),
    ],
)
def test_hostile_columns_get_a_sentence(change, message):
    nameless = fit_counts()
    nameless[0].vocabulary = None
    refused(edited(to_bytes(nameless), change), message)


def test_hostile_words_of_columns_get_a_sentence():
    fewer = vocabulary_of(lambda b, e: (b, np.append(e[:-2], e[-1:])), "given")
    refused(edited(to_bytes(fit_counts()), fewer), "its vocabulary is not of 18 words")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("moments", "n", -1), "wrong shape or numbers"),
        (put("moments", "c1", {"$float": "inf"}), "wrong shape or numbers"),
        (put("basis", "scale", 0), "wrong shape or numbers"),
        (put("basis", "centre", "0"), "wrong shape or numbers"),
        (put("basis", "centre", {"$float": "nan"}), "wrong shape or numbers"),
        (put("basis", "more", 0), "its sketch has"),
        (put("counts", None), "it uses array 2 after 0"),
        (change_array(lambda b: b["basis"]["lift"], lambda a: a[1:].copy()), "wrong shape or"),
        (change_array(lambda b: b["basis"]["B"], set_first(np.inf)), "wrong shape or numbers"),
        (change_array(lambda b: b["moments"]["third"], lambda a: a[0].copy()), "wrong shape or"),
    ],
)
def test_hostile_sketches_get_a_sentence(change, message):
    refused(edited(to_bytes(text_sketch()), change), message)


def test_a_classifier_needs_labels_that_fit(fitted):
    data = to_bytes(fitted["MedLDAClassifier"])

    def classes(change):
        def edit(body, arrays):
            i, j, _ = body["topics"]["fitted"]["classes_"]["$strings"]
            arrays[i], arrays[j] = change(arrays[i], arrays[j])

        return edit

    bytes_of = np.frombuffer(b"badgood", np.uint8).copy()
    refused(edited(data, classes(lambda b, e: (bytes_of, np.array([3, 7])))), "'coef_'|'classes_'")
    refused(edited(data, classes(lambda b, e: (b * 0 + 65, e * 0 + e[-1]))), "'classes_'")
    refused(edited(data, classes(lambda b, e: (b * 0, e))), "a string of it ends in NUL")


# --- a thousand accidents -------------------------------------------------------------


def test_a_thousand_accidents_are_all_noticed(good, tmp_path):
    rng, path = np.random.default_rng(0), tmp_path / "m.tprism"
    for _ in range(1000):
        mutant = accident(good, rng)
        path.write_bytes(mutant)
        if mutant != good:
            with pytest.raises(FileError):
                load(path)


def read_as_it_is(mutant):
    """Is it refused?  If not, what is read must be just what the file says."""
    try:
        thing = from_bytes(mutant)
    except FileError:
        return False
    before, after = unpack(mutant), unpack(to_bytes(thing))
    if "topics" in before.body:  # a parameter that is not in a file is the default
        topics = before.body["topics"]
        topics["params"] = CLASSES[topics["class"]]().get_params() | topics["params"]
        topics["params"]["n_jobs"] = None  # the threads of the fit, which are not read
    if "words" in (before.body.get("counts") or {}):
        before.body["counts"] |= {"n_jobs": None}
    assert before.body == after.body
    assert all(same(a, b) for a, b in zip(before.arrays, after.arrays, strict=True))
    return True


@pytest.mark.parametrize("what", ["SpectralSLDA", "MedLDAClassifier", "sketch"])
def test_accidents_under_a_right_checksum_are_refused_or_read_as_they_are(what, fitted):
    data = to_bytes(text_sketch() if what == "sketch" else fitted[what])
    rng, length = np.random.default_rng(1), int.from_bytes(data[12:16], "little")
    header, arrays = data[START : START + length], data[START + length : -DIGEST]
    for _ in range(1000):
        read_as_it_is(sealed(accident(data[:-DIGEST], rng).ljust(START, b"\0") + bytes(DIGEST)))
        changed = accident(header, rng)
        read_as_it_is(with_header(data, changed, arrays.lstrip(b"\0")))


@pytest.mark.parametrize("what", [*CLASSES, "sketch"])
def test_accidents_inside_are_refused_or_read_as_they_are(what, fitted):
    data = to_bytes(text_sketch() if what == "sketch" else fitted[what])
    rng, contents = np.random.default_rng(2), unpack(data)
    read = 0
    for _ in range(300):
        body, arrays = json.loads(json.dumps(contents.body)), list(contents.arrays)
        inner_accident(body, arrays, rng)
        read += read_as_it_is(pack(Contents(body, arrays, contents.library)))
    assert 0 < read < 200  # some change a parameter or a fact, which a file may say


def test_flipped_magic_is_foreign(good, tmp_path):
    (tmp_path / "m.tprism").write_bytes(bytes([good[0] ^ 1]) + good[1:])
    assert good.startswith(MAGIC)
    with pytest.raises(FileError, match="a topicprism file was expected"):
        load(tmp_path / "m.tprism")


# --- files of earlier versions --------------------------------------------------------


@pytest.mark.parametrize(
    "record", sorted(GOLDEN.glob("format-1-*.json")), ids=lambda path: path.stem
)
def test_golden_files_keep_loading_and_saying_the_same(record):
    expected = json.loads(record.read_text())
    thing = load(record.parent / expected["file"])
    if isinstance(thing, Sketch):
        assert thing.n == expected["n"]
        assert list(thing.counts.get_feature_names_out()) == expected["words"]
        assert_allclose(thing.third.sum(), expected["third"], rtol=1e-12)
        return
    assert type(thing.topics).__name__ == expected["estimator"]
    assert list(thing.words) == expected["words"]
    assert thing.info == expected["info"]
    # what remains are the last bits of other machines' arithmetic
    new = NEW + VARIED[:3]
    if isinstance(thing[0], PrecomputedCounts):
        new = FastCountVectorizer(vocabulary=list(thing.words)).transform(new)
    assert_allclose(thing.transform(new), expected["transform"], rtol=1e-9)
    if isinstance(expected["predict"][0], str):
        assert list(thing.predict(new)) == expected["predict"]
    else:
        assert_allclose(thing.predict(new), expected["predict"], rtol=1e-9)


def test_the_predictive_variance_of_earlier_files_is_read_under_its_new_name():
    """It was an attribute ``spread_``; a file still stores it so."""
    topics = load(GOLDEN / "format-1-varied.tprism").topics
    assert topics.predictive_variance_.shape == (2,)
    assert not hasattr(topics, "spread_")
    assert b'"spread_"' in to_bytes(topics)
    assert same(from_bytes(to_bytes(topics)).predictive_variance_, topics.predictive_variance_)


def write_golden(folder=GOLDEN):
    folder.mkdir(exist_ok=True)
    made = {name: fit(name) for name in ("SpectralSLDA", "GibbsSLDA", "MedLDAClassifier")}
    for name, pipeline in (made | {"varied": fit_varied(), "counts": fit_counts()}).items():
        file = f"format-1-{name.lower()}.tprism"
        save(pipeline, folder / file)
        new = NEW + VARIED[:3]
        if name == "counts":
            new = FastCountVectorizer(vocabulary=list(pipeline.words)).transform(new)
        facts = {
            "file": file,
            "estimator": type(pipeline.topics).__name__,
            "words": list(pipeline.words),
            "info": pipeline.info,
            "transform": pipeline.transform(new).tolist(),
            "predict": pipeline.predict(new).tolist(),
        }
        (folder / file).with_suffix(".json").write_text(json.dumps(facts, indent=1) + "\n")
    made, file = text_sketch(), "format-1-sketch.tpsketch"
    save(made, folder / file)
    facts = {
        "file": file,
        "n": made.n,
        "words": list(made.counts.get_feature_names_out()),
        "third": float(made.third.sum()),
    }
    (folder / file).with_suffix(".json").write_text(json.dumps(facts, indent=1) + "\n")


def test_there_are_golden_files():
    assert len(list(GOLDEN.glob("format-1-*.json"))) >= 6


def test_a_file_of_another_kind_is_refused(tmp_path):
    path = tmp_path / "m.tprism"
    save(fit("SpectralSLDA"), path)
    assert isinstance(load(path, TopicPipeline), TopicPipeline)
    with pytest.raises(FileError, match=r"m.tprism holds a TopicPipeline, but a Sketch was"):
        load(path, Sketch)


if __name__ == "__main__":
    write_golden()
