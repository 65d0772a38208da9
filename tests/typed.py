"""What a type checker makes of the doors; ``test_types.py`` asks mypy, nothing here is run."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import topicprism

Numbers = NDArray[np.float64]
TEXTS = ["a clean room", "a dirty room"]


def of_a_pipeline(deviations: bool) -> None:
    fitted = topicprism.fit(TEXTS, [5.0, 1.0])
    assert_type(fitted, topicprism.TopicPipeline)
    assert_type(fitted.predict(TEXTS), NDArray[Any])
    assert_type(fitted.predict(TEXTS, return_std=True), tuple[Numbers, Numbers])
    assert_type(
        fitted.predict(TEXTS, return_std=deviations), NDArray[Any] | tuple[Numbers, Numbers]
    )
    assert_type(fitted.score(TEXTS, [5.0, 1.0]), float)
    assert_type(fitted.model, topicprism.Model)
    assert_type(fitted.info, dict[str, Any])


def of_estimators(X: Any, deviations: bool) -> None:
    for topics in (
        topicprism.SpectralSLDA(), topicprism.HybridSLDA(), topicprism.MedLDA(),
        topicprism.VariationalSLDA(), topicprism.AnchorSLDA(),
    ):  # fmt: skip
        assert_type(topics.predict(X), Numbers)
        assert_type(topics.predict(X, return_std=True), tuple[Numbers, Numbers])
        assert_type(topics.predict(X, deviations), Numbers | tuple[Numbers, Numbers])
        assert_type(topics.transform(X), Numbers)


def of_files() -> None:
    assert_type(topicprism.load("a.tprism", topicprism.TopicPipeline), topicprism.TopicPipeline)
    assert_type(topicprism.load("a.tprism"), Any)
