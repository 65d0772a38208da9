"""The command on a cluster of its own: ``dask scheduler``, two ``dask worker``, and all may end."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import LIMIT
from numpy.testing import assert_allclose, assert_array_equal
from varied_texts import varied_texts

import topicprism
from topicprism.cli import main

pytest.importorskip("distributed")
pytest.importorskip("pyarrow")
import dask.bag as db
import pyarrow as pa
from distributed import Client
from pyarrow.parquet import write_table

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of Dask's, as workers come and go
    pytest.mark.usefixtures("limit"),
]
TOPICS = ["--model", "spectral", "--n-topics", "3"]
ROOT = Path(__file__).parents[1]  # functions of this file are found from there
WORKER = "from distributed.cli.dask_worker import main; main()"
OLD = "import topicprism; topicprism.__version__ = '0.1'; "
WITHOUT = "import sys; sys.modules['topicprism'] = None; "


def start(code, *argv, log):
    """A program of Dask's, in a folder where none of the tables is."""
    log.parent.mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-c", code, *argv], stderr=log.open("w"), cwd=log.parent,
        env={**os.environ, "NUMBA_NUM_THREADS": "1", "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Tables: two of Parquet with row groups, rows without a text or a number among them."""
    folder = tmp_path_factory.mktemp("tables")
    texts, y = varied_texts(700)
    y = [str(v) for v in y]
    texts[3], texts[500], y[40], y[450] = None, " ", "many", None
    for name, rows in {"a": slice(0, 450), "b": slice(450, 700)}.items():
        table = pa.table({"review": texts[rows], "stars": y[rows]})
        write_table(table, folder / f"{name}.parquet", row_group_size=200)
    return folder


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Of a scheduler with two workers, which nobody starts again."""
    folder = tmp_path_factory.mktemp("elsewhere") / "there"
    code = "from distributed.cli.dask_scheduler import main; main()"
    argv = ("--host", "127.0.0.1", "--port", "0", "--dashboard-address", ":0")
    began = [start(code, *argv, log=folder / "scheduler")]
    try:
        until = time.monotonic() + LIMIT
        while not (at := re.search(r"(tcp://\S+)", (folder / "scheduler").read_text())):
            assert began[0].poll() is None
            assert time.monotonic() < until, "the scheduler says no address"
            time.sleep(0.1)
        for i in range(2):
            began.append(start(WORKER, at[1], *ALONE, log=folder / f"worker{i}"))
        with Client(at[1]) as client:
            client.wait_for_workers(2, timeout=60)
        yield at[1]
    finally:
        for process in began:
            process.kill()
            process.wait()


ALONE = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1")


@pytest.fixture
def here(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for table in home.iterdir():
        (tmp_path / table.name).symlink_to(table)
    return tmp_path


def run(capsys, *argv):
    status = main(list(argv))
    out, err = capsys.readouterr()
    return status, out, err


def test_fit_and_predict_are_those_of_one_process(here, address, capsys):
    dask = ["--dask", address]
    status, out, err = run(capsys, "fit", "*.parquet", "-o", "d.tprism", *TOPICS, *dask,
                           "--report", "d.html")  # fmt: skip
    assert (status, err) == (0, "")
    status, plain, _ = run(
        capsys, "fit", "*.parquet", "-o", "p.tprism", *TOPICS, "--report", "p.html"
    )
    assert status == 0
    assert re.sub(r"\bd\.", "p.", out) == plain
    of_dask, of_one = (topicprism.load(f"{name}.tprism") for name in "dp")
    assert_array_equal(of_dask.words, of_one.words)
    assert_allclose(of_dask.model.mu, of_one.model.mu, atol=1e-10)
    own = {"created", "seconds", "scores", "shares", "response"}
    assert {k: v for k, v in of_dask.info.items() if k not in own} == {
        k: v for k, v in of_one.info.items() if k not in own
    }
    for name in own - {"created", "seconds"}:
        assert of_dask.info[name] == pytest.approx(of_one.info[name], abs=1e-9), name
    assert of_dask.info["n_held_out"] > 0
    shown = [re.findall(r"subject\w+", Path(f"{name}.html").read_text()) for name in "dp"]
    assert shown[0] == shown[1]
    for more in (["-o", "x.csv", "--std"], ["-o", "x.jsonl", "--proportions"]):
        found = []
        for where in (dask, []):
            argv = ["predict", "p.tprism", "*.parquet", *more, "--keep", "stars", *where]
            status, out, err = run(capsys, *argv)
            found.append((status, out, err, Path(more[1]).read_text()))
        assert found[0] == found[1]
        assert found[0][0] == 0
        assert "700 rows to x." in found[0][2]


def test_what_a_command_on_dask_refuses(here, address, capsys, monkeypatch):
    def refused(*argv):
        status, out, err = run(capsys, *argv, "--dask", address)
        assert (status, out) == (2, "")
        assert len(err.splitlines()) == 1
        assert not list(here.glob("*.tprism"))
        return err

    assert "--dask has no use with --model gibbs" in refused("fit", "a.parquet", "--model", "gibbs")
    monkeypatch.chdir(here)  # where a path through the folder of each process leads elsewhere
    unseen = refused("fit", "/proc/self/cwd/a.parquet", *TOPICS)
    assert re.search(r"row group \d: a worker on", unseen)  # the one that is tried first
    assert "cannot see /proc/self/cwd/a.parquet (No such file" in unseen
    data = bytearray((here / "a.parquet").read_bytes())
    Path("cut.parquet").write_bytes(data[:-100])
    assert "cut.parquet is not a whole Parquet file" in refused("fit", "cut.parquet", *TOPICS)
    data[200:1200] = bytes(1000)  # pages of the first row group; the footer is whole
    Path("hurt.parquet").write_bytes(data)
    argv = ["--text", "review", "--target", "stars"]
    monkeypatch.setattr("topicprism.io.tables.columns.Table._sample", lambda *_: [])
    assert "hurt.parquet is not a whole Parquet file" in refused("fit", "hurt.parquet", *argv)
    write_table(pa.table({"review": varied_texts(9)[0], "stars": [2.0] * 9}), "same.parquet")
    assert "'stars' is 2 in all 9 documents" in refused("fit", "same.parquet", *argv)
    write_table(pa.table({"review": varied_texts(9)[0], "stars": ["x"] * 9}), "x.parquet")
    of_text = refused("fit", "x.parquet", *argv)
    assert "a number in 'stars' (row 1 of x.parquet has 'x'), expected both" in of_text


def test_without_a_scheduler_there_is_a_sentence(here, capsys, monkeypatch):
    monkeypatch.setattr("topicprism.engines.tasks.CONNECT", 0.5)
    argv = ["fit", "a.parquet", *TOPICS, "--dask"]
    for address in ("tcp://127.0.0.1:9", "nonsense"):
        status, _, err = run(capsys, *argv, address)
        assert status == 2
        assert f"no scheduler of Dask answers at '{address}'" in err
    monkeypatch.setitem(sys.modules, "topicprism.engines.tasks", None)
    status, _, err = run(capsys, *argv, "tcp://127.0.0.1:9")
    assert status == 2


def test_an_interrupted_command_leaves_no_task(here, address):
    command = subprocess.Popen(
        [sys.executable, "-m", "topicprism", "fit", "a.parquet", "--dask", address],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with Client(address) as client:
        until(lambda: n_tasks(client) > 0)
        command.send_signal(signal.SIGINT)
        _, err = command.communicate(timeout=60)
        assert command.returncode == 130
        assert "nothing was written" in err
        until(lambda: n_tasks(client) == 0)


def n_tasks(client):
    return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))


def until(true):
    while not true():
        time.sleep(0.05)


# --- the last of the file: workers that do not belong there, and none --------------------------


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (OLD, r"worker tcp://\S+ has topicprism 0.1, but .* was expected, as here; install"),
        (WITHOUT, r"the workers of tcp://\S+ cannot run topicprism .* install topicprism"),
    ],
)
def test_a_worker_that_joins_late_is_refused_if_it_is_no_use(address, tmp_path, code, sentence):
    from topicprism.engines.tasks import check_workers

    with Client(address) as client:
        check_workers(client)
        with late_worker(client, code, tmp_path), pytest.raises(RuntimeError, match=sentence):
            check_workers(client)


def test_a_worker_that_joins_a_fit_is_refused_if_it_would_do_something_else(address, tmp_path):
    """One without topicprism ends by itself when a task comes to it, which another then has."""
    from topicprism.engines.tasks import gather, submit

    with Client(address) as client:
        with late_worker(client, OLD, tmp_path) as its:
            task = submit(client, len, "abc", workers=[its])
            with pytest.raises(RuntimeError, match=r"worker tcp://\S+ has topicprism 0.1, but"):
                gather(client, [task])
        with late_worker(client, WITHOUT, tmp_path) as its:
            task = submit(client, len, "abc", workers=[its], allow_other_workers=True)
            assert gather(client, [task]) == [3]


@contextmanager
def late_worker(client, code, folder):
    """The address of a third worker, for as long as it lasts."""
    known = client.nthreads().keys()
    late = start(code + WORKER, client.scheduler.address, *ALONE, log=folder / "there" / "late")
    try:
        client.wait_for_workers(3, timeout=60)
        (its,) = client.nthreads().keys() - known
        yield its
    finally:
        late.kill()
        late.wait()
        until(lambda: len(client.nthreads()) == 2)


def slowly(texts):
    time.sleep(60)
    return texts


def test_no_worker_is_left(address, monkeypatch):
    """A sentence, not an endless wait."""
    monkeypatch.setattr("topicprism.engines.tasks.MAX_SECONDS_WITHOUT_WORKERS", 2.0)
    texts, y = (db.from_sequence(some, npartitions=2) for some in varied_texts(60))
    with Client(address) as client:
        pids = client.run(os.getpid).values()

        def kill():
            until(lambda: any(client.processing().values()))
            for pid in pids:
                os.kill(pid, signal.SIGKILL)

        killing = threading.Thread(target=kill)
        killing.start()
        with pytest.raises(RuntimeError, match="has had no worker for 2 seconds; start some"):
            topicprism.fit(texts.map_partitions(slowly), y, n_topics=2)
        killing.join()
