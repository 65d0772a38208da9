"""What is shown of a fitted estimator, and how its numbers are written.

The page, the notebook, the plots and the command take coefficients, intervals, shares and the
order of topics from ``effects``, and the digits of each number from the functions below it.
What an interval is, ``_interval`` alone decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from topicprism._typing import Ints, Topic, Word
from topicprism.evaluation import SAME_TOPIC, Z95
from topicprism.model import Model
from topicprism.scales import LOG1P, Scale, fitted, unscaled
from topicprism.show.words import WEIGHT, Words, top_ids, vocabulary

MAX_DECIMALS = 9
RESPONSE, CLASS = "response", "tendency to "  # what coefficients are of, the latter and a label
WORDS, PRIOR = "of words", "of the prior"  # what a share is a share of
UNKNOWN = "unknown"
FOUND_AGAIN = (  # when a topic is
    "both halves of the documents, each fitted alone, have the topic shown; in common with "
    "each other they may have more or fewer, since small topics and like ones are not counted there"
)
MEASURES_OF_WORDS = (  # of a number of topics that was tried
    "coherence is the NPMI of a topic's ten most probable words, exclusivity the share of these "
    "words that is the topic's own; in common are topics of one half of the documents that the "
    "other half has, too, less small ones and those like others: more or fewer than are found again"
)
GEOMETRIC_MEAN = "geometric mean"
NOT_PREDICTED = (
    "The words do not predict the response: topics and coefficients of one half of the documents "
    "predict the other half no better than its mean.  Coefficients are shown without intervals "
    "and should not be interpreted."
)


@dataclass(frozen=True)
class Effects:
    """Topics as they are shown; without a response, ``coef`` is None."""

    model: Model
    words: Words
    coef: Topic | None
    std: Topic | None  # standard errors of the coefficients, if known
    interval: tuple[Topic, Topic] | None  # of 95 %, if known
    response: str  # what the coefficients are of
    average: float  # response of the training documents, or of a corpus as the model sees it
    share: Topic  # how much each topic is
    share_of: str  # and of what
    observed: tuple[float, float] | None = None  # range of the training responses, if known
    scale: Scale = None  # that the response was fitted on; all above is on its own
    replication: Topic | None = None  # similarity of each topic in two halves of the documents
    r2: float | None = None  # of responses predicted by topics of the other half

    @property
    def order(self) -> Ints:
        """The least coefficient first; without a response, the largest share."""
        return np.argsort(-self.share if self.coef is None else self.coef, kind="stable")

    @property
    def left(self) -> tuple[float, float] | None:
        """The range of the training responses, if a coefficient lies beyond it.

        Documents mix topics, so this is an extrapolation, not an error.
        """
        if self.coef is None or self.observed is None:
            return None
        low, high = self.observed
        return self.observed if self.coef.min() < low or self.coef.max() > high else None

    def place(self, value: float) -> float:
        """Where a response is drawn: on the scale that was fitted."""
        return float(fitted(self.scale, value))

    @property
    def label(self) -> str:
        """What the coefficients are of, and that they are geometric means where they are."""
        return self.response if self.scale is None else f"{self.response} ({GEOMETRIC_MEAN})"

    @property
    def predicts(self) -> bool:
        """Whether topics predict responses that had no part in them, as far as that was tried."""
        return self.r2 is None or self.r2 > 0 or self.model.n_topics == 1

    def found_again(self, i: int) -> bool | None:
        """Whether two halves of the documents both have the topic; None if it was not tried."""
        return None if self.replication is None else bool(self.replication[i] >= SAME_TOPIC)

    def ends(self, i: int) -> tuple[float, float] | None:
        """The interval of a topic, if it is known."""
        if self.interval is None:
            return None
        low, high = (float(end[i]) for end in self.interval)
        return (low, high) if math.isfinite(low) and math.isfinite(high) else None

    @property
    def decimals(self) -> int:
        """Of a coefficient, its interval or a response.

        Enough to tell coefficients apart, or responses where these are closer together, and up
        to two more for the first digit of a standard error, by the median of them.
        """
        if self.coef is None:
            return 0
        if self.scale is not None:  # a ratio is to be read off: two digits of the least
            least = float(self.coef.min()) + (self.scale == LOG1P)
            return decimals(10 * least)
        size = float(np.ptp(self.coef)) or float(np.abs(self.coef).max())
        if self.observed is not None and self.observed[0] < self.observed[1]:
            size = min(size, self.observed[1] - self.observed[0])
        enough = decimals(size)
        known = [ends for i in range(len(self.coef)) if (ends := self.ends(i)) is not None]
        error = float(np.median([high - low for low, high in known] or [0])) / (2 * Z95)
        wanted = decimals(100 * error) if error > 0 else enough
        return min(max(enough, wanted), enough + 2, MAX_DECIMALS)

    @property
    def word_probabilities(self) -> Word:
        """Of documents in which topics have these shares."""
        p: Word = self.model.mu @ self.share
        return p

    def top_ids(self, n: int, by: str = "relevance", weight: float = WEIGHT) -> list[Ints]:
        """Columns of the words that describe each topic, best first."""
        return top_ids(self.model, n, by, weight, self.word_probabilities, self.share)

    def top_words(self, n: int, by: str = "relevance", weight: float = WEIGHT) -> list[list[str]]:
        """The words themselves."""
        return [[str(self.words[w]) for w in ids] for ids in self.top_ids(n, by, weight)]

    def format_effect(self, value: float) -> str:
        """A coefficient."""
        return fixed(value, self.decimals)

    def format_interval(self, i: int) -> str:
        """The interval of a topic."""
        return between(self.ends(i), self.decimals)


def effects(fitted: Any, words: Any = None, label: Any = None, info: Any = None) -> Effects:
    """Of a fitted estimator, or of a pipeline that ends in one.

    ``label`` is the class to look at, when there are several.  ``info`` is a pipeline's, which
    knows the responses of the training documents, and how large topics are in some.
    """
    topics = fitted
    if isinstance(fitted, Pipeline):
        topics = fitted[-1]
        words = fitted[:-1].get_feature_names_out() if words is None else words
        info = getattr(fitted, "info", None) if info is None else info
    names = getattr(topics, "feature_names_in_", None) if words is None else words
    model: Model = topics.model_
    coef, std, response = _coefficients(topics, label)
    share, of = shares(model, info)
    facts = info if response == RESPONSE else None  # the responses of a classifier are labels
    scale = _scale(facts)
    interval = None if coef is None or std is None else _interval(coef, std)
    return Effects(
        model=model,
        words=vocabulary(names, model.n_words),
        coef=None if coef is None else unscaled(scale, coef),
        std=std if scale is None else None,
        interval=interval and (unscaled(scale, interval[0]), unscaled(scale, interval[1])),
        response=response,
        average=_average(model, coef, facts, scale),
        share=share,
        share_of=of,
        observed=_observed(facts),
        scale=scale,
        replication=getattr(topics, "replication_", None),
        r2=getattr(topics, "cross_fitted_r2_", None),
    )


def _interval(coef: Topic, std: Topic) -> tuple[Topic, Topic] | None:
    """The 95 % intervals of the coefficients, or None: their only definition.

    Standard errors are NaN for a topic that was not found again, and for all topics where nothing
    held out is predicted.
    """
    if np.isnan(std).all():
        return None
    return coef - Z95 * std, coef + Z95 * std


def _coefficients(topics: Any, label: Any) -> tuple[Topic | None, Topic | None, str]:
    """Coefficients, their standard errors where there are any, and what they are of."""
    coef, std = (getattr(topics, name, None) for name in ("coef_", "coef_std_"))
    if coef is None or not hasattr(topics, "classes_"):
        return coef, std, RESPONSE
    at = _class(topics.classes_, label)
    response = f"{CLASS}{topics.classes_[at]}"
    if np.ndim(coef) == 2:
        return coef[at], None, response
    return -coef if at == 0 else coef, None, response


def _class(classes: Any, label: Any) -> int:
    """Which class to look at: the last, if none is named."""
    if label is None:
        return len(classes) - 1
    found = np.flatnonzero(classes == label)
    if len(found) == 0:
        listed = ", ".join(map(repr, classes.tolist()))
        raise ValueError(f"label={label!r}, but expected one of {listed}; choose one of these")
    return int(found[0])


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


def _average(model: Model, coef: Any, info: Any, scale: Scale) -> float:
    match info:
        case {"response": {"mean": float(mean)}} if scale is None:
            return mean
    return 0.0 if coef is None else float(unscaled(scale, coef @ model.alpha / model.alpha.sum()))


def _scale(info: Any) -> Scale:
    match info:
        case {"log": str(scale)}:
            return scale
    return None


def _observed(info: Any) -> tuple[float, float] | None:
    match info:
        case {"response": {"min": float(low), "max": float(high)}}:
            return low, high
    return None


# --- numbers in print: for the terminal and plots as they are, for HTML by markup.typeset ---


def decimals(size: float) -> int:
    """As many as tell numbers apart that differ by some hundredths of ``size``."""
    return min(max(2 - math.floor(math.log10(size)), 0), MAX_DECIMALS) if size > 0 else 2


def fixed(value: float, places: int) -> str:
    """With so many decimals; what is zero then has no sign."""
    return f"{value:z,.{places}f}" if abs(value) < 1e12 else f"{value:.3g}"


def between(ends: tuple[float, float] | None, places: int) -> str:
    """An interval."""
    return UNKNOWN if ends is None else " to ".join(fixed(end, places) for end in ends)


def percent(share: float) -> str:
    """A share: two digits, of small ones one decimal."""
    text = f"{100 * share:.0f}" if share >= 0.095 or share == 0 else f"{100 * share:.1f}"
    return ("<0.1" if text == "0.0" else text) + "%"
