"""The section with the map of topics and the words of the chosen one."""

from __future__ import annotations

import math
from itertools import combinations

from topicprism.show.markup import Html, join, listed, numbers_behind, table, tag
from topicprism.show.report.charts import line
from topicprism.show.report.facts import Summary
from topicprism.show.report.prose import fixed, number, percent
from topicprism.show.report.sections import N_LEVELS, badge, looks, section
from topicprism.show.words import WEIGHT

MIN_RADIUS, MAX_RADIUS = 2.6, 10.5  # radius of a topic on the map, in per cent of its width
MAP_WIDTH, MIN_DISTANCE = 70, 5.5  # of the whole map, and of two topics at least, in the same
RELEVANCE = (
    "Words are ranked by relevance, \u03bb log p(word | topic) + (1 \u2212 \u03bb) log of the same "
    "over p(word): at \u03bb = 1 by their probability in the topic, at \u03bb = 0 by the ratio of "
    "that to their overall probability. The probability counts up to a bound, so that of "
    "words common in all documents the more specific come first. The faint bar is how often a "
    "word occurs in all topics, the strong bar how often in this one."
)


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
    chosen = tag(
        "div",
        tag("h3", "Words", id="chosen", aria_live="polite"),
        _slider(),
        tag("table", tag("caption", "Words of the topic", class_="hidden"), id="words"),
        class_="words",
    )
    return section(
        "topics",
        "The topics and their words",
        tag("p", _topics_help(s)),
        tag("div", *buttons, class_="picker", role="group", aria_label="Choose a topic"),
        tag("div", tag("figure", _map(s, classes), _map_caption(s)), chosen, class_="explorer"),
        tag("p", RELEVANCE, class_="note", id="weight-help"),
    )


def _slider() -> Html:
    weight = tag("output", str(WEIGHT), for_="weight")
    return tag(
        "div",
        tag("label", "Weight \u03bb: ", weight, for_="weight"),
        Html(
            f'<input id="weight" type="range" min="0" max="1" step="0.01" value="{WEIGHT}" '
            'aria-describedby="weight-help">'
        ),
        tag("div", tag("span", "most specific"), tag("span", "most frequent"), class_="ends"),
        class_="slider",
    )


def _topics_help(s: Summary) -> str:
    colour = "" if s.response is None else f", their colour shows {s.mean_of} {s.response}"
    return (
        "Topics with similar word probabilities are close together. The area of a circle shows the "
        f"topic's share {s.share_of}{colour}. Choose a topic to see its words."
    )


def _map(s: Summary, classes: list[str]) -> Html:
    """Circles in a square, the small ones on top, all numbers above them."""
    most = max(t.share for t in s.topics)
    (x0, y0), places = _places(s)
    spots, names = [], []
    for t in sorted(s.topics, key=lambda t: -t.share):
        x, y = (f"{c:.2f}%" for c in places[t.number - 1])
        r = max(MIN_RADIUS, MAX_RADIUS * (t.share / most) ** 0.5)
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
    label = "Map of the topics"
    return tag("svg", across, down, *spots, *names, class_="map", role="group", aria_label=label)


def _places(s: Summary) -> tuple[tuple[float, float], list[tuple[float, float]]]:
    """The origin and the topics in per cent of the map, moved apart until each number shows."""
    xs, ys = zip(*(t.place for t in s.topics), strict=True)
    width = max(max(xs) - min(xs), max(ys) - min(ys)) or 1.0
    middle = (max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2

    def place(x: float, y: float) -> tuple[float, float]:
        return (50 + MAP_WIDTH * (x - middle[0]) / width, 50 - MAP_WIDTH * (y - middle[1]) / width)

    spots = [place(x, y) for x, y in zip(xs, ys, strict=True)]
    for _ in range(50):
        for i, j in combinations(range(len(spots)), 2):
            (x1, y1), (x2, y2) = spots[i], spots[j]
            apart = math.hypot(x2 - x1, y2 - y1)
            angle = math.atan2(y2 - y1, x2 - x1) if apart > 1e-6 else float(i + j)
            step = max(0.0, MIN_DISTANCE - apart) / 2
            dx, dy = step * math.cos(angle), step * math.sin(angle)
            spots[i], spots[j] = (x1 - dx, y1 - dy), (x2 + dx, y2 + dy)
    return place(0.0, 0.0), spots


def _map_caption(s: Summary) -> Html:
    key = None
    if s.response is not None:
        steps = [tag("span", class_=f"step l{i}") for i in range(2 * N_LEVELS + 1)]
        low, high = f"lower {s.response}", f"higher {s.response}"
        key = tag("div", tag("span", low), *steps, tag("span", high), class_="key")
    note = f"The two axes show {percent(s.mapped)} of the differences between topics."
    rows = [
        [
            join([f"{t.number}: ", listed(t.name)]),
            percent(t.share),
            *([] if t.effect is None else [fixed(t.effect, s.decimals)]),
            *(number(c) for c in t.place),
        ]
        for t in s.topics
    ]
    effect = [] if s.response is None else ["Effect"]
    heads = ["Topic", f"Share {s.share_of}", *effect, "Across", "Up"]
    behind = numbers_behind(table("The map in numbers", heads, rows))
    return tag("figcaption", key, tag("p", note), behind)
