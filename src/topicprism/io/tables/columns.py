"""Which column is the text and which the response, and which rows can be used."""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from topicprism.io.tables.formats import CHUNK_ROWS, DAMAGED, Chunk, Csv, Format, Options, read
from topicprism.io.tables.streams import TableError, find
from topicprism.limits import MAX_RESPONSE

SAMPLE_ROWS = 1_000  # rows looked at to guess
KIND_SHARE = 0.9  # of the values of a column that are of one kind
TEXT_WORDS = 4  # in a value of a text-like column, on average
MISSING = {"", "na", "n/a", "nan", "null", "none", "-", "."}
MAX_COLUMNS_LISTED = 20  # columns named in a sentence
MAX_VALUE_CHARACTERS = 40  # characters of a value in a sentence
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d[\d. ]*,\d+\s*%?\s*")
THOUSANDS = re.compile(r"\s*[+-]?\d{1,3}(,\d{3})+(\.\d+)?\s*")  # or decimals, nobody knows
PERCENT = re.compile(r"\s*[+-]?\d[\d.]*\s*%\s*")
INDEX = re.compile(r"__index_level_\d+__")  # what pandas calls a nameless index in Parquet

EMPTY, NO_STRING = "empty text", "text that is not a string"
NO_RESPONSE, NO_NUMBER = "no response", "response that is not a number"
TOO_LARGE = f"response of {MAX_RESPONSE:g} or beyond, or infinite"
DAMAGED_ROW = "damaged row"


@dataclass(frozen=True)
class Usable:
    """The rows of a chunk with a text and a number, and why the others are not here."""

    texts: list[str]
    y: list[float]
    rows: list[int]
    left_out: Counter[str]
    example: str = ""  # where a response is not a number, or too large a one, and which


@dataclass(frozen=True)
class Table:
    """Files that are read one after the other, as one table."""

    readers: tuple[Format, ...]
    names: tuple[tuple[str, ...], ...]  # columns of each

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names[0]

    @property
    def called(self) -> str:
        more = len(self.readers) - 1
        return self.readers[0].source.name + (f" and {more} more" if more else "")

    def chunks(self, *wanted: str, rows: int = CHUNK_ROWS) -> Iterator[Chunk]:
        """Values of these columns; ``done`` is of all files together."""
        sizes = [reader.source.size for reader in self.readers]
        before = 0
        for reader, names, size in zip(self.readers, self.names, sizes, strict=True):
            at = [_place(name, names, reader.source.name) for name in wanted]
            for chunk in reader.chunks(at, rows):
                yield replace(chunk, done=(before + chunk.done * size) / sum(sizes))
            before += size

    def check(self, *wanted: str) -> None:
        """Refuse columns that some file has not."""
        for reader, names in zip(self.readers, self.names, strict=True):
            for name in wanted:
                _place(name, names, reader.source.name)

    def choose(self, text: str | None, target: str | None) -> tuple[str, str]:
        """The columns of texts and responses, guessed where not named."""
        for name in (text, target):
            if name is not None:
                _place(name, self.columns, self.called)
        sample = self._sample(text, target)
        if target is None:
            others = [
                i for i, name in enumerate(self.columns) if name != text and not INDEX.match(name)
            ]
            target = self._only(others, sample, _number_like, "response", "--target")
        self._hint_at_header(target)
        if text is None:
            text = self.choose_text(avoid=target)
        if text == target:
            raise TableError(
                f"column {text!r} is named as text and as response; name two columns, of "
                + listed(self.columns)
            )
        return text, target

    def _hint_at_header(self, target: str) -> None:
        """A number is a strange name for a column of CSV."""
        if isinstance(self.readers[0], Csv) and number(target) is not None:
            warnings.warn(
                f"the first row of {self.called} ({listed(self.columns)}) looks like data, but "
                "was taken for the names of the columns; if it is data, write a line of names, "
                "such as text,stars, above it",
                stacklevel=3,
            )

    def choose_text(self, text: str | None = None, avoid: str | None = None) -> str:
        if text is not None:
            _place(text, self.columns, self.called)
        sample = self._sample(text)
        if text is not None:
            return text
        others = [i for i, name in enumerate(self.columns) if name != avoid]
        strings = [i for i in others if _string_like(sample[i])]
        wordy = [i for i in strings if _text_like(sample[i])]
        return self._only(wordy or strings, sample, _string_like, "text", "--text")

    def _sample(self, *named: str | None) -> list[list[Any]]:
        """The first rows, of the columns named, or of all that may be text or numbers if one is
        to be guessed; nothing of the others."""
        for reader, names in zip(self.readers, self.names, strict=True):
            known = [names.index(name) for name in named if name in names]
            looked_at = known if len(known) == len(named) else reader.candidates
            for chunk in reader.chunks(looked_at, SAMPLE_ROWS):
                if names == self.columns:
                    found = dict(zip(looked_at, chunk.values, strict=True))
                    return [found.get(i, []) for i in range(len(names))]
        raise TableError(
            f"{self.called} has columns ({listed(self.columns)}) but no row, expected one for "
            "each document; check how it was written"
        )

    def _only(
        self,
        candidates: list[int],
        sample: list[list[Any]],
        fits: Callable[[list[Any]], bool],
        role: str,
        flag: str,
    ) -> str:
        found = [self.columns[i] for i in candidates if fits(sample[i])]
        if len(found) == 1:
            return found[0]
        kind = "numbers" if role == "response" else "texts"
        seen = f"{len(found)} columns look like {kind}" if found else f"no column looks like {kind}"
        guess = f"{self.called}: {seen}, so the {role} cannot be guessed; "
        if found:
            raise TableError(guess + f"name it with {flag}, one of {listed(found)}")
        remedies = [_hint(self.columns[i], sample[i]) for i in candidates if kind == "numbers"]
        general = f"name a column of {kind} with {flag}; there are {listed(self.columns)}"
        raise TableError(guess + next(filter(None, remedies), general))


