"""Files, globs and standard input as streams of bytes and of lines, whatever packed them.

Compression and byte order marks are recognised by the bytes, not by the name.  A line
longer than ``MAX_LINE_CHARACTERS`` is refused before it is in memory, so a file without line
ends does not fill it.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import shutil
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from glob import glob, has_magic
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

from topicprism.io.failures import reason

MAX_LINE_CHARACTERS = 1 << 24  # characters of a line, or of a row of several lines
HEAD = 1 << 16  # bytes looked at to tell what a file is
BLOCK = 1 << 20  # bytes copied at once
MIN_FREE_BYTES = 1 << 28  # left on a large disk by a copy
BYTES_BETWEEN_LOOKS = 1 << 26  # copied before the room is looked at again
STDIN = "-"
MARKS = {  # the longest first: UTF-32's begins as UTF-16's does
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
FOREIGN_FORMATS = {
    b"PK\x03\x04": "a zip archive or a spreadsheet; unpack it, or export a sheet as CSV",
    b"%PDF": "a PDF; extract its text into a CSV first",
    b"SQLite format 3": "an SQLite database; export a table as CSV",
    b"\xd0\xcf\x11\xe0": "an old Office file; export a sheet as CSV",
    b"\x89HDF": "an HDF5 file; export a table as Parquet",
    b"\x8dtprism": "a model or a sketch made by topicprism; give the table with the texts",
    b"ARROW1": "an Arrow file; write it as Parquet",
}


class TableError(ValueError):
    """A file that cannot be read as a table, or has not what was asked of it."""


@dataclass(frozen=True)
class Source:
    """One file, and what its reader calls it."""

    path: Path
    name: str

    @property
    def size(self) -> int:
        return self.path.stat().st_size


def find(
    patterns: list[str], stdin: BinaryIO, folder: Path, encoding: str | None = None
) -> tuple[Source, ...]:
    """Files, in the order given and a glob's sorted; what can be read once only is copied to
    ``folder``, because tables are read twice."""
    found: list[Source] = []
    for pattern in patterns:
        if pattern == STDIN:
            if stdin.isatty():
                raise TableError(
                    "standard input is a terminal, but a table was expected; pipe one in, or name "
                    "a file"
                )
            place = Source(folder / f"{len(found)}.input", "standard input")
            found.append(_copied(stdin, place, encoding))
            continue
        paths = matching(pattern)
        if not paths:
            raise TableError(
                f"no file matches {pattern!r}, but at least one was expected; check it"
            )
        for path in paths:
            _check_file(path)
            if path.is_file():
                found.append(Source(path, str(path)))
            else:
                place = Source(folder / f"{len(found)}.input", str(path))
                with path.open("rb") as pipe:
                    found.append(_copied(pipe, place, encoding))
    for source in found:
        if source.size == 0:
            raise TableError(
                f"{source.name} is empty, but a table with a header and rows was expected; check "
                "how it was written"
            )
    return tuple(found)


def matching(pattern: str) -> list[Path]:
    """The file of that name, or those that a glob matches."""
    if not has_magic(pattern) or os.path.exists(pattern):
        return [Path(pattern)]
    return [Path(p) for p in sorted(glob(pattern, recursive=True))]


def _check_file(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise TableError(f"there is no file {path}; check the name and the folder") from None
    except (OSError, ValueError) as error:
        raise TableError(f"{path!s:.200} cannot be opened ({reason(error)}); check it") from None
    if stat.S_ISDIR(mode):
        raise TableError(
            f"{path} is a folder, but a file was expected; name its files, for example "
            f"'{path / '*.csv'}'"
        )


def _copied(stream: BinaryIO, copy: Source, encoding: str | None) -> Source:
    """A copy of what may be endless: its beginning is looked at first, and room is left."""
    block = stream.read(HEAD)
    _check_start(copy, block, encoding)
    copied = left = 0
    try:
        with copy.path.open("wb") as file:
            while block:
                if left < len(block):
                    disk = shutil.disk_usage(copy.path.parent)
                    left = disk.free - min(MIN_FREE_BYTES, disk.total // 20)
                if left < len(block):
                    raise TableError(
                        f"{copy.name} has more than {copied:,} bytes, for which there is no room "
                        f"in {copy.path.parent.parent}; give a file, or set TMPDIR to another disk"
                    )
                copied, left = (
                    copied + file.write(block),
                    min(left - len(block), BYTES_BETWEEN_LOOKS),
                )
                block = stream.read(BLOCK)
    except OSError as error:
        raise TableError(
            f"{copy.name} cannot be copied to {copy.path.parent.parent}: {reason(error)}; give a "
            "file, or set TMPDIR to another disk"
        ) from None
    return copy


def _check_start(source: Source, start: bytes, encoding: str | None) -> None:
    """Refuse what is no table before it is copied; what is packed is looked at later."""
    if start.startswith((*PACKINGS, b"PAR1")):
        return
    used = check_text(source, start, encoding)
    if "\0" in start.decode(used, "ignore"):
        raise TableError(
            f"{source.name} has NUL characters, read as {used}, but text was expected; pass its "
            "--encoding"
        )


@dataclass(frozen=True)
class Opened:
    """The bytes of a file, unpacked."""

    source: Source
    raw: BinaryIO
    stream: BinaryIO

    @property
    def done(self) -> float:
        """Share of the file that was read, of its bytes as they lie on disk."""
        return self.raw.tell() / max(self.source.size, 1)


@contextmanager
def opened(source: Source) -> Iterator[Opened]:
    """Errors while reading become one sentence."""
    try:
        with source.path.open("rb") as raw, _unpacked(raw) as stream:
            yield Opened(source, raw, stream)
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        raise TableError(_damaged(source, error)) from None
    except OSError as error:
        if error.errno is None:  # from a decompressor, about the contents
            raise TableError(_damaged(source, error)) from None
        raise TableError(f"{source.name} cannot be read: {reason(error)}") from None


def _damaged(source: Source, error: Exception) -> str:
    return (
        f"{source.name} is damaged or cut short ({reason(error)}), but a whole compressed file "
        "was expected; copy or download it again"
    )


def _unpacked(raw: BinaryIO) -> Any:
    start = raw.read(6)
    raw.seek(0)
    opener = next((o for magic, o in PACKINGS.items() if start.startswith(magic)), None)
    return raw if opener is None else opener(raw)


def _zstd(raw: BinaryIO) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise TableError(
            "the file is packed with zstd, which needs pyarrow; run pip install "
            "'topicprism[tables]', or pack it with gzip"
        ) from None
    return io.BufferedReader(pyarrow.CompressedInputStream(raw, "zstd"))


PACKINGS: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x28\xb5\x2f\xfd": _zstd,
}


def head(source: Source) -> bytes:
    with opened(source) as file:
        return file.stream.read(HEAD)


def check_text(source: Source, start: bytes, encoding: str | None) -> str:
    """The encoding of a file of text, refused if it is none."""
    for magic, kind in FOREIGN_FORMATS.items():
        if start.startswith(magic):
            raise TableError(f"{source.name} is {kind}")
    if encoding is not None:
        try:
            io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        except (LookupError, ValueError):
            raise TableError(
                f"encoding {encoding!r} is not known; try utf-8, utf-16, latin-1 or cp1252"
            ) from None
        return "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
    for mark, name in MARKS.items():
        if start.startswith(mark):
            return name
    if b"\0" in start:
        at = start.index(b"\0")
        raise TableError(
            f"{source.name} looks binary (byte {at} is NUL), but CSV, TSV, JSON lines or Parquet "
            "was expected; if it is UTF-16 text, pass --encoding utf-16-le"
        )
    return "utf-8-sig"


def lines(file: Opened, encoding: str) -> Iterator[str]:
    """Lines with their ends."""
    name = file.source.name
    text = io.TextIOWrapper(file.stream, encoding=encoding, newline="")
    try:
        for number in count(1):
            line = text.readline(MAX_LINE_CHARACTERS + 1)
            if len(line) > MAX_LINE_CHARACTERS:
                raise TableError(too_long(file.source, f"line {number}"))
            if "\0" in line:
                raise TableError(
                    f"{name}, line {number}: a NUL character, but text was expected; the file is "
                    "damaged, or of another encoding: pass --encoding"
                )
            if not line:
                return
            yield line
    except UnicodeDecodeError:
        raise TableError(_undecodable(file.source, encoding)) from None
    except UnicodeError as error:
        raise TableError(f"{name} is not {encoding} ({reason(error)}); pass --encoding") from None
    finally:
        with suppress(ValueError):  # closed already
            text.detach()  # it is for ``opened`` to close the stream


def too_long(source: Source, where: str) -> str:
    return (
        f"{source.name}, {where}: more than {MAX_LINE_CHARACTERS:,} characters, but a row is "
        "shorter; look for a quote that is never closed, or for missing line ends"
    )


def _undecodable(source: Source, encoding: str) -> str:
    """Where the first bytes are that are not of the encoding: a second look at the file."""
    decoder = codecs.getincrementaldecoder(encoding)()
    name = f"{source.name} is not {encoding.removesuffix('-sig').upper()}"
    offset, line = 0, 1
    with opened(source) as file:
        while chunk := file.stream.read(HEAD):
            pending = len(decoder.getstate()[0])
            try:
                line += decoder.decode(chunk).count("\n")
            except UnicodeDecodeError as error:
                line += error.object[: error.start].count(b"\n")
                at, byte = offset - pending + error.start, error.object[error.start]
                return (
                    f"{name}: byte {at} (0x{byte:02x}, in line {line}) does not belong there; pass "
                    "its --encoding, for example latin-1 or cp1252"
                )
            offset += len(chunk)
    return f"{name}: it ends within a character; pass its --encoding, or copy it again"
