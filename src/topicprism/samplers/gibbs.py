"""Gibbs sampling of supervised topic models: one sweep over everything unknown.

::

    mu_i ~ Dirichlet(beta),  h ~ Dirichlet(alpha),  z ~ h,  word ~ mu_z
    y    ~ Normal(eta . h, sigma^2)       response "mixture", the paper's
    y    ~ Normal(eta . zbar, sigma^2)    response "assignments": zbar = mean of z
    eta  ~ Normal(0, eta_variance),  sigma^2 ~ InverseGamma(noise_shape, noise_rate)

One sweep draws, each given all the rest:

1. the documents: z, then h from its Dirichlet posterior, which is kept or not as
   the response likes it (Metropolis within Gibbs); or z alone, h integrated out
2. eta, a Gaussian posterior
3. sigma^2, an inverse Gamma posterior; a chain that starts at a good model may trust
   it for these two at first, until the documents have come to agree with it
4. mu, Dirichlet posteriors; every ``shift_every`` sweeps the plan may shift their prior
5. alpha, if it is to be learnt, by slice sampling

Given mu and eta the documents are independent, so threads share them and the
chain is still exact.

The symbols are those of ``state``.  A family of responses is a value: it turns y
into targets and precisions, and that is all the sweep knows of it.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.special import gammaln

from topicprism._typing import DocTopic, Topic, WordTopic
from topicprism.documents.corpus import cut
from topicprism.kernels import gibbs as _kernels
from topicprism.kernels.random import GOLDEN, scramble
from topicprism.samplers.state import DocResponse, Observed, Plan, State, TopicResponse

SHARDS = 4  # for each thread, so that none waits long for the slowest
DRAWS = {name: i for i, name in enumerate(("documents", "words", "alpha"))}


def sweep(data: Observed, state: State, plan: Plan, n_threads: int = 1) -> State:
    """Draw everything once; the numbers are those of the docstring of this module."""
    rng = np.random.default_rng([state.seed, state.sweep])
    if plan.prior_shift is None:
        state = replace(state, prior_shift=None)
    elif state.sweep % plan.shift_every == 0:
        state = replace(state, prior_shift=plan.prior_shift(state))
    fit = state.shares @ state.eta
    target, precision = plan.family.augment(data.Y, fit, state.noise, rng)
    with ThreadPoolExecutor(n_threads) as pool:  # which starts no thread until asked to
        share = Share(n_threads, pool)
        new, tables, log_p = _documents(data, state, plan, (target, precision), share)  # 1
        eta, noise = state.eta, state.noise
        if state.sweep >= plan.n_fixed_eta_sweeps:
            eta = draw_eta(new.shares, target, precision, plan.eta_variance, rng)  # 2
        fit = new.shares @ eta
        if state.sweep >= plan.n_fixed_eta_sweeps:
            noise = plan.family.draw_noise(data.Y, fit, rng)  # 3
        mu = _topics(tables, new, plan.beta, share)  # 4
        mu[:, plan.frozen] = state.mu[:, plan.frozen]
    alpha = _alpha(data, new, plan, rng) if plan.learn_alpha else state.alpha  # 5
    total = log_p + plan.family.log_likelihood(data.Y, fit, noise)
    return replace(
        new, sweep=state.sweep + 1, alpha=alpha, mu=mu, eta=eta, noise=noise,
        log_likelihood=total / max(data.n_words, 1),
    )  # fmt: skip


def draw_eta(
    shares: DocTopic, target: DocResponse, precision: DocResponse, variance: float,
    rng: np.random.Generator,
) -> TopicResponse:  # fmt: skip
    """eta_l ~ Normal(S F'P t, S) with S = (F'P F + I / variance)^-1, P the precisions."""
    k, L = shares.shape[1], target.shape[1]
    noise, eta = rng.standard_normal((k, L)), np.empty((k, L))
    for l in range(L):
        weighted = shares * precision[:, l : l + 1]
        chol = cho_factor(weighted.T @ shares + np.eye(k) / variance, lower=True)
        mean = cho_solve(chol, weighted.T @ target[:, l])
        eta[:, l] = mean + solve_triangular(chol[0], noise[:, l], lower=True, trans="T")
    return eta


def _key(state: State, draws: str) -> np.uint64:
    """Where the streams of a sweep start; splitmix64 over the seed, then over the sweep."""
    with np.errstate(over="ignore"):
        golden, number = GOLDEN, np.uint64(len(DRAWS) * state.sweep + DRAWS[draws] + 1)
        return np.uint64(scramble(scramble(np.uint64(state.seed) + golden) + golden * number))


@dataclass(frozen=True)
class Share:
    """Calls of a function on shards, by as many threads; by none if there is one."""

    n_threads: int
    pool: ThreadPoolExecutor

    def __call__(self, fill: Callable[[int], None], n_shards: int) -> None:
        each = map if self.n_threads == 1 else self.pool.map
        list(each(fill, range(n_shards)))


def _padded(mu: WordTopic) -> WordTopic:
    wide = np.zeros((len(mu), -(-mu.shape[1] // _kernels.BLOCK) * _kernels.BLOCK))
    wide[:, : mu.shape[1]] = mu
    return wide


def _documents(
    data: Observed, state: State, plan: Plan, pull: tuple[DocResponse, DocResponse],
    share: Share,
) -> tuple[State, NDArray[np.int32], float]:  # fmt: skip
    """New shares and z, the topics of each word in one table per thread, log p(words)."""
    mu, key = _padded(state.mu), _key(state, "documents")
    X, n = data.X, share.n_threads
    shards = cut(X, 1 if n == 1 else SHARDS * n)
    tables, free = np.zeros((n, *mu.shape), np.int32), SimpleQueue[int]()
    for table in range(n):
        free.put(table)
    shares, z = np.empty_like(state.shares), state.z.copy()
    log_p, accepted = np.empty(data.n_documents), np.empty(data.n_documents)
    eta = np.ascontiguousarray(state.eta)

    def fill(shard: int) -> None:
        (start, stop), table = shards[shard], free.get()
        rows, entries = slice(start, stop), slice(X.indptr[start], X.indptr[stop])
        words = (X.indptr[start : stop + 1] - X.indptr[start], X.indices[entries])
        given = (mu, state.alpha, eta, pull[0][rows], pull[1][rows])
        filled = (tables[table], shares[rows], log_p[rows], accepted[rows])
        if plan.response == "mixture":
            old = state.shares[rows]
            _kernels.mixture(*words, X.data[entries], *given, old, key, start, *filled)
        else:
            _kernels.assignments(*words, *given, z[entries], key, start, *filled)
        free.put(table)

    share(fill, len(shards))
    new = replace(state, shares=shares, z=z, acceptance=float(accepted.mean()))
    return new, tables, float(log_p.sum())


def _topics(tables: NDArray[np.int32], state: State, beta: float, share: Share) -> WordTopic:
    """mu_i ~ Dirichlet(beta + the times each word has topic i + prior shift)."""
    mu, key = np.empty_like(state.mu), _key(state, "words")
    shift = np.zeros_like(mu) if state.prior_shift is None else state.prior_shift
    edges = np.linspace(0, len(mu), share.n_threads + 1).astype(int).tolist()

    def fill(shard: int) -> None:
        start, stop = edges[shard : shard + 2]
        _kernels.topics(tables[:, start:stop], beta, shift[start:stop], key, start, mu[start:stop])

    share(fill, share.n_threads)
    total = mu.sum(axis=0)
    mu /= np.where(total > 0, total, 1)
    mu[:, total == 0] = 1 / len(mu)
    return mu


def _alpha(data: Observed, state: State, plan: Plan, rng: np.random.Generator) -> Topic:
    """Each alpha_i given the documents' proportions; its prior is exponential with mean 1."""
    if plan.response == "mixture":
        log_h = np.log(np.maximum(state.shares, 1e-300))
    else:
        lengths = np.asarray(data.X.sum(axis=1), dtype=float).ravel()
        log_h = np.empty_like(state.shares)
        shape = state.alpha + state.shares * lengths[:, None]
        _kernels.log_proportions(shape, _key(state, "alpha"), 0, log_h)
    mean, alpha = log_h.mean(axis=0), state.alpha.copy()

    for i in range(len(alpha)):
        others = float(alpha.sum() - alpha[i])

        def log_density(x: float, i: int = i, others: float = others) -> float:
            a = float(np.exp(x))
            fit = gammaln(others + a) - gammaln(a) + a * mean[i]
            return data.n_documents * float(fit) - a + x

        alpha[i] = np.exp(slice_draw(log_density, float(np.log(alpha[i])), rng))
    return alpha


def slice_draw(log_density: Callable[[float], float], x: float, rng: np.random.Generator) -> float:
    """One draw of Neal's slice sampler: step out by 1, then shrink."""
    level = log_density(x) + float(np.log(rng.random()))
    low = x - float(rng.random())
    high = low + 1
    while log_density(low) > level:
        low -= 1
    while log_density(high) > level:
        high += 1
    while True:
        new = float(rng.uniform(low, high))
        if log_density(new) > level:
            return new
        low, high = (new, high) if new < x else (low, new)
