"""Words of many documents, found and counted; compiled.

Text comes as UTF-8, every document followed by one space.  ``split`` turns it into *cells*,
64-bit integers of eight bytes, the first byte the most significant.  A token is its bytes, a
space, and zeros up to a whole cell; a term (a token or an n-gram) is the cells of its tokens, one
after the other.  Two terms are the same string if and only if they have the same cells, and since
a space is smaller than any byte of a word, unsigned cells sort as Python sorts the strings.

=========  =====================================================================================
name       meaning
=========  =====================================================================================
text       UTF-8 bytes of a block of documents
ends       position in ``text`` of the space after each document                             (D)
fold       per code point: 0 if it is no word character, else 1; for ASCII, the byte to keep
cells      cells of tokens or of terms, one after the other
cuts       where each begins in ``cells``, and where the last one ends                   (n + 1)
first      number of tokens before each document, and in all                             (D + 1)
=========  =====================================================================================

The kernels release the GIL and write only to the lexicon they are given and to what they return:
one lexicon, one thread.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicprism.vectorizer.lexicon import (
    Ints,
    Lexicon,
    add,
    find,
    full,
    hash_of,
    inlined,
    kernel,
    mix,
    roomier,
)  # fmt: skip

Bytes = NDArray[np.uint8]
Counts = NDArray[np.int32]


class Rows(NamedTuple):
    """Compressed sparse rows of a block; a column is the number of a term."""

    indptr: Ints
    indices: Counts
    counts: Counts


@inlined
def _code_point(text: Bytes, p: int) -> Any:
    """Width in bytes and number of the character that starts at p, a lead byte of UTF-8."""
    c = np.int64(text[p])
    width = 2 if c < 0xE0 else 3 if c < 0xF0 else 4
    c &= 0x7F >> width
    for j in range(1, width):
        c = c << 6 | np.int64(text[p + j]) & 0x3F
    return width, c


@kernel
def split(text: Bytes, ends: Ints, fold: Bytes, stop: Any) -> tuple[Ints, Ints, Ints]:
    r"""Cells, cuts and first of the tokens of each document; those of a document are::

    [w for w in re.findall(r"(?u)\b\w\w+\b", document) if w not in stop]
    """
    cells = np.empty(len(text) // 3 + 2, np.int64)  # a token and its gap are three bytes or more
    cuts = np.zeros(len(text) // 3 + 2, np.int64)
    first = np.zeros(len(ends) + 1, np.int64)
    n, p = 0, 0
    for d in range(len(ends)):
        while p <= ends[d]:
            at, cell, shift, chars = cuts[n], np.int64(0), 56, 0
            while True:
                byte = np.int64(text[p])
                if byte < 0x80:
                    byte = np.int64(fold[byte])
                    if byte == 0:
                        p += 1
                        break
                    chars += 1
                elif byte >= 0xC0:  # the bytes that continue a character follow its fate
                    width, c = _code_point(text, p)
                    if fold[c] == 0:
                        p += width
                        break
                    chars += 1
                p += 1
                cell |= byte << shift
                shift -= 8
                if shift < 0:
                    cells[at] = cell
                    at, cell, shift = at + 1, np.int64(0), 56
            if chars > 1:
                cells[at] = cell | np.int64(32) << shift
                h = hash_of(cells, cuts[n], at + 1) if stop.size[0] > 0 else np.int64(0)
                if find(stop, cells, cuts[n], at + 1, h) < 0:
                    n += 1
                    cuts[n] = at + 1
        first[d + 1] = n
    return cells[: cuts[n]], cuts[: n + 1], first


@kernel
def _resume(
    lexicon: Any, cells: Ints, cuts: Ints, first: Ints, lo: int, hi: int, learn: bool,
    rows: Any, d: Any, i: Any, nnz: Any,
) -> Any:  # fmt: skip
    """``count`` from token i of document d on, until done or until the lexicon is full."""
    indptr, indices, counts = rows
    base, orders = lexicon.size[1], hi - lo + 1
    while d < len(first) - 1:
        row = indptr[d]
        while i < first[d + 1]:
            stop = min(i + hi, first[d + 1])
            if learn and full(lexicon, orders, orders * (cuts[stop] - cuts[i])):
                return d, i, nnz
            h = np.int64(0)
            for last in range(i, stop):
                a, b = cuts[i], cuts[last + 1]
                for j in range(cuts[last], b):
                    h = mix(h, cells[j])
                if last - i + 1 < lo:
                    continue
                t = find(lexicon, cells, a, b, h)
                if t < 0:
                    if not learn:
                        continue
                    t = add(lexicon, ~t, cells, a, b, h)
                term = lexicon.terms[t]
                term.tf += 1
                at = term.seen - base
                if at >= row:
                    counts[at] += 1
                else:
                    term.df += 1
                    term.seen = base + nnz
                    indices[nnz] = t
                    counts[nnz] = 1
                    nnz += 1
            i += 1
        d += 1
        indptr[d] = nnz
    return d, i, nnz


@kernel
def count(
    lexicon: Any, cells: Ints, cuts: Ints, first: Ints, lo: int, hi: int, learn: bool
) -> tuple[Lexicon, Rows]:
    """Terms of lo to hi tokens of each document, counted.  A row holds the items of::

        Counter(tuple(w[i : i + n]) for n in range(lo, hi + 1) for i in range(len(w) - n + 1))

    where w are the tokens of the document; ``tf`` and ``df`` in the lexicon take their sums.
    Terms that the lexicon lacks are added to it if ``learn``, else passed over.
    """
    room, D = 0, len(first) - 1
    hi = min(hi, max(lo, np.max(np.diff(first))))
    for w in np.diff(first):
        n = min(hi, w) - lo + 1  # orders that fit in w tokens: lo, ..., lo + n - 1
        room += max(n, 0) * (w + 1 - lo) - max(n, 0) * (n - 1) // 2
    rows = np.zeros(D + 1, np.int64), np.empty(room, np.int32), np.empty(room, np.int32)
    d, i, nnz = 0, 0, 0
    while d < D:
        d, i, nnz = _resume(lexicon, cells, cuts, first, lo, hi, learn, rows, d, i, nnz)
        if d < D:
            ahead = cuts[min(i + hi, len(cuts) - 1)] - cuts[i]
            lexicon = roomier(lexicon, hi - lo + 1, (hi - lo + 1) * ahead)
    lexicon.size[1] += nnz
    return lexicon, Rows(rows[0], rows[1][:nnz].copy(), rows[2][:nnz].copy())


@kernel
def spell(cells: Ints, cuts: Ints) -> Bytes:
    r"""UTF-8 of terms, a line each: ``"".join(term + "\n" for term in terms).encode()``."""
    text = np.empty(8 * len(cells), np.uint8)
    p = 0
    for i in range(len(cuts) - 1):
        for j in range(cuts[i], cuts[i + 1]):
            for shift in range(56, -8, -8):
                byte = cells[j] >> shift & 0xFF
                if byte != 0:
                    text[p] = byte
                    p += 1
        text[p - 1] = 10  # instead of the space after its last token
    return text[:p].copy()


@kernel
def relabel(rows: Any, columns: Ints, n_columns: int) -> Rows:
    """Rows under other column numbers, sorted; -1 drops an entry.  For each row::

        sorted((columns[t], n) for t, n in zip(indices, counts) if columns[t] >= 0)

    A counting sort by column, then entries handed back to their rows in that order.  Overwrites
    ``rows``: the blocks of a corpus need not exist twice.
    """
    indptr, indices, counts = rows
    place = np.zeros(n_columns + 1, np.int64)
    for t in indices:
        place[columns[t] + 1] += 1  # place[0] counts what is dropped
    place[0] = 0
    place = np.cumsum(place)
    row, column, number = np.empty((3, place[-1]), np.int32)
    begin = 0
    for d in range(len(indptr) - 1):
        for i in range(begin, indptr[d + 1]):
            c = columns[indices[i]]
            if c >= 0:
                p = place[c]
                place[c] += 1
                row[p], column[p], number[p] = d, c, counts[i]
        begin = indptr[d + 1]
    indptr[1:] = np.cumsum(np.bincount(row, minlength=len(indptr) - 1))
    place = indptr.copy()
    for i in range(len(row)):
        p = place[row[i]]
        place[row[i]] += 1
        indices[p], counts[p] = column[i], number[i]
    return Rows(indptr, indices[: len(row)], counts[: len(row)])
