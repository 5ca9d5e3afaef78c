"""X as it was given: an array, a sparse array, a data frame or a file.

A table in memory is checked and wrapped once; its names and its width are stored by the
estimator.  NaN is allowed, because it means missing; infinities are refused where their position
is known, by the schema and the families.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from likely._typing import Array, Matrix
from likely.data.frames import InMemoryTable, as_table, is_sparse
from likely.data.source import Source, column_index
from likely.errors import InvalidInput
from likely.host_arrays import on_host
from likely.kinds import FEATURE_KINDS


def is_file(X: Any) -> bool:
    """Whether X is a file: its path, or a source of rows that is read in chunks."""
    return isinstance(X, str | Path | Source)


def refuse_file(X: Any, who: str, advice: str = "Read it into a frame first.") -> None:
    """Refuse a file where rows are needed in memory; ``who`` needs them."""
    if is_file(X):
        raise InvalidInput(f"X is a file; {who} takes rows in memory. {advice}")


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of any library that narwhals supports."""
    import narwhals.stable.v2 as nw

    return not isinstance(X, np.ndarray) and nw.dependencies.is_into_dataframe(X)


def as_frame(X: Any) -> Any:
    """An Arrow record batch as a table, a torch tensor as an array; anything else as it is."""
    import narwhals.stable.v2 as nw

    X = on_host(X)

    if nw.dependencies.is_polars_lazyframe(X):
        raise InvalidInput(
            "X is a lazy frame, which holds no rows yet; rows are needed. Call X.collect()."
        )
    if _is_arrow(X) and type(X).__name__ == "RecordBatch":
        import pyarrow as pa

        return pa.Table.from_batches([X])
    return X


def _is_arrow(X: Any) -> bool:
    return type(X).__module__.startswith("pyarrow")  # without the import, which takes long


def n_rows_of(X: Any) -> int:
    """How many rows an array, a sparse array, a frame or a list has."""
    return int(X.shape[0]) if is_sparse(X) else len(X)


def refuse_ragged(X: Any) -> None:
    """Refuse lists of unequal length."""
    if not isinstance(X, list | tuple):
        return
    sizes = [len(row) if isinstance(row, list | tuple | np.ndarray) else None for row in X]
    other = next((i for i, size in enumerate(sizes) if size != sizes[0]), None)
    if other is not None:
        raise InvalidInput(
            f"The rows of X have different lengths: row 0 has {_cells(sizes[0])} and row {other} "
            f"{_cells(sizes[other])}. Pass rows of equal length, with None where a cell is missing."
        )


def _cells(size: int | None) -> str:
    return "one value" if size is None else f"{size} cells"


def rows_at(X: Any, index: Array) -> Any:
    """The rows at these positions of an array, a sparse array, a frame, a series or a list."""
    import narwhals.stable.v2 as nw

    if isinstance(X, list | tuple):
        return [X[i] for i in index]
    if isinstance(X, InMemoryTable):
        return X.take(index)
    if is_frame(X) or nw.dependencies.is_into_series(X):
        return nw.from_native(X, eager_only=True, allow_series=True)[index].to_native()
    return X.take(index) if _is_arrow(X) else X[index]


def own_columns(X: Any, *given: Any) -> tuple[Any, ...]:
    """Columns of a frame in place of their names, removed from its features."""
    X, *others = (on_host(each) for each in (X, *given))
    names = [name for name in others if isinstance(name, str)]
    if not names or not is_frame(as_frame(X)):
        return (X, *others)
    import narwhals.stable.v2 as nw

    frame = nw.from_native(as_frame(X), eager_only=True)
    for name in names:
        column_index(tuple(frame.columns), name)
    columns = [
        frame.get_column(each).to_native() if isinstance(each, str) else each for each in others
    ]
    return (frame.drop(names).to_native(), *columns)


def without_columns(X: Any, names: list[str]) -> Any:
    """A frame without these columns, if it has them; anything else as it is."""
    if not names or not is_frame(as_frame(X)):
        return X
    import narwhals.stable.v2 as nw

    frame = nw.from_native(as_frame(X), eager_only=True)
    return frame.drop([name for name in names if name in frame.columns]).to_native()


