"""Shared by all estimators: arguments, names of columns, folds, copies, warnings."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, NamedTuple, Protocol, TypeVar, cast, runtime_checkable

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags, indexable
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from likely._typing import Array, Codes
from likely.data.copies import copies_in
from likely.data.split import FOLD_SEED, stratified_fold_of
from likely.errors import BadCell, InvalidInput, warn_user
from likely.inputs.foreign_models import depends_on_scale
from likely.inputs.tables import n_rows_of, names_in_fit, rows_at
from likely.solvers.stochastic import StochasticDescent

Method = TypeVar("Method", bound=Callable[..., Any])
FoldRows = list[tuple[Array, Array]]  # rows to learn from, rows to predict
ABOUT_COLUMNS = ("n_features_in_", "feature_names_in_", "column_names_")


def feature_names(estimator: Any) -> tuple[str, ...]:
    """The names of the columns of X in the fit, or its words; x0, x1, … where they had none."""
    names = names_in_fit(estimator)
    if names is None:
        names = vars(estimator).get("column_names_")
    if names is None or len(names) != estimator.n_features_in_:
        return tuple(f"x{j}" for j in range(estimator.n_features_in_))
    return tuple(names)


class ColumnNeeds(NamedTuple):
    """The preparation of columns that a model needs."""

    scale: bool  # a penalty or a shrinkage compares coefficients or variances of columns
    categories: bool  # text is read as categories; else columns of 0 and 1 are needed
    most_with_missing: int | None = None  # of more columns, missing cells are filled for it
    words: bool = False  # words are read beside categories; else beside numbers only


@runtime_checkable
class HasColumnNeeds(Protocol):
    """An estimator that declares how its columns must be prepared."""

    def column_needs(self) -> ColumnNeeds: ...


def column_needs(model: Any) -> ColumnNeeds:
    """The preparation that a model needs; for other libraries, by its class, parts and tags."""
    if isinstance(model, HasColumnNeeds):
        return model.column_needs()
    return ColumnNeeds(depends_on_scale(model), get_tags(model).input_tags.string)


@runtime_checkable
class CountsSteps(Protocol):
    """An estimator that distinguishes a closed-form fit from a search of one step."""

    def n_steps(self) -> int | None: ...


@runtime_checkable
class Iterative(Protocol):
    """An estimator that counts its steps as scikit-learn's do: one number, or one per class."""

    n_iter_: Any


def steps_of(model: Any) -> int:
    """Steps of the search of a fit; 0 where there was none."""
    if isinstance(model, CountsSteps):
        return model.n_steps() or 0
    return int(np.max(model.n_iter_)) if isinstance(model, Iterative) else 0


@contextmanager
def columns_named(estimator: Any) -> Iterator[None]:
    """Errors about a cell, raised inside, name its column."""
    try:
        yield
    except BadCell as error:
        raise error.named(feature_names(estimator)) from None


def naming_columns(method: Method) -> Method:
    """A public method of an estimator whose errors about a cell name its column."""

    @wraps(method)
    def wrapper(self: Any, *args: Any, **named: Any) -> Any:
        with columns_named(self):
            return method(self, *args, **named)

    return cast("Method", wrapper)


@contextmanager
def unchanged_if_refused(estimator: Any) -> Iterator[None]:
    """A batch that is refused does not change the estimator."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def warn_unless_converged(name: str, solution: Any) -> None:
    """Warn that the search of an estimator stopped early, unless a rule was asked to stop it."""
    if not solution.converged and not solution.stopped:
        in_batches = solution.solver == StochasticDescent.name  # its reason has the advice
        advice = "" if in_batches else " Raise max_iter, or loosen tol."
        warn_user(
            f"{name} did not converge: {solution.reason}.{advice}",
            ConvergenceWarning,
        )


def check_fitted_model(model: Any) -> None:
    """Refuse what is no estimator, and one that was not fitted."""
    if not hasattr(model, "fit"):
        raise InvalidInput(
            f"a {type(model).__name__} was given where a fitted model was expected. Pass the model "
            "first, then its data."
        )
    check_is_fitted(model)


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator from an int, None, a Generator or a RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"random_state={random_state!r} was given; a whole number from 0 up was expected, a "
            "generator of NumPy, or None. Use random_state=0, or None for a new seed in every fit."
        ) from None


def refuse_unless_whole(name: str, value: Any, *, lowest: int, advice: str) -> None:
    """Refuse an argument that is not a whole number from ``lowest`` up; True is not one."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < lowest:
        raise InvalidInput(
            f"{name} must be a whole number, at least {lowest}; found {value!r}. {advice}"
        )


