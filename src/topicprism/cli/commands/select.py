"""``topicprism select``: the number of topics, and the evidence for it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from topicprism.cli.commands.fit import learnt
from topicprism.cli.facts import choices_of
from topicprism.cli.session import Session
from topicprism.cli.showing import bars, chosen
from topicprism.io.atomic import replacing
from topicprism.io.tables import TableError
from topicprism.pipeline import TopicPipeline

N_EIGENVALUES = 20  # eigenvalues
PICTURES = (".png", ".svg", ".pdf")


def select(session: Session) -> None:
    args = session.args
    picture = _picture(session) if args.plot else None
    pipeline, _ = learnt(session)
    facts = {"chosen": choices_of(pipeline)} | _facts(pipeline.topics)
    if picture is not None:
        session.progress.stage("drawing")
        _draw(pipeline, picture, bool(facts["trials"]))
    session.show(facts, _lines(facts))


def _facts(topics: Any) -> dict[str, Any]:
    selection = getattr(topics, "selection_", None)
    spectrum = topics.spectrum_ if selection is None else selection.spectrum
    names = ("n_topics", "alpha0", "noise_variance", "pr2", "pr2_std")
    trials = getattr(selection, "trials", ())
    return {
        "trials": [{name: _finite(getattr(t, name, None)) for name in names} for t in trials],
        "spectrum": [float(v) for v in spectrum],
        "threshold": _finite(getattr(selection, "threshold", None)),
    }


def _finite(value: Any) -> float | None:
    """A number that JSON has a spelling for."""
    return value if isinstance(value, (int, float)) and math.isfinite(value) else None


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    spectrum = facts["spectrum"][:N_EIGENVALUES]
    if spectrum:
        yield "spectrum: eigenvalues of the second moment of the words, largest first"
        drawn = [*bars(spectrum, [f"{i + 1}" for i in range(len(spectrum))])]
        yield from _cut(drawn, facts["spectrum"], facts["threshold"])
        yield ""
    trials = [t for t in facts["trials"] if t["pr2"] is not None]
    if trials:
        yield "predictive R2 on held-out documents, for each number of topics tried"
        best = [t["n_topics"] == facts["chosen"]["topics"]["value"] for t in trials]
        labels = [_label(t) for t in trials]
        yield from bars([t["pr2"] for t in trials], labels, best)
        yield ""
    yield "chosen"
    yield from chosen(facts["chosen"])


def _cut(drawn: list[str], spectrum: list[float], threshold: float | None) -> Iterator[str]:
    """The bars, with a line between eigenvalues above and within sampling noise."""
    if threshold is None:
        yield from drawn
        return
    above = sum(v > threshold for v in spectrum)
    yield from drawn[:above]
    if above > len(drawn):
        yield f"  ... and {above - len(drawn)} more"
    yield f"  {above} are above {threshold:.3g}; smaller ones may be sampling noise"
    yield from drawn[above:]


def _label(trial: dict[str, Any]) -> str:
    std = "" if trial["pr2_std"] is None else f" +- {trial['pr2_std']:.3f}"
    alpha0 = "" if trial["alpha0"] is None else f"alpha0 {trial['alpha0']:<6.3g}"
    return f"{trial['n_topics']} topics, {alpha0}{std}"


def _picture(session: Session) -> Path:
    """Where to draw; refused before any work is done, if it could not be drawn."""
    path = session.output(session.args.plot)
    if path.suffix.lower() not in PICTURES:
        listed = ", ".join(PICTURES)
        raise TableError(f"{path.name} does not name a picture format; end it in one of {listed}")
    if find_spec("matplotlib") is None:
        raise TableError("--plot needs matplotlib; run pip install 'topicprism[plot]', or drop it")
    return path


def _draw(pipeline: TopicPipeline, picture: Path, tried: bool) -> None:
    """The spectrum, and beside it the numbers of topics that were tried; or it alone, marked."""
    from matplotlib.figure import Figure

    from topicprism.show.plots import plot_selection, plot_spectrum

    fig = Figure(figsize=(10 if tried else 6, 4), layout="constrained")
    plots = (plot_spectrum, plot_selection) if tried else (plot_selection,)
    for panel, plot in zip(fig.subplots(1, len(plots), squeeze=False)[0], plots, strict=True):
        plot(pipeline, ax=panel)
    with replacing(picture) as unfinished:
        fig.savefig(unfinished, format=picture.suffix[1:].lower(), dpi=150)
