"""Products of coordinates of documents, by the functions of a backend for blocks of documents."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def sketch_sums(on: ModuleType, X: Any, t: Any, B: Any, half: float) -> tuple[Any, ...]:
    """As the kernel :func:`topicprism.kernels.products.sketch_sums`, block by block."""
    (V, K), xp, there = B.shape, on.xp, on.array(B)
    scalars, first, second = xp.zeros(7), xp.zeros((3, K)), xp.zeros((2, K, K))
    third, Q, sums = xp.zeros((K, K, K)), xp.zeros((V, K)), xp.zeros((V, 4))
    for start, stop in on.blocks(X):
        y = t[start:stop]
        P, C = on.project(X, (start, stop), y, there, half, Q, sums)
        (w, c1, c2, c3), powers = C.T, xp.vander(y, 4, increasing=True).T
        scalars[:4] += xp.stack([(w > 0).sum(), w.sum(), w @ c1, w @ c2])
        scalars[4:] += powers[1:] @ w
        first += on.product(powers[:3] * c1, P)
        second[0] += on.product(P.T * c2, P)
        second[1] += on.product(P.T * (c2 * y), P)
        on.add_triples(third, P, c3)
    return scalars, first, second, third, Q, sums
