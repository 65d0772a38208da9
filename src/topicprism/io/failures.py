"""An exception as one sentence, and the exit status of a command that ends with it.

A mistake in the input is a ValueError whose message is the sentence.  Any other exception
is reported as a defect of topicprism; the traceback is shown if ``TOPICPRISM_DEBUG`` is set.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback

MISTAKE, DEFECT, INTERRUPTED = 2, 70, 130
DEBUG = "TOPICPRISM_DEBUG"
DISK_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG)


class OutputError(OSError, ValueError):
    """A place that cannot be written; the message is one sentence."""


def reason(error: BaseException) -> str:
    """The message of the system or a library, without its number."""
    strerror = getattr(error, "strerror", None)
    return " ".join(str(strerror or error).split()).rstrip(".")


def not_written(name: object, error: OSError) -> OutputError:
    """``error`` while ``name`` was written."""
    if error.errno in DISK_FULL:
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
        name, full = error.filename or "standard output", error.errno in DISK_FULL
        if error.filename is None or full:
            return MISTAKE, str(not_written(name, error))
        return MISTAKE, f"{name} cannot be used: {reason(error)}; check the name and the folder"
    message = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        detail = message or "none is left"
        return MISTAKE, f"not enough memory ({detail}); use fewer documents, words or topics"
    if isinstance(error, ValueError) and message:
        return MISTAKE, message
    what = f"{type(error).__name__}: {message:.200}".removesuffix(": ")
    if isinstance(error, ImportError):
        return DEFECT, f"a part could not be imported ({what}); install topicprism again"
    where = f" during {during!r}" if during else ""
    return DEFECT, (
        f"{what}{where}, an unexpected error: this is a defect in topicprism, so please report "
        f"it, with the traceback that {DEBUG}=1 shows"
    )


def show_traceback(error: BaseException) -> None:
    if os.environ.get(DEBUG, "0") not in ("", "0") and sys.stderr is not None:
        traceback.print_exception(error, file=sys.stderr)
