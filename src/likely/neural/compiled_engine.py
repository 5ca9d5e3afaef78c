"""The engine whose epochs are compiled.

An epoch is one call of ``fast/network.py``, with one BLAS thread: the batches are small, and the
result does not depend on the number of cores.  Rows that the loop does not know (CSR, soft labels)
go to the engine in NumPy, which has every option.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from likely._typing import Array, Matrix
from likely.caching import cached_property
from likely.compute.executor import one_blas_thread
from likely.errors import InvalidInput
from likely.fast import activations
from likely.fast.network import (
    Descent,
    Dropout,
    ExampleArrays,
    Network,
    predictors,
    total_loss,
    train_epoch,
)
from likely.neural.architecture import Architecture
from likely.neural.engine import (
    Engine,
    EngineSettings,
    EpochPlan,
    ReadableEngine,
    TrainingState,
    as_matrix,
    converted,
    weight_above_0,
)
from likely.neural.formulas import NetworkRows
from likely.neural.outputs import CATEGORICAL, NOT_COMPILED
from likely.numerics.keyed_random import WORD
from likely.penalties.base import Strength
from likely.solvers.updates import Update

COMPILED_ACTIVATIONS = {
    "identity": activations.IDENTITY,
    "sigmoid": activations.SIGMOID,
    "tanh": activations.TANH,
    "relu": activations.RELU,
    "softplus": activations.SOFTPLUS,
}
CHUNK_CELLS = 2**18  # values of the widest layer at once when nothing is learned
BATCH_CELLS = 2**21  # values of all layers at once in training: 8 MiB in float32
FEWEST_ROWS = 64


@final
@dataclass(frozen=True, eq=False)
class CompiledEngine(Engine):
    """Dense rows, for categorical, Bernoulli (logit), Gaussian and Poisson (log) outputs."""

    settings: EngineSettings

    def prepare(self, X: Matrix, y: Any, weight: Array | None = None) -> NetworkRows:
        return converted(self.settings, X, y, weight)

    def _epoch(
        self, state: TrainingState, rows: NetworkRows, order: Array, plan: EpochPlan
    ) -> tuple[TrainingState, float]:
        if not self._fits(rows):
            return self._readable._epoch(state, rows, order, plan)
        theta, slots = self._ready(state.theta).copy(), state.slots.copy()
        order = np.require(order, dtype=np.int64, requirements=["C", "W"])
        _check_order(order, rows.n_rows)
        with one_blas_thread():
            loss, weight, step = train_epoch(
                self._network,
                theta,
                slots,
                state.step,
                self._examples(rows),
                order,
                int(plan.batch),
                max(FEWEST_ROWS, BATCH_CELLS // sum(self.settings.architecture.sizes)),
                self._descent(self.settings.update.at(plan.epoch), plan.rate),
                self._dropout(plan.epoch, plan.first_index),
            )
        return TrainingState(theta, slots, step), loss / weight if weight > 0 else 0.0

    def loss(self, theta: Array, rows: NetworkRows) -> float:
        if not self._fits(rows):
            return self._readable.loss(theta, rows)
        weight = weight_above_0(rows)
        with one_blas_thread():
            total = total_loss(
                self._network,
                self._ready(theta),
                self._examples(rows),
                self._chunk,
                self.settings.output.compiled,
            )
        return total / weight

    def eta(self, theta: Array, X: NetworkRows | Matrix) -> Array:
        X = X.X if isinstance(X, NetworkRows) else as_matrix(X, self.settings.dtype)
        if not isinstance(X, np.ndarray):
            return self._readable.eta(theta, X)
        theta = self._ready(theta)
        _check_columns(X, self.settings.architecture)
        out = np.empty((len(X), self.settings.architecture.sizes[-1]), dtype=theta.dtype)
        with one_blas_thread():
            predictors(self._network, theta, X, self._chunk, out)
        return out

    def _ready(self, theta: Array) -> Array:
        """θ of the type that the loops are compiled for, with all that they read."""
        expected = (self.settings.architecture.n_parameters,)
        if theta.shape != expected:
            raise InvalidInput(
                f"The parameters have shape {theta.shape}; the layers need {expected}. Save the "
                "model again, if it is from a file."
            )
        return np.require(theta, dtype=self.settings.dtype, requirements=["C", "W"])

    def _fits(self, rows: NetworkRows) -> bool:
        """Whether the compiled loop knows such rows."""
        output = self.settings.output
        hard = output.compiled != CATEGORICAL or rows.y.ndim == 1
        return output.compiled != NOT_COMPILED and isinstance(rows.X, np.ndarray) and hard

    @cached_property
    def _readable(self) -> ReadableEngine:
        return ReadableEngine(self.settings)

    @property
    def _chunk(self) -> int:
        return max(FEWEST_ROWS, CHUNK_CELLS // max(self.settings.architecture.sizes))

    @cached_property
    def _network(self) -> Network:
        return compiled_network(self.settings.architecture)

    def _examples(self, rows: NetworkRows) -> ExampleArrays:
        classes = rows.y.ndim == 1
        return ExampleArrays(
            X=rows.X,
            codes=rows.y if classes else np.zeros(0, dtype=np.int64),
            target=np.zeros((0, 0)) if classes else rows.y,
            weight=np.zeros(0) if rows.weight is None else rows.weight,
        )

    def _descent(self, update: Update, rate: float) -> Descent:
        settings = self.settings
        by_rows = settings.penalty_scaling == "epoch"
        kind, hyper = update.compiled()
        trainable = settings.trainable or (True,) * settings.architecture.n_layers
        return Descent(
            loss=settings.output.compiled,
            kind=kind,
            hyper=hyper,
            rate=float(rate),
            penalises=settings.penalises,
            l1=self._strength(settings.l1),
            l2=self._strength(settings.l2),
            share=0.0 if by_rows else settings.penalty_share(1),
            share_per_row=settings.penalty_share(1) if by_rows else 0.0,
            mean_weight=settings.mean_weight,
            freezes=not all(trainable),
            frozen=np.array([not trained for trained in trainable], dtype=np.uint8),
        )

    def _strength(self, given: Strength) -> Array:
        """The strength of each parameter, 0 for biases; empty where nothing is penalised."""
        if not self.settings.penalises:
            return np.zeros(0)
        return np.asarray(self.settings.architecture.penalised * given)

    def _dropout(self, epoch: int, first_index: int) -> Dropout:
        rates = self.settings.dropout or (0.0,) * self.settings.architecture.n_layers
        seed = np.uint64(self.settings.seed % WORD)
        return Dropout(
            max(rates) > 0.0,
            np.array(rates, dtype=np.float64),
            seed,
            int(epoch),
            int(first_index),
        )


def _check_order(order: Array, n_rows: int) -> None:
    """Refuse places outside of the rows: the loop reads them unchecked."""
    if order.size and not (order.min() >= 0 and order.max() < n_rows):
        raise InvalidInput(
            f"The order has places from {order.min()} to {order.max()}; expected 0 to "
            f"{n_rows - 1}. Number the rows of this block from 0."
        )


def _check_columns(X: Array, architecture: Architecture) -> None:
    """Refuse rows that are narrower or wider than the first layer."""
    if X.ndim != 2 or X.shape[1] != architecture.sizes[0]:
        raise InvalidInput(
            f"The rows have shape {X.shape}; the first layer has {architecture.sizes[0]} inputs. "
            "Give one column for each."
        )


def compiled_network(architecture: Architecture) -> Network:
    """The layers as arrays of numbers."""
    return Network(
        n_units=sum(architecture.sizes),
        widest=max(architecture.sizes),
        sizes=np.array(architecture.sizes, dtype=np.int64),
        activations=np.array(
            [COMPILED_ACTIVATIONS[name] for name in architecture.activations], dtype=np.int64
        ),
        weight_at=np.array([place.weight.start for place in architecture.places], dtype=np.int64),
        bias_at=np.array(
            [
                place.bias.start if has_bias else -1
                for place, has_bias in zip(architecture.places, architecture.biases, strict=True)
            ],
            dtype=np.int64,
        ),
    )
