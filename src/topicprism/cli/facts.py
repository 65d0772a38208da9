"""What a command has to tell, as plain values: printed as text or as JSON."""

from __future__ import annotations

from numbers import Real
from typing import Any

from topicprism.effects import range_left, shares
from topicprism.pipeline import TopicPipeline
from topicprism.words import top_words

NAMES = {"n_topics": "topics", "alpha0": "alpha0", "noise_variance": "sigma"}


def topics_of(pipeline: TopicPipeline, n_words: int, by: str = "relevance") -> list[dict[str, Any]]:
    """Each topic in the order of the model, which is that of the coefficients.

    Its share is that of the words held out, or of the prior if none were.
    """
    model = pipeline.model
    stds = getattr(pipeline.topics, "coef_std_", None)
    share, of = shares(model, pipeline.info)
    return [
        {
            "number": i + 1,
            "coefficient": float(model.eta[i]) if has_response(pipeline) else None,
            "std": None if stds is None else float(stds[i]),
            "share": float(share[i]),
            "share_of": of,
            "words": words,
        }
        for i, words in enumerate(top_words(model, pipeline.words, n_words, by))
    ]


def has_response(pipeline: TopicPipeline) -> bool:
    """Whether topics were learnt with a response: without one, eta and sigma are zeros."""
    return hasattr(pipeline.topics, "predict")


def choices_of(pipeline: TopicPipeline) -> dict[str, dict[str, Any]]:
    """Number of topics, alpha0 and sigma, and why they are what they are."""
    model, topics = pipeline.model, pipeline.topics
    selection = getattr(topics, "selection_", None)
    alpha0 = getattr(selection, "alpha0", getattr(topics, "alpha0", None))
    values = {
        "n_topics": model.n_topics,
        "alpha0": float(alpha0) if isinstance(alpha0, Real) else float(model.alpha.sum()),
        "noise_variance": model.sigma,
    }
    reasons = getattr(selection, "reasons", {})
    return {
        NAMES[name]: {"value": value, "reason": reasons.get(name)}
        for name, value in values.items()
        if name != "noise_variance" or has_response(pipeline)
    }


def fit_facts(pipeline: TopicPipeline) -> dict[str, Any]:
    """A fitted pipeline, its choices and topics; ``info`` has the rest."""
    info = pipeline.info
    known = (
        "estimator",
        "files",
        "text",
        "target",
        "n_rows",
        "n_documents",
        "n_held_out",
        "n_left_out",
    )
    also = ("n_words", "too_common", "response", "scores", "n_baseline", "seconds")
    whence = ("created", "version", "fingerprint")
    return (
        {name: info.get(name) for name in (*known, *also, *whence)}
        | {"range_left": range_left(pipeline.model.eta, info) if has_response(pipeline) else None}
        | {"chosen": choices_of(pipeline)}
        | {"topics": topics_of(pipeline, 10)}
    )
