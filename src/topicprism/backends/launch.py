"""Kernels compiled when they are first needed, and started."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import cupy

from topicprism.backends import cuda

THREADS = 256  # of a block
MAX_LANES = 32
TILES = 4  # of 32 topics: with more of them documents are assigned on the CPU


@cache
def _module(source: str, macros: str = "") -> Any:
    options = ("--std=c++17", *(f"-D{macro}" for macro in macros.split()))
    return cupy.RawModule(code=source, options=options)


def LAYOUT(name: str) -> Any:
    return _module(cuda.LAYOUT).get_function(name)


def inference(name: str, n_topics: int) -> Any:
    return _module(cuda.INFERENCE, f"K={n_topics}").get_function(name)


def lanes(width: int) -> int:
    """The columns of a group of threads, for so many columns."""
    return next((n for n in (4, 8, 16) if width <= n), MAX_LANES)


def padded(width: int) -> int:
    """Columns with those that fill the last group up."""
    return -(-width // lanes(width)) * lanes(width)


def moments(name: str, width: int, *, words: bool = False) -> Any:
    """For so many columns; of sums over ``words``, which are in float64 and have n (n - 1)."""
    real = f"REAL={'double' if words else 'float'} SQUARES={int(words)} TILES={TILES}"
    return _module(cuda.MOMENTS, f"LANES={lanes(width)} {real}").get_function(name)


def launch(kernel: Any, grid: tuple[int, ...], args: tuple[Any, ...]) -> None:
    if min(grid) > 0:
        kernel(grid, (THREADS,), args)


def per_warp(kernel: Callable[..., Any], n: int, *args: Any, tiles: int = 1) -> None:
    """With a warp for each of n things, and for each tile of columns."""
    launch(kernel, (-(-n * 32 // THREADS), tiles), args)


def per_thread(kernel: Callable[..., Any], n: int, *args: Any) -> None:
    launch(kernel, (-(-n // THREADS),), args)
