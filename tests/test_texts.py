"""One call from texts to a fitted pipeline, and everything scikit-learn does with it."""

import pickle
from dataclasses import dataclass

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from small_texts import WORDS, small_texts

import topicprism
from topicprism import (
    AutoSLDA,
    GibbsSLDA,
    MedLDAClassifier,
    MissingValuesWarning,
    SpectralLDA,
    SpectralSLDA,
    TopicPipeline,
    UnspacedWarning,
)
from topicprism.pipeline import assemble
from topicprism.pipeline.inputs import Batch
from topicprism.pipeline.provenance import Fingerprint, Ledger, facts_about
from topicprism.vectorizer import FastCountVectorizer
from topicprism.vectorizer.scripts import unspaced

TEXTS, STARS = small_texts()
NEW = ["a friendly smile at breakfast", "the carpet: dirty, with mould", ""]
COUNTER = CountVectorizer()
COUNTS = COUNTER.fit_transform(TEXTS)
OPTIONS = {"n_topics": 3, "alpha0": 1.0, "max_df": 1.0}


@pytest.fixture(scope="module")
def pipeline():
    return topicprism.fit(TEXTS, STARS, **OPTIONS)


# --- what comes out -------------------------------------------------------------------


def test_fit_learns_what_the_texts_were_made_of(pipeline):
    assert isinstance(pipeline, TopicPipeline)
    assert list(pipeline.words) == WORDS
    assert_allclose(pipeline.model.eta, [1, 3, 5], atol=0.5)
    good, bad, empty = pipeline.predict(NEW)
    assert good > 4
    assert bad < 2
    assert 1 < empty < 5
    assert pipeline.score(TEXTS, STARS) > 0.8
    assert pipeline.transform(NEW).shape == (3, 3)
    assert pipeline.topics is pipeline.named_steps["topics"]


@pytest.mark.filterwarnings("ignore::topicprism.ShortDocumentsWarning")
def test_the_defaults_leave_out_what_says_little():
    texts = [t + " the hotel" + (" umbrella" if i < 4 else "") for i, t in enumerate(TEXTS)]
    fitted = topicprism.fit(texts, STARS, n_topics=3, alpha0=1.0)
    words = fitted.words
    assert fitted.info["too_common"][0] == "hotel"
    assert not set(fitted.info["too_common"]) & {*words, "umbrella"}
    assert "the" not in words  # English
    assert "hotel" not in words  # in all documents
    assert "umbrella" not in words  # in four
    assert "carpet" in words


def test_info_tells_how_it_came_about(pipeline):
    info = pipeline.info
    assert info["n_documents"] == 240
    assert info["n_left_out"] == {}
    assert (info["n_words"], info["n_topics"]) == (18, 3)
    assert info["estimator"] == "AutoSLDA"
    assert info["version"] == topicprism.__version__
    assert_allclose(info["response"]["mean"], STARS.mean())
    assert len(info["fingerprint"]) == 32
    assert info["created"].endswith("+00:00")


def test_the_same_texts_give_the_same_answer_and_fingerprint(pipeline):
    again = topicprism.fit(TEXTS, STARS, n_jobs=None, **OPTIONS)
    assert_array_equal(again.predict(NEW), pipeline.predict(NEW))
    assert again.info["fingerprint"] == pipeline.info["fingerprint"]
    other = topicprism.fit(TEXTS, STARS + 1, **OPTIONS)
    assert other.info["fingerprint"] != pipeline.info["fingerprint"]


def test_a_fingerprint_does_not_depend_on_the_batches():
    whole = Fingerprint().update(TEXTS, STARS).hexdigest()
    parts = Fingerprint()
    for i in range(0, len(TEXTS), 7):
        parts.update(TEXTS[i : i + 7], STARS[i : i + 7])
    assert parts.hexdigest() == whole
    assert (
        Fingerprint().update(["ab", "c"]).hexdigest()
        != Fingerprint().update(["a", "bc"]).hexdigest()
    )
    assert Fingerprint().update([], [1]).hexdigest() == Fingerprint().update([], [1.0]).hexdigest()


