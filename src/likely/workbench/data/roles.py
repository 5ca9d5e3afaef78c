"""The roles of columns: those that were given, and those that are found in the values.

given            target, weight, offset, exposure, clusters
identifier       text of which nearly every value is different, and as short as a name; whole
                 numbers, nearly all different, in a column that is named like an identifier: id,
                 customer_id, orderId, uuid, index, row, or no name at all
free text        more than 40 characters or four words on average, and most values are different
rare categories  more than 50 with fewer than five rows to each, such as postal codes; a column
                 whose type declares categories is kept

``unused_columns`` asks once about a whole table, so that a part of its rows (a fold, the training
rows of a seal) has the same columns.  Numbers without gaps in a column of another name are shown
by ``look`` and kept: they may be times.  Measurements, with fractions or with another name, are no
identifiers, even where they are all different.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.data.labels import (
    DATE,
    MANY_VALUES,
    MOST,
    are_written_numbers,
    hold_codes,
    hold_numbers,
    is_prose,
)
from likely.inputs.rows import AT_PREDICTION
from likely.inputs.targets import check_numbers, check_weight

if TYPE_CHECKING:
    import pyarrow as pa

ARGUMENTS = {  # role of a column: argument of fit
    "weight": "sample_weight",
    "offset": "offset",
    "exposure": "exposure",
    "clusters": "groups",
}
FEWEST_ROWS = 20  # with fewer rows, values may all be different by chance
FEWEST_TEXTS = 5  # of a whole table: so few different texts may be categories
FEWEST_CALLED = 3  # rows, where the name of the column says what it holds
NEARLY_ALL = 0.95  # of the values of an identifier are different
MOSTLY = 0.5  # of the values of free text are different
ROWS_PER_CATEGORY = 5  # text with fewer is left out
WHOSE = (  # before "id" without a sign between: patientid, but not paid, bid or acid
    "p|s|u|c|r|t|pt|hh|idn|case|patient|user|customer|client|subject|person|passenger|product|item"
    "|order|row|record|student|employee|sample|transaction|account|member|school|household|player"
    "|respondent|participant|company|firm|station|store|ticket|loan|claim|policy|invoice|session"
)
CALLED = re.compile(
    r"(^|[\W_])((?i:id|uuid|guid)|key)$|[a-z](Id|ID|Key)$"
    rf"|^(?i:({WHOSE})id|id[\W_]?(no|nr|num|number|code)|id[\W_].*)$"
    r"|^(?i:|unnamed:? ?\d*|index|idx|level_0|row|rows|row[\W_]?(nr|no|num|number|names?)|obs"
    r"|observation|record|case|serial|nr|no)\.?$"
)
INDEX = re.compile(r"(?i)|unnamed:? ?\d*")  # as pandas writes the index of a frame
ROW_NUMBERS = "X"  # what R calls a column without a name


class Roles(NamedTuple):
    """The columns that are not features, by role; None where there is none."""

    target: str | None = None
    weight: str | None = None
    offset: str | None = None
    exposure: str | None = None
    clusters: str | None = None  # rows that belong together, for clustered standard errors

    @property
    def columns(self) -> list[str]:
        """All columns that have a role, the target first."""
        return [name for name in self if name is not None]

    def given(self) -> dict[str, str]:
        """The columns that are not features, by role."""
        return {role: name for role in ARGUMENTS if (name := getattr(self, role)) is not None}

    def to_fit(self) -> dict[str, str]:
        """The arguments of ``fit`` other than X and y, as names of columns."""
        return {ARGUMENTS[role]: name for role, name in self.given().items()}

    def to_predict(self, table: "pa.Table") -> dict[str, Any]:
        """The arguments of a prediction other than X, taken from a table."""
        given = self.given()
        return {role: table.column(given[role]) for role in AT_PREDICTION if role in given}

    def weights(self, table: "pa.Table") -> Array | None:
        """The weight of each row, checked; None where rows have none."""
        if self.weight is None:
            return None
        what = f"weight {self.weight}"
        return check_weight(table.column(self.weight), n_rows=table.num_rows, what=what)

    def offsets(self, table: "pa.Table") -> Array | None:
        """An offset, and the logarithm of an exposure, checked; None where there is neither."""
        n_rows, total = table.num_rows, None
        if self.offset is not None:
            column, what = table.column(self.offset), f"The offset {self.offset!r}"
            total = check_numbers(column, what, n_rows=n_rows)
        if self.exposure is not None:
            column, what = table.column(self.exposure), f"The exposure {self.exposure!r}"
            exposure = check_numbers(column, what, n_rows=n_rows, positive=True)
            total = np.log(exposure) if total is None else total + np.log(exposure)
        return total

    def at_prediction(self) -> list[str]:
        """The columns that a prediction needs in addition to the features."""
        given = self.given()
        return [given[role] for role in AT_PREDICTION if role in given]


def roles_in_run(facts: Mapping[str, Any]) -> Roles:
    """The roles of the columns of a RUN, from ``run.json``."""
    return Roles(
        **{role: name for role, name in facts.get("roles", {}).items() if role in ARGUMENTS}
    )


class UnusedColumns(NamedTuple):
    """Columns that no model learns from, unless they are declared."""

    identifiers: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    rare: tuple[str, ...] | None = ()  # categories of few rows; None if not searched for


def unused_columns(table: "pa.Table | pa.RecordBatch") -> UnusedColumns:
    """The identifiers, the free text and the rare categories of a table."""
    identifiers: list[str] = []
    texts: list[str] = []
    for name, column in zip(table.schema.names, table.columns, strict=True):
        found = _use_of(name, column)
        if found is not None:
            (identifiers if found == "identifier" else texts).append(name)
    known = {*identifiers, *texts}
    rare = tuple(name for name in rare_categories(table) if name not in known)
    return UnusedColumns(tuple(identifiers), tuple(texts), rare)


def rare_categories(table: "pa.Table | pa.RecordBatch") -> tuple[str, ...]:
    """The columns of text with very many values, and fewer than five rows to each."""
    columns = zip(table.schema.names, table.columns, strict=True)
    return tuple(name for name, column in columns if _is_text(column) and _is_rare(column))


def _is_rare(column: Any) -> bool:
    import pyarrow.compute as pc

    n_known = len(column) - column.null_count
    n_distinct = pc.count_distinct(column, mode="only_valid").as_py()
    if n_distinct <= MANY_VALUES or n_known >= ROWS_PER_CATEGORY * n_distinct:
        return False
    distinct = pc.unique(column.drop_null())
    numbers = hold_numbers(are_written_numbers(distinct)) and not hold_codes(distinct)
    return not numbers and not _are_dates(distinct)  # numbers as text are refused


def _use_of(name: str, column: Any) -> str | None:
    """``identifier`` or ``text`` where a column is one; None if it may be a feature."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    is_text = _is_text(column)
    number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if not is_text and not (number and may_be_called(name)):
        return None
    n_known = len(column) - column.null_count
    n_distinct = pc.count_distinct(column, mode="only_valid").as_py()
    if n_known < FEWEST_CALLED or n_distinct < MOSTLY * n_known:
        return None
    distinct = pc.unique(column.drop_null())
    if not is_text:
        numbers = distinct.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return "identifier" if numbers_identify(name, numbers, n_known) else None
    if text_identifies(name, distinct, n_known, fewest=FEWEST_TEXTS):
        return "identifier"
    return "text" if is_free_text(distinct, n_known) else None


