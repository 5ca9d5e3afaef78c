"""Temperature scaling: one number divides all scores.

    p(k | x) ∝ exp(β s_k(x)),  β = 1/T        minimise −Σ_i w_i log p(y_i | x_i)

The loss is convex in β, and searched over log β, so that β stays positive.  The most probable class
stays the most probable.

References
----------
Guo, Pleiss, Sun & Weinberger, On calibration of modern neural networks, ICML 2017, §4.2.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, final

import numpy as np

from likely._typing import Array, Codes
from likely.calibrate.evidence import (
    WARMEST,
    Wording,
    warn_no_information,
    warn_nothing_to_calibrate,
)
from likely.calibrate.scaling import Scaling, Scores, log_odds
from likely.output.description import Fact
from likely.solvers.base import SecondOrder, SmoothObjective
from likely.solvers.minimise import Solution, minimise
from likely.solvers.newton import Newton
from likely.special import log_softmax
from likely.storage.declarations import Numbers, Saved

LEAST, MOST = -np.log(WARMEST), np.log(1e6)  # of log β: beyond is separation, not calibration
WORDS = Wording("all classes are equally probable", "use the estimator as it is")


@final
class TemperatureScaling(Scaling):
    """A classifier whose log-probabilities are divided by a temperature.

    Parameters
    ----------
    estimator : classifier
        Anything with ``decision_function``, ``predict_log_proba`` or ``predict_proba``.  A
        decision function is read as logits for several classes, as log-odds for two.
    cv : int, splitter or "prefit"
        How held-out scores are computed: a number of stratified folds, a splitter, or
        ``"prefit"`` for an estimator that is already fitted, to rows other than these.  With
        folds, the estimator is fitted once more to all rows.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    estimator_ : classifier
        The estimator, fitted to all rows; with "prefit", the one that was given.
    temperature_ : float
        T: above 1 if the estimator is overconfident, below 1 if it is underconfident.
    solution_ : Solution
        How the search for log 1/T ended: its trace, and why it stopped.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger, On calibration of modern neural networks, ICML 2017, §4.2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from likely.calibrate.temperature import TemperatureScaling
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = TemperatureScaling(GaussianNB()).fit(X, y)
    >>> print(f"{model.temperature_:.0f} times too sure")
    7 times too sure
    """

    saved: ClassVar = Scaling.saved | Saved(
        {"temperature_": Numbers(float, "finite", "positive"), "solution_": Solution}
    )

    plate_symbols = ("T",)

    def __init__(self, estimator: Any, cv: Any = 5) -> None:
        self.estimator = estimator
        self.cv = cv

    def decision_function(self, X: Any) -> Array:
        """The calibrated log-odds, (n,); for more than two classes, log p(k | x)."""
        return log_odds(self.predict_log_proba(X))

    def _calibrate(self, scores: Scores, codes: Codes, weight: Array) -> None:
        centred = scores.values - scores.values.max(axis=1, keepdims=True)
        objective = TemperatureObjective(partial(temperature_loss, centred, codes, weight))
        self.temperature_, self.solution_ = search_temperature(objective)

    def _facts(self) -> tuple[Fact, ...]:
        return (Fact("temperature", "temperature", float(self.temperature_)),)

    def _log_proba(self, scores: Scores) -> Array:
        return log_softmax(scores.values / self.temperature_, axis=1)


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


def search_temperature(objective: TemperatureObjective) -> tuple[float, Solution]:
    """T, and how its search ended.

    Where the scores do not determine T, it is 1; where they have no information, it is 1e12.
    """
    here = objective.second_order(np.zeros(1))
    without = objective.total(LEAST).value
    if not here.hessian[0, 0] > 0:
        if 0 < here.value >= without:  # the scores of a row are all equal
            warn_no_information(WORDS)
            return WARMEST, Solution(np.zeros(1), True, "", (here.value,), 0.0)
        why = (
            "every held-out row is already predicted correctly, or its class is missing from the "
            "training folds"
        )
        return 1.0, _settled_nothing(why)
    solution = minimise(Newton(), objective, np.zeros(1), tol=1e-10, max_iter=100)
    log_beta = float(np.clip(solution.theta[0], LEAST, MOST))
    # convex in β: a loss that does not rise at the end falls all the way there
    if log_beta > 0 and objective.total(MOST).gradient[0] <= 0:
        return 1.0, _settled_nothing("every held-out row is already predicted correctly")
    if log_beta <= LEAST or without <= objective.total(log_beta).value:
        warn_no_information(WORDS)
        return WARMEST, solution
    return float(np.exp(-log_beta)), solution


def _settled_nothing(why: str) -> Solution:
    """The temperature 1 without a search, with a warning."""
    warn_nothing_to_calibrate(why, WORDS)
    return Solution(np.zeros(1), True, f"among the scored rows, {why}", (0.0,), 0.0)
