"""What is given for each row beside X: labels, responses, weights and offsets.

Labels become the code of their class.  Integer labels are counted, not sorted, and a finite total
proves finite numbers, so that checking does not cost a pass over large data: the bad value is
searched for only when a total is not finite.

The order of ordered classes is given, that of an ordered categorical, or sorted.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from likely._typing import Array, Codes
from likely.data.categories import is_missing, ordered_categories
from likely.data.frames import is_sparse
from likely.errors import AlphabeticalOrder, InvalidInput, warn_user
from likely.inputs.tables import is_file, total_is_finite

LEAST_WEIGHT = 1e-300  # of all rows; products of smaller ones lose digits, or are 0
MOST_NAMED = 6  # classes in a sentence
COUNTED_RANGE = 2**16  # integer labels in a range this small are counted, not sorted


def required(y: Any, estimator: Any) -> Any:
    """y, which a supervised model needs."""
    if y is None:
        raise InvalidInput(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None. "
            "Pass one label or number per row, or the name of a column of X."
        )
    return y


def refuse_other_length(y: Array, n_rows: int | None) -> None:
    """Refuse a target that does not have one entry for each row of X."""
    if n_rows is not None and len(y) != n_rows:
        raise InvalidInput(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows "
            f"and y has {len(y)}. Pass one label per row."
        )


def array_of(values: Any) -> Any:
    """A series of any frame library as an array; anything else as it is."""
    import narwhals.stable.v2 as nw

    if not isinstance(values, np.ndarray) and nw.dependencies.is_into_series(values):
        return nw.from_native(values, series_only=True).to_numpy()
    return values


class EncodedLabels(NamedTuple):
    """The distinct labels, sorted, and each row's position among them (−1: not among them)."""

    classes: Array
    codes: Codes


def check_labels(y: Any, *, unlabelled: Any = None, n_rows: int | None = None) -> EncodedLabels:
    """The classes of y; labels equal to ``unlabelled`` (or NaN, if that is NaN) get −1."""
    return classes_of(label_array(y), unlabelled=unlabelled, n_rows=n_rows)


def classes_of(
    labels: Array, *, unlabelled: Any = None, n_rows: int | None = None
) -> EncodedLabels:
    """The classes of an array of labels, as ``label_array`` makes it."""
    refuse_other_length(labels, n_rows)
    if unlabelled is None:
        _refuse_missing_labels(labels)
        return _distinct(labels)
    unknown = _is_unlabelled(labels, unlabelled)
    if unknown.all():
        raise InvalidInput(
            f"All {len(labels)} labels equal unlabelled={unlabelled!r}; at least one must be "
            "known. Use a mixture model when none is."
        )
    _refuse_missing_labels(labels[~unknown])
    found = _distinct(labels[~unknown])
    codes = np.full(len(labels), -1, dtype=np.int64)
    codes[~unknown] = found.codes
    return EncodedLabels(found.classes, codes)


def known_classes(labels: Array, unlabelled: Any) -> Array:
    """Distinct labels without the one that means unknown; at least one must remain."""
    known = labels if unlabelled is None else labels[~_is_unlabelled(labels, unlabelled)]
    if not len(known):
        raise InvalidInput(
            "No row with a positive weight has a label; at least one must. "
            "Check the columns of the target and the weights, or use a mixture model."
        )
    return known


def all_classes(classes: Any, known: Array | None) -> Array:
    """The classes of a fit in batches: given in the first call and fixed afterwards."""
    if known is None and classes is None:
        raise InvalidInput(
            "classes must be passed on the first call to partial_fit; found None. "
            "Give all labels that will occur."
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
    """Each label's position among ``classes``; an unknown label is refused."""
    y = label_array(y)
    refuse_other_length(y, n_rows)
    found = _distinct(y)
    place = {label: k for k, label in enumerate(classes.tolist())}
    try:
        return np.array([place[label] for label in found.classes.tolist()])[found.codes]
    except KeyError as error:
        raise InvalidInput(
            f"The target label {error.args[0]!r} in y does not exist in the initial classes; "
            f"the known classes are {', '.join(map(str, classes[:10]))}. Use one of them; a model "
            "that learns in batches is given all classes in its first call."
        ) from None


def refuse_one_class(classes: Array, estimator: Any) -> None:
    """Refuse a target of one class, for models that separate classes."""
    if len(classes) < 2:
        raise InvalidInput(
            f"{type(estimator).__name__} needs at least 2 classes; y has only one class, "
            f"{classes.tolist()[0]!r}. Check the target column."
        )


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
            "is a finite number or text. Fix it, or remove the row."
        )
    try:
        check_classification_targets(y)
    except (TypeError, ValueError):
        if y.dtype.kind == "O" and len({type(label) for label in y}) > 1:
            raise _several_types(y) from None
        if y.dtype.kind != "f":
            raise
        shares = ((y >= 0) & (y <= 1)).all()
        advice = 'shares of rows are for GLM("bernoulli")' if shares else "numbers are for a GLM"
        raise InvalidInput(
            f"Unknown label type: continuous. y holds numbers that are not whole, such as "
            f"{y[y != np.round(y)][0]:g}; a classifier expects classes. Use LinearRegression or "
            f"GLM to predict a number: {advice}."
        ) from None


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
    return np.array([is_missing(label) for label in y], dtype=bool)


