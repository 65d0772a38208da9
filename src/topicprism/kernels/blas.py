"""One thread for BLAS: the threads, if any, are ours."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


class _OneBlasThread:
    """``with one_blas_thread:`` BLAS keeps to one thread: the threads, if any, are ours.

    The limit is of the whole process.  The first to come in sets it and the last
    to leave lifts it, so that fits in several threads do not undo each other's.

    From 3.8 on threadpoolctl hears one thread, the first to set a limit, and no other as long as
    that one lives.  These may be two, so it is told each time that the one before has done.
    """

    def __init__(self) -> None:
        self._lock, self._inside, self._limit = Lock(), 0, None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._let_any_thread_set()
                self._limit = self._libraries.limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._limit is not None:
                self._let_any_thread_set()
                self._limit.restore_original_limits()
                self._let_any_thread_set()

    def _let_any_thread_set(self) -> None:
        for library in self._libraries.lib_controllers:
            if (clear := getattr(library, "clear_controlling_thread", None)) is not None:
                clear(force=True)

    @cached_property
    def _libraries(self) -> Any:
        """Looked for once, which takes milliseconds; scipy's is the one that kernels use."""
        import_module("scipy.linalg.cython_blas")
        return ThreadpoolController()


one_blas_thread = _OneBlasThread()
