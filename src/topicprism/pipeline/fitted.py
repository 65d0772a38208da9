"""From texts, or counts of their words, and numbers to a fitted pipeline, in one call.

A :class:`TopicPipeline` is a scikit-learn pipeline of two steps, counts and topics, that
remembers how it came about.  What :func:`fit` adds to it are the defaults and the patience
with missing values; scikit-learn's own way, ``TopicPipeline(steps).fit(texts, y)``, refuses
them.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self, cast, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from topicprism import scales
from topicprism._typing import Doc
from topicprism.defaults import COUNTING, FITTING
from topicprism.estimators import AutoSLDA
from topicprism.estimators.base import Topics
from topicprism.io import files
from topicprism.model import Model
from topicprism.pipeline.frames import collection_of, columns
from topicprism.pipeline.inputs import Batch, as_documents, as_list, present, warn_of_unspaced
from topicprism.pipeline.provenance import Ledger, takes_numbers
from topicprism.show import plots
from topicprism.show.notebook import topics_html
from topicprism.show.words import Words
from topicprism.validation import check_response, refuse_unordered
from topicprism.vectorizer import FastCountVectorizer, PrecomputedCounts
from topicprism.vectorizer.columns import are_counts, indexed_like


class TopicPipeline(Pipeline):
    """Texts to topics: a scikit-learn pipeline that ends in an estimator of this package.

    Parameters
    ----------
    steps : list of (str, estimator)
        As in :class:`sklearn.pipeline.Pipeline`; :func:`fit` names them "counts", a
        ``FastCountVectorizer`` for texts or ``PrecomputedCounts`` for counts, and "topics".
    transform_input, memory, verbose
        As in :class:`sklearn.pipeline.Pipeline`.
    log : bool, default=False
        Whether the topics are fitted to the logarithm of the response, or of one more where zeros
        occur (``info["log"]`` is "log" or "log1p").  ``predict`` gives geometric means, which are
        medians where the logarithm is symmetric, and standard deviations of a log-normal
        response, both on its own scale; ``score`` is the R2 of the logarithms.

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
    >>> texts, stars, _ = topicprism.datasets.make_reviews(500, random_state=0)
    >>> pipeline = topicprism.fit(texts, stars, random_state=0)
    >>> "dirty" in pipeline.words
    True
    >>> bad, good = pipeline.predict(["a dirty room, rude and noisy", "friendly and clean, a joy"])
    >>> bool(bad < good)
    True
    """

    def __init__(
        self,
        steps: list[tuple[str, Any]],
        *,
        transform_input: Any = None,
        memory: Any = None,
        verbose: bool = False,
        log: bool = False,
    ) -> None:
        super().__init__(steps, transform_input=transform_input, memory=memory, verbose=verbose)
        self.log = log

    @property
    def words(self) -> Words:
        check_is_fitted(self)
        return np.asarray(self.steps[0][1].get_feature_names_out(), dtype=object)

    @property
    def topics(self) -> Any:
        """Of any type: what it knows depends on the estimator, and coefficients are not all."""
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
        refuse_unordered(y)
        return self._fit_batch(Batch(as_documents(X), y), **params)

    def _fit_batch(self, batch: Batch, **params: Any) -> Self:
        """Of documents, some of which may have been left out before."""
        start = time.perf_counter()
        counts = self.steps[0][1]
        if isinstance(counts, FastCountVectorizer) and not are_counts(batch.docs):
            warn_of_unspaced(batch.docs)
        scale = Ledger().add_responses(batch.y).scale(self.topics, self.log)
        if batch.rows is not None and batch.y is not None and takes_numbers(self.topics):
            check_response(batch.y, len(batch), batch.rows)
        y = batch.y if scale is None else scales.fitted(scale, batch.y)
        super().fit(batch.docs, y, **params)
        self.info_ = Ledger().add(batch).info(self.steps[0][1], self.topics) | {"log": scale}
        self.info_["seconds"] = round(time.perf_counter() - start, 3)
        return self

    @available_if(lambda self: hasattr(self.topics, "transform"))  # type: ignore[untyped-decorator]
    def transform(self, X: Any, **params: Any) -> Any:
        """Topic proportions; as a pandas frame, if that was asked for, with the index of X."""
        if (elsewhere := collection_of(X)) is not None:
            return elsewhere.lazily(self, "transform", X, **params)
        return indexed_like(X, super().transform(X, **params))

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit, then the topic proportions of the same texts."""
        docs = as_documents(X)
        return indexed_like(X, self.fit(docs, y, **params).transform(docs))

    if TYPE_CHECKING:  # what they are, below, has no types

        @overload
        def predict(self, X: Any, *, return_std: Literal[False] = False) -> NDArray[Any]: ...
        @overload
        def predict(self, X: Any, *, return_std: Literal[True]) -> tuple[Doc, Doc]: ...
        @overload
        def predict(self, X: Any, *, return_std: bool) -> NDArray[Any] | tuple[Doc, Doc]: ...
        def predict(self, X: Any, **options: Any) -> Any: ...
        def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float: ...
    else:

        @available_if(lambda self: hasattr(self.topics, "predict"))
        def predict(self, X, **options):
            """The response of each document, on its own scale; lazily of a Dask collection."""
            if (elsewhere := collection_of(X)) is not None:
                return elsewhere.lazily(self, "predict", X, **options)
            return unscaled(self.info.get("log"), super().predict(X, **options))

        @available_if(lambda self: hasattr(self.topics, "score"))
        def score(self, X, y=None, sample_weight=None, **params):
            """R2 of the predictions, or of their logarithms if these were fitted."""
            refuse_unordered(y)
            scale = self.info.get("log")
            if (elsewhere := collection_of(X)) is not None:
                return elsewhere.score(self, X, y, sample_weight)
            if scale is None:
                return super().score(X, y, sample_weight, **params)
            y, y_hat = (scales.fitted(scale, of) for of in (y, self.predict(X)))
            return r2_score(y, y_hat, sample_weight=sample_weight)

    def plot_effects(self, **options: Any) -> Any:
        """:func:`topicprism.show.plots.plot_effects` of it."""
        return plots.plot_effects(self, **options)

    def plot_topics(self, **options: Any) -> Any:
        """:func:`topicprism.show.plots.plot_topics` of it."""
        return plots.plot_topics(self, **options)

    def plot_spectrum(self, **options: Any) -> Any:
        """:func:`topicprism.show.plots.plot_spectrum` of it."""
        return plots.plot_spectrum(self, **options)

    def plot_selection(self, **options: Any) -> Any:
        """:func:`topicprism.show.plots.plot_selection` of it."""
        return plots.plot_selection(self, **options)

    def to_pyldavis(self, X: Any) -> dict[str, Any]:
        """For ``pyLDAvis.prepare(**...)``: :func:`topicprism.show.plots.to_pyldavis` of it."""
        return plots.to_pyldavis(self, X)

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
        files.save(self, path)


