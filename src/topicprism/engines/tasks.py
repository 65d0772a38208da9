"""Tasks for the workers of Dask's current client: names, sums, and what is said if they fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np

from topicprism import __version__
from topicprism.io.failures import reason

try:
    from distributed import KilledWorker, default_client
except ImportError as error:
    raise ImportError(
        f"Dask's distributed is not installed ({error}), but it is needed for documents on Dask; "
        "run: pip install 'topicprism[dask]'"
    ) from None

S = TypeVar("S")
RETRIES = 2  # of a task that fails, as one may that reads files
AT_ONCE = 8  # sums that are added up in one task


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
    try:
        versions = client.run(_version)
    except Exception as error:  # whatever a worker without the package says
        raise RuntimeError(
            f"the workers of {client.scheduler.address} cannot run topicprism ({reason(error)}); "
            f"install topicprism {__version__} where they run"
        ) from None
    for worker, version in versions.items():
        if version != __version__:
            raise RuntimeError(
                f"worker {worker} has topicprism {version}, but {__version__} was expected, as "
                "here; install the same version on all machines"
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


def submit(client: Any, function: Callable[..., Any], *args: Any, name: str = "sums") -> Any:
    """A future, under a name that a message can use."""
    return client.submit(function, *args, key=f"{name}-{uuid4().hex}", retries=RETRIES)


def added(client: Any, sums: Sequence[Any], *needed: Any) -> Any:
    """The sum of the results of futures, added up where they lie."""
    every = [*needed, *sums]
    while len(sums) > 1:
        few = (sums[i : i + AT_ONCE] for i in range(0, len(sums), AT_ONCE))
        sums = [submit(client, _add, *some) for some in few]
        every += sums
    (found,) = gather(client, sums, every)
    return found


def gather(client: Any, futures: Sequence[Any], every: Sequence[Any] = ()) -> list[Any]:
    """Results of futures; if there are none, these and ``every`` other are given up."""
    try:
        return list(client.gather(futures))
    except KilledWorker as error:
        raise RuntimeError(
            f"{str(error.task).rpartition('-')[0]} ended every worker that tried it, perhaps for "
            "want of memory; cut the documents into smaller partitions, or give workers more of it"
        ) from None
    except BaseException:
        client.cancel([*futures, *every], force=True)
        raise


def _version() -> str:
    return __version__


def hold(shared: S) -> S:
    return shared


def _add(*sums: Any) -> Any:
    return reduce(add, sums)
