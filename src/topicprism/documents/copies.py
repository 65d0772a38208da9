"""Copies of a document, which are one observation.

A review that a table has six times would be six documents that repeat each other's words, more
than chance explains: a topic of its own.
"""

from __future__ import annotations

import numpy as np

from topicprism.documents.corpus import Corpus, Documents
from topicprism.documents.threads import Threaded

COPY_WORDS = 20  # of documents that are one, if they have the same words equally often: of 200,000
# simulated documents of 10 words over 50 word types some are alike by chance, of 20 words none


def without_copies(docs: Documents) -> Documents:
    """Documents in memory in the order of their keys, each once; others as they are."""
    if isinstance(docs, Threaded):
        corpus = once_each(docs.corpus)
        return docs if corpus is docs.corpus else Threaded(corpus, docs.n_threads)
    return once_each(docs) if isinstance(docs, Corpus) else docs


def once_each(c: Corpus) -> Corpus:
    """The first of each document's copies, with the mean of their responses."""
    again = np.zeros(len(c), bool)
    again[1:] = (c.keys[1:] == c.keys[:-1]) & (c.lengths[1:] >= COPY_WORDS)
    if not again.any():
        return c
    group = np.cumsum(~again) - 1
    mean = np.bincount(group, c.y) / np.bincount(group)
    return c.take(~again).with_response(mean)
