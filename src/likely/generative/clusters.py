"""Fitting a mixture: several starts of EM, the best kept, collapse prevented.

    maximise  Σ_i w_i log Σ_k π_k p(x_i | k)  +  log prior

The prior of a Gaussian part is inverse-Wishart: it stands for ``regularisation`` · n imagined
examples with the data's own variance, so the fit does not depend on units and the penalised
likelihood never falls.  A component whose variance in every direction comes from the prior
rather than from its rows has collapsed onto repeated rows.  Such starts are passed over; if
all collapse, the prior is made as strong as Fraley and Raftery recommend.

References
----------
McLachlan & Peel, Finite Mixture Models, §2.
Fraley & Raftery, Bayesian regularization for normal mixture estimation and model-based
clustering, J. Classification 2007, §3.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks
from likely.distributions.base import Family
from likely.distributions.full_gaussian import FullFamily, FullMoments
from likely.distributions.gaussian import DiagonalFamily, DiagonalMoments
from likely.distributions.product import ProductFamily, ProductStatistics
from likely.distributions.responsibility import Labels, totals
from likely.generative.starts import Subset, draw_labels
from likely.objectives.components import (
    Components,
    ComponentsObjective,
    ComponentTotals,
    log_shares,
    refuse_no_weight,
)
from likely.solvers.em import EM
from likely.solvers.minimise import Solution, search

SAME_END = 1e-9  # two starts whose likelihoods differ by less, relatively, have found the same
MORE_STARTS = 3  # times n_init, drawn when every start has collapsed


@final
@dataclass(frozen=True, eq=False)
class Clusters:
    """The best of several starts."""

    components: Components
    solution: Solution
    totals: ComponentTotals  # expected statistics at the solution
    log_likelihood: float  # without the prior
    collapsed: tuple[int, ...]  # components that the prior had to hold open
    traces: tuple[tuple[float, ...], ...]  # penalised log-likelihood of every start


@final
@dataclass(frozen=True, eq=False)
class MixtureProblem:
    """Everything a fit needs but the number of components."""

    family: Family
    blocks: Blocks
    executor: Executor
    pooled: ComponentTotals  # all rows as one component
    alpha: Any  # imagined counts, for families of counts
    regularisation: float
    tol: float
    max_iter: int

    def prior(self, n_components: int, *, strong: bool = False) -> Any:
        strength = self.regularisation * float(self.pooled.count.sum())
        return prior_statistics(
            self.family, self.pooled.statistics, n_components, self.alpha, strength, strong=strong
        )

    def maximised(self, totals: ComponentTotals, n_rows: float) -> Components:
        """An M step from totals that stand for ``n_rows`` rows."""
        strength = self.regularisation * n_rows
        k = len(totals.count)
        prior = prior_statistics(
            self.family, self.pooled.statistics, k, self.alpha, strength, strong=False
        )
        member = self.family.from_statistics(totals.statistics + prior)
        return Components(log_shares(totals.count), member)

    def solve(self, start: Components, prior: Any) -> Clusters:
        objective = ComponentsObjective(self.family, self.blocks, self.executor, prior)
        solution, state = search(EM(), objective, start, tol=self.tol, max_iter=self.max_iter)
        here: ComponentTotals = state.totals
        trace = tuple(-value for value in solution.trace)
        bad = collapsed(here.statistics, prior)
        return Clusters(solution.theta, solution, here, here.log_likelihood, bad, (trace,))


def fit_clusters(
    problem: MixtureProblem,
    subset: Subset,
    n_components: int,
    n_init: int,
    rng: np.random.Generator,
) -> Clusters:
    """The best of ``n_init`` random starts, drawn from the subset, that do not collapse."""
    prior = problem.prior(n_components)
    found = [
        problem.solve(_random_start(problem, subset, n_components, prior, rng), prior)
        for _ in range(n_init if n_components > 1 else 1)
    ]
    while all(each.collapsed for each in found) and len(found) < MORE_STARTS * n_init:
        start = _random_start(problem, subset, n_components, prior, rng)
        found.append(problem.solve(start, prior))
    if all(each.collapsed for each in found):
        strong = problem.prior(n_components, strong=True)
        start = _random_start(problem, subset, n_components, strong, rng)
        held = problem.solve(start, strong)
        return replace(held, collapsed=found[0].collapsed, traces=_traces(found) + held.traces)
    sound = [each for each in found if not each.collapsed]
    return replace(_best(sound), traces=_traces(found))


def _best(found: list[Clusters]) -> Clusters:
    """The first of those that end highest: starts often end in the same place, up to rounding."""
    ends = [each.traces[0][-1] for each in found]
    top = max(ends)
    near = top - SAME_END * max(1.0, abs(top))
    return next(each for each, end in zip(found, ends, strict=True) if end >= near)


def _traces(found: list[Clusters]) -> tuple[tuple[float, ...], ...]:
    return tuple(each.traces[0] for each in found)


def pooled_totals(family: Family, blocks: Blocks, executor: Executor) -> ComponentTotals:
    """All rows as one component; checks the values as it goes."""
    return refuse_no_weight(executor.sum(partial(block_pooled, family), blocks))


def block_pooled(family: Family, block: Block) -> ComponentTotals:
    X = block.X.stored()
    family.check(X)
    labels = Labels(np.zeros(block.n_rows, dtype=np.int64), 1, block.weight)
    return ComponentTotals(totals(labels), _pooled_statistics(family, X, labels))


def _pooled_statistics(family: Family, X: Any, labels: Labels) -> Any:
    """For the prior's scale alone: variances per feature are enough, and sum missing cells out."""
    gaussian = isinstance(family, FullFamily)
    return (DiagonalFamily() if gaussian else family).statistics(X, labels)


