"""Parts and methods by name: looked up, with a suggestion when one is misspelt, and in words."""

import re
from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

from likely.errors import InvalidInput, UnknownName

T = TypeVar("T")


def known_name(kind: str, name: str, names: Collection[str]) -> str:
    """The name as it is listed; hyphens and underscores may be written for each other.

    >>> known_name("solver", "proximal_newton", ["newton", "proximal-newton"])
    'proximal-newton'
    """
    for written in (name, name.replace("_", "-"), name.replace("-", "_")):
        if written in names:
            return written
    raise UnknownName(kind, name, names)


def lookup(
    kind: str,
    name: str | T,
    registry: Mapping[str, T],
    of_number: Mapping[str, Callable[[float], T]] | None = None,
) -> T:
    """The entry called ``name``; anything that is not a string is returned as it is.

    Parts in ``of_number`` may have a parameter, such as ``tweedie(1.7)``.
    """
    if not isinstance(name, str):
        return name
    written = re.fullmatch(r"\s*([\w-]+)\s*\(\s*([-+.\deE]+)\s*\)\s*", name)
    if of_number and written and written[1].replace("_", "-") in of_number:
        return of_number[written[1].replace("_", "-")](float(written[2]))
    return registry[known_name(kind, name, registry)]


def check_part(kind: str, part: object, expected: type[Any], registry: Collection[str]) -> None:
    """Refuse a part that is not of the expected class; it was given instead of a name."""
    if isinstance(part, expected):
        return
    shape = getattr(part, "shape", None)
    given = f"{str(part)[:40]!r}, a {type(part).__name__}" if shape is None else f"data of {shape=}"
    close = get_close_matches(type(part).__name__.lower(), registry, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    hint = hint if shape is None else " Give data to fit: fit(X, y)."
    raise InvalidInput(
        f"The {kind} is {given}; expected a {expected.__name__} or a name. Use one of "
        f"{', '.join(registry)}.{hint}"
    )


def in_words(name: str) -> str:
    """The name of a loss in text.

    >>> in_words("log-loss"), in_words("negative-log-likelihood")
    ('log loss', 'negative log-likelihood')
    """
    return name.replace("-", " ").replace("log likelihood", "log-likelihood")


def has_method(model: Any, name: str) -> bool:
    """Whether an estimator of any library has a method, with its current settings.

    scikit-learn's estimators have some methods under conditions only.
    """
    return callable(getattr(model, name, None))
