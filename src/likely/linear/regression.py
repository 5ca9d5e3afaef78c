"""Linear regression: least squares, ridge, lasso and elastic net.

    minimise  ½ Σ_i w_i (y_i − b − x_iᵀβ)² + l1·‖β‖₁ + ½·l2·‖β‖²

Minus the log-likelihood of a Gaussian response at variance 1, so the penalties are priors on its
scale.  Without l1 the solution is in closed form from one pass.

The closed form takes one pass for the Gram matrix, and one more for a QR factor:

    (XᵀWX + K) β = XᵀWy        normal equations, which square the condition number
    R β = Qᵀ√W y               QR, used where columns are nearly dependent
    β = X⁺ y                   of minimum norm, where they are dependent

All three use centred columns: the intercept is eliminated first, and exactly.  Where the columns
are nearly orthogonal, that is all.  Otherwise one step of refinement follows, from the
residuals of the data:

    β ← β + (XᵀWX + K)⁻¹ (XᵀW(y − Xβ) − Kβ)

References
----------
Golub & Van Loan, Matrix Computations, 4th ed., §5.3 and §5.5.
Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, 2nd ed., §3.2 and §3.4.
"""

from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from math import nan
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import ArrayBlocks, Block, Blocks, CountedBlocks, redesigned
from likely.data.coding import Coding
from likely.errors import InvalidInput, RedundantColumns, warn_user
from likely.fitting.covariance import Bread, Dispersion, check_covariance, infer, small_sample
from likely.fitting.driver import DesignRows, LinearFit
from likely.fitting.framing import (
    Framed,
    Framing,
    framed,
    mean_response,
    nearer_mean,
    refuse_extreme_responses,
)
from likely.fitting.inference import Inference
from likely.fitting.predictor import OnePredictor
from likely.fitting.problem import column_noise, warn_of_condition
from likely.fitting.smoothing import (
    choose_strength,
    forget_choice,
)
from likely.graphical.model.model_plates import PlateParameter
from likely.inputs.coding import refuse_gaps
from likely.inputs.estimators import Estimator, columns_named, generator
from likely.inputs.rows import RowExtras, refuse_without_offset
from likely.inputs.tables import own_columns
from likely.inputs.targets import check_offset, check_response, check_weight
from likely.likelihoods.gaussian import Gaussian
from likely.likelihoods.predictive import PredictiveDistribution, PredictiveFamily
from likely.linear.fit import (
    LinearRows,
    design_rows,
    fitted,
    is_penalised,
    is_rough,
    model_objective,
    open_linear,
    predictor_of,
    remember_means,
    spread,
    strengths_of,
)
from likely.linear.path_penalties import PathModel, PathRows, PathSlopes
from likely.linear.response_predictions import check_interval_of, student_interval
from likely.linear.surface import WITH_INTERCEPT, FittedLinear
from likely.links import Identity
from likely.objectives.least_squares import (
    Eliminated,
    as_they_are,
    block_factor,
    block_gram,
    block_lengths,
    block_residuals,
    without_intercept,
)
from likely.objectives.model import ModelObjective, Reduction
from likely.output.formatting import quoted
from likely.penalties.base import Penalty
from likely.solvers.choice import CLOSED_FORMS, choose_closed_form, solver_name
from likely.solvers.least_squares import (
    GramTotals,
    LeastSquares,
    LeastSquaresTotals,
    solve_by_pivots,
    solve_minimum_norm,
    solve_normal_equations,
    solve_qr,
)
from likely.solvers.minimise import Solution
from likely.solvers.stochastic import StochasticDescent
from likely.solvers.stopping import StoppingRule
from likely.solvers.tolerances import (
    CONDITION_FOR_QR,
    CONDITION_OF_NORMAL_EQUATIONS,
    CONDITION_TO_REFINE,
    MEAN_TO_DOUBT,
    MOST_CELLS_TO_EXTEND,
    MOST_FOR_QR,
    NULL_OF_ROWS,
)
from likely.storage.declarations import Numbers, Saved


