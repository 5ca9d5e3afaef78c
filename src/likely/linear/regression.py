"""Linear regression: least squares, ridge, lasso and elastic net.

    minimise  ½ Σ_i w_i (y_i − b − x_iᵀβ)² + l1·‖β‖₁ + ½·l2·‖β‖²

Minus the log-likelihood of a Gaussian response at variance 1, so the penalties are priors on its
scale.  Without l1 the solution is in closed form from one pass.

References
----------
Golub & Van Loan, Matrix Computations, 4th ed., §5.3 and §5.5.
Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, 2nd ed., §3.2 and §3.4.
"""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import ArrayBlocks, Block
from likely.errors import InvalidInput
from likely.graphical.model.model_plates import PlateParameter
from likely.inputs.estimators import generator
from likely.inputs.numbers import check_offset, check_response, check_weight
from likely.inputs.parameters import Estimator
from likely.inputs.rows import RowExtras, refuse_without_offset
from likely.inputs.tables import own_columns
from likely.likelihoods.base import Likelihood
from likely.likelihoods.gaussian import Gaussian
from likely.likelihoods.predictive import PredictiveDistribution, PredictiveFamily
from likely.likelihoods.responses import likelihood_of
from likely.linear.closed_form import fit_closed_form
from likely.linear.coding import LinearRows, open_linear
from likely.linear.contributions import remember_means
from likely.linear.fitting import fit_linear
from likely.linear.objective import linear_objective
from likely.linear.path_models import PathModel, PathRows, PathSlopes
from likely.linear.penalty import is_penalised, is_rough, strengths_of
from likely.linear.prediction_interval import check_interval_of, student_interval
from likely.linear.surface import FittedLinear
from likely.links import Identity
from likely.objectives.model import ModelObjective, Reduction
from likely.penalties import Penalty
from likely.solvers.choice import CLOSED_FORMS, choose_closed_form
from likely.solvers.stochastic import StochasticDescent
from likely.solvers.stopping import StoppingRule


class LinearRegression(FittedLinear, PathModel, RegressorMixin, Estimator):
    """A Gaussian response with a linear mean.

    Parameters
    ----------
    l1 : float, array of shape (n_features,) or mapping, default=0.0
        Strength of the L1 penalty l1·Σ|β| added to ½ Σ (y − μ)².  One number for all columns, one
        per column, or a mapping by name.  scikit-learn's Lasso(alpha) is l1 = alpha·n;
        ElasticNet(alpha, l1_ratio) is l1 = n·alpha·l1_ratio and l2 = n·alpha·(1 − l1_ratio).
    l2 : float, array of shape (n_features,) or mapping, default=0.0
        Strength of the L2 penalty ½·l2·Σβ² added to ½ Σ (y − μ)².  scikit-learn's Ridge(alpha) is
        l2 = alpha.  A Gaussian prior of variance τ² on β, with noise of variance σ², is
        l2 = σ²/τ².
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
        fit: Any
        rough, n_columns = is_rough(self), rows.blocks.n_features
        if choose_closed_form(self.solver, rough=rough, n_columns=n_columns, stop=self.stop):
            fit = fit_closed_form(self, rows)
        elif isinstance(rows.blocks, ArrayBlocks) and np.ndim(rows.blocks.target) > 1:
            raise InvalidInput(
                "y has several columns, which need a closed form; l1 > 0, groups and iterative "
                f"solvers fit one. Use l2 alone with one of {', '.join(CLOSED_FORMS)}, or fit one "
                "column at a time."
            )
        else:
            fit = fit_linear(self, rows, likelihood_of(Gaussian(), Identity()), distribution="t")
        return self._store(fit, rows)

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
        return linear_objective(model, rows, likelihood_of(Gaussian(), Identity()), reduction)

    def _store(self, fit: Any, rows: LinearRows, likelihood: Likelihood | None = None) -> Self:
        remember_means(self, rows)
        self.coding_, self.coef_, self.intercept_ = rows.coding, fit.coef, fit.intercept
        self.solution_, self.inference_ = fit.solution, fit.inference
        self.library_ = rows.library
        self.rank_, self.condition_ = fit.rank, fit.condition
        self.dispersion_, self.ml_dispersion_ = fit.dispersion, fit.ml_dispersion
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
