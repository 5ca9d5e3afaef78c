"""Shared by all estimators: their root, arguments, names of columns, folds, copies, warnings."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import MISSING, fields, replace
from functools import wraps
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeVar, cast, runtime_checkable

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import estimator_html_repr, get_tags, indexable
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from likely._typing import Array, Codes
from likely.data.copies import copies_in
from likely.data.hashed_splits import FOLD_SEED, stratified_fold_of
from likely.errors import BadCell, InvalidInput, UnknownName, warn_user
from likely.inputs.foreign_models import depends_on_scale
from likely.inputs.parameters import refuse_unknown_parameters, unknown_parameter
from likely.inputs.tables import n_rows_of, names_in_fit, rows_at
from likely.output.description import Describes
from likely.solvers.stochastic import StochasticDescent

Method = TypeVar("Method", bound=Callable[..., Any])
FoldRows = list[tuple[Array, Array]]  # rows to learn from, rows to predict
ABOUT_COLUMNS = ("n_features_in_", "feature_names_in_", "column_names_")


class Settings(ABC):
    """Settings that belong together, as one argument of an estimator: a frozen dataclass.

    The argument may also be given in a short form, such as the number 200 for ``Batches(200)``.
    ``batch__size`` names one setting of the argument ``batch``, in ``set_params`` and searches.
    """

    @classmethod
    @abstractmethod
    def of(cls, given: Any) -> Self:
        """The settings that a short form stands for; settings themselves as they are."""

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Each setting with its default value."""
        every = fields(cls)  # type: ignore[arg-type]  # subclasses are dataclasses
        return {each.name: None if each.default is MISSING else each.default for each in every}

    def changed(self, settings: Mapping[str, Any]) -> Self:
        """These settings with some others."""
        for name in settings:
            if name not in self.defaults():
                raise UnknownName(f"setting of {type(self).__name__}", name, self.defaults())
        changed: Self = replace(self, **settings)  # type: ignore[type-var]  # a dataclass
        return changed


def _inside(argument: str, settings: Settings) -> dict[str, Any]:
    return {f"{argument}__{name}": vars(settings)[name] for name in settings.defaults()}


class Estimator(BaseEstimator):
    """scikit-learn's base, whose constructor and ``set_params`` teach the names of parameters."""

    grouped: ClassVar[Mapping[str, type[Settings]]] = {}  # arguments that are several settings

    def __new__(cls, *args: Any, **parameters: Any) -> Self:
        refuse_unknown_parameters(cls, parameters)
        return super().__new__(cls)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments by name; ``deep`` adds those inside them, as ``part__name``."""
        found: dict[str, Any] = super().get_params(deep=deep)
        for name in self.grouped if deep else ():
            if isinstance(found[name], Settings):
                found |= _inside(name, found[name])
        return found

    def _html_repr(self) -> str:
        """scikit-learn's box and, for a fitted model, what it has learned, in a notebook."""
        box: str = estimator_html_repr(self)
        if not isinstance(self, Describes):
            return box
        try:
            check_is_fitted(self)
        except NotFittedError:
            return box
        # the box has a style of its own, which ends with it
        learned = self.describe()._repr_html_()
        return f"{box}<div style='margin-top:.6em'>{learned}</div>"

    def settings_inside(self) -> dict[str, Any]:
        """Every setting that is inside an argument, as ``batch__size``, also of short forms."""
        found: dict[str, Any] = {}
        for name, kind in self.grouped.items():
            with suppress(InvalidInput):  # of a value without settings of this kind
                found |= _inside(name, kind.of(vars(self)[name]))
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``part__name`` sets one inside an argument, such as a model."""
        known = self._get_param_names()
        inside: dict[str, dict[str, Any]] = {}
        for name in params:
            outer, _, inner = name.partition("__")
            if outer not in known:
                raise unknown_parameter(type(self).__name__, name, known)
            if inner and outer in self.grouped:
                inside.setdefault(outer, {})[inner] = params[name]
        own = {f"{outer}__{inner}" for outer, each in inside.items() for inner in each}
        changed: Self = super().set_params(**{k: v for k, v in params.items() if k not in own})
        for outer, settings in inside.items():
            before = self.grouped[outer].of(vars(self)[outer])
            setattr(self, outer, before.changed(settings))
        return changed


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


def check_search(tol: Any, max_iter: Any) -> None:
    """Refuse an invalid tol or max_iter; ``max_iter=0`` leaves the start as it is."""
    refuse_unless_number("tol", tol, lowest=-np.inf, advice="Use 1e-8.")
    refuse_unless_whole("max_iter", max_iter, lowest=0, advice="Use 1000.")


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
