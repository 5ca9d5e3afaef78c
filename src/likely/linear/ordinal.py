"""Ordinal regression with cumulative links: K ordered classes, one predictor, K − 1 thresholds.

    g(P(Y > j)) = b_j + wᵀx,   j = 0 … K − 2,   b_0 > b_1 > … > b_{K−2}

With the logit these are proportional odds: two inputs differ in their log-odds of Y > j by
wᵀ(x − x′), for every j.  Probit, cloglog, loglog and cauchit are the same model with other
noise distributions.

References
----------
McCullagh (1980), Regression models for ordinal data, JRSS B 42, 109–142.
Agresti, Analysis of Ordinal Categorical Data, 2nd ed., §3.2 and §5.1.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self, cast, final

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags

from likely._typing import Array
from likely.caching import cached_property
from likely.compute.executor import Executor, Serial
from likely.data.block import Block, Blocks, MappedBlocks, redesigned
from likely.data.categories import ordered_categories
from likely.errors import InvalidInput
from likely.explanations.explanation import Explanation
from likely.fitting.class_inference import ClassEstimate, check_kind, infer_classes
from likely.fitting.divergence import Divergence
from likely.fitting.driver import Begun, DesignRows, End, FitSettings, LinearFit, Specification
from likely.fitting.framing import (
    Framed,
    Framing,
    centre_of,
    framed,
    refuse_too_large,
    refuse_too_small,
)
from likely.fitting.inference import Inference
from likely.fitting.problem import Problem
from likely.fitting.smoothing import (
    choose_strength,
    forget_choice,
)
from likely.graphical.model.model_plates import CUTS, PlateParameter
from likely.inputs.coding import refuse_gaps
from likely.inputs.estimators import Estimator, feature_names
from likely.inputs.rows import RowExtras
from likely.inputs.soft_labels import ClassProbabilities
from likely.inputs.tables import own_columns
from likely.inputs.targets import ordered_classes, refuse_one_class
from likely.likelihoods.ordinal import Ordinal
from likely.linear.fit import (
    LinearRows,
    Specify,
    design_rows,
    fitted,
    model_objective,
    open_linear,
    remember_means,
    spread,
    strengths_of,
)
from likely.linear.formula import FormulaTerms
from likely.linear.path_penalties import PathModel, PathRows, PathSlopes
from likely.linear.surface import LINEAR, FittedLinear, predictor_explanation
from likely.links import LINKS, UnitLink
from likely.names import lookup
from likely.objectives.inference import NullTotals
from likely.objectives.linear import Packing
from likely.objectives.model import ModelObjective, Reduction
from likely.objectives.ordinal import OrdinalObjective
from likely.objectives.softmax import block_class_weight
from likely.penalties.base import Penalty
from likely.solvers.base import SecondOrder
from likely.solvers.search_problem import Found
from likely.solvers.stopping import StoppingRule
from likely.storage.declarations import FITTED_CLASSES, Decreasing, Numbers, SameCount, Saved

MOST_CLASSES = 1000  # each has a threshold; more are numbers, not classes
UNIT_LINKS = {name: link for name, link in LINKS.items() if isinstance(link, UnitLink)}


@final
class OrdinalRegression(FittedLinear, ClassProbabilities, PathModel, ClassifierMixin, Estimator):
    """Cumulative-link models for ordered classes: proportional odds, and other links.

    It minimises −Σ wᵢ log P(Y = yᵢ | xᵢ) + l1·‖w‖₁ + ½·l2·‖w‖²; thresholds are never penalised.

    Parameters
    ----------
    link : {"logit", "probit", "cloglog", "loglog", "cauchit"}, default="logit"
        Link between P(Y > j) and b_j + wᵀx: a name, or a link of ``likely.links`` onto (0, 1).
    l2 : float, array of one per column, or mapping from column to float, default=1.0
        Strength of the L2 penalty ½·l2·Σw² on the *summed* log-likelihood; 0 is maximum likelihood.
    order : sequence or None, default=None
        The classes from lowest to highest.  None is the order of y where it is an ordered
        categorical, else of the sorted labels.
    l1 : float, array of one per column, or mapping from column to float, default=0.0
        Strength of the L1 penalty l1·Σ|w| on the *summed* log-likelihood.
    penalty : Penalty or None, default=None
        A penalty of ``likely.penalties`` in place of l1 and l2: ``Group([["length", "width"]])``
        keeps or drops columns together, ``L2.of_prior(variance)`` is a Gaussian prior, and
        penalties add.
    reference : mapping or None, default=None
        The reference category of columns of text by name, ``{"colour": "red"}``: it has no
        coefficient, and the others are compared with it.  None is the first category: in the
        order of a pandas categorical, of an ``Enum`` of polars or of an ordered dictionary of
        Arrow, else sorted.  With a penalty every category has a coefficient, and there is none.
    standard_errors : str or None, default="model"
        Kind of standard errors: ``model`` (the observed information), robust ``HC0``, ``HC1``,
        ``HC2``, ``HC3``, or ``clustered`` (needs ``groups``).  None computes none.
    solver : {"auto", "newton", "lbfgs", "gradient-descent", "proximal-newton", "fista"}
        ``auto`` is Newton; with l1 proximal Newton; above 2,000 parameters L-BFGS.
    tol : float, default=1e-8
        Stop when the gap to the optimum, as a share of the null deviance, is below it; standard
        errors are computed at a Newton decrement of 1e-10 nats or less.
    max_iter : int, default=1000
        Maximum number of steps of the solver; a fit that reaches it warns.
    stop : StoppingRule or None, default=None
        A rule of ``likely.solvers`` that may end the search before ``tol`` is reached:
        ``HeldOutPatience(5)`` holds out rows and keeps the step that is best on them,
        ``Seconds(60)`` limits the time.  ``solution_`` and the summary say that it did.
    warm_start : bool, default=False
        Start the solver from the coefficients of the last fit.
    executor : {"auto", "serial", "threads"} or Executor, default="auto"
        How sums over blocks of rows are computed: ``serial``, ``threads`` or ``auto``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        From lowest to highest; the columns of ``predict_proba``.
    coef_ : array of shape (n_coefficients,)
        w.  A column of categories has one entry for each, or without a penalty for all but the
        first; ``terms_`` names them.
    thresholds_ : array of shape (n_classes − 1,)
        b, decreasing: the intercept of Y > j.
    inference_ : Inference or None
        Estimates and covariance of (w, b), log-likelihoods; None above 1,000 parameters.
    solution_ : Solution
        How the search ended: ``solver``, ``passes``, ``gap``, ``converged``.

    References
    ----------
    McCullagh (1980), Regression models for ordinal data, JRSS B 42, 109–142.

    Examples
    --------
    >>> import numpy as np
    >>> from likely.linear.ordinal import OrdinalRegression
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> y = ["low", "low", "mid", "low", "high", "mid"]
    >>> model = OrdinalRegression(order=["low", "mid", "high"]).fit(X, y)
    >>> print(model.classes_, model.predict([[-1.0], [9.0]]))
    ['low' 'mid' 'high'] ['low' 'high']
    >>> model.expected_rank([[0.0], [5.0]]).round(2)  # the lowest class has rank 1
    array([1.17, 2.26])
    """

    saved: ClassVar = (
        LINEAR
        | FITTED_CLASSES
        | Saved(
            {"likelihood_": Ordinal, "thresholds_": Numbers(Array, "a threshold")},
            rules=(
                Decreasing("thresholds_"),  # P(y > c) = g(η + b_c) falls with c
                SameCount("classes_ - 1", "thresholds_"),
                SameCount("classes_", "likelihood_.n_classes"),
            ),
        )
    )

    def __init__(
        self,
        link: str | UnitLink = "logit",
        *,
        l2: Any = 1.0,
        order: Sequence[Any] | None = None,
        l1: Any = 0.0,
        penalty: Penalty | None = None,
        reference: Mapping[Any, Any] | None = None,
        standard_errors: str | None = "model",
        solver: str = "auto",
        tol: float = 1e-8,
        max_iter: int = 1000,
        stop: StoppingRule | None = None,
        warm_start: bool = False,
        executor: Any = "auto",
    ) -> None:
        self.link = link
        self.l2 = l2
        self.order = order
        self.l1 = l1
        self.penalty = penalty
        self.reference = reference
        self.standard_errors = standard_errors
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.stop = stop
        self.warm_start = warm_start
        self.executor = executor

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn w and b.

        X may be a frame or a file; y, weights and groups may be names of its columns.
        """
        lookup("link of an ordinal response", self.link, UNIT_LINKS)  # refused before rows are read
        check_kind(self.standard_errors)
        forget_choice(self)
        return self.fit_opened(open_ordered(self, X, y, sample_weight, groups))

    def open_path(self, rows: PathRows) -> LinearRows:
        """Internal: the rows, checked as ``fit`` checks them and cut into blocks."""
        lookup("link of an ordinal response", self.link, UNIT_LINKS)
        return open_ordered(self, rows.X, rows.y, rows.weight)

    def fit_opened(self, rows: LinearRows) -> Self:
        """Internal: fit to rows that are checked and cut into blocks: see ``open_ordered``."""
        choose_strength(self, self.specify(rows), design_rows(rows), None)
        return self.store(fitted(self, design_rows(rows), self.specify(rows)), rows)

    def _likelihood(self, rows: LinearRows) -> Ordinal:
        link = lookup("link of an ordinal response", self.link, UNIT_LINKS)
        return Ordinal(len(rows.classes), link)

    def specify(self, rows: LinearRows) -> Specify:
        """Internal: what is fitted to rows that are cut into blocks."""
        return partial(
            OrderedClasses,
            labels=tuple(rows.classes.tolist()),
            likelihood=self._likelihood(rows),
            penalty=partial(_penalty, self, rows),
        )

    def objective(
        self, X: Any, y: Any, sample_weight: Any = None, *, reduction: Reduction = "sum"
    ) -> ModelObjective:
        """What ``fit`` minimises on these rows, as a function of θ = (coef, thresholds)."""
        lookup("link of an ordinal response", self.link, UNIT_LINKS)  # refused before rows are read
        model = self.for_prediction()
        rows = open_ordered(model, X, y, sample_weight)

        def store(fit: LinearFit) -> Self:
            thresholds = fit.intercept
            if (np.diff(thresholds) >= 0).any():
                raise InvalidInput(
                    f"The thresholds are {thresholds.tolist()}; each must be below the one before. "
                    "Sort them from the highest to the lowest."
                )
            return copy(model).store(fit, rows)

        specify, given = model.specify(rows), design_rows(rows)
        return model_objective(model, given, specify, store, reduction, rows.position)

    def store(self, fit: LinearFit, rows: LinearRows) -> Self:
        """Internal: this model with what a fit found."""
        remember_means(self, rows)
        self.likelihood_, self.coding_ = self._likelihood(rows), rows.coding
        self.classes_, self.coef_, self.thresholds_ = rows.classes, fit.coef, fit.intercept
        self.solution_, self.inference_ = fit.solution, fit.inference
        self.separated_, self.library_ = fit.separated, rows.library
        return self

    def path_slopes(self, block: Block) -> PathSlopes:
        """Internal: the slope in the predictor, and its information."""
        eta, thresholds = self.path_predictor(block), self.thresholds_
        slope = self.likelihood_.derivatives(block.target, eta, thresholds).slope
        return PathSlopes(slope[:, None], self.likelihood_.information(eta, thresholds).eta)

    def path_deviance(self, block: Block) -> Array:
        """Internal: −2 log P(Y = y | x)."""
        eta = np.reshape(self.path_predictor(block), -1)
        log_proba = self.likelihood_.log_probability(eta, self.thresholds_)
        return np.asarray(-2 * log_proba[np.arange(block.n_rows), block.target])

    def path_intercepts(self) -> Array:
        """Internal: the thresholds."""
        return np.asarray(self.thresholds_)

    @property
    def intercept_(self) -> float:
        """0, because the thresholds replace it."""
        return 0.0

    def survival(self, X: Any) -> Array:
        """P(Y > j | x), (n, n_classes − 1); it decreases with j."""
        eta = self.linear_predictor(X)
        return self.likelihood_.survival(eta, self.thresholds_)

    def predict_log_proba(self, X: Any) -> Array:
        """log P(Y = k | x), (n, n_classes)."""
        eta = self.linear_predictor(X)
        return self.likelihood_.log_probability(eta, self.thresholds_)

    def expected_rank(self, X: Any) -> Array:
        """Σ_k k P(Y = k | x), the lowest class having rank 1; (n,)."""
        return 1 + self.survival(X).sum(axis=1)

    @classmethod
    def _intercept_setting(cls, terms: FormulaTerms, settings: Any) -> dict[str, bool]:
        """None: the thresholds take its place."""
        if not terms.intercept:
            raise InvalidInput(
                f"The formula {terms.text!r} leaves the intercept out; ordered classes have "
                "thresholds, which cannot be left out. Remove 0 + from it."
            )
        return {}

    def _plate_parameters(self) -> tuple[PlateParameter, ...]:
        return (PlateParameter("w"), PlateParameter("bₖ", CUTS))

    def _explained(self, parts: tuple[Array, Array], against: Any) -> Explanation:
        """Contributions to P(Y > j), on the scale of its link: they are the same for every j."""
        contributions, at_means = parts
        repeated = np.repeat(contributions, len(self.thresholds_), axis=2)
        return predictor_explanation(
            (repeated, at_means + self.thresholds_),
            0.0,
            feature_names(self),
            against,
            link=self.likelihood_.link.name,
            groups=[f"above {label}" for label in self.classes_.tolist()[:-1]],
        )

    def _constants(self) -> list[tuple[str, list[float]]]:
        labels = self.classes_.tolist()[:-1]
        pairs = zip(labels, self.thresholds_.tolist(), strict=True)
        return [(f"Y > {label}", [threshold]) for label, threshold in pairs]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True  # where the classes have no order to follow
        return tags


