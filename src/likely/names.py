"""Names: parts by theirs, with a suggestion when one is misspelt; and a few of many in words."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from likely.errors import UnknownName

T = TypeVar("T")

MOST_NAMED = 5  # in one message


def lookup(kind: str, name: str | T, registry: Mapping[str, T]) -> T:
    """The entry called ``name``; anything that is not a string is the part itself."""
    if not isinstance(name, str):
        return name
    if name not in registry:
        raise UnknownName(kind, name, registry)
    return registry[name]


def listed(names: Sequence[str]) -> str:
    """The first few names, quoted, and how many more there are."""
    return shortlist([repr(name) for name in names], MOST_NAMED)


def shortlist(names: Sequence[str], most: int = 12) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
