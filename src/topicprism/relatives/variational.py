"""Supervised LDA by variational EM (Blei and McAuliffe 2007; Wang, Blei and Fei-Fei 2009).

h ~ Dirichlet(alpha), a topic z for each of N words, and a response that depends on zbar, their
mean.  With q = Dirichlet(h | gamma) times a row of phi for each word, the bound is::

    E_q[log p(words, z, h) - log q] + E_q[log p(y | zbar)] + log p(mu, eta)

========  ============================================================================
number    y ~ Normal(eta . zbar, noise): E_q of its logarithm is exact
class     p(c) ~ exp(eta[c] . zbar): -log sum over l of E_q[exp(eta[l] . zbar)] is below
          E_q of its logarithm
prior     log p = beta sum(log mu) - sum(eta**2) / (2 eta_variance)
========  ============================================================================

Every step maximises or raises the bound in some unknowns, the others fixed, and so the bound never
falls (but for rounding).  Each word of a document has its own row of phi, all are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array

from topicprism._typing import Array, Counts, Doc, DocTopic, Topic, WordTopic
from topicprism.documents.corpus import cut
from topicprism.kernels import variational as kernels
from topicprism.kernels.blas import one_blas_thread
from topicprism.relatives import N_PARTS
from topicprism.samplers.state import SAMPLER

ETA_START = 1.0  # the largest coefficient to begin with, for a response of variance 1
MIN_NOISE = 1e-6  # of a response of variance 1
N_SWEEPS, SWEEP_TOLERANCE = 20, 1e-4  # over the words of a document, at most and until
CLASS_STEPS = 10  # of L-BFGS, each time coefficients of classes are raised


@dataclass(frozen=True)
class Tokens:
    """One entry for each word of each document; none is empty."""

    X: Counts

    @property
    def lengths(self) -> Doc:
        return np.diff(self.X.indptr).astype(float)

    def parts(self) -> list[slice]:
        return [slice(*edges) for edges in cut(self.X, N_PARTS)]


@dataclass
class Beliefs:
    """q, document by document: filled in place."""

    phi: Array  # (words of all documents, k)
    gamma: DocTopic
    bound: Doc  # what words contribute


@dataclass(frozen=True)
class Parameters:
    mu: WordTopic
    eta: Array  # (k,), or (classes, k)
    noise: float = 1.0  # that of a class has no part


@dataclass(frozen=True)
class Number:
    """y of mean 0 and variance 1: what it adds to the bound, and how q and eta follow it."""

    y: Doc
    noise: float = 1.0  # to begin with

    def start(self, n_topics: int) -> tuple[Array, float]:
        """Coefficients and noise to begin with."""
        return ETA_START * np.linspace(-1, 1, n_topics) if n_topics > 1 else np.zeros(1), self.noise

    def sweep(self, t: Tokens, log_mu: WordTopic, alpha: Topic, p: Parameters, q: Beliefs,
              rows: slice) -> None:  # fmt: skip
        indptr = t.X.indptr[rows.start : rows.stop + 1]
        kernels.gaussian(
            indptr, t.X.indices, log_mu, alpha, self.y[rows], p.eta, p.noise,
            N_SWEEPS, SWEEP_TOLERANCE, q.phi, q.gamma[rows], q.bound[rows],
        )  # fmt: skip

    def bound(self, t: Tokens, z: DocTopic, phi: Array, p: Parameters, run: Any) -> float:
        error = self._error(z, second_moment(t, z, phi), p.eta)
        n = len(self.y)
        return -0.5 * (n * float(np.log(2 * np.pi * p.noise)) + error / p.noise)

    def maximised(
        self, t: Tokens, z: DocTopic, phi: Array, p: Parameters, run: Any
    ) -> tuple[Array, float]:
        """Coefficients and noise with the largest bound."""
        zz = second_moment(t, z, phi)
        prior = p.noise / SAMPLER.eta_variance * np.eye(len(zz))
        eta: Array = np.asarray(np.linalg.solve(zz + prior, z.T @ self.y), float)
        return eta, max(self._error(z, zz, eta) / len(self.y), MIN_NOISE)

    def _error(self, z: DocTopic, zz: Array, eta: Topic) -> float:
        """Sum over documents of E[(y - eta . zbar)^2]."""
        y = self.y
        return float(y @ y - 2 * eta @ (z.T @ y) + eta @ zz @ eta)


@dataclass(frozen=True)
class Label:
    """Which of ``n_classes`` each document is."""

    which: NDArray[np.intp]
    n_classes: int

    def start(self, n_topics: int) -> tuple[Array, float]:
        """Topics take turns to speak for a class."""
        return np.eye(self.n_classes)[np.arange(n_topics) % self.n_classes].T.copy(), 1.0

    def sweep(self, t: Tokens, log_mu: WordTopic, alpha: Topic, p: Parameters, q: Beliefs,
              rows: slice) -> None:  # fmt: skip
        indptr = t.X.indptr[rows.start : rows.stop + 1]
        kernels.softmax(
            indptr, t.X.indices, log_mu, alpha, self.which[rows], p.eta,
            N_SWEEPS, SWEEP_TOLERANCE, q.phi, q.gamma[rows], q.bound[rows],
        )  # fmt: skip

    def bound(self, t: Tokens, z: DocTopic, phi: Array, p: Parameters, run: Any) -> float:
        return self._value(t, phi, p.eta, run)[0]

    def maximised(
        self, t: Tokens, z: DocTopic, phi: Array, p: Parameters, run: Any
    ) -> tuple[Array, float]:
        """The bound is concave in eta."""

        def loss(flat: Array) -> tuple[float, Array]:
            eta = np.array(flat).reshape(p.eta.shape)
            value, gradient = self._value(t, phi, eta, run)
            penalty = float((eta**2).sum()) / (2 * SAMPLER.eta_variance)
            return penalty - value, (eta / SAMPLER.eta_variance - gradient).ravel()

        options = {"maxiter": CLASS_STEPS}
        found: Any = minimize(  # type: ignore[call-overload]
            loss, p.eta.ravel(), jac=True, method="L-BFGS-B", options=options
        )
        return np.array(found.x).reshape(p.eta.shape), p.noise

    def _value(self, t: Tokens, phi: Array, eta: Array, run: Any) -> tuple[float, Array]:
        def part(rows: slice) -> tuple[float, Array]:
            gradient = np.zeros_like(eta)
            indptr = t.X.indptr[rows.start : rows.stop + 1]
            value = kernels.class_bound(indptr, self.which[rows], phi, eta, gradient)
            return value, gradient

        values, gradients = zip(*run(part), strict=True)
        return float(sum(values)), np.sum(gradients, axis=0)


Response = Number | Label


def second_moment(t: Tokens, z: DocTopic, phi: Array) -> Array:
    """Sum over documents of E[zbar zbar']; words are independent under q."""
    n = t.lengths
    weighed = phi / np.repeat(n**2, np.diff(t.X.indptr))[:, None]
    one: Array = z.T @ z - weighed.T @ phi
    return one + np.diag((z / n[:, None]).sum(axis=0))


@dataclass(frozen=True)
class Fitted:
    parameters: Parameters
    beliefs: Beliefs
    trace: Array  # the bound, after each iteration


def start_topics(X: Counts, n_topics: int, rng: np.random.Generator) -> WordTopic:
    """Words as frequent as in all documents, each topic off by random factors."""
    p = np.asarray(X.sum(axis=0), float).ravel() + 1
    mu = p[:, None] * rng.gamma(10.0, 0.1, size=(len(p), n_topics))
    topics: WordTopic = mu / mu.sum(axis=0)
    return topics


def learn(
    tokens: Tokens,
    response: Response,
    mu: WordTopic,
    alpha: Topic,
    beta: float,
    n_iterations: int,
    tolerance: float,
    n_threads: int,
) -> Fitted:
    """EM from these topics, until the bound rises by less than ``tolerance`` of itself."""
    X, k = tokens.X, len(alpha)
    p = Parameters(mu, *response.start(k))
    q = Beliefs(
        np.full((X.nnz, k), 1 / k), alpha + tokens.lengths[:, None] / k, np.empty(X.shape[0])
    )
    which_word = csr_array((np.ones(X.nnz), X.indices, np.arange(X.nnz + 1)), (X.nnz, X.shape[1])).T
    trace: list[float] = []
    with one_blas_thread, ThreadPoolExecutor(n_threads) as pool:

        def run(part: Callable[[slice], Any]) -> list[Any]:
            return list(pool.map(part, tokens.parts()))

        for _ in range(n_iterations):
            log_mu = np.log(p.mu)
            run(partial(response.sweep, tokens, log_mu, alpha, p, q))
            z = (q.gamma - alpha) / tokens.lengths[:, None]
            prior = beta * log_mu.sum() - float((p.eta**2).sum()) / (2 * SAMPLER.eta_variance)
            trace.append(q.bound.sum() + response.bound(tokens, z, q.phi, p, run) + float(prior))
            if len(trace) > 1 and trace[-1] - trace[-2] < tolerance * abs(trace[-1]):
                break
            eta, noise = response.maximised(tokens, z, q.phi, p, run)
            words = np.asarray(which_word @ q.phi) + beta
            p = Parameters(words / words.sum(axis=0), eta, noise)
    return Fitted(p, q, np.array(trace))