def open_table(patterns: list[str], options: Options, stdin: BinaryIO, folder: Path) -> Table:
    """Files, globs and ``-`` for ``stdin``; copies of what can be read once go to ``folder``."""
    sources = find(patterns, stdin, folder, options.encoding)
    readers = tuple(read(source, options) for source in sources)
    return Table(readers, tuple(reader.columns for reader in readers))


def usable(chunk: Chunk) -> Usable:
    """Of a chunk of texts and responses."""
    texts, y, rows = [], [], []
    left_out: Counter[str] = Counter()
    example = ""
    for row, text, response in zip(range(chunk.first, chunk.first + len(chunk)), *chunk.values,
                                   strict=True):  # fmt: skip
        value = number(response)
        if why := no_text(text):
            left_out[why] += 1
        elif value is not None:
            texts.append(text)
            y.append(value)
            rows.append(row)
        elif missing(response):
            left_out[NO_RESPONSE] += 1
        else:
            left_out[NO_NUMBER if _parsed(response) is None else TOO_LARGE] += 1
            example = example or f"row {row} of {chunk.source.name} has {_example(response)}"
    return Usable(texts, y, rows, left_out, example)


def no_text(cell: Any) -> str:
    """Why a cell is no text to count; "" if it is one."""
    if cell is DAMAGED:
        return DAMAGED_ROW
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return EMPTY
    return "" if isinstance(cell, str) else NO_STRING


def number(value: Any) -> float | None:
    """A number that can be a response, also one written as text."""
    x = _parsed(value)
    return x if x is not None and abs(x) < MAX_RESPONSE else None


def _parsed(value: Any) -> float | None:
    """Any number but NaN."""
    try:
        x = float(value)
    except OverflowError:  # of a whole number with some hundred digits
        return math.inf
    except (TypeError, ValueError):
        return None
    return None if math.isnan(x) else x


def missing(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in MISSING
    return value is None or value is DAMAGED or value != value  # NaN


def _place(name: str, columns: Sequence[str], where: str) -> int:
    n = columns.count(name)
    if n == 1:
        return columns.index(name)
    if n == 0:
        raise TableError(f"{where} has no column {name!r}; its columns are {listed(columns)}")
    raise TableError(f"{where} has {n} columns named {name!r}, expected one; rename the others")


def listed(columns: Sequence[str]) -> str:
    shown = ", ".join(quoted(name) for name in columns[:MAX_COLUMNS_LISTED])
    more = len(columns) - MAX_COLUMNS_LISTED
    return shown + (f" and {more} more" if more > 0 else "")


def quoted(value: Any) -> str:
    """As Python writes it; what is long ends with dots, within its quotes."""
    if isinstance(value, str):
        return repr(
            value
            if len(value) <= MAX_VALUE_CHARACTERS
            else value[: MAX_VALUE_CHARACTERS - 3] + "..."
        )
    return f"{value!r:.{MAX_VALUE_CHARACTERS}}"


def remedy(value: Any) -> str:
    """What to do with a number that is not written as Python does; nothing for any other."""
    if not isinstance(value, str):
        return ""
    if THOUSANDS.fullmatch(value):
        return "a comma: remove it first between thousands, or replace it by a point for decimals"
    if DECIMAL_COMMA.fullmatch(value):
        return "a decimal comma: replace it by a point first"
    return "a percent sign: remove it first" if PERCENT.fullmatch(value) else ""


def _example(response: Any) -> str:
    what = remedy(response)
    return quoted(response) + (f", with {what}" if what else "")


def _hint(name: str, values: list[Any]) -> str:
    """The remedy for a column, if most of it could be numbers."""
    there = [v for v in values if not missing(v)]
    decorated = [v for v in there if remedy(v)]
    plain = [v for v in there if number(v) is not None]
    if len(decorated) + len(plain) <= KIND_SHARE * len(there) or not decorated:
        return ""
    first = decorated[0]
    return f"the numbers in {quoted(name)}, such as {quoted(first)}, have {remedy(first)}"


def _number_like(values: list[Any]) -> bool:
    there = [v for v in values if not missing(v)]
    numbers = sum(not isinstance(v, bool) and _parsed(v) is not None for v in there)
    return numbers > KIND_SHARE * len(there)


def _string_like(values: list[Any]) -> bool:
    there = [v for v in values if not missing(v)]
    strings = sum(isinstance(v, str) and number(v) is None for v in there)
    return strings > KIND_SHARE * len(there)


def _text_like(values: list[Any]) -> bool:
    strings = [v for v in values if isinstance(v, str) and v.strip()]
    return sum(len(v.split()) for v in strings) >= TEXT_WORDS * len(strings)
