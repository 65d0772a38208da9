"""Pictures of what was learnt, by matplotlib (``pip install 'topicprism[plot]'``).

Each function takes a fitted pipeline, or a fitted estimator and its words, and returns what
it drew on; the caller saves or shows it.  Topics are numbered from 1, as on the page and in
the terminal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from topicprism._typing import Ints
from topicprism.scales import LOG, LOG1P
from topicprism.show.effects import Effects, effects, percent
from topicprism.show.words import WEIGHT

BELOW, ABOVE, GREY = "#b5541c", "#1f6fad", "#767676"
MAX_WORD_CHARACTERS, MAX_LABEL_CHARACTERS = 24, 70
LOGARITHMIC: dict[str, dict[str, Any]] = {
    LOG: {"value": "log"},
    LOG1P: {"value": "symlog", "linthresh": 1.0},
}
MEASURES = {  # of a number of topics
    "pr2": "predictive R² on held-out documents",
    "log_likelihood": "log-likelihood per held-out word",
    "coherence": "coherence of top words (NPMI)",
    "exclusivity": "exclusivity of top words",
}
MIN_PROBABILITY = 1e-12  # of a word in a topic, where zero is not allowed


def plot_effects(
    fitted: Any,
    words: Any = None,
    *,
    n_words: int = 6,
    by: str = "relevance",
    weight: float = WEIGHT,
    label: Any = None,
    ax: Any = None,
) -> Any:
    """How the response differs between topics: a dot with its interval of 95 %, if that is known.

    No document is all of one topic, so that dots may lie beyond all responses: then a band shows
    where these are, if ``fitted`` is a pipeline, which remembers.

    Parameters
    ----------
    fitted : pipeline or estimator
        Fitted, with a response.
    words : sequence of str or None, default=None
        The vocabulary, for an estimator; a pipeline knows its own.
    n_words, by, weight
        Words shown for each topic, as in :func:`topicprism.show.words.top_words`.
    label : object, default=None
        The class to look at, for a classifier; the last by default.
    ax : matplotlib Axes or None, default=None
        Where to draw; by default on a new figure as high as the topics need.

    Returns
    -------
    matplotlib Axes
    """
    shown = _effects(fitted, words, label)
    if shown.coef is None:
        raise ValueError(
            f"got a {type(_topics(fitted)).__name__}, which has no coefficients, but expected an "
            "estimator with a response; use plot_topics"
        )
    k, order = shown.model.n_topics, shown.order
    ax = _axes((9, 1.1 + 0.36 * k)) if ax is None else ax
    coef, y = shown.coef[order], np.arange(k)
    colours = np.where(coef < shown.average, BELOW, ABOVE)
    if not shown.predicts:
        ax.set_title("the words do not predict the response", fontsize="small", color=GREY)
    if shown.interval is not None:
        low, high = (end[order] for end in shown.interval)
        ax.hlines(y, low, high, colors=colours, lw=2.2, alpha=0.45)
    ax.scatter(coef, y, s=30 + 120 * shown.share[order], c=colours, zorder=3)
    ax.axvline(shown.average, color=GREY, lw=1, ls=(0, (4, 3)), zorder=0)
    ax.annotate(
        "average", (shown.average, 1), (0, 3), xycoords=("data", "axes fraction"), color=GREY,
        textcoords="offset points", ha="center", va="bottom", fontsize="small",
    )  # fmt: skip
    if shown.left is not None:
        ax.axvspan(*shown.left, color=GREY, alpha=0.12, lw=0, zorder=-1, label="as observed")
        ax.legend(frameon=False, loc="upper right", fontsize="small")  # empty: effects rise
    if shown.scale is not None:
        ax.set_xscale(**LOGARITHMIC[shown.scale])
    words = shown.top_words(n_words, by, weight)
    ax.set_yticks(y, [f"{_listed(words[i])}  {i + 1}" for i in order])
    ax.set(xlabel=_plain(shown.label) + " expected of a document of one topic only")
    ax.set_ylim(k - 0.3, -0.7)  # the first topic on top, as in tables
    _shares(ax, shown, order)
    return _bare(ax, left=False)


def plot_topics(
    fitted: Any,
    words: Any = None,
    *,
    n_words: int = 10,
    by: str = "relevance",
    weight: float = WEIGHT,
    label: Any = None,
    n_columns: int = 4,
) -> Any:
    """The words of each topic in a panel of its own; bars are their probabilities.

    Parameters
    ----------
    fitted, words, n_words, by, weight, label
        As in :func:`plot_effects`; a response is not needed.
    n_columns : int, default=4
        Panels side by side.

    Returns
    -------
    matplotlib Figure
    """
    shown = _effects(fitted, words, label)
    k = shown.model.n_topics
    n_columns = min(max(n_columns, 1), k)
    n_rows = -(-k // n_columns)
    size = (2.6 * n_columns, 0.55 + (0.65 + 0.19 * n_words) * n_rows)
    figure, panels = _pyplot().subplots(
        n_rows, n_columns, figsize=size, squeeze=False, layout="constrained"
    )
    ids = shown.top_ids(n_words, by, weight)
    for ax, i in zip(panels.flat, shown.order, strict=False):
        p = shown.model.mu[ids[i], i]
        ax.barh(np.arange(len(p)), p, color=_colour(shown, int(i)), alpha=0.75, height=0.72)
        ax.set_yticks(np.arange(len(p)), [_plain(shown.words[w]) for w in ids[i]], fontsize="small")
        ax.set_ylim(n_words - 0.4, -0.6)
        ax.set_title(_caption(shown, int(i)), fontsize="medium", loc="left")
        ax.xaxis.set_major_formatter(lambda x, _: f"{x:.3g}")
        ax.locator_params(axis="x", nbins=3)
        ax.tick_params(axis="x", labelsize="x-small")
        _bare(ax, left=False)
    for ax in panels.flat[k:]:
        ax.set_visible(False)
    below = "bars: probability of the word in the topic"
    if shown.coef is not None:
        below += f"; titles: {_plain(shown.label)} expected of a document of this topic only"
    figure.supxlabel(below, fontsize="small", color=GREY)
    return figure


def plot_spectrum(fitted: Any, *, ax: Any = None) -> Any:
    """Eigenvalues of the second moment: those that topics took, and where chance begins.

    Parameters
    ----------
    fitted : pipeline or estimator
        A fitted spectral one.
    ax : matplotlib Axes or None, default=None
        Where to draw.

    Returns
    -------
    matplotlib Axes
    """
    topics = _topics(fitted)
    selection = getattr(topics, "selection_", None)
    values = getattr(selection or topics, "spectrum" if selection else "spectrum_", None)
    if values is None:
        raise ValueError(
            f"got a {type(topics).__name__}, which has no spectrum, but expected a SpectralSLDA "
            "or a SpectralLDA; fit one of these"
        )
    ax = _axes((7, 4)) if ax is None else ax
    rank = np.arange(1, len(values) + 1)
    used, shown = rank <= topics.model_.n_topics, np.asarray(values) > 0
    for which, look in (
        (used, {"color": ABOVE, "label": "number of topics"}),
        (~used, {"color": GREY, "mfc": "none", "label": "others"}),
    ):
        if (which & shown).any():
            ax.plot(rank[which & shown], values[which & shown], "o", ms=6, **look)
    threshold = getattr(selection, "threshold", None)
    if threshold:
        name = "limit of sampling noise"
        ax.axhline(threshold, color=BELOW, lw=1.2, ls=(0, (4, 3)), label=name)
    ax.set_yscale("log")
    ax.locator_params(axis="x", integer=True)
    ax.set(xlabel="rank", ylabel="eigenvalue of the second moment")
    ax.legend(frameon=False)
    return _bare(ax)


def plot_selection(fitted: Any, measure: str = "pr2", *, ax: Any = None) -> Any:
    """How good each number of topics tried was; the chosen one marked.

    Where none was tried, because the spectrum shows a clear number or one was set, it is marked in
    the spectrum.

    Parameters
    ----------
    fitted : pipeline or estimator
        A fitted spectral one, or the default.
    measure : {"pr2", "log_likelihood", "coherence", "exclusivity"}, default="pr2"
        What to show of each: how well it predicts documents held out, with one standard error;
        the log-likelihood per word of these; NPMI or exclusivity of top words, means over topics.
    ax : matplotlib Axes or None, default=None
        Where to draw.

    Returns
    -------
    matplotlib Axes
    """
    if measure not in MEASURES:
        listed = ", ".join(map(repr, MEASURES))
        raise ValueError(f"got measure={measure!r}, but expected one of {listed}; choose one")
    topics = _topics(fitted)
    selection: Any = getattr(topics, "selection_", None)
    trials = getattr(selection, "trials", ())
    if not trials:
        asked = topics.n_topics == topics.model_.n_topics
        ax = plot_spectrum(fitted, ax=ax)
        return _mark(ax, topics.model_.n_topics, "asked for" if asked else "chosen")
    value = [getattr(t, measure) for t in trials]
    if None in value:
        raise ValueError(
            f"got measure={measure!r}, but this model was fitted by a version that did not measure "
            "it; fit it again, or take 'pr2'"
        )
    ax = _axes((7, 4)) if ax is None else ax
    k, std = np.array([(t.n_topics, t.pr2_std) for t in trials]).T
    error = std if measure == "pr2" else None
    ax.errorbar(k, np.array(value), error, fmt="o-", color=ABOVE, ms=6, lw=1.4, capsize=3)
    ax.set_xscale("log")  # they are tried so
    ax.minorticks_off()
    ax.set_xticks(k, [f"{t.n_topics}\nalpha0 {t.alpha0:g}" for t in trials])
    ax.set(xlabel="number of topics", ylabel=MEASURES[measure])
    return _bare(_mark(ax, selection.n_topics, "chosen"))


def to_pyldavis(fitted: Any, X: Any, words: Any = None) -> dict[str, Any]:
    """What ``pyLDAvis.prepare`` takes, as ``pyLDAvis.prepare(**to_pyldavis(pipeline, texts))``.

    Words that these documents never use and documents without words are left out, and no
    probability is exactly zero: pyLDAvis divides by the one and takes logarithms of the other.

    Parameters
    ----------
    fitted : pipeline or estimator
    X : texts for a pipeline, counts for an estimator
        The documents to show.
    words : sequence of str or None, default=None
        The vocabulary, for an estimator.

    Returns
    -------
    dict
        ``topic_term_dists``, ``doc_topic_dists``, ``doc_lengths``, ``vocab`` and
        ``term_frequency``.
    """
    topics = _topics(fitted)
    counts = topics._counts(fitted[:-1].transform(X) if isinstance(fitted, Pipeline) else X)
    shown = _effects(fitted, words, None)
    lengths, frequency = (np.asarray(counts.sum(axis=axis)).ravel() for axis in (1, 0))
    documents, used = np.flatnonzero(lengths), np.flatnonzero(frequency)
    if len(documents) == 0:
        raise ValueError(
            f"none of {len(lengths)} documents has a word of the vocabulary, but at least one "
            "was expected; pass texts or counts like those of training"
        )
    probabilities = shown.model.mu[used].T + MIN_PROBABILITY
    return {
        "topic_term_dists": probabilities / probabilities.sum(axis=1, keepdims=True),
        "doc_topic_dists": np.asarray(topics.transform(counts))[documents],
        "doc_lengths": lengths[documents],
        "vocab": [str(word) for word in shown.words[used]],
        "term_frequency": frequency[used],
    }


# --- pieces ---------------------------------------------------------------------------


def _topics(fitted: Any) -> Any:
    """The estimator, whether alone or last of a pipeline."""
    check_is_fitted(fitted)
    topics = fitted[-1] if isinstance(fitted, Pipeline) else fitted
    if not hasattr(topics, "model_"):
        raise ValueError(
            f"got a {type(topics).__name__}, but expected a fitted estimator of topicprism, alone "
            "or last of a pipeline; pass one of these"
        )
    return topics


def _effects(fitted: Any, words: Any, label: Any) -> Effects:
    _topics(fitted)  # or a sentence about what it is instead
    return effects(fitted, words, label)


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(
            "plots need matplotlib, which is not installed; pip install 'topicprism[plot]'"
        ) from None
    return pyplot


def _axes(size: tuple[float, float]) -> Any:
    return _pyplot().subplots(figsize=size, layout="constrained")[1]


def _bare(ax: Any, left: bool = True) -> Any:
    """Fewer lines."""
    ax.spines[["top", "right"] if left else ["top", "right", "left"]].set_visible(False)
    if not left:
        ax.tick_params(axis="y", length=0)
    return ax


def _mark(ax: Any, n_topics: int, why: str) -> Any:
    """The number of topics, on the axis of such numbers."""
    ax.axvline(n_topics, color=GREY, lw=1, ls=(0, (4, 3)), zorder=0)
    ax.annotate(
        f"{why}: {n_topics}", (n_topics, 1), (0, 3), ha="center", va="bottom",
        xycoords=("data", "axes fraction"), textcoords="offset points", color=GREY,
        fontsize="small",
    )  # fmt: skip
    return ax


def _shares(ax: Any, shown: Effects, order: Ints) -> None:
    """How much each topic is, on the right."""
    for y, i in enumerate(order):
        ax.annotate(
            percent(shown.share[i]), (1, y), (4, 0), xycoords=("axes fraction", "data"),
            textcoords="offset points", va="center", color=GREY, fontsize="small",
        )  # fmt: skip
    ax.annotate(
        shown.share_of, (1, 1), (4, 3), xycoords="axes fraction", textcoords="offset points",
        va="bottom", color=GREY, fontsize="small",
    )  # fmt: skip


def _caption(shown: Effects, i: int) -> str:
    effect = "" if shown.coef is None else f"{shown.format_effect(shown.coef[i])}  "
    return f"{i + 1}:  {effect}({percent(shown.share[i])} {shown.share_of})"


def _colour(shown: Effects, i: int) -> str:
    if shown.coef is None:
        return GREY
    return BELOW if shown.coef[i] < shown.average else ABOVE


def _plain(text: Any) -> str:
    """A word as it is, or its beginning: a dollar would begin a formula."""
    word = str(text)
    short = word if len(word) <= MAX_WORD_CHARACTERS else word[: MAX_WORD_CHARACTERS - 1] + "…"
    return short.replace("$", r"\$")


def _listed(words: list[str]) -> str:
    """As many of the words as a label holds."""
    label = _plain(words[0]) if words else ""
    for word in words[1:]:
        longer = f"{label}, {_plain(word)}"
        label = longer if len(longer) <= MAX_LABEL_CHARACTERS else label
    return label