def label_array(y: Any) -> Array:
    """Labels as an array: an object array where numbers or missing values would become text."""
    try:
        if isinstance(y, list | tuple) and np.asarray(y).dtype.kind in "SU":
            mixed = any(not isinstance(label, str) for label in y)
            y = np.asarray(y, dtype=object) if mixed else np.asarray(y)
        refuse_soft(y)
        labels: Array = column_or_1d(array_of(y), warn=True)
        if labels.dtype.kind == "V":
            raise TypeError(f"found records of the type {labels.dtype}")
    except InvalidInput:
        raise
    except (TypeError, ValueError) as error:
        problem = str(error).splitlines()[0].rstrip(".")
        raise InvalidInput(
            f"y holds no labels that can be read: {problem}. Give one label for each row of X, a "
            "number or a text, in a list, an array or a column; its name where X is a frame."
        ) from error
    return labels


def is_soft(y: Any) -> bool:
    """Whether y holds a row of probabilities for each example."""
    return n_axes(y) == 2 and np.shape(y)[1] > 1


def n_axes(values: Any) -> int:
    """How many axes an array or nested lists have; a name or a file has none."""
    shape = getattr(values, "shape", None)
    if shape is not None:
        return len(shape)
    if is_file(values):
        return 0
    return int(np.asarray(values, dtype=object).ndim)


def refuse_soft(y: Any) -> None:
    """Refuse a y of several columns, where one label for each row is needed."""
    shape = np.asarray(array_of(y)).shape
    if len(shape) == 2 and shape[1] > 1:
        refuse_columns(
            shape,
            "Give one label for each row. Soft labels are for fit and log_likelihood of "
            "SoftmaxRegression, NaiveBayes, DiscriminantAnalysis and NeuralNetworkClassifier; for "
            'two classes, GLM("bernoulli") takes the share of one of them.',
        )


def accuracy(model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """The share of the rows, by weight, whose label is predicted."""
    predicted, labels = model.predict(X), label_array(required(y, model))
    refuse_other_length(labels, len(predicted))
    return float(accuracy_score(labels, predicted, sample_weight=sample_weight))


def _distinct(y: Array) -> EncodedLabels:
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


def _counted(y: Array) -> EncodedLabels:
    """Classes of integer labels by counting, when their range is small."""
    low, high = int(y.min()), int(y.max())
    if high - low >= COUNTED_RANGE:
        return _sorted(y)
    shifted = y.astype(np.int64, copy=False) - low if low else y  # int8 − int8 would wrap
    present = np.zeros(high - low + 1, dtype=bool)
    present[shifted] = True
    classes = (np.flatnonzero(present) + low).astype(y.dtype)
    if len(classes) == len(present):
        return EncodedLabels(classes, shifted.astype(np.int64, copy=False))
    return EncodedLabels(classes, (np.cumsum(present) - 1)[shifted])


def _sorted(y: Array) -> EncodedLabels:
    classes, codes = np.unique(y, return_inverse=True)
    return EncodedLabels(classes, codes.astype(np.int64, copy=False))


def ordered_classes(
    y: Any, order: Sequence[Any] | None = None, *, weight: Array | None = None
) -> EncodedLabels:
    """The classes that occur in y, from lowest to highest, and each row's position among them.

    A class of ``order``, or of a categorical, that does not occur is left out.  A class that occurs
    only in rows of weight 0 is left out too, and its rows get the code −1.  Three words or more
    without an order are sorted, with a warning.

    >>> ordered_classes(["hot", "cold", "mild"], ["cold", "mild", "hot"]).codes.tolist()
    [2, 0, 1]
    """
    found = check_labels(y)
    given = ordered_categories(y) if order is None else _distinct_values(list(order))
    labels = found.classes.tolist()
    if given is None and len(labels) > 2 and isinstance(labels[0], str):  # of two, either order
        warn_user(alphabetical(labels), AlphabeticalOrder)
    rank = np.arange(len(labels)) if given is None else _ranks(labels, given)
    place = np.argsort(rank)
    if weight is not None:
        total = np.bincount(found.codes, weights=weight, minlength=len(labels))
        place = place[total[place] > 0]
    code = np.full(len(labels), -1)
    code[place] = np.arange(len(place))
    return EncodedLabels(found.classes[place], code[found.codes])


def alphabetical(classes: Sequence[str]) -> str:
    """The sentence about an order that was not given."""
    shown = " < ".join([*classes[:MOST_NAMED], *(["…"] if len(classes) > MOST_NAMED else [])])
    return (
        f"The classes are taken in alphabetical order: {shown}; give the order if it is different "
        "(order=, or --order on the command line)."
    )


def _ranks(labels: list[Any], order: list[Any]) -> Array:
    rank = {label: k for k, label in enumerate(order)}
    unknown = [label for label in labels if label not in rank]
    if unknown:
        raise InvalidInput(
            f"y has the label {unknown[0]!r}; the order is {', '.join(map(str, order[:10]))}. "
            "Add the label to the order, or drop its rows."
        )
    return np.array([rank[label] for label in labels])


def _distinct_values(order: list[Any]) -> list[Any]:
    twice = [label for k, label in enumerate(order) if label in order[:k]]
    if twice:
        raise InvalidInput(
            f"The order names {twice[0]!r} twice; each class has one place. Leave one out."
        )
    return order


# ── Responses, weights and offsets ────────────────────────────────────────────────────────────────


def check_response(y: Any, *, n_rows: int, estimator: Any, several: bool = False) -> Array:
    """Numbers to be predicted, as float64: (n,), or (n, m) where ``several`` are allowed."""
    y = array_of(required(y, estimator))
    try:
        if not is_sparse(y):
            _refuse_no_number(y)
        y = check_array(
            y, ensure_2d=False, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0
        )
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"y must hold numbers; {str(error).rstrip('.')}. "
            "Use a classifier for labels, or convert the column."
        ) from error
    if y.ndim == 2 and y.shape[1] > 1:
        if not several:
            refuse_columns(y.shape, _advice_on_columns(y))
        values: Array = y
    else:
        values = column_or_1d(y, warn=True)
    refuse_other_length(values, n_rows)
    if not total_is_finite(values) and (bad := np.argwhere(~np.isfinite(values))).size:
        value = values[tuple(bad[0])]
        raise InvalidInput(
            f"Input y contains {'NaN' if np.isnan(value) else 'infinity'}: row {bad[0][0]} has "
            f"{value:g}; a response is a finite number. Fix it, or drop the row."
        )
    return values


