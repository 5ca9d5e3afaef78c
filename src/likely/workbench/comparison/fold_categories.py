"""Categories that occur in the held-out rows of a fold only, so that its fit has not seen them."""

import numpy as np

from likely.workbench.data.dataset import Dataset
from likely.workbench.data.folds import Folds, codes_of


def unseen_in_folds(rows: Dataset, folds: Folds) -> tuple[list[str], int]:
    """The columns with such categories, and the rows that have one, in any repeat."""
    import pyarrow as pa

    columns, unseen = [], np.zeros(rows.table.num_rows, dtype=bool)
    parts = [part for repeat in range(folds.repeats) for part in folds.of_repeat(repeat)]
    for name, column in zip(rows.features.column_names, rows.features.columns, strict=True):
        if pa.types.is_primitive(column.type):
            continue
        known, codes = column.is_valid().to_numpy(), codes_of(rows.table, name)
        new = np.zeros_like(unseen)
        for part in parts:
            new[part.test] |= known[part.test] & ~np.isin(codes[part.test], codes[part.train])
        if new.any():
            columns.append(name)
            unseen |= new
    return columns, int(unseen.sum())
