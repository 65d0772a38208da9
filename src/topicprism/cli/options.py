"""Options that several commands have, in groups."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from topicprism.cli import values
from topicprism.defaults import (
    COUNTING,
    FITTING,
    INFERENCES,
    METHODS,
    RARE_TERMS,
    REGIMES,
    WHITENINGS,
)
from topicprism.io.tables import FORMATS, OUTPUTS

MODELS = {  # what --model may be, and the estimator it is
    "auto": "AutoSLDA",
    "spectral": "SpectralSLDA",
    "lda": "SpectralLDA",
    "hybrid": "HybridSLDA",
    "gibbs": "GibbsSLDA",
    "medlda": "MedLDA",
    "variational": "VariationalSLDA",
    "anchors": "AnchorSLDA",
    "anchor-lda": "AnchorLDA",
}


def input_files(p: ArgumentParser, about: str, nargs: str = "+") -> None:
    p.add_argument("files", nargs=nargs, metavar="FILE", help=about)


def table(p: ArgumentParser, target: bool = True) -> None:
    g = p.add_argument_group("the table")
    g.add_argument("--text", metavar="COLUMN", help="column of texts (default: guessed)")
    if target:
        g.add_argument(
            "--target", metavar="COLUMN", help="column of numbers to predict (default: guessed)"
        )
    g.add_argument("--format", choices=FORMATS, help="format of the input, whatever its file name")
    g.add_argument(
        "--delimiter",
        type=values.character,
        metavar="C",
        help="delimiter of CSV (default: detected)",
    )
    g.add_argument(
        "--encoding", help="of the input (default: UTF-8, or as its byte order mark says)"
    )
    g.add_argument(
        "--no-quotes", action="store_true", help="read quotes in CSV as ordinary characters"
    )
    g.add_argument("--skip-damaged", action="store_true", help="skip rows that cannot be read")


def output(p: ArgumentParser, about: str) -> None:
    """Of a table; ``about`` has a place for the endings that it may have."""
    p.add_argument(
        "-o", "--output", metavar="OUT", help=about % ", ".join(f".{name}" for name in OUTPUTS)
    )
    p.add_argument(
        "--output-format", choices=OUTPUTS, help="format of the output, whatever its name"
    )


def learning_from_tables(p: ArgumentParser, models: bool = True) -> None:
    """All that learning from tables takes, with a choice of models or without."""
    table(p)
    counting(p)
    if models:
        model(p)
    learning(p)
    as_json(p)


def counting(p: ArgumentParser) -> None:
    g = p.add_argument_group("words")
    g.add_argument(
        "--max-words",
        type=values.count,
        default=COUNTING.max_features,
        metavar="N",
        help=f"maximum size of the vocabulary (default: {COUNTING.max_features})",
    )
    _frequencies(g)
    g.add_argument(
        "--stop-words",
        default=COUNTING.stop_words,
        metavar="WHICH",
        help="english (scikit-learn's list), english-neutral (the same less negations and other "
        "words that tell something), none, or a file with one word per line "
        f"(default: {COUNTING.stop_words})",
    )
    g.add_argument(
        "--ngrams",
        type=values.count,
        default=COUNTING.ngram_range[1],
        metavar="N",
        help=f"also count sequences of up to N words (default: {COUNTING.ngram_range[1]})",
    )
    g.add_argument(
        "--keep-case",
        action="store_true",
        default=not COUNTING.lowercase,
        help="do not convert to lower case",
    )


def _frequencies(g: Any) -> None:
    g.add_argument(
        "--min-df",
        type=values.min_df,
        default=COUNTING.min_df,
        metavar="N",
        help="minimum number, or share, of documents with a word (default: "
        f"{RARE_TERMS.min_df}, or {RARE_TERMS.min_df_of_short} if documents are short)",
    )
    g.add_argument(
        "--max-df",
        type=values.df,
        default=COUNTING.max_df,
        metavar="N",
        help=f"maximum number, or share, of documents with a word (default: {COUNTING.max_df})",
    )


def model(p: ArgumentParser) -> None:
    """Which estimator; without this it is the first."""
    g = p.add_argument_group("model")
    g.add_argument(
        "--model",
        choices=MODELS,
        metavar="WHICH",
        help="auto; spectral; lda, without a response; a sampler: gibbs, hybrid, medlda; or one to "
        "compare with: variational, anchors, anchor-lda (without a response); all but auto and "
        "spectral keep the counts in memory (default: auto)",
    )
    g.add_argument(
        "--burn-in", type=values.count, metavar="N", help="sweeps of a sampler to discard"
    )
    g.add_argument(
        "--kept-sweeps", type=values.count, metavar="N", help="sweeps of a sampler to average over"
    )


def learning(p: ArgumentParser) -> None:
    g = p.add_argument_group("learning; auto, the default, chooses from the data")
    g.add_argument(
        "--n-topics",
        type=values.auto_or(values.count),
        metavar="K",
        help="number of topics, or auto",
    )
    g.add_argument(
        "--alpha0",
        type=values.auto_or(values.number),
        metavar="A",
        help="sum of the Dirichlet prior: small for texts of one topic, large for mixtures",
    )
    g.add_argument(
        "--noise-variance",
        type=values.auto_or(values.number),
        metavar="V",
        help="residual variance of the response, or auto",
    )
    jobs(g)
    seed(g)
    algorithm(p)


def algorithm(p: ArgumentParser) -> None:
    """What a spectral model does; without its name these mean one."""
    g = p.add_argument_group("spectral models")
    g.add_argument(
        "--regime",
        choices=REGIMES,
        help="paper: the paper's algorithm as printed, whatever the texts (default: auto)",
    )
    g.add_argument(
        "--method",
        choices=METHODS,
        help="joint uses the response to find the topics (default: joint)",
    )
    g.add_argument(
        "--word-scale",
        type=values.auto_or(values.number),
        metavar="C",
        help="what a word counts for beside the response in the joint method, or auto",
    )
    g.add_argument(
        "--whitening",
        choices=WHITENINGS,
        metavar="HOW",
        help="factorisation of the second moment: auto, exact, matrix-free, randomised or nystrom",
    )
    g.add_argument(
        "--restarts", type=values.count, metavar="N", help="restarts of the power method"
    )
    g.add_argument(
        "--iterations",
        type=values.count,
        metavar="N",
        help="maximum iterations of the power method, or of variational EM",
    )
    g.add_argument(
        "--inference",
        choices=INFERENCES,
        help="of the topics of a text, also by predict: expectation propagation, or Gibbs sampling "
        "as in the paper (default: propagation)",
    )


def log(p: Any) -> None:
    p.add_argument(
        "--log",
        action="store_true",
        help="fit the logarithm of the number, as a heavy-tailed one (views, prices) wants",
    )


def jobs(p: Any) -> None:
    p.add_argument(
        "--jobs",
        type=values.jobs,
        default=FITTING.n_jobs,
        metavar="N",
        help="number of threads (default: all cores)",
    )


def dask(p: Any) -> None:
    p.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="let the workers of this Dask scheduler, such as tcp://host:8786, read the files, "
        "which they must see under the same names",
    )


def seed(p: Any) -> None:
    p.add_argument(
        "--seed",
        type=values.seed,
        default=FITTING.random_state,
        help=f"random seed (default: {FITTING.random_state})",
    )


def as_json(p: ArgumentParser) -> None:
    p.add_argument("--json", action="store_true", help="print one JSON object instead of text")
