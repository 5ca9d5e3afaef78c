"""Recorded steps, with a recording that calls the steps: what a GPU would replay."""

from contextlib import nullcontext

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likely.errors import LikelyWarning
from likely.neural.dropout import dropout_rates
from likely.neural.engine import EngineSettings
from likely.neural.tensors import graphs, networks
from likely.neural.tensors.graphs import RecordedSteps, Recording
from likely.neural.torch_engine import TorchEngine
from likely.solvers.mini_batches import epoch_order
from likely.solvers.updates import UPDATES, Momentum
from tests.neural.networks import many_rows, some_network

torch = pytest.importorskip("torch", reason="torch is not installed")
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
    monkeypatch.setattr(networks, "MOST_STEPS", 5)
    monkeypatch.setattr(graphs, "on_its_device", lambda device: nullcontext())
    monkeypatch.setattr(graphs, "recorded", lambda *each: replayed(made, *each))
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

    monkeypatch.setattr(graphs, "on_its_device", lambda device: nullcontext())
    monkeypatch.setattr(graphs, "recorded", refuse)
    plain, theta = an_engine(UPDATES["adam"])
    recorded, _ = an_engine(UPDATES["adam"])
    recorded._network.recorded = RecordedSteps(torch.device("cpu"))
    with pytest.warns(LikelyWarning, match="could not be recorded on cpu: no graphs here"):
        found, _ = trained(recorded, theta)
    assert_array_equal(found.theta, trained(plain, theta)[0].theta)
    assert recorded._network.recorded.refused == "no graphs here"
