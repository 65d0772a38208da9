"""Predictions, proportions and scores of Dask's collections, by its workers."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from topicprism.engines.tasks import added, current_client, of_partitions
from topicprism.evaluation import RunningPR2
from topicprism.io.files import with_threads
from topicprism.pipeline.inputs import as_documents, as_list, n_of, responses
from topicprism.scales import fitted
from topicprism.validation import check_response


def lazily(pipeline: Any, method: str, X: Any, **options: Any) -> Any:
    """What a method of a pipeline gives for the partitions of a collection, once computed."""
    width = len(pipeline.model.alpha) if method == "transform" else None
    return Lazily(getattr(for_tasks(pipeline), method), width, options).of(X)


def for_tasks(pipeline: Any) -> Any:
    """A copy with one thread: a task has no more."""
    return with_threads(deepcopy(pipeline), None)


def score(pipeline: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """R2 of predictions, or of their logarithms if these were fitted; sums travel, nothing else."""
    if y is None or not is_regressor(pipeline.topics):
        raise ValueError(
            f"score of a Dask collection was asked of a {type(pipeline.topics).__name__} with "
            f"{'no' if y is None else 'its'} responses, but expected numbers, and an estimator "
            "of these; score a sample in memory: compute() of some partitions"
        )
    if sample_weight is not None:
        raise ValueError(
            "sample_weight was given for the score of a Dask collection, in which all documents "
            "weigh the same; leave it out, or score in memory"
        )
    client = current_client()
    sums = of_partitions(client, agreement, "score-of-partition", X, y, for_tasks(pipeline))
    found: RunningPR2 = added(client, sums)
    if found.value is None:
        raise ValueError(
            f"the responses of {found.n} documents do not vary, but expected ones that do: there "
            "is nothing to explain; give others"
        )
    return found.value


def agreement(docs: Any, y: Any, number: int, pipeline: Any) -> RunningPR2:
    """A task: of the documents of one partition."""
    found = RunningPR2()
    try:
        docs = as_documents(docs)
        numbers = check_response(responses(as_list(y)), n_of(docs))
        if len(numbers):
            scale = pipeline.info.get("log")
            found.add(*(fitted(scale, of) for of in (numbers, pipeline.predict(docs))))
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from None
    return found


@dataclass(frozen=True)
class Lazily:
    """Predictions or proportions of a Dask collection, as one that is computed when asked for.

    Of a Series they are a Series, or a frame of several columns, with its index; of a Bag, a Bag;
    of an Array of counts, an Array.
    """

    method: Any  # of a pipeline
    width: int | None  # columns of proportions
    options: dict[str, Any]

    def of(self, X: Any) -> Any:
        if hasattr(X, "map_blocks"):
            if self.options.get("return_std"):
                raise ValueError(
                    "return_std=True was asked of a Dask array, which has one number per row; ask "
                    "it of a Dask Series or Bag of texts, or of counts in memory"
                )
            if self.width is None:
                return X.map_blocks(self.array, dtype=float, drop_axis=list(range(1, X.ndim)))
            return X.map_blocks(self.array, dtype=float, chunks=(X.chunks[0], (self.width,)))
        if hasattr(X, "index"):
            one = X._meta_nonempty.iloc[:1]
            some = type(one)(["text"], index=one.index)  # one of objects holds no text
            return X.map_partitions(self.table, meta=self.table(some).iloc[:0])
        return X.map_partitions(self.items)

    def array(self, counts: Any) -> Any:
        if counts.shape[0] == 0:
            return np.empty((0,) if self.width is None else (0, self.width))
        return self.method(counts, **self.options)

    def items(self, texts: Any) -> list[Any]:
        found = self._of_texts(list(texts))
        return list(zip(*found, strict=True) if isinstance(found, tuple) else found)

    def table(self, texts: Any, partition_info: dict[str, Any] | None = None) -> Any:
        """Of a Series of pandas'; Dask says by the second argument, called so, which it is."""
        try:
            found = self._of_texts(texts.tolist())
        except ValueError as error:
            if partition_info is None:
                raise
            raise ValueError(f"partition {partition_info['number']}: {error}") from None
        if not isinstance(found, tuple) and found.ndim == 1:
            return type(texts)(found, index=texts.index, name="prediction")
        names = ["prediction", "std"]
        if isinstance(found, tuple):
            found = np.column_stack(found)
        else:
            names = [f"topic{i}" for i in range(found.shape[1])]
        return type(texts.to_frame())(found, index=texts.index, columns=names)

    def _of_texts(self, texts: list[Any]) -> Any:
        if texts:
            return self.method(texts, **self.options)
        if self.options.get("return_std"):
            return np.empty(0), np.empty(0)
        return np.empty(0) if self.width is None else np.empty((0, self.width))
