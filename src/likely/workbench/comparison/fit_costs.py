"""What a comparison would cost, so that a model with an absurd cost is left out, and named.

    multiplications of a fit  ≈  n d² + 10 K d³        of models with K covariances of d columns

d counts the prepared columns: one for each category but the first of a column of text.  Other
models are linear in the columns, or search by gradients, and are always tried.
"""

from collections.abc import Sequence
from typing import NamedTuple

from likely.formatting import listed
from likely.inputs.estimators import column_needs
from likely.workbench.data.dataset import Dataset
from likely.workbench.models.model_entry import ModelEntry

MOST_WORK = 2e13  # multiplications of all fits of a model
WORK_A_SECOND = 2e10  # of a processor core, roughly
FACTORISED = 10  # multiplications of a symmetric eigenvalue problem are about 10 d³


class Affordable(NamedTuple):
    """Models to try, and a remark about those that are left out."""

    entries: list[ModelEntry]
    remarks: tuple[str, ...]


def affordable(entries: Sequence[ModelEntry], rows: Dataset, n_fits: int) -> Affordable:
    """The models that can be fitted this often in a reasonable time."""
    n_columns = n_prepared_columns(rows)
    n_rows, seconds = rows.table.num_rows, {}
    for entry in entries:
        n_covariances = _n_covariances(entry, rows)
        work = n_rows * n_columns**2 + FACTORISED * n_covariances * n_columns**3
        if n_covariances and n_fits * work > MOST_WORK:
            seconds[entry.name] = n_fits * work / WORK_A_SECOND
    kept = [each for each in entries if each.name not in seconds]
    if not seconds:
        return Affordable(kept, ())
    names, hours = listed([*seconds], 6), max(seconds.values()) / 3600
    return Affordable(
        kept,
        (
            f"Not tried, because covariances of {n_columns:,} columns would take about "
            f"{hours:,.1f} hours: {names}. To try one anyway, name it; or drop columns with many "
            "categories.",
        ),
    )


def n_prepared_columns(rows: Dataset) -> int:
    """Columns of the table in which categories are columns of 0 and 1."""
    import pyarrow as pa
    import pyarrow.compute as pc

    total = 0
    for column in rows.features.drop_columns(list(rows.texts)).columns:  # they read no text
        coded = pa.types.is_dictionary(column.type)
        if not coded and pa.types.is_primitive(column.type):
            total += 1
            continue
        values = column.cast(column.type.value_type) if coded else column
        total += max(pc.count_distinct(values, mode="only_valid").as_py() - 1, 1)
    return total


def _n_covariances(entry: ModelEntry, rows: Dataset) -> int:
    """Covariances of all columns that a fit factorises; 0 for other models."""
    task = rows.settled
    model = entry.build(task)
    if column_needs(model).most_with_missing is None:
        return 0
    tied = model.get_params(deep=False).get("covariance") == "tied"
    return 1 if tied else max(len(task.classes), 1)
