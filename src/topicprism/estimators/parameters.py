"""Parameters that several estimators have, each with its default: once.

An estimator's annotated defaults are its parameters, those of its bases included.  They make its
``__init__``, whose signature is what scikit-learn's ``get_params`` and ``clone`` go by.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, dataclass_transform

from topicprism.defaults import AUTO
from topicprism.samplers import Progress

CPU = "cpu"
Callback = Callable[[Progress], object]
C = TypeVar("C")


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def parameters(kind: type[C]) -> type[C]:
    """A class whose annotated defaults are parameters, which all have to be named."""
    return dataclass(eq=False, repr=False, kw_only=True)(kind)


@parameters
class Running:
    n_jobs: int | None = None
    random_state: Any = None


@parameters
class Given(Running):
    """Topics as the user wants them; their number may be given without its name."""

    n_topics: int = field(default=10, kw_only=False)
    alpha0: float = 1.0


@parameters
class Chosen(Running):
    """The same where the data may choose."""

    n_topics: int | str = field(default=AUTO, kw_only=False)
    alpha0: float | str = AUTO


@parameters
class Placed:
    """Where sums over documents are computed and proportions are inferred."""

    device: str = CPU


@parameters
class Chain(Running):
    burn_in: int = 200
    n_kept: int = 100
    tolerance: float = 0.0
    warm_start: bool = False
    callback: Callback | None = None


@parameters
class GivenChain(Given, Chain):
    beta: float = 0.1


@parameters
class Tensor(Placed, Chosen):
    regime: str = AUTO
    whitening: str = AUTO
    n_restarts: int = 100
    n_iterations: int = 100
    inference: str = "propagation"


@parameters
class EM(Given):
    beta: float = 0.01
    n_iterations: int = 100
    tolerance: float = 1e-4


@parameters
class Anchored(Running):
    n_topics: int = field(default=10, kw_only=False)
    alpha0: float | str = AUTO
    min_df: float = 0.02
    n_dimensions: int = 1000
