"""Every method, its settings chosen on parts of the documents that it learns from.

Ours choose within ``fit``.  Of the others: ridge its penalty, tomotopy's sLDA its noise variance,
VariationalSLDA that from which it starts and AnchorSLDA the weight of the response by documents
held out, MedLDA the weight of its loss by cross-validation.  Seconds are processor time, of all
threads, of the fit with the settings chosen, not of choosing.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import Ridge

from topicprism import (
    AnchorLDA,
    AnchorSLDA,
    GibbsSLDA,
    HybridSLDA,
    MedLDA,
    Model,
    SpectralSLDA,
    VariationalSLDA,
)
from topicprism.evaluation import pr2
from topicprism.pipeline.fitted import topics_step
from topicprism.vectorizer import FastCountVectorizer

from .corpora import N_JOBS, Split

PENALTIES = tuple(np.logspace(-2, 2, 17))
LOSS_WEIGHTS = (3.0, 10.0, 30.0, 100.0, 300.0)  # MedLDA's C
NOISE_VARIANCES = (0.05, 0.2, 0.5, 1.0)  # tomotopy's, of a response of variance 1
NOISE_STARTS = (0.01, 0.1, 1.0)  # VariationalSLDA's
RESPONSE_WEIGHTS = (1.0, 10.0)  # AnchorSLDA's
N_BIGRAMS = 50_000  # with the words
HELD_OUT = 1_000  # documents at least, where there are as many: pR2 to about 0.03
OURS = {"random_state": 0, "n_jobs": N_JOBS}


@dataclass(frozen=True)
class Effort:
    """How long rivals may take."""

    k: int = 20
    sweeps: int = 500  # of tomotopy
    trial_sweeps: int = 200  # while its noise variance is chosen
    new_sweeps: int = 100  # over new documents
    chain: Mapping[str, int] = field(default_factory=dict)  # of our samplers: their defaults
    trial_documents: int = 3_000  # to choose MedLDA's C on
    noise_documents: int = 5_000  # to choose a noise variance or AnchorSLDA's weight on
    iterations: int = 100  # of variational EM, at most


QUICK = Effort(3, 20, 5, 20, {"burn_in": 5, "n_kept": 5}, 200, 200, 5)


@dataclass(frozen=True)
class Answer:
    model: Model | None  # None where there are no topics
    y_hat: np.ndarray | None  # its own predictions of test documents, if it has any
    seconds: float
    settings: str = ""  # those that were chosen outside the fit
    estimator: Any = None  # one of ours


Rival = Callable[[Split], Answer]


def rivals(effort: Effort = Effort()) -> dict[str, Rival]:
    """By name, in the order of the tables."""
    k, chain = effort.k, effort.chain
    found = {
        "ridge": ridge,
        "ridge, bigrams": lambda s: ridge(with_bigrams(s)),
        "default": default(),
        "SpectralSLDA()": ours(SpectralSLDA),
        "two-stage": ours(SpectralSLDA, k, method="two-stage"),
        "HybridSLDA()": ours(HybridSLDA, cross_fit=False, **chain),
        "GibbsSLDA": gibbs(k, effort),
        "MedLDA": med_lda(effort),
        "VariationalSLDA": variational_slda(effort),
        "AnchorSLDA": anchor_slda(effort),
        "AnchorLDA": anchor_lda(effort),
        "scikit-learn LDA": sklearn_lda(k),
    }
    if find_spec("tomotopy"):
        found |= {"tomotopy SLDA": tomotopy_slda(effort), "tomotopy LDA": tomotopy_lda(effort)}
    return found


# --- ours -----------------------------------------------------------------------------


def ours(kind, *args, **params) -> Rival:
    return fitted_by(lambda: kind(*args, **OURS, **params))


def default(**options) -> Rival:
    """What ``topicprism.fit`` learns topics with."""
    return fitted_by(lambda: topics_step(None, N_JOBS, 0, options))


def gibbs(k: int, effort: Effort, cross_fit: bool = False) -> Rival:
    """Predictions do not depend on effects, which take as long again."""
    return ours(GibbsSLDA, k, response="assignments", cross_fit=cross_fit, **effort.chain)


def fitted_by(make: Callable[[], Any]) -> Rival:
    def fit(s: Split) -> Answer:
        fitted, seconds = timed(lambda: make().fit(s.X, s.y))
        return Answer(fitted.model_, fitted.predict(s.X_test), seconds, estimator=fitted)

    return fit


def med_lda(effort: Effort) -> Rival:
    """C by three-fold cross-validation."""

    def with_weight(C: float) -> Rival:
        return ours(MedLDA, effort.k, C=C, cross_fit=False, **effort.chain)

    def fit(s: Split) -> Answer:
        parts = list(held_out(s, 3, effort.trial_documents))
        C = best(LOSS_WEIGHTS, with_weight, parts)
        return replace(with_weight(C)(s), settings=f"C={C:g}")

    return fit


def variational_slda(effort: Effort) -> Rival:
    """EM ends near where it starts: the noise to begin with by documents held out."""

    def from_noise(noise: float) -> Rival:
        steps = {"n_iterations": effort.iterations, "calibrate": False}
        return ours(VariationalSLDA, effort.k, noise_start=noise, **steps)

    return held_out_choice(NOISE_STARTS, from_noise, "noise start", effort)


def anchor_slda(effort: Effort) -> Rival:
    def with_weight(weight: float) -> Rival:
        return ours(AnchorSLDA, effort.k, weight=weight, calibrate=False)

    return held_out_choice(RESPONSE_WEIGHTS, with_weight, "weight", effort)


def anchor_lda(effort: Effort) -> Rival:
    """Of the words alone, as scikit-learn's LDA is."""

    def fit(s: Split) -> Answer:
        fitted, seconds = timed(lambda: AnchorLDA(effort.k, **OURS).fit(s.X))
        return Answer(fitted.model_, None, seconds, estimator=fitted)

    return fit


