"""Where text has more structure than k topics: topics, refined on documents, then a regression.

1. The number of topics is tried on documents held out, unless it was asked for.
2. First topics come from tensors (:mod:`topicprism.learn.response_topics`).
3. They are refined on documents (:mod:`topicprism.learn.refine`).
4. Prior and coefficients are those which predict best from inferred proportions
   (:mod:`topicprism.learn.ridge`).
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from topicprism.documents.corpus import Corpus, Documents
from topicprism.documents.subsets import ALL, KeyCounts, Subset, SubsetDocuments, in_key_order
from topicprism.evaluation import r2_std
from topicprism.learn.crossfit import fit_halves, with_cross_fit
from topicprism.learn.defaults import MODEL, TEXT
from topicprism.learn.few import Folds, folds_of
from topicprism.learn.judging import describe, judged, more_topics, with_common
from topicprism.learn.prior_choice import PriorChoice
from topicprism.learn.refine import refine
from topicprism.learn.response_topics import FirstTopics, text_sketch
from topicprism.learn.result import AS_ASKED, FitContext, FitResult, Trial, listed, selection_of
from topicprism.learn.ridge import best_alpha0, calibrate, likeliest_alpha0, products, regress
from topicprism.model import Model

Chosen = tuple[int, str, tuple[Trial, ...]]  # number of topics, why, and what was tried


def from_documents(context: FitContext) -> FitResult:
    """The best model of text."""
    context = _in_key_order(context)
    request, first = context.request, FirstTopics(context)
    folds = few_folds(context)
    context = context.sample(TEXT.learn_documents)  # with the sketch and first topics of all
    chosen = (
        _number_of_topics(context, folds)
        if request.n_topics is None
        else (request.n_topics, AS_ASKED, ())
    )
    if not request.supervised:
        start = replace(first.of(chosen[0])[0], burstiness=0.0)  # judged by every one of its words
        return _without_response(context, refine(context.docs, start, TEXT.rounds), chosen)
    best = _supervised(context, first, chosen, folds)
    for k in sorted((k for k in TEXT.candidates if k < chosen[0]), reverse=True):
        if not best.dropped or best.model.n_topics >= k:
            break
        fewer = f"of {chosen[0]}, halves of the documents have fewer in common than of {k}"
        trials = best.selection.trials  # with what the halves have in common
        again = _supervised(context, first, (k, f"{chosen[1]}; {fewer}", trials), folds)
        best = again if again.model.n_topics > best.model.n_topics else best
    return _with_more(context, best, chosen[1], folds)


def _with_more(context: FitContext, best: FitResult, why: str, folds: Folds | None) -> FitResult:
    """With more topics than any tried so far, where documents support more."""
    tried = best.selection.trials
    if not tried or tried[-1].n_topics != best.selection.n_tried:
        return best

    def learn(k: int) -> tuple[Trial, FitResult]:
        wide = replace(context, sketch=text_sketch(context.docs, k, context.rng))
        trial = folds.of(k)[1] if folds else _trials(wide, [k])[0]
        found = _supervised(wide, FirstTopics(wide), (k, why, (*tried, trial)), folds)
        return found.selection.trials[-1], found

    last, trials = more_topics((tried[-1], best), learn, context.n_documents)
    if len(trials) == 1:
        return best
    reasons = last.selection.reasons
    reasons |= {"n_topics": f"{reasons['n_topics']}; {describe(trials, last.selection.n_tried)}"}
    known = replace(last.selection, trials=(*tried[:-1], *trials), reasons=reasons)
    return replace(last, selection=known)


def few_folds(context: FitContext) -> Folds | None:
    """Of few documents, to choose the number of topics and to predict each other's responses."""
    if not (context.request.supervised and context.request.cross_fitted):
        return None

    def learn(docs: Corpus, n_topics: int) -> Model:
        known = replace(context, docs=docs, keys=KeyCounts.of(docs.long()), within=ALL)
        return HalfLearner(known, n_topics)(ALL)

    return folds_of(context, learn)


