"""Amounts of which some are exactly 0: one scale and one baseline for every family."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import likely as lk
from likely.workbench.data.dataset import Dataset
from likely.workbench.data.opening import dataset
from likely.workbench.scoring.held_out import hold_out


def amounts(n=400, noise=True):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    claims = rng.poisson(np.exp(-1.5 + (0 * x if noise else x)))
    return pd.DataFrame({"x": x, "y": 1000 * rng.gamma(2.0 * claims)})


@pytest.mark.parametrize("unit", [1.0, 1e-6])
def test_noise_gains_nothing_whatever_the_family_and_the_unit(unit):
    frame = amounts().assign(y=lambda d: unit * d["y"])
    found = lk.compare(frame, "y", ["glm-tweedie", "linear"], folds=4, repeats=1)
    gain = found["glm-tweedie"].score.gain
    assert abs(gain.value) < 0.02 and gain.low < 0 < gain.high
    assert found.best.name == "constant"
    assert found["linear"].own.family == "gaussian"
    own = found["linear"].own.gain
    assert abs(own.value) < 0.02 and own.low < 0.01


def test_the_default_list_has_models_of_such_amounts_also_with_weights():
    frame = amounts(noise=False).assign(years=lambda d: 1 + np.arange(len(d)) % 2)
    found = lk.compare(frame, "y", weight="years", folds=3, repeats=1)
    assert {"glm-tweedie", "additive", "linear"} <= {each.name for each in found.entries}
    assert found["glm-tweedie"].score.gain.low > 0
    assert np.isfinite(found.reference.gains["glm-tweedie"].value)


def test_a_stream_and_a_table_have_the_same_baseline(monkeypatch):
    rows, make = dataset(amounts(), "y"), lambda: lk.GLM("tweedie")
    table = hold_out(make, rows, "real", seed=0, task=rows.with_task(None).settled)
    monkeypatch.setattr(Dataset, "in_memory", False)
    stream = hold_out(make, rows, "real", seed=0)
    assert stream.held is None and table.task.zeros == stream.task.zeros > 0.5
    assert_allclose(table.score.gain, stream.score.gain, rtol=1e-6)
