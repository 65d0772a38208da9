"""What the library warns of, as notes of a command."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TextIO

from topicprism.cli.arguments import in_options
from topicprism.cli.progress import Progress

UNSAID = ("ShortDocumentsWarning",)  # these are counted among those left out
AT_ONCE = ("ManyTopicsWarning",)  # of what is about to take long


@dataclass
class Notes:
    """Warnings in the order they came; most are told when the command is done or has failed."""

    progress: Progress
    quiet: bool
    warned: list[Warning] = field(default_factory=list)

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Every warning, even one like another, is kept here and not printed as Python does."""
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = self.add
            yield

    def add(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        """As ``warnings.showwarning`` is called."""
        warning = message if isinstance(message, Warning) else category(message)
        told = str(warning) in map(str, self.warned)
        self.warned.append(warning)
        if category.__name__ in AT_ONCE and not told:
            self._tell(in_options(str(warning)))

    def tell(self) -> None:
        """Each once, but for those that were told before."""
        notes = [str(w) for w in self.warned if type(w).__name__ not in (*UNSAID, *AT_ONCE)]
        for note in dict.fromkeys(notes):
            self._tell(note)

    def _tell(self, note: str) -> None:
        self.progress.clear()
        if not self.quiet:
            say(f"note: {note}")


def say(sentence: str) -> None:
    with suppress(OSError, ValueError):  # there is no output left to report to
        print(sentence, file=sys.stderr, flush=True)
