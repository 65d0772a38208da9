"""What input must be, and one sentence for what it is not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MappingView, Set
from numbers import Integral, Real
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array

from topicprism._typing import Counts, Doc, Ints
from topicprism.kernels import cpu
from topicprism.limits import MAX_RESPONSE, MAX_WORDS, MIN_RESPONSE_GAP

NATIVE = {np.dtype(t) for t in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")}
NO_LIMIT = 1e100
GENERATORS = (
    np.random.RandomState,
    np.random.Generator,
    np.random.BitGenerator,
    np.random.SeedSequence,
)


def check_counts(counts: Any) -> Counts:
    """Counts as CSR, refused with one sentence unless they are counts; not copied if they are."""
    refuse_masked(counts, "counts")
    X = counts if isinstance(counts, csr_array) else csr_array(counts)
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(
            f"got counts of shape {X.shape}, but a corpus needs at least one document (row) and "
            "one word (column); check that the file or the vectoriser gave any"
        )
    if X.dtype.kind not in "biuf":
        raise ValueError(
            f"counts have dtype {X.dtype}, but numbers were expected; turn text into counts with "
            "a vectoriser first"
        )
    if X.dtype not in NATIVE:
        X = X.astype(np.float64)
    if len(X.indices) and not 0 <= X.indices.min() <= X.indices.max() < X.shape[1]:
        raise ValueError(
            f"counts have word ids from {X.indices.min()} to {X.indices.max()}, but {X.shape[1]} "
            "columns; the matrix is damaged: build it again"
        )
    if not X.has_canonical_format:  # inference goes by the order of the words
        X = X.copy()
        X.sum_duplicates()
    refuse_no_counts(X)
    n_words = float(X.data.sum(dtype=float))
    if n_words > MAX_WORDS:
        raise ValueError(
            f"counts add up to {n_words:g} words (the largest is {float(X.data.max()):g}), but at "
            f"most {MAX_WORDS} were expected, up to which sums are exact; pass raw word counts"
        )
    return cast(Counts, X)


def refuse_no_counts(X: Any) -> None:
    """Of rows in CSR format, however many: the first entry that is no count is named."""
    at = int(cpu.first_not_a_count(X.data))
    if at >= 0:
        value, row = X.data[at], int(np.searchsorted(X.indptr, at, side="right")) - 1
        raise ValueError(_not_a_count(value, f"document {row}, word {int(X.indices[at])}"))


def refuse_repeated_words(X: Any) -> None:
    """Of rows in CSR format: a word has one count, and words come in order."""
    falls = X.indices[1:] <= X.indices[:-1]
    starts = X.indptr[1:-1]
    falls[starts[(starts > 0) & (starts < len(X.indices))] - 1] = False  # another document's words
    if falls.any():
        at = int(falls.argmax()) + 1
        row = int(np.searchsorted(X.indptr, at, side="right")) - 1
        raise ValueError(
            f"document {row} has word {int(X.indices[at])} twice or out of order, but one count "
            "for each word was expected, by rising column; call sum_duplicates() on the matrix "
            "first"
        )


def _not_a_count(value: float, where: str) -> str:
    if not np.isfinite(value):
        return (
            f"counts contain NaN or inf ({value} at {where}), but whole numbers from 0 up were "
            "expected; replace missing counts by 0"
        )
    if value < 0:
        return (
            f"Negative values in data ({value:g} at {where}), but counts are whole numbers from 0 "
            "up; pass word counts, not centred or embedded features"
        )
    return (
        f"counts contain fractions ({value:g} at {where}), but whole numbers were expected; pass "
        "raw word counts (CountVectorizer), not TF-IDF or frequencies"
    )


def check_response(y: Any, n_documents: int, rows: Ints | None = None) -> Doc:
    """One finite number per document; ``rows`` are their numbers, where others were left out."""
    refuse_masked(y, "responses y")
    given = np.asarray(y)
    texts = (
        [i for i, v in enumerate(given.flat) if isinstance(v, str)]
        if given.dtype.kind in "OU"
        else []
    )
    first = ""
    if texts:
        row = texts[0] if rows is None else rows[texts[0]]
        first = f" (document {row} has {str(given.flat[texts[0]])!r:.40})"
    sentence = (
        f"y has dtype {given.dtype}, which is not numeric{first}; expected one number per "
        "document: encode labels or dates as numbers first"
    )
    if given.dtype.kind not in "biufO" or texts:
        raise ValueError(sentence)
    try:
        response = given.astype(float)
    except TypeError:  # dates, or whatever else is no number
        raise ValueError(sentence) from None
    if response.shape != (n_documents,):
        raise ValueError(wrong_length(response.shape, n_documents))
    bad = np.flatnonzero(~(np.abs(response) < MAX_RESPONSE))
    if len(bad):
        raise ValueError(
            f"y contains NaN, inf or a number beyond {MAX_RESPONSE:g} ({response[bad[0]]:g} for "
            f"document {bad[0]}; {len(bad)} in all), but ordinary numbers were expected; drop the "
            "documents without a response, or rescale it"
        )
    return response


def check_varies(low: float, high: float, gap: float, n_documents: int) -> None:
    """Refuse a response from ``low`` to ``high`` that there is nothing to learn about."""
    if n_documents == 1:
        raise ValueError("got 1 sample (document), but at least 2 were expected; add documents")
    if low == high:
        raise ValueError(
            f"y is {low:g} for all {n_documents} documents, but it must vary to be "
            "explained; check the column, or use SpectralLDA for topics alone"
        )
    if not gap > MIN_RESPONSE_GAP:
        raise ValueError(
            f"y is from {low:g} to {high:g}, a range too small to compute with; change its units"
        )


def wrong_length(shape: tuple[int, ...], n_documents: int) -> str:
    return (
        f"y has shape {shape}, but there are {n_documents} documents; expected one number per "
        "document, in the same order"
    )


def refuse_masked(values: Any, name: str) -> None:
    """numpy and scikit-learn would take what is under a mask for what it is not."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        n = int(np.ma.count_masked(values))
        raise ValueError(
            f"{name} have {n} masked values, but a number was expected in each place; give them "
            "one with filled(), or leave out the documents that have them"
        )


