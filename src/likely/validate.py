"""Checks at the public door: X, y and weights, once; inside, code trusts its arguments.

Checking must not cost a pass over large data: finite totals prove finite data, and integer
labels are counted, not sorted.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    column_or_1d,
    validate_data,
)

from likely._typing import Array, Codes, Matrix
from likely.errors import InvalidInput, warn_user

COUNTED_RANGE = 2**16  # integer labels in a range this small are counted, not sorted


class Classes(NamedTuple):
    """The distinct labels, sorted, and each row's place among them (−1: not among them)."""

    classes: Array
    codes: Codes


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of any library narwhals knows."""
    import narwhals.stable.v2 as nw

    return nw.dependencies.is_into_dataframe(X)


def as_frame(X: Any) -> Any:
    """An Arrow record batch, as a file gives it, as a table; anything else as it is."""
    import narwhals.stable.v2 as nw

    if nw.dependencies.is_polars_lazyframe(X):
        raise InvalidInput(
            "X is a lazy frame, which holds no rows yet; rows are needed. Call X.collect()."
        )
    if type(X).__module__.startswith("pyarrow") and type(X).__name__ == "RecordBatch":
        import pyarrow as pa

        return pa.Table.from_batches([X])
    return X


def check_table(estimator: Any, X: Any, *, reset: bool, sparse: bool = True) -> Any:
    """X as an array, a CSR array or the frame it came as; names and widths are remembered.

    NaN is let through (it means missing); infinities are refused where their place is known, by
    the schema and the families.
    """
    X = as_frame(X)
    if isinstance(X, list | tuple) and np.asarray(X).dtype.kind in "SU":
        X = np.asarray(X, dtype=object)  # numbers beside text stay numbers
    if is_frame(X):
        check_names(estimator, X, reset=reset)
        return X
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
    return checked


def check_names(estimator: Any, X: Any, *, reset: bool) -> None:
    """Remember the columns of a frame, or hold it to those remembered, by name."""
    frame = _unambiguous(X)
    names = np.asarray([str(name) for name in frame.columns], dtype=object)
    if len(frame) == 0 or len(names) == 0:
        raise InvalidInput(
            f"Found array with {len(frame)} sample(s) and {len(names)} feature(s) "
            f"(shape=({len(frame)}, {len(names)})) while a minimum of 1 is required. "
            "Pass at least one row and one column."
        )
    if reset:
        estimator.feature_names_in_ = names
        estimator.n_features_in_ = len(names)
        return
    known = getattr(estimator, "feature_names_in_", None)
    if known is None:
        validate_data(estimator, X, reset=False, skip_check_array=True)
        return
    if list(names) == list(known):
        return
    raise InvalidInput(_changed_names(estimator, list(known), list(names)))


def _unambiguous(X: Any) -> Any:
    """The frame as narwhals sees it; two columns of one name are refused."""
    import narwhals.stable.v2 as nw

    try:
        return nw.from_native(X, eager_only=True)
    except nw.exceptions.DuplicateError as error:
        raise InvalidInput(
            f"Two columns of X have the same name ({error}); names must differ. Rename one."
        ) from error


def _changed_names(estimator: Any, known: list[str], found: list[str]) -> str:
    from difflib import get_close_matches

    missing = [name for name in known if name not in found]
    extra = [name for name in found if name not in known]
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
    if not isinstance(X, np.ndarray) or X.dtype.kind not in "OSU":
        return X
    if X.dtype.kind == "O":
        try:
            return X.astype(np.float64)
        except ValueError:
            return X
        except TypeError as error:
            raise TypeError(
                f"{error}: each argument must be a string or a number. Convert the column."
            ) from error
    return X


def check_labels(y: Any, *, unlabelled: Any = None, n_rows: int | None = None) -> Classes:
    """The classes of y; labels equal to ``unlabelled`` (or NaN, if that is NaN) get −1."""
    y = label_array(y)
    refuse_other_length(y, n_rows)
    if unlabelled is None:
        _refuse_missing_labels(y)
        return _distinct(y)
    unknown = _is_unlabelled(y, unlabelled)
    if unknown.all():
        raise InvalidInput(
            f"All {len(y)} labels equal unlabelled={unlabelled!r}; at least one must be known. "
            "Use a mixture model when none is."
        )
    _refuse_missing_labels(y[~unknown])
    found = _distinct(y[~unknown])
    codes = np.full(len(y), -1, dtype=np.int64)
    codes[~unknown] = found.codes
    return Classes(found.classes, codes)


def known_classes(labels: Array, unlabelled: Any) -> Array:
    """Distinct labels without the one that means unknown; at least one must be left."""
    known = labels if unlabelled is None else labels[~_is_unlabelled(labels, unlabelled)]
    if not len(known):
        raise InvalidInput(
            "No row with a positive weight has a label; at least one must. "
            "Check the columns of the target and the weights, or use a mixture model."
        )
    return known


def all_classes(classes: Any, known: Array | None) -> Array:
    """The classes of a fit in batches: given in the first call, the same ever after."""
    if known is None and classes is None:
        raise InvalidInput(
            "classes must be passed on the first call to partial_fit; found None. "
            "Give all labels that will ever come."
        )
    if known is None:
        return np.unique(np.asarray(classes))
    if classes is not None and not np.array_equal(np.unique(classes), known):
        raise InvalidInput(
            f"`classes={classes!r}` is not the same as on last call to partial_fit, "
            f"was: {known!r}. Leave it out after the first call."
        )
    return known


def codes_among(y: Any, classes: Array, *, n_rows: int | None = None) -> Codes:
    """Each label's place among ``classes``; a label that is not there is refused."""
    y = label_array(y)
    refuse_other_length(y, n_rows)
    found = _distinct(y)
    place = {label: k for k, label in enumerate(classes.tolist())}
    try:
        return np.array([place[label] for label in found.classes.tolist()])[found.codes]
    except KeyError as error:
        raise InvalidInput(
            f"The target label {error.args[0]!r} in y does not exist in the initial classes; "
            f"known are {', '.join(map(str, classes[:10]))}. Use one of them; a model that learns "
            "in batches is told all classes in its first call."
        ) from None


