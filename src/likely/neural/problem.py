"""The training problem of a network: its rows, its layers, where it starts, and what it is called.

Rows are read as linear models read them: numbers as they are, a column of 0 and 1 for each
category.  Rows for validation are given, or a share of each class that is held out.

Training centres and scales y; everything else is in the unit of y:

    y = c + s y′        η = c + s η′        W^(L) = s W′^(L)        b^(L) = s b′^(L) + c
    Σ w loss(y, η) + R(θ) = s² [Σ w loss(y′, η′) + R(θ)/s²]

R(θ)/s² has the strengths l1/s² and l2/s² for the weights of hidden layers, and l1/s and l2 for
those of the output, whose own unit is s.  So the minimum is that of the loss in the unit of y, with
the penalties that were given: standardisation changes the steps, and nothing else.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any, NamedTuple, Protocol, final

import numpy as np
from scipy import sparse

from likely._typing import Array, Codes
from likely.data.block import ArrayBlocks, Block
from likely.data.coding import Coding
from likely.data.copies import copies_in
from likely.data.hashed_splits import share_of_each_class
from likely.errors import InvalidInput
from likely.host_arrays import is_tensor
from likely.inputs.coding import new_rows
from likely.inputs.estimators import columns_named, generator
from likely.inputs.rows import RowExtras, TargetForm, check_rows
from likely.inputs.tables import own_columns, refuse_file
from likely.inputs.targets import check_weight
from likely.neural.architecture import Architecture, initial_parameters
from likely.neural.checkpoint import Checkpoint, Keeper, Meaning, meaning_of
from likely.neural.device import checked_device
from likely.neural.examples import (
    Examples,
    ExamplesInFile,
    ExamplesInMemory,
    finite_matrix,
    in_memory,
    refuse_extreme_weights,
    warn_of_sorted_rows,
    warn_of_unscaled_columns,
)
from likely.neural.formulas import column_strengths
from likely.neural.options import Options, layer_dropout, trainable_layers
from likely.neural.outputs import Output
from likely.neural.settings import WeightPenalty
from likely.output.formatting import count
from likely.penalties.base import Strength

SEEDS = 2**62
ROWS_FOR_STRENGTHS = 200  # a mean over them is known to some per cent
Targets = Callable[[Any, int], Array]  # y as given and the number of rows, to codes or numbers


class ReadsRows(Protocol):
    """An estimator that rows are read for; what it learns of their columns is stored in it."""

    device: Any
    beside_: tuple[str, ...]


class OpenedRows(NamedTuple):
    """Rows to learn from, as they came."""

    examples: Examples
    coding: Coding
    classes: Array  # empty for numbers
    library: str | None  # the caller's frame library, to answer in
    device: Any = None  # the torch device that was asked for; None is NumPy


@final
@dataclass(frozen=True, eq=False)
class ResponseUnits:
    """c and s of y = c + s y′; 0 and 1 where y is trained on as it is."""

    centre: Any = 0.0  # a number, or one for each response
    scale: float = 1.0

    @classmethod
    def of(cls, y: Array, weight: Array | None, *, centred: bool) -> "ResponseUnits":
        """The mean of each response and the standard deviation around it; 1 where that is 0.

        Without a bias of the output there is no centre, and the spread is that around 0.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            centre = np.average(y, axis=0, weights=weight) if centred else 0.0
            squares = np.square(y - centre).reshape(len(y), -1).mean(axis=1)
            scale = float(np.sqrt(np.average(squares, weights=weight)))
        if not np.isfinite(scale):
            raise InvalidInput("The squares of y overflow. Divide y by a constant, such as 1e100.")
        return cls(centre, scale if scale > 0 else 1.0)

    @property
    def are_those_of_y(self) -> bool:
        return self.scale == 1.0 and not np.any(self.centre)

    @property
    def square(self) -> float:
        """s², by which a loss in these units is multiplied."""
        return self.scale**2

    def target(self, y: Array) -> Array:
        """y′."""
        return y if self.are_those_of_y else np.asarray((y - self.centre) / self.scale)

    def theta(self, architecture: Architecture, inner: Array) -> Array:
        """θ in the unit of y, in float64: a large centre would round a bias in float32."""
        if self.are_those_of_y:
            return inner
        found = inner.astype(np.float64)
        last = architecture.unpack(found)[-1]
        last.weight[...] *= self.scale
        if last.bias is not None:
            last.bias[...] = self.scale * last.bias + self.centre
        return found

    def inner(self, architecture: Architecture, theta: Array) -> Array:
        """θ′, of the centred and scaled response."""
        if self.are_those_of_y:
            return theta
        found = theta.astype(np.float64)
        last = architecture.unpack(found)[-1]
        last.weight[...] /= self.scale
        if last.bias is not None:
            last.bias[...] = (last.bias - self.centre) / self.scale
        return found

    def strengths(
        self, architecture: Architecture, given: WeightPenalty
    ) -> tuple[Strength, Strength]:
        """l1 and l2 of θ′ that are those of θ: one number for all, or one for each parameter."""
        if self.scale == 1.0 or not (given.l1 or given.l2):
            return given.l1, given.l2
        unit = np.ones(architecture.n_parameters)  # of each parameter, in those of θ′
        unit[architecture.places[-1].weight] = self.scale
        return given.l1 * unit / self.square, given.l2 * unit**2 / self.square


