"""The one loop: each row predicted by a fit that had not seen it, beside that fit's constant."""

from dataclasses import replace
from itertools import count

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression as Plain

import likely as lk
from likely.errors import InvalidInput
from likely.metrics import METRICS
from likely.output.progress import listening
from likely.workbench.data.folds import Folds
from likely.workbench.data.opening import dataset
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.scoring.cross_validation import (
    Loop,
    _same_kind,
    cross_validate,
    cross_validate_all,
    merged_fits,
)
from likely.workbench.scoring.held_out import HeldOut


def some(n=120, seed=0, kind="real"):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = x + rng.normal(size=n)
    table = pa.table({"x": x, "y": y if kind == "real" else y > 0})
    return dataset(table, "y").with_task()


def loop_of(rows, **options):
    return Loop(rows, rows.folds(4), **options)


def test_each_row_is_predicted_once_without_itself_in_the_order_of_the_rows():
    rows = some()
    loop = loop_of(rows)
    held = cross_validate(Prepared(lk.LinearRegression()), loop).held
    assert held.row.tolist() == list(range(120))
    y = rows.table["y"].to_numpy()
    for number, (train, test) in enumerate(loop.folds):
        assert (held.fold[test] == number).all()
        model = Prepared(lk.LinearRegression()).fit(rows.table.take(train), "y")
        assert_allclose(
            held.prediction.means[test], model.predict(rows.table.take(test).select(["x"]))
        )
        assert_allclose(held.constant.means[test], y[train].mean())
        assert_allclose(held.constant.median[test], np.median(y[train]))


def test_by_time_the_constant_is_that_of_the_earlier_rows():
    table = pa.table({"x": np.arange(60.0), "y": np.arange(60.0) ** 2})
    rows = dataset(table, "y").with_task()
    folds = Folds(n_rows=60, n_folds=3, time=np.arange(60))
    held = cross_validate(Prepared(lk.LinearRegression()), Loop(rows, folds)).held
    assert held.row.tolist() == list(range(15, 60))
    y = np.arange(60.0) ** 2
    for train, test in folds:
        at = np.isin(held.row, test)
        assert_allclose(held.constant.means[at], y[train].mean())


def test_merged_fits_score_as_separate_ones_do():
    rows = some(kind="binary")
    loop = loop_of(rows)
    merged = cross_validate(Prepared(lk.NaiveBayes()), loop).held
    alone = cross_validate(Prepared(lk.NaiveBayes()), replace(loop, learned=lambda rows: rows)).held
    assert_allclose(merged.prediction.log_p, alone.prediction.log_p, rtol=1e-9)


def test_the_seconds_of_merged_fits_are_shared_by_the_folds():
    loop = loop_of(some(kind="binary"), clock=count(5).__next__)
    assert cross_validate(Prepared(lk.NaiveBayes()), loop).seconds == [0.25] * 4
    assert cross_validate(Prepared(lk.LogisticRegression()), loop).seconds == [1.0] * 4


def test_totals_of_folds_add_to_the_score_of_all():
    held = cross_validate(Prepared(lk.LinearRegression()), loop_of(some())).held
    metrics = [METRICS["log-likelihood"], METRICS["r2"]]
    parts = [held.rows(held.fold == k).totals(metrics) for k in range(4)]
    total = parts[0] + parts[1] + parts[2] + parts[3]
    score = held.score(metrics)
    for name, estimate in total.score().estimates.items():
        assert_allclose(estimate, score.estimates[name], rtol=1e-9)
    assert score.how == "4-fold cross-validation"
    assert HeldOut.joined([held.rows(held.fold == k) for k in (2, 0, 3, 1)]).row.tolist() == list(
        range(120)
    )


def test_the_first_error_ends_a_model_and_not_the_others():
    rows = some()
    loop = replace(loop_of(rows), folds=rows.folds(n_folds=3, repeats=2, seed=0))
    broken = Prepared(lk.GLM(response="poisson"))  # of numbers below 0
    models = {"broken": broken, "linear": Prepared(lk.LinearRegression())}
    heard = []
    with listening(heard.append):
        first, second = cross_validate_all(models, loop)
    assert {each.total for each in heard if each.what == "fits"} == {12}  # if none fails
    assert first["broken"].problem.startswith("in fold 1 of repeat 1: ")
    assert len(first["linear"].parts) == len(second["linear"].parts) == 3
    assert "broken" not in second
    with pytest.raises(ValueError, match=r"[Pp]oisson|below 0|negative"):
        cross_validate(broken, loop_of(rows))


