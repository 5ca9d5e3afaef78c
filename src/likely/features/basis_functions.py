"""Basis functions of the columns: a linear model of them is a smooth function of x.

    Φ(x) = (φ_1(x), …, φ_m(x))        E[y | x] = wᵀΦ(x) + b

The named bases are functions of x, each at its own centre c; to add one, write its class and name
it in ``BASES``:

    radial     exp(−‖x − c‖² / 2s²)              of all columns together
    distance   ‖x − c‖                           of all columns together
    sigmoid    1 / (1 + exp(−(x − c)/s))         of each column
    spline     cubic B-splines with knots c      of each column

    centres of one column          quantiles, from the lowest to the highest value
    centres of several columns     rows, drawn with probability ∝ w · (distance to the nearest)²
    width s                        the mean distance from a centre to its nearest neighbour

Draws do not depend on the order of rows, nor on whether a row is repeated or has weight 2.

References
----------
Bishop, Pattern Recognition and Machine Learning, §3.1 (radial and sigmoid).
Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, 2nd ed., appendix to ch. 5.
Arthur & Vassilvitskii, k-means++: the advantages of careful seeding, SODA 2007, §2.
Moody & Darken, Fast learning in networks of locally-tuned processing units, 1989, §3.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self, final

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.errors import InvalidInput
from likely.inputs.estimators import Estimator, generator
from likely.inputs.tables import read_numbers
from likely.inputs.targets import check_weight
from likely.names import lookup
from likely.numerics.quantiles import QuantileSummary
from likely.numerics.splines import CUBIC, CubicSplines
from likely.special import expit
from likely.storage.declarations import (
    FITTED_COLUMNS,
    SEQUENCES,
    SMALLEST_SPREAD,
    Numbers,
    Saved,
    increasing,
    refuse,
)
from likely.storage.values import same_count, unlike

SPARSE = "basis functions are rarely 0. Pass X.toarray(), or choose fewer columns."
CATEGORY = "Leave the column out if it is a category"


class BasisSettings(NamedTuple):
    """The centres and widths that the user requests."""

    centres: Any  # a number, or the centres
    width: float | None
    rng: np.random.Generator


class BasisPlacement(NamedTuple):
    """Centres and widths of the functions: arrays and numbers, or lists of them, one per column."""

    centres: Any
    width: Any


class Basis(ABC):
    """A family of functions.  Instances are values; centres and widths are passed in."""

    name: str

    @abstractmethod
    def place(self, asked: BasisSettings, X: Array, weight: Array) -> BasisPlacement:
        """Centres and widths for these rows."""

    @abstractmethod
    def features(self, X: Array, place: BasisPlacement) -> Array:
        """Φ, (n, m); NaN where it depends on one."""

    @abstractmethod
    def names(
        self, columns: Sequence[str], place: BasisPlacement, n_functions: int
    ) -> list[str]: ...


class JointBasis(Basis):
    """Functions of a whole row; centres are points, (m, d)."""

    def place(self, asked: BasisSettings, X: Array, weight: Array) -> BasisPlacement:
        complete = ~np.isnan(X).any(axis=1)
        X, weight = X[complete], weight[complete]
        centres = self._centres(asked, X, weight)
        width = typical_gap(centres, X, weight) if asked.width is None else float(asked.width)
        return BasisPlacement(centres, width)

    def names(self, columns: Sequence[str], place: BasisPlacement, n_functions: int) -> list[str]:
        return [f"{self.name}_{k}" for k in range(n_functions)]

    @staticmethod
    def _centres(asked: BasisSettings, X: Array, weight: Array) -> Array:
        if not is_number(asked.centres):
            return given_points(asked.centres, X.shape[1])
        if not len(X):
            raise InvalidInput(
                "No row is complete, so centres cannot be chosen; at least one must be. "
                "Fill the missing cells, or give the centres."
            )
        if X.shape[1] == 1:
            return quantile_centres(X[:, 0], asked.centres, weight)[:, None]
        return seeded_centres(X, asked.centres, weight, asked.rng)


class ColumnBasis(Basis):
    """Functions of one column; centres are numbers that increase, (m,)."""

    least: ClassVar[int] = 1  # centres

    @abstractmethod
    def of_column(self, x: Array, centres: Array, width: float) -> Array:
        """(n, ``n_functions(centres)``)."""

    def n_functions(self, centres: Array) -> int:
        return len(centres)

    def features(self, X: Array, place: BasisPlacement) -> Array:
        parts = zip(X.T, place.centres, place.width, strict=True)
        return np.concatenate([self.of_column(x, c, s) for x, c, s in parts], axis=1)

    def place(self, asked: BasisSettings, X: Array, weight: Array) -> BasisPlacement:
        if is_number(asked.centres):
            centres = [self._quantiles(asked.centres, X, weight, j) for j in range(X.shape[1])]
        else:
            centres = given_numbers(asked.centres, X.shape[1])
        for each in centres:
            self._refuse_too_few(each)
        if asked.width is not None:
            return BasisPlacement(centres, [float(asked.width)] * len(centres))
        known = [~np.isnan(x) for x in X.T]
        width = [
            typical_gap(each[:, None], X[rows, j, None], weight[rows])
            for j, (each, rows) in enumerate(zip(centres, known, strict=True))
        ]
        return BasisPlacement(centres, width)

    def names(self, columns: Sequence[str], place: BasisPlacement, n_functions: int) -> list[str]:
        return [
            f"{column}_{self.name}_{k}"
            for column, centres in zip(columns, place.centres, strict=True)
            for k in range(self.n_functions(centres))
        ]

    def _quantiles(self, n_centres: int, X: Array, weight: Array, j: int) -> Array:
        found = quantile_centres(X[:, j], max(n_centres, self.least), weight)
        if np.isnan(found).any():
            raise InvalidInput(
                f"Column {j} has no value, so centres cannot be chosen; at least one must be "
                "known. Leave the column out, or give the centres."
            )
        if len(found) < self.least:  # one value: an interval of length 1 around it
            return np.array([found[0] - 0.5, found[0] + 0.5])
        return found

    def _refuse_too_few(self, centres: Array) -> None:
        if len(centres) < self.least:
            raise InvalidInput(
                f"A {self.name} basis has {len(centres)} different centres for a column; expected "
                f"{self.least} or more. Add some, or give their number."
            )


@final
@dataclass(frozen=True)
class Radial(JointBasis):
    name: ClassVar[str] = "radial"  # type: ignore[misc]  # the same for all instances

    def features(self, X: Array, place: BasisPlacement) -> Array:
        return np.exp(cdist(X, place.centres, "sqeuclidean") / (-2 * place.width**2))


@final
@dataclass(frozen=True)
class Distance(JointBasis):
    """‖x − c‖, not squared: squared distances to two centres differ by a linear function of x."""

    name: ClassVar[str] = "distance"  # type: ignore[misc]

    def features(self, X: Array, place: BasisPlacement) -> Array:
        return np.asarray(cdist(X, place.centres))


@final
@dataclass(frozen=True)
class Sigmoid(ColumnBasis):
    name: ClassVar[str] = "sigmoid"  # type: ignore[misc]

    def of_column(self, x: Array, centres: Array, width: float) -> Array:
        return expit((x[:, None] - centres) / width)


@final
@dataclass(frozen=True)
class Spline(ColumnBasis):
    """All cubic B-splines except the last: they sum to 1, like the intercept of a model.

    The knots continue outside with the outermost distance; beyond the outer knots that were given,
    the functions keep the values they have there.
    """

    name: ClassVar[str] = "spline"  # type: ignore[misc]
    least: ClassVar[int] = 2

    def of_column(self, x: Array, centres: Array, width: float) -> Array:
        steps = np.arange(1, CUBIC + 1)
        below = centres[0] - steps[::-1] * (centres[1] - centres[0])
        above = centres[-1] + steps * (centres[-1] - centres[-2])
        knots = np.concatenate([below, centres, above])
        out = np.full((len(x), self.n_functions(centres)), np.nan)
        known = ~np.isnan(x)
        inside = np.clip(x[known], centres[0], centres[-1])
        if inside.size:
            out[known] = CubicSplines(knots)(inside)[:, :-1]
        return out

    def n_functions(self, centres: Array) -> int:
        return len(centres) + CUBIC - 2


@final
@dataclass(frozen=True)
class GivenBasis(Basis):
    """The user's own function of an array, (n, d), to (n, m)."""

    function: Callable[[Array], Array]

    @property
    def name(self) -> str:  # type: ignore[override]  # read-only here
        name = getattr(self.function, "__name__", "")
        return name if name.isidentifier() else "basis"

    def place(self, asked: BasisSettings, X: Array, weight: Array) -> BasisPlacement:
        return BasisPlacement(None, None)

    def features(self, X: Array, place: BasisPlacement) -> Array:
        features = np.asarray(self.function(X), dtype=np.float64)
        features = features[:, None] if features.ndim == 1 else features
        if features.ndim != 2 or len(features) != len(X):
            raise InvalidInput(
                f"The basis {self.name} gave an array of shape {features.shape} for {len(X)} rows; "
                f"expected ({len(X)}, n_functions). Return one row for each row of X."
            )
        return features

    def names(self, columns: Sequence[str], place: BasisPlacement, n_functions: int) -> list[str]:
        return [f"{self.name}_{k}" for k in range(n_functions)]


