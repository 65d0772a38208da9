"""The sections of the page about how good the model is, and where it comes from."""

from __future__ import annotations

import math
from itertools import pairwise

import topicprism
from topicprism.report.charts import Frame, axis, boxes, cloud, columns, dot, line, log_axis
from topicprism.report.documents import LEVELS
from topicprism.report.facts import Choice, Fit, Spread, Summary
from topicprism.report.markup import Html, bdi, join, numbers_behind, table, tag
from topicprism.report.prose import fixed, number, percent, plural
from topicprism.report.sections import section

WIDE = 30  # times the smallest eigenvalue, and a logarithm shows them better
PAPER = """@article{ren2018spectral,
  title   = {Spectral Learning for Supervised Topic Models},
  author  = {Ren, Yong and Wang, Yining and Zhu, Jun},
  journal = {IEEE Transactions on Pattern Analysis and Machine Intelligence},
  year    = {2018},
  note    = {arXiv:1602.06025}
}"""
LIBRARY = """@software{topicprism,
  title  = {topicprism: supervised topic models by spectral methods},
  author = {{The topicprism developers}},
  note   = {version %s}
}"""


def fit(s: Summary) -> Html | None:
    """Scores beside the baselines, and predictions beside observations."""
    if not s.scores and s.fit is None:
        return None
    charts = None
    if s.fit is not None:
        charts = tag("div", *_predictions(s.fit, str(s.response)), class_="pair")
    return section("fit", "How well it predicts", _scores(s), _explained(s), charts)


def _scores(s: Summary) -> Html | None:
    if not s.scores:
        return None
    most = max(1e-9, *(value for _, value in s.scores))
    rows = []
    for name, value in s.scores:
        width = f"{max(0.0, 100 * value / most):.2f}%"
        kind = "column" if name.startswith("topicprism") else "overall"
        bar = tag("rect", width=width, height="100%", rx="2", class_=kind)
        rows.append(
            tag(
                "tr",
                tag("th", bdi(name), scope="row"),
                tag("td", tag("svg", bar, class_="bar", aria_hidden="true"), class_="stretch"),
                tag("td", fixed(value, 3), class_="number"),
            )
        )
    heads = [
        tag("th", "Method", scope="col"),
        tag("th", scope="col", aria_hidden="true"),
        tag("th", "pR\u00b2", scope="col", class_="number"),
    ]
    caption = tag("caption", "Predictive R\u00b2: 1 is perfect, 0 is the mean of the responses")
    return tag(
        "table", caption, tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_="scores"
    )


def _explained(s: Summary) -> Html | None:
    if s.fit is None:
        return None
    whose = {
        None: "Whether the model was learnt from them was not recorded.",
        True: "The model was not learnt from them.",
        False: "The model was learnt from them, so expect more error elsewhere.",
    }[s.fit.held_out]
    return tag(
        "p",
        f"Below are {plural(s.fit.n, 'document')}: pR\u00b2 {fixed(s.fit.pr2, 3)}, root mean "
        f"squared error {fixed(s.fit.rmse, s.decimals)}. {whose}",
    )


def _predictions(f: Fit, response: str) -> list[Html]:
    """Predicted against observed; the histogram of residuals; residuals against predicted."""
    observed, predicted = zip(*f.points, strict=True)
    groups = f.by_observed
    discrete = all(g.low == g.high for g in groups)
    gap = min((b.low - a.low for a, b in pairwise(groups)), default=1.0)
    spread = 0.6 * gap if discrete else 0.0
    inner = [q for g in groups for q in g.quantiles]
    main = Frame(
        axis([*observed, groups[0].low - spread, groups[-1].high + spread]),
        axis([*predicted, *inner]),
        f"observed {response}",
        f"predicted {response}",
    )
    low, high = max(main.x.low, main.y.low), min(main.x.high, main.y.high)
    same = line(main.x.x(low), main.y.y(low), main.x.x(high), main.y.y(high), "expected")
    if high <= low:
        same = Html("")
    scatter = join([cloud(f.points, main, spread), same, boxes(groups, main)])
    counted = Frame(
        axis(f.edges, pad=0.02),
        axis([0, 1.05 * max(f.heights)], pad=0.0),
        "observed less predicted",
        "documents",
    )
    tops = columns(f.edges, f.heights, counted)
    zero = line(counted.x.x(0), "0", counted.x.x(0), "100%", "expected")
    residual = [(p, o - p) for o, p in f.points]
    left = Frame(
        axis(predicted),
        axis([*(r for _, r in residual), *(q for g in f.by_predicted for q in g.quantiles)]),
        f"predicted {response}",
        "observed less predicted",
    )
    level = line("0", left.y.y(0), "100%", left.y.y(0), "expected")
    rest = join([cloud(residual, left, 0.0), level, boxes(f.by_predicted, left)])
    medians = ", ".join(f"{number(g.quantiles[2])} at {_range(g)}" for g in groups)
    return [
        _figure(
            "Predicted against observed",
            main.draw(scatter, f"Median prediction: {medians}."),
            "Dots are documents; thick bars hold the middle half of the predictions, thin ones "
            "nine tenths. On the dashed line they would be perfect.",
            _spread_table("Predictions by what was observed", groups, f"Observed {response}"),
        ),
        _figure(
            "Residuals",
            counted.draw(join([tops, zero]), f"Histogram of residuals around {_centre(f)}."),
            "By how much responses differ from their predictions.",
            table(
                "Residuals",
                ["From", "To", "Documents"],
                [
                    [number(a), number(b), f"{n:,}"]
                    for a, b, n in zip(f.edges[:-1], f.edges[1:], f.heights, strict=True)
                ],
            ),
        ),
        _figure(
            "Residuals against predicted",
            left.draw(rest, "Residuals for small to large predictions."),
            "Where the thick bars leave the dashed line, the model is off on average.",
            _spread_table("Residuals by prediction", f.by_predicted, f"Predicted {response}"),
        ),
    ]


