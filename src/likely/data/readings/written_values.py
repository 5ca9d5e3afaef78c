"""Numbers and dates as spreadsheets write them, recognised for a whole column at a time.

    decimal point    1234.5    1,234.50    1 234.50    1'234.50    $1,200    (1,200.00)    12 %
    decimal comma    1234,5    1.234,50    1 234,50    1'234,50    1.200 €   −3,5          12,5 %
    day first        18/05/2021    18.5.21    18 May 2021    18/05/2021 14:30
    month first      05/18/2021    5/18/21    May 18, 2021   5/18/2021 2:30 PM
    year first       2021/05/18    2021.5.18

* A column has a reading if every value in it fits that reading.  Nothing is guessed from one cell:
  two readings that fit all values are both kept, and the reading is open if they differ for some
  value (1,234 is 1234 or 1.234; 03/04/2021 is in April or in March).
* Thousands are groups of three digits (of two and three in India: 12,34,567) after a digit other
  than 0.  Digits after a leading zero are a code, and no number; so are more than 15 digits beside
  a mark or a space, which a float would round, and groups after a +, as in telephone numbers.
* Money has a currency before or after the number; a column of two currencies has no reading.  Of
  amounts in $, £, ¥ or ₹ a comma separates thousands.  A minus stands before or behind, as −, or
  as parentheses.
* Per cent are fractions, as in the cells of a workbook: 12 % is 0.12.  All values must have the %.
* Dates with points begin with the day, or with the year, and never with the month.
* A two-digit year is the last part of a date; 69 to 99 are 1969 to 1999.  Dates in ISO form
  (2021-05-18) are text here, because all that reads text as dates reads them.
* Signs and words for an empty cell (-, ?, n.a., k.A., s/o) and errors (#DIV/0!) are missing in a
  column that has a reading, and a sentence says so.
* A reading that the user has declared also reads codes as numbers, and words without a digit as
  missing.

What has been seen of a column is a summary: the readings that fit two blocks are those that fit
both.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache, reduce
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np

from likely.data.formats.column_types import MISSING
from likely.numerics.additive import Additive

if TYPE_CHECKING:
    import pyarrow as pa

ReadingKind = Literal["number", "percent", "date"]

NOT_KNOWN = {  # said in words; also with a capital, and in capitals
    *("k.a.", "k. a.", "keine angabe", "keine angaben", "n.v.", "n. v.", "nicht verfügbar"),
    *("n.a.", "n. a.", "n/a.", "n.d.", "n. d.", "n/d", "s/o", "sans objet", "non disponible"),
    *("non renseigné", "s/d", "s.d.", "s. d.", "sin datos", "sin dato", "no disponible"),
    *("non disponibile", "n.v.t.", "n. v. t.", "n.b.", "n. b.", "niet beschikbaar"),
    *("geen opgave", "not available", "not applicable", "no data"),
}
WAYS: tuple[Callable[[str], str], ...] = (str, str.capitalize, str.upper)
NO_VALUE = frozenset(MISSING) | {  # in a column of numbers or dates
    *(way(word) for word in NOT_KNOWN for way in WAYS),
    *("k.A.", "k. A.", "Keine Angabe", "Keine Angaben"),
    *("-", "--", "—", "–", "−", ".", "..", "...", "?"),
    *("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#N/A!", "#N/V"),
}
SPACES = "[\u00a0\u2000-\u200a\u202f\u3000\t]"  # that do not break, or are thin
CURRENCIES = {  # how it is written: which one it is
    "US$": "$",
    "USD": "$",
    "$": "$",
    "EUR": "€",
    "€": "€",
    "GBP": "£",
    "£": "£",
    "JPY": "¥",
    "¥": "¥",
    "INR": "₹",
    "₹": "₹",
    "CHF": "CHF",
    "Fr.": "CHF",
    "R$": "R$",
    "CAD": "CAD",
    "AUD": "AUD",
    "SEK": "SEK",
    "NOK": "NOK",
    "DKK": "DKK",
    "zł": "PLN",
    "PLN": "PLN",
    "kr": "kr",
}
MONEY = "|".join(re.escape(each) for each in sorted(CURRENCIES, key=len, reverse=True))
GROUPS = {".": ",", ",": "."}  # what separates thousands beside a space and ', by decimal mark
PLAIN_THOUSANDS = r"^\s*[-+]?([1-9]\d{0,2}\.\d{3}|0|[1-9]\d*)\s*$"  # of a column of floats
OF_THE_POINT = frozenset("$£¥₹")  # currencies whose amounts have no decimal comma
MAY_BE_READ = re.compile(  # the first value of a column that may have a reading: cheap to ask
    rf"[-+−–(.,\s]*(?:{MONEY})?[-+−–(.,\s]*\d|[A-Za-z]{{3,9}}\.? \d"
)
DECIMAL = re.compile(r"\s*-?(0\.\d+|\d+\.(\d{1,2}|\d{4,})|\d{4,}\.\d+)\s*")  # 0.123, 1.5, 1234.567
SAMPLE = 32  # cells that are tried before all
LONGEST_WORD = 40  # characters of a cell in a message
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
TIME = r"(?:[T,]?\s+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?:\s*([AaPp])\.?[Mm]\.?)?)?"
IN_FIGURES = re.compile(rf"(\d{{1,4}})([-/.])\s?(\d{{1,2}})\2\s?(\d{{4}}|\d{{2}}){TIME}")
DAY_AND_NAME = re.compile(
    rf"(\d{{1,2}})(?:\.|st|nd|rd|th)?[ -]([A-Za-z]{{3,9}})\.?,?[ -](\d{{4}}|\d{{2}}){TIME}"
)
NAME_AND_DAY = re.compile(rf"([A-Za-z]{{3,9}})\.? (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}}){TIME}")
ORDERS = {"day-first": (0, 1, 2), "month-first": (1, 0, 2), "year-first": (2, 1, 0)}  # day, month …
CENTURY = 69  # of two digits: from here on 19.., before 20..
SERIAL_START = datetime(1899, 12, 30)  # day 0 of a spreadsheet
SERIALS = (1, 2958465)  # the last is 9999-12-31


@final
@dataclass(frozen=True)
class CellReading:
    """How the text of a column becomes numbers or dates.

    ``form`` is the decimal mark of numbers; of dates ``day-first``, ``month-first``,
    ``year-first``, ``iso``, ``excel`` (days since 1899-12-30), or a format such as ``%d/%m/%Y``.
    """

    kind: ReadingKind
    form: str
    declared: bool = False  # by the user, or in a RUN
    strict: bool = False  # declared in a RUN, where it was found: codes and words are refused

    @property
    def lenient(self) -> bool:
        """Whether codes are numbers, and words without a digit are missing."""
        return self.declared and not self.strict

    @property
    def option(self) -> str:
        """What follows the name of the column in an option: ``--number price=,``."""
        return self.form + ("%" if self.kind == "percent" else "")

    def read(self, texts: "pa.Array") -> "ReadCells":
        """An Arrow array of text as numbers or dates, with what did not fit."""
        import pyarrow as pa
        import pyarrow.compute as pc

        trimmed = _trimmed(texts)
        missing = pc.or_(pc.is_null(trimmed), _are_missing(trimmed, self.lenient))
        if self.kind == "date":
            coded = trimmed.dictionary_encode()
            days = [_date(text, self.form) for text in coded.dictionary.to_pylist()]
            values = pa.array(days, pa.timestamp("us")).take(coded.indices)
        else:
            values = _numbers(trimmed, self)
        values = pc.if_else(missing, pa.scalar(None, values.type), values)
        fits = pc.or_(missing, pc.is_valid(values))
        return ReadCells(values, fits, pc.and_(missing, pc.is_valid(texts)))

    def has_decimals(self, values: "pa.Array") -> bool:
        """Whether some number has a decimal mark, a power, or more digits than a float."""
        import pyarrow.compute as pc

        mark = re.escape(self.form)
        decimals = rf"\d{mark}|{mark}\d|\d[eE]|(?:\d[ ,.']?){{16}}"
        return self.kind != "number" or bool(
            pc.any(pc.match_substring_regex(values, decimals)).as_py()
        )

    def in_words(self, money: bool = False) -> str:
        """``numbers with a decimal comma``."""
        if self.kind == "date":
            named = {"iso": "dates", "excel": "dates, as the days of a spreadsheet"}
            return named.get(self.form) or (
                f"dates of the form {self.form}"
                if "%" in self.form
                else f"dates, {self.form.replace('-', ' ')}"
            )
        mark = " with a decimal comma" if self.form == "," else ""
        if self.kind == "percent":
            return f"per cent{mark}, read as fractions"
        return f"money{mark}, read as numbers" if money else f"numbers{mark}"


@final
@dataclass(frozen=True, eq=False)
class ReadCells:
    """Values of a column; which of its cells fit, and which are signs or words for no value."""

    values: Any
    fits: Any
    words: Any


POINT, COMMA = CellReading("number", "."), CellReading("number", ",")
NUMBERS, DECIMALS = frozenset({POINT, COMMA}), frozenset({POINT})
PERCENT = frozenset({CellReading("percent", "."), CellReading("percent", ",")})
DATES = frozenset(CellReading("date", form) for form in ORDERS)
EVERY = NUMBERS | PERCENT | DATES


@final
@dataclass(frozen=True, eq=False)
class ColumnEvidence(Additive):
    """What the values of a column allow."""

    fits: frozenset[CellReading] = EVERY
    differ: bool = False  # two that fit all values differ for some
    fractions: frozenset[CellReading] = frozenset()  # under which some number has decimals
    currencies: frozenset[str] = frozenset()
    words: Counter[str] = field(default_factory=Counter)  # signs for no value
    example: str | None = None  # a value that shows the reading
    n_values: int = 0
    stranger: str | None = None  # a value that does not fit what was declared

    def __add__(self, other: "ColumnEvidence") -> "ColumnEvidence":
        return ColumnEvidence(
            self.fits & other.fits,
            self.differ or other.differ,
            self.fractions | other.fractions,
            self.currencies | other.currencies,
            self.words + other.words,
            other.example if self.example is None or other.differ > self.differ else self.example,
            self.n_values + other.n_values,
            self.stranger if self.stranger is not None else other.stranger,
        )

    @property
    def found(self) -> bool:
        """Whether a reading follows from values, and was not declared."""
        return self.n_values > 0 and not any(reading.declared for reading in self.fits)

    @property
    def has_thousands(self) -> bool:
        """Whether the commas separate thousands, because of the currency."""
        of_the_point = bool(self.currencies) and self.currencies <= OF_THE_POINT
        return of_the_point and "," in (self.example or "")

    @property
    def is_open(self) -> bool:
        """Whether several readings fit, and differ."""
        return self.differ and len(self.fits) > 1


OF_DECIMALS = ColumnEvidence(DECIMALS, fractions=DECIMALS, n_values=1)  # of floats


def has_decimals_first(cells: "pa.Array") -> bool:
    """Whether the first cell of a column is a float whose point does not separate thousands."""
    head = cells[0].as_py() if len(cells) else None
    return head is not None and DECIMAL.fullmatch(head) is not None


def evidence_of(texts: "pa.Array", tried: frozenset[CellReading]) -> ColumnEvidence:
    """What an Arrow array of text allows, of the readings that are ``tried``."""
    import pyarrow.compute as pc

    if not _may_be_read(texts.slice(0, SAMPLE).to_pylist()) and not any(
        reading.declared for reading in tried
    ):
        return ColumnEvidence(frozenset())
    counts = pc.value_counts(_trimmed(texts).drop_null())
    values, rows = counts.field("values"), counts.field("counts").to_numpy(zero_copy_only=False)
    declared = any(reading.declared for reading in tried)
    missing = _are_missing(values, any(reading.lenient for reading in tried))
    absent = np.asarray(missing.to_numpy(zero_copy_only=False), dtype=bool)
    words = Counter(
        dict(zip(values.filter(missing).to_pylist(), rows[absent].tolist(), strict=True))
    )
    values = values.filter(pc.invert(missing))
    if not len(values):
        return ColumnEvidence(tried, words=words)
    n_values = int(rows[~absent].sum())
    ways = sorted(tried, key=lambda each: (each.kind, each.form == ","))
    found = {reading: reading.read(values.slice(0, SAMPLE)).fits for reading in ways}
    for reading in ways:
        if declared or pc.all(found[reading]).as_py():
            found[reading] = reading.read(values).fits
    fits = frozenset(reading for reading in ways if pc.all(found[reading]).as_py())
    if not fits:
        masks = (reduce(pc.or_, found.values()), found[ways[0]]) if declared else ()
        places = [pc.index(mask, False).as_py() for mask in masks]
        stranger = next((values[place].as_py() for place in places if place >= 0), None)
        return ColumnEvidence(fits, words=words, n_values=n_values, stranger=stranger)
    differing = _differing(values, fits)
    money = pc.extract_regex(values, rf"(?P<money>{MONEY})").field("money")
    marked = pc.match_substring_regex(values, r"[.,]")
    shown = differing if differing is not None else _telling(values)
    return ColumnEvidence(
        fits,
        differing is not None,
        frozenset(reading for reading in fits if reading.has_decimals(values)),
        frozenset(CURRENCIES[each] for each in pc.unique(money).to_pylist() if each),
        words,
        shown if shown is not None else values[max(pc.index(marked, True).as_py(), 0)].as_py(),
        n_values,
    )


def plain_evidence(cells: "pa.Array") -> ColumnEvidence:
    """What a block of a column of floats allows: its points may separate thousands.

    Of a column whose points are decimal, one of the first cells says so as a rule.
    """
    import pyarrow.compute as pc

    for part in (cells.slice(0, SAMPLE), cells):
        thousands = pc.match_substring_regex(part, PLAIN_THOUSANDS)
        if not pc.all(thousands).as_py():
            return OF_DECIMALS
    first = pc.index(pc.match_substring(cells, "."), True).as_py()
    if first < 0:
        return ColumnEvidence(NUMBERS)
    return ColumnEvidence(
        NUMBERS, True, DECIMALS, example=cells[first].as_py().strip(), n_values=len(cells)
    )


def _may_be_read(cells: Iterable[str | None]) -> bool:
    """Whether the first value may be a number or a date; so too where there is none."""
    values = (cell for cell in cells if cell is not None and cell.strip() not in NO_VALUE)
    first = next(values, None)
    return first is None or MAY_BE_READ.match(first) is not None


def _trimmed(texts: "pa.Array") -> Any:
    """Text with plain spaces, minus signs and apostrophes, and none of them at its ends."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = texts.cast(pa.string()) if not pa.types.is_string(texts.type) else texts
    if not pc.all(pc.string_is_ascii(plain)).as_py():
        for written, meant in ((SPACES, " "), ("[−–‒]", "-"), ("[’ʼ]", "'"), ("\ufeff", "")):
            plain = pc.replace_substring_regex(plain, written, meant)
    return pc.utf8_trim_whitespace(plain)


