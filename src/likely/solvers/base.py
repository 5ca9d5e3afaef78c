"""The contract between an objective and a solver.

A solver sees an objective only as a function of θ that is already summed over the
data; it never sees a row, a block or an executor.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar, final, runtime_checkable

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.numerics.additive import FieldwiseAdditive

UNDERFLOW = 1e-150  # slopes below it have squares of 0, and so may curvatures in a tail


@final
@dataclass(frozen=True, eq=False)
class SecondOrder(FieldwiseAdditive):
    """f, ∇f and ∇²f (or its expectation) at one θ.  Sums over examples add."""

    value: float
    gradient: Array
    hessian: Array


class HasSecondOrder(Protocol):
    """What Newton's method reads: every ``SmoothObjective`` has it."""

    @property
    def unit(self) -> float | None: ...

    def second_order(self, theta: Array) -> SecondOrder: ...


class SmoothObjective(ABC):
    """f(θ), to be minimised, already summed."""

    unit: float | None = None  # of gaps: see ``stopping.scale_of``

    @abstractmethod
    def second_order(self, theta: Array) -> SecondOrder: ...

    def hessian(self, theta: Array) -> Array:
        """∇²f(θ), or its expectation."""
        return self.second_order(theta).hessian


@final
@dataclass(frozen=True, eq=False)
class FirstOrder(FieldwiseAdditive):
    """f and ∇f at one θ.  Sums over examples add."""

    value: float
    gradient: Array


class FirstOrderObjective(ABC):
    """f(θ), to be minimised, already summed; for solvers that need no Hessian.

    A subclass with ``value`` and ``first_order`` is what ``minimise`` takes; so is a pair of
    functions (f, ∇f), or any object with ``value`` and ``gradient``.  ``unit`` is the scale in
    which ``tol`` is measured; None is ``max(1, |f|)``.

    >>> from likely.solvers import LBFGS, minimise
    >>> minimise(LBFGS(), (lambda x: (x[0] - 3.0) ** 2, lambda x: 2 * (x - 3.0)), [0.0]).theta
    array([3.])
    """

    unit: float | None = None

    @abstractmethod
    def value(self, theta: Array) -> float: ...

    @abstractmethod
    def first_order(self, theta: Array) -> FirstOrder: ...

    def gradient(self, theta: Array) -> Array:
        """∇f(θ)."""
        return self.first_order(theta).gradient


@runtime_checkable
class ValueAndGradient(Protocol):
    """Any object with f and ∇f, to be minimised by a solver that needs no Hessian."""

    def value(self, theta: Array) -> float: ...

    def gradient(self, theta: Array) -> Array: ...


@final
@dataclass(frozen=True, eq=False)
class FunctionPair(FirstOrderObjective):
    """f and ∇f as two plain functions."""

    function: Callable[[Array], Any]
    slope: Callable[[Array], Any]

    def value(self, theta: Array) -> float:
        found = self.function(theta)
        try:
            return float(found)
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"The value is {found!r:.60}; one number was expected. Return f(θ) as a float."
            ) from error

    def first_order(self, theta: Array) -> FirstOrder:
        gradient = np.asarray(self.slope(theta), dtype=np.float64)
        if gradient.shape != np.shape(theta):
            raise InvalidInput(
                f"The gradient has shape {gradient.shape}; expected {np.shape(theta)}, one number "
                "for each parameter. Return the derivative by each of them."
            )
        return FirstOrder(self.value(theta), gradient)


def with_gradient(given: object) -> FirstOrderObjective | None:
    """f and ∇f of a pair of functions, or of any object that has them; None where there are none.

    An object has them in the methods ``value`` and ``gradient``, or in ``second_order``.
    """
    if isinstance(given, FirstOrderObjective):
        return given
    if isinstance(given, SmoothObjective):
        return FunctionPair(
            lambda theta: given.second_order(theta).value,
            lambda theta: given.second_order(theta).gradient,
        )
    if isinstance(given, ValueAndGradient):
        return FunctionPair(given.value, given.gradient)
    if isinstance(given, tuple | list) and len(given) == 2 and all(map(callable, given)):
        return FunctionPair(*given)
    return None


def as_objective(given: object, solver: "type[Solver[Any, Any]]") -> Any:
    """What a solver can minimise: an objective as it is, or one made of f and ∇f."""
    if solver.contract is None or isinstance(given, solver.contract):
        return given
    found = with_gradient(given)
    if found is None or solver.contract is not FirstOrderObjective:
        what = f"{given!r:.80}" if found is None else "a value and a gradient"
        advice = (
            "Give objective(X, y) of a model, a pair of functions (f, ∇f), or an object with "
            "value and gradient"
            if found is None
            else "Use LBFGS() or GradientDescent()"
        )
        raise InvalidInput(
            f"{solver.__name__} was given {what}; it needs {solver.needs}. {advice}."
        )
    return found


def without_curvature(parameter: int) -> str:
    """The reason to stop at a parameter with a gradient but no curvature."""
    return f"the likelihood is flat in parameter {parameter}, so the search could not continue"


@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """The state that the loop reads; each solver adds its own fields."""

    theta: Any  # the parameters: an array, or a fitted model
    value: float
    gap: float  # f(θ) − min f as the solver estimates it, in the unit of the objective
    stuck: str = ""  # why no further step is possible


Objective = TypeVar("Objective", contravariant=True)


S = TypeVar("S", bound=State)


class Solver(ABC, Generic[Objective, S]):
    """Two pure functions; the loop is in ``minimise``."""

    name: ClassVar[str]
    contract: ClassVar[type | None] = None  # of its objectives; None is any
    needs: ClassVar[str] = ""  # what the contract has, in words

    @abstractmethod
    def init(self, objective: Objective, theta: Any) -> S: ...

    @abstractmethod
    def step(self, objective: Objective, state: S) -> S: ...


class Kinked(ABC):
    """f(θ) with kinks, which certifies its own gap.

    A smooth solver uses the decrease predicted by a quadratic model as its gap.  At a kink the
    model is wrong: a search may stall far from the optimum with a gap of 0.
    """

    unit: float | None = None

    @abstractmethod
    def gap(self, theta: Array) -> float:
        """f(θ) − min f at most; inf where no bound is known."""
