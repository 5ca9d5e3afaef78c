"""Units in which a Hessian is near the identity, for solvers that see only gradients.

    M = LLᵀ near the Hessian        φ = Lᵀθ        ∂f/∂φ = L⁻¹ ∂f/∂θ

M need not be the Hessian at any θ: a bound on it works for a whole search with one factorisation.

References
----------
Nocedal & Wright, Numerical Optimization, 2nd ed., §5.1 (preconditioning).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self, final

import numpy as np
from scipy.linalg import solve_triangular

from likely._typing import Array
from likely.cholesky import factorise

# relative to a unit diagonal: directions in which the columns depend on one another keep some
# curvature, and the factor of a matrix that is singular but for rounding exists
JITTER = 1e-10


class Preconditioner(ABC):
    """A change of units."""

    fewest_pairs: ClassVar[int]  # of L-BFGS, before a gap in these units is reliable

    @abstractmethod
    def whiten(self, gradient: Array) -> Array:
        """L⁻¹g, the gradient in the new units."""

    @abstractmethod
    def back(self, direction: Array) -> Array:
        """L⁻ᵀd, a direction converted from new to old units."""

    @abstractmethod
    def forward(self, step: Array) -> Array:
        """Lᵀs, a step converted from old to new units."""


@final
@dataclass(frozen=True, eq=False)
class Triangular(Preconditioner):
    """One factor for all of θ, of a matrix that approximates the Hessian."""

    factor: Array  # L, lower triangular (d, d)

    fewest_pairs: ClassVar[int] = 0

    def whiten(self, gradient: Array) -> Array:
        return np.asarray(solve_triangular(self.factor, gradient, lower=True, check_finite=False))

    def back(self, direction: Array) -> Array:
        return np.asarray(
            solve_triangular(self.factor, direction, lower=True, trans="T", check_finite=False)
        )

    def forward(self, step: Array) -> Array:
        return np.dot(self.factor.T, step)


@final
@dataclass(frozen=True, eq=False)
class PerClass(Preconditioner):
    """The same factor for each of K equal parts of θ: what classes share is factorised once.

    Steps stay centred over classes when gradients are.  Interactions between classes are ignored,
    so that the curvature may be far less than 1 in some directions of the new units.
    """

    factor: Array  # L, lower triangular (p, p)
    n_classes: int

    fewest_pairs: ClassVar[int] = 5

    @classmethod
    def of(cls, matrix: Array, n_classes: int) -> Self:
        """From a positive semidefinite matrix, also with columns that are 0 or repeat others."""
        return cls(robust_factor(matrix), n_classes)

    def whiten(self, gradient: Array) -> Array:
        return self._each(
            solve_triangular(self.factor, self._columns(gradient), lower=True, check_finite=False)
        )

    def back(self, direction: Array) -> Array:
        columns = self._columns(direction)
        return self._each(
            solve_triangular(self.factor, columns, lower=True, trans="T", check_finite=False)
        )

    def forward(self, step: Array) -> Array:
        return self._each(np.dot(self.factor.T, self._columns(step)))

    def _columns(self, theta: Array) -> Array:
        return theta.reshape(self.n_classes, -1).T  # (p, K)

    def _each(self, columns: Array) -> Array:
        return np.asarray(columns.T.ravel())


def robust_factor(matrix: Array) -> Array:
    """The lower Cholesky factor of M, scaled to a unit diagonal and given a little jitter."""
    diagonal = np.diag(matrix)
    added = np.where(diagonal > 0, JITTER * diagonal, 1.0 - diagonal)
    found = factorise(matrix + np.diag(added), hold=False)
    return found.lower / found.scale[:, None]
