"""Priors of the generative classifiers: of the classes, and of their counts.
The prior of a mixture's components, in the data's own units.

Families of counts have imagined counts.  A Gaussian part has an inverse-Wishart prior that
stands for ``strength`` imagined examples with the data's variances; the strong one is that of
Fraley and Raftery, ν = d + 2, with the volume shared among the components.

References
----------
Fraley & Raftery, Bayesian regularization for normal mixture estimation and model-based
clustering, J. Classification 2007, §3.
"""

from functools import partial
from typing import Any

import numpy as np

from likely._typing import Array
from likely.distributions.base import Family
from likely.distributions.full_gaussian import FullFamily
from likely.distributions.gaussian import DiagonalFamily
from likely.distributions.product import ProductFamily, ProductStatistics
from likely.distributions.responsibility import Labels
from likely.distributions.smoothing import best_smoothing
from likely.errors import InvalidInput, UnknownName
from likely.objectives.components import log_shares

CHOICES = ("estimate", "uniform")


def class_prior(prior: Any, count: Array) -> Array:
    """log π: estimated from the counts, uniform, or as given."""
    if isinstance(prior, str):
        if prior not in CHOICES:
            raise UnknownName("prior", prior, CHOICES)
        return log_shares(count if prior == "estimate" else np.ones(len(count)))
    try:
        share = np.asarray(prior, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"prior must be 'estimate', 'uniform' or numbers; found {type(prior).__name__}. "
            "Give one probability per class, in the order of classes_."
        ) from None
    if share.shape != count.shape:
        raise InvalidInput(
            f"prior has shape {share.shape}; there are {len(count)} classes. "
            "Give one probability per class, in the order of classes_."
        )
    if (share < 0).any() or not np.isclose(share.sum(), 1.0):
        raise InvalidInput(
            f"prior must be at least 0 and sum to 1; it sums to {share.sum():g}. "
            "Divide it by its sum."
        )
    with np.errstate(divide="ignore"):
        return np.log(share)


def smoothing_per_column(
    smoothing: Any, family: ProductFamily, statistics: ProductStatistics
) -> Array:
    """The imagined counts of every column, as given or chosen by leave-one-out likelihood."""
    n_columns = sum(len(part.selection.features) for part in family.parts)
    if isinstance(smoothing, str):
        if smoothing != "auto":
            raise UnknownName("smoothing", smoothing, ["auto"])
        return _chosen(family, statistics, n_columns)
    alpha = np.asarray(smoothing, dtype=float)
    if alpha.ndim > 1 or alpha.size not in (1, n_columns):
        raise InvalidInput(
            f"smoothing has shape {alpha.shape} for {n_columns} columns; "
            "give one number, or one per column."
        )
    if not (np.isfinite(alpha).all() and (alpha >= 0).all()):
        raise InvalidInput(
            f"smoothing must be 0 or more; found {alpha.min():g}. Use 1.0, or 'auto'."
        )
    return np.broadcast_to(alpha, n_columns).copy()


def _chosen(family: ProductFamily, statistics: ProductStatistics, n_columns: int) -> Array:
    out = np.ones(n_columns)
    for part, own in zip(family.parts, statistics.parts, strict=True):
        if part.family.smoothed:
            out[list(part.selection.features)] = best_smoothing(
                partial(part.family.leave_one_out, own)
            )
    return out


def prior_statistics(
    family: Family, pooled: Any, n_components: int, alpha: Any, strength: float, *, strong: bool
) -> Any:
    """Pseudo-statistics that keep every component proper, in the data's own units."""
    if isinstance(family, ProductFamily):
        return _product_prior(family, pooled, n_components, alpha, strength, strong=strong)
    if not isinstance(family, DiagonalFamily | FullFamily):
        raise InvalidInput(
            f"{type(family).__name__} has no scale of its own to make a prior of; mixtures take it "
            "as a part of a product. Give it as an event model."
        )
    variance = pooled.pooled_variance()
    scale = np.where(variance > 0, variance, 1.0)
    d = len(scale)
    if strong:  # Fraley & Raftery: ν = d + 2, and the volume shared among the components
        strength, scale = float(d + 2), scale / n_components ** (2 / d)
    return family.pseudo_statistics(strength, (n_components, d), scale=scale)


def _product_prior(
    family: ProductFamily,
    pooled: ProductStatistics,
    n_components: int,
    alpha: Any,
    strength: float,
    *,
    strong: bool,
) -> ProductStatistics:
    n_features = sum(len(part.selection.features) for part in family.parts)
    counts = family.pseudo_statistics(alpha, (n_components, n_features))
    parts = []
    for part, own, count in zip(family.parts, pooled.parts, counts.parts, strict=True):
        if isinstance(part.family, DiagonalFamily | FullFamily):
            count = prior_statistics(part.family, own, n_components, alpha, strength, strong=strong)
        parts.append(count)
    return ProductStatistics(tuple(parts))


def scale_statistics(family: Family, X: Any, labels: Labels) -> Any:
    """For the prior's scale alone: of a full Gaussian, variances, which sum missing cells out."""
    if isinstance(family, ProductFamily):
        parts = []
        for part in family.parts:
            with part.selection.placing():
                parts.append(scale_statistics(part.family, part.selection.of(X), labels))
        return ProductStatistics(tuple(parts))
    return (DiagonalFamily() if isinstance(family, FullFamily) else family).statistics(X, labels)
