"""A fitted estimator as a table, for a notebook: one row per topic, no script, no network.

Topics are numbered from 1, as on the page and in the terminal.

Colours come from the page it is shown on, so that it can be read by day and by night.
"""

from __future__ import annotations

from html import escape
from types import SimpleNamespace
from typing import Any

from topicprism.effects import Effects, effects, percent
from topicprism.model import Model
from topicprism.words import top_words

LINE = "border-bottom:1px solid rgba(128,128,128,.3)"
TABLE = "border-collapse:collapse;color:inherit;background:transparent;font-size:.95em"
AT = "position:absolute"
LEFT = "text-align:left"
WORDS = LEFT + ";overflow-wrap:anywhere"
NAMELESS = '<p style="margin:.3em 0;opacity:.7">The words are known to the pipeline only.</p>'
RIGHT = "text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums"


def topics_html(
    topics: Any, words: Any = None, title: str = "", info: Any = None, n_words: int = 10
) -> str:
    """Topics with their effect, share and words; topics by effect, or by share without one."""
    shown = effects(topics, words, info=info)
    named = words is not None or hasattr(topics, "feature_names_in_")
    said = top_words(shown.model, shown.words, n_words) if named else []
    several = len(getattr(topics, "classes_", ())) > 2
    first = [] if shown.coef is None else [_heading(shown, several)]
    heads = [("#", RIGHT), *first, (f"share {shown.share_of}", RIGHT)] + [("words", LEFT)] * named
    head = "".join(
        f'<th scope="col" style="{s};{LINE};padding:.3em .7em">{h}</th>' for h, s in heads
    )
    rows = []
    for i in shown.order:
        if several:
            best = topics.classes_[topics.coef_[:, i].argmax()]
            effect = [_cell(_text(best), LEFT)]
        else:
            effect = [] if shown.coef is None else [_cell(_effect(shown, int(i)), RIGHT)]
        cells = [
            _cell(str(i + 1), RIGHT + ";opacity:.6"),
            *effect,
            _cell(escape(percent(shown.share[i])), RIGHT),
            *([_cell(", ".join(map(_text, said[i])), WORDS)] if named else []),
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<div><p style="margin:.3em 0"><b>{_text(title or _title(topics))}</b></p>'
        f'<table style="{TABLE}"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody>'
        f"</table>{'' if named else NAMELESS}</div>"
    )


def model_html(model: Model) -> str:
    """The same of parameters alone; those of no response have no effect to show."""
    coef = model.eta if model.eta.any() else None
    return topics_html(SimpleNamespace(model_=model, coef_=coef), title=_counted("Model", model))


def _title(topics: Any) -> str:
    return _counted(type(topics).__name__, topics.model_)


def _counted(name: str, model: Model) -> str:
    return f"{name}: {model.n_topics} topics over {model.n_words:,} words"


def _heading(shown: Effects, several: bool) -> tuple[str, str]:
    margin = "" if shown.interval is None else " &plusmn; 95%"
    return ("speaks for", LEFT) if several else (_text(shown.response) + margin, LEFT)


def _effect(shown: Effects, i: int) -> str:
    """A number, and where it lies among the others: a dot on a line, a tick at the average."""
    assert shown.coef is not None
    margin = "" if shown.interval is None else f" &plusmn; {shown.said(_half(shown, i))}"
    low, high = (f(*shown.coef, shown.average) for f in (min, max))
    span = float(high - low) or 1.0
    dot, tick = (100 * (x - low) / span for x in (shown.coef[i], shown.average))
    track = "display:inline-block;position:relative;width:6em;height:.7em;margin-left:.7em"
    line = "left:0;top:.32em;width:100%;height:1px;background:currentColor;opacity:.3"
    mark = "top:0;width:1px;height:.7em;background:currentColor;opacity:.5"
    ball = "top:.1em;width:.5em;height:.5em;border-radius:50%;margin-left:-.25em"
    colour = "#c4622d" if shown.coef[i] < shown.average else "#2f83c0"
    return (
        f"{shown.said(shown.coef[i])}{margin}"
        f'<span aria-hidden="true" style="{track}"><span style="{AT};{line}"></span>'
        f'<span style="{AT};{mark};left:{tick:.1f}%"></span>'
        f'<span style="{AT};{ball};background:{colour};left:{dot:.1f}%"></span></span>'
    )


def _half(shown: Effects, i: int) -> float:
    assert shown.interval is not None
    low, high = shown.interval
    return float(high[i] - low[i]) / 2


def _cell(inner: str, style: str) -> str:
    return f'<td style="{style};{LINE};padding:.3em .7em">{inner}</td>'


def _text(value: Any) -> str:
    """Shown as it is, whatever it is; its direction ends with it."""
    return f"<bdi>{escape(str(value))}</bdi>"
