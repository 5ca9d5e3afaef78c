"""The fit of ordered classes: from rows to coefficients, thresholds and standard errors.

    (β̂, b̂) = argmin Σ_i w_i nll(y_i, x_iᵀβ; b) + Σ_j λ_j|β_j| + ½ Σ_j κ_j β_j²

The search uses centred columns, which change only the thresholds: b = b̃ − cᵀβ.
Standard errors come from the observed information, as is usual for ordered responses.
"""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor, Serial
from likely.data.block import Block, Blocks, MappedBlocks, redesigned
from likely.data.categories import ordered_categories
from likely.errors import InvalidInput
from likely.inputs.coding import refuse_gaps
from likely.inputs.labels import ordered_classes, refuse_one_class
from likely.inputs.rows import RowExtras
from likely.inputs.tables import own_columns
from likely.likelihoods.ordinal import Ordinal
from likely.linear.class_inference import ClassEstimate, infer_classes
from likely.linear.coding import LinearRows, open_linear
from likely.linear.covariance import MOST_FOR_INFERENCE
from likely.linear.divergence import Divergence, divergence
from likely.linear.fitting import (
    in_session,
    last_theta,
    refuse_if_not_finite,
    warn_of_fit,
)
from likely.linear.framing import Framed, Framing, centre_of, framed, refuse_too_large
from likely.linear.held_rows import hold_out
from likely.linear.inference import Inference
from likely.linear.near_dependence import with_orthogonal_columns, with_redundant
from likely.linear.penalty import spread, strengths_of
from likely.linear.problem import Problem
from likely.links import LINKS, UnitLink
from likely.objectives.inference import NullTotals
from likely.objectives.ordinal import OrdinalObjective
from likely.objectives.softmax import block_class_weight
from likely.penalties import Penalty
from likely.solvers.base import SecondOrder
from likely.solvers.choice import finish, solve
from likely.solvers.minimise import Solution
from likely.solvers.search_problem import Found

MOST_CLASSES = 1000  # each has a threshold; more are numbers, not classes

UNIT_LINKS = {name: link for name, link in LINKS.items() if isinstance(link, UnitLink)}


def recoded(rank: Array, block: Block) -> Block:
    """The block with its class codes in another order: ``rank`` maps old codes to new ones."""
    return replace(block, y=rank[block.target])


class OrdinalFit(NamedTuple):
    """A fitted predictor with its thresholds."""

    coef: Array
    thresholds: Array
    solution: Solution
    inference: Inference | None
    separated: bool


def open_ordered(
    estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any = None
) -> LinearRows:
    """Rows whose class codes increase from the lowest class to the highest."""
    X, y, sample_weight, groups = own_columns(X, y, sample_weight, groups)
    extras, given = RowExtras(sample_weight, groups=groups), strengths_of(estimator)
    reference = estimator.reference
    rows = open_linear(estimator, X, y, extras, target="class", given=given, reference=reference)
    refuse_one_class(rows.classes, estimator)
    if len(rows.classes) > MOST_CLASSES:
        raise InvalidInput(
            f"y has {len(rows.classes)} different labels; ordered classes are {MOST_CLASSES} at "
            "most. Use GLM for numbers, or cut them into classes."
        )
    order = ordered_categories(y) if estimator.order is None else estimator.order
    classes, rank = ordered_classes(rows.classes, order)
    if estimator.order is not None:
        _refuse_empty(list(estimator.order), classes)
    return rows._replace(
        blocks=MappedBlocks(rows.blocks, partial(recoded, rank), rows.blocks.n_features),
        classes=classes,
    )


