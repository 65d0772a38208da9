"""The section about how well the model predicts."""

from __future__ import annotations

from itertools import pairwise

from topicprism.show.markup import Html, bdi, join, table, tag
from topicprism.show.report.charts import Frame, axis, boxes, cloud, columns, figure, line
from topicprism.show.report.documents import LEVELS
from topicprism.show.report.facts import Fit, QuantileGroup, Summary
from topicprism.show.report.prose import fixed, number, percent, plural
from topicprism.show.report.sections import section


def fit(s: Summary) -> Html | None:
    """Scores beside the baselines, and predictions beside observations."""
    if not s.scores and s.fit is None:
        return None
    charts = None
    if s.fit is not None:
        drawn = (
            _scatter(s.fit, s.fitted_response),
            _histogram(s.fit),
            _residuals(s.fit, s.fitted_response),
        )
        charts = tag("div", *drawn, class_="pair")
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
    of = "" if s.scale is None else f" of {s.fitted_response}"
    meaning = "1 is perfect, 0 is as good as the mean response"
    caption = tag("caption", f"Predictive R\u00b2{of}: {meaning}")
    return tag(
        "table", caption, tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_="scores"
    )


def _explained(s: Summary) -> Html | None:
    if s.fit is None:
        return None
    whose = {
        None: "Whether they were used for fitting was not recorded.",
        True: "They were held out of the fit.",
        False: "They are of the training table, so errors on new documents will be larger.",
    }[s.fit.held_out]
    rmse = fixed(s.fit.rmse, s.decimals) if s.scale is None else number(s.fit.rmse)
    return tag(
        "p",
        f"Below are {plural(s.fit.n, 'document')}: pR\u00b2 {fixed(s.fit.pr2, 3)}, root mean "
        f"squared error {rmse}. {whose}",
    )


def _scatter(f: Fit, response: str) -> Html:
    """Predicted against observed."""
    groups = f.by_observed
    gap = min((b.low - a.low for a, b in pairwise(groups)), default=1.0)
    jitter = 0.6 * gap if all(g.low == g.high for g in groups) else 0.0
    frame = Frame(
        axis([x + side * jitter for x, _ in f.points for side in (-1, 1)]),
        axis([*(y for _, y in f.points), *(q for g in groups for q in g.quantiles)]),
        f"observed {response}",
        f"predicted {response}",
    )
    low, high = max(frame.x.low, frame.y.low), min(frame.x.high, frame.y.high)
    ends = (frame.x.x(low), frame.y.y(low), frame.x.x(high), frame.y.y(high))
    same = line(*ends, "expected") if low < high else None
    medians = ", ".join(f"{number(g.quantiles[2])} at {_range(g)}" for g in groups)
    return figure(
        "Predicted against observed",
        frame.draw(
            join([cloud(f.points, frame, jitter), same, boxes(groups, frame)]),
            f"Median prediction: {medians}.",
        ),
        "Dots are documents; thick bars cover the middle 50\u00a0% of the predictions, thin bars "
        "90\u00a0%. The dashed line is perfect prediction.",
        _quantile_table("Predictions by observed response", groups, f"Observed {response}"),
    )


def _histogram(f: Fit) -> Html:
    """Residuals, counted."""
    up = axis([0, 1.05 * max(f.heights)], pad=0.0)
    frame = Frame(axis(f.edges, pad=0.02), up, "observed less predicted", "documents")
    zero = line(frame.x.x(0), "0", frame.x.x(0), "100%", "expected")
    fullest = f.heights.index(max(f.heights))
    centre = number((f.edges[fullest] + f.edges[fullest + 1]) / 2)
    rows = [
        [number(low), number(high), f"{n:,}"]
        for (low, high), n in zip(pairwise(f.edges), f.heights, strict=True)
    ]
    return figure(
        "Residuals",
        frame.draw(
            join([columns(f.edges, f.heights, frame), zero]),
            f"Histogram of residuals, highest at {centre}.",
        ),
        "Observed less predicted response.",
        table("Residuals", ["From", "To", "Documents"], rows),
    )


def _residuals(f: Fit, response: str) -> Html:
    """Residuals against predicted."""
    points = [(predicted, observed - predicted) for observed, predicted in f.points]
    inner = [q for g in f.by_predicted for q in g.quantiles]
    frame = Frame(
        axis([x for x, _ in points]),
        axis([*(y for _, y in points), *inner]),
        f"predicted {response}",
        "observed less predicted",
    )
    zero = line("0", frame.y.y(0), "100%", frame.y.y(0), "expected")
    medians = ", ".join(f"{number(g.quantiles[2])} at {_range(g)}" for g in f.by_predicted)
    return figure(
        "Residuals against predicted",
        frame.draw(
            join([cloud(points, frame, 0.0), zero, boxes(f.by_predicted, frame)]),
            f"Median residual: {medians}.",
        ),
        "Where the thick bars do not cross the dashed line, predictions are biased.",
        _quantile_table("Residuals by prediction", f.by_predicted, f"Predicted {response}"),
    )


def _range(g: QuantileGroup) -> str:
    return number(g.low) if g.low == g.high else f"{number(g.low)} to {number(g.high)}"


def _quantile_table(caption: str, groups: tuple[QuantileGroup, ...], of: str) -> Html:
    heads = [of, "Documents", *(percent(level) for level in LEVELS)]
    rows = [[_range(g), f"{g.n:,}", *(number(q) for q in g.quantiles)] for g in groups]
    return table(f"{caption}: quantiles", heads, rows)
