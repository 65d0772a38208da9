"""The functions of each backend against the numpy lines of their docstrings, and whole fits."""

import subprocess
import sys
import types
from types import SimpleNamespace

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from topicprism import AutoSLDA, Corpus, EPInference, Model, SpectralLDA, SpectralSLDA, backends
from topicprism.datasets import make_slda
from topicprism.documents import Threaded
from topicprism.documents.corpus import document_keys, take_rows, taken
from topicprism.documents.subsets import ALL
from topicprism.engines.gpu import OnGPU
from topicprism.inference import posterior
from topicprism.learn import FitRequest, learn
from topicprism.learn.refine import expected_counts
from topicprism.spectral.moments import fill_cube, pair_products, sketch_sums, word_sums


def _has_gpu():
    try:
        backends.require_gpu()
    except (ImportError, RuntimeError):
        return False
    return True


needs_gpu = pytest.mark.skipif(not _has_gpu(), reason="no GPU that CuPy can use")
without_gpu = pytest.mark.skipif(_has_gpu(), reason="there is a GPU")


@pytest.fixture(params=["cpu", "reference", pytest.param("gpu", marks=needs_gpu)])
def place(request):
    """Rows there, and how near sums are: products are in float32 on a GPU."""
    name = request.param
    rows = {
        "cpu": lambda X: take_rows(X, 0, X.shape[0]),
        "reference": reference.placed,
        "gpu": lambda X: backends.placed(X, "gpu"),
    }
    return SimpleNamespace(name=name, rows=rows[name], rtol=1e-6 if name == "gpu" else 1e-11)


def near(place, found, expected):
    """To the tolerance, of the largest number."""
    atol = place.rtol * np.abs(expected).max(initial=1e-300)
    assert type(found) is np.ndarray
    assert_allclose(found, expected, rtol=place.rtol, atol=atol)


