"""The condition that each fitted attribute in a file must meet.

An attribute without a rule is not written; ``state_``, the state of a chain, is left out because
it is as large as the training documents and contains information about them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from topicprism.io.files.container import wrong
from topicprism.learn import Selection, Trial
from topicprism.learn.result import METHOD
from topicprism.samplers.state import RESPONSES

MAX_THREADS = 4096
MAX_NUMBER = 1e240  # of a number, such as a variance
MAX_COEFFICIENT = 1e120  # largest of a coefficient: its square is a number
MAX_VARIANCE_FACTOR = 1e50  # largest of the second number of ``predictive_variance_``
CHOSEN = ("n_topics", "alpha0", "noise_variance")
OF_WORDS = ("log_likelihood", "coherence", "exclusivity")  # scores of a trial, or None
Sizes = dict[str, int]  # k topics, V words, L classes if more than two
Rule = Callable[[Any, Sizes], bool]


def numbers(*shapes: str, below: float | None = MAX_NUMBER, least: float | None = None) -> Rule:
    """An array whose shape is one of these; a letter that is no size may be any number.

    Its numbers are of a size under ``below``, unless that is None, and from ``least`` up.  No
    copy of it is made: an array may be as large as memory.
    """

    def rule(value: Any, sizes: Sizes) -> bool:
        if not isinstance(value, np.ndarray) or value.dtype != np.float64:
            return False
        low, high = (value.min(), value.max()) if value.size else (0.0, 0.0)
        if below is not None and not -below < low <= high < below:  # nor NaN
            return False
        if least is not None and value.size and not low >= least:
            return False
        return any(
            len(shape) == value.ndim
            and all(sizes.get(s, n) == n for s, n in zip(shape, value.shape, strict=True))
            for shape in shapes
        )

    return rule


def number(value: Any, sizes: Sizes) -> bool:
    return type(value) in (int, float) and 0 <= value < MAX_NUMBER


def whole(value: Any, sizes: Sizes) -> bool:
    return type(value) is int and 0 <= value < 2**63


def labels(value: Any, sizes: Sizes) -> bool:
    """Two or more, in order, none twice."""
    is_list = isinstance(value, np.ndarray) and value.ndim == 1 and len(value) >= 2
    return is_list and len(value) == sizes["classes"] and bool((value[1:] > value[:-1]).all())


def names(value: Any, sizes: Sizes) -> bool:
    is_list = isinstance(value, np.ndarray) and value.dtype == object
    return is_list and value.shape == (sizes["V"],)


def predictive_variance(value: Any, sizes: Sizes) -> bool:
    """The variance of a response given its words: two numbers."""
    return (
        numbers("n", least=0)(value, sizes) and len(value) == 2 and value[1] < MAX_VARIANCE_FACTOR
    )


def standard_errors(value: Any, sizes: Sizes) -> bool:
    """Numbers from 0 up, or NaN for a topic that was not found again."""
    if not isinstance(value, np.ndarray) or value.dtype != np.float64:
        return False
    return numbers("k", below=MAX_COEFFICIENT, least=0)(np.nan_to_num(value, posinf=np.inf), sizes)


def shares(value: Any, sizes: Sizes) -> bool:
    return numbers("k", below=1 + 1e-9, least=0)(value, sizes)


def word_ids(value: Any, sizes: Sizes) -> bool:
    """One column of the counts for each topic."""
    is_list = isinstance(value, np.ndarray) and value.dtype == np.int64
    return (
        is_list
        and value.shape == (sizes["k"],)
        and bool(0 <= value.min() <= value.max() < sizes["V"])
    )


def transformations(value: Any, sizes: Sizes) -> bool:
    """Of each class: columns of probabilities of topics, and no more of them than topics."""
    if "L" not in sizes or not numbers("Lkm", below=1 + 1e-9, least=0)(value, sizes):
        return False
    narrow = 0 < value.shape[2] <= sizes["k"]
    return narrow and bool(np.abs(value.sum(axis=1) - 1).max() <= 1e-6)


def choice(value: Any, sizes: Sizes) -> bool:
    """How the number of topics and the prior were chosen."""
    return (
        isinstance(value, Selection)
        and _chosen(value)
        and (value.n_begun is None or whole(value.n_begun, {}))
        and numbers("n")(value.spectrum, {})
        and number(value.threshold, {})
        and isinstance(value.trials, tuple)
        and all(isinstance(t, Trial) and _chosen(t) and _score(t) for t in value.trials)
        and isinstance(value.reasons, dict)
        and set(value.reasons) <= {METHOD, *CHOSEN}
        and all(isinstance(reason, str) for reason in value.reasons.values())
    )


def _chosen(value: Selection | Trial) -> bool:
    return whole(value.n_topics, {}) and all(number(getattr(value, c), {}) for c in CHOSEN[1:])


def _score(t: Trial) -> bool:
    """What earlier versions did not measure may be None."""
    scores = [t.pr2, *(getattr(t, name) for name in OF_WORDS if getattr(t, name) is not None)]
    return (
        all(type(value) is float and abs(value) < MAX_NUMBER for value in scores)
        and number(t.pr2_std, {})
        and all(n is None or whole(n, {}) for n in (t.n_in_common, t.n_large))
    )


RULES: dict[str, Rule] = {  # by the name in the file
    "coef_": numbers("k", "Lk", below=MAX_COEFFICIENT),
    "coef_std_": standard_errors,
    "replication_": shares,
    "cross_fitted_r2_": lambda value, sizes: type(value) is float and abs(value) < MAX_NUMBER,
    "spread_": predictive_variance,
    "coef_draws_": numbers("nk", "nLk", below=MAX_COEFFICIENT),
    "noise_variance_": number,
    "noise_variance_draws_": numbers("n"),
    "log_likelihood_": numbers("n", below=None),
    "acceptance_": numbers("n", below=None),
    "n_sweeps_": whole,
    "features_": lambda value, sizes: isinstance(value, str) and value in RESPONSES,
    "eigenvalues_": numbers("k"),
    "spectrum_": numbers("n"),
    "residual_": number,
    "n_short_": whole,
    "selection_": choice,
    "classes_": labels,
    "bound_": numbers("n", below=None),
    "conditional_": numbers("n", below=None),
    "anchors_": word_ids,
    "transformations_": transformations,
    "class_prior_": lambda value, sizes: numbers("L", below=1 + 1e-9, least=1e-12)(value, sizes),
    "feature_names_in_": names,
}


# --- parameters -----------------------------------------------------------------------


def parameter(value: Any) -> Any:
    """A parameter that JSON can hold; None for a callback or a generator, which it cannot."""
    plain = value.item() if isinstance(value, np.generic) else value
    return plain if isinstance(plain, (bool, int, float, str)) else None


def check_threads(n_jobs: Any) -> None:
    """Earlier files contain those of the fit, which do not apply to this machine."""
    if n_jobs is not None and not (type(n_jobs) is int and 0 < abs(n_jobs) <= MAX_THREADS):
        raise wrong(f"it asks for n_jobs={n_jobs!r:.40}")
