"""Documents on Spark: two cores of this machine."""

import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from varied_texts import varied_texts

import topicprism
from topicprism import Corpus, GibbsSLDA, SpectralLDA, SpectralSLDA
from topicprism.datasets import make_slda
from topicprism.pipeline.inputs import kept
from topicprism.pipeline.provenance import Ledger
from topicprism.spectral.moments import word_sums
from topicprism.vectorizer import FastCountVectorizer

LIMIT = 600  # seconds that a test may take
SCRIPT = Path(__file__).with_name("on_spark.py")


def java():
    """The version of Java that Spark would use; 0 without."""
    home = os.environ.get("JAVA_HOME")
    program = shutil.which("java", path=f"{home}/bin" if home else None)
    if program is None:
        return 0
    said = subprocess.run([program, "-version"], capture_output=True, text=True).stderr
    found = re.search(r'version "(\d+)', said)
    return int(found.group(1)) if found else 0


def test_without_pyspark_there_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.delitem(sys.modules, "topicprism.engines.stages", raising=False)
    with pytest.raises(ImportError, match=r"needed for documents on Spark; run: pip install 'topi"):
        __import__("topicprism.engines.stages")


pyspark = pytest.importorskip("pyspark", reason="Spark is not installed; make spark does it")
if java() < 17:
    pytest.skip("Spark needs Java 17, which was not found", allow_module_level=True)

from on_spark import OPTIONS, digest, frame_of, session  # noqa: E402

from topicprism.engines import spark as engine  # noqa: E402
from topicprism.engines import stages  # noqa: E402
from topicprism.engines.spark import OnSpark  # noqa: E402
from topicprism.pipeline import spark as of_frames  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # of Spark's, about pandas


@pytest.fixture(scope="module")
def spark():
    found = session("local[2]")
    yield found
    found.stop()