def test_a_model_without_a_density_is_refused_where_the_metric_needs_one():
    rows = some()
    with pytest.raises(InvalidInput, match="LinearRegression gives no density of the target"):
        cross_validate(Prepared(Plain()), loop_of(rows, metric=METRICS["log-likelihood"]))
    found = cross_validate(Prepared(Plain()), loop_of(rows, metric=METRICS["rmse"])).held.score()
    assert found.metric != "log-likelihood"


def test_rows_learned_from_are_predicted_where_that_is_asked_for():
    found = cross_validate(Prepared(lk.LinearRegression()), loop_of(some(), training=True))
    assert [len(part.row) for part in found.training] == [90] * 4
    assert found.n_learned == [90] * 4


def test_categories_are_merged_unless_one_fold_has_all_rows_of_one():
    fold = np.arange(80) % 4
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"town": rng.choice(["a", "b"], 80), "y": rng.choice(["no", "yes"], 80)})
    model = Prepared(lk.NaiveBayes())
    fits = merged_fits(model, dataset(frame, "y").with_task(), fold)
    assert len(fits) == 4
    frame.loc[fold == 2, "town"] = np.where(rng.random(20) < 0.5, "c", "a")
    assert merged_fits(model, dataset(frame, "y").with_task(), fold) is None


def test_a_column_that_varies_in_one_fold_only_is_not_merged():
    fold = np.arange(80) % 4
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=80), "y": rng.choice(["no", "yes"], 80)})
    rows, model = dataset(frame, "y").with_task(), Prepared(lk.NaiveBayes())
    assert len(merged_fits(model, rows, fold)) == 4
    frame.loc[fold != 2, "x"] = 1.5  # without that fold, the column is constant
    assert merged_fits(model, dataset(frame, "y").with_task(), fold) is None
    frame["x"] = 1.5
    assert len(merged_fits(model, dataset(frame, "y").with_task(), fold)) == 4
    frame["x"] = fold / 8  # constant within each fold, and not without it
    assert len(merged_fits(model, dataset(frame, "y").with_task(), fold)) == 4


def test_a_category_that_no_row_has_does_not_prevent_merging():
    fold = np.arange(80) % 4
    rng = np.random.default_rng(0)
    town = pd.Categorical(rng.choice(["a", "b"], 80), categories=["a", "b", "c"])
    frame = pd.DataFrame({"town": town, "y": rng.choice(["no", "yes"], 80)})
    fits = merged_fits(Prepared(lk.NaiveBayes()), dataset(frame, "y").with_task(), fold)
    assert len(fits) == 4


@pytest.mark.parametrize(
    ("n_levels", "n_left", "n_known", "same"),
    [
        (11, [15, 16], 20, True),  # more than half are different, with and without each fold
        (8, [15, 16], 20, False),  # without the first fold alone: 8 > 7.5
        (8, [16, 16], 20, True),
        (1001, [4004, 4200], 5000, True),  # too many levels for the rows
        (1001, [4004, 4200], 5005, False),  # five rows of each
        (1000, [4004, 4200], 5000, True),  # not too many
        (1001, [5005, 5100], 6000, True),
    ],
)
def test_a_column_is_of_one_kind_with_and_without_each_fold(n_levels, n_left, n_known, same):
    assert _same_kind(n_levels, np.array(n_left), n_known) == same


def test_an_error_names_its_repeat_where_there_are_several():
    rows = some()
    for repeats, where in ((1, "in fold 2"), (2, "in fold 2 of repeat 1")):
        loop = replace(loop_of(rows), folds=rows.folds(n_folds=3, repeats=repeats, seed=0))
        fold = next(iter(loop.folds))
        assert loop.fit("", None, 1, fold).where == where
