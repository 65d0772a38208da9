"""The two steps of a pipeline, unfitted: what counts words and what learns topics."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from topicprism.defaults import COUNTING
from topicprism.estimators import SpectralSLDA
from topicprism.estimators.base import Topics
from topicprism.vectorizer import FastCountVectorizer, PrecomputedCounts


def counts_step(
    counting: Mapping[str, Any],
    vocabulary: Collection[str] | None = None,
    n_jobs: int | None = None,
    given: bool = False,
) -> FastCountVectorizer | PrecomputedCounts:
    """A vectorizer, with the defaults of ``defaults.COUNTING``; or none if counts are given."""
    if given:
        _refuse_counting(counting)
        return PrecomputedCounts(vocabulary=vocabulary)
    options = vars(COUNTING) | dict(counting)
    return FastCountVectorizer(**options, vocabulary=vocabulary, dtype=np.int32, n_jobs=n_jobs)


def _refuse_counting(options: Mapping[str, Any]) -> None:
    """Nothing is left to count: an option that was changed would go unheard."""
    for name, value in options.items():
        if value != getattr(COUNTING, name):
            raise ValueError(
                f"got {name}={value!r:.40} with counts, but expected it with texts, whose words "
                "are yet to be counted; leave it out, or choose columns of the counts yourself"
            )


def topics_step(estimator: Any, n_jobs: Any, random_state: Any, options: Mapping[str, Any]) -> Any:
    """The estimator with its options: a class, ``SpectralSLDA`` by default, or an instance."""
    if estimator is None or isinstance(estimator, type):
        blank = (estimator or SpectralSLDA)()
        own = {"n_jobs": n_jobs, "random_state": random_state}
    else:
        blank, own = clone(estimator, safe=False), {}
    if not isinstance(blank, Topics):
        raise ValueError(
            f"estimator={estimator!r:.60}, but expected one of topicprism's, such as "
            "SpectralSLDA; use sklearn's make_pipeline for others"
        )
    known = blank.get_params(deep=False)
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ValueError(
            f"got {unknown[0]}={options[unknown[0]]!r:.40}, which is an option neither of counting "
            f"nor of {type(blank).__name__}; the latter's are {', '.join(known)}"
        )
    return blank.set_params(**own, **options)
