"""What a fitted estimator has to show: topics in order, what each does, and how surely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from topicprism._typing import Array, Ints, Topic
from topicprism.model import Model
from topicprism.words import Words, vocabulary

NORMAL = 1.959964  # standard errors on either side that hold 95 %
FEWEST_DRAWS = 20  # for an interval
WORDS, PRIOR = "of words", "of the prior"  # what a share is a share of


@dataclass(frozen=True)
class Effects:
    """Topics as they are shown; without a response, ``coef`` is None."""

    model: Model
    words: Words
    coef: Topic | None
    interval: tuple[Topic, Topic] | None  # of 95 %, if known
    response: str  # what the coefficients are of
    average: float  # response of the training documents, or of a corpus as the model sees it
    share: Topic  # how much each topic is
    share_of: str  # and of what
    left: tuple[float, float] | None = None  # range of responses, if a coefficient left it

    def said(self, value: float) -> str:
        """A coefficient or a difference of some, to a hundredth of their range or finer."""
        assert self.coef is not None
        span = max(self.coef.max() - self.coef.min(), 1e-3 * np.abs(self.coef).max(), 1e-100)
        digits = int(np.clip(2 - np.floor(np.log10(span)), 0, 12))
        return f"{value:z.{digits}f}" if span < 1e6 else f"{value:.3g}"

    @property
    def order(self) -> Ints:
        """The least effect first; without a response, the largest share."""
        return np.argsort(-self.share if self.coef is None else self.coef, kind="stable")


def effects(topics: Any, words: Any = None, label: Any = None, info: Any = None) -> Effects:
    """Of a fitted estimator; ``label`` is the class to look at, when there are several.

    ``info`` is a pipeline's, which knows the mean response of the training documents, and how
    large topics are in some.
    """
    names = getattr(topics, "feature_names_in_", None) if words is None else words
    model: Model = topics.model_
    coef: Any = getattr(topics, "coef_", None)
    draws: Any = getattr(topics, "coef_draws_", None)
    response = "response"
    if hasattr(topics, "classes_"):
        at = _class(topics.classes_, label)
        response = f"tendency to {topics.classes_[at]}"
        if np.ndim(coef) == 2:
            coef, draws = coef[at], None if draws is None else draws[:, at]
        elif at == 0:
            coef, draws = -coef, None if draws is None else -draws
    interval = None if coef is None else _interval(coef, getattr(topics, "coef_std_", None), draws)
    average, named = _average(model, coef, info), vocabulary(names, model.n_words)
    share, of = shares(model, info)
    left = range_left(coef, info)
    return Effects(model, named, coef, interval, response, average, share, of, left)


def shares(model: Model, info: Any) -> tuple[Topic, str]:
    """How much each topic is, and of what: of words as ``info`` has it, else of the prior."""
    match info:
        case {"shares": [*known]} if _shares_of(known, model.n_topics):
            return np.array(known, float), WORDS
    share: Topic = model.alpha / model.alpha.sum()
    return share, PRIOR


def _shares_of(known: list[Any], n_topics: int) -> bool:
    """A file may have been written by anyone."""
    return len(known) == n_topics and all(type(x) is float and 0 <= x <= 1 for x in known)


def _average(model: Model, coef: Any, info: Any) -> float:
    match info:
        case {"response": {"mean": float(mean)}}:
            return mean
    return 0.0 if coef is None else float(coef @ model.alpha / model.alpha.sum())


def range_left(coef: Any, info: Any) -> tuple[float, float] | None:
    """The range of the training responses, if ``info`` has it and a coefficient lies beyond.

    No document is all of one topic, so that this is no mistake.
    """
    match info:
        case {"response": {"min": float(low), "max": float(high)}} if coef is not None:
            return (low, high) if np.min(coef) < low or np.max(coef) > high else None
    return None


def percent(share: float) -> str:
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"


def _class(classes: Any, label: Any) -> int:
    """Which class to look at: the last, if none is named."""
    if label is None:
        return len(classes) - 1
    found = np.flatnonzero(classes == label)
    if len(found) == 0:
        listed = ", ".join(map(repr, classes.tolist()))
        raise ValueError(f"label={label!r}, but expected one of {listed}; choose one of these")
    return int(found[0])


def _interval(coef: Topic, std: Any, draws: Array | None) -> tuple[Topic, Topic] | None:
    """By standard errors, or by draws if it is their mean that the coefficients are."""
    if std is not None:
        return coef - NORMAL * std, coef + NORMAL * std
    if draws is None or len(draws) < FEWEST_DRAWS or not np.allclose(draws.mean(axis=0), coef):
        return None
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    return low, high
