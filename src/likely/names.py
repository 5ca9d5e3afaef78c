"""Parts and methods looked up by name, with a suggestion when a name is misspelt."""

from collections.abc import Mapping
from typing import Any, TypeVar

from likely.errors import UnknownName

T = TypeVar("T")


def lookup(kind: str, name: str | T, registry: Mapping[str, T]) -> T:
    """The entry called ``name``; anything that is not a string is the part itself."""
    if not isinstance(name, str):
        return name
    if name not in registry:
        raise UnknownName(kind, name, registry)
    return registry[name]


def has_method(model: Any, name: str) -> bool:
    """Whether an estimator of any library has a method with its present settings.

    scikit-learn's estimators have some methods under conditions, so only asking tells.
    """
    return callable(getattr(model, name, None))
