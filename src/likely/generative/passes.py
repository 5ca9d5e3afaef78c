"""Passes over the rows that the generative estimators share: opening data, and predicting.

A table in memory becomes blocks of views; a file, or the name of one, becomes blocks that
are read as they are needed.  Either way the estimator sees ``Opened`` and nothing else.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor, executor_for
from likely.data.block import ArrayBlocks, Blocks
from likely.data.design import Dense, Design, Mixed
from likely.data.frames import is_sparse, kinds_of, library_of
from likely.data.schema import Schema, TableKinds
from likely.data.source import Source, column_index
from likely.data.source_blocks import SourceBlocks, find_schema_and_classes
from likely.data.sources import read
from likely.distributions.base import Family
from likely.distributions.product import ProductStatistics
from likely.errors import BadCell, InvalidInput, UnseenCategories, warn_user
from likely.objectives.components import (
    Components,
    ComponentTotals,
    block_log_joint,
    block_log_posterior,
    block_log_score,
)
from likely.objectives.value_counts import count_values
from likely.validate import (
    as_frame,
    check_labels,
    check_table,
    check_weight,
    is_frame,
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
    X, y, sample_weight = _own_columns(X, y, sample_weight)
    X = check_table(estimator, X, reset=reset, sparse=sparse)
    weight = check_weight(sample_weight, X, n_rows=_n_rows(X))
    if supervised:
        X, classes, codes, weight = _labelled(estimator, X, y, weight, unlabelled)
    else:
        X, weight = _present(X, weight)
        classes, codes = np.empty(0), None
    kinds = kinds_of(X)
    flags = as_codes(kinds, is_sparse(X))
    executor = executor_for(estimator.executor, _nbytes(X))
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
    y, n_rows = label_array(y), _n_rows(X)
    if weight is not None and len(y) == n_rows and not (weight > 0).all():
        y = y[weight > 0]
        X, weight = _present(X, weight)
    classes, codes = check_labels(y, unlabelled=unlabelled, n_rows=_n_rows(X))
    return X, classes, codes, weight


def _present(X: Any, weight: Array | None) -> tuple[Any, Array | None]:
    """Weight 0 is the row absent."""
    if weight is None or (weight > 0).all():
        return X, weight
    return _rows(X, weight > 0), weight[weight > 0]


def _own_columns(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """A frame's own columns in place of their names, taken out of its features."""
    names = [name for name in (y, sample_weight) if isinstance(name, str)]
    if not names or not is_frame(as_frame(X)):
        return X, y, sample_weight
    import narwhals.stable.v2 as nw

    frame = nw.from_native(as_frame(X), eager_only=True)
    for name in names:
        column_index(tuple(frame.columns), name)
    y, sample_weight = (
        frame.get_column(each).to_native() if isinstance(each, str) else each
        for each in (y, sample_weight)
    )
    return frame.drop(names).to_native(), y, sample_weight


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
    _check_column("y", target, source)
    _check_column("sample_weight", weight, source)
    if supervised and target is None:
        raise InvalidInput(
            "X is a file and y is None; y must name the target column. "
            f"Columns are {', '.join(source.names[:10])}."
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


def _check_column(what: str, name: Any, source: Source) -> None:
    if name is None:
        return
    if not isinstance(name, str):
        raise InvalidInput(
            f"X is a file, so {what} must be the name of one of its columns; "
            f"found {type(name).__name__}. Columns are {', '.join(source.names[:10])}."
        )
    column_index(source.names, name)


def encode(estimator: Any, schema: Schema, X: Any, *, sparse: bool = True) -> Design:
    """New rows by the schema of the fit; categories it has not seen carry no evidence."""
    if isinstance(X, str | Path | Source):
        raise InvalidInput(
            "X is a file; a prediction takes rows in memory. "
            "Read it into a frame, or stream it with the command `likely predict`."
        )
    X = check_table(estimator, X, reset=False, sparse=sparse)
    design, unseen = schema.encode(X)
    if unseen:
        shown = ", ".join(f"{name}={value!r}" for name, value in unseen[:3])
        warn_user(
            f"Categories that the fit did not see carry no evidence: {shown}"
            f"{' and others' if len(unseen) > 3 else ''}. Fit again with rows that have them.",
            UnseenCategories,
        )
    return design


def log_posterior(model: Components, family: Family, design: Design, executor: Any) -> Array:
    """log p(k | x_i), (n, n_components)."""
    return _mapped(partial(block_log_posterior, family, model), design, executor)


def log_score(model: Components, family: Family, design: Design, executor: Any) -> Array:
    """log p(x_i, k) up to a term that the components share, (n, n_components)."""
    return _mapped(partial(block_log_score, family, model), design, executor)


def log_joint(model: Components, family: Family, design: Design, executor: Any) -> Array:
    """log p(x_i, k), (n, n_components)."""
    return _mapped(partial(block_log_joint, family, model), design, executor)


def refuse_files(X: Any, estimator: Any) -> None:
    """A fit in batches is given the batches."""
    if isinstance(X, str | Path | Source):
        raise InvalidInput(
            f"partial_fit of {type(estimator).__name__} takes rows in memory; X is a file. "
            "Call fit, which streams it, or pass its batches one by one."
        )


def all_numbers(kinds: TableKinds, sparse: bool) -> tuple[bool, ...]:
    """No column is read as codes."""
    return (False,) * len(kinds.kinds)


Method = TypeVar("Method", bound=Callable[..., Any])


def naming_columns(method: Method) -> Method:
    """A public method of an estimator whose complaints about a cell name its column."""

    @wraps(method)
    def wrapper(self: Any, *args: Any, **named: Any) -> Any:
        try:
            return method(self, *args, **named)
        except BadCell as error:
            raise error.named(feature_names(self)) from None

    return cast("Method", wrapper)


@contextmanager
def unchanged_if_refused(estimator: Any) -> Iterator[None]:
    """A batch that is refused leaves the estimator as it was."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def feature_names(estimator: Any) -> tuple[str, ...]:
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        names = [f"x{j}" for j in range(estimator.n_features_in_)]
    return tuple(map(str, names))


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator from an int, None, a Generator or a RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


def _mapped(term: Any, design: Design, executor: Any) -> Array:
    blocks = ArrayBlocks(design)
    chosen = executor_for(executor, blocks.nbytes)
    return np.concatenate(list(chosen.map(term, blocks)))


def _n_rows(X: Any) -> int:
    return int(X.shape[0])


def _nbytes(X: Any) -> int:
    """The size of the data, or a guess at eight bytes a cell."""
    if isinstance(X, np.ndarray):
        return int(X.nbytes)
    return int(X.data.nbytes + X.indices.nbytes) if is_sparse(X) else 8 * int(np.prod(X.shape))


def _rows(X: Any, kept: Array) -> Any:
    """Some rows of an array, a CSR array or a frame."""
    if isinstance(X, np.ndarray) or is_sparse(X):
        return X[np.flatnonzero(kept)]
    import narwhals.stable.v2 as nw

    return nw.from_native(X, eager_only=True).filter(kept.tolist()).to_native()
