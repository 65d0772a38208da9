"""The samplers draw from what they say they draw from."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.sparse import csr_array
from scipy.special import gammaln, ndtri

from topicprism.datasets import draw_corpus, draw_model
from topicprism.kernels import gibbs as _kernels
from topicprism.kernels import random as _random
from topicprism.model import Model
from topicprism.samplers import (
    Gaussian,
    Hinge,
    Observed,
    Plan,
    Schedule,
    State,
    Tube,
    chain,
    flat,
    init,
    keep,
    observe,
    sweep,
    to_model,
)
from topicprism.samplers.chain import has_converged
from topicprism.samplers.gibbs import _padded, draw_eta, slice_draw
from topicprism.samplers.medlda import draw_lambda
from topicprism.samplers.state import SAMPLER, mean_assignment

KEY = np.uint64(12345)


# --- kernels against the lines of their docstrings ------------------------------------


class Stream:
    """The numbers document d draws, by the definition of splitmix64."""

    MASK = 2**64 - 1

    def __init__(self, d, key=int(KEY)):
        self.state = self.scramble((key + 0x9E3779B97F4A7C15 * d) & self.MASK)

    def scramble(self, x):
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & self.MASK
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & self.MASK
        return x ^ (x >> 31)

    def __call__(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & self.MASK
        return ((self.scramble(self.state) >> 12) + 0.5) * 2.0**-52


def small_corpus(rng, k=11, V=30, D=7):
    model = draw_model(V, k, rng, alpha=0.3)
    X, y, h = draw_corpus(model, D, (0, 25), rng)
    return model, X, y, h


def draw(p, u):
    return min(np.searchsorted(np.cumsum(p), u * p.sum(), side="right"), len(p) - 1)


def gain(residual, step, precision):
    return (precision * (residual**2 - (residual - step) ** 2) / 2).sum()


def test_weigh_pick_and_gain_are_their_numpy_lines(rng):
    row, g = _padded(rng.random((1, 21)))[0], _padded(rng.random((1, 21)))[0]
    p, sums = np.empty(24), np.empty(3)
    total = _kernels.weigh(row, g, p, sums)
    assert_allclose(p, row * g)
    assert_allclose(sums, p.reshape(-1, _kernels.BLOCK).sum(axis=1))
    assert_allclose(total, p.sum())
    for x in np.concatenate([rng.random(200) * total, [0.0, total, 1.1 * total]]):
        expected = min(np.searchsorted(np.cumsum(p), x, side="right"), 21 - 1)
        assert _kernels.pick(p, sums, x, 21) == expected
    a, b, c = rng.standard_normal((3, 4))
    assert_allclose(_kernels.gain(a, b, c), gain(a, b, c))
    z, alpha, eta = rng.integers(-1, 5, 30), rng.random(5), rng.standard_normal((5, 2))
    g, residual, target = np.zeros(8), np.empty(2), rng.standard_normal(2)
    _kernels.tally(z, alpha, eta, target, g, residual)
    n = np.bincount(z[z >= 0], minlength=5)
    assert_allclose(g[:5], alpha + n)
    assert_allclose(residual, target - n @ eta / len(z))


def test_mixture_is_its_numpy_lines(rng):
    model, X, y, h = small_corpus(rng)
    data = observe(X, y[:, None], "mixture")
    D = len(h)
    table, new = np.zeros((30, 16), np.int32), np.empty_like(h)
    log_p, accepted = np.empty(D), np.empty(D)
    precision, eta = np.full((D, 1), 50.0), model.eta[:, None]
    _kernels.mixture(
        data.X.indptr, data.X.indices, data.X.data, _padded(model.mu), model.alpha, eta,
        data.Y, precision, h, KEY, 0, table, new, log_p, accepted,
    )  # fmt: skip
    expected, fits = np.zeros_like(table), np.zeros(D)
    for d in range(D):
        u = Stream(d)
        for j in range(X.indptr[d], X.indptr[d + 1]):
            p = model.mu[X.indices[j]] * h[d]
            fits[d] += X.data[j] * np.log(p.sum())
            for _ in range(X.data[j]):
                expected[X.indices[j], draw(p, u())] += 1
    assert_array_equal(table, expected)
    assert_allclose(log_p, fits)
    assert_array_equal((new != h).any(axis=1), accepted)
    assert 0 < accepted.mean() <= 1


def test_assignments_are_their_numpy_lines(rng):
    model, X, y, _ = small_corpus(rng)
    data = observe(X, np.column_stack([y, -y]), "assignments")
    D, k = 7, 11
    precision, eta = np.full((D, 2), 80.0), rng.standard_normal((k, 2))
    z = rng.integers(-1, k, data.X.nnz).astype(np.int32)
    for d in range(D):  # a document has all its topics or none
        part = slice(data.X.indptr[d], data.X.indptr[d + 1])
        z[part] = -1 if d == 0 else np.maximum(z[part], 0)
    table, shares = np.zeros((30, 16), np.int32), np.empty((D, k))
    log_p, accepted, out = np.empty(D), np.empty(D), z.copy()
    _kernels.assignments(
        data.X.indptr, data.X.indices, _padded(model.mu), model.alpha, eta,
        data.Y, precision, out, KEY, 0, table, shares, log_p, accepted,
    )  # fmt: skip
    for d in range(D):
        u, part = Stream(d), slice(data.X.indptr[d], data.X.indptr[d + 1])
        t, words, m = z[part], data.X.indices[part], part.stop - part.start
        if m == 0:
            assert_allclose(shares[d], model.alpha / model.alpha.sum())
            continue
        fit, taken = 0.0, 0
        for j, w in enumerate(words):
            old, s = t[j], np.bincount(t[t >= 0], minlength=k) @ eta / m
            n = np.bincount(np.delete(t, j)[np.delete(t, j) >= 0], minlength=k)
            p = model.mu[w] * (model.alpha + n)
            fit += np.log(p.sum() / (model.alpha.sum() + m - 1))
            new = draw(p, u())
            if new != old:
                wish = gain(data.Y[d] - s, (eta[new] - eta[old]) / m, precision[d])
                if np.log(u()) >= wish and old >= 0:
                    new = old
                else:
                    taken += 1
            else:
                taken += 1
            t[j] = new
        assert_array_equal(out[part], t)
        assert_allclose(shares[d], np.bincount(t, minlength=k) / m, atol=1e-12)
        assert_allclose([log_p[d], accepted[d]], [fit, taken / m])
    assert_array_equal(table.sum(axis=1), np.asarray(X.sum(axis=0)).ravel())


def test_normal_quantiles_are_scipys(rng):
    u = np.concatenate([rng.random(5000), 10.0 ** -rng.uniform(1, 16, 500), [0.075, 0.925]])
    u = np.concatenate([u, 1 - u[u > 1e-10]])
    found = [_random.normal_quantile(x) for x in u]
    assert_allclose(found, ndtri(u), rtol=1e-13, atol=1e-15)
    a, b = rng.random((2, 8))
    line = np.polyval(a, 0.3) / np.polyval(b, 0.3)
    assert_allclose(_random.ratio(0.3, tuple(a), tuple(b)), line)


def test_dirichlet_draws_with_tiny_shapes_are_on_a_corner():
    """Gamma(1e-4) underflows nine times in ten; its ratios do not."""
    state, hits = np.uint64(5), np.zeros(3)
    for _ in range(3000):
        out = np.empty(3)
        state = np.uint64(_random.dirichlet(state, np.array([1e-4, 1e-4, 2e-4]), out))
        assert_allclose(out.sum(), 1)
        hits[out.argmax()] += 1
    assert_allclose(hits / 3000, [0.25, 0.25, 0.5], atol=0.04)  # four standard errors


@pytest.mark.parametrize("shape", [0.02, 0.5, 1.0, 3.7, 400.0])
def test_gamma_draws_have_their_distribution(shape):
    """20,000 draws; a true sampler fails at 1e-4 once in ten thousand runs, and seeds are fixed."""
    state, logs = np.uint64(1), np.empty(20_000)
    for i in range(len(logs)):
        state, g, boost = _random.gamma(np.uint64(state), shape)
        logs[i] = np.log(g) + boost
    test = stats.kstest(logs, stats.loggamma(shape).cdf)
    assert test.pvalue > 1e-4


def test_topics_and_proportions_are_dirichlet(rng):
    tables = rng.integers(0, 5, (2, 20_000, 3)).astype(np.int32)
    tables[:] = tables[:, :1]
    mu = np.empty((20_000, 3))
    _kernels.topics(tables, 0.3, np.zeros((20_000, 3)), KEY, 0, mu)
    shape = 0.3 + tables[:, 0].sum(axis=0)
    for i in range(3):
        assert stats.kstest(mu[:, i], stats.gamma(shape[i]).cdf).pvalue > 1e-4
    log_h = np.empty((20_000, 3))
    _kernels.log_proportions(np.tile([0.05, 1.0, 4.0], (20_000, 1)), KEY, 0, log_h)
    assert_allclose(np.exp(log_h).sum(axis=1), 1)
    assert stats.kstest(np.exp(log_h[:, 1]), stats.beta(1.0, 4.05).cdf).pvalue > 1e-4


# --- conditionals against enumeration -------------------------------------------------


def tiny(rng, k=3, V=4):
    model = Model(rng.uniform(0.3, 1.5, k), rng.dirichlet(np.ones(V), size=k).T,
                  3 * rng.standard_normal(k), 0.4)  # fmt: skip
    return model, np.array([0, 1, 1, 3])


def prior_of(z, alpha):
    n = np.bincount(z, minlength=len(alpha))
    return np.exp((gammaln(alpha + n) - gammaln(alpha)).sum())


@pytest.mark.parametrize("seed", range(3))
def test_assignments_of_a_tiny_document_by_enumeration(seed):
    """20,000 copies of one document, 40 sweeps: frequencies of all 81 z to 5 standard errors."""
    rng = np.random.default_rng(seed)
    model, words = tiny(rng)
    k, m, D = 3, len(words), 20_000
    target, precision = np.array([0.7, -1.0]), np.array([4.0, 2.0])
    eta = np.column_stack([model.eta, rng.standard_normal(k)])
    exact = {}
    for z in itertools.product(range(k), repeat=m):
        s = eta[list(z)].mean(axis=0)
        weight = np.exp(-0.5 * (precision * (target - s) ** 2).sum())
        exact[z] = prior_of(z, model.alpha) * np.prod(model.mu[words, list(z)]) * weight
    total = sum(exact.values())
    data = observe(csr_array(np.tile(np.bincount(words, minlength=4), (D, 1))), np.zeros((D, 2)),
                   "assignments")  # fmt: skip
    z = np.full(D * m, -1, np.int32)
    room = np.zeros((4, 8), np.int32), np.empty((D, k)), np.empty(D), np.empty(D)
    for s in range(40):
        _kernels.assignments(
            data.X.indptr, data.X.indices, _padded(model.mu), model.alpha, eta,
            np.tile(target, (D, 1)), np.tile(precision, (D, 1)), z, np.uint64(s + 1), 0, *room,
        )  # fmt: skip
    codes = z.reshape(D, m) @ k ** np.arange(m)[::-1]
    seen = np.bincount(codes, minlength=k**m) / D
    p = np.array(list(exact.values())) / total
    assert_allclose((seen - p) / np.sqrt(p * (1 - p) / D), 0, atol=5)


@pytest.mark.parametrize("seed", range(3))
def test_mixture_of_a_tiny_document_by_enumeration(seed):
    """E[h | words, y] over z by enumeration and over h by 400,000 prior draws."""
    rng = np.random.default_rng(seed)
    model, words = tiny(rng)
    D, y = 20_000, 1.0
    h = rng.dirichlet(model.alpha, 400_000)
    weight = np.prod(h @ model.mu[words].T, axis=1)
    weight *= np.exp(-0.5 * (y - h @ model.eta) ** 2 / model.sigma**2)
    exact = np.average(h, axis=0, weights=weight)
    data = observe(csr_array(np.tile(np.bincount(words, minlength=4), (D, 1))), np.full((D, 1), y),
                   "mixture")  # fmt: skip
    now = rng.dirichlet(model.alpha, D)
    new = np.empty_like(now)
    room = np.zeros((4, 8), np.int32), new, np.empty(D), np.empty(D)
    for s in range(150):
        _kernels.mixture(
            data.X.indptr, data.X.indices, data.X.data, _padded(model.mu), model.alpha,
            model.eta[:, None], data.Y, np.full((D, 1), model.sigma**-2), now, np.uint64(s), 0,
            *room,
        )  # fmt: skip
        now[:] = new
    # standard errors: 0.3 / sqrt(20,000) of the copies, as much again of the prior draws
    assert_allclose(now.mean(axis=0), exact, atol=0.012)


def test_eta_has_the_posterior_of_linear_regression(rng):
    F, t, P = rng.dirichlet(np.ones(3), 50), rng.standard_normal((50, 2)), rng.random((50, 2))
    draws = np.array([draw_eta(F, t, P, 2.0, rng) for _ in range(20_000)])
    for l in range(2):
        S = np.linalg.inv(F.T @ (P[:, l : l + 1] * F) + np.eye(3) / 2.0)
        mean = S @ F.T @ (P[:, l] * t[:, l])
        assert_allclose(draws[:, :, l].mean(axis=0), mean, atol=5 * np.sqrt(S.max() / 20_000))
        assert_allclose(np.cov(draws[:, :, l].T), S, atol=0.05 * S.max())


def test_lambda_makes_the_loss_of_the_margin(rng):
    """Averaged over lambda, the Gaussian's derivative in x is that of -2 C max(0, x)."""
    for C, x in [(0.7, 1.5), (2.0, -0.4), (1.0, 0.1)]:
        lam = draw_lambda(np.full(400_000, x), C, rng)
        slope = -(C / lam * (lam + C * x)).mean()
        assert_allclose(slope, -2 * C * (x > 0), atol=0.05 * C)  # heavy tails as x comes to 0


