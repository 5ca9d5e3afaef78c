"""Penalty strengths by restricted maximum likelihood, from totals.

    β_j ~ N(0, φ/λ_j I) for each group j of coefficients,    Λ = diag(λ),    V = (H + Λ)⁻¹

The λ that maximise the marginal likelihood of y, ∫ p(y | β) p(β | λ) dβ by Laplace's
approximation, are a fixed point:

    edf_j = p_j − λ_j tr V_jj        λ_j = φ edf_j / ‖β̂_j‖²        β̂ = argmin −ℓ(β) + ½ βᵀΛβ
    φ = X²/(n − Σ edf),  X² = Σ_i w_i (y_i − μ_i)²/V(μ_i)          (1 where the family fixes it)

edf_j is the effective number of coefficients of a group: what the rows determine.  A group without
information shrinks to 0, because λ grows.  φ is estimated inside, also of counts (``quasi``): with
φ = 1 the noise of overdispersed counts would be taken for information.

Bands allow for the uncertainty of ρ = ln λ: their covariance is φV + JV_ρJᵀ.  Criteria such as AIC
count the parameters with it, or models with more curves would seem better than they are:

    p = tr F + tr J V_ρ Jᵀ H/φ  ≤  2 tr F − tr F²          F = VH,  J_k = ∂β̂/∂ρ_k = −λ_k V_·k β̂_k
    V_ρ⁻¹ = −∂²ℓ_R/∂ρ∂ρᵀ + 1/10                            (ρ of a straight line has no limit)
    −∂²ℓ_R/∂ρ_j∂ρ_k = ½ δ_jk λ_j(‖β̂_j‖²/φ + tr V_jj) − λ_jλ_k(β̂_jᵀV_jkβ̂_k/φ + ½ ‖V_jk‖²)

One pass over the rows gives ℓ, its gradient and H at β; between two passes λ and β̂ are improved on
the quadratic model of these totals, which for a Gaussian is exact.  A step that does not decrease
the penalised loss is halved.

References
----------
Fellner (1986), Robust estimation of variance components, Technometrics 28.
Schall (1991), Estimation in generalized linear models with random effects, Biometrika 78.
Wood & Fasiolo (2017), A generalized Fellner-Schall method, Biometrics 73.
Wood, Pya & Säfken (2016), Smoothing parameter and model selection for general smooth models,
JASA 111.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Protocol, final

import numpy as np
from numpy.linalg import LinAlgError

from likely._typing import Array, Codes
from likely.data.block import ArrayBlocks, Block
from likely.errors import InvalidInput
from likely.fitting.driver import DesignRows, Specification
from likely.fitting.problem import Problem, block_weight
from likely.likelihoods.base import Likelihood
from likely.numerics.cholesky import factorise, triangular_inverse
from likely.objectives.linear import Total, block_eta, weighted_sum
from likely.solvers.base import SecondOrder

USUAL = 1.0  # λ where there is nothing to choose
MOST_CHOSEN = 2_000  # coefficients whose λ is sought: each step factorises their Hessian
LEAST, MOST = 1e-7, 1e7  # of λ, in units of the mean curvature of the group
MOST_PASSES = 50
FIRST_STEPS, LAST_STEPS = 8, 30  # of the fixed point between two passes: far away, and near
LENGTHENED = 0.8  # the largest ratio of two steps that is believed: up to 5 steps in one
FAR = 1.0  # nats to the penalised optimum: the quadratic model is rough
SETTLED = 1e-3  # effective coefficients: by how much edf still moves at the end
ABSENT = 1e-4  # effective coefficients of a group that the others need not wait for
NEAR = 1e-4  # nats to the penalised optimum
SHORTEST = 2.0**-20  # of a step
SHIFT = 1e-9  # of the curvature: none
VAGUE = 0.1  # the precision of a prior of ln λ
PERFECT = 1e-12  # of X² of the start: the least that rounding leaves of it


@final
@dataclass(frozen=True, eq=False)
class Smoothed:
    """The strength of each group, and the fit there."""

    strength: Array  # λ, one for each group
    theta: Array  # in the units of the search
    edf: Array  # one for each parameter; 1 where nothing is penalised
    covariance: Array  # φV, of a posterior: bands that allow for the bias of a smooth curve
    spread: Array  # J V_ρ^½, by the uncertainty of ln λ, with a column for each group
    information: Array  # H
    loss: float  # −ℓ
    dispersion: float  # φ
    n_counted: float  # parameters in criteria
    weight: float  # Σ w
    n_passes: int
    converged: bool


class _Here(NamedTuple):
    """The totals at θ, without a penalty."""

    theta: Array
    loss: SecondOrder
    pearson: float


class _Quadratic(NamedTuple):
    """What totals say of one λ."""

    best: Array  # β̂
    edf: Array
    root: Array  # R with RᵀR = V
    dispersion: float


def smooth(
    problem: Problem,
    start: Array,
    group: Codes,
    *,
    likelihood: Likelihood | None = None,
    quasi: bool = False,
    least: float = 0.0,
) -> Smoothed:
    """The strengths of groups of parameters; a parameter of group −1 is free.

    ``problem`` has some penalty, which is left out.  ``likelihood`` is that of one predictor, whose
    φ is estimated where it has one, and with ``quasi`` also where the family fixes it.  No λ is
    below ``least``.
    """
    given = likelihood
    if given is not None and given.response.dispersion_is_known and not quasi:
        given = None
    objective, executor, blocks = problem.objective, problem.executor, problem.data.blocks
    n = executor.sum(block_weight, blocks).value

    def totals(theta: Array) -> _Here:
        if not objective.allows(theta):
            return _Here(theta, SecondOrder(np.inf, np.zeros(0), np.zeros((0, 0))), 0.0)
        loss = executor.sum(partial(objective.terms.second_order, theta), blocks)
        pearson = 0.0
        if given is not None:
            term = partial(block_pearson, given, theta)
            pearson = float(executor.sum(term, blocks).value)
        return _Here(theta, _tied(loss, theta, group == -1), pearson)

    found = _search(totals, start, group, None if given is None else float(n), least)
    return replace(found, weight=float(n))


class Choosing(Protocol):
    """An estimator whose ``l2`` may be ``"auto"``."""

    l2: object


def forget_choice(model: Choosing) -> None:
    """Forget the λ of an earlier fit; one that is to be chosen is the usual one at first."""
    if isinstance(model.l2, str) and model.l2 == "auto":
        model.l2_ = USUAL  # type: ignore[attr-defined]  # as a fit stores it
    elif "l2_" in vars(model):
        del model.l2_  # type: ignore[attr-defined]


def choose_strength(
    model: Choosing,
    specify: Callable[[DesignRows], Specification],
    rows: DesignRows,
    likelihood: Likelihood | None,
) -> None:
    """Store one λ for all coefficients as ``l2_``, where ``l2="auto"`` asks for it.

    ``likelihood`` is that of one predictor, whose dispersion is estimated, also of counts.
    """
    if not (isinstance(model.l2, str) and model.l2 == "auto"):
        return
    several = isinstance(rows.blocks, ArrayBlocks) and np.ndim(rows.blocks.target) > 1
    if several and likelihood is not None:
        raise InvalidInput(
            "y has several columns and l2='auto'; the marginal likelihood is that of one. Give l2 "
            "as a number, or fit one column at a time."
        )
    if rows.blocks.n_features > MOST_CHOSEN:
        return
    classes = likelihood is None or likelihood.response.has_trials
    with rows.executor.session():
        specification = specify(rows)
        problem, start = specification.begin(specification.problem())
        group = np.where(problem.penalty.curvature(np.zeros(start.size)) > 0, 0, -1)
        if (group == 0).any():
            found = smooth(problem, start, group, likelihood=likelihood, quasi=not classes)
            model.l2_ = float(found.strength[0])  # type: ignore[attr-defined]


def _search(
    totals: Callable[[Array], _Here], start: Array, group: Codes, n: float | None, least: float
) -> Smoothed:
    here, n_passes = totals(start), 1
    size = max(int(group.max(initial=-1)) + 1, 0)
    unit = _mean_curvature(here.loss.hessian, group, size)
    strength, floor = unit.copy(), max(PERFECT * here.pearson, np.finfo(float).tiny)
    edf, gain = np.full(size, np.inf), np.inf
    while True:
        limits = np.maximum(LEAST * unit, least), MOST * unit
        most = FIRST_STEPS if gain > FAR else LAST_STEPS
        strength, found = _on_totals(here, strength, group, n, limits, floor, most)
        ridge = _spread(strength, group)
        step = found.best - here.theta
        gain = float(step @ (here.loss.hessian @ step + ridge * step)) / (2 * found.dispersion)
        before, edf = edf, _by_group(found.edf, group, size)
        settled = bool(np.abs(edf - before).max(initial=0.0) < SETTLED) and gain < NEAR
        if settled or n_passes >= MOST_PASSES:
            break
        moved = _shortened(totals, here, step, ridge)
        n_passes += moved.n_passes
        if moved.here is None:  # no step decreases the loss: rounding
            settled = True
            break
        here = moved.here
        unit = _mean_curvature(here.loss.hessian, group, size)
    V, H = found.root.T @ found.root, here.loss.hessian
    spread = _spread_by_strength(found, V, strength, group)
    ridge = _spread(strength, group)
    counted = float(found.edf.sum()) + float(np.sum(spread * (H @ spread))) / found.dispersion
    shrunk = ridge[:, None] * V
    twice = len(ridge) - float(np.sum(shrunk * shrunk.T))  # 2 tr F − tr F²
    return Smoothed(
        strength,
        found.best,
        found.edf,
        found.dispersion * V,
        spread,
        H,
        here.loss.value,
        found.dispersion,
        min(counted, twice),
        0.0,
        n_passes,
        settled,
    )


def _on_totals(
    here: _Here,
    strength: Array,
    group: Codes,
    n: float | None,
    limits: tuple[Array, Array],
    floor: float,
    most: int,
) -> tuple[Array, _Quadratic]:
    """The fixed point of λ on the quadratic model at θ, or near it.

    Every second step of ln λ is lengthened as if the steps went on in their ratio (Aitken).  Groups
    without any effective coefficient that ask for no less λ stay where they are.
    """
    strength, last = np.clip(strength, *limits), np.zeros(strength.size)
    whole = group
    found = _quadratic(here, _spread(strength, group), n, floor)
    at, edf = here, _by_group(found.edf, group, strength.size)
    for _ in range(most):
        squares = _by_group(np.square(found.best), group, strength.size)
        with np.errstate(divide="ignore", invalid="ignore"):
            better = found.dispersion * np.maximum(edf, 0.0) / squares
        step = np.log(np.clip(np.where(squares > 0, better, np.inf), *limits) / strength)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.clip(np.where(last == 0, 0.0, step / last), 0.0, LENGTHENED)
        last = np.where(last == 0, step, 0.0)
        counted = _by_group(np.ones(len(group)), group, strength.size) > 0
        strength = np.clip(strength * np.exp(np.where(counted, step / (1 - ratio), 0.0)), *limits)
        present = np.append((edf > ABSENT) | (step < 0), True)[group]
        at, group = _part(at, present), group[present]
        found = _quadratic(at, _spread(strength, group), n, floor)
        before, edf = edf, _by_group(found.edf, group, strength.size)
        if np.abs(edf - before).max(initial=0.0) < SETTLED / 10:
            break
    if len(group) < len(whole):
        found = _quadratic(here, _spread(strength, whole), n, floor)
    return strength, found


def _part(here: _Here, kept: Array) -> _Here:
    """The totals of some parameters, the others held."""
    if kept.all():
        return here
    loss = here.loss
    part = SecondOrder(loss.value, loss.gradient[kept], loss.hessian[np.ix_(kept, kept)])
    return _Here(here.theta[kept], part, here.pearson)


def _quadratic(here: _Here, ridge: Array, n: float | None, floor: float) -> _Quadratic:
    """β̂ = V(Hθ − g), edf = 1 − diag(ΛV) and φ, for one λ."""
    H, g, theta = here.loss.hessian, here.loss.gradient, here.theta
    root = inverse_factor(H, ridge)
    best = root.T @ (root @ (H @ theta - g))
    edf = 1.0 - ridge * np.einsum("ij,ij->j", root, root)
    if n is None:
        return _Quadratic(best, edf, root, 1.0)
    step = best - theta
    left = here.pearson + 2 * float(g @ step) + float(step @ (H @ step))
    return _Quadratic(best, edf, root, max(left, floor) / max(n - float(edf.sum()), 1.0))


def _spread_by_strength(found: _Quadratic, V: Array, strength: Array, group: Codes) -> Array:
    """J V_ρ^½."""
    phi, ridge = found.dispersion, _spread(strength, group)
    own = (group[:, None] == np.arange(strength.size)).astype(float)
    member, shrunk = own * ridge[:, None], ridge[:, None] * V
    pull = member * found.best[:, None]  # λ_k β̂_k
    curved = (found.best @ pull / phi + np.diag(V) @ member) / 2
    crossed = pull.T @ V @ pull / phi + own.T @ (shrunk * shrunk.T) @ own / 2
    values, vectors = np.linalg.eigh(np.diag(curved) - crossed)
    return -V @ pull @ (vectors / np.sqrt(np.maximum(values, 0.0) + VAGUE))


def inverse_factor(H: Array, ridge: Array) -> Array:
    """R with RᵀR = (H + Λ)⁻¹; a free parameter that others determine is fixed."""
    whole = H + np.diag(ridge)
    try:
        factor = factorise(whole, hold=False)
    except LinAlgError:
        factor = factorise(whole)
    root = triangular_inverse(factor.lower) * factor.scale
    if len(factor.kept) == len(H):
        return root
    out = np.zeros((len(root), len(H)))
    out[:, factor.kept] = root
    return out


class _Moved(NamedTuple):
    """The end of a step, if one decreases the penalised loss, and what it cost."""

    here: _Here | None
    n_passes: int


def _shortened(totals: Callable[[Array], _Here], here: _Here, step: Array, ridge: Array) -> _Moved:
    """The step, halved until the penalised loss decreases."""

    def penalised(at: _Here) -> float:
        return at.loss.value + float(np.dot(ridge, at.theta**2)) / 2

    known, t, n_passes = penalised(here), 1.0, 0
    while t >= SHORTEST:
        there = totals(here.theta + t * step)
        n_passes += 1
        if penalised(there) <= known:
            return _Moved(there, n_passes)
        t /= 2
    return _Moved(None, n_passes)


def _tied(loss: SecondOrder, theta: Array, free: Array) -> SecondOrder:
    """With ½ τ (Σ θ_free)² where a shift of all intercepts changes nothing, as of classes."""
    ones = free.astype(float)
    curvature = float(np.diag(loss.hessian)[free].sum())
    if free.sum() < 2 or np.abs(loss.hessian @ ones).max() > SHIFT * curvature:
        return loss
    shift = float(ones @ theta)
    return SecondOrder(
        loss.value + curvature * shift**2 / 2,
        loss.gradient + curvature * shift * ones,
        loss.hessian + curvature * np.outer(ones, ones),
    )


def _mean_curvature(hessian: Array, group: Codes, size: int) -> Array:
    """The mean of H_jj over the parameters of each group: the unit of its λ."""
    counted = np.maximum(_by_group(np.ones(len(group)), group, size), 1.0)
    return np.maximum(_by_group(np.diag(hessian), group, size) / counted, np.finfo(float).tiny)


def _by_group(values: Array, group: Codes, size: int) -> Array:
    """Σ over the parameters of each group."""
    inside = group >= 0
    return np.bincount(group[inside], weights=values[inside], minlength=size)


def _spread(strength: Array, group: Codes) -> Array:
    """λ of each parameter; 0 of a free one."""
    return np.where(group >= 0, np.append(strength, 0.0)[group], 0.0)


def block_pearson(likelihood: Likelihood, theta: Array, block: Block) -> Total:
    """Σ w (y − μ)²/V(μ), which is Σ w nll′²/E[nll″] for every link."""
    _, slope, curvature = likelihood.derivatives(block.target, block_eta(theta, block))
    known = curvature > 0
    each = np.square(slope[known]) / curvature[known]
    return Total(weighted_sum(None if block.weight is None else block.weight[known], each))
