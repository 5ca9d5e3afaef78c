"""What a fitted network says about itself: its layers and losses, values inside, and columns.

a^(l), h^(l)        δ^(l) = ∂loss/∂a^(l)        ∂loss/∂W^(l) = Σ_n δ_n^(l+1) h_n^(l)ᵀ
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from likely._typing import Array, Matrix
from likely.graphical.drawing.diagram import Diagram
from likely.graphical.drawing.network_picture import network_picture
from likely.neural.architecture import Architecture, Layer
from likely.neural.average import NetworkAverage
from likely.neural.formulas import backward, forward
from likely.neural.history import History
from likely.neural.outputs import Output
from likely.neural.settings import WeightPenalty
from likely.output.description import DescribedLosses, Description, Fact, NamedColumn, NamedTable
from likely.output.formatting import count, short_number, text_table


class FittedNetwork(Protocol):
    """What a description reads of a fitted network."""

    architecture_: Architecture
    output_: Output
    history_: History
    average_: NetworkAverage | None
    held_out_: tuple[int, int]
    column_strengths_: Array

    @property
    def terms_(self) -> tuple[str, ...]: ...


STRENGTH = (
    "Strength is the mean absolute slope of the predictor along a column times the standard "
    "deviation of the column, on training rows, as a share: how much a column moves predictions, "
    "not in which direction."
)


def describe_network(model: FittedNetwork, penalty: WeightPenalty) -> Description:
    """The description of a fitted network."""
    architecture, history = model.architecture_, model.history_
    sizes = "-".join(map(str, architecture.sizes))
    facts = [
        Fact(
            "parameters", "parameters", architecture.n_parameters, f"{architecture.n_parameters:,}"
        ),
        Fact("epochs", "epochs", history.n_epochs, f"{history.n_epochs:,}"),
    ]
    if history.n_epochs:
        kept = max(history.kept_epoch - 1, 0)
        facts.append(Fact("loss", "training loss", float(history.loss[kept])))
        if history.validation is not None:
            facts.append(Fact("validation", "validation loss", float(history.validation[kept])))
        facts.append(Fact("seconds", "seconds", float(history.seconds.sum())))
    held, trained = model.held_out_
    notes = [f"Training ended: {history.ending}."]
    if history.kept_epoch != history.n_epochs:
        notes.append(f"The parameters are those of epoch {history.kept_epoch}.")
    if held:
        notes.append(f"Trained on {count(trained, 'row')}, judged by {count(held, 'other')}.")
    return Description(
        f"{type(model).__name__}: {sizes}, {model.output_.name}",
        fit=tuple(facts),
        tables=(_layers(architecture), _columns(model)),
        notes=(*_average(model), *notes, *_penalties(penalty), STRENGTH),
        n_iter=history.n_epochs,
        curves=tuple(_curves(model)),
    )


def _curves(model: FittedNetwork) -> list[DescribedLosses]:
    """The learning curve of each network."""
    average = model.average_
    histories = [model.history_] if average is None else average.histories
    return [
        DescribedLosses(
            "epoch",
            tuple(each.loss.tolist()),
            () if each.validation is None else tuple(each.validation.tolist()),
            each.kept_epoch,
            f"network {k}" if len(histories) > 1 else "",
        )
        for k, each in enumerate(histories, start=1)
        if each.n_epochs
    ]


def _average(model: FittedNetwork) -> list[str]:
    """How many networks are averaged, and how far they are followed."""
    average = model.average_
    if average is None:
        return []
    s, networks = average.shrinkage, count(len(average.parameters), "network")
    if s == 1.0:
        return [f"Predictions are the mean of {networks}; layers and losses are of the first."]
    shrunk = (
        f"shrunk towards the constant model (shrinkage {short_number(s, 2)}: 0 is the constant)"
    )
    return [
        f"Predictions are the mean of {networks}, {shrunk}; layers and losses are of the first."
    ]


def picture_of(model: FittedNetwork) -> Diagram:
    """The layers of a fitted network, with a line for each weight."""
    architecture, output = model.architecture_, model.output_
    classes = vars(model).get("classes_", ())
    return network_picture(
        architecture.sizes,
        activations=(*architecture.activations[:-1], output.name),
        biases=architecture.biases,
        inputs=model.terms_,
        outputs=list(map(str, classes)) if len(classes) == output.n_outputs else None,
        title=f"{type(model).__name__}: {output.name}",
    )


def _penalties(penalty: WeightPenalty) -> list[str]:
    given = [
        f"{name}={short_number(strength)}"
        for name, strength in (("l1", penalty.l1), ("l2", penalty.l2))
        if strength
    ]
    return [f"Penalty on the weights: {' + '.join(given)}."] if given else []


def _columns(model: FittedNetwork) -> NamedTable:
    """How strongly the predictor depends on each column; see ``formulas``."""
    share = model.column_strengths_
    return NamedTable(
        "columns",
        (NamedColumn("column", "column"), NamedColumn("strength", "strength", "number")),
        tuple(zip(model.terms_, share.tolist(), strict=True)),
        noun="column",
        title="Columns by how strongly predictions depend on them",
        weights=tuple((each,) for each in share.tolist()),
    )


def _layers(architecture: Architecture) -> NamedTable:
    rows = list[tuple[Any, ...]]()
    for at, size in enumerate(architecture.n_parameters_by_layer):
        outputs, inputs = architecture.sizes[at + 1], architecture.sizes[at]
        name = "output" if at == architecture.n_layers - 1 else f"hidden {at + 1}"
        biases = outputs if architecture.biases[at] else 0
        weights = f"{outputs} × {inputs}"
        rows.append((name, outputs, architecture.activations[at], weights, biases, size))
    if architecture.n_extra:
        rows.append(("thresholds", None, "", "", None, architecture.n_extra))
    columns = (
        NamedColumn("layer", "layer"),
        NamedColumn("units", "units", "number"),
        NamedColumn("activation", "activation"),
        NamedColumn("weights", "weights"),
        NamedColumn("biases", "biases", "number"),
        NamedColumn("parameters", "parameters", "number"),
    )
    return NamedTable("layers", columns, tuple(rows), noun="layer", ranked=False)


class Inspection(NamedTuple):
    """Every value of a network for some rows, and the errors that are propagated back."""

    a: tuple[Array, ...]  # a^(1) … a^(L), each (n, units): what activations are applied to
    h: tuple[Matrix, ...]  # h^(0) = x, h^(1) … h^(L)
    mean: Array  # of the response; probabilities of classes
    loss: Array | None = None  # of each row, where y was given
    deltas: tuple[Array, ...] = ()  # ∂loss/∂a^(1) … ∂loss/∂a^(L) of each row, where y was given
    gradient: tuple[Layer, ...] = ()  # of the summed loss, by layer, where y was given
    network: int = 0  # which of several networks, from 0
    n_networks: int = 1  # that are averaged in a prediction

    def __repr__(self) -> str:
        """The smallest and the largest value of each layer."""
        has_errors = bool(self.deltas)
        head = ["layer", "units", "a", "h", *(["mean |δ|"] if has_errors else [])]
        rows = [["input", str(self.h[0].shape[1]), "", _range(self.h[0])]]
        for at, (a, h) in enumerate(zip(self.a, self.h[1:], strict=True)):
            name = "output" if at == len(self.a) - 1 else "hidden"
            rows.append([name, str(a.shape[1]), _range(a), _range(h)])
        if has_errors:
            errors = ["", *(f"{np.abs(delta).mean():.4g}" for delta in self.deltas)]
            rows = [[*row, error] for row, error in zip(rows, errors, strict=True)]
        return "\n".join([self._title(), "", *text_table(head, rows, words=(0, 2, 3))])

    def _title(self) -> str:
        parts = [f"Values of {count(len(self.mean), 'row')} in every layer"]
        if self.loss is not None:
            parts.append(f"mean loss {np.mean(self.loss):.6g}")
        if self.n_networks > 1:
            parts.append(
                f"of network {self.network + 1} of {self.n_networks} alone (network="
                f"{self.network}): predictions average all, and shrink the average"
            )
        return f"{'; '.join(parts)}."


def _range(values: Matrix) -> str:
    """From the smallest to the largest."""
    return f"{values.min():.4g} to {values.max():.4g}" if values.shape[0] else ""


def inspected(
    architecture: Architecture, output: Output, theta: Array, X: Matrix, y: Any = None
) -> Inspection:
    """The values of all layers, in float64; with targets also losses, errors and gradient."""
    theta, X = theta.astype(np.float64), X.astype(np.float64, copy=False)
    found, extra = forward(architecture, theta, X), architecture.extra(theta)
    mean = output.mean(found.eta, extra)
    if y is None:
        return Inspection(found.a, found.h, mean)
    here = output.loss_and_slope(output.target(y), found.eta, extra)
    deltas, gradient = backward(architecture, theta, found, here.slope)
    return Inspection(
        found.a, found.h, mean, here.loss, deltas, tuple(architecture.unpack(gradient))
    )
