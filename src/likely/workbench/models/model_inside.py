"""What the workbench asks of any model: what its fit takes, its link, the model inside.

A model of the workbench includes the preparation of its rows (``Prepared``), or is as it is.
"""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from sklearn.utils.validation import has_fit_parameter

from likely.errors import InvalidInput
from likely.names import has_method


@runtime_checkable
class Prepares(Protocol):
    """A model that includes the preparation of its rows."""

    model: Any  # the one inside, not fitted

    def prepare(self, X: Any) -> Any: ...


_ACCEPTED = {  # the arguments of a fit other than X and y, and models that accept them
    "sample_weight": ("sample_weight", ""),
    "offset": ("an offset", " (a GLM)"),
    "exposure": ("an exposure", " (a GLM)"),
}


def unprepared(model: Any) -> Any:
    """The model without its preparation, not fitted."""
    return model.model if isinstance(model, Prepares) else model


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


def link_of(model: Any) -> str:
    """The link on whose scale offsets change the mean; the identity if a model has none."""
    return str(model.offset_link()) if has_method(model, "offset_link") else "identity"
