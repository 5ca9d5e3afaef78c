"""A factor: a table of non-negative numbers over some variables, linear or in logs.

    f(x_1, …, x_k) ≥ 0        table[i_1, …, i_k], or its logarithm

``table`` holds f and ``log_table`` log f, whichever of them was given.  A factor keeps the numbers
it was given (``stored``) and says their ``scale``, so that reading and writing lose nothing.
log 0 = −inf survives every operation.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike

from likely._typing import Array
from likely.caching import cached_property
from likely.errors import InvalidInput
from likely.graphical.model.variable import Variable, by_name
from likely.output.formatting import short_number, text_table

Scale = Literal["linear", "log"]
MOST_VARIABLES = 64  # axes of an array


@final
@dataclass(frozen=True, eq=False)
class Factor:
    """A table over ``variables``, one axis for each, in their order.

    ``scale`` says what the numbers that are given are: "linear" (potentials, probabilities; at
    least 0) or "log" (log-potentials; −inf is a potential of 0).  ``table`` are the values and
    ``log_table`` their logs, on either scale.

    >>> Factor([Variable("a", 2)], [0.0, -np.inf], scale="log").table
    array([1., 0.])
    """

    variables: tuple[Variable, ...]
    stored: Array  # the numbers as they were given, on their scale
    scale: Scale = "linear"
    name: str = ""

    def __init__(
        self,
        variables: Sequence[Variable],
        table: ArrayLike | Callable[..., float],
        *,
        scale: Scale = "linear",
        name: str = "",
    ) -> None:
        variables = tuple(variables)
        for variable in variables:
            if not isinstance(variable, Variable):
                raise InvalidInput(
                    f"A variable of a factor is {variable!r}; a Variable with its states was "
                    f"expected. Use Variable({variable!r}, 2)."
                )
        by_name(variables)
        if len(variables) > MOST_VARIABLES:
            raise InvalidInput(
                f"A factor depends on {len(variables)} variables; at most {MOST_VARIABLES} were "
                "expected. Leave out variables with one state, or split the factor."
            )
        if scale not in ("linear", "log"):
            raise InvalidInput(f"scale={scale!r} was given; use 'linear' or 'log'.")
        object.__setattr__(self, "variables", variables)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "stored", _checked_table(variables, table, scale, self.title))

    @property
    def title(self) -> str:
        """The factor's name, or its scope: ``f(a, b)``."""
        return self.name or f"f({', '.join(self.scope)})"

    @cached_property
    def scope(self) -> tuple[str, ...]:
        """The names of its variables."""
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def log_table(self) -> Array:
        """log f, −inf where f is 0."""
        if self.scale == "log":
            return self.stored
        with np.errstate(divide="ignore"):
            return _frozen(np.asarray(np.log(self.stored)))

    @cached_property
    def table(self) -> Array:
        """f itself; exp of a log-potential may overflow, so inference reads ``log_table`` then."""
        if self.scale == "linear":
            return self.stored
        with np.errstate(over="ignore", under="ignore"):
            return _frozen(np.asarray(np.exp(self.stored)))

    def log_value(self, codes: Mapping[str, int]) -> float:
        """log f of one configuration, given as the code of each variable."""
        return float(self.log_table[tuple(codes[name] for name in self.scope)])

    def given(self, codes: Mapping[str, int]) -> "Factor":
        """The factor with some variables fixed: a slice over the others."""
        if codes.keys().isdisjoint(self.scope):
            return self
        index = tuple(codes.get(name, slice(None)) for name in self.scope)
        free = [variable for variable in self.variables if variable.name not in codes]
        return Factor(free, self.stored[index], scale=self.scale, name=self.name)

    def __str__(self) -> str:
        """The numbers given, with their states: a line for each cell of the first axes.

        Logs have a line above them that says so.
        """
        title = f"log {self.title}" if self.scale == "log" else self.title
        if not self.variables:
            return f"{title} = {short_number(float(self.stored))}"
        *above, last = self.variables
        head = [*(v.name for v in above), *(f"{last.name}={state}" for state in last.states)]
        rows = [
            [*cell, *(short_number(value) for value in self.stored[codes].tolist())]
            for cell, codes in zip(
                product(*(v.states for v in above)),
                product(*(range(v.n_states) for v in above)),
                strict=True,
            )
        ]
        above_logs = [f"{title}:"] if self.scale == "log" else []
        return "\n".join([*above_logs, *text_table(head, rows, words=range(len(above)))])

    def __repr__(self) -> str:
        return f"Factor({self.title}, {'×'.join(map(str, self.stored.shape)) or '1'}, {self.scale})"


