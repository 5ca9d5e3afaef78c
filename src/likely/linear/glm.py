"""Generalized linear models: E[y | x] = g⁻¹(b + xᵀβ + offset), y from an exponential family.

    minimise  −Σ_i w_i log p(y_i | x_i) + l1·‖β‖₁ + ½·l2·‖β‖²        at dispersion 1

References
----------
McCullagh & Nelder, Generalized Linear Models, 2nd ed., §2.5.
"""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import Block
from likely.errors import InvalidInput
from likely.graphical.model.model_plates import PlateParameter
from likely.inputs.estimators import generator
from likely.inputs.numbers import check_offset, check_response, check_weight
from likely.inputs.parameters import Estimator
from likely.inputs.rows import RowExtras, refuse_without_offset
from likely.inputs.tables import own_columns
from likely.likelihoods.base import Likelihood, Response
from likely.likelihoods.predictive import PredictiveDistribution, PredictiveFamily
from likely.likelihoods.responses import likelihood_of, response_named
from likely.linear.coding import LinearRows, open_linear
from likely.linear.constant_mean import constant_mean
from likely.linear.contributions import remember_means
from likely.linear.fitting import LinearFit, fit_linear
from likely.linear.objective import linear_objective
from likely.linear.overdispersion import fit_with_alpha
from likely.linear.path_models import PathModel, PathRows, PathSlopes, likelihood_slopes
from likely.linear.penalty import strengths_of
from likely.linear.prediction_interval import (
    check_interval_of,
    refuse_quasi,
    response_interval,
    student_interval,
    warn_of_narrow,
)
from likely.linear.surface import FittedLinear, check_exposure, mean_within
from likely.links import Identity, Link
from likely.objectives.inference import has_constant_variance
from likely.objectives.model import ModelObjective, Reduction
from likely.penalties import Penalty
from likely.solvers.stochastic import StochasticDescent
from likely.solvers.stopping import StoppingRule


