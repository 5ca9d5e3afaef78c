"""The prior of a mixture's components, in the data's own units.

Families of counts have imagined counts.  A Gaussian part has an inverse-Wishart prior that
stands for ``strength`` imagined examples with the data's variances; the strong one is that of
Fraley and Raftery, ν = d + 2, with the volume shared among the components.

References
----------
Fraley & Raftery, Bayesian regularization for normal mixture estimation and model-based
clustering, J. Classification 2007, §3.
"""

from typing import Any

import numpy as np

from likely.distributions.base import Family
from likely.distributions.full_gaussian import FullFamily
from likely.distributions.gaussian import DiagonalFamily
from likely.distributions.product import ProductFamily, ProductStatistics
from likely.distributions.responsibility import Labels
from likely.errors import InvalidInput


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
