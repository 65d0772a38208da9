"""Documents on a GPU: the functions of :mod:`topicprism.backends.cpu`, by kernels of CUDA.

Products are in float32, sums in float64; inference is in float64.  A transposed product goes block
by block of documents: their coordinates, which stay in the cache, are gathered for each word by
warps of threads, and these sums are added up in a fixed order.  So results have the same bits in
every run on one kind of GPU.
"""

from __future__ import annotations

import sys
from typing import Any

import cupy
import numpy as np
from scipy.sparse import csr_array

from topicprism.backends import by_blocks, cpu, fallback
from topicprism.backends.launch import (
    MAX_LANES,
    THREADS,
    TILES,
    inference,
    launch,
    moments,
    padded,
    per_thread,
    per_warp,
)
from topicprism.backends.memory import free_bytes, uploaded
from topicprism.backends.rows import BLOCK, ByWord, PlacedRows, Store
from topicprism.kernels import many
from topicprism.kernels.propagation import PROPAGATION

xp = cupy
PlacedRows.backend = sys.modules[__name__]
AT_ONCE = 8  # blocks whose coordinates are held at once: 134 MB of 32
PART = 2048  # documents whose products are added up in float32
MAX_COLUMNS = 2**25  # numbers that products of pairs of coordinates take at once: 128 MB
MAX_COUNT = 2**32 - 1  # of one word in one document
SITES = 2**28  # numbers that the sites of documents take at once: 2 GB
MAX_ENTRIES = 2**28  # of documents whose proportions are inferred at once
MAX_TOPICS = 128  # of inference here: more are inferred on the CPU


# --- there and back -------------------------------------------------------------------


def array(values: Any) -> Any:
    return uploaded(values) if isinstance(values, np.ndarray) else values


def numpy(values: Any) -> Any:
    return cupy.asnumpy(values)


def stored(X: tuple[Any, Any, Any, int]) -> Store:
    """Row pointers, words and counts of documents, and how many words there are, on the GPU."""
    indptr, words, counts, n_words = X
    start, stop = int(indptr[0]), int(indptr[-1])
    rows = cupy.asarray(np.asarray(indptr, np.int64) - start)
    words = uploaded(words[start:stop]).astype(cupy.int32, copy=False)
    given = uploaded(counts[start:stop])
    counts = given.astype(cupy.uint32, copy=False)
    if counts is not given and not (counts == given).all():
        raise ValueError(
            f"counts on a GPU are whole numbers from 0 to {MAX_COUNT}, but a document has others; "
            "check the counts, or use device='cpu'"
        )
    return Store(rows, words, counts, n_words)


def placed(X: Any) -> PlacedRows:
    """Rows in CSR format, which are brought to the GPU when they are needed."""
    host = X.indptr, X.indices, X.data, int(X.shape[1])
    rows = PlacedRows(host[3], int(X.shape[0]), lambda: stored(host), host)
    rows.__dict__["on_host"] = X
    return rows


def rows_of(store: Store) -> PlacedRows:
    """All documents of a store."""
    return PlacedRows.of(store)


def fetched(X: PlacedRows) -> csr_array:
    store = X.store
    indptr = cupy.asnumpy(store.indptr[X.start : X.stop + 1])
    own = slice(int(indptr[0]), int(indptr[-1]))
    parts = (cupy.asnumpy(store.counts[own]), cupy.asnumpy(store.words[own]), indptr - indptr[0])
    return csr_array(parts, shape=X.shape)


