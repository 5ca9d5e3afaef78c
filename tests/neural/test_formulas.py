"""Forward values, backward errors and masks of dropout: against differences, torch, row by row."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from likely.differences import check_gradient
from likely.errors import InvalidInput
from likely.neural.architecture import Architecture
from likely.neural.formulas import (
    backward,
    dropout_masks,
    dropout_rates,
    forward,
    loss_first_order,
    predictor,
)
from likely.numerics.keyed_random import keyed_uniform
from likely.special import ACTIVATIONS
from tests.neural.networks import output_and_target, some_network, some_rows

DEPTHS = {0: (), 1: (4,), 2: (4, 3), 3: (4, 3, 2), 4: (3, 2, 3, 2)}


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_batch_equals_its_rows_one_by_one(activation):
    output, y = output_and_target("categorical")
    network, theta = some_network(output, (4, 5), activation)
    X = some_rows(output, y).X
    together = forward(network, theta, X)
    for i in range(len(X)):
        alone = forward(network, theta, X[i : i + 1])
        for one, all_rows in zip(alone.a + alone.h, together.a + together.h, strict=True):
            assert_allclose(one[0], all_rows[i], rtol=1e-13, atol=1e-15)
    assert_array_equal(together.eta, predictor(network, theta, X))


@pytest.mark.parametrize("hidden", DEPTHS.values(), ids=DEPTHS)
@pytest.mark.parametrize("activation", ["tanh", "softplus"])
def test_errors_are_derivatives_in_every_unit(hidden, activation):
    """δ^(l) by central differences in a^(l): the network from there on is run again."""
    output, y = output_and_target("categorical")
    network, theta = some_network(output, hidden, activation)
    trace = forward(network, theta, some_rows(output, y).X)
    slope = output.loss_and_slope(y, trace.eta, np.zeros(0)).slope
    deltas, _ = backward(network, theta, trace, slope)
    layers = network.unpack(theta)
    step = 1e-5

    def loss_from(level, a):
        for layer, name in zip(layers[level:], network.activations[level - 1 :], strict=False):
            h = ACTIVATIONS[name].value(a)
            a = h @ layer.weight.T + layer.bias
        return output.loss(y, a, np.zeros(0)).sum()

    for level, (a, delta) in enumerate(zip(trace.a, deltas, strict=True), 1):
        for place in np.ndindex(a.shape):
            moved = [a.copy(), a.copy()]
            moved[0][place] += step
            moved[1][place] -= step
            difference = (loss_from(level, moved[0]) - loss_from(level, moved[1])) / (2 * step)
            assert_allclose(delta[place], difference, atol=1e-7)


@pytest.mark.parametrize("hidden", DEPTHS.values(), ids=DEPTHS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradients_equal_those_of_torch(hidden, activation):
    torch = pytest.importorskip("torch")
    output, y = output_and_target("categorical")
    network, theta = some_network(output, hidden, activation)
    X = some_rows(output, y).X
    trace = forward(network, theta, X)
    ours = backward(network, theta, trace, output.loss_and_slope(y, trace.eta, None).slope)[1]

    parts = {"identity": lambda a: a, "softplus": torch.nn.functional.softplus}
    h, flat = torch.tensor(X), torch.tensor(theta, requires_grad=True)
    for place, shape, name in zip(
        network.places,
        zip(network.sizes[1:], network.sizes[:-1], strict=True),
        network.activations,
        strict=True,
    ):
        a = h @ flat[place.weight].reshape(shape).T + flat[place.bias]
        h = parts.get(name, getattr(torch, name, None))(a)
    torch.nn.functional.cross_entropy(h, torch.tensor(y), reduction="sum").backward()
    assert_allclose(trace.eta, h.detach().numpy(), rtol=1e-12, atol=1e-12)
    assert_allclose(ours, flat.grad.numpy(), rtol=1e-10, atol=1e-10)


def test_sparse_rows_equal_dense_rows():
    output, y = output_and_target("categorical")
    network, theta = some_network(output)
    X = some_rows(output, y).X * (np.random.default_rng(0).random((6, 3)) < 0.5)
    X[2] = 0.0  # a row without entries
    found = []
    for layout in (np.asarray, sparse.csr_array):
        trace = forward(network, theta, layout(X))
        slope = output.loss_and_slope(y, trace.eta, None).slope
        found.append((trace.eta, backward(network, theta, trace, slope)[1]))
    assert_allclose(found[1][0], found[0][0], rtol=1e-10, atol=1e-14)
    assert_allclose(found[1][1], found[0][1], rtol=1e-10, atol=1e-14)


def test_float32_stays_float32():
    output, y = output_and_target("categorical")
    for activation in ACTIVATIONS:
        network, theta = some_network(output, (4, 3), activation)
        trace = forward(network, theta.astype(np.float32), some_rows(output, y).X.astype("f4"))
        _, gradient = backward(network, theta.astype(np.float32), trace, trace.eta)
        assert trace.eta.dtype == trace.h[1].dtype == gradient.dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_extreme_values_give_finite_gradients(activation, dtype):
    network = Architecture.of(1, (1,), 1, activation=activation)
    theta = np.array([1.0, 0.0, 1.0, 0.0], dtype=dtype)
    for x in (-1e4, -88.8, -1.0, 0.0, 1.0, 88.8, 1e4):
        trace = forward(network, theta, np.array([[x]], dtype=dtype))
        _, gradient = backward(network, theta, trace, np.ones((1, 1), dtype=dtype))
        assert np.isfinite(trace.eta).all() and np.isfinite(gradient).all()


NETWORK = Architecture.of(3, (4, 5), 2)


def masks_of(rates, index, X=None, epoch=2, seed=7):
    X = np.zeros((len(index), 3)) if X is None else X
    return dropout_masks(rates, X, NETWORK, seed=seed, epoch=epoch, index=np.asarray(index))


def test_the_mean_of_masked_units_is_the_unit():
    """NN-10: 10⁵ masked activations, within 4 standard errors."""
    h, rate = 0.7, 0.3
    mask = masks_of((0.0, rate, 0.0), np.arange(25_000))[1]  # 4 units
    values = (h * mask).ravel()
    assert abs(values.mean() - h) < 4 * values.std() / np.sqrt(values.size)
    assert_allclose(np.unique(mask), [0.0, 1 / (1 - rate)])


def test_a_mask_depends_on_the_example_and_not_on_the_batch():
    together = masks_of((0.2, 0.5, 0.1), np.arange(10))
    for shuffled in ([3], [9, 3, 3], np.arange(10)[::-1]):
        alone = masks_of((0.2, 0.5, 0.1), shuffled)
        for one, all_rows in zip(alone, together, strict=True):
            assert_array_equal(one, all_rows[np.asarray(shuffled)])


def test_a_mask_has_the_stated_key():
    mask = masks_of((0.0, 0.5, 0.25), [11, 4], epoch=3, seed=5)[2]
    u = keyed_uniform(5, 3 * 3 + 2, np.array([[11], [4]]), np.arange(5))
    assert_allclose(mask, (u < 0.75) / 0.75)


def test_layers_epochs_and_seeds_differ():
    rates = (0.5, 0.5, 0.5)
    index = np.arange(50)
    base = masks_of(rates, index)
    assert (base[0] != base[1][:, :3]).any()
    assert (base[1] != masks_of(rates, index, epoch=3)[1]).any()
    assert (base[1] != masks_of(rates, index, seed=8)[1]).any()


def test_rate_0_has_no_mask():
    assert masks_of((0.0, 0.0, 0.0), [1, 2]) == [None, None, None]


def test_sparse_inputs_have_the_masks_of_dense_ones():
    X = np.random.default_rng(0).normal(size=(20, 3)) * (np.arange(60).reshape(20, 3) % 3 > 0)
    dense = masks_of((0.4, 0.0, 0.0), np.arange(20), X)[0]
    csr = masks_of((0.4, 0.0, 0.0), np.arange(20), sparse.csr_array(X))[0]
    assert_array_equal((sparse.csr_array(X) * csr).toarray(), X * dense)


@pytest.mark.parametrize("activation", ["tanh", "relu", "sigmoid"])
def test_gradients_with_a_fixed_mask_equal_finite_differences(activation):
    output, y = output_and_target("categorical")
    network, theta = some_network(output, (5, 4), activation)
    rows = some_rows(output, y)
    masks = dropout_masks(
        (0.3, 0.5, 0.2), rows.X, network, seed=1, epoch=0, index=np.arange(len(y))
    )

    def value(theta):
        eta = forward(network, theta, rows.X, masks).eta
        return float(rows.weight @ output.loss(y, eta, np.zeros(0)))

    def gradient(theta):
        return loss_first_order(network, output, theta, rows, masks).gradient

    assert check_gradient(value, gradient, theta) < 1e-6


def test_rates_of_layers():
    assert dropout_rates(NETWORK, 0.5) == (0.0, 0.5, 0.5)
    assert dropout_rates(NETWORK, (0.5, 0.2)) == (0.0, 0.5, 0.2)
    assert dropout_rates(NETWORK, [0.1, 0.5, 0.2]) == (0.1, 0.5, 0.2)
    assert dropout_rates(Architecture.of(3, (), 1), 0.5) == (0.0,)


@pytest.mark.parametrize("rate", [1.0, -0.1, 1.5, float("nan"), (0.5, 1.0)])
def test_rates_outside_0_to_1_are_refused(rate):
    with pytest.raises(InvalidInput, match="expected a rate from 0"):
        dropout_rates(NETWORK, rate)


def test_a_wrong_number_of_rates_is_refused():
    with pytest.raises(InvalidInput, match="1 rates; expected 2"):
        dropout_rates(NETWORK, (0.5,))