BASES: dict[str, Basis] = {
    basis.name: basis for basis in (Radial(), Distance(), Sigmoid(), Spline())
}


def is_number(centres: Any) -> bool:
    """Whether a number of centres was given."""
    return isinstance(centres, int | np.integer)


def quantile_centres(x: Array, n_centres: int, weight: Array) -> Array:
    """Distinct quantiles of a column at equal steps; fewer where values are tied."""
    summary = QuantileSummary.of(x, weight, limit=None)
    steps = np.linspace(0, 1, n_centres) if n_centres > 1 else np.array([0.5])
    return np.unique(summary.quantile(steps))


def seeded_centres(X: Array, n_centres: int, weight: Array, rng: np.random.Generator) -> Array:
    """Distinct rows of X far from one another, (m, d); all of them if there are fewer."""
    rows, code = np.unique(X, axis=0, return_inverse=True)
    total = np.bincount(np.ravel(code), weights=weight, minlength=len(rows))
    if len(rows) <= n_centres:
        return rows
    chosen: list[int] = []
    pull = total.copy()
    nearest = np.full(len(rows), np.inf)
    for _ in range(n_centres):
        reach = np.cumsum(pull)
        chosen.append(int(np.searchsorted(reach, rng.random() * reach[-1], side="right")))
        latest = cdist(rows, rows[chosen[-1:]], "sqeuclidean").ravel()
        _refuse_overflow(latest)
        nearest = np.minimum(nearest, latest)
        pull = total * nearest
    return rows[np.sort(chosen)]


