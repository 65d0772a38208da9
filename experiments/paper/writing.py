"""What the scripts of this folder do alike: options, and a CSV that rows are added to as they come.

Rows that are there stay, and what they are about is not measured again: a run goes on where another
one ended, and on fewer cores it replaces nothing.  ``--out`` names a folder to measure anew in.
"""

import argparse
import csv
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
QUICK = HERE.parents[1] / "results" / "paper"  # what is quick is not put beside what was measured


def parser(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="seconds, for the test suite")
    parser.add_argument("--draw", action="store_true", help="measure nothing: verdict and figure")
    parser.add_argument("--out", type=Path, help="folder of the CSV (default: that of the script)")
    return parser


def parsed(reader: argparse.ArgumentParser) -> argparse.Namespace:
    asked = reader.parse_args()
    if asked.out is None:
        asked.out = QUICK if asked.quick else HERE
    return asked


def text(value: Any) -> str:
    """As it stands in a file: floats to four digits."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def there(path: Path) -> list[dict[str, str]]:
    """Rows as they are written; none where there is no file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def known(path: Path, *key: str) -> Callable[..., bool]:
    """Whether the file has a row with these values of ``key``."""
    done = {tuple(row[name] for name in key) for row in there(path)}
    return lambda *values: tuple(map(text, values)) in done


def write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Adds rows as they come, to the file and on the screen."""
    path.parent.mkdir(parents=True, exist_ok=True)
    before = there(path)
    head, added = list(before[0]) if before else [], 0
    with path.open("a", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        for row in rows:
            if not head:
                head = list(row)
                out.writerow(head)
            if list(row) != head:
                raise SystemExit(
                    f"{path.name} has the columns {', '.join(head)}, but expected "
                    f"{', '.join(row)}; remove the file to measure anew"
                )
            if not added:
                print(*head, sep=",")
            short, added = list(map(text, row.values())), added + 1
            out.writerow(short)
            file.flush()
            print(*short, sep=",", flush=True)
    if not head:
        path.unlink()
    print(f"{path.name}: {len(before)} rows were there, {added} were added")


def measured(path: Path) -> Path:
    """The file, if it is there."""
    if not path.exists():
        raise SystemExit(f"{path} is not there; run the script without --draw to measure first")
    return path
