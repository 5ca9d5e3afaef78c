"""Checks of given parameters: numbers of the right shape, in the right range.

A member made by hand checks its parameters; one that a family has learned is valid by
construction and is not checked (``Distribution.trusted``).
"""

from typing import Any

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.storage.declarations import LARGEST, LARGEST_SPREAD, SMALLEST_SPREAD, refuse

SPREADS = ("variance", "covariance", "scale")


def numbers(owner: str, name: str, value: Any) -> Array:
    """An array of floats: the one that was given, if it is one."""
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        return value  # itself, so that parts of a model still share it
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"The {name} of {owner} must be an array of numbers; found {type(value).__name__}. "
            "Give one row per component."
        ) from None


def component_rows(owner: str, name: str, value: Any) -> Array:
    """Numbers of shape (n_components, n_features)."""
    values = numbers(owner, name, value)
    if values.ndim != 2:
        raise InvalidInput(
            f"The {name} of {owner} has shape {values.shape}; expected (n_components, n_features). "
            "Give one row per component."
        )
    return values


def refuse_parameters(owner: str, name: str, values: Array, good: Array, expected: str) -> None:
    """Raise for the first parameter that is not ``good``."""
    if not good.all():
        at = tuple(int(i) for i in np.argwhere(~good)[0])
        raise InvalidInput(
            f"The {name} of {owner} must be {expected}; found {values[at]:g} at {list(at)}. "
            "Give another number there."
        )


def refuse_other_shape(owner: str, names: tuple[str, str], one: Array, other: Array) -> None:
    if one.shape != other.shape:
        raise InvalidInput(
            f"The {names[0]} of {owner} has shape {one.shape} and the {names[1]} {other.shape}; "
            "they must have the same. Give one number per component and feature in both."
        )


def refuse_not_on_simplex(probability: Array) -> None:
    """Refuse rows that are not probabilities."""
    total = probability.sum(axis=-1)
    if not (probability >= 0).all() or not np.allclose(total, 1.0, rtol=0, atol=1e-8):
        worst = total.flat[np.abs(total - 1).argmax()]
        raise InvalidInput(
            f"Probabilities must be at least 0 and sum to 1; these sum to {worst:g}. "
            "Divide them by their sum."
        )


def check_size(what: str, name: str, value: Array) -> None:
    """Refuse numbers that cannot be subtracted and squared, and spreads that cannot divide."""
    if name not in SPREADS:
        refuse(what, value, lambda x: np.abs(x) <= LARGEST, "at most 1e150 in size")
        return
    refuse(what, value, lambda x: np.abs(x) <= LARGEST_SPREAD, "at most 1e300 in size")
    diagonal = np.einsum("kii->ki", value) if value.ndim == 3 else value
    diagonal = diagonal[diagonal != 0]  # of a constant column
    refuse(what, diagonal, lambda x: x >= SMALLEST_SPREAD, "at least 1e-300")
