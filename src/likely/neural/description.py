"""What a fitted network says about itself: its layers, its training and its losses."""

from typing import Any

from likely.description import DescribedLosses, Description, Fact, NamedColumn, NamedTable
from likely.formatting import count, short_number
from likely.graphical.drawing.diagram import Diagram
from likely.graphical.drawing.network_picture import network_picture
from likely.neural.architecture import Architecture
from likely.neural.units import weight_strengths

STRENGTH = (
    "Strength is the mean absolute slope of the predictor along a column times the standard "
    "deviation of the column, on training rows, as a share: how much a column moves predictions, "
    "not in which direction."
)


def describe_network(model: Any) -> Description:
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
        notes=(*_average(model), *notes, *_penalties(model), STRENGTH),
        n_iter=history.n_epochs,
        curves=tuple(_curves(model)),
    )


def _curves(model: Any) -> list[DescribedLosses]:
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


def _average(model: Any) -> list[str]:
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


def picture_of(model: Any) -> Diagram:
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


def _penalties(model: Any) -> list[str]:
    given = [
        f"{name}={short_number(strength)}"
        for name, strength in weight_strengths(model)._asdict().items()
        if strength
    ]
    return [f"Penalty on the weights: {' + '.join(given)}."] if given else []


def _columns(model: Any) -> NamedTable:
    """How strongly the predictor depends on each column; see ``strengths``."""
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
