"""Logistic regression and other binary regressions: two classes, p(y = 1 | x) = g⁻¹(b + xᵀβ).

    minimise  −Σ_i w_i log p(y_i | x_i) + l1·‖β‖₁ + ½·l2·‖β‖²

The boundary p = ½ is a hyperplane for every link.  A row on it is assigned to class 1.

With ``firth=True`` estimates are always finite, and have less bias:

    f(θ) = nll(θ) − ½ ln |I(θ)|        I = Σ w c x xᵀ,   c = p(1 − p)
    ∇f = Σ_i w_i [(p_i − y_i) − h_i (½ − p_i)] x_i,   h_i = c_i x_iᵀ I⁻¹ x_i

The penalty is Jeffreys' prior.  One evaluation costs two passes: I, then the leverages h.  A
coefficient is tested by the penalised likelihood with it fixed at 0.  |I| uses all columns in both
fits: without the tested column it would depend on that column's unit.

    T_j = 2 (min {f(θ): θ_j = 0} − min f)  ~  χ²₁

References
----------
McCullagh & Nelder, Generalized Linear Models, 2nd ed., §4.3 (links), §4.4 (fitting).
Firth, Bias reduction of maximum likelihood estimates, Biometrika 80, 1993.
Heinze & Schemper, A solution to the problem of separation in logistic regression, Statistics in
Medicine 21, 2002.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self, final

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks
from likely.distributions.base import NamedForm
from likely.errors import InvalidInput
from likely.explanations.explanation import Explanation
from likely.fitting.driver import (
    Begun,
    DesignRows,
    End,
    FitSettings,
    LinearFit,
    Specification,
    has_errors,
)
from likely.fitting.framing import Framing
from likely.fitting.inference import Inference
from likely.fitting.predictor import OnePredictor
from likely.fitting.problem import Problem
from likely.fitting.smoothing import (
    choose_strength,
    forget_choice,
)
from likely.graphical.model.conditional_graph import ConditionalGraph
from likely.inputs.estimators import Estimator, feature_names
from likely.inputs.rows import RowExtras, refuse_without_offset
from likely.inputs.tables import own_columns
from likely.inputs.targets import (
    check_offset,
    check_weight,
    codes_among,
    label_array,
    refuse_one_class,
    refuse_other_length,
    required,
)
from likely.likelihoods.base import Likelihood
from likely.likelihoods.bernoulli import Bernoulli, log_probabilities
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
from likely.linear.response_predictions import check_interval_of, refuse_zero_or_one, warn_outside
from likely.linear.row_graph import (
    TARGET,
    refuse_features_of_classes,
    row_graph,
    weights_of,
)
from likely.linear.surface import WITH_INTERCEPT, FittedLinear, class_explanation
from likely.links import Link
from likely.numerics.cholesky import factorise, inverse_root, unit_diagonal
from likely.objectives.linear import (
    Packing,
    Total,
    block_eta,
    block_second_order,
    weighted,
    weighted_sum,
)
from likely.objectives.model import ModelObjective, Reduction
from likely.penalties.base import NoPenalty, Penalty, Strengths
from likely.solvers.base import SecondOrder, SmoothObjective
from likely.solvers.choice import LastDigits, check_search
from likely.solvers.minimise import minimise, search
from likely.solvers.newton import Newton
from likely.solvers.search_problem import Found
from likely.solvers.stochastic import StochasticDescent
from likely.solvers.stopping import StoppingRule
from likely.storage.declarations import FITTED_CLASSES, SameCount, Saved

MOST_RATIOS = 50  # coefficients that are each tested: a search for every one
RATIO_TOL = 1e-10  # of those searches


class LogisticRegression(FittedLinear, PathModel, ClassifierMixin, Estimator):
    """Two classes and a linear predictor, with any link of the unit interval.

    Parameters
    ----------
    link : str or Link, default="logit"
        Link between the probability and the linear predictor: ``logit``, ``probit``,
        ``loglog``, ``cloglog`` or ``cauchit``; ``log``, whose coefficients are logs of risk
        ratios, or ``identity``, whose coefficients are risk differences.
    l1 : float, array of shape (n_features,) or mapping, default=0.0
        Strength of the L1 penalty l1·Σ|β| on the *summed* log-likelihood.  One number for all
        columns, one per column, or a mapping by name.
    l2 : float, array of shape (n_features,), mapping or "auto", default=1.0
        Strength of the L2 penalty ½·l2·Σβ² on the *summed* log-likelihood.  scikit-learn's
        LogisticRegression(C) is l2 = 1/C.  ``"auto"`` is the strength of the largest marginal
        likelihood (``l2_``); columns should have one scale.
    penalty : Penalty or None, default=None
        A penalty of ``likely.penalties`` in place of l1 and l2: ``Group([["length", "width"]])``
        keeps or drops columns together, ``L2.of_prior(variance)`` is a Gaussian prior, and
        penalties add.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    penalise_intercept : bool, default=False
        Whether the penalties apply to the intercept too.
    firth : bool, default=False
        Use Firth's penalty ½ log |information| instead of l1 and l2: estimates are finite and have
        less bias, also when classes are separated.
    reference : mapping or None, default=None
        The reference category of columns of text by name, ``{"colour": "red"}``: it has no
        coefficient, and the others are compared with it.  None is the first category: in the
        order of a pandas categorical, of an ``Enum`` of polars or of an ordered dictionary of
        Arrow, else sorted.  With a penalty every category has a coefficient, and there is none.
    start : mapping, linear form or None, default=None
        Where the solver starts: ``coef`` (1, n_coefficients) and ``intercept`` (1,), or those of
        both classes, or ``logistic_form()`` of a fitted ``NaiveBayes``.  None is the constant
        model.  The optimum is the same; the dual solver has no use for it.
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

    Attributes
    ----------
    classes_ : array of shape (2,)
    coef_ : array of shape (1, n_coefficients)
        Coefficients for class 1 against class 0; ``terms_`` names them.
    intercept_ : array of shape (1,)
    solution_ : Solution
        How the search ended: solver, trace, gap, passes over the data, and why it stopped.

    Examples
    --------
    >>> import numpy as np
    >>> from likely import LogisticRegression
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = LogisticRegression(l2=1.0).fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict_proba([[1.5]]).round(3)
    array([[0.5, 0.5]])
    """

    saved: ClassVar = (
        WITH_INTERCEPT
        | FITTED_CLASSES
        | Saved(
            {"likelihood_": Likelihood},
            rules=(SameCount(2, "classes_"), SameCount(1, "coef_"), SameCount(2, "coef_.shape")),
        )
    )

    path_takes = ("offset",)

    def __init__(
        self,
        link: str | Link = "logit",
        *,
        l1: Any = 0.0,
        l2: Any = 1.0,
        penalty: Penalty | None = None,
        fit_intercept: bool = True,
        penalise_intercept: bool = False,
        firth: bool = False,
        reference: Mapping[Any, Any] | None = None,
        start: Mapping[str, Any] | NamedForm | None = None,
        standard_errors: str | None = "model",
        solver: str | StochasticDescent = "auto",
        tol: float = 1e-8,
        max_iter: int = 1000,
        stop: StoppingRule | None = None,
        warm_start: bool = False,
        executor: str | Executor = "auto",
    ) -> None:
        self.link = link
        self.l1 = l1
        self.l2 = l2
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.penalise_intercept = penalise_intercept
        self.firth = firth
        self.reference = reference
        self.start = start
        self.standard_errors = standard_errors
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.stop = stop
        self.warm_start = warm_start
        self.executor = executor

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        offset: Any = None,
        groups: Any = None,
    ) -> Self:
        """Fit to rows X with labels y.

        X is an array, a CSR array, a data frame, or a file (its path, or ``likely.read``); with a
        frame or a file, the other arguments may be names of its columns.
        """
        forget_choice(self)
        return self.fit_opened(self._open(X, y, RowExtras(sample_weight, offset, None, groups)))

    def fit_opened(self, rows: LinearRows) -> Self:
        """Internal: fit to rows that are checked and cut into blocks: see ``open_linear``."""
        if not self.firth:
            choose_strength(self, self.specify(rows), design_rows(rows), self._likelihood())
        return self.store(fitted(self, design_rows(rows), self.specify(rows)), rows)

    def _likelihood(self) -> Likelihood:
        return Bernoulli().likelihood(self.link)

    def specify(self, rows: LinearRows) -> Specify:
        """Internal: what is fitted to rows that are cut into blocks."""
        likelihood = self._likelihood()
        specify = predictor_of(self, rows.coding, likelihood, classes=True)
        if not self.firth:
            return specify
        if likelihood.link.name != "logit":
            raise InvalidInput(
                f"firth=True needs the logit link; the link is {likelihood.link.name!r}. "
                "Use link='logit', or a penalty l2 > 0."
            )
        free = partial(specify, penalty=_no_penalty, centre=True)
        return lambda given: Firth(given, free(given), self.tol, self.max_iter)

    def objective(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        offset: Any = None,
        *,
        reduction: Reduction = "sum",
    ) -> ModelObjective:
        """What ``fit`` minimises on these rows, as a function of θ = (coef, intercept).

        Soft targets: ``GLM("bernoulli", l2=1.0)``, whose y may be any numbers from 0 to 1.
        """
        if self.firth:
            raise InvalidInput(
                "firth=True was given, whose penalty is no sum over rows; an objective is one. "
                "Use firth=False with l2 > 0."
            )
        model = self.for_prediction()
        rows = model._open(X, y, RowExtras(sample_weight, offset))
        return model_objective(
            model,
            design_rows(rows),
            model.specify(rows),
            lambda fit: copy(model).store(fit, rows),
            reduction,
            rows.position,
        )

    def store(self, fit: LinearFit, rows: LinearRows) -> Self:
        """Internal: this model with what a fit found."""
        remember_means(self, rows)
        self.likelihood_, self.coding_ = self._likelihood(), rows.coding
        self.classes_ = rows.classes
        self.coef_, self.intercept_ = fit.coef, fit.intercept
        self.solution_, self.inference_ = fit.solution, fit.inference
        self.separated_, self.library_ = fit.separated, rows.library
        return self

    def open_path(self, rows: PathRows) -> LinearRows:
        """Internal: the rows, checked as ``fit`` checks them and cut into blocks."""
        return self._open(rows.X, rows.y, rows.extras)

    def path_slopes(self, block: Block) -> PathSlopes:
        """Internal: the derivatives of the loss of each row."""
        return likelihood_slopes(self.likelihood_, block, self.path_predictor(block))

    def path_deviance(self, block: Block) -> Array:
        """Internal: −2 log p(y | x)."""
        eta = np.reshape(self.path_predictor(block), -1)
        of_zero, of_one = log_probabilities(self.likelihood_, eta)
        return np.asarray(-2 * np.where(block.target, of_one, of_zero))

    def offset_link(self) -> str:
        """The name of the link on whose scale an offset is added."""
        return self.likelihood_.link.name

    def decision_function(self, X: Any, *, offset: Any = None) -> Array:
        """η − g(½) of each row: 0 on the boundary, positive towards class 1."""
        check_is_fitted(self)
        half = float(self.likelihood_.link.link(np.array(0.5)))
        return self.linear_predictor(X, offset=offset) - half

    def predict_log_proba(self, X: Any, *, offset: Any = None) -> Array:
        """log p(k | x), (n, 2)."""
        eta = self.linear_predictor(X, offset=offset)
        warn_outside(self.likelihood_, eta, "its mean is taken as 0 or 1")
        return np.column_stack(log_probabilities(self.likelihood_, eta))

    def predict_proba(self, X: Any, *, offset: Any = None) -> Array:
        """p(k | x), (n, 2)."""
        return np.exp(self.predict_log_proba(X, offset=offset))

    def predict(self, X: Any, *, threshold: float = 0.5, offset: Any = None) -> Array:
        """Class 1 where its probability is at least ``threshold``."""
        if not 0 < threshold < 1:
            raise InvalidInput(
                f"threshold is {threshold!r}; a probability between 0 and 1 was expected. Use 0.5."
            )
        if threshold == 0.5:
            chosen = self.decision_function(X, offset=offset) >= 0
        else:
            chosen = self.predict_log_proba(X, offset=offset)[:, 1] >= np.log(threshold)
        return self.classes_[chosen.astype(np.intp)]

    def predict_interval(
        self, X: Any, level: float = 0.95, *, offset: Any = None, of: str = "auto"
    ) -> Array:
        """An interval for p(class 1 | x) of each row, (n, 2).

        The probability is the mean of a class that is 0 or 1: ``of="mean"``, as ``of="auto"``.
        """
        check_is_fitted(self)
        if check_interval_of(of, numbers=False) == "y":
            refuse_zero_or_one(self.likelihood_.response.name)
        interval = self._mean_interval(X, self.likelihood_.link, level, offset)
        return np.clip(interval, *self.likelihood_.response.means)

    def factor_graph(self, X: Any, *, offset: Any = None, target: str = TARGET) -> ConditionalGraph:
        """P(class | x) as a product of factors, one for each coefficient and row.

        The variable of one row is ``target``; of several, ``target[0]``, ``target[1]``, ….
        """
        check_is_fitted(self)
        if self.likelihood_.link.name != "logit":
            raise InvalidInput(
                f"The link is {self.likelihood_.link.name!r}, whose probabilities are no product "
                "of factors; a factor graph needs the logit link. Use link='logit'."
            )
        X, offset = own_columns(X, offset)
        design, _ = self._read(X, offset, None)
        n = design.n_rows
        constants = [("intercept", np.tile(self.intercept_, (n, 1)))] if self.fit_intercept else []
        if offset is not None:
            shift = np.broadcast_to(check_offset(offset, None, n_rows=n), n)
            constants.append(("offset", shift[:, None]))
        return row_graph(design, self.terms_, self.coef_, constants, self.classes_, target)

    @classmethod
    def from_factor_graph(cls, graph: ConditionalGraph) -> Self:
        """The model whose ``factor_graph`` this is, at the values that were given.

        Any graph of log-linear factors of two classes will do, that of ``MaxEntropy`` or
        ``SoftmaxRegression`` as well.  The columns of the model are numbers with the names of the
        given values.
        """
        weights = weights_of(graph)
        refuse_features_of_classes(weights, cls.__name__)
        _refuse_more_classes(weights.classes)
        made: Self = weights.model(cls(fit_intercept=weights.intercept is not None))
        return made

    def log_likelihoods(self, X: Any, y: Any, *, offset: Any = None) -> Array:
        """log p(y_i | x_i) of each row."""
        refuse_without_offset(self, offset=offset)
        X, y, offset = own_columns(X, y, offset)
        log_proba = self.predict_log_proba(X, offset=offset)
        codes = codes_among(y, self.classes_, n_rows=len(log_proba))
        return log_proba[np.arange(len(codes)), codes]

    def log_likelihood(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None
    ) -> float:
        """Σ_i w_i log p(y_i | x_i)."""
        X, y, sample_weight, offset = own_columns(X, y, sample_weight, offset)
        each = self.log_likelihoods(X, y, offset=offset)
        return weighted_sum(check_weight(sample_weight, n_rows=len(each)), each)

    def _open(self, X: Any, y: Any, extras: RowExtras) -> LinearRows:
        given = strengths_of(self)
        if self.firth and self.penalty is not None:
            raise InvalidInput(
                f"firth=True and penalty={self.penalty!r} were given; Firth's penalty stands "
                "alone. Leave one of them out."
            )
        if self.firth and self.stop is not None:
            raise InvalidInput(
                f"firth=True and stop={self.stop!r} were given; its search goes to the optimum. "
                "Leave one of them out."
            )
        none = Strengths() if self.firth else given
        rows = open_linear(self, X, y, extras, target="class", given=none, reference=self.reference)
        refuse_one_class(rows.classes, self)
        _refuse_more_classes(rows.classes)
        return rows

    def _explained(self, parts: tuple[Array, Array], against: Any) -> Explanation:
        found = class_explanation(
            parts, self.intercept_, self.classes_, feature_names(self), against
        )
        link = self.offset_link()
        if link == "logit":
            return found
        return replace(found, quantity=f"linear predictor ({link} link)")

    def _predictors(self) -> list[str]:
        return [str(self.classes_.tolist()[1])]

    def _against(self) -> str:
        low, high = self.classes_.tolist()
        return f" for {high} against {low}"

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> float:
        """The accuracy of ``predict``."""
        refuse_without_offset(self, offset=offset)
        X, y, sample_weight, offset = own_columns(X, y, sample_weight, offset)
        predicted, labels = self.predict(X, offset=offset), label_array(required(y, self))
        refuse_other_length(labels, len(predicted))
        right = predicted == labels
        return float(np.average(right, weights=check_weight(sample_weight, n_rows=len(right))))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags


def _refuse_more_classes(classes: Array) -> None:
    if len(classes) > 2:
        raise InvalidInput(
            "Only binary classification is supported by LogisticRegression. The type of the target "
            f"is multiclass: y has {len(classes)} classes. Use SoftmaxRegression, or "
            "OrdinalRegression where they are ordered."
        )


@final
@dataclass(frozen=True, eq=False)
class FirthObjective(SmoothObjective):
    """The objective for the logit link."""

    likelihood: Likelihood
    blocks: Blocks
    executor: Executor
    unit: float | None = None

    def second_order(self, theta: Array) -> SecondOrder:
        """With the information as the Hessian, as in Fisher scoring."""
        here = self.executor.sum(partial(block_second_order, self.likelihood, theta), self.blocks)
        factor = factorise(here.hessian)
        inverse = np.nan_to_num(factor.inverse(), nan=0.0)
        term = partial(block_leverage_score, self.likelihood, theta, inverse)
        pull = np.asarray(self.executor.sum(term, self.blocks).value)
        return SecondOrder(
            here.value - factor.log_determinant() / 2, here.gradient - pull, here.hessian
        )


@final
@dataclass(frozen=True, eq=False)
class Within(SmoothObjective):
    """An objective on the span of some directions: θ = Sφ."""

    objective: SmoothObjective
    span: Array  # S
    unit: float | None = None

    def second_order(self, theta: Array) -> SecondOrder:
        here, S = self.objective.second_order(self.span @ theta), self.span
        return SecondOrder(here.value, S.T @ here.gradient, S.T @ here.hessian @ S)


def block_leverage_score(
    likelihood: Likelihood, theta: Array, inverse: Array, block: Block
) -> Total:
    """Σ w h (½ − p) x."""
    eta = block_eta(theta, block)
    curvature = likelihood.derivatives(block.target, eta)[2]
    leverage = curvature * block.X.row_quadratic(inverse)
    pull = leverage * (0.5 - likelihood.mean(eta))
    return Total(block.X.rmatmat(weighted(block.weight, pull)))


@final
@dataclass(frozen=True, eq=False)
class Firth(Specification):
    """A predictor with Firth's penalty in place of all others."""

    rows: DesignRows
    predictor: OnePredictor
    tol: float
    max_iter: int

    @property
    def packing(self) -> Packing:
        return self.predictor.packing

    def problem(self, *, centre: bool = True) -> Problem:
        return self.predictor.problem(centre=centre)

    def begin(self, problem: Problem) -> Begun:
        return self.predictor.begin(problem)

    def search(self, problem: Problem, start: Array, settings: FitSettings) -> Found:
        """By Newton's method on the penalised likelihood, to its last digits."""
        check_search(self.tol, self.max_iter)
        wanted = LastDigits.of(problem, self.tol)
        tol = wanted.aim if has_errors(problem, settings) else self.tol
        objective = self.objective(problem)
        solution, state = search(Newton(), objective, start, tol=tol, max_iter=self.max_iter)
        least = 0.0 if state.held else state.least_pivot
        solution = wanted.settled(solution)
        return Found(state.theta, solution, state.hessian, state.held, least_pivot=least)

    def objective(self, problem: Problem) -> FirthObjective:
        """The penalised likelihood on the rows of a problem."""
        unit = (problem.unit or 0.0) + problem.n_parameters  # nats: ½ ln |I| has a size of its own
        likelihood = self.predictor.likelihood
        return FirthObjective(likelihood, problem.data.blocks, problem.executor, unit)

    def divergence(self, problem: Problem, found: Found, start: Array) -> None:
        """None: every estimate is finite."""

    def last_digits(
        self, problem: Problem, found: Found, start: Array, settings: FitSettings
    ) -> Found:
        return found

    def inference(self, problem: Problem, end: End, kind: str) -> Inference:
        inference = self.predictor.inference(problem, end, kind)
        jacobian, objective = problem.data.framing.jacobian(), self.objective(problem)
        ratios = firth_ratios(objective, end.found, jacobian, self.tol, self.max_iter)
        return replace(inference, firth_ratios=ratios)


