"""Columns become coefficients: numbers first, categories as codes, nothing expanded."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

import likely
from likely.data import coding as module
from likely.data.block import ArrayBlocks
from likely.data.coding import Coding
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Mixed
from likely.data.schema import Schema
from likely.errors import InvalidInput, UnknownName, UnseenCategories
from likely.inputs.targets import check_offset

FRAME = pd.DataFrame(
    {
        "colour": ["red", "blue", "red", "green", "blue", "green"],
        "size": [1.0, 2.0, 0.5, 1.5, 3.0, 0.1],
        "sold": [True, False, True, True, False, False],
        "shop": ["n", "s", "s", "n", "s", "n"],
    }
)
Y = np.array([1.0, 2.5, 0.7, 2.0, 4.0, 1.1])
FLAGS = (True, False, False, True)


@pytest.mark.parametrize("reference", [True, False])
def test_every_coefficient_has_a_name_and_a_column(reference):
    schema, encoded = Schema.learn(FRAME, FLAGS)
    coding = Coding(schema, (reference, reference))
    design = coding.design(encoded)
    assert (
        design.n_features == coding.n_coefficients == len(coding.names()) == (5 if reference else 7)
    )
    levels = ["colour[green]", "colour[red]", "shop[s]"]
    full = ["colour[blue]", *levels[:2], "shop[n]", levels[2]]
    assert list(coding.names()) == ["size", "sold", *(levels if reference else full)]
    columns = coding.column_of_coefficient()
    assert_array_equal(columns, [1, 2, 0, 0, 3] if reference else [1, 2, 0, 0, 0, 3, 3])
    written = design.matmat(np.eye(design.n_features))
    for j, name in enumerate(coding.names()[2:], start=2):
        column, level = name[:-1].split("[")
        assert_array_equal(written[:, j], FRAME[column] == level)


def test_categories_stay_codes():
    schema, encoded = Schema.learn(FRAME, FLAGS)
    design = Coding(schema, (True, True)).design(encoded)
    assert isinstance(design, Mixed)
    assert design.codes.shape == (6, 2)
    assert design.codes.dtype == np.int32


def test_arrays_without_names_are_named_by_position():
    schema, encoded = Schema.learn(np.ones((3, 2), dtype=int), (False, False))
    coding = Coding(schema, ())
    assert coding.names() == ("x0", "x1")
    assert isinstance(coding.design(encoded), Dense)
    assert coding.design(encoded).values.dtype == np.float64


def test_the_reference_is_a_category_only_without_a_penalty():
    free = likely.LinearRegression(solver="minimum-norm").fit(FRAME, Y)
    held = likely.LinearRegression(l2=1.0).fit(FRAME, Y)
    assert "colour[blue]" not in free.terms_
    assert "colour[blue]" in held.terms_


def test_an_unseen_category_warns_and_adds_nothing():
    model = likely.LinearRegression(l2=1.0).fit(FRAME, Y)
    new = FRAME.assign(colour="violet")
    with pytest.warns(UnseenCategories, match="colour='violet'"):
        found = model.linear_predictor(new)
    effect = dict(zip(model.terms_, model.coef_, strict=True))
    known = model.linear_predictor(FRAME.assign(colour="red"))
    assert_allclose(known - found, effect["colour[red]"])


def test_a_missing_category_is_refused_in_old_rows_and_new():
    model = likely.LinearRegression(l2=1.0).fit(FRAME, Y)
    gap = FRAME.assign(colour=["red", None, "red", "blue", "blue", "green"])
    for action in (lambda: likely.LinearRegression(l2=1.0).fit(gap, Y), lambda: model.predict(gap)):
        with pytest.raises(InvalidInput, match=r"Row 1, column 'colour'.*NaN.*likely.Prepared"):
            action()


def test_a_bad_cell_is_found_by_row_and_column_in_every_layout(tmp_path):
    bad = FRAME.assign(size=[1.0, 2.0, 0.5, np.nan, 3.0, 0.1])
    bad.assign(y=Y).to_csv(tmp_path / "rows.csv", index=False)
    thin = sparse.csr_array(np.array([[0.0, 1.0], [2.0, 0.0], [0.0, np.inf]]))
    for X, y, expected in (
        (bad, Y, r"NaN: row 3, column 'size'"),
        (tmp_path / "rows.csv", "y", r"NaN: row 3, column 'size'"),
        (thin, Y[:3], r"infinity.*row 2, column 'x1'"),
    ):
        with pytest.raises(InvalidInput, match=expected):
            likely.LinearRegression(l2=1.0).fit(X, y)


def test_what_is_beside_a_file_are_its_columns(tmp_path):
    path = tmp_path / "rows.csv"
    FRAME.assign(y=Y, w=1.0).to_csv(path, index=False)
    model = likely.LinearRegression(l2=1.0)
    with pytest.raises(InvalidInput, match="sample_weight must be the name of one of its columns"):
        model.fit(path, "y", np.ones(6))
    with pytest.raises(InvalidInput, match="requires y to be passed"):
        model.fit(path)
    with pytest.raises(UnknownName, match="Did you mean 'w'"):
        model.fit(path, "y", offset="ww")
    with pytest.raises(InvalidInput, match="a prediction takes rows in memory"):
        model.fit(path, "y", "w").predict(path)
    pd.DataFrame({"y": Y}).to_csv(path, index=False)
    with pytest.raises(InvalidInput, match="no column besides the target"):
        model.fit(path, "y")


def test_responses_of_a_file_are_checked_as_they_are_read(tmp_path):
    pd.DataFrame({"a": [1.0, 2.0], "y": [1, -2]}).to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(InvalidInput, match=r"poisson response must be.*found -2"):
        likely.GLM("poisson").fit(tmp_path / "rows.csv", "y")


def test_groups_and_offsets_are_one_per_row():
    with pytest.raises(InvalidInput, match="groups has 2 entries; X has 6 rows"):
        likely.LinearRegression(standard_errors="clustered").fit(FRAME, Y, groups=["a", "b"])
    with pytest.raises(InvalidInput, match=r"offset has shape \(2,\); X has 6 rows"):
        likely.LinearRegression().fit(FRAME, Y, offset=[1.0, 2.0])
    with pytest.raises(InvalidInput, match="offset of row 0 is nan"):
        likely.LinearRegression().fit(FRAME, Y, offset=np.full(6, np.nan))
    with pytest.raises(InvalidInput, match="offset must hold numbers"):
        likely.LinearRegression().fit(FRAME, Y, offset=list("abcdef"))


def test_offsets_and_exposures_add_on_the_scale_of_the_predictor():
    assert check_offset(None, None, n_rows=3) == 0.0
    assert_allclose(check_offset([1, 2, 3], [1.0, np.e, 1.0], n_rows=3), [1, 3, 3])
    assert_allclose(check_offset(2.0, None, n_rows=3), 2.0)


def test_only_a_column_without_a_penalty_has_a_reference():
    model = likely.LinearRegression(l2={"size": 1.0, "shop": 1.0}).fit(FRAME, Y)
    assert "colour[blue]" not in model.terms_
    assert {"shop[n]", "shop[s]"} <= set(model.terms_)


def test_the_frame_of_the_fit_is_read_again_with_its_target():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=50), "time": rng.uniform(1, 3, 50)})
    frame["events"] = rng.poisson(frame["time"])
    model = likely.GLM("poisson").fit(frame, "events", exposure="time")
    apart = model.predict(frame[["x"]], exposure=frame["time"])
    assert_allclose(model.predict(frame, exposure="time"), apart)


def test_rows_of_weight_0_in_a_file_may_have_categories_of_their_own(tmp_path):
    frame = FRAME.assign(y=Y, w=[1, 1, 1, 1, 1, 0])
    frame.loc[5, "colour"] = "violet"
    frame.to_parquet(tmp_path / "rows.parquet")
    model = likely.LinearRegression(l2=1.0)
    model.fit(tmp_path / "rows.parquet", "y", sample_weight="w")
    kept = likely.LinearRegression(l2=1.0).fit(FRAME[:5], Y[:5])
    assert_allclose(model.coef_, kept.coef_)


def test_a_missing_category_of_a_file_is_named_by_its_row(tmp_path):
    long = pd.concat([FRAME] * 30_000, ignore_index=True).assign(y=np.tile(Y, 30_000))
    long.loc[150_001, "colour"] = None
    long.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(InvalidInput, match=r"Row 150001, column 'colour'"):
        likely.LinearRegression().fit(tmp_path / "rows.parquet", "y")


def test_a_group_that_is_missing_is_refused_as_a_group():
    groups = ["a", None, "b", "b", "a", "a"]
    with pytest.raises(InvalidInput, match="groups must name a group for every row"):
        likely.LinearRegression(standard_errors="clustered").fit(FRAME, Y, groups=groups)


def test_a_small_table_is_expanded_to_fit_and_a_large_one_keeps_its_codes(monkeypatch):
    schema, encoded = Schema.learn(FRAME, FLAGS)
    coding = Coding(schema, (True, True))
    small = coding.to_fit(ArrayBlocks(encoded)).X
    assert isinstance(small, Dense)
    monkeypatch.setattr(module, "CELLS_TO_EXPAND", 0)
    large = coding.to_fit(ArrayBlocks(encoded)).X
    assert isinstance(large, Mixed)
    assert_array_equal(small.values, large.matmat(np.eye(large.n_features)))


CLASSES = ["no", "yes", "no", "yes", "perhaps", "perhaps"]
MODELS = {
    "linear": (likely.LinearRegression(l2=0.5), Y),
    "lasso": (likely.LinearRegression(l1=0.1), Y),
    "poisson": (likely.GLM("poisson", l2=0.5), np.abs(Y)),
    "logistic": (likely.LogisticRegression(l2=0.5), np.array(CLASSES) == "yes"),
    "softmax": (likely.SoftmaxRegression(l2=0.5), CLASSES),
    "ordinal": (likely.OrdinalRegression(order=["no", "perhaps", "yes"], l2=0.5), CLASSES),
}


@pytest.mark.parametrize("name", MODELS)
def test_codes_and_indicators_give_the_same_fit(name, monkeypatch):
    model, y = MODELS[name]
    expanded = clone(model).fit(FRAME, y)
    monkeypatch.setattr(module, "CELLS_TO_EXPAND", 0)
    coded = clone(model).fit(FRAME, y)
    assert_allclose(expanded.coef_, coded.coef_, atol=1e-5)  # both within tol of the optimum
    assert np.abs(coded.coef_).max() > 1e-3
