"""Predictors of saved models: equal to the library, whatever form the rows have."""

import json
import warnings
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import likely as lk
import likely.runtime
from likely.errors import InvalidFile, InvalidInput, UnseenCategories
from likely.runtime.saved_model import MODELS
from likely.storage.registry import table_text
from tests.runtime.saved_models import answers, columns, frame, library_rows, saved_models
from tests.storage.test_checks import HEADERS, VALUES, forged
from tests.storage.test_model_file import forge

CASES = saved_models()
TABLE = columns(gaps=False)
Y = np.where(np.array(TABLE["rooms"]) > 3, "yes", "no")


@pytest.fixture(scope="module")
def predictor_of(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runtime")

    def predictor(model):
        lk.save(model, folder / "model.likely")
        return likely.runtime.load(folder / "model.likely")

    return predictor


@pytest.mark.filterwarnings("ignore::likely.errors.UnseenCategories")
@pytest.mark.filterwarnings("ignore::likely.errors.OutsideLink")
@pytest.mark.parametrize("name", CASES)
def test_predictions_are_those_of_the_library(name, predictor_of):
    case = CASES[name]
    expected = answers(case.model, library_rows(case.rows), case.beside)
    for found, wanted in zip(
        answers(predictor_of(case.model), case.rows, case.beside), expected, strict=True
    ):
        assert found.dtype == wanted.dtype
        if name.startswith("texts") and found.dtype.kind == "f":  # summed in another order
            assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)
        else:
            assert_array_equal(found, wanted)  # the same formulas on the same numbers


@pytest.fixture(scope="module")
def logistic(predictor_of):
    model = lk.LogisticRegression().fit(frame(TABLE), Y)
    return predictor_of(model), model.predict_proba(frame(TABLE))


def test_the_order_of_columns_and_other_columns_do_not_matter(logistic):
    predictor, expected = logistic
    turned = {name: TABLE[name] for name in reversed(TABLE)} | {"note": ["x"] * len(Y)}
    assert_array_equal(predictor.predict_proba(turned), expected)


def test_rows_by_name_columns_and_lists_of_rows_are_the_same(logistic):
    predictor, expected = logistic
    rows = [dict(zip(TABLE, cells, strict=True)) for cells in zip(*TABLE.values(), strict=True)]
    assert_array_equal(predictor.predict_proba(rows), expected)
    assert_array_equal(predictor.predict_proba([list(row.values()) for row in rows]), expected)
    objects = np.array([list(row.values()) for row in rows], dtype=object)
    assert_array_equal(predictor.predict_proba(objects), expected)
    arrays = {name: np.array(values) for name, values in TABLE.items()}
    assert_array_equal(predictor.predict_proba(arrays), expected)


def test_one_row_has_the_probabilities_that_it_has_among_others(logistic):
    predictor, expected = logistic
    row = {name: values[7] for name, values in TABLE.items()}
    assert_allclose(predictor.predict_proba([row]), expected[[7]], rtol=1e-14)


def test_many_rows_are_scored_in_pieces(predictor_of):
    X = np.random.default_rng(0).normal(size=(20_000, 7))
    for model in (
        lk.NaiveBayes().fit(X[:500], X[:500, 0] > 0),
        lk.LogisticRegression().fit(X[:500], X[:500, 0] > 0),
    ):
        assert_allclose(
            predictor_of(model).predict_proba(X), model.predict_proba(X), rtol=1e-12, atol=1e-15
        )


def test_a_cell_of_a_later_piece_is_named_by_its_own_row(predictor_of):
    X = np.zeros((30_000, 4))
    X[::2] = 1.0
    model = lk.NaiveBayes("bernoulli").fit(frame_of(X[:100]), X[:100, 0])
    X[25_000, 2] = 5.0
    with pytest.raises(InvalidInput, match="Row 25000, column 'c2'"):
        predictor_of(model).predict(X)


def frame_of(X):
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"size": [1.0]}, "no column 'rooms', 'garden'"),
        ({**TABLE, "size": TABLE["size"][:3]}, "Column 'rooms' has 60 values .* has 3"),
        ({**TABLE, "size": 3.0}, "Column 'size' is the value 3.0"),
        ({**TABLE, "size": ["large"] * 60}, "Column 'size' must hold numbers; found text"),
        ({**TABLE, "size": [b"1"] * 60}, "neither numbers, Booleans nor text"),
        ({**TABLE, "size": [None, *TABLE["size"][1:]]}, "Row 0, column 'size' is missing"),
        ({**TABLE, "town": [None, *TABLE["town"][1:]]}, "Row 0, column 'town': .*no category"),
        ({"Size": [1], "rooms": [1], "garden": [1], "town": ["Ulm"], "grade": ["1"]}, "renamed"),
        ([], "an empty list"),
        (["a text"], "a list of text"),
        ("a text", "The rows are text"),
        (np.zeros((2, 3)), "3 columns; the model was fitted with 5"),
        (np.zeros(5), r"shape \(5,\); expected \(n, 5\)"),
        ([[1.0, 2], [1.0]], "different lengths"),
        ({name: [] for name in TABLE}, "no rows"),
        (pd.DataFrame(TABLE), "a DataFrame"),
    ],
)
def test_rows_that_cannot_be_read_are_refused_with_a_sentence(rows, message, logistic):
    with pytest.raises(InvalidInput, match=message):
        logistic[0].predict(rows)


