"""Whether a column holds whole numbers, numbers or text, by all of its values.

CSV knows text only.  A value is a number if it is written as in JSON, and with
so few digits that it stays the same.  A column of 007 or of numbers with 18 digits is of names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from topicprism.io.tables.columns import missing
from topicprism.io.tables.formats import Chunk

NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d{1,2})?")
DIGITS = 15  # that a float keeps
ORDER: tuple[type, ...] = (int, float, str)


def kinds(chunks: Iterable[Chunk], n_columns: int) -> list[type]:
    """int, float or str for each column: the first that holds all values that are there."""
    return widest([kinds_seen(chunks, n_columns)])


def kinds_seen(chunks: Iterable[Chunk], n_columns: int) -> list[set[type]]:
    """The kinds of the values of each column."""
    found: list[set[type]] = [set() for _ in range(n_columns)]
    for chunk in chunks:
        for seen, values in zip(found, chunk.values, strict=True):
            if str not in seen:
                seen.update(_kind(value) for value in values if not missing(value))
    return found


def widest(pieces: Sequence[list[set[type]]]) -> list[type]:
    """One kind for each column, of what was seen of it in some pieces."""
    columns = (set[type]().union(*seen) for seen in zip(*pieces, strict=True))
    return [max(seen, key=ORDER.index, default=str) for seen in columns]


def as_kind(value: Any, kind: type) -> Any:
    """A value of a column of that kind, if it is text; None if it is missing."""
    return None if missing(value) else kind(value) if isinstance(value, str) else value


def _kind(value: Any) -> type:
    if isinstance(value, bool):
        return str
    if isinstance(value, (int, float)):
        return type(value) if abs(value) < 2**63 else str
    text = value.strip() if isinstance(value, str) else ""
    form = NUMBER.fullmatch(text)
    if form is None or sum(c.isdigit() for c in text) > DIGITS:
        return str
    return int if form[2] is form[3] is None else float
