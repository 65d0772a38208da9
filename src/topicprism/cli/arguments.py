"""What can be typed after ``topicprism``."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import partial
from typing import Any, NoReturn

from topicprism import __version__
from topicprism.cli import options, values
from topicprism.defaults import FITTING, ORDERS

EXAMPLES = {  # by command; the first of each is shown by topicprism --help
    "demo": ["demo", "demo --documents 1000 --folder small"],
    "warmup": ["warmup", "warmup --json"],
    "fit": [
        "fit reviews.csv --report reviews.html",
        "fit 'data/*.parquet' --text review --target stars -o m.tprism",
        "fit videos.csv --target views --log",
    ],
    "topics": [
        "topics reviews.tprism --words 20",
        "topics reviews.tprism --by frex --json",
    ],
    "predict": [
        "predict reviews.tprism new.csv -o predictions.csv --std",
        "predict reviews.tprism new.csv --keep id --output-format jsonl",
        "predict reviews.tprism 'data/*.csv' --proportions -o topics.parquet",
    ],
    "select": [
        "select reviews.csv --plot selection.png",
        "select reviews.csv --target stars --json",
    ],
    "stability": [
        "stability reviews.csv",
        "stability reviews.csv --runs 20 --n-topics 8 -o topics.csv",
    ],
    "report": [
        "report reviews.tprism reviews.csv -o page.html",
        "report reviews.tprism -o page.html --title 'Hotel reviews'",
    ],
    "sketch": [
        "sketch site_a.csv -o a.tpsketch",
        "sketch site_b.csv --basis a.tpsketch -o b.tpsketch",
    ],
    "merge": [
        "merge a.tpsketch b.tpsketch -o ab.tpsketch",
        "merge site_*.tpsketch -o all.tpsketch --json",
    ],
}


SPECTRAL_OPTIONS = {  # of parameters that mean a spectral model, unless another is named
    "regime": "--regime",
    "method": "--method",
    "word_scale": "--word-scale",
    "whitening": "--whitening",
    "n_restarts": "--restarts",
    "n_iterations": "--iterations",
    "inference": "--inference",
}
MODEL_OPTIONS = {  # of each parameter of an estimator
    "n_topics": "--n-topics",
    "alpha0": "--alpha0",
    "noise_variance": "--noise-variance",
    **SPECTRAL_OPTIONS,
    "burn_in": "--burn-in",
    "n_kept": "--kept-sweeps",
}
OPTIONS = MODEL_OPTIONS | {  # of each parameter
    "min_df": "--min-df",
    "max_df": "--max-df",
    "max_features": "--max-words",
    "stop_words": "--stop-words",
    "ngram_range": "--ngrams",
}


class UsageError(ValueError):
    """A command line that cannot be understood."""


class Help(argparse.RawDescriptionHelpFormatter):
    """Commands are moved in once more than Python's own makes room for."""

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        if action.nargs == argparse.PARSER:  # the commands
            self._action_max_length += self._indent_increment


class Parser(argparse.ArgumentParser):
    """Mistakes are one sentence; help is at most 80 columns wide."""

    def __init__(self, *args: Any, **options: Any) -> None:
        options["formatter_class"] = partial(Help, width=80)
        options["allow_abbrev"] = False
        super().__init__(*args, **options)
        self.commands: dict[Any, Parser] = {}

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """What is left over is a mistake of the command, which may know a similar option."""
        known, rest = self.parse_known_args(args, namespace)
        if rest:
            command: Parser = self.commands.get(getattr(known, "command", None), self)
            command.error(f"unrecognized arguments: {' '.join(rest)}{command.similar(rest)}")
        return known

    def _get_values(self, action: argparse.Action, strings: list[str]) -> Any:
        """``--output=--`` names nothing; argparse before Python 3.13 takes it for a list."""
        if strings == ["--"] and action.option_strings and action.nargs is None:
            raise argparse.ArgumentError(action, "expected one argument")
        return super()._get_values(action, strings)

    def similar(self, typed: list[str]) -> str:
        """The option that one of these words most looks like."""
        options = [o for o in self._option_string_actions if o.startswith("--")]
        for word in (word.split("=")[0] for word in typed if word.startswith("--")):
            near = get_close_matches(word, options, 1)
            if near:
                return f" (perhaps {near[0]})"
        return ""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")


def parser() -> Parser:
    top = Parser(
        prog="topicprism",
        description="Topics of texts, and how a number differs between them.",
        epilog=_shown(first for first, *_ in EXAMPLES.values())
        + "\nSee topicprism COMMAND --help for the options of a command and more examples.",
    )
    top.add_argument("--version", action="version", version=f"topicprism {__version__}")
    sub = top.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=Parser, title="commands"
    )
    commands = (_fit, _predict, _topics, _select, _stability, _report, _sketch, _merge)
    for add in (*commands, _demo, _warmup):
        added = add(sub)
        added.epilog = _shown(EXAMPLES[added.prog.split()[-1]])
        messages = added.add_argument_group("messages")
        top.commands[added.prog.split()[-1]] = added
        messages.add_argument("-q", "--quiet", action="store_true", help="errors only")
    return top


def in_options(sentence: str) -> str:
    """Parameters of Python as they are typed: ``--min-df 5`` for ``min_df=5``."""
    for name, option in OPTIONS.items():
        sentence = re.sub(rf"\b{name}=", f"{option} ", sentence)
        sentence = re.sub(rf"(?<!-)\b{name}\b", option, sentence)
    return sentence


def _shown(examples: Iterable[str]) -> str:
    return "\n".join(["examples:", *(f"  topicprism {example}" for example in examples), ""])


