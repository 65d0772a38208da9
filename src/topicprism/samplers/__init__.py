"""Another way to a Model: Gibbs sampling.

    state    what is known at each moment                    Observed, Plan, State
    gibbs    one sweep over everything unknown               State -> State
    medlda   responses with a margin                         Tube, Hinge
    chain    burn-in, then the sweeps that are kept          Schedule

A sampler is ``init``, ``sweep`` and ``to_model``; the caller owns the loop.
"""

from topicprism.samplers.chain import Progress, Schedule, chain
from topicprism.samplers.gibbs import sweep
from topicprism.samplers.medlda import Hinge, Tube
from topicprism.samplers.state import (
    Gaussian,
    Observed,
    Plan,
    State,
    flat,
    init,
    keep,
    observe,
    to_model,
)

__all__ = [
    "Gaussian",
    "Hinge",
    "Observed",
    "Plan",
    "Progress",
    "Schedule",
    "State",
    "Tube",
    "chain",
    "flat",
    "init",
    "keep",
    "observe",
    "sweep",
    "to_model",
]
