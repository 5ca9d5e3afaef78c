"""Whether a table suits a model, found in one pass before the work; if not, which models do.

Which models are for numbers, for two classes, for more, or take missing cells is what their
entries in ``likely.workbench.models`` say.
"""

import shlex
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from likely.cli.exits import Exit, Refusal
from likely.data.arrow import refuse_infinities
from likely.data.labels import are_names, refuse_names
from likely.data.source import Source, column_index
from likely.errors import InvalidInput
from likely.formatting import count
from likely.kinds import TargetKind
from likely.workbench.given_data import BUILTIN
from likely.workbench.model_entry import ModelEntry
from likely.workbench.models import MODELS
from likely.workbench.roles import Roles

if TYPE_CHECKING:
    import pyarrow as pa


class Gap(NamedTuple):
    """A missing cell."""

    column: str
    row: int  # from 1


class Wish(NamedTuple):
    """What was asked for."""

    data: str  # as it was given
    model: ModelEntry
    roles: Roles

    @property
    def target(self) -> str:
        return str(self.roles.target)

    def with_model(self, better: str) -> str:
        """The command that trains another model on the same target."""
        known = self.data in BUILTIN and BUILTIN[self.data].target == self.target
        option = [] if known else ["--target", self.target]
        return shlex.join(["likely", "train", self.data, better, *option])


def check_suitable(source: Source, wish: Wish) -> None:
    """Refuse a target that the model cannot predict, and cells that it cannot do without."""
    if wish.roles.target is not None:
        (_check_classes if wish.model.has_classes else _check_number)(source, wish)
    if not wish.model.missing:
        _check_gaps(source, wish)


def counted(source: Source, column: str) -> dict[Any, int]:
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
            return Gap(name, start + at + 1)
    return None


def has_gaps_or_dates(rows: "pa.Table", roles: Roles) -> bool:
    """Whether a linear model of the columns as they are would stumble, or learn dates by heart."""
    if rows.column(roles.target).null_count or rows.num_rows == 0:
        return False  # refused with the row
    features = rows.drop_columns(roles.columns)
    return first_gap(features) is not None or _holds_dates(features)


def _holds_dates(table: "pa.Table") -> bool:
    """Whether a column holds dates, or text that is all dates: preparing it makes them days."""
    import pyarrow as pa

    from likely.data.frames import as_table
    from likely.workbench.preparation.cells import days_of_text, read_cells

    for name in table.column_names:
        column = table.column(name)
        kind = column.type
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            return True
        text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        known = column.drop_null() if text else []
        if not len(known) or not known[0].as_py()[:4].isdigit():  # no year: no need to read on
            continue
        cells = read_cells(as_table(table.select([name])), 0, name)
        if cells.factor is not None and days_of_text(cells.factor) is not None:
            return True
    return False


@contextmanager
def naming_rows(source: Source, target: str | None) -> Iterator[None]:
    """Name a cell that a fit stumbled over by its row of the table: the fit saw some rows only."""
    try:
        yield
    except InvalidInput:
        if target is not None:
            _check_labels(source.select([target]), target)
        refuse_infinities(iter(source))
        raise


def _check_labels(rows: Source, target: str) -> None:
    start = 0
    for batch in rows:
        gap = first_gap(batch, start)
        start += batch.num_rows
        if gap is not None:
            _refuse(
                f"Row {gap.row - 1}: the label in column {target!r} is missing; a row without it "
                "cannot be learned from. Fill it in, drop the row, or let naive-bayes learn from "
                "such rows too: --set unlabelled=nan."
            )


def _check_classes(source: Source, wish: Wish) -> None:
    """A number that is measured is no class; nor is a column where nearly every value differs."""
    counts = counted(source, wish.target)
    labels = [label for label in counts if label is not None]
    if not labels:
        _refuse(f"Column {wish.target!r} is empty; labels were expected. Choose another --target.")
    if len(labels) == 1:
        _refuse(
            f"Column {wish.target!r} holds nothing but {labels[0]!r}, one class; at least two were "
            "expected. Choose another --target."
        )
    fractions = [x for x in labels if isinstance(x, float) and x == x and not x.is_integer()]
    lonely = are_names(len(labels), sum(counts.values()))
    if fractions or lonely:
        found = f"such as {fractions[0]:g}" if fractions else f"{len(labels):,} different values"
        numeric = all(isinstance(label, int | float) for label in labels)
        if all(isinstance(label, str) for label in labels):
            refuse_names(wish.target, labels, sum(counts.values()))
        numbers = _as_they_are("real")
        advice = f"Use {' or '.join(numbers)}" if numeric else "Choose another target"
        _refuse(
            f"Column {wish.target!r} holds measurements or names ({found}); {wish.model.name} "
            f"needs classes with several rows each. {advice}, or cut the column into classes.",
            wish.with_model(numbers[0]) if numeric else "likely models",
        )
    if wish.model.suits == {"binary"} and len(labels) > 2:
        _refuse(
            f"Column {wish.target!r} has {len(labels)} classes; {wish.model.name} tells two apart. "
            f"Use {' or '.join(_as_they_are('classes'))}, or ordinal where they have an order.",
            wish.with_model(_as_they_are("classes")[-1]),
        )


def _check_number(source: Source, wish: Wish) -> None:
    if source.kinds[column_index(source.names, wish.target)] in ("number", "boolean"):
        return
    labels = [label for label in counted(source, wish.target) if label is not None]
    better = _as_they_are("binary" if len(labels) == 2 else "classes")
    shown = f" such as {labels[0]!r}" if labels else ""
    _refuse(
        f"Column {wish.target!r} holds text{shown}; {wish.model.name} predicts numbers. Use "
        f"{' or '.join(better)} for its {count(len(labels), 'class', 'classes')}, or choose "
        "another --target.",
        wish.with_model(better[-1]),
    )


def _check_gaps(source: Source, wish: Wish) -> None:
    start = 0
    for batch in source:
        gap = first_gap(batch, start)
        start += batch.num_rows
        if gap is not None:
            _refuse_gap(gap, wish)


def _refuse_gap(gap: Gap, wish: Wish) -> NoReturn:
    name = wish.model.name
    if gap.column in wish.roles.columns:
        _refuse(
            f"Column {gap.column!r} is empty in row {gap.row}; {name} needs a value in every row. "
            "Fill it, or drop the row."
        )
    classes = wish.model.has_classes
    able = [entry.name for entry in MODELS.values() if entry.missing and entry.has_classes]
    other = f", or use {' or '.join(able)}, which go on without it" if classes else ""
    _refuse(
        f"Column {gap.column!r} has a missing cell in row {gap.row}; {name} needs a value in every "
        f"cell. Fill it, or drop the row or the column{other}.",
        wish.with_model(able[0]) if classes else "likely models",
    )


def _as_they_are(kind: TargetKind) -> list[str]:
    """The models that are fitted to the columns as they are, for a kind of target."""
    return [entry.name for entry in MODELS.values() if entry.streams and kind in entry.targets]


def _refuse(message: str, next: str = "likely train --help") -> NoReturn:
    raise Refusal(message, Exit.DATA, next)
