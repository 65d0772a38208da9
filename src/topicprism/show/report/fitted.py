"""What a page wants to know of a pipeline, whoever made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from topicprism._typing import Array, Counts, Doc, DocTopic
from topicprism.inference import infer, predict
from topicprism.model import Model
from topicprism.samplers.state import mean_assignment
from topicprism.scales import unscaled
from topicprism.show.citations import Source, sources_of
from topicprism.show.effects import Effects, effects
from topicprism.show.report.facts import Reading
from topicprism.vectorizer import stop_words

# What must not have been changed in a vectoriser for its words to be those of FastCountVectorizer.
DEFAULT_TOKENISING = {
    "analyzer": "word",
    "token_pattern": r"(?u)\b\w\w+\b",
    "preprocessor": None,
    "tokenizer": None,
    "strip_accents": None,
    "binary": False,
}


@dataclass(frozen=True)
class Fitted:
    """A vocabulary, a model and, where they are known, the circumstances."""

    words: tuple[str, ...]
    model: Model
    vectoriser: Any
    reading: Reading | None
    supervised: bool
    features: str  # what eta multiplies: "mixture" or "assignments"
    shown: Effects
    predictive_variance: tuple[float, float]  # (a, b): Var[y | words] is a + b Var[eta . h | words]
    selection: Any
    spectrum: Array | None
    info: Mapping[str, Any]
    name: str
    sources: tuple[Source, ...]
    n_threads: int

    def infer(self, counts: Counts) -> DocTopic:
        return infer(self.model, counts, n_threads=self.n_threads)

    def predict(self, counts: Counts, h: DocTopic) -> Doc:
        if self.features == "assignments":
            lengths = np.asarray(counts.sum(axis=1), float).ravel()
            h = mean_assignment(self.model, h, lengths)
        y: Doc = unscaled(self.shown.scale, predict(self.model, h))
        return y


def fitted(pipeline: Any) -> Fitted:
    """Take a pipeline of a vectoriser and one of the estimators apart."""
    vectoriser, topics = _steps(pipeline)
    model, info = topics.model_, getattr(pipeline, "info", None) or {}
    words = tuple(str(word) for word in vectoriser.get_feature_names_out())
    if len(words) != model.n_words:
        raise ValueError(
            f"the vectoriser has {len(words)} words, but the model was learnt on {model.n_words}; "
            "pass the pipeline as it was fitted"
        )
    return Fitted(
        words=words,
        model=model,
        vectoriser=vectoriser,
        reading=_reading(vectoriser, info.get("too_common")),
        supervised=hasattr(topics, "predict"),
        features=getattr(topics, "features_", "mixture"),
        shown=effects(topics, words, info=info),
        predictive_variance=_predictive_variance(topics),
        selection=getattr(topics, "selection_", None),
        spectrum=getattr(topics, "spectrum_", None),
        info=info,
        name=type(topics).__name__,
        sources=sources_of(type(topics)),
        n_threads=effective_n_jobs(getattr(topics, "n_jobs", None)),
    )


def _steps(pipeline: Any) -> tuple[Any, Any]:
    steps = [step for _, step in getattr(pipeline, "steps", [])]
    if len(steps) != 2:
        raise ValueError(
            f"got a {type(pipeline).__name__} of {len(steps)} steps, but expected a fitted "
            "pipeline of a vectoriser and a topic model; make one with "
            "make_pipeline(FastCountVectorizer(), SpectralSLDA())"
        )
    vectoriser, topics = steps
    if not isinstance(getattr(topics, "model_", None), Model):
        raise ValueError(
            f"the {type(topics).__name__} at the end of the pipeline has no model, but a fitted "
            "estimator of topicprism was expected; call fit first"
        )
    if hasattr(topics, "classes_"):
        raise ValueError(
            f"{type(topics).__name__} predicts one of {len(topics.classes_)} classes, but the page "
            "shows effects on a number; fit MedLDA or SpectralSLDA to the labels as 0 and 1"
        )
    return vectoriser, topics


def _reading(vectoriser: Any, common: Any) -> Reading | None:
    if any(getattr(vectoriser, name, value) != value for name, value in DEFAULT_TOKENISING.items()):
        return None
    if not hasattr(vectoriser, "ngram_range"):
        return None
    stop = stop_words(vectoriser.stop_words)
    low, high = vectoriser.ngram_range
    too = tuple(filter(_is_text, common)) if isinstance(common, list) else ()
    return Reading(bool(vectoriser.lowercase), tuple(sorted(stop)), (int(low), int(high)), too)


def _is_text(word: Any) -> bool:
    return isinstance(word, str)


def _predictive_variance(topics: Any) -> tuple[float, float]:
    a, b = getattr(topics, "predictive_variance_", (topics.model_.sigma**2, 1.0))
    return float(a), float(b)
