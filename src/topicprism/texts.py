"""From texts and numbers to a fitted pipeline, in one call.

A :class:`TopicPipeline` is a scikit-learn pipeline of two steps, counts and topics, that
remembers how it came about.  What :func:`fit` adds to it are the defaults and the patience
with missing values; scikit-learn's own way, ``TopicPipeline(steps).fit(texts, y)``, refuses
them.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from hashlib import blake2b
from os import PathLike
from typing import Any, Self, cast

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from topicprism.estimators import SpectralSLDA
from topicprism.estimators.base import Topics
from topicprism.model import Model
from topicprism.notebook import topics_html
from topicprism.text import FastCountVectorizer
from topicprism.text.counting import documents
from topicprism.words import Words


class MissingValuesWarning(UserWarning):
    """Some documents have no text or no response and were left out."""


class TopicPipeline(Pipeline):
    """Texts to topics: a scikit-learn pipeline that ends in an estimator of this package.

    Parameters
    ----------
    steps : list of (str, estimator)
        As in :class:`sklearn.pipeline.Pipeline`; :func:`fit` names them "counts", a
        ``FastCountVectorizer``, and "topics".
    transform_input, memory, verbose
        As in :class:`sklearn.pipeline.Pipeline`.

    Attributes
    ----------
    words : ndarray of shape (n_words,)
        The vocabulary, in the order of the columns of ``topics.components_``.
    topics : estimator
        The last step.
    model : Model
        What it has learnt.
    info : dict
        Facts about the fit that JSON can hold: documents used and left out, response, scores,
        time, library version, fingerprint of the training data.

    Examples
    --------
    >>> import topicprism
    >>> good, bad = "clean room and friendly staff", "rude staff and a dirty, noisy room"
    >>> texts, stars = [good, good + " " + bad, bad] * 50, [5.0, 3.0, 1.0] * 50
    >>> pipeline = topicprism.fit(texts, stars, max_df=1.0, n_topics=2)
    >>> list(pipeline.words)
    ['clean', 'dirty', 'friendly', 'noisy', 'room', 'rude', 'staff']
    >>> bool(pipeline.predict(["a clean and friendly place"])[0] > 3)
    True
    """

    @property
    def words(self) -> Words:
        check_is_fitted(self)
        return np.asarray(self.steps[0][1].get_feature_names_out(), dtype=object)

    @property
    def topics(self) -> Any:
        return self.steps[-1][1]

    @property
    def model(self) -> Model:
        check_is_fitted(self)
        model: Model = self.topics.model_
        return model

    @property
    def info(self) -> dict[str, Any]:
        check_is_fitted(self)
        facts: dict[str, Any] = getattr(self, "info_", {})
        return facts

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Learn vocabulary and topics from texts and one response for each."""
        start = time.perf_counter()
        texts = as_list(X)
        super().fit(texts, y, **params)
        self.info_ = facts_about(self.topics, len(texts), y)
        self.info_["fingerprint"] = Fingerprint().update(texts, y).hexdigest()
        self.info_["seconds"] = round(time.perf_counter() - start, 3)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit, then the topic proportions of the same texts."""
        texts = as_list(X)
        return self.fit(texts, y, **params).transform(texts)

    def _html_repr(self) -> str:
        """What a notebook shows: topics once there are some, scikit-learn's diagram before."""
        if not hasattr(self.topics, "model_"):
            return cast(str, super()._html_repr())
        n = self.info.get("n_documents")
        learnt = f"{n:,} documents, " if isinstance(n, int) else ""
        counted = f"{self.model.n_topics} topics over {self.model.n_words:,} words"
        title = f"{type(self.topics).__name__}: {learnt}{counted}"
        return topics_html(self.topics, self.words, title, self.info)

    def save(self, path: str | PathLike[str]) -> None:
        """To a file that ``topicprism.load`` reads."""
        from topicprism import save

        save(self, path)


def fit(
    texts: Any,
    y: Any = None,
    *,
    max_features: int | None = 10_000,
    min_df: float = 5,
    max_df: float = 0.5,
    stop_words: str | Collection[str] | None = "english",
    ngram_range: tuple[int, int] = (1, 1),
    lowercase: bool = True,
    vocabulary: Collection[str] | None = None,
    estimator: Any = None,
    n_jobs: int | None = -1,
    random_state: Any = 0,
    **options: Any,
) -> TopicPipeline:
    """Learn topics, and what each does to the response, from raw texts.

    The defaults of counting are what a topic model wants rather than what
    ``FastCountVectorizer`` has: words of more than half of the documents and of fewer than
    five are left out, and so are English function words.  Of the settings tried on hotel,
    film and product reviews, these were never far from the best for any number of topics.

    Parameters
    ----------
    texts : list, ndarray, or column of pandas, polars or pyarrow
        One string for each document.
    y : the same, of numbers; or of labels for ``MedLDAClassifier``
        The response; not needed by ``SpectralLDA``.
    max_features, min_df, max_df, stop_words, ngram_range, lowercase, vocabulary
        As in :class:`topicprism.text.FastCountVectorizer`.  For texts in another language,
        pass ``stop_words=None`` or a list.
    estimator : class or instance, default=None
        An estimator of this package; ``SpectralSLDA`` by default.  An instance is copied
        and keeps its own ``n_jobs`` and ``random_state``.
    n_jobs : int or None, default=-1
        Threads; -1 is all cores.  The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=0
        Seed; as an int, the same texts give the same answer.
    **options
        Parameters of the estimator, such as ``n_topics``.

    Returns
    -------
    TopicPipeline
        Fitted: ``predict``, ``transform`` and ``score`` take texts.

    Warns
    -----
    MissingValuesWarning
        When documents without a text or without a response (None, NaN, NA) were left out;
        ``info["n_left_out"]`` counts them.
    """
    topics = _topics(estimator, n_jobs, random_state, options)
    counts = FastCountVectorizer(
        lowercase=lowercase,
        stop_words=stop_words,
        ngram_range=ngram_range,
        max_df=max_df,
        min_df=min_df,
        max_features=max_features,
        vocabulary=vocabulary,
        dtype=np.int32,
        n_jobs=n_jobs,
    )
    kept, responses, left_out = _present(as_list(texts), None if y is None else as_list(y))
    pipeline = TopicPipeline([("counts", counts), ("topics", topics)]).fit(kept, responses)
    pipeline.info_["n_left_out"] |= left_out
    return pipeline


