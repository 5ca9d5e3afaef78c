"""Which reading each column of a table gets: what was asked for, what its values allow, the file.

    declared      --number COL[=MARK], --date COL[=FORM], --decimal MARK
    one reading   the only one that all values of the column fit
    by the file   numbers with both decimal marks possible, and other columns of the file have one
    open          otherwise: the column stays text, and a question names the options that settle it

A column of plain floats such as 1.234, whose points may all separate thousands, stays as it is
unless other columns of its file have a decimal comma; a remark says so.
"""

import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, final

from likely.data.readings.written_values import (
    COMMA,
    EVERY,
    LONGEST_WORD,
    ORDERS,
    POINT,
    CellReading,
    ColumnEvidence,
    evidence_of,
    shown,
    trimmed,
    value_of,
)
from likely.data.source import Source, SourceView
from likely.errors import InvalidInput, UnknownName
from likely.kinds import ColumnKind
from likely.output.formatting import all_listed, count, listed, shortened

if TYPE_CHECKING:
    import pyarrow as pa

MARKS = (".", ",")
FORM = re.compile(r"(.+)=(day-first|month-first|year-first|iso|excel|[^=]*%[^=]*)")
MARK = re.compile(r"(.+)=([.,]%?)")
MEANINGS = {  # of the forms of a question
    ".": "decimal point",
    ",": "decimal comma",
    "iso": "ISO",
    **{form: form.replace("-", " ") for form in ORDERS},
}
KINDS = {"number": "numbers", "percent": "per cent", "date": "dates"}
MOST_WORDS = 4  # in a sentence
FEWEST = 2  # values of a column whose reading is found: nothing is guessed from one cell
Given = Sequence[str] | Mapping[str, str | None]


@final
@dataclass(frozen=True)
class AskedReadings:
    """What the user said about numbers and dates; an empty form is left to the values."""

    number: Mapping[str, str] = field(default_factory=dict)  # column: decimal mark, perhaps with %
    date: Mapping[str, str] = field(default_factory=dict)  # column: form
    decimal: str | None = None
    found: frozenset[str] = frozenset()  # columns of a RUN, whose reading was not declared
    of_run: bool = False  # each row gets an answer, and a file may lack columns

    @classmethod
    def of(
        cls, number: Given | None = None, date: Given | None = None, decimal: str | None = None
    ) -> "AskedReadings":
        """What ``number=``, ``date=`` and ``decimal=`` say; columns may be written as COL=FORM."""
        if decimal not in (None, *MARKS):
            raise InvalidInput(
                f"The decimal mark {decimal!r} was given; '.' or ',' was expected. Write "
                "decimal=',' (--decimal ,) if numbers are written as 1.234,5."
            )
        asked = cls(_columns(number, "number", MARK), _columns(date, "date", FORM), decimal)
        twice = sorted(asked.number.keys() & asked.date.keys())
        if twice:
            raise InvalidInput(
                f"Column {twice[0]!r} was given as number and as date; a column holds one of them. "
                "Leave one out."
            )
        for name, mark in asked.number.items():
            if mark and MARK.fullmatch(f"{name}={mark}") is None:
                raise InvalidInput(
                    f"The decimal mark of {name!r} is {mark!r}; '.' or ',' was expected, with % "
                    f"for per cent. Write number={{{name!r}: ','}} "
                    f"(--number {shlex.quote(f'{name}=,')})."
                )
        for name, form in asked.date.items():
            if form and FORM.fullmatch(f"{name}={form}") is None:
                raise InvalidInput(
                    f"The form of the dates {name!r} is {form!r}; {', '.join(ORDERS)}, iso, excel, "
                    f"or a format such as %d/%m/%Y was expected. Write --date "
                    f"{shlex.quote(f'{name}=day-first')} "
                    f"(date={{{name!r}: 'day-first'}})."
                )
        return asked

    def __bool__(self) -> bool:
        return bool(self.number or self.date or self.decimal)

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> "AskedReadings":
        """What a RUN or a seal says about the columns of its data, for other files like it."""
        asked = cls.of(record.get("number"), record.get("date"), record.get("decimal"))
        declared = {*record.get("declared", ())}
        found = frozenset(name for name in (*asked.number, *asked.date) if name not in declared)
        return replace(asked, found=found, of_run=True)

    def before(self, record: "AskedReadings") -> "AskedReadings":
        """What was said now, and what was recorded of other columns."""
        said = {*self.number, *self.date}
        return AskedReadings(
            {n: form for n, form in record.number.items() if n not in said} | {**self.number},
            {n: form for n, form in record.date.items() if n not in said} | {**self.date},
            self.decimal or record.decimal,
            record.found - said,
            record.of_run,
        )

    def on(self, names: Sequence[str]) -> "AskedReadings":
        """What was said about the columns of a table; one that it does not have is refused."""
        for name in (*self.number, *self.date):
            if name not in names and not self.of_run:
                raise UnknownName("column", name, names)
        return replace(
            self,
            number={name: form for name, form in self.number.items() if name in names},
            date={name: form for name, form in self.date.items() if name in names},
        )

    def tried(self, name: str) -> frozenset[CellReading]:
        """The readings that a column may have."""
        if name in self.number:
            form = self.number[name]
            forms = [form] if form else [*MARKS, *(f"{mark}%" for mark in MARKS)]
            return frozenset(
                CellReading(
                    "percent" if "%" in each else "number", each[0], True, name in self.found
                )
                for each in forms
            )
        if name in self.date:
            forms = [self.date[name]] if self.date[name] else [*ORDERS, "iso"]
            return frozenset(CellReading("date", form, True, name in self.found) for form in forms)
        return EVERY


