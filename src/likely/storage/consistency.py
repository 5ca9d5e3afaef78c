"""Consistency checks of the attributes of a model that was read from a file.

    names, schema and distributions describe n_features_in_ columns
    priors, counts and distributions have one entry for each of classes_
    a linear model has one coefficient for each column or category of its coding
    a neural network has one number for each weight and bias of its layers
    a chain has one start and one row of transitions for each state that emits
    a network has a variable for each column, with the states that its codes can have
    a distribution is a member of the family that checks new rows, and reads the same columns

A checksum shows that a file is what was written; these checks stop a file that was not
written by likely from reaching compiled loops, which trust their arguments.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from itertools import repeat
from operator import is_not
from typing import Any

import numpy as np

from likely.data.categories import is_missing
from likely.data.coding import Coding
from likely.data.schema import Schema
from likely.distributions.base import Distribution
from likely.distributions.categorical import Categorical, CategoricalStatistics
from likely.distributions.product import Product, ProductFamily
from likely.errors import InvalidInput
from likely.fitting.inference import Inference
from likely.graphical.exact.chain import Chain
from likely.graphical.model.factor_graph import FactorGraph
from likely.likelihoods.ordinal import Ordinal
from likely.neural.architecture import Architecture
from likely.neural.outputs import Output
from likely.objectives.components import Components, ComponentTotals
from likely.storage.field_types import check_arguments, check_fields, distinct
from likely.storage.learned import LEARNED, check_learned
from likely.storage.learned_values import check_values
from likely.storage.part_values import check_part_values
from likely.storage.registry import model_class, part_name
from likely.storage.values import same_count

LEAVES = frozenset({type(None), str, bool, int, float, range, np.ndarray})  # no parts, no models


def check_consistent(model: Any) -> None:
    """Refuse a model whose attributes do not fit together, or one that holds such a model.

    A model of another library is checked by skops, which reads it.
    """
    if model_class(type(model).__name__) is not type(model):
        return
    for inner in _models_in(list(vars(model).values())):
        check_consistent(inner)
    for graph in vars(model).values():
        if isinstance(graph, FactorGraph):  # how it was learned is a part of it
            check_consistent(graph)
    learned = {name: value for name, value in vars(model).items() if name.endswith("_")}
    for part in parts_of(list(vars(model).values())):
        check_fields(part)
    if not isinstance(model, FactorGraph):
        check_arguments(model)
        check_learned(model, learned)
    parts = [part for value in learned.values() for part in parts_of(value)]
    for part in parts:
        _check_part(part)
        check_part_values(part)
    if "n_features_in_" in learned:
        _check_columns(learned, parts)
    if "classes_" in learned:
        _check_classes(learned, parts)
    if "architecture_" in learned:
        _check_layers(learned)
        _check_strengths(learned)
    elif "coding_" in learned:
        _check_linear(learned)
    if "family_" in learned and "components_" in learned:
        _check_family(learned["family_"], learned["components_"].distribution)
    if "chain_" in learned:
        states = {len(part.log_mixing) for part in parts if isinstance(part, Components)}
        same_count("The states of a chain", {learned["chain_"].n_states}, states)
    if "network_" in learned:
        _check_network(learned)
    if learned.keys() & LEARNED.get(type(model).__name__, {}).keys():
        check_values(model, learned)


def _check_columns(learned: dict[str, Any], parts: list[Any]) -> None:
    n_features = learned["n_features_in_"]
    if not isinstance(n_features, int | np.integer) or n_features < 0:
        raise InvalidInput(
            f"n_features_in_ is {n_features!r}; expected a count. Save the model again."
        )
    for attribute in ("feature_names_in_", "column_names_"):
        names = learned.get(attribute)
        if names is not None:
            same_count(attribute, np.shape(names), (n_features,))
            if not all(isinstance(name, str) for name in names):
                raise InvalidInput(f"{attribute} must be text. Save the model again.")
    for part in parts:
        if isinstance(part, Schema):
            same_count("The schema", len(part.kinds), n_features)
        if isinstance(part, Components):
            same_count("The row of a distribution", part.distribution.n_features, n_features)


def _check_classes(learned: dict[str, Any], parts: list[Any]) -> None:
    classes = learned["classes_"]
    if not isinstance(classes, np.ndarray) or classes.ndim != 1:
        raise InvalidInput("classes_ must be a row of labels. Save the model again.")
    if not len(classes):
        raise InvalidInput("classes_ is empty; a fit has at least one class. Save the model again.")
    labels = classes.tolist()
    if any(is_missing(label) or label in (np.inf, -np.inf) for label in labels):
        raise InvalidInput("classes_ must be text or finite numbers. Save the model again.")
    same_count("The different labels of classes_", len({*labels}), len(labels))
    for name, value in learned.items():
        if name.startswith("class_") and isinstance(value, np.ndarray) and value.ndim:
            same_count(name, len(value), len(classes))
    for part in parts:
        if isinstance(part, Components):
            same_count("log_mixing", len(part.log_mixing), len(classes))
        if isinstance(part, ComponentTotals):
            same_count("The counts of classes", len(part.count), len(classes))
        if isinstance(part, Ordinal):
            same_count("The likelihood", part.n_classes, len(classes))


def _check_linear(learned: dict[str, Any]) -> None:
    """One finite-sized number for each coefficient, and one intercept for each predictor."""
    coding, coef = learned["coding_"], learned.get("coef_")
    if not isinstance(coding, Coding) or not isinstance(coef, np.ndarray) or coef.dtype != float:
        raise InvalidInput("coef_ must be numbers with a coding_. Save the model again.")
    same_count("A row of coef_", coef.shape[-1:], (coding.n_coefficients,))
    _check_estimates(learned, coding.n_coefficients)
    if "intercept_" in learned:
        same_count("intercept_", np.shape(learned["intercept_"]), coef.shape[:-1])
    means = learned.get("column_means_")
    if means is not None:
        same_count("column_means_", np.shape(means), coef.shape[-1:])
        if np.asarray(means).dtype != float or not np.isfinite(means).all():
            raise InvalidInput("column_means_ must be finite numbers. Save the model again.")
    if "thresholds_" in learned and "classes_" in learned:
        expected = (len(learned["classes_"]) - 1,)
        same_count("thresholds_", np.shape(learned["thresholds_"]), expected)


def _check_estimates(learned: dict[str, Any], n_coefficients: int) -> None:
    """The estimates with standard errors are those of the coefficients, intercepts behind them."""
    if isinstance(inference := learned.get("inference_"), Inference):
        predictors = int(np.prod(learned["coef_"].shape[:-1]))
        others = len(learned["thresholds_"]) if "thresholds_" in learned else predictors
        plain = predictors * n_coefficients
        if inference.theta.size not in (plain, plain + others):
            same_count("The estimates", inference.theta.size, plain + others)


def _check_strengths(learned: dict[str, Any]) -> None:
    """One number for each column that the network reads."""
    strengths = learned.get("column_strengths_")
    if strengths is not None:
        n = learned["architecture_"].sizes[0]
        numeric = isinstance(strengths, np.ndarray) and strengths.dtype.kind == "f"
        same_count("column_strengths_", np.shape(strengths) if numeric else (), (n,))


def _check_layers(learned: dict[str, Any]) -> None:
    """One number for each parameter of the layers, an input for each column or category."""
    architecture, output, theta = (
        learned.get(name) for name in ("architecture_", "output_", "parameters_")
    )
    if not isinstance(architecture, Architecture) or not isinstance(output, Output):
        raise InvalidInput("A network needs its layers and its output. Save the model again.")
    if not isinstance(theta, np.ndarray) or theta.dtype.kind != "f":
        raise InvalidInput("parameters_ must be numbers. Save the model again.")
    same_count("parameters_", theta.shape, (architecture.n_parameters,))
    same_count("The first layer", architecture.sizes[0], learned["coding_"].n_coefficients)
    ends = (architecture.sizes[-1], architecture.n_extra)
    same_count("The output", ends, (output.n_outputs, output.n_extra))
    if "classes_" in learned:
        same_count("The output", output.n_classes, len(learned["classes_"]))
    if (average := learned["average_"]) is not None:
        shape = (len(average.parameters), architecture.n_parameters)
        same_count("The networks", average.parameters.shape, shape)
        answers = (output.n_classes or output.n_outputs,)
        same_count("The constant model", average.constant.shape, answers)
    if np.ndim(centre := learned["response_centre_"]):
        same_count("response_centre_", np.shape(centre), (output.n_outputs,))


def _check_network(learned: dict[str, Any]) -> None:
    """A variable for each column, a state for each of its codes, and a state for each class."""
    network, columns = learned["network_"], learned["columns_"]
    states = network.by_name[learned["target_"]].n_states
    same_count("The classes", sorted(learned["class_states_"].tolist()), list(range(states)))
    same_count("The columns", len(columns.variables), learned["n_features_in_"])
    for variable, size in zip(columns.variables, columns.sizes, strict=True):
        same_count(
            f"Variable {variable.name!r}", variable.states, network.by_name[variable.name].states
        )
        same_count(f"Variable {variable.name!r}", variable.n_states, max(size, 1))


def _check_part(part: Any) -> None:
    """Refuse a part whose own fields do not fit together."""
    if isinstance(part, Components):
        same_count("log_mixing", part.log_mixing.shape, (part.distribution.n_components,))
    if isinstance(part, Chain):
        states = (part.n_states, part.n_states)
        same_count("The start of a chain", np.shape(part.log_start), states[:1])
        same_count("The transitions of a chain", np.shape(part.log_transition), states)
    if isinstance(part, Distribution):
        _check_distribution(part)
    if isinstance(part, Schema):
        described = {len(part.kinds), len(part.as_codes), len(part.categories)}
        described |= set() if part.names is None else {len(part.names)}
        same_count("A schema", sorted(described), [len(part.kinds)])
        coded = tuple(map(is_not, part.categories, repeat(None)))
        same_count("The categories of a schema", coded, part.as_codes)
    if isinstance(part, Inference):
        _check_inference(part)
    if isinstance(part, Categorical):
        same_count("A row of categories", part.log_probability.shape[1], sum(part.sizes))
    if isinstance(part, CategoricalStatistics):
        same_count("A row of category counts", part.counts.shape[1], sum(part.sizes))


def _check_family(family: Any, distribution: Any) -> None:
    """The distribution is a member of the family, part by part, and reads the same columns."""
    own = distribution.own_family()
    same = [_family_name(own), *_sizes(own)] == [_family_name(family), *_sizes(family)]
    if isinstance(distribution, Product):
        same = isinstance(family, ProductFamily)
    if not same:
        raise InvalidInput(
            f"The distribution is of {_family_name(own)}{_sizes(own)}, and its family is "
            f"{_family_name(family)}{_sizes(family)}; expected the same. Save the model again."
        )
    if isinstance(distribution, Product):
        read = tuple(part.selection for part in family.parts)
        same_count("The columns that the distribution reads", distribution.selections, read)
        for part, member in zip(family.parts, distribution.parts, strict=True):
            same_count("Codes or numbers", part.selection.coded, part.family.coded)
            _check_family(part.family, member)


def _family_name(family: Any) -> str:
    """The name of a family: of its class, or its own."""
    kind = family if isinstance(family, type) else type(family)
    return kind.__name__ if isinstance(family, type) else getattr(family, "name", kind.__name__)


def _sizes(family: Any) -> tuple[int, ...]:
    """How many values each feature has, if the family knows."""
    sizes: tuple[int, ...] = getattr(family, "sizes", ())
    return () if isinstance(family, type) else sizes


def _check_inference(part: Inference) -> None:
    """A row for each estimate in all that is known about them."""
    p = len(part.names)
    same_count("The estimates", part.theta.shape, (p,))
    same_count("Their covariance", part.covariance.shape, (p, p))
    for what, rows in (("root of their covariance", part.root), ("unknown part", part.unknown)):
        if rows is not None:
            same_count(f"The {what}, with two dimensions,", (rows.ndim, *rows.shape[:1]), (2, p))
    if part.firth_ratios is not None:
        same_count("Their likelihood ratios", part.firth_ratios.shape, (p,))


def _check_distribution(distribution: Any) -> None:
    """Every array has a row for each component, or one that they share."""
    n_components = distribution.n_components
    for field in fields(distribution):
        value = getattr(distribution, field.name)
        if isinstance(value, np.ndarray) and len(value) != 1:
            same_count(f"{type(distribution).__name__}.{field.name}", len(value), n_components)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Distribution):
                same_count(f"A part of {field.name}", part.n_components, n_components)


def parts_of(value: Any) -> Iterator[Any]:
    """The parts within a value, including itself."""
    if type(value) in LEAVES:  # most, and none is one
        return
    if is_dataclass(value) and not isinstance(value, type):
        yield value
        for field in fields(value):
            yield from parts_of(getattr(value, field.name))
    elif isinstance(value, list | tuple):
        if part_name(type(value)) is not None:  # a named tuple
            yield value
        for item in _not_leaves(value):
            yield from parts_of(item)
    elif isinstance(value, dict):
        yield from parts_of(list(value.values()))


def _not_leaves(items: Sequence[Any]) -> Iterable[Any]:
    """The items, unless none of them can hold a part: a text has a million columns."""
    return () if {*map(type, items)} <= LEAVES else distinct(items)


def _models_in(value: Any) -> Iterator[Any]:
    """The estimators within a value."""
    if type(value) in LEAVES:
        return
    if hasattr(type(value), "get_params"):  # an `Estimator`, asked of its class
        yield value
    elif isinstance(value, list | tuple):
        for item in _not_leaves(value):
            yield from _models_in(item)
    elif is_dataclass(value) and not isinstance(value, type):
        yield from _models_in([getattr(value, field.name) for field in fields(value)])
    elif isinstance(value, dict):
        yield from _models_in(list(value.values()))
