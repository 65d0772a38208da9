"""How long a chain runs: burn-in, then the sweeps that are kept.

The loop is a generator: whoever asks for the next state owns it, and may stop,
look, or go on from any state later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from topicprism._typing import Array
from topicprism.samplers.gibbs import sweep
from topicprism.samplers.state import SAMPLER, Observed, Plan, State


@dataclass(frozen=True)
class Schedule:
    """``burn_in`` sweeps, fewer if the chain settles before, then ``n_kept`` to average."""

    burn_in: int = 200
    n_kept: int = 100
    tolerance: float = 0.0  # of the paper's rule; 0 runs the whole burn-in


@dataclass(frozen=True)
class Progress:
    """The argument of a callback after each sweep."""

    sweep: int  # since the chain began
    kept: int  # sweeps kept so far
    log_likelihood: float  # of training words and responses, per word
    acceptance: float  # of Metropolis steps in this sweep
    state: State


def chain(
    data: Observed, state: State, plan: Plan, schedule: Schedule, n_threads: int = 1
) -> Iterator[tuple[State, bool]]:
    """States one after the other, and whether each is to be kept."""
    trace: list[float] = []
    while len(trace) < schedule.burn_in and not has_converged(trace, schedule.tolerance):
        state = sweep(data, state, plan, n_threads)
        trace.append(state.log_likelihood)
        yield state, False
    for _ in range(schedule.n_kept):
        state = sweep(data, state, plan, n_threads)
        yield state, True


def has_converged(trace: list[float] | Array, tolerance: float) -> bool:
    """The paper's rule: relative changes of the log-likelihood average under ``tolerance``."""
    if len(trace) <= SAMPLER.window:
        return False
    last = np.asarray(trace[-SAMPLER.window - 1 :], dtype=float)
    return bool(np.mean(np.abs(np.diff(last) / last[:-1])) < tolerance)
