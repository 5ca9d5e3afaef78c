"""Snap ML:  Σ nll + regularizer (½‖w‖² or ‖w‖₁), the dual for L2 and the primal for L1."""

import numpy as np

from benchmarks.linear_problems import Binary
from benchmarks.objectives import Linear
from benchmarks.race import Fit, needs
from benchmarks.workbench import without_warnings
from likely.compute.executor import usable_cores

MANY = 10_000  # iterations: the tolerance stops the fit
SEED = 0


@without_warnings
def binary(problem: Binary, tolerance: float) -> Fit:
    lasso = problem.l1 > 0
    model = needs("snapml").LogisticRegression(
        regularizer=problem.l1 if lasso else problem.l2,
        penalty="l1" if lasso else "l2",
        dual=not lasso,
        tol=tolerance,
        max_iter=MANY,
        n_jobs=usable_cores(),
        random_state=SEED,
    )
    model.fit(problem.X, problem.y)
    return Fit(lambda: Linear(np.ravel(model.coef_).astype(np.float64)))
