"""The public estimators, found by looking: a new one is under the laws without further work."""

from inspect import signature
from typing import Any

from sklearn.base import BaseEstimator

import likely


def public_estimators() -> list[type[Any]]:
    """The classes in ``likely.__all__`` that are scikit-learn estimators."""
    public = (getattr(likely, name) for name in likely.__all__)
    return [
        entry for entry in public if isinstance(entry, type) and issubclass(entry, BaseEstimator)
    ]


def made(kind: type[Any], **arguments: Any) -> Any:
    """An instance; one that wraps a classifier is given one of ours."""
    wraps = "estimator" in signature(kind).parameters and "estimator" not in arguments
    return kind(likely.LogisticRegression(), **arguments) if wraps else kind(**arguments)
