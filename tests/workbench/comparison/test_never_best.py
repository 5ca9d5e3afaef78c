"""A verdict that one metric cannot fool: exploding means are never the best, nor suggested.

The tables have the three causes of explosions: straight lines under a log link, a Poisson on counts
that vary more, and columns that extrapolate.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import QuantileRegressor

import likely as lk
from likely.cli.main import run
from likely.workbench.comparison.records import joined_comparisons


def balances(n=400, seed=0, noise=90):
    """Dollars from 0 to 1,999, of which a quarter are 0: a line, cut at 0."""
    rng = np.random.default_rng(seed)
    income = rng.gamma(2, 20, n) + 10
    limit = 1500 + 60 * income + rng.normal(0, 1500, n).clip(-3000)
    student = rng.random(n) < 0.1
    y = -520 + 0.27 * limit - 7.6 * income + 420 * student + rng.normal(0, noise, n)
    frame = pd.DataFrame({"income": income, "limit": limit, "student": student.astype(int)})
    return frame.assign(balance=y.clip(0, 1999).round().astype(int))


def visits(n=4000, seed=0):
    """Counts that vary more than a Poisson, which grow with the logarithm of a skewed column."""
    rng = np.random.default_rng(seed)
    spent, ill = np.exp(rng.normal(0, 1.5, n)), rng.random(n) < 0.3
    mean = 0.3 + 1.2 * ill + 0.5 * np.log1p(spent)
    y = rng.poisson(mean * rng.gamma(1.0, 1.0, n))
    return pd.DataFrame({"spent": spent, "ill": ill.astype(int), "visits": y})


def salaries(n=263, seed=0):
    """Amounts that level off in a long-tailed column."""
    rng = np.random.default_rng(seed)
    years, hits = rng.integers(1, 24, n), rng.gamma(2, 50, n)
    career = hits * years * rng.uniform(0.5, 1.2, n)
    y = 70 + 900 * (1 - np.exp(-career / 900)) * rng.gamma(8, 1 / 8, n) + 0.5 * hits
    return pd.DataFrame({"years": years, "hits": hits, "career": career, "salary": y.round(3)})


def weakly_penalised(response, link="log"):
    """A line under a log link with a penalty that standardised columns hardly notice."""
    return lk.Prepared(lk.GLM(response, link, l2=1.0))


TABLES = {
    "a line under a log link": (balances, "balance", None, "negative-binomial"),
    "counts that vary more than a Poisson": (visits, "visits", "count", "negative-binomial"),
    "extrapolation": (salaries, "salary", None, "gamma"),
}


def models_beside(response):
    """One whose means explode, and others."""
    others = {} if response == "gamma" else {"poisson": weakly_penalised("poisson")}
    return {"linear": "linear", **others, "runaway": weakly_penalised(response)}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.long
def test_the_default_models_have_means_that_do_not_explode(name):
    make, target, kind, _ = TABLES[name]
    found = lk.compare(make(), target, kind=kind)
    assert found.best.name.removesuffix("-pairs") in ("additive", "additive-gaussian")
    assert found.best.worse_by == ()
    assert found.best.others["r2"] > max(found["linear"].others["r2"] - 0.02, 0.05)


@pytest.mark.parametrize("name", TABLES)
def test_a_model_whose_means_explode_is_listed_below_and_the_reason_is_given(name):
    make, target, kind, response = TABLES[name]
    exploding = "runaway"
    found = lk.compare(make(), target, models_beside(response), kind=kind)
    bad, best = found[exploding], found.best
    assert bad.value > best.value, "by likelihood alone it would be the best"
    assert bad.others["r2"] < 0 < best.others["r2"]
    assert best.name not in ("constant", exploding)
    said = " ".join(str(found).split())
    assert f"Best: {best.name}" in said
    assert f"than {best.name}, but is not called the best: its means are worse" in said
    assert "far outside the observed range" in said
    (line,) = [each for each in found.facts()["models"] if each["model"] == exploding]
    assert line["worse_by"] == list(bad.worse_by)
    joined = joined_comparisons([found.facts()], [found.facts()])
    assert joined[0]["best"] == best.name, "nor in a comparison that was saved and joined"


def test_a_line_of_whole_dollars_is_the_best_and_scored_by_the_mass_of_each_dollar():
    frame = balances(noise=50)
    models = ["linear", "glm-poisson", "glm-negative-binomial"]
    found = lk.compare(frame, "balance", models)
    assert found.task.kind == "count"
    assert found.best.name == "linear"
    assert found.best.others["r2"] > 0.85
    forced = lk.compare(frame, "balance", ["linear"], kind="real")
    # a density times the unit is nearly the mass, as a dollar is small beside the spread
    assert found.best.value == pytest.approx(forced["linear"].value, abs=1e-3)


def test_the_next_command_names_no_model_whose_means_explode(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    salaries().to_csv("salaries.csv", index=False)
    assert run(["compare", "salaries.csv", "linear", "glm-gamma", "--target", "salary"]) == 0
    told = capsys.readouterr().out
    assert "glm-gamma has a better log-likelihood" in told
    (next_command,) = [line for line in told.splitlines() if line.startswith("Next: ")]
    assert "likely tune salaries.csv linear" in next_command


def test_of_models_that_the_score_does_not_tell_apart_the_one_with_better_means_is_the_best():
    models = {"linear": "linear", "poisson": weakly_penalised("poisson")}
    found = lk.compare(balances(), "balance", models)
    assert found["poisson"].value > found["linear"].value
    assert found.best.name == "linear"
    assert found.best.against_best is None
    assert found["poisson"].against_best.p >= 0.05
    said = " ".join(str(found).split())
    assert "poisson has a better log-likelihood per row" in said
    assert f"linear predicts the means better: R² {found['linear'].others['r2']:.2f}" in said
    joined = joined_comparisons([found.facts()], [found.facts()])
    assert [each["model"] for each in joined[0]["models"]] == [each.name for each in found.entries]


def test_means_decide_no_tie_of_another_metric():
    """A quantile below the mean has the smaller absolute error, and is asked for by ``metric``."""
    rng = np.random.default_rng(9)
    x = rng.uniform(0, 3, 80)
    frame = pd.DataFrame({"x": x, "y": np.exp(x + rng.normal(0, 0.8, 80))})
    quantile = QuantileRegressor(alpha=0, quantile=0.35)
    models = {"mean": "linear", "quantile": quantile}
    found = lk.compare(frame, "y", models, metric="mae", folds=5, repeats=1)
    assert found["mean"].others["r2"] > found["quantile"].others["r2"] + 0.2
    assert found["mean"].against_best.p > 0.4
    assert [each.name for each in found.entries] == ["quantile", "mean", "constant"]
    joined = joined_comparisons([found.facts()], [found.facts()])
    assert [each["model"] for each in joined[0]["models"]] == ["quantile", "mean", "constant"]
    assert found.facts()["metric"] == "mae"


def test_good_means_are_not_barred_for_a_median_that_no_mean_reaches():
    """Of skewed counts the median has the smaller absolute error, for any model of means."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    y = rng.poisson(np.exp(0.5 * x) * rng.gamma(0.5, 2.0, 2000))
    found = lk.compare(pd.DataFrame({"x": x, "y": y}), "y", ["glm-poisson"], kind="count")
    assert found["glm-poisson"].worse_by == ()
    assert found.best.name == "glm-poisson"


def test_means_that_are_the_constant_but_for_rounding_are_not_worse():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=60), "y": rng.gamma(2.0, 3.0, 60)})
    found = lk.compare(frame, "y", ["lasso"], folds=3, repeats=1)
    assert found["lasso"].worse_by == ()


def test_where_nothing_is_left_but_the_constant_a_better_r2_is_still_said():
    """Amounts whose spread grows: a line has the better means, a constant the better density."""
    rng = np.random.default_rng(1)
    x = rng.gamma(0.4, 3.0, 600)
    frame = pd.DataFrame({"x": x, "y": (1 + x * x) * rng.gamma(20, 1 / 20, 600)})
    found = lk.compare(frame, "y", ["linear", "glm-gamma"], kind="positive", repeats=1)
    assert found["glm-gamma"].worse_by
    assert found.best.name == "constant"
    said = " ".join(str(found).split())
    assert "those that score better predict worse means than a constant" in said
    assert "But linear is clearly better by R²" in said