def refuse_unless_number(name: str, value: Any, *, lowest: float, advice: str) -> None:
    """Refuse an argument that is not a finite number from ``lowest`` up."""
    if not is_number(value) or not lowest <= value < np.inf:
        limit = "" if lowest == -np.inf else f", {lowest:g} or more"
        raise InvalidInput(f"{name} must be a finite number{limit}; found {value!r}. {advice}")


def refuse_unless_bool(name: str, value: Any) -> None:
    """Refuse an argument that is neither True nor False, such as the text "no"."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidInput(
            f"{name}={value!r} was given; True or False was expected. Use {name}=True or "
            f"{name}=False."
        )


def is_number(value: Any) -> bool:
    """Whether the value is one real number, neither True nor NaN."""
    number = isinstance(value, int | float | np.integer | np.floating)
    return number and not isinstance(value, bool) and value == value


def check_folds(cv: Any, *, otherwise: str, advice: str = "Use 5.") -> None:
    """Refuse what is neither a number of folds nor a splitter; ``otherwise`` is also allowed."""
    if cv is None or isinstance(cv, str | bool) or (isinstance(cv, int | np.integer) and cv < 2):
        raise InvalidInput(
            f"cv is {cv!r}; expected a number of folds, 2 or more, a splitter, or {otherwise}. "
            f"{advice}"
        )


def folds_of(cv: Any, X: Any, y: Any, *, codes: Codes, seed: int = FOLD_SEED) -> FoldRows:
    """Shuffled folds with equal shares of each code for a number; else what the splitter gives.

    Rows of code −1 are in no fold.  Rows that are copies of each other are in one fold, if there
    are at least as many different rows as folds.
    """
    present = codes >= 0
    if isinstance(cv, int | np.integer):
        fold = np.full(len(codes), -1)
        copies = copies_among(X, np.flatnonzero(present))
        if copies is not None and np.count_nonzero(np.bincount(copies)) < cv:
            copies = None
        fold[present] = stratified_fold_of(codes[present], seed, int(cv), copies)
        return [
            (np.flatnonzero(present & (fold != f)), np.flatnonzero(fold == f))
            for f in range(int(cv))
            if (fold == f).any()
        ]
    from sklearn.model_selection import check_cv  # here, because it takes long to import

    parts = check_cv(cv).split(X, y)
    kept = [[np.asarray(rows)[present[rows]] for rows in part] for part in parts]
    return [(learn, held) for learn, held in kept]


def copies_among(X: Any, rows: Codes) -> Codes | None:
    """The first of some rows that each of them is a copy of, by place among them; None: none is."""
    if X is None:
        return None
    return copies_in(X if len(rows) == n_rows_of(X) else rows_at(X, rows))


def refuse_single_rows(codes: Codes, classes: Array, *, otherwise: str) -> None:
    """Refuse a class with one row, which cannot be used for both training and prediction."""
    count = np.bincount(codes[codes >= 0], minlength=len(classes))
    if (count < 2).any():
        raise InvalidInput(
            f"Class {classes.tolist()[int(count.argmin())]!r} has one row; folds need two or more "
            "of each class, one to learn from and one to predict. Give more rows, leave the class "
            f"out, or {otherwise}."
        )


def countable(X: Any) -> tuple[Any, int]:
    """X in a form whose rows can be indexed, and their number."""
    if X is None:
        raise InvalidInput("X is None; a table was expected. Pass a row for each example.")
    (rows,) = indexable(X)
    n_rows = n_rows_of(rows)
    if n_rows == 0:
        raise InvalidInput(
            "Found array with 0 sample(s) while a minimum of 2 is required: X has no row to learn "
            "from. Pass rows of at least two classes."
        )
    return rows, n_rows


def fitted_copy(estimator: Any, X: Any, y: Array, weight: Array | None, rows: Array) -> Any:
    """A clone, fitted to these rows; weights are passed only where they were given."""
    if not np.array_equal(rows, np.arange(len(y))):
        X, y = rows_at(X, rows), y[rows]
        weight = None if weight is None else weight[rows]
    if weight is None:
        return clone(estimator).fit(X, y)
    if not has_fit_parameter(estimator, "sample_weight"):
        raise InvalidInput(
            f"sample_weight was given, and {type(estimator).__name__}.fit does not take it; every "
            "estimator inside must. Leave it out, or use an estimator that takes it."
        )
    return clone(estimator).fit(X, y, sample_weight=weight)


def take_columns(outer: Any, inner: Any) -> None:
    """The number and names of columns of the fitted inner estimator."""
    for name in ABOUT_COLUMNS:
        value = getattr(inner, name, None)
        if value is not None:
            setattr(outer, name, value)
        else:
            vars(outer).pop(name, None)  # of an earlier fit
