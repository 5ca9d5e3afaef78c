"""The objectives that linear models fit, on rows as they came: not centred, θ = [W b].

Each is made by the function that makes it for the fit, and a vector is stored in a model as the
result of a fit is.
"""

from copy import copy
from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.inputs.coding import refuse_gaps
from likely.likelihoods.base import Likelihood
from likely.likelihoods.ordinal import Ordinal
from likely.linear.coding import LinearRows
from likely.linear.covariance import estimated_dispersion
from likely.linear.fitting import (
    LinearFit,
    in_session,
    parts,
    problem_of,
    start_of,
    with_valid_responses,
)
from likely.linear.inference import Inference
from likely.linear.ordinal_fitting import OrdinalFit, ordinal_problem
from likely.linear.problem import Problem
from likely.linear.softmax_fitting import SoftmaxFit, softmax_problem
from likely.linear.softmax_problem import start_of_classes
from likely.objectives.model import ModelObjective, Reduction
from likely.objectives.packing import Packing
from likely.objectives.penalised import PenalisedSum
from likely.solvers.minimise import Solution

GIVEN = "the parameters were given, not searched for"


class Weights(NamedTuple):
    """One weight per feature of x and y, how they were found, and how sure they are."""

    coef: Array
    solution: Solution
    inference: Inference | None
    separated: bool


def given_solution(objective: PenalisedSum, theta: Array) -> Solution:
    """Parameters that no search has found."""
    value = objective.value(theta) + objective.penalty(theta)
    return Solution(theta, False, GIVEN, (value,), np.inf)


@in_session
def linear_objective(
    model: Any, rows: LinearRows, likelihood: Likelihood, reduction: Reduction
) -> ModelObjective:
    """Of one likelihood and one predictor; ``model`` has opened the rows, and is not fitted."""
    refuse_gaps(rows.blocks, rows.coding.names)
    rows = rows._replace(blocks=with_valid_responses(rows, likelihood))
    problem = problem_of(model, rows, likelihood, centre=False)
    framing, whole = problem.data.framing, problem.objective

    def write(theta: Array) -> Any:
        coef, intercept = parts(theta, framing)
        psi = estimated_dispersion(likelihood, whole, theta)
        fit = LinearFit(
            coef,
            float(intercept),
            given_solution(whole, theta),
            None,
            dispersion=psi.value,
            ml_dispersion=psi.at_maximum,
        )
        return copy(model)._store(fit, rows, likelihood)

    d = framing.n_coefficients
    n_constants, classes = int(framing.intercept), bool(rows.classes.size)
    packing = Packing((1, d), (1,), n_constants) if classes else Packing((d,), (), n_constants)
    return ModelObjective(
        problem.on,
        problem.data.blocks,
        rows.executor,
        packing,
        start_of(likelihood, problem.data, rows),
        write,
        type(model).__name__,
        reduction,
        rows.position,
    )


@in_session
def softmax_objective(
    model: Any, rows: LinearRows, reference: int | None, reduction: Reduction
) -> ModelObjective:
    """Of one predictor per class; without a reference, weights that differ by a shift are alike."""
    refuse_gaps(rows.blocks, rows.coding.names)
    n_classes = len(rows.classes)
    problem, softmax = softmax_problem(model, rows, n_classes, reference, centre=False)
    framing, whole = problem.data.framing, problem.objective
    d, n_constants = framing.n_coefficients, int(framing.intercept)
    packing = Packing((n_classes, d), (n_classes,), n_constants, reference)

    def write(theta: Array) -> Any:
        fit = SoftmaxFit(*packing.unpack(theta), given_solution(whole, theta), None, False)
        return copy(model)._store(fit, rows)

    start, _ = start_of_classes(problem, softmax, rows)
    return ModelObjective(
        problem.on,
        problem.data.blocks,
        rows.executor,
        packing,
        start,
        write,
        type(model).__name__,
        reduction,
        rows.position,
    )


@in_session
def ordinal_objective(
    model: Any, rows: LinearRows, likelihood: Ordinal, reduction: Reduction
) -> ModelObjective:
    """Of one predictor and falling thresholds; it is infinite where two of them cross."""
    refuse_gaps(rows.blocks, rows.coding.names)
    problem, count = ordinal_problem(model, rows, likelihood, centre=False)
    whole, n_thresholds = problem.objective, likelihood.n_classes - 1
    packing = Packing((rows.coding.n_coefficients,), (n_thresholds,), n_thresholds)

    def write(theta: Array) -> Any:
        if not whole.allows(theta):
            raise InvalidInput(
                f"The thresholds are {packing.unpack(theta).intercept.tolist()}; each must be "
                "below the one before. Sort them from the highest to the lowest."
            )
        fit = OrdinalFit(*packing.unpack(theta), given_solution(whole, theta), None, False)
        return copy(model)._store(fit, rows, likelihood)

    return ModelObjective(
        problem.on,
        problem.data.blocks,
        rows.executor,
        packing,
        whole.start(count),
        write,
        type(model).__name__,
        reduction,
        rows.position,
    )


def feature_objective(model: Any, problem: Problem, reduction: Reduction) -> ModelObjective:
    """Of one weight for each feature of x and y."""
    n_weights, whole = problem.n_parameters, problem.objective

    def write(theta: Array) -> Any:
        return copy(model)._store(Weights(theta, given_solution(whole, theta), None, False))

    return ModelObjective(
        problem.on,
        problem.data.blocks,
        problem.executor,
        Packing((n_weights,), (), n_constants=0),
        np.zeros(n_weights),
        write,
        type(model).__name__,
        reduction,
    )
