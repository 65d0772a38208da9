"""Numba kernels of :mod:`topicprism.relatives.disclda`: evidence of words, and its gradient."""

from __future__ import annotations

import math

import numpy as np

from topicprism.kernels.compiling import inlined, jit
from topicprism.kernels.fold_in import exp_digamma


@jit
def evidence(indptr, words, counts, B, alpha, n_sweeps, tolerance, gamma, bound):  # type: ignore[no-untyped-def]
    """Mean field: h ~ Dirichlet(alpha), words ~ B h; ``bound[d]`` is below log p(words)::

    phi[w] = B[w] * exp(digamma(gamma)) / sum
    gamma  = alpha + sum of counts[w] phi[w]          # until it moves by less than tolerance
    bound  = sum of counts[w] phi[w] (log B[w] - log phi[w])
             + log Beta(gamma) - log Beta(alpha)      # Beta(a) = prod(Gamma(a)) / Gamma(sum(a))
    """
    m = len(alpha)
    e, z = np.empty(m), np.empty(m)
    for d in range(len(bound)):
        start, stop = indptr[d], indptr[d + 1]
        N = 0.0
        for j in range(start, stop):
            N += counts[j]
        gamma[d] = alpha + N / m
        for _ in range(n_sweeps):
            _exp_digammas(gamma[d], e)
            z[:] = alpha
            for j in range(start, stop):
                total = _product(B[words[j]], e)
                for i in range(m):
                    z[i] += counts[j] * B[words[j], i] * e[i] / total
            moved = np.abs(z - gamma[d]).max()
            gamma[d] = z
            if moved <= tolerance * N:
                break
        _exp_digammas(gamma[d], e)
        bound[d] = math.lgamma(alpha.sum()) - math.lgamma(gamma[d].sum())
        for i in range(m):
            bound[d] += math.lgamma(gamma[d, i]) - math.lgamma(alpha[i])
            bound[d] += (alpha[i] - gamma[d, i]) * math.log(e[i])
        for j in range(start, stop):
            bound[d] += counts[j] * math.log(_product(B[words[j]], e))


@jit
def add_gradient(indptr, words, counts, B, gamma, weight, gradient):  # type: ignore[no-untyped-def]
    """gradient += sum over documents of weight[d] times that of ``evidence`` along B.

    It is counts[w] phi[w] / B[w]: along gamma, where the bound is largest, it is zero.
    """
    m = gamma.shape[1]
    e = np.empty(m)
    for d in range(len(weight)):
        _exp_digammas(gamma[d], e)
        for j in range(indptr[d], indptr[d + 1]):
            share = weight[d] * counts[j] / _product(B[words[j]], e)
            for i in range(m):
                gradient[words[j], i] += share * e[i]


@inlined
def _exp_digammas(gamma, e):  # type: ignore[no-untyped-def]
    for i in range(len(gamma)):
        e[i] = max(exp_digamma(gamma[i]), 1e-300)


@inlined
def _product(b, e):  # type: ignore[no-untyped-def]
    """b . e, above zero also for a word that no topic has."""
    total = 1e-300
    for i in range(len(e)):
        total += b[i] * e[i]
    return total
