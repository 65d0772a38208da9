"""What must come out, computed from definitions by means that share no code with the package."""

import itertools

import numpy as np

from topicprism.model import Model
from topicprism.spectral.basis import Basis
from topicprism.spectral.sketch import Sketch


def dirichlet_moments(alpha):
    """E[h], E[h h], E[h h h] by the rising factorials of their definition."""
    a0, k = alpha.sum(), len(alpha)
    first = alpha / a0
    second, third = np.empty((k, k)), np.empty((k, k, k))
    for i, j in itertools.product(range(k), repeat=2):
        second[i, j] = alpha[i] * (alpha[j] + (i == j)) / (a0 * (a0 + 1))
        for l in range(k):
            third[i, j, l] = (
                alpha[i] * (alpha[j] + (i == j)) * (alpha[l] + (i == l) + (j == l))
            ) / (a0 * (a0 + 1) * (a0 + 2))
    return first, second, third


def sym3(A, b):
    """A_ij b_l + A_il b_j + A_jl b_i."""
    return (
        np.einsum("ij,l->ijl", A, b) + np.einsum("il,j->ijl", A, b) + np.einsum("jl,i->ijl", A, b)
    )


def raw_moments(G, alpha, sigma2):
    """E[z], E[zz], E[zzz] of z with mean G h given h, and noise in the last coordinate only."""
    h, hh, hhh = dirichlet_moments(alpha)
    e = np.zeros(len(G))
    e[-1] = 1
    z = G @ h
    zz = G @ hh @ G.T + sigma2 * np.outer(e, e)
    zzz = np.einsum("abc,ia,jb,lc->ijl", hhh, G, G, G, optimize=True)
    zzz += sigma2 * sym3(np.outer(e, e), z)
    return z, zz, zzz


def population_basis(model, rng, spare=3, centre=0.0, scale=1.0):
    """A basis that spans the topics and ``spare`` directions more."""
    Q, _ = np.linalg.qr(np.column_stack([model.mu, rng.standard_normal((model.n_words, spare))]))
    return Basis(Q, Q, centre, scale)


def population_sketch(model, basis, n=1000):
    """The sketch of infinitely many documents."""
    G = np.vstack([basis.B.T @ model.mu, (model.eta - basis.centre) / basis.scale])
    moments = raw_moments(G, model.alpha, (model.sigma / basis.scale) ** 2)
    return Sketch(basis, n, *(n * m for m in moments))


def unequal_model(rng, n_words=40, n_topics=5):
    """Unequal alpha, two equal entries of eta, words of very different frequency."""
    mu = rng.random((n_words, n_topics)) ** 3 / np.arange(1, n_words + 1)[:, None]
    eta = rng.standard_normal(n_topics)
    eta[1] = eta[0]
    return Model(rng.uniform(0.1, 0.9, n_topics), mu / mu.sum(axis=0), eta, sigma=0.3)


def ordered_tuples(counts, order):
    """All ordered ways to pick ``order`` different word positions of one document."""
    return list(itertools.permutations(np.repeat(np.arange(len(counts)), counts), order))


def exact_posterior_mean(model, words):
    """E[h | words] by enumeration of all topic assignments."""
    k, a0 = model.n_topics, model.alpha.sum()
    total, mean = 0.0, np.zeros(k)
    for z in itertools.product(range(k), repeat=len(words)):
        n = np.bincount(z, minlength=k)
        p = np.prod([model.mu[w, i] for w, i in zip(words, z, strict=True)])
        for i in range(k):
            p *= np.prod(model.alpha[i] + np.arange(n[i]))
        total += p
        mean += p * (model.alpha + n) / (a0 + len(words))
    return mean / total


def enumerated(alpha, mu, eta, words):
    """All assignments of a few words: mean of h, standard deviation of eta . h."""
    k, m = len(alpha), len(words)
    z = np.array(list(itertools.product(range(k), repeat=m)))
    n = np.stack([(z == i).sum(axis=1) for i in range(k)], axis=1)
    p = mu[np.array(words)[None, :], z].prod(axis=1)
    for t in range(m):
        p = p * np.where(n > t, alpha + t, 1.0).prod(axis=1)
    p /= p.sum()
    g = alpha + n
    mean, var = dirichlet_eta(g, eta)
    first = p @ mean
    return p @ g / g[0].sum(), np.sqrt(p @ (var + (mean - first) ** 2))


def dirichlet_eta(g, eta):
    """Mean and variance of eta . h for each row of Dirichlet parameters."""
    total = g.sum(axis=1)
    mean = g @ eta / total
    return mean, (g @ eta**2 / total - mean**2) / (total + 1)


