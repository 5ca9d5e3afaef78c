"""The covariance of each class of a discriminant analysis, shrunk.

    auto      Σ_k ← (1 − s_k) S_k + s_k μ I in units of the class's own standard deviations
    pooled    Σ_k ← (n_k S_k + ν S) / (n_k + ν),   S = Σ_k n_k S_k / n,   ν = d + 2

``auto`` is Ledoit and Wolf's rule.  ``pooled`` is the prior of Fraley and Raftery: ν rows of every
class are imagined with the covariance that the classes share, so that a rare class has the matrix
of a tied model, and a class with many rows its own.

References
----------
Friedman (1989), Regularized discriminant analysis, JASA 84.
Fraley & Raftery (2007), Bayesian regularization for normal mixture estimation, J. of Classif. 24.
"""

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import Blocks
from likely.distributions import FullFamily, FullGaussian
from likely.distributions.full_moments import FullMoments
from likely.objectives.shrinkage import fourth_powers, ledoit_wolf, shrunk_by, unit_scale

MORE_THAN_COLUMNS = 2  # imagined rows of the pooled prior, beyond the number of columns


def ledoit_wolf_shrinkages(
    statistics: FullMoments, blocks: Blocks, executor: Executor, *, tied: bool
) -> Array:
    """Ledoit and Wolf's shrinkage of each class, (n_classes,), by one more pass over the rows."""
    empirical = FullFamily(rounded=not tied).from_statistics(statistics).covariance
    scale = np.stack([unit_scale(covariance) for covariance in empirical])
    quartic = fourth_powers(statistics.mean, scale, blocks, executor)
    varying = empirical[(slice(None), *_varying(empirical))]
    each = zip(varying, quartic, statistics.weight[:, 0], strict=True)
    return np.array([ledoit_wolf(*one).shrinkage for one in each])


def shrunk_alone(statistics: FullMoments, shrinkage: Array, *, tied: bool) -> FullGaussian:
    """Each class shrunk towards its own variances; pooled by class shares when tied."""
    empirical = FullFamily(rounded=not tied).from_statistics(statistics)
    covariance, block = np.zeros(empirical.covariance.shape), _varying(empirical.covariance)
    for k, share in enumerate(shrinkage):
        covariance[k][block] = shrunk_by(empirical.covariance[k][block], share)
    if tied:
        covariance = np.average(covariance, axis=0, weights=statistics.weight[:, 0])[None]
    return FullGaussian(empirical.mean, covariance)


def _varying(covariance: Array) -> tuple[Array, Array]:
    """The rows and columns of the features that are not constant in all classes."""
    varies = np.einsum("kjj->j", covariance) > 0
    return np.ix_(varies, varies)


def pooled_shrinkages(count: Array, n_features: int) -> Array:
    """ν / (n_k + ν), (n_classes,)."""
    imagined = n_features + MORE_THAN_COLUMNS
    return imagined / (count + imagined)


def shrunk_to_pooled(statistics: FullMoments, *, ddof: int) -> FullGaussian:
    """Each class shrunk towards the covariance that all classes share."""
    own = FullFamily(ddof=ddof, rounded=True).from_statistics(statistics)
    count = statistics.weight[:, 0]
    share = pooled_shrinkages(count, own.mean.shape[1])[:, None, None]
    pooled = np.average(own.covariance, axis=0, weights=count)
    covariance = (1 - share) * own.covariance + share * pooled
    return FullGaussian(own.mean, (covariance + np.swapaxes(covariance, 1, 2)) / 2)