def test_slice_draws_have_their_distribution(rng):
    x, draws = 0.0, []
    for _ in range(20_000):
        x = slice_draw(lambda v: 2.5 * v - np.exp(v), x, rng)
        draws.append(x)
    assert stats.kstest(draws[::10], stats.loggamma(2.5).cdf).pvalue > 1e-4


# --- Geweke: the joint distribution, drawn in two ways --------------------------------

D, M, V, K = 3, 4, 3, 2
ALPHA = np.array([0.6, 1.1])


def draw_prior(plan, rng):
    """All unknowns from the prior, then words and responses."""
    alpha = rng.exponential(size=K) if plan.learn_alpha else ALPHA
    mu = rng.dirichlet(np.full(V, plan.beta), K).T
    eta = np.sqrt(plan.eta_variance) * rng.standard_normal((K, 1))
    noise = SAMPLER.noise_rate / rng.standard_gamma(SAMPLER.noise_shape)
    h = np.exp(log_dirichlet(alpha, D, rng))
    z = np.array([rng.choice(K, M, p=p) for p in h], np.int32)
    zbar = np.array([np.bincount(t, minlength=K) for t in z]) / M
    mixture = plan.response == "mixture"
    state = State(0, 0, alpha, mu, eta, noise, h if mixture else zbar, z.ravel())
    return state, redraw(state, plan, rng)


