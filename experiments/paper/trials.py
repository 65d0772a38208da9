"""What the scripts on simulated documents do alike: a CSV, a verdict from it, and then a figure.

Only documents take time.  Verdict and figure are made from the CSV, so ``--draw`` makes them again
without any, and elsewhere: a machine without matplotlib gets its CSV and its verdict.
"""

import argparse
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from queue import SimpleQueue
from threading import local
from typing import Any

import numpy as np
from writing import measured, parsed, parser, there, write

Row = dict[str, Any]
THREADS = "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"
Rows = Callable[[argparse.Namespace], Iterable[Row]]


def run(
    doc: str | None,
    name: str,
    rows: Rows,
    verdict: Callable[[list[Row]], list[str]],
    draw: Callable[[list[Row], Path], None] | None = None,
    trials: int | None = None,
    more: Callable[[argparse.ArgumentParser], None] = lambda _: None,
) -> None:
    """Rows that the CSV has not, the verdict of all, the figure; ``more`` adds options.

    ``rows`` is given the options and, as one of them, the ``path`` of the CSV.  Where there are
    ``trials``, they may be shared among processes.
    """
    reader = parser(doc)
    if trials is not None:
        reader.add_argument("--trials", type=int, default=trials, help=f"(default: {trials})")
        reader.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    more(reader)
    asked = parsed(reader)
    asked.path = path = asked.out / f"{name}.csv"
    if not asked.draw:
        write(path, rows(asked))
    found = read(path)
    print(*verdict(found), sep="\n")
    if draw is None:
        return
    try:
        import matplotlib
    except ImportError:
        print(f"matplotlib is not installed: no {name}.png; --draw makes it where it is")
        return
    matplotlib.use("Agg")
    draw(found, path.with_suffix(".png"))


def read(path: Path) -> list[Row]:
    """Numbers as numbers."""
    return [{name: _value(text) for name, text in row.items()} for row in there(measured(path))]


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def in_processes(
    work: Callable[[Any], list[Row]], tasks: list[Any], jobs: int, cost: Callable[[Any], float]
) -> Iterator[Row]:
    """Rows of each task, of many processes as tasks end; they begin with those that cost most."""
    if jobs <= 1:
        for task in tasks:
            yield from work(task)
        return
    os.environ.update(dict.fromkeys(THREADS, "1"))
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        begun = [pool.submit(work, task) for task in sorted(tasks, key=lambda t: -cost(t))]
        for done in as_completed(begun):
            yield from done.result()


class Slots:
    """For what is timed: processes that hold on to cores of their own, one task after another."""

    def __init__(self, jobs: int, threads: int) -> None:
        os.environ.update(dict.fromkeys(THREADS, str(threads)))
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) < jobs * threads:
            raise SystemExit(
                f"{jobs} processes of {threads} threads need {jobs * threads} cores, but there are "
                f"{len(cores)}; try --jobs {len(cores) // threads or 1}"
            )
        self.free: SimpleQueue[list[int]] = SimpleQueue()
        for i in range(jobs):
            self.free.put(cores[i * threads : (i + 1) * threads])
        self.mine, self.pool = local(), ThreadPoolExecutor(jobs)

    def rows(self, work: Callable[[Any], list[Row]], tasks: list[Any]) -> Iterator[Row]:
        """In the order in which tasks end."""

        def do(task: Any) -> list[Row]:
            if not hasattr(self.mine, "process"):
                os.sched_setaffinity(0, self.free.get())  # of this thread, and so of its process
                self.mine.process = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
            found: list[Row] = self.mine.process.submit(work, task).result()
            return found

        for done in as_completed([self.pool.submit(do, task) for task in tasks]):
            yield from done.result()


def chosen(found: list[Row], **values: Any) -> list[Row]:
    return [row for row in found if all(row[name] == value for name, value in values.items())]


def over_trials(found: list[Row], quantity: str, along: str) -> tuple[list, np.ndarray, np.ndarray]:
    """What it goes along, and mean and standard deviation over trials that have a value."""
    at = sorted({row[along] for row in found})
    each = [[row[quantity] for row in chosen(found, **{along: x})] for x in at]
    return at, np.array([np.nanmean(e) for e in each]), np.array([np.nanstd(e) for e in each])


def slopes(found: list[Row], quantity: str, along: str) -> dict[int, float]:
    """Of log error on log n, of each trial that has an error at every n."""
    at, of = {row[along] for row in found}, {}
    for trial in sorted({row["trial"] for row in found}):
        points = chosen(found, trial=trial)
        y = np.array([row[quantity] for row in points], float)
        if len(points) == len(at) > 1 and np.isfinite(y).all():
            x = np.log([row[along] for row in points])
            of[trial] = float(np.polyfit(x, np.log(y), 1)[0])
    return of


def mean_and_error(values: Iterable[float]) -> tuple[float, float]:
    """Mean over trials and its standard error."""
    v = np.array(list(values), float)
    if len(v) < 2:
        return float(v.sum()) if len(v) else float("nan"), float("nan")
    return float(v.mean()), float(v.std(ddof=1) / np.sqrt(len(v)))


def said(claim: str, holds: str, why: str) -> list[str]:
    """A claim of the paper, in one sentence, and what became of it."""
    return [f"CLAIM    {claim}", f"VERDICT  {holds}: {why}"]
