"""Lines of a terminal as SVG, for docs/make_pictures.py."""

from __future__ import annotations

from html import escape

COLUMNS, SIZE, LEADING = 80, 14, 19  # characters, pixels, pixels
ADVANCE, MARGIN, TOP = 8.43, 18, 44  # width of a character, space around, height of the bar
FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"


def drawn(lines: list[str]) -> str:
    """The first is what was typed; each is stretched to its columns, whatever font there is."""
    width = round(COLUMNS * ADVANCE + 2 * MARGIN)
    height = TOP + LEADING * len(lines) + MARGIN
    rows = []
    for i, line in enumerate(lines):
        look = ' class="typed"' if i == 0 else ""
        place = f'x="{MARGIN}" y="{TOP + LEADING * (i + 0.75):.1f}"'
        length = f'textLength="{len(line) * ADVANCE:.1f}"' if line else ""
        rows.append(f"<text {place} {length}{look}>{escape(line)}</text>")
    lights = "".join(f'<circle cx="{22 + 20 * i}" cy="22" r="6"/>' for i in range(3))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img">',
            f"<title>{escape(lines[0].removeprefix('$ '))}</title>",
            f"<style>text {{ font: {SIZE}px {FONT}; fill: #d8dee9; white-space: pre; }} "
            "text.typed { fill: #a3d9a5; font-weight: bold; } circle { fill: #4c566a; }</style>",
            f'<rect width="{width}" height="{height}" rx="10" fill="#20242c"/>',
            lights,
            *rows,
            "</svg>\n",
        ]
    )
