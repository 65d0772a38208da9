"""A file that appears under its name when it is whole: every file of topicprism is written here.

The temporary lies beside the file that is meant, after links are followed; it has the rights
of the file whose place it takes.  What is not a regular file (``/dev/null``, ``/dev/stdout``,
a pipe) is never replaced: it is written to.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from topicprism.io.failures import OutputError, not_written
from topicprism.io.stale import lock, sweep_files, temporary_folder, temporary_name

PART = ".part"
MAX_LINKS = 40
DESCRIPTORS = re.compile(r"/dev/fd|/proc/\d+(/task/\d+)?/fd")  # folders of open files


def followed(path: Path) -> Path:
    """Where a chain of links ends, whether there is a file or not.

    A descriptor, such as /dev/stdout is, ends it: it stands for what is open, not for a name.
    """
    for _ in range(MAX_LINKS):
        if _is_descriptor(path) or not path.is_symlink():
            return path
        path = path.parent / os.readlink(path)
    raise OutputError(f"{path} is a link to itself, but a file to write was expected")


def is_special(path: Path) -> bool:
    """Whether it is there and is to be written to rather than replaced."""
    end = followed(path)
    return end.exists() and (_is_descriptor(end) or not end.is_file())


def part_of(path: Path) -> Path | None:
    """Where rows go if their file is not finished; None for a pipe, which has them already."""
    end = followed(path)
    return None if is_special(end) else end.with_name(end.name + PART)


def check_target(path: Path) -> None:
    """Refuse, before any work is done, a place that could not be written; nothing is left."""
    end = _checked(path)
    try:
        if not is_special(end):
            with _temporary(end):
                pass
        elif not os.access(end, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise not_written(path, error) from None


def write_bytes(path: Path, data: bytes) -> None:
    """All of a file; what was there before is gone only when it is whole."""
    if is_special(path):
        with through(path) as file:
            file.write(data)
        return
    with replacing(path) as unfinished, unfinished.open("wb") as file:
        file.write(data)


@contextmanager
def replacing(path: Path, keep_part: Callable[[], bool] = lambda: False) -> Iterator[Path]:
    """A temporary file, whose content is that of ``path`` if all goes well.

    If it is interrupted and ``keep_part()``, what there is so far goes to ``part_of(path)``.
    """
    end = _checked(path)
    try:
        with _spooled(end) if is_special(end) else _replaced(end) as (unfinished, finish):
            try:
                yield unfinished
            except KeyboardInterrupt:
                if keep_part():
                    finish(end.with_name(end.name + PART))
                raise
            finish(end)
    except BrokenPipeError:  # nobody reads on, which is no mistake
        raise
    except OSError as error:
        raise error if isinstance(error, ValueError) else not_written(path, error) from None


@contextmanager
def through(path: Path) -> Iterator[BinaryIO]:
    """A special file, open for writing."""
    end = _checked(path)
    try:
        with _open(end) as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise error if isinstance(error, ValueError) else not_written(path, error) from None


# --- what is behind ---------------------------------------------------------------------


def _checked(path: Path) -> Path:
    """Where to write, if a file can be there at all."""
    end = followed(path)
    if end.is_dir():
        raise OutputError(f"{path} is a folder, but a file to write was expected; name one in it")
    if not end.parent.is_dir():
        raise OutputError(f"there is no folder {end.parent} to write {end.name} to; make it first")
    if end.is_block_device():
        raise OutputError(f"{path} is a disk, but a file to write was expected; name one on it")
    return end


Finish = Callable[[Path], None]


@contextmanager
def _replaced(end: Path) -> Iterator[tuple[Path, Finish]]:
    with _temporary(end) as (unfinished, file):

        def finish(at: Path) -> None:
            os.fsync(file.fileno())
            if os.name == "nt":  # where what is open cannot be renamed, nor is it locked
                file.close()
            with suppress(FileNotFoundError):
                _take_rights(at, unfinished)
            os.replace(unfinished, at)
            _sync_folder(at.parent)

        yield unfinished, finish


@contextmanager
def _spooled(end: Path) -> Iterator[tuple[Path, Finish]]:
    """Written elsewhere first, for writers that go back and forth; the whole follows at once."""
    with temporary_folder() as folder:
        spool = folder / "spool"

        def finish(_: Path) -> None:
            with spool.open("rb") as whole, _open(end) as file:
                shutil.copyfileobj(whole, file)

        yield spool, finish


@contextmanager
def _temporary(end: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """An empty file beside ``end``, locked while it is there; those of the dead are swept."""
    sweep_files(end.parent)
    unfinished = end.with_name(temporary_name(end.name))
    mode = stat.S_IMODE(end.stat().st_mode) | 0o600 if end.exists() else 0o666
    file = os.fdopen(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "wb")
    try:
        with file:
            lock(file.fileno())
            yield unfinished, file
    finally:
        with suppress(OSError):
            unfinished.unlink()


def _take_rights(older: Path, unfinished: Path) -> None:
    """Who may read and write stays as it was."""
    was, now = older.stat(), unfinished.stat()
    if (was.st_uid, was.st_gid) != (now.st_uid, now.st_gid):
        with suppress(OSError, AttributeError):  # only root may give files away
            os.chown(unfinished, was.st_uid, was.st_gid)
    os.chmod(unfinished, stat.S_IMODE(was.st_mode))


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not all systems open folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _is_descriptor(path: Path) -> bool:
    return DESCRIPTORS.fullmatch(os.path.realpath(path.parent)) is not None


def _open(end: Path) -> BinaryIO:
    """A descriptor of our own is shared, with its place in the file; else it is opened anew."""
    folder = os.path.realpath(end.parent)
    if _is_descriptor(end) and folder in ("/dev/fd", os.path.realpath("/proc/self/fd")):
        return os.fdopen(os.dup(int(end.name)), "wb")
    return os.fdopen(os.open(end, os.O_WRONLY | os.O_APPEND), "wb")
