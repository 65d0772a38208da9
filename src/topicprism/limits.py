"""How large and how small the numbers of a response may be, and how much a machine holds."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

MAX_RESPONSE = 1e100  # of a response: its cube must be a number
MIN_RESPONSE_GAP = 1e-100  # difference of responses: its square must be a number
MAX_WORDS = 2**53  # of all documents: up to it sums of counts are exact


def fits(n_bytes: float) -> bool:
    """Whether so much could be held in memory at all, that of others and the disk's included."""
    return n_bytes <= _memory()


def _memory() -> float:
    """Bytes of memory and of swap; infinite where unknown."""
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        given = {line.split(":")[0]: 1024 * int(line.split()[1]) for line in lines}
        return given["MemTotal"] + given.get("SwapTotal", 0)
    with suppress(OSError, ValueError, AttributeError):  # AttributeError: Windows has no sysconf
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return float("inf")
