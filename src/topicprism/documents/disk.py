"""Documents in a folder: one file per shard, read when its turn comes.

A shard is five arrays in numpy's own format, one after the other in one file: the
number of words, row pointers, word ids, counts in the smallest type that holds
them, responses.  Nothing in it is ever run.

``manifest.json`` is written last.  It has the length and the CRC-32 of each shard: a
folder whose writer was stopped has none, lengths are compared when it is opened, and
contents when a shard is first read, at some 1 GB a second.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
from scipy.sparse import csr_array

from topicprism.documents.corpus import Corpus, Rows, alike
from topicprism.io.atomic import replacing, write_bytes
from topicprism.io.failures import reason
from topicprism.kernels.blas import one_blas_thread
from topicprism.validation import check_counts, check_response

S = TypeVar("S")
ENDING, MANIFEST, FORMAT = ".shard", "manifest.json", 1
WRITE_AGAIN = "write the folder again with OnDisk.write"
BLOCK = 1 << 20  # bytes read at once for a checksum


@dataclass(frozen=True)
class OnDisk:
    """Shards of documents in files; in memory are one shard and its sums per thread."""

    shards: tuple[Path, ...]
    n_words: int
    n_threads: int = 1
    unchecked: dict[Path, int] = field(default_factory=dict, compare=False, repr=False)  # CRC-32s

    @classmethod
    def open(cls, folder: str | Path, n_threads: int = 1) -> OnDisk:
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
        return cls(tuple(sums), n_words, n_threads, {path: crc for path, (_, crc) in sums.items()})

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
        """Added up in the order of the files: the same bits for any number of threads."""
        with one_blas_thread, ThreadPoolExecutor(self.n_threads) as pool:
            return reduce(add, pool.map(lambda file: part(self._read(file), *shared), self.shards))

    def _read(self, path: Path) -> Corpus:
        expected = self.unchecked.get(path)
        if expected is not None and _checksum(path) != expected:
            raise ValueError(
                f"{path} is damaged: its checksum is not that of its contents; {WRITE_AGAIN}"
            )
        corpus = read(path)
        self.unchecked.pop(path, None)
        if corpus.n_words != self.n_words:
            raise ValueError(
                f"{path} is over {corpus.n_words} words and the first shard over {self.n_words}, "
                "but all must share one vocabulary; vectorise them together"
            )
        return alike(corpus)


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
    given = corpus.counts
    X = check_counts(given.to_csr() if isinstance(given, Rows) else given)
    counts = X.data.astype(np.min_scalar_type(int(X.data.max(initial=0))))
    ids = X.indices.astype(np.int32)
    y = check_response(corpus.y, len(corpus))
    with replacing(path) as unfinished, unfinished.open("wb") as file:
        summed = _Summed(file)
        for array in (np.array([X.shape[1]]), X.indptr, ids, counts, y):
            np.save(summed, array, allow_pickle=False)
    return summed.size, summed.crc


def read(path: Path) -> Corpus:
    try:
        with path.open("rb") as file:
            n_words, indptr, ids, counts, y = (np.load(file, allow_pickle=False) for _ in range(5))
        if (kinds := "".join(a.dtype.kind for a in (n_words, indptr, ids, counts, y))) != "iiiuf":
            raise ValueError(f"its arrays are of the types {kinds}")
        shape = (len(indptr) - 1, int(n_words[0]))
        X = csr_array((counts, ids, indptr), shape=shape, copy=False)
        X.check_format(full_check=True)
        return Corpus(X, check_response(y, len(indptr) - 1))
    except OSError:
        raise
    except Exception as error:  # numpy reads headers as Python, which may fail in any way
        raise ValueError(f"{path} is not a whole shard ({reason(error)}); {WRITE_AGAIN}") from None
