"""Charts as SVG.

Marks are placed in per cent of the plot, so that a chart fills whatever room it is given and its
letters and dots keep their size; no script is needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from topicprism.scales import LOG1P, Scale, fitted, unscaled
from topicprism.show.markup import Html, join, numbers_behind, tag, typeset
from topicprism.show.report.facts import QuantileGroup
from topicprism.show.report.prose import number

N_TICKS = 6  # or fewer
STEPS = ((1, 2, 5), (1, 3), (1,))  # ticks between powers of ten, the more the better
GOLDEN = 0.6180339887  # multiples of it fall evenly between 0 and 1


@dataclass(frozen=True)
class Axis:
    """From ``low`` at 0 % to ``high`` at 100 %."""

    low: float
    high: float
    ticks: tuple[float, ...] = ()

    def share(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low)

    def x(self, value: float) -> str:
        return f"{100 * self.share(value):.2f}%"

    def y(self, value: float) -> str:
        return f"{100 - 100 * self.share(value):.2f}%"


def axis(values: Iterable[float], pad: float = 0.05, *, whole: bool = False) -> Axis:
    """Room for all values and a little more, with round numbers to read them by."""
    known = list(values)
    low, high = min(known), max(known)
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        low, high = low - 1, high + 1
    margin = pad * (high - low)
    low, high = low - margin, high + margin
    step = round_step((high - low) / N_TICKS)
    step = max(step, 1.0) if whole else step
    first = math.ceil(low / step)
    ticks = tuple(i * step for i in range(first, math.floor(high / step) + 1))
    return Axis(low, high, ticks)


def log_axis(values: Iterable[float]) -> Axis:
    """The same for logarithms (base 10) of positive values: powers of ten."""
    logs = [math.log10(v) for v in values]
    low, high = math.floor(min(logs)), math.ceil(max(logs) - 1e-3)
    high = max(high, low + 1)
    step = max(1, (high - low) // 5)
    margin = 0.03 * (high - low)
    return Axis(low - margin, high + margin, tuple(map(float, range(low, high + 1, step))))


def round_ticks(scale: Scale, shown: Axis) -> tuple[float, ...]:
    """Where 1, 2, 5, 10, 20, ... are on a logarithmic axis, or fewer of them, and 0 if it is."""
    low, high = (float(unscaled(scale, end)) for end in (shown.low, shown.high))
    first, last = (math.floor(math.log10(max(end, 0.1 * (scale == LOG1P)))) for end in (low, high))
    powers = [10.0**e for e in range(first, last + 1)]
    choices = [[m * p for p in powers for m in some if low <= m * p <= high] for some in STEPS]
    few = next((ticks for ticks in choices if len(ticks) <= N_TICKS), choices[-1])
    zero = [0.0] if low == 0 else []
    kept = fitted(scale, [*zero, *few[:: -(-len(few) // N_TICKS) or 1]])
    return tuple(kept.tolist())


def round_step(width: float) -> float:
    """1, 2 or 5 times a power of ten, not below the width."""
    power = 10.0 ** math.floor(math.log10(width))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= width * (1 - 1e-9))


def tick_label(value: float) -> str:
    return typeset(f"{value:,.6g}")


def power_label(value: float) -> str:
    signs = str.maketrans(
        "-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
    )
    return "1" if value == 0 else "10" if value == 1 else "10" + f"{value:.0f}".translate(signs)


@dataclass(frozen=True)
class Frame:
    """Two axes and what they are called."""

    x: Axis
    y: Axis
    x_title: str
    y_title: str

    def draw(self, marks: Html, description: str, *, logarithmic: bool = False) -> Html:
        """The marks between the axes; ``description`` is for screen readers."""
        label = power_label if logarithmic else tick_label
        across = [line("0%", self.y.y(t), "100%", self.y.y(t), "grid") for t in self.y.ticks]
        down = [line(self.x.x(t), "0%", self.x.x(t), "100%", "grid") for t in self.x.ticks]
        left = [tag("text", label(t), x="100%", y=self.y.y(t)) for t in self.y.ticks]
        below = [tag("text", tick_label(t), x=self.x.x(t), y="14") for t in self.x.ticks]
        return tag(
            "div",
            tag("div", self.y_title, class_="y-title"),
            tag("svg", *left, class_="y-axis"),
            tag("svg", *across, *down, marks, class_="plot"),
            tag("svg", *below, class_="x-axis"),
            tag("div", self.x_title, class_="x-title"),
            class_="chart",
            role="img",
            aria_label=description,
        )


def line(x1: str, y1: str, x2: str, y2: str, class_: str) -> Html:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def dot(x: str, y: str, r: float, class_: str, label: str | None = None) -> Html:
    title = None if label is None else tag("title", label)
    return tag("circle", title, cx=x, cy=y, r=r, class_=class_)


def cloud(points: Sequence[tuple[float, float]], frame: Frame, jitter: float) -> Html:
    """Dots, moved apart sideways by up to half of ``jitter``."""
    shifts = ((i * GOLDEN % 1 - 0.5) * jitter for i in range(len(points)))
    return join(
        dot(frame.x.x(x + shift), frame.y.y(y), 2.0, "dot")
        for (x, y), shift in zip(points, shifts, strict=True)
    )


def boxes(groups: Sequence[QuantileGroup], frame: Frame) -> Html:
    """From the 5 % to the 95 % quantile thin, between the quartiles thick, at the median a dot."""
    marks = []
    for g in groups:
        at = frame.x.x((g.low + g.high) / 2)
        ends = [frame.y.y(q) for q in g.quantiles]
        middle = f"{number(g.low)} to {number(g.high)}" if g.high > g.low else number(g.low)
        label = f"{middle}: median {number(g.quantiles[2])}, {g.n:,} documents"
        marks += [
            line(at, ends[0], at, ends[4], "whisker"),
            line(at, ends[1], at, ends[3], "box"),
            dot(at, ends[2], 4.0, "median", label),
        ]
    return join(marks)


def columns(edges: Sequence[float], heights: Sequence[int], frame: Frame) -> Html:
    """A histogram; neighbours are kept apart by a hair."""
    bars = []
    for low, high, height in zip(edges[:-1], edges[1:], heights, strict=True):
        top = frame.y.share(height)
        bars.append(
            tag(
                "rect",
                tag("title", f"{number(low)} to {number(high)}: {height:,} documents"),
                x=frame.x.x(low),
                y=f"{100 - 100 * top:.2f}%",
                width=f"{96 * (frame.x.share(high) - frame.x.share(low)):.2f}%",
                height=f"{100 * (top - frame.y.share(0)):.2f}%",
                class_="column",
            )
        )
    return join(bars)


def figure(heading: str, chart: Html, explained: str, behind: Html) -> Html:
    """A chart with what it shows, in words and in a table behind it."""
    caption = tag("figcaption", tag("p", explained), numbers_behind(behind))
    return tag("figure", tag("h3", heading), chart, caption)
