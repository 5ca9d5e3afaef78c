"""The preparation of one column: learned in a fit, and applied to all later rows.

    x  →  (x − m) / s                 a number, where a penalty compares coefficients
    missing  →  the median            and a missing indicator, if more than 1 % are missing
    missing  →  "missing"             a category like any other
    a category  →  0/1 columns        for models that read numbers only; the first has none

Each step makes the columns that the model sees, and describes itself in words.  The columns are
arrays of numbers or Booleans, Booleans with gaps, or categories; NumPy makes them, so that
``likely.runtime`` prepares rows without Arrow.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, final

import numpy as np

from likely._typing import Array, Matrix
from likely.caching import cached_property
from likely.data.categories import CodedValues
from likely.data.schema import MISSING, cell_shown
from likely.errors import InvalidInput, UnseenCategories, warn_user
from likely.output.formatting import count, percent, short_number, text_table
from likely.workbench.preparation.cells import Cells, numbers_of, text_of

AS_IT_IS = "as it is"
NO_CHANGE: Mapping[str, object] = MappingProxyType({})


class GappyBooleans(NamedTuple):
    """A column of true and false in which cells may be missing."""

    values: Array
    gaps: Array  # which cells are missing


class Categories(NamedTuple):
    """A column of categories."""

    factor: CodedValues
    ordered: bool  # the first value is the reference of a linear model


class Step(ABC):
    """The contract of the preparation of one column."""

    name: str
    dropped: ClassVar[bool] = False

    @property
    def scaled(self) -> bool:
        """Whether its numbers are divided by their standard deviation."""
        return False

    @property
    def of_numbers(self) -> bool:
        """Whether the column was numeric in the fit."""
        return False

    @property
    def word_names(self) -> tuple[str, ...]:
        """The names of the sparse columns of a text; none for other columns."""
        return ()

    def word_columns(self, cells: Cells) -> Matrix | None:
        """The sparse columns of a text, (n, V); None for other columns."""
        return None

    @abstractmethod
    def columns(self, cells: Cells) -> dict[str, Any]:
        """The columns that the model sees, by name; none for one that is dropped.

        Each is an array of numbers or Booleans, a ``GappyBooleans`` or a ``Categories``.
        """

    @abstractmethod
    def description(self) -> str:
        """The step in words."""


@final
@dataclass(frozen=True)
class DroppedColumn(Step):
    """A column that the model does not see."""

    name: str
    reason: str
    dropped: ClassVar[bool] = True

    def columns(self, cells: Cells) -> dict[str, Any]:
        return {}

    def description(self) -> str:
        return f"dropped: {self.reason}"


@final
@dataclass(frozen=True)
class NumberColumn(Step):
    """Numbers, or dates as days."""

    name: str
    date: bool
    fill: float | None  # of missing cells; None leaves them to the model
    missing: float  # their share in the fit
    indicator: str | None  # the name of the missing indicator
    scale: float | None  # what the numbers are divided by
    constant: bool = False  # where known; then only the indicator is kept
    centre: float = 0.0  # what is subtracted before

    @property
    def scaled(self) -> bool:
        return self.scale is not None

    @property
    def of_numbers(self) -> bool:
        return not self.date

    def columns(self, cells: Cells) -> dict[str, Any]:
        numbers = numbers_of(cells, date=self.date)
        gaps = np.isnan(numbers)
        if self.fill is not None and gaps.any():
            numbers = np.where(gaps, self.fill, numbers)
        if self.scale is not None:
            numbers = (numbers - self.centre) / self.scale
        out: dict[str, Any] = {} if self.constant else {self.name: numbers}
        return out if self.indicator is None else {**out, self.indicator: gaps}

    def description(self) -> str:
        if self.constant:
            value = short_number(self.fill)
            return (
                f"{value} in every row that has a value; replaced by the missing "
                f"indicator {self.indicator!r} ({percent(self.missing)} missing)"
            )
        parts = ["days since 1970-01-01"] if self.date else []
        if self.missing and self.fill is not None:
            filled = f"filled with the median {short_number(self.fill)}"
            parts.append(f"{percent(self.missing)} missing, {filled}")
        elif self.missing:
            parts.append(f"{percent(self.missing)} missing, left to the model")
        parts += _indicator_words(self.indicator)
        if self.scale is not None:
            mean, deviation = short_number(self.centre), short_number(self.scale)
            parts.append(f"standardised (mean {mean}, SD {deviation})")
        return "; ".join(parts) or AS_IT_IS


@final
@dataclass(frozen=True)
class BooleanColumn(Step):
    """True and false."""

    name: str
    fill: bool | None
    missing: float
    indicator: str | None

    def columns(self, cells: Cells) -> dict[str, Any]:
        numbers = numbers_of(cells, date=False)
        gaps = np.isnan(numbers)
        other = ~gaps & (numbers != 0) & (numbers != 1)
        if other.any():
            raise InvalidInput(
                f"Column {self.name!r} held true and false in the fit; found "
                f"{numbers[other][0]:g}. Make it true or false, or 1 or 0."
            )
        out: dict[str, Any] = {self.name: GappyBooleans(numbers == 1, gaps)}
        if self.fill is not None:
            out = {self.name: np.where(gaps, self.fill, numbers == 1)}
        return out if self.indicator is None else {**out, self.indicator: gaps}

    def description(self) -> str:
        parts = []
        if self.missing:
            filled = "left to the model" if self.fill is None else f"filled with {self.fill}"
            common = "" if self.fill is None else ", the more common"
            parts.append(f"{percent(self.missing)} missing, {filled}{common}")
        return "; ".join([*parts, *_indicator_words(self.indicator)]) or AS_IT_IS


@final
@dataclass(frozen=True)
class CategoryColumn(Step):
    """Categories that the model reads itself; an unseen one is passed to the model."""

    name: str
    n_levels: int  # in the fit, without that of missing cells
    fill: bool  # whether a missing cell is a category; else it is left to the model
    missing: float
    order: tuple[str, ...] = ()  # of the categories, where the table gave one

    def columns(self, cells: Cells) -> dict[str, Any]:
        factor = with_missing(text_of(cells)) if self.fill else text_of(cells)
        if self.order:
            factor = in_order(factor, self.order)
        return {self.name: Categories(factor, ordered=bool(self.order))}

    def description(self) -> str:
        categories = count(self.n_levels, "category", "categories")
        return "; ".join([categories, *_category_gaps(self.missing, self.fill)])


@final
@dataclass(frozen=True)
class LevelColumns(Step):
    """Categories as columns of 0 and 1, one for each level after the first."""

    name: str
    levels: tuple[str, ...]  # in order or sorted, with that of missing cells if there were any
    names: tuple[str, ...]  # of the columns, one less
    missing: float

    def columns(self, cells: Cells) -> dict[str, Any]:
        factor = with_missing(text_of(cells))
        place = {level: k for k, level in enumerate(self.levels)}
        found = [place.get(value, len(place)) for value in factor.values.tolist()]
        codes = np.array(found)[factor.codes]
        self._warn_of_unseen(factor, codes)
        return {name: (codes == k).astype(np.float64) for k, name in enumerate(self.names, start=1)}

    def description(self) -> str:
        columns = (
            f"{count(len(self.levels), 'category', 'categories')} as "
            f"{count(len(self.names), 'column')} of 0 and 1, "
            f"{self.levels[0]!r} is the reference"
        )
        return "; ".join([columns, *_category_gaps(self.missing, True)])

    def _warn_of_unseen(self, factor: CodedValues, codes: Array) -> None:
        new = codes == len(self.levels)
        if new.any():
            warn_user(
                f"Categories that the fit did not see are read as {self.levels[0]!r}: "
                f"{cell_shown(self.name, factor.values[factor.codes[new.argmax()]])}. Fit again "
                "with rows that have them.",
                UnseenCategories,
            )


@final
@dataclass(frozen=True)
class Preparation:
    """All columns of a table, one step for each."""

    steps: tuple[Step, ...]

    def table(self, columns: Sequence[Cells], changed: Mapping[str, object] = NO_CHANGE) -> Any:
        """The table that the model sees: an Arrow table, or one with columns of words.

        Columns in ``changed`` take the place of those of the same name.
        """
        import pyarrow as pa

        made = {**self.columns(columns), **changed}
        table = pa.table({name: arrow_column(column) for name, column in made.items()})
        pairs = zip(self.steps, columns, strict=True)
        texts = [found for step, cells in pairs if (found := step.word_columns(cells)) is not None]
        if not texts:
            return table
        from likely.data.frames import as_table
        from likely.data.word_table import WordTable, joined_columns

        beside = as_table(table) if made else None
        return WordTable(beside, joined_columns(texts), self.word_names)

    def columns(self, columns: Sequence[Cells]) -> dict[str, Any]:
        """The dense columns that the model sees, by name."""
        made: dict[str, Any] = {}
        for step, cells in zip(self.steps, columns, strict=True):
            made.update(step.columns(cells))
        return made

    def origins(self, columns: Sequence[Cells]) -> dict[str, int]:
        """The position of the column that each column of the prepared table was made from."""
        return {
            name: at
            for at, (step, cells) in enumerate(zip(self.steps, columns, strict=True))
            for name in (*step.columns(cells), *step.word_names)
        }

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns whose words the model sees."""
        return tuple(step.name for step in self.steps if step.word_names)

    @cached_property
    def word_names(self) -> tuple[str, ...]:
        """The names of all columns of words, in their order."""
        return tuple(name for step in self.steps for name in step.word_names)

    @property
    def dropped(self) -> tuple[str, ...]:
        """The columns that the model does not see."""
        return tuple(step.name for step in self.steps if step.dropped)

    @property
    def scaled(self) -> tuple[str, ...]:
        """The columns whose numbers are divided by their standard deviation."""
        return tuple(step.name for step in self.steps if step.scaled)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns that were numeric in the fit."""
        return tuple(step.name for step in self.steps if step.of_numbers)

    def descriptions(self) -> list[tuple[str, str]]:
        return [(step.name, step.description()) for step in self.steps]

    def __str__(self) -> str:
        steps = self.descriptions()
        changed = [step for step in steps if step[1] != AS_IT_IS]
        same = [name for name, what in steps if what == AS_IT_IS]
        lines = text_table((), changed, words=(0, 1), indent=0)
        return "\n".join([*lines, *([f"as they are: {', '.join(same)}"] if same else [])])


SAVED_CLASSES = (  # what a model file may contain of these
    Preparation,
    DroppedColumn,
    NumberColumn,
    BooleanColumn,
    CategoryColumn,
    LevelColumns,
)


def with_missing(factor: CodedValues) -> CodedValues:
    """A missing cell as a category."""
    gaps = factor.codes < 0
    if not gaps.any():
        return factor
    values = factor.values.tolist()
    if MISSING not in values:
        values.append(MISSING)
    codes = np.where(gaps, values.index(MISSING), factor.codes).astype(np.int32)
    return CodedValues(codes, np.array(values, dtype=object))


def in_order(factor: CodedValues, order: Sequence[str]) -> CodedValues:
    """The factor with its values in this order; others come after them."""
    given = factor.values.tolist()
    place = {value: k for k, value in enumerate(dict.fromkeys([*order, *given]))}
    codes = np.array([*(place[value] for value in given), -1], dtype=np.int32)[factor.codes]
    return CodedValues(codes, np.array(list(place), dtype=object))


def _category_gaps(missing: float, filled: bool) -> list[str]:
    if not missing:
        return []
    what = f"the category {MISSING!r}" if filled else "left to the model"
    return [f"{percent(missing)} missing, {what}"]


def _indicator_words(indicator: str | None) -> list[str]:
    return [] if indicator is None else [f"missing indicator {indicator!r}"]


def arrow_column(column: Any) -> Any:
    """A column as Arrow's; one that is Arrow's stays as it is."""
    import pyarrow as pa

    if isinstance(column, Categories):
        factor = column.factor
        codes = pa.array(factor.codes, mask=factor.codes < 0)
        values = pa.array(factor.values.tolist(), pa.string())
        return pa.DictionaryArray.from_arrays(codes, values, ordered=column.ordered)
    if isinstance(column, GappyBooleans):
        return pa.array(column.values, mask=column.gaps)
    return pa.array(column) if isinstance(column, np.ndarray) else column
