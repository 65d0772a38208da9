"""Algorithms 1, 2 and 3 of the paper as they are printed, with the corrected formulas.

Nothing is reduced to a sketch first: the second moment is that of V words, or of V words and the
response, and each product with it is a pass over the documents.  All documents weigh the same and
words are not scaled by their frequencies, but for C.  ::

    1. sums over words                                                one pass
    2. W with W' M2 W = I (Algorithm 1) or W' N2 W = I (Algorithm 2)  some passes
    3. N1, N2, N3 of (W'x, y), and so M3(W, W, W) or N3(W, W, W)      one pass
    4. its eigenpairs, and back to alpha, mu, eta

=======  ==========  ==============================================================
code     paper       meaning
=======  ==========  ==============================================================
C        C           words are counted as C each, beside a response of variance 1
N2       M_2, N_2    second moment of words, or of words and response       (V+1, V+1)
space    W, W^+      its whitening
=======  ==========  ==============================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from topicprism._typing import Array
from topicprism.documents.corpus import Documents
from topicprism.kernels.blas import one_blas_thread
from topicprism.model import Model
from topicprism.spectral.basis import Basis, check_sums
from topicprism.spectral.centred import Centred, centre, response_slice
from topicprism.spectral.decompose import (
    Solution,
    by_effect,
    eigenpairs,
    width_for,
    with_one_that_works,
)
from topicprism.spectral.moments import WordSums, pair_products, sketch_sums, word_sums
from topicprism.spectral.recovery import (
    alphas,
    directions,
    noise_variance,
    power_update,
    to_simplex,
    unexplained,
)
from topicprism.spectral.settings import Settings
from topicprism.spectral.sketch import sketch_of, without_repeats
from topicprism.spectral.tensor import Eigenpairs, in_space
from topicprism.spectral.whitening import Whitening, whiten
from topicprism.validation import check_problem

MEAN_ALPHA = 0.1  # of each topic, where it is not given: the paper's, on real text
WORD_SCALE = 100.0  # C, the paper's
EQUAL_WEIGHT_WORDS = 0.0  # words of a document of half weight: all weigh the same
COLUMNS = 256  # multiplied by a second moment in one pass


@dataclass(frozen=True)
class SecondMoment:
    """N2 of (C x, y), or M2 of x: products with it, by passes over the documents."""

    docs: Documents
    sums: WordSums
    alpha0: float
    C: float = 1.0
    sigma2: float | None = None  # None: of words alone

    @property
    def shape(self) -> tuple[int, int]:
        r = self.docs.n_words + (self.sigma2 is not None)
        return r, r

    def __matmul__(self, S: Array) -> Array:
        if S.ndim == 1:
            return (self @ S[:, None])[:, 0]
        return np.hstack([self._times(s) for s in _columns(S)])

    def _times(self, S: Array) -> Array:
        """With a block of columns: words, then the response if there is one."""
        sums, V, C = self.sums, self.docs.n_words, self.C
        x, y, share = sums.frequencies, sums.y.mean, self.alpha0 / (self.alpha0 + 1)
        words = np.ascontiguousarray(S[:V])
        pairs = self.docs.total(pair_products, words, EQUAL_WEIGHT_WORDS) - sums.x2[:, None] * words
        image: Array = C**2 * (pairs / sums.y.weight - share * np.outer(x, x @ words))
        if self.sigma2 is None:
            return image
        cross = C * (sums.yx_about(0.0) / sums.y.weight - share * y * x)
        own = (1 - share) * y**2 + sums.y.sd**2 - self.sigma2
        image += np.outer(cross, S[V])
        return np.vstack([image, cross @ words + own * S[V]])


def _columns(S: Array) -> list[Array]:
    return [S[:, i : i + COLUMNS] for i in range(0, S.shape[1], COLUMNS)]


def learn_as_printed(
    docs: Documents,
    n_topics: int,
    alpha0: float | None = None,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    *,
    rng: np.random.Generator,
) -> Solution:
    """Algorithm 1 (``method="two-stage"``) or 2 ("joint"), for a response of variance about 1.

    The joint method needs the noise variance, which the paper leaves to cross-validation: unless
    it is given, that of the moments is taken (``recovery.noise_variance``).
    """
    alpha0 = MEAN_ALPHA * n_topics if alpha0 is None else alpha0
    check_problem(n_topics, alpha0, docs.n_words)
    with one_blas_thread:
        sums = docs.total(word_sums, EQUAL_WEIGHT_WORDS)
        check_sums(sums)
        fit = partial(_fit, docs, sums, alpha0=alpha0, settings=settings, rng=rng)
        return with_one_that_works(fit, n_topics)


def _fit(
    docs: Documents,
    sums: WordSums,
    n_topics: int,
    alpha0: float,
    settings: Settings,
    rng: np.random.Generator,
) -> Solution:
    joint, sigma2, C = settings.method == "joint", settings.noise_variance, 1.0
    if joint:
        C = settings.word_scale or WORD_SCALE
        sigma2 = _noise(docs, n_topics, rng) if sigma2 is None else sigma2
    N2 = SecondMoment(docs, sums, alpha0, C, sigma2 if joint else None)
    how = "matrix-free" if settings.whitening == "auto" else settings.whitening
    space = whiten(N2, n_topics, rng, how)
    moments = _moments(docs, space, C, alpha0, sigma2 or 0.0)
    T = _whitened_third(moments, space, docs.n_words)
    pairs = eigenpairs(T, settings, rng)
    v = directions(pairs, space, alpha0)
    alpha, mu = alphas(pairs, alpha0), to_simplex(v[: docs.n_words] / C)
    eta = v[-1] if joint else _power_update(pairs, moments, alpha0)
    if sigma2 is None:
        sigma2 = unexplained(sums.y.mean**2 + sums.y.sd**2, alpha, eta)
    model, order = Model(alpha, mu, eta, float(np.sqrt(sigma2))), by_effect(alpha, eta)
    found = Solution(model, pairs.values, space.values, pairs.residual, sums.n, sums.n_short)
    return found.reordered(order)


def _noise(docs: Documents, n_topics: int, rng: np.random.Generator) -> float:
    sketch = sketch_of(docs, docs.total(word_sums), width_for(n_topics), rng)
    return sketch.basis.scale**2 * noise_variance(sketch, n_topics)


def _moments(docs: Documents, space: Whitening, C: float, alpha0: float, sigma2: float) -> Centred:
    """Centred moments of (W'x, y), W being the rows of words: C W'x where words are scaled."""
    V = docs.n_words
    B = np.ascontiguousarray(C * space.W[:V])
    sums = docs.total(sketch_sums, B, 0.0, 1.0, EQUAL_WEIGHT_WORDS)
    return centre(without_repeats(sums, Basis(B, B, 0.0, 1.0)), alpha0, sigma2)


def _whitened_third(moments: Centred, space: Whitening, n_words: int) -> Array:
    """M3(W, W, W), or N3(W, W, W) if W has a row for the response."""
    k = space.W.shape[1]
    last = space.W[n_words:] if len(space.W) > n_words else np.zeros((1, k))
    return in_space(moments.third, np.vstack([np.eye(k), last]))


def _power_update(pairs: Eigenpairs, moments: Centred, alpha0: float) -> Array:
    """Step 6 of Algorithm 1; the moments are whitened already."""
    eye = np.eye(len(pairs.values))
    return power_update(pairs, Whitening(eye, eye, pairs.values), response_slice(moments), alpha0)
