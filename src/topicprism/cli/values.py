"""What can be typed after an option, to values."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeVar

from topicprism.defaults import AUTO

T = TypeVar("T")
MAX_QUOTED = 40  # characters of what was typed
MAX_DIGITS = 9  # of a count of anything
MAX_THREADS = 1024
MAX_SEED_DIGITS = 18  # below 2^63


def quoted(text: str) -> str:
    return repr(text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]}...")


def count(text: str) -> int:
    if not text.isdecimal() or len(text) > MAX_DIGITS or int(text) < 1:
        raise argparse.ArgumentTypeError(
            f"{quoted(text)} is not a whole number from 1 up, of {MAX_DIGITS} digits at most"
        )
    return int(text)


def runs(text: str) -> int:
    if text == "1":
        raise argparse.ArgumentTypeError("1 is not enough, a split has two halves: give 2 or more")
    return count(text)


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def auto_or(read: Callable[[str], T]) -> Callable[[str], T | str]:
    def value(text: str) -> T | str:
        try:
            return text if text == AUTO else read(text)
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentTypeError(f"{error}, nor auto") from None

    return value


def seed(text: str) -> int:
    if not text.isdecimal() or len(text) > MAX_SEED_DIGITS:
        raise argparse.ArgumentTypeError(
            f"{quoted(text)} is not a whole number from 0 up, of {MAX_SEED_DIGITS} digits at most"
        )
    return int(text)


def jobs(text: str) -> int:
    if text != "-1" and count(text) > MAX_THREADS:
        raise argparse.ArgumentTypeError(f"{text!r} is more than {MAX_THREADS:,} threads")
    return int(text)


def df(text: str) -> float:
    """Documents if whole, else a share."""
    try:
        value = int(text) if text.isdecimal() else float(text)
    except ValueError:
        value = -1
    if not value >= 0 or (isinstance(value, float) and value > 1):
        raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number nor a share up to 1")
    return value


def min_df(text: str) -> float | str:
    return text if text == AUTO else df(text)


def share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value <= 0.9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share from 0 to 0.9")
    return value


def character(text: str) -> str:
    text = {"\\t": "\t", "tab": "\t"}.get(text, text)
    if len(text) != 1 or text in '"\r\n':
        raise argparse.ArgumentTypeError(f"{text!r} is not one character")
    return text
