"""The steps of a fit: rows, validation, start values, training, the end game.

    search      train on the training rows, judged by the validation rows; epoch t* is the best
    end game    retrain on all rows: for t* epochs, or until the mean loss on all rows is down to
                the training loss of epoch t*

The end game is a fit on all rows: its start values, centre and scale are those of all rows; its
rates and seeds are those before.

References
----------
Goodfellow, Bengio & Courville, Deep Learning, §7.8 (algorithms 7.2 and 7.3).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any, NamedTuple

import numpy as np
from sklearn.callback import CallbackSupportMixin
from sklearn.exceptions import ConvergenceWarning

from likely._typing import Array
from likely.compute.executor import one_blas_thread
from likely.errors import warn_user
from likely.neural.architecture import check_parameters
from likely.neural.checkpoint import Checkpoint, Keeper, check_state
from likely.neural.engine import Engine, EngineSettings, engine_for
from likely.neural.examples import Examples, ExamplesInMemory
from likely.neural.history import History, LossCurve
from likely.neural.objective import NetworkObjective
from likely.neural.options import FEW_ROWS, FITTED, plan_of_batches
from likely.neural.problem import TrainingProblem, TrainingStart
from likely.neural.training import (
    Callback,
    Ending,
    Epoch,
    Losses,
    MiniBatchSteps,
    PartlyFrozen,
    QuasiNewtonSteps,
    Steps,
    TrainingResult,
    TrainingRules,
    advance,
    begun,
    replayed,
    scheduled,
    train,
)
from likely.solvers.line_search import NO_LOWER_VALUE
from likely.solvers.updates import Plain

ADVICE = (
    "Try a learning_rate ten times smaller, clipped gradients (solver=Clip(1.0) | Adam()), or "
    "standardised columns."
)
FEWEST_EPOCHS = 30  # after which a network should be better than a constant
MARGIN = 0.05  # by which its loss may be above, in nats or variances of y and of the constant's


class NetworkFit(NamedTuple):
    """What a fit found."""

    theta: Array
    state: dict[str, Array]  # of the steps after the last epoch
    trained: TrainingResult
    end_game: TrainingResult | None
    constant_loss: float | None = None  # of a constant that is clearly better than this fit

    @property
    def by_quasi_newton(self) -> bool:
        """Whether its steps were those of L-BFGS."""
        return "measures" in self.state

    @property
    def objective(self) -> float:
        """What L-BFGS has come to: the summed loss with the penalty, in the units of training."""
        return float(self.state["measures"][0])

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return self.trained.interrupted or bool(self.end_game and self.end_game.interrupted)


def fit_network(begin: TrainingStart, *, callbacks: Sequence[Callback] = ()) -> NetworkFit:
    """Train, and play the end game if there is one; θ and losses are in the unit of y."""
    problem, start, _, keeper, resumed = begin
    if resumed is not None:
        for theta in (resumed.best, resumed.state["theta"]):
            check_parameters(problem.architecture, theta, problem.output)
    called = (*problem.options.callbacks, *callbacks)
    with one_blas_thread():
        if resumed is None or resumed.phase == 0:
            steps, trained = _search(problem, start, keeper, resumed, called)
            state = steps.arrays(trained.state)
        else:
            assert resumed.earlier is not None  # a checkpoint of phase 1 has it
            trained, state = _finished(problem, resumed.earlier), resumed.state
        found = in_unit_of_y(problem, trained, start)
        if problem.options.end_game is None or trained.interrupted or not trained.curve.n_epochs:
            better = better_constant(problem, found)
            return NetworkFit(found.theta, state, found, None, better)
        later = None if keeper is None else replace(keeper, phase=1, earlier=trained.curve)
        second = resumed if resumed is not None and resumed.phase == 1 else None
        whole = problem.on_all_rows()
        start = whole.start()
        steps, again = _end_game(whole, start, found.curve, later, second, called)
        ended = in_unit_of_y(whole, again, start)
    return NetworkFit(ended.theta, steps.arrays(again.state), found, ended)


def fit_networks(starts: Sequence[TrainingStart]) -> list[NetworkFit]:
    """Train networks one after another; Ctrl-C ends it with those that are done."""
    if starts[0].problem.options.chosen.starts > 1:
        return [_fit_from_best_start(starts[0])]
    fits = list[NetworkFit]()
    for start in starts:
        fits.append(fit_network(start))
        if fits[-1].interrupted:
            break
    return fits


def _fit_from_best_start(begin: TrainingStart) -> NetworkFit:
    """Train from several start values, and keep the training that ends at the lowest loss."""
    chosen, first = begin.problem.options.chosen, begin.problem.seed
    whole, training = begin.problem, begin.problem.training
    if isinstance(training, ExamplesInMemory) and training.n_rows > FEW_ROWS:
        whole = replace(whole, training=training.merged())
    enough = FITTED * begin.problem.units.square
    best: NetworkFit | None = None
    for number in range(chosen.starts):
        problem = replace(whole, seed=first + number)
        fit = fit_network(TrainingStart(problem, problem.start(), begin.learned))
        if best is None or fit.objective < best.objective:
            best = fit
        if fit.interrupted or min(fit.trained.curve.loss, default=inf) <= enough:
            break
    assert best is not None, "there is one start at least"
    ending = best.trained.ending
    if best.trained.curve.n_epochs < chosen.max_epochs and not best.interrupted:
        # at a kink of relu no step is lower, and the other starts were no better
        reason = f"the best of {number + 1} starts: {ending.reason}"
        ended = replace(best.trained, ending=Ending(reason, converged=True))
        best = best._replace(trained=ended)
    return best


def in_unit_of_y(problem: TrainingProblem, trained: TrainingResult, start: Array) -> TrainingResult:
    """How training in the units of a problem ended, in the unit of y; frozen layers unchanged."""
    if problem.units.are_those_of_y:
        return trained
    theta = trained.theta
    if theta.size:  # not those of a search before an end game that is resumed
        theta = _frozen_kept(problem, problem.units.theta(problem.architecture, theta), start)
    return replace(trained, theta=theta, curve=trained.curve.times(problem.units.square))


def _frozen_kept(problem: TrainingProblem, theta: Array, start: Array) -> Array:
    """θ with the layers that are not trained as they were: there and back would round them."""
    if problem.trainable is None:
        return theta
    return np.where(problem.architecture.trainable_mask(problem.trainable), theta, start)


def better_constant(problem: TrainingProblem, trained: TrainingResult) -> float | None:
    """The loss of a constant, where it is clearly below that of the network; else None.

    Not judged are trainings that were to have few epochs, and losses taken before each step.
    """
    curve = trained.curve
    options = problem.options
    if options.max_epochs < FEWEST_EPOCHS or not curve.n_epochs or not options.training.evaluate:
        return None
    constant = problem.constant_loss()
    worse = curve.loss[trained.kept_epoch - 1] - constant
    return constant if worse > MARGIN * max(abs(constant), problem.units.square) else None


def warn_unless_finished(
    model: str, fit: NetworkFit, history: History, *, is_average: bool
) -> None:
    """Warn of training that was not finished; raise the Ctrl-C that ended it."""
    if fit.interrupted:
        raise KeyboardInterrupt
    ending = (fit.end_game or fit.trained).ending
    if fit.constant_loss is not None and not is_average:  # an average is shrunk
        warn_user(
            f"{model} has learned nothing: its mean training loss is "
            f"{history.loss[history.kept_epoch - 1]:.4g} after {history.kept_epoch} epochs, and "
            f"that of a constant is {fit.constant_loss:.4g}. Standardise the columns "
            "(likely.Prepared), shuffle the rows, or lower learning_rate.",
            ConvergenceWarning,
        )
        return
    if ending.converged or not (fit.end_game or fit.trained).curve.n_epochs:  # none were asked for
        return
    what = "" if fit.end_game is None else ", and the loss of the search was not reached"
    if ending.reason == NO_LOWER_VALUE:  # at a kink: more epochs change nothing
        advice = "Try another random_state, a smooth activation such as 'tanh', or solver='adam'."
    else:
        rate = "" if fit.by_quasi_newton else " or learning_rate"
        advice = f"Raise max_epochs{rate}, or give tol=None to train for max_epochs."
    warn_user(f"{model} did not converge: {ending.reason}{what}. {advice}", ConvergenceWarning)


def one_epoch(
    problem: TrainingProblem,
    start: Array,
    state: dict[str, Array] | None,
    curve: LossCurve,
) -> tuple[Array, dict[str, Array], Epoch]:
    """One epoch from a state, or from the start: θ and the state after it, and its losses.

    The start, the curve, θ and the losses are in the unit of y.
    """
    inner = problem.units.inner(problem.architecture, start).astype(problem.options.dtype)
    rules = rules_of(problem)
    with one_blas_thread():
        steps, losses = steps_on(problem.in_units())
        run = begun(steps, inner, losses)
        if state:
            state = {**state, "theta": np.array(inner)}
            check_state(state, steps.arrays(run.state))
            run.state = steps.restored(state)
        run.curve = curve.times(1 / problem.units.square)
        epoch = rules.shown(advance(steps, rules, losses, run))
    return _frozen_kept(problem, epoch.theta, start), steps.arrays(run.state), epoch


def _search(
    problem: TrainingProblem,
    start: Array,
    keeper: Keeper | None,
    resumed: Checkpoint | None,
    callbacks: Sequence[Callback],
) -> tuple[Steps[Any], TrainingResult]:
    steps, losses = steps_on(problem.in_units())
    rules, inner = rules_of(problem), problem.units.inner(problem.architecture, start)
    trained = train(steps, inner, rules, losses, resumed=resumed, keep=keeper, callbacks=callbacks)
    return steps, trained


def _end_game(
    problem: TrainingProblem,
    start: Array,
    curve: LossCurve,
    keeper: Keeper | None,
    resumed: Checkpoint | None,
    callbacks: Sequence[Callback],
) -> tuple[Steps[Any], TrainingResult]:
    """A fit on all rows, for as long as the curve of the search says, in the unit of y."""
    steps, losses = steps_on(problem.in_units())
    by_loss = problem.options.end_game == "loss"
    rules = replace(
        rules_of(problem),
        max_epochs=problem.options.max_epochs if by_loss else curve.best,
        level=curve.loss[curve.best - 1] / problem.units.square if by_loss else None,
        early_stopping=False,
        tol=None,
    )
    if problem.options.schedule.needs_losses:  # of rows that are trained on now
        rules = replace(rules, rate=replayed(curve.rate))
    inner = problem.units.inner(problem.architecture, start)
    return steps, train(
        steps, inner, rules, losses, resumed=resumed, keep=keeper, callbacks=callbacks
    )


def _finished(problem: TrainingProblem, curve: LossCurve) -> TrainingResult:
    """The search before an end game that is resumed; its parameters are needed no more."""
    ending = rules_of(problem).ending(curve)
    if ending is None:  # a callback ended it, or a limit that is higher now
        ending = Ending("it had ended before this training was resumed", converged=True)
    return TrainingResult(np.empty(0), None, curve, ending, curve.best)


def rules_of(problem: TrainingProblem) -> TrainingRules:
    """When training ends, at which rates, and how its epochs are shown: in the unit of y."""
    options, units = problem.options, problem.units
    return TrainingRules(
        options.max_epochs,
        scheduled(options.schedule),
        options.tol,
        options.patience,
        options.early_stopping,
        watch=not options.quasi_newton,
        advice=ADVICE,
        unit=units.square,
        theta_of=partial(units.theta, problem.architecture),
    )


def steps_on(problem: TrainingProblem) -> tuple[Steps[Any], Losses]:
    """The steps of training on the rows of a problem, and the losses that are recorded."""
    examples = problem.training
    engine = engine_on(problem.device, settings_of(problem, examples), examples)
    batches = plan_of_batches(problem.options, examples.n_rows)
    size = batches.size
    rows = examples.prepared(engine, size)
    held = None if problem.validation is None else problem.validation.prepared(engine, size)
    losses = Losses(
        rows.loss if problem.options.training.evaluate else None,
        None if held is None else held.loss,
    )
    if problem.options.quasi_newton:
        return _quasi_newton(problem, engine, examples), losses
    labels = examples.y if examples.y.dtype.kind in "iu" else None
    return MiniBatchSteps(engine, rows, batches, problem.seed, labels), losses


def _quasi_newton(problem: TrainingProblem, engine: Engine, examples: Examples) -> QuasiNewtonSteps:
    rows = examples.prepared(engine, examples.n_rows).whole()
    total = examples.weight_total
    # one batch of all rows: "mean" and "epoch" both add the whole penalty to the mean loss
    factor = 1.0 if problem.options.penalty.scaling == "sum" else total
    _, l2 = problem.strengths
    objective = NetworkObjective(
        problem.architecture, problem.output, rows, l2=factor * l2, unit=total
    )
    frozen = engine.settings.frozen
    if frozen is None:
        return QuasiNewtonSteps(objective, total)
    return QuasiNewtonSteps(PartlyFrozen(objective, frozen, total), total)


def settings_of(problem: TrainingProblem, examples: Examples) -> EngineSettings:
    """What the epochs of a model on some rows depend on."""
    l1, l2 = problem.strengths
    return EngineSettings(
        problem.architecture,
        problem.output,
        problem.options.update or Plain(),
        n_rows_total=examples.n_rows,
        weight_total=examples.weight_total,
        dropout=problem.dropout,
        l1=l1,
        l2=l2,
        penalty_scaling=problem.options.penalty.scaling,
        trainable=problem.trainable,
        seed=problem.seed,
        dtype=problem.options.dtype,
    )


def engine_on(device: Any, settings: EngineSettings, examples: Examples) -> Engine:
    """The engine of a torch device; None is this machine's processor, without torch."""
    if device is None:
        return engine_for(settings, examples.some_columns())
    from likely.neural.torch_networks import TorchEngine  # here: most users have no GPU

    return TorchEngine(settings, device)


