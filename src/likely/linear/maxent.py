"""Maximum entropy: feature functions of (x, y) that share one vector of weights.

    p(y | x) = e^{wᵀf(x, y)} / Σ_y′ e^{wᵀf(x, y′)}
    minimise  −Σ_i v_i log p(y_i | x_i) + l1·‖w‖₁ + ½·l2·‖w‖²

Without a penalty the expected totals of the features equal the observed ones, and of all models
with this property the fitted one has the largest entropy.  With the indicators 1{y = c}·x_d the
model is softmax regression.

A feature function f_j(X, label) is called once per label with all rows, and returns one number per
row, or one for all; ``by_row`` makes one out of a function of a single row.  Together they are the
array F[i, k, j] = f_j(x_i, label_k).

References
----------
Berger, Della Pietra & Della Pietra, A maximum entropy approach to natural language processing,
1996.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self, cast, final

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.compute.executor import Executor, executor_for
from likely.data.block import ArrayBlocks, Blocks, CountedBlocks
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Intercept
from likely.errors import InvalidInput
from likely.explanations.explanation import Explanation, like_its_rows, log_odds_explanation
from likely.fitting.class_inference import ClassEstimate, check_kind, infer_classes
from likely.fitting.driver import Begun, DesignRows, End, LinearFit, Specification
from likely.fitting.framing import Framed, Framing
from likely.fitting.inference import Inference
from likely.fitting.problem import Problem
from likely.fitting.summary import describe_coefficients
from likely.fitting.summary_notes import remarks_on_held_rows
from likely.graphical.model.conditional_graph import ConditionalGraph
from likely.graphical.model.model_plates import COLUMNS, PlateParameter
from likely.inputs.coding import new_rows
from likely.inputs.estimators import ColumnNeeds, Estimator, take_columns
from likely.inputs.rows import RowExtras, group_codes
from likely.inputs.soft_labels import ClassProbabilities
from likely.inputs.tables import check_table
from likely.inputs.targets import (
    check_labels,
    check_weight,
    codes_among,
    n_axes,
    refuse_one_class,
    required,
)
from likely.linear.fit import (
    ParameterPenalty,
    Specify,
    fitted,
    has_penalty,
    model_objective,
    penalty_described,
    refuse_idle_groups,
    strengths_of,
)
from likely.linear.row_graph import TARGET, graph_of_factors, weights_of
from likely.linear.softmax import REFERENCE_ADVICE, SoftmaxRegression, open_classes
from likely.linear.surface import StandardErrors
from likely.objectives.inference import NullTotals
from likely.objectives.linear import Packing
from likely.objectives.maxent import FeatureTotals, MaxEntropyObjective
from likely.objectives.model import ModelObjective, Reduction
from likely.output.description import Description
from likely.output.formatting import count
from likely.penalties.base import NoPenalty, Penalty, PenaltySum
from likely.solvers.choice import check_search
from likely.solvers.minimise import Solution
from likely.solvers.stopping import StoppingRule
from likely.special import log_softmax
from likely.storage.declarations import (
    FITTED_CLASSES,
    FITTED_COLUMNS,
    Needed,
    Numbers,
    SameCount,
    Saved,
)

FeatureFunction = Callable[[Any, Any], Any]  # (all rows, a label) → one number per row


class MaxEntropy(StandardErrors, ClassProbabilities, ClassifierMixin, Estimator):
    """Maximum entropy classifier: log-linear in any features of x and y.

    Parameters
    ----------
    features : None or list of functions f(X, label), default=None
        Each is called with all rows and one label, and returns one number per row, or one for
        all (see ``likely.linear.maxent.by_row``).  None takes an X of three axes, F[n, y, j], as
        the features themselves, labels in sorted order; for any other X the features are the
        indicators 1{y = c}·x_d, and 1{y = c}, which is not penalised: softmax regression.
    l1 : float or array of shape (n_weights,), default=0.0
        Strength of the L1 penalty l1·Σ|w| on the *summed* log-likelihood.
    l2 : float or array of shape (n_weights,), default=1.0
        Strength of the L2 penalty ½·l2·Σw² on the *summed* log-likelihood.
    penalty : Penalty or None, default=None
        A penalty of ``likely.penalties`` in place of l1 and l2: ``Group([[0, 1], [2, 3]])``
        keeps or drops weights together (with indicators, columns), ``L2.of_prior(variance)`` is a
        Gaussian prior, and penalties add.
    fit_intercept : bool, default=True
        Whether 1{y = c} is among the indicators; given features are used as they are.
    standard_errors : str or None, default="model"
        Kind of standard errors: ``model``, robust ``HC0``, ``HC1``, ``HC2``, ``HC3``, or
        ``clustered`` (needs ``groups``).  None computes none.  With indicators they are those of
        softmax regression.
    solver : {"auto", "newton", "lbfgs", "proximal-newton", "fista"}, default="auto"
        ``auto`` chooses by the number of weights and the penalty.
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
    coef_ : array of shape (n_weights,)
        For indicators: those of the first class, with its 1{y = c} last, then the second, ….
    inference_ : Inference or None
        Estimates and their covariance, log-likelihoods; None above 1,000 weights.
    solution_ : Solution
        How the search ended.

    Examples
    --------
    >>> import numpy as np
    >>> from likely import MaxEntropy
    >>> def same_sign(X, label):
    ...     return X[:, 0] * label
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [1.5]]), np.array([-1, -1, 1, -1])
    >>> model = MaxEntropy([same_sign], l2=0.0).fit(X, y)
    >>> totals = model.feature_totals(X, y)
    >>> totals.observed.round(3), totals.expected.round(3)
    (array([2.5]), array([2.5]))
    """

    saved: ClassVar = (
        FITTED_COLUMNS
        | FITTED_CLASSES
        | Saved(
            {
                "softmax_": SoftmaxRegression | None,
                "coef_": Numbers(Array, "finite"),
                "solution_": Solution,
                "inference_": Inference | None,
            },
            {"held_out_": tuple[float, float], "separated_": bool},
            rules=(
                SameCount("classes_", "softmax_.classes_"),
                Needed("solution_.held_out", "held_out_"),
            ),
        )
    )

    def __init__(
        self,
        features: list[FeatureFunction] | None = None,
        *,
        l1: Any = 0.0,
        l2: Any = 1.0,
        penalty: Penalty | None = None,
        fit_intercept: bool = True,
        standard_errors: str | None = "model",
        solver: str = "auto",
        tol: float = 1e-8,
        max_iter: int = 1000,
        stop: StoppingRule | None = None,
        warm_start: bool = False,
        executor: str | Executor = "auto",
    ) -> None:
        self.features = features
        self.l1 = l1
        self.l2 = l2
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.standard_errors = standard_errors
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.stop = stop
        self.warm_start = warm_start
        self.executor = executor

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit to rows X with labels y."""
        check_search(self.tol, self.max_iter)
        check_kind(self.standard_errors)
        before: SoftmaxRegression | None = vars(self).get("softmax_")
        self.softmax_: SoftmaxRegression | None = None
        if self.features is None and n_axes(X) != 3:
            return self._fit_indicators(X, y, RowExtras(sample_weight, groups=groups), before)
        rows = self._open(X, y, sample_weight, groups)
        return self._store(fitted(self, rows, self._specify(rows)))

    def objective(
        self, X: Any, y: Any, sample_weight: Any = None, *, reduction: Reduction = "sum"
    ) -> ModelObjective:
        """What ``fit`` minimises on these rows, as a function of the weights."""
        model = self.for_prediction()
        if self.features is None and n_axes(X) != 3:
            of = model._softmax().objective(X, y, sample_weight, reduction=reduction)
            name = type(self).__name__
            return of.stored_by(name, lambda fitted: copy(model)._store_softmax(fitted))
        rows = model._open(X, y, sample_weight)
        specify = model._specify(rows)
        return model_objective(model, rows, specify, lambda fit: copy(model)._store(fit), reduction)

    def _open(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> DesignRows:
        """Rows of features, all of the first class and then of the second, named by weight."""
        X = self._table(X, reset=True)
        weight = check_weight(sample_weight, n_rows=len(X))
        self.classes_, codes = check_labels(required(y, self), n_rows=len(X))
        refuse_one_class(self.classes_, self)
        refuse_idle_groups(self, groups)
        clusters, n_clusters = group_codes(groups, len(X))
        F = self._features(X)
        blocks = ArrayBlocks(Dense(F.reshape(len(F), -1)), codes, weight, group=clusters)
        executor, names = executor_for(self.executor, blocks.nbytes), self._names(F.shape[2])
        return DesignRows(blocks, executor, lambda: names, n_clusters)

    def _specify(self, rows: DesignRows) -> Specify:
        penalty = _penalty(self, rows.names())
        return partial(FeatureWeights, n_classes=len(self.classes_), penalty=penalty)

    def _store(self, fit: LinearFit) -> Self:
        self.softmax_ = None
        self.coef_, self.solution_, self.inference_ = fit.coef, fit.solution, fit.inference
        self.separated_ = fit.separated
        return self

    @property
    def terms_(self) -> tuple[str, ...]:
        """The name of each feature; for indicators, of each coefficient of a class."""
        if self.softmax_ is not None:
            return self.softmax_.terms_
        return self._names(len(self.coef_))

    def predict_log_proba(self, X: Any) -> Array:
        """log p(y | x), (n, n_classes)."""
        check_is_fitted(self)
        if self.softmax_ is not None:
            return self.softmax_.predict_log_proba(X)
        F = self._features(self._table(X, reset=False))
        return log_softmax(np.dot(F, self.coef_), axis=1)

    @like_its_rows
    def explain(self, X: Any, against: Any = None) -> Explanation:
        """What each column adds to the log-odds of every class against one (the first).

        With feature functions or features of x and y, what each feature adds.
        """
        check_is_fitted(self)
        if self.softmax_ is not None:
            return self.softmax_.explain(X, against)
        F = self._features(self._table(X, reset=False))
        parts = (F * self.coef_).transpose(0, 2, 1)  # (rows, features, classes)
        none = np.zeros(len(self.classes_))
        return log_odds_explanation(
            parts, none, self.classes_, against, self.terms_, base_is="base"
        )

    def factor_graph(self, X: Any, *, target: str = TARGET) -> ConditionalGraph:
        """p(y | x) as a product of factors exp{w_j f_j(x, y)}, one for each feature and row.

        The variable of one row is ``target``; of several, ``target[0]``, ``target[1]``, ….  The
        given values are the columns, or the features of each class.
        """
        check_is_fitted(self)
        if self.softmax_ is not None:
            return self.softmax_.factor_graph(X, target=target)
        F = self._features(self._table(X, reset=False))
        names = self.terms_
        if len(set(names)) < len(names):  # functions without a name
            names = tuple(f"f{j}" for j in range(len(names)))
        log_factors, given = F * self.coef_, F.transpose(0, 2, 1)
        return graph_of_factors(names, given, log_factors, (), self.classes_, target)

    @classmethod
    def from_factor_graph(cls, graph: ConditionalGraph) -> Self:
        """The model whose ``factor_graph`` this is, at the values that were given.

        Any graph of log-linear factors will do, that of ``LogisticRegression`` or
        ``SoftmaxRegression`` as well.  The model takes the given values as columns of numbers;
        where they are features of x and y, it takes these, F[n, y, j].
        """
        weights = weights_of(graph)
        made: Self = weights.model(cls(fit_intercept=weights.intercept is not None))
        return made

    def describe(self) -> Description:
        """The summary as values; without standard errors, the weights, the largest first."""
        check_is_fitted(self)
        if self.inference_ is not None:
            return self.summary().describe()
        if self.softmax_ is not None:
            return self.softmax_.describe()
        return describe_coefficients(
            f"{type(self).__name__}: {count(len(self.coef_), 'feature')} of x and y",
            self.terms_,
            self.coef_[None],
            [],
            ["weight"],
            self.n_iter_,
            penalty_described(self),
        ).also(notes=remarks_on_held_rows(self))

    def feature_totals(self, X: Any, y: Any, sample_weight: Any = None) -> FeatureTotals:
        """Observed and expected totals of the features over rows X with labels y."""
        check_is_fitted(self)
        if self.softmax_ is not None:
            return self._indicator_totals(self.softmax_, X, y, sample_weight)
        F = self._features(self._table(X, reset=False))
        codes = codes_among(y, self.classes_, n_rows=len(F))
        weight = check_weight(sample_weight, n_rows=len(F))
        blocks = ArrayBlocks(Dense(F.reshape(len(F), -1)), codes, weight)
        executor = executor_for(self.executor, blocks.nbytes)
        objective = MaxEntropyObjective(len(self.classes_), NoPenalty(), blocks, executor)
        return objective.feature_totals(self.coef_)

    def column_needs(self) -> ColumnNeeds:
        """Categories as they are; scaled where a penalty compares weights."""
        return ColumnNeeds(scale=has_penalty(self), categories=True)

    def _plate_parameters(self) -> tuple[PlateParameter, ...]:
        return (PlateParameter("wⱼ", COLUMNS),)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.features is None
        return tags

    def _names(self, n_weights: int) -> tuple[str, ...]:
        if self.features is None:  # an X of three axes
            return tuple(f"f{j}" for j in range(n_weights))
        return tuple(getattr(each, "__name__", f"f{j}") for j, each in enumerate(self.features))

    def _described(self) -> str:
        if self.softmax_ is not None:
            return self.softmax_._described()
        return f"{len(self.classes_)} classes, {count(len(self.coef_), 'feature')} of x and y"

    def _remarks(self) -> tuple[str, ...]:
        if self.softmax_ is None:
            return super()._remarks()
        return tuple(each.removesuffix(REFERENCE_ADVICE) for each in self.softmax_._remarks())

    def _terms_called(self, name: str) -> list[str]:
        if self.softmax_ is not None:
            return self.softmax_._terms_called(name)
        return super()._terms_called(name)

    def _softmax(self) -> SoftmaxRegression:
        """The model of indicators: softmax regression, which never builds F."""
        return SoftmaxRegression(
            l1=self.l1,
            l2=self.l2,
            penalty=self.penalty,
            fit_intercept=self.fit_intercept,
            standard_errors=self.standard_errors,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            stop=self.stop,
            warm_start=self.warm_start,
            executor=self.executor,
        )

    def _fit_indicators(
        self, X: Any, y: Any, extras: RowExtras, before: SoftmaxRegression | None
    ) -> Self:
        model = self._softmax()
        if before is not None:
            model.solution_ = before.solution_
        rows = open_classes(model, X, required(y, self), extras.weight, extras.groups)
        refuse_one_class(rows.classes, self)
        return self._store_softmax(model.fit_opened(rows, warned_by=self))

    def _store_softmax(self, model: SoftmaxRegression) -> Self:
        self.softmax_, self.classes_, self.solution_ = model, model.classes_, model.solution_
        self.inference_, self.separated_ = model.inference_, model.separated_
        self.library_, self.coef_ = model.library_, model.solution_.theta
        take_columns(self, model)
        return self

    def _features(self, X: Any) -> Array:
        """F[n, y, j] of checked rows."""
        if self.features is not None:
            return feature_array(self.features, X, self.classes_)
        if X.shape[1] != len(self.classes_):
            raise InvalidInput(
                f"X, as features F[n, y, j], has {X.shape[1]} labels; y has {len(self.classes_)}. "
                "Give the features of each label, in sorted order."
            )
        return np.asarray(X)

    def _table(self, X: Any, *, reset: bool) -> Any:
        """Rows for the feature functions, or the features themselves."""
        if self.features is None:
            return check_feature_array(self, X, reset=reset)
        check_features(self.features)
        return check_table(self, X, reset=reset, sparse=False).native

    def _indicator_totals(
        self, model: SoftmaxRegression, X: Any, y: Any, sample_weight: Any
    ) -> FeatureTotals:
        """Σ 1{y = c}·[x; 1] and Σ p(c | x)·[x; 1], class by class."""
        design = Intercept(new_rows(model, model.coding_, X))
        weight = check_weight(sample_weight, n_rows=design.n_rows)
        each = np.ones((design.n_rows, 1)) if weight is None else weight[:, None]
        codes = codes_among(y, self.classes_, n_rows=design.n_rows)
        seen = np.eye(len(self.classes_))[codes]
        return FeatureTotals(
            design.rmatmat(each * seen).T.ravel(),
            design.rmatmat(each * model.predict_proba(X)).T.ravel(),
        )


@final
@dataclass(frozen=True, eq=False)
class FeatureWeights(Specification):
    """One weight for each feature of x and y; a block's X holds the features of every class."""

    rows: DesignRows  # named by weight
    n_classes: int
    penalty: Penalty  # on each weight

    has_columns = False

    @property
    def packing(self) -> Packing:
        return Packing((len(self.rows.names()),), (), n_constants=0)

    def problem(self, *, centre: bool = True) -> Problem:
        passes, framing = list[float](), Framing(self.packing.size, False, None)
        counted = CountedBlocks(self.rows.blocks, passes)

        def on(blocks: Blocks, share: float, executor: Executor) -> MaxEntropyObjective:
            return MaxEntropyObjective(self.n_classes, self.penalty.scaled(share), blocks, executor)

        data = Framed(counted, counted, 1.0, framing, passes, self.rows.blocks)
        return Problem(on, self.penalty, data, self.rows.executor)

    def begin(self, problem: Problem) -> Begun:
        """Equal probabilities."""
        rows = cast(ArrayBlocks, self.rows.blocks)
        total = rows.n_rows if rows.weight is None else rows.weight.sum()
        even = np.full(self.n_classes, float(total) / self.n_classes)
        null = NullTotals.of_counts(even, rows.n_rows)
        return Begun(problem.measured(null), np.zeros(problem.n_parameters))

    def redundancy(self, held: Sequence[int]) -> str:
        return (
            f"feature {held[0]} can be computed from those before it, or is the same for every "
            "label; its weight is fixed at 0. Drop it, or give a penalty (l2=1.0)."
        )

    def inference(self, problem: Problem, end: End, kind: str) -> Inference:
        size = problem.n_parameters
        estimate = ClassEstimate(
            cast(MaxEntropyObjective, problem.objective),
            self.n_classes,
            end.found.theta,
            names=self.rows.names(),
            jacobian=np.eye(size),
            held=end.found.held,
            infinite=() if end.infinite is None else end.infinite.columns,
        )
        return infer_classes(estimate, kind)


def _penalty(model: MaxEntropy, names: Sequence[str]) -> Penalty:
    """On each weight; groups name features, or are of their positions."""
    given, n_weights = strengths_of(model), len(names)
    l1, l2 = (np.broadcast_to(np.asarray(s, dtype=float), (n_weights,)) for s in given[:2])
    own = tuple(group.on_columns(tuple(names), np.arange(n_weights)) for group in given.groups)
    return ParameterPenalty(l1, l2, PenaltySum(own).grouped(n_weights)).penalty


@final
@dataclass(frozen=True)
class ByRow:
    """A function of one row and a label, called for every row."""

    function: Callable[[Any, Any], float]

    def __call__(self, X: Any, label: Any) -> Array:
        return np.array([self.function(row, label) for row in np.asarray(X)], dtype=np.float64)


def by_row(function: Callable[[Any, Any], float]) -> ByRow:
    """A feature function from f(row, label) → number."""
    return ByRow(function)


def feature_array(features: Sequence[FeatureFunction], X: Any, classes: Array) -> Array:
    """F, of shape (n_rows, n_classes, n_features).

    >>> import numpy as np
    >>> def long_and_noun(X, label):
    ...     return (X[:, 0] > 3) * (label == "noun")
    >>> X = np.array([[2.0], [5.0]])
    >>> feature_array([long_and_noun], X, np.array(["noun", "verb"]))[:, :, 0]
    array([[0., 0.],
           [1., 0.]])
    """
    check_features(features)
    labels = classes.tolist()
    out = np.empty((len(X), len(labels), len(features)))
    for j, function in enumerate(features):
        for k, label in enumerate(labels):
            out[:, k, j] = _values(function, j, X, label)
    return out


def check_feature_array(estimator: Any, X: Any, *, reset: bool) -> Array:
    """X as F[n, y, j], finite numbers; its last axis is remembered."""
    try:
        F = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"X, as features F[n, y, j], must hold numbers; {error}. Pass an array of three axes."
        ) from error
    known = F.shape[-1] if reset else estimator.n_features_in_
    if F.ndim != 3 or F.shape[2] != known or not F.size:
        raise InvalidInput(
            f"X has shape {F.shape}; the features F[n, y, j] of {known} weights were expected. "
            "Pass one number for each row, label and feature."
        )
    if not np.isfinite(F).all():
        row, label, j = np.argwhere(~np.isfinite(F))[0]
        raise InvalidInput(
            f"X[{row}, {label}, {j}] is {F[row, label, j]}; a feature must be finite. "
            "Fix it, or drop the row."
        )
    estimator.n_features_in_ = known
    return F


def check_features(features: Any) -> None:
    """Refuse anything but a list of functions."""
    is_list = isinstance(features, Sequence) and not isinstance(features, str)
    if not is_list or not features or not all(callable(each) for each in features):
        raise InvalidInput(
            f"features is {features!r}; a list of one or more functions f(X, label) was expected. "
            "Leave it None for indicators, or pass the array F[n, y, j] as X."
        )


def _values(function: FeatureFunction, j: int, X: Any, label: Any) -> Array:
    values = np.asarray(function(X, label), dtype=np.float64)
    if values.ndim > 1 or (values.ndim == 1 and len(values) != len(X)):
        raise InvalidInput(
            f"Feature {j} gave an array of shape {values.shape} for label {label!r}; X has "
            f"{len(X)} rows. Return one number per row or one for all, or wrap a function of a "
            "single row in by_row."
        )
    if not np.isfinite(values).all():
        raise InvalidInput(
            f"Feature {j} is not finite for label {label!r}; a weight can multiply only finite "
            "numbers. Fix the function, or clip what it returns."
        )
    return values
