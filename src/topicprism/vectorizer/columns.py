"""Counts that are there already, in the place of a vectoriser; and names of rows and columns."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Set
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted


class PrecomputedCounts(BaseEstimator):
    """The first step of a pipeline that takes counts: they pass, their columns have names.

    Parameters
    ----------
    vocabulary : collection of str, mapping of str to int or None, default=None
        The word of each column, as ``get_feature_names_out()`` or ``vocabulary_`` of a
        vectoriser; without it columns are called x0, x1, ..., as scikit-learn calls them.

    Attributes
    ----------
    n_features_in_ : int
        Columns.
    """

    def __init__(self, *, vocabulary: Collection[str] | Mapping[str, int] | None = None) -> None:
        self.vocabulary = vocabulary

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: object = None) -> Self:
        """Look whether there is a word for each column."""
        n = _checked(X).shape[1]
        if self.vocabulary is not None:
            words = columns_of(self.vocabulary)
            if isinstance(self.vocabulary, Set) or len(words) != n:
                raise ValueError(
                    f"got a {type(self.vocabulary).__name__} of {len(words)} words as vocabulary "
                    f"of counts with {n} columns, but expected the word of each column, in order; "
                    "pass the vectoriser's get_feature_names_out()"
                )
        self.n_features_in_ = n
        return self

    def fit_transform(self, X: Any, y: object = None) -> Any:
        """Fit, then the counts as they came."""
        return self.fit(X).transform(X)

    def transform(self, X: Any) -> Any:
        """The counts as they came; it is for the estimator to look into them."""
        check_is_fitted(self)
        return _checked(X)

    def set_output(self, *, transform: object = None) -> Self:
        """Counts stay as they are whatever is asked: a pipeline asks it of its topics."""
        return self

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The word of each column."""
        check_is_fitted(self)
        if self.vocabulary is not None:
            return np.array(columns_of(self.vocabulary), dtype=object)
        return np.array([f"x{i}" for i in range(self.n_features_in_)], dtype=object)


def are_counts(X: Any) -> bool:
    """A matrix of numbers, sparse or not."""
    matrix = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf"
    return matrix or issparse(X)


def with_index_of(texts: Any, counts: csr_array) -> csr_array:
    """Counts that remember the index of a pandas Series of texts, for :func:`indexed_like`.

    In a pipeline they are all that the next step gets to see.
    """
    pandas: Any = sys.modules.get("pandas")
    if pandas is not None and isinstance(texts, pandas.Series):
        counts.row_index = texts.index  # type: ignore[attr-defined]
    return counts


def indexed_like(X: Any, frame: Any) -> Any:
    """A frame of pandas' with the index of its Series of texts, or of the counts of these."""
    pandas: Any = sys.modules.get("pandas")
    if pandas is None or not isinstance(frame, pandas.DataFrame):
        return frame
    index = X.index if isinstance(X, pandas.Series) else getattr(X, "row_index", None)
    return frame if index is None or len(index) != len(frame) else frame.set_axis(index)


def _checked(X: Any) -> Any:
    if not are_counts(X):
        raise ValueError(
            f"got a {type(X).__name__}, but this pipeline was made for word counts: expected a "
            "sparse matrix or a two-dimensional array; count the words of texts first, over the "
            "same columns"
        )
    return X


def columns_of(vocabulary: Any) -> list[str]:
    """The terms in the order of the columns: as a mapping says, a set sorted, others as given."""
    if not are_strings(vocabulary):
        raise ValueError(
            f"vocabulary={vocabulary!r:.60}, expected a collection of strings or a mapping to "
            "columns; pass a list of terms"
        )
    names = list(vocabulary)
    if isinstance(vocabulary, Mapping):
        names.sort(key=vocabulary.__getitem__)
        columns = [vocabulary[name] for name in names]
        if columns != list(range(len(names))):
            raise ValueError(
                f"vocabulary maps {len(names)} terms to columns {columns[:9]}, expected 0 to "
                f"{len(names) - 1}, each once; pass a list of the terms to number them"
            )
    elif isinstance(vocabulary, Set):
        names.sort()
    if not names:
        raise ValueError(
            "vocabulary has no terms, expected one at least; pass None to learn them from texts"
        )
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"vocabulary has {twice!r} twice, expected each term once; remove one")
    return names


def are_strings(words: Any) -> bool:
    """A generator does not do: it would be empty the second time."""
    is_collection = isinstance(words, Collection) and not isinstance(words, (str, bytes))
    return is_collection and all(isinstance(word, str) for word in words)
