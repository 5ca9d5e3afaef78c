"""What the target is taken for: as it was given, as its values say, or as the model needs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from likely.errors import InvalidInput
from likely.kinds import TargetKind, kinds_in_order

if TYPE_CHECKING:
    from likely.cli.options import DataOptions
    from likely.workbench.dataset import Dataset
    from likely.workbench.model_entry import ModelEntry
    from likely.workbench.task import Task

MOST_NAMED = 6  # classes in a sentence


def task_facts(task: "Task") -> dict[str, Any]:
    """What ``run.json`` keeps of a task."""
    told = {"kind": task.kind, "reason": task.reason}
    return told if task.order is None else told | {"order": list(task.order)}


def task_for(data: "Dataset", chosen: "ModelEntry", given: Mapping[str, Any]) -> "Task":
    """The task of the target: as it was given, else as far as the model leaves a choice."""
    from likely.workbench.task import task_for_models

    kind, order, target = data.kind, data.order, data.required_target()
    if order is None and given.get("order") is not None and kind in (None, "ordinal"):
        order = tuple(given["order"])
    chosen = chosen.with_settings(given)
    task = task_for_models(data.table, target, chosen, kind=kind, order=order)
    if data.declared and task.kind not in chosen.suits:
        raise InvalidInput(
            f"{chosen.name} is for {', '.join(kinds_in_order(chosen.suits))} targets; "
            f"{target!r} was given as {task.kind}. Choose one of {_names_for(task.kind)}, or "
            "another kind."
        )
    return task


def about_task(task: "Task") -> tuple[str, ...]:
    """One sentence where the values leave a doubt."""
    return (f"{task.target}: {task.doubt[:1].lower()}{task.doubt[1:]}",) if task.doubt else ()


def about_order(chosen: "ModelEntry", model: Any, given: Mapping[str, Any]) -> tuple[str, ...]:
    """Of a file that was streamed: words have no order of their own, so say which one was taken."""
    from likely.workbench.task import alphabetical

    if not chosen.is_ordinal or given.get("order") is not None:
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


def settings_with_order(
    data: "Dataset", chosen: "ModelEntry", given: dict[str, Any]
) -> dict[str, Any]:
    """The settings of a model that is fitted to the columns as they are, with ``--order``."""
    from likely.cli.assignments import value_of
    from likely.data.source import column_index

    if data.order is None or not chosen.is_ordinal:
        return given
    place = column_index(data.source.names, str(data.target))
    text = data.source.kinds[place] == "category"
    words = [word if text or not isinstance(word, str) else value_of(word) for word in data.order]
    return given | {"order": words}


def _names_for(kind: TargetKind) -> str:
    from likely.cli.assignments import trainable

    return ", ".join(entry.name for entry in trainable() if kind in entry.suits)