def assemble(counts: FastCountVectorizer, topics: Any, info: dict[str, Any]) -> TopicPipeline:
    """A pipeline of two parts that were fitted elsewhere, over batches for example."""
    pipeline = TopicPipeline([("counts", counts), ("topics", topics)])
    check_is_fitted(pipeline)
    words = len(counts.vocabulary_)
    if words != topics.model_.n_words:
        raise ValueError(
            f"got counts of {words} words and topics of {topics.model_.n_words}, but expected "
            "one vocabulary; assemble what was fitted together"
        )
    pipeline.info_ = dict(info)
    return pipeline


class Fingerprint:
    """A digest of documents and responses, the same however they are cut into batches."""

    def __init__(self) -> None:
        self._texts, self._responses = blake2b(digest_size=16), blake2b(digest_size=16)

    def update(self, texts: Iterable[str], y: Any = None) -> Self:
        for text in texts:
            self._add(self._texts, text)
        if y is not None:
            for response in np.asarray(y).ravel().tolist():
                number = isinstance(response, (int, float))
                self._add(self._responses, repr(float(response)) if number else str(response))
        return self

    def hexdigest(self) -> str:
        both = self._texts.digest() + self._responses.digest()
        return blake2b(both, digest_size=16).hexdigest()

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


def as_list(column: Any) -> list[Any]:
    """The values of a list, an array or a column of a table; not copied if a list already."""
    if isinstance(column, list):
        return column
    shape = tuple(getattr(column, "shape", (0,)))
    if issparse(column):
        raise ValueError(
            f"got counts of shape {shape}, but expected texts, one for each "
            "document; counts are for an estimator: SpectralSLDA().fit(counts, y)"
        )
    if len(shape) != 1:
        raise ValueError(
            f"got a {type(column).__name__} of shape {shape}, but expected one "
            "value for each document; pass one column of it"
        )
    for method in ("to_pylist", "tolist", "to_list"):  # pyarrow; numpy and pandas; polars
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(documents(column))


def _topics(estimator: Any, n_jobs: Any, random_state: Any, options: dict[str, Any]) -> Topics:
    """The estimator, unfitted, with its options."""
    if estimator is None or isinstance(estimator, type):
        blank = (estimator or SpectralSLDA)()
        own = {"n_jobs": n_jobs, "random_state": random_state}
    else:
        blank, own = clone(estimator, safe=False), {}
    if not isinstance(blank, Topics):
        raise ValueError(
            f"estimator={estimator!r:.60}, but expected one of topicprism's, such as "
            "SpectralSLDA; use sklearn's make_pipeline for others"
        )
    known = blank.get_params(deep=False)
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ValueError(
            f"got {unknown[0]}={options[unknown[0]]!r:.40}, which is an option neither of counting "
            f"nor of {type(blank).__name__}; the latter's are {', '.join(known)}"
        )
    configured: Topics = blank.set_params(**own, **options)
    return configured


def _present(texts: list[Any], y: list[Any] | None) -> tuple[list[str], Any, dict[str, int]]:
    """Documents that have a text and a response, and how many have not."""
    if y is not None and len(y) != len(texts):
        raise ValueError(
            f"got {len(texts)} texts and {len(y)} responses, but expected one response for each "
            "text, in the same order"
        )
    no_text = np.fromiter(map(_missing, texts), bool, len(texts))
    no_response = np.zeros(len(texts), bool)
    if y is not None:
        no_response = np.fromiter(map(_missing, y), bool, len(y)) & ~no_text
    left_out = {"no_text": int(no_text.sum()), "no_response": int(no_response.sum())}
    left_out = {reason: n for reason, n in left_out.items() if n}
    if left_out:
        keep = np.flatnonzero(~(no_text | no_response))
        listed = " and ".join(f"{n} have {why.replace('_', ' ')}" for why, n in left_out.items())
        warnings.warn(
            f"{len(texts) - len(keep)} of {len(texts)} documents are left out: {listed}",
            MissingValuesWarning,
            stacklevel=3,
        )
        texts, y = [texts[i] for i in keep], None if y is None else [y[i] for i in keep]
    return texts, None if y is None else np.array(y), left_out


def _missing(value: Any) -> bool:
    """None, NaN of any type, pandas' NA and NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(value != value)


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
