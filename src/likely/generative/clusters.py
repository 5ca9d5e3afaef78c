"""Fitting a mixture: EM from several starts, of which the best is kept; collapse is prevented.

    maximise  Σ_i w_i log Σ_k π_k p(x_i | k)  +  log prior

The prior of the mixing proportions is a Dirichlet, flat unless one is given.  That of a Gaussian
part is inverse-Wishart: it is ``regularisation`` · n pseudo-observations with the variance of the
data (and those of a ``GaussianPrior``), so the fit does not depend on units and the penalised
likelihood never decreases.  A component whose spread comes from the prior rather than from its
rows has collapsed.  Such starts are discarded; if all collapse, the prior is made as strong as
Fraley and Raftery recommend.
Each start has a short run; only the best of them is continued to the end.

References
----------
McLachlan & Peel, Finite Mixture Models, §2.
Biernacki, Celeux & Govaert, Choosing starting values for the EM algorithm, 2003 (short runs).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks
from likely.distributions.base import Family
from likely.distributions.full_gaussian import FullFamily
from likely.distributions.gaussian import DiagonalFamily
from likely.distributions.priors import Dirichlet, log_shares
from likely.distributions.product import ProductFamily, ProductStatistics
from likely.distributions.responsibility import Labels, totals
from likely.errors import CollapsedComponent, InvalidInput, SingularCovariance, warn_user
from likely.generative.starts import Subset, draw_labels
from likely.objectives.components import (
    Components,
    ComponentsObjective,
    ComponentTotals,
    placing,
    refuse_no_weight,
)
from likely.output.formatting import capitalised
from likely.solvers.em import EM, EMState, ExpectationObjective
from likely.solvers.minimise import Solution, search

SAME_END = 1e-9  # two starts whose likelihoods differ by less, relatively, have found the same
SHORT_RUN = 30  # steps of EM that each start is given
PATIENCE = 3  # sizes in a row that do not lower BIC
FLAT = Dirichlet()
MOST_WEIGHT = 1e100  # of a row: its square, times the number of rows, is a number
MORE_STARTS = 3  # times n_init, drawn when every start has collapsed


@final
@dataclass(frozen=True, eq=False)
class Clusters:
    """The best of several starts."""

    components: Any  # Components, or what another law of the labels needs
    solution: Solution
    totals: Any  # expected statistics at the solution
    log_likelihood: float  # without the prior
    collapsed: tuple[int, ...]  # components that the prior had to hold open
    traces: tuple[tuple[float, ...], ...]  # penalised log-likelihood of every start


class HiddenLaw(ABC):
    """How the hidden labels of rows depend on each other, as EM needs to know it."""

    @abstractmethod
    def objective(self, problem: "MixtureProblem", prior: Any, start: Any) -> ExpectationObjective:
        """The E and M steps of a search from ``start``."""

    @abstractmethod
    def random_start(
        self,
        problem: "MixtureProblem",
        subset: Subset,
        n_components: int,
        rng: np.random.Generator,
        prior: Any,
    ) -> Any:
        """Parameters from which EM may start."""


@final
@dataclass(frozen=True)
class IndependentLabels(HiddenLaw):
    """The label of a row says nothing about that of another: a mixture."""

    def objective(
        self, problem: "MixtureProblem", prior: Any, start: Components
    ) -> ExpectationObjective:
        pseudo = problem.mixing_prior.pseudo_counts(len(start.log_mixing))
        blocks, executor = problem.blocks, problem.executor
        return ComponentsObjective(problem.family, blocks, executor, prior, imagined=pseudo)

    def random_start(
        self,
        problem: "MixtureProblem",
        subset: Subset,
        n_components: int,
        rng: np.random.Generator,
        prior: Any,
    ) -> Components:
        codes = draw_labels(subset, n_components, rng)
        labels = Labels(codes, n_components, subset.weight)
        return components_from(problem, subset.stored, labels, prior)


@final
@dataclass(frozen=True, eq=False)
class MixtureProblem:
    """Everything a fit needs except the number of components."""

    family: Family
    blocks: Blocks
    executor: Executor
    pooled: ComponentTotals  # all rows as one component
    alpha: Any  # pseudo-counts, for families of counts
    regularisation: float
    tol: float
    max_iter: int
    law: HiddenLaw = IndependentLabels()
    mixing_prior: Dirichlet = FLAT  # of independent labels

    def prior(self, n_components: int, *, strong: bool = False) -> Any:
        """Pseudo-statistics that keep every component proper, in the units of the data."""
        strength = self.regularisation * float(self.pooled.count.sum())
        return self.pooled.statistics.component_prior(
            self.family, n_components, self.alpha, strength, strong=strong
        )

    def maximised(self, totals: ComponentTotals, n_rows: float) -> Components:
        """An M step from totals that represent ``n_rows`` rows."""
        strength = self.regularisation * n_rows
        k = len(totals.count)
        prior = self.pooled.statistics.component_prior(
            self.family, k, self.alpha, strength, strong=False
        )
        member = self.family.from_statistics(totals.statistics + prior)
        return Components(log_shares(totals.count + self.mixing_prior.pseudo_counts(k)), member)

    def solve(
        self,
        start: Any,
        prior: Any,
        *,
        before: Clusters | None = None,
        steps: int = 0,
        watch: Callable[[EMState], None] | None = None,
    ) -> Clusters:
        """EM from ``start``, for some steps or to the end; ``before`` is the history so far."""
        max_iter = min(steps, self.max_iter) if steps else self.max_iter
        solution, state = search(
            EM(),
            self.law.objective(self, prior, start),
            start,
            tol=self.tol,
            max_iter=max_iter,
            watch=watch,
        )
        if before is not None:
            earlier = before.solution.trace[:-1]  # it ends where this begins
            reason = solution.reason.replace(f"max_iter={max_iter} ", f"max_iter={self.max_iter} ")
            solution = replace(solution, trace=earlier + solution.trace, reason=reason)
        here = state.totals
        trace = tuple(-value for value in solution.trace)
        bad = here.statistics.collapsed(self.family, prior)
        return Clusters(solution.theta, solution, here, here.log_likelihood, bad, (trace,))


def fit_clusters(
    problem: MixtureProblem,
    subset: Subset,
    n_components: int,
    n_init: int,
    rng: np.random.Generator,
) -> Clusters:
    """Short runs from random starts; the best is continued to the end, unless it collapses."""
    prior = problem.prior(n_components)
    seen: list[Clusters] = []
    start = partial(problem.law.random_start, problem, subset, n_components, rng)
    for _ in range(MORE_STARTS if n_components > 1 else 1):
        runs = [
            problem.solve(start(prior), prior, steps=SHORT_RUN)
            for _ in range(n_init if n_components > 1 else 1)
        ]
        seen += runs
        waiting = [run for run in runs if not run.collapsed]
        while waiting:
            best = _best(waiting)
            done = _to_the_end(problem, best, prior)
            if not done.collapsed:
                return replace(done, traces=done.traces + _traces(seen, best))
            waiting.remove(best)
    strong = problem.prior(n_components, strong=True)
    held = problem.solve(start(strong), strong)
    bad = next(run.collapsed for run in [*seen, held] if run.collapsed)
    return replace(held, collapsed=bad, traces=held.traces + _traces(seen, None))


def _to_the_end(problem: MixtureProblem, run: Clusters, prior: Any) -> Clusters:
    left = problem.max_iter - run.solution.n_iter
    if run.solution.converged or left <= 0:
        return run
    return problem.solve(run.components, prior, before=run, steps=left)


def _best(found: list[Clusters]) -> Clusters:
    """The first of the best: starts often reach the same optimum, up to rounding."""
    ends = [each.traces[0][-1] for each in found]
    top = max(ends)
    near = top - SAME_END * max(1.0, abs(top))
    return next(each for each, end in zip(found, ends, strict=True) if end >= near)


def _traces(found: list[Clusters], but: Clusters | None) -> tuple[tuple[float, ...], ...]:
    return tuple(each.traces[0] for each in found if each is not but)


def warn_collapsed(
    collapsed: tuple[int, ...], n_components: int, *, given_start: bool, noun: str = "components"
) -> None:
    """Warn about components that shrank onto rows without any spread, and what to do."""
    text = (
        f"{capitalised(noun)} {', '.join(map(str, collapsed))} collapsed onto repeated rows, or "
        "onto a line or plane (a column of few distinct values)"
    )
    if not given_start:
        text += " in every start; a stronger prior keeps their variance above 0"
    warn_user(
        f"{text}. Ask for fewer than {n_components} {noun}, raise regularisation, or drop such a "
        "column; lower regularisation if the scales of a column truly differ by 1,000 or more.",
        CollapsedComponent,
    )


def warn_if_flat(statistics: Any, *, regularised: bool) -> None:
    """Warn where all rows lie in a plane: across it the density comes from the prior alone."""
    found = statistics.plane()
    if found is not None:
        across = "from the prior alone" if regularised else "not defined"
        warn_user(
            f"All rows lie in a plane of dimension {found[0]}, and {found[1]} columns vary: they "
            "repeat or add up to others, or outnumber the rows. Across the plane the density is "
            f"{across}. Drop such columns, or use covariance='diagonal'.",
            SingularCovariance,
        )


def pooled_totals(family: Family, blocks: Blocks, executor: Executor) -> ComponentTotals:
    """All rows as one component; the values are checked in the same pass."""
    return refuse_no_weight(executor.sum(partial(block_pooled, family), blocks))


def block_pooled(family: Family, block: Block) -> ComponentTotals:
    if block.weight is not None:
        _refuse_extreme_weights(block.weight)
    labels = Labels(np.zeros(block.n_rows, dtype=np.int64), 1, block.weight)
    with placing(block):
        X = block.X.stored()
        family.check(X)
        return ComponentTotals(totals(labels), scale_statistics(family, X, labels))


def _refuse_extreme_weights(weight: Array) -> None:
    """Refuse weights whose squares, or products with squares of numbers, overflow or underflow."""
    bad = (weight > MOST_WEIGHT) | ((weight > 0) & (weight < 1 / MOST_WEIGHT))
    if bad.any():
        raise InvalidInput(
            f"sample_weight holds {weight[bad][0]:.3g}; weights between {1 / MOST_WEIGHT:g} and "
            f"{MOST_WEIGHT:g}, or 0, were expected. Divide them by their mean."
        )


def scale_statistics(family: Family, X: Any, labels: Labels) -> Any:
    """Statistics for the scale of a prior; for a full Gaussian, variances of observed cells."""
    if isinstance(family, ProductFamily):
        parts = []
        for part in family.parts:
            with part.selection.placing():
                parts.append(scale_statistics(part.family, part.selection.of(X), labels))
        return ProductStatistics(tuple(parts))
    return (DiagonalFamily() if isinstance(family, FullFamily) else family).statistics(X, labels)


def components_from(
    problem: MixtureProblem, stored: Any, responsibility: Any, prior: Any
) -> Components:
    """An M step from labels or soft labels; missing cells of full Gaussians are set to the mean."""
    statistics = _start_statistics(
        problem.family, problem.pooled.statistics, stored, responsibility
    )
    count = totals(responsibility)
    count = count + problem.mixing_prior.pseudo_counts(len(count))
    return Components(log_shares(count), problem.family.from_statistics(statistics + prior))


def _start_statistics(family: Family, pooled: Any, stored: Any, responsibility: Any) -> Any:
    if isinstance(family, ProductFamily):
        parts = zip(family.parts, pooled.parts, strict=True)
        return ProductStatistics(
            tuple(
                _start_statistics(part.family, own, part.selection.of(stored), responsibility)
                for part, own in parts
            )
        )
    if isinstance(family, FullFamily) and not np.isfinite(stored).all():
        stored = np.where(np.isnan(stored), pooled.mean[0], stored)
    return family.statistics(stored, responsibility)


def best_by_bic(
    fit: Callable[[int], Clusters], n_rows: float, max_components: int
) -> tuple[Clusters, Array]:
    """Fits with 1, 2, … components until BIC stops decreasing; the best fit, and all BICs."""
    fits: list[Clusters] = []
    values: list[float] = []
    for k in range(1, max_components + 1):
        fits.append(fit(k))
        values.append(bic(fits[-1].log_likelihood, n_parameters(fits[-1].components), n_rows))
        if k - 1 - int(np.argmin(values)) >= PATIENCE:
            break
    return fits[int(np.argmin(values))], np.array(values)


def n_parameters(components: Components) -> int:
    return len(components.log_mixing) - 1 + components.distribution.n_parameters


def bic(log_likelihood: float, n_free: int, n_rows: float) -> float:
    """−2ℓ + p log n."""
    return -2 * log_likelihood + n_free * float(np.log(n_rows))


def aic(log_likelihood: float, n_free: int) -> float:
    """−2ℓ + 2p."""
    return -2 * log_likelihood + 2 * n_free