class LinearRegression(FittedLinear, PathModel, RegressorMixin, Estimator):
    """A Gaussian response with a linear mean.

    Parameters
    ----------
    l1 : float, array of shape (n_features,) or mapping, default=0.0
        Strength of the L1 penalty l1·Σ|β| added to ½ Σ (y − μ)².  One number for all columns, one
        per column, or a mapping by name.  scikit-learn's Lasso(alpha) is l1 = alpha·n;
        ElasticNet(alpha, l1_ratio) is l1 = n·alpha·l1_ratio and l2 = n·alpha·(1 − l1_ratio).
    l2 : float, array of shape (n_features,), mapping or "auto", default=0.0
        Strength of the L2 penalty ½·l2·Σβ² added to ½ Σ (y − μ)².  ``"auto"`` is the strength of
        the largest marginal likelihood (``l2_``); columns should have one scale.  scikit-learn's
        Ridge(alpha) is l2 = alpha.  A Gaussian prior of variance τ² on β, with noise of variance
        σ², is l2 = σ²/τ².
    penalty : Penalty or None, default=None
        A penalty of ``likely.penalties`` in place of l1 and l2: ``Group([["length", "width"]])``
        keeps or drops columns together, ``L2.of_prior(variance)`` is a Gaussian prior, and
        penalties add.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    penalise_intercept : bool, default=False
        Whether the penalties apply to the intercept too.
    reference : mapping or None, default=None
        The reference category of columns of text by name, ``{"colour": "red"}``: it has no
        coefficient, and the others are compared with it.  None is the first category: in the
        order of a pandas categorical, of an ``Enum`` of polars or of an ordered dictionary of
        Arrow, else sorted.  With a penalty every category has a coefficient, and there is none.
    standard_errors : str or None, default="model"
        Kind of standard errors: ``model``, robust ``HC0``, ``HC1``, ``HC2``, ``HC3``, or
        ``clustered`` (needs ``groups``).  None computes none.
    solver : str or StochasticDescent, default="auto"
        ``normal-equations``, ``qr``, ``minimum-norm`` (the pseudoinverse), or a solver of GLM.
        ``auto`` uses the normal equations, and QR where columns are nearly dependent.
    tol : float, default=1e-8
        Tolerance of an iterative solver, as in GLM.
    max_iter : int, default=1000
        Maximum number of steps of an iterative solver; a fit that reaches it warns.
    stop : StoppingRule or None, default=None
        A rule of ``likely.solvers`` that may end the search before ``tol`` is reached:
        ``HeldOutPatience(5)`` holds out rows and keeps the step that is best on them,
        ``Seconds(60)`` limits the time.  ``solution_`` and the summary say that it did.
    warm_start : bool, default=False
        Start the solver from the coefficients of the last fit.
    executor : str or Executor, default="auto"
        How sums over blocks of rows are computed: ``serial``, ``threads`` or ``auto``.
    random_state : int, RandomState or Generator, default=None
        Seed for ``sample``.

    Attributes
    ----------
    coef_ : array of shape (n_coefficients,) or (n_targets, n_coefficients)
        Numbers first, then the categories of each categorical column; ``terms_`` names them.
    intercept_ : float or array of shape (n_targets,)
    dispersion_ : float or array of shape (n_targets,)
        σ², by Σ w (y − μ)² / (Σ w − p): unbiased, for standard errors, intervals and samples.
    ml_dispersion_ : float or array of shape (n_targets,)
        σ², by Σ w (y − μ)² / Σ w: maximum likelihood.
    rank_, condition_ : int, float
        For the centred columns scaled to length 1; nan after an iterative solver.
    solution_ : Solution
        How it was solved.

    Examples
    --------
    >>> import numpy as np
    >>> from likely import LinearRegression
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> model = LinearRegression().fit(X, [1.0, 3.0, 5.0])
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([2.]), 1.0)
    """

    saved: ClassVar = WITH_INTERCEPT | Saved(
        {
            "rank_": float,
            "condition_": float,
            "dispersion_": Numbers(float | Array, "not negative"),  # one for each target
            "ml_dispersion_": Numbers(float | Array, "not negative"),
        },
    )

    path_takes = ("offset",)

    def __init__(
        self,
        *,
        l1: Any = 0.0,
        l2: Any = 0.0,
        penalty: Penalty | None = None,
        fit_intercept: bool = True,
        penalise_intercept: bool = False,
        reference: Mapping[Any, Any] | None = None,
        standard_errors: str | None = "model",
        solver: str | StochasticDescent = "auto",
        tol: float = 1e-8,
        max_iter: int = 1000,
        stop: StoppingRule | None = None,
        warm_start: bool = False,
        executor: str | Executor = "auto",
        random_state: Any = None,
    ) -> None:
        self.l1 = l1
        self.l2 = l2
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.penalise_intercept = penalise_intercept
        self.reference = reference
        self.standard_errors = standard_errors
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.stop = stop
        self.warm_start = warm_start
        self.executor = executor
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        offset: Any = None,
        groups: Any = None,
    ) -> Self:
        """Fit to rows X with responses y, (n,) or (n, n_targets).

        X is an array, a CSR array, a data frame, or a file (its path, or ``likely.read``); with a
        frame or a file, the other arguments may be names of its columns.
        """
        forget_choice(self)
        rows = open_linear(
            self,
            X,
            y,
            RowExtras(sample_weight, offset, None, groups),
            target="numbers",
            given=strengths_of(self),
            reference=self.reference,
        )
        return self.fit_opened(rows)

    def fit_opened(self, rows: LinearRows) -> Self:
        """Internal: fit to rows that are checked and cut into blocks: see ``open_linear``."""
        choose_strength(self, self.specify(rows), design_rows(rows), Gaussian().likelihood())
        rough, n_columns = is_rough(self), rows.blocks.n_features
        if choose_closed_form(self.solver, rough=rough, n_columns=n_columns, stop=self.stop):
            return self._store_closed_form(fit_closed_form(self, rows), rows)
        if isinstance(rows.blocks, ArrayBlocks) and np.ndim(rows.blocks.target) > 1:
            raise InvalidInput(
                "y has several columns, which need a closed form; l1 > 0, groups and iterative "
                f"solvers fit one. Use l2 alone with one of {', '.join(CLOSED_FORMS)}, or fit one "
                "column at a time."
            )
        return self.store(fitted(self, design_rows(rows), self.specify(rows)), rows)

    def specify(self, rows: LinearRows) -> Callable[[DesignRows], OnePredictor]:
        """Internal: what is fitted to rows that are cut into blocks, where there is a search."""
        likelihood = Gaussian().likelihood()
        return predictor_of(self, rows.coding, likelihood, student=True)

    def objective(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        offset: Any = None,
        *,
        reduction: Reduction = "sum",
    ) -> ModelObjective:
        """What ``fit`` minimises on these rows, as a function of θ = (coef, intercept)."""
        model = self.for_prediction()
        rows = model.open_path(PathRows(X, y, sample_weight, offset))
        specify, given = model.specify(rows), design_rows(rows)
        return model_objective(
            model,
            given,
            specify,
            lambda fit: copy(model).store(fit, rows),
            reduction,
            rows.position,
        )

    def store(self, fit: LinearFit, rows: LinearRows) -> Self:
        """Internal: this model with what a fit found."""
        remember_means(self, rows)
        self.coding_, self.coef_, self.intercept_ = rows.coding, fit.coef, _number(fit.intercept)
        self.solution_, self.inference_ = fit.solution, fit.inference
        self.library_ = rows.library
        self.rank_, self.condition_ = nan, nan  # a search does not know them
        self.dispersion_, self.ml_dispersion_ = fit.dispersion
        return self

    def _store_closed_form(self, found: "ClosedForm", rows: LinearRows) -> Self:
        self.store(found.fit, rows)
        self.rank_, self.condition_ = found.rank, found.condition
        return self

    def open_path(self, rows: PathRows) -> LinearRows:
        """Internal: the rows, checked and cut into blocks, with one response."""
        given = strengths_of(self)
        reference = self.reference
        return open_linear(
            self, rows.X, rows.y, rows.extras, target="number", given=given, reference=reference
        )

    def path_slopes(self, block: Block) -> PathSlopes:
        """Internal: η − y, of curvature 1."""
        residual = self.path_predictor(block) - block.target
        return PathSlopes(residual[:, None], np.ones(block.n_rows))

    def path_deviance(self, block: Block) -> Array:
        """Internal: (y − μ)²."""
        return np.asarray((block.target - np.reshape(self.path_predictor(block), -1)) ** 2)

    def predict(self, X: Any, *, offset: Any = None) -> Array:
        """E[y | x] of each row."""
        X, offset = own_columns(X, offset)
        mean = self.linear_predictor(X)
        moved = np.asarray(check_offset(offset, None, n_rows=len(mean)))
        return mean + (moved[:, None] if moved.ndim < mean.ndim and moved.ndim else moved)

    def predict_interval(
        self, X: Any, level: float = 0.95, *, offset: Any = None, of: str = "auto"
    ) -> Array:
        """An interval of each row, (n, 2): for a new response y, or for its mean (``of="mean"``).

        ``of="auto"`` is ``of="y"``.
        """
        check_is_fitted(self)
        if check_interval_of(of) == "mean":
            return self._mean_interval(X, Identity(), level, offset)
        inference = self._inference()
        eta, spread = self._predictor_and_error(X, offset)
        inference.quantile(level)  # a level that is none is refused
        return student_interval(eta, spread, self.dispersion_, inference.df_residual, level)

    def predict_distribution(self, X: Any, *, offset: Any = None) -> PredictiveDistribution:
        """The distribution of y given each row: N(μ, σ²) with ``dispersion_``."""
        mean = self.predict(X, offset=offset)
        return PredictiveDistribution(Gaussian(), mean, self.dispersion_)

    def predictive_family(self) -> PredictiveFamily | None:
        """A Gaussian with the variance of the residuals."""
        check_is_fitted(self)
        return PredictiveFamily.of(Gaussian(), float(self.dispersion_))

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> float:
        """R², the share of the sum of squares that is explained, without any offset.

        Squares are around the mean, or around 0 without an intercept.
        """
        refuse_without_offset(self, offset=offset)
        mean = self.predict(X, offset=offset)
        X, y, sample_weight, offset = own_columns(X, y, sample_weight, offset)
        y = check_response(y, n_rows=len(mean), estimator=self, several=mean.ndim == 2)
        moved = check_offset(offset, None, n_rows=len(mean))
        y, mean = (y.T - moved).T, (mean.T - moved).T
        if self.fit_intercept:
            return float(r2_score(y, mean, sample_weight=sample_weight))
        weight = check_weight(sample_weight, n_rows=len(y))
        squares = np.average(np.square([y - mean, y]), axis=1, weights=weight)
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.mean(1 - squares[0] / squares[1]))

    def log_likelihoods(self, X: Any, y: Any, *, offset: Any = None) -> Array:
        """log N(y_i; μ_i, σ²) of each row at ``ml_dispersion_``; one for each target."""
        refuse_without_offset(self, offset=offset)
        mean = self.predict(X, offset=offset)
        X, y = own_columns(X, y)
        y = check_response(y, n_rows=len(mean), estimator=self, several=mean.ndim == 2)
        return Gaussian().log_prob(y, mean, self.ml_dispersion_)

    def log_likelihood(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None
    ) -> float:
        """Σ w_i log N(y_i; μ_i, σ²) at ``ml_dispersion_``: for training rows as in the summary."""
        each = self.log_likelihoods(X, y, offset=offset)
        _, sample_weight = own_columns(X, sample_weight)
        weight = check_weight(sample_weight, n_rows=len(each))
        return float(each.sum() if weight is None else np.dot(weight, each).sum())

    def sample(self, X: Any, random_state: Any = None, *, offset: Any = None) -> Array:
        """One y for each row, drawn from the fitted model."""
        mean = self.predict(X, offset=offset)
        rng = generator(self.random_state if random_state is None else random_state)
        return Gaussian().sample(mean, rng, self.dispersion_)

    def _plate_parameters(self) -> tuple[PlateParameter, ...]:
        return (PlateParameter("β"), PlateParameter("σ²"))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = self.penalty is None and not is_penalised(
            self.l1
        )  # a search fits one
        return tags


