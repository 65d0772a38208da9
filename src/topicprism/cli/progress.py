"""One line on a terminal with the current stage and its progress."""

from __future__ import annotations

import time
from typing import Self, TextIO

WIDTH, BAR = 79, 24
REFRESH_SECONDS = 0.1  # between two updates of the line


class Progress:
    """What is being done is in ``now`` whether it is shown or not."""

    def __init__(self, stream: TextIO, shown: bool) -> None:
        self.now = "starting"
        self._stream = stream
        self._shown = shown
        self._last = 0.0

    @classmethod
    def on(cls, stream: TextIO, quiet: bool) -> Self:
        return cls(stream, shown=not quiet and stream.isatty())

    def stage(self, now: str) -> None:
        self.now, self._last = now, 0.0
        self.at(None)

    def at(self, share: float | None, note: str = "") -> None:
        """Show that ``share`` of the stage is done; None if it is unknown."""
        if not self._shown or time.monotonic() - self._last < REFRESH_SECONDS:
            return
        self._last = time.monotonic()
        full = round(BAR * min(share or 0.0, 1.0))
        bar = "" if share is None else f"[{'#' * full}{'.' * (BAR - full)}] {share:4.0%}  "
        self._write(f"{self.now:22} {bar}{note}"[:WIDTH].rstrip())

    def clear(self) -> None:
        if self._shown:
            self._write("")

    def _write(self, line: str) -> None:
        self._stream.write(f"\r{line:{WIDTH}}\r{line}")
        self._stream.flush()