def counts_of(rng, n, V, density=0.3):
    """Some documents empty, some of one word, some with a word many times."""
    X = rng.poisson(rng.gamma(density, 1, V), size=(n, V))
    X[:: max(n // 5, 2)] = 0
    X[1 :: max(n // 4, 2)] = np.eye(1, V, V // 2, dtype=int) * 3
    X[n // 2] = 7
    return csr_array(X)


def weights(X, half):
    m = X.sum(axis=1).astype(float)
    long = m >= 3
    w = np.where(long, m / np.maximum(m + half, 1), 0)
    c1 = np.where(long, w / np.maximum(m, 1), 0)
    c2 = np.where(long, c1 / np.maximum(m - 1, 1), 0)
    return w, c1, c2, np.where(long, c2 / np.maximum(m - 2, 1), 0)


SHAPES = [(1, 3), (7, 2), (60, 11), (333, 40), (500, 257)]


@pytest.mark.parametrize(("n", "V"), SHAPES)
@pytest.mark.parametrize("half", [30.0, 0.0])
def test_word_sums(place, rng, n, V, half):
    X, y = counts_of(rng, n, V), rng.standard_normal(n) + 5
    found, (w, c1, c2, _) = word_sums(Corpus(place.rows(X), y), half), weights(X, half)
    D = X.toarray()
    near(place, found.x, D.T @ c1)
    near(place, found.yx, D.T @ (c1 * (y - y[0])))
    near(place, found.x2, D.T @ c2)
    near(place, found.again, (D * (D - 1)).T @ c2)
    assert (found.n, found.n_short) == ((w > 0).sum(), (w == 0).sum())
    if w.any():
        assert_allclose([found.y.weight, found.y.mean], [w.sum(), w @ y / w.sum()])


@pytest.mark.parametrize(("n", "V"), SHAPES)
@pytest.mark.parametrize("width", [1, 4, 8, 13, 16, 32, 33, 50])
def test_pair_products(place, rng, n, V, width):
    X, S = counts_of(rng, n, V), rng.standard_normal((V, width)).astype(np.float32)
    found = pair_products(Corpus(place.rows(X), np.zeros(n)), S)
    near(place, found, X.T @ (weights(X, 30.0)[2][:, None] * (X @ S.astype(float))))


@pytest.mark.parametrize(("n", "V"), SHAPES)
@pytest.mark.parametrize("K", [1, 6, 32, 40])
@pytest.mark.parametrize("rows", [slice(None), slice(3, -2)])
def test_sketch_sums(place, rng, n, V, K, rows):
    """Also of some rows of the documents."""
    X, y, B = counts_of(rng, n, V), rng.standard_normal(n), rng.standard_normal((V, K))
    start, stop, _ = rows.indices(n)
    corpus = Corpus(place.rows(X), y).rows(start, max(stop, start))
    found = sketch_sums(corpus, B, 0.5, 2.0, 10.0)
    X, t = X[start : max(stop, start)], (y[rows] - 0.5) / 2
    (w, c1, c2, c3), P = weights(X, 10.0), X @ B
    near(place, found.p, np.stack([c1, c1 * t, c1 * t**2]) @ P)
    near(place, found.pp, (P.T * c2) @ P)
    near(place, found.ypp, (P.T * (c2 * t)) @ P)
    near(place, fill_cube(found.ppp), np.einsum("d,di,dj,dl->ijl", c3, P, P, P, optimize=True))
    near(place, found.Q, X.T @ (c3[:, None] * P))
    near(place, found.x2, X.T @ c2)
    near(place, found.yx2, X.T @ (c2 * t))
    near(place, found.x3, X.T @ c3)
    near(place, found.y, np.stack([t, t**2, t**3]) @ w)
    assert_allclose([found.weight, found.c1, found.c2], [w.sum(), w @ c1, w @ c2], rtol=1e-12)


def test_rows_are_those_of_scipy(place, rng):
    X, which = counts_of(rng, 100, 20), rng.permutation(100)[:37]
    for rows, expected in [
        (place.rows(X), X),
        (take_rows(place.rows(X), 13, 40), X[13:40]),
        (take_rows(take_rows(place.rows(X), 13, 40), 2, 2), X[15:15]),
        (taken(place.rows(X), which), X[which]),
        (taken(take_rows(place.rows(X), 10, 90), which[which < 80]), X[10:90][which[which < 80]]),
    ]:
        on = backends.of(rows)
        assert rows.shape == expected.shape
        assert rows.nnz == expected.nnz
        assert_array_equal(rows.to_csr().toarray(), expected.toarray())
        assert_array_equal(on.lengths(rows), expected.sum(axis=1))
        assert_array_equal(on.occurrences(rows), expected.sum(axis=0))
        assert_array_equal(document_keys(rows), document_keys(expected))


def a_model(rng, V, k, alpha0):
    mu = rng.dirichlet(np.full(V, 0.2), k).T.copy()
    mu[0] = 0  # a word that no topic has
    return Model(rng.dirichlet(np.full(k, 5)) * alpha0, mu, rng.standard_normal(k), 1.0)


@pytest.mark.parametrize("k", [1, 2, 3, 8, 20, 50])
@pytest.mark.parametrize(("alpha0", "burstiness"), [(3.0, 0.0), (0.5, 0.0), (3.0, 0.75)])
@pytest.mark.parametrize("must_converge", [True, False])
def test_proportions(place, rng, k, alpha0, burstiness, must_converge):
    """Those of the CPU, but for a document whose last sweep is just at the tolerance."""
    model, how = a_model(rng, 60, k, alpha0), EPInference(must_converge=must_converge)
    h = rng.dirichlet(model.alpha, 200)
    X = csr_array(rng.poisson(rng.integers(2, 120, 200)[:, None] * (h @ model.mu.T)))
    X = csr_array(np.vstack([X.toarray(), np.zeros((1, 60)), np.full((1, 60), 30)]))
    model = Model(*(model.alpha, model.mu, model.eta, 1.0, burstiness))
    expected, found = posterior(model, X, how), posterior(model, place.rows(X), how, 2)
    apart = np.abs(found.h - expected.h).sum(axis=1)
    assert (apart > 1e-9).mean() < 0.01
    assert apart.max() < 5 * how.tolerance
    same = apart < 1e-9
    assert_allclose(found.total[same], expected.total[same], rtol=1e-7)
    assert_array_equal(found.converged[same], expected.converged[same])


@pytest.mark.parametrize("k", [1, 3, 8, 33, 50])
@pytest.mark.parametrize("burstiness", [0.0, 0.75])
@pytest.mark.parametrize("rows", [(0, 300), (20, 250)])
def test_expected_counts(place, rng, k, burstiness, rows):
    model, X = a_model(rng, 60, k, 3.0), counts_of(rng, 300, 60)
    model = Model(*(model.alpha, model.mu, model.eta, 1.0, burstiness))
    expected = expected_counts(Corpus(X[slice(*rows)], np.zeros(rows[1] - rows[0])), model, ALL)
    found = expected_counts(Corpus(place.rows(X), np.zeros(300)).rows(*rows), model, ALL)
    assert_allclose(found.words, expected.words, rtol=1e-6, atol=1e-7)
    assert_allclose(found.shares, expected.shares, rtol=1e-9)


@pytest.fixture(scope="module")
def simulated():
    """More documents than are always brought together, with a column of zeros."""
    X, y, truth = make_slda(
        22_000, n_words=60, n_topics=3, doc_length=40, noise=0.3, random_state=1
    )
    X = csr_array(np.insert(X.toarray(), 5, 0, axis=1))
    return Corpus(X, 10 * y + 3), truth


def fitted(docs, **asked):
    return learn(docs, FitRequest(**asked), np.random.default_rng(0))


def same_result(found, expected, rtol):
    assert found.regime is expected.regime
    for name in ("mu", "alpha", "eta", "sigma"):
        one, other = getattr(found.model, name), getattr(expected.model, name)
        assert type(one) is type(other)
        assert_allclose(one, other, rtol=rtol, atol=rtol)
    assert_allclose(found.coef_std, expected.coef_std, rtol=100 * rtol)


def test_a_whole_fit_knows_no_device(simulated):
    """Only documents that are looked at one by one come to the host: at most 20,000."""
    corpus, _ = simulated
    reference.FETCHED.clear()
    found = fitted(reference.DocumentsThere(corpus))
    assert max(reference.FETCHED) <= 20_500
    same_result(found, fitted(Threaded(corpus, 1)), 1e-7)


def test_a_fit_of_streamed_documents(simulated, monkeypatch):
    """By the engine, in nine blocks, brought to the reference instead of a GPU."""
    from topicprism.engines.gpu import OnGPU

    corpus, _ = simulated
    monkeypatch.setattr(backends, "placed", lambda X, device: reference.placed(X))
    monkeypatch.setattr(OnGPU, "kept", lambda self, some: reference.DocumentsThere(some))
    found = fitted(OnGPU(tuple(corpus.shards(9)), False))
    same_result(found, fitted(Threaded(corpus, 1)), 1e-6)


def test_a_fit_of_text_knows_no_device(reviews_like):
    found = fitted(reference.DocumentsThere(reviews_like), n_topics=3)
    expected = fitted(Threaded(reviews_like, 1), n_topics=3)
    assert expected.regime.value == "text"
    same_result(found, expected, 1e-6)


@pytest.fixture(scope="module")
def reviews_like():
    """Documents with more structure than topics explain."""
    rng = np.random.default_rng(2)
    X, y, _ = make_slda(400, n_words=100, n_topics=30, doc_length=40, random_state=3)
    return Corpus(csr_array(X), y + 0.1 * rng.standard_normal(len(y)))


@needs_gpu
@pytest.mark.parametrize("max_bytes", [None, 2**22])
def test_a_whole_fit_on_the_gpu(simulated, max_bytes, monkeypatch):
    """Resident and streamed; twice, with the same bits."""
    from topicprism.engines import gpu

    monkeypatch.setattr(gpu, "LEAST_BYTES", 2**20)
    corpus, _ = simulated
    docs = [gpu.OnGPU.of(corpus, max_bytes=max_bytes) for _ in range(2)]
    assert docs[0].is_resident == (max_bytes is None)
    one, other = (fitted(each) for each in docs)
    assert_array_equal(one.model.mu, other.model.mu)
    assert_array_equal(one.model.eta, other.model.eta)
    same_result(one, fitted(Threaded(corpus, 1)), 1e-5)


@needs_gpu
@pytest.mark.parametrize("kind", [SpectralSLDA, SpectralLDA, AutoSLDA])
def test_estimators_on_the_gpu(simulated, kind, tmp_path):
    from topicprism import load, save

    corpus, _ = simulated
    X, y = corpus.counts[:6000], corpus.y[:6000]
    model = kind(random_state=0, device="gpu").fit(X, y)
    expected = kind(random_state=0).fit(X, y)
    assert_allclose(model.components_, expected.components_, atol=1e-5)
    assert_allclose(model.transform(X), expected.transform(X), atol=1e-3)
    save(model, tmp_path / "model.tprism")
    assert_allclose(load(tmp_path / "model.tprism").components_, model.components_)


@needs_gpu
def test_streams_of_blocks_have_the_sums_of_all(rng, monkeypatch):
    from topicprism.engines import gpu

    monkeypatch.setattr(gpu, "LEAST_BYTES", 2**20)
    OnGPU = gpu.OnGPU
    X = csr_array(rng.poisson(0.3, size=(150_000, 40)).astype(np.int64))
    corpus = Corpus(X, rng.standard_normal(150_000))
    whole, streamed = OnGPU.of(corpus), OnGPU.of(corpus, max_bytes=2**24)
    assert whole.is_resident
    assert len(streamed.corpora) > 2
    S = rng.standard_normal((40, 20))
    expected = pair_products(corpus, S)
    for docs in (whole, streamed):
        assert_allclose(docs.total(pair_products, S), expected, rtol=1e-5, atol=1e-6)
        assert_allclose(docs.total(word_sums).x, word_sums(corpus).x, rtol=1e-9)


@needs_gpu
def test_too_little_memory_is_said(simulated):
    from topicprism.engines.gpu import OnGPU

    with pytest.raises(MemoryError, match=r"0 MB of the GPU's memory are free, but documents need"):
        OnGPU.of(simulated[0], max_bytes=1000)


def test_devices_that_are_none():
    X, y, _ = make_slda(300, n_words=30, n_topics=2, random_state=0)
    sentence = "device='tpu', but expected one of 'cpu', 'gpu'; choose one of these"
    for kind in (SpectralSLDA, SpectralLDA, AutoSLDA):
        with pytest.raises(ValueError, match=sentence):
            kind(device="tpu").fit(X, y)
    model = SpectralLDA(2).fit(X).set_params(device="tpu")
    with pytest.raises(ValueError, match=sentence):
        model.transform(X)


@without_gpu
def test_no_gpu_is_said_by_fit_and_predict():
    X, y, _ = make_slda(300, n_words=30, n_topics=2, random_state=0)
    model = SpectralSLDA(2).fit(X, y).set_params(device="gpu")
    for call in (lambda: model.fit(X, y), lambda: model.predict(X), lambda: model.transform(X)):
        with pytest.raises((ImportError, RuntimeError), match="device='gpu' needs"):
            call()


CUPY = """
import sys, types
runtime = types.SimpleNamespace(CUDARuntimeError=RuntimeError, getDeviceCount={count})
cuda = types.ModuleType("cupy.cuda"); cuda.runtime = runtime
cupy = types.ModuleType("cupy"); cupy.cuda = cuda
sys.modules |= {{"cupy": cupy, "cupy.cuda": cuda}}
from topicprism import backends
try:
    backends.require_gpu()
except RuntimeError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("count", "why"),
    [("lambda: 0", "none is there"), ("lambda: 1 / 0", None), ("lambda: 2", "")],
)
def test_cupy_without_a_gpu(count, why):
    """In a process of its own, with a module in place of CuPy."""
    run = subprocess.run(
        [sys.executable, "-c", CUPY.format(count=count)], capture_output=True, text=True
    )
    if why is None:
        assert "ZeroDivisionError" in run.stderr  # only what CUDA says is taken for no GPU
        return
    expected = (
        f"CUDA finds no GPU ({why}), but device='gpu' needs an NVIDIA one; check that nvidia-smi "
        "shows it, or use device='cpu'\n"
    )
    assert run.stdout == (expected if why else ""), run.stderr


def test_without_cupy_is_said():
    code = (
        "import sys; sys.modules['cupy'] = None; from topicprism import backends; "
        "backends.require_gpu()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "but device='gpu' needs it; run: pip install 'topicprism[gpu]'" in run.stderr


@pytest.mark.parametrize(
    ("free", "allowed", "n", "sentence"),
    [
        (0, None, 3, r"0 KB of the GPU's memory are free, but documents need 1, or 65,536 at"),
        (2**26, None, 10**6, r"52,429 KB of the GPU's memory are free, .* need 371,094"),
        (2**40, 10**6, 10**6, r"977 KB of the GPU's memory are free, .* need 371,094"),
    ],
)
def test_too_little_memory_of_a_gpu_is_said(monkeypatch, free, allowed, n, sentence):
    """Without one: ``backends.memory`` only tells how much is free."""
    memory = types.ModuleType("topicprism.backends.memory")
    memory.free_bytes = lambda: free
    monkeypatch.setitem(sys.modules, "topicprism.backends.memory", memory)
    monkeypatch.setattr(backends, "require_gpu", lambda: None)
    ids = np.tile(np.arange(10, dtype=np.int32), n)
    X = csr_array((np.ones(10 * n, np.int8), ids, np.arange(0, 10 * n + 1, 10)), shape=(n, 10))
    with pytest.raises(MemoryError, match=sentence):
        OnGPU.of(Corpus(X, np.zeros(n)), max_bytes=allowed)


def test_an_array_says_where_it_is():
    class OfCupy:
        __cuda_array_interface__ = {}  # noqa: RUF012

    assert backends.of(np.zeros(3)) is backends.cpu
    assert backends.of(csr_array(np.eye(2))) is backends.cpu
    assert backends.of(reference.placed(csr_array(np.eye(2)))) is reference
    if _has_gpu():
        assert backends.of(OfCupy()).__name__ == "topicprism.backends.gpu"
