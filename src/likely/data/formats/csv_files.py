"""Delimited text, streamed: the first pass determines the types, every further pass uses them.

Between tabs, quotes are usually part of the text: if they do not enclose whole fields of rows that
are as long as the header, they are read as they are written.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, final

import numpy as np

from likely._typing import Array
from likely.data.formats.column_types import (
    FALSE,
    MISSING,
    TRUE,
    ColumnTypes,
    ValueType,
    arrow_type,
    join,
    type_of_strings,
    types_of_strings,
)
from likely.data.formats.text_files import (
    LONGEST_LINE,
    QuoteCount,
    QuoteCountingStream,
    TextFile,
    refuse_many_columns,
)
from likely.data.readings.sheet_layout import is_title, is_total, left_out
from likely.data.readings.table_readings import (
    AskedReadings,
    ReadSource,
    SeenColumn,
    UnreadValue,
    settled,
)
from likely.data.readings.written_values import (
    COMMA,
    NUMBERS,
    OF_DECIMALS,
    CellReading,
    ColumnEvidence,
    evidence_of,
    has_decimals_first,
    plain_evidence,
)
from likely.data.source import Source, column_indices
from likely.errors import InvalidFile
from likely.kinds import ColumnKind

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_BYTES = 2 * 2**20  # of text in a chunk, at least; several are processed at once
BYTES_PER_COLUMN = 2 * 2**10  # in a chunk, so that many columns do not mean many short chunks
LARGEST_BLOCK = 32 * 2**20
DELIMITERS = (",", ";", "\t", "|")
SAID = re.compile(r'(?i)"?sep=(.)"?')  # a first line that names the delimiter
MOST_TITLES = 20  # rows above a header, or below a table
NARROWEST = 3  # columns of a table that may have a title
LONGEST_TAIL = 2**16  # bytes at the end, in which totals are looked for
NOTHING_ASKED = AskedReadings()
LONGEST_FIELD = LONGEST_LINE  # characters: the csv module's own limit is meant for small files


class Dialect(NamedTuple):
    """What divides the fields of a line, and whether quotes enclose them."""

    delimiter: str
    quoted: bool = True


@final
@dataclass(frozen=True, eq=False)
class CsvSource(Source):
    """A CSV or TSV file whose types are known."""

    file: TextFile
    delimiter: str
    types: dict[str, ValueType]  # of all columns, in the order of the file
    names: tuple[str, ...]  # the columns that are read
    kinds: tuple[ColumnKind, ...]
    n_rows: int
    nbytes: int
    quoted: bool = True  # quotes enclose fields, and are not part of the text
    as_written: bool = False  # text that usually means missing is kept, in columns of text
    blank: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # rows left out

    def __iter__(self) -> "Iterator[pa.RecordBatch]":
        types = {name: arrow_type(self.types[name]) for name in self.names}
        names = list(self.types)
        dialect = Dialect(self.delimiter, self.quoted)
        start = 0
        for batch in _batches(self.file, dialect, types, names, as_written=self.as_written):
            kept = np.ones(batch.num_rows, dtype=bool)
            low, high = np.searchsorted(self.blank, [start, start + batch.num_rows])
            kept[self.blank[low:high] - start] = False
            start += batch.num_rows
            if kept.any():
                yield batch if high == low else batch.filter(kept)

    def select(self, names: Sequence[str]) -> "CsvSource":
        kinds = tuple(self.kinds[j] for j in column_indices(self.names, names))
        return replace(self, names=tuple(names), kinds=kinds)

    def as_strings(self, names: Iterable[str]) -> "CsvSource":
        """All rows, with these columns as text, in which the words for missing are missing."""
        kinds: dict[str, ColumnKind] = dict(zip(self.names, self.kinds, strict=True))
        kinds |= dict.fromkeys(names, "category")
        types = self.types | dict.fromkeys(names, "text")
        return replace(self, types=types, kinds=tuple(kinds[name] for name in self.names))

    def with_text(self, names: Sequence[str]) -> "CsvSource":
        types = self.types | dict.fromkeys(names, "text")
        kinds: dict[str, ColumnKind] = dict(zip(self.names, self.kinds, strict=True))
        kinds |= dict.fromkeys(names, "category")
        kept = tuple(kinds[name] for name in self.names)
        return replace(self, types=types, kinds=kept, as_written=True)


def open_csv(
    file: TextFile, *, delimiter: str | None = None, asked: AskedReadings = NOTHING_ASKED
) -> Source:
    """The source of a file, after the pass that determines its types and readings."""
    header, below = ([*(line.rstrip("\r\n") for _, line in islice(file.lines(), 2)), "", ""])[:2]
    if said := SAID.fullmatch(header):
        file, delimiter, header = replace(file, begin=2), said[1], below
    delimiter = delimiter or _delimiter_of_rows(file, [m for m in DELIMITERS if m in header])
    file, titles = _without_titles(file, delimiter)
    names = _header(file, delimiter)
    dialect = Dialect(delimiter, not (delimiter == "\t" and _has_plain_quotes(file, len(names))))
    file, totals = _without_totals(file, delimiter, len(names))
    asked = asked.on(names)
    found, seen, some_empty = _settle(file, dialect, names, asked)
    blank = np.zeros(0, dtype=np.int64)
    if some_empty and not asked.of_run:  # each row of which has an answer
        blank = _blank_rows(file, dialect, names)
    if found.n_rows == len(blank):
        raise InvalidFile(
            file.label, "there is a header but no row; a table was expected. Check how it was made."
        )
    plain = CsvSource(
        file,
        delimiter,
        found.types,
        tuple(names),
        found.kinds(),
        found.n_rows - len(blank),
        file.nbytes,
        dialect.quoted,
        blank=blank,
    )
    blanks = [f"Blank rows, which are left out: {len(blank):,}."] if len(blank) else []
    try:
        readings = settled(seen, asked)
        readings = replace(readings, remarks=(*titles, *blanks, *totals, *readings.remarks))
    except UnreadValue as error:
        raise InvalidFile(file.label, str(error), line=_line_of(file, dialect, error)) from None
    if not readings:
        return plain
    return ReadSource(plain.as_strings([*readings.columns, *readings.questions]), readings)


def _delimiter_of_rows(file: TextFile, marks: list[str]) -> str:
    """The delimiter of the header that divides the first rows as it divides the header.

    A name such as "price, net" in a file with semicolons has a comma, and so has each decimal: the
    comma is tried last.
    """
    for mark in marks[::-1] if len(marks) > 1 else ():
        with suppress(InvalidFile):
            rows = islice(_records(file, Dialect(mark), strict=False), MOST_TITLES)
            widths = {len(row) for _, row in rows}
            if len(widths) == 1 and widths != {1}:
                return mark
    return marks[0] if marks else DELIMITERS[0]


def _without_titles(file: TextFile, delimiter: str) -> tuple[TextFile, list[str]]:
    """The file from its header on; titles above it are rows as wide as it with one cell or none."""
    first: list[list[str]] = []
    lines = []
    for line, row in islice(_records(file, Dialect(delimiter), strict=False), MOST_TITLES):
        first.append(row)
        lines.append(line)
        if not is_title(row):
            break
    head = first[-1] if first else []
    titles = [row for row in first[:-1] if len(row) == len(head)]
    named = all(name.strip() and not any(map(str.isdigit, name)) for name in head)
    if not titles or len(titles) < len(first) - 1 or len(head) < NARROWEST or not named:
        return file, []
    said = [next((cell.strip() for cell in row if cell.strip()), "") for row in titles]
    return replace(file, begin=lines[-1]), [left_out(len(titles), "above the header", said)]


def _without_totals(file: TextFile, delimiter: str, n_columns: int) -> tuple[TextFile, list[str]]:
    """The file up to its totals, which are the last rows: Total, and sums of the columns.

    Rows below a total are left out with it.  A first cell that other rows have is no total.
    """
    if file.gzipped or n_columns < 2:
        return file, []
    size = file.path.stat().st_size
    with open(file.path, "rb") as stream:
        head = stream.read(LONGEST_TAIL)
        stream.seek(max(size - LONGEST_TAIL, 0))
        tail = stream.read()
    end, at = None, size
    found: list[str] = []
    for line in reversed(tail.splitlines(keepends=True)[1:]):
        at -= len(line)
        cells = next(csv.reader([line.decode("utf-8", "replace")], delimiter=delimiter), [])
        label = next((cell for cell in cells if cell.strip()), None)
        if label is not None and not (is_total(cells) and len(cells) == n_columns):
            if not is_title(cells) or len(found) >= MOST_TITLES:
                break
        elif label is not None and b"\n" + label.encode() not in head[: at - 1]:
            end = at
        found += [] if label is None else [label]
    if end is None:
        return file, []
    return replace(file, end=end), [left_out(len(found), "below the table", found[::-1])]


def _line_of(file: TextFile, dialect: "Dialect", error: UnreadValue) -> int | None:
    """The line of the first record that has the value in that column."""
    rows = _records(file, dialect, strict=False)
    place = next(rows)[1].index(error.column)
    places = (line for line, row in rows if place < len(row) and error.is_of(row[place]))
    return next(places, None)


def _has_plain_quotes(file: TextFile, n_columns: int) -> bool:
    """Whether the rows between tabs are complete only if quotes are part of the text."""
    with file.open() as stream, file.named_errors():
        if not any(b'"' in piece for piece in iter(lambda: stream.read(BLOCK_BYTES), b"")):
            return False
    quoted, plain = (
        _rows_are_complete(file, Dialect("\t", quoted), n_columns) for quoted in (True, False)
    )
    return plain and not quoted


def _rows_are_complete(file: TextFile, dialect: "Dialect", n_columns: int) -> bool:
    try:
        return all(len(record) == n_columns for _, record in _records(file, dialect, strict=True))
    except InvalidFile:
        return False


def delimiter_of(header: str) -> str:
    """The first of the usual delimiters that the header has; a comma if it has none."""
    return next((mark for mark in DELIMITERS if mark in header), ",")


def _header(file: TextFile, delimiter: str) -> list[str]:
    try:
        names = next(csv.reader((line for _, line in file.lines()), delimiter=delimiter), [])
    except csv.Error as error:
        raise InvalidFile(file.label, _mistake(error), line=file.begin) from None
    if not names:
        raise InvalidFile(
            file.label,
            "the first line is blank; column names were expected. Add a header.",
            line=file.begin,
        )
    refuse_many_columns(file.label, len(names))
    seen: set[str] = set()
    for name in names:
        if name.strip() in seen:
            spaces = ", apart from spaces" if names.count(name) == 1 else ""
            raise InvalidFile(
                file.label,
                f"two columns are called {name!r}{spaces}; names must differ. Rename one of them.",
                line=file.begin,
            )
        seen.add(name.strip())
    return names


def _settle(
    file: TextFile, dialect: Dialect, names: list[str], asked: AskedReadings
) -> tuple[ColumnTypes, dict[str, SeenColumn], bool]:
    """The types of all columns; what text and floats may mean; and whether a row is empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    total = ColumnTypes(dict.fromkeys(names, "null"), 0)
    strings = dict.fromkeys(names, pa.string())
    declared = {*asked.number, *asked.date}
    seen: dict[str, ColumnEvidence] = {}
    quotes, some_empty = QuoteCount(), False
    for batch in _batches(file, dialect, strings, names, quotes):
        some_empty = some_empty or len(_rows_of(batch, pc.is_null)) > 0
        before = list(total.types.values())
        types = types_of_strings(batch.columns, before)
        for j, (name, type_) in enumerate(zip(names, types, strict=True)):
            if type_ in ("text", "float") or name in declared:
                known = seen.get(name)
                plain = known is None and type_ == "float" and name not in declared
                if plain and has_decimals_first(batch.column(j)):
                    known = OF_DECIMALS  # as nearly all floats: quick, where columns are many
                elif known is None:
                    known = _evidence_before(asked.tried(name), before[j], total.n_rows)
                seen[name] = _with_block(known, batch.column(j), type_, name in declared)
        total = ColumnTypes(dict(zip(names, types, strict=True)), total.n_rows + batch.num_rows)
    if (
        dialect.quoted and quotes.count % 2
    ):  # a quote that is never closed includes the rows after it
        _refuse_broken_rows(file, dialect, names)
    columns = {
        name: SeenColumn(evidence, total.types[name] == "text") for name, evidence in seen.items()
    }
    return total, columns, some_empty and len(names) > 1


