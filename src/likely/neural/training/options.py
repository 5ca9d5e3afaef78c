"""The arguments of a network, checked before a row is read, and what they stand for.

    solver         an update rule of ``likely.solvers``, or L-BFGS
    batch          a size, "auto", "full", or batches of ``likely.solvers``
    trainable      layers by number: 0 leads to the first hidden layer, −1 to the output

Messages say what was given, what was expected and what to do.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from numbers import Integral
from typing import Any, final

import numpy as np

from likely.errors import InvalidInput, LargeBatch, UnknownName, warn_user
from likely.formatting import count
from likely.inputs.estimators import (
    is_number,
    refuse_unless_bool,
    refuse_unless_number,
    refuse_unless_whole,
)
from likely.names import known_name
from likely.neural.architecture import Architecture
from likely.neural.formulas import dropout_rates
from likely.neural.units import weight_strengths
from likely.solvers.batched import PENALTY_SCALINGS
from likely.solvers.mini_batches import WINDOW, BalancedBatches, Batches, ShuffledBatches
from likely.solvers.schedules import Constant, Schedule, schedule_of
from likely.solvers.updates import UPDATES, Momentum, Nesterov, Update

QUASI_NEWTON = "lbfgs"
SOLVERS = ("auto", QUASI_NEWTON, *UPDATES)
END_GAMES = ("epochs", "loss")
# What "auto" stands for in these arguments: where a solver is named, and where it is left open.
PLAIN = {
    "learning_rate": 1e-3,
    "max_epochs": 200,
    "patience": 10,
    "early_stopping": False,
    "n_networks": 1,
}
CAREFUL = {
    "learning_rate": 3e-3,
    "max_epochs": 500,
    "patience": 30,
    "early_stopping": True,
    "n_networks": 5,
}
FEW_ROWS = 30  # up to which "auto" takes L-BFGS, from several starts
N_STARTS = 20  # a start leads to XOR by two relu units with probability 0.18: all 20 fail in 2 %
FITTED = 1e-3  # nats a row, or variances of y: a loss at which no other start is tried
SMALL_BATCH, LARGE_BATCH = 32, 128
MANY_ROWS = 10_000  # from which "auto" takes the larger batch
TOL, QUASI_NEWTON_TOL = 1e-4, 1e-5  # nats a row: the fall of the loss, the gap of L-BFGS
CONVEX_TOL = 1e-14  # without hidden layers, so that it is as near as a linear model
HELD_OUT = 0.1  # of the rows, where early stopping is asked for and no validation is given
DTYPES = ("float32", "float64")
SWITCHES = (
    "shuffle",
    "early_stopping",
    "balanced",
    "evaluate_training",
    "scale_response",
)


@final
@dataclass(frozen=True)
class Options:
    """The arguments of a network that say how it is trained."""

    hidden: tuple[int, ...]
    update: Update | None  # None is L-BFGS
    schedule: Schedule
    tol: float | None
    held_out: float | None  # the share of the rows for validation; None: a set, or none
    dtype: Any

    @property
    def quasi_newton(self) -> bool:
        return self.update is None


def settled(model: Any, n_rows: int | None = None, *, one: bool = False) -> dict[str, Any]:
    """The arguments that "auto" leaves open, with a value each, and the number of ``starts``.

    ``n_rows`` is None for a file; ``one`` is a single network that is trained further.

        solver named               PLAIN
        few rows                   L-BFGS from several starts, the lowest loss is kept
        without hidden layers      L-BFGS
        else                       Adam, as CAREFUL says; one network of a file or of many rows
    """
    given = vars(model)
    open_names = [name for name in PLAIN if _is_auto(given[name])]
    chosen: dict[str, Any] = {name: PLAIN[name] for name in open_names}
    if not _is_auto(model.solver):
        return {**chosen, "starts": 1}
    few = n_rows is not None and n_rows <= FEW_ROWS
    if (few or not _hidden(model.hidden)) and _suits_quasi_newton(model, n_rows):
        drawn = isinstance(model.initialise, str) and not given.get("_skl_callbacks")
        again = few and bool(_hidden(model.hidden)) and drawn and not _calls_back(model)
        return {**chosen, "solver": QUASI_NEWTON, "starts": N_STARTS if again else 1}
    if not one and not few:
        chosen = {name: CAREFUL[name] for name in open_names}
        several = isinstance(model.initialise, str) and not given.get("_skl_callbacks")
        if "n_networks" in chosen and not (
            several and not _calls_back(model) and n_rows is not None and n_rows < MANY_ROWS
        ):
            chosen["n_networks"] = 1
    return {**chosen, "solver": "adam", "starts": 1}


def _is_auto(given: Any) -> bool:
    return isinstance(given, str) and given == "auto"


def _calls_back(model: Any) -> bool:
    """Whether someone follows the epochs, which are those of one network then."""
    return any(vars(model)[name] is not None for name in ("callbacks", "checkpoint", "resume"))


def _suits_quasi_newton(model: Any, n_rows: int | None) -> bool:
    """Whether L-BFGS can train it: all rows in memory, a smooth loss, nothing held out."""
    given = vars(model)
    return (
        n_rows is not None
        and not weight_strengths(model).l1
        and not np.any(model.dropout)
        and not given.get("balanced", False)
        and _is_auto(model.batch)
        and model.device in (None, "cpu")
        and model.dtype in (None, "float64", np.float64)
        and (_is_auto(model.early_stopping) or model.early_stopping is False)
        and (_is_auto(model.n_networks) or model.n_networks == 1)
        and (_is_auto(model.learning_rate) or not _hidden(model.hidden))
    )


def checked_options(model: Any, *, in_file: bool = False) -> Options:
    """The options of an estimator, or a sentence about the first argument that cannot be used."""
    model = copy(model)
    vars(model).update(settled(model, None, one=True))
    hidden = _hidden(model.hidden)
    for name in SWITCHES:  # a classifier has no scale_response, a regressor no balanced
        refuse_unless_bool(name, vars(model).get(name, False))
    refuse_unless_whole("max_epochs", model.max_epochs, lowest=0, advice="Use 200.")
    refuse_unless_whole("patience", model.patience, lowest=1, advice="Use 10.")
    weight_strengths(model)
    known_name("penalty_scaling", model.penalty_scaling, PENALTY_SCALINGS)
    update = _update(model)
    if update is None:
        _refuse_for_quasi_newton(model, in_file)
    if model.end_game is not None:
        known_name("end_game", model.end_game, END_GAMES)
        if not model.early_stopping:
            raise InvalidInput(
                f"end_game={model.end_game!r} was given without early stopping, which finds the "
                "epoch to train for. Use early_stopping=True, or leave end_game out."
            )
    schedule = (
        Constant(1.0)
        if update is None
        else schedule_of(model.schedule, model.learning_rate, max(int(model.max_epochs), 1))
    )
    held_out = _share(model.validation, asked=bool(model.early_stopping))
    return Options(
        hidden, update, schedule, _tol(model.tol, update, hidden), held_out, _dtype(model, update)
    )


def batches_for(model: Any, n_rows: int, *, balanced: bool) -> Batches:
    """The batches of so many training rows."""
    given = model.batch
    if isinstance(given, Batches):
        if balanced and not isinstance(given, BalancedBatches):
            raise InvalidInput(
                f"balanced=True and batch={given!r} were given; one of the two was expected. Use "
                "balanced=True with the size of a batch."
            )
        return given
    if given == "auto":
        size = min(SMALL_BATCH if n_rows < MANY_ROWS else LARGE_BATCH, n_rows)
    elif given == "full":
        size = n_rows
    else:
        size = _size(given, n_rows)
    if balanced:
        return BalancedBatches(size)
    return ShuffledBatches(size, bool(model.shuffle), max(WINDOW, size))


def trainable_layers(
    trainable: Sequence[int] | None, architecture: Architecture, argument: str = "trainable"
) -> tuple[bool, ...] | None:
    """Whether each layer is trained; None where all are.  ``argument`` is its name in messages."""
    if trainable is None:
        return None
    if isinstance(trainable, str) or not isinstance(trainable, Sequence | np.ndarray):
        raise InvalidInput(
            f"{argument}={trainable!r} was given; a list of layers was expected. Use "
            f"{argument}=[-1] for the last."
        )
    n, flags = architecture.n_layers, [False] * architecture.n_layers
    for layer in trainable:
        if not isinstance(layer, Integral) or isinstance(layer, bool) or not -n <= layer < n:
            raise InvalidInput(
                f"The layer {layer!r} was named to be trained; the network has layers 0 to "
                f"{n - 1}, and −1 is the last. Name some of them: {argument}=[-1]."
            )
        flags[int(layer)] = True
    if not any(flags):
        raise InvalidInput(
            f"{argument} names no layer; at least one was expected. Use {argument}=None for all, "
            "or max_epochs=0 to train nothing."
        )
    return tuple(flags)


def layer_dropout(dropout: Any, architecture: Architecture) -> tuple[float, ...]:
    """The rates of dropout by layer; () where there is none."""
    rates = dropout_rates(architecture, dropout)
    return rates if any(rates) else ()


def check_callbacks(callbacks: Any) -> tuple[Any, ...]:
    """Functions to call after each epoch."""
    given = () if callbacks is None else callbacks
    given = tuple(given) if isinstance(given, Sequence) else (given,)
    for each in given:
        if not callable(each):
            raise InvalidInput(
                f"callbacks has {each!r}; functions of an epoch were expected, which end the "
                "training where they return True. Use set_callbacks for those of scikit-learn."
            )
    return given


def _hidden(hidden: Any) -> tuple[int, ...]:
    if isinstance(hidden, Integral) and not isinstance(hidden, bool):
        return (int(hidden),)
    if isinstance(hidden, str) or not isinstance(hidden, Sequence | np.ndarray):
        raise InvalidInput(
            f"hidden={hidden!r} was given; the sizes of the hidden layers were expected. Use "
            "hidden=(100,), or () for none."
        )
    return tuple(int(size) if isinstance(size, Integral) else size for size in hidden)


def _update(model: Any) -> Update | None:
    """The update rule; None for L-BFGS."""
    solver = model.solver
    if isinstance(solver, Update):
        return solver
    name = known_name("solver", solver, SOLVERS) if isinstance(solver, str) else ""
    if not name:
        raise UnknownName("solver", solver, SOLVERS)
    given = tuple(model.momentum) if isinstance(model.momentum, list) else model.momentum
    momentum = Momentum(given)  # checked, though most rules do not use it
    if name == "nesterov":
        return Nesterov(given)
    return None if name == QUASI_NEWTON else momentum if name == "momentum" else UPDATES[name]


def _refuse_for_quasi_newton(model: Any, in_file: bool) -> None:
    given = {**vars(model), "l1": weight_strengths(model).l1}
    for name, idle in (("l1", 0.0), ("dropout", 0.0), ("balanced", False)):
        value = given.get(name, idle)
        if np.any(value):
            raise InvalidInput(
                f"solver='lbfgs' and {name}={value!r} were given; L-BFGS needs a smooth loss of "
                f"all rows. Use solver='adam', or leave {name} out."
            )
    if isinstance(model.batch, Batches) or model.batch not in ("auto", "full"):
        raise InvalidInput(
            f"solver='lbfgs' and batch={model.batch!r} were given; L-BFGS reads all rows in every "
            "step. Use solver='adam', or leave batch out."
        )
    if model.device not in (None, "cpu"):
        raise InvalidInput(
            f"solver='lbfgs' and device={str(model.device)!r} were given; L-BFGS runs on the "
            "processor. Use solver='adam', or leave device out."
        )
    if in_file:
        raise InvalidInput(
            "solver='lbfgs' was given with a file; L-BFGS needs all rows in memory. Use "
            "solver='adam', which reads the file in windows, or read it into a frame."
        )


def _size(given: Any, n_rows: int) -> int:
    refuse_unless_whole("batch", given, lowest=1, advice="Use 32, 'auto' or 'full'.")
    if given > n_rows:
        warn_user(
            f"batch={given} was given, and there are {count(n_rows, 'training row')}; every step "
            "reads all of them. Use a smaller batch, or batch='full'.",
            LargeBatch,
        )
    return min(int(given), n_rows)


def _share(validation: Any, *, asked: bool) -> float | None:
    """The share of the rows to hold out."""
    if validation is None:
        return HELD_OUT if asked else None
    if isinstance(validation, tuple | list):
        return None
    if not is_number(validation) or not 0 < validation < 1:
        raise InvalidInput(
            f"validation={validation!r} was given; a share of the rows between 0 and 1 was "
            "expected, or a tuple of rows and their targets. Use 0.1, or (X, y)."
        )
    return float(validation)


def _tol(tol: Any, update: Update | None, hidden: tuple[int, ...]) -> float | None:
    if isinstance(tol, str) and tol == "auto":
        quasi_newton = QUASI_NEWTON_TOL if hidden else CONVEX_TOL
        return quasi_newton if update is None else TOL
    if tol is None:
        return None
    refuse_unless_number("tol", tol, lowest=0.0, advice="Use 1e-4, or None for no tolerance.")
    return float(tol)


def _dtype(model: Any, update: Update | None) -> Any:
    if model.dtype is None:
        return np.dtype(np.float64 if update is None else np.float32)
    try:
        dtype = np.dtype(model.dtype)
    except TypeError:
        dtype = None
    if dtype is None or dtype.name not in DTYPES:
        raise UnknownName("dtype of a network", model.dtype, DTYPES)
    if update is None and dtype != np.float64:
        raise InvalidInput(
            "solver='lbfgs' and dtype='float32' were given; its line searches need float64. Leave "
            "dtype out."
        )
    return dtype
