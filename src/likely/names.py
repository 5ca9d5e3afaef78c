"""Parts looked up by name, with a suggestion when a name is misspelt."""

from collections.abc import Mapping
from typing import TypeVar

from likely.errors import UnknownName

T = TypeVar("T")


def lookup(kind: str, name: str | T, registry: Mapping[str, T]) -> T:
    """The entry called ``name``; anything that is not a string is the part itself."""
    if not isinstance(name, str):
        return name
    if name not in registry:
        raise UnknownName(kind, name, registry)
    return registry[name]
