"""A first pass over documents: how many there are, how long, and what their responses are like.

It decides in which order they are summed, and which of them are looked at again and again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from topicprism import backends
from topicprism._typing import Word
from topicprism.documents.copies import without_copies
from topicprism.documents.corpus import MIN_WORDS, Corpus, Documents
from topicprism.documents.standardised import StandardisedDocuments
from topicprism.documents.subsets import (
    MAX_ORDERED,
    KeyCounts,
    are_in_memory,
    in_key_order,
    in_memory,
    sums_and_documents,
)
from topicprism.documents.sums import Additive, Extent, RunningMoments
from topicprism.documents.threads import Threaded
from topicprism.learn.defaults import MODEL, SAMPLED, TEXT
from topicprism.learn.result import FitRequest
from topicprism.model import ResponseScale
from topicprism.spectral.moments import WordSums, word_sums
from topicprism.validation import (
    check_response,
    check_varies,
    refuse_no_counts,
    refuse_repeated_words,
)


@dataclass(frozen=True)
class Survey(Additive):
    """Documents long enough for the moments, by response and key; how many there are in all."""

    y: RunningMoments
    keys: KeyCounts
    n_documents: int
    words: Word  # how often each occurs
    extent: Extent  # of all responses
    n_copies: int = 0  # of documents, which are left out

    @property
    def n_tokens(self) -> float:
        return float(self.words.sum())

    def check(self, supervised: bool, counted: Callable[[int], object]) -> None:
        """Refuse what nothing can be learnt from, as the estimators do that are given counts.

        If there is something, ``counted`` is told of how many documents.
        """
        if self.n_documents == 0:
            raise ValueError(
                "got no documents, but at least 2 were expected; check that any shard has some"
            )
        low, high = self.extent.low, self.extent.high
        if supervised:
            check_varies(low, high, high - low, self.n_documents)
        counted(self.n_documents)

    @property
    def scale(self) -> ResponseScale:
        return ResponseScale(self.y.mean, self.y.sd or 1.0)

    @property
    def n_short(self) -> int:
        return self.n_documents - round(self.y.weight)


def survey(c: Corpus) -> Survey:
    """Counts and responses are checked here, wherever they come from."""
    on, lengths = backends.of(c.counts), c.lengths
    if on is backends.cpu:  # elsewhere, counts were looked at on their way there
        refuse_no_counts(c.counts)
        refuse_repeated_words(c.counts)
    check_response(c.y, len(c))
    long = lengths >= MIN_WORDS
    y = RunningMoments.of(c.y, long.astype(float))
    return Survey(y, KeyCounts.of(c, long), len(c), on.occurrences(c.counts), Extent.of(c.y))


def is_ordered(all_: Survey, request: FitRequest) -> bool:
    """Whether sums are in the order of keys: for many topics since their sketch is made once."""
    return all_.n_documents <= MAX_ORDERED or (request.n_topics or 0) > MODEL.max_topics


def standardised(
    docs: Documents, all_: Survey, request: FitRequest
) -> tuple[StandardisedDocuments, Survey, FitRequest]:
    """Documents with standardised responses; if they are few, in the order of their keys.

    Then copies count once, but for the paper's algorithms, which know of none.
    """
    if is_ordered(all_, request):
        docs, given = in_key_order(docs, all_.n_documents), docs
        docs = docs if request.as_printed else without_copies(docs)
        if docs is not given:
            n, all_ = all_.n_documents, docs.total(survey)
            all_ = replace(all_, n_copies=n - all_.n_documents)
    return StandardisedDocuments(docs, all_.scale), all_, request.standardised(all_.scale)


def words_and_sample(
    docs: Documents, all_: Survey, request: FitRequest
) -> tuple[WordSums, Threaded | None]:
    """Sums of words; and, of many elsewhere, documents to look at again and again, in memory.

    They come along with the sums, so that no pass is spent on them.
    """
    if all_.n_documents <= MAX_ORDERED or are_in_memory(docs):
        return docs.total(word_sums), None
    needed = [TEXT.learn_documents, MODEL.noise_documents]
    most = max([*needed, SAMPLED.max_documents] if request.sampled else needed)
    found = docs.total(sums_and_documents, all_.keys.at_most(most), word_sums)
    return found.sums, in_memory(docs, found.some)
