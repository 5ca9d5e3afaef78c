"""This library's estimators, set to the objective that is stated, and the parameters they reach.

Each function has a twin of the same name in ``benchmarks.against.scikit_learn``.
"""

import numpy as np

from benchmarks.objectives import Array, CategoricalClasses, GaussianClasses, GaussianMix
from benchmarks.workbench import with_all_steps, without_warnings
from likely import DiscriminantAnalysis, GaussianMixture, NaiveBayes


def gaussian_naive_bayes(X: Array, y: Array, executor: str = "auto") -> NaiveBayes:
    """Maximum likelihood: no floor under the variances."""
    return NaiveBayes(event="gaussian", variance_floor=0.0, executor=executor).fit(X, y)


def gaussian_classes(model: NaiveBayes) -> GaussianClasses:
    (gaussian,) = model.distribution_.parts
    return GaussianClasses(model.class_log_prior_, gaussian.mean, gaussian.variance)


def categorical_naive_bayes(X: Array, y: Array, executor: str = "auto") -> NaiveBayes:
    """One imagined example of every value of every feature in every class."""
    return NaiveBayes(event="categorical", smoothing=1.0, executor=executor).fit(X, y)


def categorical_classes(model: NaiveBayes) -> CategoricalClasses:
    (categorical,) = model.distribution_.parts
    ends = np.cumsum(categorical.sizes)[:-1]
    tables = np.split(categorical.log_probability, ends, axis=1)
    return CategoricalClasses(model.class_log_prior_, tuple(tables))


@without_warnings
def gaussian_mixture(
    X: Array, start: GaussianMix, n_iter: int, executor: str = "auto"
) -> GaussianMixture:
    """``n_iter`` steps of EM for maximum likelihood, from ``start``."""
    model = GaussianMixture(
        len(start.mixing),
        covariance="full",
        start=start._asdict(),
        regularisation=0.0,
        tol=0.0,
        max_iter=n_iter,
        executor=executor,
    ).fit(X)
    return with_all_steps(model, n_iter)


def gaussian_mix(model: GaussianMixture) -> GaussianMix:
    return GaussianMix(model.weights_, model.means_, model.covariances_)


def discriminant(X: Array, y: Array) -> DiscriminantAnalysis:
    """One covariance for all classes, scatter over n."""
    return DiscriminantAnalysis(covariance="tied").fit(X, y)
