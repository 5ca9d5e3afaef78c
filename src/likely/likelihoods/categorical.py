"""The categorical response with the softmax link: K classes, one η for each.

    nll = ln Σ_l e^(η_l) − η_y        ∂nll/∂η_k = p_k − [y = k]
    ∂²nll/∂η_k∂η_l = p_k (δ_kl − p_l)  ≼  ½ (I − 11ᵀ/K)

The bound holds at every η, so one factorisation serves all steps of a search.

References
----------
Böhning (1992), Multinomial logistic regression algorithm, §2.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from likely._typing import Array, Codes
from likely.errors import InvalidInput
from likely.special import log, softmax
from likely.storage.declarations import InRange


@final
@dataclass(frozen=True, eq=False)
class CurvatureBlocks:
    """The K×K curvatures of n examples, stored as p, and a bound on all of them."""

    probability: Array  # (n, K)
    bound: Array  # (K, K), ½ (I − 11ᵀ/K)

    def block(self, k: int, other: int) -> Array:
        """∂²nll/∂η_k∂η_l of each example, (n,)."""
        p = self.probability
        return p[:, k] * (float(k == other) - p[:, other])

    def times(self, direction: Array) -> Array:
        """Each curvature times its row of ``direction``, (n, K)."""
        weighted = self.probability * direction
        return weighted - self.probability * weighted.sum(axis=1, keepdims=True)


@final
@dataclass(frozen=True)
class Categorical:
    """y is a class number from 0 to K − 1; η is (n, K), up to a constant for each row."""

    saved_rules = (InRange("n_classes", "at least 2"),)

    n_classes: int

    def __post_init__(self) -> None:
        if self.n_classes < 2:
            raise InvalidInput(
                f"A categorical response needs 2 or more classes; found {self.n_classes}. "
                "Give examples of another class."
            )

    def check(self, y: Codes) -> None:
        check_codes(y, self.n_classes)

    def nll(self, y: Codes, eta: Array) -> Array:
        """−ln p_y, (n,)."""
        return self._centred(y, eta)[1]

    def derivatives(self, y: Codes, eta: Array) -> tuple[Array, Array, Array]:
        """nll (n,), its slope p − onehot(y) (n, K), and p (n, K), which gives the curvature."""
        probability, nll = self._centred(y, eta)
        slope = probability.copy()
        rows = np.arange(len(slope))
        slope[rows, y] = 0.0
        slope[rows, y] = -slope.sum(axis=1)  # p_y − 1 would cancel where p_y is near 1
        return nll, slope, probability

    def curvature_blocks(self, eta: Array) -> CurvatureBlocks:
        K = self.n_classes
        return CurvatureBlocks(self.mean(eta), (np.eye(K) - 1 / K) / 2)

    def mean(self, eta: Array) -> Array:
        """p, (n, K)."""
        return softmax(eta, axis=1)

    def sample(self, eta: Array, rng: np.random.Generator) -> Codes:
        """One class number per row, by inverting the cumulative probabilities."""
        cumulative = np.cumsum(self.mean(eta), axis=1)
        u = rng.random((len(cumulative), 1)) * cumulative[:, -1:]
        return (u >= cumulative[:, :-1]).sum(axis=1)

    def _centred(self, y: Codes, eta: Array) -> tuple[Array, Array]:
        """p and nll, from one exponential."""
        top = eta.max(axis=1, keepdims=True)
        e = np.exp(eta - top)
        total = e.sum(axis=1)
        nll = log(total) + (top[:, 0] - eta[np.arange(len(eta)), y])
        return e / total[:, None], nll


def check_codes(y: Codes, n_classes: int) -> None:
    """Refuse anything but whole numbers from 0 to K − 1."""
    y = np.asarray(y)
    valid = (y >= 0) & (y < n_classes) & (y == np.floor(y))
    if not valid.all():
        i = int(np.flatnonzero(~valid)[0])
        raise InvalidInput(
            f"Class numbers must be whole, from 0 to {n_classes - 1}; found {y[i]:g} at example "
            f"{i}. Number the classes in order, from 0."
        )
