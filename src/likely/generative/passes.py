"""Passes over the rows that the generative estimators share: opening data, and predicting.

A table in memory becomes blocks of views; a file, or the name of one, becomes blocks that
are read as they are needed.  Either way the estimator sees ``Opened`` and nothing else.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor, executor_for
from likely.data.block import ArrayBlocks, Blocks
from likely.data.formats.registry import read
from likely.data.frames import is_sparse, kinds_of, library_of
from likely.data.layouts.intercept import Dense, Design, Mixed
from likely.data.schema import Schema, TableKinds
from likely.data.source import Source
from likely.data.source_blocks import SourceBlocks, find_schema_and_classes
from likely.distributions.base import Family
from likely.distributions.product import ProductStatistics
from likely.errors import InvalidInput
from likely.formatting import listed
from likely.objectives.components import (
    Components,
    ComponentTotals,
    block_log_joint,
    block_log_posterior,
    block_log_score,
)
from likely.objectives.value_counts import count_values
from likely.opening import check_column, n_rows_of, nbytes_of, own_columns, present
from likely.validate import (
    check_labels,
    check_table,
    check_weight,
    known_classes,
    label_array,
)


class Opened(NamedTuple):
    """Data at the door: blocks of it, what its columns are, and who will total them."""

    blocks: Blocks
    schema: Schema
    classes: Array  # empty where there is no target
    executor: Executor
    library: str | None  # the caller's frame library, to answer in
    table: Any = None  # the rows in memory, checked; None for a file
    totals: ComponentTotals | None = None  # where opening the data counted them already


AsCodes = Callable[[TableKinds, bool], tuple[bool, ...]]  # (the columns, whether sparse) → flags


def open_rows(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    as_codes: AsCodes,
    declare: Callable[[Schema], Schema] = lambda schema: schema,
    unlabelled: Any = None,
    supervised: bool = True,
    sparse: bool = True,
    reset: bool = True,
) -> Opened:
    """Check X, y and weights, and cut them into blocks.

    X in a frame may hold its own target and weights: y and sample_weight are then names.
    """
    if isinstance(X, str | Path):
        X = read(X)
    if isinstance(X, Source):
        target = y if supervised else None
        return _open_source(
            estimator, X, target, sample_weight, as_codes, declare, supervised, unlabelled
        )
    X, y, sample_weight = own_columns(X, y, sample_weight)
    X = check_table(estimator, X, reset=reset, sparse=sparse)
    weight = check_weight(sample_weight, X, n_rows=n_rows_of(X))
    if supervised:
        X, classes, codes, weight = _labelled(estimator, X, y, weight, unlabelled)
    else:
        X, weight = present(X, weight)
        classes, codes = np.empty(0), None
    kinds = kinds_of(X)
    flags = as_codes(kinds, is_sparse(X))
    executor = executor_for(estimator.executor, nbytes_of(X))
    if supervised and all(flags) and isinstance(X, np.ndarray) and X.dtype.kind == "i":
        counted = _open_counted(X, codes, weight, classes, kinds, executor)
        if counted is not None and declare(counted.schema) is counted.schema:
            return counted
    found, design = Schema.learn(X, flags)
    schema = declare(found)
    if schema is not found:
        design = schema.encode(X).design
    return Opened(ArrayBlocks(design, codes, weight), schema, classes, executor, library_of(X), X)


def _labelled(
    estimator: Any, X: Any, y: Any, weight: Array | None, unlabelled: Any
) -> tuple[Any, Array, Array, Array | None]:
    """Rows of positive weight with their classes and class codes."""
    if y is None:
        raise InvalidInput(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None. "
            "Pass one label per row."
        )
    y, n_rows = label_array(y), n_rows_of(X)
    if weight is not None and len(y) == n_rows and not (weight > 0).all():
        y = y[weight > 0]
        X, weight = present(X, weight)
    classes, codes = check_labels(y, unlabelled=unlabelled, n_rows=n_rows_of(X))
    return X, classes, codes, weight


def _open_counted(
    X: Array, codes: Any, weight: Any, classes: Array, kinds: TableKinds, executor: Executor
) -> Opened | None:
    """Small whole numbers read as categories: one pass finds and counts them."""
    blocks = ArrayBlocks(Dense(X), codes, weight)
    counted = count_values(blocks, len(classes), executor)
    sizes = None if counted is None else counted.sizes()
    if counted is None or sizes is None:
        return None
    categories = tuple(np.arange(size) for size in sizes)
    schema = Schema(kinds.names, kinds.kinds, (True,) * len(sizes), categories)
    design = Mixed(np.empty((len(X), 0)), X, sizes)
    totals = ComponentTotals(
        np.bincount(codes[codes >= 0], minlength=len(classes)).astype(float),
        ProductStatistics((counted.statistics(sizes),)),
    )
    return Opened(ArrayBlocks(design, codes), schema, classes, executor, None, X, totals)


def _open_source(
    estimator: Any,
    source: Source,
    target: Any,
    weight: Any,
    as_codes: AsCodes,
    declare: Callable[[Schema], Schema],
    supervised: bool,
    unlabelled: Any,
) -> Opened:
    """A file: the target and the weights are columns of it, by name."""
    check_column("y", target, source)
    check_column("sample_weight", weight, source)
    if supervised and target is None:
        raise InvalidInput(
            "X is a file and y is None; y must name the target column. "
            f"Columns are {listed(source.names)}."
        )
    executor = executor_for(estimator.executor, source.nbytes)
    features = source.drop([name for name in (target, weight) if name is not None])
    if not features.names:
        raise InvalidInput(
            "The file has no column beside the target and the weights; a model needs at least one "
            "feature. Add columns to it."
        )
    estimator.feature_names_in_ = np.asarray(features.names, dtype=object)
    estimator.n_features_in_ = len(features.names)
    flags = as_codes(kinds_of(features), False)
    found, classes = find_schema_and_classes(source, features, flags, target, weight, executor)
    schema = declare(found)
    classes = known_classes(classes, unlabelled) if supervised else classes
    blocks = SourceBlocks(
        source,
        schema,
        target,
        classes if supervised else None,
        weight,
        gaps=unlabelled is not None and unlabelled != unlabelled,
    )
    return Opened(blocks, schema, classes, executor, "pyarrow")


def log_posterior(model: Components, family: Family, design: Design, executor: Any) -> Array:
    """log p(k | x_i), (n, n_components)."""
    return _mapped(partial(block_log_posterior, family, model), design, executor)


def log_score(model: Components, family: Family, design: Design, executor: Any) -> Array:
    """log p(x_i, k) up to a term that the components share, (n, n_components)."""
    return _mapped(partial(block_log_score, family, model), design, executor)


def log_joint(model: Components, family: Family, design: Design, executor: Any) -> Array:
    """log p(x_i, k), (n, n_components)."""
    return _mapped(partial(block_log_joint, family, model), design, executor)


def _mapped(term: Any, design: Design, executor: Any) -> Array:
    blocks = ArrayBlocks(design)
    chosen = executor_for(executor, blocks.nbytes)
    return np.concatenate(list(chosen.map(term, blocks)))
