"""Temperature: the number by which scores are divided to give calibrated probabilities.

    p(k | x) ∝ π_k exp(β s_k(x))        β = 1/T        minimise −Σ_i w_i log p(y_i | x_i)

For a generative model, s_k(x) = log p(x | k): the evidence is divided by T and the class prior π is
not, so that useless evidence (T → ∞) leaves the prior.  For any other classifier, s are
its scores and π is uniform.

The choice is cautious: of all β up to the optimum, the one is used whose gain over the prior,
Σ_i w_i [log p(y_i | x_i) − log π_{y_i}], is largest after ``CAUTION`` of its standard errors are
subtracted.  With many rows that is the optimum; a gain that a few rows make by chance is not used.

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
from typing import NamedTuple, Self, final

import numpy as np

from likely._typing import Array, Codes
from likely.additive import Additive, FieldwiseAdditive
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
WARMEST = 1e12  # at this temperature scores have no effect, even those of a very narrow Gaussian
LEAST, MOST = -np.log(WARMEST), np.log(1e6)  # of log β: beyond is separation, not calibration
CAUTION = 1.0  # standard errors that are subtracted from a gain
SHARES = np.geomspace(1.0, 0.01, 32)  # of the best β: where its gain is looked at
LOWEST_SCORE = -1e100  # of an impossible class: its square must stay finite


class Wording(NamedTuple):
    """Words for warnings about a calibrated model."""

    left: str  # what is left of it without any evidence
    advice: str  # what to do instead


OF_EVIDENCE = Wording("only the class prior is left", "leave out calibrate")


@final
@dataclass(frozen=True, eq=False)
class FoldTotals(Additive):
    """The totals of each fold."""

    folds: tuple[ComponentTotals, ...]

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(a + b for a, b in zip(self.folds, other.folds, strict=True)))

    def left_out(self) -> tuple[ComponentTotals, ...]:
        """Σ over all folds but one, for each, by prefix and suffix: without subtraction."""
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
    rows = scored_rows(models, block)
    return temperature_loss(rows.score, rows.y, rows.weight, log_beta, log_prior=rows.log_prior)


def temperature_loss(
    score: Array, y: Codes, weight: Array, log_beta: float, *, log_prior: Array | float = 0.0
) -> SecondOrder:
    """The loss and its derivatives in log β, so that β stays positive; ``score`` is (n, K)."""
    beta = np.exp(log_beta)
    log_p = log_softmax(log_prior + beta * score, axis=1)
    p = np.exp(log_p)
    rows = np.arange(len(y))
    mean = np.einsum("ik,ik->i", p, score)
    slope = float(np.dot(weight, mean - score[rows, y]))  # d loss / dβ
    with np.errstate(over="ignore"):  # scores of classes of one row can be beyond 1e154
        spread = float(np.dot(weight, np.einsum("ik,ik->i", p, (score - mean[:, None]) ** 2)))
    return SecondOrder(
        value=-float(np.dot(weight, log_p[rows, y])),
        gradient=np.array([beta * slope]),
        hessian=np.array([[beta**2 * spread]]),  # a part of it: see ``second_order``
    )


class ScoredRows(NamedTuple):
    """Rows scored by the model that was not trained on them."""

    score: Array  # log p(x | k) up to a shared term, (n, K)
    log_prior: Array  # log π_k, (n, K)
    y: Codes
    weight: Array


def scored_rows(models: tuple[Components, ...], block: Block) -> ScoredRows:
    """The rows whose class is known to the model that scores them."""
    assert block.y is not None  # calibration needs labels
    fold = fold_of(block.start, block.n_rows, FOLD_SEED, N_FOLDS)
    X = block.X.stored()
    scores = np.stack([model.distribution.log_score(X) for model in models])
    chosen = scores[fold, np.arange(block.n_rows)]
    log_prior = np.stack([model.log_mixing for model in models])[fold]
    impossible = np.isneginf(log_prior)
    top = np.max(chosen, axis=1, keepdims=True, where=~impossible, initial=-np.inf)
    centred = np.subtract(chosen, top, where=np.isfinite(top), out=np.zeros(chosen.shape))
    score, log_prior = np.maximum(centred, LOWEST_SCORE), np.maximum(log_prior, LOWEST_SCORE)
    own = np.minimum(score, log_prior)[np.arange(block.n_rows), block.y]
    known = (block.y >= 0) & (own > LOWEST_SCORE)
    weight = np.ones(block.n_rows) if block.weight is None else block.weight
    return ScoredRows(score[known], log_prior[known], block.y[known], weight[known])


@final
@dataclass(frozen=True, eq=False)
class EvidenceGains(FieldwiseAdditive):
    """The reduction in loss relative to the class prior, for each β of a list."""

    weight: float  # Σ w
    first: Array  # Σ w d, d = log p(y | x) − log π_y
    second: Array  # Σ w d²

    def cautious(self) -> Array:
        """Σ w d minus ``CAUTION`` standard errors."""
        variance = np.maximum(self.second - self.first**2 / self.weight, 0.0)
        return self.first - CAUTION * np.sqrt(variance)


def block_gains(models: tuple[Components, ...], betas: Array, block: Block) -> EvidenceGains:
    """The gains of a block's rows whose class the model that scores them has seen."""
    rows = scored_rows(models, block)
    own = np.arange(len(rows.y)), rows.y
    prior = log_softmax(rows.log_prior, axis=1)[own]
    d = np.stack([log_softmax(rows.log_prior + b * rows.score, axis=1)[own] - prior for b in betas])
    return EvidenceGains(
        float(rows.weight.sum()), np.dot(d, rows.weight), np.dot(d**2, rows.weight)
    )


