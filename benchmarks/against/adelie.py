"""adelie:  (1/2n)‖y − Xw‖² + λ‖w‖₁, so λ = l1/n.

Its wheel asks for NumPy 1, so no extra can name it beside this library; it works with NumPy 2
all the same.  Importing it binds the calling thread to one core; that is undone, or everyone
who comes after would run on one core.
"""

import os
from typing import Any

import numpy as np

from benchmarks.linear_problems import LassoPath
from benchmarks.race import Fit, needs
from benchmarks.workbench import without_warnings
from likely.compute.executor import usable_cores

ADVICE = "its wheel asks for NumPy 1: `pip install --no-deps adelie` and `pip install ipython`"


@without_warnings
def lasso(problem: LassoPath, tolerance: float) -> Fit:
    adelie = _unbound()
    state = adelie.grpnet(
        X=problem.X,
        glm=adelie.glm.gaussian(y=problem.y),
        lmda_path=problem.l1 / len(problem.y),
        intercept=False,
        tol=tolerance,
        early_exit=False,
        progress_bar=False,
        n_threads=usable_cores(),
    )
    return Fit(lambda: np.asarray(state.betas.toarray()))


def _unbound() -> Any:
    """The package, imported without losing cores to it, nor variables to child processes."""
    variables = set(os.environ)
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None  # Linux only
    try:
        return needs("adelie", advice=ADVICE)
    finally:
        for added in set(os.environ) - variables:
            del os.environ[added]
        if cores is not None:
            os.sched_setaffinity(0, cores)