def all_variables(
    factors: tuple[Factor, ...], variables: Iterable[Variable] | None
) -> tuple[Variable, ...]:
    """The variables given, or those of the factors; one name has one list of states."""
    listed = None if variables is None else by_name(tuple(variables))
    known: dict[str, Variable] = dict(listed or {})
    for factor in factors:
        for variable in factor.variables:
            if listed is not None and variable.name not in listed:
                raise InvalidInput(
                    f"{factor.title} depends on {variable.name!r}, which is not among the "
                    "variables; every variable of a factor was expected there. Add it."
                )
            if known.setdefault(variable.name, variable).states != variable.states:
                raise InvalidInput(
                    f"{variable.name!r} has the states {', '.join(variable.states[:8])} in "
                    f"{factor.title} and {', '.join(known[variable.name].states[:8])} elsewhere; "
                    "the same states in the same order were expected."
                )
    return tuple(known.values())


def factor_names(variables: Iterable[str], titles: Iterable[str]) -> tuple[str, ...]:
    """A name of its own for each factor: its title, as "title (2)" where that is taken."""
    names = dict.fromkeys(variables, 1)
    found = []
    for title in titles:
        name = title
        while name in names:
            names[title] += 1
            name = f"{title} ({names[title]})"
        names[name] = 1
        found.append(name)
    return tuple(found)


def table_of(variables: Sequence[Variable], table: ArrayLike | Callable[..., float]) -> Array:
    """A table as an array; a function is called with the states of each cell, as they were given.

    States given as a number of them are 0, 1, …
    """
    shape = tuple(variable.n_states for variable in variables)
    try:
        if not callable(table):
            return np.array(table, dtype=float)
        states = product(*(variable.values for variable in variables))
        return np.array([table(*cell) for cell in states], dtype=float).reshape(shape)
    except (TypeError, ValueError) as error:
        scope = ", ".join(variable.name for variable in variables)
        raise InvalidInput(
            f"The table over ({scope}) holds something that is no number ({error}); numbers in the "
            f"shape {shape} were expected, or a function of states, such as "
            f"{', '.join(repr(v.values[0]) for v in variables)}."
        ) from error


def _checked_table(
    variables: tuple[Variable, ...],
    table: ArrayLike | Callable[..., float],
    scale: Scale,
    title: str,
) -> Array:
    shape = tuple(variable.n_states for variable in variables)
    numbers = table_of(variables, table)
    if numbers.shape != shape:
        if numbers.ndim == 1 and numbers.size == np.prod(shape, dtype=float):
            numbers = numbers.reshape(shape)
        else:
            sizes = ", ".join(f"{v.name} has {v.n_states}" for v in variables)
            raise InvalidInput(
                f"The table of {title} has the shape {numbers.shape}; {shape} was expected, one "
                f"axis for each variable ({sizes} states)."
            )
    low, least = (0.0, "at least 0") if scale == "linear" else (-np.inf, "less than infinity")
    bad = np.isnan(numbers) | (numbers < low) | (numbers == np.inf)
    if bad.any():
        cell = tuple(int(i) for i in np.argwhere(bad)[0])
        named = ", ".join(f"{v.name}={v.states[i]}" for v, i in zip(variables, cell, strict=True))
        raise InvalidInput(
            f"The table of {title} holds {numbers[cell]:g} at ({named}); numbers {least} were "
            f"expected on the {scale} scale."
        )
    return _frozen(numbers)


def _frozen(table: Array) -> Array:
    table.setflags(write=False)
    return table
