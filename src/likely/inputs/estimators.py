"""What all estimators share around a fit: arguments, names of columns, complaints and warnings."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from likely.errors import BadCell, InvalidInput, warn_user

Method = TypeVar("Method", bound=Callable[..., Any])


def feature_names(estimator: Any) -> tuple[str, ...]:
    """The names of the columns of X in the fit; x0, x1, … where they had none."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        names = [f"x{j}" for j in range(estimator.n_features_in_)]
    return tuple(map(str, names))


@contextmanager
def columns_named(estimator: Any) -> Iterator[None]:
    """Complaints about a cell, raised inside, name its column."""
    try:
        yield
    except BadCell as error:
        raise error.named(feature_names(estimator)) from None


def naming_columns(method: Method) -> Method:
    """A public method of an estimator whose complaints about a cell name its column."""

    @wraps(method)
    def wrapper(self: Any, *args: Any, **named: Any) -> Any:
        with columns_named(self):
            return method(self, *args, **named)

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


def warn_unless_converged(estimator: Any, solution: Any) -> None:
    """Say that a search stopped early, and what to do."""
    if not solution.converged:
        warn_user(
            f"{type(estimator).__name__} did not converge: {solution.reason}. "
            "Raise max_iter, or loosen tol.",
            ConvergenceWarning,
        )


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator from an int, None, a Generator or a RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


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


def is_number(value: Any) -> bool:
    """Whether the value is one real number, neither True nor NaN."""
    number = isinstance(value, int | float | np.integer | np.floating)
    return number and not isinstance(value, bool) and value == value
