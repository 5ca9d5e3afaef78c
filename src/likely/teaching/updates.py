"""One update for linear and for logistic regression: only the mean function differs.

    θ ← θ + t Σ_n (y_n − f_n) x_n        f_n = mean(x_nᵀθ)

With the identity for the mean this is a gradient step on ½ Σ (f − y)², with the sigmoid on the
cross-entropy, with exp on the likelihood of counts.  Every response with its canonical link has the
slope f − y in η, which is all that the update uses.

References
----------
McCullagh & Nelder, Generalized Linear Models, 2nd ed., §2.2.4 (canonical links).
"""

from collections.abc import Callable

import numpy as np

from likely._typing import Array


def canonical_update(
    theta: Array, X: Array, *, y: Array, mean: Callable[[Array], Array], step: float
) -> Array:
    """θ after one gradient step of length ``step``; a column of ones in X gives an intercept.

    >>> import numpy as np
    >>> from likely.special import expit, identity
    >>> X, y = np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([0.0, 1.0])
    >>> canonical_update(np.zeros(2), X, y=y, mean=identity, step=0.5)
    array([0.5, 1. ])
    >>> canonical_update(np.zeros(2), X, y=y, mean=expit, step=0.5)
    array([0. , 0.5])
    """
    residual = y - mean(np.dot(X, theta))
    return np.asarray(theta + step * np.dot(residual, X))
