"""Proportions of documents by their words alone, with their responses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from topicprism._typing import Doc, DocTopic
from topicprism.documents.corpus import Corpus
from topicprism.documents.subsets import Subset
from topicprism.documents.sums import Sized
from topicprism.inference import infer
from topicprism.model import Model


@dataclass(frozen=True)
class Inferred(Sized):
    """Proportions, responses and keys of some documents; ``a + b`` are those of both."""

    h: DocTopic
    y: Doc
    keys: NDArray[np.uint64]

    def __add__(self, other: Self) -> Inferred:
        y, keys = (np.concatenate([getattr(x, n) for x in (self, other)]) for n in ("y", "keys"))
        return Inferred(np.vstack([self.h, other.h]), y, keys)


def inferred(c: Corpus, model: Model, subset: Subset) -> Inferred:
    rows = subset.rows(c).long()
    return Inferred(infer(model, rows.counts), rows.y, rows.keys)