def _rows_of(batch: "pa.RecordBatch", holds: Callable[[Any], Any]) -> Array:
    """The rows of a batch of which that holds for every cell."""
    rows = np.arange(batch.num_rows)
    for column in batch.columns:
        if rows.size:
            some = column if rows.size == len(column) else column.take(rows)
            rows = rows[holds(some).to_numpy(zero_copy_only=False)]
    return rows


def _blank_rows(file: TextFile, dialect: Dialect, names: list[str]) -> Array:
    """Where the rows are that have delimiters only, which are no examples."""
    import pyarrow as pa
    import pyarrow.compute as pc

    strings, start, found = dict.fromkeys(names, pa.string()), 0, []
    for batch in _batches(file, dialect, strings, names, as_written=True):
        blank = _rows_of(batch, lambda cells: pc.equal(pc.utf8_trim_whitespace(cells), ""))
        found.append(blank + start)
        start += batch.num_rows
    return np.concatenate(found)


def _evidence_before(
    tried: frozenset[CellReading], type_: ValueType, n_rows: int
) -> ColumnEvidence:
    """What the blocks before the first one that is looked at allow: missing or whole numbers."""
    if type_ == "integer":
        return ColumnEvidence(tried & NUMBERS, n_values=n_rows)
    return ColumnEvidence(tried if type_ == "null" else frozenset())


