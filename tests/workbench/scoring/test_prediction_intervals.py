"""Which interval a fitted model has, and the sentence of those that have none."""

import numpy as np
import pytest

import likely as lk
from likely.errors import InvalidInput
from likely.workbench.scoring.prediction_intervals import prediction_intervals

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = X[:, 0] + RNG.normal(size=60)


def test_a_class_has_no_interval_and_its_probability_has_one():
    model = lk.LogisticRegression().fit(X, Y > 0)
    assert prediction_intervals(model).names == ("p_True_low", "p_True_high")
    assert prediction_intervals(model, "mean").of == "mean"
    with pytest.raises(InvalidInput, match="predicts a class, which has no interval"):
        prediction_intervals(model, "y")


def test_a_network_has_intervals_of_numbers_and_none_of_their_mean():
    model = lk.NeuralNetworkRegressor((2,), solver="lbfgs", tol=1e-2, random_state=0).fit(X, Y)
    assert prediction_intervals(model).of == "density"
    with pytest.raises(InvalidInput, match="has no standard errors, and so no interval"):
        prediction_intervals(model, "mean")
    linear = lk.LinearRegression().fit(X, Y)
    assert [prediction_intervals(linear, of).of for of in ("auto", "mean")] == ["y", "mean"]
