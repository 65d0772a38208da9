"""No file is lost: not those that are read, not those that were there, not half of a new one."""

import csv
import errno
import io
import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from running import run

import topicprism
from topicprism.cli import main
from topicprism.datasets import make_reviews
from topicprism.io import files, stale
from topicprism.io.files import load
from topicprism.io.tables import Options, TableError, open_table
from topicprism.show import report

ROOT = Path(topicprism.__file__).parents[1]
posix = pytest.mark.skipif(os.name != "posix", reason="special files are of other kinds elsewhere")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A small table and the model learnt from it."""
    folder = tmp_path_factory.mktemp("home")
    texts, y, _ = make_reviews(300, random_state=0)
    with (folder / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("review", "stars"), *zip(texts, y.tolist(), strict=True)])
    topics = ["--n-topics", "3", "--alpha0", "1", "--noise-variance", "0.1"]
    assert main(["fit", f"{folder}/a.csv", "-o", f"{folder}/m.tprism", "-q", *topics]) == 0
    return folder


@pytest.fixture
def here(home, tmp_path, monkeypatch):
    for path in home.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "stop.txt").write_text("the\na\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def spawn(argv, cwd, **options):
    env = os.environ | {"PYTHONPATH": str(ROOT)} | options.pop("env", {})
    return subprocess.Popen(
        [sys.executable, "-m", "topicprism", *map(str, argv)],
        cwd=cwd, env=env, text=True, stderr=subprocess.PIPE, **options,
    )  # fmt: skip


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


def node(path, minor):
    """A device in the folder of a test: 3 takes everything, 5 gives zeros, 7 is full."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        path.open("rb").close()
    except OSError:
        pytest.skip("devices can be made by root only")
    return path


@pytest.fixture
def pipe(tmp_path):
    """A pipe, and a function that waits for what went through it."""
    made = []

    def make(name):
        os.mkfifo(tmp_path / name)
        got = []
        reader = threading.Thread(
            target=lambda: got.append((tmp_path / name).read_bytes()), daemon=True
        )
        reader.start()

        def received():
            reader.join(20)
            assert not reader.is_alive(), f"nothing was written to {name}"
            return got[0]

        made.append(received)
        return tmp_path / name, received

    return make


# --- what is not a regular file ---------------------------------------------------------

WRITERS = {
    "p.csv": ["predict", "m.tprism", "a.csv", "-o"],
    "p.jsonl": ["predict", "m.tprism", "a.csv", "-o"],
    "p.csv.gz": ["predict", "m.tprism", "a.csv", "-o"],
    "p.parquet": ["predict", "m.tprism", "a.csv", "-o"],
    "page.html": ["report", "m.tprism", "-o"],
    "s.tpsketch": ["sketch", "a.csv", "-o"],
    "n.tprism": ["fit", "a.csv", "--n-topics", "3", "--alpha0", "1", "-o"],
    "p.png": ["select", "a.csv", "--n-topics", "3", "--alpha0", "1", "--plot"],
}


def needs(name):
    for ending, module in {"parquet": "pyarrow", "png": "matplotlib"}.items():
        if name.endswith(ending):
            pytest.importorskip(module)


def unwrapped(name, data):
    """What does not change from one run to the next."""
    if name.endswith(".gz"):
        return __import__("gzip").decompress(data)
    return len(data) // 1000 if name == "n.tprism" else data  # it knows how many seconds it took


@posix
@pytest.mark.parametrize("name", WRITERS)
def test_a_pipe_and_a_device_are_written_to(here, pipe, capsys, name):
    needs(name)
    assert run(capsys, *WRITERS[name], name)[0] == 0
    whole = (here / name).read_bytes()
    (here / name).unlink()
    path, received = pipe(name)
    assert run(capsys, *WRITERS[name], name)[0] == 0
    assert stat.S_ISFIFO(path.lstat().st_mode)
    assert unwrapped(name, received()) == unwrapped(name, whole)
    path.unlink()
    nowhere = node(here / name, 3)
    assert run(capsys, *WRITERS[name], name)[0] == 0
    assert nowhere.is_char_device()
    assert not [p for p in here.iterdir() if p.name.startswith(".")]