def held_out_choice(values, rival: Callable[[float], Rival], name: str, effort: Effort) -> Rival:
    def fit(s: Split) -> Answer:
        chosen = best(values, rival, enough(held_out(s, 5, effort.noise_documents)))
        return replace(rival(chosen)(s), settings=f"{name}={chosen:g}")

    return fit


# --- ridge regressions on words -------------------------------------------------------


def ridge(s: Split) -> Answer:
    """On sublinear TF-IDF: log counts, so that a repeated word says less."""
    penalty = best(PENALTIES, with_penalty, enough(held_out(s, 7)))
    return replace(with_penalty(penalty)(s), settings=f"penalty={penalty:.3g}")


def with_penalty(penalty: float) -> Rival:
    def fit(s: Split) -> Answer:
        def learn():
            tfidf = TfidfTransformer(sublinear_tf=True).fit(s.X)
            return tfidf, Ridge(penalty, solver="sparse_cg").fit(tfidf.transform(s.X), s.y)

        (tfidf, line), seconds = timed(learn)
        return Answer(None, line.predict(tfidf.transform(s.X_test)), seconds)

    return fit


def with_bigrams(s: Split) -> Split:
    """The same documents, counted by words and pairs of neighbours."""
    assert s.texts is not None
    terms = FastCountVectorizer(
        max_features=N_BIGRAMS, ngram_range=(1, 2), stop_words=s.texts.stop_words, n_jobs=N_JOBS
    )
    X = terms.fit_transform(s.texts.train)
    return replace(s, X=X, X_test=terms.transform(s.texts.test))


# --- other libraries ------------------------------------------------------------------


def sklearn_lda(k: int) -> Rival:
    """Batch variational Bayes, ten passes and uniform priors of 1 / k: its defaults."""

    def fit(s: Split) -> Answer:
        lda = LatentDirichletAllocation(k, random_state=0, n_jobs=N_JOBS)
        lda, seconds = timed(lambda: lda.fit(s.X))
        mu = (lda.components_ / lda.components_.sum(axis=1, keepdims=True)).T
        return Answer(words_only(np.full(k, 1 / k), mu), None, seconds)

    return fit


