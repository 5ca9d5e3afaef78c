"""Monomials of columns: linear in the parameters, nonlinear in the columns.

    Π_j x_j^(p_j)        all with Σ_j p_j ≤ r:  C(d + r, r) of them, the constant among them

References
----------
Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, 2nd ed., §5.1.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations, combinations_with_replacement
from typing import Any, ClassVar, Self, final

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array, Codes
from likely.errors import InvalidInput, UnknownName
from likely.inputs.estimators import Estimator
from likely.inputs.tables import read_numbers
from likely.inputs.targets import check_weight
from likely.storage.declarations import FITTED_COLUMNS, Between, SameCount, Saved
from likely.storage.values import unlike

SPARSE = "monomials are stored as dense columns. Pass X.toarray(), or choose fewer columns."
CATEGORY = "Leave the column out if it is a category"
CHUNK_ROWS = 1024  # monomials are built in pieces that stay in cache

Monomial = tuple[int, ...]  # columns in order, each as often as its power

LONGEST_MONOMIAL = 1000  # factors


@final
class PolynomialFeatures(TransformerMixin, Estimator):
    """Monomials of the columns: all up to a degree, or those in a list.  NaN stays NaN.

    Parameters
    ----------
    degree : int
        The highest total power.
    interaction_only : bool
        Only products of different columns: no power above 1.
    include_bias : bool
        A column of ones in front; linear models here have their own intercept.
    monomials : sequence or None
        The monomials to make, in their order, instead of all up to ``degree``.  Each is a
        sequence of columns to multiply, ``("x0", "x1")``, or a mapping from column to power,
        ``{"x0": 2, "x1": 1}``; columns by name or index.

    Attributes
    ----------
    powers_ : array of shape (n_features_out, n_features_in)
        The power of each column in each monomial.

    References
    ----------
    Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, 2nd ed., §5.1.

    Examples
    --------
    >>> from likely.features.polynomial import PolynomialFeatures
    >>> features = PolynomialFeatures(2).fit([[2.0, 3.0]])
    >>> print(*features.get_feature_names_out(), sep=", ")
    x0, x1, x0^2, x0 x1, x1^2
    >>> features.transform([[2.0, 3.0]])
    array([[2., 3., 4., 6., 9.]])
    >>> chosen = PolynomialFeatures(monomials=[("x0", "x1"), {"x0": 2, "x1": 1}])
    >>> chosen.fit_transform([[2.0, 3.0]])
    array([[ 6., 12.]])
    """

    saved: ClassVar = FITTED_COLUMNS | Saved(
        {"powers_": Codes},
        rules=(
            SameCount(2, "powers_.shape"),
            SameCount("n_features_in_", "powers_.shape.1"),
            Between("powers_", 0, LONGEST_MONOMIAL),
        ),
    )

    def __init__(
        self,
        degree: int = 2,
        *,
        interaction_only: bool = False,
        include_bias: bool = False,
        monomials: Sequence[Any] | None = None,
    ) -> None:
        self.degree = degree
        self.interaction_only = interaction_only
        self.include_bias = include_bias
        self.monomials = monomials

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the monomials; only the names and number of columns are used."""
        self._check_degree()
        X = self._numbers(X, reset=True)
        check_weight(sample_weight, n_rows=len(X))
        names = self._names_in(None).tolist()
        found = (
            self._all_monomials(len(names))
            if self.monomials is None
            else self._given_monomials(names)
        )
        if self.include_bias and () not in found:
            found = [(), *found]
        self.powers_ = np.zeros((len(found), len(names)), dtype=np.int64)
        for k, monomial in enumerate(found):
            np.add.at(self.powers_[k], list(monomial), 1)
        return self

    def transform(self, X: Any) -> Array:
        """Each monomial of each row, (n, n_features_out)."""
        check_is_fitted(self)
        X = self._numbers(X, reset=False)
        recipe = list(_recipe(self.powers_))
        out = np.empty((len(X), len(recipe)))
        for start in range(0, len(X), CHUNK_ROWS):
            columns = np.ascontiguousarray(X[start : start + CHUNK_ROWS].T)
            made = np.empty((len(recipe), columns.shape[1]))
            with np.errstate(over="ignore", invalid="ignore"):  # ∞, and ∞·0; see below
                for k, (smaller, factors) in enumerate(recipe):
                    if smaller is None:
                        made[k] = np.prod(columns[list(factors)], axis=0)
                    else:
                        np.multiply(made[smaller], columns[factors[0]], out=made[k])
            self._refuse_overflow(made, start)
            out[start : start + CHUNK_ROWS] = made.T
        return out

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names such as "x0^2" and "x0 x1"; the constant is "1"."""
        check_is_fitted(self)
        names = self._names_in(input_features)
        return np.array([_shown(row, names) for row in self.powers_.tolist()], dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _names_in(self, input_features: Any) -> Array:
        return np.asarray(OneToOneFeatureMixin.get_feature_names_out(self, input_features))

    def _numbers(self, X: Any, *, reset: bool) -> Array:
        return read_numbers(self, X, reset=reset, sparse=SPARSE, category=CATEGORY)

    def _all_monomials(self, n_columns: int) -> list[Monomial]:
        choose = combinations if self.interaction_only else combinations_with_replacement
        degrees = range(1, int(self.degree) + 1)
        return list(chain.from_iterable(choose(range(n_columns), r) for r in degrees))

    def _refuse_overflow(self, made: Array, start: int) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(made.sum()):  # a finite total proves finite monomials
                return
        beyond = np.argwhere(np.isinf(made))
        if len(beyond):
            k, row = beyond[0]
            raise InvalidInput(
                f"{self.get_feature_names_out()[k]!r} of row {start + row} is beyond the largest "
                "number (1.8e308); a feature must be finite. Divide its columns by a constant, or "
                "lower the degree."
            )

    def _given_monomials(self, names: list[str]) -> list[Monomial]:
        found = [_monomial(given, names) for given in self.monomials or ()]
        if not found:
            raise InvalidInput(
                "monomials is empty; expected at least one, such as ('x0', 'x1'). Name some, or "
                "leave the argument out for all up to a degree."
            )
        twice = [k for k, monomial in enumerate(found) if monomial in found[:k]]
        if twice:
            powers = np.bincount(found[twice[0]], minlength=len(names)).tolist()
            raise InvalidInput(
                f"The monomial {_shown(powers, names)!r} is given twice; each makes one column. "
                "Leave one out."
            )
        return found

    def _check_degree(self) -> None:
        whole = isinstance(self.degree, int | np.integer) and not isinstance(self.degree, bool)
        if not whole or self.degree < 1:
            raise InvalidInput(
                f"degree is {self.degree!r}; expected a whole number, 1 or more. Use 2 for squares "
                "and products."
            )

    def check_saved(self) -> None:
        """Refuse powers of a type by which NumPy cannot repeat."""
        if self.powers_.dtype.kind != "i":
            raise unlike("powers_", "whole numbers with a sign")


def _recipe(powers: Array) -> Iterator[tuple[int | None, Monomial]]:
    """For each monomial, an earlier one and the column to multiply it by; else all its columns."""
    place: dict[Monomial, int] = {}
    for k, row in enumerate(powers):
        monomial = tuple(np.repeat(np.arange(len(row)), row).tolist())
        smaller = place.get(monomial[:-1]) if monomial else None
        yield smaller, monomial if smaller is None else monomial[-1:]
        place[monomial] = k


def _monomial(given: Any, names: list[str]) -> Monomial:
    """A monomial as the user wrote it, as columns in order."""
    if isinstance(given, str) or not isinstance(given, Mapping | Sequence):
        raise InvalidInput(
            f"A monomial is {given!r}; expected a sequence of columns or a mapping from column to "
            f"power. Write ({given!r},) for the column itself."
        )
    powers = given.items() if isinstance(given, Mapping) else ((key, 1) for key in given)
    columns: list[int] = []
    for key, power in powers:
        if not isinstance(power, int | np.integer) or power < 0:
            raise InvalidInput(
                f"The power of column {key!r} is {power!r} in the monomial {given!r}; expected a "
                "whole number, 0 or more. Transform the column first for other powers."
            )
        columns += [_column_index(key, names)] * int(power)
    return tuple(sorted(columns))


def _column_index(key: Any, names: list[str]) -> int:
    if isinstance(key, int | np.integer) and -len(names) <= key < len(names):
        return int(key) % len(names)
    if key not in names:
        raise UnknownName("column", key, names)
    return names.index(key)


def _shown(powers: list[int], names: Sequence[str] | Array) -> str:
    factors = [
        name if power == 1 else f"{name}^{power}"
        for name, power in zip(names, powers, strict=True)
        if power
    ]
    return " ".join(factors) or "1"