@final
@dataclass(frozen=True, eq=False)
class TemperatureObjective(SmoothObjective):
    """The loss as a function of θ = log β, kept between ``LEAST`` and ``MOST``."""

    total: Callable[[float], SecondOrder]  # of log β: Σ over rows of ``temperature_loss``

    def second_order(self, theta: Array) -> SecondOrder:
        here = self.total(float(np.clip(theta[0], LEAST, MOST)))
        # β²·spread + β·slope is the curvature in log β; |slope| keeps it positive on the way,
        # and is taken of the total, for absolute values do not add
        curvature = here.hessian + np.abs(here.gradient)
        at_the_end = not LEAST < theta[0] < MOST
        if at_the_end and here.gradient[0] * theta[0] < 0:  # stay there
            return replace(here, gradient=np.zeros(1), hessian=curvature + 1.0)
        return replace(here, hessian=curvature)


def out_of_fold_objective(
    models: tuple[Components, ...], blocks: Blocks, executor: Executor
) -> TemperatureObjective:
    """The loss of all blocks, each row scored by the model that was not trained on it."""

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
        return 1.0, _settled_nothing("there is one class, or there are too few rows", OF_EVIDENCE)
    models = tuple(map(learn, left_out))
    objective = out_of_fold_objective(models, blocks, executor)
    temperature, solution = search_temperature(objective, OF_EVIDENCE)
    if solution.n_iter == 0 or temperature == WARMEST:  # there is nothing to be cautious about
        return temperature, solution
    gains = executor.sum(partial(block_gains, models, SHARES / temperature), blocks).cautious()
    if not gains.max() > 0:
        return _no_information(solution, OF_EVIDENCE)
    return temperature / _share_at_peak(gains), solution


def _share_at_peak(gains: Array) -> float:
    """The share with the largest gain, by the parabola through it and its neighbours."""
    best = int(gains.argmax())
    if not 0 < best < len(gains) - 1:
        return float(SHARES[best])
    left, top, right = gains[best - 1 : best + 2]
    step = 0.5 * (left - right) / (left - 2 * top + right)  # between −½ and ½ of the grid's
    return float(SHARES[best] * (SHARES[1] / SHARES[0]) ** step)


def search_temperature(objective: TemperatureObjective, words: Wording) -> tuple[float, Solution]:
    """T, and how its search ended.

    Where the scores do not determine T, it is 1; where they have no information, it is 1e12.
    """
    here = objective.second_order(np.zeros(1))
    without = objective.total(LEAST).value
    if not here.hessian[0, 0] > 0:
        if 0 < here.value >= without:  # the scores of a row are all equal
            return _no_information(Solution(np.zeros(1), True, "", (here.value,), 0.0), words)
        why = (
            "every held-out row is already predicted correctly, or its class is missing from the "
            "training folds"
        )
        return 1.0, _settled_nothing(why, words)
    solution = minimise(Newton(), objective, np.zeros(1), tol=1e-10, max_iter=100)
    log_beta = float(np.clip(solution.theta[0], LEAST, MOST))
    # convex in β: a loss that does not rise at the end falls all the way there
    if log_beta > 0 and objective.total(MOST).gradient[0] <= 0:
        return 1.0, _settled_nothing("every held-out row is already predicted correctly", words)
    if log_beta <= LEAST or without <= objective.total(log_beta).value:
        return _no_information(solution, words)
    return float(np.exp(-log_beta)), solution


def _no_information(solution: Solution, words: Wording) -> tuple[float, Solution]:
    """The highest temperature, with a warning."""
    warn_user(
        "The scores carry no information about the classes, so the temperature is "
        f"{WARMEST:.0e} and {words.left}. Give more rows or other columns, or "
        f"{words.advice}.",
        NothingToCalibrate,
    )
    return WARMEST, solution


def _settled_nothing(why: str, words: Wording) -> Solution:
    """The temperature 1 without a search, with a warning."""
    warn_user(
        f"There is nothing to calibrate: among the scored rows, {why}. The temperature is 1. "
        f"Give more rows, or {words.advice}.",
        NothingToCalibrate,
    )
    return Solution(np.zeros(1), True, f"among the scored rows, {why}", (0.0,), 0.0)
