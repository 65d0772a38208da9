"""What the estimators over the samplers do alike: check, own the loop, keep its results."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from topicprism._typing import Array, Counts, DocTopic
from topicprism.defaults import is_auto
from topicprism.documents.corpus import Corpus, as_csr, taken
from topicprism.estimators.base import CROSS_FITTED, Topics, check_running, warn_of_many
from topicprism.estimators.parameters import Chain
from topicprism.inference import infer
from topicprism.kernels.blas import one_blas_thread
from topicprism.learn.ridge import Calibrated, Products, regress
from topicprism.model import Model, ResponseScale
from topicprism.samplers import Plan, Progress, Schedule, State, chain, flat, init, keep, observe
from topicprism.samplers.state import Kept, KeyOrder, check_room, to_model
from topicprism.validation import check_choice, check_prior, check_real, check_whole, generator

try:
    from sklearn import callback as progress
except ImportError:  # before scikit-learn 1.9
    progress = None

F = TypeVar("F", bound=Callable[..., Any])
CallbackSupport: Any = progress.CallbackSupportMixin if progress else type("Nothing", (), {})


def with_callbacks(fit: F) -> F:
    """A ``fit`` that scikit-learn's own callbacks can follow, where it has them."""
    return cast(F, progress.with_callbacks(fit)) if progress else fit


class InterruptedWarning(UserWarning):
    """A chain was stopped before its end; the model is the one so far."""

    def __init__(self, message: str = "", stop: BaseException | None = None) -> None:
        super().__init__(message)
        self.stop = stop  # what stopped it


def interruption(error: object) -> KeyboardInterrupt:
    """Itself, or what a chain was stopped by, whose argument may be an exit status."""
    stop = getattr(error, "stop", error)
    return stop if isinstance(stop, KeyboardInterrupt) else KeyboardInterrupt()


@dataclass
class Record:
    """What a running chain leaves behind: traces, draws, sums over kept states."""

    last: State | None = None
    kept: Kept | None = None
    trace: list[float] = field(default_factory=list)
    acceptance: list[float] = field(default_factory=list)
    eta: list[Array] = field(default_factory=list)
    noise: list[float] = field(default_factory=list)
    stopped: bool = False  # before its end

    def add(self, state: State, keeping: bool) -> None:
        self.last = state
        self.trace.append(state.log_likelihood)
        self.acceptance.append(state.acceptance)
        if keeping:
            self.kept = keep(state) if self.kept is None else self.kept + keep(state)
            self.eta.append(state.eta)
            self.noise.append(state.noise)


@dataclass(frozen=True)
class Task:
    """One fit: documents in the order of their keys, what is sampled, the units of the answer."""

    counts: Counts
    Y: Array
    plan: Plan
    order: KeyOrder
    scale: ResponseScale

    @classmethod
    def of(
        cls,
        counts: Counts,
        Y: Array,
        plan: Plan,
        scale: ResponseScale = ResponseScale(0.0, 1.0),  # noqa: B008 - frozen
    ) -> Task:
        order = KeyOrder.of(counts, Y)
        return cls(taken(counts, order.rows).to_csr(), Y[order.rows], plan, order, scale)

    @property
    def corpus(self) -> Corpus:
        """Of the first response."""
        return Corpus(self.counts, self.Y[:, 0], by_key=True)