def may_be_called(name: str) -> bool:
    """Whether a column of whole numbers has a name of identifiers."""
    return CALLED.search(name) is not None or name == ROW_NUMBERS


def is_index(name: str) -> bool:
    """Whether a column of row numbers or names has none of its own."""
    return INDEX.fullmatch(name) is not None


def text_identifies(
    name: str, distinct: "pa.Array | Sequence[str]", n_known: int, *, fewest: int = FEWEST_ROWS
) -> bool:
    """Whether these different texts in so many rows are an identifier."""
    called = CALLED.search(name) is not None
    if n_known < (FEWEST_CALLED if called else fewest) or not _hardly_repeat(distinct, n_known):
        return False
    if is_prose(distinct) or _are_dates(distinct):
        return False
    return called or hold_codes(distinct) or not hold_numbers(are_written_numbers(distinct))


def numbers_identify(name: str, distinct: Array, n_known: int) -> bool:
    """Whether these different numbers are whole, in a column that is named like an identifier."""
    if n_known < FEWEST_CALLED or not may_be_called(name) or not _hardly_repeat(distinct, n_known):
        return False
    distinct = distinct[~np.isnan(distinct)]
    whole = bool(len(distinct) and (distinct % 1 == 0).all())
    if name == ROW_NUMBERS:
        return whole and distinct.min() == 1 and run_without_gap(distinct)
    return whole


def is_free_text(distinct: "pa.Array | Sequence[str]", n_known: int) -> bool:
    """Whether text is prose of which most values are different."""
    if n_known < FEWEST_TEXTS or len(distinct) <= MOSTLY * n_known:
        return False
    return is_prose(distinct) and not _are_dates(distinct)


def run_without_gap(numbers: Array) -> bool:
    """Whether distinct whole numbers have no gap between the smallest and the largest."""
    whole = bool((numbers % 1 == 0).all())
    return bool(
        whole and len(numbers) >= FEWEST_ROWS and numbers.max() - numbers.min() == len(numbers) - 1
    )


def identifier_of(table: "pa.Table", target: str) -> str | None:
    """The first column that identifies rows, text before numbers.

    Every row has a different value in it.  Whole numbers are often all different by chance, so
    the column must also be named like an identifier, have no gaps, or increase from row to row.
    """
    if table.num_rows < FEWEST_ROWS:
        return None
    names = [name for name in table.column_names if name != target]
    found = [name for name in names if _finds_rows(table.column(name), name)]
    return min(found, key=lambda name: not _is_text(table.column(name)), default=None)


def _finds_rows(column: "pa.ChunkedArray", name: str) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = pa.types.is_integer(column.type)
    if not (whole or _is_text(column)) or column.null_count:
        return False
    if pc.count_distinct(column).as_py() < len(column):
        return False
    if not whole:
        return not is_prose(pc.unique(column))
    numbers = column.to_numpy()
    upwards = bool((numbers[1:] > numbers[:-1]).all())
    return upwards or numbers_identify(name, numbers, len(numbers)) or run_without_gap(numbers)


def _hardly_repeat(distinct: Any, n_known: int) -> bool:
    """Whether nearly all values are different; of few rows, all."""
    return len(distinct) >= (NEARLY_ALL if n_known >= FEWEST_ROWS else 1.0) * n_known


def _are_dates(texts: "pa.Array | Sequence[str]") -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(texts, pa.Array):
        texts = pa.array(texts, pa.string())
    share = pc.mean(pc.match_substring_regex(texts, DATE).cast(pa.float64())).as_py()
    return bool(len(texts)) and share >= MOST


def _is_text(column: "pa.ChunkedArray") -> bool:
    import pyarrow as pa

    types = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(each(column.type) for each in types)
