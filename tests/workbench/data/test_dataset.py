"""Datasets: what is given, what is remembered, and how rows are held out."""

from collections import Counter
from hashlib import sha256
from inspect import Parameter, signature
from io import StringIO
from typing import Any, get_type_hints

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import likely as lk
from likely.data.arrow import digest_of_file
from likely.data.formats.registry import ParquetSource
from likely.errors import InvalidInput
from likely.sealing import folder
from likely.sealing.manifest import Manifest
from likely.workbench.data.folds import codes_of, time_of
from likely.workbench.data.opening import DataArguments, dataset

FUNCTIONS = ["compare", "tune", "seal", "learning_curve", "look"]


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
    assert "shop" not in rows.model_columns.column_names
    assert rows.group == held_out_by.get("group")


def test_a_seal_with_nothing_but_its_group_has_nothing_to_learn_from(tmp_path):
    frame = pd.DataFrame({"shop": np.arange(80) // 4, "town": np.arange(80) // 16})
    frame["y"] = np.arange(80) % 2
    sealed = lk.seal(frame, "y", group="shop", name="shops", folder=tmp_path)
    with pytest.raises(InvalidInput, match="no column except 'y'"):
        dataset(sealed, group="town").with_task()


def rows_with_codes(n=120):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=n), "region": rng.integers(1, 5, n)})
    frame["note"] = [f"n{i % 3}" for i in range(n)]
    frame["y"] = np.where(frame["x"] + (frame["region"] == 2) + rng.normal(size=n) > 0, "a", "b")
    return frame


def as_path(frame, folder):
    frame.to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


MAKERS = {
    "pandas": lambda frame, _: frame,
    "arrow": lambda frame, _: pa.Table.from_pandas(frame),
    "path": as_path,
    "text": lambda frame, folder: str(as_path(frame, folder)),
    "source": lambda frame, folder: lk.read(as_path(frame, folder)),
    "dataset": lambda frame, _: dataset(frame),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_the_same_rows_give_the_same_dataset_whatever_they_come_as(kind, tmp_path):
    frame = rows_with_codes()
    found = dataset(MAKERS[kind](frame, tmp_path), "y", drop=["note"], category=["region"])
    assert found.source.names == ("x", "region", "y")
    assert found.source.kinds == ("number", "category", "category")
    rows = found.with_task()
    assert rows.settled.kind == "binary"
    assert rows.features.column_names == ["x", "region"]
    assert rows.table["region"].to_pylist() == [str(code) for code in frame["region"]]
    assert_array_equal(rows.table["x"].to_numpy(), frame["x"])


def test_built_in_names_and_the_standard_input_work_in_python(monkeypatch):
    assert lk.look("iris").target == "species"
    assert lk.compare("iris", models="discriminant", folds=3, repeats=1).rows.label == "iris"
    assert lk.learning_curve("iris", model="discriminant", folds=3, values=[1.0]).points
    text = rows_with_codes().to_csv(index=False)
    monkeypatch.setattr("sys.stdin", StringIO(text))
    found = dataset("-", "y")
    assert (found.label, found.table.num_rows) == ("standard input", 120)
    assert found.digest == sha256(text.encode()).hexdigest()


def test_what_is_given_now_is_added_to_what_is_known():
    first = dataset(rows_with_codes(), "y", kind="classes", drop=["note"])
    second = dataset(first, category=["region"], drop=["note"])
    assert (second.target, second.kind) == ("y", "classes")
    assert (second.dropped, second.categories) == (("note",), ("region",))
    other = dataset(second, "region")
    assert (other.target, other.kind) == ("region", None)
    assert dataset(first.with_task()).task is not None
    assert dataset(first.with_task(), kind="binary").task is None


def test_the_digest_is_of_the_data_as_given(tmp_path):
    frame = rows_with_codes()
    frame.loc[3, "y"] = None
    path = as_path(frame, tmp_path)
    found = dataset(path, "y", drop=["note"]).with_task()
    assert found.n_without_target == 1
    assert found.digest == digest_of_file(path)
    assert dataset(frame, "y").with_task().digest == dataset(frame, "y", drop=["x"]).digest


def test_the_columns_beside_the_features_are_no_features():
    frame = rows_with_codes().assign(w=1.0, o=0.0, e=1.0, firm=1, day=np.arange(120))
    given = {"weight": "w", "offset": "o", "exposure": "e", "clusters": "firm"}
    rows = dataset(frame, "y", **given, by_time="day", drop=["day"]).with_task()
    assert rows.features.column_names == ["x", "region", "note"]
    assert "day" in rows.table.column_names  # rows are held out by it
    assert rows.roles.to_fit()["sample_weight"] == "w"
    assert rows.take(np.array([5, 2])).table["day"].to_pylist() == [5, 2]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"weight": "y"}, "'y' was given two roles"),
        ({"drop": ["x"], "category": ["x"]}, "'x' was given two roles"),
        ({"drop": ["y"]}, "'y' was given two roles"),
        ({"drop": ["regoin"]}, "Did you mean 'region'"),
        ({"drop": "note"}, r"Write drop=\['note'\]"),
        ({"group": "x", "by_time": "x"}, "rows are held out by one of them"),
        ({"group": "y"}, "'y' is the target"),
        ({"drop": ["x", "region", "note"]}, "no column except 'y'"),
    ],
)
def test_what_columns_cannot_be_is_refused(given, message):
    with pytest.raises(InvalidInput, match=message):
        dataset(rows_with_codes(), "y", **given).with_task()


