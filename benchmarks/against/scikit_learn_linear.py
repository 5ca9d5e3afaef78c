"""scikit-learn's linear models:  C Σ nll + ½‖w‖², so C = 1/l2;  lasso per row, so alpha = l1/n."""

import numpy as np
from sklearn.linear_model import LogisticRegression, lasso_path

from benchmarks.linear_problems import Binary, Classes, LassoPath
from benchmarks.objectives import Linear
from benchmarks.race import Fit
from benchmarks.workbench import without_warnings

MANY = 10_000  # iterations: the tolerance stops the fit
SEED = 0


@without_warnings
def binary(problem: Binary, tolerance: float, *, solver: str) -> Fit:
    model = LogisticRegression(
        C=1.0 / problem.l2,
        solver=solver,
        fit_intercept=problem.fit_intercept,
        tol=tolerance,
        max_iter=MANY,
    ).fit(problem.X, problem.y)
    return Fit(lambda: _linear(model))


@without_warnings
def liblinear(problem: Binary, tolerance: float) -> Fit:
    """The copy of liblinear inside scikit-learn: the dual for L2, the primal for L1."""
    lasso = {"C": 1.0 / problem.l1, "l1_ratio": 1.0} if problem.l1 else {}
    ridge = {"C": 1.0 / problem.l2, "dual": True} if problem.l2 else {}
    model = LogisticRegression(
        solver="liblinear",
        fit_intercept=problem.fit_intercept,
        tol=tolerance,
        max_iter=MANY,
        random_state=SEED,
        **lasso,
        **ridge,
    ).fit(problem.X, problem.y)
    return Fit(lambda: _linear(model))


@without_warnings
def softmax(problem: Classes, tolerance: float, *, solver: str) -> Fit:
    model = LogisticRegression(C=1.0 / problem.l2, solver=solver, tol=tolerance, max_iter=MANY).fit(
        problem.X, problem.y
    )
    return Fit(lambda: Linear(model.coef_, model.intercept_))


@without_warnings
def lasso(problem: LassoPath, tolerance: float) -> Fit:
    _, coefs, _ = lasso_path(
        problem.X,
        problem.y,
        alphas=problem.l1 / len(problem.y),
        tol=tolerance,
        max_iter=MANY,
    )
    return Fit(lambda: np.asarray(coefs).T)


def _linear(model: LogisticRegression) -> Linear:
    return Linear(np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]))
