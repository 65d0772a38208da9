"""CSV, JSON lines and Parquet, some rows at a time.

A format is a class with ``columns``, the names in the file, and ``chunks(wanted)``, which
yields the values of the wanted columns, row after row, as :class:`Chunk`.  A chunk ends
after ``CHUNK_ROWS`` rows or ``CHUNK_CHARACTERS`` characters: memory does not grow with the file.
"""

from __future__ import annotations

import csv
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, count, islice
from typing import Any, Literal, Protocol

from topicprism.io.failures import reason
from topicprism.io.tables.streams import (
    MAX_LINE_CHARACTERS,
    Opened,
    Source,
    TableError,
    check_text,
    head,
    lines,
    opened,
    too_long,
)

CHUNK_ROWS = 20_000  # of a chunk, at most
CHUNK_CHARACTERS = 1 << 23
SAMPLE_OBJECTS = 1_000  # objects, for their keys
DELIMITERS = ",;\t|"
FORMATS = ("csv", "tsv", "jsonl", "parquet")
ENDINGS = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".json": "jsonl", ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip
ARROW_TYPES = ("string", "large_string", "int", "uint", "half", "float", "double", "decimal")
COMPRESSED_ENDINGS = (".gz", ".bz2", ".xz", ".zst")


class Damaged:
    """Stands for each value of a row that could not be read."""


DAMAGED = Damaged()


@dataclass(frozen=True)
class Options:
    """How to read; None is to be found out."""

    format: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    quotes: bool = True
    skip_damaged: bool = False


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows of one file."""

    source: Source
    first: int  # number of the first row, from 1; the header does not count
    values: list[list[Any]]  # of each wanted column
    done: float  # share of the file read so far

    def __len__(self) -> int:
        return len(self.values[0])


class Format(Protocol):
    @property
    def source(self) -> Source: ...

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def candidates(self) -> tuple[int, ...]:
        """Which columns may be of texts or numbers, as far as is known without reading."""

    def chunks(self, wanted: Sequence[int], rows: int = CHUNK_ROWS) -> Iterator[Chunk]: ...

    def parts(self) -> Sequence[Format]:
        """What can be read apart: itself, if nothing less can."""


def read(source: Source, options: Options) -> Format:
    """The reader for a file, by what was asked for, its name, or its first bytes."""
    kind = options.format or _by_name(source.name)
    start = head(source)
    if kind == "parquet" or (kind is None and start.startswith(b"PAR1")):
        return _parquet(source)
    if start.startswith(b"PAR1"):
        raise TableError(f"{source.name} is Parquet, but {kind} was asked for; drop --format")
    encoding = check_text(source, start, options.encoding)
    begins = start.decode(encoding, "ignore").lstrip("\ufeff \t\r\n")
    if not begins:
        raise TableError(f"{source.name} has nothing but blank lines; expected a header and rows")
    if kind == "jsonl" or (kind is None and begins[0] in "{["):
        if begins[0] == "[":
            raise TableError(
                f"{source.name} is one JSON array, but one object in each line was expected; "
                "convert it, for example with jq -c '.[]'"
            )
        return JsonLines(source, encoding, options.skip_damaged)
    delimiter = options.delimiter or ("\t" if kind == "tsv" else _delimiter(begins))
    return Csv(source, encoding, delimiter, options.quotes, options.skip_damaged)


def _by_name(name: str) -> str | None:
    for ending in COMPRESSED_ENDINGS:
        name = name.removesuffix(ending)
    return next((kind for end, kind in ENDINGS.items() if name.lower().endswith(end)), None)


def _delimiter(text: str) -> str:
    """The one that the first line has most of; a comma if it has none."""
    line = text.splitlines()[0]
    return max(DELIMITERS, key=line.count)


def _grouped(
    rows: Iterable[Sequence[Any]], file: Opened, wanted: Sequence[int], most: int
) -> Iterator[Chunk]:
    """Rows of values to chunks of columns."""
    first, values = 1, [[] for _ in wanted]  # type: tuple[int, list[list[Any]]]
    n = size = 0
    for row in rows:
        for column, i in zip(values, wanted, strict=True):
            value = row[i]
            column.append(value)
            size += len(value) if isinstance(value, str) else 8
        n += 1
        if n >= most or size >= CHUNK_CHARACTERS:
            yield Chunk(file.source, first, values, file.done)
            first, values, n, size = first + n, [[] for _ in wanted], 0, 0
    if n:
        yield Chunk(file.source, first, values, 1.0)


class _DamagedRow:
    """Any value of it is damaged."""

    def __getitem__(self, i: int) -> Damaged:
        return DAMAGED


_DAMAGED_ROW: Any = _DamagedRow()


class _Text(ABC):
    """A format in which any column may be of texts or numbers, and that is read as a whole."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]: ...

    @property
    def candidates(self) -> tuple[int, ...]:
        return tuple(range(len(self.columns)))

    def parts(self) -> Sequence[Any]:
        return [self]


