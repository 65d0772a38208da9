"""What all estimators do alike: take counts, give proportions, predict and score."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import Any, Literal, cast, overload

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from topicprism import backends
from topicprism._typing import Array, Counts, Doc, DocTopic, Ints
from topicprism.evaluation import completion_log_likelihood, pr2
from topicprism.inference import (
    PROPAGATION,
    EPInference,
    GibbsInference,
    infer,
    inference_of,
    posterior,
)
from topicprism.model import Model
from topicprism.samplers.state import mean_assignment
from topicprism.show.notebook import topics_html
from topicprism.validation import (
    check_choice,
    check_counts,
    check_jobs,
    check_response,
    check_seed,
    check_varies,
    refuse_masked,
    refuse_unordered,
)
from topicprism.vectorizer.columns import indexed_like

ENTRIES_PER_THREAD = 2_000  # of counts: inference of fewer takes less time than to start a thread

CROSS_FITTED = ("coef_std_", "replication_", "cross_fitted_r2_")  # and coef_, which is always


class FewerTopicsWarning(UserWarning):
    """The data support fewer topics than were asked for."""


class ManyTopicsWarning(UserWarning):
    """More topics were asked for than there are documents."""


class NothingPredictedWarning(UserWarning):
    """Topics of one half of the documents do not predict the responses of the other."""


def _keeps_index(transform: Callable[..., Any]) -> Callable[..., Any]:
    """scikit-learn's frame with the index of the texts, which counts of them remember."""

    @wraps(transform)
    def transformed(self: Any, X: Any) -> Any:
        return indexed_like(X, transform(self, X))

    return transformed