def refuse_columns(shape: tuple[int, ...], advice: str) -> NoReturn:
    """Refuse a y of several columns; ``advice`` says what to do."""
    raise InvalidInput(
        f"y has the shape {shape}; a 1d array was expected, with one value for each row of "
        f"X. {advice}"
    )


def _advice_on_columns(y: Array) -> str:
    if y.shape[1] == 2 and (y >= 0).all() and (y == np.floor(y)).all():
        return (
            "Give one column; k successes of n trials are y=k/n with sample_weight=n, in "
            'GLM("bernoulli").'
        )
    return "Give one column of y at a time."


def check_numbers(values: Any, what: str, *, n_rows: int, positive: bool = False) -> Array:
    """An offset or an exposure as float64, (n,): one finite number per row."""
    column = _number_per_row(values, what, n_rows)
    valid = np.isfinite(column) & (column > 0) if positive else np.isfinite(column)
    if not valid.all():
        row = int(np.argmin(valid))
        raise InvalidInput(
            f"{what} of row {row} is {column[row]:g}; it must be finite"
            f"{' and above 0' if positive else ''}. Fix it, or drop the row."
        )
    return column


def check_weight(sample_weight: Any, *, n_rows: int, what: str = "sample_weight") -> Array | None:
    """Weights as float64, (n,), or None; negative, non-finite and all-zero ones are refused."""
    if sample_weight is None:
        return None
    weight = _number_per_row(sample_weight, what, n_rows)
    bad = ~((weight >= 0) & (weight < np.inf))
    if bad.any():
        row = int(bad.argmax())
        raise InvalidInput(
            f"Negative values in data passed to `{what}`, or NaN or infinity: row {row} has "
            f"{weight[row]:g}; weights are finite and 0 or more. Fix it, or drop the row."
        )
    if not weight.any():
        raise InvalidInput(
            "Sample weights must contain at least one non-zero number; "
            f"all {n_rows} are 0. Give a row a positive weight, or leave {what} out."
        )
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if not LEAST_WEIGHT <= total < np.inf:
        raise InvalidInput(
            f"The sum of {what} is {total:g}; a finite number, and at least {LEAST_WEIGHT:g}, was "
            "expected. Divide the weights by their mean."
        )
    return weight


def check_offset(offset: Any, exposure: Any, *, n_rows: int) -> Array | float:
    """o_i = offset + ln exposure of each row; 0 where neither was given."""
    total: Array | float = 0.0
    if offset is not None:
        total = total + check_numbers(offset, "offset", n_rows=n_rows)
    if exposure is not None:
        total = total + np.log(check_numbers(exposure, "exposure", n_rows=n_rows, positive=True))
    return total


def _number_per_row(values: Any, what: str, n_rows: int) -> Array:
    """One number per row as float64; a single number applies to every row."""
    try:
        values = array_of(values)
        _refuse_no_number(values)
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"{what} must hold numbers; {error}. Pass one number per row."
        ) from error
    column = np.full(n_rows, column) if column.ndim == 0 else column
    if column.shape != (n_rows,):
        raise InvalidInput(
            f"{what} has shape {column.shape}; X has {n_rows} rows. Pass one number per row."
        )
    return column


def _refuse_no_number(values: Any) -> None:
    """Refuse times, complex numbers and records, which would become numbers silently."""
    dtype = np.asarray(values).dtype
    if dtype.kind in "MmcV":
        raise TypeError(f"found values of the type {dtype}")
