"""How the weights of a maximum entropy model with features F[n, y, j] are found.

    minimise  −Σ_i v_i log p(y_i | x_i) + l1·‖w‖₁ + ½·l2·‖w‖²

in units of the deviance of equal probabilities.  ``model`` is the estimator, with its settings and
its classes; ``names`` are those of its weights.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from likely.compute.executor import Executor, executor_for
from likely.data.block import ArrayBlocks, Blocks, CountedBlocks
from likely.errors import RedundantColumns, warn_user
from likely.linear.class_inference import ClassEstimate, infer_classes
from likely.linear.covariance import MOST_FOR_INFERENCE
from likely.linear.divergence import Divergence, divergence
from likely.linear.fitting import last_theta, warn_of_fit
from likely.linear.framing import Framed, Framing
from likely.linear.held_rows import hold_out
from likely.linear.inference import Inference
from likely.linear.objective import Weights
from likely.linear.penalty import Spread, strengths_of
from likely.linear.problem import Problem
from likely.objectives.inference import NullTotals
from likely.objectives.maxent import MaxEntropyObjective
from likely.penalties import Penalty, PenaltySum
from likely.solvers.choice import finish, solve
from likely.solvers.search_problem import Found


def weights_problem(model: Any, rows: ArrayBlocks, names: Sequence[str]) -> Problem:
    """What is minimised, in units of the deviance of equal probabilities."""
    n_classes, n_weights, passes = len(model.classes_), len(names), list[float]()
    (fitted, held), penalty = hold_out(model, rows), _penalty(model, names)
    counted, framing = CountedBlocks(fitted, passes), Framing(n_weights, False, None)

    def on(blocks: Blocks, share: float, executor: Executor) -> MaxEntropyObjective:
        return MaxEntropyObjective(n_classes, penalty.scaled(share), blocks, executor)

    data = Framed(counted, counted, 1.0, framing, passes, fitted)
    total = rows.n_rows if rows.weight is None else rows.weight.sum()
    executor = executor_for(model.executor, rows.nbytes)
    problem = Problem(on, penalty, data, executor, held_rows=held)
    even = np.full(n_classes, float(total) / n_classes)
    return problem.measured(NullTotals.of_counts(even, rows.n_rows))


def fit_weights(model: Any, rows: ArrayBlocks, names: Sequence[str]) -> Weights:
    """The weights, with their standard errors where they are asked for."""
    problem, start = weights_problem(model, rows, names), np.zeros(len(names))
    found = solve(
        problem,
        start,
        solver=model.solver,
        tol=model.tol,
        max_iter=model.max_iter,
        last=last_theta(model, len(names)),
        stop=model.stop,
    )
    if found.held:
        warn_user(
            f"MaxEntropy: feature {found.held[0]} can be computed from those before it, or is "
            "the same for every label; its weight is fixed at 0. Drop it, or give a penalty "
            "(l2=1.0).",
            RedundantColumns,
        )
    infinite = divergence(problem, found, start)
    if infinite is None and model.standard_errors is not None:
        found = finish(problem, start, found, tol=model.tol, max_iter=model.max_iter)
    warn_of_fit(model, found._replace(held=()), lambda: tuple(names), infinite)
    inference = _errors(model, problem, found, names, infinite)
    solution = replace(found.solution, theta=found.theta, passes=sum(problem.data.passes))
    return Weights(found.theta, solution, inference, infinite is not None)


def _penalty(model: Any, names: Sequence[str]) -> Penalty:
    """On each weight; groups name features, or are of their positions."""
    given, n_weights = strengths_of(model), len(names)
    l1, l2 = (np.broadcast_to(np.asarray(s, dtype=float), (n_weights,)) for s in given[:2])
    own = tuple(group.on_columns(tuple(names), np.arange(n_weights)) for group in given.groups)
    return Spread(l1, l2, PenaltySum(own).grouped(n_weights)).penalty


def _errors(
    model: Any, problem: Problem, found: Found, names: Sequence[str], infinite: Divergence | None
) -> Inference | None:
    if model.standard_errors is None or len(names) > MOST_FOR_INFERENCE:
        return None
    estimate = ClassEstimate(
        problem.objective,
        len(model.classes_),
        found.theta,
        names=tuple(names),
        jacobian=np.eye(len(names)),
        held=found.held,
        infinite=() if infinite is None else infinite.columns,
    )
    return infer_classes(estimate, model.standard_errors)
