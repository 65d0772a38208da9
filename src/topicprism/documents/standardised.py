"""Documents with a standardised response, so that its units leave no trace in a fit.

Learning takes y as t = (y - centre) / scale.  Where documents are few, a last digit may decide
between topics that explain them as well, and y in other units has other last digits.  So t is
rounded to 2^-20, far below what any response is known to: then the same documents give the same
topics in any units (of the same sign), to the last bit.

Topics of words alone are learnt with a response of zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from topicprism._typing import Doc
from topicprism.documents.corpus import Corpus, Documents
from topicprism.documents.subsets import OfDocuments, in_key_order
from topicprism.documents.threads import Threaded
from topicprism.model import ResponseScale

S = TypeVar("S")
STEPS = 2.0**20  # in one standard deviation of the response: finer than any response is known


@dataclass(frozen=True)
class StandardisedDocuments(OfDocuments):
    """Other documents, whose responses are (y - centre) / scale."""

    docs: Documents
    scale: ResponseScale

    @property
    def mirrored(self) -> StandardisedDocuments:
        """The same documents with the responses turned round."""
        return replace(self, scale=replace(self.scale, scale=-self.scale.scale))

    def in_key_order(self, n_documents: int) -> StandardisedDocuments:
        ordered = in_key_order(self.docs, n_documents)
        return self if ordered is self.docs else StandardisedDocuments(ordered, self.scale)

    def total(self, part: Callable[..., S], *shared: Any) -> S:
        found: S = self.docs.total(of_standardised, self.scale, part, *shared)
        return found


def of_standardised(c: Corpus, scale: ResponseScale, part: Callable[..., S], *shared: Any) -> S:
    return part(c.with_response(standardised(c.y, scale)), *shared)


def standardised(y: Doc, scale: ResponseScale) -> Doc:
    t: Doc = np.rint(scale.standardised(y) * STEPS) / STEPS
    return t


def without_response(docs: Documents) -> Documents:
    """The same documents with a response of zeros."""
    if isinstance(docs, Corpus):
        return docs.with_response(np.zeros(len(docs)))
    if isinstance(docs, Threaded):
        return docs.with_response(np.zeros(len(docs.corpus)))
    return DocumentsWithoutResponse(docs)


@dataclass(frozen=True)
class DocumentsWithoutResponse(OfDocuments):
    """Other documents, whose responses are not looked at."""

    docs: Documents

    def in_key_order(self, n_documents: int) -> Documents:
        ordered = in_key_order(self.docs, n_documents)
        return self if ordered is self.docs else without_response(ordered)

    def total(self, part: Callable[..., S], *shared: Any) -> S:
        found: S = self.docs.total(of_zeros, part, *shared)
        return found


def of_zeros(c: Corpus, part: Callable[..., S], *shared: Any) -> S:
    return part(c.with_response(np.zeros(len(c))), *shared)
