"""Draw docs/images/terminal.svg: what ``topicprism fit`` prints, as a terminal shows it.

python docs/make_terminal_shots.py
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

from topicprism.datasets import make_reviews

PICTURE = Path(__file__).resolve().parent / "images" / "terminal.svg"
COMMAND = "topicprism fit reviews.csv --report reviews.html"
COLUMNS, SIZE, LEADING = 80, 14, 19  # characters, pixels, pixels
ADVANCE, MARGIN, TOP = 8.43, 18, 44  # width of a character, space around, height of the bar
FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"


def printed(folder: Path) -> list[str]:
    """The lines of the command on 5,000 reviews drawn by the package."""
    texts, y, _ = make_reviews(5_000, random_state=0)
    with (folder / "reviews.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("review", "stars"), *zip(texts, y.tolist(), strict=True)])
    words = [sys.executable, "-m", *COMMAND.split()]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    return [f"$ {COMMAND}", *done.stdout.splitlines()]


def drawn(lines: list[str]) -> str:
    """The lines as SVG; each is stretched to its columns, whatever font there is."""
    width = round(COLUMNS * ADVANCE + 2 * MARGIN)
    height = TOP + LEADING * len(lines) + MARGIN
    rows = []
    for i, line in enumerate(lines):
        look = ' class="typed"' if line.startswith("$") else ""
        place = f'x="{MARGIN}" y="{TOP + LEADING * (i + 0.75):.1f}"'
        length = f'textLength="{len(line) * ADVANCE:.1f}"' if line else ""
        rows.append(f"<text {place} {length}{look}>{escape(line)}</text>")
    lights = "".join(f'<circle cx="{22 + 20 * i}" cy="22" r="6"/>' for i in range(3))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img">',
            f"<title>{escape(COMMAND)}</title>",
            f"<style>text {{ font: {SIZE}px {FONT}; fill: #d8dee9; white-space: pre; }} "
            "text.typed { fill: #a3d9a5; font-weight: bold; } circle { fill: #4c566a; }</style>",
            f'<rect width="{width}" height="{height}" rx="10" fill="#20242c"/>',
            lights,
            *rows,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        picture = drawn(printed(Path(folder)))
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture)
    print(PICTURE)
