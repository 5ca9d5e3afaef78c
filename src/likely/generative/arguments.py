"""Checks of constructor arguments that several estimators share."""

from typing import Any

import numpy as np

from likely.errors import InvalidInput


def refuse_unless_whole(name: str, value: Any, *, lowest: int, advice: str) -> None:
    """A whole number from ``lowest`` up; True is not one."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < lowest:
        raise InvalidInput(
            f"{name} must be a whole number, at least {lowest}; found {value!r}. {advice}"
        )


def is_number(value: Any) -> bool:
    """Whether the value is one real number, neither True nor NaN."""
    number = isinstance(value, int | float | np.integer | np.floating)
    return number and not isinstance(value, bool) and value == value


def refuse_unless_number(name: str, value: Any, *, lowest: float, advice: str) -> None:
    """A finite number from ``lowest`` up."""
    if not is_number(value) or not lowest <= value < np.inf:
        limit = "" if lowest == -np.inf else f", {lowest:g} or more"
        raise InvalidInput(f"{name} must be a finite number{limit}; found {value!r}. {advice}")
