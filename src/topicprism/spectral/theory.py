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

What differs from the paper, each with its derivation in ``docs/errata.md``:

* n_1 and n_1' have sigma_k^4 where it prints alpha_min / (alpha0 (alpha0+1)): the latter is
  sigma_k(M2) only if topics share no words;
* n_2 has R(delta / 60 N), for all N responses are bounded at once, and log(30/delta); it has
  rho^2 sigma_1^2 for alpha_max^2 sigma_1^2, rho = (alpha0+2)/2 lambda_max;
* C(x) of Theorem 2 is C_2(delta / 36 N) with 18/delta, as E_P has it, and C_3(delta / 144 N) with
  72/delta, as E_T; n_3' is what both of them ask for, with max |v_i|^3 beside E_P, where Appendix B
  has C_3(delta / 36 N) with 18/sigma;
* for alpha_i = 1/k, k^2 / lambda_min^2 is 9k/8, so that n_3 and n_3' have max(1/epsilon^2, k) where
  its remarks have k^3;
* the bounds for alpha, mu, eta and v (:func:`bounds`, :func:`joint_bounds`).
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
    weight = _canonical(model)
    v = np.vstack([model.mu, model.eta])
    words, both = _extremes(weight * model.mu), _extremes(weight * v)
    longest = float(np.linalg.norm(v, axis=0).max())
    lam = 2 / (a0 + 2) * np.sqrt(a0 * (a0 + 1) / model.alpha)
    size, sigma = float(np.linalg.norm(model.eta)), model.sigma

    accuracy = max(1 / epsilon**2, (k / lam.min()) ** 2)
    tails = Tails(size, sigma, delta, n_documents)
    rho = (a0 + 2) / 2 * lam.max()
    response = tails.R(1, 60)

    def simple(x: float) -> float:
        return float((1 + np.sqrt(np.log(x / delta))) ** 2)

    two_stage = (
        _over(simple(6), words[1] ** 4),
        _over(simple(30) * max(response, rho * words[0]) ** 2, epsilon**2 * words[1] ** 4),
        _over(simple(9) * accuracy, words[1] ** 10),
    )
    pairs, triples = tails.C(2, 36) * tails.factor(18), tails.C(3, 144) * tails.factor(72)
    joint = (
        _over(pairs**2, both[1] ** 4),
        triples**2,
        accuracy
        * max(_over((longest**3 * pairs) ** 2, both[1] ** 10), _over(triples**2, both[1] ** 6)),
    )
    return Diagnostics(*words, *both, float(lam.min()), float(lam.max()), two_stage, joint)


@dataclass(frozen=True)
class Tails:
    """How large a response may be, and how far means are off, for concentration inequalities."""

    size: float  # |eta|
    sigma: float
    delta: float
    n: int

    def R(self, i: int, share: float) -> float:
        """R_i(delta / (share n)): |y|^i is below it for all n documents, mostly."""
        z = float(norm.ppf(self.delta / (share * self.n)))
        return float((1, 2, 4)[i - 1] * (self.size**i + (-self.sigma * z) ** i))

    def C(self, i: int, share: float) -> float:
        """C_i = 1 + R_1 + ... + R_i of Appendix B."""
        return 1 + sum(self.R(j, share) for j in range(1, i + 1))

    def factor(self, share: float) -> float:
        """2 + sqrt(2 log(share / delta))."""
        return float(2 + np.sqrt(2 * np.log(share / self.delta)))


@dataclass(frozen=True)
class Bounds:
    """What the proof of Theorem 1 bounds, with probability 1 - delta, the constants included.

    ``epsilon`` is the largest of what must be below the theorem's; the last three are infinite
    where E_P is above half of sigma_k^2, or 5 epsilon above lambda_min.  (That epsilon be also
    below a universal constant times lambda_min / k is not checked: nobody knows the constant.)
    """

    E_P: float  # |M2 - its estimate|
    E_y: float  # the same of My
    E_T: float  # and of M3
    epsilon_y: float  # |My(W, W) - its estimate|
    epsilon_t: float  # |M3(W, W, W) - its estimate|
    epsilon: float
    alpha: float
    mu: float
    eta: float


def bounds(model: Model, n_documents: int, delta: float = 0.05) -> Bounds:
    """Error bounds of the two-stage method on ``n_documents`` of three words or more."""
    a0 = float(model.alpha.sum())
    sigma_1, sigma_k = _extremes(_canonical(model) * model.mu)
    lam = 2 / (a0 + 2) * np.sqrt(a0 * (a0 + 1) / model.alpha)
    size, root = float(np.linalg.norm(model.eta)), float(np.sqrt(n_documents))
    tails = Tails(size, model.sigma, delta, n_documents)
    thirds = 1 + 6 * a0 / (a0 + 2) + 6 * a0**2 / ((a0 + 1) * (a0 + 2))  # 10 in the paper

    E_P = 3 * tails.factor(6) / root
    E_y = thirds * tails.R(1, 60) * tails.factor(30) / root
    E_T = thirds * tails.factor(9) / root
    eps_y = _over(24 * size * E_P / (a0 + 2) + 4 * E_y, sigma_k**2)
    eps_t = _over(56 * E_P / ((a0 + 1) * (a0 + 2)), sigma_k**5) + _over(8 * E_T, sigma_k**3)
    rho = (a0 + 2) / 2 * float(lam.max())
    eps = max(eps_t, eps_y, _over(6 * rho * sigma_1 * E_P, sigma_k**2))
    half = sigma_k**2 / 2
    holds = half >= E_P and 5 * eps < lam.min()
    of = parameter_bounds(model, eps) if holds else (float("inf"),) * 3
    return Bounds(E_P, E_y, E_T, eps_y, eps_t, eps, *of)


