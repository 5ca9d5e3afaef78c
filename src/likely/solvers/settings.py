"""Checks of the numbers that rules, schedules and updates are made of."""

from math import inf
from numbers import Integral, Real
from typing import TypeGuard

from likely.errors import InvalidInput


def refuse_unless_whole(rule: str, name: str, value: object, advice: str) -> None:
    """Refuse anything but a whole number of at least 1."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise InvalidInput(
            f"{rule} has {name}={value!r}; a whole number of at least 1 was expected. {advice}"
        )


def refuse_unless_number(
    rule: str, name: str, value: object, advice: str, *, above: bool = False, most: float = inf
) -> None:
    """Refuse a number below 0 or above ``most``, NaN, inf, and 0 where it must be ``above`` it."""
    if is_number(value) and 0 <= value <= most and value < inf and not (above and value == 0):
        return
    least = "above 0" if above else "of at least 0"
    limit = least if most == inf else f"from 0 to {most:g}"
    raise InvalidInput(f"{rule} has {name}={value!r}; a number {limit} was expected. {advice}")


def refuse_unless_share(
    rule: str, name: str, value: object, advice: str, *, above: bool = False
) -> None:
    """Refuse a number outside [0, 1), or outside (0, 1) where it must be ``above`` 0."""
    if not (is_number(value) and 0 <= value < 1) or (above and value == 0):
        limit = "between 0 and 1" if above else "from 0 up to, but not including, 1"
        raise InvalidInput(f"{rule} has {name}={value!r}; a number {limit} was expected. {advice}")


def refuse_step(name: str, length: object) -> None:
    """Refuse the length of a step that is not a finite number above 0."""
    if not is_number(length) or not 0 < length < inf:
        raise InvalidInput(
            f"{name}={length!r} was given as the length of a step; a finite number above 0 was "
            "expected, because a step goes downhill. Use 0.01."
        )


def is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool)