def tomotopy_lda(effort: Effort) -> Rival:
    """Its prior of the proportions is learnt, as by default."""

    def fit(s: Split) -> Answer:
        import tomotopy

        lda = tomotopy.LDAModel(k=effort.k, alpha=1 / effort.k, seed=1)
        _, seconds = timed(lambda: _train(lda, s.X, None, effort.sweeps))
        return Answer(_topics(lda, s.X.shape[1]), None, seconds)

    return fit


def tomotopy_slda(effort: Effort) -> Rival:
    """The noise variance, which it does not learn, by documents held out."""

    def with_noise(variance: float, sweeps: int) -> Rival:
        return lambda s: _slda(s, variance, sweeps, effort)

    def fit(s: Split) -> Answer:
        parts = enough(held_out(s, 5, effort.noise_documents))
        chosen = best(NOISE_VARIANCES, lambda v: with_noise(v, effort.trial_sweeps), parts)
        answer = with_noise(chosen, effort.sweeps)(s)
        return replace(answer, settings=f"noise variance={chosen:g}")

    return fit


def _slda(s: Split, variance: float, sweeps: int, effort: Effort) -> Answer:
    """Of the standardised response: its coefficients have a prior around 0."""
    import tomotopy

    centre, unit, k = s.y.mean(), s.y.std(), effort.k
    slda = tomotopy.SLDAModel(k=k, vars="l", alpha=1 / k, glm_param=[variance], seed=1)
    _, seconds = timed(lambda: _train(slda, s.X, (s.y - centre) / unit, sweeps))
    new = [(d, slda.make_doc(words)) for d, words in enumerate(tokens(s.X_test)) if words]
    slda.infer([doc for _, doc in new], iterations=effort.new_sweeps, workers=N_JOBS)
    y_hat = np.full(len(s.y_test), centre)
    for d, doc in new:
        y_hat[d] += unit * slda.estimate(doc)[0]
    return Answer(_topics(slda, s.X.shape[1]), y_hat, seconds)


def _train(lda, X: csr_array, y: np.ndarray | None, sweeps: int) -> None:
    for d, words in enumerate(tokens(X)):
        if words:
            lda.add_doc(words, **({} if y is None else {"y": [float(y[d])]}))
    with warnings.catch_warnings():  # that its result depends on the workers
        warnings.simplefilter("ignore", RuntimeWarning)
        lda.train(sweeps, workers=N_JOBS)


def _topics(lda, n_words: int) -> Model:
    mu = np.full((n_words, lda.k), 1e-12)
    seen = [int(w) for w in lda.used_vocabs]
    for i in range(lda.k):
        mu[seen, i] = lda.get_topic_word_dist(i)
    return words_only(np.asarray(lda.alpha, float), mu / mu.sum(axis=0))


def words_only(alpha: np.ndarray, mu: np.ndarray) -> Model:
    """Topics without coefficients."""
    return Model(alpha, mu, np.zeros(len(alpha)), 0.0)


def tokens(X: csr_array) -> Iterator[list[str]]:
    for d in range(X.shape[0]):
        row = slice(X.indptr[d], X.indptr[d + 1])
        yield np.repeat(X.indices[row], X.data[row]).astype(str).tolist()


# --- choosing -------------------------------------------------------------------------


def held_out(s: Split, n_folds: int, n_documents: int | None = None) -> Iterator[Split]:
    """Folds of the training documents, or of the first of them: test documents have no part."""
    X, y = s.X[:n_documents], s.y[:n_documents]
    for i in range(n_folds):
        learn = np.arange(len(y)) % n_folds != i
        yield Split(X[learn], y[learn], X[~learn], y[~learn])


def enough(folds: Iterator[Split]) -> list[Split]:
    """The first that hold out so many documents together that a score of them means something."""
    parts: list[Split] = []
    for part in folds:
        parts.append(part)
        if sum(len(p.y_test) for p in parts) >= HELD_OUT:
            break
    return parts


def best(values, rival: Callable[[float], Rival], parts: list[Split]) -> float:
    """The value with the highest mean pR2 over the parts."""

    def score(value: float) -> float:
        return float(np.mean([pr2(s.y_test, rival(value)(s).y_hat) for s in parts]))

    return max(values, key=score)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = process_time()
    done = work()
    return done, process_time() - start
