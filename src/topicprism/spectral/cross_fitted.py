"""Moments of documents in coordinates that were found without these documents.

The leading directions of E[x x] lean towards the sampling noise of the documents they are found
from, so that moments of the same documents are too large along them.  Here each fold of the
documents is projected on directions found from all others::

    U_f = orthonormal, spans A_f Q W        A_f = D^-1 E[x1 x2] D^-1 of the others
                                            Q, the coordinates of the sketch of all documents
                                            W, the k leading eigenvectors of Q' A_f Q

Moments of a fold are then unbiased in k coordinates, and have no noise of V words in them.
U_f is rotated to be as near as it can be to the directions of all documents; folds then differ by
little, and their moments are added up.  From U alone in place of Q, a step of the power method
keeps a part of the bias where an eigenvalue is near the edge of noise: with 20 topics and alpha0 =
3, alpha0 was found to be 4.3 and 6.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import polar

from topicprism._typing import WordCoord
from topicprism.documents.corpus import Corpus, Documents
from topicprism.documents.subsets import Subset, Sums, map_subsets
from topicprism.kernels.aligned import aligned
from topicprism.spectral.basis import SEARCH, Basis
from topicprism.spectral.moments import SketchSums, pair_products, sketch_sums, word_sums
from topicprism.spectral.sketch import Sketch, without_repeats


def cross_fitted_sketches(
    docs: Documents, folds: Sequence[Subset], sketch: Sketch, n_topics: int
) -> list[Sketch]:
    """A sketch of each fold, in as many coordinates as there are topics; empty folds left out.

    ``sketch`` is one of all documents.  The noise of V words, c1 and c2, is 0 in these.
    """
    common = sketch.project(sketch.eigenpairs[1][:, -n_topics:]).basis
    bases = _bases_without_each(docs, folds, sketch, common)
    if not bases:
        return []
    sums = docs.total(_sums_of_folds, folds, bases)
    return [
        replace(without_repeats(s, basis), basis=common, c1=0.0, c2=0.0)
        for s, basis in zip(sums.sums, bases, strict=True)
        if s.n > 0
    ]


def _bases_without_each(
    docs: Documents, folds: Sequence[Subset], sketch: Sketch, common: Basis
) -> list[Basis]:
    """Coordinates found from all documents but a fold, for each fold; none if these do not have
    so many directions."""
    root = sketch.basis.root[:, None]
    inverse = np.divide(1, root, out=np.zeros_like(root), where=root > 0)
    images = map_subsets(docs, folds, _times_pairs, aligned(sketch.basis.B, SEARCH))
    total, k, bases = sum(images), common.width, []
    for image in images:
        A = total - image
        values, vectors = np.linalg.eigh(sketch.basis.B.T @ A)
        if not values[-k] > 1e-12 * np.abs(A).max(initial=0):
            return []
        U = np.linalg.qr(inverse * (A @ (vectors[:, -k:] / values[-k:])))[0]
        turned, _ = polar(U.T @ (inverse * common.lift))
        U = U @ turned
        bases.append(replace(common, B=aligned(inverse * U), lift=root * U))
    return bases


def _times_pairs(c: Corpus, B: WordCoord) -> WordCoord:
    """(sum of x1 x2) B."""
    return pair_products(c, B) - word_sums(c).x2[:, None] * B


def _sums_of_folds(c: Corpus, folds: Sequence[Subset], bases: Sequence[Basis]) -> Sums[SketchSums]:
    return Sums(
        tuple(
            sketch_sums(fold.rows(c), b.B, b.centre, b.scale)
            for fold, b in zip(folds, bases, strict=True)
        )
    )
