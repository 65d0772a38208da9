"""Files and row groups of a table, to be read by other processes, which must see the same files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from platform import node

from topicprism.io.failures import reason
from topicprism.io.tables.columns import Table
from topicprism.io.tables.formats import CHUNK_ROWS, Chunk, Format
from topicprism.io.tables.streams import Source, TableError


@dataclass(frozen=True)
class Piece:
    """Rows of one file; ``chunks`` are those of :class:`Table`."""

    table: Table
    called: str
    size: int  # of the file, as it is where the command runs

    def chunks(self, *wanted: str, rows: int = CHUNK_ROWS) -> Iterator[Chunk]:
        self._look()
        yield from self.table.chunks(*wanted, rows=rows)

    def _look(self) -> None:
        """Refuse a file that is not there, or another, where this runs."""
        path = self.table.readers[0].source.path
        try:
            size = path.stat().st_size
        except OSError as error:
            raise TableError(
                f"{self.called}: a worker on {node()} cannot see {path} ({reason(error)}); put the "
                "tables where all workers see them under one name, or leave out --dask"
            ) from None
        if size != self.size:
            raise TableError(
                f"{self.called}: {path} has {size:,} bytes for a worker on {node()} and "
                f"{self.size:,} here, but one file was expected; copy it again"
            )


def pieces(table: Table) -> list[Piece]:
    """In the order of the table."""
    return [
        Piece(Table((_by_path(part),), (names,)), _called(part), reader.source.size)
        for reader, names in zip(table.readers, table.names, strict=True)
        for part in reader.parts()
    ]


def _by_path(reader: Format) -> Format:
    """With a path that holds in any folder."""
    source = reader.source
    if str(source.path) != source.name:
        raise TableError(
            f"{source.name} can be read once only, and here, but workers read files; write it to "
            "a file that they see"
        )
    absolute = Source(Path.cwd() / source.path, source.name)
    found: Format = replace(reader, source=absolute)  # type: ignore[type-var]  # a dataclass
    return found


def _called(reader: Format) -> str:
    group: int | None = getattr(reader, "group", None)
    return reader.source.name + ("" if group is None else f", row group {group}")
