"""What a fitted network says about itself: its layers, its training and its losses."""

from typing import Any

from likely.description import Description, Fact, NamedColumn, NamedTable
from likely.formatting import count, short_number
from likely.neural.architecture import Architecture


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
    notes = [f"{history.ending[:1].upper()}{history.ending[1:]}."]
    if history.kept_epoch != history.n_epochs:
        notes.append(f"The parameters are those of epoch {history.kept_epoch}.")
    if held:
        notes.append(f"Trained on {count(trained, 'row')}, judged by {count(held, 'other')}.")
    return Description(
        f"{type(model).__name__}: {sizes}, {model.output_.name}",
        fit=tuple(facts),
        tables=(_layers(architecture),),
        notes=(*notes, *_penalties(model)),
        n_iter=history.n_epochs,
    )


def _penalties(model: Any) -> list[str]:
    given = [
        f"{name}={short_number(float(vars(model)[name]))}"
        for name in ("l1", "l2")
        if vars(model)[name]
    ]
    return [f"Penalty on the weights: {' + '.join(given)}."] if given else []


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
