"""How kernels are compiled, and where the machine code is kept between processes.

Numba keeps it in ``NUMBA_CACHE_DIR``, in ``__pycache__`` beside the source or in the user's
cache folder, whichever can be written first, and gives up where none can.  Here instead

* where nothing can be written, a cache that was filled before (``topicprism warmup``) is read,
  and without one each process compiles for itself, with one note;
* every file of the cache ends in a checksum, and one that is damaged is compiled anew;
* code is up to date when none of the modules with kernels has changed: numba looks at one
  file only, but compiles functions of another into it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any

import numba as nb
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    InTreeCacheLocator,
    UserProvidedCacheLocator,
)

SOURCES = Path(__file__).parents[2]
MODULES = (  # all that have kernels
    "topicprism.kernels.aligned",
    "topicprism.kernels.cpu",
    "topicprism.kernels.evidence",
    "topicprism.kernels.face_sampling",
    "topicprism.kernels.faces",
    "topicprism.kernels.fold_in",
    "topicprism.kernels.gibbs",
    "topicprism.kernels.gradient",
    "topicprism.kernels.keys",
    "topicprism.kernels.lanes",
    "topicprism.kernels.many",
    "topicprism.kernels.products",
    "topicprism.kernels.propagation",
    "topicprism.kernels.random",
    "topicprism.kernels.simplex",
    "topicprism.kernels.variational",
    "topicprism.vectorizer.kernels",
    "topicprism.vectorizer.lexicon",
)
DIGEST = 16
NO_FOLDER = "no folder for it can be written"


class UncachedWarning(UserWarning):
    """Machine code cannot be kept, so that each process compiles it again."""


def compiled(*, kept: bool = True, **options: Any) -> Callable[[Any], Any]:
    """A decorator: the function compiled, without the GIL, its code ``kept`` for later."""

    def decorate(function: Any) -> Any:
        made = nb.njit(nogil=True, **options)(function)
        if kept and made is not function:  # as it is with NUMBA_DISABLE_JIT
            made._cache = KernelCache.of(function)
        return made

    return decorate


jit: Any = compiled()
inlined: Any = compiled(kept=False, forceinline=True)  # into its caller
reordered: Any = compiled(  # the same; sums in any order, and no check of what is divided by
    kept=False,
    forceinline=True,
    error_model="numpy",
    fastmath={"reassoc", "nsz", "nnan", "contract"},
)


# --- the cache ------------------------------------------------------------------------


class _Filled:
    """A place that can only be read, if it has code of the function already."""

    @classmethod
    def from_function(cls, function: Any, file: str) -> Any:
        with suppress(OSError, TypeError):  # TypeError: there is no NUMBA_CACHE_DIR
            place: Any = cls(function, file)  # type: ignore[call-arg]
            name = f"{Path(file).stem}.{function.__qualname__}-{place.get_disambiguator()}."
            if any(found.name.startswith(name) for found in Path(place.get_cache_path()).iterdir()):
                return place
        return None


class _FilledByUser(_Filled, UserProvidedCacheLocator): ...


class _FilledInTree(_Filled, InTreeCacheLocator): ...


class _Places(CompileResultCacheImpl):
    _first, *_others = CompileResultCacheImpl._locator_classes
    _locator_classes: list[Any] = [_first, _FilledByUser, *_others, _FilledInTree]  # noqa: RUF012 - as numba has it


class _Files(IndexDataCacheFile):
    """Files that end in the checksum of what comes before; unpickling takes no notice of it."""

    @contextmanager
    def _open_for_write(self, path: str) -> Iterator[BytesIO]:
        content = BytesIO()
        yield content
        with super()._open_for_write(path) as file:
            file.write(content.getvalue() + _digest(content.getvalue()))

    def _load_index(self) -> Any:
        if _whole(self._index_path):
            with suppress(Exception):  # of a version whose modules had other names
                return super()._load_index()
        return {}

    def _load_data(self, name: str) -> Any:
        if not _whole(self._data_path(name)):
            raise OSError(f"{name} is damaged")  # which is as if it were not there
        return super()._load_data(name)


class KernelCache(FunctionCache):
    """The cache of one kernel: what goes wrong with it costs time, never an answer."""

    _impl_class = _Places

    @classmethod
    def of(cls, function: Any) -> Any:
        try:
            return cls(function)
        except (RuntimeError, OSError):  # numba found no place
            return Nowhere()

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, _stamp())

    def load_overload(self, signature: Any, target: Any) -> Any:
        with suppress(Exception):  # of another machine, another numba, a cache edited by hand
            return super().load_overload(signature, target)
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        try:
            super().save_overload(signature, result)
        except OSError as error:
            _warn_once(f"{self.cache_path} cannot be written ({error.strerror or error})")

    def n_kept(self) -> int:
        """Combinations of types that there is code for."""
        return len(self._cache_file._load_index())


class Nowhere:
    """The cache of a kernel where there is no place for one."""

    cache_path = None

    def load_overload(self, signature: Any, target: Any) -> None:
        _warn_once(NO_FOLDER)

    def save_overload(self, signature: Any, result: Any) -> None: ...

    def flush(self) -> None: ...


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=DIGEST).digest()


def _whole(path: str) -> bool:
    with suppress(OSError):
        data = Path(path).read_bytes()
        return _digest(data[:-DIGEST]) == data[-DIGEST:]
    return False


@cache
def _stamp() -> bytes:
    """A digest of all modules with kernels."""
    files = [SOURCES.joinpath(*module.split(".")).with_suffix(".py") for module in MODULES]
    return _digest(b"".join(_digest(file.read_bytes()) for file in files))


_warned = Lock()


def _warn_once(why: str) -> None:
    if _warned.acquire(blocking=False):  # which nobody releases
        warnings.warn(sentence(why), UncachedWarning, stacklevel=2)


def sentence(why: str) -> str:
    return (
        f"machine code cannot be kept, as {why}, and is compiled again in every process, for half "
        "a minute or so; set NUMBA_CACHE_DIR to a folder that can be written, or to one that "
        "'topicprism warmup' has filled"
    )