@pytest.fixture(autouse=True)
def limited():
    def late(*_):
        raise TimeoutError(f"a test took more than {LIMIT} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def many(monkeypatch):
    for module in ("learn.survey", "documents.subsets"):
        monkeypatch.setattr(f"topicprism.{module}.MAX_ORDERED", 100)
    monkeypatch.setattr(engine, "ENTRIES", 250)  # 12 shards or so


@pytest.fixture(scope="module")
def corpus():
    X, y, _ = make_slda(1200, n_words=60, n_topics=3, doc_length=50, random_state=0)
    return Corpus(X, y)


def corpora(spark, shards):
    return spark.createDataFrame([(pickle.dumps(shard),) for shard in shards], "value binary")


def fitted(docs):
    return SpectralSLDA(3, alpha0=1.0, noise_variance=0.01, random_state=0).fit_documents(docs)


# --- the same model -----------------------------------------------------------------------------


def test_few_documents_have_the_bits_of_those_in_memory(spark, tmp_path):
    texts, y = varied_texts(400)
    texts[3], y[7], y[9], texts[390] = None, None, np.nan, "  "
    rows = list(zip(texts, y, strict=True))
    frame = spark.createDataFrame(rows, "review string, stars double").repartition(5)
    with pytest.warns(topicprism.MissingValuesWarning, match="4 of 400 documents are left out"):
        found = topicprism.fit(frame, text="review", target="stars", **OPTIONS)
    plain = topicprism.fit(texts, y, **OPTIONS)
    assert digest(found) == digest(plain)
    for name in ("n_documents", "n_left_out", "fingerprint", "too_common", "log"):
        assert found.info[name] == plain.info[name], name
    assert found.info["response"] == pytest.approx(plain.info["response"])  # to the last digits
    found.save(tmp_path / "found.tprism")  # nothing of Spark in it
    some = [text for text in texts if text][:5]
    again = topicprism.load(tmp_path / "found.tprism")
    assert_array_equal(again.predict(some), plain.predict(some))
    predicted = OnSpark.predict(found, frame, text="review")
    assert predicted.columns == ["review", "stars", "expected", "std"]
    seen = {row["review"]: (row["expected"], row["std"]) for row in predicted.collect()}
    assert seen[None] == (None, None)
    both = np.array([seen[text] for text in some]).T
    assert_array_equal(both, plain.predict(some, return_std=True))


def test_many_have_one_answer_in_any_order_and_however_they_are_cut(spark, corpus, many):
    plain = fitted(corpus).model_
    fits = []
    for shards in ([corpus], list(corpus.shards(11)), [corpus.rows(0, 0), corpus.in_key_order()]):
        docs = OnSpark.of(corpora(spark, shards).repartition(3))
        assert docs.n_shards > stages.AT_ONCE  # so that sums are added up on the way
        fits.append(fitted(docs).model_)
        docs.unpersist()
    for found in fits:
        assert_allclose(found.mu, plain.mu, atol=1e-10)
        assert_allclose(found.eta, plain.eta, atol=1e-10)
        assert_array_equal(found.mu, fits[0].mu)
        assert_array_equal(found.eta, fits[0].eta)


def test_an_automatic_fit_is_that_of_documents_in_memory(spark, many):
    X, y, _ = make_slda(1500, n_words=80, n_topics=6, doc_length=60, random_state=0)
    corpus = Corpus(X, y)
    docs = OnSpark.of(corpora(spark, [corpus.rows(0, 0), *corpus.shards(3), corpus.rows(0, 0)]))
    assert docs.n_shards > stages.AT_ONCE
    found, plain = (SpectralSLDA(random_state=0).fit_documents(d) for d in (docs, corpus))
    docs.unpersist()
    for name in ("components_", "coef_", "coef_std_", "noise_variance_"):
        assert_allclose(getattr(found, name), getattr(plain, name), rtol=0, atol=1e-10)


@pytest.mark.parametrize("estimator", [SpectralSLDA, SpectralLDA])
def test_text_and_words_alone_however_they_are_cut(spark, many, monkeypatch, estimator):
    monkeypatch.setattr(engine, "ENTRIES", 60)
    texts, y = varied_texts(700)
    X = FastCountVectorizer(min_df=2, max_df=0.5).fit_transform(texts)
    corpus = Corpus(X, np.array(y))
    edges = [0, 0, 3, 3, 300, 301, 700]
    shards = [corpus.rows(start, stop) for start, stop in pairwise(edges)]
    docs = OnSpark.of(corpora(spark, shards))
    assert docs.n_shards > stages.AT_ONCE
    found, plain = (estimator(5, random_state=0).fit_documents(d) for d in (docs, corpus))
    docs.unpersist()
    for name in ("components_", "alpha_", *(["coef_"] if estimator is SpectralSLDA else [])):
        assert_allclose(getattr(found, name), getattr(plain, name), rtol=0, atol=1e-10)


@pytest.fixture(scope="module")
def by_cores():
    return sessions("local[1]", "local[2]", "local[3]")


def sessions(*masters):
    command = [sys.executable, str(SCRIPT), *masters]
    run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    assert run.returncode == 0, run.stderr[-2000:]
    return [line.split()[1:] for line in run.stdout.splitlines()]


def test_the_bits_are_the_same_for_any_number_of_cores(by_cores):
    assert len(by_cores) == 3
    assert by_cores[0] == by_cores[1] == by_cores[2]
    assert by_cores[0][1] == "400"


def test_spark_connect_has_the_same_bits(by_cores):
    pytest.importorskip("grpc", reason="pyspark[connect] is not installed, so it is not tried")
    assert sessions("connect") == by_cores[:1]


@pytest.mark.parametrize("named", [{"text": "review"}, {"text": "review", "target": "stars"}])
def test_words_alone(spark, named):
    texts, y = varied_texts(400)
    texts[3] = None
    rows = list(zip(texts, y, strict=True))
    frame = spark.createDataFrame(rows, "review string, stars double").repartition(3)
    options = OPTIONS | {"estimator": SpectralLDA}
    with pytest.warns(topicprism.MissingValuesWarning, match="1 of 400 documents are left out"):
        found = topicprism.fit(frame, **named, **options)
    plain = topicprism.fit([text for text in texts if text], **options)
    assert_array_equal(found.model.mu, plain.model.mu)
    assert ("response" in found.info) == ("target" in named)


# --- what travels -------------------------------------------------------------------------------


def test_what_is_shared_is_unpacked_once_for_a_task(spark, corpus, many, tmp_path):
    class Shared:
        def __reduce__(self):
            return unpacked, (str(tmp_path),)

    def unpacked(folder):
        import os
        import tempfile

        os.close(tempfile.mkstemp(dir=folder)[0])

    docs = OnSpark.of(corpora(spark, corpus.shards(2)))
    few = docs.shards.coalesce(2)  # two tasks, with many rows each
    docs = OnSpark(few, docs.n_shards, docs.n_words)
    assert docs.total(lambda c, _: len(c), Shared()) == 1200
    assert len(list(tmp_path.iterdir())) <= 2


def test_what_is_known_of_texts_adds_up_to_something_new():
    texts, y = varied_texts(60)
    one, other = (summary_of_texts(texts[i : i + 30], y[i : i + 30]) for i in (0, 30))
    before = pickle.dumps((one, other))
    assert pickle.dumps(one + other) == pickle.dumps(one + other) != pickle.dumps(one)
    assert pickle.dumps((one, other)) == before


def summary_of_texts(texts, y):
    batch, counts = kept(texts, y), FastCountVectorizer()
    return of_frames.summary(
        of_frames.Read(counts.count(texts), batch.y, Ledger().add(batch), None)
    )


# --- failures -----------------------------------------------------------------------------------


def test_an_exception_on_an_executor_is_its_sentence(spark, corpus):
    def refuse(c):
        raise ValueError("the sentence; what to do")

    def fail(c):
        return {}["key"]

    def end(c):
        import os

        os.kill(os.getpid(), 9)

    docs = OnSpark.of(corpora(spark, [corpus]))
    with pytest.raises(ValueError, match=r"^the sentence; what to do$"):
        docs.total(refuse)
    with pytest.raises(RuntimeError, match=r"^a task of Spark's failed: KeyError: 'key'$"):
        docs.total(fail)
    with pytest.raises(RuntimeError, match=r"^a Python worker of Spark ended .* or fewer cores$"):
        docs.total(end)
    assert docs.total(word_sums).n == 1200  # nothing is lost


def test_executors_of_another_version_are_refused(spark, corpus, monkeypatch):
    monkeypatch.setattr(stages, "__version__", "9.9")
    with pytest.raises(RuntimeError, match=r"has topicprism .*, but 9.9 was expected, as here; in"):
        OnSpark.of(corpora(spark, [corpus]))


def test_executors_without_topicprism_are_a_sentence():
    error = Exception("Traceback\n  ...\nModuleNotFoundError: No module named 'topicprism'\n at x")
    said = r"executors of Spark cannot run topicprism \(No module named 'topicprism'\); install"
    assert re.search(said, str(stages.explained(error)))
    other = stages.explained(Exception("An error\n: java.io.IOException: no room\n\tat a.b(c)"))
    assert "Spark has failed (An error : java.io.IOException: no room)" in str(other)


@pytest.mark.parametrize(
    ("columns", "options", "sentence"),
    [
        ("review, stars", {"text": "reviews"}, r"without a column 'reviews'; its columns are"),
        ("review, stars", {"target": "star"}, r"without a column 'star'; its columns are"),
        ("stars as review, stars", {}, r"column 'review' is of type double, but one of texts was"),
        ("review, 'many' as stars", {}, r"'stars' is of type string \(such as 'many'\), but numb"),
        ("review, stars", {"target": None}, r"without the column of the responses, one of 'rev"),
        ("review, stars", {"estimator": GibbsSLDA}, r"for GibbsSLDA, which needs all documents in"),
        ("review, 2.0 as stars", {}, r"y is 2 for all 400 documents"),
        ("review, double('nan') as stars", {}, r"got no documents, but at least one was expected"),
    ],
)
def test_what_cannot_be_learnt_from_is_a_sentence(spark, columns, options, sentence):
    frame = frame_of(spark).selectExpr(*columns.split(", "))
    with pytest.raises(ValueError, match=sentence):
        topicprism.fit(frame, **{"text": "review", "target": "stars"} | OPTIONS | options)


def test_a_frame_without_rows_is_a_sentence(spark):
    with pytest.raises(ValueError, match=r"got a Spark DataFrame without rows, but expected one"):
        topicprism.fit(frame_of(spark).where("stars > 99"), text="review", target="stars")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([3], r"a row has a int, but a Corpus was expected; make one"),
        ([], r"got no documents, but some were expected"),
        (
            ["corpus", Corpus(csr_array(np.ones((3, 7), int)), np.ones(3))],
            r"over 7 words and over ",
        ),
        ([Corpus(csr_array([[0.5, 2.0]]), np.ones(1))], r"counts contain fractions \(0.5 at docum"),
        ([Corpus(csr_array([[1, 2]]), np.full(1, np.nan))], r"y contains NaN, .* \(nan for docum"),
    ],
)
def test_what_are_no_documents_is_a_sentence(spark, corpus, values, sentence):
    values = [corpus if value == "corpus" else value for value in values]
    with pytest.raises(ValueError, match=sentence):
        OnSpark.of(corpora(spark, values))


def test_frames_that_are_not_for_it_are_refused(spark):
    frame = frame_of(spark)
    with pytest.raises(ValueError, match=r"DataFrame of review string, stars double, but expected"):
        OnSpark.of(frame)
    texts, y = varied_texts(120)
    pipeline = topicprism.fit(texts, y, n_topics=2, random_state=0)
    with pytest.raises(ValueError, match=r"a column 'text' of texts .*, but there are review, sta"):
        OnSpark.predict(pipeline, frame, text="text")
    with pytest.raises(ValueError, match=r"a column 'stars' of texts .*, but it is of type double"):
        OnSpark.predict(pipeline, frame, text="stars")
    with pytest.raises(ValueError, match=r"has a column 'std' already, but one of that name was "):
        OnSpark.predict(pipeline, frame.withColumnRenamed("stars", "std"), text="review")
    of_counts = topicprism.fit(pipeline[0].transform(texts), y, n_topics=2)
    with pytest.raises(ValueError, match=r"a pipeline of PrecomputedCounts and AutoSLDA, but expe"):
        OnSpark.predict(of_counts, frame, text="review")
