"""Why start values are random: units that begin equal stay equal for ever."""

import numpy as np
from numpy.testing import assert_array_equal

import likely


def test_equal_units_stay_equal_and_random_ones_do_not():
    """Two hidden units with the same weights in, bias, and weights out; no dropout."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    twins = [
        (np.tile(rng.normal(size=3), (2, 1)), np.zeros(2)),
        (np.full((1, 2), 0.3), np.zeros(1)),
    ]
    settings = {"max_epochs": 10, "tol": None, "dtype": "float64", "random_state": 0}
    for activation in ("tanh", "relu", "sigmoid"):
        model = likely.NeuralNetworkClassifier(
            (2,), activation=activation, initialise=twins, **settings
        )
        first, second = model.fit(X, y).weights_
        assert_array_equal(first[0], first[1])
        assert second[0, 0] == second[0, 1] != 0.3  # trained, and still equal
        model = likely.NeuralNetworkClassifier((2,), activation=activation, **settings).fit(X, y)
        assert np.abs(model.weights_[0][0] - model.weights_[0][1]).max() > 0.1
