"""Softmax regression: two or more classes, each with a linear score.

    p(y = k | x) = e^{η_k} / Σ_l e^{η_l}        η_k = b_k + w_kᵀx
    minimise  −Σ_i w_i log p(y_i | x_i) + l1·Σ_k ‖w_k‖₁ + ½·l2·Σ_k ‖w_k‖²

A vector added to all w_k changes no probability.  With an L2 penalty the weights are centred
over classes; where nothing is penalised they are centred after the fit; with a reference class its
weights are 0.

``l2="auto"`` is the ridge penalty of largest marginal likelihood:

    w ~ N(0, I/λ),   p(y | X, λ) = ∫ p(y | X, w) p(w | λ) dw        (Laplace's approximation)
    λ = γ / ‖ŵ‖²,    γ = tr[(H + λI)⁻¹ H]                           (at its maximum)

γ is the effective number of weights: what the rows determine.  Where columns have no information
‖ŵ‖ shrinks, λ grows, and the model becomes the constant.  The fixed point is iterated from a strong
penalty, so that of several the most cautious is found; each step is a fit.  On the way

    −∂ log p(y | X, λ) / ∂ log λ = ½ (λ‖ŵ‖² − γ)

adds up to the evidence for the columns, against the constant.  Unless it is strong (3 nats), the
constant is kept.  λ is at least 1, the usual prior of columns scaled to one: rows to come may
differ from those seen.  With very many rows for each weight the penalty hardly matters, and it is
1; so it is for more weights than their Hessian may have.

References
----------
Bishop, Pattern Recognition and Machine Learning, §3.5.2, §4.3.4 and §4.4.
Böhning (1992), Multinomial logistic regression algorithm.
MacKay (1992), The evidence framework applied to classification networks, Neural Computation 4.
Kass & Raftery (1995), Bayes factors, JASA 90.
"""

from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from math import log
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import ArrayBlocks, Block, Blocks
from likely.distributions.base import NamedForm
from likely.errors import UnknownName
from likely.explanations.explanation import Explanation, like_its_rows
from likely.fitting.class_inference import check_kind
from likely.fitting.covariance import MOST_FOR_INFERENCE
from likely.fitting.driver import LinearFit
from likely.fitting.inference import inference_of
from likely.fitting.smoothing import (
    USUAL,
    forget_choice,
)
from likely.fitting.summary import describe_coefficients
from likely.fitting.summary_notes import remarks_on_held_rows
from likely.graphical.model.conditional_graph import ConditionalGraph
from likely.graphical.model.model_plates import CLASSES, PlateParameter
from likely.inputs.coding import columns_coded, new_rows, refuse_gaps
from likely.inputs.estimators import ColumnNeeds, Estimator, feature_names
from likely.inputs.rows import RowExtras
from likely.inputs.soft_labels import (
    ClassProbabilities,
    check_soft,
    soft_classes,
    soft_numbers,
    soft_total,
)
from likely.inputs.targets import is_soft, refuse_one_class
from likely.linear.fit import (
    LinearRows,
    Specify,
    design_rows,
    fitted,
    has_groups,
    has_penalty,
    is_auto,
    is_penalised,
    model_objective,
    open_linear,
    penalty_described,
    remember_means,
    spread,
    strengths_of,
)
from likely.linear.path_penalties import PathModel, PathRows, PathSlopes
from likely.linear.row_graph import (
    TARGET,
    refuse_features_of_classes,
    row_graph,
    weights_of,
)
from likely.linear.softmax_specification import ClassPredictors
from likely.linear.surface import (
    WITH_INTERCEPT,
    StandardErrors,
    class_explanation,
    linear_contributions,
)
from likely.objectives.model import ModelObjective, Reduction
from likely.output.description import ColumnsRead, Description
from likely.output.formatting import count
from likely.penalties.base import Penalty
from likely.solvers.stochastic import StochasticDescent
from likely.solvers.stopping import StoppingRule
from likely.special import log_softmax
from likely.storage.declarations import FITTED_CLASSES, OneForEachPredictor, Saved