def test_names_are_needed_only_where_the_fit_had_them(predictor_of):
    model = lk.LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    with pytest.raises(InvalidInput, match="fitted to an array, whose columns have no names"):
        predictor_of(model).predict({"x": [1.0]})


def test_an_infinite_number_is_refused(predictor_of):
    model = lk.NaiveBayes().fit(frame(TABLE), Y)
    with pytest.raises(InvalidInput, match=r"Row 2, column 'size': found inf"):
        predictor_of(model).predict({**TABLE, "size": [1.0, 2.0, np.inf, *TABLE["size"][3:]]})


def test_unseen_categories_are_a_warning_as_in_the_library(logistic):
    with pytest.warns(UnseenCategories, match="town='Rome'"):
        logistic[0].predict({**TABLE, "town": ["Rome"] * 60})


def test_whole_numbers_that_were_text_in_the_fit_are_another_category(predictor_of):
    """The library warns, too: it does not guess that 1 is "1"."""
    predictor = predictor_of(lk.NaiveBayes().fit(frame(TABLE), Y))
    with pytest.warns(UnseenCategories, match="grade=1"):
        predictor.predict({**TABLE, "grade": [1] * 60})


def test_a_prepared_model_reads_codes_as_text_in_both_forms(predictor_of):
    model = lk.Prepared(lk.NaiveBayes()).fit(frame(TABLE), Y)
    predictor = predictor_of(model)
    expected = model.predict_proba(frame(TABLE))
    for values in ([int(g) for g in TABLE["grade"]], [float(g) for g in TABLE["grade"]]):
        assert_array_equal(predictor.predict_proba({**TABLE, "grade": values}), expected)


def test_a_prepared_model_refuses_text_where_numbers_were(predictor_of):
    predictor = predictor_of(lk.Prepared(lk.LogisticRegression()).fit(frame(TABLE), Y))
    with pytest.raises(InvalidInput, match=r"'size' must hold numbers, .* such as '3'"):
        predictor.predict({**TABLE, "size": ["3"] * 60})


def test_dropped_columns_of_a_prepared_model_may_be_absent(predictor_of):
    table = {**TABLE, "planet": ["Earth"] * 60}
    model = lk.Prepared(lk.NaiveBayes()).fit(frame(table), Y)
    assert_array_equal(predictor_of(model).predict_proba(TABLE), model.predict_proba(frame(TABLE)))


def test_offsets_are_columns_or_numbers(predictor_of):
    hours = np.linspace(1, 3, 60)
    y = np.round(np.array(TABLE["rooms"]) * hours)
    model = lk.GLM("poisson", l2=0.1).fit(frame(TABLE), y, exposure=hours)
    predictor, expected = predictor_of(model), model.predict(frame(TABLE), exposure=hours)
    assert_array_equal(predictor.predict(TABLE, exposure=hours), expected)
    named = {**TABLE, "hours": hours.tolist()}
    assert_array_equal(predictor.predict(named, exposure="hours"), expected)
    with pytest.raises(InvalidInput, match="no column of that name"):
        predictor.predict(TABLE, exposure="hours")
    with pytest.raises(InvalidInput, match="exposure of row 1 is -1; it must be finite and above"):
        predictor.predict(TABLE, exposure=[1.0, -1.0, *hours[2:]])
    with pytest.raises(InvalidInput, match="there are 60 rows"):
        predictor.predict(TABLE, offset=[1.0])
    with pytest.raises(InvalidInput, match="predicts numbers, not classes"):
        predictor.predict_proba(TABLE)


def test_a_model_without_offsets_refuses_one(predictor_of):
    predictor = predictor_of(lk.NaiveBayes().fit(frame(TABLE), Y))
    with pytest.raises(InvalidInput, match="which NaiveBayes does not take"):
        predictor.predict_proba(TABLE, offset=1.0)


def test_a_model_that_the_runtime_does_not_have_is_refused_with_those_that_it_has(tmp_path):
    model = lk.GaussianMixture(2).fit(np.random.default_rng(0).normal(size=(40, 2)))
    lk.save(model, tmp_path / "mixture.likely")
    with pytest.raises(InvalidFile, match=r"GaussianMixture; .*NaiveBayes.*SoftmaxRegression"):
        likely.runtime.load(tmp_path / "mixture.likely")


def test_a_model_that_is_not_fitted_is_refused(tmp_path):
    lk.save(lk.NaiveBayes(), tmp_path / "model.likely")
    with pytest.raises(InvalidFile, match="saved before it was fitted"):
        likely.runtime.load(tmp_path / "model.likely")


