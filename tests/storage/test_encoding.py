"""Values in a model file: what comes back as it was, and what is refused by name."""

import json
from math import inf, nan

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression

from likely.compute.executor import Serial, Threads
from likely.data.schema import Schema
from likely.distributions import (
    EXPONENTIAL_FAMILIES,
    Bernoulli,
    CategoricalFamily,
    DiagonalFamily,
    FullGaussian,
    LaplaceFamily,
    ProductFamily,
    ProductPart,
    Selection,
    categorical_family,
)
from likely.errors import InvalidInput
from likely.features.discretize import Discretizer
from likely.generative.naive_bayes import NaiveBayes
from likely.storage.encoding import Decoder, Encoder
from likely.storage.model_file import load, save
from likely.storage.registry import defined_parts, own_parts, part_class
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.preparation.steps import Categories, DroppedColumn, GappyBooleans

X = np.random.default_rng(0).normal(size=(30, 3))


def there_and_back(value):
    encoder = Encoder("Test")
    coded = json.loads(json.dumps(encoder.value(value, "it"), allow_nan=False))
    return Decoder(encoder.tensors).value(coded)


@pytest.mark.parametrize(
    "value",
    [
        None, True, 3, 10**40, -0.0, 0.1, "π", "\ud800", [1, (2, [3])], (), {"a": 1, 2: (None,)},
        np.float32(0.1), np.int8(-3), np.str_("a"), np.bool_(True), inf, -inf,
        {np.int64(3): [np.float64(2.5)]}, Serial(), Threads(2), Selection(True, (0,), (1,)),
        DiagonalFamily(floor=1e-9), LaplaceFamily(limit=9), CategoricalFamily((2, 3)),
        ProductFamily((ProductPart(DiagonalFamily(), Selection(False, (0,), (0,))),)),
    ],
    ids=repr,
)  # fmt: skip
def test_a_value_comes_back_equal_and_of_its_type(value):
    back = there_and_back(value)
    assert back == value
    assert repr(back) == repr(value)  # 1 == True, 2.0 == 2, (1,) in a list, −0.0 == 0.0


@pytest.mark.parametrize(
    "value",
    [
        ("number",) * 2000, [None] * 1500, (True,) * 1000 + (False,) * 1000, (1,) * 1000 + (True,),
        ("a", *("b",) * 1500), [*(0,) * 900, *("0",) * 900], range(5), range(3, 10**5, 7), range(0),
        [(7,) * 1000] * 3, {"a": ("x",) * 1200},
    ],
    ids=lambda value: str(value)[:20],
)  # fmt: skip
def test_a_long_sequence_of_few_runs_comes_back_from_a_few_bytes(value):
    back = there_and_back(value)
    assert repr(back) == repr(value)
    assert len(json.dumps(Encoder("Test").value(value, "it"))) < 300
    assert repr(plainly_there_and_back(value)) == repr(as_tuple(value))


def plainly_there_and_back(value):
    encoder = Encoder("Test", in_runs=False)
    return Decoder(encoder.tensors).value(encoder.value(value, "it"))


def as_tuple(value):
    """A range is a tuple where there are no runs."""
    return tuple(value) if isinstance(value, range) else value


@pytest.mark.parametrize(
    "value", [tuple(range(0, 4000, 2)), ["a", "b"] * 1000, (0.0, -0.0) * 800, (3,) * 999], ids=len
)
def test_a_sequence_of_many_runs_or_few_items_is_a_list(value):
    assert "repeats" not in json.dumps(Encoder("Test").value(value, "it"))
    assert repr(there_and_back(value)) == repr(value)


def test_an_object_that_is_repeated_comes_back_as_one_object():
    family = DiagonalFamily(floor=1e-9)
    back = there_and_back((family,) * 1200)
    assert back == (family,) * 1200
    assert len({*map(id, back)}) == 1


def test_nan_comes_back():
    assert np.isnan(there_and_back(nan))
    assert isinstance(there_and_back(np.float32(nan)), np.float32)


@pytest.mark.parametrize(
    "array",
    [
        np.array([[1.5, nan], [-inf, -0.0]]),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array(2.0),
        np.empty((0, 4)),
        np.array([True, False]),
        np.arange(3, dtype=np.uint8),
        np.arange(3, dtype=">i4"),
        np.arange(10.0)[::2],
        np.array([["a", "bcd"]]),
        np.array([], dtype=str),
        np.array(["a", None, 2, 2.5, True, np.int64(3)], dtype=object),
        np.array([[None, "x"]], dtype=object),
    ],
    ids=lambda a: f"{a.dtype.str}{a.shape}",
)
def test_an_array_comes_back_through_a_file(tmp_path, array):
    save(Discretizer(edges=array), tmp_path / "a.likely")
    back = load(tmp_path / "a.likely").edges
    assert_array_equal(back, array)
    assert back.dtype == array.dtype.newbyteorder("=")
    assert back.flags.writeable
    assert back.flags.f_contiguous or not array.flags.f_contiguous
    if array.dtype == object:
        assert list(map(type, back.ravel())) == list(map(type, array.ravel()))


def test_an_array_that_is_found_twice_is_written_once():
    array, encoder = np.arange(3.0), Encoder("Test")
    coded = encoder.value([array, {"a": array}], "it")
    assert list(encoder.tensors) == ["it[0]"]
    first, second = Decoder(encoder.tensors).value(coded)
    assert second["a"] is first


