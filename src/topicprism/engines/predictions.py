"""Predictions as columns of a Spark DataFrame, made where its rows are."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np

from topicprism.engines.stages import RecordBatch, are_texts, array, mapped
from topicprism.vectorizer import FastCountVectorizer

EXPECTED, STD = "expected", "std"


def with_predictions(pipeline: Any, frame: Any, text: str) -> Any:
    """The frame with columns ``expected`` and ``std``, null where there is no text.

    As all of Spark, they are computed when they are asked for.
    """
    from pyspark.sql.types import DoubleType, StructField, StructType

    kinds = dict(frame.dtypes)
    if not are_texts(kinds.get(text, "")):
        found = f"it is of type {kinds[text]}" if text in kinds else f"there are {', '.join(kinds)}"
        raise ValueError(f"expected a column {text!r} of texts to predict from, but {found}")
    if taken := kinds.keys() & {EXPECTED, STD}:
        raise ValueError(
            f"the DataFrame has a column {min(taken)!r} already, but one of that name was expected "
            "to be free for predictions; rename it"
        )
    new = [StructField(name, DoubleType()) for name in (EXPECTED, STD)]
    schema = StructType([*frame.schema.fields, *new])
    return mapped(frame, predicted, travelling(pipeline), text, schema=schema)


def travelling(pipeline: Any) -> Any:
    """A copy with one thread, and without the terms that its vocabulary was chosen from."""
    (_, counts), (_, topics) = pipeline.steps
    if not isinstance(counts, FastCountVectorizer) or not hasattr(pipeline, "predict"):
        raise ValueError(
            f"got a pipeline of {type(counts).__name__} and {type(topics).__name__}, but expected "
            "one that predicts a number from a text; fit one to texts and responses"
        )
    words = counts.get_feature_names_out().tolist()
    counts = FastCountVectorizer.from_vocabulary(words, **counts.get_params() | {"n_jobs": None})
    light, topics = copy(pipeline), copy(topics)
    topics.n_jobs = None
    light.steps = [("counts", counts), ("topics", topics)]
    return light


def predicted(batches: Iterator[RecordBatch], pipeline: Any, text: str) -> Iterator[RecordBatch]:
    for batch in batches:
        texts = batch.column(text).to_pylist()
        there = np.array([one is not None for one in texts], bool)
        both = np.zeros((2, len(texts)))
        if there.any():
            some = [one for one in texts if one is not None]
            both[:, there] = pipeline.predict(some, return_std=True)
        new = [array(numbers, mask=~there) for numbers in both]
        names = [*batch.schema.names, EXPECTED, STD]
        yield RecordBatch.from_arrays([*batch.columns, *new], names=names)
