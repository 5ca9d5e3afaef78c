"""The predictions and scores of a model inside another, for rows that are prepared first.

Each method is there where the model has it, fitted or not.

The response of a fitted model of any library: its density around the mean, and its link.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from likely._typing import Array
from likely.errors import InvalidInput
from likely.likelihoods.predictive import PredictiveFamily
from likely.names import has_method


def if_model_has(name: str) -> Any:
    """Make a method available where the model has it, fitted or not."""

    def has(self: Any) -> bool:
        getattr(getattr(self, "model_", self.model), name)  # its own error, if it has none
        return True

    return available_if(has)


class ModelInside(ABC):
    """A model that is asked about prepared rows."""

    model: Any  # not fitted

    @abstractmethod
    def prepare(self, X: Any) -> Any:
        """Rows as the model sees them."""

    @abstractmethod
    def _fitted_model(self) -> Any: ...

    @if_model_has("predict")
    def predict(self, X: Any, *, offset: Any = None, exposure: Any = None) -> Any:
        """The model's prediction for each row, with its offset or exposure where one is given."""
        moved = given_only({"offset": offset, "exposure": exposure})
        return self._fitted_model().predict(self.prepare(X), **moved)

    @if_model_has("predict_proba")
    def predict_proba(self, X: Any, *, offset: Any = None) -> Array:
        """p(k | x), (n, n_classes)."""
        return self._fitted_model().predict_proba(self.prepare(X), **given_only({"offset": offset}))

    @if_model_has("predict_log_proba")
    def predict_log_proba(self, X: Any, *, offset: Any = None) -> Array:
        """log p(k | x), (n, n_classes)."""
        return self._fitted_model().predict_log_proba(
            self.prepare(X), **given_only({"offset": offset})
        )

    @if_model_has("decision_function")
    def decision_function(self, X: Any, *, offset: Any = None) -> Array:
        """The model's score of each row."""
        return self._fitted_model().decision_function(
            self.prepare(X), **given_only({"offset": offset})
        )

    @if_model_has("predict_interval")
    def predict_interval(
        self,
        X: Any,
        level: float = 0.95,
        *,
        offset: Any = None,
        exposure: Any = None,
        of: str = "auto",
    ) -> Array:
        """An interval of each row, (n, 2): for y, for its mean, or for a probability."""
        given = given_only({"offset": offset, "exposure": exposure})
        if of != "auto":
            given["of"] = of
        return self._fitted_model().predict_interval(self.prepare(X), level, **given)

    @if_model_has("score_samples")
    def score_samples(self, X: Any) -> Array:
        """log p(x) of each row, for a model with a density of rows."""
        return self._fitted_model().score_samples(self.prepare(X))

    @if_model_has("log_likelihoods")
    def log_likelihoods(
        self, X: Any, y: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> Array:
        """log p(y_i | x_i) of each row, or as the model inside defines its likelihood."""
        moved = given_only({"offset": offset, "exposure": exposure})
        return np.asarray(self._fitted_model().log_likelihoods(self.prepare(X), y, **moved))

    @if_model_has("log_likelihood")
    def log_likelihood(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        exposure: Any = None,
    ) -> float:
        """Σ_i w_i log p(y_i | x_i), or log p(x_i) of a model of rows."""
        moved = given_only({"offset": offset, "exposure": exposure})
        return self._fitted_model().log_likelihood(self.prepare(X), y, sample_weight, **moved)

    @if_model_has("score")
    def score(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        exposure: Any = None,
    ) -> float:
        """The model's own score: accuracy, R² or a mean log-likelihood."""
        arguments = {"sample_weight": sample_weight, "offset": offset, "exposure": exposure}
        return self._fitted_model().score(self.prepare(X), y, **given_only(arguments))


_ACCEPTED = {  # the arguments of a fit other than X and y, and models that accept them
    "sample_weight": ("sample_weight", ""),
    "offset": ("an offset", " (a GLM)"),
    "exposure": ("an exposure", " (a GLM)"),
}


def unprepared(model: Any) -> Any:
    """The model without its preparation, not fitted."""
    return model.model if isinstance(model, ModelInside) else model


def refuse_unused(model: Any, arguments: Mapping[str, Any]) -> None:
    """Refuse weights, offsets and exposures that the fit of a model does not take."""
    for name in arguments:
        if not has_fit_parameter(model, name):
            what, able = _ACCEPTED[name]
            raise InvalidInput(
                f"{type(model).__name__} does not accept {what}. Leave it out, or use a model that "
                f"does{able}."
            )


def given_only(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that are not None."""
    return {name: value for name, value in arguments.items() if value is not None}


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