@in_session
def fit_ordinal(estimator: Any, rows: LinearRows, likelihood: Ordinal) -> OrdinalFit:
    """Solve, warn about problems, and estimate the standard errors."""
    blocks, held = hold_out(estimator, rows.blocks)
    rows = rows._replace(blocks=blocks)
    problem, count = ordinal_problem(estimator, rows, likelihood)
    data = problem.data
    null = NullTotals.of_counts(data.share * count, data.share * (rows.blocks.n_rows or np.nan))
    problem = replace(problem.measured(null), held_rows=held)
    found, infinite = _optimum(estimator, problem, count, rows)
    other = with_orthogonal_columns(problem, found, rows, warned_by=estimator, centre=True)
    if other is not None:
        problem = other
        found, infinite = _optimum(estimator, problem, count, rows)
        found = with_redundant(problem, found)
    warn_of_fit(estimator, found, partial(parameter_names, rows), infinite)
    known = _evaluated_hessian(problem, found, count)
    inference = _inference(estimator, problem, found, rows, infinite, known)
    theta = np.dot(_jacobian(problem), found.theta)
    passes = float(sum(data.passes)) + (rows.blocks.n_rows is None)  # counting classes in a file
    solution = replace(found.solution, theta=theta, passes=passes)
    p = rows.coding.n_coefficients
    return OrdinalFit(theta[:p], theta[p:], solution, inference, infinite is not None)


def _optimum(
    estimator: Any, problem: Problem, count: Array, rows: LinearRows
) -> tuple[Found, Divergence | None]:
    """The end of a search, refined where standard errors are wanted, or a way to infinity."""
    start = problem.objective.start(count)
    found = solve(
        problem,
        start,
        solver=estimator.solver,
        tol=estimator.tol,
        max_iter=estimator.max_iter,
        last=_last_fit(estimator, problem),
        stop=estimator.stop,
    )
    found = with_falling_thresholds(found, rows.coding.n_coefficients)
    refuse_if_not_finite(found, rows)
    infinite = _divergence(problem, found, start)
    wanted = estimator.standard_errors is not None and start.size <= MOST_FOR_INFERENCE
    if infinite is None and wanted:
        found = finish(problem, start, found, tol=estimator.tol, max_iter=estimator.max_iter)
    return found, infinite


def ordinal_problem(
    estimator: Any, rows: LinearRows, likelihood: Ordinal, *, centre: bool = True
) -> tuple[Problem, Array]:
    """What the estimator minimises on these rows, and the weight of each class in them."""
    count = np.asarray(
        rows.executor.sum(partial(block_class_weight, likelihood.n_classes), rows.blocks).value
    )
    data = _framed(likelihood, rows, centre=centre)
    penalty = _penalty(estimator, rows, data)

    def on(blocks: Blocks, share: float, executor: Executor) -> OrdinalObjective:
        return OrdinalObjective(likelihood, penalty.scaled(share), blocks, executor)

    return Problem(on, penalty, data, rows.executor, start_executor=Serial()), count


def _last_fit(estimator: Any, problem: Problem) -> Array | None:
    """Where the last fit ended, if a search is to start there and can."""
    theta = last_theta(estimator, problem.data.framing.n_parameters)
    if theta is None:
        return None
    there, framing = np.array(theta), problem.data.framing
    centre, basis = framing.centre, framing.basis
    if centre is not None:  # exactly, so that a coefficient at 0 stays there
        there[problem.data.blocks.n_features :] += np.dot(theta[: centre.size], centre)
    if basis is not None:
        there[: len(basis)] = np.dot(basis, theta[: len(basis)])
    return there if np.isfinite(problem.objective.value(there)) else None


def with_falling_thresholds(found: Found, n_coefficients: int) -> Found:
    """The end of a search, without its last step if that one made thresholds cross.

    A step from a point that has converged is not checked.
    """
    falls = (np.diff(found.theta[n_coefficients:]) < 0).all()
    if falls or found.direction is None:
        return found
    return found._replace(theta=found.theta - found.direction)


def parameter_names(rows: LinearRows) -> tuple[str, ...]:
    """The coefficients, then each threshold b_j: the intercept of Y > j."""
    return (*rows.coding.names(), *(f"Y > {label}" for label in rows.classes.tolist()[:-1]))


