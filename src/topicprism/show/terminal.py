"""Tables as text of at most 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from topicprism.show.effects import CLASS, RESPONSE, UNKNOWN, fixed

WIDTH = 80  # columns of a line
MIN_WORDS_WIDTH = 8  # columns for words, however wide the numbers
MAX_LISTED = 8  # topics that a sentence names
MIN_STD_RUNS = 4  # two splits: of fewer, the error of a standard deviation is half of it or more
RARELY_FOUND = 0.5  # share of the splits below which a topic is said not to be reproducible


def aligned(texts: list[str], width: int) -> list[str]:
    """Right-aligned in a column of this width, or of the widest text."""
    widest = max(width, *map(len, texts)) if texts else width
    return [f"{text:>{widest}}" for text in texts]


def sentence(text: str, indent: str = "") -> list[str]:
    return wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)


def stability_lines(facts: dict[str, Any], response: str = "effect") -> Iterator[str]:
    """The facts of a ``Stability``."""
    n, topics = facts["n_runs"], facts["topics"]
    size = (facts["n_documents"] + 1) // 2
    yield from sentence(
        f"{len(topics)} topics of {facts['n_documents']:,} documents, looked for in {n} random "
        f"halves of about {size:,}"
    )
    yield ""
    yield from _table(facts, response)
    yield ""
    yield from _notes(facts)


def _notes(facts: dict[str, Any]) -> Iterator[str]:
    """How to read the table."""
    n = len(facts["topics"])
    supervised, share = facts["effect_of"] is not None, facts["halves_common_words"]
    yield from sentence("found again: halves in which the topic has a counterpart", "  ")
    if share is not None:
        yield from sentence(
            "both: splits in which the two halves, which have no document in common, agree on it; "
            f"they share {share:.0%} of a topic's ten top words",
            "  ",
        )
    if supervised:
        yield from sentence(
            "std: standard deviation of the coefficient over halves with the topic, of which there "
            f"must be {MIN_STD_RUNS}",
            "  ",
        )
    rare = [str(t["number"]) for t in facts["topics"] if (t["replicated"] or 0) < RARELY_FOUND]
    if rare and share is not None:
        which = ", ".join(rare) if len(rare) <= MAX_LISTED else f"{len(rare)} of {n} topics"
        what = "words and coefficients" if supervised else "words"
        yield from sentence(
            f"agreed on in fewer than half of the splits: {which}; do not rely on the {what} "
            "of these",
            "  ",
        )


def _table(facts: dict[str, Any], response: str) -> Iterator[str]:
    """A line for each topic, with as many of its words as it has room for."""
    topics = facts["topics"]
    columns = [aligned(["#", *(str(t["number"]) for t in topics)], 2)]
    if facts["effect_of"] is not None:
        of = facts["effect_of"]
        head = response if of == RESPONSE else of.removeprefix(CLASS)
        columns += [
            aligned([head[:9], *_numbers(topics, "effect", facts["decimals"])], 9),
            aligned(["std", *_numbers(topics, "effect_std", facts["decimals"])], 7),
        ]
    columns.append(aligned(["found again", *_times(topics, "found_again", facts["n_runs"])], 12))
    if facts["n_splits"]:
        columns.append(aligned(["both", *_times(topics, "replicated", facts["n_splits"])], 7))
    head, *starts = [" ".join(cells) + "  " for cells in zip(*columns, strict=True)]
    yield head + "words"
    for topic, start in zip(topics, starts, strict=True):
        yield start + next(
            iter(wrap(" ".join(topic["words"]), max(WIDTH - len(start), MIN_WORDS_WIDTH))), ""
        )


def _numbers(topics: list[dict[str, Any]], name: str, decimals: int) -> list[str]:
    return [UNKNOWN if t[name] is None else fixed(t[name], decimals) for t in topics]


def _times(topics: list[dict[str, Any]], name: str, n: int) -> list[str]:
    return [f"{round(n * t[name])} of {n}" for t in topics]