def fit(
    texts: Any,
    y: Any = None,
    *,
    text: str | None = None,
    target: str | None = None,
    max_features: int | None = COUNTING.max_features,
    min_df: float | str = COUNTING.min_df,
    max_df: float = COUNTING.max_df,
    stop_words: str | Collection[str] | None = COUNTING.stop_words,
    ngram_range: tuple[int, int] = COUNTING.ngram_range,
    lowercase: bool = COUNTING.lowercase,
    vocabulary: Collection[str] | None = None,
    log: bool = False,
    estimator: Any = None,
    n_jobs: int | None = FITTING.n_jobs,
    random_state: Any = FITTING.random_state,
    **options: Any,
) -> TopicPipeline:
    """Learn topics, and how the response differs between them, from raw texts or from word counts.

    The defaults of counting (:class:`topicprism.defaults.CountingDefaults`) are what a topic
    model wants rather than what ``FastCountVectorizer`` has: words of more than half of the
    documents and of fewer than five (two, if documents are as short as a sentence) are left out,
    and so are English function words, but not negations and others that tell something.

    Parameters
    ----------
    texts : list, ndarray, or column of pandas, polars or pyarrow; or matrix of counts
        One string for each document; or word counts, one row for each, as a sparse matrix or
        array of scipy's or a two-dimensional ndarray.  Counts are taken as they are.  Or a Series
        or Bag of Dask, or an Array of it with sparse blocks: its workers do the work.  Or a frame
        of pandas, polars, pyarrow or Dask, with ``text=`` and ``target=``.
    y : the same, of numbers; or of labels for ``MedLDAClassifier``
        The response; not needed by ``SpectralLDA``.
    text, target : str, default=None
        The columns of a frame that are texts and responses.
    max_features, min_df, max_df, stop_words, ngram_range, lowercase, vocabulary
        As in :class:`topicprism.vectorizer.FastCountVectorizer`.  For texts in another language,
        pass ``stop_words=None`` or a list.  With counts, ``vocabulary`` is the word of each
        column, x0, x1, ... if it is not given, and the others must not be.
    log : bool, default=False
        Fit the logarithm of the response, as a heavy-tailed one wants: views, prices, counts.
        As in :class:`TopicPipeline`.
    estimator : class or instance, default=None
        An estimator of this package; ``AutoSLDA`` by default.  An instance is copied
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
        Fitted: ``predict``, ``transform`` and ``score`` take texts, or counts over the same
        columns if it was fitted to counts.

    Warns
    -----
    MissingValuesWarning
        When documents without a text (None, NaN, NA, blank) or without a response were left
        out; ``info["n_left_out"]`` counts them by reason.
    HeavyTailWarning
        When a few large responses outweigh the rest and ``log=True`` would help.
    UnspacedWarning
        When most texts are in a script without spaces between words, such as Chinese,
        Japanese or Thai: words must be set apart first.
    """
    topics = topics_step(estimator, n_jobs, random_state, options)
    texts, y = columns(texts, y, text, target, topics)
    elsewhere = collection_of(texts)
    docs = as_documents(texts) if elsewhere is None else texts
    counting = {
        "lowercase": lowercase,
        "stop_words": stop_words,
        "ngram_range": ngram_range,
        "max_df": max_df,
        "min_df": min_df,
        "max_features": max_features,
    }
    given = (are_counts if elsewhere is None else elsewhere.are_counts)(docs)
    counts = counts_step(counting, vocabulary, n_jobs, given)
    if elsewhere is not None:
        found = assemble(counts, topics, elsewhere.fit_collection(texts, y, counts, topics, log))
    else:
        batch = present(docs, None if y is None else as_list(y))
        steps = [("counts", counts), ("topics", topics)]
        found = TopicPipeline(steps, log=log)._fit_batch(batch)
    found.info_ |= {} if text is None else {"text": str(text), "target": target and str(target)}
    return found


