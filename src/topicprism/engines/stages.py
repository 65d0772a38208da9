"""What is asked of Spark's executors: rows of (id, value) through functions of Python's, and sums.

Only DataFrames are used, so that a session of Spark Connect does as well.  A value is a pickle in
a column of bytes.  A function, with all that it needs, goes to each executor once (Spark broadcasts
what is large) and is unpacked once for each task, however many rows the task has.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from operator import add
from typing import Any

from topicprism import __version__
from topicprism.io.failures import reason

try:
    import pyspark  # noqa: F401
    from pyarrow import RecordBatch as RecordBatch
    from pyarrow import array as array
    from pyarrow import binary, int64
except ImportError as error:
    raise ImportError(
        f"Spark's Python is not installed ({error}), but it is needed for documents on Spark; "
        "run: pip install 'topicprism[spark]'"
    ) from None

ROWS = "id long, value binary"
AT_ONCE = 8  # sums that are added up in one step
BEGIN, END = "<topicprism ", " topicprism>"  # of what a task has to say


@dataclass(frozen=True)
class Stage:
    """What ``mapInArrow`` calls on a worker: batches of rows to batches of rows."""

    function: Callable[..., Iterator[RecordBatch]]
    args: tuple[Any, ...]
    version: str

    def __call__(self, batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        try:
            if self.version != __version__:
                raise RuntimeError(
                    f"an executor of Spark has topicprism {__version__}, but {self.version} was "
                    "expected, as here; install the same version on all machines"
                )
            yield from self.function(batches, *self.args)
        except Exception as error:
            kind = ValueError if isinstance(error, ValueError) else type(error)
            said = f"{kind.__name__}: {reason(error):.1000}"
            raise RuntimeError(f"{BEGIN}{said}{END}") from None


def mapped(frame: Any, function: Callable[..., Any], *args: Any, schema: Any = ROWS) -> Any:
    """The rows that ``function(batches, *args)`` makes of those of each partition."""
    return frame.mapInArrow(Stage(function, args, __version__), schema)


def rows(batches: Iterable[RecordBatch]) -> Iterator[tuple[int, Any]]:
    for batch in batches:
        for number, value in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
            yield number, pickle.loads(value.as_buffer())


def batch_of(pairs: Iterable[tuple[int, Any]]) -> RecordBatch:
    numbers, values = zip(*((i, pickle.dumps(value, 5)) for i, value in pairs), strict=True)
    columns = [array(numbers, int64()), array(values, binary())]
    return RecordBatch.from_arrays(columns, names=["id", "value"])


def placed(frame: Any, n: int, each: int = 1) -> Any:
    """Rows with as many consecutive ids together, in ``n`` partitions, in the order of their ids.

    Before Spark 4.1 partitions go by a hash, and some have several such groups and others none.
    """
    rows = frame.selectExpr("id", "value", f"int(id div {each}) as place")
    together = getattr(rows, "repartitionById", rows.repartition)(n, "place")
    return together.sortWithinPartitions("id").select("id", "value")


def added(frame: Any, n: int) -> Any:
    """The sum of values with ids below ``n``, in their order, eight at a time, where they lie."""
    while n > AT_ONCE:
        n = -(-n // AT_ONCE)
        frame = mapped(placed(frame, n, AT_ONCE), add_each)
    found = sorted((row["id"], bytes(row["value"])) for row in collected(frame))
    return reduce(add, (pickle.loads(value) for _, value in found))


def add_each(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    for group, some in groupby(rows(batches), lambda row: row[0] // AT_ONCE):
        yield batch_of([(group, reduce(add, (value for _, value in some)))])


def collected(frame: Any) -> list[Any]:
    """The rows of a frame; a failure of Spark as one sentence."""
    try:
        return list(frame.collect())
    except Exception as error:  # of Spark, of Connect or of the bridge to Java
        raise explained(error) from None


def explained(error: Exception) -> Exception:
    """What a task has said, or else the first line of what Spark says."""
    text = str(error)
    if found := re.search(rf"{BEGIN}(\w+): (.*?){END}", text, re.S):
        kind, said = found.groups()
        if kind == "ValueError":
            return ValueError(said)
        if kind == "RuntimeError":
            return RuntimeError(said)
        return RuntimeError(f"a task of Spark's failed: {kind}: {said}")
    if missing := re.search(r"No module named '[\w.]+'", text):
        return RuntimeError(
            f"the executors of Spark cannot run topicprism ({missing.group()}); install "
            f"topicprism {__version__} where they run"
        )
    if "Python worker exited unexpectedly" in text:
        return RuntimeError(
            "a Python worker of Spark ended without a word, perhaps for want of memory; give "
            "executors more (spark.executor.memoryOverhead) or fewer cores"
        )
    lines = [line for line in text.splitlines() if line.strip(" :")]
    return RuntimeError(
        f"Spark has failed ({reason(Exception(' '.join(lines[:2]))):.300}); its log says more"
    )


def are_texts(kind: str) -> bool:
    """Whether a type of Spark's is that of texts."""
    return kind.startswith(("string", "varchar", "char"))
