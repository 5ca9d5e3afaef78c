"""Numbers, counts, lists and tables as text and as HTML.

The rule for digits:

estimate    two significant digits of its interval's half-width (a coefficient: of its standard
            error), for the value, both ends and the values compared with them (the baseline)
number      four significant digits, where there is no interval
p, z and t  three decimals

A minus is a hyphen in text and in HTML, so that a number can be copied.  A range is "low to high".
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from html import escape
from math import floor, isfinite, isnan, log10
from numbers import Integral, Real
from textwrap import wrap
from typing import Any

from likely.output.control_characters import STYLES, printable

DASH = "–"  # where there is no value
DIGITS = 4  # significant digits of a number without an interval
MOST_MORE = 4  # digits that show on which side of 0 an end is
INTERVAL_DIGITS = 2  # significant digits of an interval's half-width
MOST_DECIMALS = 6  # smaller numbers are written with a power of ten
SMALLEST_FIXED, LARGEST_FIXED = 1e-3, 1e9  # beyond these a power of ten is easier to read
ROUNDING = 1e-12  # smaller numbers are zeros that floating point has left
SMALLEST_P = 1e-3
HASH_LETTERS = 16  # of a SHA-256: enough to compare by eye
WIDEST = 100  # columns of text; longer lines are hard to read

LINE = "rgba(127,127,127,.45)"  # seen on a light page and on a dark one
TABLE_STYLE = "border-collapse:collapse;color:inherit;font-size:inherit"
WORD_STYLE = "text-align:left;padding:.15em .7em;border:0;vertical-align:top"
NUMBER_STYLE = (
    "text-align:right;padding:.15em .7em;border:0;vertical-align:top;white-space:nowrap;"
    "font-variant-numeric:tabular-nums"
)

PLAIN_NUMBER = re.compile(r"[-+<]?[\d,]*\.?\d+(?:e[-+]\d+)?\Z")


def number(value: Any) -> str:
    """Four significant digits, including zeros at the end; a dash where there is no number.

    >>> number(0.516), number(12.0), number(12345.6), number(1400), number(float("nan"))
    ('0.5160', '12.00', '12,346', '1,400', '–')
    """
    special = _special(value)
    if special is not None:
        return special
    size = abs(float(value))
    if not SMALLEST_FIXED / 10 <= size < LARGEST_FIXED:
        return f"{value:.{DIGITS - 1}e}"
    power = int(f"{size:.{DIGITS - 1}e}".partition("e")[2])  # after rounding: 9.9999 is 10.00
    return fixed(value, max(DIGITS - 1 - power, 0))


def short_number(value: Any, digits: int = DIGITS) -> str:
    """Up to ``digits`` significant digits without zeros at the end: data, settings and axes.

    >>> short_number(0.01), short_number(2019.0), short_number(55889.4), short_number(1e-07)
    ('0.01', '2019', '55,889', '1e-07')
    """
    special = _special(value)
    if special is not None:
        return special
    if 10**digits <= abs(value) < LARGEST_FIXED:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}" if abs(value) < 10 ** (digits - 1) else f"{value:.0f}"


def signed(value: float, digits: int = DIGITS) -> str:
    """A short number with its sign: a coefficient, or a part of a sum.

    >>> signed(0.25), signed(-1.5), signed(0.0)
    ('+0.25', '-1.5', '0')
    """
    return ("+" if value > ROUNDING else "") + short_number(value, digits)


def fixed(value: float, decimals: int) -> str:
    """A fixed number of decimals, commas between thousands, and no sign before a zero.

    >>> fixed(1234.567, 1), fixed(-0.0004, 3)
    ('1,234.6', '0.000')
    """
    if not isfinite(value):
        return str(_special(value))
    if abs(value) >= LARGEST_FIXED:
        return f"{value:.9g}"
    return f"{round(float(value), decimals) + 0.0:,.{decimals}f}"


def setting(value: Any) -> str:
    """A setting of a model, or a number of rows.

    >>> setting(1000), setting(0.0316227766), setting("auto")
    ('1,000', '0.03162', 'auto')
    """
    if isinstance(value, Integral) and not isinstance(value, bool):
        return f"{value:,}"
    return short_number(value) if isinstance(value, float) else str(value)


def cell(value: Any) -> str:
    """A value of the data: a whole number is written as it is, because it may be a year."""
    if value is None:
        return DASH
    return short_number(value) if isinstance(value, float) else one_line(str(value))


def estimate_cells(value: Any, low: Any, high: Any, *compared: Any) -> list[str]:
    """The value, its interval, and values compared with them: all with the same last digit.

    >>> estimate_cells(0.41234, 0.38888, 0.43612, 0.5623)
    ['0.412', '0.389 to 0.436', '0.562']
    >>> estimate_cells(float("nan"), None, None, 0.5623)
    ['–', '–', '0.5623']
    """
    if value is not None and not isfinite(value):  # its ends say nothing either
        value = low = high = None
    compared = tuple(None if each is None or not isfinite(each) else each for each in compared)
    half = _visible(_half_width(value, low, high), low, high)
    if half is None:
        written = [number(each) for each in (value, low, high, *compared)]
    else:
        written = [_to_place(each, half) for each in (value, low, high, *compared)]
    first, low_text, high_text, *others = written
    ends = DASH if low_text == high_text == DASH else f"{low_text} to {high_text}"
    return [first, ends, *others]


def coefficient_cells(coef: Any, error: Any, low: Any, high: Any) -> list[str]:
    """A coefficient, its standard error and the ends of its interval, one cell each.

    All have two significant digits of the standard error.

    >>> coefficient_cells(1.23456, 0.2345, 0.7749, 1.694)
    ['1.23', '0.23', '0.77', '1.69']
    """
    half = None if error is None else _visible(_half_width(error, -error, error), low, high)
    return [
        number(each) if half is None else _to_place(each, half) for each in (coef, error, low, high)
    ]


def estimate(value: Any, low: Any, high: Any, level: float | None = None) -> str:
    """A value with its interval in a sentence; ``level`` is written where it is given."""
    return estimate_compared(value, low, high, level=level)[0]


def estimate_compared(
    value: Any, low: Any, high: Any, *compared: Any, level: float | None = None
) -> list[str]:
    """A value with its interval in a sentence, then values compared with it: same last digit.

    >>> estimate_compared(0.41234, 0.38888, 0.43612, 0.5623, level=0.95)
    ['0.412 (95 % interval 0.389 to 0.436)', '0.562']
    """
    written, ends, *others = estimate_cells(value, low, high, *compared)
    name = "" if level is None else f"{percent_level(level)} interval "
    return [written if ends == DASH else f"{written} ({name}{ends})", *others]


def p_value(p: float | None) -> str:
    """Three decimals; a dash where there is none.

    >>> p_value(0.0312), p_value(1e-9), p_value(None)
    ('0.031', '<0.001', '–')
    """
    if p is None or isnan(p):
        return DASH
    return f"<{SMALLEST_P}" if p < SMALLEST_P else f"{p:.3f}"


def p_phrase(p: float | None) -> str:
    """``p = 0.031``, ``p < 0.001``: in a sentence."""
    written = p_value(p)
    if written == DASH:
        return "p unknown"
    return f"p < {SMALLEST_P}" if written.startswith("<") else f"p = {written}"


def statistic(value: float | None) -> str:
    """The ratio z or t of an estimate to its standard error: three decimals, ``-2.000``."""
    if value is None:
        return DASH
    return f"{value:.3e}" if isfinite(value) and abs(value) >= 1e6 else fixed(value, 3)


def percent(share: float) -> str:
    """``12.3 %``; only a share of 0 is written as 0, and only a share of 1 as 100."""
    if 0.9995 <= share < 1:
        return "over 99.9 %"
    return "under 0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"


def percent_level(level: float) -> str:
    """``95 %``, ``97.5 %``, ``98.33 %``: the level of an interval."""
    return f"{100 * level:.4g} %"


def count(n: int, one: str, many: str | None = None) -> str:
    """``1 row``, ``1,400 rows``, ``2 classes``."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def listed(names: Sequence[Any], most: int = 12) -> str:
    """The first names, and how many more there are.

    >>> listed(["a", "b", "c", "d"], 2)
    'a, b and 2 more'
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(str, names[:most])) + more


def column_named(name: str) -> str:
    """``column 'age'``, in a sentence; an index may have no name."""
    return f"column {name!r}" if name else "column without a name"


def all_listed(names: Sequence[Any], last: str = "and") -> str:
    """Every name, with a word before the last: ``a, b and c``."""
    words = [str(name) for name in names]
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def quoted(names: Sequence[Any], most: int = 5) -> str:
    """Names in quotes, as a list of limited length."""
    return listed([repr(name) for name in names[: most + 1]] + list(names[most + 1 :]), most)


def shortened(text: Any, most: int) -> str:
    """At most this many characters, with an ellipsis at the end if the text was cut; one line."""
    line = one_line(str(text))
    return line if len(line) <= most else line[: most - 1] + "…"


def one_line(text: str) -> str:
    """Without line breaks, which would break a table."""
    return " ".join(text.split()) if any(map(str.isspace, text)) else text


def capitalised(text: str) -> str:
    """The text with a capital first letter, and the others as they were."""
    return text[:1].upper() + text[1:]


def short_hash(digest: Any) -> str:
    """The first letters of a SHA-256."""
    text = str(digest)
    return text if len(text) <= HASH_LETTERS else f"{text[:HASH_LETTERS]}…"


def paragraph(text: str, width: int = WIDEST) -> list[str]:
    """The lines of a text that is at most ``width`` columns wide; words are not broken."""
    return [
        line
        for part in text.splitlines()
        for line in wrap(part, width, break_long_words=False, break_on_hyphens=False)
    ]


def text_table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    words: Collection[int] = (0,),
    indent: int = 2,
    width: int | None = None,
) -> list[str]:
    """The lines of a table: a head, and a row each; without a head if that is empty.

    Columns in ``words`` are flush left; the others are numbers, with their decimal points below
    each other.  Lines longer than ``width`` are cut.
    """
    body = [[printable(one_line(each)) for each in row] for row in rows]
    table = [[printable(name) for name in head], *body] if head else body
    columns = [
        _column([row[j] for row in table], head=bool(head), words=j in words)
        for j in range(len(table[0]) if table else 0)
    ]
    lines = [(" " * indent + "  ".join(row)).rstrip() for row in zip(*columns, strict=True)]
    most = max(map(len, lines), default=0) if width is None else width
    return [line if len(line) <= most else line[: most - 1] + "…" for line in lines]


def html_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, words: Collection[int] = (0,)
) -> str:
    """A table for a notebook, light or dark; without a head if that is empty."""

    def row(cells: Sequence[str], tag: str, style: str = "") -> str:
        drawn = "".join(
            f"<{tag} style='{WORD_STYLE if j in words else NUMBER_STYLE}{style}'>"
            f"{escape(printable(text))}</{tag}>"
            for j, text in enumerate(cells)
        )
        return f"<tr style='background:none'>{drawn}</tr>"  # notebooks stripe tables

    top = f"<thead>{row(head, 'th', ';font-weight:600')}</thead>" if head else ""
    lines = f";border-top:1px solid {LINE};border-bottom:1px solid {LINE}" if head else ""
    body = "".join(row(cells, "td") for cells in rows)
    return f"<table style='{TABLE_STYLE}{lines}'>{top}<tbody>{body}</tbody></table>"


def html_paragraph(text: str, *, bold: bool = False) -> str:
    """A sentence above or below a table."""
    weight = ";font-weight:600" if bold else ""
    return f"<p style='margin:.3em .7em;max-width:50em{weight}'>{escape(printable(text))}</p>"


def html_block(*parts: str) -> str:
    """Paragraphs and tables as one output of a notebook."""
    return f"<div style='font-size:.95em;overflow-x:auto'>{''.join(parts)}</div>"


def _special(value: Any) -> str | None:
    """Text of values that need no rounding: None, words, whole numbers, zero and infinity."""
    if value is None:
        return DASH
    if isinstance(value, bool) or not isinstance(value, Real):
        return str(value)
    if isinstance(value, Integral):
        return f"{value:,}"
    x = float(value)
    if isnan(x):
        return DASH
    if not isfinite(x):
        return "∞" if x > 0 else "-∞"
    return "0" if abs(x) < ROUNDING else None


def _half_width(value: Any, low: Any, high: Any) -> float | None:
    """Half of the interval; where one end is infinite, the distance of the other from the value."""
    known = [float(end) for end in (low, high) if end is not None and isfinite(end)]
    if len(known) == 2:
        half = abs(known[1] - known[0]) / 2
    elif len(known) == 1 and value is not None and isfinite(value):
        half = abs(known[0] - float(value))
    else:
        return None
    return half if half >= ROUNDING else None


def _visible(half_width: float | None, *ends: Any) -> float | None:
    """A smaller half-width, with up to four more digits, where an end near 0 is written as 0."""
    if half_width is None:
        return None
    near = [abs(float(end)) for end in ends if end is not None and isfinite(end) and end != 0]
    for more in range(MOST_MORE + 1):
        place = INTERVAL_DIGITS - 1 - floor(log10(half_width)) + more
        if place > MOST_DECIMALS:
            break
        if all(round(end, place) > 0 for end in near):
            return half_width / 10**more
    return half_width


def _to_place(value: Any, half_width: float) -> str:
    """The value, rounded at the second significant digit of the half-width."""
    if value is None or not isfinite(value):
        return number(value)
    place = INTERVAL_DIGITS - 1 - floor(log10(half_width))
    size = abs(float(value))
    if size >= LARGEST_FIXED or (place > MOST_DECIMALS and size < SMALLEST_FIXED):
        digits = place + floor(log10(size)) if size >= ROUNDING else -1
        return "0" if digits < 0 else f"{value:.{min(digits, MOST_DECIMALS)}e}"
    return fixed(value, min(max(place, 0), MOST_DECIMALS))


def _column(cells: list[str], *, head: bool, words: bool) -> list[str]:
    """The cells of one column, the first of which may be a head, all of the same width."""
    if not words:
        cells = [*cells[:head], *_aligned(cells[head:])]
    width = max(map(_width, cells))
    gaps = [" " * (width - _width(text)) for text in cells]
    pairs = zip(cells, gaps, strict=True)
    return [text + gap if words else gap + text for text, gap in pairs]


def _aligned(cells: list[str]) -> list[str]:
    """Numbers with their decimal points below each other; other cells are flush right."""
    parts = {j: text for j, text in enumerate(cells) if PLAIN_NUMBER.match(text)}
    tails = {j: len(text) - len(text.partition(".")[0]) for j, text in parts.items()}
    longest = max(tails.values(), default=0)
    return [text + " " * (longest - tails.get(j, longest)) for j, text in enumerate(cells)]


def _width(text: str) -> int:
    """The width on the screen: wide letters take two columns, combining marks and styles none."""
    if text.isascii() and "\x1b" not in text:
        return len(text)
    return sum(
        0 if unicodedata.combining(letter) else 1 + (unicodedata.east_asian_width(letter) in "WF")
        for letter in STYLES.sub("", text)
    )
