"""The rows that models are compared on, and what a seal remembers about them.

Rows without a target can be neither learned from nor scored; they are left out, and counted.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.data.frames import library_of
from likely.errors import InvalidInput, UnknownName
from likely.evaluate.asking import rows_and_target
from likely.evaluate.folds import Folds
from likely.evaluate.objective import strata_of
from likely.evaluate.opened import MANIFEST, is_sealed
from likely.evaluate.task import Kind, Task, task_of

if TYPE_CHECKING:
    import pyarrow as pa


class Rows(NamedTuple):
    """A table in which every row has a target."""

    table: "pa.Table"
    task: Task
    label: str  # what the data are called
    n_without: int  # rows without a target, left out
    group: str | None = None  # the column whose equal values stay together
    by_time: str | None = None  # the column by which later rows are predicted from earlier ones
    sealed: bool = False  # whether they are the training part of a seal
    library: str | None = None  # of the frame that was given

    def folds(self, *, n_folds: int, repeats: int, seed: int) -> Folds:
        """Stratified where there are classes, by group or by time where that was said."""
        n_rows = self.table.num_rows
        if self.by_time is not None:
            time = codes_of(self.table, self.by_time)
            return Folds(n_rows=n_rows, n_folds=n_folds, seed=seed, time=time)
        return Folds(
            n_rows=n_rows,
            n_folds=n_folds,
            repeats=repeats,
            seed=seed,
            stratify=strata_of(self.table, self.task) if self.task.has_classes else None,
            groups=None if self.group is None else codes_of(self.table, self.group),
        )


def rows_for(
    data: Any, target: str | None, *, kind: Kind | None = None, group: str | None = None
) -> Rows:
    """Open the data; of a sealed folder its training part, target, groups and times."""
    table, target = rows_and_target(data, target)
    remembered = _remembered(data)
    task = task_of(table, target, kind=kind)
    known = task.known(table)
    if not known.all():
        table = table.take(np.flatnonzero(known))
    group = remembered.get("group") if group is None else group
    if group is not None and group not in table.column_names:
        raise UnknownName("column", group, table.column_names)
    if len(table.column_names) < 2:
        raise InvalidInput(
            f"The table has no column but {target!r}; at least one to learn from was expected. "
            "Add one."
        )
    return Rows(
        table,
        task,
        str(data) if isinstance(data, str | Path) else remembered.get("label", "table"),
        int(len(known) - known.sum()),
        group,
        remembered.get("by_time") if group is None else None,
        bool(remembered),
        None if isinstance(data, str | Path) or remembered else library_of(data),
    )


def codes_of(table: "pa.Table", name: str) -> Array:
    """Whole numbers in the order of a column's values; each missing one is a value of its own."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    rank = pc.rank(column, sort_keys="ascending", tiebreaker="dense")
    codes = np.array(rank.to_numpy(), dtype=np.int64)
    gaps = np.asarray(pc.is_null(column).to_numpy())
    codes[gaps] = codes.max() + 1 + np.arange(int(gaps.sum()))
    return codes


def _remembered(data: Any) -> dict[str, Any]:
    """What the manifest of a seal says; nothing for other data."""
    path = Path(data) if isinstance(data, str | Path) else None
    if path is None and library_of(data) == "likely":
        path = getattr(data, "path", None)
    if path is None or not is_sealed(path):
        return {}
    manifest: dict[str, Any] = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    return {**manifest, "label": str(path)}