@posix
@pytest.mark.parametrize("name", WRITERS)
def test_a_link_stays_one_and_its_file_is_new(here, capsys, name):
    needs(name)
    (here / "far").mkdir()
    old = here / "far" / f"real-{name}"
    old.write_text("old")
    old.chmod(0o640)
    (here / "between").symlink_to(old)
    (here / name).symlink_to("between")
    assert run(capsys, *WRITERS[name], name)[0] == 0
    assert (here / name).is_symlink()
    assert (here / "between").is_symlink()
    assert len(old.read_bytes()) > 3
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    (here / name).unlink()
    (here / name).symlink_to("far/new")  # which is not there yet
    assert run(capsys, *WRITERS[name], name)[0] == 0
    assert (here / "far" / "new").stat().st_size > 3
    assert (here / name).is_symlink()
    assert {p.name for p in (here / "far").iterdir()} == {old.name, "new"}


@posix
def test_python_writes_to_pipes_and_through_links_too(here, pipe):
    model = load("m.tprism")
    path, received = pipe("piped.tprism")
    files.save(model, path)
    assert received() == files.to_bytes(model)
    (here / "link.html").symlink_to("real.html")
    report.write_page(report.summarise(model), here / "link.html")
    assert (here / "link.html").is_symlink()
    assert (here / "real.html").read_text().lower().startswith("<!doctype html>")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="what /dev/stdout is a link to")
@pytest.mark.parametrize("opened", ["w", "a"])
def test_standard_output_by_its_name_is_what_is_open(here, opened):
    """By a link like /dev/stdout, for a mistake would cost the machine the real one."""
    (here / "stdout.csv").symlink_to("/proc/self/fd/1")
    argv = ["predict", "m.tprism", "a.csv", "-q", "-o", "stdout.csv"]
    (here / "out.csv").write_text("before\n")
    with (here / "out.csv").open(opened) as out:
        child = spawn(argv, here, stdout=out)
        _, err = child.communicate(timeout=60)
        out.seek(0, os.SEEK_END)
        out.write("after\n")
    assert (child.returncode, err) == (0, "")
    lines = (here / "out.csv").read_text().splitlines()
    assert lines[0] == ("row,prediction" if opened == "w" else "before")
    assert lines[-1] == "after"
    assert len(lines) == 302 + (opened == "a")


@posix
def test_an_interruption_leaves_no_part_beside_a_device(here, capsys, monkeypatch):
    nowhere = node(here / "p.csv", 3)
    kind = type(load("m.tprism").topics)
    predict, calls = kind.predict, []

    def interrupted(self, X, **options):
        calls.append(X.shape[0])
        if len(calls) > 1:
            raise KeyboardInterrupt
        return predict(self, X, **options)

    monkeypatch.setattr(kind, "predict", interrupted)
    monkeypatch.setattr("topicprism.io.tables.formats.CHUNK_CHARACTERS", 40_000)
    before = contents(here)
    status, _, err = run(capsys, "predict", "m.tprism", "a.csv", "-o", "p.csv")
    assert status == 130
    assert f"the first {calls[0]} rows are written" in err
    assert nowhere.is_char_device()
    assert contents(here) == before


# --- what is read is not written --------------------------------------------------------

OVER = {
    "a pattern": ["predict", "m.tprism", "a.cs*", "-o", "a.csv"],
    "a page over a pattern": ["report", "m.tprism", "[a]*.csv", "-o", "a.csv"],
    "a page of a fit": ["fit", "a.c?v", "--report", "a.csv"],
    "stop words": ["fit", "a.csv", "--stop-words", "stop.txt", "--report", "stop.txt"],
    "stop words of a sketch": ["sketch", "a.csv", "--stop-words", "s.tpsketch", "-o", "s.tpsketch"],
    "stop words and the usual name": ["fit", "a.csv", "--stop-words", "a.tprism"],
    "a picture": ["select", "a.*sv", "--plot", "a.csv"],
    "a hard link": ["predict", "m.tprism", "a.csv", "-o", "hard.csv"],
    "a link": ["predict", "m.tprism", "a.csv", "-o", "link.csv"],
    "a link that is read": ["predict", "m.tprism", "link.csv", "-o", "a.csv"],
    "the model": ["predict", "m.tprism", "a.csv", "--output-format", "csv", "-o", "m.tprism"],
    "a page over the model": ["report", "m.tprism", "-o", "m.tprism"],
    "a basis": ["sketch", "a.csv", "--basis", "s.tpsketch", "-o", "s.tpsketch"],
    "a sum": ["merge", "s.tpsketch", "t.tpsketch", "-o", "s.tpsketch"],
    "the part of an unfinished file": ["predict", "m.tprism", "p.csv.part", "-o", "p.csv"],
}


