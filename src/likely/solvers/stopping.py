"""When to stop: rules that combine.

    Tolerance(1e-8) | Iterations(100) | Seconds(60)        the first that applies
    Tolerance(1e-8) & Iterations(5)                        all must apply

A rule is a pure function of the progress of a search, and gives the reason to stop.  A search has
converged only if a rule that *certifies* applied: ``Tolerance``, and combinations with it.

References
----------
Prechelt, Early stopping — but when?, 1998 (patience).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan
from typing import Any, NamedTuple, Protocol, final

import numpy as np

from likely.errors import InvalidInput
from likely.solvers.settings import is_number, refuse_unless_number, refuse_unless_whole

ROUNDING = 1e-13  # relative: sums of a million terms, merged pairwise


class HasUnit(Protocol):
    """A function with a unit of gaps, in which ``tol`` is measured.

    For a model it is the null deviance, so that constants in y, the dispersion and the unit of
    the weights have no effect.
    """

    @property
    def unit(self) -> float | None: ...


def scale_of(objective: HasUnit, value: float) -> float:
    """The unit of a gap where f has this value; max(1, |f|) where the function has none."""
    return max(1.0, abs(value)) if objective.unit is None else objective.unit


def rounding_of(objective: HasUnit, value: float) -> float:
    """The rounding error of f: a line search must allow for it."""
    return ROUNDING * max(scale_of(objective, value), abs(value))


class Progress(NamedTuple):
    """The progress of a search."""

    gap: float  # in the unit of the objective
    trace: Sequence[float]  # the objective, from the start to now
    seconds: float = 0.0
    last_step: tuple[Any, Any] | None = None  # θ before the last step, and after it
    stuck: str = ""  # why the solver can take no further step
    held_out: Sequence[float] = ()  # the loss on held-out rows, from the start to now

    @property
    def n_iter(self) -> int:
        return len(self.trace) - 1


class Stop(NamedTuple):
    """The reason to stop, and whether it certifies convergence."""

    reason: str
    converged: bool


class StoppingRule(ABC):
    """The contract of a rule."""

    @abstractmethod
    def verdict(self, progress: Progress) -> Stop | None:
        """The reason to stop; None to continue."""

    def held_out_rule(self) -> "HeldOutPatience | None":
        """The rule that asks for held-out rows; None where none does."""
        return None

    def __or__(self, other: "StoppingRule") -> "StoppingRule":
        return FirstOf((self, other))

    def __and__(self, other: "StoppingRule") -> "StoppingRule":
        return AllOf((self, other))


@final
@dataclass(frozen=True)
class Tolerance(StoppingRule):
    """The gap to the optimum is small enough, in the solver's certified measure."""

    tol: float = 1e-8

    def verdict(self, progress: Progress) -> Stop | None:
        if not progress.gap <= self.tol:
            return None
        return Stop(f"the gap {progress.gap:.1e} is within tol={self.tol:g}", converged=True)


@final
@dataclass(frozen=True)
class Stuck(StoppingRule):
    """The solver can take no further step and gives the reason, or its gap is NaN."""

    def verdict(self, progress: Progress) -> Stop | None:
        if progress.stuck:
            return Stop(progress.stuck, converged=False)
        return Stop("the gap is not a number", False) if isnan(progress.gap) else None


@final
@dataclass(frozen=True)
class Iterations(StoppingRule):
    max_iter: int = 1000

    def __post_init__(self) -> None:
        refuse_unless_whole("Iterations", "max_iter", self.max_iter, "Use 100.")

    def verdict(self, progress: Progress) -> Stop | None:
        return limit_of_steps(self.max_iter, progress)


def limit_of_steps(max_iter: int, progress: Progress) -> Stop | None:
    """The verdict of a limit on the number of steps; a search may have none."""
    if progress.n_iter < max_iter:
        return None
    gap = f"{progress.gap:.1e}" if isfinite(progress.gap) else "unknown size"
    return Stop(f"max_iter={max_iter} was reached with a gap of {gap}", converged=False)


@final
@dataclass(frozen=True)
class Seconds(StoppingRule):
    """A limit on the time; the current step is finished."""

    limit: float

    def __post_init__(self) -> None:
        refuse_unless_number("Seconds", "limit", self.limit, "Use 60.", above=True)

    def verdict(self, progress: Progress) -> Stop | None:
        if progress.seconds < self.limit:
            return None
        reason = f"{self.limit:g} seconds had passed, with a gap of {progress.gap:.1e}"
        return Stop(reason, converged=False)


