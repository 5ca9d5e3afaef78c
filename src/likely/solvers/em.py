"""Expectation–maximisation: total the expected statistics, then fit them in closed form.

    E   S(θ) = Σ_i E[ T(x_i, z_i) | x_i, θ ]        M   θ ← argmax_θ log p(S, θ) + log p(θ)

The value is minus the penalised log-likelihood of the observed data, which an M step never
raises.  The gap is its last fall, in nats per example.

References
----------
Dempster, Laird & Rubin, Maximum likelihood from incomplete data via the EM algorithm, 1977.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any, ClassVar, NamedTuple, final

from likely.solvers.base import Solver, State


class Expectation(NamedTuple):
    """An E step, totalled over the data."""

    totals: Any
    log_posterior: float  # log p(data | θ) + log p(θ)
    weight: float  # Σ_i w_i


class ExpectationObjective(ABC):
    """A model with something unobserved."""

    @abstractmethod
    def expect(self, theta: Any) -> Expectation: ...

    @abstractmethod
    def maximise(self, totals: Any) -> Any: ...


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class EMState(State):
    totals: Any
    weight: float


@final
@dataclass(frozen=True)
class EM(Solver[ExpectationObjective, EMState]):
    """One step is one pass over the data."""

    name: ClassVar[str] = "EM"

    def init(self, objective: ExpectationObjective, theta: Any) -> EMState:
        here = objective.expect(theta)
        value = -here.log_posterior
        stuck = "" if isfinite(value) else "the likelihood is not finite"
        return EMState(
            theta=theta, value=value, gap=inf, totals=here.totals, weight=here.weight, stuck=stuck
        )

    def step(self, objective: ExpectationObjective, state: EMState) -> EMState:
        there = self.init(objective, objective.maximise(state.totals))
        gap = abs(state.value - there.value) / max(there.weight, 1.0)
        return EMState(
            theta=there.theta,
            value=there.value,
            gap=gap,
            totals=there.totals,
            weight=there.weight,
            stuck=there.stuck,
        )
