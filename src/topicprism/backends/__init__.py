"""Where an array is decides which functions run: the same few of them, for each place.

::

    cpu        documents in memory, by numba
    gpu        documents in the memory of one NVIDIA GPU, by CuPy
    rows       rows of documents on a GPU
    cuda       the source of its kernels
    by_blocks  sums over blocks of documents, where no one kernel has them all

``of(array)`` is the module for an array, or for rows of documents.  Each has ``xp``, which is numpy
or CuPy, and ``array`` and ``numpy``, to that place and back; functions for sums over documents,
``word_sums``, ``pair_products`` and ``sketch_sums``; and those for single documents,
``propagate``, ``assign``, ``lengths`` and ``document_keys``.  Formulas above them are written once,
for whatever place.  Only sums and what is found of a document come back: what a fit keeps is numpy.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from topicprism.backends import cpu
from topicprism.io.failures import reason

DEVICES = ("cpu", "gpu")


def of(array: Any) -> ModuleType:
    """The functions for this array, or these rows; rows that are elsewhere know their own."""
    if hasattr(array, "__cuda_array_interface__"):
        from topicprism.backends import gpu

        return gpu
    found: ModuleType = getattr(array, "backend", cpu)
    return found


def placed(X: Any, device: str) -> Any:
    """Rows in CSR format for one of ``DEVICES``."""
    if device == "cpu":
        return X
    require_gpu()
    from topicprism.backends import gpu

    return gpu.placed(X)


def require_gpu() -> None:
    """Refuse to go on without CuPy or without a GPU."""
    try:
        from cupy.cuda import runtime
    except ImportError as error:
        raise ImportError(
            f"CuPy is not installed ({error}), but device='gpu' needs it; run: pip install "
            "'topicprism[gpu]', or use device='cpu'"
        ) from None
    try:
        n, why = runtime.getDeviceCount(), "none is there"
    except runtime.CUDARuntimeError as error:
        n, why = 0, reason(error)
    if n == 0:
        raise RuntimeError(
            f"CUDA finds no GPU ({why}), but device='gpu' needs an NVIDIA one; check that "
            "nvidia-smi shows it, or use device='cpu'"
        )
