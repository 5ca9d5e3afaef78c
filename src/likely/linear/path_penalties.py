"""A sequence of penalties: which penalty varies, where it begins, and which one is chosen.

    along l1      l1 = λf            first: the smallest λ at which every penalised coefficient is 0
    along both    (λf, λg)           the same; f and g are the model's own l1 and l2
    along l2      l2 = λf            first: 100 × the mean of H_jj/f_j

At the null model, where the penalised coefficients are 0 and the others are fitted, with gradients
g_j = ∂nll/∂β_j and curvatures H_jj of the centred columns,

    every β_j stays 0   ⇔   λ ≥ max_j |g_j| / f_j
    degrees of freedom  =   tr H(H + λF)⁻¹  ≤  tr(HF⁻¹)/λ  =  1 % of the columns

One is chosen by the mean held-out deviance over folds, D_lf of fold f at penalty l, W_f its weight:

    mean_l = Σ_f W_f D_lf / Σ_f W_f        se_l² = Σ_f W_f (D_lf − mean_l)² / (Σ_f W_f (F − 1))

The one-standard-error rule takes the largest penalty whose mean is within one se of the smallest.

A model of a path gives its rows, gradients and held-out deviance; to use another, extend
``PathModel``:

    slope_i = ∂nll_i/∂η_i        curvature_i = ∂²nll_i/∂η_i², expected

References
----------
Breiman, Friedman, Olshen & Stone, Classification and Regression Trees, 1984, §3.4.3.
Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, 2nd ed., §3.4.1 and §18.4.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, final

import numpy as np
from sklearn.base import clone

from likely._typing import Array
from likely.data.block import Block
from likely.data.hashed_splits import FOLD_SEED
from likely.errors import InvalidInput
from likely.fitting.framing import Framing
from likely.inputs.coding import new_rows
from likely.inputs.estimators import FoldRows, folds_of, generator, refuse_single_rows
from likely.inputs.rows import RowExtras
from likely.inputs.targets import check_offset, check_response, classes_of, codes_among, label_array
from likely.likelihoods.base import Likelihood
from likely.linear.fit import LinearRows, has_groups, is_penalised, spread, strengths_of
from likely.names import lookup
from likely.numerics.additive import FieldwiseAdditive
from likely.objectives.linear import weighted
from likely.output.formatting import all_listed
from likely.penalties.base import Strengths

HELD = 1e30  # an l1 at which no coefficient moves, and whose product with 0 is 0
NULL_TOL = 1e-13  # of the null model: a gradient is as exact as the square root
ROUNDING = 1 + 1e-9  # the first penalty, so that a gradient rounded up still moves nothing
MOST_FREEDOM = 0.01  # degrees of freedom of the first ridge, for each column
COLUMNS_AT_ONCE = 32  # whose squares are read off a small Gram matrix
RULES = ("one-standard-error", "best")


class PathSlopes(NamedTuple):
    """Slopes of the loss for the rows of a block, one column per penalised predictor."""

    slope: Array  # (n, K)
    curvature: Array  # (n,), the mean over predictors


class PathRows(NamedTuple):
    """Data as the caller gave them; the other arguments are arrays, names, or None."""

    X: Any
    y: Any
    weight: Any = None
    offset: Any = None
    exposure: Any = None

    @property
    def moved(self) -> dict[str, Any]:
        """The offset and the exposure, where they were given."""
        return given(offset=self.offset, exposure=self.exposure)

    @property
    def extras(self) -> RowExtras:
        """The arguments other than X and y, as estimators take them."""
        return RowExtras(self.weight, self.offset, self.exposure)

    def fit(self, model: Any) -> Any:
        return model.fit(self.X, self.y, self.weight, **self.moved)


class PathModel(ABC):
    """The contract of a model that a path of penalties can fit; it has no state."""

    path_takes: ClassVar[tuple[str, ...]] = ()  # of "offset" and "exposure"
    coef_: Array
    intercept_: Any

    @abstractmethod
    def open_path(self, rows: PathRows) -> LinearRows:
        """Internal: the rows, checked as ``fit`` checks them and cut into blocks."""

    @abstractmethod
    def path_slopes(self, block: Block) -> PathSlopes:
        """Internal: the slopes of a block's rows, after a fit."""

    @abstractmethod
    def path_deviance(self, block: Block) -> Array:
        """Internal: the deviance of a block's rows after a fit, one number per row."""

    def path_intercepts(self) -> Array:
        """Internal: the intercept or the thresholds."""
        return np.asarray(self.intercept_)

    def path_predictor(self, block: Block) -> Array:
        """Internal: η, (n, K) or (n,); with an offset there is one predictor."""
        eta = block.X.matmat(np.ascontiguousarray(self.coef_.T)) + self.intercept_
        return np.asarray(eta) if block.offset is None else np.reshape(eta, -1) + block.offset

    def check_offsets(self, **offsets: Any) -> None:
        """Internal: refuse an offset or an exposure that the model does not take."""
        for name in given(**offsets):
            if name not in self.path_takes:
                raise InvalidInput(
                    f"{name} was given; {type(self).__name__} takes "
                    f"{all_listed(self.path_takes) or 'neither offset nor exposure'}. "
                    "Leave it out."
                )