def _range(g: Spread) -> str:
    return number(g.low) if g.low == g.high else f"{number(g.low)} to {number(g.high)}"


def _centre(f: Fit) -> str:
    fullest = max(range(len(f.heights)), key=lambda i: f.heights[i])
    return number((f.edges[fullest] + f.edges[fullest + 1]) / 2)


def _spread_table(caption: str, groups: tuple[Spread, ...], of: str) -> Html:
    heads = [of, "Documents", *(percent(level) for level in LEVELS)]
    rows = [[_range(g), f"{g.n:,}", *(number(q) for q in g.quantiles)] for g in groups]
    return table(f"{caption}: quantiles", heads, rows)


def _figure(heading: str, chart: Html, says: str, behind: Html) -> Html:
    caption = tag("figcaption", tag("p", says), numbers_behind(behind))
    return tag("figure", tag("h3", heading), chart, caption)


def choice(s: Summary) -> Html | None:
    """The spectrum, what other numbers of topics would have given, and the reasons."""
    c = s.choice
    figures = [_spectrum(c) if c.spectrum else None, _trials(c) if c.trials else None]
    reasons = [tag("li", tag("strong", name), ": ", why) for name, why in c.reasons]
    if not any(figures) and not reasons:
        return None
    given = tag("p", f"The number of topics, {c.n_topics}, was given.")
    return section(
        "choice",
        "How many topics",
        tag("ul", *reasons) if reasons else given,
        tag("div", *figures, class_="pair"),
    )


def _spectrum(c: Choice) -> Html | None:
    values = [v for v in c.spectrum if v > 0]
    if not values:
        return None
    floor = [c.threshold] if c.threshold is not None and c.threshold > 0 else []
    wide = max(values) > WIDE * min(values)
    height = math.log10 if wide else float
    up = log_axis([*values, *floor]) if wide else axis([0, *values, *floor])
    frame = Frame(axis([1, len(values)], whole=True), up, "rank", "eigenvalue")
    marks = [line("0", up.y(height(v)), "100%", up.y(height(v)), "expected") for v in floor]
    for i, v in enumerate(values):
        kind = "kept" if i < c.n_topics else "left"
        says = f"{i + 1}: {number(v)}"
        marks.append(dot(frame.x.x(i + 1), up.y(height(v)), 4.0, kind, says))
    says = f"Eigenvalues from {number(values[0])} to {number(values[-1])}."
    chart = frame.draw(join(marks), says, logarithmic=wide)
    explained = (
        f"Eigenvalues of the second moment{', on a logarithmic scale' if wide else ''}; filled: as "
        f"many as there are topics.{' Below the dashed line one is chance.' if floor else ''}"
    )
    rows = [[str(i + 1), number(v, 4)] for i, v in enumerate(c.spectrum)]
    behind = table("The spectrum", ["Rank", "Eigenvalue"], rows)
    return _figure("The spectrum", chart, explained, behind)


def _trials(c: Choice) -> Html:
    ends = [t.pr2 + sign * (t.pr2_std or 0.0) for t in c.trials for sign in (-1, 1)]
    frame = Frame(
        axis([t.n_topics for t in c.trials], whole=True), axis(ends), "topics", "held-out pR\u00b2"
    )
    spots = [(frame.x.x(t.n_topics), frame.y.y(t.pr2)) for t in c.trials]
    marks = [line(*a, *b, "path") for a, b in pairwise(spots)]
    for t, (x, y) in zip(c.trials, spots, strict=True):
        if t.pr2_std:
            low, high = (frame.y.y(t.pr2 + sign * t.pr2_std) for sign in (-1, 1))
            marks.append(line(x, low, x, high, "whisker"))
        kind = "kept" if t.n_topics == c.n_topics else "left"
        marks.append(dot(x, y, 5.0, kind, f"{t.n_topics} topics: {number(t.pr2)}"))
    best = max(c.trials, key=lambda t: t.pr2)
    rows = [
        [str(t.n_topics), number(t.pr2), "" if t.pr2_std is None else number(t.pr2_std, 2)]
        for t in c.trials
    ]
    return _figure(
        "What other numbers would have given",
        frame.draw(join(marks), f"Best at {best.n_topics} topics: {number(best.pr2)}."),
        "Predictions of documents held out, by number of topics; filled: the one chosen; bars: "
        "one standard error.",
        table("Trials", ["Topics", "pR\u00b2", "Standard error"], rows),
    )


def about(s: Summary) -> Html:
    """Circumstances, and how to cite."""
    said = [
        *s.about,
        *((f"Left out, {why.replace('_', ' ')}", plural(n, "document")) for why, n in s.left_out),
    ]
    rows = [tag("div", tag("dt", name), tag("dd", bdi(value))) for name, value in said]
    cite = [
        tag(
            "figure",
            tag("pre", Html(text), tabindex="0", aria_label=f"BibTeX of {what}"),
            tag("button", "Copy", type="button", class_="quiet copy", hidden=True),
            class_="cite",
        )
        for what, text in (("the paper", PAPER), ("the library", LIBRARY % topicprism.__version__))
    ]
    return section(
        "about",
        "About this page",
        tag("dl", *rows, class_="about"),
        tag("p", "Topic 1 of this page is row 0 of ", tag("code", "components_"), "."),
        tag("h3", "How to cite"),
        tag(
            "p",
            "The method is that of Yong Ren, Yining Wang and Jun Zhu, ",
            tag("cite", "Spectral Learning for Supervised Topic Models"),
            "; the library is topicprism.",
        ),
        *cite,
    )
