"""Temperature of scores: the derivatives of its loss, and its optimum."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from likely.calibrate.temperature import (
    LEAST,
    MOST,
    TemperatureObjective,
    search_temperature,
    temperature_loss,
)
from likely.errors import NothingToCalibrate


def test_the_gradient_is_the_derivative_and_the_optimum_agrees_with_a_search():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    score = 3.0 * (rng.normal(size=(400, 3)) + np.eye(3)[y])  # three times too sure
    weight = rng.uniform(0.5, 2.0, 400)
    objective = TemperatureObjective(partial(temperature_loss, score, y, weight))

    def value(log_beta):
        return objective.second_order(np.array([log_beta])).value

    step = 1e-5
    for at in (-1.0, 0.3):
        slope = (value(at + step) - value(at - step)) / (2 * step)
        assert_allclose(objective.second_order(np.array([at])).gradient[0], slope, rtol=1e-5)
    temperature, solution = search_temperature(objective)
    assert solution.converged
    best = minimize_scalar(value, bounds=(-5, 5), method="bounded", options={"xatol": 1e-9}).x
    assert_allclose(temperature, np.exp(-best), rtol=1e-4)


def test_beyond_its_ends_the_search_stays_and_has_a_curvature():
    """Rows that are all right push log β up without end; rows that are all wrong, down."""
    score = np.array([[0.0, -1e-8], [-1e-8, 0.0]])
    for y, end in (([0, 1], MOST), ([1, 0], LEAST)):
        total = partial(temperature_loss, score, np.array(y), np.ones(2))
        beyond = TemperatureObjective(total).second_order(np.array([1.1 * end]))
        assert beyond.gradient[0] == 0 and beyond.hessian[0, 0] >= 1
        assert beyond.value == total(end).value
        before = TemperatureObjective(total).second_order(np.array([0.9 * end]))
        assert before.gradient[0] * end < 0 < before.hessian[0, 0] < 1


def test_rows_that_are_right_beyond_doubt_settle_no_temperature():
    score = np.array([[0.0, -1e4], [-1e4, 0.0]])
    objective = TemperatureObjective(partial(temperature_loss, score, np.array([0, 1]), np.ones(2)))
    with pytest.warns(NothingToCalibrate, match="already predicted correctly"):
        temperature, solution = search_temperature(objective)
    assert temperature == 1.0 and solution.converged
