"""Fit a distribution to rows in one call.

fit("gaussian", [1.2, 0.7, 3.1])        one component, one feature
fit("poisson", counts, labels)          one component per label
"""

from typing import Any

import numpy as np

from likely._typing import Array, Codes
from likely.distributions.base import Distribution, Family, NamedFamily
from likely.distributions.bernoulli import Bernoulli
from likely.distributions.categorical import CategoricalFamily
from likely.distributions.complement import Complement
from likely.distributions.exponential import Exponential
from likely.distributions.gaussian import DiagonalFamily
from likely.distributions.laplace import LaplaceFamily
from likely.distributions.multinomial import Multinomial
from likely.distributions.poisson import Poisson
from likely.distributions.responsibility import Labels
from likely.errors import InvalidInput
from likely.names import lookup

DISTRIBUTIONS: dict[str, NamedFamily] = {
    "bernoulli": Bernoulli,
    "complement": Complement,
    "exponential": Exponential,
    "gaussian": DiagonalFamily(),
    "laplace": LaplaceFamily(),
    "multinomial": Multinomial,
    "poisson": Poisson,
}


def fit(
    family: str | Family,
    X: Any,
    labels: Any = None,
    *,
    weight: Any = None,
    alpha: float | Array = 0.0,
) -> Distribution:
    """The member of a family that makes the rows most probable.

    Parameters
    ----------
    family : str or Family
        A name in ``DISTRIBUTIONS``, ``"categorical"`` (codes 0, 1, …), or a family.
    X : array of shape (n,) or (n, d)
    labels : integers of shape (n,), optional
        The component of each row, 0 to K − 1; one component if not given.
    weight : array of shape (n,), optional
    alpha : float or array
        The strength of the conjugate prior, in pseudo-observations.  Their size, where they have
        one, is the mean of the rows: a mean count or waiting time, a variance.
    """
    X = _matrix(X)
    codes = np.zeros(len(X), np.int64) if labels is None else np.asarray(labels)
    if codes.shape != (len(X),) or codes.dtype.kind not in "iu":
        raise InvalidInput(
            f"labels have shape {codes.shape} and type {codes.dtype}; X has {len(X)} rows. "
            "Give one whole number per row, from 0 up."
        )
    if family == "categorical":
        X = _codes(X)
        family = CategoricalFamily(tuple(int(v) + 1 for v in X.max(axis=0)))
    chosen = lookup("family", family, DISTRIBUTIONS)
    if chosen.coded:
        X = _codes(X)
    chosen.check(X)
    n_components = int(codes.max(initial=0)) + 1
    given = None if weight is None else np.asarray(weight, dtype=float)
    statistics = chosen.statistics(X, Labels(codes, n_components, given))
    prior = statistics.prior_statistics(chosen, alpha, (n_components, X.shape[1]))
    return chosen.from_statistics(statistics + prior)


def _codes(X: Array) -> Codes:
    """Codes of categories as integers; NaN is a missing one, −1."""
    X = np.where(np.isnan(X), -1, X)
    broken = X[np.floor(X) != X]
    if broken.size:
        raise InvalidInput(
            f"Codes of categories must be whole numbers from 0 up; found {broken[0]:g}. Number the "
            "categories 0, 1, …."
        )
    return X.astype(np.int64)


def _matrix(X: Any) -> Array:
    X = np.asarray(X)
    if X.dtype.kind not in "fiub" or X.ndim not in (1, 2) or not X.size:
        raise InvalidInput(
            f"X has shape {X.shape} and type {X.dtype}; a distribution is fitted to numbers in one "
            "or two dimensions. Give rows of numbers."
        )
    return X[:, None].astype(float) if X.ndim == 1 else X.astype(float)
