"""celer:  (1/2n)‖y − Xw‖² + alpha‖w‖₁, so alpha = l1/n."""

import numpy as np

from benchmarks.linear_problems import LassoPath
from benchmarks.race import Fit, needs
from benchmarks.workbench import without_warnings

MANY = 1000  # iterations: the tolerance stops the fit


@without_warnings
def lasso(problem: LassoPath, tolerance: float) -> Fit:
    path = needs("celer").celer_path(
        problem.X,
        problem.y,
        "lasso",
        alphas=problem.l1 / len(problem.y),
        tol=tolerance,
        max_iter=MANY,
    )
    return Fit(lambda: np.asarray(path[1]).T)