@pytest.mark.parametrize(
    "function",
    [
        lambda data: lk.compare(data, models="logistic"),
        lambda data: lk.tune(data, model="logistic"),
        lambda data: lk.learning_curve(data, model="logistic"),
        lk.seal,
    ],
)
def test_clusters_are_refused_where_they_would_not_be_used(function):
    with pytest.raises(InvalidInput, match="'x' was given as clusters"):
        function(dataset(rows_with_codes(), "y", clusters="x"))


@pytest.fixture
def sealed_with_codes(tmp_path):
    path = as_path(rows_with_codes(), tmp_path)
    return lk.seal(path, "y", drop=["note"], category=["region"], folder=tmp_path)


def test_a_seal_remembers_what_was_dropped_and_declared(sealed_with_codes):
    sealed = sealed_with_codes
    assert (sealed.manifest.dropped, sealed.manifest.categories) == (("note",), ("region",))
    assert list(sealed.train.column_names) == ["x", "region", "y"]
    found = lk.compare(sealed, models="logistic", folds=3, repeats=1)
    assert found.rows.categories == ("region",)
    assert lk.compare(sealed, models="logistic", folds=3, repeats=1, drop=["note"]).entries
    model = found.best_model()
    assert sealed.final(model).value > 0
    assert any("4 categories" in what for _, what in sealed_steps(sealed, model))


def sealed_steps(sealed, model):
    rows = dataset(sealed).with_task()
    return model.fit(rows.features, rows.table["y"]).steps_


def test_another_target_than_the_sealed_one_is_refused_everywhere(sealed_with_codes):
    for function in (dataset, lk.look, lk.compare):
        with pytest.raises(InvalidInput, match="seals the target 'y', and 'x' was given"):
            function(sealed_with_codes, "x")


@pytest.fixture
def readings(monkeypatch):
    """How often a manifest is read, and the rows of a Parquet file."""
    counts = Counter()
    read, rows, whole = Manifest.read.__func__, ParquetSource.__iter__, folder.read_parquet

    def counted(name, function):
        def call(*arguments):
            counts[name] += 1
            return function(*arguments)

        return call

    monkeypatch.setattr(Manifest, "read", classmethod(counted("manifest", read)))
    monkeypatch.setattr(ParquetSource, "__iter__", counted("table", rows))
    monkeypatch.setattr(folder, "read_parquet", counted("table", whole))
    return counts


@pytest.mark.parametrize(
    "function",
    [
        lambda data: lk.compare(data, models="discriminant", folds=3, repeats=1),
        lambda data: lk.tune(data, model="discriminant", trials=1, folds=3),
        lambda data: lk.learning_curve(data, model="discriminant", folds=3, values=[1.0]),
        lk.look,
    ],
)
@pytest.mark.parametrize("opened", [True, False])
def test_manifest_and_table_of_a_seal_are_read_once(sealed_with_codes, readings, function, opened):
    data = lk.open_seal(sealed_with_codes.path) if opened else sealed_with_codes.path
    function(data)
    assert readings == {"manifest": 1, "table": 1}


def test_a_built_in_name_may_have_underscores_unless_a_file_has_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = dataset("breast_cancer")
    assert (found.label, found.target) == ("breast-cancer", "diagnosis")
    (tmp_path / "breast_cancer").mkdir()
    with pytest.raises(InvalidInput):
        dataset("breast_cancer")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_signature_shows_each_argument_with_the_default_of_dataset(name: str) -> None:
    shown, expected = signature(getattr(lk, name)).parameters, signature(lk.dataset).parameters
    assert {*DataArguments.__annotations__} < {*shown}
    assert all(shown[each] == expected[each] for each in DataArguments.__annotations__)
    assert not any(each.kind is Parameter.VAR_KEYWORD for each in shown.values())


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("unknown", ["grup", "clusters"])
def test_an_unknown_argument_is_refused_in_the_name_of_the_function(
    name: str, unknown: str
) -> None:
    given: dict[str, Any] = {unknown: "x"}
    with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected .* '{unknown}'$"):
        getattr(lk, name)("iris", **given)


def test_types_are_those_of_dataset() -> None:
    hints = get_type_hints(lk.dataset)
    for name, kind in get_type_hints(DataArguments).items():
        assert kind == hints[name], name


def test_all_arguments_of_dataset_are_shared_except_clusters() -> None:
    of_dataset = {
        name
        for name, each in signature(lk.dataset).parameters.items()
        if each.kind is Parameter.KEYWORD_ONLY
    }
    assert of_dataset == {*DataArguments.__annotations__, "clusters"}


@pytest.mark.parametrize(("n", "repeats"), [(99_999, 2), (100_000, 1)])
def test_a_table_of_many_rows_is_cross_validated_once_unless_it_is_asked_for(n, repeats):
    rng = np.random.default_rng(0)
    rows = dataset(pd.DataFrame({"x": rng.normal(size=n), "y": rng.normal(size=n)}), "y")
    rows = rows.for_models(["linear"], "compare")
    assert rows.folds(5, None).repeats == repeats
    assert rows.folds(5, 3).repeats == 3
