"""One epoch of mini-batch training, and the loss of a network: the contract, and how in NumPy.

    for each batch I of the order, B = |I| examples:
        g = 1/(B w̄) Σ_{i∈I} w_i ∇loss_i + c ∇R(θ)        w̄ = Σ w / N, over all training rows
        θ, slots ← update(θ, g, slots, step, rate)

    penalty_scaling    "sum": c = 1/Σw      "mean": c = 1      "epoch": c = B/N

R = l1 Σ|w| + ½ l2 Σw².  "sum" has the minimum of the summed loss + R, the objective of every other
model; "mean" that of the mean loss + R; with "epoch" the penalty counts once in an epoch.  The
divisor is B w̄, not the weight of the batch: then the expectation of g is the gradient of the whole,
a weight of 2 pulls twice as much, and a batch whose weights are all 0 leaves the penalty alone.

An engine gives the same numbers as the others to rounding.  Its state is a value: θ, the slots of
the update rule and the number of steps.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, final

import numpy as np
from scipy import sparse

from likely._typing import Array, Matrix
from likely.caching import cached_property
from likely.errors import InvalidInput
from likely.names import known_name
from likely.neural.architecture import Architecture
from likely.neural.formulas import (
    NetworkRows,
    chunk_rows,
    chunks,
    dropout_masks,
    loss_first_order,
    loss_total,
    penalty_gradient,
    predictor,
)
from likely.neural.outputs import NOT_COMPILED, Output
from likely.numerics.additive import pairwise_total
from likely.penalties.base import Strength
from likely.solvers.base import FirstOrder
from likely.solvers.batched import PENALTY_SCALINGS
from likely.solvers.updates import Update

FEWEST_ROWS_TO_COMPILE = 1000  # below, NumPy is done before the compiled loop is loaded


@final
@dataclass(frozen=True, eq=False)
class TrainingState:
    """What training carries from batch to batch, and a checkpoint keeps."""

    theta: Array  # (p,)
    slots: Array  # (n_slots, p), of the update rule
    step: int  # how many batches there have been


@final
@dataclass(frozen=True, eq=False)
class EngineSettings:
    """What an epoch depends on besides its rows and its rate."""

    architecture: Architecture
    output: Output
    update: Update
    n_rows_total: int  # N, the training rows of all blocks
    weight_total: float | None = None  # Σ w of them; None is N
    dropout: tuple[float, ...] = ()  # of the input and each hidden layer; () is none
    l1: Strength = 0.0  # one number, or one for each parameter
    l2: Strength = 0.0
    penalty_scaling: str = "sum"  # in ``PENALTY_SCALINGS``
    trainable: tuple[bool, ...] | None = None  # by layer; None is all
    seed: int = 0  # of dropout
    dtype: Any = np.float32

    def __post_init__(self) -> None:
        known_name("penalty_scaling", self.penalty_scaling, PENALTY_SCALINGS)
        if not (self.n_rows_total > 0 and self._weight > 0):
            raise InvalidInput(
                f"Training has {self.n_rows_total} rows with a total weight of {self._weight:g}; "
                "expected a weight above 0. Give a positive sample_weight to some rows."
            )

    @property
    def _weight(self) -> float:
        return float(self.n_rows_total if self.weight_total is None else self.weight_total)

    @property
    def mean_weight(self) -> float:
        """w̄."""
        return self._weight / self.n_rows_total

    def penalty_share(self, batch: int) -> float:
        """c, the part of the penalty that a batch of this many rows has."""
        share = PENALTY_SCALINGS[self.penalty_scaling]
        return share(batch, self.n_rows_total, self._weight)

    @cached_property
    def penalises(self) -> bool:
        return bool(np.any(self.l1) or np.any(self.l2))

    @cached_property
    def frozen(self) -> Array | None:
        """True for the parameters that are not trained; None where all are."""
        if self.trainable is None or all(self.trainable):
            return None
        return ~self.architecture.trainable_mask(self.trainable)


class EpochPlan(NamedTuple):
    """How an epoch steps through its rows."""

    batch: int  # rows of a step, at most
    rate: float
    epoch: int  # its number, from 0, by which dropout is drawn
    first_index: int = 0  # the global index of the first row


class Engine(ABC):
    """How epochs are computed."""

    settings: EngineSettings

    def start(self, theta: Array) -> TrainingState:
        """The state before the first step."""
        theta = np.array(theta, dtype=self.settings.dtype)
        return TrainingState(theta, self.settings.update.slots_for(theta), 0)

    @abstractmethod
    def prepare(self, X: Matrix, y: Any, weight: Array | None = None) -> NetworkRows:
        """Rows as the engine reads them, converted once; y are class numbers or numbers."""

    def epoch(
        self,
        state: TrainingState,
        rows: NetworkRows,
        order: Array,
        *,
        batch: int,
        rate: float,
        epoch: int,
        first_index: int = 0,
    ) -> tuple[TrainingState, float]:
        """The state after the rows of ``order``, in batches of at most ``batch``, and their loss.

        The loss is the weighted mean of what each batch had before its step, without the penalty;
        0 if all weights are 0.  ``first_index`` is the global index of the first row, from which
        dropout is drawn.  ``state`` is left as it is.
        """
        return self._epoch(state, rows, order, EpochPlan(batch, rate, epoch, first_index))

    @abstractmethod
    def _epoch(
        self, state: TrainingState, rows: NetworkRows, order: Array, plan: EpochPlan
    ) -> tuple[TrainingState, float]:
        """See ``epoch``."""

    @abstractmethod
    def loss(self, theta: Array, rows: NetworkRows) -> float:
        """The weighted mean loss, without the penalty and without dropout."""

    @abstractmethod
    def eta(self, theta: Array, X: NetworkRows | Matrix) -> Array:
        """The predictor of each row, (n, n_outputs)."""


@final
@dataclass(frozen=True, eq=False)
class ReadableEngine(Engine):
    """NumPy, for every output, dense and CSR."""

    settings: EngineSettings

    def prepare(self, X: Matrix, y: Any, weight: Array | None = None) -> NetworkRows:
        return converted(self.settings, X, y, weight)

    def _epoch(
        self, state: TrainingState, rows: NetworkRows, order: Array, plan: EpochPlan
    ) -> tuple[TrainingState, float]:
        theta, slots, step = state.theta.copy(), state.slots.copy(), state.step
        update = self.settings.update.at(plan.epoch)
        loss, weight = 0.0, 0.0
        with np.errstate(over="ignore", invalid="ignore"):  # a loss that explodes is for the caller
            for start in range(0, len(order), plan.batch):
                chosen = order[start : start + plan.batch]
                part = rows.chosen(chosen)
                index = chosen + plan.first_index
                value, gradient = self._first_order(theta, part, index, plan.epoch)
                loss, weight, step = loss + value, weight + part.total_weight, step + 1
                self._step(update, theta, gradient, slots, step, plan.rate)
        return TrainingState(theta, slots, step), loss / weight if weight > 0 else 0.0

    def _first_order(
        self, theta: Array, part: NetworkRows, index: Array, epoch: int
    ) -> tuple[float, Array]:
        """The summed loss of a batch, and g; a large batch is computed in pieces."""
        settings, architecture = self.settings, self.settings.architecture
        size = chunk_rows(architecture)
        if part.n_rows <= size:
            here = self._summed(theta, part, index, epoch)
        else:
            pieces = (slice(start, start + size) for start in range(0, part.n_rows, size))
            here = pairwise_total(
                self._summed(theta, part.chosen(piece), index[piece], epoch) for piece in pieces
            )
        gradient = here.gradient / theta.dtype.type(part.n_rows * settings.mean_weight)
        if settings.penalises:
            share = settings.penalty_share(part.n_rows)
            gradient += penalty_gradient(
                architecture, theta, share * settings.l1, share * settings.l2
            ).astype(theta.dtype, copy=False)
        return here.value, gradient

    def _summed(self, theta: Array, part: NetworkRows, index: Array, epoch: int) -> FirstOrder:
        """Σ w loss and its gradient, with the masks of these examples."""
        settings = self.settings
        masks = dropout_masks(
            settings.dropout,
            part.X,
            settings.architecture,
            seed=settings.seed,
            epoch=epoch,
            index=index,
        )
        return loss_first_order(settings.architecture, settings.output, theta, part, masks or None)

    def _step(
        self, update: Update, theta: Array, gradient: Array, slots: Array, step: int, rate: float
    ) -> None:
        """Overwrite θ and the slots; frozen parameters stay, also where the rule decays weights."""
        frozen = self.settings.frozen
        if frozen is None:
            update.apply(theta, gradient, slots, step, rate)
            return
        gradient[frozen] = 0.0
        before = theta[frozen]
        update.apply(theta, gradient, slots, step, rate)
        theta[frozen] = before

    def loss(self, theta: Array, rows: NetworkRows) -> float:
        settings = self.settings
        term = partial(loss_total, settings.architecture, settings.output, theta)
        with np.errstate(over="ignore", invalid="ignore"):
            whole = rows.n_rows <= chunk_rows(settings.architecture)
            parts = chunks(settings.architecture, rows)
            total = term(rows) if whole else pairwise_total(map(term, parts))
        return float(total.value) / weight_above_0(rows)

    def eta(self, theta: Array, X: NetworkRows | Matrix) -> Array:
        architecture = self.settings.architecture
        X = X.X if isinstance(X, NetworkRows) else as_matrix(X, self.settings.dtype)
        size = chunk_rows(architecture)
        out = np.empty((X.shape[0], architecture.sizes[-1]), dtype=theta.dtype)
        for start in range(0, len(out), size):
            out[start : start + size] = predictor(architecture, theta, X[start : start + size])
        return out


def engine_for(settings: EngineSettings, X: Matrix) -> Engine:
    """The compiled engine for many dense rows and an output that it knows, else the one in NumPy.

    The choice depends on the number of all training rows, so that every block has the same one.
    """
    known = settings.output.compiled != NOT_COMPILED and isinstance(X, np.ndarray)
    if not known or settings.n_rows_total < FEWEST_ROWS_TO_COMPILE:
        return ReadableEngine(settings)
    from likely.neural.compiled_engine import CompiledEngine  # here: it loads Numba

    return CompiledEngine(settings)


def as_matrix(X: Matrix, dtype: Any) -> Matrix:
    """X in the dtype of the network, dense in C order or CSR; not copied if it is that already.

    A read-only array is copied: compiled loops would be compiled again for it.
    """
    if sparse.issparse(X):
        return sparse.csr_array(X, dtype=dtype)
    return np.require(X, dtype=dtype, requirements=["C", "W"])


def converted(settings: EngineSettings, X: Matrix, y: Any, weight: Array | None) -> NetworkRows:
    """Rows in the dtype of the network; the target and the weights are in float64 or whole."""
    X = as_matrix(X, settings.dtype)
    if weight is not None:
        weight = np.require(weight, dtype=np.float64, requirements=["C", "W"])
    return NetworkRows(X, checked_target(settings, X.shape, y), weight)


def checked_target(settings: EngineSettings, shape: tuple[int, ...], y: Any) -> Array:
    """The target of an X of this shape.

    Values of y that the output does not have are refused here, since loops trust them.
    """
    architecture, output = settings.architecture, settings.output
    target = np.require(output.target(y), requirements=["C", "W"])
    if shape[1] != architecture.sizes[0] or len(target) != shape[0]:
        raise InvalidInput(
            f"X has shape {tuple(shape)} and there are {len(target)} targets; expected "
            f"{architecture.sizes[0]} columns, and as many targets as rows. Give the columns that "
            "the network was made for."
        )
    if target.ndim == 2 and target.shape[1] != output.n_outputs:
        raise InvalidInput(
            f"The target has {target.shape[1]} columns; expected {output.n_outputs}, one for each "
            "output of the network."
        )
    output.check(target)
    return target


def weight_above_0(rows: NetworkRows) -> float:
    """Σ w, refused if it is 0: there is no mean."""
    total = rows.total_weight
    if not total > 0:
        raise InvalidInput(
            f"{rows.n_rows} rows have a total weight of {total:g}; a mean loss needs a weight "
            "above 0. Give a positive sample_weight to some of them."
        )
    return total
