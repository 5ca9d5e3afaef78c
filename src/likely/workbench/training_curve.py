"""Training curves: the mean loss of training and of validation rows, recorded during one fit.

    loss at step k = −(1/n) Σ_i log p(y_i | x_i, θ_k)        k = 0 (the start), 1, 2, …

One search is watched, and each of its states is a model of its own (a *snapshot*); nothing is
fitted again.  A validation loss that rises while the training loss still falls shows where to
stop: ``best`` is the step of the lowest validation loss, and ``best_model`` the snapshot there.

References
----------
Prechelt, Early stopping — but when?, 1998.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final, runtime_checkable

import numpy as np

from likely._typing import Array
from likely.data.frames import frame_of, library_of
from likely.errors import InvalidInput
from likely.formatting import html_table, text_table
from likely.solvers.base import Solver
from likely.solvers.lbfgs import LBFGS
from likely.solvers.minimise import minimise
from likely.solvers.proximal import FISTA
from likely.solvers.stopping import Iterations

MOST_SHOWN = 20  # steps in the printed table


@runtime_checkable
class HasObjective(Protocol):
    """A model that gives what its fit minimises, and itself at any parameters."""

    def objective(self, X: Any, y: Any) -> Any: ...


@runtime_checkable
class HasEMSteps(Protocol):
    """A mixture that gives itself after every step of EM."""

    def em_steps(self, X: Any) -> Sequence[Any]: ...


@final
@dataclass(frozen=True, eq=False)
class TrainingCurve:
    """Mean losses by the step of one search.  Prints as a table.

    Attributes
    ----------
    train, validation : array of shape (n_steps + 1,)
        The mean of −log p in nats, at the start and after each step; ``validation`` is None where
        no validation rows were given.
    snapshots : tuple of models
        The model at the start and after each step.
    model : str
    """

    train: Array
    validation: Array | None
    snapshots: tuple[Any, ...]
    model: str
    library: str | None = None

    @property
    def best(self) -> int:
        """The step with the lowest validation loss, the first of equal ones; else the last."""
        return len(self.train) - 1 if self.validation is None else int(self.validation.argmin())

    @property
    def best_model(self) -> Any:
        """The snapshot of the best step."""
        return self.snapshots[self.best]

    def to_frame(self, library: str | None = None) -> Any:
        """One row per step, in pandas, polars or Arrow, as the data were."""
        return frame_of(self._columns(), self.library if library is None else library)

    def plot(self, ax: Any = None) -> Any:
        """Both losses and the best step; the matplotlib axes, new ones where none are given."""
        import matplotlib.pyplot as plt

        axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")[1] if ax is None else ax
        step = np.arange(len(self.train))
        axes.plot(step, self.train, marker="o", markersize=3, label="training")
        if self.validation is not None:
            axes.plot(step, self.validation, marker="o", markersize=3, label="validation")
            axes.axvline(self.best, color="0.6", linestyle=":", label=f"best, step {self.best}")
        axes.set(xlabel="step", ylabel="mean loss (nats)", title=self.model)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
        return axes

    def __str__(self) -> str:
        header, rows = self._cells()
        found = "" if self.validation is None else f"; lowest validation loss at step {self.best}"
        title = f"{self.model}: {len(self.train) - 1} steps{found}."
        return "\n".join([title, "", *text_table(header, rows, words=())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(*self._cells())

    def _columns(self) -> dict[str, Any]:
        columns = {"step": np.arange(len(self.train)), "train": self.train}
        return columns if self.validation is None else {**columns, "validation": self.validation}

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        columns = self._columns()
        last = len(self.train) - 1
        shown = np.unique(np.rint(np.linspace(0, last, min(last + 1, MOST_SHOWN))).astype(int))
        chosen = sorted({*shown.tolist(), self.best})
        losses = [columns[name] for name in list(columns)[1:]]
        return list(columns), [[str(k), *(f"{each[k]:.6g}" for each in losses)] for k in chosen]


def training_curve(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    validation: Any = None,
    solver: Solver[Any, Any] | None = None,
    max_iter: int = 100,
    tol: float = 1e-8,
) -> TrainingCurve:
    """Train a model once, and record its loss on training and on validation rows at every step.

    Parameters
    ----------
    model : estimator
        A linear model, or a mixture, with its settings; it is not changed.
    X, y : the training rows, and their labels or responses
        A mixture needs no y.
    validation : tuple (X, y), optional
        The rows by which a step is judged; of a mixture, X alone.  ``likely.split`` sets rows
        apart.
    solver : Solver, optional
        One of ``likely.solvers``, such as ``FixedStep(0.01)`` or ``Newton()``; by
        default ``LBFGS()``, and ``FISTA()`` for a penalty with corners.  Mixtures have EM.
    max_iter, tol
        When the search ends.  A mixture has its own.

    Returns
    -------
    TrainingCurve
        ``train``, ``validation``, ``best``, ``best_model``, ``to_frame()``, ``plot()``.

    Examples
    --------
    >>> import likely as lk, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = X[:, 0] + rng.logistic(size=200) > 0
    >>> model = lk.LogisticRegression(l2=0.1)
    >>> curve = lk.training_curve(model, X[:150], y[:150], validation=(X[150:], y[150:]))
    >>> bool((np.diff(curve.train) < 0).all()), curve.best > 0
    (True, True)
    >>> round(float(curve.train[0]), 3)  # the constant model
    0.687
    """
    held = _validation(validation, y)
    if isinstance(model, HasEMSteps):
        _refuse_solver(model, solver)
        snapshots = tuple(model.em_steps(X))
    elif isinstance(model, HasObjective):
        snapshots = _searched(model, X, y, solver, max_iter=max_iter, tol=tol)
    else:
        raise InvalidInput(
            f"{type(model).__name__} is not trained in steps that can be recorded; a linear model "
            "or a mixture was expected. Use likely.learning_curve, which fits again at each point."
        )
    train = [_mean_loss(each, X, y) for each in snapshots]
    losses = None if held is None else np.array([_mean_loss(each, *held) for each in snapshots])
    return TrainingCurve(np.array(train), losses, snapshots, type(model).__name__, library_of(X))


def _validation(given: Any, y: Any) -> tuple[Any, Any] | None:
    """The validation rows and their labels, None for a mixture's."""
    if given is None:
        return None
    if y is None:
        return given, None
    if not isinstance(given, tuple) or len(given) != 2:
        raise InvalidInput(
            f"validation is a {type(given).__name__}; a tuple of rows and their labels was "
            "expected. Give validation=(X_validation, y_validation)."
        )
    return given


def _refuse_solver(model: Any, solver: Any) -> None:
    if solver is not None:
        raise InvalidInput(
            f"solver={solver!r} was given, and {type(model).__name__} is trained by EM. Leave it "
            "out."
        )


def _searched(
    model: Any, X: Any, y: Any, solver: Solver[Any, Any] | None, *, max_iter: int, tol: float
) -> tuple[Any, ...]:
    """The model at the start and after each step of one search."""
    objective, path = model.objective(X, y), list[Array]()
    corners = objective.composite.penalty_on.rough()
    rough = corners.value(np.ones(objective.packing.size)) > 0
    minimise(
        solver or (FISTA() if rough else LBFGS()),
        objective.composite if rough else objective,
        objective.start,
        tol=tol,
        max_iter=max_iter + 1,
        stop=Iterations(max_iter),  # asked for, so that no warning is due
        watch=lambda state: path.append(np.array(state.theta)),
    )
    return tuple(objective.fitted_model(theta) for theta in path)


def _mean_loss(model: Any, X: Any, y: Any) -> float:
    """−(1/n) Σ log p of the rows."""
    each = model.score_samples(X) if y is None else model.log_likelihoods(X, y)
    return -float(np.mean(each))
