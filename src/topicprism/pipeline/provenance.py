"""How a pipeline came about: the facts in ``info``, and a fingerprint of what it learnt from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import pairwise, repeat
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import is_classifier

from topicprism._typing import Doc
from topicprism.documents.corpus import MIN_WORDS
from topicprism.documents.sums import RunningMoments
from topicprism.pipeline.inputs import Batch, warn_of_heavy_tail
from topicprism.scales import Scale, scale_of

MAX_SAMPLE = 20_000  # responses that are kept
TOO_SHORT = f"with fewer than {MIN_WORDS} known words"


class Fingerprint:
    """A sum of digests of documents with their responses: the same in any order, cut in any way."""

    def __init__(self) -> None:
        self._sum = 0

    def update(self, docs: Iterable[str] | csr_array, y: Any = None) -> Self:
        contents = _rows(docs) if issparse(docs) else (_utf8(text) for text in docs)
        responses = repeat("") if y is None else map(_plain, np.asarray(y).ravel().tolist())
        for content, response in zip(contents, responses, strict=False):
            both = len(content).to_bytes(8, "little") + content + _utf8(response)
            digest = blake2b(both, digest_size=16).digest()
            self._sum = (self._sum + int.from_bytes(digest, "little")) % 2**128
        return self

    def __add__(self, other: Fingerprint) -> Fingerprint:
        both = Fingerprint()
        both._sum = (self._sum + other._sum) % 2**128
        return both

    def hexdigest(self) -> str:
        return f"{self._sum:032x}"


def _rows(counts: csr_array) -> Iterator[bytes]:
    """Word counts of each document, whatever types they are kept in."""
    X = counts.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    ids, data = X.indices.astype("<i8"), X.data.astype("<f8")
    for start, stop in pairwise(X.indptr.tolist()):
        yield ids[start:stop].tobytes() + data[start:stop].tobytes()


def _plain(response: Any) -> str:
    number = isinstance(response, (int, float))
    return repr(float(response)) if number else str(response)


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@dataclass
class Thinned:
    """Evenly spaced numbers of a sequence, a bounded number of them, however it was cut."""

    values: Doc = field(default_factory=lambda: np.empty(0))
    every: int = 1
    n: int = 0

    def add(self, numbers: Doc) -> None:
        new = numbers[-self.n % self.every :: self.every]
        self.values, self.n = np.concatenate([self.values, new]), self.n + len(numbers)
        self._thin()

    def __add__(self, other: Thinned) -> Thinned:
        """Of both sequences, one after the other: evenly spaced in each."""
        every = max(self.every, other.every)
        values = np.concatenate([t.values[:: every // t.every] for t in (self, other)])
        return Thinned(values, every, self.n + other.n)._thin()

    def _thin(self) -> Thinned:
        while len(self.values) > MAX_SAMPLE:
            self.values, self.every = self.values[::2].copy(), 2 * self.every
        return self


@dataclass
class Ledger:
    """What is remembered of documents that passed, however they were cut into batches."""

    n_documents: int = 0
    left_out: Counter[str] = field(default_factory=Counter)  # rows, by reason
    example: str = ""  # where a response is not a number, and which
    moments: RunningMoments = field(default_factory=lambda: RunningMoments(0, 0.0, 0.0))
    low: float = np.inf
    high: float = -np.inf
    sample: Thinned = field(default_factory=Thinned)  # of the responses
    labels: set[str] = field(default_factory=set)  # where responses are no numbers
    fingerprint: Fingerprint = field(default_factory=Fingerprint)

    def add(self, batch: Batch) -> Self:
        self.n_documents += len(batch)
        self.left_out += batch.left_out
        self.example = self.example or batch.example
        self.fingerprint.update(batch.docs, batch.y)
        return self.add_responses(batch.y)

    def add_responses(self, responses: Any) -> Self:
        y = np.asarray([] if responses is None else responses).ravel()
        if len(y) and y.dtype.kind in "biuf":
            numbers = y.astype(float)
            self.moments += RunningMoments.of(numbers, np.ones(len(y)))
            self.sample.add(numbers)
            self.low = min(self.low, float(numbers.min()))
            self.high = max(self.high, float(numbers.max()))
        elif len(y):
            self.labels.update(map(str, y.tolist()))
        return self

    def __add__(self, other: Ledger) -> Ledger:
        """Of the documents of both."""
        return Ledger(
            self.n_documents + other.n_documents,
            self.left_out + other.left_out,
            self.example or other.example,
            self.moments + other.moments,
            min(self.low, other.low),
            max(self.high, other.high),
            self.sample + other.sample,
            self.labels | other.labels,
            self.fingerprint + other.fingerprint,
        )

    @property
    def n_rows(self) -> int:
        return self.n_documents + self.left_out.total()

    @property
    def response(self) -> dict[str, Any] | None:
        """Its mean and range, or its classes; None where there is none."""
        if self.labels:
            return {"classes": sorted(self.labels)}
        if not self.moments.weight:
            return None
        s = self.moments
        return {"mean": s.mean, "std": s.sd, "min": self.low, "max": self.high}

    def scale(self, topics: Any, log: bool | None) -> Scale:
        """Of the response as it is to be fitted; a warning where a logarithm would be better.

        Without a warning if ``log`` is None.
        """
        numbers = self.moments.weight and takes_numbers(topics)
        if log and not numbers:
            raise ValueError(
                f"got log=True for a {type(topics).__name__} and a response of "
                f"{_kind(self.response)}, but a logarithm needs an estimator of numbers, and "
                "these; leave it out"
            )
        if log is False and numbers:
            warn_of_heavy_tail(self.sample.values)
        return scale_of(self.low) if log else None

    def facts(self) -> dict[str, Any]:
        """Of the documents alone."""
        facts = {
            "n_rows": self.n_rows,
            "n_documents": self.n_documents,
            "n_left_out": dict(self.left_out),
            "fingerprint": self.fingerprint.hexdigest(),
        }
        return facts | ({} if self.response is None else {"response": self.response})

    def info(
        self, counts: Any, topics: Any, n_held_out: int = 0, n_baseline: int = 0
    ) -> dict[str, Any]:
        """Of the documents and of what was learnt from them.

        ``n_rows`` is the sum of ``n_documents``, which were learnt from, of ``n_held_out`` and
        of those left out by some reason.
        """
        short = int(getattr(topics, "n_short_", 0))
        return (
            self.facts()
            | facts_about(topics)
            | {
                "n_documents": self.n_documents - n_held_out - short,
                "n_held_out": n_held_out,
                "n_baseline": n_baseline,
                "n_left_out": dict(self.left_out + Counter({TOO_SHORT: short})),
                "too_common": counts.too_common() if hasattr(counts, "too_common") else [],
            }
        )


def takes_numbers(topics: Any) -> bool:
    """Whether an estimator learns from responses, and these are not labels."""
    return hasattr(topics, "predict") and not is_classifier(topics)


def _kind(response: dict[str, Any] | None) -> str:
    return "none" if response is None else "labels" if "classes" in response else "numbers"


def facts_about(topics: Any) -> dict[str, Any]:
    """Facts of a fitted estimator by itself, for ``info``."""
    from topicprism import __version__

    return {
        "n_words": topics.model_.n_words,
        "n_topics": topics.model_.n_topics,
        "estimator": type(topics).__name__,
        "scores": _held_out(topics),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": __version__,
    }


def _held_out(topics: Any) -> dict[str, float]:
    """How well as many topics predicted documents held out, if their number was chosen so."""
    trials = getattr(getattr(topics, "selection_", None), "trials", ())
    same = [t for t in trials if t.n_topics == topics.model_.n_topics and np.isfinite(t.pr2)]
    if not same:
        return {}
    best = max(same, key=lambda t: t.pr2)
    return {"held_out_pr2": float(best.pr2), "held_out_pr2_std": float(best.pr2_std)}
