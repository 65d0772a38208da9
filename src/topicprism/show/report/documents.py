"""The documents a summary looks at: examples of topics, and predictions beside responses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from topicprism._typing import Counts, Doc, DocTopic
from topicprism.evaluation import pr2
from topicprism.scales import Scale, fitted
from topicprism.show.report.colouring import Colouring, beginning
from topicprism.show.report.facts import Example, Fit, QuantileGroup
from topicprism.show.report.fitted import Fitted
from topicprism.validation import check_counts, check_response, refuse_masked
from topicprism.vectorizer.counting import documents

MAX_DOCUMENTS = 20_000  # documents at most; more are thinned out evenly
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)  # of the quantiles of a QuantileGroup
N_EXAMPLES, MAX_EXCERPT_CHARACTERS, MIN_KNOWN = (
    3,
    700,
    8,
)  # documents of a topic, characters, known words
N_POINTS, N_GROUPS, MAX_VALUES, N_BARS = 600, 8, 12, 24
MIN_GROUP_DOCUMENTS = 5  # documents to take quantiles of


@dataclass(frozen=True)
class Seen:
    texts: list[str] | None
    counts: Counts
    y: Doc | None
    h: DocTopic
    y_hat: Doc

    @property
    def lengths(self) -> Doc:
        return np.asarray(self.counts.sum(axis=1), float).ravel()


def look(what: Fitted, texts: Any, y: Any, counts: Any) -> Seen | None:
    """Infer topics and responses of the documents, if there are any."""
    if texts is None and counts is None:
        if y is not None:
            raise ValueError(
                f"got y of {len(y)} numbers without documents, but predictions need them; pass "
                "texts or counts too"
            )
        return None
    listed = None if texts is None else list(documents(texts))
    n = int(counts.shape[0]) if listed is None else len(listed)
    if counts is not None and tuple(counts.shape) != (n, what.model.n_words):
        raise ValueError(
            f"counts have shape {tuple(counts.shape)}, but there are {n} documents and the model "
            f"was learnt on {what.model.n_words} words; pass the counts of these documents"
        )
    if n == 0:
        raise ValueError(
            "got 0 documents, but at least one was expected; leave texts out for a page about the "
            "model alone"
        )
    kept = evenly(n, MAX_DOCUMENTS)
    response = None
    if y is not None and what.supervised:
        refuse_masked(y, "responses y")
        response = check_response(column_or_1d(y), n)[kept]
    if listed is not None:
        listed = [listed[i] for i in kept]
    X = check_counts(what.vectoriser.transform(listed) if counts is None else counts[kept])
    h = what.infer(X)
    return Seen(listed, X, response, h, what.predict(X, h))


def evenly(n: int, most: int) -> list[int]:
    """At most so many of the numbers 0 ... n - 1, evenly spaced."""
    kept: list[int] = np.unique(np.linspace(0, n - 1, min(n, most)).astype(int)).tolist()
    return kept


def examples(what: Fitted, seen: Seen) -> tuple[Example, ...]:
    """For each topic the documents that are most of it, and long enough to tell."""
    if seen.texts is None or what.reading is None:
        return ()
    columns = {word: i for i, word in enumerate(what.words)}
    colouring = Colouring(what.reading, columns, what.model.mu)
    lengths = np.minimum(seen.lengths, MIN_KNOWN)
    found = []
    for i, h in enumerate(seen.h.T):
        best = np.lexsort((-h, -lengths))[:N_EXAMPLES]
        for d in best[lengths[best] > 0].tolist():
            text = beginning(seen.texts[d], MAX_EXCERPT_CHARACTERS)
            found.append(
                Example(
                    topic=i + 1,
                    shares=tuple(seen.h[d].tolist()),
                    observed=None if seen.y is None else float(seen.y[d]),
                    predicted=float(seen.y_hat[d]) if what.supervised else None,
                    pieces=colouring.pieces(text, seen.h[d]),
                    whole=len(text) == len(seen.texts[d]),
                )
            )
    return tuple(found)


def fit_of(seen: Seen, held_out: bool | None, scale: Scale = None) -> Fit | None:
    """How close predictions are, on the scale that was fitted; None if nothing is to predict."""
    if seen.y is None or np.ptp(seen.y) == 0:
        return None
    y, y_hat = fitted(scale, seen.y), fitted(scale, seen.y_hat)
    residual = y - y_hat
    heights, edges = np.histogram(residual, bins=N_BARS)
    return Fit(
        n=len(y),
        held_out=held_out,
        pr2=pr2(y, y_hat),
        rmse=float(np.sqrt((residual**2).mean())),
        points=tuple((float(y[i]), float(y_hat[i])) for i in evenly(len(y), N_POINTS)),
        by_observed=quantile_groups(y, y_hat),
        by_predicted=quantile_groups(y_hat, residual),
        edges=tuple(edges.tolist()),
        heights=tuple(heights.tolist()),
    )


def quantile_groups(x: Doc, values: Doc) -> tuple[QuantileGroup, ...]:
    """Quantiles of the values for each x; for ranges of it if there are many different ones.

    Ranges with too few documents for quantiles are left out.
    """
    edges, fewest = np.unique(x), 1
    if len(edges) > MAX_VALUES:
        edges, fewest = np.linspace(edges[0], edges[-1], N_GROUPS + 1)[:-1], MIN_GROUP_DOCUMENTS
    group = np.searchsorted(edges, x, side="right")
    names, sizes = np.unique(group, return_counts=True)
    kept = names[sizes >= min(fewest, sizes.max())]
    parts = [(x[group == g], values[group == g]) for g in kept]
    return tuple(
        QuantileGroup(
            float(at.min()), float(at.max()), len(at), tuple(np.quantile(part, LEVELS).tolist())
        )
        for at, part in parts
    )