# --- one function for each command ------------------------------------------------------


def _fit(sub: Any) -> Parser:
    p: Parser = sub.add_parser("fit", help="learn topics from a table and write a model file")
    options.input_files(
        p,
        "tables to learn from (CSV, TSV, JSON lines, Parquet, compressed too); a quoted "
        "glob; - for standard input; or one .tpsketch",
    )
    p.add_argument(
        "-o",
        "--output",
        metavar="MODEL",
        help="model file (default: FILE's name with .tprism, in this folder)",
    )
    p.add_argument("--report", metavar="PAGE", help="also write this HTML page")
    p.add_argument(
        "--held-out",
        type=values.share,
        default=FITTING.held_out,
        metavar="SHARE",
        help="of documents to hold out for the score "
        f"(default: {FITTING.held_out}, at most {FITTING.max_held_out:,})",
    )
    options.log(p)
    options.dask(p)
    options.learning_from_tables(p)
    return p


def _predict(sub: Any) -> Parser:
    p: Parser = sub.add_parser("predict", help="predict the number for each row of a table")
    p.add_argument("model", metavar="MODEL", help="model file made by fit")
    options.input_files(p, "tables with the texts")
    options.output(p, "output file (%s; default: CSV on standard output)")
    p.add_argument("--std", action="store_true", help="add a standard deviation of each prediction")
    p.add_argument(
        "--proportions", action="store_true", help="add the topic proportions of each text"
    )
    p.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="COLUMN",
        help="copy this column of the input too; may be repeated",
    )
    p.add_argument(
        "--escape-formulas",
        action="store_true",
        help="put ' before cells of CSV that a spreadsheet would read as a formula",
    )
    options.jobs(p)
    options.dask(p)
    options.table(p, target=False)
    return p


def _topics(sub: Any) -> Parser:
    p: Parser = sub.add_parser("topics", help="print the topics of a model")
    p.add_argument("model", metavar="MODEL", help="model file made by fit")
    p.add_argument(
        "--words", type=values.count, default=15, metavar="N", help="words per topic (default: 15)"
    )
    p.add_argument(
        "--by",
        choices=ORDERS,
        default=ORDERS[0],
        help=f"ranking of the words (default: {ORDERS[0]})",
    )
    options.as_json(p)
    return p


def _select(sub: Any) -> Parser:
    p: Parser = sub.add_parser("select", help="choose the number of topics and show the evidence")
    options.input_files(p, "tables, or one .tpsketch")
    p.add_argument("--plot", metavar="PICTURE", help="also write a figure (.png, .svg, .pdf)")
    options.log(p)
    options.learning_from_tables(p, models=False)
    p.set_defaults(model=None, burn_in=None, kept_sweeps=None, held_out=FITTING.held_out)
    return p


def _stability(sub: Any) -> Parser:
    p: Parser = sub.add_parser("stability", help="find the topics again in halves of the documents")
    options.input_files(p, "tables to learn from, as for fit")
    p.add_argument(
        "--runs",
        type=values.runs,
        default=FITTING.runs,
        metavar="N",
        help=f"half samples to fit, two for each random split (default: {FITTING.runs})",
    )
    options.output(p, "also write a row for each topic (%s)")
    options.learning_from_tables(p)
    return p


def _report(sub: Any) -> Parser:
    p: Parser = sub.add_parser("report", help="write one HTML page about a model")
    p.add_argument("model", metavar="MODEL", help="model file made by fit")
    options.input_files(p, "tables with documents to show and score (optional)", nargs="*")
    p.add_argument("-o", "--output", required=True, metavar="PAGE", help="the page to write")
    p.add_argument("--title", help="heading of the page")
    options.table(p)
    options.as_json(p)
    return p


def _sketch(sub: Any) -> Parser:
    p: Parser = sub.add_parser(
        "sketch", help="write a summary of a table (moments) that contains no document"
    )
    options.input_files(p, "tables to summarise")
    p.add_argument("-o", "--output", required=True, metavar="SKETCH", help="a .tpsketch file")
    p.add_argument(
        "--basis",
        metavar="SKETCH",
        help="count and project as this sketch does, so that both can be merged; "
        "options about words and coordinates come from it",
    )
    p.add_argument(
        "--coordinates",
        type=values.count,
        default=48,
        metavar="N",
        help="coordinates of the sketch, an upper limit on the number of topics (default: 48)",
    )
    options.jobs(p)
    options.seed(p)
    options.table(p)
    options.counting(p)
    options.as_json(p)
    return p


def _merge(sub: Any) -> Parser:
    p: Parser = sub.add_parser("merge", help="sum sketches that share a basis")
    p.add_argument("sketches", nargs="+", metavar="SKETCH", help="two or more .tpsketch files")
    p.add_argument("-o", "--output", required=True, metavar="SKETCH", help="a .tpsketch file")
    options.as_json(p)
    return p


def _demo(sub: Any) -> Parser:
    p: Parser = sub.add_parser(
        "demo", help="simulate reviews; fit, show topics, predict, write a page"
    )
    p.add_argument(
        "--folder", default="topicprism-demo", help="output folder (default: topicprism-demo)"
    )
    p.add_argument(
        "--documents",
        type=values.count,
        default=5_000,
        metavar="N",
        help="number of reviews to simulate (default: 5000)",
    )
    options.seed(p)
    return p


def _warmup(sub: Any) -> Parser:
    p: Parser = sub.add_parser(
        "warmup", help="compile all kernels in advance, into NUMBA_CACHE_DIR if set"
    )
    options.as_json(p)
    return p
