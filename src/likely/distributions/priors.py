"""Priors of generative models: of shares of classes and components, of counts, and of Gaussians.

    π ~ Dirichlet(α)                     mode  π_k ∝ N_k + α_k − 1      (shares of components)
    α pseudo-counts of each value, or α − 1 of a Dirichlet             (columns of counts)
    κ pseudo-observations at the column's mean, ν with its variance    (Gaussian columns)

Estimates are the modes of posteriors: a flat prior, α = 1 or κ = ν = 0, gives maximum likelihood.
Both are independent of units; the Gaussian prior is conjugate, so it is one more block of
statistics.

References
----------
Gelman et al., Bayesian Data Analysis, 3rd ed., §3.3 and §3.4.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.distributions.product import ProductFamily, ProductStatistics
from likely.errors import InvalidInput, UnknownName

CHOICES = ("estimate", "uniform")


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

    def pseudo_counts(self, n_components: int) -> Array:
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


def log_shares(count: Array) -> Array:
    """log N_k / N; −inf for an empty component."""
    with np.errstate(divide="ignore"):
        return np.log(count) - np.log(count.sum())


def class_prior(prior: Any, count: Array) -> Array:
    """log π: estimated from the counts, with a Dirichlet prior if given, uniform, or as given."""
    if isinstance(prior, Dirichlet):
        return log_shares(count + prior.pseudo_counts(len(count)))
    if isinstance(prior, str):
        if prior not in CHOICES:
            raise UnknownName("prior", prior, CHOICES)
        return log_shares(count if prior == "estimate" else np.ones(len(count)))
    try:
        share = np.asarray(prior, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInput(
            "prior must be 'estimate', 'uniform', a Dirichlet or numbers; found "
            f"{type(prior).__name__}. "
            "Give one probability per class, in the order of classes_."
        ) from None
    if share.shape != count.shape:
        raise InvalidInput(
            f"prior has shape {share.shape}; there are {len(count)} classes. "
            "Give one probability per class, in the order of classes_."
        )
    if not (share >= 0).all():
        k = int(np.argmin(share >= 0))
        raise InvalidInput(
            f"prior has {share[k]:g} for class {k}; probabilities are not negative. Give one "
            "probability per class, at least 0, which sum to 1."
        )
    if not np.isclose(share.sum(), 1.0):
        raise InvalidInput(
            f"prior must sum to 1; it sums to {share.sum():g}. Divide it by its sum."
        )
    with np.errstate(divide="ignore"):
        return np.log(share)


def mixing_prior(prior: Any) -> Dirichlet:
    """The prior of mixing proportions, which are estimated; flat unless one is given."""
    if isinstance(prior, Dirichlet):
        return prior
    if isinstance(prior, str) and prior == "estimate":
        return Dirichlet()
    raise InvalidInput(
        f"prior is {prior!r}; 'estimate' or a Dirichlet was expected. Use "
        "likely.distributions.Dirichlet(2.0) for one pseudo-row of each component."
    )


def smoothing_per_column(
    smoothing: Any, family: ProductFamily, statistics: ProductStatistics
) -> Array:
    """The pseudo-counts of every column, as given or chosen by leave-one-out likelihood."""
    n_columns = family.n_features
    if isinstance(smoothing, str):
        if smoothing != "auto":
            raise InvalidInput(
                f"smoothing is {smoothing!r}; expected a number, 0 or more, a Dirichlet or "
                "'auto'. Give one."
            )
        return statistics.chosen_smoothing(family, n_columns)
    return checked_smoothing(smoothing, n_columns).copy()


def pseudo_counts(smoothing: Any) -> Array:
    """Pseudo-counts as given by numbers, or the α − 1 of a Dirichlet prior, for its mode."""
    if isinstance(smoothing, Dirichlet):
        return np.asarray(smoothing.concentration, dtype=float) - 1.0
    return np.asarray(smoothing, dtype=float)


def checked_smoothing(smoothing: Any, n_columns: int) -> Array:
    """Pseudo-counts per value of every column: as given, or α − 1 of a Dirichlet prior.

    There is one number, or one per column.
    """
    advice = "Use 1.0, or one number per column."
    try:
        alpha = pseudo_counts(smoothing)
    except (TypeError, ValueError):
        raise InvalidInput(
            "smoothing must be a number, one per column, or a Dirichlet; found "
            f"{smoothing!r}. {advice}"
        ) from None
    if alpha.ndim > 1 or alpha.size not in (1, n_columns):
        raise InvalidInput(
            f"smoothing has shape {alpha.shape}; one number or {n_columns} were expected, one per "
            f"column of X. {advice}"
        )
    if not ((alpha >= 0) & (alpha < np.inf)).all():
        wrong = alpha.ravel()[~((alpha >= 0) & (alpha < np.inf)).ravel()][0]
        raise InvalidInput(f"smoothing must be finite and 0 or more; found {wrong:g}. {advice}")
    return np.broadcast_to(alpha, n_columns)
