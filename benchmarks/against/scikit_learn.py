"""scikit-learn's estimators, set to the objective that is stated, and the parameters they reach.

Each function has a twin of the same name in ``benchmarks.ours``.
"""

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from benchmarks.objectives import Array, CategoricalClasses, GaussianClasses, GaussianMix
from benchmarks.workbench import with_all_steps, without_warnings


def gaussian_naive_bayes(X: Array, y: Array) -> GaussianNB:
    """Maximum likelihood: nothing is added to the variances."""
    return GaussianNB(var_smoothing=0.0).fit(X, y)


def gaussian_classes(model: GaussianNB) -> GaussianClasses:
    return GaussianClasses(np.log(model.class_prior_), model.theta_, model.var_)


def categorical_naive_bayes(X: Array, y: Array) -> CategoricalNB:
    """One imagined example of every value of every feature in every class."""
    return CategoricalNB(alpha=1.0).fit(X, y)


def categorical_classes(model: CategoricalNB) -> CategoricalClasses:
    return CategoricalClasses(model.class_log_prior_, tuple(model.feature_log_prob_))


@without_warnings
def gaussian_mixture(X: Array, start: GaussianMix, n_iter: int) -> GaussianMixture:
    """``n_iter`` steps of EM for maximum likelihood, from ``start``."""
    model = GaussianMixture(
        len(start.mixing),
        covariance_type="full",
        weights_init=start.mixing,
        means_init=start.mean,
        precisions_init=np.linalg.inv(start.covariance),
        reg_covar=0.0,
        tol=0.0,
        max_iter=n_iter,
    ).fit(X)
    return with_all_steps(model, n_iter)


def gaussian_mix(model: GaussianMixture) -> GaussianMix:
    return GaussianMix(model.weights_, model.means_, model.covariances_)


def discriminant(X: Array, y: Array) -> LinearDiscriminantAnalysis:
    """One covariance for all classes, scatter over n."""
    return LinearDiscriminantAnalysis(solver="svd").fit(X, y)
