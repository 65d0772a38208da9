"""Documents over the words that occur in them.

A column of zeros bears on no document, but it has a place among the random directions,
a share of what is added to each word's count, and moves the columns after it, by which the keys
of documents go.  So it is left out before anything is learnt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from topicprism._typing import Ints
from topicprism.documents.corpus import Corpus, Documents, Rows
from topicprism.documents.subsets import OfDocuments
from topicprism.documents.threads import Threaded

S = TypeVar("S")


def over_words(docs: Documents, words: Ints) -> Documents:
    """The documents over these of their columns, in increasing order, which are all that occur."""
    if isinstance(docs, Threaded):  # once, so that keys are made once
        return Threaded(of_occurring(docs.corpus, words, _itself), docs.n_threads)
    if (elsewhere := getattr(docs, "over", None)) is not None:
        over: Documents = elsewhere(words)
        return over
    return OccurringWords(docs, words)


@dataclass(frozen=True)
class OccurringWords(OfDocuments):
    """Other documents, over the words that occur, whenever they are summed."""

    docs: Documents
    words: Ints

    @property
    def n_words(self) -> int:
        return len(self.words)

    def total(self, part: Callable[..., S], *shared: Any) -> S:
        found: S = self.docs.total(of_occurring, self.words, part, *shared)
        return found


def of_occurring(c: Corpus, words: Ints, part: Callable[..., S], *shared: Any) -> S:
    at = np.zeros(c.n_words, c.counts.indices.dtype)
    at[words] = np.arange(len(words))
    shape = (len(c), len(words))
    rows = Rows(c.counts.indptr, at[c.counts.indices], c.counts.data, shape)
    return part(Corpus(rows, c.y), *shared)


def _itself(c: Corpus) -> Corpus:
    return c
