"""Epochs by torch equal those by NumPy: every activation, output, update rule and dropout."""

from itertools import cycle, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from likely.errors import InvalidInput
from likely.neural.device import as_array
from likely.neural.engine import EngineSettings, ReadableEngine
from likely.neural.formulas import dropout_masks, dropout_rates
from likely.neural.torch_networks import TorchEngine
from likely.solvers.mini_batches import epoch_order
from likely.solvers.updates import UPDATES, AdamW, Clip, Momentum, Plain
from likely.special import ACTIVATIONS
from tests.neural.networks import OUTPUTS, many_rows, some_network

torch = pytest.importorskip("torch", reason="torch is not installed")

N = 20
RULES = {**UPDATES, "clipped": Clip(0.05) | Momentum(0.5)}


@pytest.fixture(autouse=True)
def one_thread():
    """Threads wait for each other longer than these networks compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def engines(output="categorical", *, activation="tanh", hidden=(4, 3), n=N, **changes):
    """The NumPy engine and torch's, start values, and rows for each."""
    output, X, y, weight = many_rows(output, n)
    network, theta = some_network(output, hidden, activation, d=X.shape[1])
    dropout = dropout_rates(network, changes.pop("dropout", 0.0))
    if "weighted" in changes:
        weight = weight if changes.pop("weighted") else None
    settings = {
        "update": Plain(),
        "n_rows_total": n,
        "weight_total": None if weight is None else weight.sum(),
        "dropout": dropout,
        "seed": 3,
        "dtype": np.float64,
    } | changes
    made = EngineSettings(network, output, **settings)
    ours, theirs = ReadableEngine(made), TorchEngine(made, "cpu")
    return (ours, ours.prepare(X, y, weight)), (theirs, theirs.prepare(X, y, weight)), theta


def epochs(engine, rows, theta, *, n_epochs=1, batch=2, rate=0.05, n=N):
    state, losses = engine.start(theta), []
    for epoch in range(n_epochs):
        order = epoch_order(n, 8, epoch)
        state, loss = engine.epoch(state, rows, order, batch=batch, rate=rate, epoch=epoch)
        losses.append(loss)
    return state, losses


@pytest.mark.parametrize("output", OUTPUTS)
def test_ten_steps_equal_those_of_numpy(output):
    """Every activation and every update rule once, with dropout, in float64."""
    check_ten_steps(output, 0.4, zip(cycle(ACTIVATIONS), RULES, strict=False))


@pytest.mark.slow
@pytest.mark.parametrize("dropout", [0.0, 0.4])
@pytest.mark.parametrize("output", OUTPUTS)
def test_ten_steps_of_every_rule_equal_those_of_numpy(output, dropout):
    """Every activation × update rule, with and without dropout."""
    check_ten_steps(output, dropout, product(ACTIVATIONS, RULES))


def check_ten_steps(output, dropout, pairs):
    for activation, rule in pairs:
        ours, theirs, theta = engines(
            output, activation=activation, update=RULES[rule], dropout=dropout, l1=0.1, l2=0.3
        )
        expected, loss = epochs(*ours, theta)
        found, same_loss = epochs(*theirs, theta)
        said = f"{activation}, {rule}"
        assert found.step == expected.step == 10
        assert_allclose(found.theta, expected.theta, rtol=1e-9, atol=1e-11, err_msg=said)
        assert_allclose(found.slots, expected.slots, rtol=1e-9, atol=1e-11, err_msg=said)
        assert_allclose(same_loss, loss, rtol=1e-10, err_msg=said)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("output", OUTPUTS)