def firth_ratios(
    objective: FirthObjective, found: Found, jacobian: Array, tol: float, max_iter: int
) -> Array:
    """T_j of each parameter of the data, by one search each; nan if they are too many, or it fails.

    Row j of the Jacobian has β_j as a function of θ.  The search on the θ with β_j = 0 starts where
    the quadratic model of the likelihood at its maximum is largest.
    """
    theta, p = found.theta, found.theta.size
    ratios = np.full(p, np.nan)
    if p > MOST_RATIOS or not found.solution.converged or found.hessian is None:
        return ratios
    kept, value = np.setdiff1d(np.arange(p), found.held), objective.second_order(theta).value
    inside = np.ix_(kept, kept)
    units, root = unit_diagonal(found.hessian[inside])[0], inverse_root(found.hessian[inside]).root
    for j in kept:
        slope = jacobian[j, kept]
        others = np.linalg.qr((slope / units)[:, None], mode="complete")[0][:, 1:]
        span = np.zeros((p, others.shape[1]))
        span[kept] = others / units[:, None]
        along = root @ (root.T @ slope)
        nearest = theta[kept] - along * (slope @ theta[kept]) / (slope @ along)
        within, start = Within(objective, span, objective.unit), others.T @ (units * nearest)
        there = minimise(Newton(), within, start, tol=min(tol, RATIO_TOL), max_iter=max_iter)
        if there.converged:
            ratios[j] = max(2 * (there.trace[-1] - value), 0.0)
    return ratios


def _no_penalty(framing: Framing) -> Penalty:
    return NoPenalty()