def refuse_unordered(values: Any) -> None:
    """Documents and their responses belong together by their places."""
    if isinstance(values, (Set, Mapping, MappingView)):
        raise ValueError(
            f"got a {type(values).__name__} of {len(values)} values, which have no places, but "
            "expected one value for each document, in the order of the documents; pass a list"
        )


def check_problem(n_topics: int, alpha0: float, available: int) -> None:
    """Refuse a number of topics or an alpha0 that cannot be."""
    check_prior(n_topics, alpha0)
    check_rank(n_topics, available)


def check_prior(n_topics: int, alpha0: float) -> None:
    check_whole("n_topics", n_topics, "try 10")
    check_real("alpha0", alpha0, 1e-6, "the sum of the Dirichlet parameters; try 1.0", high=1e4)


def check_choice(name: str, value: Any, choices: Iterable[Any]) -> None:
    if np.ndim(value) or value not in list(choices):
        listed = ", ".join(map(repr, choices))
        raise ValueError(f"{name}={value!r}, but expected one of {listed}; choose one of these")


def check_whole(name: str, value: Any, remedy: str, low: int = 1) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < low:
        raise ValueError(f"{name}={value!r}, but expected a whole number from {low} up; {remedy}")


def check_real(name: str, value: Any, low: float, remedy: str, high: float = NO_LIMIT) -> None:
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not low <= value <= high:
        to = f"to {high:g}" if high < NO_LIMIT or (number and value > high) else "up"
        raise ValueError(f"{name}={value!r}, but expected a number from {low:g} {to}; {remedy}")


def check_jobs(n_jobs: Any) -> None:
    """As scikit-learn has it."""
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (whole and n_jobs != 0):
        raise ValueError(
            f"n_jobs={n_jobs!r:.40}, but expected None or a whole number other than 0 of threads; "
            "use None for one, -1 for all cores"
        )


def check_seed(random_state: Any) -> None:
    """What seeds a generator, or is one."""
    whole = isinstance(random_state, Integral) and not isinstance(random_state, bool)
    one = random_state is None or random_state is np.random or isinstance(random_state, GENERATORS)
    if not one and not (whole and random_state >= 0):
        raise ValueError(
            f"random_state={random_state!r:.40}, but expected a whole number from 0 up, a "
            "RandomState, a Generator or None; use 0 for the same answer each time"
        )


def generator(random_state: Any) -> np.random.Generator:
    check_seed(random_state)
    if random_state is np.random or isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)


def check_rank(n_topics: int, available: int) -> None:
    """Refuse more topics than there are directions to tell them apart."""
    if n_topics > available:
        raise ValueError(
            f"n_topics={n_topics}, but there are only {available} directions (words of the "
            f"vocabulary, or coordinates of the sketch); use n_topics <= {available}, a larger "
            "vocabulary or a wider sketch"
        )
