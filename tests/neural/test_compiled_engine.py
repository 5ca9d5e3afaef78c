"""The compiled engine equals the one in NumPy, for every option that it has."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from threadpoolctl import threadpool_limits

from likely.errors import InvalidInput
from likely.neural.architecture import Architecture, initial_parameters
from likely.neural.compiled_engine import CompiledEngine
from likely.neural.engine import EngineSettings, ReadableEngine, engine_for
from likely.neural.outputs import output_of
from likely.solvers.updates import UPDATES, Adam, AdamW, Clip, Momentum, Plain
from likely.special import ACTIVATIONS
from tests.neural.networks import COMPILED, many_rows, some_network

TOLERANCE = {np.float64: 1e-12, np.float32: 2e-5}
TYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def both(output_name="categorical", *, n=53, hidden=(6,), activation="relu", bias=True, **changes):
    """The two engines, θ and data."""
    output, X, y, weight = many_rows(output_name, n)
    network, theta = some_network(output, hidden, activation, d=X.shape[1], bias=bias)
    chosen = {"update": Plain(), "n_rows_total": n, "dtype": np.float64} | changes
    settings = EngineSettings(network, output, **chosen)
    return ReadableEngine(settings), CompiledEngine(settings), theta, (X, y, weight)


def assert_same(*given, weighted=True, order=None, epochs=2, **arguments):
    """Two epochs, the loss and the predictors are the same to rounding."""
    readable, compiled, theta, (X, y, weight) = given
    tolerance = TOLERANCE[readable.settings.dtype]
    weight = weight if weighted else None
    order = np.random.default_rng(1).permutation(len(y)) if order is None else order
    rate = {"batch": 8, "rate": 0.05} | arguments
    found = []
    for engine in (readable, compiled):
        rows, state = engine.prepare(X, y, weight), engine.start(theta)
        for epoch in range(epochs):
            state, running = engine.epoch(state, rows, order, epoch=epoch, **rate)
        found.append((state, running, engine.loss(state.theta, rows), engine.eta(state.theta, X)))
    (one, *numbers), (two, *others) = found
    assert two.theta.dtype == readable.settings.dtype
    assert_allclose(two.theta, one.theta, rtol=tolerance, atol=tolerance)
    assert_allclose(two.slots, one.slots, rtol=tolerance, atol=tolerance)
    assert two.step == one.step
    for mine, theirs in zip(others, numbers, strict=True):
        assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance)
    return one


@TYPES
@pytest.mark.parametrize("output", COMPILED)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_outputs_and_activations(output, activation, dtype):
    assert_same(*both(output, activation=activation, dtype=dtype))


@TYPES
@pytest.mark.parametrize("update", [*UPDATES.values(), Clip(0.1) | Adam(), Momentum((0.5, 0.9))])
def test_update_rules(update, dtype):
    assert_same(*both(update=update, dtype=dtype))


@TYPES
@pytest.mark.parametrize("hidden", [(), (4,), (4, 3), (5, 1, 4), (3, 2, 3, 2)])
@pytest.mark.parametrize("bias", [True, False])
def test_depths_and_biases(hidden, bias, dtype):
    assert_same(*both(hidden=hidden, activation="tanh", bias=bias, dtype=dtype))


@TYPES
@pytest.mark.parametrize("scaling", ["sum", "mean", "epoch"])
@pytest.mark.parametrize(("l1", "l2"), [(0.1, 0.0), (0.0, 0.2), (0.1, 0.2)])
def test_penalties(scaling, l1, l2, dtype):
    total = float(many_rows("categorical", 53)[3].sum())
    assert_same(*both(l1=l1, l2=l2, penalty_scaling=scaling, weight_total=total, dtype=dtype))


def test_penalties_of_weights_at_0():
    readable, compiled, theta, data = both(hidden=(), l1=0.5)
    assert_same(readable, compiled, 0 * theta, data)


@TYPES
@pytest.mark.parametrize("rates", [(0.0, 0.5, 0.0), (0.3, 0.0, 0.2), (0.1, 0.5, 0.4)])
@pytest.mark.parametrize("activation", ["relu", "tanh", "softplus"])
def test_dropout(rates, activation, dtype):
    made = both(hidden=(5, 4), activation=activation, dropout=rates, seed=-3, dtype=dtype)
    with_dropout = assert_same(*made, first_index=10**10)
    without = assert_same(*both(hidden=(5, 4), activation=activation, dtype=dtype))
    assert (with_dropout.theta != without.theta).any()


@TYPES
@pytest.mark.parametrize(
    "trainable", [(False, True, True), (True, False, True), (True, True, False), (False,) * 3]
)
def test_frozen_layers(trainable, dtype):
    update = AdamW(weight_decay=0.5)
    made = both(hidden=(5, 4), update=update, l2=0.3, trainable=trainable, dtype=dtype)
    state = assert_same(*made)
    mask = made[0].settings.architecture.trainable_mask(trainable)
    assert_array_equal(state.theta[~mask], made[2].astype(dtype)[~mask])


@TYPES
@pytest.mark.parametrize("batch", [1, 7, 53, 1000])
@pytest.mark.parametrize("weighted", [True, False])
def test_batches_of_every_size(batch, weighted, dtype):
    assert_same(*both(dtype=dtype), batch=batch, weighted=weighted)


@TYPES
def test_rows_that_repeat_and_rows_of_weight_0(dtype):
    readable, compiled, theta, (X, y, weight) = both("poisson", dtype=dtype)
    weight[:20] = 0.0
    X[:8] = 1e6  # their means overflow, but they do not count
    order = np.r_[np.arange(20), 30, 30, 30, np.arange(40, 53)]
    state = assert_same(readable, compiled, theta, (X, y, weight), order=order)
    assert np.isfinite(state.theta).all()


@pytest.mark.parametrize("engine", [0, 1])
def test_a_batch_of_weight_0_leaves_theta(engine):
    *engines, theta, (X, y, _) = both()
    rows = engines[engine].prepare(X, y, np.zeros(53))
    state, loss = engines[engine].epoch(
        engines[engine].start(theta), rows, np.arange(53), batch=8, rate=0.1, epoch=0
    )
    assert_array_equal(state.theta, theta)
    assert (loss, state.step) == (0.0, 7)
    with pytest.raises(InvalidInput, match="total weight of 0"):
        engines[engine].loss(theta, rows)


@TYPES
def test_a_class_that_no_batch_has(dtype):
    readable, compiled, theta, (X, y, weight) = both(dtype=dtype)
    assert_same(readable, compiled, theta, (X, np.minimum(y, 1), weight))


@TYPES
@pytest.mark.parametrize("output", ["categorical", "bernoulli"])
def test_extreme_predictors_have_finite_losses(output, dtype):
    readable, compiled, theta, (X, y, weight) = both(output, hidden=(), dtype=dtype)
    sizes = [
        engine.loss(1000 * theta, engine.prepare(X, y, weight)) for engine in (compiled, readable)
    ]
    assert np.isfinite(sizes).all()
    assert_allclose(*sizes, rtol=1e-5)


@TYPES
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations_at_extremes(activation, dtype):
    """One unit with weight 1: η is the activation itself."""
    output = many_rows("gaussian", 2)[0]
    network, _ = some_network(output, (1,), activation, d=1)
    settings = EngineSettings(network, output, Plain(), 2, dtype=dtype)
    a = np.concatenate([-np.logspace(-12, 4, 300)[::-1], [0.0, -0.0], np.logspace(-12, 4, 300)])
    theta = np.array([1.0, 0.0, 1.0, 0.0], dtype=dtype)
    ours, theirs = (
        engine(settings).eta(theta, a[:, None]) for engine in (CompiledEngine, ReadableEngine)
    )
    eps = np.finfo(dtype).eps
    # a relative error of a few units in the last place, also where the value is tiny
    assert_allclose(ours, theirs, rtol=8 * eps, atol=np.finfo(dtype).tiny)


@TYPES
def test_losses_that_explode_are_not_hidden(dtype):
    readable, compiled, theta, (X, y, _) = both("gaussian", dtype=dtype)
    for engine in (readable, compiled):
        state, rows = engine.start(1e30 * theta), engine.prepare(1e30 * X, y)
        for _ in range(5):
            state, loss = engine.epoch(state, rows, np.arange(53), batch=8, rate=1e30, epoch=0)
        assert not np.isfinite(loss)


@TYPES
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_weight_that_is_nan_makes_the_loss_nan(activation, dtype):
    """relu(nan) = 0 would hide that a search diverged."""
    for engine in (made := both(activation=activation, dtype=dtype))[:2]:
        theta, (X, y, _) = made[2].astype(dtype), made[3]
        theta[0] = np.nan
        rows = engine.prepare(X, y)
        assert np.isnan(engine.loss(theta, rows))
        _, running = engine.epoch(
            engine.start(theta), rows, np.arange(9), batch=4, rate=0.1, epoch=0
        )
        assert np.isnan(running)


@TYPES
@pytest.mark.parametrize("batch", [20, 53])
def test_large_batches_are_computed_in_pieces(batch, dtype, monkeypatch):
    whole = assert_same(*both(dropout=(0.2, 0.5), l2=0.1, dtype=dtype), batch=batch)
    monkeypatch.setattr("likely.neural.compiled_engine.FEWEST_ROWS", 3)
    monkeypatch.setattr("likely.neural.compiled_engine.BATCH_CELLS", 1)
    monkeypatch.setattr("likely.neural.formulas.FEWEST_ROWS", 7)
    monkeypatch.setattr("likely.neural.formulas.CHUNK_CELLS", 1)
    pieces = assert_same(*both(dropout=(0.2, 0.5), l2=0.1, dtype=dtype), batch=batch)
    tolerance = TOLERANCE[dtype]
    assert_allclose(pieces.theta, whole.theta, rtol=tolerance, atol=tolerance)


def test_sparse_rows_and_soft_labels_go_to_numpy():
    readable, compiled, theta, (X, y, weight) = both()
    state = {}
    for engine, layout in ((readable, np.asarray), (compiled, sparse.csr_array)):
        rows = engine.prepare(layout(X), y, weight)
        after, _ = engine.epoch(
            engine.start(theta), rows, np.arange(53), batch=8, rate=0.1, epoch=0
        )
        state[engine] = after.theta, engine.loss(theta, rows), engine.eta(theta, rows)
    for one, two in zip(*state.values(), strict=True):
        assert_allclose(two, one, rtol=1e-12)
    assert_same(*both("soft labels"))


def test_threads_of_blas_do_not_change_the_result():
    _, compiled, theta, (X, y, weight) = both(n=2000, hidden=(70, 50), dtype=np.float32)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            rows = compiled.prepare(X, y, weight)
            state, _ = compiled.epoch(
                compiled.start(theta), rows, np.arange(2000), batch=500, rate=0.1, epoch=0
            )
            found.append((state.theta, compiled.eta(state.theta, X)))
    assert_array_equal(found[0][0], found[1][0])
    assert_array_equal(found[0][1], found[1][1])


def test_an_empty_order_and_no_rows_change_nothing():
    for engine in both()[:2]:
        theta, (X, y, _) = both()[2:]
        none = np.arange(0)
        rows = engine.prepare(X, y)
        state, loss = engine.epoch(engine.start(theta), rows, none, batch=8, rate=0.1, epoch=0)
        assert_array_equal(state.theta, theta)
        assert (loss, state.step) == (0.0, 0)
        assert engine.eta(theta, X[:0]).shape == (0, 3)


@pytest.mark.parametrize("batch", [1, 2, 4])
def test_xor_is_learned_from_most_starts(batch):
    """NN-7: a 2-4-1 network, from 8 of 10 seeds at least."""
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0.0, 1, 1, 0])
    network = Architecture.of(2, (4,), 1, activation="tanh")
    settings = EngineSettings(network, output_of(n_classes=2), Momentum(), 4, dtype=np.float64)
    engine = CompiledEngine(settings)
    rows, learned = engine.prepare(X, y), 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        order = np.concatenate([rng.permutation(4) for _ in range(800)])
        state = engine.start(initial_parameters(network, seed=seed))
        state, _ = engine.epoch(state, rows, order, batch=batch, rate=0.05, epoch=0)
        learned += ((engine.eta(state.theta, X)[:, 0] > 0) == (y > 0)).all()
    assert learned >= 8


def test_read_only_arrays_are_not_compiled_for_again():
    from likely.fast.network import predictors, total_loss, train_epoch

    _, compiled, theta, data = both()
    order = np.arange(53)

    def compiled_forms():
        rows = compiled.prepare(*data)
        compiled.epoch(compiled.start(theta), rows, order, batch=8, rate=0.1, epoch=0)
        compiled.loss(theta, rows)
        compiled.eta(theta, data[0])
        return [len(loop.signatures) for loop in (train_epoch, total_loss, predictors)]

    before = compiled_forms()
    for each in (theta, *data, order):
        each.flags.writeable = False
    assert compiled_forms() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X[:, :2], y), r"shape \(53, 2\).*expected 5 columns"),
        (lambda X, y: (X, y[:9]), "there are 9 targets"),
        (lambda X, y: (X, y + 1), "from 0 to 2; found 3"),
    ],
)
def test_rows_that_do_not_fit_are_refused(change, message):
    for engine in both()[:2]:
        X, y, _ = both()[3]
        with pytest.raises(InvalidInput, match=message):
            engine.prepare(*change(X, y))


def test_targets_with_other_columns_and_orders_outside_are_refused():
    _, compiled, theta, (X, y, _) = both("two gaussians")
    with pytest.raises(InvalidInput, match="1 columns; expected 2"):
        compiled.prepare(X, y[:, 0])
    for order in ([0, 53], [-1, 3]):
        with pytest.raises(InvalidInput, match="expected 0 to 52"):
            compiled.epoch(
                compiled.start(theta),
                compiled.prepare(X, y),
                np.array(order),
                batch=2,
                rate=0.1,
                epoch=0,
            )


def test_the_engine_is_chosen_by_the_output_the_layout_and_the_rows():
    def chosen(output="categorical", n_rows_total=5000, layout=np.asarray):
        readable, _, _, (X, _, _) = both(output, n_rows_total=n_rows_total)
        return type(engine_for(readable.settings, layout(X)))

    assert chosen() is CompiledEngine
    assert chosen("ordinal") is ReadableEngine
    assert chosen("bernoulli probit") is ReadableEngine
    assert chosen(layout=sparse.csr_array) is ReadableEngine
    assert chosen(n_rows_total=100) is ReadableEngine
