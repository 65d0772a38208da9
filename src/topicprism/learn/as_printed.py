"""The regime "paper": Algorithm 1 or 2 of the paper as printed, on any documents.

No number of topics is chosen, no topic is refined, no coefficient is regressed and nothing is
cross-fitted: whatever :mod:`topicprism.spectral.printed` finds is the answer.
"""

from __future__ import annotations

import numpy as np

from topicprism.documents.corpus import Documents
from topicprism.learn.result import AS_ASKED, FitRequest, FitResult, Selection
from topicprism.spectral.printed import MEAN_ALPHA, learn_as_printed


def from_documents(docs: Documents, request: FitRequest, rng: np.random.Generator) -> FitResult:
    """The paper's answer, of documents with a standardised response."""
    k, settings = request.n_topics, request.settings
    assert k is not None  # the request was checked
    found = learn_as_printed(docs, k, request.alpha0, settings, rng=rng)
    variance = found.model.sigma**2
    by_moments = "from second moments" if settings.method == "joint" else "E[y2] - eta' E[hh'] eta"
    reasons = {
        "n_topics": AS_ASKED,
        "alpha0": f"{MEAN_ALPHA:g} for each topic, the paper's on real text"
        if request.alpha0 is None
        else AS_ASKED,
        "noise_variance": by_moments if settings.noise_variance is None else AS_ASKED,
    }
    alpha0 = MEAN_ALPHA * k if request.alpha0 is None else request.alpha0
    selection = Selection(k, float(alpha0), variance, (), found.spectrum, 0.0, reasons)
    result = FitResult(
        found.model,
        selection,
        np.array([variance, 1.0]),
        n_short=found.n_short,
        solution=found,
        as_printed=True,
    )
    return result.saying_its_method(settings.method, request.supervised)