def prior_statistics(
    family: Family, pooled: Any, n_components: int, alpha: Any, strength: float, *, strong: bool
) -> Any:
    """Pseudo-statistics that keep every component proper, in the data's own units."""
    if isinstance(family, ProductFamily):
        return _product_prior(family, pooled, n_components, alpha, strength, strong=strong)
    if not isinstance(family, DiagonalFamily | FullFamily):
        raise TypeError(f"{type(family).__name__} has no scale; wrap it in a product")
    variance = pooled.pooled_variance()
    scale = np.where(variance > 0, variance, 1.0)
    d = len(scale)
    if strong:  # Fraley & Raftery: ν = d + 2, and the volume shared among the components
        strength, scale = float(d + 2), scale / n_components ** (2 / d)
    return family.pseudo_statistics(strength, (n_components, d), scale=scale)


def _product_prior(
    family: ProductFamily,
    pooled: ProductStatistics,
    n_components: int,
    alpha: Any,
    strength: float,
    *,
    strong: bool,
) -> ProductStatistics:
    n_features = sum(len(part.selection.features) for part in family.parts)
    counts = family.pseudo_statistics(alpha, (n_components, n_features))
    parts = []
    for part, own, count in zip(family.parts, pooled.parts, counts.parts, strict=True):
        if isinstance(part.family, DiagonalFamily | FullFamily):
            count = prior_statistics(part.family, own, n_components, alpha, strength, strong=strong)
        parts.append(count)
    return ProductStatistics(tuple(parts))


def collapsed(statistics: Any, prior: Any) -> tuple[int, ...]:
    """Components whose rows spread less than the prior does, in every direction."""
    if isinstance(statistics, ProductStatistics):
        parts = zip(statistics.parts, prior.parts, strict=True)
        gaussian = [
            _spread_ratio(s, p) for s, p in parts if isinstance(s, DiagonalMoments | FullMoments)
        ]
        if len(gaussian) < len(statistics.parts) or not gaussian:
            return ()  # counts cannot collapse
        ratio = np.concatenate(gaussian, axis=1).max(axis=1)
    elif isinstance(statistics, DiagonalMoments | FullMoments):
        ratio = _spread_ratio(statistics, prior).max(axis=1)
    else:
        return ()
    return tuple(int(k) for k in np.flatnonzero(ratio < 1.0)) if len(ratio) > 1 else ()


def _spread_ratio(statistics: DiagonalMoments | FullMoments, prior: Any) -> Array:
    """Scatter of the rows over scatter of the prior, per component and feature."""
    own, imagined = statistics.scatter, prior.scatter
    if own.ndim == 3:
        own = np.diagonal(own, axis1=1, axis2=2)
        imagined = np.diagonal(imagined, axis1=1, axis2=2)
    without_prior = np.where(own > 0, np.inf, 0.0)
    return np.divide(own, imagined, out=without_prior, where=imagined > 0)


def components_from(
    problem: MixtureProblem, stored: Any, responsibility: Any, prior: Any
) -> Components:
    """An M step from labels or soft rows; missing cells of full Gaussians are put at the mean."""
    if isinstance(problem.family, FullFamily) and not np.isfinite(stored).all():
        stored = np.where(np.isnan(stored), problem.pooled.statistics.mean[0], stored)
    statistics = problem.family.statistics(stored, responsibility)
    count = totals(responsibility)
    return Components(log_shares(count), problem.family.from_statistics(statistics + prior))


def _random_start(
    problem: MixtureProblem,
    subset: Subset,
    n_components: int,
    prior: Any,
    rng: np.random.Generator,
) -> Components:
    codes = draw_labels(subset, n_components, rng)
    labels = Labels(codes, n_components, subset.weight)
    return components_from(problem, subset.stored, labels, prior)


def best_by_bic(
    fit: Callable[[int], Clusters], n_rows: float, max_components: int
) -> tuple[Clusters, Array]:
    """Fits with 1, 2, … components; the one with the lowest BIC, and all BICs."""
    fits, values = [], []
    for k in range(1, max_components + 1):
        fits.append(fit(k))
        values.append(bic(fits[-1].log_likelihood, n_parameters(fits[-1].components), n_rows))
    return fits[int(np.argmin(values))], np.array(values)


def n_parameters(components: Components) -> int:
    return len(components.log_mixing) - 1 + components.distribution.n_parameters


def bic(log_likelihood: float, n_free: int, n_rows: float) -> float:
    """−2ℓ + p log n."""
    return -2 * log_likelihood + n_free * float(np.log(n_rows))


def aic(log_likelihood: float, n_free: int) -> float:
    """−2ℓ + 2p."""
    return -2 * log_likelihood + 2 * n_free
