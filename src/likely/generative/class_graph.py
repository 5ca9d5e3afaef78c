"""A generative classifier as a factor graph: a factor for the class, and one for each column.

    P(y, x) = P(y) Π_j P(x_j | y)

Discrete columns are variables with a table.  The cells of a row that is given are no variables, but
likelihoods of the classes, p(x_j | y), which is how continuous columns enter.  A missing cell is
left out, or remains a variable where the column is discrete: the posterior of y is the same, as
Σ P(x_j | y) = 1.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.formatting import quoted
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.variable import State, Variable

MOST_NAMED = 3  # columns in a message


class ClassColumn(NamedTuple):
    """A column of a classifier: its table, if it is discrete."""

    name: str
    states: Sequence[State]
    log_table: Array | None  # log p(state | class), (n_classes, n_states)

    def factor(self, target: Variable) -> Factor:
        """P(x_j | y), indexed [class, state]."""
        assert self.log_table is not None  # the caller keeps discrete columns
        scope = [target, Variable(self.name, self.states)]
        return Factor(scope, self.log_table, scale="log")

    @property
    def is_variable(self) -> bool:
        """Whether it has a table with at least one state."""
        return self.log_table is not None and self.log_table.shape[1] > 0


def class_network(
    target: Variable, log_prior: Array, columns: Sequence[ClassColumn]
) -> BayesianNetwork:
    """The network class → column of a model whose columns are all discrete."""
    _refuse_same_name(target, columns)
    continuous = [column.name for column in columns if column.log_table is None]
    if continuous:
        raise InvalidInput(
            f"The model has no table of states for {quoted(continuous, MOST_NAMED)}; discrete "
            "columns were expected. Pass a row, as in factor_graph(X[:1]), whose numbers enter as "
            "likelihoods, or set discretize."
        )
    prior = Factor([target], log_prior, scale="log")
    tables = [column.factor(target) for column in columns if column.is_variable]
    return BayesianNetwork([prior, *tables])


def class_graph(
    target: Variable,
    log_prior: Array,
    columns: Sequence[ClassColumn],
    log_likelihood: Array,
) -> FactorGraph:
    """The graph given a row: ``log_likelihood`` (n_columns, n_classes), 0 in a missing cell."""
    _refuse_same_name(target, columns)
    factors = [Factor([target], log_prior, scale="log", name=target.name)]
    for column, values in zip(columns, log_likelihood, strict=True):
        if np.any(values):
            factors.append(Factor([target], values, scale="log", name=column.name))
        elif column.is_variable:
            factors.append(column.factor(target))
    return FactorGraph(factors)


def _refuse_same_name(target: Variable, columns: Sequence[ClassColumn]) -> None:
    if target.name in [column.name for column in columns]:
        raise InvalidInput(
            f"A column is called {target.name!r}, as is the variable of the classes; different "
            "names were expected. Pass target='…', a name for the classes."
        )


def refuse_several_rows(n_rows: int) -> None:
    if n_rows != 1:
        raise InvalidInput(
            f"X has {n_rows} rows; the factor graph of one row was expected. Pass X[:1], for "
            "instance, or leave X out for the graph of the model."
        )
