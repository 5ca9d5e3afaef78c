"""Penalty strengths: given as one number, one per column or by name, and spread to parameters.

    Σ_j λ_j|β_j| + ½ Σ_j κ_j β_j²        λ: l1, κ: l2

The categories of a column share its strength.  A penalised intercept takes the largest.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput, UnknownName
from likely.inputs.estimators import feature_names
from likely.penalties import L1, L2, ElasticNet

if TYPE_CHECKING:
    from likely.linear.coding import Coding
    from likely.linear.framing import Framing


def is_penalised(*strengths: Any) -> bool:
    """Whether any strength is above 0."""
    return any(np.asarray(numbers(strength)).any() for strength in strengths)


def per_column(estimator: Any, name: str, strength: Any, n_columns: int) -> Array:
    """One strength per input column."""
    if isinstance(strength, Mapping):
        known = list(feature_names(estimator))
        given = {str(column): float(value) for column, value in strength.items()}
        for column in given:
            if column not in known:
                raise UnknownName(f"column for {name}", column, known)
        return np.array([given.get(column, 0.0) for column in known])
    values = numbers(strength, name)
    if values.ndim > 1 or (values.ndim == 1 and len(values) != n_columns):
        raise InvalidInput(
            f"{name} has shape {values.shape}; X has {n_columns} columns. "
            "Give one number, one per column, or a mapping from names to numbers."
        )
    return np.broadcast_to(values, (n_columns,))


def numbers(strength: Any, name: str = "a penalty") -> Array:
    if isinstance(strength, Mapping):
        return np.array([float(value) for value in strength.values()])
    if isinstance(strength, L1 | L2):
        if name in ("l1", "l2") and name != type(strength).__name__.lower():
            raise InvalidInput(
                f"{name}={strength!r} was given; {name} takes a number or an {name.upper()}. "
                f"Give it as {type(strength).__name__.lower()}."
            )
        strength = strength.l1 if isinstance(strength, L1) else strength.l2
    try:
        if strength is None or isinstance(strength, str):
            raise TypeError("no number")
        return np.asarray(strength, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"{name}={strength!r} is not a strength; a number of at least 0 was expected. "
            "Use 0 for no penalty."
        ) from error


def elastic_net(
    estimator: Any, coding: "Coding", framing: "Framing", *, l1: Any, l2: Any, intercept: bool
) -> ElasticNet:
    """The penalty on all parameters; that of the intercept is 0 unless it is penalised."""
    strengths = [
        _per_parameter(estimator, name, strength, coding, framing, intercept)
        for name, strength in (("l1", l1), ("l2", l2))
    ]
    return ElasticNet(*strengths)


def _per_parameter(
    estimator: Any, name: str, strength: Any, coding: "Coding", framing: "Framing", intercept: bool
) -> Array:
    columns = per_column(estimator, name, strength, len(coding.schema.kinds))
    out = columns[coding.column_of_coefficient()]
    if not framing.intercept:
        return out
    return np.append(out, columns.max(initial=0.0) if intercept else 0.0)