def refuse_other_length(y: Array, n_rows: int | None) -> None:
    if n_rows is not None and len(y) != n_rows:
        raise InvalidInput(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows "
            f"and y has {len(y)}. Pass one label per row."
        )


def check_weight(sample_weight: Any, X: Any, *, n_rows: int) -> Array | None:
    """Weights as float64, (n,); None stays None.  Negative, non-finite and all zero are refused."""
    if sample_weight is None:
        return None
    try:
        given = np.asarray(plain(sample_weight), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"sample_weight must hold numbers; {error}. Pass one number per row."
        ) from error
    weight = np.full(n_rows, given) if given.ndim == 0 else given
    if weight.shape != (n_rows,):
        raise InvalidInput(
            f"sample_weight has shape {weight.shape}; X has {n_rows} rows. Pass one weight per row."
        )
    bad = ~((weight >= 0) & (weight < np.inf))
    if bad.any():
        row = int(bad.argmax())
        raise InvalidInput(
            f"Negative values in data passed to `sample_weight`, or NaN or infinity: row {row} has "
            f"{weight[row]:g}; weights are finite and 0 or more. Mend it, or drop the row."
        )
    if not weight.any():
        raise InvalidInput(
            "Sample weights must contain at least one non-zero number; "
            f"all {n_rows} are 0. Give a row a positive weight, or leave sample_weight out."
        )
    return weight


def refuse_one_class(classes: Array, estimator: Any) -> None:
    """Some models need something to tell apart."""
    if len(classes) < 2:
        raise InvalidInput(
            f"{type(estimator).__name__} needs at least 2 classes; y has only one class, "
            f"{classes.tolist()[0]!r}. Check the target column."
        )


