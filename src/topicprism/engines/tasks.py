"""Tasks for the workers of Dask's current client: names, sums, and what is said if they fail."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import CancelledError
from functools import reduce
from operator import add
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np

from topicprism import __version__
from topicprism.io.failures import reason

try:
    from dask import config
    from dask.delayed import delayed
    from distributed import Client, KilledWorker, default_client, get_worker, wait
    from distributed.comm.core import CommClosedError
except ImportError as error:
    raise ImportError(
        f"Dask's distributed is not installed ({error}), but it is needed for documents on Dask; "
        "run: pip install 'topicprism[dask]'"
    ) from None

S = TypeVar("S")
OURS = "-tp"  # the keys of our tasks end so
RETRIES = 2  # of a task that fails, as one may that reads files
AT_ONCE = 8  # sums that are added up in one task
AHEAD = 2  # results for each thread that may wait for those before them
SECONDS_BETWEEN_LOOKS = 0.5  # seconds between two looks at tasks under way
MAX_SECONDS_WITHOUT_WORKERS = 120.0  # seconds without any worker, after which none is waited for
CONNECT = 10.0  # seconds in which a scheduler must answer


class ClusterError(RuntimeError, ValueError):
    """Machines that cannot do what is asked of them; the message is one sentence."""


class WorkerLostError(Exception):
    """A worker that tasks were meant for has ended; others may do them."""


def connected(address: str) -> Client:
    """A client of the scheduler at this address, the current one from now on."""
    try:
        return Client(address, timeout=CONNECT, set_as_default=True)
    except (OSError, ValueError, ImportError) as error:
        raise ClusterError(
            f"no scheduler of Dask answers at {address!r} ({reason(error)!s:.120}); start one with "
            "dask scheduler, and give the address that it prints, such as tcp://host:8786"
        ) from None


def current_client() -> Any:
    try:
        return default_client()
    except ValueError:
        raise ValueError(
            "got documents on Dask, but there is no client to compute them; start one first: "
            "from distributed import Client; client = Client()"
        ) from None


def check_workers(client: Any) -> None:
    """Refuse workers that would not know what to do, or would do something else."""
    versions = client.run(_version, on_error="return")
    there = client.nthreads()
    for worker, version in versions.items():
        if worker not in there:  # it has left meanwhile
            continue
        if isinstance(version, Exception):  # whatever a worker without the package says
            raise _cannot_run(client, version)
        if version != __version__:
            raise _of_another_version(worker, version, __version__)


def _cannot_run(client: Any, error: Exception) -> ClusterError:
    return ClusterError(
        f"the workers of {client.scheduler.address} cannot run topicprism ({reason(error)}); "
        f"install topicprism {__version__} where they run"
    )


def _of_another_version(worker: str, version: str, expected: str) -> ClusterError:
    return ClusterError(
        f"worker {worker} has topicprism {version}, but {expected} was expected, as here; install "
        "the same version on all machines"
    )


def pieces(collection: Any) -> list[Any]:
    """The partitions of a Dask collection, or a list of Delayed as it is."""
    if hasattr(collection, "to_delayed"):
        blocks = np.asarray(collection.to_delayed(), dtype=object)
        if blocks.ndim > 1 and blocks.size != len(blocks):
            raise ValueError(
                f"got an array in blocks of {blocks.shape}, but a block must have all columns; "
                "rechunk it: X.rechunk({1: -1})"
            )
        found = blocks.ravel().tolist()
    else:
        found = list(collection)
    if not found:
        raise ValueError("got no partition, but at least one was expected; check the collection")
    return found


def submit(
    client: Any, function: Callable[..., Any], *args: Any, name: str = "sums", **where: Any
) -> Any:
    """A future, under a name that a message can use."""
    with config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
        return client.submit(
            _run, __version__, function, *args, key=_key(name), retries=RETRIES, **where
        )


def of_partitions(
    client: Any, function: Callable[..., Any], name: str, docs: Any, y: Any, shared: Any
) -> list[Any]:
    """Futures of ``function(documents, responses, number, shared)`` of each partition.

    A partition itself has no future, which might be given up before its task is known.
    """
    made, of_docs, known = delayed(_run, pure=False), pieces(docs), submit(client, hold, shared)
    of_y = [None] * len(of_docs) if y is None else pieces(y)
    if len(of_y) != len(of_docs):
        raise ValueError(
            f"got texts in {len(of_docs)} partitions and responses in {len(of_y)}, but expected "
            "them to be cut alike; take both from one collection, or repartition one of them"
        )
    tasks = [
        made(__version__, function, *both, i, known, dask_key_name=_key(f"{name}-{i}"))
        for i, both in enumerate(zip(of_docs, of_y, strict=True))
    ]
    return list(client.compute(tasks, retries=RETRIES))


def _key(name: str) -> str:
    return f"{name}-{uuid4().hex}{OURS}"


def _run(version: str, function: Callable[..., S], *args: Any) -> S:
    """A task, whichever worker it has come to: one that joined late may be of another version."""
    if version != __version__:
        raise _of_another_version(get_worker().address, __version__, version)
    return function(*args)


def places(client: Any, futures: Sequence[Any]) -> dict[Any, str]:
    """The worker that has each result, by key."""
    return {key: workers[0] for key, workers in client.who_has(futures).items() if workers}


def added(
    client: Any,
    sums: Sequence[Any],
    *needed: Any,
    note: Callable[[float], object] | None = None,
    bound_to: Collection[str] = (),
) -> Any:
    """The sum of the results of futures, added up where they lie.

    ``bound_to`` are workers that these must be computed by.
    """
    every, first = [*needed, *sums], sums
    while len(sums) > 1:
        few = (sums[i : i + AT_ONCE] for i in range(0, len(sums), AT_ONCE))
        sums = [submit(client, _add, *some) for some in few]
        every += sums

    def look() -> None:
        if note is not None:
            note(sum(future.done() for future in first) / len(first))

    (found,) = gather(client, sums, every, look, bound_to)
    return found


def in_order(
    client: Any, function: Callable[..., S], shared: Any, items: Sequence[tuple[str, Any]]
) -> Iterator[S]:
    """``function(shared, item)`` of named items, in their order; few of them wait to be taken."""
    known, waiting = submit(client, hold, shared), deque[Any]()
    most = AHEAD * max(sum(client.nthreads().values()), 1)
    try:
        for name, item in items:
            if len(waiting) == most:
                yield gather(client, [waiting.popleft()])[0]
            waiting.append(submit(client, function, known, item, name=name))
        while waiting:
            yield gather(client, [waiting.popleft()])[0]
    finally:
        client.cancel([known, *waiting], force=True)


def gather(
    client: Any,
    futures: Sequence[Any],
    every: Sequence[Any] = (),
    look: Callable[[], object] = lambda: None,
    bound_to: Collection[str] = (),
) -> list[Any]:
    """Results of futures; if there are none, these and ``every`` other are given up."""
    try:
        _await(client, futures, look, bound_to)
        return list(client.gather(futures))
    except BaseException as error:
        sentence = _sentence(client, error, futures)
        client.cancel([*futures, *every], force=True)
        if sentence is None:
            raise
        raise sentence from None


def _await(
    client: Any, futures: Sequence[Any], look: Callable[[], object], bound_to: Collection[str]
) -> None:
    """Until all are done or have failed; but not for ever if there is nobody to do them."""
    last_seen = time.monotonic()
    while True:
        try:
            wait(futures, timeout=SECONDS_BETWEEN_LOOKS)
            return
        except TimeoutError:
            look()
        there = client.nthreads()
        if not set(bound_to) <= there.keys():
            raise WorkerLostError
        if there:
            last_seen = time.monotonic()
        elif time.monotonic() > last_seen + MAX_SECONDS_WITHOUT_WORKERS:
            raise ClusterError(
                f"{client.scheduler.address} has had no worker for "
                f"{MAX_SECONDS_WITHOUT_WORKERS:g} seconds; start some, and look into their logs "
                "why they ended: perhaps for want of memory"
            )


def _sentence(client: Any, error: BaseException, futures: Sequence[Any]) -> ValueError | None:
    """What to say of a failure that is not ours; None of any other."""
    if isinstance(error, KilledWorker):
        return ClusterError(
            f"{called(error.task)} ended every worker that tried it, perhaps for want of memory; "
            "cut the documents into smaller partitions, or give workers more of it"
        )
    if isinstance(error, ModuleNotFoundError) and "topicprism" in str(error):
        return _cannot_run(client, error)
    if isinstance(error, CancelledError | CommClosedError):
        return ClusterError(
            f"the scheduler {client.scheduler.address} gave up these tasks or was lost "
            f"({reason(error)!s:.120}); look whether it runs, and whether modules that are used "
            "here are installed there"
        )
    cause = _cause(client, futures) if isinstance(error, Exception) else OURS
    if cause.endswith(OURS):
        return None
    return ValueError(
        f"the collection cannot be computed: {called(cause)} failed ({type(error).__name__}: "
        f"{reason(error)!s:.200}); look at its files and functions"
    )


def _cause(client: Any, futures: Sequence[Any]) -> str:
    """The key of the task that failed, of those that these futures wait for."""
    keys = [future.key for future in futures if future.status == "error"]
    found = client.sync(client.scheduler.get_error_cause, keys=keys) if keys else None
    return OURS if found is None else str(found)


def called(key: Any) -> str:
    """The name that a future was submitted under."""
    return re.sub(rf"-[0-9a-f]{{32}}{OURS}$", "", str(key))


def _version() -> str:
    return __version__


def hold(shared: S) -> S:
    return shared


def _add(*sums: Any) -> Any:
    return reduce(add, sums)