@dataclass(frozen=True)
class Csv(_Text):
    """Delimited text with a header, read by the standard library; blank lines do not count."""

    source: Source
    encoding: str
    delimiter: str
    quotes: bool
    skip_damaged: bool

    @property
    def columns(self) -> tuple[str, ...]:
        with opened(self.source) as file:
            return tuple(name.strip() for name in next(self._rows(file)))

    def chunks(self, wanted: Sequence[int], rows: int = CHUNK_ROWS) -> Iterator[Chunk]:
        with opened(self.source) as file:
            table = self._rows(file)
            next(table)
            yield from _grouped(table, file, wanted, rows)

    def _rows(self, file: Opened) -> Iterator[Sequence[str]]:
        """The header, then rows of as many fields."""
        csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_CHARACTERS + 1))
        taken = 0

        def within_limit() -> Iterator[str]:
            nonlocal taken
            for line in lines(file, self.encoding):
                taken += len(line)
                if taken > MAX_LINE_CHARACTERS:
                    raise TableError(too_long(self.source, self._where(number)))
                yield line

        quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if self.quotes else csv.QUOTE_NONE
        reader = csv.reader(within_limit(), delimiter=self.delimiter, quoting=quoting, strict=True)
        number, width = 0, 0
        while True:
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                row = self._refused(number, f"{reason(error)}; {self._about_quotes(error)}")
            if row is not _DAMAGED_ROW and row and width and len(row) != width:
                row = self._refused(number, self._ragged(len(row), width))
            taken = 0
            if row:
                width = width or len(row)
                yield row
                number += 1

    def _refused(self, number: int, what: str) -> Any:
        if self.skip_damaged and number > 0:
            return _DAMAGED_ROW
        also = "" if number == 0 else ", or pass --skip-damaged to leave such rows out"
        raise TableError(f"{self.source.name}, {self._where(number)}: {what}{also}")

    def _where(self, number: int) -> str:
        return f"row {number}" if number else "the header"

    def _about_quotes(self, error: csv.Error) -> str:
        if "end of data" in str(error):
            return "a quote is opened and never closed: close it, or pass --no-quotes"
        return "double the quotes inside quoted fields, or pass --no-quotes"

    def _ragged(self, n: int, width: int) -> str:
        fields = "field" if n == 1 else "fields"
        return (
            f"{n} {fields}, but the header has {width}; quote fields that hold {self.delimiter!r} "
            "or pass another --delimiter"
        )


@dataclass(frozen=True)
class JsonLines(_Text):
    """One JSON object in each line; columns are the keys of the first ``SAMPLE_OBJECTS`` of them.

    Blank lines do not count.
    """

    source: Source
    encoding: str
    skip_damaged: bool

    @property
    def columns(self) -> tuple[str, ...]:
        names: dict[str, None] = {}
        with opened(self.source) as file:
            for row in islice(self._objects(file), SAMPLE_OBJECTS):
                if row is not _DAMAGED_ROW:
                    names |= dict.fromkeys(row)
        return tuple(names)

    def chunks(self, wanted: Sequence[int], rows: int = CHUNK_ROWS) -> Iterator[Chunk]:
        names = self.columns
        with opened(self.source) as file:
            table = (
                row if row is _DAMAGED_ROW else [row.get(name) for name in names]
                for row in self._objects(file)
            )
            yield from _grouped(table, file, wanted, rows)

    def _objects(self, file: Opened) -> Iterator[Any]:
        numbers = count(1)
        for line in lines(file, self.encoding):
            if line.isspace():
                continue
            yield self._object(line, next(numbers))

    def _object(self, line: str, number: int) -> Any:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            what = f"not JSON ({reason(error)})"
        else:
            if isinstance(row, dict):
                return row
            what = f"{line.strip()!r:.40} is no JSON object"
        if self.skip_damaged and number > 1:
            return _DAMAGED_ROW
        raise TableError(
            f'{self.source.name}, row {number}: {what}, but a line such as {{"text": "...", '
            '"stars": 4} was expected; mend it, or pass --skip-damaged'
        )