@dataclass(frozen=True)
class JointBounds:
    """The same of Theorem 2; v is (mu, eta)."""

    E_P: float  # |N2 - its estimate|
    E_T: float  # |N3 - its estimate|
    epsilon_t: float  # |N3(W, W, W) - its estimate|
    epsilon: float
    alpha: float
    v: float


def joint_bounds(model: Model, n_documents: int, delta: float = 0.05) -> JointBounds:
    """Error bounds of the joint method, whose noise variance is known.

    With f the factor of the concentration inequality, and since means of z, z z and z z z are
    bounded by C_1, C_2 and C_3 and are off by no more than f times these::

        E_P  <=  f (C_2 + 2 a/(a+1) C_1^2)
        E_T  <=  f (C_3 + 6 a/(a+2) C_1 C_2 + 6 a^2/((a+1)(a+2)) C_1^3 + 6 sigma^2/(a+2) C_1)
    """
    a0, root = float(model.alpha.sum()), float(np.sqrt(n_documents))
    both = np.vstack([model.mu, model.eta])
    _, sigma_k = _extremes(_canonical(model) * both)
    tails = Tails(float(np.linalg.norm(model.eta)), model.sigma, delta, n_documents)
    one, two = (tails.C(i, 36) for i in (1, 2))
    E_P = (two + 2 * a0 / (a0 + 1) * one**2) * tails.factor(18) / root
    one, two, three = (tails.C(i, 144) for i in (1, 2, 3))
    three += 6 * one * (a0 * two + a0**2 / (a0 + 1) * one**2 + model.sigma**2) / (a0 + 2)
    E_T = three * tails.factor(72) / root
    longest = float(np.linalg.norm(both, axis=0).max())
    eps_t = _over(56 * longest**3 * E_P / ((a0 + 1) * (a0 + 2)), sigma_k**5)
    eps_t += _over(8 * E_T, sigma_k**3)
    eps = max(eps_t, _over(6 * E_P, sigma_k**2))
    lam = 2 / (a0 + 2) * np.sqrt(a0 * (a0 + 1) / model.alpha)
    holds = sigma_k**2 / 2 >= E_P and 5 * eps < lam.min()
    of = joint_parameter_bounds(model, eps) if holds else (float("inf"),) * 2
    return JointBounds(E_P, E_T, eps_t, eps, *of)


def parameter_bounds(model: Model, epsilon: float) -> tuple[float, float, float]:
    """How far alpha, mu and eta may be off if the whitened moments are off by ``epsilon``.

    With |lambda^ - lambda| <= 5 epsilon and |v^ - v| <= 8 epsilon / lambda_min (Theorem 5.1 of
    Anandkumar et al. 2014)::

        |alpha_i^ - alpha_i|  <=  alpha_max ((lambda_min / (lambda_min - 5 epsilon))^2 - 1)
        |mu_i^ - mu_i|        <=  (3 sigma_1 (a+2)/2 (8 lambda_max / lambda_min + 5) + 1) epsilon
        |eta_i^ - eta_i|      <=  (16 |eta| / lambda_min
                                   + (a+2)/2 (1 + 16 epsilon / lambda_min)) epsilon

    For a small epsilon the first is 10 alpha_max epsilon / lambda_min; from lambda_min / 5 on it is
    infinite.
    """
    low, high, half, alpha = _common(model, epsilon)
    sigma_1, _ = _extremes(_canonical(model) * model.mu)
    size = float(np.linalg.norm(model.eta))
    mu = (3 * sigma_1 * half * (8 * high / low + 5) + 1) * epsilon
    eta = (16 * size / low + half * (1 + 16 * epsilon / low)) * epsilon
    return alpha, mu, eta


def joint_parameter_bounds(model: Model, epsilon: float) -> tuple[float, float]:
    """The same of Theorem 2: how far alpha and v = (mu, eta) may be off.

    With 6 E_P / sigma_k^2 <= epsilon too, sigma_1 and sigma_k being those of the joint topics::

        |v_i^ - v_i|  <=  sigma_1 (a+2)/2 (lambda_max + 15 + 24 lambda_max / lambda_min) epsilon

    so that neither mu_i nor eta_i is off by more.
    """
    low, high, half, alpha = _common(model, epsilon)
    sigma_1, _ = _extremes(_canonical(model) * np.vstack([model.mu, model.eta]))
    return alpha, sigma_1 * half * (high + 15 + 24 * high / low) * epsilon


def _common(model: Model, epsilon: float) -> tuple[float, float, float, float]:
    """lambda_min, lambda_max, (a+2)/2 and the bound for alpha."""
    a0 = float(model.alpha.sum())
    lam = 2 / (a0 + 2) * np.sqrt(a0 * (a0 + 1) / model.alpha)
    low, high, left = float(lam.min()), float(lam.max()), float(lam.min() - 5 * epsilon)
    alpha = float(model.alpha.max()) * ((low / left) ** 2 - 1) if left > 0 else float("inf")
    return low, high, a0 / 2 + 1, alpha


def _canonical(model: Model) -> Array:
    """What topics are multiplied by to be canonical: sqrt(alpha_i / (a (a+1)))."""
    a0 = model.alpha.sum()
    weights: Array = np.sqrt(model.alpha / (a0 * (a0 + 1)))
    return weights


def _over(a: float, b: float) -> float:
    """a / b; infinitely many documents are needed where b is 0."""
    return a / b if b > 0 else float("inf")


def _extremes(M: Array) -> tuple[float, float]:
    values = np.linalg.svd(M, compute_uv=False)
    return float(values[0]), float(values[-1])
