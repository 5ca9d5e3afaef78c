"""Temperature of scores: the derivatives of its loss, and its optimum."""

from functools import partial

import numpy as np
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from likely.calibrate.temperature import (
    TemperatureObjective,
    search_temperature,
    temperature_loss,
)


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
