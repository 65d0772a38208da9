"""A fitted estimator as a table, for a notebook: one row per topic, no script, no network.

Topics are numbered from 1, as on the page and in the terminal.

Colours come from the page it is shown on, so that it can be read by day and by night.
"""

from __future__ import annotations

from typing import Any

from topicprism.show.effects import NOT_PREDICTED, Effects, effects, percent
from topicprism.show.markup import Html, bdi, join, tag, typeset

LINE = "border-bottom:1px solid rgba(128,128,128,.3);padding:.3em .7em"
TABLE = "border-collapse:collapse;color:inherit;background:transparent;font-size:.95em"
AT = "position:absolute"
LEFT = "text-align:left"
WORDS = LEFT + ";overflow-wrap:anywhere"
WORDS_UNKNOWN = "Words are not shown: the estimator has no vocabulary; show the pipeline instead."
RIGHT = "text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums"
BELOW, ABOVE = "#c4622d", "#2f83c0"  # the average
Column = tuple[str, str, list[str]]  # heading, style, and a cell for each topic


def topics_html(
    topics: Any, words: Any = None, title: str = "", info: Any = None, n_words: int = 10
) -> str:
    """Topics with their effect, share and words; topics by effect, or by share without one."""
    shown = effects(topics, words, info=info)
    k, named = shown.model.n_topics, words is not None or hasattr(topics, "feature_names_in_")
    columns: list[Column] = [("#", RIGHT, [str(i + 1) for i in range(k)])]
    columns += _effect_columns(shown, topics)
    share = [typeset(percent(x)) for x in shown.share]
    columns.append((f"share {shown.share_of}", RIGHT, share))
    if shown.replication is not None:
        again = ["yes" if shown.found_again(i) else "no" for i in range(k)]
        columns.append(("found again", LEFT, again))
    if named:
        top = shown.top_words(n_words)
        columns.append(("words", WORDS, [_listed(words) for words in top]))
    heads = [tag("th", head, scope="col", style=f"{s};{LINE}") for head, s, _ in columns]
    rows = [
        tag("tr", *(tag("td", cells[i], style=f"{s};{LINE}") for _, s, cells in columns))
        for i in shown.order
    ]
    return tag(
        "div",
        tag("p", tag("b", bdi(title or _title(topics))), style="margin:.3em 0"),
        tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows), style=TABLE),
        None if shown.predicts else tag("p", NOT_PREDICTED, style="margin:.3em 0;font-weight:bold"),
        None if named else tag("p", WORDS_UNKNOWN, style="margin:.3em 0;opacity:.7"),
    )


def _title(topics: Any) -> str:
    model = topics.model_
    return f"{type(topics).__name__}: {model.n_topics} topics over {model.n_words:,} words"


def _effect_columns(shown: Effects, topics: Any) -> list[Column]:
    """Coefficients, intervals if they are known, and the class of the largest if there are many."""
    if shown.coef is None:
        return []
    k = range(shown.model.n_topics)
    columns: list[Column] = [(bdi(shown.label), RIGHT, [_effect(shown, i) for i in k])]
    if shown.interval is not None:
        intervals = [typeset(shown.format_interval(i)) for i in k]
        columns.append((typeset("95% interval"), RIGHT, intervals))
    if len(getattr(topics, "classes_", ())) > 2:
        best = topics.classes_[topics.coef_.argmax(axis=0)]
        columns.append(("largest for", LEFT, [bdi(str(label)) for label in best]))
    return columns


def _effect(shown: Effects, i: int) -> Html:
    """A number, and where it lies among the others: a dot on a line, a tick at the average."""
    assert shown.coef is not None
    low, high = (shown.place(f(*shown.coef, shown.average)) for f in (min, max))
    span = high - low or 1.0
    dot, tick = (100 * (shown.place(x) - low) / span for x in (shown.coef[i], shown.average))
    track = "display:inline-block;position:relative;width:6em;height:.7em;margin-left:.7em"
    line = "left:0;top:.32em;width:100%;height:1px;background:currentColor;opacity:.3"
    mark = "top:0;width:1px;height:.7em;background:currentColor;opacity:.5"
    ball = "top:.1em;width:.5em;height:.5em;border-radius:50%;margin-left:-.25em"
    colour = BELOW if shown.coef[i] < shown.average else ABOVE
    drawn = tag(
        "span",
        tag("span", style=f"{AT};{line}"),
        tag("span", style=f"{AT};{mark};left:{tick:.1f}%"),
        tag("span", style=f"{AT};{ball};background:{colour};left:{dot:.1f}%"),
        aria_hidden="true",
        style=track,
    )
    return join([typeset(shown.format_effect(shown.coef[i])), drawn])


def _listed(words: list[str]) -> Html:
    """Each word as it is, whatever it is; its direction ends with it."""
    return join(x for i, word in enumerate(words) for x in (", " if i else None, bdi(word)))
