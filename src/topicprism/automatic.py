"""From documents to a model with nothing to tune: which road to take, and k and alpha0 on it.

1. One sketch of the documents, wide enough for any number of topics that may come.
2. If its spectrum ends at k, and words are said again no more than k topics explain, the
   model holds: the answer is that of :mod:`spectral`.  Documents are looked at again for
   errors only and, where moments hardly tell it, for the noise variance (:mod:`noise`).
3. If not, this is text with more structure than k topics.  Topics come from
   :mod:`robust`, are made truer to their words by :mod:`refinement`, and get prior,
   coefficients and spread by :mod:`calibration`, on some thousands of documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add

import numpy as np

from topicprism._typing import Array, Square, Topic
from topicprism.backends import one_blas_thread
from topicprism.calibration import (
    Units,
    best_alpha0,
    calibrate,
    likeliest_alpha0,
    products,
    regress,
)
from topicprism.corpus import Documents
from topicprism.evaluation import match
from topicprism.model import Model, TooManyTopics
from topicprism.moments import WordSums, word_sums
from topicprism.noise import Estimate, second_look
from topicprism.recovery import noise_variance_std
from topicprism.refinement import refine
from topicprism.robust import (
    PARTS,
    SIXTHS,
    n_of_response,
    orthonormal,
    parted,
    restricted,
    told,
    topics,
)
from topicprism.selection import Selection, Trial, all_told, alpha0_of, ends_at, n_clear, n_told
from topicprism.settings import Settings, check_problem
from topicprism.sketching import (
    CLEAR,
    Basis,
    Sketch,
    moments_of_subsets,
    moments_over,
    span,
    trace_of_A,
    widened,
)
from topicprism.spectral import SPARE, Solution, decompose, width_for
from topicprism.subsets import ALL, KeyCounts, Subset, SubsetDocuments, in_key_order, map_subsets

MOST = 26  # topics that a sketch is made for when none are asked for
TRIED = (3, 5, 10, 20)  # numbers of topics, where the spectrum does not tell
USUAL = 5  # topics, where there is neither an end of the spectrum nor a document
ROUNDS, TRIAL_ROUNDS = 8, 5
GRID, LIKELY = (3.0, 10.0), (1.0, 3.0, 10.0)  # of alpha0: to predict, and for words alone
LEARN_ON, TRY_ON, SHAKEN = 20_000, 4_000, 5_000  # documents, at most
CLOSE = 0.03  # of predictive R2, given for more topics to read
HELD_OUT = 0.25  # of the documents, at most, to try numbers of topics on
FOLDS = 5  # of documents, that topics are learnt without
FEWEST = 5  # documents that carry a topic, or it is an accident
HALVES = "by one half of each document's words against the other"


@dataclass(frozen=True)
class Wishes:
    """What was asked for; None is for the data to say."""

    n_topics: int | None = None
    alpha0: float | None = None
    settings: Settings = Settings()  # noqa: RUF009 - frozen
    supervised: bool = True

    def check(self, available: int) -> None:
        """Refuse what cannot be, in a vocabulary or a sketch of this size."""
        n_topics = 1 if self.n_topics is None else self.n_topics
        check_problem(n_topics, 1.0 if self.alpha0 is None else self.alpha0, available)


@dataclass(frozen=True)
class Learnt:
    """A model, how it was chosen, and what is known of its errors."""

    model: Model
    selection: Selection
    spread: Array  # (a, b): Var[y | words] is about a + b Var[eta . h | words]
    n_short: int = 0
    coef_std: Topic | None = None
    held: tuple[int, ...] = ()  # the topics of the response, where it has topics of its own
    solution: Solution | None = None  # where the model holds


def learn_from(docs: Documents, wishes: Wishes, rng: np.random.Generator) -> Learnt:
    """The best model of documents, wherever they are kept."""
    wishes.check(docs.n_words)
    with one_blas_thread:  # what is not in the passes is small
        sums, keys = docs.total(word_sums), docs.total(KeyCounts.of)
        sketch = _sketch(docs, sums, wishes.n_topics or MOST, rng)
        found = faithful(sketch, wishes, rng, trace_of_A(sums))
        if found is None:
            ordered = in_key_order(docs, sums.n_all)
            if ordered is not docs:
                sums = ordered.total(word_sums)
                sketch = _sketch(ordered, sums, wishes.n_topics or MOST, rng)
            found = _robust(Text(ordered, sketch, keys, wishes, rng))
        else:
            text = Text(docs, sketch, keys, wishes, rng)
            found = _with_errors(_with_noise(found, text), text)
    return replace(found, n_short=sums.n_short)


def _sketch(docs: Documents, sums: WordSums, n_topics: int, rng: np.random.Generator) -> Sketch:
    return moments_over(docs, span(docs, sums, width_for(n_topics), rng))


def learn_sketch(sketch: Sketch, wishes: Wishes, rng: np.random.Generator) -> Learnt:
    """The model in a sketch alone: no document is there to tell more topics from fewer."""
    wishes.check(sketch.basis.width)
    found = faithful(sketch, wishes, rng)
    if found is not None:
        return found
    k = wishes.n_topics or min(USUAL, sketch.basis.width)
    why = "as asked" if wishes.n_topics else f"{_crowded(sketch)}; a sketch carries {k} safely"
    return _as_in_the_paper(sketch, k, why, wishes, rng)


# --- where the model holds ------------------------------------------------------------


def faithful(
    sketch: Sketch, wishes: Wishes, rng: np.random.Generator, trace: float = 0.0
) -> Learnt | None:
    """The paper's answer, or None if the words have more in them, or a topic is an accident."""
    k = wishes.n_topics or n_told(sketch)
    if k == 0 or not ends_at(sketch, k) or not all_told(sketch, k, trace):
        return None
    if wishes.n_topics is None and k > min(MOST, sketch.basis.width - SPARE):
        return None  # it may not have ended
    if k == 1 and wishes.n_topics is None and wishes.supervised and told(sketch):
        return None  # one topic has nothing to say of the response, and the words do
    why = "as asked" if wishes.n_topics else _the_end(sketch, k)
    try:
        found = _as_in_the_paper(sketch, k, why, wishes, rng)
    except TooManyTopics as refused:
        if wishes.n_topics is None or refused.largest < 1:
            return None
        why = f"{k} asked for, but the moments carry no more: the others are not identifiable"
        found = _as_in_the_paper(sketch, refused.largest, why, wishes, rng)
    carried = found.model.alpha.min() / found.model.alpha.sum() * sketch.n
    return found if carried >= FEWEST or sketch.n == 0 else None


