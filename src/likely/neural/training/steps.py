"""How the parameters of a network move in an epoch: mini-batch steps, or one step of L-BFGS.

Each kind of step has a state that a checkpoint can keep, as arrays by name.  ``training.py`` has
the loop around them, which is the same for both.

    mini-batches    θ ← update(θ, gradient of a batch) for each batch of the epoch's order
    L-BFGS          θ ← θ + t d, one line search on the summed loss of all rows
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar, final

import numpy as np

from likely._typing import Array, Codes
from likely.neural.engine import Engine, TrainingState
from likely.neural.objective import NetworkObjective
from likely.neural.training.examples import PreparedExamples
from likely.solvers.base import FirstOrder, FirstOrderObjective
from likely.solvers.lbfgs import LBFGS, LBFGSState, Pair
from likely.solvers.line_search import NO_LOWER_VALUE
from likely.solvers.mini_batches import Batches, ShuffledBatches, epoch_order
from likely.solvers.updates import Update

S = TypeVar("S")
NEAR = 1e-8  # a gap at which a search that finds no lower value has reached its optimum
FLAT = 1e-6  # nats a row: a slope at which it has, where there is no gap


class Ending(NamedTuple):
    """Why training ends, and whether there was nothing left to gain."""

    reason: str
    converged: bool


class Steps(ABC, Generic[S]):
    """The steps of an epoch."""

    @abstractmethod
    def start(self, theta: Array) -> S:
        """The state before the first epoch."""

    @abstractmethod
    def epoch(self, state: S, number: int, rate: float) -> tuple[S, float]:
        """The state after an epoch, numbered from 0, and its running mean loss."""

    @abstractmethod
    def theta(self, state: S) -> Array: ...

    @abstractmethod
    def arrays(self, state: S) -> dict[str, Array]:
        """All that the state is made of."""

    @abstractmethod
    def restored(self, arrays: Mapping[str, Array]) -> S:
        """The state of such arrays."""

    def ending(self, state: S, tol: float | None) -> Ending | None:
        """Why no further step is needed or possible; None where one is."""
        return None


@final
@dataclass(frozen=True, eq=False)
class MiniBatchSteps(Steps[TrainingState]):
    """Steps on the batches of an order that is keyed by the seed and the epoch."""

    engine: Engine
    rows: PreparedExamples
    batches: Batches
    seed: int
    labels: Codes | None = None  # for balanced batches

    def start(self, theta: Array) -> TrainingState:
        return self.engine.start(theta)

    def epoch(self, state: TrainingState, number: int, rate: float) -> tuple[TrainingState, float]:
        if not isinstance(self.batches, ShuffledBatches):
            return self._drawn(state, number, rate)
        total, weight = 0.0, 0.0
        size = self.batches.window
        for window in self.rows.windows(size):
            first = window.first + window.start
            order = (
                epoch_order(window.n_rows, self.seed, number, window=size, first=first)
                if self.batches.shuffle
                else np.arange(window.n_rows, dtype=np.intp)
            )
            state, loss = self.engine.epoch(
                state,
                window.rows,
                order + window.start,
                batch=self.batches.size,
                rate=rate,
                epoch=number,
                first_index=window.first,
            )
            part = slice(window.start, window.start + window.n_rows)
            here = window.rows.weight
            heavy = float(window.n_rows if here is None else here[part].sum())
            total, weight = total + heavy * loss, weight + heavy
        return state, total / weight

    def _drawn(self, state: TrainingState, number: int, rate: float) -> tuple[TrainingState, float]:
        """An epoch whose rows are drawn from all of them."""
        rows = self.rows.whole()
        order = self.batches.order(rows.n_rows, self.seed, number, self.labels)
        return self.engine.epoch(
            state, rows, order, batch=self.batches.size, rate=rate, epoch=number
        )

    def theta(self, state: TrainingState) -> Array:
        return state.theta

    def arrays(self, state: TrainingState) -> dict[str, Array]:
        return state_arrays(state)

    def restored(self, arrays: Mapping[str, Array]) -> TrainingState:
        return TrainingState(arrays["theta"], arrays["slots"], int(arrays["step"][0]))


def state_arrays(state: TrainingState) -> dict[str, Array]:
    """All that a state of mini-batch training is made of."""
    return {"theta": state.theta, "slots": state.slots, "step": np.array([state.step])}


def kept_state(state: dict[str, Array], update: Update | None) -> dict[str, Array]:
    """What an update rule remembers, besides the parameters; nothing of L-BFGS."""
    if update is None:
        return {}
    memory = {name: array for name, array in state.items() if name != "theta"}
    return {**memory, "rule": np.array([update.compiled().kind])}


def continued_state(state: dict[str, Array], update: Update | None) -> dict[str, Array] | None:
    """The memory to continue from; None where another rule left it, to which it means nothing."""
    same = update is not None and "rule" in state and state["rule"][0] == update.compiled().kind
    return state if same else None


@final
@dataclass(frozen=True, eq=False)
class PartlyFrozen(FirstOrderObjective):
    """An objective of which some parameters stay as they are: their gradient is 0.

    L-BFGS then never moves them, because its directions are sums of gradients and past steps.
    """

    inner: NetworkObjective
    frozen: Array  # Booleans
    unit: float | None = None

    def value(self, theta: Array) -> float:
        return self.inner.value(theta)

    def first_order(self, theta: Array) -> FirstOrder:
        here = self.inner.first_order(theta)
        return FirstOrder(here.value, np.where(self.frozen, 0.0, here.gradient))


@final
@dataclass(frozen=True, eq=False)
class QuasiNewtonSteps(Steps[LBFGSState]):
    """Steps of L-BFGS on the loss of all rows."""

    objective: FirstOrderObjective
    weight: float  # Σ w, by which the value is divided
    solver: LBFGS = field(default_factory=LBFGS)

    def start(self, theta: Array) -> LBFGSState:
        return self.solver.init(self.objective, np.array(theta, dtype=np.float64))

    def epoch(self, state: LBFGSState, number: int, rate: float) -> tuple[LBFGSState, float]:
        state = self.solver.step(self.objective, state)
        return state, state.value / self.weight

    def theta(self, state: LBFGSState) -> Array:
        return np.asarray(state.theta)

    def arrays(self, state: LBFGSState) -> dict[str, Array]:
        p = state.theta.size
        pairs = [np.array(part) for part in zip(*state.pairs, strict=True)]
        steps, changes = pairs or (np.empty((0, p)), np.empty((0, p)))
        return {
            "theta": state.theta,
            "gradient": state.gradient,
            "steps": steps,
            "changes": changes,
            "measures": np.array([state.value, state.gap, float(bool(state.stuck))]),
        }

    def restored(self, arrays: Mapping[str, Array]) -> LBFGSState:
        value, gap, stuck = arrays["measures"].tolist()
        pairs = zip(arrays["steps"], arrays["changes"], strict=True)
        return LBFGSState(
            theta=arrays["theta"],
            value=value,
            gap=gap,
            stuck=NO_LOWER_VALUE if stuck else "",
            gradient=arrays["gradient"],
            pairs=tuple(Pair(*pair) for pair in pairs),
        )

    def ending(self, state: LBFGSState, tol: float | None) -> Ending | None:
        if tol is not None and state.gap <= tol:
            return Ending(f"the gap {state.gap:.1e} is within tol={tol:g}", converged=True)
        if not state.stuck:
            return None
        slope = float(np.abs(state.gradient).max(initial=0.0)) / self.weight
        return Ending(state.stuck, converged=state.gap <= NEAR or slope <= FLAT)
