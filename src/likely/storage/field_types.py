"""Whether a value that was read from a file is of the type that an annotation promises.

    float            a number: no Boolean, and not too large for a float
    Array, Codes     a NumPy array of numbers or Booleans, of whole numbers
    tuple[int, ...]  and other containers: by what they contain
    A | B, None      one of them
    Any              anything

A file is made by anybody; the annotations of dataclasses and of constructors are what the rest of
likely relies on.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from inspect import getattr_static, signature
from reprlib import repr as shortened
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from likely.errors import InvalidInput
from likely.storage.registry import Estimator, field_names
from likely.storage.values import all_equal

INTEGERS = range(-(2**63), 2**64)  # what arrays and compiled loops can hold
LONG = 1000  # items of a sequence that are not looked at one by one
LABELS = ("categories", "states", "classes", "levels", "values")  # fields with arrays of text


def check_fields(part: Any) -> None:
    """Refuse a part with a field that is not of its annotated type."""
    hints = _hints(part.__class__)
    for name in field_names(type(part)):
        value, kind = getattr(part, name), hints.get(name, Any)
        if not (fits(value, kind) or (name in LABELS and is_labels(value))):
            raise wrong_type(f"{type(part).__name__}.{name}", value, kind)


def check_arguments(model: Any) -> None:
    """Refuse an estimator with an argument that is not of its annotated type.

    A number of another type and a model pass: users give them, and what works may be saved.
    """
    hints = _hints(type(model).__init__) | {"model": Estimator, "estimator": Estimator}
    given = signature(type(model)).parameters
    for name, value in model.get_params(deep=False).items():
        if value is None and given[name].default is None:
            continue
        kind = hints.get(name, Any)
        near = isinstance(value, Estimator) or (
            (isinstance(value, bool | np.bool_) or is_number(value))
            and any(fits(number, kind) for number in (True, 1, 1.0))
        )
        if not (near or fits(value, kind)):
            raise wrong_type(f"{type(model).__name__}({name}=…)", value, hints[name])


def wrong_type(where: str, value: object, kind: Any) -> InvalidInput:
    expected = str(getattr(kind, "__name__", kind)).replace("typing.", "")[:120]
    shown = value if isinstance(value, str) else shortened(value)
    return InvalidInput(
        f"{where} is {shown[:40]!r}, a {type(value).__name__}; expected {expected}. "
        "Save the model again."
    )


def fits(value: Any, kind: Any) -> bool:
    """Whether the value is of the annotated type."""
    if kind is Any or kind is object:
        return True
    if kind is None or kind is NoneType:
        return value is None
    if kind in PLAIN:
        return PLAIN[kind](value)
    origin, inside = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return any(fits(value, each) for each in inside)
    if origin is Literal:
        return isinstance(value, str | int) and value in inside
    if origin is np.ndarray:
        return _is_array(value, inside[1])
    if origin is tuple:
        return _is_tuple(value, inside)
    if origin is list or origin in (Sequence, Iterable):
        return _is_sequence(value, inside, list if origin is list else (list, tuple, np.ndarray))
    if origin is Mapping:
        return isinstance(value, dict) and all(
            fits(key, inside[0]) and fits(item, inside[1]) for key, item in value.items()
        )
    if origin is Callable or kind is Callable:
        return callable(value)
    if getattr(kind, "_is_protocol", False):
        return all(getattr_static(value, name, None) is not None for name in _members(kind))
    origin = origin or kind
    return isinstance(value, origin) if isinstance(origin, type) else True


def distinct(items: Sequence[Any]) -> Iterable[Any]:
    """The items, each object once: a text has a million columns, which are all alike."""
    if len(items) <= LONG:
        return items
    return items[:1] if all_equal(items) else dict(zip(map(id, items), items, strict=True)).values()


def is_number(value: Any) -> bool:
    """Whether the value is a number that is one as a float, too."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        return False
    return not isinstance(value, int) or value in INTEGERS


def is_integer(value: Any) -> bool:
    return is_number(value) and isinstance(value, int | np.integer)


def is_labels(value: Any) -> bool:
    """Whether the value is a row of labels, or a container of such rows and None."""
    if isinstance(value, tuple | list):
        return all(
            each is None or is_labels(each) or isinstance(each, str) for each in distinct(value)
        )
    return isinstance(value, np.ndarray) and value.ndim == 1


PLAIN: dict[Any, Callable[[Any], bool]] = {
    float: is_number,
    int: is_integer,
    bool: lambda value: isinstance(value, bool | np.bool_),
    str: lambda value: isinstance(value, str),
}


def _is_array(value: Any, dtype: Any) -> bool:
    if not isinstance(value, np.ndarray):
        return False
    whole = get_args(dtype) and get_origin(get_args(dtype)[0]) is np.integer
    return value.dtype.kind in ("iu" if whole else "biuf")


def _is_tuple(value: Any, inside: tuple[Any, ...]) -> bool:
    if not isinstance(value, tuple):
        return False
    if inside[1:] == (Ellipsis,):
        return all(fits(each, inside[0]) for each in distinct(value))
    return len(value) == len(inside) and all(map(fits, value, inside))


def _is_sequence(value: Any, inside: tuple[Any, ...], kinds: Any) -> bool:
    if not isinstance(value, kinds):
        return False
    if isinstance(value, np.ndarray):
        return bool(value.ndim)
    return all(fits(each, inside[0] if inside else Any) for each in distinct(value))


@cache
def _members(protocol: Any) -> list[str]:
    """The names that a protocol asks for: methods, which classes have as well as their values."""
    return [
        name
        for base in protocol.__mro__
        if getattr(base, "_is_protocol", False) and base.__module__.startswith("likely.")
        for name, value in vars(base).items()
        if callable(value) and not name.startswith("_")
    ]


@cache
def _hints(owner: Any) -> dict[str, Any]:
    """The annotations; those that cannot be read promise nothing."""
    try:
        return get_type_hints(owner)
    except NameError:
        return {}
