"""The sections of the page about the choice of the model and its provenance."""

from __future__ import annotations

import math
from itertools import pairwise

import topicprism
from topicprism.show.citations import Source
from topicprism.show.effects import MEASURES_OF_WORDS
from topicprism.show.markup import Html, bdi, join, table, tag
from topicprism.show.report.charts import Frame, axis, dot, figure, line, log_axis
from topicprism.show.report.facts import Choice, Reason, Summary, Trial
from topicprism.show.report.prose import number, plural
from topicprism.show.report.sections import section

MIN_LOG_SCALE_RATIO = 30  # largest over smallest eigenvalue, for a logarithmic axis
LIBRARY = """@software{topicprism,
  title  = {topicprism: supervised topic models by spectral methods},
  author = {{The topicprism developers}},
  note   = {version %s}
}"""
LIBRARY_IS = "The library is topicprism."


def choice(s: Summary) -> Html | None:
    """The spectrum, the scores of other numbers of topics, and the reasons."""
    c = s.choice
    figures = [_spectrum(c) if c.spectrum else None, _trials(c) if c.trials else None]
    reasons = [tag("li", tag("strong", _describe(r)), f": {r.why}.") for r in c.reasons]
    if not any(figures) and not reasons:
        return None
    given = tag("p", f"The number of topics, {c.n_topics}, was set by the user.")
    return section(
        "choice",
        "How many topics",
        tag("ul", *reasons) if reasons else given,
        tag("div", *figures, class_="pair"),
    )


def _describe(r: Reason) -> str:
    match r.parameter:
        case "n_topics":
            return plural(int(r.value), "topic")
        case "alpha0":
            return f"\u03b1\u2080 = {number(r.value)}"
    return f"{r.parameter.replace('_', ' ')} {number(r.value)}"


def _spectrum(c: Choice) -> Html | None:
    values = [v for v in c.spectrum if v > 0]
    if not values:
        return None
    floor = [c.threshold] if c.threshold is not None and c.threshold > 0 else []
    wide = max(values) > MIN_LOG_SCALE_RATIO * min(values)
    height = math.log10 if wide else float
    up = log_axis([*values, *floor]) if wide else axis([0, *values, *floor])
    frame = Frame(axis([1, len(values)], whole=True), up, "rank", "eigenvalue")
    marks = [line("0", up.y(height(v)), "100%", up.y(height(v)), "expected") for v in floor]
    for i, v in enumerate(values):
        kind = "kept" if i < c.n_topics else "left"
        label = f"{i + 1}: {number(v)}"
        marks.append(dot(frame.x.x(i + 1), up.y(height(v)), 4.0, kind, label))
    label = f"Eigenvalues from {number(values[0])} to {number(values[-1])}."
    chart = frame.draw(join(marks), label, logarithmic=wide)
    scale = ", on a logarithmic scale" if wide else ""
    noise = " Eigenvalues below the dashed line may be sampling noise." if floor else ""
    explained = (
        f"Eigenvalues of the second moment{scale}. As many are filled as there are topics.{noise}"
    )
    rows = [[str(i + 1), number(v, 4)] for i, v in enumerate(c.spectrum)]
    behind = table("The spectrum", ["Rank", "Eigenvalue"], rows)
    return figure("The spectrum", chart, explained, behind)


def _trials(c: Choice) -> Html:
    ends = [t.pr2 + sign * t.pr2_std for t in c.trials for sign in (-1, 1)]
    frame = Frame(
        axis([t.n_topics for t in c.trials], whole=True), axis(ends), "topics", "held-out pR\u00b2"
    )
    spots = [(frame.x.x(t.n_topics), frame.y.y(t.pr2)) for t in c.trials]
    marks = [line(*a, *b, "path") for a, b in pairwise(spots)]
    for t, (x, y) in zip(c.trials, spots, strict=True):
        low, high = (frame.y.y(t.pr2 + sign * t.pr2_std) for sign in (-1, 1))
        marks.append(line(x, low, x, high, "whisker"))
        kind = "kept" if t.n_topics == c.n_tried else "left"
        marks.append(dot(x, y, 5.0, kind, f"{t.n_topics} topics: {number(t.pr2)}"))
    best = max(c.trials, key=lambda t: t.pr2)
    rows = [
        [str(t.n_topics), number(t.alpha0), number(t.pr2), number(t.pr2_std, 2), *_of_words(t)]
        for t in c.trials
    ]
    heads = ["Topics", "\u03b1\u2080", "pR\u00b2", "Standard error", "Likelihood", "Coherence"]
    heads += ["Exclusivity", "In common"]
    return figure(
        "Numbers of topics that were tried",
        frame.draw(join(marks), f"Best at {best.n_topics} topics: {number(best.pr2)}."),
        "Predictive R\u00b2 on held-out documents by number of topics. The filled dot is the "
        "number taken, before topics that documents do not support are dropped; bars are one "
        "standard error. Likelihood is that of a word held out; "
        f"{MEASURES_OF_WORDS}.",
        table("Trials", heads, rows),
    )


def _of_words(t: Trial) -> list[str]:
    known = [t.log_likelihood, t.coherence, t.exclusivity]
    common = "" if t.n_in_common is None else str(t.n_in_common)
    return ["" if value is None else number(value, 4) for value in known] + [common]


def _credit(source: Source) -> tuple[str, Html, str]:
    """A sentence on whose a method is."""
    return f"The {source.part} is that of {source.named}, ", tag("cite", source.title), ". "


def about(s: Summary) -> Html:
    """Provenance, and how to cite."""
    facts = [
        *s.about,
        *((f"Left out, {why.replace('_', ' ')}", plural(n, "document")) for why, n in s.left_out),
    ]
    rows = [tag("div", tag("dt", name), tag("dd", bdi(value))) for name, value in facts]
    cite = [
        tag(
            "figure",
            tag("pre", Html(text), tabindex="0", aria_label=f"BibTeX of {what}"),
            tag("button", "Copy", type="button", class_="quiet copy", hidden=True),
            class_="cite",
        )
        for what, text in (
            *((f"the {source.part}", source.bibtex) for source in s.sources),
            ("the library", LIBRARY % topicprism.__version__),
        )
    ]
    return section(
        "about",
        "About this page",
        tag("dl", *rows, class_="about"),
        tag("p", "Topic 1 of this page is row 0 of ", tag("code", "components_"), "."),
        tag("h3", "How to cite"),
        tag("p", f"Method of this fit: {s.choice.method}.") if s.choice.method else None,
        tag("p", *(part for source in s.sources for part in _credit(source)), LIBRARY_IS),
        *cite,
    )