def _supervised(
    context: FitContext, first: FirstTopics, chosen: Chosen, folds: Folds | None
) -> FitResult:
    k, why, trials = chosen
    start, n_frozen = first.of(k)
    if start.n_topics < k:
        why += f", but the words support only {start.n_topics}"
    model = refine(context.docs, start, TEXT.rounds, n_frozen)
    found = _with_response(context, model, n_frozen, (k, why, trials))
    if not context.request.cross_fitted:
        return found
    halves = fit_halves(context.keys, context.within, HalfLearner(context, model.n_topics))
    by_folds = folds.of(k)[0] if folds else None
    trials = tuple(
        with_common(t, context.docs, halves, context.keys) if t.n_topics == k else t
        for t in found.selection.trials
    )
    found = replace(found, selection=replace(found.selection, trials=trials))
    asked = context.request.alpha0
    choice = PriorChoice(
        TEXT.alpha0_grid if asked is None else (asked,),
        (model.burstiness,),
        TEXT.alpha0_tolerance,
        context.at_most(TEXT.trial_documents),
    )
    return with_cross_fit(found, context.docs, halves, context, choice, by_folds)


@dataclass(frozen=True)
class HalfLearner:
    """A model of some of the documents, with coefficients, from those documents alone."""

    context: FitContext
    n_topics: int

    def __call__(self, subset: Subset) -> Model:
        c = self.context
        docs = SubsetDocuments(c.docs, subset)
        own = replace(c, docs=docs, sketch=text_sketch(docs, self.n_topics, c.rng), within=subset)
        start, n_frozen = FirstTopics(own).of(self.n_topics)
        model = refine(docs, start, TEXT.rounds, n_frozen)
        asked = c.request.alpha0
        tried_on = own.at_most(TEXT.trial_documents)
        alpha0 = best_alpha0(docs, model, tried_on, TEXT.alpha0_grid) if asked is None else asked
        return calibrate(docs, model.with_alpha0(alpha0), ALL).model


def _in_key_order(context: FitContext) -> FitContext:
    """On text a last digit may decide between topics: so sums do not depend on the rows' order."""
    docs = context.docs if context.ordered else in_key_order(context.docs, context.n_documents)
    if docs is context.docs or context.start is None:
        return context
    n_topics = context.request.n_topics or MODEL.max_topics
    sketch = text_sketch(docs, n_topics, deepcopy(context.start))
    return replace(context, docs=docs, sketch=sketch, start=None)


def _with_response(context: FitContext, model: Model, n_frozen: int, chosen: Chosen) -> FitResult:
    request, asked = context.request, context.request.settings.noise_variance
    alpha0, reason = request.alpha0, AS_ASKED
    if alpha0 is None:
        tried_on = context.at_most(TEXT.trial_documents)
        alpha0 = best_alpha0(context.docs, model, tried_on, TEXT.alpha0_grid)
        reason = (
            f"the smallest of {listed(TEXT.alpha0_grid)} within {TEXT.alpha0_tolerance:g} R2 of "
            "the best"
        )
    model = model.with_alpha0(alpha0)
    found = calibrate(context.docs, model, ALL)
    order = np.lexsort((-found.model.alpha, found.model.eta))
    model = found.model.reordered(order)
    variance = "the residual variance of the regression less the uncertainty of the proportions"
    if asked is not None:
        model, variance = replace(model, sigma=float(np.sqrt(asked))), AS_ASKED
    _, why, trials = chosen
    reasons = {"n_topics": why, "alpha0": reason, "noise_variance": variance}
    selection = selection_of(context.sketch, model, alpha0, trials, reasons)
    return FitResult(
        model,
        selection,
        found.predictive_variance,
        coef_std=found.coef_std[order],
        frozen_topics=tuple(np.flatnonzero(order < n_frozen).tolist()),
    )