class ClosedForm(NamedTuple):
    """A fitted predictor, and what least squares knows of its columns."""

    fit: LinearFit
    rank: int
    condition: float


class _Setting(NamedTuple):
    """The totals before anything is solved."""

    estimator: LinearRegression
    rows: LinearRows
    data: Framed
    shift: Array  # of y, near its mean
    gram: GramTotals  # of framed columns, with the intercept
    centred: Eliminated
    l2: Array

    @property
    def free(self) -> bool:
        """Whether there is an intercept without a penalty, which is eliminated."""
        return bool(self.estimator.fit_intercept and not self.estimator.penalise_intercept)

    @property
    def mean(self) -> Array:
        """For the original columns."""
        centre, mean = self.data.framing.centre, np.array(self.centred.mean_x)
        if centre is not None:
            mean[: len(centre)] += centre
        return mean

    @property
    def noise(self) -> Array:
        """The length that rounding may leave of each centred column."""
        return column_noise(self.mean, self.gram.weight)

    @property
    def cancellation(self) -> float:
        """By how much a column is longer than what the elimination of the intercept left of it.

        The Gram matrix has lost its square times ε; only columns that are not centred, such as
        sparse ones, are far from 0.
        """
        left = np.diag(self.centred.totals.gram)
        before = np.diag(self.gram.gram)[: len(left)]
        ratio = np.divide(before, left, out=np.full(len(left), np.inf), where=left > 0)
        return float(np.sqrt(np.max(ratio[before > 0], initial=1.0)))

    def ridge(self, coef: Array) -> Array:
        """Kβ."""
        return (self.l2[: len(coef)] * coef.T).T


