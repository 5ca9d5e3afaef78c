"""The public estimators, found by looking: a new one is under the laws without further work."""

from typing import Any

from sklearn.base import BaseEstimator

import likely


def public_estimators() -> list[type[Any]]:
    """The classes in ``likely.__all__`` that are scikit-learn estimators."""
    public = (getattr(likely, name) for name in likely.__all__)
    return [
        entry for entry in public if isinstance(entry, type) and issubclass(entry, BaseEstimator)
    ]
