"""Tables of texts and numbers: read some rows at a time, written all or not at all.

::

    streams   files, globs, standard input, compression, encodings
    formats   CSV, TSV, JSON lines, Parquet                          Chunk
    columns   which is the text, which the response; what is usable  Usable
    pieces    files and row groups, to be read by other processes    Piece
    kinds     whether a column is of numbers
    writing   predictions as CSV, JSON lines, Parquet

Only the standard library is used, but for Parquet and zstd, which need pyarrow.
"""

from topicprism.io.tables.columns import Table, Usable, number, open_table, usable
from topicprism.io.tables.formats import FORMATS, Chunk, Options
from topicprism.io.tables.kinds import as_kind, kinds, kinds_seen, widest
from topicprism.io.tables.pieces import Piece, pieces
from topicprism.io.tables.streams import STDIN, Source, TableError, matching
from topicprism.io.tables.writing import OUTPUTS, output_format, rounded, rows_to

__all__ = [
    "FORMATS",
    "OUTPUTS",
    "STDIN",
    "Chunk",
    "Options",
    "Piece",
    "Source",
    "Table",
    "TableError",
    "Usable",
    "as_kind",
    "kinds",
    "kinds_seen",
    "matching",
    "number",
    "open_table",
    "output_format",
    "pieces",
    "rounded",
    "rows_to",
    "usable",
    "widest",
]