@posix
@pytest.mark.parametrize("which", OVER)
def test_nothing_that_is_read_is_written_over(here, capsys, which):
    os.link("a.csv", "hard.csv")
    os.symlink("a.csv", "link.csv")
    for name in ("s.tpsketch", "t.tpsketch", "a.tprism", "p.csv.part"):
        (here / name).write_text("the\na\n")
    before = contents(here)
    status, out, err = run(capsys, *OVER[which])
    assert (status, out) == (2, "")
    assert re.fullmatch(r"topicprism \w+: \S+ is to be read and written; write .*\n", err), err
    assert contents(here) == before
    assert (here / "link.csv").is_symlink()


@pytest.mark.parametrize(
    "argv",
    [
        ["report", "m.tprism", "-o", "other.tprism"],
        ["fit", "a.csv", "-o", "n.tprism", "--report", "other.tprism"],
        ["predict", "m.tprism", "a.csv", "--output-format", "csv", "-o", "other.tprism"],
    ],
)
def test_no_page_or_table_takes_the_place_of_a_model(here, capsys, argv):
    (here / "other.tprism").write_bytes((here / "m.tprism").read_bytes())
    before = contents(here)
    status, out, err = run(capsys, *argv)
    assert (status, out) == (2, "")
    assert re.fullmatch(r"topicprism \w+: other.tprism holds a model or a sketch, .*\n", err), err
    assert contents(here) == before


@posix
@pytest.mark.parametrize("argv", [["predict", "m.tprism", "-", "-o", "a.csv"], ["fit", "-"]])
def test_standard_input_that_is_a_file_is_not_written_over(here, argv):
    argv = argv if "-o" in argv else [*argv, "--report", "a.csv", "-o", "n.tprism"]
    before = contents(here)
    with (here / "a.csv").open("rb") as given:
        child = spawn(argv, here, stdin=given, stdout=subprocess.PIPE)
        out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (2, "")
    assert "a.csv is to be read and written" in err
    assert contents(here) == before


@posix
def test_standard_output_is_not_appended_to_what_is_read(here):
    before = contents(here)
    with (here / "a.csv").open("a") as out:
        child = spawn(["predict", "m.tprism", "a.csv"], here, stdout=out)
        _, err = child.communicate(timeout=60)
    assert child.returncode == 2
    assert "standard output goes to a file that is to be read" in err
    assert contents(here) == before


@pytest.mark.parametrize("page", ["./n.tprism", "N.TPRISM", "link"])
def test_two_results_need_two_names(here, capsys, page):
    os.symlink("n.tprism", "link")
    status, _, err = run(capsys, "fit", "a.csv", "-o", "n.tprism", "--report", page)
    assert status == 2
    assert "is to hold two results; give them two names" in err


@pytest.mark.parametrize("name", ["reviews.csv", "new.csv", "reviews.tprism", "reviews.html"])
def test_the_demo_writes_over_nothing_but_itself(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / name).write_text("mine")
    status, out, err = run(capsys, "demo", "--folder", "d", "--documents", "500")
    assert (status, out) == (2, "")
    assert f"{name} exists and is not from this demo" in err
    assert contents(tmp_path / "d") == {name: b"mine"}


