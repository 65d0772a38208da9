"""Rows of results to a file that appears whole or not at all, or to standard output."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from topicprism.io.atomic import is_special, replacing, through
from topicprism.io.tables.formats import COMPRESSED_ENDINGS, ENDINGS
from topicprism.io.tables.streams import TableError

OUTPUTS = ("csv", "tsv", "jsonl", "parquet")
DIGITS = 6  # of a number written as text
PACKERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}

Write = Callable[[Sequence[Sequence[Any]]], None]  # takes columns of equal length


def output_format(path: Path | None, asked: str | None) -> str:
    """By what was asked for, else by the name; CSV on standard output."""
    if path is None:
        if asked == "parquet":
            raise TableError("Parquet cannot go to standard output; name a file with -o")
        return asked or "csv"
    name = path.name.lower()
    for ending in COMPRESSED_ENDINGS:
        name = name.removesuffix(ending)
    kind = asked or ENDINGS.get(Path(name).suffix)
    if kind is None:
        raise TableError(
            f"{path.name} does not name a format; end it in .csv, .tsv, .jsonl or .parquet, or "
            "give --output-format"
        )
    return kind


@contextmanager
def rows_to(path: Path | None, kind: str, columns: dict[str, type], out: TextIO) -> Iterator[Write]:
    """A function that writes rows, given as columns, to ``path``, or to ``out`` if it is None.

    ``columns`` are names and types (str, int or float); None is written as nothing.  After
    Ctrl-C the rows so far are in ``part_of(path)``, or have gone where they should.
    """
    if path is None:
        yield _text_writer(out, kind, list(columns))
        return
    if kind != "parquet" and is_special(path):
        with through(path) as file, _packed(file, path) as text:
            yield _text_writer(text, kind, list(columns))
        return
    begun = False
    with (
        replacing(path, lambda: begun) as unfinished,
        _writer(unfinished, path, kind, columns) as write,
    ):

        def write_and_note(values: Sequence[Sequence[Any]]) -> None:
            nonlocal begun
            write(values)
            begun = True

        yield write_and_note


@contextmanager
def _writer(place: Path, path: Path, kind: str, columns: dict[str, type]) -> Iterator[Write]:
    """Writes to ``place`` what ``path`` is to hold."""
    if kind == "parquet":
        with _parquet(place, columns) as write:
            yield write
    else:
        with place.open("wb") as file, _packed(file, path) as text:
            yield _text_writer(text, kind, list(columns))


def _packed(file: BinaryIO, path: Path) -> Any:
    """Text that goes to ``file``, packed as the name says."""
    opener = PACKERS.get(path.suffix)
    if opener is None:
        return io.TextIOWrapper(file, encoding="utf-8", newline="")
    return opener(file, "wt", encoding="utf-8", newline="")


def _text_writer(file: TextIO, kind: str, names: list[str]) -> Write:
    if kind == "jsonl":

        def write(columns: Sequence[Sequence[Any]]) -> None:
            for row in zip(*columns, strict=True):
                values = dict(zip(names, row, strict=True))
                file.write(json.dumps(values, ensure_ascii=False, default=str) + "\n")

        return write
    writer = csv.writer(file, delimiter="\t" if kind == "tsv" else ",", lineterminator="\n")
    writer.writerow(names)

    def write_rows(columns: Sequence[Sequence[Any]]) -> None:
        writer.writerows(zip(*columns, strict=True))

    return write_rows


def rounded(value: Any) -> Any:
    """A result as text formats have it."""
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


@contextmanager
def _parquet(path: Path, columns: dict[str, type]) -> Iterator[Write]:
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter
    except ImportError:
        raise TableError(
            "writing Parquet needs pyarrow; run pip install 'topicprism[tables]', or write .csv"
        ) from None
    types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])

    def write(values: Sequence[Sequence[Any]]) -> None:
        arrays = [
            pa.array([None if x is None else kind(x) for x in column], types[kind])
            for column, kind in zip(values, columns.values(), strict=True)
        ]
        writer.write_table(pa.table(arrays, schema=schema))

    with ParquetWriter(path, schema) as writer:
        yield write
