"""What all commands share: their input, output and messages."""

from __future__ import annotations

import argparse
import io
import json
import os
import stat
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from topicprism.cli.progress import Progress
from topicprism.defaults import STOP_LISTS
from topicprism.io.atomic import check_target, followed, part_of
from topicprism.io.files import FileError, TextSketch, load, plain
from topicprism.io.files.container import holds_model
from topicprism.io.tables import STDIN, Options, Table, TableError, matching, open_table
from topicprism.pipeline import TopicPipeline

MODEL, SKETCH = ".tprism", ".tpsketch"
NO_FILE = (*STOP_LISTS, "none")  # stop words that are not in one
CHOOSES_MODEL = ("fit", "select", "stability")  # whose --model is a kind, not a file


@dataclass
class Session:
    """One command on its way."""

    args: argparse.Namespace
    folder: Path  # temporary
    progress: Progress
    out: TextIO
    errors: TextIO
    kept: list[str]  # what an interruption would leave behind
    run: Callable[[Sequence[str]], int]  # another command, as it is typed; its exit status
    warned: list[Warning] = field(default_factory=list)  # by the library, so far
    outputs: list[Path] = field(default_factory=list)  # that were asked for so far

    def __post_init__(self) -> None:
        try:
            descriptor = self.out.fileno()
        except (OSError, ValueError):  # not of the system
            return
        if any(_same(descriptor, file) for file in files_read(self.args)):
            raise TableError(
                "standard output goes to a file that is to be read; write to another file"
            )

    def say(self, message: str) -> None:
        self.progress.clear()
        if not self.args.quiet:
            with suppress(OSError):  # there is no output left to report to
                print(message, file=self.errors)

    def output(self, name: str, suffix: str | None = None) -> Path:
        """Where to write; refused before any work is done, if it could not be or is not free."""
        path = output_path(name, files_read(self.args), suffix)
        if any(_same(path, other) or _alike(path, other) for other in self.outputs):
            raise TableError(f"{path} is to hold two results; give them two names")
        self.outputs.append(path)
        return path

    def show(self, facts: dict[str, Any], lines: Iterable[str]) -> None:
        """The result: facts for machines, lines for people."""
        self.progress.clear()
        text = json.dumps(plain(facts), ensure_ascii=False) if self.args.json else "\n".join(lines)
        print(text, file=self.out)

    def table(self) -> Table:
        args = self.args
        self.progress.stage("reading")
        options = Options(
            args.format, args.delimiter, args.encoding, not args.no_quotes, args.skip_damaged
        )
        stdin = io.BytesIO() if sys.stdin is None else sys.stdin.buffer
        return open_table(args.files, options, stdin, self.folder)


def files_read(args: argparse.Namespace) -> list[Path | int]:
    """Every file that a command reads, those that a glob matches too; standard input is 0."""
    given = vars(args)
    tables = [*given.get("files", ()), *given.get("sketches", ())]
    found: list[Path | int] = [0 for name in tables if name == STDIN]
    found += [path for name in tables if name != STDIN for path in matching(name)]
    if given.get("stop_words") not in (None, *NO_FILE):
        found.append(Path(args.stop_words))
    roles = ("basis",) if given.get("command") in CHOOSES_MODEL else ("model", "basis")
    return found + [Path(given[role]) for role in roles if given.get(role)]


def output_path(name: str, inputs: Iterable[str | Path | int], suffix: str | None = None) -> Path:
    """Where to write; refused before any work is done, if it could not be written."""
    path = Path(name)
    if suffix is not None and path.suffix != suffix:
        raise TableError(f"{name!r} should end in {suffix}; try {path.with_suffix(suffix)}")
    check_target(path)
    places = [place for place in (path, part_of(path)) if place is not None]
    if any(_same(place, file) for place in places for file in inputs):
        raise TableError(f"{path} is to be read and written; write to another file")
    if suffix is None and holds_model(path):
        raise TableError(
            f"{path} holds a model or a sketch, which this would write over; write to another file"
        )
    return path


def _same(one: Path | int, two: str | Path | int) -> bool:
    """Whether it is one file, whatever links and names lead to it; devices may be shared."""
    try:
        first, second = os.stat(one), os.stat(two)
    except (OSError, ValueError):
        return False
    return os.path.samestat(first, second) and not stat.S_ISCHR(first.st_mode)


def _alike(one: Path, two: Path) -> bool:
    """Whether two files to be made would be one, also where capitals do not matter."""
    new = not one.exists() and not two.exists()
    names = {os.path.realpath(followed(path)).casefold() for path in (one, two)}
    return new and len(names) == 1


def note_absent(
    session: Session, table: Table, learnt_from: str | None, found: str | None, option: str
) -> None:
    """That a column that a model was learnt from is not there, and which is read instead."""
    if None not in (learnt_from, found) and found != learnt_from:
        session.say(
            f"note: {table.called} has no column {learnt_from!r}, as in the fit; {found!r} is "
            f"read instead ({option} names another)"
        )


def load_model(name: str) -> TopicPipeline:
    thing = _load(name)
    if not isinstance(thing, TopicPipeline):
        raise TableError(
            f"{name} holds a {type(thing).__name__}, but a model made from texts was expected; "
            "give a .tprism file written by topicprism fit"
        )
    return thing


def load_sketch(name: str) -> TextSketch:
    thing = _load(name)
    if not isinstance(thing, TextSketch) or thing.counts is None:
        raise TableError(
            f"{name} holds a {type(thing).__name__}, but a sketch made from texts was expected; "
            "give a .tpsketch file written by topicprism sketch"
        )
    return thing


def _load(name: str) -> Any:
    try:
        return load(name)
    except FileNotFoundError:
        raise FileError(f"there is no file {name}; check the name and the folder") from None
    except IsADirectoryError:
        raise FileError(f"{name} is a folder, but a file was expected; name one in it") from None
