"""The walker: what a model file holds, checked against what its classes declare.

Values are looked at by name, not by class, so that the same checks serve ``likely.load``, which
makes every class, and ``likely.runtime``, which has few: a *reader* says what a file holds of a
value, and what was declared about it.  Kinds of values are JSON:

    "float"  "int"  "bool"  "text"  "none"     a number (no Boolean, not too large for a float), …
    "array"  "codes"  "labels"  "names"        numbers or Booleans, whole numbers, a row of labels
    "model"  "class"  "anything"
    ["or", kind, …]  ["tuple", kind, …]  ["row", kind]  ["list", kind]  ["sequence", kind]
    ["dict", key, value]  ["literal", value, …]
    ["named", group]                           a value, or a class, with a name of the group
    ["numbers", kind, range, …]                within ranges of ``declared.RANGES``
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from reprlib import repr as shortened
from typing import Any, Protocol, final, runtime_checkable

import numpy as np

from likely.errors import InvalidInput
from likely.storage.declarations import RULES, Rule, check_range
from likely.storage.values import all_equal

EXPONENTIAL = "exponential family"  # the name of any
Kind = Any  # text, or a list whose first item is text
INTEGERS = range(-(2**63), 2**64)  # what arrays and compiled loops can hold
OTHERS = ("sometimes", "together", "arguments", "before")
LONG = 1000  # items of a sequence that are not looked at one by one
LEAVES = frozenset({type(None), str, bool, int, float, range, np.ndarray})  # hold nothing to check


@final
@dataclass(frozen=True, eq=False)
class Declared:
    """What is declared about a class, ready to be checked or written as JSON."""

    always: Mapping[str, Kind]
    sometimes: Mapping[str, Kind] = field(default_factory=dict)
    together: Mapping[str, Kind] = field(default_factory=dict)
    arguments: Mapping[str, Kind] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    before: Mapping[str, Any] = field(default_factory=dict)  # what files of earlier versions lack

    @property
    def kinds(self) -> dict[str, Kind]:
        """All attributes, or fields."""
        return {**self.sometimes, **self.together, **self.always}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "Declared":
        """The declaration of a table."""
        rules = tuple(RULES[name](*given) for name, *given in plain.get("rules", ()))
        kinds = {name: plain.get(name, {}) for name in OTHERS}
        return cls(plain["always"], **kinds, rules=rules)

    def plain(self) -> dict[str, Any]:
        """The declaration as JSON, without what is empty."""
        parts = {name: dict(getattr(self, name)) for name in OTHERS}
        rules = [rule.plain() for rule in self.rules]
        found = {"always": dict(self.always), **parts, "rules": rules}
        return {name: value for name, value in found.items() if value or name == "always"}


class Reader(ABC):
    """What the walker asks about the values of a file."""

    @abstractmethod
    def contents(self, value: Any) -> "Contents | None":
        """What the file holds of a model or a part; None of anything else."""

    @abstractmethod
    def is_model(self, value: Any) -> bool:
        """Whether a value is an estimator, of likely or of another library."""

    @abstractmethod
    def is_class(self, value: Any) -> bool:
        """Whether a value is a class that a file may name."""

    @abstractmethod
    def belongs(self, value: Any, group: str) -> bool:
        """Whether a value, or a class, is one that an annotation of this name allows."""


@final
@dataclass(frozen=True, eq=False)
class Contents:
    """A model or a part as its file holds it, and what its class declares."""

    name: str
    values: Mapping[str, Any]  # fitted attributes, or fields
    declared: Declared
    reader: Reader
    arguments: Mapping[str, Any] = field(default_factory=dict)
    last: Callable[[], None] | None = None  # the rules of the class alone

    def at(self, path: str) -> Any:
        """The value at a path of attributes, fields and positions; None where there is none."""
        first, *others = path.split(".")
        value = self.values.get(first)
        for name in others:
            if value is None:
                return None
            inner = self.reader.contents(value)
            if name.lstrip("-").isdecimal():
                value = value[int(name)]
            elif isinstance(value, dict):
                value = value.get(name)
            elif inner is not None and name in inner.values:
                value = inner.values[name]
            else:
                value = getattr(value, name, None)
        return value


@runtime_checkable
class ChecksItself(Protocol):
    """A class with rules of its own."""

    def check_saved(self) -> None:
        """Refuse attributes that no fit gives."""


def check(value: Any, reader: Reader) -> None:
    """Refuse a value of a file, and all values within it, that their classes do not declare."""
    if type(value) in LEAVES:
        return
    contents = reader.contents(value)
    if contents is not None:
        for inner in (*contents.arguments.values(), *contents.values.values()):
            check(inner, reader)
        _check_contents(contents)
    elif isinstance(value, list | tuple):
        for inner in () if {*map(type, value)} <= LEAVES else distinct(value):
            check(inner, reader)
    elif isinstance(value, dict):
        for inner in value.values():
            check(inner, reader)


def _check_contents(contents: Contents) -> None:
    declared, values, reader = contents.declared, contents.values, contents.reader
    for name, value in contents.arguments.items():
        kind = declared.arguments.get(name, "anything")
        if not _fits_argument(value, kind, reader):
            raise wrong_type(f"{contents.name}({name}=…)", value, kind)
    if not any(name in values for name in (*declared.always, *declared.together)):
        return  # not fitted, or a part without fields
    expected = dict(declared.always)
    if any(name in values for name in declared.together):
        expected |= declared.together
    for name in expected:
        if name not in values:
            raise InvalidInput(
                f"a fitted {contents.name} has {name}, which the file does not. Load it with the "
                "version that saved it, or save the model again."
            )
    kinds = declared.kinds
    for name, value in values.items():
        if name not in kinds:
            raise InvalidInput(
                f"it has {name}, which {contents.name} does not learn. Load it with the version "
                "that saved it, or save the model again."
            )
        if not fits(value, kinds[name], reader):
            raise wrong_type(f"{contents.name}.{name}", value, kinds[name])
        _check_ranges(name, value, kinds[name])
    for rule in declared.rules:
        rule.check(contents)
    if contents.last is not None:
        contents.last()


def _check_ranges(name: str, value: Any, kind: Kind) -> None:
    if isinstance(kind, list) and kind[0] == "numbers":
        for each in kind[2:]:
            check_range(name, value, each)


def _fits_argument(value: Any, kind: Kind, reader: Reader) -> bool:
    """A number of another type and a model pass: users give them, and what works may be saved."""
    if reader.is_model(value) or (
        (isinstance(value, bool | np.bool_) or is_number(value)) and _takes_numbers(kind)
    ):
        return True
    return fits(value, kind, reader)


def _takes_numbers(kind: Kind) -> bool:
    if isinstance(kind, list) and kind[0] == "or":
        return any(map(_takes_numbers, kind[1:]))
    if isinstance(kind, list) and kind[0] == "literal":
        return any(not isinstance(each, str) for each in kind[1:])
    return kind in ("float", "int", "bool", "anything")


def wrong_type(where: str, value: object, kind: Kind) -> InvalidInput:
    shown = value if isinstance(value, str) else shortened(value)
    return InvalidInput(
        f"{where} is {shown[:40]!r}, a {type(value).__name__}; expected {described(kind)[:120]}. "
        "Save the model again."
    )


def described(kind: Kind) -> str:
    """A kind in words."""
    if isinstance(kind, str):
        return kind
    first, *others = kind
    if first == "named":
        return str(others[0])
    if first == "numbers":
        return described(others[0])
    if first == "or":
        return " or ".join(map(described, others))
    inside = ", ".join(repr(each) if first == "literal" else described(each) for each in others)
    return f"one of {inside}" if first == "literal" else f"{first} of {inside}"


def fits(value: Any, kind: Kind, reader: Reader) -> bool:
    """Whether the value is of a kind."""
    if kind == "model":
        return reader.is_model(value)
    if kind == "class":
        return reader.is_class(value)
    if isinstance(kind, str):
        return PLAIN[kind](value)
    first, *inside = kind
    if first == "named":
        return reader.belongs(value, inside[0])
    if first == "numbers":
        return fits(value, inside[0], reader)
    if first == "or":
        return any(fits(value, each, reader) for each in inside)
    if first == "literal":
        return isinstance(value, str | int) and value in inside
    if first == "tuple":
        return (
            isinstance(value, tuple)
            and len(value) == len(inside)
            and all(fits(each, kind, reader) for each, kind in zip(value, inside, strict=True))
        )
    if first == "dict":
        return isinstance(value, dict) and all(
            fits(key, inside[0], reader) and fits(item, inside[1], reader)
            for key, item in value.items()
        )
    if first == "sequence" and isinstance(value, np.ndarray):
        return bool(value.ndim)
    if not isinstance(value, SEQUENCES[first]):
        return False
    return all(fits(each, inside[0], reader) for each in distinct(value))


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


def is_labels(value: Any) -> bool:
    """Whether the value is a row of labels, or a container of such rows and None."""
    if isinstance(value, tuple | list):
        return all(
            each is None or is_labels(each) or isinstance(each, str) for each in distinct(value)
        )
    return isinstance(value, np.ndarray) and value.ndim == 1


def _is_names(value: Any) -> bool:
    return (
        isinstance(value, np.ndarray)
        and value.ndim == 1
        and all(isinstance(each, str) for each in value.tolist())
    )


SEQUENCES: dict[str, Any] = {"row": tuple, "list": list, "sequence": (list, tuple)}
PLAIN: dict[str, Callable[[Any], bool]] = {
    "anything": lambda value: True,
    "array": lambda value: isinstance(value, np.ndarray) and value.dtype.kind in "biuf",
    "bool": lambda value: isinstance(value, bool | np.bool_),
    "codes": lambda value: isinstance(value, np.ndarray) and value.dtype.kind in "iu",
    "dict": lambda value: isinstance(value, dict),
    "float": is_number,
    "float64": lambda value: isinstance(value, np.ndarray) and value.dtype == np.float64,
    "int": lambda value: is_number(value) and isinstance(value, int | np.integer),
    "labels": lambda value: isinstance(value, np.ndarray) and value.ndim == 1,
    "label rows": is_labels,
    "names": _is_names,
    "none": lambda value: value is None,
    "nothing": lambda value: False,
    "range": lambda value: isinstance(value, range),
    "text": lambda value: isinstance(value, str),
}
