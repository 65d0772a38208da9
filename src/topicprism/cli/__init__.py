"""The command ``topicprism``.

::

    arguments  what can be typed: options in groups, values after an option
    session    where a command reads and writes, and its messages
    progress   one line on a terminal
    notes      what the library warns of
    reading    a table as documents to fit
    cluster    the same by workers of Dask
    facts      the results of a command                    dict
    showing    the same as text of 80 columns
    commands   fit, predict, select, stability, demo, warmup; using: topics and report; sketches:
               sketch and merge

Messages go to standard error, results to standard output or to a file.  The exit status is
2 for a mistake in the input, with one sentence that says which, 130 after Ctrl-C, 143 after
SIGTERM, and 70 where topicprism itself is at fault (``io.failures``).
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from topicprism.cli.arguments import UsageError, in_options, parser
from topicprism.cli.notes import Notes, say
from topicprism.cli.progress import Progress
from topicprism.io.failures import INTERRUPTED, explained, show_traceback
from topicprism.io.stale import temporary_folder

if TYPE_CHECKING:
    from topicprism.cli.session import Session

MODULES = {  # what a command needs is imported when it is known which
    "fit": "fit",
    "predict": "predict",
    "topics": "using",
    "select": "select",
    "stability": "stability",
    "report": "using",
    "sketch": "sketches",
    "merge": "sketches",
    "demo": "demo",
    "warmup": "warmup",
}
BROKEN_PIPE = 141


def main(argv: Sequence[str] | None = None, ready: Callable[[], object] = lambda: None) -> int:
    """Run one command; the exit status is returned, whatever happens.

    ``ready`` is called when all is imported: from then on Ctrl-C is a KeyboardInterrupt, whose
    argument, if it has one, is the exit status.
    """
    name, progress, kept = "topicprism", Progress.on(io.StringIO(), quiet=True), list[str]()
    try:
        _check_streams()
        args = parser().parse_args(argv)
        name = f"topicprism {args.command}"
        progress = Progress.on(sys.stderr, args.quiet)
        _run(args, progress, kept, ready)
        sys.stdout.flush()
    except SystemExit as done:  # --help, --version
        _forget_output()
        return int(done.code or 0)
    except BrokenPipeError:
        _forget_output()
        return BROKEN_PIPE
    except KeyboardInterrupt as stop:
        progress.clear()
        left = "; ".join(kept) or "nothing was written"
        say(f"{name}: stopped during {progress.now!r}; {left}")
        return int(stop.args[0]) if stop.args else INTERRUPTED
    except Exception as error:
        progress.clear()
        return _refuse(name, error, progress.now)
    return 0


def _run(
    args: argparse.Namespace, progress: Progress, kept: list[str], ready: Callable[[], object]
) -> None:
    """The command itself; most of its warnings are printed when it has finished or failed."""
    notes = Notes(progress, args.quiet)
    try:
        run, begin = _imported(args.command)
        ready()
        with temporary_folder() as folder, notes.collected():
            shared = (sys.stdout, sys.stderr, kept, main, notes.warned)
            run(begin(args, folder, progress, *shared))
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except Exception:
        notes.tell()
        raise
    notes.tell()


def _check_streams() -> None:
    """Python has None for a stream that was closed before it began."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - for as long as the command runs
    if sys.stdout is None:
        raise UsageError(
            "standard output is closed, but results are written to it; send it to a file, or to "
            f"{os.devnull}"
        )
    if hasattr(sys.stdout, "reconfigure"):  # a name that no encoding has is shown all the same
        sys.stdout.reconfigure(errors="backslashreplace")


def _imported(command: str) -> tuple[Callable[[Session], None], type[Session]]:
    """The function of a command, and what it is called with."""
    from topicprism.cli.session import Session

    run: Callable[[Session], None] = getattr(
        import_module(f"topicprism.cli.commands.{MODULES[command]}"), command
    )
    return run, Session


def _refuse(name: str, error: Exception, during: str) -> int:
    status, sentence = explained(error, during)
    if type(error) is ValueError:  # of the library, which knows parameters but no options
        sentence = in_options(sentence)
    show_traceback(error)
    say(f"{name}: {sentence}")
    _forget_output()
    return status


def _forget_output() -> None:
    """What is left in the buffer of a stream that takes no more must not complain at the end."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
