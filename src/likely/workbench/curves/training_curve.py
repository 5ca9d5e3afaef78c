"""Training curves: the mean loss of training and of validation rows, recorded during one fit.

    loss at step k = −(1/n) Σ_i log p(y_i | x_i, θ_k)        k = 0 (the start), 1, 2, …

One search is watched, and each of its states is a model of its own (a *snapshot*); nothing is
fitted again.  A validation loss that rises while the training loss still falls shows where to
stop: ``best`` is the step of the lowest validation loss, and ``best_model`` the snapshot there.

References
----------
Prechelt, Early stopping — but when?, 1998.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, final, runtime_checkable

import numpy as np

from likely._typing import Array
from likely.data.frames import frame_of, library_of
from likely.errors import InvalidInput
from likely.inputs.estimators import is_number
from likely.names import known_name
from likely.output.formatting import count, html_block, html_paragraph, html_table, text_table
from likely.output.loss_curves import draw_losses, shown_rows
from likely.solvers.base import Solver
from likely.solvers.choice import CLOSED_FORMS, SOLVERS, check_search
from likely.solvers.lbfgs import LBFGS
from likely.solvers.minimise import Solution, search
from likely.solvers.proximal import FISTA
from likely.solvers.stopping import StoppingRule

Rows = tuple[Any, Any, Any]  # rows, labels, and lengths of sequences; None where there are none
MOST_STEPS = 100  # unless another number is asked for
WATCHED = {name: entry for name, entry in SOLVERS.items() if entry.on_totals}
FOR_CORNERS = tuple(type(each.solver) for each in WATCHED.values() if not each.smooth_only)


@runtime_checkable
class HasObjective(Protocol):
    """A model that gives what its fit minimises, and itself at any parameters."""

    def objective(self, X: Any, y: Any) -> Any: ...

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...


@runtime_checkable
class HasEMSteps(Protocol):
    """A mixture that gives itself after every step of EM."""

    max_iter: int

    def em_steps(self, X: Any) -> Sequence[Any]: ...


@runtime_checkable
class HasSequences(Protocol):
    """A model of rows in sequences."""

    transition_smoothing: float


@runtime_checkable
class HasPenaltySteps(Protocol):
    """A path that gives its model at every penalty."""

    def penalty_steps(self, X: Any, y: Any) -> Sequence[Any]: ...


@runtime_checkable
class HasCutSteps(Protocol):
    """A model of binary classifiers that gives itself from their steps."""

    def cut_steps(self, X: Any, y: Any, steps_of: Any) -> Sequence[Any]: ...


@runtime_checkable
class HasModelSteps(Protocol):
    """A classifier of texts that gives itself from the steps of its model."""

    def model_steps(self, X: Any, y: Any, steps_of: Any) -> Sequence[Any]: ...


@runtime_checkable
class HasEpochSteps(Protocol):
    """A network that gives itself after every epoch of a training."""

    def epoch_steps(self, X: Any, y: Any, validation: Any = None) -> Sequence[Any]: ...


@runtime_checkable
class HasLearningSteps(Protocol):
    """A network or field of variables that gives itself after every step of its learning."""

    def learning_steps(self, data: Any, **options: Any) -> Sequence[Any]: ...

    def log_likelihoods(self, data: Any, **target: Any) -> Array: ...


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
    ending : str
        How many steps there were; if the search did not converge, why it ended.
    """

    train: Array
    validation: Array | None
    snapshots: tuple[Any, ...]
    model: str
    ending: str
    library: str | None = None
    noun: str = "step"  # of a network an epoch

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
        step, words = np.arange(len(self.train)), (self.noun, "mean loss (nats)", self.model)
        return draw_losses(ax, step, self.train, self.validation, best=self.best, words=words)

    def __str__(self) -> str:
        header, rows = self._cells()
        return "\n".join([self._title(), "", *text_table(header, rows, words=())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_block(html_paragraph(self._title(), bold=True), html_table(*self._cells()))

    def _title(self) -> str:
        parts = [self.ending]
        if not self.train[-1] <= self.train[0]:  # or it is not a number
            parts.append("the training loss is higher at the end than at the start")
        if self.validation is not None:
            parts.append(f"lowest validation loss at {self.noun} {self.best}")
        return f"{self.model}: {'; '.join(parts)}."

    def _columns(self) -> dict[str, Any]:
        columns = {self.noun: np.arange(len(self.train)), "train": self.train}
        return columns if self.validation is None else {**columns, "validation": self.validation}

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        columns = self._columns()
        cells = {name: [f"{value:.6g}" for value in each] for name, each in columns.items()}
        return list(columns), shown_rows(cells, self.best)


def training_curve(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    validation: Any = None,
    solver: str | Solver[Any, Any] | None = None,
    max_iter: int | None = None,
    tol: float = 1e-8,
    lengths: Any = None,
    **options: Any,
) -> TrainingCurve:
    """Train a model once, and record its loss on training and on validation rows at every step.

    Parameters
    ----------
    model : estimator
        A linear model, a mixture, a hidden Markov model, a neural network, a ``BayesianNetwork``
        (by EM) or a ``MarkovField``, with its settings; it is not changed.  The losses of a neural
        network after each epoch are also in ``history_`` of every fit.  A step of a ``PenaltyPath``
        is a penalty, from the largest down; that of a ``FrankHall`` is one of the searches of all
        its cuts; that of a ``TextClassifier`` is one of its model, which has to be trained in
        steps.
    X, y : the training rows, and their labels or responses
        A mixture and a hidden Markov model need no y.
    validation : tuple (X, y), optional
        The rows by which a step is judged; of a mixture, X alone, and of a hidden Markov model X or
        (X, lengths).  ``likely.split`` sets rows apart.
    solver : str or Solver, optional
        A name, as models take it, or one of ``likely.solvers``, such as ``FixedStep(0.01)``; by
        default that of the model.  For "auto" it is ``LBFGS()``, and ``FISTA()`` for a penalty with
        corners.  Mixtures have EM.
    max_iter : int, optional
        The most steps; by default 100, or that of the model if it is smaller.  A mixture has its
        own.
    tol : float, default=1e-8
        The gap at which the search ends.  The ``stop`` of the model may end it before; a rule about
        held-out rows reads the validation rows.
    lengths : array, optional
        Of a hidden Markov model, the number of rows of each sequence.
    **options
        Of a ``BayesianNetwork`` or a ``MarkovField``, arguments of its ``fit``, such as
        ``smoothing`` or ``l2``.

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
    sequences = isinstance(model, HasSequences)
    if lengths is not None and not sequences:
        raise InvalidInput(
            f"lengths was given, and {type(model).__name__} has no sequences. Leave it out."
        )
    held = _validation(validation, y, sequences=sequences)
    if isinstance(model, HasLearningSteps):
        return _curve_of_graph(model, X, y, held, solver, max_iter=max_iter, tol=tol, **options)
    if options:
        raise InvalidInput(
            f"{', '.join(options)} was given, and {type(model).__name__} has its own settings. Set "
            "them in the model."
        )
    search = WatchedSearch(held, solver, max_iter, tol, lengths)
    snapshots, ending = search.snapshots(model, X, y)
    train = [_mean_loss(each, X, y, lengths) for each in snapshots]
    judged = None if held is None else [_mean_loss(each, *held) for each in snapshots]
    losses = None if judged is None else np.array(judged)
    name, library = type(model).__name__, library_of(X)
    noun = "epoch" if isinstance(model, HasEpochSteps) else "step"
    return TrainingCurve(np.array(train), losses, snapshots, name, ending, library, noun)


def _curve_of_graph(
    model: HasLearningSteps,
    data: Any,
    y: Any,
    held: Rows | None,
    solver: Any,
    *,
    max_iter: int | None,
    tol: float,
    **options: Any,
) -> TrainingCurve:
    """The curve of a model of all columns of a table."""
    name = type(model).__name__
    for argument, given in (("y", y), ("solver", solver)):
        if given is not None:
            raise InvalidInput(
                f"{argument} was given, and a {name} learns from all columns of its data by its "
                "own search. Leave it out."
            )
    limit = MOST_STEPS if max_iter is None else max_iter
    steps = tuple(model.learning_steps(data, tol=tol, max_iter=limit, **options))
    target = {key: value for key, value in options.items() if key == "target"}

    def losses(rows: Any) -> Array:
        return np.array([-np.mean(each.log_likelihoods(rows, **target)) for each in steps])

    judged = None if held is None else losses(held[0])
    ending = _ending(steps[-1].fit_report.solution, len(steps) - 1)
    return TrainingCurve(losses(data), judged, steps, name, ending, library_of(data))


@final
@dataclass(frozen=True, eq=False)
class WatchedSearch:
    """How a model is trained to be recorded."""

    held: "Rows | None"
    solver: str | Solver[Any, Any] | None
    max_iter: int | None
    tol: float
    lengths: Any = None

    def snapshots(self, model: Any, X: Any, y: Any) -> tuple[tuple[Any, ...], str]:
        """The model at the start and after each step, and how the search ended."""
        if isinstance(model, HasEMSteps):
            _refuse_solver(model, self.solver)
            own = {} if self.lengths is None else {"lengths": self.lengths}
            found = tuple(model.em_steps(X, **own))
            steps = count(len(found) - 1, "step")
            at_limit = len(found) > model.max_iter
            return found, f"stopped after {steps}, by max_iter" if at_limit else steps
        if isinstance(model, HasEpochSteps):
            _refuse_epochs(model, self.solver, self.max_iter)
            found = tuple(model.epoch_steps(X, y, None if self.held is None else self.held[:2]))
            history = found[-1].history_
            return found, f"{count(history.n_epochs, 'epoch')} ({history.ending})"
        if isinstance(model, HasPenaltySteps):
            _refuse_epochs(model, self.solver, self.max_iter)
            found = tuple(model.penalty_steps(X, y))
            return found, count(len(found), "penalty", "penalties")
        if isinstance(model, HasCutSteps | HasModelSteps):
            return self._of_parts(model, X, y)
        if not isinstance(model, HasObjective):
            raise InvalidInput(
                f"{type(model).__name__} is not trained in steps that can be recorded; a linear "
                "model, a mixture, a hidden Markov model, a neural network, a Bayesian network or "
                "a Markov field was expected. Use likely.learning_curve, which fits again at each "
                "point."
            )
        found, solution = _searched(
            model, (X, y), self.held, self.solver, max_iter=self.max_iter, tol=self.tol
        )
        return found, _ending(solution, len(found) - 1)

    def _of_parts(
        self, model: HasCutSteps | HasModelSteps, X: Any, y: Any
    ) -> tuple[tuple[Any, ...], str]:
        """A model made of others, whose searches do not see the validation rows."""
        endings, alone = list[str](), replace(self, held=None)

        def steps_of(part: Any, rows: Any, target: Any) -> Sequence[Any]:
            found, ending = alone.snapshots(part, rows, target)
            endings.append(ending)
            return found

        steps = model.cut_steps if isinstance(model, HasCutSteps) else model.model_steps
        return tuple(steps(X, y, steps_of)), ", ".join(endings)


def _validation(given: Any, y: Any, *, sequences: bool) -> Rows | None:
    """The validation rows, their labels (None for a mixture's) and the lengths of sequences."""
    if given is None:
        return None
    if y is None:
        if isinstance(given, tuple) and len(given) == 2:
            X, second = given
            if sequences or second is None:
                return X, None, second
            raise InvalidInput(
                "validation is a tuple of two, and no y was given to train on; rows alone were "
                "expected. Give validation=X_validation."
            )
        if np.ndim(given) == 0 and not hasattr(given, "shape") and is_number(given):
            raise InvalidInput(
                f"validation={given!r} was given; rows were expected, not a share of them. Set "
                "some apart with likely.split and give validation=X_validation."
            )
        return given, None, None
    if not isinstance(given, tuple) or len(given) != 2:
        raise InvalidInput(
            f"validation is a {type(given).__name__}; a tuple of rows and their labels was "
            "expected. Give validation=(X_validation, y_validation)."
        )
    return (*given, None)


def _refuse_solver(model: Any, solver: Any) -> None:
    if solver is not None:
        raise InvalidInput(
            f"solver={solver!r} was given, and {type(model).__name__} is trained by EM. Leave it "
            "out."
        )


def _refuse_epochs(model: Any, solver: Any, max_iter: int | None) -> None:
    for name, given, own in (("solver", solver, "solver"), ("max_iter", max_iter, "max_epochs")):
        if given is not None:
            raise InvalidInput(
                f"{name}={given!r} was given, and {type(model).__name__} has its own. Set {own} of "
                "the model instead."
            )


def _searched(
    model: HasObjective,
    rows: tuple[Any, Any],
    held: Rows | None,
    solver: str | Solver[Any, Any] | None,
    *,
    max_iter: int | None,
    tol: float,
) -> tuple[tuple[Any, ...], Solution]:
    """The model at the start and after each step of one search, and how it ended."""
    settings = model.get_params(deep=False)
    limit = min(MOST_STEPS, settings["max_iter"]) if max_iter is None else max_iter
    check_search(tol, limit)
    objective, path = model.objective(*rows), list[Array]()
    corners = objective.composite.penalty_on.rough()
    rough = corners.value(np.ones(objective.packing.size)) > 0
    taken = _solver(settings["solver"] if solver is None else solver, rough=rough)
    with np.errstate(over="ignore", invalid="ignore"):  # a search may diverge, which is said
        solution, _ = search(
            taken,
            objective.composite if isinstance(taken, FOR_CORNERS) else objective,
            objective.start,
            tol=tol,
            max_iter=limit,
            stop=settings["stop"],
            watch=lambda state: path.append(np.array(state.theta)),
            held_out=_held_out_loss(settings["stop"], objective, held),
        )
    return tuple(objective.fitted_model(theta) for theta in path), solution


def _solver(given: str | Solver[Any, Any], *, rough: bool) -> Solver[Any, Any]:
    """The solver of that name, or the one given; one that suits the penalty for "auto"."""
    if given == "auto":
        return FISTA() if rough else LBFGS()
    if isinstance(given, str):
        name = known_name("solver", given, (*SOLVERS, *CLOSED_FORMS))
        if name not in WATCHED:
            raise InvalidInput(
                f"solver={name!r} has no steps that can be recorded; expected one of "
                f"{', '.join(WATCHED)}. Give one of them to training_curve."
            )
        given = WATCHED[name].solver
    if rough and not isinstance(given, FOR_CORNERS):
        raise InvalidInput(
            f"The solver {given.name} was given with l1 > 0 or groups; a solver for penalties with "
            "corners was expected. Use solver='fista' or 'proximal-newton'."
        )
    return given


def _held_out_loss(
    stop: StoppingRule | None, objective: Any, held: Rows | None
) -> Callable[[Array], float] | None:
    """The mean loss of the validation rows, for a rule that reads it."""
    if stop is None or stop.held_out_rule() is None:
        return None
    if held is None:
        raise InvalidInput(
            f"stop={stop!r} of the model reads held-out rows, and no validation rows were given. "
            "Give validation=(X_validation, y_validation)."
        )
    return lambda theta: _mean_loss(objective.fitted_model(theta), *held)


def _ending(solution: Solution, n_steps: int) -> str:
    steps = count(n_steps, "step")
    if solution.converged:
        return steps
    return f"stopped after {steps}, not converged ({solution.reason})"


def _mean_loss(model: Any, X: Any, y: Any, lengths: Any = None) -> float:
    """−(1/n) Σ log p of the rows."""
    own = {} if lengths is None else {"lengths": lengths}
    return -float(np.mean(model.log_likelihoods(X, y, **own)))
