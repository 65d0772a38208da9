"""A disk that is full and memory that runs out: a sentence, and what was there stays."""

from __future__ import annotations

import csv
import ctypes
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from small_texts import small_texts

from attacks import BAD, QUICK_FIT, Home, Outcome, Tally, in_child, run, whole

CLONE_NEWNS = 0x00020000  # a table of mounts of one's own
LEAST = 17  # power of two, of bytes: with less Python itself hangs when a thread is to start
ROOM = 1 << 20  # bytes of the small disk
CHAIN = ["--model", "gibbs", "--n-topics", "2", "--burn-in", "2", "--kept-sweeps", "2"]
LINES = (
    ["fit", "a.csv", "-o", "old.tprism", "--report", "old.html", *QUICK_FIT],
    ["fit", "a.csv", "-o", "old.tprism", *CHAIN],
    ["predict", "m.tprism", "a.csv", "-o", "old.csv", "--std"],
    ["predict", "m.tprism", "a.csv", "-o", "new.parquet", "--proportions"],
    ["predict", "m.tprism", "-", "-o", "old.csv"],
    ["report", "m.tprism", "a.csv", "-o", "old.html"],
    ["stability", "a.csv", "--runs", "2", "-o", "old.csv", *QUICK_FIT],
    ["sketch", "a.csv", "-o", "new.tpsketch"],
    ["merge", "s.tpsketch", "t.tpsketch", "-o", "new.tpsketch"],
    ["demo", "--documents", "60", "--folder", "new"],
)


def in_own_process(work, seconds: float) -> tuple[int, list[str]]:
    """How a forked process ended, and the lines that ``work`` gave to its function ``tell``."""
    with tempfile.TemporaryFile() as told:

        def tell(line: str) -> None:
            os.write(told.fileno(), line.encode() + b"\n")

        pid = in_child(lambda: work(tell))
        status = _waited(pid, seconds)
        told.seek(0)
        return status, told.read().decode().splitlines()


def _waited(pid: int, seconds: float) -> int:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        gone, status = os.waitpid(pid, os.WNOHANG)
        if gone:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return -signal.SIGALRM


# --- a full disk ------------------------------------------------------------------------


def attack_disk(seed: int, n: int, folder: Path, home: Home) -> Tally:
    """On a disk of a megabyte where one can be had, else with files of limited size."""
    tally = Tally()

    def work(tell) -> None:
        small = _small_disk(folder / "disk")
        here = Home.copy(home, folder / "disk")
        rng = random.Random(seed)
        for _ in range(n):
            argv = rng.choice(LINES)
            done = _without_room(rng, argv, here, small)
            tell(json.dumps([_judged(argv, done, here), argv, done.status, done.err]))
            shutil.rmtree(here.folder / "new", ignore_errors=True)
            here.restore()

    status, lines = in_own_process(work, 5 * n + 60)
    for end, *about in map(json.loads, lines):
        tally.add(end, about)
    if status != 0:
        tally.add("traceback", "the process on the small disk", status)
    return tally


def _small_disk(place: Path) -> bool:
    place.mkdir()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        return False
    size = f"size={ROOM}"
    lines = (["mount", "--make-rprivate", "/"], ["mount", "-t", "tmpfs", "-o", size, "none", place])
    return all(subprocess.run(line, capture_output=True).returncode == 0 for line in lines)


def _without_room(rng: random.Random, argv: list[str], here: Home, small: bool) -> Outcome:
    stdin = here.before["a.csv"]
    tempfile.tempdir = str(here.folder if rng.random() < 0.5 else here.folder.parent)
    if not small:
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (rng.choice((0, 99, 5000, 30000)), limits[1]))
        done = run(argv, stdin)
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        return done
    ballast = here.folder / "ballast"
    disk = os.statvfs(here.folder)
    left = rng.choice((0, 0, 4096, 8192, 16384, 32768, 65536, 131072))
    with ballast.open("wb") as file:
        file.write(bytes(max(disk.f_bavail * disk.f_frsize - left, 0)))
    done = run(argv, stdin)
    ballast.unlink()
    return done


def _judged(argv: list[str], done: Outcome, home: Home) -> str:
    for name, data in home.changed().items():
        if not whole(name, data) or name.startswith("."):
            return "lost"
    end = done.judged(most=2 if argv[0] == "demo" else 1)
    return "traceback" if end == "wrong" or "Errno" in done.err else end


# --- memory -----------------------------------------------------------------------------


def attack_memory(seed: int, n: int, home: Home) -> Tally:
    """``n`` commands, each in a process that may have little more memory than it has."""
    tally, rng = Tally(), random.Random(seed)
    texts, stars = small_texts(3000)
    with (home.folder / "big.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("text", "stars"), *zip(texts, stars.tolist(), strict=True)])
    home.before["big.csv"] = (home.folder / "big.csv").read_bytes()
    for argv in LINES[:-1]:  # what is compiled for these types is at hand: LLVM ends the process
        run([str(word).replace("a.csv", "big.csv") for word in argv], home.before["big.csv"])
    home.restore()
    for _ in range(n):
        argv, more = rng.choice(LINES[:-1]), int(2 ** rng.uniform(LEAST, 27))
        argv = ["big.csv" if word == "a.csv" else word for word in argv]

        def work(tell, argv=argv, more=more) -> None:
            now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            stdin, hard = home.before["big.csv"], resource.getrlimit(resource.RLIMIT_AS)[1]
            resource.setrlimit(resource.RLIMIT_AS, (now + more, hard))
            done = run(argv, stdin)
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
            tell(json.dumps([done.status, done.out, done.err]))

        status, lines = in_own_process(work, 60)
        about = f"{argv} with {more:,} bytes more"
        if status != 0 or len(lines) != 1:
            tally.add("hung" if status == -signal.SIGALRM else "traceback", about, status)
        else:
            done = Outcome(*json.loads(lines[0]))
            end = _judged(argv, done, home)
            tally.add(end, about, (done.status, done.err) if end in BAD else "")
        home.restore()
    (home.folder / "big.csv").unlink()
    del home.before["big.csv"]
    return tally