def test_the_demo_can_be_repeated(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("topicprism.cli.commands.demo._run", lambda *_: None)
    monkeypatch.setattr("topicprism.cli.commands.demo.load_model", lambda *_: None)
    monkeypatch.setattr("topicprism.cli.commands.demo._beside_truth", lambda *_: [])
    for _ in range(2):
        assert run(capsys, "demo", "--folder", "d", "--documents", "500")[0] == 0
        (tmp_path / "d" / "reviews.html").write_text("of the demo")
    assert run(capsys, "demo", "--folder", "d", "--documents", "600")[0] == 2


# --- places that cannot be written ------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder that nobody can write to")
@pytest.mark.parametrize(
    "argv",
    [
        ["fit", "a.csv", "-o", "/proc/m.tprism"],
        ["fit", "a.csv", "--report", "/proc/p.html"],
        ["sketch", "a.csv", "-o", "/proc/s.tpsketch"],
        ["predict", "m.tprism", "a.csv", "-o", "/proc/p.csv"],
        ["report", "m.tprism", "a.csv", "-o", "/proc/p.html"],
    ],
)
def test_a_folder_that_cannot_be_written_to_is_noticed_before_work(here, capsys, monkeypatch, argv):
    def work(*_):
        raise AssertionError("the table was read")

    monkeypatch.setattr("topicprism.cli.session.open_table", work)
    before = contents(here)
    status, out, err = run(capsys, *argv)
    assert (status, out) == (2, "")
    assert re.fullmatch(r"topicprism \w+: /proc/\S+ cannot be written: .*; .*\n", err), err
    assert "Errno" not in err
    assert contents(here) == before


@posix
def test_a_check_leaves_nothing_and_a_disk_is_refused(here, monkeypatch):
    from topicprism.io.atomic import check_target

    before = contents(here)
    check_target(here / "new.csv")
    check_target(here / "a.csv")
    assert contents(here) == before
    monkeypatch.setattr(Path, "is_block_device", lambda path: path.name == "sda.csv")
    with pytest.raises(ValueError, match=r"sda.csv is a disk, but a file to write was expected"):
        check_target(here / "sda.csv")
    (here / "round").symlink_to("round")
    with pytest.raises(ValueError, match=r"round is a link to itself"):
        check_target(here / "round")


@pytest.mark.parametrize("name", ["p.csv", "p.parquet", "page.html", "n.tprism"])
def test_a_full_disk_is_a_sentence_and_leaves_what_was_there(here, capsys, monkeypatch, name):
    needs(name)
    (here / name).write_text("old")
    before = contents(here)

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    argv = WRITERS["page.html"][:-1] if name == "n.tprism" else WRITERS[name][:-1]
    if name == "n.tprism":
        with pytest.raises(OSError, match=r"n.tprism cannot be written: No space left on dev") as e:
            files.save(load("m.tprism"), name)
        assert e.value.errno == errno.ENOSPC
    else:
        status, _, err = run(capsys, *argv, "-o", name)
        assert status == 2
        assert re.fullmatch(
            rf"topicprism \w+: {name} cannot be written: No space left.*; free some room .*\n", err
        ), err
    assert contents(here) == before


@posix
def test_standard_output_on_a_full_disk_is_a_sentence(here):
    full = node(here / "full", 7)
    for argv in (["topics", "m.tprism"], ["predict", "m.tprism", "a.csv"], ["--help"]):
        with full.open("w") as out:
            child = spawn(argv, here, stdout=out)
            _, err = child.communicate(timeout=60)
        if argv != ["--help"]:
            assert child.returncode == 2
            assert "standard output cannot be written: No space left on device; free" in err
        assert err.count("\n") <= 1, err
        assert full.is_char_device()


# --- stopped and killed -----------------------------------------------------------------


def waiting(folder, signal_number, name="pipe.csv", **env):
    """A fit that waits for its table, and is stopped: its end, messages and temporaries."""
    os.mkfifo(folder / name)
    (folder / "tmp").mkdir(exist_ok=True)
    child = spawn(
        ["fit", name], folder, stdout=subprocess.PIPE, env={"TMPDIR": str(folder / "tmp")}
    )
    with (folder / name).open("w") as pipe:
        pipe.write("review,stars\n")
        pipe.flush()
        time.sleep(1.0)  # until it reads, on a busy machine too
        child.send_signal(signal_number)
        out, err = child.communicate(timeout=60)
    assert out == ""
    (folder / name).unlink()
    return child.returncode, err, list((folder / "tmp").iterdir())


@posix
def test_sigterm_is_answered_like_ctrl_c(tmp_path):
    said = "topicprism fit: stopped during 'reading'; nothing was written\n"
    assert waiting(tmp_path, signal.SIGTERM) == (143, said, [])
    assert waiting(tmp_path, signal.SIGINT) == (130, said, [])


@posix
def test_what_a_killed_command_left_is_swept_and_nothing_else(here, capsys, monkeypatch):
    status, _, left = waiting(here, signal.SIGKILL)
    assert status == -signal.SIGKILL
    assert len(left) == 1
    dead = re.search(r"-(\d+)-", left[0].name)[1]
    for name in (f".p.csv.{dead}.0123abcd.unfinished", f".q.csv.{dead}.unfinished"):
        (here / name).write_text("half")
    empty = here / "tmp" / f"topicprism-{dead}-new"  # killed before there was a file to lock
    empty.mkdir()
    others = [
        here / f".p.csv.{os.getpid()}.0123abcd.unfinished",  # of a living process
        here / f"p.csv.{dead}.0123abcd.unfinished",  # not hidden
        here / ".p.csv.unfinished",
        here / "tmp" / f"topicprism-{os.getpid()}-abc" / "owner",
        here / "tmp" / f"topicprism-{dead}-abc" / "x",  # without the file that is locked
        here / "tmp" / f"other-{dead}-abc" / "owner",
    ]
    for path in others:
        path.parent.mkdir(exist_ok=True)
        path.write_text("other")
    monkeypatch.setattr("tempfile.tempdir", str(here / "tmp"))
    assert run(capsys, "predict", "m.tprism", "a.csv", "-o", "p.csv")[0] == 0
    assert not left[0].exists()
    assert not empty.exists()
    assert all(path.exists() for path in others)
    assert not list(here.glob(f".*{dead}*"))


@posix
def test_a_folder_that_is_swept_before_it_is_marked_is_made_again(tmp_path, monkeypatch):
    """By a process that sees other numbers of processes, in another container."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("topicprism.io.stale._dead", lambda _: True)
    make, made = os.open, []

    def swept(path, *options, **place):
        if Path(path).name == "owner" and options[0] & os.O_CREAT and not made:
            stale.sweep_folders(tmp_path)
            made.append(path)
        return make(path, *options, **place)

    monkeypatch.setattr(os, "open", swept)
    with stale.temporary_folder() as folder:
        assert made
        assert not made[0].parent.exists()
        assert [p.name for p in folder.iterdir()] == ["owner"]
        stale.sweep_folders(tmp_path)
        assert folder.exists()
    assert list(tmp_path.iterdir()) == []


@posix
def test_a_folder_is_removed_with_its_mark_last(tmp_path, monkeypatch):
    """Or what is left of it, if that is where the process is killed, would stay."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    unlink, gone = Path.unlink, []

    def killed(path, **options):
        gone.append(path.name)
        unlink(path, **options)
        assert (path.parent / "owner").exists()

    monkeypatch.setattr(Path, "unlink", killed)
    with stale.temporary_folder() as folder:
        for name in ("a", "z"):
            (folder / name).write_text("part of a table")
    assert sorted(gone) == ["a", "z"]
    assert list(tmp_path.iterdir()) == []


@posix
def test_what_another_process_still_writes_is_not_swept(tmp_path):
    """Its number may be that of no process here, if it is in another container."""
    import fcntl

    from topicprism.io.stale import sweep_files

    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    path = tmp_path / f".p.csv.{gone.pid}.0123abcd.unfinished"
    with path.open("w") as file:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        sweep_files(tmp_path)
        assert path.exists()
    sweep_files(tmp_path)
    assert not path.exists()


def test_many_threads_may_write_one_file(here):
    model = load("m.tprism")
    summary = report.summarise(model)
    with ThreadPoolExecutor(4) as pool:
        pages = [pool.submit(report.write_page, summary, here / "p.html") for _ in range(24)]
        saved = [pool.submit(files.save, model, here / "n.tprism") for _ in range(24)]
        for done in [*pages, *saved]:
            done.result()
    assert (here / "p.html").read_text() == report.page.render(summary)
    assert (here / "n.tprism").read_bytes() == files.to_bytes(model)
    assert not [p for p in here.iterdir() if p.name.startswith(".")]


# --- Parquet ----------------------------------------------------------------------------


def strange(path):
    """Columns that Python has no values for, and two of one name, beside texts and numbers."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    texts = ["the room was clean and quiet", "the staff was rude", "a bed too small for two"]
    far, huge = 2**31 - 1, 2**62
    arrays = {
        "text": pa.array(texts),
        "far": pa.array([far, -far, 0], pa.int32()).cast(pa.date32()),
        "stars": pa.array([1.0, 2.0, 3.0]),
        "later": pa.array([huge, -huge, 0], pa.timestamp("ms")),
        "long": pa.array([huge, -huge, 0], pa.duration("ms")),
        "fine": pa.array([1, 2, 3], pa.timestamp("ns")),
        "nested": pa.array([[{"a": far}], [], None]),
    }
    names = [*arrays, "twice", "twice"]
    columns = [*arrays.values(), pa.array(["x", "y", "z"]), pa.array(["u", "v", "w"])]
    write_table(pa.table(columns, names=names), path)
    return texts


def test_strange_columns_of_parquet_do_no_harm(tmp_path):
    texts = strange(tmp_path / "a.parquet")
    table = open_table([str(tmp_path / "a.parquet")], Options(), io.BytesIO(), tmp_path)
    with pytest.raises(TableError, match="2 columns named 'twice', expected one; rename"):
        table.check("twice")
    assert table.choose(None, None) == ("text", "stars")
    (chunk,) = table.chunks("stars", "text")
    assert chunk.values == [[1.0, 2.0, 3.0], texts]
    (chunk,) = table.chunks("long", "fine")
    assert all(isinstance(v, (str, int, timedelta)) for v in chunk.values[0])


def test_only_the_columns_that_are_named_are_read(tmp_path):
    """A column of strings that are none does not matter if it is not asked for."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    wrong = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"]).buffers())
    columns = {"text": ["some words of text"], "wrong": wrong, "stars": [4.0], "years": [0]}
    years = pa.array([2**40], pa.duration("s"))
    write_table(pa.table(columns | {"years": years}), tmp_path / "a.parquet")
    table = open_table([str(tmp_path / "a.parquet")], Options(), io.BytesIO(), tmp_path)
    assert table.choose("text", "stars") == ("text", "stars")
    with pytest.raises(TableError, match=r"column 'wrong' of type string cannot be read .*; write"):
        table.choose(None, "stars")
    write_table(pa.table({"years": years}), tmp_path / "b.parquet")
    table = open_table([str(tmp_path / "b.parquet")], Options(), io.BytesIO(), tmp_path)
    with pytest.raises(TableError, match=r"no column looks like numbers"):
        table.choose(None, None)