def given_points(centres: Any, n_columns: int) -> Array:
    """The user's centres as points, (m, d)."""
    points = _finite(centres)
    points = points[:, None] if points.ndim == 1 and n_columns == 1 else points
    if points.ndim != 2 or points.shape[1] != n_columns or not len(points):
        raise InvalidInput(
            f"centres has shape {np.shape(centres)}; expected (n_centres, {n_columns}), one point "
            "per row. Give points with as many numbers as X has columns, or a number of centres."
        )
    return points


def given_numbers(centres: Any, n_columns: int) -> list[Array]:
    """The user's centres for each column: one list for all, or one for each."""
    apart = [np.ndim(entry) for entry in centres]
    lists = [centres] * n_columns if not any(apart) else list(centres)
    if len(lists) != n_columns or (any(apart) and not all(apart)):
        raise InvalidInput(
            f"There are centres for {len(lists)} columns; expected one list for all, or "
            f"{n_columns}, one per column. Give as many lists as X has columns."
        )
    return [np.unique(_finite(each)) for each in lists]


def typical_gap(centres: Array, X: Array, weight: Array) -> float:
    """The mean distance to the nearest neighbour; for a single centre, the spread of the rows.

    1 where all of that is 0.
    """
    apart = cdist(centres, centres)
    np.fill_diagonal(apart, np.inf)
    gap = float(apart.min(axis=1).mean())
    if not 0 < gap < np.inf:
        squares = cdist(X, centres[:1], "sqeuclidean").ravel()
        gap = float(np.sqrt(np.average(squares, weights=weight))) if len(X) else 0.0
    return gap if 0 < gap < np.inf else 1.0


def _refuse_overflow(squares: Array) -> None:
    if not np.isfinite(squares).all():
        raise InvalidInput(
            "Squared distances between rows of X overflow (numbers beyond about 1e150); centres "
            "are drawn by them. Divide the largest columns by a constant, or give the centres."
        )


def _finite(values: Any) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise InvalidInput(
            f"centres holds {array[~np.isfinite(array)][0]}; expected finite numbers. "
            "Remove it, or give a number of centres."
        )
    return array


