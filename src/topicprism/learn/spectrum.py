"""The number of topics and alpha0 from a sketch, and whether documents follow the model at all.

For documents from the model everything is in the sketch.  The spectrum of E[x x] ends at k:
beyond it eigenvalues are noise, and how large noise can be is known.  And the Dirichlet
parameters that a decomposition finds add up to the alpha0 it was given only where that is
the true one::

    sum(alpha_hat(alpha0)) / alpha0  falls through 1 at alpha0
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from topicprism.learn.defaults import MODEL
from topicprism.learn.response_topics import response_has_signal
from topicprism.learn.result import AS_ASKED, FitRequest, Regime
from topicprism.model import TooManyTopics
from topicprism.spectral.basis import trace_of_A
from topicprism.spectral.decompose import SPARE_COORDINATES, decompose
from topicprism.spectral.moments import WordSums
from topicprism.spectral.recovery import noise_variance
from topicprism.spectral.settings import Settings
from topicprism.spectral.sketch import NOISE_EDGE_FACTOR, Sketch


@dataclass(frozen=True)
class Spectrum:
    """Regime and number of topics, by the eigenvalues of E[x x]."""

    regime: Regime
    n_topics: int
    why: str


def read_spectrum(sketch: Sketch, request: FitRequest, sums: WordSums | None = None) -> Spectrum:
    """The model, if its number of topics is all that the words show, by ``sums`` over all words."""
    trace = 0.0 if sums is None else trace_of_A(sums)
    k = request.n_topics or n_from_spectrum(sketch)
    chosen = request.n_topics is None
    follows_model = k > 0 and spectrum_ends_at(sketch, k) and spectrum_is_complete(sketch, k, trace)
    if chosen and k > min(MODEL.max_topics, sketch.basis.width - SPARE_COORDINATES):
        follows_model = False  # it may go on beyond the sketch
    if chosen and k == 1 and request.supervised and response_has_signal(sketch):
        follows_model = False  # one topic cannot explain the response, and the words do
    if not follows_model:
        return Spectrum(Regime.TEXT, k, describe_spectrum(sketch))
    return Spectrum(Regime.MODEL, k, _describe_end(sketch, k) if chosen else AS_ASKED)


def n_significant(sketch: Sketch) -> int:
    """Eigenvalues well above sampling noise."""
    return int((sketch.spectrum > NOISE_EDGE_FACTOR * sketch.noise_edge).sum())


def n_from_spectrum(sketch: Sketch) -> int:
    """Topics by the spectrum: significant eigenvalues and, if it ends there, those above noise."""
    above = int((sketch.spectrum > sketch.noise_edge).sum())
    significant = n_significant(sketch)
    return above if above > significant and spectrum_ends_at(sketch, above) else significant


def spectrum_ends_at(sketch: Sketch, n_topics: int) -> bool:
    """Whether ``n_topics`` topics are all that the words show.

    No significant eigenvalue is left, and the last stands out from the next: in text, where
    the eigenvalues go on and on, the noise of few documents may hide the rest of them.
    """
    if not sketch.basis.width > n_topics >= n_significant(sketch):
        return False
    last, following = sketch.spectrum[n_topics - 1 : n_topics + 1]
    return bool(last >= MODEL.spectrum_gap * following)


def spectrum_is_complete(sketch: Sketch, n_topics: int, trace: float) -> bool:
    """Whether so many topics are all there is, ``trace`` being the sum of all eigenvalues.

    Noise adds nothing to that sum, but for an error of known size.  What does are words that
    are repeated more often than topics explain, and directions too small to be seen.
    """
    error = np.sqrt(2 * sketch.n_seen * sketch.c2) / sketch.weight
    return bool(trace - sketch.spectrum[:n_topics].sum() <= MODEL.trace_standard_errors * error)


def alpha0_of(sketch: Sketch, n_topics: int, settings: Settings, rng: np.random.Generator) -> float:
    """Where the sum of the estimated Dirichlet parameters falls through alpha0."""
    clean = without_noise(sketch)
    restarts = min(settings.n_restarts, MODEL.alpha0_restarts)
    quick = replace(settings, whitening="auto", n_restarts=restarts)  # as of the coefficients
    if settings.noise_variance is None:  # of the sketch as it was
        left = sketch.basis.scale**2 * noise_variance(sketch, n_topics)
        quick = replace(quick, noise_variance=left)

    def excess(log_alpha0: float) -> float:
        alpha0 = float(np.exp(log_alpha0))
        try:
            found = decompose(clean, n_topics, alpha0, quick, rng=rng).model
            return float(found.alpha.sum()) - alpha0
        except TooManyTopics:
            return -alpha0  # too much was taken off the second moment

    low, high = np.log(MODEL.alpha0_range)
    above, below = 0.0, 0.0
    for _ in range(MODEL.alpha0_halvings):
        middle = (low + high) / 2
        found = excess(middle)
        if found > 0:
            low, above = middle, found
        else:
            high, below = middle, found
    share = above / (above - below) if above > below else 0.5  # of the way that is left
    return float(np.exp(low + share * (high - low)))


def without_noise(sketch: Sketch) -> Sketch:
    """The sketch with the eigenvalues of E[x x] put back to where noise raised them from.

    Noise with edge e raises an eigenvalue l to l + e^2 / (4 l).
    """
    edge = sketch.noise_edge
    values, vectors = sketch.eigenpairs
    lower = (values + np.sqrt(np.maximum(values**2 - edge**2, 0))) / 2
    values = np.where(values > edge, lower, np.minimum(values, edge / 2))
    second = sketch.second.copy()
    second[:-1, :-1] = sketch.weight * (vectors * values) @ vectors.T
    return replace(sketch, second=second)


def _describe_end(sketch: Sketch, k: int) -> str:
    s, edge = sketch.spectrum, sketch.noise_edge
    above = NOISE_EDGE_FACTOR * edge if k <= n_significant(sketch) else edge
    return (
        f"component {k} of the words ({s[k - 1]:.3g}) is above sampling noise (at most "
        f"{above:.3g}), component {k + 1} ({s[k]:.3g}) is not"
    )


def describe_spectrum(sketch: Sketch) -> str:
    return f"the words vary in {n_significant(sketch)} or more significant directions"


def determines_alpha0(alpha0: float) -> bool:
    """Whether the value found is within the range searched, not at its end."""
    low, high = MODEL.alpha0_range
    return low * MODEL.alpha0_end < alpha0 < high / MODEL.alpha0_end


def describe_alpha0(alpha0: float, interval: tuple[float, float] | None = None) -> str:
    """Why it was chosen; ``interval`` is one of 95 %."""
    low, high = MODEL.alpha0_range
    known = f" (95 % interval {interval[0]:.2g} to {interval[1]:.2g})" if interval else ""
    if determines_alpha0(alpha0) and interval and interval[1] >= high / MODEL.alpha0_end:
        return (
            f"assumed: {MODEL.usual_alpha0:g}, or the lower end of the interval if that is more, "
            f"since moments do not bound it from above{known}"
        )
    if determines_alpha0(alpha0):
        return f"the value at which the estimated prior agrees with itself{known}"
    return (
        f"the end of the range searched, {low:g} to {high:g}: the moments of these documents do "
        f"not determine it{known}"
    )