def _refuse_empty(order: list[Any], classes: Array) -> None:
    present = set(classes.tolist())
    for label in order:
        if label not in present:
            raise InvalidInput(
                f"The order has the class {label!r}, which no row has, so its thresholds cannot "
                "be estimated. Leave it out of the order, or give examples of it."
            )


def _framed(likelihood: Ordinal, rows: LinearRows, *, centre: bool) -> Framed:
    """Columns minus their means; thresholds take the place of an intercept."""
    data = framed(rows.blocks, rows.executor, names=rows.coding.names, intercept=False)
    if data.share < 1 and not _has_every_class(likelihood, data.start):
        data = data._replace(start=data.blocks, share=1.0)
    means = centre_of(rows.blocks, data.start, rows.executor) if centre else None
    if means is not None and not np.isfinite(means).all():
        refuse_gaps(rows.blocks, rows.coding.names)  # by their row in the data, not among some
    if means is not None:
        refuse_too_large(means, rows.coding.names)
    n_coefficients = rows.coding.n_coefficients
    framing = Framing(n_coefficients + likelihood.n_classes - 1, False, means)
    return data._replace(
        blocks=redesigned(data.blocks, framing, n_coefficients),
        start=redesigned(data.start, framing, n_coefficients),
        framing=framing,
    )


def _has_every_class(likelihood: Ordinal, blocks: Blocks) -> bool:
    count = Serial().sum(partial(block_class_weight, likelihood.n_classes), blocks).value
    return bool((np.asarray(count) > 0).all())


def _penalty(estimator: Any, rows: LinearRows, data: Framed) -> Penalty:
    given = strengths_of(estimator)
    on_coef = spread(estimator, rows.coding, data.framing, given, intercept=False)
    return on_coef.with_free(len(rows.classes) - 1).penalty


def _divergence(problem: Problem, found: Found, start: Array) -> Divergence | None:
    """A direction to infinity, named by its coefficients, if any."""
    infinite = divergence(problem, found, start)
    if infinite is None:
        return None
    p = problem.data.blocks.n_features
    on_coef = tuple(j for j in infinite.columns if j < p)
    return infinite._replace(columns=on_coef or infinite.columns)


def _jacobian(problem: Problem) -> Array:
    """∂(β, b)/∂(β̃, b̃), of the columns and thresholds of the search."""
    framing, p = problem.data.framing, problem.data.blocks.n_features
    out = np.eye(framing.n_parameters)
    out[:p, :p] = framing.coefficients(np.eye(p)).T
    if framing.centre is not None:
        out[p:, :p] = -np.dot(framing.centre, out[: framing.centre.size, :p])
    return out


def _inference(
    estimator: Any,
    problem: Problem,
    found: Found,
    rows: LinearRows,
    infinite: Divergence | None,
    known: tuple[SecondOrder, Array] | None,
) -> Inference | None:
    """Standard errors, unless the coefficients are too many for a covariance matrix."""
    if estimator.standard_errors is None or found.theta.size > MOST_FOR_INFERENCE:
        return None
    estimate = ClassEstimate(
        problem.objective,
        len(rows.classes),
        found.theta,
        names=parameter_names(rows),
        jacobian=_jacobian(problem),
        held=found.held,
        infinite=() if infinite is None else infinite.columns,
        constants=tuple(range(problem.data.blocks.n_features, found.theta.size)),
        known=known,
    )
    return infer_classes(estimate, estimator.standard_errors)


def _evaluated_hessian(
    problem: Problem, found: Found, count: Array
) -> tuple[SecondOrder, Array] | None:
    """The likelihood and its Hessian, where the search ended at a point that it evaluated."""
    objective, theta = problem.objective, found.theta
    concave = objective.likelihood.link.log_concave  # else the search has the expected Hessian
    if found.hessian is None or not concave or not np.array_equal(theta, found.solution.theta):
        return None
    hessian = found.hessian - np.diag(problem.penalty.curvature(theta))
    nll = found.solution.trace[-1] - problem.penalty.value(theta)
    return SecondOrder(nll, np.zeros(theta.size), hessian), count
