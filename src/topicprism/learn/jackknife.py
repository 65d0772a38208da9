"""The jackknife: how far an estimate moves when a part of the documents is left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from topicprism._typing import Array
from topicprism.evaluation import match
from topicprism.learn.defaults import MODEL
from topicprism.learn.result import FitContext, FitResult
from topicprism.model import TooManyTopics
from topicprism.spectral.decompose import SPARE_COORDINATES, decompose
from topicprism.spectral.sketch import moments_of_subsets


def jackknife_std(without_one: Any, axis: int = 0) -> Array:
    """The standard error of an estimate, from its values without each of n equal parts::

    sqrt((n - 1) / n * sum of squared deviations of these values from their mean)
    """
    values = np.asarray(without_one)
    std: Array = np.sqrt(values.shape[axis] - 1) * np.std(values, axis=axis)
    return std


def jackknife_value(whole: Array, without_one: Array, axis: int = 0) -> Array:
    """The estimate less its bias of order 1 / n."""
    n = without_one.shape[axis]
    value: Array = n * whole - (n - 1) * without_one.mean(axis=axis)
    return value


def without_each(sums: Sequence[Any]) -> Iterator[Any]:
    """The sum without the first, without the second, and so on."""
    return (reduce(add, [*sums[:i], *sums[i + 1 :]]) for i in range(len(sums)))


def with_standard_errors(found: FitResult, context: FitContext) -> FitResult:
    """Coefficients with standard errors, by decompositions without each tenth of documents."""
    if not context.request.supervised:
        return found
    model, settings = found.model, context.request.settings
    restarts = min(settings.n_restarts, MODEL.jackknife_restarts)
    quick = replace(settings, whitening="auto", n_restarts=restarts)
    basis = context.sketch.leading(model.n_topics + SPARE_COORDINATES).basis
    folds = context.keys.cut(MODEL.jackknife_folds, context.at_most(MODEL.jackknife_documents))
    sketches = [s for s in moments_of_subsets(context.docs, folds, basis) if s.n > 0]
    etas, alpha0 = [], found.selection.alpha0
    for rest in without_each(sketches) if len(sketches) > 1 else ():
        try:
            again = decompose(rest, model.n_topics, alpha0, quick, rng=context.rng).model
        except TooManyTopics:
            return found
        etas.append(again.eta[match(again, model)])
    if not etas:
        return found
    share = sum(s.n for s in sketches) / context.sketch.n
    return replace(found, coef_std=np.sqrt(share) * jackknife_std(etas))
