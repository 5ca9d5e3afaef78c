"""An epoch of training: by hand, with weights, penalties, dropout and frozen layers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likely.errors import InvalidInput
from likely.neural.architecture import Architecture, initial_parameters
from likely.neural.engine import EngineSettings, ReadableEngine
from likely.neural.formulas import NetworkRows, dropout_masks, loss_first_order
from likely.neural.objective import NetworkObjective
from likely.neural.outputs import output_of
from likely.solvers.updates import AdamW, Momentum, Plain
from tests.neural.networks import many_rows, some_network


def an_engine(output_name="categorical", n=23, hidden=(4,), **changes):
    output, X, y, weight = many_rows(output_name, n)
    network, theta = some_network(output, hidden, d=X.shape[1])
    settings = {"update": Plain(), "n_rows_total": n, "dtype": np.float64} | changes
    engine = ReadableEngine(EngineSettings(network, output, **settings))
    return engine, theta, (X, y, weight)


def an_epoch(engine, theta, rows, order=None, **changes):
    order = np.arange(rows.n_rows) if order is None else order
    arguments = {"batch": 4, "rate": 0.1, "epoch": 0} | changes
    return engine.epoch(engine.start(theta), rows, order, **arguments)


def test_steps_by_example_equal_the_textbook():
    """NN-7: for each example forward, errors with the old weights, then a step."""
    engine, theta, (X, y, _) = an_engine("bernoulli")
    order = np.random.default_rng(0).permutation(23)
    network = engine.settings.architecture
    by_hand = theta.copy()
    (W1, b1), (W2, b2) = network.unpack(by_hand)
    for i in order:
        h = np.tanh(W1 @ X[i] + b1)
        p = 1 / (1 + np.exp(-(W2 @ h + b2)))
        delta2 = p - y[i]
        delta1 = (W2.T @ delta2) * (1 - h * h)
        W2 -= 0.1 * np.outer(delta2, h)
        b2 -= 0.1 * delta2
        W1 -= 0.1 * np.outer(delta1, X[i])
        b1 -= 0.1 * delta1
    state, _ = an_epoch(engine, theta, engine.prepare(X, y), order, batch=1)
    assert_allclose(state.theta, by_hand, rtol=1e-12, atol=1e-12)
    assert state.step == 23
    assert (network.unpack(state.theta)[0].weight != network.unpack(theta)[0].weight).all()


def test_a_batch_of_all_rows_is_a_gradient_step_on_the_mean():
    engine, theta, (X, y, weight) = an_engine(
        l1=0.3, l2=0.7, weight_total=float(many_rows("categorical", 23)[3].sum())
    )
    rows = engine.prepare(X, y, weight)
    settings = engine.settings
    objective = NetworkObjective(settings.architecture, settings.output, rows, 0.3, 0.7)
    state, loss = an_epoch(engine, theta, rows, batch=100)
    assert_allclose(loss, objective.loss(theta) / weight.sum(), rtol=1e-13)
    assert_allclose(state.theta, theta - 0.1 * objective.gradient(theta) / weight.sum(), atol=1e-14)
    assert state.step == 1


@pytest.mark.parametrize(("scaling", "share"), [("sum", 1 / 23), ("mean", 1.0), ("epoch", None)])
def test_penalties_are_scaled_as_stated(scaling, share):
    engine, theta, (X, y, _) = an_engine(l2=0.7, penalty_scaling=scaling)
    free, _, _ = an_engine()
    rows = engine.prepare(X, y)
    for n in (4, 3):
        chosen = np.arange(n)
        with_penalty, without = (
            an_epoch(each, theta, rows, chosen)[0].theta for each in (engine, free)
        )
        expected = (n / 23 if share is None else share) * 0.7
        penalised = engine.settings.architecture.penalised
        assert_allclose(without - with_penalty, 0.1 * expected * penalised * theta, atol=1e-14)
    if scaling == "epoch":
        assert_allclose(sum(engine.settings.penalty_share(n) for n in (4, 4, 4, 4, 4, 3)), 1.0)


def test_the_last_batch_is_smaller_and_every_row_counts():
    engine, theta, (X, y, weight) = an_engine()
    rows = engine.prepare(X, y, weight)
    seen = np.zeros(23)
    step_by_step = engine.start(theta)
    total = 0.0
    for start in range(0, 23, 4):
        chosen = np.arange(start, min(start + 4, 23))
        seen[chosen] += 1
        step_by_step, loss = engine.epoch(step_by_step, rows, chosen, batch=4, rate=0.1, epoch=0)
        total += loss * weight[chosen].sum()
    state, loss = an_epoch(engine, theta, rows)
    assert_array_equal(seen, 1)
    assert_array_equal(state.theta, step_by_step.theta)
    assert_allclose(loss, total / weight.sum(), rtol=1e-13)


def test_the_state_that_was_given_is_left_as_it_is():
    engine, theta, (X, y, _) = an_engine(update=Momentum())
    before = engine.start(theta)
    kept = before.theta.copy(), before.slots.copy()
    engine.epoch(before, engine.prepare(X, y), np.arange(23), batch=4, rate=0.1, epoch=0)
    assert_array_equal(before.theta, kept[0])
    assert_array_equal(before.slots, kept[1])


def test_weights_in_another_unit_change_nothing():
    engine, theta, (X, y, weight) = an_engine(weight_total=30.0)
    double, _, _ = an_engine(weight_total=60.0)
    one, _ = an_epoch(engine, theta, engine.prepare(X, y, weight))
    two, _ = an_epoch(double, theta, double.prepare(X, y, 2 * weight))
    assert_allclose(two.theta, one.theta, rtol=1e-12)


def test_a_batch_of_weight_0_takes_no_step_of_the_data():
    engine, theta, (X, y, weight) = an_engine()
    weight[:8] = 0.0
    rows = engine.prepare(X, y, weight)
    state, loss = an_epoch(engine, theta, rows, np.arange(8))
    assert_array_equal(state.theta, theta)
    assert (loss, state.step) == (0.0, 2)
    with pytest.raises(InvalidInput, match="total weight of 0"):
        engine.loss(theta, rows.chosen(np.arange(8)))


def test_training_without_weight_is_refused():
    with pytest.raises(InvalidInput, match="expected a weight above 0"):
        an_engine(weight_total=0.0)


@pytest.mark.parametrize("update", [Plain(), Momentum(), AdamW(weight_decay=0.5)])
def test_frozen_layers_stay(update):
    engine, theta, (X, y, _) = an_engine(
        hidden=(4, 3), update=update, l2=0.5, trainable=(False, True, False)
    )
    state, _ = an_epoch(engine, theta, engine.prepare(X, y))
    moved = state.theta != theta
    assert_array_equal(moved, engine.settings.architecture.trainable_mask((False, True, False)))


def test_dropout_is_keyed_by_the_global_index():
    engine, theta, (X, y, _) = an_engine(dropout=(0.2, 0.5), seed=9)
    settings, rows = engine.settings, engine.prepare(X, y)
    state, loss = an_epoch(engine, theta, rows, np.array([3, 1]), first_index=100, epoch=6)
    part = rows.chosen(np.array([3, 1]))
    masks = dropout_masks(
        (0.2, 0.5), part.X, settings.architecture, seed=9, epoch=6, index=np.array([103, 101])
    )
    here = loss_first_order(settings.architecture, settings.output, theta, part, masks)
    assert_allclose(loss, here.value / 2)
    assert_allclose(state.theta, theta - 0.1 * here.gradient / 2, atol=1e-14)


def test_prediction_and_loss_have_no_dropout():
    engine, theta, (X, y, weight) = an_engine(dropout=(0.2, 0.5))
    free, _, _ = an_engine()
    rows = engine.prepare(X, y, weight)
    assert_array_equal(engine.eta(theta, rows), free.eta(theta, X))
    assert engine.loss(theta, rows) == free.loss(theta, rows)


def test_a_file_in_windows_equals_an_array():
    engine, theta, (X, y, weight) = an_engine(dropout=(0.0, 0.5), n=24)
    whole, _ = an_epoch(engine, theta, engine.prepare(X, y, weight), batch=4)
    state = engine.start(theta)
    for first in (0, 8, 16):
        window = slice(first, first + 8)
        rows = engine.prepare(X[window], y[window], weight[window])
        state, _ = engine.epoch(
            state, rows, np.arange(8), batch=4, rate=0.1, epoch=0, first_index=first
        )
    assert_array_equal(state.theta, whole.theta)


def test_equal_units_stay_equal_and_random_ones_do_not():
    """NN-11: units with equal weights in and out have equal gradients."""
    output, X, y, _ = many_rows("categorical", 40)
    network = Architecture.of(5, (3,), 3, activation="tanh")
    settings = EngineSettings(network, output, Momentum(), 40, dtype=np.float64)
    engine = ReadableEngine(settings)
    rows = engine.prepare(X, y)
    random = initial_parameters(network, seed=0)
    equal = random.copy()
    first, last = network.unpack(equal)
    first.weight[1] = first.weight[0]
    last.weight[:, 1] = last.weight[:, 0]
    for start, alike in ((equal, True), (random, False)):
        state, _ = an_epoch(engine, start, rows)
        hidden, after = network.unpack(state.theta)
        apart = (hidden.weight[1] - hidden.weight[0], after.weight[:, 1] - after.weight[:, 0])
        assert all((np.abs(each).max() < 1e-15) == alike for each in apart)


def test_a_loss_that_explodes_is_not_hidden():
    engine, theta, (X, y, _) = an_engine("gaussian", dtype=np.float32)
    rows = engine.prepare(1e20 * X, y)
    state = engine.start(1e10 * theta)
    for _ in range(3):
        state, loss = engine.epoch(state, rows, np.arange(23), batch=4, rate=1e10, epoch=0)
    assert not np.isfinite(loss)


def test_ordinal_thresholds_are_trained():
    engine, theta, (X, y, _) = an_engine("ordinal", n=200, l2=0.1)
    network = engine.settings.architecture
    rows = engine.prepare(X, y)
    state, _ = an_epoch(engine, theta, rows, batch=8)
    assert (network.extra(state.theta) != network.extra(theta)).all()
    assert engine.loss(state.theta, rows) < engine.loss(theta, rows)


def test_the_cascade_learns_more_jointly_than_by_its_last_unit():
    """NN-9: XOR from one start, all layers against the last one alone."""
    X = np.tile([[0.0, 0], [0, 1], [1, 0], [1, 1]], (10, 1))
    y = np.tile([0.0, 1, 1, 0], 10)
    network = Architecture.of(2, (4,), 1, activation="sigmoid")
    output, losses = output_of(n_classes=2), []
    start = initial_parameters(network, "glorot-normal", seed=3)
    for trainable in (None, (False, True)):
        settings = EngineSettings(
            network, output, Momentum(), 40, trainable=trainable, dtype=np.float64
        )
        engine = ReadableEngine(settings)
        rows, state = engine.prepare(X, y), engine.start(start)
        for epoch in range(150):
            state, _ = engine.epoch(state, rows, np.arange(40), batch=8, rate=0.5, epoch=epoch)
        losses.append(engine.loss(state.theta, rows))
    assert losses[0] < losses[1] - 0.3


def test_rows_can_be_chosen():
    rows = NetworkRows(np.arange(6.0).reshape(3, 2), np.arange(3), np.arange(3.0))
    part = rows.chosen(np.array([2, 2]))
    assert part.n_rows == 2
    assert part.total_weight == 4.0
