"""The steps of a fit: rows, validation, start values, training, the end game.

    search      train on the training rows, judged by the validation rows; epoch t* is the best
    end game    retrain on all rows: for t* epochs, or until the mean loss on all rows is down to
                the training loss of epoch t*

The end game uses rows that were held out; its start values, rates and seeds are those before.

References
----------
Goodfellow, Bengio & Courville, Deep Learning, §7.8 (algorithms 7.2 and 7.3).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.compute.executor import one_blas_thread
from likely.neural.engine import Engine, EngineSettings, engine_for
from likely.neural.history import LossCurve
from likely.neural.objective import NetworkObjective
from likely.neural.tensors.library import memory_of
from likely.neural.training.checkpoint import AnyPath, Checkpoint, Meaning, write_checkpoint
from likely.neural.training.examples import Examples
from likely.neural.training.loop import (
    Callback,
    Epoch,
    Losses,
    Trained,
    TrainingRules,
    advance,
    begun,
    replayed,
    scheduled,
    train,
)
from likely.neural.training.options import Options, batches_for, check_callbacks
from likely.neural.training.problem import TrainingProblem
from likely.neural.training.steps import (
    Ending,
    MiniBatchSteps,
    PartlyFrozen,
    QuasiNewtonSteps,
    Steps,
)
from likely.solvers.updates import Plain

ADVICE = (
    "Try a learning_rate ten times smaller, clipped gradients (solver=Clip(1.0) | Adam()), or "
    "standardised columns."
)
FEWEST_EPOCHS = 30  # after which a network should be better than a constant
MARGIN = 0.05  # by which its loss may be above, in nats a row and of the constant's


class NetworkFit(NamedTuple):
    """What a fit found."""

    theta: Array
    state: dict[str, Array]  # of the steps after the last epoch
    trained: Trained
    end_game: Trained | None
    constant_loss: float | None = None  # of a constant that is clearly better than this fit

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return self.trained.interrupted or bool(self.end_game and self.end_game.interrupted)


@final
@dataclass(frozen=True, eq=False)
class Keeper:
    """Where checkpoints go, and what they mean."""

    path: AnyPath | None
    meaning: Meaning
    seed: int
    phase: int = 0
    earlier: LossCurve | None = None

    def __call__(
        self, state: dict[str, Array], best: Array, curve: LossCurve, start_loss: float
    ) -> None:
        if self.path is not None:
            held = Checkpoint(state, best, curve, start_loss, self.seed, self.phase, self.earlier)
            write_checkpoint(self.path, self.meaning, held)


def fit_network(
    model: Any,
    problem: TrainingProblem,
    start: Array,
    *,
    keeper: Keeper,
    resumed: Checkpoint | None,
    callbacks: Sequence[Callback] = (),
) -> NetworkFit:
    """Train, and play the end game if there is one."""
    called = (*check_callbacks(model.callbacks), *callbacks)
    with one_blas_thread(), memory_of(problem.device):
        if resumed is None or resumed.phase == 0:
            steps, trained = _search(model, problem, start, keeper, resumed, called)
            state = steps.arrays(trained.state)
        else:
            assert resumed.earlier is not None  # a checkpoint of phase 1 has it
            trained, state = _finished(model, problem, resumed.earlier), resumed.state
        if model.end_game is None or trained.interrupted or not trained.curve.n_epochs:
            better = better_constant(model, problem, trained)
            return NetworkFit(trained.theta, state, trained, None, better)
        later = replace(keeper, phase=1, earlier=trained.curve)
        second = resumed if resumed is not None and resumed.phase == 1 else None
        steps, again = _end_game(model, problem, start, trained.curve, later, second, called)
    return NetworkFit(again.theta, steps.arrays(again.state), trained, again)


def better_constant(model: Any, problem: TrainingProblem, trained: Trained) -> float | None:
    """The loss of a constant, where it is clearly below that of the network; else None.

    Not judged are trainings that were to have few epochs, and losses taken before each step.
    """
    curve = trained.curve
    if int(model.max_epochs) < FEWEST_EPOCHS or not curve.n_epochs or not model.evaluate_training:
        return None
    constant = problem.constant_loss()
    worse = curve.loss[trained.kept_epoch - 1] - constant
    return constant if worse > MARGIN * max(abs(constant), 1.0) else None


def worse_than_constant(model: Any, constant_loss: float) -> str:
    """What to say of a fitted model with a higher training loss than a constant."""
    history = model.history_
    return (
        f"{type(model).__name__} has learned nothing: its mean training loss is "
        f"{history.loss[history.kept_epoch - 1]:.4g} after {history.kept_epoch} epochs, and that "
        f"of a constant is {model.response_scale_**2 * constant_loss:.4g}. Standardise the columns "
        "(likely.Prepared), shuffle the rows, or lower learning_rate."
    )


def one_epoch(
    model: Any,
    problem: TrainingProblem,
    start: Array,
    state: dict[str, Array] | None,
    curve: LossCurve,
) -> tuple[Array, dict[str, Array], Epoch]:
    """One epoch from a state, or from the start: θ and the state after it, and its losses."""
    with one_blas_thread(), memory_of(problem.device):
        steps, losses = steps_on(model, problem, problem.training)
        run = begun(steps, start, losses)
        if state:
            run.state = steps.restored({**state, "theta": np.array(start)})
        run.curve = curve
        epoch = advance(steps, rules_of(model, problem.options), losses, run)
    return steps.theta(run.state), steps.arrays(run.state), epoch


def _search(
    model: Any,
    problem: TrainingProblem,
    start: Array,
    keeper: Keeper,
    resumed: Checkpoint | None,
    callbacks: Sequence[Callback],
) -> tuple[Steps[Any], Trained]:
    steps, losses = steps_on(model, problem, problem.training)
    rules = rules_of(model, problem.options)
    keep = None if keeper.path is None else keeper
    trained = train(steps, start, rules, losses, resumed=resumed, keep=keep, callbacks=callbacks)
    return steps, trained


def _end_game(
    model: Any,
    problem: TrainingProblem,
    start: Array,
    curve: LossCurve,
    keeper: Keeper,
    resumed: Checkpoint | None,
    callbacks: Sequence[Callback],
) -> tuple[Steps[Any], Trained]:
    """Retraining on all rows."""
    assert problem.union is not None  # early stopping has held rows out
    steps, losses = steps_on(model, replace(problem, validation=None), problem.union)
    by_loss = model.end_game == "loss"
    rules = replace(
        rules_of(model, problem.options),
        max_epochs=int(model.max_epochs) if by_loss else curve.best,
        level=curve.loss[curve.best - 1] if by_loss else None,
        early_stopping=False,
        tol=None,
    )
    if problem.options.schedule.needs_losses:  # of rows that are trained on now
        rules = replace(rules, rate=replayed(curve.rate))
    keep = None if keeper.path is None else keeper
    return steps, train(
        steps, start, rules, losses, resumed=resumed, keep=keep, callbacks=callbacks
    )


def _finished(model: Any, problem: TrainingProblem, curve: LossCurve) -> Trained:
    """The search before an end game that is resumed; its parameters are needed no more."""
    ending = rules_of(model, problem.options).ending(curve)
    if ending is None:  # a callback ended it, or a limit that is higher now
        ending = Ending("it had ended before this training was resumed", converged=True)
    return Trained(np.empty(0), None, curve, ending, curve.best)


def rules_of(model: Any, options: Options) -> TrainingRules:
    """When training ends, and at which rates."""
    return TrainingRules(
        int(model.max_epochs),
        scheduled(options.schedule),
        options.tol,
        int(model.patience),
        bool(model.early_stopping),
        watch=not options.quasi_newton,
        advice=ADVICE,
    )


def steps_on(model: Any, problem: TrainingProblem, examples: Examples) -> tuple[Steps[Any], Losses]:
    """The steps of training on some rows, and the losses that are recorded."""
    engine = engine_on(problem.device, settings_of(model, problem, examples), examples)
    batches = batches_for(model, examples.n_rows, balanced=problem.balanced)
    size = batches.size
    rows = examples.prepared(engine, size)
    held = None if problem.validation is None else problem.validation.prepared(engine, size)
    losses = Losses(
        rows.loss if model.evaluate_training else None, None if held is None else held.loss
    )
    if problem.options.quasi_newton:
        return _quasi_newton(model, problem, engine, examples), losses
    labels = examples.y if examples.y.dtype.kind in "iu" else None
    return MiniBatchSteps(engine, rows, batches, problem.seed, labels), losses


def _quasi_newton(
    model: Any, problem: TrainingProblem, engine: Engine, examples: Examples
) -> QuasiNewtonSteps:
    rows = examples.prepared(engine, examples.n_rows).whole()
    total = examples.weight_total
    # one batch of all rows: "mean" and "epoch" both add the whole penalty to the mean loss
    factor = 1.0 if model.penalty_scaling == "sum" else total
    objective = NetworkObjective(
        problem.architecture, problem.output, rows, l2=factor * float(model.l2), unit=total
    )
    frozen = engine.settings.frozen
    if frozen is None:
        return QuasiNewtonSteps(objective, total)
    return QuasiNewtonSteps(PartlyFrozen(objective, frozen, total), total)


def settings_of(model: Any, problem: TrainingProblem, examples: Examples) -> EngineSettings:
    """What the epochs of a model on some rows depend on."""
    return EngineSettings(
        problem.architecture,
        problem.output,
        problem.options.update or Plain(),
        n_rows_total=examples.n_rows,
        weight_total=examples.weight_total,
        dropout=problem.dropout,
        l1=float(model.l1),
        l2=float(model.l2),
        penalty_scaling=model.penalty_scaling,
        trainable=problem.trainable,
        seed=problem.seed,
        dtype=problem.options.dtype,
    )


def engine_on(device: Any, settings: EngineSettings, examples: Examples) -> Engine:
    """The engine of a torch device; None is this machine's processor, without torch."""
    if device is None:
        return engine_for(settings, examples.some_columns())
    from likely.neural.torch_engine import TorchEngine  # here: most users have no GPU

    return TorchEngine(settings, device)
