"""What classifying and regressing networks share: how they are fitted, continued and inspected.

    η = a^(L),    a^(l+1) = W^(l) g(a^(l)) + b^(l),    a^(1) = W^(0) x + b^(0)
    minimise  Σ_i w_i loss(y_i, η_i) + l1 Σ |w| + ½ l2 Σ w²      over weights, not biases

References
----------
Bishop, Pattern Recognition and Machine Learning, §5.1 to §5.3.
Goodfellow, Bengio & Courville, Deep Learning, chapters 6 to 8.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from math import inf
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.errors import InvalidInput, warn_user
from likely.inputs.estimators import (
    columns_named,
    refuse_unless_whole,
    unchanged_if_refused,
)
from likely.inputs.tables import is_file, n_rows_of, refuse_file
from likely.neural.average import (
    AverageFit,
    Averaging,
    NetworkAverage,
    averaged,
    problems_of_several,
    refuse_several,
)
from likely.neural.devices import device_for
from likely.neural.formulas import NetworkRows
from likely.neural.history import History, LossCurve
from likely.neural.many_models import Finish, train_together
from likely.neural.objective import NetworkObjective
from likely.neural.outputs import Output
from likely.neural.snapshots import epoch_snapshots
from likely.neural.strengths import column_strengths
from likely.neural.surface import FittedNetwork
from likely.neural.training.callbacks import end_of_fit, scikit_learn_callbacks
from likely.neural.training.checkpoint import meaning_of_network, path_of_network
from likely.neural.training.examples import Examples
from likely.neural.training.fitting import (
    Keeper,
    NetworkFit,
    fit_network,
    one_epoch,
    worse_than_constant,
)
from likely.neural.training.loop import Trained
from likely.neural.training.options import (
    FITTED,
    PLAIN,
    Options,
    checked_options,
    settled,
    trainable_layers,
)
from likely.neural.training.problem import (
    OpenedRows,
    TrainingProblem,
    TrainingStart,
    assembled,
    known_rows,
    meaning_of,
    resumed_training,
    seed_of,
    validation_rows,
)
from likely.neural.training.steps import Ending, continued_state, kept_state
from likely.neural.units import ResponseUnits, weight_strengths
from likely.objectives.model import Reduction

# Networks that are trained together on a GPU.  On an H200 beside 16 cores, 4 at once have 0.28
# times the speed of the cores, 16 have 1.09 times and 64 have 3.48 times.
FEWEST_ALIKE = 16
OF_TRAINING = ("callbacks", "checkpoint", "device", "resume", "validation")  # not of the model


class NeuralNetwork(CallbackSupportMixin, FittedNetwork, ABC):
    """Layers of units that are trained together by one loss."""

    saved_as_none: ClassVar[tuple[str, ...]] = OF_TRAINING

    state_: dict[str, Array]  # what the update rule remembers, for partial_fit
    column_strengths_: Array  # of each input, as shares
    chosen_: dict[str, Any]  # how it was trained, where arguments were "auto"

    @abstractmethod
    def _opened(self, X: Any, y: Any, sample_weight: Any) -> OpenedRows:
        """Rows to learn from, checked."""

    @abstractmethod
    def _output(self, rows: OpenedRows) -> Output:
        """The likelihood of the output."""

    @abstractmethod
    def _rows_of(self, examples: Examples, classes: Array) -> Examples:
        """Further rows, with the weights of their classes."""

    @abstractmethod
    def _learned(self, problem: TrainingProblem, rows: OpenedRows) -> dict[str, Any]:
        """What is learned before training: the classes."""

    @abstractmethod
    def _scales_response(self, output: Output) -> bool:
        """Whether y is centred and scaled in training."""

    @abstractmethod
    def _averaging(self, output: Output) -> Averaging:
        """How several networks are averaged."""

    def _finish(self, problem: TrainingProblem) -> None:  # most have nothing to add
        """Store what is learned after training."""

    def _finish_average(self, fit: AverageFit) -> None:  # most have nothing to add
        """Store what several networks say together."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on rows X with targets y.

        X is an array, a CSR array, a data frame, or a file (its path, or ``likely.read``), which is
        read in windows; with a frame or a file, the other arguments may be names of its columns.
        Ctrl-C ends the training with KeyboardInterrupt; the model is then fitted, and is that of
        the last epoch.
        """
        worker = self.settled_copy(X)
        try:
            worker._train(X, y, sample_weight)
        finally:
            self.take_over(worker)
        return self

    def settled_copy(self, X: Any) -> Self:
        """A copy that trains on such rows, with a value for each argument that is "auto"."""
        try:
            n_rows = None if is_file(X) else n_rows_of(X)
        except TypeError:  # no length, but perhaps an array inside; else the fit refuses it
            n_rows = next(iter(np.shape(np.asarray(X))), None)
        worker, chosen = copy(self), settled(self, n_rows)
        worker.__dict__.update({name: each for name, each in chosen.items() if name != "starts"})
        refuse_unless_whole("n_networks", worker.n_networks, lowest=1, advice="Use 5.")
        names = (*PLAIN, "solver")
        said = {name: vars(worker)[name] for name in names}
        worker.chosen_ = {**said, "solver": _name_of(said["solver"]), "starts": chosen["starts"]}
        return worker

    def take_over(self, worker: "NeuralNetwork") -> None:
        """Keep what a copy has learned; the arguments stay as they were given."""
        given = self.get_params(deep=False)
        self.__dict__.update({k: each for k, each in vars(worker).items() if k not in given})

    def _train(self, X: Any, y: Any, sample_weight: Any) -> None:
        if self.n_networks > 1:
            self._fit_several(X, y, sample_weight)
        elif self.chosen_["starts"] > 1:
            self._warn_unless_finished(self._fitted_from_best_start(X, y, sample_weight))
        else:
            self._warn_unless_finished(self._fitted(X, y, sample_weight))

    def _fitted_from_best_start(self, X: Any, y: Any, sample_weight: Any) -> NetworkFit:
        """Train from several start values, and keep the training that ends at the lowest loss."""
        begun = self.training_start(X, y, sample_weight)
        enough = FITTED * begun.problem.units.square
        best: NetworkFit | None = None
        for number in range(self.chosen_["starts"]):
            problem = replace(begun.problem, seed=begun.problem.seed + number)
            keeper = Keeper(None, begun.meaning, problem.seed)
            fit = fit_network(self, problem, problem.start(), keeper=keeper, resumed=None)
            if best is None or fit.objective < best.objective:
                best = fit
            if fit.interrupted or min(fit.trained.curve.loss, default=inf) <= enough:
                break
        assert best is not None, "there is one start at least"
        ending = best.trained.ending
        if best.trained.curve.n_epochs < int(self.max_epochs) and not best.interrupted:
            # at a kink of relu no step is lower, and the other starts were no better
            reason = f"the best of {number + 1} starts: {ending.reason}"
            ended = replace(best.trained, ending=Ending(reason, converged=True))
            best = best._replace(trained=ended)
        self.store_training(begun, best)
        return best

    def _fit_several(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Train several networks, one after another; Ctrl-C ends it with those that are done."""
        starts, fits = self.training_starts(X, y, sample_weight), list[NetworkFit]()
        for number, (problem, theta, _, meaning, resumed) in enumerate(starts):
            path = None if self.checkpoint is None else path_of_network(self.checkpoint, number)
            keeper = Keeper(path, meaning, problem.seed)
            fits.append(fit_network(self, problem, theta, keeper=keeper, resumed=resumed))
            if fits[-1].interrupted:
                break
        self.store_trainings(starts[: len(fits)], fits)

    @with_callbacks
    def _fitted(self, X: Any, y: Any, sample_weight: Any) -> NetworkFit:
        start = self.training_start(X, y, sample_weight)
        fit = fit_network(
            self,
            start.problem,
            start.theta,
            keeper=Keeper(self.checkpoint, start.meaning, start.problem.seed),
            resumed=start.resumed,
            callbacks=scikit_learn_callbacks(self, start.learned, X, y),
        )
        self.store_training(start, fit)
        end_of_fit(self, X, y)
        return fit

    def training_start(self, X: Any, y: Any, sample_weight: Any) -> TrainingStart:
        """The problem of a fit, checked, and where its training starts."""
        options = checked_options(self, in_file=is_file(X))
        rows = self._opened(X, y, sample_weight)
        output = self._output(rows)
        held = self._held(rows)
        meaning = meaning_of(self, rows, output, options, held)
        resumed = resumed_training(self, meaning)
        seed = seed_of(self.random_state) if resumed is None else resumed.seed
        problem = assembled(self, rows, output, options, held, seed)
        learned = self._common(problem, rows)
        return TrainingStart(problem, problem.start(), learned, meaning, resumed)

    def training_starts(self, X: Any, y: Any, sample_weight: Any) -> list[TrainingStart]:
        """The start of each of the networks of a fit: of one, or of those that are averaged."""
        if self.n_networks == 1:
            return [self.training_start(X, y, sample_weight)]
        options = checked_options(self, in_file=is_file(X))
        rows = self._opened(X, y, sample_weight)
        held = self._held(rows)
        meaning = meaning_of(self, rows, self._output(rows), options, held)
        first = resumed_training(self, meaning_of_network(meaning, 0, self.n_networks), 0)
        seed = seed_of(self.random_state) if first is None else first.seed
        starts, learned = list[TrainingStart](), dict[str, Any]()
        for number, problem in enumerate(problems_of_several(self, rows, options, held, seed)):
            own = meaning_of_network(meaning, number, self.n_networks)
            resumed = resumed_training(self, own, number)
            if resumed is not None and resumed.seed != problem.seed:
                resumed = None  # of an earlier training without random_state
            learned = learned or self._common(problem, rows)
            starts.append(TrainingStart(problem, problem.start(), learned, own, resumed))
        return starts

    def store_training(self, start: TrainingStart, fit: NetworkFit) -> None:
        """Keep what a training from this start has found."""
        self._remember(start.learned)
        self._store(fit, start.problem)

    def store_trainings(self, starts: Sequence[TrainingStart], fits: Sequence[NetworkFit]) -> None:
        """Keep what the networks of a fit have found; of several, the first is inspected."""
        self.store_training(starts[0], fits[0])
        if self.n_networks > 1:
            found = averaged(self, [start.problem for start in starts], fits)
            each = [self._of_training(fit.trained) for fit in fits]
            self.average_ = NetworkAverage(
                np.stack([fit.theta for fit in fits]),
                found.shrinkage,
                found.constant,
                tuple(one.of_network(number, len(each)) for number, one in enumerate(each)),
            )
            self.history_ = self.average_.histories[0]
            thetas = [fit.theta for fit in fits]
            self.column_strengths_ = column_strengths(starts[0].problem, thetas)
            self._finish_average(found)
        unfinished = [fit for fit in fits if not fit.trained.ending.converged]
        self._warn_unless_finished((unfinished or fits)[0])

    def train_with(
        self,
        others: Sequence["NeuralNetwork"],
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        device: Any,
    ) -> list[Finish | None]:
        """Train this model and others on the same rows in one computation on a torch device.

        For this model and each other one the answer has a function that stores what was trained and
        returns the model, or raises its error; None for one that has no equal: fit it alone.
        """
        return train_together(
            [self, *others], X, y, sample_weight, device=device, fewest=FEWEST_ALIKE
        )

    def fine_tune(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        layers: Sequence[int] = (-1,),
        learning_rate: float | None = None,
        max_epochs: int | None = None,
    ) -> Self:
        """Train some layers further, on rows as frequent as they are; the others stay unchanged.

        ``layers`` are numbers of layers, from 0; −1 is that of the output.  After training with
        ``balanced=True``, which gives every class the same share, this restores the frequencies of
        the classes.  The rate and the number of epochs are those of the model, unless others are
        given.  Rows are in memory.
        """
        check_is_fitted(self)
        refuse_several(self, "fine_tune")
        trainable_layers(layers, self.architecture_, "layers")
        changed: dict[str, Any] = {"trainable": layers, "end_game": None}
        changed |= {} if learning_rate is None else {"learning_rate": learning_rate}
        changed |= {} if max_epochs is None else {"max_epochs": max_epochs}
        changed |= {"balanced": False} if "balanced" in vars(self) else {}
        settings = type(self)(**{**self.get_params(deep=False), **changed})
        settings.__dict__.update(settled(settings, n_rows_of(X), one=True))
        options = checked_options(settings)
        with unchanged_if_refused(self), columns_named(self):
            problem = self._further(settings, options, X, y, sample_weight)
            start, keeper = np.array(self.parameters_), Keeper(None, {}, self.seed_)
            fit = fit_network(settings, problem, start, keeper=keeper, resumed=None)
            self._store(fit, problem)
        self._warn_unless_finished(fit)
        return self

    def objective(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reduction: Reduction = "sum"
    ) -> NetworkObjective:
        """What ``fit`` minimises on these rows, as a function of θ, all weights and biases.

        Value and gradient at any θ, in float64 and in the unit of y, with the penalties and
        without dropout; nothing is held out.  ``reduction="mean"`` divides by the weight of the
        rows.  The rows are in memory, and this network itself is not changed.
        """
        refuse_file(X, "an objective", "Read it into a frame.")
        model = self._at_start()
        rows = model._opened(X, y, sample_weight)
        output, options = model._output(rows), checked_options(model)
        problem = assembled(model, rows, output, options, None, seed_of(model.random_state))
        whole, strengths = problem.training.weight_total, weight_strengths(model)
        factor = 1.0 if self.penalty_scaling == "sum" else whole

        def write(theta: Array) -> Any:
            fitted = self._at_start().set_params(initialise=theta).fit(X, y, sample_weight)
            return fitted.set_params(**self.get_params(deep=False))

        ((_, matrix),) = problem.training.columns(problem.training.n_rows)
        weight = problem.training.weight
        return NetworkObjective(
            problem.architecture,
            output,
            NetworkRows(matrix.astype(np.float64), output.target(problem.training.y), weight),
            l1=factor * strengths.l1,
            l2=factor * strengths.l2,
            unit=whole if reduction == "sum" else 1.0,
            reduction=reduction,
            start=problem.start().astype(np.float64),
            write=write,
        )

    def _at_start(self) -> Self:
        """A copy that stays at its start values, one network in float64."""
        idle = {"early_stopping": False, "validation": None, "end_game": None, "n_networks": 1}
        plain = {"solver": "adam", "max_epochs": 0, "dtype": "float64", "resume": None}
        plain |= {"checkpoint": None, "callbacks": None, "learning_rate": 1e-3, "patience": 1}
        return type(self)(**{**self.get_params(deep=False), **idle, **plain})

    def epoch_steps(self, X: Any, y: Any, validation: Any = None) -> list[Any]:
        """The network at its start and after each epoch of a training on these rows.

        ``validation`` is a set (X, y) to judge it by.  This network itself is not changed.
        """
        return epoch_snapshots(self, X, y, validation)

    def _held(self, rows: OpenedRows) -> Examples | None:
        held = validation_rows(self, rows.coding, self._targets(rows.classes))
        return None if held is None else self._rows_of(held, rows.classes)

    def _common(self, problem: TrainingProblem, rows: OpenedRows) -> dict[str, Any]:
        """What is learned before training, of both kinds of networks."""
        held = 0 if problem.validation is None else problem.validation.n_rows
        return {
            "architecture_": problem.architecture,
            "output_": problem.output,
            "coding_": rows.coding,
            "library_": rows.library,
            "seed_": problem.seed,
            "held_out_": (held, problem.training.n_rows),
            "response_centre_": problem.units.centre,
            "response_scale_": problem.units.scale,
            "average_": None,
            **self._learned(problem, rows),
        }

    def _remember(self, learned: dict[str, Any]) -> None:
        for name, value in learned.items():
            setattr(self, name, value)

    def _further(
        self, settings: Any, options: Options, X: Any, y: Any, sample_weight: Any
    ) -> TrainingProblem:
        """A problem on further rows, with the layers and the columns of the fit."""
        classes = vars(self).get("classes_", np.empty(0))
        found = known_rows(self, self.coding_, X, y, sample_weight, self._targets(classes))
        device = device_for(settings.device, X)
        rows = OpenedRows(
            self._rows_of(found, classes), self.coding_, classes, self.library_, device
        )
        held = None if not isinstance(settings.validation, tuple | list) else self._held(rows)
        problem = assembled(settings, rows, self.output_, options, held, self.seed_)
        if problem.architecture != self.architecture_:
            raise InvalidInput(
                "hidden, activation or bias was changed after the fit, and the network is to be "
                "trained further; its layers were expected to stay. Change them back, or use fit."
            )
        return replace(problem, units=ResponseUnits(self.response_centre_, self.response_scale_))

    def _one_epoch(self, X: Any, y: Any, sample_weight: Any, rows: OpenedRows | None) -> Self:
        """Train for one epoch on these rows; ``rows`` are given in the first call."""
        refuse_several(self, "partial_fit")
        idle = {"early_stopping": False, "validation": None, "end_game": None}
        settings = type(self)(**{**self.get_params(deep=False), **idle})
        settings.__dict__.update(settled(settings, None, one=True))
        self.chosen_ = {name: vars(settings)[name] for name in PLAIN}
        self.chosen_ |= {"solver": _name_of(settings.solver), "starts": 1}
        options = checked_options(settings)
        if options.quasi_newton:
            raise InvalidInput(
                "solver='lbfgs' was given, which reads all rows in every step; partial_fit has "
                "some of them. Use solver='adam', or fit."
            )
        if rows is None:
            problem = self._further(settings, options, X, y, sample_weight)
            start, curve = self.parameters_, self.history_.training_losses()
            state = continued_state(self.state_, options.update)
        else:
            seed = seed_of(self.random_state)
            problem = assembled(settings, rows, self._output(rows), options, None, seed)
            learned = self._common(problem, rows)
            self._remember(learned)
            start, state, curve = problem.start(), None, LossCurve()
        if isinstance(settings.batch, int):  # parts may have any size
            settings.set_params(batch=min(settings.batch, problem.training.n_rows))
        self.parameters_, after, epoch = one_epoch(settings, problem, start, state, curve)
        self.state_ = kept_state(after, options.update)
        curve = curve.with_epoch(epoch.loss, None, epoch.rate, epoch.seconds)
        self.history_ = self._history(curve, curve.n_epochs, "by partial_fit", converged=False)
        self.column_strengths_ = column_strengths(problem, [self.parameters_])
        self._finish(problem)
        return self

    def _store(self, fit: NetworkFit, problem: TrainingProblem) -> None:
        self.parameters_ = np.array(fit.theta)
        self.state_ = kept_state(fit.state, problem.options.update)
        self.history_ = self._of_training(fit.trained)
        self.end_game_ = None if fit.end_game is None else self._of_training(fit.end_game)
        self.column_strengths_ = column_strengths(problem, [self.parameters_])
        self._finish(problem)

    def _of_training(self, trained: Trained) -> History:
        ending, curve = trained.ending, trained.curve
        return self._history(curve, trained.kept_epoch, ending.reason, converged=ending.converged)

    def _history(self, curve: LossCurve, kept: int, ending: str, *, converged: bool) -> History:
        return History.of(
            curve,
            kept_epoch=kept,
            ending=ending,
            converged=converged,
            model=type(self).__name__,
            library=self.library_,
            in_nats=self.output_.in_nats,
        )

    def _warn_unless_finished(self, fit: NetworkFit) -> None:
        """Warn of training that was not finished; raise the Ctrl-C that ended it."""
        if fit.interrupted:
            raise KeyboardInterrupt
        trained = fit.trained if fit.end_game is None else fit.end_game
        if fit.constant_loss is not None and self.average_ is None:  # an average is shrunk
            warn_user(worse_than_constant(self, fit.constant_loss), ConvergenceWarning)
            return
        if trained.ending.converged or not trained.curve.n_epochs:  # with max_epochs=0, as asked
            return
        in_batches = bool(self.state_)  # L-BFGS has no rate
        what = "" if fit.end_game is None else ", and the loss of the search was not reached"
        warn_user(
            f"{type(self).__name__} did not converge: {trained.ending.reason}{what}. Raise "
            f"max_epochs{' or learning_rate' if in_batches else ''}, or give tol=None to train "
            "for max_epochs.",
            ConvergenceWarning,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _name_of(solver: Any) -> str:
    return solver if isinstance(solver, str) else repr(solver)
