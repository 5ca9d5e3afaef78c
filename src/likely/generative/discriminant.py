"""Discriminant analysis: Gaussian classes with tied, full, diagonal or spherical covariance.

    p(x | k) = N(x; m_k, Σ_k)        tied:  log p(k | x) = xᵀΣ⁻¹m_k − ½ m_kᵀΣ⁻¹m_k + log π_k + const

With one covariance for all classes the posterior is that of a logistic regression, whose
weights and bias are ``coef_`` and ``intercept_``.

References
----------
Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, 2nd ed., §4.3.
"""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.layouts.intercept import Design
from likely.data.schema import Schema
from likely.distributions import (
    DiagonalFamily,
    DiagonalGaussian,
    Dirichlet,
    FullFamily,
    FullGaussian,
)
from likely.distributions.full_moments import FullMoments
from likely.distributions.gaussian import DiagonalMoments
from likely.errors import InvalidInput, MissingCells, SingularCovariance, warn_user
from likely.explanations.explanation import Explanation, log_odds_explanation
from likely.generative.priors import class_prior
from likely.generative.surface import FittedClassifier, check_search
from likely.graphical.model_plates import ComponentParameters, gaussian_parameters
from likely.inputs.estimators import (
    ColumnNeeds,
    feature_names,
    is_number,
    naming_columns,
    warn_unless_converged,
)
from likely.inputs.labels import refuse_one_class
from likely.inputs.rows import EncodedRows, RowExtras, check_rows, encode_new_rows
from likely.inputs.soft_labels import hard_rows, is_soft, soft_classes
from likely.names import lookup
from likely.objectives.components import (
    Components,
    ComponentsObjective,
    ComponentTotals,
    total,
)
from likely.objectives.shrinkage import fourth_powers, ledoit_wolf, unit_scale
from likely.solvers.em import EM
from likely.solvers.minimise import Solution, search

VARIANCE_FLOOR = 1e-9  # × the column's own variance over all rows
COVARIANCES = ("tied", "full", "diagonal", "spherical")
MOST_WITH_MISSING = 60  # columns, of which EM completes missing cells


