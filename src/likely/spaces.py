"""Which settings a search may try, declared once for every kind of search.

Each dimension is a map from the unit interval onto its values, so that random draws, grids and
numeric samplers all use the same declaration:

    linear        x = low + u (high − low)
    log           x = low (high/low)ᵘ                    log x is uniform where u is
    with a zero   x = 0 for u < z, else as above at (u − z)/(1 − z)

A penalty may be exactly 0, hence the zero; a setting that only matters for some values of another
(the degree of a polynomial kernel) is a ``Conditional`` and is left out where it is not used.

To add a kind of dimension, write one class and list it in ``DIMENSIONS``: the laws in
``tests/test_spaces.py`` read that list.

References
----------
Bergstra & Bengio, Random search for hyper-parameter optimization, JMLR 13, 2012.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import exp, floor, inf, isfinite, log, nextafter
from numbers import Real as RealNumber
from typing import TYPE_CHECKING, Any, final

from likely.errors import InvalidInput, UnknownName

__all__ = [
    "DIMENSIONS",
    "Choice",
    "Conditional",
    "Dimension",
    "Integer",
    "Real",
    "Space",
]

if TYPE_CHECKING:
    import numpy as np

Parameters = dict[str, Any]  # constructor arguments, by name

LAST_BELOW_ONE = nextafter(1.0, 0.0)  # u = 1 belongs to the last value, not after it


class Dimension(ABC):
    """The contract of one setting: a map from [0, 1] onto its values."""

    @property
    def levels(self) -> int | None:
        """The number of values without an order; None where values have an order."""
        return None

    def active(self, chosen: Mapping[str, Any]) -> bool:
        """Whether it is used, given the settings chosen before it."""
        return True

    def needs(self) -> str | None:
        """The setting that must be declared before this one."""
        return None

    @abstractmethod
    def from_unit(self, u: float) -> Any: ...

    @abstractmethod
    def to_unit(self, value: Any) -> float | None:
        """A u that maps to the value; None where the value was not declared."""

    @abstractmethod
    def grid(self, n: int) -> tuple[Any, ...]:
        """At most ``n`` values, including both ends; all of them where they have no order."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The declaration as JSON values, with its ``kind``."""


@final
@dataclass(frozen=True)
class Real(Dimension):
    """A number between ``low`` and ``high``; ``zero`` is the share of draws that are exactly 0."""

    low: float
    high: float
    log: bool = False
    zero: float = 0.0

    def __post_init__(self) -> None:
        _check_range(self, self.low, self.high, log_scale=self.log)
        if not 0.0 <= self.zero < 1.0:
            raise InvalidInput(
                f"zero={self.zero!r} is not a share of the draws; expected 0 up to, not including, "
                "1. Give 0.25 for a setting that is off in every fourth draw."
            )

    def from_unit(self, u: float) -> float:
        if u < self.zero:
            return 0.0
        return self._at((u - self.zero) / (1 - self.zero))

    def to_unit(self, value: Any) -> float | None:
        if not _is_number(value):
            return None
        if value == 0 and self.zero:
            return self.zero / 2
        if not self.low <= value <= self.high:
            return None
        part = _position(value, self.low, self.high, log_scale=self.log)
        return self.zero + part * (1 - self.zero)

    def grid(self, n: int) -> tuple[float, ...]:
        off = (0.0,) if self.zero else ()
        count = max(1, n - len(off))
        inside = (self._at(k / (count - 1) if count > 1 else 0.5) for k in range(count))
        return (*off, *dict.fromkeys(inside))

    def to_json(self) -> dict[str, Any]:
        return {"kind": "real", **asdict(self)}

    def _at(self, part: float) -> float:
        if self.log:
            x = exp(log(self.low) + part * (log(self.high) - log(self.low)))
        else:
            x = self.low + part * (self.high - self.low)
        return min(max(x, self.low), self.high)  # rounding must not leave the range


