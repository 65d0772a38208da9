"""Frames, whose columns are texts and responses; and collections, whose documents are elsewhere.

Which package a value is from is seen by the names of its classes' modules: nothing is imported to
look, and whoever has a value of Dask's has Dask.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from topicprism.io.tables.columns import listed

COLLECTIONS = {  # by package: the module with ``fit_collection``, ``lazily`` and ``score``
    "dask": "topicprism.pipeline.collections",
    "dask_expr": "topicprism.pipeline.collections",
    "pyspark": "topicprism.pipeline.spark",
}
WHOLE = ("pyspark",)  # packages in which a column has no place without its frame


def packages_of(value: Any) -> set[str]:
    """The packages that its classes are from."""
    return {kind.__module__.partition(".")[0] for kind in type(value).__mro__}


def collection_of(value: Any) -> Any:
    """The module that fits documents where they are; None if they are in memory."""
    found = packages_of(value) & COLLECTIONS.keys()
    return import_module(COLLECTIONS[min(found)]) if found else None


def columns(
    texts: Any, y: Any, text: str | None, target: str | None, topics: Any = None
) -> tuple[Any, Any]:
    """Texts and responses for an estimator: as given, or the columns of a frame that are named.

    Of Spark they are one frame of these columns, without responses beside it.
    """
    names = _names(texts)
    if text is None and target is None:
        if names is None:
            return texts, y
        raise ValueError(
            f"got a {type(texts).__name__} with {listed(names)}, but expected to be told which "
            "column has the texts; pass text= and target=, or counts as a sparse matrix"
        )
    if names is None:
        given = f"text={text!r}" if text is not None else f"target={target!r}"
        raise ValueError(
            f"got {given} with a {type(texts).__name__}, but columns are those of a frame of "
            "pandas, polars, pyarrow, Dask or Spark; pass one, or texts and responses themselves"
        )
    if text is None:
        raise ValueError(
            f"got target={target!r} without the column of the texts, one of {listed(names)}; pass "
            "text= too"
        )
    if y is not None:
        raise ValueError(
            f"got responses beside a frame, of which text={text!r} is to be read, but expected "
            "the name of their column; pass target= instead"
        )
    wanted = [text] if target is None else [text, target]
    for name in wanted:
        if name not in names:
            raise ValueError(
                f"got a {type(texts).__name__} without a column {name!r}; its columns are "
                f"{listed(names)}"
            )
    if target is None and hasattr(topics, "predict"):
        raise ValueError(
            f"got text={text!r} without the column of the responses, one of {listed(names)}, from "
            f"which {type(topics).__name__} learns; pass target= too, or use SpectralLDA for "
            "topics alone"
        )
    if packages_of(texts) & set(WHOLE):
        return texts.select(*wanted), None
    return texts[text], None if target is None else texts[target]


def _names(frame: Any) -> list[Any] | None:
    """Of the columns of a frame; None of anything else."""
    if type(frame).__name__ == "LazyFrame":
        raise ValueError(
            "got a LazyFrame, which has no values yet, but expected a frame; pass collect() of it"
        )
    if packages_of(frame) & set(WHOLE):  # any attribute may be a column
        return list(frame.columns) if type(frame).__name__ == "DataFrame" else None
    if hasattr(frame, "column_names"):  # pyarrow
        return list(frame.column_names)
    is_frame = hasattr(frame, "columns") and getattr(frame, "ndim", 2) == 2
    return list(frame.columns) if is_frame else None
