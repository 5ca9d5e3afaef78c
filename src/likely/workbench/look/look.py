"""Checks of a table before anything is trained: types, missing values, balance, and findings.

Nothing is fitted.  Each column is encoded once; the checks then count codes, so ``look`` costs
about as much as reading the table twice.

A warning before a table is looked at that holds the sealed rows of a seal nearby.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack, final

import numpy as np

from likely.data.arrow import TableSource, plain_types
from likely.data.frames import frame_of
from likely.data.hashed_splits import sampled
from likely.data.source import are_known, as_features
from likely.errors import InvalidInput, SomeSealedRows, warn_user
from likely.kinds import TargetKind
from likely.sealing.folder import seals_near
from likely.sealing.recognition import holds_sealed_rows
from likely.sealing.split import NAMED_ROWS
from likely.storage.json import plain
from likely.workbench.data.dataset import Dataset
from likely.workbench.data.opening import DataArguments, dataset, takes_data_arguments
from likely.workbench.data.task import Task, task_of
from likely.workbench.data.unsettled import open_questions
from likely.workbench.look.column_checks import CHECKS_OF_NUMBERS, CHECKS_OF_TEXT, COLUMN_CHECKS
from likely.workbench.look.findings import (
    BESIDE_SCORES,
    CODES,
    Finding,
    Mute,
    Severity,
    finding,
    in_columns,
    mute_of,
)
from likely.workbench.look.leaks import (
    LEAK_CHECKS,
    computed_target,
    near_copies,
    suspicion_of,
    too_few_different,
)
from likely.workbench.look.look_text import TextFacts, html_of, text_facts, text_of
from likely.workbench.look.profile import Profile, ProfiledColumn, profile_of, time_of_rows
from likely.workbench.look.table_checks import TABLE_CHECKS, dependent_columns

if TYPE_CHECKING:
    import pyarrow as pa

LOOKED_AT_BYTES = 256 * 2**20  # of a larger file some rows are looked at
MOST_TOP = 5  # values of a column that are kept
MOST_CLASSES = 100  # in the balance
ORDER: Mapping[Severity, int] = {"stop": 0, "warn": 1, "note": 2}
NOTHING_MUTED = Mute(frozenset(), frozenset())
ALL_TABLE_CHECKS = {
    **TABLE_CHECKS,
    "LK205": near_copies,
    "LK206": too_few_different,
    "LK404": computed_target,
}


@final
@dataclass(frozen=True, eq=False)
class ColumnFacts:
    """The name, type, missing cells and values of a column."""

    name: str
    type: str
    missing: int
    distinct: int
    low: float | None = None  # of numbers
    median: float | None = None
    high: float | None = None
    top: tuple[tuple[Any, int], ...] = ()  # the most frequent values with their counts

    def facts(self) -> dict[str, Any]:
        """The column in types of JSON."""
        known = {"low": self.low, "median": self.median, "high": self.high}
        top = [{"value": plain(value), "rows": rows} for value, rows in self.top]
        return {
            "name": self.name,
            "type": self.type,
            "missing": self.missing,
            "distinct": self.distinct,
            **(known if self.low is not None else {}),
            **({"top": top} if top else {}),
        }


@final
@dataclass(frozen=True, eq=False)
class Look:
    """The columns of a table and the findings.  Prints as a table with sentences below it.

    Attributes
    ----------
    columns : tuple of ColumnFacts
        In the order of the table.
    findings : tuple of Finding
        The most severe first; each has a ``code``, a ``severity`` ("stop", "warn" or "note"),
        ``columns`` and a ``sentence``.
    target : str or None
    balance : dict
        The classes of the target with their rows, the most frequent first; empty where the target
        is a number, or has too many values.
    texts : tuple of TextFacts
        Columns of text: documents, words, vocabulary, languages, empty and duplicated documents.
    """

    label: str
    n_rows: int
    n_looked_at: int
    columns: tuple[ColumnFacts, ...]
    findings: tuple[Finding, ...]
    target: str | None = None
    balance: dict[Any, int] = field(default_factory=dict)
    n_classes: int | None = None  # None where the target is a number
    kind: TargetKind | None = None  # of task; None where no model could predict the target
    doubt: str = ""  # a sentence, where the target's values could mean something else
    time: str | None = None  # the dates in whose order the rows are
    muted: tuple[str, ...] = ()
    library: str | None = None  # of the frame that was given
    texts: tuple[TextFacts, ...] = ()  # columns whose words are counted
    readings: tuple[str, ...] = ()  # how columns of text were read as numbers or dates

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the findings."""
        return tuple(each.code for each in self.findings)

    def __str__(self) -> str:
        return text_of(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_of(self)

    def to_frame(self, library: str | None = None) -> Any:
        """One row per column of the table, in pandas, polars or Arrow, like the data."""
        facts = [column.facts() for column in self.columns]
        texts = ("name", "type")
        numbers = ("missing", "distinct", "low", "median", "high")
        frame: dict[str, Any] = {
            key: np.array([fact[key] for fact in facts], dtype=object) for key in texts
        }
        for key in numbers[:2]:
            frame[key] = np.array([fact[key] for fact in facts], dtype=np.int64)
        for key in numbers[2:]:
            frame[key] = np.array([fact.get(key, np.nan) for fact in facts], dtype=np.float64)
        frame["findings"] = np.array(
            [
                ", ".join(each.code for each in self.findings if column.name in each.columns)
                for column in self.columns
            ],
            dtype=object,
        )
        return frame_of(frame, self.library if library is None else library)

    def facts(self) -> dict[str, Any]:
        """All columns and findings, in types of JSON."""
        return {
            "data": self.label,
            "rows": self.n_rows,
            "rows_looked_at": self.n_looked_at,
            "target": self.target,
            "kind": self.kind,
            "classes": self.n_classes,
            "balance": [{"value": plain(v), "rows": n} for v, n in self.balance.items()],
            "time": self.time,
            "columns": [column.facts() for column in self.columns],
            "texts": [each.facts() for each in self.texts],
            "readings": list(self.readings),
            "findings": [each.facts() for each in self.findings],
            "muted": list(self.muted),
        }


@takes_data_arguments
def look(
    data: Any,
    target: Any = None,
    *,
    mute: Iterable[str] = (),
    **about: Unpack[DataArguments],
) -> Look:
    """Check a table before anything is trained.

    Parameters
    ----------
    data : data frame, array, Source, Sealed, Dataset, built-in name, or path of a file or a seal
        Only the training rows of a seal are read.
    target : str, or one label for each row
        The column to predict; its balance, and columns that may leak it, are then checked.  A seal
        and built-in data have their own.
    kind : str, optional
        The kind of target, where its values leave it open: binary, classes, ordinal, count,
        positive or real.  A seal records it.
    order : sequence, optional
        The classes from lowest to highest; they are then ordinal.
    group, by_time, weight, offset, exposure : str, optional
        Columns with a role, as in ``compare``; only ``by_time`` is checked as a feature.
    drop : sequence of str, optional
        Columns to leave out.
    category : sequence of str, optional
        Columns of numeric codes to treat as categories.
    feature : sequence of str, optional
        Columns to use as they are, although they look like identifiers or free text.
    text : sequence of str, optional
        Columns of text whose words are counted; free text is recognised.  A seal records all four.
    number, date, decimal, sheet : optional
        How numbers and dates of a file are written, as in ``read``.
    mute : iterable of str
        Findings to leave out: ``"LK102"`` anywhere, ``"LK102:age"`` in one column.

    Returns
    -------
    Look
        ``columns``, ``findings``, ``to_frame()``; prints as a table.

    Examples
    --------
    >>> import likely as lk, pandas as pd
    >>> frame = pd.DataFrame({"size": [1.5, None, 2.0], "unit": ["cm"] * 3, "sold": [1, 0, 1]})
    >>> found = lk.look(frame, "sold")
    >>> found.codes
    ('LK303', 'LK102')
    >>> print(found.findings[1].sentence)
    Column 'unit' has one value only ('cm'). A column that never varies holds no information.
    Drop it, or find out why it never varies.
    """
    silent = mute_of(mute)
    given = dataset(data, target, **about)
    if not isinstance(data, Dataset):  # else by who has opened it
        warn_of_sealed_rows(given)
    return checked(given, silent)


def findings_of(given: Dataset, silent: Mute = NOTHING_MUTED) -> tuple[Finding, ...]:
    """What the checks of data that were opened find, without the facts of every column."""
    table = _rows_to_check(given).drop_columns(list(given.unnamed_aside))
    profile = _profile(given, table, _task(given, table))
    found = [*_findings(profile, silent), *_questions(given, silent), *_roles(given, table, silent)]
    return sorted_findings(found)


def findings_beside_scores(given: Dataset) -> tuple[Finding, ...]:
    """Those with which a score of these rows is, or may be, too good; none of a streamed file."""
    if not given.in_memory:
        return ()
    found = findings_of(given, Mute(frozenset(CODES) - frozenset(BESIDE_SCORES), frozenset()))
    return tuple(each for each in found if not {*each.columns} & given.not_features)


def about_scores(given: Dataset) -> tuple[str, ...]:
    """What should be known about every score of these rows: their notes, and those findings."""
    return (*given.notes, *map(str, findings_beside_scores(given)))


def checked(given: Dataset, silent: Mute = NOTHING_MUTED) -> Look:
    """The checks of data that were opened."""
    given = given.settled_columns if given.sealed else given  # a seal is read once
    table = _rows_to_check(given).drop_columns(list(given.unnamed_aside))
    task = _task(given, table)
    profile = _profile(given, table, task)
    goal = profile.target
    found = [*_findings(profile, silent), *_questions(given, silent), *_roles(given, table, silent)]
    classes = goal if goal is not None and goal.reads_as_classes else None
    return Look(
        label=given.label,
        n_rows=table.num_rows if given.source.n_rows is None else given.source.n_rows,
        n_looked_at=profile.n_rows,
        columns=tuple(_facts(column) for column in profile.columns),
        findings=sorted_findings(found),
        target=given.target,
        balance=dict(classes.top(MOST_CLASSES)) if classes else {},
        n_classes=classes.n_distinct if classes else None,
        kind=None if task is None else task.kind,
        doubt="" if task is None else task.doubt,
        time=None if given.by_time is not None else time_of_rows(table),
        muted=silent.words,
        library=given.library,
        texts=tuple(
            text_facts(column) for column in profile.columns if column.name in profile.texts
        ),
        readings=(*given.readings.sentences, *given.readings.remarks),
    )


def _profile(given: Dataset, table: "pa.Table", task: Task | None) -> Profile:
    has_classes = None if task is None else task.has_classes
    profile = profile_of(table, given.target, classes=has_classes)
    named = given.seal is not None and given.seal.manifest.rule == NAMED_ROWS
    return replace(
        profile,
        table=as_features(table, given.declared_features),
        apart=given.not_features,
        identifiers=frozenset(given.identifiers),
        texts=frozenset(given.texts),
        group=given.group,
        is_split=given.in_memory and given.by_time is None and not named,
        questions=frozenset(each.column for each in open_questions(given)),
    )


def _rows_to_check(given: Dataset) -> "pa.Table":
    """The table; of a file that is too large for memory, rows that a hash chooses."""
    import pyarrow as pa

    if isinstance(given.source_now, TableSource):
        return given.table
    share = LOOKED_AT_BYTES / max(given.source.nbytes or 1, 1)
    rows = given.source if share >= 1 else sampled(given.source, share)
    return plain_types(pa.Table.from_batches(list(rows)))


def _task(given: Dataset, table: "pa.Table") -> Task | None:
    """The task of the target; None where no model could do it, which is then a finding."""
    if given.target is None or table.column_names.count(given.target) != 1:
        return None
    try:
        return task_of(table, given.target, ordered=given.order, kind=given.kind, roles=given.roles)
    except InvalidInput:
        if given.declared:
            raise
        return None


def _findings(profile: Profile, mute: Mute) -> Iterator[Finding]:
    for code, check in COLUMN_CHECKS.items():
        yield from _in_columns(
            code,
            (
                (column.name, check(column, profile))
                for column in profile.columns
                if (column.name not in profile.texts or code in CHECKS_OF_TEXT)
                and (column.name not in profile.questions or code not in CHECKS_OF_NUMBERS)
            ),
            mute,
        )
    if "LK120" not in mute.everywhere:
        copied = [each.name for each in profile.features if profile.twin_of(each) is not None]
        yield from _in_columns("LK120", dependent_columns(profile, copied).items(), mute)
    for code, whole in ALL_TABLE_CHECKS.items():
        found = None if code in mute.everywhere else whole(profile)
        if found is not None and not all(mute.hides(code, name) for name in found.columns or ("",)):
            yield found
    suspicion = suspicion_of(profile)
    if suspicion is not None:
        for code, suspect in LEAK_CHECKS.items():
            yield from _in_columns(
                code,
                ((column.name, suspect(column, suspicion)) for column in profile.features),
                mute,
            )


def _questions(given: Dataset, mute: Mute) -> Iterator[Finding]:
    """Columns of numbers or dates that can be read in several ways."""
    for each in open_questions(given):
        if not mute.hides("LK121", each.column):
            yield finding("LK121", f"{each.found}. {each.ways}".removesuffix("."), [each.column])


def _roles(given: Dataset, table: "pa.Table", mute: Mute) -> Iterator[Finding]:
    """Weights, exposures and offsets that are refused wherever a model is fitted."""
    roles = given.roles
    if given.target in table.column_names:
        table = table.filter(are_known(table.column(given.target)))
    for check, names in (
        (roles.offsets, roles.at_prediction()),
        (roles.weights, [name for name in (roles.weight,) if name is not None]),
    ):
        try:
            check(table)
        except InvalidInput as error:
            if not any(mute.hides("LK207", name) for name in names):
                yield finding("LK207", str(error).partition(". ")[0], names)


def _in_columns(
    code: str, remarks: Iterable[tuple[str, str | None]], mute: Mute
) -> Iterator[Finding]:
    if code in mute.everywhere:
        return
    found = {
        name: remark
        for name, remark in remarks
        if remark is not None and not mute.hides(code, name)
    }
    if found:
        yield in_columns(code, found)


def _facts(column: ProfiledColumn) -> ColumnFacts:
    base = (column.name, column.type, column.n_missing, column.n_distinct)
    if column.is_number:
        numbers = column.numbers
        return ColumnFacts(*base, float(numbers.min()), column.quantile(0.5), float(numbers.max()))
    return ColumnFacts(*base, top=tuple(column.top(MOST_TOP)))


def warn_of_sealed_rows(data: Dataset) -> None:
    """A warning where the rows, which are only looked at, are those of a seal nearby."""
    seals = () if data.sealed else seals_near(*([] if data.place is None else [data.place]))
    if not seals:
        return  # the table is not read for nothing
    for found in holds_sealed_rows(data.table if data.in_memory else iter(data.source), seals):
        warn_user(
            f"{data.label} holds {found}; what is seen in them should not decide about models. "
            f"Look at {found.seal.path.name}: it has the training rows only.",
            SomeSealedRows,
        )


def sorted_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The most severe first, then by code."""
    return tuple(sorted(findings, key=lambda each: (ORDER[each.severity], each.code)))