def _are_missing(trimmed: "pa.Array", lenient: bool) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    signs = pc.is_in(trimmed, value_set=pa.array(sorted(NO_VALUE), pa.string()))
    if not lenient:
        return signs
    words = pc.invert(pc.match_substring_regex(trimmed, r"\d"))
    return pc.or_(signs, pc.fill_null(words, False))


@cache
def _number_pattern(mark: str, percent: bool, lenient: bool) -> str:
    """The pattern of a number; Arrow's regular expressions have no references to groups."""
    group, point = re.escape(GROUPS[mark]), re.escape(mark)
    grouped = rf"[1-9]\d{{0,2}}(?:{group}\d{{3}})+"
    lakhs = rf"|[1-9]\d?(?:{group}\d{{2}})+{group}\d{{3}}" if mark == "." else ""
    spaced = r"[1-9]\d{0,2}(?: \d{3})+|[1-9]\d{0,2}(?:'\d{3})+"
    plain = r"\d+" if lenient else r"0|[1-9]\d*"
    body = rf"(?:{grouped}{lakhs}|{spaced}|{plain})(?:{point}\d*)?|{point}\d+"
    unit = r"\s*%" if percent else rf"\s*(?P<right>{MONEY})?"
    return (
        rf"^(?P<open>\(?)\s*(?P<before>[-+]?)\s*(?P<left>{MONEY})?\s*(?P<sign>[-+]?)\s*"
        rf"(?P<body>{body})(?P<power>[eE][-+]?\d+)?{unit}\s*(?P<after>-?)(?P<close>\)?)$"
    )


