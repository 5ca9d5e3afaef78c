"""Many networks of one shape, trained side by side in batched products.

    a_c = W_c h_c + b_c   for all networks c at once        θ (n_networks, p)

Candidates of a search differ in their seeds, rates, penalties and dropout, and have equal layers.
One of them keeps a GPU waiting for launches; all together keep it computing.  Each is trained as it
would be alone, to rounding: with its own order of the rows, its own masks, its own rates, and it
ends when its own rules say so.  Once half of the networks have ended, the others go on without
them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, final

import numpy as np

from likely._typing import Array, Codes
from likely.errors import InvalidInput, TrainingDiverged
from likely.neural.devices import as_array, checked_device, memory_of
from likely.neural.engine import EngineSettings, TrainingState
from likely.neural.formulas import NetworkRows
from likely.neural.history import LossCurve
from likely.neural.tensors import epoch_orders
from likely.neural.torch_networks import Networks
from likely.neural.training.examples import Examples
from likely.neural.training.loop import Trained, TrainingRules, TrainingRun, divergence
from likely.neural.training.steps import Ending
from likely.progress import report
from likely.solvers.mini_batches import Batches, ShuffledBatches

SHARED = (
    "architecture",
    "output",
    "update",
    "n_rows_total",
    "weight_total",
    "penalty_scaling",
    "trainable",
    "dtype",
)


@final
@dataclass(frozen=True, eq=False)
class Candidate:
    """One of the networks: what is its own."""

    settings: EngineSettings
    theta: Array  # where it starts
    rules: TrainingRules
    seed: int  # of the order of the rows


@final
@dataclass(frozen=True, eq=False)
class SharedRows:
    """What all networks are trained and judged on."""

    training: Examples
    validation: Examples | None
    batches: Batches
    labels: Codes | None = None  # for balanced batches
    evaluate_training: bool = True  # else the running loss of each epoch is recorded


def train_many(
    candidates: Sequence[Candidate], rows: SharedRows, *, device: Any = "cuda"
) -> list[Trained | TrainingDiverged]:
    """Train all candidates, each until its rules end it.

    The answer has one entry for each: how its training ended, or the error of a loss that exploded,
    which leaves the others alone.  The rows are in memory.
    """
    refuse_unless_alike([candidate.settings for candidate in candidates])
    where = checked_device(device)
    with memory_of(where):
        together = Together(candidates, rows, where)
        while together.go_on():
            together.advance()
    return together.outcomes


def refuse_unless_alike(settings: Sequence[EngineSettings]) -> None:
    """Refuse networks that cannot share their products and updates."""
    if not settings:
        raise InvalidInput("No network was given; expected one or more to train together.")
    for number, each in enumerate(settings):
        for name in SHARED:
            first, other = vars(settings[0])[name], vars(each)[name]
            if first != other:
                raise InvalidInput(
                    f"Network {number} has {name}={other!r}, and network 0 has {first!r}; networks "
                    "that are trained together have equal ones. Train them in separate groups."
                )


@final
class Together:
    """Training under way: the networks that are still on the device, and what each has recorded."""

    def __init__(self, candidates: Sequence[Candidate], rows: SharedRows, device: Any) -> None:
        self.candidates, self.shared, self.device = candidates, rows, device
        self.members = list(range(len(candidates)))  # on the device
        self.active = set(self.members)  # not ended yet
        self.outcomes: list[Any] = [None] * len(candidates)
        self.step, self.number = 0, 0
        self.networks = self._networks()
        slots = self.networks.slots
        self.networks.load(np.stack([each.theta for each in candidates]), slots)
        self.training = self._prepared(rows.training)
        self.validation = None if rows.validation is None else self._prepared(rows.validation)
        self.best = self.networks.theta.clone()
        self.runs = [
            TrainingRun(None, each.theta, LossCurve(), start)
            for each, start in zip(candidates, self._start_losses(), strict=True)
        ]

    def go_on(self) -> bool:
        """Take out the networks that end here; whether others are left."""
        for place, member in enumerate(self.members):
            if member in self.active:
                ending = self.candidates[member].rules.ending(self.runs[member].curve)
                if ending is not None:
                    self._finish(place, member, ending)
        if self.active and 2 * len(self.active) <= len(self.members):
            self._leave_out_the_ended()
        return bool(self.active)

    def advance(self) -> None:
        """One epoch of all networks."""
        began = perf_counter()
        rates = [self._rate(member) for member in self.members]
        running = self._epoch(np.array(rates))
        theta = self.networks.theta
        evaluate = self.shared.evaluate_training
        loss = self.networks.losses(theta, self.training) if evaluate else running
        held = None if self.validation is None else self.networks.losses(theta, self.validation)
        losses, helds = loss.tolist(), [None] * len(rates) if held is None else held.tolist()
        seconds = (perf_counter() - began) / len(self.active)
        better = [
            member in self.active and self._record(member, rate, here, there, seconds)
            for member, rate, here, there in zip(self.members, rates, losses, helds, strict=True)
        ]
        self.best[better] = theta[better]
        self.number += 1
        report("epoch", 1, f"{self.number}: {len(self.active)} networks in training")

    def _record(
        self, member: int, rate: float, loss: float, held: float | None, seconds: float
    ) -> bool:
        """Note the losses of an epoch; whether it is the best so far."""
        run, rules = self.runs[member], self.candidates[member].rules
        error = divergence(rules, run, rate, (loss, held))
        if error is not None:
            self.outcomes[member] = error
            self.active.discard(member)
            return False
        run.curve = run.curve.with_epoch(loss, held, rate, seconds)
        return run.curve.best == run.curve.n_epochs

    def _rate(self, member: int) -> float:
        """The rate of the next epoch; 0 for a network that has ended."""
        if member not in self.active:
            return 0.0
        return self.candidates[member].rules.rate(self.number, self.runs[member].curve)

    def _epoch(self, rates: Array) -> Any:
        """The running mean loss of each network."""
        batches, orders = self.shared.batches, self._orders()
        window = batches.window if isinstance(batches, ShuffledBatches) else orders.shape[1]
        total, weight = 0.0, 0.0
        for low in range(0, orders.shape[1], window):
            part = orders[:, low : low + window]
            loss = self.networks.epoch(
                self.training,
                part,
                batch=batches.size,
                rates=rates,
                epoch=self.number,
                first_step=self.step + 1,
            )
            self.step += -(-part.shape[1] // batches.size)
            here = self.training.weight
            heavy = part.shape[1] if here is None else here[part].sum(1)
            total, weight = total + heavy * loss, weight + heavy
        return total / weight

    def _orders(self) -> Any:
        """The rows of the epoch: one order for each network, or one for all of them."""
        batches, n_rows = self.shared.batches, self.training.n_rows
        seeds = [self.candidates[member].seed for member in self.members]
        seeds = seeds[:1] if len(set(seeds)) == 1 else seeds
        if not isinstance(batches, ShuffledBatches):
            labels = self.shared.labels
            return np.stack([batches.order(n_rows, seed, self.number, labels) for seed in seeds])
        if not batches.shuffle:
            return np.arange(n_rows)[None]
        return epoch_orders(n_rows, seeds, self.number, self.device, window=batches.window)

    def _finish(self, place: int, member: int, ending: Ending) -> None:
        """Keep what the network at a place on the device has come to."""
        run, rules = self.runs[member], self.candidates[member].rules
        last = as_array(self.networks.theta[place].clone())
        state = TrainingState(last, as_array(self.networks.slots[:, place].clone()), self.step)
        early = rules.early_stopping
        theta = as_array(self.best[place].clone()) if early else last
        kept = run.curve.best if early else run.curve.n_epochs
        self.outcomes[member] = Trained(theta, state, run.curve, ending, kept)
        self.active.discard(member)

    def _leave_out_the_ended(self) -> None:
        """Go on with the others alone; what was recorded for all has to be recorded again."""
        left = [place for place, member in enumerate(self.members) if member in self.active]
        theta, slots = self.networks.theta[left], self.networks.slots[:, left]
        self.members = [self.members[place] for place in left]
        self.best = self.best[left]
        self.networks = self._networks()
        self.networks.load(theta, slots)

    def _networks(self) -> Networks:
        return Networks([self.candidates[each].settings for each in self.members], self.device)

    def _prepared(self, examples: Examples) -> NetworkRows:
        ((_, X),) = examples.columns(examples.n_rows)
        return self.networks.prepare(X, examples.y, examples.weight)

    def _start_losses(self) -> list[float]:
        """The loss of each network at its start, as when it is trained alone."""
        rows = self.training if self.shared.evaluate_training else self.validation
        if rows is None:
            return [1.0] * len(self.members)
        return [float(loss) for loss in self.networks.losses(self.networks.theta, rows).tolist()]
