"""A table and what is known about it: the one thing that verbs and public functions take.

``dataset`` makes one, once, of whatever was given:

    path of a file, ``-``        rows that are read when they are needed, the table at most once
    path of a seal, ``Sealed``   its training rows, and what it remembers
    built-in name                iris, wine, breast-cancer, digits, diabetes
    frame, array, Source         as it is
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np

from likely._typing import Codes
from likely.data.arrow import plain_types, refuse_infinities, refuse_twins, with_target
from likely.data.memory import TableSource, in_one_table
from likely.data.source import Source
from likely.data.split import sampled
from likely.errors import InvalidInput, UnknownName
from likely.formatting import listed
from likely.kinds import TargetKind
from likely.sealing.folder import SealFolder, seals_near
from likely.sealing.recognition import TABLE, log_prediction, refuse_sealed_rows
from likely.workbench.folds import Folds, codes_of, time_of
from likely.workbench.given_data import UNNAMED, opened
from likely.workbench.roles import Roles

if TYPE_CHECKING:
    import pyarrow as pa

    from likely.workbench.task import Task

IN_MEMORY_BYTES = 256 * 2**20  # files below this are read into memory
LOOKED_AT_BYTES = 256 * 2**20  # of a larger file some rows are looked at


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Dataset:
    """Rows, what their columns are for, and where they come from."""

    source: Source
    label: str  # what the data are called
    hashing: Callable[[], str]  # computes ``digest`` when it is first needed
    place: Path | None = None  # the file or the seal
    target: str | None = None
    kind: TargetKind | None = None  # of the target, as declared or remembered
    order: tuple[Any, ...] | None = None  # of its classes, from lowest to highest
    group: str | None = None  # the column whose equal values are held out together
    by_time: str | None = None  # the column by which later rows are predicted from earlier ones
    weight: str | None = None
    offset: str | None = None
    exposure: str | None = None
    clusters: str | None = None  # rows that belong together, for clustered standard errors
    dropped: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()  # columns declared to be categories
    seal: SealFolder | None = None  # whose training rows these are
    library: str | None = None  # of the frame that was given
    task: "Task | None" = None  # None until ``with_task`` has settled it
    n_without_target: int = 0  # rows that ``with_task`` left out

    @property
    def digest(self) -> str:
        """SHA-256 of the data as they were given: of the bytes of a file, of the cells of a table.

        What was dropped or declared, and rows without a target, make no difference.
        """
        return self.hashing()

    @cached_property
    def table(self) -> "pa.Table":
        """All rows; refused before more memory is spent than there is."""
        return in_one_table(self.source)

    @property
    def source_now(self) -> Source:
        """The table, where it has been read, so that nothing reads it again; else the source."""
        return TableSource(self.table) if "table" in vars(self) else self.source

    @property
    def in_memory(self) -> bool:
        """Whether the table is in memory, or small enough to be read into it."""
        if isinstance(self.source, TableSource):
            return True
        return (self.source.nbytes or 0) < IN_MEMORY_BYTES

    @property
    def rows(self) -> Source:
        """The rows as a source: in memory where they are small, else read in chunks."""
        return TableSource(self.table) if self.in_memory else self.source

    @property
    def sealed(self) -> bool:
        """Whether these are the training rows of a seal."""
        return self.seal is not None

    @property
    def declared(self) -> bool:
        """Whether the kind of the target, or the order of its classes, was given or sealed."""
        return self.kind is not None or self.order is not None

    @property
    def roles(self) -> Roles:
        return Roles(self.target, self.weight, self.offset, self.exposure, self.clusters)

    @property
    def settled(self) -> "Task":
        """The task, once ``with_task`` has settled it."""
        assert self.task is not None, "with_task comes first"
        return self.task

    @property
    def apart(self) -> frozenset[str]:
        """Columns that no model sees: groups name rows, and the others are given beside them."""
        sealed_group = None if self.seal is None else self.seal.manifest.group
        named = {self.group, sealed_group, *self.roles.beside().values(), *self.dropped}
        return frozenset(name for name in named if name in self.source.names)

    @property
    def learned(self) -> "pa.Table":
        """The columns that models see, and the target."""
        return self.table.drop_columns(sorted(self.apart))

    @property
    def features(self) -> "pa.Table":
        """The columns that models see."""
        return self.learned.drop_columns([] if self.target is None else [self.target])

    @cached_property
    def groups(self) -> Codes | None:
        """The group of each row; None where rows are not held out by group."""
        return None if self.group is None else codes_of(self.table, self.group)

    @cached_property
    def times(self) -> Codes | None:
        """The place of each row in time; None where rows are not held out by time."""
        return None if self.by_time is None else time_of(self.table, self.by_time)

    def with_task(self, models: Any = None) -> "Dataset":
        """Settle what is to be predicted; rows without a target are left out, and counted.

        ``models`` are those that were named for it: see ``task_for_models``.
        """
        if self.task is not None:
            return self
        from likely.workbench.task import task_for_models

        table, target = self.table, self.required_target()
        refuse_twins(table.column_names)
        task = task_for_models(table, target, models, kind=self.kind, order=self.order)
        refuse_infinities(table.to_batches())  # a fold would name another row
        self.refuse_no_features()
        return self.of_task(task)

    def of_task(self, task: "Task") -> "Dataset":
        """The rows that have a target of that task."""
        known = task.known(self.table)
        table = self.table if known.all() else self.table.take(np.flatnonzero(known))
        n_without = self.n_without_target + int(len(known) - known.sum())
        return replace(self, source=TableSource(table), task=task, n_without_target=n_without)

    def required_target(self) -> str:
        """The target; refused where none was given."""
        if self.target is None:
            raise InvalidInput(
                "No target was given; the column to predict was expected. Choose one of "
                f"{listed(self.source.names)}."
            )
        return self.target

    def refuse_no_features(self) -> None:
        """Refuse a table without a column to learn from."""
        beside = sorted(self.apart)
        if len(self.source.names) - len(beside) - (self.target is not None) > 0:
            return
        also = f" and {listed(beside)}" if beside else ""
        raise InvalidInput(
            f"The table has no column but {self.target!r}{also}; at least one to learn from was "
            "expected. Add one."
        )

    def refuse_roles(self, doing: str) -> None:
        """Refuse weights, offsets and the like, because ``doing`` uses the features alone."""
        for role, name in self.roles.beside().items():
            raise InvalidInput(
                f"{name!r} was given as {role}; {doing} fits and scores without it. Leave it out, "
                "or train one model with it."
            )

    def refuse_sealed_rows(self, doing: str, *, also: SealFolder | None = None) -> None:
        """Before a fit or a score: refuse data that hold a tenth or more of a seal's sealed rows.

        Seals are looked for near the working folder and the file; ``also`` may be elsewhere.
        """
        if self.seal is not None:
            return
        seals = self._seals_near()
        if also is not None and also.path.resolve() not in {each.path.resolve() for each in seals}:
            seals = (*seals, also)
        if seals:
            label = TABLE if self.label == UNNAMED else self.label
            rows = self.table if self.in_memory else iter(self.source)
            refuse_sealed_rows(rows, seals, label=label, doing=doing)

    def log_prediction(self) -> tuple[str, ...]:
        """Notes for predictions of sealed rows, which the ledger of their seal records."""
        seals = () if self.seal is not None else self._seals_near()
        held = log_prediction(iter(self.source), seals, label=self.label) if seals else ()
        return tuple(
            f"{self.label} holds {one}; this prediction is recorded in the ledger." for one in held
        )

    def _seals_near(self) -> tuple[SealFolder, ...]:
        return seals_near(*([] if self.place is None else [self.place]))

    def folds(self, n_folds: int, repeats: int = 1, seed: int = 0) -> Folds:
        """Folds of the rows: stratified by class; by group or by time where that was given."""
        n_rows, task = self.table.num_rows, self.settled
        if self.times is not None:
            return Folds(n_rows=n_rows, n_folds=n_folds, seed=seed, time=self.times)
        return Folds(
            n_rows=n_rows,
            n_folds=n_folds,
            repeats=repeats,
            seed=seed,
            stratify=task.strata(self.table) if task.has_classes else None,
            groups=self.groups,
        )

    def take(self, rows: Codes) -> "Dataset":
        """Some of the rows, by index."""
        return replace(self, source=TableSource(self.table.take(rows)))

    def some_rows(self) -> "pa.Table":
        """The table; of a file that is too large for memory, rows that a hash chooses."""
        import pyarrow as pa

        if isinstance(self.source_now, TableSource):
            return self.table
        share = LOOKED_AT_BYTES / max(self.source.nbytes or 1, 1)
        rows = self.source if share >= 1 else sampled(self.source, share)
        return plain_types(pa.Table.from_batches(list(rows)))


def dataset(
    data: Any,
    target: Any = None,
    *,
    kind: TargetKind | None = None,
    order: Sequence[Any] | None = None,
    group: str | None = None,
    by_time: str | None = None,
    weight: str | None = None,
    offset: str | None = None,
    exposure: str | None = None,
    clusters: str | None = None,
    drop: Sequence[str] = (),
    category: Sequence[str] = (),
) -> Dataset:
    """Open the data, unless they are a ``Dataset``, and add what was given now.

    Parameters
    ----------
    data : data frame, array, Source, Sealed, Dataset, built-in name, or path of a file or a seal
        Of what is sealed only the training part is read.  ``"-"`` is the standard input.
    target : str, or one label for each row
        The column to predict; a seal and built-in data know their own.
    kind, order
        What the target is, and its classes from lowest to highest; a seal remembers both.
    group, by_time : str
        The column by which rows are held out together, or in the order of time; a seal remembers.
    weight, offset, exposure, clusters : str
        Columns that come with a row beside its features.
    drop : sequence of str
        Columns that no model is to see.
    category : sequence of str
        Columns of codes that are categories, though they look like numbers.

    Examples
    --------
    >>> found = dataset("iris", drop=["petal_width"])
    >>> found.target, found.table.num_rows, len(found.source.names)
    ('species', 150, 4)
    """
    known = data if isinstance(data, Dataset) else None
    if known is None or not (target is None or isinstance(target, str)):
        data, target = with_target(data, target)
        known = _remembered(data)
    if target is not None and target != known.target:
        _refuse_other_target(known, target)
        known = replace(known, target=target, kind=None, order=None, task=None)
    if order is None and kind in (None, "ordinal"):
        order = known.order
    if kind is None and order is None:
        kind = known.kind
    if group is None and by_time is None:
        group, by_time = known.group, known.by_time
    given = replace(
        known,
        source=known.source_now,
        kind=kind,
        order=None if order is None else tuple(order),
        group=group,
        by_time=by_time,
        weight=known.weight if weight is None else weight,
        offset=known.offset if offset is None else offset,
        exposure=known.exposure if exposure is None else exposure,
        clusters=known.clusters if clusters is None else clusters,
        task=known.task if (kind, order) == (known.kind, known.order) else None,
    )
    return _declared(given, _names(drop, "drop"), _names(category, "category"))


def _remembered(data: Any) -> Dataset:
    """Data that were opened now, with what their seal remembers."""
    found = Dataset(**opened(data)._asdict())
    if found.seal is None:
        return found
    manifest = found.seal.manifest
    return replace(
        found,
        kind=cast("TargetKind | None", manifest.kind),
        order=manifest.order,
        group=manifest.group,
        by_time=manifest.by_time,
        dropped=manifest.dropped,
        categories=manifest.categories,
    )


def _refuse_other_target(known: Dataset, target: str) -> None:
    if known.seal is not None:
        raise InvalidInput(
            f"{known.label} seals the target {known.target!r}, and {target!r} was given; its "
            "sealed rows can score one target. Leave the target out, or seal the data for the "
            "other."
        )


def _names(given: Sequence[str], role: str) -> tuple[str, ...]:
    if isinstance(given, str):
        raise InvalidInput(
            f"{role} is {given!r}; a list of columns was expected. Write {role}=[{given!r}]."
        )
    return tuple(dict.fromkeys(given))


def _declared(given: Dataset, drop: tuple[str, ...], category: tuple[str, ...]) -> Dataset:
    """The data without dropped columns, and with declared categories.

    A dropped column that rows are held out by stays in the table, and no model sees it."""
    drop = tuple(name for name in drop if name not in given.dropped)
    category = tuple(name for name in category if name not in given.categories)
    _check_columns(given, drop, category)
    if not drop and not category:
        return given
    gone = [name for name in drop if name not in (given.group, given.by_time)]
    return replace(
        given,
        source=given.source.drop(gone).with_categories(category),
        dropped=(*given.dropped, *drop),
        categories=(*given.categories, *category),
    )


def _check_columns(given: Dataset, drop: tuple[str, ...], category: tuple[str, ...]) -> None:
    """Refuse columns that are missing, or that have two roles."""
    if given.group is not None and given.by_time is not None:
        raise InvalidInput(
            f"Both group={given.group!r} and by_time={given.by_time!r} were given; rows are held "
            "out by one of them. Leave one out."
        )
    one_role = [*given.roles.columns, *drop, *category]
    for name in (*one_role, given.group, given.by_time):
        if name is not None and name not in given.source.names:
            raise UnknownName("column", name, given.source.names)
    if given.target is not None and given.target in (given.group, given.by_time):
        raise InvalidInput(
            f"{given.target!r} is the target; another column was expected to say which rows are "
            "held out together. Name that one."
        )
    twice = next((name for name in one_role if one_role.count(name) > 1), None)
    if twice is not None:
        raise InvalidInput(
            f"Column {twice!r} was given two roles; each column has one. Name another column for "
            "one of them."
        )