def pieces(X: Any, n_threads: int) -> int:
    """For each thread one, so that all of them take a second look."""
    return max(n_threads, -(-int(X.nnz) // MAX_ENTRIES))


def key_order(store: Store, y: Any) -> tuple[Any, Any]:
    """The order of documents by their keys, and by responses where these are the same; and the
    keys in it."""
    by_response = cupy.argsort(cupy.asarray(y))
    order = by_response[cupy.argsort(store.keys[by_response])]
    return cupy.asnumpy(order), cupy.asnumpy(store.keys[order])


def occurrences(X: PlacedRows) -> Any:
    sums = cupy.zeros((X.shape[1], 4))
    for b, (start, stop) in zip(X.blocks, _runs(X, 1), strict=True):
        block = X.store.by_word(b)
        ones = cupy.zeros((block.n, 4))
        ones[X.start + start - block.first : X.start + stop - block.first, 0] = 1
        _add_by_word(block, ones, sums, words=True)
    return cupy.asnumpy(sums[:, 0])


def lengths(X: PlacedRows) -> Any:
    return cupy.asnumpy(X.store.lengths[X.start : X.stop])


def document_keys(X: PlacedRows) -> Any:
    return cupy.asnumpy(X.store.keys[X.start : X.stop])


# --- sums over documents --------------------------------------------------------------


def blocks(X: PlacedRows) -> list[tuple[int, int]]:
    """Some blocks of the store at a time: then kernels take longer than it takes to start them."""
    return _runs(X, AT_ONCE)


def _runs(X: PlacedRows, n_blocks: int) -> list[tuple[int, int]]:
    edges = [b * BLOCK - X.start for b in X.blocks[::n_blocks]]
    return [(max(b, 0), min(b + n_blocks * BLOCK, X.shape[0])) for b in edges]


def _weights(X: PlacedRows, block: ByWord, half: float) -> Any:
    """w, c1, c2 and c3 of the documents of a block; 0 of those that are not among the rows."""
    table = cupy.empty((block.n, 4))
    args = (X.store.lengths, block.first, block.n, X.start, X.stop, float(half), table)
    per_thread(moments("weights", 4), block.n, *args)
    return table


def _projected(X: PlacedRows, block: ByWord, S: Any, table: Any, order: int, P: Any) -> Any:
    """c * (X @ S) of a block, c being c2 or c3; and in P, unless it is 0, X @ S itself."""
    store, width = X.store, S.shape[1]
    columns = padded(width)
    R = cupy.empty((block.n, columns), cupy.float32)
    documents = (store.indptr, store.words, store.counts, block.first, block.n)
    kernel = moments("project", width)
    args = (*documents, S, width, table, order, columns, P, R)
    per_warp(kernel, block.n, *args, tiles=-(-columns // MAX_LANES))
    return R


def _add_by_word(block: ByWord, R: Any, out: Any, *, words: bool = False) -> None:
    """``out += X.T @ R`` of a block's documents."""
    width, columns = out.shape[1], R.shape[1]
    tiles, partial = -(-columns // MAX_LANES), cupy.empty((block.n_chunks, columns))
    entries = (block.begin, block.end, block.n_chunks, block.docs, block.counts)
    gather, reduce = (moments(name, width, words=words) for name in ("gather", "reduce"))
    per_warp(gather, block.n_chunks, *entries, R, columns, partial, tiles=tiles)
    launch(reduce, (len(out), tiles), (block.chunks, partial, columns, width, out))


def word_sums(X: PlacedRows, y: Any, half: float) -> tuple[Any, Any]:
    weights, sums = cupy.zeros(X.shape[0]), cupy.zeros((X.shape[1], 4))
    for b, (start, stop) in zip(X.blocks, _runs(X, 1), strict=True):
        block = X.store.by_word(b)
        table = _weights(X, block, half)
        weights[start:stop] = table[X.start + start - block.first :, 0][: stop - start]
        _add_word_sums(X, block, table, y, 1, sums)
    return weights, cupy.asnumpy(sums)


def _add_word_sums(X: PlacedRows, block: ByWord, table: Any, y: Any, order: int, out: Any) -> None:
    """Sums over words of c and c y, c being c1 or c2, and of the c after it."""
    of_word = cupy.empty_like(table)
    where = (block.first, block.n, X.start, X.stop)
    per_thread(moments("word_table", 4), block.n, table, y, *where, order, of_word)
    _add_by_word(block, of_word, out, words=True)


def pair_products(X: PlacedRows, S: Any, half: float) -> Any:
    S, out = cupy.asarray(S, cupy.float32, order="C"), cupy.zeros(S.shape)
    for b in X.blocks:
        block = X.store.by_word(b)
        _add_by_word(block, _projected(X, block, S, _weights(X, block, half), 2, 0), out)
    return cupy.asnumpy(out)


def sketch_sums(X: PlacedRows, t: Any, B: Any, half: float) -> tuple[Any, ...]:
    return by_blocks.sketch_sums(sys.modules[__name__], X, t, B, half)


def project(
    X: PlacedRows, rows: tuple[int, int], t: Any, B: Any, half: float, Q: Any, sums: Any
) -> tuple[Any, Any]:
    some, S = X.between(*rows), cupy.asarray(B, cupy.float32, order="C")
    first = some.blocks[0] * BLOCK
    n = min((some.blocks[-1] + 1) * BLOCK, X.store.n) - first
    P, C, t = cupy.empty((n, B.shape[1])), cupy.empty((n, 4)), cupy.ascontiguousarray(t)
    for b in some.blocks:
        block = X.store.by_word(b)
        own = slice(block.first - first, block.first - first + block.n)
        C[own] = table = _weights(some, block, half)
        _add_by_word(block, _projected(some, block, S, table, 3, P[own]), Q)
        _add_word_sums(some, block, table, t, 2, sums)
    own = slice(some.start - first, some.stop - first)
    return P[own], C[own]


def product(A: Any, P: Any) -> Any:
    """``A @ P`` in parts of the documents, which keep more of the GPU at work."""
    n, n_parts = len(P), -(-len(P) // PART)
    rows, columns = cupy.zeros((len(A), n_parts * PART)), cupy.zeros((n_parts * PART, P.shape[1]))
    rows[:, :n], columns[:n] = A, P
    left = cupy.ascontiguousarray(rows.reshape(len(A), n_parts, PART).transpose(1, 0, 2))
    return (left @ columns.reshape(n_parts, PART, -1)).sum(axis=0)


def add_triples(T: Any, P: Any, w: Any) -> None:
    """Products in float32, added up in it over ``PART`` documents and in float64 from there."""
    n, K = P.shape
    left, right = (cupy.asarray(i, cupy.int32) for i in np.triu_indices(K))
    n_pairs, P, w = len(left), cupy.ascontiguousarray(P), cupy.ascontiguousarray(w)
    kernel = moments("pair_columns", K)
    step = PART * max(1, MAX_COLUMNS // (PART * n_pairs))
    found = cupy.zeros((n_pairs, K))
    for start in range(0, n, step):
        some, of_some = P[start : start + step], w[start : start + step]
        n_parts = -(-len(some) // PART)
        Z = cupy.empty((n_parts, n_pairs, PART), cupy.float32)
        columns = cupy.empty((n_parts, K, PART), cupy.float32)
        args = (some, of_some, left, right, n_pairs, K, len(some), PART, Z, columns)
        launch(kernel, (PART // THREADS, n_parts), args)
        rows = cupy.ascontiguousarray(columns.transpose(0, 2, 1))
        found += (Z @ rows).sum(axis=0, dtype=cupy.float64)
    T[left, right] += found  # also l < j, which nobody reads


# --- single documents -----------------------------------------------------------------


def propagate(
    X: PlacedRows, mu: Any, alpha: Any, limits: tuple[int, float, bool], h: Any, totals: Any,
    converged: Any,
) -> None:  # fmt: skip
    sweep = _sweep if len(alpha) <= MAX_TOPICS else None
    fallback.propagate(X, mu, alpha, limits, (h, totals, converged), sweep)


def _sweep(
    X: PlacedRows, mu: Any, alpha: Any, limits: Any, h: Any, totals: Any, converged: Any
) -> None:
    """All documents, those with most words first: neighbours then end at about the same time."""
    store, k = X.store, len(alpha)
    sizes = store.indptr[X.start + 1 : X.stop + 1] - store.indptr[X.start : X.stop]
    order = cupy.argsort(-sizes)
    ordered, at = cupy.asnumpy(sizes[order]), 0
    mu, alpha = cupy.asarray(mu, order="C"), cupy.asarray(alpha)
    evidence = (store.lengths, X.burstiness, float(X.burst_words))
    sweeps = min(limits[0], PROPAGATION.first_sweeps)
    steps = (PROPAGATION.damping, PROPAGATION.full_step_sweeps, sweeps, float(limits[1]))
    rules = (*steps, PROPAGATION.max_blocked_share, many.MAX_DECREASE)
    kernel, g = inference("propagate", k), cupy.empty((len(h), k))
    done = cupy.empty(len(h), cupy.uint8)
    documents = (store.indptr, store.words, store.counts, *evidence)
    most = min(SITES, free_bytes() // 32)
    while at < len(h):
        room = max(int(ordered[at]), 1) * k
        n = min(len(h) - at, max(most // room, 1))
        which, sites = order[at : at + n] + X.start, cupy.empty(room * n)
        found = (sites, n, g[at:], done[at:])
        per_thread(kernel, n, *documents, which, n, mu, alpha, *rules, *found)
        at += n
    back = cupy.empty_like(order)
    back[order] = cupy.arange(len(h))
    g, done = g[back], done[back]
    total = g.sum(axis=1)
    h[:], totals[:] = cupy.asnumpy(g / total[:, None]), cupy.asnumpy(total)
    converged[:] = cupy.asnumpy(done).astype(bool)


def assign(X: PlacedRows, mu: Any, alpha: Any, n_sweeps: int, expected: Any, shares: Any) -> None:
    k, store = len(alpha), X.store
    if k > TILES * MAX_LANES:
        cpu.assign(X.on_host, mu, alpha, n_sweeps, expected, shares)
        return
    mu, alpha = cupy.asarray(mu, order="C"), cupy.asarray(alpha, float)
    evidence = (store.lengths, X.burstiness, float(X.burst_words))
    found, total = cupy.zeros((len(mu), k)), cupy.zeros(k)
    for b in X.blocks:
        block = store.by_word(b)
        C, share = cupy.empty((2, block.n, k))
        documents = (store.indptr, store.words, store.counts, *evidence, block.first, block.n)
        args = (*documents, X.start, X.stop, mu, alpha, n_sweeps, C, share)
        per_thread(inference("assign", k), block.n, *args)
        total += share.sum(axis=0)
        columns = padded(k)
        partial = cupy.empty((block.n_chunks, columns))
        entries = (block.begin, block.end, block.word_of, block.n_chunks, block.docs, block.counts)
        of_topics = (C, mu, k, store.lengths[block.first :], *evidence[1:], columns, partial)
        per_warp(moments("gather_expected", k), block.n_chunks, *entries, *of_topics)
        grid = (len(mu), -(-columns // MAX_LANES))
        launch(moments("reduce", k), grid, (block.chunks, partial, columns, k, found))
    expected += cupy.asnumpy(found)
    shares += cupy.asnumpy(total)
