"""Keys on tensors have the bits of NumPy; recorded steps are those that a GPU would replay."""

from contextlib import nullcontext

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likely.errors import LikelyWarning
from likely.neural import device, torch_networks
from likely.neural.device import (
    RecordedSteps,
    Recording,
    epoch_orders,
    kept_units,
    keys_of,
    least_dropped,
    next_key,
    signed,
)
from likely.neural.engine import EngineSettings
from likely.neural.formulas import dropout_rates
from likely.neural.torch_networks import TorchEngine
from likely.numerics.keyed_random import keyed, keyed_uniform
from likely.solvers.mini_batches import epoch_order
from likely.solvers.updates import UPDATES, Momentum
from tests.neural.networks import many_rows, some_network

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


N = 50


class Replay:
    """Calls what a graph would have recorded, with the buffers that it reads."""

    def __init__(self, rule, batches, steps):
        self.call, self.n_replays = (lambda: steps(rule, batches)), 0

    def replay(self):
        self.call()
        self.n_replays += 1


def replayed(made, rule, batches, steps):
    steps(rule, batches)  # as warm-ups do: what they change must not be kept
    made.append(Replay(rule, batches, steps))
    return Recording(made[-1], batches)


def trained(engine, theta, n_epochs=3):
    _, X, y, weight = many_rows("categorical", N)
    rows, state, losses = engine.prepare(X, y, weight), engine.start(theta), []
    for epoch in range(n_epochs):
        state, loss = engine.epoch(
            state, rows, epoch_order(N, 2, epoch), batch=4, rate=0.1 / (1 + epoch), epoch=epoch
        )
        losses.append(loss)
    return state, losses


def an_engine(update):
    output, X, _, weight = many_rows("categorical", N)
    network, theta = some_network(output, (4,), d=X.shape[1])
    settings = EngineSettings(
        network,
        output,
        update,
        N,
        weight.sum(),
        dropout=dropout_rates(network, 0.3),
        l2=0.1,
        dtype=np.float64,
    )
    return TorchEngine(settings, "cpu"), theta


@pytest.mark.parametrize(
    ("update", "n_recordings"), [(UPDATES["adam"], 2), (Momentum((0.1, 0.5, 0.5)), 4)]
)
def test_replays_give_what_the_steps_give(monkeypatch, update, n_recordings):
    """12 full batches of 4 rows: two groups of five steps and two of one; the last has 2 rows."""
    made = []
    monkeypatch.setattr(torch_networks, "MOST_STEPS", 5)
    monkeypatch.setattr(device, "on_its_device", lambda device: nullcontext())
    monkeypatch.setattr(device, "recorded", lambda *each: replayed(made, *each))
    plain, theta = an_engine(update)
    recorded, _ = an_engine(update)
    recorded._network.recorded = RecordedSteps(torch.device("cpu"))
    (expected, losses), (found, same) = trained(plain, theta), trained(recorded, theta)
    assert_array_equal(found.theta, expected.theta)
    assert_array_equal(found.slots, expected.slots)
    assert same == losses
    assert len(made) == n_recordings
    assert sum(each.n_replays for each in made) == 3 * (2 + 2)


def test_steps_that_cannot_be_recorded_are_taken_one_by_one(monkeypatch):
    def refuse(rule, batches, steps):
        steps(rule, batches)
        raise RuntimeError("no graphs here")

    monkeypatch.setattr(device, "on_its_device", lambda device: nullcontext())
    monkeypatch.setattr(device, "recorded", refuse)
    plain, theta = an_engine(UPDATES["adam"])
    recorded, _ = an_engine(UPDATES["adam"])
    recorded._network.recorded = RecordedSteps(torch.device("cpu"))
    with pytest.warns(LikelyWarning, match="could not be recorded on cpu: no graphs here"):
        found, _ = trained(recorded, theta)
    assert_array_equal(found.theta, trained(plain, theta)[0].theta)
    assert recorded._network.recorded.refused == "no graphs here"
