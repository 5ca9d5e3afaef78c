"""Temperature: the number by which scores are divided to give calibrated probabilities.

    p(k | x) ∝ exp(β s_k(x))        β = 1/T        minimise −Σ_i w_i log p(y_i | x_i)

The loss is convex in β.  The evidence of generative models is cooled in ``evidence``.

References
----------
Guo, Pleiss, Sun & Weinberger, On calibration of modern neural networks, ICML 2017, §4.2.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.errors import NothingToCalibrate, warn_user
from likely.solvers.base import SecondOrder, SmoothObjective
from likely.solvers.minimise import Solution, minimise
from likely.solvers.newton import Newton
from likely.special import log_softmax

WARMEST = 1e12  # at this temperature scores have no effect, even those of a very narrow Gaussian
LEAST, MOST = -np.log(WARMEST), np.log(1e6)  # of log β: beyond is separation, not calibration


class Wording(NamedTuple):
    """Words for warnings about a calibrated model."""

    left: str  # what is left of it without any evidence
    advice: str  # what to do instead


def temperature_loss(score: Array, y: Codes, weight: Array, log_beta: float) -> SecondOrder:
    """The loss and its derivatives in log β, so that β stays positive; ``score`` is (n, K)."""
    beta = np.exp(log_beta)
    log_p = log_softmax(beta * score, axis=1)
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


def search_temperature(objective: TemperatureObjective, words: Wording) -> tuple[float, Solution]:
    """T, and how its search ended.

    Where the scores do not determine T, it is 1; where they have no information, it is 1e12.
    """
    here = objective.second_order(np.zeros(1))
    without = objective.total(LEAST).value
    if not here.hessian[0, 0] > 0:
        if 0 < here.value >= without:  # the scores of a row are all equal
            warn_no_information(words)
            return WARMEST, Solution(np.zeros(1), True, "", (here.value,), 0.0)
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
        warn_no_information(words)
        return WARMEST, solution
    return float(np.exp(-log_beta)), solution


def _settled_nothing(why: str, words: Wording) -> Solution:
    """The temperature 1 without a search, with a warning."""
    warn_nothing_to_calibrate(why, words)
    return Solution(np.zeros(1), True, f"among the scored rows, {why}", (0.0,), 0.0)


def warn_no_information(words: Wording) -> None:
    """Warn that the highest temperature is used."""
    warn_user(
        "The scores carry no information about the classes, so the temperature is "
        f"{WARMEST:.0e} and {words.left}. Give more rows or other columns, or "
        f"{words.advice}.",
        NothingToCalibrate,
    )


def warn_nothing_to_calibrate(why: str, words: Wording) -> None:
    """Warn that the temperature is 1."""
    warn_user(
        f"There is nothing to calibrate: among the scored rows, {why}. The temperature is 1. "
        f"Give more rows, or {words.advice}.",
        NothingToCalibrate,
    )