def test_parts_come_back_without_what_they_had_cached():
    part = FullGaussian(np.zeros((1, 2)), np.eye(2)[None])
    part.log_prob(np.zeros((1, 2)))
    assert len(vars(part)) > 2  # the factors are cached beside the fields
    back = there_and_back(part)
    assert set(vars(back)) == {"mean", "covariance"}
    assert_array_equal(back.log_prob(X[:, :2]), part.log_prob(X[:, :2]))


def test_families_that_are_classes_or_listed_by_name_come_back_as_themselves():
    assert there_and_back(Bernoulli) is Bernoulli
    assert there_and_back([EXPONENTIAL_FAMILIES["poisson"]])[0] is EXPONENTIAL_FAMILIES["poisson"]


def test_a_schema_comes_back():
    table = np.array([[1.0, "a"], [2.0, "b"]], dtype=object)
    schema = Schema.of(table, [False, True])
    back = there_and_back(schema)
    assert (back.names, back.kinds, back.as_codes) == (schema.names, schema.kinds, schema.as_codes)
    assert back.categories[0] is None
    assert_array_equal(back.categories[1], schema.categories[1])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.random.default_rng(0), "n_bins is a numpy.*Generator; .* Give an int seed"),
        (np.random.RandomState(0), "n_bins is a numpy.*RandomState; .* Give an int seed"),
        (lambda x: x, "n_bins is the function <lambda>; "),
        (np.exp, "n_bins is the function exp; "),
        ([{"a": print}], r"n_bins\[0\]\['a'\] is the function print"),
        (categorical_family(3), "exponential family 'categorical-3'.*poisson"),
        (LogisticRegression(random_state=np.random), "skops cannot write|holds"),
        (dict, "the class dict"),
        (b"bytes", "is a bytes"),
        ({1.5: 1}, "has the key 1.5; "),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "array of datetime64"),
        (np.longdouble(1), "is a NumPy (longdouble|float128)"),
        (np.array([object()]), "array that holds a object"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_kept_is_named_before_anything_is_written(tmp_path, value, message):
    with pytest.raises(InvalidInput, match=message):
        save(Discretizer(n_bins=value), tmp_path / "m.likely")
    assert not list(tmp_path.iterdir())


def test_a_value_that_contains_itself_is_refused(tmp_path):
    loop = []
    loop.append(loop)
    with pytest.raises(InvalidInput, match="contains itself"):
        save(Discretizer(edges=loop), tmp_path / "m.likely")


@pytest.mark.parametrize("model", [LogisticRegression, Discretizer, {"a": 1}], ids=str)
def test_only_estimators_can_be_saved(tmp_path, model):
    with pytest.raises(InvalidInput, match=r"cannot be saved; expected an estimator .*Discretizer"):
        save(model, tmp_path / "m.likely")


def test_a_class_of_the_same_name_is_not_ours(tmp_path):
    impostor = type("Discretizer", (LogisticRegression,), {})()
    with pytest.raises(InvalidInput, match="cannot be saved"):
        save(impostor, tmp_path / "m.likely")


def test_a_file_needs_a_folder_that_exists(tmp_path):
    fitted = Discretizer()
    with pytest.raises(InvalidInput, match=r"not a folder; .* Create it"):
        save(fitted, tmp_path / "nowhere" / "m.likely")
    with pytest.raises(InvalidInput, match="is a folder"):
        save(fitted, tmp_path)


def test_the_parts_that_one_estimator_lists_are_closed_to_all_others():
    step = DroppedColumn("planet", "the same value in every row")
    with pytest.raises(InvalidInput, match="DroppedColumn"):
        Encoder("NaiveBayes").value(step, "it")
    fitted = Prepared(NaiveBayes()).fit(pd.DataFrame({"a": [1.0, 2.0], "b": 1.0}), ["n", "y"])
    encoder = Encoder("Prepared")
    coded = json.loads(json.dumps(encoder.model(fitted)))
    assert Decoder(encoder.tensors).model(coded).steps_ == fitted.steps_
    inside = coded["fitted"]["preparation_"]
    with pytest.raises(InvalidInput, match="Preparation"):
        Decoder(encoder.tensors).value(inside)
    forged = Encoder("NaiveBayes").model(NaiveBayes())
    forged["fitted"]["schema_"] = inside
    with pytest.raises(InvalidInput, match="Preparation"):
        Decoder({}).model(forged)


def test_no_part_of_an_estimator_has_the_name_of_a_registered_one():
    listed = own_parts(Prepared)
    modules = [f"likely.workbench.preparation.{name}" for name in ("steps", "dates", "texts")]
    defined = {part for name in modules for part in defined_parts(name)}
    assert set(listed.values()) == defined - {Categories, GappyBooleans}  # of a call of predict
    assert [name for name in listed if part_class(name) is not None] == []
    assert own_parts(NaiveBayes) == {}


def test_moments_of_an_earlier_version_have_no_distinct_values():
    model = NaiveBayes().fit(X.round(), X[:, 0] > 0)
    encoder = Encoder("NaiveBayes")
    coded = json.loads(json.dumps(encoder.value(model.statistics_.parts[0], "it")))
    assert coded["part"][1].pop("values") is not None
    back = Decoder(encoder.tensors).value(coded)
    assert back.values is None
    assert_array_equal(back.scatter, model.statistics_.parts[0].scatter)
    coded["part"][1].pop("scatter")
    with pytest.raises(InvalidInput, match="The fields of DiagonalMoments"):
        Decoder(encoder.tensors).value(coded)
