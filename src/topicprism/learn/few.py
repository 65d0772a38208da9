"""Few documents: models of four fifths of them predict the others.

Half of a few hundred documents often do not show what all of them do, so that halves which predict
each other are little evidence of how far to trust a model of all.  Nor does one part held out
separate numbers of topics.  Both are taken from five folds here, each predicted from the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from topicprism.documents.corpus import MIN_WORDS, Corpus
from topicprism.documents.subsets import ALL, KeyCounts, Subset, selected_documents
from topicprism.inference import infer
from topicprism.learn.crossfit import Predictions, predictions_of
from topicprism.learn.defaults import TEXT
from topicprism.learn.judging import judged
from topicprism.learn.response_topics import are_few
from topicprism.learn.result import FitContext, Trial
from topicprism.model import Model

Learner = Callable[[Corpus, int], Model]  # of some documents, so many topics


@dataclass
class Folds:
    """Numbers of topics, compared by five folds; each number is learnt once."""

    corpus: Corpus
    keys: KeyCounts
    folds: list[Subset]
    learn: Learner
    known: dict[int, tuple[Predictions, Trial]] = field(default_factory=dict)

    def of(self, n_topics: int) -> tuple[Predictions, Trial]:
        if n_topics not in self.known:
            self.known[n_topics] = self._tried(n_topics)
        return self.known[n_topics]

    def _tried(self, k: int) -> tuple[Predictions, Trial]:
        y, y_hat, keys, models = [], [], [], []
        for fold in self.folds:
            there = fold.has(self.corpus.keys)
            model, new = self.learn(self.corpus.take(~there), k), self.corpus.take(there).long()
            models.append(model)
            y.append(new.y)
            keys.append(new.keys)
            y_hat.append(infer(model, new.counts) @ model.eta)
        tried = np.concatenate(y), np.concatenate(y_hat), np.concatenate(keys)
        found = predictions_of(*tried)
        alpha0 = float(np.median([m.alpha.sum() for m in models]))
        variance = float(np.mean([m.sigma**2 for m in models]))
        trial = Trial(k, alpha0, variance, found.shrunk_r2, found.r2_std)
        held_out = list(zip(self.folds, models, strict=True))
        return found, judged(trial, self.corpus, held_out, self.keys, ALL)


def folds_of(context: FitContext, learn: Learner) -> Folds | None:
    """Of few documents; None where there are more, and where folds would have hardly any."""
    n = context.n_documents
    if not are_few(n, context.sketch) or n < TEXT.min_fold_documents * TEXT.few_folds:
        return None
    corpus = context.docs.total(selected_documents, context.within).corpus
    keys = KeyCounts.of(corpus, corpus.lengths >= MIN_WORDS)
    return Folds(corpus, keys, keys.cut(TEXT.few_folds), learn)