def _as_in_the_paper(
    sketch: Sketch, k: int, why: str, wishes: Wishes, rng: np.random.Generator
) -> Learnt:
    alpha0, settings = wishes.alpha0, wishes.settings
    reason = "as asked"
    if alpha0 is None:
        alpha0 = alpha0_of(sketch, k, settings, rng)
        reason = f"the Dirichlet parameters found add up to alpha0 where it is {alpha0:.3g}"
    found = decompose(sketch, k, alpha0, settings, rng=rng)
    left = _by_moments(sketch, found.model)
    reasons = {
        "n_topics": why,
        "alpha0": reason,
        "noise_variance": _told(left) if settings.noise_variance is None else "as asked",
    }
    selection = _selection(sketch, found.model, alpha0, (), reasons)
    if wishes.alpha0 is None:
        found = replace(found, model=found.model.with_alpha0(alpha0))
    return Learnt(found.model, selection, np.array([left.value, 1.0]), solution=found)


def _by_moments(sketch: Sketch, model: Model) -> Estimate:
    """The noise variance, as the sketch has it."""
    std = sketch.basis.scale**2 * noise_variance_std(sketch, model.n_topics)
    return Estimate(model.sigma**2, std)


def _with_noise(found: Learnt, text: Text) -> Learnt:
    """The noise variance by a second look at documents, where moments hardly tell it."""
    if not text.wishes.supervised or text.wishes.settings.noise_variance is not None:
        return found
    first = _by_moments(text.sketch, found.model)
    share = min(1.0, LEARN_ON / max(text.n, 1))  # of the documents: few tell less than all
    if not replace(first, std=first.std * share**0.5).unsure:
        return found
    try:
        second = second_look(text.docs, _unseen(found, text))
    except (TooManyTopics, np.linalg.LinAlgError):  # too few documents, or topics that are alike
        return found
    if not second.std < first.std:
        return found
    variance = max(second.value, second.std)  # less is not believed
    reason = f"{_told(replace(second, value=variance))}, {HALVES}"
    reasons = found.selection.reasons | {"noise_variance": reason}
    return replace(
        found,
        model=replace(found.model, sigma=float(np.sqrt(variance))),
        selection=replace(found.selection, noise_variance=variance, reasons=reasons),
        spread=np.array([variance, 1.0]),
    )


def _unseen(found: Learnt, text: Text) -> list[tuple[list[Subset], Model]]:
    """Parts of the documents, each with a model of all others, responses and all.

    Their coordinates for words may be the same, if the responses of each part have their own.
    """
    part, k = text.part(LEARN_ON), found.model.n_topics
    pieces = [*text.keys.cut(FOLDS, part), part.rest]
    basis = _narrow(text.sketch, k + SPARE)
    sums = map_subsets(text.docs, pieces, word_sums)
    basis = widened(basis, np.column_stack([s.yx_about(basis.centre) for s in sums]))
    sketches = moments_of_subsets(text.docs, pieces, basis)
    known = replace(text.wishes.settings, noise_variance=found.model.sigma**2)
    return [
        (
            text.keys.cut(PARTS, piece),
            decompose(rest, k, found.selection.alpha0, known, rng=text.rng).model,
        )
        for piece, rest in zip(pieces[:FOLDS], _all_but_one(sketches), strict=False)
    ]


