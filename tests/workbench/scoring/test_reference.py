"""The boosted reference: it sees bends and products, names their columns, and is no candidate."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import likely as lk
from likely.metrics.prediction import Prediction, Truth
from likely.numerics.intervals import Estimate
from likely.workbench.comparison.comparison_entry import TIMES_AS_LONG, with_pairs
from likely.workbench.data.opening import dataset
from likely.workbench.data.task import Task, task_of
from likely.workbench.preparation.prepared import prepared
from likely.workbench.scoring import reference
from likely.workbench.scoring.predictions import truth_of
from likely.workbench.scoring.reference import (
    MOST_LEARNED,
    Reference,
    boosted_on,
    costs_little,
    learned_rows,
    reference_from_json,
)


def refused(*_):
    raise ValueError("a value that it does not take")


def columns(n=1200, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.uniform(-1, 1, n) for name in ("a", "b", "line", "noise")})
    return frame, rng


def with_a_product(kind):
    """``y`` follows a × b, and ``line`` straight."""
    frame, rng = columns()
    eta = 2.5 * frame["a"] * frame["b"] + 0.5 * frame["line"]
    y = {
        "real": eta + 0.3 * rng.normal(size=len(eta)),
        "count": rng.poisson(np.exp(1.5 + eta)),
        "positive": np.exp(eta) * rng.gamma(8, 1 / 8, len(eta)),
        "binary": np.where(4 * eta + rng.logistic(size=len(eta)) > 0, "yes", "no"),
    }[kind]
    return frame.assign(y=y)


@pytest.mark.parametrize("kind", ["real", "count"])
def test_pairs_of_columns_are_tried_where_curves_miss_a_product(kind):
    found = lk.compare(with_a_product(kind), "y", kind=kind, folds=3, repeats=1)
    assert found.best.name.endswith("-pairs")
    curves = found[found.best.name.removesuffix("-pairs")]
    assert found.reference.is_missed_by(curves.name)
    assert not found.reference.is_missed_by(found.best.name)
    assert found.best.value > curves.value + 0.2
    assert "-pairs" not in " ".join(found.left_out)


def test_pairs_without_evidence_are_not_listed():
    frame, rng = columns()
    frame["y"] = np.sin(3 * frame["a"]) + frame["line"] + 0.3 * rng.normal(size=len(frame))
    found = lk.compare(frame, "y", folds=3, repeats=1)
    assert found.best.name == "additive"
    assert not any(each.name.endswith("-pairs") for each in found.entries)


def test_pairs_are_tried_beside_an_exposure():
    frame = with_a_product("count").assign(years=1.0)
    found = lk.compare(frame, "y", exposure="years", kind="count", folds=3, repeats=1)
    assert found.best.name == "additive-pairs"
    assert found.reference is None


def test_pairs_that_would_take_long_are_not_tried():
    entries = lk.compare(with_a_product("real"), "y", ["additive", "linear"], repeats=1).entries
    for missed in (True, False):
        soon = with_pairs(entries, 10, missed=missed)
        assert (soon.entry.name, soon.remark) == ("additive-pairs", "")
        others = [each for each in entries if each.name == "linear"]
        assert with_pairs(others, 10, missed=missed) == (None, "")
    late = with_pairs(entries, 10**6, missed=True)
    assert late.entry is None
    assert "minutes; name it to try it: additive-pairs." in late.remark
    assert with_pairs(entries, 10**6, missed=False) == (None, "")
    curves = next(each for each in entries if each.name == "additive")
    n = round(20 / (TIMES_AS_LONG * curves.seconds))  # about 20 s in all
    assert "was tried because" in with_pairs(entries, n, missed=True).remark
    assert with_pairs(entries, n, missed=False) == (None, "")


@pytest.mark.parametrize("kind", ["real", "count", "positive"])
@pytest.mark.long
def test_a_product_that_no_line_has_is_named_with_its_columns(kind, monkeypatch):
    monkeypatch.setattr(
        "likely.workbench.comparison.comparison.with_pairs", lambda *_, missed: (None, "")
    )
    frame = with_a_product(kind)
    found = lk.compare(frame, "y", kind=kind, folds=3, repeats=1)
    missed = found.reference
    assert missed.is_missed_by(found.best.name)
    assert set(missed.columns) == {"a", "b"}
    assert {frozenset(pair) for pair in missed.pairs} == {frozenset({"a", "b"})}
    said = " ".join(str(found).split())
    assert missed.about(found.best.name) in said
    assert "The terms of linear miss something" in missed.about("linear")
    assert "The columns say more than these models see" in missed.about("constant")
    assert all("boost" not in each.name.lower() for each in found.entries)
    again = reference_from_json(found.facts()["reference"])
    assert again.about(found.best.name) == missed.about(found.best.name)


def test_each_model_of_classes_is_told_what_it_misses():
    """A Gaussian with a covariance for each class has the product; straight log-odds do not."""
    found = lk.compare(with_a_product("binary"), "y", folds=3, repeats=1)
    assert found.best.name in ("discriminant-full", "additive-pairs")
    assert found.reference.is_missed_by("logistic")
    assert not found.reference.is_missed_by("discriminant-full")
    assert "miss something" not in str(found)


def test_straight_lines_miss_nothing():
    frame, rng = columns()
    frame["y"] = frame["a"] + frame["line"] + rng.normal(size=len(frame))
    found = lk.compare(frame, "y", folds=3, repeats=1)
    assert found.reference.gains["linear"].value < 0
    assert not found.reference.is_missed_by("linear")
    assert "miss something" not in str(found)


def test_a_bend_in_one_column_is_no_product():
    frame, rng = columns()
    frame["y"] = np.square(3 * frame["a"]) + frame["line"] + 0.3 * rng.normal(size=len(frame))
    found = lk.compare(frame, "y", folds=3, repeats=1)
    assert found.best.name == "additive"  # it bends
    assert not found.reference.is_missed_by("additive")
    assert found.reference.is_missed_by("linear")
    assert found.reference.pairs == ()


def test_a_gain_of_the_spread_alone_says_nothing_of_terms():
    """A Gaussian around a line, where the spread grows with the mean."""
    rng = np.random.default_rng(0)
    x = rng.gamma(1.0, 40.0, 600)
    frame = pd.DataFrame({"x": x, "y": rng.poisson(2 + x * rng.gamma(12, 1 / 12, 600))})
    found = lk.compare(frame, "y", kind="count", folds=3, repeats=1)
    assert found.reference.gains["linear"].low > 0.05
    assert not found.reference.is_missed_by("linear")


def test_it_is_not_fitted_beside_models_that_were_named_nor_to_exposures():
    frame = with_a_product("count")
    assert lk.compare(frame, "y", ["linear"], kind="count", folds=3, repeats=1).reference is None
    frame["years"] = 1.0 + np.arange(len(frame)) % 3
    rows = dataset(frame, "y", kind="count", exposure="years").for_models(None, "compare")
    assert not costs_little(rows, 4)
    plain = dataset(frame, "y", kind="count").for_models(None, "compare")
    assert costs_little(plain, 5)
    assert costs_little(plain, reference.MOST_COLUMNS)
    assert not costs_little(plain, reference.MOST_COLUMNS + 1)


@pytest.mark.parametrize("step", ["_scored", "Truth.joined", "Prediction.joined"])
def test_values_that_boosting_does_not_take_leave_a_comparison_without_a_reference(
    step, monkeypatch
):
    rows = dataset(with_a_product("real")[:60], "y").for_models(None, "compare")
    plan = rows.folds(3)
    assert boosted_on(rows, plan, seed=0) is not None
    monkeypatch.setattr(reference, "SETTINGS", {"max_iter": 1})
    monkeypatch.setattr(f"{reference.__name__}.{step}", refused)
    assert boosted_on(rows, plan, seed=0) is None


def test_a_reference_stays_without_columns_where_they_cannot_be_shuffled(monkeypatch):
    rows = dataset(with_a_product("real")[:60], "y").for_models(None, "compare")
    boosted = boosted_on(rows, rows.folds(3), seed=0)
    missed = Reference({"linear": Estimate(0.5, 0.4, 0.6, 0.0)}, 60, closer=("linear",))
    assert missed.is_missed_by("linear")
    line = prepared(lk.LinearRegression())
    for step in ("__init__", "columns", "pairs"):
        with monkeypatch.context() as patch:
            patch.setattr(f"{reference.__name__}._Shuffled.{step}", refused)
            found = boosted.with_columns(missed, "linear", line)
        assert found.to_json() == {**missed.to_json(), "over": "linear"}
    monkeypatch.setattr(type(boosted.first[0].train), "fit", refused)
    found = boosted.with_columns(missed, "linear", line)
    assert found.to_json() == {**missed.to_json(), "over": "linear"}


def test_the_density_of_a_row_is_of_a_family_that_has_not_seen_it():
    frame, rng = columns(60)
    frame["y"] = frame["a"] + 0.3 * rng.normal(size=60)
    model, found = lk.LinearRegression().fit(frame[["a"]], frame["y"]), []
    for y in (frame["y"], frame["y"].where(frame.index != 4, 9.0)):
        table = pa.Table.from_pandas(frame.assign(y=y)[["a", "y"]])
        task = task_of(table, "y", kind="real")
        fit = SimpleNamespace(
            held=SimpleNamespace(model_columns=table), truth=truth_of(task, table)
        )
        found.append(reference._scored(model, task, fit).log_density)
    same = found[0] == found[1]
    even = np.arange(60) % 2 == 0
    assert same.tolist() == (even & (np.arange(60) != 4)).tolist()


def test_a_pair_of_columns_is_named_for_what_their_sum_does_not_have():
    rng = np.random.default_rng(0)
    small, large, product = rng.normal(size=(3, 2, 200)) * [[[1.0]], [[9.0]], [[4.0]]]

    def pairs(bend, scale=1.0):
        def predictor(*moved):
            a, b, ab = (int(any(one in moved for one in n)) for n in (("a",), ("b",), ("a", "b")))
            return scale * (small[a] + large[b] + bend * product[ab])

        with_predictor = SimpleNamespace(predictor=predictor)
        return [reference._Shuffled.pairs(with_predictor, names) for names in ("ab", "ba")]

    assert pairs(0.0) == pairs(3.0, scale=0.0) == [(), ()]
    for scale in (1e-3, 1.0, 1e3):
        assert pairs(3.0, scale) == [(("a", "b"),), (("b", "a"),)]


def shuffled(losses, names=("a", "b", "c")):
    """The columns by which the reference loses more, from the losses by model and column."""
    stub = SimpleNamespace(names=names, models=("boosted", "model"))
    stub._loss = lambda model, *moved: losses.get((model, *moved), 1.0)
    return reference._Shuffled.columns(stub)


def test_columns_are_named_by_what_the_reference_loses_more_than_the_model():
    """b carries 3 of 4 in all and c the rest; a is needed as much by both."""
    losses = {("boosted",): 2.0, ("model",): 3.0}
    losses |= {("boosted", name): 2.0 + more for name, more in (("a", 9), ("b", 4), ("c", 2))}
    losses |= {("model", name): 3.0 + more for name, more in (("a", 9), ("b", 1), ("c", 1))}
    assert shuffled(losses) == ("b", "c")
    assert shuffled({}) == ()
    names = [f"x{i}" for i in range(reference.MOST_TRIED)]
    assert shuffled({("boosted", "x7"): 3.0}, names) == ("x7",)
    assert shuffled({("boosted", "x7"): 3.0}, [*names, "one more"]) == ()


def test_a_mean_of_0_is_judged_as_one_of_a_thousandth_of_the_mean_of_y():
    y = np.array([100.0, 300.0])
    stub = SimpleNamespace(task=Task("positive", "y"), truth=Truth(y, kind="positive"))
    for scale in (1e-3, 1.0, 1e3):
        stub.truth = Truth(scale * y, kind="positive")
        stub._prediction = lambda model: Prediction.of_numbers(np.zeros(2))
        ratio = y / (1e-3 * y.mean())
        expected = np.mean(2 * (ratio - np.log(ratio) - 1))
        assert reference._Shuffled._loss(stub, None) == pytest.approx(expected, rel=1e-12)


def test_a_reference_is_closer_by_its_squared_errors():
    y, row = np.array([1.0, 2.0, 4.0]), np.arange(3)
    truth, prediction = Truth(y, kind="real"), Prediction.of_numbers(y + 2.0)
    for square, closer in ((4.1, True), (4.0, False), (3.9, False)):
        model = reference.RowLosses(np.zeros(3), np.full(3, square))
        assert reference._is_closer(model, row, truth, prediction) == closer
    assert reference._is_closer(reference.RowLosses(np.zeros(3), None), row, truth, prediction)


def test_it_learns_from_a_part_of_many_rows_the_same_each_time():
    train = np.arange(3, 3 + 2 * MOST_LEARNED)
    some = learned_rows(0, train)
    assert len(np.unique(some)) == MOST_LEARNED
    assert (np.diff(some) > 0).all()
    assert (some == learned_rows(0, train)).all()
    assert learned_rows(0, train[:10]).tolist() == train[:10].tolist()


@pytest.mark.long
def test_pairs_that_were_asked_for_are_fitted_once(monkeypatch):
    scored = []
    monkeypatch.setattr("likely.workbench.comparison.comparison.tell", scored.append)
    frame = with_a_product("binary").iloc[:200]
    lk.compare(frame, "y", everything=True, folds=2, repeats=1)
    assert [each.what for each in scored].count("additive-pairs") == 1
