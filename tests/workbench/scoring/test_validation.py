import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import kstest, norm

from likely import GLM, LinearRegression, NaiveBayes
from likely.reports.sections.calibration import calibration, ranking
from likely.runs import RunFolder, read_run
from likely.workbench.data.opening import dataset
from likely.workbench.data.task import task_of
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.scoring import validation
from likely.workbench.scoring.cross_validation import Loop, cross_validate
from tests.reports.runs_by_hand import churn, counts, flowers, held_out, write_run


def validated(table, target, model, kind=None):
    return held_out(Prepared(model), table, task_of(table, target, kind=kind))


def test_places_in_the_predicted_distribution_are_uniform_where_the_model_is_right():
    held = validated(counts(2000), "visits", GLM(response="poisson"), "count")
    assert kstest(held.pit, "uniform").pvalue > 0.01
    assert 0 < held.pit.min() < held.pit.max() < 1


def test_places_show_a_spread_that_is_too_small():
    rng = np.random.default_rng(1)
    x = rng.normal(size=2000)
    wild = pa.table({"x": x, "y": rng.poisson(rng.gamma(0.5, np.exp(1 + 0.3 * x) / 0.5))})
    narrow = validated(wild, "y", GLM(response="negative-binomial(0.01)"), "count")
    assert kstest(narrow.pit, "uniform").pvalue < 1e-6
    estimated = validated(wild, "y", GLM(response="poisson"), "count")
    assert kstest(estimated.pit, "uniform").pvalue > 0.01  # of a negative binomial around its means


@pytest.mark.parametrize("kind", ["real", "count"])
def test_places_in_a_gaussian_are_its_probabilities_of_small_numbers_and_of_whole_ones(kind):
    rng = np.random.default_rng(2)
    x = rng.normal(size=300)
    y = 0.1 * (x + rng.normal(size=300)) if kind == "real" else rng.poisson(np.exp(2 + 0.1 * x))
    rows = dataset(pa.table({"x": x, "y": y}), "y", kind=kind).with_task()
    held = cross_validate(Prepared(LinearRegression()), Loop(rows, rows.folds(3))).held
    found = validation._pit(held, rng)
    sd = np.sqrt([held.families[k].dispersion for k in held.fold])
    half = 0.5 if kind == "count" else 0.0
    low, high = (norm.cdf(y + at - held.prediction.means, scale=sd) for at in (-half, half))
    chance = 4 * np.sqrt(0.25 / validation.DRAWS) + 1 / validation.DRAWS
    assert ((found > low - chance) & (found < high + chance)).all()
    assert np.abs(found - (low + high) / 2).mean() < chance / 2 + (high - low).mean() / 2


@pytest.mark.parametrize("mean", [0.0, np.inf])
def test_there_are_no_places_where_a_mean_has_no_distribution(mean):
    rows = dataset(counts(60), "visits", kind="count").with_task()
    held = cross_validate(Prepared(GLM(response="poisson")), Loop(rows, rows.folds(3))).held
    rng = np.random.default_rng(0)
    assert validation._pit(held, rng) is not None
    means = held.prediction.mean.copy()
    means[7] = mean
    other = replace(held, prediction=replace(held.prediction, mean=means))
    assert validation._pit(other, rng) is None


def test_each_row_is_predicted_without_itself():
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.normal(size=60), "y": rng.normal(size=60)})
    table = table.set_column(1, "y", pa.array([*table["y"].to_pylist()[:-1], 1e6]))
    held = validated(table, "y", LinearRegression())
    assert abs(held.prediction.means[-1]) < 1e6 / 2  # a fit that had seen it would be near it
    assert held.surprising[0]["row"] == 59


def test_rows_without_a_target_keep_the_places_of_the_others():
    table = churn(200)
    labels = [None if i in (3, 4) else label for i, label in enumerate(table["churn"].to_pylist())]
    held = validated(table.set_column(4, "churn", pa.array(labels)), "churn", NaiveBayes())
    assert held.row.tolist() == [i for i in range(200) if i not in (3, 4)]
    for each in held.surprising:
        assert each["truth"] == labels[each["row"]]
        assert each["cells"]["months"] == table["months"][each["row"]].as_py()


def test_the_most_surprising_rows_have_the_largest_losses():
    held = validated(churn(), "churn", NaiveBayes())
    losses = held.prediction.losses(held.truth)
    largest = np.sort(losses)[::-1][: len(held.surprising)]
    np.testing.assert_allclose([each["loss"] for each in held.surprising], largest)


def test_writing_and_reading_keep_every_number(tmp_path):
    held = validated(counts(), "visits", GLM(response="poisson"), "count")
    RunFolder(tmp_path).write_validation(held)
    found = RunFolder(tmp_path).validation()
    for name in ("row", "fold", "pit"):
        assert np.array_equal(getattr(found, name), getattr(held, name))
    assert np.array_equal(found.prediction.mean, held.prediction.mean)
    assert np.array_equal(found.prediction.log_density, held.prediction.log_density)
    assert list(found.surprising) == list(held.surprising)
    assert found.score == held.score


def test_each_of_several_classes_has_a_diagram_and_its_share(tmp_path):
    folder = write_run(tmp_path / "run", flowers(), "species", NaiveBayes(), "naive-bayes")
    facts = read_run(folder)
    diagram = calibration(facts).blocks[0].blocks[0]
    assert len(set(re.findall(r'id="FIGURE-(axes_\d+)"', diagram.svg))) == 3
    precision = ranking(facts).blocks[0].blocks[1]
    assert precision.svg.count("(0.333)") == 3
    assert "by chance 0.333" in precision.label
