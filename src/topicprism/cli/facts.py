"""The results of a command as plain values, printed as text or as JSON."""

from __future__ import annotations

from numbers import Real
from typing import Any

from topicprism.learn.result import METHOD
from topicprism.pipeline import TopicPipeline
from topicprism.show.effects import effects

Choices = dict[str, dict[str, Any]]


def topics_of(pipeline: TopicPipeline, n_words: int, by: str = "relevance") -> list[dict[str, Any]]:
    """Each topic as the page, the notebook and the plots show it, in the same order.

    Its share is that of the words held out, or of the prior if none were.
    """
    shown = effects(pipeline)
    words = shown.top_words(n_words, by)
    return [
        {
            "number": i + 1,
            "coefficient": None if shown.coef is None else float(shown.coef[i]),
            "coefficient_of": None if shown.coef is None else shown.response,
            "std": None if shown.ends(i) is None or shown.std is None else float(shown.std[i]),
            "interval": shown.ends(i),
            "found_again": shown.found_again(i),
            "replication": None if shown.replication is None else float(shown.replication[i]),
            "decimals": shown.decimals,
            "share": float(shown.share[i]),
            "share_of": shown.share_of,
            "words": words[i],
        }
        for i in shown.order.tolist()
    ]


def has_response(pipeline: TopicPipeline) -> bool:
    """Whether topics were learnt with a response: without one, eta and sigma are zeros."""
    return hasattr(pipeline.topics, "predict")


def method_of(pipeline: TopicPipeline) -> str:
    """The estimator and, where it may take one of several, the method that it took."""
    reasons = getattr(getattr(pipeline.topics, "selection_", None), "reasons", {})
    name = type(pipeline.topics).__name__
    return f"{name}; {reasons[METHOD]}" if METHOD in reasons else name


def choices_of(pipeline: TopicPipeline) -> Choices:
    """Number of topics, alpha0 and noise variance, and why they are what they are."""
    model, topics = pipeline.model, pipeline.topics
    selection = getattr(topics, "selection_", None)
    alpha0 = getattr(selection, "alpha0", getattr(topics, "alpha0", None))
    reasons = getattr(selection, "reasons", {})

    def choice(name: str, value: float) -> dict[str, Any]:
        return {"value": value, "reason": reasons.get(name)}

    chosen = {
        "topics": choice("n_topics", model.n_topics),
        "alpha0": choice(
            "alpha0", float(alpha0) if isinstance(alpha0, Real) else float(model.alpha.sum())
        ),
    }
    if hasattr(topics, "coef_") and not hasattr(topics, "classes_"):
        chosen["noise_variance"] = choice("noise_variance", float(model.sigma**2))
    return chosen


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
    also = ("n_words", "too_common", "response", "log", "scores", "n_baseline", "seconds")
    whence = ("created", "version", "fingerprint")
    return (
        {name: info.get(name) for name in (*known, *also, *whence)}
        | {"range_left": effects(pipeline).left, "predicts": effects(pipeline).predicts}
        | {"learnt_by": method_of(pipeline), "chosen": choices_of(pipeline)}
        | {"topics": topics_of(pipeline, 10)}
    )