def _columns(given: Given | None, role: str, form: re.Pattern[str]) -> dict[str, str]:
    """Columns with what is said of them, from a mapping, or from words such as ``price=,``."""
    if isinstance(given, str):
        raise InvalidInput(
            f"{role} is {given!r}; a list of columns was expected. Write {role}=[{given!r}]."
        )
    if isinstance(given, Mapping):
        return {name: said or "" for name, said in given.items()}
    found = {}
    for word in given or ():
        parts = form.fullmatch(word)
        name, said = (word, "") if parts is None else (parts[1], parts[2])
        found[name] = said
    return found


@final
@dataclass(frozen=True)
class OpenReading:
    """A column that may be read in two ways: why, and the options that settle it."""

    column: str
    found: str  # what was found, without a full stop
    ways: str  # what to do
    option: str  # that a command may add

    @property
    def sentence(self) -> str:
        return f"{self.found}. {self.ways}"


@final
@dataclass(frozen=True, eq=False)
class TableReadings:
    """How the columns of a table were read, and what should be known about it.

    ``whole`` are columns of numbers without decimals; ``sentences`` has one for each column that
    was read, ``remarks`` what every command says.
    """

    columns: Mapping[str, CellReading] = field(default_factory=dict)
    whole: frozenset[str] = frozenset()
    sentences: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    questions: Mapping[str, OpenReading] = field(default_factory=dict)
    decimal: str | None = None  # of the file, for columns in which both marks are possible
    sheet: str | None = None  # of a workbook that has several
    record: Mapping[str, Any] | None = None  # of a seal

    def __bool__(self) -> bool:
        return bool(self.columns or self.sentences or self.remarks or self.questions)

    def to_json(self) -> dict[str, Any]:
        """What a RUN and a seal record, so that other files are read alike; empty for nothing."""
        if self.record is not None:
            return dict(self.record)
        if not self:
            return {}
        found = self.columns.items()
        return {
            "number": [f"{name}={how.option}" for name, how in found if how.kind != "date"],
            "date": [f"{name}={how.option}" for name, how in found if how.kind == "date"],
            "declared": sorted(name for name, how in found if how.lenient),
            "decimal": self.decimal,
            "sheet": self.sheet,
            "sentences": list(self.sentences),
            "remarks": list(self.remarks),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "TableReadings":
        """What is said about a table whose columns were read before it was written."""
        return cls(
            sentences=tuple(record.get("sentences", ())),
            remarks=tuple(record.get("remarks", ())),
            decimal=record.get("decimal"),
            record=record,
        )

    def batch(self, batch: "pa.RecordBatch") -> "pa.RecordBatch":
        """A batch with these columns read."""
        import pyarrow as pa
        import pyarrow.compute as pc

        for name, reading in self.columns.items():
            place = batch.schema.get_field_index(name)
            if place < 0:
                continue
            texts = _as_text(batch.column(place))
            found = reading.read(texts)
            strange = pc.index(found.fits, False).as_py()
            if strange >= 0:
                raise UnreadValue(name, trimmed(texts[strange].as_py()), [reading])
            values = found.values.cast(pa.int64()) if name in self.whole else found.values
            batch = batch.set_column(place, name, values)
        return batch


NOTHING_READ = TableReadings()


class SeenColumn(NamedTuple):
    """What was seen of a column, and whether it is text or plain numbers."""

    evidence: ColumnEvidence
    is_text: bool


def settled(seen: Mapping[str, SeenColumn], asked: AskedReadings) -> TableReadings:
    """The reading of each column; one that was declared and does not fit is refused."""
    left = [
        {each.form for each in e.fits if each.kind != "date"} for e, _ in seen.values() if e.found
    ]
    marks = set().union(*(forms for forms in left if len(forms) == 1))  # of the file
    mark = asked.decimal or (next(iter(marks)) if len(marks) == 1 else None)
    columns: dict[str, CellReading] = {}
    sentences, remarks, questions, whole = [], [], [], []
    for name, (evidence, is_text) in seen.items():
        declared = name in asked.number or name in asked.date
        if declared and not evidence.fits and evidence.stranger is not None:
            raise UnreadValue(name, evidence.stranger, sorted(asked.tried(name), key=_by_form))
        found = _choice(name, SeenColumn(evidence, is_text), mark, asked, comma="," in marks)
        if (
            not is_text
            and isinstance(found, CellReading)
            and (found.kind, found.form) == ("number", ".")
        ):
            continue  # plain numbers
        if isinstance(found, OpenReading):
            questions.append(found)
        elif found is not None:
            columns[name] = found
            sentences.append(_sentence(name, found, evidence, asked, mark))
            remarks += _about_words(name, evidence)
            if found.kind == "number" and found not in evidence.fractions:
                whole.append(name)
        elif not is_text and evidence.is_open and mark is None:
            example = str(evidence.example)
            remarks.append(
                f"Column {name!r} is read with a decimal point ({example!r} is "
                f"{shown(value_of(example, POINT))}). If the point separates thousands "
                f"({shown(value_of(example, COMMA))}): --number {shlex.quote(f'{name}=,')} "
                f"(number={{{name!r}: ','}}), or --decimal , for the file."
            )
    return TableReadings(
        columns,
        frozenset(whole),
        tuple(sentences),
        tuple(remarks),
        {each.column: each for each in questions},
        mark if columns else asked.decimal,
    )


def _by_form(reading: CellReading) -> tuple[str, int]:
    forms = (*MARKS, *ORDERS, "iso")
    return reading.kind, forms.index(reading.form) if reading.form in forms else len(forms)


def _choice(
    name: str, seen: SeenColumn, mark: str | None, asked: AskedReadings, *, comma: bool
) -> CellReading | OpenReading | None:
    """The reading, a question, or None where the column stays as it is."""
    evidence, is_text = seen
    declared = name in asked.number or name in asked.date
    fits = sorted(evidence.fits, key=_by_form)
    if not fits or (evidence.n_values < FEWEST and not declared):
        return None
    if len(evidence.currencies) > 1 and not declared:
        return _question(name, evidence, fits)
    if not evidence.is_open:
        return fits[0] if is_text or declared else None
    if evidence.has_thousands:
        mark = "."
    if fits[0].kind == "date" or mark is None:
        asks = is_text or declared or comma
        return _question(name, evidence, fits[::-1] if comma else fits) if asks else None
    if is_text or declared or asked.decimal == ",":
        return next(reading for reading in fits if reading.form == mark)
    return None if mark == "." else _question(name, evidence, fits[::-1])


def _question(name: str, evidence: ColumnEvidence, fits: Sequence[CellReading]) -> OpenReading:
    """Which of several readings is meant, or which of several currencies."""
    if len(evidence.currencies) > 1:
        return OpenReading(
            name,
            f"Column {name!r} holds amounts in several currencies "
            f"({all_listed(sorted(evidence.currencies))}), whose numbers cannot be compared; one "
            "was expected",
            "Convert them, or put the currency into a column of its own; --number "
            f"{shlex.quote(name)} (number=[{name!r}]) reads the numbers as they are.",
            f"--number {shlex.quote(name)}",
        )
    example, option = str(evidence.example), "date" if fits[0].kind == "date" else "number"
    meanings = [f"{shown(value_of(example, each))} ({MEANINGS[each.form]})" for each in fits]
    ways = [f"--{option} {shlex.quote(f'{name}={each.option}')}" for each in fits]
    python = ", ".join(f"{option}={{{name!r}: {each.option!r}}}" for each in fits)
    what = "dates" if option == "date" else "numbers"
    decimal = " One decimal mark for all columns is --decimal." if option == "number" else ""
    return OpenReading(
        name,
        f"Column {name!r} holds {what} that can be read in {len(fits)} ways: {example!r} is "
        f"{all_listed(meanings, 'or')}, and no value of the column tells which",
        f"It is not read until that is said: {' or '.join(ways)} ({python}).{decimal}",
        ways[0],
    )


def _sentence(
    name: str,
    reading: CellReading,
    evidence: ColumnEvidence,
    asked: AskedReadings,
    mark: str | None,
) -> str:
    """``price: money, read as numbers ("$1,200" is 1200).``"""
    example = evidence.example
    value = "" if example is None else shown(value_of(example, reading))
    says = "" if value == (example or "") else f' ("{example}" is {value})'
    why = ""
    by_file = evidence.is_open and reading.form == mark and not evidence.has_thousands
    if by_file and asked.decimal is None:
        why = f", as in the other columns of the file; else --decimal {'.' if mark == ',' else ','}"
    return f"{name}: {reading.in_words(bool(evidence.currencies))}{says}{why}."


def _about_words(name: str, evidence: ColumnEvidence) -> list[str]:
    """A remark about cells that are read as missing."""
    if not evidence.words:
        return []
    n = sum(evidence.words.values())
    named = listed(
        [repr(shortened(word, LONGEST_WORD)) for word in sorted(evidence.words)], MOST_WORDS
    )
    what = "is" if n == 1 else "are"
    return [
        f"Column {name!r}: {count(n, 'cell')} without a value ({named}) {what} read as missing."
    ]


class UnreadValue(InvalidInput):
    """A value that does not fit the reading that was declared, or found before."""

    def __init__(self, column: str, value: str, readings: Collection[CellReading]) -> None:
        ways = [reading.in_words() for reading in readings]
        if len(ways) > 1:
            kinds = {reading.kind for reading in readings}
            ways = [words for kind, words in KINDS.items() if kind in kinds]
        decimals = " or ".join(f"--number {shlex.quote(f'{column}={mark}')}" for mark in MARKS)
        super().__init__(
            f"column {column!r} holds {shortened(value, LONGEST_WORD)!r}; "
            f"{all_listed(ways, 'or')} were expected. "
            f"Correct the cell, or say how the column is written: {decimals} (number=), "
            f"--date {shlex.quote(f'{column}=%d/%m/%Y')} (date=)."
        )
        self.column, self.value = column, value

    def is_of(self, cell: str) -> bool:
        """Whether a cell of the file has that value."""
        return trimmed(cell) == self.value


@final
@dataclass(frozen=True, eq=False)
class ReadSource(SourceView):
    """A source of which columns of text are read as numbers or dates."""

    readings: TableReadings

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:  # type: ignore[override]
        read: dict[str, ColumnKind] = {
            name: "date" if how.kind == "date" else "number"
            for name, how in self.readings.columns.items()
        }
        pairs = zip(self.source.names, self.source.kinds, strict=True)
        return tuple(read.get(name, kind) for name, kind in pairs)

    def __iter__(self) -> "Iterator[pa.RecordBatch]":
        return map(self.readings.batch, self.source)

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]  # read-only here
        questions = (each.sentence for each in self.readings.questions.values())
        return (*self.readings.sentences, *self.readings.remarks, *questions)

    def select(self, names: Sequence[str]) -> "ReadSource":
        return replace(self, source=self.source.select(names))

    def with_text(self, names: Sequence[str]) -> "ReadSource":
        columns = {n: how for n, how in self.readings.columns.items() if n not in names}
        left = replace(self.readings, columns=columns)
        return replace(self, source=self.source.with_text(names), readings=left)


