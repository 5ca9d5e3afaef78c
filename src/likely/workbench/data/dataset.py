"""A table and what is known about it: the input of all commands and public functions.

``likely.workbench.data.opening.dataset`` makes one from any input.  Rows without a label are left
out, unless a model learns from them (``with_unlabelled``):

the model of a fold learns from   the labelled rows of the other folds, and all unlabelled rows
no score is of                    rows without a label
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, final

import numpy as np

from likely._typing import Array, Codes
from likely.caching import cached_property
from likely.data.arrow import TableSource, decoded, in_one_table, refuse_infinities, refuse_twins
from likely.data.copies import copies_in_table
from likely.data.formats.column_types import MISSING as MISSING_WORDS
from likely.data.near_copies import units_in_table
from likely.data.readings.table_readings import NOTHING_READ, TableReadings
from likely.data.source import Source, are_known, as_features, as_texts
from likely.errors import InvalidInput
from likely.kinds import FEATURE_KINDS, TargetKind
from likely.output.formatting import listed
from likely.sealing.folder import SealFolder, seals_near
from likely.sealing.recognition import TABLE, log_prediction, refuse_sealed_rows
from likely.workbench.data.folds import Folds, codes_of, time_of
from likely.workbench.data.roles import Roles, UnusedColumns, rare_categories, unused_columns

if TYPE_CHECKING:
    import pyarrow as pa

    from likely.workbench.data.task import Task

UNNAMED = "table"  # what a frame or an array is called
IN_MEMORY_BYTES = 256 * 2**20  # files below this are read into memory
MANY_ROWS = 100_000  # from which on one cross-validation is enough
MISSING = float("nan")  # what a model takes as the mark of a missing label


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Dataset:
    """Rows, the roles of their columns, and their source; ``likely.dataset`` makes one."""

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
    declared_features: tuple[str, ...] = ()  # used as they are, whatever they look like
    declared_texts: tuple[str, ...] = ()  # columns whose words are counted
    aside: tuple[str, ...] = ()  # headers of mail, which are features only where they are declared
    found_unused: UnusedColumns | None = None  # None until they are searched for
    readings: TableReadings = NOTHING_READ  # of its columns, where text is read as numbers or dates
    seal: SealFolder | None = None  # whose training rows these are
    library: str | None = None  # of the frame that was given
    task: "Task | None" = None  # None until ``with_task`` has settled it
    n_without_target: int = 0  # rows that ``with_task`` left out
    unlabelled: "pa.Table | None" = None  # rows without a target that every fit learns from, too

    @property
    def digest(self) -> str:
        """SHA-256 of the data as they were given: of the bytes of a file, of the cells of a table.

        Dropped or declared columns, and rows without a target, do not change it.
        """
        return self.hashing()

    @cached_property
    def table(self) -> "pa.Table":
        """All rows; refused if they do not fit into memory."""
        return in_one_table(self.source)

    @property
    def source_now(self) -> Source:
        """The table, if it has been read, so that it is not read again; else the source."""
        return TableSource(self.table) if "table" in vars(self) else self.source

    @property
    def in_memory(self) -> bool:
        """Whether the table is in memory, or small enough to be read into it."""
        if isinstance(self.source, TableSource):
            return True
        return (self.source.nbytes or 0) < IN_MEMORY_BYTES

    @property
    def rows(self) -> Source:
        """The rows as a source: in memory if they are few, else read in chunks."""
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
        """The task, after ``with_task`` has determined it."""
        assert self.task is not None, "with_task comes first"
        return self.task

    @property
    def not_features(self) -> frozenset[str]:
        """Columns that are not features: other roles, dropped columns, identifiers."""
        sealed_group = None if self.seal is None else self.seal.manifest.group
        named = {self.group, sealed_group, *self.roles.given().values(), *self.dropped}
        named |= {*self.identifiers, *self.rare, *self.unnamed_aside}
        return frozenset(name for name in named if name in self.source.names)

    @property
    def unnamed_aside(self) -> tuple[str, ...]:
        """The columns set aside that were given no role."""
        named = {self.target, self.by_time, *self.categories, *self.declared_features}
        return tuple(name for name in self.aside if name not in {*named, *self.declared_texts})

    @cached_property
    def unused(self) -> UnusedColumns:
        """Identifiers, free text and rare categories, as found in the whole table.

        Of a file that is read in chunks, the first chunk is searched.  A seal records the first
        two.
        """
        found = self.found_unused
        if found is not None and found.rare is not None:
            return found
        rows = self.table if self.in_memory else next(iter(self.source))
        return unused_columns(rows) if found is None else found._replace(rare=rare_categories(rows))

    @property
    def identifiers(self) -> tuple[str, ...]:
        """Columns that identify rows; no model learns from them, unless they are declared."""
        return self._undeclared(self.unused.identifiers)

    @property
    def texts(self) -> tuple[str, ...]:
        """Columns of text, declared or found, of which models read the words."""
        found = self._undeclared(self.unused.texts)
        return tuple(n for n in self.source.names if n in {*self.declared_texts, *found})

    @property
    def rare(self) -> tuple[str, ...]:
        """Columns of categories with few rows to each, left out unless they are declared."""
        found = self._undeclared(self.unused.rare or ())
        return tuple(name for name in found if name not in {*self.identifiers, *self.texts})

    def _undeclared(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The columns of a kind that have no other role, and were not declared."""
        other = {self.group, self.by_time, *self.roles.columns, *self.dropped, *self.aside}
        other |= {*self.categories, *self.declared_features, *self.declared_texts}
        return tuple(name for name in names if name in self.source.names and name not in other)

    @property
    def settled_columns(self) -> "Dataset":
        """These data, with the identifiers and the free text of this table kept for its parts."""
        return replace(self, found_unused=self.unused, source=self.source_now)

    @property
    def model_columns(self) -> "pa.Table":
        """The columns that models see, and the target."""
        kept = self.table.drop_columns(sorted(self.not_features))
        return as_texts(as_features(kept, self.declared_features), self.texts)

    @property
    def shown(self) -> "pa.Table":
        """The columns that models see, the target, and the columns that identify rows."""
        return self.table.drop_columns(sorted(self.not_features - {*self.identifiers}))

    @property
    def features(self) -> "pa.Table":
        """The columns that models see."""
        return self.model_columns.drop_columns([] if self.target is None else [self.target])

    @cached_property
    def groups(self) -> Codes | None:
        """The group of each row; None where rows are not held out by group."""
        return None if self.group is None else codes_of(self.table, self.group)

    @cached_property
    def copies(self) -> Codes | None:
        """The first row that each row is a copy of, by the columns of the model; None: no copies.

        Rows of different weights, offsets or exposures may be copies.
        """
        table = self.model_columns
        names = [name for name in table.column_names if name != self.target]
        return copies_in_table(table, names, texts=self.texts)

    @cached_property
    def units(self) -> Codes | None:
        """The first row of each row's unit of copies and near copies; None: each row is alone.

        Folds keep units on one side; near copies only where neither groups nor times decide.
        """
        if self.group is not None or self.by_time is not None:
            return self.copies
        table = self.model_columns
        names = [name for name in table.column_names if name != self.target]
        return units_in_table(table, names, texts=self.texts)

    @property
    def features_read(self) -> Source:
        """The columns of the model as they are read, for the copies in a stream."""
        others = {*self.not_features, self.target}
        return self.source.select([name for name in self.source.names if name not in others])

    @cached_property
    def times(self) -> Codes | None:
        """The time order of each row; None where rows are not held out by time."""
        return None if self.by_time is None else time_of(self.table, self.by_time)

    def for_models(self, models: Any, doing: str) -> "Dataset":
        """These data for cross-validated fits of the models, with the task and checked rows."""
        from likely.workbench.data.unsettled import refuse_unsettled

        refuse_clusters(self, doing)
        self.refuse_sealed_rows(doing)
        refuse_unsettled(self)
        return self.with_task(models)

    def for_density(self, doing: str) -> "Dataset":
        """These data for cross-validated fits of a mixture: without a target, with checked rows."""
        refuse_clusters(self, doing)
        self.refuse_sealed_rows(doing)
        if moving := self.roles.at_prediction():
            raise InvalidInput(
                f"{moving[0]!r} was given as an offset or exposure, and a mixture takes none. "
                "Leave it out, or drop the column."
            )
        rows = self.settled_columns.without_target().readable()[0]
        refuse_twins(rows.table.column_names)
        refuse_infinities(rows.table.to_batches())
        refuse_no_features(rows)
        weight = rows.weights
        return rows if weight is None else rows.take(np.flatnonzero(weight))

    def labelled(self) -> "Dataset":
        """The rows that have a target; the others are counted, and a note says how many.

        At least one row must have one: a task says what is wrong with a target that is empty.
        """
        column = self.required_target()
        before = self.settled_columns
        unknown = sum(
            batch.num_rows - int(are_known(batch.column(0)).true_count)
            for batch in before.rows.select([column])
        )
        if unknown in (0, self.source.n_rows):
            return before
        gone = self.n_without_target + unknown
        return replace(before, source=before.rows.with_known(column), n_without_target=gone)

    def readable(self, dates: Iterable[str] = ()) -> "tuple[Dataset, tuple[str, ...]]":
        """These data without dates, texts and the like, for a direct fit; and a note.

        ``dates`` are columns of text that is all dates.
        """
        kinds = dict(zip(self.source.names, self.source.kinds, strict=True))
        others = {*self.not_features, self.target}
        used = [name for name in kinds if name not in others]
        texts = {*self.texts, *dates}
        gone = [name for name in used if kinds[name] not in FEATURE_KINDS or name in texts]
        if not gone:
            return self, ()
        note = "Left out, because this fit reads numbers, Booleans and categories only"
        kept = replace(self.settled_columns, source=self.rows.drop(gone))
        return kept, (f"{note}: {listed([*map(repr, gone)], 6)}.",)

    def without_target(self) -> "Dataset":
        """These data for a model that needs no target: its column is no feature either."""
        if self.target is None:
            return self
        return replace(self, source=self.rows.drop([self.target]), target=None, task=None)

    def with_task(self, models: Any = None) -> "Dataset":
        """Determine the task; rows without a target are left out, and counted.

        ``models`` are the named models: see ``task_for_models``.
        """
        if self.task is not None:
            return self
        from likely.workbench.data.task import task_for_models

        table, target = self.table, self.required_target()
        refuse_twins(table.column_names)
        task = task_for_models(
            table, target, models, kind=self.kind, order=self.order, roles=self.roles
        )
        refuse_infinities(table.to_batches())  # a fold would name another row
        refuse_no_features(self)
        return self.of_task(task)

    def of_task(self, task: "Task") -> "Dataset":
        """The rows that count for that task."""
        if self.found_unused is None or self.found_unused.rare is None:
            return self.settled_columns.of_task(task)
        if texts := self.texts:
            alone = len(self.features.column_names) == len(texts)
            task = replace(task, text="alone" if alone else "beside")
        rows, n_rows = self.counted(task), self.table.num_rows
        n_without = self.n_without_target + int(n_rows - task.known(self.table).sum())
        table = self.table if len(rows) == n_rows else self.table.take(rows)
        return replace(self, source=TableSource(table), task=task, n_without_target=n_without)

    def counted(self, task: "Task") -> Codes:
        """The rows that have a target of the task, and a weight above 0.

        An invalid weight, offset or exposure is refused with its row.
        """
        known, weight = task.known(self.table), self.weights
        self.roles.offsets(self.table)
        return np.flatnonzero(known if weight is None else known & (weight > 0))

    @property
    def weights(self) -> Array | None:
        """The weight of each row; None where rows have none."""
        return self.roles.weights(self.table)

    @property
    def notes(self) -> tuple[str, ...]:
        """What should be known about a score of these rows: what was left out, and weights."""
        from likely.workbench.data.dataset_notes import notes_of

        return notes_of(self)

    @property
    def offsets(self) -> Array | None:
        """An offset, and the logarithm of an exposure, of each row; None where there is neither."""
        return self.roles.offsets(self.table)

    def fit(self, model: Any) -> Any:
        """The model after a fit to these rows, with their weights, offsets and exposures."""
        if self.unlabelled is not None:
            import pyarrow as pa

            both = TableSource(pa.concat_tables([self.table, self.unlabelled]))
            return replace(self, source=both, unlabelled=None).fit(model)
        return model.fit(*self.fit_inputs, **self.fit_arguments)

    @property
    def fit_inputs(self) -> tuple[Any, ...]:
        """The features, and the target where there is one."""
        y = () if self.target is None else (self.table.column(self.target),)
        return (self.features, *y)

    @property
    def fit_arguments(self) -> dict[str, Any]:
        """The columns of weights, offsets and exposures, by their names in a fit."""
        return {name: self.table.column(at) for name, at in self.roles.to_fit().items()}

    def required_target(self) -> str:
        """The target; refused where none was given."""
        if self.target is None:
            raise InvalidInput(
                "No target was given; the column to predict was expected. Choose one of "
                f"{listed(self.source.names)}."
            )
        return self.target

    def refuse_sealed_rows(self, doing: str, *, also: SealFolder | None = None) -> None:
        """Before a fit or a score: refuse data with a tenth or more of the rows of a seal.

        Seals are searched for near the working folder and the file; ``also`` gives further folders.
        """
        if self.seal is not None:
            return
        seals = self._seals_near()
        if also is not None and also.path.resolve() not in {each.path.resolve() for each in seals}:
            seals = (*seals, also)
        if seals:
            label = TABLE if self.label == UNNAMED else self.label
            rows = self.table if self.in_memory else iter(self.source)
            refuse_sealed_rows(rows, seals, label=label, doing=doing, target=self.target)

    def log_prediction(self) -> tuple[str, ...]:
        """Notes for predictions of sealed rows, which the ledger of their seal records."""
        seals = () if self.seal is not None else self._seals_near()
        held = log_prediction(iter(self.source), seals, label=self.label) if seals else ()
        return tuple(
            f"{self.label} holds {one}; this prediction is recorded in the ledger." for one in held
        )

    def _seals_near(self) -> tuple[SealFolder, ...]:
        return seals_near(*([] if self.place is None else [self.place]))

    @property
    def strata(self) -> Codes:
        """The class of each row; one stratum for numbers, and without a target."""
        if self.target is None:
            return np.zeros(self.table.num_rows, dtype=np.int64)
        return self.settled.strata(self.table)

    def folds(self, n_folds: int, repeats: int | None = 1, seed: int = 0) -> Folds:
        """Folds of the rows: stratified by class; by group or by time where that was given.

        Copies and near copies are in one fold.  Where there are fewer different rows than folds,
        copies are not; more folds than rows that are not nearly the same are refused.
        ``repeats=None`` is 2, and 1 from ``MANY_ROWS`` on, where a second one tells little.
        """
        if repeats is None:
            repeats = 1 if self.table.num_rows >= MANY_ROWS else 2
        copies = self.units
        if copies is not None and (n_units := len(np.unique(copies))) < n_folds:
            exact = np.arange(len(copies)) if self.copies is None else self.copies
            if len(np.unique(exact)) >= n_folds:
                raise InvalidInput(
                    f"{n_folds} folds were asked for, and {n_units} rows differ by more than near "
                    f"copies do (LK205); each fold needs one. Use at most {n_units} folds."
                )
            copies = None
        n_rows, classes = self.table.num_rows, self.target is not None and self.settled.has_classes
        if self.times is not None:
            return Folds(n_rows=n_rows, n_folds=n_folds, seed=seed, time=self.times, copies=copies)
        return Folds(
            n_rows=n_rows,
            n_folds=n_folds,
            repeats=repeats,
            seed=seed,
            stratify=self.strata if classes else None,
            groups=self.groups,
            copies=copies,
        )

    def take(self, rows: Codes) -> "Dataset":
        """Some of the rows, by index."""
        table = TableSource(self.table.take(rows))
        return replace(self, source=table, found_unused=self.unused)


