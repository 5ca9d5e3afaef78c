"""skordinal's proportional odds model, without penalty."""

import numpy as np

from benchmarks.linear_problems import Ordered
from benchmarks.objectives import Cumulative
from benchmarks.race import Fit, needs
from benchmarks.workbench import without_warnings

MANY = 10_000  # iterations: the tolerance stops the fit


@without_warnings
def ordinal(problem: Ordered, tolerance: float) -> Fit:
    classifiers = needs("skordinal.classifiers")
    model = classifiers.POM(alpha=0.0, tol=tolerance, max_iter=MANY).fit(problem.X, problem.y)
    return Fit(lambda: Cumulative(np.asarray(model.coef_), np.asarray(model.thresholds_)))
