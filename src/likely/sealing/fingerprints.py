"""A number for each row, the same in every file that holds the row.

    f(row) = mix(Σ_columns mix(cell ⊕ key(salt, column)))        mix: SplitMix64

Cells are compared as values, not as they were written: 1, 1.0 and "1" in a column of numbers are
one cell, a date is its ISO form, and every missing cell is the same.  The order of columns does
not matter.  With 64 bits, two different rows of ten million agree with probability 10⁻⁶.
"""

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from likely._typing import Array
from likely.data.frames import floats_of_arrow, kind_of_arrow
from likely.data.split import mix

if TYPE_CHECKING:
    import pyarrow as pa

ZERO_TIME = re.compile(r"(?<=^\d{4}-\d\d-\d\d)[ T]00:00:00(\.0+)?$|(?<=:\d\d)\.0+$")
# midnight and whole seconds, which some files write and others leave out
MISSING = np.uint64(0x6D697373696E6721)


def row_fingerprints(
    table: "pa.Table | pa.RecordBatch", columns: Sequence[str], salt: str
) -> Array:
    """One uint64 per row, from the named columns."""
    total = np.zeros(table.num_rows, dtype=np.uint64)
    for name in columns:
        key = _word(f"{salt}/{name}")
        total += mix(_cells(table.column(name)) ^ key)
    return mix(total)


def _cells(column: Any) -> Array:
    """One uint64 per cell."""
    import pyarrow as pa

    if pa.types.is_null(column.type):
        return np.full(len(column), MISSING)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if kind_of_arrow(column.type) in ("number", "boolean"):
        return _number_cells(floats_of_arrow(column))
    return _text_cells(_as_text(column))


def _as_text(column: Any) -> Any:
    """Dates in ISO form; what Arrow cannot write as text, as Python does."""
    import pyarrow as pa

    try:
        return column.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return pa.array([None if cell is None else str(cell) for cell in column.to_pylist()])


def _number_cells(values: Array) -> Array:
    values = np.asarray(values, dtype=np.float64) + 0.0  # −0 is 0
    return np.where(np.isnan(values), MISSING, values.view(np.uint64))


def _text_cells(column: Any) -> Array:
    """Each distinct text is hashed once."""
    import pyarrow as pa

    coded = column.dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.unify_dictionaries().combine_chunks()
        if isinstance(coded, pa.ChunkedArray):  # no chunk at all
            return np.zeros(0, dtype=np.uint64)
    texts = coded.dictionary.to_pylist()
    words = [MISSING if text is None else _word(ZERO_TIME.sub("", text)) for text in texts]
    codes = coded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return np.array([*words, MISSING], dtype=np.uint64)[codes]


def _word(text: str) -> np.uint64:
    return np.uint64(int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little"))
