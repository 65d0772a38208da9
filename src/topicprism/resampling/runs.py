"""The fits: to all documents, and to the halves of random splits of them."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from topicprism.defaults import COUNTING, FITTING
from topicprism.documents.corpus import MIN_WORDS, Corpus, as_csr
from topicprism.estimators.base import varied
from topicprism.estimators.sampled import InterruptedWarning, interruption
from topicprism.learn.result import METHOD
from topicprism.model import TooManyTopics
from topicprism.pipeline.drawing import seeded_keys
from topicprism.pipeline.fitted import TopicPipeline, assemble, counts_step, topics_step
from topicprism.pipeline.frames import columns
from topicprism.pipeline.inputs import Batch, as_documents, as_list, present, warn_of_unspaced
from topicprism.pipeline.provenance import Ledger
from topicprism.pipeline.watching import Progress, Silent
from topicprism.resampling.comparing import Comparison, FittedTopics
from topicprism.resampling.result import Stability
from topicprism.show.effects import effects
from topicprism.validation import check_whole, generator
from topicprism.vectorizer import FastCountVectorizer, PrecomputedCounts
from topicprism.vectorizer.columns import are_counts

MIN_DOCUMENTS = 40  # different ones, so that a half has about 20
MAX_SEED = 2**31


class OtherMethodWarning(UserWarning):
    """Halves of the documents were learnt by another method than all of them."""


@dataclass(frozen=True)
class Resampling:
    """Documents, and what is fitted to them and to halves of them."""

    docs: Corpus
    counts: FastCountVectorizer | PrecomputedCounts  # fitted
    topics: Any  # an estimator, not fitted
    ledger: Ledger

    @cached_property
    def ordered(self) -> Corpus:
        """By key: halves are drawn by row, and the order of rows should not matter."""
        return self.docs.in_key_order()

    @cached_property
    def long(self) -> Corpus:
        """The documents to split: others teach nothing, and all empty ones have one key."""
        return self.ordered.long()

    def measure(
        self, runs: int, random_state: Any, progress: Progress
    ) -> tuple[Stability, KeyboardInterrupt | None]:
        """The result of all runs, or of those before an interruption, which is returned."""
        self._check()
        progress.stage("learning")
        rng, done, stop = generator(random_state), list[FittedTopics](), None
        methods = list[str]()
        reference = self._reference()
        progress.stage("half samples")
        try:
            for fitted, method in self._halves(reference, (runs + 1) // 2, rng):
                done.append(fitted)
                methods.append(method)
                progress.at(len(done) / runs, f"{len(done)} of {runs} runs")
                if len(done) == runs:
                    break
        except (KeyboardInterrupt, InterruptedWarning) as interrupted:
            stop = interruption(interrupted)
            if not done:
                raise stop from None
        _warn_of_others(method_of(reference.topics), methods)
        whole = FittedTopics.of(effects(reference))
        pairs = zip(done[::2], done[1::2], strict=False)
        return Stability(
            reference,
            len(self.long),
            tuple(Comparison.between(whole, half) for half in done),
            tuple(Comparison.between(*pair) for pair in pairs),
        ), stop

    def _check(self) -> None:
        n = len(np.unique(self.long.keys))
        if n < MIN_DOCUMENTS:
            raise ValueError(
                f"got {n} different documents of at least {MIN_WORDS} known words, but at least "
                f"{MIN_DOCUMENTS} were expected, since each run fits half of them; add documents"
            )

    def _reference(self) -> TopicPipeline:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", InterruptedWarning)  # a chain cut short is no whole
                topics = _fit(clone(self.topics), self.ordered)
        except InterruptedWarning as interrupted:
            raise interruption(interrupted) from None
        return assemble(self.counts, topics, self.ledger.info(self.counts, topics))

    def _halves(
        self, reference: TopicPipeline, n_splits: int, rng: np.random.Generator
    ) -> Iterator[tuple[FittedTopics, str]]:
        """Fits to the two halves of one split after the other, with their methods."""
        label = getattr(reference.topics, "classes_", [None])[-1]
        for _ in range(n_splits):
            split, *seeds = rng.integers(MAX_SEED, size=3).tolist()
            for half, seed in zip(halves(self.long, split), seeds, strict=True):
                self._check_response(half)
                yield self._half(half, reference.model.n_topics, seed, label)

    def _check_response(self, half: Corpus) -> None:
        there, all_of = len(np.unique(half.y)), len(np.unique(self.docs.y))
        classes = is_classifier(self.topics)
        if there < (all_of if classes else min(all_of, 2)):
            kinds = "classes" if classes else "values"
            raise ValueError(
                f"got a response with {there} of its {all_of} {kinds} in one random half of "
                f"{len(half)} documents, but each half must be fitted; add documents with the rare "
                f"{kinds}, or leave these out"
            )

    def _half(self, half: Corpus, n_topics: int, seed: int, label: Any) -> tuple[FittedTopics, str]:
        """As many topics as asked for, or as many as there are."""
        topics = clone(self.topics).set_params(n_topics=n_topics, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the reference has said it
            warnings.simplefilter("error", InterruptedWarning)
            try:
                _fit(topics, half)
            except TooManyTopics as error:
                if error.largest < 1:
                    return FittedTopics.none(half.n_words), ""
                _fit(topics.set_params(n_topics=error.largest), half)
        return FittedTopics.of(effects(topics, label=label)), method_of(topics)


def method_of(topics: Any) -> str:
    """In words; empty where an estimator has one method only."""
    known = getattr(topics, "selection_", None)
    return "" if known is None else known.reasons.get(METHOD, "").rpartition(": ")[2]


def _warn_of_others(method: str, methods: Sequence[str]) -> None:
    others = [other for other in methods if other and other != method]
    if others:
        warnings.warn(
            f"{len(others)} of {len(methods)} halves were learnt by another method ({others[0]}) "
            f"than all documents ({method}), as fewer documents allow; topics are found again less "
            "often for this reason, too, so add documents, or use one method for both",
            OtherMethodWarning,
            stacklevel=3,
        )


def halves(docs: Corpus, seed: int) -> tuple[Corpus, Corpus]:
    """A random half of the documents, and the other: copies of a document are in the same one.

    By hashes of the seed and of each document's key, those up to the median and those above it.
    """
    keys = seeded_keys((key.tobytes() for key in docs.keys.astype("<u8")), seed)
    middle = (len(keys) - 1) // 2
    first = keys <= np.partition(keys, middle)[middle]
    return docs.take(first), docs.take(~first)


def _fit(topics: Any, docs: Corpus) -> Any:
    return topics.fit(as_csr(docs.counts), docs.y)


def stability(
    texts: Any,
    y: Any = None,
    *,
    text: str | None = None,
    target: str | None = None,
    runs: int = FITTING.runs,
    vocabulary: Collection[str] | None = None,
    estimator: Any = None,
    n_jobs: int | None = FITTING.n_jobs,
    random_state: Any = FITTING.random_state,
    **options: Any,
) -> Stability:
    """How reproducible topics and their effects are, by fits to halves of the documents.

    All documents are fitted once, as by :func:`topicprism.fit`; then, for each random split, one
    half and the other, over the same vocabulary and with the same number of topics.

    Parameters
    ----------
    texts, y, text, target, vocabulary, estimator, n_jobs
        As in :func:`topicprism.fit`.
    runs : int, default=10
        Halves to fit, from 2 up; two for each split.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the reference, of the splits and of the runs.  As an int, the same documents give
        the same answer, in any order.
    **options
        Options of counting, such as ``min_df``, and parameters of the estimator, such as
        ``n_topics``, as in :func:`topicprism.fit`.

    Returns
    -------
    Stability

    Warns
    -----
    InterruptedWarning
        After Ctrl-C, if a run was done: the result is that of the runs so far.
    OtherMethodWarning
        If halves were learnt by another method than all documents, since they are fewer.
    """
    check_whole("runs", runs, "try 10", low=2)
    counting = {name: options.pop(name) for name in vars(COUNTING) if name in options}
    topics = topics_step(estimator, n_jobs, random_state, options)
    texts, y = columns(texts, y, text, target, topics)
    docs = as_documents(texts)
    counts = counts_step(counting, vocabulary, n_jobs, given=are_counts(docs))
    batch = present(docs, None if y is None else as_list(y))
    if not are_counts(docs):
        warn_of_unspaced(batch.docs)
    X = counts.fit_transform(batch.docs)
    table = Resampling(Corpus(X, _response(topics, batch)), counts, topics, Ledger().add(batch))
    found, stop = table.measure(runs, random_state, Silent())
    if stop is not None:
        warnings.warn(
            f"interrupted after {len(found.runs)} of {runs} runs; the result is that of these",
            InterruptedWarning,
            stacklevel=2,
        )
    return found


def _response(topics: Any, batch: Batch) -> Any:
    """Numbers, or labels for a classifier; zeros where there is no response."""
    if not hasattr(topics, "predict"):
        return np.zeros(len(batch))
    if is_classifier(topics) and batch.y is not None:
        return np.asarray(batch.y)
    return varied(batch.y, len(batch), type(topics).__name__)
