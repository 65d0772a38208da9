"""Responses of documents that tell something."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicprism._typing import Counts, Doc
from topicprism.estimators.base import lengths_of, varied


def with_words(counts: Counts, y: Any, name: str) -> tuple[Counts, Doc]:
    """Documents that are not empty, with their responses, if these vary.

    No topic is known from the others, whose responses would be noise to coefficients.
    """
    y, full = varied(y, counts.shape[0], name), lengths_of(counts) > 0
    return (counts, y) if full.all() or not vary(y[full]) else (counts[full], y[full])


def vary(y: Doc) -> bool:
    return len(y) > 0 and bool(np.ptp(y) > 0)
