"""Fitted estimators and vectorisers as plain values, and back once they are what they must be.

``RULES`` has the condition that each fitted attribute must meet.  An attribute without a rule is
not written; ``state_``, the state of a chain, is left out because it is as large as the training
documents and contains information about them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topicprism import estimators
from topicprism.io.files.container import FileError, wrong
from topicprism.io.files.values import Writer
from topicprism.learn import Selection, Trial
from topicprism.learn.result import METHOD
from topicprism.model import Model
from topicprism.samplers.state import RESPONSES
from topicprism.validation import NATIVE
from topicprism.vectorizer import FastCountVectorizer, PrecomputedCounts, stop_words

DTYPES = {t.name: t.type for t in sorted(NATIVE, key=str)}
MAX_THREADS = 4096
MAX_NUMBER = 1e240  # of a number, such as a variance
MAX_COEFFICIENT = 1e120  # largest of a coefficient: its square is a number
ALPHA_RANGE = 1e-100, 1e12  # of a prior: beyond them answers are the same, or no numbers
MAX_VARIANCE_FACTOR = 1e50  # largest of the second number of ``predictive_variance_``
ATTRIBUTES = {"spread_": "predictive_variance_"}  # names in a file of format 1 that differ
CHOSEN = ("n_topics", "alpha0", "noise_variance")
OF_WORDS = ("log_likelihood", "coherence", "exclusivity")  # scores of a trial, or None
Sizes = dict[str, int]  # k topics, V words, L classes if more than two
Rule = Callable[[Any, Sizes], bool]


# --- rules ----------------------------------------------------------------------------


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
SAMPLED = ("coef_", "features_")
NEEDED = {
    "AutoSLDA": ("coef_",),
    "SpectralSLDA": ("coef_",),
    "SpectralLDA": (),
    "GibbsSLDA": SAMPLED,
    "HybridSLDA": SAMPLED,
    "MedLDA": SAMPLED,
    "MedLDAClassifier": (*SAMPLED, "classes_"),
    "VariationalSLDA": SAMPLED,
    "VariationalSLDAClassifier": (*SAMPLED, "classes_"),
    "AnchorLDA": (),
    "AnchorSLDA": ("coef_",),
    "DiscLDA": ("classes_", "transformations_", "class_prior_"),
}
CLASSES: dict[str, Any] = {name: getattr(estimators, name) for name in sorted(NEEDED)}
DERIVED = ("model_", "components_", "alpha_", "n_features_in_")  # from the model alone


# --- estimators -----------------------------------------------------------------------


def describe(estimator: Any, writer: Writer) -> dict[str, Any]:
    """A fitted estimator as plain values."""
    name = type(estimator).__name__
    if CLASSES.get(name) is not type(estimator):
        raise FileError(
            f"got a {name}, but a file holds one of {', '.join(CLASSES)}, alone or after a "
            "FastCountVectorizer, or a Sketch; save one of these"
        )
    check_is_fitted(estimator)
    try:
        estimator._check()  # parameters may have been changed since, to what no fit takes
    except ValueError as error:
        raise FileError(f"this {name} cannot be written: {error}") from None
    named = {stored: ATTRIBUTES.get(stored, stored) for stored in RULES}
    fitted = {s: getattr(estimator, a) for s, a in named.items() if hasattr(estimator, a)}
    return {
        "class": name,
        "params": {
            p: writer.encode(None if p == "n_jobs" else _parameter(v), p)
            for p, v in estimator.get_params(deep=False).items()
        },
        "model": writer.encode(estimator.model_, "model_"),
        "fitted": {a: writer.encode(value, a) for a, value in fitted.items()},
    }


def restore(plain: Any) -> Any:
    """A fitted estimator from values that are refused unless they make one."""
    match plain:
        case {"class": str(name), "params": dict(), "model": Model(), "fitted": dict(), **rest}:
            if name not in CLASSES or rest:
                raise wrong(f"it has an estimator {name!r:.40}")
        case _:
            raise wrong("it has no estimator where one should be")
    model, fitted = plain["model"], plain["fitted"]
    check_model(model)
    sizes = {"k": model.n_topics, "V": model.n_words}
    if "classes_" in NEEDED[name]:
        sizes["classes"] = np.size(fitted.get("classes_"))
        sizes["L"] = sizes["classes"]
    _check_fitted(name, fitted, sizes)
    estimator = CLASSES[name](**_parameters(CLASSES[name], plain["params"]))
    try:
        estimator._check()
    except ValueError as error:
        raise wrong(f"its {name} has {str(error).split(', but')[0]:.80}") from None
    derived = model, model.mu.T, model.alpha, model.n_words
    for attribute, value in [*zip(DERIVED, derived, strict=True), *fitted.items()]:
        setattr(estimator, ATTRIBUTES.get(attribute, attribute), value)
    return estimator


def check_model(model: Model) -> None:
    """Refuse what is not a model: shapes, signs, and columns of mu that do not sum to one."""
    sizes: Sizes = {
        "k": np.size(model.alpha),
        "V": np.size(model.mu, 0) if np.ndim(model.mu) else 0,
    }
    shaped = (
        numbers("k", below=ALPHA_RANGE[1])(model.alpha, sizes)
        and numbers("Vk")(model.mu, sizes)
        and numbers("k", below=MAX_COEFFICIENT)(model.eta, sizes)
        and number(model.sigma, sizes)
        and model.sigma < MAX_COEFFICIENT
        and number(model.burstiness, sizes)
        and model.burstiness <= 1
    )
    if not shaped or min(sizes.values()) == 0:
        raise wrong("its model has the wrong shape or numbers that are not finite or too large")
    if not model.alpha.min() > ALPHA_RANGE[0] or not model.mu.min() >= 0:
        raise wrong("its model has probabilities below zero")
    if np.abs(model.mu.sum(axis=0) - 1).max() > 1e-6:
        raise wrong("its model has a topic whose word probabilities do not sum to one")


def _check_fitted(name: str, fitted: dict[str, Any], sizes: Sizes) -> None:
    missing = [a for a in NEEDED[name] if a not in fitted]
    if missing:
        raise wrong(f"its {name} has no {missing[0]}")
    for attribute, value in fitted.items():
        own = attribute in RULES and (attribute != "classes_" or "classes" in sizes)
        if not own or not RULES[attribute](value, sizes):
            raise wrong(f"its {name} has {attribute!r:.40} = {value!r:.40}")
    several = sizes.get("L", 0) > 2
    shapes = {a: fitted[a].ndim - several for a in ("coef_", "coef_draws_") if a in fitted}
    if shapes != {a: 1 + (a != "coef_") for a in shapes}:
        raise wrong(f"its {name} has coefficients for another number of classes")


def _parameter(value: Any) -> Any:
    """A parameter that JSON can hold; None for a callback or a generator, which it cannot."""
    plain = value.item() if isinstance(value, np.generic) else value
    return plain if isinstance(plain, (bool, int, float, str)) else None


def _parameters(kind: Any, given: dict[str, Any]) -> dict[str, Any]:
    known = kind().get_params(deep=False)
    for name, value in given.items():
        plain = value is None or type(value) in (bool, int, float, str)
        if name == "random_state":
            plain = value is None or (type(value) in (bool, int) and value >= 0)
        if name not in known or not plain:
            raise wrong(f"its {kind.__name__} has a parameter {name!r:.40} = {value!r:.40}")
    _check_threads(given.get("n_jobs"))
    return given | {"n_jobs": None}


def _check_threads(n_jobs: Any) -> None:
    """Earlier files contain those of the fit, which do not apply to this machine."""
    if n_jobs is not None and not (type(n_jobs) is int and 0 < abs(n_jobs) <= MAX_THREADS):
        raise wrong(f"it asks for n_jobs={n_jobs!r:.40}")


# --- vectorisers ----------------------------------------------------------------------


def describe_counts(counts: FastCountVectorizer, writer: Writer) -> dict[str, Any]:
    """Vocabulary and settings of a fitted vectoriser as plain values."""
    settings = counts.get_params(deep=False)
    stop = settings["stop_words"]  # the words themselves: another scikit-learn has others
    return {
        "words": writer.strings(counts.get_feature_names_out(), "O"),
        "lowercase": bool(settings["lowercase"]),
        "stop_words": None if stop is None else sorted(stop_words(stop)),
        "ngram_range": [int(n) for n in settings["ngram_range"]],
        "max_df": _parameter(settings["max_df"]),
        "min_df": _parameter(settings["min_df"]),
        "max_features": _parameter(settings["max_features"]),
        "vocabulary": settings["vocabulary"] is not None,
        "dtype": np.dtype(settings["dtype"]).name,
        "n_jobs": None,
    }


def describe_given(counts: PrecomputedCounts, writer: Writer) -> dict[str, Any]:
    """Counts that came as counts: the words of their columns, if these have any."""
    named = counts.vocabulary is not None
    return {"given": writer.strings(counts.get_feature_names_out(), "O") if named else None}


def restore_given(words: Any, n_words: int) -> PrecomputedCounts:
    if words is not None and (not names(words, {"V": n_words}) or len(set(words)) < n_words):
        raise wrong(f"its vocabulary is not of {n_words} words")
    counts = PrecomputedCounts(vocabulary=None if words is None else list(words))
    counts.n_features_in_ = n_words
    return counts


def restore_counts(plain: Any, n_words: int) -> FastCountVectorizer:
    """A vectoriser with this vocabulary, refused unless it has ``n_words`` words."""
    params = dict(plain) if isinstance(plain, dict) else {}
    words = params.pop("words", None)
    if set(params) != set(FastCountVectorizer().get_params()) or not _sound(params):
        raise wrong(f"its text settings are {params!r:.60}")
    if not names(words, {"V": n_words}) or len(set(words)) < n_words:
        raise wrong(f"its vocabulary is not of {n_words} words")
    _check_threads(params["n_jobs"])
    params["n_jobs"] = None
    params["vocabulary"] = list(words) if params["vocabulary"] else None
    params["dtype"] = DTYPES[params["dtype"]]
    params["ngram_range"] = tuple(params["ngram_range"])
    try:
        return FastCountVectorizer.from_vocabulary(list(words), **params)
    except ValueError as error:
        raise wrong(f"its text settings cannot be ({error!s:.60})") from None


def _sound(params: dict[str, Any]) -> bool:
    """What ``FastCountVectorizer`` does not check of its parameters itself."""
    stop, n_grams = params["stop_words"], params["ngram_range"]
    listed = isinstance(stop, list) and all(isinstance(word, str) for word in stop)
    return (
        type(params["lowercase"]) is type(params["vocabulary"]) is bool
        and (stop in (None, "english") or (listed and stop == sorted(set(stop))))
        and isinstance(n_grams, list)
        and all(whole(n, {}) for n in n_grams)
        and isinstance(params["dtype"], str)
        and params["dtype"] in DTYPES
    )
