"""What another choice of the prior would do to effects.

A coefficient is the expected response of a document of one topic only.  The stronger the prior of
the proportions, the less these differ from document to document, and the further coefficients
reach.  The prior is chosen by R2 (:func:`topicprism.learn.ridge.best_prior`), and other documents
might choose another one.  R2_j, that of prior j, is a mean over documents, whose covariance C is
known; topics of other documents would differ, too, so that it is taken prior_uncertainty^2 times.
Then the probability of choosing j is ::

    p_j = P[j is chosen by Normal(R2, C)]

and the variance of coefficient i that comes from the choice is, about the value that is shown ::

    sum over j of p_j (eta_ij - eta_i)^2
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from topicprism._typing import Array, Doc, Topic
from topicprism.documents.corpus import Documents
from topicprism.documents.subsets import Subset
from topicprism.learn.defaults import EFFECTS
from topicprism.learn.proportions import inferred
from topicprism.learn.ridge import Products, first_good_enough, regress
from topicprism.model import Model

JITTER = 1e-10  # of the mean variance: priors whose R2 are the same have a singular covariance


@dataclass(frozen=True)
class PriorChoice:
    """Among what, and on which documents, a prior was chosen."""

    alpha0: tuple[float, ...]
    burstiness: tuple[float, ...]
    tolerance: float  # of R2, given up for an earlier one
    subset: Subset

    def of(self, model: Model) -> list[Model]:
        pairs = product(self.alpha0, self.burstiness)
        return [replace(model.with_alpha0(a), burstiness=b) for a, b in pairs]

    def spread(self, docs: Documents, model: Model) -> Topic:
        """Standard deviations of the coefficients of this model by the choice of its prior."""
        tried = self.of(model)
        if len(tried) == 1:
            return np.zeros(model.n_topics)
        known = [docs.total(inferred, m, self.subset) for m in tried]
        eta = np.array([regress(Products.of(k.h, k.y)).eta for k in known])
        own = docs.total(inferred, model, self.subset)
        apart = eta - regress(Products.of(own.h, own.y)).eta
        squares = np.array([(k.y - k.h @ e) ** 2 for k, e in zip(known, eta, strict=True)])
        chance = probabilities(squares, known[0].y, known[0].keys, self.tolerance)
        spread: Topic = np.sqrt(chance @ apart**2)
        return spread


def probabilities(squares: Array, y: Doc, keys: NDArray[np.uint64], tolerance: float) -> Array:
    """That each prior (a row of squared residuals) is chosen; copies are one observation."""
    total = float(((y - y.mean()) ** 2).sum())
    r2 = 1 - squares.sum(axis=1) / total if total > 0 else np.zeros(len(squares))
    _, cluster = np.unique(keys, return_inverse=True)
    lost = np.array([np.bincount(cluster, s - s.mean()) for s in squares]) / max(total, 1e-150)
    C = EFFECTS.prior_uncertainty**2 * lost @ lost.T
    root = np.linalg.cholesky(C + (JITTER * np.trace(C) / len(C) + 1e-30) * np.eye(len(C)))
    draws = r2 + np.random.default_rng(0).standard_normal((EFFECTS.prior_draws, len(C))) @ root.T
    chosen = [first_good_enough(draw, tolerance) for draw in draws]
    return np.bincount(chosen, minlength=len(C)) / EFFECTS.prior_draws
