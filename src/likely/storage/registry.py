"""The classes a model file may name: a fixed list, so that loading imports nothing else.

*Estimators* are the public ones of ``likely.__all__``; graphs are those of ``graphs.py``.  *Parts*
are the frozen values that models may hold: those of ``likely.distributions``,
``likely.generative`` and ``likely.likelihoods``, the executors, and those of the modules listed
here; an estimator of a higher layer lists its own in ``saved_parts``, which only a file of that
estimator may name.  A part is known by the name of its class; where two families use the same
words (a Poisson distribution, a Poisson response), responses are known with their package:
``likelihoods.Poisson``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from inspect import isabstract, signature
from pkgutil import iter_modules
from typing import Any, ClassVar, Protocol, runtime_checkable

import likely
from likely import distributions, generative, likelihoods
from likely.compute.executor import EXECUTORS
from likely.distributions.exponential_family import ExponentialFamily
from likely.inputs.estimators import Settings
from likely.storage.graphs import graph_class

PART_MODULES = (
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
