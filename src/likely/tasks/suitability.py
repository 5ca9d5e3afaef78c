"""The task of a target, and whether a model suits a table: before its fit, and before predictions.

The entries in ``likely.workbench.models.registry`` say which targets a model takes, and whether it
takes missing cells.  A model of a RUN reads the columns of its fit, by their names.
"""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from likely.errors import InvalidInput
from likely.kinds import TargetKind, kinds_in_order
from likely.output.formatting import column_named, count, listed
from likely.tasks.request import DataOptions, Exit, Refusal
from likely.workbench.models.model_entry import ModelEntry
from likely.workbench.models.registry import MODELS, trainable

if TYPE_CHECKING:
    import pyarrow as pa

    from likely.data.source import Source
    from likely.output.description import ColumnsRead
    from likely.runs import Run
    from likely.workbench.data.dataset import Dataset
    from likely.workbench.data.roles import Roles
    from likely.workbench.data.task import Task


class Gap(NamedTuple):
    """The position of a missing cell."""

    column: str
    row: int  # from 0


class PlannedFit(NamedTuple):
    """A model, the data as given, and the roles of its columns."""

    data: str  # as it was given
    model: ModelEntry
    roles: "Roles"

    @property
    def target(self) -> str:
        return str(self.roles.target)

    def with_model(self, better: str) -> str:
        """The command that trains another model on the same target."""
        from likely.workbench.data.builtin_data import BUILTIN

        known = self.data in BUILTIN and BUILTIN[self.data].target == self.target
        option = [] if known else ["--target", self.target]
        return shlex.join(["likely", "train", self.data, better, *option])


def task_facts(task: "Task") -> dict[str, Any]:
    """The facts of a task for ``run.json``."""
    facts = {"kind": task.kind, "reason": task.reason}
    return facts if task.order is None else facts | {"order": list(task.order)}


def task_for(data: "Dataset", chosen: ModelEntry, given: Mapping[str, Any]) -> "Task":
    """The task of the target: as it was given, else one that the model can take."""
    from likely.workbench.data.task import task_for_models

    kind, order, target = data.kind, data.order, data.required_target()
    if order is None and given.get("order") is not None and kind in (None, "ordinal"):
        order = _listed_classes(given["order"])
    chosen = chosen.with_settings(given)
    task = task_for_models(data.table, target, chosen, kind=kind, order=order, roles=data.roles)
    if data.declared and task.kind not in chosen.suits:
        raise InvalidInput(
            f"{chosen.name} takes {', '.join(kinds_in_order(chosen.suits))} targets; "
            f"{target!r} was given as {task.kind}. Use one of {_names_for(task.kind)}, or another "
            "--kind."
        )
    return task


def task_of_file(data: "Dataset", chosen: ModelEntry, given: Mapping[str, Any]) -> "Task":
    """The task of the target, of which every value is read, also of a streamed file."""
    from dataclasses import replace

    from likely.data.arrow import TableSource, in_one_table

    target = in_one_table(data.rows.select([data.required_target()]))
    return task_for(replace(data, source=TableSource(target)), chosen, given)


def _listed_classes(order: Any) -> tuple[Any, ...]:
    """The classes of ``--set order=…``, which is a JSON list."""
    if not isinstance(order, list):
        raise Refusal(
            f"--set order={order} was given; a list of the classes was expected, from lowest to "
            "highest. Write --order low,mid,high.",
            Exit.USAGE,
            "likely train --help",
        )
    return tuple(order)


def about_task(task: "Task") -> tuple[str, ...]:
    """A note where the values leave the kind of the target in doubt."""
    return (f"{task.target}: {task.doubt[:1].lower()}{task.doubt[1:]}",) if task.doubt else ()


def refuse_two_orders(options: DataOptions, given: Mapping[str, Any]) -> None:
    if options.order is not None and "order" in given:
        raise Refusal(
            "--order and --set order=… were both given; the classes have one order. Leave one of "
            "them out.",
            Exit.USAGE,
        )


