"""The spectral algorithms, from documents to model, on one page.

=============  ==========  =====================================================
code           paper       meaning
=============  ==========  =====================================================
alpha0         alpha_0     sum of the Dirichlet parameters
sigma2         sigma^2     noise of the response, in the units of the sketch
C              C           words scaled against the response (100 in the paper)
n_restarts     L           starts of the tensor power method, for each topic
n_iterations   T           its iterations, at most
=============  ==========  =====================================================
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from topicprism._typing import Array, Cube, Ints, Topic
from topicprism.documents.corpus import Documents
from topicprism.kernels.blas import one_blas_thread
from topicprism.kernels.cpu import LANES
from topicprism.model import Model, TooManyTopics
from topicprism.spectral.centred import Centred, centre, response_slice, scaled, words_only
from topicprism.spectral.diagonalise import simultaneous, stgd, two_svd
from topicprism.spectral.moments import word_sums
from topicprism.spectral.recovery import (
    alphas,
    directions,
    noise_variance,
    power_update,
    to_simplex,
)
from topicprism.spectral.settings import Settings
from topicprism.spectral.sketch import Sketch, sketch_of
from topicprism.spectral.tensor import Eigenpairs, all_at_once, in_space, power_method
from topicprism.spectral.whitening import Whitening, whiten
from topicprism.validation import check_problem

log = logging.getLogger("topicprism")
SPARE_COORDINATES = 6  # of a sketch beyond one per topic, at least: to see that the spectrum ends,
# and for E[x], E[y x] and E[x x] E[y x], which need not be among the leading directions


@dataclass(frozen=True)
class Solution:
    """A model, and measures of its fit."""

    model: Model
    eigenvalues: Topic  # lambda_i of the whitened third moment, in the model's order
    spectrum: Array  # the k largest eigenvalues of the second moment
    residual: float  # share of the third moment that is not in the topics
    n_documents: int  # with three words or more
    n_short: int = 0  # the others, if documents were looked at

    def reordered(self, order: Ints) -> Solution:
        """The same solution, its topics in another order."""
        return replace(self, model=self.model.reordered(order), eigenvalues=self.eigenvalues[order])


def by_effect(alpha: Topic, eta: Topic) -> Ints:
    """The order of topics: by effect; the common ones first if there is none."""
    return np.lexsort((-alpha, eta))


def learn(
    docs: Documents,
    n_topics: int,
    alpha0: float = 1.0,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    *,
    rng: np.random.Generator,
) -> Solution:
    """Supervised LDA from documents: a few looks at them, then small algebra."""
    check_problem(n_topics, alpha0, docs.n_words)
    with one_blas_thread:  # what is not in the passes is small
        sums = docs.total(word_sums)  # pass one
        sketch = sketch_of(docs, sums, width_for(n_topics), rng)  # a few more, and pass two
    log.debug("%d documents, %d coordinates", sketch.n, sketch.basis.width)
    try:
        found = decompose(sketch, n_topics, alpha0, settings, rng=rng)
        return replace(found, n_short=sums.n_short)
    except TooManyTopics as refused:
        fewer = partial(learn, docs, alpha0=alpha0, settings=settings, rng=rng)
        raise _naming_one_that_works(refused, fewer) from None


def decompose(
    sketch: Sketch,
    n_topics: int,
    alpha0: float = 1.0,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    *,
    rng: np.random.Generator,
) -> Solution:
    """The model in a sketch; no document is looked at, so every k and alpha0 is cheap to try."""
    check_problem(n_topics, alpha0, sketch.basis.width)
    rng = own_stream(rng)
    with one_blas_thread:
        fit = partial(_decompose, sketch, alpha0=alpha0, settings=settings, rng=rng)
        return with_one_that_works(fit, n_topics)


def own_stream(rng: np.random.Generator) -> np.random.Generator:
    """A generator that takes one number of ``rng``, however many are then drawn from it.

    How many a decomposition draws may depend on a last digit: what comes after it must not.
    """
    return np.random.default_rng(int(rng.integers(2**62)))


def _decompose(
    sketch: Sketch, n_topics: int, alpha0: float, settings: Settings, rng: np.random.Generator
) -> Solution:
    basis = sketch.basis
    sigma2 = noise_variance(sketch, n_topics)
    known = settings.noise_variance
    moments = centre(sketch, alpha0, sigma2 if known is None else known / basis.scale**2)

    def solve(m: Centred) -> tuple[Whitening, Eigenpairs]:
        space = whiten(m.second, n_topics, rng, settings.whitening)
        return space, eigenpairs(in_space(m.third, space.W), settings, rng)

    algorithm = ALGORITHMS[settings.method] if n_topics > 1 else one_topic
    found = algorithm(moments, alpha0, solve, settings)
    alpha = alphas(found.pairs, alpha0)
    order = by_effect(alpha, found.eta)
    model = Model(
        alpha=alpha,
        mu=to_simplex(basis.lift @ found.words),
        eta=basis.centre + basis.scale * found.eta,
        sigma=basis.scale * float(np.sqrt(sigma2)) if known is None else float(np.sqrt(known)),
    ).reordered(order)
    pairs = found.pairs
    return Solution(model, pairs.values[order], found.space.values, pairs.residual, sketch.n)


OTHER_DECOMPOSITIONS: dict[str, Callable[[Cube, np.random.Generator], Eigenpairs]] = {
    "all at once": all_at_once,
    "simultaneous": simultaneous,
    "two-svd": two_svd,
    "stgd": stgd,
}


def eigenpairs(T: Cube, settings: Settings, rng: np.random.Generator) -> Eigenpairs:
    """Of a whitened third moment, as the settings ask for them."""
    if settings.decomposition == "power":
        return power_method(T, rng, settings.n_restarts, settings.n_iterations)
    return OTHER_DECOMPOSITIONS[settings.decomposition](T, rng)


# --- the two algorithms of the paper --------------------------------------------------


@dataclass(frozen=True)
class Found:
    pairs: Eigenpairs
    space: Whitening
    words: Array  # mu_i in sketch coordinates, as columns
    eta: Topic  # in the units of the sketch


Solve = Callable[[Centred], tuple[Whitening, Eigenpairs]]


def two_stage(m: Centred, alpha0: float, solve: Solve, settings: Settings) -> Found:
    """Algorithm 1: topics from the words alone, then eta by a power update.

    With a response that is 0 throughout this is spectral LDA.
    """
    space, pairs = solve(words_only(m))
    eta = power_update(pairs, space, response_slice(m), alpha0)
    return Found(pairs, space, directions(pairs, space, alpha0), eta)


def joint(m: Centred, alpha0: float, solve: Solve, settings: Settings) -> Found:
    """Algorithm 2: the response is one more word."""
    scale = np.ones(len(m.first))
    scale[:-1] = balance(m) if settings.word_scale is None else settings.word_scale
    space, pairs = solve(scaled(m, scale))
    v = directions(pairs, space, alpha0) / scale[:, None]
    return Found(pairs, space, v[:-1], v[-1])


def one_topic(m: Centred, alpha0: float, solve: Solve, settings: Settings) -> Found:
    """Neither: every document expects the same, and third moments only add noise to it."""
    return replace(two_stage(m, alpha0, solve, settings), eta=m.first[-1:])


ALGORITHMS = {"joint": joint, "two-stage": two_stage}


def balance(m: Centred) -> float:
    """C for which the words' largest eigenvalue equals the response's own entry of N2."""
    words = float(np.linalg.eigvalsh(m.second[:-1, :-1])[-1])
    response = float(m.second[-1, -1])
    return float(np.sqrt(response / words)) if response > 0 and words > 0 else 1.0


def width_for(n_topics: int) -> int:
    """Coordinates for a sketch of k topics: some to spare, and no vector lane idle."""
    return -(-(n_topics + SPARE_COORDINATES) // LANES) * LANES


def with_one_that_works(fit: Callable[[int], Solution], n_topics: int) -> Solution:
    """``fit(n_topics)``; a refusal names the largest number of topics that works."""
    try:
        return fit(n_topics)
    except TooManyTopics as refused:
        raise _naming_one_that_works(refused, fit) from None


def _naming_one_that_works(refused: TooManyTopics, fit: Callable[[int], object]) -> TooManyTopics:
    """The same refusal, naming the largest number of topics that was tried and works."""
    k = min(refused.largest, refused.n_topics - 1)
    while k > 0:
        try:
            fit(k)
        except TooManyTopics as again:
            k = min(again.largest, k - 1)
        else:
            break
    return TooManyTopics(refused.n_topics, refused.moment, refused.found, largest=k)
