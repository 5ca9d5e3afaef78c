"""A log-linear classifier at one row as a conditional factor graph.

    P(y | x) = (1/Z(x)) Π_t φ_t(x_t, y)        φ_t(x_t, y) = exp{w_t,y x_t}

There is one factor for each coefficient of the model, and one for the intercept: the number of
parameters is linear in the number of columns, and x has no distribution.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from likely._typing import Array
from likely.data.layouts.intercept import Design
from likely.errors import InvalidInput
from likely.graphical.conditional_graph import ConditionalGraph
from likely.graphical.factor import Factor
from likely.graphical.variable import Variable

TARGET = "class"  # the variable of the classes, where no other name is given

NamedFactor = tuple[str, Array]  # log φ_t(x_t, ·), (K,), or (1,) for the second of two classes


def row_graph(
    design: Design,
    terms: Sequence[str],
    coef: Array,
    constants: Sequence[NamedFactor],
    classes: Array,
    target: str,
) -> ConditionalGraph:
    """The graph of a design of one row; for two classes, ``coef`` (1, p) is that of the second.

    ``constants`` are factors that read no value of x, such as the intercept.
    """
    refuse_several_rows(design.n_rows)
    row = design.rmatmat(np.ones(1))  # Xᵀ1: the row itself, in any layout
    given = dict(zip(terms, row.tolist(), strict=True))
    log_factors = [*constants, *zip(terms, (coef * row).T, strict=True)]
    return graph_of_factors(log_factors, given, classes, target)


def graph_of_factors(
    log_factors: Iterable[NamedFactor], given: Mapping[str, object], classes: Array, target: str
) -> ConditionalGraph:
    """The graph of log φ_t(x_t, ·), at the given values of x."""
    variable = Variable(target, classes.tolist())
    factors = [
        Factor([variable], _of_each_class(values), scale="log", name=name)
        for name, values in log_factors
    ]
    return ConditionalGraph(factors, [variable], given=given)


def refuse_several_rows(n_rows: int) -> None:
    if n_rows != 1:
        raise InvalidInput(
            f"X has {n_rows} rows; a conditional factor graph is that of one row. "
            "Pass X[:1], for instance."
        )


def _of_each_class(values: Array) -> Array:
    return values if len(values) > 1 else np.array([0.0, values[0]])
