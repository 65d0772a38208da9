"""An exception as one sentence, and the exit status of a command that ends with it.

A mistake in the input is a ValueError whose message is the sentence.  What nobody foresaw is
a defect of topicprism and says so; the traceback is shown if ``TOPICPRISM_DEBUG`` is set.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback

MISTAKE, DEFECT = 2, 70
DEBUG = "TOPICPRISM_DEBUG"
FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG)


class OutputError(OSError, ValueError):
    """A place that cannot be written; the message is one sentence."""


def reason(error: BaseException) -> str:
    """What the system or a library says, without its number."""
    strerror = getattr(error, "strerror", None)
    return " ".join(str(strerror or error).split()).rstrip(".")


def not_written(name: object, error: OSError) -> OutputError:
    """``error`` while ``name`` was written."""
    if error.errno in FULL:
        advice = "free some room or write to another disk (TMPDIR names that of temporary files)"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        advice = "name a file in a folder that may be written to"
    else:
        advice = "check the name and the disk"
    sentence = OutputError(f"{name} cannot be written: {reason(error)}; {advice}")
    sentence.errno = error.errno
    return sentence


def explained(error: BaseException, during: str = "") -> tuple[int, str]:
    """Exit status and sentence."""
    if isinstance(error, OSError) and not isinstance(error, ValueError):
        name, full = error.filename or "standard output", error.errno in FULL
        if error.filename is None or full:
            return MISTAKE, str(not_written(name, error))
        return MISTAKE, f"{name} cannot be used: {reason(error)}; check the name and the folder"
    said = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return MISTAKE, f"not enough memory ({said or 'none is left'}); give less, or ask for less"
    if isinstance(error, ValueError) and said:
        return MISTAKE, said
    what = f"{type(error).__name__}: {said:.200}".removesuffix(": ")
    if isinstance(error, ImportError):
        return DEFECT, f"a part could not be imported ({what}); install topicprism again"
    where = f" during {during!r}" if during else ""
    return DEFECT, (
        f"{what}{where}, which nobody foresaw: this is a defect in topicprism, so please report "
        f"it, with the traceback that {DEBUG}=1 shows"
    )


def show_traceback(error: BaseException) -> None:
    if os.environ.get(DEBUG, "0") not in ("", "0") and sys.stderr is not None:
        traceback.print_exception(error, file=sys.stderr)
