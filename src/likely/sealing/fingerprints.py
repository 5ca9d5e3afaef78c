"""A number for each row, the same in every file that contains the row.

    f(row) = mix(Σ_columns mix(cell ⊕ key(salt, column)))        mix: SplitMix64

Cells are compared as values, not as they were written: 1, 1.0 and "1" in a column of numbers are
one cell, a date is its ISO form, and every missing cell is the same.  The order of columns does
not matter.  With 64 bits, two different rows among ten million collide with probability 10⁻⁶.

*Rough* cells are also the same after conversion to float32, six decimals, text, or other case.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from likely._typing import Array
from likely.data.arrow import decoded
from likely.data.arrow_columns import floats_of_arrow, kind_of_arrow
from likely.numerics.keyed_random import MISSING, mix

if TYPE_CHECKING:
    import pyarrow as pa

ZERO_TIME = re.compile(r"(?<=^\d{4}-\d\d-\d\d)[ T]00:00:00(\.0+)?$|(?<=:\d\d)\.0+$")
# midnight and whole seconds, which some files write and others leave out
SHIFT = 1e3  # four digits of a rough number; float32 has 7, and 0.012345 has 5
LEAST_POWER = -300  # nearer to 0, fewer digits are left
POWERS = 10.0 ** np.concatenate([np.arange(309.0), np.arange(LEAST_POWER, 0.0)])  # −1 is the last
EXACT = 2.0**53  # whole numbers below it are floats of their own
MANY_LETTERS = 20  # in the mean of a column
MOST_DECIMALS = 4  # more are not looked for: four digits are compared
TRUTH = {"true": 1.0, "false": 0.0}


def row_fingerprints(
    table: "pa.Table | pa.RecordBatch", columns: Sequence[str], salt: str
) -> Array:
    """One uint64 per row, from the named columns."""
    total = np.zeros(table.num_rows, dtype=np.uint64)
    for name in columns:
        key = _word(f"{salt}/{name}")
        total += mix(_cells(table.column(name), np.asarray, _exact_text) ^ key)
    return mix(total)


def rough_words(
    table: "pa.Table | pa.RecordBatch",
    name: str,
    *,
    key: str | None = None,
    decimals: int | None = None,
) -> Array:
    """One uint64 per row, from the rough cell of one column; the key is its name in the seal."""
    rough, rough_text = partial(_rough, decimals=decimals), partial(_rough_text, decimals=decimals)
    cells = _cells(table.column(name), rough, rough_text)
    return mix(cells ^ _word(f"rough/{name if key is None else key}"))


def joined(words: Iterable[Array]) -> Array:
    """The fingerprint of rows from those of their columns."""
    first, *others = words
    total = np.array(first)
    for word in others:
        total += word
    return mix(total)


def is_amount(column: Any) -> bool:
    """Whether it holds numbers with fractions, which describe a row and do not identify it."""
    import pyarrow as pa

    if not (pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)):
        return False
    values = floats_of_arrow(column)
    return bool((values[np.isfinite(values)] % 1 != 0).any())


def is_detailed(column: Any) -> bool:
    """Whether most of its cells have more digits or letters than chance would repeat."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = decoded(column)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return (pc.mean(pc.utf8_length(column)).as_py() or 0) >= MANY_LETTERS
    if not is_amount(column):
        return False
    values = floats_of_arrow(column)
    return bool(np.mean(values != _rough(values)) > 0.5)


def least_decimals(known: Any, here: Any) -> int | None:
    """The decimals to which amounts seem to be rounded here; None if they are as they were."""
    if kind_of_arrow(decoded(here).type) != "number" or not is_amount(known):
        return None
    amounts, rounded = (
        values[np.isfinite(values)] for values in map(floats_of_arrow, (known, decoded(here)))
    )
    for decimals in range(MOST_DECIMALS + 1):
        if (rounded == np.round(rounded, decimals)).all():
            return None if (amounts == np.round(amounts, decimals)).all() else decimals
    return None


def _cells(
    column: Any,
    rounded: Callable[[Array], Array],
    words_of: Callable[[Sequence[str | None]], Array],
) -> Array:
    """One uint64 per cell: of a number after ``rounded``, of text by ``words_of``."""
    import pyarrow as pa

    if pa.types.is_null(column.type):
        return np.full(len(column), MISSING)
    column = decoded(column)
    if kind_of_arrow(column.type) in ("number", "boolean"):
        return _number_cells(rounded(floats_of_arrow(column)))
    return _text_cells(_as_text(column), words_of)


def _rough(values: Array, decimals: int | None = None) -> Array:
    """Whole numbers as they are, others to four digits, after rounding to so many decimals."""
    values = np.asarray(values, dtype=np.float64)
    if decimals is not None:
        values = np.round(values, decimals)
    with np.errstate(invalid="ignore"):
        fraction = np.isfinite(values) & ((values != np.rint(values)) | (np.abs(values) >= EXACT))
    some = values[fraction]
    power = np.floor(np.log10(np.abs(some))).astype(np.int64)
    scale = POWERS[np.maximum(power, LEAST_POWER)]
    rounded = np.array(values)
    rounded[fraction] = np.rint(some / scale * SHIFT) / SHIFT * scale
    return rounded


def _rough_text(texts: Sequence[str | None], decimals: int | None = None) -> Array:
    """A number if the text is one, missing if it is empty; without case and repeated blanks."""
    stripped = ["" if text is None else " ".join(text.casefold().split()) for text in texts]
    numbers = np.array([_number_of(text) for text in stripped], dtype=np.float64)
    words = [_text_word(text) if text else MISSING for text in stripped]
    is_number = ~np.isnan(numbers)
    return np.where(
        is_number, _number_cells(_rough(numbers, decimals)), np.array(words, dtype=np.uint64)
    )


def _number_of(text: str) -> float:
    if text in TRUTH:
        return TRUTH[text]
    try:
        return float(text)
    except ValueError:
        return float("nan")


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


def _text_cells(column: Any, words_of: Callable[[Sequence[str | None]], Array]) -> Array:
    """Each distinct text is hashed once."""
    import pyarrow as pa

    coded = column.dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.unify_dictionaries().combine_chunks()
        if isinstance(coded, pa.ChunkedArray):  # no chunk at all
            return np.zeros(0, dtype=np.uint64)
    texts = coded.dictionary.to_pylist()
    words = words_of(texts)
    codes = coded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return np.array([*words, MISSING], dtype=np.uint64)[codes]


def _exact_text(texts: Sequence[str | None]) -> Array:
    words = [MISSING if text is None else _text_word(text) for text in texts]
    return np.array(words, dtype=np.uint64)


def _text_word(text: str) -> np.uint64:
    return _word(ZERO_TIME.sub("", text))


def _word(text: str) -> np.uint64:
    return np.uint64(int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little"))
