"""Which texts are held out, and which serve the baseline: by what they say, not where they stand.

A text has a key, 64 bits of it and of the seed.  Texts with the smallest keys are held out, those
that follow serve the baseline: the same for any order of rows, and copies of a text are never
both learnt from and scored on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from topicprism.defaults import FITTING

Keys = NDArray[np.uint64]
BYTES = 8


def text_keys(texts: Sequence[str], seed: int) -> Keys:
    return seeded_keys((text.encode("utf-8", "surrogatepass") for text in texts), seed)


def seeded_keys(contents: Iterable[bytes], seed: int) -> Keys:
    """64 bits of each content and of the seed."""
    salt = seed.to_bytes(16, "little", signed=True)
    digests = (blake2b(one, digest_size=BYTES, salt=salt).digest() for one in contents)
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


@dataclass(frozen=True)
class Drawn:
    """Texts with keys below ``held_out`` are held out; the baseline's are the next."""

    seed: int = 0
    held_out: int = 0
    baseline: int = 0

    def of(self, texts: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The places of texts held out and of the baseline's."""
        if self.baseline == 0:
            return np.empty(0, np.intp), np.empty(0, np.intp)
        return self.of_keys(text_keys(texts, self.seed))

    def of_keys(self, keys: Keys) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The same, of the keys of texts; ``baseline`` is not 0."""
        chosen = keys < np.uint64(self.held_out)
        return np.flatnonzero(chosen), np.flatnonzero(
            ~chosen & (keys <= np.uint64(self.baseline - 1))
        )


@dataclass
class Drawing:
    """The smallest keys of texts that passed: as many as may be drawn, and one more."""

    seed: int
    n: int = 0
    smallest: Keys = field(default_factory=lambda: np.empty(0, np.uint64))

    def add(self, texts: Sequence[str]) -> None:
        both = self + Drawing(self.seed, len(texts), text_keys(texts, self.seed))
        self.n, self.smallest = both.n, both.smallest

    def __add__(self, other: Drawing) -> Drawing:
        """Of the texts of both."""
        keys = np.sort(np.concatenate([self.smallest, other.smallest]))
        most = FITTING.max_held_out + FITTING.max_baseline + 1
        return Drawing(self.seed, self.n + other.n, keys[:most])

    def draw(self, share: float) -> Drawn:
        """About this share of the texts held out; none if there are few texts in all."""
        if share == 0 or self.n < FITTING.min_documents:
            return Drawn(self.seed)
        n_held_out = min(round(share * self.n), FITTING.max_held_out)
        n_base = min(self.n - n_held_out, FITTING.max_baseline)
        edges = [*self.smallest.tolist(), 2**64]
        held_out, base = edges[n_held_out], edges[min(n_held_out + n_base, len(edges) - 1)]
        return Drawn(self.seed, held_out, base) if held_out > edges[0] else Drawn(self.seed)
