"""The objective of softmax regression on rows, and where its search starts.

It starts from the constant model, from the last fit, or from weights that are given.
"""

from dataclasses import dataclass
from math import isfinite, log
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.caching import cached_property
from likely.compute.executor import Executor
from likely.data.block import Blocks
from likely.errors import InvalidInput
from likely.inputs.coding import refuse_gaps
from likely.linear.coding import LinearRows
from likely.linear.fitting import last_theta
from likely.linear.framing import Framing
from likely.linear.given_start import weights_given
from likely.linear.penalty import Spread
from likely.linear.problem import Problem
from likely.objectives.inference import NullTotals
from likely.objectives.softmax import SoftmaxObjective
from likely.penalties import Penalty

LEAST_COUNT = 0.5  # of a class among the rows to start from, which may have none of it


@final
@dataclass(frozen=True, eq=False)
class SoftmaxRows:
    """The objective of softmax regression on rows: classes, their reference, penalty and tie."""

    n_classes: int
    reference: int | None
    each: Spread  # the penalty of one class
    tie: Array | None = None

    @cached_property
    def penalty(self) -> Penalty:
        """On all weights, class by class; the weights of a column are in one group."""
        return self.each.repeated(self.n_classes - (self.reference is not None)).penalty

    def __call__(self, blocks: Blocks, share: float, executor: Executor) -> SoftmaxObjective:
        """The objective of a share of the rows, with that share of the penalty."""
        tie = None if self.tie is None else share * self.tie
        penalty = self.penalty.scaled(share)
        return SoftmaxObjective(self.n_classes, penalty, blocks, executor, self.reference, tie)

    @property
    def centred_columns(self) -> Array:
        """The columns whose weights total 0 over the classes at the optimum: no corner decides."""
        if self.reference is not None:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(self.each.l1 == 0)

    @property
    def free_columns(self) -> Array:
        """The columns on which no penalty decides between weights that differ by a shift."""
        if self.reference is not None:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(self.each.penalty.free(len(self.each.l1)))


def start_of_classes(
    problem: Problem, softmax: SoftmaxRows, rows: LinearRows
) -> tuple[Array, NullTotals]:
    """The constant model: the shares of the classes.  At θ = 0, ∂f/∂b_k = Σw/K − Σw t_k."""
    objective, K = problem.on_start_rows, softmax.n_classes
    start = np.zeros(objective.size)
    here = objective.first_order(start)
    if not isfinite(here.value) or not np.isfinite(here.gradient).all():
        _refuse(rows)
    total, n_rows = here.value / log(K), problem.data.start.n_rows or np.nan
    if not problem.data.framing.intercept:
        return start, NullTotals.of_counts(np.full(K, total / K), n_rows)
    count = total / K - objective.classes.rows(here.gradient)[:, -1]
    least = LEAST_COUNT * total / (problem.data.start.n_rows or total)  # of a row of mean weight
    level = np.log(np.maximum(count, least))
    if softmax.reference is None:
        level -= level.mean()
    else:
        count = np.append(count, total - count.sum())
        level -= log(max(float(count[-1]), least))
    objective.classes.rows(start)[:, -1] = level
    return start, NullTotals.of_counts(np.maximum(count, 0.0), n_rows)


def last_fit(estimator: Any, problem: Problem) -> Array | None:
    """Where the last fit ended, if a search is to start there."""
    theta, framing = last_theta(estimator, problem.n_parameters), problem.data.framing
    return (
        None
        if theta is None
        else np.ravel(framing.from_user(theta.reshape(-1, framing.n_parameters)))
    )


def given_start(softmax: SoftmaxRows, framing: Framing, given: Any) -> Array:
    """θ of the framed design from weights of the data as they are.

    It is centred over classes, but where an L1 penalty decides how.
    """
    K = softmax.n_classes
    coef, intercept = weights_given(given)
    if coef.shape != (K, framing.n_coefficients) or intercept.shape != (K,):
        raise InvalidInput(
            f"start holds arrays of shape {coef.shape} and {intercept.shape}; weights of shape "
            f"{(K, framing.n_coefficients)} and intercepts of shape {(K,)} were expected. "
            "Give one row of weights per class."
        )
    theta = framing.from_user(np.column_stack([coef, intercept]) if framing.intercept else coef)
    if softmax.reference is None:
        return np.ravel(theta - np.where(softmax.each.l1 > 0, 0.0, theta.mean(axis=0)))
    return np.ravel(np.delete(theta - theta[softmax.reference], softmax.reference, axis=0))


def _refuse(rows: LinearRows) -> None:
    refuse_gaps(rows.blocks, rows.coding.names)
    raise InvalidInput(
        "The objective is not finite where the search starts: some values are too large for double "
        "precision. Divide the columns by a round number."
    )