def fit_closed_form(estimator: LinearRegression, rows: LinearRows) -> ClosedForm:
    """Least squares or ridge, from one pass, or two or three."""
    if (kind := estimator.standard_errors) is not None:
        check_covariance(kind, rows.n_groups)
    with columns_named(estimator), rows.executor.session():
        return _closed_form(estimator, rows)


def _closed_form(estimator: LinearRegression, rows: LinearRows) -> ClosedForm:
    refuse_extreme_responses(rows.blocks)
    free = estimator.fit_intercept and not estimator.penalise_intercept
    data = framed(
        rows.blocks,
        rows.executor,
        names=rows.coding.names,
        intercept=estimator.fit_intercept,
        centre=free,
    )
    shift = np.asarray(mean_response(data.start, rows.executor)) * float(free)
    gram = rows.executor.sum(partial(block_gram, shift), data.blocks)
    if not np.isfinite(gram.gram).all() or not np.isfinite(gram.squares).all():
        refuse_gaps(rows.blocks, rows.coding.names)
        raise InvalidInput(
            "The sums of squares are not finite: values are too large for double precision. "
            "Divide the columns, the responses or the weights by a round number."
        )
    l2 = spread(
        estimator,
        rows.coding,
        data.framing,
        strengths_of(estimator),
        intercept=estimator.penalise_intercept,
    ).l2
    centred = without_intercept(gram) if free else as_they_are(gram)
    setting = _Setting(estimator, rows, data, shift, gram, centred, np.asarray(l2))
    if setting.cancellation > CONDITION_TO_REFINE:
        mean = nearer_mean(data.blocks, centred.mean_x, rows.executor)
        setting = setting._replace(centred=centred._replace(mean_x=mean))
    solved = _solved(setting)
    _warn_of_redundant(estimator, solved, rows.coding)
    return _assembled(setting, solved)


