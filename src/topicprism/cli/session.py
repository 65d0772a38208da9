"""What all commands share: where they read and write, and what they say."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from topicprism.cli.progress import Progress
from topicprism.files import FileError, TextSketch, load, plain
from topicprism.pipeline import TopicPipeline
from topicprism.tables import Options, Table, TableError, open_table

MODEL, SKETCH = ".tprism", ".tpsketch"


@dataclass
class Session:
    """One command on its way."""

    args: argparse.Namespace
    folder: Path  # temporary
    progress: Progress
    out: TextIO
    errors: TextIO
    kept: list[str]  # what an interruption would leave behind

    def say(self, message: str) -> None:
        self.progress.clear()
        if not self.args.quiet:
            print(message, file=self.errors)

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


def output_path(name: str, inputs: Iterable[str], suffix: str | None = None) -> Path:
    """Where to write; refused before any work is done, if it could not be written."""
    path = Path(name)
    if suffix is not None and path.suffix != suffix:
        raise TableError(f"{name!r} should end in {suffix}; try {path.with_suffix(suffix)}")
    if path.is_dir():
        raise TableError(f"{path} is a folder, but a file to write was expected; name a file in it")
    if not path.parent.is_dir():
        raise TableError(f"there is no folder {path.parent} to write {path.name} to; make it first")
    if path.exists() and any(Path(i).exists() and path.samefile(i) for i in inputs):
        raise TableError(f"{path} is to be read and written; write to another file")
    return path


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
