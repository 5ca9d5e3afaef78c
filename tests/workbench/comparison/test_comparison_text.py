"""What a comparison says of rare classes, of scores that are not finite, and of the constant."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeRegressor

import likely as lk


def one_of_a_kind(n=200):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    y = np.where(x + rng.logistic(size=n) > 0, "yes", "no").astype(object)
    y[3] = "rare"
    return pd.DataFrame({"x": x, "y": y})


def test_a_class_of_one_row_ruins_no_comparison_and_is_named():
    found = lk.compare(one_of_a_kind(), "y", ["softmax"], folds=4, repeats=1)
    assert found.unseen == ("rare",)
    assert found.best.name == "softmax"
    assert all(np.isfinite(each.value) for each in found.entries)
    assert "'rare'" in str(found)


def test_a_score_that_is_not_finite_is_neither_best_nor_near_it():
    class Sure(LogisticRegression):
        def predict_log_proba(self, X):
            return np.full((len(X), 2), np.nan)

    frame = one_of_a_kind()[lambda d: d["y"] != "rare"]
    found = lk.compare(frame, "y", {"sure": Sure(), "logistic": "logistic"}, folds=3, repeats=1)
    assert found.best.name == "logistic"
    assert "predicted NaN as the log-probability of" in found["sure"].problem
    assert not [line for line in str(found).split("\n") if "Not clearly" in line and "sure" in line]


def test_a_constant_that_wins_by_another_metric_is_not_said_to_have_taught_nothing():
    frame = one_of_a_kind()[lambda d: d["y"] != "rare"]
    found = lk.compare(frame, "y", "logistic", metric="calibration-error", folds=3, repeats=1)
    assert found.best.name == "constant"
    assert "nothing was learned" not in str(found)
    assert "better calibration error" in str(found)


def test_threads_and_one_after_another_give_the_same_scores():
    frame = one_of_a_kind()
    serial, threads = (
        lk.compare(frame, "y", ["softmax", "naive-bayes"], folds=3, repeats=2, executor=executor)
        for executor in ("serial", "threads")
    )
    assert [e.name for e in serial.entries] == [e.name for e in threads.entries]
    for one, other in zip(serial.entries, threads.entries, strict=True):
        assert_array_equal(one.per_fold, other.per_fold)


@pytest.mark.parametrize(("wild", "clearly"), [(1.0, False), (9.0, True)])
def test_a_model_below_the_constant_is_no_alternative_and_is_named_once(wild, clearly):
    class Poor(LogisticRegression):
        def predict_log_proba(self, X):
            far = wild if len(X) % 2 else 0.0  # off in the folds of an odd size
            return np.log(np.full((len(X), 2), [1 / (1 + np.exp(far)), 1 / (1 + np.exp(-far))]))

    frame = one_of_a_kind()[lambda d: d["y"] != "rare"]
    found = lk.compare(frame, "y", {"poor": Poor(), "logistic": "logistic"}, folds=3, repeats=1)
    assert [each.name for each in found.entries] == ["logistic", "constant", "poor"]
    assert found["poor"].against_best.p >= 0.05
    assert "Not clearly worse" not in str(found)
    said = " ".join(str(found).split())
    below = "Below the baseline, though the folds do not show them clearly worse"
    worse = "Clearly worse than the baseline (constant), do not use it: poor."
    assert (below in said, worse in said) == (not clearly, clearly)
    assert clearly or "(p ≥ 0.05): poor." in said


def test_no_model_is_said_to_have_learned_nothing_beside_a_clearly_positive_metric():
    """Counts that vary more than a Gaussian: the constant has the better density, not mean."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    frame = pd.DataFrame({"x": x, "y": rng.poisson(np.exp(1 + 0.5 * x) * rng.gamma(1.0, 1.0, 500))})
    found = lk.compare(frame, "y", "linear", kind="count", repeats=1)
    assert found.best.name == "constant"
    said = " ".join(str(found).split())
    assert "ignoring the columns" not in said
    assert "But linear is clearly better by R²" in said