def with_columns(X: Any, names: Sequence[str], unneeded: Sequence[str] = ()) -> Any:
    """A frame with these columns of its own, and empty ones for those that are not needed.

    A frame that has just these columns, or lacks one that is needed, is returned as it is.
    """
    if not is_frame(as_frame(X)):
        return X
    import narwhals.stable.v2 as nw

    frame = nw.from_native(as_frame(X), eager_only=True)
    here = {*frame.columns}
    missing = [name for name in names if name not in here]
    if (not missing and len(here) == len(names)) or not {*unneeded}.issuperset(missing):
        return X
    empty = [nw.lit(None, nw.String).alias(name) for name in missing]
    return frame.with_columns(*empty).select(list(names)).to_native()


def check_table(estimator: Any, X: Any, *, reset: bool, sparse: bool = True) -> InMemoryTable:
    """X, checked and ready to be read by columns; the estimator stores its names and width."""
    X = as_frame(X)
    if isinstance(X, InMemoryTable):
        check_names(estimator, X, reset=reset)
        return X
    refuse_ragged(X)
    if isinstance(X, list | tuple) and np.asarray(X).dtype.kind in "SU":
        X = np.asarray(X, dtype=object)  # numbers in a column with text stay numbers
    if is_frame(X):
        table = as_table(X)
        check_names(estimator, table, reset=reset)
        return table
    with typed_refusals():
        checked = check_array(
            X,
            accept_sparse="csr" if sparse else False,
            dtype=None,
            ensure_all_finite=False,
            ensure_min_features=1,
            estimator=estimator,
        )
        checked = _numbers_if_possible(checked)
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    if reset:
        _remember_words(estimator, X)
    return as_table(checked)


@contextmanager
def typed_refusals() -> Iterator[None]:
    """What scikit-learn refuses as ``InvalidInput``, with what to do."""
    try:
        yield
    except InvalidInput:
        raise
    except ValueError as error:
        problem = str(error).strip().rstrip(".")
        if "features, but" in problem:
            advice = "Pass the columns of the fit, in their order."
        elif "minimum of 1 is required" in problem:
            advice = "Pass at least one row and one column."
        else:
            advice = "Pass a table with a row for each example."
        raise InvalidInput(f"{problem}. {advice}") from error


def check_names(estimator: Any, table: InMemoryTable, *, reset: bool) -> None:
    """Store the columns of a frame, or check them against the stored ones, by name."""
    names = np.asarray(table.names, dtype=object)
    if table.n_rows == 0 or len(names) == 0:
        raise InvalidInput(
            f"Found array with {table.n_rows} sample(s) and {len(names)} feature(s) "
            f"(shape=({table.n_rows}, {len(names)})) while a minimum of 1 is required. "
            "Pass at least one row and one column."
        )
    if reset:
        remember_names(estimator, table.names or ())
        return
    known = names_in_fit(estimator)
    if known is None:
        with typed_refusals():
            validate_data(estimator, table.native, reset=False, skip_check_array=True)
    elif list(names) != list(known):
        raise InvalidInput(_changed_names(list(known), list(names)))


def names_in_fit(estimator: Any) -> tuple[str, ...] | None:
    """The names of the columns of X in the fit; None where they had none, or before a fit."""
    names = getattr(estimator, "feature_names_in_", None)  # scikit-learn's word; may be a property
    return None if names is None else tuple(map(str, names))


def remember_names(estimator: Any, names: tuple[str, ...]) -> None:
    """The names and the number of the columns of a fit."""
    vars(estimator).pop("column_names_", None)  # of an earlier fit
    estimator.feature_names_in_ = np.asarray(names, dtype=object)
    estimator.n_features_in_ = len(names)


def _remember_words(estimator: Any, X: Any) -> None:
    """The names of the columns of a sparse array that ``BagOfWords`` has made.

    They are not ``feature_names_in_``: later rows may come without names.
    """
    vars(estimator).pop("column_names_", None)
    names = vars(X).get("column_names") if is_sparse(X) else None
    if names is not None:
        estimator.column_names_ = names()


