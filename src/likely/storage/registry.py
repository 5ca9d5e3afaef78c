"""The classes a model file may name: a fixed list, so that loading imports nothing else.

*Estimators* are the public ones of ``likely.__all__``; graphs are those of ``graphs.py``.  *Parts*
are the frozen values that models may hold: those of ``likely.distributions``,
``likely.generative`` and ``likely.likelihoods``, the executors, and those of the modules listed
here; an estimator of a higher layer lists its own in ``saved_parts``, which only a file of that
estimator may name.  A part is known by the name of its class; where two families use the same
words (a Poisson distribution, a Poisson response), responses are known with their package:
``likelihoods.Poisson``.

What each of them may hold is declared on it (``declarations.py``); here the declarations become the
kinds and rules that the walker checks, and the table of them that ``likely.runtime`` reads.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from inspect import getattr_static, isabstract, signature
from pkgutil import iter_modules
from types import NoneType, UnionType
from typing import (
    Any,
    ClassVar,
    Literal,
    Protocol,
    Union,
    final,
    get_args,
    get_origin,
    get_type_hints,
    runtime_checkable,
)

import numpy as np

import likely
from likely import distributions, generative, likelihoods
from likely.compute.executor import EXECUTORS
from likely.distributions.exponential_family import ExponentialFamily
from likely.errors import InvalidInput
from likely.inputs.estimators import Settings
from likely.names import has_method
from likely.storage.checks import EXPONENTIAL, ChecksItself, Contents, Declared, Kind, Reader
from likely.storage.declarations import Numbers, Rule, Saved
from likely.storage.graphs import GRAPHS, REPORT, graph_class

PART_MODULES = (
    "likely.additive.smooth",
    "likely.additive.terms",
    "likely.data.coding",
    "likely.data.schema",
    "likely.graphical.exact.chain",
    "likely.graphical.learning.family_counts",
    "likely.graphical.learning.fit_report",
    "likely.graphical.learning.hill_climbing",
    "likely.graphical.learning.structure",
    "likely.graphical.model.variable",
    "likely.fitting.goodness",
    "likely.fitting.inference",
    "likely.links",
    "likely.neural.architecture",
    "likely.neural.average",
    "likely.neural.history",
    "likely.neural.outputs",
    "likely.neural.settings",
    "likely.objectives.components",
    "likely.penalties.base",
    "likely.penalties.group",
    "likely.numerics.quantiles",
    "likely.solvers.mini_batches",
    "likely.solvers.minimise",
    "likely.solvers.schedules",
    "likely.solvers.stochastic",
    "likely.solvers.stopping",
    "likely.solvers.updates",
    "likely.text.documents",
)
PREFIXES = {  # of parts that are named with their package, by the package
    "fitting": "linear",
    "likelihoods": "likelihoods",
    "linear": "linear",
    "links": "links",
    "penalties": "penalties",
}


@runtime_checkable
class Estimator(Protocol):
    """What scikit-learn's estimators have in common."""

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...


def estimator_class(name: str) -> type[Any] | None:
    """The public estimator of that name; None if there is none."""
    found = getattr(likely, name) if name in likely.__all__ else None
    return found if isinstance(found, type) and issubclass(found, Estimator) else None


def model_class(name: str) -> type[Any] | None:
    """The public estimator, or the kind of graph, of that name; None if there is none."""
    return graph_class(name) or estimator_class(name)


def estimator_names() -> list[str]:
    return [name for name in likely.__all__ if estimator_class(name) is not None]


def argument_names(estimator: type[Any]) -> set[str]:
    return set(signature(estimator).parameters)


@runtime_checkable
class HasOwnParts(Protocol):
    """An estimator with values of classes that no other estimator uses."""

    saved_parts: ClassVar[tuple[type[Any], ...]]


def own_parts(estimator: type[Any]) -> dict[str, type[Any]]:
    """The parts that an estimator's class lists, by name."""
    if not isinstance(estimator, HasOwnParts):
        return {}
    return {_registered_name(part): part for part in estimator.saved_parts}


@runtime_checkable
class HasUnsavedArguments(Protocol):
    """An estimator with arguments that only its training reads, such as a set of rows."""

    saved_as_none: ClassVar[tuple[str, ...]]


def saved_arguments(model: Any) -> dict[str, Any]:
    """The arguments of a model as a file holds them: None for rows and functions of training."""
    given = dict(model.get_params(deep=False))
    if isinstance(model, HasUnsavedArguments):
        for name in model.saved_as_none:
            value = given[name]
            if isinstance(value, Settings):
                given[name] = value.changed({k: _plain(each) for k, each in vars(value).items()})
            else:
                given[name] = _plain(value)
    return given


def _plain(value: Any) -> Any:
    """A number or text; None in place of rows and functions."""
    return value if isinstance(value, bool | int | float | str) else None