def _with_errors(found: Learnt, text: Text) -> Learnt:
    """How far coefficients move when a tenth of some documents is left out: the jackknife."""
    if not text.wishes.supervised:
        return found
    model, settings = found.model, text.wishes.settings
    quick = replace(settings, whitening="auto", n_restarts=min(settings.n_restarts, 10))
    basis = _narrow(text.sketch, model.n_topics + SPARE)
    tenths = text.keys.cut(PARTS, text.part(SHAKEN))
    sketches = [s for s in moments_of_subsets(text.docs, tenths, basis) if s.n > 0]
    if len(sketches) < 2:
        return found
    etas, alpha0 = [], found.selection.alpha0
    for rest in _all_but_one(sketches):
        try:
            again = decompose(rest, model.n_topics, alpha0, quick, rng=text.rng).model
        except TooManyTopics:
            return found
        etas.append(again.eta[match(again, model)])
    share = sum(s.n for s in sketches) / text.sketch.n
    return replace(found, coef_std=np.sqrt((len(sketches) - 1) * share) * np.std(etas, axis=0))


def _all_but_one(sketches: list[Sketch]) -> Iterator[Sketch]:
    """Without the first, without the second, and so on."""
    return (reduce(add, sketches[:i] + sketches[i + 1 :]) for i in range(len(sketches)))


def _narrow(sketch: Sketch, width: int) -> Basis:
    """The basis of a sketch but for its smallest directions."""
    zz = sketch.second / sketch.weight
    _, vectors = np.linalg.eigh(zz[:-1, :-1])
    R = orthonormal(sketch.first[:-1], zz[-1, :-1], *vectors.T[::-1])
    return restricted(sketch, R[:, :width]).basis


# --- where it does not ----------------------------------------------------------------


@dataclass(frozen=True)
class Text:
    """Documents, their sketch, and what is wanted of them."""

    docs: Documents
    sketch: Sketch
    keys: KeyCounts
    wishes: Wishes
    rng: np.random.Generator
    within: Subset = ALL  # where the keys of its documents are

    @property
    def n(self) -> int:
        return self.keys.size(self.within)

    @property
    def units(self) -> Units:
        return Units(self.sketch.basis.centre, self.sketch.basis.scale)

    def part(self, at_most: int) -> Subset:
        return self.keys.at_most(at_most, self.within)

    @cached_property
    def parts(self) -> tuple[Square, ...]:
        tenths = self.keys.cut(PARTS, self.within)
        return self.docs.total(parted, self.sketch.basis.B, tenths).moments

    @cached_property
    def n_response(self) -> int:
        joint = self.wishes.supervised and self.wishes.settings.method == "joint"
        return n_of_response(self.docs, self.keys.cut(SIXTHS, self.within)) if joint else 0

    def topics(self, k: int) -> tuple[Model, int]:
        """Topics to start from, and how many of them are the response's."""
        return topics(self.sketch, k, self.n_response, self.rng, self.parts)


def _robust(text: Text) -> Learnt:
    wishes = text.wishes
    trials: tuple[Trial, ...] = ()
    k, why = wishes.n_topics, "as asked"
    if k is None:
        k, trials, why = _number_of_topics(text)
    start, n_held = text.topics(k)
    if start.n_topics < k:
        why += f", but the words carry only {start.n_topics}"
    if not wishes.supervised:
        start = replace(start, burstiness=0.0)  # it is judged by its words, every one of them
    model = refine(text.docs, start, ROUNDS, n_held, text.part(LEARN_ON))
    if not wishes.supervised:
        alpha0, reason = wishes.alpha0, "as asked"
        if alpha0 is None:
            alpha0 = likeliest_alpha0(text.docs, model, text.part(TRY_ON), LIKELY)
            reason = (
                f"of {_listed(LIKELY)} the one by which half a document tells most of the other"
            )
        model = model.with_alpha0(alpha0).reordered(np.argsort(-model.alpha))
        reasons = {"n_topics": why, "alpha0": reason}
        selection = _selection(text.sketch, model, alpha0, trials, reasons)
        return Learnt(model, selection, np.zeros(2))
    return _with_response(text, model, n_held, trials, why)