def _with_block(
    known: ColumnEvidence, cells: "pa.Array", type_: ValueType, declared: bool
) -> ColumnEvidence:
    """The evidence with one more block of a column of that type."""
    if declared or type_ == "text":
        return known + evidence_of(cells, known.fits) if known.fits else known
    return known + plain_evidence(cells) if COMMA in known.fits else known


def _batches(
    file: TextFile,
    dialect: Dialect,
    types: dict[str, Any],
    names: list[str],
    quotes: QuoteCount | None = None,
    *,
    as_written: bool = False,
) -> "Iterator[pa.RecordBatch]":
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    read = arrow_csv.ReadOptions(block_size=_block_bytes(names))
    parse = arrow_csv.ParseOptions(
        delimiter=dialect.delimiter,
        quote_char='"' if dialect.quoted else False,
        newlines_in_values=dialect.quoted,
    )
    convert = arrow_csv.ConvertOptions(
        column_types=types,
        include_columns=list(types),
        null_values=list(MISSING),
        true_values=list(TRUE),
        false_values=list(FALSE),
        strings_can_be_null=not as_written,
    )
    with file.open() as stream, file.named_errors():
        counted = QuoteCountingStream(stream, quotes or QuoteCount())
        try:
            with arrow_csv.open_csv(counted, read, parse, convert) as reader:
                yield from reader
        except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
            _explain(file, dialect, names, types, error)