class GLM(FittedLinear, PathModel, RegressorMixin, Estimator):
    """A generalized linear model: any scalar response, any link whose range fits.

    Parameters
    ----------
    response : str or Response, default="gaussian"
        The family of y given x: ``gaussian``, ``bernoulli`` (also proportions, with the trials as
        weights), ``poisson``, ``exponential``, ``gamma``, ``inverse_gaussian``,
        ``negative_binomial`` (α by maximum likelihood), ``tweedie`` (power 1.5), or with a
        parameter that is given: ``NegativeBinomial(0.5)`` or ``"negative-binomial(0.5)"``,
        ``Tweedie(1.7)`` or ``"tweedie(1.7)"``.
    link : str or Link, default=None
        Name of the link between the mean and the linear predictor; None is the response's default.
    l1 : float, array of shape (n_features,) or mapping, default=0.0
        Strength of the L1 penalty l1·Σ|β| on the *summed* log-likelihood.  One number for all
        columns, one per column, or a mapping by name.
    l2 : float, array of shape (n_features,) or mapping, default=0.0
        Strength of the L2 penalty ½·l2·Σβ² on the *summed* log-likelihood.  scikit-learn's
        PoissonRegressor(alpha) is l2 = alpha·n.
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
        Kind of standard errors: ``model``, ``quasi`` (the dispersion is estimated even where the
        family fixes it), robust ``HC0``, ``HC1``, ``HC2``, ``HC3``, or ``clustered`` (needs
        ``groups``).  None computes none.
    solver : str or StochasticDescent, default="auto"
        ``newton``, ``lbfgs``, ``gradient-descent``, ``proximal-newton``, ``fista``,
        ``coordinate-descent`` (columns in memory), ``dual-coordinate-descent`` (sparse logistic
        rows in memory), ``sgd`` (batches of rows, approximate; ``StochasticDescent(...)`` sets its
        details), or ``auto``, which chooses by the number of rows and columns and the penalty.
        ``solution_.solver`` says which one was used.
    tol : float, default=1e-8
        The gap to the optimum, as a share of the null deviance, at which the search stops.
        Where estimates have errors, a Newton decrement of 1e-10 nats is reached as well.
    max_iter : int, default=1000
        Maximum number of steps of the solver; a fit that reaches it warns.
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
    coef_ : array of shape (n_coefficients,)
        Numbers first, then the categories of each categorical column; ``terms_`` names them.
    intercept_ : float
    likelihood_ : Likelihood
        The response and the link; for a negative binomial with the estimated α, and the
        Poisson where that is 0.
    alpha_ : float
        For a negative binomial whose α was estimated; ``summary()`` has its standard error and
        test.
    dispersion_ : float
        ψ in Var[y] = ψ V(μ): 1 where the family fixes it, else Pearson's χ² / (n − p).  Standard
        errors, intervals, densities, log-likelihoods and samples use this estimate.
    ml_dispersion_ : float
        ``dispersion_``, but RSS/n for a Gaussian, where its log-likelihood is evaluated and
        largest.
    solution_ : Solution
        How the search ended: solver, trace, gap, passes over the data, and why it stopped.

    Examples
    --------
    >>> import numpy as np
    >>> from likely import GLM
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = GLM("poisson").fit(X, [1, 2, 4, 8])
    >>> model.predict([[4.0]]).round(3)
    array([16.])
    """

    path_takes = ("offset", "exposure")

    def __init__(
        self,
        response: str | Response = "gaussian",
        link: str | Link | None = None,
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
        self.response = response
        self.link = link
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
        exposure: Any = None,
        groups: Any = None,
    ) -> Self:
        """Fit to rows X with responses y.

        X is an array, a CSR array, a data frame, or a file (its path, or ``likely.read``); with a
        frame or a file, the other arguments may be names of its columns.
        """
        return self.fit_opened(self._open(X, y, RowExtras(sample_weight, offset, exposure, groups)))

    def fit_opened(self, rows: LinearRows) -> Self:
        """Internal: fit to rows that are checked and cut into blocks: see ``open_linear``."""
        likelihood = likelihood_of(self.response, self.link)
        if self.stop is not None and not likelihood.response.shape_is_known:
            raise InvalidInput(
                f"stop={self.stop!r} was given with an alpha to be estimated, which needs the "
                "optimum. Give alpha, as NegativeBinomial(1.0), or leave stop out."
            )
        if likelihood.response.shape_is_known:
            fit = fit_linear(self, rows, likelihood)
        else:
            fit, likelihood, self.alpha_ = fit_with_alpha(self, rows, likelihood)
        return self._store(fit, rows, likelihood)

    def objective(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        offset: Any = None,
        exposure: Any = None,
        *,
        reduction: Reduction = "sum",
    ) -> ModelObjective:
        """What ``fit`` minimises on these rows, as a function of θ = (coef, intercept)."""
        likelihood = likelihood_of(self.response, self.link)
        if not likelihood.response.shape_is_known:
            raise InvalidInput(
                f"The alpha of {likelihood.response.name} is estimated by several searches in fit; "
                "an objective, and a training curve, need a number. Give one, "
                "response='negative-binomial(0.5)', or that of a fit: "
                "NegativeBinomial(model.fit(X, y).alpha_)."
            )
        model = self.for_prediction()
        rows = model._open(X, y, RowExtras(sample_weight, offset, exposure))
        return linear_objective(model, rows, likelihood, reduction)

    def _store(self, fit: LinearFit, rows: LinearRows, likelihood: Likelihood) -> Self:
        remember_means(self, rows)
        self.likelihood_, self.coding_ = likelihood, rows.coding
        self.coef_, self.intercept_ = fit.coef, fit.intercept
        self.solution_, self.inference_ = fit.solution, fit.inference
        self.separated_, self.library_ = fit.separated, rows.library
        self.dispersion_, self.ml_dispersion_ = fit.dispersion, fit.ml_dispersion
        return self

    def open_path(self, rows: PathRows) -> LinearRows:
        """Internal: the rows, checked as ``fit`` checks them and cut into blocks."""
        return self._open(rows.X, rows.y, rows.extras)

    def path_slopes(self, block: Block) -> PathSlopes:
        """Internal: the derivatives of the loss of each row."""
        return likelihood_slopes(self.likelihood_, block, self.path_predictor(block))

    def path_deviance(self, block: Block) -> Array:
        """Internal: the response's deviance of each row."""
        mean = mean_within(self.likelihood_, np.reshape(self.path_predictor(block), -1))
        return np.asarray(self.likelihood_.response.deviance(block.target, mean))

    def offset_link(self) -> str:
        """The name of the link on whose scale an offset is added."""
        return self.likelihood_.link.name

    def predict(self, X: Any, *, offset: Any = None, exposure: Any = None) -> Array:
        """E[y | x] of each row."""
        eta = self.linear_predictor(X, offset=offset, exposure=exposure)
        return mean_within(self.likelihood_, eta)

    def predict_interval(
        self,
        X: Any,
        level: float = 0.95,
        *,
        offset: Any = None,
        exposure: Any = None,
        of: str = "auto",
    ) -> Array:
        """An interval of each row, (n, 2): for a new response y, or for its mean (``of="mean"``).

        ``of="auto"`` is ``of="y"``, and ``of="mean"`` where y is 0 or 1.  The ends for y are
        quantiles of its distribution, with the uncertainty of the mean; dispersion and α are
        treated as known (a Gaussian with the identity link has Student's t).
        """
        check_is_fitted(self)
        likelihood = self.likelihood_
        if check_interval_of(of, numbers=not likelihood.response.has_trials) == "mean":
            interval = self._mean_interval(X, likelihood.link, level, offset, exposure)
            return np.clip(interval, *likelihood.response.means)
        if self.standard_errors == "quasi" and likelihood.response.dispersion_is_known:
            refuse_quasi(likelihood.response.name, self.dispersion_)
        eta, spread = self._predictor_and_error(X, offset, exposure)
        self._inference().quantile(level)  # a level that is none is refused
        warn_of_narrow(self._inference())
        if isinstance(likelihood.link, Identity) and has_constant_variance(likelihood):
            df = self._inference().df_residual
            return student_interval(eta, spread, self.dispersion_, df, level)
        return response_interval(likelihood, self._density_dispersion(), eta, spread, level)

    def predict_distribution(
        self, X: Any, *, offset: Any = None, exposure: Any = None
    ) -> PredictiveDistribution:
        """The distribution of y given each row: the response around its mean."""
        mean = self.predict(X, offset=offset, exposure=exposure)
        return PredictiveDistribution(self.likelihood_.response, mean, self._density_dispersion())

    def predictive_family(self) -> PredictiveFamily | None:
        """The response, with the dispersion of the fit."""
        check_is_fitted(self)
        return PredictiveFamily.of(self.likelihood_.response, self._density_dispersion())

    def deviance(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> float:
        """Twice the log-likelihood of the saturated model minus that of the model."""
        y, mean, weight = self._with_means(X, y, sample_weight, offset, exposure)
        return float(np.dot(weight, self.likelihood_.response.deviance(y, mean)))

    def log_likelihoods(self, X: Any, y: Any, *, offset: Any = None, exposure: Any = None) -> Array:
        """log p(y_i | x_i) of each row, with all its terms, at ``ml_dispersion_``."""
        y, mean, _ = self._with_means(X, y, None, offset, exposure)
        return self.likelihood_.response.log_prob(y, mean, self._largest_dispersion())

    def log_likelihood(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> float:
        """Σ w_i log p(y_i | x_i), with all its terms, at ``ml_dispersion_``."""
        y, mean, weight = self._with_means(X, y, sample_weight, offset, exposure)
        response, psi = self.likelihood_.response, self._largest_dispersion()
        return float(response.weighted_log_prob(y, mean, weight, psi).sum())

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> float:
        """D², the share of the constant model's deviance that is explained; R² for a Gaussian.

        The constant model has the same offsets, and an intercept if the model has one.
        """
        left = self.deviance(X, y, sample_weight, offset=offset, exposure=exposure)
        X, y, sample_weight, offset, exposure = own_columns(X, y, sample_weight, offset, exposure)
        y, weight = self._responses(X, y, sample_weight, None)
        offsets = check_offset(offset, exposure, n_rows=len(y))
        constant = constant_mean(self.likelihood_, y, weight, offsets, intercept=self.fit_intercept)
        null = float(np.dot(weight, self.likelihood_.response.deviance(y, constant)))
        return 1 - left / null if null > 0 else float("nan")

    def sample(
        self, X: Any, random_state: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> Array:
        """One y for each row, drawn from the fitted model."""
        mean = self.predict(X, offset=offset, exposure=exposure)
        rng = generator(self.random_state if random_state is None else random_state)
        return self.likelihood_.response.sample(mean, rng, self._density_dispersion())

    def _plate_parameters(self) -> tuple[PlateParameter, ...]:
        response = response_named(self.response)
        dispersion = () if response.dispersion_is_known else (PlateParameter("ψ"),)
        shape = () if response.shape_is_known else (PlateParameter("α"),)
        return (PlateParameter("β"), *dispersion, *shape)

    def _density_dispersion(self) -> float:
        """ψ of p(y | x): 1 where it is known, because quasi-likelihoods have no density."""
        return 1.0 if self.likelihood_.response.dispersion_is_known else float(self.dispersion_)

    def _largest_dispersion(self) -> float:
        """The ψ that maximises the likelihood of the training rows, where it is known."""
        return 1.0 if self.likelihood_.response.dispersion_is_known else float(self.ml_dispersion_)

    def _open(self, X: Any, y: Any, extras: RowExtras) -> LinearRows:
        check_exposure(likelihood_of(self.response, self.link).link.name, extras.exposure)
        given = strengths_of(self)
        return open_linear(
            self, X, y, extras, target="number", given=given, reference=self.reference
        )

    def _with_means(
        self, X: Any, y: Any, sample_weight: Any, offset: Any, exposure: Any
    ) -> tuple[Array, Array, Array]:
        """The responses, checked; their predicted means; and their weights."""
        refuse_without_offset(self, offset=offset, exposure=exposure)
        mean = self.predict(X, offset=offset, exposure=exposure)
        y, weight = self._responses(X, y, sample_weight, len(mean))
        return y, mean, weight

    def _responses(
        self, X: Any, y: Any, sample_weight: Any, n_rows: int | None
    ) -> tuple[Array, Array]:
        check_is_fitted(self)
        X, y, sample_weight = own_columns(X, y, sample_weight)
        n_rows = len(y) if n_rows is None else n_rows
        y = check_response(y, n_rows=n_rows, estimator=self)
        self.likelihood_.check(y)
        weight = check_weight(sample_weight, n_rows=n_rows)
        return y, np.ones(n_rows) if weight is None else weight

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        try:
            low = response_named(self.response).means.low
        except InvalidInput:  # fit says so
            low = -np.inf
        tags.target_tags.positive_only = low >= 0
        return tags
