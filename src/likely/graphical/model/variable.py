"""A discrete variable: a name, and the names of its states.

Names and states are text; ``values`` are the states as they were given, such as numbers, and that
is what answers hold.  In evidence, integers and Booleans match the state with the same
text, and floats match if they are whole numbers: 1, 1.0 and "1" are the state "1".  True is the
state "True", and where there is none, "true" or "TRUE".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Integral, Real
from typing import final

import numpy as np

from likely.caching import cached_property
from likely.errors import InvalidInput, UnknownState

State = str | int | float | bool
NUMBERS = {int, float}


@final
@dataclass(frozen=True)
class Variable:
    """A variable with named states.

    ``Variable("rain", ("no", "yes"))``; a number of states stands for 0, 1, ….

    >>> Variable("rain", 2).states, Variable("rain", 2).values
    (('0', '1'), (0, 1))
    """

    name: str
    states: tuple[str, ...]

    def __init__(self, name: object, states: int | Iterable[State]) -> None:
        values = _given_states(str(name), states)
        object.__setattr__(self, "name", str(name))
        object.__setattr__(self, "states", _state_names(str(name), values))
        object.__setattr__(self, "_given", values)

    @property
    def values(self) -> tuple[State, ...]:
        """The states as they were given, such as numbers, which answers hold.

        They are text where they came from a file of a format that has no types.
        """
        given: tuple[State, ...] = self.__dict__["_given"]
        return given

    @property
    def n_states(self) -> int:
        return len(self.states)

    @cached_property
    def codes(self) -> dict[str, int]:
        """The position of each state."""
        return {state: code for code, state in enumerate(self.states)}

    def find(self, state: object) -> int | None:
        """The position of a state; None for an unknown one.

        A Boolean is also the only state called true, TRUE, … where none is called True.
        """
        found = self.codes.get(state_text(state))
        if found is None and isinstance(state, bool | np.bool_):
            word = str(bool(state)).lower()
            alike = [code for code, name in enumerate(self.states) if name.lower() == word]
            return alike[0] if len(alike) == 1 else None
        return found

    def code(self, state: object) -> int:
        """The position of a state; an unknown one raises and suggests the nearest."""
        found = self.find(state)
        if found is None:
            raise UnknownState(self.name, state_text(state), self.states)
        return found


def state_text(state: object) -> str:
    """A state as text: whole numbers without a decimal point, everything else by ``str``."""
    if isinstance(state, str):
        return state
    if isinstance(state, bool | np.bool_):
        return str(bool(state))
    if isinstance(state, Integral):
        return str(int(state))
    if isinstance(state, Real) and float(state).is_integer():
        return str(int(float(state)))
    return str(state)


def _given_states(name: str, states: int | Iterable[State]) -> tuple[State, ...]:
    """The states as they were given; a number of them counts from 0."""
    if isinstance(states, str):
        raise InvalidInput(
            f"The states of {name!r} are the text {states!r}; a list of states was expected, "
            "or their number. Use [...] around it."
        )
    if isinstance(states, Integral) and not isinstance(states, bool):
        return tuple(range(int(states)))
    if isinstance(states, bool) or not isinstance(states, Iterable):
        raise InvalidInput(
            f"The states of {name!r} are {states!r}; a list of states was expected, or their "
            "number. Use [...] around them."
        )
    return tuple(each.item() if isinstance(each, np.generic) else each for each in states)


def _state_names(name: str, values: tuple[State, ...]) -> tuple[str, ...]:
    names = tuple(state_text(state) for state in values)
    if not names:
        raise InvalidInput(f"{name!r} has no states; at least one was expected. Name its states.")
    repeated = {state for state in names if names.count(state) > 1} if len(names) < 1000 else ()
    if repeated or len(set(names)) < len(names):
        shown = ", ".join(sorted(repeated)) or "some"
        raise InvalidInput(
            f"{name!r} has the same state twice ({shown}); states with different names were "
            "expected. Rename one."
        )
    return names


def by_name(variables: Sequence[Variable]) -> dict[str, Variable]:
    """Variables by name; a name that occurs twice is refused."""
    named = {variable.name: variable for variable in variables}
    if len(named) < len(variables):
        names = [variable.name for variable in variables]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInput(
            f"Two variables are called {twice!r}; different names were expected. Rename one."
        )
    return named


def column_of_states(values: Iterable[State]) -> list[State]:
    """States as one column of a table or of a file: as given where all are alike, else as text."""
    listed = list(values)
    kinds = {type(value) for value in listed}
    numbers = kinds <= NUMBERS and all(isfinite(float(value)) for value in listed)
    return listed if numbers or kinds in ({str}, {bool}) else [state_text(each) for each in listed]