def warn_unless_converged(estimator: Any, solution: Any) -> None:
    """Say that a search stopped early, and what to do."""
    if not solution.converged:
        warn_user(
            f"{type(estimator).__name__} did not converge: {solution.reason}. "
            "Raise max_iter, or loosen tol.",
            ConvergenceWarning,
        )


def plain(y: Any) -> Any:
    """A series of any frame library as an array."""
    import narwhals.stable.v2 as nw

    if nw.dependencies.is_into_series(y):
        return nw.from_native(y, series_only=True).to_numpy()
    return y


def _refuse_missing_labels(y: Array) -> None:
    if y.dtype.kind in "biu":
        return
    missing = _is_missing(y)
    if missing.any():
        raise InvalidInput(
            f"Input y contains NaN: the label of row {int(np.argmax(missing))} is missing. "
            "Remove the row, or use NaiveBayes(unlabelled=...), which learns from rows without "
            "a label."
        )
    if y.dtype.kind == "f" and np.isinf(y).any():
        raise InvalidInput(
            f"Input y contains infinity: the label of row {int(np.argmax(np.isinf(y)))}; a label "
            "is a finite number or text. Mend it, or remove the row."
        )
    try:
        check_classification_targets(y)
    except (TypeError, ValueError):
        if y.dtype.kind == "O" and len({type(label) for label in y}) > 1:
            raise _several_types(y) from None
        raise


def _is_unlabelled(y: Array, unlabelled: Any) -> Array:
    if isinstance(unlabelled, float | np.floating) and unlabelled != unlabelled:
        return _is_missing(y)
    if y.dtype.kind == "O":
        known = ~_is_missing(y)
        return np.array(
            [there and label == unlabelled for label, there in zip(y, known, strict=True)]
        )
    return np.asarray(y == unlabelled, dtype=bool) & np.ones(len(y), dtype=bool)


def _is_missing(y: Array) -> Array:
    """NaN, None, pandas' NA and NaT."""
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype.kind != "O" or set(map(type, y.tolist())) == {str}:  # text alone: none is missing
        return np.zeros(len(y), dtype=bool)
    return np.array([_names_nothing(label) for label in y], dtype=bool)


def _names_nothing(label: Any) -> bool:
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, float | np.floating) and bool(label != label)


def label_array(y: Any) -> Array:
    """Labels as an array: one that would turn numbers or gaps into text stays an object array."""
    if isinstance(y, list | tuple) and np.asarray(y).dtype.kind in "SU":
        y = np.asarray(y, dtype=object) if any(not isinstance(v, str) for v in y) else np.asarray(y)
    labels: Array = column_or_1d(plain(y), warn=True)
    return labels


def _distinct(y: Array) -> Classes:
    """Labels of one type, counted or sorted."""
    if y.dtype.kind in "iu" and y.size:
        return _counted(y)
    try:
        return _sorted(y)
    except TypeError:
        raise _several_types(y) from None


def _several_types(y: Array) -> InvalidInput:
    kinds = sorted({type(label).__name__ for label in y})
    return InvalidInput(
        f"The labels in y are of several types ({', '.join(kinds)}), which have no order. "
        "Make them all text, or all numbers."
    )


def _counted(y: Array) -> Classes:
    """Classes of integer labels by counting, when their range is small."""
    low, high = int(y.min()), int(y.max())
    if high - low >= COUNTED_RANGE:
        return _sorted(y)
    shifted = y.astype(np.int64, copy=False) - low if low else y  # int8 − int8 would wrap
    present = np.zeros(high - low + 1, dtype=bool)
    present[shifted] = True
    classes = (np.flatnonzero(present) + low).astype(y.dtype)
    if len(classes) == len(present):
        return Classes(classes, shifted.astype(np.int64, copy=False))
    return Classes(classes, (np.cumsum(present) - 1)[shifted])


def _sorted(y: Array) -> Classes:
    classes, codes = np.unique(y, return_inverse=True)
    return Classes(classes, codes.astype(np.int64, copy=False))