@final
@dataclass(frozen=True, eq=False)
class Moved:
    """The strengths that λ multiplies: numbers, one per column, or by name; None is not changed."""

    l1: Any = None
    l2: Any = None
    fixed: Mapping[str, Any] = field(default_factory=dict)  # in place of a penalty object

    def at(self, penalty: float) -> dict[str, Any]:
        """The arguments of the model at λ."""
        given = {"l1": self.l1, "l2": self.l2}
        moved = {name: times(s, penalty) for name, s in given.items() if s is not None}
        return {**self.fixed, **moved}

    def held(self) -> dict[str, Any]:
        """Arguments that keep every penalised coefficient at 0."""
        by = self.l2 if self.l1 is None else self.l1
        held = {"l1": times(by, HELD)} | ({} if self.l2 is None else {"l2": 0.0})
        return {**self.fixed, **held}

    @property
    def factors(self) -> Any:
        """f: the factors of l1, if it varies."""
        return self.l2 if self.l1 is None else self.l1


def times(strength: Any, number: float) -> Any:
    if isinstance(strength, Mapping):
        return {name: number * float(value) for name, value in strength.items()}
    return number * np.asarray(strength, dtype=np.float64)[()]


def moved_along(along: str, model: Any) -> Moved:
    """A number is replaced by λ; one strength per column, or by name, is multiplied by it.

    A penalty object is read as the l1 and l2 that it has.
    """
    if model.stop is not None:
        raise InvalidInput(
            f"The model of a path has stop={model.stop!r}; every step of a path reaches its "
            "optimum. Leave stop out."
        )
    own = strengths_of(model)
    if has_groups(own.groups):
        raise InvalidInput(
            f"The model of a path has penalty={model.penalty!r}; a path varies l1 and l2, and no "
            "groups. Give L1, L2 or ElasticNet, or fit the model with one penalty after another."
        )
    moved = lookup("penalty to vary", along, MOVED)(own)
    if model.penalty is None:
        return moved
    return replace(moved, fixed={"penalty": None, "l1": times(own.l1, 1), "l2": times(own.l2, 1)})


def _along_l1(own: Strengths) -> Moved:
    return Moved(l1=_factors(own.l1))


def _along_l2(own: Strengths) -> Moved:
    return Moved(l2=_factors(own.l2))


def _along_both(own: Strengths) -> Moved:
    if not (is_penalised(own.l1) and is_penalised(own.l2)):
        raise InvalidInput(
            f"along='both' multiplies the model's own strengths, which are l1={own.l1!r} and "
            f"l2={own.l2!r}; both must be above 0. Give them, for example l1=0.5, l2=0.5, "
            "or use along='l1' or 'l2'."
        )
    return Moved(l1=own.l1, l2=own.l2)


MOVED = {"l1": _along_l1, "l2": _along_l2, "both": _along_both}


def _factors(strength: Any) -> Any:
    if isinstance(strength, Mapping) or np.ndim(strength) > 0:
        if not is_penalised(strength):
            raise InvalidInput(
                f"Every strength of the model is 0 ({strength!r}), so there is nothing to vary. "
                "Give at least one column a factor above 0, or one number for all."
            )
        return strength
    return 1.0


@final
@dataclass(frozen=True, eq=False)
class Pulls(FieldwiseAdditive):
    """Sums over rows at the null model."""

    weight: float
    x: Array  # Σ w x, (d,)
    pull: Array  # Σ w slope x, (d, K)
    slope: Array  # Σ w slope, (K,)
    curvature: float  # Σ w curvature
    curved_x: Array  # Σ w curvature x, (d,)
    squares: Array  # Σ w curvature x², (d,)


def block_pulls(null: PathModel, with_squares: bool, block: Block) -> Pulls:
    slopes = null.path_slopes(block)
    weight = weighted(block.weight, np.ones(block.n_rows))
    slope = weight[:, None] * slopes.slope
    d = weight * slopes.curvature
    return Pulls(
        weight=float(weight.sum()),
        x=block.X.rmatmat(weight),
        pull=block.X.rmatmat(slope),
        slope=slope.sum(axis=0),
        curvature=float(d.sum()),
        curved_x=block.X.rmatmat(d),
        squares=_squares(block, d) if with_squares else np.zeros(block.X.n_features),
    )


def _squares(block: Block, d: Array) -> Array:
    columns = np.arange(block.X.n_features)
    parts = [columns[i : i + COLUMNS_AT_ONCE] for i in range(0, len(columns), COLUMNS_AT_ONCE)]
    return np.concatenate([np.diag(block.X.sandwich(d, part)) for part in parts])


def null_model(model: Any, moved: Moved, rows: PathRows) -> Any:
    """The model with every penalised coefficient at 0."""
    return rows.fit(clone(model).set_params(**moved.held(), tol=NULL_TOL))


