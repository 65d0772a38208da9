"""The sections of the page about the model itself: effects, documents, the box."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from topicprism.scales import LOG, LOG1P, fitted, unscaled
from topicprism.show.effects import FOUND_AGAIN, NOT_PREDICTED, between
from topicprism.show.markup import Html, join, listed, tag, typeset
from topicprism.show.report.charts import Axis, axis, line, round_ticks, tick_label
from topicprism.show.report.facts import Example, Piece, Summary, Topic
from topicprism.show.report.prose import fixed, percent

INTERVALS = "Bars are 95\u00a0% intervals."
CROSS_FITTED = (
    " Effects are cross-fitted: topics come from one half of the documents and coefficients from "
    "the other, so that intervals include the uncertainty of the topics. A topic is found again "
    f"if {FOUND_AGAIN}. A topic that neither half has gets no interval."
)
LOGARITHMS = {  # what was fitted
    LOG: "The logarithm of {} was fitted. ",
    LOG1P: "The logarithm of 1 + {} was fitted, as zeros occur; 1 is taken off its mean. ",
}
YES = {True: "yes", False: "no"}
N_HUES, N_MARKS, N_LEVELS = 10, 3, 5  # colours, line styles, steps of effect either way


def section(name: str, heading: str, *inside: str | None) -> Html:
    title = tag("h2", heading, id=f"{name}-heading")
    return tag("section", title, *inside, id=name, aria_labelledby=f"{name}-heading")


def looks(s: Summary) -> list[str]:
    """Classes of each topic: its hue, its line style, and how its effect differs from the mean."""
    middle = s.expected or 0.0
    above = [0.0 if t.effect is None else _at(s, t.effect) - _at(s, middle) for t in s.topics]
    reach = max(map(abs, above)) or 1.0
    return [
        f"h{i % N_HUES} m{i // N_HUES % N_MARKS} l{N_LEVELS + round(N_LEVELS * x / reach)}"
        for i, x in enumerate(above)
    ]


def badge(number: int, classes: list[str]) -> Html:
    return tag("span", str(number), class_=f"badge {classes[number - 1]}")


def in_order(s: Summary) -> list[Topic]:
    """The topics as the notebook, plots and the command list them."""
    return [s.topics[number - 1] for number in s.order]


def effects(s: Summary) -> Html:
    """One row per topic: its words, a dot at its effect and a bar for the interval."""
    scale, known = _effect_axis(s), any(t.low is not None for t in s.topics)
    tried = s.topics[0].found_again is not None
    labels = [(tick_label(float(unscaled(s.scale, t))), scale.x(t)) for t in scale.ticks]
    ticks = [tag("text", label, x=x, y="14") for label, x in labels]
    heads = [
        tag("th", "Topic", scope="col"),
        tag("th", tag("svg", *ticks, class_="x-axis", aria_hidden="true"), scope="col"),
        tag("th", f"{s.mean_of.capitalize()} {s.response}", scope="col", class_="number"),
        tag("th", "10\u00a0% more", scope="col", class_="number wide"),
        tag("th", "95\u00a0% interval", scope="col", class_="number wide") if known else None,
        tag("th", f"Share {s.share_of}", scope="col", class_="number wide"),
        tag("th", "Found again", scope="col", class_="wide") if tried else None,
    ]
    shown = tag(
        "table",
        tag("caption", "Topics by effect", class_="hidden"),
        tag("thead", tag("tr", *heads)),
        tag("tbody", *(_effect_row(s, t, scale, known) for t in in_order(s))),
        class_="effects",
    )
    explained = tag("p", _effects_help(s, known))
    banner = None if s.predicts else tag("p", NOT_PREDICTED, class_="banner", role="note")
    heading = f"How {s.response} differs between topics"
    return section("effects", heading, banner, explained, shown)


def _effects_help(s: Summary, known: bool) -> str:
    typical = fixed(s.expected or 0.0, s.decimals)
    text = (
        f"{s.mean_of.capitalize()} {s.response} of a document that consists of one topic only, and "
        "the difference that ten per cent more of the topic makes to a document with average "
        f"proportions, whose {s.mean_of} {s.response} is {typical} (dashed line). These are "
        "associations, not causes. "
    )
    if s.scale is not None:
        text += LOGARITHMS[s.scale].format(s.response)
    text += INTERVALS if known else "This fit has no intervals."
    if s.topics[0].found_again is not None:
        text += CROSS_FITTED
    if s.left is not None:
        low, high = map(tick_label, s.left)
        article = "an" if s.scale is None else "a"
        text += (
            f" Real documents mix several topics: {article} {s.mean_of} {s.response} outside {low} "
            f"to {high}, the shaded range of the training responses, is an extrapolation."
        )
    return text


def _effect_row(s: Summary, t: Topic, scale: Axis, known: bool) -> Html:
    classes = looks(s)
    leads = {"href": "#topics", "data_topic": str(t.number), "class_": "topic-link"}
    link = tag("a", badge(t.number, classes), listed(t.name), **leads)
    strip = _effect_strip(s, t, scale, classes[t.number - 1])
    return tag(
        "tr",
        tag("th", link, scope="row"),
        tag("td", strip, class_="stretch"),
        tag("td", fixed(t.effect or 0.0, s.decimals), class_="number"),
        tag("td", _more(s, t), class_="number wide"),
        tag("td", _interval(s, t), class_="number wide") if known else None,
        tag("td", percent(t.share), class_="number wide"),
        None if t.found_again is None else tag("td", YES[t.found_again], class_="wide"),
    )


def _effect_axis(s: Summary) -> Axis:
    """All effects, and their intervals unless these are much wider, on the scale of the fit."""
    points = [_at(s, t.effect or 0.0) for t in s.topics]
    room = (max(points) - min(points)) / 2 or 1.0
    low, high = min(points) - room, max(points) + room
    ends = [_at(s, e) for t in s.topics for e in (t.low, t.high) if e is not None]
    shown = axis([*points, *(min(max(e, low), high) for e in ends)])
    return shown if s.scale is None else replace(shown, ticks=round_ticks(s.scale, shown))


def _at(s: Summary, value: float) -> float:
    """Where a response is on the scale that was fitted."""
    return float(fitted(s.scale, value))


def _effect_strip(s: Summary, t: Topic, scale: Axis, classes: str) -> Html:
    at, expected = scale.x(_at(s, t.effect or 0.0)), _at(s, s.expected or 0.0)
    marks = [] if s.left is None else [_band(s, s.left, scale)]
    marks += [line(scale.x(x), "0", scale.x(x), "100%", "grid") for x in scale.ticks]
    marks.append(line(scale.x(expected), "0", scale.x(expected), "100%", "expected"))
    if t.low is not None and t.high is not None:
        low, high = scale.x(_at(s, t.low)), scale.x(_at(s, t.high))
        marks.append(line(low, "50%", high, "50%", "interval"))
        marks += [line(x, "24%", x, "76%", "interval end") for x in (low, high)]  # above the dot
    marks.append(tag("circle", cx=at, cy="50%", r="5", class_=f"effect {classes}"))
    return tag("svg", *marks, class_="strip", aria_hidden="true")


def _band(s: Summary, ends: tuple[float, float], scale: Axis) -> Html:
    """Where all responses are."""
    left, right = (min(max(scale.share(_at(s, end)), 0.0), 1.0) for end in ends)
    return tag(
        "rect", x=f"{100 * left:.2f}%", width=f"{100 * (right - left):.2f}%", height="100%",
        class_="observed",
    )  # fmt: skip


def _more(s: Summary, t: Topic) -> str:
    """The difference that ten per cent more of the topic makes to an average document."""
    typical = s.expected or 0.0
    more = _at(s, typical) + 0.1 * (_at(s, t.effect or 0.0) - _at(s, typical))
    change = float(unscaled(s.scale, more)) - typical
    return ("+" if change > 0 else "") + fixed(change, s.decimals)


def _interval(s: Summary, t: Topic) -> str:
    ends = None if t.low is None or t.high is None else (t.low, t.high)
    return typeset(between(ends, s.decimals))


def documents(s: Summary) -> Html:
    """The words of each topic as text, and the documents with the largest share of it."""
    classes = looks(s)
    by = {t.number: [e for e in s.examples if e.topic == t.number] for t in s.topics}
    folded = [
        tag(
            "details",
            tag("summary", badge(t.number, classes), listed(t.name), _effect_note(s, t)),
            _word_lists(t),
            *(_example(s, e, classes) for e in by[t.number]),
            open=i == 0,
            class_="topic",
        )
        for i, t in enumerate(in_order(s))
    ]
    explained = (
        "The documents with the largest share of each topic. The colour of a word is its most "
        "probable topic given the document; a stronger colour means a higher probability."
        if s.examples
        else "The words of each topic."
    )
    choose = s.response is not None and bool(s.examples)
    return section(
        "documents",
        "Documents, word by word" if s.examples else "The words of each topic, listed",
        tag("p", explained),
        _colour_choice("documents") if choose else None,
        *folded,
    )


def _colour_choice(name: str) -> Html:
    """What the colours of the words in a section mean."""
    options = join(
        tag(
            "label",
            Html(
                f'<input type="radio" name="{name}-colour" value="{value}"'
                f"{' checked' if value == 'topic' else ''}> "
            ),
            value,
        )
        for value in ("topic", "effect")
    )
    return tag("fieldset", tag("legend", "Colour words by"), options, class_="choice", hidden=True)


def _effect_note(s: Summary, t: Topic) -> Html:
    effect = "" if t.effect is None else f"{s.response} {fixed(t.effect, s.decimals)}, "
    return tag("small", f"{effect}{percent(t.share)} {s.share_of}")


def _word_lists(t: Topic) -> Html:
    return tag(
        "dl",
        tag("dt", "Most probable"),
        tag("dd", listed(w.text for w in t.probable)),
        tag("dt", "Most relevant"),
        tag("dd", listed(w.text for w in t.relevant)),
        class_="lists",
    )


def _example(s: Summary, e: Example, classes: list[str]) -> Html:
    order = sorted(range(len(e.shares)), key=lambda i: -e.shares[i])
    main = [i for i in order[:3] if e.shares[i] >= 0.05]
    bars, at = [], 0.0
    for i in order:
        width = 100 * e.shares[i]
        bars.append(
            tag("rect", x=f"{at:.2f}%", width=f"{width:.2f}%", height="100%", class_=classes[i])
        )
        at += width
    facts: Iterable[str | None] = (
        ", ".join(f"{percent(e.shares[i])} topic {i + 1}" for i in main),
        None if e.observed is None else f"{s.response} {tick_label(e.observed)}",
        None if e.predicted is None else f"predicted {fixed(e.predicted, s.decimals)}",
    )
    return tag(
        "article",
        tag("svg", *bars, class_="mixture", aria_hidden="true"),
        tag("p", " \u00b7 ".join(f for f in facts if f), class_="facts"),
        tag(
            "p",
            pieces(e.pieces, classes),
            None if e.whole else " \u2026",
            dir="auto",
            class_="text",
        ),
        class_="example",
    )


def pieces(parts: Iterable[Piece], classes: list[str]) -> Html:
    return join(
        part.text
        if part.topic is None
        else tag(
            "span",
            part.text,
            class_=f"w {classes[part.topic - 1]} c{certainty(part.certainty)}",
            title=f"topic {part.topic}, {percent(part.certainty)}",
        )
        for part in parts
    )


def certainty(p: float) -> int:
    """How strong a colour is: 1, 2 or 3."""
    return 1 + (p >= 0.5) + (p >= 0.8)


def box(s: Summary) -> Html:
    """Where to type a document; the script reads it."""
    if s.reading is None:
        why = (
            "This model was fitted with a tokeniser other than that of FastCountVectorizer, which "
            "is the only one that this page can apply."
        )
        return section("try", "Try a document of your own", tag("p", why))
    explained = "Topics are inferred in this page; the text is not sent anywhere."
    return section(
        "try",
        "Try a document of your own",
        tag("p", explained),
        tag("label", "Your document", for_="document"),
        tag(
            "textarea", id="document", rows="5", spellcheck="false", dir="auto", maxlength="200000"
        ),
        tag(
            "p",
            tag("button", "Take an example", type="button", id="example", hidden=True),
            tag("button", "Clear", type="button", id="clear", class_="quiet"),
            class_="buttons",
        ),
        tag("p", id="prediction", aria_live="polite"),
        tag("div", id="answer"),
        _colour_choice("try") if s.response is not None else None,
        tag("p", id="read", class_="text", dir="auto"),
    )
