"""Discriminant analysis: Gaussian classes with tied, full, diagonal or spherical covariance.

    p(x | k) = N(x; m_k, Σ_k)        tied:  log p(k | x) = xᵀΣ⁻¹m_k − ½ m_kᵀΣ⁻¹m_k + log π_k + const

With one covariance for all classes the posterior is that of a logistic regression, whose
weights and bias are ``coef_`` and ``intercept_``.  Covariances of classes may be shrunk:

    auto      Σ_k ← (1 − s_k) S_k + s_k μ I in units of the class's own standard deviations
    pooled    Σ_k ← (n_k S_k + ν S) / (n_k + ν),   S = Σ_k n_k S_k / n,   ν = d + 2

``auto`` is Ledoit and Wolf's rule.  ``pooled`` is the prior of Fraley and Raftery: ν rows of every
class are imagined with the covariance that the classes share, so that a rare class has the matrix
of a tied model, and a class with many rows its own.

References
----------
Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, 2nd ed., §4.3.
Friedman (1989), Regularized discriminant analysis, JASA 84.
Fraley & Raftery (2007), Bayesian regularization for normal mixture estimation, J. of Classif. 24.
"""

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self, final

import numpy as np
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.calibrate.evidence import calibrate_evidence, completed_fold_totals
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks
from likely.data.layouts.base import Design
from likely.data.schema import Schema
from likely.distributions import (
    DiagonalFamily,
    DiagonalGaussian,
    Dirichlet,
    FullFamily,
    FullGaussian,
    GaussianPrior,
)
from likely.distributions.full_moments import FullMoments
from likely.distributions.gaussian import DiagonalMoments
from likely.distributions.priors import class_prior, refuse_other_prior
from likely.distributions.responsibility import refuse_infinity
from likely.errors import InvalidInput, MissingCells, SingularCovariance, warn_user
from likely.explanations.explanation import Explanation, like_its_rows, log_odds_explanation
from likely.generative.base import CLASS_COMPONENTS, FittedClassifier, warn_if_constant
from likely.graphical.model.model_plates import ComponentParameters, gaussian_parameters
from likely.inputs.estimators import (
    ColumnNeeds,
    Estimator,
    check_search,
    feature_names,
    is_number,
    naming_columns,
    warn_unless_converged,
)
from likely.inputs.rows import EncodedRows, RowExtras, check_rows, encode_new_rows
from likely.inputs.soft_labels import hard_rows, soft_classes
from likely.inputs.targets import is_soft, refuse_one_class
from likely.names import lookup
from likely.numerics.additive import FieldwiseAdditive
from likely.objectives.components import (
    Components,
    ComponentsObjective,
    ComponentTotals,
    total,
)
from likely.objectives.cooled_evidence import CooledEvidence
from likely.solvers.em import EM
from likely.solvers.minimise import Solution, search
from likely.storage.declarations import Saved
from likely.storage.values import same_count

MORE_THAN_COLUMNS = 2  # imagined rows of the pooled prior, beyond the number of columns
COVARIANCES = ("tied", "full", "diagonal", "spherical")
SHRINKAGES = {"auto": ("tied", "full"), "pooled": ("full",)}  # and their covariances
VARIANCE_FLOOR = 1e-9  # × the column's own variance over all rows
MOST_WITH_MISSING = 60  # columns, of which EM completes missing cells


class ShrunkCovariance(NamedTuple):
    """The shrunk covariance and the shrinkage."""

    covariance: Array  # (d, d)
    shrinkage: float


def unit_scale(covariance: Array) -> Array:
    """The standard deviations, with 1 for constant columns; (d,)."""
    scale = np.sqrt(np.diag(covariance))
    return np.where(scale > 0, scale, 1.0)


def ledoit_wolf(covariance: Array, quartic: float, n: float) -> ShrunkCovariance:
    """Shrink Σ, given Σ_i ‖z_i‖⁴ of the centred rows in units of their standard deviation."""
    d = len(covariance)
    units = np.multiply.outer(unit_scale(covariance), unit_scale(covariance))
    S = covariance / units
    average = float(np.trace(S)) / d
    squares = float(np.sum(S**2))
    delta = (squares - 2 * average * float(np.trace(S)) + d * average**2) / d
    beta = min((quartic / n - squares) / (d * n), delta)
    s = 0.0 if beta <= 0 else beta / delta
    return ShrunkCovariance(shrunk_by(covariance, s), s)