def _with_response(
    text: Text, model: Model, n_held: int, trials: tuple[Trial, ...], why: str
) -> Learnt:
    wishes, asked = text.wishes, text.wishes.settings.noise_variance
    alpha0, reason = wishes.alpha0, "as asked"
    if alpha0 is None:
        alpha0 = best_alpha0(text.docs, model, text.units, text.part(TRY_ON), GRID)
        reason = f"of {_listed(GRID)} the least that explains the response about as well"
    model = model.with_alpha0(alpha0)
    found = calibrate(text.docs, model, text.units, text.part(LEARN_ON))
    order = np.lexsort((-found.model.alpha, found.model.eta))
    model = found.model.reordered(order)
    if asked is not None:
        model = replace(model, sigma=float(np.sqrt(asked)))
    reasons = {
        "n_topics": why,
        "alpha0": reason,
        "noise_variance": "as asked"
        if asked is not None
        else "what a regression on the proportions leaves, less what is unsure about them",
    }
    selection = _selection(text.sketch, model, alpha0, trials, reasons)
    held = tuple(np.flatnonzero(order < n_held).tolist())
    return Learnt(model, selection, found.spread, coef_std=found.coef_std[order], held=held)


def _number_of_topics(text: Text) -> tuple[int, tuple[Trial, ...], str]:
    """The most topics that predict documents held out as well as any number does."""
    most = min(text.n // 20, text.docs.n_words, text.sketch.basis.width - 2)
    tried = [k for k in TRIED if k <= most] if text.wishes.supervised else []
    if not tried:
        if not text.wishes.supervised:
            return max(min(10, most), 1), (), f"{_crowded(text.sketch)}; the usual number"
        why = f"{_crowded(text.sketch)}; {text.n} documents are too few to try more"
        return max(min(3, most), 1), (), why
    trials = _trials(text, tried)
    best = max(trials, key=lambda t: t.pr2)
    listed = ", ".join(f"{t.pr2:.3f} with {t.n_topics}" for t in trials)
    tried_on = f"predictive R2 on documents held out ({listed})"
    if best.pr2 < 2 * best.pr2_std:
        why = f"{_crowded(text.sketch)}, but little that tells of the response; {tried_on}"
        return trials[0].n_topics, trials, why
    chosen = [t for t in trials if t.pr2 >= best.pr2 - CLOSE][-1]
    why = (
        f"{_crowded(text.sketch)}; more topics say more, and this many cost less than {CLOSE:g} "
        f"of the best {tried_on}"
    )
    return chosen.n_topics, trials, why


def _trials(text: Text, tried: list[int]) -> tuple[Trial, ...]:
    """Each number of topics, learnt without some documents and tried on these."""
    share = min(HELD_OUT, TRY_ON / 2 / text.n)
    rest = text.keys.share(0, 1 - share)
    docs = SubsetDocuments(text.docs, rest)
    sketch = _sketch(docs, docs.total(word_sums), max(tried), text.rng)
    known = replace(text, docs=docs, sketch=sketch, within=rest)
    return tuple(_try(known, k, SubsetDocuments(text.docs, rest.rest)) for k in tried)


def _try(text: Text, k: int, new: Documents) -> Trial:
    docs, units, fitting = text.docs, text.units, text.part(TRY_ON)
    model, n_held = text.topics(k)
    model = refine(docs, model, TRIAL_ROUNDS, n_held, fitting)
    grid = GRID if text.wishes.alpha0 is None else (text.wishes.alpha0,)
    alpha0 = best_alpha0(docs, model, units, fitting, grid)
    model = model.with_alpha0(alpha0)
    found = regress(docs.total(products, model, units, fitting))
    tried_on = new.total(products, model, units, ALL)
    fit = tried_on.pr2(found.eta)
    std = 2 * np.sqrt(max(fit, 0.05)) * (1 - fit) / np.sqrt(max(tried_on.n, 1))
    return Trial(k, alpha0, units.scale**2 * found.variance, fit, float(std))


# --- what to say about it -------------------------------------------------------------


def _selection(
    sketch: Sketch, model: Model, alpha0: float, trials: tuple[Trial, ...], reasons: dict[str, str]
) -> Selection:
    threshold = CLEAR * sketch.noise_edge
    variance = float(model.sigma**2)
    return Selection(
        model.n_topics, float(alpha0), variance, trials, sketch.spectrum, threshold, reasons
    )


def _the_end(sketch: Sketch, k: int) -> str:
    s, clear = sketch.spectrum, CLEAR if k <= n_clear(sketch) else 1.0
    return (
        f"the spectrum of the words ends there: eigenvalue {k} is {s[k - 1]:.3g}, the next "
        f"{s[k]:.3g}, and up to {clear * sketch.noise_edge:.3g} may be chance"
    )


def _told(left: Estimate) -> str:
    return f"a variance of {left.value:.3g} +- {left.std:.1g} is left in the response"


def _listed(numbers: tuple[float, ...]) -> str:
    return ", ".join(f"{number:g}" for number in numbers)


def _crowded(sketch: Sketch) -> str:
    return f"the words show {n_clear(sketch)} or more directions"