def _solved(setting: _Setting) -> LeastSquares:
    """The solution by the named solver; ``auto`` goes from the fastest to the most exact.

    The normal equations decide no rank: a QR factor does, or a pass where that costs minutes.
    """
    solver, noise = solver_name(setting.estimator.solver), setting.noise
    centred, l2 = setting.centred, setting.l2[: len(setting.centred.totals.gram)]
    if solver == "auto" and (setting.rows.blocks.n_rows or np.inf) * len(l2) ** 2 > MOST_FOR_QR:
        solved = solve_by_pivots(centred.totals, l2, noise=noise)
        null = solved.span.null / solved.span.lengths[:, None]
        null = np.vstack([null, -centred.mean_x @ null]) if setting.free else null
        left = setting.rows.executor.sum(partial(block_lengths, null), setting.data.blocks).value
        exact = max(solved.condition, setting.cancellation) < CONDITION_FOR_QR
        if exact and np.max(left, initial=0.0) <= NULL_OF_ROWS**2:
            return solved
    if solver in ("auto", "normal-equations"):
        solved = solve_normal_equations(centred.totals, l2, noise=noise)
        most = CONDITION_FOR_QR if solver == "auto" else CONDITION_OF_NORMAL_EQUATIONS
        exact = solved.condition < most and setting.cancellation < CONDITION_FOR_QR
        if solved.method == "normal equations" and exact:
            return solved
    term = partial(block_factor, centred.mean_x, setting.shift + centred.mean_y)
    factor = setting.rows.executor.sum(term, setting.data.blocks)
    if l2.any():
        factor = factor + LeastSquaresTotals.ridge(l2, factor)
    if solver == "minimum-norm":
        return solve_minimum_norm(factor, noise=noise)
    return solve_qr(factor, noise=noise)