@final
@dataclass(frozen=True)
class Patience(StoppingRule):
    """No improvement by more than ``least`` in the last ``steps`` steps."""

    steps: int = 10
    least: float = 0.0

    def __post_init__(self) -> None:
        refuse_unless_whole("Patience", "steps", self.steps, "Use 10.")
        refuse_unless_number("Patience", "least", self.least, "Use 0.")

    def verdict(self, progress: Progress) -> Stop | None:
        since = steps_since_best(progress.trace, self.least)
        if since < self.steps:
            return None
        return Stop(f"the objective has not fallen for {since} steps", converged=False)


@final
@dataclass(frozen=True)
class HeldOutPatience(StoppingRule):
    """The loss on held-out rows has not fallen for ``steps`` steps; the best point is kept.

    A model holds out a ``share`` of its rows, of each class the same, by ``random_state``.
    """

    steps: int = 5
    share: float = 0.2
    least: float = 0.0  # a smaller fall is none
    random_state: int = 0

    def __post_init__(self) -> None:
        refuse_unless_whole("HeldOutPatience", "steps", self.steps, "Use 5.")
        refuse_unless_number("HeldOutPatience", "least", self.least, "Use 0.")
        if not (is_number(self.share) and 0 < self.share < 1):
            raise InvalidInput(
                f"HeldOutPatience has share={self.share!r}; a share between 0 and 1 was expected. "
                "Use 0.2."
            )

    def verdict(self, progress: Progress) -> Stop | None:
        if not progress.held_out:
            raise InvalidInput(
                "HeldOutPatience was given to a search that holds no rows out; it is a rule for "
                "estimators. Use stop=HeldOutPatience() of a model, or Patience() here."
            )
        if steps_since_best(progress.held_out, self.least) < self.steps:
            return None
        best = int(np.argmin(progress.held_out))
        reason = (
            f"the held-out loss has not fallen for {self.steps} steps; step {best} is kept, whose "
            f"loss a row is {progress.held_out[best]:.4g}"
        )
        return Stop(reason, converged=False)

    def held_out_rule(self) -> "HeldOutPatience | None":
        return self


def steps_since_best(values: Sequence[float], least: float) -> int:
    """How many steps ago a value last fell below the best before it by more than ``least``."""
    best, since = values[0], 0
    for value in values[1:]:
        best, since = (value, 0) if value < best - least else (best, since + 1)
    return since


@final
@dataclass(frozen=True)
class SmallChange(StoppingRule):
    """The last step changed the objective by less than ``least``: slow, not always near."""

    least: float = 1e-10

    def __post_init__(self) -> None:
        refuse_unless_number("SmallChange", "least", self.least, "Use 1e-10.", above=True)

    def verdict(self, progress: Progress) -> Stop | None:
        change = abs(progress.trace[-1] - progress.trace[-2]) if progress.n_iter else inf
        if not change < self.least:
            return None
        return Stop(f"the objective changed by {change:.1e}, less than {self.least:g}", False)


@final
@dataclass(frozen=True)
class SmallStep(StoppingRule):
    """The last step moved no parameter by ``least``; for parameters that are an array."""

    least: float = 1e-10

    def __post_init__(self) -> None:
        refuse_unless_number("SmallStep", "least", self.least, "Use 1e-10.", above=True)

    def verdict(self, progress: Progress) -> Stop | None:
        if progress.last_step is None:
            return None
        before, after = progress.last_step
        moved = float(np.abs(np.subtract(after, before)).max(initial=0.0))
        if not moved < self.least:
            return None
        return Stop(f"the parameters moved by {moved:.1e}, less than {self.least:g}", False)


@final
@dataclass(frozen=True)
class FirstOf(StoppingRule):
    """The first rule that applies, in the given order."""

    rules: tuple[StoppingRule, ...]

    def verdict(self, progress: Progress) -> Stop | None:
        verdicts = (rule.verdict(progress) for rule in self.rules)
        return next((verdict for verdict in verdicts if verdict is not None), None)

    def held_out_rule(self) -> HeldOutPatience | None:
        return _first_held_out(self.rules)


@final
@dataclass(frozen=True)
class AllOf(StoppingRule):
    """All rules together; converged if one of them certifies."""

    rules: tuple[StoppingRule, ...]

    def verdict(self, progress: Progress) -> Stop | None:
        verdicts = []
        for rule in self.rules:
            verdict = rule.verdict(progress)
            if verdict is None:
                return None
            verdicts.append(verdict)
        reason = " and ".join(verdict.reason for verdict in verdicts)
        return Stop(reason, any(verdict.converged for verdict in verdicts))

    def held_out_rule(self) -> HeldOutPatience | None:
        return _first_held_out(self.rules)


def _first_held_out(rules: tuple[StoppingRule, ...]) -> HeldOutPatience | None:
    return next((found for rule in rules if (found := rule.held_out_rule()) is not None), None)
