"""A log-linear classifier at given rows as a conditional factor graph, and back.

    P(y | x) = (1/Z(x)) Π_t φ_t(x_t, y)        φ_t(x_t, y) = exp{w_t f_t(x_t, y)}

At each row there is one factor for each coefficient of the model, and one for the intercept: the
number of parameters is linear in the number of columns, and x has no distribution.  The classes of
several rows are independent given x.  The weights are read back from any such graph:

    w_t,k = Σ_i x_it log φ_t(x_it, k) / Σ_i x_it²
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from likely._typing import Array
from likely.data.layouts.base import Design
from likely.errors import InvalidInput
from likely.graphical.model.conditional_graph import ConditionalGraph
from likely.graphical.model.factor import Factor
from likely.graphical.model.variable import Variable
from likely.output.formatting import listed

TARGET = "class"  # the variable of the classes, where no other name is given
SAME = 1e-9  # of the largest log factor: rounding of a graph that was saved or scaled stays below

Constant = tuple[str, Array]  # of log φ(·) in each row: (n, K), or (n, 1) for the second of two


def row_graph(
    design: Design,
    terms: Sequence[str],
    coef: Array,
    constants: Sequence[Constant],
    classes: Array,
    target: str,
) -> ConditionalGraph:
    """The graph of the rows of a design; for two classes, ``coef`` (1, p) is that of the second.

    ``constants`` are factors that read no value of x, such as the intercept.
    """
    rows = design.rmatmat(np.eye(design.n_rows)).T  # (n, p), in any layout
    return graph_of_factors(terms, rows, rows[:, None] * coef, constants, classes, target)


def graph_of_factors(
    terms: Sequence[str],
    given: Array,
    log_factors: Array,
    constants: Sequence[Constant],
    classes: Array,
    target: str,
) -> ConditionalGraph:
    """The graph of log φ_t, (n, K, p), at ``given``: x_t (n, p), or f_t of each class (n, p, K).

    One row has the plain names; of several, those of row i end in [i].
    """
    factors: list[Factor] = []
    variables: list[Variable] = []
    values: dict[str, object] = {}
    for i, row in enumerate(log_factors):
        suffix = f"[{i}]" if len(log_factors) > 1 else ""
        variable = Variable(target + suffix, classes.tolist())
        named = [(name, each[i]) for name, each in constants]
        named += zip(terms, row.T, strict=True)
        factors += [
            Factor([variable], _of_each_class(table), scale="log", name=name + suffix)
            for name, table in named
        ]
        variables.append(variable)
        values.update(zip((t + suffix for t in terms), given[i].tolist(), strict=True))
    return ConditionalGraph(factors, variables, given=values)


class GraphWeights(NamedTuple):
    """The weights that the factors of a graph have, and the rows that it was made for."""

    terms: tuple[str, ...]
    given: Array  # x, (n, p), or f(x, y), (n, K, p)
    coef: Array  # (K, p), or (p,) of features of x and y
    intercept: Array | None  # (K,)
    classes: Array

    @property
    def of_classes(self) -> bool:
        """Whether a feature has a value for each class."""
        return self.given.ndim == 3

    def model(self, estimator: Any) -> Any:
        """The estimator with these weights; columns are numbers, with the names of the terms."""
        n_classes = len(self.classes)
        if self.of_classes:
            objective = estimator.objective(
                np.repeat(self.given, n_classes, axis=0), np.tile(self.classes, len(self.given))
            )
            return objective.fitted_model(self.coef)
        X: Any = np.repeat(self.given, n_classes, axis=0)
        if self.terms != tuple(f"x{j}" for j in range(len(self.terms))):
            X = pa.table(dict(zip(self.terms, X.T, strict=True)))
        objective = estimator.objective(X, np.tile(self.classes, len(self.given)))
        intercept = np.zeros(n_classes) if self.intercept is None else self.intercept
        coef = self.coef
        if objective.packing.coef_shape == (1, len(self.terms)):  # of the second of two classes
            coef, intercept = np.diff(coef, axis=0), np.diff(intercept)
        return objective.fitted_model(objective.pack(coef, intercept))


def weights_of(graph: ConditionalGraph) -> GraphWeights:
    """The weights of a graph whose factors are log-linear in what was given."""
    if not isinstance(graph, ConditionalGraph):
        raise InvalidInput(
            f"A {type(graph).__name__} was given; a ConditionalGraph was expected, as "
            "factor_graph(X) of a log-linear classifier gives. Give the values of x as given=."
        )
    classes = _classes_of(graph)
    numbers = {variable.name: i for i, variable in enumerate(graph.variables)}
    n, constants = len(numbers), np.zeros((len(numbers), len(classes)))
    found: dict[str, dict[int, tuple[Any, Array]]] = {}
    has_intercept = False
    for factor in graph.factors:
        i = numbers[_only_variable(factor)]
        if factor.name not in graph.given:
            constants[i] += factor.log_table
            has_intercept = True
            continue
        term = factor.name.removesuffix(f"[{i}]") if n > 1 else factor.name
        found.setdefault(term, {})[i] = (graph.given[factor.name], factor.log_table)
    if not found:
        raise InvalidInput(
            "No factor has the name of a given value; one for each column was expected, besides "
            "the intercept. Name the factors as the values of given=."
        )
    for term, rows in found.items():
        if len(rows) != n:
            missing = next(name for name, i in numbers.items() if i not in rows)
            raise InvalidInput(
                f"The variable {missing!r} has no factor {term!r}, which others have; one factor "
                "for each column was expected in every row. Add it to the graph."
            )
    given = _given_values(found, n, len(classes))
    log_factors = np.array([[found[t][i][1] for i in range(n)] for t in found])  # (p, n, K)
    log_factors = log_factors.transpose(1, 2, 0)
    coef = _weights(tuple(found), given, log_factors)
    return GraphWeights(
        tuple(found), given, coef, _intercept(constants) if has_intercept else None, classes
    )


def refuse_features_of_classes(weights: GraphWeights, model: str) -> None:
    """Refuse features of x and y where a model has one weight for each column and class."""
    if weights.of_classes:
        raise InvalidInput(
            f"The features {listed(weights.terms)} of the graph are functions of x and of the "
            f"class; {model} has features of x only. Use MaxEntropy.from_factor_graph."
        )


def _classes_of(graph: ConditionalGraph) -> Array:
    first = graph.variables[0]
    for other in graph.variables:
        if other.states != first.states:
            raise InvalidInput(
                f"{first.name!r} has the states {listed(first.states)} and {other.name!r} "
                f"{listed(other.states)}; the same classes were expected in every row. Make one "
                "graph for each set of classes."
            )
    classes = np.array(first.values)
    if (classes[1:] <= classes[:-1]).any():
        raise InvalidInput(
            f"The states of {first.name!r} are {listed(first.states)}; classes in sorted order "
            "were expected. Sort the states and the tables of the factors."
        )
    return classes


def _only_variable(factor: Factor) -> str:
    if len(factor.scope) != 1:
        raise InvalidInput(
            f"The factor {factor.name!r} is over {listed(factor.scope)}; factors of one class were "
            "expected, because a classifier has rows that are independent. Leave it out."
        )
    if not np.isfinite(factor.log_table).all():
        raise InvalidInput(
            f"The factor {factor.name!r} is 0 for a class, whose weight would be −∞; values above "
            "0 were expected. Replace 0 by a small number."
        )
    return factor.scope[0]


def _given_values(
    found: dict[str, dict[int, tuple[Any, Array]]], n_rows: int, n_classes: int
) -> Array:
    """x, (n, p), or the features of each class, (n, K, p)."""
    values = [[found[term][i][0] for term in found] for i in range(n_rows)]
    try:
        given = np.array(values, dtype=np.float64).reshape(n_rows, len(found), -1)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"The given values {listed(list(found))} are not all numbers: {error}. Give one number "
            "for each, or for each as many as there are classes."
        ) from error
    if given.shape[2] not in (1, n_classes):
        raise InvalidInput(
            f"{listed(list(found))} have {given.shape[2]} values each; one number was expected, or "
            f"one for each of the {n_classes} classes. Give f(x, y) of every class y."
        )
    return given[:, :, 0] if given.shape[2] == 1 else given.transpose(0, 2, 1)


def _weights(terms: tuple[str, ...], given: Array, log_factors: Array) -> Array:
    """The least-squares w of log φ = w x, which has to fit up to a constant of each factor."""
    x = given if given.ndim == 3 else given[:, None]
    over = (0, 1) if given.ndim == 3 else 0  # of features of x and y, one w for all classes
    squares = np.broadcast_to(x, log_factors.shape) ** 2
    total = squares.sum(axis=over)
    for t in np.flatnonzero(np.atleast_2d(total).min(axis=0) == 0):
        raise InvalidInput(
            f"{terms[t]!r} is 0 in all rows of the graph, whose factors do not depend on its "
            "weight; a value other than 0 was expected in some row. Make the graph of other rows, "
            "such as a row of ones."
        )
    coef = np.asarray((x * log_factors).sum(axis=over) / total)
    rest = log_factors - coef * x
    rest = rest - rest.mean(axis=1, keepdims=True)  # a constant of a factor cancels in P(y | x)
    for t in np.flatnonzero(np.abs(rest).max(axis=(0, 1)) > SAME * np.abs(log_factors).max()):
        raise InvalidInput(
            f"The logs of the factors {terms[t]!r} are not proportional to the given values; the "
            "same weight was expected in every row. Give features in which they are linear."
        )
    return coef


def _intercept(constants: Array) -> Array:
    if (np.abs(constants - constants[0]) > SAME * np.abs(constants).max()).any():
        raise InvalidInput(
            "The factors that read no value of x differ between the rows, as with an offset; one "
            "intercept was expected. Make the graph without an offset."
        )
    return np.asarray(constants[0])


def _of_each_class(values: Array) -> Array:
    return values if len(values) > 1 else np.array([0.0, values[0]])
