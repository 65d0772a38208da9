import os
import signal
from contextlib import ExitStack, contextmanager, suppress

import numpy as np
import pytest
from scipy.sparse import csr_array

from topicprism.datasets import draw_model
from topicprism.learn.defaults import SAMPLED


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def text():
    """Documents like real ones: many more topics than anyone asks for, lengths from 3 to 300,
    words in bursts, and a response that only a few words of each topic tell of."""
    rng = np.random.default_rng(0)
    model = draw_model(400, 60, rng, words="zipf")
    feeling = rng.standard_normal(400) * (rng.random(400) < 0.15)
    mood = rng.standard_normal(4000)
    lengths = np.exp(rng.normal(3.8, 0.8, 4000)).astype(int) + 3
    h = rng.dirichlet(np.full(60, 0.05), 4000)
    X = np.zeros((4000, 400), int)
    for d in range(4000):
        p = (model.mu @ h[d]) * np.exp(0.7 * mood[d] * feeling)
        drawn = rng.multinomial(lengths[d], rng.dirichlet(200 * p / p.sum() + 1e-9))
        X[d] = drawn
    y = 3 + mood + 0.5 * rng.standard_normal(4000)
    return csr_array(X), y


def shorten_chains(monkeypatch):
    """Where the default samples: few sweeps, for hundreds of documents too."""
    for name in ("sweeps", "half_sweeps"):
        monkeypatch.setitem(vars(SAMPLED), name, (4, 6))
    others = {"min_documents": 200, "min_words": 1000, "max_documents": 500, "min_r2_share": -1.0}
    for name, value in others.items():
        monkeypatch.setitem(vars(SAMPLED), name, value)


@pytest.fixture
def short_chains(monkeypatch):
    shorten_chains(monkeypatch)


LIMIT = 180  # seconds for a test of processes, on a busy machine; they take few


@contextmanager
def deadline(what):
    """Ends what waits for what will not come."""

    def stop(*_):
        pytest.fail(f"{what} took more than {LIMIT} seconds")

    before, left = signal.signal(signal.SIGALRM, stop), signal.alarm(LIMIT)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.alarm(left)


@pytest.fixture
def limit():
    with deadline("the test"):
        yield


def end_once(path):
    """The process ends that is the first to come here, and no other."""
    with suppress(FileExistsError):
        path.touch(exist_ok=False)
        os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def dask_cluster(n_workers=2, **options):
    """Processes of this machine, and a client of theirs."""
    import dask
    from distributed import Client, LocalCluster

    given = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    quiet = {"distributed.scheduler.allowed-failures": 1, "dataframe.convert-string": False}
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(quiet | options.pop("config", {})))
        with deadline("a cluster"):
            cluster = LocalCluster(n_workers, host="127.0.0.1", **given, **options)
            client = stack.enter_context(Client(stack.enter_context(cluster)))
        yield client


@pytest.fixture(scope="module")
def client():
    """Of two workers."""
    pytest.importorskip("distributed")
    with dask_cluster() as client:
        yield client