def test_the_verdict_about_the_baseline_is_the_paired_gain_as_in_every_other_place():
    """The t-test over folds has p = 0.006 here; the interval of the gain has 0 inside."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=120)
    frame = pd.DataFrame({"x": x, "y": np.where(0.55 * x + rng.logistic(size=120) > 0, "a", "b")})
    found = lk.compare(frame, "y", "logistic", repeats=1)
    gain, test = found.best.score.gain, found.best.against_baseline
    assert gain.low < 0 < gain.value
    assert test.p < 0.01
    assert not found.best.score.better_than_baseline
    said = " ".join(str(found).split())
    assert (
        "Best: logistic, not clearly better than the baseline: the gain over the baseline is 0.035"
        in said
    )
    verdict = said[said.index("Best:") :]  # the table above it also has seconds
    assert "0.006" not in verdict, "one rule decides, and one verdict is said"
    assert "p vs baseline" not in said
    assert found.best.facts()["gain_interval"] == [gain.low, gain.high]


def test_a_gain_over_a_baseline_of_another_link_is_not_denied():
    rng = np.random.default_rng(0)
    x, e = rng.normal(size=300), 0.5 * rng.normal(size=300)
    frame = pd.DataFrame({"x": x, "e": e, "y": rng.poisson(np.exp(0.3 * x + e))})
    found = lk.compare(frame, "y", "linear", kind="count", offset="e", repeats=1)
    assert found.best.name == "constant"
    assert found["linear"].score.better_than_baseline
    assert "nothing was learned" not in str(found)
    assert "better log-likelihood per row than the baseline (constant)" in " ".join(
        str(found).split()
    )


@pytest.mark.parametrize("metric", ["accuracy", "rmse", None])
def test_a_gain_under_a_table_of_another_metric_has_its_unit(metric):
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    y = 3 * x + rng.normal(size=200)
    frame = pd.DataFrame({"x": x, "y": y if metric == "rmse" else np.where(y > 0, "a", "b")})
    model = "linear" if metric == "rmse" else "logistic"
    said = " ".join(str(lk.compare(frame, "y", model, repeats=1, metric=metric)).split())
    unit = "" if metric is None else " (per row, in nats)"
    assert f"clearly better than the baseline: the gain over the baseline{unit} is " in said


def test_a_gain_in_squares_has_no_unit_of_information():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    frame = pd.DataFrame({"x": x, "y": 3 * x + rng.normal(size=200)})
    found = lk.compare(frame, "y", {"tree": DecisionTreeRegressor()}, repeats=1, metric="rmse")
    assert not found["tree"].score.in_nats
    assert "the gain over the baseline is " in " ".join(str(found).split())


def test_notes_about_weights_are_in_the_facts():
    rng = np.random.default_rng(0)
    x = rng.normal(size=100)
    frame = pd.DataFrame(
        {"x": x, "w": 7.0, "y": np.where(x + rng.logistic(size=100) > 0, "a", "b")}
    )
    found = lk.compare(frame, "y", "logistic", repeats=1, weight="w")
    (note,) = found.facts()["notes"]
    assert note.startswith("Weights count rows: the total weight is 700 for 100 rows")
    assert note in " ".join(str(found).split())


def overdispersed(n=400):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    mean = np.exp(1 + 0.7 * x) * rng.gamma(0.5, 2.0, size=n)
    return pd.DataFrame({"x": x, "y": rng.poisson(mean)})


def test_a_model_that_is_worse_than_the_constant_is_not_to_be_used_and_has_its_own_baseline():
    """A line is better than a Gaussian constant, and worse than a negative binomial one."""
    found = lk.compare(overdispersed(), "y", ["glm-poisson", "linear"], kind="count", repeats=1)
    said = " ".join(str(found).split())
    assert "Clearly worse than the baseline (constant), do not use it: linear" in said
    assert "Its means follow the columns, but this family does not suit the target" in said
    poisson, linear = found["glm-poisson"], found["linear"]
    assert linear.worse_than_baseline
    assert linear.own.family == "gaussian"
    assert linear.own.gain.low > 0
    assert linear.facts()["own_baseline"]["gain"] == linear.own.gain.value
    assert poisson.score.better_than_baseline  # its spread is estimated: a negative binomial's
    assert poisson.own is None
    assert found["constant"].own is None


def test_the_own_baseline_is_the_constant_of_the_family_of_each_fold():
    from scipy.stats import norm

    def log_mass(y, mean, spread):
        return np.log(norm.cdf(y + 0.5, mean, spread) - norm.cdf(y - 0.5, mean, spread))

    frame = overdispersed(100).clip(upper=12)  # so that SciPy's masses do not round to 0
    found = lk.compare(frame, "y", ["linear"], kind="count", repeats=1)
    folds, gains = found.folds.of_repeat(0), []
    y = frame["y"].to_numpy()
    for fold in folds:
        model = lk.Prepared(lk.LinearRegression()).fit(frame[["x"]].iloc[fold.train], y[fold.train])
        mean = model.predict(frame[["x"]].iloc[fold.test])
        spread = np.sqrt(model.predictive_family().dispersion)
        held, seen = y[fold.test], y[fold.train]
        gains += list(log_mass(held, mean, spread) - log_mass(held, seen.mean(), seen.std(ddof=1)))
    assert found["linear"].own.gain.value == pytest.approx(np.mean(gains), rel=1e-4)


def test_a_model_of_the_usual_family_has_no_other_baseline_and_counts_no_line():
    frame = overdispersed(120)
    found = lk.compare(frame, "y", kind="count", folds=3, repeats=1)
    names = {each.name for each in found.entries}
    of_counts = {"additive", "glm-poisson", "glm-negative-binomial"}
    assert names == {"constant", "additive-gaussian", "linear"} | of_counts
    assert found["glm-negative-binomial"].own is None
    real = lk.compare(frame, "y", kind="real", folds=3, repeats=1)
    assert "linear" in {each.name for each in real.entries}
    assert real["linear"].own is None


def test_a_row_that_alone_ruins_a_model_is_named_with_its_unusual_cells():
    """Diamonds: a length of 0 in one row, of which the log link makes a price of millions."""
    rng = np.random.default_rng(0)
    size = rng.normal(5, 0.5, 150)
    price = np.exp(2 * size + 0.2 * rng.normal(size=150))
    size[17] = 60.0
    frame = pd.DataFrame({"size": size, "weight": rng.normal(size=150), "price": price})
    found = lk.compare(frame, "price", ["glm-gamma"], kind="positive", repeats=1)
    lone = found["glm-gamma"].lone
    assert lone.rows == (17,)
    assert lone.gain < 0 < lone.without
    assert found["glm-gamma"].facts()["lone_rows"]["rows"] == [17]
    said = " ".join(str(found).split())
    assert "glm-gamma: One row carries" in said
    assert "row 17 (size = 60). Without it, the mean gain per row would be" in said
    assert found["constant"].lone is None