def _explain(
    file: TextFile, dialect: Dialect, names: list[str], types: dict[str, Any], error: Exception
) -> NoReturn:
    """Read again, slowly, to find the line at which the fast reader failed."""
    _refuse_broken_rows(file, dialect, names)
    _refuse_broken_values(file, dialect, names, types)
    _refuse_long_rows(file, dialect, _block_bytes(names))
    raise InvalidFile(
        file.label,
        f"it cannot be read as delimited text ({error}). Check the delimiter and the quotes.",
    ) from None


def _block_bytes(names: Sequence[str]) -> int:
    """Bytes of text in a chunk; a row that is not longer can always be read."""
    return min(max(BLOCK_BYTES, BYTES_PER_COLUMN * len(names)), LARGEST_BLOCK)


def _refuse_long_rows(file: TextFile, dialect: Dialect, most: int) -> None:
    """Rows that are longer than a block of the fast reader: there is no row in it that ends."""
    for line, record in _records(file, dialect, strict=True):
        quotes = sum(cell.count('"') + 2 for cell in record)  # at most
        size = len(dialect.delimiter.join(record).encode("utf-8", "surrogatepass")) + quotes
        if size > most:
            raise InvalidFile(
                file.label,
                f"the row has {size:,} bytes; one of more than {most:,} may not be read. Shorten "
                "its cells, or close a quote that is open.",
                line=line,
            )


def _records(file: TextFile, dialect: Dialect, *, strict: bool) -> Iterator[tuple[int, list[str]]]:
    """The records with the line each begins on, the header included; blank lines are skipped."""
    reader = csv.reader(
        (line for _, line in file.lines()),
        delimiter=dialect.delimiter,
        quoting=csv.QUOTE_MINIMAL if dialect.quoted else csv.QUOTE_NONE,
        strict=strict,
    )
    start, usual = file.begin, csv.field_size_limit(LONGEST_FIELD)
    try:
        for record in reader:
            if record:
                yield start, record
            start = reader.line_num + file.begin
    except csv.Error as error:
        raise InvalidFile(file.label, _mistake(error), line=start) from None
    finally:
        csv.field_size_limit(usual)


def _mistake(error: csv.Error) -> str:
    if "field limit" in str(error):
        return (
            "a quoted field that begins here has more than 64 million characters. Close the quote, "
            'and double quotes within a field ("").'
        )
    if "new-line" in str(error):
        return (
            "the line contains a carriage return, the line ending of old Mac files; line feeds "
            "were expected. Convert the file, for instance with tr '\\r' '\\n'."
        )
    return (
        f"a quoted field that begins here is not closed correctly ({error}). Close the quote, "
        'and double quotes within a field ("").'
    )


def _refuse_broken_rows(file: TextFile, dialect: Dialect, names: list[str]) -> None:
    for line, record in _records(file, dialect, strict=True):
        if len(record) != len(names):
            raise InvalidFile(
                file.label,
                f"the row has {len(record)} fields; the header has {len(names)}. Add or remove "
                "fields, or quote the one that holds the delimiter.",
                line=line,
            )


def _refuse_broken_values(
    file: TextFile, dialect: Dialect, names: list[str], types: dict[str, Any]
) -> None:
    """An error that occurs only if the file changed after its types were determined."""
    import pyarrow as pa

    rows = _records(file, dialect, strict=False)
    next(rows)
    for line, record in rows:
        for name, value in zip(names, record, strict=True):
            if value in MISSING or name not in types or pa.types.is_string(types[name]):
                continue
            if join("null", type_of_strings(pa.array([value]), "null")) == "text":
                raise InvalidFile(
                    file.label,
                    f"column {name!r} has the value {value!r}; {types[name]} was expected. "
                    "Do not change the file while it is read; read it again.",
                    line=line,
                )
