"""Priors of generative models, as objects.

    π ~ Dirichlet(α)                     mode  π_k ∝ N_k + α_k − 1            (class shares)
    κ pseudo-observations at the column's mean, ν with its variance          (Gaussian columns)

Estimates are the modes of posteriors: a flat prior, α = 1 or κ = ν = 0, gives maximum likelihood.
Both are independent of units; the Gaussian prior is conjugate, so it is one more block of
statistics.

References
----------
Gelman et al., Bayesian Data Analysis, 3rd ed., §3.3 and §3.4.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput


@final
@dataclass(frozen=True)
class Dirichlet:
    """A prior for class shares: α − 1 pseudo-observations of each class; one α, or one each."""

    concentration: float | tuple[float, ...] = 1.0

    def __post_init__(self) -> None:
        alpha = np.asarray(self.concentration, dtype=float)
        if alpha.ndim > 1 or not ((alpha >= 1) & (alpha < np.inf)).all():
            raise InvalidInput(
                f"The concentration of a Dirichlet prior must be finite and 1 or more, so that "
                f"there is a mode; found {self.concentration!r}. Use 2.0 for one "
                "pseudo-observation of each class."
            )

    def imagined(self, n_classes: int) -> Array:
        """α − 1, (n_classes,)."""
        alpha = np.asarray(self.concentration, dtype=float)
        if alpha.ndim and len(alpha) != n_classes:
            raise InvalidInput(
                f"The Dirichlet prior has {len(alpha)} concentrations and there are {n_classes} "
                "classes; they must agree. Give one number for all, or one per class."
            )
        return np.broadcast_to(alpha - 1.0, n_classes)


@final
@dataclass(frozen=True)
class GaussianPrior:
    """A prior for Gaussian columns, in pseudo-observations for each component.

    ``mean`` of them are at the mean of the column, and ``variance`` have its variance, both over
    all components.
    """

    mean: float = 0.0
    variance: float = 0.0

    def __post_init__(self) -> None:
        for name, value in (("mean", self.mean), ("variance", self.variance)):
            if not 0 <= value < np.inf:
                raise InvalidInput(
                    f"The {name} of a GaussianPrior is a number of pseudo-observations, finite and "
                    f"0 or more; found {value!r}. Use 1.0."
                )