def log_dirichlet(alpha, n, rng):
    g = np.log(rng.standard_gamma(alpha + 1, (n, K))) + np.log(rng.random((n, K))) / alpha
    return g - np.logaddexp.reduce(g, axis=1, keepdims=True)


def redraw(state, plan, rng):
    """Words and responses given all the rest."""
    if plan.response == "mixture":
        X = csr_array(
            np.array([rng.multinomial(M, p / p.sum()) for p in state.shares @ state.mu.T])
        )
    else:
        words = [rng.choice(V, p=state.mu[:, i]) for i in state.z]
        X = csr_array((np.ones(D * M, int), words, np.arange(0, D * M + 1, M)), shape=(D, V))
    fit = state.shares @ state.eta
    if isinstance(plan.family, Gaussian):
        Y = fit + np.sqrt(state.noise) * rng.standard_normal((D, 1))
    elif isinstance(plan.family, Tube):  # uniform in the tube, exponential outside of it
        C, e = plan.family.C, plan.family.epsilon
        inside = rng.random((D, 1)) < 2 * e / (2 * e + 1 / C)
        out = (e + rng.exponential(0.5 / C, (D, 1))) * rng.choice([-1, 1], (D, 1))
        Y = fit + np.where(inside, rng.uniform(-e, e, (D, 1)), out)
    else:
        good, bad = (np.exp(-2 * plan.family.C * plan.family.loss(s, fit)) for s in ONES)
        Y = np.where(rng.random((D, 1)) < good / (good + bad), 1.0, -1.0)
    return Observed(csr_array((X.data.astype(np.int32), X.indices.astype(np.int32),
                               X.indptr.astype(np.int64)), shape=(D, V)), Y)  # fmt: skip


