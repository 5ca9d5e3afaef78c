"""What the target is: the options ``--kind`` and ``--order``, and what was taken without them.

The library says ``kind='count'`` and ``order=[…]``; the command line has options for both, and
sentences are put into its words.
"""

import csv
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from likely.errors import InvalidInput
from likely.kinds import TARGET_KINDS, TargetKind, kinds_in_order

if TYPE_CHECKING:
    import pyarrow as pa

    from likely.cli.roles import Roles
    from likely.data.source import Source
    from likely.workbench.model_entry import ModelEntry
    from likely.workbench.task import Task

Command = Callable[..., Any]
MOST_NAMED = 6  # classes in a sentence


class Said(NamedTuple):
    """What was said of the target; None where nothing was."""

    kind: TargetKind | None = None
    order: tuple[Any, ...] | None = None

    @property
    def anything(self) -> bool:
        return self.kind is not None or self.order is not None

    @property
    def words(self) -> str:
        """The options again, for the next command."""
        if self.order is not None:
            return f" --order {shlex.quote(_one_line(self.order))}"
        return "" if self.kind is None else f" --kind {self.kind}"


UNSAID = Said()


def kind_options(command: Command) -> Command:
    """Add ``--kind`` and ``--order``; the verb finds them with ``said``."""
    for add in (
        click.option(
            "--order",
            metavar="LOW,…,HIGH",
            expose_value=False,
            callback=_keep_order,
            help="The classes from lowest to highest; they are then ordinal.",
        ),
        click.option(
            "--kind",
            type=click.Choice(TARGET_KINDS),
            expose_value=False,
            callback=_keep,
            help="What the target is, where its values could be several.",
        ),
    ):
        command = add(command)
    return command


def said() -> Said:
    """What the options of this command have said."""
    kept = click.get_current_context().meta
    kind, order = kept.get("likely.kind"), kept.get("likely.order")
    if order is not None and kind not in (None, "ordinal"):
        raise click.UsageError(
            f"--order and --kind {kind} were given; an order is of ordinal targets. Leave one of "
            "them out.",
            click.get_current_context(),
        )
    return Said(kind, order)


def said_or_sealed(given: Said, manifest: Any) -> Said:
    """As given; else as the manifest of a seal remembers, where there is one."""
    from likely.workbench.opened import kind_and_order

    if manifest is None:
        return given
    told = {"target": "", "kind": manifest.kind, "order": manifest.order}
    kind, order = kind_and_order(told, "", kind=given.kind, order=given.order)
    return Said(kind, None if order is None else tuple(order))


def said_in_run(facts: Mapping[str, Any]) -> Said:
    """What the target of a run was taken for."""
    task = facts.get("task") or {}
    kind, order = task.get("kind"), task.get("order")
    if kind == "ordinal" and order is None:
        order = facts.get("classes")
    return Said(kind, None if order is None else tuple(order))


def task_facts(task: "Task") -> dict[str, Any]:
    """What ``run.json`` keeps of a task."""
    told = {"kind": task.kind, "reason": task.reason}
    return told if task.order is None else told | {"order": list(task.order)}


def task_for(
    rows: "pa.Table",
    target: str,
    chosen: "ModelEntry",
    given: Mapping[str, Any],
    said: Said = UNSAID,
) -> "Task":
    """The task of the target: as it was said, else as far as the model leaves a choice."""
    from likely.workbench.task import task_for_models

    kind, order = said
    if order is None and given.get("order") is not None and kind in (None, "ordinal"):
        order = tuple(given["order"])
    task = task_for_models(rows, target, chosen.with_settings(given), kind=kind, order=order)
    if said.anything and task.kind not in chosen.suits:
        raise InvalidInput(
            f"{chosen.name} is for {', '.join(kinds_in_order(chosen.suits))} targets; "
            f"{target!r} was given as {task.kind}. Choose one of {_names_for(task.kind)}, or "
            "another kind."
        )
    return task


def about_task(task: "Task") -> tuple[str, ...]:
    """One sentence where the values leave a doubt."""
    return (in_options(f"{task.target}: {_lowered(task.doubt)}"),) if task.doubt else ()


def about_order(chosen: "ModelEntry", model: Any, given: Mapping[str, Any]) -> tuple[str, ...]:
    """Of a file that was streamed: words have no order of their own, so say which one was taken."""
    if not chosen.is_ordinal or given.get("order") is not None:
        return ()
    classes = model.classes_.tolist()
    if not isinstance(classes[0], str) or classes != sorted(classes):  # the column's own order
        return ()
    shown = " < ".join(classes[:MOST_NAMED]) + (" < …" if len(classes) > MOST_NAMED else "")
    return (
        in_options(
            f"The classes are taken in alphabetical order: {shown}; order=[…] gives another."
        ),
    )


def refuse_two_orders(said: Said, given: Mapping[str, Any]) -> None:
    if said.order is not None and "order" in given:
        raise click.UsageError(
            "--order and --set order=… were given; the classes have one order. Leave one of them "
            "out.",
            click.get_current_context(),
        )


def settings_with_order(
    said: Said, chosen: "ModelEntry", given: dict[str, Any], source: "Source", roles: "Roles"
) -> dict[str, Any]:
    """The settings of a model that is fitted to the columns as they are, with ``--order``."""
    from likely.cli.assignments import value_of
    from likely.data.source import column_index

    if said.order is None or not chosen.is_ordinal:
        return given
    text = source.kinds[column_index(source.names, str(roles.target))] == "category"
    return given | {"order": [word if text else value_of(word) for word in said.order]}


def in_options(sentence: str) -> str:
    """A sentence of the library in the words of the command line."""
    sentence = re.sub(r"\bkind='(\w+)'", r"--kind \1", sentence)
    return sentence.replace("order=[…]", "--order LOW,…,HIGH")


def _keep(context: click.Context, option: click.Parameter, value: Any) -> None:
    if value is not None:
        context.meta["likely.kind"] = value


def _keep_order(context: click.Context, option: click.Parameter, value: str | None) -> None:
    if value is None:
        return
    labels = tuple(word.strip() for word in next(csv.reader([value], skipinitialspace=True), []))
    if len(labels) < 2 or not all(labels):
        raise click.BadParameter(
            f"--order is {value!r}; at least two classes were expected, from lowest to highest, "
            "with commas between them. Write --order low,mid,high.",
            context,
        )
    context.meta["likely.order"] = labels


def _one_line(order: Sequence[Any]) -> str:
    from io import StringIO

    line = StringIO()
    csv.writer(line, lineterminator="").writerow(order)
    return line.getvalue()


def _names_for(kind: TargetKind) -> str:
    from likely.cli.assignments import trainable

    return ", ".join(entry.name for entry in trainable() if kind in entry.suits)


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
