"""JSON and tensors as Python values: the inverse of ``encode``.

Nothing is taken on trust: a class must be in the registry, its fields must be the ones it has,
and whatever does not fit is an ``InvalidInput``.  Only our own constructors run.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from inspect import getattr_static
from math import prod
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.distributions.exponential_family import EXPONENTIAL_FAMILIES
from likely.errors import InvalidInput
from likely.persist.encode import OUTPUT_CONFIG, TENSOR_DTYPES, Json
from likely.persist.registry import argument_names, estimator_class, field_names, part_class

MODEL_FIELDS = ("class", "arguments", "fitted", "output")
CELLS = (type(None), bool, int, float, str, np.generic)  # of an array of objects


@final
@dataclass(frozen=True, eq=False)
class Decoder:
    """Reads values; the arrays they point to are in ``tensors``."""

    tensors: Mapping[str, Array]

    def model(self, coded: Json) -> Any:
        same_names("A model", coded, MODEL_FIELDS)
        kind = estimator_class(str(coded["class"]))
        if kind is None:
            raise unknown("estimator", coded["class"])
        same_names(f"The arguments of {kind.__name__}", coded["arguments"], argument_names(kind))
        model = kind(**self._each(coded["arguments"]))
        fitted = self._each(coded["fitted"])
        for name in fitted:
            _check_learned_name(kind, name)
        vars(model).update(fitted)
        output = self.value(coded["output"])
        if output is not None:
            vars(model)[OUTPUT_CONFIG] = _checked_output(output)
        return model

    def value(self, coded: Json) -> Any:
        if coded is None or isinstance(coded, bool | int | float | str):
            return coded
        if isinstance(coded, list):
            return [self.value(item) for item in coded]
        same_count("A tagged value", len(coded), 1)
        ((tag, content),) = coded.items()
        if tag not in READERS:
            raise unknown("kind of value", tag)
        return READERS[tag](self, content)

    def _each(self, coded: Json) -> dict[str, Any]:
        return {name: self.value(value) for name, value in coded.items()}

    def _float(self, content: Json) -> float:
        if content not in ("nan", "inf", "-inf"):
            raise unknown("number", content)
        return float(content)

    def _tuple(self, content: Json) -> tuple[Any, ...]:
        return tuple(self.value(item) for item in _listed(content))

    def _dict(self, content: Json) -> dict[Any, Any]:
        return {self.value(key): self.value(value) for key, value in _listed(content)}

    def _scalar(self, content: Json) -> np.generic:
        dtype, value = content
        if dtype == "str":
            return np.str_(_text(value))
        if dtype not in TENSOR_DTYPES:
            raise unknown("type of number", dtype)
        number = self.value(value)
        if not isinstance(number, bool | int | float):
            raise unknown("number", number)
        scalar: np.generic = np.dtype(dtype).type(number)
        return scalar

    def _tensor(self, content: Json) -> Array:
        if content not in self.tensors:
            raise unknown("tensor", content)
        return self.tensors[content]

    def _text_array(self, content: Json) -> Array:
        shape, cells = content
        same_count("An array of text", len(_listed(cells)), prod(_sizes(shape)))
        return np.array([_text(cell) for cell in cells], dtype=str).reshape(shape)

    def _object_array(self, content: Json) -> Array:
        shape, cells = content
        same_count("An array of objects", len(_listed(cells)), prod(_sizes(shape)))
        out = np.empty(len(cells), dtype=object)
        for i, cell in enumerate(cells):
            value = self.value(cell)
            if not isinstance(value, CELLS):
                raise unknown("cell", type(value).__name__)
            out[i] = value
        return out.reshape(shape)

    def _class(self, content: Json) -> type[Any]:
        kind = part_class(str(content))
        if kind is None:
            raise unknown("part", content)
        return kind

    def _part(self, content: Json) -> Any:
        name, coded = content
        kind = self._class(name)
        same_names(f"The fields of {name}", coded, field_names(kind))
        return kind(**self._each(coded))

    def _exponential_family(self, content: Json) -> Any:
        if content not in EXPONENTIAL_FAMILIES:
            raise unknown("exponential family", content)
        return EXPONENTIAL_FAMILIES[content]


READERS: dict[str, Callable[[Decoder, Json], Any]] = {
    "class": Decoder._class,
    "dict": Decoder._dict,
    "exponential family": Decoder._exponential_family,
    "float": Decoder._float,
    "model": Decoder.model,
    "objects": Decoder._object_array,
    "part": Decoder._part,
    "scalar": Decoder._scalar,
    "tensor": Decoder._tensor,
    "text": Decoder._text_array,
    "tuple": Decoder._tuple,
}


def unknown(what: str, name: object) -> InvalidInput:
    return InvalidInput(
        f"it names the {what} {str(name)[:80]!r}, which this version of likely does not have. "
        "Load it with the version that saved it, or save the model again."
    )


def same_names(what: str, given: Json, expected: Collection[str]) -> None:
    """Refuse names that are too many or too few."""
    if not isinstance(given, dict) or set(given) != set(expected):
        names = ", ".join(sorted(given)) if isinstance(given, dict) else type(given).__name__
        raise InvalidInput(
            f"{what} were expected to be {', '.join(sorted(expected)) or 'none'}; "
            f"found {names[:200] or 'none'}. Load it with the version that saved it."
        )


def same_count(what: str, given: object, expected: object) -> None:
    if given != expected:
        raise InvalidInput(
            f"{what} has {given} entries where {expected} were expected. Save the model again."
        )


def _check_learned_name(kind: type[Any], name: str) -> None:
    """Only what ``fit`` could have set: no method, no private name."""
    taken = getattr_static(kind, name, None) is not None
    if taken or not name.isidentifier() or name.startswith("_") or not name.endswith("_"):
        raise unknown(f"attribute of {kind.__name__}", name)


def _checked_output(output: Any) -> dict[str, str]:
    if not isinstance(output, dict) or not all(isinstance(v, str) for v in output.values()):
        raise unknown("output", output)
    return output


def _listed(content: Json) -> list[Any]:
    if not isinstance(content, list):
        raise unknown("list", content)
    return content


def _sizes(shape: Json) -> list[int]:
    if not all(type(size) is int and size >= 0 for size in _listed(shape)):
        raise unknown("shape", shape)
    return list(shape)


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise unknown("text", value)
    return value