def settings_with_order(
    data: "Dataset", chosen: ModelEntry, given: dict[str, Any]
) -> dict[str, Any]:
    """The settings of a model that is fitted to the columns as they are, with ``--order``."""
    from likely.data.source import column_index
    from likely.tasks.request import value_of

    if data.order is None or not chosen.is_ordinal:
        return given
    place = column_index(data.source.names, str(data.target))
    text = data.source.kinds[place] == "category"
    words = [word if text or not isinstance(word, str) else value_of(word) for word in data.order]
    return given | {"order": words}


def check_suitable(source: "Source", fit: PlannedFit) -> None:
    """Refuse a target that the model cannot predict, and missing cells that it cannot take."""
    if fit.roles.target is not None:
        (_check_classes if fit.model.has_classes else _check_number)(source, fit)
    gap = None if fit.model.missing else _gap_in(source)
    if gap is not None:
        _refuse_gap(gap, fit)


def counted(source: "Source", column: str) -> dict[Any, int]:
    """How many rows each value of a column has; a missing one is None."""
    import pyarrow.compute as pc

    total: Counter[Any] = Counter()
    for batch in source.select([column]):
        for entry in pc.value_counts(batch.column(0)).to_pylist():
            total[entry["values"]] += entry["counts"]
    return dict(total)