def refuse_no_features(data: "Dataset") -> None:
    """Refuse a table without a column to learn from."""
    others = sorted(data.not_features)
    if len(data.source.names) - len(others) - (data.target is not None) > 0:
        return
    also = f" and {listed(others)}" if others else ""
    unused = [
        f", or declare {name!r}: --text {quote(name)} (text=[{name!r}]) if it is text, "
        f"--feature {quote(name)} (feature=[{name!r}]) if it is a category"
        for name in (*data.identifiers, *data.rare)
    ]
    raise InvalidInput(
        f"The table has no column except {data.target!r}{also}; at least one to learn from was "
        f"expected. Add one{''.join(unused[:1])}."
    )


def refuse_clusters(data: "Dataset", doing: str) -> None:
    """Refuse clusters, which are for standard errors, where none are computed."""
    if data.clusters is not None:
        raise InvalidInput(
            f"{data.clusters!r} was given as clusters, which are for standard errors; {doing} "
            "shows none. Leave it out, or train one model with it."
        )


def with_mark_missing(data: Dataset, mark: Any) -> Dataset:
    """The data, of which labels that equal ``mark`` are missing; some label must be missing then.

    A mark that is one of ``MISSING_WORDS`` (nan, NA, null, …) also names labels that are missing
    already.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    target = data.required_target()
    column = decoded(data.table.column(target))
    known, marked = np.asarray(are_known(column).to_numpy()), _equal(column, mark)
    means_missing = mark != mark or str(mark) in MISSING_WORDS
    if not (marked.any() or (means_missing and not known.all())):
        seen = sorted(pc.unique(column.filter(pa.array(known))).to_pylist())
        raise InvalidInput(
            f"unlabelled={mark} was given, and no row has it as {target!r}; rows with that value "
            f"were expected. Its values are {listed(seen, 6)}: name the one that marks rows "
            "without a label, or nan for missing ones."
        )
    known &= ~marked
    if not known.any():
        raise InvalidInput(
            f"No row has a label other than unlabelled={mark}; some rows with a class in "
            f"{target!r} were expected. Label some rows of each class."
        )
    labels = pc.if_else(pa.array(known), column, pa.scalar(None, column.type))
    place = data.table.column_names.index(target)
    return replace(data, source=TableSource(data.table.set_column(place, target, labels)))


def with_unlabelled(rows: Dataset, data: Dataset) -> Dataset:
    """The rows of a task, with those of the data that have no label, for every fit."""
    missing = np.flatnonzero(~rows.settled.known(data.table))
    return replace(rows, unlabelled=data.table.take(missing), n_without_target=0)


def _equal(column: Any, mark: Any) -> Any:
    """Which cells are the mark; text is compared as it was written."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if mark in ("", None) or mark != mark:
        return np.zeros(len(column), dtype=bool)
    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    try:
        given = pa.scalar(str(mark) if text else mark, column.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError):  # of another type than the labels
        return np.zeros(len(column), dtype=bool)
    return np.asarray(pc.fill_null(pc.equal(column, given), False).to_numpy())
