"""The rows that models are compared on, and what a seal remembers about them.

Rows without a target can be neither learned from nor scored; they are left out, and counted.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.data.arrow import decoded, with_target
from likely.data.finite import refuse_infinities
from likely.data.frames import library_of
from likely.errors import InvalidInput, UnknownName
from likely.kinds import TargetKind
from likely.sealing.recognition import refuse_sealed_rows_near
from likely.sealing.split import times_of
from likely.workbench.folds import Folds
from likely.workbench.opened import MANIFEST, is_sealed, kind_and_order
from likely.workbench.search.question import rows_and_target
from likely.workbench.task import Task, task_for_models

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
    sealed_group: str | None = None  # of the seal, by whatever column rows are parted

    @property
    def learned(self) -> "pa.Table":
        """The columns that models see, and the target: a group names rows, and is no feature."""
        apart = {self.group, self.sealed_group} - {None}
        return self.table.drop_columns([name for name in self.table.column_names if name in apart])

    def take(self, rows: Array) -> "Rows":
        """Some of the rows."""
        return self._replace(table=self.table.take(rows))

    def folds(self, *, n_folds: int, repeats: int, seed: int) -> Folds:
        """Stratified where there are classes, by group or by time where that was said."""
        n_rows = self.table.num_rows
        if self.by_time is not None:
            time = time_of(self.table, self.by_time)
            return Folds(n_rows=n_rows, n_folds=n_folds, seed=seed, time=time)
        return Folds(
            n_rows=n_rows,
            n_folds=n_folds,
            repeats=repeats,
            seed=seed,
            stratify=self.task.strata(self.table) if self.task.has_classes else None,
            groups=None if self.group is None else codes_of(self.table, self.group),
        )


def rows_for(
    data: Any,
    target: Any,
    *,
    models: Any = None,
    kind: TargetKind | None = None,
    order: Sequence[Any] | None = None,
    group: str | None = None,
    by_time: str | None = None,
    doing: str | None = None,
) -> Rows:
    """Open the data; of a sealed folder its training part, target, kind, groups and times.

    ``models`` are those that were named for it: see ``task_for_models``.  ``doing`` names what is
    about to learn from the rows: then sealed ones are refused.
    """
    library = None if isinstance(data, str | Path) else library_of(data)
    data, target = with_target(data, target)
    table, target = rows_and_target(data, target)
    remembered = _remembered(data)
    if doing is not None and not remembered:
        place = data if isinstance(data, str | Path) else None
        refuse_sealed_rows_near(table, place, doing=doing)
    kind, order = kind_and_order(remembered, target, kind=kind, order=order)
    task = task_for_models(table, target, models, kind=kind, order=order)
    refuse_infinities(table.to_batches())  # a fold would name another row
    known = task.known(table)
    if not known.all():
        table = table.take(np.flatnonzero(known))
    sealed_group = remembered.get("group")
    if group is None and by_time is None:
        group, by_time = sealed_group, remembered.get("by_time")
    _check_parting(table, target, group, by_time)
    if len({*table.column_names} - {group, sealed_group}) < 2:
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
        by_time,
        bool(remembered),
        None if remembered else library,
        sealed_group,
    )


def _check_parting(table: "pa.Table", target: str, group: str | None, by_time: str | None) -> None:
    """Rows are held out by group or by time, and neither is what is to be predicted."""
    if group is not None and by_time is not None:
        raise InvalidInput(
            f"Both group={group!r} and by_time={by_time!r} were given; rows are held out by one "
            "of them. Leave one out."
        )
    for name in (group, by_time):
        if name is not None and name not in table.column_names:
            raise UnknownName("column", name, table.column_names)
    if target in (group, by_time):
        raise InvalidInput(
            f"{target!r} is the target; another column was expected to say which rows are held "
            "out together. Name that one."
        )


def time_of(table: "pa.Table", name: str) -> Array:
    """Whole numbers in the order of time; a column that has none is refused."""
    import pyarrow.compute as pc

    times = times_of(table.column(name), name)
    rank = pc.rank(times, sort_keys="ascending", tiebreaker="dense")
    return np.asarray(rank.to_numpy()).astype(np.int64)


def codes_of(table: "pa.Table", name: str) -> Array:
    """Whole numbers in the order of a column's values; each missing one is a value of its own."""
    import pyarrow.compute as pc

    column = table.column(name)
    column = decoded(column)
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
