"""The command ``topicprism``, also as ``python -m topicprism``.

Little is imported here, so that Ctrl-C is answered in one sentence from the start: while the
rest is being imported it ends the command at once, for nothing was written yet.  Later it is
for ``cli`` to say what is left behind.
"""

import os
import signal
import sys
from collections.abc import Callable

INTERRUPTED = 130


def main() -> int:
    usual = signal.getsignal(signal.SIGINT)
    if usual is not signal.default_int_handler:  # whoever started it wants no Ctrl-C
        return _run(lambda: None)
    signal.signal(signal.SIGINT, _stop)
    try:
        return _run(lambda: signal.signal(signal.SIGINT, usual))
    except KeyboardInterrupt:  # while a mistake or another Ctrl-C was being answered
        os.write(2, b"topicprism: stopped\n")
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # all is done: Python's end needs no words


def _run(ready: Callable[[], object]) -> int:
    from topicprism.cli import main

    return main(None, ready)


def _stop(*_: object) -> None:
    """An exception would not do: what is being imported may catch it."""
    os.write(2, b"topicprism: stopped while starting; nothing was written\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
