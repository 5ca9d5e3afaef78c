"""Python values as JSON and tensors, and back.

    None, bool, int, finite float, str, list     themselves
    everything else                              {tag: content}

Numeric arrays become tensors, named by where they were found (``distribution_.mean``); an array
found twice is written once.  A long sequence of few runs of equal items is written as the runs
(``values``).  A file that is read is not trusted: a class must be in
the registry, its fields must be the ones it has, and whatever does not fit is an ``InvalidInput``.
Only constructors of likely are called.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import getattr_static
from itertools import groupby
from math import isfinite
from typing import Any, NoReturn, final

import numpy as np

from likely._typing import Array
from likely.distributions.exponential_family import EXPONENTIAL_FAMILIES, ExponentialFamily
from likely.errors import InvalidInput
from likely.graphical.model.factor_graph import FactorGraph
from likely.storage.foreign import foreign_bytes, foreign_model, is_foreign_estimator
from likely.storage.graphs import graph_arguments, graph_fields, graph_of
from likely.storage.registry import (
    CompletesFit,
    Estimator,
    TranslatesFiles,
    argument_names,
    declared_by,
    estimator_names,
    field_names,
    learned_attributes,
    model_class,
    own_parts,
    part_class,
    part_name,
    saved_arguments,
)
from likely.storage.tensors import TENSOR_DTYPES, Json
from likely.storage.values import (
    MODEL_FIELDS,
    PLAIN,
    SavedValues,
    all_equal,
    check_output,
    same_names,
    unknown,
)

OUTPUT_CONFIG = "_sklearn_output_config"  # the setting of set_output
FOREIGN = "skops"  # the class of a model of another library
LONG = 1000  # items of a sequence from which on it is written as runs
FEW = 8  # items that a run has on average, at least


@final
@dataclass(frozen=True, eq=False)
class Encoder:
    """Collects the tensors of one model while its values are encoded."""

    owner: str  # the model's class, for messages
    tensors: dict[str, Array] = field(default_factory=dict)
    found: dict[int, tuple[str, Array]] = field(default_factory=dict)  # by id; kept alive here
    own: Mapping[str, type[Any]] = field(default_factory=dict)  # parts that the model lists
    trusted: Collection[str] = ()  # classes of other libraries that the caller names
    in_runs: bool = True  # whether long sequences are written as runs

    def model(self, model: Any, prefix: str = "") -> dict[str, Json]:
        """Constructor arguments, and what ``fit`` learned: the attributes that end with ``_``."""
        if is_foreign_estimator(model):
            inner = {"model": self.value(model, f"{prefix}model")}
            return {"class": FOREIGN, "arguments": inner, "fitted": {}, "output": None}
        if isinstance(model, CompletesFit):
            model.complete_fit()
        learned = learned_attributes(model)
        for name in learned:
            if name not in declared_by(type(model)).kinds:
                advice = "Give it a name that does not end with _, or declare it on the class."
                self._refuse(f"{prefix}{name}", "is not declared by its class", advice)
        inside = replace(self, own=own_parts(type(model)))
        graph = isinstance(model, FactorGraph)
        arguments = graph_arguments(model) if graph else saved_arguments(model)
        return {
            "class": type(model).__name__,
            "arguments": inside._each(arguments, prefix),
            "fitted": inside._each(learned, prefix),
            "output": self.value(vars(model).get(OUTPUT_CONFIG), f"{prefix}set_output"),
        }

    def value(self, value: Any, where: str) -> Json:
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if isfinite(value) else {"float": repr(value)}
        if kind in (list, tuple):
            return self._sequence(value, where)
        if kind is range:
            limits = [value.start, value.stop, value.step]
            return {"range": limits} if self.in_runs else self._sequence(tuple(value), where)
        if kind is dict:
            return {"dict": [self._entry(key, item, where) for key, item in value.items()]}
        if isinstance(value, np.generic):
            return self._scalar(value, where)
        if kind in (np.ndarray, np.memmap):
            return self._array(value, where)
        return self._part(value, where)

    def _each(self, values: Mapping[str, Any], prefix: str) -> dict[str, Json]:
        """The values encoded in order of name, so that equal models make equal files."""
        return {name: self.value(values[name], f"{prefix}{name}") for name in sorted(values)}

    def _sequence(self, value: list[Any] | tuple[Any, ...], where: str) -> Json:
        kind = type(value)
        runs = runs_of(value) if self.in_runs and len(value) >= LONG else None
        if runs is not None:
            coded = [[self.value(item, f"{where}[{i}]"), count] for i, item, count in runs]
            return {"repeats": [kind.__name__, coded]}
        items = [self.value(item, f"{where}[{i}]") for i, item in enumerate(value)]
        return items if kind is list else {"tuple": items}

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
        if isinstance(value, type) and value.__name__ in TENSOR_DTYPES:
            return {"dtype": value.__name__}
        known = part_name(kind) or next((n for n, part in self.own.items() if part is kind), None)
        if known:
            parts = {name: getattr(value, name) for name in field_names(kind)}
            return {"part": [known, self._each(parts, f"{where}.")]}
        if model_class(kind.__name__) is kind:
            return {"model": self.model(value, f"{where}.")}
        if is_foreign_estimator(value):
            self.tensors[where] = foreign_bytes(value, self.trusted)
            return {"skops": where}
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
            f"arrays of them, registered parts and estimators of likely. {advice}"
        )


def runs_of(items: Sequence[Any]) -> list[tuple[int, Any, int]] | None:
    """Runs of equal items: where each begins, its item, its length; None if they are many.

    Numbers that are not whole, and objects, are equal if they are the same object.
    """
    if all_equal(items):  # at once: a text has a million columns
        return [(0, items[0], len(items))]
    types = {*map(type, items)}
    keys = items if len(types) == 1 and types <= PLAIN else list(map(id, items))
    found, start = [], 0
    for _, group in groupby(keys):
        length = sum(1 for _ in group)
        found.append((start, items[start], length))
        start += length
        if len(found) > len(items) // FEW:
            return None
    return found


def check_model_class(model: Any) -> None:
    """Refuse to save anything but the public estimators and graphs."""
    kind = type(model)
    if model_class(kind.__name__) is not kind and not is_foreign_estimator(model):
        raise InvalidInput(
            f"{_described(model)} cannot be saved; expected an estimator of likely "
            f"({', '.join(estimator_names())}), a graph, or a fitted estimator of scikit-learn. "
            "Save one of these."
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


@final
@dataclass(frozen=True, eq=False)
class Decoder(SavedValues):
    """Reads models of any class."""

    tensors: Mapping[str, Array]
    own: Mapping[str, type[Any]] = field(default_factory=dict)  # parts that the model lists
    trusted: Collection[str] = ()  # classes of other libraries that the caller names

    def model(self, coded: Json) -> Any:
        same_names("A model", coded, MODEL_FIELDS)
        if coded["class"] == FOREIGN:
            same_names("The arguments of a foreign model", coded["arguments"], ("model",))
            return self.value(coded["arguments"]["model"])
        kind = model_class(str(coded["class"]))
        if kind is None:
            raise unknown("estimator", coded["class"])
        graph = issubclass(kind, FactorGraph)
        expected = graph_fields(kind) if graph else argument_names(kind)
        inside = replace(self, own=own_parts(kind))
        given = coded["arguments"]
        arguments, fitted = given, coded["fitted"]
        if (
            isinstance(kind, TranslatesFiles)
            and isinstance(given, dict)
            and given.keys() - expected
        ):
            arguments, fitted = kind.translated(inside.each(given), inside.each(fitted))
            same_names(f"The arguments of {kind.__name__}", arguments, expected)
        else:
            same_names(f"The arguments of {kind.__name__}", given, expected)
            arguments, fitted = inside.each(given), inside.each(fitted)
        model = graph_of(kind, arguments) if graph else kind(**arguments)
        for name in fitted:
            _check_learned_name(kind, name)
        vars(model).update(fitted)
        output = self.value(coded["output"])
        check_output(output)
        if output is not None:
            vars(model)[OUTPUT_CONFIG] = output
        return model

    def foreign(self, content: Json) -> Any:
        return foreign_model(self.tensor(content).tobytes(), self.trusted)

    def named_class(self, content: Json) -> type[Any]:
        kind = part_class(str(content)) or self.own.get(str(content))
        if kind is None:
            raise unknown("part", content)
        return kind

    def part(self, content: Json) -> Any:
        name, coded = content
        kind = self.named_class(name)
        if isinstance(coded, dict):
            coded = dict(declared_by(kind).before) | coded
        same_names(f"The fields of {name}", coded, field_names(kind))
        return kind(**self.each(coded))

    def exponential_family(self, content: Json) -> Any:
        if content not in EXPONENTIAL_FAMILIES:
            raise unknown("exponential family", content)
        return EXPONENTIAL_FAMILIES[content]


def _check_learned_name(kind: type[Any], name: str) -> None:
    """Only what ``fit`` could have set: no method, no private name."""
    found = getattr_static(kind, name, None)
    taken = found is not None and not (isinstance(found, property) and found.fset is not None)
    if taken or not name.isidentifier() or name.startswith("_") or not name.endswith("_"):
        raise unknown(f"attribute of {kind.__name__}", name)
