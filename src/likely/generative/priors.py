"""Priors of the generative models: for classes and mixing proportions, and for counts."""

from typing import Any

import numpy as np

from likely._typing import Array
from likely.distributions.priors import Dirichlet
from likely.distributions.product import ProductFamily, ProductStatistics
from likely.errors import InvalidInput, UnknownName
from likely.objectives.components import log_shares

CHOICES = ("estimate", "uniform")


def class_prior(prior: Any, count: Array) -> Array:
    """log π: estimated from the counts, with a Dirichlet prior if given, uniform, or as given."""
    if isinstance(prior, Dirichlet):
        return log_shares(count + prior.imagined(len(count)))
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
