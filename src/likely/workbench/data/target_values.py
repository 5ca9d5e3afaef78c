"""What a target column holds: its different values, and whether they are numbers, whole or amounts.

Prices, populations and salaries are whole numbers, but not counts: they are large (2,000 and more),
their variance is far above their mean, and they are mostly different (as many as half of the rows,
or more than 500 values) or mostly round (multiples of 10).
"""

from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from likely.data.arrow import decoded
from likely.errors import InvalidInput

if TYPE_CHECKING:
    import pyarrow as pa

LARGE, MANY, ROUND = 2000, 500, 10  # counts are smaller, fewer different ones, seldom all round
OVERDISPERSED = 10.0  # variance over mean: below it, large numbers may be counts


class TargetValues(NamedTuple):
    """The target as found in the table."""

    target: str
    values: tuple[Any, ...]  # distinct, sorted; of a category column, in its own order
    n_rows: int  # with a value
    ordered: bool  # the column itself says so
    numeric: bool
    whole: bool  # numbers, none with a fraction
    typed_whole: bool  # read as integers
    dispersion: float = 0.0  # variance over mean, of numbers above 0

    @property
    def are_amounts(self) -> bool:
        """Whether whole numbers from 0 up are measured rather than counted."""
        n = len(self.values)
        if self.values[-1] < LARGE or self.dispersion <= OVERDISPERSED:
            return False
        return n > MANY or 2 * n > self.n_rows or 2 * sum(v % ROUND == 0 for v in self.values) > n


def target_values(table: "pa.Table", target: str) -> TargetValues:
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table.column(target)
    ordered = isinstance(column.type, pa.DictionaryType) and bool(column.type.ordered)
    plain = decoded(column)
    numeric = pa.types.is_integer(plain.type) or pa.types.is_floating(plain.type)
    if pa.types.is_decimal(plain.type):
        plain, numeric = pc.cast(plain, pa.float64()), True
    text = pa.types.is_string(plain.type) or pa.types.is_large_string(plain.type)
    if pa.types.is_temporal(plain.type):
        advice = "Turn them into numbers, such as days since the first, or choose another target"
        refuse_target(target, f"holds {plain.type} values; labels or numbers were", advice)
    if not (numeric or text or pa.types.is_boolean(plain.type) or pa.types.is_null(plain.type)):
        refuse_target(target, f"holds {plain.type}; labels or numbers were", "Convert it")
    if pa.types.is_floating(plain.type):
        plain = plain.filter(pc.invert(pc.is_nan(pc.fill_null(plain, float("nan")))))
    values = sorted(pc.unique(plain.drop_null()).to_pylist())
    if ordered:
        place = {label: k for k, label in enumerate(column.combine_chunks().dictionary.to_pylist())}
        values.sort(key=place.__getitem__)
    if len(values) < 2:
        found = f"holds nothing but {values[0]!r}" if values else "is empty"
        advice = "Add rows with other values, or choose another target"
        refuse_target(target, f"{found}; at least two different values were", advice)
    if numeric and not np.isfinite([values[0], values[-1]]).all():
        refuse_target(target, "holds infinity; finite numbers were", "Fix or drop those rows")
    return TargetValues(
        target=target,
        values=tuple(values),
        n_rows=len(plain) - plain.null_count,
        ordered=ordered,
        numeric=numeric,
        whole=numeric and all(float(value).is_integer() for value in values),
        typed_whole=pa.types.is_integer(plain.type),
        dispersion=_dispersion(plain) if numeric else 0.0,
    )


def _dispersion(column: Any) -> float:
    """Variance over mean; 0 where the mean is not above 0."""
    import pyarrow.compute as pc

    mean, spread = pc.mean(column).as_py(), pc.stddev(column).as_py()
    return spread * spread / mean if mean and mean > 0 else 0.0


def refuse_target(target: str, found: str, advice: str) -> NoReturn:
    raise InvalidInput(f"Column {target!r} {found} expected. {advice}.")
