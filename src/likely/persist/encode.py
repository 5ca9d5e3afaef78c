"""Python values as JSON and tensors.

    None, bool, int, finite float, str, list     themselves
    everything else                              {tag: content}

Numeric arrays become tensors, named by where they were found (``distribution_.mean``); an array
found twice is written once.  The tags are read back by ``decode``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NoReturn, final

import numpy as np

from likely._typing import Array
from likely.distributions.exponential_family import EXPONENTIAL_FAMILIES, ExponentialFamily
from likely.errors import InvalidInput
from likely.persist.registry import (
    Estimator,
    estimator_class,
    estimator_names,
    field_names,
    part_name,
)

Json = Any  # what the json module reads and writes

TENSOR_DTYPES = {  # NumPy's names of types, and safetensors'
    "bool": "BOOL",
    **{f"int{bits}": f"I{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"U{bits}" for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"F{bits}" for bits in (16, 32, 64)},
}

OUTPUT_CONFIG = "_sklearn_output_config"  # what set_output was told


@final
@dataclass(frozen=True, eq=False)
class Encoder:
    """Collects the tensors of one model while its values are encoded."""

    owner: str  # the model's class, for messages
    tensors: dict[str, Array] = field(default_factory=dict)
    found: dict[int, tuple[str, Array]] = field(default_factory=dict)  # by id; kept alive here

    def model(self, model: Any, prefix: str = "") -> dict[str, Json]:
        """Constructor arguments, and what ``fit`` learned: the attributes that end with ``_``."""
        learned = {
            name: value
            for name, value in vars(model).items()
            if name.endswith("_") and not name.startswith("_")
        }
        return {
            "class": type(model).__name__,
            "arguments": self._each(model.get_params(deep=False), prefix),
            "fitted": self._each(learned, prefix),
            "output": self.value(vars(model).get(OUTPUT_CONFIG), f"{prefix}set_output"),
        }

    def value(self, value: Any, where: str) -> Json:
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if isfinite(value) else {"float": repr(value)}
        if kind in (list, tuple):
            items = [self.value(item, f"{where}[{i}]") for i, item in enumerate(value)]
            return items if kind is list else {"tuple": items}
        if kind is dict:
            return {"dict": [self._entry(key, item, where) for key, item in value.items()]}
        if isinstance(value, np.generic):
            return self._scalar(value, where)
        if kind in (np.ndarray, np.memmap):
            return self._array(value, where)
        return self._part(value, where)

    def _each(self, values: Mapping[str, Any], prefix: str) -> dict[str, Json]:
        """In order of name, so that equal models make equal files."""
        return {name: self.value(values[name], f"{prefix}{name}") for name in sorted(values)}

    def _entry(self, key: Any, value: Any, where: str) -> list[Json]:
        if not isinstance(key, str | int | np.integer):
            self._refuse(where, f"has the key {key!r}", "Use text or whole numbers as keys.")
        return [self.value(key, where), self.value(value, f"{where}[{key!r}]")]

    def _scalar(self, value: np.generic, where: str) -> Json:
        if isinstance(value, np.str_):
            return {"scalar": ["str", str(value)]}
        if value.dtype.name not in TENSOR_DTYPES:
            self._refuse(where, f"is a NumPy {value.dtype}", "Convert it to a number or to text.")
        return {"scalar": [value.dtype.name, self.value(value.item(), where)]}

    def _array(self, value: Array, where: str) -> Json:
        if value.dtype.kind == "U":
            return {"text": [list(value.shape), value.ravel().tolist()]}
        if value.dtype.kind == "O":
            cells = [self._cell(cell, where) for cell in value.ravel().tolist()]
            return {"objects": [list(value.shape), cells]}
        if value.dtype.name not in TENSOR_DTYPES:
            advice = "Convert it to numbers, Booleans or text."
            self._refuse(where, f"is an array of {value.dtype}", advice)
        if id(value) not in self.found:
            self.found[id(value)] = (where, value)
            self.tensors[where] = value
        return {"tensor": self.found[id(value)][0]}

    def _cell(self, cell: Any, where: str) -> Json:
        if not (cell is None or isinstance(cell, bool | int | float | str | np.generic)):
            advice = "Convert its cells to numbers or text."
            self._refuse(where, f"is an array that holds a {type(cell).__name__}", advice)
        return self.value(cell, where)

    def _part(self, value: Any, where: str) -> Json:
        kind = type(value)
        if kind is ExponentialFamily:
            return self._exponential_family(value, where)
        if isinstance(value, type) and part_name(value):
            return {"class": part_name(value)}
        if part_name(kind):
            parts = {name: getattr(value, name) for name in field_names(kind)}
            return {"part": [part_name(kind), self._each(parts, f"{where}.")]}
        if estimator_class(kind.__name__) is kind:
            return {"model": self.model(value, f"{where}.")}
        self._refuse(where, f"is {_described(value)}", _advice(value))

    def _exponential_family(self, family: ExponentialFamily, where: str) -> Json:
        if EXPONENTIAL_FAMILIES.get(family.name) is not family:
            names = ", ".join(sorted(EXPONENTIAL_FAMILIES))
            advice = f"Functions cannot be saved: use a family that is listed ({names})."
            self._refuse(where, f"is the exponential family {family.name!r}", advice)
        return {"exponential family": family.name}

    def _refuse(self, where: str, given: str, advice: str) -> NoReturn:
        raise InvalidInput(
            f"{self.owner} cannot be saved: {where} {given}; a model file holds numbers, text, "
            f"arrays of them, registered parts and our own estimators. {advice}"
        )


def check_estimator_class(model: Any) -> None:
    """Refuse to save what is not one of the public estimators."""
    kind = type(model)
    if estimator_class(kind.__name__) is not kind:
        raise InvalidInput(
            f"{_described(model)} cannot be saved; expected one of the estimators "
            f"{', '.join(estimator_names())}. Save the parts of a pipeline one by one."
        )


def _described(value: Any) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if callable(value) and not isinstance(value, Estimator):
        return f"the function {getattr(value, '__name__', repr(value))}"
    return f"a {type(value).__module__}.{type(value).__name__}".replace("a builtins.", "a ")


def _advice(value: Any) -> str:
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return "Give an int seed instead."
    return "Give one of these instead."
