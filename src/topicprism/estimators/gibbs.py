"""scikit-learn estimators: supervised LDA by sampling, from nothing or from the spectral answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs

from topicprism._typing import Doc, DocTopic, Word, WordTopic
from topicprism.automatic import GRID, LEARN_ON, Learnt, Wishes, learn_from
from topicprism.backends import one_blas_thread
from topicprism.calibration import Calibrated, Units, best_alpha0, calibrate, products, regress
from topicprism.corpus import Corpus
from topicprism.engines import Threaded
from topicprism.estimators.base import generator, warn_of_fewer
from topicprism.estimators.sampled import (
    AUTO,
    Callback,
    SampledRegression,
    Task,
    check_chain,
    is_auto,
    with_callbacks,
)
from topicprism.inference import infer, predict
from topicprism.model import Model
from topicprism.samplers import Gaussian, Plan, State
from topicprism.samplers.state import RESPONSES
from topicprism.selection import Selection
from topicprism.settings import check_choice, check_real
from topicprism.steering import leaned
from topicprism.subsets import ALL, KeyCounts

AS_IT_IS = Units(0.0, 1.0)
PRIOR, BURSTINESS = 3.0, 0.25  # sum of it, and by how much repetition says less, to steer by
HINT = 0.5  # of what topics are steered by is what the spectral answer foretells: less noise
FIFTHS = 5
LIGHT = 0.1  # weight of the response where topics are steered by it anyway
FEW, FEW_WORDS = 2_000, 100_000  # documents, words: with fewer, topics had better stay close
TINY = 0.01  # Dirichlet parameter of a word beside a prior that says more
TRUSTED = 20  # sweeps with the coefficients of the spectral answer, where the model holds


class GibbsSLDA(SampledRegression):
    """Supervised LDA by Gibbs sampling.

    Parameters
    ----------
    n_topics : int, default=10
        Number of topics, k in the paper.
    response : {"mixture", "assignments"}, default="mixture"
        What the response depends on: the topic mixture h of the document (the paper's), or the
        mean topic assignment of its words (the usual sLDA, h integrated out; mixes faster).
    alpha0 : float, default=1.0
        Sum of the Dirichlet parameters, equal for all topics to begin with.
    learn_alpha : bool, default=False
        Whether the Dirichlet parameters are sampled too.
    beta : float, default=0.1
        Dirichlet parameter of the topics' word probabilities.
    burn_in : int, default=200
        Sweeps before any is kept.
    n_kept : int, default=100
        Sweeps after that, over which the model is averaged.
    tolerance : float, default=0.0
        The burn-in ends as soon as the log-likelihood has changed by less than this share on
        average over ten sweeps; 1e-3 in the paper, 0 for the whole burn-in.
    warm_start : bool, default=False
        Whether to go on from the state of the last fit; the documents must be the same.
    callback : callable or None, default=None
        Called after each sweep with a ``Progress``.
    n_jobs : int or None, default=None
        Threads: None is one, -1 is all cores.  The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the chain.

    Attributes
    ----------
    components_, coef_, alpha_, noise_variance_, model_, n_features_in_
        As in :class:`SpectralSLDA`: posterior means.
    coef_draws_ : ndarray of shape (n_kept, n_topics)
        Kept draws of the coefficients, for intervals.
    noise_variance_draws_ : ndarray of shape (n_kept,)
        Kept draws of the noise variance.
    log_likelihood_ : ndarray of shape (n_sweeps_,)
        Log-likelihood of training words and responses, per word, after each sweep.
    acceptance_ : ndarray of shape (n_sweeps_,)
        Share of Metropolis steps accepted in each sweep.
    n_sweeps_ : int
        Sweeps since the chain began.
    features_ : {"mixture", "assignments"}
        What ``coef_`` multiplies in ``predict``.
    state_ : State
        Where the chain stands.

    Examples
    --------
    >>> from topicprism import GibbsSLDA
    >>> from topicprism.datasets import make_slda
    >>> X, y, truth = make_slda(600, n_words=50, n_topics=3, doc_length=80, random_state=0)
    >>> model = GibbsSLDA(3, burn_in=150, n_kept=50, random_state=0).fit(X, y)
    >>> model.coef_draws_.shape
    (50, 3)
    >>> bool(model.score(X, y) > 0.7)
    True
    """

    def __init__(
        self,
        n_topics: int = 10,
        *,
        response: str = "mixture",
        alpha0: float = 1.0,
        learn_alpha: bool = False,
        beta: float = 0.1,
        burn_in: int = 200,
        n_kept: int = 100,
        tolerance: float = 0.0,
        warm_start: bool = False,
        callback: Callback | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_topics = n_topics
        self.response = response
        self.alpha0 = alpha0
        self.learn_alpha = learn_alpha
        self.beta = beta
        self.burn_in = burn_in
        self.n_kept = n_kept
        self.tolerance = tolerance
        self.warm_start = warm_start
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any) -> Self:
        """Sample topics and coefficients given word counts and one number per document."""
        check_choice("response", self.response, RESPONSES)
        return self._fit(X, y, self.response, Gaussian(), self.learn_alpha)


class HybridSLDA(SampledRegression):
    """Gibbs sampling that starts at the joint spectral answer.

    Where the model holds (:class:`SpectralSLDA` says when), that is all.  On text, sampled
    topics turn to what explains words alone, so they are steered all along by what would
    predict better from words alone (:mod:`topicprism.steering`).  With fewer than 2,000
    documents, or fewer than 100,000 words in all of them, the spectral answer counts for as
    many words again, and the topics that it has for the response keep theirs.

    Parameters
    ----------
    n_topics : int or "auto", default="auto"
        Number of topics; chosen as by :class:`SpectralSLDA`.
    alpha0, learn_alpha, beta : "auto" or as in :class:`GibbsSLDA`, default="auto"
        Where the model holds, "auto" is the spectral answer's prior of documents, which is kept,
        and a prior of topics around the words' frequencies, as wide as its topics are.  On
        text it is 0.3 for ``beta`` and, unless documents are so few, a prior of documents that
        begins at 1 and is learnt.
    burn_in, n_kept, tolerance
        As in :class:`GibbsSLDA`; by default ``burn_in`` is 100 and ``n_kept`` 300.
    response_weight : float or "auto", default="auto"
        Power of the response's likelihood in the chain; 1 is the model's.  "auto" is 1, or 0.1
        where topics are steered: documents that follow their own response would mislead them.
    refit : bool, default=True
        Whether, on text, topics are steered and the coefficients are those of a ridge
        regression on the proportions inferred from the training words alone, as they will be at
        prediction.  ``coef_draws_`` are the chain's in either case.  Steered topics have a
        prior of sum ``alpha0`` in the end; of 3, if that is "auto".
    warm_start, callback, n_jobs, random_state
        As in :class:`GibbsSLDA`.

    Attributes
    ----------
    components_, coef_, alpha_, noise_variance_, model_, n_features_in_
        As in :class:`SpectralSLDA`.
    selection_ : Selection
        How the number of topics was chosen, from which spectrum and trials, as in
        :class:`SpectralSLDA`; and where prior and noise variance come from.
    coef_draws_, noise_variance_draws_, log_likelihood_, acceptance_, n_sweeps_, state_
        As in :class:`GibbsSLDA`.
    """

    _asked: int | str
    _hints: Doc | None

    def __init__(
        self,
        n_topics: int | str = AUTO,
        *,
        response_weight: float | str = AUTO,
        refit: bool = True,
        alpha0: float | str = AUTO,
        learn_alpha: bool | str = AUTO,
        beta: float | str = AUTO,
        burn_in: int = 100,
        n_kept: int = 300,
        tolerance: float = 0.0,
        warm_start: bool = False,
        callback: Callback | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_topics = n_topics
        self.response_weight = response_weight
        self.refit = refit
        self.alpha0 = alpha0
        self.learn_alpha = learn_alpha
        self.beta = beta
        self.burn_in = burn_in
        self.n_kept = n_kept
        self.tolerance = tolerance
        self.warm_start = warm_start
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any) -> Self:
        """Learn by the joint spectral method, then sample from there."""
        if not is_auto(self.response_weight):
            check_real("response_weight", self.response_weight, 1e-6, 'try "auto"')
        check_choice("learn_alpha", self.learn_alpha, (True, False, AUTO))
        check_chain(self, may_choose=True)
        task = self._task(X, y, Plan())
        if not (self.warm_start and hasattr(self, "state_")):
            asked = None if self.n_topics == AUTO else self.n_topics
            self._spectral = self._learnt(task, asked, generator(self.random_state))
            warn_of_fewer(self._spectral.model.n_topics, self.n_topics)
            self._asked, self._hints = self.n_topics, None
        plan = self._planned(task)
        self._sample(replace(task, plan=plan))
        self.selection_ = self._selection(plan, task.units.scale**2)
        return self

    def _selection(self, plan: Plan, square: float) -> Selection:
        """The spectral answer's, in the units of the response, and what the chain made of it."""
        found, drawn = self._spectral.selection, "the mean of the draws that were kept"
        reasons = dict(found.reasons)
        if self._holds or not self.refit:
            reasons["noise_variance"] = drawn
        steered = self.refit and bool(self._spectral.held) and not plan.held
        if plan.learn_alpha and not steered:
            reasons["alpha0"] = drawn
        elif self.alpha0 != AUTO:
            reasons["alpha0"] = "as asked"
        elif steered:
            reasons["alpha0"] = "the prior that topics are steered with"
        return replace(
            found,
            alpha0=float(self.alpha_.sum()),
            noise_variance=float(self.noise_variance_),
            trials=tuple(
                replace(t, noise_variance=square * t.noise_variance) for t in found.trials
            ),
            reasons=reasons,
        )

    def _planned(self, task: Task) -> Plan:
        """The model's own where it holds; on text, topics that are steered or stay close."""
        held = self._spectral.held if self.refit else ()
        words = task.counts.sum(axis=0)
        few = bool(held) and (len(task.Y) < FEW or words.sum() < FEW_WORDS)
        steered = bool(held) and not few
        plan = replace(
            task.plan,
            family=Gaussian(_unless_auto(self.response_weight, LIGHT if steered else 1.0)),
            beta=_unless_auto(self.beta, TINY if self._holds else 0.3),
            learn_alpha=bool(_unless_auto(self.learn_alpha, not (self._holds or few))),
            trusted=TRUSTED if self._holds else 0,
        )
        if steered:
            return replace(plan, steer=self._steer(task))
        if few:
            prior = self._spectral.model.mu * (words.sum() / self._spectral.model.n_topics)
            return replace(plan, held=held, steer=lambda _: prior)
        if self._holds and self.beta == AUTO:
            prior = as_wide_as(self._spectral.model, words / words.sum())
            return replace(plan, steer=lambda _: prior)
        return plan

    @property
    def _holds(self) -> bool:
        """Whether the documents are the model's, by the spectral answer."""
        return self._spectral.solution is not None

    def _n_expected(self) -> int:
        """The data may have carried fewer than were asked for."""
        same = self.n_topics in (AUTO, self._asked)
        return len(self.state_.alpha) if same else int(self.n_topics)

    def _learnt(self, task: Task, n_topics: int | None, rng: np.random.Generator) -> Learnt:
        """The spectral answer, for a response of mean 0 and variance 1."""
        return learn_from(self._docs(task), Wishes(n_topics), rng)

    def _steer(self, task: Task) -> Callable[[State], WordTopic]:
        """What makes topics lean to what predicts."""
        if self._hints is None:
            self._hints = self._foretold(task)
        guide = self._docs(task, (1 - HINT) * task.Y[:, 0] + HINT * self._hints)
        prior = _unless_auto(self.alpha0, PRIOR)

        def steer(state: State) -> WordTopic:
            model = Model(state.alpha, state.mu, state.eta[:, 0], 1.0, BURSTINESS)
            return leaned(guide, model.with_alpha0(prior), state.lean)

        return steer

    def _foretold(self, task: Task) -> Doc:
        """Each response as the spectral answer to the other four fifths of documents has it."""
        keys, rng = Corpus(task.counts, task.Y[:, 0]).keys, generator(self.random_state)
        hints = np.zeros(len(task.Y))
        for fifth in self._docs(task).total(KeyCounts.of).cut(FIFTHS):
            there = fifth.has(keys)
            if there.all() or not there.any():  # too few documents that differ
                continue
            rest = replace(task, counts=task.counts[~there], Y=task.Y[~there])
            model = self._learnt(rest, self._spectral.model.n_topics, rng).model
            h = infer(model, task.counts[there], n_threads=effective_n_jobs(self.n_jobs))
            hints[there] = predict(model, h)
        return hints

    def _docs(self, task: Task, y: Doc | None = None) -> Threaded:
        corpus = Corpus(task.counts, task.Y[:, 0] if y is None else y)
        return Threaded(corpus, effective_n_jobs(self.n_jobs))

    def _start(self, task: Task, seed: int, n_threads: int) -> tuple[Model, DocTopic | None]:
        model = replace(self._spectral.model, burstiness=0.0)
        if task.plan.learn_alpha or self.alpha0 != AUTO:
            model = model.with_alpha0(_unless_auto(self.alpha0, 1.0))
        if not self._holds:
            with one_blas_thread:
                found = regress(self._docs(task).total(products, model, AS_IT_IS, ALL))
            model = replace(model, eta=found.eta, sigma=float(np.sqrt(found.variance)))
        model = replace(model, sigma=min(max(model.sigma, 0.1), 1.0))  # y has variance 1
        return model, infer(model, task.counts, n_threads=n_threads)

    def _calibrated(self, model: Model, task: Task) -> Calibrated | None:
        if self._holds or not self.refit:
            return None
        units, y = Units(task.units.centre, task.units.scale), task.Y[:, 0]
        docs = self._docs(task, units.centre + units.scale * y)
        with one_blas_thread:
            if task.plan.held:
                model = replace(model, burstiness=self._spectral.model.burstiness)
                grid = GRID if self.alpha0 == AUTO else (float(self.alpha0),)
                model = model.with_alpha0(best_alpha0(docs, model, units, ALL, grid))
            elif task.plan.steer:
                prior = _unless_auto(self.alpha0, PRIOR)
                model = replace(model.with_alpha0(prior), burstiness=BURSTINESS)
            return calibrate(docs, model, units, docs.total(KeyCounts.of).at_most(LEARN_ON))


def as_wide_as(model: Model, p: Word) -> WordTopic:
    """c p for each topic, so that topics from Dirichlet(c p) are as far from p as the model's::

    E[sum_w (mu_w - p_w)^2 / p_w] = (V - 1) / (c + 1)
    """
    seen = p > 0
    mu, q = model.mu[seen], p[seen, None]
    apart = ((mu - q) ** 2 / q).sum(axis=0) @ model.alpha / model.alpha.sum()
    c = max((seen.sum() - 1) / max(apart, 1e-6) - 1, 1.0)
    return np.repeat(c * p[:, None], model.n_topics, axis=1)


def _unless_auto(value: float | str, otherwise: float) -> float:
    return otherwise if value == AUTO else float(value)
