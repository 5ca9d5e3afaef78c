"""Datasets: what is given, what is remembered, and how rows are held out."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import likely as lk
from likely.errors import InvalidInput
from likely.workbench.dataset import dataset
from likely.workbench.row_codes import codes_of, time_of


def test_times_are_in_the_order_of_time_and_not_of_text():
    written = ["2024-01-05T10:00", "2024-01-05 09:00", "2023-12-31 23:59"]
    assert_array_equal(time_of(pa.table({"when": written}), "when"), [3, 2, 1])
    assert_array_equal(codes_of(pa.table({"when": written}), "when").argsort(), [2, 1, 0])


@pytest.mark.parametrize("when", [["2024-01-05", None], ["soon", "later"], [1.0, float("nan")]])
def test_what_has_no_place_in_time_is_refused(when):
    with pytest.raises(InvalidInput, match="'when'"):
        time_of(pa.table({"when": when}), "when")


@given(order=st.permutations(["high", "low", "mid"]), grouped=st.booleans())
def test_folds_do_not_depend_on_the_order_of_the_classes(order, grouped):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=50), "shop": np.arange(50) // 2})
    frame["y"] = rng.choice(["low", "mid", "high"], 50, p=[0.5, 0.3, 0.2])
    group = "shop" if grouped else None
    plain, ordered = (
        dataset(frame, "y", order=each, group=group).with_task().folds(4, seed=1)
        for each in (None, order)
    )
    assert_array_equal(ordered.fold_of_rows(), plain.fold_of_rows())


@pytest.mark.parametrize("held_out_by", [{"by_time": "day"}, {"group": "town"}])
def test_the_group_of_a_seal_stays_no_feature_where_rows_are_held_out_otherwise(
    tmp_path, held_out_by
):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=80), "shop": np.arange(80) // 4})
    frame = frame.assign(
        day=np.arange(80.0), town=np.arange(80) // 16, y=rng.choice(["a", "b"], 80)
    )
    sealed = lk.seal(frame, "y", group="shop", name="shops", folder=tmp_path)
    rows = dataset(sealed, **held_out_by).with_task()
    assert "shop" in rows.table.column_names
    assert "shop" not in rows.learned.column_names
    assert rows.group == held_out_by.get("group")


def test_a_seal_with_nothing_but_its_group_has_nothing_to_learn_from(tmp_path):
    frame = pd.DataFrame({"shop": np.arange(80) // 4, "town": np.arange(80) // 16})
    frame["y"] = np.arange(80) % 2
    sealed = lk.seal(frame, "y", group="shop", name="shops", folder=tmp_path)
    with pytest.raises(InvalidInput, match="no column but 'y'"):
        dataset(sealed, group="town").with_task()
