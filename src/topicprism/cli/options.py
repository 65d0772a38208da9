"""Options that several commands have, in groups."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from topicprism.cli import values
from topicprism.defaults import COUNTING, FITTING
from topicprism.io.tables import FORMATS

MODELS = {  # what --model may be, and the estimator it is
    "spectral": "SpectralSLDA",
    "lda": "SpectralLDA",
    "hybrid": "HybridSLDA",
    "gibbs": "GibbsSLDA",
    "medlda": "MedLDA",
}


def input_files(p: ArgumentParser, about: str, nargs: str = "+") -> None:
    p.add_argument("files", nargs=nargs, metavar="FILE", help=about)


def table(p: ArgumentParser, target: bool = True) -> None:
    g = p.add_argument_group("the table")
    g.add_argument("--text", metavar="COLUMN", help="the texts (default: the one text-like column)")
    if target:
        g.add_argument(
            "--target", metavar="COLUMN", help="the numbers (default: the one number-like column)"
        )
    g.add_argument("--format", choices=FORMATS, help="whatever the name says")
    g.add_argument(
        "--delimiter", type=values.character, metavar="C", help="of CSV (default: found out)"
    )
    g.add_argument("--encoding", help="of the text (default: UTF-8, or as its mark says)")
    g.add_argument("--no-quotes", action="store_true", help="quotes in CSV are like any character")
    g.add_argument("--skip-damaged", action="store_true", help="leave out rows that cannot be read")


def counting(p: ArgumentParser) -> None:
    g = p.add_argument_group("words")
    g.add_argument(
        "--max-words",
        type=values.count,
        default=COUNTING.max_features,
        metavar="N",
        help=f"the vocabulary, at most (default: {COUNTING.max_features})",
    )
    g.add_argument(
        "--min-df",
        type=values.df,
        default=COUNTING.min_df,
        metavar="N",
        help=f"documents a word must be in, or their share (default: {COUNTING.min_df})",
    )
    g.add_argument(
        "--max-df",
        type=values.df,
        default=COUNTING.max_df,
        metavar="N",
        help=f"documents a word may be in, or their share (default: {COUNTING.max_df})",
    )
    g.add_argument(
        "--stop-words",
        default=COUNTING.stop_words,
        metavar="WHICH",
        help=f"english, none, or a file of one word a line (default: {COUNTING.stop_words})",
    )
    g.add_argument(
        "--ngrams",
        type=values.count,
        default=COUNTING.ngram_range[1],
        metavar="N",
        help=f"count also runs of up to N words (default: {COUNTING.ngram_range[1]})",
    )
    g.add_argument(
        "--keep-case",
        action="store_true",
        default=not COUNTING.lowercase,
        help="do not lower-case",
    )


def model(p: ArgumentParser) -> None:
    """Which estimator; without this it is the first."""
    g = p.add_argument_group("model")
    g.add_argument(
        "--model",
        choices=MODELS,
        default=next(iter(MODELS)),
        help="spectral; lda, from texts alone; or gibbs, hybrid, medlda, which sample; all but "
        "spectral keep the counts in memory (default: spectral)",
    )
    g.add_argument("--burn-in", type=values.count, metavar="N", help="sweeps of a sampler, dropped")
    g.add_argument("--kept-sweeps", type=values.count, metavar="N", help="of a sampler, averaged")


def learning(p: ArgumentParser) -> None:
    g = p.add_argument_group("learning; what is auto, the default, is chosen from the data")
    g.add_argument(
        "--n-topics", type=values.auto_or(values.count), metavar="K", help="number, or auto"
    )
    g.add_argument(
        "--alpha0",
        type=values.auto_or(values.number),
        metavar="A",
        help="small for texts of one topic each, large for mixtures, or auto",
    )
    g.add_argument(
        "--noise-variance",
        type=values.auto_or(values.number),
        metavar="V",
        help="of the response, or auto",
    )
    g.add_argument(
        "--method",
        choices=("joint", "two-stage"),
        help="whether the numbers help to find the topics (default: joint)",
    )
    g.add_argument(
        "--whitening",
        choices=("auto", "exact", "matrix-free", "nystrom"),
        help="how the second moment is factored",
    )
    g.add_argument("--restarts", type=values.count, metavar="N", help="of the power method")
    g.add_argument(
        "--iterations", type=values.count, metavar="N", help="of the power method, at most"
    )
    jobs(g)
    seed(g)


def jobs(p: Any) -> None:
    p.add_argument(
        "--jobs",
        type=values.jobs,
        default=FITTING.n_jobs,
        metavar="N",
        help="threads (default: all cores)",
    )


def seed(p: Any) -> None:
    p.add_argument(
        "--seed",
        type=values.seed,
        default=FITTING.random_state,
        help=f"of everything random (default: {FITTING.random_state})",
    )


def as_json(p: ArgumentParser) -> None:
    p.add_argument("--json", action="store_true", help="print one JSON object instead of text")