ONES = (np.ones((D, 1)), -np.ones((D, 1)))


def accepted(state, plan, rng):
    """The hinge is no density of y: models count by the sum of it over y, largest at fit = cost."""
    if not isinstance(plan.family, Hinge):
        return True
    fit = state.shares @ state.eta
    each = sum(np.exp(-2 * plan.family.C * plan.family.loss(s, fit)) for s in ONES)
    largest = 1 + np.exp(-4 * plan.family.C * plan.family.cost)
    return rng.random() < (each / largest).prod()


def measured(state, data, plan):
    """Bounded functions of everything: sigma^2 has no mean under its prior."""
    fit, a = state.shares @ state.eta, state.alpha
    word = data.X.toarray()[:, 0] / M
    gaussian = isinstance(plan.family, Gaussian)
    return [
        np.tanh(state.eta).mean(), np.tanh(state.eta**2).mean(), (state.mu**2).sum(axis=0).mean(),
        state.mu[0] @ np.tanh(state.eta[:, 0]), np.tanh(fit**2).mean(),
        (state.shares**2).sum(axis=1).mean(), np.var(state.shares[:, 0]),
        np.tanh(data.Y * fit).mean(), np.tanh(data.Y**2).mean(), (data.Y[:, 0] > 0) @ word,
        (word**2).mean(), word @ (state.shares @ state.mu[0]),
        np.tanh(state.noise) if gaussian else 0.0, np.tanh(a).sum(), np.tanh(a) @ state.shares[0],
    ]  # fmt: skip


