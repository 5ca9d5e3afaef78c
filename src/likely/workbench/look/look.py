"""Checks of a table before anything is trained: types, missing values, balance, and findings.

Nothing is fitted.  Each column is encoded once; the checks then count codes, so ``look`` costs
about as much as reading the table twice.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any, final

import numpy as np

from likely.data.frames import frame_of
from likely.errors import InvalidInput
from likely.formatting import (
    WIDEST,
    count,
    html_block,
    html_paragraph,
    html_table,
    listed,
    paragraph,
    percent,
    printable,
    short_number,
    shortened,
    text_table,
)
from likely.json_files import plain
from likely.kinds import TargetKind, target_in_words
from likely.workbench.dataset import Dataset
from likely.workbench.look.column_checks import COLUMN_CHECKS
from likely.workbench.look.dependence import dependent_columns
from likely.workbench.look.findings import Finding, Mute, in_columns, mute_of, sorted_findings
from likely.workbench.look.leaks import LEAK_CHECKS, suspicion_of
from likely.workbench.look.profile import Column, Profile, profile_of
from likely.workbench.look.sealed_rows import warn_of_sealed_rows
from likely.workbench.look.table_checks import TABLE_CHECKS
from likely.workbench.opening import dataset
from likely.workbench.task import Task, task_of

if TYPE_CHECKING:
    import pyarrow as pa


MOST_TOP = 5  # values of a column that are kept
MOST_CLASSES = 100  # in the balance
MOST_COLUMNS = 60  # shown when printed; the frame has them all
MOST_CLASSES_SHOWN = 12  # shown of a target
LONGEST_NAME = 24
LONGEST_VALUE = 18
MOST_VALUES = 3
HEAD = ("column", "type", "missing", "distinct", "values")
WORDS = (0, 1, 4)  # columns of the table that hold words
COLOURS = {"stop": "#c0392b", "warn": "#b9770e", "note": "#5d6d7e"}


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
    muted: tuple[str, ...] = ()
    library: str | None = None  # of the frame that was given

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
            "columns": [column.facts() for column in self.columns],
            "findings": [each.facts() for each in self.findings],
            "muted": list(self.muted),
        }


def look(
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
    drop: Sequence[str] = (),
    category: Sequence[str] = (),
    feature: Sequence[str] = (),
    mute: Iterable[str] = (),
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
        Columns to use although they look like identifiers or free text, which are left out.  A seal
        records all three.
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
    given = dataset(
        data,
        target,
        kind=kind,
        order=order,
        group=group,
        by_time=by_time,
        weight=weight,
        offset=offset,
        exposure=exposure,
        drop=drop,
        category=category,
        feature=feature,
    )
    if not isinstance(data, Dataset):  # else by who has opened it
        warn_of_sealed_rows(given)
    table = given.some_rows()
    task = _task(given, table)
    has_classes = task.has_classes if task is not None and given.declared else None
    profile = profile_of(table, given.target, classes=has_classes)
    profile = replace(profile, apart=given.apart, identifiers=frozenset(given.identifiers))
    goal = profile.target
    classes = goal if goal is not None and goal.reads_as_classes else None
    return Look(
        label=given.label,
        n_rows=table.num_rows if given.source.n_rows is None else given.source.n_rows,
        n_looked_at=profile.n_rows,
        columns=tuple(_facts(column) for column in profile.columns),
        findings=sorted_findings(_findings(profile, silent)),
        target=given.target,
        balance=dict(classes.top(MOST_CLASSES)) if classes else {},
        n_classes=classes.n_distinct if classes else None,
        kind=None if task is None else task.kind,
        doubt="" if task is None else task.doubt,
        muted=silent.words,
        library=given.library,
    )


def _task(given: Dataset, table: "pa.Table") -> Task | None:
    """The task of the target; None where no model could do it, which is then a finding."""
    if given.target is None or table.column_names.count(given.target) != 1:
        return None
    try:
        return task_of(table, given.target, ordered=given.order, kind=given.kind)
    except InvalidInput:
        if given.declared:
            raise
        return None


def _findings(profile: Profile, mute: Mute) -> Iterator[Finding]:
    for code, check in COLUMN_CHECKS.items():
        yield from _in_columns(
            code, ((column.name, check(column, profile)) for column in profile.columns), mute
        )
    if "LK120" not in mute.everywhere:
        copied = [each.name for each in profile.features if profile.twin_of(each) is not None]
        yield from _in_columns("LK120", dependent_columns(profile, copied).items(), mute)
    for code, whole in TABLE_CHECKS.items():
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


def _facts(column: Column) -> ColumnFacts:
    base = (column.name, column.type, column.n_missing, column.n_distinct)
    if column.is_number:
        numbers = column.numbers
        return ColumnFacts(*base, float(numbers.min()), column.quantile(0.5), float(numbers.max()))
    return ColumnFacts(*base, top=tuple(column.top(MOST_TOP)))


def text_of(look: "Look", width: int = WIDEST, more: str = "to_frame() has them all") -> str:
    """The columns, the target, the findings; ``more`` says how to see all columns."""
    rows = [_cells(look, column) for column in _shown_columns(look)]
    lines = [title(look), "", *text_table(HEAD, rows, words=WORDS, width=width)]
    if len(look.columns) > len(rows):
        lines.append(f"  (+{len(look.columns) - len(rows)} more; {more})")
    about = [balance_of(look)] if look.balance else []
    about += [look.doubt] if look.doubt else []
    if about:
        lines += ["", *(line for each in about for line in paragraph(each, width))]
    return "\n".join([*lines, "", *findings_of(look, width)])


def title(look: "Look") -> str:
    """``churn.csv: 7,000 rows, 20 columns, target churn (2 classes).``"""
    text = f"{look.label}: {count(look.n_rows, 'row')}, {count(len(look.columns), 'column')}"
    if look.target is not None:
        what = target_in_words(look.kind, look.n_classes)
        if look.n_classes is None and any(f.code == "LK306" for f in look.findings):
            what = "neither classes nor a number"
        text += f", target {look.target} ({what})"
    if look.n_looked_at < look.n_rows:
        text += f"; a sample of {look.n_looked_at:,} of the rows was examined"
    return text + "."


def balance_of(look: "Look") -> str:
    """``Target churn: no 73 %, yes 27 %.``"""
    known = sum(look.balance.values())
    words = [f"{_value(v)} {percent(rows / known)}" for v, rows in look.balance.items()]
    return f"Target {look.target}: {listed(words, MOST_CLASSES_SHOWN)}."


def findings_of(look: "Look", width: int = WIDEST) -> list[str]:
    """The findings in words, the most severe first."""
    muted = f" (muted: {', '.join(look.muted)})" if look.muted else ""
    if not look.findings:
        return [f"No findings{muted}."]
    lines = [f"{count(len(look.findings), 'finding')}{muted}:"]
    for each in look.findings:
        first, *others = paragraph(each.sentence, width - 14)
        lines += [f"  {each.code} {each.severity}  {first}"]
        lines += [f"{'':14}{line}" for line in others]
    return lines


def html_of(look: "Look") -> str:
    rows = [_cells(look, column) for column in _shown_columns(look)]
    parts = [html_paragraph(title(look), bold=True), html_table(HEAD, rows, words=WORDS)]
    if len(look.columns) > len(rows):
        n_more = len(look.columns) - len(rows)
        parts.append(html_paragraph(f"(+{n_more} more; to_frame() has them all)"))
    if look.balance:
        parts.append(html_paragraph(balance_of(look)))
    if look.doubt:
        parts.append(html_paragraph(look.doubt))
    parts += [
        f"<p style='margin:.3em .7em;max-width:50em'><b style='color:{COLOURS[each.severity]}'>"
        f"{each.code} {each.severity}</b> {escape(printable(each.sentence))}</p>"
        for each in look.findings
    ]
    if not look.findings:
        parts.append(html_paragraph(findings_of(look)[0]))
    return html_block(*parts)


def _shown_columns(look: "Look") -> list["ColumnFacts"]:
    """All columns of a narrow table; of a wide one some, those with findings, and the target."""
    if len(look.columns) <= MOST_COLUMNS:
        return list(look.columns)
    named = {name for each in look.findings for name in each.columns} | {look.target}
    chosen = [column for column in look.columns if column.name in named][:MOST_COLUMNS]
    room = MOST_COLUMNS - len(chosen)
    taken = {id(column) for column in chosen}
    first = [column for column in look.columns if id(column) not in taken][:room]
    taken |= {id(column) for column in first}
    return [column for column in look.columns if id(column) in taken]


def _cells(look: "Look", column: "ColumnFacts") -> tuple[str, ...]:
    missing = percent(column.missing / look.n_looked_at) if column.missing else ""
    name = shortened(column.name, LONGEST_NAME) + (" *" if column.name == look.target else "")
    return (name, column.type, missing, f"{column.distinct:,}", _values(look, column))


def _values(look: "Look", column: "ColumnFacts") -> str:
    """The minimum, the median and the maximum; or the most frequent values."""
    if column.low is not None:
        return " … ".join(map(short_number, (column.low, column.median, column.high)))
    known = look.n_looked_at - column.missing
    words = [
        _value(value) + (f" {percent(rows / known)}" if rows >= known / 100 else "")
        for value, rows in column.top[:MOST_VALUES]
    ]
    return ", ".join(words) + (", …" if column.distinct > MOST_VALUES else "")


def _value(value: Any) -> str:
    return shortened(value, LONGEST_VALUE)