class Topics(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What topic models do alike, however they were learnt."""

    n_topics: Any
    alpha0: Any
    n_jobs: int | None
    random_state: Any
    model_: Model
    features_: str  # what coefficients multiply: "mixture", as without it, or "assignments"

    @abstractmethod
    def _check(self) -> None:
        """Refuse parameters that no documents could be fitted with."""

    def transform(self, X: Any) -> DocTopic:
        """Topic proportions, one row per document.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Word counts over the vocabulary of training.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            The posterior mean of each document's proportions.
        """
        check_is_fitted(self)
        return self._proportions(self._counts(X))

    def _proportions(self, counts: Counts) -> DocTopic:
        n_threads = threads_for(counts, self.n_jobs)
        return infer(self.model_, self._placed(counts), self._how(), n_threads)

    def _placed(self, counts: Counts) -> Any:
        """The counts on the device that was asked for, where an estimator has that parameter."""
        device = getattr(self, "device", backends.DEVICES[0])
        check_choice("device", device, backends.DEVICES)
        return backends.placed(counts, device)

    def _how(self) -> EPInference | GibbsInference:
        """The inference that was asked for, where an estimator has that parameter."""
        return inference_of(getattr(self, "inference", PROPAGATION))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.input_tags.categorical = True  # whole numbers: there is no tag for counts
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.model_.n_topics

    def _html_repr(self) -> str:
        """What a notebook shows: topics once there are some, scikit-learn's diagram before."""
        fitted = hasattr(self, "model_")
        return topics_html(self) if fitted else cast(str, super()._html_repr())

    def _decide(self, X: Any, coef: Array) -> Array:
        """Features times coefficients, one column per response (none for one response)."""
        counts = self._counts(X)
        h = self._proportions(counts)
        if by_assignments(self):
            h = mean_assignment(self.model_, h, lengths_of(counts))
        return np.asarray(h @ coef.T)

    def _counts(self, X: Any, *, reset: bool = False) -> Counts:
        """X as counts; what they must be is for ``check_counts`` to say."""
        refuse_masked(X, "counts X")
        try:
            checked = validate_data(
                self,
                X,
                reset=reset,
                accept_sparse="csr",
                ensure_all_finite=False,
                ensure_min_samples=0,
                ensure_min_features=2 if reset else 1,
            )
        except ValueError as error:
            if "features as input" in str(error):
                what = str(error).rstrip(".")
                remedy = "vectorise with the vocabulary used in training"
            elif "string" in str(error):
                what = "X holds text, but word counts were expected"
                remedy = "use a vectoriser such as FastCountVectorizer first"
            elif "feature(s)" in str(error):
                what = str(error).rstrip(".")
                remedy = "count two words or more, with a column for each"
            else:
                raise
            raise ValueError(f"{what}; {remedy}") from None
        return check_counts(checked)


Topics.transform = _keeps_index(Topics.transform)  # type: ignore[method-assign]


class HeldOutWords:
    """The score of topic models without a response."""

    model_: Model
    n_jobs: int | None
    _counts: Callable[..., Counts]

    def score(self, X: Any, y: Any = None) -> float:
        """Held-out log-likelihood per word, of half of each document given the other half."""
        check_is_fitted(self)
        counts, rng = self._counts(X), np.random.default_rng(0)
        n_threads = threads_for(counts, self.n_jobs)
        return completion_log_likelihood(self.model_, counts, rng, n_threads=n_threads)


class Regression(RegressorMixin):
    """What topic models with a number as response do alike."""

    model_: Model
    n_jobs: int | None
    _counts: Callable[..., Counts]
    _decide: Callable[..., Array]
    _how: Callable[[], EPInference | GibbsInference]
    _placed: Callable[[Counts], Any]

    @overload
    def predict(self, X: Any, return_std: Literal[False] = False) -> Doc: ...
    @overload
    def predict(self, X: Any, return_std: Literal[True]) -> tuple[Doc, Doc]: ...
    @overload
    def predict(self, X: Any, return_std: bool) -> Doc | tuple[Doc, Doc]: ...

    def predict(self, X: Any, return_std: bool = False) -> Doc | tuple[Doc, Doc]:
        """Expected response of each document, ``transform(X) @ model_.eta``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Word counts over the vocabulary of training.
        return_std : bool, default=False
            Whether to return the standard deviation of each response given its words, too:
            noise, and what the words leave open about the proportions.

        Returns
        -------
        ndarray of shape (n_documents,), or two of them
        """
        check_is_fitted(self)
        if not return_std:
            return self._expected(X)
        y_hat, variance = self._known(X)
        noise, share = getattr(self, "predictive_variance_", (self.model_.sigma**2, 1.0))
        return y_hat, np.sqrt(noise + share * variance)

    def _expected(self, X: Any) -> Doc:
        """An array, whatever ``transform`` was asked to give."""
        return self._decide(X, self.model_.eta)

    def _known(self, X: Any) -> tuple[Doc, Doc]:
        """E[y | words] and the variance of what noise is added to, by the response's features.

        The variance is always by propagation.
        """
        counts = self._counts(X)
        n_threads = threads_for(counts, self.n_jobs)
        known = posterior(self.model_, self._placed(counts), n_threads=n_threads)
        h, variance = known.h, known.variance(self.model_.eta)
        if by_assignments(self):
            m = lengths_of(counts)
            h = mean_assignment(self.model_, h, m)
            variance *= ((self.model_.alpha.sum() + np.maximum(m, 1)) / np.maximum(m, 1)) ** 2
        if isinstance(self._how(), GibbsInference):
            return self._expected(X), variance
        return h @ self.model_.eta, variance

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Predictive R^2 of ``predict(X)``; 1 is perfect, 0 is the mean of ``y``."""
        y_hat = self.predict(X)
        response = check_response(one_column(y, "responses y", warn=False), len(y_hat))
        return pr2(response, y_hat, sample_weight)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # on the checks' data, which are not documents
        return tags


class Classification(ClassifierMixin):
    """What topic models with a class as response do alike."""

    classes_: Any
    coef_: Array
    _decide: Callable[..., Array]

    def decision_function(self, X: Any) -> Array:
        """How far each document is on the side of ``classes_[1]``, or of each class."""
        check_is_fitted(self)
        return self._decide(X, self.coef_)

    def predict(self, X: Any) -> Any:
        """The label of each document."""
        side = self.decision_function(X)
        best = (side > 0).astype(int) if side.ndim == 1 else side.argmax(axis=1)
        return self.classes_[best]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on the checks' data, which are not documents
        return tags


def by_assignments(estimator: Any) -> bool:
    """Whether coefficients multiply the mean assignment of words, not the mixture."""
    return bool(getattr(estimator, "features_", "mixture") == "assignments")


def lengths_of(counts: Counts) -> Doc:
    """Words of each document."""
    return np.asarray(counts.sum(axis=1), dtype=float).ravel()


def threads_for(counts: Counts, n_jobs: int | None) -> int:
    """Those asked for, but no more than have something to do."""
    check_jobs(n_jobs)  # which may have been changed since the fit
    return int(min(effective_n_jobs(n_jobs), 1 + counts.nnz // ENTRIES_PER_THREAD))


def check_running(n_jobs: Any, random_state: Any) -> None:
    """What all estimators ask of the parameters that all of them have."""
    check_jobs(n_jobs)
    check_seed(random_state)


def one_column(y: Any, name: str, warn: bool = True) -> Any:
    """One value for each document, in their order.

    scikit-learn's ``column_or_1d`` would show complex numbers, however many.
    """
    refuse_unordered(y)
    refuse_masked(y, name)
    if np.iscomplexobj(given := np.asarray(y)):
        raise ValueError(
            f"y has dtype {given.dtype}, which is complex, expected real numbers; pass y.real, say"
        )
    return column_or_1d(y, warn=warn)


def varied(y: Any, n_documents: int, name: str) -> Doc:
    """A response that there is something to learn about."""
    if y is None:
        raise ValueError(
            f"{name} requires y to be passed, but the target y is None; pass one number per "
            "document, or use SpectralLDA for topics alone"
        )
    response = check_response(one_column(y, "responses y"), n_documents)
    check_varies(response.min(), response.max(), float(np.std(response)), n_documents)
    return response


def labelled(y: Any, n_documents: int, name: str) -> tuple[Any, Ints]:
    """The classes in order, two or more, and which of them each document is."""
    if y is None:
        raise ValueError(
            f"{name} requires y to be passed, but the target y is None; pass one label "
            "per document, or use SpectralLDA for topics alone"
        )
    labels = one_column(y, "labels y")
    missing = [i for i, label in enumerate(labels.tolist()) if label is None or label != label]
    if missing:
        raise ValueError(
            f"y has no label for {len(missing)} of {len(labels)} documents, the first in row "
            f"{missing[0]}, but one was expected for each; leave these documents out"
        )
    if len({isinstance(label, str) for label in labels.tolist()}) == 2:
        labels = labels.astype(str)  # as numpy has a list of both
    check_classification_targets(labels)
    if len(labels) != n_documents:
        raise ValueError(
            f"y has {len(labels)} labels, but there are {n_documents} documents; expected one "
            "label per document, in the same order"
        )
    classes, which = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y has one class, {classes.tolist()[0]!r}, for all {n_documents} documents, but at "
            "least two were expected; check the column, or use SpectralLDA for topics alone"
        )
    return classes, which


def warn_of_fewer(found: int, asked: Any) -> None:
    if isinstance(asked, (int, np.integer)) and found < asked:
        warnings.warn(
            f"n_topics={asked}, but the data support {found}: the others are not identifiable and "
            f"are left out; use n_topics={found}, 'auto', or more documents",
            FewerTopicsWarning,
            stacklevel=5,
        )


def warn_of_many(asked: Any, n_documents: int) -> None:
    """Before it takes long; a single document is refused."""
    if isinstance(asked, (int, np.integer)) and asked > n_documents > 1:
        warnings.warn(
            f"n_topics={asked} is more than the {n_documents} documents to learn from: fewer than "
            "one for each, and time and memory grow with their number; ask for fewer",
            ManyTopicsWarning,
            stacklevel=5,
        )


def warn_of_nothing(r2: float | None, stacklevel: int = 5) -> None:
    warnings.warn(
        "the words of these documents do not predict y: topics and coefficients of one half "
        f"of them leave R2 {r2:.3f} on the other; read no effect into the coefficients, and check "
        "the column or add documents",
        NothingPredictedWarning,
        stacklevel=stacklevel,
    )
