"""Explanations of any model: its own where it has one, else by replacing cells.

    predict_proba → probability of each class        predict → the predicted number

Models of other libraries, and pipelines, are explained by ``likely.explanations.sampled``.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from likely._typing import Array
from likely.data.frames import library_of
from likely.errors import InvalidInput
from likely.explanations.explanation import (
    JOINED,
    PREDICTION,
    PROBABILITY,
    Explanation,
    columns_of_term,
    refuse_against,
)
from likely.explanations.sampled import N_ORDERS, background_rows, mixed_rows, sampled_contributions
from likely.inputs.bounded_rows import counting_bounded
from likely.inputs.estimators import check_fitted_model, feature_names
from likely.inputs.rows import offset_arguments
from likely.inputs.tables import as_frame, is_frame, n_rows_of, refuse_file
from likely.names import has_method
from likely.output.formatting import cell

MIDNIGHT = " 00:00:00"
MOST_CELLS = 100_000  # that are kept as words
ESTIMATED = (
    f"Contributions are estimates, by replacing cells with those of background rows in {N_ORDERS} "
    "random orders of the columns and their reverses; they add up exactly."
)


def explain(model: Any, X: Any, against: Any = None, *, background: Any = None) -> Explanation:
    """What each column adds to the prediction of each row, for any fitted model.

    A model with a method ``explain`` explains itself.  Any other (an estimator of scikit-learn, a
    pipeline) is explained by replacing the cells of a row with those of background rows, one after
    the other, in random orders of the columns: approximately, and always with the same result.

    Parameters
    ----------
    model : fitted estimator
    X : array or data frame
        The rows to explain.
    against : label or None
        The class that log-odds compare with; the first where none is given.
    background : array, data frame or None
        Rows that a prediction is compared with, such as (some of) the training rows, for models
        that do not explain themselves.  None takes the rows of X.

    Returns
    -------
    Explanation
        Prints as a table; ``to_frame()`` and ``plot()``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from likely import explain
    >>> X = np.array([[0.0, 5.0], [1.0, 4.0], [0.0, 3.0], [1.0, 5.0]])
    >>> tree = DecisionTreeRegressor().fit(X, [0.0, 8.0, 0.0, 8.0])
    >>> print(explain(tree, X[1:2], background=X).text(width=60))
    row 0: prediction
    base    +4.000
    x0 = 1  +4.000
    x1 = 4  +0.000
    total   +8.000
    <BLANKLINE>
    Note: Contributions are estimates, by replacing cells with
    those of background rows in 25 random orders of the columns
    and their reverses; they add up exactly.
    """
    refuse_file(X, "explain")
    found = explained(model, X, against, background=background)
    return replace(with_cells(found, X), library=library_of(X))


def explained(model: Any, X: Any, against: Any = None, *, background: Any = None) -> Explanation:
    """The explanation of a fitted model by its own method, or by replacing cells."""
    if not has_method(model, "explain"):
        return sampled_explanation(model, X, against, background=background)
    takes_background = "background" in signature(model.explain).parameters
    named = {"background": background} if takes_background and background is not None else {}
    found: Explanation = model.explain(X, against, **named)
    return found


def sampled_explanation(
    model: Any, X: Any, against: Any = None, *, background: Any = None
) -> Explanation:
    """The explanation of any model by replacing cells."""
    check_fitted_model(model)
    score, quantity, groups = predicted_score(model)
    refuse_against(against, quantity)
    n = n_rows_of(X)
    others = None if background is None else n_rows_of(background)
    compared = background_rows(n, others, type(model).__name__)
    rows = mixed_rows(X, background)
    found = sampled_contributions(score, rows, np.arange(n), compared)
    if groups is None:
        n_groups = len(found.base)
        groups = np.array(["prediction"] if n_groups == 1 else list(range(n_groups)), dtype=object)
    names = rows.names or _names(model, rows.n_columns)
    return Explanation(
        found.contributions, found.base, groups, names, quantity=quantity, notes=(ESTIMATED,)
    )


def with_cells(found: Explanation, X: Any) -> Explanation:
    """The explanation with the cells of its rows in words; of a large table, without."""
    if found.cells or len(found) * len(found.names) > MOST_CELLS:
        return found
    columns = _cells_by_column(X, found.names)
    return found if columns is None else replace(found, cells=tuple(zip(*columns, strict=True)))


def _cells_by_column(X: Any, names: tuple[str, ...]) -> list[list[str]] | None:
    """The cells of these columns in words; None where X has no such columns."""
    if is_frame(as_frame(X)):
        import narwhals.stable.v2 as nw

        frame = nw.from_native(as_frame(X), eager_only=True)
        named = {str(name): frame.get_column(name) for name in frame.columns}
        parts = [columns_of_term(name, named) for name in names]
        if not all(parts):
            return None
        words = {n: _in_words(named[n].to_list()) for pair in parts for n in pair}
        found = (zip(*(words[name] for name in pair), strict=True) for pair in parts)
        return [[JOINED.join(each) for each in column] for column in found]
    values = np.asarray(X, dtype=object) if isinstance(X, np.ndarray | list | tuple) else None
    if values is None or values.ndim != 2 or values.shape[1] != len(names):
        return None
    return [_in_words(column) for column in values.T.tolist()]


def _in_words(values: list[Any]) -> list[str]:
    """The cells of a column; where the time of every date is midnight, the date alone."""
    found = [cell(value) for value in values]
    dated = [text for value, text in zip(values, found, strict=True) if isinstance(value, datetime)]
    days = all(text.endswith(MIDNIGHT) for text in dated if text[0].isdigit())  # no date is NaT
    return [text.removesuffix(MIDNIGHT) for text in found] if dated and days else found


def predicted_score(
    model: Any, moved: dict[str, Array] | None = None
) -> tuple[Callable[[Any], Array], str, Array | None]:
    """What is explained: a function of tables to (n, G), its name, and the groups.

    ``moved`` are the offsets or exposures of the rows of every table.
    """
    if is_classifier(model) and has_method(model, "predict_proba"):
        return (
            _columns(_moved(model, "predict_proba", moved)),
            PROBABILITY,
            np.asarray(model.classes_),
        )
    if is_classifier(model) and has_method(model, "decision_function"):
        classes = np.asarray(model.classes_)
        return (
            _columns(_moved(model, "decision_function", moved)),
            "decision function",
            classes[1:] if len(classes) == 2 else classes,
        )
    if has_method(model, "predict") and not is_classifier(model):
        return _columns(_moved(model, "predict", moved)), PREDICTION, None
    raise InvalidInput(
        f"{type(model).__name__} has neither predict_proba nor numeric predictions; one is needed "
        "to explain a row. Calibrate a classifier without probabilities: "
        f"PlattScaling({type(model).__name__}())."
    )


def _moved(model: Any, method: str, moved: dict[str, Array] | None) -> Callable[[Any], Any]:
    return partial(getattr(model, method), **offset_arguments(model, method, **(moved or {})))


def _columns(predict: Callable[[Any], Any]) -> Callable[[Any], Array]:
    """The predictions of tables as floats, (n, G); cells are changed, so nothing is warned of."""

    def score(table: Any) -> Array:
        with counting_bounded():
            values = np.asarray(predict(table))
        if values.dtype.kind not in "fiub":
            raise InvalidInput(
                f"The model predicts {values.dtype} values, such as {values.ravel()[0]!r}; numbers "
                "or probabilities are explained. Give a classifier or a regressor."
            )
        return values.reshape(len(values), -1).astype(np.float64)

    return score


def _names(model: Any, n_columns: int) -> tuple[str, ...]:
    named = feature_names(model) if hasattr(model, "n_features_in_") else ()
    return tuple(named) if len(named) == n_columns else tuple(f"x{j}" for j in range(n_columns))
