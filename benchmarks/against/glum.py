"""glum:  (1/n) Σ nll + alpha ½‖w‖², so alpha = l2/n; its tolerance is on the gradient per row."""

from typing import Any

import numpy as np

from benchmarks.linear_problems import Binary, Mixed
from benchmarks.objectives import Linear
from benchmarks.race import Fit, needs
from benchmarks.workbench import without_warnings

MANY = 1000  # iterations: the tolerance stops the fit


@without_warnings
def binary(problem: Binary, tolerance: float) -> Fit:
    model = _regressor(
        family="binomial",
        link=problem.link,
        alpha=problem.l2 / len(problem.y),
        gradient_tol=tolerance,
    ).fit(problem.X, problem.y)
    return Fit(lambda: Linear(np.ravel(model.coef_), float(model.intercept_)))


@without_warnings
def mixed(problem: Mixed, tolerance: float) -> Fit:
    """Its categorical columns as they are, without the first level of each."""
    model = _regressor(
        family=problem.response,
        link="log",
        alpha=0.0,
        gradient_tol=tolerance,
        drop_first=True,
    ).fit(problem.frame, problem.y, offset=np.log(problem.exposure))
    return Fit(lambda: model.predict(problem.frame, offset=np.log(problem.exposure)))


def _regressor(**settings: Any) -> Any:
    return needs("glum").GeneralizedLinearRegressor(max_iter=MANY, **settings)
