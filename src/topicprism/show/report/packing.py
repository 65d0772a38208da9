r"""What the page's script needs, as text that is safe inside HTML.

The script must cut a text into the words that Python would, whatever version of Unicode the
browser has, so it brings Python's own tables: which characters are ``\w``, what ``str.lower``
makes of each, and which of them decide whether a capital sigma is the last letter of a word.
"""

from __future__ import annotations

import base64
import json
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicprism._typing import Array
from topicprism.show.report.facts import Packed
from topicprism.vectorizer.counting import fold_table

SIGMA, FINAL_SIGMA = "\u03a3", "\u03c2"


def pack(array: Array) -> Packed:
    flat = np.asarray(array, "<f8").ravel()
    mask = flat != 0
    bits = np.packbits(mask, bitorder="little")
    texts = (base64.b64encode(part.tobytes()).decode("ascii") for part in (bits, flat[mask]))
    return Packed(tuple(map(int, array.shape)), *texts)


def unpack(packed: Packed) -> Array:
    size = int(np.prod(packed.shape))
    bits = np.frombuffer(base64.b64decode(packed.mask), np.uint8)
    mask = np.unpackbits(bits, count=size, bitorder="little").astype(bool)
    flat = np.zeros(size)
    flat[mask] = np.frombuffer(base64.b64decode(packed.values), "<f8")
    return flat.reshape(packed.shape)


def embedded(facts: Any) -> str:
    """JSON that holds no character with a meaning in HTML, nor any beyond ASCII."""
    text = json.dumps(facts, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@cache
def characters() -> dict[str, Any]:
    """Python's tables of characters; ``lower`` has runs of (first, step, how many, shift)."""
    cased, ignorable = _around_sigma()
    moved, longer = _lower()
    return {
        "word": run_lengths(fold_table(False) > 0),
        "cased": run_lengths(cased),
        "ignorable": run_lengths(ignorable),
        "lower": moved,
        "longer": longer,
    }


def run_lengths(flags: NDArray[np.bool_]) -> str:
    """Lengths of the runs of False, True, False, ... in base 36; the last is left out."""
    turns = np.flatnonzero(np.diff(flags, prepend=False))
    return " ".join(np.base_repr(b - a, 36).lower() for a, b in pairwise([0, *turns.tolist()]))


def _around_sigma() -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Characters that make a sigma after them final, and those that it looks through."""
    others = [chr(c) for c in range(0x110000) if c != 0x20]  # the space keeps the trials apart
    trials = (" ".join(first + c + SIGMA for c in others) for first in ("", "a"))
    alone, after_a = ([t[-1] == FINAL_SIGMA for t in s.lower().split(" ")] for s in trials)
    cased, either = (np.insert(np.array(flags), 0x20, False) for flags in (alone, after_a))
    return cased, either & ~cased


def _lower() -> tuple[list[tuple[int, int, int, int]], dict[str, str]]:
    runs: list[tuple[int, int, int, int]] = []
    longer: dict[str, str] = {}
    for code in range(0x110000):
        lowered = chr(code).lower()
        if len(lowered) > 1:
            longer[chr(code)] = lowered
        elif ord(lowered) != code:
            shift = ord(lowered) - code
            first, step, n, same = runs[-1] if runs else (0, 0, 0, 0)
            gap = code - (first + step * (n - 1))
            if same == shift and gap in ((1, 2) if n == 1 else (step,)):
                runs[-1] = (first, gap, n + 1, shift)
            else:
                runs.append((code, 1, 1, shift))
    return runs, longer
