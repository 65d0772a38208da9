"""The sections of the page about the model itself: effects, topics, documents, the box."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import combinations

from topicprism.report.charts import Axis, axis, line, tick_label
from topicprism.report.facts import Example, Piece, Summary, Topic
from topicprism.report.markup import Html, join, listed, numbers_behind, table, tag
from topicprism.report.prose import fixed, number, percent
from topicprism.words import WEIGHT

N_HUES, N_MARKS, N_LEVELS = 10, 3, 5  # colours, line styles, steps of effect either way
SMALLEST, LARGEST = 2.6, 10.5  # radius of a topic on the map, in per cent of its width
SPAN, APART = 70, 5.5  # of the whole map, and of two topics at least, in the same


def section(name: str, heading: str, *inside: str | None) -> Html:
    title = tag("h2", heading, id=f"{name}-heading")
    return tag("section", title, *inside, id=name, aria_labelledby=f"{name}-heading")


def looks(s: Summary) -> list[str]:
    """Classes of each topic: its hue, its line style, and how its effect differs from the mean."""
    middle = s.expected or 0.0
    reach = max((abs((t.effect or middle) - middle) for t in s.topics), default=0.0) or 1.0
    classes = []
    for i, t in enumerate(s.topics):
        level = round(N_LEVELS * ((t.effect or middle) - middle) / reach) if s.response else 0
        mark = i // N_HUES % N_MARKS
        classes.append(f"h{i % N_HUES} m{mark} l{level + N_LEVELS}")
    return classes


def badge(number: int, classes: list[str]) -> Html:
    return tag("span", str(number), class_=f"badge {classes[number - 1]}")


def effects(s: Summary) -> Html:
    """One row per topic: its words, a dot at its effect and a bar for the interval."""
    by_effect = sorted(s.topics, key=lambda t: -(t.effect or 0.0))
    scale, classes = _effect_axis(s), looks(s)
    known = any(t.low is not None for t in s.topics)
    ticks = [tag("text", tick_label(t), x=scale.x(t), y="14") for t in scale.ticks]
    rows = [
        tag(
            "tr",
            tag(
                "th",
                tag("a", badge(t.number, classes), listed(t.name), **_leads_to(t)),
                scope="row",
            ),
            tag("td", _effect_row(t, scale, s.expected or 0.0, classes), class_="stretch"),
            tag("td", fixed(t.effect or 0.0, s.decimals), class_="number"),
            tag("td", _between(t, s.decimals), class_="number wide") if known else None,
            tag("td", percent(t.share), class_="number wide"),
        )
        for t in by_effect
    ]
    heads = [
        tag("th", "Topic", scope="col"),
        tag("th", tag("svg", *ticks, class_="x-axis", aria_hidden="true"), scope="col"),
        tag("th", f"Expected {s.response}", scope="col", class_="number"),
        tag("th", "95\u00a0% interval", scope="col", class_="number wide") if known else None,
        tag("th", "Share of words", scope="col", class_="number wide"),
    ]
    typical = fixed(s.expected or 0.0, s.decimals)
    says = (
        f"The {s.response} expected of a document that is all of one topic. The dashed line is "
        f"what is expected of a document of no topic in particular, {typical}. "
    )
    says += "Bars are intervals of 95\u00a0%." if known else "No intervals are known for this fit."
    return section(
        "effects",
        f"What each topic does to {s.response}",
        tag("p", says),
        tag(
            "table",
            tag("caption", "Topics by effect", class_="hidden"),
            tag("thead", tag("tr", *heads)),
            tag("tbody", *rows),
            class_="effects",
        ),
    )


def _leads_to(t: Topic) -> dict[str, str]:
    return {"href": "#topics", "data_topic": str(t.number), "class_": "topic-link"}


def _effect_axis(s: Summary) -> Axis:
    """All effects, and their intervals unless these are much wider."""
    points = [t.effect or 0.0 for t in s.topics]
    room = (max(points) - min(points)) / 2 or 1.0
    low, high = min(points) - room, max(points) + room
    ends = [e for t in s.topics for e in (t.low, t.high) if e is not None]
    return axis([*points, *(min(max(e, low), high) for e in ends)])


def _effect_row(t: Topic, scale: Axis, expected: float, classes: list[str]) -> Html:
    at = scale.x(t.effect or 0.0)
    marks = [line(scale.x(x), "0", scale.x(x), "100%", "grid") for x in scale.ticks]
    marks.append(line(scale.x(expected), "0", scale.x(expected), "100%", "expected"))
    if t.low is not None and t.high is not None:
        marks.append(line(scale.x(t.low), "50%", scale.x(t.high), "50%", "interval"))
    marks.append(tag("circle", cx=at, cy="50%", r="7", class_=f"effect {classes[t.number - 1]}"))
    return tag("svg", *marks, class_="strip", aria_hidden="true")


def _between(t: Topic, places: int) -> str:
    if t.low is None or t.high is None:
        return "unknown"
    return f"{fixed(t.low, places)} to {fixed(t.high, places)}"


def topics(s: Summary) -> Html:
    """The map, and the words of the chosen topic, which the script fills in."""
    classes = looks(s)
    buttons = [
        tag(
            "button",
            badge(t.number, classes),
            type="button",
            data_topic=str(t.number),
            aria_pressed="false",
            aria_label=f"Topic {t.number}: {', '.join(t.name)}",
        )
        for t in s.topics
    ]
    slider = tag(
        "div",
        tag("label", "Weight \u03bb: ", tag("output", str(WEIGHT), for_="weight"), for_="weight"),
        Html(
            f'<input id="weight" type="range" min="0" max="1" step="0.01" value="{WEIGHT}" '
            'aria-describedby="weight-help">'
        ),
        tag("div", tag("span", "only here"), tag("span", "most often"), class_="ends"),
        class_="slider",
    )
    chosen = tag(
        "div",
        tag("h3", "Words", id="chosen", aria_live="polite"),
        slider,
        tag("table", tag("caption", "Words of the topic", class_="hidden"), id="words"),
        class_="words",
    )
    return section(
        "topics",
        "The topics and their words",
        tag("p", _topics_help(s)),
        tag("div", *buttons, class_="picker", role="group", aria_label="Choose a topic"),
        tag("div", tag("figure", _map(s, classes), _map_caption(s)), chosen, class_="explorer"),
        tag(
            "p",
            "Words are ranked by relevance, \u03bb log p(word | topic) + (1 \u2212 \u03bb) log of "
            "the same over p(word): at 1 by how often the topic says them, at 0 by how much more "
            "often than the others do. The faint bar is how often a word occurs at all, the "
            "strong one the part of this topic.",
            class_="note",
            id="weight-help",
        ),
    )


def _topics_help(s: Summary) -> str:
    colour = "" if s.response is None else f" and are coloured by expected {s.response}"
    return (
        "Topics that say similar things are close together; circles are as large as their share "
        f"of the words{colour}. Choose one to see its words."
    )


def _map(s: Summary, classes: list[str]) -> Html:
    """Circles in a square, the small ones on top, all numbers above them."""
    most = max(t.share for t in s.topics)
    (x0, y0), places = _places(s)
    spots, names = [], []
    for t in sorted(s.topics, key=lambda t: -t.share):
        x, y = (f"{c:.2f}%" for c in places[t.number - 1])
        r = max(SMALLEST, LARGEST * (t.share / most) ** 0.5)
        names.append(tag("text", str(t.number), x=x, y=y, aria_hidden="true"))
        spots.append(
            tag(
                "g",
                tag("circle", cx=x, cy=y, r=f"{r:.2f}%"),
                class_=f"spot {classes[t.number - 1]}",
                data_topic=str(t.number),
                role="button",
                tabindex="0",
                aria_pressed="false",
                aria_label=f"Topic {t.number}: {', '.join(t.name)}",
            )
        )
    across = line("0", f"{y0:.2f}%", "100%", f"{y0:.2f}%", "grid")
    down = line(f"{x0:.2f}%", "0", f"{x0:.2f}%", "100%", "grid")
    says = "Map of the topics"
    return tag("svg", across, down, *spots, *names, class_="map", role="group", aria_label=says)


def _places(s: Summary) -> tuple[tuple[float, float], list[tuple[float, float]]]:
    """The origin and the topics in per cent of the map, moved apart until each number shows."""
    xs, ys = zip(*(t.place for t in s.topics), strict=True)
    width = max(max(xs) - min(xs), max(ys) - min(ys)) or 1.0
    middle = (max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2

    def place(x: float, y: float) -> tuple[float, float]:
        return (50 + SPAN * (x - middle[0]) / width, 50 - SPAN * (y - middle[1]) / width)

    spots = [place(x, y) for x, y in zip(xs, ys, strict=True)]
    for _ in range(50):
        for i, j in combinations(range(len(spots)), 2):
            (x1, y1), (x2, y2) = spots[i], spots[j]
            apart = math.hypot(x2 - x1, y2 - y1)
            angle = math.atan2(y2 - y1, x2 - x1) if apart > 1e-6 else float(i + j)
            step = max(0.0, APART - apart) / 2
            dx, dy = step * math.cos(angle), step * math.sin(angle)
            spots[i], spots[j] = (x1 - dx, y1 - dy), (x2 + dx, y2 + dy)
    return place(0.0, 0.0), spots


def _map_caption(s: Summary) -> Html:
    key = None
    if s.response is not None:
        steps = [tag("span", class_=f"step l{i}") for i in range(2 * N_LEVELS + 1)]
        low, high = f"lower {s.response}", f"higher {s.response}"
        key = tag("div", tag("span", low), *steps, tag("span", high), class_="key")
    says = f"Two axes show {percent(s.mapped)} of the differences between topics."
    rows = [
        [
            join([f"{t.number}: ", listed(t.name)]),
            percent(t.share),
            *([] if t.effect is None else [fixed(t.effect, s.decimals)]),
            *(number(c) for c in t.place),
        ]
        for t in s.topics
    ]
    heads = ["Topic", "Share", *([] if s.response is None else ["Effect"]), "Across", "Up"]
    behind = numbers_behind(table("The map in numbers", heads, rows))
    return tag("figcaption", key, tag("p", says), behind)


def documents(s: Summary) -> Html:
    """Each topic's words once more, as text, and the documents that are most of it."""
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
        for i, t in enumerate(s.topics)
    ]
    says = (
        "The documents that are most about each topic. A word has the colour of the topic it most "
        "probably came from, given its document; the stronger, the surer."
        if s.examples
        else "The words of each topic."
    )
    choose = s.response is not None and bool(s.examples)
    return section(
        "documents",
        "Documents, word by word" if s.examples else "The words of each topic, listed",
        tag("p", says),
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
    return tag("small", f"{effect}{percent(t.share)} of words")


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
            "The words of this model were not cut as FastCountVectorizer cuts them, so the page "
            "cannot read a document as Python would."
        )
        return section("try", "Try a document of your own", tag("p", why))
    says = "The page itself infers the topics, with the numbers it carries: nothing leaves it."
    return section(
        "try",
        "Try a document of your own",
        tag("p", says),
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