@pytest.mark.parametrize("column", ["far", "later", "long", "fine", "nested"])
def test_strange_columns_of_parquet_are_a_sentence_or_text(here, capsys, column):
    strange(here / "a.parquet")
    argv = ["predict", "m.tprism", "a.parquet", "--text", "text", "--keep", column]
    status, _, err = run(capsys, *argv)
    assert status in (0, 2), err
    assert status == 0 or re.search(rf"column '{column}' of type .* cannot be read .*; write", err)
    assert "defect" not in err
    argv = ["fit", "a.parquet", "--text", "text", "--target", column]
    status, _, err = run(capsys, *argv)
    assert status == 2
    assert "defect" not in err


def test_whatever_is_wrong_in_parquet_is_a_sentence(tmp_path, rng):
    strange(tmp_path / "a.parquet")
    good = (tmp_path / "a.parquet").read_bytes()
    metadata = int.from_bytes(good[-8:-4], "little") + 8
    said = []
    for _ in range(150):
        bad = bytearray(good)
        for at in rng.integers(len(bad) - metadata, len(bad) - 8, size=2):
            bad[at] ^= 1 << int(rng.integers(8))
        (tmp_path / "b.parquet").write_bytes(bad)
        try:
            table = open_table([str(tmp_path / "b.parquet")], Options(), io.BytesIO(), tmp_path)
            for name in table.columns:
                list(table.chunks(name))
        except TableError as error:
            said.append(str(error))
    assert len(said) > 20
    assert not [sentence for sentence in said if "\n" in sentence]


