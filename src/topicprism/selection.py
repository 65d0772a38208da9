"""alpha0 and k from a sketch, and the table that says how they were chosen.

Of model data everything is in the sketch.  The spectrum of E[x x] ends at k: beyond it
eigenvalues are noise, and how large noise can be is known.  And the Dirichlet
parameters that a decomposition finds add up to the alpha0 it was given only
where that is the true one::

    sum(alpha_hat(alpha0)) / alpha0  falls through 1 at alpha0
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from topicprism._typing import Array
from topicprism.model import TooManyTopics
from topicprism.recovery import noise_variance
from topicprism.settings import Settings
from topicprism.sketching import CLEAR, Sketch
from topicprism.spectral import decompose

RANGE = (0.1, 100.0)  # where alpha0 is sought
GAP = 1.15  # between the last eigenvalue of the topics and the first of noise
SURE = 5  # standard errors: more is no chance
STEPS = 9  # halvings of that range, on a log scale: to one per cent


@dataclass(frozen=True)
class Trial:
    """How well one number of topics predicted documents that were held out."""

    n_topics: int
    alpha0: float
    noise_variance: float
    pr2: float
    pr2_std: float


@dataclass(frozen=True, eq=False)
class Selection:
    """What was chosen, from what, and why."""

    n_topics: int
    alpha0: float
    noise_variance: float
    trials: tuple[Trial, ...]
    spectrum: Array  # eigenvalues of E[x x] in the sketch, the largest first
    threshold: float  # an eigenvalue below it may be chance
    reasons: dict[str, str]  # a sentence for each parameter


def n_clear(sketch: Sketch) -> int:
    """Eigenvalues that are no accident."""
    return int((sketch.spectrum > CLEAR * sketch.noise_edge).sum())


def n_told(sketch: Sketch) -> int:
    """Topics by the spectrum: the clear eigenvalues and, if it ends there, those above the edge."""
    above = int((sketch.spectrum > sketch.noise_edge).sum())
    clear = n_clear(sketch)
    return above if above > clear and ends_at(sketch, above) else clear


def ends_at(sketch: Sketch, n_topics: int) -> bool:
    """Whether ``n_topics`` topics are all that the words show.

    No clear eigenvalue is left, and the last stands out from the next: in text, where the
    eigenvalues go on and on, the noise of few documents may hide the rest of them.
    """
    if not sketch.basis.width > n_topics >= n_clear(sketch):
        return False
    last, following = sketch.spectrum[n_topics - 1 : n_topics + 1]
    return bool(last >= GAP * following)


def all_told(sketch: Sketch, n_topics: int, trace: float) -> bool:
    """Whether so many topics are all there is, ``trace`` being the sum of all eigenvalues.

    Noise adds nothing to that sum, but for an error of known size.  What does are words that
    are said again more often than topics explain, and directions too small to be seen.
    """
    error = np.sqrt(2 * sketch.n_seen * sketch.c2) / sketch.weight
    return bool(trace - sketch.spectrum[:n_topics].sum() <= SURE * error)


def alpha0_of(sketch: Sketch, n_topics: int, settings: Settings, rng: np.random.Generator) -> float:
    """Where the sum of the estimated Dirichlet parameters falls through alpha0."""
    clean = without_noise(sketch)
    quick = replace(settings, n_restarts=min(settings.n_restarts, 20))
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

    low, high = np.log(RANGE)
    above, below = 0.0, 0.0
    for _ in range(STEPS):
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
    values, vectors = np.linalg.eigh(sketch.second[:-1, :-1] / sketch.weight)
    lower = (values + np.sqrt(np.maximum(values**2 - edge**2, 0))) / 2
    values = np.where(values > edge, lower, np.minimum(values, edge / 2))
    second = sketch.second.copy()
    second[:-1, :-1] = sketch.weight * (vectors * values) @ vectors.T
    return replace(sketch, second=second)
