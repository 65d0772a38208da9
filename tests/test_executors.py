"""Shards in files, summed up by workers elsewhere."""

import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from topicprism import Corpus, SpectralSLDA
from topicprism.datasets import make_slda
from topicprism.documents import OnDisk, disk
from topicprism.documents.disk import sum_of_files

pytestmark = pytest.mark.usefixtures("limit")


@pytest.fixture(scope="module")
def processes():
    """Two, started anew: nothing is inherited but what a task is sent."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    X, y, _ = make_slda(1200, n_words=60, n_topics=3, doc_length=50, random_state=0)
    folder = tmp_path_factory.mktemp("shards")
    OnDisk.write(folder, Corpus(X, y).shards(7))
    return folder


def words(c, power):
    return c.counts.data.astype(float).sum() ** power


def fitted(docs):
    told = SpectralSLDA(3, alpha0=1.0, noise_variance=0.01, random_state=0)
    return told.fit_documents(docs)


def test_processes_give_the_bits_of_threads(folder, processes, monkeypatch):
    monkeypatch.setattr("topicprism.learn.survey.MAX_ORDERED", 100)
    monkeypatch.setattr("topicprism.documents.subsets.MAX_ORDERED", 100)
    expected = fitted(OnDisk.open(folder)).model_
    with ThreadPoolExecutor(3) as threads:
        for docs in (
            OnDisk.open(folder, 2),
            OnDisk.open(folder, executor=threads),
            OnDisk.open(folder, executor=processes),
        ):
            found = fitted(docs).model_
            assert_array_equal(found.mu, expected.mu)
            assert_array_equal(found.eta, expected.eta)


@pytest.mark.parametrize("n_tasks", [1, 2, 5, 7, 64])
def test_a_task_has_a_run_of_consecutive_shards(folder, n_tasks):
    runs = []

    class Noting(ThreadPoolExecutor):
        def submit(self, function, files, part, shared):
            assert function is sum_of_files
            runs.append([file.path.name for file in files])
            return super().submit(function, files, part, shared)

    with Noting(1) as pool:
        docs = OnDisk.open(folder, executor=pool, n_tasks=n_tasks)
        assert docs.total(len) == 1200
        names = [path.name for path in docs.shards]
        assert len(runs) == min(n_tasks, 7)
        assert [name for run in runs for name in run] == names
        assert max(map(len, runs)) - min(map(len, runs)) <= 1


def test_contents_are_looked_through_once(folder, monkeypatch):
    looked, checksum = [], disk._checksum
    monkeypatch.setattr(disk, "_checksum", lambda path: looked.append(path) or checksum(path))
    docs = OnDisk.open(folder)
    sums = [docs.total(words, 1) for _ in range(3)]
    assert len(set(sums)) == 1
    assert looked == list(docs.shards)


def test_processes_of_lokys(folder):
    from joblib.externals.loky import get_reusable_executor

    pool = get_reusable_executor(max_workers=1)
    assert OnDisk.open(folder, executor=pool).total(len) == 1200
    pool.shutdown()


def test_processes_of_mpi(folder):
    mpi = pytest.importorskip("mpi4py.futures", reason="mpi4py is not installed")
    with mpi.MPIPoolExecutor(1) as pool:
        assert OnDisk.open(folder, executor=pool).total(len) == 1200


def test_damage_is_seen_by_workers(folder, processes, tmp_path):
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    path = tmp_path / "000003.shard"
    path.write_bytes(path.read_bytes()[:-8] + bytes(8))
    docs = OnDisk.open(tmp_path, executor=processes)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"000003.shard is damaged: its checksum"):
            docs.total(len)
    path.unlink()
    with pytest.raises(OSError, match=r"000003.shard"):
        docs.total(len)


def fall(c):
    os._exit(3)


def test_a_process_that_falls_is_a_sentence(folder):
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        pytest.raises(
            RuntimeError, match=r"a worker process ended while it read .* smaller shards"
        ),
    ):
        OnDisk.open(folder, executor=pool).total(fall)


def test_what_is_no_executor_is_refused(folder):
    with pytest.raises(ValueError, match=r"executor=4, but expected a concurrent.futures.Executor"):
        OnDisk.open(folder, executor=4)
    with pytest.raises(ValueError, match=r"n_tasks=0, but expected a whole number from 1 up"):
        OnDisk.open(folder, n_tasks=0)


def test_an_empty_shard_is_read_like_others(tmp_path, processes):
    empty = Corpus(csr_array((0, 4), dtype=int), np.zeros(0))
    some = Corpus(csr_array(np.ones((3, 4), int)), np.arange(3.0))
    docs = OnDisk.write(tmp_path, [empty, some, empty])
    assert OnDisk.open(tmp_path, executor=processes).total(words, 2) == docs.total(words, 2) == 144