def shrunk_by(covariance: Array, shrinkage: float) -> Array:
    """Shrink Σ by a given share, in units of the standard deviations."""
    units = np.multiply.outer(unit_scale(covariance), unit_scale(covariance))
    S, d = covariance / units, len(covariance)
    average = float(np.trace(S)) / d
    return np.asarray(((1 - shrinkage) * S + shrinkage * average * np.eye(d)) * units)


@final
@dataclass(frozen=True, eq=False)
class FourthPowers(FieldwiseAdditive):
    sums: Array  # Q, (n_components,)


def block_fourth_powers(mean: Array, scale: Array, block: Block) -> FourthPowers:
    X, codes = np.asarray(block.X.stored(), dtype=float), block.y
    assert codes is not None  # discriminants always have labels
    z = (X - mean[codes]) / scale[codes]
    fourth = np.einsum("ij,ij->i", z, z) ** 2
    weight = fourth if block.weight is None else fourth * block.weight
    return FourthPowers(np.bincount(codes, weight, len(mean)))


def fourth_powers(mean: Array, scale: Array, blocks: Blocks, executor: Executor) -> Array:
    """One pass over labelled data, (n_components,)."""
    return executor.sum(partial(block_fourth_powers, mean, scale), blocks).sums


def ledoit_wolf_shrinkages(
    statistics: FullMoments, blocks: Blocks, executor: Executor, *, tied: bool
) -> Array:
    """Ledoit and Wolf's shrinkage of each class, (n_classes,), by one more pass over the rows."""
    empirical = FullFamily(rounded=not tied).from_statistics(statistics).covariance
    scale = np.stack([unit_scale(covariance) for covariance in empirical])
    quartic = fourth_powers(statistics.mean, scale, blocks, executor)
    varying = empirical[(slice(None), *_varying(empirical))]
    each = zip(varying, quartic, statistics.weight[:, 0], strict=True)
    return np.array([ledoit_wolf(*one).shrinkage for one in each])


def shrunk_alone(statistics: FullMoments, shrinkage: Array, *, tied: bool) -> FullGaussian:
    """Each class shrunk towards its own variances; pooled by class shares when tied."""
    empirical = FullFamily(rounded=not tied).from_statistics(statistics)
    covariance, block = np.zeros(empirical.covariance.shape), _varying(empirical.covariance)
    for k, share in enumerate(shrinkage):
        covariance[k][block] = shrunk_by(empirical.covariance[k][block], share)
    if tied:
        covariance = np.average(covariance, axis=0, weights=statistics.weight[:, 0])[None]
    return FullGaussian(empirical.mean, covariance)


def _varying(covariance: Array) -> tuple[Array, Array]:
    """The rows and columns of the features that are not constant in all classes."""
    varies = np.einsum("kjj->j", covariance) > 0
    return np.ix_(varies, varies)


def pooled_shrinkages(count: Array, n_features: int) -> Array:
    """ν / (n_k + ν), (n_classes,)."""
    n_prior = n_features + MORE_THAN_COLUMNS
    return n_prior / (count + n_prior)


def shrunk_to_pooled(statistics: FullMoments, *, ddof: int) -> FullGaussian:
    """Each class shrunk towards the covariance that all classes share."""
    own = FullFamily(ddof=ddof, rounded=True).from_statistics(statistics)
    count = statistics.weight[:, 0]
    share = pooled_shrinkages(count, own.mean.shape[1])[:, None, None]
    pooled = np.average(own.covariance, axis=0, weights=count)
    covariance = (1 - share) * own.covariance + share * pooled
    return FullGaussian(own.mean, (covariance + np.swapaxes(covariance, 1, 2)) / 2)


def _has_common_axes(model: "CanonicalAxes") -> bool:
    if model.covariance == "tied":
        return True
    raise AttributeError(
        f"covariance is {model.covariance!r}; only the classes of a tied model have common axes. "
        "Set covariance='tied'."
    )


