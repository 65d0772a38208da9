"""Arrays and JSON in one file that is checked from end to end before it is believed.

=========  =====================================================================
bytes      meaning
=========  =====================================================================
8          ``MAGIC``
4, 4       version of the format, length of the header
8          length of the whole file
...        header: JSON, ``{"library": version, "arrays": [...], "body": ...}``
...        the arrays, in order, each at the next multiple of 64
32         BLAKE2b of everything before
=========  =====================================================================

Numbers are little-endian.  An array is declared as ``[type, order, *shape]`` and lies where
the ones before it end: there are no offsets, names or paths to get wrong.  Every byte is
determined by what it stands for (JSON has one spelling, gaps are zeros), so that what does
not read back as it was written is refused.  Beginning and end stay as they are in all
versions.  Nothing in a file is ever run.
"""

from __future__ import annotations

import io
import json
import math
import os
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from topicprism.io.atomic import write_bytes
from topicprism.limits import fits

MAGIC = b"\x8dtprism\n"
FORMAT = 1
START, DIGEST = 24, 32
ALIGNMENT = 64
MAX_HEADER_BYTES = 1 << 24  # bytes; a million stop words have about as many
MAX_HEADER_VALUES = 1 << 20  # of a header: each takes up to a hundred bytes of memory
MAX_HEADER_DEPTH = 64
CHUNK = 1 << 20  # bytes of a file that are read only to be checked
TYPES = ("<f8", "<f4", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1")


class FileError(ValueError):
    """A file that cannot be read, or a thing that cannot be written."""


@dataclass(frozen=True)
class Contents:
    """What a file holds."""

    body: Any  # of JSON
    arrays: list[NDArray[Any]]
    library: str  # version that wrote it


# --- writing --------------------------------------------------------------------------


def pack(contents: Contents) -> bytes:
    """The bytes of a file."""
    plain = [_little_endian(a) for a in contents.arrays]
    header = _spell(
        {
            "library": contents.library,
            "arrays": [[a.dtype.str, _order(a), *a.shape] for a in plain],
            "body": contents.body,
        }
    )
    if len(header) > MAX_HEADER_BYTES:
        raise FileError(
            f"the description is {len(header)} bytes long, but at most {MAX_HEADER_BYTES} were "
            "expected; shorten the list of stop words or the info"
        )
    parts: list[Any] = [header]
    size = START + len(header)
    for a in plain:
        gap = -size % ALIGNMENT
        parts += [bytes(gap), a.ravel(order="K").view(np.uint8)]
        size += gap + a.nbytes
    total = size + DIGEST
    start = MAGIC + FORMAT.to_bytes(4, "little") + len(header).to_bytes(4, "little")
    parts.insert(0, start + total.to_bytes(8, "little"))
    checksum = blake2b(digest_size=DIGEST)
    for part in parts:
        checksum.update(part)
    return b"".join([*parts, checksum.digest()])


def write(path: Path, data: bytes) -> None:
    """To a temporary name first: a file of the right name is a whole one."""
    write_bytes(path, data)


def _spell(value: Any) -> bytes:
    """The one way to write this JSON."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()


def _order(a: NDArray[Any]) -> str:
    return "C" if a.flags.c_contiguous else "F"


def _little_endian(a: NDArray[Any]) -> NDArray[Any]:
    little = a.astype(a.dtype.newbyteorder("<"), order="A", copy=False)
    if little.dtype.str not in TYPES:
        raise FileError(
            f"got an array of type {a.dtype}, but a file holds plain numbers; convert it first"
        )
    return little if little.flags.forc else np.ascontiguousarray(little)


# --- reading --------------------------------------------------------------------------


def read(path: Path) -> Contents:
    """What a file holds, if it is one of ours and whole."""
    with path.open("rb") as file:
        return _contents(file, os.fstat(file.fileno()).st_size)


def holds_model(path: Path) -> bool:
    """Whether there is a file that begins as one of ours does."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def unpack(data: bytes) -> Contents:
    """What the bytes of a file hold."""
    return _contents(io.BytesIO(data), len(data))


def _contents(file: BinaryIO, size: int) -> Contents:
    """In one pass, and in memory no larger than the file.

    Nothing is returned before the checksum was found right, and a complaint about contents is
    only made of contents whose checksum is.
    """
    source = Source(file, size)
    start = source.take(min(START, size))
    if start[: len(MAGIC)] != MAGIC:
        raise FileError(
            f"it begins with {start[:8]!r}, but a topicprism file was expected; give a "
            ".tprism or .tpsketch file"
        )
    declared = int.from_bytes(start[16:24], "little")
    if len(start) < START or size < declared:
        raise FileError(
            f"it has {size} bytes, but {declared or 'more'} were expected: it is cut off; copy "
            "or write it again"
        )
    if not fits(size):
        raise FileError(
            f"it has {size} bytes, which is more than the memory of this machine; read it on a "
            "larger one"
        )
    try:
        contents = _believed(source, start, declared)
    except FileError:
        source.check()
        raise
    source.check()
    return contents


class Source:
    """A file on its way, and the checksum of what was read of it."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file, self.at, self.end = file, 0, max(size - DIGEST, 0)
        self.checksum = blake2b(digest_size=DIGEST)

    def take(self, n: int) -> bytes:
        data = self.file.read(n)
        self.checksum.update(data)
        self.at += len(data)
        return data

    def fill(self, array: NDArray[np.uint8]) -> None:
        """The next bytes into an array; what is missing of them the checksum will tell."""
        for i in range(0, len(array), CHUNK):
            part = array.data[i : i + CHUNK]
            n = self.file.readinto(part)  # type: ignore[attr-defined]
            self.checksum.update(part[:n])
            self.at += n

    def check(self) -> None:
        """Read to the end; refused unless the checksum is there and right."""
        while self.at < self.end and self.take(min(CHUNK, self.end - self.at)):
            pass
        if self.at != self.end or self.file.read(DIGEST + 1) != self.checksum.digest():
            raise FileError(
                "its checksum is not that of its contents: it is damaged; copy or write it again"
            )


def _believed(source: Source, start: bytes, declared: int) -> Contents:
    """Header and arrays, on condition that the checksum is right."""
    if declared != source.end + DIGEST:
        raise wrong(f"it declares {declared} bytes")
    version = int.from_bytes(start[8:12], "little")
    if version != FORMAT:
        raise FileError(
            f"it is of format {version}, but this version of topicprism reads format {FORMAT}; "
            "update topicprism"
        )
    length = int.from_bytes(start[12:16], "little")
    if length > min(MAX_HEADER_BYTES, source.end - START):
        raise wrong(f"its header has {length} bytes")
    header = _parse(source.take(length))
    match header:
        case {"library": str(library), "arrays": list(arrays), "body": body} if len(header) == 3:
            return Contents(body, _arrays(source, arrays), library)
    raise wrong("its header has other fields than expected")


def wrong(what: str) -> FileError:
    """For a file whose checksum is right; what it has may be printed in several lines."""
    return FileError(
        f"{' '.join(what.split())}, which this version of topicprism does not know; update "
        "topicprism, or write the file again"
    )


def _parse(raw: bytes) -> Any:
    if sum(raw.count(mark) for mark in (b",", b"[", b"{")) > MAX_HEADER_VALUES:
        raise wrong(f"its header has more than {MAX_HEADER_VALUES} values")
    try:
        value = json.loads(raw)
        _check_depth(value)
        if _spell(value) == raw:
            return value
    except (ValueError, RecursionError) as error:
        raise wrong(f"its header is not sound JSON ({error!s:.60})") from None
    raise wrong("its header is spelt in another way")


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_HEADER_DEPTH):
        inner = [list(v.values()) if isinstance(v, dict) else v for v in level]
        level = [x for v in inner if isinstance(v, list) for x in v]
        if not level:
            return
    raise ValueError(f"more than {MAX_HEADER_DEPTH} levels deep")


def _arrays(source: Source, declared: list[Any]) -> list[NDArray[Any]]:
    """The arrays, once all that is declared about them adds up to what is there."""
    at, places = source.at, []
    for one in declared:
        kind, order, shape, size = _declaration(one)
        start = at + -at % ALIGNMENT
        places.append((kind, order, shape, start))
        if start + size > source.end:
            raise wrong(f"array {len(places) - 1} is not where it should be")
        at = start + size
    if at != source.end:
        raise wrong(f"its arrays end at byte {at} of {source.end}")
    found = []
    for i, (kind, order, shape, start) in enumerate(places):
        if any(source.take(start - source.at)):
            raise wrong(f"array {i} is not where it should be")
        found.append(_array(source, kind, order, shape))
    return found


def _declaration(one: Any) -> tuple[str, str, list[int], int]:
    match one:
        case [str(kind), str(order), *shape] if kind in TYPES and order in ("C", "F"):
            if len(shape) <= 4 and all(type(n) is int and 0 <= n < 2**40 for n in shape):
                return kind, order, shape, math.prod(shape) * np.dtype(kind).itemsize
    raise wrong(f"it declares an array as {one!r:.60}")


def _array(source: Source, kind: str, order: Any, shape: list[int]) -> NDArray[Any]:
    flat = np.empty(math.prod(shape), kind)
    source.fill(flat.view(np.uint8))
    if kind == "|b1" and np.any(flat.view(np.uint8) > 1):
        raise wrong("a truth value is neither 0 nor 1")
    native = flat.astype(np.dtype(kind).newbyteorder("="), copy=False)
    array = native.reshape(shape, order=order)
    if _order(array) != order:
        raise wrong(f"an array of shape {tuple(shape)} is in order {order}")
    return array
