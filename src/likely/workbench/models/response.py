"""The response of a fitted model of any library: its density around the mean, and its link."""

from typing import Any, Protocol, runtime_checkable

from sklearn.pipeline import Pipeline

from likely.likelihoods.predictive import PredictiveFamily
from likely.names import has_method


@runtime_checkable
class Predictive(Protocol):
    """A model of numbers with a predictive density."""

    def predictive_family(self) -> PredictiveFamily | None: ...


@runtime_checkable
class FittedSearch(Protocol):
    """A search like those of scikit-learn, which contains the best model."""

    best_estimator_: Any


def predictive_family(model: Any) -> PredictiveFamily | None:
    """The density of y around the predicted mean; None if a model has none.

    A pipeline and a search of scikit-learn have that of the model inside.
    """
    if isinstance(model, Predictive):
        return model.predictive_family()
    if isinstance(model, Pipeline):
        return predictive_family(model.steps[-1][1])
    return predictive_family(model.best_estimator_) if isinstance(model, FittedSearch) else None


def link_of(model: Any) -> str:
    """The link on whose scale offsets change the mean; the identity if a model has none."""
    return str(model.offset_link()) if has_method(model, "offset_link") else "identity"