class DiscriminantAnalysis(FittedClassifier, ClassifierMixin, BaseEstimator):
    """Linear and quadratic discriminant analysis.

    Parameters
    ----------
    covariance : {"tied", "full", "diagonal", "spherical"}, default="tied"
        ``tied``: one matrix for all classes; ``full``: one per class; ``diagonal``: variances of
        each class; ``spherical``: one variance per class.
    shrinkage : float in [0, 1] or "auto", default=0.0
        How far covariances are shrunk towards a multiple of the identity; ``"auto"`` is Ledoit and
        Wolf's estimate, for tied and full covariances.
    prior : "estimate", "uniform", Dirichlet or array of shape (n_classes,), default="estimate"
        Class probabilities: estimated from the labels (a ``likely.distributions.Dirichlet`` is
        their prior), equal, or given.
    ddof : {0, 1}, default=0
        Divisor of the covariance: 0 is n (maximum likelihood), 1 is n − 1 (tied: n − n_classes).
    tol : float, default=1e-8
        EM, which tied and full models use when cells are missing, stops when at most ``tol`` nats
        per row are left to gain.
    max_iter : int, default=1000
        Maximum number of EM iterations.
    executor : str or Executor, default="auto"
        How sums over blocks of rows are computed: ``serial``, ``threads`` or ``auto``.
    random_state : int, RandomState or Generator, default=None
        Seed for ``sample``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    means_ : array of shape (n_classes, n_features)
    covariances_ : array
        (n_features, n_features) tied; (n_classes, n_features, n_features) full;
        (n_classes, n_features) diagonal; (n_classes,) spherical.
    coef_, intercept_ : arrays of shape (1 or n_classes, n_features) and (1 or n_classes,)
        The logistic posterior of a tied model.
    shrinkage_ : array of shape (n_classes,)
        The shrinkage that was used.
    solution_ : Solution or None
        How EM ended, when cells were missing.

    Examples
    --------
    >>> from likely import DiscriminantAnalysis
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> round(DiscriminantAnalysis().fit(X, y).score(X, y), 3)
    0.98
    """

    def __init__(
        self,
        covariance: str = "tied",
        *,
        shrinkage: float | str = 0.0,
        prior: str | Dirichlet | Array = "estimate",
        ddof: int = 0,
        tol: float = 1e-8,
        max_iter: int = 1000,
        executor: str | Executor = "auto",
        random_state: Any = None,
    ) -> None:
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.prior = prior
        self.ddof = ddof
        self.tol = tol
        self.max_iter = max_iter
        self.executor = executor
        self.random_state = random_state

    @naming_columns
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows X with labels y; with X a file, y names its column (see ``likely.read``).

        y of shape (n, n_classes) holds one-hot or soft labels: rows of probabilities, of the
        classes that name the columns of a frame, or 0, 1, ….
        """
        self._check_arguments()
        soft = soft_classes(y) if is_soft(y) else None
        if soft is not None:
            X, y, sample_weight = hard_rows(X, y, sample_weight)
        extras = RowExtras(sample_weight)
        data = check_rows(self, X, y, extras, target="class", sparse=False).as_numbers()
        refuse_one_class(data.classes, self)
        self.classes_, self.schema_, self.library_ = data.classes, data.coding, data.library
        if soft is not None:
            self.classes_ = soft[self.classes_]
        self.solution_ = None
        self.shrinkage_ = np.zeros(len(self.classes_))
        try:
            here = total(self._family(0.0), len(self.classes_), data.blocks, data.executor)
        except MissingCells:
            here = self._completed(data)
        self.class_count_, statistics = here.count, here.statistics
        log_prior = class_prior(self.prior, here.count)
        self._refuse_points(statistics)
        self.components_ = Components(log_prior, self._member(statistics, data))
        self._warn_if_singular()
        return self

    def decision_function(self, X: Any) -> Array:
        """Log-odds of the second class for two classes, else log-probabilities of each."""
        log_proba = self.predict_log_proba(X)
        return log_proba[:, 1] - log_proba[:, 0] if len(self.classes_) == 2 else log_proba

    def explain(self, X: Any, against: Any = None) -> Explanation:
        """What each column adds to the log-odds of every class against one (the first).

        For a tied model, relative to the mean of the classes; for full covariances, the evidence
        of a column given those before it.
        """
        X = np.asarray(self._encode(X).stored(), dtype=float)
        contributions, prior = self.distribution_.centred_contributions(X)
        return log_odds_explanation(
            contributions,
            self.class_log_prior_ + prior,
            self.classes_,
            against,
            feature_names(self),
        )

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Any, Array]:
        """Draw labelled rows."""
        X, component = self._draw(n_samples, random_state)
        return X, self.classes_[component]

    def export_to(self, estimator: Any) -> Any:
        """The posterior of a tied model as a ``LogisticRegression`` or ``SoftmaxRegression``.

        A clone of ``estimator`` is returned with the columns and classes of this model, ``coef_``
        and ``intercept_``: its probabilities are those of this model.  It has no standard errors.
        """
        check_is_fitted(self)
        if self.covariance != "tied":
            raise InvalidInput(
                f"covariance is {self.covariance!r}, and its posterior is not linear in x; a tied "
                "model was expected. Fit one with covariance='tied', or use predict_proba."
            )
        coef, intercept = self._linear_form()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a fit that only takes the columns and classes
            linear = clone(estimator).fit(self._decode(self.means_), self.classes_)
        reason = f"the posterior of a {type(self).__name__}, in closed form"
        theta = np.concatenate([coef.ravel(), intercept])
        linear.coef_, linear.intercept_, linear.inference_ = coef, intercept, None
        linear.solution_ = Solution(theta, True, reason, (0.0,), 0.0)
        return linear

    @property
    def means_(self) -> Array:
        return self.distribution_.mean

    @property
    def covariances_(self) -> Array:
        if self.covariance in ("tied", "full"):
            matrices: Array = self.distribution_.covariance
            return matrices[0] if self.covariance == "tied" else matrices
        variance: Array = self.distribution_.variance
        return variance[:, 0] if self.covariance == "spherical" else variance

    @property
    def coef_(self) -> Array:
        return self._linear_form()[0]

    @property
    def intercept_(self) -> Array:
        return self._linear_form()[1]

    def _linear_weights(self) -> Array | None:
        return self.coef_ if self.covariance == "tied" else None

    def column_needs(self) -> ColumnNeeds:
        """Scaled numbers: shrinkage compares variances, and a search may set it.

        A step of EM may factorise d × d covariances for each pattern of missing cells.
        """
        most = MOST_WITH_MISSING if self.covariance in ("tied", "full") else None
        return ColumnNeeds(scale=True, categories=False, most_with_missing=most)

    def _plate_parameters(self) -> ComponentParameters:
        return gaussian_parameters(self.covariance)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.shrinkage != "auto"
        return tags

    def _check_arguments(self) -> None:
        lookup("covariance", self.covariance, dict.fromkeys(COVARIANCES, ""))
        if isinstance(self.shrinkage, str):
            lookup("shrinkage", self.shrinkage, {"auto": ""})
            if self.covariance not in ("tied", "full"):
                raise InvalidInput(
                    f"shrinkage='auto' is for tied and full covariances, not {self.covariance!r}. "
                    "Give a number between 0 and 1."
                )
        elif not is_number(self.shrinkage) or not 0 <= self.shrinkage <= 1:
            raise InvalidInput(
                f"shrinkage must lie between 0 and 1; found {self.shrinkage!r}. "
                "0 means no shrinkage, 'auto' estimates it."
            )
        if not is_number(self.ddof) or self.ddof not in (0, 1):
            raise InvalidInput(
                f"ddof must be 0 or 1; found {self.ddof!r}. 0 divides by n, 1 by n − 1."
            )
        check_search(self.tol, self.max_iter)

    def _family(self, shrinkage: float) -> DiagonalFamily | FullFamily:
        if self.covariance in ("tied", "full"):
            # automatic shrinkage is estimated class by class, and pooled afterwards
            tied = self.covariance == "tied" and self.shrinkage != "auto"
            return FullFamily(tied=tied, ddof=self.ddof, shrinkage=shrinkage)
        spherical = self.covariance == "spherical"
        return DiagonalFamily(spherical=spherical, ddof=self.ddof, shrinkage=shrinkage)

    def _member(self, statistics: Any, data: EncodedRows[Schema]) -> Any:
        """The class-conditionals from completed totals, shrunk."""
        if self.shrinkage == "auto":
            self.family_: Any = FullFamily(tied=self.covariance == "tied", ddof=self.ddof)
            return self._shrunk(statistics, data)
        self.family_ = self._family(float(self.shrinkage))
        self.shrinkage_ = np.full(len(self.classes_), float(self.shrinkage))
        member = self.family_.from_statistics(statistics)
        return self._floored(member, statistics) if isinstance(member, DiagonalGaussian) else member

    def _shrunk(self, statistics: FullMoments, data: EncodedRows[Schema]) -> FullGaussian:
        """Ledoit and Wolf's estimate for each class, pooled by class shares when tied."""
        empirical = FullFamily().from_statistics(statistics).covariance
        scale = np.stack([unit_scale(covariance) for covariance in empirical])
        quartic = fourth_powers(statistics.mean, scale, data.blocks, data.executor)
        count = statistics.weight[:, 0]
        shrunk = [ledoit_wolf(*each) for each in zip(empirical, quartic, count, strict=True)]
        self.shrinkage_ = np.array([each.shrinkage for each in shrunk])
        covariance = np.stack([each.covariance for each in shrunk])
        if self.covariance == "tied":
            covariance = np.average(covariance, axis=0, weights=count)[None]
        return FullGaussian(statistics.mean, covariance)

    def _completed(self, data: EncodedRows[Schema]) -> ComponentTotals:
        """Expected moments where cells are missing, by EM from the observed variances."""
        if self.shrinkage == "auto":
            raise InvalidInput(
                "X has missing cells (NaN), which shrinkage='auto' cannot use. "
                "Give shrinkage a number, or remove the rows."
            )
        family = self._family(0.0)
        observed = total(DiagonalFamily(), len(self.classes_), data.blocks, data.executor)
        log_prior = class_prior(self.prior, observed.count)
        first = DiagonalFamily().from_statistics(observed.statistics)
        start = Components(log_prior, FullGaussian(first.mean, first.covariance))
        none = family.pseudo_statistics(0.0, first.mean.shape)
        objective = ComponentsObjective(family, data.blocks, data.executor, none, log_prior)
        solution, state = search(EM(), objective, start, tol=self.tol, max_iter=self.max_iter)
        warn_unless_converged(self, solution)
        self.solution_ = solution
        completed: ComponentTotals = state.totals
        return completed

    def _floored(self, member: DiagonalGaussian, statistics: DiagonalMoments) -> DiagonalGaussian:
        """Variances with a floor relative to that of the column, and a warning where it applies.

        A column that is constant in all rows gets variance 1 in every class: no evidence.
        """
        pooled = statistics.pooled_variance()
        constant = pooled == 0
        lowest = np.broadcast_to(VARIANCE_FLOOR * pooled, member.variance.shape)
        if member.spherical:
            lowest = np.broadcast_to(lowest.mean(), member.variance.shape)
            constant = np.broadcast_to(constant.all(), constant.shape)
        narrow = (member.variance < lowest) & ~constant
        if narrow.any():
            k, j = np.argwhere(narrow)[0]
            warn_user(
                f"Class {self.classes_.tolist()[k]!r} has no variance in column "
                f"{feature_names(self)[j]!r} ({np.count_nonzero(narrow)} such cases), so this "
                f"column alone would decide; {VARIANCE_FLOOR:g} of the column's variance is used. "
                "Drop the column, set shrinkage above 0, or use covariance='tied'.",
                SingularCovariance,
            )
        variance = np.where(constant, 1.0, np.maximum(member.variance, lowest))
        return DiagonalGaussian(member.mean, variance, member.spherical)

    def _refuse_points(self, statistics: Any) -> None:
        """Refuse a class that is a single point: it has no covariance."""
        if self.covariance == "tied":
            return
        point = ~(statistics.without_covariances().own_variance() > 0).any(axis=1)
        if point.any():
            label = self.classes_.tolist()[int(np.argmax(point))]
            raise InvalidInput(
                f"All rows of class {label!r} are equal (or it has only 1 row), so it has no "
                "covariance of its own. Use covariance='tied', or give the class more rows."
            )

    def _warn_if_singular(self) -> None:
        if isinstance(self.distribution_, FullGaussian) and self.distribution_.singular:
            rank = min(factor.rank for factor in self.distribution_.factors)
            warn_user(
                f"A covariance has rank {rank} for {self.n_features_in_} features, so it has no "
                "inverse, and its pseudo-inverse is used: columns are constant, repeat one "
                "another, or outnumber the rows. Drop them, or set shrinkage='auto'.",
                SingularCovariance,
            )

    def _encode(self, X: Any) -> Design:
        check_is_fitted(self)
        return encode_new_rows(self, self.schema_, X, sparse=False).design

    def _decode(self, drawn: Any) -> Any:
        return self.schema_.decode(drawn, np.empty((len(drawn), 0), np.int32), self.library_)

    def _linear_form(self) -> tuple[Array, Array]:
        check_is_fitted(self)
        try:
            form = self.distribution_.linear_form()
        except InvalidInput as error:
            raise AttributeError(str(error)) from error
        if form.terms != "x":
            raise AttributeError(
                f"covariance is {self.covariance!r}; coef_ and intercept_ are of a tied model, "
                "the only one that is linear in x. Set covariance='tied'."
            )
        coef, intercept = form.coef, form.intercept + self.class_log_prior_
        if len(self.classes_) == 2:
            return coef[[1]] - coef[[0]], intercept[[1]] - intercept[[0]]
        return coef, intercept