@final
class BasisFunctions(TransformerMixin, Estimator):
    """Functions of the columns in place of the columns.  Where x is NaN, so are its functions.

    Parameters
    ----------
    basis : {"radial", "distance", "sigmoid", "spline"} or callable
        Gaussian bumps exp(−‖x − c‖²/2s²), or distances ‖x − c‖, of the columns together;
        sigmoids of (x − c)/s, or cubic B-splines with knots c, of each column; or any function
        of an array (n, d) that returns (n, m).  B-splines sum to 1 in every row, so the last one
        is dropped: it would repeat the intercept of a linear model.
    centres : int or array
        The number of centres, or the centres themselves.  A number: quantiles of each column, or
        rows far from one another for functions of all columns; fewer where values are tied.
        Centres: an array (m, d), or for functions of each column one list for all columns or one
        list for each.  A callable has none.
    width : float or None
        s; None is the mean distance from a centre to its nearest neighbour.
    random_state : int, RandomState, Generator or None
        Seed for drawing the centres of several columns together.

    Attributes
    ----------
    centres_ : array of shape (n_centres, n_features), list of n_features arrays, or None
        For all columns together, for each column, or for a callable.
    width_ : float, list of n_features floats, or None
    n_features_out_ : int

    References
    ----------
    Bishop, Pattern Recognition and Machine Learning, §3.1.

    Examples
    --------
    Distances to two corners separate XOR:

    >>> from likely.features.basis_functions import BasisFunctions
    >>> corners = BasisFunctions("distance", centres=[[0, 0], [1, 1]])
    >>> corners.fit_transform([[0, 0], [0, 1], [1, 0], [1, 1]]).round(3)
    array([[0.   , 1.414],
           [1.   , 1.   ],
           [1.   , 1.   ],
           [1.414, 0.   ]])
    """

    saved: ClassVar = FITTED_COLUMNS | Saved(
        {
            "centres_": Numbers(SEQUENCES, "finite"),
            "width_": Numbers(float | SEQUENCES, "finite", "positive"),
            "n_features_out_": int,
        },
    )

    def __init__(
        self,
        basis: str | Callable[[Array], Array] = "radial",
        *,
        centres: Any = 10,
        width: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.basis = basis
        self.centres = centres
        self.width = width
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose centres and widths."""
        basis = self._basis()
        self._check_arguments()
        X = self._numbers(X, reset=True)
        checked = check_weight(sample_weight, n_rows=len(X))
        weight = np.ones(len(X)) if checked is None else checked
        X, weight = X[weight > 0], weight[weight > 0]  # weight 0 is the row absent
        asked = BasisSettings(self.centres, self.width, generator(self.random_state))
        self.centres_, self.width_ = basis.place(asked, X, weight)
        self.n_features_out_ = basis.features(X[:1], self._place()).shape[1]
        return self

    def transform(self, X: Any) -> Array:
        """Φ(x) of each row, (n, n_features_out)."""
        check_is_fitted(self)
        features = self._basis().features(self._numbers(X, reset=False), self._place())
        if features.shape[1] != self.n_features_out_:
            raise InvalidInput(
                f"The basis gave {features.shape[1]} functions; it gave {self.n_features_out_} in "
                "fit. Make their number depend only on the columns."
            )
        return features

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names such as "radial_0", or "x0_spline_0" for a function of one column."""
        check_is_fitted(self)
        columns = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        names = self._basis().names(columns, self._place(), self.n_features_out_)
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _basis(self) -> Basis:
        if callable(self.basis):
            return GivenBasis(self.basis)
        return lookup("basis", self.basis, BASES)

    def _place(self) -> BasisPlacement:
        return BasisPlacement(self.centres_, self.width_)

    def _numbers(self, X: Any, *, reset: bool) -> Array:
        return read_numbers(self, X, reset=reset, sparse=SPARSE, category=CATEGORY)

    def _check_arguments(self) -> None:
        if is_number(self.centres) and self.centres < 1:
            raise InvalidInput(
                f"centres is {self.centres}; expected a number of centres, 1 or more, or the "
                "centres themselves. Use 10."
            )
        if self.width is not None and not 0 < self.width < np.inf:
            raise InvalidInput(
                f"width is {self.width!r}; expected a positive number, or None for the mean "
                "distance between neighbouring centres. Leave it out."
            )

    def check_saved(self) -> None:
        """Points of all columns and a width, or centres and a width for each column."""
        centres, width, n = self.centres_, self.width_, self.n_features_in_
        if not isinstance(centres, list):
            same_count("A centre", centres.shape[1:], (n,))
            same_count("width_", np.shape(width), ())
            return
        same_count("centres_", len(centres), n)
        same_count("width_", len(width) if isinstance(width, list) else 0, n)
        if not all(isinstance(each, int | float | np.number) for each in width):
            raise unlike("width_", "numbers")
        for each in centres:
            row = increasing("centres_", each, strictly=True)
            same_count("centres_", row.size > 0, True)
            if self.basis == "spline":
                same_count("The fewest knots", min(row.size, 2), 2)
                near = "The distances of knots"
                refuse(near, np.diff(row), lambda x: x >= SMALLEST_SPREAD, "at least 1e-300")
