"""Start values: their variance, their seed, and why they differ between units."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likely.errors import InvalidInput
from likely.neural.architecture import Architecture
from likely.neural.initialise import INITIALISERS, initial_parameters

WIDE = Architecture.of(300, (200,), 100, activation="tanh")


@pytest.mark.parametrize("scheme", [name for name in INITIALISERS if name != "zeros"])
def test_variances_are_as_stated(scheme):
    theta = initial_parameters(WIDE, scheme, seed=0)
    for layer, (inputs, outputs) in zip(WIDE.unpack(theta), [(300, 200), (200, 100)], strict=True):
        expected = 2 / (inputs + outputs) if scheme.startswith("glorot") else 2 / inputs
        w = layer.weight.ravel()
        error = np.sqrt(((w**2 - expected) ** 2).mean() / w.size)  # standard error of the variance
        assert abs((w**2).mean() - expected) < 4 * error
        assert abs(w.mean()) < 4 * np.sqrt(expected / w.size)
        assert_array_equal(layer.bias, 0)
        if scheme.endswith("uniform"):
            assert np.sqrt(3 * expected) * 0.999 < np.abs(w).max() <= np.sqrt(3 * expected)


def test_auto_follows_the_activation():
    network = Architecture.of(30, (20, 20), 10, activation=("relu", "tanh"))
    first, second, last = network.unpack(initial_parameters(network, "auto", seed=0))
    bounds = [np.abs(layer.weight).max() for layer in (first, second, last)]
    assert_allclose(bounds, [np.sqrt(6 / 30), np.sqrt(6 / 40), np.sqrt(6 / 30)], rtol=0.03)
    linear = Architecture.of(30, (), 10)
    assert_array_equal(initial_parameters(linear, "auto", seed=0), 0)


def test_the_seed_decides():
    first, again = (initial_parameters(WIDE, seed=4) for _ in range(2))
    assert_array_equal(first, again)
    assert (initial_parameters(WIDE, seed=5) != first).mean() > 0.9
    single = initial_parameters(WIDE, seed=4, dtype=np.float32)
    assert_array_equal(single, first.astype(np.float32))


def test_arrays_are_taken_and_copied():
    network = Architecture.of(2, (2,), 1, n_extra=1)
    theta = np.arange(10.0)
    taken = initial_parameters(network, theta)
    assert_array_equal(taken, theta)
    assert not np.shares_memory(taken, theta)
    assert_array_equal(initial_parameters(network, network.unpack(theta), extra=[9.0]), theta)
    pairs = [([[0, 1], [2, 3]], [4, 5]), ([[6, 7]], [8])]
    assert_array_equal(initial_parameters(network, pairs, extra=[9]), theta)
    assert_array_equal(initial_parameters(network, list(range(10))), theta)


@pytest.mark.parametrize(
    ("scheme", "message"),
    [
        ("zeros", "would stay equal"),
        ("glorot", "Did you mean 'glorot-"),
        (np.zeros(3), r"shape \(3,\) were given; expected \(9,\)"),
        (np.full(9, np.nan), "Start value 0 is not finite"),
        ([(np.ones((2, 2)), np.zeros(2))], "1 layers were given; expected 2"),
    ],
)
def test_bad_start_values_are_refused(scheme, message):
    with pytest.raises(InvalidInput, match=message):
        initial_parameters(Architecture.of(2, (2,), 1), scheme)
