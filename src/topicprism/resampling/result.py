"""How often each topic of the fit to all documents is found in fits to half samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from topicprism._typing import Array, Topic
from topicprism.evaluation import N_TOP_WORDS
from topicprism.pipeline.fitted import TopicPipeline
from topicprism.resampling.comparing import Comparison, replicated
from topicprism.show.effects import Effects, effects
from topicprism.show.terminal import MIN_STD_RUNS, stability_lines


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """How reproducible the topics of a fit are; arrays have one number for each of its topics.

    Attributes
    ----------
    reference : TopicPipeline
        The fit to all documents, whose topics are looked for.
    n_documents : int
        Documents that were split into halves: those long enough to learn from.
    runs : tuple of Comparison
        The reference beside each fit to a half.
    halves : tuple of Comparison
        The first half of each split beside the second.
    found_again : ndarray
        Share of the runs in which the topic was found: its counterpart has a similarity of at
        least 0.7, and is at least as similar to it as to any other topic of the reference.
    replicated : ndarray
        Share of the splits in which the topic was found in both halves, and its counterparts are
        each other's by the same rule; nan without a whole split.
    similarity : ndarray
        Bhattacharyya coefficient of topic and counterpart, mean over runs.
    common_words : ndarray
        Share of the ten top words that the counterpart has, too, mean over runs.
    effect : ndarray or None
        Coefficient in the reference; None without a response.
    effect_mean, effect_std : ndarray or None
        Mean and standard deviation of the coefficient over runs in which the topic was found; nan
        if there were none, or for the latter fewer than four.
    halves_common_words : float
        Share of top words in common between the halves of a split, mean over topics and splits.
    """

    reference: TopicPipeline
    n_documents: int
    runs: tuple[Comparison, ...]
    halves: tuple[Comparison, ...]

    @property
    def found_again(self) -> Topic:
        return self._over_runs("found")

    @property
    def replicated(self) -> Topic:
        pairs = zip(self.runs[::2], self.runs[1::2], self.halves, strict=False)
        met = [replicated(*pair) for pair in pairs]
        n = len(self.runs[0].found)
        return np.array([_mean(np.array([one[i] for one in met])) for i in range(n)])

    @property
    def similarity(self) -> Topic:
        return self._over_runs("similarity")

    @property
    def common_words(self) -> Topic:
        return self._over_runs("common_words")

    @property
    def effect(self) -> Topic | None:
        return self._shown.coef

    @property
    def effect_mean(self) -> Topic | None:
        return None if self.effect is None else np.array([_mean(e) for e in self._effects()])

    @property
    def effect_std(self) -> Topic | None:
        if self.effect is None:
            return None
        enough = (e if len(e) >= MIN_STD_RUNS else np.full(2, np.nan) for e in self._effects())
        return np.array([np.std(e, ddof=1) for e in enough])

    @property
    def halves_common_words(self) -> float:
        n = len(self.runs[0].found)
        return _mean(np.array([pair.common_words.sum() / n for pair in self.halves]))

    def _over_runs(self, name: str) -> Topic:
        found: Topic = np.mean([getattr(run, name) for run in self.runs], axis=0)
        return found

    @cached_property
    def _shown(self) -> Effects:
        return effects(self.reference)

    def _effects(self) -> Iterator[Array]:
        """Of each topic, in the runs in which it was found."""
        for i in range(len(self.found_again)):
            yield np.array([run.effects[i] for run in self.runs if run.found[i]])

    def facts(self) -> dict[str, Any]:
        """All numbers as plain values; what is not known is None."""
        columns = {
            "effect": self.effect,
            "effect_mean": self.effect_mean,
            "effect_std": self.effect_std,
            "found_again": self.found_again,
            "replicated": self.replicated,
            "similarity": self.similarity,
            "common_words": self.common_words,
        }
        words = self._shown.top_words(N_TOP_WORDS)
        topics = [
            {"number": i + 1}
            | {name: _plain(None if of is None else of[i]) for name, of in columns.items()}
            | {"words": words[i]}
            for i in self._shown.order.tolist()
        ]
        return {
            "n_documents": self.n_documents,
            "n_runs": len(self.runs),
            "n_splits": len(self.halves),
            "halves_common_words": _plain(self.halves_common_words),
            "effect_of": None if self.effect is None else self._shown.response,
            "decimals": self._shown.decimals,
            "topics": topics,
        }

    def rows(self) -> list[dict[str, Any]]:
        """One for each topic, its words in one string."""
        return [topic | {"words": " ".join(topic["words"])} for topic in self.facts()["topics"]]

    def to_frame(self) -> Any:
        """A pandas frame with one row for each topic, by its number."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "to_frame needs pandas, which is not installed; install it, or use rows()"
            ) from None
        return pd.DataFrame(self.rows()).set_index("number")

    def __repr__(self) -> str:
        return "\n".join(stability_lines(self.facts()))


def _mean(values: Array) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


def _plain(value: Any) -> float | None:
    return float(value) if value is not None and np.isfinite(value) else None
