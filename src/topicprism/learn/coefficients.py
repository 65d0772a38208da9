"""Coefficients of the regime "model", their standard errors, and alpha0 unless it was given.

All are from cross-fitted moments (:mod:`topicprism.spectral.cross_fitted`), which have no bias
from the noise of many words.  With s(a) = log(sum(alpha_hat(a)) / a), alpha0 is where s is 0.
The jackknife gives the covariance of s and eta at that alpha0.  Where moments hardly depend on
alpha0 its estimate is far from normal and may be at an end of its range, but s is near to normal.
So errors of alpha0 are found from those of s::

    a(u)    where s is u, for every u up to t standard errors of s
    b       slope of the errors of eta on those of s
    change  the largest |eta(a(u)) - b u - eta|
    std     sqrt(t^2 * the variance of eta that s does not explain + change^2) / 1.96

t is the 97.5 % quantile of Student's distribution for as many values as there are folds, so that
eta +- 1.96 std is a 95 % interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.stats import t as student_t

from topicprism._typing import Array, Topic
from topicprism.evaluation import Z95, match
from topicprism.learn.defaults import MODEL
from topicprism.learn.jackknife import jackknife_std, without_each
from topicprism.learn.result import FitRequest
from topicprism.model import Model, TooManyTopics
from topicprism.spectral.decompose import decompose, own_stream
from topicprism.spectral.sketch import Sketch

Fit = Callable[[Sketch, float], tuple[float, Topic]]  # s and eta, at a logarithm of alpha0


@dataclass(frozen=True)
class Coefficients:
    """eta and its standard errors, in the order of the topics of a model that was given."""

    alpha0: float
    interval: tuple[float, float]  # 95 %, of alpha0
    eta: Topic
    std: Topic


@dataclass(frozen=True)
class PriorCurve:
    """s and eta at several alpha0, which s falls along."""

    log_alpha0: Array
    s: Array
    eta: Array

    def where(self, s: float | Array) -> Array:
        """The logarithm of alpha0 at which s has this value, or the nearest end of the range."""
        falling = np.minimum.accumulate(self.s) - 1e-9 * np.arange(len(self.s))
        inside = np.clip(-np.asarray(s), -falling[0], -falling[-1])
        found: Array = PchipInterpolator(-falling, self.log_alpha0)(inside)
        return found

    def eta_at(self, log_alpha0: Array) -> Array:
        eta: Array = PchipInterpolator(self.log_alpha0, self.eta)(log_alpha0)
        return eta

    def with_point(self, log_alpha0: float, s: float, eta: Topic) -> PriorCurve:
        i = int(np.searchsorted(self.log_alpha0, log_alpha0))
        if np.abs(self.log_alpha0 - log_alpha0).min() < 1e-6:
            return self
        return PriorCurve(
            np.insert(self.log_alpha0, i, log_alpha0),
            np.insert(self.s, i, s),
            np.insert(self.eta, i, eta, axis=0),
        )


def coefficients(
    folds: Sequence[Sketch], like: Model, request: FitRequest, rng: np.random.Generator
) -> Coefficients | None:
    """From cross-fitted moments of folds; None if these do not have so many topics."""
    if len(folds) < 2:
        return None
    fit = _fitted_like(like, request, own_stream(rng))
    try:
        if request.alpha0 is None and like.n_topics > 1:
            return _with_alpha0(folds, fit)
        return _at_alpha0(folds, fit, request.alpha0 or float(like.alpha.sum()))
    except TooManyTopics:
        return None


def _at_alpha0(folds: Sequence[Sketch], fit: Fit, alpha0: float) -> Coefficients:
    _, eta = fit(reduce(add, folds), np.log(alpha0))
    without = [fit(rest, np.log(alpha0))[1] for rest in without_each(folds)]
    std = _t95(len(without)) / Z95 * jackknife_std(without)
    return Coefficients(alpha0, (alpha0, alpha0), eta, std)


def _with_alpha0(folds: Sequence[Sketch], fit: Fit) -> Coefficients:
    """At the alpha0 at which s is 0, with its errors in those of eta."""
    whole = reduce(add, folds)
    curve = _curve(whole, fit)
    for _ in range(2):  # the second time from a point nearby
        found = float(curve.where(0.0))
        s, eta = fit(whole, found)
        curve = curve.with_point(found, s, eta)
    without = _without_each(folds, fit, found)
    reach = _t95(len(folds)) * jackknife_std(without[0])
    low, high = curve.where(reach * np.array([1, -1])).tolist()
    usual = max(np.log(MODEL.usual_alpha0), low)
    if high > curve.log_alpha0[-1] - 1e-3 and found > usual:  # any larger value would do as well
        found = usual
        s, eta = fit(whole, found)
        curve, without = curve.with_point(found, s, eta), _without_each(folds, fit, found)
    std = _errors(curve, eta, *without)
    return Coefficients(float(np.exp(found)), (np.exp(low), np.exp(high)), eta, std)


def _without_each(folds: Sequence[Sketch], fit: Fit, log_alpha0: float) -> tuple[Array, Array]:
    """s and eta without each fold."""
    s, eta = zip(*(fit(rest, log_alpha0) for rest in without_each(folds)), strict=True)
    return np.array(s), np.array(eta)


def _fitted_like(like: Model, request: FitRequest, rng: np.random.Generator) -> Fit:
    restarts = min(request.settings.n_restarts, MODEL.jackknife_restarts)
    quick = replace(request.settings, whitening="auto", n_restarts=restarts)

    def fit(sketch: Sketch, log_alpha0: float) -> tuple[float, Topic]:
        found = decompose(sketch, like.n_topics, float(np.exp(log_alpha0)), quick, rng=rng).model
        return float(np.log(found.alpha.sum()) - log_alpha0), found.eta[match(found, like)]

    return fit


def _curve(whole: Sketch, fit: Fit) -> PriorCurve:
    """Over the range of alpha0, up to where so much is taken off the second moment that topics
    are lost."""
    points: list[tuple[float, float, Topic]] = []
    low, high = np.log(MODEL.alpha0_range)
    for log_alpha0 in np.linspace(low, high, MODEL.alpha0_points).tolist():
        try:
            points.append((log_alpha0, *fit(whole, log_alpha0)))
        except TooManyTopics:
            if len(points) < 2:
                raise
            break
    return PriorCurve(*(np.array(values) for values in zip(*points, strict=True)))


def _errors(curve: PriorCurve, eta: Topic, s_without: Array, eta_without: Array) -> Topic:
    """Standard errors of eta with those of alpha0 in them; the formula is above."""
    s_std, eta_std = jackknife_std(s_without), jackknife_std(eta_without)
    away = s_without - s_without.mean()
    slope = away @ eta_without / max(float(away @ away), np.finfo(float).tiny)
    unexplained = np.maximum(eta_std**2 - (slope * s_std) ** 2, 0)
    t = _t95(len(s_without))
    u = np.linspace(-t, t, MODEL.coefficient_levels) * s_std
    changes = curve.eta_at(curve.where(u)) - slope * u[:, None] - eta
    std: Topic = np.sqrt(t**2 * unexplained + np.abs(changes).max(axis=0) ** 2) / Z95
    return std


def _t95(n: int) -> float:
    return float(student_t.ppf(0.975, n - 1))