@files.assembles
def assemble(
    counts: FastCountVectorizer | PrecomputedCounts, topics: Any, info: dict[str, Any]
) -> TopicPipeline:
    """A pipeline of two parts that were fitted elsewhere, over batches for example."""
    log = info.get("log") is not None
    pipeline = TopicPipeline([("counts", counts), ("topics", topics)], log=log)
    check_is_fitted(pipeline)
    words = len(pipeline.words)
    if words != topics.model_.n_words:
        raise ValueError(
            f"got counts of {words} words and topics of {topics.model_.n_words}, but expected "
            "one vocabulary; assemble what was fitted together"
        )
    pipeline.info_ = dict(info)
    return pipeline


def unscaled(scale: scales.Scale, predicted: Any) -> Any:
    """Predictions of an estimator, with their deviations or without, on the response's scale."""
    if isinstance(predicted, tuple):
        return scales.unscaled(scale, predicted[0]), scales.unscaled_std(scale, *predicted)
    return scales.unscaled(scale, predicted)


# --- its two steps, unfitted -----------------------------------------------------------


def counts_step(
    counting: Mapping[str, Any],
    vocabulary: Collection[str] | None = None,
    n_jobs: int | None = None,
    given: bool = False,
) -> FastCountVectorizer | PrecomputedCounts:
    """A vectorizer, with the defaults of ``defaults.COUNTING``; or none if counts are given."""
    if given:
        _refuse_counting(counting)
        return PrecomputedCounts(vocabulary=vocabulary)
    options = vars(COUNTING) | dict(counting)
    return FastCountVectorizer(**options, vocabulary=vocabulary, dtype=np.int32, n_jobs=n_jobs)


def _refuse_counting(options: Mapping[str, Any]) -> None:
    """Nothing is left to count: an option that was changed would go unheard."""
    for name, value in options.items():
        if value != getattr(COUNTING, name):
            raise ValueError(
                f"got {name}={value!r:.40} with counts, but expected it with texts, whose words "
                "are yet to be counted; leave it out, or choose columns of the counts yourself"
            )


def topics_step(estimator: Any, n_jobs: Any, random_state: Any, options: Mapping[str, Any]) -> Any:
    """The estimator with its options: a class, ``AutoSLDA`` by default, or an instance."""
    if estimator is None or isinstance(estimator, type):
        blank = (estimator or AutoSLDA)()
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
    blank.set_params(**own, **options)._check()
    return blank
