"""The facts of a command as text of at most 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from topicprism.pipeline.scoring import BASELINE, OURS
from topicprism.scales import LOG, Scale
from topicprism.show.effects import (
    CLASS,
    FOUND_AGAIN,
    NOT_PREDICTED,
    PRIOR,
    RESPONSE,
    WORDS,
    between,
    fixed,
    percent,
)
from topicprism.show.terminal import WIDTH, aligned

NAMES = 14  # columns of the names at the beginning of a line
MIN_USEFUL_R2 = 0.02  # predictive R2 below which topics are called useless
BAR = 40
N_COMMON_LISTED, MAX_WORD_CHARACTERS = 5, 30  # of the words above --max-df
SHARES = {WORDS: "share", PRIOR: "prior"}  # heading of a column of shares


def fit_lines(facts: dict[str, Any]) -> Iterator[str]:
    """The output of ``topicprism fit``."""
    yield from documents(facts)
    yield ""
    yield from learnt_by(facts)
    yield from chosen(facts["chosen"])
    yield ""
    yield from topic_table(facts["topics"], facts["target"] or "response", lines=1)
    yield from notes(facts)
    if facts["n_held_out"] is None:
        yield "  standard errors need the documents; fits from a sketch have none"
    yield ""
    yield from scores(facts)


def documents(facts: dict[str, Any]) -> Iterator[str]:
    n_held_out, out = facts["n_held_out"] or 0, facts["n_left_out"] or {}
    scored = f", {n_held_out:,} held out for the score" if n_held_out else ""
    yield from paragraph("documents", f"{facts['n_documents']:,} used for fitting{scored}")
    if out:
        reasons = ", ".join(f"{n:,} {why}" for why, n in out.items())
        yield from paragraph("left out", f"{sum(out.values()):,}: {reasons}")
    common = facts["too_common"] or []
    named = ", ".join(word[:MAX_WORD_CHARACTERS] for word in common[:N_COMMON_LISTED])
    more = f" and {len(common) - N_COMMON_LISTED} more" if len(common) > N_COMMON_LISTED else ""
    too = f"; too common to be counted: {named}{more}" if common else ""
    yield from paragraph("words", f"{facts['n_words']:,}{too}")


def learnt_by(facts: dict[str, Any]) -> Iterator[str]:
    yield from paragraph("learnt by", facts["learnt_by"])


def chosen(choices: dict[str, dict[str, Any]]) -> Iterator[str]:
    for name, choice in choices.items():
        reason = f"  {choice['reason']}" if choice["reason"] else ""
        text = f"{choice['value']:<8.4g}{reason}".rstrip()
        yield from paragraph(name.replace("_", " "), text, 10 if reason else 0)


def paragraph(name: str, text: str, indent: int = 0) -> Iterator[str]:
    """A name and a text beside it, later lines moved in by ``indent`` more."""
    yield from wrap(f"{name:{NAMES}} {text}", WIDTH, subsequent_indent=" " * (NAMES + 1 + indent))


def topic_table(topics: list[dict[str, Any]], response: str, lines: int | None) -> Iterator[str]:
    """A line for each topic, or as many as its words take; numbers are those of the page."""
    columns = [aligned(["#", *(str(t["number"]) for t in topics)], 2), *_effects(topics, response)]
    shares = [SHARES[topics[0]["share_of"]], *(percent(t["share"]) for t in topics)]
    columns.append([f" {text}" for text in aligned(shares, 5)])
    if topics[0]["found_again"] is not None:
        found = ["yes" if t["found_again"] else "no" for t in topics]
        columns.append([f" {text}" for text in aligned(["found again", *found], 11)])
    head, *starts = [" ".join(cells) + "  " for cells in zip(*columns, strict=True)]
    yield head + "words"
    for topic, start in zip(topics, starts, strict=True):
        rows = wrap(" ".join(topic["words"]), WIDTH - len(start))
        for i, row in enumerate(rows[:lines]):
            yield (start if i == 0 else " " * len(start)) + row


def _effects(topics: list[dict[str, Any]], response: str) -> Iterator[list[str]]:
    """Columns: coefficients if there are any, and their intervals if some are known."""
    first = topics[0]
    if first["coefficient"] is None:
        return
    of = first["coefficient_of"]
    head = response if of == RESPONSE else of.removeprefix(CLASS)
    yield aligned([head[:9], *(fixed(t["coefficient"], t["decimals"]) for t in topics)], 9)
    if any(t["interval"] is not None for t in topics):
        intervals = [between(t["interval"], t["decimals"]) for t in topics]
        yield [f" {text}" for text in aligned(["95% interval", *intervals], 12)]


def notes(facts: dict[str, Any]) -> Iterator[str]:
    """How to read the table of topics."""
    yield from logarithm(facts.get("log"))
    yield from beyond(facts["range_left"])
    yield from replication(facts["topics"], facts["predicts"])


def logarithm(scale: Scale) -> Iterator[str]:
    """How to read coefficients of a logarithm."""
    if scale is not None:
        of = "the number" if scale == LOG else "1 + the number"
        yield f"  the logarithm of {of} was fitted: coefficients are shown as geometric means"


def beyond(left: tuple[float, float] | None) -> Iterator[str]:
    """How to read coefficients outside the range of the training responses."""
    if left is not None:
        yield from wrap(
            f"coefficients outside the observed range of {left[0]:g} to {left[1]:g} are "
            "extrapolations to a text of one topic only; real texts mix several topics",
            WIDTH,
            initial_indent="  ",
            subsequent_indent="  ",
        )


def replication(topics: list[dict[str, Any]], predicts: bool) -> Iterator[str]:
    """How to read the column "found again", and coefficients that have no interval."""
    if topics[0]["found_again"] is None:
        return
    texts = [f"found again: whether {FOUND_AGAIN}"]
    if not predicts:
        texts.append(NOT_PREDICTED)
    elif any(t["interval"] is None for t in topics):
        texts.append("a topic that neither half has gets no interval")
    for text in texts:
        yield from wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ")


def scores(facts: dict[str, Any]) -> Iterator[str]:
    if OURS not in facts["scores"]:
        yield _no_score(facts)
        return
    of = "" if facts.get("log") is None else " of logarithms"
    yield f"predictive R2{of} on {facts['n_held_out']:,} held-out documents (1 is perfect)"
    for name, value in facts["scores"].items():
        bar = "#" * round(BAR * min(max(value, 0.0), 1.0))
        score = f"{value:z.3f}" if value > -100 else f"{value:.0e}"
        yield f"  {name:16} {score:>7}  {bar}".rstrip()
    if facts["n_baseline"] < facts["n_documents"]:
        yield f"  (ridge fitted to {facts['n_baseline']:,} documents, to limit memory)"
    yield from _warning(facts["scores"], len(facts["topics"]))


def _warning(found: dict[str, float], n_topics: int) -> Iterator[str]:
    """A note if the topics predict almost nothing: because of the words, or of the topics.

    Whether coefficients may be interpreted is for ``Effects.predicts`` to say, everywhere.
    """
    if found[OURS] >= MIN_USEFUL_R2:
        return
    if found.get(BASELINE, 0.0) < MIN_USEFUL_R2:
        warning = (
            "neither the topics nor a regression on all words predicts the number of held-out "
            "documents: do not expect more of new ones"
        )
    elif n_topics == 1:
        warning = (
            "with one topic every text gets the same prediction, although a regression on all "
            "words predicts the number: set a larger --n-topics"
        )
    else:
        warning = (
            f"these {n_topics} topics predict almost nothing, although a regression on all words "
            "predicts the number: try another --n-topics"
        )
    yield from wrap(warning, WIDTH, initial_indent="  ", subsequent_indent="  ")


def _no_score(facts: dict[str, Any]) -> str:
    chosen = facts["scores"].get("held_out_pr2")
    if chosen is not None:
        return (
            f"predictive R2 is {chosen:z.3f} on the documents held out to choose the number of "
            "topics"
        )
    if facts["n_held_out"] is None:
        return "no score: a sketch contains no documents to hold out"
    if facts["target"] is None:
        return "no score: the model has no response to predict"
    return "no score: too few documents, or --held-out 0"


def bars(values: list[float], labels: list[str], marks: list[bool] | None = None) -> Iterator[str]:
    """Values as bars, one per line; marked ones have an asterisk."""
    top = max(map(abs, values), default=0) or 1
    width = max(map(len, labels), default=0)
    room = min(BAR, WIDTH - width - 15)
    numbers = aligned([f"{value:.4g}" for value in values], 9)
    starred = marks or [False] * len(values)
    for value, text, label, mark in zip(values, numbers, labels, starred, strict=True):
        bar = "#" * round(room * max(value, 0) / top)
        yield f"{'*' if mark else ' '} {label:>{width}} {text}  {bar}".rstrip()
