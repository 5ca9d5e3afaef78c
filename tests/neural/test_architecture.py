"""Layers, where their weights lie in θ, and how many there are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import likely
from likely.errors import InvalidInput, UnknownName
from likely.neural.architecture import INITIALISERS, Architecture, initial_parameters


def a_network(**changes):
    return Architecture.of(4, (3, 2), 2, activation=("tanh", "relu"), **changes)


def test_layers_are_views_of_theta():
    network = a_network(n_extra=2)
    theta = np.zeros(network.n_parameters, dtype=np.float32)
    for number, layer in enumerate(network.unpack(theta), 1):
        layer.weight[...] = number
        layer.bias[...] = -number
    network.extra(theta)[...] = 9
    assert_array_equal(theta, np.repeat([1, -1, 2, -2, 3, -3, 9], [12, 3, 6, 2, 4, 2, 2]))


def test_packing_undoes_unpacking():
    network = a_network(n_extra=1)
    theta = np.random.default_rng(0).normal(size=network.n_parameters)
    assert_array_equal(network.pack(network.unpack(theta), network.extra(theta)), theta)


def test_parameters_are_counted():
    assert a_network().n_parameters_by_layer == (15, 8, 6)
    assert a_network(bias=False, n_extra=3).n_parameters == 12 + 6 + 4 + 3
    assert a_network(output_bias=False).n_parameters_by_layer == (15, 8, 4)


def test_penalties_are_on_weights_alone():
    network = a_network(n_extra=2)
    layers = network.unpack(network.penalised)
    assert all((layer.weight == 1).all() and (layer.bias == 0).all() for layer in layers)
    assert_array_equal(network.extra(network.penalised), 0)


def test_a_trainable_mask_covers_whole_layers():
    network = a_network(n_extra=2)
    mask = network.trainable_mask((False, True, True))
    assert_array_equal(mask, np.arange(network.n_parameters) >= 15)
    assert not network.extra(network.trainable_mask((True, True, False))).any()


def test_the_summary_has_the_shapes_and_the_total():
    text = a_network(n_extra=1).summary()
    assert "3 × 4" in text and "thresholds" in text
    assert text.splitlines()[-1].split() == ["total", "30"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Architecture.of(3, (0,), 1), "Layer 1 has 0 units.*hidden=\\(\\)"),
        (lambda: Architecture.of(3, (2.5,), 1), "2.5 units"),
        (lambda: Architecture.of(3, (True,), 1), "True units"),
        (lambda: Architecture((3,), (), ()), "an input and an output"),
        (lambda: Architecture.of(3, (2, 2), 1, activation=("tanh",)), "1 activations.*2 hidden"),
        (lambda: Architecture((3, 2), ("tanh",), (True,)), "expected 'identity'"),
        (lambda: Architecture((3, 2), ("identity",), (True, True)), "2 biases"),
        (lambda: a_network().pack([(np.ones((3, 4)), np.ones(3))]), "1 layers were given"),
        (lambda: a_network().trainable_mask((True,)), "1 entries; expected 3"),
    ],
)
def test_bad_shapes_are_refused_in_words(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()


def test_an_unknown_activation_is_named_with_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'sigmoid'"):
        Architecture.of(3, (2,), 1, activation="sigmoyd")


def test_weights_of_another_shape_are_refused():
    network = Architecture.of(2, (), 1)
    with pytest.raises(InvalidInput, match=r"weights of layer 1 have shape \(2, 1\)"):
        network.pack([(np.ones((2, 1)), [0.0])])
    with pytest.raises(InvalidInput, match="has no biases"):
        Architecture.of(2, (), 1, bias=False).pack([(np.ones((1, 2)), [0.0])])


def test_biases_are_chosen_layer_by_layer():
    network = Architecture.of(2, (3, 4), 1, bias=[True, False, True])
    assert network.biases == (True, False, True)
    assert network.n_parameters == 2 * 3 + 3 + 3 * 4 + 4 * 1 + 1
    assert Architecture.of(2, (3,), 1, bias=(True, True), output_bias=False).biases == (True, False)


@pytest.mark.parametrize("bias", [[True], [True, False, True], "yes", 1, [1, 0]])
def test_biases_of_another_number_of_layers_are_refused(bias):
    with pytest.raises(InvalidInput, match=r"bias=.* was given for 2 layers"):
        Architecture.of(2, (3,), 1, bias=bias)


@pytest.mark.parametrize("bias", [[True, False], [False, True]])
def test_a_model_has_the_biases_that_were_asked_for(bias, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    W, V = rng.normal(size=(3, 2)), rng.normal(size=(1, 3))
    b, c = (rng.normal(size=n) if flag else None for n, flag in zip((3, 1), bias, strict=True))
    options = {"hidden": (3,), "activation": "tanh", "bias": bias, "dtype": "float64"}
    start = likely.NeuralNetworkRegressor(
        **options, initialise=[(W, b), (V, c)], max_epochs=0, tol=None
    ).fit(X, y)
    by_hand = np.tanh(X @ W.T + (0 if b is None else b)) @ V.T + (0 if c is None else c)
    assert_allclose(start.predict(X), by_hand[:, 0], rtol=1e-12)
    model = likely.NeuralNetworkRegressor(**options, max_epochs=3, tol=None, random_state=0)
    model.fit(X, y)
    assert [each is not None for each in model.biases_] == bias
    likely.save(model, tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    assert again.architecture_.biases == tuple(bias)
    assert_allclose(again.predict(X), model.predict(X), rtol=0)
    shown = [row[4] for row in model.describe().tables[0].rows if row[0] != "input"]
    assert [int(each) > 0 for each in shown[:2]] == bias
    assert len(model.draw().edges) == 2 * 3 + 3 + (3 if bias[0] else 0) + (1 if bias[1] else 0)


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
