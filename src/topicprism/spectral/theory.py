"""What the paper's theorems ask of a model, up to their universal constants.

=====================  ================================================================
code                   paper
=====================  ================================================================
sigma_1, sigma_k       extreme singular values of the canonical topics O~, whose columns
                       are sqrt(alpha_i / (alpha0 (alpha0+1))) mu_i
joint_sigma_1, _k      the same of O~*, with v_i = (mu_i, eta_i) for mu_i
lambda_min, _max       2/(alpha0+2) sqrt(alpha0 (alpha0+1) / alpha_i), extremes over i
two_stage              n_1, n_2, n_3 of Theorem 1
joint                  n_1', n_2', n_3' of Theorem 2
=====================  ================================================================

Corrections to the paper: n_1 has alpha_min^2 (its proof bounds a singular value
by alpha_min / (alpha0 (alpha0+1)) and squares it), and the logarithms are of
72/delta and 18/delta, not of 72/sigma and 18/sigma.  C(x) of Theorem 2 is
taken as R_3(x) = 4 |eta|^3 - 4 sigma^3 Phi^-1(x)^3, or 1 where that is less: the
words alone need as much.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from topicprism._typing import Array
from topicprism.model import Model


@dataclass(frozen=True)
class Diagnostics:
    """How hard a model is to learn.  Compare models with it; the constants are unknown."""

    sigma_1: float
    sigma_k: float
    joint_sigma_1: float
    joint_sigma_k: float
    lambda_min: float
    lambda_max: float
    two_stage: tuple[float, float, float]
    joint: tuple[float, float, float]


def diagnose(
    model: Model, n_documents: int, epsilon: float = 0.1, delta: float = 0.05
) -> Diagnostics:
    """Theorems 1 and 2 for an error ``epsilon`` with probability 1 - ``delta``."""
    a0, k = float(model.alpha.sum()), model.n_topics
    weight = np.sqrt(model.alpha / (a0 * (a0 + 1)))
    words, both = _extremes(weight * model.mu), _extremes(weight * np.vstack([model.mu, model.eta]))
    lam = 2 / (a0 + 2) * np.sqrt(a0 * (a0 + 1) / model.alpha)
    size, sigma = float(np.linalg.norm(model.eta)), model.sigma

    a_min, a_max = float(model.alpha.min()), float(model.alpha.max())
    prior = (a0 * (a0 + 1) / a_min) ** 2
    accuracy = max(1 / epsilon**2, (k / lam.min()) ** 2)
    response = size - sigma * float(norm.ppf(delta / 60))

    def tail(x: float) -> float:  # log terms of the concentration bounds
        return float((2 + np.sqrt(2 * np.log(x / delta))) ** 2)

    def C2(x: float) -> float:
        return float(max(1, 4 * size**3 - 4 * (sigma * norm.ppf(x)) ** 3) ** 2)

    def simple(x: float) -> float:
        return float((1 + np.sqrt(np.log(x / delta))) ** 2)

    two_stage = (
        simple(6) * prior,
        _over(simple(15) * max(response**2, (a_max * words[0]) ** 2), epsilon**2 * words[1] ** 4),
        _over(simple(9) * accuracy, words[1] ** 10),
    )
    rare = C2(delta / (36 * n_documents))
    joint = (
        rare * tail(18) * prior,
        C2(delta / (144 * n_documents)) * tail(72),
        _over(rare * tail(18) * accuracy, both[1] ** 10),
    )
    return Diagnostics(*words, *both, float(lam.min()), float(lam.max()), two_stage, joint)


def _over(a: float, b: float) -> float:
    """a / b; infinitely many documents are needed where b is 0."""
    return a / b if b > 0 else float("inf")


def _extremes(M: Array) -> tuple[float, float]:
    values = np.linalg.svd(M, compute_uv=False)
    return float(values[0]), float(values[-1])
