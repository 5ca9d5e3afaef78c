"""Generalized linear models: E[y | x] = g⁻¹(b + xᵀβ + offset), y from an exponential family.

    minimise  −Σ_i w_i log p(y_i | x_i) + l1·‖β‖₁ + ½·l2·‖β‖²        at dispersion 1

The α of a negative binomial may be estimated too, by maximum likelihood:

    ℓ_p(α) = max_β ℓ(β, α) − penalty(β)        dℓ_p/d ln α = ∂ℓ/∂ln α at β̂(α)

The search is over one number; each of its steps is a fit that starts from the previous one.  β and
α are orthogonal, so that ∂²ℓ/∂(ln α)² at β̂ is nearly that of ℓ_p, and Newton's steps in ln α
converge fast; they are kept between the last α at which ℓ_p increased and the last at which it
decreased.

ℓ_p may have a maximum at α = 0 and another inside, so the search begins at the best of several α
around the estimate by moments, Σ w((y − μ)² − y)/Σ w μ², at the means of the Poisson fit.  Where
none is better than the Poisson, the estimate is 0 and the model is the Poisson.

References
----------
McCullagh & Nelder, Generalized Linear Models, 2nd ed., §2.5.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from math import nan, sqrt
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks, redesigned
from likely.data.layouts.intercept import Intercept
from likely.errors import InvalidInput, warn_user
from likely.fitting.covariance import check_covariance
from likely.fitting.driver import DesignRows, FitSettings, LinearFit, refuse_if_not_finite
from likely.fitting.edge import EVERYWHERE
from likely.fitting.framing import Framing
from likely.fitting.goodness import AlphaEstimate
from likely.fitting.predictor import (
    OF_LOGARITHMS,
    OnePredictor,
    estimated_sigma,
    estimates_sigma,
    inference_of_amounts,
    logarithms,
)
from likely.fitting.problem import Problem, linear_problem, with_orthogonal_columns
from likely.fitting.smoothing import (
    choose_strength,
    forget_choice,
)
from likely.graphical.model.model_plates import PlateParameter
from likely.inputs.estimators import Estimator, columns_named, generator
from likely.inputs.rows import RowExtras, refuse_without_offset
from likely.inputs.tables import own_columns
from likely.inputs.targets import check_offset, check_response, check_weight
from likely.likelihoods.base import Likelihood, Response
from likely.likelihoods.log_normal import LEAST_SIGMA, LogNormal
from likely.likelihoods.negative_binomial import NegativeBinomial
from likely.likelihoods.poisson import Poisson
from likely.likelihoods.predictive import PredictiveDistribution, PredictiveFamily
from likely.likelihoods.responses import likelihood_of, response_named
from likely.linear.fit import (
    LinearRows,
    Specify,
    design_rows,
    fitted,
    model_objective,
    open_linear,
    predictor_of,
    remember_means,
    strengths_of,
)
from likely.linear.path_penalties import PathModel, PathRows, PathSlopes, likelihood_slopes
from likely.linear.response_predictions import (
    check_exposure,
    check_interval_of,
    constant_mean,
    interval_of_amounts,
    mean_within,
    refuse_quasi,
    response_interval,
    student_interval,
    warn_of_narrow,
)
from likely.linear.surface import WITH_INTERCEPT, FittedLinear
from likely.links import Identity, Link
from likely.objectives.inference import has_constant_variance
from likely.objectives.model import ModelObjective, Reduction
from likely.objectives.overdispersion import (
    AlphaTotals,
    alpha_around_means,
    alpha_totals,
    block_count_table,
    first_alpha,
    maximise_alpha,
    no_columns,
    poisson_totals,
)
from likely.penalties.base import NoPenalty, Penalty
from likely.solvers.choice import solve
from likely.solvers.search_problem import Found
from likely.solvers.stochastic import StochasticDescent
from likely.solvers.stopping import StoppingRule
from likely.storage.declarations import Numbers, Saved

INNER_TOL = 1e-12  # of the coefficients at each α
SYMBOLS = {"alpha": "α", "sigma": "σ"}  # in a diagram


class GLM(FittedLinear, PathModel, RegressorMixin, Estimator):
    """A generalized linear model: any scalar response, any link whose range fits.

    Parameters
    ----------
    response : str or Response, default="gaussian"
        The family of y given x: ``gaussian``, ``bernoulli`` (also proportions, with the trials as
        weights), ``poisson``, ``exponential``, ``gamma``, ``inverse_gaussian``,
        ``log_normal`` (σ by least squares on ln y), ``negative_binomial`` (α by maximum
        likelihood), ``tweedie`` (power 1.5), or with a parameter that is given:
        ``NegativeBinomial(0.5)`` or ``"negative-binomial(0.5)"``, ``LogNormal(0.5)``,
        ``Tweedie(1.7)`` or ``"tweedie(1.7)"``.
    link : str or Link, default=None
        Name of the link between the mean and the linear predictor; None is the response's default.
    l1 : float, array of shape (n_features,) or mapping, default=0.0
        Strength of the L1 penalty l1·Σ|β| on the *summed* log-likelihood.  One number for all
        columns, one per column, or a mapping by name.
    l2 : float, array of shape (n_features,), mapping or "auto", default=0.0
        Strength of the L2 penalty ½·l2·Σβ² on the *summed* log-likelihood.  scikit-learn's
        PoissonRegressor(alpha) is l2 = alpha·n.  ``"auto"`` is the strength of the largest marginal
        likelihood (``l2_``), with the dispersion estimated, also of counts; columns should have one
        scale.
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
        Poisson where that is 0; for a log-normal with the estimated σ.
    alpha_ : float
        For a negative binomial whose α was estimated; ``summary()`` has its standard error and
        test.
    sigma_, ml_sigma_ : float
        For a log-normal whose σ was estimated: √(RSS/(n − p)) of ln y, which everything uses, and
        √(RSS/n), at which log-likelihoods are largest.  Deviances are then sums of squares of ln y.
    count_alpha_ : float
        Of a Poisson fit to counts that are clearly overdispersed (Pearson's χ²/df above 1.5, not by
        chance): the α of the negative binomial around the same means; else 0.  Densities of new
        counts and intervals for y are those of this negative binomial.
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

    saved: ClassVar = WITH_INTERCEPT | Saved(
        {
            "likelihood_": Likelihood,
            "dispersion_": Numbers(float, "not negative"),
            "ml_dispersion_": Numbers(float, "not negative"),
        },
        {
            "alpha_": float | None,
            "count_alpha_": Numbers(float, "not negative"),
            "sigma_": Numbers(float, "not negative"),
            "ml_sigma_": Numbers(float, "not negative"),
        },
    )

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
        forget_choice(self)
        return self.fit_opened(self._open(X, y, RowExtras(sample_weight, offset, exposure, groups)))

    def fit_opened(self, rows: LinearRows) -> Self:
        """Internal: fit to rows that are checked and cut into blocks: see ``open_linear``."""
        likelihood = likelihood_of(self.response, self.link)
        response = likelihood.response
        if self.stop is not None and response.shape == "alpha" and not response.shape_is_known:
            raise InvalidInput(
                f"stop={self.stop!r} was given with an alpha to be estimated, which needs the "
                "optimum. Give alpha, as NegativeBinomial(1.0), or leave stop out."
            )
        searched = likelihood
        if isinstance(response, NegativeBinomial):
            searched = Poisson().with_link(likelihood.link)  # its dispersion is estimated
        if estimates_sigma(likelihood, intercept=self.fit_intercept):
            searched, rows = OF_LOGARITHMS, rows._replace(blocks=logarithms(rows.blocks))
        specify = predictor_of(self, rows.coding, searched)
        choose_strength(self, specify, design_rows(rows), searched)
        if response.shape_is_known:
            return self.store(fitted(self, design_rows(rows), self.specify(rows)), rows)
        if searched is OF_LOGARITHMS:
            self.store(fitted(self, design_rows(rows), specify), rows, OF_LOGARITHMS)
            return self.of_amounts(type(self).__name__, rows)
        fit, likelihood, self.alpha_ = fit_with_alpha(self, rows, likelihood)
        return self.store(fit, rows, likelihood)

    def specify(self, rows: LinearRows) -> Specify:
        """Internal: what is fitted to rows that are cut into blocks, where no α is estimated."""
        return predictor_of(self, rows.coding, likelihood_of(self.response, self.link))

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
        shape, name = likelihood.response.shape, likelihood.response.name
        if not likelihood.response.shape_is_known:
            raise InvalidInput(
                f"The {shape} of {name} is estimated in fit; an objective, and a training curve, "
                f"need a number. Give one, response='{name}(0.5)', or that of a fit: "
                f"{type(likelihood.response).__name__}(model.fit(X, y).{shape}_)."
            )
        model = self.for_prediction()
        rows = model._open(X, y, RowExtras(sample_weight, offset, exposure))
        return model_objective(
            model,
            design_rows(rows),
            model.specify(rows),
            lambda fit: copy(model).store(fit, rows),
            reduction,
            rows.position,
        )

    def store(self, fit: LinearFit, rows: LinearRows, likelihood: Likelihood | None = None) -> Self:
        """Internal: this model with what a fit found, and the likelihood if it was estimated."""
        remember_means(self, rows)
        given = likelihood_of(self.response, self.link)
        self.likelihood_ = given if likelihood is None else likelihood
        self.coding_ = rows.coding
        self.coef_, self.intercept_ = fit.coef, float(fit.intercept)
        self.solution_, self.inference_ = fit.solution, fit.inference
        self.separated_, self.library_ = fit.separated, rows.library
        self.dispersion_, self.ml_dispersion_ = fit.dispersion
        if "sigma_" in vars(self):  # of an earlier fit
            del self.sigma_, self.ml_sigma_
        if isinstance(self.likelihood_.response, Poisson):
            theta = np.append(self.coef_, self.intercept_)
            blocks = redesigned(rows.blocks, Intercept, len(theta))
            with rows.executor.session():
                self.count_alpha_ = alpha_around_means(
                    self.likelihood_, theta, blocks, rows.executor
                )
        return self

    def of_amounts(self, name: str, logarithms: LinearRows) -> Self:
        """Internal: the log-normal model of y, of the Gaussian one of ln y that was stored."""
        self.sigma_ = estimated_sigma(self.dispersion_, name)
        self.ml_sigma_ = max(sqrt(self.ml_dispersion_), LEAST_SIGMA)
        self.likelihood_ = LogNormal(self.sigma_).likelihood()
        self.intercept_ += self.sigma_**2 / 2
        self.dispersion_ = self.ml_dispersion_ = 1.0
        if self.inference_ is not None:
            with logarithms.executor.session():
                self.inference_ = inference_of_amounts(
                    self.inference_, self.sigma_, logarithms.blocks, logarithms.executor
                )
        return self

    @property
    def deviance_unit(self) -> float:
        """Internal: σ² where it was estimated: deviances of a response are then in units of it."""
        return float(vars(self).get("sigma_", 1.0)) ** 2

    def open_path(self, rows: PathRows) -> LinearRows:
        """Internal: the rows, checked as ``fit`` checks them and cut into blocks."""
        return self._open(rows.X, rows.y, rows.extras)

    def path_slopes(self, block: Block) -> PathSlopes:
        """Internal: the derivatives of the loss of each row."""
        found = likelihood_slopes(self.likelihood_, block, self.path_predictor(block))
        return PathSlopes(*(self.deviance_unit * each for each in found))

    def path_deviance(self, block: Block) -> Array:
        """Internal: the response's deviance of each row."""
        mean = mean_within(self.likelihood_, np.reshape(self.path_predictor(block), -1))
        return self._deviances(block.target, mean)

    def _deviances(self, y: Array, mean: Array) -> Array:
        """The deviance of each row."""
        return np.asarray(self.deviance_unit * self.likelihood_.response.deviance(y, mean))

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
        treated as known (a Gaussian with the identity link, and the logarithm of a log-normal, has
        Student's t).
        """
        check_is_fitted(self)
        likelihood = self.likelihood_
        if check_interval_of(of, numbers=not likelihood.response.has_trials) == "mean":
            interval = self._mean_interval(X, likelihood.link, level, offset, exposure)
            return np.clip(interval, *likelihood.response.means)
        eta, spread = self._predictor_and_error(X, offset, exposure)
        self._inference().quantile(level)  # a level that is none is refused
        df = self._inference().df_residual
        if "sigma_" in vars(self):
            return interval_of_amounts(eta, spread, self.sigma_, df, level)
        response = self.response_of_new()
        counts = response.with_link(likelihood.link)
        if counts == likelihood:
            if self.standard_errors == "quasi" and response.dispersion_is_known:
                refuse_quasi(response.name, self.dispersion_)
            warn_of_narrow(self._inference())
        if isinstance(likelihood.link, Identity) and has_constant_variance(likelihood):
            return student_interval(eta, spread, self.dispersion_, df, level)
        return response_interval(counts, self._density_dispersion(), eta, spread, level)

    def predict_distribution(
        self, X: Any, *, offset: Any = None, exposure: Any = None
    ) -> PredictiveDistribution:
        """The distribution of y given each row: the response around its mean."""
        mean = self.predict(X, offset=offset, exposure=exposure)
        return PredictiveDistribution(self.response_of_new(), mean, self._density_dispersion())

    def predictive_family(self) -> PredictiveFamily | None:
        """The response, with the dispersion of the fit."""
        check_is_fitted(self)
        return PredictiveFamily.of(self.response_of_new(), self._density_dispersion())

    def deviance(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> float:
        """Twice the log-likelihood of the saturated model minus that of the model."""
        y, mean, weight = self._with_means(X, y, sample_weight, offset, exposure)
        return float(np.dot(weight, self._deviances(y, mean)))

    def log_likelihoods(self, X: Any, y: Any, *, offset: Any = None, exposure: Any = None) -> Array:
        """log p(y_i | x_i) of each row, with all its terms, at ``ml_dispersion_``."""
        y, mean, _ = self._with_means(X, y, None, offset, exposure)
        response, mean, psi = self._at_largest(mean)
        return response.log_prob(y, mean, psi)

    def log_likelihood(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> float:
        """Σ w_i log p(y_i | x_i), with all its terms, at ``ml_dispersion_``."""
        y, mean, weight = self._with_means(X, y, sample_weight, offset, exposure)
        response, mean, psi = self._at_largest(mean)
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
        null = float(np.dot(weight, self._deviances(y, constant)))
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
        shape = () if response.shape_is_known else (PlateParameter(SYMBOLS[response.shape]),)
        return (PlateParameter("β"), *dispersion, *shape)

    def response_of_new(self) -> Response:
        """Internal: the family of a new y; of overdispersed counts a negative binomial."""
        response = self.likelihood_.response
        alpha = vars(self).get("count_alpha_", 0.0)  # of a file of an earlier version, none
        return NegativeBinomial(alpha) if alpha > 0 else response

    def _density_dispersion(self) -> float:
        """ψ of p(y | x): 1 where it is known, because quasi-likelihoods have no density."""
        return 1.0 if self.likelihood_.response.dispersion_is_known else float(self.dispersion_)

    def _at_largest(self, mean: Array) -> tuple[Response, Array, float]:
        """The response, the means and the ψ at which the training rows are likeliest."""
        response = self.likelihood_.response
        if "sigma_" in vars(self):
            moved = np.exp((self.ml_sigma_**2 - self.sigma_**2) / 2)
            return LogNormal(self.ml_sigma_), mean * moved, 1.0
        return response, mean, 1.0 if response.dispersion_is_known else float(self.ml_dispersion_)

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


class WithAlpha(NamedTuple):
    """The likelihood at α̂, the estimate, and the search."""

    likelihood: Likelihood
    estimate: AlphaEstimate
    log_likelihood: float
    passes: float


def fit_with_alpha(
    estimator: GLM, rows: LinearRows, likelihood: Likelihood
) -> tuple[LinearFit, Likelihood, float]:
    """α̂, and the fit at it with its warnings and its errors."""
    given, settings = design_rows(rows), FitSettings.of(estimator)
    if settings.standard_errors is not None:
        check_covariance(settings.standard_errors, rows.n_groups)
    predictor = predictor_of(estimator, rows.coding, likelihood)(given)
    with columns_named(estimator), rows.executor.session():
        found = with_estimated_alpha(settings, predictor)
    fit = fitted(estimator, given, predictor_of(estimator, rows.coding, found.likelihood))
    passes = (fit.solution.passes or 0.0) + found.passes
    fit = fit._replace(solution=replace(fit.solution, passes=passes))
    if fit.inference is not None:
        with rows.executor.session():
            null = null_log_likelihood(settings, predictor)
        inference = replace(fit.inference, alpha=found.estimate, null_log_likelihood=null)
        fit = fit._replace(inference=inference)
    return fit, found.likelihood, found.estimate.alpha


def with_estimated_alpha(settings: FitSettings, predictor: OnePredictor) -> WithAlpha:
    """α̂ for the rows, weights, offsets and penalties of a predictor."""
    rows = replace(predictor.rows, blocks=predictor.valid_blocks())
    profile = _Profile.of(settings, replace(predictor, rows=rows))
    if not profile.problem.n_parameters:
        return profile.maximum()
    found = profile.search(profile.poisson.likelihood, None)
    other = with_orthogonal_columns(profile.problem, found)
    if other is None:
        return profile.maximum(found.theta)
    return profile._replace(problem=other.problem).maximum()


def null_log_likelihood(settings: FitSettings, predictor: OnePredictor) -> float:
    """The log-likelihood of the intercept alone, with its own α, or of the offset alone."""
    if not predictor.intercept and predictor.likelihood.etas != EVERYWHERE:
        return nan  # 0 may be no valid predictor
    given = predictor.rows
    if next(iter(given.blocks)).offset is None:
        blocks: Blocks = given.executor.sum(block_count_table, given.blocks).blocks
    else:
        blocks = redesigned(given.blocks, no_columns, n_features=0)
    rows = DesignRows(blocks, given.executor, tuple)
    alone = replace(predictor, rows=rows, penalty=_no_penalty, centre=True)
    return _Profile.of(settings, alone).maximum().log_likelihood


def _no_penalty(framing: Framing) -> Penalty:
    return NoPenalty()


class _Profile(NamedTuple):
    """ℓ_p and its slope, a fit for each α."""

    settings: FitSettings
    poisson: OnePredictor
    problem: Problem  # of the Poisson, in units of its null deviance

    @classmethod
    def of(cls, settings: FitSettings, predictor: OnePredictor) -> "_Profile":
        likelihood = Poisson().with_link(predictor.likelihood.link)
        poisson = replace(predictor, likelihood=likelihood)
        return cls(settings, poisson, poisson.begin(poisson.problem()).problem)

    def maximum(self, theta: Array | None = None) -> WithAlpha:
        """α̂ and the log-likelihood there, from the coefficients of the Poisson if known."""
        theta = self.coefficients(self.poisson.likelihood, None) if theta is None else theta
        at_zero = poisson_totals(self.poisson.likelihood, theta, self.blocks, self.problem.executor)
        alpha = first_alpha(
            self.poisson.likelihood, theta, at_zero, self.blocks, self.problem.executor
        )
        fitted, best, error = self.poisson.likelihood, at_zero.log_likelihood, nan
        if alpha is not None:
            alpha, totals = self.maximise(alpha, theta)
            best = totals.gain + totals.poisson
            error = 1 / sqrt(-totals.curvature) if totals.curvature < 0 else nan
            fitted = NegativeBinomial(alpha).with_link(self.poisson.likelihood.link)
        penalised = self.problem.penalty.value(np.ones(self.problem.n_parameters)) > 0
        ratio = nan if penalised else max(2 * (best - at_zero.log_likelihood), 0.0)
        found = AlphaEstimate(alpha or 0.0, error, ratio)
        return WithAlpha(fitted, found, best, float(sum(self.problem.data.passes)))

    @property
    def blocks(self) -> Blocks:
        return self.problem.data.blocks

    def coefficients(self, likelihood: Likelihood, last: Array | None) -> Array:
        """β̂ at one α."""
        return self.search(likelihood, last).theta if self.problem.n_parameters else np.zeros(0)

    def search(self, likelihood: Likelihood, last: Array | None) -> Found:
        """The end of a search for β at one α."""
        of = self.problem
        problem = linear_problem(likelihood, of.penalty, of.data, of.executor)
        found = solve(
            replace(problem, unit=of.unit, nat=of.nat, n_rows=of.n_rows),
            replace(self.poisson, likelihood=likelihood).start(of.data),
            last=last,
            solver=self.settings.solver,
            tol=min(self.settings.tol, INNER_TOL),
            max_iter=self.settings.max_iter,
        )
        refuse_if_not_finite(found, self.poisson.rows)
        return found

    def maximise(self, alpha: float, theta: Array) -> tuple[float, AlphaTotals]:
        """α̂, by a search in which each step is a fit that starts from the previous one."""

        def totals_at(alpha: float) -> AlphaTotals:
            nonlocal theta
            likelihood = NegativeBinomial(alpha).with_link(self.poisson.likelihood.link)
            theta = self.coefficients(likelihood, theta)
            return alpha_totals(likelihood, theta, alpha, self.blocks, self.problem.executor)

        found = maximise_alpha(totals_at, alpha)
        if not found.converged:
            warn_user(
                f"{self.settings.name}: alpha was not found; the last was "
                f"{found.alpha:.3g}. Give one, such as NegativeBinomial(1.0), or a penalty "
                "(l2=1.0).",
                ConvergenceWarning,
            )
        return found.alpha, found.totals
