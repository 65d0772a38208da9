"""A set of terms, numbered in the order in which they come; compiled.

A term is a run of 64-bit *cells* (:mod:`topicprism.vectorizer.kernels` says how a string becomes
one); here only equality matters.  Terms stand one after the other in ``pool``, and an
open-addressing table with linear probing leads from the hash of a term to its number.  The hash
only proposes: a term is found when its cells are the same.

Arguments ``cells, a, b`` mean the term ``cells[a:b]``, and ``h`` is its hash.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from topicprism.kernels.compiling import compiled, jit

Ints = NDArray[np.int64]
F = TypeVar("F", bound=Callable[..., Any])

TERM = np.dtype([("start", np.int64), ("seen", np.int64), ("tf", np.int64), ("df", np.int64)])
HIGH_HALF = ~0xFFFFFFFF
GOLDEN = -7046029254386353131  # 2^64 over the golden ratio, made odd, as a signed integer


class Lexicon(NamedTuple):
    """Terms 0 ... size[0] - 1.  Records and slots grow by doubling: at most half are in use."""

    slots: Ints  # 0, or the high half of a hash and 1 + the number of a term  (2 capacity)
    terms: NDArray[Any]  # TERM: cells before it, entry that counts it, totals   (capacity)
    pool: Ints  # cells of the terms
    size: Ints  # terms, entries written so far                                         (2)


def empty(capacity: int = 1024) -> Lexicon:
    """A lexicon without terms; ``capacity`` is a power of two."""
    slots, pool = np.zeros(2 * capacity, np.int64), np.empty(2 * capacity, np.int64)
    size = np.array([0, 1], np.int64)  # entries count from 1: ``seen`` is 0 for a term never met
    return Lexicon(slots, np.zeros(capacity, TERM), pool, size)


def kernel(function: F) -> F:
    """Compiled, and without the GIL."""
    return cast(F, jit(function))


def inlined(function: F) -> F:
    """Compiled into its caller: to pass the arrays would cost more than the work."""
    return cast(F, compiled(forceinline=True)(function))


@inlined
def mix(h: Any, cell: Any) -> Any:
    """The hash of a term, from the hash h of all its cells but the last."""
    h ^= cell
    h = (h ^ h >> 32) * GOLDEN  # short tokens leave the low half of a cell empty: fill it first
    return h ^ h >> 29


@inlined
def hash_of(cells: Ints, a: int, b: int) -> Any:
    """``functools.reduce(mix, cells[a:b], 0)``."""
    h = np.int64(0)
    for i in range(a, b):
        h = mix(h, cells[i])
    return h


@inlined
def find(lexicon: Any, cells: Ints, a: int, b: int, h: Any) -> Any:
    """Number of the term, or ~s when it is not there and slot s is the one to take."""
    slots, terms, pool, _ = lexicon
    i = h & len(slots) - 1
    while slots[i] != 0:
        if (slots[i] ^ h) >> 32 == 0:
            t = (slots[i] & 0xFFFFFFFF) - 1
            start = terms[t].start
            if terms[t + 1].start - start == b - a and pool[start] == cells[a]:
                j = 1
                while j < b - a and pool[start + j] == cells[a + j]:
                    j += 1
                if j == b - a:
                    return t
        i = i + 1 & len(slots) - 1
    return ~i


@inlined
def add(lexicon: Any, slot: Any, cells: Ints, a: int, b: int, h: Any) -> Any:
    """Number of the term, which :func:`find` has not found and which is not :func:`full`."""
    slots, terms, pool, size = lexicon
    n = size[0]
    slots[slot] = h & HIGH_HALF | n + 1
    start = terms[n].start
    for j in range(b - a):
        pool[start + j] = cells[a + j]
    terms[n + 1].start = start + b - a
    size[0] = n + 1
    return n


@inlined
def full(lexicon: Any, more_terms: Any, more_cells: Any) -> Any:
    """Is there no room for so many terms, of so many cells in all?"""
    _, terms, pool, size = lexicon
    n = size[0]
    return n + more_terms >= len(terms) or terms[n].start + more_cells > len(pool)


@kernel
def roomier(lexicon: Any, more_terms: Any, more_cells: Any) -> Any:
    """The same lexicon, with room for so many terms, of so many cells in all."""
    slots, terms, pool, size = lexicon
    n = size[0]
    used = terms[n].start
    if used + more_cells > len(pool):
        pool = np.empty(2 * (used + more_cells), np.int64)
        pool[:used] = lexicon.pool[:used]
    capacity = len(terms)
    while n + more_terms >= capacity:
        capacity *= 2
    if capacity > len(terms):
        terms = np.zeros(capacity, TERM)
        terms[: n + 1] = lexicon.terms[: n + 1]
        slots = np.zeros(2 * capacity, np.int64)
        for t in range(n):
            h = hash_of(pool, terms[t].start, terms[t + 1].start)
            i = h & len(slots) - 1
            while slots[i] != 0:
                i = i + 1 & len(slots) - 1
            slots[i] = h & HIGH_HALF | t + 1
    return Lexicon(slots, terms, pool, size)


@kernel
def insert(lexicon: Any, cells: Ints, cuts: Ints, tf: Ints, df: Ints) -> tuple[Lexicon, Ints]:
    """The lexicon with terms ``cells[cuts[i]:cuts[i + 1]]`` in it, and their numbers.

    If the lexicon were a dict from term to number, equivalent to::

        [lexicon.setdefault(term, len(lexicon)) for term in terms]

    with ``tf`` and ``df`` added to those of the terms.
    """
    numbers = np.empty(len(cuts) - 1, np.int64)
    lexicon = roomier(lexicon, len(numbers), len(cells))
    for i in range(len(cuts) - 1):
        a, b = cuts[i], cuts[i + 1]
        h = hash_of(cells, a, b)
        t = find(lexicon, cells, a, b, h)
        if t < 0:
            t = add(lexicon, ~t, cells, a, b, h)
        lexicon.terms[t].tf += tf[i]
        lexicon.terms[t].df += df[i]
        numbers[i] = t
    return lexicon, numbers


def take(lexicon: Lexicon, numbers: Ints) -> tuple[Ints, Ints]:
    """Cells and cuts of the terms with these numbers, one after the other."""
    start = lexicon.terms["start"]
    cuts = np.concatenate([[0], np.cumsum(start[numbers + 1] - start[numbers])])
    shift = np.repeat(start[numbers] - cuts[:-1], np.diff(cuts))
    return lexicon.pool[np.arange(cuts[-1]) + shift], cuts
