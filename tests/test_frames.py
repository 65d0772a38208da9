"""Columns of frames, whoever made these; and where the documents of a value are."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from varied_texts import varied_texts

import topicprism
from topicprism import SpectralSLDA
from topicprism.pipeline.frames import collection_of, columns

N = 120
OPTIONS = {"n_topics": 2, "estimator": SpectralSLDA, "random_state": 0}


@pytest.fixture(scope="module")
def rows():
    return dict(zip(("review", "stars"), varied_texts(N), strict=True))


@pytest.fixture(scope="module")
def plain(rows):
    return topicprism.fit(rows["review"], rows["stars"], **OPTIONS)


@pytest.mark.parametrize("make", ["pandas.DataFrame", "polars.DataFrame", "pyarrow.table"])
def test_a_frame_is_its_columns(make, rows, plain):
    package, name = make.split(".")
    frame = getattr(pytest.importorskip(package), name)(rows)
    found = topicprism.fit(frame, text="review", target="stars", **OPTIONS)
    assert_array_equal(found.model.mu, plain.model.mu)
    assert found.info["fingerprint"] == plain.info["fingerprint"]
    assert (found.info["text"], found.info["target"]) == ("review", "stars")
    assert "text" not in plain.info


def test_what_is_no_frame_or_lacks_a_column_is_refused(rows):
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows)
    for given, options, sentence in (
        (frame, {"text": "text"}, "without a column 'text'; its columns are 'review', 'stars'"),
        (frame, {"text": "review", "target": "y"}, "without a column 'y'; its columns are"),
        (frame, {}, "with 'review', 'stars', but expected .*; pass text= and target=, or counts"),
        (frame, {"text": "review"}, "without the column of the responses, .* pass target= too, or"),
        (frame, {"target": "stars"}, "got target='stars' without the column of the texts, one of"),
        (rows["review"], {"text": "review"}, "got text='review' with a list, but columns are"),
        (csr_array(np.eye(3)), {"text": "x"}, "got text='x' with a csr_array, but columns are"),
        (frame["review"], {"text": "review"}, "got text='review' with a Series, but columns are"),
        (polars.LazyFrame(rows), {"text": "review"}, "got a LazyFrame, which has no values yet"),
        (frame, {"text": "review", "y": rows["stars"]}, "got responses beside a frame, of which"),
    ):
        with pytest.raises(ValueError, match=sentence):
            topicprism.fit(given, **options)


def test_a_frame_of_dask_needs_names_of_columns():
    frame = pytest.importorskip("dask.dataframe").from_dict({"a": ["x"], "b": [1]}, npartitions=1)
    with pytest.raises(ValueError, match="with 'a', 'b', but expected to be told which column has"):
        topicprism.fit(frame)


def test_a_frame_whose_columns_have_no_place_of_their_own_stays_one():
    """As Spark's: its texts and responses are selected, and nothing is imported to see that."""

    class DataFrame:
        columns = ("review", "stars", "more")
        select = staticmethod(lambda *names: names)

    DataFrame.__module__ = "pyspark.sql.connect.dataframe"
    assert columns(DataFrame(), None, "review", "stars") == (("review", "stars"), None)
    assert columns(DataFrame(), None, "review", None) == (("review",), None)


def test_documents_in_memory_are_of_no_collection(rows):
    for value in (rows["review"], np.zeros((2, 2)), csr_array(np.eye(2)), None, iter("ab")):
        assert collection_of(value) is None
