"""Each block is predicted by what was learned from the rows before it, beside their constant."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier

import likely as lk
from likely.special import LOG_FLOOR
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


@pytest.mark.parametrize("by_time", [None, "day"])
def test_a_copy_of_a_row_that_was_learned_is_not_scored(by_time):
    """Of noise that is there twice, a nearest neighbour knows nothing."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(600, 3)), rng.choice(["a", "b"], 600)
    frame = pd.DataFrame(np.tile(x, (2, 1)), columns=list("uvw")).assign(y=np.tile(y, 2))
    if by_time is not None:
        frame["day"] = rng.permutation(1200)
    data = dataset(frame, "y", by_time=by_time, drop=["day"] if by_time else []).with_task()
    last = progressive_losses(KNeighborsClassifier(1), data)[-1]
    assert last.loss > 0.4 * -LOG_FLOOR
