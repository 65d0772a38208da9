"""How a pipeline came about: the facts in ``info``, and a fingerprint of what it learnt from."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse


class Fingerprint:
    """A digest of documents and responses; of texts the same however they are cut into batches."""

    def __init__(self) -> None:
        self._texts, self._responses = blake2b(digest_size=16), blake2b(digest_size=16)

    def update(self, docs: Iterable[str] | csr_array, y: Any = None) -> Self:
        if issparse(docs):
            self._add_counts(docs)
        else:
            for text in docs:
                self._add(self._texts, text)
        if y is not None:
            for response in np.asarray(y).ravel().tolist():
                number = isinstance(response, (int, float))
                self._add(self._responses, repr(float(response)) if number else str(response))
        return self

    def hexdigest(self) -> str:
        both = self._texts.digest() + self._responses.digest()
        return blake2b(both, digest_size=16).hexdigest()

    def _add_counts(self, counts: csr_array) -> None:
        """Whatever types they are kept in."""
        X = counts.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
        for array, kind in ((X.indptr, "<i8"), (X.indices, "<i8"), (X.data, "<f8")):
            self._texts.update(np.ascontiguousarray(array, dtype=kind).data)

    @staticmethod
    def _add(digest: Any, text: str) -> None:
        utf8 = text.encode("utf-8", "surrogatepass")
        digest.update(len(utf8).to_bytes(8, "little") + utf8)


def facts_about(topics: Any, n_documents: int, y: Any = None) -> dict[str, Any]:
    """What can be told of a fitted estimator and the responses it saw, for ``info``."""
    from topicprism import __version__

    short = getattr(topics, "n_short_", 0)
    facts: dict[str, Any] = {
        "n_documents": n_documents,
        "n_left_out": {"too_short": int(short)} if short else {},
        "n_words": topics.model_.n_words,
        "n_topics": topics.model_.n_topics,
        "estimator": type(topics).__name__,
        "scores": _held_out(topics),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": __version__,
    }
    if y is not None:
        facts["response"] = _response(np.asarray(y))
    return facts


def _response(y: Any) -> dict[str, Any]:
    if y.dtype.kind in "biuf":
        return {name: float(getattr(y, name)()) for name in ("mean", "std", "min", "max")}
    return {"classes": [str(label) for label in np.unique(y)]}


def _held_out(topics: Any) -> dict[str, float]:
    """How well as many topics predicted documents held out, if their number was chosen so."""
    trials = getattr(getattr(topics, "selection_", None), "trials", ())
    same = [t for t in trials if t.n_topics == topics.model_.n_topics and np.isfinite(t.pr2)]
    if not same:
        return {}
    best = max(same, key=lambda t: t.pr2)
    return {"held_out_pr2": float(best.pr2), "held_out_pr2_std": float(best.pr2_std)}
