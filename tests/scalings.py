"""Scalings, rows to calibrate on, and classifiers whose scores are known."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, make_classification

from likely.calibrate.isotonic import IsotonicScaling
from likely.calibrate.platt import PlattScaling
from likely.calibrate.temperature import TemperatureScaling

SCALINGS = (PlattScaling, TemperatureScaling, IsotonicScaling)
every_scaling = pytest.mark.parametrize("scaling", SCALINGS, ids=lambda kind: kind.__name__)
CANCER = load_breast_cancer(return_X_y=True)


def noisy(seed=0, n=400, n_classes=2):
    return make_classification(
        n, 6, n_informative=4, n_classes=n_classes, flip_y=0.2, random_state=seed
    )


def halves(n_classes=2):
    X, y = noisy(n=600, n_classes=n_classes)
    return X[:300], y[:300], X[300:], y[300:]


class Passes(ClassifierMixin, BaseEstimator):
    """A classifier that is fitted already and whose score is its first column."""

    def __init__(self, classes=(0, 1)):
        self.classes = classes

    def fit(self, X, y):
        self.classes_ = np.array(self.classes)
        return self

    def decision_function(self, X):
        X = np.asarray(X, dtype=float)
        return X[:, 0] if X.shape[1] == 1 else X


def score_alone(f, classes=(0, 1)):
    f = np.asarray(f, dtype=float)
    return Passes(classes).fit(f, None), f[:, None] if f.ndim == 1 else f
