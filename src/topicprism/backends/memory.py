"""Arrays to the GPU through pinned memory, and whether there is a GPU at all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cupy
import numpy as np

PIECE = 2**25  # bytes that are copied at once
AT_ONCE = 4  # pieces on their way


def uploaded(values: Any) -> Any:
    """An array on the GPU.  Threads copy pieces of it to pinned memory, which it is read from by
    the GPU itself, many times as fast as from other memory; a pinned array is read as it is."""
    values = np.ascontiguousarray(values)
    there = cupy.empty(values.shape, values.dtype)
    if values.nbytes <= PIECE or _is_pinned(values):
        there.set(values)
        return there
    shape, values = values.shape, values.ravel()
    there, step = there.ravel(), PIECE // values.itemsize
    device = cupy.cuda.Device()

    def copy(lane: int) -> None:
        with device, cupy.cuda.Stream(non_blocking=True) as stream:
            pinned = cupy.cuda.alloc_pinned_memory(PIECE)
            room = np.frombuffer(pinned, values.dtype, step)
            for start in range(lane * step, len(values), AT_ONCE * step):
                some = values[start : start + step]
                np.copyto(room[: len(some)], some)
                there[start : start + step].set(room[: len(some)], stream)
                stream.synchronize()

    cupy.cuda.get_current_stream().synchronize()  # whoever had this memory before has done
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(copy, range(AT_ONCE)))
    return there.reshape(shape)


def _is_pinned(values: Any) -> bool:
    try:
        kind = cupy.cuda.runtime.pointerGetAttributes(values.ctypes.data).type
    except cupy.cuda.runtime.CUDARuntimeError:
        return False
    return bool(kind == cupy.cuda.runtime.memoryTypeHost)


def free_bytes() -> int:
    """Of the GPU's memory: what nobody has, and what CuPy keeps for its next arrays."""
    pool = cupy.get_default_memory_pool()
    return int(cupy.cuda.runtime.memGetInfo()[0] + pool.free_bytes())