GEWEKE = {
    "sLDA on the mixture": Plan("mixture", Gaussian(), 0.8, 1.0),
    "sLDA on assignments": Plan("assignments", Gaussian(), 0.8, 1.0),
    "mixture, alpha learnt": Plan("mixture", Gaussian(), 0.8, 1.0, learn_alpha=True),
    "assignments, alpha learnt": Plan("assignments", Gaussian(), 0.8, 1.0, learn_alpha=True),
    "MedLDA": Plan("assignments", Tube(0.8, 0.5), 0.8, 1.0),
    "MedLDA classifier": Plan("assignments", Hinge(0.6, 1.0), 0.8, 1.0),
}


@pytest.mark.parametrize("name", GEWEKE)
def test_geweke(name):
    """Prior draws and alternating draws of unknowns and data have the same means.

    Errors of the chain by means of 50 batches; 15 functions within 4 standard errors.
    """
    plan, rng = GEWEKE[name], np.random.default_rng(1)
    prior = []
    while len(prior) < 4000:
        state, data = draw_prior(plan, rng)
        if accepted(state, plan, rng):
            prior.append(measured(state, data, plan))
    state, chained = State(**{**vars(state), "seed": 7}), []
    for _ in range(6000):
        state = sweep(data, state, plan)
        data = redraw(state, plan, rng)
        chained.append(measured(state, data, plan))
    prior, batches = np.array(prior), np.array(chained).reshape(50, -1, len(prior[0])).mean(axis=1)
    error = np.sqrt(prior.var(axis=0) / len(prior) + batches.var(axis=0) / 49)
    apart = prior.mean(axis=0) - batches.mean(axis=0)
    assert_allclose(apart / np.maximum(error, 1e-12), 0, atol=4)


# --- the chain ------------------------------------------------------------------------


