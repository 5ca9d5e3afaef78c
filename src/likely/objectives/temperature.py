"""Temperature: how far a classifier's scores must be cooled to be believed.

    p(k | x) ∝ exp(β s_k(x))        β = 1/T        minimise −Σ_i w_i log p(y_i | x_i)

The scores are out of fold: row i is scored by a model that has not seen its fold.  Fold
statistics are merged by prefix and suffix, so all leave-one-fold-out models cost one pass.
The loss is convex in β.

References
----------
Guo, Pleiss, Sun & Weinberger, On calibration of modern neural networks, ICML 2017, §4.2.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Self, final

import numpy as np

from likely._typing import Array, Codes
from likely.additive import Additive
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks
from likely.data.split import FOLD_SEED, fold_of
from likely.distributions.base import Family
from likely.errors import NothingToCalibrate, warn_user
from likely.objectives.components import Components, ComponentTotals, block_totals
from likely.solvers.base import SecondOrder, SmoothObjective
from likely.solvers.minimise import Solution, minimise
from likely.solvers.newton import Newton
from likely.special import log_softmax

N_FOLDS = 5
COLDEST = np.log(1e6)  # |log β| beyond this is separation, not calibration
LOWEST_SCORE = -1e100  # of an impossible class: its square must stay finite
OF_AN_OPTION = "leave out calibrate"  # what to do about it where calibration is an option


@final
@dataclass(frozen=True, eq=False)
class FoldTotals(Additive):
    """The totals of each fold."""

    folds: tuple[ComponentTotals, ...]

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(a + b for a, b in zip(self.folds, other.folds, strict=True)))

    def left_out(self) -> tuple[ComponentTotals, ...]:
        """Σ over all folds but one, for each, by prefix and suffix: nothing is subtracted."""
        n = len(self.folds)
        prefix, suffix = list(self.folds), list(self.folds)
        for i in range(1, n):
            prefix[i] = prefix[i - 1] + self.folds[i]
            suffix[n - 1 - i] = self.folds[n - 1 - i] + suffix[n - i]
        ends = [suffix[1], *(prefix[i - 1] + suffix[i + 1] for i in range(1, n - 1)), prefix[n - 2]]
        return tuple(ends)


def block_fold_totals(family: Family, n_components: int, block: Block) -> FoldTotals:
    assert block.y is not None  # calibration needs labels
    fold = fold_of(block.start, block.n_rows, FOLD_SEED, N_FOLDS)
    return FoldTotals(
        tuple(
            block_totals(family, n_components, replace(block, y=np.where(fold == f, block.y, -1)))
            for f in range(N_FOLDS)
        )
    )


def block_temperature_loss(
    models: tuple[Components, ...], log_beta: float, block: Block
) -> SecondOrder:
    """The loss of a block's rows whose class the model that scores them has seen."""
    assert block.y is not None
    score = out_of_fold_scores(models, block)
    known = (block.y >= 0) & (score[np.arange(block.n_rows), block.y] > LOWEST_SCORE)
    weight = np.ones(block.n_rows) if block.weight is None else block.weight
    return temperature_loss(score[known], block.y[known], weight[known], log_beta)


def temperature_loss(score: Array, y: Codes, weight: Array, log_beta: float) -> SecondOrder:
    """The loss and its derivatives in log β, so that β stays positive; ``score`` is (n, K)."""
    beta = np.exp(log_beta)
    log_p = log_softmax(beta * score, axis=1)
    p = np.exp(log_p)
    rows = np.arange(len(y))
    mean = np.einsum("ik,ik->i", p, score)
    slope = float(np.dot(weight, mean - score[rows, y]))  # d loss / dβ
    spread = float(np.dot(weight, np.einsum("ik,ik->i", p, (score - mean[:, None]) ** 2)))
    return SecondOrder(
        value=-float(np.dot(weight, log_p[rows, y])),
        gradient=np.array([beta * slope]),
        hessian=np.array([[beta**2 * spread]]),  # a part of it: see ``second_order``
    )


