"""Documents in a folder: one file per shard, read when its turn comes.

A shard is five arrays in numpy's own format, one after the other in one file: the
number of words, row pointers, word ids, counts in the smallest type that holds
them, responses.  Nothing in it is ever run.

``manifest.json`` is written last.  It has the length and the CRC-32 of each shard: a
folder whose writer was stopped has none, lengths are compared when it is opened, and
contents when a shard is first read, at some 1 GB a second; later only if the file's length or its
time of change is another than before the first pass.

A pass is at most ``n_tasks`` tasks, each a run of consecutive shards, for threads of this
process or for any ``concurrent.futures.Executor``, whose workers see the same folder.
"""

from __future__ import annotations

import json
import os
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from operator import add
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from topicprism.documents.corpus import Corpus, Rows, alike, as_csr
from topicprism.io.atomic import replacing, write_bytes
from topicprism.io.failures import reason
from topicprism.kernels.blas import one_blas_thread
from topicprism.validation import check_counts, check_response, check_whole

S = TypeVar("S")
ENDING, MANIFEST, FORMAT = ".shard", "manifest.json", 1
WRITE_AGAIN = "write the folder again with OnDisk.write"
State = tuple[int, int]  # length of a file, and when it was changed
BLOCK = 1 << 20  # bytes read at once for a checksum


@dataclass(frozen=True)
class OnDisk:
    """Shards of documents in files; in memory are one shard and its sums per thread.

    An ``executor`` has workers elsewhere: processes, loky's, those of ``mpi4py.futures``, or of a
    Dask client by ``client.get_executor()``.  ``n_threads`` are those of this process.
    """

    shards: tuple[Path, ...]
    n_words: int
    n_threads: int = 1
    executor: Executor | None = None
    n_tasks: int = 64  # in a pass, at most
    crcs: dict[Path, int] = field(default_factory=dict, compare=False, repr=False)
    checked: dict[Path, State] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_whole("n_tasks", self.n_tasks, "64 tasks keep some dozen workers busy")
        if self.executor is not None and not hasattr(self.executor, "submit"):
            raise ValueError(
                f"executor={self.executor!r:.60}, but expected a concurrent.futures.Executor; pass "
                "one, such as ProcessPoolExecutor(), or use n_threads"
            )

    @classmethod
    def open(
        cls,
        folder: str | Path,
        n_threads: int = 1,
        executor: Executor | None = None,
        n_tasks: int = 64,
    ) -> OnDisk:
        there = sorted(Path(folder).glob(f"*{ENDING}"))
        if not there:
            raise ValueError(
                f"{folder} has no {ENDING} files, but at least one was expected; write them with "
                "OnDisk.write"
            )
        n_words, sums = _manifest(Path(folder), there)
        for path, (size, _) in sums.items():
            if path.stat().st_size != size:
                raise ValueError(
                    f"{path} has {path.stat().st_size} bytes, but {size} were expected: it is not "
                    f"a whole shard; {WRITE_AGAIN}"
                )
        crcs = {path: crc for path, (_, crc) in sums.items()}
        return cls(tuple(sums), n_words, n_threads, executor, n_tasks, crcs)

    @classmethod
    def write(cls, folder: str | Path, corpora: Iterable[Corpus], n_threads: int = 1) -> OnDisk:
        """One file per corpus, in a folder that is made if need be; then the manifest."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.glob(f"*{ENDING}")):
            raise ValueError(
                f"{folder} has {ENDING} files already, but an empty folder was expected; delete "
                "them or write to another folder"
            )
        sums = [write(_shard(folder, i), corpus) for i, corpus in enumerate(corpora)]
        if sums:
            n_words = read(_shard(folder, 0)).n_words
            manifest = {"format": FORMAT, "n_words": n_words, "shards": sums}
            write_bytes(folder / MANIFEST, json.dumps(manifest).encode())
        return cls.open(folder, n_threads)

    def total(self, part: Callable[..., S], *shared: Any) -> S:
        """Added up in the order of the files: the same bits for any number of workers."""
        tasks = self._tasks()
        now = self.checked or {path: _state(path) for path in self.shards}
        with ThreadPoolExecutor(self.n_threads) as threads:
            pool = threads if self.executor is None else self.executor
            sums = deque(pool.submit(sum_of_files, task, part, shared) for task in tasks)
            try:
                found: S = reduce(add, (sums.popleft().result() for _ in tasks))
            except BrokenExecutor as error:
                raise RuntimeError(
                    f"a worker process ended while it read {self.shards[0].parent} "
                    f"({reason(error)}), perhaps for want of memory; use fewer workers, or write "
                    "smaller shards"
                ) from None
            finally:
                for one in sums:
                    one.cancel()
        self.checked.update(now)
        return found

    def _tasks(self) -> list[list[File]]:
        """Runs of consecutive shards, as equal as they can be."""
        coming = [*self.shards[self.n_threads :], *[None] * self.n_threads]
        files = [
            File(path, self.n_words, self.crcs.get(path), self.checked.get(path), later)
            for path, later in zip(self.shards, coming, strict=False)
        ]
        n = min(self.n_tasks, len(files))
        edges = [i * len(files) // n for i in range(n + 1)]
        return [files[start:stop] for start, stop in pairwise(edges)]


@dataclass(frozen=True)
class File:
    """A shard that is to be read."""

    path: Path
    n_words: int
    crc: int | None  # of its contents; None if there is nothing to check them by
    checked: State | None  # in which its contents were checked
    later: Path | None  # the shard that will be wanted by then

    def read(self) -> Corpus:
        if self.later is not None:
            _begin_to_read(self.later)
        if self.crc is None or self.checked == _state(self.path):
            return alike(read(self.path, check=False))
        if _checksum(self.path) != self.crc:
            raise ValueError(
                f"{self.path} is damaged: its checksum is not that of its contents; {WRITE_AGAIN}"
            )
        corpus = read(self.path)
        if corpus.n_words != self.n_words:
            raise ValueError(
                f"{self.path} is over {corpus.n_words} words and the first shard over "
                f"{self.n_words}, but all must share one vocabulary; vectorise them together"
            )
        return alike(corpus)


def sum_of_files(files: Sequence[File], part: Callable[..., S], shared: Sequence[Any]) -> S:
    with one_blas_thread:
        return reduce(add, (part(file.read(), *shared) for file in files))


def _begin_to_read(path: Path) -> None:
    """Ask the system to read a file meanwhile, where it can be asked."""
    if hasattr(os, "posix_fadvise"):
        with suppress(OSError), path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)


def _shard(folder: Path, i: int) -> Path:
    return folder / f"{i:06d}{ENDING}"


def _manifest(folder: Path, there: Sequence[Path]) -> tuple[int, dict[Path, tuple[int, int]]]:
    """Words, and size and checksum of each shard, if these are the shards that are there."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except FileNotFoundError:
        raise ValueError(
            f"{folder} has {len(there)} {ENDING} files but no {MANIFEST}, which is written last: "
            f"it was not finished, or an older version wrote it; {WRITE_AGAIN}"
        ) from None
    except ValueError:
        manifest = None
    match manifest:
        case {"format": 1, "n_words": int(n_words), "shards": list(listed)} if len(manifest) == 3:
            sums = {_shard(folder, i): tuple(one) for i, one in enumerate(listed) if _pair(one)}
            if list(sums) == list(there) and len(sums) == len(listed):
                return n_words, sums
            raise ValueError(
                f"{folder} has {len(there)} {ENDING} files, but its {MANIFEST} lists "
                f"{len(listed)}, not all of these; {WRITE_AGAIN}"
            )
    raise ValueError(f"{folder / MANIFEST} is damaged, or of a newer version; {WRITE_AGAIN}")


