"""liblinear:  C Σ nll + ½‖w‖² by its dual (-s 7), C Σ nll + ‖w‖₁ (-s 6), without a bias."""

import numpy as np

from benchmarks.linear_problems import Binary
from benchmarks.objectives import Linear
from benchmarks.race import Fit, needs
from benchmarks.workbench import without_warnings

DUAL, LASSO = 7, 6  # of its solvers


@without_warnings
def binary(problem: Binary, tolerance: float) -> Fit:
    tools = needs("liblinear.liblinearutil", advice="install liblinear-official (needs a compiler)")
    solver, cost = (LASSO, 1 / problem.l1) if problem.l1 else (DUAL, 1 / problem.l2)
    data = tools.problem(np.where(problem.y == 1, 1.0, -1.0), problem.X)
    model = tools.train(data, tools.parameter(f"-s {solver} -c {cost!r} -e {tolerance!r} -q"))
    return Fit(lambda: _linear(model))


def _linear(model: object) -> Linear:
    """Positive for the label 1, whichever came first."""
    coef, _ = model.get_decfun(label_idx=model.get_labels().index(1))  # type: ignore[attr-defined]
    return Linear(np.asarray(coef))
