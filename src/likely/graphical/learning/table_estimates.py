"""Learning the tables of a Bayesian network: by counts, or by EM where cells are missing.

    complete rows    P(x | pa) = (N(pa, x) + α) / Σ_u (N(pa, u) + α)
    E step           N(pa, x) = Σ_i w_i P(pa, x | what row i shows, θ)
    M step           the formula for complete rows

EM maximises Σ_i w_i log P(what row i shows | θ) + Σ α log θ, which never falls.  It assumes that
cells are missing at random: whether a cell is empty may depend on what its row shows, but not on
the value that is not shown.  A variable that no row shows is hidden: its states are the clusters
that explain the others best, their order is arbitrary, and another ``random_state`` may lead to
another maximum.

References
----------
Koller & Friedman, Probabilistic Graphical Models, §17.2 (counts), §19.2.2 (EM).
Lauritzen, The EM algorithm for graphical association models with missing data, 1995.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np

from likely._typing import Array, Codes
from likely.compute.executor import Executor
from likely.data.block import ArrayBlocks, Block, Blocks
from likely.errors import InvalidInput
from likely.graphical.contract import Seed
from likely.graphical.learning.coded_rows import (
    CodedRows,
    array_blocks,
    codes_of,
    refuse_no_rows,
    weight_of,
)
from likely.graphical.learning.family_counts import (
    Families,
    FamilyCounts,
    Smoothing,
    block_family_counts,
    conditional_tables,
    log_likelihood_of,
    pseudo_count,
)
from likely.graphical.learning.fit_report import FitReport
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor_graph import FactorGraph
from likely.inputs.estimators import (
    generator,
    refuse_unless_number,
    refuse_unless_whole,
    warn_unless_converged,
)
from likely.names import lookup
from likely.numerics.additive import FieldwiseAdditive
from likely.output.formatting import listed
from likely.solvers.em import EM, Expectation, ExpectationObjective
from likely.solvers.minimise import search

METHODS = {name: name for name in ("auto", "counts", "em")}
START_COUNT = 1.0  # in each cell of a start: EM cannot leave a probability of 0

RowFamilies = Callable[[FactorGraph, Codes, Array], tuple[Sequence[Array], float]]


def exact() -> RowFamilies:
    """Expected counts by exact inference, for all rows at once."""
    from likely.graphical.exact.row_propagation import row_families

    return row_families


@final
@dataclass(frozen=True)
class TableSettings:
    """How tables are learned from rows; the arguments of ``BayesianNetwork.fit``."""

    smoothing: Smoothing = 1.0
    method: str = "auto"
    max_iter: int = 1000
    tol: float = 1e-8
    random_state: Seed = None

    def __post_init__(self) -> None:
        lookup("method", self.method, METHODS)
        pseudo_count(self.smoothing, 1)
        refuse_unless_number("tol", self.tol, lowest=0.0, advice="Use 1e-8.")
        refuse_unless_whole("max_iter", self.max_iter, lowest=1, advice="Use 1000.")


def fit_tables(
    network: BayesianNetwork,
    rows: CodedRows,
    settings: TableSettings,
    row_families: RowFamilies | None = None,
    watch: Callable[[Any], None] | None = None,
) -> BayesianNetwork:
    """The network with the same edges and tables learned from rows of codes.

    ``watch`` is called with every state of EM.
    """
    totals = family_counts(network, rows)
    alpha = [pseudo_count(settings.smoothing, f.stored.size) for f in network.factors]
    method = lookup("method", settings.method, METHODS)
    if method == "em" or (method == "auto" and totals.n_missing):
        return _fit_by_em(network, rows, settings, totals, alpha, row_families, watch)
    hidden = _never_observed(network, totals)
    if hidden:
        raise InvalidInput(
            f"No row shows {listed(hidden)}; counts need an observed value of every variable. Use "
            "method='em', which learns hidden variables."
        )
    tables = conditional_tables(totals.tables, alpha)
    likelihood = np.nan if totals.n_missing else log_likelihood_of(totals.tables, tables)
    report = FitReport("counts", totals.weight, likelihood)
    return network.with_tables(tables, report)


def family_counts(graph: FactorGraph, rows: CodedRows) -> FamilyCounts:
    """The counts of the scope of every factor, in one pass over the rows."""
    term = partial(block_family_counts, Families.of(graph))
    blocks = rows.blocks
    if isinstance(blocks, ArrayBlocks) and blocks.n_rows == 0:
        refuse_no_rows()
    totals = rows.executor.sum(term, blocks)
    if not totals.weight > 0:
        refuse_no_rows()
    return totals


def _never_observed(network: BayesianNetwork, totals: FamilyCounts) -> list[str]:
    return [name for name, seen in zip(network.names, totals.observed, strict=True) if not seen > 0]


def _fit_by_em(
    network: BayesianNetwork,
    rows: CodedRows,
    settings: TableSettings,
    totals: FamilyCounts,
    alpha: Sequence[float],
    row_families: RowFamilies | None,
    watch: Callable[[Any], None] | None,
) -> BayesianNetwork:
    if not totals.observed.any():
        raise InvalidInput(
            "Every cell of the data is missing; at least one observed state was expected. Check "
            "the names of the columns, and how the data was read."
        )
    blocks = rows.blocks
    if isinstance(blocks, ArrayBlocks):  # a row that shows nothing has no effect on a fit
        codes, weight = rows.distinct()
        shown = (codes >= 0).any(axis=1)
        blocks = array_blocks(rows.variables, codes[shown], weight[shown])
    objective = TablesObjective(
        network, totals.families, blocks, rows.executor, tuple(alpha), row_families or exact()
    )
    start = _start(network, totals, generator(settings.random_state))
    solution, state = search(
        EM(), objective, start, tol=settings.tol, max_iter=settings.max_iter, watch=watch
    )
    if settings.tol > 0 and watch is None:  # tol=0 asks for max_iter steps
        warn_unless_converged(type(network).__name__, solution)
    reached = state.totals.log_likelihood
    report = FitReport("em", totals.weight, reached, solution)
    return network.with_tables(solution.theta, report)


def _start(
    network: BayesianNetwork, totals: FamilyCounts, rng: np.random.Generator
) -> tuple[Array, ...]:
    """Where EM begins: the counts of complete families; random tables where there are none.

    Random tables break the symmetry of the states of a hidden variable, which EM cannot.  A hidden
    variable that has no observed descendant is uniform: nothing is known about it.
    """
    informative = set(network.names) - set(_never_observed(network, totals))
    for name in reversed(network.order):
        if name in informative:
            informative.update(network.parents[name])
    tables = []
    for factor, counts in zip(network.factors, totals.tables, strict=True):
        if counts.any() or factor.scope[-1] not in informative:
            tables += conditional_tables([counts], [START_COUNT])
        else:
            n_states = counts.shape[-1]
            tables.append(rng.dirichlet(np.ones(n_states), size=counts.shape[:-1]))
    return tuple(tables)


@final
@dataclass(frozen=True, eq=False)
class ExpectedCounts(FieldwiseAdditive):
    """An E step of some rows."""

    counts: Array  # of all families, end to end
    log_likelihood: float
    weight: float


def block_expected_counts(
    row_families: RowFamilies, families: Families, graph: FactorGraph, block: Block
) -> ExpectedCounts:
    """E[N | what the rows show] at the tables of the graph."""
    weight = weight_of(block)
    tables, log_likelihood = row_families(graph, codes_of(block), weight)
    return ExpectedCounts(families.joined(tables), log_likelihood, float(weight.sum()))


@final
@dataclass(frozen=True, eq=False)
class TablesObjective(ExpectationObjective):
    """The tables of a network, with a Dirichlet prior on each."""

    network: BayesianNetwork
    families: Families
    blocks: Blocks
    executor: Executor
    alpha: tuple[float, ...]  # pseudo-counts per cell of each table
    row_families: RowFamilies

    def expect(self, theta: Sequence[Array]) -> Expectation:
        graph = self.network.with_tables(theta)
        term = partial(block_expected_counts, self.row_families, self.families, graph)
        here = self.executor.sum(term, self.blocks)
        pseudo = [np.full(table.shape, a) for table, a in zip(theta, self.alpha, strict=True)]
        log_prior = log_likelihood_of(pseudo, theta)
        return Expectation(here, here.log_likelihood + log_prior, here.weight)

    def maximise(self, totals: ExpectedCounts) -> tuple[Array, ...]:
        tables = self.families.tables(totals.counts)
        return tuple(conditional_tables(tables, self.alpha))