# --- unexpected errors ------------------------------------------------------------------


def test_a_defect_is_one_sentence_and_a_status_of_its_own(here, capsys, monkeypatch):
    def defect(*_):
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr("topicprism.cli.session.load", defect)
    monkeypatch.delenv("TOPICPRISM_DEBUG", raising=False)
    status, out, err = run(capsys, "topics", "m.tprism")
    assert (status, out) == (70, "")
    assert re.fullmatch(
        r"topicprism topics: ZeroDivisionError: division by zero during '.*', an "
        r"unexpected error: this is a defect in topicprism, .*TOPICPRISM_DEBUG=1 shows\n",
        err,
    ), err
    monkeypatch.setenv("TOPICPRISM_DEBUG", "1")
    status, _, err = run(capsys, "topics", "m.tprism")
    assert status == 70
    assert "Traceback" in err


@pytest.mark.parametrize("broken", ["topicprism.estimators", "numpy", "topicprism.cli", "argparse"])
@pytest.mark.parametrize("argv", [["fit", "none.csv"], ["topics", "a.csv"]])
def test_an_import_that_fails_is_one_sentence(here, broken, argv):
    code = (
        f"import sys; sys.modules[{broken!r}] = None\n"
        "from topicprism.__main__ import main; sys.exit(main())"
    )
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code, *argv], cwd=here, env=env, capture_output=True, text=True
    )
    assert done.returncode in (2, 70)
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("topicprism")