def _pair(one: Any) -> bool:
    return isinstance(one, list) and [type(n) for n in one] == [int, int]


def _state(path: Path) -> State:
    now = path.stat()
    return now.st_size, now.st_mtime_ns


def _checksum(path: Path) -> int:
    crc = 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            crc = zlib.crc32(block, crc)
    return crc


class _Summed:
    """A file that notes the length and the checksum of what is written to it."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.size, self.crc = file, 0, 0

    def write(self, data: bytes) -> int:
        self.size += len(data)
        self.crc = zlib.crc32(data, self.crc)
        return self.file.write(data)


def write(path: Path, corpus: Corpus) -> tuple[int, int]:
    """One shard; its length and checksum are returned."""
    X = as_csr(corpus.counts)
    X = check_counts(X) if len(corpus) else X
    counts = X.data.astype(np.min_scalar_type(int(X.data.max(initial=0))))
    ids = X.indices.astype(np.int32)
    y = check_response(corpus.y, len(corpus))
    with replacing(path) as unfinished, unfinished.open("wb") as file:
        summed = _Summed(file)
        for array in (np.array([X.shape[1]]), X.indptr, ids, counts, y):
            np.save(summed, array, allow_pickle=False)
    return summed.size, summed.crc


def read(path: Path, check: bool = True) -> Corpus:
    """A shard, if it is one; what has been read before need not be looked through again."""
    try:
        with path.open("rb") as file:
            n_words, indptr, ids, counts, y = (np.load(file, allow_pickle=False) for _ in range(5))
        if (kinds := "".join(a.dtype.kind for a in (n_words, indptr, ids, counts, y))) != "iiiuf":
            raise ValueError(f"its arrays are of the types {kinds}")
        X = Rows(indptr, ids, counts, (len(indptr) - 1, int(n_words[0]))).to_csr()
        if check:
            X.check_format(full_check=True)
            check_response(y, X.shape[0])
        return Corpus(X, y)
    except OSError:
        raise
    except Exception as error:  # numpy reads headers as Python, which may fail in any way
        raise ValueError(f"{path} is not a whole shard ({reason(error)}); {WRITE_AGAIN}") from None
