"""Offsets and exposures beside rows: a model that was fitted with one is judged with one.

    η = b + xᵀβ + offset + ln exposure

Without them predictions are of an offset of 0 and an exposure of 1: rates, where y are counts.  A
score, a deviance or a likelihood that compares these with y means nothing, so it is refused.
"""

import inspect
from typing import Any

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.formatting import all_listed
from likely.inputs.numbers import check_numbers

AT_PREDICTION = ("offset", "exposure")  # arguments that a prediction needs, too


def fitted_with(model: Any) -> tuple[str, ...]:
    """Which of offset and exposure the model was fitted with, or the one inside a wrapper."""
    own: tuple[str, ...] = tuple(vars(model).get("moved_by_", ()))
    inner = vars(model).get("model_")
    return own if own or inner is None else fitted_with(inner)


def refuse_without_offset(model: Any, **given: Any) -> None:
    """Refuse to judge a model by y without the offset or exposure that it was fitted with."""
    used = fitted_with(model)
    if used and all(value is None for value in given.values()):
        raise InvalidInput(
            f"This {type(model).__name__} was fitted with {all_listed(used)}, and none was given: "
            "its predictions would be rates, which cannot be compared with y. Give "
            f"{all_listed([f'{name}=' for name in used])}, one number per row or the name of a "
            "column of X."
        )


def offset_arguments(model: Any, method: str, **given: Any) -> dict[str, Any]:
    """The offset and the exposure that were given, refused where the method does not take them."""
    found = {name: value for name, value in given.items() if value is not None}
    takes = inspect.signature(getattr(model, method)).parameters
    for name in found:
        if name not in takes:
            raise InvalidInput(
                f"{name} was given, which {type(model).__name__}.{method} does not take. Leave it "
                "out."
            )
    return found


def offset_numbers(n_rows: int, **given: Any) -> dict[str, Array]:
    """The offset and the exposure that were given, one number per row."""
    return {
        name: np.asarray(check_numbers(values, name, n_rows=n_rows), dtype=np.float64)
        for name, values in given.items()
        if values is not None
    }


def about_missing_offset(model: Any, **given: Any) -> str:
    """A sentence on predictions that leave out what the fit had; may be empty."""
    used = fitted_with(model)
    if not used or any(value is not None for value in given.values()):
        return ""
    each = {"offset": "an offset of 0", "exposure": "an exposure of 1"}
    return (
        f"The model was fitted with {all_listed(used)} and none was given: predictions are for "
        f"{all_listed([each[name] for name in used])}."
    )
