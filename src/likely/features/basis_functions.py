"""Basis functions of the columns: a linear model of them is a smooth function of x.

    Φ(x) = (φ_1(x), …, φ_m(x))        E[y | x] = wᵀΦ(x) + b

The named bases, and how their centres and widths are found, are in ``bases.py``.

References
----------
Bishop, Pattern Recognition and Machine Learning, §3.1.
"""

from collections.abc import Callable
from typing import Any, Self, final

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.errors import InvalidInput
from likely.features.bases import BASES, Basis, BasisPlacement, BasisSettings, GivenBasis, is_number
from likely.inputs.estimators import generator
from likely.inputs.numbers import check_weight, read_numbers
from likely.inputs.parameters import Estimator
from likely.names import lookup

SPARSE = "basis functions are rarely 0. Pass X.toarray(), or choose fewer columns."
CATEGORY = "Leave the column out if it is a category"


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
    Distances to two corners take XOR apart:

    >>> from likely.features.basis_functions import BasisFunctions
    >>> corners = BasisFunctions("distance", centres=[[0, 0], [1, 1]])
    >>> corners.fit_transform([[0, 0], [0, 1], [1, 0], [1, 1]]).round(3)
    array([[0.   , 1.414],
           [1.   , 1.   ],
           [1.   , 1.   ],
           [1.414, 0.   ]])
    """

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