@final
@dataclass(frozen=True, eq=False)
class TrainingProblem:
    """What is trained, and on which rows."""

    architecture: Architecture
    output: Output
    options: Options
    training: Examples
    validation: Examples | None
    union: Examples | None  # both, for an end game
    seed: int
    trainable: tuple[bool, ...] | None
    dropout: tuple[float, ...]
    device: Any = None  # of torch; None is NumPy
    scales_response: bool = False
    units: ResponseUnits = field(default_factory=ResponseUnits)  # in which y is trained on

    def start(self) -> Array:
        """Start values in the unit of y; biases of the output start at the constant model.

        Arrays that were given are taken as they are.  Thresholds start at the frequencies of the
        classes, and the weights of the output at draws for a response of unit spread.
        """
        y, weight = self.output.target(self.training.y), self.training.weight
        theta = initial_parameters(
            self.architecture,
            self.options.start.values,
            seed=self.seed,
            dtype=self.options.dtype if self.units.are_those_of_y else np.float64,
            extra=self._first_extra(y),
        )
        if not isinstance(self.options.start.values, str):
            return theta
        theta = self.units.theta(self.architecture, theta)
        bias = self.architecture.unpack(theta)[-1].bias
        if bias is not None:
            bias[...] = self.output.constant(y, weight)
        return theta

    @property
    def strengths(self) -> tuple[Strength, Strength]:
        """l1 and l2 in the units of training."""
        return self.units.strengths(self.architecture, self.options.penalty)

    def constant_loss(self) -> float:
        """The mean loss of the training rows where every row has the constant prediction."""
        output, weight = self.output, self.training.weight
        y = output.target(self.training.y)
        eta = np.broadcast_to(output.constant(y, weight), (len(y), output.n_outputs))
        loss = output.loss(y, eta, self._first_extra(y))
        return float(np.average(loss, weights=weight))

    def _first_extra(self, y: Array) -> Array:
        """Where extra parameters start: thresholds at the frequencies of the classes."""
        output, weight = self.output, self.training.weight
        if not output.n_extra:
            return np.zeros(0)
        return output.initial_extra(np.bincount(y, weight, minlength=output.n_classes or 0))

    def in_units(self) -> "TrainingProblem":
        """The problem with its response centred and scaled, as it is trained on."""
        if self.units.are_those_of_y:
            return self

        def change(rows: Examples) -> Examples:
            return rows.having(self.units.target(rows.y), rows.weight)

        held = self.validation
        return replace(
            self, training=change(self.training), validation=None if held is None else change(held)
        )

    def on_all_rows(self) -> "TrainingProblem":
        """The problem of an end game: that of a fit on all rows, those for validation included."""
        assert self.union is not None, "early stopping has held rows out"
        whole = replace(self, training=self.union, validation=None)
        return whole.with_own_units() if self.scales_response else whole

    def column_strengths(self, thetas: Sequence[Array]) -> Array:
        """How strongly the mean predictor of networks depends on each column, as shares."""
        X = self.training.some_columns()
        X = X[:: 1 + (X.shape[0] - 1) // ROWS_FOR_STRENGTHS]
        X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        return column_strengths(self.architecture, self.output, thetas, X)

    def with_own_units(self) -> "TrainingProblem":
        """The problem with the centre and the scale of its training rows."""
        y, weight, centred = self.training.y, self.training.weight, self.architecture.biases[-1]
        return replace(self, units=ResponseUnits.of(y, weight, centred=centred))


class TrainingStart(NamedTuple):
    """What a fit knows before its first epoch."""

    problem: TrainingProblem
    theta: Array
    learned: dict[str, Any]  # the columns and the classes
    keeper: Keeper | None = None  # writes checkpoints
    resumed: Checkpoint | None = None


class FitInput(NamedTuple):
    """All that a fit begins with, checked."""

    rows: OpenedRows
    output: Output
    options: Options
    validation: Examples | None  # a set that was given
    scales_response: bool  # whether y is centred and scaled in training

    def problem(self, seed: int) -> TrainingProblem:
        """The layers, and which rows are trained on."""
        rows, output, options, held, _ = self
        architecture = Architecture.of(
            rows.coding.n_coefficients,
            options.hidden,
            output.n_outputs,
            activation=options.activation,
            bias=options.bias,
            output_bias=None if output.has_bias else False,
            n_extra=output.n_extra,
        )
        warn_of_sorted_rows(options, rows.examples)
        training, union = rows.examples, None
        if options.held_out is not None:
            union = rows.examples
            training, held = split_off(union, options.held_out, seed)
        elif held is not None and options.end_game is not None:
            union = _joined(training, held)
        if options.early_stopping and held is None:
            raise InvalidInput(
                "early_stopping=True was given without validation rows. Use validation=0.1, or "
                "validation=(X, y)."
            )
        problem = TrainingProblem(
            architecture,
            output,
            options,
            training,
            held,
            union,
            seed,
            trainable_layers(options.start.trainable, architecture),
            layer_dropout(options.dropout, architecture),
            None if options.quasi_newton else rows.device,
            self.scales_response,
        )
        return problem.with_own_units() if self.scales_response else problem

    def meaning(self, own: Mapping[str, Any]) -> Meaning:
        """What a checkpoint of this fit means; ``own`` are further arguments by name."""
        rows = self.rows
        return meaning_of(
            rows.coding.n_coefficients,
            rows.examples,
            self.output,
            self.options,
            self.validation,
            own,
        )


def open_rows(
    model: ReadsRows, options: Options, X: Any, y: Any, sample_weight: Any, target: TargetForm
) -> OpenedRows:
    """Check everything; a table in memory becomes one array, a file stays where it is."""
    device, dtype = device_for(model.device, X), options.dtype
    model.beside_ = tuple(name for name in (y, sample_weight) if isinstance(name, str))
    rows = check_rows(model, X, y, RowExtras(sample_weight), target=target).with_categories()
    coding = Coding(rows.coding, (False,) * sum(rows.coding.as_codes))
    with columns_named(model):
        blocks = coding.to_fit(rows.blocks)
        examples: Examples = (
            in_memory(blocks, coding.names, dtype)
            if isinstance(blocks, ArrayBlocks)
            else ExamplesInFile.of(blocks, coding.names, dtype)
        )
    refuse_extreme_weights(examples.weight)
    warn_of_unscaled_columns(options.model, examples, coding)
    return OpenedRows(examples, coding, rows.classes, rows.library, device)


def device_for(device: Any, X: Any = None) -> Any:
    """The torch device that is asked for; None is this machine's processor, without torch.

    A device that is not given is that of X, if X is a tensor on a GPU.
    """
    if device is None:
        return X.device if is_tensor(X) and X.device.type != "cpu" else None
    return None if isinstance(device, str) and device == "cpu" else checked_device(device)


def known_rows(
    model: ReadsRows, coding: Coding, X: Any, y: Any, sample_weight: Any, targets: Targets
) -> ExamplesInMemory:
    """Further rows in memory, by the coding of the first; rows of weight 0 are left out."""
    X, y, sample_weight = own_columns(X, y, sample_weight)
    refuse_file(X, "validation, or a further part of a training,")
    matrix = finite_matrix(Block(new_rows(model, coding, X)), coding.names)
    target = targets(y, matrix.shape[0])
    weight = check_weight(sample_weight, n_rows=matrix.shape[0])
    refuse_extreme_weights(weight)
    found = ExamplesInMemory(matrix, target, weight)
    return found if weight is None or weight.all() else found.where(weight > 0)


def validation_rows(
    model: ReadsRows, given: Any, coding: Coding, targets: Targets
) -> ExamplesInMemory | None:
    """The validation set that was given; None where there is none."""
    if not isinstance(given, tuple | list):
        return None
    if len(given) not in (2, 3):
        raise InvalidInput(
            f"validation has {count(len(given), 'part')}; rows and their targets were expected, "
            "and perhaps weights. Use validation=(X, y)."
        )
    try:
        X, y, weight = (*given, None)[:3]
        return known_rows(model, coding, X, y, weight, targets)
    except InvalidInput as error:
        raise InvalidInput(f"The validation set cannot be used: {error}") from None


def split_off(examples: Examples, share: float, seed: int) -> tuple[Examples, Examples]:
    """Rows to train on, and a share of each class to judge by."""
    held = share_of_each_class(examples.y, share, seed, copies_of_examples(examples))
    if not held.any():  # every class is small: some rows of those with two or more
        y, n = examples.y, examples.n_rows
        order = np.random.default_rng(seed).permutation(n)
        if y.dtype.kind in "iu" and y.ndim == 1:
            order = order[np.bincount(y)[y[order]] > 1]
        held[order[: ceil(share * n)] if n > 1 else []] = True
    if not held.any() or held.all():
        raise InvalidInput(
            f"validation={share:g} leaves rows for only one of training and validation; there are "
            f"{count(examples.n_rows, 'row')}. Give more rows, or validation=(X, y)."
        )
    return examples.where(~held), examples.where(held)


def copies_of_examples(examples: Examples) -> Codes | None:
    """The first row that each row in memory is a copy of; None where none is, or rows are read."""
    return copies_in(examples.X) if isinstance(examples, ExamplesInMemory) else None


def class_weights(given: Any, classes: Array, y: Codes, weight: Array | None) -> Array | None:
    """Weights of rows times those of their classes; "balanced" gives all classes one total."""
    if given is None:
        return weight
    own = np.ones(len(y)) if weight is None else weight
    if isinstance(given, str) and given == "balanced":
        total = np.bincount(y, own, minlength=len(classes))
        each = own.sum() / (np.count_nonzero(total) * np.where(total > 0, total, 1.0))
    elif isinstance(given, dict):
        unknown = [label for label in given if label not in classes.tolist()]
        if unknown:
            raise InvalidInput(
                f"class_weight names {unknown[0]!r}; y has the classes "
                f"{', '.join(map(str, classes[:10]))}. Name some of them."
            )
        each = np.array([float(given.get(label, 1.0)) for label in classes.tolist()])
    else:
        raise InvalidInput(
            f"class_weight={given!r} was given; 'balanced' or a mapping from class to weight was "
            "expected. Use class_weight='balanced'."
        )
    if not ((each >= 0) & (each < np.inf)).all() or not (each[y] * own).any():
        raise InvalidInput(
            f"class_weight={given!r} was given; weights are finite, 0 or more, and one of them "
            "above 0. Use class_weight='balanced'."
        )
    return np.asarray(each[y] * own)


def seed_of(random_state: Any) -> int:
    """The seed of orders, masks and start values."""
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return int(random_state)
    return int(generator(random_state).integers(SEEDS))


def _joined(training: Examples, held: Examples) -> Examples:
    if not isinstance(training, ExamplesInMemory) or not isinstance(held, ExamplesInMemory):
        raise InvalidInput(
            "end_game was given with rows of a file and a validation set; it trains on both "
            "together. Use validation=0.1, which holds rows of the file out."
        )
    return training.joined(held)


def attributes_in_unit_of_y(fitted: Mapping[str, Any]) -> dict[str, Any]:
    """What differs in a model file of the time when parameters were those of y′.

    The centre was then added to η.  It is in the biases of the output now; an output that had none
    has them from here on.
    """
    units = ResponseUnits(fitted["response_centre_"], fitted["response_scale_"])
    if units.are_those_of_y:
        return {}
    before = fitted["architecture_"]
    layers = replace(before, biases=(*before.biases[:-1], True))
    n_more = layers.n_parameters - before.n_parameters  # the biases of the output are the last

    def with_biases(array: Array) -> Array:
        return np.concatenate([array, np.zeros((*array.shape[:-1], n_more), array.dtype)], axis=-1)

    def in_unit(theta: Array) -> Array:
        return units.theta(layers, with_biases(theta))

    found = {"architecture_": layers, "parameters_": in_unit(fitted["parameters_"])}
    state, average = fitted["state_"], fitted["average_"]
    if "slots" in state:
        found["state_"] = {**state, "slots": with_biases(state["slots"])}
    if average is not None:
        found["average_"] = replace(
            average,
            parameters=np.stack([in_unit(theta) for theta in average.parameters]),
            constant=units.centre + units.scale * average.constant,
        )
    return found
