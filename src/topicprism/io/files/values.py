"""Values as JSON and arrays, and back.

Numbers, strings, None, lists and dicts are themselves in JSON.  For others stand dicts of
one key that begins with "$"::

    {"$array": 3}                    the array 3 of the file
    {"$strings": [3, 4, "U"]}        an array of strings: UTF-8 one after the other, ends, type
    {"$tuple": [...]}
    {"$float": "nan"}                nan, inf and -inf
    {"$record": ["Selection", ...]}  a dataclass of ``RECORDS``, its fields in order; the last
                                     ones may be missing where None is their default

Arrays are numbered as they come, and each is used once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicprism.io.files.container import FileError, wrong
from topicprism.learn import Selection, Trial
from topicprism.model import Model

MIN_STRING_LIMIT = 1 << 16  # strings that may always be there
# what a file may name
RECORDS: dict[str, type] = {kind.__name__: kind for kind in (Model, Selection, Trial)}


class Writer:
    """Takes values apart; the arrays collect in ``arrays``."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []

    def encode(self, value: Any, name: str = "value") -> Any:
        """The JSON of a value; ``name`` is for complaints."""
        if isinstance(value, np.generic):
            value = value.item()
        match value:
            case None | bool() | int() | str():
                return value
            case float():
                return value if math.isfinite(value) else {"$float": str(value)}
            case np.ndarray():
                return self._array(value, name)
            case list():
                return [self.encode(v, f"{name}[{i}]") for i, v in enumerate(value)]
            case tuple():
                return {"$tuple": self.encode(list(value), name)}
            case dict() if all(isinstance(k, str) and k[:1] != "$" for k in value):
                return {k: self.encode(v, f"{name}[{k!r}]") for k, v in value.items()}
        if is_dataclass(value) and RECORDS.get(type(value).__name__) is type(value):
            inner = [self.encode(getattr(value, f.name), f.name) for f in fields(value)]
            while len(inner) > _least(type(value)) and inner[-1] is None:
                inner.pop()
            return {"$record": [type(value).__name__, *inner]}
        raise FileError(
            f"{name} is {value!r:.40} of type {type(value).__name__}, but a file holds numbers, "
            "strings, arrays and lists of them; convert it first"
        )

    def strings(self, words: Sequence[str] | NDArray[Any], kind: str) -> Any:
        utf8 = [word.encode("utf-8", "surrogatepass") for word in words]
        ends = np.cumsum([len(word) for word in utf8], dtype=np.int64)
        self.arrays += [np.frombuffer(b"".join(utf8), np.uint8), ends]
        return {"$strings": [len(self.arrays) - 2, len(self.arrays) - 1, kind]}

    def _array(self, array: NDArray[Any], name: str) -> Any:
        if array.dtype.kind in "UO":
            if array.ndim != 1 or not all(isinstance(word, str) for word in array):
                raise FileError(
                    f"{name} is an array of {array.dtype}, but a file holds arrays of numbers and "
                    "lists of strings; convert it first"
                )
            return self.strings(array, array.dtype.kind)
        self.arrays.append(array)
        return {"$array": len(self.arrays) - 1}


class Reader:
    """Puts values together again from JSON and the arrays of a file."""

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self.arrays = arrays
        self.used = 0
        # in Python strings take ten times as much memory as in a file; those of a model are
        # words or classes, of which a matrix has as many rows
        self.longest = max([MIN_STRING_LIMIT, *(len(a) for a in arrays if a.ndim == 2)])

    def decode(self, value: Any) -> Any:
        match value:
            case {"$array": int(i), **rest} if not rest:
                return self._next(i)
            case {"$strings": [int(i), int(j), ("U" | "O") as kind], **rest} if not rest:
                utf8, ends = self._next(i), self._next(j)
                if np.size(ends) > self.longest:
                    raise wrong(f"it has {np.size(ends)} strings")
                return _strings(_split(utf8, ends), kind)
            case {"$tuple": list(items), **rest} if not rest:
                return tuple(self.decode(item) for item in items)
            case {"$float": ("nan" | "inf" | "-inf") as number, **rest} if not rest:
                return float(number)
            case {"$record": [str(name), *inner], **rest} if name in RECORDS and not rest:
                return self._record(RECORDS[name], inner)
            case dict() if not any(key.startswith("$") for key in value):
                return {k: self.decode(v) for k, v in value.items()}
            case list():
                return [self.decode(v) for v in value]
            case None | bool() | int() | float() | str():
                return value
        raise wrong(f"it has {value!r:.60}")

    def finish(self) -> None:
        if self.used != len(self.arrays):
            raise wrong(f"it uses {self.used} of its {len(self.arrays)} arrays")

    def _next(self, i: int) -> NDArray[Any]:
        if type(i) is not int or i != self.used or i >= len(self.arrays):
            raise wrong(f"it uses array {i} after {self.used} of {len(self.arrays)}")
        self.used += 1
        return self.arrays[i]

    def _record(self, kind: type, inner: list[Any]) -> Any:
        known = [f.name for f in fields(kind)]
        given = map(self.decode, inner)
        unsaid = len(inner) > _least(kind) and inner[-1] is None
        if unsaid or not _least(kind) <= len(inner) <= len(known):
            raise wrong(f"it has a {kind.__name__} of {len(inner)} fields")
        return kind(**dict(zip(known, given, strict=False)))


def _least(kind: type) -> int:
    """Fields that a file has; the last ones may be None, and are not in it then."""
    return sum(f.default is not None for f in fields(kind))


def _split(utf8: NDArray[Any], ends: NDArray[Any]) -> list[str]:
    """Strings from their bytes, one after the other, and where each ends."""
    good = utf8.dtype == np.uint8 and ends.dtype == np.int64 and utf8.ndim == ends.ndim == 1
    edges = np.concatenate([[0], ends]) if good else np.empty(0)
    if not good or edges[-1] != len(utf8) or np.any(edges[1:] < edges[:-1]):
        raise wrong("its strings do not end where they should")
    data = utf8.tobytes()
    try:
        return [data[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(edges.data)]
    except UnicodeDecodeError as error:
        raise wrong(f"its strings are not UTF-8 ({error.reason})") from None


def _strings(words: list[str], kind: str) -> NDArray[Any]:
    array = np.array(words, dtype=object if kind == "O" else str)
    if array.tolist() != words:  # numpy's own strings do not end in NUL
        raise wrong("a string of it ends in NUL")
    return array
