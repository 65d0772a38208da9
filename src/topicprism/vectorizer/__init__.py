r"""Raw strings to word counts, equal to scikit-learn's and several times faster.

A token is a longest run of two or more characters that :mod:`re` calls ``\w``; a term is a token,
or an n-gram of tokens joined by spaces.  This module is the door: parameters are checked here, and
the work is done in ``text.counting``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from topicprism.defaults import AUTO
from topicprism.validation import check_jobs
from topicprism.vectorizer.columns import PrecomputedCounts, columns_of, with_index_of
from topicprism.vectorizer.counting import (
    Analysis,
    CountedTexts,
    Vocabulary,
    absorb,
    assemble,
    chosen,
    documents,
    given,
    merge,
)
from topicprism.vectorizer.lexicon import Lexicon
from topicprism.vectorizer.stop_lists import stop_words
from topicprism.vectorizer.tally import Tally, choose, too_common

__all__ = ["FastCountVectorizer", "PrecomputedCounts", "Tally", "stop_words"]


class FastCountVectorizer(BaseEstimator):
    """Counts of words in documents, as scikit-learn's ``CountVectorizer`` counts them.

    Parameters
    ----------
    lowercase : bool, default=True
        Apply ``str.lower`` to each document first.
    stop_words : {"english", "english-neutral"}, collection of str or None, default=None
        Tokens to leave out, before n-grams are formed: scikit-learn's list for English; the same
        less negations and other words that tell something, which is what ``topicprism.fit``
        leaves out; or your own.
    ngram_range : (int, int), default=(1, 1)
        Least and greatest number of tokens in a term.
    max_df, min_df : int or float, default=1.0 and 1
        Keep terms of at most, at least, so many documents; a float is a share of all documents.
        ``min_df="auto"`` is 5, or 1 where that would leave fewer than 6 terms of a document on
        average.
    max_features : int or None, default=None
        Keep the terms that occur most, at most so many.
    vocabulary : collection of str, mapping of str to int or None, default=None
        The columns, instead of learning them; the three parameters above then do nothing.
    dtype : dtype, default=np.int64
        Type of the counts.
    n_jobs : int or None, default=None
        Threads, in the sense of joblib: None is one, -1 all cores.  The result is the same.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        Column of each term.  Columns are in alphabetical order, unless ``vocabulary`` is given.

    Notes
    -----
    ``texts`` is any iterable of str: a list, an array, a pandas Series, a pyarrow string array, a
    generator.  What does not fit in memory passes twice: ``partial_fit`` each batch, then
    ``transform`` each batch.

    Examples
    --------
    >>> from topicprism.vectorizer import FastCountVectorizer
    >>> vectorizer = FastCountVectorizer()
    >>> vectorizer.fit_transform(["The cat sat.", "the CAT, the dog"]).toarray()
    array([[1, 0, 1, 1],
           [1, 1, 0, 2]])
    >>> vectorizer.get_feature_names_out()
    array(['cat', 'dog', 'sat', 'the'], dtype=object)
    """

    def __init__(
        self,
        *,
        lowercase: bool = True,
        stop_words: str | Collection[str] | None = None,
        ngram_range: tuple[int, int] = (1, 1),
        max_df: float = 1.0,
        min_df: float | str = 1,
        max_features: int | None = None,
        vocabulary: Collection[str] | Mapping[str, int] | None = None,
        dtype: DTypeLike = np.int64,
        n_jobs: int | None = None,
    ) -> None:
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.ngram_range = ngram_range
        self.max_df = max_df
        self.min_df = min_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.dtype = dtype
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return self.vocabulary is not None or hasattr(self, "_statistics")

    def fit(self, texts: Any, y: object = None) -> FastCountVectorizer:
        """Learn the vocabulary of these documents, and forget others."""
        self._learn(texts, keep=False)
        return self

    def fit_transform(self, texts: Any, y: object = None) -> csr_array:
        """Learn the vocabulary and count, in one pass over the documents."""
        counts = self._learn(texts, keep=True)
        assert counts is not None  # it was to be kept
        return with_index_of(texts, counts)

    def partial_fit(self, texts: Any, y: object = None) -> FastCountVectorizer:
        """Add these documents to those of earlier calls, and to those of ``fit``.

        ``min_df``, ``max_df`` and ``max_features`` apply when the vocabulary is first needed.  A
        batch that is refused leaves no trace.
        """
        analysis = self._analysis()
        if self.vocabulary is not None:
            self._learn(texts, keep=False)
            return self
        before: Tally | None = getattr(self, "_statistics", None)
        if before is None and hasattr(self, "_vocabulary"):
            raise ValueError(
                "got more documents for a vocabulary without word counts, as it comes from a "
                "file, but expected one learnt here; fit all documents anew"
            )
        if before is not None and before.pruned:
            raise ValueError(
                "got more documents for a vocabulary of a tally that lacks rare terms, but "
                "expected one of all terms; add up their tallies before Tally.frequent"
            )
        counted = analysis.run(texts, known=None, keep=False)
        lexicons = [*([before.lexicon] if before else []), *counted.lexicons]
        n_docs = counted.n_docs + (before.n_docs if before else 0)
        self._statistics: Tally | None = Tally(absorb(lexicons)[0], n_docs)
        self._vocabulary: Vocabulary | None = None
        return self

    def tally(self, texts: Any) -> Tally:
        """The terms of these documents, to be added up with those of others for :meth:`learn`."""
        return self.tally_of(CountedTexts(self._analysis().run(texts, known=None, keep=False)))

    def learn(self, tally: Tally) -> FastCountVectorizer:
        """The vocabulary of the documents whose terms these are: as ``fit`` on all of them."""
        self._analysis()
        lexicon = merge([tally.lexicon])[0]
        self._statistics = Tally(lexicon, tally.n_docs, tally.pruned)
        self._vocabulary = None
        self._current()
        if self.vocabulary is not None:  # the words are given: frequencies decide nothing
            self._statistics = None
        return self

    def count(self, texts: Any) -> CountedTexts:
        """The documents in terms of their own, for :meth:`tally_of` and :meth:`transform`."""
        return CountedTexts(self._analysis().run(texts, known=None, keep=True))

    @staticmethod
    def tally_of(counted: CountedTexts) -> Tally:
        return Tally(merge(counted.counted.lexicons)[0], counted.counted.n_docs)

    def transform(self, texts: Any) -> csr_array:
        """Counts of the terms of the vocabulary, one row per document."""
        if isinstance(texts, CountedTexts):
            return texts.matrix(self._current(), self.dtype)
        v, analysis = self._current(), self._analysis()
        counted = analysis.run(texts, known=v.lexicon, keep=True)
        columns = [v.columns] * analysis.n_jobs
        counts = assemble(counted, columns, len(v.names), self.dtype, analysis.n_jobs)
        return with_index_of(texts, counts)

    def set_output(self, *, transform: object = None) -> FastCountVectorizer:
        """Counts stay sparse whatever is asked, so that a pipeline can ask it of its topics."""
        return self

    @property
    def vocabulary_(self) -> dict[str, int]:
        return self._current().names

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The terms, in the order of the columns."""
        names = self._current().names
        return np.array(sorted(names, key=names.__getitem__), dtype=object)

    def too_common(self, most: int = 50) -> list[str]:
        """Terms left out by ``max_df``, the most common first; none if it was read from a file."""
        statistics: Tally | None = getattr(self, "_statistics", None)
        return [] if statistics is None else too_common(statistics, self.max_df, most)

    @classmethod
    def from_vocabulary(cls, words: list[str], **params: Any) -> FastCountVectorizer:
        """As fitted on documents from which it learnt these words, in this order."""
        made = cls(**params)
        made._analysis()
        made._statistics, made._vocabulary = None, given(words)
        return made

    def _learn(self, texts: Any, keep: bool) -> csr_array | None:
        """``fit``, and the matrix if it is to be kept."""
        analysis = self._analysis()
        if self.vocabulary is not None:
            documents(texts)
            self._statistics, self._vocabulary = None, given(columns_of(self.vocabulary))
            return self.transform(texts) if keep else None
        counted = analysis.run(texts, known=None, keep=keep)
        lexicon, numbers = absorb(counted.lexicons)
        statistics = Tally(lexicon, counted.n_docs)
        kept = choose(statistics, self.min_df, self.max_df, self.max_features)
        self._statistics, self._vocabulary = statistics, chosen(lexicon, kept)
        if not keep:
            return None
        column = np.full(lexicon.size[0], -1)
        column[kept] = np.arange(len(kept))
        columns = [column[n] for n in numbers]
        return assemble(counted, columns, len(kept), self.dtype, analysis.n_jobs)

    def _current(self) -> Vocabulary:
        """The vocabulary, chosen now if documents have come since the last time."""
        vocabulary: Vocabulary | None = getattr(self, "_vocabulary", None)
        if vocabulary is not None:
            return vocabulary
        if self.vocabulary is not None:
            return given(columns_of(self.vocabulary))
        statistics: Tally | None = getattr(self, "_statistics", None)
        if statistics is None:
            raise NotFittedError(
                "this FastCountVectorizer has no vocabulary, expected one learnt from documents; "
                "call fit or partial_fit first, or pass vocabulary="
            )
        kept = choose(statistics, self.min_df, self.max_df, self.max_features)
        self._vocabulary = chosen(statistics.lexicon, kept)
        return self._vocabulary

    def _analysis(self) -> Analysis:
        """The parameters that say what a term is, all parameters being checked."""
        lo, hi = _orders(self.ngram_range)
        if self.min_df != AUTO:
            _check_df("min_df", self.min_df)
        _check_df("max_df", self.max_df)
        limit = self.max_features
        if limit is not None and not (isinstance(limit, Integral) and limit >= 1):
            raise ValueError(
                f"max_features={limit!r}, expected an integer >= 1 or None; None keeps all terms"
            )
        check_jobs(self.n_jobs)
        stop = _stop_table(stop_words(self.stop_words))
        return Analysis(self.lowercase, stop, lo, hi, effective_n_jobs(self.n_jobs))


def _orders(ngram_range: Any) -> tuple[int, int]:
    match ngram_range:
        case (Integral() as lo, Integral() as hi) if 1 <= int(lo) <= int(hi):
            return int(lo), int(hi)
    raise ValueError(
        f"ngram_range={ngram_range!r}, expected integers (least, greatest) with 1 <= least <= "
        "greatest; use (1, 1) for single words"
    )


def _check_df(name: str, value: Any) -> None:
    is_real = isinstance(value, Real)
    whole = isinstance(value, Integral)
    if not is_real or not (value >= 1 if whole else 0 <= value <= 1):
        raise ValueError(
            f"{name}={value!r}, expected an integer >= 1 or a float in [0, 1]; an integer counts "
            "documents, a float is a share of them"
        )


@lru_cache(maxsize=16)
def _stop_table(words: frozenset[str]) -> Lexicon:
    """Where tokens to leave out are looked up; made once, for every call needs it."""
    return given(sorted(words)).lexicon
