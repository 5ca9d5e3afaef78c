"""What an estimator of another library needs and knows, read from its class and its parts.

whether the scale of a column matters    a penalty, a distance, a kernel or a gradient compares
                                         columns, whatever its argument is called (``C``, ``alpha``,
                                         ``nu``, …); trees and least squares do not
whether it takes missing cells           its tags; a pipeline with an imputer
whether it chooses its own columns       a pipeline that begins with a ``ColumnTransformer``, an
                                         encoder, or anything else that reads text
which density numbers have               that of the fitted model inside a pipeline or a search

A model inside another one (in a search, a calibration, an ensemble, a pipeline) counts as the
model itself.  An estimator of scikit-learn is taken to depend on the scale unless it is listed here
as one that does not: scaling without need changes nothing, its absence is a handicap.
"""

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from likely._typing import Array
from likely.likelihoods.predictive import PredictiveFamily
from likely.names import has_method

SCALE_FREE = (  # modules whose estimators give the same predictions on any scale of a column
    "sklearn.dummy",
    "sklearn.tree",
    "sklearn.ensemble._forest",
    "sklearn.ensemble._gb",
    "sklearn.ensemble._hist_gradient_boosting",
    "catboost",
    "lightgbm",
    "xgboost",
)
OF_TREES = ("sklearn.ensemble._bagging", "sklearn.ensemble._weight_boosting")  # by default
LEAST_SQUARES = ("LinearRegression", "RANSACRegressor", "TheilSenRegressor")
THRESHOLD = "BernoulliNB"  # its argument ``binarize`` is in the units of the columns
SCALERS = "sklearn.preprocessing"  # their names end with one of
SCALER_NAMES = ("Scaler", "Normalizer", "PowerTransformer", "QuantileTransformer")
SHARED = ("sklearn.base", "sklearn.utils")  # base classes of every estimator
CHOOSING = {"ColumnTransformer", "FeatureUnion", "FunctionTransformer"}
SEARCHED = {"param_grid", "param_distributions"}  # an argument of a search
COMPARING = {  # arguments, in other libraries, of what compares columns
    *("C", "Cs", "alpha", "alphas", "l1", "l2", "l1_ratio", "penalty", "regularizer", "nu"),
    *("reg_alpha", "reg_lambda", "reg_param", "lam", "lambda_", "lambda_1", "weight_decay"),
    *("gamma", "kernel", "metric", "n_neighbors", "hidden_layer_sizes", "shrinkage"),
}


@runtime_checkable
class FittedSearch(Protocol):
    """A search like those of scikit-learn, which contains the best model."""

    best_estimator_: Any


def depends_on_scale(model: Any) -> bool:
    """Whether a model predicts otherwise if a column is measured in another unit."""
    if has_method(model, "column_needs"):  # one of likely
        return bool(model.column_needs().scale)
    if isinstance(model, Pipeline):
        steps = _steps(model)
        return not any(map(_is_scaler, steps)) and any(
            depends_on_scale(step) for step in steps if has_method(step, "predict")
        )
    inside = list(models_inside(model))
    if inside:
        return any(map(depends_on_scale, inside))
    return not get_tags(model).input_tags.positive_only and _compares_columns(type(model), model)


def takes_missing(model: Any) -> bool:
    """Whether a model takes missing numbers as they are."""
    if isinstance(model, Pipeline):
        steps = _steps(model)
        if any(_module(type(step)).startswith("sklearn.impute") for step in steps):
            return True
        return all(takes_missing(step) for step in steps)
    if not SEARCHED.isdisjoint(model.get_params(deep=False)):  # a search checks no cells
        return all(map(takes_missing, models_inside(model)))
    return bool(get_tags(model).input_tags.allow_nan)


def takes_sparse(model: Any) -> bool:
    """Whether a model, and each model inside it, takes sparse rows."""
    inside = list(models_inside(model))
    if inside and not isinstance(model, Pipeline):
        return all(map(takes_sparse, inside))
    return bool(get_tags(model).input_tags.sparse)


def chooses_columns(model: Any) -> bool:
    """Whether a model must be given the columns as they are: it selects or encodes them itself."""
    if isinstance(model, Pipeline):
        steps = _steps(model)
        return bool(steps) and _reads_raw(steps[0])
    return any(map(chooses_columns, models_inside(model)))


def models_inside(model: Any) -> Iterator[Any]:
    """The estimators directly inside a model: its arguments, and those in its lists of them."""
    for value in model.get_params(deep=False).values():
        items = value if isinstance(value, list | tuple) else [value]
        for item in items:
            part = item[1] if isinstance(item, tuple) and len(item) == 2 else item
            if not isinstance(part, type) and has_method(part, "fit"):
                yield part


def fitted_inside(model: object) -> Any:
    """The fitted model that predicts, inside pipelines and searches; any other is its own."""
    if isinstance(model, Pipeline):
        return fitted_inside(model.steps[-1][1])
    return fitted_inside(model.best_estimator_) if isinstance(model, FittedSearch) else model


def predictive_family(model: Any) -> PredictiveFamily | None:
    """The density of y around the predicted mean; None if a model has none."""
    inner = fitted_inside(model)
    if not has_method(inner, "predictive_family"):
        return None
    found: PredictiveFamily | None = inner.predictive_family()
    return found


def new_spread(model: Any, features: object) -> Array | None:
    """The standard deviation of η by categories that the fit did not have; None if unknown."""
    inner = fitted_inside(model)
    if not has_method(inner, "new_spread"):
        return None
    while model is not inner:
        if isinstance(model, Pipeline):
            features = model[:-1].transform(features) if len(model) > 1 else features
            model = model.steps[-1][1]
        else:
            model = model.best_estimator_
    found: Array | None = inner.new_spread(features)
    return found


def _compares_columns(kind: type[Any], model: Any) -> bool:
    modules = [_module(each) for each in kind.__mro__]
    if any(module.startswith(SCALE_FREE) for module in modules):
        return False
    if any(module.startswith(OF_TREES) for module in modules):
        return False
    names = {each.__name__ for each in kind.__mro__}
    if any(module.startswith("sklearn.") and not module.startswith(SHARED) for module in modules):
        return not names & {*LEAST_SQUARES, THRESHOLD}
    return not COMPARING.isdisjoint(model.get_params(deep=False))


def _reads_raw(step: Any) -> bool:
    """Whether a transformer takes other columns than numbers, or chooses among them."""
    if CHOOSING & {each.__name__ for each in type(step).__mro__}:
        return True
    if isinstance(step, Pipeline):
        return chooses_columns(step)
    if not _module(type(step)).startswith(("sklearn.", "likely.")):
        return True
    tags = get_tags(step).input_tags
    return bool(tags.string or tags.categorical) or chooses_columns(step)


def _is_scaler(step: Any) -> bool:
    kind = type(step)
    return _module(kind).startswith(SCALERS) and kind.__name__.endswith(SCALER_NAMES)


def _steps(pipeline: Pipeline) -> list[Any]:
    return [step for _, step in pipeline.steps if step is not None and step != "passthrough"]


def _module(kind: type[Any]) -> str:
    return str(kind.__module__)