class SampledTopics(CallbackSupport, Chain, Topics):
    """An estimator that runs a chain."""

    beta: Any
    state_: State  # of the rows
    model_: Model
    _order: KeyOrder  # of the chain that state_ is of

    def to_arviz(self) -> Any:
        """Kept draws of coefficients and noise, and the log-likelihood, as ArviZ's data."""
        check_is_fitted(self)
        try:
            import arviz
        except ImportError:
            raise ImportError(
                "to_arviz needs ArviZ, which is not installed; pip install 'topicprism[arviz]'"
            ) from None
        n = len(self.coef_draws_)
        posterior = {"coef": self.coef_draws_, "noise_variance": self.noise_variance_draws_}
        stats = {"lp": self.log_likelihood_[-n:], "acceptance_rate": self.acceptance_[-n:]}
        groups = {
            "posterior": {name: draws[None] for name, draws in posterior.items()},
            "sample_stats": {name: draws[None] for name, draws in stats.items()},
        }
        old = int(arviz.__version__.split(".")[0]) < 1
        return arviz.from_dict(**groups) if old else arviz.from_dict(groups)

    # --- what a subclass may change -----------------------------------------------------

    def _start(self, task: Task, seed: int, n_threads: int) -> tuple[Model, DocTopic | None]:
        """Where a chain begins, in the units of the chain: from topics that are all alike."""
        alpha = np.full(self.n_topics, self.alpha0 / self.n_topics)
        return flat(task.counts.shape[1], alpha), None

    def _counted(self, n_documents: int) -> None:
        """What is to be said before a chain begins."""
        warn_of_many(self.n_topics, n_documents)

    def _n_expected(self) -> int:
        """Topics that a chain to go on from should have."""
        return int(self.n_topics)

    def _refits(self) -> bool:
        """Whether coefficients are those of a regression on proportions inferred from words."""
        return False

    def _calibrated(self, model: Model, task: Task) -> Calibrated | None:
        """The model made ready to predict from words alone, if that is done at all."""
        return None

    def _effects(self, record: Record, task: Task) -> dict[str, Any]:
        """Attributes that are known once the chain has ended, beside those of ``_results``."""
        return {}

    # --- the loop -----------------------------------------------------------------------

    def _sample(self, task: Task) -> None:
        """Run the chain of a fit and keep what it leaves."""
        n_threads = effective_n_jobs(self.n_jobs)
        check_room(task.counts, 1 if is_auto(self.n_topics) else self.n_topics, task.plan.response)
        data = observe(task.counts, task.Y, task.plan.response)
        if self.warm_start and hasattr(self, "state_"):
            state = continued(self.state_, self._order, task, self._n_expected())
        else:
            seed = int(generator(self.random_state).integers(2**62))
            self._counted(task.counts.shape[0])
            start, h = self._start(task, seed, n_threads)
            state = init(data, start, task.plan, seed, h)
            self.log_likelihood_, self.acceptance_ = np.empty(0), np.empty(0)
        schedule = Schedule(self.burn_in, self.n_kept, float(self.tolerance))
        with one_blas_thread:  # the threads have the documents to share
            record = self._loop(chain(data, state, task.plan, schedule, n_threads), task)
        assert record.last is not None
        self.state_, self._order = task.order.to_rows(record.last), task.order
        self.n_sweeps_ = record.last.sweep
        self.log_likelihood_ = np.append(self.log_likelihood_, record.trace)
        self.acceptance_ = np.append(self.acceptance_, record.acceptance)
        for name in (*CROSS_FITTED, "predictive_variance_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        for results in (self._results, self._effects):
            for name, value in results(record, task).items():
                setattr(self, name, value)

    def _loop(self, states: Iterator[tuple[State, bool]], task: Task) -> Record:
        """States as they come, until they end, a callback stops them, or Ctrl-C."""
        record = Record()
        root = self._root()
        try:
            for state, keeping in states:
                record.add(state, keeping)
                if self._told_to_stop(record, task, root):
                    record.stopped = True
                    break
        except KeyboardInterrupt as stop:
            if record.last is None:
                raise
            record.stopped = True
            message = (
                f"interrupted after {record.last.sweep} sweeps, {len(record.eta)} of them kept; "
                "the model so far is kept, and warm_start=True goes on from it"
            )
            warnings.warn(InterruptedWarning(message, stop), stacklevel=5)
        if root is not None:
            root.call_on_fit_task_end(
                estimator=self, reconstruction_attributes=lambda: self._results(record, task)
            )
        return record

    def _root(self) -> Any:
        """scikit-learn's own callbacks, where it has them and some were set."""
        if not getattr(self, "_skl_callbacks", None):
            return None
        root = self._init_callback_context(max_subtasks=self.burn_in + self.n_kept)
        return root.call_on_fit_task_begin(estimator=self)

    def _told_to_stop(self, record: Record, task: Task, root: Any) -> bool:
        state = record.last
        assert state is not None
        if self.callback is not None:
            kept = len(record.eta)
            told = task.order.to_rows(state)
            self.callback(Progress(state.sweep, kept, state.log_likelihood, state.acceptance, told))
        if root is None:
            return False
        step = root.subcontext(task_name="sweep").call_on_fit_task_begin(estimator=self)
        return bool(
            step.call_on_fit_task_end(
                estimator=self,
                metadata={"log_likelihood": state.log_likelihood},
                reconstruction_attributes=lambda: self._results(record, task),
            )
        )

    def _results(self, record: Record, task: Task) -> dict[str, Any]:
        """Fitted attributes; topics in the order of their effect on the first response."""
        assert record.last is not None
        scale, kept = task.scale, record.kept or keep(record.last)
        features = task.plan.response
        if self._refits():
            eta, noise = refitted(
                to_model(kept), task.counts, task.Y, effective_n_jobs(self.n_jobs)
            )
            kept, features = replace(kept, eta=kept.n * eta, noise=kept.n * noise), "mixture"
        model, eta = to_model(kept, scale), scale.centre + scale.scale * kept.eta / kept.n
        calibrated = self._calibrated(model, task)
        if calibrated is not None:
            model, eta, features = calibrated.model, calibrated.model.eta[:, None], "mixture"
        order = np.lexsort((-model.alpha, model.eta))
        model, eta = model.reordered(order), eta[order]
        draws = scale.centre + scale.scale * np.array(record.eta or [record.last.eta])[:, order]
        one = eta.shape[1] == 1
        more = {}
        if calibrated is not None:
            more = {"predictive_variance_": calibrated.predictive_variance}
        return (
            of_model(model)
            | more
            | {
                "coef_": eta[:, 0] if one else eta.T,
                "coef_draws_": draws[:, :, 0] if one else np.moveaxis(draws, 2, 1),
                "noise_variance_": model.sigma**2,
                "noise_variance_draws_": scale.scale**2
                * np.array(record.noise or [record.last.noise]),
                "features_": features,
            }
        )


def of_model(model: Model) -> dict[str, Any]:
    """Attributes of the model alone."""
    return {"model_": model, "components_": model.mu.T, "alpha_": model.alpha}


def refitted(model: Model, counts: Counts, Y: Array, n_threads: int) -> tuple[Array, float]:
    """Ridge regression of each response on h inferred from words alone, as at prediction.

    Coefficients, one column per response, and the variance they leave.
    """
    h = infer(model, counts, n_threads=n_threads)
    eta = np.column_stack([regress(Products.of(h, y)).eta for y in Y.T])
    return eta, float(((Y - h @ eta) ** 2).mean())


def fitted_to(estimator: Any, half: Corpus, n_threads: int, *, refit: bool = True) -> Model:
    """The estimator's model of half of the documents.

    With ``refit``, its coefficients are those of proportions inferred from words, as predictions
    are.  What there is to warn of, the fit to all documents has warned of; Ctrl-C is an error.
    """
    X = as_csr(half.counts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", InterruptedWarning)
        model: Model = estimator.fit(X, half.y).model_
    if not refit:
        return model
    eta, _ = refitted(model, X, half.y[:, None], n_threads)
    return replace(model, eta=eta[:, 0])


def continued(state: State, order: KeyOrder, task: Task, n_topics: int) -> State:
    """The state of the last fit's rows in the order of keys; refused if of other documents."""
    was = (*state.shares.shape, len(state.mu), state.eta.shape[1])
    now = (task.counts.shape[0], n_topics, task.counts.shape[1], task.Y.shape[1])
    words = int(task.counts.data.sum())
    if was != now or (task.plan.response == "assignments" and len(state.z) != words):
        raise ValueError(
            f"warm_start=True with {now[0]} documents of {words} words over {now[2]} word types, "
            f"{now[1]} topics and {now[3]} responses, but the chain so far has {was[0]} documents "
            f"over {was[2]} word types, {was[1]} topics and {was[3]} responses; fit the same "
            "documents, or set warm_start=False"
        )
    if not np.array_equal(order.keys, task.order.keys):
        raise ValueError(
            f"warm_start=True with {now[0]} documents, but the chain so far is of {was[0]} others; "
            "fit the same documents, in any order, or set warm_start=False"
        )
    return order.of_rows(state)


def check_chain(estimator: SampledTopics, may_choose: bool = False) -> None:
    """What all chains ask of their parameters; some choose the number of topics."""
    e = estimator
    check_running(e.n_jobs, e.random_state)
    chosen = [may_choose and is_auto(value) for value in (e.n_topics, e.alpha0, e.beta)]
    check_prior(1 if chosen[0] else e.n_topics, 1.0 if chosen[1] else e.alpha0)
    check_real("beta", 0.1 if chosen[2] else e.beta, 1e-6, "try 0.1")
    check_whole("n_kept", e.n_kept, "try 100")
    check_whole("burn_in", e.burn_in, "try 200", low=0)
    check_real("tolerance", e.tolerance, 0, "the paper's is 1e-3")
    check_choice("warm_start", e.warm_start, (True, False))
    if e.callback is not None and not callable(e.callback):
        raise ValueError(
            f"callback={e.callback!r}, but expected None or a function of one argument, the "
            "Progress of the chain"
        )
