"""Passes over documents, with what each is for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from topicprism.documents.corpus import Documents
from topicprism.documents.subsets import (
    OfDocuments,
    in_key_order,
    of_subset,
    of_subsets,
    selected_documents,
)
from topicprism.learn.judging import mean_shares, words_together
from topicprism.learn.noise import cross_products
from topicprism.learn.proportions import inferred
from topicprism.learn.refine import expected_counts
from topicprism.learn.response_topics import sizes_by_fold
from topicprism.learn.ridge import completion, products, residual_sums
from topicprism.learn.survey import survey
from topicprism.spectral.moments import pair_products, sketch_sums, word_sums

S = TypeVar("S")
PURPOSES: dict[Callable[..., Any], str] = {  # of a pass, by the function whose sum is taken
    survey: "counting documents",
    word_sums: "counting words",
    pair_products: "finding directions",
    sketch_sums: "computing moments",
    cross_products: "estimating the noise variance",
    sizes_by_fold: "comparing directions between folds",
    of_subsets: "computing moments by fold",
    expected_counts: "refining topics",
    products: "regressing the response on topics",
    residual_sums: "estimating predictive variance",
    inferred: "regressing halves on topics of each other",
    mean_shares: "measuring topics",
    selected_documents: "gathering documents",
    completion: "measuring the likelihood of words",
    words_together: "measuring coherence",
}


class Progress(Protocol):
    """Receives the progress of a fit."""

    def stage(self, now: str) -> None: ...
    def at(self, share: float | None, note: str = "") -> None: ...


class Silent:
    """Ignores it."""

    def stage(self, now: str) -> None:
        pass

    def at(self, share: float | None, note: str = "") -> None:
        pass


@dataclass
class Watched(OfDocuments):
    """Documents whose passes can be watched."""

    docs: Documents
    progress: Progress
    passes: int = 0

    def total(self, part: Callable[..., S], *shared: Any) -> S:
        self.passes += 1
        self.progress.at(None, f"pass {self.passes}: {_purpose(part, *shared)}")
        return self.docs.total(part, *shared)

    def in_key_order(self, n_documents: int) -> Watched:
        ordered = in_key_order(self.docs, n_documents)
        return self if ordered is self.docs else replace(self, docs=ordered)


def _purpose(part: Callable[..., Any], *shared: Any) -> str:
    """What a pass is for, over all documents or a part: to try numbers of topics, say."""
    functions = [f for f in (part, *shared) if callable(f)]
    what = next((PURPOSES[f] for f in functions if f in PURPOSES), "adding up")
    return f"{what}, of a part" if of_subset in functions else what
