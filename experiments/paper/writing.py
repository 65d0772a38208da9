"""What the scripts of this folder do alike: options, and one CSV each, printed as it is written."""

import argparse
import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def parser(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="seconds, for the test suite")
    parser.add_argument("--out", type=Path, default=HERE, help="folder of the CSV (default: this)")
    return parser


def options(description: str | None) -> argparse.Namespace:
    return parser(description).parse_args()


def write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Rows as they come, in a file and on the screen; floats to four digits.

    The file that was there is replaced when all rows are; until then they are in FILE.part.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part, writer = path.with_name(path.name + ".part"), None
    with part.open("w", newline="", encoding="utf-8") as file:
        for row in rows:
            short = {k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()}
            if writer is None:
                writer = csv.DictWriter(file, list(short), lineterminator="\n")
                writer.writeheader()
                print(*short, sep=",")
            writer.writerow(short)
            file.flush()
            print(*short.values(), sep=",", flush=True)
    if writer is None:
        part.unlink()
        print(f"nothing was measured: {path.name} stays as it is")
    else:
        part.replace(path)


def measured(path: Path) -> Path:
    """The file, if it is there."""
    if not path.exists():
        raise SystemExit(f"{path} is not there; run the script without --draw to measure first")
    return path
