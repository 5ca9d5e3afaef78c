"""Sequences of rows: their lengths, weights and known states, checked.

Rows of one sequence are consecutive, and sequences follow each other: lengths (3, 2) are the rows
0 to 2 and 3 to 4.  An empty sequence is allowed, and says nothing.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from likely._typing import Array, Codes
from likely.errors import InvalidInput
from likely.inputs.numbers import array_of, check_weight
from likely.inputs.rows import RowsInMemory

HIDDEN = -1  # the code of a state that is not known


def check_lengths(lengths: Any, n_rows: int) -> Codes:
    """Lengths as int64, (n_sequences,): whole numbers that add up to the rows; None is one."""
    if lengths is None:
        return np.array([n_rows], dtype=np.int64)
    given = np.asarray(array_of(lengths))
    numeric = given.dtype.kind in "iuf" and given.ndim == 1 and given.size > 0
    if not numeric or not (given == np.floor(given)).all() or (given < 0).any():
        shown = given.tolist() if given.size <= 10 else f"an array of shape {given.shape}"
        raise InvalidInput(
            f"lengths is {shown}; expected the number of rows of each sequence, whole numbers, 0 "
            "or more. Give them in the order of the sequences, such as lengths=[3, 2]."
        )
    if given.sum() != n_rows:
        raise InvalidInput(
            f"lengths adds up to {int(given.sum())} and X has {n_rows} rows; every row must belong "
            "to one sequence. Give the number of rows of each sequence."
        )
    return given.astype(np.int64)


def refuse_lengths_as_y(y: Any, n_rows: int) -> None:
    """Refuse a y that is ignored and has not one entry for each row: lengths go by name."""
    if y is None or isinstance(y, str):
        return
    shape = np.asarray(array_of(y)).shape
    if len(shape) == 1 and shape[0] != n_rows:
        raise InvalidInput(
            f"y has {shape[0]} entries and X has {n_rows} rows; y is ignored here, so no "
            "lengths were given. Pass the lengths of sequences by name: lengths=…."
        )


def check_sequence_weight(sample_weight: Any, lengths: Codes) -> Array | None:
    """One weight for each sequence; also one for each row, where those of a sequence are equal."""
    if sample_weight is None:
        return None
    given, n_rows = array_of(sample_weight), int(lengths.sum())
    shape = np.asarray(given).shape
    if shape not in {(), (len(lengths),), (n_rows,)}:
        raise InvalidInput(
            f"sample_weight has shape {shape}; expected one number for each of the "
            f"{len(lengths)} sequences. Give lengths as well, or one weight per sequence."
        )
    by_row = np.repeat(given, lengths) if shape == lengths.shape else given
    weight = check_weight(by_row, n_rows=n_rows)
    assert weight is not None  # it was given
    sequence = np.repeat(np.arange(len(lengths)), lengths)
    out = np.zeros(len(lengths))
    out[sequence] = weight
    if not np.array_equal(out[sequence], weight):
        bad = int(sequence[np.flatnonzero(out[sequence] != weight)[0]])
        raise InvalidInput(
            f"sample_weight differs within sequence {bad}; rows of a sequence depend on each "
            "other, so that a weight is for all of them. Give one weight for each sequence."
        )
    return out


def check_states(states: Any, n_states: int, n_rows: int) -> Codes | None:
    """Known states as codes, (n,): 0 to K − 1, and −1 or a missing value where hidden.

    Each state must be known in some row, so that its number has a meaning.
    """
    if states is None:
        return None
    try:
        given = np.asarray(array_of(states), dtype=float)
    except (TypeError, ValueError):
        given = np.empty(0)
    expected = f"whole numbers from 0 to {n_states - 1}, or -1 where the state is hidden"
    if given.shape != (n_rows,):
        raise InvalidInput(
            f"states has the shape {np.shape(states)} and X has {n_rows} rows; expected a number "
            f"for each row: {expected}."
        )
    codes = np.where(np.isnan(given), HIDDEN, given)
    bad = (codes != np.floor(codes)) | (codes < HIDDEN) | (codes >= n_states)
    if bad.any():
        row = int(bad.argmax())
        raise InvalidInput(
            f"states holds {given[row]:g} at row {row}; expected {expected}. "
            "Raise n_states, or fix the row."
        )
    absent = np.setdiff1d(np.arange(n_states), codes)
    if absent.size:
        raise InvalidInput(
            f"states never says {absent[0]}; every one of the {n_states} states must be known in "
            "some row. Ask for fewer states, or leave states out to learn all of them."
        )
    return codes.astype(np.int64)


def in_sequences(
    given: RowsInMemory, lengths: Codes, weight: Array | None, states: Codes | None
) -> RowsInMemory:
    """The rows with the number of their sequence as group; sequences of weight 0 are left out."""
    sequence = np.repeat(np.arange(len(lengths)), lengths)
    rows = replace(given, group=sequence, n_groups=len(lengths), y=states)
    if weight is None:
        return rows
    by_row = weight[sequence]
    there = by_row > 0
    kept = np.flatnonzero(there)
    return replace(
        rows,
        table=rows.table.take(kept),
        weight=by_row[kept],
        group=sequence[kept],
        y=None if states is None else states[kept],
        position=np.where(there, np.cumsum(there) - 1, -1),
    )