@final
@dataclass(frozen=True)
class Integer(Dimension):
    """A whole number from ``low`` to ``high``, both included."""

    low: int
    high: int
    log: bool = False

    def __post_init__(self) -> None:
        _check_range(self, self.low, self.high, log_scale=self.log)

    def from_unit(self, u: float) -> int:
        u = min(u, LAST_BELOW_ONE)
        if not self.log:
            return self.low + floor(u * (self.high - self.low + 1))
        # each integer has half a step on either side, so that the ends are not rarer
        low, high = self.low - 0.5, self.high + 0.5
        x = exp(log(low) + u * (log(high) - log(low)))
        return min(max(round(x), self.low), self.high)

    def to_unit(self, value: Any) -> float | None:
        if not _is_number(value) or value != int(value) or not self.low <= value <= self.high:
            return None
        if not self.log:
            return (value - self.low + 0.5) / (self.high - self.low + 1)
        return _position(value, self.low - 0.5, self.high + 0.5, log_scale=True)

    def grid(self, n: int) -> tuple[int, ...]:
        values = Real(self.low, self.high, log=self.log).grid(n) if self.low < self.high else ()
        return tuple(dict.fromkeys(round(x) for x in values)) or (self.low,)

    def to_json(self) -> dict[str, Any]:
        return {"kind": "integer", **asdict(self)}


@final
@dataclass(frozen=True)
class Choice(Dimension):
    """One of several values without an order."""

    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))
        if not self.values:
            raise InvalidInput("A Choice was given no values; expected at least one. Name them.")

    @property
    def levels(self) -> int:
        return len(self.values)

    def from_unit(self, u: float) -> Any:
        return self.values[floor(min(u, LAST_BELOW_ONE) * len(self.values))]

    def to_unit(self, value: Any) -> float | None:
        value = tuple(value) if isinstance(value, list) else value  # as JSON has it
        for k, candidate in enumerate(self.values):
            candidate = tuple(candidate) if isinstance(candidate, list) else candidate
            if type(candidate) is type(value) and candidate == value:  # True is not 1 here
                return (k + 0.5) / len(self.values)
        return None

    def grid(self, n: int) -> tuple[Any, ...]:
        return self.values

    def to_json(self) -> dict[str, Any]:
        values = [list(value) if isinstance(value, tuple) else value for value in self.values]
        return {"kind": "choice", "values": values}


@final
@dataclass(frozen=True)
class Conditional(Dimension):
    """A dimension that is used only where the setting ``on`` has one of ``values``."""

    dimension: Dimension
    on: str
    values: tuple[Any, ...]

    @property
    def levels(self) -> int | None:
        return self.dimension.levels

    def active(self, chosen: Mapping[str, Any]) -> bool:
        return self.on in chosen and chosen[self.on] in self.values

    def needs(self) -> str | None:
        return self.on

    def from_unit(self, u: float) -> Any:
        return self.dimension.from_unit(u)

    def to_unit(self, value: Any) -> float | None:
        return self.dimension.to_unit(value)

    def grid(self, n: int) -> tuple[Any, ...]:
        return self.dimension.grid(n)

    def to_json(self) -> dict[str, Any]:
        inner = self.dimension.to_json()
        return {"kind": "conditional", "on": self.on, "values": list(self.values), "of": inner}


DIMENSIONS: dict[str, type[Dimension]] = {
    "real": Real,
    "integer": Integer,
    "choice": Choice,
    "conditional": Conditional,
}