def _changed_names(known: list[str], found: list[str]) -> str:
    before, now = set(known), set(found)
    missing = [name for name in known if name not in now]
    extra = [name for name in found if name not in before]
    if not missing and not extra:
        what = "Feature names must be in the same order as they were in fit."
        return f"The feature names should match those that were passed during fit.\n{what}\n"
    parts = ["The feature names should match those that were passed during fit."]
    if extra:
        parts.append("Feature names unseen at fit time:\n" + "".join(f"- {n}\n" for n in extra[:5]))
    if missing:
        parts.append(
            "Feature names seen at fit time, yet now missing:\n"
            + "".join(f"- {n}\n" for n in missing[:5])
        )
        close = get_close_matches(missing[0], extra, n=1)
        if close:
            parts.append(f"Was {missing[0]!r} renamed to {close[0]!r}? Rename it back.\n")
    return "\n".join(parts)


def _numbers_if_possible(X: Matrix) -> Matrix:
    """Object arrays of numbers as float64; those with text stay as they are."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "O":
        return X
    try:
        return X.astype(np.float64)
    except ValueError:
        return X
    except TypeError as error:
        raise TypeError(
            f"{error}: each argument must be a string or a number. Convert the column."
        ) from error


def total_is_finite(values: Array) -> bool:
    """Whether the sum is finite, which proves that every value is."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()))


def finite_numbers(X: Any, what: str = "X") -> Array:
    """X, an array or a frame, as float64 of shape (n, d), all finite."""
    X = as_frame(X)
    if is_frame(X):
        import narwhals.stable.v2 as nw

        X = nw.from_native(X).to_numpy()
    try:
        array = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"{what} must hold numbers; {error}. Encode the categories, or drop their columns."
        ) from error
    if array.ndim != 2 or not np.isfinite(array).all():
        raise InvalidInput(
            f"{what} must be a table of finite numbers, (n, d); found the shape {array.shape} with "
            f"{np.count_nonzero(~np.isfinite(array))} cells that are not finite. "
            "Pass one row per example, and drop or fill rows with missing cells."
        )
    return array


def read_numbers(estimator: Any, X: Any, *, reset: bool, sparse: str, category: str) -> Array:
    """X as float64, with NaN for missing; names and widths are remembered by ``estimator``.

    ``sparse`` says why a sparse X is refused and what to do; ``category`` what to do with text.
    """
    refuse_file(X, type(estimator).__name__)
    if is_sparse(X):
        raise InvalidInput(f"X is a sparse matrix; expected a dense one, for {sparse}")
    X = as_frame(X)
    _refuse_what_is_not_numbers(X, category)
    with typed_refusals():
        numbers: Array = validate_data(
            estimator, X, dtype=np.float64, ensure_all_finite=False, reset=reset
        )
    if not total_is_finite(numbers) and np.isinf(numbers).any():
        i, j = np.argwhere(np.isinf(numbers))[0]
        names = names_in_fit(estimator)
        column = j if names is None else repr(names[j])
        raise InvalidInput(
            f"X is {numbers[i, j]} (infinity) at row {i}, column {column}; expected finite values, "
            "or NaN for missing. Replace infinities by NaN or by a large number."
        )
    return numbers


def _refuse_what_is_not_numbers(X: Any, category: str) -> None:
    """Numbers written as text, categories and times are refused, not silently converted."""
    if is_frame(X):
        table = as_table(X)
        for j, (name, kind) in enumerate(zip(table.names or (), table.kinds, strict=True)):
            if kind not in FEATURE_KINDS:
                raise _not_numbers(f"Column {name!r}", "times or other values", [], category)
            if kind == "category":
                values = table.factor(j).values
                raise _not_numbers(f"Column {name!r}", "strings", values, category)
        return
    refuse_ragged(X)
    array = np.asarray(X)
    if array.dtype.kind == "V" or (array.dtype.kind == "O" and array.ndim == 0):
        raise InvalidInput(
            f"X is a {type(X).__name__} of {array.dtype}; expected a table of numbers. Pass an "
            "array of two dimensions, or a frame."
        )
    if array.dtype.kind in "USMm" and array.size:
        what = "times" if array.dtype.kind in "Mm" else "strings"
        raise _not_numbers("X", what, array.ravel(), category)
    if array.dtype.kind == "O":
        strings = [value for value in array.ravel() if isinstance(value, str)]
        if strings:
            raise _not_numbers("X", "strings", strings, category)


def _not_numbers(what: str, kind: str, values: Any, category: str) -> InvalidInput:
    shown = f"{kind}, such as {str(values[0])!r}" if len(values) else kind
    return InvalidInput(
        f"{what} holds {shown}; expected numbers. {category}, or convert it to numbers."
    )
