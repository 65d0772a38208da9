"""Numba kernels that go by what is in a document, not by where it is.

The key of a document is 64 bits of its words and counts: the same in any order of documents and
in any shard.  Whatever is drawn for a document is drawn from a stream that starts at its key.
"""

from __future__ import annotations

import numpy as np

from topicprism.kernels.compiling import jit
from topicprism.kernels.random import GOLDEN, scramble

ONE = np.uint64(1)
NORMAL_SPLIT_COUNT = 1 << 20  # of one word: from there on the split of its copies is drawn from the
# normal distribution, which is as good as the binomial and takes no time


@jit
def document_keys(indptr, words, counts, keys):  # type: ignore[no-untyped-def]
    """A hash of each document's (word, count) pairs, in whatever order; zeros do not count."""
    for d in range(len(keys)):
        total = np.uint64(0)
        for j in range(indptr[d], indptr[d + 1]):
            if counts[j] > 0:
                n = scramble(np.uint64(counts[j]) * GOLDEN)
                total += scramble((np.uint64(words[j]) + ONE) * GOLDEN ^ n)
        keys[d] = scramble(total)


@jit
def lengths(indptr, counts, n_words):  # type: ignore[no-untyped-def]
    """``n_words[:] = X.sum(axis=1)``."""
    for d in range(len(n_words)):
        m = 0.0
        for j in range(indptr[d], indptr[d + 1]):
            m += np.float64(counts[j])
        n_words[d] = m


@jit
def split_words(indptr, counts, keys, seed, first):  # type: ignore[no-untyped-def]
    """``first[j]`` of the ``counts[j]`` words of each entry: a random half of each document.

    Of a document of m words, every set of ceil(m / 2) of them is equally likely.  Each word is
    given away by the toss of a coin; then words drawn at random change hands until the first
    hand has its size.  The work grows with the entries, not with the words.
    """
    for d in range(len(keys)):
        start, stop = indptr[d], indptr[d + 1]
        state = scramble(keys[d] ^ scramble(np.uint64(seed) * GOLDEN + ONE))
        total = taken = np.int64(0)
        for j in range(start, stop):
            state, first[j] = _coins(state, np.int64(counts[j]))
            total += np.int64(counts[j])
            taken += first[j]
        wanted = (total + 1) // 2
        while taken != wanted:
            state += GOLDEN
            step = 1 if taken < wanted else -1
            hand = total - taken if step > 0 else taken
            at = np.int64(np.float64(scramble(state) >> np.uint64(11)) * 2.0**-53 * hand)
            for j in range(start, stop):
                at -= np.int64(counts[j]) - first[j] if step > 0 else first[j]
                if at < 0:
                    first[j] += step
                    taken += step
                    break


@jit
def _coins(state, n):  # type: ignore[no-untyped-def]
    """The next state, and how many of n coins show heads: one random bit for each coin."""
    if n > NORMAL_SPLIT_COUNT:
        state += GOLDEN
        u = (np.float64(scramble(state) >> np.uint64(11)) + 0.5) * 2.0**-53
        state += GOLDEN
        v = np.float64(scramble(state) >> np.uint64(11)) * 2.0**-53
        z = np.sqrt(-2.0 * np.log(u)) * np.cos(2.0 * np.pi * v)
        return state, min(max(np.int64(np.rint(0.5 * (n + np.sqrt(n) * z))), 0), n)
    heads = np.int64(0)
    while n > 0:
        state += GOLDEN
        bits = scramble(state)
        if n < 64:
            bits &= (ONE << np.uint64(n)) - ONE
        while bits:
            bits &= bits - ONE
            heads += 1
        n -= 64
    return state, heads
