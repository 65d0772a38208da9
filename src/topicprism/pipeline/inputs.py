"""Texts, counts and responses as they come, in whatever a table's column is."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicprism._typing import Ints
from topicprism.io.tables.columns import EMPTY, NO_RESPONSE, TOO_LARGE
from topicprism.limits import MAX_RESPONSE
from topicprism.scales import is_heavy_tailed
from topicprism.validation import refuse_masked
from topicprism.vectorizer.columns import are_counts
from topicprism.vectorizer.counting import documents, no_string
from topicprism.vectorizer.scripts import UnspacedWarning, unspaced


class MissingValuesWarning(UserWarning):
    """Some documents have no text or no response and were left out."""


class HeavyTailWarning(UserWarning):
    """A few large responses outweigh the rest; their logarithm would not be so."""


@dataclass(frozen=True)
class Batch:
    """Some documents that can be used, and how many rows beside them cannot."""

    docs: Any  # a list of texts, or counts
    y: Any = None  # one response for each, or None
    left_out: Counter[str] = field(default_factory=Counter)  # rows, by reason
    example: str = ""  # where a response is not a number, and which
    done: float | None = None  # share of all rows up to here, if known
    rows: Ints | None = None  # where its documents were, if others were left out

    def __len__(self) -> int:
        return n_of(self.docs)

    @property
    def n_rows(self) -> int:
        return len(self) + self.left_out.total()


def as_documents(X: Any) -> Any:
    """Counts as CSR, texts as a list."""
    refuse_masked(X, "counts X")
    if are_counts(X):
        return X if isinstance(X, csr_array) else csr_array(X)
    return as_list(X)


def n_of(docs: Any) -> int:
    return int(docs.shape[0]) if are_counts(docs) else len(docs)


def as_list(column: Any) -> list[Any]:
    """The values of a list, an array or a column of a table; not copied if a list already."""
    if isinstance(column, list):
        return column
    shape = tuple(getattr(column, "shape", (0,)))
    if len(shape) != 1:
        raise ValueError(
            f"got a {type(column).__name__} of shape {shape}, but expected one "
            "value for each document; pass one column of it, or counts as a sparse matrix"
        )
    for method in ("to_pylist", "tolist", "to_list"):  # pyarrow; numpy and pandas; polars
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(documents(column))


def present(docs: Any, y: list[Any] | None) -> Batch:
    """The documents that have a text and a response."""
    batch = kept(docs, y)
    warn_of_missing(batch.left_out, batch.n_rows)
    return batch


def warn_of_missing(left_out: Counter[str], n: int) -> None:
    if left_out:
        listed = " and ".join(f"{times} with {why}" for why, times in left_out.items())
        warnings.warn(
            f"{left_out.total()} of {n} documents are left out: {listed}",
            MissingValuesWarning,
            stacklevel=4,
        )


def kept(docs: Any, y: list[Any] | None) -> Batch:
    """The same, with nothing said of the others."""
    n = n_of(docs)
    kind = "rows of counts" if are_counts(docs) else "texts"
    if y is not None and len(y) != n:
        raise ValueError(
            f"got {n} {kind} and {len(y)} responses, but expected one response for each "
            "document, in the same order"
        )
    no_text, no_response, too_large = np.zeros((3, n), bool)
    if not are_counts(docs):
        no_text = np.fromiter(map(_no_text, docs), bool, n)
        for i in np.flatnonzero(~no_text).tolist():
            if not isinstance(docs[i], str):
                raise no_string(i, docs[i])
    if y is not None:
        no_response = np.fromiter(map(_missing, y), bool, n) & ~no_text
        too_large = np.fromiter(map(_too_large, y), bool, n) & ~no_text
    reasons = {EMPTY: no_text, NO_RESPONSE: no_response, TOO_LARGE: too_large}
    left_out = +Counter({why: int(rows.sum()) for why, rows in reasons.items()})
    keep = None
    if left_out:
        keep = np.flatnonzero(~(no_text | no_response | too_large))
        docs = docs[keep] if are_counts(docs) else [docs[i] for i in keep]
        y = None if y is None else [y[i] for i in keep]
    return Batch(docs, None if y is None else responses(y), left_out, rows=keep)


def responses(y: list[Any]) -> NDArray[Any]:
    """As an array in which numbers beside strings stay numbers."""
    strings = {isinstance(value, str) for value in y}
    return np.array(y, dtype=object if len(strings) == 2 else None)


def warn_of_unspaced(texts: Sequence[str]) -> None:
    """Words are what spaces set apart."""
    if (what := unspaced(texts)) is not None:
        warnings.warn(what, UnspacedWarning, stacklevel=4)


def warn_of_heavy_tail(y: Any) -> None:
    """Squared errors of a few documents would decide the fit."""
    if is_heavy_tailed(y):
        warnings.warn(
            f"the responses are heavy-tailed: the largest is {np.max(y):,.6g}, the median "
            f"{np.median(y):,.6g}; log=True, or --log of the command, fits their logarithm",
            HeavyTailWarning,
            stacklevel=5,
        )


def _no_text(value: Any) -> bool:
    return _missing(value) or (isinstance(value, str) and not value.strip())


def _too_large(value: Any) -> bool:
    """Infinite, or so large that its cube is no number."""
    number = isinstance(value, (int, float, np.integer, np.floating))
    return number and bool(abs(float(value)) >= MAX_RESPONSE)


def _missing(value: Any) -> bool:
    """None, NaN of any type, pandas' NA and NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(value != value)
