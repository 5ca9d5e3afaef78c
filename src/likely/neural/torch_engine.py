"""Epochs of a network by torch, on the CPU or on a GPU: ``device="cuda"``.

The answers are those of the NumPy engine to rounding: the same batches in the same order, the same
masks of dropout bit for bit, the same updates and penalties.  Within an epoch nothing is read back
from the device.  The state is NumPy's between epochs, so that a checkpoint of one engine resumes in
another.

torch is no dependency of `likely`: it is imported when an engine is made.
"""

from typing import Any, final

from likely._typing import Array, Matrix
from likely.host_arrays import is_tensor
from likely.neural.engine import Engine, EngineSettings, EpochPlan, TrainingState, weight_above_0
from likely.neural.objective import NetworkRows
from likely.neural.tensors.library import as_array, checked_device
from likely.neural.tensors.networks import Networks
from likely.neural.tensors.rows import on_device


@final
class TorchEngine(Engine):
    """torch, for every output, dense and CSR.

    ``device`` is a name such as "cuda" or "cpu", or a torch device.  ``record=False`` launches
    every kernel of a GPU by itself, which is slower.
    """

    def __init__(
        self, settings: EngineSettings, device: Any = "cuda", *, record: bool = True
    ) -> None:
        self.settings = settings
        self.device = checked_device(device)
        self._network = Networks([settings], self.device, record=record)

    def prepare(self, X: Matrix, y: Any, weight: Array | None = None) -> NetworkRows:
        """Rows on the device; tensors that are there already are not copied."""
        return self._network.prepare(X, y, weight)

    def _epoch(
        self, state: TrainingState, rows: NetworkRows, order: Array, plan: EpochPlan
    ) -> tuple[TrainingState, float]:
        network = self._network
        network.load(state.theta[None], state.slots[:, None])
        loss = network.epoch(
            rows,
            order[None],
            batch=plan.batch,
            rates=as_array([plan.rate]),
            epoch=plan.epoch,
            first_step=state.step + 1,
            first_index=plan.first_index,
        )
        step = state.step + -(-len(order) // plan.batch)
        theta, slots = as_array(network.theta[0].clone()), as_array(network.slots[:, 0].clone())
        return TrainingState(theta, slots, step), float(loss[0])

    def loss(self, theta: Array, rows: NetworkRows) -> float:
        weight_above_0(rows)
        return float(self._network.losses(self._on_device(theta), rows)[0])

    def eta(self, theta: Array, X: NetworkRows | Matrix) -> Array:
        """The predictor of each row: a tensor for a tensor, where it is, and NumPy otherwise."""
        given = X.X if isinstance(X, NetworkRows) else X
        here = (
            given if isinstance(X, NetworkRows) else on_device(X, self.settings.dtype, self.device)
        )
        eta = self._network.eta(self._on_device(theta), here)[0]
        if is_tensor(given) and not isinstance(X, NetworkRows):
            return eta.to(given.device)
        return as_array(eta)

    def _on_device(self, theta: Array) -> Any:
        return on_device(theta, self.settings.dtype, self.device)[None]
