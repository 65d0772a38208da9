"""Fitted estimators as plain values, and back once they are what they must be."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topicprism import estimators
from topicprism.io.files.container import FileError, wrong
from topicprism.io.files.rules import (
    MAX_COEFFICIENT,
    RULES,
    Sizes,
    check_threads,
    number,
    numbers,
    parameter,
)
from topicprism.io.files.values import Writer
from topicprism.model import Model

ALPHA_RANGE = 1e-100, 1e12  # of a prior: beyond them answers are the same, or no numbers
ATTRIBUTES = {"spread_": "predictive_variance_"}  # names in a file of format 1 that differ
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
            p: writer.encode(None if p == "n_jobs" else parameter(v), p)
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


def _parameters(kind: Any, given: dict[str, Any]) -> dict[str, Any]:
    known = kind().get_params(deep=False)
    for name, value in given.items():
        plain = value is None or type(value) in (bool, int, float, str)
        if name == "random_state":
            plain = value is None or (type(value) in (bool, int) and value >= 0)
        if name not in known or not plain:
            raise wrong(f"its {kind.__name__} has a parameter {name!r:.40} = {value!r:.40}")
    check_threads(given.get("n_jobs"))
    return given | {"n_jobs": None}
