"""The command ``topicprism``.

::

    arguments  what can be typed: options in groups, values after an option
    session    where a command reads and writes, and what it says
    progress   one line on a terminal
    reading    a table as documents to fit
    facts      what there is to tell                       dict
    showing    the same at 80 columns
    fitting    fit          selecting  select       sketches   sketch, merge
    predicting predict      using      topics, report   demo   demo

Messages go to standard error, results to standard output or to a file.  The exit status is
2 for a mistake in the input, with one sentence that says which, and 130 after Ctrl-C.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from topicprism.cli.arguments import UsageError, in_options, parser
from topicprism.cli.progress import Progress

if TYPE_CHECKING:
    from topicprism.cli.session import Session

MODULES = {  # what a command needs is imported when it is known which
    "fit": "fitting",
    "predict": "predicting",
    "topics": "using",
    "select": "selecting",
    "report": "using",
    "sketch": "sketches",
    "merge": "sketches",
    "demo": "demo",
}
MISTAKE, INTERRUPTED, BROKEN_PIPE = 2, 130, 141


def main(argv: Sequence[str] | None = None, ready: Callable[[], object] = lambda: None) -> int:
    """Run one command; the exit status is returned.

    ``ready`` is called when all is imported: from then on Ctrl-C is a KeyboardInterrupt.
    """
    try:
        args = parser().parse_args(argv)
    except UsageError as error:
        return _refuse("topicprism", error)
    except SystemExit as done:  # --help, --version
        return int(done.code or 0)
    if hasattr(sys.stdout, "reconfigure"):  # a name that no encoding has is shown all the same
        sys.stdout.reconfigure(errors="backslashreplace")
    progress, kept = Progress.on(sys.stderr, args.quiet), list[str]()
    name = f"topicprism {args.command}"
    caught: list[warnings.WarningMessage] = []
    try:
        run, begin = _imported(args.command)
        ready()
        with (
            TemporaryDirectory(prefix="topicprism-", ignore_cleanup_errors=True) as folder,
            warnings.catch_warnings(record=True) as caught,
        ):
            warnings.simplefilter("always")
            run(begin(args, Path(folder), progress, sys.stdout, sys.stderr, kept))
            sys.stdout.flush()
        progress.clear()
        _note(caught, args.quiet)
    except BrokenPipeError:
        _forget_output()
        return BROKEN_PIPE
    except (ValueError, OSError, MemoryError) as error:
        progress.clear()
        _note(caught, args.quiet)
        return _refuse(name, error)
    except KeyboardInterrupt:
        progress.clear()
        left = "; ".join(kept) or "nothing was written"
        print(f"{name}: stopped during {progress.now!r}; {left}", file=sys.stderr)
        return INTERRUPTED
    return 0


def _imported(command: str) -> tuple[Callable[[Session], None], type[Session]]:
    """The function of a command, and what it is called with."""
    from topicprism.cli.session import Session

    run: Callable[[Session], None] = getattr(
        import_module(f"topicprism.cli.{MODULES[command]}"), command
    )
    return run, Session


def _note(caught: Iterable[warnings.WarningMessage], quiet: bool) -> None:
    """What was warned of, each once; short documents are among those left out already."""
    from topicprism.estimators import ShortDocumentsWarning

    notes = [str(w.message) for w in caught if w.category is not ShortDocumentsWarning]
    for note in dict.fromkeys([] if quiet else notes):
        print(f"note: {note}", file=sys.stderr)


def _refuse(name: str, error: BaseException) -> int:
    sentence = " ".join(str(error).split()) or type(error).__name__
    if type(error) is ValueError:  # of the library, which knows parameters but no options
        sentence = in_options(sentence)
    print(f"{name}: {sentence}", file=sys.stderr)
    return MISTAKE


def _forget_output() -> None:
    """Nobody reads on: what is left in the buffer must not complain when Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
