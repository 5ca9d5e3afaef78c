"""Priors of generative models, as objects.

    π ~ Dirichlet(α)                     mode  π_k ∝ N_k + α_k − 1      (shares of components)
    κ pseudo-observations at the column's mean, ν with its variance    (Gaussian columns)

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
    """A prior for the shares of classes or components; one concentration α, or one for each.

    It is α − 1 pseudo-observations of each.
    """

    concentration: float | tuple[float, ...] = 1.0

    def __post_init__(self) -> None:
        alpha = np.asarray(self.concentration, dtype=float)
        if alpha.ndim > 1 or not ((alpha >= 1) & (alpha < np.inf)).all():
            raise InvalidInput(
                f"The concentration of a Dirichlet prior must be finite and 1 or more, so that "
                f"there is a mode; found {self.concentration!r}. Use 2.0 for one "
                "pseudo-observation of each class or component."
            )

    def imagined(self, n_components: int) -> Array:
        """α − 1, (n_components,)."""
        alpha = np.asarray(self.concentration, dtype=float)
        if alpha.ndim and len(alpha) != n_components:
            raise InvalidInput(
                f"The Dirichlet prior has {len(alpha)} concentrations and there are {n_components} "
                "classes or components; they must agree. Give one number for all, or one for each."
            )
        return np.broadcast_to(alpha - 1.0, n_components)

    def of_each(self) -> float:
        """α − 1, where one concentration is that of every value."""
        if np.ndim(self.concentration):
            raise InvalidInput(
                f"{self!r} was given; a Dirichlet prior of tables of probabilities has one "
                "concentration for all of their cells. Use Dirichlet(2.0) for one "
                "pseudo-observation of each."
            )
        return float(np.asarray(self.concentration)) - 1.0


@final
@dataclass(frozen=True)
class GaussianPrior:
    """A prior for Gaussian columns, in pseudo-observations for each component.

    ``mean`` of them are at the mean of the column; ``variance`` have its variance, and no
    correlation with other columns.  Both are over all components; a covariance that these share has
    ``variance`` of them once.
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


def refuse_other_prior(prior: object) -> None:
    """Refuse a prior of Gaussian columns that is none."""
    if prior is not None and not isinstance(prior, GaussianPrior):
        raise InvalidInput(
            f"The prior of Gaussian columns is {prior!r}; a GaussianPrior or None was expected. "
            "Use GaussianPrior(mean=1.0, variance=1.0) for one pseudo-observation of each kind."
        )
