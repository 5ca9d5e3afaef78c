"""Log-linear potentials of a Markov field, learned by their gradient: observed minus expected.

    P(x) = e^{Σ_k θ_k f_k(x)} / Z        f_k(x) = Σ_c f_k(x_c), over the scopes c that share θ_k
    F(θ) = −Σ_i w_i log P(y_i | x_i) + ½ Σ_k κ_k θ_k²,        P(y | x) = Z(x, y) / Z(x)
    ∇F   = −Σ_i w_i ( E[f | x_i, y_i] − E[f | x_i] ) + κ ∘ θ

Z(e) sums over everything that is not in e, and all expectations are exact.  Without a target, y is
all variables and Z(x) is Z: the field of the joint.  With one, x is given and not modelled: a
conditional field, of which softmax regression is the smallest.  Where cells are missing, both terms
are expectations, and F need not be convex.  Without a penalty, the expected totals of the features
equal the observed ones at the optimum.

References
----------
Koller & Friedman, Probabilistic Graphical Models, §20.3.
Lafferty, McCallum & Pereira, Conditional random fields, 2001.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from likely._typing import Array, Matrix
from likely.compute.executor import Executor
from likely.data.block import ArrayBlocks
from likely.errors import BoundaryEstimate, InvalidInput, warn_user
from likely.graphical.learning.coded_rows import CodedRows, array_blocks
from likely.graphical.learning.family_counts import Families, block_family_counts
from likely.graphical.learning.fit_report import FitReport
from likely.graphical.learning.table_estimates import (
    ExpectedCounts,
    RowFamilies,
    block_expected_counts,
    exact,
)
from likely.graphical.model.evidence_table import MISSING, distinct_rows
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.graph_evidence import known_variables
from likely.graphical.model.markov_field import MarkovField
from likely.inputs.estimators import (
    refuse_unless_number,
    refuse_unless_whole,
    warn_unless_converged,
)
from likely.objectives.maxent import FeatureTotals
from likely.output.formatting import listed
from likely.penalties.base import L2
from likely.solvers.base import FirstOrder, FirstOrderObjective
from likely.solvers.lbfgs import LBFGS
from likely.solvers.minimise import search


@final
@dataclass(frozen=True, eq=False)
class Feature:
    """A function of the states in a scope, with one weight in all of its scopes.

    ``Feature(("x", "y"), [[0, 0], [0, 1]])`` is 1 where both have their second state.  Several
    scopes share the weight: their log-potentials have θ·table in common.
    """

    scopes: tuple[tuple[str, ...], ...]
    table: Array
    name: str = ""

    def __init__(
        self, scopes: Sequence[str] | Sequence[Sequence[str]], table: ArrayLike, name: str = ""
    ) -> None:
        several = [scopes] if all(isinstance(each, str) for each in scopes) else scopes
        numbers = np.array(table, dtype=float)
        if not np.isfinite(numbers).all():
            raise InvalidInput(
                f"A feature of {listed(list(several))} has a value that is not finite; numbers "
                "were expected. A potential of 0 in the field itself forbids states."
            )
        object.__setattr__(self, "scopes", tuple(tuple(scope) for scope in several))
        object.__setattr__(self, "table", numbers)
        object.__setattr__(self, "name", name)


def cell_features(field: FactorGraph, scopes: Sequence[Sequence[str]]) -> list[Feature]:
    """An indicator of each cell of a table that several scopes share: tied factors."""
    variables = [field.variable(name) for name in scopes[0]]
    shape = tuple(variable.n_states for variable in variables)
    features = []
    for cell in product(*map(range, shape)):
        table = np.zeros(shape)
        table[cell] = 1.0
        states = ", ".join(v.states[i] for v, i in zip(variables, cell, strict=True))
        features.append(Feature(scopes, table, states))
    return features


@final
@dataclass(frozen=True, eq=False)
class FeatureDesign:
    """The log-potentials of a field as a linear function of the weights: base + matrix·θ."""

    field: MarkovField
    families: Families
    base: Array  # of all factors, end to end; −inf is forbidden
    matrix: Matrix  # (n_cells, n_features), sparse

    @classmethod
    def of(cls, field: MarkovField, features: Iterable[Feature] | None) -> "FeatureDesign":
        """One weight per feature; None is an indicator of each cell that is not forbidden.

        Factors with features are replaced, but for their zeros; the others are kept.
        """
        families = Families.of(field)
        logs = families.joined([factor.log_table for factor in field.factors])
        if features is None:
            cell = np.flatnonzero(logs > -np.inf)
            entries = np.ones(len(cell)), (cell, np.arange(len(cell)))
            base = np.where(logs > -np.inf, 0.0, -np.inf)
            matrix = sparse.csr_array(entries, shape=(len(logs), len(cell)))
            return cls(field, families, base, matrix)
        features = tuple(features)
        parts = [
            _placed(field, families, feature, scope, k)
            for k, feature in enumerate(features)
            for scope in feature.scopes
        ]
        if not parts:
            raise InvalidInput(
                "There are no features; at least one was expected. Use features=None for an "
                "indicator of each cell."
            )
        for part in parts:
            there = slice(*part.span)
            logs[there] = np.where(logs[there] > -np.inf, 0.0, -np.inf)
        value, cell, column = (np.concatenate(each) for each in list(zip(*parts, strict=True))[:3])
        matrix = sparse.csr_array((value, (cell, column)), shape=(len(logs), len(features)))
        return cls(field, families, logs, matrix)

    @property
    def n_features(self) -> int:
        return int(self.matrix.shape[1])

    def log_tables(self, theta: Array) -> Array:
        """The log-potentials of all factors, end to end."""
        return np.asarray(self.base + self.matrix @ theta)

    def field_at(self, theta: Array, report: FitReport | None = None) -> MarkovField:
        """The field with the log-potentials of these weights."""
        tables = self.families.tables(self.log_tables(theta))
        field = self.field.with_factors(
            Factor(factor.variables, table, scale="log", name=factor.name)
            for factor, table in zip(self.field.factors, tables, strict=True)
        )
        field.fit_report = report
        return field

    def totals(self, counts: Array) -> Array:
        """Σ f of each feature, from counts of the cells of all factors."""
        return np.asarray(self.matrix.T @ counts)


class _Placed(NamedTuple):
    """The entries of one feature in the table of one factor."""

    value: Array
    cell: Array
    column: Array
    span: tuple[int, int]  # of the table of the factor


def _placed(
    field: MarkovField, families: Families, feature: Feature, scope: tuple[str, ...], k: int
) -> _Placed:
    names = tuple(known_variables(field.by_name, scope))
    found = [j for j, factor in enumerate(field.factors) if set(factor.scope) == set(names)]
    if not found or len(set(names)) < len(names):
        raise InvalidInput(
            f"A feature depends on ({', '.join(names)}), and no factor of the field on exactly "
            "these variables; the scope of a factor was expected. Add such a factor, with a table "
            "of ones."
        )
    shape = tuple(field.by_name[name].n_states for name in names)
    if feature.table.shape != shape:
        raise InvalidInput(
            f"A feature of ({', '.join(names)}) has a table of the shape {feature.table.shape}; "
            f"{shape} was expected, one axis for each variable."
        )
    j = found[0]
    flat = feature.table.transpose([names.index(name) for name in field.factors[j].scope]).ravel()
    cell = np.flatnonzero(flat)
    span = (families.starts[j], families.starts[j + 1])
    return _Placed(flat[cell], span[0] + cell, np.full(len(cell), k), span)


@final
@dataclass(frozen=True, eq=False)
class LogLinearObjective(FirstOrderObjective):
    """F(θ) of a field on some rows."""

    design: FeatureDesign
    penalty: L2
    shown: ArrayBlocks | ExpectedCounts  # rows with the target; their counts, if nothing is missing
    given: ArrayBlocks  # rows without the target
    executor: Executor
    row_families: RowFamilies
    unit: float | None = None

    @property
    def start(self) -> Array:
        """All weights 0: every configuration that is not forbidden has the same probability."""
        return np.zeros(self.design.n_features)

    def value(self, theta: Array) -> float:
        return self.first_order(theta).value

    def first_order(self, theta: Array) -> FirstOrder:
        shown, given = self._counts(theta, self.shown), self._counts(theta, self.given)
        value = given.log_likelihood - shown.log_likelihood + self.penalty.value(theta)
        gradient = self.design.totals(given.counts - shown.counts) + self.penalty.gradient(theta)
        return FirstOrder(value, gradient)

    def feature_totals(self, theta: Array) -> FeatureTotals:
        """Observed and expected totals of the features; equal at an optimum without penalty."""
        shown, given = self._counts(theta, self.shown), self._counts(theta, self.given)
        return FeatureTotals(self.design.totals(shown.counts), self.design.totals(given.counts))

    def _counts(self, theta: Array, rows: ArrayBlocks | ExpectedCounts) -> ExpectedCounts:
        """Expected counts of the cells of all factors, and Σ_i w_i log Z(row i)."""
        if isinstance(rows, ExpectedCounts):
            logs, seen = self.design.log_tables(theta), rows.counts > 0
            score = float(np.dot(rows.counts[seen], logs[seen]))
            return ExpectedCounts(rows.counts, score, rows.weight)
        graph = self.design.field_at(theta)
        term = partial(block_expected_counts, self.row_families, self.design.families, graph)
        return self.executor.sum(term, rows)


def log_linear_objective(
    field: MarkovField,
    rows: CodedRows,
    features: Iterable[Feature] | None = None,
    *,
    l2: ArrayLike = 1.0,
    target: str | Sequence[str] | None = None,
    row_families: RowFamilies | None = None,
) -> LogLinearObjective:
    """−Σ_i w_i log P(target of row i | the rest of it) + ½ Σ l2 θ², as a function of the weights.

    ``features`` None is an indicator of each cell of every factor; ``target`` None is all
    variables; ``l2`` is one number, or one for each feature.
    """
    design = FeatureDesign.of(field, features)
    penalty = L2(_strengths(l2, design.n_features))
    codes, weight = rows.distinct()
    without = codes.copy()
    without[:, target_columns(field, target)] = MISSING
    given = array_blocks(rows.variables, *distinct_rows(without, rows.sizes, weight))
    blocks = array_blocks(rows.variables, codes, weight)
    shown = blocks if (codes < 0).any() else _complete(design, rows.executor, blocks)
    families = row_families or exact()
    objective = LogLinearObjective(design, penalty, shown, given, rows.executor, families)
    at_zero = objective.value(objective.start)
    return replace(objective, unit=at_zero) if at_zero > 0 else objective


def _strengths(l2: ArrayLike, n_features: int) -> float | Array:
    strengths = np.asarray(l2, dtype=float)
    if strengths.ndim and strengths.shape != (n_features,):
        raise InvalidInput(
            f"l2 has the shape {strengths.shape}; one number was expected, or one for each of the "
            f"{n_features} features."
        )
    return float(strengths) if not strengths.ndim else strengths


def target_columns(graph: FactorGraph, target: str | Sequence[str] | None) -> list[int]:
    """The columns of the target; all without one."""
    if target is None:
        return list(range(len(graph.names)))
    names = [target] if isinstance(target, str) else list(target)
    return [graph.names.index(name) for name in known_variables(graph.by_name, names)]


def _complete(design: FeatureDesign, executor: Executor, blocks: ArrayBlocks) -> ExpectedCounts:
    """The counts of complete rows; a row with a potential of 0 is refused."""
    found = executor.sum(partial(block_family_counts, design.families), blocks)
    impossible = (found.counts > 0) & np.isneginf(design.base)
    if impossible.any():
        j = int(np.searchsorted(design.families.starts, int(impossible.argmax()), side="right")) - 1
        scope = design.field.factors[j].scope
        raise InvalidInput(
            f"A row has states of ({', '.join(scope)}) whose potential is 0 in the field; states "
            "that can occur together were expected. Give them a potential above 0, or drop the row."
        )
    return ExpectedCounts(found.counts, 0.0, found.weight)


def fit_log_linear(
    objective: LogLinearObjective,
    *,
    tol: float = 1e-8,
    max_iter: int = 1000,
    watch: Callable[[Any], None] | None = None,
) -> MarkovField:
    """The field with the weights that minimise the objective; ``fit_report`` says how."""
    refuse_unless_number("tol", tol, lowest=0.0, advice="Use 1e-8.")
    refuse_unless_whole("max_iter", max_iter, lowest=1, advice="Use 1000.")
    solution, _ = search(
        LBFGS(), objective, objective.start, tol=tol, max_iter=max_iter, watch=watch
    )
    design, theta = objective.design, solution.theta
    if tol > 0 and watch is None:  # tol=0 asks for max_iter steps
        warn_unless_converged(type(design.field).__name__, solution)
    _warn_of_absent_features(objective, theta)
    likelihood = objective.penalty.value(theta) - solution.trace[-1]
    shown = objective.shown
    weight = float(np.sum(shown.weight if shown.weight is not None else 0.0))
    report = FitReport("gradient", weight, likelihood, solution)
    return design.field_at(theta, report)


def _warn_of_absent_features(objective: LogLinearObjective, theta: Array) -> None:
    """A feature that is never observed has no finite estimate without a penalty."""
    matrix = objective.design.matrix
    lowest = matrix.min(axis=0).toarray().ravel() if matrix.shape[0] else np.zeros(0)
    free = np.broadcast_to(objective.penalty.l2, theta.shape) == 0
    absent = free & (lowest >= 0) & (objective.feature_totals(theta).observed == 0)
    if absent.any():
        warn_user(
            f"{int(absent.sum())} of {len(theta)} features are 0 in every row and have no penalty; "
            "their best weights are minus infinity, and large ones are returned. Use l2 > 0.",
            BoundaryEstimate,
        )
