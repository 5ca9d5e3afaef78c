"""Fit many networks at once: those with equal layers and rows are trained side by side.

What can differ within a group are the start values, rates and schedules, penalties, dropout,
seeds, and when training ends.  A network that has no equal, or that needs more than training
(checkpoints, callbacks, an end game, L-BFGS), is fitted alone.  Each network is the one that
``fit`` gives, to rounding.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from likely._typing import Matrix
from likely.errors import TrainingDiverged
from likely.neural.examples import Examples, ExamplesInMemory
from likely.neural.fitting import NetworkFit, rules_of, settings_of
from likely.neural.many import SHARED, Candidate, SharedRows, train_many
from likely.neural.network import NeuralNetwork
from likely.neural.options import batches_for
from likely.neural.problem import TrainingStart
from likely.neural.steps import state_arrays
from likely.neural.tensors.library import checked_device
from likely.neural.training import Trained
from likely.solvers.mini_batches import Batches

Fitted = NeuralNetwork | TrainingDiverged


class Member(NamedTuple):
    """A network that can be trained with others."""

    place: int  # among the models
    start: TrainingStart
    candidate: Candidate
    batches: Batches
    evaluate_training: bool


def fit_many(
    models: Sequence[NeuralNetwork],
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    device: Any = "cuda",
) -> list[Fitted]:
    """Fit every model to the same rows, on a torch device; the models themselves are changed.

    The answer has the models in their order, and the error in place of one whose loss exploded.
    """
    where = checked_device(device)
    fitted: list[Fitted] = list(models)
    groups: list[list[Member]] = []
    for place, model in enumerate(models):
        member = _member(place, model, X, y, sample_weight)
        if member is None:
            fitted[place] = _fitted_alone(model, X, y, sample_weight)
        else:
            _join(groups, member)
    for group in groups:
        candidates = [member.candidate for member in group]
        outcomes = train_many(candidates, _shared_rows(group[0]), device=where)
        for member, outcome in zip(group, outcomes, strict=True):
            fitted[member.place] = _stored(models[member.place], member.start, outcome)
    return fitted


def _member(place: int, model: NeuralNetwork, X: Any, y: Any, sample_weight: Any) -> Member | None:
    """The model as a candidate; None where it needs more than training."""
    given = vars(model)
    more = ("checkpoint", "resume", "callbacks", "end_game", "_skl_callbacks")
    if any(given.get(name) for name in more):
        return None
    start = model.training_start(X, y, sample_weight)
    problem = start.problem
    if problem.options.quasi_newton or not isinstance(problem.training, ExamplesInMemory):
        return None
    training = problem.training
    return Member(
        place,
        start,
        Candidate(
            settings_of(model, problem, training),
            start.theta,
            rules_of(model, problem.options),
            problem.seed,
        ),
        batches_for(model, training.n_rows, balanced=problem.balanced),
        bool(given["evaluate_training"]),
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
    problem = first.start.problem
    labels = problem.training.y if problem.training.y.dtype.kind in "iu" else None
    return SharedRows(
        problem.training, problem.validation, first.batches, labels, first.evaluate_training
    )


def _stored(
    model: NeuralNetwork, start: TrainingStart, outcome: Trained | TrainingDiverged
) -> Fitted:
    if isinstance(outcome, TrainingDiverged):
        return outcome
    fit = NetworkFit(outcome.theta, state_arrays(outcome.state), outcome, None)
    model.store_training(start, fit)
    return model


def _fitted_alone(model: NeuralNetwork, X: Any, y: Any, sample_weight: Any) -> Fitted:
    try:
        return model.fit(X, y, sample_weight)
    except TrainingDiverged as error:
        return error
