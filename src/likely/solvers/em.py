"""Expectation–maximisation: sum the expected statistics, then fit them in closed form.

    E   S(θ) = Σ_i E[ T(x_i, z_i) | x_i, θ ]        M   θ ← argmax_θ log p(S, θ) + log p(θ)

The value is minus the penalised log-likelihood of the observed data, which an M step never
increases.  EM converges linearly, so that a small step is not a small distance.  From two
successive decreases, Δ and Δ', Aitken's estimate of the remaining gain is

    gap = Δ' r / (1 − r) / Σ_i w_i,   r = Δ' / Δ        (unknown while r ≥ 1, on a plateau)

Divided by the weight of the data, it is a share of the null deviance: one component has a deviance
of one per row, in units of its variance.  Units and the scale of the weights have no effect.

References
----------
Dempster, Laird & Rubin, Maximum likelihood from incomplete data via the EM algorithm, 1977.
McLachlan & Krishnan, The EM Algorithm and Extensions, 2nd ed., §4.9 (Aitken's acceleration).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any, ClassVar, NamedTuple, final

from likely.solvers.base import Solver, State
from likely.solvers.stopping import ROUNDING


class Expectation(NamedTuple):
    """An E step, summed over the data."""

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
    fall: float = inf  # of the value in the last step


@final
@dataclass(frozen=True)
class EM(Solver[ExpectationObjective, EMState]):
    """One step is one pass over the data."""

    name: ClassVar[str] = "EM"
    contract: ClassVar[type] = ExpectationObjective
    needs: ClassVar[str] = "an ExpectationObjective of likely.solvers"

    def init(self, objective: ExpectationObjective, theta: Any) -> EMState:
        here = objective.expect(theta)
        value = -here.log_posterior
        stuck = "" if isfinite(value) else "the likelihood is not finite"
        return EMState(
            theta=theta, value=value, gap=inf, totals=here.totals, weight=here.weight, stuck=stuck
        )

    def step(self, objective: ExpectationObjective, state: EMState) -> EMState:
        there = self.init(objective, objective.maximise(state.totals))
        fall = abs(state.value - there.value)
        if fall <= ROUNDING * abs(there.value):
            left = fall
        else:
            left = fall * fall / (state.fall - fall) if fall < state.fall < inf else inf
        return replace(there, gap=left / there.weight, fall=fall)
