"""Many networks side by side: each as it is when trained alone."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likely.errors import InvalidInput, TrainingDiverged
from likely.neural.architecture import initial_parameters
from likely.neural.engine import EngineSettings, ReadableEngine
from likely.neural.examples import ExamplesInMemory
from likely.neural.formulas import dropout_rates
from likely.neural.many import Candidate, SharedRows, train_many
from likely.neural.training import Losses, MiniBatchSteps, TrainingRules, scheduled, train
from likely.solvers.mini_batches import BalancedBatches, ShuffledBatches
from likely.solvers.schedules import Constant, Cosine, ReduceOnPlateau
from likely.solvers.updates import UPDATES, Clip, Momentum
from tests.neural.networks import OUTPUTS, many_rows, some_network

torch = pytest.importorskip("torch", reason="torch is not installed")

N, HELD = 70, 30


@pytest.fixture(autouse=True)
def one_thread():
    """Threads wait for each other longer than these networks compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def shared_rows(output_name="categorical", batches=None, *, weighted=True, **changes):
    output, X, y, weight = many_rows(output_name, N + HELD)
    weight = weight if weighted else None
    training, validation = (
        ExamplesInMemory(X[part], y[part], None if weight is None else weight[part])
        for part in (slice(0, N), slice(N, N + HELD))
    )
    batches = batches or ShuffledBatches(8, window=32)
    labels = y[:N] if y.dtype.kind == "i" else None
    return output, SharedRows(training, validation, batches, labels, **changes)


def candidates_of(output, rows, rules, *, seeds=(1, 2, 3, 4), update=None, same_seed=False):
    """Different seeds, rates, penalties and dropout."""
    network, theta = some_network(output, (5, 4), "relu")
    network = replace(network, sizes=(5, *network.sizes[1:]))
    found = []
    for at, seed in enumerate(seeds):
        settings = EngineSettings(
            network,
            output,
            update or UPDATES["adam"],
            rows.training.n_rows,
            rows.training.weight_total,
            dropout=dropout_rates(network, (0.0, 0.3, 0.5, 0.2)[at]),
            l1=(0.0, 0.1, 0.0, 0.2)[at],
            l2=(0.0, 0.0, 0.5, 0.1)[at],
            seed=7 if same_seed else seed,
            dtype=np.float64,
        )
        extra = theta[theta.size - network.n_extra :]
        start = initial_parameters(network, seed=seed, extra=extra)
        found.append(Candidate(settings, start, rules[at], 7 if same_seed else seed))
    return found


def rules_with(rates=(0.01, 0.003, 0.05, 0.02), **changes):
    settings = {"max_epochs": 6, "tol": None} | changes
    return [TrainingRules(rate=scheduled(Constant(rate)), **settings) for rate in rates]


def alone(candidate, rows):
    """The training of one candidate by NumPy."""
    engine = ReadableEngine(candidate.settings)
    training = rows.training.prepared(engine, 32)
    held = None if rows.validation is None else rows.validation.prepared(engine, 32)
    steps = MiniBatchSteps(engine, training, rows.batches, candidate.seed, rows.labels)
    losses = Losses(
        training.loss if rows.evaluate_training else None, None if held is None else held.loss
    )
    return train(steps, candidate.theta, candidate.rules, losses)


def assert_each_as_alone(candidates, rows, *, rtol=1e-8):
    found = train_many(candidates, rows, device="cpu")
    for candidate, here in zip(candidates, found, strict=True):
        expected = alone(candidate, rows)
        assert here.ending == expected.ending
        assert here.kept_epoch == expected.kept_epoch
        assert here.state.step == expected.state.step
        assert here.curve.n_epochs == expected.curve.n_epochs
        assert here.curve.rate == expected.curve.rate
        assert_allclose(here.theta, expected.theta, rtol=rtol, atol=1e-10)
        assert_allclose(here.state.slots, expected.state.slots, rtol=rtol, atol=1e-10)
        assert_allclose(here.curve.loss, expected.curve.loss, rtol=rtol)
        assert_allclose(here.curve.validation, expected.curve.validation, rtol=rtol)
    return found


