"""Labels as given: their classes, and the class code of each row.

Integer labels are counted, not sorted, so that checking does not cost a pass over large data.

The order of ordered classes: given, that of an ordered categorical, or sorted.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from likely._typing import Array, Codes
from likely.data.categories import is_missing, ordered_categories
from likely.errors import AlphabeticalOrder, InvalidInput, warn_user
from likely.inputs.numbers import array_of, refuse_columns, refuse_other_length, required

MOST_NAMED = 6  # classes in a sentence
COUNTED_RANGE = 2**16  # integer labels in a range this small are counted, not sorted


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
