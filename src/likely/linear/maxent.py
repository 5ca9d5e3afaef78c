"""Maximum entropy: feature functions of (x, y) that share one vector of weights.

    p(y | x) = e^{wᵀf(x, y)} / Σ_y′ e^{wᵀf(x, y′)}
    minimise  −Σ_i v_i log p(y_i | x_i) + ½·l2·‖w‖²

Without a penalty the expected totals of the features equal the observed ones, and of all models of
which this is true the fitted one has the most entropy.  With the indicators 1{y = c}·x_d the model
is softmax regression.

References
----------
Berger, Della Pietra & Della Pietra, A maximum entropy approach to natural language processing,
1996.
"""

from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.compute.executor import Executor, executor_for
from likely.data.block import ArrayBlocks, Blocks, CountedBlocks
from likely.data.layouts.intercept import Dense, Intercept
from likely.description import Description
from likely.errors import InvalidInput, RedundantColumns, warn_user
from likely.features.maxent import FeatureFunction, check_features, feature_array
from likely.formatting import count
from likely.inputs.estimators import warn_unless_converged
from likely.inputs.labels import check_labels, codes_among, refuse_one_class
from likely.inputs.numbers import check_weight, required
from likely.inputs.tables import check_table
from likely.linear.coding import new_rows
from likely.linear.framing import Framed, Framing
from likely.linear.problem import Problem
from likely.linear.softmax import SoftmaxRegression, n_axes, open_classes
from likely.linear.summary import describe_coefficients
from likely.linear.surface import ClassProbabilities
from likely.objectives.inference import NullTotals
from likely.objectives.maxent import FeatureTotals, MaxEntropyObjective
from likely.penalties import L2
from likely.solvers.choice import check_search, solve
from likely.solvers.minimise import Solution
from likely.special import log_softmax


class Weights(NamedTuple):
    """One weight per feature, and how they were found."""

    coef: Array
    solution: Solution


class MaxEntropy(ClassProbabilities, ClassifierMixin, BaseEstimator):
    """Log-linear classes with any features of x and y.

    Parameters
    ----------
    features : None or list of functions f(X, label), default=None
        Each is called with all rows and one label, and answers with one number per row, or one for
        all (see ``likely.features.maxent.by_row``).  None takes an X of three axes, F[n, y, j], as
        the features themselves, labels in sorted order; for any other X the features are the
        indicators 1{y = c}·x_d, and 1{y = c}, which is not penalised: softmax regression.
    l2 : float or array of shape (n_weights,), default=1.0
        Strength of the penalty ½·l2·w² against the *summed* log-likelihood.  With indicators, one
        number.
    solver : {"auto", "newton", "lbfgs"}, default="auto"
    tol : float, default=1e-8
        The gap to the optimum, as a share of the null deviance, at which the search stops.
    max_iter : int, default=1000
    executor : str or Executor, default="auto"

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (n_weights,)
        Of the indicators: those of the first class, its own 1{y = c} last, then of the second, ….
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

    def __init__(
        self,
        features: list[FeatureFunction] | None = None,
        *,
        l2: Any = 1.0,
        solver: str = "auto",
        tol: float = 1e-8,
        max_iter: int = 1000,
        executor: str | Executor = "auto",
    ) -> None:
        self.features = features
        self.l2 = l2
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.executor = executor

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows X with labels y."""
        check_search(self.tol, self.max_iter)
        self.softmax_: SoftmaxRegression | None = None
        if self.features is None and n_axes(X) != 3:
            return self._fit_indicators(X, y, sample_weight)
        X = self._table(X, reset=True)
        weight = check_weight(sample_weight, n_rows=len(X))
        self.classes_, codes = check_labels(required(y, self), n_rows=len(X))
        refuse_one_class(self.classes_, self)
        F = self._features(X)
        self.coef_, self.solution_ = self._solve(F, codes, weight)
        return self

    def predict_log_proba(self, X: Any) -> Array:
        """log p(y | x), (n, n_classes)."""
        check_is_fitted(self)
        if self.softmax_ is not None:
            return self.softmax_.predict_log_proba(X)
        F = self._features(self._table(X, reset=False))
        return log_softmax(np.dot(F, self.coef_), axis=1)

    def describe(self) -> Description:
        """The weight of each feature function, the largest first."""
        check_is_fitted(self)
        if self.softmax_ is not None:
            return self.softmax_.describe()
        return describe_coefficients(
            f"{type(self).__name__}: {count(len(self.coef_), 'feature')} of x and y",
            self._feature_names(),
            self.coef_[None],
            [],
            ["weight"],
            self.n_iter_,
        )

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
        objective = MaxEntropyObjective(len(self.classes_), L2(0.0), blocks, executor)
        return objective.feature_totals(self.coef_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.features is None
        return tags

    def _fit_indicators(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Softmax regression never builds F."""
        model = SoftmaxRegression(
            l2=self.l2,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            executor=self.executor,
        )
        rows = open_classes(model, X, required(y, self), sample_weight)
        refuse_one_class(rows.classes, self)
        model.fit_opened(rows)
        self.softmax_, self.classes_, self.solution_ = model, model.classes_, model.solution_
        self.coef_ = model.solution_.theta
        self.n_features_in_ = model.n_features_in_
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def _solve(self, F: Array, codes: Array, weight: Array | None) -> Weights:
        n_weights, n_classes, passes = F.shape[2], len(self.classes_), list[float]()
        penalty = L2(np.broadcast_to(np.asarray(self.l2, dtype=float), (n_weights,)))
        rows = ArrayBlocks(Dense(F.reshape(len(F), -1)), codes, weight)
        counted, framing = CountedBlocks(rows, passes), Framing(n_weights, False, None)

        def on(blocks: Blocks, share: float, executor: Executor) -> MaxEntropyObjective:
            return MaxEntropyObjective(n_classes, penalty.scaled(share), blocks, executor)

        data = Framed(counted, counted, 1.0, framing, passes, rows)
        even = np.full(n_classes, float(len(F) if weight is None else weight.sum()) / n_classes)
        problem = Problem(on, penalty, data, executor_for(self.executor, rows.nbytes))
        problem = problem.measured(NullTotals.of_counts(even, len(F)))
        found = solve(
            problem,
            np.zeros(n_weights),
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        if found.held:
            warn_user(
                f"MaxEntropy: feature {found.held[0]} can be computed from those before it, or is "
                "the same for every label; its weight is held at 0. Drop it, or give a penalty "
                "(l2=1.0).",
                RedundantColumns,
            )
        warn_unless_converged(self, found.solution)
        solution = replace(found.solution, theta=found.theta, passes=sum(passes))
        return Weights(found.theta, solution)

    def _feature_names(self) -> list[str]:
        if self.features is None:  # an X of three axes
            return [f"f{j}" for j in range(len(self.coef_))]
        return [getattr(each, "__name__", f"f{j}") for j, each in enumerate(self.features)]

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
            return _three_axes(self, X, reset=reset)
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


def _three_axes(estimator: Any, X: Any, *, reset: bool) -> Array:
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
