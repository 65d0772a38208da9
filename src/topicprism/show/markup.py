"""Elements of HTML and SVG.  A string is text and gets escaped, unless it is ``Html``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from html import escape

ISOLATE, POP = "\u2068", "\u2069"  # what is between does not turn its surroundings around
REPLACED = "\ufffd"
BIDI = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
# A real minus sign and spaces that do not break, for numbers that are written in ASCII.
TYPESET = str.maketrans({"-": "\u2212", "<": "<\u202f", "%": "\u00a0%"})


class Html(str):
    """Markup, safe as it stands."""

    __slots__ = ()


def tag(name: str, *inside: str | None, **attributes: str | float | bool | None) -> Html:
    """An element; ``aria_label`` and ``class_`` stand for aria-label and class.

    Nothing is written for what is None, inside or attribute, nor for an attribute that is False.
    """
    written = [name]
    for key, value in attributes.items():
        key = key.rstrip("_").replace("_", "-")
        if value is True:
            written.append(key)
        elif value is not None and value is not False:
            shown = f"{value:.6g}" if isinstance(value, float) else visible(str(value))
            written.append(f'{key}="{escape(shown)}"')
    return Html(f"<{' '.join(written)}>{join(inside)}</{name}>")


def join(parts: Iterable[str | None]) -> Html:
    return Html("".join(_safe(part) for part in parts if part is not None))


def _safe(part: str) -> str:
    return part if isinstance(part, Html) else escape(visible(part))


def visible(text: str) -> str:
    """The text with characters that would hide, or turn others around, replaced."""
    return "".join(
        " " if c in "\t\r\n" else REPLACED if unicodedata.category(c) in ("Cc", "Cs") else c
        for c in text
    ).translate(dict.fromkeys(BIDI, REPLACED))


def typeset(number: str) -> str:
    """A number, a share or an interval, as the terminal has it, with the signs of a page."""
    return number.translate(TYPESET)


def bdi(words: str) -> Html:
    """Words from elsewhere: whichever way they run, their surroundings do not."""
    return tag("bdi", words)


def listed(words: Iterable[str]) -> Html:
    """Words from elsewhere, with commas between them."""
    parts = (x for i, word in enumerate(words) for x in (", " if i else None, bdi(word)))
    return tag("span", *parts, class_="listed")


def isolated(sentence: str) -> Html:
    """Text in which what stands between isolating characters becomes ``bdi`` elements."""
    pieces = re.split(f"[{ISOLATE}{POP}]", sentence)
    return join(bdi(piece) if i % 2 else piece for i, piece in enumerate(pieces))


def table(caption: str, heads: list[str], rows: Iterable[Iterable[str]]) -> Html:
    """The first cell of each row is its heading."""
    body = []
    for first, *others in rows:
        cells = [tag("th", first, scope="row"), *(tag("td", cell) for cell in others)]
        body.append(tag("tr", *cells))
    return tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", *(tag("th", head, scope="col") for head in heads))),
        tag("tbody", *body),
    )


def numbers_behind(inside: Html) -> Html:
    """A table that is there for who wants it."""
    scroll = tag("div", inside, class_="scroll", tabindex="0", role="group", aria_label="Table")
    return tag("details", tag("summary", "Show the numbers"), scroll, class_="numbers")
