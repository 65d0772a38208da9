r"""From documents to terms and rows of counts, block by block and thread by thread.

A corpus passes in blocks of half a million characters, through::

    blocks      documents               lists of str, checked
    encode      a list of str           lower-cased UTF-8
    split       UTF-8                   tokens
    count       tokens                  rows of counts, columns in the order of appearance
    assemble    rows of all blocks      one sparse matrix

Between the last two :mod:`topicprism.vectorizer.tally` chooses the terms to keep.

Each thread counts into a lexicon of its own, and the lexicons are merged when the documents are
over.  Sums do not depend on who took which block, nor does the alphabet: nor does the result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, islice
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_array

from topicprism.documents.sums import Sized
from topicprism.validation import refuse_unordered
from topicprism.vectorizer.kernels import Bytes, Rows, count, relabel, spell, split
from topicprism.vectorizer.lexicon import Ints, Lexicon, empty, insert, take

TOKEN = re.compile(r"(?u)\b\w\w+\b")
BLOCK = 1 << 19  # characters; a thread needs some ten times as many bytes
S = TypeVar("S")
T = TypeVar("T")


@cache
def fold_table(lowercase: bool) -> Bytes:
    r"""Per code point 0 if it is not ``\w``, else 1; for ASCII, the byte to keep."""
    every = np.arange(0x110000, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    fold = np.zeros(len(every), np.uint8)
    for run in re.finditer(r"\w+", every):
        fold[run.start() : run.end()] = 1
    ascii = every[:128].lower() if lowercase else every[:128]
    fold[:128] *= np.frombuffer(ascii.encode(), np.uint8)
    fold.flags.writeable = False
    return fold


def documents(texts: Any) -> Iterator[Any]:
    refuse_unordered(texts)
    if isinstance(texts, (str, bytes)):
        raise ValueError(
            f"texts is one {type(texts).__name__} that begins {texts[:20]!r}, expected an "
            "iterable of strings; pass [text] for a single document"
        )
    if getattr(texts, "ndim", 1) != 1:
        raise ValueError(
            f"texts is a {type(texts).__name__} of {texts.ndim} dimensions, expected an iterable "
            "of strings; pass one column of it, or give counts to topicprism.fit"
        )
    if hasattr(texts, "to_pylist"):  # pyarrow, whose own iterator is slow and yields no str
        parts = (texts[i : i + 1024].to_pylist() for i in range(0, len(texts), 1024))
        return chain.from_iterable(parts)
    if not hasattr(texts, "__iter__"):
        raise ValueError(
            f"texts is a {type(texts).__name__}, expected an iterable of strings; pass a list"
        )
    return iter(texts)


def blocks(texts: Any) -> Iterator[list[str]]:
    """The documents in order, some at a time; the first that is not a string is refused."""
    block: list[str] = []
    size = 0
    for i, text in enumerate(documents(texts)):
        if not isinstance(text, str):
            raise no_string(i, text)
        block.append(text)
        size += len(text) + 1
        if size >= BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block


def no_string(i: int, text: Any) -> ValueError:
    """What is said of a document that is not a string."""
    remedy = (
        "decode it, for example with .decode('utf-8')"
        if isinstance(text, bytes)
        else "drop such documents or replace a missing one by ''"
    )
    return ValueError(
        f"document {i} is {text!r:.40} of type {type(text).__name__}, expected str; {remedy}"
    )


def encode(block: list[str], lowercase: bool) -> tuple[Bytes, Ints]:
    """UTF-8 of the documents, a space after each, and where those spaces are.

    ASCII is not lowered here but in ``split``, through ``fold_table``.
    """
    lowered = (t.lower() if lowercase and not t.isascii() else t for t in block)
    utf8 = [t.encode("utf-8", "surrogatepass") for t in lowered]
    ends = np.cumsum(np.fromiter(map(len, utf8), np.int64, len(utf8)) + 1) - 1
    return np.frombuffer(b" ".join([*utf8, b""]), np.uint8), ends


def in_threads(function: Callable[[S], T], items: list[S], n_jobs: int) -> list[T]:
    if min(n_jobs, len(items)) <= 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(n_jobs) as pool:
        return list(pool.map(function, items))


@dataclass(frozen=True)
class Counted:
    """What the threads have found."""

    lexicons: list[Lexicon]  # of each thread
    n_docs: int
    rows: list[tuple[int, Rows]]  # thread and rows of each block, in the order of the documents


def narrow(rows: Rows, dtype: DTypeLike) -> Rows:
    """The same rows, with counts of this type: they wait in bytes, they work as integers."""
    return rows._replace(counts=rows.counts.astype(dtype, copy=False))


@dataclass(frozen=True)
class Analysis:
    """What a term is, and how many threads look for them."""

    lowercase: bool
    stop: Lexicon
    lo: int
    hi: int
    n_jobs: int

    def count(self, block: list[str], lexicon: Lexicon, learn: bool) -> tuple[Lexicon, Rows]:
        tokens = split(*encode(block, self.lowercase), fold_table(self.lowercase), self.stop)
        return count(lexicon, *tokens, self.lo, self.hi, learn)

    def run(self, texts: Any, known: Lexicon | None, keep: bool) -> Counted:
        """Count all documents, in terms that are known or (None) in whatever terms there are."""
        every, lock = enumerate(blocks(texts)), Lock()
        begin = list(islice(every, self.n_jobs))  # one block needs no second thread
        queue = chain(begin, every)
        rows: dict[int, tuple[int, Rows]] = {}

        def work(worker: int) -> tuple[Lexicon, int]:
            n_docs, lexicon = 0, empty()
            if known is not None:  # the table is shared, the tallies are not
                lexicon = known._replace(terms=known.terms.copy(), size=known.size.copy())
            while True:
                with lock:
                    number, block = next(queue, (-1, []))
                if number < 0:
                    return lexicon, n_docs
                lexicon, part = self.count(block, lexicon, learn=known is None)
                n_docs += len(block)
                if keep:
                    smallest = np.min_scalar_type(part.counts.max(initial=0))
                    rows[number] = worker, narrow(part, smallest)

        done = in_threads(work, list(range(max(len(begin), 1))), self.n_jobs)
        lexicons, n_docs = zip(*done, strict=True)
        return Counted(list(lexicons), sum(n_docs), [rows[i] for i in sorted(rows)])


@dataclass(frozen=True)
class Vocabulary:
    """The columns of a matrix, and a lexicon to find them."""

    names: dict[str, int]  # column of each term
    lexicon: Lexicon
    columns: Ints  # of the terms of the lexicon


@dataclass(frozen=True)
class CountedTexts(Sized):
    """Texts in terms of their own, until it is known which terms are kept: texts pass once."""

    counted: Counted

    def matrix(self, v: Vocabulary, dtype: DTypeLike) -> csr_array:
        """Counts of the terms of a vocabulary; nothing of what was counted is used up."""
        columns = []
        for lexicon in self.counted.lexicons:
            numbers = merge([v.lexicon, lexicon])[1][1]
            known = numbers < len(v.columns)
            columns.append(np.where(known, v.columns[np.where(known, numbers, 0)], -1))
        rows = [(worker, deepcopy(part)) for worker, part in self.counted.rows]
        return assemble(replace(self.counted, rows=rows), columns, len(v.names), dtype, 1)


def merge(lexicons: list[Lexicon]) -> tuple[Lexicon, list[Ints]]:
    """All terms in one lexicon, and the numbers there of the terms of each; these stay as is."""
    first, *others = lexicons
    return absorb([Lexicon(*(array.copy() for array in first)), *others])


def absorb(lexicons: list[Lexicon]) -> tuple[Lexicon, list[Ints]]:
    """The same, but the first lexicon is used up."""
    into = lexicons[0]
    numbers = [np.arange(into.size[0])]
    for other in lexicons[1:]:
        n = other.size[0]
        tf, df = (np.ascontiguousarray(other.terms[f][:n]) for f in ("tf", "df"))
        into, where = insert(into, *take(other, np.arange(n)), tf, df)
        numbers.append(where)
    return into, numbers


def names_of(lexicon: Lexicon, numbers: Ints) -> list[str]:
    lines = spell(*take(lexicon, numbers)).tobytes()
    return lines.decode("utf-8", "surrogatepass").split("\n")[:-1]


def alphabetical(lexicon: Lexicon, numbers: Ints) -> Ints:
    first_cells = lexicon.pool[lexicon.terms["start"][numbers]].view(np.uint64)
    numbers = numbers[np.argsort(first_cells)]  # sorted by eight bytes: Python's sort is soon done
    names = names_of(lexicon, numbers)
    return numbers[sorted(range(len(names)), key=names.__getitem__)]


def chosen(lexicon: Lexicon, keep: Ints) -> Vocabulary:
    """The vocabulary of the terms with these numbers, in this order."""
    names = names_of(lexicon, keep)
    nothing = np.zeros(len(keep), np.int64)
    small, columns = insert(empty(), *take(lexicon, keep), nothing, nothing)
    return Vocabulary(dict(zip(names, range(len(names)), strict=True)), small, columns)


def given(names: list[str]) -> Vocabulary:
    """The vocabulary of these terms.  Those that no text can produce are columns of zeros."""
    found = [i for i, name in enumerate(names) if name and " ".join(TOKEN.findall(name)) == name]
    text, ends = encode([names[i] for i in found], lowercase=False)
    cells, cuts, first = split(text, ends, fold_table(lowercase=False), empty())
    nothing = np.zeros(len(found), np.int64)
    lexicon, _ = insert(empty(), cells, cuts[first], nothing, nothing)
    return Vocabulary({name: i for i, name in enumerate(names)}, lexicon, np.array(found, int))


def assemble(
    counted: Counted, columns: list[Ints], n_columns: int, dtype: DTypeLike, n_jobs: int
) -> csr_array:
    """One matrix; ``columns`` of each thread lead from its terms to the columns.

    Blocks go one by one as they are copied, so that they and the matrix do not both exist.
    """
    rows = dict(enumerate(counted.rows))
    counted.rows.clear()
    most = max((part.counts.max(initial=0) for _, part in rows.values()), default=0)
    if np.issubdtype(dtype, np.integer) and most > np.iinfo(dtype).max:
        raise ValueError(
            f"a term occurs {most} times in a document, expected what dtype holds, and "
            f"{np.dtype(dtype)} holds at most {np.iinfo(dtype).max}; choose a wider dtype"
        )
    sizes = [np.count_nonzero(columns[w][part.indices] >= 0) for w, part in rows.values()]
    ends = np.cumsum([0, *sizes])
    index = np.int32 if max(ends[-1], n_columns) < 2**31 else np.int64
    indices, data = np.empty(ends[-1], index), np.empty(ends[-1], dtype)

    def copy(block: int) -> Ints:
        worker, part = rows.pop(block)
        part = relabel(narrow(part, np.int32), columns[worker], n_columns)
        here = slice(ends[block], ends[block + 1])
        indices[here], data[here] = part.indices, part.counts
        return np.diff(part.indptr)

    lengths = in_threads(copy, list(rows), n_jobs)
    indptr = np.cumsum(np.concatenate([[0], *lengths]), dtype=index)
    matrix = csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_columns))
    matrix.has_canonical_format = True  # sorted, nothing twice: spares scipy to look
    return matrix
