"""The reason why a linear model has no standard errors."""

from typing import Any, NoReturn

import numpy as np
from sklearn.utils.validation import check_is_fitted

from likely.errors import InvalidInput


def refuse_without_errors(model: Any) -> NoReturn:
    """For a fitted model whose ``inference_`` is None, or that never has one."""
    check_is_fitted(model)
    name = type(model).__name__
    if "inference_" not in vars(model):
        raise InvalidInput(
            f"{name} has no inference_; a test or a summary needs the standard errors of a linear "
            "model. Use LinearRegression, GLM, LogisticRegression, SoftmaxRegression, MaxEntropy "
            "or OrdinalRegression."
        )
    solution = model.solution_
    if not solution.solver:
        raise InvalidInput(
            f"The coefficients of this {name} were not estimated from rows: {solution.reason}. "
            "Standard errors need a fit: call fit(X, y)."
        )
    if vars(model).get("standard_errors", "model") is None:
        raise InvalidInput(
            f"This {name} was fitted with standard_errors=None, which computes none. Fit it with "
            "standard_errors='model'."
        )
    coef = np.asarray(model.coef_)
    if "classes_" not in vars(model) and coef.ndim == 2 and len(coef) > 1:
        raise InvalidInput(
            f"This {name} was fitted to {len(coef)} responses; standard errors are of one. "
            "Fit one column of y at a time."
        )
    raise InvalidInput(
        f"This {name} has {coef.size:,} coefficients; standard errors are for 1,000 parameters at "
        "most, whose covariance is a matrix of that size. Fit fewer columns."
    )