def scikit_learn_callbacks(
    model: CallbackSupportMixin, learned: dict[str, Any], max_epochs: int, X: Any, y: Any
) -> tuple[Callback, ...]:
    """The callbacks that were set in scikit-learn's way, as one that is called with each epoch.

    ``ProgressBar`` and ``ScoringMonitor`` of ``sklearn.callback`` are set by ``set_callbacks``: the
    fit is a task, and each epoch is one inside it.
    """
    context = model._init_callback_context(max_subtasks=max_epochs)
    if not vars(model).get("_skl_callbacks"):
        return ()
    context.call_on_fit_task_begin(estimator=model, X=X, y=y)

    def after(epoch: Epoch) -> bool:
        part = context.subcontext(task_name="epoch")
        part.call_on_fit_task_begin(estimator=model, X=X, y=y)
        fitted = {**learned, "parameters_": np.array(epoch.theta)}
        return bool(
            part.call_on_fit_task_end(estimator=model, X=X, y=y, reconstruction_attributes=fitted)
        )

    return (after,)


def end_of_fit(model: CallbackSupportMixin, X: Any, y: Any) -> None:
    """Tell the callbacks of scikit-learn that the fit is done."""
    if vars(model).get("_skl_callbacks"):
        fitted = {name: value for name, value in vars(model).items() if name.endswith("_")}
        model._callback_fit_ctx.call_on_fit_task_end(
            estimator=model, X=X, y=y, reconstruction_attributes=fitted
        )
