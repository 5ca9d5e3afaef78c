"""Data at the public door: what every estimator does with rows before it learns from them.

A frame may hold its own target and weights, rows of weight 0 are absent, new rows are read by the
schema of the fit, and a complaint about a cell names its column.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d

from likely._typing import Array
from likely.data.frames import is_sparse
from likely.data.layouts.intercept import Design
from likely.data.schema import Encoded, Schema, TableKinds
from likely.data.source import Source, column_index
from likely.errors import BadCell, InvalidInput, UnseenCategories, warn_user
from likely.formatting import listed
from likely.validate import as_frame, check_table, is_frame, plain, refuse_other_length

Method = TypeVar("Method", bound=Callable[..., Any])


def present(X: Any, weight: Array | None) -> tuple[Any, Array | None]:
    """Weight 0 is the row absent."""
    if weight is None or (weight > 0).all():
        return X, weight
    return rows_of(X, weight > 0), weight[weight > 0]


def own_columns(X: Any, *given: Any) -> tuple[Any, ...]:
    """A frame's own columns in place of their names, taken out of its features."""
    names = [name for name in given if isinstance(name, str)]
    if not names or not is_frame(as_frame(X)):
        return (X, *given)
    import narwhals.stable.v2 as nw

    frame = nw.from_native(as_frame(X), eager_only=True)
    for name in names:
        column_index(tuple(frame.columns), name)
    columns = [
        frame.get_column(each).to_native() if isinstance(each, str) else each for each in given
    ]
    return (frame.drop(names).to_native(), *columns)


def check_column(what: str, name: Any, source: Source) -> None:
    if name is None:
        return
    if not isinstance(name, str):
        raise InvalidInput(
            f"X is a file, so {what} must be the name of one of its columns; "
            f"found {type(name).__name__}. Columns are {listed(source.names)}."
        )
    column_index(source.names, name)


def encode(estimator: Any, schema: Schema, X: Any, *, sparse: bool = True) -> Design:
    """New rows by the schema of the fit; categories it has not seen carry no evidence."""
    return encode_new(estimator, schema, X, sparse=sparse).design


def encode_new(estimator: Any, schema: Schema, X: Any, *, sparse: bool = True) -> Encoded:
    """The same, with what was not seen."""
    if isinstance(X, str | Path | Source):
        raise InvalidInput(
            "X is a file; a prediction takes rows in memory. "
            "Read it into a frame, or stream it with the command `likely predict`."
        )
    X = check_table(estimator, X, reset=False, sparse=sparse)
    encoded = schema.encode(X)
    unseen = encoded.unseen
    if unseen:
        shown = ", ".join(f"{name}={value!r}" for name, value in unseen[:3])
        warn_user(
            f"Categories that the fit did not see carry no evidence: {shown}"
            f"{' and others' if len(unseen) > 3 else ''}. Fit again with rows that have them.",
            UnseenCategories,
        )
    return encoded


def refuse_files(X: Any, estimator: Any) -> None:
    """A fit in batches is given the batches."""
    if isinstance(X, str | Path | Source):
        raise InvalidInput(
            f"partial_fit of {type(estimator).__name__} takes rows in memory; X is a file. "
            "Call fit, which streams it, or pass its batches one by one."
        )


def refuse_file(X: Any, estimator: Any) -> None:
    """A map of columns, and a model that is fitted to parts of the rows, need them in memory."""
    if isinstance(X, str | Path | Source):
        raise InvalidInput(
            f"X is a file; {type(estimator).__name__} takes rows in memory. "
            "Read it into a frame first."
        )


def all_numbers(kinds: TableKinds, sparse: bool) -> tuple[bool, ...]:
    """No column is read as codes."""
    return (False,) * len(kinds.kinds)


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


def n_rows_of(X: Any) -> int:
    return int(X.shape[0])


def nbytes_of(X: Any) -> int:
    """The size of the data, or a guess at eight bytes a cell."""
    if isinstance(X, np.ndarray):
        return int(X.nbytes)
    return int(X.data.nbytes + X.indices.nbytes) if is_sparse(X) else 8 * int(np.prod(X.shape))


def rows_of(X: Any, kept: Array) -> Any:
    """Some rows of an array, a CSR array or a frame."""
    if isinstance(X, np.ndarray) or is_sparse(X):
        return X[np.flatnonzero(kept)]
    import narwhals.stable.v2 as nw

    return nw.from_native(X, eager_only=True).filter(kept.tolist()).to_native()


def check_response(y: Any, *, n_rows: int, estimator: Any, several: bool = False) -> Array:
    """Numbers to be predicted, as float64: (n,), or (n, m) where ``several`` are allowed."""
    y = plain(required(y, estimator))
    try:
        y = check_array(
            y, ensure_2d=False, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0
        )
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"y must hold numbers; {str(error).rstrip('.')}. "
            "Use a classifier for labels, or convert the column."
        ) from error
    values: Array = y if several and y.ndim == 2 and y.shape[1] > 1 else column_or_1d(y, warn=True)
    refuse_other_length(values, n_rows)
    _refuse_infinite_response(values)
    return values


def required(y: Any, estimator: Any) -> Any:
    """y, which a supervised model cannot do without."""
    if y is None:
        raise InvalidInput(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None. "
            "Pass one label or number per row, or the name of a column of X."
        )
    return y


def _refuse_infinite_response(y: Array) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(y.sum()):  # a finite total proves finite data
            return
    bad = np.argwhere(~np.isfinite(y))
    if len(bad):
        value = y[tuple(bad[0])]
        raise InvalidInput(
            f"Input y contains {'NaN' if np.isnan(value) else 'infinity'}: row {bad[0][0]} has "
            f"{value:g}; a response is a finite number. Mend it, or drop the row."
        )


def check_numbers(values: Any, what: str, *, n_rows: int, positive: bool = False) -> Array:
    """An offset or an exposure: one finite number per row."""
    try:
        column = np.asarray(plain(values), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"{what} must hold numbers; {error}. Pass one number per row."
        ) from error
    column = np.full(n_rows, column) if column.ndim == 0 else column
    if column.shape != (n_rows,):
        raise InvalidInput(
            f"{what} has shape {column.shape}; X has {n_rows} rows. Pass one number per row."
        )
    valid = np.isfinite(column) & (column > 0) if positive else np.isfinite(column)
    if not valid.all():
        row = int(np.argmin(valid))
        raise InvalidInput(
            f"{what} of row {row} is {column[row]:g}; it must be finite"
            f"{' and above 0' if positive else ''}. Mend it, or drop the row."
        )
    return column
