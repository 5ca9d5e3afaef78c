"""A model at one penalty after another, from the largest down; each search starts from the last.

Least squares in memory uses ``solvers.lasso_path``, which solves many penalties with one pass
over X; every other model is refitted, starting from the previous solution.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from likely._typing import Array
from likely.data.block import ArrayBlocks
from likely.errors import LikelyWarning, warn_user
from likely.inputs.coding import new_rows, refuse_gaps
from likely.inputs.numbers import check_offset, check_response
from likely.linear.coding import LinearRows
from likely.linear.framing import Framing, refuse_too_large
from likely.linear.path_models import PathRows, held_block
from likely.linear.path_penalties import Moved, first_penalty, null_model
from likely.linear.penalty import spread, strengths_of
from likely.linear.regression import LinearRegression
from likely.objectives.columns import STORES, DenseColumns, LeastSquaresColumns
from likely.solvers.lasso_path import PathSolution, lasso_path
from likely.solvers.minimise import Solution

SAME_RATIO = 1e-12  # of l2 to l1 over columns, relative: one elastic net
FAR = 100  # standard deviations of a mean from 0: squares then lose four digits
ROWS_TO_LOOK_AT = 200


class PenaltyGrid(NamedTuple):
    """The penalties: given, or a number of them from the first down to a fraction of it."""

    penalties: Array | None
    n_penalties: int
    smallest: float

    def from_first(self, first: float) -> Array:
        if self.penalties is not None:
            return self.penalties
        return first * np.geomspace(1.0, self.smallest, self.n_penalties)


class Walked(NamedTuple):
    """A model at every penalty."""

    penalties: Array
    coefs: Array  # (n_penalties, …)
    intercepts: Array
    solutions: list[Solution]
    deviance: Array  # (n_penalties,) mean over held-out rows; empty where there are none


def walk(
    model: Any, moved: Moved, grid: PenaltyGrid, rows: PathRows, held: PathRows | None = None
) -> Walked:
    """Fit at every penalty; ``held`` are rows to predict at each."""
    probe = without_errors(model).set_params(**moved.at(1.0))
    opened = probe.open_path(rows)
    net = one_net(probe, moved, opened)
    if net is None:
        return step_by_step(probe, moved, grid, rows, opened, held)
    return all_at_once(probe, net, grid, opened, held)


def without_errors(model: Any) -> Any:
    """A copy that starts from its last fit and computes no standard errors, if possible."""
    wanted = {"warm_start": True, "standard_errors": None}
    known = model.get_params(deep=False)
    return clone(model).set_params(**{k: v for k, v in wanted.items() if k in known})


def step_by_step(
    walker: Any,
    moved: Moved,
    grid: PenaltyGrid,
    rows: PathRows,
    opened: LinearRows,
    held: PathRows | None,
) -> Walked:
    """One fit after another; ``walker`` stores the columns."""
    with silently():
        block = None if held is None else held_block(walker, opened, held)
        if grid.penalties is None:
            null = null_model(walker, moved, rows)
            walker.solution_ = null.solution_
            penalties = grid.from_first(first_penalty(null, moved, opened))
        else:
            penalties = grid.penalties
        seen = []
        for penalty in penalties:
            walker.set_params(**moved.at(float(penalty))).fit_opened(opened)
            deviance = [] if block is None else [_mean(walker.path_deviance(block), held)]
            seen.append((walker.coef_, walker.path_intercepts(), walker.solution_, deviance))
    coefs, intercepts, solutions, deviances = zip(*seen, strict=True)
    return Walked(
        penalties,
        np.stack(coefs),
        np.stack(intercepts),
        list(solutions),
        np.concatenate([np.asarray(each, dtype=float) for each in deviances]),
    )


def _mean(deviance: Array, rows: PathRows | None) -> float:
    return float(np.average(deviance, weights=None if rows is None else rows.weight))


class Net(NamedTuple):
    """An elastic net λ f (ρ|β| + ½(1 − ρ) β²), as in ``lasso_path``."""

    factors: Array
    l1_ratio: float


def one_net(model: Any, moved: Moved, opened: LinearRows) -> Net | None:
    """The elastic net of a path of least squares in memory, if it is one."""
    if not isinstance(model, LinearRegression) or model.solver != "auto" or moved.l1 is None:
        return None
    if not isinstance(opened.blocks, ArrayBlocks) or type(opened.blocks.X) not in STORES:
        return None
    blocks = opened.blocks
    y = blocks.target if blocks.offset is None else blocks.target - blocks.offset
    if (model.fit_intercept and model.penalise_intercept) or np.ptp(y) == 0:
        return None
    framing = Framing(opened.coding.n_coefficients, False, None)
    l1, l2, _ = spread(model, opened.coding, framing, strengths_of(model), intercept=False)
    if moved.l2 is None and l2.any():
        return None
    ratio = float(l1.sum() / (l1 + l2).sum())
    if not np.allclose(l1, ratio * (l1 + l2), rtol=SAME_RATIO, atol=0.0):
        return None
    return Net(l1 + l2, ratio)


def all_at_once(
    probe: Any, net: Net, grid: PenaltyGrid, opened: LinearRows, held: PathRows | None
) -> Walked:
    """Least squares at all penalties; ``probe`` stores the columns."""
    objective = LeastSquaresColumns.of(opened.blocks)
    centre = objective.pulls(np.ones((len(objective.y), 1)))[:, 0] / objective.weight.sum()
    if not np.isfinite(centre).all():
        refuse_gaps(opened.blocks, opened.coding.names)
    refuse_too_large(centre, opened.coding.names)
    if probe.fit_intercept and far_from_zero(objective, centre):
        objective = centred(objective, centre, opened.blocks)
    else:
        centre = np.zeros(len(centre))
    path = lasso_path(
        objective,
        penalties=grid.penalties,
        n_penalties=grid.n_penalties,
        ratio=grid.smallest,
        l1_ratio=net.l1_ratio,
        factors=net.factors,
        intercept=probe.fit_intercept,
        tol=probe.tol,
        max_passes=probe.max_iter,
    )
    path = replace(path, intercepts=path.intercepts - np.dot(path.coefficients, centre))
    deviance = np.empty(0) if held is None else _squared_errors(probe, path, opened, held)
    solutions = _solutions(path, probe)
    return Walked(path.penalties, path.coefficients, path.intercepts, solutions, deviance)


def far_from_zero(objective: LeastSquaresColumns, centre: Array) -> bool:
    """Whether the variance of a dense column is lost in its squares, by its first rows."""
    if not isinstance(objective.store, DenseColumns):
        return False
    spread = objective.store.transposed[:, :ROWS_TO_LOOK_AT].std(axis=1)
    return bool((np.abs(centre) > FAR * spread).any())


def centred(objective: LeastSquaresColumns, centre: Array, blocks: Any) -> LeastSquaresColumns:
    """Centred columns: in the column-wise copy if there is one, else in a new copy."""
    X: Any = cast(DenseColumns, objective.store).transposed
    own = not np.may_share_memory(X, blocks.X.stored())
    moved = np.subtract(X, centre[:, None], out=X if own else None)
    return LeastSquaresColumns(DenseColumns(moved), objective.y, objective.weight)


def _squared_errors(probe: Any, path: PathSolution, opened: LinearRows, held: PathRows) -> Array:
    """The mean deviance over held-out rows, at each penalty."""
    with silently():
        design = new_rows(probe, opened.coding, held.X)
    eta = design.matmat(np.ascontiguousarray(path.coefficients.T)) + path.intercepts
    y = check_response(held.y, n_rows=len(eta), estimator=probe)
    y = y - check_offset(held.offset, held.exposure, n_rows=len(eta))
    return np.average((y[:, None] - eta) ** 2, axis=0, weights=held.weight)


def _solutions(path: PathSolution, probe: Any) -> list[Solution]:
    """How each penalty ended; the passes over the data are those of the whole path."""

    def one(beta: Array, b: float, gap: float) -> Solution:
        return Solution(
            theta=np.append(beta, b) if probe.fit_intercept else beta,
            converged=gap <= probe.tol,
            reason=f"the gap of the path is {gap:.1e}",
            trace=(float("nan"),),
            gap=float(gap),
            solver="lasso path",
            passes=float(path.passes),
        )

    return [one(*each) for each in zip(path.coefficients, path.intercepts, path.gaps, strict=True)]


def warn_of_unfinished(name: str, walked: Walked) -> None:
    """One warning for the path, not one for each penalty."""
    short = [i for i, solution in enumerate(walked.solutions) if not solution.converged]
    if short:
        worst = max(walked.solutions[i].gap for i in short)
        warn_user(
            f"{name} did not converge at {len(short)} of {len(walked.solutions)} penalties, from "
            f"{walked.penalties[short[0]]:.3g} down; the largest gap is {worst:.1e}. Raise the "
            "model's max_iter, loosen its tol, or stop earlier with a larger `smallest`.",
            ConvergenceWarning,
        )


def fitted_at(model: Any, moved: Moved, walked: Walked, index: int, rows: PathRows) -> Any:
    """The model at one penalty, with its own settings, started from the path."""
    chosen = clone(model).set_params(**moved.at(float(walked.penalties[index])))
    known = chosen.get_params(deep=False)
    if "warm_start" not in known:
        return rows.fit(chosen)
    chosen.solution_ = walked.solutions[index]
    rows.fit(chosen.set_params(warm_start=True))
    return chosen.set_params(warm_start=known["warm_start"])


@contextmanager
def silently() -> Iterator[None]:
    """Without warnings that would be repeated at every penalty."""
    with warnings.catch_warnings():
        for category in (ConvergenceWarning, LikelyWarning):
            warnings.simplefilter("ignore", category)
        yield
