"""Documents in a folder: one file per shard, read when its turn comes.

A shard is five arrays in numpy's own format, one after the other in one file: the
number of words, row pointers, word ids, counts in the smallest type that holds
them, responses.  Nothing in it is ever run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import csr_array

from topicprism.backends import one_blas_thread
from topicprism.corpus import Corpus, Rows, check_counts, check_response, joined
from topicprism.engines.threads import Threaded

S = TypeVar("S")
ENDING = ".shard"
FEW = 20_000  # documents, which are learnt from in memory


@dataclass(frozen=True)
class OnDisk:
    """Shards of documents in files; in memory are one shard and its sums per thread."""

    shards: tuple[Path, ...]
    n_words: int
    n_threads: int = 1

    @classmethod
    def open(cls, folder: str | Path, n_threads: int = 1) -> OnDisk:
        shards = tuple(sorted(Path(folder).glob(f"*{ENDING}")))
        if not shards:
            raise ValueError(
                f"{folder} has no {ENDING} files, but at least one was expected; write them with "
                "OnDisk.write"
            )
        return cls(shards, read(shards[0]).n_words, n_threads)

    @classmethod
    def write(cls, folder: str | Path, corpora: Iterable[Corpus], n_threads: int = 1) -> OnDisk:
        """One file per corpus, in a folder that is made if need be."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.glob(f"*{ENDING}")):
            raise ValueError(
                f"{folder} has {ENDING} files already, but an empty folder was expected; delete "
                "them or write to another folder"
            )
        for i, corpus in enumerate(corpora):
            write(folder / f"{i:06d}{ENDING}", corpus)
        return cls.open(folder, n_threads)

    def total(self, part: Callable[..., S], *shared: Any) -> S:
        """Added up in the order of the files: the same bits for any number of threads."""
        with one_blas_thread, ThreadPoolExecutor(self.n_threads) as pool:
            return reduce(add, pool.map(lambda file: part(self._read(file), *shared), self.shards))

    def in_key_order(self, n_documents: int) -> OnDisk | Threaded:
        """In memory, if these are few: then the order of documents makes no difference at all."""
        if n_documents > FEW:
            return self
        return Threaded(joined(map(self._read, self.shards)).in_key_order(), self.n_threads)

    def _read(self, path: Path) -> Corpus:
        corpus = read(path)
        if corpus.n_words != self.n_words:
            raise ValueError(
                f"{path} is over {corpus.n_words} words and the first shard over {self.n_words}, "
                "but all must share one vocabulary; vectorise them together"
            )
        return corpus


def write(path: Path, corpus: Corpus) -> None:
    """To a temporary name first: a file of the right name is a whole one."""
    given = corpus.counts
    X = check_counts(given.to_csr() if isinstance(given, Rows) else given)
    counts = X.data.astype(np.min_scalar_type(int(X.data.max(initial=0))))
    ids = X.indices.astype(np.int32)
    unfinished = path.with_suffix(".unfinished")
    with unfinished.open("wb") as file:
        for array in (
            np.array([X.shape[1]]),
            X.indptr,
            ids,
            counts,
            check_response(corpus.y, len(corpus)),
        ):
            np.save(file, array, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def read(path: Path) -> Corpus:
    try:
        with path.open("rb") as file:
            n_words, indptr, ids, counts, y = (np.load(file, allow_pickle=False) for _ in range(5))
        shape = (len(indptr) - 1, int(n_words[0]))
        X = csr_array((counts, ids, indptr), shape=shape, copy=False)
        X.check_format(full_check=True)
        return Corpus(X, y)
    except (ValueError, EOFError) as error:
        raise ValueError(
            f"{path} is not a whole shard ({error}); write it again with OnDisk.write"
        ) from None