def _numbers(trimmed: "pa.Array", reading: CellReading) -> Any:
    """Floats; null where a text is no number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    percent = reading.kind == "percent"
    pattern = _number_pattern(reading.form, percent, reading.lenient)
    parts = pc.extract_regex(trimmed, pattern)
    found = {name: pc.struct_field(parts, name) for name in ("before", "sign", "after")}
    opened, closed = (
        pc.equal(pc.struct_field(parts, n), b) for n, b in (("open", "("), ("close", ")"))
    )
    signs = pc.binary_join_element_wise(*found.values(), "")
    body = pc.struct_field(parts, "body")
    plain = pc.replace_substring_regex(body, rf"[ '{GROUPS[reading.form]}]", "")
    plain = pc.replace_substring(plain, reading.form, ".")
    power = pc.struct_field(parts, "power")
    power = pc.binary_join_element_wise(power, "e-2", "") if percent else power  # 12.3 % is 0.123
    numbers = pc.cast(pc.binary_join_element_wise(plain, power, ""), pa.float64())
    negative = pc.or_(opened, pc.match_substring(signs, "-"))
    whole = pc.add(pc.utf8_length(signs), pc.cast(opened, pa.int32()))
    sound = pc.and_(pc.equal(opened, closed), pc.less_equal(whole, 1))
    called = pc.and_(pc.equal(signs, "+"), pc.match_substring(body, " "))
    code = pc.or_(called, pc.match_substring_regex(plain, r"^\d{16}"))
    sound = pc.and_(sound, pc.invert(code))
    numbers = pc.if_else(negative, pc.negate(numbers), numbers)
    return pc.if_else(pc.fill_null(sound, False), numbers, pa.scalar(None, pa.float64()))


def _date(text: str, form: str) -> datetime | None:
    try:
        if form == "excel":
            days = float(text)
            inside = SERIALS[0] <= days <= SERIALS[1]
            return SERIAL_START + timedelta(days=days) if inside else None
        if form == "iso":
            return datetime.fromisoformat(text).replace(tzinfo=None)
        if form not in ORDERS:
            return datetime.strptime(text, form).replace(tzinfo=None)
        return _date_in_order(text, form)
    except (ValueError, OverflowError):
        return None


def _date_in_order(text: str, form: str) -> datetime | None:
    """A date in figures in that order, or with the name of its month; ValueError: no such day."""
    if named := DAY_AND_NAME.fullmatch(text) or NAME_AND_DAY.fullmatch(text):
        one, other, year, *time = named.groups()
        day, name = (one, other) if one.isdigit() else (other, one)
        month = MONTHS.index(name[:3].lower()) + 1
    elif figures := IN_FIGURES.fullmatch(text):
        one, mark, two, three, *time = figures.groups()
        parts = (one, two, three)
        day, written_month, year = (parts[k] for k in ORDERS[form])
        usual = (4,) if mark == "-" or form == "year-first" else (2, 4)
        if mark == "." and form == "month-first":  # nobody writes 5.18.2021
            return None
        if len(year) not in usual or max(len(day), len(written_month)) > 2:
            return None
        if form == "year-first" and mark == "-":  # ISO, or nearly
            return None
        month = int(written_month)
    else:
        return None
    full = int(year) + ((1900 if int(year) >= CENTURY else 2000) if len(year) == 2 else 0)
    hour, minute, second, half = time
    hours = int(hour or 0)
    if half is not None:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + (12 if half in "Pp" else 0)
    return datetime(full, month, int(day), hours, int(minute or 0), int(second or 0))


def _differing(values: "pa.Array", fits: frozenset[CellReading]) -> str | None:
    """The first value that the readings read differently."""
    import pyarrow.compute as pc

    first, *others = sorted(fits, key=lambda each: each.form)
    for other in others:
        differs = pc.not_equal(first.read(values).values, other.read(values).values)
        place = pc.index(differs, True).as_py()
        if place >= 0:
            return str(values[place].as_py())
    return None


def _telling(values: "pa.Array") -> str | None:
    """The first value that is not written as a plain number."""
    import pyarrow.compute as pc

    place = pc.index(pc.match_substring_regex(values, r"^-?\d+(\.\d*)?$"), False).as_py()
    return None if place < 0 else str(values[place].as_py())


def shown(value: object) -> str:
    """A value as sentences show it: 1200, 0.12, 2021-05-18."""
    if isinstance(value, datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def value_of(text: str, reading: CellReading) -> Any:
    """One text under a reading."""
    import pyarrow as pa

    return reading.read(pa.array([text])).values[0].as_py()


def trimmed(text: str) -> str:
    """One text as readings see it."""
    import pyarrow as pa

    return str(_trimmed(pa.array([text]))[0].as_py())
