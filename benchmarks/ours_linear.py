"""This library's linear models, set to the objective that is stated, and the point they reach.

``tolerance`` is our ``tol``: (gap to the optimum) / (null deviance), the same for every solver.
Standard errors are left out against peers that compute none, and computed against statsmodels.
"""

from dataclasses import replace
from typing import Any

import numpy as np

import likely
from benchmarks.linear_problems import Binary, Classes, LassoPath, Mixed, Ordered
from benchmarks.objectives import Array, Cumulative, Linear
from benchmarks.race import OURS, Entrant, Fit
from benchmarks.workbench import without_warnings
from likely.data.block import ArrayBlocks
from likely.data.layouts.dense import Dense
from likely.objectives.columns import LeastSquaresColumns
from likely.solvers.lasso_path import lasso_path as search_path

# The target is relative to the optimum, which may be far below the null deviance.
STEPS = (1.0, 0.3, 0.1, 0.03)


def entrant(fit: str, target: float) -> Entrant:
    return Entrant(OURS, __name__, fit, tuple(step * target for step in STEPS))


def with_errors(fit: str, target: float) -> Entrant:
    """The default: standard errors too."""
    name = f"{OURS}, with standard errors"
    return replace(entrant(fit, target), name=name, settings={"standard_errors": "model"})


@without_warnings
def binary(problem: Binary, tolerance: float, *, standard_errors: str | None = None) -> Fit:
    model = likely.LogisticRegression(
        problem.link,
        l1=problem.l1,
        l2=problem.l2,
        fit_intercept=problem.fit_intercept,
        standard_errors=standard_errors,
        tol=tolerance,
    ).fit(problem.X, problem.y)
    return Fit(lambda: _linear(model), passes(model))


@without_warnings
def softmax(problem: Classes, tolerance: float) -> Fit:
    model = likely.SoftmaxRegression(l2=problem.l2, standard_errors=None, tol=tolerance).fit(
        problem.X, problem.y
    )
    return Fit(lambda: Linear(model.coef_, model.intercept_), passes(model))


@without_warnings
def ordinal(problem: Ordered, tolerance: float) -> Fit:
    model = likely.OrdinalRegression(l2=0.0, standard_errors=None, tol=tolerance).fit(
        problem.X, problem.y
    )
    return Fit(lambda: _cumulative(model), passes(model))


@without_warnings
def mixed(problem: Mixed, tolerance: float, *, standard_errors: str | None = None) -> Fit:
    model = likely.GLM(
        problem.response, link="log", standard_errors=standard_errors, tol=tolerance
    ).fit(problem.frame, problem.y, exposure=problem.exposure)
    return Fit(lambda: _mean(model, problem), passes(model))


@without_warnings
def lasso_path(problem: LassoPath, tolerance: float) -> Fit:
    """The search below ``PenaltyPath``, whose gap is relative to ½‖y‖² as well."""
    blocks = ArrayBlocks(Dense(problem.X), problem.y)
    path = search_path(
        LeastSquaresColumns.of(blocks), penalties=problem.l1, intercept=False, tol=tolerance
    )
    return Fit(lambda: path.coefficients, float(path.passes))


def passes(model: Any) -> float | None:
    """Full passes over the data."""
    return getattr(getattr(model, "solution_", None), "passes", None)


def _linear(model: Any) -> Linear:
    return Linear(np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]))


def _cumulative(model: Any) -> Cumulative:
    """P(Y > k) = σ(b_k + xᵀw), so t = −b."""
    return Cumulative(np.ravel(model.coef_), -np.asarray(model.thresholds_))


def _mean(model: Any, problem: Mixed) -> Array:
    mean: Array = model.predict(problem.frame, exposure=problem.exposure)
    return mean