def _without_response(context: FitContext, model: Model, chosen: Chosen) -> FitResult:
    alpha0, reason = context.request.alpha0, AS_ASKED
    if alpha0 is None:
        grid, subset = TEXT.alpha0_grid_unsupervised, context.at_most(TEXT.trial_documents)
        alpha0 = likeliest_alpha0(context.docs, model, subset, grid)
        reason = (
            f"of {listed(grid)}, the one with the highest held-out likelihood of half of each "
            "document's words given the other half"
        )
    model = model.with_alpha0(alpha0).reordered(np.argsort(-model.alpha))
    _, why, trials = chosen
    reasons = {"n_topics": why, "alpha0": reason}
    selection = selection_of(context.sketch, model, alpha0, trials, reasons)
    return FitResult(model, selection, np.zeros(2))


# --- the number of topics -----------------------------------------------------------------


def _number_of_topics(context: FitContext, folds: Folds | None) -> Chosen:
    """The most topics that predict documents held out about as well as any number does."""
    n, width = context.n_documents, context.sketch.basis.width
    most = min(n // TEXT.documents_per_topic, context.docs.n_words, width - 2)
    spectrum = context.spectrum_reason
    if not context.request.supervised:
        return (
            max(min(TEXT.n_topics_unsupervised, most), 1),
            f"{spectrum}; the default without a response",
            (),
        )
    tried = [k for k in TEXT.candidates if k <= most]
    if not tried:
        why = f"{spectrum}; {n} documents are too few to compare numbers of topics"
        return max(min(TEXT.n_topics_of_few, most), 1), why, ()
    trials = tuple(folds.of(k)[1] for k in tried) if folds else _trials(context, tried)
    best = max(trials, key=lambda t: t.pr2)
    scores = ", ".join(f"{t.pr2:.3f} with {t.n_topics}" for t in trials)
    held_out = f"held-out R2: {scores}"
    if best.pr2 < 2 * best.pr2_std:
        why = f"{spectrum}, but they predict the response poorly; {held_out}"
        return trials[0].n_topics, why, trials
    enough = (1 - TEXT.r2_tolerance) * best.pr2
    chosen = [t for t in trials if t.pr2 >= enough][-1]
    why = f"{spectrum}; the most topics within {TEXT.r2_tolerance:.0%} of the best {held_out}"
    return chosen.n_topics, why, trials


def _trials(context: FitContext, tried: list[int]) -> tuple[Trial, ...]:
    """Each number of topics, learnt without some documents and tried on these."""
    share = min(TEXT.held_out, TEXT.trial_documents / 2 / context.n_documents)
    rest = context.keys.share(0, 1 - share, context.within)
    last = Subset(rest.stop, context.within.stop)
    docs = SubsetDocuments(context.docs, rest)
    sketch = text_sketch(docs, max(tried), context.rng)
    known = replace(context, docs=docs, sketch=sketch, within=rest)
    held_out, first = SubsetDocuments(context.docs, last), FirstTopics(known)

    def trial(k: int) -> Trial:
        scored, model = _trial(known, k, first.of(k), held_out)
        return judged(scored, context.docs, [(last, model)], context.keys, context.within)

    return tuple(trial(k) for k in tried)


def _trial(
    context: FitContext, k: int, first: tuple[Model, int], held_out: Documents
) -> tuple[Trial, Model]:
    docs, (start, n_frozen) = context.docs, first
    subset = context.at_most(TEXT.trial_documents)
    model = refine(docs, start, TEXT.trial_rounds, n_frozen, subset)
    asked = context.request.alpha0
    grid = TEXT.alpha0_grid if asked is None else (asked,)
    alpha0 = best_alpha0(docs, model, subset, grid)
    model = model.with_alpha0(alpha0)
    found = regress(docs.total(products, model, subset))
    tried_on = held_out.total(products, model, ALL)
    fit = tried_on.pr2(found.eta)
    return Trial(k, alpha0, found.variance, fit, r2_std(fit, tried_on.n)), model