# --- what goes in ---------------------------------------------------------------------

COLUMNS = {
    "tuple": tuple,
    "object array": lambda x: np.array(x, dtype=object),
    "array": np.array,
    "pandas": pd.Series,
    "pandas object": lambda x: pd.Series(x, dtype=object),
    "pandas arrow": lambda x: pd.Series(pa.array(list(x)).to_pandas(types_mapper=pd.ArrowDtype)),
    "pandas frame's": lambda x: pd.DataFrame({"a": x, "b": 1}, index=range(9, 9 + len(x)))["a"],
    "polars": lambda x: pl.Series(list(x)),
    "pyarrow": lambda x: pa.array(list(x)),
    "pyarrow chunked": lambda x: pa.chunked_array([list(x[:50]), list(x[50:])]),
    "generator": lambda x: (value for value in x),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_texts_and_responses_come_in_any_column(kind, pipeline):
    make = COLUMNS[kind]
    fitted = topicprism.fit(make(TEXTS), make(STARS), **OPTIONS)
    assert_array_equal(fitted.predict(make(NEW)), pipeline.predict(NEW))
    assert fitted.info["fingerprint"] == pipeline.info["fingerprint"]


MISSING = {
    "list": list,
    "object array": lambda x: np.array(x, dtype=object),
    "pandas": lambda x: pd.Series(x, dtype="str" if isinstance(x[0], str) else "float"),
    "pandas nullable": lambda x: pd.Series(x).convert_dtypes(),
    "polars": lambda x: pl.Series(x, strict=False),
    "pyarrow": pa.array,
}


@pytest.mark.parametrize("kind", MISSING)
def test_documents_without_text_or_response_are_left_out_and_counted(kind):
    texts, stars = list(TEXTS), STARS.tolist()
    texts[3] = texts[9] = stars[9] = stars[20] = None
    make = MISSING[kind]
    expected = "3 of 240 documents are left out: 2 with empty text and 1 with no response"
    with pytest.warns(MissingValuesWarning, match=expected):
        fitted = topicprism.fit(make(texts), make(stars), **OPTIONS)
    assert fitted.info["n_documents"] == 237
    assert fitted.info["n_left_out"] == {"empty text": 2, "no response": 1}
    keep = [i for i in range(240) if i not in (3, 9, 20)]
    same = topicprism.fit([TEXTS[i] for i in keep], STARS[keep], **OPTIONS)
    assert_array_equal(fitted.predict(NEW), same.predict(NEW))


@pytest.mark.parametrize(
    ("texts", "y", "message"),
    [
        ({0: None, 7: 5.5}, {}, "document 7 is 5.5 of type float, expected str"),
        ({0: None}, {3: None, 7: "many"}, r"y has dtype object, .* \(document 7 has 'many'\)"),
        ({0: " "}, dict.fromkeys(range(240), "many"), r"y has dtype <U4, .* \(document 1 has 'ma"),
    ],
)
@pytest.mark.filterwarnings("ignore::topicprism.MissingValuesWarning")
def test_rows_are_counted_before_any_are_left_out(texts, y, message):
    both = [[changed.get(i, value) for i, value in enumerate(values)]
            for changed, values in ((texts, TEXTS), (y, STARS))]  # fmt: skip
    with pytest.raises(ValueError, match=message):
        topicprism.fit(*both)


def test_labels_may_be_numbers_and_strings():
    labels = ["poor" if star < 3 else 1 for star in STARS]
    found = topicprism.fit(TEXTS, labels, estimator=MedLDAClassifier(3, burn_in=2, n_kept=2))
    assert found.topics.classes_.tolist() == ["1", "poor"]


def test_a_missing_text_is_refused_where_every_document_needs_an_answer(pipeline):
    for refuse in (pipeline.predict, pipeline.transform, lambda t: clone(pipeline).fit(t, [1, 2])):
        with pytest.raises(ValueError, match=r"document 1 is None .* replace a missing one by ''"):
            refuse(["room", None])


def test_options_reach_the_counts_and_the_estimator():
    fitted = topicprism.fit(
        TEXTS, STARS, max_features=14, ngram_range=(1, 2), min_df=2, max_df=0.9, stop_words=["bus"],
        n_topics=2, alpha0=2.0, noise_variance=0.5, n_jobs=1, random_state=7,
    )  # fmt: skip
    counts, topics = fitted.named_steps.values()
    assert type(topics) is AutoSLDA
    assert counts.get_params()["ngram_range"] == (1, 2)
    assert len(fitted.words) == 14
    assert "bus" not in fitted.words
    assert (topics.n_topics, topics.alpha0, topics.noise_variance) == (2, 2.0, 0.5)
    assert (topics.n_jobs, topics.random_state, counts.n_jobs) == (1, 7, 1)
    spectral = {"estimator": SpectralSLDA, "n_topics": 2, "method": "two-stage", "n_restarts": 7}
    topics = topicprism.fit(TEXTS, STARS, max_df=1.0, **spectral).topics
    assert (topics.n_topics, topics.method, topics.n_restarts) == (2, "two-stage", 7)


def test_other_estimators_by_class_or_instance():
    by_class = topicprism.fit(TEXTS, STARS, estimator=GibbsSLDA, n_topics=3, burn_in=5, n_kept=2)
    assert isinstance(by_class.topics, GibbsSLDA)
    assert by_class.topics.random_state == 0
    mine = GibbsSLDA(3, burn_in=5, n_kept=2, random_state=5)
    by_instance = topicprism.fit(TEXTS, STARS, estimator=mine, alpha0=2.0)
    assert (by_instance.topics.random_state, by_instance.topics.alpha0) == (5, 2.0)
    assert mine.alpha0 == 1.0
    assert not hasattr(mine, "model_")


def test_topics_without_a_response():
    fitted = topicprism.fit(TEXTS, estimator=SpectralLDA, n_topics=3, max_df=1.0)
    assert "response" not in fitted.info
    assert not hasattr(fitted, "predict")
    assert fitted.transform(NEW).shape == (3, 3)


def test_labels_for_the_classifier():
    labels = np.where(STARS > 3, "good", "bad")
    fitted = topicprism.fit(
        TEXTS, labels.tolist(), estimator=MedLDAClassifier, n_topics=3, burn_in=30, n_kept=10
    )
    assert fitted.info["response"] == {"classes": ["bad", "good"]}
    assert list(fitted.predict(NEW[:2])) == ["good", "bad"]


@dataclass(frozen=True)
class Trial:
    n_topics: int
    pr2: float
    pr2_std: float


@dataclass(frozen=True)
class Selection:
    trials: tuple[Trial, ...]


def test_info_has_the_held_out_score_of_the_number_of_topics_chosen(pipeline):
    topics = pickle.loads(pickle.dumps(pipeline.topics))
    topics.selection_ = Selection((Trial(2, 0.5, 0.1), Trial(3, 0.7, 0.2), Trial(4, np.nan, 0.0)))
    assert facts_about(topics)["scores"] == {"held_out_pr2": 0.7, "held_out_pr2_std": 0.2}


def test_parts_fitted_over_batches_make_a_pipeline(pipeline):
    counts = FastCountVectorizer()
    for i in range(0, 240, 60):
        counts.partial_fit(TEXTS[i : i + 60])
    topics = SpectralSLDA(3, alpha0=1.0, random_state=0).fit(counts.transform(TEXTS), STARS)
    whole = assemble(counts, topics, Ledger().add(Batch(TEXTS, STARS)).info(counts, topics))
    assert_allclose(whole.predict(NEW), pipeline.predict(NEW))
    assert whole.info["n_documents"] == 240
    with pytest.raises(ValueError, match="got counts of 1 words and topics of 18, but expected"):
        assemble(FastCountVectorizer().fit(["room"]), topics, {})


@pytest.mark.parametrize(
    ("texts", "y", "options", "message"),
    [
        (TEXTS, STARS[:9], {}, "got 240 texts and 9 responses, but expected one response for each"),
        (TEXTS, STARS, {"n_topic": 3}, "got n_topic=3, which is an option neither of counting nor"),
        (TEXTS, STARS, {"estimator": Ridge()}, "expected one of topicprism's, such as Spec"),
        (TEXTS, STARS, {"estimator": "gibbs"}, "estimator='gibbs', but expected one of topic"),
        (TEXTS, None, {}, "AutoSLDA requires y to be passed"),
        (TEXTS, STARS, {"method": "joint"}, "got method='joint', .* nor of AutoSLDA; the latter"),
        ("one text", STARS, {}, "texts is one str .* pass .text. for a single document"),
        (7, STARS, {}, "texts is a int, expected an iterable of strings"),
        (pd.DataFrame({"a": TEXTS, "b": ""}), STARS, {}, "with 'a', 'b', .* text= and"),
        (pl.DataFrame({"a": TEXTS}), STARS, {}, "DataFrame with 'a', .* which column has the te"),
        (TEXTS, np.ones((240, 2)), {}, r"ndarray of shape \(240, 2\), but expected one value"),
        ([b"bytes"] * 240, STARS, {}, "document 0 is b'bytes' of type bytes, expected str; decode"),
        ([3.5] * 240, STARS, {}, "document 0 is 3.5 of type float, expected str"),
        (TEXTS[:4], STARS[:4], {}, "^4 documents are too few for min_df=5 and max_df=0.5"),
        (COUNTS, STARS, {"min_df": 2}, "got min_df=2 with counts, but expected it with texts"),
        (COUNTS, STARS, {"stop_words": None}, "got stop_words=None with counts, .* choose columns"),
        (COUNTS, STARS[:9], {}, "got 240 rows of counts and 9 responses, but expected one resp"),
        (COUNTS, STARS, {"vocabulary": WORDS[:9]}, "list of 9 words .* with 18 columns, .* pass"),
        (COUNTS, STARS, {"vocabulary": set(WORDS)}, "got a set of 18 words .* 18 columns, .* in"),
        (COUNTS, STARS, {"vocabulary": WORDS[:17] * 2}, "vocabulary has '.*' twice"),
        (COUNTS * 0.5, STARS, {}, "counts contain fractions"),
        (pd.DataFrame(COUNTS.toarray()), STARS, {}, "with 0, 1, 2.* or counts as a sparse"),
        (TEXTS, ["good"] * 240, {}, "not numeric"),
        (TEXTS, [*STARS[:10], "many", *STARS[11:]], {}, r"not numeric \(document 10 has 'many'\)"),
        (TEXTS, np.ones(240), {}, "y is 1 for all 240 documents"),
    ],
)  # fmt: skip
def test_mistakes_get_one_sentence(texts, y, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        topicprism.fit(texts, y, **options)
    assert "\n" not in str(caught.value)


def test_an_unfitted_pipeline_says_so():
    empty = TopicPipeline([("counts", FastCountVectorizer()), ("topics", SpectralSLDA())])
    for name in ("words", "model", "info"):
        with pytest.raises(NotFittedError):
            getattr(empty, name)


UNSPACED = {
    "Chinese": "房间非常干净，服务员也很友好，早餐很丰富，下次还会再来。",
    "Japanese": "部屋はとても清潔で、スタッフも親切でした。朝食も美味しかったです。",
    "Thai": "ห้องพักสะอาดมากและพนักงานเป็นกันเอง อาหารเช้าอร่อยมาก",
}
SPACED = {
    "Chinese in words": "房间 非常 干净 ， 服务员 也 很 友好 ， 早餐 很 丰富 。",
    "Thai in words": "ห้องพัก สะอาด มาก และ พนักงาน เป็น กันเอง",
    "Korean": "방이 매우 깨끗하고 직원들이 친절했습니다 조식도 맛있었습니다",
    "Russian": "номер был очень чистым и персонал дружелюбным",
    "a Chinese word": "the sign said 欢迎光临 and the room was clean",
    "English": "a clean room",
    "nothing": "",
}


def test_scripts_without_spaces_are_told_from_others():
    for name, text in UNSPACED.items():
        assert unspaced([text] * 9 + [TEXTS[0]] * 8) is not None, name
        assert unspaced([text] * 8 + [TEXTS[0]] * 9) is None, name
    for name, text in SPACED.items():
        assert unspaced([text] * 9) is None, name
    assert unspaced([]) is None


@pytest.mark.filterwarnings("ignore::topicprism.NothingPredictedWarning")  # which is so
def test_texts_without_spaces_get_a_hint():
    texts = [UNSPACED["Chinese"], UNSPACED["Japanese"]] * 30
    hint = (
        r"without spaces between words \(one begins '房间非常干净，服务'\), but .* put spaces betw"
    )
    with pytest.warns(UnspacedWarning, match=hint):
        topicprism.fit(texts, np.arange(60), n_topics=1)
    with pytest.warns(UnspacedWarning), pytest.raises(ValueError, match="too few"):
        topicprism.fit(texts[:3], [1, 2, 3])


# --- counts -----------------------------------------------------------------------------

MATRICES = {
    "csr_matrix": csr_matrix,
    "csr_array": csr_array,
    "csc_matrix": csc_matrix,
    "coo_array": coo_array,
    "float": lambda x: csr_array(x, dtype=float),
    "ndarray": lambda x: x.toarray(),
}


@pytest.mark.parametrize("kind", MATRICES)
def test_counts_make_the_pipeline_that_texts_make(kind, pipeline):
    X, new = MATRICES[kind](COUNTS), MATRICES[kind](COUNTER.transform(NEW))
    fitted = topicprism.fit(X, STARS, n_topics=3, alpha0=1.0)
    assert isinstance(fitted, TopicPipeline)
    assert_array_equal(fitted.predict(new), pipeline.predict(NEW))
    assert_array_equal(fitted.transform(new), pipeline.transform(NEW))
    assert fitted.score(X, STARS) == pipeline.score(TEXTS, STARS)
    assert fitted.info["n_documents"] == 240
    assert fitted.info["response"] == pipeline.info["response"]
    same = topicprism.fit(csr_array(COUNTS), STARS, n_topics=3, alpha0=1.0)
    assert fitted.info["fingerprint"] == same.info["fingerprint"]


def test_counts_have_the_words_that_are_given():
    names = COUNTER.get_feature_names_out()
    for vocabulary in (names, list(names), COUNTER.vocabulary_):
        fitted = topicprism.fit(COUNTS, STARS, vocabulary=vocabulary, n_topics=3, alpha0=1.0)
        assert list(fitted.words) == WORDS
    nameless = topicprism.fit(COUNTS, STARS, n_topics=3, alpha0=1.0)
    assert list(nameless.words) == [f"x{i}" for i in range(18)]
    assert "<bdi>pool</bdi>" in fitted._html_repr()
    assert "<bdi>x10</bdi>" in nameless._html_repr()
    assert nameless.info["fingerprint"] == fitted.info["fingerprint"]
    other = topicprism.fit(COUNTS * 2, STARS, n_topics=3, alpha0=1.0)
    assert other.info["fingerprint"] != fitted.info["fingerprint"]


def test_counts_without_a_response_are_left_out():
    stars = np.where(np.arange(240) == 7, np.nan, STARS)
    with pytest.warns(MissingValuesWarning, match="1 of 240 documents are left out: 1 with no res"):
        fitted = topicprism.fit(COUNTS, stars, n_topics=3, alpha0=1.0)
    keep = np.delete(np.arange(240), 7)
    same = topicprism.fit(COUNTS[keep], STARS[keep], n_topics=3, alpha0=1.0)
    assert_array_equal(fitted.predict(COUNTS), same.predict(COUNTS))
    assert fitted.info["n_left_out"] == {"no response": 1}


def test_a_pipeline_of_counts_is_one_of_scikit_learns():
    fitted = topicprism.fit(COUNTS, STARS, n_topics=3, alpha0=1.0)
    copy = clone(fitted)
    with pytest.raises(NotFittedError):
        copy.predict(COUNTS)
    grid = GridSearchCV(copy, {"topics__n_topics": [1, 3]}, cv=2).fit(COUNTS, STARS)
    assert grid.best_params_ == {"topics__n_topics": 3}
    assert cross_val_score(fitted, coo_array(COUNTS), STARS, cv=3).min() > 0.7
    frame = fitted.set_output(transform="pandas").transform(COUNTS)
    assert list(frame.columns) == list(fitted.get_feature_names_out())
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(COUNTS), fitted.predict(COUNTS))
    assert fitted.fit_transform(COUNTS, STARS).shape == (240, 3)


@pytest.mark.parametrize("named", [False, True])
def test_a_pipeline_of_counts_keeps_in_a_file(tmp_path, named):
    words = {"vocabulary": COUNTER.vocabulary_} if named else {}
    fitted = topicprism.fit(COUNTS, STARS, n_topics=3, alpha0=1.0, **words)
    fitted.save(tmp_path / "counts.tprism")
    same = topicprism.load(tmp_path / "counts.tprism")
    assert_array_equal(same.predict(COUNTS), fitted.predict(COUNTS))
    assert list(same.words) == list(fitted.words)
    assert same.info == fitted.info
    with pytest.raises(ValueError, match="got a list, but this pipeline was made for word counts"):
        same.predict(NEW)


def test_counts_and_texts_are_not_mistaken_for_each_other(pipeline):
    fitted = topicprism.fit(COUNTS, STARS, n_topics=3, alpha0=1.0)
    with pytest.raises(ValueError, match=r"got a list, .* count the words of texts first, over"):
        fitted.predict(NEW)
    with pytest.raises(ValueError, match=r"X has 17 features.* vectorise with the vocabulary used"):
        fitted.predict(COUNTS[:, :17])
    with pytest.raises(ValueError, match=r"of 2 dimensions, .* or give counts to topicprism.fit"):
        pipeline.predict(COUNTS)
    with pytest.raises(ValueError, match=r"of 2 dimensions, .* or give counts to topicprism.fit"):
        clone(pipeline).fit(COUNTS, STARS)


# --- what scikit-learn does with it ---------------------------------------------------


def test_clone_is_unfitted_and_learns_the_same(pipeline):
    copy = clone(pipeline)
    assert isinstance(copy, TopicPipeline)
    with pytest.raises(NotFittedError):
        copy.predict(NEW)
    assert_array_equal(copy.fit(TEXTS, STARS).predict(NEW), pipeline.predict(NEW))
    assert copy.info["fingerprint"] == pipeline.info["fingerprint"]


@pytest.mark.parametrize("kind", [k for k in COLUMNS if k != "generator"])
def test_grid_search_and_cross_validation(pipeline, kind):
    column = COLUMNS[kind]
    grid = GridSearchCV(pipeline, {"topics__n_topics": [1, 3], "counts__min_df": [2]}, cv=2)
    grid.fit(column(TEXTS), column(STARS))
    assert grid.best_params_["topics__n_topics"] == 3
    assert grid.best_estimator_.info["n_documents"] == 240
    scores = cross_val_score(pipeline, column(TEXTS), column(STARS), cv=3)
    assert scores.min() > 0.7


def test_pickle_and_joblib(pipeline, tmp_path):
    joblib.dump(pipeline, tmp_path / "model.joblib")
    for same in (pickle.loads(pickle.dumps(pipeline)), joblib.load(tmp_path / "model.joblib")):
        assert_array_equal(same.predict(NEW), pipeline.predict(NEW))
        assert same.info == pipeline.info


@pytest.mark.parametrize("ordinary", [False, True])
def test_set_output_gives_frames(ordinary):
    steps = FastCountVectorizer(), SpectralSLDA(3, alpha0=1.0, random_state=0)
    made = (
        make_pipeline(*steps)
        if ordinary
        else TopicPipeline([("counts", steps[0]), ("topics", steps[1])])
    )
    frame = made.set_output(transform="pandas").fit(TEXTS, STARS).transform(NEW)
    assert list(frame.columns) == list(made.get_feature_names_out())
    assert frame.shape == (3, 3)
    frame = made.set_output(transform="polars").transform(NEW)
    assert isinstance(frame, pl.DataFrame)
    assert isinstance(made.set_output(transform="default").transform(NEW), np.ndarray)


@pytest.mark.parametrize("estimator", [SpectralSLDA, GibbsSLDA])
def test_predictions_stay_arrays_whatever_transform_gives(estimator):
    short = {"burn_in": 2, "n_kept": 2} if estimator is GibbsSLDA else {}
    made = topicprism.fit(TEXTS, STARS, estimator=estimator, n_topics=3, max_df=1.0, **short)
    plain = made.predict(NEW), *made.predict(NEW, return_std=True)
    made.set_output(transform="pandas")
    for ours, before in zip((made.predict(NEW), *made.predict(NEW, return_std=True)), plain,
                            strict=True):  # fmt: skip
        assert type(ours) is np.ndarray
        assert_array_equal(ours, before)
    assert isinstance(made.score(NEW, [1.0, 2.0, 3.0]), float)


@pytest.mark.parametrize("whole", [True, False])
def test_a_pandas_frame_keeps_the_index_of_the_texts(whole):
    """As scikit-learn's own frames keep that of a frame."""
    series = pd.Series(TEXTS, index=[f"review {i}" for i in range(240)])
    made = topicprism.fit(series, STARS, **OPTIONS).set_output(transform="pandas")
    frame = made.fit_transform(series, STARS) if whole else made.transform(series)
    assert list(frame.index) == list(series.index)
    assert list(made.transform(TEXTS[:3]).index) == [0, 1, 2]
    polars = made.set_output(transform="polars").transform(series)
    assert isinstance(polars, pl.DataFrame)


def test_a_pipeline_without_topics_at_its_end_does_not_transform():
    steps = [("counts", FastCountVectorizer()), ("ridge", Ridge())]
    assert not hasattr(TopicPipeline(steps), "transform")


def test_an_ordinary_pipeline_works_as_well(pipeline):
    ordinary = make_pipeline(FastCountVectorizer(), SpectralSLDA(3, alpha0=1.0, random_state=0))
    assert_array_equal(ordinary.fit(TEXTS, STARS).predict(NEW), pipeline.predict(NEW))
    assert_array_equal(clone(ordinary).fit(TEXTS, STARS).predict(NEW), pipeline.predict(NEW))
    topics = FastCountVectorizer(), SpectralSLDA(3, alpha0=1.0, random_state=0), Ridge()
    assert cross_val_score(make_pipeline(*topics), TEXTS, STARS, cv=3).min() > 0.7


def test_fit_transform_is_fit_then_transform(pipeline):
    copy = clone(pipeline)
    assert_array_equal(copy.fit_transform(iter(TEXTS), STARS), pipeline.transform(TEXTS))
    assert copy.info["n_documents"] == 240


def test_a_slice_still_counts(pipeline):
    assert pipeline[:1].transform(NEW).shape == (3, 18)
