"""Where documents are known by their moments alone.

Of text, coefficients are from documents drawn from these moments.  Predictions are eta . h, with
h inferred from the words of a document, so eta has to be that of a regression on inferred
proportions (:mod:`topicprism.learn.ridge`).  A sketch has no document to infer any from, but second
moments of them.  With x the words of a document in a few coordinates::

    C = E[x x] - E[x] E[x]',  c = E[y x] - E[y] E[x]
    u ~ Normal(E[x], C),      y = E[y] + c'(C + penalty)^-1 (u - E[x])

and the words of a document are drawn from u, as probabilities.  The more coordinates, the more of
C is sampling noise: these are E[x], the two directions of the response, and the leading ones.
So is E[y x] with few documents or a weak response: differences between coefficients shrink, to
none where it is mostly chance, and predictions are never much worse than the mean.
``experiments/sketches_of_text.py`` compares with fits on documents.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from topicprism._typing import Array, Coord, Counts, Doc, Square
from topicprism.inference import infer
from topicprism.kernels.blas import one_blas_thread
from topicprism.learn import model_regime
from topicprism.learn.defaults import SKETCH, TEXT
from topicprism.learn.response_topics import chance_of_response, topics_of
from topicprism.learn.result import (
    AS_ASKED,
    DRAWN,
    METHOD,
    FitRequest,
    FitResult,
    method_of_text,
    selection_of,
)
from topicprism.learn.ridge import Products, regress
from topicprism.learn.spectrum import describe_spectrum, determines_alpha0, read_spectrum
from topicprism.model import Model
from topicprism.spectral.basis import orthonormal
from topicprism.spectral.sketch import Sketch
from topicprism.spectral.whitening import fixed_signs

SKETCH_AGAIN = "sketch the documents again, with responses in other units if they are huge"
NO_MODEL = (
    f"the sketch leads to no model ({{}}), but moments of documents were expected; {SKETCH_AGAIN}"
)


def learn_sketch(sketch: Sketch, request: FitRequest, rng: np.random.Generator) -> FitResult:
    """The model in a sketch alone: numbers of topics cannot be compared without documents.

    A sketch does not know how often words are repeated.  So the spectrum of a little text may seem
    to end; but then no alpha0 agrees with its moments, and the number of topics is not believed.
    """
    request.check(sketch.basis.width)
    check_moments(sketch)
    if request.as_printed:
        raise ValueError(
            "regime='paper' was asked of a sketch, but the paper's algorithms whiten the moments "
            "of all words; fit documents, or use regime='auto'"
        )
    try:
        found = _learnt(sketch, request, rng)
    except (np.linalg.LinAlgError, OverflowError) as error:
        raise ValueError(NO_MODEL.format(error)) from None
    model = found.model
    if not all(np.isfinite(one).all() for one in (model.mu, model.alpha, model.eta, model.sigma)):
        raise ValueError(NO_MODEL.format("numbers that are not finite"))
    return found


def _learnt(sketch: Sketch, request: FitRequest, rng: np.random.Generator) -> FitResult:
    found = model_regime.from_sketch(sketch, read_spectrum(sketch, request), request, rng)
    asked = request.alpha0 is not None or request.n_topics is not None
    if found is not None and (
        asked or found.model.n_topics == 1 or determines_alpha0(found.selection.alpha0)
    ):
        return found.saying_its_method(request.settings.method, request.supervised)
    k = request.n_topics or min(SKETCH.n_topics, sketch.basis.width)
    why = f"{describe_spectrum(sketch)}; {k} is the default without documents to compare numbers on"
    why = AS_ASKED if request.n_topics else why
    with one_blas_thread:
        return from_sketch(sketch, k, why, request, rng)


def check_moments(sketch: Sketch) -> None:
    """Refuse a sketch of no documents, and sums that are of none, as in a changed file."""
    if sketch.weight <= 0:
        raise ValueError(
            "got a sketch of no documents, or of short ones only, but at least one of three words "
            "was expected; sketch others"
        )
    with np.errstate(over="ignore"):
        largest = max(np.abs(m).max() for m in (sketch.first, sketch.second, sketch.third))
        mean = largest / sketch.weight
    if not mean < SKETCH.max_moment:
        raise ValueError(
            f"the sketch has moments of up to {mean:.3g}, but numbers below {SKETCH.max_moment:g} "
            f"were expected; {SKETCH_AGAIN}"
        )


def from_sketch(
    sketch: Sketch, k: int, why: str, request: FitRequest, rng: np.random.Generator
) -> FitResult:
    """A model of text from its moments; every coefficient is E[y] if words do not predict it."""
    joint = request.settings.method == "joint"
    model, _ = topics_of(sketch, k, SKETCH.n_response if joint else 0, rng)
    if model.n_topics < k:
        why += f", but the words support only {model.n_topics}"
    alpha0 = request.alpha0 or SKETCH.alpha0
    model, left = _with_coefficients(sketch, model.with_alpha0(alpha0), rng)
    asked = request.settings.noise_variance
    if asked is not None:
        model = replace(model, sigma=float(np.sqrt(asked)))
    reasons = {
        METHOD: method_of_text(DRAWN),
        "n_topics": why,
        "alpha0": AS_ASKED if request.alpha0 else "the default without documents to try others on",
        "noise_variance": "the variance of the response less that of predictions for documents "
        "drawn from the moments" if asked is None else AS_ASKED,
    }  # fmt: skip
    model = model.reordered(np.lexsort((-model.alpha, model.eta)))
    selection = selection_of(sketch, model, alpha0, (), reasons)
    return FitResult(model, selection, np.array([left, 0.0]))


def _with_coefficients(
    sketch: Sketch, model: Model, rng: np.random.Generator
) -> tuple[Model, float]:
    """The model with eta and sigma, and the variance of a response given its words."""
    b = sketch.basis
    about = Moments.of(sketch, max(SKETCH.coordinates, model.n_topics))
    eta, left = np.full(model.n_topics, about.mean_y), about.variance_y
    low, high = SKETCH.chance
    share = float(np.clip((high - chance_of_response(sketch)) / (high - low), 0, 1))
    if share > 0:
        counts, y = drawn(about, SKETCH.documents, sketch.typical_length, rng)
        h = infer(model, counts)
        y = about.mean_y + share * (y - about.mean_y)
        eta = regress(Products.of(h, y)).eta
        left = max(about.variance_y - float(np.var(h @ eta)), TEXT.noise_floor * about.variance_y)
    variance = b.scale**2 * left
    return replace(model, eta=b.centre + b.scale * eta, sigma=float(np.sqrt(variance))), variance


@dataclass(frozen=True)
class Moments:
    """Means and covariances of words, in a few coordinates, and of the response."""

    lift: Array  # coordinates -> words
    mean: Coord
    C: Square
    c: Coord
    mean_y: float
    variance_y: float
    penalty: float

    @classmethod
    def of(cls, whole: Sketch, width: int) -> Moments:
        zz, mean = whole.second / whole.weight, whole.first[:-1] / whole.weight
        b = zz[-1, :-1]
        R = orthonormal(mean, b, zz[:-1, :-1] @ b, *whole.eigenpairs[1].T[::-1])
        s = whole.project(fixed_signs(R[:, :width]))  # so that -y gives the same documents
        first, second = s.first / s.weight, s.second / s.weight
        covariance = second - np.outer(first, first)
        penalty = SKETCH.penalty * whole.noise_radius(whole.n_seen)
        return cls(
            s.basis.lift, first[:-1], covariance[:-1, :-1], covariance[-1, :-1],
            float(first[-1]), float(covariance[-1, -1]), penalty,
        )  # fmt: skip


def drawn(m: Moments, n: int, length: int, rng: np.random.Generator) -> tuple[Counts, Doc]:
    """Word counts of ``n`` documents of one length, and the response expected of each."""
    values, vectors = np.linalg.eigh(m.C)
    values, vectors = np.maximum(values, 0), fixed_signs(vectors)
    known = values > SKETCH.smallest * values[-1]
    weights = np.divide(vectors.T @ m.c, values + m.penalty, out=np.zeros_like(values), where=known)
    along = rng.standard_normal((n, len(values))) * np.sqrt(values)
    words = np.empty((n, length), np.intp)
    for i, u in enumerate(m.mean + along @ vectors.T):
        cdf = np.cumsum(np.maximum(m.lift @ u, 0))
        words[i] = np.searchsorted(cdf, rng.random(length) * cdf[-1], side="right")
    words = np.minimum(words, len(m.lift) - 1)  # rounding may lead one beyond the last
    ends = np.arange(0, n * length + 1, length)
    X = csr_array((np.ones(n * length, np.int32), words.ravel(), ends), shape=(n, len(m.lift)))
    X.sum_duplicates()
    return X, m.mean_y + along @ weights
