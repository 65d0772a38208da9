"""Numba kernels of :mod:`topicprism.relatives.variational`: one sweep after another, by document.

Tokens of document d are ``words[indptr[d] : indptr[d + 1]]``, each with its row of ``phi``; N is
their number, and ``gamma[d]`` is ``alpha + sum of phi`` before and after.
"""

from __future__ import annotations

import math

import numpy as np

from topicprism.kernels.compiling import inlined, jit
from topicprism.kernels.fold_in import exp_digamma


@jit
def gaussian(  # type: ignore[no-untyped-def]
    indptr, words, log_mu, alpha, y, eta, noise, n_sweeps, tolerance, phi, gamma, bound
):
    """Each token's phi where the bound is largest, the others' held fixed; then gamma; again::

        phi[j] ~ exp(digamma(gamma) + log_mu[w] + (y - eta . rest / N) eta / (N noise)
                     - eta**2 / (2 N**2 noise))                 # rest: sum of the others' phi

    until no gamma moves by ``tolerance`` of N.  ``bound[d]`` is what words contribute.
    """
    k = len(alpha)
    e, p, z = np.empty(k), np.empty(k), np.empty(k)
    for d in range(len(y)):
        start, stop = indptr[d], indptr[d + 1]
        N = stop - start
        fit = _dot(eta, gamma[d]) - _dot(eta, alpha)
        for _ in range(n_sweeps):
            _log_proportions(gamma[d], e)
            z[:] = alpha
            for j in range(start, stop):
                own = _dot(eta, phi[j])
                pull = (y[d] - (fit - own) / N) / (N * noise)
                for i in range(k):
                    p[i] = e[i] + log_mu[words[j], i]
                    p[i] += pull * eta[i] - 0.5 * eta[i] ** 2 / (N * N * noise)
                _normalised(p)
                fit += _dot(eta, p) - own
                phi[j] = p
                z += p
            if _moved(gamma[d], z) <= tolerance * N:
                break
        bound[d] = _words_bound(words, log_mu, alpha, gamma[d], phi, start, stop)


@jit
def softmax(  # type: ignore[no-untyped-def]
    indptr, words, log_mu, alpha, label, eta, n_sweeps, tolerance, phi, gamma, bound
):
    """The same for a class c of probability ~ exp(eta[c] . zbar)::

        P[l]   = product over tokens of phi . exp(eta[l] / N)    # E[exp(eta[l] . zbar)]
        phi[j] ~ exp(digamma(gamma) + log_mu[w] + eta[c] / N
                     - sum over l of P[l] / sum(P) * exp(eta[l] / N) / (phi[j] . exp(eta[l] / N)))

    the right side with the phi before: a step that raises the bound, from Wang, Blei and Fei-Fei.
    """
    k, L = len(alpha), len(eta)
    e, p, z, log_P, u = np.empty(k), np.empty(k), np.empty(k), np.empty(L), np.empty(L)
    for d in range(len(label)):
        start, stop = indptr[d], indptr[d + 1]
        N, c = stop - start, label[d]
        b = np.exp(eta / N)
        _log_products(phi, start, stop, b, log_P)
        for _ in range(n_sweeps):
            _log_proportions(gamma[d], e)
            z[:] = alpha
            for j in range(start, stop):
                top = log_P.max()
                total = np.exp(log_P - top).sum()
                for i in range(k):
                    p[i] = e[i] + log_mu[words[j], i] + eta[c, i] / N
                for l in range(L):
                    u[l] = _dot(b[l], phi[j])
                    weight = math.exp(log_P[l] - top) / (total * u[l])
                    for i in range(k):
                        p[i] -= weight * b[l, i]
                _normalised(p)
                for l in range(L):
                    log_P[l] += math.log(_dot(b[l], p) / u[l])
                phi[j] = p
                z += p
            if _moved(gamma[d], z) <= tolerance * N:
                break
        bound[d] = _words_bound(words, log_mu, alpha, gamma[d], phi, start, stop)


@jit
def class_bound(indptr, label, phi, eta, gradient):  # type: ignore[no-untyped-def]
    """Sum over documents of ``eta[c] . zbar - log(sum(P))``; its gradient is added up."""
    (L, k), value = eta.shape, 0.0
    log_P = np.empty(L)
    for d in range(len(label)):
        start, stop = indptr[d], indptr[d + 1]
        N, c = stop - start, label[d]
        b = np.exp(eta / N)
        _log_products(phi, start, stop, b, log_P)
        top = log_P.max()
        weight = np.exp(log_P - top)
        value -= top + math.log(weight.sum())
        weight /= weight.sum()
        for j in range(start, stop):
            value += _dot(eta[c], phi[j]) / N
            gradient[c] += phi[j] / N
            for l in range(L):
                share = weight[l] / (N * _dot(b[l], phi[j]))
                for i in range(k):
                    gradient[l, i] -= share * phi[j, i] * b[l, i]
    return value


@inlined
def _dot(a, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@inlined
def _log_proportions(gamma, e):  # type: ignore[no-untyped-def]
    """e = digamma(gamma): E[log h], but for a constant."""
    for i in range(len(gamma)):
        e[i] = math.log(max(exp_digamma(gamma[i]), 1e-300))


@inlined
def _normalised(p):  # type: ignore[no-untyped-def]
    """p = exp(p) / sum(exp(p))."""
    top, total = p.max(), 0.0
    for i in range(len(p)):
        p[i] = math.exp(p[i] - top)
        total += p[i]
    for i in range(len(p)):
        p[i] /= total


@inlined
def _moved(gamma, z):  # type: ignore[no-untyped-def]
    """gamma = z; how far that was at most."""
    most = 0.0
    for i in range(len(z)):
        most = max(most, abs(z[i] - gamma[i]))
        gamma[i] = z[i]
    return most


@inlined
def _log_products(phi, start, stop, b, log_P):  # type: ignore[no-untyped-def]
    """log_P[l] = sum over tokens of log(b[l] . phi)."""
    log_P[:] = 0.0
    for j in range(start, stop):
        for l in range(len(b)):
            log_P[l] += math.log(_dot(b[l], phi[j]))


@inlined
def _words_bound(words, log_mu, alpha, gamma, phi, start, stop):  # type: ignore[no-untyped-def]
    """E[log p(words, z, h) - log q(z, h)], gamma being alpha + sum of phi."""
    value = math.lgamma(alpha.sum()) - math.lgamma(gamma.sum())
    for i in range(len(alpha)):
        value += math.lgamma(gamma[i]) - math.lgamma(alpha[i])
    for j in range(start, stop):
        for i in range(len(alpha)):
            if phi[j, i] > 0.0:
                value += phi[j, i] * (log_mu[words[j], i] - math.log(phi[j, i]))
    return value