def first_penalty(null: Any, moved: Moved, rows: LinearRows) -> float:
    """The first penalty; 1 where all gradients are 0."""
    along_l2 = moved.l1 is None
    total = rows.executor.sum(partial(block_pulls, null, along_l2), rows.blocks)
    params = null.get_params(deep=False)
    own = bool(params.get("fit_intercept", False))
    penalised = own and bool(params["penalise_intercept"])
    free = not penalised and params.get("fit_intercept", True)  # an intercept, or thresholds
    factors = _per_coefficient(null, moved.factors, rows, own, penalised)
    if along_l2:
        first = _first_ridge(total, factors[: len(total.x)], free)
    else:
        first = ROUNDING * _largest_pull(total, factors, free, penalised)
    return first if first > 0 else 1.0


def _per_coefficient(
    null: Any, strength: Any, rows: LinearRows, intercept: bool, penalised: bool
) -> Array:
    framing = Framing(rows.coding.n_coefficients, intercept, None)
    return spread(null, rows.coding, framing, Strengths(l1=strength), intercept=penalised).l1


def _largest_pull(total: Pulls, factors: Array, free: bool, penalised: bool) -> float:
    pull = total.pull
    if free:  # the rounding error of the intercept's slope acts on the mean
        pull = pull - np.multiply.outer(total.x / total.weight, total.slope)
    if penalised:
        pull = np.vstack([pull, total.slope])
    factors = factors[: len(pull)]
    moving = factors > 0
    return float(np.max(np.abs(pull[moving]) / factors[moving, None], initial=0.0))


def _first_ridge(total: Pulls, factors: Array, free: bool) -> float:
    curvature = total.squares
    if free:
        curvature = np.maximum(curvature - total.curved_x**2 / total.curvature, 0.0)
    moving = factors > 0
    return float(np.mean(curvature[moving] / factors[moving])) / MOST_FREEDOM


class PenaltyChoice(NamedTuple):
    """The curve of mean deviances, and the chosen index."""

    mean: Array  # (n_penalties,)
    standard_error: Array
    best: int
    chosen: int


def choose(deviance: Array, fold_weight: Array, rule: str) -> PenaltyChoice:
    """From deviances, (n_penalties, n_folds), with decreasing penalties."""
    mean = np.average(deviance, axis=1, weights=fold_weight)
    spread = np.average((deviance - mean[:, None]) ** 2, axis=1, weights=fold_weight)
    error = np.sqrt(spread / (deviance.shape[1] - 1))
    best = int(np.argmin(mean))
    within = int(np.argmax(mean <= mean[best] + error[best]))
    return PenaltyChoice(mean, error, best, best if rule == "best" else within)


def path_folds(
    cv: Any, X: Any, y: Any, *, present: Array, classes: bool, random_state: Any
) -> FoldRows:
    """Shuffled folds, of equal shares of each class; or what the splitter gives.

    Rows that are not ``present`` are in no fold.
    """
    if present.sum() < 2:
        raise InvalidInput(
            "X has 1 sample of positive weight (n_samples = 1); folds need 2 or more rows, to "
            "learn from and to predict. Give more rows, or cv=None for the path alone."
        )
    codes = np.where(present, 0, -1)
    if classes and isinstance(cv, int | np.integer):
        found = classes_of(label_array(y)[present])
        codes[present] = found.codes
        refuse_single_rows(codes, found.classes, otherwise="use cv=None for the path alone")
    seed = FOLD_SEED if random_state is None else int(generator(random_state).integers(2**31))
    folds = folds_of(cv, X, y, codes=codes, seed=seed)
    if len(folds) < 2 or not all(len(rows) for fold in folds for rows in fold):
        raise InvalidInput(
            f"cv={cv!r} gives {len(folds)} folds, or one without rows; expected 2 or more, each "
            "with rows to learn from and to predict. Use 5."
        )
    return folds


def likelihood_slopes(likelihood: Likelihood, block: Block, eta: Array) -> PathSlopes:
    """The slopes of a model with one predictor, η, by its likelihood."""
    _, slope, curvature = likelihood.derivatives(block.target, np.reshape(eta, -1))
    return PathSlopes(slope[:, None], curvature)


def held_block(model: Any, opened: LinearRows, rows: PathRows) -> Block:
    """Held-out rows, encoded once like the training rows."""
    X = new_rows(model, opened.coding, rows.X)
    if len(opened.classes):
        y = codes_among(rows.y, opened.classes, n_rows=X.n_rows)
    else:
        y = check_response(rows.y, n_rows=X.n_rows, estimator=model)
    moved = np.broadcast_to(check_offset(rows.offset, rows.exposure, n_rows=X.n_rows), X.n_rows)
    return Block(X, y, offset=moved if rows.moved else None)


def given(*, offset: Any = None, exposure: Any = None) -> dict[str, Any]:
    """The arguments that were given: offset, exposure or both."""
    both = {"offset": offset, "exposure": exposure}
    return {name: value for name, value in both.items() if value is not None}


def check_path_model(model: Any) -> PathModel:
    """The model, refused unless a path of penalties can fit it."""
    if isinstance(model, PathModel):
        return model
    raise InvalidInput(
        f"model is {type(model).__name__}; a path of penalties is for LinearRegression, GLM, "
        "LogisticRegression, SoftmaxRegression and OrdinalRegression. Use one of them."
    )
