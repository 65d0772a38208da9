"""The request of a fit, its result, and the wording of its reasons."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

import numpy as np

from topicprism._typing import Array, Ints, Topic
from topicprism.defaults import REGIMES
from topicprism.documents.corpus import Documents
from topicprism.documents.subsets import ALL, KeyCounts, Subset, SubsetDocuments
from topicprism.model import Model, ResponseScale
from topicprism.spectral.decompose import Solution, by_effect
from topicprism.spectral.settings import Settings
from topicprism.spectral.sketch import NOISE_EDGE_FACTOR, Sketch
from topicprism.validation import check_choice, check_problem

AS_ASKED = "as asked"
Halves = Sequence[tuple[Subset, Model]]  # documents, and a model of all others
METHOD = "method"  # the reason that says which method a result is from


class Regime(Enum):
    """Which estimator fits the documents (docs/glossary.md)."""

    MODEL = "model"  # they follow sLDA: the estimator of the paper
    TEXT = "text"  # more structure than the topics explain
    PAPER = REGIMES[1]  # not asked: the paper's algorithms as printed


@dataclass(frozen=True)
class FitRequest:
    """What the user set; None is chosen from the data."""

    n_topics: int | None = None
    alpha0: float | None = None
    settings: Settings = Settings()  # noqa: RUF009 - frozen
    supervised: bool = True
    cross_fitted: bool = True  # whether halves of text are learnt, too, for effects
    sampled: bool = False  # whether topics of text are sampled from the spectral start
    regime: str = "auto"  # or "paper"

    def __post_init__(self) -> None:
        check_choice("regime", self.regime, REGIMES)

    @property
    def as_printed(self) -> bool:
        return self.regime == Regime.PAPER.value

    def check(self, available: int = sys.maxsize) -> None:
        """Refuse values that no vocabulary or sketch, or none of this size, can have."""
        if self.as_printed and self.n_topics is None:
            raise ValueError(
                "n_topics='auto' with regime='paper', but the paper's algorithms take the number "
                "of topics as given; pass one, such as n_topics=5, or use regime='auto'"
            )
        n_topics = 1 if self.n_topics is None else self.n_topics
        check_problem(n_topics, 1.0 if self.alpha0 is None else self.alpha0, available)

    def standardised(self, scale: ResponseScale) -> FitRequest:
        """The same of a standardised response."""
        asked = self.settings.noise_variance
        known = None if asked is None else asked / scale.scale**2
        return replace(self, settings=replace(self.settings, noise_variance=known))


@dataclass(frozen=True)
class FitContext:
    """Documents with a standardised response, their sketch, and the request."""

    docs: Documents
    sketch: Sketch
    keys: KeyCounts
    request: FitRequest
    rng: np.random.Generator
    spectrum_reason: str = ""  # what the spectrum of the words shows, in words
    in_memory: Documents | None = None  # some of them, for :meth:`sample`; None if they all are
    start: np.random.Generator | None = None  # of the sketch, if not in the order of their keys
    within: Subset = ALL  # where the keys of its documents are

    @property
    def ordered(self) -> bool:
        """Whether sums over documents were taken in the order of their keys."""
        return self.start is None

    @cached_property
    def n_documents(self) -> int:
        return self.keys.size(self.within)

    def at_most(self, n: int) -> Subset:
        return self.keys.at_most(n, self.within)

    def folds(self, n: int) -> list[Subset]:
        return self.keys.cut(n, self.within)

    def sample(self, n: int) -> FitContext:
        """At most ``n`` of the documents, in memory, beside the sketch of all."""
        within = self.at_most(n)
        docs = self.docs if self.in_memory is None else self.in_memory
        docs = docs if within == self.within else SubsetDocuments(docs, within)
        return replace(self, docs=docs, within=within, in_memory=None, start=None)


@dataclass(frozen=True)
class Trial:
    """How good one number of topics was; None is not known, as in files of earlier versions."""

    n_topics: int
    alpha0: float
    noise_variance: float  # of the documents learnt from: less than the selection's, held out
    pr2: float  # of the responses of documents held out
    pr2_std: float
    log_likelihood: float | None = None  # per word of half of a document held out, given the rest
    coherence: float | None = None  # mean over topics of the NPMI of their ten most probable words
    exclusivity: float | None = None  # mean over topics of the share of these that is their own
    n_in_common: int | None = None  # topics of one half of the documents that the other has, too
    n_large: int | None = None  # topics, found again or not, that are neither small nor alike


@dataclass(frozen=True, eq=False)
class Selection:
    """What was chosen, from what, and why."""

    n_topics: int
    alpha0: float
    noise_variance: float
    trials: tuple[Trial, ...]
    spectrum: Array  # the leading eigenvalues of E[x x], the largest first
    threshold: float  # an eigenvalue below it may be sampling noise
    reasons: dict[str, str]  # a sentence for each parameter, and one for the "method"
    n_begun: int | None = None  # topics before some were dropped that documents do not support

    @property
    def n_tried(self) -> int:
        """The number of topics that was taken of those tried."""
        return self.n_begun or self.n_topics


@dataclass(frozen=True)
class FitResult:
    """A model, how it was chosen, and what is known of its errors."""

    model: Model
    selection: Selection
    predictive_variance: Array  # (a, b): Var[y | words] is about a + b Var[eta . h | words]
    n_short: int = 0
    n_copies: int = 0  # of documents, which count once
    coef_std: Topic | None = None
    frozen_topics: tuple[int, ...] = ()  # of the response, which refinement left alone
    coef: Topic | None = None  # effects by cross-fitting, where they are not the model's eta
    replication: Topic | None = None  # similarity of each topic to its versions in two halves
    cross_fitted_r2: float | None = None  # of predictions by topics and coefficients of the others
    dropped: bool = False  # whether topics were, that the documents do not support
    predicts: bool = True  # whether responses were predicted beyond chance by the other half
    solution: Solution | None = None  # of the tensor decomposition, except in the regime "text"
    as_printed: bool = False  # whether it is the paper's algorithm, and nothing else

    @property
    def regime(self) -> Regime:
        if self.as_printed:
            return Regime.PAPER
        return Regime.TEXT if self.solution is None else Regime.MODEL

    def with_reason(self, why: str) -> FitResult:
        """The result, with something said before its reason for the number of topics."""
        reasons = self.selection.reasons
        reasons = reasons | {"n_topics": f"{why}; {reasons['n_topics']}"}
        return replace(self, selection=replace(self.selection, reasons=reasons))

    def saying_its_method(self, method: str, supervised: bool) -> FitResult:
        """The result with its method among the reasons, unless it is there."""
        what = method_of_text(REFINED if supervised else OF_WORDS)
        if self.regime is not Regime.TEXT:
            what = method_of_paper(method, supervised)
        if self.regime is Regime.MODEL:
            what += ", from moments in a few coordinates"
            what += "" if self.coef_std is None else ", with cross-fitted coefficients"
        reasons = {METHOD: what} | self.selection.reasons
        return replace(self, selection=replace(self.selection, reasons=reasons))

    def with_noise_variance(self, variance: float, reason: str) -> FitResult:
        reasons = self.selection.reasons | {"noise_variance": reason}
        return replace(
            self,
            model=replace(self.model, sigma=float(np.sqrt(variance))),
            selection=replace(self.selection, noise_variance=variance, reasons=reasons),
            predictive_variance=np.array([variance, 1.0]),
        )

    def in_units(self, scale: ResponseScale) -> FitResult:
        """The same of the response itself, of which this is the standardised one's."""
        size, found, solution = abs(scale.scale), self.selection, self.solution
        trials = (replace(t, noise_variance=size**2 * t.noise_variance) for t in found.trials)
        variance = size**2 * found.noise_variance
        result = replace(
            self,
            model=self.model.in_units(scale),
            selection=replace(found, noise_variance=variance, trials=tuple(trials)),
            predictive_variance=self.predictive_variance * (size**2, 1.0),
            coef=None if self.coef is None else scale.unstandardised(self.coef),
            coef_std=None if self.coef_std is None else size * self.coef_std,
            solution=solution and replace(solution, model=solution.model.in_units(scale)),
        )
        return result.in_order if scale.scale < 0 else result

    @property
    def in_order(self) -> FitResult:
        """The topics by their effects."""
        effects = self.model.eta if self.coef is None else self.coef
        return self.reordered(by_effect(self.model.alpha, effects))

    def over(self, words: Ints, n_words: int) -> FitResult:
        """The same over more words, which do not occur."""
        solution = self.solution
        solution = solution and replace(solution, model=solution.model.over(words, n_words))
        return replace(self, model=self.model.over(words, n_words), solution=solution)

    def reordered(self, order: Ints) -> FitResult:
        """The same result, its topics in another order."""
        at = np.argsort(order)

        def taken(values: Topic | None) -> Topic | None:
            return None if values is None else values[order]

        return replace(
            self,
            model=self.model.reordered(order),
            coef=taken(self.coef),
            coef_std=taken(self.coef_std),
            replication=taken(self.replication),
            frozen_topics=tuple(sorted(int(at[i]) for i in self.frozen_topics)),
            solution=self.solution and self.solution.reordered(order),
        )


