"""A table as documents to fit, some rows at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from topicprism.io.tables import Chunk, Piece, Table, TableError, pieces, usable
from topicprism.io.tables.columns import no_text
from topicprism.limits import MIN_RESPONSE_GAP
from topicprism.pipeline.inputs import Batch
from topicprism.pipeline.provenance import Ledger


@dataclass(frozen=True)
class TableSource:
    """The rows of a table with a text and, if a column of responses is named, a number."""

    table: Table | Piece
    text: str
    target: str | None

    def pieces(self) -> list[TableSource]:
        """To be read by other processes."""
        assert isinstance(self.table, Table)
        return [replace(self, table=piece) for piece in pieces(self.table)]

    @property
    def called(self) -> str:
        return self.table.called

    @property
    def files(self) -> list[str]:
        """Their names."""
        assert isinstance(self.table, Table)
        return [Path(reader.source.name).name for reader in self.table.readers]

    @property
    def wanted(self) -> str:
        """What a row must have."""
        text = f"a text in {self.text!r}"
        return text if self.target is None else f"{text} and a number in {self.target!r}"

    def batches(self) -> Iterator[Batch]:
        columns = [self.text] if self.target is None else [self.text, self.target]
        for chunk in self.table.chunks(*columns):
            yield _texts_alone(chunk) if self.target is None else numbered(chunk)[0]

    def check(self, ledger: Ledger) -> None:
        """Refuse rows that nothing can be learnt from."""
        reasons = "; ".join(f"{n} with {why}" for why, n in ledger.left_out.items())
        if ledger.n_documents == 0:
            example = f" ({ledger.example})" if ledger.example else ""
            raise TableError(
                f"{self.called}: none of {ledger.n_rows} rows has {self.wanted}{example}, expected "
                f"{'both' if self.target else 'one'}: {reasons}; name other columns"
            )
        if ledger.n_documents == 1:
            has = "a text and a number" if self.target else "a text"
            raise TableError(
                f"{self.called}: only 1 document has {has}, expected many; add rows"
                + (f" or correct those left out ({reasons})" if reasons else "")
            )
        if self.target is not None:
            self._check_response(ledger, reasons)

    def _check_response(self, ledger: Ledger, reasons: str) -> None:
        low, high = ledger.low, ledger.high
        if low < high <= low + MIN_RESPONSE_GAP:
            raise TableError(
                f"{self.called}: {self.target!r} is from {low:g} to {high:g}, a range too small "
                "to compute with; change its units"
            )
        if low == high:
            raise TableError(
                f"{self.called}: {self.target!r} is {low:g} in all {ledger.n_documents} documents"
                + (f" that are not left out ({reasons})" if reasons else "")
                + ", but it must vary to be explained; name another column with --target"
            )


def numbered(chunk: Chunk) -> tuple[Batch, list[int]]:
    """Of a chunk of texts and responses, the rows with both, and their numbers."""
    found = usable(chunk)
    batch = Batch(found.texts, found.y, found.left_out, found.example, chunk.done)
    return batch, found.rows


def _texts_alone(chunk: Chunk) -> Batch:
    """Of a chunk of texts, the rows with one."""
    texts: list[str] = []
    left_out: Counter[str] = Counter()
    for text in chunk.values[0]:
        if why := no_text(text):
            left_out[why] += 1
        else:
            texts.append(text)
    return Batch(texts, None, left_out, done=chunk.done)