@pytest.mark.parametrize("response", ["mixture", "assignments"])
@pytest.mark.parametrize("n_threads", [2, 3])
def test_any_number_of_threads_gives_the_same_bits(rng, response, n_threads):
    _, X, y, _ = small_corpus(rng, D=60)
    plan, data = Plan(response, learn_alpha=True), observe(X, y[:, None], response)
    one = many = init(data, flat(30, np.full(11, 0.1)), plan, seed=3)
    for _ in range(5):
        one, many = sweep(data, one, plan, 1), sweep(data, many, plan, n_threads)
    for name in ("mu", "eta", "alpha", "shares", "z", "log_likelihood"):
        assert_array_equal(getattr(one, name), getattr(many, name))


def test_a_chain_can_go_on_from_any_state(rng):
    _, X, y, _ = small_corpus(rng, D=40)
    plan, data = Plan(), observe(X, y[:, None], "mixture")
    start = init(data, flat(30, np.full(4, 0.1)), plan, seed=3)
    whole = [s for s, _ in chain(data, start, plan, Schedule(0, 10))]
    again = [s for s, _ in chain(data, whole[4], plan, Schedule(0, 5))]
    assert_array_equal(again[-1].mu, whole[-1].mu)
    assert_array_equal(again[-1].eta, whole[-1].eta)


def test_what_is_trusted_stays_while_documents_change(rng):
    _, X, y, _ = small_corpus(rng, D=40)
    plan, data = Plan(n_fixed_eta_sweeps=2), observe(X, y[:, None], "mixture")
    start = init(data, flat(30, np.full(4, 0.1)), plan, seed=3)
    _, second, third = (s for s, _ in chain(data, start, plan, Schedule(0, 3)))
    assert_array_equal(second.eta, start.eta)
    assert second.noise == start.noise
    assert (second.shares != start.shares).any()
    assert (third.eta != start.eta).all()
    assert third.noise != start.noise


def test_the_papers_rule_stops_the_burn_in(rng):
    _, X, y, _ = small_corpus(rng, D=40)
    plan, data = Plan(), observe(X, y[:, None], "mixture")
    start = init(data, flat(30, np.full(4, 0.1)), plan, seed=3)
    ran = list(chain(data, start, plan, Schedule(300, 5, tolerance=0.5)))
    assert [keeping for _, keeping in ran] == [False] * 11 + [True] * 5
    assert has_converged(np.linspace(-8, -7.99, 11), 1e-3)
    assert not has_converged(np.linspace(-8, -7, 11), 1e-3)
    assert not has_converged([-8.0] * 10, 1e-3)  # ten changes need eleven sweeps


def test_the_model_is_the_mean_of_kept_states(rng):
    model, X, y, _ = small_corpus(rng, D=40)
    plan, data = Plan(), observe(X, y[:, None], "mixture")
    a, b = (s for s, _ in chain(data, init(data, model, plan, 1), plan, Schedule(0, 2)))
    mean = to_model(keep(a) + keep(b))
    assert_allclose(mean.mu, (a.mu + b.mu) / 2)
    assert_allclose(mean.eta, (a.eta + b.eta)[:, 0] / 2)
    assert_allclose(mean.sigma**2, (a.noise + b.noise) / 2)


def test_words_no_topic_has_and_empty_documents_do_no_harm(rng):
    X = csr_array(np.array([[3, 0, 1, 0], [0, 0, 0, 0], [0, 5, 0, 2]]))
    start = Model(np.array([1e-3, 1e-3]), np.array([[1.0, 0], [0, 1], [0, 0], [0, 0]]),
                  np.zeros(2), 1.0)  # fmt: skip
    for response in ("mixture", "assignments"):
        plan, data = Plan(response, beta=1e-3), observe(X, np.ones((3, 1)), response)
        state = init(data, start, plan, 0, h=np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]))
        for _ in range(50):
            state = sweep(data, state, plan)
            assert np.isfinite(state.mu).all()
            assert np.isfinite(state.shares).all()
            assert_allclose(state.mu.sum(axis=0), 1)


def test_mean_assignments_undo_the_prior(rng):
    model, _ = tiny(rng)
    z, m = rng.dirichlet(np.ones(3), 4), np.array([1.0, 5.0, 80.0, 0.0])
    h = (model.alpha + m[:, None] * z) / (model.alpha.sum() + m[:, None])
    found = mean_assignment(model, h, m)
    assert_allclose(found[:3], z[:3])
    assert_allclose(found[3], model.alpha / model.alpha.sum())
