"""Rows without a label: every fit may learn from them, and no score is of them.

the model of a fold learns from   the labelled rows of the other folds, and all unlabelled rows
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likely.data.arrow import TableSource, decoded
from likely.data.formats.column_types import MISSING as MISSING_WORDS
from likely.data.source import are_known
from likely.errors import InvalidInput
from likely.output.formatting import listed
from likely.workbench.data.dataset import Dataset

MISSING = float("nan")  # what a model takes as the mark of a missing label


def with_mark_missing(data: Dataset, mark: Any) -> Dataset:
    """The data, of which labels that equal ``mark`` are missing; some label must be missing then.

    NaN and an empty text mark missing labels, and no other.
    """
    target = data.required_target()
    column = decoded(data.table.column(target))
    known, marked = np.asarray(are_known(column).to_numpy()), _equal(column, mark)
    means_missing = mark != mark or str(mark) in MISSING_WORDS
    if not (marked.any() or (means_missing and not known.all())):
        seen = sorted(pc.unique(column.filter(pa.array(known))).to_pylist())
        raise InvalidInput(
            f"unlabelled={mark} was given, and no row has it as {target!r}; rows with that value "
            f"were expected. Its values are {listed(seen, 6)}: name the one that marks rows "
            "without a label, or nan for missing ones."
        )
    known &= ~marked
    if not known.any():
        raise InvalidInput(
            f"No row has a label other than unlabelled={mark}; some rows with a class in "
            f"{target!r} were expected. Label some rows of each class."
        )
    labels = pc.if_else(pa.array(known), column, pa.scalar(None, column.type))
    place = data.table.column_names.index(target)
    return replace(data, source=TableSource(data.table.set_column(place, target, labels)))


def with_unlabelled(rows: Dataset, data: Dataset) -> Dataset:
    """The rows of a task, with those of the data that have no label, for every fit."""
    missing = np.flatnonzero(~rows.settled.known(data.table))
    return replace(rows, unlabelled=data.table.take(missing), n_without_target=0)


def _equal(column: Any, mark: Any) -> Any:
    """Which cells are the mark; text is compared as it was written."""
    if mark in ("", None) or mark != mark:
        return np.zeros(len(column), dtype=bool)
    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    try:
        given = pa.scalar(str(mark) if text else mark, column.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError):  # of another type than the labels
        return np.zeros(len(column), dtype=bool)
    return np.asarray(pc.fill_null(pc.equal(column, given), False).to_numpy())
