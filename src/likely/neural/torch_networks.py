"""Networks by torch, on the CPU or on a GPU (``device="cuda"``): one, or several of one shape.

    for each batch I of an order:     g_c = 1/(B w̄) Σ_{i∈I} w_i ∇loss_i(θ_c) + c ∇R_c(θ_c)
                                      θ_c, slots_c ← update(θ_c, g_c, slots_c, step, rate_c)

The predictor is that of ``formulas``, mapped over the networks by ``torch.func.vmap`` and
differentiated by torch; the updates are those of ``likely.solvers``.  The numbers are those of
``engine.ReadableEngine`` to rounding: the same batches in the same order, the same masks of dropout
bit for bit.  An output without a form here (another link, ordered classes) is computed by NumPy: η
goes to the host and its slope comes back, once a batch.

The rows, targets and masks of some batches are gathered at once; then their steps follow each other
on the device with nothing read back.  On a GPU these steps are recorded once as a CUDA graph and
replayed, since launching them one by one takes longer than computing them.  The state is NumPy's
between epochs, so that a checkpoint of one engine resumes in another.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array, Matrix
from likely.caching import cached_property
from likely.host_arrays import is_tensor
from likely.neural.device import (
    ACTIVATIONS,
    RecordedSteps,
    as_array,
    checked_device,
    dense_rows,
    kept_units,
    keys_of,
    least_dropped,
    memory_of,
    next_key,
    on_device,
    tensor_dtype,
    tensor_loss,
    torch_library,
)
from likely.neural.engine import (
    Engine,
    EngineSettings,
    EpochPlan,
    TrainingState,
    checked_target,
    weight_above_0,
)
from likely.neural.formulas import NetworkRows, predictor
from likely.penalties.base import Strength
from likely.solvers.updates import Update

MOST_STEPS = 32  # steps that are gathered, and recorded, together
MOST_CELLS = 2**22  # numbers of one layer that are gathered together: 16 MiB in float32
CHUNK_CELLS = 2**24  # numbers of the widest layer at once, where only a loss is asked for


class StepNumbers(NamedTuple):
    """What an update reads of one step, or with one more axis before of several."""

    rate: Any  # (n_networks, 1)
    step: Any  # the number of the step, from 1, in float64


class GatheredBatches(NamedTuple):
    """Some batches of equal size, with what their steps read."""

    X: Any  # (n_steps, n_networks or 1, batch, features)
    target: Any  # (n_steps, n_networks or 1, batch, …)
    weight: Any | None  # (n_steps, n_networks or 1, batch)
    masks: tuple[Any | None, ...]  # each (n_steps, n_networks, batch, units)
    numbers: StepNumbers

    @property
    def n_steps(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[2])

    def tensors(self) -> list[Any]:
        """Every tensor, in a fixed order."""
        every = (self.X, self.target, self.weight, *self.masks, *self.numbers)
        return [each for each in every if each is not None]

    def cloned(self) -> "GatheredBatches":
        """Equal batches in memory of their own."""
        masks = tuple(None if mask is None else mask.clone() for mask in self.masks)
        return GatheredBatches(
            self.X.clone(),
            self.target.clone(),
            None if self.weight is None else self.weight.clone(),
            masks,
            StepNumbers(*(each.clone() for each in self.numbers)),
        )


@final
class Networks:
    """θ and slots of several networks on a device, and what changes them.

    The settings may differ in l1, l2, dropout and seed.  ``record`` says whether the steps are
    recorded as a CUDA graph, where the device and the loss allow it.
    """

    def __init__(
        self, settings: Sequence[EngineSettings], device: Any, *, record: bool = True
    ) -> None:
        first = settings[0]
        self.settings, self.device = tuple(settings), device
        self.architecture, self.dtype = first.architecture, tensor_dtype(first.dtype)
        self.loss = tensor_loss(first.output)
        n, p = len(settings), first.architecture.n_parameters
        torch = torch_library()
        self.theta = torch.zeros(n, p, dtype=self.dtype, device=device)
        self.slots = torch.zeros(first.update.n_slots, n, p, dtype=self.dtype, device=device)
        self.gradient = torch.zeros_like(self.theta)
        self.total = torch.zeros(n, dtype=torch.float64, device=device)  # Σ w loss of an epoch
        recorded = record and device.type == "cuda" and self.loss.on_device
        self.recorded = RecordedSteps(device) if recorded else None

    @property
    def n_networks(self) -> int:
        return len(self.settings)

    def load(self, theta: Any, slots: Any) -> None:
        """Begin from these θ (n_networks, p) and slots (n_slots, n_networks, p)."""
        self.theta.copy_(self._tensor(theta, self.dtype))
        self.slots.copy_(self._tensor(slots, self.dtype))

    def prepare(self, X: Matrix, y: Any, weight: Array | None = None) -> NetworkRows:
        """Rows on the device, converted once; tensors may be there already."""
        settings, torch = self.settings[0], torch_library()
        target = self._tensor(checked_target(settings, X.shape, as_array(y)))
        weight = None if weight is None else self._tensor(as_array(weight), torch.float64)
        return NetworkRows(on_device(X, settings.dtype, self.device), target, weight)

    def epoch(
        self,
        rows: NetworkRows,
        orders: Any,
        *,
        batch: int,
        rates: Array,
        epoch: int,
        first_step: int,
        first_index: int = 0,
    ) -> Any:
        """One pass over the rows of ``orders``, (n_networks, n) or (1, n) for all networks alike.

        θ and the slots are changed.  Returns the weighted mean loss of the batches before their
        steps, without the penalty, (n_networks,), on the device.
        """
        orders = self._tensor(orders)
        rule = self.settings[0].update.at(epoch)
        n_steps = -(-orders.shape[1] // batch)
        rate = self._tensor(np.asarray(rates), self.dtype)[:, None].repeat(n_steps, 1, 1)
        step = self._tensor(np.arange(first_step, first_step + n_steps, dtype=np.float64))
        every = StepNumbers(rate, step)
        keys = self._keys(epoch)
        self.total.zero_()
        at = 0
        for chosen in self._groups_of_batches(orders, batch):
            now = StepNumbers(*(each[at : at + len(chosen)] for each in every))
            masks = tuple(self._masks(keys, chosen + first_index))
            batches = self._gathered(rows, chosen, masks, now)
            if self.recorded is None or chosen.shape[2] < batch:
                self._steps(rule, batches)
            else:
                self.recorded.run(rule, batches, self._steps, self._state)
            at += len(chosen)
        if rows.weight is None:
            return self.total / orders.shape[1]
        weight = rows.weight[orders].sum(1)
        return self.total / weight.where(weight > 0, 1.0)

    def losses(self, theta: Any, rows: NetworkRows) -> Any:
        """The weighted mean loss of each network, without dropout and penalty, (n_networks,)."""
        total, torch = 0.0, torch_library()
        for part in self._chunks(rows.n_rows):
            eta = self._eta(theta, rows.X, part).double()
            target = self.loss.target(rows.y[part])[None]
            loss = self.loss.at(target, eta, self.architecture.extra(theta)).loss
            weight = None if rows.weight is None else rows.weight[None, part]
            total = total + weighted(weight, loss).sum(1)
        below = rows.n_rows if rows.weight is None else rows.weight.sum()
        return torch.as_tensor(total, device=self.device) / below

    def eta(self, theta: Any, X: Any) -> Any:
        """The predictor of each network, (n_networks, n, n_outputs)."""
        parts = [self._eta(theta, X, part) for part in self._chunks(X.shape[0])]
        if parts:
            return torch_library().cat(parts, dim=1)
        return theta.new_zeros(len(theta), 0, self.architecture.sizes[-1])

    @property
    def _state(self) -> tuple[Any, ...]:
        return self.theta, self.slots, self.total

    def _eta(self, theta: Any, X: Any, part: slice) -> Any:
        return self._predictors(theta, dense_rows(X, part)[None])

    def _tensor(self, values: Any, dtype: Any = None) -> Any:
        """Values on the device; a copy of a NumPy array, which may be read-only."""
        torch = torch_library()
        return torch.as_tensor(np.array(values) if isinstance(values, np.ndarray) else values).to(
            device=self.device, dtype=dtype
        )

    def _chunks(self, n_rows: int) -> Iterator[slice]:
        size = max(1, CHUNK_CELLS // (max(self.architecture.sizes) * self.n_networks))
        return (slice(low, low + size) for low in range(0, n_rows, size))

    def _groups_of_batches(self, orders: Any, batch: int) -> Iterator[Any]:
        """The rows of some batches, (n_steps, n_networks or 1, batch); the rest one by one.

        A group has as many steps as any other or one step, so that two recordings are enough.
        """
        width = max(self.architecture.sizes[:-1])
        cells = batch * width * self.n_networks
        n_steps = max(1, min(MOST_STEPS, MOST_CELLS // cells))
        full, end = orders.shape[1] // batch, orders.shape[1]
        sizes = [n_steps] * (full // n_steps) + [1] * (full % n_steps)
        low = 0
        for size in sizes:
            part = orders[:, low : low + size * batch]
            yield part.reshape(len(orders), size, batch).transpose(0, 1)
            low += size * batch
        if low < end:
            yield orders[:, low:][None]

    def _gathered(
        self, rows: NetworkRows, chosen: Any, masks: tuple[Any | None, ...], numbers: StepNumbers
    ) -> GatheredBatches:
        weight = None if rows.weight is None else rows.weight[chosen]
        target = self.loss.target(rows.y[chosen])
        return GatheredBatches(dense_rows(rows.X, chosen), target, weight, masks, numbers)

    def _keys(self, epoch: int) -> list[Any]:
        """The keys of dropout in an epoch: of each layer, (n_networks, 1)."""
        seeds, n_layers = [each.seed for each in self.settings], self.architecture.n_layers
        return [
            None
            if self._kept[level] is None
            else keys_of(seeds, epoch * n_layers + level, self.device)[:, None]
            for level in range(n_layers)
        ]

    def _masks(self, keys: list[Any], index: Any) -> Iterator[Any | None]:
        """m^(0) … m^(L−1) of the examples with these global indices; None where nothing drops."""
        for size, key, kept in zip(self.architecture.sizes[:-1], keys, self._kept, strict=True):
            if kept is None:
                yield None
            else:
                yield kept_units(next_key(key, index), size, kept.least) * kept.scale

    @cached_property
    def _kept(self) -> list["KeptUnits | None"]:
        none = (0.0,) * self.architecture.n_layers
        by_layer = zip(*(each.dropout or none for each in self.settings), strict=True)
        return [self._kept_of(rates) for rates in by_layer]

    def _kept_of(self, rates: Sequence[float]) -> "KeptUnits | None":
        if not any(rates):
            return None
        least = np.array([least_dropped(1.0 - rate) for rate in rates])[:, None, None]
        scale = np.array([1.0 / (1.0 - rate) for rate in rates])[:, None, None]
        return KeptUnits(self._tensor(least), self._tensor(scale, self.dtype))

    def _steps(self, rule: Update, batches: GatheredBatches) -> None:
        """One step after the other; θ, the slots and the total are changed in place."""
        losses = []
        for at in range(batches.n_steps):
            masks = [None if mask is None else mask[at] for mask in batches.masks]
            weight = None if batches.weight is None else batches.weight[at]
            losses.append(self._first_order(batches.X[at], batches.target[at], weight, masks))
            now = StepNumbers(*(each[at] for each in batches.numbers))
            self._penalise(batches.n_rows)
            self._move(rule, now)
        self.total.add_(torch_library().stack(losses).sum((0, 2)))

    def _first_order(self, X: Any, target: Any, weight: Any, masks: Sequence[Any]) -> Any:
        """The weighted loss of each example, (n_networks, batch); the gradient is overwritten."""
        vjp = torch_library().func.vjp
        eta, gradient_of = vjp(lambda theta: self._predictors(theta, X, masks), self.theta)
        found = self.loss.at(target, eta.double(), self.architecture.extra(self.theta))
        below = X.shape[1] * self.settings[0].mean_weight
        slope = (weighted(weight, found.slope) / below).to(self.dtype)
        self.gradient.copy_(gradient_of(slope)[0])
        if found.extra is not None:
            into: Any = self.architecture.extra(self.gradient)
            into.copy_((weighted(weight, found.extra) / below).sum(1))
        return weighted(weight, found.loss)

    def _predictors(self, theta: Any, X: Any, masks: Sequence[Any] | None = None) -> Any:
        """η of each network; X is (n_networks or 1, batch, features)."""
        masks = (None,) * self.architecture.n_layers if masks is None else tuple(masks)
        shared = len(X) == 1

        def of_one(theta: Any, X: Any, *masks: Any) -> Any:
            return predictor(self.architecture, theta, X, masks, ACTIVATIONS)

        axes = (0, None if shared else 0, *(None if mask is None else 0 for mask in masks))
        mapped = torch_library().func.vmap(of_one, in_dims=axes)
        return mapped(theta, X[0] if shared else X, *masks)

    def _penalise(self, n_rows: int) -> None:
        """Add the gradient of the penalties, 0 for biases and extra parameters."""
        share = self.settings[0].penalty_share(n_rows)
        l1, l2, penalised = self._penalties
        if l2 is not None:
            self.gradient.addcmul_(self.theta * (share * l2), penalised)
        if l1 is not None:
            self.gradient.addcmul_(self.theta.sign() * (share * l1), penalised)

    @cached_property
    def _penalties(self) -> tuple[Any | None, Any | None, Any]:
        """l1 and l2 of each network, (n_networks, 1 or p), and which parameters they are for."""

        def rows(strengths: list[Strength]) -> Any | None:
            each = np.stack(np.broadcast_arrays(*map(np.atleast_1d, strengths)))
            return self._tensor(each, self.dtype) if each.any() else None

        penalised = self._tensor(self.architecture.penalised, self.dtype)
        l1, l2 = [each.l1 for each in self.settings], [each.l2 for each in self.settings]
        return rows(l1), rows(l2), penalised

    def _move(self, rule: Update, now: StepNumbers) -> None:
        """The step itself; frozen parameters stay, also where the rule decays weights."""
        if self._frozen is not None:
            self.gradient.masked_fill_(self._frozen, 0.0)
        move: Any = rule.move(self.theta, self.gradient, self.slots, now.step, now.rate)
        self.theta.add_(move if self._frozen is None else move.masked_fill(self._frozen, 0.0))

    @cached_property
    def _frozen(self) -> Any | None:
        frozen = self.settings[0].frozen
        return None if frozen is None else self._tensor(frozen)


class KeptUnits(NamedTuple):
    """When a unit of a layer is kept, and by how much it then grows; both (n_networks, 1, 1)."""

    least: Any  # the least draw at which it is dropped
    scale: Any  # 1/q


def weighted(weight: Any | None, each: Any) -> Any:
    """w_i times what each example has; 0 where w_i = 0, even if that is infinite."""
    if weight is None:
        return each
    column = weight.reshape(*weight.shape, *(1,) * (each.ndim - weight.ndim))
    return each.where(column > 0, 0.0) * column


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
        with memory_of(self.device):
            self._network = Networks([settings], self.device, record=record)

    def prepare(self, X: Matrix, y: Any, weight: Array | None = None) -> NetworkRows:
        """Rows on the device; tensors that are there already are not copied."""
        with memory_of(self.device):
            return self._network.prepare(X, y, weight)

    def _epoch(
        self, state: TrainingState, rows: NetworkRows, order: Array, plan: EpochPlan
    ) -> tuple[TrainingState, float]:
        network = self._network
        with memory_of(self.device):
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
        with memory_of(self.device):
            return float(self._network.losses(self._on_device(theta), rows)[0])

    def eta(self, theta: Array, X: NetworkRows | Matrix) -> Array:
        """The predictor of each row: a tensor for a tensor, where it is, and NumPy otherwise."""
        with memory_of(self.device):
            if isinstance(X, NetworkRows):
                return as_array(self._network.eta(self._on_device(theta), X.X)[0])
            here = on_device(X, self.settings.dtype, self.device)
            eta = self._network.eta(self._on_device(theta), here)[0]
            return eta.to(X.device) if is_tensor(X) else as_array(eta)

    def _on_device(self, theta: Array) -> Any:
        return on_device(theta, self.settings.dtype, self.device)[None]
