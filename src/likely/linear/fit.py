"""What linear models give to the driver of fits: their rows, their penalty, their settings.

``fitted`` is the fit of a model; ``model_objective`` is what that fit minimises, on rows as they
came: not centred, θ = [W b].  Its vectors are stored in a model as the result of a fit is.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from likely._typing import Array
from likely.data.coding import Coding
from likely.fitting.driver import DesignRows, Fit, Settings, Specification, fit, given
from likely.fitting.framing import Framing
from likely.fitting.predictor import Predictor
from likely.inputs.coding import refuse_gaps
from likely.inputs.estimators import columns_named
from likely.likelihoods.base import Likelihood
from likely.linear.coding import LinearRows
from likely.linear.penalty import spread, strengths_of
from likely.objectives.model import ModelObjective, Reduction
from likely.penalties import Penalty

Specify = Callable[[DesignRows], Specification]


def design_rows(rows: LinearRows) -> DesignRows:
    """Encoded rows, as the driver takes them."""
    coding = rows.coding
    return DesignRows(rows.blocks, rows.executor, coding.names, rows.n_groups, coding.references)


def fitted(estimator: Any, rows: DesignRows, specify: Specify, *, warned_by: Any = None) -> Fit:
    """The fit of an estimator; ``warned_by`` is the one that warnings name, if it is another."""
    name = None if warned_by is None else type(warned_by).__name__
    with columns_named(estimator):
        found = fit(specify, rows, Settings.of(estimator, name=name))
    if found.held_out is not None:
        estimator.held_out_ = found.held_out
    return found


def model_objective(
    model: Any,
    rows: DesignRows,
    specify: Specify,
    store: Callable[[Fit], Any],
    reduction: Reduction,
    position: Array | None = None,
) -> ModelObjective:
    """The objective of a model that is not fitted; ``store`` makes the model of a fit."""
    with columns_named(model), rows.executor.session():
        refuse_gaps(rows.blocks, rows.names)
        specification = specify(rows)
        problem = specification.problem(centre=False)
        start = specification.begin(problem).start
    return ModelObjective(
        problem.on,
        problem.data.blocks,
        rows.executor,
        specification.packing,
        start,
        lambda theta: store(given(specification, problem, theta)),
        type(model).__name__,
        reduction,
        position,
    )


def predictor_of(
    estimator: Any,
    coding: Coding,
    likelihood: Likelihood,
    *,
    classes: bool = False,
    student: bool = False,
) -> Callable[..., Predictor]:
    """The specification of one predictor with the settings of an estimator."""
    firth = ", or firth=True" if "firth" in vars(estimator) else ""
    return partial(
        Predictor,
        likelihood=likelihood,
        penalty=partial(_penalty, estimator, coding),
        intercept=estimator.fit_intercept,
        centre=not estimator.penalise_intercept,
        classes=classes,
        student=student,
        given=vars(estimator).get("start"),
        remedy=Specification.remedy + firth,
    )


def _penalty(estimator: Any, coding: Coding, framing: Framing) -> Penalty:
    intercept = estimator.penalise_intercept
    given = strengths_of(estimator)
    return spread(estimator, coding, framing, given, intercept=intercept).penalty
