"""What a model says, in the form that metrics read."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC

import likely as lk
from likely.errors import InvalidInput, UnseenCategories
from likely.inputs.foreign_models import new_spread, predictive_family
from likely.likelihoods import Gaussian
from likely.special import LOG_FLOOR
from likely.workbench.data.task import Task, task_of
from likely.workbench.scoring.predictions import predict_for, prediction_intervals, truth_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = X[:, 0] + RNG.normal(size=60)
COUNTS = np.random.default_rng(3).poisson(40.0, 40)  # whose spread is a Poisson's


def numbers(y):
    x = np.random.default_rng(0).normal(size=len(y))
    return pa.table({"x": x, "y": pa.array(y)})


def test_classes_are_put_in_the_order_of_the_task_and_unseen_ones_at_the_floor():
    table = numbers(["b", "a", "b", "a"] * 5)
    task = Task("classes", "y", ("c", "b", "a"))
    model = lk.NaiveBayes().fit(table.select(["x"]), table.column("y"))
    prediction = predict_for(model, task, table)
    assert prediction.unseen == ("c",)
    assert_array_equal(prediction.log_p[:, 0], LOG_FLOOR)
    assert_allclose(prediction.log_p[:, [2, 1]], model.predict_log_proba(table.select(["x"])))


@pytest.mark.filterwarnings("ignore:X has feature names")
def test_a_model_without_names_is_given_all_columns_but_the_target():
    table = pa.table({"x": X[:, 0], "y": Y, "z": X[:, 1]})
    model = Ridge().fit(X, Y)
    prediction = predict_for(model, task_of(table, "y"), table)
    assert_allclose(prediction.mean, model.predict(X))


def test_a_class_unknown_to_the_task_is_refused():
    table = numbers(["b", "a", "b", "a"] * 5)
    model = lk.NaiveBayes().fit(table.select(["x"]), table.column("y"))
    with pytest.raises(InvalidInput, match="knows a class 'b'"):
        predict_for(model, Task("binary", "y", ("a", "z")), table)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (lk.LinearRegression(), np.linspace(-1, 2, 40)),
        (lk.GLM("gamma", "log"), np.linspace(1, 2, 40)),
        (lk.GLM("poisson"), COUNTS),
        (lk.PenaltyPath(lk.GLM("poisson"), n_penalties=5), COUNTS),
        (lk.PenaltyPath(lk.LinearRegression(), n_penalties=5), np.linspace(-1, 2, 40)),
    ],
)
def test_densities_are_those_of_the_predictive_distribution(model, y):
    table = numbers(y)
    model.fit(table.select(["x"]), y)
    inner = getattr(model, "model_", model)
    prediction = predict_for(model, task_of(table, "y"), table)
    expected = inner.predict_distribution(table.select(["x"])).log_prob(y)
    assert_allclose(prediction.log_density, expected)
    if isinstance(inner, lk.GLM):  # that of a Gaussian is at RSS/n, where it is largest
        assert_allclose(expected.sum(), inner.log_likelihood(table.select(["x"]), y))
    assert_allclose(prediction.means, model.predict(table.select(["x"])))


def test_a_gaussian_of_counts_is_given_the_mass_of_the_count():
    y = np.random.default_rng(1).poisson(30, 60)
    table = numbers(y)
    model = lk.LinearRegression().fit(table.select(["x"]), y)
    prediction = predict_for(model, task_of(table, "y", kind="count"), table)
    law = stats.norm(prediction.means, np.sqrt(model.dispersion_))
    assert_allclose(np.exp(prediction.log_density), law.cdf(y + 0.5) - law.cdf(y - 0.5))


def test_log_mass_is_finite_and_symmetric_far_out_and_sums_to_one():
    far = Gaussian().log_mass(np.array([1000.0, -1000.0]), np.zeros(2), 1.0)
    assert np.isfinite(far).all()
    assert_allclose(far[0], far[1])
    counts = np.arange(-60.0, 61.0)
    assert_allclose(np.exp(Gaussian().log_mass(counts, np.full(121, 0.3), 25.0)).sum(), 1)


def test_the_density_of_a_held_out_category_has_its_variance():
    """Else groups that are held out as a whole make the model seem worse than a constant."""
    rng = np.random.default_rng(1)
    site, x = np.repeat(np.arange(40), 8), rng.uniform(size=320)
    y = rng.poisson(np.exp(1 + np.sin(6 * x) + rng.normal(0, 1, 40)[site]))
    table = pa.table({"x": x, "site": [f"s{k}" for k in site], "y": y})
    model = lk.Prepared(lk.AdditiveModel("poisson")).fit(table[:240].select(["x", "site"]), y[:240])
    new, task = table[240:], task_of(table, "y")
    with pytest.warns(UnseenCategories):
        prediction = predict_for(model, task, new)
    family = predictive_family(model)
    s = float(np.sqrt(model.model_.dispersion_ / model.model_.strength_[-1]))
    assert 0.7 < s < 1.4
    expected = family.log_density(y[240:], prediction.means, np.full(80, s), counts=True)
    assert_allclose(prediction.log_density, expected)
    assert prediction.log_density.mean() > stats.poisson(y.mean()).logpmf(y[240:]).mean() + 0.3
    known = predict_for(model, task, table[:240])
    assert_allclose(known.log_density, family.log_density(y[:240], known.means, counts=True))


@pytest.mark.parametrize(
    "around",
    [
        make_pipeline,
        lk.Prepared,
        lambda model: make_pipeline(FunctionTransformer(), "passthrough", model),
        lambda model: lk.Prepared(make_pipeline(FunctionTransformer(), model)),
        lambda model: GridSearchCV(make_pipeline(model), {"additivemodel__terms": ["auto"]}, cv=2),
    ],
)
@pytest.mark.filterwarnings("ignore::likely.errors.UnseenCategories")
def test_a_pipeline_or_a_search_is_scored_as_the_model_inside(around):
    rng = np.random.default_rng(2)
    site = np.tile(np.arange(12), 10)
    y = rng.normal(size=12)[site] + rng.normal(0, 0.3, 120)
    frame = pd.DataFrame({"site": [f"s{k}" for k in site]})
    new = frame.replace("s3", "new")
    bare, model = (each.fit(frame, y) for each in (lk.AdditiveModel(), around(lk.AdditiveModel())))
    assert (bare.new_spread(new) > 0).sum() == 10
    assert_allclose(new_spread(model, new), bare.new_spread(new))
    expected, found = (
        lk.permutation_importance(each, new, y, repeats=1).increase for each in (bare, model)
    )
    assert_allclose(found, expected)
    table = pa.table({**new, "y": y})
    expected, found = (
        predict_for(each, task_of(table, "y"), table).log_density for each in (bare, model)
    )
    assert_allclose(found, expected)


def test_a_mean_outside_the_family_has_no_density():
    table = numbers(np.array([1, 2, 3, 4]))
    spread = predictive_family(lk.GLM("poisson").fit(table.select(["x"]), [1, 2, 3, 4]))
    found = spread.log_density(np.array([1.0, 1.0]), np.array([-1.0, 2.0]), counts=True)
    assert found[0] == -np.inf
    assert_allclose(found[1], stats.poisson(2).logpmf(1))


def test_other_libraries_models_are_read_as_far_as_they_speak():
    table = numbers(np.linspace(0.5, 2, 30))
    X, y = table.select(["x"]), table.column("y").to_numpy()
    ridge = Ridge().fit(X.to_pandas(), y)
    assert predictive_family(ridge) is None
    pipeline = make_pipeline(StandardScaler(), lk.LinearRegression())
    pipeline.fit(X.to_pandas(), y)
    assert predictive_family(pipeline).dispersion == pipeline[-1].dispersion_
    labels = numbers(["a", "b"] * 10)
    frame = labels.select(["x"]).to_pandas()
    theirs = Theirs().fit(frame, labels.column("y").to_pylist())
    prediction = predict_for(theirs, task_of(labels, "y"), labels)
    assert_allclose(np.exp(prediction.log_p), theirs.predict_proba(frame))
    machine = LinearSVC().fit(frame, labels.column("y").to_pylist())
    said = predict_for(machine, task_of(labels, "y"), labels)
    assert said.log_proba is None
    assert np.array(["a", "b"])[said.predicted].tolist() == machine.predict(frame).tolist()


def test_a_row_without_a_target_has_no_truth():
    table = numbers(["a", "b", None])
    with pytest.raises(InvalidInput, match=r"row 2 .counted from 0.*Leave such rows out"):
        truth_of(task_of(table, "y"), table)


def test_a_class_has_no_interval_and_its_probability_has_one():
    model = lk.LogisticRegression().fit(X, Y > 0)
    assert prediction_intervals(model).names == ("p_True_low", "p_True_high")
    assert prediction_intervals(model, "mean").of == "mean"
    with pytest.raises(InvalidInput, match="predicts a class, which has no interval"):
        prediction_intervals(model, "y")


def test_the_probability_of_an_additive_model_of_two_classes_has_an_interval():
    model = lk.AdditiveClassifier().fit(X, Y > 0)
    found = prediction_intervals(model)
    assert (found.names, found.of) == (("p_True_low", "p_True_high"), "mean")
    low, high = found.values(X, 0.9).T
    p = model.predict_proba(X)[:, 1]
    assert ((low > 0) & (low < p) & (p < high) & (high < 1)).all()
    several = lk.AdditiveClassifier().fit(X, np.digitize(Y, [-0.5, 0.5]))
    with pytest.raises(
        InvalidInput, match="AdditiveClassifier has no interval for its probabilities"
    ):
        prediction_intervals(several)


def test_the_intervals_of_an_additive_model_include_the_uncertainty_of_its_mean():
    """24 curves on 200 rows: nominally 0.9, of new rows 0.82 are covered by the density alone."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(200, 24)), rng.normal(size=(4000, 24))
    model = lk.AdditiveModel(extrapolate="linear")
    model.fit(X, X.sum(axis=1) + rng.normal(size=200))
    found, y = prediction_intervals(model), new.sum(axis=1) + rng.normal(size=4000)
    low, high = found.values(new, 0.9).T
    alone = model.predict_distribution(new).interval(0.9).T
    assert np.mean((low <= y) & (y <= high)) > np.mean((alone[0] <= y) & (y <= alone[1])) + 0.02
    assert ((low < alone[0]) & (high > alone[1])).all()
    assert (found.of, found.remark) == ("y", "")
    assert prediction_intervals(model, "mean").of == "mean"


def test_a_network_has_intervals_of_numbers_and_none_of_their_mean():
    model = lk.NeuralNetworkRegressor((2,), solver="lbfgs", tol=1e-2, random_state=0).fit(X, Y)
    assert prediction_intervals(model).of == "density"
    with pytest.raises(InvalidInput, match="has no standard errors, and so no interval"):
        prediction_intervals(model, "mean")
    linear = lk.LinearRegression().fit(X, Y)
    assert [prediction_intervals(linear, of).of for of in ("auto", "mean")] == ["y", "mean"]


def test_by_default_the_interval_of_a_share_is_that_of_its_mean_and_of_a_number_that_of_y():
    found = {}
    for response, y in (("bernoulli", Y > 0), ("gaussian", Y)):
        model = lk.GLM(response).fit(X, y)
        found[response] = [prediction_intervals(model, of).of for of in ("auto", "mean", "y")]
    assert found == {"bernoulli": ["mean", "mean", "y"], "gaussian": ["y", "mean", "y"]}