def two_topics(alpha, mu, n):
    """Posterior mean and standard deviation of h_0 for two topics, by quadrature in its logit."""
    mu, n = mu[n > 0], n[n > 0].astype(float)

    def log_density(t):
        first, second = -np.logaddexp(0, -t), -np.logaddexp(0, t)
        words = np.logaddexp(np.log(mu[:, :1]) + first, np.log(mu[:, 1:]) + second)
        return alpha[0] * first + alpha[1] * second + n @ words

    grid = np.linspace(-60, 60, 2001)
    for _ in range(4):
        peak = grid[np.argmax(log_density(grid))]
        grid = np.linspace(peak - 3 * (grid[1] - grid[0]), peak + 3 * (grid[1] - grid[0]), 501)
    t = np.concatenate(
        [np.linspace(-60, 60, 4001), peak + 1e-4 * np.sinh(np.linspace(-14, 14, 8001))]
    )
    t = np.unique(t[np.abs(t) <= 60])
    p = log_density(t)
    p = np.exp(p - p.max())
    h, low, high = 1 / (1 + np.exp(-t)), p[0] / alpha[0], p[-1] / alpha[1]  # beyond, h is 0 or 1
    total = np.trapezoid(p, t) + low + high
    mean = (np.trapezoid(p * h, t) + high) / total
    square = np.trapezoid(p * (h - mean) ** 2, t) + low * mean**2 + high * (1 - mean) ** 2
    return mean, np.sqrt(square / total)


def likeliest(alpha, mu, n, n_steps=800):
    """Where ``sum of n log(mu h) + alpha . log h`` is largest: the mean of a long document."""
    mu, n = mu[n > 0], n[n > 0]
    h = alpha / alpha.sum()
    for _ in range(n_steps):
        h = alpha + h * (mu.T @ (n / (mu @ h)))
        h /= h.sum()
    return h


def three_topics(alpha, mu, n):
    """Posterior mean of h for three topics, by quadrature in the logits of two sticks.

    h = (s, (1 - s) t, (1 - s) (1 - t)) with s of Beta(a_0, a_1 + a_2) and t of Beta(a_1, a_2), a
    priori.  Beyond +-30 the likelihood is constant and the density exponential.
    """
    mu, n = mu[n > 0], n[n > 0].astype(float)
    rates = (alpha[0], alpha[1] + alpha[2]), (alpha[1], alpha[2])

    def log_density(s, t):
        """On all pairs of logits s and t."""
        logs = [(-np.logaddexp(0, -x), -np.logaddexp(0, x)) for x in (s, t)]
        (s1, s0), (t1, t0) = logs
        within = np.exp(t1)[:, None] * mu[:, 1] + np.exp(t0)[:, None] * mu[:, 2]  # (t, words)
        p = np.exp(s0)[:, None, None] * within + np.exp(s1)[:, None, None] * mu[:, 0]
        prior = rates[0][0] * s1 + rates[0][1] * s0
        return np.log(p) @ n + prior[:, None] + rates[1][0] * t1 + rates[1][1] * t0

    def weights(x, rate):
        """Of nodes: the trapezoidal rule, and at the ends all that is beyond."""
        gaps = np.diff(x)
        w = np.zeros(len(x))
        w[:-1] += gaps / 2
        w[1:] += gaps / 2
        w[0] += 1 / rate[0]
        w[-1] += 1 / rate[1]
        return w

    coarse = np.linspace(-30, 30, 241)
    logs = log_density(coarse, coarse)
    near = logs > logs.max() - 25
    s, t = (_refined(coarse, near.any(axis=axis)) for axis in (1, 0))
    logs = np.concatenate([log_density(part, t) for part in np.array_split(s, 1 + len(s) // 20)])
    p = np.exp(logs - logs.max()) * np.outer(weights(s, rates[0]), weights(t, rates[1]))
    p /= p.sum()
    of_s, of_t = 1 / (1 + np.exp(-s)), 1 / (1 + np.exp(-t))
    first, second = p.sum(axis=1) @ of_s, (1 - of_s) @ p @ of_t
    return np.array([first, second, 1 - first - second])


def _refined(x, near):
    """Eight times the nodes where the density is not negligible and h not at an end."""
    fine = np.linspace(-8, 8, 8 * 64 + 1)
    where = np.interp(fine, x, near.astype(float)) > 0
    return np.unique(np.concatenate([x, fine[where]]))