@dataclass(frozen=True)
class Parquet:
    """Read by pyarrow, some rows of a row group at a time, the wanted columns only.

    Whatever pyarrow raises is about the file, so it is a sentence about the file.
    """

    source: Source
    columns: tuple[str, ...]
    candidates: tuple[int, ...]
    group: int | None = None  # the only row group to be read
    first: int = 1  # number of its first row

    def parts(self) -> Sequence[Format]:
        """Row groups."""
        file = _file(self.source)
        sizes = [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)]
        firsts = accumulate(sizes, initial=1)
        return [replace(self, group=g, first=at) for g, at in zip(range(len(sizes)), firsts,
                strict=False)] or [self]  # fmt: skip

    def chunks(self, wanted: Sequence[int], rows: int = CHUNK_ROWS) -> Iterator[Chunk]:
        file, passed = _file(self.source), 0
        groups = list(range(file.num_row_groups)) if self.group is None else [self.group]
        metadata = [file.metadata.row_group(g) for g in groups]
        n = max(sum(group.num_rows for group in metadata), 1)
        bytes_each = sum(group.total_byte_size for group in metadata) / n
        rows = int(min(max(CHUNK_CHARACTERS / max(bytes_each, 1), 1), rows))
        names = sorted({self.columns[i] for i in wanted})
        parts = file.iter_batches(batch_size=rows, row_groups=groups, columns=names)
        while (part := self._next(parts)) is not None:
            first, passed = self.first + passed, passed + part.num_rows
            if part.num_rows:
                values = [self._values(part, i) for i in wanted]
                yield Chunk(self.source, first, values, min(passed / n, 1.0))

    def _next(self, parts: Iterator[Any]) -> Any:
        try:
            return next(parts, None)
        except Exception as error:
            raise TableError(_no_parquet(self.source, error)) from None

    def _values(self, part: Any, i: int) -> list[Any]:
        """Of column ``i``, also where others have its name; as text if Python has no such value."""
        name = self.columns[i]
        same = [place for place, other in enumerate(part.schema.names) if other == name]
        try:
            column = part.column(same[self.columns[:i].count(name)])
            try:
                return list(column.to_pylist())
            except (ValueError, ArithmeticError):  # such as a date in the year 20,000
                return list(column.cast("string").to_pylist())
        except Exception as error:
            raise TableError(
                f"{self.source.name}: column {name!r} of type {part.schema.types[same[0]]} cannot "
                f"be read ({reason(error)!s:.120}); write it as text, or name another column"
            ) from None


def _parquet(source: Source) -> Parquet:
    schema = _file(source).schema_arrow
    kinds = [_kind(field.type) for field in schema]
    candidates = tuple(i for i, kind in enumerate(kinds) if kind.startswith(ARROW_TYPES))
    return Parquet(source, tuple(schema.names), candidates)


def _file(source: Source) -> Any:
    """Opened by pyarrow, which looks at its schema."""
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise TableError(
            f"{source.name} is Parquet, which needs pyarrow; run pip install 'topicprism[tables]', "
            "or write the table as CSV"
        ) from None
    try:
        file = ParquetFile(source.path, pre_buffer=False)
        _ = file.schema_arrow
        return file
    except Exception as error:
        raise TableError(_no_parquet(source, error)) from None


def _kind(type_: Any) -> str:
    """The name of a type; of what it stands for, if it is a dictionary."""
    return str(getattr(type_, "value_type", type_) if "dictionary" in str(type_)[:10] else type_)


def _no_parquet(source: Source, error: Exception) -> str:
    return (
        f"{source.name} is not a whole Parquet file ({reason(error)!s:.120}); write it again, or "
        "pass --format if it is something else"
    )