@pytest.mark.parametrize("output", OUTPUTS)
def test_each_network_is_as_if_trained_alone(output):
    made, rows = shared_rows(output)
    assert_each_as_alone(candidates_of(made, rows, rules_with(max_epochs=2)), rows)


@pytest.mark.parametrize(
    ("batches", "changes"),
    [
        (ShuffledBatches(8), {}),
        (ShuffledBatches(80, window=80), {"weighted": False}),
        (ShuffledBatches(8, shuffle=False), {"evaluate_training": False}),
        (BalancedBatches(9), {"evaluate_training": False, "weighted": False}),
    ],
    ids=str,
)
@pytest.mark.parametrize("same_seed", [False, True])
def test_batches_of_every_kind_are_as_if_trained_alone(batches, changes, same_seed):
    made, rows = shared_rows("categorical", batches, **changes)
    assert_each_as_alone(candidates_of(made, rows, rules_with(), same_seed=same_seed), rows)


@pytest.mark.parametrize("update", [*UPDATES.values(), Clip(0.1) | Momentum((0.2, 0.9))], ids=str)
def test_every_rule_is_as_if_trained_alone(update):
    made, rows = shared_rows("bernoulli")
    rules = rules_with((0.001, 0.003, 0.004, 0.002), max_epochs=3)
    assert_each_as_alone(candidates_of(made, rows, rules, update=update), rows)


def test_each_network_ends_by_its_own_rules():
    """Early stopping ends them at different epochs, and the others go on without them."""
    made, rows = shared_rows()
    rules = [
        TrainingRules(25, scheduled(Constant(0.05)), 0.0, patience=2, early_stopping=True),
        TrainingRules(3, scheduled(Constant(0.01)), None),
        TrainingRules(
            30, scheduled(ReduceOnPlateau(0.03, factor=0.5, patience=1)), 1e-3, patience=4
        ),
        TrainingRules(9, scheduled(Cosine(0.02, 9)), None, early_stopping=True, patience=9),
    ]
    found = assert_each_as_alone(candidates_of(made, rows, rules), rows, rtol=1e-6)
    assert len({each.curve.n_epochs for each in found}) == 4
    assert found[0].kept_epoch < found[0].curve.n_epochs
    assert not np.array_equal(found[0].theta, found[0].state.theta)


def test_a_network_that_explodes_leaves_the_others_alone():
    made, rows = shared_rows("poisson")
    rules = rules_with((0.001, 1e6, 0.002, 0.001), max_epochs=4)
    candidates = candidates_of(made, rows, rules, update=UPDATES["sgd"])
    found = train_many(candidates, rows, device="cpu")
    assert isinstance(found[1], TrainingDiverged)
    assert found[1].epoch == 1
    for at in (0, 2, 3):
        assert_allclose(found[at].theta, alone(candidates[at], rows).theta, rtol=1e-9)


def test_the_company_of_other_networks_changes_nothing():
    made, rows = shared_rows()
    candidates = candidates_of(made, rows, rules_with())
    all_of_them = train_many(candidates, rows, device="cpu")
    for candidate, here in zip(candidates, all_of_them, strict=True):
        (by_itself,) = train_many([candidate], rows, device="cpu")
        assert_allclose(by_itself.theta, here.theta, rtol=1e-10, atol=1e-12)


def test_no_epochs_leave_the_start_values():
    made, rows = shared_rows()
    candidates = candidates_of(made, rows, rules_with(max_epochs=0))
    for candidate, here in zip(candidates, train_many(candidates, rows, device="cpu"), strict=True):
        assert_array_equal(here.theta, candidate.theta)
        assert here.curve.n_epochs == 0


def test_networks_of_different_shapes_are_refused():
    made, rows = shared_rows()
    candidates = candidates_of(made, rows, rules_with())
    other = replace(candidates[1].settings, update=UPDATES["sgd"])
    with pytest.raises(InvalidInput, match=r"Network 1 has update=Plain\(\), and network 0 has"):
        train_many([candidates[0], replace(candidates[1], settings=other)], rows, device="cpu")
    with pytest.raises(InvalidInput, match="No network was given"):
        train_many([], rows, device="cpu")