def test_gradients_equal_those_of_numpy(output, activation):
    """One plain step of rate 1 on all rows is the gradient; in float32 to its rounding."""
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 2e-5)):
        ours, theirs, theta = engines(output, activation=activation, dropout=0.4, dtype=dtype)
        expected, _ = epochs(*ours, theta, batch=N, rate=1.0)
        found, _ = epochs(*theirs, theta, batch=N, rate=1.0)
        assert found.theta.dtype == dtype
        step = np.abs(expected.theta - theta).max()
        assert step > 1e-3
        assert_allclose(found.theta, expected.theta, rtol=0, atol=tolerance * max(step, 1))


@pytest.mark.parametrize(
    "changes",
    [
        {"hidden": ()},
        {"hidden": (), "dropout": (0.5,)},
        {"dropout": (0.3, 0.0, 0.5)},
        {"weighted": False, "penalty_scaling": "epoch", "l2": 2.0},
        {"penalty_scaling": "mean", "l1": 0.01},
        {"trainable": (False, True, True), "update": AdamW(weight_decay=0.5)},
        {"update": Momentum((0.0, 0.9))},
    ],
    ids=str,
)
def test_several_epochs_equal_those_of_numpy(changes):
    """The last batch is smaller: 20 rows in batches of 3."""
    ours, theirs, theta = engines(**changes)
    expected, losses = epochs(*ours, theta, n_epochs=4, batch=3)
    found, same_losses = epochs(*theirs, theta, n_epochs=4, batch=3)
    assert_allclose(found.theta, expected.theta, rtol=1e-9, atol=1e-12)
    assert_allclose(same_losses, losses, rtol=1e-10)
    assert found.step == expected.step == 28
    (engine, rows), (other, same_rows) = ours, theirs
    assert_allclose(
        other.loss(found.theta, same_rows), engine.loss(expected.theta, rows), rtol=1e-10
    )
    assert_allclose(
        other.eta(found.theta, same_rows), engine.eta(expected.theta, rows), rtol=1e-8, atol=1e-10
    )


def test_the_masks_of_dropout_have_the_bits_of_numpy():
    (ours, _), (theirs, _), _ = engines(dropout=0.4)
    settings, index = ours.settings, np.array([3, 70_000, 2**33])
    expected = dropout_masks(
        settings.dropout, np.zeros((3, 5)), settings.architecture, seed=3, epoch=9, index=index
    )
    network = theirs._network
    found = list(network._masks(network._keys(9), torch.from_numpy(index)[None, None]))
    assert found[0] is None and expected[0] is None
    for mine, numpys in zip(found[1:], expected[1:], strict=True):
        assert_array_equal(mine[0, 0].numpy(), numpys)


def test_sparse_rows_give_what_dense_rows_give():
    """Long rows are made dense, short ones padded; neither changes an answer."""
    rng = np.random.default_rng(0)
    for d, share in ((4, 0.7), (60, 0.05)):
        X = rng.normal(size=(N, d)) * (rng.random((N, d)) < share)
        output, _, y, weight = many_rows("categorical", N)
        network, theta = some_network(output, (4,), d=d)
        settings = EngineSettings(network, output, Plain(), N, dropout=(0.3, 0.2), dtype=np.float64)
        states = []
        for engine in (ReadableEngine(settings), TorchEngine(settings, "cpu")):
            for layout in (np.asarray, sparse.csr_array):
                rows = engine.prepare(layout(X), y, weight)
                states.append(epochs(engine, rows, theta, batch=3)[0].theta)
                assert_allclose(
                    engine.eta(states[-1], layout(X)), engine.eta(states[-1], X), atol=1e-12
                )
        for other in states[1:]:
            assert_allclose(other, states[0], rtol=1e-10, atol=1e-12)


def test_tensors_are_taken_and_given_back():
    (_, _), (engine, rows), theta = engines()
    X, y = rows.X.clone().requires_grad_(), rows.y
    same = engine.prepare(X, y, rows.weight)
    assert_array_equal(same.X.numpy(), rows.X.numpy())
    assert not same.X.requires_grad
    eta = engine.eta(theta, X)
    assert isinstance(eta, torch.Tensor)
    assert_array_equal(eta.numpy(), engine.eta(theta, X.detach().numpy()))
    assert isinstance(engine.eta(theta, rows), np.ndarray)
    assert engine.eta(theta, np.zeros((0, 5))).shape == (0, 3)


