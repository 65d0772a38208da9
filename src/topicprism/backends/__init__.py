"""Where the arithmetic runs: the few verbs in which all the time goes.

``cpu`` and ``fold_in`` hold them as numba kernels.  They are serial and let go of
the interpreter, so that threads (``engines.Threaded``) can run several at once.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[Any]:
    """BLAS keeps to one thread inside: the threads, if any, are ours."""
    limits: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return limits


@cache
def _libraries() -> ThreadpoolController:
    """Found once: looking for loaded libraries takes milliseconds."""
    return ThreadpoolController()
