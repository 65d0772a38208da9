"""The command ``topicprism``, also as ``python -m topicprism``.

Little is imported here, so that Ctrl-C is answered in one sentence from the start: while the
rest is being imported it ends the command at once, for nothing was written yet.  Later it is
for ``cli`` to say what is left behind.  SIGTERM, by which jobs are stopped, is answered alike.
"""

from __future__ import annotations

import os
import sys

try:
    import signal
except KeyboardInterrupt:  # in its first milliseconds, when nobody answers yet
    os.write(2, b"topicprism: stopped\n")
    sys.exit(130)

TYPE_CHECKING = False  # typing takes as long to import as all else here, and Ctrl-C would hit it
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

DEFAULT_HANDLERS: dict[int, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
}
DEFECT = 70


def main() -> int:
    _open_streams()
    handlers = DEFAULT_HANDLERS.items()
    signals = [s for s, default in handlers if signal.getsignal(s) is default]  # not if ignored
    for number in signals:
        signal.signal(number, _stop)
    try:
        return _run(lambda: [signal.signal(number, _interrupt) for number in signals])
    except KeyboardInterrupt as stop:  # while a mistake or another Ctrl-C was being answered
        os.write(2, b"topicprism: stopped\n")
        return int(stop.args[0]) if stop.args else 128 + signal.SIGINT
    except Exception as error:  # the command itself could not be imported
        return _failed(error)
    finally:
        for number in signals:  # all is done and the status is known: Python's end changes neither
            signal.signal(number, signal.SIG_IGN)


def _run(ready: Callable[[], object]) -> int:
    from topicprism.cli import main

    return main(None, ready)


def _open_streams() -> None:
    """A file must not get the number of a standard stream that was closed."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the least number that is free


def _failed(error: Exception) -> int:
    status, sentence = DEFECT, f"could not start ({type(error).__name__}); install it again"
    try:
        from topicprism.io.failures import explained, show_traceback

        status, sentence = explained(error)
        show_traceback(error)
    finally:
        os.write(2, f"topicprism: {sentence}\n".encode(errors="replace"))
        return status  # noqa: B012 - any error becomes one sentence


def _stop(number: int, _: object) -> None:
    """An exception would not do: what is being imported may catch it."""
    os.write(2, b"topicprism: stopped while starting; nothing was written\n")
    os._exit(128 + number)


def _interrupt(number: int, _: object) -> None:
    raise KeyboardInterrupt(128 + number)


if __name__ == "__main__":
    sys.exit(main())
