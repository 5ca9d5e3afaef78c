"""Rows whose category a fold has not seen are counted, as by enumeration."""

import numpy as np
import pyarrow as pa

from likely.workbench.comparison.comparison_text import unseen_in_folds
from likely.workbench.data.opening import dataset


def test_rows_with_categories_of_their_own_fold_are_counted():
    rng = np.random.default_rng(0)
    town = [None if k == 0 else f"t{k}" for k in rng.integers(0, 25, 60)]
    table = pa.table({"town": town, "x": rng.normal(size=60), "y": rng.choice(["p", "q"], 60)})
    rows = dataset(table, "y").for_models(None, "compare")
    folds = rows.folds(4, 1, 0)
    expected = sum(
        town[i] is not None and town[i] not in {town[j] for j in part.train}
        for part in folds.of_repeat(0)
        for i in part.test
    )
    assert expected > 0
    assert unseen_in_folds(rows, folds) == (["town"], expected)
