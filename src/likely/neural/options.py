"""The arguments of a network, checked before a row is read, and what they stand for.

    solver         an update rule of ``likely.solvers``, or L-BFGS
    batch          a size, "auto", "full", ``Batches``, or a plan of ``likely.solvers``
    trainable      layers by number: 0 leads to the first hidden layer, −1 to the output

Messages say what was given, what was expected and what to do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol, final

import numpy as np

from likely.errors import InvalidInput, LargeBatch, UnknownName, warn_user
from likely.inputs.estimators import (
    is_number,
    refuse_unless_bool,
    refuse_unless_number,
    refuse_unless_whole,
)
from likely.names import known_name
from likely.neural.architecture import Architecture
from likely.neural.formulas import dropout_rates
from likely.neural.settings import (
    Batches,
    EarlyStopping,
    StartValues,
    Training,
    WeightPenalty,
)
from likely.output.formatting import count
from likely.penalties.base import Penalty, checked_strength
from likely.solvers.batched import PENALTY_SCALINGS
from likely.solvers.mini_batches import WINDOW, BalancedBatches, BatchPlan, ShuffledBatches
from likely.solvers.schedules import Constant, Schedule, schedule_of
from likely.solvers.updates import UPDATES, Momentum, Nesterov, Update

QUASI_NEWTON = "lbfgs"
SOLVERS = ("auto", QUASI_NEWTON, *UPDATES)
END_GAMES = ("epochs", "loss")
# What "auto" stands for in these arguments: where a solver is named, and where it is left open.
PLAIN: dict[str, Any] = {
    "learning_rate": 1e-3,
    "max_epochs": 200,
    "patience": 10,
    "early_stopping": False,
    "n_networks": 1,
}
CAREFUL: dict[str, Any] = {
    "learning_rate": 3e-3,
    "max_epochs": 500,
    "patience": 30,
    "early_stopping": True,
    "n_networks": 5,
}
FEW_ROWS = 30  # different ones, up to which "auto" takes L-BFGS, from several starts
N_STARTS = 20  # a start leads to XOR by two relu units with probability 0.18: all 20 fail in 2 %
FITTED = 1e-3  # nats a row, or variances of y: a loss at which no other start is tried
SMALL_BATCH, LARGE_BATCH = 32, 128
MANY_ROWS = 10_000  # from which "auto" takes the larger batch
TOL, QUASI_NEWTON_TOL = 1e-4, 1e-5  # nats a row: the fall of the loss, the gap of L-BFGS
CONVEX_TOL = 1e-14  # without hidden layers, so that it is as near as a linear model
HELD_OUT = 0.1  # of the rows, where early stopping is asked for and no validation is given
DTYPES = ("float32", "float64")
WATCHES = ("validation", "training", "auto")


class NetworkArguments(Protocol):
    """The arguments that classifiers and regressors share."""

    hidden: Any
    activation: Any
    bias: Any
    solver: Any
    learning_rate: Any
    schedule: Any
    momentum: Any
    batch: Any
    max_epochs: Any
    tol: Any
    early_stopping: Any
    validation: Any
    end_game: Any
    dropout: Any
    l1: Any
    l2: Any
    penalty: Any
    initialise: Any
    training: Any
    dtype: Any
    device: Any
    n_networks: Any
    random_state: Any


@final
@dataclass(frozen=True, eq=False)
class Options:
    """The arguments of a network that say how it is trained, with a value for each "auto"."""

    model: str  # the class of the estimator, for messages
    hidden: tuple[int, ...]
    activation: Any
    bias: Any
    update: Update | None  # None is L-BFGS
    schedule: Schedule
    batch: Batches | BatchPlan
    max_epochs: int
    tol: float | None
    patience: int
    early_stopping: bool
    held_out: float | None  # the share of the rows for validation; None: a set, or none
    end_game: str | None
    dropout: Any
    penalty: WeightPenalty
    start: StartValues
    training: Training
    dtype: Any
    chosen: "ChosenArguments"

    @property
    def quasi_newton(self) -> bool:
        return self.update is None

    @property
    def balanced(self) -> bool:
        """Whether batches are to be balanced by a switch, which needs classes."""
        return isinstance(self.batch, Batches) and self.batch.balanced

    @property
    def callbacks(self) -> tuple[Callable[[Any], Any], ...]:
        """Functions to call after each epoch."""
        given = () if self.training.callbacks is None else self.training.callbacks
        given = tuple(given) if isinstance(given, Sequence) else (given,)
        for each in given:
            if not callable(each):
                raise InvalidInput(
                    f"callbacks has {each!r}; functions of an epoch were expected, which end the "
                    "training where they return True. Use set_callbacks for those of scikit-learn."
                )
        return given


@final
@dataclass(frozen=True)
class ChosenArguments:
    """What "auto" stands for in some arguments, and how training begins."""

    solver: str | Update
    learning_rate: float
    max_epochs: int
    patience: int
    early_stopping: bool
    n_networks: int
    starts: int = 1  # of L-BFGS, of which the best is kept

    def as_dict(self) -> dict[str, Any]:
        """By the names of the arguments; a rule as text."""
        solver = self.solver if isinstance(self.solver, str) else repr(self.solver)
        return {
            **{name: vars(self)[name] for name in PLAIN},
            "solver": solver,
            "starts": self.starts,
        }


def chosen_for(
    model: NetworkArguments, n_rows: int | None = None, *, one: bool = False, watched: bool = False
) -> ChosenArguments:
    """The arguments that "auto" leaves open, with a value each.

    ``n_rows`` is None for a file; of a few rows and their copies it is how many differ.  ``one``
    is a single network that is trained further; ``watched`` is whether callbacks of scikit-learn
    follow the epochs.

        solver named               PLAIN
        few rows                   L-BFGS from several starts, the lowest loss is kept
        without hidden layers      L-BFGS
        else                       Adam, as CAREFUL says; one network of a file or of many rows
    """
    stop = EarlyStopping.of(model.early_stopping)
    known_name("watch of EarlyStopping", _watched(stop, model), WATCHES)
    given = {
        "learning_rate": model.learning_rate,
        "max_epochs": model.max_epochs,
        "patience": stop.patience,
        "early_stopping": "auto" if _is_auto(stop.watch) else stop.watch == "validation",
        "n_networks": model.n_networks,
    }
    fixed = {name: value for name, value in given.items() if not _is_auto(value)}
    if not _is_auto(model.solver):
        return ChosenArguments(**{"solver": model.solver, **PLAIN, **fixed})
    few, hidden = n_rows is not None and n_rows <= FEW_ROWS, _hidden(model.hidden)
    followed = watched or Training.of(model.training).is_followed
    drawn = isinstance(StartValues.of(model.initialise).values, str) and not followed
    if (few or not hidden) and _suits_quasi_newton(model, given, n_rows):
        starts = N_STARTS if few and bool(hidden) and drawn else 1
        return ChosenArguments(**{"solver": QUASI_NEWTON, **PLAIN, **fixed, "starts": starts})
    careful = PLAIN if one or few else CAREFUL
    if not (drawn and n_rows is not None and n_rows < MANY_ROWS):
        careful = {**careful, "n_networks": 1}
    return ChosenArguments(**{"solver": "adam", **careful, **fixed})


def _watched(stop: EarlyStopping, model: NetworkArguments) -> str:
    """The loss to watch; a message names what was given to ``early_stopping``."""
    if not isinstance(model.early_stopping, EarlyStopping | str | int | np.bool_) or (
        isinstance(model.early_stopping, str) and model.early_stopping not in WATCHES
    ):
        raise InvalidInput(
            f"early_stopping={model.early_stopping!r} was given; True or False was expected, a "
            "number of epochs to wait, or EarlyStopping. Use early_stopping=True, or "
            "early_stopping=10."
        )
    return stop.watch


def _is_auto(given: Any) -> bool:
    return isinstance(given, str) and given == "auto"


def _suits_quasi_newton(model: NetworkArguments, given: Any, n_rows: int | None) -> bool:
    """Whether L-BFGS can train it: all rows in memory, a smooth loss, nothing held out."""
    batch = model.batch
    return (
        n_rows is not None
        and not weight_penalty(model).l1
        and not np.any(model.dropout)
        and not isinstance(batch, BatchPlan)
        and _is_auto(Batches.of(batch).size)
        and not Batches.of(batch).balanced
        and model.device in (None, "cpu")
        and model.dtype in (None, "float64", np.float64)
        and (_is_auto(given["early_stopping"]) or given["early_stopping"] is False)
        and (_is_auto(given["n_networks"]) or given["n_networks"] == 1)
        and (_is_auto(given["learning_rate"]) or not _hidden(model.hidden))
    )


def checked_options(
    model: NetworkArguments, chosen: ChosenArguments | None = None, *, in_file: bool = False
) -> Options:
    """The options of an estimator, or a sentence about the first argument that cannot be used."""
    chosen = chosen_for(model, None, one=True) if chosen is None else chosen
    refuse_unless_whole("n_networks", chosen.n_networks, lowest=1, advice="Use 5.")
    hidden, training = _hidden(model.hidden), _training(model.training)
    batch = model.batch if isinstance(model.batch, BatchPlan) else Batches.of(model.batch)
    if isinstance(batch, Batches):
        refuse_unless_bool("shuffle", batch.shuffle)
        refuse_unless_bool("balanced", batch.balanced)
    refuse_unless_bool("evaluate", training.evaluate)
    refuse_unless_whole("max_epochs", chosen.max_epochs, lowest=0, advice="Use 200.")
    refuse_unless_whole("patience", chosen.patience, lowest=1, advice="Use 10.")
    penalty, update = weight_penalty(model), _update(chosen.solver, model.momentum)
    if update is None:
        _refuse_for_quasi_newton(model, penalty, batch, in_file)
    if model.end_game is not None:
        known_name("end_game", model.end_game, END_GAMES)
        if not chosen.early_stopping:
            raise InvalidInput(
                f"end_game={model.end_game!r} was given without early stopping, which finds the "
                "epoch to train for. Use early_stopping=True, or leave end_game out."
            )
    schedule = (
        Constant(1.0)
        if update is None
        else schedule_of(model.schedule, chosen.learning_rate, max(int(chosen.max_epochs), 1))
    )
    options = Options(
        model=type(model).__name__,
        hidden=hidden,
        activation=model.activation,
        bias=model.bias,
        update=update,
        schedule=schedule,
        batch=batch,
        max_epochs=int(chosen.max_epochs),
        tol=_tol(model.tol, update, hidden),
        patience=int(chosen.patience),
        early_stopping=bool(chosen.early_stopping),
        held_out=_share(model.validation, asked=bool(chosen.early_stopping)),
        end_game=model.end_game,
        dropout=model.dropout,
        penalty=penalty,
        start=StartValues.of(model.initialise),
        training=training,
        dtype=_dtype(model.dtype, update),
        chosen=chosen,
    )
    _ = options.callbacks  # functions, or refused
    return options


def weight_penalty(model: NetworkArguments) -> WeightPenalty:
    """l1, l2 and their scaling: of the arguments, or of the penalty in their place."""
    given, own = model.penalty, {"l1": model.l1, "l2": model.l2}
    if not isinstance(given, WeightPenalty | Penalty | None):
        raise InvalidInput(
            f"penalty={given!r} was given; a penalty of likely.penalties was expected, or a "
            "WeightPenalty. Use penalty=L2(1.0), or l2=1.0, which is the same."
        )
    if isinstance(given, Penalty) and any(np.any(each.strength) for each in given.strengths.groups):
        raise InvalidInput(
            f"penalty={given!r} was given; a network has penalties of single weights. Use L1, "
            "L2, ElasticNet or a sum of them."
        )
    inside = WeightPenalty.of(given)
    known_name("penalty scaling", inside.scaling, PENALTY_SCALINGS)
    takes_place = isinstance(given, Penalty) or np.any(inside.l1) or np.any(inside.l2)
    found = dict[str, float]()
    for name, one in own.items():
        if takes_place and np.any(one):
            raise InvalidInput(
                f"penalty={given!r} and {name}={one!r} were given; one of the two was expected."
                f" Add {name.upper()}(…) to the penalty, or leave {name} out."
            )
        strength = checked_strength(name, vars(inside)[name] if takes_place else one)
        if np.ndim(strength):
            raise InvalidInput(
                f"{name} has several numbers; a network has one strength for all its weights. "
                f"Use {name}=1.0."
            )
        found[name] = float(strength)
    return WeightPenalty(found["l1"], found["l2"], inside.scaling)


def plan_of_batches(options: Options, n_rows: int) -> BatchPlan:
    """The batches of so many training rows."""
    given = options.batch
    if not isinstance(given, Batches):
        return given
    if given.size == "auto":
        size = min(SMALL_BATCH if n_rows < MANY_ROWS else LARGE_BATCH, n_rows)
    elif given.size == "full":
        size = n_rows
    else:
        size = _size(given.size, n_rows)
    if given.balanced:
        return BalancedBatches(size)
    return ShuffledBatches(size, bool(given.shuffle), max(WINDOW, size))


def _training(given: Any) -> Training:
    if not isinstance(given, Training | None):
        raise InvalidInput(
            f"training={given!r} was given; Training was expected. Use "
            'training=Training(checkpoint="file").'
        )
    return Training.of(given)


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


def _hidden(hidden: Any) -> tuple[int, ...]:
    if isinstance(hidden, Integral) and not isinstance(hidden, bool):
        return (int(hidden),)
    if isinstance(hidden, str) or not isinstance(hidden, Sequence | np.ndarray):
        raise InvalidInput(
            f"hidden={hidden!r} was given; the sizes of the hidden layers were expected. Use "
            "hidden=(100,), or () for none."
        )
    return tuple(int(size) if isinstance(size, Integral) else size for size in hidden)


def _update(solver: Any, momentum: Any) -> Update | None:
    """The update rule; None for L-BFGS."""
    if isinstance(solver, Update):
        return solver
    name = known_name("solver", solver, SOLVERS) if isinstance(solver, str) else ""
    if not name:
        raise UnknownName("solver", solver, SOLVERS)
    given = tuple(momentum) if isinstance(momentum, list) else momentum
    rule = Momentum(given)  # checked, though most rules do not use it
    if name == "nesterov":
        return Nesterov(given)
    return None if name == QUASI_NEWTON else rule if name == "momentum" else UPDATES[name]


def _refuse_for_quasi_newton(
    model: NetworkArguments, penalty: WeightPenalty, batch: Batches | BatchPlan, in_file: bool
) -> None:
    balanced = isinstance(batch, Batches) and batch.balanced
    for name, value in (("l1", penalty.l1), ("dropout", model.dropout), ("balanced", balanced)):
        if np.any(value):
            raise InvalidInput(
                f"solver='lbfgs' and {name}={value!r} were given; L-BFGS needs a smooth loss of "
                f"all rows. Use solver='adam', or leave {name} out."
            )
    if isinstance(batch, BatchPlan) or batch.size not in ("auto", "full"):
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


def _dtype(given: Any, update: Update | None) -> Any:
    if given is None:
        return np.dtype(np.float64 if update is None else np.float32)
    try:
        dtype = np.dtype(given)
    except TypeError:
        dtype = None
    if dtype is None or dtype.name not in DTYPES:
        raise UnknownName("dtype of a network", given, DTYPES)
    if update is None and dtype != np.float64:
        raise InvalidInput(
            "solver='lbfgs' and dtype='float32' were given; its line searches need float64. Leave "
            "dtype out."
        )
    return dtype
