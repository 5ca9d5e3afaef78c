"""Many networks trained side by side in batched products: those with equal layers and rows.

    a_c = W_c h_c + b_c   for all networks c at once        θ (n_networks, p)

Candidates of a search differ in their start values, seeds, rates and schedules, penalties and
dropout, and in when training ends; their layers are equal.  One of them keeps a GPU waiting for
launches; all together keep it computing.  Each is trained as it would be alone, to rounding: with
its own order of the rows, its own masks, its own rates, and it ends when its own rules say so.
Once half of the networks have ended, the others go on without them.

The networks of an average (``n_networks``) are trained with those of the other models that have the
same rows.  A model that needs more than training (checkpoints, callbacks, an end game, L-BFGS) is
fitted alone.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from scipy import sparse

from likely._typing import Array, Codes, Matrix
from likely.errors import InvalidInput, TrainingDiverged
from likely.neural.device import (
    as_array,
    checked_device,
    cuda_is_there,
    epoch_orders,
    memory_of,
)
from likely.neural.engine import EngineSettings, TrainingState
from likely.neural.examples import Examples, ExamplesInMemory
from likely.neural.fitting import NetworkFit, better_constant, in_unit_of_y, rules_of, settings_of
from likely.neural.formulas import NetworkRows
from likely.neural.history import LossCurve
from likely.neural.options import plan_of_batches
from likely.neural.problem import TrainingStart, device_for
from likely.neural.settings import Training
from likely.neural.torch_networks import Networks
from likely.neural.training import (
    Ending,
    TrainingResult,
    TrainingRules,
    TrainingRun,
    divergence,
    state_arrays,
)
from likely.output.progress import report
from likely.solvers.mini_batches import BatchPlan, ShuffledBatches

# Networks that are trained together on a GPU.  On an H200 beside 16 cores, 4 at once have 0.28
# times the speed of the cores, 16 have 1.09 times and 64 have 3.48 times.
FEWEST_ALIKE = 16
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
    batches: BatchPlan
    labels: Codes | None = None  # for balanced batches
    evaluate_training: bool = True  # else the running loss of each epoch is recorded


def train_many(
    candidates: Sequence[Candidate], rows: SharedRows, *, device: Any = "cuda"
) -> list[TrainingResult | TrainingDiverged]:
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
        self.outcomes[member] = TrainingResult(theta, state, run.curve, ending, kept)
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


if TYPE_CHECKING:
    from likely.neural.network import NeuralNetwork

Finish = Callable[[], "NeuralNetwork"]  # stores a training that has ended, or raises its error


class Member(NamedTuple):
    """A network that can be trained with others."""

    place: int  # of its model among the models
    number: int  # among the networks of its model
    start: TrainingStart
    candidate: Candidate
    batches: BatchPlan
    evaluate_training: bool


def fit_many(
    models: Sequence["NeuralNetwork"],
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    device: Any = None,
) -> list["NeuralNetwork | TrainingDiverged"]:
    """Fit every model to the same rows, side by side on a GPU; the models themselves are changed.

    ``device`` is that of torch, and by default the GPU that torch finds.  Where there is none, and
    with ``device="cpu"``, the models are fitted one after another by NumPy, which is faster there.
    The answer has the models in their order, and the error in place of one whose loss exploded.
    """
    _refuse_unless_networks(models)
    where = device_for("cuda" if device is None and cuda_is_there() else device, X)
    finishes: list[Finish | None] = [None] * len(models)
    if where is not None:
        finishes = train_together(models, X, y, sample_weight, device=where, fewest=1)
    fitted: list[NeuralNetwork | TrainingDiverged] = []
    for model, finish in zip(models, finishes, strict=True):
        try:
            fitted.append(model.fit(X, y, sample_weight) if finish is None else finish())
        except TrainingDiverged as error:
            fitted.append(error)
    return fitted


def _refuse_unless_networks(models: Any) -> None:
    from likely.neural.network import NeuralNetwork  # here, because it imports this module

    given = models if isinstance(models, Sequence) else [None]
    wrong = [each for each in given if not isinstance(each, NeuralNetwork)]
    if wrong:
        found = models if wrong[0] is None else wrong[0]
        raise InvalidInput(
            f"fit_many was given {found!r}; a list of neural networks was expected. Use "
            "fit_many([NeuralNetworkClassifier(), …], X, y), and fit for other models."
        )


def train_together(
    models: Sequence["NeuralNetwork"],
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    device: Any,
    fewest: int | None = None,
) -> list[Finish | None]:
    """Train on the device the models of which ``fewest`` or more are alike; None for the others.

    The function in place of a model stores what was trained: it warns as ``fit`` does, and raises
    the error of a loss that exploded.
    """
    where, fewest = checked_device(device), FEWEST_ALIKE if fewest is None else fewest
    groups: list[list[Member]] = []
    workers = [copy(model) for model in models]  # what fails leaves a model as it was
    for place, worker in enumerate(workers):
        for member in _members(place, worker, X, y, sample_weight):
            _join(groups, member)
    few = {member.place for group in groups if len(group) < fewest for member in group}
    trained: dict[int, list[tuple[Member, TrainingResult | TrainingDiverged]]] = {}
    for group in groups:
        kept = [member for member in group if member.place not in few]
        if kept:
            candidates = [member.candidate for member in kept]
            outcomes = train_many(candidates, _shared_rows(kept[0]), device=where)
            for member, outcome in zip(kept, outcomes, strict=True):
                trained.setdefault(member.place, []).append((member, outcome))
    return [
        partial(_stored, model, worker, trained[place]) if place in trained else None
        for place, (model, worker) in enumerate(zip(models, workers, strict=True))
    ]


def _members(
    place: int, model: "NeuralNetwork", X: Any, y: Any, sample_weight: Any
) -> list[Member]:
    """The networks of a model as candidates; none where it needs more than training."""
    followed = Training.of(model.training).is_followed or vars(model).get("_skl_callbacks")
    if followed or model.end_game:
        return []
    try:
        options = model.options_on(X, y, sample_weight)
        model.chosen_ = options.chosen.as_dict()
        starts = model.training_starts(options, X, y, sample_weight)
        first = starts[0].problem
        if first.options.quasi_newton or not isinstance(first.training, ExamplesInMemory):
            return []
        return [_member(place, number, start) for number, start in enumerate(starts)]
    except ValueError:  # its own fit says what is wrong
        return []


def _member(place: int, number: int, start: TrainingStart) -> Member:
    problem, training = start.problem, start.problem.training
    return Member(
        place,
        number,
        start,
        Candidate(
            settings_of(problem, training),
            problem.units.inner(problem.architecture, start.theta),
            rules_of(problem),
            problem.seed,
        ),
        plan_of_batches(problem.options, training.n_rows),
        problem.options.training.evaluate,
    )


def _join(groups: list[list[Member]], member: Member) -> None:
    """Put a network with those it can be trained with; equal rows are kept once."""
    for group in groups:
        first = group[0]
        if _are_alike(first, member):
            problem = first.start.problem
            rows = replace(
                member.start.problem,
                training=problem.training,
                validation=problem.validation,
                union=None,
            )
            group.append(member._replace(start=member.start._replace(problem=rows)))
            return
    groups.append([member])


def _are_alike(first: Member, other: Member) -> bool:
    here, there = vars(first.candidate.settings), vars(other.candidate.settings)
    return (
        all(here[name] == there[name] for name in SHARED)
        and first.batches == other.batches
        and first.evaluate_training == other.evaluate_training
        and _same_rows(first.start.problem.training, other.start.problem.training)
        and _same_rows(first.start.problem.validation, other.start.problem.validation)
    )


def _same_rows(first: Examples | None, other: Examples | None) -> bool:
    if not isinstance(first, ExamplesInMemory) or not isinstance(other, ExamplesInMemory):
        return first is other
    if first.weight is None or other.weight is None:
        same_weight = first.weight is other.weight
    else:
        same_weight = np.array_equal(first.weight, other.weight)
    return same_weight and np.array_equal(first.y, other.y) and _equal(first.X, other.X)


def _equal(first: Matrix, other: Matrix) -> bool:
    if first is other:
        return True
    if sparse.issparse(first) or sparse.issparse(other):
        return bool(first.shape == other.shape and (first != other).nnz == 0)
    return np.array_equal(first, other)


def _shared_rows(first: Member) -> SharedRows:
    problem = first.start.problem.in_units()
    labels = problem.training.y if problem.training.y.dtype.kind in "iu" else None
    return SharedRows(
        problem.training, problem.validation, first.batches, labels, first.evaluate_training
    )


def _stored(
    model: "NeuralNetwork",
    worker: "NeuralNetwork",
    trained: Sequence[tuple[Member, TrainingResult | TrainingDiverged]],
) -> "NeuralNetwork":
    fits, in_order = [], sorted(trained, key=lambda each: each[0].number)
    for member, outcome in in_order:
        if isinstance(outcome, TrainingDiverged):
            raise outcome
        problem = member.start.problem
        found = in_unit_of_y(problem, outcome, member.start.theta)
        better = better_constant(problem, found)
        fits.append(NetworkFit(found.theta, state_arrays(outcome.state), found, None, better))
    worker.store_trainings([member.start for member, _ in in_order], fits)
    model.__dict__.update(vars(worker))
    model.warn_unless_finished(fits)
    return model
