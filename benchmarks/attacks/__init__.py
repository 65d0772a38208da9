"""Attacks on topicprism: what each tries, and what counts as a defect.

tables     tables of every kind, sound and not
commands   command lines over them, in this process and as processes of their own
damage     model files, sketches and shards that were changed, signed anew or not
kills      SIGKILL while files are written
limits     a full disk, and memory that runs out
"""

from __future__ import annotations

import csv
import io
import os
import shutil
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from small_texts import small_texts

from topicprism.cli import BROKEN_PIPE, main
from topicprism.io.files import from_bytes
from topicprism.io.files.container import MAGIC

FINE, REFUSED = "fine", "refused"
BAD = ("traceback", "lost", "wrong", "hung")
ENDS = (2, 130, 141, 143)  # of a command that says why
KEPT = ("dev", "tmp")  # folders that an attack uses all along
LONGEST = 30.0  # seconds of processor time of one command
WAITING = 10  # times as long on the clock: other jobs may have the processors
TEXTS, STARS = small_texts(80)
QUICK_FIT = ["--n-topics", "3", "--alpha0", "1", "--noise-variance", "0.1"]


@dataclass
class Tally:
    """How often an attack ended in which way, and the first few defects in full."""

    ends: Counter[str] = field(default_factory=Counter)
    defects: list[str] = field(default_factory=list)

    def add(self, end: str, about: object = "", detail: object = "") -> None:
        self.ends[end] += 1
        if end in BAD:
            self.defects.append(f"{end}: {about!s:.600}\n    {detail!s:.3000}")
            print(ascii(self.defects[-1])[:1500], file=sys.stderr)

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.ends + other.ends, self.defects + other.defects)


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    status: int | str  # or what was raised
    out: str
    err: str

    @property
    def sentences(self) -> list[str]:
        return [line for line in self.err.splitlines() if line and not line.startswith("note: ")]

    def judged(self, most: int = 1) -> str:
        """How it ended, if all that matters is that it says one thing and no more."""
        if self.status == "hung":
            return "hung"
        if "Traceback" in self.err or self.status not in (0, *ENDS):
            return "traceback"
        if self.status == 0:
            return FINE
        if self.status == BROKEN_PIPE and not self.err:
            return REFUSED  # nobody reads on, which is no mistake
        told = [line for line in self.sentences if line.startswith("topicprism")]
        return REFUSED if 1 <= len(told) <= most else "wrong"


class Hung(BaseException):
    """It takes too long; nothing between catches it."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Seconds of processor time; or, for one that only waits, ``WAITING`` times as many."""

    def stop(*_: object) -> None:
        raise Hung

    clocks = {signal.ITIMER_PROF: signal.SIGPROF, signal.ITIMER_REAL: signal.SIGALRM}
    before = {name: signal.signal(name, stop) for name in clocks.values()}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, WAITING * seconds)
    try:
        yield
    finally:
        for clock, name in clocks.items():
            signal.setitimer(clock, 0)
            signal.signal(name, before[name])


def run(argv: list[str], stdin: bytes = b"", seconds: float = LONGEST) -> Outcome:
    """One command in this process."""
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin))
    status: int | str
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        try:
            with within(seconds):
                status = main(argv)
        except Hung:
            status = "hung"
        except BaseException:
            status = "raised " + traceback.format_exc()
        finally:
            sys.stdin = before
    return Outcome(status, out.getvalue(), err.getvalue())


def one_sentence(error: BaseException) -> bool:
    """Whether a mistake is said as one should be."""
    return isinstance(error, ValueError) and bool(str(error)) and "\n" not in str(error)


def in_child(work: Callable[[], Any]) -> int:
    """The number of a forked process that does some work; it never returns from here."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            os.write(2, traceback.format_exc().encode())
            os._exit(1)
    return pid


class Home:
    """A folder with tables, models and sketches, put back as it was after each attack."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        os.chdir(folder)
        with open("a.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(
                [("text", "stars"), *zip(TEXTS, STARS.tolist(), strict=True)]
            )
        Path("stop.txt").write_text("bus\nwalk\n")
        Path("old.csv").write_text("row,prediction\n1,2\n")
        Path("old.html").write_text("<!doctype html><p>old</html>\n")
        chain = ["--n-topics", "2", "--burn-in", "2", "--kept-sweeps", "2"]
        for argv in (
            ["fit", "a.csv", "-o", "m.tprism", *QUICK_FIT],
            ["fit", "a.csv", "-o", "lda.tprism", "--model", "lda", *QUICK_FIT[:4]],
            ["fit", "a.csv", "-o", "gibbs.tprism", "--model", "gibbs", *chain],
            ["sketch", "a.csv", "-o", "s.tpsketch", "--coordinates", "6"],
            ["sketch", "a.csv", "-o", "t.tpsketch", "--basis", "s.tpsketch", "--no-quotes"],
        ):
            done = run(argv, seconds=300)  # compiling may take long
            assert done.status == 0, done
        Path("old.tprism").write_bytes(Path("m.tprism").read_bytes())
        self.before = self.contents()

    @classmethod
    def copy(cls, home: Home, folder: Path) -> Home:
        """The same files elsewhere."""
        made = cls.__new__(cls)
        made.folder, made.before = folder, dict(home.before)
        for name, data in made.before.items():
            (folder / name).write_bytes(data)
        os.chdir(folder)
        return made

    def contents(self) -> dict[str, bytes]:
        return {p.name: p.read_bytes() for p in self.folder.iterdir() if p.is_file()}

    def changed(self) -> dict[str, bytes | None]:
        """Files that are other than before, or gone, or new."""
        now = self.contents()
        both = self.before.keys() | now.keys()
        return {name: now.get(name) for name in both if now.get(name) != self.before.get(name)}

    def restore(self) -> None:
        for name in self.changed():
            path = self.folder / name
            if name in self.before:
                path.write_bytes(self.before[name])
            else:
                path.unlink()
        for path in self.folder.iterdir():
            if path.is_dir() and path.name not in KEPT:
                shutil.rmtree(path)


def whole(name: str, data: bytes | None) -> bool:
    """Whether a file is all of what it should be."""
    if data is None:
        return False
    if data.startswith(MAGIC) or name == "old.tprism":
        try:
            return from_bytes(data) is not None
        except ValueError:
            return False
    return data.rstrip().lower().endswith(b"</html>") or not name.endswith(".html")
