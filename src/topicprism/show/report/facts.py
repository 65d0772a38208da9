"""The facts about a fitted model as plain values, ready for JSON.

Topics are numbered from 1 here: topic i is row i - 1 of ``components_``.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from topicprism.scales import Scale
from topicprism.show.citations import Source
from topicprism.show.effects import GEOMETRIC_MEAN


@dataclass(frozen=True)
class Packed:
    """An array of float64: its shape, which entries are not zero (bits), and those; base64."""

    shape: tuple[int, ...]
    mask: str
    values: str


@dataclass(frozen=True)
class Word:
    text: str
    in_topic: float  # probability in the topic
    overall: float  # probability in the average document


@dataclass(frozen=True)
class Topic:
    number: int
    name: tuple[str, ...]  # its most relevant words
    share: float  # as described by Summary.share_of
    effect: float | None  # response expected of a document of this topic only
    low: float | None  # ends of its interval of 95 %
    high: float | None
    found_again: bool | None  # in two halves of the documents; None: not tried
    place: tuple[float, float]  # on the map
    probable: tuple[Word, ...]
    relevant: tuple[Word, ...]


@dataclass(frozen=True)
class Piece:
    """A stretch of a document, and the topic its word most probably came from."""

    text: str
    topic: int | None = None
    certainty: float = 0.0


@dataclass(frozen=True)
class Example:
    topic: int  # the topic that it is an example of
    shares: tuple[float, ...]  # of every topic
    observed: float | None
    predicted: float | None
    pieces: tuple[Piece, ...]
    whole: bool  # or the beginning only


@dataclass(frozen=True)
class QuantileGroup:
    """A group of documents from ``low`` to ``high``, and quantiles of something in it."""

    low: float
    high: float
    n: int
    quantiles: tuple[float, ...]  # at LEVELS


@dataclass(frozen=True)
class Fit:
    """Predictions beside what was observed; residuals are observed less predicted."""

    n: int
    held_out: bool | None  # None: not known
    pr2: float
    rmse: float
    points: tuple[tuple[float, float], ...]  # observed and predicted, of some documents
    by_observed: tuple[QuantileGroup, ...]  # predictions
    by_predicted: tuple[QuantileGroup, ...]  # residuals
    edges: tuple[float, ...]  # of the histogram of residuals
    heights: tuple[int, ...]


@dataclass(frozen=True)
class Trial:
    """How good a number of topics was; None is not known."""

    n_topics: int
    alpha0: float
    pr2: float
    pr2_std: float
    log_likelihood: float | None = None
    coherence: float | None = None
    exclusivity: float | None = None
    n_in_common: int | None = None


@dataclass(frozen=True)
class Reason:
    parameter: str
    value: float
    why: str


@dataclass(frozen=True)
class Choice:
    """How many topics, and why."""

    n_topics: int
    n_tried: int  # of the numbers tried, the one taken: some of its topics may have been dropped
    spectrum: tuple[float, ...]
    threshold: float | None  # an eigenvalue below it may be sampling noise
    trials: tuple[Trial, ...]
    reasons: tuple[Reason, ...]
    method: str = ""  # which one, in words; "": as the estimator's name says


@dataclass(frozen=True)
class Reading:
    """How a text becomes terms."""

    lowercase: bool
    stop_words: tuple[str, ...]
    ngram_range: tuple[int, int]
    too_common: tuple[str, ...] = ()  # most of the terms in too many documents to count


@dataclass(frozen=True)
class Parameters:
    """The parameters needed to infer the topics and response of a document."""

    words: tuple[str, ...]
    mu: Packed
    alpha: tuple[float, ...]
    eta: tuple[float, ...]
    noise_variance: float
    burstiness: float
    predictive_variance: tuple[float, float]  # (a, b): Var[y | words] is a + b Var[eta . h | words]
    features: str  # what eta multiplies: "mixture" or "assignments"
    max_sweeps: int
    tolerance: float


@dataclass(frozen=True)
class Summary:
    title: str
    sentences: tuple[str, ...]  # the whole in words
    response: str | None  # its name; None for topics alone
    n_documents: int | None  # that the model was learnt from
    left_out: tuple[tuple[str, int], ...]  # reason, documents
    topics: tuple[Topic, ...]
    order: tuple[int, ...]  # numbers of the topics, as they are listed
    share_of: str  # what shares of topics are of: words of documents, or the prior
    common: float  # probability from which on words are common
    mapped: float  # share of the differences between topics that the map shows
    expected: float | None  # response of the average document
    scale: Scale  # that the response was fitted on; ``fit`` and ``scores`` are on it
    left: tuple[float, float] | None  # range of the responses, if an effect lies beyond it
    decimals: int  # that a response is shown with
    predicts: bool  # whether responses held out are predicted, as far as that was tried
    examples: tuple[Example, ...]
    fit: Fit | None
    scores: tuple[tuple[str, float], ...]  # pR2, best first
    choice: Choice
    reading: Reading | None  # None: not as FastCountVectorizer does
    parameters: Parameters
    about: tuple[tuple[str, str], ...]  # settings and circumstances
    sources: tuple[Source, ...]  # whose method it is

    @property
    def mean_of(self) -> str:
        """What effects and predictions are, to be followed by the name of the response."""
        return "expected" if self.scale is None else f"{GEOMETRIC_MEAN} of"

    @property
    def fitted_response(self) -> str:
        """What was fitted, by its name."""
        return str(self.response) if self.scale is None else f"log {self.response}"

    def to_json(self) -> str:
        return json.dumps(asdict(self), allow_nan=False)
