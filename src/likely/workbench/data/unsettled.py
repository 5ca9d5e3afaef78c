"""Columns of text that seem to hold numbers or dates: refused before anything is fitted or sealed.

``seal``, ``compare``, ``tune`` and ``train`` stop at the same columns, with the same words and the
option that settles each.  A column that is declared a category, a text or a feature is none of
them, and neither is one that no model sees.
"""

import re
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from likely._typing import Array
from likely.data.labels import (
    DATE,
    ISO_DATE,
    MOST,
    are_written_numbers,
    hold_codes,
    hold_numbers,
)
from likely.data.readings.table_readings import OpenReading
from likely.errors import UnsettledColumn

FEW_DATES = 10  # so few may as well be names of groups

if TYPE_CHECKING:
    from likely.workbench.data.dataset import Dataset


def refuse_unsettled(data: "Dataset") -> None:
    """Refuse the first column whose text is numbers or dates in ways that are left open."""
    for question in unsettled_columns(data):
        raise UnsettledColumn(question.sentence, question.option)


def unsettled_columns(data: "Dataset") -> Iterator[OpenReading]:
    """Every column that seems to hold numbers or dates in ways that are left open."""
    yield from open_questions(data)
    if not data.in_memory:
        return
    import pyarrow as pa
    import pyarrow.compute as pc

    apart = _declared(data) | {*data.not_features, *data.texts, data.target, data.by_time}
    apart |= {each.column for each in open_questions(data)}
    for name, column in zip(data.table.column_names, data.table.columns, strict=True):
        text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        if text and name not in apart:
            levels = pc.unique(column.drop_null()).to_numpy(zero_copy_only=False)
            question = unsettled_numbers(name, levels) or _unsettled_dates(name, levels)
            if question is not None:
                yield question


def open_questions(data: "Dataset") -> tuple[OpenReading, ...]:
    """The questions about columns that a model would see, or that have a role."""
    declared, seen = _declared(data), {*data.source.names}
    seen -= data.not_features - {*data.roles.columns, data.group, data.by_time}
    found = data.readings.questions.values()
    return tuple(each for each in found if each.column in seen - declared)


def _declared(data: "Dataset") -> set[str]:
    return {*data.categories, *data.declared_features, *data.declared_texts, *data.dropped}


def unsettled_numbers(name: str, levels: Array) -> OpenReading | None:
    """What different texts of a column, of which most are numbers, leave open."""
    numbers = are_written_numbers(levels.tolist())
    if not hold_numbers(numbers) or hold_codes(levels.tolist()):
        return None
    ordered = sorted(levels.tolist())
    numbers = are_written_numbers(ordered)
    others = [value for value, is_number in zip(ordered, numbers, strict=True) if not is_number]
    beside = f", but not {others[0]!r}" if others else ""
    number, option = ordered[int(numbers.argmax())], f"--number {shlex.quote(name)}"
    return OpenReading(
        name,
        f"Column {name!r} is text, but most of its values are numbers, such as {number!r}{beside}",
        f"Numbers, or words, were expected. Declare it: {option} (number=[{name!r}]) reads words "
        "as missing, --category (category=) keeps the texts as names of groups, --drop leaves it "
        "out; or correct the cells.",
        option,
    )


def _unsettled_dates(name: str, levels: Array) -> OpenReading | None:
    """What different texts, of which most are dates and not all in ISO form, leave open."""
    dates = [re.match(DATE, text) is not None for text in levels]
    if len(levels) <= FEW_DATES or sum(dates) < MOST * len(levels):
        return None
    if all(re.match(ISO_DATE, text) for text in levels):
        return None  # read as dates wherever text is
    others = sorted(text for text, is_date in zip(levels, dates, strict=True) if not is_date)
    beside = f", but not {others[0]!r}" if others else ""
    option = f"--date {shlex.quote(name)}"
    return OpenReading(
        name,
        f"Column {name!r} is text, but most of its values are dates, such as "
        f"{sorted(levels)[0]!r}{beside}, which do not all have one form",
        f"Dates in one form, or words, were expected. Declare it: {option}=%d/%m/%Y "
        f"(date={{{name!r}: '%d/%m/%Y'}}), for instance, --category (category=) keeps the texts "
        "as names of groups, --drop leaves it out; or correct the cells.",
        f"--category {shlex.quote(name)}",
    )
