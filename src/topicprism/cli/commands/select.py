"""``topicprism select``: the number of topics, and the evidence for it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from topicprism.cli.commands.fit import learnt
from topicprism.cli.facts import choices_of, method_of
from topicprism.cli.session import Session
from topicprism.cli.showing import bars, chosen, learnt_by
from topicprism.io.atomic import replacing
from topicprism.io.tables import TableError
from topicprism.pipeline import TopicPipeline
from topicprism.show.effects import MEASURES_OF_WORDS
from topicprism.show.terminal import aligned, sentence

N_EIGENVALUES = 20  # eigenvalues
PICTURES = (".png", ".svg", ".pdf")
HOW_TO_READ = (
    "R2 (with its standard error) and log-likelihood per word are those of documents held out; "
    + MEASURES_OF_WORDS
)


def select(session: Session) -> None:
    args = session.args
    picture = _picture(session) if args.plot else None
    pipeline, _ = learnt(session)
    facts: dict[str, Any] = {"learnt_by": method_of(pipeline), "chosen": choices_of(pipeline)}
    facts |= _facts(pipeline.topics)
    if picture is not None:
        session.progress.stage("drawing")
        _draw(pipeline, picture, facts["trials"])
    session.show(facts, _lines(facts))


def _facts(topics: Any) -> dict[str, Any]:
    selection = getattr(topics, "selection_", None)
    spectrum = topics.spectrum_ if selection is None else selection.spectrum
    trials = getattr(selection, "trials", ())
    return {
        "trials": [{n: _finite(v) for n, v in asdict(t).items()} for t in trials],
        "taken": getattr(selection, "n_tried", None),
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
    if facts["trials"]:
        yield from _table(facts["trials"], facts["taken"])
        yield ""
    yield "chosen"
    yield from learnt_by(facts)
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


def _table(trials: list[dict[str, Any]], taken: int | None) -> Iterator[str]:
    """A line for each number of topics that was tried."""
    yield "numbers of topics tried; * is taken, before topics that documents do not"
    yield "support are dropped"
    columns = [
        ["topics", *(str(t["n_topics"]) for t in trials)],
        ["alpha0", *(_number(t["alpha0"], ".3g") for t in trials)],
        ["R2", *(f"{_number(t['pr2'])} +- {_number(t['pr2_std'])}" for t in trials)],
        ["likelihood", *(_number(t["log_likelihood"]) for t in trials)],
        ["coherence", *(_number(t["coherence"]) for t in trials)],
        ["exclusivity", *(_number(t["exclusivity"]) for t in trials)],
        ["in common", *(_number(t["n_in_common"], "d") for t in trials)],
    ]
    marks = [" ", *("*" if t["n_topics"] == taken else " " for t in trials)]
    cells = [marks, *(aligned(column, 0) for column in columns)]
    yield from ("  ".join(line) for line in zip(*cells, strict=True))
    yield from sentence(HOW_TO_READ, "  ")


def _number(value: float | None, how: str = "z.3f") -> str:
    return "-" if value is None else f"{value:{how}}"


def _picture(session: Session) -> Path:
    """Where to draw; refused before any work is done, if it could not be drawn."""
    path = session.output(session.args.plot)
    if path.suffix.lower() not in PICTURES:
        listed = ", ".join(PICTURES)
        raise TableError(f"{path.name} does not name a picture format; end it in one of {listed}")
    if find_spec("matplotlib") is None:
        raise TableError("--plot needs matplotlib; run pip install 'topicprism[plot]', or drop it")
    return path


def _draw(pipeline: TopicPipeline, picture: Path, trials: list[dict[str, Any]]) -> None:
    """The spectrum, and beside it the numbers of topics that were tried; or it alone, marked."""
    from matplotlib.figure import Figure

    from topicprism.show.plots import MEASURES, plot_selection, plot_spectrum

    known = [name for name in MEASURES if trials and all(t[name] is not None for t in trials)]
    scores = [partial(plot_selection, measure=name) for name in known]
    plots: list[Any] = [plot_spectrum, *scores] if known else [plot_selection]
    n_columns = min(len(plots), 3)
    n_rows = -(-len(plots) // n_columns)
    fig = Figure(figsize=(5 * n_columns + (n_columns == 1), 4 * n_rows), layout="constrained")
    for i, plot in enumerate(plots):
        plot(pipeline, ax=fig.add_subplot(n_rows, n_columns, i + 1))
    with replacing(picture) as unfinished:
        fig.savefig(unfinished, format=picture.suffix[1:].lower(), dpi=150)