CENTRED = (
    "the coefficients of a term sum to 0 over the classes: each is a log-odds of its class against "
    "the geometric mean of all."
)
REFERENCE_ADVICE = " reference= compares with one class."
ENOUGH = 100  # rows for each weight
MOST_WEIGHTS = MOST_FOR_INFERENCE // 2  # with those that classes share, their Hessian is known
MOST_STEPS = 20
NEAR = 0.05  # of log λ: a smaller step changes no probability that matters
CLEAR = 3.0  # nats of evidence for the columns: "strong", in the words of Kass and Raftery
STRONGEST = 10.0  # λ for each row: the model is the constant


class SoftmaxRegression(StandardErrors, ClassProbabilities, PathModel, ClassifierMixin, Estimator):
    """Multinomial logistic (softmax) regression.

    Parameters
    ----------
    l1 : float, array of shape (n_features,) or mapping, default=0.0
        Strength of the L1 penalty l1·Σ|w| on the weights of all classes, on the *summed*
        log-likelihood.
    l2 : float, array of shape (n_features,), mapping or "auto", default=1.0
        Strength of the L2 penalty ½·l2·Σw² on the weights of all classes, on the *summed*
        log-likelihood.  ``"auto"`` is the strength of the largest marginal likelihood (``l2_``):
        strong where the columns have little information; with 100 rows or more for each weight,
        and above 500 weights, it is 1.  scikit-learn's LogisticRegression(C) is l2 = 1/C for
        three or more classes, and l2 = 2/C for two: ``SoftmaxRegression(l2=2c)`` is
        ``LogisticRegression(l2=c)``, because the penalty is shared by two opposite weights.
    penalty : Penalty or None, default=None
        A penalty of ``likely.penalties`` in place of l1 and l2: ``Group([["length", "width"]])``
        keeps or drops columns together, ``L2.of_prior(variance)`` is a Gaussian prior, and
        penalties add.
    fit_intercept : bool, default=True
        Whether each class has an intercept.
    penalise_intercept : bool, default=False
        Whether the penalties apply to the intercepts too.
    reference : label or None, default=None
        A class whose weights are fixed at 0, so that those of the others are log-odds against it.
        None treats all classes alike.  Under a penalty the choice matters: the classes then
        shrink towards the reference, not towards one another.
    start : mapping, linear form or None, default=None
        Where the solver starts: ``coef`` (n_classes, n_coefficients) and ``intercept``
        (n_classes,), or ``logistic_form()`` of a fitted ``NaiveBayes``.  None is the constant
        model.  The optimum is the same.
    standard_errors : str or None, default="model"
        Kind of standard errors: ``model``, robust ``HC0``, ``HC1``, ``HC2``, ``HC3``, or
        ``clustered`` (needs ``groups``).  None computes none.  They are for log-odds against the
        reference class; without one, for weights that sum to 0 over the classes; for two classes,
        for the second against the first.
    solver : str or StochasticDescent, default="auto"
        ``newton``, ``lbfgs``, ``proximal-newton``, ``fista``, ``sgd`` (batches of rows,
        approximate; ``StochasticDescent(...)`` sets its details), or ``auto``, which chooses by the
        number of rows and columns and the penalty.  ``solution_.solver`` says which one was used.
    tol : float, default=1e-8
        The gap to the optimum, as a share of the null deviance, at which the search stops.
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
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (n_classes, n_coefficients), or (1, n_coefficients) for two classes
        ``terms_`` names the columns.  For two classes w₁ − w₀: of the second against the first.
    intercept_ : array of shape (n_classes,) or (1,)
    inference_ : Inference or None
        Estimates and their covariance, log-likelihoods; its names are "class: term", for two
        classes the terms alone.  None above 1,000 parameters.
    l2_ : float
        With ``l2="auto"``, the strength that was chosen.
    solution_ : Solution
        How the search ended: solver, trace, gap, passes over the data, and why it stopped.

    Examples
    --------
    >>> from likely import SoftmaxRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SoftmaxRegression(l2=1.0).fit(X, y)
    >>> model.predict_proba(X[:1]).round(3)
    array([[0.982, 0.018, 0.   ]])
    """

    saved: ClassVar = WITH_INTERCEPT | FITTED_CLASSES | Saved(rules=(OneForEachPredictor("coef_"),))

    def __init__(
        self,
        *,
        l1: Any = 0.0,
        l2: Any = 1.0,
        penalty: Penalty | None = None,
        fit_intercept: bool = True,
        penalise_intercept: bool = False,
        reference: Any = None,
        start: Mapping[str, Any] | NamedForm | None = None,
        standard_errors: str | None = "model",
        solver: str | StochasticDescent = "auto",
        tol: float = 1e-8,
        max_iter: int = 1000,
        stop: StoppingRule | None = None,
        warm_start: bool = False,
        executor: str | Executor = "auto",
    ) -> None:
        self.l1 = l1
        self.l2 = l2
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.penalise_intercept = penalise_intercept
        self.reference = reference
        self.start = start
        self.standard_errors = standard_errors
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.stop = stop
        self.warm_start = warm_start
        self.executor = executor

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit to rows X with labels y.

        X is an array, a CSR array, a data frame, or a file (its path, or ``likely.read``); with a
        frame or a file, the other arguments may be names of its columns.  y of shape
        (n, n_classes) holds soft labels: rows of probabilities, of the classes that name the
        columns of a frame, or 0, 1, ….
        """
        check_kind(self.standard_errors)
        forget_choice(self)
        rows = open_classes(self, X, y, sample_weight, groups)
        refuse_one_class(rows.classes, self)
        if is_auto(self.l2):
            self.l2_ = marginal_l2_of(self, rows)
        return self.fit_opened(rows)

    def fit_opened(self, rows: LinearRows, *, warned_by: Any = None) -> Self:
        """Internal: fit to rows that are checked and cut into blocks: see ``open_classes``."""
        specify = self.specify(rows)
        return self.store(fitted(self, design_rows(rows), specify, warned_by=warned_by), rows)

    def specify(self, rows: LinearRows) -> Specify:
        """Internal: what is fitted to rows that are cut into blocks."""
        l1, _, groups = given = strengths_of(self)
        intercept = self.penalise_intercept
        return partial(
            ClassPredictors,
            labels=tuple(rows.classes.tolist()),
            reference=self._reference(rows.classes),
            penalty=lambda framing: spread(self, rows.coding, framing, given, intercept=intercept),
            rough=(is_penalised(l1), has_groups(groups)),
            solver=self.solver,
            intercept=self.fit_intercept,
            centre=not intercept,
            given=self.start,
        )

    def objective(
        self, X: Any, y: Any, sample_weight: Any = None, *, reduction: Reduction = "sum"
    ) -> ModelObjective:
        """What ``fit`` minimises on these rows, as a function of θ = [W b], class by class.

        y as in ``fit``, soft labels included.  A reference class has no row in θ.
        """
        model = self.for_prediction().set_params(start=None)
        rows = open_classes(model, X, y, sample_weight)
        refuse_one_class(rows.classes, self)
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
        self.classes_, self.coding_ = rows.classes, rows.coding
        self.coef_, self.intercept_ = _of_two(fit) if len(rows.classes) == 2 else fit[:2]
        self.solution_, self.inference_ = fit.solution, fit.inference
        self.separated_, self.library_ = fit.separated, rows.library
        return self

    def open_path(self, rows: PathRows) -> LinearRows:
        """Internal: the rows, checked as ``fit`` checks them and cut into blocks."""
        opened = open_classes(self, rows.X, rows.y, rows.weight)
        refuse_one_class(opened.classes, self)
        return opened

    def path_slopes(self, block: Block) -> PathSlopes:
        """Internal: p_k − 1[y = k]; a reference class has no weights."""
        probability = np.exp(log_softmax(self._class_predictors(block), axis=1))
        slope = probability - np.eye(len(self.classes_))[block.target]
        if self.reference is not None:
            slope = slope[:, self.classes_ != self.reference]
        return PathSlopes(slope, (probability * (1 - probability)).mean(axis=1))

    def path_deviance(self, block: Block) -> Array:
        """Internal: −2 log p(y | x)."""
        log_proba = log_softmax(self._class_predictors(block), axis=1)
        return np.asarray(-2 * log_proba[np.arange(block.n_rows), block.target])

    def _class_predictors(self, block: Block) -> Array:
        """η of every class, (n, K); for two classes, that of the first is 0."""
        eta = self.path_predictor(block)
        return np.column_stack([np.zeros(len(eta)), eta]) if len(self.classes_) == 2 else eta

    @property
    def terms_(self) -> tuple[str, ...]:
        """The name of each coefficient: its column, or column[category]."""
        return self.coding_.names()

    def describe(self) -> Description:
        """The summary as values; without standard errors, the coefficients of each class."""
        check_is_fitted(self)
        if self.inference_ is not None:
            return self.summary().describe()
        labels = [str(label) for label in self.classes_.tolist()]
        two = len(labels) == 2
        whom = f"{labels[1]} against {labels[0]}" if two else f"each of {len(labels)} classes"
        return describe_coefficients(
            f"{type(self).__name__}: {count(len(self.terms_), 'coefficient')} for {whom}",
            self.terms_,
            self.coef_,
            [("intercept", self.intercept_.tolist())],
            labels[1:] if two else labels,
            self.n_iter_,
            penalty_described(self),
        ).also(notes=remarks_on_held_rows(self))

    def column_needs(self) -> ColumnNeeds:
        """Categories as they are; scaled where a penalty compares coefficients."""
        return ColumnNeeds(scale=has_penalty(self), categories=True)

    def columns_read(self, n_rows: int | None = None) -> ColumnsRead:
        """How many columns are numbers and how many categories; which of them to check."""
        check_is_fitted(self)
        return columns_coded(self.coding_.schema, feature_names(self), n_rows)

    def decision_function(self, X: Any) -> Array:
        """η of each class, (n, n_classes); for two classes the log-odds of the second, (n,)."""
        check_is_fitted(self)
        design = new_rows(self, self.coding_, X)
        with np.errstate(invalid="ignore"):  # 0·∞, refused below
            eta = design.matmat(np.ascontiguousarray(self.coef_.T)) + self.intercept_
        if not np.isfinite(eta).all():
            refuse_gaps(ArrayBlocks(design), self.coding_.names)
        return eta[:, 0] if len(self.classes_) == 2 else eta

    @like_its_rows
    def explain(self, X: Any, against: Any = None) -> Explanation:
        """What each column adds to the log-odds of every class against one (the first).

        Relative to the mean of the training rows.
        """
        check_is_fitted(self)
        design, means = new_rows(self, self.coding_, X), vars(self).get("column_means_")
        parts = linear_contributions(self.coding_, design, self.coef_, means)
        names = feature_names(self)
        return class_explanation(parts, self.intercept_, self.classes_, names, against)

    def predict_log_proba(self, X: Any) -> Array:
        """log p(k | x), (n, n_classes)."""
        eta = self.decision_function(X)
        if eta.ndim == 1:
            eta = np.column_stack([np.zeros_like(eta), eta])
        return log_softmax(eta, axis=1)

    def factor_graph(self, X: Any, *, target: str = TARGET) -> ConditionalGraph:
        """P(class | x) as a product of factors, one for each column and row.

        The variable of one row is ``target``; of several, ``target[0]``, ``target[1]``, ….
        """
        check_is_fitted(self)
        design = new_rows(self, self.coding_, X)
        refuse_gaps(ArrayBlocks(design), self.coding_.names)
        each = np.tile(self.intercept_, (design.n_rows, 1))
        constants = [("intercept", each)] if self.fit_intercept else []
        return row_graph(design, self.terms_, self.coef_, constants, self.classes_, target)

    @classmethod
    def from_factor_graph(cls, graph: ConditionalGraph) -> Self:
        """The model whose ``factor_graph`` this is, at the values that were given.

        Any graph of log-linear factors will do, that of ``LogisticRegression`` or ``MaxEntropy``
        as well.  The columns of the model are numbers with the names of the given values.
        """
        weights = weights_of(graph)
        refuse_features_of_classes(weights, cls.__name__)
        made: Self = weights.model(cls(fit_intercept=weights.intercept is not None))
        return made

    def log_likelihoods(self, X: Any, y: Any) -> Array:
        """log p(y_i | x_i) of each row; for soft labels t, Σ_k t_ik log p(k | x_i)."""
        if not is_soft(y):
            return super().log_likelihoods(X, y)
        return soft_total(y, self.predict_log_proba(X), self.classes_)

    def _plate_parameters(self) -> tuple[PlateParameter, ...]:
        return (PlateParameter("βₖ", CLASSES),)

    def _described(self) -> str:
        labels = self.classes_.tolist()
        if len(labels) == 2:
            return f"P(y = {labels[1]!r}), softmax link"
        against = "" if self.reference is None else f" against {self.reference!r}"
        return f"{len(labels)} classes{against}, softmax link"

    def _ratio(self) -> str:
        """Odds against the reference class, or of the second of two classes."""
        return "odds ratio" if len(self.classes_) == 2 or self.reference is not None else ""

    def _remarks(self) -> tuple[str, ...]:
        return (*self._meaning(), *super()._remarks())

    def _meaning(self) -> tuple[str, ...]:
        """What a coefficient is compared with."""
        if len(self.classes_) == 2:
            return ()
        if self.reference is not None:
            return (f"a coefficient is a log-odds of its class against {self.reference!r}.",)
        return () if is_penalised(strengths_of(self).l1) else (CENTRED + REFERENCE_ADVICE,)

    def _terms_called(self, name: str) -> list[str]:
        """That term in every class: K − 1 of K weights that sum to 0."""
        names = self._inference().names
        if name in names or len(self.classes_) == 2:
            return super()._terms_called(name)
        labels = [label for label in self.classes_.tolist() if label != self.reference]
        if self.reference is None and not is_penalised(strengths_of(self).l1):
            labels = labels[:-1]
        terms = ["intercept"] if name == "intercept" else super()._terms_called(name)
        return [f"{label}: {term}" for label in labels for term in terms]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _reference(self, classes: Array) -> int | None:
        if self.reference is None:
            return None
        labels = classes.tolist()
        if self.reference not in labels:
            raise UnknownName("class for reference", self.reference, map(str, labels))
        return int(labels.index(self.reference))


def _of_two(fit: LinearFit) -> tuple[Array, Array]:
    """w₁ − w₀ and b₁ − b₀, which are all that two classes determine."""
    return np.diff(fit.coef, axis=0), np.diff(fit.intercept)


class Determined(NamedTuple):
    """What a fit with a given λ has determined."""

    effective: float  # γ, without intercepts
    squares: float  # ‖ŵ‖²

    def slope(self, strength: float) -> float:
        """−∂ log p(y | X, λ) / ∂ log λ."""
        return (strength * self.squares - self.effective) / 2


def marginal_l2_of(model: SoftmaxRegression, rows: LinearRows) -> float:
    """λ that the marginal likelihood of the rows prefers for a softmax regression."""
    n_free, probe = len(rows.classes) - 1, copy(model)
    n_weights = n_free * rows.blocks.n_features
    shared = n_free == 1 and model.reference is None  # by two opposite weights
    constants = n_free if model.fit_intercept else 0
    probe.standard_errors = "model"

    def fitted_at(l2: float) -> Determined:
        probe.l2 = l2
        probe.fit_opened(rows, warned_by=model)
        effective = inference_of(probe).n_parameters - constants
        squares = float(np.square(probe.coef_).sum())
        return Determined(effective, squares / 2 if shared else squares)

    return marginal_l2(fitted_at, n_weights, total_weight(rows.blocks, ENOUGH * n_weights))


def total_weight(blocks: Blocks, enough: float) -> float:
    """The weights of all rows together, or of the first that are enough."""
    found = 0.0
    for block in blocks:
        found += block.n_rows if block.weight is None else float(block.weight.sum())
        if found >= enough:
            break
    return found


def marginal_l2(fitted_at: Callable[[float], Determined], n_weights: int, n_rows: float) -> float:
    """λ of the largest marginal likelihood; ``fitted_at`` fits with a λ."""
    if not 0 < n_weights <= MOST_WEIGHTS or n_rows >= ENOUGH * n_weights:
        return USUAL
    strength = strongest = STRONGEST * n_rows
    found, evidence = fitted_at(strength), 0.0
    for _ in range(MOST_STEPS):
        ratio = max(found.effective, 0.0) / found.squares if found.squares > 0 else strongest
        better = min(max(ratio, USUAL), strongest)
        if abs(log(better / strength)) < NEAR:
            break
        last, found = found, fitted_at(better)
        slopes = last.slope(strength) + found.slope(better)
        evidence += log(strength / better) * slopes / 2
        strength = better
    return strength if evidence > CLEAR else strongest


def open_classes(
    estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any = None
) -> LinearRows:
    """Rows with class codes, or with soft labels where y has several columns."""
    soft = is_soft(y)
    rows = open_linear(
        estimator,
        X,
        soft_numbers(y) if soft else y,
        RowExtras(sample_weight, groups=groups),
        target="numbers" if soft else "class",
        given=strengths_of(estimator),
    )
    if not soft:
        return rows
    for block in rows.blocks:
        check_soft(block.target, block.start)
    return rows._replace(classes=soft_classes(y))
