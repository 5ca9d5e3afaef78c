"""The public estimators, found by looking: a new one is under the laws without further work."""

from inspect import signature
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

import likely


def all_estimators() -> list[type[Any]]:
    """The classes in ``likely.__all__`` that are scikit-learn estimators."""
    public = (getattr(likely, name) for name in likely.__all__)
    return [
        entry for entry in public if isinstance(entry, type) and issubclass(entry, BaseEstimator)
    ]


def takes_documents(kind: type[Any]) -> bool:
    """Whether rows are texts, as scikit-learn's tags of CountVectorizer say."""
    tags = get_tags(made(kind)).input_tags
    return bool(tags.string and not tags.two_d_array)


def public_estimators() -> list[type[Any]]:
    """Those of tables."""
    return [kind for kind in all_estimators() if not takes_documents(kind)]


def text_estimators() -> list[type[Any]]:
    """Those of documents."""
    return [kind for kind in all_estimators() if takes_documents(kind)]


def made(kind: type[Any], **arguments: Any) -> Any:
    """An instance; one that wraps a model is given one of ours."""
    takes = signature(kind).parameters
    if "cv" in takes:
        arguments.setdefault("cv", 3)  # each fold is a fit
    if "estimator" in takes:
        arguments.setdefault("estimator", likely.LogisticRegression())
    if "words" in takes and "impute" not in takes:  # rows are documents
        arguments.setdefault("model", likely.NaiveBayes("multinomial"))
    elif "model" in takes:
        arguments.setdefault("model", likely.LinearRegression())
    if "n_penalties" in takes:
        arguments.setdefault("n_penalties", 5)  # each is a search
    if "max_epochs" in takes:
        arguments.setdefault("max_epochs", 60)
        arguments.setdefault("tol", None)
        arguments.setdefault("learning_rate", 0.02)
    return kind(**arguments)