@pytest.mark.parametrize("option", ["--jobs", "--n-topics", "--max-words", "--restarts"])
def test_numbers_beyond_all_bounds_are_a_sentence(here, capsys, option):
    status, _, err = run(capsys, "fit", "a.csv", option, "9" * 40)
    assert status == 2
    assert re.search(rf"argument {option}: '9+' is not a whole number from 1 up, of 9 digits", err)
    assert err.count("\n") == 1


@posix
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- 2>&-", ">&- 2>&- <&-"])
def test_a_stream_that_is_closed_is_no_traceback(here, closed):
    line = f'exec "$0" -m topicprism predict m.tprism a.csv {closed}'
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["sh", "-c", line, sys.executable], cwd=here, env=env, capture_output=True, text=True
    )
    if ">&-" in closed.split():
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr == "" or "standard output is closed, but results are" in done.stderr
    else:
        assert done.returncode == 0
        assert len(done.stdout.splitlines()) == 301


@posix
@pytest.mark.parametrize("options", [[], ["--encoding", "utf-16"], ["--format", "parquet"]])
def test_what_never_ends_is_looked_at_before_it_is_copied(here, capsys, monkeypatch, options):
    zeros = node(here / "zero", 5)
    status, _, err = run(capsys, "fit", "a.csv", "--stop-words", zeros, "-o", "n.tprism")
    assert status == 2
    assert "is neither english-neutral, english, none nor a file of words" in err
    monkeypatch.setattr(
        "topicprism.io.tables.streams.BLOCK", 0
    )  # nothing but the beginning is read
    status, _, err = run(capsys, "predict", "m.tprism", zeros, *options)
    assert status == 2
    assert re.search("zero looks binary|zero has NUL characters", err), err


@posix
def test_what_is_copied_leaves_room_on_the_disk(here, capsys, monkeypatch):
    little = SimpleNamespace(total=1 << 30, free=1 << 20)
    monkeypatch.setattr("shutil.disk_usage", lambda _: little)
    os.mkfifo(here / "pipe")
    text = (here / "a.csv").read_bytes()
    writer = threading.Thread(target=(here / "pipe").write_bytes, args=[text[:5000]])
    writer.start()
    status, _, err = run(capsys, "predict", "m.tprism", "pipe")
    writer.join()
    assert status == 2
    assert "pipe has more than 0 bytes, for which there is no room in" in err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_python_ends_does_not_change_the_status(number):
    """All was written by then; a status of -15 would say that the command was killed."""
    script = (
        "import atexit, os, sys; sys.argv = ['topicprism', '--version']; "
        f"atexit.register(os.kill, os.getpid(), {int(number)}); "
        "from topicprism.__main__ import main; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
