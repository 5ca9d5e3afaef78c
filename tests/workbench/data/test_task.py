"""What kind of task a target column poses, and what it refuses."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from likely.errors import InvalidInput, UnknownName
from likely.workbench.data.roles import Roles
from likely.workbench.data.task import task_for_models, task_of
from likely.workbench.models.registry import MODELS, entries_for_task

MANY = 200


def table(values, **more):
    return pa.table({"x": np.arange(float(len(values))), "y": pa.array(values, **more)})


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["no", "yes", None] * 20, "binary"),
        ([True, False] * 20, "binary"),
        (["a", "b", "c"] * 20, "classes"),
        ([0, 1] * 20, "binary"),
        ([0.0, 1.0, float("nan")] * 20, "binary"),
        ([3, 1, 2] * 20, "classes"),
        (list(range(MANY)), "count"),
        (list(range(-1, MANY)), "real"),
        ([0.5 + k for k in range(MANY)], "positive"),
        ([0.5 * k for k in range(MANY)], "real"),
        ([-0.5 + k for k in range(MANY)], "real"),
        ([1.0 + k for k in range(MANY)], "count"),  # integers beside a missing cell are floats
        ([5, 6, 7], "count"),  # few values, but no more rows than values
    ],
)
def test_the_kind_follows_the_values(values, kind):
    task = task_of(table(values), "y")
    assert task.kind == kind
    assert task.reason
    assert task.has_classes == (kind in ("binary", "classes"))


def test_an_ordered_category_is_ordinal_in_its_own_order():
    codes = pa.array([0, 2, 1, 0, None], pa.int32())
    column = pa.DictionaryArray.from_arrays(codes, ["low", "mid", "high"], ordered=True)
    task = task_of(pa.table({"y": column}), "y")
    assert (task.kind, task.order) == ("ordinal", ("low", "mid", "high"))
    assert_array_equal(task.codes(pa.table({"y": column})), [0, 2, 1, 0, -1])
    assert task_of(pa.table({"y": column}), "y", ordered=False).kind == "classes"


def test_an_order_can_be_given_and_must_name_every_class():
    given = table(["s", "m", "l"] * 9)
    task = task_of(given, "y", ordered=["s", "m", "l", "xl"])
    assert task.classes == task.order == ("s", "m", "l")
    assert task_of(given, "y", ordered=True).order == ("l", "m", "s")
    with pytest.raises(InvalidInput, match="lacks 'l'"):
        task_of(given, "y", ordered=["s", "m"])


@pytest.mark.parametrize("order", [["xx", "zz", "ja"], ["xx", "ja"], ["nein", "nein", "ja"]])
def test_an_order_of_two_classes_names_both_of_them_once(order):
    given = table(["ja", "nein"] * 9)
    assert task_of(given, "y", kind="binary", ordered=["nein", "ja"]).classes == ("nein", "ja")
    assert task_of(given, "y", kind="binary", ordered=["ja"]).classes == ("nein", "ja")
    with pytest.raises(InvalidInput, match="and the kind 'binary' were given, and 'y' has the cl"):
        task_of(given, "y", kind="binary", ordered=order)


def test_one_class_is_no_order_of_an_ordinal_target():
    with pytest.raises(InvalidInput, match=r"The order \['ja'\] lacks 'nein'"):
        task_of(table(["ja", "nein"] * 9), "y", kind="ordinal", ordered=["ja"])


def test_a_kind_that_is_told_overrules_and_is_checked():
    counts = table([0, 1, 2] * 30)
    assert task_of(counts, "y", kind="count").kind == "count"
    assert task_of(counts, "y", kind="ordinal").order == (0, 1, 2)
    with pytest.raises(InvalidInput, match="holds 0; numbers above 0"):
        task_of(counts, "y", kind="positive")
    with pytest.raises(InvalidInput, match="3 different values; two"):
        task_of(counts, "y", kind="binary")
    with pytest.raises(InvalidInput, match="labels such as 'a'"):
        task_of(table(["a", "b"]), "y", kind="real")
    with pytest.raises(UnknownName, match="Did you mean 'count'"):
        task_of(counts, "y", kind="counts")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["a"] * 9, "nothing but 'a'"),
        ([None, None], "is empty|holds null"),
        ([f"name {k}" for k in range(5000)], "5,000 different values in 5,000 rows"),
        ([1.0, float("inf"), 2.5], "infinity"),
        ([[1], [2]], "list"),
    ],
)
def test_a_target_that_poses_no_task_is_refused_with_advice(values, message):
    with pytest.raises(InvalidInput, match=message):
        task_of(table(values), "y")


def test_a_date_and_a_missing_column_are_refused():
    dates = table([1, 2, 3], type=pa.date32())
    with pytest.raises(InvalidInput, match="date32"):
        task_of(dates, "y")
    with pytest.raises(UnknownName, match="Did you mean 'y'"):
        task_of(dates, "yy")


def test_codes_and_numbers_mark_what_is_missing():
    labels = table(["b", None, "a", "b"])
    task = task_of(labels, "y")
    assert_array_equal(task.codes(labels), [1, -1, 0, 1])
    assert_array_equal(task.known(labels), [True, False, True, True])
    numbers = table([1.5, None, float("nan"), 2.0])
    task = task_of(numbers, "y")
    assert_array_equal(task.numbers(numbers), [1.5, np.nan, np.nan, 2.0])
    assert_array_equal(task.known(numbers), [True, False, False, True])


def lognormal_whole(n, middle, spread, seed=0):
    return np.random.default_rng(seed).lognormal(np.log(middle), spread, n).astype(np.int64)


AMOUNTS = {
    "prices, of diamonds": 326 + lognormal_whole(5000, 2400, 1.0),
    "salaries, few rows": 57_800 + 100 * lognormal_whole(80, 500, 0.4),
    "populations": lognormal_whole(300, 20_000, 1.5),
    "fares, round and often the same": 50 * lognormal_whole(3000, 60, 0.3),
}
COUNTS = {
    "days in hospital, as in medpar": 1
    + np.random.default_rng(0).negative_binomial(1.2, 0.12, 1495),
    "days absent, as in quine": np.random.default_rng(0).negative_binomial(1.2, 0.07, 146),
    "few rows, all different": np.array([0, 3, 7, 12, 19, 25, 31, 44, 58, 60, 71, 90]),
    "visits per month, Poisson with a large mean": np.random.default_rng(0).poisson(5000, 300),
    "patents of firms, many of some": np.append(lognormal_whole(1700, 8, 1.5), [2100, 3806]),
    "rare events": np.random.default_rng(0).poisson(30, 400),
}


@pytest.mark.parametrize("name", AMOUNTS)
def test_large_and_mostly_different_whole_numbers_are_amounts_and_it_is_said(name):
    task = task_of(pa.table({"y": AMOUNTS[name]}), "y")
    assert task.kind == "positive"
    assert "not as counts; use kind='count'" in task.doubt


@pytest.mark.parametrize("name", AMOUNTS)
def test_whole_amounts_with_a_zero_are_scored_by_masses_beside_models_of_amounts(name):
    task = task_of(pa.table({"y": np.append(AMOUNTS[name], 0)}), "y")
    assert (task.kind, task.with_zeros, task.beside) == ("count", True, frozenset())
    tried = {each.name for each in entries_for_task(task)}
    assert {"linear", "glm-negative-binomial", "glm-tweedie"} <= tried


@pytest.mark.parametrize(("zeros", "response"), [(4, "tweedie"), (1, "negative-binomial")])
def test_curves_for_whole_amounts_have_the_family_of_amounts_where_many_are_0(zeros, response):
    values = AMOUNTS["salaries, few rows"].copy()
    values[: 5 * zeros] = 0
    task = task_of(pa.table({"y": values}), "y")
    assert (task.kind, task.many_zeros) == ("count", zeros == 4)
    assert MODELS["additive"].build(task).response == response


def test_amounts_with_fractions_and_zeros_have_their_share_and_models_of_such_amounts():
    table = pa.table({"y": [0.0, 1.5, 0.0, 2.25] * 20})
    for task in (task_of(table, "y"), task_of(table, "y", kind="real")):
        assert (task.kind, task.zeros, task.takes_exposure) == ("real", 0.5, True)
        assert "glm-tweedie" in {each.name for each in entries_for_task(task)}
    assert "50.0 % of them exactly 0" in task_of(table, "y").doubt
    for others in ([0, 1, 2, 3] * 20, [-1.0, 0.0, 2.5, 3.5] * 20):
        assert task_of(pa.table({"y": others}), "y", kind="real").zeros == 0


def test_counts_above_0_are_tried_with_models_of_amounts_and_a_kind_that_is_given_alone():
    table = pa.table({"y": COUNTS["days in hospital, as in medpar"]})
    task = task_of(table, "y")
    assert task.beside == {"positive"}
    assert "the probability of each whole number" in task.doubt
    tried = {each.name for each in entries_for_task(task)}
    assert {"linear", "glm-poisson", "glm-gamma"} <= tried
    forced = entries_for_task(task_of(table, "y", kind="count"))
    assert "glm-gamma" not in {each.name for each in forced}
    assert task_of(table, "y", kind="positive").kind == "positive"


@pytest.mark.parametrize("name", COUNTS)
def test_small_whole_numbers_and_those_that_vary_like_counts_are_counts(name):
    assert task_of(pa.table({"y": COUNTS[name]}), "y").kind == "count"


@pytest.mark.parametrize(
    ("values", "roles", "kind"),
    [
        ([0, 1, 2, 10], Roles(exposure="e"), "count"),
        ([0, 1], Roles(exposure="e"), "count"),
        ([0, 1, 2], Roles(offset="e"), "count"),
        ([0, 1], Roles(offset="e"), "binary"),
        ([-1, 0, 1], Roles(exposure="e"), "classes"),
        (["a", "b", "c"], Roles(exposure="e"), "classes"),
        ([0, 1, 2], Roles(weight="e"), "classes"),
        ([0.5, 1.0, 2.0], Roles(exposure="e"), "positive"),
    ],
)
def test_an_exposure_rules_out_classes_of_numbers(values, roles, kind):
    table = pa.table({"y": values * 50})
    assert task_of(table, "y", roles=roles).kind == kind
    assert task_for_models(table, "y", roles=roles).kind == kind
    if not isinstance(values[0], float):
        assert task_of(table, "y", kind="classes", roles=roles).kind == "classes"


COUNTED = {
    "few, and rarely many": (np.random.default_rng(0).poisson(1.5, 5_000), "count"),
    "codes of classes as large as each other": (np.arange(5_000) % 10, "classes"),
    "codes from 1 up": (1 + np.random.default_rng(0).poisson(1.5, 5_000), "classes"),
    "grades from 0 to 10": (np.random.default_rng(0).binomial(10, 0.7, 5_000), "classes"),
    "severities from 0 to 4": (
        np.minimum(np.random.default_rng(0).poisson(1, 5_000), 4),
        "classes",
    ),
}


@pytest.mark.parametrize(("values", "kind"), COUNTED.values(), ids=COUNTED.keys())
def test_few_whole_numbers_are_counts_where_large_ones_are_rare(values, kind):
    found = task_of(pa.table({"y": values}), "y")
    assert found.kind == kind
    other = "codes" if kind == "count" else "--kind count"
    assert other in found.doubt
