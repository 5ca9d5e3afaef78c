"""All fits of a cross-validation from totals: only where each prepares the columns alike."""

import numpy as np
import pandas as pd

import likely as lk
from likely.workbench.data.opening import dataset
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.scoring.merged_fits import merged_fits


def test_categories_are_merged_unless_one_fold_has_all_rows_of_one():
    fold = np.arange(80) % 4
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"town": rng.choice(["a", "b"], 80), "y": rng.choice(["no", "yes"], 80)})
    model = Prepared(lk.NaiveBayes())
    fits = merged_fits(model, dataset(frame, "y").with_task(), fold)
    assert len(fits) == 4
    frame.loc[fold == 2, "town"] = np.where(rng.random(20) < 0.5, "c", "a")
    assert merged_fits(model, dataset(frame, "y").with_task(), fold) is None