@runtime_checkable
class TranslatesFiles(Protocol):
    """An estimator that had other arguments and attributes in files of earlier versions."""

    @classmethod
    def translated(
        cls, arguments: Mapping[str, Any], fitted: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]: ...


@runtime_checkable
class CompletesFit(Protocol):
    """An estimator that computes parts of its fit when they are first needed."""

    def complete_fit(self) -> None: ...


def part_class(name: str) -> type[Any] | None:
    """The registered part of that name; None if there is none."""
    return _parts().get(name)


def part_name(part: type[Any]) -> str | None:
    """The name a part is registered under; None if it is not."""
    name = _registered_name(part)
    return name if part_class(name) is part else None


def field_names(part: type[Any]) -> tuple[str, ...]:
    """The fields of a dataclass or a named tuple: cached values are not fields."""
    if is_dataclass(part):
        return tuple(field.name for field in fields(part))
    return tuple(part._fields)


@cache
def _parts() -> dict[str, type[Any]]:
    found = (part for module in part_modules() for part in defined_parts(module))
    return {_registered_name(part): part for part in found}


def _registered_name(part: type[Any]) -> str:
    """``Threads``, ``likelihoods.Poisson``, ``links.Log``."""
    package = part.__module__.removeprefix("likely.").partition(".")[0]
    return f"{PREFIXES[package]}.{part.__name__}" if package in PREFIXES else part.__name__


def part_modules() -> list[str]:
    """The modules whose values are registered."""
    inside = [
        f"{package.__name__}.{module.name}"
        for package in (distributions, generative, likelihoods)
        for module in iter_modules(package.__path__)
    ]
    executors = [executor.__module__ for executor in EXECUTORS.values()]
    return list(dict.fromkeys([*inside, *PART_MODULES, *executors]))


def defined_parts(module: str) -> Iterator[type[Any]]:
    """The values among a module's own classes; a family of functions is known by name instead."""
    for value in vars(import_module(module)).values():
        if not isinstance(value, type) or value.__module__ != module or isabstract(value):
            continue
        if value.__name__.startswith("_"):
            continue
        if value is not ExponentialFamily and (is_dataclass(value) or issubclass(value, tuple)):
            yield value


# ── What classes declare, as the walker checks it ─────────────────────────────────────────────────

LABELS = ("categories", "states", "classes", "levels", "values")  # fields with arrays of text


DECLARED: dict[type[Any], Declared] = {}  # by class, once it was asked for


@runtime_checkable
class Declares(Protocol):
    """An estimator that says what its file holds."""

    saved: ClassVar[Saved]


def declared_by(kind: type[Any]) -> Declared:
    """What an estimator, a graph or a part declares."""
    if kind not in DECLARED:
        of_model = model_class(kind.__name__) is kind
        DECLARED[kind] = _of_model(kind) if of_model else _of_part(kind)
    return DECLARED[kind]


def _of_model(kind: type[Any]) -> Declared:
    if kind in GRAPHS.values():  # made by their constructors, which check them
        return Declared({}, sometimes={REPORT: "anything"})
    if not isinstance(kind, Declares):
        raise InvalidInput(
            f"{kind.__name__} cannot be saved: it does not declare what fit learns. Give the class "
            "the attribute saved = Saved(…)."
        )
    hints = _hints(kind.__init__) | {"model": Estimator, "estimator": Estimator}
    arguments = {}
    for name, given in signature(kind).parameters.items():
        expected = kind_of(hints.get(name, Any))
        arguments[name] = _or("none", expected) if given.default is None else expected
    always, sometimes, together = (
        {name: kind_of(each) for name, each in part.items()}
        for part in (kind.saved.always, kind.saved.sometimes, kind.saved.together)
    )
    return Declared(always, sometimes, together, arguments, kind.saved.rules)


def _of_part(kind: type[Any]) -> Declared:
    hints, always = _hints(kind), {}
    for name in field_names(kind):
        expected = kind_of(hints.get(name, Any))
        always[name] = _or(expected, "label rows") if name in LABELS else expected
    rules: tuple[Rule, ...] = getattr(kind, "saved_rules", ())
    before: Mapping[str, Any] = getattr(kind, "saved_before", {})
    return Declared(always, rules=rules, before=before)


def _hints(owner: Any) -> dict[str, Any]:
    """The annotations; those that cannot be read promise nothing."""
    try:
        return get_type_hints(owner)
    except NameError:
        return {}


CONTAINERS: dict[Any, str] = {list: "list", Sequence: "sequence", Iterable: "sequence"}
SIMPLE: dict[Any, str] = {
    Any: "anything",
    object: "anything",
    None: "none",
    NoneType: "none",
    bool: "bool",
    dict: "dict",
    float: "float",
    int: "int",
    range: "range",
    str: "text",
    Callable: "class",
    tuple: "anything",
}


