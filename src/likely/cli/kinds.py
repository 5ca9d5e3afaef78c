"""What the target is taken for: as it was given, as its values say, or as the model needs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from likely.errors import InvalidInput
from likely.kinds import CLASS_KINDS, NUMBER_KINDS, TargetKind

if TYPE_CHECKING:
    from likely.cli.options import DataOptions
    from likely.cli.registry import Model
    from likely.workbench.dataset import Dataset
    from likely.workbench.task import Task
    from likely.workbench.task_for_models import Suits

MOST_NAMED = 6  # classes in a sentence


def task_facts(task: "Task") -> dict[str, Any]:
    """What ``run.json`` keeps of a task."""
    told = {"kind": task.kind, "reason": task.reason}
    return told if task.order is None else told | {"order": list(task.order)}


def task_for(data: "Dataset", chosen: "Model", given: Mapping[str, Any]) -> "Task":
    """The task of the target: as it was given, else as far as the model leaves a choice."""
    from likely.workbench.models import kinds_in_order
    from likely.workbench.task_for_models import task_for_models

    kind, order, target = data.kind, data.order, data.required_target()
    if order is None and given.get("order") is not None and kind in (None, "ordinal"):
        order = tuple(given["order"])
    suits = suits_of_model(chosen, given)
    task = task_for_models(data.table, target, [suits], kind=kind, order=order)
    if data.declared and task.kind not in suits.kinds:
        raise InvalidInput(
            f"{chosen.name} is for {', '.join(kinds_in_order(suits.kinds))} targets; "
            f"{target!r} was given as {task.kind}. Choose one of {_names_for(task.kind)}, or "
            "another kind."
        )
    return task


def suits_of_model(chosen: "Model", given: Mapping[str, Any]) -> "Suits":
    """The kinds of target that a model of the command line is for."""
    from likely.workbench.models import CANDIDATES
    from likely.workbench.task_for_models import Suits, kind_of_response

    candidate = CANDIDATES.get(chosen.name)
    if candidate is not None:
        return Suits(chosen.name, candidate.suits)
    kinds = NUMBER_KINDS if chosen.target == "number" else CLASS_KINDS
    return Suits(chosen.name, kinds, kind_of_response(given.get("response")))


def about_task(task: "Task") -> tuple[str, ...]:
    """One sentence where the values leave a doubt."""
    return (f"{task.target}: {task.doubt[:1].lower()}{task.doubt[1:]}",) if task.doubt else ()


def about_order(chosen: "Model", model: Any, given: Mapping[str, Any]) -> tuple[str, ...]:
    """Of a file that was streamed: words have no order of their own, so say which one was taken."""
    from likely.workbench.task import alphabetical

    if chosen.target != "ordered" or given.get("order") is not None:
        return ()
    classes = model.classes_.tolist()
    if not isinstance(classes[0], str) or classes != sorted(classes):  # the column's own order
        return ()
    return (alphabetical(classes),)


def refuse_two_orders(options: "DataOptions", given: Mapping[str, Any]) -> None:
    if options.order is not None and "order" in given:
        raise click.UsageError(
            "--order and --set order=… were given; the classes have one order. Leave one of them "
            "out."
        )


def settings_with_order(data: "Dataset", chosen: "Model", given: dict[str, Any]) -> dict[str, Any]:
    """The settings of a model that is fitted to the columns as they are, with ``--order``."""
    from likely.cli.registry import value_of
    from likely.data.source import column_index

    if data.order is None or chosen.target != "ordered":
        return given
    place = column_index(data.source.names, str(data.target))
    text = data.source.kinds[place] == "category"
    words = [word if text or not isinstance(word, str) else value_of(word) for word in data.order]
    return given | {"order": words}


def _names_for(kind: TargetKind) -> str:
    from likely.cli.registry import MODELS

    found = [name for name, model in MODELS.items() if kind in suits_of_model(model, {}).kinds]
    return ", ".join(name for name in found if MODELS[name].supervised)