def recoded(rank: Array, block: Block) -> Block:
    """The block with its class codes in another order: ``rank`` maps old codes to new ones."""
    return replace(block, y=rank[block.target])


def open_ordered(
    estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any = None
) -> LinearRows:
    """Rows whose class codes increase from the lowest class to the highest."""
    X, y, sample_weight, groups = own_columns(X, y, sample_weight, groups)
    extras, given = RowExtras(sample_weight, groups=groups), strengths_of(estimator)
    reference = estimator.reference
    rows = open_linear(estimator, X, y, extras, target="class", given=given, reference=reference)
    refuse_one_class(rows.classes, estimator)
    if len(rows.classes) > MOST_CLASSES:
        raise InvalidInput(
            f"y has {len(rows.classes)} different labels; ordered classes are {MOST_CLASSES} at "
            "most. Use GLM for numbers, or cut them into classes."
        )
    order = ordered_categories(y) if estimator.order is None else estimator.order
    classes, rank = ordered_classes(rows.classes, order)
    if estimator.order is not None:
        _refuse_empty(list(estimator.order), classes)
    return rows._replace(
        blocks=MappedBlocks(rows.blocks, partial(recoded, rank), rows.blocks.n_features),
        classes=classes,
    )


def _refuse_empty(order: list[Any], classes: Array) -> None:
    present = set(classes.tolist())
    for label in order:
        if label not in present:
            raise InvalidInput(
                f"The order has the class {label!r}, which no row has, so its thresholds cannot "
                "be estimated. Leave it out of the order, or give examples of it."
            )


