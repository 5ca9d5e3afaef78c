"""The score of rows: totals that add, groups, repeats, the paired gain, and JSON."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import t

from likely.metrics import (
    METRICS,
    Prediction,
    Score,
    ScoreTotals,
    Truth,
    constant_prediction,
    mean_score,
    metrics_for,
    score_of,
)
from likely.metrics.prediction import IMPOSSIBLE
from likely.metrics.score import why_dashes
from tests.metric_data import some_rows


def rows_of(kind, seed=0, n=80):
    truth, prediction = some_rows(kind, seed, n)
    return truth, prediction, constant_prediction(truth, truth)


@pytest.mark.parametrize("kind", ["binary", "classes", "ordinal", "count", "positive", "real"])
def test_totals_of_chunks_add_to_the_score_of_all_rows(kind):
    truth, prediction, constant = rows_of(kind)
    metrics = metrics_for(kind)
    whole = score_of(metrics, truth, prediction, constant)
    parts = [
        ScoreTotals.of(metrics, truth.rows(r), prediction.rows(r), constant.rows(r))
        for r in (np.arange(30), np.arange(30, 80))
    ]
    found = (parts[0] + parts[1]).score()
    assert list(found.estimates) == [m.name for m in metrics if m.suits(prediction)]
    for name, estimate in whole.estimates.items():
        assert_allclose(found.estimates[name], estimate, rtol=1e-9, atol=1e-12)
    assert_allclose(found.gain, whole.gain, rtol=1e-9)
    assert found.n_rows == 80


def test_the_gain_is_paired_by_row_with_students_interval_and_room_for_a_surprise():
    truth, prediction, constant = rows_of("binary")
    saved = constant.losses(truth) - prediction.losses(truth)
    found = score_of([METRICS["log-loss"]], truth, prediction, constant).gain
    half = t.ppf(0.975, 79) * saved.std(ddof=1) / np.sqrt(80)
    p = np.exp(prediction.log_p)
    wrong = 1 - prediction.predicted  # the class of a surprise
    rows = np.arange(80)
    value = (prediction.log_p - constant.log_p)[rows, wrong]
    more = np.append(saved, np.average(value, weights=p[rows, wrong]))
    low = more.mean() - t.ppf(0.975, 80) * more.std(ddof=1) / 9
    assert low < saved.mean() - half
    assert_allclose(found, (saved.mean(), low, saved.mean() + half, 0.0))


def test_groups_have_one_degree_of_freedom_less_than_there_are():
    truth, prediction, constant = rows_of("binary")
    groups = np.arange(80) // 8
    found = score_of([METRICS["log-loss"]], truth, prediction, constant, groups=groups)
    loss = prediction.losses(truth)
    totals = np.array([(loss - loss.mean())[groups == g].sum() for g in range(10)])
    half = t.ppf(0.975, 9) * np.sqrt(10 / 9 * np.square(totals).sum()) / 80
    assert found.n_groups == 10
    assert found.main.value - found.main.low == pytest.approx(half)


def test_squared_errors_are_compared_where_a_model_has_no_density():
    truth, prediction, constant = rows_of("real")
    plain = Prediction.of_numbers(100 * prediction.means)
    found = score_of(metrics_for("real"), truth, plain, constant)
    assert "log-likelihood" not in found.estimates
    errors = np.square(truth.y - constant.means) - np.square(truth.y - plain.means)
    assert found.gain.value == pytest.approx(errors.mean())  # not cut off where it is large


def test_a_density_of_0_has_a_price_in_the_score_and_in_the_gain():
    truth = Truth(np.arange(40.0), kind="real")
    density = np.full(40, -1.0)
    density[3] = -np.inf
    said = Prediction.of_numbers(truth.y, density)
    found = score_of(metrics_for("real"), truth, said, constant_prediction(truth, truth))
    assert found.main.value == pytest.approx(-(39 + IMPOSSIBLE) / 40)
    assert np.isfinite(found.main).all()
    assert found.gain.value == pytest.approx(found.main.value - found.main.baseline)
    assert said.n_impossible(truth) == 1


@pytest.mark.parametrize("kind", ["binary", "count"])
def test_the_constant_scores_what_is_said_to_be_the_constant(kind):
    truth, prediction, constant = rows_of(kind)
    metrics = metrics_for(kind)
    beside = score_of(metrics, truth, prediction, constant)
    alone = score_of(metrics, truth, None, constant)
    for name, estimate in beside.estimates.items():
        assert alone.estimates[name].value == estimate.baseline
    assert alone.gain.value == 0


def test_repeats_are_averaged():
    scores = [score_of([METRICS["brier"]], *rows_of("binary", seed)) for seed in range(3)]
    found = mean_score(scores)
    assert found.repeats == 3
    assert_allclose(found.main, np.mean([each.main for each in scores], axis=0))


def test_json_keeps_every_number_and_an_open_end():
    truth, prediction, constant = rows_of("count", n=40)
    found = score_of(metrics_for("count"), truth, prediction, constant)
    assert Score.from_json(json.loads(json.dumps(found.to_json()))) == found
    one = score_of(metrics_for("count"), *(each.rows(np.arange(1)) for each in rows_of("count")))
    read = Score.from_json(json.loads(json.dumps(one.to_json(), allow_nan=False)))
    assert read.gain.low == -np.inf
    assert read.gain.high == np.inf


def test_the_constant_moves_with_exposures_and_offsets():
    rng = np.random.default_rng(0)
    exposure = rng.uniform(1, 10, 500)
    counts = Truth(rng.poisson(0.7 * exposure).astype(float), kind="count", exposure=exposure)
    assert_allclose(constant_prediction(counts, counts).means / exposure, 0.7, rtol=0.1)
    assert constant_prediction(counts, counts).median is None
    offset = rng.normal(size=500) * 30
    shifted = Truth(5 + offset + rng.normal(size=500), kind="real", offset=offset)
    found = constant_prediction(shifted, shifted)
    assert_allclose(found.means - offset, 5, atol=0.2)
    assert found.log_density.mean() == pytest.approx(-1.42, abs=0.1)  # N(0, 1)'s entropy


def test_a_dash_is_explained_for_classes_and_for_numbers():
    assert why_dashes([]) == ""
    assert why_dashes(["log-likelihood"]).endswith("because a predicted mean is 0 or below.")
    told = why_dashes(["AUC"], of_classes=True)
    assert told.endswith("for AUC: undefined, as where all scored rows are of one class.")
