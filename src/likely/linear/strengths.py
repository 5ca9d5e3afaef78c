"""Penalty strengths of all parameters, from those of the columns.

    Σ_j λ_j|β_j| + ½ Σ_j κ_j β_j²        λ: l1, κ: l2

The categories of a column share its strength.  A penalised intercept takes the largest.
"""

from typing import Any

import numpy as np

from likely._typing import Array
from likely.linear.coding import Coding
from likely.linear.framing import Framing
from likely.linear.per_column import per_column
from likely.penalties import ElasticNet


def elastic_net(
    estimator: Any, coding: Coding, framing: Framing, *, l1: Any, l2: Any, intercept: bool
) -> ElasticNet:
    """The penalty on all parameters; that of the intercept is 0 unless it is to be penalised."""
    strengths = [
        _per_parameter(estimator, name, strength, coding, framing, intercept)
        for name, strength in (("l1", l1), ("l2", l2))
    ]
    return ElasticNet(*strengths)


def _per_parameter(
    estimator: Any, name: str, strength: Any, coding: Coding, framing: Framing, intercept: bool
) -> Array:
    columns = per_column(estimator, name, strength, len(coding.schema.kinds))
    out = columns[coding.column_of_coefficient()]
    if not framing.intercept:
        return out
    return np.append(out, columns.max(initial=0.0) if intercept else 0.0)