def _penalty(estimator: OrdinalRegression, rows: LinearRows, framing: Framing) -> Penalty:
    given = strengths_of(estimator)
    on_coef = spread(estimator, rows.coding, framing, given, intercept=False)
    return on_coef.with_free(len(rows.classes) - 1).penalty


@final
@dataclass(frozen=True, eq=False)
class OrderedClasses(Specification):
    """One predictor, and thresholds that fall.

    The search uses centred columns, which change only the thresholds: b = b̃ − cᵀβ.  Standard errors
    come from the observed information, as is usual for ordered responses.
    """

    rows: DesignRows
    labels: tuple[Any, ...]  # of the classes, from the lowest to the highest
    likelihood: Ordinal
    penalty: Callable[[Framing], Penalty]  # on the coefficients and the thresholds

    @property
    def packing(self) -> Packing:
        n_thresholds = self.likelihood.n_classes - 1
        return Packing((self.rows.blocks.n_features,), (n_thresholds,), n_thresholds)

    @cached_property
    def count(self) -> Array:
        """The weight of each class."""
        term = partial(block_class_weight, self.likelihood.n_classes)
        return np.asarray(self.rows.executor.sum(term, self.rows.blocks).value)

    def problem(self, *, centre: bool = True) -> Problem:
        data = self._framed(centre=centre)
        penalty = self.penalty(data.framing)
        if self.rows.blocks.n_rows is None:  # counting classes in a file
            data.passes.append(1.0)

        def on(blocks: Blocks, share: float, executor: Executor) -> OrdinalObjective:
            return OrdinalObjective(self.likelihood, penalty.scaled(share), blocks, executor)

        return Problem(on, penalty, data, self.rows.executor, start_executor=Serial())

    def _framed(self, *, centre: bool) -> Framed:
        """Columns minus their means; thresholds take the place of an intercept."""
        rows, n_columns = self.rows, self.rows.blocks.n_features
        if isinstance(rows.blocks, MappedBlocks):  # of which framed sees no cells
            refuse_too_small(rows.blocks.inner, rows.names)
        data = framed(rows.blocks, rows.executor, names=rows.names, intercept=False)
        if data.share < 1 and not _has_every_class(self.likelihood, data.start):
            data = data._replace(start=data.blocks, share=1.0)
        means = centre_of(rows.blocks, data.start, rows.executor) if centre else None
        if means is not None and not np.isfinite(means).all():
            refuse_gaps(rows.blocks, rows.names)  # by their row in the data, not among some
        if means is not None:
            refuse_too_large(means, rows.names)
        framing = Framing(n_columns + self.likelihood.n_classes - 1, False, means)
        return data._replace(
            blocks=redesigned(data.blocks, framing, n_columns),
            start=redesigned(data.start, framing, n_columns),
            framing=framing,
        )

    def begin(self, problem: Problem) -> Begun:
        share, n_rows = problem.share, self.rows.blocks.n_rows or np.nan
        null = NullTotals.of_counts(share * self.count, share * n_rows)
        objective = cast(OrdinalObjective, problem.objective)
        return Begun(problem.measured(null), objective.start(self.count))

    def last(self, problem: Problem, theta: Array | None) -> Array | None:
        if theta is None:
            return None
        there, framing = np.array(theta), problem.data.framing
        centre, basis = framing.centre, framing.basis
        if centre is not None:  # exactly, so that a coefficient at 0 stays there
            there[problem.data.blocks.n_features :] += np.dot(theta[: centre.size], centre)
        if basis is not None:
            there[: len(basis)] = np.dot(basis, theta[: len(basis)])
        return there if np.isfinite(problem.objective.value(there)) else None

    def search(self, problem: Problem, start: Array, settings: FitSettings) -> Found:
        found = super().search(problem, start, settings)
        return with_falling_thresholds(found, self.rows.blocks.n_features)

    def divergence(self, problem: Problem, found: Found, start: Array) -> Divergence | None:
        """A direction to infinity, named by its coefficients, if any."""
        infinite = super().divergence(problem, found, start)
        if infinite is None:
            return None
        p = problem.data.blocks.n_features
        on_coef = tuple(j for j in infinite.columns if j < p)
        return infinite._replace(columns=on_coef or infinite.columns)

    def is_centred(self, problem: Problem) -> bool:
        return True

    def names(self) -> tuple[str, ...]:
        """The coefficients, then each threshold b_j: the intercept of Y > j."""
        return (*self.rows.names(), *(f"Y > {label}" for label in self.labels[:-1]))

    def inference(self, problem: Problem, end: End, kind: str) -> Inference:
        found, infinite = end.found, end.infinite
        estimate = ClassEstimate(
            cast(OrdinalObjective, problem.objective),
            self.likelihood.n_classes,
            found.theta,
            names=self.names(),
            jacobian=_jacobian(problem),
            held=found.held,
            infinite=() if infinite is None else infinite.columns,
            constants=tuple(range(problem.data.blocks.n_features, found.theta.size)),
            known=self._evaluated_hessian(problem, found),
        )
        return infer_classes(estimate, kind)

    def _evaluated_hessian(
        self, problem: Problem, found: Found
    ) -> tuple[SecondOrder, Array] | None:
        """The likelihood and its Hessian, where the search ended at a point that it evaluated."""
        theta, concave = found.theta, self.likelihood.link.log_concave
        known = concave and found.hessian is not None  # else the search has the expected Hessian
        if not known or not np.array_equal(theta, found.solution.theta):
            return None
        hessian = np.asarray(found.hessian) - np.diag(problem.penalty.curvature(theta))
        nll = found.solution.trace[-1] - problem.penalty.value(theta)
        return SecondOrder(nll, np.zeros(theta.size), hessian), self.count

    def to_user(self, problem: Problem, theta: Array) -> Array:
        return np.asarray(np.dot(_jacobian(problem), theta))


def with_falling_thresholds(found: Found, n_coefficients: int) -> Found:
    """The end of a search, without its last step if that one made thresholds cross.

    A step from a point that has converged is not checked.
    """
    falls = (np.diff(found.theta[n_coefficients:]) < 0).all()
    if falls or found.direction is None:
        return found
    return found._replace(theta=found.theta - found.direction)


def _has_every_class(likelihood: Ordinal, blocks: Blocks) -> bool:
    count = Serial().sum(partial(block_class_weight, likelihood.n_classes), blocks).value
    return bool((np.asarray(count) > 0).all())


def _jacobian(problem: Problem) -> Array:
    """∂(β, b)/∂(β̃, b̃), of the columns and thresholds of the search."""
    framing, p = problem.data.framing, problem.data.blocks.n_features
    out = np.eye(framing.n_parameters)
    out[:p, :p] = framing.coefficients(np.eye(p)).T
    if framing.centre is not None:
        out[p:, :p] = -np.dot(framing.centre, out[: framing.centre.size, :p])
    return out