def selection_of(
    sketch: Sketch, model: Model, alpha0: float, trials: tuple[Trial, ...], reasons: dict[str, str]
) -> Selection:
    threshold = NOISE_EDGE_FACTOR * sketch.noise_edge
    variance, spectrum = float(model.sigma**2), leading_eigenvalues(sketch)
    return Selection(model.n_topics, float(alpha0), variance, trials, spectrum, threshold, reasons)


def leading_eigenvalues(sketch: Sketch) -> Array:
    """Those of E[x x] that are the words' own: two coordinates may be E[y x] and A E[y x], which
    take the place of two more directions of the words and have smaller eigenvalues."""
    n_words, n_coordinates = sketch.basis.B.shape
    return sketch.spectrum[: n_coordinates if n_coordinates == n_words else -2]


# --- wording ----------------------------------------------------------------------------

OF_WORDS = "spectral topics, refined by variational Bayes"
REFINED = f"{OF_WORDS}, and a regression on their proportions"
STEERED = "a Gibbs chain from spectral topics, steered towards better predictions, and a regression"
DRAWN = "spectral topics, and a regression on documents drawn from the moments"


def method_of_chain(regime: Regime, start: str) -> str:
    """Of a chain that starts at a spectral answer, whose method is ``start``."""
    if regime is Regime.TEXT:
        return method_of_text(STEERED)
    return f"a Gibbs chain of the model, started at {start}"


def method_of_paper(method: str, supervised: bool = True) -> str:
    which = f"{2 if method == 'joint' else 1} ({method})" if supervised else "1, of words alone,"
    return f"Algorithm {which} of Ren, Wang and Zhu with corrected formulas"


def method_of_text(what: str) -> str:
    return f"not one of the paper's algorithms: {what}"


def listed(numbers: Iterable[float]) -> str:
    *most, last = (f"{number:g}" for number in numbers)
    return f"{', '.join(most)} and {last}" if most else last
