"""A linear model along a sequence of penalties, chosen by cross-validation.

    λ_1 > λ_2 > … > λ_L        β(λ) = argmin −Σ_i w_i log p(y_i | x_i) + penalty(λ, β)

Penalties apply to the *sum* over rows.  A fold that trains on a share of the rows uses
that share of λ, so that the penalty per row stays the same.

A model is fitted at one penalty after another, from the largest down; each search starts from the
last.  Least squares in memory uses ``solvers.lasso_path``, which solves many penalties with one
pass over X; every other model is refitted, starting from the previous solution.

References
----------
Friedman, Hastie & Tibshirani, Regularization paths for generalized linear models via coordinate
descent, Journal of Statistical Software 33, 2010.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.data.block import ArrayBlocks
from likely.data.frames import frame_of, library_of
from likely.errors import InvalidInput, LikelyWarning, warn_user
from likely.explanations.explanation import Explanation
from likely.fitting.framing import Framing, refuse_too_large
from likely.graphical.drawing.diagram import Diagram
from likely.graphical.model.model_plates import with_penalty
from likely.inputs.coding import new_rows, refuse_gaps
from likely.inputs.estimators import (
    ColumnNeeds,
    Estimator,
    check_folds,
    column_needs,
    take_columns,
)
from likely.inputs.tables import is_file, n_rows_of, own_columns, rows_at
from likely.inputs.targets import check_numbers, check_offset, check_response, check_weight
from likely.likelihoods.predictive import PredictiveFamily
from likely.linear.fit import LinearRows, spread, strengths_of
from likely.linear.path_penalties import (
    RULES,
    Moved,
    PathRows,
    check_path_model,
    choose,
    first_penalty,
    given,
    held_block,
    moved_along,
    null_model,
    path_folds,
)
from likely.linear.regression import LinearRegression
from likely.names import has_method, known_name
from likely.objectives.columns import STORES, DenseColumns, LeastSquaresColumns
from likely.output.description import Description
from likely.output.formatting import short_number
from likely.solvers.lasso_path import PathSolution, lasso_path
from likely.solvers.minimise import Solution
from likely.storage.declarations import (
    LABELS,
    MODEL,
    NAMES,
    Labelled,
    Numbers,
    Places,
    SameCount,
    Saved,
)

SMALLEST = 1e-3  # of the first penalty: there most columns have entered
SMALLEST_RIDGE = 1e-7  # the first ridge is 100 times the curvature, which grows with the rows
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


def _has(name: str) -> Callable[[Any], bool]:
    """Whether the model inside has the method."""

    def check(path: Any) -> bool:
        return has_method(path.model, name)

    return check


class PenaltyPath(Estimator):
    """One of the linear models, with its penalty chosen by cross-validation.

    Parameters
    ----------
    model : LinearRegression, GLM, LogisticRegression, SoftmaxRegression or OrdinalRegression
        The model that is fitted at each penalty.  Its other settings stay as they are: along
        ``l1``, a ridge in ``l2`` too (1 by default for classes; give l2=0.0 for the lasso).  Its
        ``penalty`` may be an ``L1``, ``L2`` or ``ElasticNet``, which is read as l1 and l2.
    along : {"l1", "l2", "both"}, default="l1"
        Which penalty varies along the path.  If the model's penalty is one number, λ
        replaces it; if it has a factor for each column, λ multiplies them, and columns with the
        factor 0 are not penalised.  ``both`` multiplies the model's l1 and l2, so l1=0.5, l2=0.5
        is an elastic net with equal parts of both.
    n_penalties : int, default=100
        Number of penalties, equally spaced in their logarithm.
    smallest : float, default=None
        The smallest penalty as a fraction of the largest; None is 1e-3, and 1e-7 along ``l2``.
    penalties : array, default=None
        Penalties to use instead, all above 0.
    cv : int, splitter, iterable or None, default=5
        Number of folds (shuffled, and stratified for classes), or a splitter.  None computes the
        path and chooses nothing.
    rule : {"one-standard-error", "best"}, default="one-standard-error"
        ``one-standard-error``: the largest penalty whose held-out deviance is within one standard
        error of the smallest deviance; ``best``: the penalty with the smallest deviance.
    random_state : int, RandomState or Generator, default=None
        Seed for the shuffled folds; None uses the same shuffle each time.

    Attributes
    ----------
    penalties_ : array of shape (n_penalties,)
        λ, decreasing.  Along ``l1`` the first is the smallest at which all penalised coefficients
        are 0; along ``l2`` it leaves less than 1 % of a degree of freedom for each column.
    coefs_ : array of shape (n_penalties, …)
        ``coef_`` of the model at each.
    intercepts_ : array of shape (n_penalties, …)
        ``intercept_`` at each; for an ordinal model the thresholds.
    n_nonzero_ : array of shape (n_penalties,)
        The number of coefficients that are not 0.
    deviance_ : array of shape (n_penalties, n_folds)
        Mean over held-out rows of the squared error (LinearRegression), the deviance (GLM) or
        −2 log p(y | x) (classes).
    mean_deviance_, standard_error_ : array of shape (n_penalties,)
        Mean of the deviance over folds, and its standard error.
    best_index_, index_ : int
        Index of the penalty with the smallest mean deviance, and of the one chosen by the rule.
    penalty_ : float
        The chosen penalty.
    model_ : the model fitted to all rows there
        With standard errors, if it computes them; they treat the penalty as fixed.

    Examples
    --------
    >>> import numpy as np
    >>> from likely import LinearRegression, PenaltyPath
    >>> X = np.random.default_rng(0).normal(size=(80, 5))
    >>> y = 2 * X[:, 0] + np.random.default_rng(1).normal(size=80)
    >>> path = PenaltyPath(LinearRegression()).fit(X, y)
    >>> np.flatnonzero(path.model_.coef_)
    array([0])
    """

    saved: ClassVar = Saved(
        {
            "penalties_": Numbers(Array, "finite", "not negative"),
            "coefs_": Numbers(Array, "finite"),
            "intercepts_": Numbers(Array, "finite"),
            "n_nonzero_": Array,
        },
        {
            "beside_": tuple[str, ...],
            "classes_": LABELS,
            "deviance_": Array,
            "feature_names_in_": NAMES,
            "library_": str | None,
            "mean_deviance_": Array,
            "standard_error_": Array,
        },
        together={  # cv=None chooses no penalty
            "n_features_in_": Numbers(int, "not negative"),
            "index_": int,
            "best_index_": int,
            "penalty_": float,
            "model_": MODEL,
        },
        rules=(
            Labelled("classes_"),
            SameCount("n_features_in_", "feature_names_in_"),
            SameCount("penalties_", "coefs_", "intercepts_", "n_nonzero_", "deviance_"),
            SameCount("penalties_", "mean_deviance_", "standard_error_"),
            Places("index_", "penalties_"),
            Places("best_index_", "penalties_"),
        ),
    )

    def __init__(
        self,
        model: Any,
        *,
        along: str = "l1",
        n_penalties: int = 100,
        smallest: float | None = None,
        penalties: Any = None,
        cv: Any = 5,
        rule: str = "one-standard-error",
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.along = along
        self.n_penalties = n_penalties
        self.smallest = smallest
        self.penalties = penalties
        self.cv = cv
        self.rule = rule
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        offset: Any = None,
        exposure: Any = None,
    ) -> Self:
        """Fit the path on all rows and in every fold, choose a penalty, and fit the model there.

        X is an array, a CSR array or a data frame, whose columns the other arguments may name;
        with cv=None also a file.  offset and exposure are for the models that take them.
        """
        check_path_model(self.model).check_offsets(offset=offset, exposure=exposure)
        known_name("rule", self.rule, RULES)
        if self.cv is not None:
            check_folds(self.cv, otherwise="None for the path alone")
        _refuse_firth(self.model)
        moved, grid = moved_along(self.along, self.model), self._grid()
        beside = (y, sample_weight, offset, exposure)
        self.beside_ = tuple(name for name in beside if isinstance(name, str))
        rows = self._rows(PathRows(X, *beside))
        walked = walk(self.model, moved, grid, rows)
        warn_of_unfinished(f"PenaltyPath of {type(self.model).__name__}", walked)
        self.penalties_, self.coefs_, self.intercepts_ = walked[:3]
        each = self.coefs_.reshape(len(self.penalties_), -1)
        self.n_nonzero_ = np.count_nonzero(each, axis=1)
        self.library_ = library_of(rows.X)
        if self.cv is not None:
            self._choose(moved, walked, rows)
        return self

    def penalty_steps(self, X: Any, y: Any = None) -> list[Any]:
        """The model at each penalty of the path on these rows, from the largest down.

        This path itself is not changed, and nothing is chosen.
        """
        check_path_model(self.model)
        _refuse_firth(self.model)
        moved, rows = moved_along(self.along, self.model), PathRows(*own_columns(X, y))
        walked = walk(self.model, moved, self._grid(), rows)
        with silently():
            return [
                fitted_at(self.model, moved, walked, index, rows)
                for index in range(len(walked.penalties))
            ]

    def _choose(self, moved: Moved, walked: Walked, rows: PathRows) -> None:
        """Fit the path without each fold, and choose the penalty by the rule."""
        folds = path_folds(
            self.cv,
            rows.X,
            rows.y,
            present=_present(rows),
            classes=is_classifier(self.model),
            random_state=self.random_state,
        )
        parts = [(_at(rows, learn), _at(rows, held)) for learn, held in folds]
        total = _weight_of(rows)
        columns = []
        for learn, held in parts:
            share = _weight_of(learn) / total
            grid = PenaltyGrid(share * self.penalties_, len(self.penalties_), SMALLEST)
            columns.append(walk(self.model, moved, grid, learn, held).deviance)
        self.deviance_ = np.column_stack(columns)
        fold_weight = np.array([_weight_of(held) for _, held in parts])
        choice = choose(self.deviance_, fold_weight, self.rule)
        self.mean_deviance_, self.standard_error_, self.best_index_, self.index_ = choice
        self.penalty_ = float(self.penalties_[self.index_])
        self.model_ = fitted_at(self.model, moved, walked, self.index_, rows)
        self.model_.moved_by_ = tuple(rows.moved)
        self.model_.beside_ = self.beside_  # a frame to predict may hold them, too
        take_columns(self, self.model_)
        if is_classifier(self.model):
            self.classes_ = self.model_.classes_

    def _grid(self) -> PenaltyGrid:
        smallest = self.smallest
        if smallest is None:
            smallest = SMALLEST_RIDGE if self.along == "l2" else SMALLEST
        if not 0 < smallest < 1:
            raise InvalidInput(
                f"smallest is {smallest!r}; the last penalty divided by the first must be between "
                "0 and 1. Use 1e-3."
            )
        if not isinstance(self.n_penalties, int | np.integer) or self.n_penalties < 1:
            raise InvalidInput(
                f"n_penalties is {self.n_penalties!r}; expected a whole number from 1 up. Use 100."
            )
        return PenaltyGrid(
            _checked_penalties(self.penalties), int(self.n_penalties), float(smallest)
        )

    def _rows(self, rows: PathRows) -> PathRows:
        """Rows in memory, in a form whose rows can be indexed; a file as it is."""
        if is_file(rows.X):
            if self.cv is not None:
                raise InvalidInput(
                    f"X is a file, and cv={self.cv!r} needs rows in memory to split into folds. "
                    "Read it into a frame, or use cv=None for the path alone."
                )
            return rows
        rows = PathRows(*own_columns(*rows))
        if rows.weight is None and self.cv is None:
            return rows
        clone(self.model).open_path(rows)  # every check, before rows are taken
        X, y = indexable(rows.X, rows.y)
        n_rows = n_rows_of(X)
        moved = {
            name: check_numbers(values, name, n_rows=n_rows) for name, values in rows.moved.items()
        }
        return PathRows(X, y, check_weight(rows.weight, n_rows=n_rows), **moved)

    def to_frame(self) -> Any:
        """A table of the path, one row per penalty: in the caller's library, else in Arrow."""
        check_is_fitted(self)
        columns: dict[str, Array] = {"penalty": self.penalties_}
        if "deviance_" in vars(self):
            columns |= {"deviance": self.mean_deviance_, "standard_error": self.standard_error_}
        return frame_of(columns | {"nonzero": self.n_nonzero_}, self.library_)

    @available_if(_has("predict"))
    def predict(self, X: Any, *, offset: Any = None, exposure: Any = None) -> Array:
        """Predictions of the model at the chosen penalty."""
        return np.asarray(self._chosen().predict(X, **self._moved(offset, exposure)))

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any, *, offset: Any = None) -> Array:
        """p(k | x) by the model at the chosen penalty."""
        return np.asarray(self._chosen().predict_proba(X, **self._moved(offset)))

    @available_if(_has("predict_log_proba"))
    def predict_log_proba(self, X: Any, *, offset: Any = None) -> Array:
        """log p(k | x) by the model at the chosen penalty."""
        return np.asarray(self._chosen().predict_log_proba(X, **self._moved(offset)))

    @available_if(_has("explain"))
    def explain(self, X: Any, against: Any = None) -> Explanation:
        """What each column adds to the prediction of the model at the chosen penalty."""
        found: Explanation = self._chosen().explain(X, against)
        return found

    @available_if(_has("decision_function"))
    def decision_function(self, X: Any, *, offset: Any = None) -> Array:
        """The scores of the model at the chosen penalty."""
        return np.asarray(self._chosen().decision_function(X, **self._moved(offset)))

    def log_likelihoods(self, X: Any, y: Any, *, offset: Any = None, exposure: Any = None) -> Array:
        """log p(y_i | x_i) of each row, by the model at the chosen penalty."""
        return np.asarray(self._chosen().log_likelihoods(X, y, **self._moved(offset, exposure)))

    def log_likelihood(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> float:
        """Σ_i w_i log p(y_i | x_i), by the model at the chosen penalty."""
        moved = self._moved(offset, exposure)
        return float(self._chosen().log_likelihood(X, y, sample_weight, **moved))

    @available_if(_has("score"))
    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> float:
        """The score of the model: accuracy, R², or D² of a GLM."""
        moved = self._moved(offset, exposure)
        return float(self._chosen().score(X, y, sample_weight=sample_weight, **moved))

    @available_if(_has("predictive_family"))
    def predictive_family(self) -> PredictiveFamily | None:
        """The predictive family of the model at the chosen penalty."""
        found: PredictiveFamily | None = self._chosen().predictive_family()
        return found

    def column_needs(self) -> ColumnNeeds:
        """Scaled, because every penalty of the path compares coefficients."""
        return ColumnNeeds(scale=True, categories=column_needs(self.model).categories)

    def offset_link(self) -> str:
        """The name of the link on whose scale the model at the chosen penalty adds an offset."""
        return str(self._chosen().offset_link())

    def describe(self) -> Description:
        """The model at the chosen penalty, and how the penalty was chosen."""
        chosen: Description = self._chosen().describe()
        name = "The factor of l1 and l2" if self.along == "both" else self.along
        rule = "the least held-out deviance" if self.rule == "best" else f"{self.rule} rule"
        note = (
            f"{name} = {short_number(self.penalty_)} was chosen from {len(self.penalties_)} values "
            f"by cross-validation ({rule})."
        )
        return chosen.also(notes=(note,))

    def plate(self) -> Diagram:
        """The plate diagram of the model, with the penalty that is chosen."""
        diagram = with_penalty(self.model.plate())
        return replace(diagram, title=f"{type(self).__name__} of {diagram.title}")

    def _moved(self, offset: Any = None, exposure: Any = None) -> dict[str, Any]:
        """The arguments of the model's methods other than the rows."""
        check_path_model(self.model).check_offsets(offset=offset, exposure=exposure)
        return given(offset=offset, exposure=exposure)

    def _chosen(self) -> Any:
        check_is_fitted(self)
        if "model_" not in vars(self):
            raise InvalidInput(
                "This path has no chosen model: cv=None computes the path alone. Give cv=5, or fit "
                "the model at one of penalties_."
            )
        return self.model_

    def __sklearn_tags__(self) -> Tags:
        inner = get_tags(self.model)
        return replace(
            super().__sklearn_tags__(),
            estimator_type=inner.estimator_type,
            classifier_tags=inner.classifier_tags,
            regressor_tags=inner.regressor_tags,
            input_tags=inner.input_tags,
            target_tags=replace(inner.target_tags, multi_output=False),
        )


def _checked_penalties(penalties: Any) -> Array | None:
    """Given penalties, from the largest down."""
    if penalties is None:
        return None
    values = np.asarray(penalties, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not ((values > 0) & np.isfinite(values)).all():
        raise InvalidInput(
            f"penalties is {penalties!r}; expected one or more finite numbers above 0. Fit the "
            "model itself for a penalty of 0."
        )
    return np.asarray(np.sort(values)[::-1])


def _at(rows: PathRows, index: Array) -> PathRows:
    beside = (None if values is None else values[index] for values in rows[2:])
    return PathRows(rows_at(rows.X, index), rows_at(rows.y, index), *beside)


def _present(rows: PathRows) -> Array:
    """The rows that count: those with a weight above 0."""
    return np.ones(n_rows_of(rows.X), dtype=bool) if rows.weight is None else rows.weight > 0


def _weight_of(rows: PathRows) -> float:
    return float(n_rows_of(rows.X) if rows.weight is None else rows.weight.sum())


def _refuse_firth(model: Any) -> None:
    if model.get_params(deep=False).get("firth", False):
        raise InvalidInput(
            "The model has firth=True, which takes the place of l1 and l2, so there is no penalty "
            "to vary. Use firth=False."
        )


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
