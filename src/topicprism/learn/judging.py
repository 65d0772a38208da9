"""What is told of each number of topics that was tried, beside how well it predicts.

Likelihood: of the words of one half of each document that topics were not learnt from, given its
other half, per word.  It is the highest over strengths of the prior, since the prior by which
proportions predict best is not the one that explains words best.

Coherence: the mean NPMI of each topic's ten most probable words in the documents.

Exclusivity: the mean share of these words' probability, over all topics, that is the topic's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from topicprism._typing import Ints
from topicprism.documents.corpus import Corpus, Documents
from topicprism.documents.subsets import KeyCounts, Subset
from topicprism.documents.sums import Additive
from topicprism.evaluation import exclusivity, npmi_of, together
from topicprism.learn.defaults import EFFECTS, TEXT
from topicprism.learn.result import Trial
from topicprism.learn.ridge import likelihoods
from topicprism.model import Model
from topicprism.show.words import top_ids

R = TypeVar("R")
N_TOP = 10  # words of a topic


@dataclass(frozen=True)
class Together(Additive):
    """Documents, and how many of them have each two of some words."""

    n: int
    both: Ints


def words_together(c: Corpus, words: Ints, subset: Subset) -> Together:
    rows = subset.rows(c)
    return Together(len(rows), together(rows.counts, words))


def judged(
    trial: Trial,
    docs: Documents,
    held_out: Sequence[tuple[Subset, Model]],
    keys: KeyCounts,
    within: Subset,
) -> Trial:
    """The trial with what words say of its models, each beside documents it has not seen."""
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
    ids = [top_ids(model, N_TOP, by="probability") for model in models]
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
    """What halves of the documents said of numbers of topics, one after the other."""
    if trials[0].n_in_common is None:  # there are no halves
        return f"the fit began with {taken}"
    last, said = trials[-1], ", ".join(f"{t.n_in_common} of {t.n_topics}" for t in trials)
    if last.n_topics != taken:
        end = f"{last.n_topics} are no better than {taken}"
    elif allow_more(last):
        end = "more are not tried"
    else:
        small = last.n_topics - (last.n_large or 0)
        end = f"more are not tried, since {small} of {taken} are small or like others"
    return f"halves of the documents have {said} topics in common; {end}"