def _warn_of_redundant(estimator: LinearRegression, solved: LeastSquares, coding: Coding) -> None:
    names = coding.names()
    redundant = [names[j] for j in solved.redundant if j < len(names)]
    if redundant and solver_name(estimator.solver) == "minimum-norm":
        return
    if redundant:
        warn_user(
            f"{type(estimator).__name__}: {quoted(redundant)} can be computed from other columns, "
            f"or never var{'y' if len(redundant) > 1 else 'ies'}; the solution of "
            "minimum norm was used. Drop the column, or give a penalty (l2=1.0); "
            "solver='minimum-norm' gives this solution without a warning.",
            RedundantColumns,
        )
    else:
        warn_of_condition(type(estimator).__name__, solved, coding.names)


def _assembled(setting: _Setting, solved: LeastSquares) -> ClosedForm:
    estimator, data = setting.estimator, setting.data
    user = data.framing.to_user(_with_intercept(setting, solved.theta).T).T
    squares = None
    worst = max(solved.condition, setting.cancellation)
    if len(solved.theta) == solved.rank and worst > CONDITION_TO_REFINE:
        user, squares = _refined(setting, solved, user)
    theta = data.framing.from_user(user.T).T
    if squares is None:
        squares = _residual_squares(setting, theta)
    penalty = 0.5 * np.sum((setting.l2 * theta.T) * theta.T, axis=-1)
    bread = _bread(setting, solved)
    inference = None
    if setting.gram.moment.ndim == 1 and estimator.standard_errors is not None:
        inference = _inference(setting, theta, bread, solved.held, estimator.standard_errors)
        dispersion: Array | float = inference.dispersion
    else:
        df_residual = setting.gram.weight - bread.n_parameters
        dispersion = _number(squares * small_sample(1.0, df_residual))
    solution = Solution(
        theta=user.T,
        converged=True,
        reason="the answer is in closed form",
        trace=(float(np.sum(squares / 2 + penalty)),),
        gap=0.0,
        solver=solved.method,
        passes=float(sum(data.passes)),
    )
    coef, intercept = user.T, np.zeros(user.shape[1:])
    if data.framing.intercept:
        coef, intercept = coef[..., :-1], coef[..., -1]
    largest = _number(squares / setting.gram.weight)
    if inference is not None:
        largest = inference.deviance / inference.n
    fit = LinearFit(
        coef, intercept, solution, inference, dispersion=Dispersion(dispersion, largest)
    )
    return ClosedForm(fit, solved.rank, solved.condition)


def _with_intercept(setting: _Setting, coef: Array) -> Array:
    """θ of the framed columns."""
    if not setting.free:
        return coef
    return np.concatenate([coef, (setting.centred.intercept(coef) + setting.shift)[None]])