def first_gap(table: "pa.Table | pa.RecordBatch", start: int = 0) -> Gap | None:
    """The first column of the table with a missing cell; rows are counted from ``start``."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in table.schema.names:
        column = table.column(name)
        floating = pa.types.is_floating(column.type)
        if not (column.null_count or floating):
            continue
        missing = pc.is_null(column, nan_is_null=floating)
        at = pc.index(missing, True).as_py()
        if at >= 0:
            return Gap(name, start + at)
    return None


def needs_preparation(data: "Dataset", *, gaps: bool) -> bool:
    """Whether features need preparation: texts, dates, and missing cells where ``gaps``."""
    from likely.workbench.preparation.cells import date_columns

    if data.table.num_rows == 0:
        return False
    if data.texts:
        return True
    features = data.features
    return (gaps and first_gap(features) is not None) or any(date_columns(features))


def dates_in_file(data: "Dataset") -> Iterator[str]:
    """The columns of a streamed file whose text is all dates, as its first rows say."""
    import pyarrow as pa

    from likely.workbench.preparation.cells import date_columns

    first = next(iter(data.features_read), None)
    return iter(()) if first is None else date_columns(pa.Table.from_batches([first]))


@contextmanager
def naming_rows(source: "Source") -> Iterator[None]:
    """Name a refused cell by its row of the whole table, of which a fit sees only some rows."""
    from likely.data.arrow import refuse_infinities

    try:
        yield
    except InvalidInput:
        refuse_infinities(iter(source))
        raise


def _gap_in(rows: "Source") -> Gap | None:
    """The first missing cell that is read, with its row of the whole table; None without one."""
    start = 0
    for batch in rows:
        gap = first_gap(batch, start)
        if gap is not None:
            return gap
        start += batch.num_rows
    return None


def _check_classes(source: "Source", fit: PlannedFit) -> None:
    """Refuse a target of measurements or identifiers, and too many classes."""
    from likely.data.labels import are_names, refuse_names

    counts = counted(source, fit.target)
    labels = [label for label in counts if label is not None]
    if not labels:
        _refuse(f"Column {fit.target!r} is empty; labels were expected. Choose another --target.")
    if len(labels) == 1:
        _refuse(
            f"Column {fit.target!r} has only one class, {labels[0]!r}; at least two were expected. "
            "Choose another --target."
        )
    fractions = [x for x in labels if isinstance(x, float) and x == x and not x.is_integer()]
    lonely = are_names(len(labels), sum(counts.values()))
    if fractions or lonely:
        found = f"such as {fractions[0]:g}" if fractions else f"{len(labels):,} different values"
        numeric = all(isinstance(label, int | float) for label in labels)
        if all(isinstance(label, str) for label in labels):
            refuse_names(fit.target, labels, sum(counts.values()))
        numbers = _as_they_are("real")
        advice = f"Use {' or '.join(numbers)}" if numeric else "Choose another target"
        _refuse(
            f"Column {fit.target!r} holds measurements or identifiers ({found}); "
            f"{fit.model.name} needs classes with several rows each. {advice}, or group the values "
            "into classes.",
            fit.with_model(numbers[0]) if numeric else "likely models",
        )
    if fit.model.suits == {"binary"} and len(labels) > 2:
        _refuse(
            f"Column {fit.target!r} has {len(labels)} classes; {fit.model.name} is for two. Use "
            f"{' or '.join(_as_they_are('classes'))}, or ordinal if they have an order.",
            fit.with_model(_as_they_are("classes")[-1]),
        )


def _check_number(source: "Source", fit: PlannedFit) -> None:
    from likely.data.source import column_index

    if source.kinds[column_index(source.names, fit.target)] in ("number", "boolean"):
        return
    labels = [label for label in counted(source, fit.target) if label is not None]
    better = _as_they_are("binary" if len(labels) == 2 else "classes")
    example = f" such as {labels[0]!r}" if labels else ""
    _refuse(
        f"Column {fit.target!r} holds text{example}; {fit.model.name} predicts numbers. Use "
        f"{' or '.join(better)} for its {count(len(labels), 'class', 'classes')}, or choose "
        "another --target.",
        fit.with_model(better[-1]),
    )


def _refuse_gap(gap: Gap, fit: PlannedFit) -> NoReturn:
    name = fit.model.name
    if gap.column in fit.roles.columns:
        _refuse(
            f"Column {gap.column!r} has no value in row {gap.row} (counted from 0); {name} needs "
            "one in every row. Fill it in, or drop the row."
        )
    classes = fit.model.has_classes
    able = [entry.name for entry in MODELS.values() if entry.missing and entry.has_classes]
    other = f", or use {' or '.join(able)}, which accept missing cells" if classes else ""
    _refuse(
        f"Column {gap.column!r} has a missing cell in row {gap.row} (counted from 0); {name} needs "
        f"a value in every cell. Fill it in, or drop the row or the column{other}.",
        fit.with_model(able[0]) if classes else "likely models",
    )


def _as_they_are(kind: TargetKind) -> list[str]:
    """The models that are fitted to the columns as they are, for a kind of target."""
    able = (entry for entry in MODELS.values() if entry.streams and not entry.without_pairs)
    return [entry.name for entry in able if kind in entry.targets]


def _refuse(message: str, next: str = "likely train --help") -> NoReturn:
    raise Refusal(message, Exit.DATA, next)


def _names_for(kind: TargetKind) -> str:
    return ", ".join(entry.name for entry in trainable() if kind in entry.suits)


def columns_read_by(model: Any) -> "ColumnsRead":
    """How the columns were read; a classifier of texts alone has no kinds of columns."""
    from likely.names import has_method
    from likely.output.description import ColumnsRead

    return model.columns_read() if has_method(model, "columns_read") else ColumnsRead()


def needed_columns(model: Any) -> list[str]:
    """The columns that a prediction needs: those of the fit that its preparation did not drop."""
    dropped = set(getattr(model, "dropped_", ()))
    return [name for name in map(str, model.feature_names_in_) if name not in dropped]


def refuse_text(table: "pa.Table", numbers: tuple[str, ...], start: int) -> None:
    """Refuse text in a column that held numbers in training, with the row of the table."""
    import pyarrow as pa

    from likely.data.labels import are_written_numbers

    held_numbers = set(numbers)
    for name, column in zip(table.column_names, table.columns, strict=True):
        text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        if not text or name not in held_numbers:
            continue
        for row, cell in enumerate(column.to_pylist(), start=start):
            if cell is not None and not are_written_numbers([cell])[0]:
                raise Refusal(
                    f"Column {name!r} must hold numbers, as in training; found {cell!r} in row "
                    f"{row} (counted from 0). Correct the cell, or drop the row.",
                    Exit.DATA,
                    "likely predict --help",
                )


def refuse_gaps(table: "pa.Table", start: int) -> None:
    """Refuse a missing cell for a linear model, with the row of the table."""
    gap = first_gap(table, start)
    if gap is not None:
        raise Refusal(
            f"Column {gap.column!r} has a missing cell in row {gap.row} (counted from 0); a linear "
            "model needs a value in every cell. Fill it in, or drop the row.",
            Exit.DATA,
            "likely predict --help",
        )


def as_trained(table: "pa.Table", categories: frozenset[str]) -> "pa.Table":
    """The table with text in the columns that were text in training, even if all are digits."""
    import pyarrow as pa

    from likely.data.arrow_columns import kind_of_arrow

    for j, column in enumerate(table.schema):
        name = column.name
        if name in categories and kind_of_arrow(column.type) in ("number", "boolean"):
            table = table.set_column(j, name, table.column(j).cast(pa.string()))
    return table


def with_text_as_trained(run: "Run", data: "Dataset") -> "Dataset":
    """Texts of a folder or a mailbox, whose column is always named text, as the model names it."""
    from dataclasses import replace

    from likely.data.formats.folders import FolderSource
    from likely.data.formats.mbox import TEXT, MboxSource

    name = text_alone(run)
    if name is None or not isinstance(data.source, FolderSource | MboxSource):
        return data
    if name in data.source.names:
        return data
    return replace(data, source=data.source.renamed(TEXT, name), declared_texts=(name,))


def refuse_missing_columns(run: "Run", names: tuple[str, ...], label: str, name: str) -> None:
    from difflib import get_close_matches

    from likely.inputs.tables import names_in_fit
    from likely.workbench.data.roles import roles_in_run

    known = names_in_fit(run.model)
    if known is None:
        raise Refusal(
            f"The model in {run.path} was trained on an array without column names; the command "
            "line matches columns by name. Train it on a table.",
            Exit.DATA,
            "likely train --help",
        )
    roles = roles_in_run(run.facts)
    wanted = [*needed_columns(run.model), *roles.at_prediction()]
    here, read = set(names), set(wanted)
    missing = [str(column) for column in wanted if column not in here]
    if not missing:
        return
    extra = [column for column in names if column not in read]
    close = get_close_matches(missing[0], extra, n=1, cutoff=0.4)
    hint = f" Was it renamed to {close[0]!r}? Rename it back." if close else " Add it."
    if missing[0] == roles.exposure and not close:
        hint = " Add it; a column of 1s gives the prediction per unit of exposure."
    others = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
    raise Refusal(
        f"{label} has no {column_named(missing[0])}{others}, which the model was trained on; its "
        f"columns are {listed(names)}.{hint}",
        Exit.DATA,
        f"likely explain {shlex.quote(name)}",
    )


def text_alone(run: "Run") -> str | None:
    """The column of text that is all a prediction of the model needs; None for other models."""
    from likely.inputs.tables import names_in_fit
    from likely.text.text_classifier import TextClassifier
    from likely.workbench.data.roles import roles_in_run
    from likely.workbench.preparation.prepared import Prepared

    model = run.model
    if isinstance(model, TextClassifier) and names_in_fit(model) is not None:
        return needed_columns(model)[0]
    if not isinstance(model, Prepared) or model.preparation_ is None:
        return None
    texts, needed = model.preparation_.texts, needed_columns(model)
    alone = (
        list(texts) == needed and len(texts) == 1 and not roles_in_run(run.facts).at_prediction()
    )
    return texts[0] if alone else None