class CanonicalAxes(ABC):
    """The axes on which the classes of a tied model differ most.

    Apart from the estimator: scikit-learn wraps a ``transform`` of its own class body, and the
    wrapper is there for every covariance.
    """

    covariance: str
    classes_: Array
    components_: Components

    @abstractmethod
    def _encode(self, X: Any) -> Design:
        """New rows, checked, as the families read them."""

    @available_if(_has_common_axes)
    @naming_columns
    def transform(self, X: Any) -> Array:
        """Rows on the canonical axes of a tied model, (n, at most n_classes − 1).

            (x − m̄) A,   AᵀΣA = I        m̄ = Σ_k π_k m_k

        Classes have unit covariance there; their means spread most along the first axis, and the
        other directions say nothing about the class.  Missing cells have their expectation.
        """
        scalings, _ = self._canonical()
        member: Any = self.components_.distribution
        rows = np.asarray(self._encode(X).stored(), dtype=float)
        refuse_infinity(rows)
        if np.isnan(rows).any():
            rows = member.expected_rows(rows, self.components_.log_mixing)
        return np.dot(rows - np.dot(np.exp(self.components_.log_mixing), member.mean), scalings)

    @property
    def scalings_(self) -> Array:
        """A of ``transform``, (n_features, n_axes)."""
        return self._canonical()[0]

    @property
    def explained_variance_ratio_(self) -> Array:
        """The share of each axis of ``transform`` in the spread of the means, (n_axes,)."""
        return self._canonical()[1]

    @property
    def _n_features_out(self) -> int:
        return int(self.scalings_.shape[1])

    def _canonical(self) -> tuple[Array, Array]:
        """A and the shares of its axes: the singular vectors of the whitened means."""
        check_is_fitted(self)
        _has_common_axes(self)
        member: Any = self.components_.distribution
        W, share = member.factors[0].root, np.exp(self.components_.log_mixing)
        apart = np.sqrt(share)[:, None] * (member.mean - np.dot(share, member.mean))
        _, spread, axes = np.linalg.svd(np.dot(apart, W), full_matrices=False)
        kept = min(len(self.classes_) - 1, len(axes))
        scalings = np.dot(W, axes[:kept].T)
        largest = np.abs(scalings).argmax(axis=0)
        sign = np.where(scalings[largest, np.arange(kept)] < 0, -1.0, 1.0)
        return scalings * sign, spread[:kept] ** 2 / np.sum(spread**2)