def kind_of(annotation: Any) -> Kind:
    """The kind of values that an annotation promises."""
    if isinstance(annotation, str | list):
        return annotation  # of ``declared``: labels, names, model
    if isinstance(annotation, Numbers):
        return ["numbers", kind_of(annotation.kind), *annotation.ranges]
    if annotation is Estimator:
        return "model"
    if (isinstance(annotation, type | NoneType) and annotation in SIMPLE) or annotation is Any:
        return SIMPLE[annotation]
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return _or(*map(kind_of, inside))
    if origin is Literal:
        return ["literal", *inside]
    if origin is np.ndarray:
        return _kind_of_array(inside[1])
    if origin is tuple:
        if inside[1:] == (Ellipsis,):
            return ["row", kind_of(inside[0])]
        return ["tuple", *map(kind_of, inside)]
    if origin in CONTAINERS:
        return [CONTAINERS[origin], kind_of(inside[0]) if inside else "anything"]
    if origin is Mapping or origin is dict:
        return ["dict", *map(kind_of, inside)]
    if origin is Callable or annotation is Callable:
        return "class"
    kind = origin or annotation
    return ["named", _group_name(kind)] if isinstance(kind, type) else "anything"


def _or(*kinds: Kind) -> Kind:
    """One of some kinds."""
    flat: list[Kind] = []
    for kind in kinds:
        inner = kind[1:] if isinstance(kind, list) and kind[0] == "or" else [kind]
        flat += [each for each in inner if each not in flat]
    return flat[0] if len(flat) == 1 else ["or", *flat]


def _kind_of_array(dtype: Any) -> Kind:
    inside = get_args(dtype)
    return "codes" if inside and get_origin(inside[0]) is np.integer else "array"


GROUPS: dict[str, type[Any]] = {}  # classes that annotations name, by name


def _group_name(kind: type[Any]) -> str:
    name = _registered_name(kind) if kind.__module__.startswith("likely.") else kind.__name__
    GROUPS[name] = kind
    return name


def group_names(name: str) -> list[str]:
    """The names of the classes that an annotation allows."""
    every = {**saved_classes(), EXPONENTIAL: ExponentialFamily}
    return sorted(each for each, part in every.items() if _is_a(part, GROUPS[name]))


def _is_a(part: Any, kind: Any) -> bool:
    """Whether a class is of an annotated kind; of a protocol, if it has its methods."""
    if getattr(kind, "_is_protocol", False):
        return all(getattr_static(part, name, None) is not None for name in _members(kind))
    found: bool = issubclass(part, kind)
    return found


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


def saved_classes() -> dict[str, type[Any]]:
    """All classes that a file may name, by name: estimators, graphs and parts, also own ones."""
    models = {name: model_class(name) for name in (*estimator_names(), *GRAPHS)}
    own = [own_parts(kind) for kind in models.values() if kind is not None]
    parts = {name: part for each in own for name, part in each.items()}
    return {**_parts(), **parts, **{name: kind for name, kind in models.items() if kind}}


def table_text() -> str:
    """What all classes declare, as JSON, a line each: what ``likely.runtime`` reads."""
    classes = {name: declared_by(kind).plain() for name, kind in sorted(saved_classes().items())}
    groups = {name: group_names(name) for name in sorted(GROUPS)}
    lines = [_lines(name, part) for name, part in (("groups", groups), ("classes", classes))]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _lines(name: str, part: Mapping[str, Any]) -> str:
    inside = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in part.items())
    return f"{json.dumps(name)}: {{\n{inside}\n}}"


@final
@dataclass(frozen=True)
class Classes(Reader):
    """Reads the values that ``likely.load`` made."""

    def contents(self, value: Any) -> Contents | None:
        kind = type(value)
        if kind is ExponentialFamily or isinstance(value, type):
            return None
        if model_class(kind.__name__) is kind:
            return self._model(value)
        if not (is_dataclass(value) or part_name(kind)):
            return None
        values = {name: getattr(value, name) for name in field_names(kind)}
        return Contents(_registered_name(kind), values, declared_by(kind), self, last=_last(value))

    def _model(self, model: Any) -> Contents:
        kind = type(model)
        if kind in GRAPHS.values():
            report = vars(model).get(REPORT)
            values = {} if report is None else {REPORT: report}
            return Contents(kind.__name__, values, declared_by(kind), self)
        learned = learned_attributes(model)
        arguments = model.get_params(deep=False)
        declared = declared_by(kind)
        return Contents(kind.__name__, learned, declared, self, arguments, _last(model))

    def is_model(self, value: Any) -> bool:
        return has_method(value, "get_params")

    def is_class(self, value: Any) -> bool:
        return isinstance(value, type)

    def belongs(self, value: Any, group: str) -> bool:
        return _is_a(value if isinstance(value, type) else type(value), GROUPS[group])


def learned_attributes(model: Any) -> dict[str, Any]:
    """What ``fit`` learned: the attributes that end with ``_``."""
    return {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_")
    }


def _last(value: Any) -> Callable[[], None] | None:
    return value.check_saved if isinstance(value, ChecksItself) else None
