"""Every kernel against the numpy lines of its docstring."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import unequal_model
from scipy.sparse import csr_array, vstack

from topicprism.kernels import cpu, lanes, products, propagation, random
from topicprism.spectral.moments import fill_cube


@pytest.fixture(params=[30.0, 0.0])
def half(request):
    """Words of a document that has half the weight of an endless one; 0: all weigh the same."""
    return request.param


@pytest.fixture
def data(rng, half):
    """Counts with empty, short and long rows, and the weights of their documents."""
    X = csr_array(rng.poisson(0.4, size=(60, 11)))
    m = X.sum(axis=1).astype(float)
    weights = np.zeros((4, 60))
    long = m >= 3
    weights[0, long] = m[long] / (m[long] + half)
    weights[1, long] = weights[0, long] / m[long]
    weights[2, long] = weights[1, long] / (m[long] - 1)
    weights[3, long] = weights[2, long] / (m[long] - 2)
    assert 0 < long.sum() < 60
    return X, weights, rng.standard_normal(60)


def test_word_sums(data, half):
    X, (w, c1, c2, _), y = data
    weights, sums = np.empty(60), np.zeros((11, 4))
    cpu.word_sums(X.indptr, X.indices, X.data, y, half, weights, sums)
    assert_allclose(weights, w)
    again = (X.toarray() * (X.toarray() - 1)).T @ c2
    assert_allclose(sums, np.column_stack([X.T @ c1, X.T @ (c1 * y), X.T @ c2, again]))


@pytest.mark.parametrize("width", [1, 5, 16, 33])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pair_products(rng, data, half, width, dtype):
    X, (_, _, c2, _), _ = data
    S, out = rng.standard_normal((11, width)).astype(dtype), np.ones((11, width))
    cpu.pair_products(X.indptr, X.indices, X.data, S, half, out)
    assert_allclose(out, 1 + X.T @ (c2[:, None] * (X @ S.astype(float))))


@pytest.mark.parametrize("rows", [slice(0, 60), slice(13, 40)])
def test_project(rng, data, half, rows):
    """Also on a slice of the row pointers."""
    X, (w, c1, c2, c3), y = data
    B = rng.standard_normal((11, 16))
    n = rows.stop - rows.start
    P, C, Q, sums = np.empty((n, 16)), np.empty((n, 4)), np.zeros((11, 16)), np.zeros((11, 4))
    indptr = X.indptr[rows.start : rows.stop + 1]
    cpu.project(indptr, X.indices, X.data, y[rows], B, half, P, C, Q, sums)
    X, w, c1, c2, c3, y = (a[rows] for a in (X, w, c1, c2, c3, y))
    assert_allclose(P, X @ B, atol=1e-14)
    assert_allclose(C, np.column_stack([w, c1, c2, c3]))
    assert_allclose(Q, X.T @ (c3[:, None] * P), atol=1e-14)
    expected = np.column_stack([X.T @ c2, X.T @ (c2 * y), X.T @ c3])
    assert_allclose(sums[:, :3], expected, atol=1e-14)


@pytest.mark.parametrize("width", [1, 5, 16, 33])
def test_sketch_sums(rng, data, half, width):
    """Of more documents than a block has, and of coordinates for one product or more."""
    X, weights, y = data
    times = 2 * products.BLOCK // 60 + 1
    X, y, (w, c1, c2, c3) = vstack([X] * times, "csr"), np.tile(y, times), np.tile(weights, times)
    B, once = rng.standard_normal((11, width)), np.ones((11, 4))
    scalars, first, second = np.ones(7), np.ones((3, width)), np.ones((2, width, width))
    third, Q = np.ones((width,) * 3), np.ones((11, width))
    rows = (X.indptr, X.indices, X.data)
    products.sketch_sums(*rows, y, B, half, scalars, first, second, third, Q, once)
    P, powers = X @ B, np.vander(y, 4, increasing=True).T
    counted = [(w > 0).sum(), w.sum(), w @ c1, w @ c2, *powers[1:] @ w]
    assert_allclose(scalars - 1, counted)
    assert_allclose(first - 1, (powers[:3] * c1) @ P, atol=1e-13)
    assert_allclose(second - 1, [(P.T * c2) @ P, (P.T * (c2 * y)) @ P], atol=1e-13)
    expected = np.einsum("d,di,dj,dl->ijl", c3, P, P, P)
    assert_allclose(fill_cube(third - 1), fill_cube(expected), atol=1e-13)
    assert_allclose(Q - 1, X.T @ (c3[:, None] * P), atol=1e-13)
    sums = np.column_stack([X.T @ c2, X.T @ (c2 * y), X.T @ c3])
    assert_allclose(once[:, :3] - 1, sums, atol=1e-13)


@pytest.mark.parametrize(
    ("data", "at"),
    [
        ([], -1),
        ([0, 1, 2], -1),
        ([0.0, 3.0, 0.5, -1.0], 2),
        ([1.0, np.nan], 1),
        ([np.inf], 0),
        ([2, -1], 1),
    ],
)
def test_first_not_a_count(data, at):
    assert cpu.first_not_a_count(np.array(data)) == at


@pytest.mark.parametrize("k", [3, 40])  # one after the other, and in vector lanes
def test_one_sweep_of_propagation(rng, k):
    """The lines of the docstring, word by word, with damping."""
    model = unequal_model(rng, n_words=8, n_topics=k)
    n = np.array([2, 0, 1, 3, 1, 0, 0, 1])
    X = csr_array(n[None])
    h, totals, converged = np.empty((1, k)), np.empty(1), np.ones(1, bool)
    propagation.propagate(
        X.indptr, X.indices, X.data, model.mu, model.alpha, 1, 0.0, False, h, totals, converged
    )
    assert not converged[0]

    g = model.alpha.copy()
    for w in np.flatnonzero(n):
        site = np.zeros(k)
        c = g - site
        r = model.mu[w] * c / (model.mu[w] @ c)
        mean = (c + r) / (c.sum() + 1)
        sq = (c + 1) * (c + 2 * r) / ((c.sum() + 1) * (c.sum() + 2))
        new = mean * (mean - sq).sum() / (sq - mean**2).sum() - c
        g += propagation.PROPAGATION.damping * n[w] * (new - site)
    assert (g > 0.2 * model.alpha).all()  # no step was shortened
    assert_allclose(h[0], g / g.sum())


@pytest.mark.parametrize("k", [3, 40])
def test_few_words_are_filtered_by_parts_of_the_prior(rng, k):
    """Each Dirichlet(alpha + e_i) by itself, a copy of each word a round, weighed by evidence."""
    model = unequal_model(rng, n_words=8, n_topics=k)
    alpha, n = model.alpha / 10, np.array([2, 0, 1, 0, 0, 0, 0, 1])
    X = csr_array(n[None])
    h, totals, converged = np.empty((1, k)), np.empty(1), np.ones(1, bool)
    propagation.propagate(
        X.indptr, X.indices, X.data, model.mu, alpha, 500, 1e-3, True, h, totals, converged
    )
    weights, means, squares = [], [], []
    for i in range(k):
        c, weight = alpha + np.eye(k)[i], alpha[i]
        for w in (0, 2, 7, 0):
            weight *= model.mu[w] @ c / c.sum()
            r = model.mu[w] * c / (model.mu[w] @ c)
            mean = (c + r) / (c.sum() + 1)
            sq = (c + 1) * (c + 2 * r) / ((c.sum() + 1) * (c.sum() + 2))
            c = mean * (mean - sq).sum() / (sq - mean**2).sum()
        weights.append(weight)
        means.append(c / c.sum())
        squares.append(c * (c + 1) / (c.sum() * (c.sum() + 1)))
    mean, sq = (np.average(x, axis=0, weights=weights) for x in (means, squares))
    assert_allclose(h[0], mean)
    assert_allclose(totals[0], (mean - sq).sum() / (sq - mean**2).sum())


def test_random_streams_are_spread_evenly():
    """splitmix64 from consecutive counters: mean 1/2 and no correlation, to five sigma."""
    bits = [int(random.scramble(np.uint64(i))) for i in range(4000)]
    u = np.array(bits) / 2**64
    assert abs(u.mean() - 0.5) < 5 / np.sqrt(12 * 4000)
    assert abs(np.corrcoef(u[1:], u[:-1])[0, 1]) < 5 / np.sqrt(4000)
    assert len(set(bits)) == 4000


@pytest.mark.parametrize("n_sweeps", [1, 3, 8])
@pytest.mark.parametrize("k", [1, 2, 7, 40])
def test_documents_side_by_side(rng, k, n_sweeps):
    """As one by one, whoever is beside whom; some have no words, or words of no topic."""
    X = csr_array(rng.poisson(0.4, size=(75, 30)) * (rng.random((75, 1)) < 0.9))
    mu, alpha = rng.dirichlet(np.full(30, 0.1), k).T.copy(), rng.uniform(0.05, 0.5, k)
    mu[[3, 11]] = 0.0
    rows, found = (X.indptr, X.indices, X.data), []
    for order in (np.arange(75), rng.permutation(75)):
        h, totals = np.empty((75, k)), np.empty(75)
        lanes.propagate(*rows, mu, alpha, n_sweeps, order, h, totals)
        found.append((h, totals))
    assert_array_equal(found[0][0], found[1][0])
    assert_array_equal(found[0][1], found[1][1])
    h, totals, converged = np.empty((75, k)), np.empty(75), np.empty(75, bool)
    propagation.propagate(*rows, mu, alpha, n_sweeps, 0.0, False, h, totals, converged)
    assert_allclose(found[0][0], h, rtol=1e-6, atol=1e-9)
    assert_allclose(found[0][1], totals, rtol=1e-6)


def test_weighted_words(rng):
    X, mu = csr_array(rng.poisson(0.4, size=(20, 11))), rng.random((7, 3))
    kept, place = rng.permutation(11)[:7], np.full(11, -1)
    place[kept] = np.arange(7)
    weights, out = rng.random((20, 7)), np.ones((20, 3))
    lanes.weighted_words(X.indptr, X.indices, X.data, place, weights, mu, out)
    assert_allclose(out, 1 + (X.toarray()[:, kept] * weights) @ mu)


@pytest.mark.parametrize("k", [1, 4])
def test_solve(rng, k):
    R, b, eta = rng.random((6, 9, k)), rng.random((6, k)), rng.random(k)
    A = np.swapaxes(R, 1, 2) @ R
    packed, found, pull = A[:, *np.tril_indices(k)], np.empty((6, k)), np.empty(6)
    assert lanes.solve(packed, b, eta, found, pull)
    assert_allclose(found, np.linalg.solve(A, b[..., None])[..., 0])
    assert_allclose(pull, [eta @ np.linalg.inv(a) @ eta for a in A])
    if k > 1:
        A[3, 0], A[3, :, 0] = A[3, 1], A[3, :, 1]
        A[3, 0, 0] = A[3, 0, 1]
        assert not lanes.solve(A[:, *np.tril_indices(k)], b, eta, found, pull)
