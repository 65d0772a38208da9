"""Arrays that begin where a cache line does.

Rows of ``LANES`` numbers then fill lines: begun elsewhere, half of their vectors are in two lines,
and passes take up to a third longer.
"""

from __future__ import annotations

import numpy as np

from topicprism._typing import Array
from topicprism.kernels.compiling import inlined

LINE = 64  # bytes


def zeros(*shape: int) -> Array:
    """``np.zeros(shape)``."""
    found = _place(shape, np.float64)
    found[:] = 0
    return found


def aligned(a: Array, dtype: type = np.float64) -> Array:
    """``np.ascontiguousarray(a, dtype)``."""
    copy = _place(a.shape, dtype)
    copy[:] = a
    return copy


def _place(shape: tuple[int, ...], dtype: type) -> Array:
    size, itemsize = int(np.prod(shape)), np.dtype(dtype).itemsize
    space: Array = np.empty(size + LINE // itemsize, dtype)
    first = (-space.ctypes.data % LINE) // itemsize
    place: Array = space[first : first + size].reshape(shape)
    return place


@inlined
def empty(n):  # type: ignore[no-untyped-def]
    """``np.empty(n)``, in a kernel."""
    space = np.empty(n + LINE // 8)
    first = (LINE - space.ctypes.data % LINE) % LINE // 8
    return space[first : first + n]
