"""Random numbers by key on tensors: the bits of NumPy's."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likely.keyed_random import keyed, keyed_uniform
from likely.neural.tensors.keyed import (
    epoch_orders,
    kept_units,
    keys_of,
    least_dropped,
    next_key,
    signed,
)
from likely.solvers.mini_batches import epoch_order

torch = pytest.importorskip("torch", reason="torch is not installed")
CPU = torch.device("cpu")
SEEDS = [0, 1, -7, 2**63 + 11, 2**31 - 1]


def test_keys_have_the_bits_of_numpy():
    rows, units = np.array([0, 1, 65_536, 2**40]), np.arange(300)
    key = next_key(keys_of(SEEDS, 12, CPU)[:, None], torch.from_numpy(rows))
    key = next_key(key[..., None], torch.from_numpy(units))
    expected = np.stack([keyed(seed, 12, rows[:, None], units) for seed in SEEDS])
    assert_array_equal(key.numpy().view(np.uint64), expected)


@pytest.mark.parametrize("kept", [0.5, 0.9, 1 - 0.3, 1 / 3, 2.0**-53, 0.1, 1.0])
def test_the_same_units_are_kept_as_by_uniform_numbers(kept):
    rows = np.arange(40)
    key = next_key(keys_of([5], 3, CPU), torch.from_numpy(rows))
    found = kept_units(key, 70, least_dropped(kept))
    assert_array_equal(found.numpy(), keyed_uniform(5, 3, rows[:, None], np.arange(70)) < kept)


def test_whole_numbers_compare_as_uniform_numbers_at_the_border():
    for kept in (0.5, 1 / 3, 0.7, 1 - 2.0**-53):
        least = least_dropped(kept)
        assert least * 2.0**-53 >= kept > (least - 1) * 2.0**-53


@pytest.mark.parametrize(("n", "window"), [(1, 4), (10, 4), (12, 4), (1000, 65_536)])
def test_orders_equal_those_of_one_network(n, window):
    found = epoch_orders(n, SEEDS, 6, CPU, window=window)
    for seed, order in zip(SEEDS, found.numpy(), strict=True):
        assert_array_equal(order, epoch_order(n, seed, 6, window=window))


def test_words_keep_their_bits_as_signed_numbers():
    for word in (0, 1, 2**63 - 1, 2**63, 2**64 - 1, -1):
        assert signed(word) % 2**64 == word % 2**64
        assert -(2**63) <= signed(word) < 2**63
