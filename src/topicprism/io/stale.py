"""Temporaries that a killed process left behind, and how the living mark theirs.

The name of a temporary has the number of its process, and the process holds a lock on it,
which the system takes back when the process ends, however it ends.  What belongs to this user,
has the number of no process and is not locked is swept.  The lock is for processes whose
numbers cannot be seen from here: in other containers, or on other machines.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # no such locks on this system, so nothing is swept there
    fcntl = None  # type: ignore[assignment]

ENDING = ".unfinished"
FILE = re.compile(r"\..+?\.(\d+)(?:\.[0-9a-f]{8})?" + re.escape(ENDING), re.DOTALL)
FOLDER = re.compile(r"topicprism-(\d+)-\w+")
OWNER = "owner"  # the file in a temporary folder that is locked
MAX_NAME_BYTES = 100  # bytes of a file's name that go into that of its temporary


def temporary_name(name: str) -> str:
    """Hidden, and of this process; no other call gives the same."""
    short = os.fsdecode(os.fsencode(name)[:MAX_NAME_BYTES])
    return f".{short}.{os.getpid()}.{secrets.token_hex(4)}{ENDING}"


def lock(descriptor: int) -> None:
    if fcntl is not None:
        with suppress(OSError):  # not all file systems have locks
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is gone afterwards; those of dead processes are swept first."""
    try:
        place = Path(tempfile.gettempdir())
    except FileNotFoundError as error:
        raise ValueError(f"{error.strerror}; set TMPDIR to a folder with room") from None
    sweep_folders(place)
    folder, descriptor = _marked_folder()
    try:
        lock(descriptor)
        yield folder
    finally:
        os.close(descriptor)
        _remove(folder)


def _marked_folder() -> tuple[Path, int]:
    """A new folder and the file to be locked in it; another if it was swept before it had one."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"topicprism-{os.getpid()}-"))
        with suppress(FileNotFoundError):
            return folder, os.open(folder / OWNER, os.O_CREAT | os.O_WRONLY, 0o600)


def _remove(folder: Path) -> None:
    """All of it, its mark last: whoever is killed meanwhile leaves what can be swept."""
    with suppress(OSError):
        for entry in os.listdir(folder):
            if (folder / entry).is_dir():
                shutil.rmtree(folder / entry, ignore_errors=True)
            elif entry != OWNER:
                (folder / entry).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def sweep_files(folder: Path) -> None:
    for path in _left(folder, FILE):
        if stat.S_ISREG(path.lstat().st_mode) and _unlocked(path):
            path.unlink(missing_ok=True)


def sweep_folders(place: Path) -> None:
    for path in _left(place, FOLDER):
        if not stat.S_ISDIR(path.lstat().st_mode):
            continue
        with suppress(OSError):  # killed before it was marked, or after all else was removed
            path.rmdir()
        if _unlocked(path / OWNER):
            _remove(path)


def _left(folder: Path, name: re.Pattern[str]) -> Iterator[Path]:
    """What this user's processes that are no more have left of such names."""
    with suppress(OSError):  # sweeping is a courtesy
        for entry in os.listdir(folder) if fcntl is not None else ():
            found = name.fullmatch(entry)
            if found and _dead(int(found[1])):
                with suppress(OSError):
                    if (folder / entry).lstat().st_uid == os.getuid():
                        yield folder / entry


def _dead(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _unlocked(path: Path) -> bool:
    """Whether nobody holds the lock; a file that is not there is not known to be ours."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