def _refined(setting: _Setting, solved: LeastSquares, user: Array) -> tuple[Array, Array]:
    """θ of the original data after one step, and Σ w (y − xθ)² there.

    For small tables the residuals are computed in extended precision, from the original columns;
    for others, and for columns far from 0, in double precision, from centred columns.
    """
    framing, rows = setting.data.framing, setting.rows
    n_cells = (rows.blocks.n_rows or np.inf) * framing.n_parameters
    # a mean that is far from 0 has itself a rounding error, which a step would multiply
    spreads = solved.span.lengths / np.sqrt(setting.gram.weight)
    far = bool((np.abs(setting.mean) > MEAN_TO_DOUBT * spreads).any())
    extended = n_cells <= MOST_CELLS_TO_EXTEND and not far
    if extended:
        plain = Framing(framing.n_coefficients, framing.intercept, None)
        rows_as_they_came = CountedBlocks(rows.blocks, setting.data.passes)
        blocks: Blocks = redesigned(rows_as_they_came, plain, framing.n_parameters)
        theta, mean = user, setting.mean
    else:
        blocks, theta, mean = (
            setting.data.blocks,
            framing.from_user(user.T).T,
            setting.centred.mean_x,
        )
    left = rows.executor.sum(partial(block_residuals, theta, extended), blocks)
    moment = left.moment
    if setting.free:
        moment = moment[:-1] - np.multiply.outer(mean, moment[-1])
    root, coef = solved.span.root, theta[: len(moment)]
    step = np.dot(root, np.dot(root.T, np.asarray(moment - setting.ridge(coef), dtype=float)))
    fall = np.sum(step * np.asarray(moment, dtype=float), axis=0)
    if setting.free:
        last = left.moment[-1] / setting.gram.weight - np.dot(mean, step)
        step = np.concatenate([step, np.asarray(last, dtype=float)[None]])
    squares = np.maximum(np.asarray(left.squares, dtype=float) - fall, 0.0)
    moved = theta + step
    return moved if extended else framing.to_user(moved.T).T, squares


def _number(values: Array | float) -> Array | float:
    """A float for one response, an array for several."""
    return values if np.ndim(values) else float(values)


def _residual_squares(setting: _Setting, theta: Array) -> Array:
    """Σ w (y − xθ)² of each response, from the totals."""
    gram, moved = setting.gram, theta.copy()
    if setting.data.framing.intercept:
        moved[-1] -= setting.shift
    fitted = np.dot(gram.gram, moved)
    return np.maximum(gram.squares + np.sum(moved * (fitted - 2 * gram.moment), axis=0), 0.0)


def _bread(setting: _Setting, solved: LeastSquares) -> Bread:
    """The inference from the factor that gave the estimates, with the intercept restored.

    At the means of the columns the intercept is independent of β̂: b̄ = b + x̄ᵀβ.
    """
    span, mean, W = solved.span, setting.centred.mean_x, setting.gram.weight
    root, null, lengths = span.root, span.null, span.lengths
    held = np.isin(np.arange(len(root)), solved.held)
    if setting.free:
        beside = np.zeros((len(root), 1))
        root = np.block([[root, beside], [-mean @ root, np.full((1, 1), W**-0.5)]])
        null = np.vstack([null, -mean @ null])
        held, lengths = np.append(held, False), np.append(lengths, np.sqrt(W))
    middle = root.T @ setting.gram.gram @ root if setting.l2.any() else np.eye(root.shape[1])
    return Bread(root, held, null, lengths, middle)


def _inference(
    setting: _Setting, theta: Array, bread: Bread, held: tuple[int, ...], kind: str
) -> Inference:
    data, rows = setting.data, setting.rows
    names = rows.coding.names() + (("intercept",) if data.framing.intercept else ())
    return infer(
        Gaussian().likelihood(),
        theta,
        bread,
        setting.l2,
        names,
        data.blocks,
        rows.executor,
        standard_errors=kind,
        distribution="t",
        redundant=held,
        n_groups=rows.n_groups,
        jacobian=data.framing.jacobian(),
        intercept=data.framing.intercept,
    )
