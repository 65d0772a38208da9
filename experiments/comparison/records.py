"""Rows of a CSV file, each a dataclass of numbers and words, written as soon as it is there."""

import csv
from dataclasses import astuple, fields
from pathlib import Path


def read(kind, path: Path) -> list:
    """The rows of a file, as ``kind``; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        head, *lines = csv.reader(file)
    names = [f.name for f in fields(kind)]
    if head != names:
        raise SystemExit(
            f"{path.name} has the columns {', '.join(head)}, but expected {', '.join(names)}; "
            "remove the file to measure anew"
        )
    types = [f.type for f in fields(kind)]
    return [kind(*(t(v) for t, v in zip(types, line, strict=True))) for line in lines]


def keep(row, path: Path) -> None:
    """Add a row to the file."""
    path.parent.mkdir(exist_ok=True)
    new = not path.exists()
    with path.open("a", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        if new:
            out.writerow([f.name for f in fields(row)])
        out.writerow([round(v, 4) if isinstance(v, float) else v for v in astuple(row)])