def readings_of(source: Source) -> TableReadings:
    """How the columns of a source were read."""
    return source.readings if isinstance(source, ReadSource) else NOTHING_READ


def with_readings(
    source: Source,
    asked: AskedReadings,
    *,
    every: bool = False,
    remarks: Sequence[str] = (),
    sheet: str | None = None,
) -> Source:
    """A source with types of its own, whose text is read: what was declared, or all of it.

    ``remarks`` are what else should be known about the source, which is a ``sheet`` of several.
    """
    asked = asked.on(source.names)
    looked_at = [
        name
        for name, kind in zip(source.names, source.kinds, strict=True)
        if (name in asked.number and kind != "number")
        or (name in asked.date and kind != "date")
        or (every and kind == "category")
    ]
    seen = {name: ColumnEvidence(asked.tried(name)) for name in looked_at}
    for batch in source.select(looked_at) if looked_at else ():
        for name in looked_at:
            if seen[name].fits:
                cells = _as_text(batch.column(name))
                seen[name] += evidence_of(cells, seen[name].fits)
    columns = {name: SeenColumn(evidence, True) for name, evidence in seen.items()}
    found = settled(columns, asked)
    found = replace(found, remarks=(*remarks, *found.remarks), sheet=sheet)
    return ReadSource(source, found) if found else source


def _as_text(column: "pa.Array") -> Any:
    import pyarrow as pa

    return column if pa.types.is_string(column.type) else column.cast(pa.string())
