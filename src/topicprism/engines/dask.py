"""Documents in the memory of Dask's workers.

A shard is made by tasks and stays where it was made; functions go to the shards and sums come
back.  If a worker dies, Dask makes its shards anew, and the sums are the same to the last bit:
they are added up in the order of the shards, eight at a time, however many workers there are.
What all shards need in a pass is the result of a task as well, which workers hand on to each
other, so that its loss is mended, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np

from topicprism import __version__
from topicprism.documents.corpus import Corpus, alike
from topicprism.io.failures import reason
from topicprism.kernels.blas import one_blas_thread

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


@dataclass(frozen=True)
class OnDask:
    """Shards of documents, kept by the workers of the current client."""

    shards: tuple[Any, ...]  # futures of a Corpus each
    n_words: int
    n_threads: int = 1  # of this process, for what is done in memory

    @classmethod
    def of(cls, corpora: Any, n_threads: int = 1) -> OnDask:
        """From Delayed or futures of a :class:`Corpus` each; or from a Bag, whose partitions hold
        corpora."""
        client = current_client()
        check_workers(client)
        found = client.compute(pieces(corpora), retries=RETRIES)
        shards = [
            submit(client, _shard, one, i, name=f"partition-{i}") for i, one in enumerate(found)
        ]
        sizes = gather(client, [submit(client, _n_words, shard) for shard in shards])
        if len(set(sizes)) > 1:
            other = next(i for i, size in enumerate(sizes) if size != sizes[0])
            raise ValueError(
                f"partition 0 is over {sizes[0]} words and partition {other} over {sizes[other]}, "
                "but all must share one vocabulary; vectorise them together"
            )
        return cls(tuple(shards), sizes[0], n_threads)

    def total(self, part: Callable[..., S], *shared: Any) -> S:
        client = current_client()
        known = submit(client, hold, shared)
        sums = [
            submit(client, _sum, shard, i, part, known, name=f"sum-of-partition-{i}")
            for i, shard in enumerate(self.shards)
        ]
        found: S = added(client, sums, known)
        return found


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


def _shard(corpus: Any, number: int) -> Corpus:
    if isinstance(corpus, list) and len(corpus) == 1:  # a partition of a Bag
        (corpus,) = corpus
    if not isinstance(corpus, Corpus):
        raise ValueError(
            f"partition {number} is a {type(corpus).__name__}, but a Corpus was expected; make one "
            "of counts and responses: Corpus(X, y)"
        )
    return alike(corpus)


def _n_words(corpus: Corpus) -> int:
    return corpus.n_words


def _sum(corpus: Corpus, number: int, part: Callable[..., S], shared: Sequence[Any]) -> S:
    try:
        with one_blas_thread:
            return part(corpus, *shared)
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from None


def _add(*sums: Any) -> Any:
    return reduce(add, sums)
