"""Masks of dropout: their mean, their key, and gradients with them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from likely.differences import check_gradient
from likely.errors import InvalidInput
from likely.keyed_random import keyed_uniform
from likely.neural.architecture import Architecture
from likely.neural.dropout import dropout_masks, dropout_rates
from likely.neural.objective import loss_first_order
from likely.neural.propagation import forward
from tests.neural.networks import output_and_target, some_network, some_rows

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
