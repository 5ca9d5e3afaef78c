"""Fit many networks at once: those with equal layers and rows are trained side by side.

What can differ within a group are the start values, rates and schedules, penalties, dropout,
seeds, and when training ends.  The networks of an average (``n_networks``) are trained with those
of the other models that have the same rows.  A model that needs more than training (checkpoints,
callbacks, an end game, L-BFGS) is fitted alone.  Each model is the one that ``fit`` gives, to
rounding.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from likely._typing import Matrix
from likely.errors import InvalidInput, TrainingDiverged
from likely.neural.devices import checked_device, cuda_is_there, device_for
from likely.neural.many import SHARED, Candidate, SharedRows, train_many
from likely.neural.training.examples import Examples, ExamplesInMemory
from likely.neural.training.fitting import (
    NetworkFit,
    better_constant,
    in_unit_of_y,
    rules_of,
    settings_of,
)
from likely.neural.training.loop import Trained
from likely.neural.training.options import batches_for
from likely.neural.training.problem import TrainingStart
from likely.neural.training.steps import state_arrays
from likely.solvers.mini_batches import Batches

if TYPE_CHECKING:
    from likely.neural.network import NeuralNetwork

Finish = Callable[[], "NeuralNetwork"]  # stores a training that has ended, or raises its error
MORE_THAN_TRAINING = ("checkpoint", "resume", "callbacks", "end_game", "_skl_callbacks")


class Member(NamedTuple):
    """A network that can be trained with others."""

    place: int  # of its model among the models
    number: int  # among the networks of its model
    start: TrainingStart
    candidate: Candidate
    batches: Batches
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
    fewest: int,
) -> list[Finish | None]:
    """Train on the device the models of which ``fewest`` or more are alike; None for the others.

    The function in place of a model stores what was trained: it warns as ``fit`` does, and raises
    the error of a loss that exploded.
    """
    where = checked_device(device)
    groups: list[list[Member]] = []
    workers = [_settled(model, X) for model in models]
    for place, worker in enumerate(workers):
        for member in _members(place, worker, X, y, sample_weight):
            _join(groups, member)
    few = {member.place for group in groups if len(group) < fewest for member in group}
    trained: dict[int, list[tuple[Member, Trained | TrainingDiverged]]] = {}
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


def _settled(model: "NeuralNetwork", X: Any) -> "NeuralNetwork":
    """The copy that trains; the model itself where an argument is wrong, as its own fit says."""
    try:
        return model.settled_copy(X)
    except ValueError:
        return model


def _members(
    place: int, model: "NeuralNetwork", X: Any, y: Any, sample_weight: Any
) -> list[Member]:
    """The networks of a model as candidates; none where it needs more than training."""
    given = vars(model)
    if any(given.get(name) for name in MORE_THAN_TRAINING):
        return []
    try:
        starts = model.training_starts(X, y, sample_weight)
        first = starts[0].problem
        if first.options.quasi_newton or not isinstance(first.training, ExamplesInMemory):
            return []
        return [_member(place, number, model, start) for number, start in enumerate(starts)]
    except ValueError:  # its own fit says what is wrong
        return []


def _member(place: int, number: int, model: "NeuralNetwork", start: TrainingStart) -> Member:
    problem, training = start.problem, start.problem.training
    return Member(
        place,
        number,
        start,
        Candidate(
            settings_of(model, problem, training),
            problem.units.inner(problem.architecture, start.theta),
            rules_of(model, problem),
            problem.seed,
        ),
        batches_for(model, training.n_rows, balanced=problem.balanced),
        bool(vars(model)["evaluate_training"]),
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
    trained: Sequence[tuple[Member, Trained | TrainingDiverged]],
) -> "NeuralNetwork":
    fits, in_order = [], sorted(trained, key=lambda each: each[0].number)
    for member, outcome in in_order:
        if isinstance(outcome, TrainingDiverged):
            raise outcome
        problem = member.start.problem
        found = in_unit_of_y(problem, outcome, member.start.theta)
        better = better_constant(worker, problem, found)
        fits.append(NetworkFit(found.theta, state_arrays(outcome.state), found, None, better))
    try:
        worker.store_trainings([member.start for member, _ in in_order], fits)
    finally:
        model.take_over(worker)
    return model
