"""Scores of each number of topics that was tried, and which topics documents support.

Likelihood: of the words of one half of each document that topics were not learnt from, given its
other half, per word.  It is the highest over strengths of the prior, since the prior by which
proportions predict best is not the one that explains words best.

Coherence: the mean NPMI of each topic's ten most probable words in the documents.

Exclusivity: the mean share of these words' probability, over all topics, that is the topic's own.

Topics that the documents do not support are dropped, unless their number was asked for: those that
halves of the documents do not have in common, that are alike, or that hold too small a share of the
words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from topicprism._typing import Ints, Topic
from topicprism.documents.corpus import Corpus, Documents
from topicprism.documents.subsets import KeyCounts, Subset
from topicprism.documents.sums import Additive
from topicprism.evaluation import (
    N_TOP_WORDS,
    SAME_TOPIC,
    bhattacharyya,
    exclusivity,
    matched_topics,
    npmi_of,
    together,
)
from topicprism.inference import infer
from topicprism.learn.defaults import EFFECTS, TEXT
from topicprism.learn.result import FitResult, Halves, Trial
from topicprism.learn.ridge import likelihoods, products, regress
from topicprism.model import Model
from topicprism.show.words import top_ids

R = TypeVar("R")


@dataclass(frozen=True)
class Together(Additive):
    """Documents, and how many of them have each two of some words."""

    n: int
    both: Ints


def words_together(c: Corpus, words: Ints, subset: Subset) -> Together:
    rows = subset.rows(c).long()
    return Together(len(rows), together(rows.counts, words))


def judged(
    trial: Trial,
    docs: Documents,
    held_out: Halves,
    keys: KeyCounts,
    within: Subset,
) -> Trial:
    """The trial with scores of its models by words, each by documents that it has not seen."""
    models = [replace(model, burstiness=0.0) for _, model in held_out]
    of_words = [
        likelihoods(
            docs,
            model,
            keys.at_most(TEXT.likelihood_documents, half),
            TEXT.alpha0_grid_unsupervised,
        )
        for model, (half, _) in zip(models, held_out, strict=True)
    ]
    ids = [top_ids(model, N_TOP_WORDS, by="probability") for model in models]
    words = np.unique(np.concatenate([i for topics in ids for i in topics]))
    found = docs.total(words_together, words, within)
    coherent = [np.nanmean(npmi_of(topics, words, found.both, found.n)) for topics in ids]
    own = [np.nanmean(exclusivity(i, m.mu)) for i, m in zip(ids, models, strict=True)]
    return replace(
        trial,
        log_likelihood=float(np.mean([max(tried) for tried in of_words])),
        coherence=float(np.mean(coherent)),
        exclusivity=float(np.mean(own)),
    )


# --- more topics ------------------------------------------------------------------------


def more_topics(
    first: tuple[Trial, R], learn: Callable[[int], tuple[Trial, R]], n_documents: int
) -> tuple[R, list[Trial]]:
    """The best of this and of more topics, and all trials.

    More are tried as long as nearly all topics hold some share of the words and are unlike each
    other.  (That halves of the documents do not have them in common does not speak against more:
    of too few topics, each half may put together others.)  More are taken if halves then have more
    in common, and nearly all of them, words are likelier and the response is predicted no worse.
    """
    (trial, best), trials = first, [first[0]]
    for k in TEXT.more_topics:
        if k * TEXT.documents_per_topic > n_documents or not allow_more(trial):
            break
        more, found = learn(k)
        trials.append(more)
        if not better(more, trial):
            break
        trial, best = more, found
    return best, trials


def allow_more(trial: Trial) -> bool:
    return (trial.n_large or 0) >= TEXT.large_share * trial.n_topics


def better(more: Trial, fewer: Trial) -> bool:
    likelier = (more.log_likelihood or -np.inf) > (fewer.log_likelihood or -np.inf)
    predicted = more.pr2 >= fewer.pr2 - EFFECTS.r2_tolerance
    found = (more.n_in_common or 0) >= TEXT.large_share * more.n_topics
    return bool(
        found and (more.n_in_common or 0) > (fewer.n_in_common or 0) and likelier and predicted
    )


def describe(trials: Sequence[Trial], taken: int) -> str:
    """Numbers of topics, by what halves of the documents have in common, in words."""
    if trials[0].n_in_common is None:  # there are no halves
        return f"the fit began with {taken}"
    last, common = trials[-1], ", ".join(f"{t.n_in_common} of {t.n_topics}" for t in trials)
    if last.n_topics != taken:
        end = f"{last.n_topics} are no better than {taken}"
    elif allow_more(last):
        end = "more are not tried"
    else:
        small = last.n_topics - (last.n_large or 0)
        end = f"more are not tried, since {small} of {taken} are small or like others"
    return f"halves of the documents have {common} topics in common; {end}"


# --- topics that documents support ------------------------------------------------------


@dataclass(frozen=True)
class Shares(Additive):
    """Proportions of documents added up, each by its number of words."""

    words: Topic

    @property
    def mean(self) -> Topic:
        mean: Topic = self.words / self.words.sum()
        return mean


def mean_shares(c: Corpus, model: Model, subset: Subset) -> Shares:
    rows = subset.rows(c).long()
    return Shares(rows.lengths @ infer(model, rows.counts))


def with_common(trial: Trial, docs: Documents, halves: Halves, keys: KeyCounts) -> Trial:
    """The trial with how many topics halves of the documents have in common."""
    if not halves:
        return trial
    (_, one), (_, other) = halves
    order, similarity = matched_topics(one.mu, other.mu)
    some = [(keys.at_most(TEXT.trial_documents, half), model) for half, model in halves]
    shares = [docs.total(mean_shares, model, half).mean for half, model in some]
    smaller = np.minimum(shares[0], np.where(order >= 0, shares[1][order], 0.0))
    n_in_common, n_large = (
        len(supported(one, found, smaller)[0]) for found in (similarity, np.ones(one.n_topics))
    )
    return replace(trial, n_in_common=n_in_common, n_large=n_large)


def supported(model: Model, replication: Topic, shares: Topic) -> tuple[Ints, str]:
    """Topics to keep, and what was dropped, in words.

    Dropped are topics that the halves do not have in common, that are like a larger one, or that
    hold too small a share.  Two are kept at least.
    """
    alike = bhattacharyya(model.mu, model.mu) > EFFECTS.alike
    lost = "not found again in halves of the documents"
    like, small = "like another", f"with under {EFFECTS.min_share:.0%} of the words"
    keep: list[int] = []
    dropped = []
    for i in np.argsort(-shares, kind="stable").tolist():
        if any(alike[i, j] for j in keep):
            dropped.append(like)
        elif shares[i] < EFFECTS.min_share:
            dropped.append(small)
        elif replication[i] < SAME_TOPIC:
            dropped.append(lost)
        else:
            keep.append(i)
    if len(keep) < 2:
        return np.sort(np.argsort(-replication, kind="stable")[:2]), f"{model.n_topics - 2} {lost}"
    reasons = [f"{n} {why}" for why in (lost, like, small) if (n := dropped.count(why))]
    return np.sort(keep), " and ".join(reasons)


def only_supported(
    found: FitResult, docs: Documents, subset: Subset, replication: Topic, tolerance: float
) -> FitResult:
    """The result with the topics that documents support only, unless that costs too much R2."""
    model = found.model
    shares = docs.total(mean_shares, model, subset).mean
    p = docs.total(products, model, subset)
    wanted = p.pr2(regress(p).eta) - tolerance
    for similarity in (replication, np.ones(model.n_topics)):
        keep, dropped = supported(model, similarity, shares)
        if not dropped:
            return found
        fewer = model.reordered(keep).with_alpha0(found.selection.alpha0)
        p = docs.total(products, fewer, subset)
        eta = regress(p).eta
        if p.pr2(eta) >= wanted:
            return _restricted(found, replace(fewer, eta=eta), keep, dropped)
    return found


def _restricted(found: FitResult, model: Model, keep: Ints, dropped: str) -> FitResult:
    """The result with a model of some of its topics only."""
    n, known = found.model.n_topics, found.selection
    why = f"{known.reasons['n_topics']}; of {n}, {dropped} were dropped"
    return replace(
        found,
        model=model,
        selection=replace(
            known, n_topics=len(keep), n_begun=n, reasons=known.reasons | {"n_topics": why}
        ),
        frozen_topics=tuple(i for i, j in enumerate(keep.tolist()) if j in found.frozen_topics),
        dropped=True,
    )
