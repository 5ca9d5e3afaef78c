"""Which step each column of a table needs: learned only from the rows of a fit.

A column is dropped where it is uninformative (all missing, constant, an identifier), and refused
where the user must decide what it is: numbers that are written as text, or short text with very
many values.  Free text is a bag of words, for models that read sparse columns.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from likely._typing import Array
from likely.data.schema import MISSING
from likely.errors import InvalidInput, UnsettledColumn
from likely.inputs.estimators import column_needs
from likely.inputs.foreign_models import takes_missing, takes_sparse
from likely.numerics.quantiles import QuantileSummary, middle_of
from likely.output.formatting import short_number
from likely.text.bag_of_words import BagOfWords
from likely.workbench.data.roles import (
    is_free_text,
    may_be_called,
    numbers_identify,
    text_identifies,
)
from likely.workbench.data.unsettled import unsettled_numbers
from likely.workbench.preparation.cells import (
    Cells,
    days_of_text,
    gaps_of,
    levels_of,
)
from likely.workbench.preparation.dates import (
    NAMES,
    ROWS_PER_PART,
    CalendarPart,
    DateColumns,
    are_months,
    calendar_codes,
)
from likely.workbench.preparation.steps import (
    BooleanColumn,
    CategoryColumn,
    DroppedColumn,
    LevelColumns,
    NumberColumn,
    Preparation,
    Step,
)
from likely.workbench.preparation.texts import learn_text

WORTH_INDICATING = 0.01  # the share of missing cells above which an indicator is added
MOST_LEVELS = 1000  # categories, unless each has
ROWS_PER_LEVEL = 5  # rows to learn from
MOST_WORK = 2e8  # multiplications of a step of EM for missing cells
CHOICES = ("auto", True, False)


Text = Literal["counts", "weights"] | None


class Needs(NamedTuple):
    """The preparation that a model needs."""

    impute: bool  # it needs a value in every cell
    scale: bool  # its penalty compares the coefficients of different columns
    levels: bool  # it reads numbers only
    text: Text = None  # how it reads words; None: it does not
    words_beside: bool = False  # whether it reads words beside categories
    most_with_missing: int | None = None  # of more prepared columns, missing cells are filled


def needs_of(model: Any, *, impute: Any, scale: Any) -> Needs:
    """The preparation that a model needs; ``auto`` uses what the model declares."""
    for name, choice in (("impute", impute), ("scale", scale)):
        if not any(choice is each or (choice == each == "auto") for each in CHOICES):
            raise InvalidInput(
                f"{name}={choice!r} is not a choice; expected 'auto', True or False. "
                "Use 'auto' to go by what the model needs."
            )
    needs = column_needs(model)
    scaled = needs.scale if scale == "auto" else scale
    return Needs(
        impute=not takes_missing(model) if impute == "auto" else impute,
        scale=scaled,
        levels=not needs.categories,
        text=("weights" if scaled else "counts") if takes_sparse(model) else None,
        words_beside=needs.words,
        most_with_missing=needs.most_with_missing if impute == "auto" else None,
    )


def learn(
    columns: Sequence[Cells], weight: Array | None, needs: Needs, words: BagOfWords | None = None
) -> Preparation:
    """The steps for these columns; ``weight`` is None or one positive number per row.

    ``words`` says how words of a text are counted.
    """
    texts = _Texts(words, {cells.name for cells in columns if is_text(cells)})
    if texts.names and needs.text is not None and not needs.words_beside:
        needs = needs._replace(levels=True)
    steps = _steps(columns, weight, needs, texts, constants=False)
    if all(step.dropped for step in steps):
        steps = _steps(columns, weight, needs, texts, constants=True)  # the model's mean is left
    if _costs_too_much(steps, columns, needs):
        filled = needs._replace(impute=True, most_with_missing=None)
        return learn(columns, weight, filled, words)
    if all(step.dropped for step in steps):
        reasons = "; ".join(f"{step.name}: {step.description()}" for step in steps[:3])
        raise InvalidInput(
            f"No column of X is left to learn from, of {len(steps)} ({reasons}). A model needs at "
            "least one. Add a column that holds values."
        )
    return Preparation(steps)


def is_text(cells: Cells) -> bool:
    """Whether a column was declared to be text, or is free text by its values."""
    if cells.text or cells.factor is None or cells.declared:
        return cells.text
    levels, n_known = levels_of(cells.factor).tolist(), int((cells.factor.codes >= 0).sum())
    return is_free_text(levels, n_known) and not text_identifies(cells.name, levels, n_known)


def _costs_too_much(steps: Sequence[Step], columns: Sequence[Cells], needs: Needs) -> bool:
    """Whether a model that factorises d × d matrices for each pattern of gaps should have none."""
    if needs.impute or needs.most_with_missing is None:
        return False
    gaps = [
        gaps_of(cells)
        for step, cells in zip(steps, columns, strict=True)
        if not (step.dropped or isinstance(step, LevelColumns))  # which have no gaps
    ]
    gaps = [each for each in gaps if each.any()]
    if not gaps:
        return False
    n_columns = len(Preparation(tuple(steps)).origins(columns))
    if n_columns > needs.most_with_missing:
        return True
    n_patterns = len(np.unique(np.stack(gaps, axis=1), axis=0))
    return n_patterns * n_columns**3 > MOST_WORK


class _Texts(NamedTuple):
    """Which columns are text, and how their words are counted."""

    words: BagOfWords | None  # None: as usual
    names: set[str]


def _steps(
    columns: Sequence[Cells],
    weight: Array | None,
    needs: Needs,
    texts: _Texts,
    *,
    constants: bool,
) -> tuple[Step, ...]:
    learner = _StepLearner(needs, weight, constants, {cells.name for cells in columns}, {}, texts)
    return tuple(learner.step(cells) for cells in columns)


class _StepLearner(NamedTuple):
    """The steps of one table, learned column by column."""

    needs: Needs
    weight: Array | None
    constants: bool  # whether columns that never vary are kept
    taken: set[str]  # names of columns
    indicators: dict[bytes, str]  # where cells are missing: the column that says so
    texts: _Texts

    def step(self, cells: Cells) -> Step:
        name, gaps = cells.name, gaps_of(cells)
        if gaps.all():
            return DroppedColumn(name, "every cell is missing")
        if name in self.texts.names:
            return self._text(cells, gaps)
        if cells.factor is None:
            if self._is_identifier(cells, gaps):
                n_known = int(len(gaps) - gaps.sum())
                return DroppedColumn(name, f"{n_known} whole numbers, like an identifier")
            if cells.kind == "date":
                return self._date(name, cells.numbers, gaps)
            return self._number(name, cells.kind, cells.numbers, gaps)
        days = None if cells.declared else days_of_text(cells.factor)
        if days is not None:
            return self._date(name, days, gaps)
        levels = levels_of(cells.factor)
        if not cells.declared and (open_ := unsettled_numbers(name, levels)) is not None:
            raise UnsettledColumn(open_.sentence, open_.option)
        return self._category(cells, levels, gaps)

    def _date(self, name: str, days: Any, gaps: Array) -> Step:
        """Time since the start, month and weekday; a date that never varies is a number."""
        known = days[~gaps]
        if known.min() == known.max():
            return self._number(name, "date", days, gaps)
        start = float(np.floor(known.min()))
        since = self._number(self._free(f"{name} days"), "number", days - start, gaps, of=name)
        assert isinstance(since, NumberColumn)  # it varies
        fill = self._median(known, gaps) if self.needs.impute or self.needs.levels else None
        parts, left_out = [], []
        for part in NAMES:
            codes = calendar_codes(known, part)
            seen = np.unique(codes)
            if len(seen) == 1 or (part == "weekday" and are_months(known)):
                continue
            if len(known) < ROWS_PER_PART * len(seen):
                left_out.append(part)
                continue
            levels = np.array([NAMES[part][code] for code in seen], dtype=object)
            missing = 0.0 if fill is not None else self._share(gaps)
            own = self._free(f"{name} {part}")
            step = self._category_step(own, levels, missing, tuple(levels.tolist()))
            parts.append(CalendarPart(part, tuple(seen.tolist()), step))
        return DateColumns(name, start, since, fill, tuple(parts), tuple(left_out))

    def _number(
        self, name: str, kind: str, numbers: Any, gaps: Array, *, of: str | None = None
    ) -> Step:
        """Numbers; a missing indicator is named after the column that they are ``of``."""
        missing = self._share(gaps)
        known = numbers[~gaps] if gaps.any() else numbers
        constant = bool(known.min() == known.max())
        indicator = None
        if self.needs.impute and missing > WORTH_INDICATING:
            indicator = self._indicator(of or name, gaps)
        if constant and indicator is None and not self.constants:
            return DroppedColumn(name, f"the same value in every row, {short_number(known[0])}")
        middle = self._median(known, gaps) if self.needs.impute else None
        lonely = constant and indicator is not None  # only its missing cells can be informative
        if kind == "boolean" and not lonely:
            fill = None if middle is None else middle > 0.5
            return BooleanColumn(name, fill, missing, indicator)
        centre, scale = 0.0, None
        if self.needs.scale and kind != "boolean" and not constant:
            centre, scale = self._mean_and_deviation(known, gaps)
        date = kind == "date"
        return NumberColumn(name, date, middle, missing, indicator, scale, lonely, centre)

    def _is_identifier(self, cells: Cells, gaps: Array) -> bool:
        """Whether numbers that are not declared as measurements, by their type, name rows."""
        if cells.kind != "number" or cells.declared or not may_be_called(cells.name):
            return False
        assert cells.numbers is not None
        known = cells.numbers[~gaps]
        return numbers_identify(cells.name, np.unique(known), len(known))

    def _text(self, cells: Cells, gaps: Array) -> Step:
        """The words of a text; a missing one has none."""
        if self.needs.text is None:
            return DroppedColumn(cells.name, "free text, which the model does not read")
        weighted = self.needs.text == "weights"
        return learn_text(
            cells, self.texts.words or BagOfWords(), self._share(gaps), weighted=weighted
        )

    def _category(self, cells: Cells, levels: Array, gaps: Array) -> Step:
        name = cells.name
        n_known, missing = int(len(gaps) - gaps.sum()), self._share(gaps)
        fill = self.needs.impute or self.needs.levels  # 0/1 columns cannot all be missing
        if len(levels) == 1 and not (fill and missing) and not self.constants:
            return DroppedColumn(name, f"the same value in every row, {levels[0]!r}")
        texts = [] if cells.declared else levels.tolist()
        if text_identifies(name, texts, n_known):
            how = f"{len(levels)} different texts in {n_known} rows, like an identifier"
            return DroppedColumn(name, how)
        _refuse_many(name, levels, n_known)
        return self._category_step(name, levels, missing, cells.order)

    def _category_step(
        self, name: str, levels: Array, missing: float, order: tuple[str, ...]
    ) -> Step:
        """Categories for the model, or columns of 0 and 1 where it reads numbers only."""
        if not self.needs.levels:
            return CategoryColumn(name, len(levels), self.needs.impute, missing, order)
        place = {level: k for k, level in enumerate(order)}
        known = set(levels.tolist()) | ({MISSING} if missing else set())
        ordered = tuple(sorted(known, key=lambda level: (place.get(level, len(place)), level)))
        names = tuple(self._free(f"{name}[{level}]") for level in ordered[1:])
        return LevelColumns(name, ordered, names, missing)

    def _indicator(self, name: str, gaps: Array) -> str | None:
        """The name of a new indicator; None if an earlier one is equal."""
        where = gaps.tobytes()
        if where in self.indicators:
            return None
        self.indicators[where] = self._free(f"{name} missing")
        return self.indicators[where]

    def _free(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def _share(self, gaps: Array) -> float:
        return float(np.average(gaps, weights=self.weight)) if gaps.any() else 0.0

    def _median(self, known: Array, gaps: Array) -> float:
        if self.weight is None:
            return middle_of(known)
        return QuantileSummary.of(known, self.weight[~gaps], limit=None).median()

    def _mean_and_deviation(self, known: Array, gaps: Array) -> tuple[float, float]:
        """x̄ and √(Σw(x − x̄)² / Σw), on a scale where no square overflows."""
        weight = None if self.weight is None else self.weight[~gaps]
        largest = float(np.abs(known).max())
        small = known / largest
        mean = np.average(small, weights=weight)
        variance = float(np.average((small - mean) ** 2, weights=weight))
        return largest * float(mean), largest * float(np.sqrt(variance))


def _refuse_many(name: str, levels: Array, n_known: int) -> None:
    if len(levels) > MOST_LEVELS and n_known < ROWS_PER_LEVEL * len(levels):
        raise InvalidInput(
            f"Column {name!r} holds {len(levels)} different texts in {n_known} rows, such "
            f"as {min(levels)!r}; at most {MOST_LEVELS} categories were expected, or "
            f"{ROWS_PER_LEVEL} rows for each. Drop it, or replace it by a column of fewer groups."
        )


def validation_sets(model: Any) -> dict[str, Any]:
    """The arguments of a model, and of those inside it, that are rows (X, y) to judge it by."""
    return {
        name: value
        for name, value in model.get_params().items()
        if name.split("__")[-1] == "validation" and isinstance(value, tuple | list) and value
    }
