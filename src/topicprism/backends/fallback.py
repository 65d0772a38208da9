"""Expectation propagation where documents are: sweeps there, and some again on the CPU.

Sweeps are what most documents need.  Of the rest, long ones start elsewhere, those that do not
converge or whose words determine next to nothing are filtered by parts of the prior, and under a
sparse prior of few topics all are checked by importance sampling: these are inferred from
scratch by the CPU's kernel (:mod:`topicprism.kernels.propagation`), as if it had been asked first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from topicprism._typing import Array, Doc, Topic, WordTopic
from topicprism.backends import cpu
from topicprism.kernels.faces import FACES
from topicprism.kernels.propagation import PROPAGATION

Limits = tuple[int, float, bool]  # sweeps, tolerance, and whether documents must converge


def propagate(
    X: Any, mu: WordTopic, alpha: Topic, limits: Limits, found: tuple[Array, Doc, Any],
    sweep: Callable[..., None] | None,
) -> None:  # fmt: skip
    """Fills h, totals and converged; ``sweep`` fills them by sweeps alone, if it can at all."""
    h, totals, converged = found
    k, alpha0, must_converge = len(alpha), float(alpha.sum()), limits[2]
    faces = must_converge and 1 < k <= FACES.max_topics and alpha0 <= FACES.max_alpha0
    again = np.full(len(h), faces or sweep is None)
    if sweep is not None and not again.any():
        sweep(X, mu, alpha, limits, h, totals, converged)
        again = X.backend.lengths(X) > PROPAGATION.long_document_words
        if must_converge and k > 1:
            sparse = alpha0 <= PROPAGATION.max_sparse_alpha0
            sure = PROPAGATION.min_known_words_sparse if sparse else PROPAGATION.min_known_words
            again |= ~converged | (totals < sure + alpha0)
    if again.any():
        which = np.flatnonzero(again)
        rows = X if again.all() else X.taken(which)
        own = np.empty((len(which), k)), np.empty(len(which)), np.empty(len(which), bool)
        cpu.propagate(rows.on_host, mu, alpha, limits, *own)
        h[which], totals[which], converged[which] = own