def test_an_epoch_leaves_its_state_as_it_was_and_repeats_itself():
    _, (engine, rows), theta = engines(update=UPDATES["adam"], dropout=0.2)
    state, _ = epochs(engine, rows, theta)
    before = state.theta.copy(), state.slots.copy()
    order = epoch_order(N, 8, 1)
    once, loss = engine.epoch(state, rows, order, batch=3, rate=0.1, epoch=1)
    again, same = engine.epoch(state, rows, order, batch=3, rate=0.1, epoch=1)
    assert_array_equal(state.theta, before[0])
    assert_array_equal(state.slots, before[1])
    assert_array_equal(once.theta, again.theta)
    assert loss == same
    assert (once.theta != before[0]).any()


def test_a_later_part_of_the_rows_has_its_own_masks():
    (ours, rows), (theirs, same_rows), theta = engines(dropout=0.5)
    order = np.arange(N)
    for first in (0, 1_000_000):
        expected, _ = ours.epoch(
            ours.start(theta), rows, order, batch=4, rate=0.1, epoch=2, first_index=first
        )
        found, _ = theirs.epoch(
            theirs.start(theta), same_rows, order, batch=4, rate=0.1, epoch=2, first_index=first
        )
        assert_allclose(found.theta, expected.theta, rtol=1e-11)


def test_rows_of_weight_0_count_nothing_even_where_their_loss_is_infinite():
    ours, theirs, theta = engines("poisson", hidden=())
    for engine, rows in (ours, theirs):
        X, y, weight = as_array(rows.X).copy(), as_array(rows.y), np.ones(N)
        X[4], weight[4] = 1e4, 0.0
        prepared = engine.prepare(X, y, weight)
        state, loss = epochs(engine, prepared, theta)
        assert np.isfinite(state.theta).all() and np.isfinite(loss).all()
        assert np.isfinite(engine.loss(state.theta, prepared))
        nothing = engine.prepare(X, y, np.zeros(N))
        assert epochs(engine, nothing, theta)[1] == [0.0]
        with pytest.raises(InvalidInput, match="total weight of 0"):
            engine.loss(theta, nothing)


def test_whole_training_reaches_the_same_quality():
    """In float32 the paths part, but not where they lead."""
    reached = []
    for engine, rows in engines(
        n=400, hidden=(8,), update=UPDATES["adam"], dtype=np.float32, dropout=0.1
    )[:2]:
        theta = some_network(engine.settings.output, (8,), d=5)[1]
        state, _ = epochs(engine, rows, theta, n_epochs=15, batch=16, rate=0.01, n=400)
        reached.append(engine.loss(state.theta, rows))
    assert abs(reached[0] - reached[1]) < 1e-3
    assert max(reached) < 1.05


@pytest.mark.parametrize(
    ("device", "message"),
    [("gpu3", "expected 'cpu', 'cuda'"), (5.5, "expected 'cpu'"), ("cuda:99", "CUDA devices")],
)
def test_a_device_that_is_not_there_is_refused(device, message):
    (ours, _), _, _ = engines()
    with pytest.raises(InvalidInput, match=message):
        TorchEngine(ours.settings, device)


def test_rows_that_do_not_fit_are_refused_as_by_numpy():
    for engine, rows in engines()[:2]:
        X, y = as_array(rows.X), as_array(rows.y)
        with pytest.raises(InvalidInput, match="expected 5 columns"):
            engine.prepare(X[:, :3], y)
        with pytest.raises(InvalidInput, match="there are 7 targets"):
            engine.prepare(X, y[:7])
        with pytest.raises(InvalidInput):
            engine.prepare(X, y + 1)