@final
@dataclass(frozen=True)
class Space:
    """Settings by name; one that depends on another comes after it."""

    dimensions: Mapping[str, Dimension]

    def __post_init__(self) -> None:
        seen: list[str] = []
        for name, dimension in self.dimensions.items():
            needed = dimension.needs()
            if needed is not None and needed not in seen:
                raise InvalidInput(
                    f"The setting {name!r} depends on {needed!r}; expected that one before it. "
                    f"Declare {needed!r} first."
                )
            seen.append(name)

    @property
    def names(self) -> list[str]:
        return list(self.dimensions)

    def __len__(self) -> int:
        return len(self.dimensions)

    def from_unit(self, u: Sequence[float]) -> Parameters:
        """The settings at a point of the unit cube; unused ones are left out."""
        chosen: Parameters = {}
        for part, (name, dimension) in zip(u, self.dimensions.items(), strict=True):
            if dimension.active(chosen):
                chosen[name] = dimension.from_unit(float(part))
        return chosen

    def to_unit(self, parameters: Mapping[str, Any]) -> list[float] | None:
        """A point that maps to the settings (½ where unused); None where they are outside."""
        point = []
        for name, dimension in self.dimensions.items():
            if not dimension.active(parameters):
                point.append(0.5)
                continue
            u = dimension.to_unit(parameters[name]) if name in parameters else None
            if u is None:
                return None
            point.append(u)
        return point

    def sample(self, rng: "np.random.Generator") -> Parameters:
        """One draw.  Unused settings use a random number too, so that later ones do not change."""
        return self.from_unit(rng.random(len(self)).tolist())

    def grid(self, n: int | Mapping[str, int]) -> list[Parameters]:
        """Every combination of ``n`` values each (a number, or one by name), without repeats."""
        counts = dict(n) if isinstance(n, Mapping) else dict.fromkeys(self.dimensions, n)
        for name in self.dimensions:
            if counts.get(name, 1) < 1:
                raise InvalidInput(f"A grid of {counts[name]} values for {name!r}: give 1 or more.")
        found: list[Parameters] = [{}]
        for name, dimension in self.dimensions.items():
            values = dimension.grid(counts.get(name, 1))
            found = [
                more
                for chosen in found
                for more in (
                    [{**chosen, name: value} for value in values]
                    if dimension.active(chosen)
                    else [chosen]
                )
            ]
        return found

    def to_json(self) -> dict[str, Any]:
        return {name: dimension.to_json() for name, dimension in self.dimensions.items()}


def dimension_of(name: str, declared: Any) -> Dimension:
    """A dimension as it was declared, or a ``Choice`` among the values of a list."""
    if isinstance(declared, Dimension):
        return declared
    if isinstance(declared, list | tuple) and declared:
        return Choice(tuple(declared))
    raise InvalidInput(
        f"The setting {name!r} was declared as {declared!r}; expected Real, Integer, Choice, "
        "Conditional, or a list of values. Write Real(1e-3, 1e3, log=True), for instance."
    )


def space_from(declared: "Space | Mapping[str, Any]", known: Sequence[str] | None = None) -> Space:
    """A space as it was declared, its names checked against those ``known`` to the model."""
    space = declared
    if not isinstance(space, Space):
        space = Space({name: dimension_of(name, value) for name, value in space.items()})
    for name in space.names if known is not None else ():
        if known is not None and name not in known:
            raise UnknownName("setting", name, known)
    return space


def _check_range(given: Dimension, low: float, high: float, *, log_scale: bool) -> None:
    finite = _is_number(low) and _is_number(high) and isfinite(low) and isfinite(high)
    lowest = 0.0 if log_scale else -inf
    if not (finite and lowest < low <= high):
        rule = "0 < low ≤ high" if log_scale else "low ≤ high"
        raise InvalidInput(
            f"{given!r} is not a range; expected finite numbers with {rule}. "
            "Swap the ends, or drop log=True for a range that contains 0."
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, RealNumber) and not isinstance(value, bool)


def _position(x: float, low: float, high: float, *, log_scale: bool) -> float:
    """The position of x between low and high, from 0 to 1."""
    if low == high:
        return 0.5
    if log_scale:
        return (log(x) - log(low)) / (log(high) - log(low))
    return (x - low) / (high - low)
