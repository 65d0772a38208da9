"""Facts as text that fits in 80 columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from topicprism.effects import PRIOR, WORDS, percent
from topicprism.pipeline.scoring import BASELINE, OURS

WIDTH = 80
BAR = 40
WEAK = 0.02  # R2 below which topics explain next to nothing
NAMED, LONGEST_WORD = 5, 30  # words too common to count
SHARES = {WORDS: "share", PRIOR: "prior"}  # heading of a column of shares


def fit_lines(facts: dict[str, Any]) -> Iterator[str]:
    """What a fit ends with."""
    yield from documents(facts)
    yield ""
    yield from chosen(facts["chosen"])
    yield ""
    yield from topic_table(facts["topics"], facts["target"] or "response", lines=1)
    yield from beyond(facts["range_left"])
    if facts["n_held_out"] is None:
        yield "  a sketch has no documents: standard errors and ranges are not known"
    yield ""
    yield from scores(facts)


def documents(facts: dict[str, Any]) -> Iterator[str]:
    held, out = facts["n_held_out"] or 0, facts["n_left_out"] or {}
    kept = f", {held:,} held out to score on" if held else ""
    yield from paragraph("documents", f"{facts['n_documents']:,} learnt from{kept}")
    if out:
        said = ", ".join(f"{n:,} {why}" for why, n in out.items())
        yield from paragraph("left out", f"{sum(out.values()):,}: {said}")
    common = facts["too_common"] or []
    named = ", ".join(word[:LONGEST_WORD] for word in common[:NAMED])
    more = f" and {len(common) - NAMED} more" if len(common) > NAMED else ""
    too = f"; too common to count: {named}{more}" if common else ""
    yield from paragraph("words", f"{facts['n_words']:,}{too}")


def chosen(choices: dict[str, dict[str, Any]]) -> Iterator[str]:
    for name, choice in choices.items():
        reason = f"  {choice['reason']}" if choice["reason"] else ""
        yield from paragraph(
            name, f"{choice['value']:<8.4g}{reason}".rstrip(), 21 if reason else 11
        )


def paragraph(name: str, text: str, indent: int = 11) -> Iterator[str]:
    yield from wrap(f"{name:10} {text}", WIDTH, subsequent_indent=" " * indent)


def topic_table(topics: list[dict[str, Any]], response: str, lines: int | None) -> Iterator[str]:
    """A line for each topic, or as many as its words take; numbers are those of the page."""
    errors = effects = [""] * (1 + len(topics))
    if topics[0]["coefficient"] is not None:
        places = _places(topics)
        effects = aligned([response[:9], *(f"{t['coefficient']:z.{places}f}" for t in topics)], 9)
    if topics[0]["std"] is not None:
        told = aligned(["+-", *(f"{t['std']:.{places}f}" for t in topics)], 6)
        errors = [f" {text}" for text in told]
    numbers = aligned(["#", *(str(t["number"]) for t in topics)], 2)
    yield f"{numbers[0]} {effects[0]}{errors[0]}  {SHARES[topics[0]['share_of']]}  words"
    for topic, number, effect, error in zip(
        topics, numbers[1:], effects[1:], errors[1:], strict=True
    ):
        start = f"{number} {effect}{error}  {percent(topic['share']):>5}  "
        rows = wrap(" ".join(topic["words"]), WIDTH - len(start))
        for i, row in enumerate(rows[:lines]):
            yield (start if i == 0 else " " * len(start)) + row


def _places(topics: list[dict[str, Any]]) -> int:
    """Decimals that tell the coefficients apart, and one digit of each error at most two more."""
    effects = [t["coefficient"] for t in topics]
    enough = decimals(max(effects) - min(effects) or abs(effects[0]))
    errors = [t["std"] for t in topics if t["std"]]
    wanted = decimals(100 * min(errors)) if errors else enough
    return min(max(enough, wanted), enough + 2)


def beyond(left: tuple[float, float] | None) -> Iterator[str]:
    """What to think of coefficients beyond the range of all responses."""
    if left is not None:
        yield from wrap(
            f"no text is all of one topic: a number beyond {left[0]:g} to {left[1]:g} is where "
            "more and more of the topic would lead",
            WIDTH,
            initial_indent="  ",
            subsequent_indent="  ",
        )


def decimals(size: float) -> int:
    """As many as tell numbers apart that differ by some hundredths of ``size``."""
    return min(max(2 - math.floor(math.log10(size)), 0), 9) if size > 0 else 2


def scores(facts: dict[str, Any]) -> Iterator[str]:
    if OURS not in facts["scores"]:
        yield _no_score(facts)
        return
    yield f"predictive R2 on the {facts['n_held_out']:,} documents held out (1 is perfect)"
    for name, value in facts["scores"].items():
        bar = "#" * round(BAR * min(max(value, 0.0), 1.0))
        told = f"{value:z.3f}" if value > -100 else f"{value:.0e}"
        yield f"  {name:16} {told:>7}  {bar}".rstrip()
    if facts["n_baseline"] < facts["n_documents"]:
        yield f"  (ridge learnt from {facts['n_baseline']:,} documents, to keep memory small)"
    if facts["scores"][OURS] < WEAK:
        yield from _weak(facts)


def _no_score(facts: dict[str, Any]) -> str:
    chosen = facts["scores"].get("held_out_pr2")
    if chosen is not None:
        return (
            f"predictive R2 is {chosen:z.3f} on documents held out while the number of topics was "
            "chosen"
        )
    if facts["n_held_out"] is None:
        return "no score: a sketch has no documents to hold out"
    if facts["target"] is None:
        return "no score: these topics were learnt from texts alone"
    return "no score: too few documents, or --held-out 0"


def _weak(facts: dict[str, Any]) -> Iterator[str]:
    """Whether it is the words that tell nothing, or these topics."""
    if facts["scores"].get(BASELINE, 0.0) < WEAK:
        yield "  the words tell next to nothing about the number: do not trust the effects"
    else:
        yield "  the words tell more than these topics do: try another number of topics"


def bars(values: list[float], labels: list[str], marks: list[bool] | None = None) -> Iterator[str]:
    """Values as bars, one a line; marked ones have a star."""
    top = max(map(abs, values), default=0) or 1
    width = max(map(len, labels), default=0)
    room = min(BAR, WIDTH - width - 15)
    told = aligned([f"{value:.4g}" for value in values], 9)
    starred = marks or [False] * len(values)
    for value, text, label, mark in zip(values, told, labels, starred, strict=True):
        bar = "#" * round(room * max(value, 0) / top)
        yield f"{'*' if mark else ' '} {label:>{width}} {text}  {bar}".rstrip()


def aligned(texts: list[str], width: int) -> list[str]:
    """On the right, in a column of this width, or wider if one needs it."""
    widest = max(width, *map(len, texts)) if texts else width
    return [f"{text:>{widest}}" for text in texts]