def test_a_changed_file_is_refused(tmp_path):
    path = tmp_path / "model.likely"
    lk.save(lk.NaiveBayes().fit([[0.0], [1.0]], [0, 1]), path)
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    with pytest.raises(InvalidFile, match="changed or damaged"):
        likely.runtime.load(path)
    with pytest.raises(InvalidFile, match="no such file"):
        likely.runtime.load(tmp_path / "nothing.likely")


def test_a_run_is_read_by_the_name_of_its_folder(tmp_path):
    lk.save(lk.NaiveBayes().fit([[0.0], [1.0]], ["a", "b"]), tmp_path / "model.likely")
    assert likely.runtime.load(tmp_path).predict([[0.9]]).tolist() == ["b"]


CELL = st.one_of(st.none(), st.floats(-50, 50), st.integers(-9, 9))
ROW = st.fixed_dictionaries(
    {
        "size": CELL,
        "rooms": CELL,
        "garden": st.one_of(st.none(), st.booleans()),
        "town": st.one_of(st.none(), st.sampled_from(["Ulm", "Bonn", "Köln", "Rome", "", "1"])),
        "grade": st.one_of(st.none(), st.sampled_from(["1", "2", "3", "missing"])),
    }
)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """Models that take missing cells, each with its predictor."""
    folder = tmp_path_factory.mktemp("pairs")
    X, found = frame(columns()), []
    for model in (
        lk.NaiveBayes(smoothing=0.0),
        lk.NaiveBayes({"size": "laplace"}, calibrate="temperature"),
        lk.Prepared(lk.SoftmaxRegression()),
        lk.Prepared(lk.NaiveBayes()),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            lk.save(model.fit(X, Y), folder / "model.likely")
        found.append((model, likely.runtime.load(folder / "model.likely")))
    return found


@pytest.mark.filterwarnings("ignore::likely.errors.UnseenCategories")
@settings(deadline=None, max_examples=20)
@given(rows=st.lists(ROW, min_size=1, max_size=6))
def test_random_rows_with_gaps_and_unseen_categories_have_equal_probabilities(rows, pairs):
    table = {name: [row[name] for row in rows] for name in TABLE}
    X = frame(table)
    for model, predictor in pairs:
        assert_allclose(
            predictor.predict_proba(rows), model.predict_proba(X), rtol=1e-12, atol=1e-15
        )


def _coded(tensor):
    return {"tensor": tensor}


@pytest.mark.parametrize(
    ("model", "edit", "message"),
    [
        (lk.NaiveBayes(), {"n_features_in_": 3}, "kinds has 2 entries where 3"),
        (lk.NaiveBayes(), {"classes_": {"text": [[3], ["a", "b", "c"]]}}, "log_mixing has 2"),
        (lk.LogisticRegression(), {"coef_": _coded("intercept_")}, "A row of coef_"),
        (lk.LogisticRegression(), {"classes_": {"text": [[1], ["a"]]}}, "classes_ has 1"),
        (lk.SoftmaxRegression(), {"classes_": {"text": [[3], ["a", "b", "c"]]}}, "coef_ has 1"),
        (lk.NaiveBayes(), {"temperature_": "hot"}, "temperature_ is .hot., a str"),
        (lk.NaiveBayes(), {"schema_": None}, "schema_ is .None., a NoneType"),
    ],
    ids=str,
)
def test_parts_that_do_not_belong_together_are_refused(model, edit, message, tmp_path):
    path = tmp_path / "model.likely"
    X = [[0.0, 1.0], [1.0, 0.5], [0.5, 3.0], [2.0, 0.1]]
    lk.save(model.fit(X, [0, 1, 1, 0]), path)
    forge(path, lambda header: header["fitted"].update(edit))
    with pytest.raises(InvalidFile, match=message):
        likely.runtime.load(path)


def test_a_header_that_is_no_model_is_refused(tmp_path):
    path = tmp_path / "model.likely"
    lk.save(lk.NaiveBayes().fit([[0.0], [1.0]], [0, 1]), path)
    forge(path, lambda header: header["fitted"].update(components_=json.loads('{"tuple": []}')))
    with pytest.raises(InvalidFile, match="components_ is"):
        likely.runtime.load(path)


@pytest.mark.parametrize(
    ("model", "changes", "message"),
    [
        *((model, {"tensors": change}, message) for model, change, message in VALUES),
        *((model, {"header": change}, message) for model, change, message in HEADERS),
    ],
)
def test_what_load_refuses_the_runtime_refuses_for_the_same_reason(
    tmp_path, model, changes, message
):
    """A model that the runtime does not have is refused for that."""
    has = type(model).__name__ in MODELS
    with pytest.raises(InvalidFile, match=message if has else "it holds a"):
        likely.runtime.load(forged(tmp_path, model, **changes))


def test_the_table_of_the_runtime_is_what_the_classes_declare():
    """Written by ``.ci/declarations``."""
    table = files("likely.storage").joinpath("declarations.json").read_text(encoding="utf-8")
    assert table == table_text(), "the declarations changed: run .ci/declarations"
