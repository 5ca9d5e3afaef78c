"""Each block is predicted by what was learned from the rows before it, beside their constant."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

import likely as lk
from likely.workbench.data.opening import dataset
from likely.workbench.scoring.progressive import progressive_losses


def test_losses_so_far_are_those_of_all_earlier_blocks_and_of_their_constants():
    rng = np.random.default_rng(0)
    x = rng.normal(size=1200)
    frame = pd.DataFrame({"x": x, "y": np.where(x > rng.normal(size=1200), "a", "b")})
    found = progressive_losses(lk.NaiveBayes(), dataset(frame, "y").with_task(), seed=3)
    frame = frame.iloc[np.random.default_rng(3).permutation(1200)]
    stops = [each.rows for each in found]
    assert len(found) > 2 and stops[-1] == 1200
    starts = [stops[0] // 2, *stops[:-1]]
    ours, theirs = [], []
    for start, stop in zip(starts, stops, strict=True):
        model = lk.NaiveBayes().fit(frame[["x"]][:start], frame["y"][:start])
        p = model.predict_proba(frame[["x"]][start:stop])
        ours.append(log_loss(frame["y"][start:stop], p) * (stop - start))
        share = np.mean(frame["y"][:start] == "b")
        constant = np.where(frame["y"][start:stop] == "b", share, 1 - share)
        theirs.append(-np.log(constant).sum())
    n = np.cumsum(np.subtract(stops, starts))
    assert [each.loss for each in found] == pytest.approx(np.cumsum(ours) / n, rel=1e-9)
    assert [each.baseline for each in found] == pytest.approx(np.cumsum(theirs) / n, rel=1e-9)