def out_of_fold_scores(models: tuple[Components, ...], block: Block) -> Array:
    """log p(x, k) up to a shared term, by the model that did not see the row; (n, K)."""
    fold = fold_of(block.start, block.n_rows, FOLD_SEED, N_FOLDS)
    X = block.X.stored()
    scores = np.stack([model.log_score(X) for model in models])
    chosen = scores[fold, np.arange(block.n_rows)]
    return np.maximum(chosen - chosen.max(axis=1, keepdims=True), LOWEST_SCORE)


@final
@dataclass(frozen=True, eq=False)
class TemperatureObjective(SmoothObjective):
    """The loss as a function of θ = log β, kept within ±``COLDEST``."""

    total: Callable[[float], SecondOrder]  # of log β: Σ over rows of ``temperature_loss``

    def second_order(self, theta: Array) -> SecondOrder:
        here = self.total(float(np.clip(theta[0], -COLDEST, COLDEST)))
        # β²·spread + β·slope is the curvature in log β; |slope| keeps it positive on the way,
        # and is taken of the total, for absolute values do not add
        curvature = here.hessian + np.abs(here.gradient)
        if abs(theta[0]) >= COLDEST and here.gradient[0] * theta[0] < 0:  # at the end: stay there
            return replace(here, gradient=np.zeros(1), hessian=curvature + 1.0)
        return replace(here, hessian=curvature)


def out_of_fold_objective(
    models: tuple[Components, ...], blocks: Blocks, executor: Executor
) -> TemperatureObjective:
    """The loss of all blocks, each row scored by the model that did not see it."""

    def total(log_beta: float) -> SecondOrder:
        return executor.sum(partial(block_temperature_loss, models, log_beta), blocks)

    return TemperatureObjective(total)


def fit_temperature(
    family: Family,
    n_components: int,
    blocks: Blocks,
    executor: Executor,
    learn: Callable[[ComponentTotals], Components],
) -> tuple[float, Solution]:
    """T of out-of-fold scores, and how its search ended; ``learn`` turns totals into a model."""
    folds = executor.sum(partial(block_fold_totals, family, n_components), blocks)
    left_out = folds.left_out()
    if n_components < 2 or not all(totals.count.sum() > 0 for totals in left_out):
        return 1.0, _settled_nothing("there is one class, or there are too few rows", OF_AN_OPTION)
    objective = out_of_fold_objective(tuple(map(learn, left_out)), blocks, executor)
    return search_temperature(objective, OF_AN_OPTION)


def search_temperature(objective: TemperatureObjective, advice: str) -> tuple[float, Solution]:
    """T, and how its search ended; ``advice`` ends the warnings.

    Where the scores settle nothing, T is 1; where they carry no information, it is 1e6.
    """
    here = objective.second_order(np.zeros(1))
    if not here.hessian[0, 0] > 0:
        why = "no row is scored wrongly, or no row's class is in the others"
        return 1.0, _settled_nothing(why, advice)
    solution = minimise(Newton(), objective, np.zeros(1), tol=1e-10, max_iter=100)
    log_beta = float(np.clip(solution.theta[0], -COLDEST, COLDEST))
    # convex in β: a loss that does not rise at the coldest end falls all the way there
    if log_beta > 0 and objective.total(COLDEST).gradient[0] <= 0:
        return 1.0, _settled_nothing("no row is scored wrongly", advice)
    if log_beta <= -COLDEST:
        warn_user(
            "The scores carry no information about the classes, so the temperature is "
            f"{np.exp(COLDEST):.0e} and all classes are equally probable. Give more rows or other "
            f"columns, or {advice}.",
            NothingToCalibrate,
        )
    return float(np.exp(-log_beta)), solution


def _settled_nothing(why: str, advice: str) -> Solution:
    """A search that was not needed, and a word about it."""
    warn_user(
        f"There is nothing to calibrate: among the rows scored, {why}. The temperature is 1. "
        f"Give more rows, or {advice}.",
        NothingToCalibrate,
    )
    return Solution(np.zeros(1), True, f"among the rows scored, {why}", (0.0,), 0.0)