class DiscriminantAnalysis(
    FittedClassifier,
    CanonicalAxes,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    Estimator,
):
    """Linear and quadratic discriminant analysis.

    Parameters
    ----------
    covariance : {"tied", "full", "diagonal", "spherical"}, default="tied"
        ``tied``: one matrix for all classes; ``full``: one per class; ``diagonal``: variances of
        each class; ``spherical``: one variance per class.
    shrinkage : float in [0, 1], "auto" or "pooled", default=0.0
        How far covariances are shrunk towards a multiple of the identity; ``"auto"`` is Ledoit and
        Wolf's estimate, for tied and full covariances.  ``"pooled"`` shrinks full covariances
        towards that of a tied model, by d + 2 imagined rows: those of rare classes most.
    calibrate : "temperature", default=None
        ``temperature`` divides the evidence log p(x | k), but not the class prior, by one number
        chosen on out-of-fold predictions: columns that are not Gaussian make it too strong.
        Evidence against a class of n rows ends near log n nats.
    prior : "estimate", "uniform", Dirichlet or array of shape (n_classes,), default="estimate"
        Class probabilities: estimated from the labels (a ``likely.distributions.Dirichlet`` is
        their prior), equal (``"uniform"``), or given.
    gaussian_prior : GaussianPrior, default=None
        Pseudo-rows with the mean and the variance of the columns in every class.
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
        The logistic posterior of a tied model, before calibration.
    shrinkage_ : array of shape (n_classes,)
        The shrinkage that was used.
    temperature_ : float
        What log p(x | k) is divided by; 1 without calibration.
    outlier_share_ : array of shape (n_classes,) or None
        With calibration, the share of rows of a class that look like those of another: it bounds
        the evidence against the class.
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

    saved: ClassVar = CLASS_COMPONENTS | Saved(sometimes={"shrinkage_": Array})

    schema_: Any
    library_: Any
    temperature_: float
    outlier_share_: Array | None

    def __init__(
        self,
        covariance: str = "tied",
        *,
        shrinkage: float | str = 0.0,
        calibrate: str | None = None,
        prior: str | Dirichlet | Array = "estimate",
        gaussian_prior: GaussianPrior | None = None,
        ddof: int = 0,
        tol: float = 1e-8,
        max_iter: int = 1000,
        executor: str | Executor = "auto",
        random_state: Any = None,
    ) -> None:
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.calibrate = calibrate
        self.prior = prior
        self.gaussian_prior = gaussian_prior
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
            X, y, sample_weight = hard_rows(X, y, sample_weight, calibrate=self.calibrate)
        extras = RowExtras(sample_weight)
        data = check_rows(self, X, y, extras, target="class", sparse=False).as_numbers()
        refuse_one_class(data.classes, self)
        self.classes_, self.schema_, self.library_ = data.classes, data.coding, data.library
        if soft is not None:
            self.classes_ = soft[self.classes_]
        self.solution_ = None
        try:
            here = total(self._family(0.0), len(self.classes_), data.blocks, data.executor)
        except MissingCells:
            here = self._completed(data)
        self.class_count_ = here.count
        self._refuse_points(here.statistics)
        self.shrinkage_ = self._shrinkages(here, data)
        self.family_ = self._final_family()
        self.components_ = self._components(here)
        if isinstance(self.distribution_, DiagonalGaussian):
            self._warn_if_narrow(here.statistics)
        self._warn_if_singular(here.statistics)
        warn_if_constant(self)
        self.temperature_, self.outlier_share_ = 1.0, None
        if self.calibrate is not None:
            self._cool(data, here)
        return self

    def column_needs(self) -> ColumnNeeds:
        """Scaled numbers: shrinkage compares variances, and a search may set it.

        A step of EM may factorise d × d covariances for each pattern of missing cells.
        """
        most = MOST_WITH_MISSING if self.covariance in ("tied", "full") else None
        return ColumnNeeds(scale=True, categories=False, most_with_missing=most)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = not isinstance(self.shrinkage, str)
        return tags

    def decision_function(self, X: Any) -> Array:
        """Log-odds of the second class for two classes, else log-probabilities of each."""
        log_proba = self.predict_log_proba(X)
        return log_proba[:, 1] - log_proba[:, 0] if len(self.classes_) == 2 else log_proba

    @like_its_rows
    def explain(self, X: Any, against: Any = None) -> Explanation:
        """What each column adds to the log-odds of every class against one (the first).

        For a tied model, relative to the mean of the classes; for full covariances, the evidence
        of a column given those before it.
        """
        X = np.asarray(self._encode(X).stored(), dtype=float)
        contributions, constant = self.distribution_.centred_contributions(X)
        if self._evidence.is_calibrated:  # the constant is evidence too
            beside = np.broadcast_to(constant, (len(X), 1, len(constant)))
            parts = np.concatenate([contributions, beside], axis=1)
            parts = self._evidence.contributions(parts, self.class_log_prior_)
            contributions, constant = parts[:, :-1], parts[:, -1]
        return log_odds_explanation(
            contributions,
            self.class_log_prior_ + constant,
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
        if self._evidence.is_calibrated:
            raise InvalidInput(
                f"calibrate is {self.calibrate!r}, and a calibrated posterior is not linear in x; "
                "a model without calibration was expected. Fit one with calibrate=None."
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

    def _check_arguments(self) -> None:
        lookup("covariance", self.covariance, dict.fromkeys(COVARIANCES, ""))
        if isinstance(self.shrinkage, str):
            lookup("shrinkage", self.shrinkage, dict.fromkeys(SHRINKAGES, ""))
            suited = SHRINKAGES[self.shrinkage]
            if self.covariance not in suited:
                raise InvalidInput(
                    f"shrinkage={self.shrinkage!r} is for {' and '.join(suited)} covariances, not "
                    f"{self.covariance!r}. Give a number between 0 and 1."
                )
        elif not is_number(self.shrinkage) or not 0 <= self.shrinkage <= 1:
            raise InvalidInput(
                f"shrinkage must lie between 0 and 1; found {self.shrinkage!r}. "
                "0 means no shrinkage, 'auto' estimates it."
            )
        refuse_other_prior(self.gaussian_prior)
        if self.gaussian_prior is not None and isinstance(self.shrinkage, str):
            raise InvalidInput(
                f"shrinkage={self.shrinkage!r} is a prior of the covariances, and gaussian_prior "
                "is another; one was expected. Give shrinkage a number, or no gaussian_prior."
            )
        if not is_number(self.ddof) or self.ddof not in (0, 1):
            raise InvalidInput(
                f"ddof must be 0 or 1; found {self.ddof!r}. 0 divides by n, 1 by n − 1."
            )
        if self.calibrate is not None:
            lookup("calibration", self.calibrate, {"temperature": ""})
        check_search(self.tol, self.max_iter)

    def _family(self, shrinkage: float) -> DiagonalFamily | FullFamily:
        if self.covariance in ("tied", "full"):
            # automatic shrinkage is estimated class by class, and pooled afterwards
            shared = self.covariance == "tied"
            tied = shared and self.shrinkage != "auto"
            return FullFamily(tied=tied, ddof=self.ddof, shrinkage=shrinkage, rounded=not shared)
        spherical = self.covariance == "spherical"
        return DiagonalFamily(spherical, self.ddof, VARIANCE_FLOOR, shrinkage)

    def _final_family(self) -> DiagonalFamily | FullFamily:
        if isinstance(self.shrinkage, str):
            return FullFamily(tied=self.covariance == "tied", ddof=self.ddof)
        return self._family(float(self.shrinkage))

    def _shrinkages(self, totals: ComponentTotals, data: EncodedRows[Schema]) -> Array:
        """The shrinkage of each class, (n_classes,)."""
        if self.shrinkage == "auto":
            tied = self.covariance == "tied"
            return ledoit_wolf_shrinkages(totals.statistics, data.blocks, data.executor, tied=tied)
        if self.shrinkage == "pooled":
            return pooled_shrinkages(totals.count, self.n_features_in_)
        return np.full(len(self.classes_), float(self.shrinkage))

    def _components(self, totals: ComponentTotals) -> Components:
        """The classes from completed totals, shrunk; a class without rows has probability 0."""
        return Components(class_prior(self.prior, totals.count), self._member(totals.statistics))

    def _member(self, statistics: Any) -> Any:
        """The class-conditionals from completed totals, shrunk."""
        if self.gaussian_prior is not None:
            statistics = statistics + self._imagined(statistics)
        if self.shrinkage == "auto":
            return shrunk_alone(statistics, self.shrinkage_, tied=self.covariance == "tied")
        if self.shrinkage == "pooled":
            return shrunk_to_pooled(statistics, ddof=self.ddof)
        return self.family_.from_statistics(statistics)

    def _imagined(self, statistics: Any) -> Any:
        """The pseudo-rows of the prior of the classes, with the scale of all rows."""
        family = replace(self._family(0.0), prior=self.gaussian_prior)
        return statistics.prior_statistics(family, 0.0, statistics.mean.shape)

    def _cool(self, data: EncodedRows[Schema], totals: ComponentTotals) -> None:
        """Choose the temperature; cells that are missing have the expectations of the fit."""
        family, fold_totals = self._family(0.0), None
        if self.solution_ is not None:
            member = family.from_statistics(totals.statistics)
            model = Components(self.components_.log_mixing, member)
            fold_totals = partial(completed_fold_totals, family, model)
        found = calibrate_evidence(
            family,
            len(self.classes_),
            data.blocks,
            data.executor,
            self._components,
            fold_totals=fold_totals,
        )
        self.temperature_, self.outlier_share_ = found.temperature, found.outlier_share

    def _completed(self, data: EncodedRows[Schema]) -> ComponentTotals:
        """Expected moments where cells are missing, by EM from the observed variances."""
        if isinstance(self.shrinkage, str):
            raise InvalidInput(
                f"X has missing cells (NaN), which shrinkage={self.shrinkage!r} cannot use. "
                "Give shrinkage a number, or remove the rows."
            )
        family = self._family(0.0)
        columns = DiagonalFamily(floor=VARIANCE_FLOOR)
        observed = total(columns, len(self.classes_), data.blocks, data.executor)
        log_prior = class_prior(self.prior, observed.count)
        first = DiagonalFamily().from_statistics(observed.statistics)
        start = Components(log_prior, FullGaussian(first.mean, first.covariance))
        values = observed.statistics.values
        none = replace(self._imagined(observed.statistics), values=values)
        objective = ComponentsObjective(family, data.blocks, data.executor, none, log_prior)
        solution, state = search(EM(), objective, start, tol=self.tol, max_iter=self.max_iter)
        warn_unless_converged(type(self).__name__, solution)
        self.solution_ = solution
        return ComponentTotals(state.totals.count, replace(state.totals.statistics, values=values))

    def _warn_if_narrow(self, statistics: DiagonalMoments) -> None:
        """Warn of a class without variance in a column whose values have no unit either."""
        lowest = VARIANCE_FLOOR * statistics.pooled_variance()
        narrow = (self.distribution_.variance <= lowest) & (lowest > 0)
        if narrow.any() and not self.distribution_.spherical:
            k, j = np.argwhere(narrow)[0]
            warn_user(
                f"Class {self.classes_.tolist()[k]!r} has no variance in column "
                f"{feature_names(self)[j]!r} ({np.count_nonzero(narrow)} such cases), so this "
                f"column alone would decide; {VARIANCE_FLOOR:g} of the column's variance is used. "
                "Drop the column, set shrinkage above 0, or use covariance='tied'.",
                SingularCovariance,
            )

    def _refuse_points(self, statistics: Any) -> None:
        """Refuse a class that is a single point, or classes that all are: without a covariance."""
        if self.gaussian_prior is not None and self.gaussian_prior.variance > 0:
            return
        columns = statistics.without_covariances()
        point = ~(columns.own_variance() > 0).any(axis=1)
        if point.all() and (columns.pooled_variance() > 0).any():
            raise InvalidInput(
                "All rows of each class are equal (or each has only 1 row), so there is no "
                "covariance within the classes. Give the classes more rows, or use "
                "gaussian_prior=GaussianPrior(variance=1.0)."
            )
        if self.covariance == "tied" or self.shrinkage == "pooled":
            return
        if point.any():
            label = self.classes_.tolist()[int(np.argmax(point))]
            raise InvalidInput(
                f"All rows of class {label!r} are equal (or it has only 1 row), so it has no "
                "covariance of its own. Use covariance='tied' or shrinkage='pooled', or give the "
                "class more rows."
            )

    def _warn_if_singular(self, statistics: Any) -> None:
        """Warn of a covariance whose rows alone do not make it invertible."""
        if not isinstance(self.distribution_, FullGaussian):
            return
        own = self.distribution_
        if not own.singular and self.covariance == "full" and not self.shrinkage:
            if self.gaussian_prior is not None:
                statistics = statistics + self._imagined(statistics)
            own = replace(self.family_, rounded=False).from_statistics(statistics)
        if not own.singular:
            return
        rank = min(factor.rank for factor in own.factors)
        remedy = (
            "it has no inverse, and its pseudo-inverse is used"
            if self.distribution_.singular
            else "in some direction the variance of rounding to the units of the columns is used"
        )
        warn_user(
            f"A covariance has rank {rank} for {np.count_nonzero(~own.left_out())} features that "
            f"vary, so {remedy}: columns are constant in a class, repeat one another, or outnumber "
            "the rows. Drop them, or set shrinkage='auto'.",
            SingularCovariance,
        )

    @property
    def _evidence(self) -> CooledEvidence:
        return CooledEvidence(float(self.temperature_), self.outlier_share_)

    def _linear_weights(self) -> Array | None:
        return self.coef_ if self.covariance == "tied" else None

    def _plate_parameters(self) -> ComponentParameters:
        return gaussian_parameters(self.covariance)

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

    def check_saved(self) -> None:
        """One covariance matrix if it is tied, one for each class if it is full; else variances."""
        n_matrices = {"tied": 1, "full": len(self.classes_)}.get(self.covariance)
        full, member = isinstance(self.family_, FullFamily), self.components_.distribution
        same_count("The matrices of the covariance", full, n_matrices is not None)
        if isinstance(member, FullGaussian) and n_matrices is not None:
            same_count("The covariances", np.shape(member.covariance)[:1], (n_matrices,))
