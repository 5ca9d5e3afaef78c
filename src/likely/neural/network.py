"""What classifying and regressing networks share: how they are fitted, continued and inspected.

    η = a^(L),    a^(l+1) = W^(l) g(a^(l)) + b^(l),    a^(1) = W^(0) x + b^(0)
    minimise  Σ_i w_i loss(y_i, η_i) + l1 Σ |w| + ½ l2 Σ w²      over weights, not biases

References
----------
Bishop, Pattern Recognition and Machine Learning, §5.1 to §5.3.
Goodfellow, Bengio & Courville, Deep Learning, chapters 6 to 8.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array, Matrix
from likely.data.block import Block
from likely.data.coding import Coding
from likely.errors import InvalidInput
from likely.explanations.any_model import ESTIMATED
from likely.explanations.explanation import Explanation, like_its_rows
from likely.explanations.sampled import NumberRows, SampledContributions, sampled_contributions
from likely.graphical.drawing.diagram import Diagram
from likely.graphical.model.model_plates import PlateParameter, conditional_plate
from likely.inputs.coding import columns_coded, new_rows
from likely.inputs.estimators import (
    ColumnNeeds,
    Estimator,
    Settings,
    columns_named,
    feature_names,
    unchanged_if_refused,
)
from likely.inputs.tables import is_file, n_rows_of, refuse_file
from likely.neural.architecture import Architecture, check_parameters
from likely.neural.average import (
    AverageFit,
    Averaging,
    NetworkAverage,
    average_prediction,
    averaged,
    problems_of_several,
)
from likely.neural.checkpoint import CheckpointFiles, Meaning
from likely.neural.description import (
    Inspection,
    describe_network,
    inspected,
    picture_of,
)
from likely.neural.examples import Examples, finite_matrix, n_examples
from likely.neural.fitting import (
    NetworkFit,
    end_of_fit,
    fit_network,
    fit_networks,
    one_epoch,
    scikit_learn_callbacks,
    warn_unless_finished,
)
from likely.neural.formulas import NetworkRows, chunk_rows, predictor
from likely.neural.history import History, LossCurve
from likely.neural.many import Finish, train_together
from likely.neural.objective import NetworkObjective
from likely.neural.options import (
    NetworkArguments,
    Options,
    checked_options,
    chosen_for,
    trainable_layers,
    weight_penalty,
)
from likely.neural.outputs import Output
from likely.neural.problem import (
    FitInput,
    OpenedRows,
    ResponseUnits,
    Targets,
    TrainingProblem,
    TrainingStart,
    attributes_in_unit_of_y,
    device_for,
    known_rows,
    seed_of,
    validation_rows,
)
from likely.neural.settings import (
    GROUPED,
    Batches,
    StartValues,
    Training,
    WeightPenalty,
    grouped_arguments,
)
from likely.neural.training import (
    Ending,
    Epoch,
    TrainingResult,
    continued_state,
    kept_state,
)
from likely.objectives.model import Reduction
from likely.output.description import ColumnsRead, Description
from likely.output.formatting import count
from likely.storage.declarations import FITTED_COLUMNS, Numbers, SameCount, Saved
from likely.storage.values import same_count, unlike

RELATIVE = "Contributions are relative to an input of 0: the mean of scaled numbers, no category."


class NeuralNetwork(CallbackSupportMixin, NetworkArguments, Estimator, ABC):
    """Layers of units that are trained together by one loss."""

    saved: ClassVar = FITTED_COLUMNS | Saved(
        {
            "beside_": tuple[str, ...],
            "architecture_": Architecture,
            "output_": Output,
            "coding_": Coding,
            "parameters_": Numbers(Array, "finite"),
            "average_": NetworkAverage | None,
            "history_": History,
            "column_strengths_": Array,
            "response_centre_": Numbers(float | Array, "finite"),  # one for each response
            "response_scale_": Numbers(float, "finite", "positive"),
            "state_": dict[str, Array],
            "chosen_": dict,
            "seed_": int,
            "held_out_": tuple[float, float],
            "end_game_": History | None,
        },
        rules=(
            SameCount("n_features_in_", "coding_.schema.kinds"),
            SameCount("coding_.n_coefficients", "architecture_.sizes.0", "column_strengths_"),
            SameCount("architecture_.n_parameters", "parameters_", "average_.parameters.shape.1"),
            SameCount("architecture_.sizes.-1", "output_.n_outputs"),
            SameCount("architecture_.n_extra", "output_.n_extra"),
            SameCount("output_.n_classes", "classes_"),
        ),
    )

    grouped: ClassVar[Mapping[str, type[Settings]]] = GROUPED
    saved_as_none: ClassVar[tuple[str, ...]] = ("device", "training", "validation")  # of training

    architecture_: Architecture
    output_: Output
    coding_: Coding
    parameters_: Array
    history_: History
    end_game_: History | None
    average_: NetworkAverage | None
    response_centre_: Any
    response_scale_: float
    seed_: int
    library_: str | None
    beside_: tuple[str, ...]
    state_: dict[str, Array]  # what the update rule remembers, for partial_fit
    column_strengths_: Array  # of each input, as shares
    chosen_: dict[str, Any]  # how it was trained, where arguments were "auto"

    @abstractmethod
    def _opened(self, options: Options, X: Any, y: Any, sample_weight: Any) -> OpenedRows:
        """Rows to learn from, checked."""

    @abstractmethod
    def _output(self, rows: OpenedRows) -> Output:
        """The likelihood of the output."""

    @abstractmethod
    def _targets(self, classes: Array) -> Targets:
        """How y of further rows is read."""

    @abstractmethod
    def _own_meaning(self) -> dict[str, Any]:
        """Further arguments that a checkpoint must share with the training that continues."""

    @abstractmethod
    def _explanation(self, found: SampledContributions, against: Any) -> Explanation:
        """The explanation, from contributions to the score."""

    @abstractmethod
    def _averaging(self, output: Output) -> Averaging:
        """How several networks are averaged."""

    def _rows_of(self, examples: Examples, classes: Array) -> Examples:
        """Rows with the weights of their classes."""
        return examples

    def _scales_response(self, output: Output) -> bool:
        """Whether y is centred and scaled in training."""
        return False

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
        options = self.options_on(X, y, sample_weight)
        self.chosen_ = options.chosen.as_dict()
        if options.chosen.n_networks == options.chosen.starts == 1:
            fits = [self._fitted(options, X, y, sample_weight)]
        else:
            starts = self.training_starts(options, X, y, sample_weight)
            fits = fit_networks(starts)
            self.store_trainings(starts, fits)
        self.warn_unless_finished(fits)
        return self

    @classmethod
    def translated(
        cls, arguments: Mapping[str, Any], fitted: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The arguments and attributes of an older model file, as those of this version."""
        grouped, found = grouped_arguments(arguments), dict(fitted)
        if "parameters_" in found and "chosen_" not in found:
            found |= attributes_in_unit_of_y(found)
            found["chosen_"] = chosen_for(cls(**grouped)).as_dict()
            if found["architecture_"] != fitted["architecture_"]:
                grouped["bias"] = found["architecture_"].biases
        return grouped, found

    def options_on(self, X: Any, y: Any = None, sample_weight: Any = None) -> Options:
        """The arguments, checked, with a value for each that is "auto", for such rows."""
        in_file = is_file(X)
        n_rows = None if in_file else n_examples(X, y, sample_weight)
        chosen = chosen_for(self, n_rows, watched=bool(vars(self).get("_skl_callbacks")))
        return checked_options(self, chosen, in_file=in_file)

    @with_callbacks
    def _fitted(self, options: Options, X: Any, y: Any, sample_weight: Any) -> NetworkFit:
        (start,) = starts = self.training_starts(options, X, y, sample_weight)
        told = scikit_learn_callbacks(self, start.learned, options.max_epochs, X, y)
        fit = fit_network(start, callbacks=told)
        self.store_trainings(starts, [fit])
        end_of_fit(self, X, y)
        return fit

    def training_starts(
        self, options: Options, X: Any, y: Any, sample_weight: Any
    ) -> list[TrainingStart]:
        """The start of each of the networks of a fit: of one, or of those that are averaged."""
        n_networks = options.chosen.n_networks
        given = self._input(self._opened(options, X, y, sample_weight), options)
        files = None  # of checkpoints
        if options.training.is_kept:
            files = CheckpointFiles(options.training, self._meaning(given), n_networks)
        first = None if files is None else files.resumed(0)
        seed = seed_of(self.random_state) if first is None else first.seed
        several = n_networks > 1
        problems = (
            problems_of_several(given, seed, n_networks) if several else [given.problem(seed)]
        )
        starts, learned = list[TrainingStart](), dict[str, Any]()
        for number, problem in enumerate(problems):
            learned = learned or self._common(problem, given.rows)
            start = TrainingStart(problem, problem.start(), learned)
            if files is not None:
                resumed, keeper = files.resumed(number), files.keeper(number, problem.seed)
                if resumed is not None and resumed.seed != problem.seed:
                    resumed = None  # of an earlier training without random_state
                start = start._replace(keeper=keeper, resumed=resumed)
            starts.append(start)
        return starts

    def _input(self, rows: OpenedRows, options: Options) -> FitInput:
        """What a fit to such rows begins with."""
        output, held = self._output(rows), self._held(rows, self.validation)
        return FitInput(rows, output, options, held, self._scales_response(output))

    def _meaning(self, given: FitInput) -> Meaning:
        """What a checkpoint of this fit means."""
        grouped, own = isinstance(self.penalty, WeightPenalty), given.options.penalty
        return given.meaning(
            {
                "l1": own.l1 if grouped else self.l1,
                "l2": own.l2 if grouped else self.l2,
                "penalty": None if grouped else self.penalty,
                "random_state": self.random_state,
                **self._own_meaning(),
            }
        )

    def store_trainings(self, starts: Sequence[TrainingStart], fits: Sequence[NetworkFit]) -> None:
        """Keep what the networks of a fit have found; of several, the first is inspected."""
        self.__dict__.update(starts[0].learned)
        self._store(fits[0], starts[0].problem)
        if starts[0].problem.options.chosen.n_networks > 1:
            averaging = self._averaging(starts[0].problem.output)
            problems = [start.problem for start in starts[: len(fits)]]
            found = averaged(averaging, problems, fits)
            each = [self._of_training(fit.trained) for fit in fits]
            self.average_ = NetworkAverage(
                np.stack([fit.theta for fit in fits]),
                found.shrinkage,
                found.constant,
                tuple(one.of_network(number, len(each)) for number, one in enumerate(each)),
            )
            self.history_ = self.average_.histories[0]
            self.column_strengths_ = problems[0].column_strengths([fit.theta for fit in fits])
            self._finish_average(found)

    def warn_unless_finished(self, fits: Sequence[NetworkFit]) -> None:
        """Warn of training that was not finished; raise the Ctrl-C that ended it."""
        unfinished = [fit for fit in fits if not fit.trained.ending.converged]
        found, averages = (unfinished or fits)[0], self.average_ is not None
        warn_unless_finished(type(self).__name__, found, self.history_, is_average=averages)

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
        return train_together([self, *others], X, y, sample_weight, device=device)

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
        self._refuse_several("fine_tune")
        trainable_layers(layers, self.architecture_, "layers")
        start = StartValues.of(self.initialise).changed({"trainable": layers})
        changed: dict[str, Any] = {"initialise": start, "end_game": None}
        changed |= {} if learning_rate is None else {"learning_rate": learning_rate}
        changed |= {} if max_epochs is None else {"max_epochs": max_epochs}
        if isinstance(self.batch, Batches):
            changed["batch"] = self.batch.changed({"balanced": False})
        settings = type(self)(**{**self.get_params(deep=False), **changed})
        options = checked_options(settings, chosen_for(settings, n_rows_of(X), one=True))
        with unchanged_if_refused(self), columns_named(self):
            problem = self._further(options, self.validation, X, y, sample_weight)
            fit = fit_network(TrainingStart(problem, np.array(self.parameters_), {}))
            self._store(fit, problem)
        self.warn_unless_finished([fit])
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
        options = checked_options(model)
        given = model._input(model._opened(options, X, y, sample_weight), options)
        problem, output = given.problem(seed_of(model.random_state)), given.output
        penalty = options.penalty
        whole = problem.training.weight_total
        factor = 1.0 if penalty.scaling == "sum" else whole

        def write(theta: Array) -> Any:
            fitted = self._at_start().set_params(initialise=theta).fit(X, y, sample_weight)
            return fitted.set_params(**self.get_params(deep=False))

        ((_, matrix),) = problem.training.columns(problem.training.n_rows)
        weight = problem.training.weight
        return NetworkObjective(
            problem.architecture,
            output,
            NetworkRows(matrix.astype(np.float64), output.target(problem.training.y), weight),
            l1=factor * penalty.l1,
            l2=factor * penalty.l2,
            unit=whole if reduction == "sum" else 1.0,
            reduction=reduction,
            start=problem.start().astype(np.float64),
            write=write,
        )

    def _at_start(self) -> Self:
        """A copy that stays at its start values, one network in float64."""
        idle = {"early_stopping": False, "validation": None, "end_game": None, "n_networks": 1}
        plain = {"solver": "adam", "max_epochs": 0, "dtype": "float64", "training": None}
        plain |= {"learning_rate": 1e-3}
        return type(self)(**{**self.get_params(deep=False), **idle, **plain})

    def epoch_steps(self, X: Any, y: Any, validation: Any = None) -> list[Any]:
        """The network at its start and after each epoch of a training on these rows.

        ``validation`` is a set (X, y) to judge it by.  This network itself is not changed.
        """
        self._refuse_several("a record of its epochs")
        path, training = list[Array](), Training.of(self.training)

        def record(epoch: Epoch) -> None:
            path.append(np.array(epoch.theta))

        own = {"n_networks": 1} | ({} if validation is None else {"validation": validation})
        followed = training.changed({"callbacks": (*checked_options(self).callbacks, record)})
        alone = training.changed({"callbacks": None})
        fitted = clone(self).set_params(**own, training=followed).fit(X, y)
        start = clone(self).set_params(**own, max_epochs=0, tol=None, training=alone).fit(X, y)

        def at(theta: Array) -> "NeuralNetwork":
            found = copy(fitted)
            found.parameters_ = theta
            return found

        return [at(start.parameters_), *map(at, path)]

    def _refuse_several(self, method: str) -> None:
        """Refuse a method that continues one network."""
        average = vars(self).get("average_")
        if self.n_networks not in (1, "auto") or average is not None:
            n = self.n_networks if average is None else len(average.parameters)
            raise InvalidInput(
                f"The model averages {n} networks, and {method} trains one network further. Use "
                "n_networks=1, or fit."
            )

    def _held(self, rows: OpenedRows, given: Any) -> Examples | None:
        """The validation set that was given, with the weights of its classes."""
        held = validation_rows(self, given, rows.coding, self._targets(rows.classes))
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
            **({"classes_": rows.classes} if len(rows.classes) else {}),
        }

    def _further(
        self, options: Options, validation: Any, X: Any, y: Any, sample_weight: Any
    ) -> TrainingProblem:
        """A problem on further rows, with the layers and the columns of the fit."""
        classes = vars(self).get("classes_", np.empty(0))
        found = known_rows(self, self.coding_, X, y, sample_weight, self._targets(classes))
        examples, device = self._rows_of(found, classes), device_for(self.device, X)
        rows = OpenedRows(examples, self.coding_, classes, self.library_, device)
        held, scales = self._held(rows, validation), self._scales_response(self.output_)
        problem = FitInput(rows, self.output_, options, held, scales).problem(self.seed_)
        if problem.architecture != self.architecture_:
            raise InvalidInput(
                "hidden, activation or bias was changed after the fit, and the network is to be "
                "trained further; its layers were expected to stay. Change them back, or use fit."
            )
        return replace(problem, units=ResponseUnits(self.response_centre_, self.response_scale_))

    def _one_epoch(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        first: Callable[[Options], OpenedRows] | None,
    ) -> Self:
        """Train for one epoch on these rows; ``first`` opens those of the first call."""
        self._refuse_several("partial_fit")
        idle = {"early_stopping": False, "validation": None, "end_game": None}
        settings = type(self)(**{**self.get_params(deep=False), **idle})
        options = checked_options(settings)
        self.chosen_ = options.chosen.as_dict()
        if options.quasi_newton:
            raise InvalidInput(
                "solver='lbfgs' was given, which reads all rows in every step; partial_fit has "
                "some of them. Use solver='adam', or fit."
            )
        if first is None:
            problem = self._further(options, None, X, y, sample_weight)
            start, curve = self.parameters_, self.history_.training_losses()
            state = continued_state(self.state_, options.update)
        else:
            rows = first(options)
            problem = settings._input(rows, options).problem(seed_of(self.random_state))
            self.__dict__.update(self._common(problem, rows))
            start, state, curve = problem.start(), None, LossCurve()
        batch = options.batch
        if isinstance(batch, Batches) and isinstance(batch.size, int):  # parts may have any size
            size = min(batch.size, problem.training.n_rows)
            options = replace(options, batch=batch.changed({"size": size}))
            problem = replace(problem, options=options)
        self.parameters_, after, epoch = one_epoch(problem, start, state, curve)
        self.state_ = kept_state(after, options.update)
        curve = curve.with_epoch(epoch.loss, None, epoch.rate, epoch.seconds)
        self.history_ = self._history(curve, curve.n_epochs, Ending("by partial_fit", False))
        self.column_strengths_ = problem.column_strengths([self.parameters_])
        self._finish(problem)
        return self

    def _store(self, fit: NetworkFit, problem: TrainingProblem) -> None:
        self.parameters_ = np.array(fit.theta)
        self.state_ = kept_state(fit.state, problem.options.update)
        self.history_ = self._of_training(fit.trained)
        self.end_game_ = None if fit.end_game is None else self._of_training(fit.end_game)
        self.column_strengths_ = problem.column_strengths([self.parameters_])
        self._finish(problem)

    def _of_training(self, trained: TrainingResult) -> History:
        return self._history(trained.curve, trained.kept_epoch, trained.ending)

    def _history(self, curve: LossCurve, kept: int, ending: Ending) -> History:
        return History.of(
            curve,
            kept_epoch=kept,
            ending=ending.reason,
            converged=ending.converged,
            model=type(self).__name__,
            library=self.library_,
            in_nats=self.output_.in_nats,
        )

    @property
    def weights_(self) -> list[Array]:
        """W^(l) of each layer, (units, units before it): views of ``parameters_``."""
        check_is_fitted(self)
        return [layer.weight for layer in self.architecture_.unpack(self.parameters_)]

    @property
    def biases_(self) -> list[Array | None]:
        """b^(l) of each layer, (units,); None where it has none."""
        check_is_fitted(self)
        return [layer.bias for layer in self.architecture_.unpack(self.parameters_)]

    @property
    def n_parameters_(self) -> int:
        """How many weights, biases and thresholds there are."""
        check_is_fitted(self)
        return self.architecture_.n_parameters

    @property
    def n_iter_(self) -> int:
        """How many epochs there were."""
        return self.history_.n_epochs

    @property
    def terms_(self) -> tuple[str, ...]:
        """The name of each input of the network: its column, or column[category]."""
        return self.coding_.names()

    def describe(self) -> Description:
        """The layers, how training went, and how well the network fits."""
        check_is_fitted(self)
        return describe_network(self, weight_penalty(self))

    def plate(self) -> Diagram:
        """The plate diagram: x is given, y is modelled for each row, and all weights are shared."""
        penalty = weight_penalty(self)
        penalised = bool(penalty.l1 or penalty.l2)
        return conditional_plate(type(self).__name__, self._plate_parameters(), penalised=penalised)

    def _plate_parameters(self) -> tuple[PlateParameter, ...]:
        return (PlateParameter("W"),)

    def draw(self, path: Any = None) -> Diagram:
        """The layers as a diagram, with a line for each weight; saved where a path is given."""
        check_is_fitted(self)
        diagram = picture_of(self)
        if path is not None:
            diagram.save(path)
        return diagram

    def trace(self, X: Any, y: Any = None, *, network: int = 0) -> Inspection:
        """The values of every layer for each row; with y also the losses, errors and gradient.

        All are in float64; without dropout, weights and penalties.  Of a model with several
        networks (``n_networks``) they are those of one, ``network`` from 0, while predictions
        average all of them and shrink the average.
        """
        check_is_fitted(self)
        every = self.parameters_[None] if self.average_ is None else self.average_.parameters
        if not isinstance(network, int | np.integer) or not 0 <= network < len(every):
            raise InvalidInput(
                f"network={network!r} was given; the model has {count(len(every), 'network')}, "
                "numbered from 0. Use network=0 for the first."
            )
        matrix, target = self._matrix(X), None
        if y is not None:
            classes = vars(self).get("classes_", np.empty(0))
            target = self._targets(classes)(y, matrix.shape[0])
        found = inspected(self.architecture_, self.output_, every[network], matrix, target)
        return found._replace(network=int(network), n_networks=len(every))

    @like_its_rows
    def explain(self, X: Any, against: Any = None) -> Explanation:
        """What each column adds to the log-odds of every class against one, or to the mean.

        Relative to an input of 0, which is the mean of scaled numbers (as ``Prepared`` gives them)
        and no category.  Columns are replaced in random orders: contributions are estimates, always
        the same for the same row, and they add up.
        """
        check_is_fitted(self)
        matrix = self._matrix(X)
        n_columns = len(self.coding_.schema.as_codes)
        rows = NumberRows(matrix, self.coding_.column_of_coefficient(), n_columns)
        n = matrix.shape[0]
        found = sampled_contributions(self._explained_score, rows, np.arange(n), np.array([n]))
        return self._explanation(found, against).also(RELATIVE, ESTIMATED)

    def column_needs(self) -> ColumnNeeds:
        """Categories as they are; numbers scaled, because one rate serves all weights."""
        return ColumnNeeds(scale=True, categories=True)

    def columns_read(self, n_rows: int | None = None) -> ColumnsRead:
        """How many columns are numbers and how many categories; which of them to check."""
        check_is_fitted(self)
        return columns_coded(self.coding_.schema, feature_names(self), n_rows)

    def _explained_score(self, matrix: Matrix) -> Array:
        """log p(k | x) or E[y | x] of rows as the network reads them: of one, or of the average."""
        averaging = self._averaging(self.output_)
        if self.average_ is not None:
            return average_prediction(
                self.average_,
                averaging,
                self.architecture_,
                self.output_,
                lambda theta: self._predictor(matrix, theta),
            )
        eta = self._predictor(matrix, self.parameters_.astype(np.float64))
        extra = self.architecture_.extra(self.parameters_.astype(np.float64))
        return np.asarray(averaging.prediction(self.output_, eta, extra))

    def _predictor(self, X: Matrix, theta: Array) -> Array:
        """The predictor at some parameters, a part of the rows at a time."""
        size = chunk_rows(self.architecture_)
        parts = [
            predictor(self.architecture_, theta, X[low : low + size].astype(np.float64, copy=False))
            for low in range(0, X.shape[0], size)
        ]
        return np.concatenate(parts)

    def _matrix(self, X: Any) -> Matrix:
        """New rows as the network reads them."""
        return finite_matrix(Block(new_rows(self, self.coding_, X)), self.coding_.names)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def check_saved(self) -> None:
        """Refuse weights, of the network and of those that it averages, whose answers overflow."""
        output = self.output_
        for theta in (
            self.parameters_,
            *(() if self.average_ is None else self.average_.parameters),
        ):
            check_parameters(self.architecture_, theta.astype(np.float64), output)
        if self.average_ is not None:
            answers = (output.n_classes or output.n_outputs,)
            same_count("The constant model", self.average_.constant.shape, answers)
        if np.ndim(self.response_centre_):
            same_count("response_centre_", np.shape(self.response_centre_), (output.n_outputs,))
        if self.column_strengths_.dtype.kind != "f":
            raise unlike("column_strengths_", "numbers")
